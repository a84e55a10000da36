#include "probes/io/wait.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>

namespace io {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

bool has_ended(int pid) {
  siginfo_t info{};
  if (::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) != 0) return errno == ECHILD;
  return info.si_pid == pid;
}

bool wait_until_ended(int pid, int pidfd, milliseconds at_most) {
  const auto end = Clock::now() + at_most;
  while (!has_ended(pid)) {
    const auto left = std::chrono::ceil<milliseconds>(end - Clock::now());
    if (left.count() <= 0) return false;
    pollfd poll{pidfd, POLLIN, 0};
    ::poll(&poll, 1, static_cast<int>(pidfd >= 0 ? left.count() : std::min<milliseconds::rep>(left.count(), 5)));
  }
  return true;
}

int reap(int pid) {
  siginfo_t info{};
  if (::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG) != 0 || info.si_pid != pid) return 0;
  return info.si_code == CLD_EXITED ? info.si_status : 128 + info.si_status;
}

std::optional<int> end_child(int pid, milliseconds at_most) {
  ::kill(pid, SIGKILL);
  if (!wait_until_ended(pid, -1, at_most)) return std::nullopt;
  return reap(pid);
}

}  // namespace io
