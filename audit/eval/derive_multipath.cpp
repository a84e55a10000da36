#include "audit/eval/derive_multipath.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "audit/base/text.h"
#include "audit/eval/derive_help.h"
#include "audit/eval/derive_storage.h"

namespace audit {

namespace {

using namespace derive_help;
using facts::Absent;
using facts::MultipathMap;
using facts::MultipathPath;
using facts::MultipathSetting;
using facts::Value;

constexpr std::int64_t non_optimized_prio = 10;  // prio alua: 50 optimized, 10 non-optimized, 1 standby
constexpr std::uint64_t default_polling_s = 5;

const MultipathMap& map_of(const Context& c, const Item& item) { return (*c.facts.multipath.maps)[item.index]; }

Value missing_here(const Context& c, const Item& item, std::string_view name) {
  return missing_fact(c, "multipath.maps", item.index, name);
}

Value as_value(const facts::Fact<std::string>& fact) {
  if (fact.has_value()) return *fact;
  return fact.is_absent() ? Value(Absent{}) : unknown("");
}

// --- paths by state ------------------------------------------------------------------------------------------------

std::uint64_t count(const MultipathMap& map, PathState state) {
  return static_cast<std::uint64_t>(std::count_if(map.paths.begin(), map.paths.end(),
                                                  [&](const auto& path) { return path_state(map, path) == state; }));
}

std::string names(const MultipathMap& map, PathState state) {
  std::vector<std::string> found;
  for (const auto& path : map.paths) {
    if (path_state(map, path) == state) found.push_back(path.device.empty() ? "a removed disk" : path.device);
  }
  return base::join(found, ", ");
}

template <PathState state>
Value path_count(const Context& c, const Item& item) {
  return count(map_of(c, item), state);
}
Value total_count(const Context& c, const Item& item) { return std::uint64_t{map_of(c, item).paths.size()}; }
Value down_names(const Context& c, const Item& item) { return text_or_absent(names(map_of(c, item), PathState::down)); }

std::uint64_t gone(const MultipathMap& map) { return count(map, PathState::down) + count(map, PathState::removed); }
bool is_stale(const MultipathMap& map) {
  return map.kind == "dm-multipath" && count(map, PathState::removed) == map.paths.size();
}
bool is_all_down(const MultipathMap& map) {
  return !map.paths.empty() && !is_stale(map) && gone(map) == map.paths.size();
}

Value stale(const Context& c, const Item& item) { return is_stale(map_of(c, item)); }
Value all_down(const Context& c, const Item& item) { return is_all_down(map_of(c, item)); }
Value half_down(const Context& c, const Item& item) {
  const MultipathMap& map = map_of(c, item);
  return gone(map) > 0 && gone(map) * 2 >= map.paths.size();
}

// --- when no path is left ------------------------------------------------------------------------------------------

const MultipathSetting* setting_of(const std::vector<MultipathSetting>& settings, std::string_view key) {
  const auto found = std::find_if(settings.begin(), settings.end(), [&](const auto& s) { return s.key == key; });
  return found == settings.end() ? nullptr : &*found;
}

const facts::Fact<std::string>& found_in(const MultipathSetting& setting) {
  if (setting.live.has_value()) return setting.live;
  return setting.configured.has_value() ? setting.configured : setting.builtin;
}

Value policy(const Context& c, const Item& item) {
  const MultipathMap& map = map_of(c, item);
  if (const MultipathSetting* setting = setting_of(map.settings, "no_path_retry")) {
    const auto& text = found_in(*setting);
    if (text.has_value() && *text == "0") return std::string("fail");
    if (text.has_value()) return *text;
  }
  if (map.queue_if_no_path.is_unknown()) return missing_here(c, item, "queue_if_no_path");
  return std::string(map.queue_if_no_path.is(true) ? "queue" : "fail");
}

Value policy_is_configured(const Context& c, const Item& item) {
  const MultipathSetting* setting = setting_of(map_of(c, item).settings, "no_path_retry");
  return setting != nullptr && found_in(*setting).has_value();
}

std::uint64_t polling_s(const Context& c) {
  const MultipathSetting* setting = setting_of(c.facts.multipath.settings, "polling_interval");
  if (setting == nullptr || !found_in(*setting).has_value()) return default_polling_s;
  return base::number<std::uint64_t>(*found_in(*setting)).value_or(default_polling_s);
}

Value polling(const Context& c, const Item&) { return polling_s(c); }

// Seconds until I/O fails once no path is left; null: never.
Value io_error_after_s(const Context& c, const Item& item) {
  const Value text = policy(c, item);
  if (text.as_text() == nullptr) return text;
  if (*text.as_text() == "fail") return std::uint64_t{0};
  const auto retries = base::number<std::uint64_t>(*text.as_text());
  return retries ? Value(*retries * polling_s(c)) : Value(Absent{});
}

Value holds_io(const Context& c, const Item& item) {
  const MultipathMap& map = map_of(c, item);
  if (!is_all_down(map)) return false;
  if (map.queueing.is("off")) return false;
  if (map.queue_if_no_path.is_unknown()) return missing_here(c, item, "queue_if_no_path");
  return map.queue_if_no_path.is(true);
}

Value ends_words(const Context& c, const Item& item, bool ja) {
  const MultipathMap& map = map_of(c, item);
  if (!is_all_down(map)) return Absent{};
  const Value holds = holds_io(c, item);
  if (holds.is_unknown()) return holds;
  if (!*holds.as_bool()) return std::string(ja ? "I/O はエラーになります" : "I/O fails");
  if (map.queue_left_s.has_value())
    return ja ? fmt::format("I/O は保留されており、{} 秒後にエラーになります", *map.queue_left_s)
              : fmt::format("I/O is held and will fail in {} s", *map.queue_left_s);
  return std::string(ja ? "パスが戻るまで I/O は止まったままです" : "I/O hangs until a path returns");
}
Value outcome(const Context& c, const Item& item) { return ends_words(c, item, false); }
Value outcome_ja(const Context& c, const Item& item) { return ends_words(c, item, true); }

// --- maps of one array ---------------------------------------------------------------------------------------------

std::string array_of(const Context& c, std::uint32_t m) {
  const auto& targets = c.storage().maps[m].targets;
  if (!targets.empty()) return c.facts.iscsi.targets[targets.front()].name;
  const MultipathMap& map = (*c.facts.multipath.maps)[m];
  if (map.vendor.has_value()) return base::join(std::vector{*map.vendor, map.product.value_or("")}, " ");
  return map.id;
}
Value array(const Context& c, const Item& item) { return array_of(c, item.index); }

Value maps_down(const Context& c, const Item& item) {
  const std::string own = array_of(c, item.index);
  std::uint64_t sum = 0;
  for (std::uint32_t m = 0; m < c.facts.multipath.maps->size(); ++m)
    sum += is_all_down((*c.facts.multipath.maps)[m]) && array_of(c, m) == own;
  return sum;
}

// LUNs of the same sessions, or else of the same array, still answer: this one is gone, not the array.
Value neighbours_answer(const Context& c, const Item& item) {
  const auto& own = c.storage().maps[item.index].sessions;
  for (std::uint32_t m = 0; m < c.facts.multipath.maps->size(); ++m) {
    const MultipathMap& map = (*c.facts.multipath.maps)[m];
    if (m == item.index || count(map, PathState::up) == 0) continue;
    const auto& theirs = c.storage().maps[m].sessions;
    const bool share = std::any_of(own.begin(), own.end(), [&](std::uint32_t s) {
      return std::find(theirs.begin(), theirs.end(), s) != theirs.end();
    });
    if (share) return true;
  }
  return false;
}

// --- redundancy ----------------------------------------------------------------------------------------------------

// Sessions that lead to the same targets. Where the paths name no session, all of them if they lead to one target.
Value session_count(const Context& c, const Item& item) {
  const auto& storage = c.storage();
  std::set<std::uint32_t> sessions;
  for (const std::uint32_t t : storage.maps[item.index].targets)
    sessions.insert(storage.targets[t].sessions.begin(), storage.targets[t].sessions.end());
  if (!sessions.empty()) return std::uint64_t{sessions.size()};
  const MultipathMap& map = map_of(c, item);
  const bool local = map.iscsi.is(false) || map.vendor.is("ATA") || map.kind != "dm-multipath";
  if (local) return std::uint64_t{0};
  const auto& all = c.facts.iscsi.sessions;
  if (!all.has_value()) return missing_fact(c, "iscsi.sessions");
  if (all->empty()) return std::uint64_t{0};
  const bool one_target =
      std::all_of(all->begin(), all->end(), [&](const auto& s) { return s.target == all->front().target; });
  if (!one_target) return missing_here(c, item, "iscsi");
  return std::uint64_t{all->size()};
}

Value over_iscsi(const Context& c, const Item& item) {
  const MultipathMap& map = map_of(c, item);
  if (map.iscsi.has_value()) return *map.iscsi;
  if (!c.storage().maps[item.index].sessions.empty()) return true;
  if (c.facts.iscsi.sessions.has_value() && c.facts.iscsi.sessions->empty()) return false;
  return missing_here(c, item, "iscsi");
}

// --- ALUA ----------------------------------------------------------------------------------------------------------

bool has_alua(const MultipathMap& map) {
  if (map.hwhandler.has_value()) return map.hwhandler->find("alua") != std::string::npos;
  return std::any_of(map.paths.begin(), map.paths.end(), [](const auto& p) { return p.access_state.has_value(); });
}

std::string access_of(const Context& c, const Item& item, std::size_t p) {
  const MultipathPath& path = map_of(c, item).paths[p];
  if (path.access_state.has_value()) return *path.access_state;
  const auto device = c.storage().maps[item.index].path_devices[p];
  return device ? (*c.facts.block.devices)[*device].access_state.value_or("") : "";
}

std::int64_t prio_of(const MultipathMap& map, const MultipathPath& path) {
  if (path.prio.has_value()) return *path.prio;
  for (const auto& group : map.groups) {
    if (path.group.is(group.number)) return group.prio.value_or(-1);
  }
  return -1;
}

const facts::MultipathGroup* active_group(const MultipathMap& map) {
  for (const auto& group : map.groups) {
    if (group.status.is("active")) return &group;
  }
  return nullptr;
}

enum class Access : std::uint8_t { unknown, optimized, non_optimized, other };
Access access_class(const Context& c, const Item& item, std::size_t p) {
  const MultipathMap& map = map_of(c, item);
  const std::string word = access_of(c, item, p);
  if (word == "active/optimized") return Access::optimized;
  if (word == "active/non-optimized") return Access::non_optimized;
  if (!word.empty()) return Access::other;
  if (!map.checkers_ran) return Access::unknown;
  const std::int64_t prio = prio_of(map, map.paths[p]);
  if (prio == non_optimized_prio) return Access::non_optimized;
  return prio >= 50 ? Access::optimized : Access::unknown;
}

// Paths that work, of the group that carries I/O or of the others, by their access.
std::array<unsigned, 4> working(const Context& c, const Item& item, bool of_active) {
  const MultipathMap& map = map_of(c, item);
  const facts::MultipathGroup* active = active_group(map);
  std::array<unsigned, 4> sums{};
  for (std::size_t p = 0; p < map.paths.size(); ++p) {
    const bool is_active = active != nullptr && map.paths[p].group.is(active->number);
    const PathState state = path_state(map, map.paths[p]);
    if (is_active == of_active && (state == PathState::up || state == PathState::standby))
      ++sums[static_cast<std::size_t>(access_class(c, item, p))];
  }
  return sums;
}

Value io_access(const Context& c, const Item& item) {
  const MultipathMap& map = map_of(c, item);
  if (!has_alua(map) || map.kind != "dm-multipath") return Absent{};
  if (active_group(map) == nullptr) return Absent{};
  const auto used = working(c, item, true), spare = working(c, item, false);
  const auto at = [](const auto& sums, Access a) { return sums[static_cast<std::size_t>(a)]; };
  if (at(used, Access::optimized) > 0) return std::string("optimized");
  if (at(used, Access::other) > 0 && at(used, Access::non_optimized) == 0) return std::string("not available");
  if (at(used, Access::non_optimized) == 0) return is_all_down(map) ? Value(Absent{}) : missing_here(c, item, "paths");
  return std::string(at(spare, Access::optimized) > 0 ? "optimized unused" : "non-optimized");
}

Value used_paths(const Context& c, const Item& item) {
  const MultipathMap& map = map_of(c, item);
  const facts::MultipathGroup* group = active_group(map);
  return group == nullptr ? Value(Absent{}) : text_or_absent(base::join(group->paths, ", "));
}

// --- identity ------------------------------------------------------------------------------------------------------

// What tgt and the old IET give a LUN unless told otherwise: made of the numbers of target and LUN, equal on every
// server.
bool is_default_wwid(const std::string& wwid) {
  if (wwid.starts_with("360000000000000000e000000") && wwid.size() == 33) return true;
  if (!wwid.starts_with("1IET ")) return false;
  const std::string_view tail = std::string_view(wwid).substr(wwid.find_last_of(' ') + 1);
  return tail.size() == 8 && tail.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}
Value default_wwid(const Context& c, const Item& item) {
  const MultipathMap& map = map_of(c, item);
  if (!map.wwid.has_value()) return missing_here(c, item, "wwid");
  return is_default_wwid(*map.wwid);
}

std::set<std::string> target_names(const Context& c, const Item& item) {
  std::set<std::string> found;
  const auto& joined = c.storage().maps[item.index];
  const MultipathMap& map = map_of(c, item);
  for (std::size_t p = 0; p < map.paths.size(); ++p) {
    if (joined.path_sessions[p]) {
      found.insert((*c.facts.iscsi.sessions)[*joined.path_sessions[p]].target);
    } else if (map.paths[p].target.has_value()) {
      found.insert(*map.paths[p].target);
    } else if (map.paths[p].target_node.has_value()) {
      found.insert(*map.paths[p].target_node);
    }
  }
  return found;
}
Value target_count(const Context& c, const Item& item) { return std::uint64_t{target_names(c, item).size()}; }
Value target_list(const Context& c, const Item& item) {
  const auto found = target_names(c, item);
  return text_or_absent(base::join(std::vector<std::string>(found.begin(), found.end()), ", "));
}

// Arrays may have a target for each port, then with one naming authority; disks that are one LUN have one serial
// number.
Value different_volumes(const Context& c, const Item& item) {
  std::set<std::string> serials, authorities;
  for (const std::uint32_t d : c.storage().maps[item.index].devices) {
    const auto& serial = (*c.facts.block.devices)[d].serial;
    if (serial.has_value()) serials.insert(*serial);
  }
  if (serials.size() > 1) return true;
  for (const auto& name : target_names(c, item)) authorities.insert(name.substr(0, name.find(':')));
  return authorities.size() > 1 && serials.empty();
}

// Paths whose disk bears another WWID than the map.
Value other_wwid(const Context& c, const Item& item) {
  const MultipathMap& map = map_of(c, item);
  std::vector<std::string> found;
  for (std::size_t p = 0; p < map.paths.size(); ++p) {
    const auto device = c.storage().maps[item.index].path_devices[p];
    const facts::Fact<std::string>& wwid =
        device ? (*c.facts.block.devices)[*device].multipath_wwid : map.paths[p].wwid;
    if (wwid.has_value() && map.wwid.has_value() && *wwid != *map.wwid)
      found.push_back(fmt::format("{} is {}", map.paths[p].device, *wwid));
  }
  for (const auto& notice : c.facts.multipath.notices) {
    if (notice.kind != "wwid-changed" || !notice.dev.has_value()) continue;
    for (const auto& path : map.paths) {
      if (path.dev.is(*notice.dev) || path.device == *notice.dev)
        found.push_back(fmt::format("{}: multipath says that its WWID changed", path.device));
    }
  }
  return text_or_absent(base::join(found, ", "));
}

Value in_other_maps(const Context& c, const Item& item) {
  std::vector<std::string> found;
  for (const auto& path : map_of(c, item).paths) {
    if (path.device.empty()) continue;
    for (std::uint32_t m = 0; m < c.facts.multipath.maps->size(); ++m) {
      const MultipathMap& other = (*c.facts.multipath.maps)[m];
      const bool there =
          m != item.index && other.id != map_of(c, item).id &&
          std::any_of(other.paths.begin(), other.paths.end(), [&](const auto& p) { return p.device == path.device; });
      if (!there) continue;
      found.push_back(path.device);
      break;
    }
  }
  return text_or_absent(base::join(found, ", "));
}

Value lun_numbers(const Context& c, const Item& item) {
  std::vector<std::string> found;
  std::set<std::uint64_t> luns;
  for (const auto& path : map_of(c, item).paths) {
    if (!path.lun.has_value()) continue;
    luns.insert(*path.lun);
    found.push_back(fmt::format("{} {}", path.device, *path.lun));
  }
  return luns.size() > 1 ? Value(base::join(found, ", ")) : Value(Absent{});
}

Value user_count(const Context& c, const Item& item) { return std::uint64_t{c.storage().maps[item.index].uses.size()}; }

// --- settings ------------------------------------------------------------------------------------------------------

struct Wanted {
  std::string_view key;
  std::vector<std::string_view> accepted;  // the first is what the built-in entry says
};

// The entry of multipath-tools for NETAPP, LUN.* (libmultipath/hwtable.c) and the defaults that go with it.
const std::vector<Wanted>& netapp_entry() {
  static const std::vector<Wanted> entry{
      {"path_checker", {"tur"}},
      {"no_path_retry", {"queue"}},
      {"prio", {"ontap", "alua", "sysfs"}},
      {"path_grouping_policy", {"group_by_prio"}},
      {"failback", {"immediate"}},
      {"fast_io_fail_tmo", {"5"}},
      {"features", {"2 pg_init_retries 50", "3 queue_if_no_path pg_init_retries 50"}},
      {"user_friendly_names", {"no"}}};
  return entry;
}

const MultipathSetting& setting_at(const Context& c, const Item& item) {
  return (*c.facts.multipath.maps)[item.index].settings[item.sub];
}
bool is_netapp(const MultipathMap& map) { return map.vendor.is("NETAPP"); }

const Wanted* wanted_for(const Context& c, const Item& item) {
  if (!is_netapp((*c.facts.multipath.maps)[item.index])) return nullptr;
  for (const Wanted& wanted : netapp_entry()) {
    if (wanted.key == setting_at(c, item).key) return &wanted;
  }
  return nullptr;
}

bool is_judged(const std::string& key) {
  const auto& entry = netapp_entry();
  return std::any_of(entry.begin(), entry.end(), [&](const Wanted& w) { return w.key == key; });
}

Value setting_found(const Context& c, const Item& item) {
  const MultipathSetting& setting = setting_at(c, item);
  return as_value(setting.live.has_value() ? setting.live : setting.configured);
}

Value setting_expected(const Context& c, const Item& item) {
  if (const Wanted* wanted = wanted_for(c, item)) return std::string(wanted->accepted.front());
  if (!is_judged(setting_at(c, item).key)) return Absent{};
  return as_value(setting_at(c, item).builtin);
}

// Of an array other than NetApp's only what a file changed counts: versions of the built-in table differ.
Value setting_differs(const Context& c, const Item& item) {
  const MultipathSetting& setting = setting_at(c, item);
  const Value found = setting_found(c, item);
  if (!is_judged(setting.key)) return false;
  if (found.as_text() == nullptr) return found.is_unknown() ? missing_fact(c, "multipath.running_conf") : Value(false);
  const std::string& text = *found.as_text();
  if (const Wanted* wanted = wanted_for(c, item))
    return std::find(wanted->accepted.begin(), wanted->accepted.end(), text) == wanted->accepted.end();
  if (is_netapp((*c.facts.multipath.maps)[item.index])) return false;
  if (!setting.place.has_value() || !setting.builtin.has_value()) return false;
  return text != *setting.builtin;
}

Value setting_where(const Context& c, const Item& item) {
  const MultipathSetting& setting = setting_at(c, item);
  if (setting.place.has_value()) return *setting.place;
  return setting.origin.empty() ? std::string("the running map") : setting.origin;
}

// --- the node ------------------------------------------------------------------------------------------------------

const facts::MultipathConfEntry* find_multipaths_entry(const Context& c) {
  const facts::MultipathConfEntry* found = nullptr;
  if (!c.facts.multipath.conf.has_value()) return nullptr;
  for (const auto& entry : *c.facts.multipath.conf) {
    if (entry.section == "defaults" && entry.key == "find_multipaths" && !entry.overridden) found = &entry;
  }
  return found;
}

Value find_multipaths(const Context& c, const Item&) {
  if (const auto* entry = find_multipaths_entry(c)) return entry->value;
  return c.facts.multipath.conf.is_unknown() ? missing_fact(c, "multipath.conf") : Value(Absent{});
}
Value find_multipaths_place(const Context& c, const Item&) {
  if (const auto* entry = find_multipaths_entry(c)) return fmt::format("{}:{}", entry->path, entry->line);
  return c.facts.multipath.conf.is_unknown() ? missing_fact(c, "multipath.conf") : Value(Absent{});
}
Value find_multipaths_effective(const Context& c, const Item&) {
  const MultipathSetting* setting = setting_of(c.facts.multipath.settings, "find_multipaths");
  if (setting == nullptr) return missing_fact(c, "multipath.running_conf");
  return as_value(found_in(*setting));
}

Value iscsi_session_count(const Context& c, const Item&) {
  const auto& sessions = c.facts.iscsi.sessions;
  if (sessions.has_value()) return std::uint64_t{sessions->size()};
  return sessions.is_absent() ? Value(std::uint64_t{0}) : missing_fact(c, "iscsi.sessions");
}

Value conf_exists(const Context& c, const Item&) {
  const auto& conf = c.facts.multipath.conf;
  return conf.is_unknown() ? missing_fact(c, "multipath.conf") : Value(conf.has_value());
}

Value changed_wwids(const Context& c, const Item&) {
  std::vector<std::string> found;
  for (const auto& notice : c.facts.multipath.notices) {
    if (notice.kind != "wwid-changed") continue;
    const std::string dev = notice.dev.has_value() ? *notice.dev : "a disk that is not named";
    found.push_back(notice.count > 1 ? fmt::format("{} ({} times)", dev, notice.count) : dev);
  }
  return text_or_absent(base::join(found, ", "));
}

// --- paths outside a map -------------------------------------------------------------------------------------------

const MultipathPath& loose_of(const Context& c, const Item& item) { return (*c.facts.multipath.paths)[item.index]; }

Value loose_state(const Context& c, const Item& item) {
  static const MultipathMap no_map;
  switch (path_state(no_map, loose_of(c, item))) {
    case PathState::up: return std::string("up");
    case PathState::standby: return std::string("standby");
    case PathState::down: return std::string("down");
    case PathState::removed: return std::string("removed");
    default: return unknown("the path checker did not run");
  }
}

Value is_orphan(const Context& c, const Item& item) {
  const auto& map = loose_of(c, item).map;
  return map.is_unknown() ? unknown("the text does not show the map") : Value(map.is_absent());
}

// Paths of one LUN, as far as the text tells: by WWID, else by LUN number.
std::string loose_group(const MultipathPath& path) {
  if (path.wwid.has_value()) return *path.wwid;
  return path.lun.has_value() ? fmt::format("LUN {}", *path.lun) : path.device;
}
Value loose_lun(const Context& c, const Item& item) { return loose_group(loose_of(c, item)); }
Value loose_names(const Context& c, const Item& item) {
  std::vector<std::string> found;
  const std::string own = loose_group(loose_of(c, item));
  for (const auto& path : *c.facts.multipath.paths) {
    if (loose_group(path) == own) found.push_back(path.device);
  }
  return base::join(found, ", ");
}

}  // namespace

PathState path_state(const MultipathMap&, const MultipathPath& path) {
  if (path.removed || path.device.empty()) return PathState::removed;
  if (path.ana_state.has_value())
    return path.dev_state.is("live") && !path.ana_state.is("inaccessible") ? PathState::up : PathState::down;
  const std::string checker = path.checker_state.value_or("");
  for (const std::string_view bad : {"faulty", "shaky", "timeout", "removed", "down"}) {
    if (checker == bad) return PathState::down;
  }
  if (path.dev_state.is("offline") || path.dev_state.is("transport-offline")) return PathState::down;
  if (checker == "ghost") return PathState::standby;
  if (checker == "pending" || checker == "delayed") return PathState::not_checked;
  if (path.dm_state.is("failed")) return PathState::down;
  return checker == "ready" || checker == "up" ? PathState::up : PathState::not_checked;
}

namespace {

void add_map_facts(std::vector<DerivedFact>& facts) {
  constexpr std::string_view by_paths = "multipath.maps[].paths";
  constexpr std::string_view by_settings = "multipath.maps[].settings";
  constexpr std::string_view by_wwid = "multipath.maps[].wwid";
  facts.insert(
      facts.end(),
      {{"paths.total", integer_type, "paths of the map, removed ones included", by_paths, total_count},
       {"paths.up", integer_type, "paths that work", by_paths, path_count<PathState::up>},
       {"paths.standby", integer_type, "standby paths (ghost)", by_paths, path_count<PathState::standby>},
       {"paths.down", integer_type, "paths that failed", by_paths, path_count<PathState::down>},
       {"paths.removed", integer_type, "paths whose disk does not exist any more", by_paths,
        path_count<PathState::removed>},
       {"paths.not_checked", integer_type, "paths that no checker looked at, or whose check is under way", by_paths,
        path_count<PathState::not_checked>},
       {"paths.down_names", text_type, "paths that failed; null for none", by_paths, down_names},
       {"paths.all_down", boolean_type, "no path is left, though disks are there", by_paths, all_down},
       {"paths.half_down", boolean_type, "half of the paths failed, or more", by_paths, half_down},
       {"stale", boolean_type, "it has no path, or only such whose disks are gone", by_paths, stale},
       {"no_path_policy", text_type, "no_path_retry: queue, fail or a number of checks; from the loaded map otherwise",
        by_settings, policy},
       {"no_path_policy_told", boolean_type, "no_path_retry itself is known, not only the loaded map", by_settings,
        policy_is_configured},
       {"polling_interval_s", integer_type, "polling_interval; 5 where nothing tells it", "multipath.settings",
        polling},
       {"io_error_after_s", integer_type,
        "time from the loss of the last path until I/O fails: no_path_retry x polling_interval; null for never",
        by_settings, io_error_after_s},
       {"holds_io", boolean_type, "no path is left and I/O waits", "multipath.maps[].queue_if_no_path", holds_io},
       {"no_path_outcome", text_type, "what becomes of I/O now; null while a path is left",
        "multipath.maps[].queue_if_no_path", outcome, outcome_ja},
       {"array", text_type, "its target, else vendor and product", by_paths, array},
       {"array_maps_down", integer_type, "maps of the same array without a path", by_paths, maps_down},
       {"neighbours_answer", boolean_type, "other LUNs of the same sessions have working paths", by_paths,
        neighbours_answer},
       {"possible_paths", integer_type, "iSCSI sessions to its targets; 0 where it is local", "iscsi.sessions",
        session_count},
       {"over_iscsi", boolean_type, "a path belongs to an iSCSI session", "multipath.maps[].iscsi", over_iscsi},
       {"io_access", text_type,
        "ALUA state of the paths that carry I/O: optimized, non-optimized, optimized unused (better ones wait), not "
        "available; null without ALUA",
        by_paths, io_access},
       {"used_paths", text_type, "paths of the group that carries I/O", "multipath.maps[].groups", used_paths},
       {"default_wwid", boolean_type, "its WWID is one that software targets give unless told otherwise", by_wwid,
        default_wwid},
       {"path_targets.count", integer_type, "iSCSI targets that its paths lead to", by_paths, target_count},
       {"path_targets.names", text_type, "their names; null for none", by_paths, target_list},
       {"different_volumes", boolean_type,
        "serial numbers of its disks differ, or they are not known and the targets belong to different naming "
        "authorities",
        "block.devices[].serial", different_volumes},
       {"other_wwid", text_type, "paths whose disk bears another WWID than the map; null for none", by_wwid,
        other_wwid},
       {"in_other_maps", text_type, "paths that are listed in another map as well; null for none", by_paths,
        in_other_maps},
       {"lun_numbers", text_type, "LUN numbers of the paths where they differ; null where equal", by_paths,
        lun_numbers},
       {"user_count", integer_type, "who uses it", "multipath.maps[].users", user_count}});
}

void add_other_facts(std::vector<Scope>& all) {
  constexpr std::string_view by_settings = "multipath.maps[].settings";
  constexpr std::string_view by_conf = "multipath.conf";
  constexpr std::string_view by_loose = "multipath.paths";
  auto& settings = scope_named(all, "multipath.maps.settings").derived;
  settings.insert(
      settings.end(),
      {{"found", text_type, "value in effect, else the configured one", by_settings, setting_found},
       {"expected", text_type, "value of the built-in entry of its array; null where none is judged", by_settings,
        setting_expected},
       {"differs", boolean_type, "it differs from the built-in entry of its array", by_settings, setting_differs},
       {"where", text_type, "file:line, or what gives the value", by_settings, setting_where}});
  auto& node = scope_named(all, "multipath").derived;
  node.insert(
      node.end(),
      {{"find_multipaths.configured", text_type, "find_multipaths as written; null when not set", by_conf,
        find_multipaths},
       {"find_multipaths.place", text_type, "file:line of it; null when not set", by_conf, find_multipaths_place},
       {"find_multipaths.effective", text_type, "find_multipaths in effect", "multipath.settings",
        find_multipaths_effective},
       {"session_count", integer_type, "iSCSI sessions of the node", "iscsi.sessions", iscsi_session_count},
       {"conf_exists", boolean_type, "there is a multipath.conf", by_conf, conf_exists},
       {"changed_wwids", text_type, "disks whose WWID changed, as multipath says; null for none", "multipath.notices",
        changed_wwids}});
  auto& loose = scope_named(all, "multipath.paths").derived;
  loose.insert(loose.end(), {{"state", text_type, "up, standby, down or removed", by_loose, loose_state},
                             {"orphan", boolean_type, "it belongs to no map", by_loose, is_orphan},
                             {"lun_key", text_type, "WWID, else the LUN number", by_loose, loose_lun},
                             {"lun_paths", text_type, "all paths listed with it", by_loose, loose_names}});
}

}  // namespace

void add_multipath_facts(std::vector<Scope>& all) {
  add_map_facts(scope_named(all, "multipath.maps").derived);
  add_other_facts(all);
}

}  // namespace audit
