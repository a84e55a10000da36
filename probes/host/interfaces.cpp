#include "probes/host/interfaces.h"

#include <algorithm>
#include <array>
#include <utility>

#include "audit/base/text.h"

namespace probes {

namespace {

using facts::Fact;

bool take_prefix(std::string_view& line, std::string_view prefix) {
  if (!line.starts_with(prefix)) return false;
  line.remove_prefix(prefix.size());
  line = base::trim(line);
  return true;
}

// "IEEE 802.3ad Dynamic link aggregation" -> 802.3ad, as the option mode= names them.
std::string bond_mode(std::string_view words) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 7> modes{
      {{"load balancing (round-robin)", "balance-rr"},
       {"fault-tolerance (active-backup)", "active-backup"},
       {"load balancing (xor)", "balance-xor"},
       {"fault-tolerance (broadcast)", "broadcast"},
       {"IEEE 802.3ad Dynamic link aggregation", "802.3ad"},
       {"transmit load balancing", "balance-tlb"},
       {"adaptive load balancing", "balance-alb"}}};
  for (const auto& [text, mode] : modes) {
    if (words.starts_with(text)) return std::string(mode);
  }
  return std::string(words);
}

template <class T>
Fact<T> number_or_absent(std::string_view word) {
  const auto value = base::number<T>(word);
  return value ? Fact<T>(*value) : Fact<T>::absent();
}

std::string_view first_word(std::string_view text) { return text.substr(0, text.find(' ')); }

void take_slave_line(std::string_view line, facts::BondSlave& slave) {
  if (take_prefix(line, "MII Status:")) slave.mii_status = std::string(line);
  if (take_prefix(line, "Speed:")) slave.speed_mbps = number_or_absent<std::uint32_t>(first_word(line));
  if (take_prefix(line, "Duplex:"))
    slave.duplex =
        line == "full" || line == "half" ? Fact<std::string>(std::string(line)) : Fact<std::string>::absent();
  if (take_prefix(line, "Link Failure Count:")) slave.link_failure_count = number_or_absent<std::uint64_t>(line);
  if (take_prefix(line, "Aggregator ID:")) slave.aggregator_id = number_or_absent<std::uint32_t>(line);
}

void take_bond_line(std::string_view line, facts::Bond& bond) {
  if (take_prefix(line, "Bonding Mode:")) bond.mode = bond_mode(line);
  if (take_prefix(line, "Transmit Hash Policy:")) bond.xmit_hash_policy = std::string(first_word(line));
  if (take_prefix(line, "Currently Active Slave:"))
    bond.active_slave = line == "None" ? Fact<std::string>::absent() : Fact<std::string>(std::string(line));
  if (take_prefix(line, "MII Status:")) bond.mii_status = std::string(line);
  if (take_prefix(line, "LACP rate:")) bond.lacp_rate = std::string(line);
  // Of the "Active Aggregator Info:" paragraph, before the first slave.
  if (take_prefix(line, "Aggregator ID:")) bond.active_aggregator_id = number_or_absent<std::uint32_t>(line);
}

std::string_view value_of(std::string_view uevent, std::string_view key) {
  std::string_view line;
  while (base::next_line(uevent, line)) {
    if (line.size() > key.size() && line.starts_with(key) && line[key.size()] == '=')
      return base::trim(line.substr(key.size() + 1));
  }
  return {};
}

// A file of one line; nothing when it cannot be had (speed gives EINVAL on an interface that has none).
std::string line_of(const Host& host, const std::string& path) {
  const auto text = host.read(path);
  return text ? std::string(base::trim(*text)) : std::string();
}

Fact<std::uint64_t> counter(const Host& host, const std::string& path) {
  const auto value = base::number<std::uint64_t>(line_of(host, path));
  return value ? Fact<std::uint64_t>(*value) : Fact<std::uint64_t>();
}

// The file is there and the read ends in EINVAL: the interface has no such property. A capture keeps that as malformed.
bool refused(const base::Error& error) {
  return error.kind == base::ErrorKind::io || error.kind == base::ErrorKind::malformed;
}

// Absent where the kernel answers that there is none (-1, "unknown", EINVAL), unknown where we could not ask.
Fact<std::uint32_t> read_speed(const Host& host, const std::string& path) {
  const auto text = host.read(path);
  if (!text) return refused(text.error()) ? Fact<std::uint32_t>::absent() : Fact<std::uint32_t>();
  const auto value = base::number<std::int64_t>(base::trim(*text));
  if (!value) return {};
  // SPEED_UNKNOWN is -1; some drivers of old kernels print it unsigned, in 16 or 32 bits.
  if (*value <= 0 || *value == 65535 || *value >= 4294967295) return Fact<std::uint32_t>::absent();
  return static_cast<std::uint32_t>(*value);
}

Fact<std::string> read_duplex(const Host& host, const std::string& path) {
  const auto text = host.read(path);
  if (!text) return refused(text.error()) ? Fact<std::string>::absent() : Fact<std::string>();
  const auto word = base::trim(*text);
  if (word == "full" || word == "half") return std::string(word);
  return Fact<std::string>::absent();
}

}  // namespace

Parsed<facts::Bond> parse_bonding(std::string_view text) {
  Parsed<facts::Bond> parsed;
  facts::Bond& bond = parsed.facts;
  bool in_partner = false;  // "details partner lacp pdu" and its like repeat words of ours
  std::string_view line;
  while (base::next_line(text, line)) {
    line = base::trim(line);
    if (line.starts_with("details ")) in_partner = true;
    if (take_prefix(line, "Slave Interface:")) {
      in_partner = false;
      if (line.empty())
        parsed.notes.push_back({0, "a slave without a name"});
      else
        bond.slaves.emplace_back().name = std::string(line);
    } else if (!in_partner) {
      if (bond.slaves.empty())
        take_bond_line(line, bond);
      else
        take_slave_line(line, bond.slaves.back());
    }
  }
  if (bond.mode.is_unknown()) parsed.notes.push_back({0, "no \"Bonding Mode:\" line"});
  if (bond.mode.has_value()) {
    if (bond.xmit_hash_policy.is_unknown()) bond.xmit_hash_policy = Fact<std::string>::absent();
    if (bond.active_slave.is_unknown()) bond.active_slave = Fact<std::string>::absent();
  }
  return parsed;
}

Parsed<std::vector<facts::NetInterface>> parse_net_dev(std::string_view text) {
  Parsed<std::vector<facts::NetInterface>> parsed;
  std::string_view line;
  for (std::size_t number = 1; base::next_line(text, line); ++number) {
    if (base::trim(line).empty() || line.find('|') != std::string_view::npos) continue;  // the heading has bars
    const auto colon = line.rfind(':');  // an old alias has one in its name (eth0:1)
    const auto f = base::fields(colon == std::string_view::npos ? std::string_view{} : line.substr(colon + 1));
    std::array<std::uint64_t, 16> n{};
    bool good = f.size() >= n.size() && !base::trim(line.substr(0, colon)).empty();
    for (std::size_t i = 0; good && i < n.size(); ++i) {
      const auto value = base::number<std::uint64_t>(f[i]);
      good = value.has_value();
      if (good) n[i] = *value;
    }
    if (!good) {
      parsed.notes.push_back({number, "no NAME: with 16 numbers"});
      continue;
    }
    auto& i = parsed.facts.emplace_back();
    i.name = std::string(base::trim(line.substr(0, colon)));
    i.rx_bytes = n[0];
    i.rx_packets = n[1];
    i.rx_errors = n[2];
    i.rx_dropped = n[3];
    i.tx_bytes = n[8];
    i.tx_packets = n[9];
    i.tx_errors = n[10];
    i.tx_dropped = n[11];
  }
  return parsed;
}

std::string interface_kind(const InterfaceSigns& signs) {
  constexpr std::string_view arphrd_loopback = "772";
  constexpr std::string_view arphrd_infiniband = "32";
  constexpr std::string_view arphrd_ether = "1";
  if (signs.type == arphrd_loopback) return "loopback";
  if (signs.is_bond) return "bond";
  if (signs.is_bridge) return "bridge";
  if (signs.is_tun) return "tun";
  if (const auto devtype = value_of(signs.uevent, "DEVTYPE"); !devtype.empty()) return std::string(devtype);
  if (signs.has_device) return signs.type == arphrd_infiniband ? "infiniband" : "physical";
  // The other end of a pair lies in another namespace, where nothing below it can be seen.
  if (signs.type == arphrd_ether && !signs.has_lower && !signs.ifindex.empty() && !signs.iflink.empty() &&
      signs.ifindex != signs.iflink)
    return "veth";
  return "virtual";
}

facts::NetInterface read_interface(const Host& host, const std::string& name) {
  const std::string dir = "/sys/class/net/" + name;
  facts::NetInterface interface;
  interface.name = name;
  InterfaceSigns signs;
  const auto entries = host.list(dir);
  if (!entries) return interface;
  const auto has = [&](std::string_view entry) {
    return std::find(entries->begin(), entries->end(), entry) != entries->end();
  };
  for (const auto& entry : *entries) {
    if (entry.starts_with("lower_")) interface.lower.push_back(entry.substr(6));
  }
  signs.uevent = host.read(dir + "/uevent").value_or("");
  signs.type = line_of(host, dir + "/type");
  signs.ifindex = line_of(host, dir + "/ifindex");
  signs.iflink = line_of(host, dir + "/iflink");
  signs.has_device = has("device");
  signs.has_lower = !interface.lower.empty();
  signs.is_bond = has("bonding");
  signs.is_bridge = has("bridge");
  signs.is_tun = has("tun_flags");
  interface.kind = interface_kind(signs);

  if (const auto mtu = base::number<std::uint32_t>(line_of(host, dir + "/mtu"))) interface.mtu = *mtu;
  interface.speed_mbps = read_speed(host, dir + "/speed");
  interface.duplex = read_duplex(host, dir + "/duplex");
  if (const auto state = line_of(host, dir + "/operstate"); !state.empty()) interface.operstate = state;
  if (!has("master")) {
    interface.master = Fact<std::string>::absent();
  } else if (const auto link = host.link(dir + "/master")) {
    interface.master = link->substr(link->rfind('/') + 1);
  }
  const auto statistics = [&](const char* file) { return counter(host, dir + "/statistics/" + file); };
  interface.rx_bytes = statistics("rx_bytes");
  interface.tx_bytes = statistics("tx_bytes");
  interface.rx_packets = statistics("rx_packets");
  interface.tx_packets = statistics("tx_packets");
  interface.rx_errors = statistics("rx_errors");
  interface.tx_errors = statistics("tx_errors");
  interface.rx_dropped = statistics("rx_dropped");
  interface.tx_dropped = statistics("tx_dropped");
  interface.rx_missed_errors = statistics("rx_missed_errors");
  interface.rx_crc_errors = statistics("rx_crc_errors");
  interface.carrier_changes = counter(host, dir + "/carrier_changes");

  interface.bond = Fact<facts::Bond>::absent();
  if (signs.is_bond) {
    interface.bond = {};
    if (const auto text = host.read("/proc/1/net/bonding/" + name)) interface.bond = parse_bonding(*text).facts;
  }
  return interface;
}

}  // namespace probes
