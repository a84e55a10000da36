#include "probes/host/net_tcp.h"

#include <linux/inet_diag.h>
#include <linux/rtnetlink.h>
#include <linux/tcp.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <optional>

#include "audit/base/text.h"
#include "probes/host/hex_lines.h"

namespace probes {

namespace {

using facts::Fact;

struct Endpoint {
  Address address;
  std::uint16_t port = 0;
};

std::optional<Endpoint> parse_endpoint(std::string_view text) {
  const auto colon = text.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const auto address = address_from_kernel_hex(text.substr(0, colon));
  const auto port = base::number<std::uint16_t>(text.substr(colon + 1), 16);
  if (!address || !port) return std::nullopt;
  return Endpoint{*address, *port};
}

// "00000000:0000001C": two hexadecimal numbers.
template <class A, class B>
bool parse_pair(std::string_view text, A& first, B& second) {
  const auto colon = text.find(':');
  if (colon == std::string_view::npos) return false;
  const auto a = base::number<A>(text.substr(0, colon), 16);
  const auto b = base::number<B>(text.substr(colon + 1), 16);
  if (!a || !b) return false;
  first = *a;
  second = *b;
  return true;
}

const char* bad_part(std::string_view line, TcpRow& row) {
  // sl local_address rem_address st tx:rx tr:when retrnsmt uid timeout inode, then fields that we do not use.
  const auto f = base::fields(line);
  if (f.size() < 10) return "fewer than 10 fields";
  const auto local = parse_endpoint(f[1]);
  const auto peer = parse_endpoint(f[2]);
  if (!local || !peer) return "an address is not ADDRESS:PORT in hexadecimal";
  const auto state = base::number<std::uint8_t>(f[3], 16);
  if (!state || tcp_state_name(*state).empty()) return "an unknown state";
  if (!parse_pair(f[4], row.tx_queue, row.rx_queue)) return "the queues are no pair of numbers";
  if (!parse_pair(f[5], row.timer, row.timer_when)) return "the timer is no pair of numbers";
  const auto retransmits = base::number<std::uint64_t>(f[6], 16);
  const auto probes = base::number<std::uint64_t>(f[8]);
  const auto inode = base::number<std::uint64_t>(f[9]);
  if (!retransmits || !probes || !inode) return "retransmissions, probes or inode are no number";
  row.local = local->address;
  row.local_port = local->port;
  row.peer = peer->address;
  row.peer_port = peer->port;
  row.state = *state;
  row.retransmits = *retransmits;
  row.probes = *probes;
  row.inode = *inode;
  return nullptr;
}

Fact<std::string> timer_name(std::uint8_t timer) {
  switch (timer) {
    case 0: return Fact<std::string>::absent();
    case 1: return "retransmit";
    case 2: return "keepalive";
    case 3: return "time-wait";
    case 4: return "probe";
    default: return {};
  }
}

template <class T>
Fact<T> absent_if(bool none, T value) {
  return none ? Fact<T>::absent() : Fact<T>(value);
}

// Reads members of tcp_info, as far as the kernel's structure reaches.
struct TcpInfo {
  std::string_view bytes;
  template <class M>
  Fact<std::uint64_t> member(std::size_t offset) const {
    M value{};
    if (bytes.size() < offset + sizeof value) return {};
    std::memcpy(&value, bytes.data() + offset, sizeof value);
    return static_cast<std::uint64_t>(value);
  }
  Fact<std::uint64_t> byte(std::size_t offset) const { return member<std::uint8_t>(offset); }
  Fact<std::uint64_t> word(std::size_t offset) const { return member<std::uint32_t>(offset); }
  Fact<std::uint64_t> wide(std::size_t offset) const { return member<std::uint64_t>(offset); }
};

void take_tcp_info(TcpInfo info, facts::NetSocket& s) {
  s.retransmits = info.byte(offsetof(tcp_info, tcpi_retransmits));
  s.probes = info.byte(offsetof(tcp_info, tcpi_probes));
  s.rto_us = info.word(offsetof(tcp_info, tcpi_rto));
  s.send_mss_bytes = info.word(offsetof(tcp_info, tcpi_snd_mss));
  s.recv_mss_bytes = info.word(offsetof(tcp_info, tcpi_rcv_mss));
  s.unacked = info.word(offsetof(tcp_info, tcpi_unacked));
  s.lost = info.word(offsetof(tcp_info, tcpi_lost));
  s.last_send_ms = info.word(offsetof(tcp_info, tcpi_last_data_sent));
  s.last_recv_ms = info.word(offsetof(tcp_info, tcpi_last_data_recv));
  s.path_mtu_bytes = info.word(offsetof(tcp_info, tcpi_pmtu));
  s.rtt_us = info.word(offsetof(tcp_info, tcpi_rtt));
  s.rtt_var_us = info.word(offsetof(tcp_info, tcpi_rttvar));
  s.cwnd = info.word(offsetof(tcp_info, tcpi_snd_cwnd));
  s.total_retrans = info.word(offsetof(tcp_info, tcpi_total_retrans));
  s.bytes_acked = info.wide(offsetof(tcp_info, tcpi_bytes_acked));
  s.bytes_received = info.wide(offsetof(tcp_info, tcpi_bytes_received));
  s.segs_out = info.word(offsetof(tcp_info, tcpi_segs_out));
  s.segs_in = info.word(offsetof(tcp_info, tcpi_segs_in));
  s.min_rtt_us = info.word(offsetof(tcp_info, tcpi_min_rtt));
  // A connection that has had no sample yet shows 0, and for the minimum the largest number.
  const auto none = Fact<std::uint64_t>::absent();
  if (s.rtt_us.is(0)) s.rtt_us = s.rtt_var_us = none;
  // Nothing was sent or received: the kernel counts from its own start.
  if (s.state == "SYN_SENT") s.last_send_ms = s.last_recv_ms = none;
  if (s.min_rtt_us.is(0) || s.min_rtt_us.is(0xffffffff)) s.min_rtt_us = none;
}

std::string_view address_bytes(const __be32 (&words)[4], std::uint8_t family) {
  return {reinterpret_cast<const char*>(words), family == AF_INET ? std::size_t{4} : std::size_t{16}};
}

const char* bad_message(std::string_view bytes, facts::NetSocket& s) {
  inet_diag_msg m{};
  if (bytes.size() < sizeof m) return "shorter than struct inet_diag_msg";
  std::memcpy(&m, bytes.data(), sizeof m);
  if (m.idiag_family != AF_INET && m.idiag_family != AF_INET6) return "neither IPv4 nor IPv6";
  const auto state = tcp_state_name(m.idiag_state);
  if (state.empty()) return "an unknown state";
  s.local_addr = text_of(*address_from_bytes(address_bytes(m.id.idiag_src, m.idiag_family)));
  s.peer_addr = text_of(*address_from_bytes(address_bytes(m.id.idiag_dst, m.idiag_family)));
  s.local_port = ntohs(m.id.idiag_sport);
  s.peer_port = ntohs(m.id.idiag_dport);
  s.state = std::string(state);
  s.rx_queue_bytes = m.idiag_rqueue;
  s.tx_queue_bytes = m.idiag_wqueue;
  s.timer = timer_name(m.idiag_timer);
  s.timer_ms = absent_if<std::uint64_t>(m.idiag_timer == 0, m.idiag_expires);
  s.inode = absent_if<std::uint64_t>(m.idiag_inode == 0, m.idiag_inode);
  // One number for two things: probes while a probe or keepalive timer runs.
  if (m.idiag_timer == 2 || m.idiag_timer == 4)
    s.probes = m.idiag_retrans;
  else
    s.retransmits = m.idiag_retrans;

  bytes.remove_prefix(sizeof m);
  while (bytes.size() >= sizeof(rtattr)) {
    rtattr a{};
    std::memcpy(&a, bytes.data(), sizeof a);
    if (a.rta_len < sizeof a || a.rta_len > bytes.size()) return "an attribute runs over the end";
    if (a.rta_type == INET_DIAG_INFO) take_tcp_info({bytes.substr(sizeof a, a.rta_len - sizeof a)}, s);
    bytes.remove_prefix(std::min<std::size_t>(bytes.size(), RTA_ALIGN(a.rta_len)));
  }
  return nullptr;
}

}  // namespace

std::string_view tcp_state_name(std::uint8_t state) {
  static constexpr std::array<std::string_view, 14> names{
      "",      "ESTABLISHED", "SYN_SENT", "SYN_RECV", "FIN_WAIT1", "FIN_WAIT2",    "TIME_WAIT",
      "CLOSE", "CLOSE_WAIT",  "LAST_ACK", "LISTEN",   "CLOSING",   "NEW_SYN_RECV", "BOUND_INACTIVE"};
  return state < names.size() ? names[state] : std::string_view{};
}

Parsed<std::vector<TcpRow>> parse_net_tcp(std::string_view text) {
  Parsed<std::vector<TcpRow>> parsed;
  std::string_view line;
  for (std::size_t number = 1; base::next_line(text, line); ++number) {
    if (base::trim(line).empty() || (number == 1 && line.find("local_address") != std::string_view::npos)) continue;
    TcpRow row;
    if (const char* why = bad_part(line, row))
      parsed.notes.push_back({number, why});
    else
      parsed.facts.push_back(std::move(row));
  }
  return parsed;
}

facts::NetSocket socket_of(const TcpRow& row) {
  facts::NetSocket s;
  s.local_addr = text_of(row.local);
  s.local_port = row.local_port;
  s.peer_addr = text_of(row.peer);
  s.peer_port = row.peer_port;
  s.state = std::string(tcp_state_name(row.state));
  s.rx_queue_bytes = row.rx_queue;
  s.tx_queue_bytes = row.tx_queue;
  s.timer = timer_name(row.timer);
  s.timer_ms = absent_if<std::uint64_t>(row.timer == 0, row.timer_when * 10);
  s.retransmits = row.retransmits;
  s.probes = row.probes;
  s.inode = absent_if<std::uint64_t>(row.inode == 0, row.inode);
  return s;
}

Parsed<std::vector<facts::NetSocket>> parse_sock_diag(std::string_view hex_lines) {
  Parsed<std::vector<facts::NetSocket>> parsed;
  std::string_view line;
  for (std::size_t number = 1; base::next_line(hex_lines, line); ++number) {
    if (base::trim(line).empty()) continue;
    const auto bytes = bytes_of_hex(base::trim(line));
    facts::NetSocket socket;
    if (!bytes)
      parsed.notes.push_back({number, "not hexadecimal"});
    else if (const char* why = bad_message(*bytes, socket))
      parsed.notes.push_back({number, why});
    else
      parsed.facts.push_back(std::move(socket));
  }
  return parsed;
}

}  // namespace probes
