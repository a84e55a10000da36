// nfsmount.conf(5): options that mount.nfs(8) adds to what the command, fstab or a mount unit names.
// nfs-utils: utils/mount/configfile.c, support/nfs/conffile.c.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "audit/facts/mount_config.h"
#include "audit/facts/nfs.h"
#include "probes/parsed.h"

namespace probes {

// `path` goes into every entry.
Parsed<std::vector<facts::NfsmountConfEntry>> parse_nfsmount_conf(std::string_view text, const std::string& path);

// The entries that count for a mount of this server (as named in the mount) on this mount point: MountPoint before
// Server before global, within a section kind the last one of a key. Names are compared whatever their case.
std::vector<const facts::NfsmountConfEntry*> nfsmount_entries(const std::vector<facts::NfsmountConfEntry>& entries,
                                                              std::string_view server, std::string_view mount_point);

// Fills what `asked` does not name; what it names stays. Sets default_text, and vers_origin where the version comes
// from here.
void add_nfsmount_defaults(facts::AskedOptions& asked, const std::vector<const facts::NfsmountConfEntry*>& entries);

}  // namespace probes
