// Measured runs as comma-separated values: the compare CSV of DESIGN.md. A header row names the columns; label, depth
// and iops are required. RFC 4180 quoting within a line; # begins a comment line. Semicolon or tab divide as well, as
// spreadsheets write them, when the header row has no comma.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "audit/base/result.h"
#include "audit/facts/latency.h"
#include "probes/parsed.h"

namespace probes {

// Refuses a header row without the required columns, with where:line. A row that does not read costs that row.
base::Result<Parsed<std::vector<facts::LatencyRun>>> parse_run_csv(std::string_view text, const std::string& where);

// Names of the columns that are read, the required ones first.
std::vector<std::string> run_csv_columns();

}  // namespace probes
