#include "probes/load/passes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace load {
namespace {

double mean_of(std::span<const double> values) {
  return values.empty() ? 0 : std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double percent_apart(double a, double b) { return b == 0 ? 0 : std::abs(a - b) / b * 100; }

// Two-sided 95 % quantile of Student's distribution by degrees of freedom; the normal one beyond the table.
double t_quantile(std::size_t freedom) {
  static constexpr std::array<double, 31> table{
      0,     12.71, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
      2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042};
  return freedom < table.size() ? table[freedom] : 1.96 + 2.4 / static_cast<double>(freedom);
}

bool differs(const Record& first, std::span<const Record* const> others) {
  std::vector<double> iops;
  std::vector<double> latency;
  for (const auto* other : others) {
    iops.push_back(other->iops());
    latency.push_back(other->latency.mean_ns());
  }
  return percent_apart(first.iops(), mean_of(iops)) > first_pass_limit ||
         percent_apart(first.latency.mean_ns(), mean_of(latency)) > first_pass_limit;
}

}  // namespace

double confidence_percent(std::span<const double> values) {
  if (values.size() < 2) return 0;
  const double mean = mean_of(values);
  if (mean <= 0) return 0;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  const auto count = static_cast<double>(values.size());
  return t_quantile(values.size() - 1) * std::sqrt(squares / (count - 1) / count) / mean * 100;
}

Agreement agreement(std::span<const Record* const> passes) {
  Agreement out;
  out.kept.resize(passes.size());
  std::vector<const Record*> kept;
  for (std::size_t i = 0; i < passes.size(); ++i) {
    out.kept[i] = passes[i]->end == End::complete || passes[i]->end == End::bytes;
    if (out.kept[i]) kept.push_back(passes[i]);
  }
  // With two passes nobody can say which of them is the odd one.
  if (kept.size() >= 3 && out.kept[0] && differs(*kept[0], std::span(kept).subspan(1))) {
    out.kept[0] = false;
    out.first_discarded = true;
    kept.erase(kept.begin());
    out.why = "first pass differs and is left out";
  }
  std::vector<double> iops;
  std::vector<double> means;
  std::vector<double> seconds;
  for (const auto* pass : kept) {
    iops.push_back(pass->iops());
    means.push_back(pass->latency.mean_ns() / 1000);
    for (std::size_t i = 0; i < pass->interval_count; ++i)
      seconds.push_back(static_cast<double>(pass->intervals[i].ops) / pass->interval_s);
  }
  out.iops = mean_of(iops);
  out.mean_us = mean_of(means);
  if (iops.size() >= 2 && out.iops > 0) {
    const auto [low, high] = std::minmax_element(iops.begin(), iops.end());
    out.spread_percent = (*high - *low) / out.iops * 100;
  }
  out.confidence_percent = confidence_percent(seconds.size() >= 4 ? seconds : iops);
  if (out.spread_percent > noise_limit) {
    out.too_noisy = true;
    out.why = fmt::format("passes lie {:.0f} % apart: too noisy to judge", out.spread_percent);
  }
  return out;
}

}  // namespace load
