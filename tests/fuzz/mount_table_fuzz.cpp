// Mount tables in their three forms on any bytes, and the NFS client made of each: what comes out holds together.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "probes/host/lines.h"
#include "probes/host/mountinfo.h"
#include "probes/host/nfs_join.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

void check(const probes::Parsed<std::vector<facts::Mount>>& parsed) {
  require(parsed.notes.size() <= probes::max_notes + 1);
  for (const auto& mount : parsed.facts) {
    require(!mount.kind.empty());
    require(!mount.hidden_by.is_unknown());
    if (mount.hidden_by.has_value()) require(mount.target.starts_with(*mount.hidden_by));
  }
  const auto joined = probes::join_nfs(parsed.facts, {});
  std::size_t mounts = 0;
  for (const auto& client : joined.facts.clients) mounts += client.mounts.size();
  require(mounts == joined.facts.mounts.size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check(probes::parse_mountinfo(text));
  check(probes::parse_mounts(text, probes::Keep::all));
  check(probes::parse_mount_l(text));
  return 0;
}
