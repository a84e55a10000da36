#include "audit/snapshot/document.h"
#include "cli/commands.h"
#include "cli/gather.h"
#include "cli/output.h"

namespace cli {

base::Result<int> run_collect(const Settings& settings) {
  const auto facts = gather(settings);
  if (!facts) return tl::unexpected(facts.error());
  if (settings.raw.empty()) {
    base::Result<void> printed;
    snapshot::write_json(*facts, [&](std::string_view piece) {
      if (printed) printed = print(piece);
    });
    if (!printed) return tl::unexpected(printed.error());
  } else if (!settings.quiet) {
    say("wrote " + settings.raw + "; audit it with: mountaudit audit --root " + settings.raw);
  }
  return signal_seen() != 0 ? 128 + signal_seen() : ok;
}

}  // namespace cli
