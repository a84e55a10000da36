// The kinds of items that rules run over, with their joins and derived facts.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "audit/base/text.h"
#include "audit/eval/derive.h"
#include "audit/eval/derive_block.h"
#include "audit/eval/derive_hang.h"
#include "audit/eval/derive_help.h"
#include "audit/eval/derive_iscsi.h"
#include "audit/eval/derive_latency.h"
#include "audit/eval/derive_log.h"
#include "audit/eval/derive_multipath.h"
#include "audit/eval/derive_network.h"
#include "audit/eval/derive_options.h"
#include "audit/eval/derive_stats.h"
#include "audit/eval/derive_storage.h"
#include "audit/eval/derive_targets.h"

namespace audit {

namespace {

using namespace derive_help;
using facts::Absent;
using facts::Value;

constexpr double min_window_s = 10;
constexpr std::uint64_t min_window_ops = 1000;  // for the concurrency of a client
constexpr std::uint64_t min_sends = 1000;
constexpr double largest_measured_depth = 128;

std::string needs(std::string_view path, std::string_view why) { return fmt::format("needs {}: {}", path, why); }

// --- mounts --------------------------------------------------------------------------------------------------------

Value give_up_s(const Context& c, const Item& item) {
  const auto& m = mount_of(c, item);
  if (m.timeo_ds.is_unknown()) return missing(c, "nfs.mounts", item.index, "timeo_ds");
  if (m.retrans.is_unknown()) return missing(c, "nfs.mounts", item.index, "retrans");
  if (!m.timeo_ds.has_value() || !m.retrans.has_value()) return Absent{};
  return *m.timeo_ds / 10.0 * (*m.retrans + 1.0);
}

Value timeo_s(const Context& c, const Item& item) {
  const auto& m = mount_of(c, item);
  if (!m.timeo_ds.has_value()) return Value::of(m.timeo_ds);
  return *m.timeo_ds / 10.0;
}

// Access modes of the volume where it was declared; one node alone cannot see who else mounts an export.
const facts::DeclaredPv* declared_pv(const Context& c, const Item& item) {
  const auto& m = mount_of(c, item);
  return m.kubelet.has_value() && m.kubelet->pv.has_value() ? c.declared_pv(*m.kubelet->pv) : nullptr;
}

bool is_many_nodes(const std::string& mode) { return mode == "ReadWriteMany" || mode == "ReadOnlyMany"; }

Value shared(const Context& c, const Item& item) {
  const facts::DeclaredPv* pv = declared_pv(c, item);
  if (pv != nullptr && pv->access_modes.has_value()) {
    return std::any_of(pv->access_modes->begin(), pv->access_modes->end(), is_many_nodes);
  }
  return unknown("one node does not show whether others mount the same export, and nothing declares it");
}

Value shared_how(const Context& c, const Item& item) {
  const facts::DeclaredPv* pv = declared_pv(c, item);
  if (pv == nullptr || !pv->access_modes.has_value()) return shared(c, item);
  return fmt::format("PersistentVolume {} declares {}", pv->name, base::join(*pv->access_modes, ", "));
}

Joined mount_client(const Context& c, const Item& item) {
  const auto client = c.client_of_mount(item.index);
  if (!client) return {std::nullopt, false, "no client of that id"};
  return {make_item("nfs.clients", *client), false, ""};
}

Joined nic_to(const Context& c, const facts::Fact<std::string>& addr) {
  if (!addr.has_value()) return {std::nullopt, false, "the address of the server is not known"};
  const auto path = c.path_to(*addr);
  if (!path) return {std::nullopt, false, "needs network.paths: " + why_unknown(c, "network.paths")};
  return {make_item("network.paths", *path), false, ""};
}

Joined mount_nic(const Context& c, const Item& item) { return nic_to(c, mount_of(c, item).addr); }
Joined client_nic(const Context& c, const Item& item) { return nic_to(c, client_of(c, item).addr); }
Joined server_nic(const Context& c, const Item& item) { return nic_to(c, server_of(c, item).addr); }

Joined client_server(const Context& c, const Item& item) {
  const auto server = c.server_of_client(item.index);
  if (!server) return {std::nullopt, false, "no server of that address"};
  return {make_item("nfs.servers", *server), false, ""};
}

Joined mount_server(const Context& c, const Item& item) {
  const Joined client = mount_client(c, item);
  return client.item ? client_server(c, *client.item) : client;
}

std::vector<Item> mount_itself(const Context&, const Item& item) { return {item}; }

// --- clients: what was asked for -----------------------------------------------------------------------------------

template <class Pick>
Value asked_nconnect(const Context& c, const Item& item, Pick pick) {
  std::optional<std::uint32_t> result;
  bool any_known = false;
  std::optional<std::uint32_t> not_known;
  for (const std::uint32_t m : c.mounts_of_client(item.index)) {
    const auto& asked = c.facts.nfs.mounts[m].asked;
    if (asked.is_unknown()) {
      if (!not_known) not_known = m;
      continue;
    }
    any_known = true;
    if (asked.has_value() && asked->nconnect.has_value())
      result = result ? pick(*result, *asked->nconnect) : *asked->nconnect;
  }
  if (result) return *result;
  if (not_known) return missing(c, "nfs.mounts", *not_known, "asked");
  if (!any_known) return unknown("the client has no mounts");
  return Absent{};
}

Value asked_nconnect_max(const Context& c, const Item& item) {
  return asked_nconnect(c, item, [](std::uint32_t a, std::uint32_t b) { return std::max(a, b); });
}
Value asked_nconnect_min(const Context& c, const Item& item) {
  return asked_nconnect(c, item, [](std::uint32_t a, std::uint32_t b) { return std::min(a, b); });
}

// Only the mount that makes the client decides over nconnect. Without ages: the first in the mount table.
Joined oldest_mount(const Context& c, const Item& item) {
  const auto& mounts = c.mounts_of_client(item.index);
  if (mounts.empty()) return {std::nullopt, true, ""};
  std::uint32_t oldest = mounts.front();
  for (const std::uint32_t m : mounts) {
    const auto &age = c.facts.nfs.mounts[m].age_s, &best = c.facts.nfs.mounts[oldest].age_s;
    if (age.has_value() && best.has_value() && *age > *best) oldest = m;
  }
  return {make_item("nfs.mounts", oldest), false, ""};
}

std::vector<Item> client_mounts(const Context& c, const Item& item) {
  const Scope* scope = find_scope("nfs.mounts");
  std::vector<Item> items;
  for (const std::uint32_t m : c.mounts_of_client(item.index)) items.push_back({scope, m, 0});
  return items;
}

Value mount_count(const Context& c, const Item& item) { return c.mounts_of_client(item.index).size(); }

// --- clients: load on the connections ------------------------------------------------------------------------------

struct Sends {
  std::uint64_t sends = 0, pending = 0;
  bool counted = true;  // every connection is TCP and has the sums
};

Sends tcp_sends(const facts::NfsClient& client) {
  Sends total;
  for (const auto& t : client.transports) {
    if (t.proto != "tcp" || !t.pending_u.has_value()) {
      total.counted = false;
      continue;
    }
    total.sends += t.sends;
    total.pending += *t.pending_u;
  }
  if (client.transports.empty()) total.counted = false;
  return total;
}

struct InFlight {
  Value mean;
  std::string how, how_ja;
};

// Little's law over a window, or one read of the transport counters: at each send the kernel adds the length of the
// pending queue, the others that wait for a reply (net/sunrpc/xprt.c, xprt_request_transmit).
InFlight in_flight(const Context& c, const Item& item) {
  const ClientNumbers& numbers = c.numbers(item.index);
  if (numbers.has_window && numbers.window_s && *numbers.window_s >= min_window_s) {
    std::uint64_t ops = 0, execute_ms = 0;
    for (const auto& op : numbers.ops) {
      if (op.upkeep) continue;
      ops += op.window.ops;
      execute_ms += op.window.execute_ms;
    }
    if (ops >= min_window_ops && execute_ms < wrapped_above)
      return {static_cast<double>(execute_ms) / (*numbers.window_s * 1000),
              fmt::format("two samples {:.0f} s apart", *numbers.window_s),
              fmt::format("{:.0f} 秒間隔の二つの標本", *numbers.window_s)};
  }
  const facts::NfsClient& client = client_of(c, item);
  if (client.transports.empty()) return {missing(c, "nfs.clients", item.index, "transports"), "", ""};
  const Sends total = tcp_sends(client);
  if (!total.counted) return {unknown("only TCP connections count the requests that wait"), "", ""};
  if (total.sends < min_sends)
    return {unknown(fmt::format("{} requests were sent so far, {} are needed", total.sends, min_sends)), "", ""};
  return {1 + static_cast<double>(total.pending) / static_cast<double>(total.sends), "one read, since the mount",
          "一回の読み取り、マウント以来"};
}

Value in_flight_mean(const Context& c, const Item& item) { return in_flight(c, item).mean; }

Value in_flight_how(const Context& c, const Item& item) {
  InFlight result = in_flight(c, item);
  if (result.mean.is_unknown()) return result.mean;
  return result.how;
}

Value in_flight_how_ja(const Context& c, const Item& item) {
  InFlight result = in_flight(c, item);
  if (result.mean.is_unknown()) return result.mean;
  return result.how_ja;
}

Value in_flight_peak(const Context& c, const Item& item) {
  const facts::NfsClient& client = client_of(c, item);
  if (client.transports.empty()) return missing(c, "nfs.clients", item.index, "transports");
  std::uint64_t peak = 0;
  for (const auto& t : client.transports) {
    if (t.proto != "tcp" || !t.max_slots.has_value()) return unknown("only TCP connections keep a high-water mark");
    peak += *t.max_slots;
  }
  return peak;
}

Value in_flight_idle(const Context& c, const Item& item) {
  const facts::NfsClient& client = client_of(c, item);
  if (client.transports.empty()) return missing(c, "nfs.clients", item.index, "transports");
  std::uint64_t sends = 0;
  for (const auto& t : client.transports) sends += t.sends;
  return sends < min_sends;
}

Value transport_sends(const Context& c, const Item& item) {
  const facts::NfsClient& client = client_of(c, item);
  if (client.transports.empty()) return missing(c, "nfs.clients", item.index, "transports");
  std::uint64_t sends = 0;
  for (const auto& t : client.transports) sends += t.sends;
  return sends;
}

// Largest connection over the mean of all. Counters since the client was made: connections of one nconnect= are made
// together, and a reconnect keeps them.
Value transport_balance(const Context& c, const Item& item) {
  const facts::NfsClient& client = client_of(c, item);
  if (client.transports.empty()) return missing(c, "nfs.clients", item.index, "transports");
  std::uint64_t sends = 0, largest = 0;
  for (const auto& t : client.transports) {
    sends += t.sends;
    largest = std::max(largest, t.sends);
  }
  if (sends == 0) return unknown("nothing was sent yet");
  return static_cast<double>(largest) * static_cast<double>(client.transports.size()) / static_cast<double>(sends);
}

Value trunked(const Context& c, const Item& item) {
  const facts::NfsClient& client = client_of(c, item);
  if (client.transport_count.is_unknown()) return missing(c, "nfs.clients", item.index, "transport_count");
  if (client.max_connect.is_unknown()) return missing(c, "nfs.clients", item.index, "max_connect");
  if (client.max_connect.value_or(1) <= 1) return false;
  return client.transport_count.value_or(1) > std::max(client.nconnect.value_or(1), std::uint32_t{1});
}

Value kernel_knows_nconnect(const Context& c, const Item&) {
  if (c.has_several_connections()) return true;
  const auto known = kernel_has_nconnect(c.facts.kernel);
  if (known.is_unknown()) return missing(c, "kernel.release");
  return Value::of(known);
}

// --- clients: operations -------------------------------------------------------------------------------------------

struct Means {
  std::uint64_t ops = 0, rtt_ms = 0, execute_ms = 0;
  bool window = false;
  bool valid = false;
};

// Round trips of I/O and name operations; of the window where there is one with enough operations.
Means means(const ClientNumbers& numbers) {
  Means window, total;
  window.window = true;
  bool wrapped = false;
  for (const auto& op : numbers.ops) {
    if (op.upkeep) continue;
    window.ops += op.window.ops;
    window.rtt_ms += op.window.rtt_ms;
    window.execute_ms += op.window.execute_ms;
    if (op.wrapped) wrapped = true;
    total.ops += op.total.ops;
    total.rtt_ms += op.total.rtt_ms;
    total.execute_ms += op.total.execute_ms;
  }
  window.valid = numbers.has_window && window.ops >= min_average_ops && window.rtt_ms < wrapped_above;
  total.valid = !wrapped && total.ops >= min_average_ops;
  return window.valid ? window : total;
}

Value too_few(const Context& c, const Item& item) {
  const ClientNumbers& numbers = c.numbers(item.index);
  if (!numbers.counted) {
    const auto& mounts = c.mounts_of_client(item.index);
    return missing(c, "nfs.mounts", mounts.empty() ? 0 : mounts.front(), "ops");
  }
  return unknown(fmt::format("fewer than {} operations were counted", min_average_ops));
}

Value rtt_ms(const Context& c, const Item& item) {
  const Means mean = means(c.numbers(item.index));
  if (!mean.valid) return too_few(c, item);
  return static_cast<double>(mean.rtt_ms) / static_cast<double>(mean.ops);
}

Value ops_per_s(const Context& c, const Item& item) {
  const ClientNumbers& numbers = c.numbers(item.index);
  if (!numbers.has_window || !numbers.window_s) return unknown(numbers.no_rate);
  std::uint64_t ops = 0;
  for (const auto& op : numbers.ops) ops += op.window.ops;
  return static_cast<double>(ops) / *numbers.window_s;
}

const ClientOp* find_op(const ClientNumbers& numbers, std::string_view name) {
  for (const auto& op : numbers.ops) {
    if (op.total.op == name) return &op;
  }
  return nullptr;
}

// Share of WRITE among READ and WRITE, of the window where there is one.
double write_share(const ClientNumbers& numbers) {
  const ClientOp *read = find_op(numbers, "READ"), *write = find_op(numbers, "WRITE");
  const auto share = [](std::uint64_t reads, std::uint64_t writes) {
    return static_cast<double>(writes) / static_cast<double>(reads + writes);
  };
  const ClientOp nothing;
  const ClientOp &r = read != nullptr ? *read : nothing, &w = write != nullptr ? *write : nothing;
  if (numbers.has_window && r.window.ops + w.window.ops >= min_average_ops) return share(r.window.ops, w.window.ops);
  return r.total.ops + w.total.ops > 0 ? share(r.total.ops, w.total.ops) : 0;
}

Value expected_gain(const Context& c, const Item& item) {
  const Value mean = in_flight_mean(c, item);
  if (mean.is_unknown()) return mean;
  return nconnect_gain(*mean.as_double(), write_share(c.numbers(item.index)));
}

Value expected_gain_peak(const Context& c, const Item& item) {
  const Value peak = in_flight_peak(c, item);
  if (peak.is_unknown()) return peak;
  return nconnect_gain(*peak.as_double(), write_share(c.numbers(item.index)));
}

// --- clients: transfer sizes ---------------------------------------------------------------------------------------

using MountSize = facts::Fact<std::uint32_t> facts::NfsMount::*;
using AskedSize = facts::Fact<std::uint32_t> facts::AskedOptions::*;

// The smallest in use by a mount of the client, and which mount that is.
std::optional<std::uint32_t> smallest_mount(const Context& c, const Item& item, MountSize size) {
  std::optional<std::uint32_t> best;
  for (const std::uint32_t m : c.mounts_of_client(item.index)) {
    const auto& fact = c.facts.nfs.mounts[m].*size;
    if (fact.has_value() && (!best || *fact < *(c.facts.nfs.mounts[*best].*size))) best = m;
  }
  return best;
}

Value client_size(const Context& c, const Item& item, MountSize size, std::string_view name) {
  const auto m = smallest_mount(c, item, size);
  if (m) return *(c.facts.nfs.mounts[*m].*size);
  const auto& mounts = c.mounts_of_client(item.index);
  return missing(c, "nfs.mounts", mounts.empty() ? 0 : mounts.front(), name);
}

Value rsize_bytes(const Context& c, const Item& item) {
  return client_size(c, item, &facts::NfsMount::rsize_bytes, "rsize_bytes");
}
Value wsize_bytes(const Context& c, const Item& item) {
  return client_size(c, item, &facts::NfsMount::wsize_bytes, "wsize_bytes");
}

// Whether the size in use is the server's maximum: told by the server, or inferred where the readable spec asks for
// no size or a larger one and the kernel settled for less.
struct SizeLimit {
  Value is_limit;  // boolean
  std::uint32_t bytes = 0;
  std::string how, how_ja;
};

SizeLimit size_limit(const Context& c, const Item& item, MountSize size, AskedSize asked_size, bool read) {
  const std::string_view name = read ? "rsize_bytes" : "wsize_bytes";
  const auto m = smallest_mount(c, item, size);
  if (!m) return {client_size(c, item, size, name), 0, "", ""};
  const facts::NfsMount& mount = c.facts.nfs.mounts[*m];
  const std::uint32_t in_use = *(mount.*size);
  const auto s = c.server_of_client(item.index);
  std::string_view fact;
  if (s) {
    const facts::NfsServer& server = c.facts.nfs.servers[*s];
    const bool v3 = client_of(c, item).vers.is("3");
    const auto& told =
        v3 ? (read ? server.rtmax_bytes : server.wtmax_bytes) : (read ? server.maxread_bytes : server.maxwrite_bytes);
    fact = v3 ? (read ? "rtmax_bytes" : "wtmax_bytes") : (read ? "maxread_bytes" : "maxwrite_bytes");
    if (told.has_value())
      return {*told <= in_use, in_use, fmt::format("as the server says ({})", v3 ? "FSINFO" : "GETATTR"),
              fmt::format("サーバーの回答({})による", v3 ? "FSINFO" : "GETATTR")};
  }
  const auto not_told = [&] {
    return s ? missing(c, "nfs.servers", *s, fact)
             : unknown(needs("the server's maximum", "no server of that address"));
  };
  if (mount.asked.is_unknown()) return {not_told(), in_use, "", ""};
  const bool names = mount.asked.has_value() && ((*mount.asked).*asked_size).has_value();
  if (!names) return {true, in_use, "inferred: no size is asked for", "推定: サイズの指定なし"};
  const std::uint32_t asked = *((*mount.asked).*asked_size);
  if (asked > in_use)
    return {true, in_use, fmt::format("inferred: {} is asked for", asked), fmt::format("推定: 要求は {}", asked)};
  return {not_told(), in_use, "", ""};
}

SizeLimit size_limit(const Context& c, const Item& item) {
  SizeLimit read = size_limit(c, item, &facts::NfsMount::rsize_bytes, &facts::AskedOptions::rsize_bytes, true);
  SizeLimit write = size_limit(c, item, &facts::NfsMount::wsize_bytes, &facts::AskedOptions::wsize_bytes, false);
  const bool reads = read.is_limit == Value(true), writes = write.is_limit == Value(true);
  if (reads && writes) return read.bytes <= write.bytes ? read : write;
  if (reads || writes) return reads ? read : write;
  return read.is_limit.is_unknown() ? read : write;
}

Value size_is_server_limit(const Context& c, const Item& item) { return size_limit(c, item).is_limit; }

Value size_max_bytes(const Context& c, const Item& item) {
  const SizeLimit limit = size_limit(c, item);
  if (limit.is_limit == Value(true)) return limit.bytes;
  return limit.is_limit.is_unknown() ? limit.is_limit : Value(Absent{});
}

Value size_limit_text(const Context& c, const Item& item, bool ja) {
  SizeLimit limit = size_limit(c, item);
  if (limit.is_limit == Value(true)) return ja ? limit.how_ja : limit.how;
  return limit.is_limit.is_unknown() ? limit.is_limit : Value(Absent{});
}
Value size_limit_how(const Context& c, const Item& item) { return size_limit_text(c, item, false); }
Value size_limit_how_ja(const Context& c, const Item& item) { return size_limit_text(c, item, true); }

// Payload of a mean READ or WRITE over the transfer size, the larger of the two. RPC headers make it a little large:
// never above 1.
Value bytes_per_op_ratio(const Context& c, const Item& item) {
  const ClientNumbers& numbers = c.numbers(item.index);
  std::optional<double> best;
  for (const bool read : {true, false}) {
    const ClientOp* op = find_op(numbers, read ? "READ" : "WRITE");
    const Value size = read ? rsize_bytes(c, item) : wsize_bytes(c, item);
    if (op == nullptr || !size.is_number() || *size.as_double() <= 0) continue;
    const bool window = numbers.has_window && op->window.ops >= min_average_ops;
    const std::uint64_t ops = window ? op->window.ops : op->total.ops;
    if (ops < min_average_ops) continue;
    const std::uint64_t bytes = read ? (window ? op->window.bytes_recv : op->total.bytes_recv)
                                     : (window ? op->window.bytes_sent : op->total.bytes_sent);
    const double ratio = static_cast<double>(bytes) / static_cast<double>(ops) / *size.as_double();
    best = std::max(best.value_or(0), std::min(ratio, 1.0));
  }
  if (!best) return too_few(c, item);
  return *best;
}

// --- operations of a client ----------------------------------------------------------------------------------------

// Stands for the operations of a client whose counters could not be read.
constexpr std::uint32_t no_op = static_cast<std::uint32_t>(-1);

const ClientOp& op_of(const Context& c, const Item& item) {
  static const ClientOp none_counted;
  return item.sub == no_op ? none_counted : c.numbers(item.index).ops[item.sub];
}

// Those that were ever used, by the time they took.
std::vector<Item> client_ops(const Context& c, const Item& item) {
  const Scope* scope = find_scope("nfs.clients.ops");
  std::vector<Item> items;
  const auto& ops = c.numbers(item.index).ops;
  for (std::uint32_t i = 0; i < ops.size(); ++i) {
    if (ops[i].total.ops > 0) items.push_back({scope, item.index, i});
  }
  const auto time = [&](const Item& op) {
    const std::uint64_t execute_ms = ops[op.sub].total.execute_ms;
    return execute_ms > wrapped_above ? 0 : execute_ms;
  };
  std::stable_sort(items.begin(), items.end(), [&](const Item& a, const Item& b) { return time(a) > time(b); });
  return items;
}

std::vector<Item> all_ops(const Context& c) {
  std::vector<Item> items;
  for (const Item& client : items_of("nfs.clients", c.facts.nfs.clients.size())) {
    const auto ops = client_ops(c, client);
    items.insert(items.end(), ops.begin(), ops.end());
    if (!c.numbers(client.index).counted && !c.mounts_of_client(client.index).empty())
      items.push_back({find_scope("nfs.clients.ops"), client.index, no_op});
  }
  return items;
}

Joined op_client(const Context&, const Item& item) { return {make_item("nfs.clients", item.index), false, ""}; }
std::vector<Item> op_mounts(const Context& c, const Item& item) {
  return client_mounts(c, make_item("nfs.clients", item.index));
}

template <std::uint64_t ClientOp::Window::*member>
Value window_counter(const Context& c, const Item& item) {
  const ClientNumbers& numbers = c.numbers(item.index);
  if (!numbers.has_window) return unknown(numbers.no_window);
  return op_of(c, item).window.*member;
}

Value window_retrans(const Context& c, const Item& item) {
  const ClientNumbers& numbers = c.numbers(item.index);
  if (!numbers.has_window) return unknown(numbers.no_window);
  return op_of(c, item).window.retrans();
}

Value window_retrans_ratio(const Context& c, const Item& item) {
  const ClientNumbers& numbers = c.numbers(item.index);
  if (!numbers.has_window) return unknown(numbers.no_window);
  const auto& window = op_of(c, item).window;
  if (window.ops == 0) return unknown("no such operation in the window");
  return static_cast<double>(window.retrans()) / static_cast<double>(window.ops);
}

Value window_seconds(const Context& c, const Item& item) {
  const ClientNumbers& numbers = c.numbers(item.index);
  if (!numbers.has_window || !numbers.window_s) return unknown(numbers.no_rate);
  return *numbers.window_s;
}

// Only what was declared tells: no watch is part of this document.
Value window_planned_failover(const Context& c, const Item& item) { return c.hangs()[item.index].planned; }

Value op_retrans(const Context& c, const Item& item) {
  const facts::NfsOp& op = op_of(c, item).total;
  return op.trans > op.ops ? op.trans - op.ops : std::uint64_t{0};
}

template <std::uint64_t ClientOp::Window::*member>
Value window_mean(const Context& c, const Item& item) {
  const ClientNumbers& numbers = c.numbers(item.index);
  if (!numbers.has_window) return unknown(numbers.no_window);
  const auto& window = op_of(c, item).window;
  if (window.ops == 0) return unknown("no such operation in the window");
  if (window.*member > wrapped_above) return unknown("invalid: the counter wrapped");
  return static_cast<double>(window.*member) / static_cast<double>(window.ops);
}

template <std::uint64_t facts::NfsOp::*total, std::uint64_t ClientOp::Window::*member>
Value average(const Context& c, const Item& item) {
  const ClientNumbers& numbers = c.numbers(item.index);
  const ClientOp& op = op_of(c, item);
  if (numbers.has_window && op.window.ops > 0) return window_mean<member>(c, item);
  if (op.total.ops == 0) return unknown("no such operation yet");
  if (op.total.*total > wrapped_above) return unknown("invalid: the counter wrapped");
  return static_cast<double>(op.total.*total) / static_cast<double>(op.total.ops);
}

Value average_how(const Context& c, const Item& item) {
  const ClientNumbers& numbers = c.numbers(item.index);
  return numbers.has_window && op_of(c, item).window.ops > 0 ? "between two samples" : "since the mount";
}

// --- connections of a client ---------------------------------------------------------------------------------------

std::vector<Item> client_transports(const Context& c, const Item& item) {
  const Scope* scope = find_scope("nfs.clients.transports");
  std::vector<Item> items;
  for (std::uint32_t i = 0; i < client_of(c, item).transports.size(); ++i) items.push_back({scope, item.index, i});
  return items;
}

std::vector<Item> all_transports(const Context& c) {
  std::vector<Item> items;
  for (const Item& client : items_of("nfs.clients", c.facts.nfs.clients.size())) {
    const auto transports = client_transports(c, client);
    items.insert(items.end(), transports.begin(), transports.end());
  }
  return items;
}

// --- servers -------------------------------------------------------------------------------------------------------

std::vector<Item> server_clients(const Context& c, const Item& item) {
  const Scope* scope = find_scope("nfs.clients");
  std::vector<Item> items;
  for (const std::uint32_t client : c.clients_of_server(item.index)) items.push_back({scope, client, 0});
  return items;
}

std::vector<Item> server_mounts(const Context& c, const Item& item) {
  std::vector<Item> items;
  for (const Item& client : server_clients(c, item)) {
    const auto mounts = client_mounts(c, client);
    items.insert(items.end(), mounts.begin(), mounts.end());
  }
  return items;
}

std::string server_id(const facts::NfsServer& server) {
  const std::string& host = server.addr.has_value() ? *server.addr : server.name;
  return host.find(':') != std::string::npos ? fmt::format("[{}]:{}", host, server.port)
                                             : fmt::format("{}:{}", host, server.port);
}

Subject client_subject(const Context& c, const Item& item) { return {"nfs.client", client_of(c, item).id}; }

std::vector<Scope> make_scopes() {
  std::vector<Scope> all;

  Scope node;
  node.name = "node";
  node.type = &facts::type_of<facts::Node>;
  node.items = [](const Context&) { return std::vector<Item>{make_item("node", 0)}; };
  node.ref = [](const Context& c, const Item&) { return facts::ref_to(c.facts.node); };
  node.path = [](const Context&, const Item&) { return std::string("node"); };
  node.subject = [](const Context& c, const Item&) { return Subject{"node", c.facts.node.name}; };
  node.own_name = no_name;
  node.derived = {{"derived.kernel_has_nconnect", boolean_type,
                   "this kernel knows nconnect: Linux 5.3, a distribution's backport, or it is seen in use",
                   "kernel.release", kernel_knows_nconnect}};
  all.push_back(node);

  Scope mounts;
  mounts.name = "nfs.mounts";
  mounts.type = &facts::type_of<facts::NfsMount>;
  mounts.items = [](const Context& c) { return items_of("nfs.mounts", c.facts.nfs.mounts.size()); };
  mounts.ref = [](const Context& c, const Item& item) { return facts::ref_to(mount_of(c, item)); };
  mounts.path = [](const Context&, const Item& item) { return fmt::format("nfs.mounts[{}]", item.index); };
  mounts.subject = [](const Context& c, const Item& item) { return Subject{"nfs.mount", mount_of(c, item).target}; };
  mounts.own_name = no_name;
  mounts.derived = {
      {"timeo_s", number_type, "first retransmission timeout in seconds: timeo_ds / 10", "nfs.mounts[].timeo_ds",
       timeo_s},
      {"give_up_s", number_type,
       "earliest time after which a soft mount gives a request up: timeo_ds / 10 x (retrans + 1), a lower bound in s",
       "nfs.mounts[].timeo_ds", give_up_s},
      {"shared", boolean_type, "other nodes may mount the same data: from declared access modes",
       "declared.pvs[].access_modes", shared},
      {"shared_how", text_type, "what says whether the data is shared", "declared.pvs[].access_modes", shared_how},
      {"derived.kernel_has_nconnect", boolean_type,
       "this kernel knows nconnect: Linux 5.3, a distribution's backport, or it is seen in use", "kernel.release",
       kernel_knows_nconnect}};
  mounts.references = {{"client", "set of transports that the mount uses", "nfs.clients", mount_client},
                       {"server", "server of the mount", "nfs.servers", mount_server},
                       {"nic", "way to the server", "network.paths", mount_nic}};
  mounts.collections = {{"mounts", "the mount itself", "nfs.mounts", mount_itself}};
  all.push_back(mounts);

  Scope clients;
  clients.name = "nfs.clients";
  clients.type = &facts::type_of<facts::NfsClient>;
  clients.items = [](const Context& c) { return items_of("nfs.clients", c.facts.nfs.clients.size()); };
  clients.ref = [](const Context& c, const Item& item) { return facts::ref_to(client_of(c, item)); };
  clients.path = [](const Context&, const Item& item) { return fmt::format("nfs.clients[{}]", item.index); };
  clients.subject = client_subject;
  clients.own_name = no_name;
  constexpr std::string_view by_transports = "nfs.clients[].transports";
  constexpr std::string_view by_ops = "nfs.mounts[].ops";
  clients.derived = {
      {"in_flight.mean", number_type,
       "mean requests in flight: between two samples at least 10 s and 1000 operations apart the sum of execute times "
       "over the time; else, from one read, 1 + pending over sends of all TCP connections (1000 sends needed)",
       by_transports, in_flight_mean},
      {"in_flight.peak", integer_type,
       "most requests in flight, an upper bound: sum of the connections' high-water marks", by_transports,
       in_flight_peak},
      {"in_flight.idle", boolean_type, "fewer than 1000 requests were ever sent", by_transports, in_flight_idle},
      {"in_flight.how", text_type, "what in_flight.mean was computed from", by_transports, in_flight_how,
       in_flight_how_ja},
      {"ops_per_s", number_type, "operations per second between two samples", by_ops, ops_per_s},
      {"rtt_ms", number_type, "mean round trip, session upkeep left out: between two samples, else since the mount",
       by_ops, rtt_ms},
      {"bytes_per_op_ratio", number_type,
       "bytes of a mean READ or WRITE over the transfer size, the larger of the two, at most 1", by_ops,
       bytes_per_op_ratio},
      {"expected.nconnect_gain", number_type,
       "expected ratio of IOPS, 8 connections to one, at in_flight.mean and this mix of reads and writes (measured: 4 "
       "KiB, "
       "random)",
       by_transports, expected_gain},
      {"expected.nconnect_gain_peak", number_type, "the same at in_flight.peak", by_transports, expected_gain_peak},
      {"transport_sends", integer_type, "requests sent over all connections", by_transports, transport_sends},
      {"transport_balance", number_type, "requests of the busiest connection over the mean of all", by_transports,
       transport_balance},
      {"trunked", boolean_type, "connections to further addresses of the server exist (max_connect)",
       "nfs.clients[].max_connect", trunked},
      {"mount_count", integer_type, "mounts that share the connections", "nfs.clients[].mounts", mount_count},
      {"asked.nconnect_max", integer_type, "largest nconnect= that a mount of the client asks for",
       "nfs.mounts[].asked", asked_nconnect_max},
      {"asked.nconnect_min", integer_type, "smallest nconnect= that a mount of the client asks for",
       "nfs.mounts[].asked", asked_nconnect_min},
      {"rsize_bytes", integer_type, "smallest READ size of the client's mounts", "nfs.mounts[].rsize_bytes",
       rsize_bytes},
      {"wsize_bytes", integer_type, "smallest WRITE size of the client's mounts", "nfs.mounts[].wsize_bytes",
       wsize_bytes},
      {"size_is_server_limit", boolean_type,
       "the READ or WRITE size in use is the server's maximum: told by it, or inferred", "nfs.mounts[].rsize_bytes",
       size_is_server_limit},
      {"size_max_bytes", integer_type, "that maximum", "nfs.mounts[].rsize_bytes", size_max_bytes},
      {"size_limit_how", text_type, "how the maximum is known", "nfs.mounts[].rsize_bytes", size_limit_how,
       size_limit_how_ja},
      {"derived.kernel_has_nconnect", boolean_type,
       "this kernel knows nconnect: Linux 5.3, a distribution's backport, or it is seen in use", "kernel.release",
       kernel_knows_nconnect}};
  clients.references = {
      {"server", "server of the client", "nfs.servers", client_server},
      {"nic", "way to the server", "network.paths", client_nic},
      {"oldest_mount", "oldest mount of the client: it decided over nconnect", "nfs.mounts", oldest_mount}};
  clients.collections = {{"mounts", "mounts of the client", "nfs.mounts", client_mounts},
                         {"ops", "operations, summed over distinct file systems", "nfs.clients.ops", client_ops},
                         {"transports", "connections", "nfs.clients.transports", client_transports}};
  all.push_back(clients);

  Scope ops;
  ops.name = "nfs.clients.ops";
  ops.parent = "client";
  ops.type = &facts::type_of<facts::NfsOp>;
  ops.items = all_ops;
  ops.ref = [](const Context& c, const Item& item) {
    return item.sub == no_op ? facts::Ref{} : facts::ref_to(op_of(c, item).total);
  };
  ops.path = [](const Context&, const Item& item) {
    return item.sub == no_op ? fmt::format("nfs.clients[{}].ops", item.index)
                             : fmt::format("nfs.clients[{}].ops[{}]", item.index, item.sub);
  };
  ops.subject = client_subject;
  ops.own_name = [](const Context& c, const Item& item) { return op_of(c, item).total.op; };
  using W = ClientOp::Window;
  using N = facts::NfsOp;
  ops.derived = {
      {"retrans", integer_type, "transmissions beyond the first; never negative", by_ops, op_retrans},
      {"average.queue_ms", number_type, "mean wait before the send: between two samples, else since the mount", by_ops,
       average<&N::queue_ms, &W::queue_ms>},
      {"average.rtt_ms", number_type, "mean round trip: between two samples, else since the mount", by_ops,
       average<&N::rtt_ms, &W::rtt_ms>},
      {"average.execute_ms", number_type, "mean time to completion: between two samples, else since the mount", by_ops,
       average<&N::execute_ms, &W::execute_ms>},
      {"average.how", text_type, "what the averages were computed from", by_ops, average_how},
      {"window.seconds", number_type, "time between the samples", by_ops, window_seconds},
      {"window.ops", integer_type, "operations between two samples", by_ops, window_counter<&W::ops>},
      {"window.timeouts", integer_type, "major timeouts between two samples", by_ops, window_counter<&W::timeouts>},
      {"window.retrans", integer_type, "retransmissions between two samples", by_ops, window_retrans},
      {"window.retrans_ratio", number_type, "retransmissions over operations between two samples", by_ops,
       window_retrans_ratio},
      {"window.queue_ms", number_type, "mean wait before the send between two samples", by_ops,
       window_mean<&W::queue_ms>},
      {"window.rtt_ms", number_type, "mean round trip between two samples", by_ops, window_mean<&W::rtt_ms>},
      {"window.execute_ms", number_type, "mean time to completion between two samples", by_ops,
       window_mean<&W::execute_ms>},
      {"window.planned_failover", boolean_type, "a planned failover lies between the samples", by_ops,
       window_planned_failover}};
  ops.references = {{"client", "client of the operation", "nfs.clients", op_client}};
  ops.collections = {{"mounts", "mounts of the client", "nfs.mounts", op_mounts}};
  all.push_back(ops);

  Scope transports;
  transports.name = "nfs.clients.transports";
  transports.parent = "client";
  transports.type = &facts::type_of<facts::NfsTransport>;
  transports.items = all_transports;
  transports.ref = [](const Context& c, const Item& item) {
    return facts::ref_to(client_of(c, item).transports[item.sub]);
  };
  transports.path = [](const Context&, const Item& item) {
    return fmt::format("nfs.clients[{}].transports[{}]", item.index, item.sub);
  };
  transports.subject = client_subject;
  transports.own_name = [](const Context&, const Item& item) { return std::to_string(item.sub); };
  transports.references = {{"client", "client of the connection", "nfs.clients", op_client}};
  transports.collections = {{"mounts", "mounts of the client", "nfs.mounts", op_mounts}};
  all.push_back(transports);

  Scope servers;
  servers.name = "nfs.servers";
  servers.type = &facts::type_of<facts::NfsServer>;
  servers.items = [](const Context& c) { return items_of("nfs.servers", c.facts.nfs.servers.size()); };
  servers.ref = [](const Context& c, const Item& item) { return facts::ref_to(server_of(c, item)); };
  servers.path = [](const Context&, const Item& item) { return fmt::format("nfs.servers[{}]", item.index); };
  servers.subject = [](const Context& c, const Item& item) {
    return Subject{"nfs.server", server_id(server_of(c, item))};
  };
  servers.own_name = no_name;
  servers.references = {{"nic", "way to the server", "network.paths", server_nic}};
  servers.collections = {{"clients", "clients of this node to the server", "nfs.clients", server_clients},
                         {"mounts", "mounts from the server", "nfs.mounts", server_mounts}};
  all.push_back(servers);

  Scope paths;
  paths.name = "network.paths";
  paths.type = &facts::type_of<facts::NetPath>;
  paths.items = [](const Context& c) {
    return items_of("network.paths", c.facts.network.paths.has_value() ? c.facts.network.paths->size() : 0);
  };
  paths.ref = [](const Context& c, const Item& item) { return facts::ref_to((*c.facts.network.paths)[item.index]); };
  paths.path = [](const Context&, const Item& item) { return fmt::format("network.paths[{}]", item.index); };
  paths.subject = [](const Context& c, const Item&) { return Subject{"node", c.facts.node.name}; };
  paths.own_name = [](const Context& c, const Item& item) { return (*c.facts.network.paths)[item.index].addr; };
  all.push_back(paths);

  add_stat_facts(all);
  add_network_facts(all);
  add_option_scopes(all);
  add_hang_scopes(all);
  add_log_scopes(all);
  add_latency_scopes(all);
  add_storage_scopes(all);
  add_target_answer_scopes(all);
  add_multipath_facts(all);
  add_block_facts(all);
  add_iscsi_facts(all);
  return all;
}

}  // namespace

const std::vector<Scope>& scopes() {
  static const std::vector<Scope> all = make_scopes();
  return all;
}

const Scope* find_scope(std::string_view name) {
  for (const Scope& scope : scopes()) {
    if (scope.name == name) return &scope;
  }
  return nullptr;
}

const DerivedFact* Scope::find_derived(std::string_view wanted) const {
  for (const auto& fact : derived) {
    if (fact.name == wanted) return &fact;
  }
  return nullptr;
}

const Reference* Scope::find_reference(std::string_view wanted) const {
  for (const auto& reference : references) {
    if (reference.name == wanted) return &reference;
  }
  return nullptr;
}

const Collection* Scope::find_collection(std::string_view wanted) const {
  for (const auto& collection : collections) {
    if (collection.name == wanted) return &collection;
  }
  return nullptr;
}

bool is_upkeep_op(std::string_view op) {
  static constexpr std::array<std::string_view, 30> upkeep{"NULL",
                                                           "EXCHANGE_ID",
                                                           "CREATE_SESSION",
                                                           "DESTROY_SESSION",
                                                           "DESTROY_CLIENTID",
                                                           "SETCLIENTID",
                                                           "SETCLIENTID_CONFIRM",
                                                           "RENEW",
                                                           "SEQUENCE",
                                                           "GET_LEASE_TIME",
                                                           "RECLAIM_COMPLETE",
                                                           "BIND_CONN_TO_SESSION",
                                                           "FSINFO",
                                                           "PATHCONF",
                                                           "SERVER_CAPS",
                                                           "LOOKUP_ROOT",
                                                           "SECINFO",
                                                           "SECINFO_NO_NAME",
                                                           "FS_LOCATIONS",
                                                           "FSID_PRESENT",
                                                           "TEST_STATEID",
                                                           "FREE_STATEID",
                                                           "GETDEVICEINFO",
                                                           "GETDEVICELIST",
                                                           "LAYOUTGET",
                                                           "LAYOUTCOMMIT",
                                                           "LAYOUTRETURN",
                                                           "RELEASE_LOCKOWNER",
                                                           "LAYOUTSTATS",
                                                           "LAYOUTERROR"};
  // Asked for each operation of each client, time and again: most names differ in their length or first letter.
  return !op.empty() && std::any_of(upkeep.begin(), upkeep.end(), [op](std::string_view name) {
    return name.size() == op.size() && name.front() == op.front() && name == op;
  });
}

double nconnect_gain(double in_flight, double share_of_writes) {
  // 8 connections against 1, 4 KiB, random, at depth 1, 2, 4 ... 128.
  static constexpr std::array<double, 8> reads{1.00, 0.98, 1.01, 1.03, 1.06, 1.61, 2.14, 2.48};
  static constexpr std::array<double, 8> writes{0.99, 1.09, 1.12, 1.10, 1.14, 1.14, 1.13, 1.15};
  const double place = std::log2(std::clamp(in_flight, 1.0, largest_measured_depth));
  const auto low = std::min(static_cast<std::size_t>(place), reads.size() - 2);
  const double part = place - static_cast<double>(low);
  const auto between = [&](const std::array<double, 8>& row) { return row[low] + (row[low + 1] - row[low]) * part; };
  return std::max(1.0, between(reads) * (1 - share_of_writes) + between(writes) * share_of_writes);
}

facts::Fact<bool> kernel_has_nconnect(const facts::Kernel& kernel) {
  if (!kernel.release.has_value()) return {};
  const std::string& release = *kernel.release;
  const auto parts = base::split(std::string_view(release).substr(0, release.find('-')), '.');
  const auto major = parts.empty() ? std::nullopt : base::number<unsigned>(parts[0]);
  const auto minor = parts.size() < 2 ? std::nullopt : base::number<unsigned>(parts[1]);
  if (!major || !minor) return {};
  if (*major > 5 || (*major == 5 && *minor >= 3)) return true;
  // RHEL 8 and its rebuilds: 4.18.0-240 is the kernel of 8.3.
  if (release.starts_with("4.18.0-") && release.find(".el8") != std::string::npos) {
    const std::string_view build = std::string_view(release).substr(7);
    const auto number = base::number<unsigned>(build.substr(0, build.find('.')));
    return number && *number >= 240;
  }
  // SLES: 12 SP4 and SP5, 15 SP1 on.
  if (kernel.distribution.has_value() &&
      (*kernel.distribution == "sles" || *kernel.distribution == "sled" || *kernel.distribution == "sles_sap")) {
    if (!kernel.distribution_version.has_value()) return {};
    const auto version = base::split(*kernel.distribution_version, '.');
    const auto main = base::number<unsigned>(version[0]);
    const auto pack = version.size() > 1 ? base::number<unsigned>(version[1]) : std::optional<unsigned>(0);
    if (!main || !pack) return {};
    return *main > 15 || (*main == 15 && *pack >= 1) || (*main == 12 && *pack >= 4);
  }
  return false;
}

}  // namespace audit
