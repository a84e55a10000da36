#include "probes/load/payload.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "probes/load/block_order.h"

namespace load {
namespace {

constexpr std::array<char, 16> mark{'m', 'o', 'u', 'n', 't', 'a', 'u', 'd', 'i', 't', ' ', 'l', 'o', 'a', 'd', '\n'};
constexpr std::size_t unit = 4096;

}  // namespace

void fill_payload(std::uint8_t* to, std::size_t size) {
  Mixer mixer(0x6d6f756e74);
  for (std::size_t at = 0; at < size; at += 8) {
    const std::uint64_t value = mixer.next();
    std::memcpy(to + at, &value, std::min<std::size_t>(8, size - at));
  }
}

void stamp_payload(std::uint8_t* to, std::size_t size, std::uint64_t offset, std::uint64_t stamp) {
  for (std::size_t at = 0; at + 32 <= size; at += unit) {
    const std::uint64_t place = offset + at;
    std::memcpy(to + at, mark.data(), mark.size());
    std::memcpy(to + at + 16, &place, 8);
    std::memcpy(to + at + 24, &stamp, 8);
  }
}

bool has_mark(const std::uint8_t* block, std::size_t size) {
  return size >= mark.size() && std::memcmp(block, mark.data(), mark.size()) == 0;
}

}  // namespace load
