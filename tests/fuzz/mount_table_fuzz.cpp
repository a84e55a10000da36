// Mount tables in their three forms, and the NFS options of every entry.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "probes/host/mountinfo.h"
#include "probes/host/nfs_options.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const auto& parsed : {probes::parse_mountinfo(text), probes::parse_mounts(text), probes::parse_mount_l(text)}) {
    for (const facts::Mount& mount : parsed.facts) probes::read_nfs_options(mount);
  }
  probes::parse_asked_options(text);
  return 0;
}
