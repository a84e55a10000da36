// The door of the generators: a target and a plan in, measured runs as facts out. What a target broke off is kept and
// named as partial; what was made on it is taken back before this returns, whatever happened in between.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "audit/facts/latency.h"
#include "probes/load/subject.h"

namespace load {

struct MeasureOptions {
  OpenOptions open;
  std::string label;    // of the runs; empty: engine, and connections where a plan has several
  std::string host;     // of this node
  std::string command;  // that repeats it
  // The instant at which the first pass begins; each later one begins on a grid from there, so that nodes which were
  // given the same stay together.
  std::chrono::system_clock::time_point start_at = {};
  std::function<void(const std::string& what, const Record&)> progress;
};

struct Measured {
  std::vector<facts::LatencyRun> runs;
  std::vector<std::string> notes;  // for the user: a limit that was met, passes left out, noise
  std::vector<std::string> left;   // what could not be taken back
  bool partial = false;
};

// Errors: the target could not be opened.
base::Result<Measured> measure(const Target& target, const Plan& plan, const MeasureOptions& options);

}  // namespace load
