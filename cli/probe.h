// What the kinds of `probe` have in common.
#pragma once

#include <string>
#include <string_view>

#include "audit/base/result.h"
#include "audit/facts/facts.h"
#include "cli/options.h"

namespace cli {

// A document of this node for the answers of one server.
facts::Facts facts_of_probe(const std::string& url);

// A flag that only the other kinds of server know.
base::Result<void> refuse_flags_of_nfs(const Settings& settings);
base::Result<void> refuse_flags_of_iscsi(const Settings& settings);

base::Result<int> run_iscsi_probe(const Settings& settings);

}  // namespace cli
