#include "audit/eval/derive_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "audit/base/text.h"
#include "audit/eval/derive_help.h"
#include "audit/eval/option_text.h"

namespace audit {

namespace {

using namespace derive_help;
using facts::Absent;
using facts::Value;

constexpr std::string_view by_log = "log.messages";

// A copy and single texts have no name of a node.
std::string node_name(const Context& c, const facts::Fact<std::string>& named) {
  if (named.has_value()) return *named;
  return c.facts.node.name.empty() ? c.facts.node.root : c.facts.node.name;
}

// A server as a message names it, beside one that a mount names: the name, or the address in any spelling.
bool is_same_host(const std::string& said, const facts::Fact<std::string>& name, const facts::Fact<std::string>& addr) {
  if (name.is(said) || addr.is(said)) return true;
  return (name.has_value() && is_same_address(said, *name)) || (addr.has_value() && is_same_address(said, *addr));
}

// --- messages ------------------------------------------------------------------------------------------------------

const std::vector<facts::LogMessage>& messages_of(const Context& c) {
  static const std::vector<facts::LogMessage> none;
  return c.facts.log.messages.has_value() ? *c.facts.log.messages : none;
}

const facts::LogMessage& message_of(const Context& c, const Item& item) { return messages_of(c)[item.index]; }

bool is_one_of(const std::string& kind, std::initializer_list<std::string_view> kinds) {
  return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
}

// What the node itself lacks, whatever server the message names.
bool is_about_node(const facts::LogMessage& m) {
  return is_one_of(m.kind, {"statd-missing", "address-in-use", "rpcbind-missing", "no-free-local-port",
                            "efs-watchdog-not-started", "image-lock-failed", "hung-task"}) ||
         (!m.server.has_value() && !m.path.has_value());
}

bool is_lock_refusal(const facts::LogMessage& m) {
  return is_one_of(m.kind, {"nlm-denied", "nlm-call-failed", "nsm-monitor-failed"});
}

Subject message_subject(const Context& c, const Item& item) {
  const facts::LogMessage& m = message_of(c, item);
  // The log of a server names its client; the client's log names the server, which is where the remedy applies.
  if (is_lock_refusal(m)) {
    for (const auto& other : messages_of(c))
      if (is_one_of(other.kind, {"nlm-denied", "nlm-call-failed"}) && other.server.has_value())
        return {"nfs.server", *other.server};
  }
  if (m.kind.starts_with("iscsi-")) {
    if (m.server.has_value()) return {"iscsi.portal", *m.server};
    // "Login failed to authenticate" names nobody; the refusal behind it does.
    for (const auto& other : messages_of(c))
      if (m.kind == "iscsi-authentication-failed" && other.kind == "iscsi-login-rejected" && other.server.has_value() &&
          other.source == m.source)
        return {"iscsi.portal", *other.server};
    return {"node", node_name(c, m.host)};
  }
  if (is_about_node(m)) return {"node", node_name(c, m.host)};
  if (m.server.has_value()) return {"nfs.server", *m.server};
  return {"nfs.mount", *m.path};
}

Value message_place(const Context& c, const Item& item) {
  const facts::LogMessage& m = message_of(c, item);
  return fmt::format("{}:{}", m.source, m.line);
}

// When it was said, in words.
std::string stamp_of(const facts::LogMessage& m) {
  if (m.at.has_value()) return *m.at;
  if (m.boot_s.has_value()) return fmt::format("{:.0f} s after boot", *m.boot_s);
  return "";
}
Value message_stamp(const Context& c, const Item& item) { return text_or_absent(stamp_of(message_of(c, item))); }

Value message_about(const Context& c, const Item& item) { return message_subject(c, item).id; }

// Messages that tell of one event from several sides: the refusal of a lock as client and server see it.
Value message_incident(const Context& c, const Item& item) {
  const facts::LogMessage& m = message_of(c, item);
  if (is_lock_refusal(m)) return "locks of NFSv3";
  if (m.kind != "stale-handle") return message_subject(c, item).id;
  std::string server;
  for (const auto& other : messages_of(c)) {
    if (other.kind != "fileid-changed" || !other.server.has_value()) continue;
    if (!server.empty() && server != *other.server) return message_subject(c, item).id;
    server = *other.server;
  }
  return server.empty() ? message_subject(c, item).id : server;
}

std::uint64_t count_alike(const Context& c, const Item& item) {
  const facts::LogMessage& m = message_of(c, item);
  std::uint64_t count = 0;
  for (const auto& other : messages_of(c))
    count += static_cast<std::uint64_t>(other.kind == m.kind && other.server == m.server && other.path == m.path);
  return count;
}
Value message_alike(const Context& c, const Item& item) { return count_alike(c, item); }

const facts::LogMessage* first_of(const Context& c, std::string_view kind) {
  for (const auto& other : messages_of(c))
    if (other.kind == kind) return &other;
  return nullptr;
}

Value changed_server(const Context& c, const Item&) {
  const facts::LogMessage* m = first_of(c, "fileid-changed");
  return m != nullptr && m->server.has_value() ? Value(*m->server) : Value(Absent{});
}

// "status 2 (denied, ...), error -37 (ENOLCK: ...), 25 s after the call"
Value lock_refusal(const Context& c, const Item&) {
  std::vector<std::string> parts;
  std::optional<double> took;
  for (const auto& [kind, word] : {std::pair{"nlm-denied", "status"}, std::pair{"nlm-call-failed", "error"}}) {
    const facts::LogMessage* m = first_of(c, kind);
    if (m == nullptr || !m->code.has_value()) continue;
    parts.push_back(m->code_text.has_value() ? fmt::format("{} {} ({})", word, *m->code, *m->code_text)
                                             : fmt::format("{} {}", word, *m->code));
    if (m->took_s.has_value()) took = *m->took_s;
  }
  if (took) parts.push_back(fmt::format("{:.0f} s after the call", *took));
  return text_or_absent(base::join(parts, ", "));
}

// Who could not be watched, in the words of a status monitor's side.
Value unwatched(const Context& c, const Item&) {
  const facts::LogMessage* m = first_of(c, "nsm-monitor-failed");
  return m != nullptr && m->server.has_value() ? Value(*m->server) : Value(Absent{});
}
Value unwatched_why(const Context& c, const Item&) {
  const facts::LogMessage* m = first_of(c, "nsm-monitor-failed");
  return m != nullptr && m->code_text.has_value() ? Value(*m->code_text) : Value(Absent{});
}

Value watchdog_missing(const Context& c, const Item&) { return first_of(c, "efs-watchdog-not-started") != nullptr; }

Value is_literal(const Context& c, const Item& item) {
  const auto& server = message_of(c, item).server;
  if (!server.has_value()) return Absent{};
  return is_literal_address(*server);
}

Value without_zone(const Context& c, const Item& item) {
  const auto& server = message_of(c, item).server;
  if (!server.has_value()) return Absent{};
  return server->substr(0, server->find('%'));
}

Value server_zone(const Context& c, const Item& item) {
  const auto& server = message_of(c, item).server;
  if (!server.has_value() || server->find('%') == std::string::npos) return Absent{};
  return server->substr(server->find('%'));
}

// --- mounts that somebody tried ------------------------------------------------------------------------------------

// The attempt that the message ended, or that stands in the same text before it.
const facts::MountAttempt* attempt_of(const Context& c, const facts::LogMessage& m) {
  const facts::MountAttempt* found = nullptr;
  for (const auto& attempt : c.facts.log.mount_attempts) {
    if (attempt.source != m.source || attempt.line > m.line) continue;
    if (attempt.error_line.is(m.line)) return &attempt;
    if (m.line - attempt.line <= 5) found = &attempt;
  }
  return found;
}

Value attempt_text(const Context& c, const Item& item) {
  const facts::MountAttempt* attempt = attempt_of(c, message_of(c, item));
  if (attempt == nullptr || !attempt->what.has_value()) return "a mount";
  if (!attempt->where.has_value()) return "mount of " + *attempt->what;
  return fmt::format("mount of {} on {}", *attempt->what, *attempt->where);
}

Value attempt_options(const Context& c, const Item& item) {
  const facts::MountAttempt* attempt = attempt_of(c, message_of(c, item));
  return attempt != nullptr && attempt->options_text.has_value() ? Value(*attempt->options_text) : Value(Absent{});
}

// A TLS handshake that fails makes the mount end in EACCES: the export is not to blame.
Value tls_failed(const Context& c, const Item&) { return first_of(c, "tls-handshake-failed") != nullptr; }

// "mtls:tls" where a pasted exports(5) demands transport security.
Value exports_xprtsec(const Context& c, const Item&) {
  for (const auto& entry : c.facts.log.exports)
    if (entry.xprtsec.has_value()) return *entry.xprtsec;
  return Absent{};
}

bool concerns(const facts::LogMessage& m, const facts::NfsMount& mount) {
  if (m.device.has_value() && mount.bdi.has_value() && *m.device == *mount.bdi) return true;
  if (m.path.has_value() && *m.path == mount.target) return true;
  if (!m.server.has_value() || m.device.has_value()) return false;
  return is_same_host(*m.server, mount.server_name, mount.addr);
}

std::vector<Item> message_mounts(const Context& c, const Item& item) {
  const facts::LogMessage& m = message_of(c, item);
  std::vector<Item> items;
  for (std::uint32_t i = 0; i < c.facts.nfs.mounts.size(); ++i)
    if (concerns(m, c.facts.nfs.mounts[i])) items.push_back(make_item("nfs.mounts", i));
  return items;
}

Scope message_scope() {
  Scope s;
  s.name = "log.messages";
  s.type = &facts::type_of<facts::LogMessage>;
  s.items = [](const Context& c) { return items_of("log.messages", messages_of(c).size()); };
  s.ref = [](const Context& c, const Item& item) { return facts::ref_to(message_of(c, item)); };
  s.path = [](const Context&, const Item& item) { return fmt::format("log.messages[{}]", item.index); };
  s.subject = message_subject;
  s.own_name = no_name;
  s.derived = {
      {"place", text_type, "text and line that hold the message", by_log, message_place},
      {"stamp", text_type, "when it was said; null when the line has no stamp", by_log, message_stamp},
      {"about", text_type, "server, path or node that it is about", by_log, message_about},
      {"incident", text_type, "equal for messages that tell of one event", by_log, message_incident},
      {"alike_count", integer_type, "kept messages of this kind about the same server and path", by_log, message_alike},
      {"changed_server", text_type, "server that shows another file system under its name; null for none", by_log,
       changed_server},
      {"lock_refusal", text_type, "status and error that a refused NFSv3 lock ended with, in words; null for none",
       by_log, lock_refusal},
      {"unwatched", text_type, "host whose status monitor could not be reached; null for none", by_log, unwatched},
      {"unwatched_why", text_type, "why not, in words; null when not told", by_log, unwatched_why},
      {"watchdog_missing", boolean_type, "the watchdog of the EFS tunnels could not be started", by_log,
       watchdog_missing},
      {"server_is_address", boolean_type, "the server is named by an address", by_log, is_literal},
      {"server_address", text_type, "the server without its zone", by_log, without_zone},
      {"server_zone", text_type, "zone of the server, with its %; null for none", by_log, server_zone},
      {"attempt", text_type, "the mount that was tried there, in words", "log.mount_attempts", attempt_text},
      {"attempt_options", text_type, "its options as written; null for none", "log.mount_attempts", attempt_options},
      {"tls_failed", boolean_type, "a TLS handshake failed in the same texts", by_log, tls_failed},
      {"exports_xprtsec", text_type, "transport security that a pasted exports(5) demands; null for none",
       "log.exports", exports_xprtsec}};
  s.collections = {{"mounts", "mounts that the message is about", "nfs.mounts", message_mounts}};
  return s;
}

// --- grace periods -------------------------------------------------------------------------------------------------

const facts::GracePeriod& grace_of(const Context& c, const Item& item) { return c.facts.log.grace_periods[item.index]; }

bool is_same_server(const facts::GracePeriod& a, const facts::GracePeriod& b) {
  return a.source == b.source && a.host == b.host;
}

// Periods of the same server in the same log.
Value grace_count(const Context& c, const Item& item) {
  const auto& all = c.facts.log.grace_periods;
  return static_cast<std::uint64_t>(std::count_if(
      all.begin(), all.end(), [&](const facts::GracePeriod& g) { return is_same_server(g, grace_of(c, item)); }));
}

Value grace_host(const Context& c, const Item& item) {
  const facts::GracePeriod& grace = grace_of(c, item);
  return grace.host.has_value() ? *grace.host : "the server of " + grace.source;
}

Value grace_place(const Context& c, const Item& item) {
  return fmt::format("{}:{}", grace_of(c, item).source, grace_of(c, item).line);
}

Value grace_ended(const Context& c, const Item& item) {
  const facts::GracePeriod& grace = grace_of(c, item);
  if (grace.end.has_value()) return true;
  return unknown("the log does not show its end");
}

// An operation refused after the period should have been over.
Value grace_overdue(const Context& c, const Item& item) {
  const facts::GracePeriod& grace = grace_of(c, item);
  if (!grace.expected_end.has_value()) return unknown("the log does not show when it should end");
  const auto& expected = *grace.expected_end;
  // Stamps of one log are comparable as texts where they name the year.
  if (expected.find('T') == std::string::npos) return unknown("the log has no stamps to compare");
  if (grace.end.has_value()) return *grace.end > expected;
  for (const auto& m : messages_of(c)) {
    if (m.source != grace.source || m.line <= grace.line || m.kind != "grace-refused") continue;
    if (m.at.has_value() && *m.at > expected) return true;
  }
  return false;
}

Scope grace_scope() {
  Scope s;
  s.name = "log.grace_periods";
  s.type = &facts::type_of<facts::GracePeriod>;
  s.items = [](const Context& c) { return items_of("log.grace_periods", c.facts.log.grace_periods.size()); };
  s.ref = [](const Context& c, const Item& item) { return facts::ref_to(grace_of(c, item)); };
  s.path = [](const Context&, const Item& item) { return fmt::format("log.grace_periods[{}]", item.index); };
  s.subject = [](const Context& c, const Item& item) {
    return Subject{"nfs.server", grace_of(c, item).host.value_or(grace_of(c, item).source)};
  };
  s.own_name = no_name;
  constexpr std::string_view by = "log.grace_periods";
  s.derived = {{"server_host", text_type, "host that the log is of", by, grace_host},
               {"place", text_type, "text and line where it begins", by, grace_place},
               {"ended", boolean_type, "the log shows its end", by, grace_ended},
               {"overdue", boolean_type, "it went on after its expected end", by, grace_overdue},
               {"same_server_count", integer_type, "grace periods of this server in this log", by, grace_count}};
  return s;
}

// --- lines of the mount table --------------------------------------------------------------------------------------

Scope table_scope() {
  Scope s;
  s.name = "mounts";
  s.type = &facts::type_of<facts::Mount>;
  s.items = [](const Context& c) { return items_of("mounts", c.facts.mounts.size()); };
  s.ref = [](const Context& c, const Item& item) { return facts::ref_to(c.facts.mounts[item.index]); };
  s.path = [](const Context&, const Item& item) { return fmt::format("mounts[{}]", item.index); };
  s.subject = [](const Context& c, const Item& item) { return Subject{"mount", c.facts.mounts[item.index].target}; };
  s.own_name = no_name;
  return s;
}

// --- what the log says of a client ---------------------------------------------------------------------------------

std::vector<const facts::LogServer*> log_servers(const Context& c, const Item& item) {
  const facts::NfsClient& client = c.facts.nfs.clients[item.index];
  std::vector<const facts::LogServer*> found;
  if (!c.facts.log.servers.has_value()) return found;
  for (const auto& server : *c.facts.log.servers)
    if (server.service == "nfs" && is_same_host(server.name, client.server_name, client.addr)) found.push_back(&server);
  return found;
}

template <class Get>
Value log_sum(const Context& c, const Item& item, Get get) {
  if (!c.facts.log.servers.has_value()) return unknown(fmt::format("needs {}: {}", by_log, why_unknown(c, by_log)));
  std::uint64_t sum = 0;
  for (const auto* server : log_servers(c, item)) sum += get(*server);
  return sum;
}

Value log_timed_out(const Context& c, const Item& item) {
  return log_sum(c, item, [](const facts::LogServer& server) { return server.timed_out; });
}

// The log names a server without its port: how many sets of transports on this node go by that name.
Value log_same_name(const Context& c, const Item& item) {
  if (!c.facts.log.servers.has_value()) return unknown(fmt::format("needs {}: {}", by_log, why_unknown(c, by_log)));
  std::uint64_t most = 0;
  for (const auto* server : log_servers(c, item)) {
    std::uint64_t count = 0;
    for (const auto& client : c.facts.nfs.clients)
      count += static_cast<std::uint64_t>(is_same_host(server->name, client.server_name, client.addr));
    most = std::max(most, count);
  }
  return most;
}

// A kernel stack in the texts that waits for a lock manager.
Value log_lock_wait(const Context& c, const Item&) {
  if (!c.facts.log.messages.has_value()) return Absent{};
  const facts::LogMessage* m = first_of(c, "waits-in-nlm");
  return m != nullptr ? Value(fmt::format("{}:{}", m->source, m->line)) : Value(Absent{});
}

// File systems and disks on top that the log shows failing.
Value log_failed_on_top(const Context& c, const Item&) {
  if (!c.facts.log.messages.has_value()) return unknown(fmt::format("needs {}: {}", by_log, why_unknown(c, by_log)));
  std::vector<std::string> devices;
  for (const auto& m : messages_of(c)) {
    if (!is_one_of(m.kind, {"fs-aborted", "fs-read-only", "fs-shut-down"}) || !m.device.has_value()) continue;
    if (std::find(devices.begin(), devices.end(), *m.device) == devices.end()) devices.push_back(*m.device);
  }
  return text_or_absent(base::join(devices, ", "));
}

// --- connections of a client ---------------------------------------------------------------------------------------

// A server's own listing of its connections shows what it has received and not yet read. One that stands far above
// others, which are empty, is a connection whose requests nobody takes up.
struct Stuck {
  std::uint64_t connections = 0, idle = 0;
  const facts::NetSocket* socket = nullptr;  // the fullest
  std::string why;                           // where it is not known
};

Stuck stuck_of(const Context& c, const Item& item) {
  const facts::NfsClient& client = client_of(c, item);
  const auto& sockets = c.facts.network.sockets;
  Stuck stuck;
  if (!sockets.has_value() || !client.addr.has_value()) {
    stuck.why = fmt::format("needs network.sockets: {}", why_unknown(c, "network.sockets"));
    return stuck;
  }
  std::string own;
  for (const std::uint32_t m : c.mounts_of_client(item.index)) {
    const auto& named = c.facts.nfs.mounts[m].client_addr;
    if (named.has_value()) own = *named;
  }
  for (const auto& socket : *sockets) {
    if (socket.local_port != client.port || !is_same_address(socket.local_addr, *client.addr)) continue;
    if (!own.empty() && is_literal_address(own) && !is_same_address(socket.peer_addr, own)) continue;
    if (!socket.rx_queue_bytes.has_value()) continue;
    ++stuck.connections;
    if (*socket.rx_queue_bytes == 0) ++stuck.idle;
    if (stuck.socket == nullptr || *socket.rx_queue_bytes > *stuck.socket->rx_queue_bytes) stuck.socket = &socket;
  }
  if (stuck.connections == 0) stuck.why = "no listing of the server's own connections (ss -tn there) was given";
  return stuck;
}

template <class Get>
Value stuck_fact(const Context& c, const Item& item, Get get) {
  Stuck stuck = stuck_of(c, item);
  if (stuck.socket == nullptr) return unknown(std::move(stuck.why));
  return get(stuck);
}

Value stuck_bytes(const Context& c, const Item& item) {
  return stuck_fact(c, item, [](const Stuck& s) { return Value(*s.socket->rx_queue_bytes); });
}
Value stuck_port(const Context& c, const Item& item) {
  return stuck_fact(c, item, [](const Stuck& s) { return Value(s.socket->peer_port); });
}
Value stuck_connections(const Context& c, const Item& item) { return stuck_of(c, item).connections; }
// All the others are empty, so the server reads those.
Value stuck_alone(const Context& c, const Item& item) {
  return stuck_fact(c, item, [](const Stuck& s) { return Value(s.connections >= 2 && s.idle + 1 == s.connections); });
}

// A port of its own on a loopback address: a tunnel to another host, or a gateway.
bool is_tunnel(const facts::NfsClient& client) {
  return client.addr.has_value() && is_loopback_host(*client.addr) && client.port != 2049;
}
Value tunnel(const Context& c, const Item& item) {
  const facts::NfsClient& client = client_of(c, item);
  if (!client.addr.has_value())
    return unknown(fmt::format("needs nfs.clients[{}].addr: {}", item.index,
                               why_unknown(c, fmt::format("nfs.clients[{}].addr", item.index))));
  return is_tunnel(client);
}

// Only a connection that is refused at once shows that nobody listens.
Value tunnel_listens(const Context& c, const Item& item) {
  const facts::NfsClient& client = client_of(c, item);
  if (!is_tunnel(client)) return Absent{};
  const auto server = c.server_of_client(item.index);
  if (!server) return unknown("no server of that address");
  for (const auto& service : c.facts.nfs.servers[*server].services) {
    if (service.program != "nfs") continue;
    if (service.reachable.is(true)) return true;
    if (service.result.is("refused")) return false;
  }
  const std::string path = fmt::format("nfs.servers[{}].services", *server);
  return unknown(fmt::format("needs {}: {}; to see who listens, on the node: ss -ltnp 'sport = :{}'", path,
                             why_unknown(c, path), client.port));
}

// --- RDMA and UDP --------------------------------------------------------------------------------------------------

std::optional<std::uint64_t> age_of(const Context& c, const Item& item) {
  std::optional<std::uint64_t> age;
  for (const std::uint32_t m : c.mounts_of_client(item.index)) {
    const auto& one = c.facts.nfs.mounts[m].age_s;
    if (one.has_value()) age = std::max(age.value_or(0), *one);
  }
  return age;
}

Value no_transports(const Context& c, const Item& item) {
  const std::string path = fmt::format("nfs.clients[{}].transports", item.index);
  return unknown(fmt::format("needs {}: {}", path, why_unknown(c, path)));
}

// Mean time between two connects of the connection that breaks most often.
Value connect_interval_s(const Context& c, const Item& item) {
  const facts::NfsClient& client = client_of(c, item);
  if (client.transports.empty()) return no_transports(c, item);
  const auto age = age_of(c, item);
  if (!age) return unknown("the age of the mount is not known");
  std::uint64_t most = 0;
  for (const auto& t : client.transports) most = std::max(most, t.connect_count.value_or(0));
  if (most == 0) return Absent{};
  return static_cast<double>(*age) / static_cast<double>(most);
}

Value connects(const Context& c, const Item& item) {
  const facts::NfsClient& client = client_of(c, item);
  if (client.transports.empty()) return no_transports(c, item);
  std::uint64_t sum = 0;
  for (const auto& t : client.transports) sum += t.connect_count.value_or(0);
  return sum;
}

Value client_age_s(const Context& c, const Item& item) {
  const auto age = age_of(c, item);
  return age ? Value(*age) : unknown("the age of the mount is not known");
}

// The ninth number behind bklog_u, net/sunrpc/xprtrdma/transport.c, xprt_rdma_print_stats.
Value failed_marshals(const Context& c, const Item& item) {
  constexpr std::size_t failed_marshal_count = 8;
  const facts::NfsClient& client = client_of(c, item);
  if (client.transports.empty()) return no_transports(c, item);
  std::uint64_t sum = 0;
  for (const auto& t : client.transports) {
    if (t.rdma.size() <= failed_marshal_count) return Absent{};
    sum += t.rdma[failed_marshal_count];
  }
  return sum;
}

Value bad_xids(const Context& c, const Item& item) {
  const facts::NfsClient& client = client_of(c, item);
  if (client.transports.empty()) return no_transports(c, item);
  std::uint64_t sum = 0;
  for (const auto& t : client.transports) sum += t.bad_xids;
  return sum;
}

Value unanswered(const Context& c, const Item& item) {
  const facts::NfsClient& client = client_of(c, item);
  if (client.transports.empty()) return no_transports(c, item);
  std::uint64_t sum = 0;
  for (const auto& t : client.transports) sum += t.sends > t.recvs ? t.sends - t.recvs : 0;
  return sum;
}

// --- pNFS ----------------------------------------------------------------------------------------------------------

constexpr std::uint64_t min_layouts = 20;  // fewer say little about the metadata server

const facts::NfsOp* op_total(const Context& c, const Item& item, std::string_view name) {
  for (const auto& op : c.numbers(item.index).ops) {
    // Kernels before 2.6.38 printed the operations of pNFS with a prefix.
    std::string_view printed = op.total.op;
    if (printed.starts_with("PNFS_")) printed.remove_prefix(5);
    if (printed == name) return &op.total;
  }
  return nullptr;
}

Value no_ops(const Context& c, const Item& item) {
  const auto& mounts = c.mounts_of_client(item.index);
  const std::string path = fmt::format("nfs.mounts[{}].ops", mounts.empty() ? 0 : mounts.front());
  return unknown(fmt::format("needs {}: {}", path, why_unknown(c, path)));
}

Value layouts(const Context& c, const Item& item) {
  if (!c.numbers(item.index).counted) return no_ops(c, item);
  const facts::NfsOp* get = op_total(c, item, "LAYOUTGET");
  return get == nullptr ? std::uint64_t{0} : get->ops;
}

Value data_through_server(const Context& c, const Item& item) {
  if (!c.numbers(item.index).counted) return no_ops(c, item);
  const facts::NfsOp *read = op_total(c, item, "READ"), *write = op_total(c, item, "WRITE");
  return (read == nullptr ? 0 : read->ops) + (write == nullptr ? 0 : write->ops);
}

Value layout_mean(const Context& c, const Item& item, std::string_view name) {
  if (!c.numbers(item.index).counted) return no_ops(c, item);
  const facts::NfsOp* op = op_total(c, item, name);
  if (op == nullptr || op->ops < min_layouts) return Absent{};
  return static_cast<double>(op->rtt_ms) / static_cast<double>(op->ops);
}
Value layout_get_ms(const Context& c, const Item& item) { return layout_mean(c, item, "LAYOUTGET"); }
Value layout_commit_ms(const Context& c, const Item& item) { return layout_mean(c, item, "LAYOUTCOMMIT"); }

Value layout_times(const Context& c, const Item& item) {
  std::vector<std::string> parts;
  for (const std::string_view name : {"LAYOUTGET", "LAYOUTCOMMIT"}) {
    const Value mean = layout_mean(c, item, name);
    if (mean.is_unknown()) return mean;
    if (mean.is_number())
      parts.push_back(
          fmt::format("{} {:.0f} ms on average ({} calls)", name, *mean.as_double(), op_total(c, item, name)->ops));
  }
  return text_or_absent(base::join(parts, ", "));
}

// --- now against since the mount -----------------------------------------------------------------------------------

constexpr std::uint64_t min_window_ops = 100;

const ClientOp& client_op_of(const Context& c, const Item& item) { return c.numbers(item.index).ops[item.sub]; }

Value since_mount_rtt_ms(const Context& c, const Item& item) {
  const facts::NfsOp& op = client_op_of(c, item).total;
  if (op.ops == 0) return unknown("no such operation yet");
  if (client_op_of(c, item).wrapped) return unknown("invalid: the counter wrapped");
  return static_cast<double>(op.rtt_ms) / static_cast<double>(op.ops);
}

Value slowdown(const Context& c, const Item& item) {
  const ClientNumbers& numbers = c.numbers(item.index);
  if (!numbers.has_window) return unknown(numbers.no_window);
  const auto& window = client_op_of(c, item).window;
  if (window.ops < min_window_ops) return Absent{};
  const Value before = since_mount_rtt_ms(c, item);
  if (!before.is_number()) return before;
  if (*before.as_double() <= 0) return Absent{};
  return static_cast<double>(window.rtt_ms) / static_cast<double>(window.ops) / *before.as_double();
}

}  // namespace

void add_log_scopes(std::vector<Scope>& all) {
  auto& clients = scope_named(all, "nfs.clients").derived;
  clients.push_back({"log.timed_out_count", integer_type,
                     "\"not responding, timed out\" messages about its server: requests that were given up",
                     "log.servers", log_timed_out});
  clients.push_back({"log.same_name_count", integer_type,
                     "sets of transports of this node that a server named in \"not responding\" messages may mean",
                     "log.servers", log_same_name});
  clients.push_back({"log.lock_wait", text_type,
                     "text and line of a kernel stack that waits for a lock manager; null for none", by_log,
                     log_lock_wait});
  clients.push_back({"log.failed_on_top", text_type,
                     "devices whose file system the log shows aborted or read-only; null for none", by_log,
                     log_failed_on_top});
  constexpr std::string_view by_transports = "nfs.clients[].transports";
  constexpr std::string_view by_ops = "nfs.mounts[].ops";
  constexpr std::string_view by_sockets = "network.sockets";
  clients.insert(
      clients.end(),
      {{"stuck.bytes", integer_type, "most bytes that the server has received on one connection and not read",
        by_sockets, stuck_bytes},
       {"stuck.port", integer_type, "port of this client on that connection", by_sockets, stuck_port},
       {"stuck.connections", integer_type,
        "connections of this client in a listing of the server's own sockets; 0 where none was given", by_sockets,
        stuck_connections},
       {"stuck.alone", boolean_type, "the server has read everything on all the others", by_sockets, stuck_alone},
       {"tunnel", boolean_type, "the server's address is a loopback address with a port of its own",
        "nfs.clients[].addr", tunnel},
       {"tunnel_listens", boolean_type, "something on this node listens on that port; null for no tunnel",
        "nfs.servers[].services", tunnel_listens},
       {"client_age_s", integer_type, "age of its oldest mount", "nfs.mounts[].age_s", client_age_s},
       {"connects", integer_type, "times its connections were made, all together", by_transports, connects},
       {"connect_interval_s", number_type,
        "mean time between two connects of the connection that is made most often; null for none", by_transports,
        connect_interval_s},
       {"failed_marshals", integer_type, "requests that could not be made ready for RDMA; null for other transports",
        by_transports, failed_marshals},
       {"bad_xids_count", integer_type, "replies that matched no request", by_transports, bad_xids},
       {"unanswered_count", integer_type, "requests sent without a reply", by_transports, unanswered},
       {"layouts", integer_type, "pNFS layouts fetched since the mount", by_ops, layouts},
       {"layout_get_ms", number_type, "mean round trip of LAYOUTGET; null below 20 calls", by_ops, layout_get_ms},
       {"layout_commit_ms", number_type, "mean round trip of LAYOUTCOMMIT; null below 20 calls", by_ops,
        layout_commit_ms},
       {"layout_times", text_type, "both in words; null for none", by_ops, layout_times},
       {"data_through_server", integer_type, "READ and WRITE calls to the server since the mount", by_ops,
        data_through_server}});
  auto& ops = scope_named(all, "nfs.clients.ops").derived;
  ops.push_back({"since_mount.rtt_ms", number_type, "mean round trip since the mount", by_ops, since_mount_rtt_ms});
  ops.push_back({"slowdown", number_type,
                 "mean round trip between two samples over that since the mount; null below 100 operations", by_ops,
                 slowdown});
  all.push_back(message_scope());
  all.push_back(grace_scope());
  all.push_back(table_scope());
}

}  // namespace audit
