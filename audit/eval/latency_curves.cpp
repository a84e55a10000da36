#include "audit/eval/latency_curves.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "audit/base/text.h"

namespace audit {

namespace {

using facts::LatencyRun;

template <class T>
std::optional<T> told(const facts::Fact<T>& fact) {
  return fact.has_value() ? std::optional<T>(*fact) : std::nullopt;
}

LatencyCurve make_curve(const LatencyRun& run) {
  LatencyCurve curve;
  curve.label = curve.name = run.label;
  curve.stem = label_stem(run.label);
  curve.engine = run.engine.value_or("");
  curve.pattern = run.pattern.value_or("");
  curve.block_bytes = told(run.block_bytes);
  curve.read_pct = told(run.read_pct);
  curve.clients = std::max<std::uint32_t>(run.clients.value_or(1), 1);
  curve.clients_told = run.clients.has_value();
  curve.connections = told(run.connections);
  curve.working_set_bytes = told(run.working_set_bytes);
  return curve;
}

// Mean of a figure over the runs that tell it; none when no run does.
std::optional<double> mean_of(const std::vector<const LatencyRun*>& runs, facts::Fact<double> LatencyRun::*member) {
  double sum = 0;
  int count = 0;
  for (const LatencyRun* run : runs) {
    if (!(run->*member).has_value()) continue;
    sum += *(run->*member);
    ++count;
  }
  return count == 0 ? std::nullopt : std::optional<double>(sum / count);
}

double mean_iops(const std::vector<const LatencyRun*>& runs) {
  double sum = 0;
  for (const LatencyRun* run : runs) sum += run->iops;
  return sum / static_cast<double>(runs.size());
}

LatencyPoint make_point(const std::vector<std::uint32_t>& passes, const std::vector<LatencyRun>& runs,
                        const LatencyCurve& curve, double first_pass) {
  LatencyPoint point;
  point.runs = passes;
  std::stable_sort(point.runs.begin(), point.runs.end(),
                   [&](auto a, auto b) { return runs[a].pass.value_or(0) < runs[b].pass.value_or(0); });
  std::vector<const LatencyRun*> counted;
  for (const auto index : point.runs) counted.push_back(&runs[index]);
  if (counted.size() > 1) {
    const std::vector<const LatencyRun*> later(counted.begin() + 1, counted.end());
    point.first_iops = counted.front()->iops;
    point.later_iops = mean_iops(later);
    const double gap = std::abs(*point.first_iops - point.later_iops);
    if (counted.size() > 2 && gap > first_pass * point.later_iops) {
      point.left_out.push_back(point.runs.front());
      point.runs.erase(point.runs.begin());
      counted = later;
    }
  }
  point.depth = std::max<std::uint32_t>(counted.front()->depth, 1);
  point.iops = mean_iops(counted);
  const auto [least, most] = std::minmax_element(counted.begin(), counted.end(),
                                                 [](const auto* a, const auto* b) { return a->iops < b->iops; });
  if (point.iops > 0) point.spread = ((*most)->iops - (*least)->iops) / point.iops;
  const auto mean = mean_of(counted, &LatencyRun::lat_mean_us);
  point.mean_by_little = !mean;
  point.mean_us = mean ? *mean : little_latency_us(point.iops, point.depth, curve.clients);
  point.mbps = mean_of(counted, &LatencyRun::mbps);
  if (!point.mbps && curve.block_bytes) point.mbps = point.iops * static_cast<double>(*curve.block_bytes) / 1e6;
  point.p50_us = mean_of(counted, &LatencyRun::lat_p50_us);
  point.p99_us = mean_of(counted, &LatencyRun::lat_p99_us);
  point.p999_us = mean_of(counted, &LatencyRun::lat_p999_us);
  for (const LatencyRun* run : counted) {
    point.errors += run->errors.value_or(0);
    point.partial = point.partial || run->partial.is(true);
  }
  return point;
}

// Curves of one load and number of clients whose labels are equal are told apart by what differs.
void name_apart(std::vector<LatencyCurve>& curves) {
  std::map<std::string, std::pair<std::set<std::optional<std::uint32_t>>, std::set<std::optional<std::uint64_t>>>> seen;
  for (const LatencyCurve& curve : curves) {
    seen[curve.label].first.insert(curve.connections);
    seen[curve.label].second.insert(curve.working_set_bytes);
  }
  for (LatencyCurve& curve : curves) {
    const auto& [connections, sets] = seen[curve.label];
    if (connections.size() > 1 && curve.connections) curve.name += fmt::format(" nc{}", *curve.connections);
    if (sets.size() > 1 && curve.working_set_bytes) curve.name += " " + size_words(*curve.working_set_bytes);
  }
}

bool is_digits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
}

bool counts_connections(std::string_view word) {
  for (const std::string_view prefix : {"nconnect=", "nconnect", "nc=", "nc"}) {
    if (word.starts_with(prefix)) return is_digits(word.substr(prefix.size()));
  }
  return word.ends_with("conn") && is_digits(word.substr(0, word.size() - 4));
}

}  // namespace

const LatencyPoint* LatencyCurve::at(std::uint32_t depth) const {
  const auto found =
      std::find_if(points.begin(), points.end(), [&](const LatencyPoint& point) { return point.depth == depth; });
  return found == points.end() ? nullptr : &*found;
}

const LatencyPoint* LatencyCurve::most() const {
  const auto found =
      std::max_element(points.begin(), points.end(), [](const auto& a, const auto& b) { return a.iops < b.iops; });
  return found == points.end() ? nullptr : &*found;
}

bool same_load(const LatencyCurve& a, const LatencyCurve& b) {
  return a.pattern == b.pattern && a.block_bytes == b.block_bytes && a.read_pct == b.read_pct;
}

std::vector<LatencyCurve> latency_curves(const std::vector<LatencyRun>& runs, double first_pass) {
  std::vector<LatencyCurve> curves;
  std::vector<std::map<std::uint32_t, std::vector<std::uint32_t>>> passes;  // of each curve, by depth
  std::map<std::string, std::size_t> by_key;
  for (std::uint32_t i = 0; i < runs.size(); ++i) {
    if (runs[i].loop.is("open")) continue;
    const auto [found, added] = by_key.try_emplace(facts::load_key(runs[i]), curves.size());
    if (added) {
      curves.push_back(make_curve(runs[i]));
      passes.emplace_back();
    }
    passes[found->second][runs[i].depth].push_back(i);
  }
  for (std::size_t i = 0; i < curves.size(); ++i) {
    for (const auto& [depth, of_depth] : passes[i])
      curves[i].points.push_back(make_point(of_depth, runs, curves[i], first_pass));
  }
  name_apart(curves);
  return curves;
}

std::string label_stem(const std::string& label) {
  std::vector<std::string> kept;
  for (const auto word : base::fields(label)) {
    if (!counts_connections(word)) kept.emplace_back(word);
  }
  return kept.empty() ? label : base::join(kept, " ");
}

double little_latency_us(double iops, std::uint32_t depth, std::uint32_t clients) {
  return iops > 0 ? static_cast<double>(depth) * static_cast<double>(clients) / iops * 1e6 : 0;
}

std::string size_words(std::uint64_t bytes) {
  constexpr std::uint64_t kib = 1024, mib = kib * 1024, gib = mib * 1024;
  if (bytes >= gib && bytes % gib == 0) return fmt::format("{} GiB", bytes / gib);
  if (bytes >= mib && bytes % mib == 0) return fmt::format("{} MiB", bytes / mib);
  if (bytes >= kib && bytes % kib == 0) return fmt::format("{} KiB", bytes / kib);
  return fmt::format("{} bytes", bytes);
}

std::string load_words(const LatencyCurve& curve) {
  std::vector<std::string> parts;
  if (!curve.pattern.empty()) parts.push_back(curve.pattern);
  if (curve.block_bytes) parts.push_back(size_words(*curve.block_bytes));
  if (curve.read_pct) parts.push_back(fmt::format("{} % reads", *curve.read_pct));
  return parts.empty() ? "any load" : base::join(parts, ", ");
}

}  // namespace audit
