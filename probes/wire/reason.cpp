#include "probes/wire/reason.h"

#include <fmt/format.h>

namespace wire {

const char* reason_name(Reason reason) {
  switch (reason) {
    case Reason::connect_timeout: return "connect_timeout";
    case Reason::refused: return "refused";
    case Reason::unreachable: return "unreachable";
    case Reason::silent: return "silent";
    case Reason::incomplete: return "incomplete";
    case Reason::closed: return "closed";
    case Reason::closed_in_record: return "closed_in_record";
    case Reason::wrong_xid: return "wrong_xid";
    case Reason::fragment_too_large: return "fragment_too_large";
    case Reason::record_too_large: return "record_too_large";
    case Reason::too_many_fragments: return "too_many_fragments";
    case Reason::tls_bytes: return "tls_bytes";
    case Reason::not_rpc: return "not_rpc";
    case Reason::short_reply: return "short_reply";
    case Reason::count_too_large: return "count_too_large";
    case Reason::bad_value: return "bad_value";
    case Reason::rpc_version_mismatch: return "rpc_version_mismatch";
    case Reason::auth_error: return "auth_error";
    case Reason::program_unavailable: return "program_unavailable";
    case Reason::version_mismatch: return "version_mismatch";
    case Reason::procedure_unavailable: return "procedure_unavailable";
    case Reason::garbage_args: return "garbage_args";
    case Reason::system_error: return "system_error";
    case Reason::status: return "status";
    case Reason::not_registered: return "not_registered";
    case Reason::not_iscsi: return "not_iscsi";
    case Reason::pdu_too_large: return "pdu_too_large";
    case Reason::closed_in_pdu: return "closed_in_pdu";
    case Reason::header_digest_error: return "header_digest_error";
    case Reason::data_digest_error: return "data_digest_error";
    case Reason::unexpected_pdu: return "unexpected_pdu";
    case Reason::stray_pdus: return "stray_pdus";
    case Reason::endless_text: return "endless_text";
    case Reason::endless_negotiation: return "endless_negotiation";
    case Reason::rejected: return "rejected";
    case Reason::login_status: return "login_status";
    case Reason::chap_wanted: return "chap_wanted";
    case Reason::auth_method: return "auth_method";
    case Reason::target_not_authenticated: return "target_not_authenticated";
    case Reason::async_logout: return "async_logout";
    case Reason::async_drop: return "async_drop";
    case Reason::redirect_loop: return "redirect_loop";
    case Reason::window_closed: return "window_closed";
    case Reason::scsi_status: return "scsi_status";
    case Reason::no_zone: return "no_zone";
    case Reason::not_asked: return "not_asked";
    case Reason::local_error: return "local_error";
  }
  return "local_error";
}

const char* source_status(Reason reason) {
  switch (reason) {
    case Reason::connect_timeout:
    case Reason::silent:
    case Reason::incomplete:
    case Reason::window_closed:
    case Reason::wrong_xid: return "timeout";
    case Reason::refused:
    case Reason::unreachable:
    case Reason::closed:
    case Reason::async_logout:
    case Reason::async_drop:
    case Reason::no_zone:
    case Reason::local_error: return "refused";
    case Reason::rpc_version_mismatch:
    case Reason::auth_error:
    case Reason::login_status:
    case Reason::chap_wanted:
    case Reason::auth_method:
    case Reason::target_not_authenticated:
    case Reason::scsi_status: return "denied";
    case Reason::program_unavailable:
    case Reason::version_mismatch:
    case Reason::procedure_unavailable:
    case Reason::not_registered: return "absent";
    case Reason::status: return "denied";
    case Reason::not_asked: return "skipped";
    case Reason::not_iscsi:
    case Reason::pdu_too_large:
    case Reason::closed_in_pdu:
    case Reason::header_digest_error:
    case Reason::data_digest_error:
    case Reason::unexpected_pdu:
    case Reason::stray_pdus:
    case Reason::endless_text:
    case Reason::endless_negotiation:
    case Reason::rejected:
    case Reason::redirect_loop:
    case Reason::closed_in_record:
    case Reason::fragment_too_large:
    case Reason::record_too_large:
    case Reason::too_many_fragments:
    case Reason::tls_bytes:
    case Reason::not_rpc:
    case Reason::short_reply:
    case Reason::count_too_large:
    case Reason::bad_value:
    case Reason::garbage_args:
    case Reason::system_error: return "malformed";
  }
  return "malformed";
}

std::string to_text(const Failure& failure) {
  if (failure.detail.empty()) return reason_name(failure.reason);
  return fmt::format("{}: {}", reason_name(failure.reason), failure.detail);
}

}  // namespace wire
