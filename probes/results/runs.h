// Files of measured runs: facts and report documents of ours, fio's JSON, and CSV, told by what stands in them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "audit/base/result.h"
#include "audit/facts/latency.h"
#include "probes/parsed.h"

namespace probes {

// `where` names the text in errors and sources; `label` renames: all runs when they have one label, else it stands
// before theirs. Without it a result of fio bears the file's name.
base::Result<Parsed<facts::Latency>> parse_runs(std::string_view text, const std::string& where,
                                                const std::string& label = {});

// PATH, LABEL=PATH, or - for standard input. A file whose name has an = in it is taken as it is.
base::Result<Parsed<facts::Latency>> read_runs(const std::string& argument);

// Equal label, load and depth, pass not told: passes in the order given.
void number_passes(std::vector<facts::LatencyRun>& runs);

}  // namespace probes
