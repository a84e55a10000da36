// The read-ahead window of each NFS file system. Source: /sys/class/bdi/MAJ:MIN/read_ahead_kb
// (Documentation/ABI/testing/sysfs-class-bdi). Nothing of the mount itself is touched.
#include <fmt/format.h>

#include <map>

#include "audit/base/text.h"
#include "probes/budget.h"
#include "probes/probe.h"

namespace probes {

void read_read_ahead(Reading& reading) {
  std::map<std::string, facts::Fact<std::uint64_t>> by_bdi;
  std::size_t failed = 0;
  base::Error first_error;
  std::vector<Note> notes;
  bool can_be_there = true;  // one look at the directory instead of a failing open for each of thousands
  auto budget = Budget::of(reading.host(), std::chrono::milliseconds(400), 65536);
  for (auto& mount : reading.facts().nfs.mounts) {
    if (!mount.bdi.has_value()) continue;
    auto found = by_bdi.find(*mount.bdi);
    if (found == by_bdi.end()) {
      if (!budget.take()) break;
      found = by_bdi.emplace(*mount.bdi, facts::Fact<std::uint64_t>()).first;
      const std::string path = "/sys/class/bdi/" + *mount.bdi + "/read_ahead_kb";
      const auto text = can_be_there ? reading.host().read(path) : tl::unexpected(first_error);
      if (!text) {
        if (failed++ == 0) {
          first_error = text.error();
          can_be_there = reading.host().list("/sys/class/bdi").has_value();
        }
      } else if (const auto kib = base::number<std::uint64_t>(base::trim(*text))) {
        found->second = *kib;
      } else {
        notes.push_back({0, path + " is no number"});
      }
    }
    mount.read_ahead_kib = found->second;
  }
  if (by_bdi.empty()) return;
  // One row for all: a node may have thousands of mounts.
  facts::Source row{"read-ahead", "/sys/class/bdi/*/read_ahead_kb", "ok", "", {}};
  if (failed > 0) {
    row.status = base::status_word(first_error.kind);
    row.detail = fmt::format("{} of {}: {} {}", failed, by_bdi.size(), first_error.where, first_error.message);
  }
  reading.facts().sources.push_back(std::move(row));
  if (budget.spent()) notes.push_back({0, budget.why("file systems")});
  reading.note(notes);
}

}  // namespace probes
