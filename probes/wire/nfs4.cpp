#include "probes/wire/nfs4.h"

#include <fmt/format.h>

#include <algorithm>

#include "probes/wire/mount3.h"

namespace wire::nfs4 {
namespace {

constexpr std::size_t max_handle = 128;   // NFS4_FHSIZE
constexpr std::size_t max_opaque = 1024;  // NFS4_OPAQUE_LIMIT
constexpr std::size_t max_bitmap = 8;     // words; 4.2 uses three
constexpr std::size_t max_ops = 64;
constexpr std::size_t max_entries = 4096;
constexpr std::uint64_t test_offset = 0x3fffffffffffff00;

void write_bitmap(XdrWriter& out, const std::vector<std::uint32_t>& numbers) {
  std::vector<std::uint32_t> words;
  for (const auto number : numbers) {
    if (words.size() <= number / 32) words.resize(number / 32 + 1);
    words[number / 32] |= 1U << (number % 32);
  }
  out.words(words);
}

std::vector<std::uint32_t> read_bitmap(XdrReader& in, const char* what) {
  const auto words = in.words(max_bitmap, what);
  std::vector<std::uint32_t> numbers;
  for (std::uint32_t i = 0; i < words.size(); ++i)
    for (std::uint32_t bit = 0; bit < 32; ++bit)
      if ((words[i] >> bit & 1U) != 0) numbers.push_back(i * 32 + bit);
  return numbers;
}

Bytes copy(View bytes) { return {bytes.begin(), bytes.end()}; }

// fattr4: a bitmap and the values in bit order. A value that was not asked for has no known length: bad_value.
Attributes read_fattr(XdrReader& in) {
  Attributes out;
  out.present = read_bitmap(in, "attribute bitmap");
  const View values = in.opaque(65536, "attribute values");
  if (!in.ok()) return out;
  XdrReader value(values);
  for (const auto number : out.present) {
    switch (number) {
      case attr::supported_attrs: out.supported = read_bitmap(value, "supported_attrs"); break;
      case attr::type: out.type = value.u32("type"); break;
      case attr::size: out.size = value.u64("size"); break;
      case attr::fsid:
        out.fsid_major = value.u64("fsid");
        out.fsid_minor = value.u64("fsid");
        break;
      case attr::lease_time: out.lease_s = value.u32("lease_time"); break;
      case attr::rdattr_error: value.u32("rdattr_error"); break;
      case attr::filehandle: out.handle = copy(value.opaque(max_handle, "file handle")); break;
      case attr::maxfilesize: out.maxfilesize = value.u64("maxfilesize"); break;
      case attr::maxname: out.maxname = value.u32("maxname"); break;
      case attr::maxread: out.maxread = value.u64("maxread"); break;
      case attr::maxwrite: out.maxwrite = value.u64("maxwrite"); break;
      case attr::space_avail: out.space_avail = value.u64("space_avail"); break;
      case attr::space_free: out.space_free = value.u64("space_free"); break;
      case attr::space_total: out.space_total = value.u64("space_total"); break;
      default: value.fail(Reason::bad_value, fmt::format("attribute {} was not asked for", number));
    }
  }
  if (!value.ok()) in.fail(value.failure().reason, value.failure().detail);
  return out;
}

Entries read_entries(XdrReader& in) {
  Entries entries;
  in.u64("cookie verifier");
  while (in.boolean("more entries") && in.ok()) {
    if (entries.list.size() == max_entries) {
      in.fail(Reason::count_too_large, fmt::format("over {} directory entries in one answer", max_entries));
      break;
    }
    Entry entry;
    in.u64("cookie");
    entry.name = in.text(4096, "name");
    entry.attributes = read_fattr(in);
    entries.list.push_back(std::move(entry));
  }
  in.boolean("end of directory");
  return entries;
}

Flavors read_flavors(XdrReader& in) {
  Flavors flavors;
  const auto count = in.count(64, 4, "flavours");
  for (std::uint32_t i = 0; i < count && in.ok(); ++i) {
    const auto flavor = in.u32("flavour");
    if (flavor != static_cast<std::uint32_t>(AuthFlavor::gss)) {
      flavors.names.push_back(mount3::flavor_name(flavor));
      continue;
    }
    const View oid = in.opaque(128, "mechanism");
    in.u32("quality of protection");
    const auto service = in.u32("service");
    static constexpr std::array<std::uint8_t, 9> krb5{0x2a, 0x86, 0x48, 0x86, 0xf7, 0x12, 0x01, 0x02, 0x02};
    const bool kerberos = std::equal(oid.begin(), oid.end(), krb5.begin(), krb5.end()) ||
                          (oid.size() == 11 && std::equal(oid.begin() + 2, oid.end(), krb5.begin(), krb5.end()));
    const char* names[] = {"krb5", "krb5i", "krb5p"};
    flavors.names.push_back(kerberos && service >= 1 && service <= 3 ? names[service - 1] : "gss");
  }
  return flavors;
}

ExchangeId read_exchange_id(XdrReader& in) {
  ExchangeId id;
  id.client_id = in.u64("client id");
  id.sequence = in.u32("sequence id");
  id.flags = in.u32("flags");
  const auto how = in.u32("state protection");
  // We ask for SP4_NONE; another answer would be a contract we did not make.
  if (in.ok() && how != 0) in.fail(Reason::bad_value, fmt::format("state protection {}", how));
  id.owner_minor = in.u64("server owner");
  id.owner = in.text(max_opaque, "server owner");
  id.scope = in.text(max_opaque, "server scope");
  if (in.count(1, 20, "implementation ids") == 1) {
    id.impl_domain = in.text(max_opaque, "implementation domain");
    id.impl_name = in.text(max_opaque, "implementation name");
    in.u64("implementation date");
    in.u32("implementation date");
  }
  return id;
}

StateId read_state_id(XdrReader& in) {
  StateId id = {};
  const View bytes = in.fixed(id.size(), "state id");
  std::copy(bytes.begin(), bytes.end(), id.begin());
  return id;
}

void skip_change(XdrReader& in) {
  in.boolean("atomic");
  in.u64("change before");
  in.u64("change after");
}

void skip_ace(XdrReader& in) {
  in.u32("ace type");
  in.u32("ace flags");
  in.u32("ace mask");
  in.opaque(max_opaque, "ace who");
}

// open_delegation4
void read_delegation(XdrReader& in, Opened& opened) {
  const auto type = in.u32("delegation type");
  switch (type) {
    case 0: return;  // none
    case 1:          // read
    case 2:          // write
      opened.delegated = true;
      opened.delegation = read_state_id(in);
      in.boolean("recall");
      if (type == 2) {
        const auto limit = in.u32("limit by");
        if (limit != 1 && limit != 2) in.fail(Reason::bad_value, fmt::format("limit_by4 {}", limit));
        in.u64("space limit");  // or two words: blocks and their size
      }
      return skip_ace(in);
    case 3: {  // none, and why
      const auto why = in.u32("why no delegation");
      if (why == 1 || why == 2) in.boolean("will signal");
      return;
    }
    default: in.fail(Reason::bad_value, fmt::format("open_delegation_type4 {}", type));
  }
}

Opened read_opened(XdrReader& in) {
  Opened opened;
  opened.state = read_state_id(in);
  skip_change(in);
  opened.flags = in.u32("flags");
  read_bitmap(in, "attributes set");
  read_delegation(in, opened);
  return opened;
}

Channel read_channel(XdrReader& in) {
  Channel channel;
  in.u32("header padding");
  channel.max_request_bytes = in.u32("maxrequestsize");
  channel.max_response_bytes = in.u32("maxresponsesize");
  channel.max_cached_bytes = in.u32("maxresponsesize_cached");
  channel.max_operations = in.u32("maxoperations");
  channel.slots = in.u32("maxrequests");
  in.words(1, "rdma_ird");
  return channel;
}

SessionId read_session_id(XdrReader& in) {
  SessionId id = {};
  const View bytes = in.fixed(id.size(), "session id");
  std::copy(bytes.begin(), bytes.end(), id.begin());
  return id;
}

CreateSession read_create_session(XdrReader& in) {
  CreateSession session;
  session.id = read_session_id(in);
  session.sequence = in.u32("sequence id");
  session.flags = in.u32("flags");
  session.fore = read_channel(in);
  read_channel(in);  // back channel
  return session;
}

Sequence read_sequence(XdrReader& in) {
  Sequence sequence;
  read_session_id(in);
  sequence.sequence = in.u32("sequence id");
  sequence.slot = in.u32("slot id");
  sequence.highest_slot = in.u32("highest slot id");
  sequence.target_highest_slot = in.u32("target highest slot id");
  in.u32("status flags");
  return sequence;
}

void read_success(XdrReader& in, OpResult& result) {
  switch (static_cast<Op>(result.op)) {
    case Op::getattr: result.value = read_fattr(in); break;
    case Op::getfh: result.value = Handle{copy(in.opaque(max_handle, "file handle"))}; break;
    case Op::readdir: result.value = read_entries(in); break;
    case Op::secinfo:
    case Op::secinfo_no_name: result.value = read_flavors(in); break;
    case Op::exchange_id: result.value = read_exchange_id(in); break;
    case Op::create_session: result.value = read_create_session(in); break;
    case Op::sequence: result.value = read_sequence(in); break;
    case Op::open: result.value = read_opened(in); break;
    case Op::lock:
    case Op::locku:
    case Op::close: result.value = State{read_state_id(in)}; break;
    case Op::remove: skip_change(in); break;
    case Op::delegreturn:
    case Op::destroy_session:
    case Op::destroy_clientid:
    case Op::reclaim_complete:
    case Op::putfh:
    case Op::putrootfh:
    case Op::lookup:
    case Op::lockt: break;
    default: in.fail(Reason::bad_value, fmt::format("operation {} was not asked for", result.op));
  }
}

}  // namespace

bool Attributes::has(std::uint32_t number) const { return std::binary_search(present.begin(), present.end(), number); }

const OpResult* CompoundResult::find(Op op) const {
  const auto found = std::find_if(ops.begin(), ops.end(),
                                  [op](const OpResult& result) { return result.op == static_cast<std::uint32_t>(op); });
  return found == ops.end() ? nullptr : &*found;
}

std::vector<const OpResult*> CompoundResult::all(Op op) const {
  std::vector<const OpResult*> found;
  for (const auto& result : ops)
    if (result.op == static_cast<std::uint32_t>(op)) found.push_back(&result);
  return found;
}

XdrWriter& Compound::begin(Op op) {
  ++count_;
  return ops_.u32(static_cast<std::uint32_t>(op));
}

Compound& Compound::putrootfh() {
  begin(Op::putrootfh);
  return *this;
}
Compound& Compound::putfh(const Bytes& handle) {
  begin(Op::putfh).opaque(handle);
  return *this;
}
Compound& Compound::lookup(std::string_view name) {
  begin(Op::lookup).text(name);
  return *this;
}
Compound& Compound::getfh() {
  begin(Op::getfh);
  return *this;
}
Compound& Compound::getattr(const std::vector<std::uint32_t>& attributes) {
  write_bitmap(begin(Op::getattr), attributes);
  return *this;
}
Compound& Compound::readdir(const std::vector<std::uint32_t>& attributes) {
  begin(Op::readdir).u64(0).u64(0).u32(2048).u32(8192);  // cookie, verifier, dircount, maxcount
  write_bitmap(ops_, attributes);
  return *this;
}
Compound& Compound::secinfo(std::string_view name) {
  begin(Op::secinfo).text(name);
  return *this;
}
Compound& Compound::secinfo_no_name() {
  begin(Op::secinfo_no_name).u32(0);  // SECINFO_STYLE4_CURRENT_FH
  return *this;
}
Compound& Compound::lockt(std::uint64_t client_id, std::string_view owner) {
  begin(Op::lockt).u32(2).u64(test_offset).u64(1).u64(client_id).text(owner);  // WRITE_LT
  return *this;
}
Compound& Compound::exchange_id(const std::string& owner, std::uint64_t verifier) {
  begin(Op::exchange_id).u64(verifier).text(owner).u32(0).u32(0);   // no flags, SP4_NONE
  ops_.u32(1).text("mountaudit").text("mountaudit").u64(0).u32(0);  // who we are, for the server's list of clients
  return *this;
}
Compound& Compound::create_session(std::uint64_t client_id, std::uint32_t sequence, const Channel& fore) {
  begin(Op::create_session).u64(client_id).u32(sequence).u32(0);  // not persistent, no back channel
  ops_.u32(0).u32(fore.max_request_bytes).u32(fore.max_response_bytes).u32(fore.max_cached_bytes);
  ops_.u32(fore.max_operations).u32(fore.slots).u32(0);
  ops_.u32(0).u32(4096).u32(4096).u32(0).u32(2).u32(1).u32(0);  // the back channel that is not used
  ops_.u32(0x40000000).u32(1).u32(0);                           // callback program; AUTH_NONE
  return *this;
}
Compound& Compound::sequence(const SessionId& session, std::uint32_t sequence, std::uint32_t slot,
                             std::uint32_t highest_slot) {
  begin(Op::sequence).fixed(session).u32(sequence).u32(slot).u32(highest_slot).boolean(false);
  return *this;
}
Compound& Compound::open_new(std::uint64_t client_id, std::string_view owner, std::string_view name) {
  constexpr std::uint32_t access_write = 2;
  constexpr std::uint32_t want_no_delegation = 0x0400;
  constexpr std::uint32_t mode = 33;
  XdrWriter& out = begin(Op::open);
  out.u32(0).u32(access_write | want_no_delegation).u32(0);  // seqid, access, deny nobody
  out.u64(client_id).text(owner);
  out.u32(1).u32(1);  // OPEN4_CREATE, GUARDED4
  XdrWriter values;
  values.u32(0600);
  write_bitmap(out, {mode});
  out.opaque(values.bytes());
  out.u32(0).text(name);  // CLAIM_NULL
  return *this;
}
Compound& Compound::lock(const StateId& opened, std::uint64_t client_id, std::string_view owner) {
  begin(Op::lock).u32(2).boolean(false).u64(0).u64(1);  // WRITE_LT, no reclaim, the first byte
  ops_.boolean(true).u32(0).fixed(opened).u32(0).u64(client_id).text(owner);
  return *this;
}
Compound& Compound::locku(const StateId& locked) {
  begin(Op::locku).u32(2).u32(0).fixed(locked).u64(0).u64(1);
  return *this;
}
Compound& Compound::close(const StateId& opened) {
  begin(Op::close).u32(0).fixed(opened);
  return *this;
}
Compound& Compound::remove(std::string_view name) {
  begin(Op::remove).text(name);
  return *this;
}
Compound& Compound::delegreturn(const StateId& delegation) {
  begin(Op::delegreturn).fixed(delegation);
  return *this;
}
Compound& Compound::read(const StateId& state, std::uint64_t offset, std::uint32_t bytes) {
  begin(Op::read).fixed(state).u64(offset).u32(bytes);
  return *this;
}
Compound& Compound::write(const StateId& state, std::uint64_t offset, std::uint32_t bytes) {
  constexpr std::uint32_t file_sync = 2;  // as the kernel's client writes one block past its cache
  begin(Op::write).fixed(state).u64(offset).u32(file_sync).u32(bytes);
  return *this;
}
Compound& Compound::reclaim_complete() {
  begin(Op::reclaim_complete).boolean(false);
  return *this;
}
Compound& Compound::destroy_session(const SessionId& session) {
  begin(Op::destroy_session).fixed(session);
  return *this;
}
Compound& Compound::destroy_clientid(std::uint64_t client_id) {
  begin(Op::destroy_clientid).u64(client_id);
  return *this;
}

Call Compound::call() const {
  XdrWriter args;
  args.u32(0).u32(minor_).u32(count_).fixed(ops_.bytes());  // empty tag
  Call call{program::nfs, 4, 1, AuthFlavor::sys};
  call.args = args.take();
  return call;
}

Outcome<CompoundResult> decode_compound(View results) {
  XdrReader in(results);
  CompoundResult out;
  out.status = in.u32("nfsstat4");
  in.opaque(max_opaque, "tag");
  const auto count = in.count(max_ops, 8, "results");
  for (std::uint32_t i = 0; i < count && in.ok(); ++i) {
    OpResult result;
    result.op = in.u32("operation");
    result.status = in.u32("nfsstat4");
    if (result.status == status::ok) read_success(in, result);
    const bool failed = result.status != status::ok;
    out.ops.push_back(std::move(result));
    if (failed) break;  // the results end with the first error; what LOCKT says of the holder is not needed
  }
  return in.done(std::move(out));
}

std::string status_name(std::uint32_t nfsstat4) {
  switch (nfsstat4) {
    case 0: return "ok";
    case 1: return "NFS4ERR_PERM";
    case 2: return "NFS4ERR_NOENT";
    case 5: return "NFS4ERR_IO";
    case 13: return "NFS4ERR_ACCESS";
    case 17: return "NFS4ERR_EXIST";
    case 20: return "NFS4ERR_NOTDIR";
    case 21: return "NFS4ERR_ISDIR";
    case 22: return "NFS4ERR_INVAL";
    case 28: return "NFS4ERR_NOSPC";
    case 30: return "NFS4ERR_ROFS";
    case 69: return "NFS4ERR_DQUOT";
    case 70: return "NFS4ERR_STALE";
    case 10001: return "NFS4ERR_BADHANDLE";
    case 10004: return "NFS4ERR_NOTSUPP";
    case 10006: return "NFS4ERR_SERVERFAULT";
    case 10008: return "NFS4ERR_DELAY";
    case 10010: return "NFS4ERR_DENIED";
    case 10011: return "NFS4ERR_EXPIRED";
    case 10012: return "NFS4ERR_LOCKED";
    case 10013: return "NFS4ERR_GRACE";
    case 10016: return "NFS4ERR_WRONGSEC";
    case 10018: return "NFS4ERR_RESOURCE";
    case 10019: return "NFS4ERR_MOVED";
    case 10020: return "NFS4ERR_NOFILEHANDLE";
    case 10021: return "NFS4ERR_MINOR_VERS_MISMATCH";
    case 10022: return "NFS4ERR_STALE_CLIENTID";
    case 10023: return "NFS4ERR_STALE_STATEID";
    case 10024: return "NFS4ERR_OLD_STATEID";
    case 10025: return "NFS4ERR_BAD_STATEID";
    case 10036: return "NFS4ERR_BADXDR";
    case 10038: return "NFS4ERR_OPENMODE";
    case 10044: return "NFS4ERR_OP_ILLEGAL";
    case 10052: return "NFS4ERR_BADSESSION";
    case 10063: return "NFS4ERR_SEQ_MISORDERED";
    case 10068: return "NFS4ERR_RETRY_UNCACHED_REP";
    case 10071: return "NFS4ERR_OP_NOT_IN_SESSION";
    case 10053: return "NFS4ERR_BADSLOT";
    case 10054: return "NFS4ERR_COMPLETE_ALREADY";
    case 10074: return "NFS4ERR_CLIENTID_BUSY";
    default: return fmt::format("nfsstat4 {}", nfsstat4);
  }
}

}  // namespace wire::nfs4
