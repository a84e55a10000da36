#include "audit/eval/derive_storage.h"

#include <algorithm>

namespace audit {

namespace {

using Place = Storage::Place;
using Indices = Storage::Indices;

template <class T>
const std::vector<T>& list_of(const facts::Fact<std::vector<T>>& fact) {
  static const std::vector<T> none;
  return fact.has_value() ? *fact : none;
}

Place find(const std::unordered_map<std::string, std::uint32_t>& names, const std::string& name) {
  const auto found = names.find(name);
  return found == names.end() ? Place{} : Place{found->second};
}

Place find(const std::unordered_map<std::string, std::uint32_t>& names, const facts::Fact<std::string>& name) {
  return name.has_value() ? find(names, *name) : Place{};
}

void make_distinct(Indices& list) {
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
}

void add(Indices& list, Place place) {
  if (place) list.push_back(*place);
}

void add(Indices& list, const Indices& more) { list.insert(list.end(), more.begin(), more.end()); }

// "target portal iface": what a node record and a session have in common.
std::string login_key(const std::string& target, const facts::Fact<std::string>& portal,
                      const facts::Fact<std::string>& iface) {
  return target + ' ' + portal.value_or("") + ' ' + iface.value_or("");
}

}  // namespace

Storage::Storage(const Context& context) {
  const facts::Facts& facts = context.facts;
  read_names(facts);
  join_sessions(facts);
  join_devices(facts);
  join_maps(facts);
  gather_uses(facts);
  gather_up();
  read_earlier(context);
}

void Storage::read_names(const facts::Facts& facts) {
  const auto& all_sessions = list_of(facts.iscsi.sessions);
  const auto& all_devices = list_of(facts.block.devices);
  const auto& all_maps = list_of(facts.multipath.maps);
  sessions.resize(all_sessions.size());
  devices.resize(all_devices.size());
  maps.resize(all_maps.size());
  targets.resize(facts.iscsi.targets.size());
  portals.resize(facts.iscsi.portals.size());
  for (std::uint32_t i = 0; i < all_sessions.size(); ++i) {
    const facts::IscsiSession& session = all_sessions[i];
    if (session.sid.has_value()) session_by_sid_.emplace(*session.sid, i);
    if (session.host.has_value()) sessions_by_host_[*session.host].push_back(i);
    sessions_by_id_[session.id].push_back(i);
  }
  for (std::uint32_t i = 0; i < targets.size(); ++i) target_by_name_.emplace(facts.iscsi.targets[i].name, i);
  for (std::uint32_t i = 0; i < portals.size(); ++i) portal_by_id_.emplace(facts.iscsi.portals[i].id, i);
  // Tracking files and host names leave the tag out.
  for (std::uint32_t i = 0; i < portals.size(); ++i) {
    const std::string& id = facts.iscsi.portals[i].id;
    portal_by_id_.emplace(id.substr(0, id.rfind(',')), i);
  }
  for (std::uint32_t i = 0; i < devices.size(); ++i) device_by_name_.emplace(all_devices[i].name, i);
  for (std::uint32_t i = 0; i < maps.size(); ++i) map_by_name_.emplace(all_maps[i].id, i);
  // An alias may be the id of another map: ids go first.
  for (std::uint32_t i = 0; i < maps.size(); ++i) {
    for (const auto* name : {&all_maps[i].wwid, &all_maps[i].alias, &all_maps[i].device}) {
      if (name->has_value()) map_by_name_.emplace(**name, i);
    }
  }
}

void Storage::join_sessions(const facts::Facts& facts) {
  std::unordered_map<std::string, std::uint32_t> record_by_login, record_by_path;
  const auto& records = list_of(facts.iscsi.node_records);
  for (std::uint32_t i = 0; i < records.size(); ++i) {
    record_by_login.emplace(login_key(records[i].target, records[i].portal, records[i].iface), i);
    record_by_path.emplace(records[i].path, i);
  }
  for (std::uint32_t i = 0; i < sessions.size(); ++i) {
    const facts::IscsiSession& session = (*facts.iscsi.sessions)[i];
    sessions[i].target = target_named(session.target);
    sessions[i].portal = find(portal_by_id_, session.portal);
    sessions[i].record = find(record_by_path, session.record);
    if (!sessions[i].record && !session.record.is_absent())
      sessions[i].record = find(record_by_login, login_key(session.target, session.portal, session.iface));
  }
}

// A session number is unique. So is a host of the software initiator; an adapter's host carries many sessions. Several
// sessions may bear one id (node.session.nr_sessions).
Place Storage::session_of(const facts::Fact<std::uint32_t>& sid, const facts::Fact<std::uint32_t>& host,
                          const facts::Fact<std::string>& id) const {
  if (sid.has_value()) {
    const auto found = session_by_sid_.find(*sid);
    if (found != session_by_sid_.end()) return found->second;
  }
  if (host.has_value()) {
    const auto found = sessions_by_host_.find(*host);
    if (found != sessions_by_host_.end() && found->second.size() == 1) return found->second.front();
  }
  if (id.has_value()) {
    const auto found = sessions_by_id_.find(*id);
    if (found != sessions_by_id_.end()) return found->second.front();
  }
  return std::nullopt;
}

void Storage::join_devices(const facts::Facts& facts) {
  for (std::uint32_t i = 0; i < devices.size(); ++i) {
    const facts::BlockDevice& device = (*facts.block.devices)[i];
    if (!device.session.is_absent()) devices[i].session = session_of(device.sid, device.host, device.session);
    devices[i].target = find(target_by_name_, device.target);
    devices[i].portal = find(portal_by_id_, device.portal);
    devices[i].map = device.map.has_value() ? map_named(*device.map) : Place{};
  }
  // A session names its disks too.
  for (std::uint32_t s = 0; s < sessions.size(); ++s) {
    for (const std::string& name : (*facts.iscsi.sessions)[s].devices) {
      const Place device = device_named(name);
      if (device && !devices[*device].session) devices[*device].session = s;
    }
  }
  for (std::uint32_t i = 0; i < devices.size(); ++i) {
    Device& device = devices[i];
    if (!device.session) continue;
    Session& session = sessions[*device.session];
    session.devices.push_back(i);
    if (!device.target) device.target = session.target;
    if (!device.portal) device.portal = session.portal;
  }
}

// A path belongs to a map by its name in the list of paths, by the map that the disk names, or as a slave of the dm
// device.
void Storage::join_maps(const facts::Facts& facts) {
  for (std::uint32_t m = 0; m < maps.size(); ++m) {
    const facts::MultipathMap& map = (*facts.multipath.maps)[m];
    Map& joined = maps[m];
    joined.device = find(device_by_name_, map.device);
    for (const facts::MultipathPath& path : map.paths) {
      const Place device = path.device.empty() ? Place{} : device_named(path.device);
      Place session;
      if (!path.session.is_absent()) session = session_of(path.sid, path.host, path.session);
      if (!session && device) session = devices[*device].session;
      joined.path_devices.push_back(device);
      joined.path_sessions.push_back(session);
      if (device && !devices[*device].map) devices[*device].map = m;
      add(joined.sessions, session);
      add(joined.targets, find(target_by_name_, path.target));
      add(joined.portals, find(portal_by_id_, path.portal));
    }
    if (!joined.device) continue;
    for (const std::string& slave : (*facts.block.devices)[*joined.device].slaves) {
      const Place device = device_named(slave);
      if (device && !devices[*device].map) devices[*device].map = m;
    }
  }
  for (std::uint32_t i = 0; i < devices.size(); ++i) {
    if (!devices[i].map) continue;
    Map& map = maps[*devices[i].map];
    map.devices.push_back(i);
    add(map.sessions, devices[i].session);
    add(map.targets, devices[i].target);
    add(map.portals, devices[i].portal);
  }
}

void Storage::gather_uses(const facts::Facts& facts) {
  for (std::uint32_t i = 0; i < devices.size(); ++i) {
    const auto& users = (*facts.block.devices)[i].users;
    for (std::uint32_t u = 0; u < users.size(); ++u) {
      devices[i].uses.push_back(static_cast<std::uint32_t>(uses.size()));
      uses.push_back({&users[u], i, std::nullopt, u});
    }
  }
  for (std::uint32_t m = 0; m < maps.size(); ++m) {
    const auto& users = (*facts.multipath.maps)[m].users;
    for (std::uint32_t u = 0; u < users.size(); ++u) {
      maps[m].uses.push_back(static_cast<std::uint32_t>(uses.size()));
      uses.push_back({&users[u], std::nullopt, m, u});
    }
  }
}

// From the disks up to sessions, targets and portals.
void Storage::gather_up() {
  for (std::uint32_t m = 0; m < maps.size(); ++m) {
    Map& map = maps[m];
    make_distinct(map.devices);
    make_distinct(map.sessions);
    for (const std::uint32_t s : map.sessions) {
      sessions[s].maps.push_back(m);
      add(map.targets, sessions[s].target);
      add(map.portals, sessions[s].portal);
    }
    make_distinct(map.targets);
    make_distinct(map.portals);
  }
  for (Device& device : devices) {
    device.all_uses = device.uses;
    if (device.map) add(device.all_uses, maps[*device.map].uses);
    make_distinct(device.all_uses);
  }
  for (std::uint32_t s = 0; s < sessions.size(); ++s) {
    Session& session = sessions[s];
    for (const std::uint32_t d : session.devices) add(session.uses, devices[d].all_uses);
    for (const std::uint32_t m : session.maps) add(session.uses, maps[m].uses);
    make_distinct(session.maps);
    make_distinct(session.uses);
    if (session.target) {
      Target& target = targets[*session.target];
      target.sessions.push_back(s);
      add(target.portals, session.portal);
      add(target.devices, session.devices);
      add(target.maps, session.maps);
      add(target.uses, session.uses);
    }
    if (session.portal) {
      Portal& portal = portals[*session.portal];
      portal.sessions.push_back(s);
      add(portal.targets, session.target);
      add(portal.uses, session.uses);
    }
  }
  for (Target& target : targets) {
    for (Indices* list : {&target.portals, &target.devices, &target.maps, &target.uses}) make_distinct(*list);
  }
  for (Portal& portal : portals) {
    for (Indices* list : {&portal.targets, &portal.uses}) make_distinct(*list);
  }
}

void Storage::read_earlier(const Context& context) {
  earlier_.resize(devices.size(), nullptr);
  const facts::Facts* before = context.earlier();
  if (before == nullptr) return;
  for (const facts::BlockDevice& old : list_of(before->block.devices)) {
    const Place device = device_named(old.name);
    if (!device) continue;
    const facts::BlockDevice& now = (*context.facts.block.devices)[*device];
    // The name of a disk that left is given to the next one; counters of one disk only grow.
    const bool is_same = now.id == old.id && now.hctl == old.hctl &&
                         !(now.iorequest_count.has_value() && old.iorequest_count.has_value() &&
                           *now.iorequest_count < *old.iorequest_count);
    if (is_same) earlier_[*device] = &old;
  }
}

Place Storage::device_named(const std::string& name) const { return find(device_by_name_, name); }
Place Storage::map_named(const std::string& id) const { return find(map_by_name_, id); }
Place Storage::target_named(const std::string& name) const { return find(target_by_name_, name); }
Place Storage::portal_named(const std::string& id) const { return find(portal_by_id_, id); }

const facts::BlockDevice* Storage::earlier_device(std::uint32_t device) const { return earlier_[device]; }

}  // namespace audit
