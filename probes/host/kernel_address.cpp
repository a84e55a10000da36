#include "probes/host/kernel_address.h"

#include <arpa/inet.h>

#include <algorithm>
#include <cstring>

#include "audit/base/text.h"
#include "probes/host/hex_lines.h"

namespace probes {

namespace {

constexpr std::array<std::uint8_t, 12> mapped_prefix{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

}  // namespace

bool is_ipv4(const Address& address) {
  return std::equal(mapped_prefix.begin(), mapped_prefix.end(), address.bytes.begin());
}

bool is_link_local(const Address& address) { return address.bytes[0] == 0xfe && (address.bytes[1] & 0xc0) == 0x80; }

std::string text_of(const Address& address) {
  char buffer[INET6_ADDRSTRLEN]{};
  if (is_ipv4(address))
    inet_ntop(AF_INET, address.bytes.data() + 12, buffer, sizeof buffer);
  else
    inet_ntop(AF_INET6, address.bytes.data(), buffer, sizeof buffer);
  return address.zone.empty() ? std::string(buffer) : std::string(buffer) + "%" + address.zone;
}

bool is_within(const Address& address, const Address& network, unsigned prefix_bits) {
  if (prefix_bits > 128) return false;
  const std::size_t whole = prefix_bits / 8;
  if (!std::equal(address.bytes.begin(), address.bytes.begin() + static_cast<std::ptrdiff_t>(whole),
                  network.bytes.begin()))
    return false;
  const unsigned rest = prefix_bits % 8;
  if (rest == 0) return true;
  const auto mask = static_cast<std::uint8_t>(0xffU << (8 - rest));
  return (address.bytes[whole] & mask) == (network.bytes[whole] & mask);
}

std::optional<Address> address_from_bytes(std::string_view raw) {
  Address address;
  if (raw.size() == 16) {
    std::memcpy(address.bytes.data(), raw.data(), 16);
  } else if (raw.size() == 4) {
    std::copy(mapped_prefix.begin(), mapped_prefix.end(), address.bytes.begin());
    std::memcpy(address.bytes.data() + 12, raw.data(), 4);
  } else {
    return std::nullopt;
  }
  return address;
}

std::optional<Address> address_from_kernel_hex(std::string_view hex) {
  if (hex.size() != 8 && hex.size() != 32) return std::nullopt;
  std::string raw;
  for (std::size_t i = 0; i < hex.size(); i += 8) {
    const auto word = base::number<std::uint32_t>(hex.substr(i, 8), 16);
    if (!word) return std::nullopt;
    raw.append(reinterpret_cast<const char*>(&*word), sizeof *word);
  }
  return address_from_bytes(raw);
}

std::optional<Address> address_from_plain_hex(std::string_view hex) {
  if (hex.size() != 32) return std::nullopt;
  const auto bytes = bytes_of_hex(hex);
  return bytes ? address_from_bytes(*bytes) : std::nullopt;
}

}  // namespace probes
