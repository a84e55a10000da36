// A node with volumes over iSCSI: one target, two portals, a session to each, one LUN as a map of two paths, on it a
// file system of a pod. Nothing is wrong with it.
#pragma once

#include <fmt/format.h>

#include <string>

#include "tests/eval/fixture.h"

namespace fixture {

inline const std::string array_target = "iqn.1992-08.com.example:sn.1";
inline const std::string lun_wwid = "3600a098038314535622452575a6c7871";

inline facts::IscsiSetting setting(const std::string& key, const std::string& value) {
  facts::IscsiSetting s;
  s.key = key;
  s.live = value;
  s.record = value;
  s.config = value;
  s.builtin = key == "node.session.timeo.replacement_timeout" ? "120" : "5";
  s.multipath = facts::Fact<std::string>::absent();
  return s;
}

// Number n (1, 2 ...) from 192.0.2.10n over storage interface n to 192.0.2.n.
inline facts::IscsiSession session(std::uint32_t n, const std::string& target = array_target) {
  facts::IscsiSession s;
  const std::string addr = fmt::format("192.0.2.{}", n);
  s.target = target;
  s.portal = fmt::format("{}:3260,{}", addr, 1000 + n);
  s.iface = "default";
  s.id = fmt::format("{} {} default", target, *s.portal);
  s.sid = n;
  s.host = 10 + n;
  s.tpgt = static_cast<std::int32_t>(1000 + n);
  s.transport = "tcp";
  s.offload = false;
  s.flash = false;
  s.netdev = facts::Fact<std::string>::absent();
  s.initiatorname = "iqn.1994-05.com.example:worker-1";
  s.initiator_addr = fmt::format("192.0.2.{}", 100 + n);
  s.state = "LOGGED_IN";
  s.recovery_tmo_s = 5U;
  s.abort_tmo_s = 15U;
  s.lu_reset_tmo_s = 30U;
  s.tgt_reset_tmo_s = 30U;
  s.initial_r2t = false;
  s.immediate_data = true;
  s.first_burst_len_bytes = 262144U;
  s.max_burst_len_bytes = 16776192U;
  s.chap_configured = true;
  s.chap_mutual_configured = true;
  s.can_queue = 113U;
  s.cmd_per_lun = 32U;
  s.record = fmt::format("/var/lib/iscsi/nodes/{}/{},3260,{}/default", target, addr, 1000 + n);
  facts::IscsiConnection connection;
  connection.state = "up";
  connection.connected = true;
  connection.persistent_addr = addr;
  connection.persistent_port = 3260U;
  connection.addr = addr;
  connection.port = 3260U;
  connection.recv_tmo_s = 5U;
  connection.ping_tmo_s = 5U;
  connection.header_digest = "None";
  connection.data_digest = "None";
  connection.max_recv_dlength_bytes = 262144U;
  connection.max_xmit_dlength_bytes = 262144U;
  s.connections = {connection};
  s.settings = {setting("node.session.timeo.replacement_timeout", "5"),
                setting("node.conn[0].timeo.noop_out_interval", "5"),
                setting("node.conn[0].timeo.noop_out_timeout", "5")};
  s.told_by = {"sysfs"};
  return s;
}

inline facts::IscsiNodeRecord record(const facts::IscsiSession& session) {
  facts::IscsiNodeRecord r;
  r.path = *session.record;
  r.target = session.target;
  r.portal = session.portal;
  r.iface = session.iface;
  r.tpgt = session.tpgt;
  r.transport = "tcp";
  r.startup = "manual";
  r.scan = "manual";
  r.nr_sessions = 1U;
  r.max_connections = 1U;
  r.replacement_timeout_s = 5U;
  r.noop_out_interval_s = 5U;
  r.noop_out_timeout_s = 5U;
  r.login_timeout_s = 15U;
  r.initial_login_retry_max = 8U;
  r.queue_depth = 32U;
  r.cmds_max = 128U;
  r.auth_method = "CHAP";
  r.chap_configured = true;
  r.chap_mutual_configured = true;
  r.link_local = false;
  r.logged_in = true;
  return r;
}

inline facts::BlockDevice disk(const std::string& name, const facts::IscsiSession& session, std::uint64_t lun) {
  facts::BlockDevice d;
  d.name = name;
  d.id = "naa." + lun_wwid.substr(1);
  d.kind = "scsi";
  d.wwid = d.id;
  d.multipath_wwid = lun_wwid;
  d.hctl = fmt::format("{}:0:0:{}", *session.host, lun);
  d.host = session.host;
  d.lun = lun;
  d.session = session.id;
  d.sid = session.sid;
  d.target = session.target;
  d.portal = session.portal;
  d.map = lun_wwid;
  d.vendor = "NETAPP";
  d.model = "LUN C-Mode";
  d.state = "running";
  d.access_state = "active/optimized";
  d.queue_depth = 32U;
  d.timeout_s = 30U;
  d.ioerr_count = 0U;
  d.iotmo_count = 0U;
  d.inflight_read = 0U;
  d.inflight_write = 0U;
  d.used_directly = false;
  return d;
}

inline facts::MultipathPath path(const facts::BlockDevice& disk) {
  facts::MultipathPath p;
  p.device = disk.name;
  p.hctl = disk.hctl;
  p.host = disk.host;
  p.lun = disk.lun;
  p.group = 1U;
  p.dm_state = "active";
  p.checker_state = "ready";
  p.dev_state = "running";
  p.prio = 50;
  p.session = disk.session;
  p.sid = disk.sid;
  p.target = disk.target;
  p.portal = disk.portal;
  p.access_state = disk.access_state;
  return p;
}

inline facts::BlockUse mounted(const std::string& target, const std::string& pv, const std::string& pod) {
  facts::BlockUse use;
  use.kind = "mount";
  use.name = target;
  use.fs_type = "ext4";
  use.read_only = false;
  use.options_text = "rw,relatime";
  facts::KubeletVolume volume;
  volume.pv = pv;
  volume.pod_namespace = "demo";
  volume.pod_name = pod;
  use.kubelet = volume;
  use.volume = pv;
  return use;
}

inline void add_target(facts::Facts& f, const std::string& name) {
  facts::IscsiTarget target;
  target.name = name;
  target.expected_luns = std::vector<facts::IscsiExpectedLun>{};
  for (const auto& s : *f.iscsi.sessions) {
    if (s.target != name) continue;
    target.sessions.push_back(s.id);
    target.portals.push_back(*s.portal);
    target.expected_portals.push_back({*s.portal, "session", s.id, facts::Fact<std::string>::absent()});
    target.expected_portals.push_back({*s.portal, "node record", *s.record, "manual"});
  }
  f.iscsi.targets.push_back(target);
}

inline void add_portal(facts::Facts& f, const facts::IscsiSession& s) {
  facts::IscsiPortal portal;
  portal.id = *s.portal;
  portal.addr = *s.connections[0].persistent_addr;
  portal.port = 3260;
  portal.tag = *s.tpgt;
  portal.zone = facts::Fact<std::string>::absent();
  portal.targets = {s.target};
  portal.sessions = {s.id};
  portal.origins = {"session", "node record"};
  portal.interface = fmt::format("ens{}", *s.sid);
  f.iscsi.portals.push_back(portal);
}

inline facts::Facts storage_node() {
  facts::Facts f;
  f.node.name = "worker-1";
  f.node.root = "/";
  f.node.trident = true;
  f.sources = {{"iscsi", "/sys/class/iscsi_session", "ok", "", {}}, {"block", "/sys/block", "ok", "", {}}};
  f.iscsi.sessions = std::vector{session(1), session(2)};
  f.iscsi.node_records = std::vector{record(session(1)), record(session(2))};
  f.iscsi.iscsid_conf = std::vector<facts::IscsidConfEntry>{};
  f.iscsi.initiatorname = "iqn.1994-05.com.example:worker-1";
  f.iscsi.root_on_iscsi = false;
  add_target(f, array_target);
  for (const auto& s : *f.iscsi.sessions) add_portal(f, s);
  f.block.devices = std::vector{disk("sda", session(1), 7), disk("sdb", session(2), 7)};
  facts::MultipathMap map;
  map.id = lun_wwid;
  map.wwid = lun_wwid;
  map.alias = lun_wwid;
  map.kind = "dm-multipath";
  map.iscsi = true;
  map.vendor = "NETAPP";
  map.product = "LUN C-Mode";
  map.state = "active";
  map.queue_if_no_path = true;
  map.paths = {path((*f.block.devices)[0]), path((*f.block.devices)[1])};
  map.missing_paths = std::vector<std::string>{};
  map.users = {mounted("/var/lib/kubelet/pods/1/volumes/mount", "pvc-1", "db-0")};
  map.checkers_ran = true;
  f.multipath.maps = std::vector{map};
  return f;
}

}  // namespace fixture
