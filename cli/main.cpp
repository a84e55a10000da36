#include <csignal>
#include <exception>

#include "cli/help.h"
#include "cli/memory.h"
#include "cli/output.h"
#include "cli/parse.h"

namespace {

base::Result<int> run(int argc, char** argv) {
  const auto parsed = cli::parse(argc, argv);
  if (!parsed) return tl::unexpected(parsed.error());
  if (parsed->command != nullptr) {
    cli::reserve_heap();
    return parsed->command->run(parsed->settings);
  }

  base::Result<std::string> text;
  if (parsed->version) {
    text = "mountaudit " MOUNTAUDIT_VERSION "\n";
  } else if (!parsed->generate.empty()) {
    text = cli::generate(parsed->generate);
  } else if (parsed->help_for != nullptr) {
    text = cli::help_text(*parsed->help_for);
  } else {
    text = parsed->help_family.empty() ? cli::help_text() : cli::help_text(parsed->help_family);
  }
  if (!text) return tl::unexpected(text.error());
  if (auto printed = cli::print(*text); !printed) return tl::unexpected(printed.error());
  return cli::ok;
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // a reader that went away is seen by write()
  try {
    const auto code = run(argc, argv);
    if (code) return *code;
    cli::say(base::to_text(code.error()));
  } catch (const std::exception& error) {
    cli::say(std::string("internal error: ") + error.what());
  }
  return cli::cannot;
}
