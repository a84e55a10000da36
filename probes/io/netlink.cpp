#include "probes/io/netlink.h"

#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "audit/base/text.h"
#include "probes/host/hex_lines.h"
#include "probes/host/kernel_address.h"
#include "probes/io/root_dir.h"

namespace probes {

using base::ErrorKind;
using base::fail;
using base::Result;

namespace {

using Deadline = std::chrono::steady_clock::time_point;

template <class T>
void append(std::string& bytes, const T& thing) {
  bytes.append(reinterpret_cast<const char*>(&thing), sizeof thing);
}

template <class T>
T take(std::string_view bytes) {
  T thing{};
  std::memcpy(&thing, bytes.data(), sizeof thing);
  return thing;
}

class NetlinkSocket {
 public:
  static Result<NetlinkSocket> open(int protocol, const char* where) {
    Fd fd(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, protocol));
    if (!fd) return tl::unexpected(error_of(errno, where));
    return NetlinkSocket(std::move(fd), where);
  }

  // One question; each message of the answer goes to `each` (type, payload).
  template <class Each>
  Result<void> ask(std::uint16_t type, std::uint16_t flags, std::string_view payload, Deadline deadline, Each each) {
    nlmsghdr header{};
    header.nlmsg_len = static_cast<std::uint32_t>(NLMSG_HDRLEN + payload.size());
    header.nlmsg_type = type;
    header.nlmsg_flags = static_cast<std::uint16_t>(NLM_F_REQUEST | flags);
    header.nlmsg_seq = ++sequence_;
    std::string request;
    append(request, header);
    request.append(payload);
    if (::send(fd_.get(), request.data(), request.size(), 0) < 0) return tl::unexpected(error_of(errno, where_));
    std::vector<char> buffer(std::size_t{1} << 16);
    while (true) {
      if (auto ready = wait(deadline); !ready) return ready;
      const ssize_t got = ::recv(fd_.get(), buffer.data(), buffer.size(), 0);
      if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
      if (got < 0) return tl::unexpected(error_of(errno, where_));
      auto done = messages({buffer.data(), static_cast<std::size_t>(got)}, each);
      if (!done) return tl::unexpected(done.error());
      if (*done || (flags & NLM_F_DUMP) == 0) return {};
    }
  }

 private:
  NetlinkSocket(Fd fd, const char* where) : fd_(std::move(fd)), where_(where) {}

  Result<void> wait(Deadline deadline) const {
    while (true) {
      const auto left =
          std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now()).count();
      if (left <= 0) return fail(ErrorKind::timeout, where_, "the kernel did not answer in time");
      pollfd p{fd_.get(), POLLIN, 0};
      const int ready = ::poll(&p, 1, static_cast<int>(left));
      if (ready > 0) return {};
      if (ready < 0 && errno != EINTR) return tl::unexpected(error_of(errno, where_));
    }
  }

  // True when the answer has ended.
  template <class Each>
  Result<bool> messages(std::string_view bytes, Each& each) const {
    while (bytes.size() >= sizeof(nlmsghdr)) {
      const auto header = take<nlmsghdr>(bytes);
      if (header.nlmsg_len < NLMSG_HDRLEN || header.nlmsg_len > bytes.size())
        return fail(ErrorKind::malformed, where_, "a netlink message runs over its end");
      const auto payload = bytes.substr(NLMSG_HDRLEN, header.nlmsg_len - NLMSG_HDRLEN);
      bytes.remove_prefix(std::min<std::size_t>(bytes.size(), NLMSG_ALIGN(header.nlmsg_len)));
      if (header.nlmsg_seq != sequence_) continue;  // left over from a question that failed
      if (header.nlmsg_type == NLMSG_DONE) return true;
      if (header.nlmsg_type == NLMSG_ERROR) {
        if (payload.size() < sizeof(int)) return fail(ErrorKind::malformed, where_, "an error without its number");
        const int number = -take<int>(payload);
        if (number != 0) return tl::unexpected(error_of(number, where_));
        return true;
      }
      each(header.nlmsg_type, payload);
    }
    return false;
  }

  Fd fd_;
  std::string where_;
  std::uint32_t sequence_ = 0;
};

std::string_view bytes_of(const Address& address) {
  const std::string_view all(reinterpret_cast<const char*>(address.bytes.data()), address.bytes.size());
  return is_ipv4(address) ? all.substr(12) : all;
}

void append_attribute(std::string& payload, std::uint16_t type, std::string_view data) {
  rtattr header{};
  header.rta_len = static_cast<std::uint16_t>(RTA_LENGTH(data.size()));
  header.rta_type = type;
  append(payload, header);
  payload.append(data);
  payload.resize(payload.size() + (RTA_ALIGN(data.size()) - data.size()));
}

}  // namespace

Result<std::string> dump_tcp_sockets(std::uint16_t peer_port, std::chrono::milliseconds deadline) {
  const auto end = std::chrono::steady_clock::now() + deadline;
  auto socket = NetlinkSocket::open(NETLINK_SOCK_DIAG, "sock_diag");
  if (!socket) return tl::unexpected(socket.error());
  constexpr std::uint32_t tcp_listen = 10;
  std::string lines;
  for (const auto family : {AF_INET, AF_INET6}) {
    inet_diag_req_v2 request{};
    request.sdiag_family = static_cast<std::uint8_t>(family);
    request.sdiag_protocol = IPPROTO_TCP;
    request.idiag_ext = 1 << (INET_DIAG_INFO - 1);
    request.idiag_states = ~(std::uint32_t{1} << tcp_listen);
    request.id.idiag_dport = htons(peer_port);
    std::string payload;
    append(payload, request);
    const auto asked =
        socket->ask(SOCK_DIAG_BY_FAMILY, NLM_F_DUMP, payload, end, [&](std::uint16_t, std::string_view message) {
          lines += hex_of_bytes(message);
          lines += '\n';
        });
    // A kernel without IPv6 knows no such family.
    if (!asked && !(family == AF_INET6 && asked.error().kind == ErrorKind::absent))
      return tl::unexpected(asked.error());
  }
  return lines;
}

Result<std::string> ask_route(const std::string& address, std::chrono::milliseconds deadline) {
  const auto end = std::chrono::steady_clock::now() + deadline;
  const auto parsed = parse_address(address);
  if (!parsed) return fail(ErrorKind::usage, address, "is no IP address");
  auto socket = NetlinkSocket::open(NETLINK_ROUTE, "rtnetlink");
  if (!socket) return tl::unexpected(socket.error());

  const auto bytes = bytes_of(*parsed);
  rtmsg request{};
  request.rtm_family = static_cast<std::uint8_t>(bytes.size() == 4 ? AF_INET : AF_INET6);
  request.rtm_dst_len = static_cast<std::uint8_t>(bytes.size() * 8);
  std::string payload;
  append(payload, request);
  append_attribute(payload, RTA_DST, bytes);
  if (!parsed->zone.empty()) {
    auto index = base::number<std::uint32_t>(parsed->zone).value_or(0);
    if (index == 0) index = ::if_nametoindex(parsed->zone.c_str());
    if (index == 0) return fail(ErrorKind::absent, address, "there is no interface of that name");
    std::string data;
    append(data, index);
    append_attribute(payload, RTA_OIF, data);
  }

  std::string lines;
  const auto asked = socket->ask(RTM_GETROUTE, 0, payload, end, [&](std::uint16_t type, std::string_view message) {
    if (type != RTM_NEWROUTE) return;
    lines += hex_of_bytes(message);
    lines += '\n';
  });
  // "Network is unreachable" is the answer, not a failure to get one.
  if (!asked && asked.error().kind != ErrorKind::io) return tl::unexpected(asked.error());
  return lines;
}

}  // namespace probes
