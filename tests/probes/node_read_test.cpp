// The readers over a tree made here, over the running kernel, and over a copy of what they read.
#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <tuple>

#include "audit/snapshot/document.h"
#include "probes/collect.h"
#include "probes/host/net_tcp.h"
#include "probes/host/network_join.h"
#include "probes/host/routes.h"
#include "probes/host/tasks.h"
#include "probes/io/netlink.h"
#include "probes/probe.h"
#include "probes/raw_tree.h"

namespace fs = std::filesystem;
using namespace probes;

namespace {

class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string name = (fs::temp_directory_path() / "mountaudit-XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  ~TemporaryDirectory() { fs::remove_all(path_); }
  const fs::path& path() const { return path_; }
  void write(const std::string& file, const std::string& text) const {
    const fs::path at = path_ / file;
    fs::create_directories(at.parent_path());
    std::ofstream(at, std::ios::binary) << text;
  }

 private:
  fs::path path_;
};

std::string capture(const std::string& name) {
  std::ifstream file(std::string(SOURCE_DIR) + "/samples/captures/" + name, std::ios::binary);
  REQUIRE(file.good());
  std::ostringstream out;
  out << file.rdbuf();
  return out.str();
}

// "/sys/.../xprt_info:KEY=VALUE" lines of a capture (grep '' FILE...) as files.
void write_grep_lines(const TemporaryDirectory& tree, const std::string& text, const std::string& prefix) {
  std::map<std::string, std::string> files;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(prefix)) continue;
    const auto colon = line.find(':');
    files[line.substr(1, colon - 1)] += line.substr(colon + 1) + "\n";
  }
  REQUIRE_FALSE(files.empty());
  for (const auto& [file, content] : files) tree.write(file, content);
}

const facts::Source& row(const facts::Facts& facts, std::string_view name) {
  const auto it =
      std::find_if(facts.sources.begin(), facts.sources.end(), [&](const auto& s) { return s.name == name; });
  INFO(name);
  REQUIRE(it != facts.sources.end());
  return *it;
}

constexpr const char* pod_uid = "5e30c96b-0f9c-11ea-934f-02efb215d860";

// An invented node: one server in the storage VLAN of a bond, a task that waits for it, a slot table that was tuned
// with a misspelt key.
void write_node(const TemporaryDirectory& tree) {
  tree.write("proc/1/mountinfo",
             "30 1 0:50 / /mnt/a rw,relatime shared:1 - nfs4 10.9.0.18:/srv "
             "rw,vers=4.2,rsize=1048576,wsize=1048576,namlen=255,hard,proto=tcp,timeo=600,retrans=2,sec=sys,"
             "clientaddr=10.9.0.2,local_lock=none,addr=10.9.0.18\n");
  tree.write("proc/sys/kernel/hostname", "rhel9-template\n");
  tree.write("proc/sys/kernel/osrelease", "6.1.0\n");
  write_grep_lines(tree, capture("nfs-v42-nconnect8.txt"), "/sys/kernel/sunrpc/");
  tree.write("sys/class/bdi/0:50/read_ahead_kb", "128\n");
  tree.write("sys/fs/nfs/net/nfs_client/identifier", "(null)\n");
  tree.write("sys/module/nfs/parameters/nfs4_unique_id", "9f2e-uuid\n");
  tree.write("sys/module/nfs/parameters/max_session_slots", "64\n");
  tree.write("sys/module/nfs/parameters/recover_lost_locks", "N\n");
  tree.write("proc/sys/sunrpc/tcp_max_slot_table_entries", "65536\n");
  tree.write("proc/sys/sunrpc/min_resvport", "665\n");
  tree.write("proc/sys/sunrpc/max_resvport", "1023\n");
  tree.write("etc/sysctl.d/nfs.conf", "sunrpc.max_tcp_slot_table_entries = 128\n");
  tree.write("etc/modprobe.d/nfs.conf", "options nfs nfs4_unique_id=9f2e-uuid max_session_slots=180\n");
  tree.write("usr/lib/modprobe.d/nfs.conf", "options nfs max_session_slots=1\n");
  tree.write("proc/cmdline", "quiet rd.iscsi.password=geheim nfs.max_session_slots=256\n");

  tree.write("proc/1/net/route", "bond0.7\t0000090A\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\n");
  tree.write("proc/1/net/fib_trie", "           |-- 10.9.0.2\n              /32 host LOCAL\n");
  tree.write("proc/1/net/if_inet6", "");
  tree.write("proc/1/net/ipv6_route", "");
  std::string dev;
  for (const std::string name : {"lo", "bond0", "bond0.7", "ens1f0", "veth1"}) {
    dev += name + ": 1 2 3 4 0 0 0 0 5 6 7 8 0 0 0 0\n";
    const std::string dir = "sys/class/net/" + name;
    tree.write(dir + "/type", name == "lo" ? "772\n" : "1\n");
    tree.write(dir + "/mtu", name == "lo" ? "65536\n" : "9000\n");
    tree.write(dir + "/operstate", "up\n");
    tree.write(dir + "/uevent", "INTERFACE=" + name + "\n");
    tree.write(dir + "/statistics/rx_dropped", "4\n");
  }
  tree.write("proc/1/net/dev", dev);
  tree.write("sys/class/net/bonding_masters", "bond0\n");
  tree.write("sys/class/net/bond0/bonding/mode", "802.3ad 4\n");
  tree.write("sys/class/net/bond0/lower_ens1f0/mtu", "9000\n");
  tree.write("sys/class/net/bond0/speed", "25000\n");
  tree.write("sys/class/net/bond0.7/lower_bond0/mtu", "9000\n");
  tree.write("sys/class/net/bond0.7/uevent", "DEVTYPE=vlan\n");
  tree.write("sys/class/net/ens1f0/device/vendor", "x\n");
  tree.write("sys/class/net/ens1f0/speed", "25000\n");
  tree.write("sys/class/net/ens1f0/duplex", "full\n");
  tree.write("sys/class/net/veth1/ifindex", "9\n");
  tree.write("sys/class/net/veth1/iflink", "2\n");
  tree.write("proc/1/net/bonding/bond0",
             "Bonding Mode: IEEE 802.3ad Dynamic link aggregation\nSlave Interface: ens1f0\n");
  tree.write("proc/1/net/tcp",
             "   0: 0200090A:0322 1200090A:0801 01 000000B0:00000000 04:000004B2 00000006     0        6 1614 1\n"
             "   1: 0200090A:0323 0909090A:0016 01 00000000:00000000 00:00000000 00000000     0        0 1615 1\n");
  tree.write("proc/1/net/tcp6", "");

  tree.write("proc/1/stat", "1 (systemd) S 0 1 1 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 5\n");
  tree.write("proc/2/stat", "2 (kthreadd) S 0 0 0 0 -1 2129984 0 0 0 0 0 0 0 0 20 0 1 0 5\n");
  tree.write("proc/700/stat", "700 (rpcbind) S 1 1 1 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 50\n");
  tree.write("proc/900/stat", "900 (qemu-kvm) S 1 1 1 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 2 0 500\n");
  tree.write("proc/900/task/900/stat", "900 (qemu-kvm) S 1 1 1 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 2 0 500\n");
  tree.write("proc/900/task/901/stat", "901 (worker) D 1 1 1 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 2 0 600\n");
  tree.write("proc/900/task/901/wchan", "rpc_wait_bit_killable");
  const std::string hang = capture("hang-10s.txt");
  const auto stack = hang.find("== /proc/251/stack\n") + 19;
  tree.write("proc/900/task/901/stack", hang.substr(stack, hang.find("==", stack) - stack));
  tree.write("proc/900/cgroup",
             "0::/kubepods.slice/kubepods-burstable.slice/"
             "kubepods-burstable-pod5e30c96b_0f9c_11ea_934f_02efb215d860.slice/crio-12.scope\n");
  tree.write("proc/950/stat", "950 (dd) D 1 1 1 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 700\n");
  tree.write("proc/950/task/950/wchan", "io_schedule");
  tree.write("proc/950/task/950/stack", "[<0>] io_schedule+0x1/0x2\n[<0>] ext4_sync_file+0x1/0x2 [ext4]\n");
  tree.write("var/log/pods/demo_virt-launcher-rhel10-abcde_" + std::string(pod_uid) + "/compute/0.log", "");
}

facts::Facts collect_tree(const fs::path& path) {
  const auto host = open_tree(path.string());
  REQUIRE(host.has_value());
  return collect(**host);
}

void check_node(const facts::Facts& facts) {
  REQUIRE(facts.nfs.mounts.size() == 1);
  CHECK(facts.nfs.mounts[0].read_ahead_kib.is(128));

  REQUIRE(facts.nfs.xprt_switches.has_value());
  const auto& switches = *facts.nfs.xprt_switches;
  const auto eight =
      std::find_if(switches.begin(), switches.end(), [](const auto& s) { return s.transports.size() == 8; });
  REQUIRE(eight != switches.end());
  CHECK(eight->transports_count.is(8));
  for (const auto& transport : eight->transports) {
    CHECK(transport.proto.is("tcp"));
    CHECK(transport.dst_addr.is("10.9.0.18"));
    CHECK(transport.dst_port.is(2049));
    CHECK(transport.max_slots_count.is(65536));
    CHECK(transport.connected.is(true));
  }

  const auto& identity = facts.nfs.identity;
  CHECK(identity.identifier_hash.is_absent());
  CHECK(identity.unique_id_hash.has_value());
  CHECK(identity.nodename_class.is("template"));

  CHECK(facts.kernel.rpc.max_session_slots.is(64));
  CHECK(facts.kernel.rpc.recover_lost_locks.is(false));
  REQUIRE(facts.kernel.settings.has_value());
  const auto setting = [&](std::string_view name) {
    const auto& all = *facts.kernel.settings;
    const auto it = std::find_if(all.begin(), all.end(), [&](const auto& s) { return s.name == name; });
    REQUIRE(it != all.end());
    return *it;
  };
  CHECK(setting("sunrpc.max_tcp_slot_table_entries").unknown_key.is(true));
  CHECK(setting("sunrpc.max_tcp_slot_table_entries").origin.is("/etc/sysctl.d/nfs.conf:1"));
  CHECK(setting("nfs.max_session_slots").live.is("64"));
  CHECK(setting("nfs.max_session_slots").configured.is("256"));
  CHECK(setting("nfs.max_session_slots").overridden == std::vector<std::string>{"/etc/modprobe.d/nfs.conf:1 180"});
  CHECK(setting("nfs.nfs4_unique_id").live == setting("nfs.nfs4_unique_id").configured);

  const auto& network = facts.network;
  REQUIRE(network.paths.has_value());
  REQUIRE(network.paths->size() == 1);
  const auto& path = network.paths->front();
  CHECK(path.interfaces == std::vector<std::string>{"bond0.7", "bond0", "ens1f0"});
  CHECK(path.mtu.is(9000));
  CHECK(path.speed_mbps.is(25000));
  CHECK(path.on_link.is(true));
  CHECK(path.source_addr.is("10.9.0.2"));
  REQUIRE(network.sockets.has_value());
  REQUIRE(network.sockets->size() == 1);
  CHECK(network.sockets->front().tx_queue_bytes.is(176));
  CHECK(network.reserved_ports_used_count.is(2));
  CHECK(network.reserved_ports_total_count.is(359));
  REQUIRE(network.interfaces.has_value());
  CHECK(network.interfaces->size() == 4);  // without the pod's pair
  for (const auto& interface : *network.interfaces) {
    if (interface.name != "bond0") continue;
    CHECK(interface.kind.is("bond"));
    CHECK(interface.bond->mode.is("802.3ad"));
    CHECK(interface.rx_dropped.is(4));
  }

  CHECK(facts.node.daemons.rpcbind.is(true));
  CHECK(facts.node.daemons.rpc_statd.is(false));
  CHECK(facts.kernel.blocked_tasks_count.is(2));
  REQUIRE(facts.kernel.tasks.has_value());
  REQUIRE(facts.kernel.tasks->size() == 1);
  const auto& task = facts.kernel.tasks->front();
  CHECK(task.pid == 900);
  CHECK(task.tid == 901);
  CHECK(task.layer == "rpc");
  CHECK(task.stack.size() == 17);
  CHECK(task.started_ms.is(6000));
  CHECK(task.pod_uid.is(pod_uid));
  CHECK(task.vm.is("demo/rhel10"));
}

}  // namespace

TEST_CASE("node: a tree gives all facts of the NFS side, and so does a copy of what was read") {
  TemporaryDirectory tree;
  write_node(tree);
  check_node(collect_tree(tree.path()));

  TemporaryDirectory copy;
  const auto host = open_tree(tree.path().string());
  REQUIRE(host.has_value());
  RecordingHost recording(**host);
  const auto first = collect(recording);
  const auto to = copy.path() / "raw";
  REQUIRE(recording.write(to.string(), first.node.name).has_value());
  auto again = collect_tree(to);
  check_node(again);
  CHECK(again.nfs.identity == first.nfs.identity);
  CHECK(again.kernel.settings == first.kernel.settings);

  // Neither the copy nor the document holds the identity or the password.
  std::string all = snapshot::to_json(first);
  for (const auto& entry : fs::recursive_directory_iterator(to)) {
    if (!entry.is_regular_file()) continue;
    std::ifstream file(entry.path(), std::ios::binary);
    all.append(std::istreambuf_iterator<char>(file), {});
  }
  CHECK(all.find("9f2e-uuid") == std::string::npos);
  CHECK(all.find("geheim") == std::string::npos);
}

TEST_CASE("node: where nothing of it can be read all facts stay unknown, and rows say why") {
  TemporaryDirectory tree;
  tree.write("proc/1/mountinfo", "30 1 0:50 / /mnt/a rw - nfs 10.9.0.18:/srv rw,vers=3,proto=tcp,addr=10.9.0.18\n");
  const auto facts = collect_tree(tree.path());
  CHECK(facts.nfs.xprt_switches.is_unknown());
  CHECK(facts.nfs.mounts[0].read_ahead_kib.is_unknown());
  CHECK(facts.nfs.identity.uniquifier_set.is_unknown());
  CHECK(facts.kernel.rpc == facts::RpcTunables{});
  CHECK(facts.kernel.tasks.is_unknown());
  CHECK(facts.node.daemons == facts::Daemons{});
  CHECK(facts.network.sockets.is_unknown());
  CHECK(facts.network.interfaces.is_unknown());
  REQUIRE(facts.network.paths.has_value());
  CHECK(facts.network.paths->front().interface.is_unknown());
  CHECK(row(facts, "/proc/1/net/tcp").status == "skipped");
  CHECK(row(facts, "/sys/class/bdi/*/read_ahead_kb").status == "skipped");
}

TEST_CASE("node: another network namespace than the node's is said, and its interfaces are not taken") {
  TemporaryDirectory tree;
  write_node(tree);
  fs::create_directories(tree.path() / "proc/self/ns");
  fs::create_directories(tree.path() / "proc/1/ns");
  fs::create_symlink("net:[4026531840]", tree.path() / "proc/1/ns/net");
  fs::create_symlink("net:[4026532999]", tree.path() / "proc/self/ns/net");
  tree.write("proc/1/net/dev", "eno9: 1 2 3 4 0 0 0 0 5 6 7 8 0 0 0 0\n");
  const auto facts = collect_tree(tree.path());
  CHECK(facts.network.same_namespace.is(false));
  CHECK(row(facts, "/proc/1/net/route").detail.find("another network namespace") != std::string::npos);
  CHECK(row(facts, "/sys/class/net").detail.find("another network namespace") != std::string::npos);
  REQUIRE(facts.network.interfaces.has_value());
  REQUIRE(facts.network.interfaces->size() == 1);
  CHECK(facts.network.interfaces->front().name == "eno9");
  CHECK(facts.network.interfaces->front().mtu.is_unknown());
}

TEST_CASE("node: where pid 1 may not be traced the addresses tell whether the namespace is ours") {
  const std::string lo = "           |-- 127.0.0.1\n              /32 host LOCAL\n";
  const std::string a = "           |-- 10.9.0.2\n              /32 host LOCAL\n";
  const std::vector<std::tuple<std::string, std::string, facts::Fact<bool>>> rows{
      {lo + a, lo + a, true}, {lo, lo + a, false}, {lo + a, lo, false}, {lo, lo, {}}, {"", "", {}}};
  for (const auto& [own, node, same] : rows) {
    TemporaryDirectory tree;
    tree.write("proc/self/net/fib_trie", own);
    tree.write("proc/1/net/fib_trie", node);
    CHECK(collect_tree(tree.path()).network.same_namespace == same);
  }
  TemporaryDirectory half;
  half.write("proc/1/net/fib_trie", lo + a);
  CHECK(collect_tree(half.path()).network.same_namespace.is_unknown());
}

TEST_CASE("netlink: the running kernel tells a connection's numbers, and /proc/net/tcp agrees") {
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int client = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  REQUIRE(::bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  REQUIRE(::listen(listener, 1) == 0);
  REQUIRE(::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size) == 0);
  REQUIRE(::connect(client, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  REQUIRE(::send(client, "0123456789", 10, 0) == 10);

  const auto port = ntohs(address.sin_port);
  const auto text = dump_tcp_sockets(port, std::chrono::minutes(2));
  const auto host = open_live("/");
  REQUIRE(host.has_value());
  // The table is no snapshot: while other programs open and close connections a row can be missed or stand twice. Read
  // again then.
  auto table = (*host)->read("/proc/self/net/tcp");
  for (int again = 0; again < 20 && table && text; ++again) {
    const auto sockets = parse_sock_diag(*text).facts;
    if (join_sockets(parse_net_tcp(*table).facts, sockets, {{*parse_address("127.0.0.1"), port}}).size() == 1) break;
    table = (*host)->read("/proc/self/net/tcp");
  }
  ::close(client);
  ::close(listener);
  if (!text && text.error().kind != base::ErrorKind::timeout) {
    WARN("SKIPPED: sock_diag is not to be had here: " << base::to_text(text.error()));
    return;
  }
  REQUIRE(text.has_value());
  const auto parsed = parse_sock_diag(*text);
  CHECK(parsed.notes.empty());
  REQUIRE(parsed.facts.size() == 1);
  const auto& socket = parsed.facts[0];
  CHECK(socket.peer_addr == "127.0.0.1");
  CHECK(socket.peer_port == port);
  CHECK(socket.state == "ESTABLISHED");
  CHECK(socket.segs_out.value_or(0) >= 2);
  CHECK(socket.send_mss_bytes.value_or(0) > 500);
  CHECK(socket.rtt_us.has_value());
  REQUIRE(table.has_value());
  const auto rows = parse_net_tcp(*table);
  CHECK(rows.notes.empty());
  const auto joined = join_sockets(rows.facts, parsed.facts, {{*parse_address("127.0.0.1"), port}});
  REQUIRE(joined.size() == 1);
  CHECK(joined[0].rtt_us.has_value());
}

TEST_CASE("netlink: the route to an address of our own is local, and nonsense is refused") {
  const auto text = ask_route("127.0.0.1", std::chrono::minutes(2));
  if (!text && text.error().kind != base::ErrorKind::timeout) {
    WARN("SKIPPED: rtnetlink is not to be had here: " << base::to_text(text.error()));
    return;
  }
  REQUIRE(text.has_value());
  const auto parsed = parse_route_answer(*text);
  CHECK(parsed.notes.empty());
  REQUIRE(parsed.facts.has_value());
  CHECK(parsed.facts->local);
  CHECK(ask_route("server", std::chrono::seconds(2)).error().kind == base::ErrorKind::usage);
  CHECK(ask_route("fe80::1%no-such-interface", std::chrono::seconds(2)).error().kind == base::ErrorKind::absent);
}

TEST_CASE("tasks: the walk over the running kernel sees this test") {
  const auto host = open_live("/");
  REQUIRE(host.has_value());
  const auto parsed = parse_tasks(walk_tasks(**host));
  CHECK(parsed.notes.empty());
  CHECK(parsed.facts.processes >= 1);
  // A limit of one process ends the walk and says so; nothing is then claimed not to run.
  const auto cut = parse_tasks(walk_tasks(**host, {.most = 1}));
  CHECK(cut.facts.processes <= 1);
  if (parsed.facts.processes > 1) {
    CHECK(cut.facts.cut.find("stopped after 1 processes") != std::string::npos);
    CHECK_FALSE(cut.facts.daemons.rpc_statd.is(false));
  }
}
