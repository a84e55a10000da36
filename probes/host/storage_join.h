// Who belongs to whom below a file system: session, disk, map, node record, tracking file, mount. Nothing is read here.
#pragma once

#include <vector>

#include "audit/facts/facts.h"
#include "probes/host/iscsi_conf.h"

namespace probes {

// Disks to sessions, maps to disks, targets and portals of all that names them. `records` as in iscsi.node_records.
void join_storage(facts::Facts& facts, const std::vector<NodeRecordText>& records);

// Who uses disks and maps: `mounts` is the whole mount table.
void join_block_users(facts::Facts& facts, const std::vector<facts::Mount>& mounts);

// What another text tells of the same maps: `told` is better informed than what is there.
void merge_maps(facts::Fact<std::vector<facts::MultipathMap>>& maps, std::vector<facts::MultipathMap> told);

}  // namespace probes
