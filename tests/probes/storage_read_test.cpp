// /sys and files of a node with iSCSI as facts: the captures to the end, trees made here, damaged and hostile ones.
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <fstream>
#include <sstream>

#include "probes/collect.h"
#include "probes/host/multipath_conf.h"
#include "probes/host/scrub_file.h"
#include "probes/host/storage_sysfs.h"
#include "probes/host/sysfs_text.h"
#include "probes/io/child.h"
#include "probes/io/host.h"
#include "probes/raw_tree.h"
#include "tests/probes/scratch.h"

using namespace probes;
using Names = std::vector<std::string>;

namespace {

std::string capture_path(const std::string& name) { return std::string(SOURCE_DIR) + "/samples/captures/" + name; }

facts::Facts given(const std::string& kind, const std::string& file) {
  auto host = open_inputs({{kind, file}});
  REQUIRE(host);
  return collect(**host);
}

facts::Facts pasted(const std::string& kind, const std::string& text) {
  scratch::Directory directory;
  directory.write("/text", text);
  return given(kind, directory.path() + "/text");
}

const facts::Source& row(const facts::Facts& facts, const std::string& id) {
  const auto found =
      std::find_if(facts.sources.begin(), facts.sources.end(), [&](const auto& source) { return source.id == id; });
  REQUIRE(found != facts.sources.end());
  return *found;
}

const std::string one_session =
    "== /sys/class/iscsi_session/session3 -> ../../devices/platform/host7/session3/iscsi_session/session3\n"
    "targetname:iqn.2001-04.com.example:a\nstate:LOGGED_IN\nrecovery_tmo:120\nusername:(null)\nusername_in:(null)\n";

// A node with two paths of one LUN and a mount on the map, files of open-iscsi and multipath-tools beside it.
void write_node(const scratch::Directory& tree) {
  tree.write("/proc/1/mountinfo",
             "25 1 253:0 / / rw - ext4 /dev/vda1 rw\n"
             "40 25 254:0 / /mnt/data ro,relatime shared:1 - xfs /dev/mapper/mpatha ro\n"
             "41 25 0:6 /sda /mnt/raw rw - devtmpfs devtmpfs rw\n");
  for (const std::string n : {"1", "2"}) {
    const std::string host = "/sys/devices/platform/host" + n + "/session" + n;
    const std::string session = host + "/iscsi_session/session" + n;
    tree.write(session + "/targetname", "iqn.2001-04.com.example:a\n");
    tree.write(session + "/state", n == "1" ? "LOGGED_IN\n" : "FAILED\n");
    tree.write(session + "/recovery_tmo", "120\n");
    tree.write(session + "/tpgt", "1\n");
    tree.write(session + "/ifacename", "default\n");
    tree.write(session + "/username", "alice-of-chap\n");
    tree.write(session + "/username_in", "(null)\n");
    const std::string connection = host + "/connection" + n + ":0/iscsi_connection/connection" + n + ":0";
    tree.write(connection + "/persistent_address", "192.0.2." + n + "\n");
    tree.write(connection + "/persistent_port", "3260\n");
    tree.write(connection + "/recv_tmo", "5\n");
    const std::string unit = host + "/target" + n + ":0:0/" + n + ":0:0:16385";
    const std::string disk = n == "1" ? "sda" : "sdb";
    tree.write(unit + "/state", "running\n");
    tree.write(unit + "/wwid", "naa.600A098038314535622452575A6C7871\n");
    tree.write(unit + "/ioerr_cnt", "0x1f\n");
    tree.write(unit + "/block/" + disk + "/size", "2097152\n");
    tree.write(unit + "/block/" + disk + "/dev", n == "1" ? "8:0\n" : "8:16\n");
    tree.write(unit + "/block/" + disk + "/queue/scheduler", "mq-deadline [none]\n");
    tree.write(unit + "/block/" + disk + "/holders/dm-0/x", "");
    const auto link = [&](const std::string& from, const std::string& to) {
      std::filesystem::create_directories(std::filesystem::path(tree.path() + from).parent_path());
      std::filesystem::create_directory_symlink(to, tree.path() + from);
    };
    link("/sys/class/iscsi_session/session" + n, "../.." + session.substr(4));
    link("/sys/class/iscsi_connection/connection" + n + ":0", "../.." + connection.substr(4));
    link("/sys/block/" + disk, ".." + unit.substr(4) + "/block/" + disk);
    link(unit + "/block/" + disk + "/device", "../../../" + n + ":0:0:16385");
  }
  tree.write("/sys/block/dm-0/dm/uuid", "mpath-3600a098038314535622452575a6c7871\n");
  tree.write("/sys/block/dm-0/dm/name", "mpatha\n");
  tree.write("/sys/block/dm-0/dm/suspended", "0\n");
  tree.write("/sys/block/dm-0/dev", "254:0\n");
  tree.write("/sys/block/dm-0/size", "2097152\n");
  tree.write("/sys/block/dm-0/slaves/sda/x", "");
  tree.write("/sys/block/dm-0/slaves/sdb/x", "");
  tree.write("/sys/block/dm-9/dm/uuid", "LVM-local\n");
  tree.write("/sys/block/dm-9/dev", "254:9\n");
  tree.write("/etc/iscsi/initiatorname.iscsi", "InitiatorName=iqn.1994-05.com.example:w\n");
  tree.write("/etc/iscsi/iscsid.conf",
             "node.session.timeo.replacement_timeout = 120\nnode.session.auth.password = hunter22\n");
  tree.write("/var/lib/iscsi/nodes/iqn.2001-04.com.example:a/192.0.2.1,3260,1/default",
             "# BEGIN RECORD 2.1.8\nnode.name = iqn.2001-04.com.example:a\nnode.tpgt = 1\n"
             "iface.iscsi_ifacename = default\nnode.conn[0].address = 192.0.2.1\nnode.conn[0].port = 3260\n"
             "node.session.auth.password = hunter22\nnode.session.timeo.replacement_timeout = 5\n# END RECORD\n");
  tree.write("/etc/multipath.conf", "defaults {\n  fast_io_fail_tmo 5\n  no_path_retry queue\n}\n");
  tree.write("/etc/multipath/conf.d/a.conf", "defaults {\n  no_path_retry 12\n}\n");
}

void check_node(const facts::Facts& facts) {
  REQUIRE(facts.iscsi.sessions.has_value());
  REQUIRE(facts.iscsi.sessions->size() == 2);
  const auto& session = facts.iscsi.sessions->front();
  CHECK(session.id == "iqn.2001-04.com.example:a 192.0.2.1:3260,1 default");
  CHECK(session.host.is(1U));
  CHECK(session.chap_configured.is(true));
  CHECK(session.chap_mutual_configured.is(false));
  CHECK(session.devices == Names{"sda"});
  CHECK(session.record.is("/var/lib/iscsi/nodes/iqn.2001-04.com.example:a/192.0.2.1,3260,1/default"));
  CHECK((*facts.iscsi.sessions)[1].record.is_absent());
  REQUIRE_FALSE(session.settings.empty());
  CHECK(session.settings[0].live.is("120"));
  CHECK(session.settings[0].record.is("5"));
  CHECK(session.settings[0].config.is("120"));
  CHECK(session.settings[0].multipath.is("5"));
  CHECK(session.settings[0].multipath_from.is("/etc/multipath.conf:2"));

  REQUIRE(facts.block.devices.has_value());
  REQUIRE(facts.block.devices->size() == 3);  // the local volume is none of ours
  const auto& disk = (*facts.block.devices)[1];
  CHECK(disk.name == "sda");
  CHECK(disk.lun.is(1U));
  CHECK(disk.ioerr_count.is(31U));
  CHECK(disk.scheduler.is("none"));
  CHECK(disk.multipath_wwid.is("3600a098038314535622452575a6c7871"));
  CHECK(disk.map.is("3600a098038314535622452575a6c7871"));
  CHECK(disk.siblings == Names{"sdb"});
  CHECK(disk.used_directly.is(true));  // bound as a raw device past its map
  REQUIRE(disk.users.size() == 1);
  CHECK(disk.users[0].kind == "raw");
  CHECK((*facts.block.devices)[2].used_directly.is(false));

  REQUIRE(facts.multipath.maps.has_value());
  REQUIRE(facts.multipath.maps->size() == 1);
  const auto& map = facts.multipath.maps->front();
  CHECK(map.iscsi.is(true));
  CHECK(map.paths.size() == 2);
  CHECK(map.paths[1].target.is("iqn.2001-04.com.example:a"));
  CHECK(map.missing_paths.is(Names{}));
  REQUIRE(map.users.size() == 1);
  CHECK(map.users[0].name == "/mnt/data");
  CHECK(map.users[0].read_only.is(true));
  CHECK(map.users[0].chain == Names{"dm-0"});
  REQUIRE(facts.multipath.conf.has_value());
  CHECK((*facts.multipath.conf)[1].overridden);

  REQUIRE(facts.iscsi.targets.size() == 1);
  CHECK(facts.iscsi.targets[0].portals.size() == 2);
  CHECK(facts.iscsi.targets[0].devices == Names{"sda", "sdb"});
  CHECK(facts.iscsi.portals[0].origins == Names{"session", "node record"});
  CHECK(facts.iscsi.initiatorname.is("iqn.1994-05.com.example:w"));
  CHECK(facts.iscsi.root_on_iscsi.is(false));
}

}  // namespace

TEST_CASE("captures of /sys parse to the end") {
  struct Row {
    const char* file;
    std::size_t sessions, disks, maps;
  };
  const Row r = GENERATE(Row{"iscsi-tgt-1session-sysfs.txt", 1, 1, 0}, Row{"iscsi-lio-1session-sysfs.txt", 1, 2, 0},
                         Row{"iscsi-lio-2sessions-digest-sysfs.txt", 2, 4, 0},
                         Row{"iscsi-lio-mpath-sysfs.txt", 2, 4, 2}, Row{"iscsi-lio-mpath-silent-sysfs.txt", 2, 4, 2});
  INFO(r.file);
  const auto facts = given("sysfs", capture_path(r.file));
  CHECK(row(facts, "iscsi").status == "ok");
  CHECK(row(facts, "iscsi").detail == "");
  REQUIRE(facts.iscsi.sessions.has_value());
  CHECK(facts.iscsi.sessions->size() == r.sessions);
  REQUIRE(facts.block.devices.has_value());
  CHECK(facts.block.devices->size() == r.disks + r.maps);
  REQUIRE(facts.multipath.maps.has_value());
  CHECK(facts.multipath.maps->size() == r.maps);
  for (const auto& session : *facts.iscsi.sessions) {
    CHECK(session.transport.is("tcp"));
    CHECK(session.chap_configured.is(false));
    CHECK(session.connections.size() == 1);
    CHECK(session.devices.size() == r.disks / r.sessions);
  }
  for (const auto& map : *facts.multipath.maps) {
    CHECK(map.iscsi.is(true));
    CHECK(map.paths.size() == 2);
  }
}

TEST_CASE("capture of a silent portal: not connected is a value of its own") {
  const auto facts = given("sysfs", capture_path("iscsi-lio-mpath-silent-sysfs.txt"));
  const auto& up = facts.iscsi.sessions->at(0).connections.at(0);
  const auto& lost = facts.iscsi.sessions->at(1).connections.at(0);
  CHECK(up.connected.is(true));
  CHECK(up.addr.is("10.9.0.1"));
  CHECK(up.local_port.is(55120U));
  CHECK(lost.connected.is(false));
  CHECK(lost.addr.is_absent());
  CHECK(lost.persistent_addr.is("10.9.0.3"));
  CHECK(facts.iscsi.sessions->at(1).state.is("FREE"));
  CHECK(facts.iscsi.sessions->at(1).initiator_addr.is_absent());
  const auto& disk = facts.block.devices->at(0);
  CHECK(disk.name == "sda");
  CHECK(disk.iorequest_count.is(0x13fU));
  CHECK(disk.serial.is("0f1ab3c0-0d15-4e57-8a00-000000000000"));
  CHECK(disk.multipath_wwid.is("360014050f1ab3c00d154e578a0000000"));
  CHECK(disk.holders == Names{"dm-0"});
  CHECK(disk.read_bytes.is(11686U * 512));
  CHECK(facts.block.devices->at(3).state.is("transport-offline"));
}

TEST_CASE("a directory of /sys: one unreadable address does not end the scan") {
  const auto facts = given("sysfs", std::string(SOURCE_DIR) + "/tests/corpus/085-sysfs-unreadable-address/input.sysfs");
  REQUIRE(facts.iscsi.sessions.has_value());
  REQUIRE(facts.iscsi.sessions->size() == 3);
  CHECK(facts.iscsi.sessions->at(0).state.is("FAILED"));
  CHECK(facts.iscsi.sessions->at(0).connections.at(0).persistent_addr.is("192.0.2.101"));
  CHECK_FALSE(facts.iscsi.sessions->at(0).connections.at(0).addr.has_value());
  CHECK(facts.iscsi.sessions->at(1).connections.at(0).addr.is("192.0.2.102"));
  CHECK(facts.iscsi.hosts->at(0).netdev.is_absent());
  REQUIRE(facts.block.devices.has_value());
  CHECK(facts.block.devices->size() == 3);
  CHECK(facts.block.devices->at(0).session.has_value());
}

TEST_CASE("text of /sys: a bad line costs itself") {
  struct Row {
    const char* line;
    const char* why;
  };
  const Row r =
      GENERATE(Row{"nonsense\n", "no \"NAME:VALUE\""}, Row{"two words:x\n", "no \"NAME:VALUE\""},
               Row{"== nothing\n", "no path behind =="}, Row{":x\n", "no \"NAME:VALUE\""},
               Row{"==== /sys/block\nstate:x\n", "belongs to no directory of /sys"},
               Row{"==== /sys/block\ngrep: a: Permission denied\n", "a complaint about a file of no directory"},
               Row{"/sys/block/sda/holders:\na b\n", "no name of a file"});
  INFO(r.line);
  const std::string text = one_session + r.line;  // what is parsed are views into it
  const auto parsed = parse_sysfs_text(text);
  REQUIRE(parsed.notes.size() == 1);
  CHECK(parsed.notes[0].reason == r.why);
  const auto storage = storage_of_sysfs(parsed.facts);
  REQUIRE(storage.sessions.has_value());
  REQUIRE(storage.sessions->size() == 1);
  CHECK(storage.sessions->front().recovery_tmo_s.is(120U));
}

TEST_CASE("text of /sys: values that are none stay unknown, and entries that vanished cost one") {
  const auto text = one_session +
                    "== /sys/class/iscsi_session/session4 -> x\ngrep: targetname: No such file or directory\n"
                    "== /sys/class/iscsi_session/session5 -> x\nstate:LOGGED_IN\n"
                    "== /sys/class/iscsi_session/sessionX -> x\ntargetname:iqn.a.b\n"
                    "== /sys/block/sda -> ../devices/platform/host7/session3/target7:0:0/7:0:0:1/block/sda\n"
                    "size:many\nro:2\ninflight:1\nstat:1 2\n"
                    "== /sys/block/sda/device -> x\nioerr_cnt:0xzz\naccess_state:\ngrep: access_state: Invalid "
                    "argument\n== /sys/block/sda/queue -> \nscheduler:[\n";
  const auto parsed = parse_sysfs_text(text);
  CHECK(parsed.notes.empty());
  const auto storage = storage_of_sysfs(parsed.facts);
  CHECK(storage.sessions->size() == 1);
  CHECK(storage.remarks.size() == 2);
  const auto& disk = storage.devices->at(0);
  CHECK(disk.sid.is(3U));
  CHECK(disk.hctl.is("7:0:0:1"));
  CHECK(disk.size_bytes.is_unknown());
  CHECK(disk.read_only.is_unknown());
  CHECK(disk.inflight_read.is_unknown());
  CHECK(disk.ioerr_count.is_unknown());
}

TEST_CASE("text of /sys: no class directory is no session, a refused one is not known") {
  CHECK(storage_of_sysfs(
            parse_sysfs_text("ls: cannot access '/sys/class/iscsi_session': No such file or directory\n").facts)
            .sessions.is({}));
  CHECK(storage_of_sysfs(parse_sysfs_text("ls: cannot access '/sys/class/iscsi_session': Permission denied\n").facts)
            .sessions.is_unknown());
  CHECK(storage_of_sysfs(parse_sysfs_text("==== /sys/class/iscsi_session\n").facts).sessions.is({}));
  CHECK(storage_of_sysfs(parse_sysfs_text("").facts).sessions.is_unknown());
}

TEST_CASE("text of /sys: bytes of all kinds, cut anywhere") {
  std::ifstream file(capture_path("iscsi-lio-mpath-silent-sysfs.txt"), std::ios::binary);
  std::ostringstream out;
  out << file.rdbuf();
  const std::string whole = out.str();
  for (std::size_t size = 0; size < whole.size(); size += 997) {
    std::string text = whole.substr(0, size);
    text += std::string("\0\xff\x1b[2J\n", 7);
    const auto parsed = parse_sysfs_text(text);
    const auto storage = storage_of_sysfs(parsed.facts);
    CHECK(storage.sessions.value_or({}).size() <= 2);
  }
}

TEST_CASE("a tree of a node: sessions, disks, maps, files and mounts belong together") {
  scratch::Directory tree;
  write_node(tree);
  auto host = open_root(tree.path());
  REQUIRE(host);
  check_node(collect(**host));
}

TEST_CASE("a raw tree of it gives the same facts and holds no secret") {
  scratch::Directory tree, copy;
  write_node(tree);
  auto host = open_tree(tree.path());
  REQUIRE(host);
  const RecordingHost recording(**host);
  const auto facts = collect(recording);
  const std::string out = copy.path() + "/raw";
  REQUIRE(recording.write(out, facts.node.name));
  auto again = open_tree(out);
  REQUIRE(again);
  auto replayed = collect(**again);
  check_node(replayed);
  CHECK(replayed.iscsi == facts.iscsi);
  CHECK(replayed.block == facts.block);
  CHECK(replayed.multipath == facts.multipath);
  for (const auto& entry : std::filesystem::recursive_directory_iterator(out)) {
    if (!entry.is_regular_file()) continue;
    std::ifstream in(entry.path(), std::ios::binary);
    const std::string text((std::istreambuf_iterator<char>(in)), {});
    INFO(entry.path().string());
    CHECK(text.find("alice-of-chap") == std::string::npos);
    CHECK(text.find("hunter22") == std::string::npos);
  }
}

TEST_CASE("names and secrets of CHAP go out of pasted texts") {
  CHECK(scrub_sysfs_text("username:alice\nstate:x\npassword:(null)\n") == "username:***\nstate:x\npassword:(null)\n");
  CHECK(scrub_sysfs_text("/sys/class/iscsi_session/session1/username:alice\n") ==
        "/sys/class/iscsi_session/session1/username:***\n");
  CHECK(scrub_session_print("\t\tusername: alice\n\t\tpassword: ********\n\t\tusername_in: <empty>\n") ==
        "\t\tusername: ***\n\t\tpassword: ***\n\t\tusername_in: <empty>\n");
  const auto parsed =
      parse_sysfs_text("== /sys/class/iscsi_session/session1 -> x\ntargetname:iqn.a.b\nusername:alice\n");
  CHECK(storage_of_sysfs(parsed.facts).sessions->at(0).chap_configured.is(true));
}

TEST_CASE("multipath.conf: sections, quotes, comments, and lines that are none") {
  std::uint32_t block = 1;
  const auto parsed = parse_multipath_conf(
      "# comment\ndefaults {\n\tpath_selector \"service-time 0\" # more\n\tfailback\n}\n"
      "devices {\n device {\n  vendor \"NET\"\"APP\"\n  product LUN\n  no_path_retry queue\n }\n}\n"
      "multipaths {\n multipath {\n  alias a\n  wwid 3600\n  reservation_key 0xabc\n }\n}\n",
      "m", block);
  CHECK(describe(parsed.notes) == "");
  REQUIRE(parsed.facts.size() == 8);
  CHECK(parsed.facts[0].value == "service-time 0");
  CHECK(parsed.facts[0].line == 3);
  CHECK(parsed.facts[1].value == "");
  CHECK(parsed.facts[4].vendor.is("NET\"APP"));
  CHECK(parsed.facts[4].block.is(1U));
  CHECK(parsed.facts[5].wwid.is("3600"));
  CHECK(parsed.facts[7].value == "***");
  struct Row {
    const char* text;
    const char* why;
  };
  const Row r =
      GENERATE(Row{"verbosity 2\n", "line 1: stands outside all sections"},
               Row{"defaults {\n a \"b\n}\n", "line 2: a quote does not end on its line"},
               Row{"}\n", "line 1: a closing brace of no section"}, Row{"{\n", "line 1: a brace of no section"},
               Row{"default {\n}\n", "line 1: no section of multipath.conf(5)"},
               Row{"defaults {\n a b c\n}\n", "line 2: more than one value: multipath takes the first"},
               Row{"defaults {\n a b\n", "line 2: a brace of defaults is not closed"});
  std::uint32_t other = 1;
  CHECK(describe(parse_multipath_conf(r.text, "m", other).notes) == r.why);
}

TEST_CASE("what the tools print is taken where /sys is not there") {
  const auto p3 = pasted("iscsi-p3",
                         "Target: iqn.2001-04.com.example:a (non-flash)\n\tCurrent Portal: 192.0.2.1:3260,1\n"
                         "\tPersistent Portal: 192.0.2.1:3260,1\n\t\tSID: 1\n\t\tiSCSI Session State: LOGGED_IN\n");
  REQUIRE(p3.iscsi.sessions.has_value());
  CHECK(p3.iscsi.targets.at(0).portals == Names{"192.0.2.1:3260,1"});
  const auto ll = given("multipath-ll",
                        std::string(SOURCE_DIR) + "/tests/corpus/085-sysfs-unreadable-address/input.multipath-ll.txt");
  REQUIRE(ll.multipath.maps.has_value());
  CHECK(ll.multipath.maps->at(0).alias.is("mpatha"));
  CHECK(ll.multipath.maps->at(0).iscsi.is_unknown());
  CHECK(pasted("initiatorname", "InitiatorName=iqn.1994-05.com.example:w\n").iscsi.initiatorname.has_value());
  CHECK(pasted("iscsid.conf", "node.startup = manual\n").iscsi.iscsid_conf.has_value());
  CHECK(pasted("multipath.conf", "defaults {\n}\n").multipath.conf.is({}));
  CHECK(pasted("nodes", "192.0.2.1:3260,1 iqn.2001-04.com.example:a\n").iscsi.node_records->size() == 1);
}

TEST_CASE("a look that does not come back is left behind, what it said before is kept") {
  const auto text = run_in_child(
      [](const std::function<void(std::string_view)>& sink) {
        sink("== /sys/block/sda -> x\nsize:1\n== /sys/block/sda/queue -> \n");
        for (;;) ::pause();
      },
      std::chrono::milliseconds(150));
  REQUIRE(text);
  CHECK(text->find("size:1\n") != std::string::npos);
  CHECK(text->find("note nothing came for 150 ms behind /sys/block/sda/queue") != std::string::npos);
  CHECK(parse_sysfs_text(*text).facts.cut.size() == 1);
  CHECK(run_in_child([](const auto& sink) { sink("a\n"); }, std::chrono::seconds(5)) == std::string("a\n"));
}
