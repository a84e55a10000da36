#include "audit/eval/derive_targets.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "audit/base/lists.h"
#include "audit/base/text.h"
#include "audit/eval/derive_help.h"
#include "audit/eval/derive_storage.h"

namespace audit {

namespace {

using namespace derive_help;
using facts::Absent;
using facts::Value;
using Indices = Storage::Indices;

// Under this name the probe logs in by itself: targets that know their initiators show it less than the node.
constexpr std::string_view own_name_prefix = "iqn.2001-01.invalid.mountaudit:";

const facts::IscsiPortal& portal_at(const Context& c, std::uint32_t at) { return c.facts.iscsi.portals[at]; }
const facts::IscsiTarget& target_at(const Context& c, std::uint32_t at) { return c.facts.iscsi.targets[at]; }

const facts::IscsiLogin& login_of(const Context& c, const Item& item) {
  return (*portal_at(c, item.index).logins)[item.sub];
}

// A LUN of a login of a portal: two places in one number.
constexpr std::uint32_t lun_bits = 16;
constexpr std::uint32_t most_luns = 1U << lun_bits;
const facts::IscsiLogin& path_login(const Context& c, const Item& item) {
  return (*portal_at(c, item.index).logins)[item.sub >> lun_bits];
}
const facts::IscsiPathLun& path_of(const Context& c, const Item& item) {
  return (*path_login(c, item).luns)[item.sub & (most_luns - 1)];
}
const facts::IscsiLun& lun_of(const Context& c, const Item& item) { return (*target_at(c, item.index).luns)[item.sub]; }
const facts::IscsiOfferedPortal& offered_of(const Context& c, const Item& item) {
  return (*target_at(c, item.index).offered_portals)[item.sub];
}

Value joined_texts(const std::vector<std::string>& texts) {
  return texts.empty() ? Value(Absent{}) : Value(base::join(texts, ", "));
}

// --- paths to a LUN ------------------------------------------------------------------------------------------------

struct PathToLun {
  const facts::IscsiPortal* portal;
  const facts::IscsiLogin* login;
  const facts::IscsiPathLun* lun;
};

std::vector<PathToLun> paths_to(const Context& c, const std::string& target, const std::string& lun) {
  std::vector<PathToLun> paths;
  for (const auto& portal : c.facts.iscsi.portals) {
    if (!portal.logins.has_value()) continue;
    for (const auto& login : *portal.logins) {
      if (login.target != target || !login.luns.has_value()) continue;
      for (const auto& one : *login.luns)
        if (one.lun == lun) paths.push_back({&portal, &login, &one});
    }
  }
  return paths;
}

std::vector<PathToLun> paths_of(const Context& c, const Item& item) {
  return paths_to(c, target_at(c, item.index).name, lun_of(c, item).lun);
}

// Disks of the node that are this LUN of this target; by one portal alone where that is given.
std::vector<const facts::BlockDevice*> devices_of(const Context& c, const std::string& target, const std::string& lun,
                                                  const std::string* portal = nullptr) {
  std::vector<const facts::BlockDevice*> found;
  if (!c.facts.block.devices.has_value()) return found;
  const auto number = base::number<std::uint64_t>(lun);
  for (const auto& device : *c.facts.block.devices) {
    if (number && device.lun.is(*number) && device.target.is(target) &&
        (portal == nullptr || device.portal.is(*portal)))
      found.push_back(&device);
  }
  return found;
}

std::string plain_wwid(std::string_view wwid) {
  std::string out;
  for (const std::string_view prefix : {"naa.", "eui.", "t10.", "scsi-"})
    if (wwid.starts_with(prefix)) wwid.remove_prefix(prefix.size());
  for (const char one : wwid) out += static_cast<char>(std::tolower(static_cast<unsigned char>(one)));
  return out;
}

// --- logins --------------------------------------------------------------------------------------------------------

Value uses_own_name(const facts::IscsiLogin& login) {
  if (!login.initiator.has_value()) return Value::of(login.initiator);
  return login.initiator->starts_with(own_name_prefix);
}

// The target is known to be there: a session or a record of the node, or a discovery, names it.
Value is_known_target(const Context& c, const Item& item) {
  const std::string& name = login_of(c, item).target;
  for (const auto& target : c.facts.iscsi.targets) {
    if (target.name == name)
      return !target.sessions.empty() || !target.expected_portals.empty() ||
             (target.offered_portals.has_value() && !target.offered_portals->empty());
  }
  return false;
}

Value disk_count(const facts::IscsiLogin& login) {
  if (!login.luns.has_value()) return facts::Unknown{};
  return static_cast<std::uint64_t>(std::count_if(login.luns->begin(), login.luns->end(), [](const auto& lun) {
    return lun.listed.is(true) && !lun.gone.is(true) && lun.ready.has_value();
  }));
}

Joined portal_of_item(const Context&, const Item& item) { return {make_item("iscsi.portals", item.index), false, ""}; }

Joined target_named(const Context& c, const std::string& name) {
  const auto place = c.storage().target_named(name);
  if (place) return {make_item("iscsi.targets", *place), false, ""};
  return {std::nullopt, true, ""};
}

std::vector<Item> target_volumes(const Context& c, const std::string& name) {
  const auto place = c.storage().target_named(name);
  std::vector<Item> items;
  if (!place) return items;
  for (const std::uint32_t use : c.storage().targets[*place].uses) items.push_back(make_item("block.users", use));
  return items;
}

Scope login_scope() {
  Scope scope;
  scope.name = "iscsi.portals.logins";
  scope.parent = "portal";
  scope.type = &facts::type_of<facts::IscsiLogin>;
  scope.items = [](const Context& c) {
    std::vector<Item> items;
    for (std::uint32_t p = 0; p < c.facts.iscsi.portals.size(); ++p) {
      const auto& logins = portal_at(c, p).logins;
      for (std::uint32_t i = 0; logins.has_value() && i < logins->size(); ++i)
        items.push_back(make_item("iscsi.portals.logins", p, i));
    }
    return items;
  };
  scope.ref = [](const Context& c, const Item& item) { return facts::ref_to(login_of(c, item)); };
  scope.path = [](const Context&, const Item& item) {
    return fmt::format("iscsi.portals[{}].logins[{}]", item.index, item.sub);
  };
  scope.subject = [](const Context& c, const Item& item) {
    return Subject{"iscsi.portal", portal_at(c, item.index).id};
  };
  scope.own_name = [](const Context& c, const Item& item) { return login_of(c, item).target; };
  constexpr std::string_view by = "iscsi.portals[].logins[].initiator";
  scope.derived = {
      {"own_name", boolean_type, "the probe logged in by its own name, not by that of the node or another", by,
       [](const Context& c, const Item& item) { return uses_own_name(login_of(c, item)); }},
      {"target_is_known", boolean_type, "sessions, records or a discovery name the target",
       "iscsi.portals[].logins[].target", is_known_target},
      {"target_name", text_type, "name of the target", "iscsi.portals[].logins[].target",
       [](const Context& c, const Item& item) { return Value(login_of(c, item).target); }},
      {"disk_count", integer_type, "disks that the target shows to this initiator", "iscsi.portals[].logins[].luns",
       [](const Context& c, const Item& item) { return disk_count(login_of(c, item)); }}};
  scope.references = {{"portal", "portal of the login", "iscsi.portals", portal_of_item},
                      {"target", "target that was logged in to", "iscsi.targets",
                       [](const Context& c, const Item& item) { return target_named(c, login_of(c, item).target); }}};
  scope.collections = {
      {"keys", "every key of the login", "iscsi.portals.logins.keys",
       [](const Context& c, const Item& item) {
         std::vector<Item> items;
         for (std::uint32_t i = 0; i < login_of(c, item).keys.size() && i < most_luns; ++i)
           items.push_back(make_item("iscsi.portals.logins.keys", item.index, item.sub << lun_bits | i));
         return items;
       }},
      {"volumes", "what lies on disks of the target", "block.users",
       [](const Context& c, const Item& item) { return target_volumes(c, login_of(c, item).target); }}};
  return scope;
}

Scope key_scope() {
  Scope scope;
  scope.name = "iscsi.portals.logins.keys";
  scope.parent = "portal";
  scope.type = &facts::type_of<facts::IscsiLoginKey>;
  scope.items = [](const Context& c) {
    std::vector<Item> items;
    const auto& portals = c.facts.iscsi.portals;
    for (std::uint32_t p = 0; p < portals.size(); ++p) {
      for (std::uint32_t i = 0; portals[p].logins.has_value() && i < portals[p].logins->size(); ++i)
        for (std::uint32_t k = 0; k < (*portals[p].logins)[i].keys.size() && k < most_luns; ++k)
          items.push_back(make_item("iscsi.portals.logins.keys", p, i << lun_bits | k));
    }
    return items;
  };
  scope.ref = [](const Context& c, const Item& item) {
    return facts::ref_to(path_login(c, item).keys[item.sub & (most_luns - 1)]);
  };
  scope.path = [](const Context&, const Item& item) {
    return fmt::format("iscsi.portals[{}].logins[{}].keys[{}]", item.index, item.sub >> lun_bits,
                       item.sub & (most_luns - 1));
  };
  scope.subject = [](const Context& c, const Item& item) {
    return Subject{"iscsi.portal", portal_at(c, item.index).id};
  };
  scope.own_name = [](const Context& c, const Item& item) {
    return path_login(c, item).target + ' ' + path_login(c, item).keys[item.sub & (most_luns - 1)].key;
  };
  scope.references = {{"portal", "portal of the login", "iscsi.portals", portal_of_item}};
  return scope;
}

// --- a LUN by one path ---------------------------------------------------------------------------------------------

// Another LUN answers under the number: the disk of the node was made from what was there before.
Value wwid_changed(const Context& c, const Item& item) {
  const auto& path = path_of(c, item);
  if (!path.wwid.has_value()) return path.gone.is(true) ? Value(false) : Value::of(path.wwid);
  for (const auto* device : devices_of(c, path_login(c, item).target, path.lun, &portal_at(c, item.index).id)) {
    if (device->wwid.has_value() && plain_wwid(*device->wwid) != plain_wwid(*path.wwid)) return true;
  }
  return false;
}

Value path_devices(const Context& c, const Item& item) {
  std::vector<std::string> names;
  for (const auto* device :
       devices_of(c, path_login(c, item).target, path_of(c, item).lun, &portal_at(c, item.index).id))
    names.push_back(device->name);
  return joined_texts(names);
}

Value device_wwid(const Context& c, const Item& item) {
  for (const auto* device :
       devices_of(c, path_login(c, item).target, path_of(c, item).lun, &portal_at(c, item.index).id))
    if (device->wwid.has_value()) return *device->wwid;
  return Absent{};
}

// The same work on the path that does it fastest. Reads where both read, else TEST UNIT READY.
struct Slow {
  double own_us = 0, best_us = 0;
  const facts::IscsiPortal* best = nullptr;
  bool reads = false;
};

std::optional<Slow> slower_than_best(const Context& c, const Item& item) {
  const auto& path = path_of(c, item);
  const auto& own = portal_at(c, item.index);
  std::optional<Slow> found;
  for (const bool reads : {true, false}) {
    const auto time = [&](const facts::IscsiPathLun& lun) { return reads ? lun.read_p50_us : lun.tur_p50_us; };
    const facts::Fact<double> own_us = time(path);
    if (!own_us.has_value()) continue;
    for (const auto& other : paths_to(c, path_login(c, item).target, path.lun)) {
      const facts::Fact<double> us = time(*other.lun);
      if (other.portal == &own || !us.has_value() || !(other.lun->wwid == path.wwid)) continue;
      if (!found || *us < found->best_us) found = Slow{*own_us, *us, other.portal, reads};
    }
    if (found) return found;
  }
  return found;
}

template <class Get>
Value of_slow(const Context& c, const Item& item, Get get) {
  const auto slow = slower_than_best(c, item);
  if (slow) return get(*slow);
  const auto& path = path_of(c, item);
  if (!path.tur_p50_us.has_value() && !path.read_p50_us.has_value()) return unknown("no command to this LUN was timed");
  return Absent{};  // one path only
}

Scope path_scope() {
  Scope scope;
  scope.name = "iscsi.portals.logins.luns";
  scope.parent = "portal";
  scope.type = &facts::type_of<facts::IscsiPathLun>;
  scope.items = [](const Context& c) {
    std::vector<Item> items;
    const auto& portals = c.facts.iscsi.portals;
    for (std::uint32_t p = 0; p < portals.size(); ++p) {
      for (std::uint32_t i = 0; portals[p].logins.has_value() && i < portals[p].logins->size(); ++i) {
        const auto& luns = (*portals[p].logins)[i].luns;
        for (std::uint32_t k = 0; luns.has_value() && k < luns->size() && k < most_luns; ++k)
          items.push_back(make_item("iscsi.portals.logins.luns", p, i << lun_bits | k));
      }
    }
    return items;
  };
  scope.ref = [](const Context& c, const Item& item) { return facts::ref_to(path_of(c, item)); };
  scope.path = [](const Context&, const Item& item) {
    return fmt::format("iscsi.portals[{}].logins[{}].luns[{}]", item.index, item.sub >> lun_bits,
                       item.sub & (most_luns - 1));
  };
  scope.subject = [](const Context& c, const Item& item) {
    return Subject{"iscsi.portal", portal_at(c, item.index).id};
  };
  scope.own_name = [](const Context& c, const Item& item) {
    return path_login(c, item).target + ' ' + path_of(c, item).lun;
  };
  constexpr std::string_view by = "iscsi.portals[].logins[].luns[].result";
  constexpr std::string_view devices = "block.devices";
  scope.derived = {
      {"target_name", text_type, "target that the LUN belongs to", "iscsi.portals[].logins[].target",
       [](const Context& c, const Item& item) { return Value(path_login(c, item).target); }},
      {"own_name", boolean_type, "the probe logged in by its own name, not by that of the node or another",
       "iscsi.portals[].logins[].initiator",
       [](const Context& c, const Item& item) { return uses_own_name(path_login(c, item)); }},
      {"disks_shown", integer_type, "disks that the target shows to this initiator", "iscsi.portals[].logins[].luns",
       [](const Context& c, const Item& item) { return disk_count(path_login(c, item)); }},
      {"initiator", text_type, "name that the probe used", "iscsi.portals[].logins[].initiator",
       [](const Context& c, const Item& item) { return Value::of(path_login(c, item).initiator); }},
      {"devices", text_type, "disks that the node has of it by this portal; null for none", devices, path_devices},
      {"device_wwid", text_type, "identifier that such a disk was made with; null when the node has none", devices,
       device_wwid},
      {"wwid_changed", boolean_type, "the LUN has another identifier than the disk that the node made of it", by,
       wwid_changed},
      {"slow.ratio", number_type, "its time over that of the fastest path to the same LUN; null for a single path", by,
       [](const Context& c, const Item& item) {
         return of_slow(c, item,
                        [](const Slow& slow) { return Value(slow.best_us > 0 ? slow.own_us / slow.best_us : 1.0); });
       }},
      {"slow.by_us", number_type, "the difference of the two", by,
       [](const Context& c, const Item& item) {
         return of_slow(c, item, [](const Slow& slow) { return Value(slow.own_us - slow.best_us); });
       }},
      {"slow.own_us", number_type, "median of this path", by,
       [](const Context& c, const Item& item) {
         return of_slow(c, item, [](const Slow& slow) { return Value(slow.own_us); });
       }},
      {"slow.best_us", number_type, "median of the fastest other path", by,
       [](const Context& c, const Item& item) {
         return of_slow(c, item, [](const Slow& slow) { return Value(slow.best_us); });
       }},
      {"slow.best", text_type, "portal of the fastest other path", by,
       [](const Context& c, const Item& item) {
         return of_slow(c, item, [](const Slow& slow) { return Value(slow.best->id); });
       }},
      {"slow.what", text_type, "command that was timed on both", by, [](const Context& c, const Item& item) {
         return of_slow(c, item,
                        [](const Slow& slow) { return Value(slow.reads ? "READ of 4 KiB" : "TEST UNIT READY"); });
       }}};
  scope.references = {{"portal", "portal of the path", "iscsi.portals", portal_of_item}};
  scope.collections = {
      {"volumes", "what lies on disks of the target", "block.users",
       [](const Context& c, const Item& item) { return target_volumes(c, path_login(c, item).target); }}};
  return scope;
}

// --- a LUN of a target ---------------------------------------------------------------------------------------------

struct Twin {
  std::string place;
  bool differs = false;  // in size, serial number, vendor or product: another LUN for certain
};

bool differ(const facts::IscsiLun& a, const facts::IscsiLun& b) {
  const auto other = [](const auto& one, const auto& two) {
    return one.has_value() && two.has_value() && !(one == two);
  };
  return other(a.size_bytes, b.size_bytes) || other(a.serial, b.serial) || other(a.vendor, b.vendor) ||
         other(a.product, b.product);
}

// Another LUN with the same identifier. Of another target it may be the same one: arrays give a LUN to several.
std::optional<Twin> twin_of(const Context& c, const Item& item) {
  const auto& own = lun_of(c, item);
  if (!own.wwid.has_value() || !own.type.is("disk")) return std::nullopt;
  std::optional<Twin> found;
  for (std::uint32_t t = 0; t < c.facts.iscsi.targets.size(); ++t) {
    const auto& target = target_at(c, t);
    for (std::uint32_t l = 0; target.luns.has_value() && l < target.luns->size(); ++l) {
      const auto& other = (*target.luns)[l];
      if (&other == &own || !other.type.is("disk") || !other.wwid.has_value()) continue;
      if (plain_wwid(*other.wwid) != plain_wwid(*own.wwid)) continue;
      const bool differs = differ(own, other);
      if (t != item.index && !differs) continue;
      if (!found || (differs && !found->differs))
        found = Twin{fmt::format("{} LUN {}", target.name, other.lun), differs};
    }
  }
  return found;
}

Value twin(const Context& c, const Item& item) {
  const auto found = twin_of(c, item);
  return found ? Value(found->place) : Value(Absent{});
}
Value twin_differs(const Context& c, const Item& item) {
  const auto found = twin_of(c, item);
  return found ? Value(found->differs) : Value(Absent{});
}

// Identifiers by path; more than one: the paths do not lead to the same LUN.
Value wwid_count(const Context& c, const Item& item) {
  std::set<std::string> wwids;
  for (const auto& path : paths_of(c, item))
    if (path.lun->wwid.has_value()) wwids.insert(plain_wwid(*path.lun->wwid));
  return static_cast<std::uint64_t>(wwids.size());
}

Value wwids_by_path(const Context& c, const Item& item) {
  std::vector<std::string> texts;
  for (const auto& path : paths_of(c, item))
    if (path.lun->wwid.has_value()) texts.push_back(path.portal->id + " " + *path.lun->wwid);
  return joined_texts(texts);
}

Value states_by_path(const Context& c, const Item& item) {
  std::vector<std::string> texts;
  for (const auto& path : paths_of(c, item))
    if (path.lun->state.has_value()) texts.push_back(path.portal->id + " " + *path.lun->state);
  return joined_texts(texts);
}

std::uint64_t paths_in(const Context& c, const Item& item, std::string_view state) {
  std::uint64_t count = 0;
  for (const auto& path : paths_of(c, item))
    if (path.lun->state.has_value() && *path.lun->state == state) ++count;
  return count;
}

Value serving_paths(const Context& c, const Item& item) {
  return paths_in(c, item, "active/optimized") + paths_in(c, item, "active/non-optimized");
}

Value has_unreached_optimized(const Context& c, const Item& item) {
  const auto& groups = lun_of(c, item).port_groups;
  if (!groups.has_value()) return groups.is_absent() ? Value(false) : Value(facts::Unknown{});
  const bool any = std::any_of(groups->begin(), groups->end(),
                               [](const facts::IscsiPortGroup& group) { return group.state == "active/optimized"; });
  return any && paths_in(c, item, "active/optimized") == 0;
}

Value mapped_devices(const Context& c, const Item& item) {
  std::vector<std::string> names;
  for (const auto* device : devices_of(c, target_at(c, item.index).name, lun_of(c, item).lun))
    names.push_back(device->name);
  return joined_texts(names);
}

Scope lun_scope() {
  Scope scope;
  scope.name = "iscsi.targets.luns";
  scope.parent = "target";
  scope.type = &facts::type_of<facts::IscsiLun>;
  scope.items = [](const Context& c) {
    std::vector<Item> items;
    for (std::uint32_t t = 0; t < c.facts.iscsi.targets.size(); ++t) {
      const auto& luns = target_at(c, t).luns;
      for (std::uint32_t i = 0; luns.has_value() && i < luns->size(); ++i)
        items.push_back(make_item("iscsi.targets.luns", t, i));
    }
    return items;
  };
  scope.ref = [](const Context& c, const Item& item) { return facts::ref_to(lun_of(c, item)); };
  scope.path = [](const Context&, const Item& item) {
    return fmt::format("iscsi.targets[{}].luns[{}]", item.index, item.sub);
  };
  scope.subject = [](const Context& c, const Item& item) {
    return Subject{"iscsi.target", target_at(c, item.index).name};
  };
  scope.own_name = [](const Context& c, const Item& item) { return "LUN " + lun_of(c, item).lun; };
  constexpr std::string_view by = "iscsi.targets[].luns[].wwid";
  constexpr std::string_view states = "iscsi.targets[].luns[].port_groups";
  scope.derived = {
      {"devices", text_type, "disks that the node has of it; null for none", "block.devices", mapped_devices},
      {"twin", text_type, "another LUN with the same identifier; null for none", by, twin},
      {"twin_differs", boolean_type,
       "that LUN has another size, serial number or maker: it is not the same; null "
       "without one",
       by, twin_differs},
      {"wwid_count", integer_type, "different identifiers that its paths tell", by, wwid_count},
      {"wwids_by_path", text_type, "identifier by each path; null when none tells one", by, wwids_by_path},
      {"alua.states", text_type, "state of each path; null without ALUA", states, states_by_path},
      {"alua.serving", integer_type, "paths that serve reads and writes: active", states, serving_paths},
      {"alua.optimized", integer_type, "paths that are active/optimized", states,
       [](const Context& c, const Item& item) { return Value(paths_in(c, item, "active/optimized")); }},
      {"alua.unreached", boolean_type, "a port group is active/optimized, and no path leads to it", states,
       has_unreached_optimized}};
  scope.references = {{"target", "target that has it", "iscsi.targets", [](const Context&, const Item& item) {
                         return Joined{make_item("iscsi.targets", item.index), false, ""};
                       }}};
  scope.collections = {
      {"volumes", "what lies on disks of the target", "block.users",
       [](const Context& c, const Item& item) { return target_volumes(c, target_at(c, item.index).name); }}};
  return scope;
}

// --- portals that a target offers ----------------------------------------------------------------------------------

Value has_session(const Context& c, const Item& item) {
  const auto& target = target_at(c, item.index);
  return std::find(target.portals.begin(), target.portals.end(), offered_of(c, item).portal) != target.portals.end();
}

Value is_expected(const Context& c, const Item& item) {
  const auto& target = target_at(c, item.index);
  return std::any_of(target.expected_portals.begin(), target.expected_portals.end(),
                     [&](const facts::IscsiExpectedPortal& one) { return one.portal == offered_of(c, item).portal; });
}

Scope offered_scope() {
  Scope scope;
  scope.name = "iscsi.targets.offered_portals";
  scope.parent = "target";
  scope.type = &facts::type_of<facts::IscsiOfferedPortal>;
  scope.items = [](const Context& c) {
    std::vector<Item> items;
    for (std::uint32_t t = 0; t < c.facts.iscsi.targets.size(); ++t) {
      const auto& offered = target_at(c, t).offered_portals;
      for (std::uint32_t i = 0; offered.has_value() && i < offered->size(); ++i)
        items.push_back(make_item("iscsi.targets.offered_portals", t, i));
    }
    return items;
  };
  scope.ref = [](const Context& c, const Item& item) { return facts::ref_to(offered_of(c, item)); };
  scope.path = [](const Context&, const Item& item) {
    return fmt::format("iscsi.targets[{}].offered_portals[{}]", item.index, item.sub);
  };
  scope.subject = [](const Context& c, const Item& item) {
    return Subject{"iscsi.target", target_at(c, item.index).name};
  };
  scope.own_name = [](const Context& c, const Item& item) { return offered_of(c, item).portal; };
  constexpr std::string_view by = "iscsi.targets[].offered_portals";
  scope.derived = {
      {"portal_id", text_type, "the portal that is offered", by,
       [](const Context& c, const Item& item) { return Value(offered_of(c, item).portal); }},
      {"has_session", boolean_type, "a session of the node to this target uses it", by, has_session},
      {"expected", boolean_type, "a record, tracking file or session of the node names it for this target", by,
       is_expected},
      {"session_count", integer_type, "sessions of the node to the target", by, [](const Context& c, const Item& item) {
         return Value(static_cast<std::uint64_t>(target_at(c, item.index).sessions.size()));
       }}};
  scope.references = {{"target", "target that offers it", "iscsi.targets",
                       [](const Context&, const Item& item) {
                         return Joined{make_item("iscsi.targets", item.index), false, ""};
                       }},
                      {"portal", "the portal", "iscsi.portals", [](const Context& c, const Item& item) {
                         const auto place = c.storage().portal_named(offered_of(c, item).portal);
                         if (place) return Joined{make_item("iscsi.portals", *place), false, ""};
                         return Joined{std::nullopt, true, ""};
                       }}};
  scope.collections = {
      {"volumes", "what lies on disks of the target", "block.users",
       [](const Context& c, const Item& item) { return target_volumes(c, target_at(c, item.index).name); }}};
  return scope;
}

// --- further facts of portals and sessions -------------------------------------------------------------------------

Value named_by(const Context& c, const Item& item, std::string_view origin) {
  const auto& origins = portal_at(c, item.index).origins;
  return std::find(origins.begin(), origins.end(), origin) != origins.end();
}

void add_to_portals(Scope& portals) {
  append<DerivedFact>(portals.derived,
                      {{"session_count", integer_type, "sessions that asked for it", "iscsi.portals[].sessions",
                        [](const Context& c, const Item& item) {
                          return Value(static_cast<std::uint64_t>(portal_at(c, item.index).sessions.size()));
                        }},
                       {"named_by_user", boolean_type, "the command line named it", "iscsi.portals[].origins",
                        [](const Context& c, const Item& item) { return named_by(c, item, "user"); }},
                       {"named_by_discovery", boolean_type, "SendTargets named it", "iscsi.portals[].origins",
                        [](const Context& c, const Item& item) { return named_by(c, item, "discovery"); }}});
}

// The login of the probe to the target and portal of a session.
Joined session_login(const Context& c, const Item& item) {
  const auto& joined = c.storage().sessions[item.index];
  const auto& session = (*c.facts.iscsi.sessions)[item.index];
  if (joined.portal && portal_at(c, *joined.portal).logins.has_value()) {
    const auto& logins = *portal_at(c, *joined.portal).logins;
    for (std::uint32_t i = 0; i < logins.size(); ++i)
      if (logins[i].target == session.target && logins[i].result == "ok")
        return {make_item("iscsi.portals.logins", *joined.portal, i), false, ""};
  }
  if (!joined.portal) return {std::nullopt, false, "needs iscsi.portals: not listed"};
  return {std::nullopt, false,
          fmt::format("needs iscsi.portals[{0}].logins: {1}", *joined.portal,
                      why_unknown(c, fmt::format("iscsi.portals[{}].logins", *joined.portal)))};
}

void add_to_sessions(Scope& sessions) {
  sessions.references.push_back(
      {"login", "login of the probe to its target at its portal", "iscsi.portals.logins", session_login});
}

}  // namespace

void add_target_answer_scopes(std::vector<Scope>& all) {
  add_to_portals(scope_named(all, "iscsi.portals"));
  add_to_sessions(scope_named(all, "iscsi.sessions"));
  for (Scope (*make)() : {login_scope, key_scope, path_scope, lun_scope, offered_scope}) all.push_back(make());
}

// --- where answers come from ---------------------------------------------------------------------------------------

bool is_answer_of_target(std::string_view plain) {
  for (const std::string_view fact :
       {"iscsi.portals.reachable", "iscsi.portals.connect_", "iscsi.portals.tcp_", "iscsi.portals.asked_from",
        "iscsi.portals.discovery", "iscsi.portals.logins", "iscsi.targets.offered_portals", "iscsi.targets.luns"})
    if (plain.starts_with(fact)) return true;
  return false;
}

const facts::Source* target_answer_row(const Context& context, std::string_view path, std::string_view plain,
                                       bool failed) {
  const auto open = path.find('['), close = path.find(']');
  if (open == std::string_view::npos || close == std::string_view::npos) return nullptr;
  const auto index = base::number<std::size_t>(path.substr(open + 1, close - open - 1));
  const facts::Iscsi& iscsi = context.facts.iscsi;
  if (!index) return nullptr;
  const bool of_portal = plain.starts_with("iscsi.portals.");
  if (*index >= (of_portal ? iscsi.portals.size() : iscsi.targets.size())) return nullptr;
  // Rows are named "addr:port" and "addr:port target".
  std::string start, end;
  if (of_portal) {
    const std::string& id = iscsi.portals[*index].id;
    start = id.substr(0, id.rfind(','));
  } else {
    end = ' ' + iscsi.targets[*index].name;
  }
  const facts::Source* found = nullptr;
  for (const auto& row : context.facts.sources) {
    if (!row.id.starts_with("iscsi_target.")) continue;
    const bool own = of_portal ? row.name == start || row.name.starts_with(start + ' ') : row.name.ends_with(end);
    if (!own) continue;
    if (failed && row.status != "ok") return &row;
    if (plain.starts_with("iscsi.portals.logins") && row.id == "iscsi_target.login" && row.status == "ok" && !failed)
      return &row;
    if (found == nullptr) found = &row;
  }
  return found;
}

}  // namespace audit
