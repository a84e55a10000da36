#include "audit/eval/latency_analysis.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

namespace audit {

std::string half_up(double value, int decimals) {
  const double scale = std::pow(10.0, decimals);
  const double scaled = std::floor(std::abs(value) * scale * (1 + 1e-12) + 0.5);
  return fmt::format("{:.{}f}", std::copysign(scaled, scaled == 0 ? 1.0 : value) / scale, decimals);
}

// --- one curve -----------------------------------------------------------------------------------------------------

const LatencyPoint* efficient_depth(const LatencyCurve& curve) {
  if (curve.points.size() < 2) return nullptr;
  const auto power = [](const LatencyPoint& point) { return point.iops * point.iops / point.depth; };
  const auto best = std::max_element(curve.points.begin(), curve.points.end(),
                                     [&](const auto& a, const auto& b) { return power(a) < power(b); });
  return &*best;
}

std::optional<Doubling> doubling_from(const LatencyCurve& curve, std::uint32_t depth) {
  const LatencyPoint* here = curve.at(depth);
  const LatencyPoint* there = curve.at(depth * 2);
  if (here == nullptr || there == nullptr || here->iops <= 0 || here->mean_us <= 0) return std::nullopt;
  return Doubling{there->iops / here->iops - 1, there->mean_us / here->mean_us - 1, here->mean_us, there->mean_us};
}

const LatencyPoint* ceiling(const LatencyCurve& curve, const CeilingLimits& limits) {
  for (const LatencyPoint& point : curve.points) {
    const auto doubled = doubling_from(curve, point.depth);
    if (doubled && doubled->iops < limits.gain && doubled->latency >= limits.latency) return &point;
  }
  return nullptr;
}

const LatencyPoint* saturated_from(const LatencyCurve& curve, double share) {
  const LatencyPoint* most = curve.most();
  if (most == nullptr) return nullptr;
  const auto found = std::find_if(curve.points.begin(), curve.points.end(),
                                  [&](const LatencyPoint& point) { return point.iops >= share * most->iops; });
  return found == curve.points.end() ? nullptr : &*found;
}

std::optional<double> warm_ratio(const LatencyPoint& point) {
  if (!point.first_iops || *point.first_iops <= 0) return std::nullopt;
  return point.later_iops / *point.first_iops;
}

std::optional<double> tail_ratio(const LatencyPoint& point) {
  if (!point.p50_us || !point.p99_us || *point.p50_us <= 0) return std::nullopt;
  return *point.p99_us / *point.p50_us;
}

std::optional<double> latency_at_us(const LatencyCurve& curve, double iops) {
  const LatencyPoint* below = nullptr;
  for (const LatencyPoint& point : curve.points) {
    if (point.iops >= iops) {
      if (below == nullptr || point.iops <= below->iops) return point.mean_us;
      const double share = (iops - below->iops) / (point.iops - below->iops);
      return below->mean_us + share * (point.mean_us - below->mean_us);
    }
    below = &point;
  }
  return std::nullopt;
}

// --- two curves ----------------------------------------------------------------------------------------------------

std::vector<RatioAt> ratios(const LatencyCurve& a, const LatencyCurve& b) {
  std::vector<RatioAt> all;
  for (const LatencyPoint& point : a.points) {
    const LatencyPoint* other = b.at(point.depth);
    if (other != nullptr && other->iops > 0) all.push_back({point.depth, point.iops / other->iops});
  }
  return all;
}

bool differ_in_connections(const LatencyCurve& a, const LatencyCurve& b) {
  return a.stem == b.stem && same_load(a, b) && a.clients == b.clients && a.working_set_bytes == b.working_set_bytes &&
         a.connections && b.connections && *a.connections != *b.connections;
}

ConnectionGain connection_gain(const LatencyCurve& more, const LatencyCurve& fewer, const ConnectionLimits& limits) {
  ConnectionGain gain;
  gain.at = ratios(more, fewer);
  for (const RatioAt& one : gain.at) {
    if (one.ratio > gain.most.ratio) gain.most = one;
    if (one.ratio < limits.pays) gain.pays_from.reset();
    if (one.ratio >= limits.pays && !gain.pays_from) gain.pays_from = one.depth;
  }
  for (const RatioAt& one : gain.at) {
    if (one.ratio >= limits.nothing) break;
    gain.no_gain_upto = one.depth;
  }
  return gain;
}

bool doubles_clients(const LatencyCurve& few, const LatencyCurve& many) {
  return few.label == many.label && same_load(few, many) && few.connections == many.connections &&
         few.working_set_bytes == many.working_set_bytes && few.clients_told && many.clients_told &&
         many.clients == few.clients * 2;
}

std::vector<Scaling> scaling(const LatencyCurve& few, const LatencyCurve& many, const ScalingLimits& limits) {
  std::vector<Scaling> all;
  for (const RatioAt& one : ratios(many, few)) {
    const Scales how = one.ratio >= limits.linear     ? Scales::linear
                       : one.ratio < limits.saturated ? Scales::saturated
                                                      : Scales::partly;
    all.push_back({one.depth, one.ratio, how});
  }
  return all;
}

std::optional<RatioAt> working_set_gain(const LatencyCurve& smaller, const LatencyCurve& larger) {
  if (smaller.label != larger.label || !same_load(smaller, larger) || smaller.clients != larger.clients ||
      smaller.connections != larger.connections || !smaller.working_set_bytes || !larger.working_set_bytes ||
      *smaller.working_set_bytes >= *larger.working_set_bytes)
    return std::nullopt;
  const auto all = ratios(smaller, larger);
  return all.empty() ? std::nullopt : std::optional<RatioAt>(all.back());
}

// --- block sizes ---------------------------------------------------------------------------------------------------

std::optional<BlockCost> block_cost(const std::vector<const LatencyCurve*>& sizes, std::uint32_t depth) {
  double n = 0, sx = 0, sy = 0, sxx = 0, sxy = 0, syy = 0;
  for (const LatencyCurve* curve : sizes) {
    const LatencyPoint* point = curve->at(depth);
    if (point == nullptr || !curve->block_bytes || point->mean_us <= 0) continue;
    const double x = static_cast<double>(*curve->block_bytes) / 1024, y = point->mean_us;
    n += 1;
    sx += x;
    sy += y;
    sxx += x * x;
    sxy += x * y;
    syy += y * y;
  }
  const double across = n * sxx - sx * sx, up = n * syy - sy * sy;
  if (n < 3 || across <= 0) return std::nullopt;
  BlockCost cost;
  cost.sizes = static_cast<std::size_t>(n);
  cost.per_kib_us = (n * sxy - sx * sy) / across;
  cost.fixed_us = (sy - cost.per_kib_us * sx) / n;
  cost.fit = up <= 0 ? 1 : (n * sxy - sx * sy) * (n * sxy - sx * sy) / (across * up);
  return cost;
}

namespace {

double spread_of(const std::vector<double>& rates) {
  const auto [least, most] = std::minmax_element(rates.begin(), rates.end());
  return *least > 0 ? *most / *least - 1 : 1;
}

double mean_of(const std::vector<double>& rates) {
  double sum = 0;
  for (const double rate : rates) sum += rate;
  return sum / static_cast<double>(rates.size());
}

// Some size was measured deeper, and that brought next to nothing.
bool deeper_brings_nothing(const std::vector<const LatencyCurve*>& sizes, std::uint32_t depth, double at_most) {
  for (const LatencyCurve* curve : sizes) {
    const auto doubled = doubling_from(*curve, depth);
    if (doubled && doubled->iops <= at_most) return true;
    if (depth > 1 && depth % 2 == 0) {
      const auto before = doubling_from(*curve, depth / 2);
      if (before && before->iops <= at_most) return true;
    }
  }
  return false;
}

}  // namespace

QosSignature qos_signature(const std::vector<const LatencyCurve*>& sizes, const QosLimits& limits) {
  std::map<std::uint32_t, std::vector<const LatencyCurve*>, std::greater<>> by_depth;  // deepest first
  for (const LatencyCurve* curve : sizes) {
    if (!curve->block_bytes) continue;
    for (const LatencyPoint& point : curve->points)
      if (point.iops > 0) by_depth[point.depth].push_back(curve);
  }
  for (const auto& [depth, curves] : by_depth) {
    if (curves.size() < 3) continue;
    std::vector<double> iops, mbps, bytes;
    for (const LatencyCurve* curve : curves) {
      bytes.push_back(static_cast<double>(*curve->block_bytes));
      iops.push_back(curve->at(depth)->iops);
      mbps.push_back(iops.back() * bytes.back() / 1e6);
    }
    if (spread_of(bytes) + 1 < limits.sizes) continue;
    if (spread_of(mbps) <= limits.spread) return {Flat::mbps, mean_of(mbps), spread_of(mbps), depth};
    if (spread_of(iops) <= limits.spread && deeper_brings_nothing(curves, depth, limits.deeper))
      return {Flat::iops, mean_of(iops), spread_of(iops), depth};
  }
  return {};
}

// --- promised rates ------------------------------------------------------------------------------------------------

double times_guaranteed(double measured_iops, double guaranteed_iops) {
  return guaranteed_iops > 0 ? measured_iops / guaranteed_iops : 0;
}

std::optional<double> fsx_tier_iops(std::uint32_t tier_mbps) {
  struct Tier {
    std::uint32_t mbps;
    double iops;
  };
  constexpr std::array tiers{Tier{128, 6000}, Tier{256, 12000}, Tier{512, 18750}, Tier{1024, 40000}, Tier{2048, 80000}};
  for (const Tier& tier : tiers)
    if (tier.mbps == tier_mbps) return tier.iops;
  return std::nullopt;
}

std::optional<double> fsx_expected_iops(double storage_gb, std::optional<double> provisioned, std::uint32_t tier_mbps) {
  constexpr double per_gb = 3;
  const auto tier = fsx_tier_iops(tier_mbps);
  if (!tier) return std::nullopt;
  return std::min(provisioned.value_or(storage_gb * per_gb), *tier);
}

}  // namespace audit
