#include "probes/load/janitor.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "probes/io/wait.h"

namespace load {
namespace {

// Nobody who reads our output or waits for our sockets to close shall wait for this child.
void keep_only(int fd) {
  ::dup2(fd, 3);
  if (fd != 3) ::close(fd);
  const int null = ::open("/dev/null", O_RDWR);
  for (const int standard : {0, 1, 2}) ::dup2(null, standard);
  if (::syscall(SYS_close_range, 4U, ~0U, 0U) == 0) return;
  for (int other = 4; other < 4096; ++other) ::close(other);  // kernels before 5.9
}

}  // namespace

Janitor::Janitor(const std::function<void()>& clean_up) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return;
  child_ = ::fork();
  if (child_ == 0) {
    ::setsid();
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::signal(signal, SIG_IGN);
    ::close(ends[1]);
    keep_only(ends[0]);
    char word = 0;
    ssize_t got = 0;
    do {
      got = ::read(3, &word, 1);
    } while (got < 0 && errno == EINTR);
    if (got == 0) clean_up();
    ::_exit(0);
  }
  ::close(ends[0]);
  if (child_ < 0) {
    ::close(ends[1]);
  } else {
    pipe_ = ends[1];
  }
}

void Janitor::dismiss() {
  if (child_ <= 0) return;
  const char word = 'd';
  const auto ignored = ::write(pipe_, &word, 1);
  static_cast<void>(ignored);
  ::close(pipe_);
  // It ends at once; where the system is ill it is left to itself.
  if (io::wait_until_ended(child_, -1, std::chrono::milliseconds(500))) io::reap(child_);
  child_ = -1;
}

Janitor::~Janitor() { dismiss(); }

}  // namespace load
