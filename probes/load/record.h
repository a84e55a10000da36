// What one pass of one step measured. Plain memory: the kernel path fills it in a child, in shared memory, so that what
// was measured is there also when the child hangs and is left behind.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "probes/load/histogram.h"

namespace load {

// How a pass ended. Everything but `complete` leaves partial results.
enum class End : std::uint8_t {
  running,
  complete,  // its time was over
  bytes,     // the limit of bytes was reached
  stopped,   // by a signal
  guard,     // the target's health crossed a guard
  failed,    // the target broke off, or did not answer for longer than the timeout
};
const char* end_name(End end);

struct Interval {
  std::uint64_t ops = 0;
  std::uint64_t errors = 0;
  double mean_us = 0;
  double p99_us = 0;
  double max_us = 0;
};

struct Record {
  // A second each; when the array is full, neighbours are merged and an interval becomes twice as long.
  static constexpr std::size_t most_intervals = 720;

  Histogram latency;             // of all requests that were answered well, in an open loop from the intended start
  Histogram from_send;           // open loop: the same from when they were sent
  std::uint64_t ops = 0;         // answered well within the counted time
  std::uint64_t bytes = 0;       // moved by those
  std::uint64_t reads = 0;       // among the ops
  std::uint64_t errors = 0;      // answered with an error
  std::uint64_t unanswered = 0;  // when the pass ended
  std::uint64_t unsent = 0;      // open loop: intended and never sent
  std::uint64_t late = 0;        // open loop: sent later than intended because the most allowed were under way
  std::uint64_t rounds = 0;      // how often the range was gone through
  std::uint32_t most_in_flight = 0;
  std::uint32_t first_error = 0;  // the protocol's own code
  double seconds = 0;             // counted time
  double cpu_s = 0;               // of the measuring thread in the counted time, user and system
  End end = End::running;
  std::array<char, 240> why = {};  // what broke off, in words

  std::array<Interval, most_intervals> intervals = {};
  std::size_t interval_count = 0;
  double interval_s = 1;

  double iops() const { return seconds > 0 ? static_cast<double>(ops) / seconds : 0; }
  void set_why(const char* text);
  void add_interval(const Interval& interval);
};

}  // namespace load
