#include "probes/load/target.h"

#include <fmt/format.h>

#include <algorithm>

#include "audit/base/text.h"
#include "probes/wire/ask_iscsi.h"

namespace load {
namespace {

using base::ErrorKind;

tl::unexpected<base::Error> usage(std::string text) { return base::fail(ErrorKind::usage, "", std::move(text)); }

base::Result<Target> parse_nfs(std::string_view text) {
  auto parsed = wire::parse_nfs_url(text);
  if (!parsed) return tl::unexpected(parsed.error());
  Target target;
  target.kind = TargetKind::nfs;
  target.text = std::string(text);
  if (!parsed->exports.empty()) target.path = parsed->exports.front();
  target.nfs = std::move(*parsed);
  return target;
}

base::Result<Target> parse_iscsi(std::string_view text) {
  auto parsed = wire::parse_iscsi_url(text);
  if (!parsed) return tl::unexpected(parsed.error());
  const auto lun = wire::iscsi::lun_of_text(parsed->lun);
  if (!lun) return usage("iSCSI URL: target and LUN are needed; expected iscsi://[user@]host[:port]/iqn/lun");
  Target target;
  target.kind = TargetKind::iscsi;
  target.text = std::move(parsed->shown);
  target.host = parsed->portal.addr.empty() ? parsed->portal.name : parsed->portal.addr;
  target.port = parsed->portal.port;
  target.user = std::move(parsed->user);
  target.iqn = std::move(parsed->target);
  target.lun = *lun;
  return target;
}

// "/a//b/" and "/a/b" are the same.
std::string plain(std::string_view path) {
  std::string out;
  for (const auto part : base::split(path, '/'))
    if (!part.empty() && part != ".") out += "/" + std::string(part);
  return out.empty() ? "/" : out;
}

}  // namespace

base::Result<Target> parse_target(std::string_view text) {
  if (text.starts_with("nfs://")) return parse_nfs(text);
  if (text.starts_with("iscsi://")) return parse_iscsi(text);
  if (!text.starts_with('/'))
    return usage(fmt::format("\"{}\" is no target: nfs://host/export/file, iscsi://host/iqn/lun, or an absolute path",
                             base::escape_control(std::string(text))));
  Target target;
  target.text = target.path = std::string(text);
  return target;
}

bool may_write(const Target& target, const Consent& consent) {
  return std::any_of(consent.write.begin(), consent.write.end(), [&](const std::string& named) {
    if (named == target.text) return true;
    if (target.kind == TargetKind::iscsi) return false;
    if (named == "." && target.kind == TargetKind::nfs) return !target.path.empty();
    return named.starts_with('/') && plain(named) == plain(target.path);
  });
}

base::Result<void> check_consent(const Target& target, const std::vector<Step>& steps, const Consent& consent) {
  const bool writable = may_write(target, consent);
  const auto shown = base::escape_control(target.text);
  for (const auto& step : steps) {
    if (step.pattern.writes() && !writable)
      return usage(
          fmt::format("{} writes: name a directory, a device or a LUN as the target, and the same by "
                      "--allow-write; not allowed for {}",
                      pattern_name(step.pattern), shown));
    if (writable || consent.load) continue;
    if (moves_data(step.pattern.op))
      return usage(fmt::format("reading {} is load that others may feel: allow it with --allow-load", shown));
    if (step.depth > 1 || step.connections > 1 || step.rate > 0)
      return usage(
          fmt::format("more than one call at a time is load that others may feel: allow it with --allow-load "
                      "for {}",
                      shown));
  }
  return {};
}

base::Result<void> check_operations(const Target& target, const std::vector<Step>& steps) {
  for (const auto& step : steps) {
    const Op op = step.pattern.op;
    const bool nfs_only = op == Op::null || op == Op::getattr;
    const bool iscsi_only = op == Op::tur || op == Op::nop;
    if ((nfs_only && target.kind != TargetKind::nfs) || (iscsi_only && target.kind != TargetKind::iscsi))
      return usage(fmt::format("{} is {}; {} is none", pattern_name(step.pattern), nfs_only ? "NFS" : "iSCSI",
                               base::escape_control(target.text)));
    if (target.kind == TargetKind::nfs && target.path.empty() && op != Op::null)
      return usage(fmt::format("{} needs a path: nfs://host/export/file", pattern_name(step.pattern)));
    if (target.kind == TargetKind::local && step.connections > 1)
      return usage(
          "the kernel has the connections of its mount or session: --connections goes with nfs:// and iscsi://");
  }
  return {};
}

}  // namespace load
