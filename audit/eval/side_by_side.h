// Options side by side: what was asked for and where, what the kernel runs, what the server allows.
#pragma once

#include <vector>

#include "audit/eval/derive.h"
#include "audit/finding.h"

namespace audit {

// One table per client and group of mounts that are alike in all of it, in the order of nfs.clients; then one for each
// server that was asked and is not mounted, with nothing but what it allows.
std::vector<SideBySide> side_by_side(const Context& context);

}  // namespace audit
