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

#include "audit/base/text.h"
#include "audit/eval/engine.h"
#include "audit/report/json.h"
#include "audit/report/text.h"
#include "audit/snapshot/document.h"
#include "probes/ask_mounted.h"
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
    for (const auto& file : rules::packed_rules()) files.push_back({std::string(file.path), {}, file.text});
    return audit::load_rules(files).value();
  }();
  return rules;
}

// What differs from run to run and from machine to machine has no place in a kept file.
facts::Facts collect_tree(const fs::path& root, const std::string& shown_as) {
  const auto host = probes::open_root(root.string());
  REQUIRE(host);
  facts::Facts facts = probes::collect(**host);
  if (const auto answers = (*host)->read("/mountaudit/answers.json")) {
    auto saved = snapshot::from_json(*answers, "answers.json");
    REQUIRE(saved);
    probes::join_saved_answers(facts, std::move(saved->facts));
  }
  facts.node.root = shown_as;
  if (facts.earlier) facts.earlier->node.root = shown_as;
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
    if (fs::exists(root / "mountaudit/answers.json"))
      fs::copy(root / "mountaudit/answers.json", raw.root() / "mountaudit/answers.json");
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

TEST_CASE("samples: of two servers one died, and the report says so before anything else") {
  const fs::path root = source / "samples/trees/dead-server";
  facts::Facts facts = collect_tree(root, "x");
  REQUIRE(facts.earlier);
  const audit::Report report = judge(facts);
  REQUIRE_FALSE(report.findings.empty());
  const audit::Finding& first = report.findings.front();
  CHECK(first.rule == "NFS-RECOV-005");
  CHECK(first.severity == Severity::error);
  CHECK(report.count(Severity::error) == 1);
  CHECK(first.subject == audit::Subject{"nfs.server", "192.0.2.110:2049"});
  const auto affects = [&](const std::string& kind, const std::string& id) {
    return std::ranges::find(first.affects, audit::Subject{kind, id}) != first.affects.end();
  };
  CHECK(affects("vm", "billing/pg-primary"));
  CHECK(affects("vm", "virt-perf/rhel10-nas"));
  CHECK(affects("pod", "web/portal-6d9c7f9b64-5tq8n"));
  CHECK_FALSE(affects("vm", "billing/pg-standby"));  // its volume is on the other server
  for (const char* words :
       {"2026-02-10T04:05:31Z", "VM billing/pg-primary (2 tasks: qemu-kvm, worker)", "df (pid 71200)"}) {
    INFO(words);
    CHECK(mentions(first.text.message, words));
  }
  REQUIRE(first.table);
  CHECK(first.table->rows.size() == 5);
  CHECK(mentions(first.text.recommendation, "Do not drain the node"));
  REQUIRE(first.text.notes.size() == 2);
  for (const char* words : {"SYN to port 2049 unanswered", "37 requests without reply, none came in 10 s",
                            "kernel log: not responding since 2026-02-10T04:08:31Z", "4 tasks of its pods"}) {
    INFO(words);
    CHECK(mentions(first.text.notes[0], words));
  }
  CHECK(first.text.notes[1] == "other servers: 192.0.2.120 answers");

  // The first thing in the text, whole, within 80 columns.
  audit::RenderOptions options;
  options.width = 80;
  const std::string text = audit::render_text(report, options);
  std::string joined;
  for (const auto line : base::split(text, '\n')) {
    CHECK(base::display_width(line) <= 80);
    joined += std::string(base::trim(line)) + ' ';
  }
  CHECK(mentions(joined, "BROKEN NOW error  NFS-RECOV-005"));
  CHECK(mentions(joined, "last resort"));

  // One sample, and no server asked: the same verdict, from what is left.
  facts.earlier = {};
  for (auto& server : facts.nfs.servers) server.services.clear();
  const audit::Report again = judge(facts);
  REQUIRE_FALSE(again.findings.empty());
  CHECK(again.findings.front().rule == "NFS-RECOV-005");
  CHECK(again.findings.front().severity == Severity::error);
}

TEST_CASE("samples: sockets of the trees carry what the kernel tells of them") {
  const facts::Facts facts = collect_tree(source / "samples/trees/dead-server", "x");
  REQUIRE(facts.network.sockets->size() == 8);
  std::size_t syn = 0;
  for (const auto& socket : *facts.network.sockets) {
    if (socket.state == "SYN_SENT") {
      ++syn;
      CHECK(socket.peer_addr == "192.0.2.110");
      CHECK(socket.timer.is("retransmit"));
      CHECK(*socket.retransmits >= 5);
      CHECK(socket.last_recv_ms.is_absent());
    } else {
      CHECK(socket.rtt_us.has_value());
      CHECK(socket.tx_queue_bytes.is(0));
    }
  }
  CHECK(syn == 4);
}

TEST_CASE("samples: a database host over NFSv3 is healthy where its data are, and its backup gives up too early") {
  const facts::Facts facts = collect_tree(source / "samples/trees/nfs3-database", "x");
  REQUIRE(facts.nfs.clients.size() == 2);
  CHECK(facts.nfs.clients[0].transport_count.is(4));
  CHECK(facts.kernel.rpc.tcp_max_slot_table_entries.is(128));
  CHECK(facts.node.daemons.rpc_statd.is(true));
  CHECK(facts.nfs.mounts[2].read_ahead_kib.is(15360));
  const audit::Report report = judge(facts);
  const auto soft = findings(report, "NFS-RECOV-001");
  REQUIRE(soft.size() == 1);
  CHECK(mentions(soft.front()->text.message, "/backup"));
  CHECK_FALSE(findings(report, "NFS-RECOV-002").empty());
  CHECK(findings(report, "NFS-SLOTS-001").empty());
  // Its server was silent for 21 s once, and said OK: that is over.
  CHECK(findings(report, "NFS-RECOV-005").empty());
  CHECK(passed(report, "NFS-RECOV-005"));
  for (const auto& finding : report.findings) {
    INFO(finding.rule + ": " + finding.text.message);
    CHECK((finding.severity == Severity::info || mentions(finding.text.message, "/backup") ||
           mentions(finding.text.message, "192.0.2.32")));
  }
}

TEST_CASE("samples: what stays undecided without the servers is what only they could tell") {
  for (const char* name : {"healthy-node", "openshift-worker"}) {
    const audit::Report report = judge(collect_tree(source / "samples/trees" / name, "x"));
    CHECK(passed(report, "NFS-RECOV-005"));
    for (const audit::NotDecided& row : report.unknown) {
      INFO(std::string(name) + ": " + row.rule + " " + row.reason);
      CHECK((mentions(row.reason, "nfs.servers[") || mentions(row.reason, "were not looked up") ||
             mentions(row.reason, "rates need two") || mentions(row.reason, "not declared")));
    }
  }
}
