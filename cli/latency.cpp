// `latency TARGET..`: a table of what was measured, then what the rules say about it.
#include <fmt/format.h>

#include <atomic>
#include <cstdlib>
#include <ctime>
#include <random>

#include "audit/base/text.h"
#include "cli/chap.h"
#include "cli/commands.h"
#include "cli/gather.h"
#include "cli/judge.h"
#include "cli/output.h"
#include "cli/servers.h"
#include "probes/load/measure.h"
#include "probes/redact.h"

namespace cli {

namespace {

using base::ErrorKind;
using base::Result;
using facts::LatencyRun;

tl::unexpected<base::Error> usage(std::string text) { return base::fail(ErrorKind::usage, "", std::move(text)); }

Result<double> seconds_of(const std::string& text, const char* option, double otherwise) {
  if (text.empty()) return otherwise;
  const auto time = parse_time(text, option);
  if (!time) return tl::unexpected(time.error());
  return std::chrono::duration<double>(*time).count();
}

Result<double> positive(const std::string& text, const char* option) {
  const auto number = base::real(text);
  if (number && *number > 0 && *number < 1e9) return *number;
  return usage(fmt::format("{} \"{}\" is no number above 0", option, base::escape_control(text)));
}

// Patterns that the user named, or what the consent and the target suggest.
Result<std::vector<load::Pattern>> patterns_of(const Settings& settings, const load::Target& target,
                                               const load::Consent& consent) {
  std::vector<load::Pattern> patterns;
  for (const auto& name : settings.pattern) {
    const auto pattern = load::parse_pattern(name);
    if (!pattern)
      return usage(
          fmt::format("--pattern \"{}\" is unknown; there are read, randread, write, randwrite, rw, randrw, null, "
                      "getattr, tur, nop",
                      base::escape_control(name)));
    patterns.push_back(*pattern);
  }
  if (!settings.mix.empty()) {
    const auto reads = load::parse_mix(settings.mix);
    if (!reads) return tl::unexpected(reads.error());
    if (patterns.empty()) patterns.push_back({load::Op::read, true});
    for (auto& pattern : patterns) {
      if (!load::moves_data(pattern.op)) return usage("--mix goes with patterns that read or write");
      pattern.op = load::Op::read;
      pattern.read_percent = *reads;
    }
  }
  if (!patterns.empty()) return patterns;
  if (consent.load || load::may_write(target, consent)) return std::vector<load::Pattern>{{load::Op::read, true}};
  switch (target.kind) {
    case load::TargetKind::iscsi: return std::vector<load::Pattern>{{load::Op::tur, false}};
    case load::TargetKind::nfs:
      return std::vector<load::Pattern>{{target.path.empty() ? load::Op::null : load::Op::getattr, false}};
    case load::TargetKind::local: break;
  }
  return std::vector<load::Pattern>{{load::Op::read, true}};  // the consent that lacks is told
}

template <class T>
Result<std::vector<T>> list_of(const std::string& text, const char* option, std::uint64_t most, bool sizes,
                               std::vector<T> otherwise) {
  if (text.empty()) return otherwise;
  const auto values = load::parse_list(text, option, most, sizes);
  if (!values) return tl::unexpected(values.error());
  std::vector<T> out;
  for (const auto value : *values) out.push_back(static_cast<T>(value));
  return out;
}

Result<std::vector<load::Step>> steps_of(const Settings& settings, const load::Target& target,
                                         const load::Consent& consent) {
  const auto patterns = patterns_of(settings, target, consent);
  if (!patterns) return tl::unexpected(patterns.error());
  const bool data = load::moves_data(patterns->front().op);
  const auto blocks = list_of<std::uint32_t>(settings.block, "--block", 1U << 20, true, {data ? 4096U : 0U});
  if (!blocks) return tl::unexpected(blocks.error());
  double rate = 0;
  if (!settings.rate.empty()) {
    const auto given = positive(settings.rate, "--rate");
    if (!given) return tl::unexpected(given.error());
    rate = *given;
  }
  const auto ladder = rate > 0 ? std::vector<unsigned>{128} : data ? load::depth_ladder() : std::vector<unsigned>{1};
  const auto depths = list_of<unsigned>(settings.depth, "--depth", 1024, false, ladder);
  if (!depths) return tl::unexpected(depths.error());
  const auto connections = list_of<unsigned>(settings.connections, "--connections", 64, false, {1});
  if (!connections) return tl::unexpected(connections.error());
  return load::ladder(*patterns, *blocks, *depths, *connections, rate);
}

Result<load::Plan> plan_of(const Settings& settings, const load::Target& target, const load::Consent& consent) {
  load::Plan plan;
  for (const auto& preset : load::presets()) {
    if (preset.name != settings.preset) continue;
    plan = preset.make();
    plan.preset = settings.preset;
  }
  if (plan.preset.empty()) {
    auto steps = steps_of(settings, target, consent);
    if (!steps) return tl::unexpected(steps.error());
    plan.steps = std::move(*steps);
  } else if (!settings.pattern.empty() || !settings.mix.empty() || !settings.block.empty() || !settings.rate.empty() ||
             !settings.depth.empty() || !settings.connections.empty()) {
    return usage("--preset says pattern, block, depth, connections and rate; only times, passes and limits go with it");
  }
  for (const auto& [text, option, into] : {std::tuple{&settings.seconds, "--seconds", &plan.seconds},
                                           {&settings.ramp, "--ramp", &plan.ramp_s},
                                           {&settings.timeout, "--timeout", &plan.timeout_s}}) {
    const auto time = seconds_of(*text, option, *into);
    if (!time) return tl::unexpected(time.error());
    *into = *time;
  }
  if (plan.seconds < 0.1) return usage("--seconds: a tenth of a second at least");
  if (plan.timeout_s <= 0) return usage("--timeout 0 leaves no time to answer");
  if (!settings.passes.empty()) {
    const auto passes = base::number<unsigned>(settings.passes);
    if (!passes || *passes < 1 || *passes > 100) return usage("--passes: a number from 1 to 100");
    plan.passes = *passes;
  }
  for (const auto& [text, option, into] : {std::tuple{&settings.max_bytes, "--max-bytes", &plan.max_bytes},
                                           {&settings.working_set, "--working-set", &plan.working_set_bytes}}) {
    if (text->empty()) continue;
    const auto bytes = load::parse_bytes(*text, option);
    if (!bytes) return tl::unexpected(bytes.error());
    *into = *bytes;
  }
  for (const auto& [text, option, into] : {std::tuple{&settings.max_iops, "--max-iops", &plan.max_iops},
                                           {&settings.guard_p99, "--guard-p99", &plan.guard.p99_ms}}) {
    if (text->empty()) continue;
    const bool time = into == &plan.guard.p99_ms;
    const auto value = time ? seconds_of(*text, option, 0) : positive(*text, option);
    if (!value) return tl::unexpected(value.error());
    *into = time ? *value * 1000 : *value;
  }
  if (!settings.guard_errors.empty()) {
    const auto errors = base::number<std::uint64_t>(settings.guard_errors);
    if (!errors) return usage("--guard-errors: a number");
    plan.guard.errors = *errors;
  }
  plan.seed = std::random_device{}();
  if (!settings.seed.empty()) {
    const auto seed = base::number<std::uint64_t>(settings.seed);
    if (!seed) return usage("--seed: a number");
    plan.seed = *seed;
  }
  return plan;
}

// "14:30", "14:30:00" (today, this node's time) or seconds since 1970 after an @.
Result<std::chrono::system_clock::time_point> start_of(const std::string& text) {
  using std::chrono::system_clock;
  if (text.empty()) return system_clock::time_point{};
  const auto now = system_clock::now();
  system_clock::time_point at;
  if (text.front() == '@') {
    const auto seconds = base::number<std::int64_t>(std::string_view(text).substr(1));
    if (!seconds) return usage("--start-at: 14:30, 14:30:00, or @ and the seconds since 1970");
    at = system_clock::from_time_t(*seconds);
  } else {
    const auto parts = base::split(text, ':');
    std::vector<int> numbers;
    for (const auto part : parts) {
      const auto number = base::number<unsigned>(part);
      if (!number || part.size() > 2 || *number > (numbers.empty() ? 23U : 59U)) break;
      numbers.push_back(static_cast<int>(*number));
    }
    if (numbers.size() != parts.size() || numbers.size() < 2 || numbers.size() > 3)
      return usage("--start-at: 14:30, 14:30:00, or @ and the seconds since 1970");
    const std::time_t today = system_clock::to_time_t(now);
    std::tm local{};
    ::localtime_r(&today, &local);
    local.tm_hour = numbers[0];
    local.tm_min = numbers[1];
    local.tm_sec = numbers.size() == 3 ? numbers[2] : 0;
    at = system_clock::from_time_t(std::mktime(&local));
  }
  if (at <= now) return usage(fmt::format("--start-at {}: that is over", text));
  if (at - now > std::chrono::hours(24)) return usage("--start-at: more than a day from now");
  return at;
}

std::string time_text(const facts::Fact<double>& us) {
  if (!us.has_value()) return "-";
  if (*us >= 1e6) return fmt::format("{:.2f} s", *us / 1e6);
  if (*us >= 10000) return fmt::format("{:.1f} ms", *us / 1000);
  return *us >= 1000 ? fmt::format("{:.2f} ms", *us / 1000) : fmt::format("{:.0f} us", *us);
}

std::string size_text(std::uint64_t bytes) {
  if (bytes % (1ULL << 30) == 0) return fmt::format("{} GiB", bytes >> 30);
  if (bytes >= 1ULL << 20) return fmt::format("{} MiB", bytes >> 20);
  return bytes % 1024 == 0 ? fmt::format("{} KiB", bytes >> 10) : fmt::format("{} bytes", bytes);
}

// Runs of one load under one head, a line for each pass.
std::string table(const std::vector<LatencyRun>& runs) {
  std::string out, before;
  for (const auto& run : runs) {
    std::string head = fmt::format("{}  {}{}", run.label, run.pattern.value_or(""),
                                   run.block_bytes.has_value() ? " " + size_text(*run.block_bytes) : "");
    if (run.read_pct.has_value() && *run.read_pct != 0 && *run.read_pct != 100)
      head += fmt::format(" {}:{}", *run.read_pct, 100 - *run.read_pct);
    if (run.rate_per_s.has_value()) head += fmt::format(", open loop at {:.0f}/s", *run.rate_per_s);
    if (run.working_set_bytes.has_value()) head += ", working set " + size_text(*run.working_set_bytes);
    if (head != before) {
      out += "\n" + base::escape_control(head) + "\n";
      out += fmt::format("  {:>5} {:>4} {:>9} {:>7} {:>8} {:>8} {:>8} {:>8} {:>8}\n", "depth", "pass", "IOPS", "MB/s",
                         "mean", "p50", "p99", "p99.9", "max");
      before = head;
    }
    out +=
        fmt::format("  {:>5} {:>4} {:>9.0f} {:>7.1f} {:>8} {:>8} {:>8} {:>8} {:>8}\n", run.depth, run.pass.value_or(1),
                    run.iops, run.mbps.value_or(0), time_text(run.lat_mean_us), time_text(run.lat_p50_us),
                    time_text(run.lat_p99_us), time_text(run.lat_p999_us), time_text(run.lat_max_us));
    if (run.errors.value_or(0) != 0)
      out += fmt::format("        {} errors, the first: {}\n", *run.errors,
                         base::escape_control(run.first_error.value_or("")));
    if (run.partial.is(true))
      out += fmt::format("        PARTIAL: {}\n", base::escape_control(run.partial_why.value_or("")));
  }
  return out;
}

std::string lines_of(const std::string& head, const std::string& text) {
  std::string out;
  for (const auto& line : base::wrap(head + base::escape_control(text), 78)) out += "  " + line + "\n";
  return out;
}

// What the client adds: the same thing by the kernel's path and by a conversation of our own, at depth 1.
std::string verify_text(const std::vector<LatencyRun>& runs) {
  const auto median = [&](bool kernel) {
    std::vector<double> values;
    for (const auto& run : runs)
      if (run.depth == 1 && run.lat_p50_us.has_value() && run.target.value_or("").starts_with('/') == kernel)
        values.push_back(*run.lat_p50_us);
    std::sort(values.begin(), values.end());
    return values.empty() ? 0.0 : values[values.size() / 2];
  };
  const double kernel = median(true);
  const double wire = median(false);
  if (kernel <= 0 || wire <= 0) return "";
  const double added = kernel - wire;
  std::string text = fmt::format("at depth 1 half of the requests take {} by the kernel's path and {} over the wire: ",
                                 time_text(kernel), time_text(wire));
  text += added > 0 ? fmt::format("the client adds {}, {:.0f} % of what an application sees", time_text(added),
                                  added / kernel * 100)
                    : "the client adds nothing that could be measured";
  return "\n" + lines_of("kernel against wire: ", text);
}

// What the closed loop of a stalled target cannot show.
std::string loop_text(const std::vector<LatencyRun>& runs) {
  for (const auto& run : runs) {
    if (!run.loop.is("open") && run.lat_max_us.value_or(0) > 1e6 && run.lat_p99_us.value_or(0) < 1e5)
      return "\n" +
             lines_of("note: ",
                      fmt::format("a pause of {} was seen. While a target pauses, a closed loop sends nothing, so "
                                  "that the pause is one long request and no percentile shows it; --rate counts "
                                  "every request that was due in that time.",
                                  time_text(run.lat_max_us)));
    if (run.loop.is("open") && run.lat_max_us.value_or(0) > 1e6)
      return "\n" + lines_of("note: ",
                             "requests were due at fixed times and latency counts from then: a pause of the "
                             "target is in every request that it delayed, in the percentiles too. The closed "
                             "loop (without --rate) would show it in its longest request only.");
  }
  return "";
}

struct Asked {
  load::Target target;
  load::Plan plan;
  load::MeasureOptions options;
};

Result<Asked> asked_of(const Settings& settings, const std::string& word, std::chrono::system_clock::time_point start) {
  Asked asked;
  auto target = load::parse_target(word);
  if (!target) return tl::unexpected(target.error());
  asked.target = std::move(*target);
  const load::Consent consent{settings.allow_load, settings.allow_writes};
  auto plan = plan_of(settings, asked.target, consent);
  if (!plan) return tl::unexpected(plan.error());
  asked.plan = std::move(*plan);
  if (auto fits = load::check_operations(asked.target, asked.plan.steps); !fits) return tl::unexpected(fits.error());
  if (auto may = load::check_consent(asked.target, asked.plan.steps, consent); !may) return tl::unexpected(may.error());
  auto& open = asked.options.open;
  open.consent = consent;
  open.nfs_version = settings.nfs_version;
  open.timeout_s = asked.plan.timeout_s;
  open.data = false;
  for (const auto& step : asked.plan.steps) {
    open.writes = open.writes || step.pattern.writes();
    open.data = open.data || load::moves_data(step.pattern.op);
    open.slots = std::max(open.slots, step.depth);
  }
  if (!settings.size.empty()) {
    const auto bytes = load::parse_bytes(settings.size, "--size");
    if (!bytes) return tl::unexpected(bytes.error());
    open.make_bytes = std::max<std::uint64_t>(*bytes >> 20, 1) << 20;
  }
  if (asked.target.kind == load::TargetKind::iscsi) {
    const auto who = iscsi_options(settings, asked.target.user);
    if (!who) return tl::unexpected(who.error());
    open.initiator = who->initiator_name;
    open.chap = who->chap;
  }
  asked.options.host = node_name();
  asked.options.start_at = start;
  asked.options.command = "mountaudit latency " + asked.target.text + fmt::format(" --seed {}", asked.plan.seed);
  return asked;
}

}  // namespace

base::Result<int> run_latency(const Settings& settings) {
  const auto started = std::chrono::steady_clock::now();
  const auto start = start_of(settings.start_at);
  if (!start) return tl::unexpected(start.error());
  if (!settings.verify.empty() && settings.words.size() != 2)
    return usage(
        "--verify kernel-vs-wire wants the same file or device twice: its path on this node, and its nfs:// or "
        "iscsi:// URL");
  std::vector<Asked> all;
  for (const auto& word : settings.words) {
    auto asked = asked_of(settings, word, *start);
    if (!asked) return tl::unexpected(asked.error());
    if (settings.words.size() > 1) asked->options.label = asked->target.text;
    all.push_back(std::move(*asked));
  }
  auto outlets = open_outlets(settings);
  if (!outlets) return tl::unexpected(outlets.error());
  const auto judge = make_judge(settings);
  if (!judge) return tl::unexpected(judge.error());
  note_signals();

  facts::Facts facts;
  facts.node.name = node_name();
  facts.node.root = settings.words.front();
  facts.node.live = true;
  std::string notes;
  bool failed = false;
  const bool progress = progress_wanted(settings.quiet);
  for (auto& asked : all) {
    if (signal_seen() != 0) break;
    if (!settings.quiet && progress)
      say(fmt::format("{}: about {:.0f} s", asked.target.text, asked.plan.planned_seconds()));
    if (progress)
      asked.options.progress = [](const std::string& what, const load::Record& record) {
        talk(fmt::format("\r\x1b[K{}: {:.0f} IOPS", what, record.iops()));
      };
    base::Result<load::Measured> measured;
    run_stoppable([&](const std::atomic<bool>& stop) {
      asked.options.open.stop = &stop;
      measured = load::measure(asked.target, asked.plan, asked.options);
    });
    if (progress) talk("\r\x1b[K");
    if (!measured) {
      const bool local = asked.target.kind == load::TargetKind::local || measured.error().kind == ErrorKind::usage;
      if (local && all.size() == 1 && signal_seen() == 0) return tl::unexpected(measured.error());
      say(base::to_text(measured.error()));
      failed = true;
      continue;
    }
    failed = failed || measured->partial || !measured->left.empty();
    for (const auto& note : measured->notes) notes += lines_of("note: ", note);
    for (const auto& left : measured->left) say("LEFT BEHIND: " + left);
    facts.latency.runs.insert(facts.latency.runs.end(), measured->runs.begin(), measured->runs.end());
  }
  facts.sources.push_back({"latency", "measured", facts.latency.runs.empty() ? "timeout" : "ok", "", {}});
  if (settings.redact) facts = probes::Redactor().redact(std::move(facts));
  if (outlets->on_stdout->name == std::string_view("text")) {
    std::string text = table(facts.latency.runs);
    if (!notes.empty()) text += "\n" + notes;
    if (!settings.verify.empty()) text += verify_text(facts.latency.runs);
    text += loop_text(facts.latency.runs) + "\n";
    if (auto printed = print(text); !printed) return tl::unexpected(printed.error());
  }
  const auto code = judge_and_report(settings, *judge, facts, *outlets, started, 40);
  if (!code) return code;
  return *code == ok && failed && settings.fail_on != "never" ? findings : *code;
}

}  // namespace cli
