// Connections that the log tells of: how often they were lost, why, and what that looks like.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "audit/base/instant.h"
#include "audit/base/text.h"
#include "audit/eval/derive_help.h"
#include "audit/eval/derive_iscsi.h"
#include "audit/eval/derive_storage.h"

namespace audit {

namespace {

using namespace derive_help;
using facts::Absent;
using facts::Value;
using Place = Storage::Place;

const facts::IscsiSession& session_at(const Context& c, std::uint32_t i) { return (*c.facts.iscsi.sessions)[i]; }
const facts::IscsiSession& session_of(const Context& c, const Item& item) { return session_at(c, item.index); }

// --- disconnects that the log tells of -----------------------------------------------------------------------------

// The stamp in seconds, for differences only. A syslog stamp names no year and no zone.
std::optional<double> stamp_s(const facts::LogMessage& m) {
  if (m.at.has_value()) {
    const std::string& at = *m.at;
    if (const auto epoch = base::epoch_of(at)) return epoch;
    if (const auto epoch = base::epoch_of(at + 'Z')) return epoch;
    static constexpr std::string_view months = "JanFebMarAprMayJunJulAugSepOctNovDec";
    const auto words = base::fields(at);
    if (words.size() >= 3 && words[0].size() == 3) {
      const auto month = months.find(words[0]);
      const auto day = base::number<int>(words[1]);
      if (month != std::string_view::npos && month % 3 == 0 && day) {
        if (const auto epoch = base::epoch_of(fmt::format("2000-{:02}-{:02}T{}Z", month / 3 + 1, *day, words[2])))
          return epoch;
      }
    }
  }
  return m.boot_s.has_value() ? std::optional<double>(*m.boot_s) : std::nullopt;
}

struct Disconnects {
  std::string connection;                               // "1:0"
  std::vector<std::uint32_t> errors, recovered, pings;  // in log.messages
  std::vector<double> times;                            // of the errors; empty: no stamps
  Place session;
};

// Kernel and iscsid each tell of one event: those of one of them are counted, the kernel's where it told of as many.
std::vector<Disconnects> disconnects_of(const Context& c) {
  struct Told {
    std::vector<std::uint32_t> kernel, iscsid, recovered, pings;
  };
  std::map<std::string, Told> by_connection;
  if (c.facts.log.messages.has_value()) {
    const auto& messages = *c.facts.log.messages;
    for (std::uint32_t i = 0; i < messages.size(); ++i) {
      if (!messages[i].kind.starts_with("iscsi-") || !messages[i].device.has_value()) continue;
      Told& told = by_connection[*messages[i].device];
      if (messages[i].kind == "iscsi-connection-error") told.kernel.push_back(i);
      if (messages[i].kind == "iscsi-connection-error-told") told.iscsid.push_back(i);
      if (messages[i].kind == "iscsi-recovered") told.recovered.push_back(i);
      if (messages[i].kind == "iscsi-ping-timeout") told.pings.push_back(i);
    }
  }
  std::vector<Disconnects> all;
  for (auto& [name, told] : by_connection) {
    Disconnects one;
    one.connection = name;
    one.errors = told.kernel.size() >= told.iscsid.size() ? std::move(told.kernel) : std::move(told.iscsid);
    if (one.errors.empty()) continue;
    one.recovered = std::move(told.recovered);
    one.pings = std::move(told.pings);
    for (const std::uint32_t i : one.errors) {
      if (const auto at = stamp_s((*c.facts.log.messages)[i])) one.times.push_back(*at);
    }
    std::sort(one.times.begin(), one.times.end());
    const auto sid = base::number<std::uint32_t>(std::string_view(name).substr(0, name.find(':')));
    for (std::uint32_t s = 0; s < c.storage().sessions.size(); ++s) {
      if (sid && session_at(c, s).sid.is(*sid)) one.session = s;
    }
    all.push_back(std::move(one));
  }
  return all;
}

Disconnects disconnect_of(const Context& c, const Item& item) { return disconnects_of(c)[item.index]; }

std::vector<Item> disconnect_items(const Context& c) {
  std::vector<Item> items;
  const std::size_t count = disconnects_of(c).size();
  for (std::uint32_t i = 0; i < count; ++i) items.push_back(make_item("iscsi.disconnects", i));
  return items;
}

Value disconnect_count(const Context& c, const Item& item) {
  return static_cast<std::uint64_t>(disconnect_of(c, item).errors.size());
}

// The most within any hour.
Value most_per_hour(const Context& c, const Item& item) {
  const Disconnects one = disconnect_of(c, item);
  if (one.times.size() != one.errors.size()) return unknown("the messages bear no time");
  std::size_t most = 0, from = 0;
  for (std::size_t to = 0; to < one.times.size(); ++to) {
    while (one.times[to] - one.times[from] > 3600) ++from;
    most = std::max(most, to - from + 1);
  }
  return static_cast<std::uint64_t>(most);
}

Value disconnect_codes(const Context& c, const Item& item) {
  std::map<std::string, int> codes;
  for (const std::uint32_t i : disconnect_of(c, item).errors) {
    const facts::LogMessage& m = (*c.facts.log.messages)[i];
    ++codes[fmt::format("{}{}", m.code.value_or(0), m.code_text.has_value() ? ": " + *m.code_text : "")];
  }
  std::string text;
  for (const auto& [code, count] : codes) text += fmt::format("{}{} x {}", text.empty() ? "" : "; ", count, code);
  return text;
}

std::string stamp_text(const facts::LogMessage& m) {
  if (m.at.has_value()) return *m.at;
  return m.boot_s.has_value() ? fmt::format("{:.0f} s after boot", *m.boot_s) : fmt::format("line {}", m.line);
}
Value disconnect_last(const Context& c, const Item& item) {
  return stamp_text((*c.facts.log.messages)[disconnect_of(c, item).errors.back()]);
}
Value disconnect_first(const Context& c, const Item& item) {
  return stamp_text((*c.facts.log.messages)[disconnect_of(c, item).errors.front()]);
}

bool is_code(const facts::LogMessage& m, std::int64_t number) { return m.code.is(number) || m.code.is(number - 1000); }

// A NOP-Out that was not answered: error 22 as older kernels print it, 1022 since.
std::uint64_t ping_timeout_count(const Context& c, const Disconnects& one) {
  std::uint64_t count = 0;
  for (const std::uint32_t i : one.errors)
    count += static_cast<std::uint64_t>(is_code((*c.facts.log.messages)[i], 1022));
  return std::max<std::uint64_t>(count, one.pings.size());
}
Value ping_timeouts(const Context& c, const Item& item) { return ping_timeout_count(c, disconnect_of(c, item)); }

// Closed by the other side and back at the first attempt, again and again a few seconds apart: what two hosts with one
// initiator name do to each other.
Value thrown_out(const Context& c, const Item& item) {
  const Disconnects one = disconnect_of(c, item);
  std::uint64_t closed = 0, at_once = 0;
  for (const std::uint32_t i : one.errors)
    closed += static_cast<std::uint64_t>(is_code((*c.facts.log.messages)[i], 1020));
  for (const std::uint32_t i : one.recovered)
    at_once += static_cast<std::uint64_t>((*c.facts.log.messages)[i].count.is(1U));
  if (closed < 2 || at_once < 2) return std::uint64_t{0};
  if (one.times.size() != one.errors.size()) return unknown("the messages bear no time");
  const double every = (one.times.back() - one.times.front()) / static_cast<double>(one.times.size() - 1);
  return every <= 20 ? std::min(closed, at_once) : std::uint64_t{0};
}

// Of a session, by all its connections in the log; none where no log was read.
Value session_ping_timeouts(const Context& c, const Item& item) {
  if (c.facts.log.messages.is_unknown()) return Absent{};
  std::uint64_t count = 0;
  const auto all = disconnects_of(c);
  for (std::uint32_t i = 0; i < all.size(); ++i) {
    if (all[i].session == item.index) count += ping_timeout_count(c, all[i]);
  }
  return count;
}

// The last thing that the log says of its connections.
Value last_log(const Context& c, const Item& item) {
  if (c.facts.log.messages.is_unknown()) return missing_fact(c, "log.messages");
  const auto& sid = session_of(c, item).sid;
  if (!sid.has_value()) return missing_fact(c, "iscsi.sessions", item.index, "sid");
  const std::string own = fmt::format("{}:", *sid), session = std::to_string(*sid);
  const auto& messages = *c.facts.log.messages;
  for (auto m = messages.rbegin(); m != messages.rend(); ++m) {
    if (!m->kind.starts_with("iscsi-") || !m->device.has_value()) continue;
    if (m->device->starts_with(own) || *m->device == session) return fmt::format("{} {}", stamp_text(*m), m->text);
  }
  return Absent{};
}

Value mean_gap_s(const Context& c, const Item& item) {
  const Disconnects one = disconnect_of(c, item);
  if (one.times.size() < 2) return Absent{};
  return (one.times.back() - one.times.front()) / static_cast<double>(one.times.size() - 1);
}

Scope disconnect_scope() {
  Scope scope;
  scope.name = "iscsi.disconnects";
  scope.type = nullptr;
  scope.items = disconnect_items;
  scope.ref = [](const Context&, const Item&) { return facts::Ref{}; };
  scope.path = [](const Context& c, const Item& item) {
    return fmt::format("log.messages[{}]", disconnect_of(c, item).errors.front());
  };
  scope.subject = [](const Context& c, const Item& item) {
    const auto session = disconnect_of(c, item).session;
    if (session) return Subject{"iscsi.session", session_at(c, *session).id};
    return Subject{"node", c.facts.node.name};
  };
  scope.own_name = [](const Context& c, const Item& item) { return disconnect_of(c, item).connection; };
  constexpr std::string_view by = "log.messages";
  scope.derived = {
      {"connection", text_type, "session and connection number as the log names them", by,
       [](const Context& c, const Item& item) -> Value { return disconnect_of(c, item).connection; }},
      {"count", integer_type, "times that the connection was lost, as far as the log goes", by, disconnect_count},
      {"most_per_hour", integer_type, "the most of them within an hour", by, most_per_hour},
      {"codes", text_type, "errors with their meaning, counted", by, disconnect_codes},
      {"first", text_type, "stamp of the first", by, disconnect_first},
      {"last", text_type, "stamp of the last", by, disconnect_last},
      {"mean_gap_s", number_type, "mean time between two; null for one", by, mean_gap_s},
      {"ping_timeouts", integer_type, "NOP-Outs that were not answered in time (error 22, 1022)", by, ping_timeouts},
      {"thrown_out", integer_type,
       "times that the other side closed the connection and a login at once went well, a few seconds apart", by,
       thrown_out}};
  scope.references = {
      {"session", "session of the connection; null where it is not there any more", "iscsi.sessions",
       [](const Context& c, const Item& item) {
         const auto session = disconnect_of(c, item).session;
         return session ? Joined{make_item("iscsi.sessions", *session), false, ""} : Joined{std::nullopt, true, ""};
       }}};
  scope.collections = {
      {"volumes", "what lies on disks of the session", "block.users", [](const Context& c, const Item& item) {
         std::vector<Item> items;
         const auto session = disconnect_of(c, item).session;
         if (!session) return items;
         for (const std::uint32_t u : c.storage().sessions[*session].uses) items.push_back(make_item("block.users", u));
         return items;
       }}};
  return scope;
}
}  // namespace

void add_iscsi_disconnects(std::vector<Scope>& all) {
  all.push_back(disconnect_scope());
  append(scope_named(all, "iscsi.sessions").derived,
         {{"last_log", text_type, "the last thing that the log says of it; null for nothing", "log.messages", last_log},
          {"ping_timeouts", integer_type, "NOP-Outs of its connection that the log shows as not answered in time",
           "log.messages", session_ping_timeouts}});
}

}  // namespace audit
