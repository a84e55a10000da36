// Whether the VMs whose disks lie on NFS here can be moved to another node while they run: one verdict per volume, from
// the access mode that was declared, the locks (qemu locks each image, on both nodes during the move), and whether the
// server answers at all.
#pragma once

#include <cstdint>
#include <vector>

#include "audit/eval/derive.h"
#include "audit/finding.h"

namespace audit {

// Of the volume that one mount shows.
LiveMigration live_migration(const Context& context, std::uint32_t mount);

// Of all that carry disks of VMs, in the order of the mounts; a volume that several mounts show is told once for each
// VM.
std::vector<LiveMigration> live_migrations(const Context& context);

}  // namespace audit
