// Several texts that speak of one session, and terminal text that holds output of iscsiadm and multipath.
#include <algorithm>
#include <catch2/catch.hpp>

#include "audit/base/text.h"
#include "probes/collect.h"
#include "probes/host/iscsiadm.h"
#include "probes/host/storage_text.h"
#include "probes/io/host.h"
#include "tests/probes/scratch.h"

using namespace probes;
using Names = std::vector<std::string>;

namespace {

const std::string corpus = std::string(SOURCE_DIR) + "/tests/corpus/";

facts::Facts given(const std::vector<InputArgument>& inputs) {
  auto host = open_inputs(inputs);
  REQUIRE(host);
  return collect(**host);
}

const std::string terminal =
    "[root@worker ~]# iscsiadm -m session\n"
    "tcp: [1] 192.0.2.1:3260,1 iqn.2001-04.com.example:a (non-flash)\n"
    "tcp: [2] 192.0.2.2:3260,1 iqn.2001-04.com.example:a (non-flash)\n"
    "[root@worker ~]# ls -d /sys/class/iscsi_session/*\n"
    "session1 host3\n"
    "session2 host4\n"
    "[root@worker ~]# multipath -ll\n"
    "mpatha (3600a098038314535622452575a6c7871) dm-0 NETAPP,LUN C-Mode\n"
    "size=10G features='1 queue_if_no_path' hwhandler='1 alua' wp=rw\n"
    "|-+- policy='service-time 0' prio=50 status=active\n"
    "| `- 3:0:0:1 sdb 8:16 active ready running\n"
    "`-+- policy='service-time 0' prio=10 status=enabled\n"
    "  `- 4:0:0:1 sdc 8:32 failed faulty running\n"
    "[root@worker ~]# uptime\n"
    " 11:02:14 up 12 days,  1:02,  1 user,  load average: 0.10, 0.09, 0.08\n"
    "device-mapper: multipath: 254:0: Failing path 8:32.\n";

}  // namespace

TEST_CASE("terminal text: sessions, their hosts and maps are found and belong together") {
  scratch::Directory directory;
  directory.write("/paste", terminal);
  const auto facts = given({{"text", directory.path() + "/paste"}});
  REQUIRE(facts.iscsi.sessions.has_value());
  REQUIRE(facts.iscsi.sessions->size() == 2);
  CHECK(facts.iscsi.sessions->at(1).host.is(4U));
  REQUIRE(facts.multipath.maps.has_value());
  REQUIRE(facts.multipath.maps->size() == 1);
  const auto& map = facts.multipath.maps->at(0);
  REQUIRE(map.paths.size() == 2);
  CHECK(map.paths[1].device == "sdc");
  CHECK(map.paths[1].sid.is(2U));
  CHECK(map.iscsi.is(true));
  for (const auto& row : facts.sources)
    if (row.name.ends_with("/paste")) CHECK(row.detail == "");
}

TEST_CASE("terminal text: a section keeps the line numbers of the text") {
  const auto found = storage_sections(terminal + "tcp: [3] 192.0.2.1:99999,1 iqn.2001-04.com.example:a\n");
  CHECK(base::split(found.session_list, '\n')[1] == "tcp: [1] 192.0.2.1:3260,1 iqn.2001-04.com.example:a (non-flash)");
  CHECK(base::split(found.multipath_tree, '\n')[7].starts_with("mpatha "));
  CHECK(found.session_print == "");
  CHECK(parse_session_list(found.session_list).facts.sessions.size() == 2);
}

TEST_CASE("terminal text: kernel messages, mounts and discovery are no sessions and no maps") {
  const auto found = storage_sections(
      "device-mapper: multipath: 254:0: Failing path 8:32.\n"
      "[ 12.3] EXT4-fs (dm-0): mounted filesystem, quota mode: none.\n"
      "/dev/dm-3 on /mnt type xfs (rw,relatime)\n"
      "192.0.2.1:3260,1 iqn.2001-04.com.example:a\n"
      "Logging in to [iface: default, target: iqn.2001-04.com.example:a, portal: 192.0.2.1,3260]\n"
      "iscsi: [note] nothing\n"
      "Target: none\n");
  CHECK(found.session_list == "");
  CHECK(found.session_print == "");
  CHECK(found.session_hosts == "");
  CHECK(found.multipath_tree == "");
}

TEST_CASE("terminal text: damaged and cut anywhere, nothing breaks and the rest stays") {
  const std::string broken = terminal + std::string("\0\xff\x01", 3) + std::string(2'000'000, 'x') + "\n" + terminal;
  CHECK(parse_session_list(storage_sections(broken).session_list).facts.sessions.size() == 4);
  for (std::size_t length = 0; length < terminal.size(); ++length) {
    const auto found = storage_sections(std::string_view(terminal).substr(0, length));
    CHECK(parse_session_list(found.session_list).notes.size() <= 1);  // the line that is cut
  }
  CHECK(storage_sections("").session_list == "");
}

TEST_CASE("print level 3 and the list of one node tell of the same sessions, whichever comes first") {
  const std::string place = corpus + "080-target-name-with-address/input.iscsi-";
  const auto p3 = given({{"iscsi-p3", place + "p3.txt"}});
  const auto both = given({{"iscsi-session", place + "session.txt"}, {"iscsi-p3", place + "p3.txt"}});
  REQUIRE(p3.iscsi.sessions.has_value());
  REQUIRE(both.iscsi.sessions.has_value());
  const auto list = given({{"iscsi-session", place + "session.txt"}});
  CHECK(both.iscsi.sessions->size() >= std::max(p3.iscsi.sessions->size(), list.iscsi.sessions->size()));
  for (const auto& session : *p3.iscsi.sessions) {
    const auto found = std::find_if(both.iscsi.sessions->begin(), both.iscsi.sessions->end(),
                                    [&](const auto& other) { return other.sid == session.sid; });
    REQUIRE(found != both.iscsi.sessions->end());
    CHECK(found->recovery_tmo_s == session.recovery_tmo_s);
    CHECK(found->iscsid_state == session.iscsid_state);
  }
}

TEST_CASE("case 112: paths of one map that belong to two targets are told by their SCSI hosts") {
  const std::string place = corpus + "112-wwid-collision-tgt/input.";
  const auto facts = given({{"iscsi-session", place + "iscsi-session.txt"},
                            {"text", place + "hosts.txt"},
                            {"multipath-ll", place + "multipath-ll.txt"}});
  REQUIRE(facts.multipath.maps.has_value());
  const auto& paths = facts.multipath.maps->at(0).paths;
  REQUIRE(paths.size() == 2);
  REQUIRE(paths[0].target.has_value());
  REQUIRE(paths[1].target.has_value());
  CHECK(*paths[0].target != *paths[1].target);
}

TEST_CASE("a SCSI host that carries several sessions tells none of them") {
  scratch::Directory directory;
  std::string text = terminal;
  text.replace(text.find("host4"), 5, "host3");
  directory.write("/paste", text);
  const auto facts = given({{"text", directory.path() + "/paste"}});
  REQUIRE(facts.multipath.maps.has_value());
  for (const auto& path : facts.multipath.maps->at(0).paths) CHECK(path.session.is_unknown());
}

TEST_CASE("what iscsid thinks of a session comes to what /sys shows of it") {
  scratch::Directory directory;
  directory.write("/sysfs",
                  "==== /sys/class/iscsi_session\n"
                  "== /sys/class/iscsi_session/session3 -> "
                  "../../devices/platform/host7/session3/iscsi_session/session3\n"
                  "targetname:iqn.2001-04.com.example:a\nstate:FREE\nrecovery_tmo:5\n");
  directory.write("/p3",
                  "Target: iqn.2001-04.com.example:a (non-flash)\n\tCurrent Portal: 192.0.2.1:3260,1\n"
                  "\tPersistent Portal: 192.0.2.1:3260,1\n\t\tSID: 3\n\t\tiSCSI Connection State: TRANSPORT WAIT\n"
                  "\t\tInternal iscsid Session State: REOPEN\n\t\tTimeouts:\n\t\tRecovery Timeout: 120\n");
  const auto facts = given({{"sysfs", directory.path() + "/sysfs"}, {"iscsi-p3", directory.path() + "/p3"}});
  REQUIRE(facts.iscsi.sessions.has_value());
  REQUIRE(facts.iscsi.sessions->size() == 1);
  const auto& session = facts.iscsi.sessions->at(0);
  CHECK(session.state.is("FREE"));
  CHECK(session.iscsid_state.is("REOPEN"));
  CHECK(session.recovery_tmo_s.is(5U));
  CHECK(session.told_by == Names{"sysfs", "iscsiadm -P 3"});
}
