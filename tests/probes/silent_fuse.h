// A FUSE file system that answers nothing but its INIT: whoever touches it hangs in the kernel, and cannot be killed
// once the request has been read. A dead hard mount without a server. Needs root and /dev/fuse.
#pragma once

#include <fcntl.h>
#include <linux/fuse.h>
#include <poll.h>
#include <sys/mount.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstring>
#include <string>
#include <thread>

namespace scratch {

class SilentFuse {
 public:
  explicit SilentFuse(std::string directory) : directory_(std::move(directory)) {
    fd_ = ::open("/dev/fuse", O_RDWR | O_CLOEXEC);
    const std::string options = "fd=" + std::to_string(fd_) + ",rootmode=40000,user_id=0,group_id=0";
    mounted_ = fd_ >= 0 && ::mount("silent", directory_.c_str(), "fuse", MS_NOSUID | MS_NODEV, options.c_str()) == 0;
    if (mounted_) thread_ = std::thread([this] { serve(); });
  }
  SilentFuse(const SilentFuse&) = delete;
  SilentFuse& operator=(const SilentFuse&) = delete;
  ~SilentFuse() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
    // MNT_FORCE aborts the connection: whoever hangs gets an error. Closing the device alone does not: a child that
    // hangs in its exec still holds it.
    if (mounted_) ::umount2(directory_.c_str(), MNT_FORCE | MNT_DETACH);
    if (fd_ >= 0) ::close(fd_);
  }
  bool mounted() const { return mounted_; }
  // Requests of others than INIT that were read and not answered.
  int touched() const { return touched_; }

 private:
  void serve() {
    std::array<char, 1 << 18> buffer;
    while (!stop_) {
      pollfd poll{fd_, POLLIN, 0};
      if (::poll(&poll, 1, 20) <= 0) continue;
      const ssize_t got = ::read(fd_, buffer.data(), buffer.size());
      if (got < static_cast<ssize_t>(sizeof(fuse_in_header))) continue;
      fuse_in_header request{};
      std::memcpy(&request, buffer.data(), sizeof request);
      if (request.opcode != FUSE_INIT) {
        if (request.opcode != FUSE_FORGET && request.opcode != FUSE_INTERRUPT) ++touched_;
        continue;
      }
      struct {
        fuse_out_header header;
        fuse_init_out init;
      } reply{};
      reply.header.len = sizeof reply;
      reply.header.unique = request.unique;
      reply.init.major = FUSE_KERNEL_VERSION;
      reply.init.minor = FUSE_KERNEL_MINOR_VERSION;
      reply.init.max_write = 4096;
      (void)!::write(fd_, &reply, sizeof reply);
    }
  }

  std::string directory_;
  int fd_ = -1;
  bool mounted_ = false;
  std::atomic<bool> stop_{false};
  std::atomic<int> touched_{0};
  std::thread thread_;
};

}  // namespace scratch
