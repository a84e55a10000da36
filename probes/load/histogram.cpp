#include "probes/load/histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace load {

std::size_t Histogram::index_of(std::uint64_t ns) {
  constexpr std::uint64_t most = (std::uint64_t{1} << most_bits) - 1;
  if (ns > most) ns = most;
  const auto bits = static_cast<unsigned>(std::bit_width(ns));
  if (bits <= fine_bits + 1) return ns;
  const unsigned shift = bits - fine_bits - 1;
  return (std::size_t{shift} << fine_bits) + (ns >> shift);
}

std::uint64_t Histogram::low_of(std::size_t index) {
  constexpr std::size_t exact = std::size_t{2} << fine_bits;
  if (index < exact) return index;
  const std::size_t shift = (index >> fine_bits) - 1;
  return std::uint64_t{index - (shift << fine_bits)} << shift;
}

void Histogram::add(std::uint64_t ns) {
  ++counts_[index_of(ns)];
  ++count_;
  min_ = std::min(min_, ns);
  max_ = std::max(max_, ns);
  sum_ += ns;
  const double us = static_cast<double>(ns) / 1000;
  squares_ += us * us;
}

void Histogram::add(const Histogram& other) {
  for (std::size_t i = 0; i < size; ++i) counts_[i] += other.counts_[i];
  count_ += other.count_;
  min_ = std::min(min_, other.min_);
  max_ = std::max(max_, other.max_);
  sum_ += other.sum_;
  squares_ += other.squares_;
}

void Histogram::clear() { *this = Histogram(); }

double Histogram::mean_ns() const { return count_ == 0 ? 0 : static_cast<double>(sum_) / static_cast<double>(count_); }

double Histogram::stddev_ns() const {
  if (count_ < 2) return 0;
  const double mean_us = mean_ns() / 1000;
  const double variance = squares_ / static_cast<double>(count_) - mean_us * mean_us;
  return variance > 0 ? std::sqrt(variance) * 1000 : 0;
}

double Histogram::percentile_ns(double percent) const {
  if (count_ == 0) return 0;
  const double wanted = std::ceil(static_cast<double>(count_) * percent / 100 - 1e-9);
  const auto rank = std::clamp<std::uint64_t>(static_cast<std::uint64_t>(std::max(wanted, 1.0)), 1, count_);
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < size; ++i) {
    seen += counts_[i];
    if (seen < rank) continue;
    const std::uint64_t low = low_of(i);
    const double middle = static_cast<double>(low) + static_cast<double>(low_of(i + 1) - low - 1) / 2;
    return std::clamp(middle, static_cast<double>(min_), static_cast<double>(max_));
  }
  return static_cast<double>(max_);
}

std::vector<Histogram::Bucket> Histogram::buckets() const { return octaves(1 << fine_bits); }

std::vector<Histogram::Bucket> Histogram::octaves(int parts) const {
  const std::size_t step = (std::size_t{1} << fine_bits) / static_cast<std::size_t>(parts);
  std::vector<Bucket> out;
  for (std::size_t i = 0; i < size; i += step) {
    std::uint64_t count = 0;
    for (std::size_t k = i; k < i + step; ++k) count += counts_[k];
    if (count != 0) out.push_back({low_of(i + step) - 1, count});
  }
  return out;
}

}  // namespace load
