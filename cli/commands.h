// The one table of subcommands.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "audit/base/result.h"
#include "cli/options.h"

namespace cli {

// Exit codes (DESIGN: Command line).
inline constexpr int ok = 0;
inline constexpr int findings = 1;
inline constexpr int cannot = 2;

struct Command {
  std::string_view family;  // "rules" of `rules list`; empty for a command of one word
  std::string_view name;
  std::string_view arguments;  // "ID", "FILE..": needed when there are some
  std::string_view sentence;
  std::string_view example;  // a command line worth copying
  std::string_view example_says;
  unsigned groups;                            // of options
  base::Result<int> (*run)(const Settings&);  // an exit code
};

struct Family {
  std::string_view name;
  std::string_view sentence;
};

std::span<const Command> commands();
std::span<const Family> families();

std::string full_name(const Command& command);  // "rules list"
bool takes(const Command& command, const Option& option);

base::Result<int> run_audit(const Settings& settings);
base::Result<int> run_collect(const Settings& settings);
base::Result<int> run_probe(const Settings& settings);
base::Result<int> run_compare(const Settings& settings);
base::Result<int> run_rules_list(const Settings& settings);
base::Result<int> run_rules_explain(const Settings& settings);
base::Result<int> run_rules_lint(const Settings& settings);
base::Result<int> run_rules_test(const Settings& settings);
base::Result<int> run_facts_list(const Settings& settings);
base::Result<int> run_facts_schema(const Settings& settings);
base::Result<int> run_demo_audit(const Settings& settings);
base::Result<int> run_demo_compare(const Settings& settings);

}  // namespace cli
