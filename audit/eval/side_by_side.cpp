#include "audit/eval/side_by_side.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <unordered_map>

#include "audit/base/text.h"
#include "audit/eval/option_text.h"

namespace audit {

namespace {

using facts::Absent;
using facts::Unknown;
using facts::Value;

constexpr std::array<std::string_view, 17> shown_options{
    "vers",    "proto", "port",    "nconnect",   "max_connect", "rsize",    "wsize",    "recovery", "timeo",
    "retrans", "sec",   "xprtsec", "local_lock", "acregmin",    "acregmax", "acdirmin", "acdirmax"};

const ComparedOption* find_option(std::string_view name) {
  for (const ComparedOption& option : compared_options()) {
    if (option.name == name) return &option;
  }
  return nullptr;
}

Value missing(const Context& context, const std::string& path) { return Unknown{why_unknown(context, path)}; }

template <class T>
Value number_or_missing(const Context& context, const facts::Fact<T>& fact, const std::string& path) {
  if (fact.has_value()) return std::to_string(*fact);
  return fact.is_absent() ? Value(Absent{}) : missing(context, path);
}

// What a server says, about one of its exports where it was asked about that one.
class Allowed {
 public:
  Allowed(const Context& context, std::uint32_t server) : context_(context), index_(server) {}

  const facts::NfsServer& server() const { return context_.facts.nfs.servers[index_]; }

  const facts::NfsExport* find_export(const facts::Fact<std::string>& path) const {
    if (!path.has_value()) return nullptr;
    for (const auto& one : server().exports) {
      if (one.path == *path) return &one;
    }
    return nullptr;
  }

  // `v3`: the mount is one of NFSv3, whose sizes come from FSINFO and whose locks need NLM.
  Value of(std::string_view option, bool v3, const facts::NfsExport* exported) const {
    if (option == "vers") {
      const auto& versions = server().versions;
      return versions.has_value() ? Value(base::join(*versions, ", ")) : missing(context_, path("versions"));
    }
    if (option == "rsize") return size(v3, true, exported);
    if (option == "wsize") return size(v3, false, exported);
    if (option == "port") return port();
    if (option == "sec") return flavours(exported);
    if (option == "local_lock") return v3 ? nlm() : Value("locks of NFSv4");
    if (option == "xprtsec") {
      const auto& tls = server().tls_offered;
      return tls.has_value() ? Value(*tls ? "TLS offered" : "no TLS") : missing(context_, path("tls_offered"));
    }
    return Absent{};
  }

  Value session_slots() const {
    const auto& session = server().session;
    return session.has_value()   ? Value(std::to_string(session->slots))
           : session.is_absent() ? Value(Absent{})
                                 : missing(context_, path("session"));
  }

 private:
  std::string path(std::string_view fact) const { return fmt::format("nfs.servers[{}].{}", index_, fact); }

  Value size(bool v3, bool read, const facts::NfsExport* exported) const {
    const auto& whole = server();
    const auto pick = [&](const auto& from) {
      return v3 ? (read ? from.rtmax_bytes : from.wtmax_bytes) : (read ? from.maxread_bytes : from.maxwrite_bytes);
    };
    if (exported != nullptr && pick(*exported).has_value()) return std::to_string(*pick(*exported));
    const std::string_view name =
        v3 ? (read ? "rtmax_bytes" : "wtmax_bytes") : (read ? "maxread_bytes" : "maxwrite_bytes");
    return number_or_missing(context_, pick(whole), path(name));
  }

  const facts::NfsService* service(std::string_view program) const {
    for (const auto& one : server().services) {
      if (one.program == program) return &one;
    }
    return nullptr;
  }

  Value port() const {
    const auto* nfs = service("nfs");
    if (nfs == nullptr || nfs->reachable.is_unknown()) return missing(context_, path("services"));
    if (!nfs->reachable.is(true)) return fmt::format("{}: {}", server().port, nfs->result.value_or("no answer"));
    return std::to_string(nfs->port.value_or(server().port));
  }

  Value nlm() const {
    const auto* nlm = service("nlm");
    if (nlm == nullptr || nlm->reachable.is_unknown()) return missing(context_, path("services"));
    return nlm->reachable.is(true) ? Value("NLM answers") : Value("NLM: " + nlm->result.value_or("no answer"));
  }

  Value flavours(const facts::NfsExport* exported) const {
    const auto told = [](const facts::NfsExport& one) -> const facts::Fact<std::vector<std::string>>& {
      return one.secinfo.has_value() ? one.secinfo : one.mnt_flavors;
    };
    if (exported != nullptr && told(*exported).has_value()) return base::join(*told(*exported), ", ");
    if (exported == nullptr && server().exports.size() == 1 && told(server().exports.front()).has_value())
      return base::join(*told(server().exports.front()), ", ");
    return missing(context_, path("exports"));
  }

  const Context& context_;
  std::uint32_t index_;
};

std::optional<double> rank(const std::string& version) { return base::real(version); }

// Whether the server allows more than what runs: a higher version, larger transfers, more slots.
bool allows_more(std::string_view option, const Value& effective, const Value& allowed) {
  if (effective.as_text() == nullptr || allowed.as_text() == nullptr) return false;
  if (option == "vers") {
    const auto now = rank(*effective.as_text());
    const auto all = base::split(*allowed.as_text(), ',');
    return now && std::any_of(all.begin(), all.end(), [&](std::string_view text) {
             const auto one = rank(std::string(base::trim(text)));
             return one && *one > *now;
           });
  }
  if (option != "rsize" && option != "wsize" && option != "slots") return false;
  const auto now = base::number<std::uint64_t>(*effective.as_text());
  const auto most = base::number<std::uint64_t>(*allowed.as_text());
  return now && most && *most > *now;
}

struct Asking {
  std::vector<OptionWord> own;
  std::vector<OptionWord> added;  // by nfsmount.conf
};

OptionSides row_of(const Context& context, std::uint32_t index, const ComparedOption& option, const Asking& asking) {
  const facts::NfsMount& mount = context.facts.nfs.mounts[index];
  OptionSides row;
  row.option = option.name;
  if (mount.asked.is_unknown()) {
    row.asked = missing(context, fmt::format("nfs.mounts[{}].asked", index));
  } else if (auto own = option.asked(asking.own)) {
    row.asked = std::move(*own);
    row.asked_from = mount.asked->origin;
  } else if (auto added = option.asked(asking.added)) {
    row.asked = std::move(*added);
    row.asked_from = "nfsmount.conf";
  } else {
    row.asked = Absent{};
  }
  row.effective = option.effective(mount);
  if (row.effective.is_unknown()) row.effective = missing(context, fmt::format("nfs.mounts[{}].options_text", index));
  row.allowed = Absent{};
  if (row.asked.as_text() != nullptr && row.effective.known())
    row.differs = row.effective.is_absent() || !is_met(option.name, *row.asked.as_text(), *row.effective.as_text());
  return row;
}

// Requests in flight: of a session since NFSv4.1, of a connection before.
OptionSides slots_row(const Context& context, std::uint32_t client, const std::optional<Allowed>& allowed) {
  const facts::NfsClient& one = context.facts.nfs.clients[client];
  const bool session = one.vers.is("4.1") || one.vers.is("4.2");
  const facts::RpcTunables& rpc = context.facts.kernel.rpc;
  OptionSides row;
  row.option = "slots";
  const auto& asked = session ? rpc.max_session_slots : rpc.tcp_max_slot_table_entries;
  const std::string name = session ? "max_session_slots" : "tcp_max_slot_table_entries";
  row.asked = number_or_missing(context, asked, "kernel.rpc." + name);
  row.asked_from = session ? "nfs.max_session_slots" : "sunrpc." + name;
  static const Scope* scope = find_scope("nfs.clients");
  const auto derived = [&](std::string_view fact) {
    return scope->find_derived(fact)->get(context, {scope, client, 0});
  };
  row.allowed = !session ? Value(Absent{}) : allowed ? allowed->session_slots() : Value(Unknown{"no such server"});
  const bool told = !session || row.allowed.as_text() != nullptr;  // else the server may have granted fewer
  Value slots = told ? derived(session ? "session_slots" : "slot_limit") : row.allowed;
  row.effective = slots.is_number() ? Value(fmt::format("{:.0f}", *slots.as_double())) : slots;
  if (row.asked.as_text() != nullptr && row.effective.as_text() != nullptr)
    row.differs = *row.asked.as_text() != *row.effective.as_text();
  row.more = allows_more(row.option, row.effective, row.allowed);
  return row;
}

// What makes two mounts of a client equal here.
std::string key_of(const facts::NfsMount& mount, const facts::NfsExport* exported) {
  std::string key;
  const auto add = [&](std::string_view text) { (key += text) += '\n'; };
  if (mount.asked.has_value()) {
    add(mount.asked->origin);
    add(mount.asked->text);
    add(mount.asked->default_text.value_or(""));
  } else {
    add(mount.asked.is_absent() ? "absent" : "unknown");
  }
  if (exported != nullptr) add(exported->path);
  if (mount.options_text.has_value()) {
    add(*mount.options_text);
    return key;
  }
  for (const ComparedOption& option : compared_options()) {
    const Value value = option.effective(mount);
    add(value.as_text() != nullptr ? *value.as_text() : value.is_absent() ? "none" : "?");
  }
  return key;
}

SideBySide table_of(const Context& context, std::uint32_t client, std::uint32_t m,
                    const std::optional<Allowed>& allowed, const facts::NfsExport* exported) {
  const facts::NfsMount& mount = context.facts.nfs.mounts[m];
  SideBySide table;
  table.subject = {"nfs.client", context.facts.nfs.clients[client].id};
  Asking asking;
  if (mount.asked.has_value()) {
    table.origin = mount.asked->origin;
    table.path = mount.asked->path;
    asking.own = option_words(mount.asked->text);
    if (mount.asked->default_text.has_value()) asking.added = option_words(*mount.asked->default_text);
  }
  const bool v3 = mount.vers.is("3");
  const auto add = [&](std::string_view name) {
    const ComparedOption* option = find_option(name);
    if (option == nullptr) return;
    OptionSides row = row_of(context, m, *option, asking);
    if (allowed) row.allowed = allowed->of(name, v3, exported);
    row.more = allows_more(name, row.effective, row.allowed);
    table.rows.push_back(std::move(row));
  };
  for (const std::string_view name : shown_options) {
    add(name);
    if (name == "max_connect") table.rows.push_back(slots_row(context, client, allowed));
  }
  return table;
}

}  // namespace

std::vector<SideBySide> side_by_side(const Context& context) {
  std::vector<SideBySide> tables;
  const facts::Nfs& nfs = context.facts.nfs;
  for (std::uint32_t client = 0; client < nfs.clients.size(); ++client) {
    std::optional<Allowed> allowed;
    if (const auto server = context.server_of_client(client)) allowed.emplace(context, *server);
    std::unordered_map<std::string, std::size_t> by_key;
    for (const std::uint32_t m : context.mounts_of_client(client)) {
      const auto* exported = allowed ? allowed->find_export(nfs.mounts[m].export_path) : nullptr;
      const auto [place, added] = by_key.emplace(key_of(nfs.mounts[m], exported), tables.size());
      if (added) tables.push_back(table_of(context, client, m, allowed, exported));
      tables[place->second].mounts.push_back(nfs.mounts[m].target);
    }
  }
  for (std::uint32_t server = 0; server < nfs.servers.size(); ++server) {
    const facts::NfsServer& one = nfs.servers[server];
    if (!context.clients_of_server(server).empty() || !one.versions.has_value()) continue;
    const Allowed allowed(context, server);
    const bool v3 = *one.versions == std::vector<std::string>{"3"};
    SideBySide& table = tables.emplace_back();
    table.subject = find_scope("nfs.servers")->subject(context, {find_scope("nfs.servers"), server, 0});
    const auto add = [&](std::string_view name, Value value) {
      if (value.is_absent()) return;
      OptionSides& row = table.rows.emplace_back();
      row.option = name;
      row.asked = row.effective = Absent{};
      row.allowed = std::move(value);
    };
    for (const std::string_view name : shown_options) {
      const bool sized = name == "rsize" || name == "wsize";
      if (!sized && name != "local_lock") {
        add(name, allowed.of(name, v3, nullptr));
        continue;
      }
      // A server that is not mounted says both: no version was chosen yet.
      const Value old = allowed.of(name, true, nullptr), now = allowed.of(name, false, nullptr);
      const bool both = old.as_text() != nullptr && now.as_text() != nullptr && !v3;
      if (name == "local_lock") {
        add("lock", both ? Value("NFSv3: " + *old.as_text() + "; NFSv4: its own") : v3 ? old : now);
      } else {
        add(name, both && *old.as_text() != *now.as_text()
                      ? Value("NFSv3: " + *old.as_text() + ", NFSv4: " + *now.as_text())
                  : v3 || now.as_text() == nullptr ? old
                                                   : now);
      }
    }
    add("slots", allowed.session_slots());
  }
  return tables;
}

}  // namespace audit
