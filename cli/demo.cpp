#include "audit/snapshot/document.h"
#include "cli/commands.h"
#include "cli/judge.h"
#include "cli/sample.h"
#include "probes/redact.h"

namespace cli {

// A document, replayed like any other: what the demo shows is what audit --from would.
base::Result<int> run_demo_audit(const Settings& settings) {
  const auto started = std::chrono::steady_clock::now();
  auto outlets = open_outlets(settings);
  if (!outlets) return tl::unexpected(outlets.error());
  const auto judge = make_judge(settings);
  if (!judge) return tl::unexpected(judge.error());
  auto loaded = snapshot::from_json(sample_facts(), "the bundled sample");
  if (!loaded) return tl::unexpected(loaded.error());
  if (settings.redact) loaded->facts = probes::Redactor().redact(std::move(loaded->facts));
  return judge_and_report(settings, *judge, loaded->facts, *outlets, started, 24);
}

}  // namespace cli
