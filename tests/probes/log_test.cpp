#include "probes/host/log.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>

#include "probes/host/known_messages.h"
#include "probes/host/log_line.h"
#include "probes/host/numbers_in_words.h"
#include "probes/host/pasted_text.h"
#include "probes/host/scrub.h"

using namespace facts;
using namespace probes;

namespace {

std::string corpus(const std::string& name) {
  std::ifstream in(std::string(SOURCE_DIR) + "/tests/corpus/" + name);
  REQUIRE(in.good());
  return {std::istreambuf_iterator<char>(in), {}};
}

LogText read(const std::string& name) {
  auto parsed = parse_log(corpus(name), name);
  CHECK(parsed.notes.empty());
  return parsed.facts;
}

std::vector<std::string> kinds(const LogText& text) {
  std::vector<std::string> out;
  for (const auto& message : text.messages) out.push_back(message.kind);
  return out;
}

using Kinds = std::vector<std::string>;

}  // namespace

TEST_CASE("log: the head of a line, in every form that logs have") {
  struct Row {
    const char* line;
    const char* at;  // nullptr: none
    double boot_s;   // -1: none
    const char* host;
    const char* program;
    const char* message;
  };
  const Row row = GENERATE(
      Row{"[11859608.510084] nfs: server a OK", nullptr, 11859608.510084, nullptr, "kernel", "nfs: server a OK"},
      Row{"<4>[    9.5] x", nullptr, 9.5, nullptr, "kernel", "x"},
      Row{"[    9.813483][   T12] x", nullptr, 9.813483, nullptr, "kernel", "x"},
      Row{"[Mon Jul 13 15:28:51 2020] x", "2020-07-13T15:28:51", -1, nullptr, "kernel", "x"},
      Row{"6,1234,5678901,-;x;y", nullptr, 5.678901, nullptr, "kernel", "x;y"},
      Row{"Jul  3 15:28:51 client1 kernel: lockd: get host 192.0.2.212", "Jul  3 15:28:51", -1, "client1", "kernel",
          "lockd: get host 192.0.2.212"},
      Row{"Aug 14 18:37:48 node1 kernel: [  855.971272]  connection1:0: detected conn error (1020)", "Aug 14 18:37:48",
          855.971272, "node1", "kernel", "connection1:0: detected conn error (1020)"},
      Row{"Feb 29 00:00:00 n rpc.statd[12]: x", "Feb 29 00:00:00", -1, "n", "rpc.statd", "x"},
      Row{"2023-06-19T15:52:50.250+02:00 n tlshd[1]: x", "2023-06-19T15:52:50.250+02:00", -1, "n", "tlshd", "x"},
      Row{"2023-06-19T15:52:50+0200 n kernel: x", "2023-06-19T15:52:50+02:00", -1, "n", "kernel", "x"},
      Row{"Mon 2023-06-19 15:52:50 UTC n kernel: x", "2023-06-19T15:52:50", -1, "n", "kernel", "x"},
      Row{"19/06/2023 15:52:50 : epoch 03c5d313 : node1 : ganesha.nfsd-1[svc_23] complete_op :NFS4 :EVENT :x",
          "2023-06-19T15:52:50", -1, "node1", "ganesha.nfsd-1", "complete_op :NFS4 :EVENT :x"},
      Row{"E0713 15:28:51.123456    1234 mount.go:12] x", "Jul 13 15:28:51.123456", -1, nullptr, nullptr, "x"},
      Row{"tlshd[2211]: x", nullptr, -1, nullptr, "tlshd", "x"},
      // What is no head stays message.
      Row{"nfs: server a OK", nullptr, -1, nullptr, nullptr, "nfs: server a OK"},
      Row{"[1.2.3] x", nullptr, -1, nullptr, nullptr, "[1.2.3] x"},
      Row{"[12] x", nullptr, -1, nullptr, nullptr, "[12] x"}, Row{"[", nullptr, -1, nullptr, nullptr, "["},
      Row{"31/02/2023 15:52:50 : x", nullptr, -1, nullptr, nullptr, "31/02/2023 15:52:50 : x"},
      Row{"Jul 33 15:28:51 a b: x", nullptr, -1, nullptr, nullptr, "Jul 33 15:28:51 a b: x"},
      Row{"Jul 13 25:28:51 a b: x", nullptr, -1, nullptr, nullptr, "Jul 13 25:28:51 a b: x"},
      Row{"2023-13-19T15:52:50 a b: x", nullptr, -1, nullptr, nullptr, "2023-13-19T15:52:50 a b: x"},
      Row{"[99999999999999999999999999999999999999999999] x", nullptr, -1, nullptr, nullptr,
          "[99999999999999999999999999999999999999999999] x"},
      Row{"6,99999999999999999999999,1,-;x", nullptr, -1, nullptr, nullptr, "6,99999999999999999999999,1,-;x"},
      Row{"prog[12: x", nullptr, -1, nullptr, nullptr, "prog[12: x"}, Row{"", nullptr, -1, nullptr, nullptr, ""},
      Row{"<", nullptr, -1, nullptr, nullptr, "<"});
  CAPTURE(row.line);
  const LogLine line = parse_log_line(row.line);
  CHECK(line.message == row.message);
  CHECK(line.at == (row.at != nullptr ? Fact<std::string>(row.at) : Fact<std::string>{}));
  CHECK(line.boot_s == (row.boot_s >= 0 ? Fact<double>(row.boot_s) : Fact<double>{}));
  CHECK(line.host == (row.host != nullptr ? Fact<std::string>(row.host) : Fact<std::string>{}));
  CHECK(line.program == (row.program != nullptr ? Fact<std::string>(row.program) : Fact<std::string>{}));
}

TEST_CASE("log: seconds are added on the clock that the stamp shows") {
  CHECK(add_seconds("2023-06-19T15:52:50", 30) == "2023-06-19T15:53:20");
  CHECK(add_seconds("2023-12-31T23:59:50.5+02:00", 30) == "2024-01-01T00:00:20+02:00");
  CHECK(add_seconds("2024-02-28T23:59:59Z", 1) == "2024-02-29T00:00:00Z");
  CHECK_FALSE(add_seconds("Jul 13 15:28:51", 1).has_value());
  CHECK_FALSE(add_seconds("", 1).has_value());
}

TEST_CASE("log: patterns match by their literals and the kind of what lies between") {
  struct Row {
    const char* pattern;
    const char* message;
    bool fits;
    const char* server;
  };
  const Row row = GENERATE(Row{"{service}: server {server} OK$", "nfs: server a.b OK", true, "a.b"},
                           Row{"{service}: server {server} OK$", "nfs: server a.b OKAY", false, ""},
                           Row{"{service}: server {server} OK$", "xyz: server a.b OK", false, ""},
                           Row{"{service}: server {server} OK$", "nfs: server a b OK", false, ""},
                           Row{"{service}: server {server} OK$", "nfs: server  OK", false, ""},
                           Row{"*with {word} ({server}) failed", "tlshd: Handshake with with u (h) failed", true, "h"},
                           Row{"*with {word} ({server}) failed", "Handshake with u (h) failed", true, "h"},
                           Row{"NFS: {server}: lost {count} locks", "NFS: h: lost 1 locks", true, "h"},
                           Row{"NFS: {server}: lost {count} locks", "NFS: h: lost many locks", false, ""},
                           Row{"abc", "ab", false, ""}, Row{"abc", "abcd", true, ""}, Row{"*abc$", "xabc", true, ""},
                           Row{"*abc$", "abcabcx", false, ""});
  CAPTURE(row.pattern, row.message);
  Captures captures;
  REQUIRE(match_message(row.pattern, row.message, captures) == row.fits);
  if (row.fits) CHECK(captures[Slot::server] == row.server);
}

TEST_CASE("log: every known message matches its own text") {
  // Also: no row lies dead behind an earlier one that takes all of its messages.
  for (const auto& table : known_message_tables()) {
    for (const auto& row : table) {
      std::string text = row.pattern;
      const bool anywhere = text.starts_with('*');
      if (anywhere) text.erase(0, 1);
      if (text.ends_with('$')) text.pop_back();
      struct Sample {
        const char* slot;
        const char* value;
      };
      for (const auto& [slot, value] :
           {Sample{"{service}", "nfs"}, Sample{"{server}", "198.51.100.7"}, Sample{"{port}", "2049"},
            Sample{"{device}", "0:86"}, Sample{"{path}", "/a b"}, Sample{"{source}", "h:/e"}, Sample{"{code}", "-13"},
            Sample{"{count}", "7"}, Sample{"{word}", "wd"}, Sample{"{any}", "a b"}}) {
        for (auto at = text.find(slot); at != std::string::npos; at = text.find(slot))
          text.replace(at, std::string_view(slot).size(), value);
      }
      CAPTURE(row.pattern, text);
      Captures captures;
      const auto* found = find_known_message(text, row.program != nullptr ? row.program : "", captures);
      REQUIRE(found != nullptr);
      CHECK(std::string(found->kind) == row.kind);
    }
  }
}

TEST_CASE("log: numbers are put in words") {
  CHECK(errno_words(-37) == "ENOLCK: No locks available");
  CHECK(errno_words(37) == "ENOLCK: No locks available");
  CHECK(errno_words(-10013) == "NFS4ERR_GRACE: the server is in its grace period");
  CHECK_FALSE(errno_words(-4000).has_value());
  CHECK(nlm_words(2) == "denied, no locks available (LCK_DENIED_NOLOCKS)");
  CHECK_FALSE(nlm_words(-2).has_value());
  CHECK(rpc_words(5) == "timed out (RPC_TIMEDOUT)");
  CHECK_FALSE(rpc_words(99).has_value());
  CHECK(errno_of("Stale NFS file handle") == 116);
  CHECK_FALSE(errno_of("").has_value());
}

TEST_CASE("log: secrets are taken out, whatever their form") {
  CHECK(scrub("mount -o user=a,password=hunter2,vers=3") == "mount -o user=a,password=***,vers=3");
  CHECK(scrub("node.session.auth.password = x y") == "node.session.auth.password = *** y");
  CHECK(scrub(R"({"chapInitiatorSecret": "a b", "n": 1})") == R"({"chapInitiatorSecret": ***, "n": 1})");
  CHECK(scrub("nfs.nfs4_unique_id=abc ro") == "nfs.nfs4_unique_id=*** ro");
  CHECK(scrub("Authorization: Bearer abc.def rest") == "Authorization: *** rest");
  CHECK(scrub("the password is not here") == "the password is not here");
  CHECK(scrub("password=") == "password=");
  CHECK(scrub("secret='unclosed") == "secret=***");
  CHECK(scrub("  a \t b  ") == "a b");
}

TEST_CASE("log: mount commands are told from listings and other commands") {
  struct Row {
    const char* line;
    const char* what;  // nullptr: no mount of a network file system
    const char* where;
    const char* options;  // nullptr: none
  };
  const Row row = GENERATE(
      Row{"# mount -v -t nfs nas.local:/export /mnt", "nas.local:/export", "/mnt", nullptr},
      Row{"mount -o 'nolock,vers=3,udp' 192.0.2.1:'/D/projects/site' /var/www", "192.0.2.1:/D/projects/site",
          "/var/www", "nolock,vers=3,udp"},
      Row{"[root@n ~]# mount.nfs h:/e /m -o ro -o vers=4.1", "h:/e", "/m", "ro,vers=4.1"},
      Row{"root@n:~# sudo /usr/sbin/mount.nfs4 -r \"[fe80::1%eth0]:/e e\" /m\\ x", "[fe80::1%eth0]:/e e", "/m x", "ro"},
      Row{"mount -tnfs -ohard h:/e /m && echo ok", "h:/e", "/m", "hard"},
      Row{"mount --types nfs --options=hard h:/e /m", "h:/e", "/m", "hard"}, Row{"mount", nullptr, nullptr, nullptr},
      Row{"mount -l", nullptr, nullptr, nullptr}, Row{"mount /mnt", nullptr, nullptr, nullptr},
      Row{"mount -t ext4 /dev/sda /m", nullptr, nullptr, nullptr}, Row{"mount /dev/sda1 /m", nullptr, nullptr, nullptr},
      Row{"umount h:/e /m", nullptr, nullptr, nullptr}, Row{"mountpoint h:/e /m", nullptr, nullptr, nullptr},
      Row{"mount -t", nullptr, nullptr, nullptr}, Row{"mount -o", nullptr, nullptr, nullptr},
      Row{"mount -t nfs 'h:/e /m", nullptr, nullptr, nullptr},
      Row{"mount -t cifs -o username=u,password=p //h/s /m", nullptr, nullptr, nullptr},
      Row{"# ", nullptr, nullptr, nullptr}, Row{"$ \\", nullptr, nullptr, nullptr});
  CAPTURE(row.line);
  const auto attempt = parse_mount_command(row.line);
  REQUIRE(attempt.has_value() == (row.what != nullptr));
  if (row.what == nullptr) return;
  CHECK(attempt->what.is(row.what));
  CHECK(attempt->where.is(row.where));
  CHECK(attempt->options_text ==
        (row.options != nullptr ? Fact<std::string>(row.options) : Fact<std::string>::absent()));
}

TEST_CASE("log: 013, a zone on a global address is named as the cause, not the options") {
  const auto text = read("013-ipv6-scope-on-global-address/input.cmd.txt");
  CHECK(kinds(text) == Kinds{"scope-id-rejected", "bad-option-misleading"});
  CHECK(text.messages[0].line == 5);
  CHECK(text.messages[0].server.is("2001:db8::1%3"));
  CHECK(text.messages[0].code.is(22));
  REQUIRE(text.mount_attempts.size() == 1);
  const auto& attempt = text.mount_attempts[0];
  CHECK(attempt.line == 3);
  CHECK(attempt.what.is("nas.local:/export"));
  CHECK(attempt.server.is("nas.local"));
  CHECK(attempt.where.is("/mnt"));
  CHECK(attempt.options_text.is_absent());
  CHECK(attempt.tried == std::vector<std::string>{"vers=4.2,addr=2001:db8::1%3,clientaddr=2001:db8::20"});
  CHECK(attempt.error_kind.is("scope-id-rejected"));
  CHECK(attempt.error_line.is(5U));

  // A link-local address keeps its zone and its error.
  const auto local = parse_log(
      "# mount -v -t nfs h:/e /m\nmount.nfs: trying text-based options 'addr=fe80::1%3'\nmount.nfs: mount(2): Invalid "
      "argument\n"
      "mount.nfs: an incorrect mount option was specified\n",
      "t");
  CHECK(kinds(local.facts) == Kinds{"mount-error", "bad-option"});
  CHECK(local.facts.mount_attempts[0].error_kind.is("bad-option"));
}

TEST_CASE("log: 017, a request that gave up does not tell whether the server is back") {
  const auto text = read("017-efs-two-tunnels-one-source/input.log");
  REQUIRE(text.servers.size() == 1);
  CHECK(text.servers[0].name == "127.0.0.1");
  CHECK(text.servers[0].service == "nfs");
  CHECK(text.servers[0].count == 1);
  CHECK(text.servers[0].timed_out == 1);
  CHECK(text.servers[0].still_down.is_unknown());
  CHECK(text.servers[0].ok_last.is_absent());
  CHECK(text.servers[0].down_since_boot_s.is(2521412.689613));
}

TEST_CASE("log: 027, access denied is kept with what was asked for") {
  const auto text = read("027-udp-nolock-fsc/input.cmd.txt");
  CHECK(kinds(text) == Kinds{"access-denied"});
  CHECK(text.messages[0].server.is("192.0.2.1"));
  CHECK(text.messages[0].path.is("/D/projects/site"));
  REQUIRE(text.mount_attempts.size() == 1);
  const auto& asked = *text.mount_attempts[0].asked;
  CHECK(asked.origin == "command");
  CHECK(asked.vers.is("3"));
  CHECK(asked.vers_origin.is("command"));
  CHECK(asked.proto.is("udp"));
  CHECK(asked.nolock.is(true));
  CHECK(text.mount_attempts[0].error_kind.is("access-denied"));
}

TEST_CASE("log: 051, the TLS handshake with a literal address, and what the exports demand") {
  const auto log = read("051-xprtsec-mtls-ipv6/input.log");
  CHECK(kinds(log) == Kinds{"tls-handshake-failed"});
  CHECK(log.messages[0].server.is("2001:db8:5a2b:1008:192:0:2:30"));
  CHECK(log.messages[0].program.is("tlshd"));
  CHECK(log.messages[0].detail.has_value());

  const auto command = read("051-xprtsec-mtls-ipv6/input.cmd.txt");
  CHECK(kinds(command) == Kinds{"access-denied"});
  CHECK(command.messages[0].code_text.is("EACCES: Permission denied"));
  REQUIRE(command.mount_attempts.size() == 1);
  CHECK(command.mount_attempts[0].server.is("2001:db8:5a2b:1008:192:0:2:30"));
  CHECK(command.mount_attempts[0].what.is("[2001:db8:5a2b:1008:192:0:2:30]:/data"));
  CHECK(command.mount_attempts[0].asked->xprtsec.is("mtls"));
  CHECK(command.mount_attempts[0].asked->timeo_ds.is(60U));
  CHECK(command.mount_attempts[0].tried.size() == 1);

  const auto exports = read("051-xprtsec-mtls-ipv6/input.exports.txt");
  REQUIRE(exports.exports.size() == 4);
  CHECK(exports.exports[0].path == "/nfs/projects/");
  CHECK(exports.exports[0].client == "192.0.2.0/24");
  CHECK(exports.exports[0].xprtsec.is("mtls:tls"));
  CHECK(exports.exports[3].path == "/nfs/projects/data");
  CHECK(exports.exports[3].client == "2001:db8:5a2b:1008::/64");
  CHECK(exports.exports[3].line == 2);
  CHECK(exports.exports[3].sec.is_absent());
}

TEST_CASE("log: 053, a soft mount gave up under a guest's disk") {
  const auto text = read("053-soft-vm-datastore/input.log");
  CHECK(kinds(text) == Kinds{"server-timed-out", "fs-aborted", "fs-read-only"});
  CHECK(text.messages[0].server.is("192.0.2.70"));
  CHECK(text.messages[1].device.is("xvda2"));
  CHECK(text.messages[2].device.is("xvda2"));
  CHECK(text.servers[0].down_since.is("line 1"));
  CHECK(text.servers[0].silent_s.is_unknown());
}

TEST_CASE("log: 055, the port mapper could not be asked for want of a local port") {
  const auto text = read("055-hard-timeo-no-effect/input.cmd.txt");
  CHECK(kinds(text) == Kinds{"address-in-use"});
  CHECK(text.messages[0].server.is_unknown());
}

TEST_CASE("log: 056, the second line of the kernel's message is joined") {
  const auto log = read("056-stale-after-server-restart/input.log");
  CHECK(kinds(log) == Kinds{"server-timed-out", "server-timed-out", "fileid-changed", "fileid-changed"});
  CHECK(log.messages[2].server.is("nfs.app-solr.svc.cluster.local"));
  CHECK(log.messages[2].device.is("0:86"));
  CHECK(log.messages[2].line == 3);
  CHECK(log.messages[3].line == 5);
  CHECK(log.messages[2].text ==
        "NFS: server nfs.app-solr.svc.cluster.local error: fileid changed fsid 0:86: expected fileid 0xe13cc, got "
        "0xe13a9");
  REQUIRE(log.servers.size() == 1);
  CHECK(log.servers[0].count == 2);
  const auto command = read("056-stale-after-server-restart/input.cmd.txt");
  CHECK(kinds(command) == Kinds{"stale-handle"});
  CHECK(
      command.messages[0].path.is("/home/kubernetes/containerized_mounter/rootfs/var/lib/kubelet/pods/"
                                  "49f22ce7-52f1-11e9-a541-42010aa40179/volumes/kubernetes.io~nfs/app-solr-backups"));
}

TEST_CASE("log: 058, down from the first message on, no OK behind it") {
  const auto text = read("058-kubelet-hang-hard/input.log");
  REQUIRE(text.servers.size() == 1);
  const auto& server = text.servers[0];
  CHECK(server.name == "192.0.2.5");
  CHECK(server.count == 3);
  CHECK(server.still_trying == 3);
  CHECK(server.still_down.is(true));
  CHECK(server.ok_last.is_absent());
  CHECK(server.down_since_boot_s.is(11859608.510084));
  REQUIRE(server.silent_s.has_value());
  CHECK(*server.silent_s == Approx(823.787932));
  CHECK(server.first_line == 1);
  CHECK(server.last_line == 3);
}

TEST_CASE("log: an OK ends it, a later message begins anew") {
  const auto text = parse_log(
      "[10.0] nfs: server a not responding, still trying\n[20.0] nfs: server a not responding, timed out\n"
      "[30.0] nfs: server a OK\n[30.0] lockd: server a not responding, still trying\n",
      "t");
  REQUIRE(text.facts.servers.size() == 2);
  CHECK(text.facts.servers[0].still_down.is(false));
  CHECK(text.facts.servers[0].count == 2);
  CHECK(text.facts.servers[0].down_since.is_absent());
  CHECK(text.facts.servers[0].ok_last.is("30.000000 s after boot"));
  CHECK(text.facts.servers[1].service == "lockd");
  CHECK(text.facts.servers[1].still_down.is(true));
  const auto again = parse_log(
      "Dec 31 23:59:50 n kernel: nfs: server a OK\nDec 31 23:59:55 n kernel: nfs: server a not responding, still "
      "trying\n"
      "Jan  1 00:00:05 n kernel: nfs: server a not responding, still trying\n",
      "t");
  CHECK(again.facts.servers[0].down_since.is("Dec 31 23:59:55"));
  CHECK(again.facts.servers[0].silent_s.is(10.0));
  CHECK(again.facts.servers[0].still_down.is(true));
}

TEST_CASE("log: 059, a lock request that waits for the lock manager") {
  const auto text = read("059-flock-hang-no-nlm/input.stack.txt");
  CHECK(kinds(text) == Kinds{"waits-in-nlm"});
  CHECK(text.messages[0].line == 1);
  CHECK(text.messages[0].text ==
        "__do_sys_flock nfs_flock nfs3_proc_lock nlmclnt_lock nlmclnt_call rpc_wait_bit_killable");
  // Single words are no stack, and a stack elsewhere in the kernel is none of ours.
  CHECK(parse_log("nlmclnt_call\nrpc_wait_bit\nhello\n", "t").facts.messages.empty());
  CHECK(parse_log("[<0>] do_sys_poll+0x1/0x2\n[<0>] io_schedule+0x1/0x2\n[<0>] ext4_writepages+0x3/0x4 [ext4]\n", "t")
            .facts.messages.empty());
}

TEST_CASE("log: the watchdog's message stays when its trace lies in NFS") {
  const std::string head =
      "[100.0] INFO: task dd:251 blocked for more than 120 seconds.\n[100.1]       Not tainted 6.1\n"
      "[100.2] Call Trace:\n[100.2]  <TASK>\n";
  const auto nfs = parse_log(head +
                                 "[100.3]  __schedule+0x1/0x2\n[100.3]  ? rpc_wait_bit_killable+0xd/0x70 [sunrpc]\n"
                                 "[100.3]  nfs4_proc_access+0x67/0xf0 [nfsv4]\n[100.3]  </TASK>\n",
                             "t");
  REQUIRE(kinds(nfs.facts) == Kinds{"hung-task"});
  CHECK(nfs.facts.messages[0].device.is("dd:251"));
  CHECK(nfs.facts.messages[0].count.is(120U));
  CHECK(nfs.facts.messages[0].detail.is("a request waits for the reply of an RPC server"));
  const auto other =
      parse_log(head + "[100.3]  __schedule+0x1/0x2\n[100.3]  io_schedule+0x1/0x2\n[100.3]  jbd2_log+0x1/0x2\n", "t");
  CHECK(other.facts.messages.empty());
}

TEST_CASE("log: 061, rpc.statd is missing where mount.nfs runs") {
  const auto text = read("061-statd-missing/input.cmd.txt");
  CHECK(kinds(text) == Kinds{"statd-missing"});
  REQUIRE(text.mount_attempts.size() == 1);
  CHECK(text.mount_attempts[0].what.is("192.0.2.1:/storage/persistent"));
  CHECK(text.mount_attempts[0].fs_type.is("nfs"));
  CHECK(text.mount_attempts[0].asked->vers.is("3"));
  CHECK(text.mount_attempts[0].asked->recovery.is("hard"));
  CHECK(text.mount_attempts[0].error_kind.is("statd-missing"));
  const auto old = parse_log(
      corpus("061-statd-missing/input.cmd.txt") + "mount.nfs: an incorrect mount option was specified\n", "t");
  CHECK(kinds(old.facts) == Kinds{"statd-missing", "bad-option-misleading"});
}

TEST_CASE("log: 063, the lock was refused after 25 seconds, in words") {
  const auto client = read("063-nsm-callback-blocked/input.log");
  REQUIRE(kinds(client) == Kinds{"nlm-denied", "nlm-call-failed"});
  CHECK(client.messages[0].server.is("192.0.2.212"));
  CHECK(client.messages[0].host.is("client1"));
  CHECK(client.messages[0].at.is("Jul 13 15:29:16"));
  CHECK(client.messages[0].code.is(2));
  CHECK(client.messages[0].code_text.is("denied, no locks available (LCK_DENIED_NOLOCKS)"));
  CHECK(client.messages[0].took_s.is(25.0));
  CHECK(client.messages[1].code.is(-37));
  CHECK(client.messages[1].code_text.is("ENOLCK: No locks available"));
  const auto server = read("063-nsm-callback-blocked/input.server.log");
  REQUIRE(kinds(server) == Kinds{"nsm-monitor-failed"});
  CHECK(server.messages[0].server.is("192.0.2.102"));
  CHECK(server.messages[0].code_text.is("timed out (RPC_TIMEDOUT)"));
}

TEST_CASE("log: 064, a grace period with its expected end") {
  const auto text = read("064-grace-after-failover/input.server.log");
  CHECK(kinds(text) == Kinds{"grace-start", "address-taken-over", "grace-check", "grace-refused", "grace-check"});
  CHECK(text.messages[0].program.is("ganesha.nfsd-1"));
  CHECK(text.messages[1].server.is("192.0.2.21"));
  REQUIRE(text.grace_periods.size() == 1);
  const auto& grace = text.grace_periods[0];
  CHECK(grace.start.is("2023-06-19T15:52:50"));
  CHECK(grace.duration_s.is(30U));
  CHECK(grace.expected_end.is("2023-06-19T15:53:20"));
  CHECK(grace.end.is_unknown());
  CHECK(grace.host.is("node1"));
  CHECK(grace.refused == 1);
  CHECK(grace.clients_to_reclaim.is(0));
}

TEST_CASE("log: 065, a grace period of 90 s that ended") {
  const auto text = read("065-grace-90s-restart/input.server.log");
  REQUIRE(text.grace_periods.size() == 1);
  CHECK(text.grace_periods[0].duration_s.is(90U));
  CHECK(text.grace_periods[0].end.is("line 2"));
  CHECK(text.grace_periods[0].expected_end.is_unknown());
}

TEST_CASE("log: 066, another process holds the disk image") {
  const auto text = read("066-migration-lock-nfs/input.log");
  CHECK(kinds(text) == Kinds{"image-lock-failed"});
  CHECK(text.messages[0].path.is("/var/run/kubevirt-private/vmi-disks/os-disk/disk.img"));
}

TEST_CASE("log: 069, the root over NFS of a kernel command line") {
  const auto text = read("069-nfsroot-4k/input.cmdline.txt");
  REQUIRE(text.nfsroot.has_value());
  CHECK(text.nfsroot->server.is("192.0.2.5"));
  CHECK(text.nfsroot->export_path.is("/nfs/client1"));
  CHECK(text.nfsroot->options_text.is("vers=3"));
  CHECK(parse_nfsroot("root=/dev/sda1 ro", "c").is_absent());
  const auto bare = parse_nfsroot("nfsroot=/srv/root", "c");
  CHECK(bare->server.is_absent());
  CHECK(bare->export_path.is("/srv/root"));
  CHECK(bare->options_text.is_absent());
  CHECK(parse_nfsroot("nfsroot=", "c")->export_path.is(""));
}

TEST_CASE("log: 076, no local port is left for a tunnel") {
  const auto text = read("076-loopback-port-exhaustion/input.log");
  CHECK(kinds(text) == Kinds{"volume-mount-failed", "efs-watchdog-not-started", "no-free-local-port"});
  CHECK(text.messages[0].device.is("myproject-web-pv"));
  CHECK(text.messages[2].count.is(401U));
  REQUIRE(text.mount_attempts.size() == 1);
  CHECK(text.mount_attempts[0].fs_type.is("efs"));
  CHECK(text.mount_attempts[0].what.is("fs-1234abcd:/"));
  CHECK(text.mount_attempts[0].options_text.is("noac,tls"));
  CHECK(text.mount_attempts[0].error_kind.is("no-free-local-port"));
}

TEST_CASE("log: what is no message costs nothing, a flood is bounded") {
  CHECK(parse_log("", "t").facts.messages.empty());
  CHECK(parse_log("\n\n   \n\t\n", "t").facts.messages.empty());
  CHECK(parse_log(std::string("\0\xff\xfe nfs: server", 14), "t").facts.messages.empty());
  CHECK(parse_log("nfs: server \n\tnot responding, still trying\n[", "t").facts.messages.empty());
  std::string flood;
  for (int i = 0; i < 20000; ++i) flood += "[" + std::to_string(i) + ".0] nfs: server a not responding, still trying\n";
  const auto many = parse_log(flood, "t");
  CHECK(many.facts.messages.size() == 51);
  CHECK(many.facts.messages.back().line == 20000);
  CHECK(many.facts.servers[0].count == 20000);
  REQUIRE(many.notes.size() == 1);
  CHECK_FALSE(many.notes[0].lost);
  CHECK(many.notes[0].reason == "19949 more messages of the same kinds are counted, not kept");
  std::string servers;
  for (int i = 0; i < 20000; ++i) servers += "nfs: server h" + std::to_string(i) + " OK\n";
  CHECK(parse_log(servers, "t").facts.messages.size() == 5000);
  const auto joined = parse_log("nfs: server a OK\n" + std::string(100000, ' ') + std::string(100000, 'x') + "\n", "t");
  CHECK(joined.facts.messages.size() == 1);
}

TEST_CASE("log: facts of several texts add up") {
  Facts all;
  add_log(all, parse_log("nfs: server a OK\n", "one").facts);
  add_log(all, parse_log("nfs: server b OK\n", "two").facts);
  REQUIRE(all.log.messages->size() == 2);
  CHECK(all.log.messages->at(1).source == "two");
  CHECK(all.log.servers->size() == 2);
  CHECK(all.config.nfsroot.is_unknown());
}

TEST_CASE("log: what the initiator says, with its errors in words") {
  const auto text = parse_log(
      "Aug 14 18:37:46 n iscsid: Kernel reported iSCSI connection 1:0 error (1020 - ISCSI_ERR_TCP_CONN_CLOSE: TCP "
      "connection closed) state (3)\n"
      "Aug 14 18:37:46 n kernel: [  855.971272]  connection1:0: detected conn error (1022)\n"
      "Aug 14 18:37:46 n kernel: [  855.971272]  connection2:0: detected conn error (22)\n"
      "Aug 14 18:37:48 n iscsid: connection1:0 is operational after recovery (3 attempts)\n"
      "Aug 14 18:37:49 n kernel: connection1:0: ping timeout of 5 secs expired, recv timeout 5, last rx 1, now 2\n"
      "Aug 14 18:37:50 n kernel: session1: session recovery timed out after 120 secs\n"
      "Aug 14 18:37:51 n iscsid: connect to 192.0.2.7:3260 failed (Connection refused)\n"
      "Aug 14 18:37:52 n iscsid: connect to 192.0.2.7:3260 failed (No route to host)\n"
      "iscsiadm: discovery login to 192.0.2.2 rejected: initiator error (02/01), non-retryable, giving up\n",
      "log");
  REQUIRE(text.facts.messages.size() == 9);
  CHECK(kinds(text.facts) == Kinds{"iscsi-connection-error-told", "iscsi-connection-error", "iscsi-connection-error",
                                   "iscsi-recovered", "iscsi-ping-timeout", "iscsi-recovery-over",
                                   "iscsi-connect-refused", "iscsi-connect-failed", "iscsi-login-rejected"});
  const auto& m = text.facts.messages;
  CHECK(m[0].device.is("1:0"));
  CHECK(m[0].code.is(1020));
  CHECK(m[0].code_text.is("the other side closed the connection (ISCSI_ERR_TCP_CONN_CLOSE)"));
  CHECK(m[1].code_text.is("a NOP-Out was not answered in time (ISCSI_ERR_NOP_TIMEDOUT)"));
  CHECK(m[2].code_text == m[1].code_text);
  CHECK(m[2].device.is("2:0"));
  CHECK(m[3].count.is(3U));
  CHECK(m[5].device.is("1"));
  CHECK(m[6].server.is("192.0.2.7"));
  CHECK(m[6].port.is(3260U));
  CHECK(m[8].server.is("192.0.2.2"));
  CHECK_FALSE(iscsi_error_words(5000));
}
