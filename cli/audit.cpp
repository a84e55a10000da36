#include "cli/commands.h"
#include "cli/gather.h"
#include "cli/judge.h"

namespace cli {

base::Result<int> run_audit(const Settings& settings) {
  const auto started = std::chrono::steady_clock::now();
  auto outlets = open_outlets(settings);
  if (!outlets) return tl::unexpected(outlets.error());
  const auto judge = make_judge(settings);
  if (!judge) return tl::unexpected(judge.error());
  const auto facts =
      gather(settings, [&](const facts::Facts& so_far) { show_so_far(settings, *judge, so_far, started); });
  if (!facts) return tl::unexpected(facts.error());
  return judge_and_report(settings, *judge, *facts, *outlets, started, 40);
}

}  // namespace cli
