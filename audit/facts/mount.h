// A line of the mount table that matters to storage over a network, look-alikes included.
// Sources: /proc/PID/mountinfo (proc(5), fs/proc_namespace.c), /proc/mounts, mount(8).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "audit/facts/fact.h"

namespace facts {

struct Mount {
  Fact<std::uint32_t> mount_id;   // field 1; not unique across pasted files
  Fact<std::uint32_t> parent_id;  // field 2; may name a mount that is not there
  Fact<std::string> device;       // field 3, major:minor of st_dev
  Fact<std::string> root;         // field 4, root of the mount within the file system
  std::string target;             // field 5, mount point, decoded once
  std::string source;             // decoded
  std::string fs_type;
  Fact<std::string> options_text;        // field 6, per-mount options, as printed
  Fact<std::string> super_options_text;  // super options, as printed
  std::string kind;                      // nfs, nfs-server, rpc_pipefs, autofs, fuse, network, other
  bool target_deleted = false;           // the directory was removed under the mount
  Fact<std::string> hidden_by;           // mount point of a later mount on the same or a higher directory

  template <class Mount = facts::Mount>
  static auto fields() {
    return std::array{Field{"mount_id", &Mount::mount_id, "mount id of mountinfo; not unique across pasted files"},
                      Field{"parent_id", &Mount::parent_id, "mount id of the parent"},
                      Field{"device", &Mount::device, "major:minor of the file system"},
                      Field{"root", &Mount::root, "root of the mount within its file system"},
                      Field{"target", &Mount::target, "mount point"},
                      Field{"source", &Mount::source, "source as the kernel shows it"},
                      Field{"fs_type", &Mount::fs_type, "file system type"},
                      Field{"options_text", &Mount::options_text, "per-mount options as printed"},
                      Field{"super_options_text", &Mount::super_options_text, "file system options as printed"},
                      Field{"kind", &Mount::kind, "nfs, nfs-server, rpc_pipefs, autofs, fuse, network or other"},
                      Field{"target_deleted", &Mount::target_deleted, "the directory was removed under the mount"},
                      Field{"hidden_by", &Mount::hidden_by, "mount point of a later mount that hides this one"}};
  }
  bool operator==(const Mount&) const = default;
};

}  // namespace facts
