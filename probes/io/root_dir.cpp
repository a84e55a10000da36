#include "probes/io/root_dir.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <deque>
#include <memory>
#include <system_error>

#include "audit/base/text.h"
#include "probes/parsed.h"

namespace probes {

using base::Error;
using base::ErrorKind;
using base::fail;
using base::Result;

Fd& Fd::operator=(Fd&& other) noexcept {
  if (this != &other) {
    if (fd_ >= 0) ::close(fd_);
    fd_ = other.release();
  }
  return *this;
}

Fd::~Fd() {
  if (fd_ >= 0) ::close(fd_);
}

int Fd::release() {
  const int fd = fd_;
  fd_ = -1;
  return fd;
}

Error error_of(int error_number, std::string where) {
  switch (error_number) {
    case ENOENT:
    case ENOTDIR: return {ErrorKind::absent, std::move(where), "does not exist"};
    case ESRCH:  // a /proc/PID whose process ended between open and read
    case ENODEV:
    case ENXIO: return {ErrorKind::absent, std::move(where), "vanished while it was read"};
    case EACCES:
    case EPERM: return {ErrorKind::denied, std::move(where), "permission denied"};
    case EISDIR: return {ErrorKind::malformed, std::move(where), "is a directory"};
    case ELOOP: return {ErrorKind::malformed, std::move(where), "too many symbolic links, or one that leads nowhere"};
    case ENAMETOOLONG: return {ErrorKind::malformed, std::move(where), "the name is too long"};
    default: return {ErrorKind::io, std::move(where), std::generic_category().message(error_number)};
  }
}

namespace {

// Appends what was read, cutting lines that grow above the limit; `line` is the length of the open line in `text`.
void append_lines(std::string& text, std::size_t& line, std::string_view chunk) {
  while (!chunk.empty()) {
    const std::size_t end = chunk.find('\n');
    const std::string_view piece = chunk.substr(0, end);
    const std::size_t room = line > max_line_bytes ? 0 : max_line_bytes + 1 - line;
    text.append(piece.substr(0, room));
    line += std::min(piece.size(), room);
    if (end == std::string_view::npos) return;
    text.push_back('\n');
    line = 0;
    chunk.remove_prefix(end + 1);
  }
}

}  // namespace

Result<void> read_pieces(int fd, const std::string& where,
                         const std::function<Result<void>(std::string_view piece)>& take) {
  std::string buffer(std::size_t{1} << 16, '\0');
  for (;;) {
    const ssize_t got = ::read(fd, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return tl::unexpected(error_of(errno, where));
    if (got == 0) return {};
    if (auto taken = take({buffer.data(), static_cast<std::size_t>(got)}); !taken) return taken;
  }
}

Result<std::string> read_to_end(int fd, const std::string& where) {
  std::string text;
  std::size_t line = 0;
  const auto read = read_pieces(fd, where, [&](std::string_view chunk) -> Result<void> {
    const std::size_t last = chunk.rfind('\n');
    // A line that ends in this chunk can only be too long together with what was open before.
    if (line + chunk.size() <= max_line_bytes) {
      text.append(chunk);
      line = last == std::string_view::npos ? line + chunk.size() : chunk.size() - last - 1;
    } else {
      append_lines(text, line, chunk);
    }
    return {};
  });
  if (!read) return tl::unexpected(read.error());
  return text;
}

bool may_hang(std::string_view fs_type, std::string_view super_options) {
  static constexpr std::array types{"nfs",    "nfs4",      "cifs", "smb3",  "smbfs",  "ncpfs",  "afs",   "ceph",
                                    "lustre", "glusterfs", "gpfs", "coda",  "autofs", "ocfs2",  "gfs2",  "orangefs",
                                    "beegfs", "davfs",     "fuse", "pvfs2", "panfs",  "vboxsf", "prl_fs"};
  if (std::find(types.begin(), types.end(), fs_type) != types.end()) return true;
  if (fs_type == "9p")
    return super_options.find("trans=tcp") != std::string_view::npos ||
           super_options.find("trans=rdma") != std::string_view::npos;
  // The root of a rootless container; it serves the container's own local files.
  if (fs_type == "fuse.fuse-overlayfs") return false;
  return fs_type.starts_with("fuse.") || fs_type.starts_with("nfs.");
}

HangingMounts::HangingMounts(std::string_view mountinfo, const std::string& root) {
  const std::string prefix = root == "/" ? "" : root;
  std::size_t governs = 0;  // length of the mount point that the root itself lies on
  std::string_view line;
  while (base::next_line(mountinfo, line)) {
    const auto parts = base::fields(line);
    const auto dash = std::find(parts.begin(), parts.end(), "-");
    if (parts.size() < 6 || dash == parts.end() || dash - parts.begin() < 6 || parts.end() - dash < 2) continue;
    const std::string_view type = dash[1];
    const std::string_view options = parts.end() - dash > 3 ? dash[3] : std::string_view{};
    const std::string target = base::octal_unescape(parts[4]);
    const bool hangs = may_hang(type, options);
    if (base::starts_with_path(root, target)) {  // the last mount on the longest prefix is the one that shows
      if (target.size() >= governs) {
        governs = target.size();
        root_type_ = hangs ? std::string(type) : std::string();
      }
    } else if (hangs && base::starts_with_path(target, root)) {
      types_[target.substr(prefix.size())] = std::string(type);
    }
  }
}

std::string HangingMounts::above(std::string_view path) const {
  for (std::size_t end = path.size(); !types_.empty() && end != 0 && end != std::string_view::npos;
       end = path.rfind('/', end - 1)) {
    const auto found = types_.find(std::string(path.substr(0, end)));
    if (found != types_.end()) return found->first + " (" + found->second + ")";
  }
  // A diskless node: /proc and /sys are mounts of their own on its network root.
  if (!root_type_.empty() && !base::starts_with_path(path, "/proc") && !base::starts_with_path(path, "/sys"))
    return "/ (" + root_type_ + ")";
  return {};
}

Result<RootDir> RootDir::open(const std::string& root, HangingMounts hanging, Resolve how) {
  Fd fd(::open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!fd) {
    if (errno == ENOTDIR) return fail(ErrorKind::usage, root, "is not a directory");
    return tl::unexpected(error_of(errno, root));
  }
  return RootDir(std::move(fd), std::move(hanging), how);
}

namespace {

tl::unexpected<Error> not_opened(std::string_view path, const std::string& mount) {
  return fail(ErrorKind::skipped, std::string(path), "lies on " + mount + ", which may hang: not opened");
}

// What O_PATH showed: nothing was opened yet, so a device or FIFO has had no chance to act.
Result<void> check_kind(int fd, std::string_view path, bool directory) {
  struct stat status {};
  if (::fstat(fd, &status) != 0) return tl::unexpected(error_of(errno, std::string(path)));
  if (directory) {
    if (S_ISDIR(status.st_mode)) return {};
    return fail(ErrorKind::malformed, std::string(path), "is not a directory");
  }
  if (S_ISREG(status.st_mode)) return {};
  return fail(ErrorKind::malformed, std::string(path),
              S_ISDIR(status.st_mode) ? "is a directory" : "is a device, FIFO or socket: not opened");
}

int open2(int root, const std::string& path, int flags, std::uint64_t resolve) {
  open_how how{};
  how.flags = static_cast<unsigned>(flags | O_CLOEXEC);
  how.resolve = resolve;
  for (int tries = 0; tries < 3; ++tries) {  // EAGAIN: something was renamed during the look-up
    const long fd = ::syscall(SYS_openat2, root, path.c_str(), &how, sizeof how);
    if (fd >= 0 || errno != EAGAIN) return static_cast<int>(fd);
  }
  return -1;
}

constexpr int read_flags = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;

std::vector<std::string_view> components(std::string_view path) {
  std::vector<std::string_view> parts;
  for (const std::string_view part : base::split(path, '/'))
    if (!part.empty() && part != ".") parts.push_back(part);
  return parts;
}

}  // namespace

// `by_hand` is set when the kernel could not decide: no openat2, or a symbolic link on a live root outside /proc and
// /sys, which may lead into a mount that hangs.
Result<Fd> RootDir::open_fast(const std::string& relative, std::string_view path, Want want, bool& by_hand) const {
  const bool kernel_tree = base::starts_with_path(path, "/proc") || base::starts_with_path(path, "/sys");
  const bool follow = hanging_.empty() || kernel_tree;
  const std::uint64_t resolve = RESOLVE_NO_MAGICLINKS | RESOLVE_IN_ROOT | (follow ? 0U : RESOLVE_NO_SYMLINKS);
  const int kind_flags = want == Want::directory ? O_DIRECTORY : 0;
  Fd seen(open2(fd_.get(), relative, O_PATH, resolve));
  if (!seen) {
    by_hand = errno == ENOSYS || errno == EPERM || errno == EAGAIN || (errno == ELOOP && !follow);
    return tl::unexpected(error_of(errno, std::string(path)));
  }
  if (auto kind = check_kind(seen.get(), path, want == Want::directory); !kind) return tl::unexpected(kind.error());
  Fd fd(open2(fd_.get(), relative, read_flags | kind_flags, resolve));
  if (!fd) return tl::unexpected(error_of(errno, std::string(path)));
  return fd;
}

Result<Fd> RootDir::walk(std::string_view path, Want want) const {
  std::deque<std::string> ahead;
  for (const std::string_view part : components(path)) ahead.emplace_back(part);
  std::vector<std::pair<Fd, std::string>> behind;  // directories entered, with their names
  const auto here = [&] { return behind.empty() ? fd_.get() : behind.back().first.get(); };
  int links = 0;
  while (!ahead.empty()) {
    const std::string name = std::move(ahead.front());
    ahead.pop_front();
    if (name == "..") {
      if (!behind.empty()) behind.pop_back();
      continue;
    }
    std::string at;
    for (const auto& [fd, entered] : behind) at += "/" + entered;
    at += "/" + name;
    if (const std::string mount = hanging_.above(at); !mount.empty()) return not_opened(path, mount);
    Fd seen(::openat(here(), name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
    if (!seen) return tl::unexpected(error_of(errno, std::string(path)));
    struct stat status {};
    if (::fstat(seen.get(), &status) != 0) return tl::unexpected(error_of(errno, std::string(path)));
    if (S_ISLNK(status.st_mode) && !(want == Want::link && ahead.empty())) {
      if (++links > 40) return tl::unexpected(error_of(ELOOP, std::string(path)));
      std::array<char, 4096> target{};
      const ssize_t got = ::readlinkat(seen.get(), "", target.data(), target.size());
      if (got < 0) return tl::unexpected(error_of(errno, std::string(path)));
      const std::string_view text(target.data(), static_cast<std::size_t>(got));
      if (text.starts_with('/')) behind.clear();
      const auto parts = components(text);
      for (auto part = parts.rbegin(); part != parts.rend(); ++part) ahead.emplace_front(*part);
      continue;
    }
    if (!ahead.empty()) {
      behind.emplace_back(std::move(seen), name);
      continue;
    }
    if (want == Want::link) return seen;
    if (auto kind = check_kind(seen.get(), path, want == Want::directory); !kind) return tl::unexpected(kind.error());
    Fd fd(::openat(here(), name.c_str(), read_flags | O_NOFOLLOW | (want == Want::directory ? O_DIRECTORY : 0)));
    if (!fd) return tl::unexpected(error_of(errno, std::string(path)));
    return fd;
  }
  if (want != Want::directory) return tl::unexpected(error_of(EISDIR, std::string(path)));
  Fd fd(::openat(here(), ".", read_flags | O_DIRECTORY));  // "/", or a path that ends in ".."
  if (!fd) return tl::unexpected(error_of(errno, std::string(path)));
  return fd;
}

Result<Fd> RootDir::open_path(std::string_view path, Want want) const {
  if (path.find('\0') != std::string_view::npos)
    return fail(ErrorKind::malformed, std::string(path), "NUL in the name");
  const auto parts = components(path);
  const bool climbs = std::find(parts.begin(), parts.end(), "..") != parts.end();
  if (!climbs) {
    std::string clean;
    for (const std::string_view part : parts) clean.append("/").append(part);
    if (const std::string mount = hanging_.above(clean); !mount.empty()) return not_opened(path, mount);
    // The look-up of a link itself needs the walk: openat2 has no way to ask for it with O_NOFOLLOW only at the end.
    if (how_ == Resolve::fast && want != Want::link && !clean.empty()) {
      bool by_hand = false;
      auto fd = open_fast(clean.substr(1), clean, want, by_hand);
      if (!by_hand) return fd;
    }
  }
  return walk(path, want);
}

Result<std::string> RootDir::read(std::string_view path) const {
  auto fd = open_path(path, Want::file);
  if (!fd) return tl::unexpected(fd.error());
  return read_to_end(fd->get(), std::string(path));
}

Result<std::vector<std::string>> RootDir::list(std::string_view path) const {
  auto fd = open_path(path, Want::directory);
  if (!fd) return tl::unexpected(fd.error());
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(::fdopendir(fd->get()), &::closedir);
  if (!directory) return tl::unexpected(error_of(errno, std::string(path)));
  fd->release();  // closed with the directory
  std::vector<std::string> names;
  for (;;) {
    errno = 0;
    const dirent* entry = ::readdir(directory.get());
    if (entry == nullptr) break;
    const std::string_view name = static_cast<const char*>(entry->d_name);
    if (name != "." && name != "..") names.emplace_back(name);
  }
  if (errno != 0) return tl::unexpected(error_of(errno, std::string(path)));
  std::sort(names.begin(), names.end());
  return names;
}

namespace {

Result<std::string> read_sysfs_file(int directory, const std::string& name) {
  const Fd fd(::openat(directory, name.c_str(), read_flags | O_NOFOLLOW));
  if (!fd) return tl::unexpected(error_of(errno, name));
  std::array<char, 4096> page;  // what a file of /sys holds at most (Documentation/filesystems/sysfs.rst)
  ssize_t got = 0;
  do {
    got = ::read(fd.get(), page.data(), page.size());
  } while (got < 0 && errno == EINTR);
  if (got < 0) return fail(ErrorKind::io, name, std::generic_category().message(errno));
  return std::string(page.data(), static_cast<std::size_t>(got));
}

}  // namespace

std::vector<std::pair<std::string_view, Result<std::string>>> RootDir::read_sysfs(
    std::string_view directory, const std::vector<std::string_view>& names) const {
  std::vector<std::pair<std::string_view, Result<std::string>>> texts;
  if (names.empty()) return texts;
  const auto opened = open_path(directory, Want::directory);
  for (const std::string_view name : names) {
    if (!opened)
      texts.emplace_back(name, tl::unexpected(opened.error()));
    else
      texts.emplace_back(name, read_sysfs_file(opened->get(), std::string(name)));
  }
  return texts;
}

Result<std::string> RootDir::link(std::string_view path) const {
  auto fd = open_path(path, Want::link);
  if (!fd) return tl::unexpected(fd.error());
  std::array<char, 4096> target{};
  const ssize_t got = ::readlinkat(fd->get(), "", target.data(), target.size());
  // readlinkat(2) on what is no symbolic link gives ENOENT for an O_PATH descriptor, EINVAL else.
  if (got < 0) return fail(ErrorKind::malformed, std::string(path), "is not a symbolic link");
  return std::string(target.data(), static_cast<std::size_t>(got));
}

}  // namespace probes
