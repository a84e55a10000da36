// The RPC layer against bytes and against scripted peers: each kind of bad server ends by the deadline with its own
// name.
#include <netinet/in.h>
#include <catch2/catch.hpp>

#include <chrono>
#include <functional>
#include <optional>

#include "probes/wire/connection.h"
#include "probes/wire/rpc.h"
#include "tests/wire/peer.h"

using namespace wire;
using namespace wire_test;
using namespace std::chrono_literals;

namespace {

Call null_call() { return {program::nfs, 3, 0}; }

Outcome<Answer> ask(const Address& peer, io::Duration limit, Connection::Options options = {}) {
  io::Loop loop;
  options.connect_deadline = io::Clock::now() + limit;
  auto connection = Connection::open(loop, peer, options);
  Outcome<Answer> got = fail(Reason::not_asked);
  connection->call(null_call(), io::Clock::now() + limit, [&](Outcome<Answer> answer) {
    got = std::move(answer);
    connection->close();
  });
  const bool idle = loop.run(io::Clock::now() + 10s);
  CHECK(idle);  // nothing is left waiting once the call has ended
  return got;
}

Bytes first_bytes(std::initializer_list<int> values) {
  Bytes bytes;
  for (const int value : values) bytes.push_back(static_cast<std::uint8_t>(value));
  return bytes;
}

// Reads one call, then sends these bytes and waits for the other side to go.
Peer::Script answer_with(std::function<Bytes(std::uint32_t xid)> make) {
  return [make = std::move(make)](Peer&, int fd) {
    ReceivedCall call;
    if (!receive_call(fd, call)) return;
    Peer::send_all(fd, make(call.xid));
    receive_call(fd, call);
  };
}

struct Bad {
  std::string name;
  Reason reason;
  bool at_deadline;  // or at once
  Peer::Script script;
};

std::vector<Bad> bad_servers() {
  return {
      {"silent", Reason::silent, true, [](Peer& peer, int) { peer.wait_ms(5000); }},
      {"one byte at a time", Reason::incomplete, true,
       [](Peer& peer, int fd) {
         ReceivedCall call;
         if (!receive_call(fd, call)) return;
         const Bytes whole = record(success(call.xid));
         for (std::size_t i = 0; i < whole.size(); ++i) {
           if (!Peer::send_all(fd, View(whole).subspan(i, 1)) || !peer.wait_ms(100)) return;
         }
       }},
      {"closes without an answer", Reason::closed, false,
       [](Peer&, int fd) {
         ReceivedCall call;
         receive_call(fd, call);
       }},
      {"closes inside a record", Reason::closed_in_record, false,
       [](Peer&, int fd) {
         ReceivedCall call;
         if (!receive_call(fd, call)) return;
         const Bytes whole = record(success(call.xid));
         Peer::send_all(fd, View(whole).first(11));
       }},
      {"closes inside a record mark", Reason::closed_in_record, false,
       [](Peer&, int fd) {
         ReceivedCall call;
         if (receive_call(fd, call)) Peer::send_all(fd, first_bytes({0x80, 0}));
       }},
      {"another xid", Reason::wrong_xid, true,
       answer_with([](std::uint32_t xid) { return record(success(xid + 77)); })},
      {"other xids without end", Reason::wrong_xid, false,
       [](Peer&, int fd) {
         ReceivedCall call;
         if (!receive_call(fd, call)) return;
         while (Peer::send_all(fd, record(success(call.xid + 77)))) {
         }
       }},
      {"a fragment of 2 GiB less one", Reason::fragment_too_large, false, answer_with([](std::uint32_t) {
         return first_bytes({0xff, 0xff, 0xff, 0xff});
       })},
      {"fragments without end", Reason::too_many_fragments, false,
       [](Peer&, int fd) {
         ReceivedCall call;
         if (!receive_call(fd, call)) return;
         const Bytes fragment = first_bytes({0, 0, 0, 4, 1, 2, 3, 4});
         while (Peer::send_all(fd, fragment)) {
         }
       }},
      {"empty fragments without end", Reason::too_many_fragments, false,
       [](Peer&, int fd) {
         ReceivedCall call;
         if (!receive_call(fd, call)) return;
         while (Peer::send_all(fd, first_bytes({0, 0, 0, 0}))) {
         }
       }},
      {"large fragments without end", Reason::record_too_large, false,
       [](Peer&, int fd) {
         ReceivedCall call;
         if (!receive_call(fd, call)) return;
         Bytes fragment(4 + 0x80000, 0);
         fragment[1] = 8;
         while (Peer::send_all(fd, fragment)) {
         }
       }},
      {"a verifier of 4 GiB", Reason::count_too_large, false, answer_with([](std::uint32_t xid) {
         XdrWriter out;
         out.u32(xid).u32(1).u32(0).u32(0).u32(0xffffffff);
         return record(out.bytes());
       })},
      {"a reply that ends too early", Reason::short_reply, false, answer_with([](std::uint32_t xid) {
         XdrWriter out;
         out.u32(xid).u32(1).u32(0);
         return record(out.bytes());
       })},
      {"a call instead of a reply", Reason::not_rpc, false, answer_with([](std::uint32_t xid) {
         XdrWriter out;
         out.u32(xid).u32(0).u32(2);
         return record(out.bytes());
       })},
      {"program not there", Reason::program_unavailable, false,
       answer_with([](std::uint32_t xid) { return record(accepted_error(xid, 1)); })},
      {"other versions of the program", Reason::version_mismatch, false, answer_with([](std::uint32_t xid) {
         return record(accepted_error(xid, 2, {3, 4}));
       })},
      {"procedure not there", Reason::procedure_unavailable, false,
       answer_with([](std::uint32_t xid) { return record(accepted_error(xid, 3)); })},
      {"garbage arguments", Reason::garbage_args, false,
       answer_with([](std::uint32_t xid) { return record(accepted_error(xid, 4)); })},
      {"system error", Reason::system_error, false,
       answer_with([](std::uint32_t xid) { return record(accepted_error(xid, 5)); })},
      {"an accept_stat nobody knows", Reason::bad_value, false,
       answer_with([](std::uint32_t xid) { return record(accepted_error(xid, 99)); })},
      {"denied by RPC version", Reason::rpc_version_mismatch, false, answer_with([](std::uint32_t xid) {
         return record(denied(xid, {0, 3, 4}));
       })},
      {"denied by credentials", Reason::auth_error, false, answer_with([](std::uint32_t xid) {
         return record(denied(xid, {1, 5}));
       })},
      {"a TLS alert", Reason::tls_bytes, false, answer_with([](std::uint32_t) {
         return first_bytes({0x15, 3, 1, 0, 2, 2, 10});
       })},
      {"a TLS handshake", Reason::tls_bytes, false, answer_with([](std::uint32_t) {
         return first_bytes({0x16, 3, 3, 0, 80, 2, 0});
       })},
      {"an HTTP server", Reason::not_rpc, false, answer_with([](std::uint32_t) {
         return first_bytes({'H', 'T', 'T', 'P', '/', '1', '.', '1', ' ', '4'});
       })},
      {"an SSH banner before any call", Reason::not_rpc, false,
       [](Peer& peer, int fd) {
         Peer::send_all(fd, first_bytes({'S', 'S', 'H', '-', '2'}));
         peer.wait_ms(5000);
       }},
  };
}

}  // namespace

TEST_CASE("rpc: every kind of bad server ends by the deadline with its own reason") {
  for (const auto& bad : bad_servers()) {
    DYNAMIC_SECTION(bad.name) {
      Peer peer(bad.script);
      const auto began = io::Clock::now();
      const auto answer = ask(peer.address(), 300ms);
      const auto took = io::Clock::now() - began;
      REQUIRE_FALSE(answer);
      CHECK(std::string(reason_name(answer.error().reason)) == reason_name(bad.reason));
      CHECK(took < 2s);
      CHECK((took >= 300ms) == bad.at_deadline);
    }
  }
}

TEST_CASE("rpc: a port where nobody listens is refused") {
  ClosedPort port;
  const auto answer = ask(port.address(), 1s);
  REQUIRE_FALSE(answer);
  CHECK(to_text(answer.error()) == "refused: connection refused");
}

TEST_CASE("rpc: a SYN that nobody answers is a connect timeout") {
  // A listener with a full queue drops the SYN, as a firewall does.
  ClosedPort port;
  Address full;
  const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in any = {};
  any.sin_family = AF_INET;
  any.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  REQUIRE(::bind(fd, reinterpret_cast<const sockaddr*>(&any), sizeof any) == 0);
  REQUIRE(::listen(fd, 0) == 0);
  full.size = sizeof full.storage;
  ::getsockname(fd, reinterpret_cast<sockaddr*>(&full.storage), &full.size);
  io::Loop loop;
  Connection::Options options;
  options.connect_deadline = io::Clock::now() + 300ms;
  std::vector<std::shared_ptr<Connection>> fill;
  for (int i = 0; i < 4; ++i) fill.push_back(Connection::open(loop, full, options));
  loop.run(io::Clock::now() + 200ms);
  const auto answer = ask(full, 300ms);
  REQUIRE_FALSE(answer);
  CHECK(answer.error().reason == Reason::connect_timeout);
  ::close(fd);
}

TEST_CASE("rpc: version mismatch, denial and auth errors carry their numbers") {
  Peer versions(answer_with([](std::uint32_t xid) { return record(accepted_error(xid, 2, {3, 4})); }));
  auto answer = ask(versions.address(), 1s);
  REQUIRE_FALSE(answer);
  CHECK(answer.error().low == 3);
  CHECK(answer.error().high == 4);
  Peer rpc_versions(answer_with([](std::uint32_t xid) { return record(denied(xid, {0, 5, 6})); }));
  answer = ask(rpc_versions.address(), 1s);
  REQUIRE_FALSE(answer);
  CHECK(answer.error().low == 5);
  CHECK(answer.error().high == 6);
  Peer weak(answer_with([](std::uint32_t xid) { return record(denied(xid, {1, 5})); }));
  answer = ask(weak.address(), 1s);
  REQUIRE_FALSE(answer);
  CHECK(answer.error().code == 5);
  CHECK(answer.error().detail == "AUTH_TOOWEAK");
}

TEST_CASE("rpc: calls in flight on one connection are matched by xid, in any order") {
  Peer peer([](Peer&, int fd) {
    std::vector<ReceivedCall> calls(8);
    for (auto& call : calls)
      if (!receive_call(fd, call)) return;
    for (auto call = calls.rbegin(); call != calls.rend(); ++call) {
      XdrWriter result;
      result.u32(call->version);
      Peer::send_all(fd, record(success(call->xid, result.bytes())));
    }
    ReceivedCall more;
    receive_call(fd, more);
  });
  io::Loop loop;
  Connection::Options options;
  options.connect_deadline = io::Clock::now() + 2s;
  auto connection = Connection::open(loop, peer.address(), options);
  std::vector<std::uint32_t> order;
  for (std::uint32_t version = 0; version < 8; ++version) {
    connection->call({program::nfs, version, 0}, io::Clock::now() + 2s, [&, version](Outcome<Answer> answer) {
      REQUIRE(answer);
      XdrReader in(answer->accepted.results);
      CHECK(in.u32("version") == version);
      order.push_back(version);
      if (order.size() == 8) connection->close();
    });
  }
  CHECK(loop.run(io::Clock::now() + 5s));
  CHECK(order == std::vector<std::uint32_t>{7, 6, 5, 4, 3, 2, 1, 0});
  CHECK(peer.connections() == 1);
}

TEST_CASE("rpc: an answer in many fragments is one record") {
  Peer peer([](Peer&, int fd) {
    ReceivedCall call;
    if (!receive_call(fd, call)) return;
    const Bytes message = success(call.xid, Bytes{0, 0, 0, 42});
    for (std::size_t i = 0; i < message.size(); i += 4) {
      XdrWriter out;
      out.u32((i + 4 == message.size() ? 0x80000000U : 0U) | 4U).fixed(View(message).subspan(i, 4));
      Peer::send_all(fd, out.bytes());
    }
    receive_call(fd, call);
  });
  const auto answer = ask(peer.address(), 2s);
  REQUIRE(answer);
  CHECK(answer->accepted.results == Bytes{0, 0, 0, 42});
}

TEST_CASE("rpc: a late answer to a call that was given up is no stray") {
  Peer peer([](Peer& self, int fd) {
    ReceivedCall first;
    ReceivedCall second;
    if (!receive_call(fd, first)) return;
    self.wait_ms(250);
    Peer::send_all(fd, record(success(first.xid)));
    if (!receive_call(fd, second)) return;
    Peer::send_all(fd, record(success(second.xid)));
    receive_call(fd, second);
  });
  io::Loop loop;
  Connection::Options options;
  options.connect_deadline = io::Clock::now() + 2s;
  options.stray_replies = 0;
  auto connection = Connection::open(loop, peer.address(), options);
  std::string said;
  connection->call(null_call(), io::Clock::now() + 100ms, [&](Outcome<Answer> answer) {
    said += answer ? "answer " : reason_name(answer.error().reason) + std::string(" ");
    connection->call(null_call(), io::Clock::now() + 2s, [&](Outcome<Answer> again) {
      said += again ? "answer" : reason_name(again.error().reason);
      connection->close();
    });
  });
  CHECK(loop.run(io::Clock::now() + 5s));
  CHECK(said == "silent answer");
}

TEST_CASE("rpc: AUTH_SYS is sent as RFC 5531 lays it out") {
  Call call{program::mountd, 3, 1, AuthFlavor::sys, {"abc", 7, 8}, {1, 2, 3, 4}};
  const Bytes bytes = encode_call(0x01020304, call);
  const Bytes wanted = {0x80, 0, 0, 68, 1, 2, 3, 4, 0, 0, 0, 0,  0, 0, 0, 2, 0, 1, 0x86, 0xa5, 0,   0,   0,   3,
                        0,    0, 0, 1,  0, 0, 0, 1, 0, 0, 0, 24, 0, 0, 0, 0, 0, 0, 0,    3,    'a', 'b', 'c', 0,
                        0,    0, 0, 7,  0, 0, 0, 8, 0, 0, 0, 0,  0, 0, 0, 0, 0, 0, 0,    0,    1,   2,   3,   4};
  CHECK(bytes == wanted);
}

TEST_CASE("xdr: lengths are checked against the bytes that are there before anything is allocated") {
  const Bytes huge = {0xff, 0xff, 0xff, 0xf0, 1, 2, 3, 4};
  XdrReader in(huge);
  CHECK(in.words(0xffffffff, "words").empty());
  CHECK(in.failure().reason == Reason::short_reply);
  XdrReader opaque(huge);
  CHECK(opaque.opaque(0xffffffff, "opaque").empty());
  CHECK(opaque.failure().reason == Reason::short_reply);
  XdrReader bounded(huge);
  CHECK(bounded.opaque(64, "handle").empty());
  CHECK(bounded.failure().reason == Reason::count_too_large);
  CHECK(bounded.u64("later") == 0);
  CHECK(bounded.failure().detail.find("handle") != std::string::npos);
}

TEST_CASE("address: numeric forms, zones and what is wrong with them") {
  CHECK(parse_address("192.0.2.1", 2049)->text() == "192.0.2.1:2049");
  CHECK(parse_address("2001:db8::1", 20490)->text() == "[2001:db8::1]:20490");
  CHECK(parse_address("fe80::1%lo", 2049)->text() == "[fe80::1%lo]:2049");
  CHECK(parse_address("fe80::1%1", 2049)->text() == "[fe80::1%lo]:2049");
  CHECK(parse_address("fe80::1", 2049).error().kind == base::ErrorKind::usage);
  CHECK(parse_address("fe80::1%nosuch0", 2049).error().kind == base::ErrorKind::absent);
  CHECK(parse_address("192.0.2.300", 2049).error().kind == base::ErrorKind::malformed);
  CHECK(parse_address("192.0.2.1%lo", 2049).error().kind == base::ErrorKind::malformed);
  CHECK(parse_address("nfs.example.com", 2049).error().kind == base::ErrorKind::malformed);
}

TEST_CASE("loop: it ends at its end whatever is left, and timers fire in the order of their time") {
  io::Loop loop;
  std::string order;
  const auto now = io::Clock::now();
  loop.at(now + 20ms, [&] { order += 'b'; });
  loop.at(now + 10ms, [&] { order += 'a'; });
  const auto gone = loop.at(now + 5ms, [&] { order += 'x'; });
  loop.cancel(gone);
  loop.at(now + 30s, [&] { order += 'z'; });
  loop.post([&] { order += '0'; });
  CHECK_FALSE(loop.run(now + 50ms));
  CHECK(order == "0ab");
  CHECK(io::Clock::now() - now < 1s);
}
