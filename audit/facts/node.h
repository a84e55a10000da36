// The node and where every fact came from. Sources: uname(2), /proc/sys/kernel/*, /etc/os-release.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "audit/facts/fact.h"
#include "audit/facts/system.h"

namespace facts {

// One row of provenance: what was read or asked, and how that went.
struct Source {
  std::string id;      // the probe, as in probes/registry.cpp
  std::string name;    // path inside the root, command, or host:port
  std::string status;  // ok absent denied timeout malformed refused skipped
  std::string detail;  // why, in words; for a malformed one the line
  Fact<std::uint64_t> duration_us;

  template <class Source = facts::Source>
  static auto fields() {
    return std::array{Field{"id", &Source::id, "the probe that asked, as listed in the registry"},
                      Field{"name", &Source::name, "path inside the root, command, or host:port"},
                      Field{"status", &Source::status, "ok, absent, denied, timeout, malformed, refused or skipped"},
                      Field{"detail", &Source::detail, "why, in words; the line where a text was malformed"},
                      Field{"duration_us", &Source::duration_us, "how long it took"}};
  }
  bool operator==(const Source&) const = default;
};

struct Node {
  std::string name;
  std::string root;                   // "/" or what --root named
  bool live = false;                  // this kernel's own /proc
  Fact<std::string> view;             // proc/1, proc/self or proc: whose mount table was read
  Fact<std::string> boot_id;          // /proc/sys/kernel/random/boot_id
  Fact<std::string> machine_id_hash;  // SHA-256 of /etc/machine-id, first 16 hex digits
  Fact<std::string> collected_at;     // RFC 3339, UTC
  Fact<std::uint64_t> boottime_ns;    // CLOCK_BOOTTIME when mountstats was read
  Fact<bool> kubelet;                 // /var/lib/kubelet/pods exists
  Fact<bool> virt_launcher;           // a virt-launcher pod runs here
  Fact<bool> trident;                 // Trident's node plugin keeps state here
  Daemons daemons;

  template <class Node = facts::Node>
  static auto fields() {
    return std::array{
        Field{"name", &Node::name, "host name"},
        Field{"root", &Node::root, "the root that was read: / or the directory given"},
        Field{"live", &Node::live, "true when the root shows this kernel's own /proc"},
        Field{"view", &Node::view, "whose mount table was read: proc/1, proc/self or proc"},
        Field{"boot_id", &Node::boot_id, "boot id of the kernel"},
        Field{"machine_id_hash", &Node::machine_id_hash, "first 16 hex digits of SHA-256 of /etc/machine-id"},
        Field{"collected_at", &Node::collected_at, "wall clock when it was read, RFC 3339, UTC"},
        Field{"boottime_ns", &Node::boottime_ns, "CLOCK_BOOTTIME when the counters were read"},
        Field{"kubelet", &Node::kubelet, "a kubelet keeps its pods on this node"},
        Field{"virt_launcher", &Node::virt_launcher, "virtual machines (virt-launcher pods) run on this node"},
        Field{"trident", &Node::trident, "NetApp Trident's node plugin keeps its state on this node"},
        Field{"daemons", &Node::daemons, "helpers of network storage that run"}};
  }
  bool operator==(const Node&) const = default;
};

struct Kernel {
  Fact<std::string> release;               // uname -r
  Fact<std::string> distribution;          // ID= of os-release
  Fact<std::string> distribution_version;  // VERSION_ID=
  Fact<std::string> distribution_name;     // PRETTY_NAME=
  RpcTunables rpc;
  Fact<std::vector<KernelSetting>> settings;
  Fact<std::vector<WaitingTask>> tasks;
  Fact<std::uint32_t> blocked_tasks_count;  // in uninterruptible sleep wherever

  template <class Kernel = facts::Kernel>
  static auto fields() {
    return std::array{Field{"release", &Kernel::release, "kernel release, uname -r"},
                      Field{"distribution", &Kernel::distribution, "ID of os-release(5)"},
                      Field{"distribution_version", &Kernel::distribution_version, "VERSION_ID of os-release(5)"},
                      Field{"distribution_name", &Kernel::distribution_name, "PRETTY_NAME of os-release(5)"},
                      Field{"rpc", &Kernel::rpc, "tunables of the NFS client as numbers"},
                      Field{"settings", &Kernel::settings, "tunables of the NFS client: live and configured"},
                      Field{"tasks", &Kernel::tasks, "tasks in state D inside NFS, RPC or lockd"},
                      Field{"blocked_tasks_count", &Kernel::blocked_tasks_count, "all tasks in state D, whatever for"}};
  }
  bool operator==(const Kernel&) const = default;
};

}  // namespace facts
