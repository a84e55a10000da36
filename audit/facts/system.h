// Tunables, daemons and waiting tasks of the node. Sources: /proc/sys/{sunrpc,fs/nfs}, /sys/module/*/parameters,
// sysctl.d(5), modprobe.d(5), /proc/cmdline, /proc/PID/{stat,wchan,stack,cgroup} (proc(5)).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "audit/facts/fact.h"

namespace facts {

// A tunable of the NFS client, as it runs and as files set it.
struct KernelSetting {
  std::string name;              // sunrpc.tcp_max_slot_table_entries, nfs.max_session_slots, fs.nfs.nlm_grace_period
  std::string kind;              // sysctl, module parameter
  Fact<std::string> live;        // absent: the kernel has it not (not loaded, or no such key)
  Fact<std::string> configured;  // absent: no file that was read sets it
  Fact<std::string> origin;      // file:line of the value that wins
  std::vector<std::string> overridden;  // "file:line value" of those that lose
  Fact<bool> unknown_key;               // a file sets it and no kernel knows it; unknown: cannot tell
  Fact<std::string> meant;              // the name that was probably meant; absent: none

  template <class KernelSetting = facts::KernelSetting>
  static auto fields() {
    return std::array{
        Field{"name", &KernelSetting::name, "name, such as sunrpc.tcp_max_slot_table_entries or nfs.max_session_slots"},
        Field{"kind", &KernelSetting::kind, "sysctl or module parameter"},
        Field{"live", &KernelSetting::live,
              "value in use (a hash for an identity); null when the kernel has no such key"},
        Field{"configured", &KernelSetting::configured, "value that files set; null when none does"},
        Field{"origin", &KernelSetting::origin, "file:line of the configured value"},
        Field{"overridden", &KernelSetting::overridden, "file:line and value of settings that lose against it"},
        Field{"unknown_key", &KernelSetting::unknown_key, "a file sets it, but there is no such key"},
        Field{"meant", &KernelSetting::meant, "key that was probably meant; null when none is near"}};
  }
  bool operator==(const KernelSetting&) const = default;
};

// The settings that rules count with, as numbers. Absent: the kernel has none (module not loaded, older kernel).
struct RpcTunables {
  Fact<std::uint64_t> tcp_slot_table_entries;
  Fact<std::uint64_t> tcp_max_slot_table_entries;
  Fact<std::uint32_t> min_resvport;
  Fact<std::uint32_t> max_resvport;
  Fact<std::uint64_t> max_session_slots;
  Fact<std::uint64_t> nlm_grace_period_s;
  Fact<bool> recover_lost_locks;

  template <class RpcTunables = facts::RpcTunables>
  static auto fields() {
    return std::array{
        Field{"tcp_slot_table_entries", &RpcTunables::tcp_slot_table_entries, "slots a TCP transport starts with"},
        Field{"tcp_max_slot_table_entries", &RpcTunables::tcp_max_slot_table_entries, "most slots of a TCP transport"},
        Field{"min_resvport", &RpcTunables::min_resvport, "lowest reserved source port"},
        Field{"max_resvport", &RpcTunables::max_resvport, "highest reserved source port"},
        Field{"max_session_slots", &RpcTunables::max_session_slots, "NFSv4.1 session slots the client asks for"},
        Field{"nlm_grace_period_s", &RpcTunables::nlm_grace_period_s, "grace period of lockd; 0 means its default"},
        Field{"recover_lost_locks", &RpcTunables::recover_lost_locks, "lost NFSv4 locks are taken again"}};
  }
  bool operator==(const RpcTunables&) const = default;
};

// A task in uninterruptible sleep inside the NFS client, its RPC layer or lockd.
struct WaitingTask {
  std::uint32_t pid = 0;  // thread group
  std::uint32_t tid = 0;  // the thread that waits
  std::string comm;
  std::string layer;               // rpc, nfs, nfsd, lockd
  Fact<std::string> wchan;         // absent: the kernel names none
  std::vector<std::string> stack;  // innermost functions first, at most 24; empty: may not be read
  Fact<std::uint64_t> started_ms;  // after boot
  Fact<std::uint64_t> still_ms;    // it did not run at all for at least so long; 0: it ran while we looked
  Fact<std::string> pod_uid;       // absent: in no pod
  Fact<std::string> pod_namespace;
  Fact<std::string> pod_name;
  Fact<std::string> vm;  // namespace/name of the VM that the pod runs

  template <class WaitingTask = facts::WaitingTask>
  static auto fields() {
    return std::array{
        Field{"pid", &WaitingTask::pid, "process id in the node's pid namespace"},
        Field{"tid", &WaitingTask::tid, "id of the thread that waits"},
        Field{"comm", &WaitingTask::comm, "command name of the thread"},
        Field{"layer", &WaitingTask::layer, "where it waits: rpc, nfs, nfsd or lockd"},
        Field{"wchan", &WaitingTask::wchan, "kernel function it sleeps in; null when the kernel names none"},
        Field{"stack", &WaitingTask::stack, "kernel functions, innermost first; empty when it may not be read"},
        Field{"started_ms", &WaitingTask::started_ms, "start of the thread after boot"},
        Field{"still_ms", &WaitingTask::still_ms,
              "time for which it was seen not to run at all; 0 when it ran while it was looked at"},
        Field{"pod_uid", &WaitingTask::pod_uid, "uid of its pod by cgroup; null when in no pod"},
        Field{"pod_namespace", &WaitingTask::pod_namespace, "namespace of its pod"},
        Field{"pod_name", &WaitingTask::pod_name, "name of its pod"},
        Field{"vm", &WaitingTask::vm, "namespace/name of the VM that its pod runs"}};
  }
  bool operator==(const WaitingTask&) const = default;
};

// Which helpers of the NFS client (and of its neighbours) run. False only where the node's own process list was seen.
struct Daemons {
  Fact<bool> rpc_statd;
  Fact<bool> rpcbind;
  Fact<bool> lockd;  // kernel thread
  Fact<bool> rpc_gssd;
  Fact<bool> rpc_idmapd;
  Fact<bool> rpc_mountd;
  Fact<bool> cachefilesd;
  Fact<bool> tlshd;
  Fact<bool> automount;
  Fact<bool> iscsid;
  Fact<bool> multipathd;
  Fact<std::uint32_t> nfsd_threads_count;  // kernel threads of an NFS server on this node

  template <class Daemons = facts::Daemons>
  static auto fields() {
    return std::array{
        Field{"rpc_statd", &Daemons::rpc_statd, "rpc.statd runs (NFSv2/v3 lock recovery)"},
        Field{"rpcbind", &Daemons::rpcbind, "rpcbind or portmap runs"},
        Field{"lockd", &Daemons::lockd, "the kernel thread lockd runs (NFSv2/v3 locks)"},
        Field{"rpc_gssd", &Daemons::rpc_gssd, "rpc.gssd runs (Kerberos)"},
        Field{"rpc_idmapd", &Daemons::rpc_idmapd, "rpc.idmapd runs"},
        Field{"rpc_mountd", &Daemons::rpc_mountd, "rpc.mountd runs (an NFS server)"},
        Field{"cachefilesd", &Daemons::cachefilesd, "cachefilesd runs (local cache, fsc)"},
        Field{"tlshd", &Daemons::tlshd, "tlshd runs (RPC with TLS)"},
        Field{"automount", &Daemons::automount, "automount runs (autofs)"},
        Field{"iscsid", &Daemons::iscsid, "iscsid runs"},
        Field{"multipathd", &Daemons::multipathd, "multipathd runs"},
        Field{"nfsd_threads_count", &Daemons::nfsd_threads_count, "kernel threads of an NFS server on this node"}};
  }
  bool operator==(const Daemons&) const = default;
};

}  // namespace facts
