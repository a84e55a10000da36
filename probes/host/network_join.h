// What the network probe puts together: servers of the mounts, connections to them, and the way there.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "audit/facts/network.h"
#include "audit/facts/nfs.h"
#include "probes/host/kernel_address.h"
#include "probes/host/net_tcp.h"
#include "probes/host/routes.h"

namespace probes {

struct ServerPort {
  Address address;
  std::uint32_t port = 0;
  bool tcp = true;  // false: UDP or RDMA, which have a path but no TCP connection
};
// Of all clients whose address is known, each once, in their order.
std::vector<ServerPort> server_ports(const facts::Nfs& nfs);

// Connections whose other end is one of the servers.
std::vector<facts::NetSocket> sockets_of(const std::vector<facts::NetSocket>& sockets,
                                         const std::vector<ServerPort>& servers);
// The rows that lead to a server. What sock_diag told of the very same connection (both ends and the inode) is added:
// the numbers of another namespace can never be taken for the node's.
std::vector<facts::NetSocket> join_sockets(const std::vector<TcpRow>& rows, const std::vector<facts::NetSocket>& told,
                                           const std::vector<ServerPort>& servers);
// Different local ports within low..high.
std::uint32_t count_ports(const std::vector<TcpRow>& rows, std::uint32_t low, std::uint32_t high);

struct RouteTables {
  std::optional<std::vector<Route>> ipv4;  // nothing: could not be read
  std::optional<std::vector<Route>> ipv6;
  std::optional<std::vector<Address>> local;
};
using InterfaceNames = std::map<std::uint32_t, std::string>;  // by index
facts::NetPath path_of_tables(const std::string& address, const RouteTables& tables, const InterfaceNames& names);
// `answer` is nothing when the kernel said that there is no route.
facts::NetPath path_of_answer(const std::string& address, const std::optional<RouteAnswer>& answer,
                              const InterfaceNames& names);
// Interfaces below the one of each path, least MTU and speed; source addresses from connections where the route did not
// tell; marks the interfaces.
void finish_paths(std::vector<facts::NetPath>& paths, std::vector<facts::NetInterface>& interfaces,
                  const std::vector<facts::NetSocket>& sockets);

// A file of the bonding driver among the directories of /sys/class/net.
inline constexpr std::string_view bonding_masters = "bonding_masters";

// The names of both are equal: /sys and /proc show one namespace. An interface that came or went meanwhile is one
// difference at most.
bool same_names(const std::vector<std::string>& names, const std::vector<facts::NetInterface>& interfaces);

// A node with many pods has a pair of virtual interfaces for each; only those that carry a path are kept.
std::vector<facts::NetInterface> without_pod_pairs(std::vector<facts::NetInterface> interfaces);

}  // namespace probes
