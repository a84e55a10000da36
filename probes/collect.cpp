#include "probes/collect.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include "probes/host/asked.h"
#include "probes/host/declared.h"
#include "probes/host/kubelet.h"
#include "probes/probe.h"

namespace probes {

namespace {

// What changes all the time, as opposed to what an interface is.
void copy_counters(const facts::NetInterface& from, facts::NetInterface& to) {
  to.rx_bytes = from.rx_bytes;
  to.tx_bytes = from.tx_bytes;
  to.rx_packets = from.rx_packets;
  to.tx_packets = from.tx_packets;
  to.rx_errors = from.rx_errors;
  to.tx_errors = from.tx_errors;
  to.rx_dropped = from.rx_dropped;
  to.tx_dropped = from.tx_dropped;
}

void take_connections(const facts::Network& fresh, facts::Network& network) {
  if (!fresh.sockets.is_unknown()) network.sockets = fresh.sockets;
  if (fresh.reserved_ports_used_count.has_value()) network.reserved_ports_used_count = fresh.reserved_ports_used_count;
  if (!network.interfaces.has_value() || !fresh.interfaces.has_value()) return;
  std::map<std::string_view, const facts::NetInterface*> by_name;
  for (const facts::NetInterface& interface : *fresh.interfaces) by_name.emplace(interface.name, &interface);
  for (facts::NetInterface& interface : *network.interfaces)
    if (const auto found = by_name.find(interface.name); found != by_name.end())
      copy_counters(*found->second, interface);
}

void keep_read_ahead(const std::vector<facts::NfsMount>& from, std::vector<facts::NfsMount>& to) {
  std::map<std::string_view, facts::Fact<std::uint64_t>> by_bdi;
  for (const facts::NfsMount& mount : from)
    if (mount.bdi.has_value()) by_bdi.emplace(*mount.bdi, mount.read_ahead_kib);
  for (facts::NfsMount& mount : to)
    if (mount.bdi.has_value())
      if (const auto found = by_bdi.find(*mount.bdi); found != by_bdi.end()) mount.read_ahead_kib = found->second;
}

// The old sample as it stands in `earlier`: who was counted, when, and the counters.
facts::Facts counters_of(const facts::Facts& full) {
  facts::Facts sample;
  sample.node.name = full.node.name;
  sample.node.root = full.node.root;
  sample.node.live = full.node.live;
  sample.node.view = full.node.view;
  sample.node.boot_id = full.node.boot_id;
  sample.node.collected_at = full.node.collected_at;
  sample.node.boottime_ns = full.node.boottime_ns;
  for (const facts::NfsMount& mount : full.nfs.mounts) {
    facts::NfsMount& kept = sample.nfs.mounts.emplace_back();
    kept.target = mount.target;
    kept.source = mount.source;
    kept.fs_type = mount.fs_type;
    kept.client_id = mount.client_id;
    kept.bdi = mount.bdi;
    kept.same_as = mount.same_as;
    kept.vers = mount.vers;
    kept.age_s = mount.age_s;
    kept.bytes = mount.bytes;
    kept.events = mount.events;
    kept.ops = mount.ops;
    kept.lease_expired_s = mount.lease_expired_s;
  }
  sample.nfs.clients = full.nfs.clients;
  sample.network.sockets = full.network.sockets;
  if (full.network.interfaces.has_value()) {
    std::vector<facts::NetInterface> interfaces;
    for (const facts::NetInterface& interface : *full.network.interfaces) {
      interfaces.emplace_back().name = interface.name;
      copy_counters(interface, interfaces.back());
    }
    sample.network.interfaces = std::move(interfaces);
  }
  return sample;
}

// What the counters of a sample need: time, identity, mounts.
facts::Facts read_sample(const Host& host, const std::string& node_name) {
  facts::Facts sample;
  sample.node.name = node_name;
  sample.node.root = host.root();
  sample.node.live = host.live();
  Reading reading(host, sample);
  reading.set_probe("mounts");
  read_mounts(reading);
  reading.set_probe("network");
  read_connections(reading);
  return sample;
}

bool counted(const facts::Facts& sample) {
  return std::any_of(sample.nfs.mounts.begin(), sample.nfs.mounts.end(),
                     [](const facts::NfsMount& mount) { return mount.age_s.has_value() || !mount.ops.empty(); });
}

}  // namespace

facts::Facts collect(const Host& host, const CollectOptions& options) {
  facts::Facts facts;
  facts.node.root = host.root();
  facts.node.live = host.live();
  facts.declared = options.declared;
  Reading reading(host, facts);
  for (const Probe& probe : passive_probes()) {
    reading.set_probe(probe.id);
    probe.run(reading);
  }
  if (!options.node_name.empty())
    facts.node.name = options.node_name;
  else if (host.node_name().has_value())
    facts.node.name = *host.node_name();
  for (facts::Source& row : host.own_rows()) facts.sources.push_back(std::move(row));
  if (const auto before = host.earlier()) {
    facts::Facts old = read_sample(*before, facts.node.name);
    old.node.boot_id = facts.node.boot_id;  // one capture, one boot
    if (counted(old)) facts.earlier = counters_of(old);
  }
  return facts;
}

bool take_second_sample(const Host& host, facts::Facts& facts) {
  facts::Facts fresh = read_sample(host, facts.node.name);
  if (!counted(fresh)) {
    // Nothing was counted in the first sample either (no NFS mounts): there is nothing to compare or to say.
    if (!counted(facts)) return false;
    for (facts::Source& row : fresh.sources) {
      if (row.status == "ok") continue;
      row.detail += (row.detail.empty() ? "" : ": ") + std::string("no second sample, so no rates");
      facts.sources.push_back(std::move(row));
    }
    return false;
  }
  if (!facts.earlier) facts.earlier = counters_of(facts);

  // Everything that hangs on a mount point without being part of its counters stays with it.
  std::vector<facts::NfsMount> old = std::move(facts.nfs.mounts);
  std::vector<facts::NfsServer> servers = std::move(facts.nfs.servers);
  facts.nfs.mounts = std::move(fresh.nfs.mounts);
  facts.nfs.clients = std::move(fresh.nfs.clients);
  facts.nfs.servers = std::move(fresh.nfs.servers);
  using Key = std::tuple<std::string, std::string, bool, std::uint32_t>;
  const auto key = [](const facts::NfsServer& server) {
    return Key(server.name, server.addr.value_or(""), server.addr.has_value(), server.port);
  };
  std::map<Key, const facts::NfsServer*> by_key;
  for (const facts::NfsServer& known : servers) by_key.insert_or_assign(key(known), &known);
  for (facts::NfsServer& server : facts.nfs.servers)  // what was asked of it in between
    if (const auto known = by_key.find(key(server)); known != by_key.end()) server = *known->second;
  for (facts::NfsServer& known : servers)
    if (!known.mounted) facts.nfs.servers.push_back(std::move(known));
  facts.mounts = std::move(fresh.mounts);
  take_connections(fresh.network, facts.network);
  facts.node.boottime_ns = fresh.node.boottime_ns;
  facts.node.collected_at = fresh.node.collected_at;
  // Read before, and said then.
  std::erase_if(fresh.sources, [&](const facts::Source& row) {
    return row.id == "network" &&
           std::any_of(facts.sources.begin(), facts.sources.end(),
                       [&](const facts::Source& old_row) { return old_row.id == row.id && old_row.name == row.name; });
  });
  // Rows stand where those of the first sample stood, as in a replay.
  const auto is_old = [](const facts::Source& row) { return row.id == "mounts"; };
  const auto place = std::find_if(facts.sources.begin(), facts.sources.end(), is_old) - facts.sources.begin();
  std::erase_if(facts.sources, is_old);
  facts.sources.insert(facts.sources.begin() + place, std::make_move_iterator(fresh.sources.begin()),
                       std::make_move_iterator(fresh.sources.end()));
  Reading reading(host, facts);
  reading.set_probe("kubelet");
  carry_over(old, facts.nfs.mounts);
  keep_read_ahead(old, facts.nfs.mounts);
  join_asked(reading);
  return true;
}

void use_declared(facts::Facts& facts, facts::Declared declared) {
  add_declared(facts.declared, std::move(declared));
  join_declared(facts);
}

void use_since(facts::Facts& facts, const facts::Facts& old, const std::string& name) {
  facts::Source row{"since", name, "ok", "", {}};
  const auto refuse = [&](std::string why) {
    row.status = "refused";
    row.detail = std::move(why);
  };
  const facts::Fact<std::string>& boot = facts.node.boot_id;
  const facts::Fact<std::string>& old_boot = old.node.boot_id;
  // The name of texts given alone is that of the file, and tells nothing of the node.
  const bool named = facts.node.root != "(input)" && old.node.root != "(input)";
  if (named && old.node.name != facts.node.name)
    refuse("is of the node " + old.node.name + ", not of " + facts.node.name + ": not used");
  else if (boot.has_value() && old_boot.has_value() && *boot != *old_boot)
    refuse("is from before a reboot: its counters ended there; not used");
  else if (!counted(old))
    refuse("holds no NFS counters: not used");
  else if (facts.node.boottime_ns.has_value() && old.node.boottime_ns.has_value() &&
           *old.node.boottime_ns >= *facts.node.boottime_ns)
    refuse("is not earlier than this sample: not used");
  else
    facts.earlier = counters_of(old);
  facts.sources.push_back(std::move(row));
}

}  // namespace probes
