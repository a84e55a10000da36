#include "probes/io/loop.h"

#include <poll.h>

#include <algorithm>

namespace io {

Loop::TimerId Loop::at(Time when, Action action) {
  const TimerId id = ++last_id_;
  timers_.emplace(std::pair{when, id}, std::move(action));
  times_.emplace(id, when);
  return id;
}

void Loop::cancel(TimerId id) {
  const auto found = times_.find(id);
  if (found == times_.end()) return;
  timers_.erase({found->second, id});
  times_.erase(found);
}

void Loop::post(Action action) { posted_.push_back(std::move(action)); }

void Loop::watch(int fd, short events, Ready ready) {
  watches_[fd] = std::make_shared<Watch>(Watch{events, std::move(ready)});
}

void Loop::unwatch(int fd) { watches_.erase(fd); }

void Loop::run_due() {
  std::vector<Action> posted;
  posted.swap(posted_);  // what these post waits for the next turn, so that timers and sockets get theirs
  for (auto& action : posted) action();
  const Time now = Clock::now();
  while (!timers_.empty() && timers_.begin()->first.first <= now) {
    auto node = timers_.extract(timers_.begin());
    times_.erase(node.key().second);
    node.mapped()();
  }
}

bool Loop::run(Time end) {
  std::vector<pollfd> fds;
  std::vector<std::shared_ptr<Watch>> watched;
  leaving_ = false;
  while (!idle()) {
    if (leaving_ || Clock::now() >= end) return false;
    run_due();
    if (leaving_) return false;
    if (idle()) break;
    fds.clear();
    watched.clear();
    for (const auto& [fd, watch] : watches_) {
      fds.push_back({fd, watch->events, 0});
      watched.push_back(watch);
    }
    Time wake = end;
    if (!timers_.empty()) wake = std::min(wake, timers_.begin()->first.first);
    int wait_ms = 0;
    if (posted_.empty()) {
      // Rounded up: a timer that is 0.4 ms away must not be polled for with a busy loop.
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(wake - Clock::now()).count();
      wait_ms = static_cast<int>(std::clamp<long long>(left, 0, 60'000));
    }
    const int ready = ::poll(fds.data(), fds.size(), wait_ms);
    if (ready <= 0) continue;  // a signal, or time for a timer
    for (std::size_t i = 0; i < fds.size(); ++i) {
      if (fds[i].revents == 0) continue;
      const auto now_there = watches_.find(fds[i].fd);
      // An earlier callback of this turn may have closed the descriptor, or another file may have got its number.
      if (now_there != watches_.end() && now_there->second == watched[i]) watched[i]->ready(fds[i].revents);
    }
  }
  return true;
}

}  // namespace io
