#include "probes/host/nfs_join.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>
#include <unordered_map>

#include "audit/base/text.h"
#include "probes/host/address.h"
#include "probes/host/lines.h"
#include "probes/host/nfs_options.h"

namespace probes {

namespace {

using facts::Fact;
using facts::NfsMount;
using Text = Fact<std::string>;

constexpr std::size_t none = static_cast<std::size_t>(-1);

// A mount on its way: what is known, and its transports until its client has taken them.
struct Joined {
  NfsMount mount;
  std::vector<facts::NfsTransport> transports;
  std::string server_key;  // address in one form, or the name in lower case; empty when neither is known
  bool has_statistics = false;
};

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

// One text for all forms of an address; names in lower case.
std::string host_key(std::string_view host) {
  const auto address = parse_address(host);
  if (!address) return lower(host);
  std::string key(reinterpret_cast<const char*>(address->bytes.data()), address->bytes.size());
  return key + '%' + address->zone;
}

Text sec_name(const Fact<std::uint32_t>& pseudoflavor) {
  if (pseudoflavor.is(0)) return std::string("none");
  if (pseudoflavor.is(1)) return std::string("sys");
  if (pseudoflavor.is(390003)) return std::string("krb5");
  if (pseudoflavor.is(390004)) return std::string("krb5i");
  if (pseudoflavor.is(390005)) return std::string("krb5p");
  return {};
}

void add_statistics(Joined& joined, MountstatsEntry entry) {
  NfsMount& mount = joined.mount;
  joined.has_statistics = true;
  joined.transports = std::move(entry.transports);
  mount.age_s = entry.age_s;
  mount.bytes = entry.bytes;
  mount.events = std::move(entry.events);
  mount.ops = std::move(entry.ops);
  mount.lease_time_s = entry.lease_time_s;
  mount.lease_expired_s = entry.lease_expired_s;
  mount.sessions = entry.sessions;
  mount.pnfs = std::move(entry.pnfs);
  mount.impl_id = std::move(entry.impl_id);
  if (mount.sec.is_unknown()) mount.sec = sec_name(entry.pseudoflavor);
}

// What NFSv2 and v3 do not have is known not to exist; likewise what came with sessions, for v4.0.
void settle_versions(NfsMount& mount) {
  const bool v2_or_v3 = mount.vers.is("2") || mount.vers.is("3");
  if (v2_or_v3) {
    mount.sessions = Fact<bool>::absent();
    mount.lease_time_s = Fact<std::uint32_t>::absent();
    mount.lease_expired_s = Fact<std::uint64_t>::absent();
  }
  if (v2_or_v3 || mount.vers.is("4.0")) {
    mount.pnfs = Text::absent();
    mount.impl_id = Text::absent();
  }
}

Joined begin(const facts::Mount& mount) {
  Joined joined;
  joined.mount = read_nfs_options(mount);
  return joined;
}

facts::Mount as_mount(MountstatsEntry& entry) {
  facts::Mount mount;
  mount.source = entry.source;
  mount.target = entry.target;
  mount.fs_type = entry.fs_type;
  mount.kind = "nfs";
  mount.super_options_text = std::move(entry.options_text);
  mount.target_deleted = entry.target_deleted;
  mount.hidden_by = entry.hidden_by;
  return mount;
}

std::string place_key(std::string_view target, std::string_view source) {
  return fmt::format("{}\n{}", target, source);
}

// The entries of mountstats by mount point and source, each given out once, in the order of the file.
class Entries {
 public:
  explicit Entries(std::vector<MountstatsEntry> entries) : entries_(std::move(entries)), next_(entries_.size(), none) {
    std::unordered_map<std::string, std::size_t> last;
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      if (!entries_[i].named) continue;
      const auto key = place_key(entries_[i].target, entries_[i].source);
      first_.try_emplace(key, i);
      if (const auto [at, fresh] = last.try_emplace(key, i); !fresh) next_[std::exchange(at->second, i)] = i;
    }
  }

  MountstatsEntry* take(const facts::Mount& mount) {
    const auto at = first_.find(place_key(mount.target, mount.source));
    if (at == first_.end() || at->second == none) return nullptr;
    const std::size_t index = std::exchange(at->second, next_[at->second]);
    entries_[index].named = false;
    return &entries_[index];
  }
  std::vector<MountstatsEntry>& left() { return entries_; }  // those still named

 private:
  std::vector<MountstatsEntry> entries_;
  std::vector<std::size_t> next_;
  std::unordered_map<std::string, std::size_t> first_;
};

// --- super blocks ---

bool has_work(const NfsMount& mount) {
  return std::any_of(mount.ops.begin(), mount.ops.end(), [](const facts::NfsOp& op) { return op.ops != 0; });
}

bool has_data(const NfsMount& mount) {
  return mount.bytes.has_value() && (mount.bytes->server_read != 0 || mount.bytes->server_write != 0);
}

bool same_counters(const Joined& a, const Joined& b) {
  return a.mount.options_text == b.mount.options_text && a.mount.age_s == b.mount.age_s &&
         a.mount.bytes == b.mount.bytes && a.mount.events == b.mount.events && a.transports == b.transports &&
         a.mount.ops == b.mount.ops;
}

std::uint64_t counters_hash(const Joined& joined) {
  PathHash hash;
  const auto number = [&hash](std::uint64_t value) {
    for (unsigned shift = 0; shift < 64; shift += 8) hash.add(static_cast<char>((value >> shift) & 0xff));
  };
  hash.add(joined.server_key);
  number(joined.mount.age_s.value_or(0));
  for (const auto& op : joined.mount.ops) {
    number(op.ops);
    number(op.execute_ms);
  }
  if (joined.mount.events.has_value()) {
    for (const auto event : *joined.mount.events) number(event);
  }
  return hash.value();
}

bool same_age(const NfsMount& a, const NfsMount& b) {
  if (!a.age_s.has_value() || !b.age_s.has_value()) return false;
  const auto [low, high] = std::minmax(*a.age_s, *b.age_s);
  return high - low <= 1;
}

// Finds for each mount the one that stands for its super block.
class SuperBlocks {
 public:
  explicit SuperBlocks(std::vector<Joined>& all) : all_(all), stands_for_(all.size(), none) {
    for (std::size_t i = 0; i < all_.size(); ++i) first_of_export_.try_emplace(export_hash(i), i);
    for (std::size_t i = 0; i < all_.size(); ++i) {
      if (all_[i].mount.bdi.has_value()) {
        by_device(i);
      } else if (all_[i].has_statistics) {
        by_counters(i);
      }
    }
    for (std::size_t i = 0; i < all_.size(); ++i) settle(i);
  }

 private:
  // Device, server and leading directories of the export, in a form that can be looked up directory by directory.
  static PathHash hash_of_server(const Joined& joined) {
    PathHash hash;
    hash.add(joined.mount.bdi.value_or(""));
    hash.add('\n');
    hash.add(joined.server_key);
    hash.add('\n');
    return hash;
  }
  std::uint64_t export_hash(std::size_t i) const {
    PathHash hash = hash_of_server(all_[i]);
    hash.add(normal_export(all_[i].mount.export_path.value_or("")));
    return hash.value();
  }

  // The first mount of the highest directory that this one's export lies in, on the same device; itself when none.
  std::size_t top_of(std::size_t i) const {
    const std::string path = normal_export(all_[i].mount.export_path.value_or(""));
    PathHash hash = hash_of_server(all_[i]);
    for (std::size_t at = 0; at < path.size(); ++at) {
      const bool root = at == 1 && path[0] == '/';
      if (root || (at > 0 && path[at] == '/')) {
        if (const auto found = first_of_export_.find(hash.value()); found != first_of_export_.end())
          return found->second;
      }
      hash.add(path[at]);
    }
    const auto found = first_of_export_.find(hash.value());
    return found == first_of_export_.end() ? i : found->second;
  }

  void by_device(std::size_t i) {
    NfsMount& mount = all_[i].mount;
    const std::size_t top = top_of(i);
    const auto& top_path = all_[top].mount.export_path;
    const bool subdirectory = normal_export(top_path.value_or("")) != normal_export(mount.export_path.value_or(""));
    mount.parent_export = subdirectory ? Text(all_[top].mount.source) : Text::absent();
    stands_for_[i] = top;
    if (top != i) return;
    // Exports of one file system on the server share a super block; that shows in its age, not in the sources.
    const auto [first, fresh] = first_of_device_.try_emplace(*mount.bdi, i);
    if (!fresh && same_age(all_[first->second].mount, mount)) stands_for_[i] = first->second;
  }

  void by_counters(std::size_t i) {
    stands_for_[i] = i;
    if (!has_work(all_[i].mount)) return;
    const auto [first, fresh] = first_of_counters_.try_emplace(counters_hash(all_[i]), i);
    if (fresh) return;
    const Joined& other = all_[first->second];
    const bool one_source = other.mount.source == all_[i].mount.source;
    if (other.server_key == all_[i].server_key && (one_source || has_data(all_[i].mount)) &&
        same_counters(other, all_[i])) {
      stands_for_[i] = first->second;
    }
  }

  void settle(std::size_t i) {
    NfsMount& mount = all_[i].mount;
    if (stands_for_[i] == none) return;  // nothing tells: same_as stays unknown
    std::size_t first = stands_for_[i];
    if (stands_for_[first] != none) first = stands_for_[first];  // a top may itself stand behind another export
    if (first == i) {
      mount.same_as = Text::absent();
      return;
    }
    mount.same_as = all_[first].mount.target;
  }

  std::vector<Joined>& all_;
  std::vector<std::size_t> stands_for_;
  std::unordered_map<std::uint64_t, std::size_t> first_of_export_;
  std::unordered_map<std::string, std::size_t> first_of_device_;
  std::unordered_map<std::uint64_t, std::size_t> first_of_counters_;
};

// --- clients ---

class Clients {
 public:
  explicit Clients(std::vector<facts::NfsClient>& clients) : clients_(clients) {}

  void add(Joined& joined) {
    const std::size_t at = find_or_make(joined);
    facts::NfsClient& client = clients_[at];
    NfsMount& mount = joined.mount;
    mount.client_id = client.id;
    client.mounts.push_back(mount.target);
    if (client.transports.empty()) client.transports = std::move(joined.transports);
    if (!client.nconnect.has_value() && !mount.nconnect.is_unknown()) client.nconnect = mount.nconnect;
    if (!client.max_connect.has_value() && !mount.max_connect.is_unknown()) client.max_connect = mount.max_connect;
    if (!client.server_name.has_value()) client.server_name = mount.server_name;
  }

  void finish() {
    for (auto& client : clients_) {
      if (!client.transports.empty()) {
        client.transport_count = static_cast<std::uint32_t>(client.transports.size());
      } else if (!client.nconnect.is_unknown()) {
        client.transport_count = client.nconnect.value_or(1);
      }
    }
  }

 private:
  std::size_t find_or_make(const Joined& joined) {
    const NfsMount& mount = joined.mount;
    const std::string key =
        fmt::format("{}\n{}\n{}\n{}\n{}", joined.server_key, mount.port.value_or(2049), mount.vers.value_or("?"),
                    mount.proto.value_or("?"), mount.xprtsec.value_or("?"));
    if (joined.server_key.empty()) return make(joined, "nothing: no server is named");
    if (mount.addr.has_value()) return by_key("a" + key, joined, "address");
    if (joined.transports.empty()) return by_key("n" + key, joined, "server name");
    return by_transports(key, joined);
  }

  std::size_t by_key(const std::string& key, const Joined& joined, const char* how) {
    const auto [at, fresh] = by_key_.try_emplace(key, clients_.size());
    return fresh ? make(joined, how) : at->second;
  }

  std::size_t by_transports(const std::string& key, const Joined& joined) {
    std::vector<std::string> port_keys;
    for (const auto& transport : joined.transports) {
      const auto port = transport.src_port.value_or(0);
      if (port != 0) port_keys.push_back(fmt::format("p{}\n{}", key, port));
    }
    if (port_keys.empty()) return by_key("x" + key + lines_key(joined.transports), joined, "transport lines");
    std::size_t client = none;
    for (const auto& port_key : port_keys) {
      const auto at = by_key_.find(port_key);
      if (at != by_key_.end()) client = at->second;
    }
    if (client == none) client = make(joined, "source port");
    for (auto& port_key : port_keys) by_key_.try_emplace(std::move(port_key), client);
    return client;
  }

  static std::string lines_key(const std::vector<facts::NfsTransport>& transports) {
    std::string key;
    for (const auto& t : transports) {
      key += fmt::format("\n{} {} {} {} {} {} {}", t.proto, t.connect_count.value_or(0), t.sends, t.recvs, t.bad_xids,
                         t.req_u, t.bklog_u);
      key += fmt::format(" {} {} {}", t.max_slots.value_or(0), t.sending_u.value_or(0), t.pending_u.value_or(0));
      for (const auto counter : t.rdma) key += fmt::format(" {}", counter);
    }
    return key;
  }

  std::size_t make(const Joined& joined, const char* how) {
    const NfsMount& mount = joined.mount;
    facts::NfsClient client;
    client.addr = mount.addr;
    client.port = mount.port.value_or(2049);
    client.vers = mount.vers;
    client.proto = mount.proto;
    client.xprtsec = mount.xprtsec;
    client.grouped_by = how;
    client.id = free_id(joined, client);
    clients_.push_back(std::move(client));
    return clients_.size() - 1;
  }

  std::string free_id(const Joined& joined, const facts::NfsClient& client) {
    const NfsMount& mount = joined.mount;
    const std::string host = mount.addr.value_or(mount.server_name.value_or("unknown"));
    std::string id =
        fmt::format("{} {} {}", host_port(host, client.port), client.vers.value_or("?"), client.proto.value_or("?"));
    if (client.xprtsec.has_value() && !client.xprtsec.is("none")) id += " " + *client.xprtsec;
    if (taken_.try_emplace(id, 1).second) return id;
    id += " " + mount.target;
    const auto [at, fresh] = taken_.try_emplace(id, 1);
    if (fresh) return id;
    return fmt::format("{} #{}", id, ++at->second);
  }

  std::vector<facts::NfsClient>& clients_;
  std::unordered_map<std::string, std::size_t> by_key_;
  std::unordered_map<std::string, int> taken_;
};

// --- servers ---

std::string kind_of(std::string_view impl_id) {
  const std::string text = lower(impl_id);
  if (text.find("netapp") != std::string::npos) return "ontap";
  if (text.find("ganesha") != std::string::npos) return "ganesha";
  if (text.find("truenas") != std::string::npos) return "truenas";
  if (text.find("kernel.org") != std::string::npos) return "linux";
  return "other";
}

std::vector<facts::NfsServer> list_servers(const std::vector<Joined>& all) {
  std::vector<facts::NfsServer> servers;
  std::unordered_map<std::string, std::size_t> by_key;
  for (const auto& joined : all) {
    const NfsMount& mount = joined.mount;
    if (joined.server_key.empty()) continue;
    const auto port = mount.port.value_or(2049);
    const auto [at, fresh] = by_key.try_emplace(fmt::format("{}\n{}", joined.server_key, port), servers.size());
    if (fresh) {
      facts::NfsServer server;
      server.name = mount.server_name.value_or(mount.addr.value_or(""));
      server.addr = mount.addr;
      server.port = port;
      server.mounted = true;
      servers.push_back(std::move(server));
    }
    facts::NfsServer& server = servers[at->second];
    if (mount.impl_id.has_value() && !server.kind.has_value()) {
      server.kind = kind_of(*mount.impl_id);
      server.kind_how = std::string("implementation id that it sent to the client");
    }
    if (mount.lease_time_s.has_value() && !server.lease_s.has_value()) server.lease_s = mount.lease_time_s;
  }
  return servers;
}

}  // namespace

Parsed<facts::Nfs> join_nfs(const std::vector<facts::Mount>& mounts, std::vector<MountstatsEntry> entries) {
  Parsed<facts::Nfs> out;
  std::vector<Joined> all;
  all.reserve(std::max(mounts.size(), entries.size()));
  if (mounts.empty()) {
    for (auto& entry : entries) {
      if (!entry.named) continue;
      all.push_back(begin(as_mount(entry)));
      add_statistics(all.back(), std::move(entry));
    }
  } else {
    Entries by_place(std::move(entries));
    for (const auto& mount : mounts) {
      if (mount.kind != "nfs") continue;
      all.push_back(begin(mount));
      if (MountstatsEntry* entry = by_place.take(mount)) add_statistics(all.back(), std::move(*entry));
    }
    for (const auto& entry : by_place.left()) {
      if (!entry.named) continue;
      add_note(
          out.notes, entry.line,
          fmt::format("statistics of {}, which the mount table does not list", base::escape_control(entry.target)));
    }
  }
  for (auto& joined : all) {
    const NfsMount& mount = joined.mount;
    joined.server_key = host_key(mount.addr.value_or(mount.server_name.value_or("")));
    settle_versions(joined.mount);
  }
  SuperBlocks{all};
  Clients clients(out.facts.clients);
  for (auto& joined : all) clients.add(joined);
  clients.finish();
  out.facts.servers = list_servers(all);
  out.facts.mounts.reserve(all.size());
  for (auto& joined : all) {
    NfsMount& mount = joined.mount;
    if (mount.same_as.has_value()) {
      mount.ops.clear();
      mount.bytes = {};
      mount.events = {};
    }
    out.facts.mounts.push_back(std::move(mount));
  }
  return out;
}

}  // namespace probes
