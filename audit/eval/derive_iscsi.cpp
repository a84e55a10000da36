#include "audit/eval/derive_iscsi.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "audit/base/instant.h"
#include "audit/base/text.h"
#include "audit/eval/derive_help.h"
#include "audit/eval/derive_storage.h"

namespace audit {

namespace {

using namespace derive_help;
using facts::Absent;
using facts::Value;
using Place = Storage::Place;

const facts::IscsiSession& session_at(const Context& c, std::uint32_t i) { return (*c.facts.iscsi.sessions)[i]; }
const facts::IscsiSession& session_of(const Context& c, const Item& item) { return session_at(c, item.index); }
const facts::MultipathMap& map_of(const Context& c, const Item& item) { return (*c.facts.multipath.maps)[item.index]; }
const facts::IscsiNodeRecord& record_of(const Context& c, const Item& item) {
  return (*c.facts.iscsi.node_records)[item.index];
}

std::string listed(const std::set<std::string>& words) {
  std::string text;
  for (const auto& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}
// --- health of a session -------------------------------------------------------------------------------------------

enum class Health : std::uint8_t { unknown, up, reopening, connection_down, failed, free };

// The kernel's word goes before that of iscsid, which does not manage the sessions of adapters and those of a boot
// program ("Unknown").
Health health_of(const facts::IscsiSession& s) {
  if (s.state.is("FREE")) return Health::free;
  if (s.state.is("FAILED")) return Health::failed;
  const facts::IscsiConnection* connection = s.connections.empty() ? nullptr : &s.connections.front();
  if (connection != nullptr && (connection->state.is("failed") || connection->state.is("down")))
    return Health::connection_down;
  const auto is_trouble = [](const facts::Fact<std::string>& word, std::initializer_list<std::string_view> words) {
    return word.has_value() && std::find(words.begin(), words.end(), *word) != words.end();
  };
  if (is_trouble(s.iscsid_state, {"REOPEN", "CLEANUP", "RECONNECT"}) ||
      (connection != nullptr &&
       is_trouble(connection->iscsid_state, {"TRANSPORT WAIT", "IN LOGIN", "FREE", "CLEANUP WAIT", "IN LOGOUT"})))
    return Health::reopening;
  if (s.state.is("LOGGED_IN")) return Health::up;
  return Health::unknown;
}

Value health(const Context& c, const Item& item) {
  switch (health_of(session_of(c, item))) {
    case Health::up: return "up";
    case Health::reopening: return "reopening";
    case Health::connection_down: return "connection down";
    case Health::failed: return "failed";
    case Health::free: return "free";
    case Health::unknown: break;
  }
  return missing_fact(c, "iscsi.sessions", item.index, "state");
}

// A failover of the portal that the owner declares for this time.
Value planned_failover(const Context& c, const Item& item) {
  const facts::IscsiSession& s = session_of(c, item);
  const auto now = c.facts.node.collected_at.has_value() ? base::epoch_of(*c.facts.node.collected_at) : std::nullopt;
  for (const auto& failover : c.facts.declared.failovers) {
    const bool meant = failover.server == "*" || failover.server == s.target ||
                       std::any_of(s.connections.begin(), s.connections.end(), [&](const auto& connection) {
                         return connection.persistent_addr.is(failover.server) || connection.addr.is(failover.server);
                       });
    if (!meant) continue;
    const auto holds = [&](const facts::Fact<std::string>& bound, bool start) {
      if (bound.is_absent()) return true;
      const auto at = bound.has_value() ? base::epoch_of(*bound) : std::nullopt;
      return at && now && (start ? *at <= *now : *now <= *at);
    };
    if (holds(failover.start, true) && holds(failover.end, false)) return true;
  }
  return false;
}

// --- disks and maps of a session -----------------------------------------------------------------------------------

Value mapped_luns(const Context& c, const Item& item) {
  const Storage::Session& joined = c.storage().sessions[item.index];
  if (!joined.maps.empty()) return static_cast<std::uint64_t>(joined.maps.size());
  if (c.facts.multipath.maps.has_value()) {
    // A map whose paths lead to no session that is known may be one over this session.
    for (std::uint32_t m = 0; m < c.storage().maps.size(); ++m) {
      const facts::MultipathMap& map = (*c.facts.multipath.maps)[m];
      if (c.storage().maps[m].sessions.empty() && map.iscsi.is_unknown() && map.kind == "dm-multipath")
        return unknown("needs multipath.maps[].paths[].session: not known which session carries them");
    }
    return std::uint64_t{0};
  }
  const bool all_told = !joined.devices.empty() &&
                        std::all_of(joined.devices.begin(), joined.devices.end(),
                                    [&](std::uint32_t d) { return (*c.facts.block.devices)[d].map.is_absent(); });
  return all_told ? Value(std::uint64_t{0}) : missing_fact(c, "multipath.maps");
}

// Disks without a map and without another disk of the same LUN.
Value lone_luns(const Context& c, const Item& item) {
  const Value mapped = mapped_luns(c, item);
  if (mapped.is_unknown()) return mapped;
  std::uint64_t count = 0;
  for (const std::uint32_t d : c.storage().sessions[item.index].devices) {
    const auto& map = c.storage().devices[d].map;
    const bool one_path =
        map ? (*c.facts.multipath.maps)[*map].paths.size() == 1 : (*c.facts.block.devices)[d].siblings.empty();
    if (one_path) ++count;
  }
  return count;
}

Value lun_count(const Context& c, const Item& item) {
  const auto& named = session_of(c, item).devices;
  return static_cast<std::uint64_t>(std::max(named.size(), c.storage().sessions[item.index].devices.size()));
}

Value carries_root(const Context& c, const Item& item) {
  for (const std::uint32_t u : c.storage().sessions[item.index].uses) {
    const facts::BlockUse& use = *c.storage().uses[u].use;
    if (use.kind == "mount" && use.name == "/") return true;
  }
  const auto& root = c.facts.iscsi.root_on_iscsi;
  if (root.is_unknown()) return missing_fact(c, "iscsi.root_on_iscsi");
  return root.is(true) && c.storage().sessions.size() == 1;
}
// --- targets -------------------------------------------------------------------------------------------------------

std::string without_tag(const std::string& portal) { return portal.substr(0, portal.rfind(',')); }

struct Expected {
  std::set<std::string> logged_in, wanted, missing;  // portals without their tags
  bool by_trident = false, automatic = false;        // what names a missing one
  bool told = false;                                 // records, tracking files or the target itself could be read
  std::uint64_t left_out = 0;                        // link-local, or known not to answer
};

Expected expected_of(const Context& c, std::uint32_t index) {
  const facts::IscsiTarget& target = c.facts.iscsi.targets[index];
  Expected found;
  for (const std::uint32_t s : c.storage().targets[index].sessions) {
    const auto& portal = session_at(c, s).portal;
    if (portal.has_value()) found.logged_in.insert(without_tag(*portal));
  }
  for (const std::string& portal : target.portals) found.logged_in.insert(without_tag(portal));
  const auto want = [&](const std::string& id) {
    const std::string name = without_tag(id);
    const auto place = c.storage().portal_named(id);
    const bool counts =
        !place || (!c.facts.iscsi.portals[*place].link_local && !c.facts.iscsi.portals[*place].reachable.is(false));
    if (found.logged_in.contains(name) || counts) {
      found.wanted.insert(name);
    } else {
      ++found.left_out;
    }
    return counts && !found.logged_in.contains(name);
  };
  for (const auto& expected : target.expected_portals) {
    if (expected.origin != "session") found.told = true;
    if (!want(expected.portal)) continue;
    found.missing.insert(without_tag(expected.portal));
    if (expected.origin == "trident") found.by_trident = true;
    if (expected.startup.is("automatic") || expected.startup.is("onboot")) found.automatic = true;
  }
  for (const std::string& portal : found.logged_in) found.wanted.insert(portal);
  if (c.facts.iscsi.node_records.has_value()) found.told = true;
  return found;
}

Value expected_number(const Context& c, const Item& item, Value (*get)(const Expected&)) {
  const Expected found = expected_of(c, item.index);
  return found.told ? get(found) : missing_fact(c, "iscsi.node_records");
}
Value expected_portal_count(const Context& c, const Item& item) {
  return expected_number(c, item,
                         [](const Expected& e) -> Value { return static_cast<std::uint64_t>(e.wanted.size()); });
}
Value missing_portal_count(const Context& c, const Item& item) {
  return expected_number(c, item,
                         [](const Expected& e) -> Value { return static_cast<std::uint64_t>(e.missing.size()); });
}
Value missing_portals(const Context& c, const Item& item) {
  return expected_number(c, item, [](const Expected& e) -> Value {
    return e.missing.empty() ? Value(Absent{}) : Value(listed(e.missing));
  });
}
Value missing_is_wanted(const Context& c, const Item& item) {
  return expected_number(c, item, [](const Expected& e) -> Value { return e.by_trident || e.automatic; });
}
Value expected_by(const Context& c, const Item& item) {
  return expected_number(c, item, [](const Expected& e) -> Value {
    return e.by_trident  ? "Trident's tracking files"
           : e.automatic ? "node records with automatic startup"
                         : "node records";
  });
}
Value expected_by_ja(const Context& c, const Item& item) {
  return expected_number(c, item, [](const Expected& e) -> Value {
    return e.by_trident ? "Trident の追跡ファイル" : e.automatic ? "自動起動のノードレコード" : "ノードレコード";
  });
}
Value logged_in_count(const Context& c, const Item& item) {
  return static_cast<std::uint64_t>(expected_of(c, item.index).logged_in.size());
}

Value session_count(const Context& c, const Item& item) {
  return static_cast<std::uint64_t>(c.storage().targets[item.index].sessions.size());
}
Value healthy_count(const Context& c, const Item& item) {
  std::uint64_t count = 0;
  for (const std::uint32_t s : c.storage().targets[item.index].sessions) {
    const Health health = health_of(session_at(c, s));
    if (health == Health::unknown) return missing_fact(c, "iscsi.sessions", s, "state");
    if (health == Health::up) ++count;
  }
  return count;
}

template <class Get>
std::set<std::string> of_sessions(const Context& c, const Item& item, Get get) {
  std::set<std::string> words;
  for (const std::uint32_t s : c.storage().targets[item.index].sessions) get(session_at(c, s), words);
  return words;
}

std::set<std::string> transports_of(const Context& c, const Item& item) {
  return of_sessions(c, item, [](const facts::IscsiSession& s, std::set<std::string>& words) {
    if (s.transport.has_value()) words.insert(*s.transport);
  });
}
Value transports(const Context& c, const Item& item) { return listed(transports_of(c, item)); }
// RDMA beside TCP. Adapters each have a transport of their own, which says nothing of the way.
Value mixes_rdma(const Context& c, const Item& item) {
  const auto words = transports_of(c, item);
  if (words.contains("iser") && words.size() > 1) return true;
  for (const std::uint32_t s : c.storage().targets[item.index].sessions) {
    if (session_at(c, s).transport.is_unknown()) return missing_fact(c, "iscsi.sessions", s, "transport");
  }
  return false;
}

// On iser the digests are always off: RDMA has a check of its own.
std::set<std::string> digests_of(const Context& c, const Item& item) {
  return of_sessions(c, item, [](const facts::IscsiSession& s, std::set<std::string>& words) {
    if (s.transport.is("iser") || s.connections.empty()) return;
    const auto& connection = s.connections.front();
    if (connection.header_digest.has_value() && connection.data_digest.has_value())
      words.insert(fmt::format("header {}, data {}", *connection.header_digest, *connection.data_digest));
  });
}
Value digests(const Context& c, const Item& item) {
  std::string text;
  for (const auto& word : digests_of(c, item)) text += (text.empty() ? "" : "; ") + word;
  return text;
}
Value digests_differ(const Context& c, const Item& item) { return digests_of(c, item).size() > 1; }

Value routed(const Context& c, const Item& item) {
  bool known = false;
  for (const std::uint32_t p : c.storage().targets[item.index].portals) {
    const auto way = c.path_to(c.facts.iscsi.portals[p].addr);
    if (!way) continue;
    const auto& on_link = (*c.facts.network.paths)[*way].on_link;
    if (on_link.is(false)) return true;
    if (on_link.has_value()) known = true;
  }
  return known ? Value(false) : missing_fact(c, "network.paths");
}

// --- maps ----------------------------------------------------------------------------------------------------------

struct Spread {
  std::set<std::string> interfaces, portals, groups;
  bool any_interface_unknown = false, any_group_unknown = false;
};

// The interface that a session is bound to, that of the route to its portal, else its local address stands for it.
std::string local_end(const Context& c, std::uint32_t s) {
  const facts::IscsiSession& session = session_at(c, s);
  if (session.netdev.has_value()) return *session.netdev;
  const auto portal = c.storage().sessions[s].portal;
  if (portal && c.facts.iscsi.portals[*portal].interface.has_value()) return *c.facts.iscsi.portals[*portal].interface;
  return session.initiator_addr.value_or("");
}

Spread spread_of(const Context& c, const Item& item) {
  Spread spread;
  for (const std::uint32_t s : c.storage().maps[item.index].sessions) {
    const facts::IscsiSession& session = session_at(c, s);
    const std::string local = local_end(c, s);
    if (local.empty()) spread.any_interface_unknown = true;
    if (!local.empty()) spread.interfaces.insert(local);
    if (session.portal.has_value()) spread.portals.insert(without_tag(*session.portal));
    // A target that is one port group has all its portals in it: groups tell apart only within a target.
    if (session.tpgt.has_value()) {
      spread.groups.insert(fmt::format("{} {}", session.target, *session.tpgt));
    } else {
      spread.any_group_unknown = true;
    }
  }
  return spread;
}

Value interface_count(const Context& c, const Item& item) {
  const Spread spread = spread_of(c, item);
  if (spread.any_interface_unknown && spread.interfaces.size() < 2) return missing_fact(c, "iscsi.portals[].interface");
  return static_cast<std::uint64_t>(spread.interfaces.size());
}
Value interface_names(const Context& c, const Item& item) { return listed(spread_of(c, item).interfaces); }
Value portal_count(const Context& c, const Item& item) {
  return static_cast<std::uint64_t>(spread_of(c, item).portals.size());
}
Value port_group_count(const Context& c, const Item& item) {
  const Spread spread = spread_of(c, item);
  if (spread.any_group_unknown && spread.groups.size() < 2) return missing_fact(c, "iscsi.sessions[].tpgt");
  return static_cast<std::uint64_t>(spread.groups.size());
}
Value path_count(const Context& c, const Item& item) {
  return static_cast<std::uint64_t>(map_of(c, item).paths.size());
}
Value session_path_count(const Context& c, const Item& item) {
  return static_cast<std::uint64_t>(c.storage().maps[item.index].sessions.size());
}

Value one_bond(const Context& c, const Item& item) {
  const Spread spread = spread_of(c, item);
  if (spread.interfaces.size() != 1) return false;
  if (!c.facts.network.interfaces.has_value()) return missing_fact(c, "network.interfaces");
  for (const auto& interface : *c.facts.network.interfaces) {
    if (interface.name == *spread.interfaces.begin()) return interface.kind.is("bond");
  }
  return false;
}
// --- node records --------------------------------------------------------------------------------------------------

Value csi_managed(const Context& c, const Item& item) {
  const facts::IscsiNodeRecord& record = record_of(c, item);
  if (c.facts.config.trident.has_value()) {
    for (const auto& volume : *c.facts.config.trident) {
      if (volume.iscsi_target_iqn.is(record.target)) return true;
    }
  }
  const auto target = c.storage().target_named(record.target);
  if (target) {
    for (const std::uint32_t u : c.storage().targets[*target].uses) {
      if (c.storage().uses[u].use->kubelet.has_value()) return true;
    }
  }
  if (c.facts.node.trident.is(false) && c.facts.node.kubelet.is(false)) return false;
  if (c.facts.node.trident.is_unknown() && c.facts.node.kubelet.is_unknown()) return missing_fact(c, "node.trident");
  return false;
}

// The line of fstab that needs this record's session: what is mounted from its disks, and names of udev that hold the
// target's.
const facts::FstabEntry* fstab_entry_of(const Context& c, const facts::IscsiNodeRecord& record) {
  if (!c.facts.config.fstab.has_value()) return nullptr;
  std::set<std::string> places;
  if (const auto target = c.storage().target_named(record.target)) {
    for (const std::uint32_t u : c.storage().targets[*target].uses) {
      const facts::BlockUse& use = *c.storage().uses[u].use;
      if (use.kind == "mount" || use.kind == "fstab") places.insert(use.name);
    }
  }
  for (const facts::FstabEntry& entry : *c.facts.config.fstab) {
    if (places.contains(entry.target)) return &entry;
    if (entry.source.find("-iscsi-" + record.target + "-lun-") != std::string::npos) return &entry;
  }
  return nullptr;
}

Value fstab_value(const Context& c, const Item& item, Value (*get)(const facts::FstabEntry&)) {
  if (c.facts.config.fstab.is_unknown()) return missing_fact(c, "config.fstab");
  const facts::FstabEntry* entry = fstab_entry_of(c, record_of(c, item));
  return entry == nullptr ? Value(Absent{}) : get(*entry);
}
Value fstab_target(const Context& c, const Item& item) {
  return fstab_value(c, item, [](const facts::FstabEntry& e) -> Value { return e.target; });
}
Value fstab_options(const Context& c, const Item& item) {
  return fstab_value(c, item, [](const facts::FstabEntry& e) -> Value { return e.options_text.value_or("defaults"); });
}
Value fstab_waits_for_network(const Context& c, const Item& item) {
  return fstab_value(c, item, [](const facts::FstabEntry& e) -> Value {
    const std::string options = e.options_text.value_or("");
    for (const auto option : base::split(options, ',')) {
      if (option == "_netdev" || option == "noauto" || option.starts_with("x-systemd.requires=iscsi")) return true;
    }
    return false;
  });
}

Value login_patience_s(const Context& c, const Item& item) {
  const facts::IscsiNodeRecord& record = record_of(c, item);
  if (!record.login_timeout_s.has_value()) return missing_fact(c, "iscsi.node_records", item.index, "login_timeout_s");
  if (!record.initial_login_retry_max.has_value())
    return missing_fact(c, "iscsi.node_records", item.index, "initial_login_retry_max");
  return std::uint64_t{*record.login_timeout_s} * *record.initial_login_retry_max;
}

Value starts_at_boot(const Context& c, const Item& item) {
  const auto& startup = record_of(c, item).startup;
  if (!startup.has_value()) return missing_fact(c, "iscsi.node_records", item.index, "startup");
  return *startup == "automatic" || *startup == "onboot";
}

// --- queues --------------------------------------------------------------------------------------------------------

// Disks whose queue was nine tenths full in both samples.
Value full_queues(const Context& c, const Item& item) {
  if (c.earlier() == nullptr) return unknown(c.why_not_comparable());
  std::uint64_t count = 0;
  const auto is_full = [](const facts::BlockDevice& d, const facts::Fact<std::uint32_t>& depth) {
    return depth.has_value() && *depth > 0 && d.inflight_read.has_value() && d.inflight_write.has_value() &&
           (*d.inflight_read + *d.inflight_write) * 10 >= std::uint64_t{*depth} * 9;
  };
  for (const std::uint32_t d : c.storage().sessions[item.index].devices) {
    const facts::BlockDevice& now = (*c.facts.block.devices)[d];
    const facts::BlockDevice* then = c.storage().earlier_device(d);
    if (then != nullptr && is_full(now, now.queue_depth) && is_full(*then, now.queue_depth)) ++count;
  }
  return count;
}

// Queue depths of disks that have anything under way, against what the host takes.
Value busy_depth(const Context& c, const Item& item) {
  std::uint64_t sum = 0;
  for (const std::uint32_t d : c.storage().sessions[item.index].devices) {
    const facts::BlockDevice& device = (*c.facts.block.devices)[d];
    if (!device.inflight_read.has_value() || !device.inflight_write.has_value() || !device.queue_depth.has_value())
      return missing_fact(c, "block.devices", d, "inflight_read");
    if (*device.inflight_read + *device.inflight_write > 0) sum += *device.queue_depth;
  }
  return sum;
}

Value in_flight(const Context& c, const Item& item) {
  std::uint64_t sum = 0;
  for (const std::uint32_t d : c.storage().sessions[item.index].devices) {
    const facts::BlockDevice& device = (*c.facts.block.devices)[d];
    if (!device.inflight_read.has_value() || !device.inflight_write.has_value())
      return missing_fact(c, "block.devices", d, "inflight_read");
    sum += *device.inflight_read + *device.inflight_write;
  }
  return sum;
}

// Mean time of a request on its disks between the samples.
Value window_latency_ms(const Context& c, const Item& item) {
  if (c.earlier() == nullptr) return unknown(c.why_not_comparable());
  std::uint64_t requests = 0, ms = 0;
  for (const std::uint32_t d : c.storage().sessions[item.index].devices) {
    const facts::BlockDevice& now = (*c.facts.block.devices)[d];
    const facts::BlockDevice* then = c.storage().earlier_device(d);
    if (then == nullptr) continue;
    const auto grown = [&](const facts::Fact<std::uint64_t> facts::BlockDevice::*counter) {
      const auto &to = now.*counter, &from = then->*counter;
      return to.has_value() && from.has_value() && *to >= *from ? *to - *from : 0;
    };
    requests += grown(&facts::BlockDevice::read_ios) + grown(&facts::BlockDevice::write_ios);
    ms += grown(&facts::BlockDevice::read_ms) + grown(&facts::BlockDevice::write_ms);
  }
  if (requests == 0) return Absent{};
  return static_cast<double>(ms) / static_cast<double>(requests);
}

Value fips(const Context& c, const Item&) {
  if (c.facts.kernel.settings.is_unknown()) return missing_fact(c, "kernel.settings");
  if (c.facts.kernel.settings.has_value()) {
    for (const auto& setting : *c.facts.kernel.settings) {
      if (setting.name == "crypto.fips_enabled") return setting.live.is("1");
    }
  }
  return false;
}

// Commands that timed out between the samples.
Value new_timeouts(const Context& c, const Item& item) {
  if (c.earlier() == nullptr) return unknown(c.why_not_comparable());
  std::uint64_t sum = 0;
  for (const std::uint32_t d : c.storage().sessions[item.index].devices) {
    const facts::BlockDevice& now = (*c.facts.block.devices)[d];
    const facts::BlockDevice* then = c.storage().earlier_device(d);
    if (then != nullptr && now.iotmo_count.has_value() && then->iotmo_count.has_value() &&
        *now.iotmo_count > *then->iotmo_count)
      sum += *now.iotmo_count - *then->iotmo_count;
  }
  return sum;
}
void add_session_facts(Scope& scope) {
  constexpr std::string_view by = "iscsi.sessions[].state";
  append(scope.derived,
         {{"health", text_type, "up, reopening, connection down, failed (recovery runs, I/O waits), free (I/O fails)",
           by, health},
          {"planned_failover", boolean_type, "a failover of its portal is declared as planned for this time",
           "declared.failovers", planned_failover},
          {"mapped_luns", integer_type, "multipath maps with a path over it", "multipath.maps", mapped_luns},
          {"lone_luns", integer_type, "its disks that have no other path", "multipath.maps", lone_luns},
          {"lun_count", integer_type, "its disks", "iscsi.sessions[].devices", lun_count},
          {"carries_root", boolean_type, "the root file system lies on it", "iscsi.root_on_iscsi", carries_root},
          {"full_queues", integer_type, "its disks whose queue was nine tenths full in both samples",
           "block.devices[].inflight_read", full_queues},
          {"busy_depth", integer_type, "queue depths of its disks with requests under way, summed up",
           "block.devices[].inflight_read", busy_depth},
          {"in_flight", integer_type, "requests under way on its disks", "block.devices[].inflight_read", in_flight},
          {"window_latency_ms", number_type, "mean time of a request on its disks between two samples; null for none",
           "block.devices[].read_ms", window_latency_ms},
          {"fips", boolean_type, "the kernel runs in FIPS mode", "kernel.settings", fips},
          {"new_timeouts", integer_type, "commands that timed out between two samples", "block.devices[].iotmo_count",
           new_timeouts}});
}

void add_target_facts(Scope& scope) {
  constexpr std::string_view by = "iscsi.sessions", records = "iscsi.targets[].expected_portals";
  append(
      scope.derived,
      {{"session_count", integer_type, "sessions to it", by, session_count},
       {"healthy_count", integer_type, "of these, sessions that are up", "iscsi.sessions[].state", healthy_count},
       {"logged_in_count", integer_type, "distinct portals of its sessions", by, logged_in_count},
       {"expected_count", integer_type,
        "distinct portals that sessions, records and tracking files name; without link-local ones and those that do "
        "not answer",
        records, expected_portal_count},
       {"missing_count", integer_type, "of these, portals without a session", records, missing_portal_count},
       {"missing_portals", text_type, "the same by name", records, missing_portals},
       {"missing_is_wanted", boolean_type,
        "Trident's tracking files, or a record with automatic startup, name one of them", records, missing_is_wanted},
       {"expected_by", text_type, "what names them", records, expected_by, expected_by_ja},
       {"transports", text_type, "transports of its sessions", by, transports},
       {"mixes_rdma", boolean_type, "sessions over iser beside others", by, mixes_rdma},
       {"digests", text_type, "digests of its sessions, iser left out", by, digests},
       {"digests_differ", boolean_type, "its sessions do not all use the same digests; iser left out", by,
        digests_differ},
       {"routed", boolean_type, "a router lies on the way to one of its portals", "network.paths", routed}});
}

void add_map_facts(Scope& scope) {
  constexpr std::string_view by = "multipath.maps[].paths";
  append(scope.derived,
         {{"path_count", integer_type, "its paths", by, path_count},
          {"session_count", integer_type, "distinct iSCSI sessions of its paths", by, session_path_count},
          {"spread.interfaces", integer_type, "distinct interfaces (else local addresses) that its paths leave by", by,
           interface_count},
          {"spread.interface_names", text_type, "the same by name", by, interface_names},
          {"spread.portals", integer_type, "distinct portals of its paths", by, portal_count},
          {"spread.port_groups", integer_type, "distinct targets and portal group tags of its paths", by,
           port_group_count},
          {"spread.one_bond", boolean_type, "all of them leave by one bond", by, one_bond}});
}

void add_record_facts(Scope& scope) {
  constexpr std::string_view by = "iscsi.node_records", fstab = "config.fstab";
  append(
      scope.derived,
      {{"csi_managed", boolean_type, "Trident or another CSI driver logs in to its target", "config.trident",
        csi_managed},
       {"starts_at_boot", boolean_type, "node.startup is automatic or onboot", by, starts_at_boot},
       {"login_patience_s", integer_type, "initial_login_retry_max x login_timeout", by, login_patience_s},
       {"fstab.target", text_type, "mount point of fstab that lies on its target; null for none", fstab, fstab_target},
       {"fstab.options", text_type, "its options", fstab, fstab_options},
       {"fstab.waits_for_network", boolean_type, "it has _netdev, noauto or needs the iscsi unit", fstab,
        fstab_waits_for_network}});
}

}  // namespace

void add_iscsi_facts(std::vector<Scope>& all) {
  add_session_facts(scope_named(all, "iscsi.sessions"));
  add_target_facts(scope_named(all, "iscsi.targets"));
  add_map_facts(scope_named(all, "multipath.maps"));
  add_record_facts(scope_named(all, "iscsi.node_records"));
  add_iscsi_timeouts(all);
  add_iscsi_disconnects(all);
}

}  // namespace audit
