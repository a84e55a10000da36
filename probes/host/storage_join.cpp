#include "probes/host/storage_join.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "audit/base/lists.h"
#include "audit/base/text.h"
#include "probes/host/iscsi_names.h"

namespace probes {

namespace {

using facts::Fact;

template <class T>
void take_unknown(Fact<T>& into, const Fact<T>& from) {
  if (into.is_unknown()) into = from;
}

// --- settings of a session -----------------------------------------------------------------------------------------

Fact<std::string> number_text(const Fact<std::uint64_t>& n) {
  return n.has_value() ? Fact<std::string>(std::to_string(*n)) : Fact<std::string>();
}
Fact<std::string> number_text(const Fact<std::uint32_t>& n) {
  return n.has_value() ? Fact<std::string>(std::to_string(*n)) : Fact<std::string>();
}
Fact<std::string> yes_no(const Fact<bool>& flag) {
  return flag.has_value() ? Fact<std::string>(*flag ? "Yes" : "No") : Fact<std::string>();
}

Fact<std::string> live_value(const facts::IscsiSession& s, std::string_view key) {
  static const facts::IscsiConnection none;
  const auto& c = s.connections.empty() ? none : s.connections.front();
  if (key == "node.session.timeo.replacement_timeout") return number_text(s.recovery_tmo_s);
  if (key == "node.conn[0].timeo.noop_out_interval") return number_text(c.recv_tmo_s);
  if (key == "node.conn[0].timeo.noop_out_timeout") return number_text(c.ping_tmo_s);
  if (key == "node.session.err_timeo.abort_timeout") return number_text(s.abort_tmo_s);
  if (key == "node.session.err_timeo.lu_reset_timeout") return number_text(s.lu_reset_tmo_s);
  if (key == "node.session.err_timeo.tgt_reset_timeout") return number_text(s.tgt_reset_tmo_s);
  if (key == "node.session.iscsi.InitialR2T") return yes_no(s.initial_r2t);
  if (key == "node.session.iscsi.ImmediateData") return yes_no(s.immediate_data);
  if (key == "node.session.iscsi.FirstBurstLength") return number_text(s.first_burst_len_bytes);
  if (key == "node.session.iscsi.MaxBurstLength") return number_text(s.max_burst_len_bytes);
  if (key == "node.session.iscsi.MaxOutstandingR2T") return number_text(s.max_outstanding_r2t);
  if (key == "node.conn[0].iscsi.MaxRecvDataSegmentLength") return number_text(c.max_recv_dlength_bytes);
  if (key == "node.conn[0].iscsi.HeaderDigest") return c.header_digest;
  if (key == "node.conn[0].iscsi.DataDigest") return c.data_digest;
  return {};
}

struct Configured {
  Fact<std::string> value = Fact<std::string>::absent();
  Fact<std::string> place = Fact<std::string>::absent();
};

// fast_io_fail_tmo of the whole node: overrides before defaults, the later file before the earlier one.
Configured fast_io_fail(const facts::Multipath& multipath) {
  Configured found;
  const auto* conf = multipath.running_conf.has_value() ? &*multipath.running_conf
                     : multipath.conf.has_value()       ? &*multipath.conf
                                                        : nullptr;
  if (conf == nullptr) return multipath.conf.is_absent() ? found : Configured{{}, {}};
  for (const char* section : {"defaults", "overrides"})
    for (const auto& entry : *conf)
      if (entry.section == section && entry.subsection.empty() && entry.key == "fast_io_fail_tmo") {
        found.value = entry.value;
        found.place = entry.path + ":" + std::to_string(entry.line);
      }
  return found;
}

class Settings {
 public:
  explicit Settings(const facts::Facts& facts) : facts_(facts), fast_(fast_io_fail(facts.multipath)) {
    if (facts.iscsi.iscsid_conf.has_value())
      for (const auto& entry : *facts.iscsi.iscsid_conf)
        config_[entry.key] = {normal_setting(entry.value), entry.path + ":" + std::to_string(entry.line)};
  }

  void fill(facts::IscsiSession& session, const NodeRecordText* record, bool multipath) const {
    session.settings.clear();
    for (const auto& known : iscsi_setting_keys()) {
      facts::IscsiSetting s;
      s.key = known.key;
      s.live = live_value(session, s.key);
      s.builtin = known.builtin;
      if (record != nullptr) {
        s.record = s.record_place = Fact<std::string>::absent();
        if (const auto value = record->values.find(s.key); value != record->values.end()) {
          s.record = normal_setting(value->second.text);
          s.record_place = record->record.path + ":" + std::to_string(value->second.line);
        }
      } else if (session.record.is_absent()) {
        s.record = s.record_place = Fact<std::string>::absent();
      }
      if (!facts_.iscsi.iscsid_conf.is_unknown()) {
        s.config = s.config_place = Fact<std::string>::absent();
        if (const auto value = config_.find(s.key); value != config_.end()) {
          s.config = value->second.first;
          s.config_place = value->second.second;
        }
      }
      const bool replaced = multipath && s.key == "node.session.timeo.replacement_timeout";
      s.multipath = replaced ? fast_.value : Fact<std::string>::absent();
      s.multipath_from = replaced ? fast_.place : Fact<std::string>::absent();
      session.settings.push_back(std::move(s));
    }
  }

 private:
  const facts::Facts& facts_;
  Configured fast_;
  std::map<std::string, std::pair<std::string, std::string>> config_;
};

// --- targets and portals -------------------------------------------------------------------------------------------

class Names {
 public:
  explicit Names(facts::Facts& facts) : facts_(facts) {}

  facts::IscsiTarget& target(const std::string& name) {
    const auto [found, added] = targets_.try_emplace(name, facts_.iscsi.targets.size());
    if (added) facts_.iscsi.targets.emplace_back().name = name;
    return facts_.iscsi.targets[found->second];
  }

  // The portal of this address, with a tag if one is known of any that names it for the same target.
  facts::IscsiPortal& portal(const std::string& id, const char* origin, const std::string& target_name) {
    const auto [found, added] = portals_.try_emplace(id, facts_.iscsi.portals.size());
    if (added) {
      auto parsed = parse_portal(id);
      facts_.iscsi.portals.push_back(parsed ? *parsed : facts::IscsiPortal{});
      facts_.iscsi.portals.back().id = id;
      with_tag_.emplace(without_tag(id) + " " + target_name, id);
    }
    auto& portal = facts_.iscsi.portals[found->second];
    base::add_once(portal.origins, origin);
    if (!target_name.empty()) base::add_once(portal.targets, target_name);
    return portal;
  }

  std::string id_with_tag(const std::string& id, const std::string& target_name) const {
    const auto found = with_tag_.find(without_tag(id) + " " + target_name);
    return found == with_tag_.end() ? id : found->second;
  }

  void expect(const std::string& target_name, const std::string& portal_id, const char* origin, const std::string& path,
              Fact<std::string> startup = Fact<std::string>::absent()) {
    auto& list = target(target_name).expected_portals;
    const bool there = std::any_of(list.begin(), list.end(),
                                   [&](const auto& e) { return e.portal == portal_id && e.origin == origin; });
    if (!there) list.push_back({portal_id, origin, path, std::move(startup)});
  }

 private:
  facts::Facts& facts_;
  std::map<std::string, std::size_t> targets_;
  std::map<std::string, std::size_t> portals_;
  std::map<std::string, std::string> with_tag_;
};

void name_sessions(facts::Facts& facts, Names& names) {
  if (!facts.iscsi.sessions.has_value()) return;
  for (auto& session : *facts.iscsi.sessions) {
    auto& target = names.target(session.target);
    base::add_once(target.sessions, session.id);
    target.devices.insert(target.devices.end(), session.devices.begin(), session.devices.end());
    if (!session.portal.has_value()) continue;
    base::add_once(target.portals, *session.portal);
    base::add_once(names.portal(*session.portal, "session", session.target).sessions, session.id);
    names.expect(session.target, *session.portal, "session", session.id);
  }
}

void name_records(facts::Facts& facts, Names& names) {
  if (!facts.iscsi.node_records.has_value()) return;
  for (auto& record : *facts.iscsi.node_records) {
    if (!record.portal.has_value()) continue;
    names.portal(*record.portal, "node record", record.target);
    names.expect(record.target, *record.portal, "node record", record.path, record.startup);
  }
}

void name_tracked(facts::Facts& facts, Names& names) {
  if (facts.config.trident.is_unknown()) return;
  for (auto& target : facts.iscsi.targets) target.expected_luns = std::vector<facts::IscsiExpectedLun>{};
  if (!facts.config.trident.has_value()) return;
  // Disks by target and LUN: a node has as many volumes as disks.
  std::map<std::pair<std::string_view, std::uint64_t>, std::vector<const facts::BlockDevice*>> disks;
  if (facts.block.devices.has_value()) {
    for (const auto& device : *facts.block.devices)
      if (device.target.has_value() && device.lun.has_value()) disks[{*device.target, *device.lun}].push_back(&device);
  }
  for (const auto& volume : *facts.config.trident) {
    if (!volume.iscsi_target_iqn.has_value()) continue;
    const std::string& name = *volume.iscsi_target_iqn;
    std::vector<std::string> portals = volume.iscsi_portals.value_or({});
    if (volume.iscsi_target_portal.has_value()) portals.insert(portals.begin(), *volume.iscsi_target_portal);
    for (const auto& text : portals) {
      const auto portal = parse_portal(text);
      if (!portal) continue;
      const auto id = names.id_with_tag(portal->id, name);
      names.portal(id, "trident", name);
      names.expect(name, id, "trident", volume.path);
    }
    facts::IscsiExpectedLun lun;
    lun.volume = volume.volume;
    lun.path = volume.path;
    if (volume.iscsi_lun.has_value() && *volume.iscsi_lun >= 0) lun.lun = static_cast<std::uint64_t>(*volume.iscsi_lun);
    lun.serial = volume.iscsi_lun_serial;
    if (lun.serial.has_value())
      if (const auto wwid = ontap_wwid(*lun.serial)) lun.wwid = *wwid;
    if (lun.wwid.has_value() && facts.multipath.maps.has_value()) {
      lun.map = Fact<std::string>::absent();
      for (const auto& map : *facts.multipath.maps)
        if (map.wwid.has_value() && same_wwid(*map.wwid, *lun.wwid)) lun.map = map.id;
    }
    if (lun.lun.has_value()) {
      if (const auto found = disks.find({name, *lun.lun}); found != disks.end())
        for (const auto* device : found->second) lun.devices.push_back(device->name);
    }
    auto& target = names.target(name);
    if (!target.expected_luns.has_value()) target.expected_luns = std::vector<facts::IscsiExpectedLun>{};
    target.expected_luns->push_back(std::move(lun));
  }
}

// --- disks and maps ------------------------------------------------------------------------------------------------

// A SCSI host of the software initiator is that of one session; an adapter's carries many, and tells none.
using SessionsByHost = std::unordered_map<std::uint32_t, facts::IscsiSession*>;

SessionsByHost sessions_by_host(facts::Facts& facts) {
  SessionsByHost by_host;
  if (!facts.iscsi.sessions.has_value()) return by_host;
  for (auto& session : *facts.iscsi.sessions) {
    if (!session.host.has_value()) continue;
    const auto [at, fresh] = by_host.emplace(*session.host, &session);
    if (!fresh) at->second = nullptr;
  }
  return by_host;
}

void join_disks(facts::Facts& facts) {
  if (!facts.block.devices.has_value()) return;
  std::unordered_map<std::uint32_t, facts::IscsiSession*> by_sid;
  const auto by_host = sessions_by_host(facts);
  if (facts.iscsi.sessions.has_value()) {
    for (auto& session : *facts.iscsi.sessions) {
      session.devices.clear();
      if (session.sid.has_value()) by_sid.emplace(*session.sid, &session);
    }
  }
  std::unordered_map<std::string, std::vector<facts::BlockDevice*>> same;
  for (auto& device : *facts.block.devices) {
    if (device.sid.is_absent()) {
      device.session = device.target = device.portal = Fact<std::string>::absent();
    } else {
      facts::IscsiSession* session = nullptr;
      if (device.sid.has_value()) {
        if (const auto found = by_sid.find(*device.sid); found != by_sid.end()) session = found->second;
      } else if (device.host.has_value()) {
        if (const auto found = by_host.find(*device.host); found != by_host.end()) session = found->second;
      }
      if (session != nullptr) {
        device.sid = session->sid;
        device.session = session->id;
        device.target = session->target;
        device.portal = session->portal;
        base::add_once(session->devices, device.name);
      }
    }
    if (device.kind == "scsi" && device.wwid.has_value()) same[plain_wwid(*device.wwid)].push_back(&device);
  }
  for (auto& [wwid, devices] : same)
    for (auto* device : devices)
      for (const auto* other : devices)
        if (other != device) device->siblings.push_back(other->name);
}

void join_map(facts::MultipathMap& map, const std::unordered_map<std::string, facts::BlockDevice*>& by_name,
              const SessionsByHost& by_host, bool sessions_known) {
  bool all_known = true;
  bool iscsi = false;
  for (auto& path : map.paths) {
    path.map = map.id;
    const auto found = by_name.find(path.device);
    if (found == by_name.end()) {
      // Texts alone: the number of the SCSI host is all that joins the two.
      const auto session = path.host.has_value() ? by_host.find(*path.host) : by_host.end();
      if (session != by_host.end() && session->second != nullptr) {
        path.session = session->second->id;
        path.sid = session->second->sid;
        path.target = session->second->target;
        path.portal = session->second->portal;
        base::add_once(session->second->devices, path.device);
        iscsi = true;
      }
      all_known = false;
      continue;
    }
    auto& device = *found->second;
    device.map = map.id;
    path.session = device.session;
    path.sid = device.sid;
    path.target = device.target;
    path.portal = device.portal;
    take_unknown(path.access_state, device.access_state);
    take_unknown(path.dev, device.dev);
    take_unknown(path.hctl, device.hctl);
    take_unknown(path.host, device.host);
    take_unknown(path.lun, device.lun);
    take_unknown(path.dev_state, device.state);
    iscsi = iscsi || path.session.has_value();
  }
  if (map.iscsi.is_unknown() && (iscsi || (all_known && sessions_known))) map.iscsi = iscsi;
}

void join_maps(facts::Facts& facts) {
  if (!facts.multipath.maps.has_value()) return;
  std::unordered_map<std::string, facts::BlockDevice*> by_name;
  std::unordered_map<std::string, std::vector<const facts::BlockDevice*>> by_wwid;
  const bool devices_known = facts.block.devices.has_value();
  if (devices_known) {
    for (auto& device : *facts.block.devices) {
      by_name.emplace(device.name, &device);
      device.map = Fact<std::string>::absent();
      if (device.kind == "scsi" && device.multipath_wwid.has_value())
        by_wwid[plain_wwid(*device.multipath_wwid)].push_back(&device);
    }
  }
  const auto by_host = sessions_by_host(facts);
  for (auto& map : *facts.multipath.maps) {
    join_map(map, by_name, by_host, facts.iscsi.sessions.has_value());
    if (!devices_known || !map.wwid.has_value()) continue;
    std::vector<std::string> missing;
    if (const auto found = by_wwid.find(plain_wwid(*map.wwid)); found != by_wwid.end())
      for (const auto* device : found->second)
        if (std::none_of(map.paths.begin(), map.paths.end(), [&](const auto& p) { return p.device == device->name; }))
          missing.push_back(device->name);
    map.missing_paths = std::move(missing);
  }
}

}  // namespace

void merge_maps(Fact<std::vector<facts::MultipathMap>>& maps, std::vector<facts::MultipathMap> told) {
  if (!maps.has_value()) {
    maps = std::move(told);
    return;
  }
  std::unordered_map<std::string, std::size_t> by_wwid;
  for (std::size_t i = 0; i < maps->size(); ++i)
    by_wwid.emplace(plain_wwid((*maps)[i].wwid.value_or((*maps)[i].id)), i);
  for (auto& map : told) {
    const auto found = by_wwid.find(plain_wwid(map.wwid.value_or(map.id)));
    if (found == by_wwid.end()) {
      maps->push_back(std::move(map));
      continue;
    }
    auto& old = (*maps)[found->second];
    map.id = old.id;
    map.told_by.insert(map.told_by.begin(), old.told_by.begin(), old.told_by.end());
    take_unknown(map.alias, old.alias);
    take_unknown(map.device, old.device);
    map.dev = old.dev;
    take_unknown(map.vendor, old.vendor);
    take_unknown(map.product, old.product);
    take_unknown(map.rev, old.rev);
    if (!old.size_bytes.is_unknown()) map.size_bytes = old.size_bytes;  // not rounded
    take_unknown(map.state, old.state);
    take_unknown(map.write_protect, old.write_protect);
    for (auto& path : map.paths)
      for (const auto& before : old.paths)
        if (before.device == path.device) {
          take_unknown(path.dev, before.dev);
          take_unknown(path.dev_state, before.dev_state);
        }
    old = std::move(map);
  }
}

void join_storage(facts::Facts& facts, const std::vector<NodeRecordText>& records) {
  join_disks(facts);
  join_maps(facts);
  std::map<std::string, const NodeRecordText*> texts;
  for (const auto& text : records) texts.emplace(text.record.path + " " + text.record.target, &text);
  std::set<std::string> mapped;  // sessions that carry a path of a map
  if (facts.multipath.maps.has_value()) {
    for (const auto& map : *facts.multipath.maps)
      for (const auto& path : map.paths)
        if (path.session.has_value()) mapped.insert(*path.session);
  }
  if (facts.iscsi.sessions.has_value()) {
    const Settings settings(facts);
    for (auto& session : *facts.iscsi.sessions) {
      const NodeRecordText* record = nullptr;
      if (facts.iscsi.node_records.has_value()) session.record = Fact<std::string>::absent();
      if (facts.iscsi.node_records.has_value())
        for (auto& known : *facts.iscsi.node_records) {
          const bool same_portal =
              known.portal.has_value() && session.portal.has_value() &&
              (known.portal == session.portal || without_tag(*known.portal) == without_tag(*session.portal));
          if (known.target != session.target || !same_portal) continue;
          if (known.iface.has_value() && session.iface.has_value() && known.iface != session.iface) continue;
          known.logged_in = true;
          session.record = known.path;
          if (const auto text = texts.find(known.path + " " + known.target); text != texts.end()) record = text->second;
        }
      settings.fill(session, record, mapped.contains(session.id));
    }
  }
  facts.iscsi.targets.clear();
  facts.iscsi.portals.clear();
  Names names(facts);
  name_sessions(facts, names);
  name_records(facts, names);
  name_tracked(facts, names);
}

// --- users ---------------------------------------------------------------------------------------------------------

namespace {

class Users {
 public:
  Users(facts::Facts& facts, const std::vector<facts::Mount>& mounts) : facts_(facts) {
    for (auto& device : *facts.block.devices) {
      by_name_.emplace(device.name, &device);
      if (device.dev.has_value()) by_dev_.emplace(*device.dev, device.name);
      if (device.dm_name.has_value()) by_path_.emplace("/dev/mapper/" + *device.dm_name, device.name);
      for (const auto& partition : device.partitions) disk_of_.emplace(partition.name, device.name);
    }
    for (const auto& mount : mounts) take(mount);
  }

  void fill() {
    for (auto& device : *facts_.block.devices) {
      device.users.clear();
      above(device.name, {}, device.users, 0);
      const bool in_map = device.map.has_value() || sibling_in_map(device);
      if (device.kind == "scsi" || device.kind == "nvme") device.used_directly = in_map && !device.users.empty();
    }
    if (!facts_.multipath.maps.has_value()) return;
    for (auto& map : *facts_.multipath.maps)
      if (const auto found = by_name_.find(map.device.value_or("")); found != by_name_.end())
        map.users = found->second->users;
  }

  bool root_on_iscsi() const { return on_iscsi(root_device_, 0); }

 private:
  void take(const facts::Mount& mount) {
    // A block volume of a pod: the node of the device is bound to a file, and the file system is that of /dev.
    if (mount.fs_type == "devtmpfs" && mount.root.has_value() && mount.root->size() > 1) {
      const std::string name = mount.root->substr(1);
      if (by_name_.contains(name) || disk_of_.contains(name)) direct_[name].push_back(use_of(mount, "raw"));
      return;
    }
    std::string name;
    if (const auto found = by_dev_.find(mount.device.value_or("")); found != by_dev_.end())
      name = found->second;
    else if (const auto path = by_path_.find(mount.source); path != by_path_.end())
      name = path->second;
    else if (mount.source.starts_with("/dev/"))
      name = mount.source.substr(5);
    if (!by_name_.contains(name) && !disk_of_.contains(name)) return;
    if (mount.target == "/") root_device_ = name;
    direct_[name].push_back(use_of(mount, "mount"));
  }

  static facts::BlockUse use_of(const facts::Mount& mount, const char* kind) {
    facts::BlockUse use;
    use.kind = kind;
    use.name = mount.target;
    const bool raw = use.kind == "raw";
    use.fs_type = raw ? Fact<std::string>::absent() : Fact<std::string>(mount.fs_type);
    use.options_text = raw ? Fact<std::string>::absent() : mount.options_text;
    use.read_only = raw ? Fact<bool>::absent() : read_only(mount);
    return use;
  }

  static Fact<bool> read_only(const facts::Mount& mount) {
    if (!mount.options_text.has_value()) return {};
    for (const auto& text : {mount.options_text, mount.super_options_text}) {
      if (!text.has_value()) continue;
      for (const auto option : base::split(*text, ','))
        if (option == "ro") return true;
    }
    return false;
  }

  bool sibling_in_map(const facts::BlockDevice& device) const {
    return std::any_of(device.siblings.begin(), device.siblings.end(), [&](const std::string& name) {
      const auto found = by_name_.find(name);
      return found != by_name_.end() && found->second->map.has_value();
    });
  }

  // Uses of `name` and of what lies on it, but not past a multipath map. `chain` leads from the use down to here.
  void above(const std::string& name, std::vector<std::string> below, std::vector<facts::BlockUse>& into, int depth) {
    if (depth > 16 || into.size() > 4096) return;
    below.insert(below.begin(), name);
    if (const auto found = direct_.find(name); found != direct_.end())
      for (auto use : found->second) {
        use.chain = below;
        into.push_back(std::move(use));
      }
    const auto device = by_name_.find(name);
    if (device == by_name_.end()) return;
    for (const auto& partition : device->second->partitions) above(partition.name, below, into, depth + 1);
    for (const auto& holder : device->second->holders) {
      const auto upper = by_name_.find(holder);
      if (upper != by_name_.end() && upper->second->kind == "multipath") continue;
      const auto before = into.size();
      above(holder, below, into, depth + 1);
      if (into.size() == before)
        into.push_back(holder_use(holder, upper != by_name_.end() ? upper->second : nullptr, below));
    }
  }

  static facts::BlockUse holder_use(const std::string& name, const facts::BlockDevice* device,
                                    std::vector<std::string> below) {
    facts::BlockUse use;
    use.kind = device == nullptr                                  ? (name.starts_with("md") ? "raid" : "dm")
               : device->kind == "lvm" || device->kind == "crypt" ? device->kind
                                                                  : "dm";
    use.name = device != nullptr ? device->dm_name.value_or(name) : name;
    below.insert(below.begin(), name);
    use.chain = std::move(below);
    use.fs_type = use.options_text = Fact<std::string>::absent();
    use.read_only = Fact<bool>::absent();
    return use;
  }

  bool on_iscsi(const std::string& name, int depth) const {
    if (depth > 16) return false;
    const auto disk = disk_of_.find(name);
    const auto found = by_name_.find(disk == disk_of_.end() ? name : disk->second);
    if (found == by_name_.end()) return false;
    if (found->second->session.has_value()) return true;
    return std::any_of(found->second->slaves.begin(), found->second->slaves.end(),
                       [&](const std::string& slave) { return on_iscsi(slave, depth + 1); });
  }

  facts::Facts& facts_;
  std::unordered_map<std::string, facts::BlockDevice*> by_name_;
  std::unordered_map<std::string, std::string> by_dev_, by_path_, disk_of_;
  std::unordered_map<std::string, std::vector<facts::BlockUse>> direct_;
  std::string root_device_;
};

}  // namespace

void join_block_users(facts::Facts& facts, const std::vector<facts::Mount>& mounts) {
  if (!facts.block.devices.has_value()) return;
  Users users(facts, mounts);
  users.fill();
  facts.iscsi.root_on_iscsi = users.root_on_iscsi();
}

}  // namespace probes
