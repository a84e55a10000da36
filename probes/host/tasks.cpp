#include "probes/host/tasks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <thread>

#include "audit/base/text.h"
#include "probes/budget.h"
#include "probes/host/kubelet.h"
#include "probes/host/lines.h"
#include "probes/probe.h"

namespace probes {

namespace {

using facts::Fact;

constexpr std::size_t most_stack = 24;
constexpr std::size_t most_waiting = 512;

// comm is cut after 15 characters.
struct KnownDaemon {
  std::string_view comm;
  bool kernel_thread;
  Fact<bool> facts::Daemons::*fact;
};
constexpr std::array known_daemons{
    KnownDaemon{"rpc.statd", false, &facts::Daemons::rpc_statd},
    KnownDaemon{"rpcbind", false, &facts::Daemons::rpcbind},
    KnownDaemon{"portmap", false, &facts::Daemons::rpcbind},
    KnownDaemon{"lockd", true, &facts::Daemons::lockd},
    KnownDaemon{"rpc.gssd", false, &facts::Daemons::rpc_gssd},
    KnownDaemon{"rpc.idmapd", false, &facts::Daemons::rpc_idmapd},
    KnownDaemon{"rpc.mountd", false, &facts::Daemons::rpc_mountd},
    KnownDaemon{"cachefilesd", false, &facts::Daemons::cachefilesd},
    KnownDaemon{"tlshd", false, &facts::Daemons::tlshd},
    KnownDaemon{"automount", false, &facts::Daemons::automount},
    KnownDaemon{"iscsid", false, &facts::Daemons::iscsid},
    KnownDaemon{"multipathd", false, &facts::Daemons::multipathd},
};
constexpr std::string_view nfsd_comm = "nfsd";

const KnownDaemon* find_daemon(const TaskStat& stat) {
  for (const auto& daemon : known_daemons) {
    if (daemon.comm == stat.comm && daemon.kernel_thread == stat.kernel_thread()) return &daemon;
  }
  return nullptr;
}

bool starts_with_any(std::string_view text, std::initializer_list<std::string_view> prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(), [&](std::string_view p) { return text.starts_with(p); });
}

std::string_view layer_of_function(std::string_view name) {
  if (starts_with_any(name, {"nlmclnt_", "nlm_", "nlmsvc_", "lockd_", "__nlm", "nsm_"})) return "lockd";
  if (starts_with_any(name, {"nfsd_", "nfsd4_", "nfsd3_", "svc_"}) || name == "nfsd") return "nfsd";
  if (starts_with_any(name, {"nfs_", "nfs2_", "nfs3_", "nfs4_", "nfs40_", "nfs41_", "nfs42_", "_nfs4", "__nfs", "pnfs_",
                             "ff_layout_", "filelayout_"}))
    return "nfs";
  if (starts_with_any(name,
                      {"rpc_", "__rpc_", "rpcb_", "xprt_", "xs_tcp_", "xs_udp_", "xs_connect", "xs_stream_", "gss_"}))
    return "rpc";
  return {};
}

// Up to the start time, which is the 22nd field: the 20th behind the name.
std::string_view used_part(std::string_view stat) {
  auto end = stat.rfind(')');
  if (end == std::string_view::npos) return stat;
  for (int field = 0; field < 20 && end != std::string_view::npos; ++field) end = stat.find(' ', end + 1);
  if (end == std::string_view::npos) return base::trim(stat);
  const auto next = stat.find_first_of(" \n", end + 1);
  return stat.substr(0, next);
}

}  // namespace

Fact<TaskStat> parse_task_stat(std::string_view line) {
  const auto open = line.find('(');
  const auto close = line.rfind(')');  // the name itself may hold anything
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return {};
  const auto pid = base::number<std::uint32_t>(base::trim(line.substr(0, open)));
  const auto f = base::fields(base::trim(line.substr(close + 1)));
  if (!pid || f.size() < 20 || f[0].size() != 1) return {};
  const auto flags = base::number<std::uint32_t>(f[6]);
  const auto threads = base::number<std::uint32_t>(f[17]);
  const auto start = base::number<std::uint64_t>(f[19]);
  if (!flags || !threads || !start) return {};
  TaskStat stat;
  stat.pid = *pid;
  stat.comm = std::string(line.substr(open + 1, close - open - 1));
  stat.state = f[0][0];
  stat.flags = *flags;
  stat.threads = *threads;
  stat.start_ticks = *start;
  return stat;
}

std::vector<std::string> parse_stack(std::string_view text) {
  // "[<0>] rpc_wait_bit_killable+0xd/0x70 [sunrpc]"; kernels before 4.x print an address in the brackets.
  std::vector<std::string> functions;
  std::string_view line;
  while (functions.size() < most_stack && base::next_line(text, line)) {
    auto f = base::fields(line);
    if (!f.empty() && f[0].starts_with("[<") && f[0].ends_with(']')) f.erase(f.begin());
    if (f.empty()) continue;
    const auto name = f[0].substr(0, f[0].find('+'));
    if (!name.starts_with("0x")) functions.emplace_back(name);  // the end mark of old kernels: 0xffffffffffffffff
  }
  return functions;
}

std::string waiting_layer(std::string_view wchan, const std::vector<std::string>& stack) {
  std::string_view innermost = layer_of_function(wchan);
  for (const auto& function : stack) {
    const auto layer = layer_of_function(function);
    if (layer == "lockd") return "lockd";
    if (innermost.empty()) innermost = layer;
  }
  return std::string(innermost);
}

std::string pod_uid_of_cgroup(std::string_view text) {
  std::string_view line;
  while (base::next_line(text, line)) {
    for (auto part : base::split(line, '/')) {
      if (part.ends_with(".slice")) part.remove_suffix(6);
      const auto pod = part.rfind("pod");
      if (pod == std::string_view::npos || (pod != 0 && part[pod - 1] != '-')) continue;
      std::string uid(part.substr(pod + 3));
      std::replace(uid.begin(), uid.end(), '_', '-');  // systemd keeps - for the hierarchy
      const bool good = std::all_of(
          uid.begin(), uid.end(), [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || c == '-'; });
      // A UUID, or 32 digits for a static pod.
      if (good && (uid.size() == 36 || uid.size() == 32)) return uid;
    }
  }
  return {};
}

namespace {

std::string task_directory(std::uint32_t pid, std::uint32_t tid) { return fmt::format("/proc/{}/task/{}", pid, tid); }

// Voluntary and other context switches together: a task that has not run has the same number as before.
Fact<std::uint64_t> switches_of(const Host& host, std::uint32_t pid, std::uint32_t tid) {
  const auto text = host.read(task_directory(pid, tid) + "/status");
  if (!text) return {};
  std::string_view rest = *text;
  std::string_view line;
  Fact<std::uint64_t> sum;
  while (base::next_line(rest, line)) {
    const auto colon = line.find("voluntary_ctxt_switches:");
    if (colon == std::string_view::npos) continue;
    const auto value = base::number<std::uint64_t>(base::trim(line.substr(line.find(':') + 1)));
    if (value) sum = sum.value_or(0) + *value;
  }
  return sum;
}

struct Waiting {
  std::uint32_t pid = 0;
  std::uint32_t tid = 0;
  std::string stat;
  std::string wchan;
  Fact<std::uint64_t> switches;
  Fact<std::uint64_t> still_ms;
};

// "0" where the kernel names none or we may not see it.
std::string read_wchan(const Host& host, const std::string& directory) {
  const auto text = host.read(directory + "/wchan");
  const std::string wchan = text ? std::string(base::trim(*text)) : std::string();
  return wchan.empty() || wchan.find_first_of(" \n") != std::string::npos ? "0" : wchan;
}

class TaskWalk {
 public:
  TaskWalk(const Host& host, const WalkLimits& limits) : host_(host), limits_(limits) {}

  std::string text() {
    processes();
    threads();
    look_again();
    return written();
  }

 private:
  void processes() {
    auto names = host_.list("/proc");
    if (!names) return;
    std::vector<std::uint32_t> pids;
    for (const auto& name : *names) {
      if (const auto pid = base::number<std::uint32_t>(name)) pids.push_back(*pid);
    }
    std::sort(pids.begin(), pids.end());
    auto budget = Budget::of(host_, limits_.processes, limits_.most);
    for (const auto pid : pids) {
      if (!budget.take()) break;
      const auto text = host_.read(fmt::format("/proc/{}/stat", pid));
      if (!text) continue;  // it ended meanwhile
      const auto stat = parse_task_stat(*text);
      if (!stat.has_value()) continue;
      ++seen_processes_;
      if (find_daemon(*stat) != nullptr || pid <= 2 || (stat->kernel_thread() && stat->comm == nfsd_comm))
        daemons_ += fmt::format("proc {}\n", used_part(*text));
      if (stat->threads > 1)
        many_.emplace_back(pid, stat->comm.starts_with("qemu") ? 0 : 1);
      else if (stat->state == 'D')
        add_waiting(pid, pid, *text);
    }
    if (budget.spent()) notes_ += "note " + budget.why("processes") + "\n";
  }

  // Threads that are not the first: virtual machines first, for their disks are what matters most here.
  void threads() {
    std::stable_sort(many_.begin(), many_.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    auto budget = Budget::of(host_, limits_.threads, limits_.most);
    for (const auto& [pid, rank] : many_) {
      if (budget.spent()) break;
      const auto tids = host_.list(fmt::format("/proc/{}/task", pid));
      if (!tids) continue;
      for (const auto& name : *tids) {
        const auto tid = base::number<std::uint32_t>(name);
        if (!tid) continue;
        if (!budget.take()) break;
        const auto text = host_.read(task_directory(pid, *tid) + "/stat");
        if (!text) continue;
        ++seen_threads_;
        if (const auto stat = parse_task_stat(*text); stat.has_value() && stat->state == 'D')
          add_waiting(pid, *tid, *text);
      }
    }
    if (budget.spent()) notes_ += "note " + budget.why("threads") + "\n";
  }

  void add_waiting(std::uint32_t pid, std::uint32_t tid, std::string_view stat) {
    if (waiting_.size() >= most_waiting) {
      if (waiting_.size() == most_waiting && !full_)
        notes_ += fmt::format("note more than {} tasks wait\n", most_waiting);
      full_ = true;
      return;
    }
    Waiting w{pid, tid, std::string(used_part(stat)), read_wchan(host_, task_directory(pid, tid)), {}, {}};
    if (!layer_of_function(w.wchan).empty() && limits_.look_again.count() > 0)
      w.switches = switches_of(host_, pid, tid);
    waiting_.push_back(std::move(w));
  }

  // A request that is under way puts a task into D for a moment. One that does not run at all while we look is stuck
  // for at least that long.
  void look_again() {
    const bool any =
        std::any_of(waiting_.begin(), waiting_.end(), [](const Waiting& w) { return w.switches.has_value(); });
    if (!any) return;
    const auto start = std::chrono::steady_clock::now();
    std::this_thread::sleep_for(limits_.look_again);
    for (auto& w : waiting_) {
      if (!w.switches.has_value()) continue;
      const auto now = switches_of(host_, w.pid, w.tid);
      const auto passed =
          std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - start).count();
      if (now.has_value()) w.still_ms = *now == *w.switches ? static_cast<std::uint64_t>(passed) : 0U;
    }
  }

  std::string written() const {
    std::string text = fmt::format("seen {} {}\n", seen_processes_, seen_threads_) + daemons_;
    for (const auto& w : waiting_) {
      const std::string still = w.still_ms.has_value() ? std::to_string(*w.still_ms) : "-";
      text += fmt::format("wait {} {} {} {} {}\n", w.pid, w.tid, still, w.wchan, w.stat);
    }
    return text + notes_;
  }

  const Host& host_;
  const WalkLimits limits_;
  std::vector<std::pair<std::uint32_t, int>> many_;  // processes with several threads, and their rank
  std::vector<Waiting> waiting_;
  bool full_ = false;
  std::size_t seen_processes_ = 0;
  std::size_t seen_threads_ = 0;
  std::string daemons_;
  std::string notes_;
};

const char* bad_wait(std::string_view rest, std::vector<facts::WaitingTask>& waiting) {
  const auto pid = base::number<std::uint32_t>(next_field(rest));
  const auto tid = base::number<std::uint32_t>(next_field(rest));
  const auto still = next_field(rest);
  const auto wchan = next_field(rest);
  const auto stat = parse_task_stat(rest);
  if (!pid || !tid || !stat.has_value()) return "no PID TID MS WCHAN STAT";
  facts::WaitingTask task;
  task.pid = *pid;
  task.tid = *tid;
  task.comm = stat->comm;
  task.wchan = wchan == "0" ? Fact<std::string>::absent() : Fact<std::string>(std::string(wchan));
  task.started_ms = stat->start_ticks * 10;
  if (const auto ms = base::number<std::uint64_t>(still)) task.still_ms = *ms;
  waiting.push_back(std::move(task));
  return nullptr;
}

}  // namespace

std::string walk_tasks(const Host& host, const WalkLimits& limits) { return TaskWalk(host, limits).text(); }

Parsed<SeenTasks> parse_tasks(std::string_view text) {
  Parsed<SeenTasks> parsed;
  auto& seen = parsed.facts;
  std::map<std::string_view, std::uint32_t> running;  // by comm
  std::uint32_t nfsd = 0;
  Lines lines(text, parsed.notes);
  std::string_view line;
  while (lines.next(line)) {
    auto rest = line;
    const auto word = next_field(rest);
    if (word.empty()) continue;
    if (word == "seen") {
      seen.processes = base::number<std::uint32_t>(next_field(rest)).value_or(0);
      seen.threads = base::number<std::uint32_t>(next_field(rest)).value_or(0);
    } else if (word == "note") {
      seen.cut += (seen.cut.empty() ? "" : ", ") + std::string(base::trim(rest));
    } else if (word == "proc") {
      const auto stat = parse_task_stat(rest);
      if (!stat.has_value()) {
        add_note(parsed.notes, lines.number(), "no line of /proc/PID/stat");
        continue;
      }
      if (stat->pid == 2 && stat->kernel_thread() && stat->comm == "kthreadd") seen.whole_node = true;
      if (stat->kernel_thread() && stat->comm == nfsd_comm) ++nfsd;
      if (const auto* daemon = find_daemon(*stat)) seen.daemons.*(daemon->fact) = true;
    } else if (word == "wait") {
      if (const char* why = bad_wait(rest, seen.waiting)) add_note(parsed.notes, lines.number(), why);
    } else {
      add_note(parsed.notes, lines.number(), "neither seen, proc, wait nor note");
    }
  }
  if (nfsd > 0) seen.daemons.nfsd_threads_count = nfsd;
  // What was not seen does not run only if everything was seen.
  if (seen.whole_node && seen.cut.find("processes") == std::string::npos) {
    for (const auto& daemon : known_daemons) {
      if ((seen.daemons.*(daemon.fact)).is_unknown()) seen.daemons.*(daemon.fact) = false;
    }
    seen.daemons.nfsd_threads_count = nfsd;
  }
  return parsed;
}

namespace {

void name_pods(Reading& reading, std::vector<facts::WaitingTask>& tasks) {
  const bool any = std::any_of(tasks.begin(), tasks.end(), [](const auto& t) { return t.pod_uid.has_value(); });
  if (!any) return;
  std::map<std::string, PodName> pods;
  if (const auto names = reading.host().list("/var/log/pods")) {
    for (const auto& name : *names) {
      if (auto pod = parse_pod_directory(name)) pods.emplace(pod->uid, std::move(*pod));
    }
  }
  for (auto& task : tasks) {
    if (!task.pod_uid.has_value()) continue;
    const auto pod = pods.find(*task.pod_uid);
    if (pod == pods.end()) continue;
    task.pod_namespace = pod->second.pod_namespace;
    task.pod_name = pod->second.name;
    if (const auto vm = vm_of_pod(pod->second.name))
      task.vm = pod->second.pod_namespace + "/" + *vm;
    else if (!pod->second.name.starts_with("virt-launcher-"))
      task.vm = Fact<std::string>::absent();
  }
}

}  // namespace

void read_tasks(Reading& reading) {
  const auto text = reading.answer("tasks");
  if (!text) return;
  auto parsed = parse_tasks(*text);
  reading.note(parsed.notes);
  auto& row = reading.last_row();
  const auto remark = [&](const std::string& why) { row.detail += (row.detail.empty() ? "" : "; ") + why; };
  auto& seen = parsed.facts;
  if (seen.processes == 0) {
    row.status = "skipped";
    remark("no process could be seen");
    return;
  }
  if (!seen.cut.empty()) remark(seen.cut);
  if (!seen.whole_node) remark("only the processes of a container, or of one user, are seen");
  reading.facts().node.daemons = seen.daemons;

  std::vector<facts::WaitingTask> in_nfs;
  bool stack_denied = false;
  for (auto& task : seen.waiting) {
    const std::string directory = fmt::format("/proc/{}/task/{}", task.pid, task.tid);
    const auto stack = reading.host().read(directory + "/stack");
    if (stack) task.stack = parse_stack(*stack);
    if (!stack && stack.error().kind == base::ErrorKind::denied) stack_denied = true;
    task.layer = waiting_layer(task.wchan.value_or(""), task.stack);
    if (task.layer.empty()) continue;
    if (const auto cgroup = reading.host().read(fmt::format("/proc/{}/cgroup", task.pid))) {
      const auto uid = pod_uid_of_cgroup(*cgroup);
      task.pod_uid = uid.empty() ? Fact<std::string>::absent() : Fact<std::string>(uid);
    }
    in_nfs.push_back(std::move(task));
  }
  if (stack_denied)
    remark("kernel stacks may not be read: a task that waits in the page cache is not told from others");
  name_pods(reading, in_nfs);
  if (seen.whole_node || !in_nfs.empty()) reading.facts().kernel.tasks = std::move(in_nfs);
  if (seen.whole_node) reading.facts().kernel.blocked_tasks_count = static_cast<std::uint32_t>(seen.waiting.size());
}

}  // namespace probes
