#include "audit/finding.h"

#include <algorithm>

namespace audit {

const char* severity_word(Severity severity) {
  switch (severity) {
    case Severity::info: return "info";
    case Severity::notice: return "notice";
    case Severity::warning: return "warning";
    case Severity::error: return "error";
  }
  return "info";
}

std::optional<Severity> severity_from(std::string_view word) {
  for (const Severity severity : {Severity::info, Severity::notice, Severity::warning, Severity::error}) {
    if (word == severity_word(severity)) return severity;
  }
  return std::nullopt;
}

std::size_t Report::count(Severity severity) const {
  return static_cast<std::size_t>(
      std::count_if(findings.begin(), findings.end(), [&](const Finding& f) { return f.severity == severity; }));
}

}  // namespace audit
