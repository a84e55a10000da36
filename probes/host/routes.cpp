#include "probes/host/routes.h"

#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "audit/base/lists.h"
#include "audit/base/text.h"
#include "probes/host/hex_lines.h"

namespace probes {

namespace {

// include/uapi/linux/route.h and ipv6_route.h, which cannot both be included.
constexpr std::uint32_t rtf_up = 0x1;
constexpr std::uint32_t rtf_gateway = 0x2;
constexpr std::uint32_t rtf_reject = 0x200;

// A mask as 32 digits of /proc/net/route; nothing when its ones do not stand together.
std::optional<unsigned> prefix_of_mask(const Address& mask) {
  std::uint32_t bits = 0;
  for (std::size_t i = 12; i < 16; ++i) bits = (bits << 8) | mask.bytes[i];
  const auto ones = static_cast<unsigned>(std::countl_one(bits));
  if (static_cast<unsigned>(std::popcount(bits)) != ones) return std::nullopt;
  return ones;
}

const char* bad_route(std::string_view line, Route& route, bool& up) {
  // Iface Destination Gateway Flags RefCnt Use Metric Mask MTU Window IRTT; what is headed MTU is the advertised
  // segment size plus 40 (fib_route_seq_show()) and says nothing about the MTU.
  const auto f = base::fields(line);
  if (f.size() < 8) return "fewer than 8 fields";
  const auto destination = address_from_kernel_hex(f[1]);
  const auto gateway = address_from_kernel_hex(f[2]);
  const auto flags = base::number<std::uint32_t>(f[3], 16);
  const auto metric = base::number<std::uint32_t>(f[6]);
  const auto mask = address_from_kernel_hex(f[7]);
  if (!destination || !gateway || !mask || !is_ipv4(*destination) || !is_ipv4(*gateway) || !is_ipv4(*mask))
    return "an address is not 8 hexadecimal digits";
  if (!flags || !metric) return "flags or metric are no number";
  const auto prefix = prefix_of_mask(*mask);
  if (!prefix) return "the mask has holes";
  route.interface = std::string(f[0]);
  route.destination = *destination;
  route.prefix = 96 + *prefix;
  if ((*flags & rtf_gateway) != 0) route.gateway = *gateway;
  route.metric = *metric;
  route.reject = (*flags & rtf_reject) != 0;
  up = (*flags & rtf_up) != 0;
  return nullptr;
}

const char* bad_ipv6_route(std::string_view line, Route& route, bool& up) {
  // destination prefix source prefix next-hop metric refcnt use flags interface
  const auto f = base::fields(line);
  if (f.size() < 10) return "fewer than 10 fields";
  const auto destination = address_from_plain_hex(f[0]);
  const auto prefix = base::number<unsigned>(f[1], 16);
  const auto gateway = address_from_plain_hex(f[4]);
  const auto metric = base::number<std::uint32_t>(f[5], 16);
  const auto flags = base::number<std::uint32_t>(f[8], 16);
  if (!destination || !gateway) return "an address is not 32 hexadecimal digits";
  if (!prefix || *prefix > 128) return "the prefix is no number up to 128";
  if (!metric || !flags) return "metric or flags are no number";
  route.interface = std::string(f[9]);
  route.destination = *destination;
  route.prefix = *prefix;
  if ((*flags & rtf_gateway) != 0) route.gateway = *gateway;
  route.metric = *metric;
  route.reject = (*flags & rtf_reject) != 0;
  up = (*flags & rtf_up) != 0 || route.reject;
  return nullptr;
}

template <class BadPart>
Parsed<std::vector<Route>> parse_routes(std::string_view text, BadPart bad_part) {
  Parsed<std::vector<Route>> parsed;
  std::string_view line;
  for (std::size_t number = 1; base::next_line(text, line); ++number) {
    if (base::trim(line).empty() || (number == 1 && line.starts_with("Iface"))) continue;
    Route route;
    bool up = false;
    if (const char* why = bad_part(line, route, up))
      parsed.notes.push_back({number, why});
    else if (up)
      parsed.facts.push_back(std::move(route));
  }
  return parsed;
}

const char* bad_answer(std::string_view bytes, RouteAnswer& answer) {
  rtmsg m{};
  if (bytes.size() < sizeof m) return "shorter than struct rtmsg";
  std::memcpy(&m, bytes.data(), sizeof m);
  answer.reachable = m.rtm_type == RTN_UNICAST || m.rtm_type == RTN_LOCAL;
  answer.local = m.rtm_type == RTN_LOCAL;
  const auto each_attribute = [](std::string_view rest, auto&& take) {
    while (rest.size() >= sizeof(rtattr)) {
      rtattr a{};
      std::memcpy(&a, rest.data(), sizeof a);
      if (a.rta_len < sizeof a || a.rta_len > rest.size()) return false;
      take(static_cast<unsigned>(a.rta_type & NLA_TYPE_MASK), rest.substr(sizeof a, a.rta_len - sizeof a));
      rest.remove_prefix(std::min<std::size_t>(rest.size(), RTA_ALIGN(a.rta_len)));
    }
    return true;
  };
  const auto number = [](std::string_view data) {
    std::uint32_t value = 0;
    if (data.size() == sizeof value) std::memcpy(&value, data.data(), sizeof value);
    return value;
  };
  bool inner_good = true;
  const bool good = each_attribute(bytes.substr(sizeof m), [&](unsigned type, std::string_view data) {
    if (type == RTA_OIF) answer.oif = number(data);
    if (type == RTA_GATEWAY) answer.gateway = address_from_bytes(data);
    if (type == RTA_VIA && data.size() > 2)
      answer.gateway = address_from_bytes(data.substr(2));  // another family's next hop
    if (type == RTA_PREFSRC) answer.source = address_from_bytes(data);
    if (type == RTA_METRICS)
      inner_good = each_attribute(data, [&](unsigned metric, std::string_view value) {
        if (metric == RTAX_MTU) answer.mtu = number(value);
      });
  });
  return good && inner_good ? nullptr : "an attribute runs over the end";
}

}  // namespace

Parsed<std::vector<Route>> parse_route(std::string_view text) { return parse_routes(text, bad_route); }

Parsed<std::vector<Route>> parse_ipv6_route(std::string_view text) { return parse_routes(text, bad_ipv6_route); }

Parsed<std::vector<Address>> parse_fib_trie(std::string_view text) {
  // "|-- 192.0.2.2" names an address; the lines below it say what it is: "/32 host LOCAL".
  Parsed<std::vector<Address>> parsed;
  std::optional<Address> current;
  std::string_view line;
  for (std::size_t number = 1; base::next_line(text, line); ++number) {
    const auto f = base::fields(line);
    if (f.size() == 2 && f[0] == "|--") {
      current = parse_address(f[1]);
      if (!current || !is_ipv4(*current)) {
        parsed.notes.push_back({number, "a leaf is no IPv4 address"});
        current.reset();
      }
    } else if (current && f.size() >= 3 && f[0] == "/32" && f[1] == "host" && f[2] == "LOCAL") {
      base::add_once(parsed.facts, *current);
    }
  }
  return parsed;
}

Parsed<std::vector<Address>> parse_if_inet6(std::string_view text) {
  // address index prefix scope flags interface
  Parsed<std::vector<Address>> parsed;
  std::string_view line;
  for (std::size_t number = 1; base::next_line(text, line); ++number) {
    const auto f = base::fields(line);
    if (f.empty()) continue;
    auto address = f.size() >= 6 ? address_from_plain_hex(f[0]) : std::nullopt;
    if (!address) {
      parsed.notes.push_back({number, "no address of 32 hexadecimal digits with 5 fields after it"});
      continue;
    }
    if (is_link_local(*address)) address->zone = std::string(f[5]);
    base::add_once(parsed.facts, *address);
  }
  return parsed;
}

const Route* route_to(const Address& address, const std::vector<Route>& routes) {
  const Route* best = nullptr;
  for (const auto& route : routes) {
    if (is_ipv4(route.destination) != is_ipv4(address)) continue;
    if (!address.zone.empty() && route.interface != address.zone) continue;
    if (!is_within(address, route.destination, route.prefix)) continue;
    if (best == nullptr || route.prefix > best->prefix || (route.prefix == best->prefix && route.metric < best->metric))
      best = &route;
  }
  return best == nullptr || best->reject ? nullptr : best;
}

Parsed<std::optional<RouteAnswer>> parse_route_answer(std::string_view hex_lines) {
  Parsed<std::optional<RouteAnswer>> parsed;
  std::string_view line;
  for (std::size_t number = 1; base::next_line(hex_lines, line); ++number) {
    if (base::trim(line).empty()) continue;
    const auto bytes = bytes_of_hex(base::trim(line));
    RouteAnswer answer;
    if (!bytes)
      parsed.notes.push_back({number, "not hexadecimal"});
    else if (const char* why = bad_answer(*bytes, answer))
      parsed.notes.push_back({number, why});
    else if (!parsed.facts)
      parsed.facts = answer;
  }
  return parsed;
}

}  // namespace probes
