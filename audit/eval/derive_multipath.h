// What rules can name about multipath maps: paths by state, what happens when none is left, settings beside the entry
// of the array, WWIDs that are not unique. Sources of the meanings: multipath.conf(5), libmultipath, SPC-4 (ALUA).
#pragma once

#include <vector>

#include "audit/eval/derive.h"

namespace audit {

// Whether a path can carry I/O. Not known where no checker ran and the kernel's map says nothing against it.
enum class PathState : std::uint8_t { up, standby, down, removed, not_checked };
PathState path_state(const facts::MultipathMap& map, const facts::MultipathPath& path);

// Adds to multipath, multipath.maps, multipath.maps.settings and multipath.paths.
void add_multipath_facts(std::vector<Scope>& all);

}  // namespace audit
