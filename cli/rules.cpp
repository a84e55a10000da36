#include <algorithm>

#include "audit/eval/explain.h"
#include "audit/eval/rules.h"
#include "cli/commands.h"
#include "cli/gather.h"
#include "cli/output.h"

namespace cli {

namespace {

using base::Result;

Result<int> printed(const std::string& text, int code = ok) {
  if (auto done = print(text); !done) return tl::unexpected(done.error());
  return code;
}

}  // namespace

Result<int> run_rules_list(const Settings& settings) {
  const auto rules = gather_rules(settings);
  if (!rules) return tl::unexpected(rules.error());
  return printed(audit::list_rules(*rules, language_of(settings)));
}

Result<int> run_rules_explain(const Settings& settings) {
  const auto rules = gather_rules(settings);
  if (!rules) return tl::unexpected(rules.error());
  const auto text = audit::explain_rule(*rules, settings.words.front(), language_of(settings));
  if (!text) return tl::unexpected(text.error());
  return printed(*text);
}

Result<int> run_rules_lint(const Settings& settings) {
  std::vector<audit::TextFile> files;
  for (const auto& path : settings.words) {
    const auto read = audit::read_rule_files(path);
    if (!read) return tl::unexpected(read.error());
    files.insert(files.end(), read->begin(), read->end());
  }
  const auto errors = audit::lint_rules(files, built_in_rules());
  std::string text;
  for (const auto& error : errors) text += base::to_text(error) + "\n";
  text += std::to_string(files.size()) + (files.size() == 1 ? " file, " : " files, ") + std::to_string(errors.size()) +
          (errors.size() == 1 ? " mistake\n" : " mistakes\n");
  return printed(text, errors.empty() ? ok : findings);
}

Result<int> run_rules_test(const Settings& settings) {
  const auto rules = gather_rules(settings);
  if (!rules) return tl::unexpected(rules.error());
  std::string text;
  std::size_t all = 0;
  std::size_t failed = 0;
  for (const auto& path : settings.words) {
    const auto results = audit::test_rules(*rules, path);
    if (!results) return tl::unexpected(results.error());
    for (const auto& result : *results) {
      ++all;
      if (result.ok) continue;
      ++failed;
      text += result.path + ": " + result.message + "\n";
    }
  }
  text += std::to_string(all) + (all == 1 ? " test, " : " tests, ") + std::to_string(failed) + " failed\n";
  return printed(text, failed == 0 ? ok : findings);
}

}  // namespace cli
