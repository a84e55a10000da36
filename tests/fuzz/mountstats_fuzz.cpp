// Client counters, and their join to a mount table that may not fit: the text before an empty line is mountinfo.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "probes/host/mountinfo.h"
#include "probes/host/mountstats.h"
#include "probes/host/nfs_join.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t gap = text.find("\n\n");
  const std::string_view table = text.substr(0, gap == std::string_view::npos ? 0 : gap);
  probes::join_nfs(probes::parse_mountinfo(table).facts, probes::parse_mountstats(text).facts);
  return 0;
}
