#include "audit/eval/derive_network.h"

#include <algorithm>
#include <cmath>

#include "audit/base/text.h"
#include "audit/eval/derive_help.h"

namespace audit {

namespace {

using namespace derive_help;
using facts::Absent;
using facts::Value;

constexpr std::uint64_t min_segments = 10000;  // of one connection, for a ratio of retransmissions
constexpr double min_connecting_s = 5;         // what two samples have to be apart to show a connect that does not end
constexpr double min_flow_window_s = 10;

const facts::NetPath& path_of(const Context& c, const Item& item) { return (*c.facts.network.paths)[item.index]; }

// --- connections of a server ---------------------------------------------------------------------------------------

using Sockets = std::vector<const facts::NetSocket*>;

Sockets sockets_of(const facts::Facts& facts, const std::vector<std::uint32_t>& indices) {
  Sockets found;
  for (const std::uint32_t i : indices) found.push_back(&(*facts.network.sockets)[i]);
  return found;
}

Sockets sockets_to(const Context& c, const facts::NfsServer& server) {
  if (!server.addr.has_value()) return {};
  return sockets_of(c.facts, c.sockets_to(*server.addr, server.port));
}

Sockets earlier_sockets_to(const Context& c, const facts::NfsServer& server) {
  if (!server.addr.has_value() || c.earlier() == nullptr) return {};
  return sockets_of(*c.earlier(), c.earlier_sockets_to(*server.addr, server.port));
}

std::vector<Item> server_sockets(const Context& c, const Item& item) {
  std::vector<Item> items;
  const Scope* scope = find_scope("network.sockets");
  const facts::NfsServer& server = server_of(c, item);
  if (!server.addr.has_value()) return items;
  for (const std::uint32_t i : c.sockets_to(*server.addr, server.port)) items.push_back({scope, i, 0});
  return items;
}

// Why the connections to a server are not known; nothing where they are.
std::optional<Value> sockets_unknown(const Context& c, const Item& item) {
  const facts::NfsServer& server = server_of(c, item);
  if (!server.addr.has_value()) return missing(c, fmt::format("nfs.servers[{}].addr", item.index));
  if (c.facts.network.sockets.is_unknown()) return missing(c, "network.sockets");
  return std::nullopt;
}

Value connection_count(const Context& c, const Item& item) {
  if (auto why = sockets_unknown(c, item)) return *why;
  const auto sockets = sockets_to(c, server_of(c, item));
  return static_cast<std::uint64_t>(
      std::count_if(sockets.begin(), sockets.end(), [](const auto* s) { return s->state == "ESTABLISHED"; }));
}

bool any_connecting(const Sockets& sockets) {
  return std::any_of(sockets.begin(), sockets.end(), [](const auto* s) { return s->state == "SYN_SENT"; });
}

// How long a connect has been going on at least. The first SYN is repeated after 1 s, then after twice as long each
// time (tcp(7), tcp_syn_retries): 3 repetitions take 7 s.
struct Connecting {
  Value seconds;
  std::string how, how_ja;
};

Connecting connecting(const Context& c, const Item& item) {
  if (auto why = sockets_unknown(c, item)) return {*why, "", ""};
  const facts::NfsServer& server = server_of(c, item);
  const auto now = sockets_to(c, server);
  if (!any_connecting(now)) return {Absent{}, "", ""};
  double seconds = 0;
  std::uint64_t repeated = 0;
  for (const auto* socket : now) {
    if (socket->state != "SYN_SENT") continue;
    repeated = std::max(repeated, std::min<std::uint64_t>(socket->retransmits.value_or(0), 10));
  }
  seconds = std::exp2(static_cast<double>(repeated)) - 1;
  const std::string how = fmt::format("the SYN was repeated {} times", repeated);
  const std::string how_ja = fmt::format("SYN を {} 回再送", repeated);
  const facts::Facts* before = c.earlier();
  if (before != nullptr && before->network.sockets.has_value() && c.sample_gap_s() &&
      *c.sample_gap_s() >= min_connecting_s) {
    if (!any_connecting(earlier_sockets_to(c, server))) return {seconds, how, how_ja};
    if (*c.sample_gap_s() > seconds)
      return {*c.sample_gap_s(), fmt::format("in two samples {} apart", duration_words(*c.sample_gap_s())),
              fmt::format("{}間隔の二つの標本の両方で", duration_words_ja(*c.sample_gap_s()))};
    return {seconds, how, how_ja};
  }
  if (seconds >= min_connecting_s) return {seconds, how, how_ja};
  return {unknown(before == nullptr ? "a connection is being opened, since when one sample does not tell"
                                    : "a connection is being opened, and the samples are less than 5 s apart"),
          "", ""};
}

Value connecting_s(const Context& c, const Item& item) { return connecting(c, item).seconds; }
Value connecting_how(const Context& c, const Item& item) {
  const Connecting at = connecting(c, item);
  return at.seconds.is_number() ? Value(at.how) : at.seconds;
}
Value connecting_how_ja(const Context& c, const Item& item) {
  const Connecting at = connecting(c, item);
  return at.seconds.is_number() ? Value(at.how_ja) : at.seconds;
}

// --- loss ----------------------------------------------------------------------------------------------------------

const facts::NetSocket* same_socket(const Sockets& earlier, const facts::NetSocket& now) {
  for (const auto* then : earlier) {
    if (then->local_port == now.local_port && then->local_addr == now.local_addr && then->inode == now.inode)
      return then;
  }
  return nullptr;
}

struct Loss {
  std::uint64_t segments = 0, retrans = 0;
  bool window = false;
  double ratio() const { return static_cast<double>(retrans) / static_cast<double>(segments); }
};

// Between two samples where enough was sent, else since the connection was made.
std::optional<Loss> loss_of(const Sockets& earlier, const facts::NetSocket& now) {
  if (!now.segs_out.has_value() || !now.total_retrans.has_value()) return std::nullopt;
  const facts::NetSocket* then = same_socket(earlier, now);
  if (then != nullptr && then->segs_out.has_value() && then->total_retrans.has_value() &&
      *now.segs_out >= *then->segs_out + min_segments && *now.total_retrans >= *then->total_retrans)
    return Loss{*now.segs_out - *then->segs_out, *now.total_retrans - *then->total_retrans, true};
  return Loss{*now.segs_out, *now.total_retrans, false};
}

struct Worst {
  const facts::NetSocket* socket = nullptr;
  Loss loss;
  bool any_counted = false;
};

Worst worst_loss(const Context& c, const Item& item) {
  Worst worst;
  const Sockets earlier = earlier_sockets_to(c, server_of(c, item));
  for (const auto* socket : sockets_to(c, server_of(c, item))) {
    const auto loss = loss_of(earlier, *socket);
    if (!loss) continue;
    worst.any_counted = true;
    if (loss->segments < min_segments) continue;
    if (worst.socket == nullptr || loss->ratio() > worst.loss.ratio()) {
      worst.socket = socket;
      worst.loss = *loss;
    }
  }
  return worst;
}

Value loss_value(const Context& c, const Item& item, Value (*get)(const Worst&)) {
  if (auto why = sockets_unknown(c, item)) return *why;
  const Worst worst = worst_loss(c, item);
  if (worst.socket != nullptr) return get(worst);
  const bool any = !sockets_to(c, server_of(c, item)).empty();
  if (any && !worst.any_counted) return unknown("the segments of the connections were not told (sock_diag, ss -i)");
  return Absent{};
}

Value loss_ratio(const Context& c, const Item& item) {
  return loss_value(c, item, [](const Worst& w) -> Value { return w.loss.ratio(); });
}
Value loss_segments(const Context& c, const Item& item) {
  return loss_value(c, item, [](const Worst& w) -> Value { return w.loss.segments; });
}
Value loss_retrans(const Context& c, const Item& item) {
  return loss_value(c, item, [](const Worst& w) -> Value { return w.loss.retrans; });
}
Value loss_port(const Context& c, const Item& item) {
  return loss_value(c, item, [](const Worst& w) -> Value { return w.socket->local_port; });
}
Value loss_how(const Context& c, const Item& item) {
  return loss_value(c, item, [](const Worst& w) -> Value {
    return w.loss.window ? "between two samples" : "since the connection was made";
  });
}
Value loss_how_ja(const Context& c, const Item& item) {
  return loss_value(c, item, [](const Worst& w) -> Value { return w.loss.window ? "二つの標本の間" : "接続以来"; });
}

// --- segment size, round trip, flow --------------------------------------------------------------------------------

// Before the handshake ends the size is only a guess of the kernel.
Value mss_bytes(const Context& c, const Item& item) {
  const facts::NfsServer& server = server_of(c, item);
  std::optional<std::uint64_t> least;
  for (const auto* socket : sockets_to(c, server)) {
    if (socket->state != "ESTABLISHED" || !socket->send_mss_bytes.has_value()) continue;
    least = std::min(least.value_or(*socket->send_mss_bytes), *socket->send_mss_bytes);
  }
  if (least) return *least;
  if (server.tcp_mss_bytes.has_value()) return *server.tcp_mss_bytes;
  if (auto why = sockets_unknown(c, item)) return *why;
  return unknown("no connection is open, or its segment size was not told");
}

// The least of what was measured: answers that are held back, and work on the server, make the others larger.
struct Rtt {
  std::optional<double> ms;
  std::string_view how, how_ja;
};

Rtt rtt_of(const Context& c, const Item& item) {
  const facts::NfsServer& server = server_of(c, item);
  Rtt rtt;
  const auto take = [&](double ms, std::string_view how, std::string_view how_ja) {
    if (!rtt.ms || ms < *rtt.ms) rtt = {ms, how, how_ja};
  };
  for (const auto* socket : sockets_to(c, server)) {
    if (socket->state != "ESTABLISHED") continue;
    if (socket->min_rtt_us.has_value() && *socket->min_rtt_us > 0)
      take(static_cast<double>(*socket->min_rtt_us) / 1000, "least of TCP on the connections of the mounts",
           "マウントの接続での TCP の最小値");
    else if (socket->rtt_us.has_value() && *socket->rtt_us > 0)
      take(static_cast<double>(*socket->rtt_us) / 1000, "smoothed by TCP on the connections of the mounts",
           "マウントの接続での TCP の平滑値");
  }
  if (server.null_p50_us.has_value()) take(*server.null_p50_us / 1000, "median of NULL calls", "NULL 呼び出しの中央値");
  if (server.tcp_rtt_us.has_value() && *server.tcp_rtt_us > 0)
    take(*server.tcp_rtt_us / 1000.0, "smoothed by TCP on the connection of the probe", "調査用接続での TCP の平滑値");
  return rtt;
}

Value rtt_ms(const Context& c, const Item& item) {
  const Rtt rtt = rtt_of(c, item);
  if (rtt.ms) return *rtt.ms;
  if (auto why = sockets_unknown(c, item)) return *why;
  return unknown("neither a connection of the mounts nor a question to the server told it");
}
Value rtt_how(const Context& c, const Item& item) {
  const Rtt rtt = rtt_of(c, item);
  return rtt.ms ? Value(rtt.how) : rtt_ms(c, item);
}
Value rtt_how_ja(const Context& c, const Item& item) {
  const Rtt rtt = rtt_of(c, item);
  return rtt.ms ? Value(rtt.how_ja) : rtt_ms(c, item);
}

// Of the busiest connection, both directions, between two samples.
Value flow_mb_per_s(const Context& c, const Item& item) {
  if (auto why = sockets_unknown(c, item)) return *why;
  if (c.earlier() == nullptr) return unknown(c.why_not_comparable());
  if (!c.sample_gap_s()) return unknown("the time between the samples is not known");
  if (*c.sample_gap_s() < min_flow_window_s)
    return unknown(
        fmt::format("the samples are {:.1f} s apart, {:.0f} s are needed", *c.sample_gap_s(), min_flow_window_s));
  std::optional<double> most;
  const Sockets earlier = earlier_sockets_to(c, server_of(c, item));
  for (const auto* now : sockets_to(c, server_of(c, item))) {
    const facts::NetSocket* then = same_socket(earlier, *now);
    if (then == nullptr || !now->bytes_acked.has_value() || !then->bytes_acked.has_value() ||
        !now->bytes_received.has_value() || !then->bytes_received.has_value())
      continue;
    if (*now->bytes_acked < *then->bytes_acked || *now->bytes_received < *then->bytes_received) continue;
    // A limit of a flow counts one direction.
    const auto bytes = std::max(*now->bytes_acked - *then->bytes_acked, *now->bytes_received - *then->bytes_received);
    most = std::max(most.value_or(0), static_cast<double>(bytes) / *c.sample_gap_s() / 1e6);
  }
  return most ? Value(*most) : unknown("no connection is in both samples with its bytes");
}

// Amazon FSx as such, or a name of EFS or FSx.
Value on_aws(const Context& c, const Item& item) {
  const facts::NfsServer& server = server_of(c, item);
  if (server.kind.is("fsx") || server.name.ends_with(".amazonaws.com")) return true;
  if (server.kind.is_unknown() && !server.mounted) return missing(c, fmt::format("nfs.servers[{}].kind", item.index));
  return false;
}

Value nfs_answers(const Context& c, const Item& item) {
  for (const auto& service : server_of(c, item).services) {
    if (service.program == "nfs" && service.reachable.has_value()) return *service.reachable;
  }
  return missing(c, fmt::format("nfs.servers[{}].services", item.index));
}

// --- reserved ports ------------------------------------------------------------------------------------------------

Value uses_reserved_ports(const Context& c, const Item& item) {
  std::optional<std::uint32_t> not_told;
  for (const std::uint32_t client : c.clients_of_server(item.index)) {
    for (const std::uint32_t m : c.mounts_of_client(client)) {
      const auto& unprivileged = c.facts.nfs.mounts[m].noresvport;
      if (unprivileged.is(false)) return true;
      if (unprivileged.is_unknown()) not_told = m;
    }
  }
  if (not_told) return missing(c, fmt::format("nfs.mounts[{}].noresvport", *not_told));
  return false;
}

Value reserved_use(const Context& c, const Item&) {
  const auto &used = c.facts.network.reserved_ports_used_count, &total = c.facts.network.reserved_ports_total_count;
  if (!used.has_value()) return missing(c, "network.reserved_ports_used_count");
  if (!total.has_value() || *total == 0) return missing(c, "network.reserved_ports_total_count");
  return static_cast<double>(*used) / *total;
}

// --- interfaces of a path ------------------------------------------------------------------------------------------

struct Links {
  std::vector<const facts::NetInterface*> interfaces;
  std::optional<Value> unknown;
};

Links links_of(const Context& c, const Item& item) {
  const facts::NetPath& path = path_of(c, item);
  if (path.interfaces.empty()) return {{}, missing(c, "network.paths")};
  const auto& all = c.facts.network.interfaces;
  if (!all.has_value()) return {{}, missing(c, "network.interfaces")};
  Links links;
  for (const std::string& name : path.interfaces) {
    for (const auto& one : *all) {
      if (one.name == name) links.interfaces.push_back(&one);
    }
  }
  if (links.interfaces.empty()) links.unknown = missing(c, "network.interfaces");
  return links;
}

Value text_or_absent(const std::vector<std::string>& parts) {
  return parts.empty() ? Value(Absent{}) : Value(base::join(parts, ", "));
}

Value half_duplex(const Context& c, const Item& item) {
  const Links links = links_of(c, item);
  if (links.unknown) return *links.unknown;
  std::vector<std::string> names;
  bool any_told = false;
  for (const auto* one : links.interfaces) {
    if (!one->duplex.is_unknown()) any_told = true;
    if (one->duplex.is("half")) names.push_back(one->name);
    if (!one->bond.has_value()) continue;
    for (const auto& slave : one->bond->slaves) {
      if (slave.duplex.is("half") && std::find(names.begin(), names.end(), slave.name) == names.end())
        names.push_back(slave.name);
    }
  }
  if (names.empty() && !any_told) return missing(c, "network.interfaces");
  return text_or_absent(names);
}

// Members of a bond that are slower than the fastest of it. Other nodes are no matter of one document.
Value slow_members(const Context& c, const Item& item) {
  const Links links = links_of(c, item);
  if (links.unknown) return *links.unknown;
  std::vector<std::string> slow;
  for (const auto* one : links.interfaces) {
    if (!one->bond.has_value()) continue;
    std::uint32_t fastest = 0;
    for (const auto& slave : one->bond->slaves) fastest = std::max(fastest, slave.speed_mbps.value_or(0));
    for (const auto& slave : one->bond->slaves) {
      if (slave.speed_mbps.has_value() && slave.mii_status.value_or("up") == "up" && *slave.speed_mbps < fastest)
        slow.push_back(fmt::format("{} at {} Mb/s in {} with members of {} Mb/s", slave.name, *slave.speed_mbps,
                                   one->name, fastest));
    }
  }
  return text_or_absent(slow);
}

using Counter = facts::Fact<std::uint64_t> facts::NetInterface::*;
struct Named {
  Counter counter;
  std::string_view name;
};

struct Growth {
  Value text;  // "eth0: 12 rx_crc_errors"
  Value count;
  Value ratio;  // over packets, of the worst interface
};

Growth growth(const Context& c, const Item& item, const std::vector<Named>& counters) {
  const Links links = links_of(c, item);
  if (links.unknown) return {*links.unknown, *links.unknown, *links.unknown};
  const auto all_unknown = [](Value why) { return Growth{why, why, why}; };
  const facts::Facts* before = c.earlier();
  if (before == nullptr) return all_unknown(unknown(c.why_not_comparable()));
  if (!before->network.interfaces.has_value())
    return all_unknown(unknown("the earlier sample has no counters of interfaces"));
  std::vector<std::string> texts;
  std::uint64_t sum = 0;
  double worst = 0;
  bool any = false;
  for (const auto* now : links.interfaces) {
    for (const auto& then : *before->network.interfaces) {
      if (then.name != now->name || !now->rx_packets.has_value() || !then.rx_packets.has_value()) continue;
      any = true;
      const auto grown = [&](Counter counter) -> std::uint64_t {
        const auto &a = now->*counter, &b = then.*counter;
        return a.has_value() && b.has_value() && *a > *b ? *a - *b : 0;
      };
      const std::uint64_t packets = grown(&facts::NetInterface::rx_packets) + grown(&facts::NetInterface::tx_packets);
      std::uint64_t here = 0;
      for (const Named& named : counters) {
        const std::uint64_t more = grown(named.counter);
        if (more == 0) continue;
        here += more;
        texts.push_back(fmt::format("{}: {} {}", now->name, more, named.name));
      }
      sum += here;
      if (here > 0) worst = std::max(worst, static_cast<double>(here) / static_cast<double>(packets + here));
    }
  }
  if (!any) return all_unknown(unknown("no interface of the path has counters in both samples"));
  return {text_or_absent(texts), sum, worst};
}

// rx_errors and rx_missed_errors include what the others name in detail.
Growth errors_of(const Context& c, const Item& item) {
  using I = facts::NetInterface;
  return growth(c, item,
                {{&I::rx_errors, "rx_errors"},
                 {&I::tx_errors, "tx_errors"},
                 {&I::rx_missed_errors, "rx_missed_errors"},
                 {&I::tx_dropped, "tx_dropped"}});
}
// Also packets that nobody here wanted, such as LLDP (Documentation/networking/statistics.rst).
Growth drops_of(const Context& c, const Item& item) {
  return growth(c, item, {{&facts::NetInterface::rx_dropped, "rx_dropped"}});
}

Value link_errors(const Context& c, const Item& item) { return errors_of(c, item).text; }
Value link_error_ratio(const Context& c, const Item& item) { return errors_of(c, item).ratio; }
Value link_drops(const Context& c, const Item& item) { return drops_of(c, item).text; }
Value link_drop_ratio(const Context& c, const Item& item) { return drops_of(c, item).ratio; }

Value lacp_bond(const Context& c, const Item& item) {
  const Links links = links_of(c, item);
  if (links.unknown) return *links.unknown;
  for (const auto* one : links.interfaces) {
    if (one->bond.has_value() && one->bond->mode.is("802.3ad") && one->bond->slaves.size() > 1) return one->name;
  }
  return Absent{};
}

// Connections of NFS that leave through the same interface.
Value flows(const Context& c, const Item& item) {
  const facts::NetPath& path = path_of(c, item);
  std::uint64_t sum = 0;
  for (std::uint32_t i = 0; i < c.facts.nfs.clients.size(); ++i) {
    const facts::NfsClient& client = c.facts.nfs.clients[i];
    if (!client.addr.has_value()) continue;
    const auto way = c.path_to(*client.addr);
    if (!way || (*c.facts.network.paths)[*way].interface != path.interface) continue;
    if (!client.transport_count.has_value()) return missing(c, fmt::format("nfs.clients[{}].transport_count", i));
    sum += *client.transport_count;
  }
  return sum;
}

std::vector<Item> path_mounts(const Context& c, const Item& item) {
  std::vector<Item> items;
  for (std::uint32_t i = 0; i < c.facts.nfs.mounts.size(); ++i) {
    const auto& addr = c.facts.nfs.mounts[i].addr;
    if (addr.has_value() && c.path_to(*addr) == item.index) items.push_back(make_item("nfs.mounts", i));
  }
  return items;
}

// --- rows ----------------------------------------------------------------------------------------------------------

void add_to_servers(Scope& servers) {
  constexpr std::string_view by = "network.sockets";
  append<DerivedFact>(
      servers.derived,
      {{"tcp.connections", integer_type, "established connections of the mounts", by, connection_count},
       {"tcp.connecting_s", number_type,
        "how long a connection has been opening at least (SYN_SENT); null when none is opening", by, connecting_s},
       {"tcp.connecting_how", text_type, "what shows that time", by, connecting_how, connecting_how_ja},
       {"tcp.retrans_ratio", number_type,
        "segments sent again over segments sent, of the connection where it is largest, among those with 10000 "
        "segments; null when none has so many",
        by, loss_ratio},
       {"tcp.retrans_segments", integer_type, "segments of that connection", by, loss_segments},
       {"tcp.retrans_count", integer_type, "of these, sent again", by, loss_retrans},
       {"tcp.retrans_port", integer_type, "local port of that connection", by, loss_port},
       {"tcp.retrans_how", text_type, "the time over which they were counted", by, loss_how, loss_how_ja},
       {"tcp.mss_bytes", integer_type, "least segment size of the established connections, else of the probe's", by,
        mss_bytes},
       {"rtt.ms", number_type,
        "round trip to the server: the least of TCP on the mounts' connections, NULL calls, and TCP of the probe", by,
        rtt_ms},
       {"rtt.how", text_type, "what it was measured with", by, rtt_how, rtt_how_ja},
       {"flow.mb_per_s", number_type, "MB/s of the busiest connection in its busier direction, between two samples", by,
        flow_mb_per_s},
       {"on_aws", boolean_type, "Amazon FSx, or a name below amazonaws.com", "nfs.servers[].kind", on_aws},
       {"nfs_answers", boolean_type, "the server answered a NULL call of NFS", "nfs.servers[].services", nfs_answers},
       {"uses_reserved_ports", boolean_type, "a mount of the server uses source ports below 1024",
        "nfs.mounts[].noresvport", uses_reserved_ports},
       {"reserved_ports_use", number_type, "used share of the range min_resvport to max_resvport",
        "network.reserved_ports_used_count", reserved_use}});
  servers.collections.push_back({"sockets", "connections to the server", "network.sockets", server_sockets});
}

void add_to_paths(Scope& paths) {
  constexpr std::string_view by = "network.interfaces";
  append<DerivedFact>(
      paths.derived,
      {{"link.half_duplex", text_type, "interfaces that run half duplex; null for none", by, half_duplex},
       {"link.slow_members", text_type, "members of a bond that are slower than others of it; null for none", by,
        slow_members},
       {"link.errors", text_type, "errors counted between two samples; null for none", by, link_errors},
       {"link.error_ratio", number_type, "the same over packets, of the worst interface", by, link_error_ratio},
       {"link.drops", text_type, "received packets dropped between two samples; null for none", by, link_drops},
       {"link.drop_ratio", number_type, "the same over packets, of the worst interface", by, link_drop_ratio},
       {"link.lacp_bond", text_type, "bond of mode 802.3ad on the way; null for none", by, lacp_bond},
       {"flows", integer_type, "TCP connections of NFS that leave through the interface",
        "nfs.clients[].transport_count", flows}});
  paths.collections.push_back({"mounts", "mounts that use the path", "nfs.mounts", path_mounts});
}

Scope socket_scope() {
  Scope s;
  s.name = "network.sockets";
  s.type = &facts::type_of<facts::NetSocket>;
  s.items = [](const Context& c) {
    std::vector<Item> items;
    const std::size_t count = c.facts.network.sockets.has_value() ? c.facts.network.sockets->size() : 0;
    for (std::uint32_t i = 0; i < count; ++i) items.push_back(make_item("network.sockets", i));
    return items;
  };
  s.ref = [](const Context& c, const Item& item) { return facts::ref_to((*c.facts.network.sockets)[item.index]); };
  s.path = [](const Context&, const Item& item) { return fmt::format("network.sockets[{}]", item.index); };
  s.subject = [](const Context& c, const Item&) { return Subject{"node", c.facts.node.name}; };
  s.own_name = [](const Context& c, const Item& item) {
    const facts::NetSocket& socket = (*c.facts.network.sockets)[item.index];
    return fmt::format("{} {}", socket.local_port, socket.peer_addr);
  };
  return s;
}

}  // namespace

void add_network_facts(std::vector<Scope>& all) {
  add_to_servers(scope_named(all, "nfs.servers"));
  add_to_paths(scope_named(all, "network.paths"));
  all.push_back(socket_scope());
}

}  // namespace audit
