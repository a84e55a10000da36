// Options, sources and addresses on any bytes.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "probes/host/address.h"
#include "probes/host/nfs_options.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  std::size_t bytes = 0;
  for (const auto option : probes::split_options(text)) bytes += option.size() + 1;
  require(bytes == size || bytes == size + 1);

  const auto asked = probes::parse_asked_options(text);
  require(asked.text == text);

  facts::Mount mount;
  const auto half = text.find('\n');
  mount.source = text.substr(0, half);
  mount.options_text = std::string(text);
  if (half != std::string_view::npos) mount.super_options_text = std::string(text.substr(half + 1));
  const auto nfs = probes::read_nfs_options(mount);
  require(!nfs.addr.has_value() || probes::is_address(*nfs.addr));
  require(!nfs.mount_addr.has_value() || probes::is_address(*nfs.mount_addr));

  const auto source = probes::split_source(mount.source);
  require(source.server.size() + source.zone.size() + source.path.size() <= mount.source.size());
  require(probes::same_source(mount.source, mount.source));
  const auto normal = probes::normal_export(mount.source);
  require(normal == probes::normal_export(normal) && normal.find("//") == std::string::npos);
  if (probes::is_address(text)) require(probes::same_address(text, text));
  return 0;
}
