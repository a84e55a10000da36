// What rpcbind answers, of all versions, on the same bytes.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "probes/wire/rpcbind.h"
#include "tests/fuzz/wire_check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace wire;
  const View bytes(data, size);
  for (const auto& outcome : {rpcbind::decode_dump2(bytes), rpcbind::decode_dump(bytes)}) {
    const auto list = checked(outcome);
    if (!list) continue;
    require(list->size() * 20 <= size);
    for (const auto& entry : *list) require(entry.port <= 65535);
  }
  if (const auto port = checked(rpcbind::decode_getport(bytes))) require(*port <= 65535);
  if (const auto port = checked(rpcbind::port_of_uaddr({reinterpret_cast<const char*>(data), size})))
    require(*port <= 65535);
  return 0;
}
