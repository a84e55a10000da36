// Judging: three-valued logic, outcomes, grouping, texts, waivers, derived facts.
#include "audit/eval/engine.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "audit/base/text.h"
#include "audit/eval/derive.h"
#include "fixture.h"

namespace {

using namespace fixture;
using audit::Severity;

// A rule over mounts with these lines below `for_each`.
audit::RuleSet mount_rule(const std::string& rest, const std::string& for_each = "nfs.mounts") {
  return one_rule("id: T-1\ntitle: t\nkind: tuning\nbasis: [standard]\neffect: remount\nfix: { text: f }\nfor_each: " +
                  for_each + "\n" + rest);
}

// known: timeo_ds 600; absent: max_connect; unknown: lease_time_s, lookupcache.
std::string outcome_of(const std::string& condition) {
  facts::Facts f = node();
  add(f, mount("/a", f.nfs.clients[0].id));
  const auto set = mount_rule("message: m\nlevels: [{ severity: info, when: " + condition + " }]\n");
  const auto report = judge(f, set);
  if (!report.findings.empty()) return "true";
  return report.unknown.empty() ? "false" : "unknown";
}

}  // namespace

TEST_CASE("conditions: every operator on a known, an absent and an unknown fact", "[condition]") {
  struct Row {
    const char* condition;
    const char* truth;
  };
  const std::vector<Row> rows{
      {"{ timeo_ds: { eq: 600 } }", "true"},
      {"{ timeo_ds: { eq: 600.0 } }", "true"},
      {"{ timeo_ds: { eq: 601 } }", "false"},
      {"{ timeo_ds: { ne: 600 } }", "false"},
      {"{ timeo_ds: { in: [1, 600] } }", "true"},
      {"{ timeo_ds: { not_in: [1, 600] } }", "false"},
      {"{ timeo_ds: { lt: 600 } }", "false"},
      {"{ timeo_ds: { le: 600 } }", "true"},
      {"{ timeo_ds: { gt: 599.5 } }", "true"},
      {"{ timeo_ds: { ge: 601 } }", "false"},
      {"{ timeo_ds: { exists: true } }", "true"},
      {"{ timeo_ds: { exists: false } }", "false"},
      {"{ timeo_ds: { unknown: true } }", "false"},
      {"{ timeo_ds: { unknown: false } }", "true"},
      {"{ timeo_ds: { not: { lt: 1 } } }", "true"},
      {"{ timeo_ds: { ge: 1, le: 700 } }", "true"},
      {"{ timeo_ds: { ge: 1, le: 70 } }", "false"},
      {"{ vers: { matches: \"^4\" } }", "true"},
      {"{ vers: { matches: \"^3\" } }", "false"},
      {"{ rw: { eq: true } }", "true"},
      {"{ rsize_bytes: { eq: { fact: wsize_bytes } } }", "true"},
      {"{ rsize_bytes: { lt: { fact: timeo_ds } } }", "false"},
      {"{ target: { in: { fact: client.mounts } } }", "true"},
      {"{ target: { not_in: { fact: unknown_options } } }", "true"},
      {"{ kernel.release: { matches: el9 } }", "true"},
      {"{ server.mounted: { eq: true } }", "true"},
      {"{ client: { exists: true } }", "true"},
      // absent
      {"{ max_connect: { eq: 1 } }", "false"},
      {"{ max_connect: { ne: 1 } }", "true"},
      {"{ max_connect: { in: [1] } }", "false"},
      {"{ max_connect: { not_in: [1] } }", "true"},
      {"{ max_connect: { lt: 1 } }", "false"},
      {"{ max_connect: { le: 1 } }", "false"},
      {"{ max_connect: { gt: 1 } }", "false"},
      {"{ max_connect: { ge: 1 } }", "false"},
      {"{ kubelet.pv: { matches: x } }", "false"},
      {"{ max_connect: { not: { eq: 1 } } }", "true"},
      {"{ max_connect: { exists: true } }", "false"},
      {"{ max_connect: { exists: false } }", "true"},
      {"{ max_connect: { unknown: true } }", "false"},
      {"{ kubelet: { exists: true } }", "false"},
      {"{ kubelet.pod_uid: { exists: false } }", "true"},
      {"{ timeo_ds: { eq: { fact: max_connect } } }", "false"},
      {"{ timeo_ds: { ne: { fact: max_connect } } }", "true"},
      // unknown
      {"{ lease_time_s: { eq: 1 } }", "unknown"},
      {"{ lease_time_s: { ne: 1 } }", "unknown"},
      {"{ lease_time_s: { in: [1] } }", "unknown"},
      {"{ lease_time_s: { not_in: [1] } }", "unknown"},
      {"{ lease_time_s: { lt: 1 } }", "unknown"},
      {"{ lookupcache: { matches: x } }", "unknown"},
      {"{ lease_time_s: { not: { lt: 1 } } }", "unknown"},
      {"{ lease_time_s: { exists: true } }", "unknown"},
      {"{ lease_time_s: { exists: false } }", "unknown"},
      {"{ lease_time_s: { unknown: true } }", "true"},
      {"{ lease_time_s: { unknown: false } }", "false"},
      {"{ lease_time_s: { not: { unknown: true } } }", "false"},
      {"{ asked.vers: { unknown: true } }", "true"},
      {"{ asked: { exists: true } }", "unknown"},
      {"{ nic.speed_mbps: { le: 1000 } }", "unknown"},
      {"{ timeo_ds: { lt: { fact: lease_time_s } } }", "unknown"},
      // Kleene: what decides wins over what is not known
      {"{ all: [{ timeo_ds: { eq: 600 } }, { lease_time_s: { eq: 1 } }] }", "unknown"},
      {"{ all: [{ lease_time_s: { eq: 1 } }, { timeo_ds: { eq: 1 } }] }", "false"},
      {"{ any: [{ lease_time_s: { eq: 1 } }, { timeo_ds: { eq: 600 } }] }", "true"},
      {"{ any: [{ lease_time_s: { eq: 1 } }, { timeo_ds: { eq: 1 } }] }", "unknown"},
      {"{ not: { lease_time_s: { eq: 1 } } }", "unknown"},
      {"{ not: { timeo_ds: { eq: 1 } } }", "true"},
      {"{ not: { any: [{ timeo_ds: { eq: 600 } }, { lease_time_s: { eq: 1 } }] } }", "false"},
      {"{ timeo_ds: { eq: 600 }, vers: { eq: \"4.2\" } }", "true"},
      {"{ timeo_ds: { eq: 600 }, lease_time_s: { eq: 1 } }", "unknown"},
  };
  for (const Row& row : rows) {
    INFO(row.condition);
    CHECK(outcome_of(row.condition) == row.truth);
  }
}

TEST_CASE("engine: when false is not applicable, when unknown is unknown with the missing fact", "[engine]") {
  facts::Facts f = node();
  add(f, mount("/a", f.nfs.clients[0].id));
  const std::string level = "message: m\nlevels: [{ severity: info }]\n";
  const auto no = judge(f, mount_rule(level + "when: { vers: { eq: \"3\" } }\n"));
  CHECK(no.findings.empty());
  CHECK(no.not_applicable == 1);
  const auto unknown = judge(f, mount_rule(level + "when: { lease_time_s: { eq: 3 } }\n"));
  REQUIRE(unknown.unknown.size() == 1);
  CHECK(unknown.unknown[0].rule == "T-1");
  CHECK(unknown.unknown[0].subject == audit::Subject{"nfs.mount", "/a"});
  CHECK(unknown.unknown[0].reason == "needs nfs.mounts[0].lease_time_s: not told by /proc/1/mountstats");
  CHECK(unknown.not_applicable == 0);
  const auto none = judge(node(), mount_rule(level));
  CHECK(none.not_applicable == 1);
}

TEST_CASE("engine: an unknown quotes the row of its source", "[engine]") {
  facts::Facts f = node();
  add(f, mount("/a", f.nfs.clients[0].id));
  const auto reason = [&] {
    const auto report =
        judge(f, mount_rule("message: m\nlevels: [{ severity: info, when: { server.lease_s: { lt: 3 } } }]\n"));
    return report.unknown.empty() ? "" : report.unknown[0].reason;
  };
  CHECK(reason() == "needs nfs.servers[0].lease_s: not asked (passive)");
  f.node.live = true;
  CHECK(reason() == "needs nfs.servers[0].lease_s: not asked");
  f.sources.push_back({"nfs4.attr", "192.0.2.1:2049", "timeout", "after 2 s", {}});
  CHECK(reason() == "needs nfs.servers[0].lease_s: timeout after 2 s");
  f.sources.back() = {"nfs4.attr", "192.0.2.1:2049", "skipped", "not asked (passive)", {}};
  CHECK(reason() == "needs nfs.servers[0].lease_s: not asked (passive)");
  f.sources.back() = {"nfs4.attr", "192.0.2.1:2049", "refused", "NFS4ERR_DENIED", {}};
  CHECK(reason() == "needs nfs.servers[0].lease_s: refused: NFS4ERR_DENIED");
  f.sources[1] = {"mountstats", "/proc/1/mountstats", "denied", "permission denied", {}};
  const auto report = judge(f, mount_rule("message: m\nlevels: [{ severity: info, when: { age_s: { lt: 3 } } }]\n"));
  REQUIRE(report.unknown.size() == 1);
  CHECK(report.unknown[0].reason == "needs nfs.mounts[0].age_s: /proc/1/mountstats: permission denied");
}

TEST_CASE("engine: the first level that holds fires, one above that is not known could be", "[engine]") {
  facts::Facts f = node();
  add(f, mount("/a", f.nfs.clients[0].id));
  const std::string levels =
      "message: m\nlevels:\n"
      "  - { severity: error, profiles: [database], when: { timeo_ds: { eq: 600 } } }\n"
      "  - { severity: warning, when: { lease_time_s: { eq: 3 } } }\n"
      "  - { severity: notice, when: { timeo_ds: { eq: 600 } }, message: \"{timeo_ds} here\" }\n"
      "  - { severity: info }\n";
  const auto report = judge(f, mount_rule(levels));
  REQUIRE(report.findings.size() == 1);
  const audit::Finding& finding = report.findings[0];
  CHECK(finding.severity == Severity::notice);
  CHECK(finding.text.message == "600 here");
  REQUIRE(finding.could_be);
  CHECK(finding.could_be->severity == Severity::warning);
  CHECK(finding.could_be->needs == "needs nfs.mounts[0].lease_time_s: not told by /proc/1/mountstats");
  CHECK(judge(f, mount_rule(levels), {}, {"database"}).findings.at(0).severity == Severity::error);
  CHECK_FALSE(judge(f, mount_rule(levels), {}, {"database"}).findings.at(0).could_be);

  const auto lower = judge(f, mount_rule("message: m\nlevels: [{ severity: info, when: { lease_time_s: { eq: 3 } } }, "
                                         "{ severity: error }]\n"));
  REQUIRE(lower.findings.size() == 1);
  CHECK_FALSE(lower.findings[0].could_be);
  CHECK(lower.findings[0].not_known ==
        std::vector<std::string>{"could be info: needs nfs.mounts[0].lease_time_s: not told by /proc/1/mountstats"});

  CHECK(judge(f, mount_rule("message: m\nlevels: [{ severity: info, when: { timeo_ds: { eq: 1 } } }]\n"))
            .passed.at(0)
            .subjects == 1);
}

TEST_CASE("engine: unless excuses when true, caps with a severity, and is named when unknown", "[engine]") {
  facts::Facts f = node();
  add(f, mount("/a", f.nfs.clients[0].id));
  const std::string level = "message: m\nlevels: [{ severity: error }]\n";
  const auto yes = judge(f, mount_rule(level + "unless: [{ when: { vers: { eq: \"4.2\" } }, because: b }]\n"));
  CHECK(yes.findings.empty());
  CHECK(yes.not_applicable == 1);
  const auto cap = judge(
      f,
      mount_rule(level + "unless: [{ when: { vers: { eq: \"4.2\" } }, because: \"it is {vers}\", severity: info }]\n"));
  CHECK(cap.findings.at(0).severity == Severity::info);
  CHECK(cap.findings.at(0).text.notes == std::vector<std::string>{"it is 4.2"});
  const auto unknown =
      judge(f, mount_rule(level + "unless: [{ when: { shared: { eq: false } }, because: private }]\n"));
  REQUIRE(unknown.findings.size() == 1);
  CHECK(unknown.findings[0].severity == Severity::error);
  REQUIRE(unknown.findings[0].not_known.size() == 1);
  CHECK(unknown.findings[0].not_known[0].starts_with(
      "not known whether it is excused (private): needs nfs.mounts[0].shared: "));
}

TEST_CASE("engine: lower_by_one lowers, and says when it could not tell", "[engine]") {
  facts::Facts f = node();
  add(f, mount("/a", f.nfs.clients[0].id));
  const auto run = [&](const std::string& severity, const std::string& condition) {
    return judge(f,
                 mount_rule("message: m\nlevels: [{ severity: " + severity + " }]\nlower_by_one: " + condition + "\n"))
        .findings.at(0);
  };
  CHECK(run("error", "{ vers: { eq: \"4.2\" } }").severity == Severity::warning);
  CHECK(run("error", "{ vers: { eq: \"3\" } }").severity == Severity::error);
  CHECK(run("info", "{ vers: { eq: \"4.2\" } }").severity == Severity::info);
  CHECK(run("error", "{ lease_time_s: { eq: 1 } }").severity == Severity::error);
  CHECK(run("error", "{ lease_time_s: { eq: 1 } }").not_known.size() == 1);
}

TEST_CASE("engine: items with equal keys and equal severity are one finding with everybody in it", "[engine]") {
  facts::Facts f = node();
  for (const char* target : {"/c", "/a", "/b"}) {
    facts::NfsMount m = mount(target, f.nfs.clients[0].id);
    if (m.target == "/b") m.timeo_ds = 5U;
    facts::KubeletVolume volume;
    volume.pod_uid = "u";
    volume.pod_namespace = "demo";
    volume.pod_name = "virt-launcher-" + m.target.substr(1);
    volume.vm = "demo/vm-" + m.target.substr(1);
    volume.pv = "pvc-" + m.target.substr(1);
    m.kubelet = volume;
    add(f, std::move(m));
  }
  const std::string levels =
      "message: \"{target}\"\naffects: mounts\nlevels: [{ severity: error, when: { timeo_ds: { lt: 10 } } }, { "
      "severity: info }]\n";
  const auto report = judge(f, mount_rule(levels + "group_by: [client, vers]\n"));
  REQUIRE(report.findings.size() == 2);
  CHECK(report.findings[0].severity == Severity::error);
  CHECK(report.findings[0].text.message == "/b");
  const audit::Finding& info = report.findings[1];
  CHECK(info.subject == audit::Subject{"nfs.client", "192.0.2.1:2049 4.2 tcp"});
  CHECK(info.text.message == "/a");
  const std::vector<audit::Subject> affects{{"nfs.mount", "/a"},
                                            {"nfs.mount", "/c"},
                                            {"pod", "demo/virt-launcher-a"},
                                            {"pod", "demo/virt-launcher-c"},
                                            {"vm", "demo/vm-a"},
                                            {"vm", "demo/vm-c"},
                                            {"volume", "pvc-a"},
                                            {"volume", "pvc-c"}};
  CHECK(info.affects == affects);
  CHECK(judge(f, mount_rule(levels)).findings.size() == 3);
  CHECK(judge(f, mount_rule(levels + "group_by: vers\n")).findings.at(1).subject == audit::Subject{"nfs.mount", "/a"});
}

TEST_CASE("engine: the fingerprint is made of rule, subject and the own name of a nested item", "[engine]") {
  facts::Facts f = node();
  facts::NfsMount m = mount("/a", f.nfs.clients[0].id);
  m.ops = {op("READ", 5, 0, 0, 0, 0), op("WRITE", 5, 0, 0, 0, 0)};
  add(f, std::move(m));
  const auto hex = [](const std::string& text) { return base::sha256_hex(text).substr(0, 16); };
  const std::string level = "message: m\nlevels: [{ severity: info }]\n";
  CHECK(judge(f, mount_rule(level)).findings.at(0).fingerprint == hex("T-1\nnfs.mount\n/a\n"));
  const auto nested = judge(f, mount_rule(level, "nfs.clients.ops"));
  REQUIRE(nested.findings.size() == 2);
  CHECK(nested.findings[0].fingerprint == hex("T-1\nnfs.client\n192.0.2.1:2049 4.2 tcp\nREAD\n"));
  CHECK(nested.findings[1].fingerprint == hex("T-1\nnfs.client\n192.0.2.1:2049 4.2 tcp\nWRITE\n"));
  const auto grouped = judge(f, mount_rule(level + "group_by: client\n", "nfs.clients.ops"));
  REQUIRE(grouped.findings.size() == 1);
  CHECK(grouped.findings[0].fingerprint == hex("T-1\nnfs.client\n192.0.2.1:2049 4.2 tcp\n"));
}

TEST_CASE("engine: evidence has path, value and source, a table has rows, texts have formats", "[engine]") {
  facts::Facts f = node();
  facts::NfsMount m = mount("/a", f.nfs.clients[0].id);
  m.timeo_ds = 155U;
  m.asked = asked("fstab", "nconnect=8");
  add(f, std::move(m));
  const auto report = judge(
      f, mount_rule(
             "message: \"{target} {{x}} "
             "{timeo_s:.0f}|{timeo_s:.1f}|{timeo_s}|{timeo_s:.2%}|{lease_time_s}|{max_connect}|{rw}|{client.mounts}\"\n"
             "levels: [{ severity: info }]\nshow: [asked.text, timeo_ds, give_up_s, lease_time_s, server.lease_s]\n"));
  const audit::Finding& finding = report.findings.at(0);
  CHECK(finding.text.message == "/a {x} 16|15.5|15.5|1550.00%|unknown|not set|yes|/a");
  REQUIRE(finding.evidence.size() == 5);
  CHECK(finding.evidence[0].fact == "nfs.mounts[0].asked.text");
  CHECK(finding.evidence[0].value == facts::Value("nconnect=8"));
  CHECK(finding.evidence[0].source == "/etc/fstab:3");
  CHECK(finding.evidence[1].source == "/proc/1/mountinfo");
  CHECK(finding.evidence[2].fact == "nfs.mounts[0].give_up_s");
  CHECK(finding.evidence[2].source == "derived from /proc/1/mountinfo");
  CHECK(finding.evidence[3].value.is_unknown());
  CHECK(finding.evidence[3].source == "not told by /proc/1/mountstats");
  CHECK(finding.evidence[4].fact == "nfs.servers[0].lease_s");
  CHECK(finding.evidence[4].source == "not asked (passive)");

  const auto table = judge(f, mount_rule("message: m\nlevels: [{ severity: info }]\n"
                                         "show: { table: mounts, columns: [target, asked.nconnect] }\n",
                                         "nfs.clients"));
  REQUIRE(table.findings.at(0).table);
  CHECK(table.findings[0].table->columns == std::vector<std::string>{"target", "asked.nconnect"});
  REQUIRE(table.findings[0].table->rows.size() == 1);
  CHECK(table.findings[0].table->rows[0][0] == facts::Value("/a"));
  CHECK(table.findings[0].table->rows[0][1].is_absent());
}

TEST_CASE("engine: evidence from a text that the user gave names that text", "[engine]") {
  facts::Facts f = node();
  f.sources = {{"mounts", "/tmp/paste.mounts", "ok", "instead of /proc/1/mountinfo (not among the inputs)", {}},
               {"mounts", "/proc/1/mountstats", "skipped", "not among the inputs", {}}};
  add(f, mount("/a", f.nfs.clients[0].id));
  const auto report =
      judge(f, mount_rule("message: m\nlevels: [{ severity: info }]\nshow: [timeo_ds, lease_time_s]\n"));
  CHECK(report.findings.at(0).evidence.at(0).source == "/tmp/paste.mounts");
  CHECK(report.findings.at(0).evidence.at(1).source == "not among the inputs");
}

TEST_CASE("engine: notes, gain, contested and Japanese texts with fallback", "[engine]") {
  facts::Facts f = node();
  add(f, mount("/a", f.nfs.clients[0].id));
  const auto report =
      judge(f, mount_rule("message: m\nwhy: w\nlevels: [{ severity: info }]\n"
                          "notes:\n  - { when: { vers: { eq: \"4.2\" } }, text: one, ja: { text: ichi } }\n"
                          "  - { when: { vers: { eq: \"3\" } }, text: two }\n  - { text: three }\n"
                          "  - { when: { lease_time_s: { eq: 1 } }, text: four }\n"
                          "gain: { text: \"{timeo_s}x\", low: 1.5, high: { fact: give_up_s } }\n"
                          "contested: [{ who: somebody, says: no }]\nja: { message: \"{target} です\" }\n"));
  const audit::Finding& finding = report.findings.at(0);
  CHECK(finding.text.notes == std::vector<std::string>{"one", "three"});
  REQUIRE(finding.not_known.size() == 1);
  CHECK(finding.not_known[0].starts_with("not known whether this applies (four): needs nfs.mounts[0].lease_time_s"));
  REQUIRE(finding.gain);
  CHECK(finding.gain->text == "60x");
  CHECK(finding.gain->low == 1.5);
  CHECK(finding.gain->high == 180.0);
  CHECK(finding.contested.at(0).who == "somebody");
  REQUIRE(finding.text_ja);
  CHECK(finding.text_ja->message == "/a です");
  CHECK(finding.text_ja->why == "");
  CHECK(finding.text_ja->notes == std::vector<std::string>{"ichi", "three"});
}

TEST_CASE("engine: profiles are found with a reason, or given", "[engine]") {
  facts::Facts f = node();
  CHECK(judge(f, shipped()).profiles.size() == 1);
  f.node.kubelet = true;
  CHECK(judge(f, shipped()).profiles.size() == 1);
  f.node.virt_launcher = true;
  const auto found = judge(f, shipped());
  REQUIRE(found.profiles.size() == 2);
  CHECK(found.profiles[1].name == "openshift-virtualization");
  CHECK(found.profiles[1].why == "kubelet and virt-launcher found");
  const auto given = judge(f, shipped(), {}, {"database", "general"});
  REQUIRE(given.profiles.size() == 2);
  CHECK(given.profiles[1].name == "database");
  audit::JudgeOptions options;
  options.also = {{"pre-benchmark", "mountaudit preflight"}};
  CHECK(audit::judge(f, shipped(), options).profiles.back().why == "mountaudit preflight");
}

TEST_CASE("engine: only, skip and now choose rules", "[engine]") {
  facts::Facts f = node();
  facts::NfsMount m = mount("/a", f.nfs.clients[0].id);
  m.timeo_ds = 7U;
  m.recovery = "soft";
  add(f, std::move(m));
  f.nfs.clients[0].nconnect = 4U;
  const auto ids = [&](const audit::JudgeOptions& options) {
    std::vector<std::string> list;
    for (const auto& finding : audit::judge(f, shipped(), options).findings) list.push_back(finding.rule);
    return list;
  };
  audit::JudgeOptions options;
  options.only = {"NFS-RECOV-*"};
  CHECK(ids(options) == std::vector<std::string>{"NFS-RECOV-002", "NFS-RECOV-001"});
  options.skip = {"*-001"};
  CHECK(ids(options) == std::vector<std::string>{"NFS-RECOV-002"});
  audit::JudgeOptions now;
  now.now = true;
  CHECK(ids(now) == std::vector<std::string>{"NFS-NCONNECT-003"});
}

TEST_CASE("waivers: take a finding out until their day, and are told when expired or unused", "[waivers]") {
  facts::Facts f = node();
  facts::NfsMount m = mount("/a", f.nfs.clients[0].id);
  m.timeo_ds = 7U;
  add(f, std::move(m));
  const auto run = [&](const std::string& text, const std::string& today) {
    audit::JudgeOptions options;
    options.waivers = audit::load_waivers(text, "w.yaml").value();
    options.today = today;
    return audit::judge(f, shipped(), options);
  };
  const auto has = [](const audit::Report& report, const std::string& id) {
    return std::any_of(report.findings.begin(), report.findings.end(), [&](const auto& x) { return x.rule == id; });
  };
  const std::string by_rule = "- { rule: \"NFS-RECOV-*\", subject: \"192.0.2.1*\", reason: lab, until: 2026-12-31 }\n";
  const auto waived = run(by_rule, "2026-12-31");
  CHECK_FALSE(has(waived, "NFS-RECOV-002"));
  REQUIRE(waived.waived.size() == 1);
  CHECK(waived.waived[0].finding.rule == "NFS-RECOV-002");
  CHECK(waived.waived[0].reason == "lab");
  CHECK(waived.waived[0].until == "2026-12-31");
  CHECK_FALSE(has(waived, "WAIVER-001"));
  CHECK_FALSE(has(waived, "WAIVER-002"));
  for (const auto& entry : waived.plan) CHECK(entry.text.find("timeo=600") == std::string::npos);

  const auto expired = run(by_rule, "2027-01-01");
  CHECK(has(expired, "NFS-RECOV-002"));
  CHECK(has(expired, "WAIVER-001"));
  CHECK(expired.waived.empty());
  const std::string print = waived.waived[0].finding.fingerprint;
  CHECK(run("- { fingerprint: " + print + ", reason: x, until: 2030-01-01 }\n", "2026-01-01").waived.size() == 1);
  const auto unused = run("- { rule: NFS-LOCK-002, reason: x, until: 2030-01-01 }\n", "2026-01-01");
  CHECK(has(unused, "WAIVER-002"));
  CHECK(unused.findings.back().severity == Severity::info);
}

TEST_CASE("waivers: what is wrong is told with its line", "[waivers]") {
  const auto error = [](const std::string& text) {
    const auto waivers = audit::load_waivers(text, "w.yaml");
    return waivers ? "" : base::to_text(waivers.error());
  };
  CHECK(error("- { rule: A, reason: r, until: 2026-02-29 }\n") ==
        "w.yaml:1: until: '2026-02-29' is no date YYYY-MM-DD");
  CHECK(error("- { rule: A, until: 2026-02-28 }\n") == "w.yaml:1: the key 'reason' is missing");
  CHECK(error("- { rule: A, reason: r }\n") == "w.yaml:1: the key 'until' is missing");
  CHECK(error("- { reason: r, until: 2026-02-28 }\n") == "w.yaml:1: a waiver names a rule or a fingerprint");
  CHECK(error("- { rule: A, reason: r, untl: 2026-02-28 }\n") == "w.yaml:1: unknown key 'untl', nearest: until");
  CHECK(error("a: b\n").starts_with("w.yaml:1: waivers are a list"));
  CHECK(error("- { rule: A, reason: r, until: 2028-02-29 }\n") == "");
}

namespace {

facts::Value client_fact(const facts::Facts& f, const std::string& name, std::uint32_t client = 0) {
  const audit::Context context(f);
  const audit::Scope* scope = audit::find_scope("nfs.clients");
  return audit::read_value(context, {scope, client, 0}, audit::resolve_path(name, *scope).value());
}

facts::Value op_fact(const facts::Facts& f, const std::string& op_name, const std::string& name) {
  const audit::Context context(f);
  const audit::Scope* scope = audit::find_scope("nfs.clients.ops");
  for (const audit::Item& item : scope->items(context)) {
    if (scope->own_name(context, item) == op_name)
      return audit::read_value(context, item, audit::resolve_path(name, *scope).value());
  }
  return {};
}

std::string why(const facts::Value& value) {
  const auto* unknown = std::get_if<facts::Unknown>(&value.data);
  return unknown != nullptr ? unknown->why : "known";
}

}  // namespace

TEST_CASE("derived: requests in flight from one read of the transports", "[derive]") {
  facts::Facts f = node();
  add(f, mount("/a", f.nfs.clients[0].id));
  f.nfs.clients[0].transports = {transport(1500, 1500 * 30, 40), transport(500, 500 * 10, 24)};
  CHECK(*client_fact(f, "in_flight.mean").as_double() == Approx(1 + (1500 * 30 + 500 * 10) / 2000.0));
  CHECK(client_fact(f, "in_flight.peak") == facts::Value(64));
  CHECK(client_fact(f, "in_flight.how") == facts::Value("one read, since the mount"));
  CHECK(client_fact(f, "in_flight.idle") == facts::Value(false));
  f.nfs.clients[0].transports = {transport(999, 0, 2)};
  CHECK(why(client_fact(f, "in_flight.mean")) == "999 requests were sent so far, 1000 are needed");
  CHECK(client_fact(f, "in_flight.idle") == facts::Value(true));
  f.nfs.clients[0].transports[0].proto = "rdma";
  CHECK(client_fact(f, "in_flight.mean").is_unknown());
  f.nfs.clients[0].transports.clear();
  CHECK(why(client_fact(f, "in_flight.mean")) == "needs nfs.clients[0].transports: not told by /proc/1/mountstats");
}

TEST_CASE("derived: two samples 10 s and 1000 operations apart decide over one read", "[derive]") {
  facts::Facts f = node();
  facts::NfsMount m = mount("/a", f.nfs.clients[0].id);
  m.age_s = std::uint64_t{100};
  m.ops = {op("READ", 1000, 0, 1000 * 4096, 5000, 8000), op("NULL", 1, 0, 0, 900, 900000)};
  add(f, m);
  facts::Facts before = f;
  f.nfs.mounts[0].age_s = std::uint64_t{120};
  f.nfs.mounts[0].ops[0] = op("READ", 3000, 0, 3000 * 4096, 5000 + 60000, 8000 + 80000);
  f.nfs.mounts[0].ops[1].execute_ms += 1000000;  // upkeep does not count
  f.earlier.emplace() = before;
  CHECK(*client_fact(f, "in_flight.mean").as_double() == Approx(80000 / 20000.0));
  CHECK(client_fact(f, "in_flight.how") == facts::Value("two samples 20 s apart"));
  CHECK(*client_fact(f, "ops_per_s").as_double() == Approx(100));
  CHECK(*client_fact(f, "rtt_ms").as_double() == Approx(30));

  f.node.boottime_ns = std::uint64_t{9'500'000'000};
  f.earlier->node.boottime_ns = std::uint64_t{1'000'000'000};
  CHECK(client_fact(f, "in_flight.how") == facts::Value("one read, since the mount"));
  CHECK(why(client_fact(f, "ops_per_s")) == "the samples are 8.5 s apart, 10 s are needed");
  f.node.boottime_ns = {};
  f.node.collected_at = "2026-03-01T00:00:10Z";
  f.earlier->node.collected_at = "2026-02-28T23:59:40.5Z";
  CHECK(client_fact(f, "in_flight.how") == facts::Value("two samples 30 s apart"));

  f.node.boot_id = "a";
  f.earlier->node.boot_id = "b";
  CHECK(why(client_fact(f, "ops_per_s")) == "the earlier sample is from another boot");
  f.earlier->node.boot_id = "a";
  f.nfs.mounts[0].ops[0].ops = 999;
  CHECK(why(client_fact(f, "ops_per_s")) == "mounted again, or counters reset, between the samples");
  f.nfs.mounts[0].ops[0].ops = 3000;
  f.nfs.mounts[0].age_s = std::uint64_t{5};
  CHECK(client_fact(f, "ops_per_s").is_unknown());
  f.earlier = {};
  CHECK(why(client_fact(f, "ops_per_s")) == "one sample only, rates need two");
}

TEST_CASE("derived: between two samples the interval is the headline, as in a capture of two", "[derive]") {
  // The numbers of a public capture with two samples and no ages.
  facts::Facts f = node();
  facts::NfsMount m = mount("/mnt/data", f.nfs.clients[0].id);
  m.ops = {op("READ", 100, 0, 0, 500, 700), op("GETATTR", 50, 0, 0, 250, 400)};
  m.ops[0].trans = 101;
  add(f, m);
  facts::Facts before = f;
  f.nfs.mounts[0].ops = {op("READ", 300, 0, 0, 15500, 20700), op("GETATTR", 150, 0, 0, 2250, 3400)};
  f.nfs.mounts[0].ops[0].trans = 305;
  f.nfs.mounts[0].ops[1].trans = 151;
  CHECK(*op_fact(f, "READ", "average.rtt_ms").as_double() == Approx(51.7).margin(0.05));
  CHECK(*op_fact(f, "GETATTR", "average.rtt_ms").as_double() == Approx(15));
  f.earlier.emplace() = before;
  CHECK(op_fact(f, "READ", "window.ops") == facts::Value(200));
  CHECK(op_fact(f, "GETATTR", "window.ops") == facts::Value(100));
  CHECK(op_fact(f, "READ", "window.retrans") == facts::Value(4));
  CHECK(op_fact(f, "GETATTR", "window.retrans") == facts::Value(1));
  CHECK(*op_fact(f, "READ", "average.rtt_ms").as_double() == Approx(75));
  CHECK(*op_fact(f, "READ", "average.execute_ms").as_double() == Approx(100));
  CHECK(*op_fact(f, "GETATTR", "average.rtt_ms").as_double() == Approx(20));
  CHECK(*op_fact(f, "GETATTR", "average.execute_ms").as_double() == Approx(30));
  CHECK(op_fact(f, "READ", "average.how") == facts::Value("between two samples"));
  CHECK(*op_fact(f, "READ", "window.retrans_ratio").as_double() == Approx(0.02));
  CHECK(op_fact(f, "READ", "window.seconds").is_unknown());
  CHECK(client_fact(f, "ops_per_s").is_unknown());
}

TEST_CASE("derived: a time counter below zero is invalid, not negative, and more operations than sends is no negative",
          "[derive]") {
  facts::Facts f = node();
  facts::NfsMount m = mount("/a", f.nfs.clients[0].id);
  m.ops = {op("ACCESS", 69477, 0, 0, 104215, 118110)};
  m.ops[0].trans = 69476;
  m.ops[0].queue_ms = std::numeric_limits<std::uint64_t>::max() - 2802166 + 1;
  add(f, std::move(m));
  CHECK(why(op_fact(f, "ACCESS", "average.queue_ms")) == "invalid: the counter wrapped");
  CHECK(*op_fact(f, "ACCESS", "average.rtt_ms").as_double() == Approx(1.5).margin(0.05));
  CHECK(*op_fact(f, "ACCESS", "average.execute_ms").as_double() == Approx(1.7).margin(0.05));
  CHECK(op_fact(f, "ACCESS", "retrans") == facts::Value(0));
}

TEST_CASE("derived: operations are summed over distinct file systems only", "[derive]") {
  facts::Facts f = node();
  facts::NfsMount a = mount("/a", f.nfs.clients[0].id), b = mount("/b", f.nfs.clients[0].id),
                  same = mount("/c", f.nfs.clients[0].id);
  a.ops = {op("READ", 10, 0, 0, 0, 0), op("WRITE", 1, 0, 0, 0, 0)};
  b.ops = {op("WRITE", 5, 0, 0, 0, 0), op("READ", 7, 0, 0, 0, 0)};
  same.same_as = "/a";
  add(f, a);
  add(f, b);
  add(f, same);
  CHECK(op_fact(f, "READ", "ops") == facts::Value(17));
  CHECK(op_fact(f, "WRITE", "ops") == facts::Value(6));
}

TEST_CASE("derived: nconnect gain is interpolated from the measured table", "[derive]") {
  CHECK(audit::nconnect_gain(1, 0) == Approx(1.00));
  CHECK(audit::nconnect_gain(2, 0) == Approx(1.00));  // measured 0.98: never below 1
  CHECK(audit::nconnect_gain(16, 0) == Approx(1.06));
  CHECK(audit::nconnect_gain(32, 0) == Approx(1.61));
  CHECK(audit::nconnect_gain(64, 0) == Approx(2.14));
  CHECK(audit::nconnect_gain(128, 0) == Approx(2.48));
  CHECK(audit::nconnect_gain(1000, 0) == Approx(2.48));
  CHECK(audit::nconnect_gain(0, 0) == Approx(1.00));
  CHECK(audit::nconnect_gain(32 * std::sqrt(2.0), 0) == Approx((1.61 + 2.14) / 2));
  CHECK(audit::nconnect_gain(128, 1) == Approx(1.15));
  CHECK(audit::nconnect_gain(32, 0.5) == Approx((1.61 + 1.14) / 2));
}

TEST_CASE("derived: kernels with nconnect, backports included", "[derive]") {
  struct Row {
    const char *release, *id, *version, *has;
  };
  const std::vector<Row> rows{{"6.1.0-18-amd64", "debian", "12", "yes"},
                              {"5.3.0", "x", "1", "yes"},
                              {"5.2.21", "x", "1", "no"},
                              {"4.19.0-26-amd64", "debian", "10", "no"},
                              {"4.18.0-240.el8.x86_64", "rhel", "8.3", "yes"},
                              {"4.18.0-193.el8.x86_64", "rhel", "8.2", "no"},
                              {"4.18.0-372.9.1.el8.x86_64", "rhcos", "4.12", "yes"},
                              {"3.10.0-1160.el7.x86_64", "centos", "7", "no"},
                              {"4.12.14-95.3-default", "sles", "12.4", "yes"},
                              {"4.12.14-150-default", "sles", "15", "no"},
                              {"4.12.14-195-default", "sles", "15.1", "yes"},
                              {"4.4.73-5-default", "sles", "12.3", "no"},
                              {"garbage", "x", "1", "unknown"}};
  for (const Row& row : rows) {
    INFO(row.release);
    facts::Kernel kernel;
    kernel.release = row.release;
    kernel.distribution = row.id;
    kernel.distribution_version = row.version;
    const auto known = audit::kernel_has_nconnect(kernel);
    CHECK(std::string(known.is_unknown() ? "unknown" : *known ? "yes" : "no") == row.has);
  }
  CHECK(audit::kernel_has_nconnect({}).is_unknown());
}

TEST_CASE("derived: what the mounts of a client ask for, and the oldest of them", "[derive]") {
  facts::Facts f = node();
  facts::NfsMount a = mount("/a", f.nfs.clients[0].id), b = mount("/b", f.nfs.clients[0].id);
  a.age_s = std::uint64_t{10};
  b.age_s = std::uint64_t{500};
  add(f, a);
  add(f, b);
  CHECK(why(client_fact(f, "asked.nconnect_max")) ==
        "needs nfs.mounts[0].asked: nothing that was read names this mount");
  f.nfs.mounts[0].asked = asked("fstab", "ro");
  CHECK(client_fact(f, "asked.nconnect_max").is_unknown());
  f.nfs.mounts[1].asked = asked("fstab", "ro");
  CHECK(client_fact(f, "asked.nconnect_max").is_absent());
  f.nfs.mounts[0].asked->nconnect = 4U;
  f.nfs.mounts[1].asked->nconnect = 8U;
  CHECK(client_fact(f, "asked.nconnect_max") == facts::Value(8));
  CHECK(client_fact(f, "asked.nconnect_min") == facts::Value(4));
  CHECK(client_fact(f, "oldest_mount.target") == facts::Value("/b"));
}

TEST_CASE("derived: a transfer size is the server's limit when it says so, or inferred", "[derive]") {
  facts::Facts f = node();
  facts::NfsMount m = mount("/a", f.nfs.clients[0].id);
  m.rsize_bytes = m.wsize_bytes = 65536U;
  m.asked = asked("fstab", "ro");
  add(f, m);
  CHECK(client_fact(f, "size_is_server_limit") == facts::Value(true));
  CHECK(client_fact(f, "size_max_bytes") == facts::Value(65536));
  CHECK(client_fact(f, "size_limit_how").as_text()->starts_with("inferred: no size is asked for"));
  f.nfs.mounts[0].asked->rsize_bytes = f.nfs.mounts[0].asked->wsize_bytes = 262144U;
  CHECK(client_fact(f, "size_limit_how").as_text()->starts_with("inferred: 262144 is asked for"));
  f.nfs.mounts[0].asked->rsize_bytes = f.nfs.mounts[0].asked->wsize_bytes = 65536U;
  CHECK(why(client_fact(f, "size_is_server_limit")) == "needs nfs.servers[0].maxread_bytes: not asked (passive)");
  f.nfs.servers[0].maxread_bytes = f.nfs.servers[0].maxwrite_bytes = std::uint64_t{1048576};
  CHECK(client_fact(f, "size_is_server_limit") == facts::Value(false));
  CHECK(client_fact(f, "size_max_bytes").is_absent());
  f.nfs.servers[0].maxread_bytes = std::uint64_t{65536};
  CHECK(client_fact(f, "size_limit_how") == facts::Value("as the server says (GETATTR)"));
  f.nfs.servers[0].maxread_bytes = f.nfs.servers[0].maxwrite_bytes = {};
  f.nfs.mounts[0].asked = {};
  CHECK(client_fact(f, "size_is_server_limit").is_unknown());
}

TEST_CASE("derived: whether data is shared is declared, never guessed", "[derive]") {
  facts::Facts f = node();
  facts::NfsMount m = mount("/a", f.nfs.clients[0].id);
  facts::KubeletVolume volume;
  volume.pv = "pvc-1";
  m.kubelet = volume;
  add(f, m);
  const auto shared = [&] {
    const audit::Context context(f);
    const audit::Scope* scope = audit::find_scope("nfs.mounts");
    return audit::read_value(context, {scope, 0, 0}, audit::resolve_path("shared", *scope).value());
  };
  CHECK(shared().is_unknown());
  facts::DeclaredPv pv;
  pv.name = "pvc-1";
  pv.access_modes = std::vector<std::string>{"ReadWriteOnce"};
  f.declared.pvs.push_back(pv);
  CHECK(shared() == facts::Value(false));
  f.declared.pvs[0].access_modes->push_back("ReadWriteMany");
  CHECK(shared() == facts::Value(true));
}

TEST_CASE("engine: two runs over one document give the same report", "[engine]") {
  facts::Facts f = node();
  for (int i = 0; i < 20; ++i) {
    facts::NfsMount m = mount("/m" + std::to_string(i), f.nfs.clients[0].id);
    m.timeo_ds = static_cast<std::uint32_t>(i);
    add(f, std::move(m));
  }
  const auto text = [&] {
    std::string all;
    const auto report = judge(f, shipped());
    for (const auto& finding : report.findings) {
      all += finding.rule + finding.text.message + finding.fingerprint;
      for (const auto& subject : finding.affects) all += subject.id;
    }
    for (const auto& entry : report.plan) all += entry.text;
    return all;
  };
  CHECK(text() == text());
}
