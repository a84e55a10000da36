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

const char* time_part_word(TimePart part) {
  switch (part) {
    case TimePart::queue: return "queue";
    case TimePart::network: return "network";
    case TimePart::server: return "server";
    case TimePart::reply: return "reply";
    case TimePart::client: return "client";
  }
  return "reply";
}

std::size_t Report::count(Severity severity) const {
  return static_cast<std::size_t>(
      std::count_if(findings.begin(), findings.end(), [&](const Finding& f) { return f.severity == severity; }));
}

}  // namespace audit
