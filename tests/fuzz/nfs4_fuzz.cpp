// COMPOUND answers.
#include <cstddef>
#include <cstdint>
#include <variant>

#include "probes/wire/nfs4.h"
#include "tests/fuzz/wire_check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace wire;
  const auto result = checked(nfs4::decode_compound({data, size}));
  if (!result) return 0;
  require(result->ops.size() * 8 <= size);
  for (const auto& op : result->ops) {
    if (op.status != 0) require(&op == &result->ops.back() && op.value.index() == 0);
    if (const auto* entries = std::get_if<nfs4::Entries>(&op.value)) require(entries->list.size() * 24 <= size);
    if (const auto* handle = std::get_if<nfs4::Handle>(&op.value)) require(handle->bytes.size() <= 128);
  }
  return 0;
}
