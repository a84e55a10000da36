#include "probes/wire/rpc.h"

#include <fmt/format.h>

#include <algorithm>

namespace wire {
namespace {

constexpr std::uint32_t last_fragment = 0x80000000;
constexpr std::uint32_t max_auth_bytes = 400;  // RFC 5531 section 8.2

void write_credential(XdrWriter& out, const Call& call) {
  out.u32(static_cast<std::uint32_t>(call.flavor));
  if (call.flavor != AuthFlavor::sys) {
    out.u32(0);
    return;
  }
  XdrWriter body;
  body.u32(0);  // stamp: arbitrary
  body.text(std::string_view(call.sys.machine).substr(0, 255)).u32(call.sys.uid).u32(call.sys.gid).u32(0);
  out.opaque(body.bytes());
}

Outcome<Accepted> denied(XdrReader& in) {
  const auto why = in.u32("reject_stat");
  if (!in.ok()) return tl::unexpected(in.failure());
  if (why == 0) {
    Failure failure{Reason::rpc_version_mismatch, {}};
    failure.low = in.u32("lowest RPC version");
    failure.high = in.u32("highest RPC version");
    failure.detail = fmt::format("the server speaks RPC versions {} to {}", failure.low, failure.high);
    return tl::unexpected(in.ok() ? failure : in.failure());
  }
  if (why == 1) {
    Failure failure{Reason::auth_error, {}};
    failure.code = in.u32("auth_stat");
    failure.detail = auth_stat_name(failure.code);
    return tl::unexpected(in.ok() ? failure : in.failure());
  }
  return fail(Reason::bad_value, fmt::format("reject_stat {}", why));
}

Outcome<Accepted> accepted(XdrReader& in) {
  Accepted reply;
  reply.verifier_flavor = in.u32("verifier flavour");
  const View verifier = in.opaque(max_auth_bytes, "verifier");
  reply.verifier.assign(verifier.begin(), verifier.end());
  const auto stat = in.u32("accept_stat");
  if (!in.ok()) return tl::unexpected(in.failure());
  switch (stat) {
    case 0: reply.results.assign(in.rest().begin(), in.rest().end()); return reply;
    case 1: return fail(Reason::program_unavailable);
    case 2: {
      Failure failure{Reason::version_mismatch, {}};
      failure.low = in.u32("lowest version");
      failure.high = in.u32("highest version");
      failure.detail = fmt::format("the server offers versions {} to {}", failure.low, failure.high);
      return tl::unexpected(in.ok() ? failure : in.failure());
    }
    case 3: return fail(Reason::procedure_unavailable);
    case 4: return fail(Reason::garbage_args);
    case 5: return fail(Reason::system_error);
    default: return fail(Reason::bad_value, fmt::format("accept_stat {}", stat));
  }
}

// What speaks on a port that answers in another protocol. A header that is no length is worth a look.
Failure foreign(const std::uint8_t (&header)[4], std::uint32_t length, std::size_t limit) {
  const bool tls = header[0] >= 0x14 && header[0] <= 0x17 && header[1] == 0x03 && header[2] <= 0x04;
  if (tls) return {Reason::tls_bytes, "the server answers with a TLS record"};
  const bool text = std::all_of(std::begin(header), std::end(header),
                                [](std::uint8_t c) { return (c >= 0x20 && c < 0x7f) || c == '\r' || c == '\n'; });
  if (text) {
    std::string shown;
    for (const auto c : header) shown += c >= 0x20 ? static_cast<char>(c) : ' ';
    return {Reason::not_rpc, fmt::format("the server answers with text, it begins with \"{}\"", shown)};
  }
  return {Reason::fragment_too_large, fmt::format("a fragment of {} bytes, at most {} are taken", length, limit)};
}

}  // namespace

std::string program_name(std::uint32_t number) {
  switch (number) {
    case program::rpcbind: return "rpcbind";
    case program::nfs: return "nfs";
    case program::mountd: return "mountd";
    case program::nlm: return "nlm";
    case program::nsm: return "nsm";
    default: return std::to_string(number);
  }
}

std::string auth_stat_name(std::uint32_t auth_stat) {
  static constexpr const char* names[] = {"AUTH_OK",           "AUTH_BADCRED", "AUTH_REJECTEDCRED", "AUTH_BADVERF",
                                          "AUTH_REJECTEDVERF", "AUTH_TOOWEAK", "AUTH_INVALIDRESP",  "AUTH_FAILED"};
  if (auth_stat < std::size(names)) return names[auth_stat];
  if (auth_stat == 13) return "RPCSEC_GSS_CREDPROBLEM";
  if (auth_stat == 14) return "RPCSEC_GSS_CTXPROBLEM";
  return fmt::format("auth_stat {}", auth_stat);
}

Bytes encode_call(std::uint32_t xid, const Call& call) {
  XdrWriter out;
  out.u32(0);                  // fragment header, below
  out.u32(xid).u32(0).u32(2);  // CALL, RPC version 2
  out.u32(call.program).u32(call.version).u32(call.procedure);
  write_credential(out, call);
  out.u32(0).u32(0);  // verifier AUTH_NONE
  out.fixed(call.args);
  out.patch_u32(0, last_fragment | static_cast<std::uint32_t>(out.size() - 4));
  return out.take();
}

Outcome<Reply> decode_reply(View record) {
  XdrReader in(record);
  Reply reply;
  reply.xid = in.u32("xid");
  const auto type = in.u32("message type");
  if (!in.ok()) return tl::unexpected(in.failure());
  if (type != 1) return fail(Reason::not_rpc, fmt::format("a message of type {} instead of an RPC reply", type));
  const auto stat = in.u32("reply_stat");
  if (!in.ok()) return tl::unexpected(in.failure());
  if (stat == 0) {
    reply.body = accepted(in);
  } else if (stat == 1) {
    reply.body = denied(in);
  } else {
    return fail(Reason::bad_value, fmt::format("reply_stat {}", stat));
  }
  return reply;
}

std::optional<Failure> RecordReader::feed(View bytes, std::vector<Bytes>& records) {
  while (!bytes.empty() || (in_fragment_ && fragment_left_ == 0)) {
    if (!in_fragment_) {
      header_[header_size_++] = bytes.front();
      bytes = bytes.subspan(1);
      if (header_size_ < 4) continue;
      header_size_ = 0;
      const std::uint32_t word = std::uint32_t{header_[0]} << 24 | std::uint32_t{header_[1]} << 16 |
                                 std::uint32_t{header_[2]} << 8 | header_[3];
      last_ = (word & last_fragment) != 0;
      fragment_left_ = word & ~last_fragment;
      in_fragment_ = true;
      if (fragment_left_ > limits_.record_bytes)
        return foreign(header_, static_cast<std::uint32_t>(fragment_left_), limits_.record_bytes);
      if (++fragments_ > limits_.fragments)
        return Failure{Reason::too_many_fragments, fmt::format("over {} fragments in one record", limits_.fragments)};
      if (record_.size() + fragment_left_ > limits_.record_bytes)
        return Failure{Reason::record_too_large, fmt::format("a record of over {} bytes", limits_.record_bytes)};
      continue;
    }
    const std::size_t take = std::min(fragment_left_, bytes.size());
    record_.insert(record_.end(), bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(take));
    bytes = bytes.subspan(take);
    fragment_left_ -= take;
    if (fragment_left_ != 0) break;
    in_fragment_ = false;
    if (last_) {
      fragments_ = 0;
      records.push_back(std::move(record_));
      record_.clear();
    }
  }
  return std::nullopt;
}

}  // namespace wire
