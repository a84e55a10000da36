// Why a question to a server brought no answer. The names are facts (nfs.servers[].services[].result) and stable.
#pragma once

#include <cstdint>
#include <string>
#include <tl/expected.hpp>

namespace wire {

enum class Reason : std::uint8_t {
  connect_timeout,        // SYN unanswered: host down, or a firewall that drops
  refused,                // RST to our SYN: nobody listens, or a firewall that rejects
  unreachable,            // ICMP: no route to the host or its network
  silent,                 // connected, no byte of an answer by the deadline
  incomplete,             // a part of an answer by the deadline
  closed,                 // the peer closed or reset the connection between records
  closed_in_record,       // the peer closed or reset it inside a record
  wrong_xid,              // answers came, none to a call of ours
  fragment_too_large,     // record marking (RFC 5531 section 11) names a length over our limit
  record_too_large,       // fragments that together pass the limit
  too_many_fragments,     // fragments without end
  tls_bytes,              // a TLS record instead of an RPC one
  not_rpc,                // text, or a message that is no RPC reply
  short_reply,            // the message ends before its content does
  count_too_large,        // a count or length over what the protocol or good sense allows
  bad_value,              // a discriminant or enumerator that the protocol does not know
  rpc_version_mismatch,   // MSG_DENIED, RPC_MISMATCH: low and high say what it speaks
  auth_error,             // MSG_DENIED, AUTH_ERROR: code is the auth_stat
  program_unavailable,    // PROG_UNAVAIL
  version_mismatch,       // PROG_MISMATCH: low and high
  procedure_unavailable,  // PROC_UNAVAIL
  garbage_args,           // GARBAGE_ARGS
  system_error,           // SYSTEM_ERR
  status,                 // the protocol's own error: code is the nfsstat3, nfsstat4, mountstat3 or nlm4_stats
  not_registered,         // rpcbind answers and does not list it
  // iSCSI (RFC 7143)
  not_iscsi,                 // the answer begins with no iSCSI opcode of a target: another protocol, or TLS
  pdu_too_large,             // a data segment over what we declared, or over our limit before login
  closed_in_pdu,             // the peer closed or reset the connection inside a PDU
  header_digest_error,       // CRC32C over BHS and AHS is not what came with them
  data_digest_error,         // CRC32C over the data segment is not what came with it
  unexpected_pdu,            // a PDU that does not belong here: no answer to what was asked, or of another stage
  stray_pdus,                // PDUs of which none is an answer, more of them than is put up with
  endless_text,              // a text answer that goes on and on
  endless_negotiation,       // a login that goes on and on
  rejected,                  // Reject PDU: code is its reason
  login_status,              // login refused: code is status class and detail, 0x0201 and the like
  chap_wanted,               // the target demands CHAP and no secret was given
  auth_method,               // the target takes none of the authentication methods that were offered
  target_not_authenticated,  // mutual CHAP was asked for, and the target did not prove that it knows the secret
  async_logout,              // the target asks for logout or a new negotiation
  async_drop,                // the target announces that it drops the connection or the session
  redirect_loop,             // more redirections than are followed
  window_closed,             // no command may be sent: MaxCmdSN stays below CmdSN
  scsi_status,               // the command ended with another status than GOOD: code is status<<24, key<<16, ASC, ASCQ
  no_zone,                   // a link-local address without a zone leads nowhere
  not_asked,                 // the run ended, or what the question needs was not to be had
  local_error,               // this node could not send: no socket, no route, no port
};

// connect_timeout, refused, ... as above.
const char* reason_name(Reason reason);

// The word of facts::Source::status: absent denied timeout malformed refused skipped.
const char* source_status(Reason reason);

struct Failure {
  Reason reason = Reason::not_asked;
  std::string detail;     // in words, no trailing full stop; may be empty
  std::uint32_t low = 0;  // rpc_version_mismatch, version_mismatch
  std::uint32_t high = 0;
  std::uint32_t code = 0;  // auth_error, status

  bool operator==(const Failure&) const = default;
};

template <class T>
using Outcome = tl::expected<T, Failure>;

// "silent: no answer to NULL by the deadline", or the name alone.
std::string to_text(const Failure& failure);

inline tl::unexpected<Failure> fail(Reason reason, std::string detail = {}) {
  return tl::unexpected<Failure>(Failure{reason, std::move(detail)});
}

}  // namespace wire
