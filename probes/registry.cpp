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
    Probe{"iscsi", ProbeClass::passive, "iSCSI sessions, their disks, multipath maps, and what files ask of them",
          read_storage},
    Probe{"kubelet", ProbeClass::passive, "pods, volumes and virtual machines behind mounts", read_kubelet},
    Probe{"tunables", ProbeClass::passive, "tunables of the NFS client: live, and as files set them", read_tunables},
    Probe{"identity", ProbeClass::passive, "who the NFSv4 client says it is, as hashes", read_client_identity},
    Probe{"read-ahead", ProbeClass::passive, "read-ahead of each NFS file system", read_read_ahead},
    Probe{"sunrpc", ProbeClass::passive, "transports as the RPC layer lists them", read_xprt_switches},
    Probe{"network", ProbeClass::passive, "interfaces, paths and connections to the NFS servers", read_network},
    Probe{"tasks", ProbeClass::passive, "daemons that run and tasks that wait in NFS", read_tasks},
    Probe{"nfsmount.conf", ProbeClass::passive, "options that mount.nfs adds by nfsmount.conf", read_nfsmount_conf},
    Probe{"systemd", ProbeClass::passive, "mount units of network file systems", read_systemd_mounts},
    Probe{"nfsroot", ProbeClass::passive, "root over NFS by the kernel command line", read_nfsroot},
    Probe{"log", ProbeClass::passive, "known messages of kernel and daemons about network storage", read_log},
    Probe{"ss", ProbeClass::passive, "connections in pasted output of ss", read_ss},
    Probe{"rpcinfo", ProbeClass::passive, "registrations and rates in pasted output of rpcinfo and nfsiostat",
          read_rpcinfo},
    Probe{"asked", ProbeClass::passive, "which of these places asked for which mount", join_asked},
};

}  // namespace

std::span<const Probe> passive_probes() { return passive; }

}  // namespace probes
