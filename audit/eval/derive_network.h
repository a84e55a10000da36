// What connections, interfaces and round trips say of the way to a server.
#pragma once

#include <vector>

#include "audit/eval/derive.h"

namespace audit {

// Adds derived facts to the scopes of servers and paths, and the scope network.sockets.
void add_network_facts(std::vector<Scope>& all);

}  // namespace audit
