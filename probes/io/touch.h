// One statfs(2) on each of some paths, made by children that are left behind when they hang. statfs(2), because the NFS
// client has no cache for it (fs/nfs/super.c, nfs_statfs): the server has to answer.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace probes {

struct Touched {
  enum class How : unsigned char { ended, timeout, left_behind, not_started } how = How::not_started;
  int error = 0;  // errno of the call when it ended; of fork(2) or pipe(2) when it was not started
  std::chrono::duration<double, std::milli> duration{0};
};

// What the child does: returns 0 or errno. It runs between fork and _exit, so it may only call what signal-safety(7)
// lists. Tests put something here that blocks.
using TouchCall = int (*)(const char* path);
int touch_by_statfs(const char* path);

// All at once, 64 at a time; none is waited for longer than `deadline`, which counts for all together. A child holds no
// descriptor but its pipe: nobody who reads our output waits for one that stays.
std::vector<Touched> touch_paths(const std::vector<std::string>& paths, std::chrono::milliseconds deadline,
                                 TouchCall call = touch_by_statfs);

}  // namespace probes
