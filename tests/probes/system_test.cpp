#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>

#include "audit/base/text.h"
#include "probes/budget.h"
#include "probes/host/client_identity.h"
#include "probes/host/sunrpc.h"
#include "probes/host/tasks.h"
#include "probes/host/tunables.h"

using namespace probes;
using facts::Fact;

namespace {

std::vector<std::string> reasons(const std::vector<Note>& notes) {
  std::vector<std::string> all;
  for (const auto& note : notes) all.push_back(std::to_string(note.line) + ": " + note.reason);
  return all;
}

using Strings = std::vector<std::string>;

}  // namespace

TEST_CASE("sunrpc: a connected transport of Linux 6.1") {
  facts::RpcTransport t;
  const std::string nul(1, '\0');  // the kernel counts it into the text
  const std::string info =
      "last_used=4294908394\ncur_cong=0\ncong_win=256\nmax_num_slots=65536\nmin_num_slots=2\nnum_reqs=3\n"
      "binding_q_len=0\nsending_q_len=4\npending_q_len=5\nbacklog_q_len=6\nmain_xprt=1\nsrc_port=809\n"
      "tasks_queuelen=7\ndst_port=2049\n" +
      nul;
  CHECK(parse_xprt_info(info, t).empty());
  CHECK(parse_xprt_state("state= CONNECTED   BOUND       \n" + nul, t).empty());
  CHECK(t.max_slots_count.is(65536));
  CHECK(t.min_slots_count.is(2));
  CHECK(t.requests_count.is(3));
  CHECK(t.sending_queue_count.is(4));
  CHECK(t.pending_queue_count.is(5));
  CHECK(t.backlog_queue_count.is(6));
  CHECK(t.tasks_count.is(7));
  CHECK(t.main_xprt.is(true));
  CHECK(t.src_port.is(809));
  CHECK(t.dst_port.is(2049));
  CHECK(t.connected.is(true));
  CHECK(t.state == Strings{"CONNECTED", "BOUND"});
}

TEST_CASE("sunrpc: a transport that is closed, and texts that are not what they should be") {
  struct Row {
    const char* name;
    std::string info;
    Strings notes;
  };
  const Row row = GENERATE(Row{"closed", "<closed>\n", {}}, Row{"empty", "", {}},
                           Row{"a newer key", "main_xprt=0\nnew_thing=1\n", {"2: unknown key new_thing"}},
                           Row{"no number", "num_reqs=many\nmain_xprt=0\n", {"1: num_reqs is no number"}},
                           Row{"negative", "num_reqs=-1\n", {"1: num_reqs is no number"}},
                           Row{"neither yes nor no", "main_xprt=2\n", {"1: main_xprt is no number"}},
                           Row{"no equals sign", "num_reqs\n", {"1: no KEY=VALUE"}});
  INFO(row.name);
  facts::RpcTransport t;
  CHECK(reasons(parse_xprt_info(row.info, t)) == row.notes);
  CHECK(t.requests_count.is_unknown());

  facts::RpcTransport closed;
  CHECK(parse_xprt_state("state=CLOSED\n", closed).empty());
  CHECK(closed.connected.is(false));
  CHECK(parse_xprt_state("CONNECTED\n", closed).size() == 1);
  facts::RpcTransport udp;
  CHECK(parse_xprt_info("src_port=0\ndst_port=0\n", udp).empty());
  CHECK(udp.src_port.is_absent());
  CHECK(udp.dst_port.is_absent());
}

TEST_CASE("sunrpc: switch counters, and the transport's kind by its name") {
  facts::RpcSwitch s;
  CHECK(reasons(parse_xprt_switch_info("num_xprts=8\nnum_active=7\nnum_unique_destaddr=2\nqueue_len=-1\nx=1\n", s)) ==
        Strings{"5: unknown key x"});
  CHECK(s.transports_count.is(8));
  CHECK(s.active_count.is(7));
  CHECK(s.destinations_count.is(2));
  CHECK(s.queue_len.is(-1));
  CHECK(proto_of_xprt_name("xprt-12-tcp") == "tcp");
  CHECK(proto_of_xprt_name("xprt-12-tcp-tls") == "tcp-tls");
  CHECK(proto_of_xprt_name("xprt-12").empty());
  CHECK(proto_of_xprt_name("xprt-x-tcp").empty());
  CHECK(proto_of_xprt_name("switch-1").empty());
}

TEST_CASE("client identity: the class of a node name") {
  struct Row {
    const char* name;
    const char* expected;
  };
  const Row row =
      GENERATE(Row{"localhost", "localhost"}, Row{"localhost.localdomain", "localhost"}, Row{"LOCALHOST", "localhost"},
               Row{"localhost6.localdomain6", "localhost"}, Row{"localhost-live", "localhost"},
               Row{"(none)", "localhost"}, Row{"", "localhost"}, Row{"rhel9-template", "template"},
               Row{"golden01.example.com", "template"}, Row{"vm-clone-3", "template"}, Row{"Image", "template"},
               Row{"templeton", "unqualified"}, Row{"imagine.example.com", "qualified"}, Row{"cyclone", "unqualified"},
               Row{"worker-1", "unqualified"}, Row{"worker-1.template.example.com", "qualified"},
               Row{"localhosting.example.com", "qualified"}, Row{"node.example.com", "qualified"});
  INFO(row.name);
  CHECK(nodename_class(row.name) == row.expected);
}

TEST_CASE("client identity: hashes only, the same from a scrubbed capture") {
  CHECK(identity_text("(null)\n").empty());
  CHECK(identity_text("\n").empty());
  CHECK(identity_text(" 9f2e-uuid \n") == "9f2e-uuid");
  const std::string hash = identity_hash("9f2e-uuid");
  CHECK(hash == base::sha256_hex("9f2e-uuid").substr(0, 16));
  CHECK(identity_hash(scrubbed_identity("9f2e-uuid")) == hash);
  CHECK(scrubbed_identity(scrubbed_identity("9f2e-uuid")) == "sha256:" + hash);
  CHECK(identity_hash("sha256:not-a-hash") != "not-a-hash");

  const auto set = client_identity({"9f2e-uuid", "", "worker-1"});
  CHECK(set.identifier_hash.is(hash));
  CHECK(set.unique_id_hash.is_absent());
  CHECK(set.uniquifier_set.is(true));
  CHECK(set.nodename_class.is("unqualified"));
  CHECK(set.effective_hash.has_value());
  // The parameter serves where the namespace has none; the namespace goes first where both are set.
  CHECK(client_identity({"", "9f2e-uuid", "worker-1"}).effective_hash == set.effective_hash);
  CHECK(client_identity({"9f2e-uuid", "other", "worker-1"}).effective_hash == set.effective_hash);
  CHECK(client_identity({"9f2e-uuid", "", "worker-2"}).effective_hash != set.effective_hash);
}

TEST_CASE("client identity: what cannot be read is not taken for not set") {
  const auto neither = client_identity({Fact<std::string>::absent(), Fact<std::string>::absent(), "localhost"});
  CHECK(neither.uniquifier_set.is(false));
  CHECK(neither.effective_hash.has_value());
  const auto denied = client_identity({"", {}, "localhost"});
  CHECK(denied.uniquifier_set.is_unknown());
  CHECK(denied.effective_hash.is_unknown());
  const auto only_parameter = client_identity({{}, "x", "n"});
  CHECK(only_parameter.uniquifier_set.is(true));
  CHECK(only_parameter.effective_hash.is_unknown());
  CHECK(client_identity({"x", "", {}}).effective_hash.is_unknown());
}

TEST_CASE("sysctl.d: settings of ours with file and line") {
  const auto parsed = parse_sysctl_conf(
      "# comment\n; another\n\nvm.swappiness = 10\nsunrpc.tcp_max_slot_table_entries=128\n"
      "-sunrpc/tcp_slot_table_entries = 64\n  fs.nfs.nlm_grace_period = 90  \nsunrpc.min_resvport\nsunrpcx.y = 1\n=\n",
      "/etc/sysctl.d/nfs.conf");
  CHECK(reasons(parsed.notes) == Strings{"8: sunrpc.min_resvport has no value"});
  REQUIRE(parsed.facts.size() == 3);
  CHECK(parsed.facts[0].name == "sunrpc.tcp_max_slot_table_entries");
  CHECK(parsed.facts[0].value == "128");
  CHECK(parsed.facts[0].origin == "/etc/sysctl.d/nfs.conf:5");
  CHECK(parsed.facts[1].name == "sunrpc.tcp_slot_table_entries");
  CHECK(parsed.facts[2].value == "90");
  CHECK(parse_sysctl_conf("", "x").facts.empty());
  CHECK(parse_sysctl_conf("\0\0\0", "x").facts.empty());
}

TEST_CASE("modprobe.d: options of our modules, continued lines, the identity as a hash") {
  const auto parsed = parse_modprobe_conf(
      "options nfs max_session_slots=180 recover_lost_locks\n# options nfs max_session_slots=1\n"
      "options sunrpc \\\n  tcp_max_slot_table_entries=128\noptions nfs nfs4_unique_id=\"9f2e-uuid\"\n"
      "options e1000 x=1\nblacklist nfs\noptions nfs\noptions\noptions nfs-layout-flexfiles io_maxretrans=3\n"
      "options lockd nlm_grace_period=\\",
      "/etc/modprobe.d/nfs.conf");
  CHECK(reasons(parsed.notes) == Strings{"8: options nfs names no parameter"});
  REQUIRE(parsed.facts.size() == 5);
  CHECK(parsed.facts[0].name == "nfs.max_session_slots");
  CHECK(parsed.facts[1].name == "nfs.recover_lost_locks");
  CHECK(parsed.facts[1].value == "1");
  CHECK(parsed.facts[2].name == "sunrpc.tcp_max_slot_table_entries");
  CHECK(parsed.facts[2].origin == "/etc/modprobe.d/nfs.conf:3");
  CHECK(parsed.facts[3].value == scrubbed_identity("9f2e-uuid"));
  CHECK(parsed.facts[4].name == "nfs_layout_flexfiles.io_maxretrans");
}

TEST_CASE("command line: parameters of our modules until --") {
  const auto parsed = parse_cmdline(
      "BOOT_IMAGE=/vmlinuz root=/dev/sda1 nfs.max_session_slots=180 sunrpc.tcp-max-slot-table-entries=\"64\" "
      "sysctl.sunrpc.tcp_slot_table_entries=32 sysctl.vm.swappiness=1 nfsroot=10.9.0.1:/ nfs.nfs4_unique_id=9f2e-uuid "
      "-- nfs.max_session_slots=1\n",
      "/proc/cmdline");
  REQUIRE(parsed.facts.size() == 4);
  CHECK(parsed.facts[0].value == "180");
  CHECK(parsed.facts[1].name == "sunrpc.tcp_max_slot_table_entries");
  CHECK(parsed.facts[1].value == "64");
  CHECK(parsed.facts[2].kind == "sysctl");
  CHECK(parsed.facts[3].value == scrubbed_identity("9f2e-uuid"));
  CHECK(parse_cmdline("", "x").facts.empty());
  CHECK(parse_cmdline(". = nfs. .nfs", "x").facts.size() == 1);  // "nfs." is a parameter without a name
}

TEST_CASE("scrubbing: the identity leaves as a hash, wherever it is written, and reads the same afterwards") {
  const std::string mark = scrubbed_identity("9f2e-uuid");
  CHECK(scrub_modprobe_conf("options nfs nfs4_unique_id=9f2e-uuid max_session_slots=180\n#nfs4-unique-id=9f2e-uuid") ==
        "options nfs nfs4_unique_id=" + mark + " max_session_slots=180\n#nfs4-unique-id=" + mark);
  CHECK(scrub_modprobe_conf("options nfs nfs4_unique_id=\"my own id\" x=1\n") ==
        "options nfs nfs4_unique_id=" + scrubbed_identity("my own id") + " x=1\n");
  CHECK(scrub_modprobe_conf("options nfs nfs4_unique_id=\n") == "options nfs nfs4_unique_id=\n");
  CHECK(scrub_modprobe_conf("options nfs nfs4_unique_id=\"cut") ==
        "options nfs nfs4_unique_id=" + scrubbed_identity("\"cut"));
  CHECK(scrub_modprobe_conf("").empty());
  CHECK(scrub_cmdline(
            "BOOT_IMAGE=x rd.iscsi.password=secret nfs.nfs4_unique_id=9f2e-uuid quiet nfs.max_session_slots=8\n") ==
        "nfs.nfs4_unique_id=" + mark + " nfs.max_session_slots=8\n");
  CHECK(scrub_identity_file("(null)\n") == "(null)\n");
  CHECK(scrub_identity_file("9f2e-uuid\n") == mark + "\n");
  const auto before = parse_modprobe_conf("options nfs nfs4_unique_id=\"my own id\"\n", "f").facts;
  const auto after = parse_modprobe_conf(scrub_modprobe_conf("options nfs nfs4_unique_id=\"my own id\"\n"), "f").facts;
  REQUIRE(before.size() == 1);
  REQUIRE(after.size() == 1);
  CHECK(before[0].value == after[0].value);
}

TEST_CASE("settings: of files with one name the first directory's counts, all sorted by name") {
  CHECK(apply_order({{"/etc/sysctl.d", {"99-x.conf", "README"}},
                     {"/run/sysctl.d", {"50-a.conf"}},
                     {"/usr/lib/sysctl.d", {"10-b.conf", "99-x.conf"}}}) ==
        Strings{"/usr/lib/sysctl.d/10-b.conf", "/run/sysctl.d/50-a.conf", "/etc/sysctl.d/99-x.conf"});
  CHECK(apply_order({}).empty());
}

TEST_CASE("settings: live beside configured, the last one wins, and a key that does not exist is found") {
  LiveSettings live;
  live.values["sunrpc.tcp_max_slot_table_entries"] = {"65536", "sysctl"};
  live.values["sunrpc.brand_new"] = {"1", "sysctl"};
  live.listed = {"sunrpc"};
  const auto settings =
      join_settings(live, {{"sunrpc.tcp_max_slot_table_entries", "64", "module parameter", "/etc/modprobe.d/n.conf:1"},
                           {"nfs.max_session_slots", "180", "module parameter", "/etc/modprobe.d/n.conf:2"},
                           {"nfs.future_thing", "1", "module parameter", "/etc/modprobe.d/n.conf:3"},
                           {"nfs.max_sesion_slots", "180", "module parameter", "/etc/modprobe.d/n.conf:4"},
                           {"sunrpc.tcp_max_slot_table_entries", "128", "sysctl", "/etc/sysctl.d/n.conf:1"},
                           {"sunrpc.tcp_max_slot_table_entries", "128", "sysctl", "/etc/sysctl.conf:1"},
                           {"sunrpc.max_tcp_slot_table_entries", "128", "sysctl", "/etc/sysctl.d/n.conf:2"}});
  const auto find = [&](std::string_view name) {
    const auto it = std::find_if(settings.begin(), settings.end(), [&](const auto& s) { return s.name == name; });
    REQUIRE(it != settings.end());
    return *it;
  };
  REQUIRE(settings.size() == 6);
  const auto slots = find("sunrpc.tcp_max_slot_table_entries");
  CHECK(slots.kind == "sysctl");
  CHECK(slots.live.is("65536"));
  CHECK(slots.configured.is("128"));
  CHECK(slots.origin.is("/etc/sysctl.conf:1"));
  CHECK(slots.overridden == Strings{"/etc/modprobe.d/n.conf:1 64"});
  CHECK(slots.unknown_key.is(false));
  CHECK(find("sunrpc.brand_new").configured.is_absent());
  CHECK(find("sunrpc.brand_new").unknown_key.is(false));
  const auto wrong = find("sunrpc.max_tcp_slot_table_entries");
  CHECK(wrong.live.is_absent());
  CHECK(wrong.unknown_key.is(true));
  CHECK(wrong.meant.is("sunrpc.tcp_max_slot_table_entries"));
  // The module is not loaded: nothing is known of what runs.
  CHECK(find("nfs.max_session_slots").live.is_unknown());
  CHECK(find("nfs.max_session_slots").unknown_key.is(false));
  CHECK(find("nfs.max_sesion_slots").meant.is("nfs.max_session_slots"));
  CHECK(find("nfs.future_thing").unknown_key.is_unknown());
}

TEST_CASE("settings: numbers for the rules, unknown when the module is not there") {
  LiveSettings live;
  live.values["sunrpc.tcp_max_slot_table_entries"] = {"65536", "sysctl"};
  live.values["sunrpc.min_resvport"] = {"665", "sysctl"};
  live.values["sunrpc.max_resvport"] = {"many", "sysctl"};
  live.values["nfs.recover_lost_locks"] = {"N", "module parameter"};
  live.values["lockd.nlm_grace_period"] = {"90", "module parameter"};
  live.listed = {"sunrpc", "nfs", "lockd"};
  const auto rpc = rpc_tunables(live);
  CHECK(rpc.tcp_max_slot_table_entries.is(65536));
  CHECK(rpc.min_resvport.is(665));
  CHECK(rpc.max_resvport.is_unknown());
  CHECK(rpc.tcp_slot_table_entries.is_absent());
  CHECK(rpc.max_session_slots.is_absent());
  CHECK(rpc.recover_lost_locks.is(false));
  CHECK(rpc.nlm_grace_period_s.is(90));
  CHECK(rpc_tunables({}) == facts::RpcTunables{});
}

TEST_CASE("tasks: a stat line, whatever is in the name") {
  struct Row {
    const char* name;
    const char* line;
    const char* comm;  // nullptr: no stat line
  };
  const Row row = GENERATE(
      Row{"plain", "251 (dd) D 250 251 250 0 -1 4194304 1 0 0 0 0 0 0 0 20 0 1 0 12345 0 0", "dd"},
      Row{"blanks and brackets", "251 (a ) D (b)) D 250 251 250 0 -1 4194304 1 0 0 0 0 0 0 0 20 0 1 0 12345",
          "a ) D (b)"},
      Row{"empty name", "251 () D 250 251 250 0 -1 4194304 1 0 0 0 0 0 0 0 20 0 1 0 12345", ""},
      Row{"cut", "251 (dd) D 250 251 250 0 -1 4194304 1 0 0", nullptr}, Row{"no brackets", "251 dd D 250", nullptr},
      Row{"brackets the wrong way", "251 )dd( D 1 1 1 0 -1 4194304 1 0 0 0 0 0 0 0 20 0 1 0 12345", nullptr},
      Row{"no pid", "x (dd) D 1 1 1 0 -1 4194304 1 0 0 0 0 0 0 0 20 0 1 0 12345", nullptr},
      Row{"no start", "1 (dd) D 1 1 1 0 -1 4194304 1 0 0 0 0 0 0 0 20 0 1 0 x", nullptr}, Row{"empty", "", nullptr});
  INFO(row.name);
  const auto stat = parse_task_stat(row.line);
  REQUIRE(stat.has_value() == (row.comm != nullptr));
  if (row.comm == nullptr) return;
  CHECK(stat->comm == row.comm);
  CHECK(stat->pid == 251);
  CHECK(stat->state == 'D');
  CHECK(stat->start_ticks == 12345);
  CHECK_FALSE(stat->kernel_thread());
}

namespace {

const std::string user_stat = " S 1 1 1 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 100";
const std::string kernel_stat = " I 0 0 0 0 -1 2129984 0 0 0 0 0 0 0 0 20 0 1 0 3";  // PF_KTHREAD and more

}  // namespace

TEST_CASE("tasks: daemons run, or do not where the whole node was seen") {
  const auto whole = parse_tasks("seen 120 300\nproc 1 (systemd)" + user_stat + "\nproc 2 (kthreadd)" + kernel_stat +
                                 "\nproc 700 (rpcbind)" + user_stat + "\nproc 800 (lockd)" + kernel_stat +
                                 "\nproc 801 (nfsd)" + kernel_stat + "\nproc 802 (nfsd)" + kernel_stat + "\n");
  REQUIRE(whole.notes.empty());
  CHECK(whole.facts.whole_node);
  CHECK(whole.facts.processes == 120);
  CHECK(whole.facts.daemons.rpcbind.is(true));
  CHECK(whole.facts.daemons.lockd.is(true));
  CHECK(whole.facts.daemons.rpc_statd.is(false));
  CHECK(whole.facts.daemons.nfsd_threads_count.is(2));

  const auto container = parse_tasks("seen 3 3\nproc 1 (sh)" + user_stat + "\nproc 7 (rpc.statd)" + user_stat +
                                     "\nproc 8 (lockd)" + user_stat + "\n");
  CHECK_FALSE(container.facts.whole_node);
  CHECK(container.facts.daemons.rpc_statd.is(true));
  CHECK(container.facts.daemons.lockd.is_unknown());  // a process of that name is no kernel thread
  CHECK(container.facts.daemons.rpcbind.is_unknown());
  CHECK(container.facts.daemons.nfsd_threads_count.is_unknown());

  const auto cut = parse_tasks("seen 9 9\nproc 2 (kthreadd)" + kernel_stat + "\nnote stopped after 9 processes\n");
  CHECK(cut.facts.cut == "stopped after 9 processes");
  CHECK(cut.facts.daemons.rpcbind.is_unknown());
  const auto threads_cut =
      parse_tasks("seen 9 9\nproc 2 (kthreadd)" + kernel_stat + "\nnote stopped after 9 threads\n");
  CHECK(threads_cut.facts.daemons.rpcbind.is(false));
}

TEST_CASE("tasks: threads that wait, and lines that are odd") {
  const std::string stat = "(dd) D 250 251 250 0 -1 4194304 1 0 0 0 0 0 0 0 20 0 1 0 12345";
  const auto parsed =
      parse_tasks("wait 250 251 104 rpc_wait_bit_killable 251 " + stat + "\nwait 250 252 - 0 252 " + stat +
                  "\nwait 250\nwait x 252 - 0 252 " + stat + "\nproc 5\nwhat\n\nwait 250 253 - 0 cut\n");
  CHECK(reasons(parsed.notes) == Strings{"3: no PID TID MS WCHAN STAT", "4: no PID TID MS WCHAN STAT",
                                         "5: no line of /proc/PID/stat", "6: neither seen, proc, wait nor note",
                                         "8: no PID TID MS WCHAN STAT"});
  REQUIRE(parsed.facts.waiting.size() == 2);
  const auto& first = parsed.facts.waiting[0];
  CHECK(first.pid == 250);
  CHECK(first.tid == 251);
  CHECK(first.comm == "dd");
  CHECK(first.wchan.is("rpc_wait_bit_killable"));
  CHECK(first.still_ms.is(104));
  CHECK(first.started_ms.is(123450));
  CHECK(parsed.facts.waiting[1].wchan.is_absent());
  CHECK(parsed.facts.waiting[1].still_ms.is_unknown());
}

TEST_CASE("tasks: the layer by wait channel and stack") {
  struct Row {
    const char* wchan;
    Strings stack;
    const char* layer;
  };
  const Row row = GENERATE(
      Row{"rpc_wait_bit_killable", {}, "rpc"}, Row{"nfs_wait_bit_killable", {}, "nfs"}, Row{"lockd_up", {}, "lockd"},
      Row{"0", {"rpc_wait_bit_killable", "__rpc_execute", "nlmclnt_call", "nfs3_proc_lock"}, "lockd"},
      Row{"io_schedule", {"io_schedule", "folio_wait_bit_common", "nfs_file_fsync"}, "nfs"},
      Row{"rpc_wait_bit_killable", {"rpc_wait_bit_killable", "nfs4_call_sync_sequence"}, "rpc"},
      Row{"svc_recv", {}, "nfsd"}, Row{"io_schedule", {"io_schedule", "nfsd_vfs_write", "nfsd"}, "nfsd"},
      Row{"io_schedule", {"io_schedule", "ext4_sync_file"}, ""}, Row{"0", {}, ""}, Row{"", {}, ""},
      Row{"rxrpc_wait", {"call_usermodehelper_exec"}, ""}, Row{"do_nfs_", {"sys_nfsservctl"}, ""});
  INFO(row.wchan);
  CHECK(waiting_layer(row.wchan, row.stack) == row.layer);
}

TEST_CASE("tasks: function names of a kernel stack") {
  CHECK(parse_stack("[<0>] rpc_wait_bit_killable+0xd/0x70 [sunrpc]\n[<0>] path_openat+0x627/0x1260\n") ==
        Strings{"rpc_wait_bit_killable", "path_openat"});
  CHECK(parse_stack(
            "[<ffffffffa0412345>] nfs_wait_bit_killable+0x2a/0x40 [nfs]\n[<ffffffffffffffff>] 0xffffffffffffffff\n") ==
        Strings{"nfs_wait_bit_killable"});
  CHECK(parse_stack("nlmclnt_lock\n\n") == Strings{"nlmclnt_lock"});
  CHECK(parse_stack("").empty());
  std::string deep;
  for (int i = 0; i < 100; ++i) deep += "[<0>] f" + std::to_string(i) + "+0x1/0x2\n";
  CHECK(parse_stack(deep).size() == 24);
}

TEST_CASE("tasks: the pod of a cgroup") {
  struct Row {
    const char* text;
    const char* uid;
  };
  const Row row = GENERATE(
      Row{"0::/kubepods.slice/kubepods-burstable.slice/"
          "kubepods-burstable-pod5e30c96b_0f9c_11ea_934f_02efb215d860.slice/"
          "crio-0123456789abcdef.scope\n",
          "5e30c96b-0f9c-11ea-934f-02efb215d860"},
      Row{"0::/kubepods.slice/kubepods-pod5e30c96b_0f9c_11ea_934f_02efb215d860.slice/cri-containerd-01.scope\n",
          "5e30c96b-0f9c-11ea-934f-02efb215d860"},
      Row{"12:memory:/kubepods/besteffort/pod5e30c96b-0f9c-11ea-934f-02efb215d860/0123\n11:pids:/\n",
          "5e30c96b-0f9c-11ea-934f-02efb215d860"},
      Row{"0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod0123456789abcdef0123456789abcdef.slice/"
          "x\n",
          "0123456789abcdef0123456789abcdef"},
      Row{"0::/system.slice/podman.service\n", ""}, Row{"0::/machine.slice/libpod-0123456789abcdef.scope\n", ""},
      Row{"0::/user.slice/tripod5e30c96b-0f9c-11ea-934f-02efb215d860\n", ""}, Row{"0::/\n", ""}, Row{"", ""},
      Row{"0::/kubepods/pod../../x\n", ""});
  INFO(row.text);
  CHECK(pod_uid_of_cgroup(row.text) == row.uid);
}

TEST_CASE("budget: says which limit was reached, and goes on saying no") {
  Budget number(std::chrono::hours(1), 2);
  CHECK(number.take());
  CHECK(number.take());
  CHECK_FALSE(number.spent());
  CHECK(number.why("things").empty());
  CHECK_FALSE(number.take());
  CHECK_FALSE(number.take());
  CHECK(number.why("things") == "stopped after 2 things");
  Budget time(std::chrono::milliseconds(0), 2);
  CHECK_FALSE(time.take());
  CHECK(time.why("things") == "stopped after 0 ms and 0 things");
}
