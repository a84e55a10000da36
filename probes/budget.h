// A limit in number and time for walks over directories that may be large: thousands of processes, of transports.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include "probes/io/host.h"

namespace probes {

class Budget {
 public:
  using Clock = std::chrono::steady_clock;
  // A copy cannot hang, and gives the same facts however busy the machine is: no limit in time for it.
  static Budget of(const Host& host, std::chrono::milliseconds time, std::size_t most) {
    return {host.live() ? time : std::chrono::milliseconds(std::chrono::hours(24)), most};
  }
  Budget(std::chrono::milliseconds time, std::size_t most)
      : end_(Clock::now() + time), time_(time), most_(most), left_(most) {}

  // One more? Once it has said no, it goes on saying no.
  bool take() {
    if (why_ != Why::none) return false;
    if (left_ == 0) {
      why_ = Why::number;
    } else if (Clock::now() >= end_) {
      why_ = Why::time;
    } else {
      --left_;
    }
    return why_ == Why::none;
  }
  bool spent() const { return why_ != Why::none; }
  std::size_t used() const { return most_ - left_; }
  // "stopped after 16384 transports", "stopped after 500 ms and 1234 transports".
  std::string why(const std::string& things) const {
    const std::string count = std::to_string(used()) + " " + things;
    if (why_ == Why::time) return "stopped after " + std::to_string(time_.count()) + " ms and " + count;
    return why_ == Why::number ? "stopped after " + count : std::string();
  }

 private:
  enum class Why : unsigned char { none, number, time };
  Clock::time_point end_;
  std::chrono::milliseconds time_;
  std::size_t most_;
  std::size_t left_;
  Why why_ = Why::none;
};

}  // namespace probes
