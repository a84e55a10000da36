#include "probes/io/child.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>

#include "audit/base/text.h"
#include "probes/io/root_dir.h"
#include "probes/io/wait.h"

namespace probes {

using base::ErrorKind;
using base::fail;
using base::Result;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

namespace {

constexpr std::size_t error_limit = std::size_t{1} << 16;

struct Pipe {
  Fd read;
  Fd write;
};

// Both ends above 2, so that the child's dup2 onto 0, 1 and 2 never meets one of them.
Result<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return tl::unexpected(error_of(errno, "pipe"));
  const Fd low_read(ends[0]);
  const Fd low_write(ends[1]);
  Pipe pipe{Fd(::fcntl(ends[0], F_DUPFD_CLOEXEC, 3)), Fd(::fcntl(ends[1], F_DUPFD_CLOEXEC, 3))};
  if (!pipe.read || !pipe.write) return tl::unexpected(error_of(errno, "pipe"));
  ::fcntl(pipe.read.get(), F_SETFL, O_NONBLOCK);
  return pipe;
}

// Where the program may be, in order.
std::vector<std::string> candidates(const ChildOptions& options) {
  const std::string& name = options.argv.front();
  if (name.find('/') != std::string::npos) return {name};
  std::vector<std::string> paths;
  for (const std::string& entry : options.environment) {
    if (!entry.starts_with("PATH=")) continue;
    for (const std::string_view directory : base::split(std::string_view(entry).substr(5), ':'))
      paths.push_back(std::string(directory) + "/" + name);
  }
  return paths;
}

std::vector<char*> pointers(const std::vector<std::string>& words) {
  std::vector<char*> out;
  for (const std::string& word : words) out.push_back(const_cast<char*>(word.c_str()));
  out.push_back(nullptr);
  return out;
}

// All that the child needs, made before the fork: behind it only calls that are async-signal-safe are allowed.
struct Command {
  std::vector<std::string> paths;
  std::vector<char*> argv;
  std::vector<char*> environment;
};

// Looks the program up and becomes it; else writes errno to `status` and ends.
[[noreturn]] void become(const Command& command, std::array<int, 3> stdio, int status) {
  ::setpgid(0, 0);
  for (const int number : {SIGINT, SIGTERM, SIGPIPE, SIGHUP}) ::signal(number, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  int error = 0;
  for (int fd = 0; fd < 3; ++fd)
    if (::dup2(stdio[static_cast<std::size_t>(fd)], fd) < 0) error = errno;
  if (error == 0) {
    error = ENOENT;
    for (const std::string& path : command.paths) {
      ::execve(path.c_str(), command.argv.data(), command.environment.data());
      const bool next = errno == ENOENT || errno == ENOTDIR || errno == EACCES;
      if (!next || errno == EACCES) error = errno;  // a later place may still have it; if none has, this is the reason
      if (!next) break;
    }
  }
  (void)!::write(status, &error, sizeof error);
  ::_exit(127);
}

// Takes what is there. False when the other side has closed.
bool drain(int fd, std::string& into, std::size_t limit, bool& cut) {
  std::array<char, 65536> buffer;
  for (;;) {
    const ssize_t got = ::read(fd, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno == EAGAIN;
    if (got == 0) return false;
    const std::size_t room = limit - into.size();
    const auto size = static_cast<std::size_t>(got);
    into.append(buffer.data(), std::min(size, room));
    if (size > room) {
      cut = true;
      return true;
    }
  }
}

// errno of the exec, where the child wrote one: it never became the program.
int exec_error(int status) {
  int error = 0;
  return ::read(status, &error, sizeof error) == static_cast<ssize_t>(sizeof error) ? error : 0;
}

}  // namespace

// Boost.Process would do for the launch, but reads what exec says without a deadline: a program that lies on a dead
// file system would hang the caller. Here nothing of the program is touched before the fork, and the wait for exec is
// part of the one wait below.
Result<ChildResult> run_child(const ChildOptions& options) {
  if (options.argv.empty()) return fail(ErrorKind::usage, "", "no command given");
  auto in = make_pipe();
  auto out = make_pipe();
  auto err = make_pipe();
  auto status = make_pipe();
  for (const auto* pipe : {&in, &out, &err, &status})
    if (!*pipe) return tl::unexpected(pipe->error());
  in->write = Fd();
  const Command command{candidates(options), pointers(options.argv), pointers(options.environment)};

  const auto deadline = Clock::now() + options.deadline;
  const pid_t pid = ::fork();
  if (pid == 0) become(command, {in->read.get(), out->write.get(), err->write.get()}, status->write.get());
  if (pid < 0) return tl::unexpected(error_of(errno, options.argv.front()));
  const Fd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  in->read = Fd();
  out->write = Fd();
  err->write = Fd();
  status->write = Fd();

  ChildResult result;
  bool ended = false;
  bool error_cut = false;
  while (!ended && !result.cut) {
    ended = io::has_ended(pid);  // before the pipes are emptied: what it wrote last is then in them
    if (out->read && !drain(out->read.get(), result.out, options.output_limit, result.cut)) out->read = Fd();
    if (err->read && !drain(err->read.get(), result.err, error_limit, error_cut)) err->read = Fd();
    if (ended) break;
    if (error_cut) err->read = Fd();
    const auto left = std::chrono::ceil<milliseconds>(deadline - Clock::now());
    if (left.count() <= 0) break;
    std::array<pollfd, 3> polls{{{out->read.get(), POLLIN, 0}, {err->read.get(), POLLIN, 0}, {pidfd.get(), POLLIN, 0}}};
    ::poll(polls.data(), polls.size(),
           static_cast<int>(pidfd ? left.count() : std::min<milliseconds::rep>(left.count(), 5)));
  }

  // The leader is not reaped yet, so its group's number cannot belong to anybody else.
  ::kill(-pid, SIGKILL);
  if (!ended) ::kill(pid, SIGKILL);  // it may not have got as far as its own group
  if (!ended) {
    const bool gone = options.wait_for_end ? options.wait_for_end(pid, options.kill_wait)
                                           : io::wait_until_ended(pid, pidfd.get(), options.kill_wait);
    const bool late = !result.cut;
    if (!gone)
      return fail(ErrorKind::timeout, options.argv.front(),
                  (late ? "no end after " + std::to_string(options.deadline.count()) + " ms" : "endless output") +
                      ", and it cannot be killed: left behind");
    if (late) {
      io::reap(pid);
      return fail(ErrorKind::timeout, options.argv.front(),
                  "no end after " + std::to_string(options.deadline.count()) + " ms: killed");
    }
  }
  result.exit_code = io::reap(pid);
  if (const int error = exec_error(status->read.get()); error == ENOENT || error == ENOTDIR)
    return fail(ErrorKind::absent, options.argv.front(), "no such program");
  else if (error != 0)
    return tl::unexpected(error_of(error, options.argv.front()));
  return result;
}

Result<std::string> run_in_child(const std::function<void(const std::function<void(std::string_view)>&)>& run,
                                 milliseconds silence) {
  auto pipe = make_pipe();
  if (!pipe) return tl::unexpected(pipe.error());
  const pid_t pid = ::fork();
  if (pid < 0) return tl::unexpected(error_of(errno, "child"));
  if (pid == 0) {
    ::setpgid(0, 0);
    for (const int number : {SIGINT, SIGTERM, SIGPIPE, SIGHUP}) ::signal(number, SIG_DFL);
    pipe->read = Fd();
    const int out = pipe->write.get();
    // One that is left behind must not keep the caller's output open.
    const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int fd = 0; fd < 3; ++fd) ::dup2(null, fd);
    run([out](std::string_view text) {
      while (!text.empty()) {
        const ssize_t wrote = ::write(out, text.data(), text.size());
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote < 0) ::_exit(1);
        text.remove_prefix(static_cast<std::size_t>(wrote));
      }
    });
    ::_exit(0);
  }
  pipe->write = Fd();
  std::string text;
  bool cut = false, open = true;
  while (open && !cut) {
    pollfd poll{pipe->read.get(), POLLIN, 0};
    const int ready = ::poll(&poll, 1, static_cast<int>(silence.count()));
    if (ready == 0) break;
    open = drain(pipe->read.get(), text, std::size_t{256} << 20, cut);
  }
  if (open) {
    const auto last = text.rfind("\n== ");
    const std::string where =
        last == std::string::npos ? std::string() : text.substr(last + 4, text.find('\n', last + 1) - last - 4);
    text.resize(text.rfind('\n') == std::string::npos ? 0 : text.rfind('\n') + 1);
    text += "note nothing came for " + std::to_string(silence.count()) + " ms behind " + where + ": left behind\n";
  }
  io::end_child(pid, milliseconds(200));
  return text;
}

}  // namespace probes
