// One pass of one step over an engine: ramp, counted time, and the wait for what is still under way.
//
// Closed loop: a new request when one is answered, `depth` of them under way. Latency counts from the moment the
// request is handed to the kernel. When the target stalls, no request is sent, so a stall is one long latency per slot.
// Open loop: requests at fixed times. Latency counts from the intended start, also of those that had to wait because
// the most allowed were under way: a stall shows in all requests that it hit.
//
// IOPS counts what was answered within the counted time. Latencies also include those answered after it: a pass ends
// with the answers to all it sent, else a stall at its end would be lost.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

#include "probes/load/engine.h"
#include "probes/load/plan.h"
#include "probes/load/record.h"

namespace load {

struct Range {
  std::uint64_t bytes = 0;  // from offset 0 of the target on
};

struct PassOptions {
  double seconds = 2;
  double ramp_s = 0.5;
  double timeout_s = 10;
  std::uint64_t max_bytes = 0;
  double max_iops = 0;
  Guard guard;
  std::uint64_t seed = 1;
  const std::atomic<bool>* stop = nullptr;
  std::function<void(const Record&)> progress;  // ten times a second
};

// Fills `record`, which is new. The engine has been prepared for the step.
void run_pass(Engine& engine, const Step& step, const Range& range, const PassOptions& options, Record& record);

// Writes each block of `step` once from the start to `bytes`: the file of our own, before it is read. `step` has been
// prepared.
wire::Outcome<void> fill(Engine& engine, const Step& step, std::uint64_t bytes, double timeout_s,
                         const std::atomic<bool>* stop);

}  // namespace load
