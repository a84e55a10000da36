// MOUNT and NFS version 3 answers on the same bytes.
#include <cstddef>
#include <cstdint>

#include "probes/wire/mount3.h"
#include "probes/wire/nfs3.h"
#include "tests/fuzz/wire_check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace wire;
  const View bytes(data, size);
  if (const auto mounted = checked(mount3::decode_mnt(bytes))) {
    require(mounted->handle.size() <= 64);
    require(mounted->flavors.size() * 4 <= size);
  }
  if (const auto list = checked(mount3::decode_export_list(bytes))) require(list->size() * 12 <= size);
  if (const auto attributes = checked(nfs3::decode_getattr(bytes)))
    require(attributes->type >= 1 && attributes->type <= 7);
  checked(nfs3::decode_fsinfo(bytes));
  checked(nfs3::decode_fsstat(bytes));
  checked(nfs3::decode_pathconf(bytes));
  if (const auto entries = checked(nfs3::decode_readdirplus(bytes))) {
    require(entries->size() * 32 <= size);
    for (const auto& entry : *entries) require(entry.handle.size() <= 64);
  }
  if (const auto handle = checked(nfs3::decode_lookup(bytes))) require(handle->size() <= 64);
  if (const auto handle = checked(nfs3::decode_create(bytes))) require(handle->size() <= 64);
  checked(nfs3::decode_remove(bytes));
  return 0;
}
