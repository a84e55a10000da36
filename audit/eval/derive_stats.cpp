#include "audit/eval/derive_stats.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "audit/base/text.h"
#include "audit/eval/derive_help.h"

namespace audit {

namespace derive_help {

std::string duration_words(double seconds) {
  if (seconds < 120) return fmt::format("{:.0f} s", seconds);
  if (seconds < 7200) return fmt::format("{:.0f} min", std::floor(seconds / 60));
  if (seconds < 172800) return fmt::format("{:.0f} h", std::floor(seconds / 3600));
  return fmt::format("{:.0f} days", std::floor(seconds / 86400));
}

std::string duration_words_ja(double seconds) {
  if (seconds < 120) return fmt::format("{:.0f} 秒", seconds);
  if (seconds < 7200) return fmt::format("{:.0f} 分", std::floor(seconds / 60));
  if (seconds < 172800) return fmt::format("{:.0f} 時間", std::floor(seconds / 3600));
  return fmt::format("{:.0f} 日", std::floor(seconds / 86400));
}

}  // namespace derive_help

namespace {

using namespace derive_help;
using facts::Absent;
using facts::Value;

constexpr std::uint64_t min_mix_ops = 1000;  // so does a mix
constexpr double settled_s = 3600;           // younger mounts tell no rate
constexpr double idle_close_s = 300;         // XS_IDLE_DISC_TO of net/sunrpc/xprtsock.c
constexpr double idle_sends_per_s = 0.1;     // of one connection: a request in ten seconds is no load
constexpr double older_factor = 1.5;         // sends over transmissions counted by the mounts
constexpr std::uint64_t older_sends = 1000;

Value no_counters(const Context& c, std::uint32_t client) {
  const auto& mounts = c.mounts_of_client(client);
  return missing(c, fmt::format("nfs.mounts[{}].ops", mounts.empty() ? 0 : mounts.front()));
}

Value age_missing(const Context& c, std::uint32_t client) {
  const auto& mounts = c.mounts_of_client(client);
  return missing(c, fmt::format("nfs.mounts[{}].age_s", mounts.empty() ? 0 : mounts.front()));
}

// --- which counters count ------------------------------------------------------------------------------------------

// Between two samples where enough happened there, for all operations of the client alike; else since the mount.
struct Basis {
  bool window = false;
  std::optional<double> seconds;
};

Basis basis_of(const Context& c, std::uint32_t client) {
  const ClientNumbers& numbers = c.numbers(client);
  if (numbers.has_window && numbers.window_ops >= min_average_ops) return {true, numbers.window_s};
  return {false, numbers.oldest_age_s};
}

Value basis_how(const Context& c, std::uint32_t client, bool ja) {
  const Basis basis = basis_of(c, client);
  if (basis.window && !basis.seconds) return ja ? "二つの標本の間" : "between two samples";
  if (basis.window)
    return ja ? fmt::format("{}間隔の二つの標本の間", duration_words_ja(*basis.seconds))
              : fmt::format("between two samples {} apart", duration_words(*basis.seconds));
  if (!basis.seconds) return ja ? "マウント以来" : "since the mount";
  return ja ? fmt::format("{}前のマウント以来", duration_words_ja(*basis.seconds))
            : fmt::format("since the mount {} ago", duration_words(*basis.seconds));
}

Value basis_seconds(const Context& c, std::uint32_t client) {
  const Basis basis = basis_of(c, client);
  if (basis.seconds) return *basis.seconds;
  return basis.window ? unknown("the time between the samples is not known") : age_missing(c, client);
}

// --- operations ----------------------------------------------------------------------------------------------------

struct OpNumbers {
  std::uint64_t ops = 0, retrans = 0, timeouts = 0, queue_ms = 0, rtt_ms = 0, execute_ms = 0;
  facts::Fact<std::uint64_t> errors;
};

OpNumbers numbers_of(const ClientOp& op, bool window) {
  if (window)
    return {op.window.ops,    op.window.retrans(),  op.window.timeouts, op.window.queue_ms,
            op.window.rtt_ms, op.window.execute_ms, op.window.errors};
  const facts::NfsOp& total = op.total;
  return {total.ops,      total.trans > total.ops ? total.trans - total.ops : 0,
          total.timeouts, total.queue_ms,
          total.rtt_ms,   total.execute_ms,
          total.errors};
}

OpNumbers numbers_of(const Context& c, const Item& item) {
  return numbers_of(c.numbers(item.index).ops[item.sub], basis_of(c, item.index).window);
}

// A client whose counters could not be read is one item without operation, so that rules say so.
bool is_placeholder(const Context& c, const Item& item) { return item.sub >= c.numbers(item.index).ops.size(); }

template <Value (*get)(const Context&, const Item&)>
Value counted(const Context& c, const Item& item) {
  return is_placeholder(c, item) ? no_counters(c, item.index) : get(c, item);
}

Value op_name(const Context& c, const Item& item) { return c.numbers(item.index).ops[item.sub].total.op; }
Value op_upkeep(const Context& c, const Item& item) { return c.numbers(item.index).ops[item.sub].upkeep; }
Value op_how(const Context& c, const Item& item) { return basis_how(c, item.index, false); }
Value op_how_ja(const Context& c, const Item& item) { return basis_how(c, item.index, true); }
Value op_since_s(const Context& c, const Item& item) { return basis_seconds(c, item.index); }
Value op_ops(const Context& c, const Item& item) { return numbers_of(c, item).ops; }
Value op_retrans(const Context& c, const Item& item) { return numbers_of(c, item).retrans; }
Value op_timeouts(const Context& c, const Item& item) { return numbers_of(c, item).timeouts; }

Value op_errors(const Context& c, const Item& item) {
  const auto errors = numbers_of(c, item).errors;
  return errors.has_value() ? Value(*errors) : unknown("this kernel counts no errors (Linux 5.3 is the first to)");
}

double share(std::uint64_t part, std::uint64_t of) { return static_cast<double>(part) / static_cast<double>(of); }

Value op_retrans_ratio(const Context& c, const Item& item) {
  const OpNumbers n = numbers_of(c, item);
  return n.ops > 0 ? Value(share(n.retrans, n.ops)) : Value(Absent{});
}

Value op_error_ratio(const Context& c, const Item& item) {
  const OpNumbers n = numbers_of(c, item);
  if (n.ops == 0) return Absent{};
  return n.errors.has_value() ? Value(share(*n.errors, n.ops)) : op_errors(c, item);
}

template <std::uint64_t OpNumbers::*sum>
Value op_mean(const Context& c, const Item& item) {
  const OpNumbers n = numbers_of(c, item);
  if (n.ops == 0) return Absent{};
  if (n.*sum > wrapped_above) return unknown("invalid: the counter wrapped");
  return share(n.*sum, n.ops);
}

Value op_queue_per_rtt(const Context& c, const Item& item) {
  const Value queue = op_mean<&OpNumbers::queue_ms>(c, item), rtt = op_mean<&OpNumbers::rtt_ms>(c, item);
  if (!queue.is_number()) return queue;
  if (!rtt.is_number()) return rtt;
  constexpr double least_rtt_ms = 0.001;  // the counters have milliseconds: a fast server stands at 0
  return *queue.as_double() / std::max(*rtt.as_double(), least_rtt_ms);
}

// What is left of the time when the wait before the send and the round trip are taken off.
Value op_client_ms(const Context& c, const Item& item) {
  const OpNumbers n = numbers_of(c, item);
  if (n.ops == 0) return Absent{};
  if (n.queue_ms > wrapped_above || n.rtt_ms > wrapped_above || n.execute_ms > wrapped_above)
    return unknown("invalid: a counter wrapped");
  const std::uint64_t explained = n.queue_ms + n.rtt_ms;
  return n.execute_ms > explained ? share(n.execute_ms - explained, n.ops) : 0.0;
}

Value op_client_share(const Context& c, const Item& item) {
  const Value left = op_client_ms(c, item);
  if (!left.is_number()) return left;
  const double execute = *op_mean<&OpNumbers::execute_ms>(c, item).as_double();
  return execute > 0 ? *left.as_double() / execute : 0.0;
}

// --- clients: the mix of operations --------------------------------------------------------------------------------

struct Mix {
  std::uint64_t all = 0, metadata = 0, reads = 0, writes = 0, read_bytes = 0, write_bytes = 0;
};

Mix mix_of(const Context& c, std::uint32_t client) {
  const bool window = basis_of(c, client).window;
  Mix mix;
  for (const auto& op : c.numbers(client).ops) {
    if (op.upkeep) continue;
    const std::string& name = op.total.op;
    const std::uint64_t ops = window ? op.window.ops : op.total.ops;
    mix.all += ops;
    static constexpr std::array<std::string_view, 5> names{"GETATTR", "ACCESS", "LOOKUP", "READDIR", "READDIRPLUS"};
    if (std::find(names.begin(), names.end(), name) != names.end()) mix.metadata += ops;
    if (name == "READ") {
      mix.reads = ops;
      mix.read_bytes = window ? op.window.bytes_recv : op.total.bytes_recv;
    }
    if (name == "WRITE") {
      mix.writes = ops;
      mix.write_bytes = window ? op.window.bytes_sent : op.total.bytes_sent;
    }
  }
  return mix;
}

Value mix_ops(const Context& c, const Item& item) {
  if (!c.numbers(item.index).counted) return no_counters(c, item.index);
  return mix_of(c, item.index).all;
}

Value mix_metadata_share(const Context& c, const Item& item) {
  const Mix mix = mix_of(c, item.index);
  if (mix.all == 0) return mix_ops(c, item).is_unknown() ? mix_ops(c, item) : Value(Absent{});
  return share(mix.metadata, mix.all);
}

Value mix_data_share(const Context& c, const Item& item) {
  const Mix mix = mix_of(c, item.index);
  if (mix.all == 0) return mix_ops(c, item).is_unknown() ? mix_ops(c, item) : Value(Absent{});
  return share(mix.reads + mix.writes, mix.all);
}

Value mean_bytes(const Context& c, const Item& item, std::uint64_t bytes, std::uint64_t ops) {
  if (!c.numbers(item.index).counted) return no_counters(c, item.index);
  return ops >= min_mix_ops ? Value(share(bytes, ops)) : Value(Absent{});
}
Value mix_read_bytes(const Context& c, const Item& item) {
  const Mix mix = mix_of(c, item.index);
  return mean_bytes(c, item, mix.read_bytes, mix.reads);
}
Value mix_write_bytes(const Context& c, const Item& item) {
  const Mix mix = mix_of(c, item.index);
  return mean_bytes(c, item, mix.write_bytes, mix.writes);
}

Value mix_data_bytes(const Context& c, const Item& item) {
  const Mix mix = mix_of(c, item.index);
  if (mix.reads + mix.writes == 0) return mix_ops(c, item).is_unknown() ? mix_ops(c, item) : Value(Absent{});
  return share(mix.read_bytes + mix.write_bytes, mix.reads + mix.writes);
}

// With layouts the data goes past these counters.
Value pnfs_in_use(const Context& c, const Item& item) {
  if (!c.numbers(item.index).counted) return no_counters(c, item.index);
  return std::any_of(c.numbers(item.index).ops.begin(), c.numbers(item.index).ops.end(),
                     [](const ClientOp& op) { return op.total.op.ends_with("LAYOUTGET") && op.total.ops > 0; });
}

Value commit_ms(const Context& c, const Item& item) {
  if (!c.numbers(item.index).counted) return no_counters(c, item.index);
  const bool window = basis_of(c, item.index).window;
  for (const auto& op : c.numbers(item.index).ops) {
    if (op.total.op != "COMMIT") continue;
    const OpNumbers n = numbers_of(op, window);
    if (n.ops == 0) return Absent{};
    return n.rtt_ms > wrapped_above ? unknown("invalid: the counter wrapped") : Value(share(n.rtt_ms, n.ops));
  }
  return Absent{};
}

// The lease ran out, or the server says that it is in its grace period.
Value recovering(const Context& c, const Item& item) {
  for (const std::uint32_t m : c.mounts_of_client(item.index)) {
    if (c.facts.nfs.mounts[m].lease_expired_s.value_or(0) > 0) return true;
  }
  const auto server = c.server_of_client(item.index);
  return server && c.facts.nfs.servers[*server].in_grace.is(true);
}

Value client_how(const Context& c, const Item& item) { return basis_how(c, item.index, false); }
Value client_how_ja(const Context& c, const Item& item) { return basis_how(c, item.index, true); }

// --- clients: connections made anew --------------------------------------------------------------------------------

// For TCP the kernel counts the attempt and the success: 2 for a connection that was made once (net/sunrpc/xprtsock.c).
std::uint64_t first_connect(const facts::NfsTransport& t) { return t.proto == "tcp" ? 2 : 1; }

struct Connects {
  std::uint64_t connections = 0, count = 0, first = 0, sends = 0;
};

// Nothing where a connection has no such number (UDP), or there are no counters.
std::optional<Connects> connects_of(const facts::NfsClient& client) {
  Connects sum;
  for (const auto& t : client.transports) {
    if (!t.connect_count.has_value()) return std::nullopt;
    ++sum.connections;
    sum.count += *t.connect_count;
    sum.first += first_connect(t);
    sum.sends += t.sends;
  }
  return sum.connections > 0 ? std::optional(sum) : std::nullopt;
}

Value connects_missing(const Context& c, const Item& item) {
  const facts::NfsClient& client = client_of(c, item);
  if (!client.transports.empty()) return unknown("connections of this protocol are not counted");
  return missing(c, fmt::format("nfs.clients[{}].transports", item.index));
}

// Counters of connections and sessions outlive the mounts that made them: with more sends than all present mounts
// account for, they tell of a time before the oldest of these.
bool is_older_than_mounts(const Context& c, std::uint32_t client) {
  if (!c.numbers(client).counted) return false;  // cut out of a text: nothing to compare with
  std::uint64_t sends = 0, counted = 0;
  for (const auto& t : c.facts.nfs.clients[client].transports) sends += t.sends;
  for (const auto& op : c.numbers(client).ops) counted += std::max(op.total.trans, op.total.ops);
  return static_cast<double>(sends) > static_cast<double>(counted) * older_factor + older_sends;
}

Value older_unknown() { return unknown("the counters are older than the mounts, since when is not told"); }

Value reconnect_made(const Context& c, const Item& item) {
  const auto sum = connects_of(client_of(c, item));
  return sum ? Value(sum->count) : connects_missing(c, item);
}

Value reconnect_more(const Context& c, const Item& item) {
  const auto sum = connects_of(client_of(c, item));
  return sum ? Value(sum->count > sum->connections) : connects_missing(c, item);
}

Value reconnect_age_s(const Context& c, const Item& item) {
  const auto age = c.numbers(item.index).oldest_age_s;
  return age ? Value(*age) : age_missing(c, item.index);
}

std::string age_words(const Context& c, const Item& item, bool ja) {
  const auto age = c.numbers(item.index).oldest_age_s;
  if (!age) return ja ? "不明な時間" : "an unknown time";
  return ja ? duration_words_ja(*age) : duration_words(*age);
}
Value reconnect_age(const Context& c, const Item& item) { return age_words(c, item, false); }
Value reconnect_age_ja(const Context& c, const Item& item) { return age_words(c, item, true); }

// Of one connection, the first connect left out.
Value reconnect_per_hour(const Context& c, const Item& item) {
  const auto sum = connects_of(client_of(c, item));
  if (!sum) return connects_missing(c, item);
  const auto age = c.numbers(item.index).oldest_age_s;
  if (!age || *age <= 0) return age_missing(c, item.index);
  if (is_older_than_mounts(c, item.index)) return older_unknown();
  const double again = sum->count > sum->first ? static_cast<double>(sum->count - sum->first) : 0;
  return again * 3600 / *age / static_cast<double>(sum->connections);
}

// So little goes over each connection that closing it after 5 minutes without use explains what is counted.
Value reconnect_idle(const Context& c, const Item& item) {
  const Value rate = reconnect_per_hour(c, item);
  if (!rate.is_number()) return rate;
  const auto sum = connects_of(client_of(c, item));
  const double sends_per_s =
      static_cast<double>(sum->sends) / *c.numbers(item.index).oldest_age_s / static_cast<double>(sum->connections);
  return *rate.as_double() <= 3600 / idle_close_s && sends_per_s < idle_sends_per_s;
}

const facts::NfsClient* comparable_client(const Context& c, const Item& item) {
  if (c.earlier() == nullptr) return nullptr;
  const facts::NfsClient* before = c.earlier_client(item.index);
  const facts::NfsClient& now = client_of(c, item);
  if (before == nullptr || before->transports.size() != now.transports.size()) return nullptr;
  for (std::size_t i = 0; i < now.transports.size(); ++i) {
    if (now.transports[i].sends < before->transports[i].sends) return nullptr;
  }
  return before;
}

// The life of the mounts tells as well, where it is long enough.
bool has_life(const Context& c, const Item& item) {
  return c.numbers(item.index).oldest_age_s.value_or(0) >= settled_s && !is_older_than_mounts(c, item.index);
}

Value not_comparable(const Context& c, const Item& item) {
  if (c.earlier() == nullptr && connects_of(client_of(c, item)) && has_life(c, item)) return Absent{};
  if (c.earlier() == nullptr) return unknown(c.why_not_comparable());
  if (client_of(c, item).transports.empty()) return connects_missing(c, item);
  return unknown("the earlier sample has no such connections");
}

// Connections that were made anew between two samples, more often than 5 minutes without use can explain.
Value reconnect_breaks(const Context& c, const Item& item) {
  const facts::NfsClient* before = comparable_client(c, item);
  if (before == nullptr) return not_comparable(c, item);
  if (!connects_of(client_of(c, item))) return connects_missing(c, item);
  const auto wall = c.sample_gap_s();
  std::uint64_t breaks = 0;
  const auto& transports = client_of(c, item).transports;
  for (std::size_t i = 0; i < transports.size(); ++i) {
    const facts::NfsTransport &now = transports[i], &then = before->transports[i];
    if (!then.connect_count.has_value() || !then.idle_s.has_value() || *now.connect_count <= *then.connect_count ||
        *then.connect_count == 0)
      continue;
    if (!wall) return unknown("the time between the samples is not known");
    const double idle_closings = std::floor((static_cast<double>(*then.idle_s) + *wall) / idle_close_s);
    const double made =
        static_cast<double>(*now.connect_count - *then.connect_count) / static_cast<double>(first_connect(now));
    if (made > idle_closings) ++breaks;
  }
  return breaks;
}

Value reconnect_bad_xids(const Context& c, const Item& item) {
  const facts::NfsClient* before = comparable_client(c, item);
  if (before == nullptr) return not_comparable(c, item);
  std::uint64_t more = 0;
  const auto& transports = client_of(c, item).transports;
  for (std::size_t i = 0; i < transports.size(); ++i) {
    if (transports[i].bad_xids > before->transports[i].bad_xids)
      more += transports[i].bad_xids - before->transports[i].bad_xids;
  }
  return more;
}

// --- clients: sessions made anew -----------------------------------------------------------------------------------

std::uint64_t ops_named(const facts::NfsMount& mount, std::string_view name) {
  for (const auto& op : mount.ops) {
    if (op.op == name) return op.ops;
  }
  return 0;
}

// Session upkeep is counted once per client and printed with each of its mounts: the largest, not the sum.
std::optional<std::uint64_t> largest(const Context& c, std::uint32_t client, std::string_view name) {
  std::optional<std::uint64_t> most;
  for (const std::uint32_t m : c.mounts_of_client(client)) {
    const facts::NfsMount& mount = c.facts.nfs.mounts[m];
    if (!mount.ops.empty()) most = std::max(most.value_or(0), ops_named(mount, name));
  }
  return most;
}

Value session_made(const Context& c, const Item& item) {
  const auto made = largest(c, item.index, "CREATE_SESSION");
  return made ? Value(*made) : no_counters(c, item.index);
}

Value session_per_hour(const Context& c, const Item& item) {
  const auto made = largest(c, item.index, "CREATE_SESSION");
  if (!made) return no_counters(c, item.index);
  const auto age = c.numbers(item.index).oldest_age_s;
  if (!age || *age <= 0) return age_missing(c, item.index);
  if (is_older_than_mounts(c, item.index)) return older_unknown();
  return static_cast<double>(*made) * 3600 / *age;
}

Value session_window_made(const Context& c, const Item& item) {
  const ClientNumbers& numbers = c.numbers(item.index);
  if (!numbers.counted) return no_counters(c, item.index);
  if (!numbers.has_window) return has_life(c, item) ? Value(Absent{}) : unknown(numbers.no_window);
  std::uint64_t made = 0;
  for (const std::uint32_t m : c.mounts_of_client(item.index)) {
    const facts::NfsMount* before = c.earlier_mount(m);
    if (before == nullptr) continue;
    std::uint64_t here = 0;
    for (const std::string_view name : {"EXCHANGE_ID", "CREATE_SESSION"}) {
      const std::uint64_t now = ops_named(c.facts.nfs.mounts[m], name), then = ops_named(*before, name);
      if (now > then) here += now - then;
    }
    made = std::max(made, here);
  }
  return made;
}

Value session_window_s(const Context& c, const Item& item) {
  const ClientNumbers& numbers = c.numbers(item.index);
  if (!numbers.counted) return no_counters(c, item.index);
  if (!numbers.has_window && has_life(c, item)) return Absent{};
  if (!numbers.has_window || !numbers.window_s) return unknown(numbers.no_rate);
  return *numbers.window_s;
}

// EXCHANGE_ID and CREATE_SESSION together: two for each time.
Value session_window_per_hour(const Context& c, const Item& item) {
  const Value made = session_window_made(c, item), seconds = session_window_s(c, item);
  if (!made.is_number()) return made;
  if (!seconds.is_number()) return seconds;
  return *made.as_double() * 3600 / *seconds.as_double();
}

// --- the node ------------------------------------------------------------------------------------------------------

Value nfs4_mount_count(const Context& c, const Item&) {
  const auto& mounts = c.facts.nfs.mounts;
  return static_cast<std::uint64_t>(
      std::count_if(mounts.begin(), mounts.end(), [](const auto& m) { return m.vers.value_or("").starts_with("4"); }));
}

// NFSv3 mounts that ask the server for their locks.
std::vector<Item> lock_mounts(const Context& c, const Item&) {
  std::vector<Item> items;
  for (std::uint32_t i = 0; i < c.facts.nfs.mounts.size(); ++i) {
    const facts::NfsMount& m = c.facts.nfs.mounts[i];
    if (!m.vers.is("3") && !m.vers.is("2")) continue;
    if (!m.nolock.is(false) || !m.local_lock.has_value() || *m.local_lock == "all") continue;
    items.push_back(make_item("nfs.mounts", i));
  }
  return items;
}

Value lock_mount_count(const Context& c, const Item& item) {
  const auto mounts = lock_mounts(c, item);
  if (!mounts.empty()) return mounts.size();
  for (std::uint32_t i = 0; i < c.facts.nfs.mounts.size(); ++i) {
    const facts::NfsMount& m = c.facts.nfs.mounts[i];
    if (m.vers.is_unknown()) return missing(c, fmt::format("nfs.mounts[{}].vers", i));
    if ((m.vers.is("3") || m.vers.is("2")) && m.nolock.is_unknown())
      return missing(c, fmt::format("nfs.mounts[{}].nolock", i));
  }
  return 0;
}

// Tasks that wait while lockd is brought up: the mount that started them never ends.
Value lockd_stuck(const Context& c, const Item&) {
  if (c.facts.kernel.tasks.is_unknown()) return missing(c, "kernel.tasks");
  std::vector<std::string> stuck;
  bool any_without_stack = false;
  for (const auto& task : c.facts.kernel.tasks.value_or({})) {
    const auto in = [&](const std::string& function) { return function.starts_with("lockd_up"); };
    if (std::any_of(task.stack.begin(), task.stack.end(), in) || in(task.wchan.value_or("")))
      stuck.push_back(fmt::format("{} ({})", task.comm, task.pid));
    else if (task.stack.empty())
      any_without_stack = true;
  }
  if (!stuck.empty()) return base::join(stuck, ", ");
  if (any_without_stack) return unknown("needs kernel.tasks: the stacks of waiting tasks could not be read");
  return Absent{};
}

Value uses_lockd(const Context& c, const Item& item) {
  const Value locks = lock_mount_count(c, item);
  const Value stuck = lockd_stuck(c, item);
  if (stuck.as_text() != nullptr) return true;
  return locks.is_number() ? Value(*locks.as_double() > 0) : locks;
}

void add_to_ops(Scope& ops) {
  constexpr std::string_view by = "nfs.mounts[].ops";
  append<DerivedFact>(
      ops.derived,
      {{"name", text_type, "operation", by, counted<op_name>},
       {"upkeep", boolean_type, "an operation of mounting or session upkeep", by, counted<op_upkeep>},
       {"stat.how", text_type, "what the numbers under stat were counted over: two samples, or the life of the mount",
        by, op_how, op_how_ja},
       {"stat.since_s", number_type, "that time", by, counted<op_since_s>},
       {"stat.ops", integer_type, "operations, between two samples with 100 of the client, else since the mount", by,
        counted<op_ops>},
       {"stat.retrans", integer_type, "transmissions beyond the first, over the same time", by, counted<op_retrans>},
       {"stat.retrans_ratio", number_type, "the same over operations", by, counted<op_retrans_ratio>},
       {"stat.timeouts", integer_type, "major timeouts over the same time", by, counted<op_timeouts>},
       {"stat.errors", integer_type, "operations that ended with an error status, over the same time", by,
        counted<op_errors>},
       {"stat.error_ratio", number_type, "the same over operations", by, counted<op_error_ratio>},
       {"stat.queue_ms", number_type, "mean wait before the send over the same time", by,
        counted<op_mean<&OpNumbers::queue_ms>>},
       {"stat.rtt_ms", number_type, "mean round trip over the same time", by, counted<op_mean<&OpNumbers::rtt_ms>>},
       {"stat.execute_ms", number_type, "mean time to completion over the same time", by,
        counted<op_mean<&OpNumbers::execute_ms>>},
       {"stat.queue_per_rtt", number_type, "mean wait before the send over mean round trip", by,
        counted<op_queue_per_rtt>},
       {"stat.client_ms", number_type, "mean time that neither the wait before the send nor the round trip explains",
        by, counted<op_client_ms>},
       {"stat.client_share", number_type, "the same over the mean time to completion", by, counted<op_client_share>}});
}

void add_to_clients(Scope& clients) {
  constexpr std::string_view by_ops = "nfs.mounts[].ops";
  constexpr std::string_view by_transports = "nfs.clients[].transports";
  append<DerivedFact>(
      clients.derived,
      {{"stat.how", text_type, "what the mix was counted over: two samples, or the life of the mount", by_ops,
        client_how, client_how_ja},
       {"mix.ops", integer_type, "operations, session upkeep left out", by_ops, mix_ops},
       {"mix.metadata_share", number_type, "share of GETATTR, ACCESS, LOOKUP, READDIR and READDIRPLUS among them",
        by_ops, mix_metadata_share},
       {"mix.data_share", number_type, "share of READ and WRITE among them", by_ops, mix_data_share},
       {"mix.read_bytes", number_type, "bytes of a mean READ, RPC header included; null below 1000", by_ops,
        mix_read_bytes},
       {"mix.write_bytes", number_type, "bytes of a mean WRITE, RPC header included; null below 1000", by_ops,
        mix_write_bytes},
       {"mix.data_bytes", number_type, "bytes of a mean READ or WRITE, both together; null without any", by_ops,
        mix_data_bytes},
       {"commit_ms", number_type, "mean round trip of COMMIT over the same time; null without any", by_ops, commit_ms},
       {"recovering", boolean_type, "the lease has expired, or the server is in its grace period",
        "nfs.mounts[].lease_expired_s", recovering},
       {"pnfs_in_use", boolean_type, "layouts were fetched: data may go past the counters", by_ops, pnfs_in_use},
       {"reconnect.made", integer_type,
        "connects counted over all connections; TCP counts 2 for a connection made once: attempt and success",
        by_transports, reconnect_made},
       {"reconnect.more", boolean_type, "more connects were counted than there are connections", by_transports,
        reconnect_more},
       {"reconnect.age_s", number_type, "age of the oldest mount", "nfs.mounts[].age_s", reconnect_age_s},
       {"reconnect.age", text_type, "the same in words", "nfs.mounts[].age_s", reconnect_age, reconnect_age_ja},
       {"reconnect.per_hour", number_type, "connects of one connection per hour, the first left out", by_transports,
        reconnect_per_hour},
       {"reconnect.idle", boolean_type,
        "at most 12 reconnects an hour and less than a request in 10 s: closing after 5 minutes without use explains "
        "them",
        by_transports, reconnect_idle},
       {"reconnect.breaks", integer_type,
        "connections made anew between two samples, more often than closing when idle explains; null where one sample "
        "of "
        "mounts over an hour old has to do",
        by_transports, reconnect_breaks},
       {"reconnect.bad_xids", integer_type, "replies that matched no request, between two samples; null as above",
        by_transports, reconnect_bad_xids},
       {"session.made", integer_type, "CREATE_SESSION counted for the client", by_ops, session_made},
       {"session.per_hour", number_type, "the same per hour since the oldest mount", by_ops, session_per_hour},
       {"session.window_made", integer_type,
        "EXCHANGE_ID and CREATE_SESSION between two samples; null where the life of mounts over an hour old has to do",
        by_ops, session_window_made},
       {"session.window_s", number_type, "time between these samples", by_ops, session_window_s},
       {"session.window_per_hour", number_type, "EXCHANGE_ID and CREATE_SESSION per hour between two samples", by_ops,
        session_window_per_hour}});
}

void add_to_node(Scope& node) {
  append<DerivedFact>(
      node.derived,
      {{"nfs4_mount_count", integer_type, "NFSv4 mounts", "nfs.mounts[].vers", nfs4_mount_count},
       {"lock_mount_count", integer_type, "NFSv2 and NFSv3 mounts that ask the server for locks", "nfs.mounts[].nolock",
        lock_mount_count},
       {"uses_lockd", boolean_type, "there are such mounts, or a task is seen to wait in lockd_up()",
        "nfs.mounts[].nolock", uses_lockd},
       {"lockd_stuck", text_type, "tasks that wait in lockd_up(); null for none", "kernel.tasks", lockd_stuck}});
  node.collections.push_back(
      {"lock_mounts", "NFSv2 and NFSv3 mounts that ask the server for locks", "nfs.mounts", lock_mounts});
}

}  // namespace

void add_stat_facts(std::vector<Scope>& all) {
  add_to_ops(scope_named(all, "nfs.clients.ops"));
  add_to_clients(scope_named(all, "nfs.clients"));
  add_to_node(scope_named(all, "node"));
}

}  // namespace audit
