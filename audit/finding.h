// What judging brings forth: the report document mountaudit.report/1 (DESIGN.md) as plain structs. The engine
// (audit/eval) fills it, the renderers (audit/report) only read it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "audit/facts/reflect.h"

namespace facts {
struct Facts;
}

namespace audit {

enum class Severity : std::uint8_t { info, notice, warning, error };
const char* severity_word(Severity severity);
std::optional<Severity> severity_from(std::string_view word);

struct Subject {
  std::string kind;  // node, nfs.mount, nfs.client, nfs.server, ... (DESIGN.md)
  std::string id;
  bool operator==(const Subject&) const = default;
  auto operator<=>(const Subject&) const = default;
};

struct Evidence {
  std::string fact;    // path in the document, "nfs.clients[0].transport_count"
  facts::Value value;  // scalar or list
  std::string source;  // path inside the root, host:port, or "derived from ..."
};

struct EvidenceTable {
  std::vector<std::string> columns;
  std::vector<std::vector<facts::Value>> rows;
};

struct Gain {
  std::string text;
  std::optional<double> low;
  std::optional<double> high;
};

struct Remediation {
  std::string platform;
  std::string text;
  std::string effect;
  std::string undo;     // empty when applying the opposite is all there is to it
  std::string snippet;  // S1, S2, ...
};

struct Contested {
  std::string who;
  std::string says;
};

// Texts in one language, placeholders filled.
struct Texts {
  std::string title;
  std::string message;
  std::string why;
  std::string recommendation;
  std::vector<std::string> notes;
};

struct Finding {
  std::string rule;
  Severity severity = Severity::info;
  std::string kind;  // health, tuning, hygiene
  std::vector<std::string> basis;
  Texts text;                    // English: the master
  std::optional<Texts> text_ja;  // where the rule carries it; its empty texts fall back to English
  Subject subject;
  std::vector<Subject> affects;
  std::vector<Evidence> evidence;
  std::optional<EvidenceTable> table;
  std::optional<Gain> gain;
  std::string effect;  // live, remount, relogin, reboot, server, rerun
  struct CouldBe {
    Severity severity = Severity::info;
    std::string needs;  // "needs nfs.servers[0].rtmax_bytes: not asked (passive)"
  };
  std::optional<CouldBe> could_be;
  std::vector<std::string> not_known;  // unless clauses and notes that could not be decided, with the missing fact
  std::vector<Contested> contested;
  std::vector<Remediation> remediation;
  std::vector<std::string> references;
  std::string fingerprint;
};

struct PlanEntry {
  Subject subject;
  std::string platform;
  std::string text;                 // one final text to write
  std::vector<std::string> clears;  // rule ids
};

struct Passed {
  std::string rule;
  std::size_t subjects = 0;
};

struct NotDecided {
  std::string rule;
  Subject subject;
  std::string reason;
};

struct Waived {
  Finding finding;
  std::string reason;
  std::string until;
};

struct Profile {
  std::string name;
  std::string why;
};

struct Report {
  std::string tool_version;
  std::vector<Profile> profiles;
  std::vector<Finding> findings;  // worst first, then health before tuning before hygiene, then rule id, then subject
  std::vector<PlanEntry> plan;
  std::vector<Passed> passed;
  std::vector<NotDecided> unknown;
  std::size_t not_applicable = 0;
  std::vector<Waived> waived;
  double duration_s = 0;                // of the whole run; given by the caller, never in JSON goldens
  const facts::Facts* facts = nullptr;  // the document judged; embedded in the JSON report, node line of the text

  std::size_t count(Severity severity) const;
};

}  // namespace audit
