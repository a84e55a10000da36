// Places besides fstab where mount options are asked for. Sources: nfsmount.conf(5), systemd.mount(5), the kernel's
// Documentation/admin-guide/nfs/nfsroot.rst.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "audit/facts/fact.h"

namespace facts {

// One assignment of nfsmount.conf. A later entry of the same section and key wins; MountPoint beats Server beats
// global; what the mount command names beats all.
struct NfsmountConfEntry {
  std::string path;
  std::uint32_t line = 0;
  std::string section;       // global, server, mountpoint
  Fact<std::string> name;    // server or mount point; absent for global
  std::string key;           // lower case
  std::string value;         // as written
  Fact<std::string> option;  // the mount option it becomes; absent: it becomes none

  template <class NfsmountConfEntry = facts::NfsmountConfEntry>
  static auto fields() {
    return std::array{
        Field{"path", &NfsmountConfEntry::path, "file inside the root"},
        Field{"line", &NfsmountConfEntry::line, "its line"},
        Field{"section", &NfsmountConfEntry::section, "global, server or mountpoint"},
        Field{"name", &NfsmountConfEntry::name, "server or mount point of the section; null for global"},
        Field{"key", &NfsmountConfEntry::key, "variable, lower case"},
        Field{"value", &NfsmountConfEntry::value, "value as written"},
        Field{"option", &NfsmountConfEntry::option, "mount option that it becomes; null when it becomes none"}};
  }
  bool operator==(const NfsmountConfEntry&) const = default;
};

// A mount unit with its drop-ins applied.
struct SystemdMount {
  std::string unit;
  std::string path;  // the unit file that counts
  std::vector<std::string> drop_ins;
  std::string what;
  std::string where;
  Fact<std::string> fs_type;
  Fact<std::string> options_text;
  Fact<std::string> source_path;  // SourcePath=: /etc/fstab when a generator wrote it

  template <class SystemdMount = facts::SystemdMount>
  static auto fields() {
    return std::array{
        Field{"unit", &SystemdMount::unit, "unit name"},
        Field{"path", &SystemdMount::path, "unit file that counts"},
        Field{"drop_ins", &SystemdMount::drop_ins, "drop-ins that were applied, in order"},
        Field{"what", &SystemdMount::what, "What="},
        Field{"where", &SystemdMount::where, "Where="},
        Field{"fs_type", &SystemdMount::fs_type, "Type=; null when not set"},
        Field{"options_text", &SystemdMount::options_text, "Options=; null when not set"},
        Field{"source_path", &SystemdMount::source_path, "file from which a generator made the unit; null for none"}};
  }
  bool operator==(const SystemdMount&) const = default;
};

// Root file system over NFS, from the kernel command line.
struct NfsRoot {
  std::string path;          // proc/cmdline, or the text given
  Fact<std::string> server;  // absent: from DHCP
  Fact<std::string> export_path;
  Fact<std::string> options_text;

  template <class NfsRoot = facts::NfsRoot>
  static auto fields() {
    return std::array{Field{"path", &NfsRoot::path, "where the command line was read"},
                      Field{"server", &NfsRoot::server, "server of nfsroot=; null when DHCP names it"},
                      Field{"export", &NfsRoot::export_path, "directory of nfsroot="},
                      Field{"options_text", &NfsRoot::options_text, "options of nfsroot=; null when there are none"}};
  }
  bool operator==(const NfsRoot&) const = default;
};

}  // namespace facts
