// What follows from facts of the initiator: health of sessions, paths that are expected, the time that a lost path
// costs, disconnects that the log tells of.
#pragma once

#include <vector>

#include "audit/eval/derive.h"

namespace audit {

// Adds derived facts to the scopes of sessions, their settings, targets, node records and maps, and the scope
// iscsi.disconnects (one item a connection that the log speaks of).
void add_iscsi_facts(std::vector<Scope>& all);

}  // namespace audit
