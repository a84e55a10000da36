// Latencies in nanoseconds, counted in buckets whose width is at most 1/256 of their lower bound (exact below 512 ns):
// a percentile is off by at most 0.2 %, whatever the number of samples, and adding one costs no allocation. Count,
// sum, minimum and maximum are exact. Plain memory without pointers, so that it may lie in memory shared with a child.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace load {

class Histogram {
 public:
  struct Bucket {
    std::uint64_t upto_ns = 0;  // the largest latency that belongs into it
    std::uint64_t count = 0;
  };

  void add(std::uint64_t ns);
  void add(const Histogram& other);
  void clear();

  std::uint64_t count() const { return count_; }
  std::uint64_t min_ns() const { return count_ == 0 ? 0 : min_; }
  std::uint64_t max_ns() const { return max_; }
  double mean_ns() const;
  double stddev_ns() const;  // of the population; 0 below two samples
  // Nearest rank: the smallest latency that at least `percent` of the samples do not exceed. 0 without samples.
  double percentile_ns(double percent) const;
  std::vector<Bucket> buckets() const;           // those that are not empty, as fine as they are kept
  std::vector<Bucket> octaves(int parts) const;  // the same in `parts` (a power of two, at most 256) per doubling

 private:
  static constexpr unsigned fine_bits = 8;   // 256 buckets per doubling
  static constexpr unsigned most_bits = 42;  // over an hour; what is longer counts as that
  static constexpr std::size_t size = (most_bits - fine_bits) * (std::size_t{1} << fine_bits) + (1U << fine_bits);
  static std::size_t index_of(std::uint64_t ns);
  static std::uint64_t low_of(std::size_t index);

  std::array<std::uint64_t, size> counts_ = {};
  std::uint64_t count_ = 0;
  std::uint64_t min_ = ~std::uint64_t{0};
  std::uint64_t max_ = 0;
  std::uint64_t sum_ = 0;
  double squares_ = 0;  // of microseconds
};

}  // namespace load
