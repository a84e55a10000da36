// What must not leave the node: passwords in mount options, user names and secrets of Trident's tracking files, the
// machine id, the identity of the NFSv4 client, words of the kernel command line that do not concern NFS. Facts are
// made from scrubbed text, or come out the same from it, and a raw tree holds it.
#pragma once

#include <string>
#include <string_view>

#include "audit/base/result.h"

namespace probes {

inline constexpr std::string_view scrubbed_machine_id = "sha256:";

// Values of options such as password=, credentials=, username= become "***"; so do user and password in
// "scheme://user:password@host".
std::string mask_options(std::string_view options);
std::string mask_source(std::string_view source);
std::string scrub_mounts(std::string_view text);  // both, in /proc/1/mountinfo, /proc/mounts and mount -l
// An /etc/fstab with its option and source columns masked; everything else byte for byte.
std::string scrub_fstab(std::string_view text);
std::string scrub_machine_id(std::string_view text);

// A file as it may be kept in a raw tree, by its path in the root. malformed: it cannot be told what of it is secret.
base::Result<std::string> scrub_file(std::string_view path, std::string_view text);

// The same for what a command printed, by its name here (Host::command).
std::string scrub_command(std::string_view name, std::string_view text);
std::string scrub_session_print(std::string_view text);

}  // namespace probes
