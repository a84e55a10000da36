#include "audit/eval/derive_hang.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string_view>

#include "audit/base/instant.h"
#include "audit/base/text.h"
#include "audit/eval/derive_help.h"
#include "audit/eval/option_text.h"

namespace audit {

namespace {

using namespace derive_help;
using facts::Absent;
using facts::NetSocket;
using facts::NfsClient;
using facts::Value;
using State = Hang::State;
using Sign = HangSign;
using Weight = HangSign::Weight;

// TCP sends again after 0.2, 0.4, 0.8 ... s (RFC 6298 with Linux's least timeout of 200 ms), a SYN after 1, 2, 4 ... s:
// so many times without an answer are at least 6 s.
constexpr std::uint64_t certain_retransmits = 5;
constexpr std::uint64_t certain_syns = 3;
constexpr std::uint64_t weak_retransmits = 3;
constexpr std::uint64_t weak_syns = 2;
constexpr double least_gap_s = 1;   // two samples nearer than this show a slow answer as none
constexpr double stale_idle_s = 5;  // in one sample: requests outstanding, and nothing sent or received for so long

const Hang& hang_of(const Context& c, const Item& item) { return c.hangs()[item.index]; }

std::string seconds_text(double s) { return s < 10 ? fmt::format("{:.1f} s", s) : fmt::format("{:.0f} s", s); }
std::string seconds_ja(double s) { return s < 10 ? fmt::format("{:.1f} 秒", s) : fmt::format("{:.0f} 秒", s); }

std::string plural(std::uint64_t n, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", n, n == 1 ? one : many);
}

// --- the clock -----------------------------------------------------------------------------------------------------

std::optional<double> captured_at(const Context& c) {
  return c.facts.node.collected_at.has_value() ? base::epoch_of(*c.facts.node.collected_at) : std::nullopt;
}

std::optional<double> uptime_s(const Context& c) {
  if (!c.facts.node.boottime_ns.has_value()) return std::nullopt;
  return static_cast<double>(*c.facts.node.boottime_ns) / 1e9;
}

// --- one client ----------------------------------------------------------------------------------------------------

bool is_host(const facts::Fact<std::string>& known, std::string_view host) {
  return known.has_value() && (*known == host || is_same_address(*known, host));
}

bool is_server_of(const NfsClient& client, std::string_view host) {
  return is_host(client.addr, host) || is_host(client.server_name, host);
}

class ClientHang {
 public:
  ClientHang(const Context& c, std::uint32_t client, const std::vector<const NetSocket*>& sockets,
             const std::vector<const NetSocket*>& before, std::optional<std::uint64_t> queued)
      : c_(c),
        index_(client),
        client_(c.facts.nfs.clients[client]),
        sockets_(sockets),
        before_(before),
        queued_(queued) {}

  Hang judge() {
    hang_.planned = is_planned();
    gap_s_ = c_.sample_gap_s();
    if (!gap_s_) gap_s_ = gap_by_age();
    count();
    look_at_sockets();
    look_at_counters();
    look_at_server();
    look_at_touch();
    look_at_log();
    look_at_tasks();
    return std::move(hang_);
  }

 private:
  void sign(Sign::Kind kind, Weight weight, std::string en, std::string ja) {
    hang_.signs.push_back({kind, weight, std::move(en), std::move(ja)});
  }
  void answer(Sign::Kind kind, std::string en, std::string ja) {
    hang_.answers.push_back({kind, Weight::certain, std::move(en), std::move(ja)});
  }

  bool is_planned() const {
    const auto now = captured_at(c_);
    return std::any_of(c_.facts.declared.failovers.begin(), c_.facts.declared.failovers.end(), [&](const auto& f) {
      if (f.server != "*" && !is_server_of(client_, f.server)) return false;
      // A bound that cannot be compared does not excuse.
      const auto holds = [&](const facts::Fact<std::string>& bound, bool start) {
        if (bound.is_absent()) return true;
        const auto at = bound.has_value() ? base::epoch_of(*bound) : std::nullopt;
        return at && now && (start ? *at <= *now : *now <= *at);
      };
      return holds(f.start, true) && holds(f.end, false);
    });
  }

  std::optional<double> gap_by_age() const {
    if (!c_.facts.earlier) return std::nullopt;
    for (const std::uint32_t m : c_.mounts_of_client(index_)) {
      const facts::NfsMount* old = c_.earlier_mount(m);
      const auto& now = c_.facts.nfs.mounts[m];
      if (old != nullptr && old->age_s.has_value() && now.age_s.has_value() && *now.age_s > *old->age_s)
        return static_cast<double>(*now.age_s - *old->age_s);
    }
    return std::nullopt;
  }

  // What the transports counted, and what of it is still without a reply. A request that was sent again, because its
  // connection broke, counts as sent twice and as answered once: such repetitions stand in the counters of the
  // operations too.
  void count() {
    std::uint64_t sends = 0, recvs = 0;
    for (const auto& t : client_.transports) {
      sends += t.sends;
      recvs += t.recvs;
      if (t.idle_s.has_value()) idle_s_ = std::min(idle_s_.value_or(*t.idle_s), *t.idle_s);
    }
    if (client_.transports.empty()) return;
    std::uint64_t again = 0;
    for (const auto& op : c_.numbers(index_).ops) {
      if (op.total.trans > op.total.ops) again += op.total.trans - op.total.ops;
    }
    outstanding_ = sends > recvs + again ? sends - recvs - again : 0;
    const NfsClient* old = gap_s_ ? c_.earlier_client(index_) : nullptr;
    if (old == nullptr || old->transports.size() != client_.transports.size()) return;
    std::uint64_t sent = 0, received = 0;
    for (std::size_t i = 0; i < old->transports.size(); ++i) {
      const auto &was = old->transports[i], &now = client_.transports[i];
      if (now.sends < was.sends || now.recvs < was.recvs) return;  // another client by now
      sent += now.sends - was.sends;
      received += now.recvs - was.recvs;
    }
    window_ = true;
    sent_ = sent;
    received_ = received;
  }

  // --- TCP

  const NetSocket* earlier_of(const NetSocket& socket) const {
    for (const NetSocket* old : before_) {
      if (old->local_port == socket.local_port && old->local_addr == socket.local_addr) return old;
    }
    return nullptr;
  }

  void look_at_sockets() {
    std::uint64_t silent = 0, weak = 0, syn = 0, queued = 0, tries = 0, open = 0;
    std::optional<std::uint64_t> last_recv;
    const bool two = gap_s_ && *gap_s_ >= least_gap_s;
    const bool syn_before =
        std::any_of(before_.begin(), before_.end(), [](const NetSocket* s) { return s->state == "SYN_SENT"; });
    for (const NetSocket* s : sockets_) {
      const std::uint64_t again = std::max(s->retransmits.value_or(0), s->probes.value_or(0));
      if (s->state == "SYN_SENT") {
        const bool certain = again >= certain_syns || (syn_before && gap_s_ && *gap_s_ >= 3);
        if (!certain && again < weak_syns) continue;
        ++(certain ? silent : weak);
        ++syn;
        tries = std::max(tries, again);
        continue;
      }
      if (s->state == "ESTABLISHED") ++open;  // others are on their way out, or were made by this program
      if (s->state != "ESTABLISHED" || s->tx_queue_bytes.value_or(0) == 0) continue;
      const NetSocket* old = two ? earlier_of(*s) : nullptr;
      const bool stands = old != nullptr && again > 0 && old->tx_queue_bytes.value_or(0) > 0 &&
                          *s->tx_queue_bytes >= *old->tx_queue_bytes &&
                          s->bytes_acked.value_or(0) == old->bytes_acked.value_or(0) &&
                          s->bytes_received.value_or(0) == old->bytes_received.value_or(0) &&
                          again >= std::max(old->retransmits.value_or(0), old->probes.value_or(0));
      const bool certain = again >= certain_retransmits || stands;
      if (!certain && again < weak_retransmits) continue;
      ++(certain ? silent : weak);
      queued += *s->tx_queue_bytes;
      tries = std::max(tries, again);
      if (s->last_recv_ms.has_value()) last_recv = std::min(last_recv.value_or(*s->last_recv_ms), *s->last_recv_ms);
    }
    if (silent + weak == 0) return;
    silent_sockets_ = silent + weak;
    last_recv_ms_ = last_recv;
    std::string en, ja;
    if (silent + weak > syn) {
      en = fmt::format("TCP: {} bytes not acknowledged on {} of {} connections, sent again {} times", queued,
                       silent + weak - syn, open, tries);
      ja = fmt::format("TCP: 接続 {} 本中 {} 本で {} バイトが未確認(再送 {} 回)", open, silent + weak - syn, queued,
                       tries);
      if (last_recv) {
        en += fmt::format(", nothing received for {}", seconds_text(static_cast<double>(*last_recv) / 1000));
        ja += fmt::format("、{}受信なし", seconds_ja(static_cast<double>(*last_recv) / 1000));
      }
    }
    if (syn > 0) {
      en += fmt::format("{}SYN to port {} unanswered, sent again {} times", en.empty() ? "TCP: " : "; ", client_.port,
                        tries);
      ja += fmt::format("{}ポート {} への SYN に応答がない(再送 {} 回)", ja.empty() ? "TCP: " : "、", client_.port,
                        tries);
    }
    sign(Sign::Kind::socket, silent > 0 ? Weight::certain : Weight::likely, std::move(en), std::move(ja));
  }

  // --- requests and replies

  void look_at_counters() {
    if (client_.transports.empty()) return;
    const std::uint64_t waiting = queued_.value_or(outstanding_);
    const std::string requests = plural(waiting, "request", "requests");
    if (window_ && received_ > 0) {
      answer(Sign::Kind::counters,
             fmt::format("{} in {}", plural(received_, "reply", "replies"), seconds_text(*gap_s_)),
             fmt::format("{}に応答 {} 件", seconds_ja(*gap_s_), received_));
      return;
    }
    // Replies that were lost with a connection stay in the difference for ever: it is exact where the RPC layer tells
    // its queue, or where no connection was made anew (the first counts as two).
    const bool exact =
        queued_.has_value() || std::all_of(client_.transports.begin(), client_.transports.end(),
                                           [](const auto& t) { return t.connect_count.value_or(3) <= 2; });
    const bool far_apart = window_ && *gap_s_ >= least_gap_s;
    if (far_apart && sent_ > 0) {
      sign(Sign::Kind::counters, Weight::certain,
           fmt::format("{} sent in {}, no reply", plural(sent_, "request", "requests"), seconds_text(*gap_s_)),
           fmt::format("{}に要求 {} 件を送信、応答なし", seconds_ja(*gap_s_), sent_));
    } else if (far_apart && waiting > 0) {
      sign(Sign::Kind::counters, exact ? Weight::certain : Weight::supporting,
           fmt::format("{} without reply, none came in {}", requests, seconds_text(*gap_s_)),
           fmt::format("応答待ちの要求 {} 件、{}間応答なし", waiting, seconds_ja(*gap_s_)));
    } else if (waiting > 0 && idle_s_ && static_cast<double>(*idle_s_) >= stale_idle_s) {
      sign(Sign::Kind::counters, exact ? Weight::likely : Weight::supporting,
           fmt::format("{} without reply, connections idle for {} s (one sample)", requests, *idle_s_),
           fmt::format("応答待ちの要求 {} 件、接続は {} 秒間無通信(標本一つ)", waiting, *idle_s_));
    }
  }

  // --- what it answered when asked

  void look_at_server() {
    const auto server = c_.server_of_client(index_);
    if (!server) return;
    for (const auto& service : c_.facts.nfs.servers[*server].services) {
      if (service.program != "nfs" || !service.reachable.has_value()) continue;
      if (*service.reachable) {
        answer(Sign::Kind::server, "it answers RPC NULL on a new connection", "新しい接続の RPC NULL には応答する");
        null_answered_ = true;
      } else {
        const std::string result = service.result.value_or("no answer");
        sign(Sign::Kind::server, Weight::certain, fmt::format("RPC NULL unanswered ({})", result),
             fmt::format("RPC NULL に応答なし({})", result));
      }
    }
  }

  void look_at_touch() {
    if (!client_.touch.has_value()) return;
    const auto& touch = *client_.touch;
    const std::string time = touch.duration_ms.has_value() ? fmt::format(" after {:.0f} ms", *touch.duration_ms) : "";
    const std::string time_ja = touch.duration_ms.has_value() ? fmt::format("、{:.0f} ms", *touch.duration_ms) : "";
    if (touch.result == "ok") {
      answer(Sign::Kind::touch, fmt::format("statfs of {} answered{}", touch.target, time),
             fmt::format("{} の statfs に応答あり{}", touch.target, time_ja));
    } else if (touch.result == "timeout" || touch.result == "ESTALE" || touch.result == "EIO" ||
               touch.result == "ETIMEDOUT") {
      sign(Sign::Kind::touch, Weight::certain, fmt::format("statfs of {}: {}{}", touch.target, touch.result, time),
           fmt::format("{} の statfs: {}{}", touch.target, touch.result, time_ja));
    }
  }

  // --- kernel log

  // Only a request that waits for ever says "OK" when its answer comes, and one whose task was killed never does.
  void look_at_log() {
    if (!c_.facts.log.servers.has_value()) return;
    for (const auto& server : *c_.facts.log.servers) {
      if ((server.service != "nfs" && server.service != "nfs4") || !server.down_since.has_value()) continue;
      if (!is_server_of(client_, server.name) || is_from_before_the_mounts(server)) continue;
      log_since(server);
      const bool waits = server.still_down.is(true);
      sign(Sign::Kind::log, waits ? Weight::certain : Weight::likely,
           fmt::format("kernel log: not responding{} since {}, no OK", waits ? "" : ", timed out", *hang_.since),
           fmt::format("カーネルログ: {} から not responding{}、OK なし", *hang_.since, waits ? "" : "(timed out)"));
    }
  }

  bool is_from_before_the_mounts(const facts::LogServer& server) const {
    const auto up = uptime_s(c_);
    if (!up || !server.down_since_boot_s.has_value()) return false;
    const auto& mounts = c_.mounts_of_client(index_);
    return !mounts.empty() && std::all_of(mounts.begin(), mounts.end(), [&](std::uint32_t m) {
      const auto& age = c_.facts.nfs.mounts[m].age_s;
      return age.has_value() && *up - static_cast<double>(*age) > *server.down_since_boot_s + 1;
    });
  }

  void log_since(const facts::LogServer& server) {
    const auto now = captured_at(c_), up = uptime_s(c_);
    std::string since = *server.down_since;
    std::optional<double> silent;
    if (server.down_since_boot_s.has_value() && up && *up >= *server.down_since_boot_s) {
      silent = *up - *server.down_since_boot_s;
      if (now && !base::epoch_of(since)) since = base::rfc3339(*now - *silent);
    } else if (const auto at = base::epoch_of(since); at && now && *now >= *at) {
      silent = *now - *at;
    }
    if (server.down_since_boot_s.has_value() && since.ends_with("s after boot"))
      since = fmt::format("{:.0f} s after boot", *server.down_since_boot_s);
    hang_.since = since;
    hang_.since_how = "kernel log";
    hang_.since_how_ja = "カーネルログ";
    hang_.silent_s = silent                        ? silent
                     : server.silent_s.has_value() ? std::optional<double>(*server.silent_s)
                                                   : std::nullopt;
  }

  // --- tasks of the pods whose volumes these are

  void look_at_tasks() {
    if (!c_.facts.kernel.tasks.has_value()) return;
    const auto& tasks = *c_.facts.kernel.tasks;
    for (std::uint32_t i = 0; i < tasks.size(); ++i) {
      if (tasks[i].layer == "nfsd" || tasks[i].still_ms.is(0) || !tasks[i].pod_uid.has_value()) continue;
      const auto& mounts = c_.mounts_of_client(index_);
      const bool ours = std::any_of(mounts.begin(), mounts.end(), [&](std::uint32_t m) {
        const auto& kubelet = c_.facts.nfs.mounts[m].kubelet;
        return kubelet.has_value() && kubelet->pod_uid == *tasks[i].pod_uid;
      });
      if (ours) hang_.tasks.push_back(i);
    }
    if (hang_.tasks.empty()) return;
    sign(Sign::Kind::task, Weight::supporting,
         fmt::format("{} of its pods in uninterruptible sleep", plural(hang_.tasks.size(), "task", "tasks")),
         fmt::format("その Pod のタスク {} 個が割り込み不可スリープ中", hang_.tasks.size()));
  }

 public:
  std::optional<std::uint64_t> last_recv_ms() const { return last_recv_ms_; }
  std::optional<std::uint64_t> idle_s() const { return idle_s_; }
  std::uint64_t outstanding() const { return outstanding_; }
  std::uint64_t silent_sockets() const { return silent_sockets_; }
  bool replies_seen() const { return window_ && received_ > 0; }
  bool null_answered() const { return null_answered_; }

 private:
  const Context& c_;
  const std::uint32_t index_;
  const NfsClient& client_;
  const std::vector<const NetSocket*>& sockets_;
  const std::vector<const NetSocket*>& before_;
  const std::optional<std::uint64_t> queued_;  // requests that wait for a reply by the RPC layer's own count
  Hang hang_;
  std::optional<double> gap_s_;
  std::optional<std::uint64_t> idle_s_;  // of the connection used last
  std::optional<std::uint64_t> last_recv_ms_;
  std::uint64_t outstanding_ = 0;
  bool window_ = false;
  bool null_answered_ = false;
  std::uint64_t sent_ = 0, received_ = 0;
  std::uint64_t silent_sockets_ = 0;
};

// --- the verdict ---------------------------------------------------------------------------------------------------

std::size_t kinds_of(const std::vector<Sign>& signs) {
  std::vector<Sign::Kind> kinds;
  for (const Sign& s : signs) {
    if (std::find(kinds.begin(), kinds.end(), s.kind) == kinds.end()) kinds.push_back(s.kind);
  }
  return kinds.size();
}

void drop(Hang& hang, std::initializer_list<Sign::Kind> kinds) {
  std::erase_if(hang.signs,
                [&](const Sign& s) { return std::find(kinds.begin(), kinds.end(), s.kind) != kinds.end(); });
}

std::string missing_text(const Context& c, const std::string& path) {
  return fmt::format("needs {}: {}", path, why_unknown(c, path));
}

// Since the lease was renewed last, where it has expired.
std::optional<double> since_renewal_s(const Context& c, std::uint32_t client) {
  std::optional<double> least;
  for (const std::uint32_t m : c.mounts_of_client(client)) {
    const auto& mount = c.facts.nfs.mounts[m];
    if (mount.lease_expired_s.value_or(0) == 0 || !mount.lease_time_s.has_value()) continue;
    const double s = static_cast<double>(*mount.lease_expired_s) + *mount.lease_time_s;
    least = std::min(least.value_or(s), s);
  }
  return least;
}

void decide(const Context& c, std::uint32_t index, const ClientHang& view, Hang& hang) {
  const bool sockets_known = c.facts.network.sockets.has_value();
  const bool touched =
      std::any_of(hang.signs.begin(), hang.signs.end(), [](const Sign& s) { return s.kind == Sign::Kind::touch; });
  if (view.replies_seen() && !touched) {
    // Replies come in: what the log says is over, waiting tasks get theirs, and a NULL that goes unanswered concerns
    // new connections only. A connection of several may still be dead.
    drop(hang, {Sign::Kind::log, Sign::Kind::task, Sign::Kind::server});
    for (Sign& s : hang.signs) s.weight = std::min(s.weight, Weight::likely);
  } else if (view.null_answered() && sockets_known && view.silent_sockets() == 0) {
    drop(hang, {Sign::Kind::log});  // its last line is of a request that was given up
  }
  const auto any = [&](Weight weight) {
    return std::any_of(hang.signs.begin(), hang.signs.end(), [&](const Sign& s) { return s.weight == weight; });
  };
  if (any(Weight::certain) || kinds_of(hang.signs) >= 2) {
    hang.state = State::hangs;
  } else if (any(Weight::likely)) {
    hang.state = State::suspected;
  } else if (!hang.answers.empty()) {
    hang.state = State::answers;
  } else if (sockets_known || (!c.facts.nfs.clients[index].transports.empty() && view.outstanding() == 0)) {
    hang.state = State::quiet;
  } else if (!c.facts.nfs.clients[index].transports.empty()) {
    hang.why =
        fmt::format("{} had no reply yet in the one sample there is; a second one, or network.sockets, would tell",
                    plural(view.outstanding(), "request", "requests"));
  } else {
    hang.why = missing_text(c, "network.sockets");
  }
  if (hang.state != State::hangs && hang.state != State::suspected) {
    hang.since.reset();
    hang.silent_s.reset();
    return;
  }
  const bool logged =
      std::any_of(hang.signs.begin(), hang.signs.end(), [](const Sign& s) { return s.kind == Sign::Kind::log; });
  if (!logged) {
    hang.since.reset();
    hang.silent_s.reset();
  }
  const auto ago = [&](double s, std::string how, std::string how_ja) {
    hang.silent_s = s;
    if (const auto now = captured_at(c)) hang.since = base::rfc3339(*now - s);
    hang.since_how = std::move(how);
    hang.since_how_ja = std::move(how_ja);
  };
  // The log speaks only when a request has waited timeo x (retrans + 1); a client of NFSv4 renews its lease all the
  // time.
  const auto renewed = since_renewal_s(c, index);
  if (renewed && (!logged || (hang.silent_s && *renewed > *hang.silent_s)))
    ago(*renewed, "last renewal of the NFSv4 lease", "NFSv4 リースの最後の更新");
  else if (logged)
    return;
  else if (const auto ms = view.last_recv_ms())
    ago(static_cast<double>(*ms) / 1000, "last data received over TCP", "TCP で最後に受信した時刻");
  else if (view.idle_s() && *view.idle_s() > 0)
    ago(static_cast<double>(*view.idle_s()), "last use of its connections", "接続が最後に使われた時刻");
}

// The NFS version that a kernel stack shows, 3 or 4; 0 where it shows none.
int version_of(const facts::WaitingTask& task) {
  for (const auto& function : task.stack) {
    if (function.starts_with("nfs3_") || function.starts_with("__nfs3_")) return 3;
    if (function.starts_with("nfs4") || function.starts_with("_nfs4")) return 4;
  }
  return 0;
}

// Tasks in no pod, or in one whose volumes are from elsewhere, wait for what hangs, if that is one server only.
void give_tasks(const Context& c, std::vector<Hang>& hangs) {
  if (!c.facts.kernel.tasks.has_value()) return;
  const auto& tasks = *c.facts.kernel.tasks;
  std::vector<bool> given(tasks.size(), false);
  std::vector<std::uint32_t> troubled;
  for (std::uint32_t i = 0; i < hangs.size(); ++i) {
    if (hangs[i].state == State::hangs) troubled.push_back(i);
    for (const std::uint32_t t : hangs[i].tasks) given[t] = true;
  }
  for (std::uint32_t t = 0; t < tasks.size(); ++t) {
    if (given[t] || tasks[t].layer == "nfsd" || tasks[t].still_ms.is(0)) continue;
    const int version = version_of(tasks[t]);
    std::vector<std::uint32_t> candidates;
    for (const std::uint32_t i : troubled) {
      const auto& vers = c.facts.nfs.clients[i].vers;
      if (version == 0 || !vers.has_value() || vers->starts_with(version == 3 ? "3" : "4")) candidates.push_back(i);
    }
    if (candidates.empty()) continue;
    const bool one_server = std::all_of(candidates.begin(), candidates.end(), [&](std::uint32_t i) {
      return c.server_of_client(i) == c.server_of_client(candidates.front());
    });
    if (candidates.size() == 1 || (one_server && c.server_of_client(candidates.front()))) {
      hangs[candidates.front()].tasks.push_back(t);
    } else {
      for (const std::uint32_t i : candidates) ++hangs[i].unclear_tasks;
    }
  }
  for (Hang& hang : hangs) std::sort(hang.tasks.begin(), hang.tasks.end());
}

// A hung-task message of the kernel names a task that has not run for so many seconds: the age of its sleep.
void take_task_age(const Context& c, Hang& hang) {
  if (hang.since || hang.silent_s || hang.state != State::hangs) return;
  double longest = 0;
  for (const std::uint32_t t : hang.tasks) {
    const auto& task = (*c.facts.kernel.tasks)[t];
    if (task.still_ms.has_value()) longest = std::max(longest, static_cast<double>(*task.still_ms) / 1000);
    if (!c.facts.log.messages.has_value()) continue;
    const std::string name = fmt::format("{}:{}", task.comm, task.tid);
    for (const auto& message : *c.facts.log.messages) {
      if (message.kind == "hung-task" && message.device.is(name) && message.count.has_value())
        longest = std::max(longest, static_cast<double>(*message.count));
    }
  }
  if (longest <= 0) return;
  hang.silent_s = longest;
  hang.since_how = "tasks did not run for at least so long";
  hang.since_how_ja = "少なくともこの時間タスクが動いていない";
  if (const auto now = captured_at(c); now && longest >= 1) hang.since = base::rfc3339(*now - longest);
}

using Peer = std::pair<std::string, std::uint32_t>;

Peer peer_of(const NfsClient& client) {
  return {client.addr.has_value() ? *client.addr : client.server_name.value_or(""), client.port};
}

using ClientsByPeer = std::map<Peer, std::vector<const NfsClient*>>;

struct SocketIndex {
  std::map<Peer, std::vector<const NetSocket*>> by_peer;
  explicit SocketIndex(const facts::Fact<std::vector<NetSocket>>& sockets) {
    if (!sockets.has_value()) return;
    for (const NetSocket& s : *sockets) by_peer[{s.peer_addr, s.peer_port}].push_back(&s);
  }
  // Of the client: those whose local port it names (NFSv3), or those of its address that no other client names.
  std::vector<const NetSocket*> of(const ClientsByPeer& clients, const NfsClient& client) const {
    const auto found = by_peer.find(peer_of(client));
    if (found == by_peer.end()) return {};
    const auto& same_peer = clients.at(peer_of(client));
    if (same_peer.size() == 1) return found->second;
    const auto names = [](const NfsClient& one, std::uint32_t port) {
      return std::any_of(one.transports.begin(), one.transports.end(),
                         [&](const auto& t) { return t.src_port.value_or(0) == port && port != 0; });
    };
    const bool named = std::any_of(client.transports.begin(), client.transports.end(),
                                   [](const auto& t) { return t.src_port.value_or(0) != 0; });
    std::vector<const NetSocket*> mine;
    for (const NetSocket* s : found->second) {
      const bool of_other = std::any_of(same_peer.begin(), same_peer.end(),
                                        [&](const NfsClient* o) { return o != &client && names(*o, s->local_port); });
      if (named ? names(client, s->local_port) : !of_other) mine.push_back(s);
    }
    return mine;
  }
};

// --- derived facts -------------------------------------------------------------------------------------------------

const char* state_word(State state) {
  switch (state) {
    case State::quiet: return "quiet";
    case State::answers: return "answers";
    case State::suspected: return "suspected";
    case State::hangs: return "hangs";
    case State::unknown: break;
  }
  return "unknown";
}

Value hang_state(const Context& c, const Item& item) {
  const Hang& hang = hang_of(c, item);
  if (hang.state == State::unknown) return unknown(hang.why);
  return std::string(state_word(hang.state));
}

// Absent where nothing hangs, unknown where that is not known.
bool in_trouble(const Hang& hang) { return hang.state == State::hangs || hang.state == State::suspected; }
Value none_of(const Hang& hang) { return hang.state == State::unknown ? unknown(hang.why) : Value(Absent{}); }

Value signs_text(const Context& c, const Item& item, bool ja) {
  const Hang& hang = hang_of(c, item);
  const auto& list = in_trouble(hang) ? hang.signs : hang.answers;
  if (hang.state == State::unknown) return unknown(hang.why);
  if (list.empty()) return Absent{};
  std::vector<std::string> texts;
  for (const Sign& s : list) texts.push_back(ja ? s.text_ja : s.text);
  return base::join(texts, ja ? "、" : "; ");
}
Value hang_evidence(const Context& c, const Item& item) { return signs_text(c, item, false); }
Value hang_evidence_ja(const Context& c, const Item& item) { return signs_text(c, item, true); }

Value hang_since(const Context& c, const Item& item) {
  const Hang& hang = hang_of(c, item);
  if (!in_trouble(hang)) return none_of(hang);
  if (!hang.since) return unknown("nothing that was read tells since when");
  return *hang.since;
}
Value hang_since_how(const Context& c, const Item& item) {
  const Hang& hang = hang_of(c, item);
  if (!in_trouble(hang)) return none_of(hang);
  return hang.since_how.empty() ? unknown("nothing that was read tells since when") : Value(hang.since_how);
}
Value hang_since_how_ja(const Context& c, const Item& item) {
  const Hang& hang = hang_of(c, item);
  if (!in_trouble(hang) || hang.since_how_ja.empty()) return hang_since_how(c, item);
  return hang.since_how_ja;
}
Value hang_silent_s(const Context& c, const Item& item) {
  const Hang& hang = hang_of(c, item);
  if (!in_trouble(hang)) return none_of(hang);
  if (!hang.silent_s) return unknown("nothing that was read tells since when");
  return *hang.silent_s;
}

Value hang_silence(const Context& c, const Item& item, bool ja) {
  const Hang& hang = hang_of(c, item);
  if (!in_trouble(hang)) return none_of(hang);
  // A time after boot alone does not tell how long ago that was.
  if (hang.since && hang.silent_s && *hang.silent_s >= 1 && hang.since->ends_with("after boot"))
    return ja ? fmt::format("{} から{}以上応答していません({})", *hang.since, seconds_ja(*hang.silent_s),
                            hang.since_how_ja)
              : fmt::format("has not answered since {}, for at least {} ({})", *hang.since,
                            seconds_text(*hang.silent_s), hang.since_how);
  if (hang.since)
    return ja ? fmt::format("{} から応答していません({})", *hang.since, hang.since_how_ja)
              : fmt::format("has not answered since {} ({})", *hang.since, hang.since_how);
  if (hang.silent_s)
    return ja ? fmt::format("{}以上応答していません({})", seconds_ja(*hang.silent_s), hang.since_how_ja)
              : fmt::format("has not answered for at least {} ({})", seconds_text(*hang.silent_s), hang.since_how);
  return ja ? "応答していません(いつからかは不明)" : "does not answer (since when is not known)";
}
Value hang_silence_en(const Context& c, const Item& item) { return hang_silence(c, item, false); }
Value hang_silence_ja(const Context& c, const Item& item) { return hang_silence(c, item, true); }

// "VM billing/pg-primary (2 tasks: CPU 0/KVM, qemu-kvm), pod web/portal-1 (nginx), rsync (pid 4411)". VMs and pods that
// have a mount and no task seen to wait come last: they wait with their next access.
std::string waiting_words(const Context& c, const std::vector<std::uint32_t>& clients, bool ja) {
  struct Owner {
    std::string name;
    int rank = 0;  // VMs first
    std::vector<std::string> comms;
  };
  std::vector<Owner> owners;
  const auto owner = [&](const std::string& name, int rank) -> Owner& {
    for (Owner& o : owners) {
      if (o.name == name) return o;
    }
    return owners.emplace_back(Owner{name, rank, {}});
  };
  for (const std::uint32_t client : clients) {
    for (const std::uint32_t t : c.hangs()[client].tasks) {
      const auto& task = (*c.facts.kernel.tasks)[t];
      if (task.vm.has_value())
        owner("VM " + *task.vm, 0).comms.push_back(task.comm);
      else if (task.pod_name.has_value())
        owner((ja ? "Pod " : "pod ") + task.pod_namespace.value_or("") + "/" + *task.pod_name, 1)
            .comms.push_back(task.comm);
      else
        owner(fmt::format("{} (pid {})", task.comm, task.pid), 2);
    }
    for (const std::uint32_t m : c.mounts_of_client(client)) {
      const auto& kubelet = c.facts.nfs.mounts[m].kubelet;
      if (kubelet.has_value() && kubelet->vm.has_value()) owner("VM " + *kubelet->vm, 0);
    }
  }
  std::stable_sort(owners.begin(), owners.end(), [](const Owner& a, const Owner& b) {
    return a.rank != b.rank ? a.rank < b.rank : a.comms.size() > b.comms.size();
  });
  std::vector<std::string> parts;
  constexpr std::size_t most = 5;
  for (const Owner& o : owners) {
    if (parts.size() == most) break;
    std::string text = o.name;
    std::vector<std::string> comms;
    for (const auto& comm : o.comms) {
      if (std::find(comms.begin(), comms.end(), comm) == comms.end()) comms.push_back(comm);
    }
    if (!comms.empty()) {
      const std::string names = base::join(comms, ", ");
      text += o.comms.size() == 1 ? fmt::format(" ({})", names)
              : ja                ? fmt::format("(タスク {} 個: {})", o.comms.size(), names)
                                  : fmt::format(" ({} tasks: {})", o.comms.size(), names);
    }
    parts.push_back(std::move(text));
  }
  std::string text = base::join(parts, ja ? "、" : ", ");
  if (owners.size() > most)
    text += ja ? fmt::format("、ほか {}", owners.size() - most) : fmt::format(" and {} more", owners.size() - most);
  return text;
}

// All clients of the server that are in the same state: they wait for one thing.
std::vector<std::uint32_t> fellows(const Context& c, const Item& item) {
  const auto server = c.server_of_client(item.index);
  if (!server) return {item.index};
  std::vector<std::uint32_t> same;
  for (const std::uint32_t client : c.clients_of_server(*server)) {
    if (c.hangs()[client].state == hang_of(c, item).state) same.push_back(client);
  }
  return same;
}

Value hang_waiting(const Context& c, const Item& item, bool ja) {
  const Hang& hang = hang_of(c, item);
  if (!in_trouble(hang)) return none_of(hang);
  std::string text = waiting_words(c, fellows(c, item), ja);
  if (!text.empty()) return text;
  if (hang.unclear_tasks > 0)
    return ja ? fmt::format("タスク {} 個、ただしどのサーバーかは不明", hang.unclear_tasks)
              : fmt::format("{}, for which of the servers that hang is not known",
                            plural(hang.unclear_tasks, "task", "tasks"));
  if (!c.facts.kernel.tasks.has_value()) return ja ? "どのタスクかは不明" : "which tasks is not known";
  return ja ? "待っているタスクはなし" : "no task at the moment";
}
Value hang_waiting_en(const Context& c, const Item& item) { return hang_waiting(c, item, false); }
Value hang_waiting_ja(const Context& c, const Item& item) { return hang_waiting(c, item, true); }

std::vector<Item> waiting_tasks(const Context& c, const Item& item) {
  const Scope* scope = find_scope("kernel.tasks");
  std::vector<Item> items;
  for (const std::uint32_t client : fellows(c, item)) {
    for (const std::uint32_t t : c.hangs()[client].tasks) items.push_back({scope, t, 0});
  }
  return items;
}

Value task_count(const Context& c, const Item& item) {
  if (!c.facts.kernel.tasks.has_value()) return unknown(missing_text(c, "kernel.tasks"));
  return waiting_tasks(c, item).size();
}

// How the other servers of the node fare: one dead server is that server; all dead is the node's network.
Value hang_others(const Context& c, const Item& item, bool ja) {
  const auto own = c.server_of_client(item.index);
  std::vector<std::string> answer, silent, open;
  const auto& servers = c.facts.nfs.servers;
  for (std::uint32_t s = 0; s < servers.size(); ++s) {
    if (own && s == *own) continue;
    const auto& clients = c.clients_of_server(s);
    if (clients.empty()) continue;
    const auto is = [&](State state) {
      return std::any_of(clients.begin(), clients.end(), [&](auto i) { return c.hangs()[i].state == state; });
    };
    (is(State::hangs) ? silent : is(State::answers) ? answer : open).push_back(servers[s].name);
  }
  if (answer.empty() && silent.empty() && open.empty()) return Absent{};
  std::vector<std::string> parts;
  const auto add = [&](const std::vector<std::string>& names, const char* one, const char* many, const char* words_ja) {
    if (names.empty()) return;
    const std::string list = base::join(names, ja ? "、" : ", ");
    parts.push_back(ja ? list + words_ja : fmt::format("{} {}", list, names.size() == 1 ? one : many));
  };
  add(answer, "answers", "answer", " は応答しています");
  add(silent, "does not answer either", "do not answer either", " も応答していません");
  add(open, "was not seen to answer or to hang", "were not seen to answer or to hang", " は応答の有無が不明です");
  return base::join(parts, ja ? "、" : "; ");
}
Value hang_others_en(const Context& c, const Item& item) { return hang_others(c, item, false); }
Value hang_others_ja(const Context& c, const Item& item) { return hang_others(c, item, true); }

Value hang_planned(const Context& c, const Item& item) { return hang_of(c, item).planned; }

// --- the lease of NFSv4

Value lease_expired_s(const Context& c, const Item& item) {
  const NfsClient& client = client_of(c, item);
  if (client.vers.has_value() && !client.vers->starts_with("4")) return Absent{};
  std::optional<std::uint64_t> longest;
  for (const std::uint32_t m : c.mounts_of_client(item.index)) {
    const auto& expired = c.facts.nfs.mounts[m].lease_expired_s;
    if (expired.has_value()) longest = std::max(longest.value_or(0), *expired);
  }
  if (longest) return *longest;
  const auto& mounts = c.mounts_of_client(item.index);
  return unknown(missing_text(c, fmt::format("nfs.mounts[{}].lease_expired_s", mounts.empty() ? 0 : mounts.front())));
}

// Operations of users between two samples, or requests and tasks that wait.
Value lease_in_use(const Context& c, const Item& item) {
  Value expired = lease_expired_s(c, item);
  if (!expired.known() || expired == Value(std::uint64_t{0})) return expired.is_unknown() ? expired : Value(Absent{});
  if (!hang_of(c, item).tasks.empty()) return true;
  bool compared = false;
  for (const std::uint32_t m : c.mounts_of_client(item.index)) {
    const facts::NfsMount* old = c.earlier_mount(m);
    const auto& now = c.facts.nfs.mounts[m];
    if (old == nullptr || old->ops.size() != now.ops.size()) continue;
    compared = true;
    for (std::size_t i = 0; i < now.ops.size(); ++i) {
      if (!is_upkeep_op(now.ops[i].op) && now.ops[i].ops > old->ops[i].ops) return true;
    }
  }
  if (in_trouble(hang_of(c, item))) return true;
  if (compared) return false;
  return unknown("one sample only: whether there is I/O shows in two");
}

// The worst of its clients.
Value server_hang_state(const Context& c, const Item& item) {
  const auto& clients = c.clients_of_server(item.index);
  if (clients.empty()) return Absent{};
  const Hang* worst = nullptr;
  for (const std::uint32_t client : clients) {
    const Hang& hang = c.hangs()[client];
    if (worst == nullptr || hang.state > worst->state) worst = &hang;
  }
  if (worst->state == State::unknown) return unknown(worst->why);
  return std::string(state_word(worst->state));
}

}  // namespace

std::vector<Hang> judge_hangs(const Context& c) {
  const SocketIndex now(c.facts.network.sockets);
  static const facts::Fact<std::vector<NetSocket>> none_known;
  const SocketIndex then(c.facts.earlier && c.sample_gap_s() ? c.facts.earlier->network.sockets : none_known);
  ClientsByPeer by_peer;
  for (const NfsClient& client : c.facts.nfs.clients) by_peer[peer_of(client)].push_back(&client);
  // Requests that wait for a reply now, where the RPC layer lists its queues (Linux 5.14).
  std::map<Peer, std::uint64_t> queues;
  for (const auto& one : c.facts.nfs.xprt_switches.value_or({})) {
    for (const auto& t : one.transports) {
      if (t.dst_addr.has_value() && t.pending_queue_count.has_value())
        queues[{*t.dst_addr, t.dst_port.value_or(2049)}] += *t.pending_queue_count;
    }
  }
  std::vector<Hang> hangs;
  for (std::uint32_t i = 0; i < c.facts.nfs.clients.size(); ++i) {
    const NfsClient& client = c.facts.nfs.clients[i];
    const auto sockets = now.of(by_peer, client), before = then.of(by_peer, client);
    const auto waiting = queues.find(peer_of(client));
    ClientHang view(c, i, sockets, before,
                    waiting == queues.end() ? std::nullopt : std::optional<std::uint64_t>(waiting->second));
    Hang hang = view.judge();
    decide(c, i, view, hang);
    hangs.push_back(std::move(hang));
  }
  give_tasks(c, hangs);
  for (Hang& hang : hangs) take_task_age(c, hang);
  return hangs;
}

bool looks_healthy(const Hang& hang) { return hang.state == State::quiet || hang.state == State::answers; }

void add_hang_scopes(std::vector<Scope>& all) {
  constexpr std::string_view by_transports = "nfs.clients[].transports";
  Scope& clients = scope_named(all, "nfs.clients");
  const std::vector<DerivedFact> facts{
      {"hang.state", text_type,
       "whether its mounts hang, judged without touching them: quiet, answers, suspected (one sign that is not "
       "certain, "
       "or one of several connections) or hangs",
       by_transports, hang_state},
      {"hang.evidence", text_type,
       "what speaks for a hang: TCP, counters, RPC NULL, statfs, kernel log, tasks; or that it answers", by_transports,
       hang_evidence, hang_evidence_ja},
      {"hang.since", text_type, "since when it has not answered, RFC 3339, or time after boot", by_transports,
       hang_since},
      {"hang.since_how", text_type,
       "what tells since when: the NFSv4 lease, the kernel log, the last data received over TCP, the last use of the "
       "connections, or "
       "tasks",
       by_transports, hang_since_how, hang_since_how_ja},
      {"hang.silent_s", number_type, "time without an answer, at least", by_transports, hang_silent_s},
      {"hang.silence", text_type, "since when, and what tells so, in words", by_transports, hang_silence_en,
       hang_silence_ja},
      {"hang.waiting", text_type, "virtual machines, pods and tasks that wait for its server", "kernel.tasks",
       hang_waiting_en, hang_waiting_ja},
      {"hang.task_count", integer_type, "tasks that wait for its server in uninterruptible sleep", "kernel.tasks",
       task_count},
      {"hang.others", text_type, "whether the other servers of the node answer", by_transports, hang_others_en,
       hang_others_ja},
      {"hang.planned_failover", boolean_type, "a failover of its server is declared as planned for this time",
       "declared.failovers", hang_planned},
      {"hang.lease_expired_s", integer_type, "longest time since its NFSv4 lease expired; 0: it has not",
       "nfs.mounts[].lease_expired_s", lease_expired_s},
      {"hang.lease_in_use", boolean_type,
       "there is I/O on its mounts: operations between two samples, or tasks that wait", "nfs.mounts[].ops",
       lease_in_use}};
  clients.derived.insert(clients.derived.end(), facts.begin(), facts.end());
  clients.collections.push_back({"waiting_tasks", "tasks that wait for its server", "kernel.tasks", waiting_tasks});

  scope_named(all, "nfs.servers")
      .derived.push_back({"hang_state", text_type, "hang.state of the worst of its clients; null when it has none",
                          by_transports, server_hang_state});

  Scope tasks;
  tasks.name = "kernel.tasks";
  tasks.type = &facts::type_of<facts::WaitingTask>;
  tasks.items = [](const Context& c) {
    std::vector<Item> items;
    const std::size_t count = c.facts.kernel.tasks.has_value() ? c.facts.kernel.tasks->size() : 0;
    for (std::size_t i = 0; i < count; ++i)
      items.push_back({find_scope("kernel.tasks"), static_cast<std::uint32_t>(i), 0});
    return items;
  };
  tasks.ref = [](const Context& c, const Item& item) { return facts::ref_to((*c.facts.kernel.tasks)[item.index]); };
  tasks.path = [](const Context&, const Item& item) { return fmt::format("kernel.tasks[{}]", item.index); };
  tasks.subject = [](const Context& c, const Item&) { return Subject{"node", c.facts.node.name}; };
  tasks.own_name = [](const Context& c, const Item& item) {
    return std::to_string((*c.facts.kernel.tasks)[item.index].tid);
  };
  all.push_back(tasks);
}

}  // namespace audit
