#include "probes/host/tunables.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "audit/base/text.h"
#include "probes/host/client_identity.h"
#include "probes/probe.h"

namespace probes {

namespace {

using facts::Fact;

constexpr const char* sysctl_kind = "sysctl";
constexpr const char* module_kind = "module parameter";

constexpr std::array<std::string_view, 12> modules{"sunrpc",
                                                   "nfs",
                                                   "nfsv2",
                                                   "nfsv3",
                                                   "nfsv4",
                                                   "lockd",
                                                   "rpcrdma",
                                                   "xprtrdma",
                                                   "auth_rpcgss",
                                                   "nfs_layout_nfsv41_files",
                                                   "nfs_layout_flexfiles",
                                                   "blocklayoutdriver"};

// Names that kernels from 3.10 to 6.12 have; the live directories know better where they can be listed.
const std::vector<std::string>& known_names() {
  static const std::vector<std::string> names{
      // net/sunrpc/{sysctl,xprtsock}.c, xprtrdma/transport.c
      "sunrpc.rpc_debug", "sunrpc.nfs_debug", "sunrpc.nfsd_debug", "sunrpc.nlm_debug", "sunrpc.transports",
      "sunrpc.udp_slot_table_entries", "sunrpc.tcp_slot_table_entries", "sunrpc.tcp_max_slot_table_entries",
      "sunrpc.min_resvport", "sunrpc.max_resvport", "sunrpc.tcp_fin_timeout", "sunrpc.rdma_slot_table_entries",
      "sunrpc.rdma_max_inline_read", "sunrpc.rdma_max_inline_write", "sunrpc.rdma_pad_optimize",
      "sunrpc.rdma_memreg_strategy",
      // parameters of sunrpc
      "sunrpc.auth_hashtable_size", "sunrpc.auth_max_cred_cachesize", "sunrpc.pool_mode",
      "sunrpc.svc_rpc_per_connection_limit", "sunrpc.key_expire_timeo",
      // fs/nfs/{sysctl,nfs4sysctl}.c, fs/lockd/svc.c
      "fs.nfs.nfs_callback_tcpport", "fs.nfs.idmap_cache_timeout", "fs.nfs.nfs_mountpoint_timeout",
      "fs.nfs.nfs_congestion_kb", "fs.nfs.nlm_grace_period", "fs.nfs.nlm_timeout", "fs.nfs.nlm_udpport",
      "fs.nfs.nlm_tcpport", "fs.nfs.nsm_use_hostnames", "fs.nfs.nsm_local_state",
      // parameters of the NFS client and lockd
      "nfs.callback_tcpport", "nfs.callback_nr_threads", "nfs.nfs_idmap_cache_timeout", "nfs.nfs4_disable_idmapping",
      "nfs.max_session_slots", "nfs.max_session_cb_slots", "nfs.send_implementation_id", "nfs.nfs4_unique_id",
      "nfs.recover_lost_locks", "nfs.enable_ino64", "nfs.cache_getent", "nfs.cache_getent_timeout",
      "nfs.nfs_access_max_cachesize", "nfs.nfs_mountpoint_expiry_timeout", "nfs.delay_retrans",
      "nfsv4.layoutstats_timer", "nfsv4.delegation_watermark", "nfsv4.dataserver_timeo", "nfsv4.dataserver_retrans",
      "lockd.nlm_grace_period", "lockd.nlm_timeout", "lockd.nlm_udpport", "lockd.nlm_tcpport",
      "lockd.nsm_use_hostnames", "lockd.nlm_max_connections"};
  return names;
}

bool is_module(std::string_view name) { return std::find(modules.begin(), modules.end(), name) != modules.end(); }

// modprobe takes - and _ for the same.
std::string underscored(std::string_view name) {
  std::string result(name);
  std::replace(result.begin(), result.end(), '-', '_');
  return result;
}

// Words divided by blanks; blanks between double quotes do not divide, as in the kernel's next_arg().
std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  bool quoted = false;
  std::size_t start = std::string_view::npos;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    const bool end = i == text.size() || (!quoted && (text[i] == ' ' || text[i] == '\t' || text[i] == '\n'));
    if (end && start != std::string_view::npos) {
      words.push_back(text.substr(start, i - start));
      start = std::string_view::npos;
    }
    if (end) continue;
    if (start == std::string_view::npos) start = i;
    if (text[i] == '"') quoted = !quoted;
  }
  return words;
}

std::string unquoted(std::string_view value) {
  if (value.size() >= 2 && value.front() == '"' && value.back() == '"') value = value.substr(1, value.size() - 2);
  return std::string(value);
}

std::string value_to_keep(std::string_view name, std::string_view value) {
  return name == "nfs.nfs4_unique_id" && !value.empty() ? scrubbed_identity(value) : std::string(value);
}

// MODULE.PARAMETER=VALUE, or a parameter alone (a flag).
Assignment module_assignment(std::string_view module, std::string_view text, std::string origin) {
  const auto equals = text.find('=');
  const auto parameter = text.substr(0, equals);
  const std::string name = underscored(module) + "." + underscored(parameter);
  const std::string value = equals == std::string_view::npos ? std::string("1") : unquoted(text.substr(equals + 1));
  return {name, value_to_keep(name, value), module_kind, std::move(origin)};
}

std::string at_line(const std::string& path, std::size_t line) { return path + ":" + std::to_string(line); }

// "sunrpc/tcp_slot_table_entries" is "sunrpc.tcp_slot_table_entries" (sysctl.d(5)): the first separator decides.
std::string sysctl_name(std::string_view key) {
  std::string name(key);
  const auto first = name.find_first_of("./");
  if (first != std::string::npos && name[first] == '/')
    for (char& c : name) c = c == '/' ? '.' : c == '.' ? '/' : c;
  return name;
}

bool is_ours(std::string_view sysctl) { return sysctl.starts_with("sunrpc.") || sysctl.starts_with("fs.nfs."); }

}  // namespace

Parsed<std::vector<Assignment>> parse_sysctl_conf(std::string_view text, const std::string& path) {
  Parsed<std::vector<Assignment>> parsed;
  std::string_view line;
  for (std::size_t number = 1; base::next_line(text, line); ++number) {
    line = base::trim(line);
    if (line.empty() || line.front() == '#' || line.front() == ';') continue;
    const auto equals = line.find('=');
    auto key = base::trim(line.substr(0, equals));
    if (!key.empty() && key.front() == '-') key = base::trim(key.substr(1));  // errors are to be ignored
    const std::string name = sysctl_name(key);
    if (!is_ours(name)) continue;
    if (equals == std::string_view::npos) {
      parsed.notes.push_back({number, fmt::format("{} has no value", name)});
      continue;
    }
    parsed.facts.push_back(
        {name, std::string(base::trim(line.substr(equals + 1))), sysctl_kind, at_line(path, number)});
  }
  return parsed;
}

Parsed<std::vector<Assignment>> parse_modprobe_conf(std::string_view text, const std::string& path) {
  Parsed<std::vector<Assignment>> parsed;
  std::string_view line;
  std::string joined;
  std::size_t first = 0;
  for (std::size_t number = 1; base::next_line(text, line); ++number) {
    if (joined.empty()) first = number;
    if (line.ends_with('\\')) {  // goes on in the next line
      joined.append(line.substr(0, line.size() - 1));
      joined += ' ';
      continue;
    }
    joined.append(line);
    const auto f = words_of(joined);
    if (!f.empty() && f[0] == "options") {
      if (f.size() >= 3 && is_module(underscored(f[1]))) {
        for (std::size_t i = 2; i < f.size(); ++i)
          parsed.facts.push_back(module_assignment(f[1], f[i], at_line(path, first)));
      } else if (f.size() == 2 && is_module(underscored(f[1]))) {
        parsed.notes.push_back({first, fmt::format("options {} names no parameter", f[1])});
      }
    }
    joined.clear();
  }
  return parsed;
}

Parsed<std::vector<Assignment>> parse_cmdline(std::string_view text, const std::string& path) {
  Parsed<std::vector<Assignment>> parsed;
  for (const auto word : words_of(text)) {
    if (word == "--") break;  // the rest is for init
    const auto equals = word.find('=');
    const auto key = word.substr(0, equals);
    if (key.starts_with("sysctl.") && equals != std::string_view::npos) {
      const std::string name = sysctl_name(key.substr(7));
      if (is_ours(name)) parsed.facts.push_back({name, unquoted(word.substr(equals + 1)), sysctl_kind, path});
      continue;
    }
    const auto dot = key.find('.');
    if (dot != std::string_view::npos && is_module(underscored(key.substr(0, dot))))
      parsed.facts.push_back(module_assignment(key.substr(0, dot), word.substr(dot + 1), path));
  }
  return parsed;
}

namespace {

constexpr std::string_view unique_id = "nfs4_unique_id=";

// modprobe takes nfs4-unique-id for the same.
std::size_t find_unique_id(std::string_view text, std::size_t from) {
  const std::string folded = underscored(text.substr(from));
  const auto at = folded.find(unique_id);
  return at == std::string::npos ? at : from + at;
}

}  // namespace

std::string scrub_modprobe_conf(std::string_view text) {
  std::string out;
  std::size_t done = 0;
  for (auto at = find_unique_id(text, 0); at != std::string_view::npos; at = find_unique_id(text, done)) {
    const auto value = at + unique_id.size();
    const bool quoted = value < text.size() && text[value] == '"';
    auto end = quoted ? text.find('"', value + 1) : text.find_first_of(" \t\n\\", value);
    end = end == std::string_view::npos ? text.size() : end + (quoted ? 1 : 0);
    out += text.substr(done, value - done);
    const std::string plain = unquoted(text.substr(value, end - value));
    if (!plain.empty()) out += scrubbed_identity(plain);
    done = end;
  }
  return out.append(text.substr(done));
}

std::string scrub_cmdline(std::string_view text) {
  std::string out;
  for (const auto word : words_of(text)) {
    const auto key = word.substr(0, word.find('='));
    const auto dot = key.find('.');
    const bool ours = word == "--" || key == "nfsroot" || key == "root" ||
                      (dot != std::string_view::npos && is_module(underscored(key.substr(0, dot)))) ||
                      (key.starts_with("sysctl.") && is_ours(sysctl_name(key.substr(7))));
    if (ours) out += (out.empty() ? "" : " ") + scrub_modprobe_conf(word);
  }
  return out + "\n";
}

std::vector<std::string> apply_order(const std::vector<std::pair<std::string, std::vector<std::string>>>& directories) {
  std::map<std::string, std::string> by_name;
  for (const auto& [directory, names] : directories) {
    for (const auto& name : names) {
      if (name.ends_with(".conf")) by_name.emplace(name, directory + "/" + name);
    }
  }
  std::vector<std::string> paths;
  for (const auto& [name, path] : by_name) paths.push_back(path);
  return paths;
}

bool LiveSettings::listed_prefix(std::string_view name) const {
  return std::any_of(listed.begin(), listed.end(), [&](const std::string& prefix) {
    return name.size() > prefix.size() && name.starts_with(prefix) && name[prefix.size()] == '.';
  });
}

Fact<std::string> meant_setting(std::string_view name, const std::vector<std::string>& known) {
  const auto words = [](std::string_view text) {
    const auto dot = text.rfind('.');
    std::multiset<std::string> set;
    for (const auto word : base::split(text.substr(dot + 1), '_')) set.emplace(word);
    return std::make_pair(std::string(text.substr(0, dot)), set);
  };
  const auto wanted = words(name);
  for (const auto& candidate : known) {
    if (words(candidate) == wanted) return candidate;
  }
  if (auto near = base::nearest(name, known)) return *near;
  return Fact<std::string>::absent();
}

std::vector<facts::KernelSetting> join_settings(const LiveSettings& live, const std::vector<Assignment>& configured) {
  std::map<std::string, facts::KernelSetting> settings;
  for (const auto& [name, running] : live.values) {
    auto& s = settings[name];
    s.name = name;
    s.kind = running.kind;
    s.live = running.value;
    s.configured = Fact<std::string>::absent();
    s.origin = Fact<std::string>::absent();
    s.unknown_key = false;
    s.meant = Fact<std::string>::absent();
  }
  std::vector<std::string> known = known_names();
  for (const auto& [name, running] : live.values) known.push_back(name);
  for (const auto& a : configured) {
    auto& s = settings[a.name];
    if (s.name.empty()) {
      s.name = a.name;
      if (live.listed_prefix(a.name)) s.live = Fact<std::string>::absent();
      const bool in_table = std::find(known.begin(), known.end(), a.name) != known.end();
      s.meant = in_table ? Fact<std::string>::absent() : meant_setting(a.name, known);
      if (in_table)
        s.unknown_key = false;
      else if (live.listed_prefix(a.name) || s.meant.has_value())
        s.unknown_key = true;
    }
    // The same value twice is one setting: /etc/sysctl.d/99-sysctl.conf is often a link to /etc/sysctl.conf.
    if (s.configured.has_value() && !s.configured.is(a.value)) s.overridden.push_back(*s.origin + " " + *s.configured);
    s.kind = a.kind;
    s.configured = a.value;
    s.origin = a.origin;
  }
  std::vector<facts::KernelSetting> all;
  for (auto& [name, setting] : settings) all.push_back(std::move(setting));
  return all;
}

facts::RpcTunables rpc_tunables(const LiveSettings& live) {
  const auto text_of = [&](const char* name) -> Fact<std::string> {
    if (const auto found = live.values.find(name); found != live.values.end()) return found->second.value;
    return live.listed_prefix(name) ? Fact<std::string>::absent() : Fact<std::string>();
  };
  const auto number_of = [&]<class T>(const char* name, Fact<T>& into) {
    const auto text = text_of(name);
    if (text.is_absent()) into = Fact<T>::absent();
    if (!text.has_value()) return;
    if (const auto value = base::number<T>(*text)) into = *value;
  };
  facts::RpcTunables rpc;
  number_of("sunrpc.tcp_slot_table_entries", rpc.tcp_slot_table_entries);
  number_of("sunrpc.tcp_max_slot_table_entries", rpc.tcp_max_slot_table_entries);
  number_of("sunrpc.min_resvport", rpc.min_resvport);
  number_of("sunrpc.max_resvport", rpc.max_resvport);
  number_of("nfs.max_session_slots", rpc.max_session_slots);
  number_of("fs.nfs.nlm_grace_period", rpc.nlm_grace_period_s);
  if (rpc.nlm_grace_period_s.is_unknown() || rpc.nlm_grace_period_s.is_absent())
    number_of("lockd.nlm_grace_period", rpc.nlm_grace_period_s);
  const auto locks = text_of("nfs.recover_lost_locks");
  if (locks.is_absent()) rpc.recover_lost_locks = Fact<bool>::absent();
  if (locks.is("Y") || locks.is("1")) rpc.recover_lost_locks = true;
  if (locks.is("N") || locks.is("0")) rpc.recover_lost_locks = false;
  return rpc;
}

namespace {

void read_live_directory(Reading& reading, const std::string& path, const std::string& prefix, const char* kind,
                         LiveSettings& live) {
  const auto names = reading.list(path);
  if (!names) return;
  live.listed.push_back(prefix);
  for (const auto& name : *names) {
    // Not a tunable but the list of transports; long and of no use here.
    if (name == "transports") continue;
    const auto text = reading.host().read(path + "/" + name);
    if (!text) continue;  // sunrpc.transports and some parameters are not for everybody
    const std::string full = prefix + "." + name;
    const std::string value = full == "nfs.nfs4_unique_id" ? identity_text(*text) : std::string(base::trim(*text));
    live.values.emplace(full, LiveSettings::Live{value_to_keep(full, value), kind});
  }
}

template <class Parse>
void read_conf_files(Reading& reading, const std::vector<std::string>& directories, Parse parse,
                     std::vector<Assignment>& all) {
  std::vector<std::pair<std::string, std::vector<std::string>>> listings;
  for (const auto& directory : directories) {
    if (auto names = reading.host().list(directory)) listings.emplace_back(directory, std::move(*names));
  }
  for (const auto& path : apply_order(listings)) {
    const auto text = reading.file(path);
    if (!text) continue;
    auto parsed = parse(*text, path);
    reading.note(parsed.notes);
    all.insert(all.end(), std::make_move_iterator(parsed.facts.begin()), std::make_move_iterator(parsed.facts.end()));
  }
}

}  // namespace

void read_tunables(Reading& reading) {
  LiveSettings live;
  read_live_directory(reading, "/proc/sys/sunrpc", "sunrpc", sysctl_kind, live);
  read_live_directory(reading, "/proc/sys/fs/nfs", "fs.nfs", sysctl_kind, live);
  // Which algorithms CHAP may use depends on it. Kernels without the mode have no such file.
  if (const auto fips = reading.host().read("/proc/sys/crypto/fips_enabled"))
    live.values.emplace("crypto.fips_enabled", LiveSettings::Live{std::string(base::trim(*fips)), sysctl_kind});
  for (const auto module : modules) {
    const std::string directory = "/sys/module/" + std::string(module) + "/parameters";
    if (reading.host().list(directory)) read_live_directory(reading, directory, std::string(module), module_kind, live);
  }

  // In the order in which they take effect: parameters when the module is loaded, the command line after modprobe.d
  // (kmod appends it), sysctl afterwards (nfs-utils' udev rule applies it again when sunrpc is loaded).
  std::vector<Assignment> configured;
  read_conf_files(
      reading,
      {"/etc/modprobe.d", "/run/modprobe.d", "/usr/local/lib/modprobe.d", "/usr/lib/modprobe.d", "/lib/modprobe.d"},
      parse_modprobe_conf, configured);
  if (const auto text = reading.file("/proc/cmdline")) {
    auto parsed = parse_cmdline(*text, reading.host().name_of("/proc/cmdline"));
    configured.insert(configured.end(), parsed.facts.begin(), parsed.facts.end());
  }
  read_conf_files(reading,
                  {"/etc/sysctl.d", "/run/sysctl.d", "/usr/local/lib/sysctl.d", "/usr/lib/sysctl.d", "/lib/sysctl.d"},
                  parse_sysctl_conf, configured);
  if (const auto text = reading.file("/etc/sysctl.conf")) {
    auto parsed = parse_sysctl_conf(*text, "/etc/sysctl.conf");
    reading.note(parsed.notes);
    configured.insert(configured.end(), parsed.facts.begin(), parsed.facts.end());
  }
  reading.facts().kernel.settings = join_settings(live, configured);
  reading.facts().kernel.rpc = rpc_tunables(live);
}

}  // namespace probes
