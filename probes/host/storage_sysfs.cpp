#include "probes/host/storage_sysfs.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "audit/base/text.h"
#include "probes/host/iscsi_names.h"

namespace probes {

namespace {

using facts::Fact;

// "12" of "session12" where the text begins with the word and nothing but a number follows.
Fact<std::uint32_t> number_behind(std::string_view word, std::string_view text) {
  if (!text.starts_with(word)) return {};
  const auto number = base::number<std::uint32_t>(text.substr(word.size()));
  return number ? Fact<std::uint32_t>(*number) : Fact<std::uint32_t>();
}

// The first part of a link that is WORD and a number.
Fact<std::uint32_t> part_of_link(std::string_view link, std::string_view word) {
  for (const auto part : base::split(link, '/'))
    if (const auto number = number_behind(word, part); number.has_value()) return number;
  return {};
}

std::string_view last_part(std::string_view path) { return path.substr(path.rfind('/') + 1); }

bool in_class(const SysfsDirectory& directory, std::string_view prefix) {
  return directory.path.starts_with(prefix) && directory.path.find('/', prefix.size()) == std::string_view::npos;
}

// A directory whose files had all gone when they were looked at.
bool vanished(const SysfsDirectory& directory) {
  return !directory.values.empty() &&
         std::all_of(directory.values.begin(), directory.values.end(), [](const auto& v) { return !v.error.empty(); });
}

bool not_connected(const SysfsDirectory& directory, std::string_view name) {
  const auto* value = directory.find(name);
  return value != nullptr && (value->error.find("not connected") != std::string_view::npos ||
                              value->error.find("Transport endpoint") != std::string_view::npos);
}

Fact<std::string> digest(const SysfsDirectory& directory, std::string_view name) {
  const auto flag = sysfs_flag(&directory, name);
  if (flag.is_unknown()) return {};
  return *flag ? "CRC32C" : "None";
}

facts::IscsiConnection connection_of(const SysfsDirectory& d, std::uint32_t cid) {
  facts::IscsiConnection c;
  c.cid = cid;
  c.state = sysfs_word(&d, "state");
  c.persistent_addr = sysfs_word(&d, "persistent_address");
  c.persistent_port = sysfs_number<std::uint32_t>(&d, "persistent_port");
  c.addr = sysfs_word(&d, "address");
  c.port = sysfs_number<std::uint32_t>(&d, "port");
  c.local_port = sysfs_number<std::uint32_t>(&d, "local_port");
  if (not_connected(d, "address")) {
    c.connected = false;
    c.addr = Fact<std::string>::absent();
    c.port = c.local_port = Fact<std::uint32_t>::absent();
  } else if (c.addr.has_value()) {
    c.connected = true;
  }
  c.recv_tmo_s = sysfs_number<std::uint32_t>(&d, "recv_tmo");
  c.ping_tmo_s = sysfs_number<std::uint32_t>(&d, "ping_tmo");
  c.header_digest = digest(d, "header_digest");
  c.data_digest = digest(d, "data_digest");
  c.max_recv_dlength_bytes = sysfs_number<std::uint64_t>(&d, "max_recv_dlength");
  c.max_xmit_dlength_bytes = sysfs_number<std::uint64_t>(&d, "max_xmit_dlength");
  return c;
}

Fact<bool> is_set(const SysfsDirectory& d, std::string_view name) {
  const auto* value = d.find(name);
  if (value == nullptr || !value->error.empty()) return {};
  return !is_unset(value->text);
}

facts::IscsiSession session_of(const SysfsDirectory& d, std::uint32_t sid) {
  facts::IscsiSession s;
  s.sid = sid;
  s.target = sysfs_word(&d, "targetname").value_or("");
  s.host = part_of_link(d.link, "host");
  s.iface = sysfs_word(&d, "ifacename");
  s.initiatorname = sysfs_word(&d, "initiatorname");
  s.isid = sysfs_word(&d, "isid");
  s.state = sysfs_word(&d, "state");
  s.target_state = sysfs_word(&d, "target_state");
  if (const auto tpgt = sysfs_number<std::int32_t>(&d, "tpgt"); tpgt.has_value())
    s.tpgt = *tpgt < 0 ? Fact<std::int32_t>::absent() : tpgt;
  s.recovery_tmo_s = sysfs_number<std::uint64_t>(&d, "recovery_tmo");
  s.abort_tmo_s = sysfs_number<std::uint64_t>(&d, "abort_tmo");
  s.lu_reset_tmo_s = sysfs_number<std::uint64_t>(&d, "lu_reset_tmo");
  s.tgt_reset_tmo_s = sysfs_number<std::uint64_t>(&d, "tgt_reset_tmo");
  s.initial_r2t = sysfs_flag(&d, "initial_r2t");
  s.immediate_data = sysfs_flag(&d, "immediate_data");
  s.first_burst_len_bytes = sysfs_number<std::uint64_t>(&d, "first_burst_len");
  s.max_burst_len_bytes = sysfs_number<std::uint64_t>(&d, "max_burst_len");
  s.max_outstanding_r2t = sysfs_number<std::uint32_t>(&d, "max_outstanding_r2t");
  s.erl = sysfs_number<std::uint32_t>(&d, "erl");
  s.chap_configured = is_set(d, "username");
  s.chap_mutual_configured = is_set(d, "username_in");
  s.told_by = {"sysfs"};
  return s;
}

// The transports are named tcp and iser, their drivers iscsi_tcp and iscsi_iser (open-iscsi, usr/iscsi_sysfs.c).
std::string transport_of_driver(std::string_view driver) {
  if (driver.starts_with("iscsi_")) driver.remove_prefix(6);
  return driver == "ib_iser" ? "iser" : std::string(driver);
}

facts::IscsiHost host_of(const SysfsText& sysfs, const SysfsDirectory& d, std::uint32_t number) {
  facts::IscsiHost h;
  h.number = number;
  h.netdev = sysfs_word(&d, "netdev");
  h.addr = not_connected(d, "ipaddress") ? Fact<std::string>::absent() : sysfs_word(&d, "ipaddress");
  h.hwaddress = sysfs_word(&d, "hwaddress");
  h.initiatorname = sysfs_word(&d, "initiatorname");
  const std::string path = "/class/scsi_host/host" + std::to_string(number);
  const auto* scsi = sysfs.find(path);
  h.driver = sysfs_word(scsi, "proc_name");
  h.state = sysfs_word(scsi, "state");
  h.can_queue = sysfs_number<std::uint32_t>(scsi, "can_queue");
  h.cmd_per_lun = sysfs_number<std::uint32_t>(scsi, "cmd_per_lun");
  return h;
}

void add_host(facts::IscsiSession& session, const std::map<std::uint32_t, const facts::IscsiHost*>& hosts) {
  if (!session.host.has_value()) return;
  const auto found = hosts.find(*session.host);
  if (found == hosts.end()) return;
  const auto& host = *found->second;
  session.netdev = host.netdev;
  session.initiator_addr = host.addr;
  session.can_queue = host.can_queue;
  session.cmd_per_lun = host.cmd_per_lun;
  if (host.driver.has_value()) {
    session.transport = transport_of_driver(*host.driver);
    session.offload = is_offload(*session.transport);
  }
}

class Builder {
 public:
  explicit Builder(const SysfsText& sysfs) : sysfs_(sysfs) {}

  SysfsStorage run() {
    for (const auto& d : sysfs_.directories) take(d);
    finish_sessions();
    finish_devices();
    return std::move(out_);
  }

 private:
  bool known(std::string_view path) const {
    return sysfs_.looked_at(path) || sysfs_.list_error(path).find("No such file") != std::string_view::npos;
  }

  void take(const SysfsDirectory& d) {
    if (in_class(d, "/class/iscsi_session/")) {
      const auto sid = number_behind("session", last_part(d.path));
      if (!sid.has_value()) return;
      auto session = session_of(d, *sid);
      // Without a name it tells nothing: it went away, or never came up.
      if (session.target.empty())
        out_.remarks.push_back(std::string(last_part(d.path)) +
                               (d.values.empty() || vanished(d) ? " vanished" : " has no target name"));
      else
        sessions_.emplace(*sid, std::move(session));
    } else if (in_class(d, "/class/iscsi_connection/")) {
      const auto name = last_part(d.path);
      const auto colon = name.find(':');
      const auto sid = number_behind("connection", name.substr(0, colon));
      const auto cid =
          colon == std::string_view::npos ? std::nullopt : base::number<std::uint32_t>(name.substr(colon + 1));
      if (sid.has_value() && cid && !d.values.empty() && !vanished(d))
        connections_[*sid].push_back(connection_of(d, *cid));
    } else if (in_class(d, "/class/iscsi_host/")) {
      const auto number = number_behind("host", last_part(d.path));
      if (number.has_value()) hosts_.push_back(host_of(sysfs_, d, *number));
    } else if (in_class(d, "/class/iscsi_transport/")) {
      transports_.emplace_back(last_part(d.path));
    } else if (in_class(d, "/block/")) {
      device(d);
    }
  }

  void finish_sessions() {
    std::map<std::uint32_t, const facts::IscsiHost*> by_number;
    for (const auto& host : hosts_) by_number.emplace(host.number, &host);
    std::vector<facts::IscsiSession> sessions;
    for (auto& [sid, session] : sessions_) {
      if (auto found = connections_.find(sid); found != connections_.end())
        session.connections = std::move(found->second);
      add_host(session, by_number);
      if (!session.connections.empty() && session.connections[0].persistent_addr.has_value())
        session.portal = portal_id(*session.connections[0].persistent_addr,
                                   session.connections[0].persistent_port.value_or(3260), session.tpgt);
      session.id = session_id(session);
      sessions.push_back(std::move(session));
    }
    if (known("/class/iscsi_session")) out_.sessions = std::move(sessions);
    if (known("/class/iscsi_host")) out_.hosts = std::move(hosts_);
    if (known("/class/iscsi_transport")) out_.transports = std::move(transports_);
  }

  const SysfsDirectory* below(std::string_view name, const char* rest) const {
    return sysfs_.find("/block/" + std::string(name) + rest);
  }

  void device(const SysfsDirectory& d) {
    facts::BlockDevice b;
    b.name = std::string(last_part(d.path));
    if (vanished(d)) {
      out_.remarks.push_back(b.name + " vanished");
      return;
    }
    const std::string_view link = d.link;
    b.dev = sysfs_word(&d, "dev");
    if (const auto sectors = sysfs_number<std::uint64_t>(&d, "size"); sectors.has_value())
      b.size_bytes = *sectors * 512;
    b.read_only = sysfs_flag(&d, "ro");
    b.alignment_offset_bytes = sysfs_number<std::int64_t>(&d, "alignment_offset");
    inflight(d, b);
    stat(d, b);
    queue(below(b.name, "/queue"), b);
    b.sid = link.empty() ? Fact<std::uint32_t>() : part_of_link(link, "session");
    if (!link.empty() && b.sid.is_unknown()) b.sid = Fact<std::uint32_t>::absent();
    scsi(below(b.name, "/device"), link, b);
    device_mapper(below(b.name, "/dm"), b);
    if (b.kind.empty()) b.kind = kind_by_name(b.name, link);
    names(b.name + "/holders", b.holders);
    names(b.name + "/slaves", b.slaves);
    partitions(b);
    b.id = b.wwid.value_or(b.name);
    devices_.push_back(std::move(b));
  }

  static std::string kind_by_name(std::string_view name, std::string_view link) {
    if (name.starts_with("nvme")) return "nvme";
    if (name.starts_with("vd")) return "virtio";
    return name.starts_with("sd") || link.find("/target") != std::string_view::npos ? "scsi" : "other";
  }

  static void inflight(const SysfsDirectory& d, facts::BlockDevice& b) {
    const auto* value = d.find("inflight");
    if (value == nullptr) return;
    const auto parts = base::fields(value->text);
    if (parts.size() != 2) return;
    if (const auto n = base::number<std::uint64_t>(parts[0])) b.inflight_read = *n;
    if (const auto n = base::number<std::uint64_t>(parts[1])) b.inflight_write = *n;
  }

  static void stat(const SysfsDirectory& d, facts::BlockDevice& b) {
    const auto* value = d.find("stat");
    if (value == nullptr) return;
    const auto parts = base::fields(value->text);
    if (parts.size() < 11) return;
    const auto at = [&](std::size_t i, Fact<std::uint64_t>& into, std::uint64_t unit = 1) {
      if (const auto n = base::number<std::uint64_t>(parts[i])) into = *n * unit;
    };
    at(0, b.read_ios);
    at(2, b.read_bytes, 512);
    at(3, b.read_ms);
    at(4, b.write_ios);
    at(6, b.write_bytes, 512);
    at(7, b.write_ms);
    at(9, b.io_ms);
    at(10, b.queue_ms);
  }

  static void queue(const SysfsDirectory* q, facts::BlockDevice& b) {
    if (q == nullptr) return;
    if (const auto* value = q->find("scheduler"); value != nullptr && value->error.empty()) {
      const auto open = value->text.find('['), close = value->text.find(']');
      if (open != std::string_view::npos && close != std::string_view::npos && close > open)
        b.scheduler = std::string(value->text.substr(open + 1, close - open - 1));
      else if (!value->text.empty() && value->text.find(' ') == std::string_view::npos)
        b.scheduler = std::string(value->text);
    }
    b.rotational = sysfs_flag(q, "rotational");
    b.nr_requests = sysfs_number<std::uint64_t>(q, "nr_requests");
    b.max_sectors_kib = sysfs_number<std::uint64_t>(q, "max_sectors_kb");
    b.max_hw_sectors_kib = sysfs_number<std::uint64_t>(q, "max_hw_sectors_kb");
    b.read_ahead_kib = sysfs_number<std::uint64_t>(q, "read_ahead_kb");
    b.logical_block_size_bytes = sysfs_number<std::uint64_t>(q, "logical_block_size");
    b.physical_block_size_bytes = sysfs_number<std::uint64_t>(q, "physical_block_size");
    b.optimal_io_size_bytes = sysfs_number<std::uint64_t>(q, "optimal_io_size");
    b.discard_max_bytes = sysfs_number<std::uint64_t>(q, "discard_max_bytes");
    b.discard_granularity_bytes = sysfs_number<std::uint64_t>(q, "discard_granularity");
    b.write_cache = sysfs_word(q, "write_cache");
  }

  void scsi(const SysfsDirectory* s, std::string_view link, facts::BlockDevice& b) {
    const auto block = link.rfind("/block/");
    std::string_view hctl = block == std::string_view::npos ? std::string_view{} : last_part(link.substr(0, block));
    if (!parse_hctl(hctl) && s != nullptr) hctl = last_part(s->link);
    if (const auto parsed = parse_hctl(hctl)) {
      b.kind = "scsi";
      b.hctl = std::string(hctl);
      b.host = parsed->host;
      b.lun = decode_lun(parsed->lun);
    }
    if (s == nullptr) return;
    b.wwid = sysfs_word(s, "wwid");
    if (b.wwid.has_value()) b.multipath_wwid = multipath_wwid(*b.wwid);
    b.serial = serial(s->find("vpd_pg80"));
    b.vendor = sysfs_word(s, "vendor");
    b.model = sysfs_word(s, "model");
    b.rev = sysfs_word(s, "rev");
    b.state = sysfs_word(s, "state");
    b.access_state = sysfs_word(s, "access_state");
    if (const auto* value = s->find("access_state"); value != nullptr && value->error == "Invalid argument")
      b.access_state = Fact<std::string>::absent();
    b.preferred_path = sysfs_flag(s, "preferred_path");
    b.dh_state = sysfs_word(s, "dh_state");
    b.queue_depth = sysfs_number<std::uint32_t>(s, "queue_depth");
    b.timeout_s = sysfs_number<std::uint32_t>(s, "timeout");
    b.eh_timeout_s = sysfs_number<std::uint32_t>(s, "eh_timeout");
    b.iorequest_count = sysfs_number<std::uint64_t>(s, "iorequest_cnt");
    b.iodone_count = sysfs_number<std::uint64_t>(s, "iodone_cnt");
    b.ioerr_count = sysfs_number<std::uint64_t>(s, "ioerr_cnt");
    b.iotmo_count = sysfs_number<std::uint64_t>(s, "iotmo_cnt");
    if (!b.hctl.has_value()) return;
    const auto* disk = sysfs_.find("/block/" + b.name + "/device/scsi_disk/" + *b.hctl);
    b.thin_provisioned = sysfs_flag(disk, "thin_provisioning");
    b.provisioning_mode = sysfs_word(disk, "provisioning_mode");
  }

  // Where the page was printed raw, the byte that tells its length may stand before the number itself.
  static Fact<std::string> serial(const SysfsDirectory::Value* value) {
    if (value == nullptr || !value->error.empty()) return {};
    auto text = value->text;
    if (!text.empty()) {
      const auto length = static_cast<std::size_t>(static_cast<unsigned char>(text.front()));
      if (length == text.size() - 1 || length == text.size()) text.remove_prefix(1);
    }
    text = base::trim(text);
    return text.empty() ? Fact<std::string>::absent() : Fact<std::string>(std::string(text));
  }

  void device_mapper(const SysfsDirectory* dm, facts::BlockDevice& b) {
    if (!b.name.starts_with("dm-")) {
      b.dm_name = b.dm_uuid = Fact<std::string>::absent();
      b.dm_suspended = Fact<bool>::absent();
      return;
    }
    b.sid = Fact<std::uint32_t>::absent();
    b.dm_name = sysfs_word(dm, "name");
    b.dm_uuid = sysfs_word(dm, "uuid");
    b.dm_suspended = sysfs_flag(dm, "suspended");
    const std::string uuid = b.dm_uuid.value_or("");
    b.kind = uuid.starts_with("mpath-")   ? "multipath"
             : uuid.starts_with("LVM-")   ? "lvm"
             : uuid.starts_with("CRYPT-") ? "crypt"
                                          : "dm";
    if (b.kind == "multipath") b.multipath_wwid = uuid.substr(6);
  }

  void names(const std::string& path, std::vector<std::string>& into) const {
    if (const auto* list = sysfs_.names("/block/" + path))
      for (const auto name : *list) into.emplace_back(name);
  }

  void partitions(facts::BlockDevice& b) {
    for (const auto* part : partitions_of(b.name)) {
      facts::BlockPartition p;
      p.name = std::string(last_part(part->path));
      p.start_sectors = sysfs_number<std::uint64_t>(part, "start");
      if (p.start_sectors.has_value()) p.start_bytes = *p.start_sectors * 512;
      if (const auto size = sysfs_number<std::uint64_t>(part, "size"); size.has_value()) p.size_bytes = *size * 512;
      p.alignment_offset_bytes = sysfs_number<std::uint64_t>(part, "alignment_offset");
      names(b.name + "/" + p.name + "/holders", b.holders);
      b.partitions.push_back(std::move(p));
    }
    std::sort(b.holders.begin(), b.holders.end());
    b.holders.erase(std::unique(b.holders.begin(), b.holders.end()), b.holders.end());
  }

  // "/block/sda/sda1": gathered once, for all disks.
  const std::vector<const SysfsDirectory*>& partitions_of(const std::string& name) {
    if (!partitions_found_) {
      partitions_found_ = true;
      for (const auto& d : sysfs_.directories) {
        if (!d.path.starts_with("/block/")) continue;
        const auto rest = d.path.substr(7);
        const auto slash = rest.find('/');
        if (slash == std::string_view::npos || rest.find('/', slash + 1) != std::string_view::npos) continue;
        if (rest.substr(slash + 1).starts_with(rest.substr(0, slash)) && d.find("start") != nullptr)
          partitions_[std::string(rest.substr(0, slash))].push_back(&d);
      }
    }
    return partitions_[name];
  }

  void finish_devices() {
    if (known("/block") || !devices_.empty()) {
      std::vector<facts::MultipathMap> maps;
      std::unordered_map<std::string, const facts::BlockDevice*> by_name;
      for (const auto& b : devices_) by_name.emplace(b.name, &b);
      for (const auto& b : devices_)
        if (b.kind == "multipath") maps.push_back(map_of(b, by_name));
      out_.maps = std::move(maps);
      out_.devices = std::move(devices_);
    }
  }

  static facts::MultipathMap map_of(const facts::BlockDevice& b,
                                    const std::unordered_map<std::string, const facts::BlockDevice*>& by_name) {
    facts::MultipathMap m;
    m.id = *b.multipath_wwid;
    m.wwid = m.id;
    m.alias = b.dm_name;
    m.device = b.name;
    m.dev = b.dev;
    m.kind = "dm-multipath";
    m.size_bytes = b.size_bytes;
    if (b.dm_suspended.has_value()) m.state = *b.dm_suspended ? "suspend" : "active";
    if (b.read_only.has_value()) m.write_protect = *b.read_only ? "ro" : "rw";
    m.told_by = {"sysfs"};
    for (const auto& slave : b.slaves) {
      facts::MultipathPath p;
      p.device = slave;
      p.map = m.id;
      if (const auto found = by_name.find(slave); found != by_name.end()) {
        p.dev = found->second->dev;
        p.hctl = found->second->hctl;
        p.host = found->second->host;
        p.lun = found->second->lun;
        p.dev_state = found->second->state;
        if (m.vendor.is_unknown()) m.vendor = found->second->vendor;
        if (m.product.is_unknown()) m.product = found->second->model;
        if (m.rev.is_unknown()) m.rev = found->second->rev;
      }
      m.paths.push_back(std::move(p));
    }
    return m;
  }

  const SysfsText& sysfs_;
  SysfsStorage out_;
  std::map<std::uint32_t, facts::IscsiSession> sessions_;
  std::map<std::uint32_t, std::vector<facts::IscsiConnection>> connections_;
  std::vector<facts::IscsiHost> hosts_;
  std::vector<std::string> transports_;
  std::vector<facts::BlockDevice> devices_;
  std::unordered_map<std::string, std::vector<const SysfsDirectory*>> partitions_;
  bool partitions_found_ = false;
};

}  // namespace

SysfsStorage storage_of_sysfs(const SysfsText& sysfs) { return Builder(sysfs).run(); }

}  // namespace probes
