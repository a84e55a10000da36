// What multipath(8) and multipathd(8) print: maps as a tree (-ll, -l, -v4 -ll), maps as JSON, lists of paths. Log
// lines, prompts and wrapped attributes among them cost nothing; a line that follows no known form costs itself.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "audit/base/result.h"
#include "audit/facts/multipath.h"
#include "probes/parsed.h"

namespace probes {

struct MultipathText {
  std::vector<facts::MultipathMap> maps;
  std::vector<facts::MultipathPath> paths;  // outside a map: orphans, and lines whose map is not in the text
  std::vector<facts::MultipathNotice> notices;
};

enum class MultipathPrint : unsigned char { ll, l, v4 };

// Membership follows from the group line above; the drawing is decoration. In -l no checker ran: its zeros and "undef"
// are not determined.
Parsed<MultipathText> parse_multipath_tree(std::string_view text, MultipathPrint print, const std::string& source);

// multipathd show maps json. Every key is optional but the lists themselves. A text that is cut or damaged keeps what
// stands before the damage.
Parsed<MultipathText> parse_multipath_json(std::string_view text, const std::string& source);

// multipathd show paths, with any format that has a header; without one the words tell themselves.
Parsed<MultipathText> parse_multipath_paths(std::string_view text, const std::string& source);

}  // namespace probes
