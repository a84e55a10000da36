// Sessions, hosts, disks and maps as /sys shows them. Source: drivers/scsi/scsi_transport_iscsi.c,
// drivers/scsi/scsi_sysfs.c, drivers/md/dm-sysfs.c, block/genhd.c, Documentation/ABI/stable/sysfs-block.
#pragma once

#include <string>
#include <vector>

#include "audit/facts/block.h"
#include "audit/facts/iscsi.h"
#include "audit/facts/multipath.h"
#include "probes/host/sysfs_text.h"

namespace probes {

struct SysfsStorage {
  facts::Fact<std::vector<facts::IscsiSession>> sessions;  // unknown: /sys/class/iscsi_session was not looked at
  facts::Fact<std::vector<facts::IscsiHost>> hosts;
  facts::Fact<std::vector<std::string>> transports;
  facts::Fact<std::vector<facts::BlockDevice>> devices;
  facts::Fact<std::vector<facts::MultipathMap>> maps;
  std::vector<std::string> remarks;  // entries that vanished or could not be told
};

SysfsStorage storage_of_sysfs(const SysfsText& sysfs);

}  // namespace probes
