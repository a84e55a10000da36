#include <catch2/catch.hpp>

#include "audit/base/text.h"
#include "probes/host/hex_lines.h"
#include "probes/host/interfaces.h"
#include "probes/host/kernel_address.h"
#include "probes/host/net_tcp.h"
#include "probes/host/network_join.h"
#include "probes/host/routes.h"

using namespace probes;
using facts::Fact;

namespace {

template <class T>
Fact<T> none() {
  return Fact<T>::absent();
}

Address ip(std::string_view text) {
  const auto address = parse_address(text);
  REQUIRE(address.has_value());
  return *address;
}

std::vector<std::string> reasons(const std::vector<Note>& notes) {
  std::vector<std::string> all;
  for (const auto& note : notes) all.push_back(std::to_string(note.line) + ": " + note.reason);
  return all;
}

constexpr const char* tcp_heading =
    "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n";

}  // namespace

TEST_CASE("addresses: kernel hexadecimal and text are two forms of one address") {
  struct Row {
    const char* name;
    std::optional<Address> got;
    const char* text;  // nullptr: none
  };
  const Row row = GENERATE(
      Row{"IPv4", address_from_kernel_hex("0200C0C0"), "192.192.0.2"},
      Row{"IPv4-mapped in tcp6", address_from_kernel_hex("0000000000000000FFFF00000100090A"), "10.9.0.1"},
      Row{"IPv6", address_from_kernel_hex("000009FD000000000000000002000000"), "fd09::2"},
      Row{"IPv6 in network order", address_from_plain_hex("fd090000000000000000000000000002"), "fd09::2"},
      Row{"7 digits", address_from_kernel_hex("200C0C0"), nullptr},
      Row{"no digits", address_from_kernel_hex("0200C0CG"), nullptr},
      Row{"a sign", address_from_plain_hex("+d090000000000000000000000000002"), nullptr},
      Row{"31 digits", address_from_plain_hex("fd09000000000000000000000000002"), nullptr},
      Row{"empty", address_from_kernel_hex(""), nullptr}, Row{"5 bytes", address_from_bytes("abcde"), nullptr});
  INFO(row.name);
  CHECK(row.got.has_value() == (row.text != nullptr));
  if (row.got) CHECK(text_of(*row.got) == row.text);
}

TEST_CASE("addresses: a prefix is compared bit by bit") {
  CHECK(is_within(ip("192.0.2.77"), ip("192.0.2.0"), 120));
  CHECK(is_within(ip("192.0.2.77"), ip("192.0.2.64"), 122));
  CHECK_FALSE(is_within(ip("192.0.2.77"), ip("192.0.2.128"), 121));
  CHECK(is_within(ip("fd09::2"), ip("::"), 0));
  CHECK_FALSE(is_within(ip("fd09::2"), ip("fd09::"), 129));
}

TEST_CASE("net/tcp: a line is a connection with its queues and timer") {
  const auto parsed = parse_net_tcp(
      std::string(tcp_heading) +
      "   0: 0200090A:0322 0300090A:0801 01 000000B0:00000000 04:000004B2 00000006     0        6 1614 1 00000000e1512 "
      "100 0 0 10 0\n"
      "   1: 0200090A:0323 0300090A:0801 02 00000001:00000000 01:00000064 00000003     0        0 1615 1\n"
      "   2: 0200090A:0324 0300090A:0801 06 00000000:00000000 03:00000C2A 00000000     0        0 0 3\n");
  REQUIRE(parsed.notes.empty());
  REQUIRE(parsed.facts.size() == 3);
  facts::NetSocket probe;
  probe.local_addr = "10.9.0.2";
  probe.local_port = 802;
  probe.peer_addr = "10.9.0.3";
  probe.peer_port = 2049;
  probe.state = "ESTABLISHED";
  probe.rx_queue_bytes = 0U;
  probe.tx_queue_bytes = 176U;
  probe.timer = "probe";
  probe.timer_ms = 12020U;
  probe.retransmits = 6U;
  probe.probes = 6U;
  probe.inode = 1614U;
  CHECK(socket_of(parsed.facts[0]) == probe);
  const auto syn = socket_of(parsed.facts[1]);
  CHECK(syn.state == "SYN_SENT");
  CHECK(syn.timer.is("retransmit"));
  CHECK(syn.retransmits.is(3));
  const auto wait = socket_of(parsed.facts[2]);
  CHECK(wait.state == "TIME_WAIT");
  CHECK(wait.inode.is_absent());
}

TEST_CASE("net/tcp: an odd line costs itself only") {
  struct Row {
    const char* line;
    const char* note;
  };
  const Row row = GENERATE(
      Row{"   0: 0200090A:0322 0300090A:0801 01 000000B0:00000000 04:000004B2 00000006", "2: fewer than 10 fields"},
      Row{"   0: 0200090A 0300090A:0801 01 0:0 0:0 0 0 0 1614", "2: an address is not ADDRESS:PORT in hexadecimal"},
      Row{"   0: 0200090A:FFFFF 0300090A:0801 01 0:0 0:0 0 0 0 1614",
          "2: an address is not ADDRESS:PORT in hexadecimal"},
      Row{"   0: 0200090A:0322 0300090A:0801 1F 0:0 0:0 0 0 0 1614", "2: an unknown state"},
      Row{"   0: 0200090A:0322 0300090A:0801 00 0:0 0:0 0 0 0 1614", "2: an unknown state"},
      Row{"   0: 0200090A:0322 0300090A:0801 01 00 0:0 0 0 0 1614", "2: the queues are no pair of numbers"},
      Row{"   0: 0200090A:0322 0300090A:0801 01 0:0 0:xyz 0 0 0 1614", "2: the timer is no pair of numbers"},
      Row{"   0: 0200090A:0322 0300090A:0801 01 0:0 0:0 0 0 -1 1614",
          "2: retransmissions, probes or inode are no number"});
  const auto parsed = parse_net_tcp(
      std::string(tcp_heading) + row.line +
      "\n   1: 0200090A:0323 0300090A:0801 01 00000000:00000000 00:00000000 00000000     0        0 1615 1\n");
  CHECK(reasons(parsed.notes) == std::vector<std::string>{row.note});
  REQUIRE(parsed.facts.size() == 1);
  CHECK(parsed.facts[0].local_port == 803);
}

// A message of Linux 6.18, taken with dump_tcp_sockets() from a connection over a veth pair (10.99.0.2 to 10.99.0.1).
TEST_CASE("sock_diag: what is too short or cut says so and costs itself") {
  struct Row {
    const char* hex;
    const char* note;
  };
  const std::string message = std::string("02010000") + std::string(136, '0');  // struct inet_diag_msg: 72 bytes
  const std::vector<std::pair<std::string, std::string>> rows{
      {"0", "1: not hexadecimal"},
      {"zz", "1: not hexadecimal"},
      {"0201", "1: shorter than struct inet_diag_msg"},
      {std::string("11010000") + std::string(136, '0'), "1: neither IPv4 nor IPv6"},
      {std::string("02ff0000") + std::string(136, '0'), "1: an unknown state"},
      {message + "ff000200", "1: an attribute runs over the end"},
      {message + "01000200", "1: an attribute runs over the end"}};
  for (const auto& [hex, note] : rows) {
    const auto parsed = parse_sock_diag(hex + "\n" + message + "\n");
    INFO(hex);
    CHECK(reasons(parsed.notes) == std::vector<std::string>{note});
    CHECK(parsed.facts.size() == 1);
  }
}

TEST_CASE("sock_diag: a connection that was never made has sent and received nothing yet") {
  std::string hex = "0202010003220801";  // SYN_SENT, with the retransmission timer
  hex += std::string(64 * 2, '0') + "ec000200" + std::string(232 * 2, '0');
  const auto parsed = parse_sock_diag(hex + "\n");
  REQUIRE(parsed.notes.empty());
  REQUIRE(parsed.facts.size() == 1);
  CHECK(parsed.facts[0].state == "SYN_SENT");
  CHECK(parsed.facts[0].timer.is("retransmit"));
  CHECK(parsed.facts[0].last_send_ms.is_absent());
  CHECK(parsed.facts[0].last_recv_ms.is_absent());
  CHECK(parsed.facts[0].rtt_us.is_absent());
  CHECK(parsed.facts[0].segs_out.is(0));
}

TEST_CASE("sock_diag: an older kernel's shorter tcp_info leaves the later numbers unknown") {
  // struct inet_diag_msg of an IPv4 connection 10.9.0.2:802 to 10.9.0.3:2049, then INET_DIAG_INFO of 104 bytes.
  std::string hex =
      "0201000003220801"
      "0a090002"
      "000000000000000000000000"
      "0a090003"
      "000000000000000000000000";
  hex +=
      "00000000"
      "0000000000000000";  // interface, cookie
  hex +=
      "00000000"
      "00000000"
      "b0000000"
      "00000000"
      "4e060000";  // expires, rqueue, wqueue, uid, inode
  std::string info(104 * 2, '0');
  const auto put = [&](std::size_t offset, std::uint32_t value) {
    const std::string bytes(reinterpret_cast<const char*>(&value), sizeof value);
    info.replace(offset * 2, 8, hex_of_bytes(bytes));
  };
  put(16, 1448);  // tcpi_snd_mss
  put(68, 250);   // tcpi_rtt
  put(100, 7);    // tcpi_total_retrans
  const auto parsed = parse_sock_diag(hex + "6c000200" + info + "\n");
  REQUIRE(parsed.notes.empty());
  REQUIRE(parsed.facts.size() == 1);
  const auto& s = parsed.facts[0];
  CHECK(s.local_addr == "10.9.0.2");
  CHECK(s.local_port == 802);
  CHECK(s.peer_addr == "10.9.0.3");
  CHECK(s.peer_port == 2049);
  CHECK(s.state == "ESTABLISHED");
  CHECK(s.tx_queue_bytes.is(176));
  CHECK(s.timer.is_absent());
  CHECK(s.inode.is(1614));
  CHECK(s.send_mss_bytes.is(1448));
  CHECK(s.rtt_us.is(250));
  CHECK(s.total_retrans.is(7));
  CHECK(s.segs_out.is_unknown());
  CHECK(s.min_rtt_us.is_unknown());
}

TEST_CASE("routes: the longest prefix wins, then the lowest metric") {
  const auto parsed = parse_route(
      "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n"
      "eth0\t00000000\t010200C0\t0003\t0\t0\t100\t00000000\t0\t0\t0\n"
      "eth1\t00000000\t010300C0\t0003\t0\t0\t50\t00000000\t0\t0\t0\n"
      "eth0\t000200C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\n"
      "eth2\t000400C0\t00000000\t0000\t0\t0\t0\t00FFFFFF\t0\t0\t0\n"
      "*\t000500C0\t00000000\t0201\t0\t0\t0\t00FFFFFF\t0\t0\t0\n");
  REQUIRE(parsed.notes.empty());
  REQUIRE(parsed.facts.size() == 4);  // the one that is down is no route
  const auto* far = route_to(ip("203.0.113.5"), parsed.facts);
  REQUIRE(far != nullptr);
  CHECK(far->interface == "eth1");
  CHECK(text_of(*far->gateway) == "192.0.3.1");
  const auto* near = route_to(ip("192.0.2.9"), parsed.facts);
  REQUIRE(near != nullptr);
  CHECK(near->interface == "eth0");
  CHECK_FALSE(near->gateway.has_value());
  CHECK(route_to(ip("192.0.5.9"), parsed.facts) == nullptr);    // refused
  CHECK(route_to(ip("2001:db8::1"), parsed.facts) == nullptr);  // another family
}

TEST_CASE("routes: an odd line costs itself only") {
  struct Row {
    const char* line;
    const char* note;
  };
  const Row row =
      GENERATE(Row{"eth0 00000000 010200C0 0003 0 0 0", "1: fewer than 8 fields"},
               Row{"eth0 0000000 010200C0 0003 0 0 0 00000000", "1: an address is not 8 hexadecimal digits"},
               Row{"eth0 00000000 010200C0 000X 0 0 0 00000000", "1: flags or metric are no number"},
               Row{"eth0 00000000 010200C0 0003 0 0 -1 00000000", "1: flags or metric are no number"},
               Row{"eth0 00000000 010200C0 0003 0 0 0 00FF00FF", "1: the mask has holes"});
  const auto parsed =
      parse_route(std::string(row.line) + "\neth0\t000200C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\n");
  CHECK(reasons(parsed.notes) == std::vector<std::string>{row.note});
  CHECK(parsed.facts.size() == 1);
}

TEST_CASE("routes: IPv6, with the unreachable default of lo") {
  const auto parsed = parse_ipv6_route(
      "fd000000000000000000000000000000 40 00000000000000000000000000000000 00 00000000000000000000000000000000 "
      "00000100 "
      "00000001 00000000 00000001     eth0\n"
      "fe800000000000000000000000000000 40 00000000000000000000000000000000 00 00000000000000000000000000000000 "
      "00000100 "
      "00000002 00000000 00000001     eth0\n"
      "fe800000000000000000000000000000 40 00000000000000000000000000000000 00 00000000000000000000000000000000 "
      "00000100 "
      "00000002 00000000 00000001     eth1\n"
      "00000000000000000000000000000000 00 00000000000000000000000000000000 00 fd000000000000000000000000000001 "
      "00000400 "
      "00000002 00000000 00000003     eth0\n"
      "00000000000000000000000000000000 00 00000000000000000000000000000000 00 00000000000000000000000000000000 "
      "ffffffff "
      "00000001 00000000 00200200       lo\n"
      "fd00 40 0 00 0 00000100 1 0 00000001 eth0\n"
      "fd000000000000000000000000000000 81 00000000000000000000000000000000 00 00000000000000000000000000000000 0 0 0 "
      "1 x\n"
      "fd000000000000000000000000000000 40\n");
  CHECK(reasons(parsed.notes) == std::vector<std::string>{"6: an address is not 32 hexadecimal digits",
                                                          "7: the prefix is no number up to 128",
                                                          "8: fewer than 10 fields"});
  REQUIRE(parsed.facts.size() == 5);
  CHECK_FALSE(route_to(ip("fd00::9"), parsed.facts)->gateway.has_value());
  CHECK(text_of(*route_to(ip("2001:db8::1"), parsed.facts)->gateway) == "fd00::1");
  CHECK(route_to(ip("fe80::5%eth1"), parsed.facts)->interface == "eth1");
  auto without_default = parsed.facts;
  without_default.erase(without_default.begin() + 3);
  CHECK(route_to(ip("2001:db8::1"), without_default) == nullptr);
}

TEST_CASE("local addresses: those that fib_trie calls host LOCAL, and all of if_inet6") {
  const auto v4 = parse_fib_trie(
      "Main:\n  +-- 0.0.0.0/0 3 0 5\n     |-- 0.0.0.0\n        /0 universe UNICAST\n"
      "           |-- 127.0.0.0\n              /8 host LOCAL\n           |-- 127.0.0.1\n              /32 host LOCAL\n"
      "           |-- 192.0.2.0\n              /24 link UNICAST\n           |-- 192.0.2.2\n              /32 host "
      "LOCAL\n"
      "        |-- 192.0.2.255\n           /32 link BROADCAST\n        |-- 192.0.2.x\n           /32 host LOCAL\n"
      "Local:\n           |-- 192.0.2.2\n              /32 host LOCAL\n");
  CHECK(reasons(v4.notes) == std::vector<std::string>{"15: a leaf is no IPv4 address"});
  REQUIRE(v4.facts.size() == 2);
  CHECK(text_of(v4.facts[0]) == "127.0.0.1");
  CHECK(text_of(v4.facts[1]) == "192.0.2.2");

  const auto v6 = parse_if_inet6(
      "fe8000000000000000fc00fffe000001 04 40 20 80     eth0\nfd000000000000000000000000000002 04 40 00 82     eth0\n"
      "00000000000000000000000000000001 01 80 10 80       lo\nfd00 04 40 00 82 eth0\n"
      "fd000000000000000000000000000003 04 40 00 82\n");
  CHECK(v6.notes.size() == 2);
  REQUIRE(v6.facts.size() == 3);
  CHECK(text_of(v6.facts[0]) == "fe80::fc:ff:fe00:1%eth0");
}

TEST_CASE("rtnetlink: the route that a packet would take") {
  // Asked on Linux 6.18 with ask_route().
  struct Row {
    const char* name;
    std::string hex;
    bool has_answer;
    const char* note;
  };
  const std::string head = "02200000fe00000100020000";  // IPv4, /32, main table, unicast
  const std::string gateway = "08000500c0000201";
  const std::string source = "08000700c0000202";
  const std::string oif = "0800040004000000";
  const std::string metrics =
      "0c000800"
      "080002002823"
      "0000";
  const Row row =
      GENERATE_COPY(Row{"whole", head + oif + gateway + source + metrics, true, nullptr},
                    Row{"no route", "", false, nullptr}, Row{"no hexadecimal", "0x", false, "1: not hexadecimal"},
                    Row{"short", "0220", false, "1: shorter than struct rtmsg"},
                    Row{"cut", head + "0c00050001", false, "1: an attribute runs over the end"},
                    Row{"cut inside the metrics",
                        head + "0c000800"
                               "10000200"
                               "28230000",
                        false, "1: an attribute runs over the end"});
  INFO(row.name);
  const auto parsed = parse_route_answer(row.hex + "\n");
  CHECK(reasons(parsed.notes) ==
        (row.note == nullptr ? std::vector<std::string>{} : std::vector<std::string>{row.note}));
  REQUIRE(parsed.facts.has_value() == row.has_answer);
  if (!row.has_answer) return;
  CHECK(parsed.facts->reachable);
  CHECK_FALSE(parsed.facts->local);
  CHECK(parsed.facts->oif == 4);
  CHECK(text_of(*parsed.facts->gateway) == "192.0.2.1");
  CHECK(text_of(*parsed.facts->source) == "192.0.2.2");
  CHECK(parsed.facts->mtu == 9000);
}

TEST_CASE("bonding: an LACP bond with its members") {
  const auto parsed = parse_bonding(R"(Ethernet Channel Bonding Driver: v5.14.0-427.el9.x86_64

Bonding Mode: IEEE 802.3ad Dynamic link aggregation
Transmit Hash Policy: layer2+3 (2)
MII Status: up
MII Polling Interval (ms): 100
Up Delay (ms): 0

802.3ad info
LACP active: on
LACP rate: slow
Min links: 0
Aggregator selection policy (ad_select): stable
System priority: 65535
Active Aggregator Info:
	Aggregator ID: 1
	Number of ports: 2

Slave Interface: ens1f0
MII Status: up
Speed: 25000 Mbps
Duplex: full
Link Failure Count: 1
Aggregator ID: 1
details actor lacp pdu:
    port key: 21
details partner lacp pdu:
    Aggregator ID: 77

Slave Interface: ens1f1
MII Status: down
Speed: Unknown
Duplex: Unknown
Link Failure Count: 12
Aggregator ID: 2
)");
  CHECK(parsed.notes.empty());
  const auto& bond = parsed.facts;
  CHECK(bond.mode.is("802.3ad"));
  CHECK(bond.xmit_hash_policy.is("layer2+3"));
  CHECK(bond.mii_status.is("up"));
  CHECK(bond.lacp_rate.is("slow"));
  CHECK(bond.active_aggregator_id.is(1));
  CHECK(bond.active_slave.is_absent());
  REQUIRE(bond.slaves.size() == 2);
  CHECK(bond.slaves[0].name == "ens1f0");
  CHECK(bond.slaves[0].speed_mbps.is(25000));
  CHECK(bond.slaves[0].aggregator_id.is(1));
  CHECK(bond.slaves[1].mii_status.is("down"));
  CHECK(bond.slaves[1].speed_mbps.is_absent());
  CHECK(bond.slaves[1].duplex.is_absent());
  CHECK(bond.slaves[1].link_failure_count.is(12));
}

TEST_CASE("bonding: active-backup, and texts that are cut or something else") {
  const auto backup = parse_bonding(
      "Bonding Mode: fault-tolerance (active-backup)\nCurrently Active Slave: eth1\nMII Status: up\n"
      "Slave Interface: eth0\nMII Status: up\nSpeed: 10000 Mbps\nDuplex: half\nSlave Interface: eth1\n");
  CHECK(backup.notes.empty());
  CHECK(backup.facts.mode.is("active-backup"));
  CHECK(backup.facts.active_slave.is("eth1"));
  CHECK(backup.facts.xmit_hash_policy.is_absent());
  REQUIRE(backup.facts.slaves.size() == 2);
  CHECK(backup.facts.slaves[0].duplex.is("half"));
  CHECK(backup.facts.slaves[1].mii_status.is_unknown());
  CHECK(parse_bonding("Bonding Mode: fault-tolerance (active-backup)\nCurrently Active Slave: None\n")
            .facts.active_slave.is_absent());
  CHECK(parse_bonding("Bonding Mode: something new\n").facts.mode.is("something new"));
  CHECK(parse_bonding("").notes.size() == 1);
  CHECK(parse_bonding("<html>\n").notes.size() == 1);
  CHECK(parse_bonding("Bonding Mode: x\nSlave Interface:\n").notes.size() == 1);
}

TEST_CASE("net/dev: counters of every interface, an odd line costs itself") {
  const auto parsed = parse_net_dev(
      "Inter-|   Receive                                                |  Transmit\n"
      " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier "
      "compressed\n"
      "    lo:    3267      29    0    0    0     0          0         0     3267      29    0    0    0     0       0 "
      "0\n"
      "  eth0: 32708302 990 1 2 0 0 0 0 55122 694 3 4 0 0 0 0\n"
      "  eth1: 1 2 3\n"
      "  eth2: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 x\n"
      "      : 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n"
      "nothing\n");
  CHECK(parsed.notes.size() == 4);
  REQUIRE(parsed.facts.size() == 2);
  const auto& eth0 = parsed.facts[1];
  CHECK(eth0.name == "eth0");
  CHECK(eth0.rx_errors.is(1));
  CHECK(eth0.rx_dropped.is(2));
  CHECK(eth0.tx_bytes.is(55122));
  CHECK(eth0.tx_errors.is(3));
  CHECK(eth0.tx_dropped.is(4));
  CHECK(eth0.mtu.is_unknown());
}

TEST_CASE("interfaces: the kind is seen by signs") {
  struct Row {
    InterfaceSigns signs;
    const char* kind;
  };
  const Row row = GENERATE(
      Row{{"", "772", "1", "1"}, "loopback"}, Row{{"INTERFACE=eth0\nIFINDEX=4\n", "1", "4", "4", true}, "physical"},
      Row{{"", "32", "4", "4", true}, "infiniband"}, Row{{"DEVTYPE=bond\n", "1", "5", "5", false, false, true}, "bond"},
      Row{{"DEVTYPE=vlan\nINTERFACE=bond0.7\n", "1", "6", "5", false, true}, "vlan"},
      Row{{"DEVTYPE=bridge\n", "1", "6", "6", false, false, false, true}, "bridge"},
      Row{{"", "65534", "6", "6", false, false, false, false, true}, "tun"},
      Row{{"INTERFACE=vethabc\n", "1", "9", "2"}, "veth"}, Row{{"INTERFACE=ifb0\n", "1", "2", "2"}, "virtual"},
      Row{{"", "", "", ""}, "virtual"}, Row{{"DEVTYPE=\n", "1", "", ""}, "virtual"});
  CHECK(interface_kind(row.signs) == row.kind);
}

TEST_CASE("sockets: only those to a server and port of the mounts, an IPv4-mapped one is the same peer") {
  facts::Nfs nfs;
  const auto add = [&](const char* addr, std::uint32_t port, const char* proto) {
    auto& client = nfs.clients.emplace_back();
    if (addr != nullptr) client.addr = addr;
    client.port = port;
    if (proto != nullptr) client.proto = proto;
  };
  add("10.9.0.3", 2049, "tcp");
  add("10.9.0.3", 2049, "tcp");
  add("fe80::1%2", 2049, "tcp6");
  add("10.9.0.4", 2049, "udp");
  add("server", 2049, "tcp");
  add(nullptr, 2049, "tcp");
  const auto servers = server_ports(nfs);
  REQUIRE(servers.size() == 3);

  const auto rows = parse_net_tcp(
      "   0: 0200090A:0322 0300090A:0801 01 0:0 0:0 0 0 0 1614\n"
      "   1: 0200090A:0323 0300090A:0016 01 0:0 0:0 0 0 0 1615\n"
      "   2: 0000000000000000FFFF00000200090A:0324 0000000000000000FFFF00000300090A:0801 01 0:0 0:0 0 0 0 1616\n"
      "   3: 0200090A:0325 0400090A:0801 01 0:0 0:0 0 0 0 1617\n"
      "   4: 000080FE000000000000000002000000:0326 000080FE000000000000000001000000:0801 01 0:0 0:0 0 0 0 1618\n");
  REQUIRE(rows.notes.empty());
  facts::NetSocket told = socket_of(rows.facts[0]);
  told.rtt_us = 99U;
  facts::NetSocket other = socket_of(rows.facts[2]);
  other.rtt_us = 77U;
  other.inode = 4711U;  // the same ends in another network namespace
  const auto sockets = join_sockets(rows.facts, {told, other}, servers);
  REQUIRE(sockets.size() == 3);
  CHECK(sockets[0].rtt_us.is(99));
  CHECK(sockets[1].local_port == 804);
  CHECK(sockets[1].peer_addr == "10.9.0.3");
  CHECK(sockets[1].rtt_us.is_unknown());
  CHECK(sockets[2].peer_addr == "fe80::1");
  CHECK(sockets_of({told, socket_of(rows.facts[1])}, servers).size() == 1);
  CHECK(count_ports(rows.facts, 802, 804) == 3);
}

TEST_CASE("paths: interface, what is below it, least MTU and speed") {
  RouteTables tables;
  tables.ipv4 = parse_route(
                    "bond0.7\t000200C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\n"
                    "eth0\t00000000\t010300C0\t0003\t0\t0\t0\t00000000\t0\t0\t0\n")
                    .facts;
  tables.local = std::vector<Address>{ip("192.0.2.2")};
  std::vector<facts::NetPath> paths{path_of_tables("192.0.2.9", tables, {}), path_of_tables("203.0.113.1", tables, {}),
                                    path_of_tables("192.0.2.2", tables, {}), path_of_tables("127.0.0.1", tables, {}),
                                    path_of_tables("2001:db8::1", tables, {})};
  std::vector<facts::NetInterface> interfaces(5);
  const auto fill = [&](std::size_t i, const char* name, std::uint32_t mtu, Fact<std::uint32_t> speed,
                        std::vector<std::string> lower) {
    interfaces[i].name = name;
    interfaces[i].mtu = mtu;
    interfaces[i].speed_mbps = speed;
    interfaces[i].lower = std::move(lower);
  };
  fill(0, "bond0.7", 9000, 50000U, {"bond0"});
  fill(1, "bond0", 9000, 50000U, {"ens1f0", "ens1f1"});
  fill(2, "ens1f0", 9000, 25000U, {});
  fill(3, "ens1f1", 1500, 10000U, {});
  fill(4, "eth0", 1500, none<std::uint32_t>(), {});
  facts::NetSocket socket;
  socket.peer_addr = "192.0.2.9";
  socket.local_addr = "192.0.2.2";
  finish_paths(paths, interfaces, {socket});

  CHECK(paths[0].interface.is("bond0.7"));
  CHECK(paths[0].on_link.is(true));
  CHECK(paths[0].gateway.is_absent());
  CHECK(paths[0].interfaces == std::vector<std::string>{"bond0.7", "bond0", "ens1f0", "ens1f1"});
  CHECK(paths[0].mtu.is(1500));
  CHECK(paths[0].speed_mbps.is(10000));
  CHECK(paths[0].source_addr.is("192.0.2.2"));
  CHECK(paths[0].local.is(false));
  CHECK(paths[1].gateway.is("192.0.3.1"));
  CHECK(paths[1].on_link.is(false));
  CHECK(paths[1].speed_mbps.is_absent());
  CHECK(paths[1].source_addr.is_unknown());
  CHECK(paths[2].local.is(true));
  CHECK(paths[2].interface.is("lo"));
  CHECK(paths[3].local.is(true));
  CHECK(paths[4].interface.is_unknown());  // the IPv6 table could not be read
  CHECK(interfaces[3].carries_nfs);

  tables.ipv4 = std::vector<Route>{};
  CHECK(path_of_tables("192.0.2.9", tables, {}).interface.is_absent());
}

TEST_CASE("paths: a link-local server is on the interface of its zone, by name or number") {
  RouteTables tables;
  tables.local = std::vector<Address>{};
  tables.ipv6 = std::vector<Route>{{"eth0", ip("fe80::"), 64, {}, 256}, {"eth1", ip("fe80::"), 64, {}, 256}};
  CHECK(path_of_tables("fe80::1%eth1", tables, {}).interface.is("eth1"));
  CHECK(path_of_tables("fe80::1%3", tables, {{3, "eth1"}}).interface.is("eth1"));
}

TEST_CASE("paths: what rtnetlink answers goes before the tables") {
  RouteAnswer answer;
  answer.reachable = true;
  answer.oif = 4;
  answer.gateway = ip("192.0.2.1");
  answer.source = ip("192.0.2.2");
  answer.mtu = 1400;
  const auto path = path_of_answer("203.0.113.1", answer, {{4, "eth0"}});
  CHECK(path.interface.is("eth0"));
  CHECK(path.gateway.is("192.0.2.1"));
  CHECK(path.source_addr.is("192.0.2.2"));
  CHECK(path.mtu.is(1400));
  CHECK(path_of_answer("203.0.113.1", answer, {}).interface.is_unknown());
  CHECK(path_of_answer("203.0.113.1", std::nullopt, {}).interface.is_absent());
}

TEST_CASE("interfaces: another namespace is told by the names, one that came or went is not") {
  std::vector<facts::NetInterface> theirs(3);
  theirs[0].name = "lo";
  theirs[1].name = "eth0";
  theirs[2].name = "bond0";
  CHECK(same_names({"bond0", "bonding_masters", "eth0", "lo"}, theirs));
  CHECK(same_names({"bond0", "eth0", "lo", "veth1"}, theirs));
  CHECK_FALSE(same_names({"eth0", "lo", "veth1"}, theirs));
  theirs[1].kind = "veth";
  theirs[2].kind = "veth";
  theirs[2].carries_nfs = true;
  CHECK(without_pod_pairs(theirs).size() == 2);
}
