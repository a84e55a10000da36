#include "probes/wire/iscsi_login.h"

#include <fmt/format.h>
#include <sys/random.h>

#include <algorithm>

#include "audit/base/text.h"
#include "probes/io/loop.h"

namespace wire::iscsi {
namespace {

constexpr unsigned full_feature = 3;            // NSG
constexpr std::uint32_t most_exchanges = 32;    // of a whole login; four or five are usual
constexpr std::size_t most_login_text = 65536;  // of one response with all its continuations
constexpr std::size_t most_rows = 256;
constexpr std::size_t longest_challenge = 1024;  // section 12.1.3
constexpr std::size_t challenge_bytes = 16;

void fill_random(std::uint8_t* to, std::size_t size) {
  std::size_t done = 0;
  while (done < size) {
    const ssize_t got = ::getrandom(to + done, size - done, 0);
    if (got > 0) done += static_cast<std::size_t>(got);
  }
}

// Proofs and challenges are no facts: with them a secret can be guessed at leisure.
bool is_proof(std::string_view key) { return key == "CHAP_C" || key == "CHAP_R" || key == "CHAP_N" || key == "CHAP_I"; }

// The target says these without being asked, and no answer is due.
bool is_declared(std::string_view key) {
  return key == "TargetAlias" || key == "TargetAddress" || key == "TargetPortalGroupTag" ||
         key == "MaxRecvDataSegmentLength" || key == "TargetName";
}

bool is_answer_word(std::string_view value) {
  return value == "NotUnderstood" || value == "Reject" || value == "Irrelevant";
}

}  // namespace

Isid random_isid() {
  Isid isid = {};
  fill_random(isid.data(), isid.size());
  isid[0] = 0x80;  // type 10b, A reserved: B and C are random, D is the qualifier
  return isid;
}

Login::Login(LoginOffer offer) : offer_(std::move(offer)) {
  std::uint8_t tag[4];
  fill_random(tag, sizeof tag);
  tag_ = std::uint32_t{tag[0]} << 24 | std::uint32_t{tag[1]} << 16 | std::uint32_t{tag[2]} << 8 | 1U;
}

Pdu Login::request(const TextKeys& keys, bool transit) {
  transit_asked_ = transit;
  const unsigned next = stage_ == 0 ? 1 : full_feature;
  Pdu pdu(Opcode::login_request, true);
  pdu.head[1] = static_cast<std::uint8_t>((transit ? 0x80U | next : 0U) | stage_ << 2);
  std::copy(offer_.isid.begin(), offer_.isid.end(), pdu.head.begin() + at::lun);
  pdu.set_u32(at::itt, tag_).set_u32(at::cmd_sn, result_.cmd_sn).set_u32(at::exp_stat_sn, result_.exp_stat_sn);
  pdu.data = encode_text(keys);
  for (const auto& [key, value] : keys) {
    if (is_proof(key)) continue;
    const auto row = std::find_if(result_.keys.begin(), result_.keys.end(),
                                  [&k = key](const KeyRow& item) { return item.key == k; });
    if (row == result_.keys.end()) result_.keys.push_back({key, value, {}});
  }
  return pdu;
}

Pdu Login::first() {
  TextKeys keys = {{"InitiatorName", offer_.initiator_name},
                   {"InitiatorAlias", "mountaudit"},
                   {"SessionType", discovery() ? "Discovery" : "Normal"}};
  if (!discovery()) keys.push_back({"TargetName", offer_.target_name});
  // The target takes the first that it can: without a secret CHAP is chosen only where it is demanded.
  keys.push_back({"AuthMethod", offer_.chap ? "CHAP,None" : "None,CHAP"});
  chap_ = Chap::method_offered;
  return request(keys, true);
}

Outcome<std::optional<Pdu>> Login::refused(const Pdu& response) {
  Failure failure{Reason::login_status, login_status_words(*result_.status)};
  failure.code = *result_.status;
  const auto keys = decode_text(response.data);
  if (*result_.status >> 8 == 1) {
    const auto* to = keys ? find(*keys, "TargetAddress") : nullptr;
    if (to == nullptr) return fail(Reason::bad_value, "a redirection without TargetAddress");
    auto address = decode_target_address(*to);
    if (!address) return tl::unexpected(address.error());
    result_.redirect = std::move(*address);
  }
  return tl::unexpected(failure);
}

Outcome<std::optional<Pdu>> Login::take(const Pdu& response) {
  ++result_.exchanges;
  if (!response.is(Opcode::login_response))
    return fail(Reason::unexpected_pdu, fmt::format("{} during the login", opcode_name(response.opcode())));
  result_.status = response.u16(36);
  result_.version_max = response.head[2];
  result_.version_active = response.head[3];
  if (*result_.status != 0) return refused(response);
  if (response.itt() != tag_) return fail(Reason::unexpected_pdu, "a Login Response with a task tag that is not ours");
  result_.exp_stat_sn = response.u32(at::stat_sn) + 1;
  result_.exp_cmd_sn = response.u32(at::exp_cmd_sn);
  result_.max_cmd_sn = response.u32(at::max_cmd_sn);
  if (result_.exchanges >= most_exchanges)
    return fail(Reason::endless_negotiation, fmt::format("no end of the login after {} responses", result_.exchanges));

  const bool transit = (response.flags() & 0x80) != 0;
  const bool goes_on = (response.flags() & 0x40) != 0;
  const unsigned stage = response.flags() >> 2 & 3U;
  const unsigned next = response.flags() & 3U;
  if (stage != stage_)
    return fail(Reason::bad_value, fmt::format("a response of stage {} to a request of stage {}", stage, stage_));
  if (transit && (goes_on || !transit_asked_ || next != (stage_ == 0 ? 1 : full_feature)))
    return fail(Reason::bad_value, fmt::format("a transition from stage {} to {} that was not asked for", stage, next));
  text_.insert(text_.end(), response.data.begin(), response.data.end());
  if (text_.size() > most_login_text)
    return fail(Reason::endless_text, fmt::format("more than {} bytes of text in one answer", most_login_text));
  if (goes_on) return request({}, false);
  const auto keys = decode_text(text_);
  text_.clear();
  if (!keys) return tl::unexpected(keys.error());
  if (auto failure = note_keys(*keys)) return tl::unexpected(std::move(*failure));

  if (stage_ == 0) {
    if (!transit) return security(*keys);
    if (auto failure = leave_security(*keys)) return tl::unexpected(std::move(*failure));
    stage_ = 1;
    return request(operational_offer(), true);
  }
  if (!transit) return answer_questions(*keys);
  if (auto failure = leave_login()) return tl::unexpected(std::move(*failure));
  result_.tsih = response.u16(14);
  result_.complete = true;
  return std::nullopt;
}

std::optional<Failure> Login::note_keys(const TextKeys& keys) {
  for (const auto& [key, value] : keys) {
    if (key == "CHAP_R" && chap_ == Chap::answered) target_proof_ = value;
    if (is_proof(key)) continue;
    auto row = std::find_if(result_.keys.begin(), result_.keys.end(),
                            [&k = key](const KeyRow& item) { return item.key == k; });
    if (row == result_.keys.end()) {
      if (result_.keys.size() == most_rows)
        return Failure{Reason::count_too_large, fmt::format("more than {} keys in a login", most_rows)};
      row = result_.keys.insert(row, {key, {}, {}});
    }
    if (!row->answer) row->answer = value;
    const auto number = number_of(value);
    if (key == "TargetPortalGroupTag" && number && *number <= 0xffff) result_.tag = static_cast<std::uint16_t>(*number);
    if (key == "TargetAlias") result_.alias = value;
    if (key == "MaxRecvDataSegmentLength" && number && *number >= 512 && *number <= 0xffffff)
      result_.max_send_bytes = static_cast<std::uint32_t>(*number);
  }
  return std::nullopt;
}

Outcome<std::optional<Pdu>> Login::security(const TextKeys& keys) {
  if (chap_ == Chap::digest_offered) return chap_digest(keys);
  const auto* method = find(keys, "AuthMethod");
  if (chap_ != Chap::method_offered) return request({}, true);  // a target that takes one more step
  if (method == nullptr) return request({}, true);
  if (*method == "None") {
    result_.auth_method = "None";
    chap_ = Chap::none;
    return request({}, true);
  }
  if (*method != "CHAP")
    return fail(Reason::auth_method, fmt::format("the target answers AuthMethod={} to an offer of CHAP and None",
                                                 base::escape_control(method->substr(0, 80))));
  result_.auth_method = "CHAP";
  if (!offer_.chap) return fail(Reason::chap_wanted, "the target demands CHAP, and no user and secret were given");
  chap_ = Chap::digest_offered;
  return request({{"CHAP_A", chap_offer}}, false);
}

Outcome<std::optional<Pdu>> Login::chap_digest(const TextKeys& keys) {
  const auto* digest_text = find(keys, "CHAP_A");
  const auto* identifier_text = find(keys, "CHAP_I");
  const auto* challenge_text = find(keys, "CHAP_C");
  if (digest_text == nullptr || identifier_text == nullptr || challenge_text == nullptr)
    return fail(Reason::bad_value, "the target's CHAP lacks CHAP_A, CHAP_I or CHAP_C");
  const auto digest = chap_digest_of(*digest_text);
  if (!digest)
    return fail(Reason::bad_value, fmt::format("the target chose a CHAP digest that was not offered: {}",
                                               base::escape_control(digest_text->substr(0, 80))));
  const auto identifier = number_of(*identifier_text);
  if (!identifier || *identifier > 255) return fail(Reason::bad_value, "CHAP_I is no number from 0 to 255");
  const auto challenge = decode_binary(*challenge_text, longest_challenge);
  if (!challenge) return tl::unexpected(challenge.error());
  result_.chap_digest = digest;
  TextKeys answer = {{"CHAP_N", offer_.chap->user},
                     {"CHAP_R", encode_binary(chap_response(*digest, static_cast<std::uint8_t>(*identifier),
                                                            offer_.chap->secret, *challenge))}};
  if (!offer_.chap->mutual_secret.empty()) {
    mutual_challenge_.resize(challenge_bytes);
    fill_random(mutual_challenge_.data(), mutual_challenge_.size());
    fill_random(&mutual_identifier_, 1);
    answer.push_back({"CHAP_I", fmt::format("{}", mutual_identifier_)});
    answer.push_back({"CHAP_C", encode_binary(mutual_challenge_)});
  }
  chap_ = Chap::answered;
  return request(answer, true);
}

std::optional<Failure> Login::leave_security(const TextKeys& keys) {
  if (chap_ == Chap::method_offered) {
    const auto* method = find(keys, "AuthMethod");
    const std::string chosen = method == nullptr ? "None" : *method;
    if (chosen == "CHAP")
      return Failure{Reason::bad_value, "the target chose CHAP and left the security stage without it"};
    if (chosen != "None")
      return Failure{Reason::auth_method, fmt::format("the target answers AuthMethod={} to an offer of CHAP and None",
                                                      base::escape_control(chosen.substr(0, 80)))};
    result_.auth_method = "None";
    chap_ = Chap::none;
  } else if (chap_ == Chap::digest_offered) {
    return Failure{Reason::bad_value, "the target left the security stage in the middle of CHAP"};
  }
  const bool mutual = offer_.chap && !offer_.chap->mutual_secret.empty();
  if (!mutual) return std::nullopt;
  if (chap_ != Chap::answered)
    return Failure{Reason::target_not_authenticated, "mutual CHAP was asked for, and the target chose no CHAP at all"};
  if (auto failure = check_proof()) return failure;
  result_.target_authenticated = true;
  chap_ = Chap::done;
  return std::nullopt;
}

std::optional<Failure> Login::check_proof() const {
  if (!target_proof_) return Failure{Reason::target_not_authenticated, "the target did not answer our CHAP challenge"};
  const auto proof = decode_binary(*target_proof_, 64);
  if (!proof) return proof.error();
  const auto wanted =
      chap_response(*result_.chap_digest, mutual_identifier_, offer_.chap->mutual_secret, mutual_challenge_);
  if (*proof != wanted)
    return Failure{Reason::target_not_authenticated,
                   "the target's answer to our CHAP challenge is wrong: it does not know the mutual secret"};
  return std::nullopt;
}

TextKeys Login::operational_offer() const {
  const char* digests = offer_.lean ? "None" : "CRC32C,None";
  TextKeys keys = {{"HeaderDigest", digests},
                   {"DataDigest", digests},
                   {"MaxRecvDataSegmentLength", fmt::format("{}", offer_.max_recv_bytes)},
                   {"DefaultTime2Wait", "0"},        // the larger one counts
                   {"DefaultTime2Retain", "3600"}};  // the smaller one counts
  if (discovery()) return keys;
  const TextKeys normal = {{"MaxConnections", "65535"},
                           {"InitialR2T", "No"},  // Yes where either side says so
                           {"ImmediateData", "Yes"},
                           {"MaxBurstLength", "16777215"},
                           {"FirstBurstLength", "16777215"},
                           {"MaxOutstandingR2T", "65535"},
                           {"DataPDUInOrder", offer_.lean ? "Yes" : "No"},  // Yes where either side says so
                           {"DataSequenceInOrder", offer_.lean ? "Yes" : "No"},
                           {"ErrorRecoveryLevel", offer_.lean ? "0" : "2"},
                           {"TaskReporting", "FastAbort,ResponseFence,RFC3720"}};
  keys.insert(keys.end(), normal.begin(), normal.end());
  return keys;
}

// A target that asks for something itself gets an answer for each key, and is asked again whether the login may end.
Outcome<std::optional<Pdu>> Login::answer_questions(const TextKeys& keys) {
  TextKeys answers;
  for (const auto& [key, value] : keys) {
    const auto row = std::find_if(result_.keys.begin(), result_.keys.end(),
                                  [&k = key](const KeyRow& item) { return item.key == k; });
    const bool ours = row != result_.keys.end() && row->offered;
    if (ours || is_declared(key) || is_answer_word(value)) continue;
    const bool marker = key == "IFMarker" || key == "OFMarker";  // RFC 3720; gone with RFC 7143
    answers.push_back({key, marker ? "No" : "NotUnderstood"});
  }
  // What we say here answers; it is no offer of ours.
  const auto before = result_.keys;
  Pdu pdu = request(answers, true);
  result_.keys = before;
  return pdu;
}

std::optional<Failure> Login::leave_login() {
  const auto digest = [&](const char* key, bool& on) -> std::optional<Failure> {
    const auto row =
        std::find_if(result_.keys.begin(), result_.keys.end(), [&](const KeyRow& item) { return item.key == key; });
    if (row == result_.keys.end() || !row->answer || *row->answer == "None" || is_answer_word(*row->answer))
      return std::nullopt;
    if (*row->answer != "CRC32C")
      return Failure{Reason::bad_value, fmt::format("the target answers {}={}, which was not offered", key,
                                                    base::escape_control(row->answer->substr(0, 80)))};
    on = true;
    return std::nullopt;
  };
  if (auto failure = digest("HeaderDigest", result_.digests.header)) return failure;
  return digest("DataDigest", result_.digests.data);
}

std::string login_status_words(std::uint16_t status) {
  const auto words = [&] {
    switch (status) {
      case 0x0000: return "success";
      case 0x0101: return "target moved temporarily";
      case 0x0102: return "target moved permanently";
      case 0x0200: return "initiator error: the target finds fault with the login and does not say more";
      case 0x0201: return "authentication failure: CHAP user or secret wrong or missing";
      case 0x0202: return "authorization failure: this initiator name may not log in to the target";
      case 0x0203: return "not found: no target of this name at this portal";
      case 0x0204: return "target removed: it existed and is gone for good";
      case 0x0205: return "unsupported version of iSCSI";
      case 0x0206: return "too many connections in this session";
      case 0x0207: return "missing parameter in the login";
      case 0x0208: return "cannot include this connection in the session";
      case 0x0209: return "session type not supported";
      case 0x020a: return "session does not exist";
      case 0x020b: return "invalid request during login";
      case 0x0300: return "target error: internal fault of the target";
      case 0x0301: return "service unavailable: the target or its portal takes no logins at present";
      case 0x0302: return "out of resources: no session or connection is free at the target";
      default: break;
    }
    switch (status >> 8) {
      case 1: return "redirection of an unknown kind";
      case 2: return "initiator error of an unknown kind";
      case 3: return "target error of an unknown kind";
      default: return "unknown status class";
    }
  }();
  return fmt::format("0x{:04x} {}", status, words);
}

std::string reject_words(std::uint8_t reason) {
  switch (reason) {
    case 0x02: return "data digest error";
    case 0x03: return "SNACK reject";
    case 0x04: return "protocol error";
    case 0x05: return "command not supported";
    case 0x06: return "too many immediate commands";
    case 0x07: return "task in progress";
    case 0x08: return "invalid data acknowledgement";
    case 0x09: return "invalid PDU field";
    case 0x0a: return "long operation, out of resources";
    case 0x0b: return "negotiation reset";
    case 0x0c: return "waiting for logout";
    default: return fmt::format("reason 0x{:02x}", reason);
  }
}

}  // namespace wire::iscsi
