// From the text of a mount table to findings, with the questions to nfs-ganesha in between: what the program says of
// each kind of server, as a user gets it.
#include <boost/json.hpp>
#include <catch2/catch.hpp>
#include <fstream>
#include <map>

#include "audit/base/json.h"
#include "tests/skipped.h"
#include "tests/wire/lab.h"
#include "tests/wire/outcome.h"

namespace json = boost::json;
using namespace wire_test;

namespace {

bool skipped() { return test::skipped(Lab::missing()); }

struct Client {
  std::string vers = "4.2";
  std::string addr = "127.0.0.1";
  std::string more = {};  // further options
  std::uint32_t size = 1048576;
  bool port = true;
};

std::string mount_line(int number, const Client& client) {
  const bool three = client.vers == "3";
  const bool six = client.addr.find(':') != std::string::npos;
  const std::string host = six ? "[" + client.addr + "]" : client.addr;
  const std::string proto = six ? "tcp6" : "tcp";
  const std::string id = std::to_string(number);
  const std::string size = std::to_string(client.size);
  std::string line = id + " 1 0:" + id + " / /mnt/" + id + " rw,relatime - " + (three ? "nfs " : "nfs4 ") + host +
                     ":/export rw,vers=" + client.vers + ",rsize=" + size + ",wsize=" + size +
                     ",namlen=255,hard,proto=" + proto;
  if (client.port) line += ",port=20490";
  line += ",timeo=600,retrans=2,sec=sys";
  if (three) line += ",mountaddr=" + client.addr + ",mountvers=3,mountport=20491,mountproto=" + proto;
  if (!three) line += ",clientaddr=" + client.addr;
  line += ",local_lock=none";
  return line + client.more + ",addr=" + client.addr + "\n";
}

struct Judged {
  int code = -1;
  json::value report;

  std::string outcome(const std::string& rule) const { return wire_test::outcome(report, rule); }
  std::string message(const std::string& rule) const {
    for (const auto& finding : report.at("findings").as_array())
      if (finding.at("rule").as_string() == rule) return std::string(finding.at("message").as_string());
    return {};
  }
  const json::value& server(std::size_t index = 0) const {
    return report.at("facts").at("nfs").at("servers").at(index);
  }
};

Judged run_in(Lab& lab, const std::string& arguments) {
  const std::string out = lab.folder() + "/report.json";
  Judged judged;
  judged.code =
      lab.run({"sh", "-c",
               "exec " MOUNTAUDIT_BIN " " + arguments + " --format json > " + out + " 2> " + lab.folder() + "/errors"});
  auto parsed = base::parse_json(read_file(out), out);
  INFO(read_file(lab.folder() + "/errors"));
  REQUIRE(parsed.has_value());
  judged.report = *parsed;
  return judged;
}

Judged audit(Lab& lab, const std::vector<Client>& clients, const std::string& profile = "openshift-virtualization",
             const std::string& more = "") {
  const std::string table = lab.folder() + "/mountinfo";
  std::ofstream file(table);
  int number = 41;
  for (const auto& client : clients) file << mount_line(number++, client);
  file.close();
  return run_in(lab, "audit --input mountinfo=" + table + " --ask-servers --profile " + profile + " " + more);
}

}  // namespace

TEST_CASE("ganesha judged: NFSv3 with 64 KiB limits, a lock manager and a status monitor") {
  if (skipped()) return;
  Lab lab;
  lab.start_rpcbind();
  lab.start_statd();
  GaneshaSettings settings;
  settings.max_io_bytes = 65536;
  lab.start_ganesha(settings);
  Client three;
  three.vers = "3";
  three.size = 65536;
  const auto judged = audit(lab, {three});
  CHECK(judged.outcome("NFS-PORT-001") == "passed");
  CHECK(judged.outcome("NFS-LOCK-001") == "passed");
  CHECK(judged.outcome("NFS-VERS-002") == "notice");
  CHECK(judged.message("NFS-VERS-002").find("NFSv4.2") != std::string::npos);
  CHECK(judged.outcome("NFS-IOSIZE-001") == "info");  // at the limit of the server; no load is known
  CHECK(judged.outcome("NFS-RECOV-010") == "passed");
  // The same server at a size of its own choice, below what it allows.
  settings.max_io_bytes = 1048576;
  lab.stop_ganesha();
  lab.start_ganesha(settings);
  CHECK(audit(lab, {three}).outcome("NFS-IOSIZE-001") == "not applicable");
}

TEST_CASE("ganesha judged: NFSv3 without NLM, and NLM without a status monitor") {
  if (skipped()) return;
  Lab lab;
  lab.start_rpcbind();
  GaneshaSettings settings;
  settings.protocols = "3";
  settings.nlm = false;
  lab.start_ganesha(settings);
  Client three;
  three.vers = "3";
  auto judged = audit(lab, {three});
  CHECK(judged.code == 1);
  CHECK(judged.outcome("NFS-LOCK-001") == "error");
  CHECK(judged.outcome("NFS-PORT-001") == "warning");
  CHECK(judged.outcome("NFS-VERS-002") == "passed");  // it offers nothing newer
  CHECK(judged.outcome("NFS-RECOV-010").find("unknown: ") == 0);
  three.more = ",nolock";
  judged = audit(lab, {three});
  CHECK(judged.outcome("NFS-LOCK-001") == "not applicable");
  CHECK(judged.outcome("NFS-PORT-001") == "passed");  // nobody needs its lock manager
  lab.stop_ganesha();

  settings.nlm = true;
  lab.start_ganesha(settings);
  three.more.clear();
  judged = audit(lab, {three});
  CHECK(judged.outcome("NFS-LOCK-001") == "passed");
  CHECK(judged.outcome("NFS-PORT-001") == "warning");
  CHECK(judged.message("NFS-PORT-001").find("nsm") != std::string::npos);
}

TEST_CASE("ganesha judged: NFSv4.0 on a server of 4.2, and NFSv4 without rpcbind") {
  if (skipped()) return;
  Lab lab;
  GaneshaSettings settings;
  settings.protocols = "4";
  lab.start_ganesha(settings);
  Client zero;
  zero.vers = "4.0";
  auto judged = audit(lab, {zero});
  CHECK(judged.outcome("NFS-VERS-002") == "warning");
  CHECK(judged.outcome("NFS-PORT-001") == "passed");  // rpcbind is not needed, and not missed
  CHECK(judged.outcome("NFS-RECOV-004") == "info");
  CHECK(judged.message("NFS-RECOV-004").find("taken to be as long as the lease the server names") != std::string::npos);
  // A 20 s pause: 5 s of grace and up to 15 s until the client tries again.
  CHECK(judged.message("NFS-RECOV-004").find("20 s") != std::string::npos);
  lab.stop_ganesha();

  settings.minors = "1,2";
  settings.slots = 4;
  lab.start_ganesha(settings);
  judged = audit(lab, {Client{}});
  CHECK(judged.outcome("NFS-VERS-002") == "not applicable");
  CHECK(judged.outcome("NFS-PORT-001") == "passed");
  CHECK(judged.outcome("NFS-TRUNK-001") == "passed");
  CHECK(judged.server().at("session").at("slots").as_int64() == 4);
  CHECK(judged.server().at("rtmax_bytes").is_null());
}

TEST_CASE("ganesha judged: IPv6, a port that only rpcbind names, and two addresses of one server") {
  if (skipped()) return;
  Lab lab;
  lab.start_rpcbind();
  lab.start_statd();
  lab.start_ganesha({});
  Client six;
  six.addr = "::1";
  six.vers = "3";
  auto judged = audit(lab, {six});
  CHECK(judged.outcome("NFS-PORT-001") == "passed");
  CHECK(judged.outcome("NFS-LOCK-001") == "passed");
  Client odd;
  odd.vers = "3";
  odd.port = false;  // as the kernel prints it for a port that rpcbind named
  judged = audit(lab, {odd});
  CHECK(judged.outcome("NFS-PORT-001") == "passed");
  CHECK(judged.outcome("NFS-VERS-002") == "notice");
  Client one;
  one.vers = "4.1";
  Client two = one;
  two.addr = "127.0.0.2";
  judged = audit(lab, {one, two});
  CHECK(judged.outcome("NFS-TRUNK-001") == "info");
  CHECK(judged.server(0).at("trunkable").as_array().size() == 1);
  CHECK(audit(lab, {one}).outcome("NFS-TRUNK-001") == "passed");
}

TEST_CASE("ganesha judged: a server that came back is in grace, one that is gone is an error, each unknown says why") {
  if (skipped()) return;
  Lab lab;
  lab.start_rpcbind();
  GaneshaSettings settings;
  settings.graceless = false;
  lab.start_ganesha(settings);
  const auto grace = audit(lab, {Client{}});
  CHECK(grace.outcome("NFS-RECOV-010") == "warning");
  lab.stop_ganesha();
  const auto gone = audit(lab, {Client{}});
  CHECK(gone.code == 1);
  CHECK(gone.outcome("NFS-RECOV-005") == "error");  // a mount that does not answer; the port is not told twice
  CHECK(gone.outcome("NFS-TRUNK-001").find("connection refused") != std::string::npos);
  CHECK(gone.outcome("NFS-RECOV-010").find("connection refused") != std::string::npos);
}

TEST_CASE("ganesha judged: mountaudit probe with a lock test, a file read, and none of both without consent") {
  if (skipped()) return;
  Lab lab;
  lab.start_rpcbind();
  lab.start_statd();
  lab.start_ganesha({});
  const std::string url = "probe 'nfs://127.0.0.1:20490/export' ";
  auto judged = run_in(lab, url + "--lock-test --allow-write . --read-file file");
  CHECK(judged.code == 0);
  CHECK(judged.server().at("lock_tests").as_array().size() == 2);
  CHECK(judged.server().at("lock_tests").at(0).at("result").as_string() == "ok");
  CHECK(judged.server().at("read_test").at("result").as_string() == "ok");
  CHECK(judged.outcome("NFS-LOCK-010") == "passed");
  CHECK(judged.outcome("NFS-READ-001") == "passed");
  CHECK(lab.exported_files() == std::vector<std::string>{"file"});
  judged = run_in(lab, url + "--read-file nosuch");
  CHECK(judged.code == 1);
  CHECK(judged.outcome("NFS-READ-001") == "error");
  CHECK(judged.server().at("lock_tests").is_null());
}
