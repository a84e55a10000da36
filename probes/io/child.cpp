#include "probes/io/child.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/process/v2.hpp>
#include <cerrno>
#include <optional>
#include <string_view>

#include "audit/base/text.h"
#include "probes/io/root_dir.h"

namespace probes {

using base::ErrorKind;
using base::fail;
using base::Result;
namespace process = boost::process::v2;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

namespace {

constexpr std::size_t error_limit = std::size_t{1} << 16;

// Runs in the child between fork and exec: a group of its own, and no signal setting of ours.
struct OwnGroup {
  process::error_code on_exec_setup(process::posix::default_launcher&, const process::filesystem::path&,
                                    const char* const*) const {
    ::setpgid(0, 0);
    ::signal(SIGPIPE, SIG_DFL);
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    return {};
  }
};

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

// Looked up here, not by exec: a failing exec ends in exit(3) inside the forked copy of this process.
Result<std::string> find_program(const ChildOptions& options) {
  if (options.argv.empty()) return fail(ErrorKind::usage, "", "no command given");
  const std::string& name = options.argv.front();
  if (name.find('/') != std::string::npos) {
    if (::access(name.c_str(), X_OK) != 0) return tl::unexpected(error_of(errno, name));
    return name;
  }
  for (const std::string& entry : options.environment) {
    if (!entry.starts_with("PATH=")) continue;
    for (const std::string_view directory : base::split(std::string_view(entry).substr(5), ':')) {
      std::string path = std::string(directory) + "/" + name;
      if (::access(path.c_str(), X_OK) == 0) return path;
    }
  }
  return fail(ErrorKind::absent, name, "no such program");
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

bool has_ended(int pid) {
  siginfo_t info{};
  if (::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) != 0) return errno == ECHILD;
  return info.si_pid == pid;
}

// Without pidfd_open(2) (before Linux 5.3): a look every few milliseconds.
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

// Only of a child that has ended: returns at once.
int reap(int pid) {
  siginfo_t info{};
  if (::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG) != 0 || info.si_pid != pid) return 0;
  return info.si_code == CLD_EXITED ? info.si_status : 128 + info.si_status;
}

Result<int> launch(const ChildOptions& options, const std::string& program, int in, int out, int err) {
  try {
    boost::asio::io_context context;
    process::error_code error;
    const std::vector<std::string> arguments(options.argv.begin() + 1, options.argv.end());
    // process_environment of Boost 1.81 is not complete without its compiled half.
    std::vector<const char*> environment;
    for (const std::string& entry : options.environment) environment.push_back(entry.c_str());
    environment.push_back(nullptr);
    process::posix::default_launcher launcher;
    launcher.env = environment.data();
    auto child =
        launcher(context.get_executor(), error, program, arguments, process::process_stdio{in, out, err}, OwnGroup{});
    const int pid = launcher.pid;
    // Else its destructor kills and then waits without limit, for ever on a child stuck in the kernel.
    child.detach();
    if (error) {
      if (pid > 0) wait_until_ended(pid, -1, milliseconds(100)) ? reap(pid) : 0;
      return tl::unexpected(error_of(error.value(), options.argv.front()));
    }
    return pid;
  } catch (const std::exception& problem) {
    return fail(ErrorKind::io, options.argv.front(), problem.what());
  }
}

}  // namespace

Result<ChildResult> run_child(const ChildOptions& options) {
  auto program = find_program(options);
  if (!program) return tl::unexpected(program.error());
  auto in = make_pipe();
  auto out = make_pipe();
  auto err = make_pipe();
  for (const auto* pipe : {&in, &out, &err})
    if (!*pipe) return tl::unexpected(pipe->error());
  in->write = Fd();

  const auto deadline = Clock::now() + options.deadline;
  auto launched = launch(options, *program, in->read.get(), out->write.get(), err->write.get());
  if (!launched) return tl::unexpected(launched.error());
  const int pid = *launched;
  const Fd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  in->read = Fd();
  out->write = Fd();
  err->write = Fd();

  ChildResult result;
  bool ended = false;
  bool error_cut = false;
  while (!ended && !result.cut) {
    ended = has_ended(pid);  // before the pipes are emptied: what it wrote last is then in them
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
                                           : wait_until_ended(pid, pidfd.get(), options.kill_wait);
    const bool late = !result.cut;
    if (!gone)
      return fail(ErrorKind::timeout, options.argv.front(),
                  (late ? "no end after " + std::to_string(options.deadline.count()) + " ms" : "endless output") +
                      ", and it cannot be killed: left behind");
    if (late) {
      reap(pid);
      return fail(ErrorKind::timeout, options.argv.front(),
                  "no end after " + std::to_string(options.deadline.count()) + " ms: killed");
    }
  }
  result.exit_code = reap(pid);
  return result;
}

}  // namespace probes
