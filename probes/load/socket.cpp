#include "probes/load/socket.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "probes/load/engine.h"
#include "probes/wire/connection.h"

namespace load {
namespace {

constexpr std::size_t in_bytes = std::size_t{256} << 10;
constexpr std::uint64_t block_ns = 50'000'000;  // a receive that blocks ends by itself after this

wire::Outcome<void> wait_connected(int fd, double timeout_s) {
  pollfd one{fd, POLLOUT, 0};
  if (::poll(&one, 1, static_cast<int>(timeout_s * 1000)) <= 0)
    return wire::fail(wire::Reason::connect_timeout, "no answer to SYN by the deadline");
  int error = 0;
  socklen_t size = sizeof error;
  ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
  if (error != 0) return tl::unexpected(wire::failure_from_errno(error));
  return {};
}

}  // namespace

Socket::Socket(int fd) : fd_(fd), in_(in_bytes) {
  const int one = 1;
  ::setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  const timeval limit{0, static_cast<suseconds_t>(block_ns / 1000)};
  ::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  const int flags = ::fcntl(fd_, F_GETFL);
  ::fcntl(fd_, F_SETFL, flags & ~O_NONBLOCK);  // each call says whether it may block
}

Socket::~Socket() { close(); }

void Socket::close() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

Socket::Socket(Socket&& other) noexcept { *this = std::move(other); }

Socket& Socket::operator=(Socket&& other) noexcept {
  if (this == &other) return *this;
  close();
  fd_ = std::exchange(other.fd_, -1);
  out_ = std::move(other.out_);
  in_ = std::move(other.in_);
  out_begin_ = std::exchange(other.out_begin_, 0);
  out_end_ = std::exchange(other.out_end_, 0);
  in_begin_ = std::exchange(other.in_begin_, 0);
  in_end_ = std::exchange(other.in_end_, 0);
  return *this;
}

wire::Outcome<Socket> Socket::connect(const wire::Address& peer, bool reserved, double timeout_s) {
  const int fd = ::socket(peer.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return tl::unexpected(wire::failure_from_errno(errno));
  if (reserved) wire::bind_reserved_port(fd, peer.family());
  const int done = ::connect(fd, reinterpret_cast<const sockaddr*>(&peer.storage), peer.size);
  if (done != 0 && errno != EINPROGRESS) {
    const int error = errno;
    ::close(fd);
    return tl::unexpected(wire::failure_from_errno(error));
  }
  if (done != 0) {
    if (auto connected = wait_connected(fd, timeout_s); !connected) {
      ::close(fd);
      return tl::unexpected(connected.error());
    }
  }
  return Socket(fd);
}

std::uint8_t* Socket::append(std::size_t bytes) {
  if (out_.size() < out_end_ + bytes) out_.resize((out_end_ + bytes) * 2);  // only until it has grown to the load
  std::uint8_t* at = out_.data() + out_end_;
  out_end_ += bytes;
  return at;
}

wire::Outcome<void> Socket::flush() {
  while (out_begin_ < out_end_) {
    const ssize_t sent = ::send(fd_, out_.data() + out_begin_, out_end_ - out_begin_, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0) {
      if (errno == EINTR) continue;
      if (errno == EAGAIN || errno == EPIPE || errno == ECONNRESET)
        return {};  // what it said before is still to be read
      return tl::unexpected(wire::failure_from_errno(errno));
    }
    out_begin_ += static_cast<std::size_t>(sent);
  }
  out_begin_ = out_end_ = 0;
  return {};
}

wire::Outcome<bool> Socket::receive(bool wait) {
  if (in_begin_ == in_end_) {
    in_begin_ = in_end_ = 0;
  } else if (in_.size() - in_end_ < in_.size() / 2) {
    std::memmove(in_.data(), in_.data() + in_begin_, in_end_ - in_begin_);
    in_end_ -= in_begin_;
    in_begin_ = 0;
  }
  const ssize_t got = ::recv(fd_, in_.data() + in_end_, in_.size() - in_end_, wait ? 0 : MSG_DONTWAIT);
  if (got > 0) {
    in_end_ += static_cast<std::size_t>(got);
    return true;
  }
  if (got == 0) return wire::fail(wire::Reason::closed, "the server closed the connection");
  if (errno == EAGAIN || errno == EINTR) return false;
  return tl::unexpected(wire::failure_from_errno(errno));
}

bool Sockets::blocks_long_enough(std::uint64_t until_ns) { return until_ns > now_ns() + block_ns; }

bool Sockets::wait(std::uint64_t until_ns) {
  fds_.clear();
  for (const auto& socket : list)
    fds_.push_back({socket.fd(), static_cast<short>(POLLIN | (socket.has_output() ? POLLOUT : 0)), 0});
  const std::uint64_t now = now_ns();
  const std::uint64_t left = until_ns > now ? until_ns - now : 0;
  const timespec limit{static_cast<time_t>(left / 1'000'000'000), static_cast<long>(left % 1'000'000'000)};
  return ::ppoll(fds_.data(), fds_.size(), &limit, nullptr) > 0;
}

}  // namespace load
