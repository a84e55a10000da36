// What is derived from sessions, maps, records and log lines, function by function.
#include <catch2/catch.hpp>

#include "audit/eval/condition.h"
#include "audit/eval/derive.h"
#include "tests/eval/storage_fixture.h"

using audit::Context;
using facts::Fact;

namespace {

// Value of a fact as rules would show it; "?" and why for one that is not known, "-" for one that is not set.
std::string shown(const facts::Facts& f, const std::string& scope, const std::string& name, std::uint32_t index = 0,
                  std::uint32_t sub = 0) {
  const Context context(f);
  const audit::Scope* s = audit::find_scope(scope);
  REQUIRE(s != nullptr);
  const auto* fact = s->find_derived(name);
  INFO(scope << ' ' << name);
  REQUIRE(fact != nullptr);
  const facts::Value value = fact->get(context, {s, index, sub});
  if (value.is_unknown()) return "?";
  return value.is_absent() ? "-" : audit::value_text(value);
}

facts::IscsiSession& session_in(facts::Facts& f, std::size_t i) { return (*f.iscsi.sessions)[i]; }
facts::IscsiSetting& recovery_in(facts::Facts& f, std::size_t i) { return session_in(f, i).settings[0]; }

facts::MultipathSetting map_setting(const std::string& key, const std::string& value) {
  facts::MultipathSetting setting;
  setting.key = key;
  setting.configured = value;
  return setting;
}

facts::LogMessage lost(const std::string& at, std::int64_t code, const std::string& kind = "iscsi-connection-error") {
  facts::LogMessage m;
  m.source = "dmesg";
  m.kind = kind;
  m.device = "1:0";
  m.at = at;
  m.code = code;
  m.text = "text";
  return m;
}

}  // namespace

TEST_CASE("iscsi: health of a session, the kernel's word before that of iscsid") {
  struct Row {
    const char *state, *iscsid, *connection, *connection_iscsid, *health;
  };
  const auto row = GENERATE(
      Row{"LOGGED_IN", "NO CHANGE", "up", "LOGGED IN", "up"}, Row{"LOGGED_IN", "Unknown", "", "Unknown", "up"},
      Row{"FAILED", "REOPEN", "failed", "TRANSPORT WAIT", "failed"},
      Row{"FREE", "REOPEN", "failed", "TRANSPORT WAIT", "free"}, Row{"LOGGED_IN", "", "failed", "", "connection down"},
      Row{"LOGGED_IN", "", "down", "", "connection down"},
      Row{"LOGGED_IN", "NO CHANGE", "", "TRANSPORT WAIT", "reopening"}, Row{"", "REOPEN", "", "", "reopening"},
      Row{"", "NO CHANGE", "", "", "?"});
  facts::Facts f = fixture::storage_node();
  const auto told = [](const char* text) { return *text ? Fact<std::string>(text) : Fact<std::string>{}; };
  session_in(f, 0).state = told(row.state);
  session_in(f, 0).iscsid_state = told(row.iscsid);
  session_in(f, 0).connections[0].state = told(row.connection);
  session_in(f, 0).connections[0].iscsid_state = told(row.connection_iscsid);
  CHECK(shown(f, "iscsi.sessions", "health") == row.health);
}

TEST_CASE("iscsi: defaults of open-iscsi under multipath make a stall of 130 s") {
  facts::Facts f = fixture::storage_node();
  session_in(f, 0).recovery_tmo_s = 120U;
  CHECK(shown(f, "iscsi.sessions", "noticed_s") == "10");
  CHECK(shown(f, "iscsi.sessions", "path_stall_s") == "130");
  CHECK(shown(f, "iscsi.sessions", "recovery_how") == "as the session runs");
  CHECK(shown(f, "multipath.maps", "switch_s") == "130");
  const auto report = fixture::judge(f, fixture::shipped(), {"ISCSI-TMO-001"});
  REQUIRE(report.findings.size() == 1);
  const auto& finding = report.findings[0];
  CHECK(finding.text.message.find("stalls for 130 s (5 + 5 + 120: ping interval") != std::string::npos);
  CHECK(finding.text.recommendation.find("replacement_timeout = 5") != std::string::npos);
  CHECK(finding.text.recommendation.find("log out and in") != std::string::npos);
  CHECK(finding.effect == "relogin");
  CHECK(std::count(finding.affects.begin(), finding.affects.end(), audit::Subject{"volume", "pvc-1"}) == 1);
  std::vector<std::string> platforms;
  for (const auto& one : finding.remediation) platforms.push_back(one.platform);
  CHECK(std::count(platforms.begin(), platforms.end(), "iscsid.conf") == 1);
  CHECK(std::count(platforms.begin(), platforms.end(), "iscsiadm") == 1);
}

TEST_CASE("iscsi: which recovery time is in effect, and where it comes from") {
  facts::Facts f = fixture::storage_node();
  auto& setting = recovery_in(f, 0);
  const auto unknown = Fact<std::uint64_t>{};
  setting.record = "60";
  setting.config = "90";
  SECTION("fast_io_fail_tmo as multipathd wrote it") {
    session_in(f, 0).recovery_tmo_s = 25U;
    setting.multipath = "25";
    setting.multipath_from = "/etc/multipath.conf:4";
    CHECK(shown(f, "iscsi.sessions", "recovery_how") ==
          "multipathd wrote fast_io_fail_tmo (/etc/multipath.conf:4) into it");
    CHECK(shown(f, "iscsi.sessions", "fast_io_fail_tmo") == "25");
    const auto report = fixture::judge(f, fixture::shipped(), {"ISCSI-TMO-001"});
    REQUIRE(report.findings.size() == 1);
    REQUIRE(report.findings[0].text.notes.size() == 1);
    CHECK(report.findings[0].text.notes[0].find("the value in effect is 25 s") != std::string::npos);
  }
  SECTION("a running value that multipathd has not touched yet counts") {
    session_in(f, 0).recovery_tmo_s = 120U;
    setting.multipath = "5";
    CHECK(shown(f, "iscsi.sessions", "recovery_s") == "120");
  }
  SECTION("not running: fast_io_fail_tmo goes before the files") {
    session_in(f, 0).recovery_tmo_s = unknown;
    setting.multipath = "5";
    CHECK(shown(f, "iscsi.sessions", "recovery_s") == "5");
  }
  SECTION("the node record, then iscsid.conf, then the default") {
    session_in(f, 0).recovery_tmo_s = unknown;
    CHECK(shown(f, "iscsi.sessions", "recovery_s") == "60");
    setting.record = Fact<std::string>::absent();
    CHECK(shown(f, "iscsi.sessions", "recovery_how") == "by iscsid.conf");
    setting.config = Fact<std::string>::absent();
    CHECK(shown(f, "iscsi.sessions", "recovery_s") == "120");
    CHECK(shown(f, "iscsi.sessions", "recovery_how") == "open-iscsi's default");
  }
  SECTION("a record that could not be read hides what stands behind it") {
    session_in(f, 0).recovery_tmo_s = unknown;
    setting.record = Fact<std::string>{};
    CHECK(shown(f, "iscsi.sessions", "recovery_s") == "?");
  }
}

TEST_CASE("iscsi: without pings a dead path is noticed by commands that time out") {
  facts::Facts f = fixture::storage_node();
  session_in(f, 0).connections[0].recv_tmo_s = 0U;
  CHECK(shown(f, "iscsi.sessions", "noticed_s") == "105");  // 30 + 15 + 30 + 30
  CHECK(shown(f, "iscsi.sessions", "path_stall_s") == "110");
  CHECK(shown(f, "iscsi.sessions", "stall_parts") == "105 + 5: until it is noticed without pings, recovery");
  (*f.block.devices)[0].timeout_s = Fact<std::uint32_t>{};
  CHECK(shown(f, "iscsi.sessions", "noticed_s") == "?");
}

TEST_CASE("iscsi: what becomes of I/O when no path is left") {
  facts::Facts f = fixture::storage_node();
  auto& map = (*f.multipath.maps)[0];
  SECTION("queue: for ever") {
    map.settings = {map_setting("no_path_retry", "queue")};
    CHECK(shown(f, "multipath.maps", "all_lost_hangs") == "yes");
    CHECK(shown(f, "multipath.maps", "all_lost_s") == "-");
  }
  SECTION("so many checks: that often the polling interval") {
    map.settings = {map_setting("no_path_retry", "12")};
    CHECK(shown(f, "multipath.maps", "all_lost_s") == "75");  // 15 s to switch, 12 x 5 s
    f.multipath.settings = {map_setting("polling_interval", "10")};
    CHECK(shown(f, "multipath.maps", "all_lost_s") == "135");
    CHECK(shown(f, "multipath.maps", "all_lost_hangs") == "no");
  }
  SECTION("fail: at once") {
    map.settings = {map_setting("no_path_retry", "fail")};
    CHECK(shown(f, "multipath.maps", "all_lost_s") == "15");
  }
  SECTION("only the feature of the loaded map is known") {
    CHECK(shown(f, "multipath.maps", "all_lost_hangs") == "?");
    map.queue_if_no_path = false;
    CHECK(shown(f, "multipath.maps", "all_lost_hangs") == "no");
  }
}

TEST_CASE("iscsi: portals that are expected") {
  facts::Facts f = fixture::storage_node();
  auto& target = f.iscsi.targets[0];
  CHECK(shown(f, "iscsi.targets", "expected_count") == "2");
  CHECK(shown(f, "iscsi.targets", "missing_portals") == "-");
  target.expected_portals.push_back({"198.51.100.3:3260,7", "node record", "/r", "manual"});
  CHECK(shown(f, "iscsi.targets", "missing_portals") == "198.51.100.3:3260");
  CHECK(shown(f, "iscsi.targets", "missing_is_wanted") == "no");
  target.expected_portals.back().startup = "automatic";
  CHECK(shown(f, "iscsi.targets", "expected_by") == "node records with automatic startup");
  // Trident names portals without a tag: they are the same.
  target.expected_portals.push_back({"192.0.2.1:3260", "trident", "/t", Fact<std::string>::absent()});
  CHECK(shown(f, "iscsi.targets", "expected_count") == "3");
  facts::IscsiPortal portal;
  portal.id = "198.51.100.3:3260,7";
  f.iscsi.portals.push_back(portal);
  f.iscsi.portals.back().reachable = false;
  CHECK(shown(f, "iscsi.targets", "missing_count") == "0");
  f.iscsi.portals.back().reachable = true;
  f.iscsi.portals.back().link_local = true;
  CHECK(shown(f, "iscsi.targets", "missing_count") == "0");
}

TEST_CASE("iscsi: interfaces, portals and port groups of the paths of a map") {
  facts::Facts f = fixture::storage_node();
  CHECK(shown(f, "multipath.maps", "spread.interfaces") == "2");
  CHECK(shown(f, "multipath.maps", "spread.interface_names") == "ens1, ens2");
  CHECK(shown(f, "multipath.maps", "spread.port_groups") == "2");
  session_in(f, 1).netdev = "ens1";  // bound there, whatever the route says
  CHECK(shown(f, "multipath.maps", "spread.interfaces") == "1");
  session_in(f, 1).tpgt = session_in(f, 0).tpgt;
  CHECK(shown(f, "multipath.maps", "spread.port_groups") == "1");
  session_in(f, 1).tpgt = Fact<std::int32_t>::absent();
  CHECK(shown(f, "multipath.maps", "spread.port_groups") == "?");
}

TEST_CASE("iscsi: digests of one target, iser left out") {
  facts::Facts f = fixture::storage_node();
  session_in(f, 0).connections[0].header_digest = "CRC32C";
  CHECK(shown(f, "iscsi.targets", "digests_differ") == "yes");
  session_in(f, 1).transport = "iser";
  CHECK(shown(f, "iscsi.targets", "digests_differ") == "no");
  CHECK(shown(f, "iscsi.targets", "digests") == "header CRC32C, data None");
  CHECK(shown(f, "iscsi.targets", "mixes_rdma") == "yes");
  session_in(f, 0).transport = "bnx2i";
  session_in(f, 1).transport = "qedi";
  CHECK(shown(f, "iscsi.targets", "mixes_rdma") == "no");
}

TEST_CASE("iscsi: disconnects of the log, told by kernel and iscsid, are counted once") {
  facts::Facts f = fixture::storage_node();
  std::vector<facts::LogMessage> log;
  for (const char* at : {"Aug 14 18:37:46", "Aug 14 18:37:49", "Aug 14 19:30:00", "Aug 14 22:00:00"}) {
    log.push_back(lost(at, 1020));
    log.push_back(lost(at, 1020, "iscsi-connection-error-told"));
  }
  f.log.messages = log;
  CHECK(shown(f, "iscsi.disconnects", "count") == "4");
  CHECK(shown(f, "iscsi.disconnects", "most_per_hour") == "3");
  CHECK(shown(f, "iscsi.disconnects", "last") == "Aug 14 22:00:00");
  CHECK(shown(f, "iscsi.disconnects", "thrown_out") == "0");
  CHECK(shown(f, "iscsi.disconnects", "ping_timeouts") == "0");
  SECTION("error 22 and 1022 are pings that were not answered") {
    (*f.log.messages)[0].code = 22;
    (*f.log.messages)[2].code = 1022;
    CHECK(shown(f, "iscsi.disconnects", "ping_timeouts") == "2");
    CHECK(shown(f, "iscsi.sessions", "ping_timeouts") == "2");
    CHECK(shown(f, "iscsi.sessions", "ping_timeouts", 1) == "0");
  }
  SECTION("lines without a time have no rate") {
    for (auto& m : *f.log.messages) m.at = Fact<std::string>{};
    CHECK(shown(f, "iscsi.disconnects", "most_per_hour") == "?");
  }
}

TEST_CASE("iscsi: a line of fstab needs the record of its target") {
  facts::Facts f = fixture::storage_node();
  f.config.trident = std::vector<facts::TridentVolume>{};
  (*f.multipath.maps)[0].users[0].kubelet = Fact<facts::KubeletVolume>::absent();
  facts::FstabEntry entry;
  entry.source = "/dev/disk/by-path/ip-192.0.2.1:3260-iscsi-" + fixture::array_target + "-lun-7";
  entry.target = "/data";
  entry.options_text = "nofail";
  f.config.fstab = std::vector{entry};
  CHECK(shown(f, "iscsi.node_records", "fstab.target") == "/data");
  CHECK(shown(f, "iscsi.node_records", "fstab.waits_for_network") == "no");
  for (const char* options : {"_netdev", "defaults,_netdev,nofail", "noauto", "x-systemd.requires=iscsi.service"}) {
    (*f.config.fstab)[0].options_text = options;
    CHECK(shown(f, "iscsi.node_records", "fstab.waits_for_network") == "yes");
  }
  (*f.config.fstab)[0].source = "UUID=1";
  CHECK(shown(f, "iscsi.node_records", "fstab.target") == "-");
  (*f.multipath.maps)[0].users[0].name = "/data";
  CHECK(shown(f, "iscsi.node_records", "fstab.target") == "/data");
  CHECK(shown(f, "iscsi.node_records", "login_patience_s") == "120");
  CHECK(shown(f, "iscsi.node_records", "csi_managed") == "no");
}

TEST_CASE("iscsi: a healthy node with two paths gives nothing above info in any profile") {
  facts::Facts f = fixture::storage_node();
  f.log.messages = std::vector<facts::LogMessage>{};
  f.config.fstab = std::vector<facts::FstabEntry>{};
  const auto profile =
      GENERATE("general", "openshift-virtualization", "failover", "pre-benchmark", "database", "zfs-nas");
  const auto report = fixture::judge(f, fixture::shipped(), {"ISCSI-*"}, {profile});
  for (const auto& finding : report.findings) {
    INFO(profile << ' ' << finding.rule << ' ' << finding.text.message);
    CHECK(finding.severity == audit::Severity::info);
  }
  CHECK_FALSE(report.passed.empty());
}

TEST_CASE("iscsi: a lost portal is one finding with the volumes at risk, however many LUNs lie on it") {
  facts::Facts f = fixture::storage_node();
  session_in(f, 1).state = "FREE";
  const auto device = (*f.block.devices)[1];
  const auto map = (*f.multipath.maps)[0];
  for (int i = 0; i < 100; ++i) {
    auto d = device;
    d.name = fmt::format("sdx{}", i);
    d.map = fmt::format("3600{}", i);
    auto m = map;
    m.id = *d.map;
    m.wwid = m.id;
    m.alias = m.id;
    m.paths = {fixture::path(d)};
    m.users = {fixture::mounted(fmt::format("/v{}", i), fmt::format("pvc-x{}", i), "db-1")};
    f.block.devices->push_back(d);
    f.multipath.maps->push_back(m);
  }
  const auto report = fixture::judge(f, fixture::shipped(), {"ISCSI-SESS-002"});
  REQUIRE(report.findings.size() == 1);
  const auto& affects = report.findings[0].affects;
  CHECK(std::count_if(affects.begin(), affects.end(), [](const auto& s) { return s.kind == "volume"; }) == 101);
}
