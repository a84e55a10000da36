// mountaudit compare, demo compare: measured runs side by side.
#include <fmt/format.h>

#include "audit/base/text.h"
#include "audit/eval/comparison.h"
#include "audit/eval/engine.h"
#include "audit/report/compare.h"
#include "cli/commands.h"
#include "cli/gather.h"
#include "cli/output.h"
#include "cli/sample.h"
#include "probes/redact.h"
#include "probes/results/runs.h"
#include "probes/results/size_text.h"

namespace cli {

namespace {

using base::ErrorKind;
using base::Result;

constexpr std::size_t max_curves = 200;  // each is held against each other

Result<double> rate(const std::string& text, const char* option) {
  const auto value = base::real(text);
  if (value && *value > 0 && *value < 1e12) return *value;
  return base::fail(ErrorKind::usage, "",
                    fmt::format("{} \"{}\" is no number of requests a second", option, base::escape_control(text)));
}

Result<void> add_need(const Settings& settings, facts::LatencyNeed& need) {
  if (!settings.wanted.empty()) {
    const auto wanted = rate(settings.wanted, "--wanted");
    if (!wanted) return tl::unexpected(wanted.error());
    need.wanted_iops = *wanted;
  }
  if (!settings.guaranteed.empty()) {
    const auto guaranteed = rate(settings.guaranteed, "--guaranteed");
    if (!guaranteed) return tl::unexpected(guaranteed.error());
    need.guaranteed_iops = *guaranteed;
  }
  if (!settings.cache.empty()) {
    const auto size = probes::parse_size(settings.cache);
    if (!size || *size == 0)
      return base::fail(ErrorKind::usage, "",
                        fmt::format("--cache \"{}\" is no size (128g, 512m)", base::escape_control(settings.cache)));
    need.cache_bytes = *size;
  }
  if (!settings.media.empty()) need.media = settings.media;
  if (!settings.depth_in_use.empty()) {
    const auto depth = base::number<std::uint32_t>(settings.depth_in_use);
    if (!depth || *depth == 0)
      return base::fail(
          ErrorKind::usage, "",
          fmt::format("--depth \"{}\" is no whole number from 1", base::escape_control(settings.depth_in_use)));
    need.depth = *depth;
  }
  return {};
}

Result<int> digits_of(const Settings& settings) {
  if (settings.digits.empty()) return 2;
  const auto digits = base::number<unsigned>(settings.digits);
  if (digits && *digits <= 4) return static_cast<int>(*digits);
  return base::fail(ErrorKind::usage, "",
                    fmt::format("--digits \"{}\" is no number from 0 to 4", base::escape_control(settings.digits)));
}

Result<int> print_comparison(const Settings& settings, facts::Latency latency) {
  const auto digits = digits_of(settings);
  if (!digits) return tl::unexpected(digits.error());
  if (auto added = add_need(settings, latency.need); !added) return tl::unexpected(added.error());
  if (!settings.sum) probes::number_passes(latency.runs);
  if (settings.sum) {
    auto summed = audit::sum_runs(latency.runs);
    latency.runs = std::move(summed.runs);
    for (const auto& doubt : summed.doubts)
      if (!settings.quiet) say(doubt);
  }
  const std::size_t curves = audit::latency_curves(latency.runs).size();
  if (curves > max_curves)
    return base::fail(
        ErrorKind::usage, "",
        fmt::format("the files hold {} curves (label, load, clients), {} are compared at most", curves, max_curves));
  facts::Facts document;
  document.latency = std::move(latency);
  if (settings.redact) document = probes::Redactor().redact(std::move(document));
  const auto rules = gather_rules(settings);
  if (!rules) return tl::unexpected(rules.error());
  audit::JudgeOptions options;
  options.only = {"LAT-*", "SEL-*"};
  options.also = {{"pre-benchmark", "mountaudit compare"}};
  options.japanese = false;
  auto comparison = audit::compare_runs(document.latency);
  for (const auto& finding : audit::judge(document, *rules, options).findings)
    comparison.findings.push_back(
        {finding.rule, finding.severity, finding.subject.id, finding.text.message, finding.text.recommendation});
  if (settings.format == "json") {
    if (auto printed = print(audit::render_comparison_json(comparison, MOUNTAUDIT_VERSION)); !printed)
      return tl::unexpected(printed.error());
    return ok;
  }
  if (auto printed = print(audit::render_comparison_text(comparison, *digits, true)); !printed)
    return tl::unexpected(printed.error());
  return ok;
}

void say_notes(const std::vector<probes::Note>& notes, const std::string& where) {
  for (const auto& note : notes)
    say(note.line > 0 ? fmt::format("{}:{}: {}", where, note.line, note.reason)
                      : fmt::format("{}: {}", where, note.reason));
}

}  // namespace

Result<int> run_compare(const Settings& settings) {
  facts::Latency all;
  for (const auto& argument : settings.words) {
    auto read = probes::read_runs(argument);
    if (!read) return tl::unexpected(read.error());
    if (!settings.quiet) say_notes(read->notes, argument == "-" ? "standard input" : argument);
    // Files of --sum are the nodes of one run: a run of each is the same pass.
    if (settings.sum) probes::number_passes(read->facts.runs);
    all.runs.insert(all.runs.end(), read->facts.runs.begin(), read->facts.runs.end());
    if (!read->facts.need.wanted_iops.is_unknown() || !read->facts.need.guaranteed_iops.is_unknown())
      all.need = read->facts.need;
  }
  return print_comparison(settings, std::move(all));
}

Result<int> run_demo_compare(const Settings& settings) {
  auto parsed = probes::parse_runs(sample_runs(), "the bundled sample");
  if (!parsed) return tl::unexpected(parsed.error());
  return print_comparison(settings, std::move(parsed->facts));
}

}  // namespace cli
