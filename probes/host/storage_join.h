// Sessions, records, disks, maps and mounts joined: who belongs to whom, and who uses it. Works on facts alone, whatever
// text or file they came from.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "audit/facts/facts.h"
#include "probes/host/iscsi_conf.h"

namespace probes {

using RecordValues = std::map<std::string, std::map<std::string, NodeRecordText::Value>>;  // by path of the record

// iscsi.sessions[].record and node_records[].logged_in.
void join_records(facts::Facts& facts);
// iscsi.sessions[].settings: live value, record and iscsid.conf side by side.
void join_settings(facts::Facts& facts, const RecordValues& records);
// iscsi.targets and iscsi.portals from sessions, node records and Trident's tracking files.
void join_targets(facts::Facts& facts);
// Sessions, disks and the paths of maps: session, target, portal, map, siblings, missing_paths, iscsi.
void join_paths(facts::Facts& facts);
// users and used_directly, from the mounts of block devices.
void join_users(facts::Facts& facts, const std::vector<facts::Mount>& mounts);

// "192.0.2.11:3260-iqn.2001-04.com.example:sn.1-lun-5", the directory of the kubelet's in-tree iSCSI plugin.
struct IscsiDirectory {
  std::string portal;  // id, without a tag
  std::string target;
  std::uint64_t lun = 0;
};
std::optional<IscsiDirectory> parse_iscsi_directory(std::string_view mount_point);

}  // namespace probes
