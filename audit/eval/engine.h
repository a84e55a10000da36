// Judging: a facts document and rules make a report. Reads nothing else, so a saved document gives the same findings.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "audit/base/result.h"
#include "audit/eval/rules.h"
#include "audit/facts/facts.h"
#include "audit/finding.h"

namespace audit {

// A finding that the owner accepts until a day. Matches rule and subject by glob, or one fingerprint.
struct Waiver {
  std::string rule;  // empty with a fingerprint
  std::string subject = "*";
  std::string fingerprint;
  std::string reason;
  std::string until;  // YYYY-MM-DD, the last day it holds
  std::string where;  // file:line
};

// A YAML list of {rule, subject, reason, until} or {fingerprint, reason, until}.
base::Result<std::vector<Waiver>> load_waivers(std::string_view text, const std::string& where);

struct JudgeOptions {
  std::vector<std::string> profiles;  // as given by the user; empty: found in the facts. general is always on
  std::vector<Profile> also;          // brought by the subcommand: {"pre-benchmark", "mountaudit preflight"}
  std::vector<std::string> only;      // globs on rule ids; empty: all
  std::vector<std::string> skip;
  bool now = false;      // health rules only
  bool japanese = true;  // the texts in Japanese too, for who will show them
  std::vector<Waiver> waivers;
  std::string today;  // YYYY-MM-DD, for waivers; empty: none expires
  std::string tool_version;
};

// Sorted and deterministic. The report points into `facts`, which has to outlive it.
// With waivers: an expired one does not waive and, like one that matches nothing, is an info finding of its own
// (WAIVER-001 expired, WAIVER-002 unused).
Report judge(const facts::Facts& facts, const RuleSet& rules, const JudgeOptions& options);

// Which levels of a rule fire and which of its exceptions hold on a document, by their place in the rule: what a test
// of the rule has touched.
struct RuleTrace {
  std::set<std::size_t> levels;
  std::set<std::size_t> exceptions;
};
RuleTrace trace_rule(const facts::Facts& facts, const RuleSet& rules, const Rule& rule, const JudgeOptions& options);

std::vector<Profile> detect_profiles(const facts::Facts& facts);

// The document as it would be after the text of a plan entry was written where the mounts are made and every mount of
// its client was unmounted and mounted again: asked options follow the text, live values follow what was asked.
// Entries of platforms that hold no mount options are refused.
base::Result<facts::Facts> apply_plan(const facts::Facts& facts, const PlanEntry& entry);

}  // namespace audit
