#include "audit/eval/derive_block.h"

#include <fmt/format.h>

#include <algorithm>

#include "audit/base/text.h"
#include "audit/eval/derive_help.h"
#include "audit/eval/derive_storage.h"

namespace audit {

namespace {

using namespace derive_help;
using facts::Absent;
using facts::BlockDevice;
using facts::Value;

constexpr std::uint64_t page_bytes = 4096;

const BlockDevice& device_of(const Context& c, const Item& item) { return (*c.facts.block.devices)[item.index]; }

Value missing_here(const Context& c, const Item& item, std::string_view name) {
  return missing_fact(c, "block.devices", item.index, name);
}

// Paths of one LUN are one thing: by map, else by WWID, else each by itself.
Value lun_key(const Context& c, const Item& item) {
  const BlockDevice& device = device_of(c, item);
  if (device.map.has_value()) return *device.map;
  if (device.multipath_wwid.has_value()) return *device.multipath_wwid;
  return device.id.empty() ? device.name : device.id;
}

// Of the target that it is reached through: what hangs together fails together.
Value array_key(const Context& c, const Item& item) {
  const BlockDevice& device = device_of(c, item);
  if (device.target.has_value()) return *device.target;
  return device.vendor.value_or("") + ' ' + device.model.value_or("");
}

Value is_network_disk(const Context& c, const Item& item) {
  const BlockDevice& device = device_of(c, item);
  if (device.kind != "scsi") return false;
  if (c.storage().devices[item.index].session) return true;
  if (device.session.is_unknown()) return missing_here(c, item, "session");
  return device.session.has_value();
}

// --- alignment -----------------------------------------------------------------------------------------------------

std::uint64_t block_of(const BlockDevice& device) {
  return std::max(page_bytes, device.physical_block_size_bytes.value_or(page_bytes));
}

Value misaligned(const Context& c, const Item& item) {
  const BlockDevice& device = device_of(c, item);
  if (device.partitions.empty()) return Absent{};
  std::vector<std::string> found;
  bool not_known = false;
  for (const auto& part : device.partitions) {
    const bool has_bytes = part.start_bytes.has_value();
    if (!has_bytes && !part.start_sectors.has_value()) {
      not_known = true;
      continue;
    }
    const std::uint64_t start = has_bytes ? *part.start_bytes : *part.start_sectors * 512;
    if (start % block_of(device) != 0) found.push_back(fmt::format("{} starts at byte {}", part.name, start));
  }
  if (found.empty() && not_known) return missing_here(c, item, "partitions");
  return text_or_absent(base::join(found, ", "));
}

Value lowest_aligned_lba(const Context& c, const Item& item) {
  const BlockDevice& device = device_of(c, item);
  if (device.alignment_offset_bytes.is_unknown()) return missing_here(c, item, "alignment_offset_bytes");
  if (device.logical_block_size_bytes.is_unknown()) return missing_here(c, item, "logical_block_size_bytes");
  if (!device.alignment_offset_bytes.has_value() || *device.alignment_offset_bytes < 0 ||
      device.logical_block_size_bytes.value_or(0) == 0)
    return Absent{};
  return static_cast<std::uint64_t>(*device.alignment_offset_bytes) / *device.logical_block_size_bytes;
}

// --- queues --------------------------------------------------------------------------------------------------------

Value request_sizes(const Context& c, const Item& item) {
  const auto map = c.storage().devices[item.index].map;
  if (!map) return Absent{};
  std::vector<std::string> texts;
  std::vector<std::uint64_t> sizes;
  for (const std::uint32_t i : c.storage().maps[*map].devices) {
    const BlockDevice& device = (*c.facts.block.devices)[i];
    if (!device.max_sectors_kib.has_value()) continue;
    sizes.push_back(*device.max_sectors_kib);
    texts.push_back(fmt::format("{} {} KiB", device.name, sizes.back()));
  }
  const bool differ = std::any_of(sizes.begin(), sizes.end(), [&](std::uint64_t s) { return s != sizes.front(); });
  return differ ? Value(base::join(texts, ", ")) : Value(Absent{});
}

// --- discard -------------------------------------------------------------------------------------------------------

// Mounts of file systems on it; raw volumes trim themselves.
Value mounts_with_discard(const Context& c, const Item& item) {
  bool any = false, all = true, not_known = false;
  for (const std::uint32_t u : c.storage().devices[item.index].all_uses) {
    const facts::BlockUse& use = *c.storage().uses[u].use;
    if (use.kind != "mount" || use.read_only.is(true)) continue;
    any = true;
    if (!use.options_text.has_value()) {
      not_known = true;
      continue;
    }
    const auto options = base::split(*use.options_text, ',');
    all = all && std::any_of(options.begin(), options.end(),
                             [](std::string_view o) { return o == "discard" || o.starts_with("discard="); });
  }
  if (!any) return Absent{};
  if (all && not_known) return missing_here(c, item, "users");
  return all;
}

// --- errors --------------------------------------------------------------------------------------------------------

Value risen(const Context& c, const Item& item, facts::Fact<std::uint64_t> BlockDevice::*counter,
            std::string_view name) {
  const BlockDevice* before = c.storage().earlier_device(item.index);
  if (before == nullptr)
    return unknown(c.earlier() != nullptr ? "the earlier sample has no such disk" : c.why_not_comparable());
  const auto &now = device_of(c, item).*counter, &then = before->*counter;
  if (!now.has_value() || !then.has_value()) return missing_here(c, item, name);
  return *now >= *then ? *now - *then : std::uint64_t{0};
}
Value risen_errors(const Context& c, const Item& item) {
  return risen(c, item, &BlockDevice::ioerr_count, "ioerr_count");
}
Value risen_timeouts(const Context& c, const Item& item) {
  return risen(c, item, &BlockDevice::iotmo_count, "iotmo_count");
}

// The counters as sysfs prints them.
Value hex_errors(const Context& c, const Item& item) {
  const auto& count = device_of(c, item).ioerr_count;
  if (count.is_unknown()) return missing_here(c, item, "ioerr_count");
  return count.has_value() ? Value(fmt::format("0x{:x}", *count)) : Value(Absent{});
}

// A file system that was mounted to be written and is not any more: it says so itself, with errors=remount-ro, or the
// fstab line of the same mount point asks for writing.
bool was_meant_writable(const Context& c, const facts::BlockUse& use) {
  const std::string own = use.options_text.value_or("");
  const auto options = base::split(own, ',');
  if (std::find(options.begin(), options.end(), "errors=remount-ro") != options.end()) return true;
  if (!c.facts.config.fstab.has_value()) return false;
  for (const auto& line : *c.facts.config.fstab) {
    if (line.target != use.name) continue;
    const std::string text = line.options_text.value_or("");
    const auto asked = base::split(text, ',');
    return std::find(asked.begin(), asked.end(), "ro") == asked.end();
  }
  return false;
}

Value turned_read_only(const Context& c, const Item& item) {
  std::vector<std::string> found;
  for (const std::uint32_t u : c.storage().devices[item.index].all_uses) {
    const facts::BlockUse& use = *c.storage().uses[u].use;
    if (use.kind == "mount" && use.read_only.is(true) && was_meant_writable(c, use)) found.push_back(use.name);
  }
  return text_or_absent(base::join(found, ", "));
}

Value has_writers(const Context& c, const Item& item) {
  const auto& uses = c.storage().devices[item.index].all_uses;
  return std::any_of(uses.begin(), uses.end(), [&](std::uint32_t u) {
    const facts::BlockUse& use = *c.storage().uses[u].use;
    return use.kind == "mount" && use.read_only.is(false);
  });
}

// Another path of its map takes writes, or something mounted on it wants to write.
Value read_only_among_writable(const Context& c, const Item& item) {
  const BlockDevice& device = device_of(c, item);
  if (device.read_only.is_unknown()) return missing_here(c, item, "read_only");
  if (!device.read_only.is(true)) return false;
  const auto map = c.storage().devices[item.index].map;
  if (map && (*c.facts.multipath.maps)[*map].write_protect.is("rw")) return true;
  if (map) {
    for (const std::uint32_t i : c.storage().maps[*map].devices) {
      if ((*c.facts.block.devices)[i].read_only.is(false)) return true;
    }
  }
  return has_writers(c, item);
}

// Who goes past the map, in words; paths of maps are used through the map only.
Value direct_users(const Context& c, const Item& item) {
  std::vector<std::string> found;
  for (const std::uint32_t u : c.storage().devices[item.index].uses) {
    const facts::BlockUse& use = *c.storage().uses[u].use;
    found.push_back(fmt::format("{} {}", use.kind, use.name));
  }
  return text_or_absent(base::join(found, ", "));
}

// Sessions to its target: as many paths could be.
Value target_sessions(const Context& c, const Item& item) {
  const auto target = c.storage().devices[item.index].target;
  if (target) return c.storage().targets[*target].sessions.size();
  if (device_of(c, item).target.is_absent()) return std::uint64_t{0};
  return missing_here(c, item, "target");
}

}  // namespace

void add_block_facts(std::vector<Scope>& all) {
  auto& facts = scope_named(all, "block.devices").derived;
  constexpr std::string_view by_parts = "block.devices[].partitions";
  constexpr std::string_view by_users = "block.devices[].users";
  facts.insert(
      facts.end(),
      {{"lun_key", text_type, "what paths of one LUN have in common: map, else WWID, else the name",
        "block.devices[].multipath_wwid", lun_key},
       {"array_key", text_type, "target, else vendor and product", "block.devices[].target", array_key},
       {"network_disk", boolean_type, "a SCSI disk of an iSCSI session", "block.devices[].session", is_network_disk},
       {"misaligned", text_type,
        "partitions that do not start at a multiple of 4096 bytes, or of the physical block where that is larger; null "
        "for none",
        by_parts, misaligned},
       {"lowest_aligned_lba", integer_type, "first block that lies on a boundary of the array's blocks; 0: aligned",
        "block.devices[].alignment_offset_bytes", lowest_aligned_lba},
       {"request_sizes", text_type, "largest request of each path of its map where they differ; null where equal",
        "block.devices[].max_sectors_kib", request_sizes},
       {"mounts_with_discard", boolean_type, "every writable mount on it has the option discard; null without mounts",
        by_users, mounts_with_discard},
       {"window.errors", integer_type, "commands that ended with an error between two samples",
        "block.devices[].ioerr_count", risen_errors},
       {"window.timeouts", integer_type, "commands that timed out between two samples", "block.devices[].iotmo_count",
        risen_timeouts},
       {"ioerr_hex", text_type, "commands that ended with an error, as sysfs prints it", "block.devices[].ioerr_count",
        hex_errors},
       {"turned_read_only", text_type, "mounts on it that are read-only and were meant to be written; null for none",
        by_users, turned_read_only},
       {"read_only_among_writable", boolean_type,
        "it takes no writes although another path of its map does, or a mount on it wants to write",
        "block.devices[].read_only", read_only_among_writable},
       {"direct_users", text_type, "who uses the disk itself; null for none", by_users, direct_users},
       {"target_sessions", integer_type, "sessions to its target", "block.devices[].target", target_sessions}});
}

}  // namespace audit
