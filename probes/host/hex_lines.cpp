#include "probes/host/hex_lines.h"

#include <cstdint>

#include "audit/base/text.h"

namespace probes {

std::string hex_of_bytes(std::string_view bytes) {
  static constexpr std::string_view digits = "0123456789abcdef";
  std::string hex;
  hex.reserve(bytes.size() * 2);
  for (const char c : bytes) {
    hex += digits[static_cast<std::uint8_t>(c) >> 4];
    hex += digits[static_cast<std::uint8_t>(c) & 15];
  }
  return hex;
}

std::optional<std::string> bytes_of_hex(std::string_view hex) {
  if (hex.size() % 2 != 0) return std::nullopt;
  std::string bytes;
  bytes.reserve(hex.size() / 2);
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    const auto byte = base::number<std::uint8_t>(hex.substr(i, 2), 16);
    if (!byte) return std::nullopt;
    bytes += static_cast<char>(*byte);
  }
  return bytes;
}

}  // namespace probes
