// The ladder against nfs-ganesha, configured as the field has it. Each test makes its own namespaces.
#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <map>
#include <thread>

#include "audit/snapshot/document.h"
#include "probes/wire/connection.h"
#include "probes/wire/nfs4.h"
#include "tests/skipped.h"
#include "tests/wire/lab.h"

using namespace wire;
using namespace wire_test;
using namespace std::chrono_literals;

namespace {

bool skipped() { return test::skipped(Lab::missing()); }

NfsTarget target(const std::string& addr = "127.0.0.1") {
  NfsTarget made;
  made.name = made.addr = addr;
  made.port = Lab::nfs_port;
  made.port_given = true;
  made.exports = {"/export"};
  return made;
}

AskOptions options() {
  AskOptions made;
  made.timeout = 3s;
  made.deadline = 15s;
  made.null_calls = 8;
  return made;
}

const facts::NfsService& service(const facts::NfsServer& server, const std::string& program) {
  for (const auto& item : server.services)
    if (item.program == program) return item;
  FAIL("no service " << program);
  return server.services.front();
}

facts::NfsServer ask_one(const Lab& lab, const NfsTarget& one) {
  auto answers = lab.ask({one}, options());
  REQUIRE(answers.size() == 1);
  for (const auto& row : answers[0].sources) UNSCOPED_INFO(row.id << " " << row.status << " " << row.detail);
  CHECK(answers[0].server.round_trips.value_or(99) <= 6);
  CHECK_FALSE(answers[0].server.cleaned_up.is(false));
  return answers[0].server;
}

}  // namespace

TEST_CASE("ganesha: versions 3 and 4 with 64 KiB limits, 16 slots, NLM and statd") {
  if (skipped()) return;
  Lab lab;
  lab.start_rpcbind();
  lab.start_statd();
  GaneshaSettings settings;
  settings.max_io_bytes = 65536;
  settings.slots = 16;
  lab.start_ganesha(settings);
  const auto answers = lab.ask({target()}, options());
  REQUIRE(answers.size() == 1);
  const auto& server = answers[0].server;
  // Each question of the ladder was answered.
  std::map<std::string, std::string> rows;
  for (const auto& row : answers[0].sources) rows[row.id] = row.status + " " + row.detail;
  for (const char* question : {"nfs",
                               "minor_versions",
                               "exchange_id",
                               "create_session",
                               "reclaim_complete",
                               "lease",
                               "attributes",
                               "secinfo",
                               "directory",
                               "lockt",
                               "rpcbind",
                               "rpcbind_dump",
                               "mountd",
                               "export_list",
                               "mnt",
                               "fsinfo",
                               "fsstat",
                               "pathconf",
                               "readdirplus",
                               "nlm",
                               "nlm_test",
                               "nsm",
                               "tls",
                               "path_mtu",
                               "latency",
                               "clean_up"}) {
    CAPTURE(question, rows[std::string("nfs_server.") + question]);
    CHECK(rows[std::string("nfs_server.") + question].find("ok") == 0);
  }
  CHECK(server.round_trips.value_or(99) <= 6);
  CHECK(server.calls.value_or(999) <= 90);
  CHECK(server.cleaned_up.is(true));
  CHECK(server.versions.is({"3", "4.0", "4.1", "4.2"}));
  CHECK(server.nfs4_minor_max.is(2));
  CHECK(server.owner.value_or("").size() > 0);
  CHECK(server.scope.value_or("").find("NFS-Ganesha") != std::string::npos);
  CHECK(server.owner_minor.has_value());
  CHECK(server.impl_name.is_absent());
  REQUIRE(server.pnfs_roles.has_value());
  CHECK(server.asked_from.is("127.0.0.1"));
  CHECK(server.connect_ms.has_value());
  CHECK(server.null_p99_us.value_or(0) >= server.null_p50_us.value_or(1));
  CHECK(server.tcp_rtt_us.has_value());
  CHECK(server.tcp_mss_bytes.value_or(0) > 1000);
  CHECK(server.tcp_retrans.is(0));
  CHECK(server.path_mtu_lost_bytes.is_absent());
  CHECK(server.lock_tests.is_absent());
  CHECK(server.read_test.is_absent());
  CHECK(server.rtmax_bytes.is(65536));
  CHECK(server.wtmax_bytes.is(65536));
  CHECK(server.maxread_bytes.is(65536));
  CHECK(server.maxwrite_bytes.is(65536));
  CHECK(server.lease_s.is(5));
  CHECK(server.in_grace.is(false));
  CHECK(server.nfs4_in_grace.is(false));
  CHECK(server.nlm_in_grace.is(false));
  CHECK(server.nlm_test.is("NLM4_GRANTED"));
  CHECK(server.kind.is("ganesha"));
  CHECK(server.reserved_port.is(true));
  CHECK(server.tls_offered.is(false));
  REQUIRE(server.session.has_value());
  CHECK(server.session->slots == 16);
  CHECK(server.session->minor == "4.2");
  CHECK(server.session->max_request_bytes > 4096);
  CHECK(server.session->max_operations > 0);
  for (const char* program : {"nfs", "rpcbind", "mountd", "nlm", "nsm"}) {
    CAPTURE(program);
    CHECK(service(server, program).reachable.is(true));
    CHECK(service(server, program).result.is("ok"));
  }
  CHECK(service(server, "mountd").versions.is({1, 3}));
  CHECK(service(server, "nlm").version.is(4));
  CHECK(service(server, "nsm").port.is(20499));
  CHECK(service(server, "rpcbind").versions.is({2, 3, 4}));
  REQUIRE(server.exports.size() == 1);
  CHECK(server.exports[0].mnt_result.is("ok"));
  CHECK(server.exports[0].mnt_flavors.is({"sys"}));
  CHECK(server.exports[0].lookup_result.is("ok"));
  CHECK(server.exports[0].secinfo.is({"sys"}));
  CHECK(server.exports[0].rtpref_bytes.is(32768));
  CHECK(server.exports[0].total_bytes.value_or(0) > 0);
  CHECK(server.exports[0].avail_bytes.value_or(~0ULL) <= server.exports[0].total_bytes.value_or(0));
  CHECK(server.exports[0].maxname.value_or(0) >= 255);
  CHECK(server.exports[0].link_max.value_or(0) > 0);
  CHECK(server.exports[0].maxfilesize_bytes.value_or(0) > 0);
  REQUIRE(server.exports[0].supported_attrs.has_value());
  for (const std::uint32_t number : {nfs4::attr::lease_time, nfs4::attr::maxread, nfs4::attr::maxwrite})
    CHECK(std::count(server.exports[0].supported_attrs->begin(), server.exports[0].supported_attrs->end(), number) ==
          1);
  CHECK(server.exports[0].regular_file.is(true));
  REQUIRE(server.export_list.has_value());
  REQUIRE(server.export_list->size() == 1);
  CHECK(server.export_list->front().path == "/export");
  CHECK(server.null_count.is(8));
  CHECK(server.getattr_p50_us.has_value());
  CHECK(server.path_mtu_bytes.is(65535));
  CHECK(server.path_mtu_how.is("probe"));
}

TEST_CASE("ganesha: version 3 only") {
  if (skipped()) return;
  Lab lab;
  lab.start_rpcbind();
  GaneshaSettings settings;
  settings.protocols = "3";
  lab.start_ganesha(settings);
  const auto server = ask_one(lab, target());
  CHECK(server.versions.is({"3"}));
  CHECK(server.nfs4_minor_max.is_absent());
  CHECK(server.lease_s.is_absent());
  CHECK(server.session.is_absent());
  CHECK(server.rtmax_bytes.is(1048576));
  CHECK(server.in_grace.is(false));
  CHECK(server.in_grace_how.is("NLM_TEST on a regular file"));
  CHECK(server.getattr_p50_us.has_value());
  CHECK(service(server, "nfs").versions.is({3}));
  CHECK(service(server, "nlm").needed_by_versions.is({"3"}));
}

TEST_CASE("ganesha: version 4 only, without rpcbind") {
  if (skipped()) return;
  Lab lab;
  GaneshaSettings settings;
  settings.protocols = "4";
  lab.start_ganesha(settings);
  const auto server = ask_one(lab, target());
  CHECK(server.versions.is({"4.0", "4.1", "4.2"}));
  CHECK(server.rtmax_bytes.is_absent());
  CHECK(server.maxread_bytes.is(1048576));
  CHECK(server.in_grace.is(false));
  CHECK(service(server, "rpcbind").result.is("refused"));
  CHECK(service(server, "rpcbind").needed_by_versions.is_absent());
  CHECK(service(server, "mountd").result.is("not_asked"));
  CHECK(service(server, "mountd").reachable.is_unknown());
  CHECK(service(server, "nfs").needed_by_versions.is({"4.0", "4.1", "4.2"}));
  CHECK(server.cleaned_up.is(true));
}

TEST_CASE("ganesha: 4.1 and 4.2 only, all is asked in the session") {
  if (skipped()) return;
  Lab lab;
  GaneshaSettings settings;
  settings.protocols = "4";
  settings.minors = "1,2";
  settings.slots = 2;
  lab.start_ganesha(settings);
  const auto server = ask_one(lab, target());
  CHECK(server.versions.is({"4.1", "4.2"}));
  CHECK(server.nfs4_minor_max.is(2));
  CHECK(server.lease_s.is(5));
  CHECK(server.maxread_bytes.is(1048576));
  CHECK(server.in_grace.is(false));
  CHECK(server.session->slots == 2);
  CHECK(server.exports.at(0).secinfo.is({"sys"}));
  CHECK(server.getattr_p50_us.has_value());
  CHECK(server.cleaned_up.is(true));
}

TEST_CASE("ganesha: version 3 without NLM, and NLM without statd") {
  if (skipped()) return;
  Lab lab;
  lab.start_rpcbind();
  GaneshaSettings settings;
  settings.protocols = "3";
  settings.nlm = false;
  lab.start_ganesha(settings);
  auto server = ask_one(lab, target());
  CHECK(service(server, "nlm").result.is("not_registered"));
  CHECK(service(server, "nlm").reachable.is(false));
  CHECK(service(server, "nlm").port.is_absent());
  CHECK(server.nlm_in_grace.is_unknown());
  CHECK(server.in_grace.is_unknown());
  lab.stop_ganesha();

  settings.nlm = true;
  lab.start_ganesha(settings);
  server = ask_one(lab, target());
  CHECK(service(server, "nlm").reachable.is(true));
  CHECK(service(server, "nsm").result.is("not_registered"));
  CHECK(service(server, "nsm").reachable.is(false));
}

TEST_CASE("ganesha: over IPv6, on a port that only rpcbind knows, and at two addresses") {
  if (skipped()) return;
  Lab lab;
  lab.start_rpcbind();
  lab.start_ganesha({});
  auto server = ask_one(lab, target("::1"));
  CHECK(server.addr.is("::1"));
  CHECK(server.asked_from.is("::1"));
  CHECK(server.versions.is({"3", "4.0", "4.1", "4.2"}));
  CHECK(service(server, "mountd").reachable.is(true));
  CHECK(server.rtmax_bytes.is(1048576));

  auto unnamed = target();
  unnamed.port = 2049;
  unnamed.port_given = false;
  server = ask_one(lab, unnamed);
  CHECK(server.port == Lab::nfs_port);
  CHECK(service(server, "nfs").port_how.is("rpcbind"));
  CHECK(server.nfs4_minor_max.is(2));

  const auto answers = lab.ask({target("127.0.0.1"), target("127.0.0.2")}, options());
  REQUIRE(answers.size() == 2);
  CHECK(answers[0].server.same_server.is({"127.0.0.2:20490"}));
  CHECK(answers[1].server.same_server.is({"127.0.0.1:20490"}));
  CHECK(answers[0].server.trunkable.is({"127.0.0.2:20490"}));
}

TEST_CASE("ganesha: without a file to test a lock on, grace is unknown - a directory deeper is looked at") {
  if (skipped()) return;
  Lab lab;
  GaneshaSettings settings;
  settings.protocols = "4";
  lab.start_ganesha(settings);
  auto root = target();
  root.exports.clear();  // the pseudo root holds /export, and that the file
  const auto found = ask_one(lab, root);
  CHECK(found.in_grace.is(false));
  auto gone = target();
  gone.exports = {"/nosuch"};
  const auto missing = ask_one(lab, gone);
  CHECK(missing.exports.at(0).lookup_result.is("NFS4ERR_NOENT"));
  CHECK(missing.in_grace.is_unknown());
  CHECK(missing.in_grace_how.is("no regular file was found to test a lock on"));
  CHECK(missing.lease_s.is(5));
}

TEST_CASE("ganesha: a refused port, a dropped SYN and a server that is gone are told apart") {
  if (skipped()) return;
  Lab lab;
  // Routed to lo and not local: what comes back in is dropped, as by a firewall.
  REQUIRE(lab.run({"ip", "route", "add", "198.51.100.0/24", "dev", "lo"}) == 0);
  auto asked = options();
  asked.timeout = 1s;
  auto dropped = target("198.51.100.7");
  auto nowhere = target("203.0.113.1");
  const auto began = io::Clock::now();
  const auto answers = lab.ask({target(), dropped, nowhere}, asked);
  CHECK(io::Clock::now() - began < 3s);
  REQUIRE(answers.size() == 3);
  CHECK(service(answers[0].server, "nfs").result.is("refused"));
  CHECK(service(answers[1].server, "nfs").result.is("connect_timeout"));
  CHECK(service(answers[1].server, "rpcbind").result.is("connect_timeout"));
  CHECK(service(answers[2].server, "nfs").result.is("unreachable"));
}

TEST_CASE("ganesha: a freshly started server is in grace, and out of it within two seconds of its end") {
  if (skipped()) return;
  Lab lab;
  lab.start_rpcbind();
  GaneshaSettings settings;
  settings.graceless = false;
  lab.start_ganesha(settings);
  auto quick = options();
  quick.null_calls = 0;
  quick.path_mtu = false;
  const auto ended_by_log = [&] { return lab.ganesha_log().find("NOT IN GRACE") != std::string::npos; };
  auto first = lab.ask({target()}, quick).at(0).server;
  REQUIRE_FALSE(ended_by_log());
  CHECK(first.in_grace.is(true));
  CHECK(first.nfs4_in_grace.is(true));
  CHECK(first.nlm_in_grace.is(true));
  CHECK(first.nlm_test.is("NLM4_DENIED_GRACE_PERIOD"));
  std::optional<io::Time> log_end;
  std::optional<io::Time> seen_end;
  const auto limit = io::Clock::now() + 30s;
  while (!seen_end && io::Clock::now() < limit) {
    if (!log_end && ended_by_log()) log_end = io::Clock::now();
    const auto server = lab.ask({target()}, quick).at(0).server;
    if (server.in_grace.is(false)) {
      seen_end = io::Clock::now();
      CHECK(server.nlm_in_grace.is(false));
    }
    std::this_thread::sleep_for(200ms);
  }
  REQUIRE(seen_end);
  if (!log_end && ended_by_log()) log_end = io::Clock::now();
  REQUIRE(log_end);
  CHECK(*seen_end - *log_end < 2s);
}

TEST_CASE("ganesha: a session of 4.1 sees the grace period too") {
  if (skipped()) return;
  Lab lab;
  lab.start_rpcbind();
  GaneshaSettings settings;
  settings.graceless = false;
  settings.minors = "1,2";
  lab.start_ganesha(settings);
  const auto server = ask_one(lab, target());
  CHECK(server.versions.is({"3", "4.1", "4.2"}));
  CHECK(server.nfs4_in_grace.is(true));
}

TEST_CASE("ganesha: it keeps no client of ours, and would keep one that was not destroyed") {
  if (skipped()) return;
  Lab lab;
  GaneshaSettings settings;
  settings.protocols = "4";
  lab.start_ganesha(settings);
  const auto server = ask_one(lab, target());
  CHECK(server.cleaned_up.is(true));
  CHECK(lab.recorded_clients().empty());
  // The counter-proof: the same calls without the clean-up leave a record.
  lab.inside([] {
    io::Loop loop;
    Connection::Options connect;
    connect.connect_deadline = io::Clock::now() + 2s;
    auto connection = Connection::open(loop, *parse_address("127.0.0.1", Lab::nfs_port), connect);
    bool made = false;
    nfs4::Compound exchange(1);
    exchange.exchange_id("mountaudit-left-behind", 1);
    connection->call(exchange.call(), io::Clock::now() + 2s, [&](Outcome<Answer> answer) {
      REQUIRE(answer);
      const auto result = nfs4::decode_compound(answer->accepted.results);
      REQUIRE(result);
      const auto* id = result->value<nfs4::ExchangeId>(nfs4::Op::exchange_id);
      REQUIRE(id != nullptr);
      nfs4::Compound session(1);
      session.create_session(id->client_id, id->sequence, {65536, 65536, 1024, 16, 4});
      connection->call(session.call(), io::Clock::now() + 2s, [&](Outcome<Answer> reply) {
        const auto created = nfs4::decode_compound(reply->accepted.results);
        REQUIRE(created);
        const auto* session_made = created->value<nfs4::CreateSession>(nfs4::Op::create_session);
        REQUIRE(session_made != nullptr);
        nfs4::Compound complete(1);
        complete.sequence(session_made->id, 1, 0, 0).reclaim_complete();
        connection->call(complete.call(), io::Clock::now() + 2s, [&](Outcome<Answer> last) {
          made = last.has_value();
          connection->close();
        });
      });
    });
    loop.run(io::Clock::now() + 5s);
    CHECK(made);
  });
  CHECK(lab.recorded_clients().size() == 1);
}

TEST_CASE("ganesha: mountaudit probe gives the facts of one server as JSON, and exit 1 once it is gone") {
  if (skipped()) return;
  Lab lab;
  lab.start_rpcbind();
  lab.start_ganesha({});
  const std::string out = lab.folder() + "/report.json";
  const std::vector<std::string> probe = {
      "sh", "-c", "exec " MOUNTAUDIT_BIN " probe 'nfs://[::1]:20490/export' --format json > " + out};
  CHECK(lab.run(probe) == 0);
  const auto loaded = snapshot::from_json(read_file(out), out);
  REQUIRE(loaded);
  REQUIRE(loaded->facts.nfs.servers.size() == 1);
  const auto& server = loaded->facts.nfs.servers[0];
  CHECK(server.versions.is({"3", "4.0", "4.1", "4.2"}));
  CHECK(server.addr.is("::1"));
  CHECK(server.exports.at(0).mnt_result.is("ok"));
  CHECK(server.in_grace.is(false));
  lab.stop_ganesha();
  CHECK(lab.run(probe) == 1);
}
