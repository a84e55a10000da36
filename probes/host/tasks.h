// Daemons that run, and tasks that wait in the NFS client. Sources: /proc/PID/stat, /proc/PID/task/TID/{stat,wchan,
// status,stack} and /proc/PID/cgroup (proc(5)). None of these takes the memory map's lock, which a task that hangs in a
// page fault holds for ever; /proc/PID/cmdline, maps and exe do, and are never opened.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "audit/facts/system.h"
#include "probes/io/host.h"
#include "probes/parsed.h"

namespace probes {

// The part of /proc/PID/stat that is used.
struct TaskStat {
  std::uint32_t pid = 0;
  std::string comm;
  char state = '?';  // D: uninterruptible sleep
  std::uint32_t flags = 0;
  std::uint32_t threads = 0;
  std::uint64_t start_ticks = 0;                                     // 1/100 s after boot
  bool kernel_thread() const { return (flags & 0x00200000U) != 0; }  // PF_KTHREAD
};
facts::Fact<TaskStat> parse_task_stat(std::string_view line);

// All tasks of a node as one text, so that a capture holds one file and not thousands:
//   seen PROCESSES THREADS
//   proc STAT                          a daemon or kernel thread that we know, and pids 1 and 2
//   wait PID TID MS WCHAN STAT         a thread in state D; MS: it did not run for so long while we looked, - unknown
//   note WHY                           what cut the walk short
// STAT is the line of the kernel up to the start time. Bounded in number and time.
struct WalkLimits {
  std::chrono::milliseconds processes{400};
  std::chrono::milliseconds threads{300};
  std::size_t most = 100000;
  std::chrono::milliseconds look_again{100};  // how long tasks in NFS are looked at; 0: not at all
};
std::string walk_tasks(const Host& host, const WalkLimits& limits = {});

struct SeenTasks {
  facts::Daemons daemons;
  std::vector<facts::WaitingTask> waiting;  // of all kinds; layer and stack are not filled in
  std::uint32_t processes = 0;
  std::uint32_t threads = 0;
  bool whole_node = false;  // the kernel's own threads are in it: not just the processes of a container
  std::string cut;          // why the walk ended early; empty: it did not
};
Parsed<SeenTasks> parse_tasks(std::string_view text);

// Function names of /proc/PID/stack, innermost first, at most 24.
std::vector<std::string> parse_stack(std::string_view text);

// lockd, nfsd, nfs or rpc; empty when no function is one of theirs. A lock that waits in RPC counts as lockd.
std::string waiting_layer(std::string_view wchan, const std::vector<std::string>& stack);

// Uid of the pod in a text of /proc/PID/cgroup: kubepods slices of systemd and cgroupfs. Empty when in no pod.
std::string pod_uid_of_cgroup(std::string_view text);

}  // namespace probes
