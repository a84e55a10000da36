// Where the time goes, and options side by side: derived from small documents, invented, with addresses of RFC 5737.
#include <catch2/catch.hpp>

#include "audit/eval/side_by_side.h"
#include "audit/eval/time.h"
#include "audit/report/words.h"
#include "tests/eval/fixture.h"

using namespace audit;
using Catch::Matchers::Contains;

namespace {

facts::NfsOp counted(const std::string& name, std::uint64_t ops, std::uint64_t queue_ms, std::uint64_t rtt_ms,
                     std::uint64_t execute_ms) {
  facts::NfsOp op = fixture::op(name, ops, 0, 0, rtt_ms, execute_ms);
  op.queue_ms = queue_ms;
  return op;
}

facts::NetSocket socket(std::uint64_t rtt_us, std::optional<std::uint64_t> least = {}) {
  facts::NetSocket s;
  s.peer_addr = "192.0.2.1";
  s.peer_port = 2049;
  s.state = "ESTABLISHED";
  s.rtt_us = rtt_us;
  if (least) s.min_rtt_us = *least;
  return s;
}

facts::Facts node_with(std::vector<facts::NfsOp> ops) {
  facts::Facts f = fixture::node();
  facts::NfsMount m = fixture::mount("/mnt/a", f.nfs.clients[0].id);
  m.age_s = 1000U;
  m.ops = std::move(ops);
  fixture::add(f, std::move(m));
  return f;
}

std::vector<ClientTime> times(const facts::Facts& f) { return where_time_goes(Context(f)); }

std::string verdict(const ClientTime& time, std::size_t op = 0) {
  return time_verdict(time.mounts.at(0).worst.at(op), time, Language::en);
}

const OptionSides& row(const SideBySide& table, const std::string& option) {
  for (const auto& one : table.rows) {
    if (one.option == option) return one;
  }
  FAIL("no row " + option);
  return table.rows.front();
}

}  // namespace

TEST_CASE("time: the parts of an operation are queue, network, server and what is left, and add up to the mean") {
  const auto time = op_time("READ", {1000, 1002, 500, 4000, 5000, 7}, 0.25);
  REQUIRE(time);
  CHECK(time->mean_ms == Approx(5.0));
  CHECK(time->queue_ms == Approx(0.5));
  CHECK(*time->network_ms == Approx(0.25));
  CHECK(time->server_ms == Approx(3.75));
  CHECK(time->client_ms == Approx(0.5));
  CHECK(time->total_s == Approx(5.0));
  CHECK(time->most == TimePart::server);
  CHECK(time->most_share == Approx(0.75));
  CHECK(time->retrans == 2);
  CHECK(time->errors == 7U);
}

TEST_CASE("time: no operations, no time and a wrapped counter have no parts") {
  CHECK_FALSE(op_time("READ", {}, 0.1));
  CHECK_FALSE(op_time("READ", {5, 5, 0, 0, 0, {}}, 0.1));
  const std::uint64_t below_zero = std::uint64_t(0) - 12;
  CHECK_FALSE(op_time("READ", {5, 5, below_zero, 10, 10, {}}, 0.1));
  CHECK_FALSE(op_time("READ", {5, 5, 0, 10, below_zero, {}}, 0.1));
}

TEST_CASE("time: without TCP's round trip server and network are one part") {
  const auto time = op_time("READ", {100, 100, 10, 900, 1000, {}}, {});
  REQUIRE(time);
  CHECK_FALSE(time->network_ms);
  CHECK(time->server_ms == Approx(9.0));
  CHECK(time->most == TimePart::reply);
  CHECK_FALSE(time->errors);
}

TEST_CASE("time: the network takes no more than the reply, and parts above the whole make it larger") {
  const auto near = op_time("GETATTR", {100, 100, 0, 50, 60, {}}, 3.0);
  REQUIRE(near);
  CHECK(*near->network_ms == Approx(0.5));
  CHECK(near->server_ms == Approx(0.0));
  CHECK(near->most == TimePart::network);
  const auto rounded = op_time("GETATTR", {100, 100, 60, 60, 100, {}}, 0.1);
  REQUIRE(rounded);
  CHECK(rounded->client_ms == Approx(0.0));
  CHECK(rounded->mean_ms == Approx(1.2));
}

TEST_CASE("time: the worst three by time spent, upkeep left out, since the mount with one sample") {
  facts::Facts f = node_with({counted("NULL", 1, 0, 900000, 900000), counted("READ", 1000, 100, 9000, 9500),
                              counted("WRITE", 10, 0, 20000, 20010), counted("GETATTR", 5000, 0, 500, 600),
                              counted("ACCESS", 10, 0, 1, 1), counted("LOOKUP", 0, 0, 0, 0)});
  f.nfs.mounts[0].ops[1].errors = 3U;
  f.network.sockets = std::vector{socket(400, 200), socket(800, 300)};
  const auto all = times(f);
  REQUIRE(all.size() == 1);
  const ClientTime& time = all[0];
  CHECK(time.subject.id == "192.0.2.1:2049 4.2 tcp");
  CHECK_FALSE(time.window_s);
  CHECK_THAT(time.network_how, Contains("least TCP round trip"));
  REQUIRE(time.mounts.size() == 1);
  REQUIRE(time.mounts[0].worst.size() == 3);
  CHECK(time.mounts[0].worst[0].op == "WRITE");
  CHECK(time.mounts[0].worst[1].op == "READ");
  CHECK(time.mounts[0].worst[1].errors == 3U);
  CHECK(*time.mounts[0].worst[1].network_ms == Approx(0.25));
  CHECK(time.mounts[0].worst[2].op == "GETATTR");
  CHECK(verdict(time) == "server takes 100 %");
  CHECK(verdict(time, 1) == "server takes 92 %");
  REQUIRE(time.all);
  CHECK(time.all->ops == 6020);
}

TEST_CASE("time: the smoothed round trip stands in for the least one, and the connection that asked for both") {
  facts::Facts f = node_with({counted("READ", 1000, 0, 1000, 1000)});
  CHECK(times(f)[0].network_how.empty());
  f.nfs.servers[0].tcp_rtt_us = 700U;
  CHECK(*times(f)[0].all->network_ms == Approx(0.7));
  f.network.sockets = std::vector{socket(400), socket(400)};
  (*f.network.sockets)[1].state = "TIME_WAIT";
  CHECK(*times(f)[0].all->network_ms == Approx(0.4));
  CHECK(times(f)[0].network_how == "TCP round trip of its connections");
  (*f.network.sockets)[0].peer_addr = "192.0.2.9";
  CHECK(*times(f)[0].all->network_ms == Approx(0.7));
}

TEST_CASE("time: two samples count where they are far enough apart and hold enough, counters that wrapped too") {
  const std::uint64_t below_zero = std::uint64_t(0) - 400;
  facts::Facts f = node_with({counted("READ", 2000, 600, 12000, 12700), counted("WRITE", 10, below_zero, 9, 99)});
  f.nfs.mounts[0].ops[1].queue_ms = 100;
  facts::Facts before = node_with({counted("READ", 1000, 500, 10000, 10600), counted("WRITE", 9, below_zero, 8, 90)});
  before.nfs.mounts[0].age_s = 940U;
  f.earlier = before;
  auto time = times(f).at(0);
  REQUIRE(time.window_s);
  CHECK(*time.window_s == Approx(60));
  REQUIRE(time.mounts.at(0).worst.size() == 2);
  CHECK(time.mounts[0].worst[0].ops == 1000);
  CHECK(time.mounts[0].worst[0].mean_ms == Approx(2.1));
  CHECK(time.mounts[0].worst[1].op == "WRITE");
  CHECK(time.mounts[0].worst[1].queue_ms == Approx(500));

  f.nfs.mounts[0].ops[0].ops = 1050;  // too few for a mean
  f.nfs.mounts[0].ops[0].trans = 1050;
  f.earlier->nfs.mounts[0].ops[0].trans = 1000;
  CHECK_FALSE(times(f).at(0).window_s);
  f.nfs.mounts[0].ops[0].ops = f.nfs.mounts[0].ops[0].trans = 2000;
  f.earlier->nfs.mounts[0].age_s = 995U;  // 5 s
  CHECK_FALSE(times(f).at(0).window_s);
}

TEST_CASE("time: an operation whose total wrapped is named and left out") {
  const facts::Facts f =
      node_with({counted("READ", 100, std::uint64_t(0) - 5, 100, 100), counted("WRITE", 100, 0, 300, 310)});
  const auto time = times(f).at(0);
  CHECK(time.invalid == std::vector<std::string>{"READ"});
  REQUIRE(time.mounts.at(0).worst.size() == 1);
  CHECK(time.mounts[0].worst[0].op == "WRITE");
  CHECK(time.all->ops == 100);
}

TEST_CASE("time: what waits before the send waits for a slot where all of them were in use") {
  facts::Facts f = node_with({counted("WRITE", 10000, 90000, 10000, 100500)});
  f.nfs.clients[0].transports = {fixture::transport(100000, 6000000, 64)};
  CHECK(verdict(times(f)[0]) == "waits before the send 90 %");  // how many there are is not known
  f.kernel.rpc.max_session_slots = 64U;
  CHECK(verdict(times(f)[0]) == "waits for a slot: 64 of 64 in use");
  CHECK(time_verdict(times(f)[0].mounts[0].worst[0], times(f)[0], Language::ja) == "スロット待ち: 64 / 64 を使用");
  // Marks of several connections are of different moments.
  f.nfs.clients[0].transports = {fixture::transport(100000, 0, 40), fixture::transport(100000, 0, 40)};
  CHECK(verdict(times(f)[0]) == "waits for a slot: up to 64 of 64 in use");
  f.nfs.clients[0].transports = {fixture::transport(100000, 0, 20), fixture::transport(100000, 0, 20)};
  CHECK(verdict(times(f)[0]) == "waits before the send 90 %");
  f.nfs.mounts[0].ops[0].trans = 10012;
  CHECK(verdict(times(f)[0]) == "waits before the send 90 % (12 retransmissions in it)");

  f.nfs.mounts[0].ops[0].trans = 10000;
  f.nfs.clients[0].vers = "3";
  f.kernel.rpc.tcp_max_slot_table_entries = 20U;
  CHECK(times(f)[0].slots_kind == "connection");
  CHECK(verdict(times(f)[0]) == "waits for a slot: 20 of 20 in use");
  CHECK(*times(f)[0].balance == Approx(1.0));
  CHECK(times(f)[0].connections == 1U);
}

TEST_CASE("time: the client after the reply is named where it takes most") {
  const facts::Facts f = node_with({counted("READ", 1000, 100, 900, 4000)});
  CHECK(verdict(times(f)[0]) == "client after the reply takes 75 %");
}

TEST_CASE("time: mounts of a client that spend their time alike are one row, others stand apart, none twice") {
  facts::Facts f = node_with({counted("READ", 1000, 0, 5000, 5100)});
  facts::NfsMount second = f.nfs.mounts[0];
  second.target = "/mnt/b";
  fixture::add(f, second);
  facts::NfsMount other = f.nfs.mounts[0];
  other.target = "/mnt/c";
  other.ops = {counted("WRITE", 10, 0, 1, 90)};
  fixture::add(f, other);
  facts::NfsMount bound = f.nfs.mounts[0];
  bound.target = "/mnt/d";
  bound.same_as = "/mnt/a";
  bound.ops.clear();
  fixture::add(f, bound);
  const auto time = times(f).at(0);
  REQUIRE(time.mounts.size() == 2);
  CHECK(time.mounts[0].mounts == std::vector<std::string>{"/mnt/a", "/mnt/b"});
  CHECK(time.mounts[0].worst[0].ops == 2000);
  CHECK(time.mounts[1].mounts == std::vector<std::string>{"/mnt/c"});
}

TEST_CASE("time: a client without counters has no row, and a judged report carries the others") {
  facts::Facts f = fixture::node();
  CHECK(times(f).empty());
  const facts::Facts g = node_with({counted("READ", 1000, 0, 5000, 5100)});
  CHECK(fixture::judge(g, fixture::shipped()).time.size() == 1);
}

TEST_CASE("side by side: asked with its origin, effective and allowed, the differing and the raisable marked") {
  facts::Facts f = fixture::node();
  facts::NfsMount m = fixture::mount("/mnt/a", f.nfs.clients[0].id);
  m.options_text = "rw,vers=4.2,...";
  m.export_path = "/vol";
  m.rsize_bytes = m.wsize_bytes = 65536U;
  m.asked = fixture::asked("fstab", "nfsvers=4.2,nconnect=8,rsize=262144,soft");
  m.asked->default_text = "timeo=600";
  fixture::add(f, m);
  facts::NfsServer& server = f.nfs.servers[0];

  auto tables = side_by_side(Context(f));
  REQUIRE(tables.size() == 1);
  CHECK(tables[0].subject == Subject{"nfs.client", "192.0.2.1:2049 4.2 tcp"});
  CHECK(tables[0].origin == "fstab");
  CHECK(tables[0].path == "/etc/fstab:3");
  CHECK(row(tables[0], "vers").asked == facts::Value("4.2"));
  CHECK(row(tables[0], "vers").asked_from == "fstab");
  CHECK_FALSE(row(tables[0], "vers").differs);
  CHECK(row(tables[0], "timeo").asked_from == "nfsmount.conf");
  CHECK(row(tables[0], "nconnect").differs);
  CHECK(row(tables[0], "nconnect").effective == facts::Value("1"));
  CHECK(row(tables[0], "recovery").differs);
  CHECK(row(tables[0], "rsize").differs);
  CHECK(row(tables[0], "wsize").asked.is_absent());
  const auto& untold = std::get<facts::Unknown>(row(tables[0], "rsize").allowed.data);
  CHECK(untold.why.starts_with("not asked"));
  CHECK(row(tables[0], "slots").effective.is_unknown());

  server.versions = std::vector<std::string>{"3", "4.0", "4.1", "4.2"};
  server.maxread_bytes = 262144U;
  server.maxwrite_bytes = 65536U;
  server.tls_offered = false;
  facts::NfsSession session;
  session.slots = 180;
  server.session = session;
  facts::NfsExport exported;
  exported.path = "/vol";
  exported.secinfo = std::vector<std::string>{"sys", "krb5"};
  exported.maxread_bytes = 1048576U;
  server.exports = {exported};
  f.kernel.rpc.max_session_slots = 64U;
  tables = side_by_side(Context(f));
  CHECK(row(tables[0], "vers").allowed == facts::Value("3, 4.0, 4.1, 4.2"));
  CHECK_FALSE(row(tables[0], "vers").more);
  CHECK(row(tables[0], "rsize").allowed == facts::Value("1048576"));  // of this export
  CHECK(row(tables[0], "rsize").more);
  CHECK(row(tables[0], "wsize").allowed == facts::Value("65536"));
  CHECK_FALSE(row(tables[0], "wsize").more);
  CHECK(row(tables[0], "sec").allowed == facts::Value("sys, krb5"));
  CHECK(row(tables[0], "xprtsec").allowed == facts::Value("no TLS"));
  CHECK(row(tables[0], "slots").asked == facts::Value("64"));
  CHECK(row(tables[0], "slots").asked_from == "nfs.max_session_slots");
  CHECK(row(tables[0], "slots").effective == facts::Value("64"));
  CHECK(row(tables[0], "slots").allowed == facts::Value("180"));
  CHECK(row(tables[0], "slots").more);
}

TEST_CASE("side by side: NFSv3 is measured by FSINFO and its lock manager") {
  facts::Facts f = fixture::node();
  f.nfs.clients[0].vers = "3";
  facts::NfsMount m = fixture::mount("/mnt/a", f.nfs.clients[0].id);
  m.vers = "3";
  m.asked = fixture::asked("fstab", "vers=3,nolock");
  m.nolock = true;
  fixture::add(f, m);
  facts::NfsServer& server = f.nfs.servers[0];
  server.rtmax_bytes = 2097152U;
  facts::NfsService nlm;
  nlm.program = "nlm";
  nlm.reachable = false;
  nlm.result = "not_registered";
  server.services = {nlm};
  const auto tables = side_by_side(Context(f));
  CHECK(row(tables[0], "rsize").allowed == facts::Value("2097152"));
  CHECK(row(tables[0], "rsize").more);
  CHECK(row(tables[0], "local_lock").asked == facts::Value("all"));
  CHECK_FALSE(row(tables[0], "local_lock").differs);
  CHECK(row(tables[0], "local_lock").allowed == facts::Value("NLM: not_registered"));
  CHECK(row(tables[0], "slots").asked_from == "sunrpc.tcp_max_slot_table_entries");
}

TEST_CASE("side by side: mounts that are alike share a table, and what asked is not known where nothing told") {
  facts::Facts f = fixture::node();
  for (const char* target : {"/mnt/a", "/mnt/b", "/mnt/c"}) {
    facts::NfsMount m = fixture::mount(target, f.nfs.clients[0].id);
    m.options_text = "rw,vers=4.2";
    fixture::add(f, m);
  }
  f.nfs.mounts[2].options_text = "rw,vers=4.2,soft";
  f.nfs.mounts[2].recovery = "soft";
  const auto tables = side_by_side(Context(f));
  REQUIRE(tables.size() == 2);
  CHECK(tables[0].mounts == std::vector<std::string>{"/mnt/a", "/mnt/b"});
  CHECK(tables[0].origin.empty());
  CHECK(row(tables[0], "vers").asked.is_unknown());
  CHECK(row(tables[1], "recovery").effective == facts::Value("soft"));
}

TEST_CASE("side by side: a server that is not mounted shows what it allows") {
  facts::Facts f;
  facts::NfsServer server;
  server.name = "192.0.2.7";
  server.addr = "192.0.2.7";
  server.versions = std::vector<std::string>{"3", "4.2"};
  server.rtmax_bytes = 65536U;
  server.maxread_bytes = 1048576U;
  f.nfs.servers = {server};
  const auto tables = side_by_side(Context(f));
  REQUIRE(tables.size() == 1);
  CHECK(tables[0].subject == Subject{"nfs.server", "192.0.2.7:2049"});
  CHECK(row(tables[0], "vers").allowed == facts::Value("3, 4.2"));
  CHECK(row(tables[0], "rsize").allowed == facts::Value("NFSv3: 65536, NFSv4: 1048576"));
  CHECK(row(tables[0], "rsize").effective.is_absent());
}
