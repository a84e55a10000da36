#include "cli/gather.h"

#include <fmt/format.h>

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "audit/base/text.h"
#include "audit/eval/derive_hang.h"
#include "audit/snapshot/document.h"
#include "cli/declare.h"
#include "cli/output.h"
#include "probes/ask_mounted.h"
#include "probes/collect.h"
#include "probes/io/document.h"
#include "probes/io/host.h"
#include "probes/raw_tree.h"
#include "probes/redact.h"
#include "probes/touch_mounts.h"
#include "rules/embedded.h"

namespace cli {

namespace {

using base::ErrorKind;
using base::Result;

// Long enough for a request that hangs to show as one; the findings still appear within a second.
constexpr std::chrono::milliseconds default_gap{250};

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

Result<facts::Facts> load(const std::string& path, bool quiet) {
  const std::string where = path == "-" ? "standard input" : path;
  const auto text = probes::read_document(path);
  if (!text) return tl::unexpected(text.error());
  auto loaded = snapshot::from_json(*text, where);
  if (!loaded) return tl::unexpected(loaded.error());
  if (!quiet) {
    for (const auto& note : loaded->notes) say(where + ": " + note);
  }
  return std::move(loaded->facts);
}

Result<std::unique_ptr<probes::Host>> open_host(const Settings& settings) {
  if (settings.input.empty()) return probes::open_root(settings.root.empty() ? "/" : settings.root);
  std::vector<probes::InputArgument> inputs;
  for (const auto& text : settings.input) {
    auto input = probes::parse_input_argument(text);
    if (!input) return tl::unexpected(input.error());
    inputs.push_back(std::move(*input));
  }
  return probes::open_inputs(inputs);
}

Result<void> check_sources(const Settings& settings) {
  std::vector<std::string> given;
  if (!settings.root.empty()) given.emplace_back("--root");
  if (!settings.from.empty()) given.emplace_back("--from");
  if (!settings.input.empty()) given.emplace_back("--input");
  if (given.size() > 1)
    return base::fail(ErrorKind::usage, "", base::join(given, " and ") + " exclude each other: name one source");
  std::size_t stdin_uses = settings.from == "-" ? 1U : 0U;
  stdin_uses += settings.since == "-" ? 1U : 0U;
  for (const auto& file : settings.declare) stdin_uses += file == "-" ? 1U : 0U;
  for (const auto& input : settings.input) stdin_uses += input.ends_with("=-") ? 1U : 0U;
  if (stdin_uses > 1) return base::fail(ErrorKind::usage, "", "standard input is named more than once");
  if (!settings.raw.empty() && !settings.from.empty())
    return base::fail(ErrorKind::usage, "", "--raw needs the texts themselves, and --from has none");
  return {};
}

// A root in which no table of mounts could be read tells nothing about mounts; silence would look like health.
Result<void> check_readable(const facts::Facts& facts, const Settings& settings) {
  if (!settings.input.empty() || facts.node.view.has_value() || !facts.mounts.empty()) return {};
  for (const auto& source : facts.sources) {
    if (source.id == "mounts" && source.status == "ok") return {};
  }
  std::string reasons;
  for (const auto& source : facts.sources) {
    if (source.id != "mounts") continue;
    reasons += fmt::format("{}{} {}", reasons.empty() ? ": " : ", ", source.name, source.status);
  }
  return base::fail(ErrorKind::absent, facts.node.root, "no table of mounts could be read" + reasons);
}

}  // namespace

std::string node_name() {
  if (std::string named = variable("MOUNTAUDIT_NODE"); !named.empty()) return named;
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 ? name : "";
}

Result<std::chrono::milliseconds> parse_time(const std::string& text, std::string_view option) {
  struct Unit {
    std::string_view name;
    double milliseconds;
  };
  for (const auto& unit : {Unit{"ms", 1}, Unit{"s", 1000}, Unit{"m", 60000}, Unit{"", 1000}}) {
    if (!std::string_view(text).ends_with(unit.name)) continue;
    const auto number = base::real(std::string_view(text).substr(0, text.size() - unit.name.size()));
    if (number && *number >= 0 && *number * unit.milliseconds <= 86400000)
      return std::chrono::milliseconds(static_cast<std::int64_t>(*number * unit.milliseconds));
    if (!unit.name.empty()) break;
  }
  return base::fail(ErrorKind::usage, "",
                    fmt::format("{} \"{}\" is no time; write 500ms, 10s or 1m", option, base::escape_control(text)));
}

namespace {

constexpr const char* answers_path = "/mountaudit/answers.json";  // of a captured tree

// A captured tree carries the answers of that day: the same findings come out, and no packet is sent.
void replay_answers(const probes::Host& host, facts::Facts& facts) {
  const auto text = host.read(answers_path);
  if (!text) return;
  auto saved = snapshot::from_json(*text, answers_path);
  if (saved) {
    probes::join_saved_answers(facts, std::move(saved->facts));
  } else {
    facts.sources.push_back({"nfs_server", answers_path, "malformed", base::to_text(saved.error()), {}});
  }
}

Result<void> write_answers(const std::string& directory, const facts::Facts& facts) {
  const std::string path = directory + answers_path;
  auto file = ReportFile::open(path);
  if (!file) return tl::unexpected(file.error());
  if (auto written = file->write(snapshot::to_json(probes::answers_of(facts))); !written) return written;
  if (::chmod(path.c_str(), 0600) != 0) return base::fail(ErrorKind::io, path, "its mode cannot be set");
  return {};
}

bool asked_of(const facts::Facts& facts) {
  return std::any_of(facts.sources.begin(), facts.sources.end(), [](const facts::Source& row) {
    return row.id.starts_with("nfs_server") || row.id.starts_with("iscsi_target") || row.id == "touch";
  });
}

constexpr std::chrono::milliseconds touch_time{2000};  // as one question, unless --timeout says otherwise

// What nobody could see without touching: a mount that answers no request, or has lost its export. Where something is
// wrong already there is nothing to learn, and a child less that hangs.
void touch_what_looks_healthy(const Settings& settings, const probes::Host& host, facts::Facts& facts) {
  std::vector<std::size_t> healthy;
  {
    const audit::Context context(facts);
    for (std::size_t i = 0; i < facts.nfs.clients.size(); ++i) {
      if (audit::looks_healthy(context.hangs()[i])) healthy.push_back(i);
    }
  }
  const auto own = probes::read_file("/proc/self/mountinfo");
  if (!own || healthy.empty()) return;
  std::chrono::milliseconds time = touch_time;
  if (!settings.timeout.empty()) time = std::min(parse_time(settings.timeout, "--timeout").value_or(time), touch_time);
  probes::touch_mounts(host, facts, healthy, *own, time);
}

}  // namespace

namespace {

// What is given out has stand-ins where a redactor is there.
Result<facts::Facts> gather(const Settings& settings, const OnSlow& on_slow, probes::Redactor* redactor) {
  if (settings.passive && settings.ask_servers)
    return base::fail(ErrorKind::usage, "", "--passive and --ask-servers exclude each other");
  if (auto checked = check_sources(settings); !checked) return tl::unexpected(checked.error());
  auto declaration = read_declarations(settings);
  if (!declaration) return tl::unexpected(declaration.error());
  std::chrono::milliseconds gap = default_gap;
  if (!settings.sample.empty()) {
    const auto given = parse_time(settings.sample, "--sample");
    if (!given) return tl::unexpected(given.error());
    gap = *given;
  }
  if (!settings.from.empty()) {
    auto facts = load(settings.from, settings.quiet);
    if (facts) add_declaration(*facts, std::move(*declaration));
    if (facts && !settings.since.empty()) {
      const auto old = load(settings.since, settings.quiet);
      if (!old) return tl::unexpected(old.error());
      probes::use_since(*facts, *old, settings.since);
    }
    if (facts && settings.ask_servers) {
      if (auto asked = ask_servers(settings, *facts, on_slow); !asked) return tl::unexpected(asked.error());
    }
    if (facts && redactor != nullptr) facts = redactor->redact(std::move(*facts));
    return facts;
  }
  facts::Facts old;
  if (!settings.since.empty()) {
    auto loaded = load(settings.since, settings.quiet);
    if (!loaded) return tl::unexpected(loaded.error());
    old = std::move(*loaded);
  }
  auto opened = open_host(settings);
  if (!opened) return tl::unexpected(opened.error());
  const probes::Host* host = opened->get();
  std::unique_ptr<probes::RecordingHost> recording;
  if (!settings.raw.empty()) {
    recording = std::make_unique<probes::RecordingHost>(*host);
    host = recording.get();
  }
  probes::CollectOptions options;
  if (host->live()) {
    options.node_name = variable("MOUNTAUDIT_NODE");
    note_signals();
  }
  facts::Facts facts = probes::collect(*host, options);
  if (auto readable = check_readable(facts, settings); !readable) return tl::unexpected(readable.error());
  const auto first_sample = std::chrono::steady_clock::now();
  if (!host->live()) {
    // Not through the recording: what is written for them below is not what was read.
    replay_declaration(**opened, facts);
    replay_answers(**opened, facts);
  }
  add_declaration(facts, std::move(*declaration));
  if (settings.ask_servers || (host->live() && !settings.passive)) {
    if (auto asked = ask_servers(settings, facts, on_slow); !asked) return tl::unexpected(asked.error());
  }
  if (!settings.since.empty()) {
    probes::use_since(facts, old, settings.since);
  } else if (host->live() && !facts.nfs.mounts.empty()) {
    const auto gone =
        std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - first_sample);
    const auto left = std::max(gap - gone, std::chrono::milliseconds(0));
    wait(left, progress_wanted(settings.quiet) && left >= std::chrono::seconds(1), "second sample in");
    if (signal_seen() == 0) {
      if (recording) recording->begin_second_sample();
      probes::take_second_sample(*host, facts);
    }
  }
  if (host->live() && !settings.passive && signal_seen() == 0) touch_what_looks_healthy(settings, *host, facts);
  if (redactor != nullptr) facts = redactor->redact(std::move(facts));
  if (recording) {
    if (auto written = recording->write(settings.raw, facts.node.name, redactor); !written)
      return tl::unexpected(written.error());
    if (auto written = write_declaration(settings.raw, facts); !written) return tl::unexpected(written.error());
    if (asked_of(facts)) {
      if (auto written = write_answers(settings.raw, facts); !written) return tl::unexpected(written.error());
    }
  }
  return facts;
}

}  // namespace

Result<facts::Facts> gather(const Settings& settings, const OnSlow& on_slow) {
  if (!settings.redact) return gather(settings, on_slow, nullptr);
  probes::Redactor redactor;
  OnSlow hidden;
  if (on_slow) hidden = [&](const facts::Facts& so_far) { on_slow(redactor.redact(so_far)); };
  return gather(settings, hidden, &redactor);
}

std::vector<audit::TextFile> built_in_rules() {
  std::vector<audit::TextFile> files;
  for (const auto& file : rules::packed_rules()) files.push_back({std::string(file.path), {}, file.text});
  return files;
}

Result<audit::RuleSet> gather_rules(const Settings& settings) {
  std::vector<std::string> directories;
  if (const std::string from = variable("MOUNTAUDIT_RULES"); !from.empty()) directories.push_back(from);
  directories.insert(directories.end(), settings.rules.begin(), settings.rules.end());
  std::vector<audit::TextFile> site;
  for (const auto& directory : directories) {
    const auto files = audit::read_rule_files(directory);
    if (!files) return tl::unexpected(files.error());
    site.insert(site.end(), files->begin(), files->end());
  }
  return audit::load_rules(built_in_rules(), site);
}

std::string language_of(const Settings& settings) {
  if (!settings.lang.empty()) return settings.lang;
  const std::string from = variable("MOUNTAUDIT_LANG");
  return from == "ja" || from.starts_with("ja_") ? "ja" : "en";
}

}  // namespace cli
