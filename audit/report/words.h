// The words of the text report in each language. The findings' own texts come from the rules.
#pragma once

#include <string>

#include "audit/finding.h"
#include "audit/report/formats.h"

namespace audit {

struct Words {
  // Section heads.
  const char* broken_now;
  const char* could_be_better;
  const char* not_checked;
  const char* waived;
  const char* live_migration;
  // Labels in front of a line of a finding; four columns each.
  const char* seen;
  const char* affects;
  const char* gain;
  const char* advice;
  const char* write;
  // Labels in the long form.
  const char* note;
  const char* why;
  const char* could_be;  // fmt: severity, what is missing
  const char* not_known;
  const char* contested;  // fmt: who, says
  const char* undo;
  const char* basis;
  const char* references;
  // Lines, in fmt's form.
  const char* inputs;    // where there is no root
  const char* root;      // where
  const char* captured;  // root, when
  const char* probed;    // URL
  const char* profiles;  // names with why
  const char* counts;    // mounts, servers
  const char* passed_one;
  const char* passed;          // checks
  const char* nothing;         // nothing in this section
  const char* healthy;         // counts, passed
  const char* healthy_so_far;  // counts, passed, not decided
  const char* nothing_judged;  // counts
  const char* no_mounts;
  const char* plan_word;      // in the place of a severity
  const char* plan;           // subject, rules
  const char* undecided;      // rules, reason
  const char* more_subjects;  // number
  const char* more_names;     // number
  const char* same_as;        // rule
  const char* hint;
  const char* more_rows;   // number
  const char* more_lines;  // number
  // WHERE THE TIME GOES.
  const char* time;
  const char* time_legend;
  const char* since_mount;
  const char* between_samples;  // seconds
  const char* all_operations;
  const char* operations;  // number
  const char* errors;      // number
  const char* connection_one;
  const char* connections;    // number, ratio of the busiest to the mean
  const char* slots_session;  // in use at most, limit
  const char* slots_connection;
  const char* wrapped;  // operations
  const char* network_not_known;
  // SIDE BY SIDE.
  const char* side_by_side;
  const char* side_legend;
  const char* side_option;
  const char* side_asked;
  const char* side_effective;
  const char* side_allowed;
  const char* asked_by;  // kind of place, path
  const char* asked_by_none;
  const char* not_asked;
  const char* not_known_cell;
  const char* migration_yes;      // volumes, what it rests on
  const char* migration_no;       // volumes, why
  const char* migration_unknown;  // volumes, why
  const char* questions;          // number, of questions that went unanswered in the same way
};

const Words& words(Language language);

std::string severity_name(Severity severity, Language language);
// "error" of a summary: "2 errors", "1 warning", "3 info".
std::string severity_count(std::size_t count, Severity severity, Language language);
// What applying a remedy costs: live, remount, relogin, reboot, server, rerun.
std::string effect_words(const std::string& effect, Language language);
// "14 mounts", "1 VM": a number of subjects of one kind.
std::string kind_count(std::size_t count, const std::string& kind, Language language);
// The part that takes most of an operation's time, in words: "server takes 91 %".
std::string time_verdict(const OpTime& op, const ClientTime& client, Language language);
std::string kind_name(const std::string& kind, bool plural, Language language);

}  // namespace audit
