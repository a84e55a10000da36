#include "tests/wire/fake_target.h"

#include <sys/socket.h>

#include <algorithm>

#include "audit/base/text.h"
#include "probes/wire/iscsi_chap.h"

namespace wire_test {
namespace {

using namespace wire;
using namespace wire::iscsi;

constexpr std::uint32_t blocks = 131072;  // of 512 bytes

void put16(Bytes& out, std::uint32_t value) {
  out.push_back(static_cast<std::uint8_t>(value >> 8));
  out.push_back(static_cast<std::uint8_t>(value));
}
void put32(Bytes& out, std::uint32_t value) {
  put16(out, value >> 16);
  put16(out, value & 0xffff);
}

Bytes from_hex(const std::string& text) {
  Bytes out;
  for (std::size_t i = 0; i + 1 < text.size(); i += 2)
    out.push_back(*base::number<std::uint8_t>(std::string_view(text).substr(i, 2), 16));
  return out;
}

Bytes page(std::uint8_t number, const Bytes& body) {
  Bytes out = {0, number};
  put16(out, static_cast<std::uint32_t>(body.size()));
  out.insert(out.end(), body.begin(), body.end());
  return out;
}

struct ScsiReply {
  std::uint8_t status = 0;
  Bytes data;
  Bytes sense;
};

ScsiReply illegal(std::uint8_t asc) {
  ScsiReply reply{2, {}, Bytes(18)};
  reply.sense[0] = 0x70;
  reply.sense[2] = 5;
  reply.sense[7] = 10;
  reply.sense[12] = asc;
  return reply;
}

Bytes designators(const FakeTargetSettings& settings) {
  const Bytes naa = from_hex(settings.naa);
  Bytes out = {1, 3, 0, static_cast<std::uint8_t>(naa.size())};
  out.insert(out.end(), naa.begin(), naa.end());
  out.insert(out.end(), {1, 0x94, 0, 4, 0, 0, 0, static_cast<std::uint8_t>(settings.tag)});  // relative port
  out.insert(out.end(), {1, 0x95, 0, 4, 0, 0, 0, static_cast<std::uint8_t>(settings.tag)});  // port group
  return out;
}

Bytes standard_inquiry() {
  Bytes out(36);
  out[2] = 6;
  out[3] = 2;
  out[4] = 31;
  out[5] = 0x10;  // implicit ALUA
  out[7] = 0x02;
  const std::string texts = "ACME    virtual disk    0123";
  std::copy(texts.begin(), texts.end(), out.begin() + 8);
  return out;
}

ScsiReply inquiry(const FakeTargetSettings& settings, const std::uint8_t* cdb) {
  if ((cdb[1] & 1) == 0) return {0, standard_inquiry(), {}};
  Bytes limits(60);
  limits[3] = 8;      // optimal granularity
  limits[6] = 0x40;   // 16384 blocks at most
  limits[10] = 0x08;  // 2048 blocks best
  limits[17] = 0x40;
  limits[23] = 1;
  limits[27] = 8;  // unmap granularity
  Bytes characteristics(60);
  characteristics[1] = 1;
  const std::string serial = "SERIAL0001  ";
  switch (cdb[2]) {
    case 0x00: return {0, page(0, {0x00, 0x80, 0x83, 0xb0, 0xb1, 0xb2}), {}};
    case 0x80: return {0, page(0x80, Bytes(serial.begin(), serial.end())), {}};
    case 0x83: return {0, page(0x83, designators(settings)), {}};
    case 0xb0: return {0, page(0xb0, limits), {}};
    case 0xb1: return {0, page(0xb1, characteristics), {}};
    case 0xb2: return {0, page(0xb2, {0, 0xe0, 2, 0}), {}};
    default: return illegal(0x24);
  }
}

ScsiReply execute(const FakeTargetSettings& settings, TargetState& state, const Pdu& request) {
  const std::uint8_t* cdb = request.head.data() + 32;
  const bool lun0 =
      std::all_of(request.head.begin() + 8, request.head.begin() + 16, [](std::uint8_t byte) { return byte == 0; });
  if (cdb[0] == 0xa0) {
    Bytes out;
    put32(out, 8);
    put32(out, 0);
    out.resize(16);
    return {0, out, {}};
  }
  if (!lun0 || settings.lun_vanishes) return illegal(0x25);
  switch (cdb[0]) {
    case 0x00: return {};
    case 0x12: return inquiry(settings, cdb);
    case 0x1a: return {0, {3, 0, static_cast<std::uint8_t>(settings.read_only ? 0x80 : 0), 0}, {}};
    case 0x9e: {
      Bytes out;
      put32(out, 0);
      put32(out, blocks - 1);
      put32(out, 512);
      out.resize(32);
      out[13] = 3;     // 4 KiB physical
      out[14] = 0xc0;  // thin, reads zeros
      return {0, out, {}};
    }
    case 0xa3: {
      Bytes out;
      put32(out, 12);
      out.insert(out.end(), {settings.access_state, 0x0f, 0, static_cast<std::uint8_t>(settings.tag), 0, 0, 0, 1, 0, 0,
                             0, static_cast<std::uint8_t>(settings.tag)});
      return {0, out, {}};
    }
    case 0x88: {
      const std::uint32_t count =
          std::uint32_t{cdb[10]} << 24 | std::uint32_t{cdb[11]} << 16 | std::uint32_t{cdb[12]} << 8 | cdb[13];
      return {0, Bytes(std::size_t{count} * 512, 0x5a), {}};
    }
    default: ++state.writes; return illegal(0x20);
  }
}

// Data-In and the response, in two parts with the later one first where there is enough of it.
bool answer_command(TargetTalk& talk, const Pdu& request, const ScsiReply& reply) {
  const std::size_t wanted = request.u32(20);
  const Bytes data(reply.data.begin(),
                   reply.data.begin() + static_cast<std::ptrdiff_t>(std::min(wanted, reply.data.size())));
  const std::size_t half = data.size() > 1024 ? data.size() / 2 / 4 * 4 : 0;
  const auto part = [&](std::size_t begin, std::size_t end) {
    Pdu out = talk.response(Opcode::data_in, request, false);
    out.head[1] = 0x80;
    out.set_u32(40, static_cast<std::uint32_t>(begin));
    out.data.assign(data.begin() + static_cast<std::ptrdiff_t>(begin), data.begin() + static_cast<std::ptrdiff_t>(end));
    return talk.send(out);
  };
  if (!data.empty() && !part(half, data.size())) return false;
  if (half != 0 && !part(0, half)) return false;
  Pdu out = talk.response(Opcode::scsi_response, request);
  out.head[1] = 0x80;
  out.head[3] = reply.status;
  if (!reply.sense.empty()) {
    put16(out.data, static_cast<std::uint32_t>(reply.sense.size()));
    out.data.insert(out.data.end(), reply.sense.begin(), reply.sense.end());
  }
  return talk.send(out);
}

const TextKeys usual = {
    {"HeaderDigest", "CRC32C"},     {"DataDigest", "None"},       {"MaxRecvDataSegmentLength", "65536"},
    {"DefaultTime2Wait", "2"},      {"DefaultTime2Retain", "20"}, {"MaxConnections", "4"},
    {"InitialR2T", "Yes"},          {"ImmediateData", "Yes"},     {"MaxBurstLength", "262144"},
    {"FirstBurstLength", "65536"},  {"MaxOutstandingR2T", "8"},   {"DataPDUInOrder", "Yes"},
    {"DataSequenceInOrder", "Yes"}, {"ErrorRecoveryLevel", "0"},  {"TaskReporting", "NotUnderstood"}};

class Conversation {
 public:
  Conversation(const FakeTargetSettings& settings, TargetState& state, TargetTalk& talk)
      : settings_(settings), state_(state), talk_(talk) {}

  void run() {
    while (auto request = talk_.receive()) {
      if (settings_.intercept && settings_.intercept(talk_, *request)) continue;
      if (!answer(*request)) break;
    }
    if (logged_in_) {
      --state_.sessions;
      ++state_.dropped;
    }
  }

 private:
  bool answer(const Pdu& request) {
    if (request.is(Opcode::login_request)) return login(request);
    if (request.is(Opcode::text_request)) return text(request);
    if (request.is(Opcode::nop_out)) {
      if (request.itt() == no_tag) return true;
      Pdu pong = talk_.response(Opcode::nop_in, request);
      pong.head[1] = 0x80;
      pong.set_u32(at::ttt, no_tag);
      return talk_.send(pong);
    }
    if (request.is(Opcode::logout_request)) {
      if (logged_in_) --state_.sessions;
      logged_in_ = false;
      ++state_.logouts;
      Pdu bye = talk_.response(Opcode::logout_response, request);
      bye.head[1] = 0x80;
      talk_.send(bye);
      return false;
    }
    if (request.is(Opcode::scsi_command)) {
      if (!request.immediate()) ++talk_.exp_cmd_sn;
      return answer_command(talk_, request, execute(settings_, state_, request));
    }
    return false;
  }

  bool reply(const Pdu& request, const TextKeys& keys, bool transit, std::uint16_t status = 0) {
    Pdu out = talk_.response(Opcode::login_response, request);
    out.head[1] = static_cast<std::uint8_t>((request.flags() & 0x0c) | (transit ? 0x80 | (request.flags() & 3) : 0));
    std::copy_n(request.head.begin() + 8, 6, out.head.begin() + 8);
    if (transit && (request.flags() & 3) == 3) out.set_u16(14, 7);
    out.set_u16(36, status);
    out.data = encode_text(keys);
    return talk_.send(out);
  }

  bool login(const Pdu& request) {
    const auto keys = decode_text(request.data);
    if (!keys) return false;
    seen_.insert(seen_.end(), keys->begin(), keys->end());
    const bool transit = (request.flags() & 0x80) != 0;
    if ((request.flags() >> 2 & 3) == 0) return security(request, *keys, transit);
    TextKeys answers;
    for (const auto& [key, value] : *keys) {
      const auto* own = find(settings_.answers, key);
      if (own == nullptr) own = find(usual, key);
      if (own != nullptr) answers.push_back({key, *own});
      if (own == nullptr && settings_.answers.empty()) answers.push_back({key, "NotUnderstood"});
    }
    for (const auto& key : settings_.answers)
      if (find(*keys, key.key) == nullptr) answers.push_back(key);
    if (!reply(request, answers, transit)) return false;
    if (!transit) return true;
    const auto* header = find(answers, "HeaderDigest");
    const auto* data = find(answers, "DataDigest");
    talk_.digests = {header != nullptr && *header == "CRC32C", data != nullptr && *data == "CRC32C"};
    talk_.reader.set_digests(talk_.digests);
    logged_in_ = true;
    ++state_.sessions;
    ++state_.logins;
    const std::lock_guard lock(state_.mutex);
    state_.offered = seen_;
    if (const auto* name = find(seen_, "InitiatorName")) state_.initiators.push_back(*name);
    std::array<std::uint8_t, 6> isid = {};
    std::copy_n(request.head.begin() + 8, isid.size(), isid.begin());
    state_.isids.push_back(isid);
    return true;
  }

  bool security(const Pdu& request, const TextKeys& keys, bool transit) {
    const auto* session = find(keys, "SessionType");
    if (session != nullptr && *session == "Normal") {
      const auto* target = find(keys, "TargetName");
      const bool known = target != nullptr && std::count(settings_.names.begin(), settings_.names.end(), *target) != 0;
      if (!known) return reply(request, {}, false, 0x0203) && false;
    }
    const TextKey tag{"TargetPortalGroupTag", std::to_string(settings_.tag)};
    if (const auto* method = find(keys, "AuthMethod")) {
      const bool chap = !settings_.user.empty();
      if (chap && method->find("CHAP") == std::string::npos) return reply(request, {}, false, 0x0201) && false;
      return chap ? reply(request, {{"AuthMethod", "CHAP"}, tag}, false)
                  : reply(request, {{"AuthMethod", "None"}, tag, {"TargetAlias", "fake"}}, transit);
    }
    if (find(keys, "CHAP_A") != nullptr)
      return reply(request, {{"CHAP_A", "5"}, {"CHAP_I", "42"}, {"CHAP_C", "0x00112233445566778899aabbccddeeff"}},
                   false);
    if (const auto* proof = find(keys, "CHAP_R")) {
      const auto challenge = from_hex("00112233445566778899aabbccddeeff");
      const auto wanted = encode_binary(chap_response(ChapDigest::md5, 42, settings_.secret, challenge));
      const auto* user = find(keys, "CHAP_N");
      if (user == nullptr || *user != settings_.user || *proof != wanted)
        return reply(request, {}, false, 0x0201) && false;
      TextKeys answer;
      if (const auto* ours = find(keys, "CHAP_C")) {
        const auto bytes = decode_binary(*ours, 1024);
        const auto id = base::number<std::uint8_t>(*find(keys, "CHAP_I"));
        answer = {{"CHAP_N", "fake"},
                  {"CHAP_R", encode_binary(chap_response(ChapDigest::md5, *id, settings_.mutual_secret, *bytes))}};
      }
      return reply(request, answer, transit);
    }
    return reply(request, {}, transit);
  }

  bool text(const Pdu& request) {
    const auto keys = decode_text(request.data);
    Pdu out = talk_.response(Opcode::text_response, request);
    out.head[1] = 0x80;
    out.set_u32(at::ttt, no_tag);
    TextKeys answer;
    if (keys && find(*keys, "SendTargets") != nullptr) {
      for (const auto& name : settings_.names) {
        answer.push_back({"TargetName", name});
        for (const auto& portal : settings_.portals) answer.push_back({"TargetAddress", portal});
        if (settings_.portals.empty()) {
          sockaddr_storage own = {};
          Address address;
          address.size = sizeof own;
          ::getsockname(talk_.fd, reinterpret_cast<sockaddr*>(&address.storage), &address.size);
          answer.push_back({"TargetAddress", address.text() + "," + std::to_string(settings_.tag)});
        }
      }
    }
    out.data = encode_text(answer);
    return talk_.send(out);
  }

  const FakeTargetSettings& settings_;
  TargetState& state_;
  TargetTalk& talk_;
  TextKeys seen_;
  bool logged_in_ = false;
};

}  // namespace

bool TargetTalk::send(const Pdu& pdu) const { return Peer::send_all(fd, encode(pdu, digests)); }

std::optional<Pdu> TargetTalk::receive() {
  while (true) {
    auto pdu = reader.next();
    if (!pdu) return std::nullopt;
    if (*pdu) return std::move(*pdu);
    std::uint8_t buffer[4096];
    const ssize_t got = ::recv(fd, buffer, sizeof buffer, 0);
    if (got <= 0) return std::nullopt;
    reader.feed({buffer, static_cast<std::size_t>(got)});
  }
}

Pdu TargetTalk::response(Opcode opcode, const Pdu& request, bool with_status) {
  Pdu out(opcode);
  out.set_u32(at::itt, request.itt());
  if (with_status) out.set_u32(at::stat_sn, stat_sn++);
  if (request.is(Opcode::login_request)) exp_cmd_sn = request.u32(at::cmd_sn);
  return out.set_u32(at::exp_cmd_sn, exp_cmd_sn).set_u32(at::max_cmd_sn, exp_cmd_sn + 31);
}

FakeTarget::FakeTarget(FakeTargetSettings settings) {
  peer_ = std::make_unique<Peer>([settings = std::move(settings), state = state_](Peer& peer, int fd) {
    TargetTalk talk{peer, fd, PduReader({1 << 20, PduReader::From::initiator}), {}};
    Conversation(settings, *state, talk).run();
  });
}

}  // namespace wire_test
