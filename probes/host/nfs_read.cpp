// The mounts probe: mount table and counters of one moment, joined.
#include <optional>
#include <set>
#include <utility>

#include "audit/base/text.h"
#include "probes/host/mountinfo.h"
#include "probes/host/mountstats.h"
#include "probes/host/nfs_join.h"
#include "probes/probe.h"

namespace probes {

namespace {

Parsed<std::vector<facts::Mount>> parse_table(const Reading::Found& table) {
  if (table.place == "!mount-l") return parse_mount_l(table.text);
  return table.place == "/proc/mounts" ? parse_mounts(table.text) : parse_mountinfo(table.text);
}

// "/proc/1/mountinfo" is the view proc/1, "/proc/mounts" is proc.
std::string view_of(std::string_view place) {
  if (place == "!mount-l") return "mount";
  const std::size_t end = place.rfind('/');
  return std::string(place.substr(1, end - 1));
}

std::set<std::pair<std::string, std::string>> nfs_mounts(const std::vector<facts::Mount>& mounts) {
  std::set<std::pair<std::string, std::string>> found;
  for (const facts::Mount& mount : mounts)
    if (mount.kind == "nfs") found.emplace(mount.target, mount.device.value_or(""));
  return found;
}

// Counters of another process are those of this table only if both see the same mounts.
bool same_namespace(const Host& host, const Reading::Found& table, std::string_view stats_place,
                    const std::vector<facts::Mount>& mounts) {
  if (view_of(table.place) == view_of(stats_place) || table.place != "/proc/1/mountinfo") return true;
  const auto other = host.read("/proc/self/mountinfo");
  if (!other) return true;  // a copy that holds the one and not the other
  return *other == table.text || nfs_mounts(parse_mountinfo(*other).facts) == nfs_mounts(mounts);
}

}  // namespace

void read_mounts(Reading& reading) {
  facts::Facts& facts = reading.facts();
  Parsed<std::vector<facts::Mount>> mounts;
  const auto table = reading.first_of({"/proc/1/mountinfo", "/proc/self/mountinfo", "/proc/mounts", "!mount-l"});
  if (table) {
    mounts = parse_table(*table);
    reading.note(mounts.notes);
    facts.node.view = view_of(table->place);
    if (table->place.ends_with("mountinfo")) reading.keep_mount_table(table->text);
  }

  std::vector<MountstatsEntry> entries;
  const auto stats = reading.first_of({"/proc/1/mountstats", "/proc/self/mountstats"});
  const Clock now = reading.host().clock();  // right behind the counters: rates are divided by the time between two
  facts.node.boottime_ns = now.boottime_ns;
  facts.node.collected_at = now.wall;
  if (stats) {
    if (!table || same_namespace(reading.host(), *table, stats->place, mounts.facts)) {
      auto parsed = parse_mountstats(stats->text);
      reading.note(parsed.notes);
      entries = std::move(parsed.facts);
    } else {
      facts::Source& row = reading.last_row();
      row.status = "skipped";
      row.detail += (row.detail.empty() ? "" : "; ") +
                    std::string("shows other mounts than " + table->place + ": counters not used");
    }
  }
  auto joined = join_nfs(mounts.facts, std::move(entries));
  if (stats) reading.note(joined.notes);
  facts.nfs.mounts = std::move(joined.facts.mounts);
  facts.nfs.clients = std::move(joined.facts.clients);
  facts.nfs.servers = std::move(joined.facts.servers);
  facts.mounts = std::move(mounts.facts);
}

}  // namespace probes
