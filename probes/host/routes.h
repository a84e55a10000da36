// Routes and local addresses. /proc/PID/net/route and fib_trie (net/ipv4/fib_trie.c), ipv6_route (net/ipv6/route.c),
// if_inet6 (net/ipv6/addrconf.c); and the kernel's own answer to "how would you reach this address" (rtnetlink(7),
// RTM_GETROUTE). The tables are those of the main table: policy routing shows only in the kernel's answer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "audit/facts/fact.h"
#include "probes/host/kernel_address.h"
#include "probes/parsed.h"

namespace probes {

struct Route {
  std::string interface;
  Address destination;
  unsigned prefix = 0;             // over 128 bits: an IPv4 default route has 96
  std::optional<Address> gateway;  // none: on the link
  std::uint32_t metric = 0;
  bool reject = false;  // unreachable, prohibit, blackhole
};

Parsed<std::vector<Route>> parse_route(std::string_view text);
Parsed<std::vector<Route>> parse_ipv6_route(std::string_view text);

// Addresses of the node: "/32 host LOCAL" of fib_trie (the 127.0.0.0/8 network is left out), all lines of if_inet6.
Parsed<std::vector<Address>> parse_fib_trie(std::string_view text);
Parsed<std::vector<Address>> parse_if_inet6(std::string_view text);

// Longest prefix, then lowest metric. Nothing: no route, or one that refuses.
const Route* route_to(const Address& address, const std::vector<Route>& routes);

// One answer to RTM_GETROUTE as hexadecimal: struct rtmsg with its attributes. Empty text: the kernel has no route.
struct RouteAnswer {
  bool reachable = false;
  bool local = false;     // the address is the node's own
  std::uint32_t oif = 0;  // index of the interface
  std::optional<Address> gateway;
  std::optional<Address> source;
  std::uint32_t mtu = 0;  // of the route; 0: none of its own
};
Parsed<std::optional<RouteAnswer>> parse_route_answer(std::string_view hex_lines);

}  // namespace probes
