// Texts of iscsiadm, open-iscsi's files and multipath: real captures to the end, and damaged ones. The damaged texts
// are made up here.
#include <catch2/catch.hpp>
#include <fstream>
#include <map>
#include <sstream>

#include "audit/base/text.h"
#include "probes/host/iscsi_conf.h"
#include "probes/host/iscsi_names.h"
#include "probes/host/iscsiadm.h"
#include "probes/host/multipath_text.h"

using namespace probes;
using facts::Fact;
using Names = std::vector<std::string>;

namespace {

std::string capture(const std::string& name) {
  const std::string path = std::string(SOURCE_DIR) + "/samples/captures/" + name;
  std::ifstream file(path, std::ios::binary);
  INFO(path);
  REQUIRE(file.good());
  std::ostringstream out;
  out << file.rdbuf();
  return out.str();
}

// What stands behind "==== TITLE" up to the next such line.
std::string section(const std::string& text, const std::string& title) {
  std::string_view rest = text;
  std::string_view line;
  std::string out;
  bool inside = false;
  while (base::next_line(rest, line)) {
    if (line.starts_with("==== ")) {
      inside = line == "==== " + title;
      continue;
    }
    if (inside) out.append(line).append("\n");
  }
  REQUIRE_FALSE(out.empty());
  return out;
}

const std::string good_list = "tcp: [1] 192.0.2.1:3260,1 iqn.2001-04.com.example:a (non-flash)\n";

}  // namespace

TEST_CASE("captures: iscsiadm prints and counters parse to the end") {
  struct Row {
    const char* file;
    std::size_t sessions;
    std::size_t devices;
  };
  const Row row = GENERATE(Row{"iscsi-tgt-1session.txt", 1, 1}, Row{"iscsi-lio-1session.txt", 1, 2},
                           Row{"iscsi-lio-2sessions-digest.txt", 2, 4}, Row{"iscsi-lio-mpath.txt", 2, 4},
                           Row{"iscsi-lio-mpath-silent.txt", 2, 4});
  INFO(row.file);
  const auto text = capture(row.file);
  const auto printed = parse_session_print(section(text, "iscsiadm -m session -P 3"));
  CHECK(describe(printed.notes) == "");
  CHECK(printed.facts.sessions.size() == row.sessions);
  CHECK(printed.facts.devices.size() == row.devices);
  for (const auto& session : printed.facts.sessions) {
    CHECK(session.sid.has_value());
    CHECK(session.recovery_tmo_s.has_value());
    CHECK(session.max_outstanding_r2t.is(1U));
    CHECK(session.told_by == Names{"iscsiadm -P 3"});
    CHECK(session.iface.is("default"));
  }
  const auto stats = parse_session_stats(section(text, "iscsiadm -m session -s"));
  CHECK(describe(stats.notes) == "");
  CHECK(stats.facts.size() == row.sessions);
}

TEST_CASE("captures: multipath -ll parses to the end, its silent path is faulty") {
  const auto healthy =
      parse_multipath_tree(section(capture("iscsi-lio-mpath.txt"), "multipath -ll"), MultipathPrint::ll, "s");
  CHECK(describe(healthy.notes) == "");
  REQUIRE(healthy.facts.maps.size() == 2);
  CHECK(healthy.facts.maps[0].alias.is("mpatha"));
  CHECK(healthy.facts.maps[0].wwid.is("360014050f1ab3c00d154e578a0000000"));
  CHECK(healthy.facts.maps[0].size_bytes.is(64ULL << 20));
  CHECK(healthy.facts.maps[0].paths.size() == 2);
  const auto silent =
      parse_multipath_tree(section(capture("iscsi-lio-mpath-silent.txt"), "multipath -ll"), MultipathPrint::ll, "s");
  CHECK(describe(silent.notes) == "");
  int failed = 0;
  for (const auto& map : silent.facts.maps)
    for (const auto& path : map.paths)
      if (path.dm_state.is("failed") && path.checker_state.is("faulty")) ++failed;
  CHECK(failed == 2);
}

TEST_CASE("captures: multipathd show paths with its header") {
  const auto text = capture("mpath-show.txt");
  const auto start = text.find("hcil");
  const auto parsed = parse_multipath_paths(text.substr(start, text.find("name   sysfs") - start), "s");
  CHECK(describe(parsed.notes) == "");
  REQUIRE(parsed.facts.paths.size() == 4);
  CHECK(parsed.facts.paths[2].device == "sdd");
  CHECK(parsed.facts.paths[2].prio.is(50));
  CHECK(parsed.facts.paths[2].hctl.is("1:0:0:1"));
  CHECK(parsed.facts.paths[2].checker_state.is("ready"));
}

TEST_CASE("captures: a node record and an iscsid.conf") {
  const auto text = capture("iscsi-node-record.txt");
  const auto end = text.find("# END RECORD");
  const auto record = parse_node_records(text.substr(0, end), "record");
  CHECK(describe(record.notes) == "");
  REQUIRE(record.facts.size() == 1);
  CHECK(record.facts[0].record.target == "iqn.2026-01.lab:tgt");
  CHECK(record.facts[0].record.portal.is("10.9.0.1:3260,1"));
  CHECK(record.facts[0].record.iface.is("default"));
  CHECK(record.facts[0].record.replacement_timeout_s.is(120U));
  CHECK(record.facts[0].record.scan.is("auto"));
  CHECK(record.facts[0].record.chap_configured.is(false));
  CHECK(record.facts[0].record.leading_login.is(false));
  CHECK(record.facts[0].values.count("node.session.auth.username") == 0);
  const auto conf = parse_iscsid_conf(text.substr(text.find("iscsid.startup")), "/etc/iscsi/iscsid.conf");
  CHECK(describe(conf.notes) == "");
  CHECK(conf.facts.size() > 20);
}

TEST_CASE("session list: a bad line costs itself") {
  struct Row {
    const char* line;
    const char* why;
  };
  const Row row = GENERATE(
      Row{"tcp [1] 192.0.2.1:3260,1 iqn.2001-04.com.example:a", "no \"TRANSPORT: [NUMBER] PORTAL TARGET\""},
      Row{"tcp: [1 192.0.2.1:3260,1 iqn.2001-04.com.example:a", "no closing bracket behind the session number"},
      Row{"tcp: [x] 192.0.2.1:3260,1 iqn.2001-04.com.example:a", "the session number is none"},
      Row{"tcp: [2] 192.0.2.1:99999,1 iqn.2001-04.com.example:a", "the portal is none"},
      Row{"tcp: [2] [2001:db8::1:3260,1 iqn.2001-04.com.example:a", "the portal is none"},
      Row{"tcp: [2] 192.0.2.1:3260,1", "no name of a target behind the portal"},
      Row{"tcp: [2] 192.0.2.1:3260,1 example", "no name of a target behind the portal"},
      Row{"iscsiadm: could not read session list: 12", "no \"TRANSPORT: [NUMBER] PORTAL TARGET\""});
  const auto parsed = parse_session_list(good_list + row.line + "\n" + good_list);
  CHECK(parsed.facts.sessions.size() == 2);
  REQUIRE(parsed.notes.size() == 1);
  CHECK(parsed.notes[0].line == 2);
  CHECK(parsed.notes[0].reason == row.why);
}

TEST_CASE("session list: nothing at all tells nothing") {
  CHECK_FALSE(parse_session_list("").facts.told);
  CHECK_FALSE(parse_session_list("# iscsiadm -m session\n").facts.told);
  CHECK(parse_session_list("iscsiadm: No active sessions.\n").facts.told);
}

TEST_CASE("session print: what is damaged costs what is damaged") {
  const std::string good =
      "Target: iqn.2001-04.com.example:a (non-flash)\n\tCurrent Portal: 192.0.2.1:3260,1\n\tPersistent Portal: "
      "192.0.2.1:3260,1\n\t\tSID: 1\n\t\tiSCSI Session State: LOGGED_IN\n";
  struct Row {
    const char* extra;
    std::size_t sessions;
    const char* note;
  };
  const Row row = GENERATE(Row{"\t\tRecovery Timeout: soon\n", 1, "line 6: no number"},
                           Row{"\t\tImmediateData: perhaps\n", 1, "line 6: neither Yes nor No"},
                           Row{"\t\tWarp Factor: 9\n", 1, "line 6: unknown name Warp Factor"},
                           Row{"\tCurrent Portal: 192.0.2.2:0,1\n\t\tSID: 2\n", 2, "line 6: the portal is none"},
                           Row{"Target: b\n\tCurrent Portal: 192.0.2.2:3260,1\n", 1,
                               "line 6: no name of a target; line 7: a portal of no target"},
                           Row{"\t\tscsi1 Channel 00 Id\n", 1, "line 6: no \"scsiHOST Channel N Id N Lun: N\""},
                           Row{"\t\tHost Number: x\tState: running\n", 1, "line 6: no SCSI host of a session"},
                           Row{"nonsense\n", 1, "line 6: no \"name: value\""});
  INFO(row.extra);
  const auto parsed = parse_session_print(good + row.extra);
  CHECK(parsed.facts.sessions.size() == row.sessions);
  CHECK(parsed.facts.sessions[0].sid.is(1U));
  CHECK(parsed.facts.sessions[0].state.is("LOGGED_IN"));
  CHECK(describe(parsed.notes) == row.note);
}

TEST_CASE("session print: a name of CHAP is known to be set, and not known itself") {
  const auto parsed = parse_session_print(
      "Target: iqn.2001-04.com.example:a\n\tCurrent Portal: 192.0.2.1:3260,1\n\t\tusername: alice\n\t\tpassword: "
      "hunter22\n"
      "\t\tusername_in: <empty>\n");
  REQUIRE(parsed.facts.sessions.size() == 1);
  CHECK(parsed.facts.sessions[0].chap_configured.is(true));
  CHECK(parsed.facts.sessions[0].chap_mutual_configured.is(false));
  CHECK(parsed.notes.empty());
}

TEST_CASE("portals: forms that are read, and some that are not") {
  struct Row {
    const char* text;
    const char* id;  // empty: none
  };
  const Row row =
      GENERATE(Row{"192.0.2.1:3260,1", "192.0.2.1:3260,1"}, Row{"192.0.2.1", "192.0.2.1:3260"},
               Row{"192.0.2.1:860", "192.0.2.1:860"}, Row{"[2001:DB8:0::1]:3260,7", "[2001:db8::1]:3260,7"},
               Row{"2001:db8::1,3260,7", "[2001:db8::1]:3260,7"}, Row{"2001:db8::1", "[2001:db8::1]:3260"},
               Row{"192.0.2.87,3260", "192.0.2.87:3260"}, Row{"fe80::1%eth0,3260,-1", "[fe80::1%eth0]:3260"},
               Row{"[store]:3260,1", "store:3260,1"}, Row{"store.example.com,3260,1", "store.example.com:3260,1"},
               Row{"", ""}, Row{":3260,1", ""}, Row{"192.0.2.1:3260,x", ""}, Row{"192.0.2.1:3260,70000", ""},
               Row{"192.0.2.1:0", ""}, Row{"192.0.2.1:65536,1", ""}, Row{"a b:3260,1", ""}, Row{"[]:3260,1", ""},
               Row{"192.0.2.1,3260,1,2", ""}, Row{"[2001:db8::1:3260", ""});
  INFO(row.text);
  const auto portal = parse_portal(row.text);
  CHECK((portal ? portal->id : std::string()) == row.id);
}

TEST_CASE("link-local: IPv6 and IPv4, with and without a zone") {
  CHECK(parse_portal("[fe80::1]:3260,1")->link_local);
  CHECK(parse_portal("[fe80::1%bond0]:3260,1")->zone.is("bond0"));
  CHECK(parse_portal("169.254.3.4:3260,1")->link_local);
  CHECK_FALSE(parse_portal("192.0.2.1:3260,1")->link_local);
  CHECK_FALSE(parse_portal("[2001:db8::1]:3260,1")->link_local);
}

TEST_CASE("LUNs and WWIDs in their spellings") {
  CHECK(decode_lun(16385) == 1);
  CHECK(decode_lun(16640) == 256);
  CHECK(decode_lun(255) == 255);
  CHECK(lun_of_hex("0x4100000000000000") == 256U);
  CHECK(lun_of_hex("0x0001000000000000") == 1U);
  CHECK_FALSE(lun_of_hex("0x01"));
  CHECK_FALSE(lun_of_hex("zz"));
  CHECK(multipath_wwid("naa.600A0980AB") == "3600a0980ab");
  CHECK(multipath_wwid("t10.IET     00080001") == "1IET     00080001");
  CHECK(same_wwid("naa.60014050f1ab3c00d154e578a0000000", "360014050F1AB3C00D154E578A0000000"));
  CHECK_FALSE(same_wwid("360014050f1ab3c00d154e578a0000000", "360014050f1ab3c00d154e578a0000001"));
  CHECK(ontap_wwid("80DTk$OgLrVv") == "3600a0980383044546b244f674c725676");
  CHECK_FALSE(ontap_wwid("short"));
}

TEST_CASE("iscsid.conf: what iscsid passes over is said, the rest counts") {
  struct Row {
    const char* line;
    const char* why;
  };
  const Row row = GENERATE(Row{"node.startup=automatic", "no blank before the equals sign: iscsid passes over it"},
                           Row{"node.startup automatic", "no equals sign behind the name: iscsid passes over it"},
                           Row{"node.startup =", "has no value: iscsid passes over it"},
                           Row{"node.startup", "has no value: iscsid passes over it"},
                           Row{"= x", "no blank before the equals sign: iscsid passes over it"});
  const auto parsed = parse_iscsid_conf(
      "# a comment\nnode.session.scan = manual\n" + std::string(row.line) + "\n  node.session.queue_depth\t=\t64  \n",
      "/etc/iscsi/iscsid.conf");
  REQUIRE(parsed.facts.size() == 2);
  CHECK(parsed.facts[0].key == "node.session.scan");
  CHECK(parsed.facts[1].value == "64");
  CHECK(parsed.facts[1].line == 4);
  REQUIRE(parsed.notes.size() == 1);
  CHECK(parsed.notes[0].line == 3);
  CHECK(parsed.notes[0].reason == row.why);
}

TEST_CASE("iscsid.conf: quotes, a key that stands twice, credentials, a last line without an end") {
  const auto parsed = parse_iscsid_conf(
      "node.session.timeo.replacement_timeout = \"5\"\n"
      "node.session.timeo.replacement_timeout = 120\n"
      "node.session.auth.username = alice\n"
      "node.session.auth.password = hunter22\n"
      "discovery.sendtargets.auth.password = hunter33\n"
      "node.session.scan = manual",
      "c");
  REQUIRE(parsed.facts.size() == 5);
  CHECK(parsed.facts[0].value == "5");
  CHECK(parsed.facts[0].overridden);
  CHECK_FALSE(parsed.facts[1].overridden);
  for (std::size_t i = 2; i < 5; ++i) CHECK(parsed.facts[i].value == "***");
  CHECK(describe(parsed.notes) == "line 6: the last line has no end: iscsid passes over it");
}

TEST_CASE("iscsid.conf: what is kept of it holds no credential") {
  const std::string text =
      "# node.session.auth.password = commented-out\nnode.session.auth.username = alice\n"
      "node.session.auth.password_in=glued\nnode.session.auth.password hunter22\niface.chap_auth = x\n"
      "node.startup = manual\nnode.session.auth.username_in = <empty>\n";
  const std::string kept = scrub_iscsi_conf(text);
  for (const char* secret : {"commented-out", "alice", "glued", "hunter22"})
    CHECK(kept.find(secret) == std::string::npos);
  CHECK(kept.find("node.startup = manual\n") != std::string::npos);
  CHECK(kept.find("node.session.auth.username_in = <empty>\n") != std::string::npos);
  CHECK(scrub_iscsi_conf(kept) == kept);
  const auto before = parse_node_records("node.name = iqn.2001-04.com.example:a\n" + text, "r");
  const auto after = parse_node_records("node.name = iqn.2001-04.com.example:a\n" + kept, "r");
  REQUIRE(before.facts.size() == 1);
  REQUIRE(after.facts.size() == 1);
  CHECK(before.facts[0].record == after.facts[0].record);
  CHECK(after.facts[0].record.chap_configured.is(true));
  CHECK(after.facts[0].record.chap_mutual_configured.is(false));
}

TEST_CASE("node records: the path tells what the text leaves out") {
  const auto parsed = parse_node_records("# BEGIN RECORD 2.1.8\nnode.startup = automatic\n# END RECORD\n",
                                         "/var/lib/iscsi/nodes/iqn.2001-04.com.example:a/192.0.2.1,3260,2/bond0");
  CHECK(parsed.notes.empty());
  REQUIRE(parsed.facts.size() == 1);
  CHECK(parsed.facts[0].record.target == "iqn.2001-04.com.example:a");
  CHECK(parsed.facts[0].record.portal.is("192.0.2.1:3260,2"));
  CHECK(parsed.facts[0].record.tpgt.is(2));
  CHECK(parsed.facts[0].record.iface.is("bond0"));
  CHECK(describe(parse_node_records("node.startup = manual\n", "r").notes) == "a record without node.name");
}

TEST_CASE("initiatorname.iscsi: the last one counts, what is no name is said") {
  const auto parsed = parse_initiatorname(
      "## DO NOT "
      "EDIT\nInitiatorName=iqn.2001-04.com.example:a\nInitiatorAlias=node\nInitiatorName=iqn.2001-04.com.example:b\n");
  CHECK(parsed.facts.count == 2);
  CHECK(parsed.facts.name.is("iqn.2001-04.com.example:b"));
  CHECK(parsed.notes.empty());
  CHECK(parse_initiatorname("#InitiatorName=iqn.2001-04.com.example:a\n").facts.name.is_absent());
  CHECK(describe(parse_initiatorname("InitiatorName=\n").notes) == "line 1: no name behind InitiatorName=");
  CHECK(describe(parse_initiatorname("InitiatorName=node1\n").notes) == "line 1: the name is no iSCSI name");
  CHECK(describe(parse_initiatorname("GenerateName=yes\n").notes) ==
        "line 1: neither InitiatorName= nor InitiatorAlias=");
}

TEST_CASE("node list: lines that are none cost themselves") {
  const auto parsed = parse_node_list(
      "192.0.2.1:3260,1 "
      "iqn.2001-04.com.example:a\nnodes/iqn.2001-04.com.example:b/oops,x,1/default\nnodes/x/y\n192.0.2.1:3260,1 b\n");
  CHECK(parsed.facts.size() == 1);
  CHECK(parsed.notes.size() == 3);
}

TEST_CASE("multipath tree: what is damaged costs what is damaged") {
  const std::string good =
      "mpatha (360014050f1ab3c00d154e578a0000000) dm-0 LIO-ORG,FILEIO\n"
      "size=64M features='0' hwhandler='1 alua' wp=rw\n"
      "`-+- policy='service-time 0' prio=50 status=active\n"
      "  |- 0:0:0:0 sda 8:0  active ready running\n";
  struct Row {
    const char* extra;
    std::size_t paths;
    const char* note;
  };
  const Row row = GENERATE(
      Row{"  `- 1:0:0:0 sdc\n", 1, "line 5: no map, group or path as multipath prints them"},
      Row{"  `- 1:0:0:0 sdc 8:32 failed\n", 2, "line 5: a path line that ends early"},
      Row{"  `- 1:0:0:x sdc 8:32 active ready running\n", 1, "line 5: no map, group or path as multipath prints them"},
      Row{"  `- 1:0:0:0 sdc 8:32 active i/o pending running\n", 2, ""},
      Row{"wp=rw size\n", 1, "line 5: no name=value among the attributes"},
      Row{"size=1G colour=red\n", 1, "line 5: unknown attribute colour"},
      Row{"`-+- policy='service-time 0' prio\n", 1, "line 5: no name=value in a group"},
      Row{"\x01\x02 rubbish\n", 1, "line 5: no map, group or path as multipath prints them"});
  INFO(row.extra);
  const auto parsed = parse_multipath_tree(good + row.extra, MultipathPrint::ll, "s");
  REQUIRE(parsed.facts.maps.size() == 1);
  CHECK(parsed.facts.maps[0].paths.size() == row.paths);
  CHECK(describe(parsed.notes) == row.note);
  CHECK(parsed.facts.maps[0].paths[0].checker_state.is("ready"));
}

TEST_CASE("multipath tree: states of two words and a group without a map") {
  const auto parsed = parse_multipath_tree(
      "3600a dm-1 A,B\nsize=1G features='0' hwhandler='0' wp=undef\n`-+- policy='queue-length 0' prio=0 status=undef\n"
      "  `- 1:0:0:0 sdc 8:32 undef i/o timeout offline\n",
      MultipathPrint::ll, "s");
  REQUIRE(parsed.facts.maps.size() == 1);
  CHECK(parsed.facts.maps[0].write_protect.is_unknown());
  CHECK(parsed.facts.maps[0].groups[0].status.is_unknown());
  CHECK(parsed.facts.maps[0].paths[0].checker_state.is("timeout"));
  CHECK(parsed.facts.maps[0].paths[0].dm_state.is_unknown());
  CHECK(parsed.facts.maps[0].paths[0].dev_state.is("offline"));
  CHECK(describe(parse_multipath_tree("`-+- policy='queue-length 0' prio=0 status=active\n", MultipathPrint::ll, "s")
                     .notes) == "line 1: a group of no map");
}

TEST_CASE("multipath json: a text that is cut keeps what stands before the cut") {
  const std::string whole =
      "{\"major_version\": 0, \"maps\": [\n"
      "{\"name\": \"a\", \"uuid\": \"3600a\", \"sysfs\": \"dm-0\", \"queueing\": \"-\", \"path_groups\": [{\"pri\": "
      "50, "
      "\"dm_st\": \"active\",\n\"paths\": [{\"dev\": \"sda\", \"dm_st\": \"active\", \"chk_st\": \"i/o pending\"},\n"
      "{\"dev\": \"sdb\", \"dm_st\": \"failed\", \"chk_st\": \"faulty\"}]}]},\n"
      "{\"name\": \"b\", \"uuid\": \"3600b\", \"path_groups\": []}\n]}";
  const auto all = parse_multipath_json(whole, "s");
  CHECK(all.notes.empty());
  REQUIRE(all.facts.maps.size() == 2);
  CHECK(all.facts.maps[0].queueing.is_absent());
  CHECK(all.facts.maps[0].paths[0].checker_state.is("pending"));

  for (std::size_t length = 0; length < whole.size(); ++length) {
    const auto cut = parse_multipath_json(whole.substr(0, length), "s");
    INFO(whole.substr(0, length));
    CHECK(cut.facts.maps.size() <= 2);
    if (length > 0) CHECK_FALSE(cut.notes.empty());
    if (length >= whole.find("\n{\"dev\": \"sdb\"")) {
      REQUIRE_FALSE(cut.facts.maps.empty());
      CHECK(cut.facts.maps[0].paths.front().device == "sda");
    }
  }
}

TEST_CASE("multipath json: log lines before it, a prompt behind it, rubbish in it") {
  const std::string good = "{\"maps\": [{\"name\": \"a\", \"uuid\": \"3600a\", \"path_groups\": []}]}\n";
  const auto said = parse_multipath_json(
      "Jun 21 04:39:26 | 8:160: path wwid appears to have changed. Using old wwid.\n" + good + "root@node:~# exit\n",
      "s");
  CHECK(said.notes.empty());
  CHECK(said.facts.maps.size() == 1);
  REQUIRE(said.facts.notices.size() == 1);
  CHECK(said.facts.notices[0].kind == "wwid-changed");
  CHECK(said.facts.notices[0].dev.is("8:160"));
  CHECK(describe(parse_multipath_json("timeout\n", "s").notes) == "line 1: holds no JSON object");
  CHECK(describe(parse_multipath_json("{\"maps\": 5}", "s").notes) == "line 1: no list of maps in the JSON text");
  CHECK(parse_multipath_json("{\"maps\": [5, {\"name\": \"a\", \"uuid\": \"u\", \"path_groups\": 7}]}", "s")
            .facts.maps.size() == 1);
  CHECK(describe(parse_multipath_json("{\"maps\": [{}]}", "s").notes) == "a map without name and uuid");
  CHECK(parse_multipath_json("", "s").notes.empty());
}

TEST_CASE("multipathd show paths: bad lines cost themselves") {
  const auto parsed = parse_multipath_paths(
      "hcil    dev dev_t pri dm_st  chk_st dev_st\n"
      "0:0:0:0 sda 8:0   50  active ready  running\n"
      "garbage without columns that fit to anything\n"
      "1:0:0:0 sdb 8:16  10  failed faulty offline\n",
      "s");
  REQUIRE(parsed.facts.paths.size() == 2);
  CHECK(parsed.facts.paths[1].prio.is(10));
  CHECK(parsed.facts.paths[1].dev_state.is("offline"));
  CHECK(parsed.notes.size() == 1);
}
