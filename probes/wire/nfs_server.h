// The questions to one NFS server. They form a ladder: each answer starts the questions that needed it, all others run
// side by side, on at most five connections. The longest chain is six round trips:
//   1  NULL of 3 and 4, empty COMPOUND of 4.0 to 4.3, 4.0 attributes and directory | rpcbind DUMP 2, 3, 4
//   2  EXCHANGE_ID | 4.0 LOCKT | NULL, EXPORT and MNT of mountd | NULL of NLM and NSM | AUTH_TLS
//   3  CREATE_SESSION | FSINFO, FSSTAT, PATHCONF, GETATTR, READDIRPLUS
//   4  RECLAIM_COMPLETE, and what 4.0 could not tell | NLM_TEST
//   5  LOCKT in the session (or a directory deeper), 6 LOCKT there
// Then NULL and GETATTR one at a time for the first latency, then clean-up.
#pragma once

#include <functional>
#include <memory>

#include "probes/io/loop.h"
#include "probes/wire/address.h"
#include "probes/wire/ask_nfs.h"

namespace wire {

class NfsServerAsk {
 public:
  virtual ~NfsServerAsk() = default;
  virtual void stop() = 0;  // no more questions; clean up
};

// Starts now; `then` runs once, in the loop, by `end` at the latest. Answers until a little before it, to leave time
// for the clean-up.
std::shared_ptr<NfsServerAsk> ask_nfs_server(io::Loop& loop, const NfsTarget& target, const Address& address,
                                             const AskOptions& options, io::Time end,
                                             std::function<void(NfsAnswer)> then);

}  // namespace wire
