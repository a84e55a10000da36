#include "tests/wire/peer.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <stdexcept>

namespace wire_test {
namespace {

int bound_socket(wire::Address& address) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in loopback = {};
  loopback.sin_family = AF_INET;
  loopback.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (fd < 0 || ::bind(fd, reinterpret_cast<const sockaddr*>(&loopback), sizeof loopback) != 0)
    throw std::runtime_error("cannot bind a port on 127.0.0.1");
  address.size = sizeof address.storage;
  ::getsockname(fd, reinterpret_cast<sockaddr*>(&address.storage), &address.size);
  return fd;
}

}  // namespace

Peer::Peer(Script script) : script_(std::move(script)) {
  listener_ = bound_socket(address_);
  ::listen(listener_, 64);
  acceptor_ = std::thread([this] { accept_loop(); });
}

Peer::~Peer() {
  stopping_ = true;
  acceptor_.join();
  {
    const std::lock_guard lock(mutex_);
    for (const int fd : open_) ::shutdown(fd, SHUT_RDWR);
  }
  for (auto& thread : threads_) thread.join();
  for (const int fd : open_) ::close(fd);
  ::close(listener_);
}

void Peer::accept_loop() {
  while (!stopping_) {
    pollfd wait{listener_, POLLIN, 0};
    if (::poll(&wait, 1, 20) <= 0) continue;
    const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (fd < 0) continue;
    ++connections_;
    const std::lock_guard lock(mutex_);
    open_.push_back(fd);
    threads_.emplace_back([this, fd] {
      script_(*this, fd);
      ::shutdown(fd, SHUT_RDWR);
    });
  }
}

bool Peer::wait_ms(int ms) const {
  for (int done = 0; done < ms && !stopping_; done += 5) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  return !stopping_;
}

bool Peer::send_all(int fd, wire::View bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(sent));
  }
  return true;
}

bool Peer::receive_exactly(int fd, std::uint8_t* to, std::size_t size) {
  while (size != 0) {
    const ssize_t got = ::recv(fd, to, size, 0);
    if (got <= 0) return false;
    to += got;
    size -= static_cast<std::size_t>(got);
  }
  return true;
}

ClosedPort::ClosedPort() : fd_(bound_socket(address_)) {}
ClosedPort::~ClosedPort() { ::close(fd_); }

bool receive_call(int fd, ReceivedCall& call) {
  std::uint8_t head[4];
  if (!Peer::receive_exactly(fd, head, 4)) return false;
  const std::size_t size =
      (std::size_t{head[0]} & 0x7f) << 24 | std::size_t{head[1]} << 16 | std::size_t{head[2]} << 8 | head[3];
  wire::Bytes body(size);
  if (!Peer::receive_exactly(fd, body.data(), size)) return false;
  wire::XdrReader in(body);
  call.xid = in.u32("xid");
  in.u32("CALL");
  in.u32("RPC version");
  call.program = in.u32("program");
  call.version = in.u32("version");
  call.procedure = in.u32("procedure");
  call.flavor = in.u32("flavour");
  in.opaque(400, "credential");
  in.u32("verifier");
  in.opaque(400, "verifier");
  call.args.assign(in.rest().begin(), in.rest().end());
  return in.ok();
}

wire::Bytes record(wire::View message) {
  wire::XdrWriter out;
  out.u32(0x80000000U | static_cast<std::uint32_t>(message.size())).fixed(message);
  return out.take();
}

wire::Bytes success(std::uint32_t xid, wire::View results) {
  wire::XdrWriter out;
  out.u32(xid).u32(1).u32(0).u32(0).u32(0).u32(0).fixed(results);
  return out.take();
}

wire::Bytes accepted_error(std::uint32_t xid, std::uint32_t accept_stat, std::vector<std::uint32_t> more) {
  wire::XdrWriter out;
  out.u32(xid).u32(1).u32(0).u32(0).u32(0).u32(accept_stat);
  for (const auto word : more) out.u32(word);
  return out.take();
}

wire::Bytes denied(std::uint32_t xid, std::vector<std::uint32_t> body) {
  wire::XdrWriter out;
  out.u32(xid).u32(1).u32(1);
  for (const auto word : body) out.u32(word);
  return out.take();
}

Peer::Script serve(std::function<wire::Bytes(const ReceivedCall&)> answer) {
  return [answer = std::move(answer)](Peer&, int fd) {
    ReceivedCall call;
    while (receive_call(fd, call)) {
      const wire::Bytes message = answer(call);
      if (!message.empty() && !Peer::send_all(fd, record(message))) return;
    }
  };
}

}  // namespace wire_test
