// Which place asked for which mount: kernel command line, fstab, mount units, Trident's tracking files and declared
// Kubernetes objects joined to the NFS mounts of the node, and what nfsmount.conf adds.
#pragma once

#include <vector>

#include "audit/facts/config.h"
#include "audit/facts/declared.h"
#include "audit/facts/facts.h"
#include "audit/facts/nfs.h"

namespace probes {

// What asked for this mount, or nothing that can be told. fstab: the line with this mount point, by preference one that
// also names this source; `same_source` says whether it does. Trident, for mounts below the kubelet's directory: the
// file that lists the mount point as published, else the one with the volume's name, else the one with this server and
// path. A file that names the mount and no options asked for none: readable and silent is not "cannot tell".
// Behind these: a mount unit with this mount point that no generator made from fstab; a declared PersistentVolume by
// name, else by server and path (its own options, else those of its Trident backend); the only declared StorageClass of
// the volume's driver. The root over NFS belongs to the kernel command line. nfsmount.conf fills in what the place does
// not name, where the node's own mount.nfs makes the mount; alone it is a place of its own.
facts::Fact<facts::AskedOptions> asked_for(const facts::NfsMount& mount, const facts::Config& config,
                                           const facts::Declared& declared = {});

// Tells it again for mounts that no file of the node names, after more was declared.
void join_declared(facts::Facts& facts);

}  // namespace probes
