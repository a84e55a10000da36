// The report for a terminal: one screen for a person who has to act. First line node, root, profiles, duration; then
// BROKEN NOW, COULD BE BETTER, NOT CHECKED (DESIGN.md). Everything that came from a mount, a server or a file is
// printed with control characters escaped.
#pragma once

#include <string>

#include "audit/finding.h"
#include "audit/report/formats.h"

namespace audit {

std::string render_text(const Report& report, const RenderOptions& options);

}  // namespace audit
