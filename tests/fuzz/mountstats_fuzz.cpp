// Client counters on any bytes, alone and joined to a mount table that may not fit: the text before an empty line, or
// all of it.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <string>
#include <string_view>

#include "probes/host/lines.h"
#include "probes/host/mountinfo.h"
#include "probes/host/mountstats.h"
#include "probes/host/nfs_join.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

void check(const facts::Nfs& nfs) {
  std::set<std::string> ids;
  std::set<std::string> targets;
  std::size_t mounts = 0;
  for (const auto& client : nfs.clients) {
    require(ids.insert(client.id).second);
    mounts += client.mounts.size();
  }
  require(mounts == nfs.mounts.size());
  for (const auto& mount : nfs.mounts) targets.insert(mount.target);
  for (const auto& mount : nfs.mounts) {
    require(ids.count(mount.client_id) == 1);
    if (mount.same_as.has_value()) require(targets.count(*mount.same_as) == 1 && mount.ops.empty());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto parsed = probes::parse_mountstats(text);
  require(parsed.notes.size() <= probes::max_notes + 1);
  check(probes::join_nfs({}, parsed.facts).facts);
  check(probes::join_nfs(probes::parse_mounts(text).facts, parsed.facts).facts);
  const std::string_view table = text.substr(0, text.find("\n\n"));
  check(probes::join_nfs(probes::parse_mountinfo(table).facts, parsed.facts).facts);
  return 0;
}
