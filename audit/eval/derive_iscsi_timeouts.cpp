// The time that a lost path costs, as one system: until it is noticed, until multipath gets the I/O back, and what
// becomes of I/O when no path is left; parameters as they were offered.
#include <fmt/format.h>

#include <algorithm>

#include "audit/base/text.h"
#include "audit/eval/derive_help.h"
#include "audit/eval/derive_iscsi.h"
#include "audit/eval/derive_storage.h"

namespace audit {

namespace {

using namespace derive_help;
using facts::Absent;
using facts::Value;

const facts::IscsiSession& session_at(const Context& c, std::uint32_t i) { return (*c.facts.iscsi.sessions)[i]; }
const facts::IscsiSession& session_of(const Context& c, const Item& item) { return session_at(c, item.index); }
const facts::MultipathMap& map_of(const Context& c, const Item& item) { return (*c.facts.multipath.maps)[item.index]; }

// --- the time that a lost path costs -------------------------------------------------------------------------------

const facts::IscsiConnection* connection_of(const facts::IscsiSession& s) {
  return s.connections.empty() ? nullptr : &s.connections.front();
}

const facts::IscsiSetting* setting_of(const facts::IscsiSession& s, std::string_view key) {
  for (const auto& setting : s.settings) {
    if (setting.key == key) return &setting;
  }
  return nullptr;
}

// A number as it runs, else as the session would have it by its files, the next best first.
struct Effective {
  std::optional<double> s;
  std::string how, how_ja;
  bool running = false;
};

Effective effective(const facts::Fact<std::uint64_t>& live, const facts::IscsiSetting* setting) {
  const auto number = [](const facts::Fact<std::string>& text) {
    return text.has_value() ? base::real(*text) : std::nullopt;
  };
  const auto fast = setting != nullptr ? number(setting->multipath) : std::nullopt;
  const std::string from = setting != nullptr ? setting->multipath_from.value_or("multipath.conf") : "";
  if (live.has_value()) {
    const auto value = static_cast<double>(*live);
    if (fast && *fast == value)
      return {value, fmt::format("multipathd wrote fast_io_fail_tmo ({}) into it", from),
              fmt::format("multipathd が fast_io_fail_tmo ({}) を書き込んだ値", from), true};
    return {value, "as the session runs", "実行中のセッションの値", true};
  }
  if (setting == nullptr) return {};
  if (fast)
    return {*fast, fmt::format("fast_io_fail_tmo ({}), which multipathd writes into the session", from),
            fmt::format("multipathd がセッションに書き込む fast_io_fail_tmo ({})", from), false};
  struct Row {
    const facts::Fact<std::string>* value;
    const char *en, *ja;
  };
  for (const Row& row : {Row{&setting->record, "by the node record", "ノードレコードの値"},
                         Row{&setting->config, "by iscsid.conf", "iscsid.conf の値"},
                         Row{&setting->builtin, "open-iscsi's default", "open-iscsi の既定値"}}) {
    if (const auto value = number(*row.value)) return {*value, row.en, row.ja, false};
    if (row.value->is_unknown()) break;
  }
  return {};
}

facts::Fact<std::uint64_t> wide(const facts::Fact<std::uint32_t>& fact) {
  return fact.has_value() ? facts::Fact<std::uint64_t>(std::uint64_t{*fact}) : facts::Fact<std::uint64_t>{};
}

Effective recovery_of(const facts::IscsiSession& s) {
  return effective(s.recovery_tmo_s, setting_of(s, "node.session.timeo.replacement_timeout"));
}
Effective noop_interval_of(const facts::IscsiSession& s) {
  const auto* connection = connection_of(s);
  return effective(connection != nullptr ? wide(connection->recv_tmo_s) : facts::Fact<std::uint64_t>{},
                   setting_of(s, "node.conn[0].timeo.noop_out_interval"));
}
Effective noop_timeout_of(const facts::IscsiSession& s) {
  const auto* connection = connection_of(s);
  return effective(connection != nullptr ? wide(connection->ping_tmo_s) : facts::Fact<std::uint64_t>{},
                   setting_of(s, "node.conn[0].timeo.noop_out_timeout"));
}

template <Effective (*get)(const facts::IscsiSession&)>
Value effective_s(const Context& c, const Item& item) {
  const Effective found = get(session_of(c, item));
  return found.s ? Value(*found.s) : missing_fact(c, "iscsi.sessions", item.index, "settings");
}
template <Effective (*get)(const facts::IscsiSession&)>
Value effective_how(const Context& c, const Item& item) {
  const Effective found = get(session_of(c, item));
  return found.s ? Value(found.how) : missing_fact(c, "iscsi.sessions", item.index, "settings");
}
template <Effective (*get)(const facts::IscsiSession&)>
Value effective_how_ja(const Context& c, const Item& item) {
  const Effective found = get(session_of(c, item));
  return found.s ? Value(found.how_ja) : missing_fact(c, "iscsi.sessions", item.index, "settings");
}

// How long until the initiator knows that a path is dead: by a NOP-Out that is not answered. With pings off only a
// command that times out tells, and the error handler's steps behind it.
struct Noticed {
  std::optional<double> s;
  std::string how, how_ja, why;
};

Noticed noticed_of(const Context& c, std::uint32_t index) {
  const facts::IscsiSession& s = session_at(c, index);
  const Effective interval = noop_interval_of(s), timeout = noop_timeout_of(s);
  Noticed noticed;
  if (!interval.s || !timeout.s) {
    noticed.why = fmt::format("needs iscsi.sessions[{}].connections[0].recv_tmo_s: not told", index);
    return noticed;
  }
  if (*interval.s > 0) {
    noticed.s = *interval.s + *timeout.s;
    noticed.how = fmt::format("a NOP-Out after {:.0f} s without an answer, {:.0f} s for it", *interval.s, *timeout.s);
    noticed.how_ja = fmt::format("{:.0f} 秒の無応答後に NOP-Out、その応答を {:.0f} 秒待つ", *interval.s, *timeout.s);
    return noticed;
  }
  std::optional<std::uint64_t> command;
  for (const std::uint32_t d : c.storage().sessions[index].devices) {
    const auto& told = (*c.facts.block.devices)[d].timeout_s;
    if (told.has_value()) command = std::max<std::uint64_t>(command.value_or(0), *told);
  }
  if (!command || !s.abort_tmo_s.has_value() || !s.lu_reset_tmo_s.has_value() || !s.tgt_reset_tmo_s.has_value()) {
    noticed.why = "no pings are sent, and the timeouts of commands and of the error handler are not told";
    return noticed;
  }
  noticed.s = static_cast<double>(*command + *s.abort_tmo_s + *s.lu_reset_tmo_s + *s.tgt_reset_tmo_s);
  noticed.how =
      fmt::format("no pings: a command times out after {} s, then abort {} s, LUN reset {} s, target reset {} s",
                  *command, *s.abort_tmo_s, *s.lu_reset_tmo_s, *s.tgt_reset_tmo_s);
  noticed.how_ja = fmt::format(
      "ping なし: コマンドが {} 秒でタイムアウトし、中止 {} 秒、LUN リセット {} 秒、ターゲットリセット {} 秒が続く",
      *command, *s.abort_tmo_s, *s.lu_reset_tmo_s, *s.tgt_reset_tmo_s);
  return noticed;
}

Value noticed_s(const Context& c, const Item& item) {
  const Noticed noticed = noticed_of(c, item.index);
  return noticed.s ? Value(*noticed.s) : unknown(noticed.why);
}
Value noticed_how(const Context& c, const Item& item) {
  const Noticed noticed = noticed_of(c, item.index);
  return noticed.s ? Value(noticed.how) : unknown(noticed.why);
}
Value noticed_how_ja(const Context& c, const Item& item) {
  const Noticed noticed = noticed_of(c, item.index);
  return noticed.s ? Value(noticed.how_ja) : unknown(noticed.why);
}

std::optional<double> stall_of(const Context& c, std::uint32_t index) {
  const Noticed noticed = noticed_of(c, index);
  const Effective recovery = recovery_of(session_at(c, index));
  if (!noticed.s || !recovery.s) return std::nullopt;
  return *noticed.s + *recovery.s;
}

Value path_stall_s(const Context& c, const Item& item) {
  if (const auto stall = stall_of(c, item.index)) return *stall;
  const Value noticed = noticed_s(c, item);
  return noticed.is_unknown() ? noticed : effective_s<recovery_of>(c, item);
}

// "5 + 5 + 120: ping interval, ping timeout, recovery".
Value stall_text(const Context& c, const Item& item, bool ja) {
  const facts::IscsiSession& s = session_of(c, item);
  const Effective interval = noop_interval_of(s), timeout = noop_timeout_of(s), recovery = recovery_of(s);
  const Noticed noticed = noticed_of(c, item.index);
  if (!noticed.s || !recovery.s) return path_stall_s(c, item);
  if (*interval.s > 0)
    return fmt::format("{:.0f} + {:.0f} + {:.0f}: {}", *interval.s, *timeout.s, *recovery.s,
                       ja ? "ping 間隔、ping タイムアウト、回復待ち" : "ping interval, ping timeout, recovery");
  return fmt::format("{:.0f} + {:.0f}: {}", *noticed.s, *recovery.s,
                     ja ? "ping なしでの検知、回復待ち" : "until it is noticed without pings, recovery");
}
Value stall_parts(const Context& c, const Item& item) { return stall_text(c, item, false); }
Value stall_parts_ja(const Context& c, const Item& item) { return stall_text(c, item, true); }

Value is_multipath_value(const Context& c, const Item& item) {
  const facts::IscsiSession& s = session_of(c, item);
  const auto* setting = setting_of(s, "node.session.timeo.replacement_timeout");
  if (setting == nullptr || setting->multipath.is_absent()) return Absent{};
  if (setting->multipath.is_unknown()) return missing_fact(c, "iscsi.sessions", item.index, "settings");
  return *setting->multipath;
}

Value setting_is_timeout(const Context& c, const Item& item) {
  return session_of(c, item).settings[item.sub].key.find("timeo") != std::string::npos;
}

// The other values of an equal setting need no finding of their own.
Value setting_is_multipath(const Context& c, const Item& item) {
  const facts::IscsiSetting& setting = session_of(c, item).settings[item.sub];
  if (setting.multipath.is_unknown()) return missing_fact(c, "multipath.maps");
  return setting.multipath.has_value() && setting.live == setting.multipath;
}

// --- write parameters ----------------------------------------------------------------------------------------------

Value offered(const Context& c, const Item& item, std::string_view key) {
  const auto* setting = setting_of(session_of(c, item), key);
  if (setting == nullptr) return missing_fact(c, "iscsi.sessions", item.index, "settings");
  for (const auto* value : {&setting->record, &setting->config, &setting->builtin}) {
    if (value->has_value()) return **value;
    if (value->is_unknown()) break;
  }
  return missing_fact(c, "iscsi.node_records");
}
Value offered_initial_r2t(const Context& c, const Item& item) {
  return offered(c, item, "node.session.iscsi.InitialR2T");
}
Value offered_immediate_data(const Context& c, const Item& item) {
  return offered(c, item, "node.session.iscsi.ImmediateData");
}
// --- maps ----------------------------------------------------------------------------------------------------------

// The longest stall of its paths: the time until I/O has moved to another path.
Value switch_s(const Context& c, const Item& item) {
  std::optional<double> longest;
  for (const std::uint32_t s : c.storage().maps[item.index].sessions) {
    const auto stall = stall_of(c, s);
    if (!stall) return path_stall_s(c, make_item("iscsi.sessions", s));
    longest = std::max(longest.value_or(0), *stall);
  }
  return longest ? Value(*longest) : Value(Absent{});
}

const facts::MultipathSetting* setting_named(const std::vector<facts::MultipathSetting>& settings,
                                             std::string_view key) {
  for (const auto& setting : settings) {
    if (setting.key == key) return &setting;
  }
  return nullptr;
}

std::optional<std::string> in_effect(const facts::MultipathSetting* setting) {
  if (setting == nullptr) return std::nullopt;
  for (const auto* value : {&setting->live, &setting->configured}) {
    if (value->has_value()) return **value;
  }
  return std::nullopt;
}

// What becomes of I/O when no path is left.
struct LastPath {
  bool known = false, hangs = false;
  std::optional<double> held_s;  // from the loss of the last path in the map until I/O fails
};

LastPath last_path_of(const Context& c, const Item& item) {
  const facts::MultipathMap& map = map_of(c, item);
  const auto retry = in_effect(setting_named(map.settings, "no_path_retry"));
  if (retry) {
    if (*retry == "queue") return {true, true, std::nullopt};
    if (*retry == "fail" || *retry == "0") return {true, false, 0};
    const auto checks = base::real(*retry);
    const auto interval = in_effect(setting_named(c.facts.multipath.settings, "polling_interval"));
    const auto every = interval ? base::real(*interval) : std::optional<double>(5);
    if (checks && every) return {true, false, *checks * *every};
  }
  if (map.queueing.is("on")) return {true, true, std::nullopt};
  if (map.queue_left_s.has_value()) return {true, false, static_cast<double>(*map.queue_left_s)};
  // Without no_path_retry the feature of the loaded map decides; with it multipathd takes the feature away in time.
  if (map.queue_if_no_path.is(false)) return {true, false, 0};
  return {};
}

Value all_lost_hangs(const Context& c, const Item& item) {
  const LastPath last = last_path_of(c, item);
  return last.known ? Value(last.hangs) : missing_fact(c, "multipath.maps[].settings");
}
Value all_lost_s(const Context& c, const Item& item) {
  const LastPath last = last_path_of(c, item);
  if (!last.known) return missing_fact(c, "multipath.maps[].settings");
  if (last.hangs) return Absent{};
  const Value moved = switch_s(c, item);
  if (!moved.as_double()) return moved;
  return *moved.as_double() + *last.held_s;
}
}  // namespace

void add_iscsi_timeouts(std::vector<Scope>& all) {
  constexpr std::string_view set = "iscsi.sessions[].settings";
  append(
      scope_named(all, "iscsi.sessions").derived,
      {{"recovery_s", number_type, "replacement_timeout in effect: from the loss of the session until I/O fails", set,
        effective_s<recovery_of>},
       {"recovery_how", text_type, "where that value comes from", set, effective_how<recovery_of>,
        effective_how_ja<recovery_of>},
       {"fast_io_fail_tmo", text_type, "fast_io_fail_tmo that multipathd writes into it; null where none applies", set,
        is_multipath_value},
       {"noop_interval_s", number_type, "noop_out_interval in effect; 0: no pings", set, effective_s<noop_interval_of>},
       {"noop_timeout_s", number_type, "noop_out_timeout in effect", set, effective_s<noop_timeout_of>},
       {"noticed_s", number_type, "until a dead path is noticed", set, noticed_s},
       {"noticed_how", text_type, "what that time is made of", set, noticed_how, noticed_how_ja},
       {"path_stall_s", number_type,
        "how long I/O on a dead path waits before it fails and another path can take it: noticed_s + recovery_s", set,
        path_stall_s},
       {"stall_parts", text_type, "what that time is the sum of", set, stall_parts, stall_parts_ja},
       {"offered.initial_r2t", text_type, "InitialR2T as the node record or iscsid.conf offer it", set,
        offered_initial_r2t},
       {"offered.immediate_data", text_type, "ImmediateData as the node record or iscsid.conf offer it", set,
        offered_immediate_data}});
  append(scope_named(all, "iscsi.sessions.settings").derived,
         {{"is_timeout", boolean_type, "the key is one of the timeouts", set, setting_is_timeout},
          {"is_multipath_value", boolean_type, "it runs with fast_io_fail_tmo, which multipathd wrote", set,
           setting_is_multipath}});
  constexpr std::string_view by = "multipath.maps[].paths";
  append(
      scope_named(all, "multipath.maps").derived,
      {{"switch_s", number_type, "longest time until I/O has moved off a dead path", by, switch_s},
       {"all_lost_hangs", boolean_type, "I/O waits for ever once no path is left (no_path_retry queue)",
        "multipath.maps[].settings", all_lost_hangs},
       {"all_lost_s", number_type,
        "time until I/O fails when all paths die at once: switch_s and no_path_retry x polling_interval; null when it "
        "hangs",
        "multipath.maps[].settings", all_lost_s}});
}

}  // namespace audit
