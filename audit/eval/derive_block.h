// What rules can name about single disks: alignment, queue settings against the other paths of a map, error counters
// between two samples, discard.
#pragma once

#include <vector>

#include "audit/eval/derive.h"

namespace audit {

// Adds to block.devices.
void add_block_facts(std::vector<Scope>& all);

}  // namespace audit
