// What curves of IOPS and latency say. Each is a function of its own with its limits as arguments (rules/limits.yaml
// has the same ones); none judges. Sources: L. Kleinrock, "Power and deterministic rules of thumb" (1979) for the
// efficient depth; Little's law for latency that was not measured; the rest is engineering judgement, tried on
// published tables.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "audit/eval/latency_curves.h"

namespace audit {

// "2.44" of 2.4357: half-up in decimal, as tables are printed. A hair below a half that is one only in binary counts as
// a half.
std::string half_up(double value, int decimals);

// Depth with the largest IOPS^2 / depth: beyond it latency grows faster than IOPS. nullptr with fewer than 2 points.
const LatencyPoint* efficient_depth(const LatencyCurve& curve);

struct CeilingLimits {
  double gain = 0.15;     // a doubling of the depth that brings less IOPS than this ...
  double latency = 0.60;  // ... and at least so much more latency
};
// First depth whose doubling passes both limits; nullptr when no measured doubling does.
const LatencyPoint* ceiling(const LatencyCurve& curve, const CeilingLimits& limits = {});
// What the doubling from a point brings, as a share: 0.15 for 15 %. None where twice the depth was not measured.
struct Doubling {
  double iops = 0, latency = 0;
  double from_us = 0, to_us = 0;
};
std::optional<Doubling> doubling_from(const LatencyCurve& curve, std::uint32_t depth);
// Smallest depth that reaches this share of the most IOPS of the curve.
const LatencyPoint* saturated_from(const LatencyCurve& curve, double share = 0.9);

struct RatioAt {
  std::uint32_t depth = 1;
  double ratio = 0;
};
// a.iops / b.iops where both have the depth.
std::vector<RatioAt> ratios(const LatencyCurve& a, const LatencyCurve& b);

// More connections against fewer, on the same load.
struct ConnectionGain {
  std::vector<RatioAt> at;
  std::optional<std::uint32_t> no_gain_upto;  // every depth up to here stays below `nothing`
  std::optional<std::uint32_t> pays_from;     // this depth and all after it reach `pays`
  RatioAt most;
};
struct ConnectionLimits {
  double nothing = 1.10;
  double pays = 1.25;
};
ConnectionGain connection_gain(const LatencyCurve& more, const LatencyCurve& fewer,
                               const ConnectionLimits& limits = {});
// Curves of one stem, load and number of clients that differ in the number of connections alone.
bool differ_in_connections(const LatencyCurve& a, const LatencyCurve& b);

// From N to 2N clients of the same label and load.
enum class Scales : std::uint8_t { linear, partly, saturated };
struct Scaling {
  std::uint32_t depth = 1;
  double ratio = 0;
  Scales how = Scales::partly;
};
struct ScalingLimits {
  double linear = 1.9;      // at least
  double saturated = 1.15;  // below: what the ceiling calls a doubling that brings nothing
};
std::vector<Scaling> scaling(const LatencyCurve& few, const LatencyCurve& many, const ScalingLimits& limits = {});
bool doubles_clients(const LatencyCurve& few, const LatencyCurve& many);

// Mean latency at depth 1 as fixed + per_kib x size, by least squares over at least 3 block sizes.
struct BlockCost {
  double fixed_us = 0, per_kib_us = 0;
  double fit = 0;  // share of the variance explained, 0 to 1
  std::size_t sizes = 0;
};
std::optional<BlockCost> block_cost(const std::vector<const LatencyCurve*>& sizes, std::uint32_t depth = 1);

// A limit that is no matter of the hardware: the same IOPS, or the same MB/s, whatever the block size.
enum class Flat : std::uint8_t { no, iops, mbps };
struct QosSignature {
  Flat flat = Flat::no;
  double limit = 0;  // IOPS, or MB/s
  double spread = 0;
  std::uint32_t depth = 1;
};
struct QosLimits {
  double spread = 0.10;  // of the rate over the block sizes
  double sizes = 4;      // largest block over the smallest
  double deeper = 0.05;  // IOPS that a deeper queue adds at most
};
// Curves of one label and pattern over block sizes. Flat IOPS count only where a deeper queue brings no more: one
// request after the other is flat by itself as long as the fixed cost of a request outweighs its size.
QosSignature qos_signature(const std::vector<const LatencyCurve*>& sizes, const QosLimits& limits = {});

// The first pass against the later ones. Above 1: later passes read from a cache that the first one filled.
std::optional<double> warm_ratio(const LatencyPoint& point);
// Smaller working set against the larger one, the same label and load, at the largest common depth.
std::optional<RatioAt> working_set_gain(const LatencyCurve& smaller, const LatencyCurve& larger);

std::optional<double> tail_ratio(const LatencyPoint& point);  // p99 / p50

// Mean latency at a rate, on the line between the two points around it. None where the curve does not reach the rate;
// below the first point that one's latency.
std::optional<double> latency_at_us(const LatencyCurve& curve, double iops);

double times_guaranteed(double measured_iops, double guaranteed_iops);

// Amazon FSx for NetApp ONTAP: 3 IOPS per GB of SSD storage unless provisioned, within the limit of the throughput
// tier. tier_mbps: 128, 256, 512, 1024, 2048; another value has no limit known here.
std::optional<double> fsx_tier_iops(std::uint32_t tier_mbps);
std::optional<double> fsx_expected_iops(double storage_gb, std::optional<double> provisioned, std::uint32_t tier_mbps);

}  // namespace audit
