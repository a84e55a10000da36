// Facts for a command: from this node, a copy of one, single texts, or a saved document.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "audit/base/result.h"
#include "audit/eval/rules.h"
#include "audit/facts/facts.h"
#include "cli/options.h"
#include "cli/servers.h"

namespace cli {

// --root, --from, --input, --declare, --since, --sample, --passive; with --raw also writes the tree. On a live node the
// servers are asked; `on_slow` gets what is known so far when their answers take long.
base::Result<facts::Facts> gather(const Settings& settings, const OnSlow& on_slow = {});

// The rules built in, and those of MOUNTAUDIT_RULES and --rules.
base::Result<audit::RuleSet> gather_rules(const Settings& settings);
std::vector<audit::TextFile> built_in_rules();

// The name that this node goes by: of MOUNTAUDIT_NODE, in a pod, else its host name.
std::string node_name();

// "2s", "500ms", "1m"; a bare number is seconds.
base::Result<std::chrono::milliseconds> parse_time(const std::string& text, std::string_view option);

// Language of the text: --lang, else MOUNTAUDIT_LANG where it names one.
std::string language_of(const Settings& settings);

}  // namespace cli
