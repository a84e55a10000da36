// What people paste besides log lines: mount commands with what they answered, exports(5), kernel stacks, a kernel
// command line.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "audit/facts/log.h"

namespace probes {

// The words of a command line as sh(1) divides them: quotes and backslashes, no expansion.
std::vector<std::string> shell_words(std::string_view line);

// What stands behind a prompt ("# ", "$ ", "[root@host ~]# ", "root@host:~# ", "+ "); the whole line when there is
// none.
std::string_view after_prompt(std::string_view line, bool& prompted);

// A mount command for a network file system: mount, mount.nfs, mount.nfs4, with or without sudo and a path. Nothing for
// a listing, another command or another file system.
std::optional<facts::MountAttempt> parse_mount_command(std::string_view line);
// "-t nfs -o hard,nfsvers=3 server:/export /mnt", as kubelet's "Mounting arguments:" has it.
std::optional<facts::MountAttempt> parse_mount_arguments(std::string_view arguments);

// One line of exports(5); empty when it is none.
std::vector<facts::PastedExport> parse_export_line(std::string_view line);

// The function of one line of a kernel stack: "[<0>] rpc_wait_bit_killable+0xd/0x70 [sunrpc]" or the bare name.
std::optional<std::string_view> stack_function(std::string_view line);

}  // namespace probes
