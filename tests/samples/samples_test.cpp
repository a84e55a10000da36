// Every tree under samples/trees goes all the way: files to facts to findings to reports. Facts are kept in
// samples/snapshots/, reports in tests/golden/samples/; UPDATE_GOLDEN=1 rewrites both.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "audit/eval/engine.h"
#include "audit/report/json.h"
#include "audit/report/text.h"
#include "audit/snapshot/document.h"
#include "probes/collect.h"
#include "probes/raw_tree.h"
#include "rules/embedded.h"
#include "tests/samples/tree.h"

namespace fs = std::filesystem;
using audit::Severity;
using samples::Tree;

namespace {

const fs::path source = SOURCE_DIR;

std::vector<std::string> sample_names() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(source / "samples/trees")) names.push_back(entry.path().filename());
  std::ranges::sort(names);
  return names;
}

std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

const audit::RuleSet& shipped_rules() {
  static const audit::RuleSet rules = [] {
    std::vector<audit::TextFile> files;
    for (const auto& [path, text] : rules::embedded_rules()) files.push_back({std::string(path), std::string(text)});
    return audit::load_rules(files).value();
  }();
  return rules;
}

// What differs from run to run and from machine to machine has no place in a kept file.
facts::Facts collect_tree(const fs::path& root, const std::string& shown_as) {
  const auto host = probes::open_root(root.string());
  REQUIRE(host);
  facts::Facts facts = probes::collect(**host);
  facts.node.root = shown_as;
  for (facts::Source& row : facts.sources) row.duration_us = {};
  return facts;
}

audit::Report judge(const facts::Facts& facts) {
  audit::JudgeOptions options;
  options.tool_version = "golden";
  options.today = "2026-01-01";
  return audit::judge(facts, shipped_rules(), options);
}

// The report document without the facts that it carries along: those are in the snapshot.
std::string report_json(const audit::Report& report) {
  std::string text = audit::render_json(report);
  const std::size_t facts = text.find("\n  \"facts\": {");
  REQUIRE(facts != std::string::npos);
  return text.substr(0, facts) + "\n";
}

// Everything that the judging says, with nothing of where the facts came from but the paths inside the root.
std::string findings_of(const facts::Facts& facts) {
  const std::string text = report_json(judge(facts));
  return text.substr(text.find("\n  \"summary\""));
}

void check_golden(const fs::path& path, const std::string& text) {
  if (const char* update = std::getenv("UPDATE_GOLDEN"); update != nullptr && *update != '\0') {
    fs::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
  }
  INFO(path.string() + " (UPDATE_GOLDEN=1 rewrites it)");
  CHECK(read_file(path) == text);
}

std::vector<const audit::Finding*> findings(const audit::Report& report, const std::string& rule) {
  std::vector<const audit::Finding*> found;
  for (const auto& finding : report.findings) {
    if (finding.rule == rule) found.push_back(&finding);
  }
  return found;
}

bool passed(const audit::Report& report, const std::string& rule) {
  return std::ranges::any_of(report.passed, [&](const audit::Passed& row) { return row.rule == rule; });
}

bool mentions(const std::string& text, const std::string& words) { return text.find(words) != std::string::npos; }

// The worker as it would be without nconnect: one connection that carries `mean` requests at a send.
Tree without_nconnect(double mean, unsigned peak) {
  Tree tree(source / "samples/trees/openshift-worker");
  tree.replace("proc/1/mountinfo", "nconnect=8,", "");
  tree.replace("proc/1/mountstats", "nconnect=8,", "");
  tree.one_connection("proc/1/mountstats", mean, peak);
  for (const std::string& path : tree.files("var/lib/trident/tracking"))
    tree.replace(path, "\"mountOptions\":\"nconnect=8\"", "\"mountOptions\":\"\"");
  return tree;
}

}  // namespace

TEST_CASE("samples: the facts of every tree are as kept") {
  for (const std::string& name : sample_names()) {
    const facts::Facts facts = collect_tree(source / "samples/trees" / name, "samples/trees/" + name);
    check_golden(source / "samples/snapshots" / (name + ".json"), snapshot::to_json(facts));
  }
}

TEST_CASE("samples: the reports of every tree are as kept") {
  for (const std::string& name : sample_names()) {
    const facts::Facts facts = collect_tree(source / "samples/trees" / name, "samples/trees/" + name);
    const audit::Report report = judge(facts);
    audit::RenderOptions text;
    check_golden(source / "tests/golden/samples" / (name + ".text"), audit::render_text(report, text));
    text.verbose = true;
    text.lines = 0;
    check_golden(source / "tests/golden/samples" / (name + ".verbose.text"), audit::render_text(report, text));
    check_golden(source / "tests/golden/samples" / (name + ".json"), report_json(report));
  }
}

TEST_CASE("samples: a saved document and a raw tree give the same findings as the node itself") {
  for (const std::string& name : sample_names()) {
    INFO(name);
    const fs::path root = source / "samples/trees" / name;
    const facts::Facts facts = collect_tree(root, "x");
    const std::string expected = findings_of(facts);

    const auto loaded = snapshot::from_json(snapshot::to_json(facts), "saved");
    REQUIRE(loaded);
    CHECK(loaded->notes.empty());
    CHECK(findings_of(loaded->facts) == expected);

    const auto host = probes::open_root(root.string());
    REQUIRE(host);
    probes::RecordingHost recording(**host);
    const facts::Facts recorded = probes::collect(recording);
    const Tree raw;
    REQUIRE(recording.write(raw.root().string(), recorded.node.name));
    CHECK(findings_of(collect_tree(raw.root(), "x")) == expected);
  }
}

TEST_CASE("samples: no secret of a tracking file gets into facts, reports or a raw tree") {
  const fs::path root = source / "samples/trees/openshift-worker";
  const Tree original(root);
  std::string tracking;
  for (const std::string& path : original.files("var/lib/trident/tracking")) tracking += original.read(path);
  REQUIRE(mentions(tracking, "not-a-real-target-secret"));

  const facts::Facts facts = collect_tree(root, "x");
  CHECK_FALSE(mentions(snapshot::to_json(facts), "not-a-real"));
  audit::RenderOptions verbose;
  verbose.verbose = true;
  verbose.lines = 0;
  CHECK_FALSE(mentions(audit::render_text(judge(facts), verbose), "not-a-real"));

  const auto host = probes::open_root(root.string());
  REQUIRE(host);
  probes::RecordingHost recording(**host);
  probes::collect(recording);
  const Tree raw;
  REQUIRE(recording.write(raw.root().string(), "wk-02"));
  for (const std::string& path : raw.files("")) {
    INFO(path);
    CHECK_FALSE(mentions(raw.read(path), "not-a-real"));
  }
}

TEST_CASE("samples: on the worker nconnect is in place, version and sizes are left to negotiation") {
  const facts::Facts facts = collect_tree(source / "samples/trees/openshift-worker", "x");
  const audit::Report report = judge(facts);
  CHECK(findings(report, "NFS-NCONNECT-001").empty());
  CHECK(findings(report, "NFS-NCONNECT-002").empty());
  CHECK(passed(report, "NFS-NCONNECT-002"));
  CHECK(report.count(Severity::error) == 0);

  const auto vers = findings(report, "NFS-VERS-001");
  REQUIRE_FALSE(vers.empty());
  bool trident = false, storage_class = false;
  for (const audit::Remediation& fix : vers.front()->remediation) {
    if (fix.platform == "trident") trident = mentions(fix.text, "nfsvers=4.2");
    if (fix.platform == "storageclass") storage_class = mentions(fix.text, "nfsvers=4.2");
  }
  CHECK(trident);
  CHECK(storage_class);

  CHECK_FALSE(findings(report, "NFS-IOSIZE-003").empty());
  const auto size = findings(report, "NFS-IOSIZE-001");
  REQUIRE_FALSE(size.empty());
  CHECK(mentions(size.front()->text.message, "65536"));
  CHECK(mentions(size.front()->text.message, "inferred"));
}

TEST_CASE("samples: the merged line clears every finding that it says it clears") {
  const facts::Facts before = collect_tree(source / "samples/trees/openshift-worker", "x");
  const audit::Report report = judge(before);
  std::size_t applied = 0;
  for (const audit::PlanEntry& entry : report.plan) {
    const auto after = audit::apply_plan(before, entry);
    if (!after) continue;  // a platform that holds no mount options
    ++applied;
    INFO(entry.platform + ": " + entry.text);
    CHECK_FALSE(entry.clears.empty());
    CHECK(mentions(entry.text, "4.2"));
    const audit::Report again = judge(*after);
    for (const std::string& rule : entry.clears) {
      INFO(rule);
      CHECK(std::ranges::none_of(again.findings, [&](const audit::Finding& finding) {
        return finding.rule == rule && finding.subject == entry.subject;
      }));
    }
  }
  CHECK(applied > 0);
}

TEST_CASE("samples: without nconnect the worker is told by its load what nconnect would bring") {
  struct Row {
    double mean;
    unsigned peak;
    Severity severity;
  };
  for (const Row& row :
       {Row{4.0, 12, Severity::info}, Row{15.5, 40, Severity::info}, Row{9.0, 70, Severity::notice},
        Row{16.5, 40, Severity::notice}, Row{34.0, 60, Severity::warning}, Row{63.0, 64, Severity::warning}}) {
    INFO("mean " << row.mean << ", peak " << row.peak);
    const Tree tree = without_nconnect(row.mean, row.peak);
    const facts::Facts facts = collect_tree(tree.root(), "x");
    REQUIRE(facts.nfs.clients.size() == 1);
    CHECK(facts.nfs.clients.front().transport_count == 1U);
    const audit::Report report = judge(facts);
    const auto found = findings(report, "NFS-NCONNECT-001");
    REQUIRE(found.size() == 1);
    CHECK(found.front()->severity == row.severity);
    CHECK(found.front()->affects.size() >= 6);
    if (row.severity == Severity::info) {
      CHECK(mentions(found.front()->text.message, "no gain"));
    } else if (row.mean >= 16) {
      REQUIRE(found.front()->gain);
      CHECK(found.front()->gain->high.value_or(0) > 1.0);
    }
    // Nothing asks for nconnect, so none is missing.
    CHECK(findings(report, "NFS-NCONNECT-002").empty());
  }
}

TEST_CASE("samples: twenty mounts of one export are one client and one finding that names pods and VMs") {
  Tree tree = without_nconnect(40, 60);
  tree.multiply_first_mount(20);
  const facts::Facts facts = collect_tree(tree.root(), "x");
  CHECK(facts.nfs.mounts.size() == 20);
  REQUIRE(facts.nfs.clients.size() == 1);
  CHECK(facts.nfs.clients.front().mounts.size() == 20);
  const audit::Report report = judge(facts);
  const auto found = findings(report, "NFS-NCONNECT-001");
  REQUIRE(found.size() == 1);
  const auto count = [&](const std::string& kind) {
    return std::ranges::count_if(found.front()->affects, [&](const audit::Subject& s) { return s.kind == kind; });
  };
  CHECK(count("nfs.mount") == 20);
  CHECK(count("pod") == 20);
  CHECK(count("vm") == 20);
}

TEST_CASE("samples: a specification that says nothing differs from one that cannot be read") {
  const Tree silent = without_nconnect(4, 12);
  const audit::Report negotiated = judge(collect_tree(silent.root(), "x"));
  Tree gone = without_nconnect(4, 12);
  gone.remove("var/lib/trident");
  const audit::Report unknown = judge(collect_tree(gone.root(), "x"));

  const auto told = findings(negotiated, "NFS-VERS-001");
  REQUIRE(told.size() == 1);
  CHECK(told.front()->severity > Severity::info);
  CHECK(mentions(told.front()->text.message, "name no full version"));
  const auto untold = findings(unknown, "NFS-VERS-001");
  REQUIRE(untold.size() == 1);
  CHECK(untold.front()->severity == Severity::info);
  CHECK(mentions(untold.front()->text.message, "nothing that could be read"));
}

TEST_CASE("samples: a healthy node has nothing above info") {
  const facts::Facts facts = collect_tree(source / "samples/trees/healthy-node", "x");
  REQUIRE(facts.nfs.mounts.size() == 2);
  const audit::Report report = judge(facts);
  for (const audit::Finding& finding : report.findings) {
    INFO(finding.rule + ": " + finding.text.message);
    CHECK(finding.severity == Severity::info);
  }
  CHECK(report.passed.size() >= 5);
}
