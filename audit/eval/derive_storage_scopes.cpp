// The kinds of items below a file system and how one leads to another. What is computed from them stands in the files
// of iscsi, multipath and block.
#include <fmt/format.h>

#include "audit/eval/derive_help.h"
#include "audit/eval/derive_storage.h"

namespace audit {

namespace {

using namespace derive_help;
using Place = Storage::Place;
using Indices = Storage::Indices;

const facts::IscsiSession& session_of(const Context& c, const Item& item) {
  return (*c.facts.iscsi.sessions)[item.index];
}
const facts::BlockDevice& device_of(const Context& c, const Item& item) { return (*c.facts.block.devices)[item.index]; }
const facts::MultipathMap& map_of(const Context& c, const Item& item) { return (*c.facts.multipath.maps)[item.index]; }

const Storage::Session& joined_session(const Context& c, const Item& item) { return c.storage().sessions[item.index]; }
const Storage::Device& joined_device(const Context& c, const Item& item) { return c.storage().devices[item.index]; }
const Storage::Map& joined_map(const Context& c, const Item& item) { return c.storage().maps[item.index]; }
const Storage::Target& joined_target(const Context& c, const Item& item) { return c.storage().targets[item.index]; }
const Storage::Portal& joined_portal(const Context& c, const Item& item) { return c.storage().portals[item.index]; }
const Storage::Use& joined_use(const Context& c, const Item& item) { return c.storage().uses[item.index]; }

std::vector<Item> items_at(std::string_view scope, const Indices& places) {
  const Scope* s = find_scope(scope);
  std::vector<Item> items;
  items.reserve(places.size());
  for (const std::uint32_t place : places) items.push_back({s, place, 0});
  return items;
}

template <class T>
std::vector<Item> items_of_list(std::string_view scope, const facts::Fact<std::vector<T>>& list) {
  return items_of(scope, list.has_value() ? list->size() : 0);
}

std::vector<Item> nested_items(std::string_view scope, std::uint32_t index, std::size_t count) {
  const Scope* s = find_scope(scope);
  std::vector<Item> items;
  items.reserve(count);
  for (std::uint32_t i = 0; i < count; ++i) items.push_back({s, index, i});
  return items;
}

// Where the name of the other end is known but the end itself is not listed, the join is not known.
template <class T>
Joined joined_to(std::string_view scope, Place place, const facts::Fact<T>& name, std::string_view path) {
  if (place) return {make_item(scope, *place), false, ""};
  if (name.is_absent()) return {std::nullopt, true, ""};
  return {std::nullopt, false, fmt::format("needs {}: not listed", path)};
}

Subject node_subject(const Context& c, const Item&) { return {"node", c.facts.node.name}; }
Subject session_subject(const Context& c, const Item& item) { return {"iscsi.session", session_of(c, item).id}; }
Subject map_subject(const Context& c, const Item& item) { return {"multipath.map", map_of(c, item).id}; }

Joined parent_session(const Context&, const Item& item) { return {make_item("iscsi.sessions", item.index), false, ""}; }
Joined parent_map(const Context&, const Item& item) { return {make_item("multipath.maps", item.index), false, ""}; }

// --- the initiator as a whole --------------------------------------------------------------------------------------

bool has_iscsi(const facts::Facts& f) {
  const auto any = [](const auto& list) { return list.has_value() && !list->empty(); };
  return any(f.iscsi.sessions) || any(f.iscsi.node_records) || !f.iscsi.targets.empty();
}

Scope initiator_scope() {
  Scope scope;
  scope.name = "iscsi";
  scope.type = &facts::type_of<facts::Iscsi>;
  scope.items = [](const Context& c) {
    return has_iscsi(c.facts) ? std::vector<Item>{make_item("iscsi", 0)} : std::vector<Item>{};
  };
  scope.ref = [](const Context& c, const Item&) { return facts::ref_to(c.facts.iscsi); };
  scope.path = [](const Context&, const Item&) { return std::string("iscsi"); };
  scope.subject = node_subject;
  scope.own_name = no_name;
  scope.collections = {
      {"sessions", "all sessions", "iscsi.sessions",
       [](const Context& c, const Item&) { return items_of_list("iscsi.sessions", c.facts.iscsi.sessions); }},
      {"targets", "all targets", "iscsi.targets",
       [](const Context& c, const Item&) { return items_of("iscsi.targets", c.facts.iscsi.targets.size()); }},
      {"node_records", "all node records", "iscsi.node_records",
       [](const Context& c, const Item&) { return items_of_list("iscsi.node_records", c.facts.iscsi.node_records); }},
      {"maps", "multipath maps with a path over iSCSI", "multipath.maps",
       [](const Context& c, const Item&) {
         Indices places;
         for (std::uint32_t m = 0; m < c.storage().maps.size(); ++m) {
           if (!c.storage().maps[m].sessions.empty()) places.push_back(m);
         }
         return items_at("multipath.maps", places);
       }},
      {"volumes", "what lies on disks of sessions", "block.users", [](const Context& c, const Item&) {
         Indices places;
         for (const auto& session : c.storage().sessions)
           places.insert(places.end(), session.uses.begin(), session.uses.end());
         std::sort(places.begin(), places.end());
         places.erase(std::unique(places.begin(), places.end()), places.end());
         return items_at("block.users", places);
       }}};
  return scope;
}

// --- sessions ------------------------------------------------------------------------------------------------------

Joined session_target(const Context& c, const Item& item) {
  return joined_to("iscsi.targets", joined_session(c, item).target,
                   facts::Fact<std::string>(session_of(c, item).target), "iscsi.targets");
}

Joined session_portal(const Context& c, const Item& item) {
  return joined_to("iscsi.portals", joined_session(c, item).portal, session_of(c, item).portal, "iscsi.portals");
}

Joined session_record(const Context& c, const Item& item) {
  const Place place = joined_session(c, item).record;
  if (place) return {make_item("iscsi.node_records", *place), false, ""};
  if (session_of(c, item).record.is_absent()) return {std::nullopt, true, ""};
  if (c.facts.iscsi.node_records.has_value()) return {std::nullopt, true, ""};
  return {std::nullopt, false, fmt::format("needs iscsi.node_records: {}", why_unknown(c, "iscsi.node_records"))};
}

Joined session_connection(const Context& c, const Item& item) {
  if (session_of(c, item).connections.empty()) return {std::nullopt, true, ""};
  return {Item{find_scope("iscsi.sessions.connections"), item.index, 0}, false, ""};
}

// The address in use, else the one that was asked for.
const std::string* address_of(const facts::IscsiSession& session) {
  if (session.connections.empty()) return nullptr;
  const facts::IscsiConnection& connection = session.connections.front();
  if (connection.addr.has_value()) return &*connection.addr;
  return connection.persistent_addr.has_value() ? &*connection.persistent_addr : nullptr;
}

Joined way_to(const Context& c, const std::string* addr) {
  if (addr == nullptr) return {std::nullopt, false, "needs iscsi.portals[].addr: not told"};
  if (const auto place = c.path_to(*addr)) return {make_item("network.paths", *place), false, ""};
  return {std::nullopt, false, fmt::format("needs network.paths: {}", why_unknown(c, "network.paths"))};
}

Joined session_nic(const Context& c, const Item& item) {
  if (session_of(c, item).offload.is(true)) return {std::nullopt, true, ""};
  return way_to(c, address_of(session_of(c, item)));
}

Scope session_scope() {
  Scope scope;
  scope.name = "iscsi.sessions";
  scope.type = &facts::type_of<facts::IscsiSession>;
  scope.items = [](const Context& c) { return items_of_list("iscsi.sessions", c.facts.iscsi.sessions); };
  scope.ref = [](const Context& c, const Item& item) { return facts::ref_to(session_of(c, item)); };
  scope.path = [](const Context&, const Item& item) { return fmt::format("iscsi.sessions[{}]", item.index); };
  scope.subject = session_subject;
  scope.own_name = no_name;
  scope.derived = {{"target_name", text_type, "name of the target, also where the target itself is not listed",
                    "iscsi.sessions[].target",
                    [](const Context& c, const Item& item) -> facts::Value { return session_of(c, item).target; }},
                   {"portal_id", text_type, "portal that was asked for, also where the portal itself is not listed",
                    "iscsi.sessions[].portal", [](const Context& c, const Item& item) -> facts::Value {
                      const auto& portal = session_of(c, item).portal;
                      if (portal.has_value()) return *portal;
                      return portal.is_absent() ? facts::Value(facts::Absent{})
                                                : missing_fact(c, "iscsi.sessions", item.index, "portal");
                    }}};
  scope.references = {
      {"target", "target of the session", "iscsi.targets", session_target},
      {"portal", "portal of the session", "iscsi.portals", session_portal},
      {"node_record", "node record of the session", "iscsi.node_records", session_record},
      {"connection", "first connection of the session", "iscsi.sessions.connections", session_connection},
      {"nic", "way to the portal", "network.paths", session_nic}};
  scope.collections = {
      {"sessions", "the session itself", "iscsi.sessions",
       [](const Context&, const Item& item) { return std::vector<Item>{item}; }},
      {"connections", "connections", "iscsi.sessions.connections",
       [](const Context& c, const Item& item) {
         return nested_items("iscsi.sessions.connections", item.index, session_of(c, item).connections.size());
       }},
      {"settings", "timeouts and parameters", "iscsi.sessions.settings",
       [](const Context& c, const Item& item) {
         return nested_items("iscsi.sessions.settings", item.index, session_of(c, item).settings.size());
       }},
      {"devices", "disks that it carries", "block.devices",
       [](const Context& c, const Item& item) { return items_at("block.devices", joined_session(c, item).devices); }},
      {"maps", "multipath maps with a path over it", "multipath.maps",
       [](const Context& c, const Item& item) { return items_at("multipath.maps", joined_session(c, item).maps); }},
      {"volumes", "what lies on its disks and maps", "block.users",
       [](const Context& c, const Item& item) { return items_at("block.users", joined_session(c, item).uses); }}};
  return scope;
}

Scope connection_scope() {
  Scope scope;
  scope.name = "iscsi.sessions.connections";
  scope.parent = "session";
  scope.type = &facts::type_of<facts::IscsiConnection>;
  scope.items = [](const Context& c) {
    std::vector<Item> items;
    for (std::uint32_t s = 0; s < c.storage().sessions.size(); ++s)
      append(items, nested_items("iscsi.sessions.connections", s, (*c.facts.iscsi.sessions)[s].connections.size()));
    return items;
  };
  scope.ref = [](const Context& c, const Item& item) {
    return facts::ref_to(session_of(c, item).connections[item.sub]);
  };
  scope.path = [](const Context&, const Item& item) {
    return fmt::format("iscsi.sessions[{}].connections[{}]", item.index, item.sub);
  };
  scope.subject = session_subject;
  scope.own_name = [](const Context& c, const Item& item) {
    return std::to_string(session_of(c, item).connections[item.sub].cid);
  };
  scope.references = {{"session", "session of the connection", "iscsi.sessions", parent_session}};
  scope.collections = {
      {"volumes", "what lies on disks of its session", "block.users",
       [](const Context& c, const Item& item) { return items_at("block.users", joined_session(c, item).uses); }}};
  return scope;
}

Scope session_setting_scope() {
  Scope scope;
  scope.name = "iscsi.sessions.settings";
  scope.parent = "session";
  scope.type = &facts::type_of<facts::IscsiSetting>;
  scope.items = [](const Context& c) {
    std::vector<Item> items;
    for (std::uint32_t s = 0; s < c.storage().sessions.size(); ++s)
      append(items, nested_items("iscsi.sessions.settings", s, (*c.facts.iscsi.sessions)[s].settings.size()));
    return items;
  };
  scope.ref = [](const Context& c, const Item& item) { return facts::ref_to(session_of(c, item).settings[item.sub]); };
  scope.path = [](const Context&, const Item& item) {
    return fmt::format("iscsi.sessions[{}].settings[{}]", item.index, item.sub);
  };
  scope.subject = session_subject;
  scope.own_name = [](const Context& c, const Item& item) { return session_of(c, item).settings[item.sub].key; };
  scope.references = {{"session", "session of the setting", "iscsi.sessions", parent_session}};
  scope.collections = {
      {"sessions", "the session", "iscsi.sessions",
       [](const Context&, const Item& item) { return std::vector<Item>{make_item("iscsi.sessions", item.index)}; }},
      {"volumes", "what lies on disks of its session", "block.users",
       [](const Context& c, const Item& item) { return items_at("block.users", joined_session(c, item).uses); }}};
  return scope;
}

// --- targets, portals, records -------------------------------------------------------------------------------------

Scope target_scope() {
  Scope scope;
  scope.name = "iscsi.targets";
  scope.type = &facts::type_of<facts::IscsiTarget>;
  scope.items = [](const Context& c) { return items_of("iscsi.targets", c.facts.iscsi.targets.size()); };
  scope.ref = [](const Context& c, const Item& item) { return facts::ref_to(c.facts.iscsi.targets[item.index]); };
  scope.path = [](const Context&, const Item& item) { return fmt::format("iscsi.targets[{}]", item.index); };
  scope.subject = [](const Context& c, const Item& item) {
    return Subject{"iscsi.target", c.facts.iscsi.targets[item.index].name};
  };
  scope.own_name = no_name;
  scope.collections = {
      {"sessions", "sessions to it", "iscsi.sessions",
       [](const Context& c, const Item& item) { return items_at("iscsi.sessions", joined_target(c, item).sessions); }},
      {"portals", "portals that its sessions asked for", "iscsi.portals",
       [](const Context& c, const Item& item) { return items_at("iscsi.portals", joined_target(c, item).portals); }},
      {"expected_portals", "portals that records, tracking files or sessions name", "iscsi.targets.expected_portals",
       [](const Context& c, const Item& item) {
         return nested_items("iscsi.targets.expected_portals", item.index,
                             c.facts.iscsi.targets[item.index].expected_portals.size());
       }},
      {"devices", "disks of its sessions", "block.devices",
       [](const Context& c, const Item& item) { return items_at("block.devices", joined_target(c, item).devices); }},
      {"maps", "multipath maps over it", "multipath.maps",
       [](const Context& c, const Item& item) { return items_at("multipath.maps", joined_target(c, item).maps); }},
      {"volumes", "what lies on its disks and maps", "block.users",
       [](const Context& c, const Item& item) { return items_at("block.users", joined_target(c, item).uses); }}};
  return scope;
}

Scope expected_portal_scope() {
  Scope scope;
  scope.name = "iscsi.targets.expected_portals";
  scope.parent = "target";
  scope.type = &facts::type_of<facts::IscsiExpectedPortal>;
  scope.items = [](const Context& c) {
    std::vector<Item> items;
    const auto& targets = c.facts.iscsi.targets;
    for (std::uint32_t t = 0; t < targets.size(); ++t)
      append(items, nested_items("iscsi.targets.expected_portals", t, targets[t].expected_portals.size()));
    return items;
  };
  scope.ref = [](const Context& c, const Item& item) {
    return facts::ref_to(c.facts.iscsi.targets[item.index].expected_portals[item.sub]);
  };
  scope.path = [](const Context&, const Item& item) {
    return fmt::format("iscsi.targets[{}].expected_portals[{}]", item.index, item.sub);
  };
  scope.subject = [](const Context& c, const Item& item) {
    return Subject{"iscsi.portal", c.facts.iscsi.targets[item.index].expected_portals[item.sub].portal};
  };
  scope.own_name = [](const Context& c, const Item& item) {
    const auto& expected = c.facts.iscsi.targets[item.index].expected_portals[item.sub];
    return expected.portal + ' ' + expected.origin;
  };
  scope.references = {
      {"target", "target that it is expected of", "iscsi.targets", [](const Context&, const Item& item) {
         return Joined{make_item("iscsi.targets", item.index), false, ""};
       }}};
  scope.collections = {
      {"volumes", "what lies on disks of the target", "block.users",
       [](const Context& c, const Item& item) { return items_at("block.users", joined_target(c, item).uses); }}};
  return scope;
}

Scope portal_scope() {
  Scope scope;
  scope.name = "iscsi.portals";
  scope.type = &facts::type_of<facts::IscsiPortal>;
  scope.items = [](const Context& c) { return items_of("iscsi.portals", c.facts.iscsi.portals.size()); };
  scope.ref = [](const Context& c, const Item& item) { return facts::ref_to(c.facts.iscsi.portals[item.index]); };
  scope.path = [](const Context&, const Item& item) { return fmt::format("iscsi.portals[{}]", item.index); };
  scope.subject = [](const Context& c, const Item& item) {
    return Subject{"iscsi.portal", c.facts.iscsi.portals[item.index].id};
  };
  scope.own_name = no_name;
  scope.references = {{"nic", "way to the portal", "network.paths", [](const Context& c, const Item& item) {
                         return way_to(c, &c.facts.iscsi.portals[item.index].addr);
                       }}};
  scope.collections = {
      {"sessions", "sessions that asked for it", "iscsi.sessions",
       [](const Context& c, const Item& item) { return items_at("iscsi.sessions", joined_portal(c, item).sessions); }},
      {"targets", "targets of its sessions", "iscsi.targets",
       [](const Context& c, const Item& item) { return items_at("iscsi.targets", joined_portal(c, item).targets); }},
      {"volumes", "what lies on disks of its sessions", "block.users",
       [](const Context& c, const Item& item) { return items_at("block.users", joined_portal(c, item).uses); }}};
  return scope;
}

const facts::IscsiNodeRecord& record_of(const Context& c, const Item& item) {
  return (*c.facts.iscsi.node_records)[item.index];
}

Scope record_scope() {
  Scope scope;
  scope.name = "iscsi.node_records";
  scope.type = &facts::type_of<facts::IscsiNodeRecord>;
  scope.items = [](const Context& c) { return items_of_list("iscsi.node_records", c.facts.iscsi.node_records); };
  scope.ref = [](const Context& c, const Item& item) { return facts::ref_to(record_of(c, item)); };
  scope.path = [](const Context&, const Item& item) { return fmt::format("iscsi.node_records[{}]", item.index); };
  // The session that it asks for.
  scope.subject = [](const Context& c, const Item& item) {
    const facts::IscsiNodeRecord& record = record_of(c, item);
    std::string id = record.target;
    for (const auto* part : {&record.portal, &record.iface}) {
      if (part->has_value()) id += ' ' + **part;
    }
    return Subject{"iscsi.session", id};
  };
  scope.own_name = no_name;
  scope.references = {{"target", "target that it names", "iscsi.targets",
                       [](const Context& c, const Item& item) {
                         const facts::IscsiNodeRecord& record = record_of(c, item);
                         return joined_to("iscsi.targets", c.storage().target_named(record.target),
                                          facts::Fact<std::string>(record.target), "iscsi.targets");
                       }},
                      {"portal", "portal that it names", "iscsi.portals", [](const Context& c, const Item& item) {
                         const auto& portal = record_of(c, item).portal;
                         return joined_to("iscsi.portals",
                                          portal.has_value() ? c.storage().portal_named(*portal) : Place{}, portal,
                                          "iscsi.portals");
                       }}};
  scope.derived = {{"portal_id", text_type, "portal that it names, also where the portal itself is not listed",
                    "iscsi.node_records[].portal",
                    [](const Context& c, const Item& item) -> facts::Value {
                      const auto& portal = record_of(c, item).portal;
                      if (portal.has_value()) return *portal;
                      return portal.is_absent() ? facts::Value(facts::Absent{})
                                                : missing_fact(c, "iscsi.node_records", item.index, "portal");
                    }},
                   {"target_name", text_type, "name of the target, also where the target itself is not listed",
                    "iscsi.node_records[].target",
                    [](const Context& c, const Item& item) -> facts::Value { return record_of(c, item).target; }}};
  return scope;
}

// --- disks ---------------------------------------------------------------------------------------------------------

Joined device_session(const Context& c, const Item& item) {
  return joined_to("iscsi.sessions", joined_device(c, item).session, device_of(c, item).session,
                   "block.devices[].session");
}

Joined device_map(const Context& c, const Item& item) {
  return joined_to("multipath.maps", joined_device(c, item).map, device_of(c, item).map, "block.devices[].map");
}

Scope device_scope() {
  Scope scope;
  scope.name = "block.devices";
  scope.type = &facts::type_of<facts::BlockDevice>;
  scope.items = [](const Context& c) { return items_of_list("block.devices", c.facts.block.devices); };
  scope.ref = [](const Context& c, const Item& item) { return facts::ref_to(device_of(c, item)); };
  scope.path = [](const Context&, const Item& item) { return fmt::format("block.devices[{}]", item.index); };
  scope.subject = [](const Context& c, const Item& item) { return Subject{"block.device", device_of(c, item).id}; };
  scope.own_name = no_name;
  scope.references = {{"session", "iSCSI session that carries it", "iscsi.sessions", device_session},
                      {"target", "its iSCSI target", "iscsi.targets",
                       [](const Context& c, const Item& item) {
                         return joined_to("iscsi.targets", joined_device(c, item).target, device_of(c, item).target,
                                          "block.devices[].target");
                       }},
                      {"portal", "its portal", "iscsi.portals",
                       [](const Context& c, const Item& item) {
                         return joined_to("iscsi.portals", joined_device(c, item).portal, device_of(c, item).portal,
                                          "block.devices[].portal");
                       }},
                      {"map", "multipath map that it is a path of", "multipath.maps", device_map}};
  scope.collections = {
      {"users", "who uses the disk itself", "block.users",
       [](const Context& c, const Item& item) { return items_at("block.users", joined_device(c, item).uses); }},
      {"volumes", "what lies on it and on its map", "block.users",
       [](const Context& c, const Item& item) { return items_at("block.users", joined_device(c, item).all_uses); }}};
  return scope;
}

// --- maps ----------------------------------------------------------------------------------------------------------

template <class T>
std::vector<Item> of_all_maps(const Context& c, std::string_view scope, std::vector<T> facts::MultipathMap::*list) {
  std::vector<Item> items;
  for (std::uint32_t m = 0; m < c.storage().maps.size(); ++m)
    append(items, nested_items(scope, m, ((*c.facts.multipath.maps)[m].*list).size()));
  return items;
}

std::vector<Item> map_volumes(const Context& c, const Item& item) {
  return items_at("block.users", joined_map(c, item).uses);
}
std::vector<Item> map_itself(const Context&, const Item& item) {
  return std::vector<Item>{make_item("multipath.maps", item.index)};
}

Scope map_scope() {
  Scope scope;
  scope.name = "multipath.maps";
  scope.type = &facts::type_of<facts::MultipathMap>;
  scope.items = [](const Context& c) { return items_of_list("multipath.maps", c.facts.multipath.maps); };
  scope.ref = [](const Context& c, const Item& item) { return facts::ref_to(map_of(c, item)); };
  scope.path = [](const Context&, const Item& item) { return fmt::format("multipath.maps[{}]", item.index); };
  scope.subject = map_subject;
  scope.own_name = no_name;
  scope.references = {
      {"dm", "its dm device", "block.devices",
       [](const Context& c, const Item& item) {
         return joined_to("block.devices", joined_map(c, item).device, map_of(c, item).device,
                          "multipath.maps[].device");
       }},
      // One of them where they are several: what they have in common, and what a finding is about.
      {"target", "its iSCSI target, the first of several", "iscsi.targets", [](const Context& c, const Item& item) {
         const Indices& targets = joined_map(c, item).targets;
         if (!targets.empty()) return Joined{make_item("iscsi.targets", targets.front()), false, ""};
         if (map_of(c, item).iscsi.is(false)) return Joined{std::nullopt, true, ""};
         return Joined{std::nullopt, false, "needs iscsi.targets: none is known for its paths"};
       }}};
  scope.collections = {
      {"maps", "the map itself", "multipath.maps", map_itself},
      {"paths", "its paths", "multipath.maps.paths",
       [](const Context& c, const Item& item) {
         return nested_items("multipath.maps.paths", item.index, map_of(c, item).paths.size());
       }},
      {"groups", "its path groups", "multipath.maps.groups",
       [](const Context& c, const Item& item) {
         return nested_items("multipath.maps.groups", item.index, map_of(c, item).groups.size());
       }},
      {"settings", "settings in effect", "multipath.maps.settings",
       [](const Context& c, const Item& item) {
         return nested_items("multipath.maps.settings", item.index, map_of(c, item).settings.size());
       }},
      {"devices", "disks that are its paths", "block.devices",
       [](const Context& c, const Item& item) { return items_at("block.devices", joined_map(c, item).devices); }},
      {"sessions", "iSCSI sessions of its paths", "iscsi.sessions",
       [](const Context& c, const Item& item) { return items_at("iscsi.sessions", joined_map(c, item).sessions); }},
      {"targets", "iSCSI targets of its paths", "iscsi.targets",
       [](const Context& c, const Item& item) { return items_at("iscsi.targets", joined_map(c, item).targets); }},
      {"portals", "portals of its paths", "iscsi.portals",
       [](const Context& c, const Item& item) { return items_at("iscsi.portals", joined_map(c, item).portals); }},
      {"volumes", "what lies on it", "block.users", map_volumes}};
  return scope;
}

const facts::MultipathPath& path_of(const Context& c, const Item& item) { return map_of(c, item).paths[item.sub]; }

Scope path_scope() {
  Scope scope;
  scope.name = "multipath.maps.paths";
  scope.parent = "map";
  scope.type = &facts::type_of<facts::MultipathPath>;
  scope.items = [](const Context& c) { return of_all_maps(c, "multipath.maps.paths", &facts::MultipathMap::paths); };
  scope.ref = [](const Context& c, const Item& item) { return facts::ref_to(path_of(c, item)); };
  scope.path = [](const Context&, const Item& item) {
    return fmt::format("multipath.maps[{}].paths[{}]", item.index, item.sub);
  };
  scope.subject = map_subject;
  scope.own_name = [](const Context& c, const Item& item) {
    const facts::MultipathPath& path = path_of(c, item);
    return path.device.empty() ? fmt::format("path {}", item.sub + 1) : path.device;
  };
  scope.references = {{"map", "map of the path", "multipath.maps", parent_map},
                      {"disk", "its disk", "block.devices",
                       [](const Context& c, const Item& item) {
                         if (path_of(c, item).device.empty()) return Joined{std::nullopt, true, ""};
                         return joined_to("block.devices", joined_map(c, item).path_devices[item.sub],
                                          facts::Fact<std::string>(path_of(c, item).device), "block.devices");
                       }},
                      {"session", "its iSCSI session", "iscsi.sessions", [](const Context& c, const Item& item) {
                         return joined_to("iscsi.sessions", joined_map(c, item).path_sessions[item.sub],
                                          path_of(c, item).session, "multipath.maps[].paths[].session");
                       }}};
  scope.collections = {{"volumes", "what lies on its map", "block.users", map_volumes},
                       {"maps", "its map", "multipath.maps", map_itself}};
  return scope;
}

Scope group_scope() {
  Scope scope;
  scope.name = "multipath.maps.groups";
  scope.parent = "map";
  scope.type = &facts::type_of<facts::MultipathGroup>;
  scope.items = [](const Context& c) { return of_all_maps(c, "multipath.maps.groups", &facts::MultipathMap::groups); };
  scope.ref = [](const Context& c, const Item& item) { return facts::ref_to(map_of(c, item).groups[item.sub]); };
  scope.path = [](const Context&, const Item& item) {
    return fmt::format("multipath.maps[{}].groups[{}]", item.index, item.sub);
  };
  scope.subject = map_subject;
  scope.own_name = [](const Context& c, const Item& item) {
    return fmt::format("group {}", map_of(c, item).groups[item.sub].number);
  };
  scope.references = {{"map", "map of the group", "multipath.maps", parent_map}};
  scope.collections = {{"volumes", "what lies on its map", "block.users", map_volumes},
                       {"maps", "its map", "multipath.maps", map_itself}};
  return scope;
}

Scope map_setting_scope() {
  Scope scope;
  scope.name = "multipath.maps.settings";
  scope.parent = "map";
  scope.type = &facts::type_of<facts::MultipathSetting>;
  scope.items = [](const Context& c) {
    return of_all_maps(c, "multipath.maps.settings", &facts::MultipathMap::settings);
  };
  scope.ref = [](const Context& c, const Item& item) { return facts::ref_to(map_of(c, item).settings[item.sub]); };
  scope.path = [](const Context&, const Item& item) {
    return fmt::format("multipath.maps[{}].settings[{}]", item.index, item.sub);
  };
  scope.subject = map_subject;
  scope.own_name = [](const Context& c, const Item& item) { return map_of(c, item).settings[item.sub].key; };
  scope.references = {{"map", "map of the setting", "multipath.maps", parent_map}};
  scope.collections = {{"volumes", "what lies on its map", "block.users", map_volumes},
                       {"maps", "its map", "multipath.maps", map_itself}};
  return scope;
}

Scope multipath_scope() {
  Scope scope;
  scope.name = "multipath";
  scope.type = &facts::type_of<facts::Multipath>;
  scope.items = [](const Context& c) {
    const facts::Multipath& m = c.facts.multipath;
    const bool any = m.maps.has_value() || m.paths.has_value() || m.conf.has_value() || m.running_conf.has_value();
    return any || has_iscsi(c.facts) ? std::vector<Item>{make_item("multipath", 0)} : std::vector<Item>{};
  };
  scope.ref = [](const Context& c, const Item&) { return facts::ref_to(c.facts.multipath); };
  scope.path = [](const Context&, const Item&) { return std::string("multipath"); };
  scope.subject = node_subject;
  scope.own_name = no_name;
  scope.collections = {
      {"maps", "all maps", "multipath.maps",
       [](const Context& c, const Item&) { return items_of_list("multipath.maps", c.facts.multipath.maps); }},
      {"settings", "settings of the whole node", "multipath.settings", [](const Context& c, const Item&) {
         return items_of("multipath.settings", c.facts.multipath.settings.size());
       }}};
  return scope;
}

Scope node_setting_scope() {
  Scope scope;
  scope.name = "multipath.settings";
  scope.type = &facts::type_of<facts::MultipathSetting>;
  scope.items = [](const Context& c) { return items_of("multipath.settings", c.facts.multipath.settings.size()); };
  scope.ref = [](const Context& c, const Item& item) { return facts::ref_to(c.facts.multipath.settings[item.index]); };
  scope.path = [](const Context&, const Item& item) { return fmt::format("multipath.settings[{}]", item.index); };
  scope.subject = node_subject;
  scope.own_name = [](const Context& c, const Item& item) { return c.facts.multipath.settings[item.index].key; };
  scope.collections = {{"maps", "all maps", "multipath.maps", [](const Context& c, const Item&) {
                          return items_of_list("multipath.maps", c.facts.multipath.maps);
                        }}};
  return scope;
}

// Paths that are listed outside a map: orphans, and those whose map is not shown.
Scope loose_path_scope() {
  Scope scope;
  scope.name = "multipath.paths";
  scope.type = &facts::type_of<facts::MultipathPath>;
  scope.items = [](const Context& c) { return items_of_list("multipath.paths", c.facts.multipath.paths); };
  scope.ref = [](const Context& c, const Item& item) { return facts::ref_to((*c.facts.multipath.paths)[item.index]); };
  scope.path = [](const Context&, const Item& item) { return fmt::format("multipath.paths[{}]", item.index); };
  scope.subject = [](const Context& c, const Item& item) {
    const facts::MultipathPath& path = (*c.facts.multipath.paths)[item.index];
    return Subject{"block.device", path.wwid.has_value() ? *path.wwid : path.device};
  };
  scope.own_name = [](const Context& c, const Item& item) { return (*c.facts.multipath.paths)[item.index].device; };
  return scope;
}

// --- users ---------------------------------------------------------------------------------------------------------

Scope user_scope() {
  Scope scope;
  scope.name = "block.users";
  scope.type = &facts::type_of<facts::BlockUse>;
  scope.items = [](const Context& c) { return items_of("block.users", c.storage().uses.size()); };
  scope.ref = [](const Context& c, const Item& item) { return facts::ref_to(*joined_use(c, item).use); };
  scope.path = [](const Context& c, const Item& item) {
    const Storage::Use& use = joined_use(c, item);
    return use.map ? fmt::format("multipath.maps[{}].users[{}]", *use.map, use.nested)
                   : fmt::format("block.devices[{}].users[{}]", *use.device, use.nested);
  };
  scope.subject = [](const Context& c, const Item& item) {
    const facts::BlockUse& use = *joined_use(c, item).use;
    if (use.volume.has_value()) return Subject{"volume", *use.volume};
    return Subject{use.kind == "mount" || use.kind == "fstab" ? "mount" : "block.device", use.name};
  };
  scope.own_name = no_name;
  scope.references = {
      {"disk", "disk that it uses; null where it uses a map", "block.devices",
       [](const Context& c, const Item& item) {
         const Place device = joined_use(c, item).device;
         return device ? Joined{make_item("block.devices", *device), false, ""} : Joined{std::nullopt, true, ""};
       }},
      {"map", "multipath map that it uses, or that its disk is a path of", "multipath.maps",
       [](const Context& c, const Item& item) {
         const Storage::Use& use = joined_use(c, item);
         const Place map = use.map ? use.map : c.storage().devices[*use.device].map;
         return map ? Joined{make_item("multipath.maps", *map), false, ""} : Joined{std::nullopt, true, ""};
       }}};
  scope.collections = {{"volumes", "the user itself", "block.users",
                        [](const Context&, const Item& item) { return std::vector<Item>{item}; }}};
  return scope;
}

}  // namespace

void add_storage_scopes(std::vector<Scope>& all) {
  for (Scope (*make)() :
       {initiator_scope, session_scope, connection_scope, session_setting_scope, target_scope, expected_portal_scope,
        portal_scope, record_scope, device_scope, map_scope, path_scope, group_scope, map_setting_scope,
        multipath_scope, node_setting_scope, loose_path_scope, user_scope})
    all.push_back(make());
}

}  // namespace audit
