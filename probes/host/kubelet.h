// What the kubelet's directories say about a mount, from local disk only. Sources: Kubernetes pkg/volume (layout of
// /var/lib/kubelet/pods and plugins), pkg/volume/csi (vol_data.json), pkg/kubelet/kuberuntime (/var/log/pods),
// KubeVirt (names of virt-launcher pods).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "audit/base/result.h"
#include "audit/facts/nfs.h"

namespace probes {

// A mount point below the kubelet's directory, wherever that is.
struct KubeletPath {
  enum class Kind : unsigned char {
    volume,   // .../pods/UID/volumes/PLUGIN/VOLUME[/mount]
    subpath,  // .../pods/UID/volume-subpaths/VOLUME/CONTAINER/INDEX
    staged,   // .../plugins/kubernetes.io/csi/DRIVER/HASH/globalmount, before 1.24 .../csi/pv/PV/globalmount
  };
  Kind kind = Kind::volume;
  std::string pod_uid;                // empty when staged
  std::string plugin;                 // kubernetes.io~csi, kubernetes.io~nfs; csi when staged; empty for a subpath
  std::string volume;                 // name of the volume's directory
  facts::Fact<std::string> driver;    // where the path itself names it
  std::vector<std::string> vol_data;  // where vol_data.json may be: beside the mount, never inside
};
std::optional<KubeletPath> parse_kubelet_path(std::string_view target);

struct VolData {
  facts::Fact<std::string> driver;  // driverName
  facts::Fact<std::string> pv;      // specVolID; absent for an ephemeral inline volume
};
base::Result<VolData> parse_vol_data(std::string_view text, const std::string& where);

// A directory of /var/log/pods: NAMESPACE_NAME_UID.
struct PodName {
  std::string pod_namespace;
  std::string name;
  std::string uid;
};
std::optional<PodName> parse_pod_directory(std::string_view name);

// virt-launcher-VM-abcde: VM. Nothing when the pod is no virt-launcher, or its name was cut so that the VM cannot be
// told.
std::optional<std::string> vm_of_pod(std::string_view pod_name);

// Kubelet facts of mounts that were there before, by mount point: no directory is read twice.
void carry_over(const std::vector<facts::NfsMount>& from, std::vector<facts::NfsMount>& to);

}  // namespace probes
