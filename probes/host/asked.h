// Which place asked for which mount: fstab lines and Trident's tracking files joined to the NFS mounts of the node.
#pragma once

#include <vector>

#include "audit/facts/config.h"
#include "audit/facts/nfs.h"

namespace probes {

// What asked for this mount, or nothing that can be told. fstab: the line with this mount point, by preference one that
// also names this source; `same_source` says whether it does. Trident, for mounts below the kubelet's directory: the
// file that lists the mount point as published, else the one with the volume's name, else the one with this server and
// path. A file that names the mount and no options asked for none: readable and silent is not "cannot tell".
facts::Fact<facts::AskedOptions> asked_for(const facts::NfsMount& mount, const facts::Config& config);

}  // namespace probes
