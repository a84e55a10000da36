// One row per probe: name, class, sentence, function. Passive probes run in this order; later ones join to earlier
// ones.
#include <array>

#include "probes/probe.h"

namespace probes {

namespace {

constexpr std::array passive{
    Probe{"kernel", ProbeClass::passive, "kernel, distribution and identity of the node", read_kernel},
    Probe{"mounts", ProbeClass::passive, "mount table and NFS counters of the kernel", read_mounts},
    Probe{"fstab", ProbeClass::passive, "what /etc/fstab asks for", read_fstab},
    Probe{"trident", ProbeClass::passive, "what Trident's node plugin was told to mount", read_trident},
    Probe{"kubelet", ProbeClass::passive, "pods, volumes and virtual machines behind mounts", read_kubelet},
    Probe{"asked", ProbeClass::passive, "which of these places asked for which mount", join_asked},
};

}  // namespace

std::span<const Probe> passive_probes() { return passive; }

}  // namespace probes
