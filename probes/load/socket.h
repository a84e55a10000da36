// One TCP connection of an engine: a buffer of what is to be sent and one of what came, filled and emptied by as few
// calls to the kernel as possible. Blocking where there is nothing else to wait for, which saves a poll for each
// answer.
#pragma once

#include <poll.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "probes/wire/address.h"
#include "probes/wire/reason.h"

namespace load {

class Socket {
 public:
  Socket() = default;
  explicit Socket(int fd);
  ~Socket();
  Socket(Socket&& other) noexcept;
  Socket& operator=(Socket&& other) noexcept;

  // Connects within the time; `reserved`: from a port below 1024 where the process may have one.
  static wire::Outcome<Socket> connect(const wire::Address& peer, bool reserved, double timeout_s);

  int fd() const { return fd_; }
  // Room for so many bytes at the end of what is to be sent.
  std::uint8_t* append(std::size_t bytes);
  bool has_output() const { return out_begin_ < out_end_; }
  wire::Outcome<void> flush();  // as much as the kernel takes

  // What came and is not yet taken.
  const std::uint8_t* data() const { return in_.data() + in_begin_; }
  std::size_t size() const { return in_end_ - in_begin_; }
  void take(std::size_t bytes) { in_begin_ += bytes; }
  // Reads once; with `wait` it blocks until something comes or a tenth of a second is over. False: nothing came.
  wire::Outcome<bool> receive(bool wait);

 private:
  void close();
  int fd_ = -1;
  std::vector<std::uint8_t> out_;
  std::size_t out_begin_ = 0;
  std::size_t out_end_ = 0;
  std::vector<std::uint8_t> in_;
  std::size_t in_begin_ = 0;
  std::size_t in_end_ = 0;
};

// Several of them, waited for together.
class Sockets {
 public:
  std::vector<Socket> list;

  // Sends what is there to send, then waits until one can be read or `until_ns` has come. Calls `readable` with the
  // index of each that may be read; it returns an Outcome<void>.
  template <class Readable>
  wire::Outcome<void> exchange(std::uint64_t until_ns, Readable readable) {
    bool all_sent = true;
    for (auto& socket : list) {
      if (!socket.has_output()) continue;
      if (auto sent = socket.flush(); !sent) return sent;
      all_sent = all_sent && !socket.has_output();
    }
    if (list.size() == 1 && all_sent && blocks_long_enough(until_ns)) return readable(0, true);
    if (!wait(until_ns)) return {};
    for (std::size_t i = 0; i < list.size(); ++i) {
      if ((fds_[i].revents & ~POLLOUT) == 0) continue;
      if (auto read = readable(i, false); !read) return read;
    }
    return {};
  }

 private:
  static bool blocks_long_enough(std::uint64_t until_ns);
  bool wait(std::uint64_t until_ns);
  std::vector<pollfd> fds_;
};

}  // namespace load
