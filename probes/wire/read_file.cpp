#include "probes/wire/read_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <nfsc/libnfs.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "audit/base/text.h"
#include "probes/io/wait.h"
#include "probes/wire/reason.h"

namespace wire {
namespace {

constexpr std::uint64_t most_bytes = 1 << 20;

struct Destroy {
  void operator()(nfs_context* context) const { nfs_destroy_context(context); }
};
using Context = std::unique_ptr<nfs_context, Destroy>;

struct Ended {
  bool done = false;
  int status = 0;  // of libnfs: negative errno, or a number of bytes
  std::string error;
  std::vector<char> bytes;
  std::uint64_t number = 0;
  nfsfh* file = nullptr;
};

// What a call gives besides its status.
enum class Gives : std::uint8_t { nothing, file, size, space, bytes };

struct Waiting {
  Ended* ended;
  Gives gives;
};

// libnfs calls it inside nfs_service(), or inside nfs_destroy_context() for what was given up: then `ended` is gone and
// the deleter has cleared it.
void take(int status, nfs_context*, void* data, void* own) {
  auto* waiting = static_cast<Waiting*>(own);
  if (waiting->ended == nullptr) return;
  Ended& ended = *waiting->ended;
  ended.done = true;
  ended.status = status;
  if (status < 0) {
    if (data != nullptr) ended.error = static_cast<const char*>(data);
    return;
  }
  switch (waiting->gives) {
    case Gives::nothing: break;
    case Gives::file: ended.file = static_cast<nfsfh*>(data); break;
    case Gives::size: ended.number = static_cast<const nfs_stat_64*>(data)->nfs_size; break;
    case Gives::space: {
      const auto* space = static_cast<const struct statvfs*>(data);
      ended.number = std::uint64_t{space->f_bavail} * (space->f_frsize != 0 ? space->f_frsize : space->f_bsize);
      break;
    }
    case Gives::bytes: ended.bytes.assign(static_cast<const char*>(data), static_cast<const char*>(data) + status);
  }
}

std::string errno_name(int error) {
  const char* name = ::strerrorname_np(error);
  return name != nullptr ? name : fmt::format("errno {}", error);
}

class Reader {
 public:
  Reader(const facts::NfsServer& server, const ReadFileOptions& options) : server_(server), options_(options) {}

  facts::NfsReadTest run(bool version3, const std::string& export_path, const std::string& path) {
    facts::NfsReadTest out;
    out.version = version3 ? "3" : "4.0";
    out.path = (export_path == "/" ? "" : export_path) + path;
    out.detail = facts::Fact<std::string>::absent();
    context_.reset(nfs_init_context());
    if (!context_) {
      out.result = "ENOMEM";
      return out;
    }
    prepare(version3);
    steps(out, export_path, path);
    // Calls under way would be answered while the context goes: nobody waits for them any more.
    for (const auto& waiting : waiting_) waiting->ended = nullptr;
    context_.reset();
    return out;
  }

 private:
  const facts::NfsService* service(std::string_view program) const {
    for (const auto& one : server_.services)
      if (one.program == program) return &one;
    return nullptr;
  }

  // Ports by the arguments of a URL: libnfs has no call for them.
  void prepare(bool version3) {
    nfs_set_version(context_.get(), version3 ? 3 : 4);
    const auto* mountd = service("mountd");
    std::string url = fmt::format("nfs://-/?version={}&nfsport={}&readahead=0", version3 ? 3 : 4, server_.port);
    if (version3 && mountd != nullptr && mountd->port.has_value()) url += fmt::format("&mountport={}", *mountd->port);
    if (nfs_url* parsed = nfs_parse_url_incomplete(context_.get(), url.c_str()); parsed != nullptr)
      nfs_destroy_url(parsed);
    nfs_set_autoreconnect(context_.get(), 0);  // else it tries for ever, in a busy loop
    nfs_set_uid(context_.get(), static_cast<int>(::geteuid()));
    nfs_set_gid(context_.get(), static_cast<int>(::getegid()));
  }

  void steps(facts::NfsReadTest& out, const std::string& export_path, const std::string& path) {
    auto* nfs = context_.get();
    const auto began = io::Clock::now();
    const std::string host = server_.addr.value_or(server_.name);
    auto mounted = wait(Gives::nothing,
                        [&](void* own) { return nfs_mount_async(nfs, host.c_str(), export_path.c_str(), take, own); });
    if (failed(out, "mount", mounted)) return;
    out.mount_ms = ms(io::Clock::now() - began);
    const auto opened =
        wait(Gives::file, [&](void* own) { return nfs_open_async(nfs, path.c_str(), O_RDONLY, take, own); });
    if (!failed(out, "open", opened)) {
      read(out, path, opened.file);
      wait(Gives::nothing, [&](void* own) { return nfs_close_async(nfs, opened.file, take, own); });
    }
    wait(Gives::nothing, [&](void* own) { return nfs_umount_async(nfs, take, own); });
  }

  void read(facts::NfsReadTest& out, const std::string& path, nfsfh* file) {
    auto* nfs = context_.get();
    const auto size = wait(Gives::size, [&](void* own) { return nfs_fstat64_async(nfs, file, take, own); });
    if (failed(out, "getattr", size)) return;
    out.file_bytes = size.number;
    const auto space = wait(Gives::space, [&](void* own) { return nfs_statvfs_async(nfs, path.c_str(), take, own); });
    if (space.status >= 0) out.avail_bytes = space.number;
    std::uint64_t allowed = nfs_get_readmax(nfs);
    if (allowed == 0 || allowed > most_bytes) allowed = most_bytes;
    const auto began = io::Clock::now();
    const auto got = wait(Gives::bytes, [&](void* own) { return nfs_pread_async(nfs, file, 0, allowed, take, own); });
    if (failed(out, "read", got)) return;
    out.read_ms = ms(io::Clock::now() - began);
    out.bytes = got.bytes.size();
    out.result = "ok";
  }

  static double ms(io::Duration duration) { return std::chrono::duration<double, std::milli>(duration).count(); }

  static bool failed(facts::NfsReadTest& out, std::string_view step, const Ended& ended) {
    if (ended.status >= 0) return false;
    out.result = errno_name(-ended.status);
    std::string detail = std::string(step);
    if (!ended.error.empty()) detail += ": " + std::string(base::trim(ended.error));
    out.detail = std::move(detail);
    return true;
  }

  // One call until its end, or until the time is over. libnfs does its work in nfs_service(); it wants to be called
  // with 0 as well, so that what it does by the clock is done.
  template <class Start>
  Ended wait(Gives gives, Start start) {
    Ended ended;
    if (broken_) {
      ended.status = -ECONNABORTED;
      return ended;
    }
    waiting_.push_back(std::make_unique<Waiting>(Waiting{&ended, gives}));
    Waiting& own = *waiting_.back();
    auto* nfs = context_.get();
    if (start(&own) != 0) return broken(ended, own, -EIO);
    while (!ended.done) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(options_.end - io::Clock::now()).count();
      if (left <= 0) return broken(ended, own, -ETIMEDOUT);
      if (options_.stop != nullptr && options_.stop->load()) return broken(ended, own, -EINTR);
      pollfd one{nfs_get_fd(nfs), static_cast<short>(nfs_which_events(nfs)), 0};
      const int ready = ::poll(&one, 1, static_cast<int>(std::min<long long>(left, 50)));
      if (nfs_service(nfs, ready > 0 ? one.revents : 0) < 0 && !ended.done) return broken(ended, own, -ECONNABORTED);
    }
    own.ended = nullptr;
    return ended;
  }

  Ended broken(Ended& ended, Waiting& own, int status) {
    broken_ = true;
    own.ended = nullptr;
    ended.status = status;
    const char* error = nfs_get_error(context_.get());
    if (status == -ETIMEDOUT) {
      ended.error = "no answer in time";
    } else if (status == -EINTR) {
      ended.error = "ended by a signal";
    } else if (error != nullptr) {
      ended.error = error;
    }
    return std::move(ended);
  }

  const facts::NfsServer& server_;
  const ReadFileOptions& options_;
  // Outlives the context, whose end calls back for what was given up.
  std::vector<std::unique_ptr<Waiting>> waiting_;
  Context context_;
  bool broken_ = false;
};

// What the child tells: one write, small enough for a pipe to take as a whole.
struct Told {
  std::array<char, 64> result;
  std::array<char, 512> detail;
  bool has_detail, has_mount, has_file, has_avail, has_read;
  double mount_ms, read_ms;
  std::uint64_t file_bytes, avail_bytes, bytes;
};

template <std::size_t N>
void put(std::array<char, N>& to, const std::string& text) {
  to.fill('\0');
  std::copy_n(text.data(), std::min(text.size(), N - 1), to.data());
}

Told told_of(const facts::NfsReadTest& test) {
  Told told{};
  put(told.result, test.result);
  put(told.detail, test.detail.value_or(""));
  told.has_detail = test.detail.has_value();
  told.has_mount = test.mount_ms.has_value();
  told.has_file = test.file_bytes.has_value();
  told.has_avail = test.avail_bytes.has_value();
  told.has_read = test.read_ms.has_value();
  told.mount_ms = test.mount_ms.value_or(0);
  told.read_ms = test.read_ms.value_or(0);
  told.file_bytes = test.file_bytes.value_or(0);
  told.avail_bytes = test.avail_bytes.value_or(0);
  told.bytes = test.bytes.value_or(0);
  return told;
}

void take(const Told& told, facts::NfsReadTest& out) {
  out.result = told.result.data();
  if (told.has_detail) out.detail = std::string(told.detail.data());
  if (told.has_mount) out.mount_ms = told.mount_ms;
  if (told.has_file) out.file_bytes = told.file_bytes;
  if (told.has_avail) out.avail_bytes = told.avail_bytes;
  if (told.has_read) {
    out.read_ms = told.read_ms;
    out.bytes = told.bytes;
  }
}

void fail(facts::NfsReadTest& out, int error, std::string detail) {
  out.result = errno_name(error);
  out.detail = std::move(detail);
}

// Waits for the answer of the child, ends it, and says what became of it.
void attend(pid_t child, int answer, const ReadFileOptions& options, facts::NfsReadTest& out) {
  constexpr auto grace = std::chrono::milliseconds(300);  // the child knows the end too, and says what it was at
  Told told{};
  ssize_t got = -1;
  int error = ETIMEDOUT;
  const char* why = "no answer in time";
  while (true) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(options.end + grace - io::Clock::now()).count();
    if (left <= 0) break;
    if (options.stop != nullptr && options.stop->load()) {
      error = EINTR;
      why = "ended by a signal";
      break;
    }
    pollfd one{answer, POLLIN, 0};
    if (::poll(&one, 1, static_cast<int>(std::min<long long>(left, 50))) <= 0) continue;
    got = ::read(answer, &told, sizeof told);
    if (got < 0 && errno == EINTR) continue;
    break;
  }
  // It has ended, or nothing more is wanted of it. It waits for sockets only, and goes at once unless the system is
  // ill.
  const auto ended = io::end_child(child, std::chrono::milliseconds(500));
  if (got == static_cast<ssize_t>(sizeof told)) return take(told, out);
  if (got < 0) return fail(out, error, why);
  fail(out, EPROTO,
       ended && *ended > 128 && *ended != 128 + SIGKILL
           ? fmt::format("libnfs was ended by signal {} at what the server sent", *ended - 128)
           : std::string("libnfs ended at what the server sent"));
}

facts::NfsReadTest read_in_child(const facts::NfsServer& server, bool version3, const std::string& export_path,
                                 const std::string& path, const ReadFileOptions& options) {
  facts::NfsReadTest out;
  out.version = version3 ? "3" : "4.0";
  out.path = (export_path == "/" ? "" : export_path) + path;
  out.detail = facts::Fact<std::string>::absent();
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    fail(out, errno, "pipe");
    return out;
  }
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(1);
    const rlimit none{0, 0};
    ::setrlimit(RLIMIT_CORE, &none);  // a dump would hold more than the answer is worth
    for (const int signal : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL}) ::signal(signal, SIG_DFL);
    ::signal(SIGINT, SIG_IGN);  // the parent decides
    ::signal(SIGTERM, SIG_IGN);
    const Told told = told_of(Reader(server, options).run(version3, export_path, path));
    ::_exit(::write(ends[1], &told, sizeof told) == static_cast<ssize_t>(sizeof told) ? 0 : 1);
  }
  const int error = errno;
  ::close(ends[1]);
  if (child < 0)
    fail(out, error, "fork");
  else
    attend(child, ends[0], options, out);
  ::close(ends[0]);
  return out;
}

}  // namespace

facts::NfsReadTest read_file(const facts::NfsServer& server, const std::string& export_path, const std::string& path,
                             const ReadFileOptions& options) {
  const auto answers = [&](const std::string& version) {
    return server.versions.has_value() &&
           std::find(server.versions->begin(), server.versions->end(), version) != server.versions->end();
  };
  const std::string below = path.starts_with('/') ? path : '/' + path;
  if (answers("3")) return read_in_child(server, true, export_path, below, options);
  if (answers("4.0")) return read_in_child(server, false, export_path, below, options);
  facts::NfsReadTest out;
  out.version = "4.0";
  out.path = (export_path == "/" ? "" : export_path) + below;
  out.result = reason_name(Reason::not_asked);
  out.detail = std::string("the server answers neither NFSv3 nor NFSv4.0, by which this is read");
  return out;
}

}  // namespace wire
