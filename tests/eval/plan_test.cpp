// The plan: one line per client and platform, and what it says it clears is cleared.
#include <algorithm>
#include <catch2/catch.hpp>

#include <set>

#include "audit/eval/engine.h"
#include "audit/eval/explain.h"
#include "fixture.h"

namespace {

using namespace fixture;

const audit::PlanEntry* entry_for(const audit::Report& report, const std::string& platform) {
  for (const auto& entry : report.plan) {
    if (entry.platform == platform) return &entry;
  }
  return nullptr;
}

std::string line_of(const audit::Report& report, const std::string& platform) {
  const auto* entry = entry_for(report, platform);
  return entry != nullptr ? entry->text.substr(0, entry->text.find('\n')) : "";
}

bool has(const std::vector<std::string>& list, const std::string& id) {
  return std::find(list.begin(), list.end(), id) != list.end();
}

// Every entry of the plan, applied to the places that ask: what it claims to clear does not come back.
void check_claims(const facts::Facts& f, const std::vector<std::string>& profiles) {
  const auto report = judge(f, shipped(), {}, profiles);
  REQUIRE_FALSE(report.plan.empty());
  for (const auto& entry : report.plan) {
    INFO(entry.platform << ": " << entry.text);
    CHECK_FALSE(entry.clears.empty());
    const auto after = audit::apply_plan(f, entry);
    if (!after) FAIL(base::to_text(after.error()));
    const auto again = judge(*after, shipped(), {}, profiles);
    for (const auto& finding : again.findings) {
      INFO(finding.rule << ": " << finding.text.message);
      CHECK_FALSE((finding.subject == entry.subject && has(entry.clears, finding.rule)));
    }
  }
}

// The line of a worker whose backend asks for nconnect=8 and nothing else.
facts::Facts worker() {
  facts::Facts f = node();
  f.node.kubelet = f.node.virt_launcher = true;
  for (const char* name : {"pvc-1", "pvc-2"}) {
    facts::NfsMount m = mount(std::string("/var/lib/kubelet/pods/0f/volumes/kubernetes.io~csi/") + name + "/mount",
                              f.nfs.clients[0].id);
    m.rsize_bytes = m.wsize_bytes = 65536U;
    m.nconnect = 8U;
    m.asked = asked("trident", "nconnect=8");
    m.asked->nconnect = 8U;
    facts::KubeletVolume volume;
    volume.pod_uid = "0f";
    volume.provisioner = "csi.trident.netapp.io";
    volume.pv = name;
    m.kubelet = volume;
    add(f, std::move(m));
  }
  f.nfs.clients[0].nconnect = f.nfs.clients[0].transport_count = 8U;
  f.nfs.clients[0].transports.assign(8, transport(10000, 5000, 10));
  return f;
}

}  // namespace

TEST_CASE("plan: the worker gets one line per platform, with the version in use and no size that is asked to be raised",
          "[plan]") {
  const auto report = judge(worker(), shipped(), {}, {"openshift-virtualization"});
  CHECK(line_of(report, "trident") == R"(nfsMountOptions: "nconnect=8,nfsvers=4.2,rsize=262144,wsize=262144")");
  CHECK(line_of(report, "storageclass") ==
        R"(mountOptions: ["nconnect=8", "nfsvers=4.2", "rsize=262144", "wsize=262144"])");
  CHECK(entry_for(report, "fstab") == nullptr);
  const auto* trident = entry_for(report, "trident");
  REQUIRE(trident != nullptr);
  CHECK(trident->subject == audit::Subject{"nfs.client", "192.0.2.1:2049 4.2 tcp"});
  CHECK(trident->clears == std::vector<std::string>{"NFS-IOSIZE-003", "NFS-VERS-001"});
  for (const auto& finding : report.findings) {
    INFO(finding.rule);
    CHECK_FALSE(finding.rule == "NFS-NCONNECT-001");
    for (const auto& remedy : finding.remediation) {
      CHECK(remedy.text.find("rsize=65536") == std::string::npos);
      CHECK_FALSE(remedy.undo.empty());
    }
  }
}

TEST_CASE("plan: what it claims to clear is gone after it was applied", "[plan]") {
  SECTION("the worker") { check_claims(worker(), {"openshift-virtualization"}); }
  SECTION("the worker before a benchmark") { check_claims(worker(), {"openshift-virtualization", "pre-benchmark"}); }
  SECTION("the worker on one loaded connection") {
    facts::Facts f = worker();
    f.nfs.clients[0].nconnect = facts::Fact<std::uint32_t>::absent();
    f.nfs.clients[0].transport_count = 1U;
    f.nfs.clients[0].transports = {transport(100000, 100000 * 40, 64)};
    for (auto& m : f.nfs.mounts) {
      m.asked = asked("trident", "soft,timeo=30");
      m.recovery = "soft";
      m.timeo_ds = 30U;
      m.nconnect = facts::Fact<std::uint32_t>::absent();
    }
    const auto report = judge(f, shipped(), {}, {"openshift-virtualization"});
    CHECK(line_of(report, "trident") ==
          R"(nfsMountOptions: "hard,timeo=600,nfsvers=4.2,nconnect=8,retrans=2,rsize=262144,wsize=262144")");
    REQUIRE(entry_for(report, "pv") != nullptr);
    CHECK(entry_for(report, "pv")->text.find("for pv in pvc-1 pvc-2; do") == 0);
    CHECK(has(entry_for(report, "trident")->clears, "NFS-NCONNECT-001"));
    CHECK(has(entry_for(report, "trident")->clears, "NFS-RECOV-001"));
    check_claims(f, {"openshift-virtualization"});
  }
  SECTION("nconnect that the first mount prevented, in fstab") {
    facts::Facts f = node();
    facts::NfsMount home = mount("/home", f.nfs.clients[0].id), data = mount("/my data", f.nfs.clients[0].id);
    home.asked = asked("fstab", "vers=4.2,_netdev");
    home.asked->vers = "4.2";
    data.asked = asked("fstab", "nconnect=8,vers=4.2,ro");
    data.asked->vers = "4.2";
    data.asked->nconnect = 8U;
    add(f, home);
    add(f, data);
    const auto report = judge(f, shipped());
    REQUIRE(entry_for(report, "fstab") != nullptr);
    CHECK(entry_for(report, "fstab")->text ==
          "nas.example.com:/vol /home nfs vers=4.2,_netdev,nconnect=8 0 0\n"
          "nas.example.com:/vol /my\\040data nfs nconnect=8,vers=4.2,ro 0 0");
    CHECK(entry_for(report, "trident") == nullptr);
    check_claims(f, {});
  }
  SECTION("local locks") {
    facts::Facts f = node();
    f.nfs.clients[0].vers = "3";
    facts::NfsMount m = mount("/data", f.nfs.clients[0].id);
    m.vers = "3";
    m.nolock = true;
    m.local_lock = "all";
    m.asked = asked("fstab", "vers=3,nolock,local_lock=all");
    m.asked->vers = "3";
    add(f, m);
    const auto report = judge(f, shipped());
    CHECK(line_of(report, "fstab") == "nas.example.com:/vol /data nfs vers=3 0 0");
    check_claims(f, {});
  }
}

TEST_CASE("plan: a version that is asked for below the one in use is not kept", "[plan]") {
  facts::Facts f = node();
  facts::NfsMount m = mount("/data", f.nfs.clients[0].id);
  m.recovery = "soft";
  m.asked = asked("fstab", "vers=4,minorversion=1,soft");
  m.asked->vers = "4.1";
  add(f, m);
  CHECK(line_of(judge(f, shipped()), "fstab") == "nas.example.com:/vol /data nfs nfsvers=4.2,hard 0 0");
  f.nfs.mounts[0].asked->text = "v4.1,soft";
  CHECK(line_of(judge(f, shipped()), "fstab") == "nas.example.com:/vol /data nfs nfsvers=4.2,hard 0 0");
  f.nfs.mounts[0].asked->text = "nfsvers=4.2,softerr,sec=krb5,x-systemd.automount";
  CHECK(line_of(judge(f, shipped()), "fstab") ==
        "nas.example.com:/vol /data nfs nfsvers=4.2,hard,sec=krb5,x-systemd.automount 0 0");
}

TEST_CASE("plan: where nothing says what was asked for, the line starts from the values in use", "[plan]") {
  facts::Facts f = node();
  facts::NfsMount m = mount("/data", f.nfs.clients[0].id);
  m.timeo_ds = 7U;
  m.rw = false;
  m.sec = "krb5p";
  add(f, m);
  CHECK(line_of(judge(f, shipped()), "fstab") ==
        "nas.example.com:/vol /data nfs nfsvers=4.2,hard,timeo=600,sec=krb5p,ro,retrans=2 0 0");
}

TEST_CASE("plan: names from outside are quoted for where they go", "[plan]") {
  facts::Facts f = worker();
  f.nfs.mounts[1].kubelet->pv = "x; reboot $(id) 'y'";
  for (auto& m : f.nfs.mounts) m.asked->text = "nconnect=8,context=\"a'b\"";
  const auto report = judge(f, shipped(), {"NFS-NCONNECT-002", "NFS-VERS-001"}, {"openshift-virtualization"});
  CHECK(line_of(report, "trident") == R"(nfsMountOptions: "nconnect=8,context=\"a'b\",nfsvers=4.2")");
  f.nfs.clients[0].transport_count = 1U;
  const auto again = judge(f, shipped(), {"NFS-NCONNECT-002"}, {"openshift-virtualization"});
  const auto* pv = entry_for(again, "pv");
  REQUIRE(pv != nullptr);
  CHECK(pv->text.find(R"(for pv in pvc-1 'x; reboot $(id) '\''y'\'''; do)") == 0);
  CHECK(pv->text.find(R"("context=\"a'\''b\"")") != std::string::npos);
}

TEST_CASE("plan: a text without mount options is refused when applied", "[plan]") {
  CHECK_FALSE(audit::apply_plan(node(), {{"nfs.client", "x"}, "ontap", "vserver nfs modify", {}}));
  CHECK_FALSE(audit::apply_plan(node(), {{"nfs.client", "x"}, "fstab", "# nothing", {}}));
}

namespace {

// What a rule says where it applies cannot be silenced by a level without condition.
bool always_speaks(const audit::Rule& rule) {
  return std::any_of(rule.levels.begin(), rule.levels.end(),
                     [](const audit::Level& level) { return !level.when && level.profiles.empty(); });
}

// Rules whose levels leave nothing out: some load or none, a pause of any length.
const std::set<std::string> speak_in_every_case{"LAT-003", "NFS-NCONNECT-001", "NFS-RECOV-004", "ISCSI-TMO-005"};

// Rules that look at what a text says and where it says nothing have nothing to look at; NFS-VERS-001 has a level of
// its own for "cannot tell".
const std::set<std::string> never_unknown{
    "NFS-CACHE-007",    "NFS-LOCK-004",    "NFS-LOCK-007",  "NFS-MOUNT-010", "NFS-MOUNT-012",
    "NFS-NCONNECT-008", "NFS-LOCK-006",    "NFS-MOUNT-003", "NFS-MOUNT-004", "NFS-MOUNT-005",
    "NFS-MOUNT-007",    "NFS-MOUNT-008",   "NFS-MOUNT-009", "NFS-PORT-003",  "NFS-PORT-004",
    "NFS-RECOV-007",    "NFS-SEC-003",     "NFS-VERS-001",  "MPATH-003",     "MPATH-008",
    "ISCSI-LOG-001",    "ISCSI-LOGIN-001", "ISCSI-TMO-005", "SEL-002",       "SEL-003"};

}  // namespace

TEST_CASE("rule tests: every level, every exception, a pass and an unknown of every rule have a case", "[rules]") {
  const std::string folder = std::string(SOURCE_DIR) + "/tests/rules";
  const auto results = audit::test_rules(shipped(), folder);
  if (!results) FAIL(base::to_text(results.error()));
  for (const auto& result : *results) {
    INFO(result.path << ": " << result.message);
    CHECK(result.ok);
  }
  for (const auto& rule : shipped().rules) {
    std::set<std::size_t> levels, exceptions;
    bool pass = false, unknown = false, not_applicable = false;
    for (const auto& result : *results) {
      if (result.path.find("/" + rule.id + "/") == std::string::npos) continue;
      const std::string name = result.path.substr(result.path.rfind('/') + 1);
      pass = pass || name.starts_with("pass");
      unknown = unknown || name.starts_with("unknown");
      not_applicable = not_applicable || name.starts_with("not_applicable");
      if (name.starts_with("fail")) levels.insert(result.levels.begin(), result.levels.end());
      exceptions.insert(result.exceptions.begin(), result.exceptions.end());
    }
    INFO("tests/rules/" << rule.id);
    for (std::size_t i = 0; i < rule.levels.size(); ++i) {
      INFO("no case fires level " << i + 1 << " (" << audit::severity_word(rule.levels[i].severity) << ", line "
                                  << rule.levels[i].line << ")");
      CHECK(levels.contains(i));
    }
    for (std::size_t i = 0; i < rule.unless.size(); ++i) {
      INFO("no case holds exception " << i + 1 << ": " << rule.unless[i].because.en.source);
      CHECK(exceptions.contains(i));
    }
    const bool speaks = always_speaks(rule) || speak_in_every_case.contains(rule.id);
    INFO("pass: " << pass << ", not applicable: " << not_applicable << ", unknown: " << unknown);
    CHECK(pass != speaks);
    CHECK((pass || not_applicable));
    CHECK(unknown != never_unknown.contains(rule.id));
  }
}
