// A socket address of a server, and names to addresses within a deadline.
#pragma once

#include <sys/socket.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "audit/base/result.h"
#include "probes/io/loop.h"

namespace wire {

struct Address {
  sockaddr_storage storage = {};
  socklen_t size = 0;

  int family() const { return storage.ss_family; }
  bool is_v6() const { return storage.ss_family == AF_INET6; }
  std::uint16_t port() const;
  Address with_port(std::uint16_t port) const;
  std::string host() const;  // "192.0.2.1", "2001:db8::1", "fe80::1%eth0"
  std::string text() const;  // "192.0.2.1:2049", "[fe80::1%eth0]:2049"
  bool operator==(const Address& other) const { return text() == other.text(); }
};

// Numeric only: IPv4, IPv6, IPv6 with a zone (RFC 4007 "%eth0" or "%2"). A zone of no interface here, and a link-local
// address without one, are errors in the user's words.
base::Result<Address> parse_address(std::string_view host, std::uint16_t port);

std::string host_port(std::string_view host, std::uint32_t port);  // brackets where there is a colon

// getaddrinfo(3), all stream addresses in its order. It runs in a thread of its own that is left behind when it has not
// come back by the deadline, or when the stop flag is set: a resolver may block for half a minute.
base::Result<std::vector<Address>> resolve(const std::string& host, std::uint16_t port, io::Time deadline,
                                           const std::atomic<bool>* stop = nullptr);

}  // namespace wire
