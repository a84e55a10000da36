// What a report of the program (mountaudit.report/1) says of one rule.
#pragma once

#include <boost/json.hpp>
#include <string>

namespace wire_test {

// "warning", or "passed", "unknown: why", "not applicable".
inline std::string outcome(const boost::json::value& report, const std::string& rule) {
  for (const auto& finding : report.at("findings").as_array())
    if (finding.at("rule").as_string() == rule) return std::string(finding.at("severity").as_string());
  for (const auto& row : report.at("unknown").as_array())
    if (row.at("rule").as_string() == rule) return "unknown: " + std::string(row.at("reason").as_string());
  for (const auto& row : report.at("passed").as_array())
    if (row.at("rule").as_string() == rule) return "passed";
  return "not applicable";
}

}  // namespace wire_test
