// What rules on mount options can name beyond the stored facts: asked for against in effect, option by option; what the
// server allows; slots; pauses after a failover; the places that ask for options; declared volumes.
#pragma once

#include <vector>

#include "audit/eval/derive.h"

namespace audit {

// Adds derived facts and references to the scopes of mounts, clients and servers, and scopes of their own.
void add_option_scopes(std::vector<Scope>& all);

// config.asked, kernel.settings, declared.pvs, declared.pvcs.
void add_asked_scopes(std::vector<Scope>& all);

}  // namespace audit
