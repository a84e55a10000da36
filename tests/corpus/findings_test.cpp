// What the audit says of every case: findings with their level, whom they are about and a word of the message; that
// nothing else is said above info; what stays unknown and why; what could not be read. The table is listed in README.md
// of this directory, which this test keeps up to date (UPDATE_GOLDEN=1 rewrites it).
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "audit/eval/condition.h"
#include "audit/eval/engine.h"
#include "probes/collect.h"
#include "probes/io/host.h"
#include "rules/embedded.h"
#include "tests/corpus/storage_inputs.h"

namespace {

using audit::Severity;
constexpr Severity error = Severity::error, warning = Severity::warning, notice = Severity::notice,
                   info = Severity::info;

struct Said {
  std::string rule;
  Severity severity;
  std::string about;  // part of the id of the subject, or of one of those that it affects
  std::string words;  // part of the message, the advice, a note, or a row of the table shown
};

struct Unknown {
  std::string rule;
  std::string words;  // part of the reason
};

struct Case {
  std::string name;                 // directory; behind a blank which of several runs of it
  std::vector<std::string> inputs;  // KIND=FILE
  std::vector<Said> said;           // above info this is all that is said
  std::vector<std::string> never;   // rules that say nothing at all, not even info
  std::vector<Unknown> unknown;
  std::vector<std::string> unread;  // parts of the rows of sources that tell what could not be read
  std::string earlier;              // KIND=FILE of an earlier sample
  std::string profile;

  std::string directory() const { return name.substr(0, name.find(' ')); }
};

#include "tests/corpus/findings_table.inc"
#include "tests/corpus/storage_findings_table.inc"

std::vector<Case> all_cases() {
  auto all = cases();
  for (auto& one : storage_cases()) all.push_back(std::move(one));
  std::stable_sort(all.begin(), all.end(), [](const Case& a, const Case& b) { return a.directory() < b.directory(); });
  return all;
}

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

std::string path_of(const Case& one, const std::string& input) {
  const auto equals = input.find('=');
  return fmt::format("{}={}/tests/corpus/{}/{}", input.substr(0, equals), SOURCE_DIR, one.directory(),
                     input.substr(equals + 1));
}

facts::Facts collect(const Case& one, const std::vector<std::string>& inputs) {
  std::vector<probes::InputArgument> arguments;
  std::vector<corpus::StorageInput> storage;
  for (const auto& input : inputs) {
    const std::string path = path_of(one, input);
    const auto equals = path.find('=');
    if (const std::string kind = path.substr(0, equals); corpus::is_storage_kind(kind)) {
      const std::string file = path.substr(equals + 1);
      storage.push_back({kind, file, read_file(file)});
      REQUIRE_FALSE(storage.back().text.empty());
      continue;
    }
    auto argument = probes::parse_input_argument(path);
    REQUIRE(argument);
    arguments.push_back(std::move(*argument));
  }
  facts::Facts facts;
  if (!arguments.empty()) {
    const auto host = probes::open_inputs(arguments);
    REQUIRE(host);
    facts = probes::collect(**host);
  }
  for (const auto& input : storage) corpus::add_storage_text(facts, input);
  corpus::list_ends(facts);
  return facts;
}

const audit::RuleSet& shipped_rules() {
  static const audit::RuleSet rules = [] {
    std::vector<audit::TextFile> files;
    for (const auto& [path, text] : rules::embedded_rules()) files.push_back({std::string(path), std::string(text)});
    return audit::load_rules(files).value();
  }();
  return rules;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

bool is_about(const audit::Finding& finding, const std::string& part) {
  return has(finding.subject.id, part) ||
         std::any_of(finding.affects.begin(), finding.affects.end(),
                     [&](const audit::Subject& subject) { return has(subject.id, part); });
}

// A row of the table that a finding shows, values divided by blanks.
bool shows_row(const audit::Finding& finding, const std::string& part) {
  if (!finding.table) return false;
  return std::any_of(finding.table->rows.begin(), finding.table->rows.end(), [&](const auto& row) {
    std::string text;
    for (const facts::Value& value : row) text += (text.empty() ? "" : " ") + audit::value_text(value);
    return has(text, part);
  });
}

bool says(const audit::Finding& finding, const std::string& part) {
  if (shows_row(finding, part)) return true;
  return has(finding.text.message, part) || has(finding.text.recommendation, part) ||
         std::any_of(finding.text.notes.begin(), finding.text.notes.end(),
                     [&](const std::string& note) { return has(note, part); });
}

std::string line_of(const audit::Finding& finding) {
  std::string text = fmt::format("{} {} {}: {}", audit::severity_word(finding.severity), finding.rule,
                                 finding.subject.id, finding.text.message);
  for (const auto& note : finding.text.notes) text += " // " + note;
  return text;
}

std::string all_of(const audit::Report& report) {
  std::string text = "the report says:\n";
  for (const auto& finding : report.findings) text += "  " + line_of(finding) + "\n";
  for (const auto& one : report.unknown)
    text += fmt::format("  unknown {} {}: {}\n", one.rule, one.subject.id, one.reason);
  return text;
}

// One paragraph a case, to be read beside the expected.md of the corpus.
std::string readme() {
  std::string text =
      "# Cases\n\n"
      "Inputs from public bug reports, documentation and test data, with neutral names; every quirk of their format "
      "is\n"
      "kept. `kernel_text_test.cpp` and `storage_text_test.cpp` assert the facts. `findings_test.cpp` asserts what the "
      "audit says, listed here: "
      "each\n"
      "finding with its level, whom it is about and words that it contains. Above info the list is complete; findings "
      "of\n"
      "level info are listed where they are asserted. This file is written by the test (`UPDATE_GOLDEN=1`).\n";
  for (const Case& one : all_cases()) {
    text += fmt::format("\n## {}\n\n", one.name);
    std::string inputs;
    for (const auto& input : one.inputs) inputs += (inputs.empty() ? "`" : ", `") + input + "`";
    text += "Input: " + inputs;
    if (!one.earlier.empty()) text += ", earlier sample `" + one.earlier + "`";
    if (!one.profile.empty()) text += ", profile " + one.profile;
    text += "\n\n";
    if (std::none_of(one.said.begin(), one.said.end(), [](const Said& s) { return s.severity > info; }))
      text += "- nothing above info\n";
    for (const Said& said : one.said) {
      text += fmt::format("- {} {}", audit::severity_word(said.severity), said.rule);
      if (!said.about.empty()) text += fmt::format(" about `{}`", said.about);
      if (!said.words.empty()) text += fmt::format(": \"{}\"", said.words);
      text += "\n";
    }
    for (const auto& rule : one.never) text += fmt::format("- nothing of {}\n", rule);
    for (const Unknown& unknown : one.unknown)
      text += fmt::format("- unknown {}: \"{}\"\n", unknown.rule, unknown.words);
    for (const auto& unread : one.unread) text += fmt::format("- could not be read: \"{}\"\n", unread);
  }
  return text;
}

}  // namespace

TEST_CASE("corpus: every case gives its findings, and no others above info", "[corpus]") {
  for (const Case& one : all_cases()) {
    DYNAMIC_SECTION(one.name) {
      facts::Facts facts = collect(one, one.inputs);
      if (!one.earlier.empty()) probes::use_since(facts, collect(one, {one.earlier}), "the earlier sample");
      audit::JudgeOptions options;
      if (!one.profile.empty()) options.profiles = {one.profile};
      const audit::Report report = audit::judge(facts, shipped_rules(), options);
      INFO(all_of(report));
      std::set<const audit::Finding*> accounted;
      for (const Said& said : one.said) {
        INFO(fmt::format("wanted: {} {} about \"{}\" with \"{}\"", audit::severity_word(said.severity), said.rule,
                         said.about, said.words));
        const auto found = std::find_if(report.findings.begin(), report.findings.end(), [&](const auto& finding) {
          return finding.rule == said.rule && finding.severity == said.severity && is_about(finding, said.about) &&
                 says(finding, said.words);
        });
        CHECK(found != report.findings.end());
      }
      for (const auto& finding : report.findings) {
        INFO(line_of(finding));
        const auto listed = [&](const Said& said) {
          return said.rule == finding.rule && said.severity == finding.severity;
        };
        if (finding.severity > info) CHECK(std::any_of(one.said.begin(), one.said.end(), listed));
        CHECK(std::find(one.never.begin(), one.never.end(), finding.rule) == one.never.end());
      }
      for (const Unknown& unknown : one.unknown) {
        INFO(fmt::format("wanted: unknown {} because of \"{}\"", unknown.rule, unknown.words));
        CHECK(std::any_of(report.unknown.begin(), report.unknown.end(),
                          [&](const auto& is) { return is.rule == unknown.rule && has(is.reason, unknown.words); }));
      }
      for (const auto& words : one.unread) {
        INFO("wanted among the sources: " << words);
        CHECK(std::any_of(facts.sources.begin(), facts.sources.end(), [&](const facts::Source& row) {
          return row.status == "malformed" && has(row.detail, words);
        }));
      }
    }
  }
}

TEST_CASE("corpus 077: two sessions that wait for one portal are one finding", "[corpus]") {
  const auto all = all_cases();
  const auto one = std::find_if(all.begin(), all.end(), [](const Case& c) { return c.name.starts_with("077"); });
  REQUIRE(one != all.end());
  const audit::Report report = audit::judge(collect(*one, one->inputs), shipped_rules(), {});
  CHECK(std::count_if(report.findings.begin(), report.findings.end(),
                      [](const auto& finding) { return finding.rule == "ISCSI-SESS-002"; }) == 1);
}

TEST_CASE("corpus: README.md lists what is asserted", "[corpus]") {
  const std::string path = std::string(SOURCE_DIR) + "/tests/corpus/README.md";
  if (std::getenv("UPDATE_GOLDEN") != nullptr) std::ofstream(path, std::ios::binary) << readme();
  INFO("tests/corpus/README.md is not up to date: run the test with UPDATE_GOLDEN=1");
  const bool same = read_file(path) == readme();
  CHECK(same);
}
