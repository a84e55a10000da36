// What is written: bytes that no compression makes smaller, with a mark and a stamp in every 4 KiB, so that no two
// blocks are alike for a storage that keeps equal ones only once, and so that what is ours can be told.
#pragma once

#include <cstddef>
#include <cstdint>

namespace load {

void fill_payload(std::uint8_t* to, std::size_t size);
// Mark, offset and stamp at the start of every 4 KiB.
void stamp_payload(std::uint8_t* to, std::size_t size, std::uint64_t offset, std::uint64_t stamp);
bool has_mark(const std::uint8_t* block, std::size_t size);

}  // namespace load
