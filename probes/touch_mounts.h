// The last question to a mount: does its server answer a statfs(2)? Class wire: a packet leaves. It is put on a live
// root only, and not with --passive, to one mount of each client whose sockets, counters, log and answers all look
// healthy; who may be touched is for the caller to say.
#pragma once

#include <chrono>
#include <cstddef>
#include <vector>

#include "audit/facts/facts.h"
#include "probes/io/host.h"
#include "probes/io/touch.h"

namespace probes {

// Fills nfs.clients[].touch of `clients` (indices) and leaves a source row for each, "touch". Only a mount that our own
// mount table shows with the same device below host.root() is touched, and none that lies inside a mount of a client
// that may not be. `own_mountinfo` is /proc/self/mountinfo; `call` is for tests.
void touch_mounts(const Host& host, facts::Facts& facts, const std::vector<std::size_t>& clients,
                  std::string_view own_mountinfo, std::chrono::milliseconds deadline, TouchCall call = touch_by_statfs);

}  // namespace probes
