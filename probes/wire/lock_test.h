// One real lock of each kind that a server offers: a file made for it, its first byte locked and released, the file
// removed. It changes the server, so it runs only where the user named a directory for it (--allow-write). What was
// made is taken back whatever happens in between, a signal included: unlock, close, remove, then session and client id.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "audit/base/result.h"
#include "audit/facts/nfs_server.h"
#include "probes/io/loop.h"

namespace wire {

struct LockTestOptions {
  io::Duration timeout = std::chrono::seconds(2);  // one step
  io::Time end = {};                               // of all, clean-up included
  const std::atomic<bool>* stop = nullptr;         // when it becomes true: no further step, clean up
};

// `directory` as the user gave it: below the export, or a path of the server that begins with the export; "." is the
// export itself. The path on the server, or ErrorKind::usage.
base::Result<std::string> lock_test_directory(const std::string& export_path, const std::string& directory);

// `server` as ask_nfs() found it: its address, ports and versions. NFSv3 by the lock manager, and the highest of 4.2
// and 4.1; a client id of NFSv4.0 could not be removed again, so that version is left out and says so. `directory` as
// above. An entry for each version that the server answers.
std::vector<facts::NfsLockTest> test_locks(const facts::NfsServer& server, const std::string& export_path,
                                           const std::string& directory, const LockTestOptions& options);

}  // namespace wire
