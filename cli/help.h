// Texts made from the tables: --help, the manual page, shell completions.
#pragma once

#include <string>
#include <string_view>

#include "audit/base/result.h"
#include "cli/commands.h"

namespace cli {

std::string help_text();                         // mountaudit --help
std::string help_text(std::string_view family);  // mountaudit rules --help
std::string help_text(const Command& command);   // mountaudit audit --help

// man, bash, zsh, fish
base::Result<std::string> generate(const std::string& what);

}  // namespace cli
