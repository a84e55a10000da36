// A loop over poll(2) with timers: all that a few hundred short conversations need. It is our own rather than Asio
// because the promise "ends by the deadline whatever the peers do" is then one screen of code to read: every turn runs
// the due timers first, reads each socket at most once, and stops at `end`; and because no header of it costs compile
// time. One thread. Callbacks may add and remove timers and sockets, their own included.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace io {

using Clock = std::chrono::steady_clock;  // CLOCK_MONOTONIC
using Time = Clock::time_point;
using Duration = Clock::duration;

class Loop {
 public:
  using Action = std::function<void()>;
  using Ready = std::function<void(short revents)>;  // POLLIN, POLLOUT, POLLERR, POLLHUP as poll(2) gave them
  using TimerId = std::uint64_t;

  Loop() = default;
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  TimerId at(Time when, Action action);
  void cancel(TimerId id);                        // a timer that has run or is unknown is no error
  void post(Action action);                       // in the next turn, never inside the caller
  void watch(int fd, short events, Ready ready);  // replaces an earlier watch of this descriptor
  void unwatch(int fd);

  // Turns until nothing is left to wait for (true) or `end` has come (false). What is left is kept.
  bool run(Time end);
  void leave() { leaving_ = true; }  // run() returns after this turn, with false

 private:
  struct Watch {
    short events;
    Ready ready;
  };
  bool idle() const { return posted_.empty() && timers_.empty() && watches_.empty(); }
  void run_due();

  std::map<std::pair<Time, TimerId>, Action> timers_;
  std::map<TimerId, Time> times_;
  std::map<int, std::shared_ptr<Watch>> watches_;
  std::vector<Action> posted_;
  TimerId last_id_ = 0;
  bool leaving_ = false;
};

}  // namespace io
