#include "audit/eval/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "audit/base/instant.h"
#include "audit/base/text.h"

namespace audit {

namespace {

using Verdict = Comparison::Verdict;

std::string name_of(const Comparison& c, std::size_t curve) { return c.curves[curve].name; }

void say(Comparison& c, std::string kind, std::size_t curve, std::string text) {
  c.verdicts.push_back({std::move(kind), name_of(c, curve), load_words(c.curves[curve]), std::move(text)});
}

std::string clients_words(const LatencyCurve& curve) {
  if (!curve.clients_told || curve.clients == 1) return "";
  return fmt::format(" with {} clients", curve.clients);
}

void group(Comparison& c) {
  std::map<std::pair<std::string, std::uint32_t>, std::size_t> known;
  for (std::size_t i = 0; i < c.curves.size(); ++i) {
    const LatencyCurve& curve = c.curves[i];
    const auto [found, added] = known.try_emplace({load_words(curve), curve.clients}, c.groups.size());
    if (added) c.groups.push_back({load_words(curve), curve.clients, curve.clients_told, {}});
    c.groups[found->second].curves.push_back(i);
  }
  std::stable_sort(c.groups.begin(), c.groups.end(),
                   [](const auto& a, const auto& b) { return a.clients < b.clients; });
}

// --- two curves ----------------------------------------------------------------------------------------------------

std::string connection_words(const Comparison& c, const Comparison::Connections& pair) {
  const LatencyCurve &more = c.curves[pair.more], &fewer = c.curves[pair.fewer];
  const ConnectionGain& gain = pair.gain;
  const std::string who = fmt::format("{}{}: {} connections against {}", more.stem, clients_words(more),
                                      *more.connections, *fewer.connections);
  const std::string most = fmt::format("{}x", half_up(gain.most.ratio, 2));
  if (!gain.pays_from)
    return gain.most.ratio < 1.10 ? fmt::format("{} bring no gain at any depth ({} at most)", who, most)
                                  : fmt::format("{} bring {} at most (depth {})", who, most, gain.most.depth);
  if (!gain.no_gain_upto) return fmt::format("{} pay from depth {} on, up to {}", who, *gain.pays_from, most);
  return fmt::format("{}: no gain up to depth {}, from {} on up to {}", who, *gain.no_gain_upto, *gain.pays_from, most);
}

void compare_connections(Comparison& c) {
  for (const auto& of_group : c.groups) {
    for (const std::size_t a : of_group.curves) {
      for (const std::size_t b : of_group.curves) {
        if (!differ_in_connections(c.curves[a], c.curves[b]) || *c.curves[a].connections < *c.curves[b].connections)
          continue;
        Comparison::Connections pair{a, b, connection_gain(c.curves[a], c.curves[b])};
        if (pair.gain.at.empty()) continue;
        say(c, "connections", a, connection_words(c, pair));
        c.connections.push_back(std::move(pair));
      }
    }
  }
}

std::string scaling_words(const LatencyCurve& few, const LatencyCurve& many, const std::vector<Scaling>& at) {
  const auto [least, most] =
      std::minmax_element(at.begin(), at.end(), [](const auto& a, const auto& b) { return a.ratio < b.ratio; });
  if (least->how == Scales::linear)
    return fmt::format("{} scales linearly from {} to {} clients: {}x to {}x at every depth", few.label, few.clients,
                       many.clients, half_up(least->ratio, 2), half_up(most->ratio, 2));
  const auto full = std::find_if(at.begin(), at.end(), [](const Scaling& s) { return s.how == Scales::saturated; });
  if (full != at.end())
    return fmt::format("{} is saturated at {} clients and depth {}: twice the clients bring {}x", few.label,
                       many.clients, full->depth, half_up(full->ratio, 2));
  return fmt::format("{} scales in part from {} to {} clients: {}x at depth {}, {}x at depth {}", few.label,
                     few.clients, many.clients, half_up(most->ratio, 2), most->depth, half_up(least->ratio, 2),
                     least->depth);
}

void compare_scaling(Comparison& c) {
  for (std::size_t few = 0; few < c.curves.size(); ++few) {
    for (std::size_t many = 0; many < c.curves.size(); ++many) {
      if (!doubles_clients(c.curves[few], c.curves[many])) continue;
      Comparison::Scaled pair{few, many, scaling(c.curves[few], c.curves[many])};
      if (pair.at.empty()) continue;
      say(c, "scaling", many, scaling_words(c.curves[few], c.curves[many], pair.at));
      c.scaled.push_back(std::move(pair));
    }
  }
}

// How near the others come at the deepest common point.
void compare_best(Comparison& c) {
  for (const auto& of_group : c.groups) {
    const std::size_t first = of_group.curves.front();
    for (std::size_t k = 1; k < of_group.curves.size(); ++k) {
      const auto all = ratios(c.curves[of_group.curves[k]], c.curves[first]);
      if (all.empty()) continue;
      const RatioAt last = all.back();
      const LatencyCurve &other = c.curves[of_group.curves[k]], &base = c.curves[first];
      const std::string figures = fmt::format("({} and {} IOPS at depth {})", grouped(other.at(last.depth)->iops),
                                              grouped(base.at(last.depth)->iops), last.depth);
      const std::string who = other.name + clients_words(other);
      if (half_up(last.ratio, 2) == "1.00") {
        say(c, "best", of_group.curves[k], fmt::format("{} and {} are equal {}", who, base.name, figures));
      } else if (last.ratio < 1) {
        say(c, "best", of_group.curves[k],
            fmt::format("{} reaches {} % of {} {}", who, half_up(last.ratio * 100, 0), base.name, figures));
      } else {
        say(c, "best", of_group.curves[k],
            fmt::format("{} reaches {}x of {} {}", who, half_up(last.ratio, 2), base.name, figures));
      }
    }
  }
}

// --- one curve -----------------------------------------------------------------------------------------------------

std::string doubling_words(std::uint32_t depth, const Doubling& d) {
  return fmt::format("depth {} to {} brings {}{} % IOPS, and latency goes from {} to {}", depth, depth * 2,
                     d.iops >= 0 ? "+" : "", half_up(d.iops * 100, 1), millis(d.from_us), millis(d.to_us));
}

void judge_curve(Comparison& c, std::size_t i) {
  const LatencyCurve& curve = c.curves[i];
  const std::string who = curve.name + clients_words(curve);
  if (const LatencyPoint* mark = ceiling(curve)) {
    // The last doubling shows it most clearly.
    std::uint32_t depth = mark->depth;
    for (const LatencyPoint& point : curve.points)
      if (point.depth > depth && doubling_from(curve, point.depth)) depth = point.depth;
    say(c, "ceiling", i,
        fmt::format("{} has no headroom beyond depth {}: {}", who, mark->depth,
                    doubling_words(depth, *doubling_from(curve, depth))));
  }
  for (const LatencyPoint& point : curve.points) {
    if (point.partial)
      say(c, "partial", i,
          fmt::format("{} at depth {} ended before its time: it tells what was measured until then", who, point.depth));
    if (point.spread > 0.10)
      say(c, "noise", i,
          fmt::format("{} at depth {}: the passes differ by {} %, too noisy to judge", who, point.depth,
                      half_up(point.spread * 100, 0)));
    const auto warm = warm_ratio(point);
    if (warm && *warm >= 1.10)
      say(c, "cache", i,
          fmt::format("{} at depth {}: later passes are {}x the first, as from a cache that it filled", who,
                      point.depth, half_up(*warm, 2)));
    const auto tail = tail_ratio(point);
    if (tail && *tail > 10 && *point.p99_us > 5000)
      say(c, "tail", i,
          fmt::format("{} at depth {}: one request in a hundred takes {} and more, {}x the median", who, point.depth,
                      millis(*point.p99_us), half_up(*tail, 0)));
  }
}

// --- block sizes ---------------------------------------------------------------------------------------------------

void judge_sizes(Comparison& c) {
  std::map<std::string, std::vector<const LatencyCurve*>> families;
  std::map<std::string, std::size_t> first;
  for (std::size_t i = 0; i < c.curves.size(); ++i) {
    const LatencyCurve& curve = c.curves[i];
    const std::string key = fmt::format("{}|{}|{}", curve.name, curve.pattern, curve.clients);
    first.try_emplace(key, i);
    if (curve.block_bytes) families[key].push_back(&curve);
  }
  for (const auto& [key, sizes] : families) {
    const std::size_t i = first.at(key);
    const QosSignature limit = qos_signature(sizes);
    const std::string who = fmt::format("{}, {}", name_of(c, i), c.curves[i].pattern);
    if (limit.flat == Flat::iops)
      c.verdicts.push_back(
          {"limit", name_of(c, i), c.curves[i].pattern,
           fmt::format("{}: {} IOPS whatever the block size: a limit in IOPS (QoS)", who, grouped(limit.limit))});
    if (limit.flat == Flat::mbps)
      c.verdicts.push_back({"limit", name_of(c, i), c.curves[i].pattern,
                            fmt::format("{}: {} MB/s whatever the block size: a limit in MB/s (link, server or QoS)",
                                        who, grouped(limit.limit))});
    const auto cost = block_cost(sizes);
    if (cost && cost->fit >= 0.9 && cost->fixed_us > 0 && cost->per_kib_us > 0)
      c.verdicts.push_back({"size", name_of(c, i), c.curves[i].pattern,
                            fmt::format("{}: at depth 1 a request costs {}, and {} us for each KiB of it", who,
                                        millis(cost->fixed_us), half_up(cost->per_kib_us, 1))});
  }
  for (std::size_t a = 0; a < c.curves.size(); ++a) {
    for (std::size_t b = 0; b < c.curves.size(); ++b) {
      const auto gain = working_set_gain(c.curves[a], c.curves[b]);
      if (gain && gain->ratio >= 1.10)
        say(c, "cache", a,
            fmt::format("{} is {}x as fast as over {}: the smaller range fits a cache", name_of(c, a),
                        half_up(gain->ratio, 2), size_words(*c.curves[b].working_set_bytes)));
    }
  }
}

// --- what is wanted and promised -----------------------------------------------------------------------------------

void judge_need(Comparison& c, const facts::LatencyNeed& need) {
  for (std::size_t i = 0; i < c.curves.size(); ++i) {
    const LatencyCurve& curve = c.curves[i];
    const LatencyPoint* most = curve.most();
    const std::string who = curve.name + clients_words(curve);
    const bool other_size = need.guaranteed_block_bytes.has_value() && curve.block_bytes &&
                            *curve.block_bytes != *need.guaranteed_block_bytes;
    if (need.guaranteed_iops.has_value() && !other_size) {
      const double times = times_guaranteed(most->iops, *need.guaranteed_iops);
      say(c, "promise", i,
          fmt::format("{} gives {}x of the {} IOPS promised ({} at depth {})", who, half_up(times, 2),
                      grouped(*need.guaranteed_iops), grouped(most->iops), most->depth));
    }
    if (need.cache_bytes.has_value() && curve.working_set_bytes && *curve.working_set_bytes < *need.cache_bytes)
      say(c, "cache", i,
          fmt::format("{} ranges over {}, less than the cache of {}: it tells the cache's speed", who,
                      size_words(*curve.working_set_bytes), size_words(*need.cache_bytes)));
    if (!need.wanted_iops.has_value()) continue;
    const auto latency = latency_at_us(curve, *need.wanted_iops);
    say(c, "need", i,
        latency ? fmt::format("{} gives the {} IOPS wanted at {}", who, grouped(*need.wanted_iops), millis(*latency))
                : fmt::format("{} does not reach the {} IOPS wanted: {} at most", who, grouped(*need.wanted_iops),
                              grouped(most->iops)));
  }
}

// --- several machines ----------------------------------------------------------------------------------------------

facts::Fact<double> rank_of(const std::vector<facts::LatencyBucket>& buckets, double share) {
  std::uint64_t total = 0, seen = 0;
  for (const auto& bucket : buckets) total += bucket.count;
  for (const auto& bucket : buckets) {
    seen += bucket.count;
    if (total > 0 && static_cast<double>(seen) >= share * static_cast<double>(total)) return bucket.upto_us;
  }
  return {};
}

void merge_histograms(facts::LatencyRun& sum, const std::vector<const facts::LatencyRun*>& parts) {
  sum.histogram.clear();
  sum.lat_p50_us = sum.lat_p90_us = sum.lat_p99_us = sum.lat_p999_us = facts::Fact<double>();
  std::map<double, std::uint64_t> buckets;
  for (const auto* part : parts) {
    if (part->histogram.empty()) return;
    for (const auto& bucket : part->histogram) buckets[bucket.upto_us] += bucket.count;
  }
  for (const auto& [upto, count] : buckets) sum.histogram.push_back({upto, count});
  sum.lat_p50_us = rank_of(sum.histogram, 0.5);
  sum.lat_p90_us = rank_of(sum.histogram, 0.9);
  sum.lat_p99_us = rank_of(sum.histogram, 0.99);
  sum.lat_p999_us = rank_of(sum.histogram, 0.999);
}

// Sum of a figure that all parts tell; else not known.
template <class T>
facts::Fact<T> sum_of(const std::vector<const facts::LatencyRun*>& parts, facts::Fact<T> facts::LatencyRun::*member) {
  T sum{};
  for (const auto* part : parts) {
    if (!(part->*member).has_value()) return {};
    sum += *(part->*member);
  }
  return sum;
}

facts::LatencyRun sum_of(const std::vector<const facts::LatencyRun*>& parts) {
  facts::LatencyRun sum = *parts.front();
  std::vector<std::string> sources;
  std::uint32_t clients = 0;
  double iops = 0, weighted = 0, least = 0, most = 0;
  bool all_means = true, all_ranges = true, partial = false;
  for (const auto* part : parts) {
    sources.push_back(part->source);
    clients += part->clients.value_or(1);
    iops += part->iops;
    all_means = all_means && part->lat_mean_us.has_value();
    weighted += part->iops * part->lat_mean_us.value_or(0);
    all_ranges = all_ranges && part->lat_min_us.has_value() && part->lat_max_us.has_value();
    least = part == parts.front() ? part->lat_min_us.value_or(0) : std::min(least, part->lat_min_us.value_or(0));
    most = std::max(most, part->lat_max_us.value_or(0));
    partial = partial || part->partial.is(true);
  }
  sum.source = base::join(sources, " + ");
  sum.clients = clients;
  sum.iops = iops;
  sum.lat_mean_us = all_means && iops > 0 ? facts::Fact<double>(weighted / iops) : facts::Fact<double>();
  sum.lat_min_us = all_ranges ? facts::Fact<double>(least) : facts::Fact<double>();
  sum.lat_max_us = all_ranges ? facts::Fact<double>(most) : facts::Fact<double>();
  sum.lat_stddev_us = facts::Fact<double>();
  sum.mbps = sum_of(parts, &facts::LatencyRun::mbps);
  sum.ios = sum_of(parts, &facts::LatencyRun::ios);
  sum.bytes = sum_of(parts, &facts::LatencyRun::bytes);
  sum.errors = sum_of(parts, &facts::LatencyRun::errors);
  sum.samples = sum_of(parts, &facts::LatencyRun::samples);
  sum.client_cpu_us = sum_of(parts, &facts::LatencyRun::client_cpu_us);
  if (partial) sum.partial = true;
  sum.series.clear();
  merge_histograms(sum, parts);
  return sum;
}

// Seconds of the begin and the end of a run, where it tells both.
std::optional<std::pair<double, double>> span_of(const facts::LatencyRun& run) {
  if (!run.started.has_value() || !run.seconds.has_value()) return std::nullopt;
  const auto begin = base::epoch_of(*run.started);
  if (!begin) return std::nullopt;
  return std::pair{*begin, *begin + *run.seconds};
}

}  // namespace

std::string grouped(double number) {
  std::string digits = half_up(number, 0);
  for (std::size_t at = digits.size(); at > 3 + (digits.starts_with('-') ? 1U : 0U); at -= 3) {
    if (at != digits.size() || digits.size() > 3) digits.insert(at - 3, ",");
  }
  return digits;
}

std::string millis(double us) {
  const double ms = us / 1000;
  return half_up(ms, ms >= 100 ? 0 : ms >= 10 ? 1 : 2) + " ms";
}

std::string ratio_words(double ratio, int decimals, const std::string& first, const std::string& second) {
  if (half_up(ratio, 2) == "1.00") return "equal";
  return ratio > 1 ? fmt::format("{} {}x", first, half_up(ratio, decimals))
                   : fmt::format("{} {}x", second, half_up(1 / ratio, decimals));
}

Comparison compare_runs(const facts::Latency& latency) {
  Comparison c;
  c.runs = latency.runs.size();
  for (const auto& run : latency.runs) c.open_loop += run.loop.is("open") ? 1U : 0U;
  c.curves = latency_curves(latency.runs);
  for (const auto& curve : c.curves)
    for (const auto& point : curve.points) c.by_little = c.by_little || point.mean_by_little;
  group(c);
  compare_best(c);
  compare_connections(c);
  compare_scaling(c);
  for (std::size_t i = 0; i < c.curves.size(); ++i) judge_curve(c, i);
  judge_sizes(c);
  judge_need(c, latency.need);
  return c;
}

Summed sum_runs(const std::vector<facts::LatencyRun>& runs) {
  Summed summed;
  std::map<std::string, std::vector<const facts::LatencyRun*>> parts;
  std::vector<std::string> order;
  for (const auto& run : runs) {
    facts::LatencyRun alike = run;
    alike.clients = facts::Fact<std::uint32_t>();  // nodes may bring different numbers of clients
    const std::string key = facts::load_key(alike) + fmt::format("|{}|{}", run.depth, run.pass.value_or(0));
    auto& list = parts[key];
    if (list.empty()) order.push_back(key);
    list.push_back(&run);
  }
  for (const auto& key : order) {
    const auto& list = parts[key];
    summed.runs.push_back(sum_of(list));
    double latest_begin = 0, first_end = 0, longest = 0;
    bool all_told = true;
    for (const auto* part : list) {
      const auto span = span_of(*part);
      all_told = all_told && span.has_value();
      if (!span) continue;
      latest_begin = part == list.front() ? span->first : std::max(latest_begin, span->first);
      first_end = part == list.front() ? span->second : std::min(first_end, span->second);
      longest = std::max(longest, span->second - span->first);
    }
    const std::string what = fmt::format("{}, depth {}", list.front()->label, list.front()->depth);
    if (list.size() == 1) {
      summed.doubts.push_back(what + ": one run only, nothing to add up");
    } else if (all_told && first_end - latest_begin < 0.9 * longest) {
      summed.doubts.push_back(fmt::format("{}: the runs were under way together for {:.0f} s of {:.0f} s", what,
                                          std::max(0.0, first_end - latest_begin), longest));
    }
  }
  return summed;
}

}  // namespace audit
