#include "probes/load/block_order.h"

#include <algorithm>
#include <array>
#include <bit>
#include <initializer_list>

namespace load {
namespace {

constexpr unsigned most_bits = 48;

// Exponents of a primitive polynomial over GF(2) of each degree, the constant term left out.
constexpr std::array<std::initializer_list<unsigned>, most_bits + 1> exponents{{
    {},
    {},
    {2, 1},
    {3, 2},
    {4, 3},
    {5, 3},
    {6, 5},
    {7, 6},
    {8, 6, 5, 4},
    {9, 5},
    {10, 7},
    {11, 9},
    {12, 6, 4, 1},
    {13, 4, 3, 1},
    {14, 5, 3, 1},
    {15, 14},
    {16, 15, 13, 4},
    {17, 14},
    {18, 11},
    {19, 6, 2, 1},
    {20, 17},
    {21, 19},
    {22, 21},
    {23, 18},
    {24, 23, 22, 17},
    {25, 22},
    {26, 6, 2, 1},
    {27, 5, 2, 1},
    {28, 25},
    {29, 27},
    {30, 6, 4, 1},
    {31, 28},
    {32, 22, 2, 1},
    {33, 20},
    {34, 27, 2, 1},
    {35, 33},
    {36, 25},
    {37, 5, 4, 3, 2, 1},
    {38, 6, 5, 1},
    {39, 35},
    {40, 38, 21, 19},
    {41, 38},
    {42, 41, 20, 19},
    {43, 42, 38, 37},
    {44, 43, 18, 17},
    {45, 44, 42, 41},
    {46, 45, 26, 25},
    {47, 42},
    {48, 47, 21, 20},
}};

}  // namespace

std::uint64_t Mixer::next() {
  std::uint64_t value = state_ += 0x9e3779b97f4a7c15U;
  value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9U;
  value = (value ^ value >> 27) * 0x94d049bb133111ebU;
  return value ^ value >> 31;
}

std::uint64_t lfsr_taps(unsigned bits) {
  std::uint64_t mask = 0;
  for (const unsigned exponent : exponents.at(bits)) mask |= std::uint64_t{1} << (exponent - 1);
  return mask;
}

BlockOrder BlockOrder::random(std::uint64_t blocks, std::uint64_t seed) { return {blocks, seed, true}; }

BlockOrder BlockOrder::sequential(std::uint64_t blocks, std::uint64_t first) {
  BlockOrder order(blocks, 0, false);
  order.state_ = first % order.blocks_;
  return order;
}

BlockOrder::BlockOrder(std::uint64_t blocks, std::uint64_t seed, bool random)
    : blocks_(std::clamp<std::uint64_t>(blocks, 1, (std::uint64_t{1} << most_bits) - 1)),
      random_(random),
      mixer_(seed),
      taps_(lfsr_taps(std::max(2U, static_cast<unsigned>(std::bit_width(blocks_))))) {
  if (random_) reseed();
}

void BlockOrder::reseed() {
  const std::uint64_t period = std::bit_ceil(std::max<std::uint64_t>(blocks_ + 1, 4)) - 1;
  state_ = mixer_.next() % period + 1;
  shift_ = mixer_.next() % blocks_;
}

std::uint64_t BlockOrder::next() {
  if (given_ == blocks_) {
    given_ = 0;
    ++rounds_;
    if (random_) reseed();
  }
  ++given_;
  if (!random_) {
    const std::uint64_t block = state_;
    state_ = state_ + 1 == blocks_ ? 0 : state_ + 1;
    return block;
  }
  // States above the range are passed over: fewer than half of them, so less than two steps on the average.
  do {
    state_ = state_ >> 1 ^ ((state_ & 1) != 0 ? taps_ : 0);
  } while (state_ > blocks_);
  const std::uint64_t block = state_ - 1 + shift_;
  return block >= blocks_ ? block - blocks_ : block;
}

}  // namespace load
