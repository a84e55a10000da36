// The facts that the cases of this directory state for texts of iscsiadm and multipath. What follows from them is
// asserted with the rules.
#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <map>
#include <sstream>

#include "probes/host/iscsi_conf.h"
#include "probes/host/iscsi_names.h"
#include "probes/host/iscsiadm.h"
#include "probes/host/multipath_text.h"

using namespace probes;
using facts::Fact;
using Names = std::vector<std::string>;

namespace {

std::string text(const std::string& name) {
  const std::string path = std::string(SOURCE_DIR) + "/tests/corpus/" + name;
  std::ifstream file(path, std::ios::binary);
  INFO(path);
  REQUIRE(file.good());
  std::ostringstream out;
  out << file.rdbuf();
  return out.str();
}

std::vector<facts::IscsiSession> sessions_of(const Parsed<SessionText>& parsed) {
  CHECK(describe(parsed.notes) == "");
  CHECK(parsed.facts.told);
  return parsed.facts.sessions;
}
std::vector<facts::IscsiSession> listed(const std::string& name) { return sessions_of(parse_session_list(text(name))); }
std::vector<facts::IscsiSession> printed(const std::string& name) {
  return sessions_of(parse_session_print(text(name)));
}

MultipathText tree(const std::string& name, MultipathPrint print = MultipathPrint::ll) {
  auto parsed = parse_multipath_tree(text(name), print, name);
  CHECK(describe(parsed.notes) == "");
  return parsed.facts;
}

Names devices(const facts::MultipathMap& map) {
  Names names;
  for (const auto& path : map.paths) names.push_back(path.device);
  return names;
}

}  // namespace

TEST_CASE("corpus 077: two sessions share one portal, both wait for their transport") {
  const auto sessions = printed("077-session-transport-wait/input.iscsi-p3.txt");
  REQUIRE(sessions.size() == 2);
  CHECK(sessions[0].sid.is(806U));
  CHECK(sessions[1].sid.is(807U));
  for (const auto& session : sessions) {
    CHECK(session.target == "iqn.2001-04.com.example:db1");
    CHECK(session.portal.is("192.0.2.6:3260,1"));
    CHECK(session.state.is("FREE"));
    CHECK(session.iscsid_state.is("REOPEN"));
    CHECK(session.recovery_tmo_s.is(5U));
    CHECK(session.first_burst_len_bytes.is(65536U));
    CHECK(session.chap_configured.is(false));
    CHECK(session.devices.empty());
    REQUIRE(session.connections.size() == 1);
    CHECK(session.connections[0].iscsid_state.is("TRANSPORT WAIT"));
    CHECK(session.connections[0].persistent_addr.is("192.0.2.6"));
    CHECK(session.connections[0].header_digest.is("None"));
  }
  CHECK(sessions[1].host.is(15U));
}

TEST_CASE("corpus 078: a healthy session indented by blanks, a portal group tag of 16 bits") {
  const auto parsed = parse_session_print(text("078-session-3par-healthy/input.iscsi-p3.txt"));
  const auto sessions = sessions_of(parsed);
  REQUIRE(sessions.size() == 1);
  CHECK(sessions[0].tpgt.is(1024));
  CHECK(sessions[0].state.is("LOGGED_IN"));
  CHECK(sessions[0].iscsid_state.is("NO CHANGE"));
  CHECK(sessions[0].connections[0].iscsid_state.is("LOGGED IN"));
  CHECK(sessions[0].recovery_tmo_s.is(10U));
  CHECK(sessions[0].devices == Names{"sdh"});
  REQUIRE(parsed.facts.devices.size() == 1);
  CHECK(parsed.facts.devices[0].lun.is(1U));
  CHECK(parsed.facts.devices[0].state.is("running"));
}

TEST_CASE("corpus 080: a target name with two colons and an address at its end") {
  const std::string target = "iqn.2006-08.com.example:array:2100aabbccddeeff::1022003:192.0.2.17";
  const auto in_list = listed("080-target-name-with-address/input.iscsi-session.txt");
  const auto parsed = parse_session_print(text("080-target-name-with-address/input.iscsi-p3.txt"));
  const auto in_print = sessions_of(parsed);
  REQUIRE(in_list.size() == 1);
  REQUIRE(in_print.size() == 1);
  for (const auto& session : {in_list[0], in_print[0]}) {
    CHECK(session.target == target);
    CHECK(session.portal.is("192.0.2.17:3260,8206"));
    CHECK(session.tpgt.is(8206));
    CHECK(session.flash.is(false));
  }
  CHECK(in_print[0].recovery_tmo_s.is(120U));
  CHECK(in_print[0].devices == Names{"sdb", "sdc", "sdl"});
  CHECK(parsed.facts.devices[2].hctl.is("3:0:0:11"));
  CHECK(parsed.facts.devices[2].lun.is(11U));
}

TEST_CASE("corpus 081: one Target line for two portals, fields missing, an unknown state kept as text") {
  const auto sessions = printed("081-two-portals-one-failed/input.iscsi-p1.txt");
  REQUIRE(sessions.size() == 2);
  CHECK(sessions[0].target == sessions[1].target);
  CHECK(sessions[0].portal.is("192.0.2.69:3260,1"));
  CHECK(sessions[1].portal.is("198.51.100.69:3260,1"));
  CHECK(sessions[0].state.is("LOGGED_IN"));
  CHECK(sessions[1].state.is("FAILED"));
  CHECK(sessions[1].iscsid_state.is("RECONNECT"));
  CHECK(sessions[0].sid.is_unknown());
  CHECK(sessions[0].iface.is_unknown());
  CHECK(sessions[0].told_by == Names{"iscsiadm -P 1"});
}

TEST_CASE("corpus 083: portals by IPv6 address, by host name, and by a name in brackets") {
  const auto sessions = listed("083-flat-list-ipv6-fqdn/input.iscsi-session.txt");
  REQUIRE(sessions.size() == 3);
  CHECK(sessions[0].portal.is("[2001:db8:c8f:e8b0::2]:3260,1"));
  CHECK(sessions[1].portal.is("store1.dc1.example.com:3260,1"));
  CHECK(sessions[2].portal.is("store1:3260,1"));
  CHECK(sessions[2].connections[0].persistent_addr.is("store1"));
  CHECK(parse_portal("[store1]:3260,1")->is_name);
  CHECK_FALSE(parse_portal("[2001:db8:c8f:e8b0::2]:3260,1")->is_name);
  CHECK(sessions[1].target != sessions[2].target);
}

TEST_CASE("corpus 084: a tag of -1, no flash word, the word session in brackets") {
  const auto sessions = listed("084-flat-list-odd-tags/input.iscsi-session.txt");
  REQUIRE(sessions.size() == 5);
  CHECK(sessions[0].sid.is(1U));
  CHECK(sessions[1].tpgt.is_absent());
  CHECK(sessions[1].portal.is("192.0.2.2:3260"));
  CHECK(sessions[2].target == "iqn.2001-04.com.example:tgt3");
  CHECK(sessions[2].flash.is_unknown());
  CHECK(sessions[3].portal == sessions[4].portal);
  CHECK(sessions[3].target != sessions[4].target);
}

TEST_CASE("corpus 086: initiator names behind comments") {
  for (const char* node : {"a", "b"}) {
    const auto parsed = parse_initiatorname(
        text("086-duplicate-initiator-name/input.node-" + std::string(node) + ".initiatorname.iscsi"));
    CHECK(parsed.notes.empty());
    CHECK(parsed.facts.count == 1);
    REQUIRE(parsed.facts.name.has_value());
    CHECK(is_target_name(*parsed.facts.name));
  }
  CHECK(parse_initiatorname(text("086-duplicate-initiator-name/input.node-a.initiatorname.iscsi")).facts.name ==
        parse_initiatorname(text("086-duplicate-initiator-name/input.node-b.initiatorname.iscsi")).facts.name);
}

TEST_CASE("corpus 089: two targets with a usable and a link-local portal each") {
  const auto parsed = parse_node_list(text("089-discovery-adds-fe80/input.nodes.txt"));
  CHECK(parsed.notes.empty());
  REQUIRE(parsed.facts.size() == 4);
  for (const auto& record : parsed.facts) CHECK(record.iface.is("default"));
  CHECK(parsed.facts[0].portal.is("192.0.2.87:3260,1"));
  CHECK(parsed.facts[0].link_local.is(false));
  CHECK(parsed.facts[1].portal.is("[fe80::11:22ff:fe33:4455]:3260,1"));
  CHECK(parsed.facts[1].link_local.is(true));
  CHECK(parsed.facts[1].target == "iqn.2000-01.com.example:DiskStation4.Target-1.0a1b2c3d4e");
  CHECK(parsed.facts[3].target == "iqn.2000-01.com.example:DiskStation4.Target-11.0a1b2c3d4e");
  CHECK(parsed.facts[3].link_local.is(true));
}

TEST_CASE("corpus 090: two spellings of one address are one portal") {
  CHECK(portal_id("fe80:0000:0000:0000:0203:00ff:fe00:0319", 3260, {}) == portal_id("fe80::203:ff:fe00:319", 3260, {}));
}

TEST_CASE("corpus 095: the record says 10, the sessions run with 120") {
  const auto parsed =
      parse_node_records(text("095-replacement-timeout-not-live/input.node-record.txt"), "input.node-record.txt");
  CHECK(parsed.notes.empty());
  REQUIRE(parsed.facts.size() == 1);
  const auto& record = parsed.facts[0].record;
  CHECK(record.target == "iqn.2001-04.com.example:vol1");
  CHECK(record.replacement_timeout_s.is(10U));
  CHECK(record.noop_out_interval_s.is(5U));
  CHECK(record.startup.is("automatic"));
  CHECK(record.portal.is_unknown());
  CHECK(record.chap_configured.is_unknown());
  const auto sessions = printed("095-replacement-timeout-not-live/input.iscsi-p3.txt");
  REQUIRE(sessions.size() == 2);
  CHECK(sessions[0].recovery_tmo_s.is(120U));
  CHECK(sessions[1].recovery_tmo_s.is(120U));
  CHECK(sessions[1].tpgt.is(2));
  const auto maps = tree("095-replacement-timeout-not-live/input.multipath-ll.txt").maps;
  REQUIRE(maps.size() == 1);
  CHECK(devices(maps[0]) == Names{"sdb", "sdc"});
}

TEST_CASE("corpus 097: adapters run the sessions, iscsid knows no state of theirs") {
  const auto in_list = listed("097-offload-unknown-states/input.iscsi-session.txt");
  REQUIRE(in_list.size() == 4);
  CHECK(in_list[0].flash.is(true));
  for (const auto& session : in_list) CHECK(session.offload.is(true));
  const auto sessions = printed("097-offload-unknown-states/input.iscsi-p3.txt");
  REQUIRE(sessions.size() == 3);
  CHECK(sessions[0].state.is("LOGGED_IN"));
  CHECK(sessions[0].iscsid_state.is("Unknown"));
  CHECK(sessions[0].connections[0].iscsid_state.is("Unknown"));
  CHECK(sessions[0].iface.is("qla4xxx.02:00:00:00:00:82.ipv4.0"));
  CHECK(sessions[0].tgt_reset_tmo_s.is_absent());
  CHECK(sessions[0].max_outstanding_r2t.is_unknown());
  CHECK(sessions[0].netdev.is_absent());
  CHECK(sessions[0].initiatorname.is_absent());
  CHECK(sessions[0].devices == Names{"sda"});
  CHECK(sessions[2].transport.is("be2iscsi"));
}

TEST_CASE("corpus 099: one target over iser and over TCP with digests") {
  const auto sessions = printed("099-iser-and-digest-mismatch/input.iscsi-p3.txt");
  REQUIRE(sessions.size() == 2);
  CHECK(sessions[0].transport.is("iser"));
  CHECK(sessions[0].offload.is(false));
  CHECK(sessions[0].connections[0].header_digest.is("None"));
  CHECK(sessions[0].connections[0].max_recv_dlength_bytes.is(128U));
  CHECK(sessions[1].transport.is("tcp"));
  CHECK(sessions[1].connections[0].header_digest.is("CRC32C"));
  CHECK(sessions[1].connections[0].data_digest.is("CRC32C"));
  CHECK(listed("099-iser-and-digest-mismatch/input.iscsi-session.txt")[0].transport.is("iser"));
}

TEST_CASE("corpus 101: two sessions and a map with one path of priority 10") {
  CHECK(listed("101-two-sessions-one-path/input.iscsi-session.txt").size() == 2);
  const auto maps = tree("101-two-sessions-one-path/input.multipath-ll.txt").maps;
  REQUIRE(maps.size() == 1);
  CHECK(maps[0].wwid.is("3600a09824b75bb4f9ae9fd0c0c20776d"));
  CHECK(maps[0].alias == maps[0].wwid);
  CHECK(maps[0].vendor.is("NETAPP"));
  CHECK(maps[0].product.is("LUN C-Mode"));
  CHECK(maps[0].queue_if_no_path.is(true));
  CHECK(maps[0].features_text.is("3 queue_if_no_path pg_init_retries 50"));
  CHECK(maps[0].hwhandler.is("alua"));
  CHECK(maps[0].size_bytes.is(256ULL << 30));
  REQUIRE(maps[0].paths.size() == 1);
  CHECK(maps[0].paths[0].prio.is(10));
  CHECK(maps[0].groups[0].status.is("active"));
  CHECK(maps[0].groups[0].selector.is("service-time"));
  CHECK(maps[0].paths[0].dev.is("8:0"));
}

TEST_CASE("corpus 102: eight maps behind a table of paths and log words") {
  const auto said = tree("102-mpath-v4-mixed/input.multipath-v4-ll.txt", MultipathPrint::v4);
  REQUIRE(said.maps.size() == 8);
  CHECK(said.paths.empty());
  CHECK(said.notices.size() == 4);  // *word = 0 (three times), E, 1, A
  CHECK(said.maps[0].alias.is("mpathg"));
  CHECK(said.maps[0].paths.size() == 8);
  CHECK(said.maps[0].groups.size() == 2);
  CHECK(said.maps[0].groups[1].status.is("enabled"));
  CHECK(said.maps[0].groups[0].prio.is(0));
  CHECK(said.maps[0].hwhandler.is("rdac"));
  CHECK(said.maps[1].write_protect.is("rx"));
  CHECK(said.maps[1].hwhandler.is("rdac"));
  CHECK(said.maps[2].vendor.is("LIO-ORG"));
  CHECK(said.maps[2].product.is("block0_sdb"));
  CHECK(said.maps[3].alias.is("mpatha"));
  CHECK(said.maps[3].wwid.is("1IET     00080001"));
  CHECK(said.maps[4].alias.is("1IET     00080001"));
  CHECK(said.maps[4].device.is("dm-0"));
  CHECK(said.maps[5].product.is("Compellent Vol"));
  CHECK(said.maps[7].wwid.is("test_with_no_devs"));
  CHECK(said.maps[7].state.is("uninitialized"));
  CHECK(said.maps[7].paths.empty());
  CHECK(said.maps[7].groups.empty());
  CHECK(said.maps[7].vendor.is_unknown());
}

TEST_CASE("corpus 104: log lines before the maps, a wrapped attribute, states that are not determined") {
  const auto said = tree("104-mpath-log-lines-before/input.multipath-ll.txt");
  REQUIRE(said.maps.size() == 3);
  std::map<std::string, std::uint32_t> changed;
  for (const auto& notice : said.notices)
    if (notice.kind == "wwid-changed") changed[notice.dev.value_or("")] = notice.count;
  CHECK(changed == std::map<std::string, std::uint32_t>{{"8:160", 1}, {"65:208", 2}});
  CHECK(said.maps[0].vendor.is("PURE"));
  CHECK(said.maps[0].product.is("FlashArray"));
  CHECK(said.maps[0].checkers_ran);
  CHECK(said.maps[1].groups[0].prio.is_unknown());
  CHECK(said.maps[1].paths[0].checker_state.is_unknown());
  CHECK(said.maps[1].paths[0].dm_state.is("active"));
  CHECK_FALSE(said.maps[1].checkers_ran);
  CHECK(said.maps[1].paths[0].lun.is(0U));
  CHECK(said.maps[1].paths[1].lun.is(3U));
  CHECK(said.maps[2].alias.is("mpath6"));

  const auto created = tree("104-mpath-log-lines-before/input.create.txt");
  REQUIRE(created.maps.size() == 1);
  CHECK(created.maps[0].wwid.is("3600507679a9e80f63517cc54e0000101"));
  CHECK(created.maps[0].write_protect.is("rw"));
  CHECK(created.maps[0].queue_if_no_path.is(true));
  CHECK(created.maps[0].paths.size() == 2);
}

TEST_CASE("corpus 105: attributes on the line of the map") {
  const auto maps = tree("105-mpath-one-line-header/input.multipath-ll.txt").maps;
  REQUIRE(maps.size() == 2);
  for (const auto& map : maps) {
    CHECK(map.product.is("LUN C-Mode"));
    CHECK(map.paths.size() == 4);
    CHECK(map.queue_if_no_path.is(true));
    CHECK(map.hwhandler.is("alua"));
    CHECK(map.write_protect.is("rw"));
  }
  CHECK(maps[0].size_bytes.is(10ULL << 30));
  CHECK(maps[0].paths[2].dev.is("129:240"));
  CHECK(maps[1].groups[0].prio.is(50));
  CHECK(maps[1].groups[1].prio.is(10));
  CHECK(maps[1].groups[1].paths == Names{"sdc", "sdcf"});
}

TEST_CASE("corpus 106: minors above 255, a prompt, a group that ends with a bar") {
  const auto said = tree("106-mpath-extended-minors/input.multipath-ll.txt");
  REQUIRE(said.maps.size() == 2);
  CHECK(said.maps[0].paths[3].dev.is("8:256"));
  CHECK(said.maps[0].paths[2].dev.is("65:320"));
  CHECK(said.maps[1].groups[0].paths == Names{"sdd", "sdx"});
  CHECK(said.maps[1].groups[1].paths == Names{"sdfk", "sdgz"});
  for (const auto& map : said.maps)
    for (const auto& path : map.paths) CHECK(path.checker_state.is("ready"));
}

TEST_CASE("corpus 107: maps whose paths are gone") {
  const auto said = tree("107-mpath-removed-paths/input.multipath-ll.txt");
  REQUIRE(said.maps.size() == 3);
  CHECK(said.maps[0].paths.size() == 4);
  CHECK(said.maps[1].device.is("dm-12"));
  CHECK(said.maps[1].vendor.is_absent());
  CHECK(said.maps[1].product.is_absent());
  CHECK(said.maps[1].paths.empty());
  CHECK(said.maps[1].queue_if_no_path.is(false));
  REQUIRE(said.maps[2].paths.size() == 2);
  for (const auto& path : said.maps[2].paths) {
    CHECK(path.removed);
    CHECK(path.device.empty());
    CHECK(path.dev.is_absent());
    CHECK(path.dm_state.is("failed"));
    CHECK(path.checker_state.is_unknown());
    CHECK(path.dev_state.is_unknown());
  }
  std::size_t no_device = 0;
  for (const auto& notice : said.notices) no_device += notice.kind == "no-block-device" ? notice.count : 0;
  CHECK(no_device == 6);
}

TEST_CASE("corpus 108: ten failed paths of maps that are not in the text") {
  const auto said = tree("108-mpath-faulty-many/input.multipath-ll.txt");
  CHECK(said.maps.empty());
  REQUIRE(said.paths.size() == 10);
  std::map<std::uint64_t, int> luns;
  std::map<std::uint32_t, int> hosts;
  for (const auto& path : said.paths) {
    CHECK(path.dm_state.is("failed"));
    CHECK(path.checker_state.is("faulty"));
    CHECK(path.dev_state.is("running"));
    CHECK(path.map.is_unknown());
    ++luns[*path.lun];
    ++hosts[*path.host];
  }
  CHECK(luns == std::map<std::uint64_t, int>{{13, 4}, {34, 6}});
  CHECK(hosts.size() == 2);
  CHECK((hosts.count(6) == 1 && hosts.count(19) == 1));
}

TEST_CASE("corpus 110: native NVMe multipathing beside a local map") {
  const auto maps = tree("110-mpath-nvme-foreign/input.multipath-ll.txt").maps;
  REQUIRE(maps.size() == 3);
  CHECK(maps[0].kind == "nvme");
  CHECK(maps[0].device.is("nvme1n1"));
  CHECK(maps[0].vendor.is("NVMe"));
  CHECK(maps[0].product.is("NetApp E-Series"));
  CHECK(maps[0].rev.is("08901200"));
  CHECK(maps[0].size_bytes.is(10ULL << 30));
  CHECK(maps[0].queue_if_no_path.is_absent());
  CHECK(maps[0].iscsi.is(false));
  CHECK(maps[0].hwhandler.is("ANA"));
  REQUIRE(maps[0].paths.size() == 4);
  CHECK(maps[0].paths[0].ana_state.is("non-optimized"));
  CHECK(maps[0].paths[3].ana_state.is("optimized"));
  CHECK(maps[0].paths[3].dev_state.is("live"));
  CHECK(maps[0].paths[3].checker_state.is_absent());
  CHECK(maps[1].kind == "nvme");
  CHECK(maps[1].alias.is("nvme-subsys0:NQN:nqn.2014.08.org.nvmexpress:19e519e5000TESTSN0000001    HWE36P43016M000N"));
  CHECK(maps[1].wwid.is("nvme.19e5-30303054455354534e30303030303031-48574533365034333031364d3030304e-00000001"));
  CHECK(maps[1].groups[0].prio.is_absent());
  CHECK(maps[1].paths.empty());
  CHECK(maps[2].kind == "dm-multipath");
  CHECK(maps[2].vendor.is("ATA"));
}

TEST_CASE("corpus 112: one map over disks of two targets, told by their hosts") {
  CHECK(parse_session_hosts(text("112-wwid-collision-tgt/input.hosts.txt")) ==
        std::vector<std::pair<std::uint32_t, std::uint32_t>>{{12, 8}, {13, 9}});
  const auto maps = tree("112-wwid-collision-tgt/input.multipath-ll.txt").maps;
  REQUIRE(maps.size() == 1);
  CHECK(maps[0].paths[0].host.is(8U));
  CHECK(maps[0].paths[1].host.is(9U));
}

TEST_CASE("corpus 113: multipath -l has run no checker") {
  const auto maps = tree("113-mpath-l-undef-states/input.multipath-l.txt", MultipathPrint::l).maps;
  REQUIRE(maps.size() == 2);
  CHECK(maps[0].alias.is("site_A_3"));
  CHECK(maps[0].wwid.is("360000000000000000e00e6b900000003"));
  for (const auto& map : maps) {
    CHECK_FALSE(map.checkers_ran);
    CHECK(map.paths.size() == 3);
    CHECK(map.groups[0].prio.is_unknown());
    for (const auto& path : map.paths) {
      CHECK(path.checker_state.is_unknown());
      CHECK(path.dm_state.is("active"));
    }
  }
}

TEST_CASE("corpus 115: all paths down, held I/O fails in 84 s") {
  const auto parsed = parse_multipath_json(text("115-mpath-json-all-paths-down/input.maps.json"), "maps.json");
  CHECK(describe(parsed.notes) == "");
  REQUIRE(parsed.facts.maps.size() == 1);
  const auto& map = parsed.facts.maps[0];
  CHECK(map.alias.is("mpathx"));
  CHECK(map.queueing.is("84 sec"));
  CHECK(map.queue_left_s.is(84U));
  CHECK(map.queue_if_no_path.is(true));
  CHECK(map.failback.is("immediate"));
  CHECK(map.state.is("active"));
  CHECK(map.path_faults.is(2U));
  CHECK(map.total_queue_s.is(42U));
  CHECK(map.checkers_ran);
  REQUIRE(map.paths.size() == 2);
  for (const auto& path : map.paths) {
    CHECK(path.dm_state.is("failed"));
    CHECK(path.checker_state.is("faulty"));
    CHECK(path.checker.is("tur"));
    CHECK(path.lun.is(1U));
    CHECK(path.prio.is(50));
    CHECK(path.marginal.is(false));
  }
  CHECK(map.paths[0].host_adapter.is("192.0.2.151"));
  CHECK(map.paths[0].target_node.is("iqn.2000-05.com.example:20220002ac0000a1"));
  CHECK(map.paths[1].target_node.is("iqn.2000-05.com.example:21220002ac0000b2"));
  CHECK(map.groups[0].status.is("enabled"));
}

TEST_CASE("corpus 117: orphans, and a line that is cut behind the checker state") {
  const auto cut = parse_multipath_paths(text("117-mpath-paths-format-cut/input.show-paths-cut.txt"), "cut");
  REQUIRE(cut.facts.paths.size() == 1);
  CHECK(cut.facts.paths[0].device == "sdd");
  CHECK(cut.facts.paths[0].wwid.is("2c6f914c35f32bf1d812e2371fad51301"));
  CHECK(cut.facts.paths[0].lun.is(1U));
  CHECK(cut.facts.paths[0].dm_state.is_unknown());
  CHECK(cut.facts.paths[0].map.is_unknown());
  CHECK(describe(cut.notes) == "line 2: the line of path sdd ends early");

  const auto parsed = parse_multipath_paths(text("117-mpath-paths-format-cut/input.show-paths.txt"), "paths");
  CHECK(describe(parsed.notes) == "");
  REQUIRE(parsed.facts.paths.size() == 7);
  int orphans = 0;
  std::map<std::string, Names> by_wwid;
  for (const auto& path : parsed.facts.paths) {
    if (path.map.is_absent()) ++orphans;
    if (path.map.is_absent()) by_wwid[plain_wwid(*path.wwid)].push_back(path.device);
    CHECK(path.checker_state.is("ready"));
    CHECK(path.checker.is("tur"));
    CHECK(path.dev_state.is("running"));
    CHECK(path.dm_state.is("active"));
  }
  CHECK(orphans == 6);
  CHECK(parsed.facts.paths[5].map.is("mpathcd"));
  CHECK(by_wwid["60002acd11784ea8f9d0cbba8537f544"] == Names{"sdc", "sdg"});
  CHECK(by_wwid["60002acb674fb8b568a09ea23ab2b114"] == Names{"sde", "sdi"});
  CHECK(by_wwid["6589cfc00000012345"] == Names{"sda"});
}

TEST_CASE("corpus 119: LUNs above 255 in two ways of counting") {
  const auto maps = tree("119-lun-above-255/input.multipath-ll.txt").maps;
  REQUIRE(maps.size() == 2);
  CHECK(maps[0].paths[0].lun.is(1U));
  CHECK(maps[0].paths[1].lun.is(1U));
  CHECK(maps[1].paths[0].lun.is(256U));
  const auto parsed = parse_multipath_json(text("119-lun-above-255/input.maps.json"), "maps.json");
  CHECK(parsed.notes.empty());
  REQUIRE(parsed.facts.maps.size() == 1);
  CHECK(parsed.facts.maps[0].paths[0].lun.is(256U));
  CHECK(parsed.facts.maps[0].queueing.is_unknown());
  CHECK(parsed.facts.maps[0].queue_if_no_path.is_unknown());
  CHECK(parsed.facts.maps[0].paths[0].marginal.is_unknown());
}

TEST_CASE("corpus 120: no active sessions is an answer, and a local map is a map") {
  const auto parsed = parse_session_list(text("120-local-sas-multipath/input.iscsi-session.txt"));
  CHECK(parsed.notes.empty());
  CHECK(parsed.facts.told);
  CHECK(parsed.facts.sessions.empty());
  const auto maps = tree("120-local-sas-multipath/input.multipath-ll.txt").maps;
  REQUIRE(maps.size() == 1);
  CHECK(maps[0].vendor.is("WD"));
  CHECK(maps[0].paths[0].host.is(0U));
  CHECK(maps[0].paths[1].host.is(0U));
}
