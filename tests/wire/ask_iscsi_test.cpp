// Portals in, facts out: against targets that behave and targets that do not, in the same process.
#include <sys/resource.h>

#include <catch2/catch.hpp>
#include <chrono>

#include "audit/snapshot/document.h"
#include "probes/ask_portals.h"
#include "probes/wire/ask_iscsi.h"
#include "tests/wire/fake_target.h"

using namespace wire;
using namespace wire::iscsi;
using namespace wire_test;
using namespace std::chrono_literals;

namespace {

const std::string disk = FakeTargetSettings::name;

IscsiPortalTarget portal_at(const Address& address, bool discover = true) {
  IscsiPortalTarget portal;
  portal.name = portal.addr = address.host();
  portal.port = address.port();
  portal.discover = discover;
  return portal;
}

IscsiOptions options(io::Duration deadline = 5s) {
  IscsiOptions made;
  made.timeout = 500ms;
  made.deadline = deadline;
  made.follow = true;
  return made;
}

facts::Facts joined(IscsiAnswers answers) {
  facts::Facts facts;
  probes::join_iscsi_answers(facts, std::move(answers), "user");
  return facts;
}

facts::Facts asked(const FakeTarget& target, const IscsiOptions& with = options()) {
  return joined(ask_iscsi({portal_at(target.address())}, with));
}

const facts::IscsiLogin& only_login(const facts::Facts& facts) {
  REQUIRE(facts.iscsi.portals.size() == 1);
  REQUIRE(facts.iscsi.portals[0].logins.has_value());
  REQUIRE(facts.iscsi.portals[0].logins->size() == 1);
  return facts.iscsi.portals[0].logins->front();
}

// A login that is answered with a redirection.
FakeTargetSettings redirecting(const std::function<std::string()>& to) {
  FakeTargetSettings settings;
  settings.intercept = [to](TargetTalk& talk, const Pdu& request) {
    const auto keys = decode_text(request.data);
    if (!request.is(Opcode::login_request) || !keys) return false;
    const auto* type = find(*keys, "SessionType");
    if (type == nullptr || *type != "Normal") return false;
    Pdu out = talk.response(Opcode::login_response, request);
    out.set_u16(36, 0x0101);
    out.data = encode_text({{"TargetAddress", to()}});
    talk.send(out);
    return true;
  };
  return settings;
}

const facts::Source* row_of(const facts::Facts& facts, const std::string& id) {
  for (const auto& row : facts.sources)
    if (row.id == id) return &row;
  return nullptr;
}

}  // namespace

TEST_CASE("ask iscsi: a target with everything is described, and nothing of ours is left") {
  FakeTarget target;
  const auto facts = asked(target);
  const auto& login = only_login(facts);
  const auto& portal = facts.iscsi.portals[0];
  CHECK(portal.id == target.text() + ",1");
  CHECK(portal.origins == std::vector<std::string>{"user", "discovery"});
  CHECK(portal.reachable.is(true));
  CHECK(portal.connect_result.is("ok"));
  CHECK(portal.connect_ms.has_value());
  REQUIRE(portal.discovery.has_value());
  CHECK(portal.discovery->result == "ok");
  CHECK(portal.discovery->targets == std::vector<std::string>{disk});
  CHECK(portal.discovery->logged_out.is(true));
  CHECK(login.result == "ok");
  CHECK(login.status.is(0));
  CHECK(login.tag.is(1));
  CHECK(login.alias.is("fake"));
  CHECK(login.auth_method.is("None"));
  CHECK(login.chap_digest.is_absent());
  CHECK(login.max_connections.is(4));
  CHECK(login.initial_r2t.is(true));
  CHECK(login.immediate_data.is(true));
  CHECK(login.first_burst_len_bytes.is(65536));
  CHECK(login.max_burst_len_bytes.is(262144));
  CHECK(login.max_outstanding_r2t.is(8));
  CHECK(login.max_recv_dlength_bytes.is(65536));
  CHECK(login.erl.is(0));
  CHECK(login.header_digest.is("CRC32C"));
  CHECK(login.data_digest.is("None"));
  CHECK(login.initiator.is(own_initiator_name));
  CHECK(login.isid->starts_with("80"));
  CHECK(login.logged_out.is(true));
  CHECK(login.nop_p50_us.has_value());
  REQUIRE(login.luns.has_value());
  REQUIRE(login.luns->size() == 1);
  const auto& path = login.luns->front();
  CHECK(path.lun == "0");
  CHECK(path.result == "ok");
  CHECK(path.listed.is(true));
  CHECK(path.gone.is(false));
  CHECK(path.wwid.is("naa.6001405aabbccdd00112233445566778"));
  CHECK(path.group.is(1));
  CHECK(path.port.is(1));
  CHECK(path.state.is("active/optimized"));
  CHECK(path.ready.is("ok"));
  CHECK(path.tur_p50_us.has_value());
  CHECK(path.reads.is(15));
  REQUIRE(facts.iscsi.targets.size() == 1);
  const auto& described = facts.iscsi.targets[0];
  REQUIRE(described.offered_portals.has_value());
  CHECK(described.offered_portals->front().portal == portal.id);
  CHECK(described.offered_portals->front().told_by == portal.id);
  REQUIRE(described.luns.has_value());
  REQUIRE(described.luns->size() == 1);
  const auto& lun = described.luns->front();
  CHECK(lun.number.is(0));
  CHECK(lun.type.is("disk"));
  CHECK(lun.vendor.is("ACME"));
  CHECK(lun.serial.is("SERIAL0001"));
  CHECK(lun.size_bytes.is(std::uint64_t{64} << 20));
  CHECK(lun.block_bytes.is(512));
  CHECK(lun.physical_block_bytes.is(4096));
  CHECK(lun.lowest_aligned_bytes.is(0));
  CHECK(lun.thin.is(true));
  CHECK(lun.unmap.is(true));
  CHECK(lun.provisioning.is("thin"));
  CHECK(lun.rotation_rate.is(1));
  CHECK(lun.write_protected.is(false));
  CHECK(lun.alua.is("implicit"));
  CHECK(lun.maximum_transfer_bytes.is(std::uint64_t{16384} * 512));
  CHECK(lun.unmap_granularity_bytes.is(4096));
  REQUIRE(lun.port_groups.has_value());
  CHECK(lun.port_groups->front().state == "active/optimized");
  CHECK(lun.portals == std::vector<std::string>{portal.id});
  CHECK(target.state().sessions == 0);
  CHECK(target.state().dropped == 0);
  CHECK(target.state().writes == 0);
  for (const auto& isid : target.state().isids) CHECK(isid[0] == 0x80);
  for (const char* id : {"iscsi_target.connect", "iscsi_target.discovery", "iscsi_target.login", "iscsi_target.luns"}) {
    CAPTURE(id);
    REQUIRE(row_of(facts, id) != nullptr);
    CHECK(row_of(facts, id)->status == "ok");
  }
  const auto again = snapshot::from_json(snapshot::to_json(facts), "test");
  REQUIRE(again);
  CHECK(again->facts == facts);
}

TEST_CASE("ask iscsi: a connect alone logs in nowhere") {
  FakeTarget target;
  const auto facts = joined(ask_iscsi({portal_at(target.address(), false)}, options()));
  REQUIRE(facts.iscsi.portals.size() == 1);
  const auto& portal = facts.iscsi.portals[0];
  CHECK(portal.reachable.is(true));
  CHECK(portal.connect_ms.has_value());
  CHECK(portal.discovery.is_absent());
  CHECK(portal.logins.is_unknown());
  CHECK(target.state().initiators.empty());
  CHECK(target.state().logins == 0);
}

TEST_CASE("ask iscsi: CHAP right, wrong and missing") {
  FakeTargetSettings settings;
  settings.user = "alice";
  settings.secret = "secretsecret12";
  settings.mutual_secret = "mutualsecret12";
  FakeTarget target(settings);
  IscsiOptions with = options();
  with.only_target = disk;
  const auto missing = asked(target, with);
  CHECK(only_login(missing).result == "chap_wanted");
  with.chap = ChapSecrets{"alice", "wrongwrong12", ""};
  const auto wrong = asked(target, with);
  CHECK(only_login(wrong).result == "login_status");
  CHECK(only_login(wrong).status.is(0x0201));
  CHECK(only_login(wrong).status_text->find("authentication failure") != std::string::npos);
  with.chap = ChapSecrets{"alice", "secretsecret12", "mutualsecret12"};
  const auto right = asked(target, with);
  CHECK(only_login(right).result == "ok");
  CHECK(only_login(right).auth_method.is("CHAP"));
  CHECK(only_login(right).chap_digest.is("MD5"));
  CHECK(only_login(right).target_authenticated.is(true));
  with.chap->mutual_secret = "othersecret12";
  CHECK(only_login(asked(target, with)).result == "target_not_authenticated");
  for (const auto* facts : {&missing, &wrong, &right}) {
    const std::string text = snapshot::to_json(*facts);
    for (const char* secret : {"secretsecret12", "wrongwrong12", "mutualsecret12", "alice"}) {
      CAPTURE(secret);
      CHECK(text.find(secret) == std::string::npos);
    }
  }
  CHECK(target.state().sessions == 0);
}

TEST_CASE("ask iscsi: a redirection is followed, one in circles ends with its name") {
  FakeTarget end;
  FakeTarget first(redirecting([&] { return end.text() + ",1"; }));
  IscsiOptions with = options();
  with.only_target = disk;
  const auto facts = asked(first, with);
  REQUIRE(facts.iscsi.portals.size() == 2);
  const auto& from = facts.iscsi.portals[0].logins->front();
  CHECK(from.result == "login_status");
  CHECK(from.status.is(0x0101));
  CHECK(from.redirected_to.is(end.text() + ",1"));
  CHECK(facts.iscsi.portals[1].id == end.text() + ",1");
  CHECK(facts.iscsi.portals[1].logins->front().result == "ok");
  CHECK(facts.iscsi.targets[0].luns->front().portals == std::vector<std::string>{end.text() + ",1"});
  CHECK(end.state().sessions == 0);

  std::string other;
  FakeTarget one(redirecting([&] { return other; }));
  FakeTarget two(redirecting([&] { return one.text(); }));
  other = two.text();
  const auto circle = asked(one, with);
  REQUIRE(circle.iscsi.portals.size() == 2);
  CHECK(circle.iscsi.portals[1].logins->back().result == "redirect_loop");
  CHECK(circle.iscsi.portals[1].logins->back().detail->find("2 redirections") == 0);
}

TEST_CASE("ask iscsi: a LUN that vanished, one that was asked for by number, and one that is write protected") {
  FakeTargetSettings settings;
  settings.lun_vanishes = true;
  FakeTarget gone(settings);
  const auto facts = asked(gone);
  const auto& path = only_login(facts).luns->front();
  CHECK(path.result == "scsi_status");
  CHECK(path.gone.is(true));
  CHECK(path.listed.is(true));
  CHECK(path.sense.is(0x052500));
  CHECK(path.detail->find("logical unit not supported") != std::string::npos);
  CHECK(facts.iscsi.targets[0].luns->empty());

  settings = {};
  settings.read_only = true;
  FakeTarget there(settings);
  IscsiPortalTarget portal = portal_at(there.address());
  portal.logins = {{disk, {"7", "0"}}};
  IscsiOptions with = options();
  with.follow = false;
  const auto both = joined(ask_iscsi({portal}, with));
  const auto& paths = *only_login(both).luns;
  REQUIRE(paths.size() == 2);
  CHECK(paths[0].result == "ok");
  CHECK(paths[1].lun == "7");
  CHECK(paths[1].listed.is(false));
  CHECK(paths[1].gone.is(true));
  REQUIRE(both.iscsi.targets[0].luns->size() == 1);
  CHECK(both.iscsi.targets[0].luns->front().write_protected.is(true));
}

TEST_CASE("ask iscsi: portals that lead nowhere cost themselves alone") {
  FakeTargetSettings settings;
  FakeTarget alive;
  ClosedPort closed;
  settings.portals = {alive.text() + ",1", "[fe80::1]:3260,2", closed.address().text() + ",3"};
  FakeTarget teller(settings);
  const auto facts = asked(teller);
  REQUIRE(facts.iscsi.targets.size() == 1);
  CHECK(facts.iscsi.targets[0].offered_portals->size() == 3);
  REQUIRE(facts.iscsi.portals.size() == 4);  // who told of them does not name itself
  const auto& zoneless = facts.iscsi.portals[2];
  CHECK(zoneless.id == "[fe80::1]:3260,2");
  CHECK(zoneless.link_local);
  CHECK(zoneless.zone.is_absent());
  CHECK(zoneless.reachable.is(false));
  CHECK(zoneless.connect_result.is("no_zone"));
  CHECK(zoneless.origins == std::vector<std::string>{"discovery"});
  const auto& refused = facts.iscsi.portals[3];
  CHECK(refused.reachable.is(false));
  CHECK(refused.connect_result.is("refused"));
  CHECK(refused.logins->front().result == "refused");
  CHECK(facts.iscsi.portals[1].logins->front().result == "ok");
  CHECK(alive.state().sessions == 0);
}

TEST_CASE("ask iscsi: a target that dies in the middle leaves what was learned") {
  FakeTargetSettings settings;
  auto commands = std::make_shared<std::atomic<int>>(0);
  settings.intercept = [commands](TargetTalk& talk, const Pdu& request) {
    if (!request.is(Opcode::scsi_command) || ++*commands < 8) return false;
    ::shutdown(talk.fd, 2);
    return true;
  };
  FakeTarget target(settings);
  const auto facts = asked(target);
  const auto& login = only_login(facts);
  CHECK(login.result == "ok");
  CHECK(login.logged_out.is(false));
  CHECK(login.max_connections.is(4));
  REQUIRE(login.luns.has_value());
  CHECK(login.luns->front().result == "closed");
  CHECK(login.luns->front().wwid.has_value());
  CHECK(row_of(facts, "iscsi_target.luns")->detail.find("closed") == 0);
}

TEST_CASE("ask iscsi: silent targets end by the deadline and cost hardly any CPU time") {
  FakeTargetSettings settings;
  settings.intercept = [](TargetTalk&, const Pdu&) { return true; };
  std::vector<std::unique_ptr<FakeTarget>> targets;
  std::vector<IscsiPortalTarget> portals;
  for (int i = 0; i < 24; ++i) {
    targets.push_back(std::make_unique<FakeTarget>(settings));
    portals.push_back(portal_at(targets.back()->address()));
  }
  IscsiOptions with = options(3s);
  with.timeout = 1500ms;
  rusage before = {}, after = {};
  ::getrusage(RUSAGE_SELF, &before);
  const auto began = io::Clock::now();
  const auto facts = joined(ask_iscsi(portals, with));
  const auto took = io::Clock::now() - began;
  ::getrusage(RUSAGE_SELF, &after);
  CHECK(took < 4s);
  REQUIRE(facts.iscsi.portals.size() == 24);
  for (const auto& portal : facts.iscsi.portals) {
    CHECK(portal.reachable.is(true));
    REQUIRE(portal.discovery.has_value());
    CHECK(portal.discovery->result == "silent");
  }
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  const double cpu =
      seconds(after.ru_utime) - seconds(before.ru_utime) + seconds(after.ru_stime) - seconds(before.ru_stime);
  // One thread that spins would use all of the wall time, 24 of them more than that.
  CHECK(cpu < 0.2 * std::chrono::duration<double>(took).count());
}

TEST_CASE("ask iscsi: answers join the portal that the node knows, and survive the captured tree") {
  FakeTarget target;
  facts::Facts facts;
  facts::IscsiPortal known;
  known.addr = target.address().host();
  known.port = target.address().port();
  known.id = target.text() + ",1";
  known.tag = 1;
  known.zone = facts::Fact<std::string>::absent();
  known.sessions = {disk + " " + known.id + " default"};
  known.origins = {"session"};
  facts.iscsi.portals.push_back(known);
  facts::IscsiSession session;
  session.id = known.sessions.front();
  session.target = disk;
  session.portal = known.id;
  facts.iscsi.sessions = std::vector<facts::IscsiSession>{session};
  facts::BlockDevice device;
  device.name = "sdb";
  device.session = session.id;
  device.lun = 3;
  facts.block.devices = std::vector<facts::BlockDevice>{device};

  const auto touched = probes::portals_of(facts, false);
  REQUIRE(touched.size() == 1);
  CHECK_FALSE(touched[0].discover);
  CHECK(touched[0].logins.empty());
  const auto wanted = probes::portals_of(facts, true);
  REQUIRE(wanted.size() == 1);
  REQUIRE(wanted[0].logins.size() == 1);
  CHECK(wanted[0].logins[0].luns == std::vector<std::string>{"3"});
  IscsiOptions with = options();
  with.follow = false;
  probes::join_iscsi_answers(facts, ask_iscsi(wanted, with), "session");
  REQUIRE(facts.iscsi.portals.size() == 1);
  CHECK(facts.iscsi.portals[0].id == known.id);
  CHECK(facts.iscsi.portals[0].sessions == known.sessions);
  REQUIRE(facts.iscsi.portals[0].logins.has_value());
  CHECK(facts.iscsi.portals[0].logins->front().luns->back().gone.is(true));

  facts::Facts saved, replayed;
  probes::copy_iscsi_answers(facts, saved);
  replayed.iscsi.portals.push_back(known);
  replayed.iscsi.sessions = facts.iscsi.sessions;
  probes::join_saved_iscsi_answers(replayed, saved);
  CHECK(replayed.iscsi == facts.iscsi);

  facts.iscsi.sessions->front().offload = true;
  CHECK(probes::portals_of(facts, true).empty());
}

TEST_CASE("iscsi url: user, host, port, target and LUN, and what is wrong with others") {
  auto url = parse_iscsi_url("iscsi://alice@[::1]:3261/iqn.2024-01.test:disk/7");
  REQUIRE(url);
  CHECK(url->user == "alice");
  CHECK(url->portal.addr == "::1");
  CHECK(url->portal.port == 3261);
  CHECK(url->target == "iqn.2024-01.test:disk");
  CHECK(url->lun == "7");
  CHECK(url->shown == "iscsi://[::1]:3261/iqn.2024-01.test:disk/7");
  url = parse_iscsi_url("iscsi://san.example.com");
  REQUIRE(url);
  CHECK(url->portal.name == "san.example.com");
  CHECK(url->portal.addr.empty());
  CHECK(url->portal.port == 3260);
  CHECK(url->target.empty());
  CHECK(parse_iscsi_url("iscsi://h/iqn.2024-01.test:a%3ab")->target == "iqn.2024-01.test:a:b");
  for (const char* bad :
       {"", "iscsi:", "iscsi://", "iscsi://@h", "nfs://h", "iscsi://h:0", "iscsi://h:x", "iscsi://h/disk",
        "iscsi://h/iqn.", "iscsi://h/iqn.2024-01.test:a b", "iscsi://h/iqn.2024-01.test:a/x",
        "iscsi://h/iqn.2024-01.test:a/16384", "iscsi://h/iqn.2024-01.test:a/0x1", "iscsi://u@2001:db8::1/x",
        "iscsi://h/%zz", "iscsi://alice:hidden@h", "iscsi://alice%hidden@h", "iscsi://alice:hid/den@h"}) {
    CAPTURE(bad);
    const auto wrong = parse_iscsi_url(bad);
    REQUIRE_FALSE(wrong);
    CHECK(wrong.error().kind == base::ErrorKind::usage);
    CHECK(base::to_text(wrong.error()).find("hid") == std::string::npos);
  }
}
