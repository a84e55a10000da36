// Who logs in to a target: the name of the initiator, and CHAP. Secrets come from a file, the environment or a prompt,
// never from the command line, where every user of the machine can read them.
#pragma once

#include <optional>
#include <string>

#include "audit/base/result.h"
#include "cli/options.h"
#include "probes/wire/ask_iscsi.h"

namespace cli {

// --timeout, --deadline, --initiator, and CHAP for `user` (of the URL, or --chap-user). Asks for a secret on the
// terminal where there is one and nothing else gave it.
base::Result<wire::IscsiOptions> iscsi_options(const Settings& settings, const std::string& user);

}  // namespace cli
