#include "probes/host/network_join.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "audit/base/text.h"

namespace probes {

using facts::Fact;

std::vector<ServerPort> server_ports(const facts::Nfs& nfs) {
  std::vector<ServerPort> servers;
  for (const auto& client : nfs.clients) {
    if (!client.addr.has_value()) continue;
    const auto address = parse_address(*client.addr);
    if (!address) continue;
    const bool tcp = !client.proto.has_value() || client.proto->starts_with("tcp");
    const auto same = [&](const ServerPort& s) {
      return s.address == *address && s.port == client.port && s.tcp == tcp;
    };
    if (std::none_of(servers.begin(), servers.end(), same)) servers.push_back({*address, client.port, tcp});
  }
  return servers;
}

namespace {

using Bytes = std::array<std::uint8_t, 16>;

// Zones are left out: sockets are listed without.
std::set<std::pair<Bytes, std::uint32_t>> peers_of(const std::vector<ServerPort>& servers) {
  std::set<std::pair<Bytes, std::uint32_t>> peers;
  for (const auto& server : servers) {
    if (server.tcp) peers.emplace(server.address.bytes, server.port);
  }
  return peers;
}

}  // namespace

std::vector<facts::NetSocket> sockets_of(const std::vector<facts::NetSocket>& sockets,
                                         const std::vector<ServerPort>& servers) {
  const auto peers = peers_of(servers);
  std::vector<facts::NetSocket> ours;
  for (const auto& socket : sockets) {
    const auto address = parse_address(socket.peer_addr);
    if (address && peers.contains({address->bytes, socket.peer_port})) ours.push_back(socket);
  }
  return ours;
}

std::vector<facts::NetSocket> join_sockets(const std::vector<TcpRow>& rows, const std::vector<facts::NetSocket>& told,
                                           const std::vector<ServerPort>& servers) {
  using Key = std::tuple<std::string, std::uint32_t, std::string, std::uint32_t, std::uint64_t>;
  const auto key_of = [](const facts::NetSocket& s) {
    return Key{s.local_addr, s.local_port, s.peer_addr, s.peer_port, s.inode.value_or(0)};
  };
  std::map<Key, const facts::NetSocket*> by_key;
  for (const auto& socket : told) by_key.emplace(key_of(socket), &socket);
  const auto peers = peers_of(servers);
  std::vector<facts::NetSocket> sockets;
  for (const auto& row : rows) {
    if (!peers.contains({row.peer.bytes, row.peer_port})) continue;
    auto socket = socket_of(row);
    if (const auto found = by_key.find(key_of(socket)); found != by_key.end()) socket = *found->second;
    sockets.push_back(std::move(socket));
  }
  return sockets;
}

std::uint32_t count_ports(const std::vector<TcpRow>& rows, std::uint32_t low, std::uint32_t high) {
  std::set<std::uint16_t> ports;
  for (const auto& row : rows) {
    if (row.local_port >= low && row.local_port <= high) ports.insert(row.local_port);
  }
  return static_cast<std::uint32_t>(ports.size());
}

namespace {

// The kernel prints the zone of a link-local address as a number.
std::string zone_name(const std::string& zone, const InterfaceNames& names) {
  const auto index = base::number<std::uint32_t>(zone);
  if (!index) return zone;
  const auto found = names.find(*index);
  return found == names.end() ? std::string() : found->second;
}

void no_route(facts::NetPath& path) {
  path.interface = Fact<std::string>::absent();
  path.gateway = Fact<std::string>::absent();
  path.source_addr = Fact<std::string>::absent();
}

}  // namespace

facts::NetPath path_of_tables(const std::string& text, const RouteTables& tables, const InterfaceNames& names) {
  facts::NetPath path;
  path.addr = text;
  path.how = "route tables";
  auto address = parse_address(text);
  if (!address) return path;
  address->zone = address->zone.empty() ? address->zone : zone_name(address->zone, names);
  if (tables.local) {
    path.local =
        is_loopback(*address) || std::any_of(tables.local->begin(), tables.local->end(), [&](const Address& a) {
          return a.bytes == address->bytes && (a.zone.empty() || address->zone.empty() || a.zone == address->zone);
        });
    if (path.local.is(true)) {
      path.interface = "lo";
      path.gateway = Fact<std::string>::absent();
      path.on_link = true;
      path.source_addr = text;
      return path;
    }
  }
  const auto& routes = is_ipv4(*address) ? tables.ipv4 : tables.ipv6;
  if (!routes) return path;
  const Route* route = route_to(*address, *routes);
  if (route == nullptr) {
    no_route(path);
    return path;
  }
  path.interface = route->interface;
  path.on_link = !route->gateway.has_value();
  path.gateway = route->gateway ? Fact<std::string>(text_of(*route->gateway)) : Fact<std::string>::absent();
  return path;
}

facts::NetPath path_of_answer(const std::string& text, const std::optional<RouteAnswer>& answer,
                              const InterfaceNames& names) {
  facts::NetPath path;
  path.addr = text;
  path.how = "rtnetlink";
  if (!answer || !answer->reachable) {
    path.local = false;
    no_route(path);
    return path;
  }
  path.local = answer->local;
  if (const auto found = names.find(answer->oif); found != names.end()) path.interface = found->second;
  path.on_link = !answer->gateway.has_value();
  path.gateway = answer->gateway ? Fact<std::string>(text_of(*answer->gateway)) : Fact<std::string>::absent();
  if (answer->source) path.source_addr = text_of(*answer->source);
  if (answer->mtu != 0) path.mtu = answer->mtu;
  return path;
}

void finish_paths(std::vector<facts::NetPath>& paths, std::vector<facts::NetInterface>& interfaces,
                  const std::vector<facts::NetSocket>& sockets) {
  std::map<std::string, facts::NetInterface*> by_name;
  for (auto& interface : interfaces) by_name.emplace(interface.name, &interface);
  for (auto& path : paths) {
    if (path.source_addr.is_unknown()) {
      for (const auto& socket : sockets) {
        if (same_address(socket.peer_addr, path.addr)) path.source_addr = socket.local_addr;
      }
    }
    if (!path.interface.has_value()) continue;
    path.interfaces = {*path.interface};
    bool speeds_known = true;
    for (std::size_t i = 0; i < path.interfaces.size(); ++i) {
      const auto found = by_name.find(path.interfaces[i]);
      if (found == by_name.end()) {
        speeds_known = false;
        continue;
      }
      auto& interface = *found->second;
      interface.carries_nfs = true;
      if (interface.mtu.has_value() && (!path.mtu.has_value() || *interface.mtu < *path.mtu)) path.mtu = *interface.mtu;
      // A bond's own speed is the sum of its members; one connection gets that of one.
      if (interface.lower.empty()) {
        if (interface.speed_mbps.is_unknown()) speeds_known = false;
        if (interface.speed_mbps.has_value() &&
            (!path.speed_mbps.has_value() || *interface.speed_mbps < *path.speed_mbps))
          path.speed_mbps = *interface.speed_mbps;
      }
      for (const auto& lower : interface.lower) {
        if (std::find(path.interfaces.begin(), path.interfaces.end(), lower) == path.interfaces.end())
          path.interfaces.push_back(lower);
      }
    }
    if (speeds_known && path.speed_mbps.is_unknown()) path.speed_mbps = Fact<std::uint32_t>::absent();
  }
}

bool same_names(const std::vector<std::string>& names, const std::vector<facts::NetInterface>& interfaces) {
  std::set<std::string> ours(names.begin(), names.end());
  ours.erase(std::string(bonding_masters));
  std::set<std::string> theirs;
  for (const auto& interface : interfaces) theirs.insert(interface.name);
  std::vector<std::string> different;
  std::set_symmetric_difference(ours.begin(), ours.end(), theirs.begin(), theirs.end(), std::back_inserter(different));
  return different.size() <= 1;
}

std::vector<facts::NetInterface> without_pod_pairs(std::vector<facts::NetInterface> interfaces) {
  std::erase_if(interfaces, [](const facts::NetInterface& i) { return i.kind.is("veth") && !i.carries_nfs; });
  return interfaces;
}

}  // namespace probes
