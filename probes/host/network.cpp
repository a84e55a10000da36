// The network as far as it carries NFS: which interface leads to each server, and the connections of the mounts.
// Everything is read of pid 1's network namespace; what netlink tells of ours is used only where it fits that.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "audit/base/text.h"
#include "probes/budget.h"
#include "probes/host/interfaces.h"
#include "probes/host/net_tcp.h"
#include "probes/host/network_join.h"
#include "probes/host/routes.h"
#include "probes/probe.h"

namespace probes {

namespace {

using facts::Fact;

constexpr std::string_view own_net = "/proc/self/ns/net";
constexpr std::string_view node_net = "/proc/1/ns/net";

// The links of /proc/PID/ns need the right to trace pid 1. Where that is missing the addresses tell: different ones are
// those of two namespaces; equal ones show one namespace as soon as there are any but the loopback's.
Fact<bool> same_namespace(const Host& host) {
  const auto ours = host.link(own_net);
  const auto theirs = host.link(node_net);
  if (ours && theirs) return *ours == *theirs;
  bool own_address = false;
  for (const std::string table : {"/net/fib_trie", "/net/if_inet6"}) {
    const auto own = host.read("/proc/self" + table);
    const auto node = host.read("/proc/1" + table);
    if (!own || !node) continue;
    const auto addresses = [&](const std::string& text) {
      return table == "/net/fib_trie" ? parse_fib_trie(text).facts : parse_if_inet6(text).facts;
    };
    const auto own_addresses = addresses(*own);
    if (own_addresses != addresses(*node)) return false;
    for (const auto& address : own_addresses) own_address = own_address || !is_loopback(address);
  }
  return own_address ? Fact<bool>(true) : Fact<bool>();
}

template <class T, class Parse>
Fact<T> read_and_parse(Reading& reading, std::string_view path, Parse parse) {
  const auto text = reading.file(path);
  if (!text) return text.error().kind == base::ErrorKind::absent ? Fact<T>::absent() : Fact<T>();
  auto parsed = parse(*text);
  reading.note(parsed.notes);
  return std::move(parsed.facts);
}

// Names whose speed and counters matter: those of the paths, with what is below and above them, and every other
// interface but the many pairs that lead into pods.
std::vector<facts::NetInterface> read_interfaces(Reading& reading, const std::vector<std::string>& names) {
  std::vector<facts::NetInterface> interfaces;
  auto budget = Budget::of(reading.host(), std::chrono::milliseconds(400), 4096);
  for (const auto& name : names) {
    if (name == bonding_masters) continue;
    if (!budget.take()) break;
    interfaces.push_back(read_interface(reading.host(), name));
  }
  if (budget.spent()) reading.note({{0, budget.why("interfaces"), true}});
  return interfaces;
}

void read_sockets(Reading& reading, const std::vector<ServerPort>& servers) {
  auto& network = reading.facts().network;
  const auto rows4 = read_and_parse<std::vector<TcpRow>>(reading, "/proc/1/net/tcp", parse_net_tcp);
  const auto rows6 = read_and_parse<std::vector<TcpRow>>(reading, "/proc/1/net/tcp6", parse_net_tcp);
  std::vector<TcpRow> rows = rows4.value_or({});
  const auto more = rows6.value_or({});
  rows.insert(rows.end(), more.begin(), more.end());
  const bool listed = rows4.has_value();

  if (listed) {
    const auto& rpc = reading.facts().kernel.rpc;
    const auto low = rpc.min_resvport.value_or(665);
    const auto high = rpc.max_resvport.value_or(1023);
    if (low <= high) {
      network.reserved_ports_total_count = high - low + 1;
      network.reserved_ports_used_count = count_ports(rows, low, high);
    }
  }

  std::set<std::uint32_t> ports;
  for (const auto& server : servers) ports.insert(server.port);
  std::vector<facts::NetSocket> told;
  bool asked = false;
  for (const auto port : ports) {
    const auto text = reading.answer(fmt::format("tcp-sockets {}", port));
    if (!text) continue;
    asked = true;
    auto parsed = parse_sock_diag(*text);
    reading.note(parsed.notes);
    told.insert(told.end(), std::make_move_iterator(parsed.facts.begin()), std::make_move_iterator(parsed.facts.end()));
  }
  if (listed)
    network.sockets = join_sockets(rows, told, servers);
  else if (asked && network.same_namespace.is(true))
    network.sockets = sockets_of(told, servers);
  else if (servers.empty())
    network.sockets = std::vector<facts::NetSocket>{};
}

}  // namespace

void read_connections(Reading& reading) {
  auto& network = reading.facts().network;
  network.same_namespace = same_namespace(reading.host());
  read_sockets(reading, server_ports(reading.facts().nfs));
  network.interfaces = read_and_parse<std::vector<facts::NetInterface>>(reading, "/proc/1/net/dev", parse_net_dev);
}

void read_network(Reading& reading) {
  auto& network = reading.facts().network;
  network.same_namespace = same_namespace(reading.host());

  const auto servers = server_ports(reading.facts().nfs);
  RouteTables tables;
  if (const auto routes = read_and_parse<std::vector<Route>>(reading, "/proc/1/net/route", parse_route);
      !routes.is_unknown())
    tables.ipv4 = routes.value_or({});
  if (network.same_namespace.is(false))
    reading.last_row().detail +=
        "this program runs in another network namespace than the node: routes and "
        "connections are those of the node as its pid 1 shows them";
  if (const auto routes = read_and_parse<std::vector<Route>>(reading, "/proc/1/net/ipv6_route", parse_ipv6_route);
      !routes.is_unknown())
    tables.ipv6 = routes.value_or({});

  const auto local4 = read_and_parse<std::vector<Address>>(reading, "/proc/1/net/fib_trie", parse_fib_trie);
  const auto local6 = read_and_parse<std::vector<Address>>(reading, "/proc/1/net/if_inet6", parse_if_inet6);
  if (local4.has_value()) {
    std::vector<Address> all = *local4;
    const auto more = local6.value_or({});
    all.insert(all.end(), more.begin(), more.end());
    std::vector<std::string> texts;
    for (const auto& address : all) texts.push_back(text_of(address));
    network.local_addresses = std::move(texts);
    tables.local = std::move(all);
  }

  const auto counters = read_and_parse<std::vector<facts::NetInterface>>(reading, "/proc/1/net/dev", parse_net_dev);
  const auto names = reading.list("/sys/class/net");
  std::vector<facts::NetInterface> interfaces;
  if (names && (!counters.has_value() || same_names(*names, *counters))) {
    interfaces = read_interfaces(reading, *names);
  } else if (counters.has_value()) {
    if (names)
      reading.last_row().detail =
          "shows another network namespace than the node's: only names and counters of its "
          "interfaces are known";
    interfaces = *counters;
  }
  const bool have_interfaces = names || counters.has_value();

  std::map<std::uint32_t, std::string> by_index;
  if (names) {
    for (const auto& interface : interfaces) {
      const auto text = reading.host().read("/sys/class/net/" + interface.name + "/ifindex");
      if (!text) continue;
      if (const auto index = base::number<std::uint32_t>(base::trim(*text))) by_index.emplace(*index, interface.name);
    }
  }

  std::set<std::string> addresses;
  for (const auto& server : servers) addresses.insert(text_of(server.address));
  std::vector<facts::NetPath> paths;
  auto budget = Budget::of(reading.host(), std::chrono::milliseconds(300), 1024);
  for (const auto& address : addresses) {
    std::optional<RouteAnswer> answer;
    bool asked = false;
    if (network.same_namespace.is(true) && budget.take()) {
      if (const auto text = reading.answer("route " + address)) {
        auto parsed = parse_route_answer(*text);
        reading.note(parsed.notes);
        answer = parsed.facts;
        asked = true;
      }
    }
    paths.push_back(asked ? path_of_answer(address, answer, by_index) : path_of_tables(address, tables, by_index));
    // Where /sys is another namespace's, the kernel's number of the interface has no name; the tables have.
    auto& path = paths.back();
    if (asked && answer && path.interface.is_unknown()) {
      const auto by_tables = path_of_tables(address, tables, by_index);
      if (by_tables.gateway == path.gateway) path.interface = by_tables.interface;
    }
  }

  read_sockets(reading, servers);
  finish_paths(paths, interfaces, network.sockets.value_or({}));
  network.paths = std::move(paths);
  if (have_interfaces) network.interfaces = without_pod_pairs(std::move(interfaces));
}

}  // namespace probes
