#include "cli/output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <utility>

#include "audit/base/text.h"

namespace cli {

namespace {

using base::ErrorKind;

volatile std::sig_atomic_t noted_signal = 0;

void note_signal(int number) { noted_signal = number; }

ErrorKind kind_of(int error) {
  switch (error) {
    case ENOENT:
    case ENOTDIR: return ErrorKind::absent;
    case EACCES:
    case EPERM:
    case EROFS: return ErrorKind::denied;
    default: return ErrorKind::io;
  }
}

// 0, or errno.
int write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const auto done = ::write(descriptor, text.data(), text.size());
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return errno;
    text.remove_prefix(static_cast<std::size_t>(done));
  }
  return 0;
}

bool dumb_terminal() {
  const char* term = std::getenv("TERM");
  return term == nullptr || *term == '\0' || std::strcmp(term, "dumb") == 0;
}

}  // namespace

base::Result<void> print(std::string_view text) {
  const int error = write_all(STDOUT_FILENO, text);
  if (error != 0 && error != EPIPE) return base::fail(kind_of(error), "standard output", std::strerror(error));
  return {};
}

void say(std::string_view text) { write_all(STDERR_FILENO, "mountaudit: " + base::escape_control(text) + "\n"); }

void talk(std::string_view text) { write_all(STDERR_FILENO, text); }

bool color_wanted(bool asked) {
  if (asked) return true;
  const char* no_color = std::getenv("NO_COLOR");
  return (no_color == nullptr || *no_color == '\0') && !dumb_terminal() && ::isatty(STDOUT_FILENO) == 1;
}

bool progress_wanted(bool quiet) { return !quiet && !dumb_terminal() && ::isatty(STDERR_FILENO) == 1; }

int columns() {
  winsize size{};
  if (::isatty(STDOUT_FILENO) == 1 && ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 40)
    return std::min<int>(size.ws_col, 120);
  return 80;
}

base::Result<ReportFile> ReportFile::open(const std::string& path) {
  int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  const bool made = descriptor >= 0;
  if (!made && errno == EEXIST) descriptor = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (descriptor < 0)
    return base::fail(kind_of(errno), path, fmt::format("cannot be written: {}", std::strerror(errno)));
  return ReportFile(path, descriptor, made);
}

ReportFile::ReportFile(ReportFile&& other) noexcept
    : path_(std::move(other.path_)), fd_(std::exchange(other.fd_, -1)), made_(std::exchange(other.made_, false)) {}

ReportFile::~ReportFile() {
  if (fd_ >= 0) ::close(fd_);
  if (made_) ::unlink(path_.c_str());
}

base::Result<void> ReportFile::write(std::string_view text) {
  return write([text](const base::Sink& sink) { sink(text); });
}

base::Result<void> ReportFile::write(const Pieces& pieces) {
  struct stat status {};
  // Only a regular file has an earlier content; a pipe or a device does not.
  if (::fstat(fd_, &status) == 0 && S_ISREG(status.st_mode) && ::ftruncate(fd_, 0) != 0)
    return base::fail(kind_of(errno), path_, std::strerror(errno));
  int error = 0;
  pieces([&](std::string_view piece) {
    if (error == 0) error = write_all(fd_, piece);
  });
  if (::close(std::exchange(fd_, -1)) != 0 && error == 0) error = errno;
  if (error != 0 && error != EPIPE) return base::fail(kind_of(error), path_, std::strerror(error));
  made_ = false;
  return {};
}

void note_signals() {
  struct sigaction action {};
  action.sa_handler = note_signal;
  action.sa_flags = static_cast<int>(SA_RESETHAND | static_cast<unsigned>(SA_RESTART));
  for (const int number : {SIGINT, SIGTERM}) {
    struct sigaction before {};
    // A shell starts background jobs with SIGINT ignored; that stays so.
    if (::sigaction(number, nullptr, &before) == 0 && before.sa_handler != SIG_IGN)
      ::sigaction(number, &action, nullptr);
  }
}

int signal_seen() { return noted_signal; }

void wait(std::chrono::milliseconds gap, bool progress, std::string_view what) {
  const auto end = std::chrono::steady_clock::now() + gap;
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    if (left.count() <= 0 || signal_seen() != 0) break;
    if (progress)
      write_all(STDERR_FILENO,
                fmt::format("\r\x1b[K{}: {:.0f} s", what, std::ceil(static_cast<double>(left.count()) / 1000)));
    const auto step = std::min<std::int64_t>(left.count(), 200);  // a signal may come just before the sleep
    timespec pause{step / 1000, (step % 1000) * 1000000};
    ::nanosleep(&pause, nullptr);
  }
  if (progress) write_all(STDERR_FILENO, "\r\x1b[K");
}

}  // namespace cli
