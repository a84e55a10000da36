// Numbers computed from counters, connections and interfaces. Invented documents, addresses of RFC 5737.
#include "audit/eval/derive.h"

#include <catch2/catch.hpp>

#include "tests/eval/fixture.h"

using namespace fixture;

namespace {

facts::Value fact(const facts::Facts& f, const char* scope_name, const char* name, std::uint32_t index = 0) {
  const audit::Context context(f);
  const audit::Scope* scope = audit::find_scope(scope_name);
  return audit::read_value(context, {scope, index, 0}, audit::resolve_path(name, *scope).value());
}
facts::Value client(const facts::Facts& f, const char* name) { return fact(f, "nfs.clients", name); }
facts::Value server(const facts::Facts& f, const char* name) { return fact(f, "nfs.servers", name); }

facts::Value of_op(const facts::Facts& f, const std::string& op_name, const char* name) {
  const audit::Context context(f);
  const audit::Scope* scope = audit::find_scope("nfs.clients.ops");
  for (const audit::Item& item : scope->items(context)) {
    if (scope->own_name(context, item) == op_name)
      return audit::read_value(context, item, audit::resolve_path(name, *scope).value());
  }
  return facts::Value(std::string("no such operation"));
}

double number(const facts::Value& value) {
  REQUIRE(value.is_number());
  return *value.as_double();
}

std::string why(const facts::Value& value) {
  const auto* unknown = std::get_if<facts::Unknown>(&value.data);
  return unknown != nullptr ? unknown->why : "known";
}

facts::NfsOp waited(const std::string& name, std::uint64_t ops, std::uint64_t queue, std::uint64_t rtt,
                    std::uint64_t execute) {
  facts::NfsOp o = op(name, ops, 0, 0, rtt, execute);
  o.queue_ms = queue;
  o.errors = std::uint64_t{0};
  return o;
}

facts::Facts mounted(std::vector<facts::NfsOp> ops, std::uint64_t age_s) {
  facts::Facts f = node();
  facts::NfsMount m = mount("/a", f.nfs.clients[0].id);
  m.ops = std::move(ops);
  m.age_s = age_s;
  add(f, m);
  return f;
}

// `f` becomes the later of two samples.
void set_earlier(facts::Facts& f, facts::Facts before, std::uint64_t seconds) {
  before.node.boottime_ns = std::uint64_t{1'000'000'000};
  f.node.boottime_ns = std::uint64_t{1'000'000'000} * (1 + seconds);
  f.earlier.emplace() = std::move(before);
}

facts::NetSocket socket(std::uint32_t port, const char* state = "ESTABLISHED") {
  facts::NetSocket s;
  s.local_addr = "192.0.2.9";
  s.local_port = port;
  s.peer_addr = "192.0.2.1";
  s.peer_port = 2049;
  s.state = state;
  s.inode = std::uint64_t{1000} + port;
  return s;
}

facts::Facts connected(std::vector<facts::NetSocket> sockets) {
  facts::Facts f = mounted({}, 7200);
  f.network.sockets = std::move(sockets);
  return f;
}

}  // namespace

TEST_CASE("derived: operations are judged by the samples once these hold enough, else by the life of the mount",
          "[derive]") {
  facts::Facts f = mounted({waited("WRITE", 1000, 5000, 2000, 8000)}, 7200);
  CHECK(number(of_op(f, "WRITE", "stat.queue_ms")) == Approx(5));
  CHECK(number(of_op(f, "WRITE", "stat.client_ms")) == Approx(1));
  CHECK(number(of_op(f, "WRITE", "stat.client_share")) == Approx(0.125));
  CHECK(number(of_op(f, "WRITE", "stat.queue_per_rtt")) == Approx(2.5));
  CHECK(of_op(f, "WRITE", "stat.how") == facts::Value("since the mount 2 h ago"));
  CHECK(number(of_op(f, "WRITE", "stat.since_s")) == 7200);

  facts::Facts later = f;
  later.nfs.mounts[0].age_s = std::uint64_t{7260};
  later.nfs.mounts[0].ops[0] = waited("WRITE", 1099, 5000, 2000 + 990, 8990);
  set_earlier(later, f, 60);
  CHECK(of_op(later, "WRITE", "stat.how") == facts::Value("since the mount 2 h ago"));  // 99 are too few
  later.nfs.mounts[0].ops[0] = waited("WRITE", 1200, 5000, 2000 + 2000, 10000);
  CHECK(of_op(later, "WRITE", "stat.how") == facts::Value("between two samples 60 s apart"));
  CHECK(of_op(later, "WRITE", "stat.ops") == facts::Value(200));
  CHECK(number(of_op(later, "WRITE", "stat.queue_ms")) == 0);
  CHECK(number(of_op(later, "WRITE", "stat.rtt_ms")) == Approx(10));
}

TEST_CASE("derived: errors and retransmissions of operations, and what the kernel does not count", "[derive]") {
  facts::NfsOp write = waited("WRITE", 2000, 0, 0, 0);
  write.trans = 2010;
  write.errors = std::uint64_t{4};
  facts::Facts f = mounted({write}, 60);
  CHECK(number(of_op(f, "WRITE", "stat.retrans_ratio")) == Approx(0.005));
  CHECK(number(of_op(f, "WRITE", "stat.error_ratio")) == Approx(0.002));
  f.nfs.mounts[0].ops[0].errors = {};
  CHECK(why(of_op(f, "WRITE", "stat.error_ratio")).find("counts no errors") != std::string::npos);
  f.nfs.mounts[0].ops[0].queue_ms = ~std::uint64_t{0} - 1000;
  CHECK(why(of_op(f, "WRITE", "stat.queue_ms")) == "invalid: the counter wrapped");
  CHECK(why(of_op(f, "WRITE", "stat.client_ms")) == "invalid: a counter wrapped");
  // A client without counters is one item, so that a rule says what is missing.
  f.nfs.mounts[0].ops.clear();
  f.sources[1].status = "denied";
  CHECK(why(of_op(f, "", "stat.ops")) == "needs nfs.mounts[0].ops: /proc/1/mountstats: denied");
}

TEST_CASE("derived: the operations of a client come by the time they took, unused ones are left out", "[derive]") {
  const facts::Facts f =
      mounted({waited("READ", 10, 0, 50, 50), op("LINK", 0, 0, 0, 0, 0), waited("WRITE", 5, 0, 90, 90)}, 60);
  const audit::Context context(f);
  const audit::Scope* scope = audit::find_scope("nfs.clients.ops");
  std::vector<std::string> names;
  for (const auto& item : scope->items(context)) names.push_back(scope->own_name(context, item));
  CHECK(names == std::vector<std::string>{"WRITE", "READ"});
}

TEST_CASE("derived: the mix of operations, and means of so many that they mean something", "[derive]") {
  facts::Facts f = mounted({op("READ", 1000, 0, 4096000, 0, 0), op("WRITE", 999, 1, 0, 0, 0),
                            op("GETATTR", 6001, 0, 0, 0, 0), op("EXCHANGE_ID", 90000, 0, 0, 0, 0)},
                           60);
  CHECK(client(f, "mix.ops") == facts::Value(8000));
  CHECK(number(client(f, "mix.metadata_share")) == Approx(6001 / 8000.0));
  CHECK(number(client(f, "mix.data_share")) == Approx(1999 / 8000.0));
  CHECK(number(client(f, "mix.read_bytes")) == Approx(4096));
  CHECK(client(f, "mix.write_bytes").is_absent());
  CHECK(client(f, "pnfs_in_use") == facts::Value(false));
  f.nfs.mounts[0].ops[3].op = "PNFS_LAYOUTGET";
  CHECK(client(f, "pnfs_in_use") == facts::Value(true));
}

TEST_CASE("derived: reconnects per hour leave the first connect out, and idle closing is told apart", "[derive]") {
  facts::Facts f = mounted({op("READ", 100000, 0, 0, 0, 0)}, 36000);
  auto& t = f.nfs.clients[0].transports[0];
  t.connect_count = std::uint64_t{2};  // TCP: attempt and success
  CHECK(number(client(f, "reconnect.per_hour")) == 0);
  t.connect_count = std::uint64_t{52};
  CHECK(number(client(f, "reconnect.per_hour")) == Approx(5));
  CHECK(client(f, "reconnect.idle") == facts::Value(false));
  t.proto = "rdma";
  CHECK(number(client(f, "reconnect.per_hour")) == Approx(5.1));
  t.sends = 3000;
  f.nfs.mounts[0].ops[0] = op("READ", 3000, 0, 0, 0, 0);
  CHECK(client(f, "reconnect.idle") == facts::Value(true));
  t.connect_count = std::uint64_t{200};  // 19.9 an hour: closing after 5 minutes makes 12 at most
  CHECK(client(f, "reconnect.idle") == facts::Value(false));
  // Connections outlive the mounts that made them.
  t.sends = 10000000;
  CHECK(why(client(f, "reconnect.per_hour")).find("older than the mounts") != std::string::npos);
  t.connect_count = {};
  CHECK(why(client(f, "reconnect.per_hour")) == "connections of this protocol are not counted");
}

TEST_CASE("derived: a connection that was made anew between two samples broke, unless it was idle for so long",
          "[derive]") {
  facts::Facts before = mounted({op("READ", 100000, 0, 0, 0, 0)}, 600);
  before.nfs.clients[0].transports[0].connect_count = std::uint64_t{2};
  before.nfs.clients[0].transports[0].idle_s = std::uint64_t{100};
  facts::Facts f = before;
  f.nfs.clients[0].transports[0].connect_count = std::uint64_t{4};
  f.nfs.clients[0].transports[0].bad_xids = 7;
  set_earlier(f, before, 120);
  CHECK(client(f, "reconnect.breaks") == facts::Value(1));
  CHECK(client(f, "reconnect.bad_xids") == facts::Value(7));
  set_earlier(f, before, 200);  // 100 s idle and 200 s more: closed for want of use, perhaps
  CHECK(client(f, "reconnect.breaks") == facts::Value(0));
  f.earlier = {};
  CHECK(why(client(f, "reconnect.breaks")) == "one sample only, rates need two");
  f.nfs.mounts[0].age_s = std::uint64_t{7200};  // the life of the mount tells, too
  CHECK(client(f, "reconnect.breaks").is_absent());
}

TEST_CASE("derived: sessions of a client are printed with each of its mounts and count once", "[derive]") {
  facts::Facts f = mounted({op("READ", 100000, 0, 0, 0, 0), op("CREATE_SESSION", 30, 0, 0, 0, 0)}, 36000);
  facts::NfsMount second = f.nfs.mounts[0];
  second.target = "/b";
  add(f, second);
  CHECK(client(f, "session.made") == facts::Value(30));
  CHECK(number(client(f, "session.per_hour")) == Approx(3));
  facts::Facts before = f;
  for (auto& m : f.nfs.mounts) m.ops[1].ops = 34;
  set_earlier(f, before, 120);
  CHECK(client(f, "session.window_made") == facts::Value(4));
  CHECK(number(client(f, "session.window_per_hour")) == Approx(120));
}

TEST_CASE("derived: how long a connection has been opening, by two samples or by its repetitions", "[derive]") {
  facts::Facts f = connected({socket(800)});
  CHECK(server(f, "tcp.connecting_s").is_absent());
  f.network.sockets = std::vector{socket(800, "SYN_SENT")};
  CHECK(why(server(f, "tcp.connecting_s")).find("one sample does not tell") != std::string::npos);
  (*f.network.sockets)[0].retransmits = std::uint64_t{4};
  CHECK(number(server(f, "tcp.connecting_s")) == 15);
  CHECK(server(f, "tcp.connecting_how") == facts::Value("the SYN was repeated 4 times"));
  (*f.network.sockets)[0].retransmits = std::uint64_t{1};
  facts::Facts before = f;
  set_earlier(f, before, 4);
  CHECK(why(server(f, "tcp.connecting_s")).find("less than 5 s apart") != std::string::npos);
  set_earlier(f, before, 9);
  CHECK(number(server(f, "tcp.connecting_s")) == 9);
  before.network.sockets = std::vector{socket(800)};
  set_earlier(f, before, 9);
  CHECK(number(server(f, "tcp.connecting_s")) == 1);
  f.network.sockets = {};
  CHECK(why(server(f, "tcp.connecting_s")).starts_with("needs network.sockets: "));
}

TEST_CASE("derived: loss is that of the worst connection with enough segments", "[derive]") {
  auto few = socket(800), good = socket(801), bad = socket(802);
  few.segs_out = std::uint64_t{9999};
  few.total_retrans = std::uint64_t{5000};
  good.segs_out = std::uint64_t{1000000};
  good.total_retrans = std::uint64_t{1};
  bad.segs_out = std::uint64_t{50000};
  bad.total_retrans = std::uint64_t{100};
  facts::Facts f = connected({few, good, bad});
  CHECK(number(server(f, "tcp.retrans_ratio")) == Approx(0.002));
  CHECK(server(f, "tcp.retrans_port") == facts::Value(802));
  CHECK(server(f, "tcp.retrans_how") == facts::Value("since the connection was made"));
  facts::Facts before = f;
  (*f.network.sockets)[2].segs_out = std::uint64_t{70000};
  (*f.network.sockets)[2].total_retrans = std::uint64_t{101};
  set_earlier(f, before, 60);
  CHECK(number(server(f, "tcp.retrans_ratio")) == Approx(1 / 20000.0));
  CHECK(server(f, "tcp.retrans_how") == facts::Value("between two samples"));
  f.network.sockets = std::vector{few};
  CHECK(server(f, "tcp.retrans_ratio").is_absent());
  f.network.sockets = std::vector{socket(800)};
  CHECK(why(server(f, "tcp.retrans_ratio")).find("were not told") != std::string::npos);
}

TEST_CASE("derived: segment size of open connections only, round trip the least of what was measured", "[derive]") {
  auto open = socket(800), opening = socket(801, "SYN_SENT");
  open.send_mss_bytes = std::uint64_t{8948};
  opening.send_mss_bytes = std::uint64_t{536};
  open.rtt_us = std::uint64_t{40000};
  facts::Facts f = connected({open, opening});
  CHECK(server(f, "tcp.mss_bytes") == facts::Value(8948));
  CHECK(number(server(f, "rtt.ms")) == 40);
  f.nfs.servers[0].null_p50_us = 250.0;
  CHECK(number(server(f, "rtt.ms")) == Approx(0.25));
  CHECK(server(f, "rtt.how") == facts::Value("median of NULL calls"));
  (*f.network.sockets)[0].min_rtt_us = std::uint64_t{90};
  CHECK(number(server(f, "rtt.ms")) == Approx(0.09));
  f.network.sockets = std::vector{opening};
  CHECK(server(f, "tcp.mss_bytes").is_unknown());
}

TEST_CASE("derived: MB/s of the busiest connection in one direction", "[derive]") {
  auto then = socket(800), now = socket(800);
  then.bytes_acked = std::uint64_t{100};
  then.bytes_received = std::uint64_t{100};
  now.bytes_acked = std::uint64_t{100 + 2'000'000'000};
  now.bytes_received = std::uint64_t{100 + 6'000'000'000};
  facts::Facts f = connected({now});
  set_earlier(f, connected({then}), 20);
  CHECK(number(server(f, "flow.mb_per_s")) == Approx(300));
  now.inode = std::uint64_t{4};  // another connection from the same port
  f.network.sockets = std::vector{now};
  CHECK(server(f, "flow.mb_per_s").is_unknown());
}

TEST_CASE("derived: interfaces on the way to a server", "[derive]") {
  facts::Facts f = connected({});
  facts::NetPath path;
  path.addr = "192.0.2.1";
  path.interface = "bond0";
  path.interfaces = {"bond0", "eth0"};
  f.network.paths = std::vector{path};
  facts::NetInterface bond, eth;
  bond.name = "bond0";
  bond.rx_packets = std::uint64_t{0};
  eth.name = "eth0";
  eth.duplex = "half";
  eth.rx_packets = std::uint64_t{0};
  facts::Bond members;
  members.mode = "802.3ad";
  for (const std::uint32_t speed : {10000U, 1000U}) {
    facts::BondSlave slave;
    slave.name = speed == 1000 ? "eth1" : "eth0";
    slave.speed_mbps = speed;
    members.slaves.push_back(slave);
  }
  bond.bond = members;
  f.network.interfaces = std::vector{bond, eth};
  const auto link = [&](const char* name) { return fact(f, "network.paths", name); };
  CHECK(link("link.half_duplex") == facts::Value("eth0"));
  CHECK(link("link.slow_members") == facts::Value("eth1 at 1000 Mb/s in bond0 with members of 10000 Mb/s"));
  CHECK(link("link.lacp_bond") == facts::Value("bond0"));
  CHECK(link("flows") == facts::Value(1));
  CHECK(why(link("link.errors")) == "one sample only, rates need two");
  facts::Facts before = f;
  (*f.network.interfaces)[1].rx_packets = std::uint64_t{999990};
  (*f.network.interfaces)[1].rx_errors = std::uint64_t{10};
  (*before.network.interfaces)[1].rx_errors = std::uint64_t{0};
  set_earlier(f, before, 60);
  CHECK(link("link.errors") == facts::Value("eth0: 10 rx_errors"));
  CHECK(number(link("link.error_ratio")) == Approx(1e-5));
  CHECK(link("link.drops").is_absent());
}

TEST_CASE("derived: which mounts need the lock daemons, and tasks stuck in lockd", "[derive]") {
  facts::Facts f = mounted({}, 60);
  const auto of_node = [&](const char* name) { return fact(f, "node", name); };
  CHECK(of_node("nfs4_mount_count") == facts::Value(1));
  CHECK(of_node("lock_mount_count") == facts::Value(0));
  CHECK(of_node("uses_lockd") == facts::Value(false));
  f.nfs.mounts[0].vers = "3";
  CHECK(of_node("lock_mount_count") == facts::Value(1));
  f.nfs.mounts[0].nolock = true;
  f.nfs.mounts[0].local_lock = "all";
  CHECK(of_node("lock_mount_count") == facts::Value(0));
  facts::WaitingTask task;
  task.pid = 812;
  task.comm = "mount.nfs";
  f.kernel.tasks = std::vector{task};
  CHECK(why(of_node("lockd_stuck")).find("stacks") != std::string::npos);
  (*f.kernel.tasks)[0].stack = {"schedule", "lockd_up"};
  CHECK(of_node("lockd_stuck") == facts::Value("mount.nfs (812)"));
  CHECK(of_node("uses_lockd") == facts::Value(true));
}
