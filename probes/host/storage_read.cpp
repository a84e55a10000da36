// The iSCSI, block and multipath probes: /sys, files of open-iscsi and multipath-tools, and where they are part of a
// copy or a paste, what the tools print.
#include <algorithm>
#include <set>
#include <unordered_map>

#include "audit/base/text.h"
#include "probes/host/iscsi_conf.h"
#include "probes/host/iscsi_names.h"
#include "probes/host/iscsiadm.h"
#include "probes/host/mountinfo.h"
#include "probes/host/multipath_conf.h"
#include "probes/host/multipath_text.h"
#include "probes/host/storage_join.h"
#include "probes/host/storage_merge.h"
#include "probes/host/storage_sysfs.h"
#include "probes/host/storage_text.h"
#include "probes/host/sysfs_walk.h"
#include "probes/probe.h"

namespace probes {

namespace {

using base::ErrorKind;
using facts::Fact;

// In a copy, a file that is not part of it deserves no row of its own: most copies are of nodes without iSCSI.
void drop_skipped(Reading& reading) {
  auto& rows = reading.facts().sources;
  if (!rows.empty() && rows.back().status == "skipped") rows.pop_back();
}

base::Result<std::string> optional_file(Reading& reading, const std::string& path) {
  auto text = reading.file(path);
  if (!text) drop_skipped(reading);
  return text;
}

// --- /sys ----------------------------------------------------------------------------------------------------------

// Disks of sessions, paths and maps, and what lies on these; local volumes of device mapper are none of ours.
void keep_network_storage(std::vector<facts::BlockDevice>& devices) {
  std::unordered_map<std::string, std::size_t> by_name;
  for (std::size_t i = 0; i < devices.size(); ++i) by_name.emplace(devices[i].name, i);
  std::vector<bool> kept(devices.size(), false);
  std::vector<std::size_t> open;
  const auto keep = [&](std::size_t i) {
    if (kept[i]) return;
    kept[i] = true;
    open.push_back(i);
  };
  std::unordered_map<std::string, std::vector<std::size_t>> on;  // device to those that lie on it
  for (std::size_t i = 0; i < devices.size(); ++i) {
    for (const auto& slave : devices[i].slaves) on[slave].push_back(i);
    if (devices[i].sid.has_value()) keep(i);
    if (devices[i].sid.is_unknown() && devices[i].kind == "scsi") keep(i);  // a paste without its links
    if (devices[i].kind != "multipath") continue;
    keep(i);
    for (const auto& slave : devices[i].slaves)
      if (const auto found = by_name.find(slave); found != by_name.end()) keep(found->second);
  }
  while (!open.empty()) {
    const auto i = open.back();
    open.pop_back();
    for (const auto& holder : devices[i].holders)
      if (const auto found = by_name.find(holder); found != by_name.end()) keep(found->second);
    for (const auto upper : on[devices[i].name]) keep(upper);
    for (const auto& partition : devices[i].partitions)
      for (const auto upper : on[partition.name]) keep(upper);
  }
  std::size_t next = 0;
  std::erase_if(devices, [&](const facts::BlockDevice&) { return !kept[next++]; });
}

void read_sysfs(Reading& reading) {
  auto& facts = reading.facts();
  const auto text = reading.answer(storage_question);
  auto& row = reading.last_row();
  const std::string given = reading.host().name_of("sysfs");
  row.name = given == "sysfs" ? "/sys/class/iscsi_session" : given;
  if (!text) return;
  auto parsed = parse_sysfs_text(*text);
  auto storage = storage_of_sysfs(parsed.facts);
  reading.note(parsed.notes);
  for (const auto& why : parsed.facts.cut) reading.note({{0, why, true}});
  for (const auto& why : storage.remarks) reading.note({{0, why, true}});
  if (storage.sessions.is_unknown()) {
    const auto why = parsed.facts.list_error("/class/iscsi_session");
    row.status = why.find("ermission") != std::string_view::npos ? "denied" : "skipped";
    row.detail = why.empty() ? "not part of this capture" : std::string(why);
  }
  facts.iscsi.sessions = std::move(storage.sessions);
  facts.iscsi.hosts = std::move(storage.hosts);
  facts.iscsi.transports = std::move(storage.transports);
  if (given != "sysfs" && storage.devices.is_unknown()) return;
  facts::Source block{"block", given == "sysfs" ? "/sys/block" : given, "ok", "", {}};
  if (storage.devices.has_value()) {
    keep_network_storage(*storage.devices);
    facts.block.devices = std::move(storage.devices);
    facts.multipath.maps = std::move(storage.maps);
  } else {
    const auto why = parsed.facts.list_error("/block");
    block.status = why.find("ermission") != std::string_view::npos ? "denied" : "skipped";
    block.detail = why.empty() ? "not part of this capture" : std::string(why);
  }
  facts.sources.push_back(std::move(block));
}

// --- what iscsiadm prints ------------------------------------------------------------------------------------------

base::Result<std::string> optional_command(Reading& reading, const char* name) {
  auto text = reading.command(name);
  if (!text) drop_skipped(reading);
  return text;
}

void take_sessions(Reading& reading, Parsed<SessionText> parsed) {
  reading.note(parsed.notes);
  add_sessions(reading.facts(), std::move(parsed.facts));
}

void take_session_hosts(facts::Facts& facts, std::string_view text) {
  if (!facts.iscsi.sessions.has_value()) return;
  for (const auto& [sid, host] : parse_session_hosts(text))
    for (auto& session : *facts.iscsi.sessions)
      if (session.sid.is(sid) && session.host.is_unknown()) session.host = host;
}

void read_iscsiadm(Reading& reading) {
  if (reading.facts().iscsi.sessions.has_value() && reading.host().live()) return;
  for (const char* name : {"iscsi-p3", "iscsi-p1"})
    if (const auto text = optional_command(reading, name)) take_sessions(reading, parse_session_print(*text));
  if (const auto text = optional_command(reading, "iscsi-session")) take_sessions(reading, parse_session_list(*text));
}

// --- pasted terminal text ------------------------------------------------------------------------------------------

void take_maps(Reading& reading, Parsed<MultipathText> parsed);

void read_pasted(Reading& reading) {
  for (const GivenText& given : reading.given("text")) {
    const auto found = storage_sections(given.text);
    if (found.session_list.empty() && found.session_print.empty() && found.session_hosts.empty() &&
        found.multipath_tree.empty())
      continue;
    reading.given_row(given);
    if (!found.session_print.empty()) take_sessions(reading, parse_session_print(found.session_print));
    if (!found.session_list.empty()) take_sessions(reading, parse_session_list(found.session_list));
    take_session_hosts(reading.facts(), found.session_hosts);
    if (!found.multipath_tree.empty())
      take_maps(reading, parse_multipath_tree(found.multipath_tree, MultipathPrint::ll, given.file));
  }
}

// --- files of open-iscsi -------------------------------------------------------------------------------------------

void read_initiatorname(Reading& reading) {
  auto& iscsi = reading.facts().iscsi;
  const std::string path = "/etc/iscsi/initiatorname.iscsi";
  const auto text = optional_file(reading, path);
  if (!text) return;
  auto parsed = parse_initiatorname(*text);
  reading.note(parsed.notes);
  iscsi.initiatorname = std::move(parsed.facts.name);
  iscsi.initiatorname_count = parsed.facts.count;
  iscsi.initiatorname_path = reading.host().name_of(path);
}

void read_iscsid_conf(Reading& reading) {
  auto& iscsi = reading.facts().iscsi;
  const std::string path = "/etc/iscsi/iscsid.conf";
  const auto text = optional_file(reading, path);
  if (!text) {
    if (text.error().kind == ErrorKind::absent) iscsi.iscsid_conf = Fact<std::vector<facts::IscsidConfEntry>>::absent();
    return;
  }
  const std::string name = reading.host().name_of(path);
  auto parsed = parse_iscsid_conf(*text, name);
  reading.note(parsed.notes);
  iscsi.iscsid_conf = std::move(parsed.facts);
  iscsi.iscsid_conf_path = name;
}

void take_records(Reading& reading, std::string_view text, const std::string& path, std::vector<NodeRecordText>& all) {
  auto parsed = parse_node_records(text, path);
  reading.note(parsed.notes);
  for (auto& record : parsed.facts) all.push_back(std::move(record));
}

// TARGET/ADDRESS,PORT,TAG/INTERFACE, or before open-iscsi 2.0-872 TARGET/ADDRESS,PORT as a file.
bool read_record_tree(Reading& reading, const std::string& root, std::vector<NodeRecordText>& all) {
  const auto targets = reading.list(root);
  if (!targets) {
    drop_skipped(reading);
    return false;
  }
  constexpr std::size_t most = 16384;
  for (const auto& target : *targets) {
    const auto portals = reading.host().list(root + "/" + target);
    if (!portals) continue;
    for (const auto& portal : *portals) {
      const std::string at = root + "/" + target + "/" + portal;
      const auto ifaces = reading.host().list(at);
      std::vector<std::string> files;
      if (ifaces)
        for (const auto& iface : *ifaces) files.push_back(at + "/" + iface);
      else
        files.push_back(at);
      for (const auto& file : files) {
        if (all.size() >= most) return true;
        const auto text = reading.host().read(file);
        if (!text) {
          reading.note({{0, file + ": " + text.error().message, true}});
          continue;
        }
        take_records(reading, *text, file, all);
      }
    }
  }
  return true;
}

std::vector<NodeRecordText> read_node_records(Reading& reading) {
  auto& iscsi = reading.facts().iscsi;
  std::vector<NodeRecordText> all;
  bool known = false;
  for (const char* root : {"/var/lib/iscsi/nodes", "/etc/iscsi/nodes"})
    known = read_record_tree(reading, root, all) || known;
  if (const auto text = optional_command(reading, "node-record")) {
    take_records(reading, *text, reading.host().name_of("node-record"), all);
    known = true;
  }
  std::vector<facts::IscsiNodeRecord> records;
  for (const auto& record : all) records.push_back(record.record);
  if (const auto text = optional_command(reading, "nodes")) {
    auto parsed = parse_node_list(*text);
    reading.note(parsed.notes);
    for (auto& record : parsed.facts) {
      const bool there = std::any_of(records.begin(), records.end(), [&](const auto& r) {
        return r.target == record.target && r.portal == record.portal &&
               (r.iface == record.iface || record.iface.is_unknown());
      });
      if (!there) records.push_back(std::move(record));
    }
    known = true;
  }
  if (known) iscsi.node_records = std::move(records);
  return all;
}

void read_ifaces(Reading& reading) {
  for (const std::string root : {"/var/lib/iscsi/ifaces", "/etc/iscsi/ifaces"}) {
    const auto names = reading.list(root);
    if (!names) {
      drop_skipped(reading);
      continue;
    }
    std::vector<facts::IscsiIface> ifaces = reading.facts().iscsi.ifaces.value_or({});
    for (const auto& name : *names) {
      const auto text = reading.host().read(root + "/" + name);
      if (!text) continue;
      auto parsed = parse_iface_record(*text, root + "/" + name);
      reading.note(parsed.notes);
      ifaces.push_back(std::move(parsed.facts));
    }
    reading.facts().iscsi.ifaces = std::move(ifaces);
  }
}

// --- multipath -----------------------------------------------------------------------------------------------------

void take_maps(Reading& reading, Parsed<MultipathText> parsed) {
  auto& multipath = reading.facts().multipath;
  reading.note(parsed.notes);
  merge_maps(multipath.maps, std::move(parsed.facts.maps));
  for (auto& notice : parsed.facts.notices) multipath.notices.push_back(std::move(notice));
  if (parsed.facts.paths.empty()) return;
  auto paths = multipath.paths.value_or({});
  for (auto& path : parsed.facts.paths) paths.push_back(std::move(path));
  multipath.paths = std::move(paths);
}

bool has_maps(const Reading& reading, const facts::Facts& facts) {
  return !reading.host().live() || (facts.multipath.maps.has_value() && !facts.multipath.maps->empty());
}

void read_maps(Reading& reading) {
  if (!has_maps(reading, reading.facts())) return;  // no question to the daemon where the kernel has no map
  const auto source = [&](const char* name) { return reading.host().name_of(name); };
  const auto json = optional_command(reading, "multipath-json");
  if (json) take_maps(reading, parse_multipath_json(*json, source("multipath-json")));
  if (!json || !reading.host().live()) {
    if (const auto text = optional_command(reading, "multipath-ll"))
      take_maps(reading, parse_multipath_tree(*text, MultipathPrint::ll, source("multipath-ll")));
    if (const auto text = optional_command(reading, "multipath-v4"))
      take_maps(reading, parse_multipath_tree(*text, MultipathPrint::v4, source("multipath-v4")));
    if (const auto text = optional_command(reading, "multipath-l"))
      take_maps(reading, parse_multipath_tree(*text, MultipathPrint::l, source("multipath-l")));
  }
  if (const auto text = optional_command(reading, "multipath-paths"))
    take_maps(reading, parse_multipath_paths(*text, source("multipath-paths")));
}

void read_running_conf(Reading& reading) {
  if (!has_maps(reading, reading.facts())) return;
  const auto text = optional_command(reading, "multipath-config");
  if (!text) return;
  std::uint32_t block = 1;
  auto parsed = parse_multipath_conf(*text, reading.host().name_of("multipath-config"), block);
  reading.note(parsed.notes);
  mark_overridden(parsed.facts);
  reading.facts().multipath.running_conf = std::move(parsed.facts);
}

void read_multipath_conf(Reading& reading) {
  auto& multipath = reading.facts().multipath;
  const std::string path = "/etc/multipath.conf";
  const auto text = optional_file(reading, path);
  if (!text) {
    if (text.error().kind == ErrorKind::absent) multipath.conf = Fact<std::vector<facts::MultipathConfEntry>>::absent();
    return;
  }
  std::uint32_t block = 1;
  auto parsed = parse_multipath_conf(*text, reading.host().name_of(path), block);
  reading.note(parsed.notes);
  auto entries = std::move(parsed.facts);
  const std::string directory = "/etc/multipath/conf.d";
  if (const auto names = reading.host().list(directory)) {
    for (const auto& name : *names) {
      if (!name.ends_with(".conf")) continue;
      const auto more = reading.file(directory + "/" + name);
      if (!more) continue;
      auto added = parse_multipath_conf(*more, directory + "/" + name, block);
      reading.note(added.notes);
      for (auto& entry : added.facts) entries.push_back(std::move(entry));
    }
  }
  mark_overridden(entries);
  multipath.conf = std::move(entries);
}

}  // namespace

void read_storage(Reading& reading) {
  reading.set_probe("iscsi");
  read_sysfs(reading);
  read_iscsiadm(reading);
  read_pasted(reading);
  read_initiatorname(reading);
  read_iscsid_conf(reading);
  const auto records = read_node_records(reading);
  read_ifaces(reading);
  reading.set_probe("multipath");
  read_maps(reading);
  read_running_conf(reading);
  read_multipath_conf(reading);
  join_storage(reading.facts(), records);
  // Not where there is no disk to be used: the table of a large node is long.
  if (!reading.facts().block.devices.has_value() || reading.mount_table().empty()) return;
  join_block_users(reading.facts(), parse_mountinfo(reading.mount_table(), Keep::all).facts);
}

}  // namespace probes
