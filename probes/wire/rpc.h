// ONC RPC version 2 over TCP: RFC 5531 (messages, record marking), RFC 9289 (AUTH_TLS). Pure: bytes in, values out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "probes/wire/reason.h"
#include "probes/wire/xdr.h"

namespace wire {

// Program numbers (IANA rpc-program-numbers).
namespace program {
inline constexpr std::uint32_t rpcbind = 100000;
inline constexpr std::uint32_t nfs = 100003;
inline constexpr std::uint32_t mountd = 100005;
inline constexpr std::uint32_t nlm = 100021;
inline constexpr std::uint32_t nsm = 100024;
}  // namespace program

// rpcbind, nfs, mountd, nlm, nsm, or the number.
std::string program_name(std::uint32_t number);

enum class AuthFlavor : std::uint32_t {
  none = 0,
  sys = 1,
  gss = 6,
  tls = 7,  // RFC 9289: only with NULL, asks whether the server would speak TLS
};

// What AUTH_SYS says of the caller. The machine name goes to the server and may stand in its logs.
struct AuthSys {
  std::string machine = "mountaudit";
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
};

struct Call {
  std::uint32_t program = 0;
  std::uint32_t version = 0;
  std::uint32_t procedure = 0;
  AuthFlavor flavor = AuthFlavor::none;
  AuthSys sys = {};  // with AuthFlavor::sys
  Bytes args = {};
};

// A whole record: fragment header, call header, arguments.
Bytes encode_call(std::uint32_t xid, const Call& call);

// An accepted and successful reply.
struct Accepted {
  std::uint32_t verifier_flavor = 0;
  Bytes verifier;
  Bytes results;
};
struct Reply {
  std::uint32_t xid = 0;
  Outcome<Accepted> body;  // or what the server said instead: auth_error, version_mismatch with low and high ...
};
// Fails when the record is no RPC reply at all.
Outcome<Reply> decode_reply(View record);

std::string auth_stat_name(std::uint32_t auth_stat);  // AUTH_BADCRED ... or the number

// Puts records together from what the socket gives.
class RecordReader {
 public:
  struct Limits {
    std::size_t record_bytes = 1 << 20;
    std::size_t fragments = 256;  // per record; empty ones count
  };
  RecordReader() = default;
  explicit RecordReader(Limits limits) : limits_(limits) {}

  // Appends to `records` each one that is complete. After a failure the stream has no meaning any more.
  std::optional<Failure> feed(View bytes, std::vector<Bytes>& records);
  bool inside_record() const { return header_size_ != 0 || in_fragment_ || fragments_ != 0; }
  std::size_t bytes_of_record() const { return record_.size() + header_size_; }

 private:
  Limits limits_;
  Bytes record_;
  std::uint8_t header_[4] = {};
  std::size_t header_size_ = 0;
  std::size_t fragment_left_ = 0;
  bool in_fragment_ = false;
  bool last_ = false;
  std::size_t fragments_ = 0;
};

}  // namespace wire
