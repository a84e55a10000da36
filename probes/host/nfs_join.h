// The NFS client of a node, put together from its mount table and its mountstats: mounts, the transports that they
// share, the servers behind them.
#pragma once

#include <vector>

#include "audit/facts/mount.h"
#include "audit/facts/nfs.h"
#include "probes/host/mountstats.h"
#include "probes/parsed.h"

namespace probes {

// Mounts of kind nfs, in the order of the table; where the table is empty, those of mountstats. An entry of mountstats
// belongs to the mount with its mount point and source; of several on one mount point the first to the first.
//
// same_as: with a device number, the same number and the same source, or a source that is a subdirectory of the other's
// (then parent_export too), or the same number and the same age in mountstats. Without one, equal options, transports
// and counters that show work. Counters (ops, bytes, events) stay with the first mount of a super block.
//
// Clients: as the kernel shares them, by address, port (2049 when none is printed), version, transport and its
// security. Where no address is printed (mountstats alone): equal server name and one source port in common, or equal
// xprt lines where all ports are 0. Ids are "addr:port vers proto[ xprtsec]"; where that would name two clients, the
// mount point of the first mount is added to the later one's.
//
// Notes: entries of mountstats that no mount of the table has (their line is that of mountstats).
Parsed<facts::Nfs> join_nfs(const std::vector<facts::Mount>& mounts, std::vector<MountstatsEntry> entries);

}  // namespace probes
