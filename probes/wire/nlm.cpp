#include "probes/wire/nlm.h"

#include <fmt/format.h>

namespace wire::nlm {

Call test4(const Bytes& handle, const std::string& owner) {
  XdrWriter args;
  args.u32(4).u32(1);       // cookie: four bytes
  args.boolean(true);       // exclusive
  args.text("mountaudit");  // caller_name
  args.opaque(handle);
  args.text(owner);
  args.u32(1);                          // svid
  args.u64(0x3fffffffffffff00).u64(1);  // offset, length
  Call call{program::nlm, 4, 1, AuthFlavor::sys};
  call.args = args.take();
  return call;
}

namespace {

Call call_of(std::uint32_t procedure, XdrWriter& args) {
  Call call{program::nlm, 4, procedure, AuthFlavor::sys};
  call.args = args.take();
  return call;
}

// nlm4_lock
void write_lock(XdrWriter& args, const Bytes& handle, const std::string& caller, const std::string& owner) {
  args.text(caller).opaque(handle).text(owner).u32(1).u64(0).u64(1);  // svid, offset, length
}

std::uint32_t read_stat(XdrReader& in) {
  in.opaque(1024, "cookie");
  const auto stat = in.u32("nlm4_stats");
  if (in.ok() && stat > static_cast<std::uint32_t>(Stat::failed))
    in.fail(Reason::bad_value, fmt::format("nlm4_stats {}", stat));
  return stat;
}

}  // namespace

Call lock4(const Bytes& handle, const std::string& caller, const std::string& owner, bool monitored) {
  XdrWriter args;
  args.u32(4).u32(2).boolean(false).boolean(true);  // cookie; do not wait; exclusive
  write_lock(args, handle, caller, owner);
  args.boolean(false).u32(1);  // no reclaim; our state, odd: up
  return call_of(monitored ? 2 : 22, args);
}

Call unlock4(const Bytes& handle, const std::string& caller, const std::string& owner) {
  XdrWriter args;
  args.u32(4).u32(3);
  write_lock(args, handle, caller, owner);
  return call_of(4, args);
}

Outcome<Stat> decode_result4(View results) {
  XdrReader in(results);
  const auto stat = read_stat(in);
  return in.done(static_cast<Stat>(stat));
}

Outcome<Stat> decode_test4(View results) {
  XdrReader in(results);
  const auto stat = read_stat(in);
  if (in.ok() && stat == static_cast<std::uint32_t>(Stat::denied)) {
    in.boolean("exclusive");
    in.u32("svid");
    in.opaque(1024, "owner");
    in.u64("offset");
    in.u64("length");
  }
  return in.done(static_cast<Stat>(stat));
}

std::string stat_name(Stat stat) {
  switch (stat) {
    case Stat::granted: return "NLM4_GRANTED";
    case Stat::denied: return "NLM4_DENIED";
    case Stat::denied_nolocks: return "NLM4_DENIED_NOLOCKS";
    case Stat::blocked: return "NLM4_BLOCKED";
    case Stat::denied_grace_period: return "NLM4_DENIED_GRACE_PERIOD";
    case Stat::deadlck: return "NLM4_DEADLCK";
    case Stat::rofs: return "NLM4_ROFS";
    case Stat::stale_fh: return "NLM4_STALE_FH";
    case Stat::fbig: return "NLM4_FBIG";
    case Stat::failed: return "NLM4_FAILED";
  }
  return "NLM4_FAILED";
}

}  // namespace wire::nlm
