#include "probes/host/storage_join.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "audit/base/text.h"
#include "probes/host/iscsi_names.h"
#include "probes/host/storage_merge.h"

namespace probes {

namespace {

using facts::BlockDevice;
using facts::Fact;
using facts::IscsiNodeRecord;
using facts::IscsiPortal;
using facts::IscsiSession;
using facts::IscsiTarget;
using facts::MultipathMap;

template <class T>
std::vector<T>& list_of(Fact<std::vector<T>>& fact) {
  static thread_local std::vector<T> none;  // stays empty: nothing is added to what is not known
  return fact.has_value() ? *fact : none;
}

void add_once(std::vector<std::string>& list, const std::string& text) {
  if (std::find(list.begin(), list.end(), text) == list.end()) list.push_back(text);
}

std::string login_key(const std::string& target, const Fact<std::string>& portal, const Fact<std::string>& iface) {
  return target + " " + without_tag(portal.value_or("")) + " " + iface.value_or("default");
}

}  // namespace

void join_records(facts::Facts& facts) {
  if (!facts.iscsi.node_records.has_value() || !facts.iscsi.sessions.has_value()) return;
  std::unordered_map<std::string, std::size_t> by_login;
  auto& records = *facts.iscsi.node_records;
  for (std::size_t i = 0; i < records.size(); ++i)
    by_login.emplace(login_key(records[i].target, records[i].portal, records[i].iface), i);
  for (auto& session : *facts.iscsi.sessions) {
    const auto found = by_login.find(login_key(session.target, session.portal, session.iface));
    if (found == by_login.end()) {
      session.record = Fact<std::string>::absent();
      continue;
    }
    auto& record = records[found->second];
    record.logged_in = true;
    if (!record.path.empty()) session.record = record.path;
  }
}

namespace {

Fact<std::string> spelt(const Fact<bool>& fact) {
  return fact.has_value() ? Fact<std::string>(*fact ? "Yes" : "No") : Fact<std::string>();
}
template <class T>
Fact<std::string> spelt(const Fact<T>& fact) {
  return fact.has_value() ? Fact<std::string>(std::to_string(*fact)) : Fact<std::string>();
}

Fact<std::string> live_setting(const IscsiSession& s, std::string_view key) {
  if (key == "node.session.timeo.replacement_timeout") return spelt(s.recovery_tmo_s);
  if (key == "node.session.err_timeo.abort_timeout") return spelt(s.abort_tmo_s);
  if (key == "node.session.err_timeo.lu_reset_timeout") return spelt(s.lu_reset_tmo_s);
  if (key == "node.session.err_timeo.tgt_reset_timeout") return spelt(s.tgt_reset_tmo_s);
  if (key == "node.session.iscsi.InitialR2T") return spelt(s.initial_r2t);
  if (key == "node.session.iscsi.ImmediateData") return spelt(s.immediate_data);
  if (key == "node.session.iscsi.FirstBurstLength") return spelt(s.first_burst_len_bytes);
  if (key == "node.session.iscsi.MaxBurstLength") return spelt(s.max_burst_len_bytes);
  if (key == "node.session.iscsi.MaxOutstandingR2T") return spelt(s.max_outstanding_r2t);
  if (s.connections.empty()) return {};
  const auto& c = s.connections.front();
  if (key == "node.conn[0].timeo.noop_out_interval") return spelt(c.recv_tmo_s);
  if (key == "node.conn[0].timeo.noop_out_timeout") return spelt(c.ping_tmo_s);
  if (key == "node.conn[0].iscsi.MaxRecvDataSegmentLength") return spelt(c.max_recv_dlength_bytes);
  if (key == "node.conn[0].iscsi.HeaderDigest") return c.header_digest;
  if (key == "node.conn[0].iscsi.DataDigest") return c.data_digest;
  return {};
}

// What multipathd has written over replacement_timeout: fast_io_fail_tmo of a map that a path of this session is in.
void take_fast_io_fail(const facts::Facts& facts, const IscsiSession& session, facts::IscsiSetting& setting) {
  if (!facts.multipath.maps.has_value()) return;
  setting.multipath = Fact<std::string>::absent();
  for (const auto& map : *facts.multipath.maps) {
    const bool mine = std::any_of(map.paths.begin(), map.paths.end(), [&](const auto& path) {
      return path.sid.has_value() && path.sid == session.sid;
    });
    if (!mine) continue;
    const auto tmo = std::find_if(map.settings.begin(), map.settings.end(),
                                  [](const auto& one) { return one.key == "fast_io_fail_tmo"; });
    setting.multipath = {};
    if (tmo == map.settings.end()) return;
    const bool off = tmo->configured.is("off");
    setting.multipath = off ? Fact<std::string>::absent() : tmo->configured;
    if (!off && tmo->configured.has_value()) setting.multipath_from = tmo->place.value_or(tmo->origin);
    return;
  }
}

struct ConfValue {
  std::string value;
  std::string place;
};

std::unordered_map<std::string, ConfValue> iscsid_conf_values(const facts::Facts& facts) {
  std::unordered_map<std::string, ConfValue> values;
  if (facts.iscsi.iscsid_conf.has_value())
    for (const auto& entry : *facts.iscsi.iscsid_conf)
      values[entry.key] = {normal_setting(entry.value), entry.path + ":" + std::to_string(entry.line)};
  return values;
}

void take_record(const RecordValues& records, const IscsiSession& session, facts::IscsiSetting& setting) {
  if (session.record.is_absent()) setting.record = Fact<std::string>::absent();
  if (!session.record.has_value()) return;
  const auto values = records.find(*session.record);
  if (values == records.end()) return;
  const auto value = values->second.find(setting.key);
  if (value == values->second.end()) {
    setting.record = Fact<std::string>::absent();
    return;
  }
  setting.record = normal_setting(value->second.text);
  if (value->second.line > 0) setting.record_place = *session.record + ":" + std::to_string(value->second.line);
}

}  // namespace

void join_settings(facts::Facts& facts, const RecordValues& records) {
  if (!facts.iscsi.sessions.has_value()) return;
  const auto conf = iscsid_conf_values(facts);
  for (auto& session : *facts.iscsi.sessions) {
    session.settings.clear();
    for (const auto& [key, builtin] : iscsi_setting_keys()) {
      facts::IscsiSetting setting;
      setting.key = key;
      setting.builtin = std::string(builtin);
      setting.live = live_setting(session, key);
      take_record(records, session, setting);
      if (!facts.iscsi.iscsid_conf.is_unknown()) setting.config = Fact<std::string>::absent();
      if (const auto found = conf.find(key); found != conf.end()) {
        setting.config = found->second.value;
        setting.config_place = found->second.place;
      }
      if (setting.key == "node.session.timeo.replacement_timeout")
        take_fast_io_fail(facts, session, setting);
      else
        setting.multipath = Fact<std::string>::absent();
      // Nothing but what iscsid takes by itself is known of it: no line for that.
      const bool told = setting.live.has_value() || setting.record.has_value() || setting.config.has_value();
      if (told) session.settings.push_back(std::move(setting));
    }
  }
}

namespace {

class Targets {
 public:
  explicit Targets(facts::Facts& facts) : facts_(facts) {
    for (std::size_t i = 0; i < facts.iscsi.targets.size(); ++i) targets_.emplace(facts.iscsi.targets[i].name, i);
    for (std::size_t i = 0; i < facts.iscsi.portals.size(); ++i) add_portal_name(facts.iscsi.portals[i].id, i);
  }

  IscsiTarget& target(const std::string& name) {
    const auto [at, fresh] = targets_.emplace(name, facts_.iscsi.targets.size());
    if (fresh) facts_.iscsi.targets.emplace_back().name = name;
    return facts_.iscsi.targets[at->second];
  }

  // The same portal with a tag, where this one names none.
  IscsiPortal* portal(const std::string& id, const char* origin, const std::string& target) {
    auto found = portals_.find(id);
    const auto parsed = parse_portal(id);
    if (!parsed) return nullptr;
    if (found == portals_.end() && !parsed->tag.has_value()) found = portals_.find(without_port_tag(id));
    if (found == portals_.end()) {
      add_portal_name(id, facts_.iscsi.portals.size());
      facts_.iscsi.portals.push_back(*parsed);
      found = portals_.find(id);
    }
    IscsiPortal& portal = facts_.iscsi.portals[found->second];
    add_once(portal.origins, origin);
    add_once(portal.targets, target);
    return &portal;
  }

  void expect(const std::string& target_name, const std::string& portal, const char* origin, const std::string& path,
              Fact<std::string> startup) {
    auto& list = target(target_name).expected_portals;
    const bool known = std::any_of(list.begin(), list.end(),
                                   [&](const auto& one) { return one.portal == portal && one.origin == origin; });
    if (!known) list.push_back({portal, origin, path, std::move(startup)});
  }

 private:
  static std::string without_port_tag(const std::string& id) { return "/" + without_tag(id); }
  void add_portal_name(const std::string& id, std::size_t index) {
    portals_.emplace(id, index);
    portals_.emplace(without_port_tag(id), index);
  }

  facts::Facts& facts_;
  std::unordered_map<std::string, std::size_t> targets_, portals_;
};

void expect_lun(Targets& targets, const facts::TridentVolume& volume) {
  auto& target = targets.target(*volume.iscsi_target_iqn);
  facts::IscsiExpectedLun lun;
  lun.volume = volume.volume;
  lun.path = volume.path;
  if (volume.iscsi_lun.has_value() && *volume.iscsi_lun >= 0) lun.lun = static_cast<std::uint64_t>(*volume.iscsi_lun);
  lun.serial = volume.iscsi_lun_serial;
  if (volume.iscsi_lun_serial.has_value())
    if (auto wwid = ontap_wwid(*volume.iscsi_lun_serial)) lun.wwid = *wwid;
  known_list(target.expected_luns).push_back(std::move(lun));
}

}  // namespace

void join_targets(facts::Facts& facts) {
  Targets targets(facts);
  for (auto& session : list_of(facts.iscsi.sessions)) {
    add_once(targets.target(session.target).sessions, session.id);
    if (!session.portal.has_value()) continue;
    if (auto* portal = targets.portal(*session.portal, "session", session.target)) {
      add_once(portal->sessions, session.id);
      add_once(targets.target(session.target).portals, portal->id);
      targets.expect(session.target, portal->id, "session", session.id, Fact<std::string>::absent());
    }
  }
  for (const auto& record : list_of(facts.iscsi.node_records)) {
    if (!record.portal.has_value()) continue;
    if (const auto* portal = targets.portal(*record.portal, "node record", record.target))
      targets.expect(record.target, portal->id, "node record", record.path, record.startup);
  }
  if (!facts.config.trident.has_value()) return;
  for (const auto& volume : *facts.config.trident) {
    if (!volume.iscsi_target_iqn.has_value()) continue;
    auto named = volume.iscsi_portals.value_or({});
    if (volume.iscsi_target_portal.has_value()) add_once(named, *volume.iscsi_target_portal);
    for (const auto& text : named) {
      const auto parsed = parse_portal(text);
      if (!parsed) continue;
      if (const auto* portal = targets.portal(parsed->id, "trident", *volume.iscsi_target_iqn))
        targets.expect(*volume.iscsi_target_iqn, portal->id, "trident", volume.path, Fact<std::string>::absent());
    }
    expect_lun(targets, volume);
  }
  for (auto& target : facts.iscsi.targets)
    if (target.expected_luns.is_unknown()) target.expected_luns = std::vector<facts::IscsiExpectedLun>{};
}

namespace {

class Paths {
 public:
  explicit Paths(facts::Facts& facts) : facts_(facts) {
    if (!facts.iscsi.sessions.has_value()) return;
    for (const auto& session : *facts.iscsi.sessions) {
      if (session.sid.has_value()) by_sid_.emplace(*session.sid, &session);
      if (session.host.has_value())
        by_host_[*session.host].push_back(&session);
      else
        every_host_known_ = false;
      for (const auto& device : session.devices) by_device_.emplace(device, &session);
    }
  }

  // The session of a disk; `none` is set when it is known to be of none.
  const IscsiSession* session_of(const std::string& device, const Fact<std::uint32_t>& host, bool& none) const {
    none = false;
    if (const auto found = by_device_.find(device); found != by_device_.end()) return found->second;
    if (!host.has_value()) return nullptr;
    const auto found = by_host_.find(*host);
    if (found != by_host_.end()) return found->second.size() == 1 ? found->second.front() : nullptr;
    none = facts_.iscsi.sessions.has_value() && every_host_known_;
    return nullptr;
  }

 private:
  facts::Facts& facts_;
  std::unordered_map<std::uint32_t, const IscsiSession*> by_sid_;
  std::unordered_map<std::uint32_t, std::vector<const IscsiSession*>> by_host_;
  std::unordered_map<std::string, const IscsiSession*> by_device_;
  bool every_host_known_ = true;
};

template <class T>
void take_session(T& to, const IscsiSession* session, bool none) {
  if (session != nullptr) {
    if (!to.session.has_value()) to.session = session->id;
    if (!to.sid.has_value()) to.sid = session->sid;
    if (!to.target.has_value()) to.target = session->target;
    if (!to.portal.has_value()) to.portal = session->portal;
  } else if (none && to.session.is_unknown()) {
    to.session = Fact<std::string>::absent();
    to.sid = Fact<std::uint32_t>::absent();
    to.target = Fact<std::string>::absent();
    to.portal = Fact<std::string>::absent();
  }
}

Fact<bool> is_iscsi(const MultipathMap& map) {
  bool all_known = !map.paths.empty();
  for (const auto& path : map.paths) {
    if (path.session.has_value()) return true;
    all_known = all_known && path.session.is_absent();
  }
  return all_known ? Fact<bool>(false) : Fact<bool>();
}

// Disks that only the text of a map names.
void add_disks_of(const MultipathMap& map, std::set<std::string>& known, std::vector<BlockDevice>& fresh) {
  for (const auto& path : map.paths) {
    if (path.device.empty() || !known.insert(path.device).second) continue;
    BlockDevice device;
    device.id = path.device;
    device.name = path.device;
    device.kind = "scsi";
    device.dev = path.dev;
    device.hctl = path.hctl;
    device.host = path.host;
    device.lun = path.lun;
    device.state = path.dev_state;
    fresh.push_back(std::move(device));
  }
}

void add_disks(facts::Facts& facts) {
  std::set<std::string> known;
  for (const auto& device : list_of(facts.block.devices)) known.insert(device.name);
  std::vector<BlockDevice> fresh;
  for (const auto& map : list_of(facts.multipath.maps))
    if (map.kind == "dm-multipath") add_disks_of(map, known, fresh);
  for (auto& device : fresh) known_list(facts.block.devices).push_back(std::move(device));
}

// Disks of each target, and the LUNs that Trident's files expect of it.
void join_luns(facts::Facts& facts) {
  std::unordered_map<std::string, std::vector<const BlockDevice*>> by_target;
  for (const auto& device : list_of(facts.block.devices))
    if (device.target.has_value()) by_target[*device.target].push_back(&device);
  std::unordered_map<std::string, std::string> map_by_wwid;
  for (const auto& map : list_of(facts.multipath.maps))
    if (map.wwid.has_value()) map_by_wwid.emplace(plain_wwid(*map.wwid), map.id);
  for (auto& target : facts.iscsi.targets) {
    std::unordered_map<std::uint64_t, std::vector<std::string>> by_lun;
    std::set<std::string> known(target.devices.begin(), target.devices.end());
    for (const auto* device : by_target[target.name]) {
      if (known.insert(device->name).second) target.devices.push_back(device->name);
      if (device->lun.has_value()) by_lun[*device->lun].push_back(device->name);
    }
    for (auto& lun : list_of(target.expected_luns)) {
      if (lun.lun.has_value()) lun.devices = by_lun[*lun.lun];
      if (!lun.wwid.has_value() || !facts.multipath.maps.has_value()) continue;
      const auto map = map_by_wwid.find(plain_wwid(*lun.wwid));
      lun.map = map == map_by_wwid.end() ? Fact<std::string>::absent() : Fact<std::string>(map->second);
    }
  }
}

}  // namespace

void join_paths(facts::Facts& facts) {
  add_disks(facts);
  const Paths paths(facts);
  bool none = false;
  std::unordered_map<std::string, std::vector<std::string>> by_wwid;
  for (auto& device : list_of(facts.block.devices)) {
    if (device.host.is_unknown() && device.session.is_unknown() && device.kind != "scsi") continue;
    const auto* session = paths.session_of(device.name, device.host, none);
    take_session(device, session, none);
    if (device.wwid.has_value()) by_wwid[plain_wwid(*device.wwid)].push_back(device.name);
  }
  std::unordered_map<std::uint32_t, std::vector<std::string>> by_sid;
  for (const auto& device : list_of(facts.block.devices))
    if (device.sid.has_value()) by_sid[*device.sid].push_back(device.name);
  for (auto& session : list_of(facts.iscsi.sessions)) {
    if (session.sid.has_value())
      for (const auto& name : by_sid[*session.sid]) add_once(session.devices, name);
  }
  std::unordered_map<std::string, std::string> map_of;
  for (auto& map : list_of(facts.multipath.maps)) {
    for (auto& path : map.paths) {
      if (path.removed) continue;
      take_session(path, paths.session_of(path.device, path.host, none), none);
      if (!path.device.empty()) map_of.emplace(path.device, map.id);
    }
    if (map.iscsi.is_unknown()) map.iscsi = is_iscsi(map);
    if (!map.wwid.has_value() || by_wwid.empty()) continue;
    std::vector<std::string> missing;
    if (const auto same = by_wwid.find(plain_wwid(*map.wwid)); same != by_wwid.end())
      for (const auto& name : same->second)
        if (std::none_of(map.paths.begin(), map.paths.end(), [&](const auto& path) { return path.device == name; }))
          missing.push_back(name);
    map.missing_paths = std::move(missing);
  }
  for (auto& path : list_of(facts.multipath.paths))
    take_session(path, paths.session_of(path.device, path.host, none), none);
  for (auto& device : list_of(facts.block.devices)) {
    if (const auto found = map_of.find(device.name); found != map_of.end())
      device.map = found->second;
    else if (device.map.is_unknown() && facts.multipath.maps.has_value() && device.kind == "scsi")
      device.map = Fact<std::string>::absent();
    if (!device.wwid.has_value()) continue;
    for (const auto& name : by_wwid[plain_wwid(*device.wwid)])
      if (name != device.name) add_once(device.siblings, name);
  }
  join_luns(facts);
}

std::optional<IscsiDirectory> parse_iscsi_directory(std::string_view mount_point) {
  constexpr std::string_view plugin = "/plugins/kubernetes.io/iscsi/";
  if (mount_point.find(plugin) == std::string_view::npos) return std::nullopt;
  const auto name = mount_point.substr(mount_point.rfind('/') + 1);
  const auto lun_at = name.rfind("-lun-");
  if (lun_at == std::string_view::npos) return std::nullopt;
  auto target_at = std::string_view::npos;
  for (const char* start : {"-iqn.", "-eui.", "-naa."}) target_at = std::min(target_at, name.find(start));
  if (target_at >= lun_at) return std::nullopt;
  const auto portal = parse_portal(name.substr(0, target_at));
  const auto target = name.substr(target_at + 1, lun_at - target_at - 1);
  const auto lun = base::number<std::uint64_t>(name.substr(lun_at + 5));
  if (!portal || !is_target_name(target) || !lun) return std::nullopt;
  return IscsiDirectory{portal->id, std::string(target), *lun};
}

namespace {

constexpr std::string_view dev_directory = "/dev/";
constexpr std::string_view mapper_directory = "/dev/mapper/";

bool is_read_only(const Fact<std::string>& options) {
  if (!options.has_value()) return false;
  const auto words = base::split(*options, ',');
  return std::find(words.begin(), words.end(), "ro") != words.end();
}

facts::BlockUse use_of(const facts::Mount& mount) {
  facts::BlockUse use;
  use.kind = mount.fs_type == "devtmpfs" ? "raw" : "mount";
  use.name = mount.target;
  use.volume = Fact<std::string>::absent();
  if (use.kind == "raw") {
    use.fs_type = Fact<std::string>::absent();
    use.read_only = Fact<bool>::absent();
    use.options_text = Fact<std::string>::absent();
    return use;
  }
  use.fs_type = mount.fs_type;
  use.read_only = is_read_only(mount.options_text) || is_read_only(mount.super_options_text);
  use.options_text = mount.options_text;
  return use;
}

// Below a disk or a map: the devices down to those of the network.
class Users {
 public:
  explicit Users(facts::Facts& facts) : facts_(facts) {
    for (auto& map : list_of(facts.multipath.maps)) {
      for (const auto* name : {&map.device, &map.alias, &map.wwid})
        if (name->has_value()) maps_.emplace(**name, &map);
      if (map.dev.has_value()) maps_.emplace(*map.dev, &map);
    }
    index_devices();
  }

  void add(const facts::Mount& mount) {
    const bool raw = mount.fs_type == "devtmpfs" && mount.target.find("/volumeDevices/") != std::string::npos &&
                     mount.root.has_value() && mount.root->size() > 1;
    std::string name;
    if (raw)
      name = mount.root->substr(1);
    else if (mount.source.starts_with(mapper_directory))
      name = mount.source.substr(mapper_directory.size());
    else if (mount.source.starts_with(dev_directory))
      name = mount.source.substr(dev_directory.size());
    else
      return;
    auto use = use_of(mount);
    if (!attach(use, name) && mount.device.has_value() && !raw && attach(use, *mount.device)) return;
    // A disk that nothing else names: the kubelet's directory says whose it is.
    if (devices_.count(name) == 0 && !raw) add_disk(use, name);
  }

 private:
  void index_devices() {
    devices_.clear();
    auto& list = list_of(facts_.block.devices);
    for (std::size_t i = 0; i < list.size(); ++i) {
      devices_.emplace(list[i].name, i);
      if (list[i].dev.has_value()) devices_.emplace(*list[i].dev, i);
      if (list[i].dm_name.has_value()) devices_.emplace(*list[i].dm_name, i);
      for (const auto& part : list[i].partitions) partitions_.emplace(part.name, list[i].name);
    }
  }

  static void put(std::vector<facts::BlockUse>& users, const facts::BlockUse& use) {
    const bool known = std::any_of(users.begin(), users.end(), [&](const auto& other) {
      return other.kind == use.kind && other.name == use.name;
    });
    if (!known) users.push_back(use);
  }

  bool attach(facts::BlockUse use, std::string name) {
    bool found = false;
    for (int depth = 0; depth < 16; ++depth) {  // no device lies on so many others
      use.chain.push_back(name);
      if (const auto map = maps_.find(name); map != maps_.end()) {
        put(map->second->users, use);
        return true;  // what lies below is the map's affair
      }
      if (const auto part = partitions_.find(name); part != partitions_.end()) {
        name = part->second;
        continue;
      }
      const auto device = devices_.find(name);
      if (device == devices_.end()) return found;
      auto& at = (*facts_.block.devices)[device->second];
      put(at.users, use);
      found = true;
      if (at.slaves.empty()) return true;
      if (at.slaves.size() > 1) {
        for (std::size_t i = 1; i < at.slaves.size(); ++i) attach(use, at.slaves[i]);
      }
      name = (*facts_.block.devices)[device->second].slaves.front();
    }
    return found;
  }

  void add_disk(facts::BlockUse use, const std::string& name) {
    const auto directory = parse_iscsi_directory(use.name);
    if (!directory) return;
    BlockDevice device;
    device.name = name;
    device.id = name;
    device.kind = name.starts_with("sd") ? "scsi" : "other";
    device.lun = directory->lun;
    device.target = directory->target;
    device.portal = directory->portal;
    for (const auto& session : list_of(facts_.iscsi.sessions)) {
      if (session.target != directory->target || !session.portal.has_value()) continue;
      if (without_tag(*session.portal) != directory->portal) continue;
      device.session = session.id;
      device.sid = session.sid;
      device.portal = session.portal;
    }
    if (facts_.multipath.maps.has_value()) device.map = Fact<std::string>::absent();
    use.chain = {name};
    device.users = {std::move(use)};
    known_list(facts_.block.devices).push_back(std::move(device));
    devices_.emplace(name, facts_.block.devices->size() - 1);
  }

  facts::Facts& facts_;
  std::unordered_map<std::string, MultipathMap*> maps_;
  std::unordered_map<std::string, std::size_t> devices_;
  std::unordered_map<std::string, std::string> partitions_;
};

}  // namespace

void join_users(facts::Facts& facts, const std::vector<facts::Mount>& mounts) {
  Users users(facts);
  for (const auto& mount : mounts) users.add(mount);
  std::unordered_map<std::string, const BlockDevice*> by_name;
  for (const auto& device : list_of(facts.block.devices)) by_name.emplace(device.name, &device);
  for (auto& device : list_of(facts.block.devices)) {
    if (device.kind != "scsi") continue;
    bool in_map = device.map.has_value();
    for (const auto& name : device.siblings)
      if (const auto other = by_name.find(name); other != by_name.end()) in_map = in_map || other->second->map.has_value();
    if (in_map)
      device.used_directly = !device.users.empty();
    else if (device.map.is_absent())
      device.used_directly = false;
  }
}

}  // namespace probes
