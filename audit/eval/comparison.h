// Measured runs side by side: who is how much faster at which depth, where a curve bends, what more clients and more
// connections bring, and what that means in words. `mountaudit compare` prints it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "audit/base/result.h"
#include "audit/eval/latency_analysis.h"
#include "audit/facts/latency.h"

namespace audit {

struct Comparison {
  // Curves of one load and number of clients: a table of IOPS by depth.
  struct Group {
    std::string load;  // "randread, 4 KiB"
    std::uint32_t clients = 1;
    bool clients_told = false;
    std::vector<std::size_t> curves;  // in the order of the runs; the first is what the others are compared with
  };
  struct Connections {
    std::size_t more = 0, fewer = 0;  // curves
    ConnectionGain gain;
  };
  struct Scaled {
    std::size_t few = 0, many = 0;  // curves, N and 2N clients
    std::vector<Scaling> at;
  };
  struct Verdict {
    std::string kind;   // connections, ceiling, scaling, best, limit, cache, tail, noise, size, promise, need, partial
    std::string about;  // the curve, by name
    std::string load;
    std::string text;
  };

  std::vector<LatencyCurve> curves;
  std::vector<Group> groups;
  std::vector<Connections> connections;
  std::vector<Scaled> scaled;
  std::vector<Verdict> verdicts;
  std::size_t runs = 0, open_loop = 0;
  bool by_little = false;  // some latencies were computed
};

Comparison compare_runs(const facts::Latency& latency);

// Runs of several nodes that loaded one target at the same time, added up: IOPS, MB/s, clients, errors; the mean
// latency weighted by IOPS; percentiles only from histograms, where every run has one. `doubts` says which did not run
// at the same time, as far as the runs tell.
struct Summed {
  std::vector<facts::LatencyRun> runs;
  std::vector<std::string> doubts;
};
Summed sum_runs(const std::vector<facts::LatencyRun>& runs);

std::string grouped(double number);  // "136,682"
std::string millis(double us);       // "0.30 ms", "12.4 ms": three digits that count
std::string ratio_words(double ratio, int decimals, const std::string& first, const std::string& second);

}  // namespace audit
