// The mount table. Sources: /proc/PID/mountinfo and /proc/PID/mounts (proc(5), fs/proc_namespace.c), output of
// mount(8). Nothing here touches a mount. A line that does not follow its format costs that one entry and leaves a note
// with its number; blank lines and lines that start with '#' are passed over.
#pragma once

#include <string_view>
#include <vector>

#include "audit/facts/mount.h"
#include "probes/parsed.h"

namespace probes {

enum class Keep {
  relevant,  // all but kind "other"; `hidden_by` is still found from every line
  all,
};

// Ten fields and more: id, parent, device, root, mount point, options, optional fields up to one that is exactly "-",
// then type, source, and super options to the end of the line (they may hold blanks).
Parsed<std::vector<facts::Mount>> parse_mountinfo(std::string_view text, Keep keep = Keep::relevant);

// Source, mount point, type, options; dump and pass may be missing. The options are those of mount and file system in
// one list: they become options_text, and super_options_text stays unknown.
Parsed<std::vector<facts::Mount>> parse_mounts(std::string_view text, Keep keep = Keep::relevant);

// "SOURCE on TARGET type TYPE (OPTIONS) [LABEL]". Names are not escaped there: the first " on " and the last
// " type X (" count. A missing closing parenthesis is tolerated.
Parsed<std::vector<facts::Mount>> parse_mount_l(std::string_view text, Keep keep = Keep::relevant);

// The word for Mount.kind. NFS is exactly "nfs" and "nfs4": FUSE clients of NFS and others with NFS-like options are
// not.
std::string_view mount_kind(std::string_view fs_type);

}  // namespace probes
