// The login of an iSCSI session as a conversation, RFC 7143 sections 6, 7 and 13: PDUs in, PDUs out, no socket.
// Security stage (None, or CHAP one-way and mutual), then the operational stage in which the maxima are offered, so
// that the answers show what the target can do.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "probes/wire/iscsi_chap.h"
#include "probes/wire/iscsi_pdu.h"
#include "probes/wire/iscsi_text.h"

namespace wire::iscsi {

// Initiator session id (section 11.12.5). Ours is always of the random kind, which the kernel's initiator never uses
// (open-iscsi: OUI 00023d): no session of the node is ever reinstated, also under the node's own name.
using Isid = std::array<std::uint8_t, 6>;
Isid random_isid();

// Secrets live here and in no fact, text or log.
struct ChapSecrets {
  std::string user;           // CHAP_N
  std::string secret;         // proves the initiator
  std::string mutual_secret;  // proves the target; empty: one-way
};

struct LoginOffer {
  std::string initiator_name;
  std::string target_name;  // empty: discovery session
  std::optional<ChapSecrets> chap;
  Isid isid = {};
  std::uint32_t max_recv_bytes = 262144;  // MaxRecvDataSegmentLength that we declare
  bool lean = false;  // no digests and no error recovery: as a session for speed is set up, not to learn the maxima
};

struct KeyRow {
  std::string key;
  std::optional<std::string> offered;
  std::optional<std::string> answer;  // also what the target declares or asks by itself
  bool operator==(const KeyRow&) const = default;
};

// What was learned so far, also when the login failed.
struct LoginResult {
  bool complete = false;
  std::uint16_t tsih = 0;  // target session identifying handle
  std::optional<std::uint8_t> version_max;
  std::optional<std::uint8_t> version_active;
  std::optional<std::uint16_t> tag;  // TargetPortalGroupTag
  std::optional<std::string> alias;
  std::vector<KeyRow> keys;  // without those of CHAP's proofs
  std::optional<std::string> auth_method;
  std::optional<ChapDigest> chap_digest;
  bool target_authenticated = false;
  std::optional<std::uint16_t> status;  // status class << 8 | detail
  std::optional<TargetAddress> redirect;
  Digests digests;
  std::uint32_t max_send_bytes = 8192;  // MaxRecvDataSegmentLength of the target, its default
  std::uint32_t exchanges = 0;
  std::uint32_t cmd_sn = 1;  // of the first command
  std::uint32_t exp_stat_sn = 0;
  std::uint32_t exp_cmd_sn = 0;
  std::uint32_t max_cmd_sn = 0;
};

class Login {
 public:
  explicit Login(LoginOffer offer);

  Pdu first();
  // The next request, or nothing when the login is complete. Failure::code of login_status is the status.
  Outcome<std::optional<Pdu>> take(const Pdu& response);
  const LoginResult& result() const { return result_; }

 private:
  enum class Chap : std::uint8_t { none, method_offered, digest_offered, answered, done };
  Pdu request(const TextKeys& keys, bool transit);
  Outcome<std::optional<Pdu>> refused(const Pdu& response);
  std::optional<Failure> note_keys(const TextKeys& keys);
  Outcome<std::optional<Pdu>> security(const TextKeys& keys);
  Outcome<std::optional<Pdu>> chap_digest(const TextKeys& keys);
  std::optional<Failure> leave_security(const TextKeys& keys);
  std::optional<Failure> check_proof() const;
  std::optional<Failure> leave_login();
  Outcome<std::optional<Pdu>> answer_questions(const TextKeys& keys);
  TextKeys operational_offer() const;
  bool discovery() const { return offer_.target_name.empty(); }

  LoginOffer offer_;
  LoginResult result_;
  unsigned stage_ = 0;  // CSG: 0 security, 1 operational
  bool transit_asked_ = false;
  Chap chap_ = Chap::none;
  std::uint8_t mutual_identifier_ = 0;
  Bytes mutual_challenge_;
  std::optional<std::string> target_proof_;  // CHAP_R of the target
  Bytes text_;                               // of a response that goes on
  std::uint32_t tag_;
};

// "0x0201 authentication failure: ..." (section 11.13.5).
std::string login_status_words(std::uint16_t status);

std::string reject_words(std::uint8_t reason);  // section 11.17.1

}  // namespace wire::iscsi
