#include "cli/judge.h"

#include <fmt/format.h>

#include <cstdlib>
#include <ctime>

#include "audit/base/text.h"
#include "cli/commands.h"
#include "cli/gather.h"
#include "probes/io/host.h"

namespace cli {

namespace {

using base::ErrorKind;
using base::Result;

std::string today() {
  std::time_t now = std::time(nullptr);
  if (const char* epoch = std::getenv("SOURCE_DATE_EPOCH")) {
    if (const auto seconds = base::number<std::int64_t>(epoch)) now = static_cast<std::time_t>(*seconds);
  }
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  return fmt::format("{:04}-{:02}-{:02}", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday);
}

}  // namespace

Result<Outlets> open_outlets(const Settings& settings) {
  Outlets outlets;
  if (!settings.format.empty()) outlets.on_stdout = audit::find_format(settings.format);
  for (const auto& report : settings.report) {
    const auto equals = report.find('=');
    const audit::Format* format = audit::find_format(report.substr(0, equals));
    const std::string path = report.substr(equals + 1);
    if (path == "-") {
      if (outlets.on_stdout != nullptr)
        return base::fail(ErrorKind::usage, "", "two reports go to standard output: give one of them a file");
      outlets.on_stdout = format;
      continue;
    }
    auto file = ReportFile::open(path);
    if (!file) return tl::unexpected(file.error());
    outlets.files.emplace_back(format, std::move(*file));
  }
  if (outlets.on_stdout == nullptr) outlets.on_stdout = audit::find_format("text");
  return outlets;
}

Result<Judge> make_judge(const Settings& settings) {
  auto rules = gather_rules(settings);
  if (!rules) return tl::unexpected(rules.error());
  Judge judge{std::move(*rules), {}};
  for (const auto& path : settings.waive) {
    const auto text = probes::read_file(path);
    if (!text) return tl::unexpected(text.error());
    auto waivers = audit::load_waivers(*text, path);
    if (!waivers) return tl::unexpected(waivers.error());
    judge.options.waivers.insert(judge.options.waivers.end(), waivers->begin(), waivers->end());
  }
  for (const auto& glob : settings.only) {
    bool hit = false;
    for (const auto& rule : judge.rules.rules) hit = hit || base::glob_match(glob, rule.id);
    if (!hit)
      return base::fail(
          ErrorKind::usage, "",
          fmt::format("--only \"{}\" matches no rule; see mountaudit rules list", base::escape_control(glob)));
  }
  judge.options.profiles = settings.profile;
  judge.options.only = settings.only;
  judge.options.skip = settings.skip;
  judge.options.now = settings.now;
  judge.options.japanese = language_of(settings) == "ja";
  judge.options.today = today();
  judge.options.tool_version = MOUNTAUDIT_VERSION;
  return judge;
}

namespace {

audit::RenderOptions render_options(const Settings& settings, int lines) {
  audit::RenderOptions options;
  options.verbose = settings.verbose;
  options.language = language_of(settings) == "ja" ? audit::Language::ja : audit::Language::en;
  options.lines = lines;
  return options;
}

audit::Report judged(const Judge& judge, const facts::Facts& facts, std::chrono::steady_clock::time_point started) {
  audit::Report report = audit::judge(facts, judge.rules, judge.options);
  report.duration_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  return report;
}

// A report on its way: whoever takes it says where the pieces go.
Pieces pieces(const audit::Format& format, const audit::Report& report, const audit::RenderOptions& options) {
  return [&](const base::Sink& sink) {
    format.write != nullptr ? format.write(report, sink) : sink(format.render(report, options));
  };
}

}  // namespace

void show_so_far(const Settings& settings, const Judge& judge, const facts::Facts& facts,
                 std::chrono::steady_clock::time_point started) {
  audit::RenderOptions options = render_options(settings, 24);
  options.verbose = false;
  const audit::Format* text = audit::find_format("text");
  talk("So far, without the answers of the servers:\n\n" + text->render(judged(judge, facts, started), options) + "\n");
}

Result<int> judge_and_report(const Settings& settings, const Judge& judge, const facts::Facts& facts, Outlets& outlets,
                             std::chrono::steady_clock::time_point started, int lines) {
  const audit::Report report = judged(judge, facts, started);
  audit::RenderOptions options = render_options(settings, lines);
  for (auto& [format, file] : outlets.files) {
    if (auto written = file.write(pieces(*format, report, options)); !written) return tl::unexpected(written.error());
  }
  options.color = color_wanted(settings.color);
  options.width = columns();
  base::Result<void> printed;
  pieces(*outlets.on_stdout, report, options)([&](std::string_view piece) {
    if (printed) printed = print(piece);
  });
  if (!printed) return tl::unexpected(printed.error());

  if (signal_seen() != 0) return 128 + signal_seen();
  if (settings.fail_on == "never") return ok;
  const auto least = audit::severity_from(settings.fail_on).value_or(audit::Severity::error);
  for (const auto& finding : report.findings) {
    if (finding.severity >= least) return findings;
  }
  return ok;
}

}  // namespace cli
