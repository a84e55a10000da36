// Kernel, distribution and identity. Sources: /proc/sys/kernel/{osrelease,hostname,random/boot_id} (proc(5)),
// os-release(5), machine-id(5), uname(1).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "audit/facts/node.h"
#include "probes/parsed.h"

namespace probes {

// ID, VERSION_ID and PRETTY_NAME; shell quoting as os-release(5) allows it. A key that is not there is absent.
Parsed<facts::Kernel> parse_os_release(std::string_view text);

// "Linux NODE RELEASE ...", as uname -a prints it.
struct Uname {
  std::string node;
  std::string release;
};
std::optional<Uname> parse_uname(std::string_view text);

// First 16 hex digits of SHA-256 of the id: machine-id(5) asks not to show it. Also takes what scrub_machine_id made
// of one. Nothing when the text is no machine id ("uninitialized", empty).
std::optional<std::string> machine_id_hash(std::string_view text);

}  // namespace probes
