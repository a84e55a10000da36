#include "probes/load/record.h"

#include <algorithm>
#include <cstring>

namespace load {

const char* end_name(End end) {
  switch (end) {
    case End::running: return "running";
    case End::complete: return "complete";
    case End::bytes: return "limit of bytes";
    case End::stopped: return "stopped by a signal";
    case End::guard: return "guard";
    case End::failed: return "failed";
  }
  return "";
}

void Record::set_why(const char* text) {
  why.fill('\0');
  std::memcpy(why.data(), text, std::min(std::strlen(text), why.size() - 1));
}

namespace {

Interval merged(const Interval& a, const Interval& b) {
  Interval both;
  both.ops = a.ops + b.ops;
  both.errors = a.errors + b.errors;
  if (both.ops != 0)
    both.mean_us = (a.mean_us * static_cast<double>(a.ops) + b.mean_us * static_cast<double>(b.ops)) /
                   static_cast<double>(both.ops);
  both.p99_us = std::max(a.p99_us, b.p99_us);
  both.max_us = std::max(a.max_us, b.max_us);
  return both;
}

}  // namespace

void Record::add_interval(const Interval& interval) {
  if (interval_count == most_intervals) {
    for (std::size_t i = 0; i < most_intervals / 2; ++i) intervals[i] = merged(intervals[2 * i], intervals[2 * i + 1]);
    interval_count = most_intervals / 2;
    interval_s *= 2;
  }
  intervals[interval_count++] = interval;
}

}  // namespace load
