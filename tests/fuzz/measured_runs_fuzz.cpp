// Files of measured runs: whatever stands in them, reading and comparing end without a fault.
#include <cstdint>
#include <string_view>

#include "audit/eval/comparison.h"
#include "audit/report/compare.h"
#include "probes/results/runs.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  auto parsed = probes::parse_runs(text, "fuzz");
  if (!parsed) return 0;
  probes::number_passes(parsed->facts.runs);
  const auto comparison = audit::compare_runs(parsed->facts);
  audit::render_comparison_text(comparison, 2, true);
  audit::render_comparison_json(comparison, "fuzz");
  audit::sum_runs(parsed->facts.runs);
  return 0;
}
