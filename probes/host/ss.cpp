#include "probes/host/ss.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>

#include "audit/base/text.h"
#include "probes/host/address.h"
#include "probes/host/lines.h"
#include "probes/probe.h"

namespace probes {

namespace {

using facts::NetSocket;

struct StateRow {
  std::string_view ss;
  const char* state;
};
constexpr StateRow states[] = {
    {"ESTAB", "ESTABLISHED"},    {"SYN-SENT", "SYN_SENT"},   {"SYN-RECV", "SYN_RECV"},     {"FIN-WAIT-1", "FIN_WAIT1"},
    {"FIN-WAIT-2", "FIN_WAIT2"}, {"TIME-WAIT", "TIME_WAIT"}, {"CLOSE-WAIT", "CLOSE_WAIT"}, {"LAST-ACK", "LAST_ACK"},
    {"CLOSING", "CLOSING"},      {"UNCONN", "CLOSE"},        {"LISTEN", "LISTEN"},
};

const char* state_of(std::string_view word) {
  for (const auto& row : states)
    if (row.ss == word) return row.state;
  // as a filter names them: "state established"
  if (word == "established" || word == "connected") return "ESTABLISHED";
  if (word == "syn-sent") return "SYN_SENT";
  if (word == "close-wait") return "CLOSE_WAIT";
  if (word == "time-wait") return "TIME_WAIT";
  return nullptr;
}

struct End {
  std::string addr;
  std::uint32_t port = 0;
};

// "10.9.0.2:966", "[::ffff:192.0.2.21]:2049", "10.9.0.2%eth0:966", "[fe80::1]%eth0:2049". Nothing for "*:*" and names.
std::optional<End> parse_end(std::string_view text) {
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const auto port = base::number<std::uint16_t>(text.substr(colon + 1));
  if (!port) return std::nullopt;
  std::string host(text.substr(0, colon));
  std::erase_if(host, [](char c) { return c == '[' || c == ']'; });
  const auto address = parse_address(std::string_view(host).substr(0, host.find('%')));
  if (!address) return std::nullopt;
  if (host.starts_with("::ffff:") && host.find('.') != std::string::npos) host.erase(0, 7);
  return End{host, *port};
}

bool is_end(std::string_view text) { return text.find(':') != std::string_view::npos; }

facts::Fact<std::uint64_t> micros(std::string_view milliseconds) {
  const auto value = base::real(milliseconds);
  if (!value || !(*value >= 0) || *value > 1e12) return {};
  return static_cast<std::uint64_t>(std::llround(*value * 1000));
}
facts::Fact<std::uint64_t> whole(std::string_view text) {
  const auto value = base::number<std::uint64_t>(text);
  return value ? facts::Fact<std::uint64_t>(*value) : facts::Fact<std::uint64_t>{};
}

// "42sec", "1min30sec", "4.200ms", "500ms"
facts::Fact<std::uint64_t> timer_ms(std::string_view text) {
  double total = 0;
  while (!text.empty()) {
    const auto unit = text.find_first_not_of("0123456789.");
    if (unit == std::string_view::npos || unit == 0) return {};
    const auto value = base::real(text.substr(0, unit));
    text.remove_prefix(unit);
    if (!value || !(*value >= 0) || *value > 1e9) return {};
    if (text.starts_with("ms")) {
      // Below ten seconds ss prints "2.680ms" for 2 s 680 ms.
      const bool split = *value != std::floor(*value);
      total += split ? *value * 1000 : *value;
      text.remove_prefix(2);
    } else if (text.starts_with("sec")) {
      total += *value * 1000;
      text.remove_prefix(3);
    } else if (text.starts_with("min")) {
      total += *value * 60000;
      text.remove_prefix(3);
    } else {
      return {};
    }
  }
  return static_cast<std::uint64_t>(std::llround(total));
}

// "timer:(keepalive,42sec,0)"
void take_timer(std::string_view text, NetSocket& socket) {
  const auto close = text.find(')');
  if (!text.starts_with('(') || close == std::string_view::npos) return;
  const auto parts = base::split(text.substr(1, close - 1), ',');
  if (parts.size() != 3) return;
  const bool probing = parts[0] == "persist" || parts[0] == "keepalive";
  if (parts[0] == "on")
    socket.timer = "retransmit";
  else if (parts[0] == "persist")
    socket.timer = "probe";
  else if (parts[0] == "timewait")
    socket.timer = "time-wait";
  else
    socket.timer = std::string(parts[0]);
  socket.timer_ms = timer_ms(parts[1]);
  (probing ? socket.probes : socket.retransmits) = whole(parts[2]);
}

// The tokens of -i, -o and -e, on the line itself or on the indented one behind it.
void take_info(const std::vector<std::string_view>& words, std::size_t from, NetSocket& socket) {
  bool from_diag =
      false;  // without sock_diag ss falls back on /proc/net/tcp: then rto is in seconds and there is no rtt
  for (std::size_t i = from; i < words.size(); ++i) from_diag = from_diag || words[i].starts_with("rtt:");
  for (std::size_t i = from; i < words.size(); ++i) {
    const auto colon = words[i].find(':');
    if (colon == std::string_view::npos) continue;
    const auto key = words[i].substr(0, colon);
    const auto value = words[i].substr(colon + 1);
    const auto slash = value.find('/');
    if (key == "timer") {
      take_timer(value, socket);
    } else if (key == "rtt") {
      socket.rtt_us = micros(value.substr(0, slash));
      if (slash != std::string_view::npos) socket.rtt_var_us = micros(value.substr(slash + 1));
    } else if (key == "minrtt") {
      socket.min_rtt_us = micros(value);
    } else if (key == "rto" && from_diag) {
      socket.rto_us = micros(value);
    } else if (key == "mss") {
      socket.send_mss_bytes = whole(value);
    } else if (key == "rcvmss") {
      socket.recv_mss_bytes = whole(value);
    } else if (key == "pmtu") {
      socket.path_mtu_bytes = whole(value);
    } else if (key == "cwnd") {
      socket.cwnd = whole(value);
    } else if (key == "unacked") {
      socket.unacked = whole(value);
    } else if (key == "lost") {
      socket.lost = whole(value);
    } else if (key == "retrans" && slash != std::string_view::npos) {
      // of what is in flight / since the connection was made
      if (!socket.retransmits.has_value()) socket.retransmits = whole(value.substr(0, slash));
      if (from_diag) socket.total_retrans = whole(value.substr(slash + 1));
    } else if (key == "segs_out") {
      socket.segs_out = whole(value);
    } else if (key == "segs_in") {
      socket.segs_in = whole(value);
    } else if (key == "bytes_acked") {
      socket.bytes_acked = whole(value);
    } else if (key == "bytes_received") {
      socket.bytes_received = whole(value);
    } else if (key == "lastsnd") {
      socket.last_send_ms = whole(value);
    } else if (key == "lastrcv") {
      socket.last_recv_ms = whole(value);
    } else if (key == "ino") {
      socket.inode = whole(value);
    }
  }
  // tcp_diag prints what is not zero only.
  if (from_diag) {
    for (auto* fact : {&socket.total_retrans, &socket.lost, &socket.unacked, &socket.retransmits})
      if (fact->is_unknown()) *fact = std::uint64_t{0};
  }
}

}  // namespace

Parsed<std::vector<NetSocket>> parse_ss(std::string_view text) {
  Parsed<std::vector<NetSocket>> parsed;
  Lines lines(text, parsed.notes);
  std::string_view line;
  std::string filtered = "unknown";  // the state where the column is missing
  bool open = false;                 // the last line gave a socket: an indented one behind it is its info
  while (lines.next(line)) {
    const auto words = base::fields(line);
    if (words.empty()) {
      open = false;
      continue;
    }
    for (std::size_t i = 0; i + 1 < words.size(); ++i)
      if (words[i] == "state" && state_of(words[i + 1]) != nullptr) filtered = state_of(words[i + 1]);
    const bool indented = is_blank(line.front());
    if (words[0].starts_with('#') || words[0].starts_with('$')) continue;
    if (words[0] == "State" || words[0] == "Recv-Q" || words[0] == "Netid") continue;

    std::size_t at = 0;
    const bool tcp = words[0] == "tcp" || words[0] == "tcp6";
    const bool other = words[0] == "udp" || words[0] == "u_str" || words[0] == "u_dgr" || words[0] == "nl" ||
                       words[0] == "raw" || words[0] == "icmp6" || words[0] == "p_raw" || words[0] == "v_str" ||
                       words[0] == "mptcp" || words[0] == "sctp" || words[0] == "u_seq" || words[0] == "udplite";
    if (other) {
      open = false;
      continue;
    }
    if (tcp) ++at;
    const char* state = at < words.size() ? state_of(words[at]) : nullptr;
    if (state != nullptr) ++at;
    const bool shaped = at + 3 < words.size() && base::number<std::uint64_t>(words[at]) &&
                        base::number<std::uint64_t>(words[at + 1]) && is_end(words[at + 2]) && is_end(words[at + 3]);
    if (!shaped) {
      if (indented && open) {
        take_info(words, 0, parsed.facts.back());
      } else if (!indented) {
        open = false;
        add_note(parsed.notes, lines.number(), "no line of ss(8)");
      }
      continue;
    }
    open = false;
    if (state != nullptr && (std::string_view(state) == "LISTEN" || std::string_view(state) == "CLOSE")) continue;
    const auto local = parse_end(words[at + 2]);
    const auto peer = parse_end(words[at + 3]);
    if (!local || !peer) {
      const bool listening = words[at + 3].ends_with(":*");
      if (!listening)
        add_note(parsed.notes, lines.number(), "an end without address and port number (ss -n prints them)");
      continue;
    }
    NetSocket socket;
    socket.local_addr = local->addr;
    socket.local_port = local->port;
    socket.peer_addr = peer->addr;
    socket.peer_port = peer->port;
    socket.state = state != nullptr ? state : filtered;
    socket.rx_queue_bytes = whole(words[at]);
    socket.tx_queue_bytes = whole(words[at + 1]);
    take_info(words, at + 4, socket);
    parsed.facts.push_back(std::move(socket));
    open = true;
  }
  return parsed;
}

// Of a paste with everything on a host only the connections of NFS are kept: port 2049 or 20049 on either side, or the
// address and port of a mount.
void read_ss(Reading& reading) {
  facts::Facts& facts = reading.facts();
  for (const GivenText& given : reading.given("ss")) {
    reading.given_row(given);
    auto parsed = parse_ss(given.text);
    reading.note(parsed.notes);
    if (!facts.network.sockets.has_value()) facts.network.sockets = std::vector<NetSocket>{};
    for (NetSocket& socket : parsed.facts) {
      const auto served = [](std::uint32_t port) { return port == 2049 || port == 20049; };
      const bool mounted = std::any_of(facts.nfs.mounts.begin(), facts.nfs.mounts.end(), [&](const facts::NfsMount& m) {
        return m.addr.has_value() && socket.peer_port == m.port.value_or(2049) &&
               same_address(*m.addr, socket.peer_addr);
      });
      if (mounted || served(socket.peer_port) || served(socket.local_port))
        facts.network.sockets->push_back(std::move(socket));
    }
  }
}

}  // namespace probes
