// Two questions to the kernel over netlink(7), about our own network namespace. No packet leaves the node. Answers are
// the messages without their netlink header, one a line in hexadecimal (probes/host/hex_lines.h).
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "audit/base/result.h"

namespace probes {

// TCP connections with this destination port, IPv4 and IPv6, with their tcp_info (sock_diag(7), SOCK_DIAG_BY_FAMILY).
base::Result<std::string> dump_tcp_sockets(std::uint16_t peer_port, std::chrono::milliseconds deadline);

// The route that a packet to `address` would take (rtnetlink(7), RTM_GETROUTE). Empty: there is none. Errors: usage
// when `address` is no address, absent when its zone names no interface.
base::Result<std::string> ask_route(const std::string& address, std::chrono::milliseconds deadline);

}  // namespace probes
