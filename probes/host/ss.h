// Output of ss(8): -t, with or without -n -i -o -e -p and a state filter, as pasted.
#pragma once

#include <string_view>
#include <vector>

#include "audit/facts/network.h"
#include "probes/parsed.h"

namespace probes {

// TCP connections; listening sockets and other protocols are passed over. On a server's own output the local port is
// that of the service. The state is "unknown" where a filter took its column away and no line names it.
Parsed<std::vector<facts::NetSocket>> parse_ss(std::string_view text);

}  // namespace probes
