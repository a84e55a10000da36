#include "audit/eval/derive_iscsi.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "audit/base/instant.h"
#include "audit/base/text.h"
#include "audit/eval/derive_help.h"
#include "audit/eval/derive_storage.h"

namespace audit {

namespace {

using namespace derive_help;
using facts::Absent;
using facts::Value;
using Place = Storage::Place;

const facts::IscsiSession& session_at(const Context& c, std::uint32_t i) { return (*c.facts.iscsi.sessions)[i]; }
const facts::IscsiSession& session_of(const Context& c, const Item& item) { return session_at(c, item.index); }
const facts::MultipathMap& map_of(const Context& c, const Item& item) { return (*c.facts.multipath.maps)[item.index]; }
const facts::IscsiNodeRecord& record_of(const Context& c, const Item& item) {
  return (*c.facts.iscsi.node_records)[item.index];
}

std::string listed(const std::set<std::string>& words) {
  std::string text;
  for (const auto& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

// --- health of a session -------------------------------------------------------------------------------------------

enum class Health : std::uint8_t { unknown, up, reopening, connection_down, failed, free };

// The kernel's word goes before that of iscsid, which does not manage the sessions of adapters and those of a boot
// program ("Unknown").
Health health_of(const facts::IscsiSession& s) {
  if (s.state.is("FREE")) return Health::free;
  if (s.state.is("FAILED")) return Health::failed;
  const facts::IscsiConnection* connection = s.connections.empty() ? nullptr : &s.connections.front();
  if (connection != nullptr && (connection->state.is("failed") || connection->state.is("down")))
    return Health::connection_down;
  const auto is_trouble = [](const facts::Fact<std::string>& word, std::initializer_list<std::string_view> words) {
    return word.has_value() && std::find(words.begin(), words.end(), *word) != words.end();
  };
  if (is_trouble(s.iscsid_state, {"REOPEN", "CLEANUP", "RECONNECT"}) ||
      (connection != nullptr &&
       is_trouble(connection->iscsid_state, {"TRANSPORT WAIT", "IN LOGIN", "FREE", "CLEANUP WAIT", "IN LOGOUT"})))
    return Health::reopening;
  if (s.state.is("LOGGED_IN")) return Health::up;
  return Health::unknown;
}

Value health(const Context& c, const Item& item) {
  switch (health_of(session_of(c, item))) {
    case Health::up: return "up";
    case Health::reopening: return "reopening";
    case Health::connection_down: return "connection down";
    case Health::failed: return "failed";
    case Health::free: return "free";
    case Health::unknown: break;
  }
  return missing_fact(c, "iscsi.sessions", item.index, "state");
}

// A failover of the portal that the owner declares for this time.
Value planned_failover(const Context& c, const Item& item) {
  const facts::IscsiSession& s = session_of(c, item);
  const auto now = c.facts.node.collected_at.has_value() ? base::epoch_of(*c.facts.node.collected_at) : std::nullopt;
  for (const auto& failover : c.facts.declared.failovers) {
    const bool meant = failover.server == "*" || failover.server == s.target ||
                       std::any_of(s.connections.begin(), s.connections.end(), [&](const auto& connection) {
                         return connection.persistent_addr.is(failover.server) || connection.addr.is(failover.server);
                       });
    if (!meant) continue;
    const auto holds = [&](const facts::Fact<std::string>& bound, bool start) {
      if (bound.is_absent()) return true;
      const auto at = bound.has_value() ? base::epoch_of(*bound) : std::nullopt;
      return at && now && (start ? *at <= *now : *now <= *at);
    };
    if (holds(failover.start, true) && holds(failover.end, false)) return true;
  }
  return false;
}

// --- disks and maps of a session -----------------------------------------------------------------------------------

Value mapped_luns(const Context& c, const Item& item) {
  const Storage::Session& joined = c.storage().sessions[item.index];
  if (!joined.maps.empty()) return static_cast<std::uint64_t>(joined.maps.size());
  if (c.facts.multipath.maps.has_value()) {
    // A map whose paths lead to no session that is known may be one over this session.
    for (std::uint32_t m = 0; m < c.storage().maps.size(); ++m) {
      const facts::MultipathMap& map = (*c.facts.multipath.maps)[m];
      if (c.storage().maps[m].sessions.empty() && map.iscsi.is_unknown() && map.kind == "dm-multipath")
        return unknown("needs multipath.maps[].paths[].session: not known which session carries them");
    }
    return std::uint64_t{0};
  }
  const bool all_told = !joined.devices.empty() &&
                        std::all_of(joined.devices.begin(), joined.devices.end(), [&](std::uint32_t d) {
                          return (*c.facts.block.devices)[d].map.is_absent();
                        });
  return all_told ? Value(std::uint64_t{0}) : missing_fact(c, "multipath.maps");
}

// Disks without a map and without another disk of the same LUN.
Value lone_luns(const Context& c, const Item& item) {
  const Value mapped = mapped_luns(c, item);
  if (mapped.is_unknown()) return mapped;
  std::uint64_t count = 0;
  for (const std::uint32_t d : c.storage().sessions[item.index].devices) {
    const auto& map = c.storage().devices[d].map;
    const bool one_path = map ? (*c.facts.multipath.maps)[*map].paths.size() == 1
                              : (*c.facts.block.devices)[d].siblings.empty();
    if (one_path) ++count;
  }
  return count;
}

Value lun_count(const Context& c, const Item& item) {
  const auto& named = session_of(c, item).devices;
  return static_cast<std::uint64_t>(std::max(named.size(), c.storage().sessions[item.index].devices.size()));
}

Value carries_root(const Context& c, const Item& item) {
  for (const std::uint32_t u : c.storage().sessions[item.index].uses) {
    const facts::BlockUse& use = *c.storage().uses[u].use;
    if (use.kind == "mount" && use.name == "/") return true;
  }
  const auto& root = c.facts.iscsi.root_on_iscsi;
  if (root.is_unknown()) return missing_fact(c, "iscsi.root_on_iscsi");
  return root.is(true) && c.storage().sessions.size() == 1;
}

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
  for (const Row& row :
       {Row{&setting->record, "by the node record", "ノードレコードの値"},
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
  noticed.how = fmt::format("no pings: a command times out after {} s, then abort {} s, LUN reset {} s, target reset {} s",
                            *command, *s.abort_tmo_s, *s.lu_reset_tmo_s, *s.tgt_reset_tmo_s);
  noticed.how_ja = fmt::format(
      "ping なし: コマンドが {} 秒でタイムアウトし、中止 {} 秒、LUN リセット {} 秒、ターゲットリセット {} 秒が続く", *command,
      *s.abort_tmo_s, *s.lu_reset_tmo_s, *s.tgt_reset_tmo_s);
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

// --- targets -------------------------------------------------------------------------------------------------------

std::string without_tag(const std::string& portal) { return portal.substr(0, portal.rfind(',')); }

struct Expected {
  std::set<std::string> logged_in, wanted, missing;  // portals without their tags
  bool by_trident = false, automatic = false;        // what names a missing one
  bool told = false;                                 // records, tracking files or the target itself could be read
  std::uint64_t left_out = 0;                        // link-local, or known not to answer
};

Expected expected_of(const Context& c, std::uint32_t index) {
  const facts::IscsiTarget& target = c.facts.iscsi.targets[index];
  Expected found;
  for (const std::uint32_t s : c.storage().targets[index].sessions) {
    const auto& portal = session_at(c, s).portal;
    if (portal.has_value()) found.logged_in.insert(without_tag(*portal));
  }
  for (const std::string& portal : target.portals) found.logged_in.insert(without_tag(portal));
  const auto want = [&](const std::string& id) {
    const std::string name = without_tag(id);
    const auto place = c.storage().portal_named(id);
    const bool counts = !place || (!c.facts.iscsi.portals[*place].link_local &&
                                   !c.facts.iscsi.portals[*place].reachable.is(false));
    if (found.logged_in.contains(name) || counts) {
      found.wanted.insert(name);
    } else {
      ++found.left_out;
    }
    return counts && !found.logged_in.contains(name);
  };
  for (const auto& expected : target.expected_portals) {
    if (expected.origin != "session") found.told = true;
    if (!want(expected.portal)) continue;
    found.missing.insert(without_tag(expected.portal));
    if (expected.origin == "trident") found.by_trident = true;
    if (expected.startup.is("automatic") || expected.startup.is("onboot")) found.automatic = true;
  }
  for (const std::string& portal : found.logged_in) found.wanted.insert(portal);
  if (c.facts.iscsi.node_records.has_value()) found.told = true;
  return found;
}

Value expected_number(const Context& c, const Item& item, Value (*get)(const Expected&)) {
  const Expected found = expected_of(c, item.index);
  return found.told ? get(found) : missing_fact(c, "iscsi.node_records");
}
Value expected_portal_count(const Context& c, const Item& item) {
  return expected_number(c, item, [](const Expected& e) -> Value { return static_cast<std::uint64_t>(e.wanted.size()); });
}
Value missing_portal_count(const Context& c, const Item& item) {
  return expected_number(c, item,
                         [](const Expected& e) -> Value { return static_cast<std::uint64_t>(e.missing.size()); });
}
Value missing_portals(const Context& c, const Item& item) {
  return expected_number(c, item,
                         [](const Expected& e) -> Value { return e.missing.empty() ? Value(Absent{}) : Value(listed(e.missing)); });
}
Value missing_is_wanted(const Context& c, const Item& item) {
  return expected_number(c, item, [](const Expected& e) -> Value { return e.by_trident || e.automatic; });
}
Value expected_by(const Context& c, const Item& item) {
  return expected_number(c, item, [](const Expected& e) -> Value {
    return e.by_trident ? "Trident's tracking files" : e.automatic ? "node records with automatic startup" : "node records";
  });
}
Value expected_by_ja(const Context& c, const Item& item) {
  return expected_number(c, item, [](const Expected& e) -> Value {
    return e.by_trident ? "Trident の追跡ファイル" : e.automatic ? "自動起動のノードレコード" : "ノードレコード";
  });
}
Value logged_in_count(const Context& c, const Item& item) {
  return static_cast<std::uint64_t>(expected_of(c, item.index).logged_in.size());
}

Value session_count(const Context& c, const Item& item) {
  return static_cast<std::uint64_t>(c.storage().targets[item.index].sessions.size());
}
Value healthy_count(const Context& c, const Item& item) {
  std::uint64_t count = 0;
  for (const std::uint32_t s : c.storage().targets[item.index].sessions) {
    const Health health = health_of(session_at(c, s));
    if (health == Health::unknown) return missing_fact(c, "iscsi.sessions", s, "state");
    if (health == Health::up) ++count;
  }
  return count;
}

template <class Get>
std::set<std::string> of_sessions(const Context& c, const Item& item, Get get) {
  std::set<std::string> words;
  for (const std::uint32_t s : c.storage().targets[item.index].sessions) get(session_at(c, s), words);
  return words;
}

std::set<std::string> transports_of(const Context& c, const Item& item) {
  return of_sessions(c, item, [](const facts::IscsiSession& s, std::set<std::string>& words) {
    if (s.transport.has_value()) words.insert(*s.transport);
  });
}
Value transports(const Context& c, const Item& item) { return listed(transports_of(c, item)); }
// RDMA beside TCP. Adapters each have a transport of their own, which says nothing of the way.
Value mixes_rdma(const Context& c, const Item& item) {
  const auto words = transports_of(c, item);
  if (words.contains("iser") && words.size() > 1) return true;
  for (const std::uint32_t s : c.storage().targets[item.index].sessions) {
    if (session_at(c, s).transport.is_unknown()) return missing_fact(c, "iscsi.sessions", s, "transport");
  }
  return false;
}

// On iser the digests are always off: RDMA has a check of its own.
std::set<std::string> digests_of(const Context& c, const Item& item) {
  return of_sessions(c, item, [](const facts::IscsiSession& s, std::set<std::string>& words) {
    if (s.transport.is("iser") || s.connections.empty()) return;
    const auto& connection = s.connections.front();
    if (connection.header_digest.has_value() && connection.data_digest.has_value())
      words.insert(fmt::format("header {}, data {}", *connection.header_digest, *connection.data_digest));
  });
}
Value digests(const Context& c, const Item& item) {
  std::string text;
  for (const auto& word : digests_of(c, item)) text += (text.empty() ? "" : "; ") + word;
  return text;
}
Value digests_differ(const Context& c, const Item& item) { return digests_of(c, item).size() > 1; }

Value routed(const Context& c, const Item& item) {
  bool known = false;
  for (const std::uint32_t p : c.storage().targets[item.index].portals) {
    const auto way = c.path_to(c.facts.iscsi.portals[p].addr);
    if (!way) continue;
    const auto& on_link = (*c.facts.network.paths)[*way].on_link;
    if (on_link.is(false)) return true;
    if (on_link.has_value()) known = true;
  }
  return known ? Value(false) : missing_fact(c, "network.paths");
}

// --- maps ----------------------------------------------------------------------------------------------------------

struct Spread {
  std::set<std::string> interfaces, portals, groups;
  bool any_interface_unknown = false, any_group_unknown = false;
};

// The interface that a session is bound to, that of the route to its portal, else its local address stands for it.
std::string local_end(const Context& c, std::uint32_t s) {
  const facts::IscsiSession& session = session_at(c, s);
  if (session.netdev.has_value()) return *session.netdev;
  const auto portal = c.storage().sessions[s].portal;
  if (portal && c.facts.iscsi.portals[*portal].interface.has_value()) return *c.facts.iscsi.portals[*portal].interface;
  return session.initiator_addr.value_or("");
}

Spread spread_of(const Context& c, const Item& item) {
  Spread spread;
  for (const std::uint32_t s : c.storage().maps[item.index].sessions) {
    const facts::IscsiSession& session = session_at(c, s);
    const std::string local = local_end(c, s);
    if (local.empty()) spread.any_interface_unknown = true;
    if (!local.empty()) spread.interfaces.insert(local);
    if (session.portal.has_value()) spread.portals.insert(without_tag(*session.portal));
    // A target that is one port group has all its portals in it: groups tell apart only within a target.
    if (session.tpgt.has_value()) {
      spread.groups.insert(fmt::format("{} {}", session.target, *session.tpgt));
    } else {
      spread.any_group_unknown = true;
    }
  }
  return spread;
}

Value interface_count(const Context& c, const Item& item) {
  const Spread spread = spread_of(c, item);
  if (spread.any_interface_unknown && spread.interfaces.size() < 2)
    return missing_fact(c, "iscsi.portals[].interface");
  return static_cast<std::uint64_t>(spread.interfaces.size());
}
Value interface_names(const Context& c, const Item& item) { return listed(spread_of(c, item).interfaces); }
Value portal_count(const Context& c, const Item& item) {
  return static_cast<std::uint64_t>(spread_of(c, item).portals.size());
}
Value port_group_count(const Context& c, const Item& item) {
  const Spread spread = spread_of(c, item);
  if (spread.any_group_unknown && spread.groups.size() < 2) return missing_fact(c, "iscsi.sessions[].tpgt");
  return static_cast<std::uint64_t>(spread.groups.size());
}
Value path_count(const Context& c, const Item& item) {
  return static_cast<std::uint64_t>(map_of(c, item).paths.size());
}
Value session_path_count(const Context& c, const Item& item) {
  return static_cast<std::uint64_t>(c.storage().maps[item.index].sessions.size());
}

Value one_bond(const Context& c, const Item& item) {
  const Spread spread = spread_of(c, item);
  if (spread.interfaces.size() != 1) return false;
  if (!c.facts.network.interfaces.has_value()) return missing_fact(c, "network.interfaces");
  for (const auto& interface : *c.facts.network.interfaces) {
    if (interface.name == *spread.interfaces.begin()) return interface.kind.is("bond");
  }
  return false;
}

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

// --- node records --------------------------------------------------------------------------------------------------

Value csi_managed(const Context& c, const Item& item) {
  const facts::IscsiNodeRecord& record = record_of(c, item);
  if (c.facts.config.trident.has_value()) {
    for (const auto& volume : *c.facts.config.trident) {
      if (volume.iscsi_target_iqn.is(record.target)) return true;
    }
  }
  const auto target = c.storage().target_named(record.target);
  if (target) {
    for (const std::uint32_t u : c.storage().targets[*target].uses) {
      if (c.storage().uses[u].use->kubelet.has_value()) return true;
    }
  }
  if (c.facts.node.trident.is(false) && c.facts.node.kubelet.is(false)) return false;
  if (c.facts.node.trident.is_unknown() && c.facts.node.kubelet.is_unknown()) return missing_fact(c, "node.trident");
  return false;
}

// The line of fstab that needs this record's session: what is mounted from its disks, and names of udev that hold the
// target's.
const facts::FstabEntry* fstab_entry_of(const Context& c, const facts::IscsiNodeRecord& record) {
  if (!c.facts.config.fstab.has_value()) return nullptr;
  std::set<std::string> places;
  if (const auto target = c.storage().target_named(record.target)) {
    for (const std::uint32_t u : c.storage().targets[*target].uses) {
      const facts::BlockUse& use = *c.storage().uses[u].use;
      if (use.kind == "mount" || use.kind == "fstab") places.insert(use.name);
    }
  }
  for (const facts::FstabEntry& entry : *c.facts.config.fstab) {
    if (places.contains(entry.target)) return &entry;
    if (entry.source.find("-iscsi-" + record.target + "-lun-") != std::string::npos) return &entry;
  }
  return nullptr;
}

Value fstab_value(const Context& c, const Item& item, Value (*get)(const facts::FstabEntry&)) {
  if (c.facts.config.fstab.is_unknown()) return missing_fact(c, "config.fstab");
  const facts::FstabEntry* entry = fstab_entry_of(c, record_of(c, item));
  return entry == nullptr ? Value(Absent{}) : get(*entry);
}
Value fstab_target(const Context& c, const Item& item) {
  return fstab_value(c, item, [](const facts::FstabEntry& e) -> Value { return e.target; });
}
Value fstab_options(const Context& c, const Item& item) {
  return fstab_value(c, item, [](const facts::FstabEntry& e) -> Value { return e.options_text.value_or("defaults"); });
}
Value fstab_waits_for_network(const Context& c, const Item& item) {
  return fstab_value(c, item, [](const facts::FstabEntry& e) -> Value {
    const std::string options = e.options_text.value_or("");
    for (const auto option : base::split(options, ',')) {
      if (option == "_netdev" || option == "noauto" || option.starts_with("x-systemd.requires=iscsi")) return true;
    }
    return false;
  });
}

Value login_patience_s(const Context& c, const Item& item) {
  const facts::IscsiNodeRecord& record = record_of(c, item);
  if (!record.login_timeout_s.has_value())
    return missing_fact(c, "iscsi.node_records", item.index, "login_timeout_s");
  if (!record.initial_login_retry_max.has_value())
    return missing_fact(c, "iscsi.node_records", item.index, "initial_login_retry_max");
  return std::uint64_t{*record.login_timeout_s} * *record.initial_login_retry_max;
}

Value starts_at_boot(const Context& c, const Item& item) {
  const auto& startup = record_of(c, item).startup;
  if (!startup.has_value()) return missing_fact(c, "iscsi.node_records", item.index, "startup");
  return *startup == "automatic" || *startup == "onboot";
}

// --- queues --------------------------------------------------------------------------------------------------------

// Disks whose queue was nine tenths full in both samples.
Value full_queues(const Context& c, const Item& item) {
  if (c.earlier() == nullptr) return unknown(c.why_not_comparable());
  std::uint64_t count = 0;
  const auto is_full = [](const facts::BlockDevice& d, const facts::Fact<std::uint32_t>& depth) {
    return depth.has_value() && *depth > 0 && d.inflight_read.has_value() && d.inflight_write.has_value() &&
           (*d.inflight_read + *d.inflight_write) * 10 >= std::uint64_t{*depth} * 9;
  };
  for (const std::uint32_t d : c.storage().sessions[item.index].devices) {
    const facts::BlockDevice& now = (*c.facts.block.devices)[d];
    const facts::BlockDevice* then = c.storage().earlier_device(d);
    if (then != nullptr && is_full(now, now.queue_depth) && is_full(*then, now.queue_depth)) ++count;
  }
  return count;
}

// Queue depths of disks that have anything under way, against what the host takes.
Value busy_depth(const Context& c, const Item& item) {
  std::uint64_t sum = 0;
  for (const std::uint32_t d : c.storage().sessions[item.index].devices) {
    const facts::BlockDevice& device = (*c.facts.block.devices)[d];
    if (!device.inflight_read.has_value() || !device.inflight_write.has_value() || !device.queue_depth.has_value())
      return missing_fact(c, "block.devices", d, "inflight_read");
    if (*device.inflight_read + *device.inflight_write > 0) sum += *device.queue_depth;
  }
  return sum;
}

Value in_flight(const Context& c, const Item& item) {
  std::uint64_t sum = 0;
  for (const std::uint32_t d : c.storage().sessions[item.index].devices) {
    const facts::BlockDevice& device = (*c.facts.block.devices)[d];
    if (!device.inflight_read.has_value() || !device.inflight_write.has_value())
      return missing_fact(c, "block.devices", d, "inflight_read");
    sum += *device.inflight_read + *device.inflight_write;
  }
  return sum;
}

// Mean time of a request on its disks between the samples.
Value window_latency_ms(const Context& c, const Item& item) {
  if (c.earlier() == nullptr) return unknown(c.why_not_comparable());
  std::uint64_t requests = 0, ms = 0;
  for (const std::uint32_t d : c.storage().sessions[item.index].devices) {
    const facts::BlockDevice& now = (*c.facts.block.devices)[d];
    const facts::BlockDevice* then = c.storage().earlier_device(d);
    if (then == nullptr) continue;
    const auto grown = [&](const facts::Fact<std::uint64_t> facts::BlockDevice::*counter) {
      const auto &to = now.*counter, &from = then->*counter;
      return to.has_value() && from.has_value() && *to >= *from ? *to - *from : 0;
    };
    requests += grown(&facts::BlockDevice::read_ios) + grown(&facts::BlockDevice::write_ios);
    ms += grown(&facts::BlockDevice::read_ms) + grown(&facts::BlockDevice::write_ms);
  }
  if (requests == 0) return Absent{};
  return static_cast<double>(ms) / static_cast<double>(requests);
}

Value fips(const Context& c, const Item&) {
  if (c.facts.kernel.settings.is_unknown()) return missing_fact(c, "kernel.settings");
  if (c.facts.kernel.settings.has_value()) {
    for (const auto& setting : *c.facts.kernel.settings) {
      if (setting.name == "crypto.fips_enabled") return setting.live.is("1");
    }
  }
  return false;
}

// Commands that timed out between the samples.
Value new_timeouts(const Context& c, const Item& item) {
  if (c.earlier() == nullptr) return unknown(c.why_not_comparable());
  std::uint64_t sum = 0;
  for (const std::uint32_t d : c.storage().sessions[item.index].devices) {
    const facts::BlockDevice& now = (*c.facts.block.devices)[d];
    const facts::BlockDevice* then = c.storage().earlier_device(d);
    if (then != nullptr && now.iotmo_count.has_value() && then->iotmo_count.has_value() &&
        *now.iotmo_count > *then->iotmo_count)
      sum += *now.iotmo_count - *then->iotmo_count;
  }
  return sum;
}

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
  std::string connection;  // "1:0"
  std::vector<std::uint32_t> errors, recovered, pings;  // in log.messages
  std::vector<double> times;  // of the errors; empty: no stamps
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

bool is_code(const facts::LogMessage& m, std::int64_t number) {
  return m.code.is(number) || m.code.is(number - 1000);
}

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
  scope.references = {{"session", "session of the connection; null where it is not there any more", "iscsi.sessions",
                       [](const Context& c, const Item& item) {
                         const auto session = disconnect_of(c, item).session;
                         return session ? Joined{make_item("iscsi.sessions", *session), false, ""}
                                        : Joined{std::nullopt, true, ""};
                       }}};
  scope.collections = {{"volumes", "what lies on disks of the session", "block.users",
                        [](const Context& c, const Item& item) {
                          std::vector<Item> items;
                          const auto session = disconnect_of(c, item).session;
                          if (!session) return items;
                          for (const std::uint32_t u : c.storage().sessions[*session].uses)
                            items.push_back(make_item("block.users", u));
                          return items;
                        }}};
  return scope;
}

void add_session_facts(Scope& scope) {
  constexpr std::string_view by = "iscsi.sessions[].state", set = "iscsi.sessions[].settings";
  append(scope.derived,
         {{"health", text_type, "up, reopening, connection down, failed (recovery runs, I/O waits), free (I/O fails)", by,
           health},
          {"planned_failover", boolean_type, "a failover of its portal is declared as planned for this time",
           "declared.failovers", planned_failover},
          {"mapped_luns", integer_type, "multipath maps with a path over it", "multipath.maps", mapped_luns},
          {"lone_luns", integer_type, "its disks that have no other path", "multipath.maps", lone_luns},
          {"lun_count", integer_type, "its disks", "iscsi.sessions[].devices", lun_count},
          {"carries_root", boolean_type, "the root file system lies on it", "iscsi.root_on_iscsi", carries_root},
          {"recovery_s", number_type, "replacement_timeout in effect: from the loss of the session until I/O fails", set,
           effective_s<recovery_of>},
          {"recovery_how", text_type, "where that value comes from", set, effective_how<recovery_of>,
           effective_how_ja<recovery_of>},
          {"fast_io_fail_tmo", text_type, "fast_io_fail_tmo that multipathd writes into it; null where none applies", set,
           is_multipath_value},
          {"noop_interval_s", number_type, "noop_out_interval in effect; 0: no pings", set,
           effective_s<noop_interval_of>},
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
           offered_immediate_data},
          {"full_queues", integer_type, "its disks whose queue was nine tenths full in both samples",
           "block.devices[].inflight_read", full_queues},
          {"busy_depth", integer_type, "queue depths of its disks with requests under way, summed up",
           "block.devices[].inflight_read", busy_depth},
          {"in_flight", integer_type, "requests under way on its disks", "block.devices[].inflight_read", in_flight},
          {"window_latency_ms", number_type, "mean time of a request on its disks between two samples; null for none",
           "block.devices[].read_ms", window_latency_ms},
          {"last_log", text_type, "the last thing that the log says of it; null for nothing", "log.messages", last_log},
          {"fips", boolean_type, "the kernel runs in FIPS mode", "kernel.settings", fips},
          {"ping_timeouts", integer_type, "NOP-Outs of its connection that the log shows as not answered in time",
           "log.messages", session_ping_timeouts},
          {"new_timeouts", integer_type, "commands that timed out between two samples", "block.devices[].iotmo_count",
           new_timeouts}});
}

void add_target_facts(Scope& scope) {
  constexpr std::string_view by = "iscsi.sessions", records = "iscsi.targets[].expected_portals";
  append(scope.derived,
         {{"session_count", integer_type, "sessions to it", by, session_count},
          {"healthy_count", integer_type, "of these, sessions that are up", "iscsi.sessions[].state", healthy_count},
          {"logged_in_count", integer_type, "distinct portals of its sessions", by, logged_in_count},
          {"expected_count", integer_type,
           "distinct portals that sessions, records and tracking files name; without link-local ones and those that do "
           "not answer",
           records, expected_portal_count},
          {"missing_count", integer_type, "of these, portals without a session", records, missing_portal_count},
          {"missing_portals", text_type, "the same by name", records, missing_portals},
          {"missing_is_wanted", boolean_type,
           "Trident's tracking files, or a record with automatic startup, name one of them", records,
           missing_is_wanted},
          {"expected_by", text_type, "what names them", records, expected_by, expected_by_ja},
          {"transports", text_type, "transports of its sessions", by, transports},
          {"mixes_rdma", boolean_type, "sessions over iser beside others", by, mixes_rdma},
          {"digests", text_type, "digests of its sessions, iser left out", by, digests},
          {"digests_differ", boolean_type, "its sessions do not all use the same digests; iser left out", by,
           digests_differ},
          {"routed", boolean_type, "a router lies on the way to one of its portals", "network.paths", routed}});
}

void add_map_facts(Scope& scope) {
  constexpr std::string_view by = "multipath.maps[].paths";
  append(scope.derived,
         {{"path_count", integer_type, "its paths", by, path_count},
          {"session_count", integer_type, "distinct iSCSI sessions of its paths", by, session_path_count},
          {"spread.interfaces", integer_type, "distinct interfaces (else local addresses) that its paths leave by", by,
           interface_count},
          {"spread.interface_names", text_type, "the same by name", by, interface_names},
          {"spread.portals", integer_type, "distinct portals of its paths", by, portal_count},
          {"spread.port_groups", integer_type, "distinct targets and portal group tags of its paths", by,
           port_group_count},
          {"spread.one_bond", boolean_type, "all of them leave by one bond", by, one_bond},
          {"switch_s", number_type, "longest time until I/O has moved off a dead path", by, switch_s},
          {"all_lost_hangs", boolean_type, "I/O waits for ever once no path is left (no_path_retry queue)",
           "multipath.maps[].settings", all_lost_hangs},
          {"all_lost_s", number_type,
           "time until I/O fails when all paths die at once: switch_s and no_path_retry x polling_interval; null when it "
           "hangs",
           "multipath.maps[].settings", all_lost_s}});
}

void add_record_facts(Scope& scope) {
  constexpr std::string_view by = "iscsi.node_records", fstab = "config.fstab";
  append(scope.derived,
         {{"csi_managed", boolean_type, "Trident or another CSI driver logs in to its target", "config.trident",
           csi_managed},
          {"starts_at_boot", boolean_type, "node.startup is automatic or onboot", by, starts_at_boot},
          {"login_patience_s", integer_type, "initial_login_retry_max x login_timeout", by, login_patience_s},
          {"fstab.target", text_type, "mount point of fstab that lies on its target; null for none", fstab, fstab_target},
          {"fstab.options", text_type, "its options", fstab, fstab_options},
          {"fstab.waits_for_network", boolean_type, "it has _netdev, noauto or needs the iscsi unit", fstab,
           fstab_waits_for_network}});
}

}  // namespace

void add_iscsi_facts(std::vector<Scope>& all) {
  add_session_facts(scope_named(all, "iscsi.sessions"));
  add_target_facts(scope_named(all, "iscsi.targets"));
  add_map_facts(scope_named(all, "multipath.maps"));
  add_record_facts(scope_named(all, "iscsi.node_records"));
  append(scope_named(all, "iscsi.sessions.settings").derived,
         {{"is_timeout", boolean_type, "the key is one of the timeouts", "iscsi.sessions[].settings", setting_is_timeout},
          {"is_multipath_value", boolean_type, "it runs with fast_io_fail_tmo, which multipathd wrote",
           "iscsi.sessions[].settings", setting_is_multipath}});
  all.push_back(disconnect_scope());
}

}  // namespace audit
