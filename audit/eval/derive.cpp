#include "audit/eval/derive.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <unordered_map>
#include <unordered_set>

#include "audit/base/instant.h"
#include "audit/base/text.h"
#include "audit/eval/derive_hang.h"
#include "audit/eval/derive_help.h"
#include "audit/eval/derive_storage.h"
#include "audit/eval/derive_targets.h"
#include "audit/eval/latency_curves.h"

namespace audit {

namespace {

using namespace derive_help;
using facts::Absent;
using facts::Kind;
using facts::Unknown;
using facts::Value;

constexpr double min_window_s = 10;
constexpr std::uint64_t min_window_ops = 1000;
constexpr std::uint64_t min_sends = 1000;

std::string server_key(std::string_view host, std::uint32_t port) { return fmt::format("{}|{}", host, port); }

}  // namespace

// --- the document, prepared ----------------------------------------------------------------------------------------

struct Context::Index {
  std::unordered_map<std::string, std::uint32_t> client_by_id;
  std::vector<std::optional<std::uint32_t>> client_of_mount;
  std::vector<std::vector<std::uint32_t>> mounts_of_client;
  std::vector<std::optional<std::uint32_t>> server_of_client;
  std::vector<std::vector<std::uint32_t>> clients_of_server;
  std::unordered_map<std::string, std::vector<std::uint32_t>> mounts_of_volume;
  std::unordered_map<std::string, std::uint32_t> pv_by_name;
  std::unordered_set<std::string_view> mounted;  // mount points, PersistentVolumes and their names in a pod
  std::unordered_map<std::string, std::uint32_t> counted_mount;  // "client|target" of a super block's first mount
  std::unordered_map<std::string, std::uint32_t> exports_by_addr, exports_by_name, exports_without_addr;
  bool has_several_connections = false;
  std::unordered_map<std::string, std::vector<std::uint32_t>> sockets_by_peer, earlier_sockets_by_peer;
  std::unordered_map<std::string, std::uint32_t> server_by_key;  // "addr|port", then "name|port"
  std::unordered_map<std::string, std::uint32_t> path_by_addr;
  std::unordered_map<std::string, std::uint32_t> earlier_mount_by_key;
  std::unordered_map<std::string, std::uint32_t> earlier_client_by_id;
  std::optional<double> wall_s;  // between the two samples, from the node's clocks
  std::string not_comparable;    // why `earlier` is of no use
  std::unordered_map<std::uint32_t, ClientNumbers> numbers;
  SourceRows source_rows;
  bool has_source_rows = false;
  std::optional<std::vector<Hang>> hangs;
  std::optional<std::vector<LatencyCurve>> curves;
  std::optional<Storage> storage;
  bool wants_reasons = true;
  std::unordered_map<const DerivedFact*, std::vector<std::optional<Value>>> values;  // by index, without reasons
};

namespace {

std::string export_key(const facts::Fact<std::string>& server, const facts::NfsMount& mount) {
  return server.value_or("") + '\n' + mount.export_path.value_or("");
}

// Sockets are listed without the zone of an address.
std::string peer_key(std::string_view addr, std::uint32_t port) {
  return fmt::format("{}|{}", addr.substr(0, addr.find('%')), port);
}

void index_sockets(const facts::Network& network,
                   std::unordered_map<std::string, std::vector<std::uint32_t>>& by_peer) {
  if (!network.sockets.has_value()) return;
  for (std::uint32_t i = 0; i < network.sockets->size(); ++i) {
    const facts::NetSocket& socket = (*network.sockets)[i];
    by_peer[peer_key(socket.peer_addr, socket.peer_port)].push_back(i);
  }
}

std::string mount_key(const facts::NfsMount& mount) { return mount.target + '\n' + mount.source; }

}  // namespace

Context::Context(const facts::Facts& document) : facts(document), index_(std::make_unique<Index>()) {
  Index& index = *index_;
  const facts::Nfs& nfs = facts.nfs;
  index.mounts_of_client.resize(nfs.clients.size());
  for (std::uint32_t i = 0; i < nfs.clients.size(); ++i) index.client_by_id.emplace(nfs.clients[i].id, i);
  index.client_of_mount.resize(nfs.mounts.size());
  for (std::uint32_t i = 0; i < nfs.mounts.size(); ++i) {
    const facts::NfsMount& mount = nfs.mounts[i];
    const auto client = index.client_by_id.find(mount.client_id);
    if (client != index.client_by_id.end()) {
      index.client_of_mount[i] = client->second;
      index.mounts_of_client[client->second].push_back(i);
    }
    if (mount.kubelet.has_value() && mount.kubelet->pv.has_value())
      index.mounts_of_volume[*mount.kubelet->pv].push_back(i);
    index.mounted.insert(mount.target);
    if (mount.kubelet.has_value()) {
      if (mount.kubelet->pv.has_value()) index.mounted.insert(*mount.kubelet->pv);
      index.mounted.insert(mount.kubelet->volume);
    }
    if (!mount.same_as.has_value()) index.counted_mount.emplace(mount.client_id + '|' + mount.target, i);
    const std::string name = export_key(mount.server_name, mount);
    ++index.exports_by_name[name];
    ++(mount.addr.has_value() ? index.exports_by_addr[export_key(mount.addr, mount)]
                              : index.exports_without_addr[name]);
  }
  for (std::uint32_t i = 0; i < facts.declared.pvs.size(); ++i) index.pv_by_name.emplace(facts.declared.pvs[i].name, i);
  for (std::uint32_t i = 0; i < nfs.servers.size(); ++i) {
    const facts::NfsServer& server = nfs.servers[i];
    if (server.addr.has_value()) index.server_by_key.emplace(server_key(*server.addr, server.port), i);
    index.server_by_key.emplace(server_key(server.name, server.port), i);
  }
  index.server_of_client.resize(nfs.clients.size());
  index.clients_of_server.resize(nfs.servers.size());
  for (std::uint32_t i = 0; i < nfs.clients.size(); ++i) {
    const facts::NfsClient& client = nfs.clients[i];
    if (client.transport_count.has_value() && *client.transport_count > 1) index.has_several_connections = true;
    for (const auto* host : {&client.addr, &client.server_name}) {
      if (!host->has_value() || index.server_of_client[i]) continue;
      const auto found = index.server_by_key.find(server_key(**host, client.port));
      if (found != index.server_by_key.end()) index.server_of_client[i] = found->second;
    }
    if (index.server_of_client[i]) index.clients_of_server[*index.server_of_client[i]].push_back(i);
  }
  const auto& paths = facts.network.paths;
  for (std::uint32_t i = 0; paths.has_value() && i < paths->size(); ++i)
    index.path_by_addr.emplace((*paths)[i].addr, i);
  index_sockets(facts.network, index.sockets_by_peer);
  if (!facts.earlier) {
    index.not_comparable = "one sample only, rates need two";
    return;
  }
  const facts::Facts& before = *facts.earlier;
  const facts::Node &now = facts.node, &then = before.node;
  if (now.boot_id.has_value() && then.boot_id.has_value() && *now.boot_id != *then.boot_id) {
    index.not_comparable = "the earlier sample is from another boot";
    return;
  }
  if (now.boottime_ns.has_value() && then.boottime_ns.has_value() && *now.boottime_ns > *then.boottime_ns) {
    index.wall_s = static_cast<double>(*now.boottime_ns - *then.boottime_ns) / 1e9;
  } else if (now.collected_at.has_value() && then.collected_at.has_value()) {
    const auto end = base::epoch_of(*now.collected_at), start = base::epoch_of(*then.collected_at);
    if (start && end && *end > *start) index.wall_s = *end - *start;
  }
  index_sockets(before.network, index.earlier_sockets_by_peer);
  for (std::uint32_t i = 0; i < before.nfs.mounts.size(); ++i)
    index.earlier_mount_by_key.emplace(mount_key(before.nfs.mounts[i]), i);
  for (std::uint32_t i = 0; i < before.nfs.clients.size(); ++i)
    index.earlier_client_by_id.emplace(before.nfs.clients[i].id, i);
}

Context::~Context() = default;

Context::WithoutReasons::WithoutReasons(const Context& context) : context_(context) {
  context_.index_->wants_reasons = false;
}
Context::WithoutReasons::~WithoutReasons() { context_.index_->wants_reasons = true; }

bool Context::wants_reasons() const { return index_->wants_reasons; }

Value Context::derived_value(const DerivedFact& fact, const Item& item) const {
  // Only what the index alone names is kept: items of nested lists, and of lists joined from several, have a second
  // number.
  if (index_->wants_reasons || item.sub != 0 || !item.scope->parent.empty()) return fact.get(*this, item);
  const auto known = index_->values.find(&fact);
  if (known != index_->values.end() && item.index < known->second.size() && known->second[item.index])
    return *known->second[item.index];
  Value value = fact.get(*this, item);
  auto& column = index_->values[&fact];
  if (column.size() <= item.index) column.resize(std::max<std::size_t>(item.index + 1, column.size() * 2));
  column[item.index] = value;
  return value;
}

std::optional<std::uint32_t> Context::client_of_mount(std::uint32_t mount) const {
  return index_->client_of_mount[mount];
}

std::optional<std::uint32_t> Context::path_to(const std::string& addr) const {
  const auto found = index_->path_by_addr.find(addr);
  if (found == index_->path_by_addr.end()) return std::nullopt;
  return found->second;
}

std::optional<std::uint32_t> Context::server_of_client(std::uint32_t client) const {
  return index_->server_of_client[client];
}

const std::vector<std::uint32_t>& Context::clients_of_server(std::uint32_t server) const {
  return index_->clients_of_server[server];
}

const std::vector<std::uint32_t>& Context::mounts_of_volume(const std::string& pv) const {
  static const std::vector<std::uint32_t> none_at_all;
  const auto found = index_->mounts_of_volume.find(pv);
  return found == index_->mounts_of_volume.end() ? none_at_all : found->second;
}

const facts::DeclaredPv* Context::declared_pv(const std::string& name) const {
  const auto found = index_->pv_by_name.find(name);
  return found == index_->pv_by_name.end() ? nullptr : &facts.declared.pvs[found->second];
}

bool Context::is_mounted(const std::string& place) const { return index_->mounted.contains(place); }

std::uint32_t Context::counted_mount(std::uint32_t mount) const {
  const facts::NfsMount& m = facts.nfs.mounts[mount];
  if (!m.same_as.has_value()) return mount;
  const auto found = index_->counted_mount.find(m.client_id + '|' + *m.same_as);
  return found == index_->counted_mount.end() ? mount : found->second;
}

std::uint64_t Context::mounts_of_export(std::uint32_t mount) const {
  const facts::NfsMount& m = facts.nfs.mounts[mount];
  const auto count = [](const auto& counts, const std::string& key) {
    const auto found = counts.find(key);
    return found == counts.end() ? 0U : found->second;
  };
  const std::string name = export_key(m.server_name, m);
  if (!m.addr.has_value()) return count(index_->exports_by_name, name);
  return count(index_->exports_by_addr, export_key(m.addr, m)) + count(index_->exports_without_addr, name);
}

namespace {

const std::vector<std::uint32_t>& sockets_of(const std::unordered_map<std::string, std::vector<std::uint32_t>>& by_peer,
                                             const std::string& key) {
  static const std::vector<std::uint32_t> none_at_all;
  const auto found = by_peer.find(key);
  return found == by_peer.end() ? none_at_all : found->second;
}

}  // namespace

const std::vector<std::uint32_t>& Context::sockets_to(const std::string& addr, std::uint32_t port) const {
  return sockets_of(index_->sockets_by_peer, peer_key(addr, port));
}

const std::vector<std::uint32_t>& Context::earlier_sockets_to(const std::string& addr, std::uint32_t port) const {
  return sockets_of(index_->earlier_sockets_by_peer, peer_key(addr, port));
}

bool Context::has_several_connections() const { return index_->has_several_connections; }

const std::vector<std::uint32_t>& Context::mounts_of_client(std::uint32_t client) const {
  return index_->mounts_of_client[client];
}

const facts::NfsMount* Context::earlier_mount(std::uint32_t mount) const {
  const auto found = index_->earlier_mount_by_key.find(mount_key(facts.nfs.mounts[mount]));
  return found == index_->earlier_mount_by_key.end() ? nullptr : &facts.earlier->nfs.mounts[found->second];
}

const facts::NfsClient* Context::earlier_client(std::uint32_t client) const {
  const auto found = index_->earlier_client_by_id.find(facts.nfs.clients[client].id);
  return found == index_->earlier_client_by_id.end() ? nullptr : &facts.earlier->nfs.clients[found->second];
}

std::optional<double> Context::sample_gap_s() const {
  if (!facts.earlier || !index_->not_comparable.empty()) return std::nullopt;
  return index_->wall_s;
}

const std::vector<Hang>& Context::hangs() const {
  if (!index_->hangs) index_->hangs = judge_hangs(*this);
  return *index_->hangs;
}

const std::vector<LatencyCurve>& Context::curves() const {
  if (!index_->curves) index_->curves = latency_curves(facts.latency.runs);
  return *index_->curves;
}

const Storage& Context::storage() const {
  if (!index_->storage) index_->storage.emplace(*this);
  return *index_->storage;
}

const facts::Facts* Context::earlier() const {
  return facts.earlier && index_->not_comparable.empty() ? facts.earlier.get() : nullptr;
}

const std::string& Context::why_not_comparable() const { return index_->not_comparable; }

namespace {

const facts::NfsOp* find_op(const facts::NfsMount& mount, std::size_t hint, const std::string& name) {
  if (hint < mount.ops.size() && mount.ops[hint].op == name) return &mount.ops[hint];
  for (const auto& op : mount.ops) {
    if (op.op == name) return &op;
  }
  return nullptr;
}

// Counters only grow while a mount lives. A smaller one, or a smaller age, means that the mount was made anew.
bool is_same_mount(const facts::NfsMount& before, const facts::NfsMount& now) {
  if (before.age_s.has_value() && now.age_s.has_value() && *now.age_s < *before.age_s) return false;
  for (std::size_t i = 0; i < before.ops.size(); ++i) {
    const facts::NfsOp& old = before.ops[i];
    const facts::NfsOp* op = find_op(now, i, old.op);
    if (op == nullptr || op->ops < old.ops || op->trans < old.trans || op->timeouts < old.timeouts ||
        op->bytes_sent < old.bytes_sent || op->bytes_recv < old.bytes_recv)
      return false;
  }
  return true;
}

void add_op(ClientOp& sum, const facts::NfsOp& op) {
  sum.total.ops += op.ops;
  sum.total.trans += op.trans;
  sum.total.timeouts += op.timeouts;
  sum.total.bytes_sent += op.bytes_sent;
  sum.total.bytes_recv += op.bytes_recv;
  sum.total.queue_ms += op.queue_ms;
  sum.total.rtt_ms += op.rtt_ms;
  sum.total.execute_ms += op.execute_ms;
  if (op.errors.has_value()) sum.total.errors = sum.total.errors.value_or(0) + *op.errors;
  if (op.queue_ms > wrapped_above || op.rtt_ms > wrapped_above || op.execute_ms > wrapped_above) sum.wrapped = true;
}

bool was_never_used(const facts::NfsOp& op) {
  return op.ops == 0 && op.trans == 0 && op.timeouts == 0 && op.bytes_sent == 0 && op.execute_ms == 0 &&
         op.queue_ms == 0;
}

// The sum for an operation, looked for at `next` first, which then stands behind it.
ClientOp& sum_of(std::vector<ClientOp>& sums, std::size_t& next, const std::string& name) {
  std::size_t at = next;
  if (at >= sums.size() || sums[at].total.op != name) {
    const auto found = std::find_if(sums.begin(), sums.end(), [&](const ClientOp& op) { return op.total.op == name; });
    at = static_cast<std::size_t>(found - sums.begin());
    if (found == sums.end()) {
      ClientOp& added = sums.emplace_back();
      added.total.op = name;
      added.upkeep = is_upkeep_op(name);
    }
  }
  next = at + 1;
  return sums[at];
}

// Unsigned on purpose: times that ran below zero in the kernel stand just below 2^64 and still give right differences.
void add_window(ClientOp::Window& window, const facts::NfsOp& now, const facts::NfsOp& before) {
  window.ops += now.ops - before.ops;
  window.trans += now.trans - before.trans;
  window.timeouts += now.timeouts - before.timeouts;
  window.bytes_sent += now.bytes_sent - before.bytes_sent;
  window.bytes_recv += now.bytes_recv - before.bytes_recv;
  window.queue_ms += now.queue_ms - before.queue_ms;
  window.rtt_ms += now.rtt_ms - before.rtt_ms;
  window.execute_ms += now.execute_ms - before.execute_ms;
  if (now.errors.has_value() && before.errors.has_value() && *now.errors >= *before.errors)
    window.errors = window.errors.value_or(0) + (*now.errors - *before.errors);
}

}  // namespace

const facts::NfsMount* Context::comparable_mount(std::uint32_t mount) const {
  if (!facts.earlier || !index_->not_comparable.empty()) return nullptr;
  const facts::NfsMount* before = earlier_mount(mount);
  return before != nullptr && is_same_mount(*before, facts.nfs.mounts[mount]) ? before : nullptr;
}

const ClientNumbers& Context::numbers(std::uint32_t client) const {
  const auto known = index_->numbers.find(client);
  if (known != index_->numbers.end()) return known->second;
  ClientNumbers result;
  std::optional<double> by_age;
  bool dropped = false;
  const auto& mounts = index_->mounts_of_client[client];
  for (const std::uint32_t m : mounts) {
    const facts::NfsMount& mount = facts.nfs.mounts[m];
    if (mount.age_s.has_value())
      result.oldest_age_s = std::max(result.oldest_age_s.value_or(0), static_cast<double>(*mount.age_s));
    if (mount.ops.empty()) continue;
    result.counted = true;
    const facts::NfsMount* before = comparable_mount(m);
    if (before == nullptr && facts.earlier && index_->not_comparable.empty() && earlier_mount(m) != nullptr)
      dropped = true;
    if (before != nullptr) {
      result.has_window = true;
      if (mount.age_s.has_value() && before->age_s.has_value() && *mount.age_s > *before->age_s)
        by_age = static_cast<double>(*mount.age_s - *before->age_s);
    }
    std::size_t next = 0;  // mounts list their operations in one order
    for (std::size_t i = 0; i < mount.ops.size(); ++i) {
      const facts::NfsOp& op = mount.ops[i];
      if (was_never_used(op)) continue;
      ClientOp& sum = sum_of(result.ops, next, op.op);
      add_op(sum, op);
      const facts::NfsOp* old = before != nullptr ? find_op(*before, i, op.op) : nullptr;
      if (old != nullptr) add_window(sum.window, op, *old);
    }
  }
  for (const ClientOp& op : result.ops) {
    if (!op.upkeep) result.window_ops += op.window.ops;
  }
  result.window_s = index_->wall_s ? index_->wall_s : by_age;
  if (!result.counted) {
    result.no_window = why_unknown(*this, "nfs.mounts[0].ops");
  } else if (!index_->not_comparable.empty()) {
    result.no_window = index_->not_comparable;
  } else if (dropped) {
    result.no_window = "mounted again, or counters reset, between the samples";
  } else {
    result.no_window = "the earlier sample has no such mount";
  }
  if (result.has_window && result.window_s && *result.window_s < min_window_s) {
    result.has_window = false;
    result.no_window =
        fmt::format("the samples are {:.1f} s apart, {:.0f} s are needed", *result.window_s, min_window_s);
  }
  result.no_rate = result.has_window ? "the time between the samples is not known" : result.no_window;
  return index_->numbers.emplace(client, std::move(result)).first->second;
}

// --- where facts come from -----------------------------------------------------------------------------------------

namespace {

struct Origin {
  std::string_view fact;                  // path without indices, prefix
  std::array<std::string_view, 4> names;  // endings of source names, best first
};

constexpr auto origins = std::to_array<Origin>({
    {"nfs.mounts.kubelet", {"kubelet/pods", "kubelet", "", ""}},
    {"nfs.mounts.age_s", {"mountstats", "", "", ""}},
    {"nfs.mounts.bytes", {"mountstats", "", "", ""}},
    {"nfs.mounts.events", {"mountstats", "", "", ""}},
    {"nfs.mounts.ops", {"mountstats", "", "", ""}},
    {"nfs.mounts.lease", {"mountstats", "", "", ""}},
    {"nfs.mounts.sessions", {"mountstats", "", "", ""}},
    {"nfs.mounts.pnfs", {"mountstats", "", "", ""}},
    {"nfs.mounts.impl_id", {"mountstats", "", "", ""}},
    {"nfs.mounts.read_ahead_kib", {"read_ahead_kb", "", "", ""}},
    {"nfs.clients.transport", {"mountstats", "mountinfo", "/mounts", "mount-l"}},
    {"nfs.clients.ops", {"mountstats", "", "", ""}},
    {"nfs.xprt_switches", {"xprt-switches", "", "", ""}},
    {"nfs.identity.unique_id_hash", {"nfs4_unique_id", "", "", ""}},
    {"nfs.identity", {"nfs_client/identifier", "nfs4_unique_id", "", ""}},
    {"nfs", {"mountinfo", "/mounts", "mount-l", "mountstats"}},
    {"mounts", {"mountinfo", "/mounts", "mount-l", "mountstats"}},
    {"network.sockets", {"/proc/1/net/tcp", "/net/tcp", "/net/tcp6", "ss"}},
    {"network.interfaces", {"/sys/class/net", "", "", ""}},
    {"network.paths", {"/net/route", "kernel: route", "", ""}},
    {"network.local_addresses", {"/net/fib_trie", "/net/if_inet6", "", ""}},
    {"network.reserved_ports", {"/net/tcp", "/net/tcp6", "", ""}},
    {"network", {"/net/route", "/net/tcp", "", ""}},
    {"kernel.release", {"osrelease", "uname", "", ""}},
    {"kernel.tasks", {"kernel: tasks", "", "", ""}},
    {"kernel.rpc.recover_lost_locks", {"/sys/module/nfs/parameters", "", "", ""}},
    {"kernel.rpc.max_session_slots", {"/sys/module/nfs/parameters", "", "", ""}},
    {"kernel.rpc.nlm_grace_period_s", {"/proc/sys/fs/nfs", "", "", ""}},
    {"kernel.rpc", {"/proc/sys/sunrpc", "", "", ""}},
    {"kernel.settings", {"/proc/sys/sunrpc", "", "", ""}},
    {"node.daemons", {"kernel: tasks", "", "", ""}},
    {"kernel", {"os-release", "", "", ""}},
    {"log", {"dmesg", "", "", ""}},
    {"node.kubelet", {"kubelet/pods", "kubelet", "", ""}},
    {"node.virt_launcher", {"kubelet/pods", "kubelet", "", ""}},
    {"node.trident", {"trident/tracking", "", "", ""}},
    {"node.boottime_ns", {"uptime", "", "", ""}},
    {"iscsi.initiatorname", {"initiatorname.iscsi", "", "", ""}},
    {"iscsi.iscsid_conf", {"iscsid.conf", "", "", ""}},
    {"iscsi.node_records", {"iscsi/nodes", "nodes", "node-record", ""}},
    {"iscsi.ifaces", {"iscsi/ifaces", "", "", ""}},
    {"iscsi", {"/sys/class/iscsi_session", "iscsi-p3", "iscsi-p1", "iscsi-session"}},
    {"block", {"/sys/block", "sysfs", "iscsi-p3", ""}},
    {"multipath.conf", {"multipath.conf", "", "", ""}},
    {"multipath.settings", {"multipath.conf", "", "", ""}},
    {"multipath.maps.settings", {"multipath.conf", "", "", ""}},
    {"multipath", {"/sys/block", "multipath-json", "multipath-ll", "multipath-v4"}},
    {"config.fstab", {"fstab", "", "", ""}},
    {"config.trident", {"trident/tracking", "", "", ""}},
    {"config.systemd_mounts", {"systemd/system", "", "", ""}},
    {"config.nfsmount_conf", {"nfsmount.conf", "", "", ""}},
});

std::string without_indices(std::string_view path) {
  std::string plain;
  bool inside = false;
  for (const char c : path) {
    if (c == '[') inside = true;
    if (!inside) plain += c;
    if (c == ']') inside = false;
  }
  return plain;
}

std::optional<std::size_t> first_index(std::string_view path) {
  const std::size_t open = path.find('['), close = path.find(']');
  if (open == std::string_view::npos || close == std::string_view::npos) return std::nullopt;
  return base::number<std::size_t>(path.substr(open + 1, close - open - 1));
}

constexpr std::size_t none = static_cast<std::size_t>(-1);
constexpr std::size_t not_looked_for = none - 1;

std::size_t find_row(const std::vector<facts::Source>& rows, const Origin& origin) {
  for (const std::string_view ending : origin.names) {
    if (ending.empty()) break;
    std::size_t best = none;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (!rows[i].name.ends_with(ending)) continue;
      if (best == none || (rows[best].status != "ok" && rows[i].status == "ok")) best = i;
    }
    if (best != none && (rows[best].status == "ok" || origin.names[1].empty())) return best;
  }
  // A text that the user gave bears a name of the user's: the table of mounts is what its probe read first.
  if (origin.names[0] == "mountinfo") {
    const auto given = std::find_if(rows.begin(), rows.end(),
                                    [](const facts::Source& row) { return row.id == "mounts" && row.status == "ok"; });
    if (given != rows.end()) return static_cast<std::size_t>(given - rows.begin());
  }
  // None of them was read well: the row of the first that was tried tells why.
  for (const std::string_view ending : origin.names) {
    if (ending.empty()) break;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (rows[i].name.ends_with(ending)) return i;
    }
  }
  return none;
}

// What was learned from a server by asking has a row named after the server; several questions have several rows.
bool is_asked_of_server(std::string_view plain) {
  constexpr std::string_view prefix = "nfs.servers.";
  if (!plain.starts_with(prefix)) return false;
  const std::string_view name = plain.substr(prefix.size());
  return name != "name" && name != "addr" && name != "port" && name != "mounted";
}

// The questions that bring a fact of a server, the nearest first; one that failed kept the later ones from being asked.
struct Question {
  std::string_view fact;  // below nfs.servers
  std::array<std::string_view, 4> rows;
};

constexpr std::array<Question, 34> questions{{
    {"versions", {"minor_versions", "", "", ""}},
    {"nfs4_minor_max", {"minor_versions", "", "", ""}},
    {"rtmax_bytes", {"fsinfo", "mnt", "mountd", "rpcbind"}},
    {"wtmax_bytes", {"fsinfo", "mnt", "mountd", "rpcbind"}},
    {"maxread_bytes", {"attributes", "minor_versions", "", ""}},
    {"maxwrite_bytes", {"attributes", "minor_versions", "", ""}},
    {"lease_s", {"lease", "minor_versions", "", ""}},
    {"in_grace", {"lockt", "nlm_test", "directory", "readdirplus"}},
    {"nfs4_in_grace", {"lockt", "directory", "minor_versions", ""}},
    {"nlm_in_grace", {"nlm_test", "nlm", "readdirplus", "mnt"}},
    {"nlm_test", {"nlm_test", "nlm", "readdirplus", "mnt"}},
    {"kind", {"exchange_id", "", "", ""}},
    {"owner", {"exchange_id", "minor_versions", "", ""}},
    {"scope", {"exchange_id", "minor_versions", "", ""}},
    {"impl", {"exchange_id", "minor_versions", "", ""}},
    {"pnfs_roles", {"exchange_id", "minor_versions", "", ""}},
    {"same_server", {"exchange_id", "minor_versions", "", ""}},
    {"trunkable", {"exchange_id", "minor_versions", "", ""}},
    {"session", {"create_session", "exchange_id", "minor_versions", ""}},
    {"tls_offered", {"tls", "", "", ""}},
    {"exports.mnt", {"mnt", "mountd", "rpcbind", ""}},
    {"exports.rt", {"fsinfo", "mnt", "mountd", "rpcbind"}},
    {"exports.wt", {"fsinfo", "mnt", "mountd", "rpcbind"}},
    {"exports.dtpref", {"fsinfo", "mnt", "mountd", "rpcbind"}},
    {"exports.link_max", {"pathconf", "mnt", "mountd", "rpcbind"}},
    {"exports.secinfo", {"secinfo", "minor_versions", "", ""}},
    {"exports", {"attributes", "mnt", "mountd", "rpcbind"}},
    {"export_list", {"export_list", "mountd", "rpcbind", ""}},
    {"services.mountd", {"mountd", "rpcbind", "", ""}},
    {"services.nlm", {"nlm", "rpcbind", "", ""}},
    {"services.nsm", {"nsm", "rpcbind", "", ""}},
    {"services.rpcbind", {"rpcbind", "", "", ""}},
    {"path_mtu", {"path_mtu", "", "", ""}},
    {"cleaned_up", {"clean_up", "", "", ""}},
}};

// A server that answers nothing has one reason for everything; else the first question on the way that failed.
const facts::Source* server_row(const Context& context, std::string_view path, std::string_view plain, bool failed) {
  const facts::Facts& facts = context.facts;
  const auto index = first_index(path);
  if (!index || *index >= facts.nfs.servers.size()) return nullptr;
  const facts::NfsServer& server = facts.nfs.servers[*index];
  const std::string host = server.addr.has_value() ? *server.addr : server.name;
  const auto shown = [](const std::string& text) {
    return text.find(':') != std::string::npos ? '[' + text + ']' : text;
  };
  const auto& rows = context.source_rows().by_name;
  const std::string_view fact = plain.substr(std::string_view("nfs.servers.").size());
  std::vector<const facts::Source*> own;
  for (const std::string& wanted : {shown(host), shown(server.name)}) {
    const auto found = rows.find(fmt::format("{}:{}", wanted, server.port));
    if (found == rows.end()) continue;
    for (const std::size_t i : found->second) own.push_back(&facts.sources[i]);
    break;
  }
  if (!failed) return own.empty() ? nullptr : own.front();
  const auto row = [&](std::string_view question) -> const facts::Source* {
    for (const auto* one : own) {
      if (one->status != "ok" && one->id.starts_with("nfs_server.") &&
          std::string_view(one->id).substr(std::string_view("nfs_server.").size()) == question)
        return one;
    }
    return nullptr;
  };
  for (const std::string_view all : {"name", "nfs"}) {
    if (const auto* found = row(all)) return found;
  }
  for (const Question& question : questions) {
    if (!fact.starts_with(question.fact)) continue;
    for (const std::string_view name : question.rows) {
      if (const auto* found = name.empty() ? nullptr : row(name)) return found;
    }
    // All of them were answered, and the answer does not tell.
    const auto answered = std::find_if(own.begin(), own.end(), [](const auto* one) { return one->status == "ok"; });
    if (answered != own.end()) return *answered;
  }
  const auto any = std::find_if(own.begin(), own.end(), [](const auto* one) { return one->status != "ok"; });
  if (any != own.end()) return *any;
  return own.empty() ? nullptr : own.front();
}

std::string row_reason(const facts::Source& row) {
  if (row.status == "ok") return "not told by " + row.name;
  if (row.status == "skipped") return row.detail.empty() ? "not asked" : row.detail;
  std::string reason = row.status;
  if (row.detail.find(row.status) != std::string::npos) {
    reason = row.detail;
  } else if (!row.detail.empty()) {
    reason += row.detail.starts_with("after ") ? " " + row.detail : ": " + row.detail;
  }
  return row.name.find('/') != std::string::npos ? row.name + ": " + reason : reason;
}

const facts::Source* row_of(const Context& context, std::string_view path, std::string_view plain, bool failed) {
  if (is_asked_of_server(plain)) return server_row(context, path, plain, failed);
  if (is_answer_of_target(plain)) return target_answer_row(context, path, plain, failed);
  auto& cache = context.source_rows().by_fact;
  if (cache.empty()) cache.resize(origins.size(), not_looked_for);
  for (std::size_t i = 0; i < origins.size(); ++i) {
    if (!plain.starts_with(origins[i].fact)) continue;
    if (cache[i] == not_looked_for) cache[i] = find_row(context.facts.sources, origins[i]);
    return cache[i] == none ? nullptr : &context.facts.sources[cache[i]];
  }
  return nullptr;
}

// What was asked for has no single source: any file that could name the mount.
std::string why_not_asked(const facts::Facts& facts) {
  for (const std::string_view ending : {"fstab", "trident/tracking", "nfsmount.conf"}) {
    for (const auto& row : facts.sources) {
      if (row.name.ends_with(ending) && row.status != "ok" && row.status != "absent") return row_reason(row);
    }
  }
  return "nothing that was read names this mount";
}

}  // namespace

Context::SourceRows& Context::source_rows() const {
  SourceRows& rows = index_->source_rows;
  if (!index_->has_source_rows) {
    index_->has_source_rows = true;
    for (std::size_t i = 0; i < facts.sources.size(); ++i) {
      const std::string& name = facts.sources[i].name;
      rows.by_name[name.substr(0, name.find(' '))].push_back(i);
    }
    rows.why_not_asked = why_not_asked(facts);
  }
  return rows;
}

std::string source_of(const Context& context, std::string_view path) {
  const std::string plain = without_indices(path);
  if (plain.starts_with("nfs.mounts.asked")) {
    const auto index = first_index(path);
    if (index && *index < context.facts.nfs.mounts.size()) {
      const auto& asked = context.facts.nfs.mounts[*index].asked;
      if (asked.has_value()) return asked->path;
    }
    return "";
  }
  if (plain.starts_with("log.")) {
    const auto index = first_index(path);
    const facts::Log& log = context.facts.log;
    if (index && plain.starts_with("log.messages") && log.messages.has_value() && *index < log.messages->size())
      return fmt::format("{}:{}", (*log.messages)[*index].source, (*log.messages)[*index].line);
    if (index && plain.starts_with("log.mount_attempts") && *index < log.mount_attempts.size())
      return fmt::format("{}:{}", log.mount_attempts[*index].source, log.mount_attempts[*index].line);
    if (index && plain.starts_with("log.grace_periods") && *index < log.grace_periods.size())
      return fmt::format("{}:{}", log.grace_periods[*index].source, log.grace_periods[*index].line);
  }
  const facts::Source* row = row_of(context, path, plain, false);
  return row != nullptr ? row->name : "";
}

std::string why_unknown(const Context& context, std::string_view path) {
  const std::string plain = without_indices(path);
  if (plain.starts_with("nfs.mounts.asked")) return context.source_rows().why_not_asked;
  const facts::Source* row = row_of(context, path, plain, true);
  if (plain == "nfs.servers.grace_s" && row != nullptr && row->id != "nfs_server.nfs" && row->id != "nfs_server.name")
    return "no protocol names it; probe --follow-grace sees it at a restart";
  if (row != nullptr) return row_reason(*row);
  if (is_asked_of_server(plain)) return context.facts.node.live ? "not asked" : "not asked (passive)";
  if (is_answer_of_target(plain)) {
    const bool connect = plain.starts_with("iscsi.portals.") && !plain.starts_with("iscsi.portals.logins");
    if (!connect) return "not asked, --login asks targets";
    return context.facts.node.live ? "not asked" : "not asked (passive)";
  }
  return "not read";
}

facts::Value missing_fact(const Context& context, std::string_view path) {
  if (!context.wants_reasons()) return Unknown{};
  return Unknown{fmt::format("needs {}: {}", path, why_unknown(context, path))};
}

facts::Value missing_fact(const Context& context, std::string_view list, std::uint32_t index, std::string_view name) {
  if (!context.wants_reasons()) return Unknown{};
  return missing_fact(context, fmt::format("{}[{}].{}", list, index, name));
}

}  // namespace audit
