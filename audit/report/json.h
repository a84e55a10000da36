// The report document mountaudit.report/1 (DESIGN.md, Documents): the master format. English only; the same report
// gives the same bytes (the duration of the run is not in it).
#pragma once

#include <string>

#include "audit/base/json.h"
#include "audit/finding.h"

namespace audit {

std::string render_json(const Report& report);
void write_json(const Report& report, const base::Sink& sink);  // the same in pieces

}  // namespace audit
