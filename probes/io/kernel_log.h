// The running kernel's log.
#pragma once

#include <string>

#include "audit/base/result.h"

namespace probes {

// syslog(2), SYSLOG_ACTION_READ_ALL: the whole ring buffer, not waiting and taking nothing away. With
// kernel.dmesg_restrict it needs CAP_SYSLOG. Errors: denied, io. At most 16 MiB, the newest.
base::Result<std::string> read_kernel_log();

}  // namespace probes
