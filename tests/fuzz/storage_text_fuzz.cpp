// Output of iscsiadm and multipath, files of open-iscsi and multipath-tools and text of /sys on any bytes. What is
// scrubbed gives the same facts, and scrubbing it again changes nothing.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "probes/host/iscsi_conf.h"
#include "probes/host/iscsiadm.h"
#include "probes/host/multipath_conf.h"
#include "probes/host/multipath_text.h"
#include "probes/host/storage_sysfs.h"
#include "probes/host/storage_text.h"
#include "probes/host/sysfs_text.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::string name = "text";
  (void)probes::parse_session_list(text);
  (void)probes::parse_session_print(text);
  (void)probes::parse_session_stats(text);
  (void)probes::parse_node_list(text);
  (void)probes::parse_initiatorname(text);
  (void)probes::parse_iface_record(text, name);
  for (const auto print : {probes::MultipathPrint::ll, probes::MultipathPrint::l, probes::MultipathPrint::v4})
    (void)probes::parse_multipath_tree(text, print, name);
  (void)probes::parse_multipath_json(text, name);
  (void)probes::parse_multipath_paths(text, name);
  std::uint32_t block = 1;
  (void)probes::parse_multipath_conf(text, name, block);

  const std::string scrubbed = probes::scrub_iscsi_conf(text);
  require(probes::scrub_iscsi_conf(scrubbed) == scrubbed);
  for (const auto& entry : probes::parse_iscsid_conf(scrubbed, name).facts)
    require(!probes::is_chap_credential(entry.key) || entry.value == "***" || entry.value.empty() ||
            entry.value.front() == '<' || entry.value.front() == '(');

  const auto sysfs = probes::parse_sysfs_text(text);
  (void)probes::storage_of_sysfs(sysfs.facts);
  const std::string clean = probes::scrub_sysfs_text(text);
  require(probes::scrub_sysfs_text(clean) == clean);

  const auto sections = probes::storage_sections(text);
  for (const auto* section : {&sections.session_list, &sections.session_print, &sections.multipath_tree})
    require(section->size() <= 2 * size + 2);
  return 0;
}
