// Opening paths confined to a root: symbolic links are resolved inside it, FIFOs, sockets and devices are not opened,
// and nothing at or below a mount that may hang is touched. openat2(2) with RESOLVE_IN_ROOT where the kernel has it
// (5.6, not filtered by seccomp), else a walk over the components.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "audit/base/result.h"

namespace probes {

// A file descriptor that closes itself.
class Fd {
 public:
  explicit Fd(int fd = -1) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(other.release()) {}
  Fd& operator=(Fd&& other) noexcept;
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  ~Fd();
  int get() const { return fd_; }
  int release();
  explicit operator bool() const { return fd_ >= 0; }

 private:
  int fd_;
};

base::Error error_of(int error_number, std::string where);  // in the user's words

// Hands out what is read, piece by piece, to the end or until `take` fails.
base::Result<void> read_pieces(int fd, const std::string& where,
                               const std::function<base::Result<void>(std::string_view piece)>& take);
// To the end, whatever the size; a line above max_line_bytes is cut just behind it.
base::Result<std::string> read_to_end(int fd, const std::string& where);

// Mounts below a root whose touch may hang: network file systems, autofs, FUSE.
class HangingMounts {
 public:
  HangingMounts() = default;  // none: a captured tree
  // `mountinfo` is our own (/proc/self/mountinfo), for it is through our own mounts that paths are opened.
  HangingMounts(std::string_view mountinfo, const std::string& root);
  // The mount ("/mnt/a (nfs4)") at or above a path inside the root; empty when there is none.
  std::string above(std::string_view path) const;
  bool empty() const { return types_.empty() && root_type_.empty(); }

 private:
  std::unordered_map<std::string, std::string> types_;  // mount point inside the root, its type
  std::string root_type_;                               // the root itself lies on such a file system
};

bool may_hang(std::string_view fs_type, std::string_view super_options);

class RootDir {
 public:
  enum class Resolve : unsigned char { fast, by_hand };  // by_hand: as if the kernel had no openat2
  static base::Result<RootDir> open(const std::string& root, HangingMounts hanging = {}, Resolve how = Resolve::fast);

  base::Result<std::string> read(std::string_view path) const;
  base::Result<std::vector<std::string>> list(std::string_view path) const;
  base::Result<std::string> link(std::string_view path) const;
  // Regular files of one directory of /sys, where one read(2) gives all of a file; names are no paths.
  std::vector<std::pair<std::string_view, base::Result<std::string>>> read_sysfs(
      std::string_view directory, const std::vector<std::string_view>& names) const;

 private:
  enum class Want : unsigned char { file, directory, link };
  RootDir(Fd fd, HangingMounts hanging, Resolve how) : fd_(std::move(fd)), hanging_(std::move(hanging)), how_(how) {}
  base::Result<Fd> open_path(std::string_view path, Want want) const;
  base::Result<Fd> open_fast(const std::string& relative, std::string_view path, Want want, bool& by_hand) const;
  base::Result<Fd> walk(std::string_view path, Want want) const;

  Fd fd_;
  HangingMounts hanging_;
  Resolve how_;
};

}  // namespace probes
