// One file of a server read by path, as a program on a mount would: mount, open, statvfs, one READ of the server's
// size, close, unmount. Small answers get through where a large one is lost (an MTU that is not the same along the
// path); this is the question that shows it. By libnfs, whose version only read_file.cpp knows.
#pragma once

#include <atomic>
#include <string>

#include "audit/facts/nfs_server.h"
#include "probes/io/loop.h"

namespace wire {

struct ReadFileOptions {
  io::Time end = {};                        // of all
  const std::atomic<bool>* stop = nullptr;  // when it becomes true: no further step
};

// libnfs trusts what it decodes: a count that no memory holds ends it by a signal. So it works in a child process, and
// what a server does to it costs this answer alone (EPROTO). The child ends with the time, the stop, or its parent.
//
// `server` as ask_nfs() found it. NFSv3 where the server answers it; else NFSv4.0, whose client id the server keeps
// until its lease is over (libnfs has no NFSv4.1, and says nothing of it when it goes). `path` below the export.
facts::NfsReadTest read_file(const facts::NfsServer& server, const std::string& export_path, const std::string& path,
                             const ReadFileOptions& options);

}  // namespace wire
