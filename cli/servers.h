// The questions to the servers that a node mounts from, put while the rest of the program goes on.
#pragma once

#include <atomic>
#include <functional>
#include <vector>

#include "audit/base/result.h"
#include "audit/facts/facts.h"
#include "cli/options.h"
#include "probes/wire/ask_iscsi.h"
#include "probes/wire/ask_nfs.h"

namespace cli {

// What to do with the facts as they are, when the answers take longer than a reader should wait.
using OnSlow = std::function<void(const facts::Facts&)>;

// --timeout and --deadline.
base::Result<wire::AskOptions> ask_options(const Settings& settings);

// Runs work that ends soon after its stop flag is set, and sets it at a signal.
void run_stoppable(const std::function<void(const std::atomic<bool>& stop)>& work);

// Puts the questions within --timeout and --deadline. A signal ends them; what was answered stays. `on_slow` runs once,
// before the wait is announced, when the answers take longer than a reader should wait.
base::Result<std::vector<wire::NfsAnswer>> ask_targets(const Settings& settings,
                                                       const std::vector<wire::NfsTarget>& targets,
                                                       const std::function<void()>& on_slow);

// The same for iSCSI portals; `options` hold the times.
wire::IscsiAnswers ask_portals(const Settings& settings, const std::vector<wire::IscsiPortalTarget>& portals,
                               const wire::IscsiOptions& options, const std::function<void()>& on_slow);

// Asks every server of nfs.servers with a known address, and the portals of the node's iSCSI sessions (with --login
// their targets too), within --timeout and --deadline, and joins the answers. A signal ends the questions; what was
// answered stays. Without servers and sessions nothing is sent.
base::Result<void> ask_servers(const Settings& settings, facts::Facts& facts, const OnSlow& on_slow);

}  // namespace cli
