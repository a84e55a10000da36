// What audit and demo audit share: judge facts, print the reports, say the exit code.
#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "audit/base/result.h"
#include "audit/eval/engine.h"
#include "audit/report/formats.h"
#include "cli/options.h"
#include "cli/output.h"

namespace cli {

// Where the reports go. Opened before the work starts.
struct Outlets {
  const audit::Format* on_stdout = nullptr;
  std::vector<std::pair<const audit::Format*, ReportFile>> files;
};
base::Result<Outlets> open_outlets(const Settings& settings);

// Rules, waivers and the rest of what judging needs, read before the facts are.
struct Judge {
  audit::RuleSet rules;
  audit::JudgeOptions options;
};
base::Result<Judge> make_judge(const Settings& settings);

base::Result<int> judge_and_report(const Settings& settings, const Judge& judge, const facts::Facts& facts,
                                   Outlets& outlets, std::chrono::steady_clock::time_point started, int lines);

// What is known before the servers have answered, as text on standard error, when that is a terminal: a reader in a
// hurry need not wait for a dead server. No report of the program's own: that one comes after it.
void show_so_far(const Settings& settings, const Judge& judge, const facts::Facts& facts,
                 std::chrono::steady_clock::time_point started);

}  // namespace cli
