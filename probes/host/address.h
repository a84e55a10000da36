// IP addresses as kernel text and users write them: with or without brackets, with a zone (RFC 4007), IPv4-mapped.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace probes {

struct Address {
  std::array<std::uint8_t, 16> bytes{};  // IPv4 as ::ffff:a.b.c.d
  std::string zone;                      // as given, without '%'

  bool operator==(const Address&) const = default;
};

// Nothing when the text is no address (a name, a masked address such as 192.0.2.xx).
std::optional<Address> parse_address(std::string_view text);
bool is_address(std::string_view text);

// The same address, whatever its brackets, zone and form (IPv4-mapped, leading zeros). Names are never the same here.
// The zone is left out because the kernel prints its number where the user gave its name.
bool same_address(std::string_view a, std::string_view b);

// 127.0.0.0/8 and ::1.
bool is_loopback(const Address& address);

// "addr:port" with brackets around IPv6; also for names.
std::string host_port(std::string_view host, std::uint32_t port);

}  // namespace probes
