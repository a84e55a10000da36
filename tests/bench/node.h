// Writes a node of any size as a tree for `--root`: NFS mounts with their connections, as the kernel prints them.
#pragma once

#include <cstddef>
#include <filesystem>

namespace bench {

struct NodeShape {
  std::size_t mounts = 1000;
  std::size_t connections = 8;         // xprt lines of each mount
  std::size_t mounts_per_server = 20;  // mounts that share one client, and so its connections
};

// Creates /proc/1/mountinfo, /proc/1/mountstats, /etc/fstab and what names the node below `root`, which must be empty
// or absent. Throws std::runtime_error when a file cannot be written.
void write_node(const std::filesystem::path& root, const NodeShape& shape);

}  // namespace bench
