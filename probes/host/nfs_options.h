// NFS mount options and the source of an NFS mount. One table serves what the kernel prints (fs/nfs/super.c) and what
// users ask for (nfs(5)).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "audit/facts/mount.h"
#include "audit/facts/nfs.h"

namespace probes {

// The server and path of "server:/export", "[2001:db8::1]:/export", "[fe80::1%eth0]:/export", "server:export".
struct NfsSource {
  std::string server;  // without brackets and zone; empty when the source names none ("/vol/vol3")
  std::string zone;
  std::string path;  // as written
};
NfsSource split_source(std::string_view source);

// Repeated slashes count as one and those at the end as none: "//a/b//" is "/a/b".
std::string normal_export(std::string_view path);
// The same server (by address, or by name whatever its case) and the same export.
bool same_source(std::string_view a, std::string_view b);

// Options divided at commas outside of double quotes: context="a,b" is one.
std::vector<std::string_view> split_options(std::string_view text);

// What the mount table says about a mount of kind nfs: identity, source and every option, nothing of mountstats. What
// the kernel prints only when it is not the default has the default here; what it always prints is unknown when
// missing.
facts::NfsMount read_nfs_options(const facts::Mount& mount);

// The options of fstab, a tracking file and the like. Later ones override earlier ones. A key that is not named is
// absent; one whose value is no number is unknown. `origin` and `path` are left to the caller.
facts::AskedOptions parse_asked_options(std::string_view text);

}  // namespace probes
