// TCP connections of the kernel, two sources of one fact. /proc/PID/net/tcp and tcp6 (net/ipv4/tcp_ipv4.c,
// tcp4_seq_show; proc_net_tcp in the kernel's Documentation/networking) are there for everybody and show any network
// namespace that pid is in. sock_diag(7) also tells round trip time, segment size and retransmissions (struct tcp_info,
// include/uapi/linux/tcp.h), but only of our own namespace.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "audit/facts/network.h"
#include "probes/host/kernel_address.h"
#include "probes/parsed.h"

namespace probes {

// One line of /proc/net/tcp or tcp6.
struct TcpRow {
  Address local;
  std::uint16_t local_port = 0;
  Address peer;
  std::uint16_t peer_port = 0;
  std::uint8_t state = 0;        // TCP_ESTABLISHED (1) ... as in net/tcp_states.h
  std::uint32_t tx_queue = 0;    // bytes
  std::uint32_t rx_queue = 0;    // bytes
  std::uint8_t timer = 0;        // 0 none, 1 retransmit, 2 keepalive, 3 time-wait, 4 zero window probe
  std::uint64_t timer_when = 0;  // 1/100 s
  std::uint64_t retransmits = 0;
  std::uint64_t probes = 0;
  std::uint64_t inode = 0;  // 0: nobody holds it any more
};

Parsed<std::vector<TcpRow>> parse_net_tcp(std::string_view text);

// ESTABLISHED, SYN_SENT, ...; empty for a number that no kernel uses.
std::string_view tcp_state_name(std::uint8_t state);

facts::NetSocket socket_of(const TcpRow& row);

// Messages of a dump, one a line in hexadecimal: struct inet_diag_msg with its attributes, without the netlink header.
// A line that is too short, or an attribute that runs over the end, costs that entry; a shorter tcp_info of an older
// kernel leaves the later facts unknown.
Parsed<std::vector<facts::NetSocket>> parse_sock_diag(std::string_view hex_lines);

}  // namespace probes
