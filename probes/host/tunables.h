// Tunables of the NFS client: what runs, and what files set. Live: /proc/sys/{sunrpc,fs/nfs}, /sys/module/*/parameters.
// Files: sysctl.d(5), sysctl.conf(5), modprobe.d(5), and the kernel command line (/proc/cmdline).
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "audit/facts/system.h"
#include "probes/parsed.h"

namespace probes {

struct Assignment {
  std::string name;    // sunrpc.tcp_max_slot_table_entries; MODULE.PARAMETER for a module
  std::string value;   // a hash for an identity
  std::string kind;    // sysctl, module parameter
  std::string origin;  // file:line
};

// Settings of sunrpc, nfs, nfsv4, nfsv3, lockd, nfs_layout_*, xprtrdma, rpcrdma (modules) and sunrpc.*, fs.nfs.*
// (sysctl); all others are passed over in silence.
Parsed<std::vector<Assignment>> parse_sysctl_conf(std::string_view text, const std::string& path);
Parsed<std::vector<Assignment>> parse_modprobe_conf(std::string_view text, const std::string& path);
Parsed<std::vector<Assignment>> parse_cmdline(std::string_view text, const std::string& path);

// The same texts with the identity in nfs4_unique_id= replaced by its hash, for a capture. Of a command line only the
// words that concern NFS are kept: others may hold passwords (of iSCSI, of the boot loader).
std::string scrub_modprobe_conf(std::string_view text);
std::string scrub_cmdline(std::string_view text);

// Files of several directories in the order in which they are applied: sorted by name, and of equal names only the one
// in the directory named first (sysctl.d(5), modprobe.d(5)). A path each.
std::vector<std::string> apply_order(const std::vector<std::pair<std::string, std::vector<std::string>>>& directories);

// What the kernel runs. `listed`: the directories that could be listed, so that a missing key is known to be missing.
struct LiveSettings {
  struct Live {
    std::string value;
    std::string kind;  // sysctl, module parameter
  };
  std::map<std::string, Live> values;  // by name
  std::vector<std::string> listed;     // sunrpc, fs.nfs, and names of modules
  bool listed_prefix(std::string_view name) const;
};

// Joins both sides; later assignments win. A name that both a module parameter and a sysctl stand for is one setting.
std::vector<facts::KernelSetting> join_settings(const LiveSettings& live, const std::vector<Assignment>& configured);
facts::RpcTunables rpc_tunables(const LiveSettings& live);

// The key that was probably meant: nearest by spelling, or one of the same words in another order.
facts::Fact<std::string> meant_setting(std::string_view name, const std::vector<std::string>& known);

}  // namespace probes
