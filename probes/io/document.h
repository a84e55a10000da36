// A document that the user names, read as a whole: a line of it may be as long as it likes (`jq -c` writes one).
#pragma once

#include <string>

#include "audit/base/result.h"

namespace probes {

// "-" is standard input. Errors: absent, denied, io, and malformed above 1 GiB, so that an endless file ends too.
base::Result<std::string> read_document(const std::string& path);

}  // namespace probes
