// Output of rpcinfo(8) -p and of rpcinfo without an option, and of nfsiostat(8), as pasted.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "audit/facts/rpcinfo.h"
#include "probes/parsed.h"

namespace probes {

Parsed<facts::RpcinfoListing> parse_rpcinfo(std::string_view text, const std::string& source);
Parsed<std::vector<facts::NfsiostatReport>> parse_nfsiostat(std::string_view text, const std::string& source);

}  // namespace probes
