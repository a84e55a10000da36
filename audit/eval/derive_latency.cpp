#include "audit/eval/derive_latency.h"

#include <algorithm>
#include <set>

#include "audit/eval/derive_help.h"
#include "audit/eval/latency_analysis.h"

namespace audit {

namespace {

using namespace derive_help;
using facts::Absent;
using facts::Value;

constexpr std::string_view by_runs = "latency.runs";
constexpr std::string_view by_need = "latency.need";
constexpr std::uint64_t small_bytes = 16384;
constexpr double far_rtt_us = 1000;  // a network that takes longer is no local one: its share is taken off

facts::Ref no_ref(const Context&, const Item&) { return {}; }

// --- runs ----------------------------------------------------------------------------------------------------------

const facts::LatencyRun& run_of(const Context& c, const Item& item) { return c.facts.latency.runs[item.index]; }

Value run_name(const Context& c, const Item& item) {
  const facts::LatencyRun& run = run_of(c, item);
  std::string name = fmt::format("{} at depth {}", run.label, run.depth);
  if (run.pass.has_value()) name += fmt::format(", pass {}", *run.pass);
  return name;
}

Value run_tail(const Context& c, const Item& item) {
  const facts::LatencyRun& run = run_of(c, item);
  if (!run.lat_p50_us.has_value()) return missing_fact(c, by_runs, item.index, "lat_p50_us");
  if (!run.lat_p99_us.has_value()) return missing_fact(c, by_runs, item.index, "lat_p99_us");
  if (*run.lat_p50_us <= 0) return unknown("the median is 0");
  return *run.lat_p99_us / *run.lat_p50_us;
}

Value run_p99_ms(const Context& c, const Item& item) {
  const facts::LatencyRun& run = run_of(c, item);
  return run.lat_p99_us.has_value() ? Value(*run.lat_p99_us / 1000)
                                    : missing_fact(c, by_runs, item.index, "lat_p99_us");
}

Value run_p999_ms(const Context& c, const Item& item) {
  const facts::LatencyRun& run = run_of(c, item);
  return run.lat_p999_us.has_value() ? Value(*run.lat_p999_us / 1000)
                                     : missing_fact(c, by_runs, item.index, "lat_p999_us");
}

// Steps of the series in a row in which nothing was answered; the first 10 s are start-up.
Value run_gap(const Context& c, const Item& item) {
  const facts::LatencyRun& run = run_of(c, item);
  if (run.series.empty()) return missing_fact(c, by_runs, item.index, "series");
  double longest = 0, begin = 0, gap = 0;
  for (const auto& step : run.series) {
    const double length = step.at_s - begin;
    begin = step.at_s;
    if (!step.ios.has_value()) return missing_fact(c, by_runs, item.index, "series[].ios");
    gap = *step.ios == 0 && step.at_s > 10 ? gap + length : 0;
    longest = std::max(longest, gap);
  }
  return longest;
}

Scope run_scope() {
  Scope s;
  s.name = "latency.runs";
  s.type = &facts::type_of<facts::LatencyRun>;
  s.items = [](const Context& c) { return items_of("latency.runs", c.facts.latency.runs.size()); };
  s.ref = [](const Context& c, const Item& item) { return facts::ref_to(run_of(c, item)); };
  s.path = [](const Context&, const Item& item) { return fmt::format("latency.runs[{}]", item.index); };
  s.subject = [](const Context& c, const Item& item) { return Subject{"run", run_of(c, item).label}; };
  s.own_name = [](const Context& c, const Item& item) {
    const facts::LatencyRun& run = run_of(c, item);
    return fmt::format("{} {}", facts::load_key(run), run.depth);
  };
  s.derived = {{"name", text_type, "the run in words: label, depth, pass", by_runs, run_name},
               {"tail_ratio", number_type, "p99 over p50", by_runs, run_tail},
               {"p99_ms", number_type, "99th percentile of the latency", by_runs, run_p99_ms},
               {"p999_ms", number_type, "99.9th percentile of the latency", by_runs, run_p999_ms},
               {"gap_s", number_type, "longest time without an answer, after the first 10 s", by_runs, run_gap}};
  return s;
}

// --- curves --------------------------------------------------------------------------------------------------------

const LatencyCurve& curve_of(const Context& c, const Item& item) { return c.curves()[item.index]; }

std::string curve_words(const LatencyCurve& curve) {
  std::string words = curve.name + ", " + load_words(curve);
  if (curve.clients_told && curve.clients > 1) words += fmt::format(", {} clients", curve.clients);
  return words;
}

Value curve_name(const Context& c, const Item& item) { return curve_words(curve_of(c, item)); }

Value curve_small(const Context& c, const Item& item) {
  const auto& bytes = curve_of(c, item).block_bytes;
  return bytes ? Value(*bytes <= small_bytes) : missing(c, "latency.runs[].block_bytes");
}

// Mean at depth 1, less the round trip of a network that is far.
Value curve_depth1(const Context& c, const Item& item) {
  const LatencyCurve& curve = curve_of(c, item);
  const LatencyPoint* point = curve.at(1);
  if (point == nullptr) return unknown("depth 1 was not measured");
  double us = point->mean_us;
  const auto& rtt = c.facts.latency.runs[point->runs.front()].rtt_us;
  if (rtt.has_value() && *rtt > far_rtt_us) us = std::max(0.0, us - *rtt);
  return us / 1000;
}

Value few_points() { return unknown("one depth only was measured"); }

template <class Get>
Value of_efficient(const Context& c, const Item& item, Get get) {
  const LatencyPoint* point = efficient_depth(curve_of(c, item));
  return point == nullptr ? few_points() : Value(get(*point));
}
template <class Get>
Value of_ceiling(const Context& c, const Item& item, Get get) {
  if (curve_of(c, item).points.size() < 2) return few_points();
  const LatencyPoint* point = ceiling(curve_of(c, item));
  return point == nullptr ? Value(Absent{}) : Value(get(*point));
}

std::uint32_t depth_at(const LatencyPoint& point) { return point.depth; }
double iops_at(const LatencyPoint& point) { return point.iops; }
double ms_at(const LatencyPoint& point) { return point.mean_us / 1000; }

Value efficient(const Context& c, const Item& item) { return of_efficient(c, item, depth_at); }
Value efficient_iops(const Context& c, const Item& item) { return of_efficient(c, item, iops_at); }
Value efficient_ms(const Context& c, const Item& item) { return of_efficient(c, item, ms_at); }
Value ceiling_depth(const Context& c, const Item& item) { return of_ceiling(c, item, depth_at); }
Value ceiling_iops(const Context& c, const Item& item) { return of_ceiling(c, item, iops_at); }
Value ceiling_ms(const Context& c, const Item& item) { return of_ceiling(c, item, ms_at); }

Value ceiling_text(const Context& c, const Item& item) {
  const LatencyPoint* point = ceiling(curve_of(c, item));
  return point == nullptr ? Value("no ceiling was reached")
                          : Value(fmt::format("the ceiling is depth {}", point->depth));
}
Value ceiling_text_ja(const Context& c, const Item& item) {
  const LatencyPoint* point = ceiling(curve_of(c, item));
  return point == nullptr ? Value("上限には達していません") : Value(fmt::format("上限は深さ {} です", point->depth));
}

// A limit in IOPS or MB/s over the block sizes of the same label.
Value curve_flat(const Context& c, const Item& item) {
  const LatencyCurve& curve = curve_of(c, item);
  std::vector<const LatencyCurve*> sizes;
  for (const auto& other : c.curves())
    if (other.name == curve.name && other.pattern == curve.pattern && other.clients == curve.clients)
      sizes.push_back(&other);
  switch (qos_signature(sizes).flat) {
    case Flat::iops: return "iops";
    case Flat::mbps: return "mbps";
    default: return Absent{};
  }
}

std::vector<Item> points_of(const Context& c, const Item& item) {
  std::vector<Item> items;
  for (std::uint32_t i = 0; i < curve_of(c, item).points.size(); ++i)
    items.push_back(make_item("latency.curves.points", item.index, i));
  return items;
}

Scope curve_scope() {
  Scope s;
  s.name = "latency.curves";
  s.type = nullptr;
  s.items = [](const Context& c) { return items_of("latency.curves", c.curves().size()); };
  s.ref = no_ref;
  s.path = [](const Context&, const Item& item) { return fmt::format("latency.curves[{}]", item.index); };
  s.subject = [](const Context& c, const Item& item) { return Subject{"run", curve_of(c, item).label}; };
  s.own_name = [](const Context& c, const Item& item) { return curve_words(curve_of(c, item)); };
  s.derived = {
      {"name", text_type, "the curve in words: label, load, clients", by_runs, curve_name},
      {"small_io", boolean_type, "requests of 16 KiB or less", "latency.runs[].block_bytes", curve_small},
      {"depth1_ms", number_type, "mean latency at depth 1, less the round trip of a network of more than 1 ms", by_runs,
       curve_depth1},
      {"efficient_depth", integer_type, "depth with the largest IOPS^2 / depth", by_runs, efficient},
      {"efficient_iops", number_type, "IOPS there", by_runs, efficient_iops},
      {"efficient_ms", number_type, "mean latency there", by_runs, efficient_ms},
      {"ceiling_depth", integer_type,
       "first depth whose doubling brings less than 15 % IOPS and 60 % latency or more; null when none does", by_runs,
       ceiling_depth},
      {"ceiling_iops", number_type, "IOPS there; null without a ceiling", by_runs, ceiling_iops},
      {"ceiling_ms", number_type, "mean latency there; null without a ceiling", by_runs, ceiling_ms},
      {"ceiling_text", text_type, "the ceiling in words", by_runs, ceiling_text, ceiling_text_ja},
      {"flat", text_type, "iops or mbps: what stays the same over the block sizes, as under a limit; null for neither",
       by_runs, curve_flat}};
  s.collections = {{"points", "depths of the curve", "latency.curves.points", points_of}};
  return s;
}

const LatencyPoint& point_of(const Context& c, const Item& item) { return curve_of(c, item).points[item.sub]; }

Scope point_scope() {
  Scope s;
  s.name = "latency.curves.points";
  s.parent = "curve";
  s.type = nullptr;
  s.items = [](const Context& c) {
    std::vector<Item> items;
    for (std::uint32_t i = 0; i < c.curves().size(); ++i) append(items, points_of(c, make_item("latency.curves", i)));
    return items;
  };
  s.ref = no_ref;
  s.path = [](const Context& c, const Item& item) {
    return fmt::format("latency.curves[{}].depth {}", item.index, point_of(c, item).depth);
  };
  s.subject = [](const Context& c, const Item& item) { return Subject{"run", curve_of(c, item).label}; };
  s.own_name = [](const Context& c, const Item& item) { return fmt::format("{}", point_of(c, item).depth); };
  s.derived = {{"depth", integer_type, "requests of one client under way at once", by_runs,
                [](const Context& c, const Item& item) { return Value(point_of(c, item).depth); }},
               {"iops", number_type, "all clients together, mean of the passes that count", by_runs,
                [](const Context& c, const Item& item) { return Value(point_of(c, item).iops); }},
               {"mean_ms", number_type, "mean latency, measured or clients x depth / IOPS", by_runs,
                [](const Context& c, const Item& item) { return Value(point_of(c, item).mean_us / 1000); }},
               {"spread", number_type, "difference of the passes over their mean", by_runs,
                [](const Context& c, const Item& item) { return Value(point_of(c, item).spread); }}};
  s.references = {{"curve", "the curve", "latency.curves", [](const Context&, const Item& item) {
                     return Joined{make_item("latency.curves", item.index), false, {}};
                   }}};
  return s;
}

// --- twice the clients ---------------------------------------------------------------------------------------------

// index: the curve of N clients, sub: place of the depth among its points. The curve of 2N is found again by its key.
const LatencyCurve* doubled(const Context& c, const LatencyCurve& few) {
  for (const auto& many : c.curves())
    if (doubles_clients(few, many)) return &many;
  return nullptr;
}

// The deepest first: where a finding is about several depths, it is that one that shows most.
std::vector<Item> all_scalings(const Context& c) {
  std::vector<Item> items;
  for (std::uint32_t i = 0; i < c.curves().size(); ++i) {
    const LatencyCurve& few = c.curves()[i];
    const LatencyCurve* many = doubled(c, few);
    for (auto k = static_cast<std::uint32_t>(few.points.size()); many != nullptr && k-- > 0;)
      if (few.points[k].iops > 0 && many->at(few.points[k].depth) != nullptr)
        items.push_back(make_item("latency.scalings", i, k));
  }
  return items;
}

const LatencyPoint& many_point(const Context& c, const Item& item) {
  return *doubled(c, curve_of(c, item))->at(point_of(c, item).depth);
}

Scope scaling_scope() {
  Scope s;
  s.name = "latency.scalings";
  s.parent = "curve";
  s.type = nullptr;
  s.items = all_scalings;
  s.ref = no_ref;
  s.path = [](const Context& c, const Item& item) {
    return fmt::format("latency.scalings[{}].depth {}", item.index, point_of(c, item).depth);
  };
  s.subject = [](const Context& c, const Item& item) { return Subject{"run", curve_of(c, item).label}; };
  s.own_name = [](const Context& c, const Item& item) {
    return fmt::format("{} {}", curve_words(curve_of(c, item)), point_of(c, item).depth);
  };
  s.derived = {
      {"label", text_type, "label of both curves", by_runs,
       [](const Context& c, const Item& item) { return Value(curve_of(c, item).label); }},
      {"load", text_type, "pattern and size", by_runs,
       [](const Context& c, const Item& item) { return Value(load_words(curve_of(c, item))); }},
      {"depth", integer_type, "requests of one client under way at once", by_runs,
       [](const Context& c, const Item& item) { return Value(point_of(c, item).depth); }},
      {"from_clients", integer_type, "clients of the smaller run", by_runs,
       [](const Context& c, const Item& item) { return Value(curve_of(c, item).clients); }},
      {"to_clients", integer_type, "clients of the larger run, twice as many", by_runs,
       [](const Context& c, const Item& item) { return Value(curve_of(c, item).clients * 2); }},
      {"ratio", number_type, "IOPS of the larger run over those of the smaller", by_runs,
       [](const Context& c, const Item& item) { return Value(many_point(c, item).iops / point_of(c, item).iops); }}};
  s.references = {{"curve", "the curve of the smaller run", "latency.curves", [](const Context&, const Item& item) {
                     return Joined{make_item("latency.curves", item.index), false, {}};
                   }}};
  s.collections = {
      {"scalings", "the same curves at every depth", "latency.scalings", [](const Context& c, const Item& item) {
         std::vector<Item> items;
         for (const Item& other : all_scalings(c))
           if (other.index == item.index) items.push_back(other);
         return items;
       }}};
  return s;
}

// --- a choice ------------------------------------------------------------------------------------------------------

Value compared_labels(const Context& c, const Item&) {
  std::set<std::string> labels;
  for (const auto& curve : c.curves()) labels.insert(curve.label);
  return static_cast<std::uint64_t>(labels.size());
}

// Of every label and load; absent when one of them does not reach the rate with any number of clients.
Value slowest_at_wanted(const Context& c, const Item&) {
  const auto& wanted = c.facts.latency.need.wanted_iops;
  if (!wanted.has_value()) return missing(c, "latency.need.wanted_iops");
  if (c.curves().empty()) return missing(c, "latency.runs");
  std::set<std::string> reached, measured;
  double slowest = 0;
  for (const auto& curve : c.curves()) {
    measured.insert(curve.label + "|" + load_words(curve));
    const auto us = latency_at_us(curve, *wanted);
    if (!us) continue;
    reached.insert(curve.label + "|" + load_words(curve));
    slowest = std::max(slowest, *us / 1000);
  }
  return reached == measured ? Value(slowest) : Value(Absent{});
}

Scope selection_scope() {
  Scope s;
  s.name = "latency.selection";
  s.type = nullptr;
  s.items = [](const Context& c) {
    const bool any = !c.facts.latency.runs.empty() || c.facts.latency.need != facts::LatencyNeed{};
    return items_of("latency.selection", any ? 1 : 0);
  };
  s.ref = no_ref;
  s.path = [](const Context&, const Item&) { return std::string("latency.selection"); };
  s.subject = [](const Context& c, const Item&) { return Subject{"node", c.facts.node.name}; };
  s.own_name = [](const Context&, const Item&) { return std::string(); };
  s.derived = {{"labels", integer_type, "labels that were measured", by_runs, compared_labels},
               {"slowest_ms", number_type,
                "longest mean latency of any label and load at the wanted rate; null when one does not reach it",
                by_need, slowest_at_wanted}};
  return s;
}

}  // namespace

void add_latency_scopes(std::vector<Scope>& all) {
  all.push_back(run_scope());
  all.push_back(curve_scope());
  all.push_back(point_scope());
  all.push_back(scaling_scope());
  all.push_back(selection_scope());
}

}  // namespace audit
