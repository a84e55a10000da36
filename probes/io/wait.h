// Waiting for children, never without a limit: one in uninterruptible sleep (D state, a dead hard mount) outlives
// SIGKILL for as long as the kernel keeps it. waitid(2), pidfd_open(2).
#pragma once

#include <chrono>
#include <optional>

namespace io {

// Whether the child has ended; it is not reaped. Also true for what is no child of this process.
bool has_ended(int pid);

// Waits for the end of a child, at most so long; true when it has ended. `pidfd` may be -1: then it is looked at every
// few milliseconds.
bool wait_until_ended(int pid, int pidfd, std::chrono::milliseconds at_most);

// How a child ended, as a shell says it: its exit status, or 128 and the signal. Only of one that has ended; returns at
// once. 0 where it is not known.
int reap(int pid);

// SIGKILL, and the end of the child as reap() tells it; nothing when it had to be left behind.
std::optional<int> end_child(int pid, std::chrono::milliseconds at_most);

}  // namespace io
