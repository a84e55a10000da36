#include "audit/eval/time.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <unordered_map>

#include "audit/eval/derive_help.h"

namespace audit {

namespace {

using namespace derive_help;
constexpr std::size_t most_worst = 3;

bool is_valid(const OpCounters& counters) {
  return counters.queue_ms < wrapped_above && counters.rtt_ms < wrapped_above && counters.execute_ms < wrapped_above;
}

void add(OpCounters& sum, const OpCounters& more) {
  sum.ops += more.ops;
  sum.trans += more.trans;
  sum.queue_ms += more.queue_ms;
  sum.rtt_ms += more.rtt_ms;
  sum.execute_ms += more.execute_ms;
  if (more.errors) sum.errors = sum.errors.value_or(0) + *more.errors;
}

OpCounters total_of(const facts::NfsOp& op) {
  OpCounters counters{op.ops, op.trans, op.queue_ms, op.rtt_ms, op.execute_ms, {}};
  if (op.errors.has_value()) counters.errors = *op.errors;
  return counters;
}

// Unsigned: counters that wrapped still have right differences.
OpCounters between(const facts::NfsOp& now, const facts::NfsOp& before) {
  OpCounters counters{now.ops - before.ops,       now.trans - before.trans,           now.queue_ms - before.queue_ms,
                      now.rtt_ms - before.rtt_ms, now.execute_ms - before.execute_ms, {}};
  if (now.errors.has_value() && before.errors.has_value() && *now.errors >= *before.errors)
    counters.errors = *now.errors - *before.errors;
  return counters;
}

const facts::NfsOp* find_op(const facts::NfsMount& mount, std::size_t hint, const std::string& name) {
  if (hint < mount.ops.size() && mount.ops[hint].op == name) return &mount.ops[hint];
  for (const auto& op : mount.ops) {
    if (op.op == name) return &op;
  }
  return nullptr;
}

// Counters of the operations of a mount, upkeep left out.
struct Counted {
  const std::string* op;
  OpCounters counters;
};

std::vector<Counted> counted_ops(const facts::NfsMount& mount, const facts::NfsMount* before) {
  std::vector<Counted> ops;
  for (std::size_t i = 0; i < mount.ops.size(); ++i) {
    const facts::NfsOp& op = mount.ops[i];
    if (op.ops == 0 || is_upkeep_op(op.op)) continue;
    if (before == nullptr) {
      ops.push_back({&op.op, total_of(op)});
    } else if (const facts::NfsOp* old = find_op(*before, i, op.op)) {
      ops.push_back({&op.op, between(op, *old)});
    }
  }
  return ops;
}

facts::Value derived(const Context& context, std::uint32_t client, std::string_view name) {
  static const Scope* scope = find_scope("nfs.clients");
  const DerivedFact* fact = scope->find_derived(name);
  return fact == nullptr ? facts::Value() : fact->get(context, {scope, client, 0});
}

std::optional<std::uint64_t> count_of(const facts::Value& value) {
  const auto number = value.as_double();
  return number && *number >= 0 ? std::optional(static_cast<std::uint64_t>(*number)) : std::nullopt;
}

void describe_connections(const Context& context, std::uint32_t index, ClientTime& time) {
  const facts::NfsClient& client = context.facts.nfs.clients[index];
  if (client.transport_count.has_value()) time.connections = *client.transport_count;
  time.balance = derived(context, index, "transport_balance").as_double();
  const bool session = client.vers.is("4.1") || client.vers.is("4.2");
  time.slots_kind = session ? "session" : "connection";
  time.slots_limit = count_of(derived(context, index, session ? "session_slots" : "slot_limit"));
  std::uint64_t sum = 0, most = 0;
  for (const auto& transport : client.transports) {
    if (!transport.max_slots.has_value()) return;  // RDMA keeps no high-water mark
    sum += *transport.max_slots;
    most = std::max(most, *transport.max_slots);
  }
  if (client.transports.empty()) return;
  // The marks of several connections are of different moments: together an upper bound, never above the limit.
  time.slots_exact = !session || client.transports.size() == 1;
  time.slots_peak = session ? sum : most;
  if (!time.slots_exact && time.slots_limit) time.slots_peak = std::min(*time.slots_peak, *time.slots_limit);
}

// TCP's round trips by "address port" of the peer.
struct Rtt {
  double sum_us = 0;
  std::size_t count = 0;
  bool least = true;
};
using Rtts = std::unordered_map<std::string, Rtt>;

std::string peer_key(const std::string& addr, std::uint32_t port) { return addr + ' ' + std::to_string(port); }

Rtts socket_rtts(const facts::Network& network) {
  Rtts rtts;
  if (!network.sockets.has_value()) return rtts;
  for (const facts::NetSocket& socket : *network.sockets) {
    const auto& rtt = socket.min_rtt_us.has_value() ? socket.min_rtt_us : socket.rtt_us;
    if (socket.state != "ESTABLISHED" || !rtt.has_value() || *rtt == 0) continue;
    Rtt& sum = rtts[peer_key(socket.peer_addr, socket.peer_port)];
    sum.sum_us += static_cast<double>(*rtt);
    ++sum.count;
    sum.least = sum.least && socket.min_rtt_us.has_value();
  }
  return rtts;
}

struct TcpRtt {
  std::optional<double> ms;
  std::string how;
};

TcpRtt tcp_rtt(const Context& context, const Rtts& rtts, std::uint32_t index) {
  const facts::NfsClient& client = context.facts.nfs.clients[index];
  if (client.addr.has_value()) {
    if (const auto found = rtts.find(peer_key(*client.addr, client.port)); found != rtts.end()) {
      const Rtt& rtt = found->second;
      return {rtt.sum_us / static_cast<double>(rtt.count) / 1000,
              rtt.least ? "least TCP round trip of its connections" : "TCP round trip of its connections"};
    }
  }
  if (const auto server = context.server_of_client(index)) {
    const auto& rtt = context.facts.nfs.servers[*server].tcp_rtt_us;
    if (rtt.has_value()) return {*rtt / 1000.0, "TCP round trip of the connection on which the server was asked"};
  }
  return {};
}

// Mounts of a client that spend their time alike.
struct Alike {
  std::vector<std::string> mounts;
  std::vector<std::pair<std::string, OpCounters>> worst;
};

ClientTime time_of(const Context& context, const Rtts& rtts, std::uint32_t client) {
  ClientTime time;
  time.subject = {"nfs.client", context.facts.nfs.clients[client].id};
  const ClientNumbers& numbers = context.numbers(client);
  const bool window = numbers.has_window && numbers.window_s && numbers.window_ops >= min_average_ops;
  if (window) time.window_s = *numbers.window_s;
  const TcpRtt network = tcp_rtt(context, rtts, client);
  time.network_how = network.how;
  describe_connections(context, client, time);

  OpCounters all;
  std::set<std::string> invalid;
  std::vector<Alike> groups;
  std::unordered_map<std::string, std::size_t> by_key;
  for (const std::uint32_t m : context.mounts_of_client(client)) {
    const facts::NfsMount& mount = context.facts.nfs.mounts[m];
    const facts::NfsMount* before = window ? context.comparable_mount(m) : nullptr;
    if (mount.ops.empty() || (window && before == nullptr)) continue;
    std::vector<Counted> ops = counted_ops(mount, before);
    std::erase_if(ops, [&](const Counted& one) {
      if (!is_valid(one.counters)) invalid.insert(*one.op);
      return !is_valid(one.counters) || one.counters.ops == 0;
    });
    for (const Counted& one : ops) add(all, one.counters);
    const auto worse = [](const Counted& a, const Counted& b) {
      return a.counters.execute_ms != b.counters.execute_ms ? a.counters.execute_ms > b.counters.execute_ms
                                                            : *a.op < *b.op;
    };
    const auto end = ops.begin() + static_cast<std::ptrdiff_t>(std::min(most_worst, ops.size()));
    std::partial_sort(ops.begin(), end, ops.end(), worse);
    std::string key;
    Alike one;
    for (auto op = ops.begin(); op != end; ++op) {
      const auto parts = op_time(*op->op, op->counters, network.ms);
      if (!parts) continue;
      key += parts->op + time_part_word(parts->most) + '\n';
      one.worst.emplace_back(*op->op, op->counters);
    }
    if (one.worst.empty()) continue;
    const auto [place, added] = by_key.emplace(std::move(key), groups.size());
    if (added) {
      groups.push_back(std::move(one));
    } else {
      Alike& known = groups[place->second];
      for (std::size_t i = 0; i < known.worst.size(); ++i) add(known.worst[i].second, one.worst[i].second);
    }
    groups[place->second].mounts.push_back(mount.target);
  }
  time.all = op_time("", all, network.ms);
  time.invalid.assign(invalid.begin(), invalid.end());
  for (Alike& group : groups) {
    MountTime& mounts = time.mounts.emplace_back();
    mounts.mounts = std::move(group.mounts);
    for (const auto& [op, counters] : group.worst) {
      if (auto parts = op_time(op, counters, network.ms)) mounts.worst.push_back(std::move(*parts));
    }
  }
  const auto spent = [](const MountTime& mounts) {
    double sum = 0;
    for (const OpTime& op : mounts.worst) sum += op.total_s;
    return sum;
  };
  std::stable_sort(time.mounts.begin(), time.mounts.end(),
                   [&](const MountTime& a, const MountTime& b) { return spent(a) > spent(b); });
  return time;
}

}  // namespace

std::optional<OpTime> op_time(std::string op, const OpCounters& counters, std::optional<double> network_ms) {
  if (counters.ops == 0 || !is_valid(counters)) return std::nullopt;
  const auto ops = static_cast<double>(counters.ops);
  const double queue = static_cast<double>(counters.queue_ms) / ops;
  const double reply = static_cast<double>(counters.rtt_ms) / ops;
  const double execute = static_cast<double>(counters.execute_ms) / ops;
  OpTime time;
  time.op = std::move(op);
  time.ops = counters.ops;
  time.errors = counters.errors;
  time.retrans = counters.trans > counters.ops ? counters.trans - counters.ops : 0;
  time.queue_ms = queue;
  // Each is rounded down to whole milliseconds by the kernel: the parts may be above the whole by a little.
  time.client_ms = std::max(0.0, execute - queue - reply);
  time.mean_ms = queue + reply + time.client_ms;
  if (time.mean_ms <= 0) return std::nullopt;
  time.total_s = time.mean_ms * ops / 1000;
  if (network_ms) time.network_ms = std::min(*network_ms, reply);
  time.server_ms = reply - time.network_ms.value_or(0);
  const auto most = [&](TimePart part, double ms) {
    if (ms <= time.most_share * time.mean_ms) return;
    time.most = part;
    time.most_share = ms / time.mean_ms;
  };
  most(network_ms ? TimePart::server : TimePart::reply, time.server_ms);
  most(TimePart::network, time.network_ms.value_or(0));
  most(TimePart::queue, queue);
  most(TimePart::client, time.client_ms);
  return time;
}

std::vector<ClientTime> where_time_goes(const Context& context) {
  const Rtts rtts = socket_rtts(context.facts.network);
  std::vector<ClientTime> times;
  for (std::uint32_t i = 0; i < context.facts.nfs.clients.size(); ++i) {
    ClientTime time = time_of(context, rtts, i);
    if (time.all || !time.invalid.empty()) times.push_back(std::move(time));
  }
  return times;
}

}  // namespace audit
