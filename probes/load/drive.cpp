#include "probes/load/drive.h"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <time.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "probes/load/block_order.h"

namespace load {

std::uint64_t now_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

namespace {

constexpr std::uint64_t second = 1'000'000'000;
constexpr std::uint64_t tick = second / 10;  // between looks at signals, guards and what is overdue

double cpu_seconds() {
  timespec used{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) / 1e9;
}

std::uint64_t ns_of(double seconds) { return static_cast<std::uint64_t>(seconds * 1e9); }

struct Slot {
  std::uint64_t intended = 0;  // open loop
  std::uint64_t sent = 0;      // 0: free
  std::uint32_t bytes = 0;
  Op op = Op::read;
};

class Pass {
 public:
  Pass(Engine& engine, const Step& step, const Range& range, const PassOptions& options, Record& record)
      : engine_(engine),
        step_(step),
        options_(options),
        record_(record),
        order_(make_order(step, range, options)),
        chance_(options.seed ^ 0x5bd1e995),
        slots_(std::max(1U, std::min(step.depth, engine.limit()))) {
    for (auto i = static_cast<std::uint32_t>(slots_.size()); i-- > 0;) free_.push_back(i);
    fresh_.reserve(slots_.size());
    done_.reserve(slots_.size());
    const bool open = step_.rate > 0;
    gap_ = open ? 1e9 / step_.rate : options.max_iops > 0 ? 1e9 / options.max_iops : 0;
  }

  void run() {
    begin_ = now_ns();
    counted_from_ = begin_ + ns_of(options_.ramp_s);
    counted_to_ = counted_from_ + ns_of(options_.seconds);
    next_tick_ = begin_ + tick;
    next_interval_ = counted_from_ + second;
    now_ = last_answer_ = begin_;
    while (end_ == End::running) {
      issue();
      exchange(next_event());
      if (now_ >= next_tick_) look_around();
      if (end_ == End::running && now_ >= counted_to_) end_ = End::complete;
    }
    finish();
  }

 private:
  static BlockOrder make_order(const Step& step, const Range& range, const PassOptions& options) {
    const std::uint64_t blocks = step.block_bytes == 0 ? 1 : range.bytes / step.block_bytes;
    return step.pattern.random ? BlockOrder::random(blocks, options.seed) : BlockOrder::sequential(blocks);
  }

  bool open() const { return step_.rate > 0; }
  std::uint64_t due() const { return begin_ + static_cast<std::uint64_t>(static_cast<double>(turn_) * gap_); }

  void issue() {
    if (!counting_ && now_ >= counted_from_) begin_counting();
    const std::uint64_t horizon = std::min(now_, counted_to_);
    while (!free_.empty() && engine_.room() != 0) {
      if (gap_ > 0 && due() > horizon) break;
      submit();
    }
    if (open() && due() <= horizon) held_back_ = true;
  }

  std::uint64_t next_event() const {
    const std::uint64_t until = std::min(counted_to_, next_tick_);
    return gap_ > 0 && !free_.empty() ? std::min(until, due()) : until;
  }

  void submit() {
    const std::uint32_t slot = free_.back();
    free_.pop_back();
    Slot& own = slots_[slot];
    own.op = step_.pattern.op;
    if (own.op == Op::read && step_.pattern.read_percent < 100 && chance_.next() % 100 >= step_.pattern.read_percent)
      own.op = Op::write;
    own.bytes = moves_data(own.op) ? step_.block_bytes : 0;
    own.intended = open() ? due() : 0;
    if (open() && held_back_) ++record_.late;
    // A capped closed loop does not make up for what it missed; an open one does.
    if (gap_ > 0 && !open() && now_ > due() + second / 100)
      turn_ = static_cast<std::uint64_t>(static_cast<double>(now_ - begin_) / gap_);
    ++turn_;
    engine_.submit({slot, own.op, order_.next() * step_.block_bytes, own.bytes});
    fresh_.push_back(slot);
    if (open() && due() > now_) held_back_ = false;
  }

  void exchange(std::uint64_t until) {
    if (!fresh_.empty()) {
      const std::uint64_t sent = now_ns();
      for (const auto slot : fresh_) slots_[slot].sent = sent;
      fresh_.clear();
      const auto flying = static_cast<std::uint32_t>(slots_.size() - free_.size());
      record_.most_in_flight = std::max(record_.most_in_flight, flying);
    }
    done_.clear();
    const auto went = engine_.exchange(until, done_);
    for (const auto& one : done_) take(one);
    // The moment of an answer is as good as a look at the clock, and there is one for each answer.
    // Answers of several threads need not come in the order of their moments.
    now_ = std::max(now_, done_.empty() ? now_ns() : done_.back().at_ns);
    if (!done_.empty()) last_answer_ = now_;
    if (went) return;
    broken_ = true;
    fail(End::failed, wire::to_text(went.error()));
  }

  void take(const Completion& one) {
    Slot& own = slots_[one.slot];
    if (own.sent == 0) return;
    free_.push_back(one.slot);
    const std::uint64_t from = own.intended != 0 ? own.intended : own.sent;
    const std::uint64_t latency = one.at_ns > from ? one.at_ns - from : 0;
    const std::uint64_t on_the_way = one.at_ns - own.sent;
    own.sent = 0;
    if (!counting_) {
      if (one.error != 0) note_error(one.error);
      return;
    }
    if (one.error != 0) {
      note_error(one.error);
      ++record_.errors;
      ++interval_errors_;
      return;
    }
    record_.latency.add(latency);
    interval_.add(latency);
    if (open()) record_.from_send.add(on_the_way);
    if (one.at_ns > counted_to_) return;
    ++record_.ops;
    record_.bytes += own.bytes;
    if (own.op == Op::read) ++record_.reads;
  }

  void note_error(std::uint32_t error) {
    if (record_.first_error == 0) record_.first_error = error;
    ++all_errors_;
  }

  void begin_counting() {
    counting_ = true;
    counted_from_ = now_;
    counted_to_ = counted_from_ + ns_of(options_.seconds);
    next_interval_ = counted_from_ + second;
    cpu_from_ = cpu_seconds();
  }

  // Ten times a second: what need not be looked at with each request.
  void look_around() {
    next_tick_ = now_ + tick;
    if (options_.stop != nullptr && options_.stop->load()) fail(End::stopped, "");
    if (options_.max_bytes != 0 && record_.bytes >= options_.max_bytes) fail(End::bytes, "");
    const std::uint64_t limit = ns_of(options_.timeout_s);
    for (const auto& slot : slots_) {
      if (slot.sent == 0 || now_ < slot.sent + limit) continue;  // a request may have left after the last answer
      fail(End::failed, fmt::format("no answer for {} s", options_.timeout_s));
      break;
    }
    if (free_.size() == slots_.size() && engine_.room() == 0 && now_ - last_answer_ > limit)
      fail(End::failed, fmt::format("the target takes no request for {} s", options_.timeout_s));
    if (options_.guard.errors != 0 && all_errors_ > options_.guard.errors)
      fail(End::guard, fmt::format("more than {} errors", options_.guard.errors));
    if (counting_ && now_ >= next_interval_) close_interval();
    if (counting_) record_.seconds = static_cast<double>(now_ - counted_from_) / 1e9;
    if (options_.progress) options_.progress(record_);
  }

  void close_interval() {
    record_.add_interval({interval_.count(), interval_errors_, interval_.mean_ns() / 1000,
                          interval_.percentile_ns(99) / 1000, static_cast<double>(interval_.max_ns()) / 1000});
    // A second without any answer is as bad as one with slow ones.
    const bool bad = options_.guard.p99_ms > 0 &&
                     (interval_.count() == 0 || interval_.percentile_ns(99) > options_.guard.p99_ms * 1e6);
    bad_seconds_ = bad ? bad_seconds_ + 1 : 0;
    if (bad_seconds_ == 2) fail(End::guard, fmt::format("p99 above {} ms for two seconds", options_.guard.p99_ms));
    interval_.clear();
    interval_errors_ = 0;
    next_interval_ += second * static_cast<std::uint64_t>(record_.interval_s);
    if (next_interval_ <= now_) next_interval_ = now_ + second;
  }

  void fail(End end, const std::string& why) {
    if (end_ != End::running && end_ != End::complete) return;
    end_ = end;
    record_.set_why(why.c_str());
  }

  void finish() {
    const std::uint64_t ended = std::min(now_, counted_to_);
    if (counting_) {
      record_.seconds = static_cast<double>(ended > counted_from_ ? ended - counted_from_ : 0) / 1e9;
      record_.cpu_s = cpu_seconds() - cpu_from_;
    }
    drain();
    if (counting_ && interval_.count() + interval_errors_ != 0 && now_ + second / 2 >= next_interval_) close_interval();
    for (const auto& slot : slots_) record_.unanswered += slot.sent != 0 ? 1 : 0;
    if (open() && due() <= ended)
      record_.unsent = static_cast<std::uint64_t>(static_cast<double>(ended - due()) / gap_) + 1;
    record_.rounds = order_.rounds();
    record_.end = end_;
  }

  // What is under way is waited for, in an open loop also what was intended and not yet sent. A signal shortens it.
  void drain() {
    if (broken_ || end_ == End::failed) return;
    const bool brief = end_ == End::stopped;
    const std::uint64_t limit = now_ + (brief ? second / 2 : ns_of(options_.timeout_s));
    while (!broken_ && now_ < limit) {
      if (open() && end_ == End::complete) {
        while (!free_.empty() && engine_.room() != 0 && due() <= counted_to_) submit();
      }
      if (free_.size() == slots_.size()) return;
      exchange(std::min(limit, now_ + tick));
      if (!brief && options_.stop != nullptr && options_.stop->load()) return fail(End::stopped, "");
    }
    if (!brief && !broken_) fail(End::failed, fmt::format("no answer for {} s at the end", options_.timeout_s));
  }

  Engine& engine_;
  const Step& step_;
  const PassOptions& options_;
  Record& record_;
  BlockOrder order_;
  Mixer chance_;
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> free_;
  std::vector<std::uint32_t> fresh_;
  std::vector<Completion> done_;
  Histogram interval_;
  std::uint64_t interval_errors_ = 0;
  std::uint64_t all_errors_ = 0;
  unsigned bad_seconds_ = 0;
  double gap_ = 0;          // nanoseconds between starts; 0: as fast as answers come
  std::uint64_t turn_ = 0;  // starts so far
  bool held_back_ = false;
  bool counting_ = false;
  bool broken_ = false;
  End end_ = End::running;
  double cpu_from_ = 0;
  std::uint64_t now_ = 0;
  std::uint64_t last_answer_ = 0;
  std::uint64_t begin_ = 0;
  std::uint64_t counted_from_ = 0;
  std::uint64_t counted_to_ = 0;
  std::uint64_t next_tick_ = 0;
  std::uint64_t next_interval_ = 0;
};

}  // namespace

void run_pass(Engine& engine, const Step& step, const Range& range, const PassOptions& options, Record& record) {
  // Waits for the intended times end within a microsecond or two instead of the usual fifty.
  ::prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
  Pass(engine, step, range, options, record).run();
  ::prctl(PR_SET_TIMERSLACK, 0UL, 0UL, 0UL, 0UL);
}

wire::Outcome<void> fill(Engine& engine, const Step& step, std::uint64_t bytes, double timeout_s,
                         const std::atomic<bool>* stop) {
  std::vector<std::uint32_t> free;
  for (std::uint32_t i = 0; i < std::min(step.depth, engine.limit()); ++i) free.push_back(i);
  const std::size_t slots = free.size();
  std::vector<Completion> done;
  std::uint64_t heard = now_ns();
  for (std::uint64_t at = 0; at < bytes || free.size() != slots;) {
    if (stop != nullptr && stop->load()) return wire::fail(wire::Reason::not_asked, "stopped by a signal");
    while (at < bytes && !free.empty() && engine.room() != 0) {
      const auto part = static_cast<std::uint32_t>(std::min<std::uint64_t>(step.block_bytes, bytes - at));
      engine.submit({free.back(), Op::write, at, part});
      free.pop_back();
      at += part;
    }
    done.clear();
    if (auto went = engine.exchange(now_ns() + tick, done); !went) return went;
    for (const auto& one : done) {
      if (one.error != 0) return wire::fail(wire::Reason::status, "WRITE: " + engine.error_text(one.error));
      free.push_back(one.slot);
      heard = one.at_ns;
    }
    if (done.empty() && now_ns() - heard > ns_of(timeout_s))
      return wire::fail(wire::Reason::silent, "no answer to WRITE");
  }
  return {};
}

}  // namespace load
