// Addresses as bytes and as the hexadecimal of /proc/net, and the other way round.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "probes/host/address.h"

namespace probes {

bool is_ipv4(const Address& address);
bool is_link_local(const Address& address);  // fe80::/10
// RFC 5952; an IPv4-mapped one as IPv4. The zone follows after %.
std::string text_of(const Address& address);
// The prefix is counted over all 128 bits: 24 of IPv4 are 120.
bool is_within(const Address& address, const Address& network, unsigned prefix_bits);

// 4 or 16 bytes in network order.
std::optional<Address> address_from_bytes(std::string_view bytes);
// As /proc/net/{tcp,route} (8 digits) and /proc/net/tcp6 (32) print it: 32-bit words in the byte order of the machine,
// taken to be that of this one.
std::optional<Address> address_from_kernel_hex(std::string_view hex);
// As /proc/net/{if_inet6,ipv6_route} print it: 32 digits in network order.
std::optional<Address> address_from_plain_hex(std::string_view hex);

}  // namespace probes
