#include "probes/io/touch.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <thread>

#include "probes/io/root_dir.h"
#include "probes/io/wait.h"

namespace probes {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

namespace {

constexpr std::size_t most_at_once = 64;
constexpr milliseconds kill_wait{100};

struct Child {
  std::size_t index = 0;
  pid_t pid = -1;
  Fd answer;
  Clock::time_point started;
};

void close_all_but(int kept) {
#ifdef SYS_close_range
  const auto last = static_cast<unsigned>(kept);
  if ((last == 0 || ::syscall(SYS_close_range, 0U, last - 1, 0U) == 0) &&
      ::syscall(SYS_close_range, last + 1, ~0U, 0U) == 0)
    return;
#endif
  for (int fd = 0; fd < 65536; ++fd) {  // before Linux 5.9
    if (fd != kept) ::close(fd);
  }
}

[[noreturn]] void be_child(int answer, const char* path, TouchCall call) {
  ::setpgid(0, 0);
  for (const int number : {SIGINT, SIGTERM, SIGPIPE, SIGHUP}) ::signal(number, SIG_DFL);
  close_all_but(answer);
  const int error = call(path);
  (void)!::write(answer, &error, sizeof error);
  ::_exit(0);
}

bool start(Child& child, const std::string& path, TouchCall call, Touched& result) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    result.error = errno;
    return false;
  }
  child.answer = Fd(ends[0]);
  const Fd write_end(ends[1]);
  child.started = Clock::now();
  child.pid = ::fork();
  if (child.pid == 0) be_child(ends[1], path.c_str(), call);
  if (child.pid < 0) {
    result.error = errno;
    return false;
  }
  return true;
}

bool has_gone(pid_t pid) {
  if (!io::has_ended(pid)) return false;
  io::reap(pid);
  return true;
}

// A child in uninterruptible sleep goes when the kernel lets it, and is init's by then or ours to leave.
void put_down(std::vector<Child>& children, std::vector<Touched>& results) {
  for (const Child& child : children) ::kill(child.pid, SIGKILL);
  const auto end = Clock::now() + kill_wait;
  do {
    std::erase_if(children, [](const Child& child) { return has_gone(child.pid); });
    if (children.empty()) return;
    std::this_thread::sleep_for(milliseconds(2));
  } while (Clock::now() < end);
  for (const Child& child : children) {
    if (results[child.index].how == Touched::How::timeout) results[child.index].how = Touched::How::left_behind;
  }
}

// Takes the answer of a child whose pipe is readable or closed.
void take(Child& child, Touched& result) {
  int error = 0;
  ssize_t got = 0;
  do {
    got = ::read(child.answer.get(), &error, sizeof error);
  } while (got < 0 && errno == EINTR);
  // One that died without a word says nothing about the path.
  const bool told = got == static_cast<ssize_t>(sizeof error);
  result.how = told ? Touched::How::ended : Touched::How::not_started;
  result.error = told ? error : ECHILD;
  result.duration = Clock::now() - child.started;
}

void touch_some(const std::vector<std::string>& paths, std::size_t from, std::size_t to, Clock::time_point end,
                TouchCall call, std::vector<Touched>& results) {
  std::vector<Child> open, answered;
  for (std::size_t i = from; i < to; ++i) {
    Child child;
    child.index = i;
    if (start(child, paths[i], call, results[i])) open.push_back(std::move(child));
  }
  while (!open.empty()) {
    const auto left = std::chrono::ceil<milliseconds>(end - Clock::now());
    if (left.count() <= 0) break;
    std::vector<pollfd> polls;
    for (const Child& child : open) polls.push_back({child.answer.get(), POLLIN, 0});
    if (::poll(polls.data(), polls.size(), static_cast<int>(left.count())) < 0 && errno != EINTR) break;
    for (std::size_t i = open.size(); i-- > 0;) {
      if (polls[i].revents == 0) continue;
      take(open[i], results[open[i].index]);
      answered.push_back(std::move(open[i]));
      open.erase(open.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
  for (Child& child : open) {
    results[child.index].how = Touched::How::timeout;
    results[child.index].duration = Clock::now() - child.started;
    answered.push_back(std::move(child));
  }
  put_down(answered, results);
}

}  // namespace

int touch_by_statfs(const char* path) {
  struct statfs unused {};
  return ::statfs(path, &unused) == 0 ? 0 : errno;
}

std::vector<Touched> touch_paths(const std::vector<std::string>& paths, milliseconds deadline, TouchCall call) {
  std::vector<Touched> results(paths.size());
  const auto end = Clock::now() + deadline;
  for (std::size_t from = 0; from < paths.size() && Clock::now() < end; from += most_at_once)
    touch_some(paths, from, std::min(paths.size(), from + most_at_once), end, call, results);
  return results;
}

}  // namespace probes
