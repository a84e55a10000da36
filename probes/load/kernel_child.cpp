#include "probes/load/kernel_child.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/fs.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <new>
#include <vector>

#include "probes/io/wait.h"
#include "probes/load/device.h"
#include "probes/load/kernel_engine.h"
#include "probes/load/nfs_place.h"
#include "probes/load/payload.h"

namespace load {

using wire::Outcome;
using wire::Reason;

// What both sides see.
struct KernelChild::Shared {
  std::atomic<std::uint64_t> beats = 0;  // the child lives and is not stuck in a call
  std::atomic<bool> stop = false;
  LocalKind kind = LocalKind::unknown;
  std::uint64_t size = 0;
  bool direct = false;
  std::array<char, 16> engine = {};
  std::array<char, 400> error = {};  // why it could not be opened
  // The pass that is wanted, and what it measured.
  Step step;
  double seconds = 0, ramp_s = 0, timeout_s = 0, max_iops = 0;
  std::uint64_t max_bytes = 0, range = 0, seed = 0;
  Guard guard;
  Record record;

  void set_error(const std::string& text) {
    error.fill('\0');
    std::memcpy(error.data(), text.data(), std::min(text.size(), error.size() - 1));
  }
};

namespace {

constexpr double opening_s = 15;  // open(2), and reading the begin of a device
constexpr std::size_t fill_bytes = std::size_t{1} << 20;

std::string errno_text(const char* what) { return fmt::format("{}: {}", what, std::strerror(errno)); }

// O_DIRECT where the file system knows it.
int open_direct(const std::string& path, int flags, bool& direct, mode_t mode = 0600) {
  direct = true;
  int fd = ::open(path.c_str(), flags | O_DIRECT | O_CLOEXEC, mode);
  if (fd >= 0 || errno != EINVAL) return fd;
  direct = false;
  if ((flags & O_EXCL) != 0 && (flags & O_CREAT) != 0) ::unlink(path.c_str());  // some make it before they refuse
  return ::open(path.c_str(), flags | O_CLOEXEC, mode);
}

// All that is known about the device before a byte is written.
std::string device_refusal(int fd, std::uint64_t number, std::uint64_t size) {
  if (const auto used = used_by_system(number)) return *used;
  std::vector<std::uint8_t> start(std::min<std::uint64_t>(size, std::uint64_t{1} << 20));
  std::vector<std::uint8_t> end(std::min<std::uint64_t>(size, std::uint64_t{1} << 20));
  if (::pread(fd, start.data(), start.size(), 0) != static_cast<ssize_t>(start.size()) ||
      ::pread(fd, end.data(), end.size(), static_cast<off_t>(size - end.size())) != static_cast<ssize_t>(end.size()))
    return errno_text("its begin and end cannot be read");
  return holds_something(start, end).value_or("");
}

}  // namespace

Outcome<std::unique_ptr<KernelChild>> KernelChild::start(const LocalOptions& options) {
  std::unique_ptr<KernelChild> child(new KernelChild(options));
  if (auto begun = child->begin(); !begun) return tl::unexpected(begun.error());
  return child;
}

Outcome<void> KernelChild::begin() {
  void* memory = ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return wire::fail(Reason::local_error, errno_text("shared memory"));
  shared_ = new (memory) Shared;
  int down[2], up[2];
  if (::pipe2(down, O_CLOEXEC) != 0) return wire::fail(Reason::local_error, errno_text("pipe"));
  if (::pipe2(up, O_CLOEXEC) != 0) {
    ::close(down[0]);
    ::close(down[1]);
    return wire::fail(Reason::local_error, errno_text("pipe"));
  }
  const pid_t parent = ::getpid();
  child_ = ::fork();
  if (child_ == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(1);
    for (const int signal : {SIGINT, SIGTERM}) ::signal(signal, SIG_IGN);  // the parent decides
    ::close(down[1]);
    ::close(up[0]);
    serve(down[0], up[1]);
  }
  const int error = errno;
  ::close(down[0]);
  ::close(up[1]);
  commands_ = down[1];
  answers_ = up[0];
  if (child_ < 0) return wire::fail(Reason::local_error, fmt::format("fork: {}", std::strerror(error)));
  // A file of our own is filled before: while that goes on, the child beats.
  const bool opened = wait_answer(opening_s, nullptr);
  if (shared_->error[0] != '\0') return wire::fail(Reason::not_asked, shared_->error.data());
  if (!opened)
    return wire::fail(Reason::silent, left_behind_ ? "it hangs in the kernel; the child that opens it is left behind"
                                                   : "stopped by a signal");
  return {};
}

namespace {

// In the child: what was opened, for as long as it lives.
struct Opened {
  int fd = -1;
  std::unique_ptr<KernelEngine> engine;
};

std::string fill_own(int fd, std::uint64_t bytes, const std::atomic<bool>& stop, std::atomic<std::uint64_t>& beats) {
  void* memory = nullptr;
  if (::posix_memalign(&memory, 4096, fill_bytes) != 0) return "no memory";
  const std::unique_ptr<void, void (*)(void*)> keep(memory, ::free);
  auto* buffer = static_cast<std::uint8_t*>(memory);
  fill_payload(buffer, fill_bytes);
  for (std::uint64_t at = 0; at < bytes; at += fill_bytes) {
    if (stop) return "stopped by a signal";
    const std::size_t part = std::min<std::uint64_t>(fill_bytes, bytes - at);
    stamp_payload(buffer, part, at, 0);
    if (::pwrite(fd, buffer, part, static_cast<off_t>(at)) != static_cast<ssize_t>(part))
      return errno_text("the file of our own cannot be filled");
    ++beats;
  }
  return ::fsync(fd) == 0 ? "" : errno_text("fsync");
}

}  // namespace

void KernelChild::serve(int commands, int answers) {
  Opened own;
  const auto give_up = [&](const std::string& why) {
    shared_->set_error(why);
    const char word = 'e';
    const auto ignored = ::write(answers, &word, 1);
    static_cast<void>(ignored);
    ::_exit(1);
  };
  struct stat status {};
  if (::stat(options_.path.c_str(), &status) != 0) give_up(std::strerror(errno));
  if (S_ISREG(status.st_mode)) {
    shared_->kind = LocalKind::file;
    if (options_.write)
      give_up("it is a file that was there before: give a directory, where a file of our own is made and removed");
    own.fd = open_direct(options_.path, O_RDONLY, shared_->direct);
    shared_->size = static_cast<std::uint64_t>(status.st_size);
  } else if (S_ISBLK(status.st_mode)) {
    shared_->kind = LocalKind::device;
    // O_EXCL: refused while the kernel itself uses the device, whatever namespace that was mounted in.
    own.fd = open_direct(options_.path, options_.write ? O_RDWR | O_EXCL : O_RDONLY, shared_->direct);
    if (own.fd < 0 && errno == EBUSY) give_up("it is in use (mounted, mapped or claimed)");
    if (own.fd >= 0 && ::ioctl(own.fd, BLKGETSIZE64, &shared_->size) != 0) give_up(errno_text("its size"));
    if (own.fd >= 0 && options_.write) {
      const int buffered = ::open(options_.path.c_str(), O_RDONLY | O_CLOEXEC);
      const std::string refusal = device_refusal(buffered, status.st_rdev, shared_->size);
      ::close(buffered);
      if (!refusal.empty()) give_up("not written to: " + refusal);
    }
  } else if (S_ISDIR(status.st_mode)) {
    shared_->kind = LocalKind::directory;
    if (!options_.write) give_up("it is a directory: name a file of it, or allow to make one with --allow-write");
    const std::string path = options_.path + "/" + own_file_name();
    own.fd = open_direct(path, O_RDWR | O_CREAT | O_EXCL, shared_->direct);
    if (own.fd >= 0) {
      ::unlink(path.c_str());  // from here on it ends with this process, however that ends
      if (const auto why = fill_own(own.fd, options_.make_bytes, shared_->stop, shared_->beats); !why.empty())
        give_up(why);
      shared_->size = options_.make_bytes;
    }
  } else {
    give_up("it is neither a file, a directory nor a block device");
  }
  if (own.fd < 0) give_up(errno_text("it cannot be opened"));
  own.engine = make_kernel_engine(own.fd, options_.prefer_ring);
  std::strncpy(shared_->engine.data(), own.engine->name(), shared_->engine.size() - 1);
  const char ready = 'o';
  char word = 0;
  while (::write(answers, &ready, 1) == 1 && ::read(commands, &word, 1) == 1) {
    Record& record = *new (&shared_->record) Record;
    PassOptions options;
    options.seconds = shared_->seconds;
    options.ramp_s = shared_->ramp_s;
    options.timeout_s = shared_->timeout_s;
    options.max_iops = shared_->max_iops;
    options.max_bytes = shared_->max_bytes;
    options.guard = shared_->guard;
    options.seed = shared_->seed;
    options.stop = &shared_->stop;
    options.progress = [this](const Record&) { ++shared_->beats; };
    const Step step = shared_->step;
    if (auto prepared = own.engine->prepare(step); !prepared) {
      record.end = End::failed;
      record.set_why(wire::to_text(prepared.error()).c_str());
      continue;
    }
    run_pass(*own.engine, step, {shared_->range}, options, record);
    ++shared_->beats;
  }
  ::_exit(0);
}

bool KernelChild::wait_answer(double timeout_s, const PassOptions* options) {
  std::uint64_t beats = shared_->beats;
  std::uint64_t heard = now_ns();
  while (true) {
    pollfd one{answers_, POLLIN, 0};
    const int ready = ::poll(&one, 1, 100);
    char word = 0;
    if (ready > 0) return ::read(answers_, &word, 1) == 1 && word == 'o';
    if (options_.stop != nullptr && options_.stop->load()) shared_->stop = true;
    const std::uint64_t now = now_ns();
    if (const std::uint64_t beat = shared_->beats; beat != beats) {
      beats = beat;
      heard = now;
    }
    if (options != nullptr && options->progress) options->progress(shared_->record);
    // Stopped by the user, a child that hangs is not waited for any longer.
    const double patience = shared_->stop ? 1.0 : timeout_s;
    if (static_cast<double>(now - heard) / 1e9 > patience) {
      left_behind_ = true;
      return false;
    }
  }
}

void KernelChild::run(const Step& step, std::uint64_t range, const PassOptions& options, Record& record) {
  if (left_behind_ || child_ < 0) {
    record.end = End::failed;
    record.set_why("the child that measures is gone");
    return;
  }
  shared_->step = step;
  shared_->seconds = options.seconds;
  shared_->ramp_s = options.ramp_s;
  shared_->timeout_s = options.timeout_s;
  shared_->max_iops = options.max_iops;
  shared_->max_bytes = options.max_bytes;
  shared_->guard = options.guard;
  shared_->range = range;
  shared_->seed = options.seed;
  new (&shared_->record) Record;
  const char word = 'r';
  const bool told = ::write(commands_, &word, 1) == 1;
  // The driver in the child gives up after timeout_s itself, unless the call does not come back.
  const bool answered = told && wait_answer(options.timeout_s + 2, &options);
  record = shared_->record;
  if (answered) return;
  record.end = shared_->stop ? End::stopped : End::failed;
  if (left_behind_) record.set_why("a call hangs in the kernel; the child that made it is left behind");
  if (!left_behind_) record.set_why("the child that measured has ended");
}

LocalKind KernelChild::kind() const { return shared_->kind; }
std::uint64_t KernelChild::size() const { return shared_->size; }
bool KernelChild::direct() const { return shared_->direct; }
std::string KernelChild::engine_name() const { return shared_->engine.data(); }
std::string KernelChild::error_text(std::uint32_t error) const {
  return error >= 1U << 31 ? "fewer bytes than asked for" : std::strerror(static_cast<int>(error));
}

void KernelChild::end() {
  if (child_ <= 0) return;
  ::close(commands_);  // its loop ends
  if (!left_behind_) io::wait_until_ended(child_, -1, std::chrono::milliseconds(2000));
  left_behind_ = !io::end_child(child_, std::chrono::milliseconds(300));
  ::close(answers_);
  child_ = -1;
}

KernelChild::~KernelChild() {
  end();
  // A child that is left behind goes on to use the memory by its own mapping.
  if (shared_ != nullptr) ::munmap(shared_, sizeof(Shared));
}

}  // namespace load
