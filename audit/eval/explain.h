// What `mountaudit rules` prints.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "audit/base/result.h"
#include "audit/eval/rules.h"

namespace audit {

// One line per rule: id, levels, kind, effect, profiles, title.
std::string list_rules(const RuleSet& rules, const std::string& lang = "en");

// All of a rule as text for people: title, why, conditions in words, levels with their messages, exceptions, advice,
// snippets, references. An unknown id fails and names the nearest one.
base::Result<std::string> explain_rule(const RuleSet& rules, const std::string& id, const std::string& lang = "en");

// One line of `facts list` for what is computed from the document and not stored in it.
struct ListedDerived {
  std::string path;  // "nfs.clients[].in_flight.mean"
  std::string type;
  std::string unit;
  std::string sentence;
};
std::vector<ListedDerived> list_derived();

// A rule test: a facts document with the key `profiles`; the file name says what has to come out:
// RULE/fail-LEVEL[-what].json, pass, unknown, not_applicable. The rule is named by the folder.
struct RuleTestResult {
  std::string path;
  bool ok = false;
  std::string message;                       // "expected fail-warning, got fail-notice: ..."
  std::set<std::size_t> levels, exceptions;  // those of the rule that the test touches, by their place
};
// FILE or DIR; a path that holds no test fails.
base::Result<std::vector<RuleTestResult>> test_rules(const RuleSet& rules, const std::string& path);

}  // namespace audit
