// A facts document from elsewhere (--from): what is read must be writable and read back equal.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "audit/snapshot/document.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto loaded = snapshot::from_json(text, "fuzz");
  if (!loaded) return 0;
  const auto again = snapshot::from_json(snapshot::to_json(loaded->facts), "again");
  if (!again || !(again->facts == loaded->facts)) std::abort();
  return 0;
}
