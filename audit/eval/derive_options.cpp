#include "audit/eval/derive_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "audit/base/text.h"
#include "audit/eval/derive_help.h"
#include "audit/eval/migration.h"
#include "audit/eval/option_text.h"

namespace audit {

namespace {

using namespace derive_help;
using facts::Absent;
using facts::Unknown;
using facts::Value;

constexpr std::uint64_t page_bytes = 4096;
constexpr std::uint64_t largest_transfer_bytes = 1048576;  // NFS_MAX_FILE_IO_SIZE of the Linux client
constexpr std::uint32_t small_read_ahead_kib = 128;        // the kernel's default since Linux 5.4
constexpr std::uint32_t client_back_off_s = 15;  // longest wait of the Linux client between tries (nfs4proc.c)
constexpr std::uint32_t lockd_grace_s = 50;      // fs/lockd/svc.c: 10 s more than four times the timeout of 10 s
constexpr std::uint32_t ontap_grace_s = 45;      // locking.grace_lease_seconds and v4-grace-seconds

std::string mount_path(std::uint32_t index, std::string_view name) {
  return fmt::format("nfs.mounts[{}].{}", index, name);
}

Value server_missing(const Context& c, std::optional<std::uint32_t> server, std::string_view name) {
  if (!server) return unknown("no server of that address");
  return missing(c, "nfs.servers", *server, name);
}

std::optional<std::uint32_t> server_of_mount(const Context& c, const Item& item) {
  const auto client = c.client_of_mount(item.index);
  return client ? c.server_of_client(*client) : std::nullopt;
}

// --- mounts: where they lead ---------------------------------------------------------------------------------------

struct Loopback {
  Value is;
  std::string how;
};

Loopback loopback_of(const Context& c, const Item& item) {
  const facts::NfsMount& m = mount_of(c, item);
  if (m.addr.has_value() && is_loopback_host(*m.addr)) return {true, *m.addr + " is a loopback address"};
  if (m.server_name.has_value() && is_loopback_host(*m.server_name)) return {true, *m.server_name + " is this node"};
  if (!m.addr.has_value()) return {missing(c, "nfs.mounts", item.index, "addr"), ""};
  if (m.client_addr.has_value() && is_same_address(*m.client_addr, *m.addr))
    return {true, fmt::format("clientaddr={} is the address of the server", *m.client_addr)};
  if (const auto path = c.path_to(*m.addr)) {
    const auto& local = (*c.facts.network.paths)[*path].local;
    if (local.is(true)) return {true, *m.addr + " is an address of this node"};
    if (local.has_value()) return {false, ""};
  }
  const auto& own = c.facts.network.local_addresses;
  if (own.has_value()) {
    const bool is_own =
        std::any_of(own->begin(), own->end(), [&](const std::string& a) { return is_same_address(a, *m.addr); });
    return {is_own, *m.addr + " is an address of this node"};
  }
  return {missing(c, "network.local_addresses"), ""};
}

Value loopback(const Context& c, const Item& item) { return loopback_of(c, item).is; }
Value loopback_how(const Context& c, const Item& item) {
  Loopback loopback = loopback_of(c, item);
  if (loopback.is == Value(true)) return loopback.how;
  return loopback.is.is_unknown() ? loopback.is : Value(Absent{});
}

const facts::NetName* looked_up(const Context& c, const std::string& name) {
  const auto& names = c.facts.network.names;
  if (!names.has_value()) return nullptr;
  const auto found = std::find_if(names->begin(), names->end(), [&](const auto& one) { return one.name == name; });
  return found == names->end() ? nullptr : &*found;
}

// True, false, or nullopt where the name was not looked up or has no address any more.
std::optional<bool> names_address(const Context& c, const std::string& name, const std::string& addr) {
  if (is_literal_address(name)) return is_same_address(name, addr);
  const auto* known = looked_up(c, name);
  if (known == nullptr || !known->addrs.has_value()) return std::nullopt;
  return std::any_of(known->addrs->begin(), known->addrs->end(),
                     [&](const std::string& one) { return is_same_address(one, addr); });
}

// A name is looked up anew here, and may give another address today than at the time of the mount (a name server that
// hands addresses out in turn). So an address of another name counts only where a mount of that name shares the client:
// then it is plain whose address is in use.
Value addr_is_named(const Context& c, const Item& item) {
  const facts::NfsMount& m = mount_of(c, item);
  if (!m.server_name.has_value()) return missing(c, "nfs.mounts", item.index, "server_name");
  if (!m.addr.has_value()) return missing(c, "nfs.mounts", item.index, "addr");
  const auto named = names_address(c, *m.server_name, *m.addr);
  if (!named) return unknown(fmt::format("the addresses of the name {} were not looked up", *m.server_name));
  if (*named || is_literal_address(*m.server_name)) return *named;
  if (const auto client = c.client_of_mount(item.index)) {
    for (const std::uint32_t other : c.mounts_of_client(*client)) {
      const auto& name = c.facts.nfs.mounts[other].server_name;
      if (name.has_value() && *name != *m.server_name && names_address(c, *name, *m.addr) == std::optional(true))
        return false;
    }
  }
  return unknown(fmt::format("{} is not among the addresses of {} now, and may have been when it was mounted", *m.addr,
                             *m.server_name));
}

Value export_mount_count(const Context& c, const Item& item) { return c.mounts_of_export(item.index); }

// --- mounts: transfer sizes ---------------------------------------------------------------------------------------

Value size_unaligned(const Context& c, const Item& item) {
  const facts::NfsMount& m = mount_of(c, item);
  if (!m.rsize_bytes.has_value()) return missing(c, "nfs.mounts", item.index, "rsize_bytes");
  if (!m.wsize_bytes.has_value()) return missing(c, "nfs.mounts", item.index, "wsize_bytes");
  return *m.rsize_bytes % page_bytes != 0 || *m.wsize_bytes % page_bytes != 0;
}

// The mount asks for less than the server allows and the client can do.
Value size_asked_below_server(const Context& c, const Item& item) {
  const facts::NfsMount& m = mount_of(c, item);
  if (m.asked.is_unknown()) return missing(c, "nfs.mounts", item.index, "asked");
  if (m.asked.is_absent() || !m.asked->rsize_bytes.has_value()) return false;
  if (*m.asked->rsize_bytes >= largest_transfer_bytes) return false;
  const auto s = server_of_mount(c, item);
  if (!s) return unknown("no server of that address");
  const facts::NfsServer& server = c.facts.nfs.servers[*s];
  const bool v3 = m.vers.is("3");
  const auto& most = v3 ? server.rtmax_bytes : server.maxread_bytes;
  if (!most.has_value()) return server_missing(c, s, v3 ? "rtmax_bytes" : "maxread_bytes");
  return *m.asked->rsize_bytes < std::min(*most, largest_transfer_bytes);
}

// --- mounts: reading -----------------------------------------------------------------------------------------------

const facts::NfsMount& counted_mount(const Context& c, const Item& item) {
  return c.facts.nfs.mounts[c.counted_mount(item.index)];
}

const facts::NfsOp* find_op(const facts::NfsMount& m, std::string_view name) {
  const auto found = std::find_if(m.ops.begin(), m.ops.end(), [&](const auto& op) { return op.op == name; });
  return found == m.ops.end() ? nullptr : &*found;
}

Value few_operations(const Context& c, const Item& item, const facts::NfsMount& m) {
  if (m.ops.empty()) return missing(c, "nfs.mounts", item.index, "ops");
  return unknown(fmt::format("fewer than {} operations were counted", min_average_ops));
}

Value op_share(const Context& c, const Item& item, std::string_view name) {
  const facts::NfsMount& m = counted_mount(c, item);
  std::uint64_t all = 0;
  for (const auto& op : m.ops) all += op.ops;
  if (all < min_average_ops) return few_operations(c, item, m);
  const facts::NfsOp* op = find_op(m, name);
  return op == nullptr ? 0.0 : static_cast<double>(op->ops) / static_cast<double>(all);
}

Value read_share(const Context& c, const Item& item) { return op_share(c, item, "READ"); }
Value lookup_share(const Context& c, const Item& item) { return op_share(c, item, "LOOKUP"); }

Value read_fill_ratio(const Context& c, const Item& item) {
  const facts::NfsMount& m = counted_mount(c, item);
  const facts::NfsOp* read = find_op(m, "READ");
  if (read == nullptr || read->ops < min_average_ops) return few_operations(c, item, m);
  if (!m.rsize_bytes.has_value() || *m.rsize_bytes == 0) return missing(c, "nfs.mounts", item.index, "rsize_bytes");
  return std::min(1.0, static_cast<double>(read->bytes_recv) / static_cast<double>(read->ops) / *m.rsize_bytes);
}

Value direct_read_share(const Context& c, const Item& item) {
  const facts::NfsMount& m = counted_mount(c, item);
  if (!m.bytes.has_value()) return missing(c, "nfs.mounts", item.index, "bytes");
  const double direct = static_cast<double>(m.bytes->direct_read);
  const double all = direct + static_cast<double>(m.bytes->normal_read);
  return all > 0 ? direct / all : 0.0;
}

Value read_ahead_small(const Context& c, const Item& item) {
  const facts::NfsMount& m = mount_of(c, item);
  if (!m.read_ahead_kib.has_value()) {
    return m.read_ahead_kib.is_absent() ? Value(Absent{}) : missing(c, "nfs.mounts", item.index, "read_ahead_kib");
  }
  if (*m.read_ahead_kib <= small_read_ahead_kib) return true;
  if (!m.rsize_bytes.has_value()) return missing(c, "nfs.mounts", item.index, "rsize_bytes");
  return *m.read_ahead_kib < std::uint64_t{4} * *m.rsize_bytes / 1024;
}

Value read_ahead_advised_kib(const Context& c, const Item& item) {
  const facts::NfsMount& m = mount_of(c, item);
  if (!m.rsize_bytes.has_value()) return missing(c, "nfs.mounts", item.index, "rsize_bytes");
  return std::uint64_t{15} * *m.rsize_bytes / 1024;
}

// --- mounts: pauses ------------------------------------------------------------------------------------------------

struct Grace {
  std::optional<std::uint64_t> seconds;  // wider than what a server may claim, so that sums do not wrap
  std::string how;
  std::string why;  // where it is not known
};

bool is_ontap(const facts::NfsServer& server) {
  return server.kind.is("ontap") || server.kind.is("fsx") || server.kind.is("anf") || server.kind.is("gcnv");
}

Grace grace_of(const Context& c, const Item& item) {
  const facts::NfsMount& m = mount_of(c, item);
  const auto s = server_of_mount(c, item);
  const facts::NfsServer* server = s ? &c.facts.nfs.servers[*s] : nullptr;
  if (server != nullptr && server->grace_s.has_value()) return {*server->grace_s, "as the server shows", ""};
  if (server != nullptr && is_ontap(*server)) return {ontap_grace_s, "default of ONTAP", ""};
  if (m.vers.is("3")) {
    if (server != nullptr && server->kind.is("linux")) return {lockd_grace_s, "default of lockd on Linux", ""};
    if (server == nullptr) return {std::nullopt, "", "no server of that address"};
    const std::string path = fmt::format("nfs.servers[{}].grace_s", *s);
    return {std::nullopt, "", fmt::format("needs {}: {}", path, why_unknown(c, path))};
  }
  if (server != nullptr && server->lease_s.has_value())
    return {*server->lease_s, "taken to be as long as the lease the server names", ""};
  if (m.lease_time_s.has_value())
    return {*m.lease_time_s, "taken to be as long as the lease that the client was given", ""};
  const std::string path = mount_path(item.index, "lease_time_s");
  return {std::nullopt, "", fmt::format("needs {}: {}", path, why_unknown(c, path))};
}

Value expected_grace_s(const Context& c, const Item& item) {
  Grace grace = grace_of(c, item);
  if (!grace.seconds) return unknown(std::move(grace.why));
  return *grace.seconds;
}

Value expected_grace_how(const Context& c, const Item& item) {
  Grace grace = grace_of(c, item);
  if (!grace.seconds) return unknown(std::move(grace.why));
  return grace.how;
}

Value pause_open_s(const Context& c, const Item& item) {
  if (mount_of(c, item).vers.is("3")) return Absent{};  // no OPEN on the wire
  Grace grace = grace_of(c, item);
  if (!grace.seconds) return unknown(std::move(grace.why));
  return *grace.seconds + client_back_off_s;
}

// A Linux server that also runs lockd holds NFSv4 locks back until lockd's grace period is over.
Value pause_lock_s(const Context& c, const Item& item) {
  Grace grace = grace_of(c, item);
  if (!grace.seconds) return unknown(std::move(grace.why));
  const auto s = server_of_mount(c, item);
  const bool linux_server = s && c.facts.nfs.servers[*s].kind.is("linux");
  return std::max<std::uint64_t>(*grace.seconds, linux_server ? lockd_grace_s : 0U) + client_back_off_s;
}

// ONTAP refuses READ and WRITE of NFSv4 too while it is in grace.
Value pause_io_s(const Context& c, const Item& item) {
  if (mount_of(c, item).vers.is("3")) return Absent{};
  const auto s = server_of_mount(c, item);
  if (!s || !c.facts.nfs.servers[*s].kind.has_value()) return server_missing(c, s, "kind");
  return is_ontap(c.facts.nfs.servers[*s]) ? pause_open_s(c, item) : Value(Absent{});
}

// --- mounts: security ----------------------------------------------------------------------------------------------

Value security_as_asked(const Context& c, const Item& item) {
  const facts::NfsMount& m = mount_of(c, item);
  if (m.asked.is_unknown()) return missing(c, "nfs.mounts", item.index, "asked");
  if (m.asked.is_absent()) return Absent{};
  const bool names_sec = m.asked->sec.has_value(), names_transport = m.asked->xprtsec.has_value();
  if (!names_sec && !names_transport) return Absent{};
  if (names_sec && !m.sec.has_value()) return missing(c, "nfs.mounts", item.index, "sec");
  if (names_sec && !is_met("sec", *m.asked->sec, *m.sec)) return false;
  if (!names_transport) return true;
  if (m.xprtsec.is_unknown()) return missing(c, "nfs.mounts", item.index, "xprtsec");
  return *m.asked->xprtsec == m.xprtsec.value_or("none");
}

Value asked_security(const Context& c, const Item& item) {
  const facts::NfsMount& m = mount_of(c, item);
  if (m.asked.is_unknown()) return missing(c, "nfs.mounts", item.index, "asked");
  if (m.asked.is_absent()) return Absent{};
  std::vector<std::string> parts;
  if (m.asked->sec.has_value()) parts.push_back("sec=" + *m.asked->sec);
  if (m.asked->xprtsec.has_value()) parts.push_back("xprtsec=" + *m.asked->xprtsec);
  return parts.empty() ? Value(Absent{}) : Value(base::join(parts, ","));
}

// --- mounts: VM disks ----------------------------------------------------------------------------------------------

Value carries_vm(const Context& c, const Item& item) {
  const facts::NfsMount& m = mount_of(c, item);
  if (m.kubelet.has_value() && m.kubelet->vm.has_value()) return true;
  if (base::starts_with_path(m.target, "/var/lib/libvirt/images")) return true;
  if (!base::starts_with_path(m.target, "/var/lib/kubelet")) return false;
  if (m.kubelet.is_unknown()) return missing(c, "nfs.mounts", item.index, "kubelet");
  if (m.kubelet.has_value() && m.kubelet->vm.is_unknown()) return unknown("whether its pod runs a VM was not told");
  return false;
}

// Unknown::why is the whole sentence: it rests on several facts.
Value live_migration_verdict(const Context& c, const Item& item) {
  const Value vm = carries_vm(c, item);
  if (vm.is_unknown()) return vm;
  if (vm.as_bool() == nullptr || !*vm.as_bool()) return Absent{};
  const LiveMigration one = live_migration(c, item.index);
  return one.verdict == "unknown" ? unknown(one.why) : Value(one.verdict == "yes");
}

Value live_migration_how(const Context& c, const Item& item) {
  const Value verdict = live_migration_verdict(c, item);
  if (verdict.as_bool() == nullptr) return verdict;
  return live_migration(c, item.index).why;
}

// --- options, asked for and in effect ------------------------------------------------------------------------------

std::vector<OptionWord> asked_words(const facts::AskedOptions& asked) {
  std::vector<OptionWord> words;
  if (asked.default_text.has_value()) words = option_words(*asked.default_text);
  const auto named = option_words(asked.text);
  words.insert(words.end(), named.begin(), named.end());
  return words;
}

std::vector<Item> mount_options(const Context& c, const Item& item) {
  std::vector<Item> items;
  const auto& asked = mount_of(c, item).asked;
  if (!asked.has_value()) return items;
  const Scope* scope = find_scope("nfs.mounts.options");
  const auto words = asked_words(*asked);
  const auto& all = compared_options();
  for (std::uint32_t i = 0; i < all.size(); ++i) {
    if (all[i].asked(words)) items.push_back({scope, item.index, i});
  }
  return items;
}

std::vector<Item> all_options(const Context& c) {
  std::vector<Item> items;
  for (std::uint32_t i = 0; i < c.facts.nfs.mounts.size(); ++i) {
    const auto some = mount_options(c, make_item("nfs.mounts", i));
    items.insert(items.end(), some.begin(), some.end());
  }
  return items;
}

const ComparedOption& option_of(const Item& item) { return compared_options()[item.sub]; }

Value option_name(const Context&, const Item& item) { return option_of(item).name; }

Value option_asked(const Context& c, const Item& item) {
  const auto& asked = mount_of(c, item).asked;
  if (!asked.has_value()) return missing(c, "nfs.mounts", item.index, "asked");
  const auto value = option_of(item).asked(asked_words(*asked));
  return value ? Value(*value) : Value(Absent{});
}

Value option_effective(const Context& c, const Item& item) {
  Value value = option_of(item).effective(mount_of(c, item));
  if (value.is_unknown()) return missing(c, "nfs.mounts", item.index, "options_text");
  return value;
}

Value option_met(const Context& c, const Item& item) {
  const Value asked = option_asked(c, item), effective = option_effective(c, item);
  if (asked.is_unknown()) return asked;
  if (effective.is_unknown()) return effective;
  if (asked.is_absent()) return Absent{};
  if (effective.is_absent()) return false;
  return is_met(option_of(item).name, *asked.as_text(), *effective.as_text());
}

// The kernel settles for less: the server's maximum, its own of 1 MiB, or a whole number of pages.
Value option_lowered(const Context& c, const Item& item) {
  const std::string_view name = option_of(item).name;
  if (name != "rsize" && name != "wsize") return false;
  const Value asked = option_asked(c, item), effective = option_effective(c, item);
  if (asked.is_unknown() || effective.is_unknown()) return asked.is_unknown() ? asked : effective;
  if (asked.is_absent() || effective.is_absent()) return false;
  const auto wanted = base::number<std::uint64_t>(*asked.as_text());
  const auto got = base::number<std::uint64_t>(*effective.as_text());
  return wanted && got && *got < *wanted;
}

Value option_allowed(const Context& c, const Item& item) {
  const std::string_view name = option_of(item).name;
  const auto s = server_of_mount(c, item);
  if (name != "rsize" && name != "wsize" && name != "vers" && name != "max_connect") return Absent{};
  if (name == "max_connect") return "16";
  if (!s) return unknown("no server of that address");
  const facts::NfsServer& server = c.facts.nfs.servers[*s];
  if (name == "vers") {
    if (!server.versions.has_value()) return server_missing(c, s, "versions");
    return base::join(*server.versions, ", ");
  }
  const bool v3 = mount_of(c, item).vers.is("3"), read = name == "rsize";
  const auto& most =
      v3 ? (read ? server.rtmax_bytes : server.wtmax_bytes) : (read ? server.maxread_bytes : server.maxwrite_bytes);
  const std::string_view fact =
      v3 ? (read ? "rtmax_bytes" : "wtmax_bytes") : (read ? "maxread_bytes" : "maxwrite_bytes");
  if (!most.has_value()) return server_missing(c, s, fact);
  return std::to_string(*most);
}

Joined option_mount(const Context&, const Item& item) { return {make_item("nfs.mounts", item.index), false, ""}; }
std::vector<Item> option_mounts(const Context&, const Item& item) { return {make_item("nfs.mounts", item.index)}; }

// --- clients -------------------------------------------------------------------------------------------------------

Value mounts_per_transport(const Context& c, const Item& item) {
  const facts::NfsClient& client = client_of(c, item);
  if (!client.transport_count.has_value() || *client.transport_count == 0)
    return missing(c, "nfs.clients", item.index, "transport_count");
  return static_cast<double>(c.mounts_of_client(item.index).size()) / *client.transport_count;
}

// Mean wait before the send of all but upkeep: between two samples, else since the mount.
Value client_queue_ms(const Context& c, const Item& item) {
  const ClientNumbers& numbers = c.numbers(item.index);
  std::uint64_t ops = 0, queue_ms = 0, window_ops = 0, window_queue_ms = 0;
  bool wrapped = false;
  for (const auto& op : numbers.ops) {
    if (op.upkeep) continue;
    ops += op.total.ops;
    queue_ms += op.total.queue_ms;
    window_ops += op.window.ops;
    window_queue_ms += op.window.queue_ms;
    wrapped = wrapped || op.wrapped;
  }
  if (numbers.has_window && window_ops >= min_average_ops && window_queue_ms < wrapped_above)
    return static_cast<double>(window_queue_ms) / static_cast<double>(window_ops);
  if (ops < min_average_ops) {
    const auto& mounts = c.mounts_of_client(item.index);
    if (!numbers.counted) return missing(c, "nfs.mounts", mounts.empty() ? 0 : mounts.front(), "ops");
    return unknown(fmt::format("fewer than {} operations were counted", min_average_ops));
  }
  if (wrapped) return unknown("invalid: a counter wrapped");
  return static_cast<double>(queue_ms) / static_cast<double>(ops);
}

bool has_session(const facts::NfsClient& client) { return client.vers.is("4.1") || client.vers.is("4.2"); }

// The smaller of what the client asks for and what the server grants; one alone is an upper bound.
Value session_slots(const Context& c, const Item& item) {
  if (!has_session(client_of(c, item))) return Absent{};
  std::optional<std::uint64_t> slots;
  if (c.facts.kernel.rpc.max_session_slots.has_value()) slots = *c.facts.kernel.rpc.max_session_slots;
  const auto s = c.server_of_client(item.index);
  if (s && c.facts.nfs.servers[*s].session.has_value()) {
    const std::uint64_t granted = c.facts.nfs.servers[*s].session->slots;
    slots = slots ? std::min(*slots, granted) : granted;
  }
  if (!slots) return missing(c, "kernel.rpc.max_session_slots");
  return *slots;
}

Value session_slots_how(const Context& c, const Item& item) {
  const Value slots = session_slots(c, item);
  if (!slots.is_number()) return slots;
  const auto s = c.server_of_client(item.index);
  const bool granted = s && c.facts.nfs.servers[*s].session.has_value();
  const bool asked = c.facts.kernel.rpc.max_session_slots.has_value();
  if (granted && asked) return "the smaller of nfs.max_session_slots and what the server granted";
  return granted ? "as the server granted" : "nfs.max_session_slots; the server may grant fewer";
}

// in_flight.mean of the client over the slots of its session.
Value session_use(const Context& c, const Item& item) {
  const Value slots = session_slots(c, item);
  if (!slots.is_number() || *slots.as_double() <= 0) return slots.is_number() ? Value(Absent{}) : slots;
  const Value mean = find_scope("nfs.clients")->find_derived("in_flight.mean")->get(c, item);
  if (!mean.is_number()) return mean;
  return *mean.as_double() / *slots.as_double();
}

// Limit of one connection: as its transport was made, else what new ones get.
Value slot_limit(const Context& c, const Item& item) {
  const facts::NfsClient& client = client_of(c, item);
  if (has_session(client)) return Absent{};
  const auto& switches = c.facts.nfs.xprt_switches;
  if (switches.has_value() && client.addr.has_value()) {
    std::optional<std::uint64_t> least;
    for (const auto& one : *switches) {
      for (const auto& transport : one.transports) {
        if (!transport.dst_addr.has_value() || !is_same_address(*transport.dst_addr, *client.addr)) continue;
        if (transport.dst_port.has_value() && *transport.dst_port != client.port) continue;
        if (!transport.max_slots_count.has_value()) continue;
        least = std::min(least.value_or(*transport.max_slots_count), *transport.max_slots_count);
      }
    }
    if (least) return *least;
  }
  const auto& limit = c.facts.kernel.rpc.tcp_max_slot_table_entries;
  if (limit.has_value()) return *limit;
  return limit.is_absent() ? Value(Absent{}) : missing(c, "kernel.rpc.tcp_max_slot_table_entries");
}

// The high-water mark of a connection stands at its limit: requests had to wait for a slot.
Value slots_reached(const Context& c, const Item& item) {
  const facts::NfsClient& client = client_of(c, item);
  const Value limit = slot_limit(c, item);
  if (!limit.is_number()) return limit;
  if (client.transports.empty()) return missing(c, "nfs.clients", item.index, "transports");
  for (const auto& transport : client.transports) {
    if (!transport.max_slots.has_value()) return unknown("only TCP and UDP keep a high-water mark");
    if (static_cast<double>(*transport.max_slots) >= *limit.as_double()) return true;
  }
  return false;
}

Value client_op_ratio(const Context& c, const Item& item, std::string_view name) {
  const ClientNumbers& numbers = c.numbers(item.index);
  std::uint64_t all = 0, some = 0;
  for (const auto& op : numbers.ops) {
    all += op.total.ops;
    if (op.total.op == name) some += op.total.ops;
  }
  if (all < min_average_ops) {
    const auto& mounts = c.mounts_of_client(item.index);
    if (!numbers.counted) return missing(c, "nfs.mounts", mounts.empty() ? 0 : mounts.front(), "ops");
    return unknown(fmt::format("fewer than {} operations were counted", min_average_ops));
  }
  return static_cast<double>(some) / static_cast<double>(all);
}

Value delegreturn_ratio(const Context& c, const Item& item) { return client_op_ratio(c, item, "DELEGRETURN"); }

// Features of NFSv4 that the counters show in use.
Value features(const Context& c, const Item& item) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 8> by_op{{
      {"DELEGRETURN", "delegations"},
      {"LAYOUTGET", "pNFS layouts"},
      {"CLONE", "CLONE"},
      {"COPY", "COPY"},
      {"READ_PLUS", "READ_PLUS"},
      {"SEEK", "SEEK"},
      {"ALLOCATE", "ALLOCATE"},
      {"DEALLOCATE", "DEALLOCATE"},
  }};
  const ClientNumbers& numbers = c.numbers(item.index);
  if (!numbers.counted) {
    const auto& mounts = c.mounts_of_client(item.index);
    return missing(c, "nfs.mounts", mounts.empty() ? 0 : mounts.front(), "ops");
  }
  std::vector<std::string> seen;
  for (const auto& [name, feature] : by_op) {
    for (const auto& op : numbers.ops) {
      if (op.total.op == name && op.total.ops > 0)
        seen.push_back(fmt::format("{} ({} {})", feature, op.total.ops, name));
    }
  }
  return seen.empty() ? Value(Absent{}) : Value(base::join(seen, ", "));
}

// Addresses of the server that the transports of the client lead to.
std::optional<std::uint64_t> legs_of(const facts::Facts& facts, const facts::NfsClient& client) {
  const auto& switches = facts.nfs.xprt_switches;
  if (!switches.has_value() || !client.addr.has_value()) return std::nullopt;
  std::optional<std::uint64_t> most;
  for (const auto& one : *switches) {
    std::set<std::string> addresses;
    bool leads_there = false;
    for (const auto& transport : one.transports) {
      if (!transport.dst_addr.has_value()) continue;
      const bool same_port = !transport.dst_port.has_value() || *transport.dst_port == client.port;
      if (same_port && is_same_address(*transport.dst_addr, *client.addr)) leads_there = true;
      addresses.insert(*transport.dst_addr);
    }
    if (leads_there) most = std::max<std::uint64_t>(most.value_or(0), addresses.size());
  }
  return most;
}

Value trunk_legs(const Context& c, const Item& item) {
  const auto legs = legs_of(c.facts, client_of(c, item));
  if (legs) return *legs;
  if (!c.facts.nfs.xprt_switches.has_value()) return missing(c, "nfs.xprt_switches");
  return unknown("no transport to that address is listed");
}

// How many there were: in the earlier sample, or by the addresses that mounts of this client name.
Value trunk_legs_expected(const Context& c, const Item& item) {
  const facts::NfsClient& client = client_of(c, item);
  std::set<std::string> named;
  if (client.addr.has_value()) named.insert(*client.addr);
  for (const std::uint32_t m : c.mounts_of_client(item.index)) {
    const auto& name = c.facts.nfs.mounts[m].server_name;
    if (!name.has_value() || !is_literal_address(*name)) continue;
    if (std::none_of(named.begin(), named.end(), [&](const std::string& a) { return is_same_address(a, *name); }))
      named.insert(*name);
  }
  std::uint64_t expected = named.size();
  const facts::NfsClient* before = c.earlier_client(item.index);
  if (before != nullptr && c.facts.earlier) {
    if (const auto legs = legs_of(*c.facts.earlier, *before)) expected = std::max(expected, *legs);
  }
  return expected;
}

// Upstream before 4.20, and RHEL 7.4 from 3.10.0-693 to 693.5.2; other kernels of vendors carry what they backported.
Value delegation_loops(const Context& c, const Item&) {
  if (!c.facts.kernel.release.has_value()) return missing(c, "kernel.release");
  const std::string& release = *c.facts.kernel.release;
  if (release.find(".el") != std::string::npos) {
    if (!release.starts_with("3.10.0-693.")) return false;
    const auto parts = base::split(std::string_view(release).substr(11), '.');
    const auto minor = base::number<unsigned>(parts[0]);
    const auto patch = parts.size() > 1 ? base::number<unsigned>(parts[1]) : std::nullopt;
    if (!minor) return true;  // 3.10.0-693.el7
    return *minor < 5 || (*minor == 5 && patch.value_or(0) <= 2);
  }
  const auto parts = base::split(std::string_view(release).substr(0, release.find('-')), '.');
  const auto major = base::number<unsigned>(parts[0]);
  const auto minor = parts.size() > 1 ? base::number<unsigned>(parts[1]) : std::nullopt;
  if (!major || !minor) return unknown("a kernel release of another form");
  return *major < 4 || (*major == 4 && *minor < 20);
}

// 5.16.10 and later 5.16, and 5.15.32 and later 5.15 (where it was seen).
Value qnap_refused(const Context& c, const Item&) {
  if (!c.facts.kernel.release.has_value()) return missing(c, "kernel.release");
  const std::string_view release = *c.facts.kernel.release;
  const auto parts = base::split(release.substr(0, release.find_first_not_of("0123456789.")), '.');
  const auto major = base::number<unsigned>(parts[0]);
  const auto minor = parts.size() > 1 ? base::number<unsigned>(parts[1]) : std::nullopt;
  if (!major || !minor) return unknown("a kernel release of another form");
  if (*major != 5 || (*minor != 15 && *minor != 16)) return false;
  const auto patch = parts.size() > 2 ? base::number<unsigned>(parts[2]) : std::nullopt;
  if (!patch) return unknown("the release does not name its stable update");
  return *minor == 16 ? *patch >= 10 : *patch >= 32;
}

// --- servers -------------------------------------------------------------------------------------------------------

Value trunkable_count(const Context& c, const Item& item) {
  const auto& other = server_of(c, item).trunkable;
  if (other.is_unknown()) return server_missing(c, item.index, "trunkable");
  return other.has_value() ? other->size() : std::size_t{0};
}

// What was not wanted is no question that went unanswered: a missing test is null here, not unknown.
Value lock_test_how(const Context& c, const Item& item) {
  const auto& tests = server_of(c, item).lock_tests;
  if (!tests.has_value()) return Absent{};
  std::vector<std::string> parts;
  for (const auto& test : *tests) {
    if (test.result == "ok") {
      parts.push_back(fmt::format("NFSv{}: lock granted and released", test.version));
      continue;
    }
    std::string text = fmt::format("NFSv{}: {}", test.version, test.result);
    if (test.step.has_value()) text += " at " + *test.step;
    if (test.detail.has_value()) text += " (" + *test.detail + ")";
    parts.push_back(std::move(text));
  }
  return base::join(parts, "; ");
}

// A version that was left out counts neither way; where all were, nothing is known.
Value lock_test_ok(const Context& c, const Item& item) {
  const auto& tests = server_of(c, item).lock_tests;
  if (!tests.has_value()) return Absent{};
  bool tested = false;
  for (const auto& test : *tests) {
    if (test.result == "not_asked") continue;
    if (test.result != "ok") return false;
    tested = true;
  }
  if (tested) return true;
  const Value how = lock_test_how(c, item);
  return unknown(how.as_text() == nullptr || how.as_text()->empty() ? "no version was tested" : *how.as_text());
}

Value lock_test_left(const Context& c, const Item& item) {
  const auto& tests = server_of(c, item).lock_tests;
  if (!tests.has_value()) return Absent{};
  std::vector<std::string> left;
  for (const auto& test : *tests)
    if (test.left.has_value()) left.push_back(*test.left);
  return left.empty() ? Value(Absent{}) : Value(base::join(left, ", "));
}

template <class Get>
Value read_fact(const Context& c, const Item& item, Get get) {
  const auto& test = server_of(c, item).read_test;
  return test.has_value() ? get(*test) : Value(Absent{});
}
Value read_ok(const Context& c, const Item& item) {
  return read_fact(c, item, [](const facts::NfsReadTest& test) {
    if (test.result == "not_asked") return unknown(test.detail.value_or("not asked"));
    return Value(test.result == "ok");
  });
}
Value read_how(const Context& c, const Item& item) {
  return read_fact(c, item, [](const facts::NfsReadTest& test) {
    std::string text = fmt::format("reading {} with NFSv{}: {}", test.path, test.version, test.result);
    if (test.detail.has_value()) text += " (" + *test.detail + ")";
    return Value(text);
  });
}
// Small calls were answered and the READ was not: an answer of many packets was lost.
Value read_lost(const Context& c, const Item& item) {
  return read_fact(c, item, [](const facts::NfsReadTest& test) {
    const bool late = test.result == "ETIMEDOUT" || test.result == "ECONNABORTED";
    return Value(late && test.detail.has_value() && test.detail->starts_with("read"));
  });
}

struct NeededProgram {
  std::string_view name;
  std::uint32_t number;
};
constexpr std::array<NeededProgram, 5> programs{
    {{"rpcbind", 100000}, {"nfs", 100003}, {"mountd", 100005}, {"nlm", 100021}, {"nsm", 100024}}};

const facts::NfsService* service_of(const facts::NfsServer& server, std::string_view program) {
  for (const auto& service : server.services) {
    if (service.program == program) return &service;
  }
  return nullptr;
}

std::set<std::string> versions_in_use(const Context& c, std::uint32_t server) {
  std::set<std::string> versions;
  for (const std::uint32_t client : c.clients_of_server(server)) {
    const auto& vers = c.facts.nfs.clients[client].vers;
    if (vers.has_value()) versions.insert(*vers);
  }
  return versions;
}

// By what the server was asked for, else by the versions in use: NFSv3 needs all five, NFSv4 its own port only.
bool is_needed(const Context& c, std::uint32_t index, const NeededProgram& program) {
  const facts::NfsServer& server = c.facts.nfs.servers[index];
  const facts::NfsService* service = service_of(server, program.name);
  if (service != nullptr && service->needed_by_versions.has_value()) return !service->needed_by_versions->empty();
  if (service != nullptr && service->needed_by_versions.is_absent()) return false;
  const auto versions = versions_in_use(c, index);
  return program.name == "nfs" ? !versions.empty() : versions.contains("3");
}

std::vector<Item> server_services(const Context& c, const Item& item) {
  std::vector<Item> items;
  const Scope* scope = find_scope("nfs.servers.services");
  for (std::uint32_t i = 0; i < programs.size(); ++i) {
    if (is_needed(c, item.index, programs[i])) items.push_back({scope, item.index, i});
  }
  return items;
}

std::vector<Item> all_services(const Context& c) {
  std::vector<Item> items;
  for (std::uint32_t i = 0; i < c.facts.nfs.servers.size(); ++i) {
    const auto some = server_services(c, make_item("nfs.servers", i));
    items.insert(items.end(), some.begin(), some.end());
  }
  return items;
}

Value service_missing(const Context& c, std::uint32_t server, std::string_view program) {
  return server_missing(c, server, fmt::format("services.{}", program));
}

Value service_program(const Context&, const Item& item) { return programs[item.sub].name; }

template <class Get>
Value service_fact(const Context& c, const Item& item, Get get) {
  const facts::NfsService* service = service_of(server_of(c, item), programs[item.sub].name);
  Value value = service == nullptr ? unknown("") : get(*service);
  return value.is_unknown() ? service_missing(c, item.index, programs[item.sub].name) : value;
}

Value service_port(const Context& c, const Item& item) {
  return service_fact(c, item, [](const facts::NfsService& s) { return Value::of(s.port); });
}
Value service_reachable(const Context& c, const Item& item) {
  return service_fact(c, item, [](const facts::NfsService& s) { return Value::of(s.reachable); });
}
Value service_result(const Context& c, const Item& item) {
  return service_fact(c, item, [](const facts::NfsService& s) { return Value::of(s.result); });
}
Value service_detail(const Context& c, const Item& item) {
  return service_fact(c, item, [](const facts::NfsService& s) { return Value::of(s.detail); });
}
Value service_connect_ms(const Context& c, const Item& item) {
  return service_fact(c, item, [](const facts::NfsService& s) { return Value::of(s.connect_ms); });
}

Joined service_server(const Context&, const Item& item) { return {make_item("nfs.servers", item.index), false, ""}; }
std::vector<Item> service_mounts(const Context& c, const Item& item) {
  std::vector<Item> items;
  for (const std::uint32_t client : c.clients_of_server(item.index)) {
    for (const std::uint32_t m : c.mounts_of_client(client)) items.push_back(make_item("nfs.mounts", m));
  }
  return items;
}

// Lock manager of NFSv3: registered, and its NULL call is answered. A pasted rpcinfo -p counts where only one NFSv3
// server can be meant.
struct Nlm {
  Value usable;
  std::string how;
};

Nlm nlm_of(const Context& c, const Item& item) {
  const facts::NfsServer& server = server_of(c, item);
  const facts::NfsService* service = service_of(server, "nlm");
  if (service != nullptr) {
    if (service->registered.is(false)) return {false, "rpcbind does not list it (program 100021)"};
    if (service->reachable.has_value())
      return {*service->reachable, service->detail.has_value() ? *service->detail : service->result.value_or("")};
    if (service->port.is_absent()) return {false, "rpcbind does not list it (program 100021)"};
    return {service_missing(c, item.index, "nlm"), ""};
  }
  const auto& listings = c.facts.nfs.rpcinfo;
  if (listings.size() != 1) return {service_missing(c, item.index, "nlm"), ""};
  std::uint64_t v3_servers = 0;
  for (std::uint32_t i = 0; i < c.facts.nfs.servers.size() && v3_servers < 2; ++i)
    v3_servers += versions_in_use(c, i).contains("3");
  if (v3_servers == 1) return {listings[0].nlm, "program 100021 version 4 is not listed in " + listings[0].source};
  return {service_missing(c, item.index, "nlm"), ""};
}

Value nlm_usable(const Context& c, const Item& item) { return nlm_of(c, item).usable; }
Value nlm_how(const Context& c, const Item& item) {
  Nlm nlm = nlm_of(c, item);
  return nlm.usable.is_unknown() ? nlm.usable : Value(nlm.how);
}

// --- rows ----------------------------------------------------------------------------------------------------------

template <class T>
void append(std::vector<T>& to, std::vector<T> more) {
  to.insert(to.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

void add_to_mounts(Scope& mounts) {
  append<DerivedFact>(
      mounts.derived,
      {{"loopback", boolean_type, "the server is this node itself", "network.local_addresses", loopback},
       {"loopback_how", text_type, "what shows that it is", "network.local_addresses", loopback_how},
       {"addr_is_named", boolean_type,
        "the address in use is one that the source names, by itself or through the resolver", "nfs.mounts[].addr",
        addr_is_named},
       {"export_mount_count", integer_type, "mounts of the same export on this node", "nfs.mounts[].source",
        export_mount_count},
       {"size_unaligned", boolean_type, "a transfer size is no multiple of 4096", "nfs.mounts[].rsize_bytes",
        size_unaligned},
       {"size_asked_below_server", boolean_type, "it asks for smaller READs than client and server can do",
        "nfs.servers[].rtmax_bytes", size_asked_below_server},
       {"read_share", number_type, "share of READ among all operations since the mount", "nfs.mounts[].ops",
        read_share},
       {"lookup_share", number_type, "share of LOOKUP among all operations since the mount", "nfs.mounts[].ops",
        lookup_share},
       {"read_fill_ratio", number_type, "bytes of a mean READ over rsize, at most 1", "nfs.mounts[].ops",
        read_fill_ratio},
       {"direct_read_share", number_type, "share of bytes read with O_DIRECT", "nfs.mounts[].bytes", direct_read_share},
       {"read_ahead_small", boolean_type, "read-ahead of at most 128 KiB, or of less than four READs",
        "nfs.mounts[].read_ahead_kib", read_ahead_small},
       {"read_ahead_advised_kib", integer_type, "15 times rsize, the default before Linux 5.4",
        "nfs.mounts[].rsize_bytes", read_ahead_advised_kib},
       {"expected.grace_s", integer_type, "grace period of the server after a restart or takeover",
        "nfs.servers[].grace_s", expected_grace_s},
       {"expected.grace_how", text_type, "where that number is from", "nfs.servers[].grace_s", expected_grace_how},
       {"expected.pause_open_s", integer_type, "longest pause of an OPEN after a failover; null for NFSv3",
        "nfs.servers[].grace_s", pause_open_s},
       {"expected.pause_lock_s", integer_type, "longest pause of a new lock after a failover", "nfs.servers[].grace_s",
        pause_lock_s},
       {"expected.pause_io_s", integer_type,
        "longest pause of READ and WRITE after a failover; null: only the move and the reconnect", "nfs.servers[].kind",
        pause_io_s},
       {"security_as_asked", boolean_type, "sec and xprtsec are among those asked for; null when neither was asked for",
        "nfs.mounts[].asked", security_as_asked},
       {"asked_security", text_type, "sec= and xprtsec= as asked for", "nfs.mounts[].asked", asked_security},
       {"live_migration", boolean_type,
        "a VM whose disk lies there can move to another node while it runs: access mode, locks, server; null where "
        "no disk of a VM lies",
        "declared.pvs[].access_modes", live_migration_verdict},
       {"live_migration_how", text_type, "what that rests on, or what stands against it", "declared.pvs[].access_modes",
        live_migration_how},
       {"carries_vm", boolean_type, "disks of a virtual machine lie there", "nfs.mounts[].kubelet", carries_vm}});
  mounts.collections.push_back(
      {"options", "options asked for, beside those in effect", "nfs.mounts.options", mount_options});
}

void add_to_clients(Scope& clients) {
  append<DerivedFact>(
      clients.derived,
      {{"mounts_per_transport", number_type, "mounts over connections", "nfs.clients[].mounts", mounts_per_transport},
       {"queue_ms", number_type,
        "mean wait in the client before the send, session upkeep left out: between two samples, else since the mount",
        "nfs.mounts[].ops", client_queue_ms},
       {"session_slots", integer_type,
        "most requests in flight of an NFSv4.1 session; an upper bound while the server was not asked",
        "kernel.rpc.max_session_slots", session_slots},
       {"session_slots_how", text_type, "where that number is from", "kernel.rpc.max_session_slots", session_slots_how},
       {"session_use", number_type, "in_flight.mean over session_slots; null without a session",
        "nfs.clients[].transports", session_use},
       {"slot_limit", integer_type, "most requests in flight of one connection (NFSv3, NFSv4.0); null with sessions",
        "kernel.rpc.tcp_max_slot_table_entries", slot_limit},
       {"slots_reached", boolean_type, "a connection once used all its slots", "nfs.clients[].transports",
        slots_reached},
       {"delegreturn_ratio", number_type, "share of DELEGRETURN among all operations", "nfs.mounts[].ops",
        delegreturn_ratio},
       {"features", text_type, "features of NFSv4 that the counters show in use", "nfs.mounts[].ops", features},
       {"trunk.legs", integer_type, "different addresses of the server that the connections lead to",
        "nfs.xprt_switches", trunk_legs},
       {"trunk.legs_expected", integer_type,
        "the same in the earlier sample, or the addresses that the mounts name: the larger", "nfs.xprt_switches",
        trunk_legs_expected},
       {"derived.kernel_delegation_loops", boolean_type,
        "this kernel may loop in the recovery of delegations (before Linux 4.20; RHEL 7.4 up to 3.10.0-693.5.2)",
        "kernel.release", delegation_loops}});
}

void add_to_servers(Scope& servers) {
  append<DerivedFact>(
      servers.derived,
      {{"trunkable_count", integer_type, "other addresses whose sessions can be trunked with this one",
        "nfs.servers[].trunkable", trunkable_count},
       {"lock_test_ok", boolean_type, "all locks of --lock-test were granted and released; null when it was not wanted",
        "nfs.servers[].lock_tests", lock_test_ok},
       {"lock_test_how", text_type, "what came of each", "nfs.servers[].lock_tests", lock_test_how},
       {"lock_test_left", text_type, "files of the test that could not be removed; null when none is left",
        "nfs.servers[].lock_tests", lock_test_left},
       {"read_ok", boolean_type, "the file of --read-file was read; null when it was not wanted",
        "nfs.servers[].read_test", read_ok},
       {"read_how", text_type, "what came of it", "nfs.servers[].read_test", read_how},
       {"read_lost", boolean_type, "mount and open were answered, the READ was not", "nfs.servers[].read_test",
        read_lost},
       {"nlm_usable", boolean_type, "the lock manager of NFSv3 is registered and answers", "nfs.servers[].services",
        nlm_usable},
       {"nlm_how", text_type, "what it answered, or why it did not", "nfs.servers[].services", nlm_how},
       {"derived.kernel_refuses_qnap", boolean_type,
        "this kernel cannot mount some QNAP servers with NFSv4.1 (5.16.10 and later 5.16, 5.15.32 and later 5.15)",
        "kernel.release", qnap_refused}});
  servers.collections.push_back(
      {"services", "RPC programs that the versions in use need", "nfs.servers.services", server_services});
}

Scope option_scope() {
  Scope s;
  s.name = "nfs.mounts.options";
  s.parent = "mount";
  s.type = nullptr;
  s.items = all_options;
  s.ref = [](const Context&, const Item&) { return facts::Ref{}; };
  s.path = [](const Context&, const Item& item) {
    return fmt::format("nfs.mounts[{}].options.{}", item.index, option_of(item).name);
  };
  s.subject = [](const Context& c, const Item& item) { return Subject{"nfs.mount", mount_of(c, item).target}; };
  s.own_name = [](const Context&, const Item& item) { return std::string(option_of(item).name); };
  s.derived = {
      {"name", text_type, "option, under its usual name", "nfs.mounts[].asked", option_name},
      {"asked", text_type, "value asked for", "nfs.mounts[].asked", option_asked},
      {"effective", text_type, "value in effect", "nfs.mounts[].options_text", option_effective},
      {"allowed", text_type, "what the server allows; null where it has no say", "nfs.servers[].versions",
       option_allowed},
      {"met", boolean_type, "the kernel runs what was asked for", "nfs.mounts[].options_text", option_met},
      {"lowered", boolean_type, "a transfer size that was lowered", "nfs.mounts[].options_text", option_lowered}};
  s.references = {{"mount", "mount of the option", "nfs.mounts", option_mount}};
  s.collections = {{"mounts", "the mount itself", "nfs.mounts", option_mounts}};
  return s;
}

Scope service_scope() {
  Scope s;
  s.name = "nfs.servers.services";
  s.parent = "server";
  s.type = nullptr;
  s.items = all_services;
  s.ref = [](const Context&, const Item&) { return facts::Ref{}; };
  s.path = [](const Context&, const Item& item) {
    return fmt::format("nfs.servers[{}].services.{}", item.index, programs[item.sub].name);
  };
  s.subject = [](const Context& c, const Item& item) {
    const facts::NfsServer& server = server_of(c, item);
    const std::string& host = server.addr.has_value() ? *server.addr : server.name;
    return Subject{"nfs.server", host.find(':') != std::string::npos ? fmt::format("[{}]:{}", host, server.port)
                                                                     : fmt::format("{}:{}", host, server.port)};
  };
  s.own_name = [](const Context&, const Item& item) { return std::string(programs[item.sub].name); };
  constexpr std::string_view by = "nfs.servers[].services";
  s.derived = {
      {"program", text_type, "rpcbind, nfs, mountd, nlm or nsm", by, service_program},
      {"port", integer_type, "its TCP port; null when rpcbind lists none", by, service_port},
      {"reachable", boolean_type, "a NULL call was answered", by, service_reachable},
      {"result", text_type, "ok, or why there is no answer", by, service_result},
      {"detail", text_type, "the same in words", by, service_detail},
      {"connect_ms", number_type, "time until the connection was there or had failed", by, service_connect_ms}};
  s.references = {{"server", "the server", "nfs.servers", service_server}};
  s.collections = {{"mounts", "mounts from the server", "nfs.mounts", service_mounts}};
  return s;
}

}  // namespace

void add_option_scopes(std::vector<Scope>& all) {
  add_to_mounts(scope_named(all, "nfs.mounts"));
  add_to_clients(scope_named(all, "nfs.clients"));
  add_to_servers(scope_named(all, "nfs.servers"));
  all.push_back(option_scope());
  all.push_back(service_scope());
  add_asked_scopes(all);
}

}  // namespace audit
