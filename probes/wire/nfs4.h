// NFS version 4 by COMPOUND: RFC 7530 (4.0), RFC 8881 (4.1), RFC 7862 (4.2). Operations that read, those that make and
// unmake a client id and a session, and for the lock test alone OPEN, LOCK and what undoes them.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "probes/wire/rpc.h"

namespace wire::nfs4 {

enum class Op : std::uint32_t {
  close = 4,
  delegreturn = 8,
  getattr = 9,
  getfh = 10,
  lock = 12,
  lockt = 13,
  locku = 14,
  lookup = 15,
  open = 18,
  putfh = 22,
  putrootfh = 24,
  read = 25,
  readdir = 26,
  remove = 28,
  secinfo = 33,
  write = 38,
  exchange_id = 42,
  create_session = 43,
  destroy_session = 44,
  secinfo_no_name = 52,
  sequence = 53,
  destroy_clientid = 57,
  reclaim_complete = 58,
};

// Status codes that the questions act upon.
namespace status {
inline constexpr std::uint32_t ok = 0;
inline constexpr std::uint32_t noent = 2;
inline constexpr std::uint32_t isdir = 21;
inline constexpr std::uint32_t denied = 10010;
inline constexpr std::uint32_t grace = 10013;
inline constexpr std::uint32_t wrongsec = 10016;
inline constexpr std::uint32_t minor_vers_mismatch = 10021;
inline constexpr std::uint32_t stale_clientid = 10022;
inline constexpr std::uint32_t expired = 10011;
inline constexpr std::uint32_t bad_stateid = 10025;
inline constexpr std::uint32_t op_not_in_session = 10071;
}  // namespace status
std::string status_name(std::uint32_t nfsstat4);  // NFS4ERR_GRACE ... or the number

// Attribute numbers (RFC 8881 section 5).
namespace attr {
inline constexpr std::uint32_t supported_attrs = 0;
inline constexpr std::uint32_t type = 1;
inline constexpr std::uint32_t size = 4;
inline constexpr std::uint32_t fsid = 8;
inline constexpr std::uint32_t lease_time = 10;
inline constexpr std::uint32_t rdattr_error = 11;
inline constexpr std::uint32_t filehandle = 19;
inline constexpr std::uint32_t maxfilesize = 27;
inline constexpr std::uint32_t maxname = 29;
inline constexpr std::uint32_t maxread = 30;
inline constexpr std::uint32_t maxwrite = 31;
inline constexpr std::uint32_t space_avail = 42;
inline constexpr std::uint32_t space_free = 43;
inline constexpr std::uint32_t space_total = 44;
}  // namespace attr

struct Attributes {
  std::vector<std::uint32_t> present;    // numbers, ascending
  std::vector<std::uint32_t> supported;  // numbers, ascending
  std::uint32_t type = 0;                // 1 regular, 2 directory
  std::uint64_t size = 0;
  std::uint64_t fsid_major = 0;
  std::uint64_t fsid_minor = 0;
  std::uint32_t lease_s = 0;
  Bytes handle;
  std::uint64_t maxfilesize = 0;
  std::uint32_t maxname = 0;
  std::uint64_t maxread = 0;
  std::uint64_t maxwrite = 0;
  std::uint64_t space_avail = 0;
  std::uint64_t space_free = 0;
  std::uint64_t space_total = 0;

  bool has(std::uint32_t number) const;
};
struct Entry {
  std::string name;
  Attributes attributes;
};
struct Entries {
  std::vector<Entry> list;
};
struct Handle {
  Bytes bytes;
};
struct Flavors {  // SECINFO; kerberos services as krb5, krb5i, krb5p
  std::vector<std::string> names;
};
struct ExchangeId {  // RFC 8881 section 18.35
  std::uint64_t client_id = 0;
  std::uint32_t sequence = 0;
  std::uint32_t flags = 0;
  std::uint64_t owner_minor = 0;
  std::string owner;
  std::string scope;
  std::string impl_domain;
  std::string impl_name;
};
// EXCHGID4_FLAG_USE_*: what the server is for pNFS.
inline constexpr std::uint32_t use_non_pnfs = 0x00010000;
inline constexpr std::uint32_t use_pnfs_mds = 0x00020000;
inline constexpr std::uint32_t use_pnfs_ds = 0x00040000;

using SessionId = std::array<std::uint8_t, 16>;
struct Channel {
  std::uint32_t max_request_bytes = 0;
  std::uint32_t max_response_bytes = 0;
  std::uint32_t max_cached_bytes = 0;
  std::uint32_t max_operations = 0;
  std::uint32_t slots = 0;
};
struct CreateSession {  // RFC 8881 section 18.36
  SessionId id = {};
  std::uint32_t sequence = 0;
  std::uint32_t flags = 0;
  Channel fore;
};
struct Sequence {
  std::uint32_t sequence = 0;
  std::uint32_t slot = 0;
  std::uint32_t highest_slot = 0;
  std::uint32_t target_highest_slot = 0;
};

using StateId = std::array<std::uint8_t, 16>;  // sequence id and the rest, as one
struct Opened {                                // RFC 8881 section 18.16
  StateId state = {};
  std::uint32_t flags = 0;
  bool delegated = false;  // unasked: it is to be returned
  StateId delegation = {};
};
struct State {  // LOCK, LOCKU, CLOSE
  StateId id = {};
};

struct OpResult {
  std::uint32_t op = 0;
  std::uint32_t status = 0;
  std::variant<std::monostate, Attributes, Entries, Handle, Flavors, ExchangeId, CreateSession, Sequence, Opened, State>
      value;
};
struct CompoundResult {
  std::uint32_t status = 0;
  std::vector<OpResult> ops;  // the last one may carry the error

  // The first result of the operation; nullptr when the compound did not get there.
  const OpResult* find(Op op) const;
  std::vector<const OpResult*> all(Op op) const;  // in their order
  template <class T>
  const T* value(Op op) const {
    const OpResult* found = find(op);
    return found != nullptr && found->status == status::ok ? std::get_if<T>(&found->value) : nullptr;
  }
};

class Compound {
 public:
  explicit Compound(std::uint32_t minor) : minor_(minor) {}
  Compound& putrootfh();
  Compound& putfh(const Bytes& handle);
  Compound& lookup(std::string_view name);
  Compound& getfh();
  Compound& getattr(const std::vector<std::uint32_t>& attributes);
  Compound& readdir(const std::vector<std::uint32_t>& attributes);  // the first 8 KiB
  Compound& secinfo(std::string_view name);
  Compound& secinfo_no_name();  // 4.1: of the current directory itself
  // A write lock on one byte far beyond any file, for a client id of 0 (4.0) or of the session (4.1).
  Compound& lockt(std::uint64_t client_id, std::string_view owner);
  Compound& exchange_id(const std::string& owner, std::uint64_t verifier);
  Compound& create_session(std::uint64_t client_id, std::uint32_t sequence, const Channel& fore);
  Compound& sequence(const SessionId& session, std::uint32_t sequence, std::uint32_t slot, std::uint32_t highest_slot);
  // The lock test's own: a new file for writing, that must not be there yet; one byte of it locked exclusively.
  Compound& open_new(std::uint64_t client_id, std::string_view owner, std::string_view name);
  Compound& lock(const StateId& opened, std::uint64_t client_id, std::string_view owner);
  Compound& locku(const StateId& locked);
  Compound& close(const StateId& opened);
  Compound& remove(std::string_view name);
  Compound& delegreturn(const StateId& delegation);
  // Of the latency probe. `write` ends where the data begins: `bytes` of it and their padding follow the call.
  Compound& read(const StateId& state, std::uint64_t offset, std::uint32_t bytes);
  Compound& write(const StateId& state, std::uint64_t offset, std::uint32_t bytes);
  Compound& reclaim_complete();
  Compound& destroy_session(const SessionId& session);
  Compound& destroy_clientid(std::uint64_t client_id);
  Call call() const;  // with AUTH_SYS

 private:
  XdrWriter& begin(Op op);
  std::uint32_t minor_;
  std::uint32_t count_ = 0;
  XdrWriter ops_;
};

// A status other than NFS4_OK is a value here, not a failure: what came before it counts.
Outcome<CompoundResult> decode_compound(View results);

}  // namespace wire::nfs4
