// `probe` against servers of ours.
#include <boost/json.hpp>
#include <catch2/catch.hpp>
#include <sstream>

#include "audit/base/json.h"
#include "tests/cli/run.h"
#include "tests/wire/fake_server.h"

namespace json = boost::json;
using test::run;

namespace {

std::string url(const wire::Address& address, const std::string& path) { return "nfs://" + address.text() + path; }

json::value parsed(const std::string& text) {
  auto value = base::parse_json(text, "report");
  REQUIRE(value.has_value());
  return *value;
}

}  // namespace

TEST_CASE("probe: a server is described in text, and its facts are in the JSON report") {
  auto state = std::make_shared<wire_test::FakeState>();
  auto nfs = wire_test::fake_nfs({}, state);
  const auto text = run({"probe", url(nfs->address(), "/data")});
  CHECK(text.code == 0);
  CHECK(text.out.find("NFSv3 v4.0 v4.1 v4.2") != std::string::npos);
  CHECK(text.out.find("16 slots of 1024 asked for") != std::string::npos);
  CHECK(text.out.find("not in grace (LOCKT on a regular file)") != std::string::npos);
  CHECK(text.out.find("  export     /data: v4 ok") != std::string::npos);
  CHECK(text.out.find("READ up to 128 KiB, WRITE up to 64 KiB") != std::string::npos);
  CHECK(text.out.find("removed again") != std::string::npos);
  std::istringstream lines(text.out);
  for (std::string line; std::getline(lines, line);) CHECK(line.size() <= 80);

  const auto report = run({"probe", url(nfs->address(), "/data"), "--format", "json", "--timeout", "1s"});
  CHECK(report.code == 0);
  const auto value = parsed(report.out);
  const auto& servers = value.at("facts").at("nfs").at("servers").as_array();
  REQUIRE(servers.size() == 1);
  CHECK(servers[0].at("nfs4_minor_max").as_int64() == 2);
  CHECK(servers[0].at("maxread_bytes").as_int64() == 131072);
  CHECK(servers[0].at("exports").at(0).at("path").as_string() == "/data");
  CHECK(state->clients == 0);
  CHECK(state->sessions == 0);
}

TEST_CASE("probe: a server that does not answer, and a name that does not resolve, are exit 1") {
  wire_test::ClosedPort nobody;
  const auto refused = run({"probe", url(nobody.address(), ""), "--format", "json"});
  CHECK(refused.code == 1);
  const auto value = parsed(refused.out);
  CHECK(value.at("facts").at("nfs").at("servers").at(0).at("services").at(0).at("result").as_string() == "refused");
  wire_test::Peer silent([](wire_test::Peer& peer, int) { peer.wait_ms(20000); });
  const auto quiet = run({"probe", url(silent.address(), ""), "--timeout", "300ms"});
  CHECK(quiet.code == 1);
  CHECK(quiet.out.find("does not answer") != std::string::npos);
  CHECK(quiet.out.find("silent") != std::string::npos);
  CHECK(run({"probe", "nfs://no-such-host.invalid/x", "--timeout", "1s"}).code == 1);
  CHECK(run({"probe", url(nobody.address(), ""), "--fail-on", "never"}).code == 0);
}

TEST_CASE("probe: a malformed URL or time is exit 2 with one line and nothing on standard output") {
  for (const std::vector<std::string>& words : {std::vector<std::string>{"nfs://"},
                                                {"192.0.2.1:/export"},
                                                {"nfs://[::1/x"},
                                                {"nfs://h:99999/"},
                                                {"nfs://2001:db8::1/x"},
                                                {"nfs://127.0.0.1", "--timeout", "soon"},
                                                {"nfs://127.0.0.1", "--deadline", "0"},
                                                {}}) {
    std::vector<std::string> arguments = {"probe"};
    arguments.insert(arguments.end(), words.begin(), words.end());
    CAPTURE(arguments);
    const auto wrong = run(arguments);
    CHECK(wrong.code == 2);
    CHECK(wrong.out.empty());
    CHECK(wrong.err.find("mountaudit: ") == 0);
    CHECK(std::count(wrong.err.begin(), wrong.err.end(), '\n') == 1);
  }
}

TEST_CASE("probe: a lock is not taken without consent, and not outside the export") {
  auto state = std::make_shared<wire_test::FakeState>();
  auto nfs = wire_test::fake_nfs({}, state);
  struct Row {
    std::vector<std::string> arguments;
    std::string says;
  };
  const std::string with_export = url(nfs->address(), "/data");
  const std::vector<Row> rows = {
      {{"probe", with_export, "--lock-test"}, "--allow-write DIR"},
      {{"probe", with_export, "--allow-write", "x"}, "only --lock-test writes"},
      {{"probe", url(nfs->address(), ""), "--lock-test", "--allow-write", "."}, "needs an export"},
      {{"probe", url(nfs->address(), ""), "--read-file", "x"}, "needs an export"},
      {{"probe", with_export, "--lock-test", "--allow-write", "/other"}, "is not below the export /data"},
      {{"probe", with_export, "--lock-test", "--allow-write", "/database"}, "is not below the export /data"},
      {{"probe", with_export, "--lock-test", "--allow-write", "a/../../b"}, "no way up"},
      {{"probe", with_export, "--follow-grace", "soon"}, "is no time"},
      {{"audit", "--lock-test"}, "has no option"},
  };
  for (const auto& row : rows) {
    const auto ran = run(row.arguments);
    CAPTURE(row.arguments, ran.err);
    CHECK(ran.code == 2);
    CHECK(ran.out.empty());
    CHECK(ran.err.find(row.says) != std::string::npos);
  }
  CHECK(state->calls == 0);
}
