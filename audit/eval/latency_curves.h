// Measured runs put together to curves: IOPS and latency by depth for one label and one load. What the curves say is in
// latency_analysis.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "audit/facts/latency.h"

namespace audit {

// The passes of one depth.
struct LatencyPoint {
  std::uint32_t depth = 1;      // of one client
  double iops = 0;              // all clients together, mean of the passes that count
  double mean_us = 0;           // mean latency
  bool mean_by_little = false;  // computed as clients x depth / IOPS (Little's law), not measured
  std::optional<double> mbps, p50_us, p99_us, p999_us;
  std::uint64_t errors = 0;
  bool partial = false;
  double spread = 0;                    // (largest - smallest) / mean of the IOPS of the passes that count
  std::vector<std::uint32_t> runs;      // in latency.runs, those that count
  std::vector<std::uint32_t> left_out;  // first passes that differ from the later ones
  std::optional<double> first_iops;     // of the first pass, where there are later ones
  double later_iops = 0;                // mean of the later passes, beside first_iops
};

struct LatencyCurve {
  std::string label;  // as the runs have it
  std::string name;   // unlike those of the other curves of the same load: "NAS nc8"
  std::string stem;   // label without the word that counts connections: equal for "NAS nc8" and "NAS nc1"
  std::string engine;
  std::string pattern;                       // empty: not told
  std::optional<std::uint64_t> block_bytes;  // empty: not told
  std::optional<std::uint32_t> read_pct;
  std::uint32_t clients = 1;
  bool clients_told = false;
  std::optional<std::uint32_t> connections;
  std::optional<std::uint64_t> working_set_bytes;
  std::vector<LatencyPoint> points;  // by depth

  const LatencyPoint* at(std::uint32_t depth) const;
  const LatencyPoint* most() const;  // the point with the most IOPS; never nullptr for a curve of latency_curves()
};

// Two curves may be laid side by side: the same pattern, block size and mix.
bool same_load(const LatencyCurve& a, const LatencyCurve& b);

// In the order of first appearance. Runs of an open loop have no depth that drives them and are passed over. Of three
// and more passes of a depth the first is left out when it differs from the mean of the later ones by more than
// `first_pass` (a share: 0.05).
std::vector<LatencyCurve> latency_curves(const std::vector<facts::LatencyRun>& runs, double first_pass = 0.05);

// "NAS nc8" -> "NAS"; also nconnect=8, nconnect8, x8 connections written as "8conn". Nothing else is taken off.
std::string label_stem(const std::string& label);

// Little's law for a closed loop: each client keeps `depth` requests under way.
double little_latency_us(double iops, std::uint32_t depth, std::uint32_t clients);

std::string size_words(std::uint64_t bytes);  // "4 KiB", "1 MiB", "600 bytes"
// "randread 4 KiB"; "any load" when nothing is told.
std::string load_words(const LatencyCurve& curve);

}  // namespace audit
