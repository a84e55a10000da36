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
  not_asked,              // the run ended, or what the question needs was not to be had
  local_error,            // this node could not send: no socket, no route, no port
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
