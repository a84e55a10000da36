// The node's network as far as it carries NFS: interfaces, the way to each server, and the TCP connections of the
// mounts. Sources: /sys/class/net (Documentation/ABI/testing/sysfs-class-net*), /proc/net/{dev,route,ipv6_route,
// fib_trie,if_inet6,tcp,tcp6,bonding/*} of pid 1's network namespace (proc(5)), rtnetlink(7), sock_diag(7).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "audit/facts/fact.h"

namespace facts {

// One member of a bond, as /proc/net/bonding/NAME prints it.
struct BondSlave {
  std::string name;
  Fact<std::string> mii_status;    // up, down, going down, going back
  Fact<std::uint32_t> speed_mbps;  // absent: "Unknown"
  Fact<std::string> duplex;        // full, half; absent: unknown
  Fact<std::uint64_t> link_failure_count;
  Fact<std::uint32_t> aggregator_id;  // 802.3ad only

  template <class BondSlave = facts::BondSlave>
  static auto fields() {
    return std::array{Field{"name", &BondSlave::name, "interface name"},
                      Field{"mii_status", &BondSlave::mii_status, "link as the bond sees it: up, down, ..."},
                      Field{"speed_mbps", &BondSlave::speed_mbps, "speed as the bond sees it; null when unknown to it"},
                      Field{"duplex", &BondSlave::duplex, "full or half; null when unknown to the bond"},
                      Field{"link_failure_count", &BondSlave::link_failure_count, "times the link was lost"},
                      Field{"aggregator_id", &BondSlave::aggregator_id, "802.3ad aggregator that it joined"}};
  }
  bool operator==(const BondSlave&) const = default;
};

struct Bond {
  Fact<std::string> mode;              // balance-rr active-backup balance-xor broadcast 802.3ad balance-tlb balance-alb
  Fact<std::string> xmit_hash_policy;  // layer2, layer2+3, layer3+4, ...; absent: the mode has none
  Fact<std::string> active_slave;      // absent: the mode has none, or no slave is active
  Fact<std::string> mii_status;
  Fact<std::string> lacp_rate;  // slow, fast; 802.3ad only
  Fact<std::uint32_t> active_aggregator_id;
  std::vector<BondSlave> slaves;

  template <class Bond = facts::Bond>
  static auto fields() {
    return std::array{Field{"mode", &Bond::mode, "bonding mode by its option name, such as 802.3ad or active-backup"},
                      Field{"xmit_hash_policy", &Bond::xmit_hash_policy, "how flows are spread over the members"},
                      Field{"active_slave", &Bond::active_slave, "member in use; null where the mode has none"},
                      Field{"mii_status", &Bond::mii_status, "link of the bond itself"},
                      Field{"lacp_rate", &Bond::lacp_rate, "slow or fast"},
                      Field{"active_aggregator_id", &Bond::active_aggregator_id, "802.3ad aggregator in use"},
                      Field{"slaves", &Bond::slaves, "members"}};
  }
  bool operator==(const Bond&) const = default;
};

struct NetInterface {
  std::string name;
  Fact<std::string> kind;          // physical bond vlan bridge veth tun loopback wlan macvlan ... or virtual
  Fact<std::uint32_t> mtu;         // bytes
  Fact<std::uint32_t> speed_mbps;  // absent: the kernel has none to tell (virtual, or no link)
  Fact<std::string> duplex;        // full, half; absent: unknown to the kernel
  Fact<std::string> operstate;     // up, down, unknown, lowerlayerdown, ... (RFC 2863)
  Fact<std::string> master;        // bond, bridge or VRF that it belongs to; absent: none
  std::vector<std::string> lower;  // interfaces below it
  Fact<Bond> bond;                 // absent: no bond
  bool carries_nfs = false;        // a path to an NFS server goes through it
  Fact<std::uint64_t> rx_bytes;
  Fact<std::uint64_t> tx_bytes;
  Fact<std::uint64_t> rx_packets;
  Fact<std::uint64_t> tx_packets;
  Fact<std::uint64_t> rx_errors;
  Fact<std::uint64_t> tx_errors;
  Fact<std::uint64_t> rx_dropped;
  Fact<std::uint64_t> tx_dropped;
  Fact<std::uint64_t> rx_missed_errors;
  Fact<std::uint64_t> rx_crc_errors;
  Fact<std::uint64_t> carrier_changes;

  template <class NetInterface = facts::NetInterface>
  static auto fields() {
    return std::array{
        Field{"name", &NetInterface::name, "interface name"},
        Field{"kind", &NetInterface::kind, "physical, bond, vlan, bridge, veth, tun, loopback, ... or virtual"},
        Field{"mtu", &NetInterface::mtu, "largest packet, bytes"},
        Field{"speed_mbps", &NetInterface::speed_mbps, "link speed; null when the kernel has none to tell"},
        Field{"duplex", &NetInterface::duplex, "full or half; null when the kernel has none to tell"},
        Field{"operstate", &NetInterface::operstate, "operational state by RFC 2863: up, down, unknown, ..."},
        Field{"master", &NetInterface::master, "bond, bridge or VRF that it belongs to; null when none"},
        Field{"lower", &NetInterface::lower, "interfaces below it"},
        Field{"bond", &NetInterface::bond, "bonding state; null when it is no bond"},
        Field{"carries_nfs", &NetInterface::carries_nfs, "a path to an NFS server goes through it"},
        Field{"rx_bytes", &NetInterface::rx_bytes, "bytes received since it came up"},
        Field{"tx_bytes", &NetInterface::tx_bytes, "bytes sent since it came up"},
        Field{"rx_packets", &NetInterface::rx_packets, "packets received"},
        Field{"tx_packets", &NetInterface::tx_packets, "packets sent"},
        Field{"rx_errors", &NetInterface::rx_errors, "bad packets received"},
        Field{"tx_errors", &NetInterface::tx_errors, "packets that could not be sent"},
        Field{"rx_dropped", &NetInterface::rx_dropped, "received packets dropped"},
        Field{"tx_dropped", &NetInterface::tx_dropped, "packets dropped on the way out"},
        Field{"rx_missed_errors", &NetInterface::rx_missed_errors, "packets the receiver had no buffer for"},
        Field{"rx_crc_errors", &NetInterface::rx_crc_errors, "packets received with a wrong checksum"},
        Field{"carrier_changes", &NetInterface::carrier_changes, "times the link came or went"}};
  }
  bool operator==(const NetInterface&) const = default;
};

// The way packets take to one NFS server.
struct NetPath {
  std::string addr;               // of the server
  Fact<bool> local;               // the address is this node's own: a loopback mount
  Fact<std::string> interface;    // absent: no route
  Fact<std::string> source_addr;  // unknown where only the route tables could be read
  Fact<std::string> gateway;      // absent: on link
  Fact<bool> on_link;
  Fact<std::uint32_t> mtu;              // smallest of the interfaces on the way out of the node, route MTU included
  Fact<std::uint32_t> speed_mbps;       // of the slowest link below; absent: none of them has a speed
  std::vector<std::string> interfaces;  // the interface, then what is below it
  Fact<std::string> how;                // rtnetlink, route tables

  template <class NetPath = facts::NetPath>
  static auto fields() {
    return std::array{
        Field{"addr", &NetPath::addr, "address of the server"},
        Field{"local", &NetPath::local, "the address is one of this node's own"},
        Field{"interface", &NetPath::interface, "interface of the route; null when there is no route"},
        Field{"source_addr", &NetPath::source_addr, "local address that is used"},
        Field{"gateway", &NetPath::gateway, "next hop; null when the server is on the link"},
        Field{"on_link", &NetPath::on_link, "no router between"},
        Field{"mtu", &NetPath::mtu, "smallest MTU of route, interface and what is below it, bytes"},
        Field{"speed_mbps", &NetPath::speed_mbps, "speed of the slowest link; null when none has a speed"},
        Field{"interfaces", &NetPath::interfaces, "the interface, then those below it"},
        Field{"how", &NetPath::how, "what told the route: rtnetlink or route tables"}};
  }
  bool operator==(const NetPath&) const = default;
};

// A TCP connection to a server and port that a mount uses.
struct NetSocket {
  std::string local_addr;
  std::uint32_t local_port = 0;
  std::string peer_addr;  // an IPv4-mapped IPv6 address is written as IPv4
  std::uint32_t peer_port = 0;
  std::string state;                   // ESTABLISHED, SYN_SENT, ... (RFC 9293)
  Fact<std::uint64_t> rx_queue_bytes;  // received, not yet read
  Fact<std::uint64_t> tx_queue_bytes;  // written, not yet acknowledged
  Fact<std::string> timer;             // absent: none; retransmit, keepalive, time-wait, probe (zero window)
  Fact<std::uint64_t> timer_ms;        // until it fires
  Fact<std::uint64_t> retransmits;     // of the segment now in flight
  Fact<std::uint64_t> probes;          // unanswered zero-window or keepalive probes
  Fact<std::uint64_t> inode;           // absent: no longer owned by anybody
  Fact<std::uint64_t> rtt_us;          // smoothed (RFC 6298)
  Fact<std::uint64_t> rtt_var_us;
  Fact<std::uint64_t> min_rtt_us;
  Fact<std::uint64_t> rto_us;
  Fact<std::uint64_t> send_mss_bytes;
  Fact<std::uint64_t> recv_mss_bytes;
  Fact<std::uint64_t> path_mtu_bytes;
  Fact<std::uint64_t> cwnd;           // segments
  Fact<std::uint64_t> unacked;        // segments
  Fact<std::uint64_t> lost;           // segments
  Fact<std::uint64_t> total_retrans;  // segments
  Fact<std::uint64_t> segs_out;
  Fact<std::uint64_t> segs_in;
  Fact<std::uint64_t> bytes_acked;
  Fact<std::uint64_t> bytes_received;
  Fact<std::uint64_t> last_send_ms;  // ago
  Fact<std::uint64_t> last_recv_ms;  // ago

  template <class NetSocket = facts::NetSocket>
  static auto fields() {
    return std::array{
        Field{"local_addr", &NetSocket::local_addr, "local address"},
        Field{"local_port", &NetSocket::local_port, "local port"},
        Field{"peer_addr", &NetSocket::peer_addr, "address of the server"},
        Field{"peer_port", &NetSocket::peer_port, "port of the server"},
        Field{"state", &NetSocket::state, "state by RFC 9293: ESTABLISHED, SYN_SENT, ..."},
        Field{"rx_queue_bytes", &NetSocket::rx_queue_bytes, "received and not yet read"},
        Field{"tx_queue_bytes", &NetSocket::tx_queue_bytes, "written and not yet acknowledged"},
        Field{"timer", &NetSocket::timer,
              "retransmit, keepalive, time-wait or probe (zero window); null when none runs"},
        Field{"timer_ms", &NetSocket::timer_ms, "until that timer fires"},
        Field{"retransmits", &NetSocket::retransmits, "retransmissions of what is in flight now"},
        Field{"probes", &NetSocket::probes, "unanswered zero-window or keepalive probes"},
        Field{"inode", &NetSocket::inode, "inode of the socket; null when nobody holds it any more"},
        Field{"rtt_us", &NetSocket::rtt_us, "smoothed round trip time"},
        Field{"rtt_var_us", &NetSocket::rtt_var_us, "variation of the round trip time"},
        Field{"min_rtt_us", &NetSocket::min_rtt_us, "least round trip time seen lately"},
        Field{"rto_us", &NetSocket::rto_us, "retransmission timeout"},
        Field{"send_mss_bytes", &NetSocket::send_mss_bytes, "largest segment sent"},
        Field{"recv_mss_bytes", &NetSocket::recv_mss_bytes, "largest segment received"},
        Field{"path_mtu_bytes", &NetSocket::path_mtu_bytes, "path MTU in use"},
        Field{"cwnd", &NetSocket::cwnd, "congestion window, segments"},
        Field{"unacked", &NetSocket::unacked, "segments sent and not acknowledged"},
        Field{"lost", &NetSocket::lost, "segments taken for lost now"},
        Field{"total_retrans", &NetSocket::total_retrans, "segments retransmitted since the connection was made"},
        Field{"segs_out", &NetSocket::segs_out, "segments sent"},
        Field{"segs_in", &NetSocket::segs_in, "segments received"},
        Field{"bytes_acked", &NetSocket::bytes_acked, "bytes sent and acknowledged"},
        Field{"bytes_received", &NetSocket::bytes_received, "bytes received"},
        Field{"last_send_ms", &NetSocket::last_send_ms, "time since the last data was sent"},
        Field{"last_recv_ms", &NetSocket::last_recv_ms, "time since the last data was received"}};
  }
  bool operator==(const NetSocket&) const = default;
};

// A name of a server, and what the resolver of the node made of it when the servers were asked.
struct NetName {
  std::string name;
  Fact<std::vector<std::string>> addrs;  // in the resolver's order; null: the name does not exist

  template <class NetName = facts::NetName>
  static auto fields() {
    return std::array{Field{"name", &NetName::name, "name as a mount has it"},
                      Field{"addrs", &NetName::addrs, "its addresses; null when the name does not exist"}};
  }
  bool operator==(const NetName&) const = default;
};

struct Network {
  Fact<bool> same_namespace;  // we run in pid 1's network namespace
  Fact<std::vector<std::string>> local_addresses;
  Fact<std::vector<NetInterface>> interfaces;     // pod veths that carry no path are left out
  Fact<std::vector<NetPath>> paths;               // one per address of an NFS server
  Fact<std::vector<NetName>> names;               // of NFSv4.1 mounts, looked up when servers are asked
  Fact<std::vector<NetSocket>> sockets;           // only those of the mounts
  Fact<std::uint32_t> reserved_ports_used_count;  // local TCP ports within min_resvport..max_resvport
  Fact<std::uint32_t> reserved_ports_total_count;

  template <class Network = facts::Network>
  static auto fields() {
    return std::array{
        Field{"same_namespace", &Network::same_namespace, "this program ran in pid 1's network namespace"},
        Field{"local_addresses", &Network::local_addresses, "addresses of the node itself"},
        Field{"interfaces", &Network::interfaces, "interfaces, pod veths that carry no path left out"},
        Field{"paths", &Network::paths, "the way to each NFS server"},
        Field{"names", &Network::names, "names of servers that NFSv4.1 mounts use, looked up when servers are asked"},
        Field{"sockets", &Network::sockets, "TCP connections of the NFS mounts"},
        Field{"reserved_ports_used_count", &Network::reserved_ports_used_count,
              "different local TCP ports in use within min_resvport..max_resvport"},
        Field{"reserved_ports_total_count", &Network::reserved_ports_total_count,
              "size of the range min_resvport..max_resvport"}};
  }
  bool operator==(const Network&) const = default;
};

}  // namespace facts
