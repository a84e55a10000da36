// What rules can name about measured runs: latency.runs, the curves that they make (latency.curves and their points),
// what twice the clients bring (latency.scalings), and what all of it says about a choice (latency.selection).
#pragma once

#include <vector>

#include "audit/eval/derive.h"

namespace audit {

void add_latency_scopes(std::vector<Scope>& all);

}  // namespace audit
