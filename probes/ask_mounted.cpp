#include "probes/ask_mounted.h"

#include <algorithm>
#include <iterator>
#include <unordered_map>
#include <utility>

#include "audit/base/lists.h"
#include "probes/ask_portals.h"
#include "probes/host/address.h"
#include "probes/wire/address.h"

namespace probes {

namespace {

bool is_wire_row(const facts::Source& row) {
  return row.id.starts_with("nfs_server") || row.id.starts_with("iscsi_target") || row.id == "touch" ||
         row.id == "names";
}

std::string key_of(const std::string& addr, std::uint32_t port) { return host_port(addr, port); }

// What the mounts told about the server and its own answer lacks.
void keep_what_is_known(facts::NfsServer& answer, const facts::NfsServer& known) {
  answer.name = known.name;
  answer.mounted = known.mounted || answer.mounted;
  if (!answer.kind.has_value()) {
    answer.kind = known.kind;
    answer.kind_how = known.kind_how;
  }
  if (!answer.lease_s.has_value()) answer.lease_s = known.lease_s;
}

// The entry that an answer belongs to. A server whose port is not printed may answer at one that rpcbind named.
facts::NfsServer* entry_of(facts::Facts& facts, const facts::NfsServer& answer) {
  facts::NfsServer* of_address = nullptr;
  int count = 0;
  for (auto& server : facts.nfs.servers) {
    if (!server.addr.has_value() || !answer.addr.has_value() || !same_address(*server.addr, *answer.addr)) continue;
    if (server.port == answer.port) return &server;
    of_address = &server;
    ++count;
  }
  return count == 1 ? of_address : nullptr;
}

// The id of the entry, by which the rows of its questions are found.
std::string place(facts::Facts& facts, facts::NfsServer answer) {
  facts::NfsServer* entry = entry_of(facts, answer);
  if (entry == nullptr) {
    facts.nfs.servers.push_back(std::move(answer));
    entry = &facts.nfs.servers.back();
  } else {
    keep_what_is_known(answer, *entry);
    answer.addr = entry->addr;
    answer.port = entry->port;  // the key by which mounts find their server
    *entry = std::move(answer);
  }
  return key_of(entry->addr.value_or(entry->name), entry->port);
}

// Another network namespace has other addresses, routes and firewall rules. What was refused there says nothing of the
// node; what the server itself said stays.
void ask_was_foreign(wire::NfsAnswer& answer) {
  for (auto& service : answer.server.services) {
    const bool told = service.result.is("not_registered") || service.result.is("program_unavailable") ||
                      service.result.is("version_mismatch");
    if (service.reachable.is(false) && !told) service.reachable = {};
  }
  const std::string from = answer.server.asked_from.has_value() ? "from " + *answer.server.asked_from + ", " : "";
  for (auto& row : answer.sources) {
    if (row.status != "ok")
      row.detail += " (asked " + from + "in another network namespace than the node's: says nothing of the node)";
  }
}

}  // namespace

std::vector<wire::NfsTarget> targets_of(const facts::Facts& facts) {
  std::vector<wire::NfsTarget> targets;
  std::unordered_map<std::string, std::size_t> by_key;
  for (const auto& server : facts.nfs.servers) {
    if (!server.addr.has_value() || !by_key.try_emplace(key_of(*server.addr, server.port), targets.size()).second)
      continue;
    wire::NfsTarget target;
    target.name = server.name;
    target.addr = *server.addr;
    target.port = static_cast<std::uint16_t>(server.port);
    target.mounted = true;
    target.nlm_in_use = false;
    targets.push_back(std::move(target));
  }
  for (const auto& mount : facts.nfs.mounts) {
    if (!mount.addr.has_value()) continue;
    const auto found = by_key.find(key_of(*mount.addr, mount.port.value_or(2049)));
    if (found == by_key.end()) continue;
    wire::NfsTarget& target = targets[found->second];
    target.port_given = target.port_given || mount.port.has_value();
    if (mount.export_path.has_value()) base::add_once(target.exports, *mount.export_path);
    if (mount.vers.has_value()) base::add_once(target.versions_in_use, *mount.vers);
    const bool local = mount.nolock.is(true) || mount.local_lock.is("all");
    if (mount.vers.is("3") && !local) target.nlm_in_use = true;
    if (mount.mount_port.has_value()) target.mountd_port = static_cast<std::uint16_t>(*mount.mount_port);
  }
  return targets;
}

std::vector<std::string> names_of(const facts::Facts& facts) {
  constexpr std::size_t most = 64;
  std::vector<std::string> names;
  for (const auto& mount : facts.nfs.mounts) {
    if (names.size() == most) break;
    const bool shares = mount.vers.is("4.1") || mount.vers.is("4.2");
    if (!shares || !mount.server_name.has_value() || mount.server_name->empty()) continue;
    if (!wire::parse_address(*mount.server_name, 2049)) base::add_once(names, *mount.server_name);
  }
  return names;
}

void join_names(facts::Facts& facts, const std::vector<wire::LookedUp>& names) {
  std::vector<facts::NetName> known;
  for (const auto& one : names) {
    facts::NetName& name = known.emplace_back();
    name.name = one.name;
    if (one.addrs) {
      name.addrs = *one.addrs;
    } else {
      if (one.addrs.error().kind == base::ErrorKind::absent)
        name.addrs = facts::Fact<std::vector<std::string>>::absent();
      facts.sources.push_back(
          {"names", "resolver", base::status_word(one.addrs.error().kind), base::to_text(one.addrs.error()), {}});
    }
  }
  if (!known.empty()) facts.network.names = std::move(known);
}

void join_answers(facts::Facts& facts, std::vector<wire::NfsAnswer> answers) {
  const bool foreign = facts.network.same_namespace.is(false);
  for (auto& answer : answers) {
    if (foreign) ask_was_foreign(answer);
    const std::string id = place(facts, std::move(answer.server));
    for (auto& row : answer.sources) row.name = id;
    facts.sources.insert(facts.sources.end(), std::make_move_iterator(answer.sources.begin()),
                         std::make_move_iterator(answer.sources.end()));
  }
}

facts::Facts answers_of(const facts::Facts& facts) {
  facts::Facts out;
  out.node.name = facts.node.name;
  out.node.root = facts.node.root;
  out.nfs.servers = facts.nfs.servers;
  out.network.names = facts.network.names;
  copy_iscsi_answers(facts, out);
  for (const auto& client : facts.nfs.clients) {
    if (!client.touch.has_value()) continue;
    out.nfs.clients.emplace_back().id = client.id;
    out.nfs.clients.back().touch = client.touch;
  }
  std::copy_if(facts.sources.begin(), facts.sources.end(), std::back_inserter(out.sources), is_wire_row);
  return out;
}

void join_saved_answers(facts::Facts& facts, facts::Facts saved) {
  join_saved_iscsi_answers(facts, saved);
  for (auto& server : saved.nfs.servers) place(facts, std::move(server));
  if (saved.network.names.has_value()) facts.network.names = std::move(saved.network.names);
  for (const auto& touched : saved.nfs.clients) {
    for (auto& client : facts.nfs.clients) {
      if (client.id == touched.id) client.touch = touched.touch;
    }
  }
  std::copy_if(std::make_move_iterator(saved.sources.begin()), std::make_move_iterator(saved.sources.end()),
               std::back_inserter(facts.sources), is_wire_row);
}

}  // namespace probes
