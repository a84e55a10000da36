// The order in which the blocks of a range are visited. Random order comes from a linear feedback shift register of
// maximal length, cut down to the range: each block exactly once before any comes again, so that what a server has
// just read is not read again, and no list is kept. Each time round has a fresh seed.
#pragma once

#include <cstdint>

namespace load {

// A stream of well mixed numbers from one seed (splitmix64).
class Mixer {
 public:
  explicit Mixer(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next();

 private:
  std::uint64_t state_;
};

class BlockOrder {
 public:
  // At most 2^48 - 1 blocks; `blocks` 0 counts as 1.
  static BlockOrder random(std::uint64_t blocks, std::uint64_t seed);
  static BlockOrder sequential(std::uint64_t blocks, std::uint64_t first = 0);

  std::uint64_t next();
  std::uint64_t rounds() const { return rounds_; }  // how often the range has been gone through

 private:
  BlockOrder(std::uint64_t blocks, std::uint64_t seed, bool random);
  void reseed();

  std::uint64_t blocks_;
  bool random_;
  Mixer mixer_;
  std::uint64_t taps_ = 0;
  std::uint64_t state_ = 1;
  std::uint64_t shift_ = 0;  // added to each number, so that two rounds differ in more than where they begin
  std::uint64_t given_ = 0;  // of this round
  std::uint64_t rounds_ = 0;
};

// The feedback mask of a register of `bits` (2 to 48): a Galois register that shifts right and XORs it when a one
// falls out visits all 2^bits - 1 states. The polynomials are primitive, which a test proves.
std::uint64_t lfsr_taps(unsigned bits);

}  // namespace load
