#include "probes/wire/path_mtu.h"

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "probes/wire/rpc.h"

namespace wire {
namespace {

constexpr std::uint32_t udp_most = 65507;  // payload of one IPv4 datagram

class Probe : public std::enable_shared_from_this<Probe> {
 public:
  Probe(io::Loop& loop, const Address& address, std::function<void(PathMtu)> then)
      : loop_(loop), address_(address), then_(std::move(then)) {}

  void start(io::Time deadline) {
    auto self = shared_from_this();
    timer_ = loop_.at(deadline, [self] { self->finish(); });
    const int first = open_socket();
    if (first < 0) return loop_.post([self] { self->finish(); });
    result_.kernel_bytes = route_mtu(first);
    ::close(first);
    const std::uint32_t route = result_.kernel_bytes.value_or(1500);
    std::vector<std::uint32_t> sizes{route};
    for (const std::uint32_t usual : {9000U, 1500U, 1400U, 1280U})
      if (usual < route) sizes.push_back(usual);
    for (const auto size : sizes) send(size);
    if (waiting_ == 0) loop_.post([self] { self->finish(); });
  }

 private:
  struct Datagram {
    int fd = -1;
    std::uint32_t size = 0;
    bool arrived = false;
    bool too_big = false;
  };

  int open_socket() const {
    const int fd = ::socket(address_.family(), SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) return -1;
    const bool six = address_.is_v6();
    const int probe = six ? IPV6_PMTUDISC_DO : IP_PMTUDISC_DO;
    const bool set = ::setsockopt(fd, six ? IPPROTO_IPV6 : IPPROTO_IP, six ? IPV6_MTU_DISCOVER : IP_MTU_DISCOVER,
                                  &probe, sizeof probe) == 0;
    if (set && ::connect(fd, reinterpret_cast<const sockaddr*>(&address_.storage), address_.size) == 0) return fd;
    ::close(fd);
    return -1;
  }

  std::optional<std::uint32_t> route_mtu(int fd) const {
    int mtu = 0;
    socklen_t size = sizeof mtu;
    const bool six = address_.is_v6();
    if (::getsockopt(fd, six ? IPPROTO_IPV6 : IPPROTO_IP, six ? IPV6_MTU : IP_MTU, &mtu, &size) != 0 || mtu <= 0)
      return std::nullopt;
    return static_cast<std::uint32_t>(mtu);
  }

  void send(std::uint32_t size) {
    Datagram datagram;
    datagram.size = size;
    datagram.fd = open_socket();
    if (datagram.fd < 0) return;
    // A NULL call to rpcbind without its record mark, filled up with what servers ignore.
    Bytes packet = encode_call(0x6d617564, {program::rpcbind, 2, 0});
    packet.erase(packet.begin(), packet.begin() + 4);
    const std::uint32_t headers = address_.is_v6() ? 48 : 28;
    packet.resize(std::clamp<std::size_t>(size - headers, packet.size(), udp_most));
    if (::send(datagram.fd, packet.data(), packet.size(), MSG_NOSIGNAL) < 0 && errno == EMSGSIZE)
      datagram.too_big = true;
    const std::size_t index = datagrams_.size();
    datagrams_.push_back(datagram);
    if (datagram.too_big) return;
    ++waiting_;
    auto self = shared_from_this();
    loop_.watch(datagram.fd, POLLIN, [self, index](short) { self->ready(index); });
  }

  void ready(std::size_t index) {
    Datagram& datagram = datagrams_[index];
    std::uint8_t buffer[64];
    const ssize_t got = ::recv(datagram.fd, buffer, sizeof buffer, MSG_TRUNC);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got >= 0 || errno == ECONNREFUSED) datagram.arrived = true;
    if (got < 0 && errno == EMSGSIZE) {
      datagram.too_big = true;  // ICMP "fragmentation needed": the route's own MTU is known now
      result_.kernel_bytes = route_mtu(datagram.fd);
    }
    loop_.unwatch(datagram.fd);
    if (--waiting_ == 0 || (index == 0 && datagram.arrived)) finish();
  }

  void finish() {
    if (done_) return;
    done_ = true;
    loop_.cancel(timer_);
    for (const auto& datagram : datagrams_) {
      loop_.unwatch(datagram.fd);
      ::close(datagram.fd);
      if (datagram.arrived) result_.bytes = std::max(result_.bytes.value_or(0), datagram.size);
    }
    if (result_.bytes) {
      for (const auto& datagram : datagrams_)
        if (!datagram.arrived && datagram.size > *result_.bytes &&
            (result_.lost_bytes == 0 || datagram.size < result_.lost_bytes))
          result_.lost_bytes = datagram.size;
    }
    then_(result_);
  }

  io::Loop& loop_;
  Address address_;
  std::function<void(PathMtu)> then_;
  io::Loop::TimerId timer_ = 0;
  std::vector<Datagram> datagrams_;
  std::size_t waiting_ = 0;
  bool done_ = false;
  PathMtu result_;
};

}  // namespace

void ask_path_mtu(io::Loop& loop, const Address& address, io::Time deadline, std::function<void(PathMtu)> then) {
  std::make_shared<Probe>(loop, address, std::move(then))->start(deadline);
}

}  // namespace wire
