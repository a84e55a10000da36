#include "probes/host/address.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>

namespace probes {

std::optional<Address> parse_address(std::string_view text) {
  if (text.starts_with('[') && text.ends_with(']') && text.size() > 2) text = text.substr(1, text.size() - 2);
  Address out;
  if (const auto percent = text.find('%'); percent != std::string_view::npos) {
    out.zone = text.substr(percent + 1);
    text = text.substr(0, percent);
    if (text.find(':') == std::string_view::npos) return std::nullopt;  // only IPv6 has zones
  }
  if (text.empty() || text.size() >= INET6_ADDRSTRLEN || text.find('\0') != std::string_view::npos) return std::nullopt;
  const std::string copy(text);
  if (text.find(':') != std::string_view::npos) {
    if (inet_pton(AF_INET6, copy.c_str(), out.bytes.data()) != 1) return std::nullopt;
    return out;
  }
  if (inet_pton(AF_INET, copy.c_str(), out.bytes.data() + 12) != 1) return std::nullopt;
  out.bytes[10] = 0xff;
  out.bytes[11] = 0xff;
  return out;
}

bool is_address(std::string_view text) { return parse_address(text).has_value(); }

bool same_address(std::string_view a, std::string_view b) {
  const auto first = parse_address(a);
  const auto second = parse_address(b);
  return first && second && first->bytes == second->bytes;
}

bool is_loopback(const Address& address) {
  static constexpr std::array<std::uint8_t, 13> mapped_127{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127};
  static constexpr std::array<std::uint8_t, 16> one{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
  return address.bytes == one || std::equal(mapped_127.begin(), mapped_127.end(), address.bytes.begin());
}

std::string host_port(std::string_view host, std::uint32_t port) {
  const bool brackets = host.find(':') != std::string_view::npos && !host.starts_with('[');
  return brackets ? fmt::format("[{}]:{}", host, port) : fmt::format("{}:{}", host, port);
}

}  // namespace probes
