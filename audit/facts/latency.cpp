#include "audit/facts/latency.h"

#include <fmt/format.h>

namespace facts {

namespace {

template <class T>
std::string part(const Fact<T>& fact) {
  return fact.has_value() ? fmt::format("|{}", *fact) : std::string("|?");
}

}  // namespace

std::string load_key(const LatencyRun& run) {
  return run.label + part(run.pattern) + part(run.block_bytes) + part(run.read_pct) + part(run.clients) +
         part(run.connections) + part(run.working_set_bytes) + part(run.loop) + part(run.rate_per_s);
}

}  // namespace facts
