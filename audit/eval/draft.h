// A finding in the making, with what the plan needs of it. Between engine.cpp and plan.cpp.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "audit/eval/derive.h"
#include "audit/eval/engine.h"
#include "audit/eval/rules.h"

namespace audit {

struct Draft {
  Finding finding;
  const Rule* rule = nullptr;
  const Fix* fix = nullptr;  // of the level that fired, or of the rule
  std::vector<Item> items;   // sorted by subject; the first gives message and evidence
};

std::string render(const Template& text, const Context& context, const Item& item, bool ja = false);

// Fills the remediation of every draft and makes the plan: options are merged over all drafts of a client, so that no
// two texts of a report contradict each other.
std::vector<PlanEntry> make_plan(const Context& context, const RuleSet& rules, std::vector<Draft>& drafts);

std::string fingerprint(const std::string& rule, const Subject& subject, const std::string& own_name);

// Takes out what is waived, adds findings for waivers that are expired or match nothing.
std::vector<Waived> apply_waivers(std::vector<Draft>& drafts, const JudgeOptions& options, const facts::Facts& facts,
                                  std::vector<Finding>& about_waivers);

}  // namespace audit
