// Decoders on what a real server answered, whole and cut at every byte, and on counts and values that nobody sends.
#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <functional>
#include <iterator>

#include "probes/wire/mount3.h"
#include "probes/wire/nfs3.h"
#include "probes/wire/nfs4.h"
#include "probes/wire/nlm.h"
#include "probes/wire/rpcbind.h"

using namespace wire;

namespace {

Bytes sample(const std::string& name) {
  std::ifstream in(std::string(SOURCE_DIR) + "/samples/wire/ganesha-4.3/" + name + ".bin", std::ios::binary);
  REQUIRE(in);
  return Bytes(std::istreambuf_iterator<char>(in), {});
}

template <class T>
Reason reason_of(const Outcome<T>& outcome) {
  return outcome ? Reason::not_asked : outcome.error().reason;
}

// Every real answer, cut short anywhere, is a short reply and nothing else.
template <class T>
void cut_everywhere(const std::string& name, Outcome<T> (*decode)(View)) {
  const Bytes whole = sample(name);
  CAPTURE(name);
  REQUIRE(decode(whole));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    CAPTURE(size);
    CHECK(reason_of(decode(View(whole).first(size))) == Reason::short_reply);
  }
}

}  // namespace

TEST_CASE("codec: answers of a real server give its values") {
  const auto dump = rpcbind::decode_dump2(sample("rpcbind-dump2"));
  REQUIRE(dump);
  CHECK(std::find(dump->begin(), dump->end(), rpcbind::Registration{program::nfs, 4, "tcp", 20490}) != dump->end());
  CHECK(std::find(dump->begin(), dump->end(), rpcbind::Registration{program::rpcbind, 2, "udp", 111}) != dump->end());
  const auto dump3 = rpcbind::decode_dump(sample("rpcbind-dump3"));
  REQUIRE(dump3);
  CHECK(std::find(dump3->begin(), dump3->end(), rpcbind::Registration{program::nlm, 4, "tcp", 20492}) != dump3->end());
  for (const auto& entry : *dump3) CHECK(entry.netid != "local");
  const auto mounted = mount3::decode_mnt(sample("mount3-mnt"));
  REQUIRE(mounted);
  CHECK(mounted->flavors == std::vector<std::uint32_t>{1});
  const auto exports = mount3::decode_export_list(sample("mount3-export"));
  REQUIRE(exports);
  CHECK(exports->at(0).path == "/export");
  const auto info = nfs3::decode_fsinfo(sample("nfs3-fsinfo"));
  REQUIRE(info);
  CHECK(info->rtmax == 65536);
  CHECK(info->rtpref == 32768);
  CHECK(nfs3::decode_getattr(sample("nfs3-getattr"))->type == 2);
  const auto entries = nfs3::decode_readdirplus(sample("nfs3-readdirplus"));
  REQUIRE(entries);
  bool file = false;
  for (const auto& entry : *entries) file = file || (entry.name == "file" && entry.type == 1 && !entry.handle.empty());
  CHECK(file);
  CHECK(nlm::decode_test4(sample("nlm4-test")) == nlm::Stat::granted);
  CHECK(nfs4::decode_compound(sample("nfs4-minor-0"))->status == 0);
  CHECK(nfs4::decode_compound(sample("nfs4-minor-3"))->status == nfs4::status::minor_vers_mismatch);
  const auto compound = nfs4::decode_compound(sample("nfs4-export"));
  REQUIRE(compound);
  CHECK(compound->value<nfs4::Attributes>(nfs4::Op::getattr)->lease_s == 5);
  CHECK(std::get<nfs4::Attributes>(compound->all(nfs4::Op::getattr).at(1)->value).maxread == 65536);
  CHECK(compound->value<nfs4::Flavors>(nfs4::Op::secinfo)->names == std::vector<std::string>{"sys"});
  const auto identity = nfs4::decode_compound(sample("nfs4-exchange-id"));
  CHECK(identity->value<nfs4::ExchangeId>(nfs4::Op::exchange_id)->owner == "vm");
  const auto session = nfs4::decode_compound(sample("nfs4-create-session"));
  CHECK(session->value<nfs4::CreateSession>(nfs4::Op::create_session)->fore.slots == 16);
  CHECK(nfs4::decode_compound(sample("nfs4-lockt-stale"))->find(nfs4::Op::lockt)->status ==
        nfs4::status::stale_clientid);
}

TEST_CASE("codec: a real answer cut at any byte is a short reply") {
  cut_everywhere("rpcbind-dump2", rpcbind::decode_dump2);
  cut_everywhere("rpcbind-dump3", rpcbind::decode_dump);
  cut_everywhere("rpcbind-getport", rpcbind::decode_getport);
  cut_everywhere("mount3-mnt", mount3::decode_mnt);
  cut_everywhere("mount3-export", mount3::decode_export_list);
  cut_everywhere("nfs3-getattr", nfs3::decode_getattr);
  cut_everywhere("nfs3-fsinfo", nfs3::decode_fsinfo);
  cut_everywhere("nfs3-fsstat", nfs3::decode_fsstat);
  cut_everywhere("nfs3-pathconf", nfs3::decode_pathconf);
  cut_everywhere("nfs3-readdirplus", nfs3::decode_readdirplus);
  cut_everywhere("nlm4-test", nlm::decode_test4);
  cut_everywhere("nfs4-export", nfs4::decode_compound);
  cut_everywhere("nfs4-exchange-id", nfs4::decode_compound);
  cut_everywhere("nfs4-create-session", nfs4::decode_compound);
}

TEST_CASE("codec: counts and values that no server sends are named") {
  XdrWriter endless;
  for (int i = 0; i < 5000; ++i) endless.u32(1).u32(100003).u32(3).u32(6).u32(2049);
  CHECK(reason_of(rpcbind::decode_dump2(endless.bytes())) == Reason::count_too_large);
  XdrWriter port;
  port.u32(70000);
  CHECK(reason_of(rpcbind::decode_getport(port.bytes())) == Reason::bad_value);
  XdrWriter handle;
  handle.u32(0).u32(65);
  CHECK(reason_of(mount3::decode_mnt(handle.bytes())) == Reason::count_too_large);
  XdrWriter denied;
  denied.u32(13);
  const auto mnt = mount3::decode_mnt(denied.bytes());
  REQUIRE_FALSE(mnt);
  CHECK(mnt.error().code == 13);
  CHECK(mnt.error().detail == "MNT3ERR_ACCES");
  XdrWriter bitmap;
  bitmap.u32(0).u32(0).u32(1).u32(9).u32(0).u32(9);
  CHECK(reason_of(nfs4::decode_compound(bitmap.bytes())) == Reason::count_too_large);
  XdrWriter unasked;  // attribute 3 was not asked for: its length is not known
  unasked.u32(0).u32(0).u32(1).u32(9).u32(0).u32(1).u32(8).u32(4).u32(0);
  CHECK(reason_of(nfs4::decode_compound(unasked.bytes())) == Reason::bad_value);
  XdrWriter operation;
  operation.u32(0).u32(0).u32(1).u32(5).u32(0);  // COMMIT is never asked
  CHECK(reason_of(nfs4::decode_compound(operation.bytes())) == Reason::bad_value);
  XdrWriter lock;
  lock.u32(0).u32(10);
  CHECK(reason_of(nlm::decode_test4(lock.bytes())) == Reason::bad_value);
}

TEST_CASE("codec: universal addresses name their port, of IPv4 and IPv6") {
  CHECK(rpcbind::port_of_uaddr("192.0.2.1.8.1") == 2049U);
  CHECK(rpcbind::port_of_uaddr("::.0.111") == 111U);
  CHECK(rpcbind::port_of_uaddr("2001:db8::1.80.10") == 20490U);
  for (const char* bad : {"", ".", "..", "1", "8.1.", "192.0.2.1.256.1", "192.0.2.1.8.-1", "/run/rpcbind.sock"}) {
    CAPTURE(bad);
    CHECK(reason_of(rpcbind::port_of_uaddr(bad)) == Reason::bad_value);
  }
}

TEST_CASE("codec: Kerberos flavours of SECINFO are told by mechanism and service") {
  XdrWriter out;
  const Bytes krb5 = {0x2a, 0x86, 0x48, 0x86, 0xf7, 0x12, 0x01, 0x02, 0x02};
  out.u32(0).u32(0).u32(1).u32(33).u32(0).u32(4);
  for (const std::uint32_t service : {1U, 2U, 3U}) out.u32(6).opaque(krb5).u32(0).u32(service);
  out.u32(1);
  const auto result = nfs4::decode_compound(out.bytes());
  REQUIRE(result);
  CHECK(result->value<nfs4::Flavors>(nfs4::Op::secinfo)->names ==
        std::vector<std::string>{"krb5", "krb5i", "krb5p", "sys"});
}

namespace {

// Cut short anywhere it is a short reply; a whole one is decoded.
template <class T>
void cut_bytes(const Bytes& whole, Outcome<T> (*decode)(View)) {
  REQUIRE(decode(whole));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    CAPTURE(size);
    CHECK(reason_of(decode(View(whole).first(size))) == Reason::short_reply);
  }
}

Bytes compound_of(std::uint32_t op, const Bytes& body) {
  XdrWriter out;
  out.u32(0).u32(0).u32(1).u32(op).u32(0).fixed(body);
  return out.take();
}

Bytes opened(const std::function<void(XdrWriter&)>& delegation) {
  XdrWriter out;
  out.fixed(Bytes(16, 7)).u32(1).u64(1).u64(2).u32(4).words({0, 2});
  delegation(out);
  return compound_of(18, out.take());
}

}  // namespace

TEST_CASE("codec: OPEN with every kind of delegation, and those that nobody sends") {
  const auto none = opened([](XdrWriter& out) { out.u32(0); });
  const auto no_and_why = opened([](XdrWriter& out) { out.u32(3).u32(2).boolean(true); });
  const auto no_as_wished = opened([](XdrWriter& out) { out.u32(3).u32(0); });
  const auto read = opened(
      [](XdrWriter& out) { out.u32(1).fixed(Bytes(16, 9)).boolean(false).u32(0).u32(0).u32(1).text("EVERYONE@"); });
  const auto write = opened([](XdrWriter& out) {
    out.u32(2).fixed(Bytes(16, 9)).boolean(false).u32(2).u32(10).u32(4096).u32(0).u32(0).u32(1).text("a");
  });
  for (const auto& bytes : {none, no_and_why, no_as_wished, read, write}) {
    cut_bytes(bytes, nfs4::decode_compound);
    const auto result = nfs4::decode_compound(bytes);
    const auto* open = result->value<nfs4::Opened>(nfs4::Op::open);
    REQUIRE(open != nullptr);
    CHECK(open->state[0] == 7);
    CHECK(open->flags == 4);
    CHECK(open->delegated == (bytes == read || bytes == write));
    if (open->delegated) CHECK(open->delegation[15] == 9);
  }
  CHECK(reason_of(nfs4::decode_compound(opened([](XdrWriter& out) { out.u32(4); }))) == Reason::bad_value);
  CHECK(reason_of(nfs4::decode_compound(opened([](XdrWriter& out) {
          out.u32(2).fixed(Bytes(16, 9)).boolean(false).u32(3).u64(0).u32(0).u32(0).u32(1).text("a");
        }))) == Reason::bad_value);
  CHECK(reason_of(nfs4::decode_compound(opened([](XdrWriter& out) {
          out.u32(1).fixed(Bytes(16, 9)).boolean(false).u32(0).u32(0).u32(1).u32(0xffffffff);
        }))) == Reason::count_too_large);
}

TEST_CASE("codec: LOCK, LOCKU, CLOSE, REMOVE and what NFSv3 and NLM answer in their place") {
  for (const std::uint32_t op : {12U, 14U, 4U}) {
    const Bytes bytes = compound_of(op, Bytes(16, 5));
    cut_bytes(bytes, nfs4::decode_compound);
    const auto result = nfs4::decode_compound(bytes);
    REQUIRE(result->ops.size() == 1);
    const auto* state = std::get_if<nfs4::State>(&result->ops[0].value);
    REQUIRE(state != nullptr);
    CHECK(state->id[15] == 5);
  }
  XdrWriter change;
  change.u32(1).u64(1).u64(2);
  cut_bytes(compound_of(28, change.bytes()), nfs4::decode_compound);

  XdrWriter attributes;  // fattr3 of a regular file
  attributes.u32(1).u32(0600).u32(1).u32(0).u32(0).u64(0).u64(0).u64(0).u64(1).u64(2).fixed(Bytes(24, 0));
  const Bytes handle{1, 2, 3, 4, 5};
  XdrWriter created;
  created.u32(0).boolean(true).opaque(handle).boolean(true).fixed(attributes.bytes());
  created.boolean(true).fixed(Bytes(24, 0)).boolean(false);
  cut_bytes(created.bytes(), nfs3::decode_create);
  CHECK(*nfs3::decode_create(created.bytes()) == handle);
  XdrWriter shy;  // a server may leave the handle out
  shy.u32(0).boolean(false).boolean(false).boolean(false).boolean(false);
  CHECK(nfs3::decode_create(shy.bytes())->empty());
  XdrWriter found;
  found.u32(0).opaque(handle).boolean(true).fixed(attributes.bytes()).boolean(false);
  cut_bytes(found.bytes(), nfs3::decode_lookup);
  CHECK(*nfs3::decode_lookup(found.bytes()) == handle);
  XdrWriter refused;
  refused.u32(13).boolean(false);
  CHECK(nfs3::decode_lookup(refused.bytes()).error().detail == "NFS3ERR_ACCES");
  CHECK(nfs3::decode_create(refused.bytes()).error().code == 13);
  CHECK(nfs3::decode_remove(refused.bytes()).error().reason == Reason::status);
  XdrWriter huge;
  huge.u32(0).u32(65);
  CHECK(reason_of(nfs3::decode_lookup(huge.bytes())) == Reason::count_too_large);

  for (std::uint32_t stat = 0; stat < 10; ++stat) {
    XdrWriter result;
    result.u32(4).u32(2).u32(stat);
    cut_bytes(result.bytes(), nlm::decode_result4);
    CHECK(*nlm::decode_result4(result.bytes()) == static_cast<nlm::Stat>(stat));
  }
  XdrWriter unheard;
  unheard.u32(0).u32(10);
  CHECK(reason_of(nlm::decode_result4(unheard.bytes())) == Reason::bad_value);
}
