// What rules can name about messages of kernel and daemons: each kept message with the mounts it is about, grace
// periods of servers, and lines of the mount table that only look like NFS.
#pragma once

#include <vector>

#include "audit/eval/derive.h"

namespace audit {

// log.messages, log.grace_periods, mounts; adds what the log says of a client to nfs.clients.
void add_log_scopes(std::vector<Scope>& all);

}  // namespace audit
