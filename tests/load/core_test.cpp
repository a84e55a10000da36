// Percentiles, block orders, plans and the agreement of passes: no socket, no clock.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <memory>
#include <random>
#include <vector>

#include "probes/load/block_order.h"
#include "probes/load/histogram.h"
#include "probes/load/passes.h"
#include "probes/load/plan.h"

using namespace load;

namespace {

double exact_percentile(std::vector<std::uint64_t> sorted, double percent) {
  std::sort(sorted.begin(), sorted.end());
  const auto rank = static_cast<std::size_t>(std::ceil(static_cast<double>(sorted.size()) * percent / 100));
  return static_cast<double>(sorted[std::max<std::size_t>(rank, 1) - 1]);
}

// x^n modulo the polynomial of a Galois register, as polynomials over GF(2).
std::uint64_t times(std::uint64_t a, std::uint64_t b, std::uint64_t polynomial, unsigned bits) {
  std::uint64_t out = 0;
  for (; b != 0; b >>= 1) {
    if ((b & 1) != 0) out ^= a;
    a <<= 1;
    if ((a >> bits & 1) != 0) a ^= polynomial;
  }
  return out;
}
std::uint64_t power_of_x(std::uint64_t exponent, std::uint64_t polynomial, unsigned bits) {
  std::uint64_t out = 1;
  std::uint64_t base = 2;
  for (; exponent != 0; exponent >>= 1) {
    if ((exponent & 1) != 0) out = times(out, base, polynomial, bits);
    base = times(base, base, polynomial, bits);
  }
  return out;
}
std::vector<std::uint64_t> prime_factors(std::uint64_t number) {
  std::vector<std::uint64_t> out;
  for (std::uint64_t factor = 2; factor * factor <= number; ++factor) {
    if (number % factor != 0) continue;
    out.push_back(factor);
    while (number % factor == 0) number /= factor;
  }
  if (number > 1) out.push_back(number);
  return out;
}

std::unique_ptr<Record> pass_of(double iops, double latency_us, End end = End::complete) {
  auto record = std::make_unique<Record>();
  record->seconds = 10;
  record->ops = static_cast<std::uint64_t>(iops * 10);
  for (int i = 0; i < 100; ++i) record->latency.add(static_cast<std::uint64_t>(latency_us * 1000));
  for (int i = 0; i < 10; ++i)
    record->add_interval({static_cast<std::uint64_t>(iops), 0, latency_us, latency_us, latency_us});
  record->end = end;
  return record;
}

Agreement agree(const std::vector<std::unique_ptr<Record>>& passes) {
  std::vector<const Record*> views;
  for (const auto& pass : passes) views.push_back(pass.get());
  return agreement(views);
}

}  // namespace

TEST_CASE("histogram: percentiles lie within 0.2 % of those of the sorted samples") {
  std::mt19937_64 random(42);
  std::lognormal_distribution<double> latency(11.5, 1.2);  // around 100 us, with a long tail
  auto histogram = std::make_unique<Histogram>();
  std::vector<std::uint64_t> samples;
  for (int i = 0; i < 200000; ++i) {
    samples.push_back(static_cast<std::uint64_t>(latency(random)));
    histogram->add(samples.back());
  }
  for (const double percent : {0.0, 1.0, 25.0, 50.0, 90.0, 99.0, 99.9, 99.99, 100.0}) {
    const double exact = exact_percentile(samples, percent);
    CHECK(std::abs(histogram->percentile_ns(percent) - exact) <= exact * 0.002);
  }
  CHECK(histogram->count() == samples.size());
  CHECK(histogram->max_ns() == *std::max_element(samples.begin(), samples.end()));
  CHECK(histogram->min_ns() == *std::min_element(samples.begin(), samples.end()));
}

TEST_CASE("histogram: mean, deviation, small values, none, and very long ones") {
  auto histogram = std::make_unique<Histogram>();
  CHECK(histogram->percentile_ns(50) == 0);
  CHECK(histogram->mean_ns() == 0);
  for (const std::uint64_t value : {1000ULL, 2000ULL, 3000ULL, 4000ULL}) histogram->add(value);
  CHECK(histogram->mean_ns() == Approx(2500));
  CHECK(histogram->stddev_ns() == Approx(1118.034).epsilon(1e-6));
  CHECK(histogram->percentile_ns(50) == Approx(2000).epsilon(0.002));
  CHECK(histogram->percentile_ns(51) == Approx(3000).epsilon(0.002));
  auto small = std::make_unique<Histogram>();
  for (std::uint64_t value = 0; value < 512; ++value) small->add(value);
  CHECK(small->percentile_ns(50) == 255);  // exact below 512 ns
  auto longest = std::make_unique<Histogram>();
  longest->add(~std::uint64_t{0} >> 1);
  CHECK(longest->percentile_ns(99) > 0);
  CHECK(longest->max_ns() == ~std::uint64_t{0} >> 1);
}

TEST_CASE("histogram: the sum of two is that of all samples, and its buckets hold each once") {
  auto one = std::make_unique<Histogram>();
  auto two = std::make_unique<Histogram>();
  auto both = std::make_unique<Histogram>();
  for (std::uint64_t i = 1; i < 5000; ++i) {
    (i % 3 == 0 ? *one : *two).add(i * i);
    both->add(i * i);
  }
  one->add(*two);
  CHECK(one->percentile_ns(99) == both->percentile_ns(99));
  CHECK(one->stddev_ns() == Approx(both->stddev_ns()));
  for (const int parts : {1, 8, 256}) {
    std::uint64_t count = 0;
    std::uint64_t before = 0;
    for (const auto& bucket : both->octaves(parts)) {
      count += bucket.count;
      CHECK(bucket.upto_ns > before);
      before = bucket.upto_ns;
    }
    CHECK(count == 4999);
  }
}

TEST_CASE("block order: every block once in each round, and another order in the next") {
  for (const std::uint64_t blocks :
       {1ULL, 2ULL, 3ULL, 4ULL, 5ULL, 7ULL, 8ULL, 9ULL, 100ULL, 1000ULL, 4095ULL, 4096ULL, 4097ULL, 65536ULL}) {
    BlockOrder order = BlockOrder::random(blocks, blocks * 7 + 1);
    std::vector<std::uint64_t> first;
    for (int round = 0; round < 3; ++round) {
      std::vector<char> seen(blocks, 0);
      std::vector<std::uint64_t> this_round;
      for (std::uint64_t i = 0; i < blocks; ++i) {
        const auto block = order.next();
        REQUIRE(block < blocks);
        REQUIRE(seen[block] == 0);
        seen[block] = 1;
        this_round.push_back(block);
      }
      CHECK(order.rounds() == static_cast<std::uint64_t>(round));
      if (round == 0) first = this_round;
      if (round == 1 && blocks >= 100) CHECK(this_round != first);
    }
  }
}

TEST_CASE("block order: the same seed gives the same order, another one another") {
  BlockOrder a = BlockOrder::random(100000, 5);
  BlockOrder b = BlockOrder::random(100000, 5);
  BlockOrder c = BlockOrder::random(100000, 6);
  bool differs = false;
  for (int i = 0; i < 1000; ++i) {
    const auto block = a.next();
    CHECK(block == b.next());
    differs = differs || block != c.next();
  }
  CHECK(differs);
}

TEST_CASE("block order: neighbours are rare in a random order") {
  BlockOrder order = BlockOrder::random(1000000, 3);
  std::uint64_t before = order.next();
  int neighbours = 0;
  for (int i = 0; i < 100000; ++i) {
    const auto block = order.next();
    neighbours += block == before + 1 ? 1 : 0;
    before = block;
  }
  CHECK(neighbours < 100);
}

TEST_CASE("block order: sequential wraps at the end") {
  BlockOrder order = BlockOrder::sequential(3, 1);
  std::vector<std::uint64_t> got;
  for (int i = 0; i < 7; ++i) got.push_back(order.next());
  CHECK(got == std::vector<std::uint64_t>{1, 2, 0, 1, 2, 0, 1});
  CHECK(order.rounds() == 2);
}

TEST_CASE("block order: every feedback polynomial is primitive") {
  for (unsigned bits = 2; bits <= 48; ++bits) {
    // A register that shifts right and XORs the mask steps through the powers of x modulo the reciprocal polynomial,
    // which is primitive exactly when the polynomial is.
    const std::uint64_t polynomial = lfsr_taps(bits) << 1 | 1;
    CAPTURE(bits);
    REQUIRE(polynomial >> bits == 1);
    const std::uint64_t period = (std::uint64_t{1} << bits) - 1;
    CHECK(power_of_x(period, polynomial, bits) == 1);
    for (const auto factor : prime_factors(period)) {
      if (factor == period) continue;
      CHECK(power_of_x(period / factor, polynomial, bits) != 1);
    }
  }
}

TEST_CASE("plan: sizes, lists and mixes as the user writes them") {
  CHECK(*parse_bytes("4k", "--block") == 4096);
  CHECK(*parse_bytes("64KiB", "--block") == 65536);
  CHECK(*parse_bytes("1G", "--size") == 1ULL << 30);
  CHECK(*parse_bytes("512", "--block") == 512);
  for (const char* bad : {"", "k", "4kb", "-1", "4 k", "99999999999999999999", "999999999999T"})
    CHECK_FALSE(parse_bytes(bad, "--block"));
  CHECK(*parse_list("1,2,4", "--depth", 1024, false) == std::vector<std::uint64_t>{1, 2, 4});
  CHECK(*parse_list("1..128", "--depth", 1024, false) == std::vector<std::uint64_t>{1, 2, 4, 8, 16, 32, 64, 128});
  CHECK(*parse_list("4k..256k", "--block", 1 << 20, true) ==
        std::vector<std::uint64_t>{4096, 8192, 16384, 32768, 65536, 131072, 262144});
  for (const char* bad : {"", "0", "1,,2", "1..", "..4", "2000", "x"})
    CHECK_FALSE(parse_list(bad, "--depth", 1024, false));
  CHECK_FALSE(parse_list("1000", "--block", 1 << 20, true));
  CHECK(*parse_mix("80:20") == 80);
  CHECK(*parse_mix("0:100") == 0);
  for (const char* bad : {"80", "80:30", "a:b", "80:20:0", "-1:101"}) CHECK_FALSE(parse_mix(bad));
}

TEST_CASE("plan: patterns have fio's names, and mixes say that they write") {
  CHECK(pattern_name({Op::read, true, 100}) == "randread");
  CHECK(pattern_name({Op::read, true, 80}) == "randrw");
  CHECK(pattern_name({Op::write, false, 0}) == "write");
  CHECK(pattern_name({Op::nop, false, 100}) == "nop");
  CHECK(parse_pattern("randwrite")->writes());
  CHECK(Pattern{Op::read, true, 80}.writes());
  CHECK_FALSE(Pattern{Op::read, true, 100}.writes());
  CHECK_FALSE(parse_pattern("readwrite"));
}

TEST_CASE("plan: the presets are those of the articles") {
  const auto preset = [](std::string_view name) {
    for (const auto& one : presets())
      if (one.name == name) return one.make();
    FAIL("no preset " << name);
    return Plan{};
  };
  const Plan blocks = preset("article1-blocks");
  CHECK(blocks.steps.size() == 28);  // 7 sizes, 4 patterns
  CHECK(std::all_of(blocks.steps.begin(), blocks.steps.end(), [](const Step& step) { return step.depth == 1; }));
  CHECK(blocks.seconds == 120);
  CHECK(blocks.ramp_s == 10);
  CHECK(blocks.passes == 3);
  const Plan depth = preset("article1-depth");
  CHECK(depth.steps.size() == 32);  // 8 depths, 2 patterns, 1 and 8 connections
  CHECK(depth.steps.back().depth == 128);
  CHECK(depth.steps.back().connections == 8);
  CHECK(depth.steps.back().block_bytes == 4096);
  const Plan steady = preset("vdi-steady");
  REQUIRE(steady.steps.size() == 1);
  CHECK(steady.steps[0].rate == 3600);
  CHECK(steady.steps[0].block_bytes == 16384);
  CHECK(steady.steps[0].pattern.read_percent == 80);
  CHECK(steady.passes == 5);
  const Plan heavy = preset("vdi-heavy");
  CHECK(heavy.steps[0].rate == 9000);
  CHECK(heavy.steps[0].pattern.read_percent == 20);
  const Plan element = preset("element-4k");
  CHECK(element.steps[0].pattern.read_percent == 80);
  CHECK(element.seconds == 600);
}

TEST_CASE("passes: a first pass that differs is left out, one that agrees is kept") {
  std::vector<std::unique_ptr<Record>> passes;
  passes.push_back(pass_of(9000, 111));
  passes.push_back(pass_of(10000, 100));
  passes.push_back(pass_of(10100, 99));
  auto out = agree(passes);
  CHECK(out.first_discarded);
  CHECK(out.kept == std::vector<bool>{false, true, true});
  CHECK(out.iops == Approx(10050));
  CHECK(out.spread_percent == Approx(0.995).epsilon(0.01));
  CHECK_FALSE(out.too_noisy);
  passes[0] = pass_of(10000, 100);
  out = agree(passes);
  CHECK_FALSE(out.first_discarded);
  CHECK(out.iops == Approx(10033.3).epsilon(1e-4));
}

TEST_CASE("passes: far apart is too noisy to judge - a broken pass does not count - of two none is the odd one") {
  std::vector<std::unique_ptr<Record>> passes;
  passes.push_back(pass_of(10000, 100));
  passes.push_back(pass_of(13000, 80));
  auto out = agree(passes);
  CHECK_FALSE(out.first_discarded);
  CHECK(out.too_noisy);
  CHECK(out.spread_percent == Approx(26.09).epsilon(0.01));
  passes.push_back(pass_of(500, 5000, End::failed));
  out = agree(passes);
  CHECK(out.kept == std::vector<bool>{true, true, false});
  passes.clear();
  CHECK(agree(passes).iops == 0);
}

TEST_CASE("passes: the confidence interval is Student's") {
  const std::vector<double> values{9, 10, 11, 10};
  CHECK(confidence_percent(values) == Approx(12.99).epsilon(0.01));  // 3.182 * 0.8165 / 2 / 10
  CHECK(confidence_percent(std::vector<double>{5}) == 0);
}

TEST_CASE("record: a long series is merged, and nothing is lost") {
  auto record = std::make_unique<Record>();
  for (int i = 0; i < 2000; ++i) record->add_interval({10, 1, 100, 200, static_cast<double>(i)});
  CHECK(record->interval_count < Record::most_intervals);
  std::uint64_t ops = 0;
  double longest = 0;
  for (std::size_t i = 0; i < record->interval_count; ++i) {
    ops += record->intervals[i].ops;
    longest = std::max(longest, record->intervals[i].max_us);
  }
  CHECK(ops == 20000);
  CHECK(longest == 1999);
}
