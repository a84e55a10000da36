// NLM answers.
#include <cstddef>
#include <cstdint>

#include "probes/wire/nlm.h"
#include "tests/fuzz/wire_check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (const auto stat = checked(wire::nlm::decode_test4({data, size}))) require(*stat <= wire::nlm::Stat::failed);
  if (const auto stat = checked(wire::nlm::decode_result4({data, size}))) require(*stat <= wire::nlm::Stat::failed);
  return 0;
}
