// mountaudit against tgt and istgt on loopback: what a user gets of each kind of target, and that nothing of ours stays
// there.
#include <signal.h>
#include <sys/socket.h>

#include <boost/json.hpp>
#include <catch2/catch.hpp>
#include <chrono>
#include <fstream>
#include <thread>

#include "audit/base/json.h"
#include "audit/snapshot/document.h"
#include "probes/ask_portals.h"
#include "probes/wire/iscsi_session.h"
#include "tests/cli/run.h"
#include "tests/skipped.h"
#include "tests/wire/outcome.h"
#include "tests/wire/peer.h"
#include "tests/wire/target_lab.h"

namespace json = boost::json;
using namespace wire_test;
using test::skipped;
using namespace std::chrono_literals;

namespace {

const std::string plain = "iqn.2024-01.test:plain";
const std::string chap = "iqn.2024-01.test:chap";
constexpr const char* secret = "secretsecret12";
constexpr const char* mutual_secret = "mutualsecret12";

struct Asked {
  test::Ran ran;
  json::value report;
  facts::Facts facts;

  std::string outcome(const std::string& rule) const { return wire_test::outcome(report, rule); }
  std::string messages(const std::string& rule) const {
    std::string all;
    for (const auto& finding : report.at("findings").as_array())
      if (finding.at("rule").as_string() == rule) all += std::string(finding.at("message").as_string()) + "\n";
    return all;
  }
  const facts::IscsiLogin* login(const std::string& target, const std::string& portal = {}) const {
    for (const auto& one : facts.iscsi.portals) {
      if (!one.logins.has_value() || (!portal.empty() && one.id.find(portal) != 0)) continue;
      for (const auto& login : *one.logins)
        if (login.target == target) return &login;
    }
    return nullptr;
  }
  const facts::IscsiTarget* target(const std::string& name) const {
    for (const auto& one : facts.iscsi.targets)
      if (one.name == name) return &one;
    return nullptr;
  }
  const facts::IscsiLun* lun(const std::string& name, const std::string& number) const {
    const auto* found = target(name);
    if (found == nullptr || !found->luns.has_value()) return nullptr;
    for (const auto& lun : *found->luns)
      if (lun.lun == number) return &lun;
    return nullptr;
  }
};

Asked run(const std::vector<std::string>& arguments, const std::map<std::string, std::string>& environment = {}) {
  Asked asked;
  auto words = arguments;
  words.insert(words.end(), {"--format", "json"});
  asked.ran = test::run(words, environment);
  INFO(asked.ran.err);
  auto parsed = base::parse_json(asked.ran.out, "the report");
  REQUIRE(parsed.has_value());
  asked.report = *parsed;
  auto loaded = snapshot::from_json(asked.ran.out, "the report");
  REQUIRE(loaded.has_value());
  asked.facts = std::move(loaded->facts);
  return asked;
}

std::map<std::string, std::string> secrets(const std::string& one, const std::string& mutual = {}) {
  std::map<std::string, std::string> out{{"MOUNTAUDIT_CHAP_SECRET", one}};
  if (!mutual.empty()) out.emplace("MOUNTAUDIT_CHAP_MUTUAL_SECRET", mutual);
  return out;
}

std::string url(const TargetLab& lab, const std::string& rest = {}, const std::string& user = {}) {
  return "iscsi://" + (user.empty() ? "" : user + "@") + lab.portal() + (rest.empty() ? "" : "/" + rest);
}

// tgt takes a moment to forget a session that was logged out.
bool is_free_of_us(const Tgt& tgt) {
  for (int i = 0; i < 40; ++i) {
    if (tgt.connections().find("Initiator") == std::string::npos) return true;
    std::this_thread::sleep_for(50ms);
  }
  UNSCOPED_INFO(tgt.connections());
  return false;
}

void add_chap_target(const Tgt& tgt) {
  tgt.add_target(2, chap);
  tgt.add_lun(2, 1, tgt.image("chap"));
  tgt.admin(std::string("--mode account --op new --user alice --password ") + secret);
  tgt.admin(std::string("--mode account --op new --user target --password ") + mutual_secret);
  tgt.admin("--mode account --op bind --tid 2 --user alice");
  tgt.admin("--mode account --op bind --tid 2 --user target --outgoing");
}

// A node with sessions to a target at these portals, which has LUNs of it as disks: what `audit --from` gets.
facts::Facts node_of(const TargetLab& lab, const std::string& target, const std::vector<int>& hosts,
                     const std::vector<unsigned>& luns, std::int32_t tag = 1) {
  facts::Facts facts;
  facts.node.name = "node-1";
  facts.node.root = "/";
  std::vector<facts::IscsiSession> sessions;
  std::vector<facts::BlockDevice> devices;
  facts::IscsiTarget& own = facts.iscsi.targets.emplace_back();
  own.name = target;
  std::uint32_t sid = 0;
  for (const int host : hosts) {
    auto& portal = facts.iscsi.portals.emplace_back();
    portal.addr = "127.0.0." + std::to_string(host);
    portal.port = lab.port();
    portal.tag = tag;
    portal.id = lab.portal(host) + "," + std::to_string(tag);
    portal.zone = facts::Fact<std::string>::absent();
    auto& session = sessions.emplace_back();
    session.id = target + " " + portal.id + " default";
    session.sid = ++sid;
    session.target = target;
    session.portal = portal.id;
    session.transport = std::string("tcp");
    session.state = std::string("LOGGED_IN");
    session.offload = false;
    portal.sessions = own.sessions = {session.id};
    portal.origins = {"session"};
    portal.targets = {target};
    own.portals.push_back(portal.id);
    for (const unsigned lun : luns) {
      auto& device = devices.emplace_back();
      device.name = "sd" + std::string(1, static_cast<char>('a' + devices.size()));
      device.id = device.name;
      device.kind = "scsi";
      device.session = session.id;
      device.target = target;
      device.portal = portal.id;
      device.lun = lun;
      session.devices.push_back(device.name);
    }
  }
  facts.iscsi.sessions = std::move(sessions);
  facts.block.devices = std::move(devices);
  return facts;
}

Asked audit(const facts::Facts& node, const std::vector<std::string>& more,
            const std::map<std::string, std::string>& environment = {}) {
  test::Scratch scratch;
  const std::string file = scratch.write("node.json", snapshot::to_json(node));
  std::vector<std::string> arguments{"audit", "--from", file, "--ask-servers"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return run(arguments, environment);
}

}  // namespace

TEST_CASE("tgt: a probe of two portals tells parameters and LUNs, and no session of ours stays") {
  if (skipped(Tgt::missing())) return;
  Tgt tgt;
  tgt.add_target(1, plain);
  tgt.add_lun(1, 1, tgt.image("one"));
  tgt.add_lun(1, 2, tgt.image("two"));
  tgt.admin("--mode logicalunit --op update --tid 1 --lun 2 --params readonly=1");
  const Asked asked = run({"probe", url(tgt, plain)});
  REQUIRE(asked.facts.iscsi.portals.size() == 1);  // tgt names the portal that was asked alone
  const auto* login = asked.login(plain);
  REQUIRE(login != nullptr);
  CHECK(login->result == "ok");
  CHECK(login->tag.is(1));
  CHECK(login->auth_method.is("None"));
  CHECK(login->max_connections.is(1));
  CHECK(login->initial_r2t.is(true));
  CHECK(login->immediate_data.is(true));
  CHECK(login->first_burst_len_bytes.is(65536));
  CHECK(login->max_burst_len_bytes.is(262144));
  CHECK(login->header_digest.is("None"));
  CHECK(login->logged_out.is(true));
  REQUIRE(asked.lun(plain, "1") != nullptr);
  CHECK(asked.lun(plain, "1")->type.is("disk"));
  CHECK(asked.lun(plain, "1")->vendor.is("IET"));
  CHECK(asked.lun(plain, "1")->size_bytes.is(std::uint64_t{64} << 20));
  CHECK(asked.lun(plain, "1")->write_protected.is(false));
  CHECK(asked.lun(plain, "1")->thin.is(false));
  REQUIRE(asked.lun(plain, "2") != nullptr);
  CHECK(asked.lun(plain, "2")->write_protected.is(true));
  CHECK(asked.lun(plain, "0")->type.is("controller"));
  REQUIRE(login->luns.has_value());
  CHECK(login->luns->at(1).read_p50_us.has_value());
  CHECK(asked.outcome("ISCSI-LOGIN-001") == "passed");
  CHECK(asked.outcome("ISCSI-PORTAL-001") == "passed");
  CHECK(asked.outcome("ISCSI-LUN-002") == "notice");
  CHECK(asked.messages("ISCSI-LUN-002") == plain + " LUN 2 refuses writes\n");
  CHECK(asked.outcome("ISCSI-LUN-003") == "passed");
  CHECK(is_free_of_us(tgt));
  // The look at the target does see a session that is open.
  wire::iscsi::Session open(*wire::parse_address("127.0.0.1", tgt.port()), {});
  wire::iscsi::LoginOffer offer;
  offer.initiator_name = wire::own_initiator_name;
  offer.target_name = plain;
  offer.isid = wire::iscsi::random_isid();
  REQUIRE(open.connect().has_value());
  REQUIRE(open.login(offer).has_value());
  CHECK(tgt.connections().find(wire::own_initiator_name) != std::string::npos);
  CHECK(open.logout(io::Clock::now() + 2s).has_value());
}

TEST_CASE("tgt: small bursts, InitialR2T both ways, digests") {
  if (skipped(Tgt::missing())) return;
  Tgt tgt;
  tgt.add_target(1, plain);
  tgt.add_lun(1, 1, tgt.image("one"));
  for (const char* setting :
       {"FirstBurstLength --value 4096", "MaxBurstLength --value 16384", "MaxRecvDataSegmentLength --value 4096",
        "InitialR2T --value No", "ImmediateData --value No", "HeaderDigest --value CRC32C", "DataDigest --value CRC32C",
        "MaxOutstandingR2T --value 4"})
    tgt.admin(std::string("--mode target --op update --tid 1 --name ") + setting);
  const Asked asked = run({"probe", url(tgt, plain)});
  const auto* login = asked.login(plain);
  REQUIRE(login != nullptr);
  REQUIRE(login->result == "ok");
  CHECK(login->first_burst_len_bytes.is(4096));
  CHECK(login->max_burst_len_bytes.is(16384));
  CHECK(login->initial_r2t.is(false));
  CHECK(login->immediate_data.is(false));
  CHECK(login->max_outstanding_r2t.is(4));
  CHECK(login->header_digest.is("CRC32C"));
  CHECK(login->data_digest.is("CRC32C"));
  CHECK(asked.outcome("ISCSI-OFFER-002") == "info");
  CHECK(asked.messages("ISCSI-OFFER-002").find("bursts of 4096 and 16384 bytes at most") != std::string::npos);
  CHECK(asked.lun(plain, "1")->size_bytes.is(std::uint64_t{64} << 20));  // read under both digests
  CHECK(is_free_of_us(tgt));
}

TEST_CASE("tgt: CHAP right, wrong and missing, one-way and mutual, and the secrets are nowhere") {
  if (skipped(Tgt::missing())) return;
  Tgt tgt;
  add_chap_target(tgt);
  const Asked missing = run({"probe", url(tgt, chap)});
  CHECK(missing.login(chap)->result == "chap_wanted");
  CHECK(missing.ran.code == 1);
  CHECK(missing.outcome("ISCSI-LOGIN-001") == "info");
  CHECK(missing.messages("ISCSI-LOGIN-001").find("demands CHAP") != std::string::npos);
  const Asked wrong = run({"probe", url(tgt, chap, "alice")}, secrets("wrongwrong12"));
  CHECK(wrong.login(chap)->status.is(0x0201));
  CHECK(wrong.login(chap)->status_text->find("authentication failure") != std::string::npos);
  CHECK(wrong.outcome("ISCSI-LOGIN-001") == "warning");
  CHECK(wrong.messages("ISCSI-LOGIN-001").find("0x0201 authentication failure") != std::string::npos);
  const Asked right = run({"probe", url(tgt, chap, "alice")}, secrets(secret));
  CHECK(right.login(chap)->result == "ok");
  CHECK(right.login(chap)->chap_digest.is("MD5"));
  CHECK(right.login(chap)->target_authenticated.is(false));
  test::Scratch scratch;
  const std::string file = scratch.write("chap", std::string(secret) + "\n" + mutual_secret + "\n");
  const Asked both = run({"probe", "--chap-secret-file", file, "-v", url(tgt, chap, "alice")});
  CHECK(both.login(chap)->target_authenticated.is(true));
  const Asked unknown = run({"probe", url(tgt, "iqn.2024-01.test:nobody")});
  CHECK(unknown.login("iqn.2024-01.test:nobody")->status.is(0x0203));
  CHECK(unknown.outcome("ISCSI-LOGIN-001") == "error");
  CHECK(unknown.messages("ISCSI-LOGIN-001").find("0x0203 not found") != std::string::npos);
  CHECK(is_free_of_us(tgt));
  for (const Asked* asked : {&missing, &wrong, &right, &both}) {
    for (const char* hidden : {secret, mutual_secret, "wrongwrong12", "alice"}) {
      CAPTURE(hidden);
      CHECK(asked->ran.out.find(hidden) == std::string::npos);
      CHECK(asked->ran.err.find(hidden) == std::string::npos);
    }
  }
  const auto text = test::run({"probe", "-v", "--redact", url(tgt, chap, "alice")}, secrets(secret, mutual_secret));
  CHECK(text.out.find("CHAP with MD5, the target as well") != std::string::npos);
  for (const char* hidden : {secret, mutual_secret, "alice", "iqn.2024-01.test:chap"})
    CHECK((text.out + text.err).find(hidden) == std::string::npos);
  // Before anything is sent: a secret on the command line is refused, and not repeated.
  const auto refused = test::run({"probe", url(tgt, chap, std::string("alice:") + secret)});
  CHECK(refused.code == 2);
  CHECK((refused.out + refused.err).find(secret) == std::string::npos);
}

TEST_CASE("tgt: while a login goes on, its secret is in no process list") {
  if (skipped(Tgt::missing())) return;
  Tgt tgt;
  add_chap_target(tgt);
  tgt.signal(SIGSTOP);
  std::string seen;
  std::thread looking([&] {
    std::this_thread::sleep_for(300ms);
    FILE* ps = ::popen("cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' ' '", "r");
    char buffer[4096];
    for (std::size_t got = 0; (got = std::fread(buffer, 1, sizeof buffer, ps)) > 0;) seen.append(buffer, got);
    ::pclose(ps);
  });
  const auto began = std::chrono::steady_clock::now();
  const Asked asked = run({"probe", "--timeout", "1s", url(tgt, chap, "alice")}, secrets(secret, mutual_secret));
  looking.join();
  CHECK(std::chrono::steady_clock::now() - began < 10s);
  CHECK(seen.find("probe --timeout 1s") != std::string::npos);
  CHECK(seen.find(secret) == std::string::npos);
  CHECK(seen.find(mutual_secret) == std::string::npos);
  CHECK(asked.login(chap)->result == "silent");
  CHECK(asked.outcome("ISCSI-LOGIN-001") == "error");
  CHECK(asked.ran.code == 1);
}

TEST_CASE("tgt: an audit connects to the portals of sessions, and logs in with --login alone") {
  if (skipped(Tgt::missing())) return;
  Tgt tgt;
  tgt.add_target(1, plain);
  tgt.add_lun(1, 1, tgt.image("one"));
  tgt.add_lun(1, 2, tgt.image("two"));
  const auto node = node_of(tgt, plain, {1, 2}, {1, 2});
  const Asked touched = audit(node, {});
  REQUIRE(touched.facts.iscsi.portals.size() == 2);
  for (const auto& portal : touched.facts.iscsi.portals) {
    CHECK(portal.reachable.is(true));
    CHECK(portal.connect_ms.has_value());
    CHECK(portal.logins.is_unknown());
    CHECK(portal.discovery.is_absent());
  }
  CHECK(touched.outcome("ISCSI-PORTAL-001") == "passed");
  CHECK(touched.outcome("ISCSI-LUN-001") == "not applicable");
  const Asked before = audit(node, {"--login"});
  CHECK(before.login(plain, tgt.portal(1))->result == "ok");
  CHECK(before.login(plain, tgt.portal(2))->result == "ok");
  CHECK(before.lun(plain, "1")->portals.size() == 2);
  for (const auto& path : *before.login(plain)->luns) CHECK_FALSE(path.gone.is(true));
  CHECK(before.outcome("ISCSI-LUN-001") == "passed");
  // A LUN that the node has and the target has no more.
  tgt.admin("--mode logicalunit --op delete --tid 1 --lun 2");
  const Asked after = audit(node, {"--login"});
  const auto* login = after.login(plain);
  REQUIRE(login->luns.has_value());
  const auto gone =
      std::find_if(login->luns->begin(), login->luns->end(), [](const auto& lun) { return lun.lun == "2"; });
  REQUIRE(gone != login->luns->end());
  CHECK(gone->gone.is(true));
  CHECK(gone->listed.is(false));
  CHECK(after.outcome("ISCSI-LUN-001") == "warning");
  CHECK(after.messages("ISCSI-LUN-001").find(plain + " LUN 2 is gone") == 0);
  CHECK(is_free_of_us(tgt));
  // An initiator that the target does not know, and one that it does.
  tgt.admin("--mode target --op unbind --tid 1 --initiator-address ALL");
  tgt.admin("--mode target --op bind --tid 1 --initiator-name iqn.2024-01.test:node");
  const Asked strange = audit(node, {"--login"});
  REQUIRE(strange.login(plain) != nullptr);
  CHECK(strange.login(plain)->result == "login_status");
  CHECK(strange.login(plain)->status.value_or(0) >> 8 == 2);
  CHECK(strange.outcome("ISCSI-LOGIN-001") == "info");
  const Asked known = audit(node, {"--login", "--initiator", "iqn.2024-01.test:node"});
  CHECK(known.login(plain)->result == "ok");
  CHECK(known.login(plain)->initiator.is("iqn.2024-01.test:node"));
  CHECK(known.login(plain)->isid->starts_with("80"));
  CHECK(known.outcome("ISCSI-LOGIN-001") == "passed");
  CHECK(is_free_of_us(tgt));
  // A second portal of the target that the node does not know of, and one that is gone.
  auto lost = node_of(tgt, plain, {1, 3}, {1});
  const Asked dead = audit(lost, {});
  CHECK(dead.outcome("ISCSI-PORTAL-001") == "error");
  CHECK(dead.messages("ISCSI-PORTAL-001").find(tgt.portal(3)) == 0);
  CHECK(dead.ran.code == 1);
}

TEST_CASE("tgt: a portal that dies in the middle leaves what was learned, and ends in time") {
  if (skipped(Tgt::missing())) return;
  Tgt tgt;
  tgt.add_target(1, plain);
  tgt.add_lun(1, 1, tgt.image("one"));
  // In between, a relay that goes away after so many bytes of answers.
  for (const std::size_t most : {100U, 500U, 1500U, 6000U}) {
    Peer relay([&](Peer& peer, int fd) {
      const int up = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
      const auto to = wire::parse_address("127.0.0.1", tgt.port());
      if (::connect(up, reinterpret_cast<const sockaddr*>(&to->storage), to->size) == 0) {
        std::thread forward([&] {
          std::uint8_t bytes[4096];
          for (ssize_t got = 0; (got = ::recv(fd, bytes, sizeof bytes, 0)) > 0;)
            if (::send(up, bytes, static_cast<std::size_t>(got), MSG_NOSIGNAL) < 0) break;
          ::shutdown(up, SHUT_RDWR);
        });
        std::size_t done = 0;
        std::uint8_t bytes[4096];
        for (ssize_t got = 0; done < most && (got = ::recv(up, bytes, sizeof bytes, 0)) > 0;) {
          const std::size_t part = std::min<std::size_t>(static_cast<std::size_t>(got), most - done);
          Peer::send_all(fd, {bytes, part});
          done += part;
        }
        ::shutdown(fd, SHUT_RDWR);
        ::shutdown(up, SHUT_RDWR);
        forward.join();
      }
      ::close(up);
      (void)peer;
    });
    wire::IscsiPortalTarget portal;
    portal.name = portal.addr = "127.0.0.1";
    portal.port = relay.port();
    portal.logins = {{plain, {}}};
    wire::IscsiOptions options;
    options.deadline = 5s;
    facts::Facts facts;
    const auto began = std::chrono::steady_clock::now();
    probes::join_iscsi_answers(facts, wire::ask_iscsi({portal}, options), "user");
    CAPTURE(most);
    CHECK(std::chrono::steady_clock::now() - began < 3s);
    REQUIRE(facts.iscsi.portals.size() == 1);
    const auto& login = facts.iscsi.portals[0].logins->front();
    if (login.result == "ok") {
      CHECK(login.logged_out.is(false));
      const bool told = std::any_of(facts.sources.begin(), facts.sources.end(), [](const facts::Source& row) {
        return row.id == "iscsi_target.luns" && row.detail.find("closed") == 0;
      });
      CHECK(told);
    } else {
      CHECK(login.result.find("closed") == 0);
    }
  }
  CHECK(is_free_of_us(tgt));
}

TEST_CASE("istgt: port groups, ALUA, several connections, digests and CHAP") {
  if (skipped(Istgt::missing())) return;
  Istgt istgt({{"disk", "None", "Auto"}, {"chap", "CHAP Mutual", "Header Data"}});
  const std::string disk = std::string(Istgt::base) + ":disk";
  const Asked asked = run({"probe", url(istgt, disk), "--timeout", "5s", "--deadline", "20s"});
  REQUIRE(asked.facts.iscsi.portals.size() == 2);
  const auto* one = asked.login(disk, istgt.portal(1));
  const auto* two = asked.login(disk, istgt.portal(2));
  REQUIRE(one != nullptr);
  REQUIRE(two != nullptr);
  CHECK(one->result == "ok");
  CHECK(one->tag.is(1));
  CHECK(two->tag.is(2));
  CHECK(one->max_connections.is(4));
  CHECK(one->max_outstanding_r2t.is(8));
  CHECK(one->first_burst_len_bytes.is(8192));
  CHECK(one->max_burst_len_bytes.is(65536));
  CHECK(one->initial_r2t.is(true));
  CHECK(one->alias.is("alias of disk"));
  CHECK(one->header_digest.is("CRC32C"));
  CHECK(one->data_digest.is("CRC32C"));
  CHECK(asked.target(disk)->offered_portals->size() == 2);
  CHECK(asked.outcome("ISCSI-OFFER-002") == "info");
  CHECK(asked.messages("ISCSI-OFFER-002").find("offers 4 connections in one session; open-iscsi makes one") !=
        std::string::npos);
  CHECK(asked.outcome("ISCSI-ALUA-001") == "passed");
  CHECK(asked.outcome("ISCSI-PORTAL-002") == "passed");
  // A node that knows one of the two portals alone.
  const Asked half = audit(node_of(istgt, disk, {1}, {0}), {"--login", "--timeout", "5s", "--deadline", "20s"});
  CHECK(half.outcome("ISCSI-PORTAL-002") == "warning");
  CHECK(half.messages("ISCSI-PORTAL-002").find(disk + " offers " + istgt.portal(2) + ",2, which answers") == 0);
  const auto* lun = asked.lun(disk, "0");
  REQUIRE(lun != nullptr);
  CHECK(lun->vendor.is("ACME"));
  CHECK(lun->portals.size() == 2);
  REQUIRE(lun->port_groups.has_value());
  CHECK(lun->port_groups->size() == 2);
  CHECK(one->luns->front().group.is(1));
  CHECK(two->luns->front().group.is(2));
  CHECK(one->luns->front().state.is("active/optimized"));
  CHECK(one->luns->front().wwid == two->luns->front().wwid);

  const std::string secured = std::string(Istgt::base) + ":chap";
  const Asked right = run({"probe", url(istgt, secured, "alice"), "--timeout", "5s", "--deadline", "20s"},
                          secrets(secret, mutual_secret));
  REQUIRE(right.login(secured) != nullptr);
  CHECK(right.login(secured)->result == "ok");
  CHECK(right.login(secured)->target_authenticated.is(true));
  CHECK(right.login(secured)->header_digest.is("CRC32C"));
  CHECK(right.login(secured)->data_digest.is("CRC32C"));
  CHECK(right.login(secured)->luns->front().read_p50_us.has_value());  // under both digests
  const Asked wrong =
      run({"probe", url(istgt, secured, "alice"), "--timeout", "5s", "--deadline", "20s"}, secrets("wrongwrong12"));
  CHECK(wrong.login(secured)->result != "ok");
  INFO(istgt.connections());
  CHECK(istgt.connections().find(wire::own_initiator_name) == std::string::npos);
  wire::iscsi::Limits limits;
  limits.timeout = 5s;
  wire::iscsi::Session open(*wire::parse_address("127.0.0.1", istgt.port()), limits);
  wire::iscsi::LoginOffer offer;
  offer.initiator_name = wire::own_initiator_name;
  offer.target_name = disk;
  offer.isid = wire::iscsi::random_isid();
  REQUIRE(open.connect().has_value());
  REQUIRE(open.login(offer).has_value());
  CHECK(istgt.connections().find(wire::own_initiator_name) != std::string::npos);
  CHECK(open.logout(io::Clock::now() + 5s).has_value());
}
