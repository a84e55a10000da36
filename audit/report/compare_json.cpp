#include "audit/base/json.h"
#include "audit/report/compare.h"

namespace audit {

namespace {

using base::JsonWriter;

void number(JsonWriter& out, std::string_view key, double value) {
  out.key(key);
  out.number(value);
}
void count(JsonWriter& out, std::string_view key, std::uint64_t value) {
  out.key(key);
  out.number(value);
}
void text(JsonWriter& out, std::string_view key, std::string_view value) {
  out.key(key);
  out.text(value);
}

void write_mark(JsonWriter& out, std::string_view key, const LatencyPoint* point) {
  out.key(key);
  if (point == nullptr) return out.null();
  out.begin_object();
  count(out, "depth", point->depth);
  number(out, "iops", point->iops);
  number(out, "lat_mean_us", point->mean_us);
  out.end_object();
}

void write_point(JsonWriter& out, const LatencyPoint& point) {
  out.begin_object();
  count(out, "depth", point.depth);
  number(out, "iops", point.iops);
  number(out, "lat_mean_us", point.mean_us);
  text(out, "lat_mean_how", point.mean_by_little ? "clients x depth / iops" : "measured");
  if (point.mbps) number(out, "mbps", *point.mbps);
  if (point.p50_us) number(out, "lat_p50_us", *point.p50_us);
  if (point.p99_us) number(out, "lat_p99_us", *point.p99_us);
  if (point.p999_us) number(out, "lat_p999_us", *point.p999_us);
  count(out, "passes", point.runs.size());
  count(out, "passes_left_out", point.left_out.size());
  number(out, "spread", point.spread);
  count(out, "errors", point.errors);
  out.end_object();
}

void write_curve(JsonWriter& out, const LatencyCurve& curve) {
  out.begin_object();
  text(out, "name", curve.name);
  text(out, "label", curve.label);
  if (!curve.pattern.empty()) text(out, "pattern", curve.pattern);
  if (curve.block_bytes) count(out, "block_bytes", *curve.block_bytes);
  if (curve.read_pct) count(out, "read_pct", *curve.read_pct);
  count(out, "clients", curve.clients);
  if (curve.connections) count(out, "connections", *curve.connections);
  if (curve.working_set_bytes) count(out, "working_set_bytes", *curve.working_set_bytes);
  out.key("points");
  out.begin_array();
  for (const auto& point : curve.points) write_point(out, point);
  out.end_array();
  write_mark(out, "efficient", efficient_depth(curve));
  write_mark(out, "ceiling", ceiling(curve));
  out.end_object();
}

void write_ratios(JsonWriter& out, const std::vector<RatioAt>& all) {
  out.key("at");
  out.begin_array();
  for (const auto& one : all) {
    out.begin_object();
    count(out, "depth", one.depth);
    number(out, "ratio", one.ratio);
    out.end_object();
  }
  out.end_array();
}

const char* word(Scales how) {
  switch (how) {
    case Scales::linear: return "linear";
    case Scales::saturated: return "saturated";
    default: return "partly";
  }
}

void write_pairs(JsonWriter& out, const Comparison& c) {
  out.key("ratios");
  out.begin_array();
  for (const auto& group : c.groups) {
    for (std::size_t k = 1; k < group.curves.size(); ++k) {
      out.begin_object();
      count(out, "of", group.curves.front());
      count(out, "to", group.curves[k]);
      write_ratios(out, ratios(c.curves[group.curves.front()], c.curves[group.curves[k]]));
      out.end_object();
    }
  }
  out.end_array();
  out.key("connections");
  out.begin_array();
  for (const auto& pair : c.connections) {
    out.begin_object();
    count(out, "more", pair.more);
    count(out, "fewer", pair.fewer);
    write_ratios(out, pair.gain.at);
    if (pair.gain.no_gain_upto) count(out, "no_gain_upto_depth", *pair.gain.no_gain_upto);
    if (pair.gain.pays_from) count(out, "pays_from_depth", *pair.gain.pays_from);
    number(out, "most", pair.gain.most.ratio);
    out.end_object();
  }
  out.end_array();
  out.key("scaling");
  out.begin_array();
  for (const auto& pair : c.scaled) {
    for (const auto& one : pair.at) {
      out.begin_object();
      count(out, "few", pair.few);
      count(out, "many", pair.many);
      count(out, "depth", one.depth);
      number(out, "ratio", one.ratio);
      text(out, "how", word(one.how));
      out.end_object();
    }
  }
  out.end_array();
}

}  // namespace

std::string render_comparison_json(const Comparison& c, const std::string& tool_version) {
  JsonWriter out;
  out.begin_object();
  text(out, "schema", "mountaudit.compare/1");
  out.key("tool");
  out.begin_object();
  text(out, "name", "mountaudit");
  text(out, "version", tool_version);
  out.end_object();
  count(out, "runs", c.runs);
  out.key("curves");  // the pairs below name them by their place, from 0
  out.begin_array();
  for (const auto& curve : c.curves) write_curve(out, curve);
  out.end_array();
  write_pairs(out, c);
  out.key("verdicts");
  out.begin_array();
  for (const auto& verdict : c.verdicts) {
    out.begin_object();
    text(out, "kind", verdict.kind);
    text(out, "about", verdict.about);
    text(out, "load", verdict.load);
    text(out, "text", verdict.text);
    out.end_object();
  }
  out.end_array();
  out.end_object();
  return out.take() + "\n";
}

}  // namespace audit
