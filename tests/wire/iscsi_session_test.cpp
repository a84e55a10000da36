// Login, questions and logout against targets that behave and targets that do not. Every hostile one ends by the
// deadline with a named reason.
#include <sys/resource.h>
#include <sys/socket.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <thread>

#include "probes/wire/iscsi_session.h"
#include "probes/wire/scsi.h"
#include "tests/wire/fake_target.h"

using namespace wire;
using namespace wire::iscsi;
using namespace wire_test;
using namespace std::chrono_literals;

namespace {

using Intercept = std::function<bool(TargetTalk&, const Pdu&)>;

Limits limits(io::Duration timeout = 400ms) {
  Limits made;
  made.timeout = timeout;
  made.end = io::Clock::now() + 5s;
  return made;
}

LoginOffer offer(const std::string& target = FakeTargetSettings::name) {
  LoginOffer made;
  made.initiator_name = "iqn.2024-01.test:mountaudit";
  made.target_name = target;
  made.isid = random_isid();
  return made;
}

LoginOffer login_with(const std::string& secret, const std::string& mutual = {}) {
  LoginOffer made = offer();
  made.chap = ChapSecrets{"alice", secret, mutual};
  return made;
}

// All that is asked of a path, up to the first failure.
Outcome<void> talk(Session& session, const LoginOffer& login) {
  if (auto done = session.connect(); !done) return done;
  if (auto done = session.login(login); !done) return done;
  if (login.target_name.empty()) {
    if (auto done = session.send_targets(); !done) return tl::unexpected(done.error());
  } else {
    if (auto done = session.command({}, scsi::report_luns(4096), 4096); !done) return tl::unexpected(done.error());
    if (auto done = session.ping(); !done) return tl::unexpected(done.error());
    if (auto done = session.command({}, scsi::read16(8, 8), 4096); !done) return tl::unexpected(done.error());
  }
  return session.logout(io::Clock::now() + 400ms);
}

std::string reason_of(const Outcome<void>& outcome) { return outcome ? "none" : reason_name(outcome.error().reason); }

Pdu login_response(TargetTalk& talk, const Pdu& request, std::uint8_t flags, const TextKeys& keys,
                   std::uint16_t status = 0) {
  Pdu out = talk.response(Opcode::login_response, request);
  out.head[1] = flags;
  out.set_u16(36, status);
  out.data = encode_text(keys);
  return out;
}

Intercept on(Opcode opcode, std::function<void(TargetTalk&, const Pdu&)> answer) {
  return [opcode, answer](TargetTalk& talk, const Pdu& request) {
    if (!request.is(opcode)) return false;
    answer(talk, request);
    return true;
  };
}

void end(TargetTalk& talk) { ::shutdown(talk.fd, SHUT_RDWR); }

double cpu_ms() {
  rusage usage = {};
  ::getrusage(RUSAGE_THREAD, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e3 +
         static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e3;
}

}  // namespace

TEST_CASE("session: a login tells every key, and nothing is left after the logout") {
  FakeTarget target;
  Session session(target.address(), limits(2s));
  CHECK(reason_of(talk(session, offer())) == "none");
  const auto& result = session.login_result();
  CHECK(result.complete);
  CHECK(result.tag == 1);
  CHECK(result.alias == std::string("fake"));
  CHECK(result.auth_method == std::string("None"));
  CHECK(result.digests == Digests{true, false});
  CHECK(result.max_send_bytes == 65536);
  CHECK(result.exchanges == 2);
  const auto row = [&](const std::string& key) {
    for (const auto& item : result.keys)
      if (item.key == key) return item.offered.value_or("-") + " -> " + item.answer.value_or("-");
    return std::string("missing");
  };
  CHECK(row("MaxConnections") == "65535 -> 4");
  CHECK(row("InitialR2T") == "No -> Yes");
  CHECK(row("FirstBurstLength") == "16777215 -> 65536");
  CHECK(row("HeaderDigest") == "CRC32C,None -> CRC32C");
  CHECK(row("TargetAlias") == "- -> fake");
  CHECK(row("TaskReporting") == "FastAbort,ResponseFence,RFC3720 -> NotUnderstood");
  CHECK(target.state().sessions == 0);
  CHECK(target.state().logouts == 1);
  CHECK(target.state().dropped == 0);
  CHECK(target.state().writes == 0);
  REQUIRE(target.state().isids.size() == 1);
  CHECK(target.state().isids[0][0] == 0x80);
}

TEST_CASE("session: discovery gives targets and portals") {
  FakeTargetSettings settings;
  settings.names = {"iqn.2024-01.test:a", "iqn.2024-01.test:b"};
  settings.portals = {"192.0.2.1:3260,1", "[fe80::1]:3260,2"};
  FakeTarget target(settings);
  Session session(target.address(), limits(2s));
  REQUIRE(session.connect().has_value());
  REQUIRE(session.login(offer("")).has_value());
  const auto found = session.send_targets();
  REQUIRE(found.has_value());
  REQUIRE(found->targets.size() == 2);
  CHECK(found->targets[1].addresses.size() == 2);
  CHECK(session.logout(io::Clock::now() + 1s).has_value());
}

TEST_CASE("session: digests of both kinds protect commands and their data") {
  FakeTargetSettings settings;
  settings.answers = {{"HeaderDigest", "CRC32C"}, {"DataDigest", "CRC32C"}};
  FakeTarget target(settings);
  Session session(target.address(), limits(2s));
  CHECK(reason_of(talk(session, offer())) == "none");
  CHECK(session.login_result().digests == Digests{true, true});
  CHECK(target.state().logouts == 1);
}

TEST_CASE("session: data in any order and SCSI status are told apart") {
  FakeTarget target;
  Session session(target.address(), limits(2s));
  REQUIRE(session.connect().has_value());
  REQUIRE(session.login(offer()).has_value());
  const auto read = session.command({}, scsi::read16(0, 8), 4096);
  REQUIRE(read.has_value());
  CHECK(read->data == Bytes(4096, 0x5a));
  CHECK(read->took > io::Duration::zero());
  const auto missing = session.command(scsi::lun_of(5), scsi::test_unit_ready(), 0);
  REQUIRE_FALSE(missing.has_value());
  CHECK(missing.error().reason == Reason::scsi_status);
  CHECK(missing.error().code == 0x02052500);
  CHECK(session.command({}, scsi::test_unit_ready(), 0).has_value());  // the session goes on
  CHECK(session.command_window() > 0);
  CHECK(session.logout(io::Clock::now() + 1s).has_value());
}

TEST_CASE("CHAP: right, wrong and missing secrets, one-way and mutual") {
  FakeTargetSettings settings;
  settings.user = "alice";
  settings.secret = "secretsecret12";
  settings.mutual_secret = "mutualsecret12";
  FakeTarget target(settings);
  const auto attempt = [&](const LoginOffer& login, LoginResult* result = nullptr) {
    Session session(target.address(), limits(2s));
    const auto outcome = talk(session, login);
    if (result != nullptr) *result = session.login_result();
    return reason_of(outcome);
  };
  LoginResult result;
  CHECK(attempt(login_with("secretsecret12"), &result) == "none");
  CHECK(result.auth_method == std::string("CHAP"));
  CHECK(result.chap_digest == ChapDigest::md5);
  CHECK_FALSE(result.target_authenticated);
  for (const auto& row : result.keys) {
    CHECK(row.key != "CHAP_R");
    CHECK(row.key != "CHAP_C");
    CHECK(row.answer.value_or("").find("secret") == std::string::npos);
  }
  CHECK(attempt(login_with("secretsecret12", "mutualsecret12"), &result) == "none");
  CHECK(result.target_authenticated);
  CHECK(attempt(login_with("secretsecret12", "not the secret"), &result) == "target_not_authenticated");
  CHECK(attempt(login_with("wrong secret 12"), &result) == "login_status");
  CHECK(result.status == 0x0201);
  CHECK(attempt(offer(), &result) == "chap_wanted");
  CHECK(result.auth_method == std::string("CHAP"));

  FakeTarget open;
  Session session(open.address(), limits(2s));
  CHECK(reason_of(talk(session, login_with("secretsecret12", "mutualsecret12"))) == "target_not_authenticated");
  CHECK(open.state().logins == 0);
}

TEST_CASE("hostile logins end by the deadline with a named reason") {
  struct Row {
    const char* name;
    const char* reason;
    Intercept intercept;
  };
  const auto login = [](std::function<void(TargetTalk&, const Pdu&)> answer) {
    return on(Opcode::login_request, std::move(answer));
  };
  const std::vector<Row> rows = {
      {"silent", "silent", login([](TargetTalk&, const Pdu&) {})},
      {"closes", "closed", login([](TargetTalk& t, const Pdu&) { end(t); })},
      {"a cut header, then nothing", "incomplete", login([](TargetTalk& t, const Pdu& r) {
         t.send_bytes(View(encode(login_response(t, r, 0x81, {}), {})).first(20));
       })},
      {"a cut header, then the end", "closed_in_pdu", login([](TargetTalk& t, const Pdu& r) {
         t.send_bytes(View(encode(login_response(t, r, 0x81, {}), {})).first(20));
         end(t);
       })},
      {"a length of 16 MiB", "pdu_too_large", login([](TargetTalk& t, const Pdu& r) {
         Bytes bytes = encode(login_response(t, r, 0x81, {{"AuthMethod", "None"}}), {});
         bytes[5] = bytes[6] = bytes[7] = 0xff;
         t.send_bytes(bytes);
       })},
      {"a length over what comes", "incomplete", login([](TargetTalk& t, const Pdu& r) {
         Bytes bytes = encode(login_response(t, r, 0x81, {{"AuthMethod", "None"}}), {});
         bytes[6] = 0x20;
         t.send_bytes(bytes);
       })},
      {"a header segment that lies", "bad_value", login([](TargetTalk& t, const Pdu& r) {
         Pdu pdu = login_response(t, r, 0x81, {{"AuthMethod", "None"}});
         pdu.ahs = {0xff, 0xff, 1, 0};
         t.send(pdu);
       })},
      {"another protocol", "not_iscsi", login([](TargetTalk& t, const Pdu&) {
         const std::string text = "HTTP/1.1 400 Bad Request\r\n\r\n";
         t.send_bytes(Bytes(text.begin(), text.end()));
       })},
      {"never an end of the stage", "endless_negotiation",
       login([](TargetTalk& t, const Pdu& r) { t.send(login_response(t, r, r.flags() & 0x0c, {})); })},
      {"never an end of the text", "endless_negotiation", login([](TargetTalk& t, const Pdu& r) {
         t.send(login_response(t, r, static_cast<std::uint8_t>(0x40 | (r.flags() & 0x0c)), {{"X-a", "b"}}));
       })},
      {"more text than a login can hold", "endless_text", login([](TargetTalk& t, const Pdu& r) {
         t.send(login_response(t, r, static_cast<std::uint8_t>(0x40 | (r.flags() & 0x0c)),
                               {{"X-a", std::string(8000, 'b')}}));
       })},
      {"a jump over the operational stage", "bad_value", login([](TargetTalk& t, const Pdu& r) {
         t.send(login_response(t, r, 0x83, {{"AuthMethod", "None"}}));
       })},
      {"an answer of another stage", "bad_value",
       login([](TargetTalk& t, const Pdu& r) { t.send(login_response(t, r, 0x87, {})); })},
      {"a text that is no pair", "bad_value", login([](TargetTalk& t, const Pdu& r) {
         Pdu pdu = login_response(t, r, 0x81, {});
         pdu.data = {'n', 'o', 'n', 'e', 0};
         t.send(pdu);
       })},
      {"a task tag that is not ours", "unexpected_pdu", login([](TargetTalk& t, const Pdu& r) {
         t.send(login_response(t, r, 0x81, {{"AuthMethod", "None"}}).set_u32(at::itt, r.itt() + 1));
       })},
      {"a SCSI Response", "unexpected_pdu",
       login([](TargetTalk& t, const Pdu& r) { t.send(t.response(Opcode::scsi_response, r)); })},
      {"Reject", "rejected", login([](TargetTalk& t, const Pdu& r) {
         Pdu pdu = t.response(Opcode::reject, r);
         pdu.head[2] = 4;
         t.send(pdu);
       })},
      {"authorization failure", "login_status",
       login([](TargetTalk& t, const Pdu& r) { t.send(login_response(t, r, 0, {}, 0x0202)); })},
      {"a redirection to nowhere", "bad_value",
       login([](TargetTalk& t, const Pdu& r) { t.send(login_response(t, r, 0, {}, 0x0101)); })},
      {"a method that was not offered", "auth_method", login([](TargetTalk& t, const Pdu& r) {
         t.send(login_response(t, r, 0, {{"AuthMethod", "KRB5"}}));
       })},
      {"Asynchronous Message during the login", "unexpected_pdu",
       login([](TargetTalk& t, const Pdu& r) { t.send(t.response(Opcode::async_message, r)); })},
      {"one byte now and then", "incomplete", login([](TargetTalk& t, const Pdu& r) {
         for (const auto byte : encode(login_response(t, r, 0x81, {{"AuthMethod", "None"}}), {}))
           if (!t.peer.wait_ms(40) || !t.send_bytes(Bytes{byte})) return;
       })},
  };
  for (const auto& row : rows) {
    CAPTURE(row.name);
    FakeTargetSettings settings;
    settings.intercept = row.intercept;
    FakeTarget target(settings);
    Session session(target.address(), limits());
    const auto began = io::Clock::now();
    CHECK(reason_of(talk(session, offer())) == row.reason);
    CHECK(io::Clock::now() - began < 2s);
  }
}

TEST_CASE("hostile CHAP ends with a named reason") {
  const auto attempt = [](const TextKeys& answer) {
    FakeTargetSettings settings;
    settings.user = "alice";
    settings.intercept = [&answer](TargetTalk& talk, const Pdu& request) {
      const auto keys = decode_text(request.data);
      if (!request.is(Opcode::login_request) || !keys || find(*keys, "CHAP_A") == nullptr) return false;
      return talk.send(login_response(talk, request, 0, answer));
    };
    FakeTarget target(settings);
    Session session(target.address(), limits());
    return reason_of(talk(session, login_with("secretsecret12")));
  };
  CHECK(attempt({}) == "bad_value");
  CHECK(attempt({{"CHAP_A", "9"}, {"CHAP_I", "1"}, {"CHAP_C", "0x00"}}) == "bad_value");
  CHECK(attempt({{"CHAP_A", "5"}, {"CHAP_I", "256"}, {"CHAP_C", "0x00"}}) == "bad_value");
  CHECK(attempt({{"CHAP_A", "5"}, {"CHAP_I", "1"}, {"CHAP_C", "00"}}) == "bad_value");
  CHECK(attempt({{"CHAP_A", "5"}, {"CHAP_I", "1"}, {"CHAP_C", "0x" + std::string(4000, 'a')}}) == "count_too_large");
}

TEST_CASE("hostile sessions end by the deadline with a named reason") {
  struct Row {
    const char* name;
    const char* reason;
    Intercept intercept;
    TextKeys answers;
  };
  const auto command = [](std::function<void(TargetTalk&, const Pdu&)> answer) {
    return on(Opcode::scsi_command, std::move(answer));
  };
  const auto async = [](std::uint8_t event) {
    return [event](TargetTalk& t, const Pdu& r) {
      Pdu pdu = t.response(Opcode::async_message, r);
      pdu.set_u32(at::itt, no_tag);
      pdu.head[36] = event;
      t.send(pdu);
    };
  };
  const auto data_in = [](TargetTalk& t, const Pdu& r, std::uint32_t offset, std::size_t size) {
    Pdu pdu = t.response(Opcode::data_in, r, false);
    pdu.set_u32(40, offset);
    pdu.data.resize(size);
    return pdu;
  };
  const TextKeys both = {{"HeaderDigest", "CRC32C"}, {"DataDigest", "CRC32C"}};
  const std::vector<Row> rows = {
      {"silent", "silent", command([](TargetTalk&, const Pdu&) {}), {}},
      {"dies", "closed", command([](TargetTalk& t, const Pdu&) { end(t); }), {}},
      {"header digest", "header_digest_error", command([](TargetTalk& t, const Pdu& r) {
         Bytes bytes = encode(t.response(Opcode::scsi_response, r), t.digests);
         bytes[49] ^= 0x10;
         t.send_bytes(bytes);
       }),
       both},
      {"data digest", "data_digest_error", command([&](TargetTalk& t, const Pdu& r) {
         Bytes bytes = encode(data_in(t, r, 0, 16), t.digests);
         bytes[56] ^= 0x10;
         t.send_bytes(bytes);
       }),
       both},
      {"logout is asked for", "async_logout", command(async(1)), {}},
      {"the connection will be dropped", "async_drop", command(async(2)), {}},
      {"all connections will be dropped", "async_drop", command(async(3)), {}},
      {"a new negotiation is asked for", "async_logout", command(async(4)), {}},
      {"Reject",
       "rejected",
       command([](TargetTalk& t, const Pdu& r) {
         Pdu pdu = t.response(Opcode::reject, r);
         pdu.set_u32(at::itt, no_tag);
         pdu.head[2] = 9;
         pdu.data.assign(r.head.begin(), r.head.end());
         t.send(pdu);
       }),
       {}},
      {"R2T for a command that reads",
       "unexpected_pdu",
       command([](TargetTalk& t, const Pdu& r) { t.send(t.response(Opcode::r2t, r)); }),
       {}},
      {"Text Response to a command",
       "unexpected_pdu",
       command([](TargetTalk& t, const Pdu& r) { t.send(t.response(Opcode::text_response, r)); }),
       {}},
      {"more data than asked for",
       "bad_value",
       command([&](TargetTalk& t, const Pdu& r) { t.send(data_in(t, r, 4000, 100)); }),
       {}},
      {"data far outside",
       "bad_value",
       command([&](TargetTalk& t, const Pdu& r) { t.send(data_in(t, r, 0xfffffff0U, 100)); }),
       {}},
      {"NOP-In without end",
       "stray_pdus",
       command([](TargetTalk& t, const Pdu& r) {
         for (int i = 0; i < 200; ++i) {
           Pdu pdu = t.response(Opcode::nop_in, r, false);
           pdu.set_u32(at::itt, no_tag).set_u32(at::ttt, no_tag);
           if (!t.send(pdu)) return;
         }
       }),
       {}},
      {"data without content or end",
       "stray_pdus",
       command([&](TargetTalk& t, const Pdu& r) {
         for (int i = 0; i < 5000; ++i)
           if (!t.send(data_in(t, r, 0, 0))) return;
       }),
       {}},
      {"a response to nobody",
       "silent",
       command([](TargetTalk& t, const Pdu& r) {
         t.send(t.response(Opcode::scsi_response, r).set_u32(at::itt, 0x12345678));
       }),
       {}},
      {"a closed command window",
       "window_closed",
       [](TargetTalk& t, const Pdu& r) {
         const bool last = r.is(Opcode::login_request) && (r.flags() & 3) == 3 && (r.flags() & 0x80) != 0;
         if (!last) return false;
         Pdu pdu = login_response(t, r, 0x87, {});
         pdu.set_u32(at::max_cmd_sn, t.exp_cmd_sn - 1);
         return t.send(pdu);
       },
       {}},
  };
  for (const auto& row : rows) {
    CAPTURE(row.name);
    FakeTargetSettings settings;
    settings.intercept = row.intercept;
    settings.answers = row.answers.empty() ? TextKeys{{"HeaderDigest", "None"}} : row.answers;
    FakeTarget target(settings);
    Session session(target.address(), limits());
    const auto began = io::Clock::now();
    CHECK(reason_of(talk(session, offer())) == row.reason);
    if (session.logged_in()) CHECK(session.logout(io::Clock::now() + 400ms).has_value());
    session.close();
    CHECK(io::Clock::now() - began < 2s);
    for (int i = 0; i < 100 && target.state().sessions != 0; ++i) std::this_thread::sleep_for(10ms);
    CHECK(target.state().sessions == 0);
  }
}

TEST_CASE("a discovery that goes on and on ends with a named reason") {
  FakeTargetSettings settings;
  settings.intercept = on(Opcode::text_request, [](TargetTalk& talk, const Pdu& request) {
    Pdu pdu = talk.response(Opcode::text_response, request);
    pdu.head[1] = 0x40;
    pdu.set_u32(at::ttt, 77);
    pdu.data = encode_text({{"TargetName", "iqn.x"}});
    talk.send(pdu);
  });
  FakeTarget target(settings);
  Session session(target.address(), limits(2s));
  CHECK(reason_of(talk(session, offer(""))) == "endless_text");
}

TEST_CASE("a discovery in parts wants its tags back, and gives one answer") {
  auto parts = std::make_shared<int>(0);
  FakeTargetSettings settings;
  settings.intercept = on(Opcode::text_request, [parts](TargetTalk& talk, const Pdu& request) {
    const int part = (*parts)++;
    if (part != 0 && (request.u32(at::ttt) != 77 || request.head[9] != 5)) return end(talk);
    Pdu pdu = talk.response(Opcode::text_response, request);
    pdu.head[1] = part == 2 ? 0x80 : 0x40;
    pdu.head[9] = 5;
    pdu.set_u32(at::ttt, part == 2 ? no_tag : 77);
    const std::string text = part == 0 ? "TargetName=iq" : part == 1 ? "n.x" : std::string("\0", 1);
    pdu.data.assign(text.begin(), text.end());
    talk.send(pdu);
  });
  FakeTarget target(settings);
  Session session(target.address(), limits(2s));
  REQUIRE(session.connect().has_value());
  REQUIRE(session.login(offer("")).has_value());
  const auto found = session.send_targets();
  REQUIRE(found.has_value());
  REQUIRE(found->targets.size() == 1);
  CHECK(found->targets[0].name == "iqn.x");
}

TEST_CASE("a target that answers byte by byte and asks questions of its own is understood") {
  FakeTargetSettings settings;
  auto asked = std::make_shared<int>(0);
  auto answered = std::make_shared<TextKeys>();
  settings.intercept = [asked, answered](TargetTalk& talk, const Pdu& request) {
    if (!request.is(Opcode::login_request) || (request.flags() >> 2 & 3) != 1) return false;
    const auto keys = decode_text(request.data);
    if (*asked == 1) *answered = keys.value_or(TextKeys{});
    if (++*asked > 1) return false;
    Pdu pdu = login_response(talk, request, 0x04,
                             {{"IFMarker", "No"}, {"X-com.example.speed", "11"}, {"MaxBurstLength", "512"}});
    pdu.ahs = {0, 1, 9, 0};  // well-formed, of an unknown kind
    for (const auto byte : encode(pdu, {}))
      if (!talk.send_bytes(Bytes{byte})) return true;
    return true;
  };
  FakeTarget target(settings);
  Session session(target.address(), limits(2s));
  CHECK(reason_of(talk(session, offer())) == "none");
  CHECK(*answered == TextKeys{{"IFMarker", "No"}, {"X-com.example.speed", "NotUnderstood"}});
  for (const auto& row : session.login_result().keys) {
    if (row.key == "X-com.example.speed") CHECK_FALSE(row.offered);
    if (row.key == "MaxBurstLength") CHECK(row.answer == std::string("512"));
  }
}

TEST_CASE("the target's own ping is answered while an answer is awaited") {
  auto pongs = std::make_shared<std::atomic<int>>(0);
  FakeTargetSettings settings;
  settings.answers = {{"HeaderDigest", "None"}};
  settings.intercept = [pongs](TargetTalk& talk, const Pdu& request) {
    if (request.is(Opcode::nop_out) && request.itt() == no_tag && request.u32(at::ttt) == 55) ++*pongs;
    if (request.is(Opcode::scsi_command)) {
      Pdu ping = talk.response(Opcode::nop_in, request, false);
      ping.head[1] = 0x80;
      ping.set_u32(at::itt, no_tag).set_u32(at::ttt, 55);
      talk.send(ping);
    }
    return false;
  };
  FakeTarget target(settings);
  Session session(target.address(), limits(2s));
  CHECK(reason_of(talk(session, offer())) == "none");
  CHECK(*pongs == 2);
}

TEST_CASE("a dead target costs no CPU time while it is waited for") {
  FakeTargetSettings settings;
  settings.intercept = [](TargetTalk&, const Pdu&) { return true; };
  FakeTarget target(settings);
  std::atomic<bool> stop = false;
  Limits wait = limits(1s);
  wait.stop = &stop;
  Session session(target.address(), wait);
  const double before = cpu_ms();
  CHECK(reason_of(talk(session, offer())) == "silent");
  CHECK(cpu_ms() - before < 50);
}

TEST_CASE("a signal ends the wait at once") {
  FakeTargetSettings settings;
  settings.intercept = [](TargetTalk&, const Pdu&) { return true; };
  FakeTarget target(settings);
  std::atomic<bool> stop = false;
  Limits wait = limits(4s);
  wait.stop = &stop;
  Session session(target.address(), wait);
  std::thread later([&] {
    std::this_thread::sleep_for(100ms);
    stop = true;
  });
  const auto began = io::Clock::now();
  CHECK(reason_of(talk(session, offer())) == "not_asked");
  CHECK(io::Clock::now() - began < 2s);
  later.join();
}

TEST_CASE("nobody listens, and a listener that accepts nothing") {
  ClosedPort nobody;
  Session refused(nobody.address(), limits());
  CHECK(reason_of(refused.connect()) == "refused");
}
