// fstab, Trident's tracking files and the kubelet's files on any bytes; what is kept of them reads back the same.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "audit/facts/config.h"
#include "probes/host/fstab.h"
#include "probes/host/kernel.h"
#include "probes/host/kubelet.h"
#include "probes/host/scrub_file.h"
#include "probes/host/trident.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto table = probes::parse_fstab(text);
  const std::string scrubbed = probes::scrub_fstab(text);
  require(probes::parse_fstab(scrubbed).facts == table.facts);
  require(probes::scrub_fstab(scrubbed) == scrubbed);

  if (const auto volume = probes::parse_trident(text, "/t/v.json")) {
    const auto kept = probes::parse_trident(probes::trident_json(volume->facts), "/t/v.json");
    require(kept && kept->facts == volume->facts);
  }
  (void)probes::parse_vol_data(text, "vol_data.json");
  if (const auto path = probes::parse_kubelet_path(text)) require(!path->volume.empty());
  if (const auto pod = probes::parse_pod_directory(text))
    require(pod->pod_namespace + "_" + pod->name + "_" + pod->uid == text);
  (void)probes::vm_of_pod(text);
  (void)probes::parse_os_release(text);
  (void)probes::parse_uname(text);
  const std::string id = probes::scrub_machine_id(text);
  require(probes::machine_id_hash(id) == probes::machine_id_hash(text));
  return 0;
}
