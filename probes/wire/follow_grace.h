// A server watched through a restart or takeover: when it went, when it came back in its grace period, when that was
// over. No protocol names the length of a grace period; this is how it can be known.
#pragma once

#include <functional>
#include <string>

#include "audit/facts/nfs_server.h"
#include "probes/wire/ask_nfs.h"

namespace wire {

struct GraceSeen {
  facts::Fact<std::uint32_t> grace_s;  // known when its begin and its end were seen
  std::string how;                     // what was seen, in words
};

// Asks twice a second whether a lock would be granted, for `at_most`, until a grace period has begun and ended, or
// until the stop flag of the options. A grace period that was under way at the first answer is waited for; its length
// stays unknown, as its begin was not seen. `tell` hears of each change: "in its grace period", "does not answer
// (refused)".
GraceSeen follow_grace(const NfsTarget& target, const AskOptions& options, io::Duration at_most,
                       const std::function<void(double seconds, const std::string& what)>& tell);

}  // namespace wire
