// What was asked for, as files on the node say it. Sources: fstab(5); Trident's node plugin state under
// /var/lib/trident/tracking (keys with Username or Secret are never read).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "audit/facts/fact.h"
#include "audit/facts/mount_config.h"

namespace facts {

struct FstabEntry {
  std::uint32_t line = 0;
  std::string source;
  std::string target;
  std::string fs_type;
  Fact<std::string> options_text;  // absent: the line ends before it (fstab(5): defaults)
  Fact<std::int64_t> dump;
  Fact<std::int64_t> pass;

  template <class FstabEntry = facts::FstabEntry>
  static auto fields() {
    return std::array{
        Field{"line", &FstabEntry::line, "line of /etc/fstab"},
        Field{"source", &FstabEntry::source, "fs_spec, decoded"},
        Field{"target", &FstabEntry::target, "fs_file, decoded"},
        Field{"fs_type", &FstabEntry::fs_type, "fs_vfstype"},
        Field{"options_text", &FstabEntry::options_text, "fs_mntops as written; null when the line ends before it"},
        Field{"dump", &FstabEntry::dump, "fs_freq"},
        Field{"pass", &FstabEntry::pass, "fs_passno"}};
  }
  bool operator==(const FstabEntry&) const = default;
};

struct TridentVolume {
  std::string path;    // tracking file inside the root
  std::string volume;  // its name without .json
  Fact<std::string> mount_options;
  Fact<std::string> nfs_server;
  Fact<std::string> nfs_path;
  Fact<std::string> iscsi_target_iqn;
  Fact<std::string> iscsi_target_portal;
  Fact<std::vector<std::string>> iscsi_portals;
  Fact<std::int64_t> iscsi_lun;
  Fact<std::string> iscsi_lun_serial;
  Fact<std::vector<std::string>> published_paths;

  template <class TridentVolume = facts::TridentVolume>
  static auto fields() {
    return std::array{
        Field{"path", &TridentVolume::path, "tracking file inside the root"},
        Field{"volume", &TridentVolume::volume, "volume (PersistentVolume) name"},
        Field{"mount_options", &TridentVolume::mount_options, "mountOptions; null when there are none"},
        Field{"nfs_server", &TridentVolume::nfs_server, "nfsServerIp"},
        Field{"nfs_path", &TridentVolume::nfs_path, "nfsPath"},
        Field{"iscsi_target_iqn", &TridentVolume::iscsi_target_iqn, "iscsiTargetIqn"},
        Field{"iscsi_target_portal", &TridentVolume::iscsi_target_portal, "iscsiTargetPortal"},
        Field{"iscsi_portals", &TridentVolume::iscsi_portals, "iscsiPortals"},
        Field{"iscsi_lun", &TridentVolume::iscsi_lun, "iscsiLunNumber"},
        Field{"iscsi_lun_serial", &TridentVolume::iscsi_lun_serial, "iscsiLunSerial"},
        Field{"published_paths", &TridentVolume::published_paths, "where the volume was published (mount points)"}};
  }
  bool operator==(const TridentVolume&) const = default;
};

struct Config {
  Fact<std::vector<FstabEntry>> fstab;  // unknown: could not be read; absent: there is no /etc/fstab
  Fact<std::vector<TridentVolume>> trident;
  Fact<std::vector<NfsmountConfEntry>> nfsmount_conf;  // absent: there is no such file
  Fact<std::vector<SystemdMount>> systemd_mounts;
  Fact<NfsRoot> nfsroot;  // absent: the command line names none

  template <class Config = facts::Config>
  static auto fields() {
    return std::array{Field{"fstab", &Config::fstab, "entries of /etc/fstab"},
                      Field{"trident", &Config::trident, "volumes that Trident's node plugin tracks"},
                      Field{"nfsmount_conf", &Config::nfsmount_conf, "assignments of nfsmount.conf and its .d"},
                      Field{"systemd_mounts", &Config::systemd_mounts, "mount units of network file systems"},
                      Field{"nfsroot", &Config::nfsroot, "root over NFS; null when the kernel was not told so"}};
  }
  bool operator==(const Config&) const = default;
};

}  // namespace facts
