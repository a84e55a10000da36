// The rules as they were when the program was built. embedded.cpp is generated from rules/**/*.yaml by embed.cpp.
#pragma once

#include <span>
#include <string_view>

namespace rules {

struct EmbeddedFile {
  std::string_view path;  // "rules/nfs/NFS-VERS-001.yaml"
  std::string_view text;
};

std::span<const EmbeddedFile> embedded_rules();  // sorted by path
std::span<const EmbeddedFile> packed_rules();    // the same, parsed: texts for audit::unpack_yaml()

}  // namespace rules
