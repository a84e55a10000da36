// The driver over an engine of our own that answers after delays it is told. Times are real, so bounds are wide.
#include <catch2/catch.hpp>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <thread>

#include "probes/load/drive.h"

using namespace load;

namespace {

constexpr std::uint64_t ms = 1'000'000;

class DelayEngine : public Engine {
 public:
  explicit DelayEngine(std::function<std::uint64_t(std::uint64_t now)> delay) : delay_(std::move(delay)) {}
  wire::Outcome<void> prepare(const Step&) override { return {}; }
  unsigned limit() const override { return limit_; }
  unsigned room() const override { return room_; }
  void submit(const Request& request) override {
    offsets.push_back(request.offset);
    writes += request.op == Op::write ? 1 : 0;
    const std::uint64_t now = now_ns();
    waiting_.emplace(now + delay_(now), request.slot);
    most = std::max(most, waiting_.size());
  }
  wire::Outcome<void> exchange(std::uint64_t until_ns, std::vector<Completion>& done) override {
    if (fail_after != 0 && offsets.size() >= fail_after) return wire::fail(wire::Reason::closed, "gone");
    std::uint64_t wake = until_ns;
    if (!waiting_.empty()) wake = std::min(wake, waiting_.begin()->first);
    const std::uint64_t now = now_ns();
    if (wake > now) std::this_thread::sleep_for(std::chrono::nanoseconds(wake - now));
    const std::uint64_t at = now_ns();
    while (!waiting_.empty() && waiting_.begin()->first <= at) {
      done.push_back({waiting_.begin()->second, error, at});
      waiting_.erase(waiting_.begin());
    }
    return {};
  }
  std::string error_text(std::uint32_t) const override { return "an error"; }

  std::vector<std::uint64_t> offsets;
  std::size_t writes = 0;
  std::size_t most = 0;
  std::size_t fail_after = 0;
  std::uint32_t error = 0;
  unsigned limit_ = 1024;
  unsigned room_ = 1024;

 private:
  std::function<std::uint64_t(std::uint64_t)> delay_;
  std::multimap<std::uint64_t, std::uint32_t> waiting_;
};

std::unique_ptr<Record> drive(DelayEngine& engine, const Step& step, const PassOptions& options,
                              std::uint64_t range = 1 << 20) {
  auto record = std::make_unique<Record>();
  run_pass(engine, step, {range}, options, *record);
  return record;
}

PassOptions brief() {
  PassOptions options;
  options.seconds = 0.4;
  options.ramp_s = 0.05;
  options.timeout_s = 2;
  return options;
}

}  // namespace

TEST_CASE("closed loop: the depth is kept, latency and rate follow from the delay") {
  DelayEngine engine([](std::uint64_t) { return 5 * ms; });
  const auto record = drive(engine, {{Op::read, true}, 4096, 8, 1, 0}, brief());
  CHECK(record->end == End::complete);
  CHECK(engine.most == 8);
  CHECK(record->most_in_flight == 8);
  CHECK(record->latency.min_ns() >= 5 * ms);
  CHECK(record->latency.percentile_ns(50) < 10.0 * ms);
  CHECK(record->iops() > 8 * 100 * 0.5);
  CHECK(record->iops() <= 8 * 200 * 1.05);
  CHECK(record->bytes == record->ops * 4096);
  CHECK(record->unanswered == 0);
}

TEST_CASE("closed loop: blocks of a round are all visited, none twice") {
  DelayEngine engine([](std::uint64_t) { return ms / 10; });
  drive(engine, {{Op::read, true}, 4096, 4, 1, 0}, brief(), 64 * 4096);
  REQUIRE(engine.offsets.size() >= 64);
  std::set<std::uint64_t> seen(engine.offsets.begin(), engine.offsets.begin() + 64);
  CHECK(seen.size() == 64);
  CHECK(*seen.rbegin() == 63 * 4096);
}

TEST_CASE("closed loop: a mix has its share of writes") {
  DelayEngine engine([](std::uint64_t) { return ms / 20; });
  const auto record = drive(engine, {{Op::read, true, 80}, 4096, 32, 1, 0}, brief());
  REQUIRE(engine.offsets.size() > 2000);
  const double share = static_cast<double>(engine.writes) / static_cast<double>(engine.offsets.size());
  CHECK(share == Approx(0.2).margin(0.03));
  CHECK(record->reads < record->ops);
}

TEST_CASE("what an engine allows is not exceeded") {
  DelayEngine engine([](std::uint64_t) { return ms; });
  engine.limit_ = 3;
  const auto record = drive(engine, {{Op::read, true}, 4096, 64, 1, 0}, brief());
  CHECK(engine.most == 3);
  CHECK(record->most_in_flight == 3);
}

TEST_CASE("a stall shows in the open loop's percentiles and not in the closed loop's") {
  // Answers take 1 ms, but whatever is sent in one window of 600 ms waits for its end.
  const auto stalling = [] {
    return [begin = now_ns()](std::uint64_t now) -> std::uint64_t {
      const std::uint64_t since = now - begin;
      return since > 300 * ms && since < 900 * ms ? 900 * ms - since + ms : ms;
    };
  };
  PassOptions options = brief();
  options.ramp_s = 0;
  options.seconds = 1.5;
  DelayEngine closed(stalling());
  const auto in_closed = drive(closed, {{Op::read, true}, 4096, 4, 1, 0}, options);
  DelayEngine open(stalling());
  const auto in_open = drive(open, {{Op::read, true}, 4096, 4, 1, 500}, options);
  CHECK(in_closed->latency.percentile_ns(90) < 100.0 * ms);
  CHECK(in_closed->latency.max_ns() > 500 * ms);           // seen, four times
  CHECK(in_open->latency.percentile_ns(90) > 300.0 * ms);  // 600 of 1500 ms were hit
  CHECK(in_open->from_send.percentile_ns(90) < 100.0 * ms);
  CHECK(in_open->late > 100);
  CHECK(in_open->unsent == 0);
  // All that was intended was sent.
  CHECK(static_cast<double>(in_open->latency.count()) == Approx(750).margin(3));
}

TEST_CASE("open loop: the rate is kept") {
  DelayEngine engine([](std::uint64_t) { return ms; });
  PassOptions options = brief();
  options.ramp_s = 0;
  options.seconds = 1;
  const auto record = drive(engine, {{Op::read, true}, 4096, 64, 1, 1000}, options);
  CHECK(record->iops() == Approx(1000).epsilon(0.01));
}

TEST_CASE("a capped closed loop stays below its cap") {
  DelayEngine engine([](std::uint64_t) { return ms / 10; });
  PassOptions options = brief();
  options.max_iops = 500;
  const auto record = drive(engine, {{Op::read, true}, 4096, 8, 1, 0}, options);
  CHECK(record->iops() <= 500 * 1.05);
  CHECK(record->iops() >= 500 * 0.7);
}

TEST_CASE("a target that goes away leaves what was measured, and says so") {
  DelayEngine engine([](std::uint64_t) { return ms; });
  engine.fail_after = 100;
  PassOptions options = brief();
  options.ramp_s = 0;
  options.seconds = 5;
  const auto record = drive(engine, {{Op::read, true}, 4096, 4, 1, 0}, options);
  CHECK(record->end == End::failed);
  CHECK(std::string(record->why.data()) == "closed: gone");
  CHECK(record->ops > 50);
  CHECK(record->seconds < 2);
  CHECK(record->unanswered > 0);
}

TEST_CASE("a target that stops to answer ends the pass after the timeout") {
  std::size_t count = 0;
  DelayEngine engine([&](std::uint64_t) { return ++count > 50 ? 60'000 * ms : ms; });
  PassOptions options = brief();
  options.seconds = 30;
  options.timeout_s = 0.3;
  const std::uint64_t began = now_ns();
  const auto record = drive(engine, {{Op::read, true}, 4096, 2, 1, 0}, options);
  CHECK(record->end == End::failed);
  CHECK(std::string(record->why.data()) == "no answer for 0.3 s");
  CHECK(record->unanswered == 2);
  CHECK(now_ns() - began < 5000 * ms);
}

TEST_CASE("a closed window ends the pass too") {
  DelayEngine engine([](std::uint64_t) { return ms; });
  engine.room_ = 0;
  PassOptions options = brief();
  options.seconds = 30;
  options.timeout_s = 0.3;
  const auto record = drive(engine, {{Op::read, true}, 4096, 2, 1, 0}, options);
  CHECK(record->end == End::failed);
  CHECK(record->ops == 0);
}

TEST_CASE("a signal ends a pass soon, with what was measured") {
  std::atomic<bool> stop{false};
  DelayEngine engine([](std::uint64_t) { return ms; });
  PassOptions options = brief();
  options.seconds = 30;
  options.stop = &stop;
  std::thread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    stop = true;
  });
  const std::uint64_t began = now_ns();
  const auto record = drive(engine, {{Op::read, true}, 4096, 2, 1, 0}, options);
  later.join();
  CHECK(record->end == End::stopped);
  CHECK(record->ops > 0);
  CHECK(now_ns() - began < 3000 * ms);
}

TEST_CASE("guards: errors and slow seconds end a pass") {
  DelayEngine failing([](std::uint64_t) { return ms; });
  failing.error = 5;
  PassOptions options = brief();
  options.seconds = 30;
  options.guard.errors = 10;
  auto record = drive(failing, {{Op::read, true}, 4096, 2, 1, 0}, options);
  CHECK(record->end == End::guard);
  CHECK(record->first_error == 5);
  CHECK(record->errors > 0);
  CHECK(record->latency.count() == 0);

  DelayEngine slow([](std::uint64_t) { return 30 * ms; });
  options.guard = {};
  options.guard.p99_ms = 10;
  const std::uint64_t began = now_ns();
  record = drive(slow, {{Op::read, true}, 4096, 2, 1, 0}, options);
  CHECK(record->end == End::guard);
  CHECK(std::string(record->why.data()) == "p99 above 10 ms for two seconds");
  CHECK(now_ns() - began < 10'000 * ms);
}

TEST_CASE("the limit of bytes ends a pass") {
  DelayEngine engine([](std::uint64_t) { return ms / 10; });
  PassOptions options = brief();
  options.seconds = 30;
  options.max_bytes = 100 * 4096;
  const auto record = drive(engine, {{Op::read, true}, 4096, 2, 1, 0}, options);
  CHECK(record->end == End::bytes);
  CHECK(record->bytes >= options.max_bytes);
}
