// /etc/fstab. Source: fstab(5), libmount's reading of it (a line whose numbers are none is ignored by mount(8)).
#pragma once

#include <string_view>
#include <vector>

#include "audit/facts/config.h"
#include "probes/parsed.h"

namespace probes {

// Lines with at least source, mount point and type. Octal escapes are decoded in the first two; passwords in options
// are masked (probes/host/scrub_file.h). A malformed line costs its entry and leaves a note.
Parsed<std::vector<facts::FstabEntry>> parse_fstab(std::string_view text);

}  // namespace probes
