// A comparison of measured runs as text for a terminal of 80 columns, and as JSON (mountaudit.compare/1).
#pragma once

#include <string>

#include "audit/eval/comparison.h"

namespace audit {

// `digits`: decimals of ratios; `plots`: the two plots of each load.
std::string render_comparison_text(const Comparison& comparison, int digits, bool plots);
std::string render_comparison_json(const Comparison& comparison, const std::string& tool_version);

// Points of several curves in one field of characters, each curve by its letter; both axes are logarithmic where
// `log_x`/`log_y`. Used for IOPS by depth and for latency by IOPS (the hockey stick).
struct PlotPoint {
  double x = 0, y = 0;
  char mark = '*';
};
std::string plot(const std::vector<PlotPoint>& points, bool log_x, bool log_y, const std::string& x_name,
                 const std::string& y_name);

}  // namespace audit
