// PDUs, texts, CHAP and SCSI answers as bytes.
#include <catch2/catch.hpp>

#include "audit/base/text.h"
#include "probes/wire/iscsi_chap.h"
#include "probes/wire/iscsi_login.h"
#include "probes/wire/iscsi_pdu.h"
#include "probes/wire/iscsi_text.h"
#include "probes/wire/scsi.h"

using namespace wire;
using namespace wire::iscsi;

namespace {

Bytes bytes(const std::string& hex) {
  Bytes out;
  for (const auto word : base::fields(hex)) out.push_back(*base::number<std::uint8_t>(word, 16));
  return out;
}

std::string hex(View view) {
  std::string out;
  for (const auto byte : view) {
    const char* digits = "0123456789abcdef";
    out += digits[byte >> 4];
    out += digits[byte & 15];
  }
  return out;
}

Bytes as_bytes(std::string_view text) { return {text.begin(), text.end()}; }

template <class T>
std::string failure_of(const Outcome<T>& outcome) {
  return outcome ? "none" : reason_name(outcome.error().reason);
}

Pdu text_response(const std::string& text) {
  Pdu pdu(Opcode::text_response);
  pdu.head[1] = 0x80;
  pdu.set_u32(at::itt, 7).set_u32(at::stat_sn, 9);
  pdu.data = as_bytes(text);
  return pdu;
}

}  // namespace

TEST_CASE("CRC32C is that of RFC 7143 appendix A.4") {
  CHECK(hex(crc32c(Bytes(32, 0))) == "aa36918a");
  CHECK(hex(crc32c(Bytes(32, 0xff))) == "43aba862");
  Bytes up(32);
  for (std::size_t i = 0; i < up.size(); ++i) up[i] = static_cast<std::uint8_t>(i);
  CHECK(hex(crc32c(up)) == "4e79dd46");
  const Bytes read_pdu = bytes(
      "01 c0 00 00 00 00 00 00 00 00 00 00 00 00 00 00 14 00 00 00 00 00 04 00 00 00 00 14 00 00 00 18 28 00 00 00 00 "
      "00 00 00 02 00 00 00 00 00 00 00");
  CHECK(hex(crc32c(read_pdu)) == "563a96d9");
}

TEST_CASE("PDU: what is encoded comes back, with and without digests, at once and byte by byte") {
  for (const Digests digests : {Digests{}, Digests{true, false}, Digests{false, true}, Digests{true, true}}) {
    Pdu with_ahs = text_response("SendTargets");
    with_ahs.ahs = bytes("00 05 01 aa bb cc dd ee");
    const std::vector<Pdu> pdus = {text_response("a=b"), text_response(""), text_response("four"), with_ahs};
    Bytes stream;
    for (const auto& pdu : pdus) {
      const Bytes one = encode(pdu, digests);
      CHECK(one.size() % 4 == 0);
      stream.insert(stream.end(), one.begin(), one.end());
    }
    for (const std::size_t step : {stream.size(), std::size_t{1}, std::size_t{7}}) {
      PduReader reader;
      reader.set_digests(digests);
      std::vector<Pdu> got;
      for (std::size_t i = 0; i < stream.size(); i += step) {
        reader.feed(View(stream).subspan(i, std::min(step, stream.size() - i)));
        while (true) {
          auto pdu = reader.next();
          REQUIRE(pdu.has_value());
          if (!*pdu) break;
          got.push_back(**pdu);
        }
      }
      CHECK_FALSE(reader.inside_pdu());
      REQUIRE(got.size() == pdus.size());
      for (std::size_t i = 0; i < got.size(); ++i) {
        CHECK(got[i].data == pdus[i].data);
        CHECK(got[i].ahs == pdus[i].ahs);
        CHECK(got[i].itt() == 7);
        CHECK(got[i].is(Opcode::text_response));
      }
    }
  }
}

TEST_CASE("PDU: each fault has its name") {
  const auto read = [](const Bytes& stream, Digests digests = {}) {
    PduReader reader({4096, PduReader::From::target});
    reader.set_digests(digests);
    reader.feed(stream);
    return failure_of(reader.next());
  };
  Bytes good = encode(text_response("abcd"), {});
  CHECK(read(good) == "none");
  CHECK(read(as_bytes("HTTP/1.1 400 Bad Request\r\n")) == "not_iscsi");
  CHECK(read(as_bytes("SSH-2.0")) == "not_iscsi");
  CHECK(read(bytes("15 03 03 00 02 02 28")) == "not_iscsi");
  CHECK(read(encode(Pdu(Opcode::login_request, true), {})) == "not_iscsi");
  CHECK(read(Bytes(good.begin(), good.end() - 1)) == "none");  // not yet whole
  Bytes huge = good;
  huge[5] = 0xff;
  CHECK(read(huge) == "pdu_too_large");
  Bytes ahs = good;
  ahs[4] = 1;  // the data is taken for a header segment that names more than there is
  ahs[7] = 0;
  ahs[49] = 0x40;
  CHECK(read(ahs) == "bad_value");
  Bytes digest = encode(text_response("abcd"), {true, true});
  CHECK(read(digest, {true, true}) == "none");
  digest[50] ^= 1;
  CHECK(read(digest, {true, true}) == "header_digest_error");
  digest[50] ^= 1;
  digest.back() ^= 1;
  CHECK(read(digest, {true, true}) == "data_digest_error");
  // A header that lies about its length is found out before its data is waited for.
  Bytes lying = encode(text_response("abcd"), {true, true});
  lying[6] = 0x0f;
  CHECK(read(lying, {true, true}) == "header_digest_error");
}

TEST_CASE("text: keys and values, and what is none") {
  const auto keys = decode_text(as_bytes(std::string("TargetName=iqn.x\0TargetAddress=1.2.3.4:3260,1\0\0\0A=", 50)));
  REQUIRE(keys.has_value());
  CHECK(*keys == TextKeys{{"TargetName", "iqn.x"}, {"TargetAddress", "1.2.3.4:3260,1"}, {"A", ""}});
  CHECK(decode_text(encode_text(*keys)) == *keys);
  CHECK(failure_of(decode_text(as_bytes("no pair"))) == "bad_value");
  CHECK(failure_of(decode_text(as_bytes("=value"))) == "bad_value");
  CHECK(failure_of(decode_text(as_bytes(std::string(64, 'k') + "=v"))) == "bad_value");
  std::string many;
  for (std::size_t i = 0; i <= most_keys; ++i) many += std::string("a=b") + '\0';
  CHECK(failure_of(decode_text(as_bytes(many))) == "count_too_large");
  CHECK(number_of("0x10") == 16U);
  CHECK(number_of("262144") == 262144U);
  CHECK_FALSE(number_of("-1"));
  CHECK_FALSE(number_of("0x"));
  CHECK_FALSE(number_of("99999999999999999999"));
  CHECK(list_of("CRC32C, None,") == std::vector<std::string>{"CRC32C", "None"});
}

TEST_CASE("text: binary values in hexadecimal and base64") {
  CHECK(decode_binary("0x00ff10", 16) == bytes("00 ff 10"));
  CHECK(decode_binary("0Xf10", 16) == bytes("0f 10"));
  CHECK(decode_binary("0bAP8Q", 16) == bytes("00 ff 10"));
  CHECK(decode_binary("0bAP8=", 16) == bytes("00 ff"));
  CHECK(encode_binary(bytes("00 ff")) == "0x00ff");
  CHECK(failure_of(decode_binary("0x", 16)) == "bad_value");
  CHECK(failure_of(decode_binary("00ff", 16)) == "bad_value");
  CHECK(failure_of(decode_binary("0xzz", 16)) == "bad_value");
  CHECK(failure_of(decode_binary("0b*", 16)) == "bad_value");
  CHECK(failure_of(decode_binary("0x" + std::string(34, 'a'), 16)) == "count_too_large");
  CHECK(failure_of(decode_binary("0b" + std::string(24, 'A'), 16)) == "count_too_large");
}

TEST_CASE("text: portals as targets write them") {
  const auto address = [](std::string_view text) {
    const auto got = decode_target_address(text);
    return got ? to_text(*got) : std::string(reason_name(got.error().reason));
  };
  CHECK(address("192.0.2.1:3260,1") == "192.0.2.1:3260,1");
  CHECK(address("192.0.2.1,1025") == "192.0.2.1:3260,1025");
  CHECK(address("192.0.2.1") == "192.0.2.1:3260");
  CHECK(address("[2001:db8::1]:3261,2") == "[2001:db8::1]:3261,2");
  CHECK(address("[fe80::1]:3260,1") == "[fe80::1]:3260,1");
  CHECK(address("2001:db8::1,1") == "[2001:db8::1]:3260,1");
  CHECK(address("array.example.com:3260,1") == "array.example.com:3260,1");
  for (const char* wrong : {"", ":3260,1", "192.0.2.1:0,1", "192.0.2.1:70000", "192.0.2.1:3260,x", "[::1:3260,1",
                            "[::1]3260", "[::1]:", "192.0.2.1:", "[[x]:3260,1", "a b:3260,1", "a,b:3260,1"})
    CHECK(address(wrong) == "bad_value");
}

TEST_CASE("text: SendTargets keeps what is right in an answer with odd entries") {
  const auto found = decode_send_targets({{"TargetAddress", "192.0.2.9:3260,1"},
                                          {"TargetName", "iqn.a"},
                                          {"TargetAddress", "192.0.2.1:3260,1"},
                                          {"TargetAddress", "192.0.2.1:3260,1"},
                                          {"TargetAddress", "nonsense:,"},
                                          {"TargetName", std::string(300, 'x')},
                                          {"TargetAddress", "192.0.2.3:3260,1"},
                                          {"TargetName", "iqn.b"},
                                          {"X-vendor", "1"},
                                          {"TargetName", "iqn.a"},
                                          {"TargetAddress", "[fd00::1]:3260,2"}});
  REQUIRE(found.targets.size() == 2);
  CHECK(found.targets[0].name == "iqn.a");
  REQUIRE(found.targets[0].addresses.size() == 2);
  CHECK(to_text(found.targets[0].addresses[1]) == "[fd00::1]:3260,2");
  CHECK(found.targets[1].addresses.empty());
  CHECK(found.notes.size() == 5);
}

TEST_CASE("CHAP: responses of all digests") {
  // digest(0x01 "secretsecret12" 0x00112233), made with Python's hashlib.
  const Bytes challenge = bytes("00 11 22 33");
  const auto response = [&](ChapDigest digest) { return hex(chap_response(digest, 1, "secretsecret12", challenge)); };
  CHECK(response(ChapDigest::md5) == "ae0bd44cb2f72ff8b7ad2f3d1a1a4b24");
  CHECK(response(ChapDigest::sha1) == "0b27f2b0ff074f8b7d61998c37a59217ac0c863e");
  CHECK(response(ChapDigest::sha256) == "b8ece1a8eaab689928dfbbb025e8ae02154b38dd68652430f047b63d4fb5dff4");
  CHECK(response(ChapDigest::sha3_256) == "ef225cf8615740091697771bef3430fa27e88e49a66232a3b6f792c4c8f218c4");
  CHECK(chap_digest_of("7") == ChapDigest::sha256);
  CHECK_FALSE(chap_digest_of("4"));
  CHECK_FALSE(chap_digest_of("9"));
  CHECK_FALSE(chap_digest_of("MD5"));
}

TEST_CASE("login: our session ids are of the random kind and differ") {
  const auto one = random_isid();
  CHECK(one[0] == 0x80);
  CHECK(one != random_isid());
}

TEST_CASE("login: status words tell class, detail and what is wrong") {
  CHECK(login_status_words(0x0201).find("0x0201 authentication failure") == 0);
  CHECK(login_status_words(0x0202).find("authorization") != std::string::npos);
  CHECK(login_status_words(0x0301).find("service unavailable") != std::string::npos);
  CHECK(login_status_words(0x0277) == "0x0277 initiator error of an unknown kind");
  CHECK(login_status_words(0x0955) == "0x0955 unknown status class");
}

TEST_CASE("SCSI: LUN numbers in both addressing methods") {
  CHECK(scsi::lun_number(scsi::lun_of(0)) == 0);
  CHECK(scsi::lun_number(scsi::lun_of(255)) == 255);
  CHECK(scsi::lun_of(300)[0] == 0x41);
  CHECK(scsi::lun_number(scsi::lun_of(300)) == 300);
  CHECK(scsi::lun_text({0xc1, 1, 0, 0, 0, 0, 0, 0}) == "0xc101000000000000");
  CHECK(scsi::lun_text(scsi::lun_of(12)) == "12");
}

TEST_CASE("SCSI: answers are decoded, cut ones are named") {
  Bytes inquiry(36);
  inquiry[0] = 0x0c;
  inquiry[5] = 0x10;
  const std::string texts = "NETAPP  LUN C-Mode      9161";
  std::copy(texts.begin(), texts.end(), inquiry.begin() + 8);
  const auto decoded = scsi::decode_inquiry(inquiry);
  REQUIRE(decoded.has_value());
  CHECK(decoded->vendor == "NETAPP");
  CHECK(decoded->product == "LUN C-Mode");
  CHECK(decoded->revision == "9161");
  CHECK(decoded->tpgs == 1);
  CHECK(scsi::device_type_name(decoded->type) == "controller");
  CHECK(failure_of(scsi::decode_inquiry(Bytes(35))) == "short_reply");

  const auto capacity = scsi::decode_read_capacity16(
      bytes("00 00 00 00 00 03 ff ff 00 00 02 00 01 03 c0 05 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00"));
  REQUIRE(capacity.has_value());
  CHECK(capacity->blocks == 262144);
  CHECK(capacity->block_bytes == 512);
  CHECK(capacity->thin);
  CHECK(capacity->reads_zeros);
  CHECK(capacity->lowest_aligned_block == 5);
  CHECK(capacity->physical_exponent == 3);
  CHECK(failure_of(scsi::decode_read_capacity16(Bytes(11))) == "short_reply");
  CHECK(failure_of(scsi::decode_read_capacity16(Bytes(32))) == "bad_value");

  const auto ids = scsi::decode_vpd_designators(
      bytes("00 83 00 24 01 03 00 10 60 0a 09 80 38 31 36 41 5d 5d 4f 32 39 6c 51 4e 01 94 00 04 00 00 00 02 01 95 00 "
            "04 00 00 03 e9"));
  REQUIRE(ids.has_value());
  REQUIRE(ids->size() == 3);
  CHECK((*ids)[0].text == "naa.600a0980383136415d5d4f32396c514e");
  CHECK((*ids)[1].number == 2);
  CHECK((*ids)[2].number == 1001);
  CHECK(scsi::best_designator(*ids) == &(*ids)[0]);
  CHECK(failure_of(scsi::decode_vpd_designators(bytes("00 83 00 04 01 03 00 10"))) == "short_reply");
  CHECK(failure_of(scsi::decode_vpd_designators(bytes("00 80 00 00"))) == "bad_value");

  const auto groups = scsi::decode_port_groups(
      bytes("00 00 00 1c 80 0f 00 01 00 02 00 01 00 00 00 01 01 0f 00 02 00 02 00 02 00 00 00 02 00 00 00 03"));
  REQUIRE(groups.has_value());
  REQUIRE(groups->size() == 2);
  CHECK((*groups)[0].preferred);
  CHECK(scsi::access_state_name((*groups)[1].state) == "active/non-optimized");
  CHECK((*groups)[1].ports == std::vector<std::uint16_t>{2, 3});
  CHECK(failure_of(scsi::decode_port_groups(bytes("00 00 00 09 80 0f 00 01 00 02 00 ff 00"))) == "short_reply");

  const auto luns =
      scsi::decode_report_luns(bytes("00 00 00 10 00 00 00 00 00 00 00 00 00 00 00 00 00 01 00 00 00 00 "
                                     "00 00"));
  REQUIRE(luns.has_value());
  CHECK(luns->size() == 2);
  // A length that claims more than came gives what came.
  CHECK(scsi::decode_report_luns(bytes("7f ff ff ff 00 00 00 00 00 01 00 00 00 00 00 00"))->size() == 1);
  CHECK(scsi::decode_write_protect(bytes("03 00 80 00")) == true);
  CHECK(scsi::decode_write_protect(bytes("03 00 10 00")) == false);
  CHECK(scsi::sense_words(0x02052500) == "illegal request, logical unit not supported (5/2500)");
}
