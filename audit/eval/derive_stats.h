// What the RPC counters say beyond sums: averages, errors and time-outs of operations, the mix of them, connections
// that were made anew, sessions that were made anew; helpers of NFSv3 locking.
#pragma once

#include <vector>

#include "audit/eval/derive.h"

namespace audit {

// Adds derived facts to the scopes of operations, clients and the node.
void add_stat_facts(std::vector<Scope>& all);

}  // namespace audit
