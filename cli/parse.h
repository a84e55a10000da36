// The command line, read by CLI11 from the tables of options and commands. No other file knows CLI11.
#pragma once

#include <string>
#include <vector>

#include "audit/base/result.h"
#include "cli/commands.h"

namespace cli {

struct Parsed {
  const Command* command = nullptr;  // none: help, version or generate
  Settings settings;
  bool version = false;
  bool help = false;
  const Command* help_for = nullptr;  // with help
  std::string help_family;            // with help
  std::string generate;               // man, bash, zsh, fish
};

base::Result<Parsed> parse(int argc, const char* const* argv);

}  // namespace cli
