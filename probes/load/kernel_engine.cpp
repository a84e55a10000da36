#include "probes/load/kernel_engine.h"

#include <fmt/format.h>
#include <liburing.h>
#include <unistd.h>

#include <cerrno>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>

#include "probes/load/payload.h"

namespace load {
namespace {

using wire::Outcome;
using wire::Reason;

constexpr std::size_t alignment = 4096;           // enough for every logical block size that there is
constexpr std::uint32_t short_answer = 1U << 31;  // fewer bytes than asked for; else errno
constexpr unsigned most_depth = 1024;
constexpr unsigned most_threads = 256;

std::string text_of(std::uint32_t error) {
  if (error == short_answer) return "fewer bytes than asked for";
  return std::strerror(static_cast<int>(error));
}

// One aligned buffer for each slot.
class Buffers {
 public:
  Outcome<void> prepare(const Step& step) {
    const std::size_t each = (std::size_t{step.block_bytes} + alignment - 1) / alignment * alignment;
    if (each != each_ || step.depth > count_) {
      void* made = nullptr;
      if (::posix_memalign(&made, alignment, each * step.depth) != 0)
        return wire::fail(Reason::local_error, "no memory for the buffers");
      memory_.reset(static_cast<std::uint8_t*>(made));
      each_ = each;
      count_ = step.depth;
      fill_payload(memory_.get(), each * step.depth);
    }
    return {};
  }
  std::uint8_t* of(std::uint32_t slot) const { return memory_.get() + each_ * slot; }

 private:
  struct Free {
    void operator()(std::uint8_t* memory) const { std::free(memory); }
  };
  std::unique_ptr<std::uint8_t, Free> memory_;
  std::size_t each_ = 0;
  unsigned count_ = 0;
};

class RingEngine : public KernelEngine {
 public:
  explicit RingEngine(int fd) : fd_(fd) {}
  ~RingEngine() override {
    if (entries_ != 0) ::io_uring_queue_exit(&ring_);
  }
  const char* name() const override { return "io_uring"; }

  // 0, or the errno for which there is no ring here.
  int open(unsigned entries) {
    if (entries_ >= entries) return 0;
    if (entries_ != 0) ::io_uring_queue_exit(&ring_);
    entries_ = 0;
    const int made = ::io_uring_queue_init(entries, &ring_, 0);
    if (made < 0) return -made;
    entries_ = entries;
    return 0;
  }

  Outcome<void> prepare(const Step& step) override {
    if (step.depth > most_depth) return wire::fail(Reason::not_asked, fmt::format("a depth over {}", most_depth));
    limit_ = step.depth;
    if (const int error = open(step.depth); error != 0)
      return wire::fail(Reason::local_error, fmt::format("io_uring: {}", std::strerror(error)));
    bytes_.assign(step.depth, 0);
    return buffers_.prepare(step);
  }
  unsigned limit() const override { return limit_; }
  unsigned room() const override { return limit_; }

  void submit(const Request& request) override {
    io_uring_sqe* entry = ::io_uring_get_sqe(&ring_);
    if (entry == nullptr) return;  // as many entries as slots: there is always one
    std::uint8_t* buffer = buffers_.of(request.slot);
    bytes_[request.slot] = request.bytes;
    if (request.op == Op::write) {
      stamp_payload(buffer, request.bytes, request.offset, ++stamp_);
      ::io_uring_prep_write(entry, fd_, buffer, request.bytes, request.offset);
    } else {
      ::io_uring_prep_read(entry, fd_, buffer, request.bytes, request.offset);
    }
    ::io_uring_sqe_set_data64(entry, request.slot);
  }

  Outcome<void> exchange(std::uint64_t until_ns, std::vector<Completion>& done) override {
    const std::uint64_t now = now_ns();
    const std::uint64_t left = until_ns > now ? until_ns - now : 0;
    __kernel_timespec limit{static_cast<long long>(left / 1'000'000'000), static_cast<long long>(left % 1'000'000'000)};
    io_uring_cqe* first = nullptr;
    const int went = ::io_uring_submit_and_wait_timeout(&ring_, &first, 1, &limit, nullptr);
    if (went < 0 && went != -ETIME && went != -EINTR && went != -EAGAIN && went != -EBUSY)
      return wire::fail(Reason::local_error, fmt::format("io_uring: {}", std::strerror(-went)));
    const std::uint64_t at = now_ns();
    unsigned head = 0;
    unsigned seen = 0;
    io_uring_cqe* entry = nullptr;
    io_uring_for_each_cqe(&ring_, head, entry) {
      ++seen;
      const auto slot = static_cast<std::uint32_t>(entry->user_data);
      if (slot >= bytes_.size()) continue;  // a time-out of the library's own, on old kernels
      const bool whole = entry->res >= 0 && static_cast<std::uint32_t>(entry->res) == bytes_[slot];
      const std::uint32_t error = entry->res < 0 ? static_cast<std::uint32_t>(-entry->res) : short_answer;
      done.push_back({slot, whole ? 0 : error, at});
    }
    ::io_uring_cq_advance(&ring_, seen);
    return {};
  }
  std::string error_text(std::uint32_t error) const override { return text_of(error); }

 private:
  int fd_;
  io_uring ring_ = {};
  unsigned entries_ = 0;
  unsigned limit_ = 1;
  Buffers buffers_;
  std::vector<std::uint32_t> bytes_;
  std::uint64_t stamp_ = 0;
};

class ThreadEngine : public KernelEngine {
 public:
  explicit ThreadEngine(int fd) : fd_(fd) {}
  ~ThreadEngine() override { stop(); }
  const char* name() const override { return "pread"; }

  Outcome<void> prepare(const Step& step) override {
    limit_ = std::min(step.depth, most_threads);
    if (auto made = buffers_.prepare(step); !made) return made;
    stop();
    ending_ = false;
    try {
      for (unsigned i = 0; i < limit_; ++i) threads_.emplace_back([this] { work(); });
    } catch (const std::system_error&) {
      if (threads_.empty()) return wire::fail(Reason::local_error, "no thread could be started");
      limit_ = static_cast<unsigned>(threads_.size());
    }
    return {};
  }
  unsigned limit() const override { return limit_; }
  unsigned room() const override { return limit_; }

  void submit(const Request& request) override { fresh_.push_back(request); }

  Outcome<void> exchange(std::uint64_t until_ns, std::vector<Completion>& done) override {
    std::unique_lock lock(mutex_);
    const bool one = fresh_.size() == 1;
    const bool some = !fresh_.empty();
    for (const auto& request : fresh_) waiting_.push_back(request);
    fresh_.clear();
    if (some) one ? work_.notify_one() : work_.notify_all();
    const std::uint64_t now = now_ns();
    const auto left = std::chrono::nanoseconds(until_ns > now ? until_ns - now : 0);
    answer_.wait_for(lock, left, [this] { return !answered_.empty(); });
    done.insert(done.end(), answered_.begin(), answered_.end());
    answered_.clear();
    return {};
  }
  std::string error_text(std::uint32_t error) const override { return text_of(error); }

 private:
  void work() {
    std::unique_lock lock(mutex_);
    while (true) {
      work_.wait(lock, [this] { return ending_ || !waiting_.empty(); });
      if (ending_) return;
      const Request request = waiting_.front();
      waiting_.pop_front();
      const std::uint64_t stamp = ++stamp_;
      lock.unlock();
      const std::uint32_t error = transfer(request, stamp);
      const std::uint64_t at = now_ns();
      lock.lock();
      answered_.push_back({request.slot, error, at});
      answer_.notify_one();
    }
  }

  std::uint32_t transfer(const Request& request, std::uint64_t stamp) const {
    std::uint8_t* buffer = buffers_.of(request.slot);
    const auto offset = static_cast<off_t>(request.offset);
    if (request.op == Op::write) stamp_payload(buffer, request.bytes, request.offset, stamp);
    const ssize_t went = request.op == Op::write ? ::pwrite(fd_, buffer, request.bytes, offset)
                                                 : ::pread(fd_, buffer, request.bytes, offset);
    if (went < 0) return static_cast<std::uint32_t>(errno);
    return static_cast<std::uint32_t>(went) == request.bytes ? 0 : short_answer;
  }

  void stop() {
    {
      const std::lock_guard lock(mutex_);
      ending_ = true;
    }
    work_.notify_all();
    for (auto& thread : threads_) thread.join();
    threads_.clear();
    waiting_.clear();
    answered_.clear();
  }

  int fd_;
  unsigned limit_ = 1;
  Buffers buffers_;
  std::vector<Request> fresh_;
  std::mutex mutex_;
  std::condition_variable work_;
  std::condition_variable answer_;
  std::deque<Request> waiting_;
  std::vector<Completion> answered_;
  std::vector<std::thread> threads_;
  std::uint64_t stamp_ = 0;
  bool ending_ = false;
};

}  // namespace

std::unique_ptr<KernelEngine> make_kernel_engine(int fd, bool prefer_ring) {
  if (prefer_ring) {
    auto ring = std::make_unique<RingEngine>(fd);
    if (ring->open(8) == 0) return ring;  // EPERM, ENOSYS: forbidden, or a kernel before 5.1
  }
  return std::make_unique<ThreadEngine>(fd);
}

}  // namespace load
