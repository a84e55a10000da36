// What a pasted terminal session holds of iscsiadm and multipath: each kind of output cut out, on lines of its own
// number, so that its parser sees nothing else and notes name the right line.
#pragma once

#include <string>
#include <string_view>

namespace probes {

// Empty where there is none of that kind.
struct StorageSections {
  std::string session_list;   // tcp: [1] ...
  std::string session_print;  // Target: ..., Current Portal: ...
  std::string session_hosts;  // session12 host8
  std::string multipath_tree;
};

StorageSections storage_sections(std::string_view text);

}  // namespace probes
