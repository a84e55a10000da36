#include "probes/host/sunrpc.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <set>

#include "audit/base/text.h"
#include "probes/budget.h"
#include "probes/probe.h"

namespace probes {

namespace {

using facts::Fact;

// sysfs.c counts the terminating NUL into the text.
std::string_view without_nul(std::string_view text) {
  while (!text.empty() && (text.back() == '\0' || text.back() == '\n' || text.back() == ' ')) text.remove_suffix(1);
  return text;
}

constexpr std::string_view closed = "<closed>";

// Calls `take` with each KEY and VALUE; `take` says whether it knows the key and could read the value.
enum class Taken : unsigned char { yes, unknown_key, bad_value };
std::vector<Note> each_pair(std::string_view text,
                            const std::function<Taken(std::string_view, std::string_view)>& take) {
  std::vector<Note> notes;
  text = without_nul(text);
  if (text == closed) return notes;
  std::string_view line;
  for (std::size_t number = 1; base::next_line(text, line); ++number) {
    line = base::trim(line);
    if (line.empty()) continue;
    const auto equals = line.find('=');
    if (equals == std::string_view::npos) {
      notes.push_back({number, "no KEY=VALUE"});
      continue;
    }
    const auto key = line.substr(0, equals);
    switch (take(key, line.substr(equals + 1))) {
      case Taken::yes: break;
      case Taken::unknown_key: notes.push_back({number, fmt::format("unknown key {}", key), false}); break;
      case Taken::bad_value: notes.push_back({number, fmt::format("{} is no number", key)}); break;
    }
  }
  return notes;
}

template <class T>
Taken take_number(std::string_view text, Fact<T>& into) {
  const auto value = base::number<T>(text);
  if (!value) return Taken::bad_value;
  into = *value;
  return Taken::yes;
}

}  // namespace

std::vector<Note> parse_xprt_switch_info(std::string_view text, facts::RpcSwitch& into) {
  return each_pair(text, [&](std::string_view key, std::string_view value) {
    if (key == "num_xprts") return take_number(value, into.transports_count);
    if (key == "num_active") return take_number(value, into.active_count);
    if (key == "num_unique_destaddr") return take_number(value, into.destinations_count);
    if (key == "queue_len") return take_number(value, into.queue_len);
    return Taken::unknown_key;
  });
}

std::vector<Note> parse_xprt_info(std::string_view text, facts::RpcTransport& into) {
  return each_pair(text, [&](std::string_view key, std::string_view value) {
    if (key == "max_num_slots") return take_number(value, into.max_slots_count);
    if (key == "min_num_slots") return take_number(value, into.min_slots_count);
    if (key == "num_reqs") return take_number(value, into.requests_count);
    if (key == "binding_q_len") return take_number(value, into.binding_queue_count);
    if (key == "sending_q_len") return take_number(value, into.sending_queue_count);
    if (key == "pending_q_len") return take_number(value, into.pending_queue_count);
    if (key == "backlog_q_len") return take_number(value, into.backlog_queue_count);
    if (key == "tasks_queuelen") return take_number(value, into.tasks_count);
    if (key == "main_xprt") {
      if (value != "0" && value != "1") return Taken::bad_value;
      into.main_xprt = value == "1";
      return Taken::yes;
    }
    // 0 for what is no TCP.
    if (key == "src_port" || key == "dst_port") {
      auto& port = key == "src_port" ? into.src_port : into.dst_port;
      const auto taken = take_number(value, port);
      if (port.is(0)) port = Fact<std::uint32_t>::absent();
      return taken;
    }
    // Jiffies since an arbitrary start, and the congestion window in units of 1/256: nothing that a rule could use.
    if (key == "last_used" || key == "cur_cong" || key == "cong_win") return Taken::yes;
    return Taken::unknown_key;
  });
}

std::vector<Note> parse_xprt_state(std::string_view text, facts::RpcTransport& into) {
  auto line = without_nul(text);
  if (!line.starts_with("state=")) return {{1, "no \"state=\""}};
  line.remove_prefix(6);
  for (const auto flag : base::fields(line)) into.state.emplace_back(flag);
  into.connected = std::find(into.state.begin(), into.state.end(), "CONNECTED") != into.state.end();
  return {};
}

std::string proto_of_xprt_name(std::string_view name) {
  if (!name.starts_with("xprt-")) return {};
  name.remove_prefix(5);
  const auto dash = name.find('-');
  if (dash == std::string_view::npos || !base::number<std::uint32_t>(name.substr(0, dash))) return {};
  return std::string(name.substr(dash + 1));
}

namespace {

constexpr const char* switches_dir = "/sys/kernel/sunrpc/xprt-switches";

void add_notes(const std::vector<Note>& notes, const std::string& where, std::set<std::string>& seen,
               std::vector<Note>& all) {
  // The same key in thousands of files is one note.
  for (const auto& note : notes) {
    if (seen.insert(note.reason).second) all.push_back({0, where + ": " + note.reason, note.lost});
  }
}

facts::RpcTransport read_transport(const Host& host, const std::string& dir, const std::string& name,
                                   std::set<std::string>& seen, std::vector<Note>& notes) {
  facts::RpcTransport transport;
  transport.name = name;
  if (auto proto = proto_of_xprt_name(name); !proto.empty()) transport.proto = std::move(proto);
  if (const auto text = host.read(dir + "/dstaddr")) transport.dst_addr = std::string(without_nul(*text));
  if (const auto text = host.read(dir + "/xprt_state"))
    add_notes(parse_xprt_state(*text, transport), dir + "/xprt_state", seen, notes);
  const auto source = host.read(dir + "/srcaddr");
  if (source && !without_nul(*source).empty() && without_nul(*source) != closed)
    transport.src_addr = std::string(without_nul(*source));
  else if (transport.connected.is(false))
    transport.src_addr = Fact<std::string>::absent();
  if (const auto text = host.read(dir + "/xprt_info"))
    add_notes(parse_xprt_info(*text, transport), dir + "/xprt_info", seen, notes);
  return transport;
}

// switch-2 before switch-10.
void sort_by_number(std::vector<std::string>& names) {
  std::stable_sort(names.begin(), names.end(), [](const std::string& a, const std::string& b) {
    return a.size() != b.size() ? a.size() < b.size() : a < b;
  });
}

}  // namespace

void read_xprt_switches(Reading& reading) {
  auto names = reading.list(switches_dir);
  auto& switches = reading.facts().nfs.xprt_switches;
  if (!names) {
    if (names.error().kind == base::ErrorKind::absent) switches = Fact<std::vector<facts::RpcSwitch>>::absent();
    return;
  }
  sort_by_number(*names);
  std::vector<facts::RpcSwitch> all;
  std::vector<Note> notes;
  std::set<std::string> seen;
  auto budget = Budget::of(reading.host(), std::chrono::milliseconds(500), 16384);
  for (const auto& name : *names) {
    const std::string dir = std::string(switches_dir) + "/" + name;
    auto entries = reading.host().list(dir);
    if (!entries) continue;  // it went away meanwhile
    facts::RpcSwitch s;
    s.name = name;
    if (const auto text = reading.host().read(dir + "/xprt_switch_info"))
      add_notes(parse_xprt_switch_info(*text, s), dir + "/xprt_switch_info", seen, notes);
    sort_by_number(*entries);
    for (const auto& entry : *entries) {
      if (!entry.starts_with("xprt-") || !budget.take()) continue;
      s.transports.push_back(read_transport(reading.host(), dir + "/" + entry, entry, seen, notes));
    }
    all.push_back(std::move(s));
    if (budget.spent()) break;
  }
  if (budget.spent()) notes.push_back({0, budget.why("transports")});
  switches = std::move(all);
  reading.note(notes);
}

}  // namespace probes
