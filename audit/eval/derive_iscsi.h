// What follows from facts of the initiator: health of sessions, paths that are expected, the time that a lost path
// costs, disconnects that the log tells of.
#pragma once

#include <vector>

#include "audit/eval/derive.h"

namespace audit {

// Adds derived facts to the scopes of sessions, targets, node records and maps, and what the other two add.
void add_iscsi_facts(std::vector<Scope>& all);

// The time that a lost path costs: facts of sessions, their settings, and maps.
void add_iscsi_timeouts(std::vector<Scope>& all);

// The scope iscsi.disconnects, one item a connection that the log tells of, and facts of sessions from it.
void add_iscsi_disconnects(std::vector<Scope>& all);

}  // namespace audit
