// The analysis of measured runs on published tables: what the articles print must come out to the digit.
#include <catch2/catch.hpp>
#include <map>

#include "audit/eval/comparison.h"
#include "audit/eval/latency_analysis.h"

using namespace audit;

namespace {

facts::LatencyRun run(const std::string& label, std::uint32_t depth, double iops,
                      const std::string& pattern = "randread", std::uint64_t block = 4096) {
  facts::LatencyRun r;
  r.label = label;
  r.depth = depth;
  r.iops = iops;
  r.pattern = pattern;
  r.block_bytes = block;
  return r;
}

LatencyCurve curve(std::vector<std::pair<std::uint32_t, double>> points) {
  std::vector<facts::LatencyRun> runs;
  for (const auto& [depth, iops] : points) runs.push_back(run("a", depth, iops));
  return latency_curves(runs).front();
}

LatencyCurve ladder(const std::vector<double>& iops) {
  std::vector<std::pair<std::uint32_t, double>> points;
  for (std::size_t i = 0; i < iops.size(); ++i) points.emplace_back(1U << i, iops[i]);
  return curve(points);
}

const std::vector<double> san_read{4394, 10275, 21302, 38704, 65668, 106533, 136682, 135911};
const std::vector<double> nc8_read{1804, 4072, 8190, 15606, 25724, 58893, 108739, 121113};
const std::vector<double> nc1_read{1796, 4152, 8081, 15152, 24247, 36535, 50807, 48758};
const std::vector<double> san_write{2240, 4628, 9513, 16387, 26607, 36975, 42132, 42771};
const std::vector<double> nc8_write{1970, 3874, 7569, 13556, 23655, 34686, 41759, 42824};
const std::vector<double> nc1_write{1986, 3545, 6765, 12301, 20756, 30471, 36840, 37253};

bool said(const Comparison& c, const std::string& kind, const std::string& part) {
  for (const auto& verdict : c.verdicts)
    if (verdict.kind == kind && verdict.text.find(part) != std::string::npos) return true;
  return false;
}

}  // namespace

TEST_CASE("latency: ratios are rounded half-up in decimal, not to even and not in binary") {
  CHECK(half_up(2.4357, 1) == "2.4");
  CHECK(half_up(0.125, 2) == "0.13");
  CHECK(half_up(1.005, 2) == "1.01");  // 1.00499999999999989... in binary
  CHECK(half_up(2.5, 0) == "3");
  CHECK(half_up(-0.6, 1) == "-0.6");
  CHECK(half_up(-0.001, 2) == "0.00");
  CHECK(half_up(58000.0 / 40000.0, 2) == "1.45");
  CHECK(half_up(250000.0 / 200000.0, 2) == "1.25");
  CHECK(grouped(136682) == "136,682");
  CHECK(grouped(999) == "999");
  CHECK(grouped(1234567) == "1,234,567");
}

TEST_CASE("latency: efficient depth and ceiling of the six published curves") {
  struct Row {
    const char* name;
    const std::vector<double>* iops;
    std::uint32_t efficient, top;
  };
  for (const Row& row : {Row{"SAN read", &san_read, 32, 64}, Row{"nc8 read", &nc8_read, 64, 64},
                         Row{"nc1 read", &nc1_read, 32, 64}, Row{"SAN write", &san_write, 16, 32},
                         Row{"nc8 write", &nc8_write, 32, 64}, Row{"nc1 write", &nc1_write, 32, 64}}) {
    INFO(row.name);
    const LatencyCurve c = ladder(*row.iops);
    REQUIRE(efficient_depth(c) != nullptr);
    CHECK(efficient_depth(c)->depth == row.efficient);
    REQUIRE(ceiling(c) != nullptr);
    CHECK(ceiling(c)->depth == row.top);
  }
}

TEST_CASE("latency: a curve that still grows has no ceiling, and one point has no marks") {
  CHECK(ceiling(ladder({100, 200, 400})) == nullptr);
  CHECK(efficient_depth(ladder({100})) == nullptr);
  // Without twice the depth there is no doubling to judge.
  CHECK(ceiling(curve({{1, 100}, {4, 101}, {16, 101}})) == nullptr);
  // IOPS stay, but the latency does too: the load was not closed, nothing is said.
  auto flat = ladder({100, 101});
  flat.points[1].mean_us = flat.points[0].mean_us;
  CHECK(ceiling(flat) == nullptr);
}

TEST_CASE("latency: SAN writes at depth 64 have no headroom left, whatever the plot looks like") {
  const auto doubled = doubling_from(ladder(san_write), 64);
  REQUIRE(doubled);
  CHECK(half_up(doubled->iops * 100, 1) == "1.5");
  CHECK(millis(doubled->from_us) == "1.52 ms");
  CHECK(millis(doubled->to_us) == "2.99 ms");
  CHECK_FALSE(doubling_from(ladder(san_write), 128));
}

TEST_CASE("latency: more connections pay from depth 32 on for reads, for writes nowhere") {
  const ConnectionGain reads = connection_gain(ladder(nc8_read), ladder(nc1_read));
  CHECK(reads.no_gain_upto == 16U);
  CHECK(reads.pays_from == 32U);
  CHECK(reads.most.depth == 128);
  CHECK(half_up(reads.most.ratio, 2) == "2.48");
  const ConnectionGain writes = connection_gain(ladder(nc8_write), ladder(nc1_write));
  CHECK_FALSE(writes.pays_from);
  CHECK(half_up(writes.most.ratio, 2) == "1.15");
  // A gain in the middle that is lost again is no depth "from which" it pays.
  CHECK_FALSE(connection_gain(ladder({100, 200, 300}), ladder({100, 100, 300})).pays_from);
}

TEST_CASE("latency: labels with and without their count of connections are one stem") {
  CHECK(label_stem("NAS nc8") == "NAS");
  CHECK(label_stem("NAS nconnect=16 LIF1") == "NAS LIF1");
  CHECK(label_stem("nc8") == "nc8");
  CHECK(label_stem("ncx nas") == "ncx nas");
  CHECK(label_stem("sync8") == "sync8");
}

TEST_CASE("latency: scaling from N to 2N clients, linear and saturated") {
  const auto few = curve({{1, 7460}, {4, 30888}, {16, 83059}, {64, 102983}});
  const auto many = curve({{1, 14869}, {4, 61645}, {16, 162501}, {64, 207877}});
  for (const auto& one : scaling(few, many)) CHECK(one.how == Scales::linear);
  const auto nas3 = curve({{1, 5584}, {4, 23079}, {16, 71570}, {64, 108122}});
  const auto nas6 = curve({{1, 10707}, {4, 41563}, {16, 92993}, {64, 115976}});
  const auto nas = scaling(nas3, nas6);
  REQUIRE(nas.size() == 4);
  CHECK(nas[0].how == Scales::linear);
  CHECK(nas[1].how == Scales::partly);
  CHECK(nas[2].how == Scales::partly);
  CHECK(nas[3].how == Scales::saturated);
  CHECK(half_up(nas[3].ratio, 2) == "1.07");
}

TEST_CASE("latency: the first of three passes is left out when it differs, and told as a warm cache") {
  std::vector<facts::LatencyRun> runs;
  for (const double iops : {500.0, 1000.0, 1020.0}) {
    runs.push_back(run("a", 1, iops));
    runs.back().pass = static_cast<std::uint32_t>(runs.size());
  }
  const auto curves = latency_curves(runs);
  REQUIRE(curves.size() == 1);
  const LatencyPoint& point = curves[0].points.front();
  CHECK(point.iops == Approx(1010));
  CHECK(point.left_out == std::vector<std::uint32_t>{0});
  CHECK(point.spread == Approx(20.0 / 1010));
  REQUIRE(warm_ratio(point));
  CHECK(*warm_ratio(point) == Approx(2.02));
  CHECK(point.mean_us == Approx(1e6 / 1010));
  CHECK(point.mean_by_little);
  runs[0].iops = 1005;  // no different: it counts
  CHECK(latency_curves(runs)[0].points.front().left_out.empty());
  // Of two passes nobody can say which is the odd one.
  runs[0].iops = 500;
  runs.pop_back();
  CHECK(latency_curves(runs)[0].points.front().left_out.empty());
  facts::Latency latency;
  latency.runs = runs;
  CHECK(said(compare_runs(latency), "noise", "too noisy to judge"));
}

TEST_CASE("latency: runs of an open loop make no curve") {
  auto open = run("a", 1, 100);
  open.loop = "open";
  CHECK(latency_curves({open}).empty());
  facts::Latency latency;
  latency.runs = {open};
  CHECK(compare_runs(latency).open_loop == 1);
}

TEST_CASE("latency: a limit in IOPS, one in MB/s, and a curve that is neither") {
  const auto of = [](const std::map<std::uint64_t, std::pair<double, double>>& sizes) {
    std::vector<facts::LatencyRun> runs;
    for (const auto& [size, iops] : sizes) {
      runs.push_back(run("a", 16, iops.first, "randread", size));
      runs.push_back(run("a", 32, iops.second, "randread", size));
    }
    return latency_curves(runs);
  };
  const auto signature = [](const std::vector<LatencyCurve>& curves) {
    std::vector<const LatencyCurve*> sizes;
    for (const auto& c : curves) sizes.push_back(&c);
    return qos_signature(sizes);
  };
  const auto iops = signature(of({{4096, {5000, 5010}}, {16384, {4990, 5000}}, {65536, {4980, 4995}}}));
  CHECK(iops.flat == Flat::iops);
  CHECK(iops.limit == Approx(5000).epsilon(0.01));
  const auto mbps = signature(of({{4096, {24414, 24500}}, {16384, {6103, 6110}}, {65536, {1526, 1530}}}));
  CHECK(mbps.flat == Flat::mbps);
  CHECK(mbps.limit == Approx(100.2).epsilon(0.01));
  // Flat IOPS that twice the depth doubles: the fixed cost of a request, no limit.
  CHECK(signature(of({{4096, {5000, 9900}}, {16384, {4990, 9800}}, {65536, {4980, 9700}}})).flat == Flat::no);
  CHECK(signature(of({{4096, {50000, 50100}}, {16384, {30000, 30100}}, {65536, {12000, 12100}}})).flat == Flat::no);
  // Two sizes are too few, and 4k to 8k too near.
  CHECK(signature(of({{4096, {5000, 5010}}, {65536, {4990, 5000}}})).flat == Flat::no);
}

TEST_CASE("latency: what a request costs by itself and by its size") {
  std::vector<facts::LatencyRun> runs;
  for (const std::uint64_t kib : {4U, 16U, 64U, 256U})
    runs.push_back(run("a", 1, 1e6 / (200 + 2.5 * static_cast<double>(kib)), "randread", kib * 1024));
  const auto curves = latency_curves(runs);
  std::vector<const LatencyCurve*> sizes;
  for (const auto& c : curves) sizes.push_back(&c);
  const auto cost = block_cost(sizes);
  REQUIRE(cost);
  CHECK(cost->fixed_us == Approx(200));
  CHECK(cost->per_kib_us == Approx(2.5));
  CHECK(cost->fit == Approx(1));
  sizes.resize(2);
  CHECK_FALSE(block_cost(sizes));
}

TEST_CASE("latency: a smaller range that is faster fits a cache") {
  auto small = run("cluster", 1, 250000), large = run("cluster", 1, 206000);
  small.working_set_bytes = 50ULL << 30;
  large.working_set_bytes = 600ULL << 30;
  facts::Latency latency;
  latency.runs = {small, large};
  latency.need.cache_bytes = 512ULL << 30;
  const auto c = compare_runs(latency);
  CHECK(said(c, "cache", "cluster 50 GiB is 1.21x as fast as over 600 GiB"));
  CHECK(said(c, "cache", "cluster 50 GiB ranges over 50 GiB, less than the cache of 512 GiB"));
  CHECK_FALSE(said(c, "cache", "cluster 600 GiB ranges"));
}

TEST_CASE("latency: a wanted rate is read off the curve") {
  const auto nas = ladder(nc8_read);
  REQUIRE(latency_at_us(nas, 20000));
  CHECK(*latency_at_us(nas, 20000) < 1000);  // below a millisecond, as published for 20,000 IOPS
  CHECK(*latency_at_us(nas, 20000) > nas.at(8)->mean_us);
  CHECK(*latency_at_us(nas, 10) == nas.at(1)->mean_us);
  CHECK_FALSE(latency_at_us(nas, 200000));
}

TEST_CASE("latency: what a file system of FSx should give") {
  CHECK(fsx_expected_iops(2048, std::nullopt, 512) == 6144.0);  // 3 per GB, below the tier's 18,750
  CHECK(fsx_expected_iops(10240, std::nullopt, 512) == 18750.0);
  CHECK(fsx_expected_iops(2048, 15000.0, 512) == 15000.0);
  CHECK(fsx_expected_iops(2048, 40000.0, 512) == 18750.0);
  CHECK_FALSE(fsx_expected_iops(2048, std::nullopt, 300));
}

TEST_CASE("latency: runs of several nodes are added up, and those that did not run together are named") {
  auto a = run("nas", 16, 1000), b = run("nas", 16, 3000);
  a.clients = 1U;
  b.clients = 2U;
  a.lat_mean_us = 400.0;
  b.lat_mean_us = 800.0;
  a.histogram = {{100, 90}, {200, 10}};
  b.histogram = {{200, 99}, {5000, 1}};
  a.started = b.started = "2026-01-01T00:00:00Z";
  a.seconds = b.seconds = 60.0;
  auto sum = sum_runs({a, b});
  REQUIRE(sum.runs.size() == 1);
  CHECK(sum.runs[0].iops == 4000);
  CHECK(sum.runs[0].clients == 3U);
  CHECK(sum.runs[0].lat_mean_us == 700.0);
  CHECK(sum.runs[0].lat_p50_us == 200.0);
  CHECK(sum.runs[0].lat_p999_us == 5000.0);
  CHECK(sum.doubts.empty());
  b.histogram.clear();
  CHECK(sum_runs({a, b}).runs[0].lat_p99_us.is_unknown());
  b.started = "2026-01-01T00:00:40Z";
  REQUIRE(sum_runs({a, b}).doubts.size() == 1);
  CHECK(sum_runs({a, b}).doubts[0].find("together for 20 s of 60 s") != std::string::npos);
  CHECK(sum_runs({a}).doubts.size() == 1);
}
