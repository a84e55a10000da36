#include "probes/redact.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <sys/random.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>
#include <functional>
#include <vector>

#include "audit/base/text.h"
#include "probes/host/hex_lines.h"

namespace probes {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_hex(char c) { return std::isxdigit(static_cast<unsigned char>(c)) != 0; }
bool is_alnum(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }
bool is_word(char c) { return is_alnum(c) || c == '_' || c == '-' || c == '.'; }

// Parts of paths that are the same on every node.
bool is_common_part(std::string_view part) {
  static const std::set<std::string, std::less<>> common{
      "var", "lib",  "kubelet", "pods",    "volumes",  "volume-subpaths", "plugins",    "mount",         "mnt",
      "tmp", "host", "log",     "trident", "tracking", "globalmount",     "containers", "vol_data.json", "mounts"};
  return part.empty() || part == "." || part == ".." || common.contains(part) || part.starts_with("kubernetes.io~") ||
         std::all_of(part.begin(), part.end(), is_digit);
}

// Roots of trees that belong to the system. What names somebody in them is an identifier or a unit of a mount.
bool is_system_root(std::string_view part) {
  static constexpr std::array<std::string_view, 11> roots{"proc", "sys",  "dev", "run",  "usr",       "lib",
                                                          "etc",  "boot", "bin", "sbin", "mountaudit"};
  return std::find(roots.begin(), roots.end(), part) != roots.end();
}

// Words of the trade: where a host or an object bears such a name, free text keeps the word.
bool is_trade_word(std::string_view word) {
  static const std::set<std::string, std::less<>> words{
      "nfs",     "nfs3",    "nfs4",      "tcp",     "tcp6",    "udp",      "udp6",    "rdma",   "hard",   "soft",
      "softerr", "sys",     "krb5",      "krb5i",   "krb5p",   "none",     "all",     "server", "client", "mount",
      "mounts",  "lock",    "nolock",    "posix",   "flock",   "defaults", "rw",      "ro",     "sync",   "async",
      "kernel",  "log",     "text",      "file",    "data",    "default",  "ok",      "absent", "denied", "timeout",
      "refused", "skipped", "malformed", "route",   "storage", "volume",   "vol",     "test",   "host",   "root",
      "local",   "statd",   "lockd",     "rpcbind", "nlm",     "nsm",      "mountd",  "xprt",   "bdi",    "export",
      "tls",     "mtls",    "yes",       "no",      "not",     "node",     "the",     "for",    "and",    "of",
      "to",      "in",      "is",        "at",      "fstab",   "trident",  "systemd", "pvc",    "iscsi",  "fuse",
      "autofs",  "proc",    "dev",       "addr",    "port",    "vers",     "proto"};
  return word.size() < 2 || words.contains(word) || std::all_of(word.begin(), word.end(), is_digit);
}

std::size_t uuid_at(std::string_view text) {
  static constexpr std::string_view form = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
  if (text.size() < form.size()) return 0;
  for (std::size_t i = 0; i < form.size(); ++i) {
    if (form[i] == 'x' ? !is_hex(text[i]) : text[i] != '-') return 0;
  }
  return text.size() > form.size() && is_alnum(text[form.size()]) ? 0 : form.size();
}

std::size_t mac_at(std::string_view text) {
  constexpr std::size_t size = 17;
  if (text.size() < size) return 0;
  for (std::size_t i = 0; i < size; ++i) {
    if (i % 3 == 2 ? text[i] != ':' : !is_hex(text[i])) return 0;
  }
  return text.size() > size && (is_alnum(text[size]) || text[size] == ':') ? 0 : size;
}

// How fields are to be read. The others are free text.
enum class Sort : std::uint8_t { text, keep, host, path, name_space, pod, vm, claim, volume, name, serial, opaque };

Sort sort_of(std::string_view field) {
  static const std::map<std::string, Sort, std::less<>> sorts{
      {"schema", Sort::keep},
      {"sources.id", Sort::keep},
      {"sources.status", Sort::keep},
      {"kernel.release", Sort::keep},
      {"kernel.distribution", Sort::keep},
      {"kernel.distribution_version", Sort::keep},
      {"kernel.distribution_name", Sort::keep},
      {"node.name", Sort::host},
      {"node.root", Sort::path},
      {"node.machine_id_hash", Sort::opaque},
      {"mounts.target", Sort::path},
      {"mounts.root", Sort::path},
      {"mounts.hidden_by", Sort::path},
      {"nfs.mounts.target", Sort::path},
      {"nfs.mounts.server_name", Sort::host},
      {"nfs.mounts.export", Sort::path},
      {"nfs.mounts.same_as", Sort::path},
      {"nfs.mounts.hidden_by", Sort::path},
      {"nfs.mounts.kubelet.pod_namespace", Sort::name_space},
      {"nfs.mounts.kubelet.pod_name", Sort::pod},
      {"nfs.mounts.kubelet.volume", Sort::volume},
      {"nfs.mounts.kubelet.pv", Sort::volume},
      {"nfs.mounts.kubelet.vm", Sort::vm},
      {"nfs.mounts.asked.path", Sort::path},
      {"nfs.clients.server_name", Sort::host},
      {"nfs.clients.mounts", Sort::path},
      {"nfs.servers.name", Sort::host},
      {"nfs.servers.owner", Sort::opaque},
      {"nfs.servers.scope", Sort::opaque},
      {"nfs.servers.exports.path", Sort::path},
      {"nfs.servers.export_list.path", Sort::path},
      {"nfs.servers.export_list.groups", Sort::host},
      {"nfs.nfsiostat.where", Sort::path},
      {"nfs.identity.identifier_hash", Sort::opaque},
      {"nfs.identity.unique_id_hash", Sort::opaque},
      {"nfs.identity.nodename_hash", Sort::opaque},
      {"nfs.identity.effective_hash", Sort::opaque},
      {"kernel.tasks.pod_namespace", Sort::name_space},
      {"kernel.tasks.pod_name", Sort::pod},
      {"kernel.tasks.vm", Sort::vm},
      {"config.fstab.target", Sort::path},
      {"config.trident.path", Sort::path},
      {"config.trident.volume", Sort::volume},
      {"config.trident.nfs_server", Sort::host},
      {"config.trident.nfs_path", Sort::path},
      {"config.trident.iscsi_lun_serial", Sort::serial},
      {"config.trident.published_paths", Sort::path},
      {"config.systemd_mounts.path", Sort::path},
      {"config.systemd_mounts.unit", Sort::path},
      {"config.systemd_mounts.drop_ins", Sort::path},
      {"config.systemd_mounts.where", Sort::path},
      {"config.nfsroot.server", Sort::host},
      {"config.nfsroot.export", Sort::path},
      {"log.messages.host", Sort::host},
      {"log.messages.server", Sort::host},
      {"log.servers.name", Sort::host},
      {"log.grace_periods.host", Sort::host},
      {"log.mount_attempts.where", Sort::path},
      {"log.mount_attempts.server", Sort::host},
      {"log.exports.path", Sort::path},
      {"log.exports.client", Sort::host},
      {"latency.runs.label", Sort::name},
      {"latency.runs.source", Sort::path},
      {"latency.runs.target", Sort::path},
      {"latency.runs.engine", Sort::keep},
      {"latency.runs.host", Sort::host},
      {"latency.runs.pattern", Sort::keep},
      {"latency.runs.loop", Sort::keep},
      {"latency.runs.limits", Sort::keep},
      {"latency.need.media", Sort::keep},
      {"declared.pvs.source", Sort::path},
      {"declared.pvs.name", Sort::volume},
      {"declared.pvs.storage_class", Sort::name},
      {"declared.pvs.claim", Sort::claim},
      {"declared.pvs.volume_handle", Sort::volume},
      {"declared.pvs.nfs_server", Sort::host},
      {"declared.pvs.nfs_path", Sort::path},
      {"declared.pvcs.source", Sort::path},
      {"declared.pvcs.namespace", Sort::name_space},
      {"declared.pvcs.name", Sort::name},
      {"declared.pvcs.storage_class", Sort::name},
      {"declared.pvcs.volume", Sort::volume},
      {"declared.storage_classes.source", Sort::path},
      {"declared.storage_classes.name", Sort::name},
      {"declared.trident_backends.source", Sort::path},
      {"declared.trident_backends.name", Sort::name},
      {"declared.trident_backends.backend_name", Sort::name},
      {"declared.trident_backends.data_lif", Sort::host},
      {"declared.trident_backends.svm", Sort::name},
      {"iscsi.targets.luns.identifiers", Sort::serial},
      {"iscsi.portals.logins.alias", Sort::name},
      {"iscsi.sessions.record", Sort::path},
      {"iscsi.sessions.settings.record_place", Sort::path},
      {"iscsi.sessions.settings.config_place", Sort::path},
      {"iscsi.node_records.path", Sort::path},
      {"iscsi.ifaces.path", Sort::path},
      {"iscsi.targets.expected_portals.path", Sort::path},
      {"iscsi.targets.expected_luns.path", Sort::path},
      {"iscsi.targets.expected_luns.volume", Sort::volume},
      {"block.devices.users.name", Sort::path},
      {"block.devices.users.volume", Sort::volume},
      {"block.devices.users.kubelet.pod_namespace", Sort::name_space},
      {"block.devices.users.kubelet.pod_name", Sort::pod},
      {"block.devices.users.kubelet.volume", Sort::volume},
      {"block.devices.users.kubelet.pv", Sort::volume},
      {"block.devices.users.kubelet.vm", Sort::vm},
      {"multipath.maps.users.name", Sort::path},
      {"multipath.maps.users.volume", Sort::volume},
      {"multipath.maps.users.kubelet.pod_namespace", Sort::name_space},
      {"multipath.maps.users.kubelet.pod_name", Sort::pod},
      {"multipath.maps.users.kubelet.volume", Sort::volume},
      {"multipath.maps.users.kubelet.pv", Sort::volume},
      {"multipath.maps.users.kubelet.vm", Sort::vm},
      {"multipath.maps.id", Sort::serial},
  };
  if (field.starts_with("earlier.")) field.remove_prefix(8);
  if (const auto found = sorts.find(field); found != sorts.end()) return found->second;
  const std::string_view last = field.substr(field.rfind('.') + 1);
  if (last == "serial" || last == "wwid" || last == "multipath_wwid" || last == "dm_uuid" || last == "isid")
    return Sort::serial;
  return Sort::text;
}

}  // namespace

Redactor::Redactor() {
  key_.resize(32);
  std::size_t got = 0;
  while (got < key_.size()) {
    const auto more = ::getrandom(key_.data() + got, key_.size() - got, 0);
    if (more > 0) got += static_cast<std::size_t>(more);
  }
}

// --- addresses -----------------------------------------------------------------------------------------------------

// Each bit is turned or not as the bits before it and the key say: addresses with a common prefix keep one. The first
// bits are then those of a range that belongs to nobody.
std::string Redactor::mapped(const unsigned char* bytes, std::size_t size) {
  const std::string original(reinterpret_cast<const char*>(bytes), size);
  if (const auto found = addresses_.find(original); found != addresses_.end()) return found->second;
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(original[i]); };
  std::string out = original;
  const bool v4 = size == 4;
  static constexpr std::array<unsigned char, 12> v4_in_v6{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  if (!v4 && std::equal(v4_in_v6.begin(), v4_in_v6.end(), bytes)) {
    out.replace(12, 4, mapped(bytes + 12, 4));
  } else if (v4 ? byte(0) == 0 || byte(0) == 127 || byte(0) >= 224
                : byte(0) == 0xff || std::all_of(original.begin(), original.end() - 1, [](char c) { return c == 0; })) {
    // unspecified, loopback, multicast, broadcast
  } else {
    const bool link_local = !v4 && byte(0) == 0xfe && (byte(1) & 0xc0) == 0x80;
    const std::size_t kept = v4 ? 4 : link_local ? 64 : 32;  // bits of the range
    std::string prefix;
    for (std::size_t bit = 0; bit < size * 8; ++bit) {
      const unsigned mask = 0x80U >> (bit % 8);
      const bool set = (byte(bit / 8) & mask) != 0;
      const std::string digest = base::sha256_hex(key_ + '|' + prefix);
      prefix += set ? '1' : '0';
      if (bit < kept) continue;
      const bool turned = set != ((digest[0] & 1) != 0);
      const auto low = static_cast<unsigned char>(out[bit / 8]);
      out[bit / 8] = static_cast<char>(turned ? low | mask : low & ~mask);
    }
    if (v4) {
      out[0] = static_cast<char>(0xf0U | (static_cast<unsigned char>(out[0]) & 0x0fU));
      if (static_cast<unsigned char>(out[0]) == 0xff) out[0] = static_cast<char>(0xf0);
    } else if (!link_local) {
      out.replace(0, 4, "\x20\x01\x0d\xb8", 4);
    }
  }
  return addresses_.emplace(original, out).first->second;
}

std::string Redactor::address(std::string_view text) {
  std::array<unsigned char, 16> bytes{};
  std::array<char, INET6_ADDRSTRLEN> shown{};
  const std::string_view bare = text.substr(0, text.find('%'));
  const std::string whole(bare);
  for (const auto& [family, size] : {std::pair{AF_INET, std::size_t{4}}, std::pair{AF_INET6, std::size_t{16}}}) {
    if (::inet_pton(family, whole.c_str(), bytes.data()) != 1) continue;
    const std::string out = mapped(bytes.data(), size);
    if (::inet_ntop(family, out.data(), shown.data(), shown.size()) == nullptr) return {};
    if (std::memcmp(out.data(), bytes.data(), size) == 0) return std::string(text);  // kept: in its own spelling
    return shown.data() + std::string(text.substr(bare.size()));
  }
  return {};
}

// --- names ---------------------------------------------------------------------------------------------------------

std::string Redactor::standin(std::string_view original, const char* kind) {
  if (original.empty()) return {};
  if (const auto found = names_.find(original); found != names_.end()) return found->second;
  std::string out;
  // "pvc-" and a UUID is how provisioners name volumes, and what a volume is known by.
  if (original.starts_with("pvc-") && uuid_at(original.substr(4)) == original.size() - 4 && original.size() > 4) {
    out = "pvc-" + uuid(original.substr(4));
  } else {
    out = fmt::format("{}{}", kind, ++counts_[kind]);
  }
  return names_.emplace(std::string(original), out).first->second;
}

std::string Redactor::uuid(std::string_view original) {
  std::string key(original);
  for (char& c : key) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  const auto [found, added] = identifiers_.try_emplace(key);
  if (added) found->second = fmt::format("00000000-0000-4000-8000-{:012x}", ++counts_["uuid"]);
  return found->second;
}

std::string Redactor::hex(std::string_view original) {
  const auto [found, added] = identifiers_.try_emplace(std::string(original));
  if (added) {
    const std::string number = fmt::format("{:x}", ++counts_["hex"]);
    found->second = std::string(original.size() > number.size() ? original.size() - number.size() : 0, '0') + number;
  }
  return found->second;
}

std::string Redactor::host(std::string_view name) {
  if (name.empty() || name == "*" || name == "localhost" || name == "localhost.localdomain") return std::string(name);
  if (name.starts_with('[') && name.ends_with(']')) {
    const std::string inside = address(name.substr(1, name.size() - 2));
    if (!inside.empty()) return '[' + inside + ']';
  }
  if (const std::string mapped = address(name); !mapped.empty()) return mapped;
  if (name.find_first_of(" /:@,") != std::string_view::npos) return text(name);
  if (const auto found = names_.find(name); found != names_.end()) return found->second;
  const auto dot = name.find('.');
  if (dot == std::string_view::npos) {
    // What the name of a template says of a node stays said.
    std::string low(name);
    for (char& c : low) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    const bool local = low.starts_with("localhost");
    return standin(name, local ? "localhost-" : "host-");
  }
  const std::string out = host(name.substr(0, dot)) + ".invalid";
  // Two names of one first label in two domains stay two names.
  const bool taken = std::any_of(names_.begin(), names_.end(), [&](const auto& one) { return one.second == out; });
  return taken ? standin(name, "fqdn.host-") : names_.emplace(std::string(name), out).first->second;
}

std::string Redactor::pair(std::string_view text, const char* second) {
  const auto slash = text.find('/');
  if (slash == std::string_view::npos) return standin(text, second);
  return standin(text.substr(0, slash), "ns-") + '/' + standin(text.substr(slash + 1), second);
}

// "mnt-my\x2ddata.mount": the path of a unit, escaped (systemd.unit(5)).
std::string Redactor::unit(std::string_view name, std::string_view ending) {
  std::string out;
  for (std::string_view part : base::split(name.substr(0, name.size() - ending.size()), '-')) {
    std::string plain;
    for (std::size_t i = 0; i < part.size(); ++i) {
      const auto code = part.substr(i).starts_with("\\x") && i + 4 <= part.size() ? bytes_of_hex(part.substr(i + 2, 2))
                                                                                  : std::nullopt;
      plain += code ? *code : std::string(1, part[i]);
      if (code) i += 3;
    }
    std::string escaped;
    for (const char c : this->part(plain)) escaped += c == '-' ? std::string("\\x2d") : std::string(1, c);
    out += (out.empty() ? "" : "-") + escaped;
  }
  return out + std::string(ending);
}

std::string Redactor::part(std::string_view escaped) {
  const std::string whole =
      escaped.find('\\') == std::string_view::npos || escaped.find("\\x") != std::string_view::npos
          ? std::string(escaped)
          : base::octal_unescape(escaped);
  const std::string_view part = whole;
  for (const std::string_view ending : {".mount", ".automount", ".mount.d", ".automount.d"}) {
    if (part.ends_with(ending) && part.size() > ending.size()) return unit(part, ending);
  }
  if (is_common_part(part)) return whole;
  if (const auto found = names_.find(part); found != names_.end()) return found->second;
  for (const std::string_view ending : {".json", ".conf", ".yaml", ".yml", ".log", ".txt"}) {
    if (part.ends_with(ending) && part.size() > ending.size())
      return this->part(part.substr(0, part.size() - ending.size())) + std::string(ending);
  }
  // NAMESPACE_POD_UID, of /var/log/pods
  if (const auto last = part.rfind('_'); last != std::string_view::npos && last + 1 < part.size() &&
                                         uuid_at(part.substr(last + 1)) == part.size() - last - 1) {
    const auto first = part.find('_');
    if (first < last) {
      std::string pod(part.substr(first + 1, last - first - 1));
      value(pod, "kernel.tasks.pod_name", true);
      return standin(part.substr(0, first), "ns-") + '_' + pod + '_' + uuid(part.substr(last + 1));
    }
  }
  std::string identifier;
  if (match_identifier(part, identifier) == part.size()) return identifier;
  return standin(part, "d");
}

std::string Redactor::path(std::string_view path) {
  if (const auto scheme = path.find("://"); scheme != std::string_view::npos) {
    const auto slash = std::min(path.find('/', scheme + 3), path.size());
    std::string authority(path.substr(scheme + 3, slash - scheme - 3));
    const auto colon = authority.find(':');
    const bool one = colon != std::string::npos && authority.find(':', colon + 1) == std::string::npos;
    authority = one                          ? host(authority.substr(0, colon)) + authority.substr(colon)
                : authority.starts_with('[') ? text(authority)
                                             : host(authority);
    return std::string(path.substr(0, scheme + 3)) + authority + this->path(path.substr(slash));
  }
  std::string_view line;  // FILE:12
  if (const auto colon = path.rfind(':');
      colon != std::string_view::npos && colon + 1 < path.size() &&
      std::all_of(path.begin() + static_cast<std::ptrdiff_t>(colon) + 1, path.end(), is_digit)) {
    line = path.substr(colon);
    path = path.substr(0, colon);
  }
  std::string out;
  bool first = true, system = false;
  for (const std::string_view part : base::split(path, '/')) {
    if (!first) out += '/';
    first = false;
    if (out == "/" && is_system_root(part)) system = true;
    if (!system) {
      out += this->part(part);
      continue;
    }
    std::string identifier;
    const bool is_unit = part.ends_with(".mount") || part.ends_with(".automount") || part.ends_with(".mount.d");
    out += is_unit                                                              ? this->part(part)
           : match_identifier(part, identifier) == part.size() && !part.empty() ? identifier
                                                                                : std::string(part);
  }
  return out + std::string(line);
}

// --- free text -----------------------------------------------------------------------------------------------------

// UUIDs, IQNs, MAC addresses, addresses and long hexadecimal numbers; how much of `rest` was taken.
std::size_t Redactor::match_identifier(std::string_view rest, std::string& out) {
  if (const auto size = uuid_at(rest); size > 0) {
    out = uuid(rest.substr(0, size));
    return size;
  }
  if (rest.starts_with("pvc-")) {
    if (const auto size = uuid_at(rest.substr(4)); size > 0) {
      out = standin(rest.substr(0, size + 4), "vol-");
      return size + 4;
    }
  }
  if (rest.starts_with("iqn.") || rest.starts_with("nqn.")) {
    std::size_t end = 0;
    while (end < rest.size() && (is_word(rest[end]) || rest[end] == ':')) ++end;
    while (end > 4 && (rest[end - 1] == ':' || rest[end - 1] == '.')) --end;
    const auto [found, added] = identifiers_.try_emplace(std::string(rest.substr(0, end)));
    if (added) found->second = fmt::format("{}2001-01.invalid.redacted:{}", rest.substr(0, 4), ++counts_["iqn"]);
    out = found->second;
    return end;
  }
  if (const auto size = mac_at(rest); size > 0) {
    const auto [found, added] = identifiers_.try_emplace(std::string(rest.substr(0, size)));
    if (added) {
      const auto number = static_cast<unsigned>(++counts_["mac"]);
      found->second =
          fmt::format("02:00:00:{:02x}:{:02x}:{:02x}", number >> 16 & 0xff, number >> 8 & 0xff, number & 0xff);
    }
    out = found->second;
    return size;
  }
  // An address: digits and dots, or hexadecimal digits and colons.
  std::size_t end = 0;
  while (end < rest.size() && (is_digit(rest[end]) || rest[end] == '.')) ++end;
  const std::string_view dotted = rest.substr(0, end);
  const auto dots = std::count(dotted.begin(), dotted.end(), '.');
  if (dots >= 3 && (end == rest.size() || (!is_alnum(rest[end]) && rest[end] != '_'))) {
    std::string_view four = dotted;
    while (four.ends_with('.')) four.remove_suffix(1);
    // Two more numbers are the port of a universal address (RFC 5665).
    if (std::count(four.begin(), four.end(), '.') == 5) {
      for (int i = 0; i < 2; ++i) four = four.substr(0, four.rfind('.'));
    }
    std::string mapped = address(four);
    if (!mapped.empty()) {
      // The network of a prefix keeps its host bits empty.
      std::size_t size = four.size();
      if (size < rest.size() && rest[size] == '/') {
        std::size_t stop = size + 1;
        while (stop < rest.size() && is_digit(rest[stop])) ++stop;
        const auto bits = base::number<unsigned>(rest.substr(size + 1, stop - size - 1));
        in_addr was{}, is{};
        if (bits && *bits <= 32 && ::inet_pton(AF_INET, std::string(four).c_str(), &was) == 1 &&
            ::inet_pton(AF_INET, mapped.c_str(), &is) == 1) {
          const std::uint32_t mask = *bits == 0 ? 0 : ~std::uint32_t{0} << (32 - *bits);
          if ((ntohl(was.s_addr) & ~mask) == 0) {
            is.s_addr = htonl(ntohl(is.s_addr) & mask);
            std::array<char, INET_ADDRSTRLEN> shown{};
            if (::inet_ntop(AF_INET, &is, shown.data(), shown.size()) != nullptr) mapped = shown.data();
          }
        }
      }
      out = mapped;
      return size;
    }
  }
  end = 0;
  while (end < rest.size() && (is_hex(rest[end]) || rest[end] == ':' || rest[end] == '.')) ++end;
  std::string_view colons = rest.substr(0, end);
  if (std::count(colons.begin(), colons.end(), ':') >= 2 && (end == rest.size() || !is_alnum(rest[end]))) {
    while (!colons.empty() && colons != "::") {
      if (const std::string mapped = address(colons); !mapped.empty()) {
        out = mapped;
        return colons.size();
      }
      if (!colons.ends_with(':') && !colons.ends_with('.')) break;
      colons.remove_suffix(1);
    }
  }
  // WWIDs, serial numbers, hashes.
  constexpr std::size_t least = 16;
  const std::size_t start = rest.starts_with("0x") ? 2 : 0;
  end = start;
  while (end < rest.size() && is_hex(rest[end])) ++end;
  const std::string_view digits = rest.substr(start, end - start);
  const bool letters = std::any_of(digits.begin(), digits.end(), [](char c) { return !is_digit(c); });
  if (digits.size() >= least && letters && (end == rest.size() || !is_alnum(rest[end]))) {
    out = std::string(rest.substr(0, start)) + hex(digits);
    return end;
  }
  return 0;
}

std::string Redactor::text(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  static constexpr std::string_view ends = " \t\n\r,;\"'()[]{}<>|=:";
  for (std::size_t i = 0; i < text.size();) {
    const char before = i == 0 ? ' ' : text[i - 1];
    const std::string_view rest = text.substr(i);
    if (text[i] == '/' && !is_alnum(before) && before != '/' && before != '_') {
      std::size_t end = std::min(rest.find_first_of(ends), rest.size());
      for (const auto& known : spaced_paths_) {
        if (known.size() > end && rest.starts_with(known)) end = known.size();
      }
      while (end > 1 && rest[end - 1] == '.') --end;
      if (end > 1) {
        out += path(rest.substr(0, end));
        i += end;
        continue;
      }
    }
    if (is_word(before) || !(is_alnum(text[i]) || text[i] == ':')) {
      out += text[i++];
      continue;
    }
    std::string replaced;
    if (const auto size = match_identifier(rest, replaced); size > 0) {
      out += replaced;
      i += size;
      continue;
    }
    std::size_t end = 0;
    while (end < rest.size() && is_word(rest[end])) ++end;
    if (end == 0) {
      out += text[i++];
      continue;
    }
    std::string_view word = rest.substr(0, end);
    while (word.ends_with('.') || word.ends_with('-')) word.remove_suffix(1);
    const auto known = names_.find(word);
    const bool names_a_server = rest.substr(word.size()).starts_with(":/");
    if (names_a_server) {
      out += host(word);
    } else if (known != names_.end() && !is_trade_word(word)) {
      out += known->second;
    } else if (const auto dot = word.find('.'); dot != std::string_view::npos && names_.contains(word.substr(0, dot)) &&
                                                names_.find(word.substr(0, dot))->second.starts_with("host-")) {
      out += host(word);
    } else {
      // A part of it may be one: PREFIX_UUID, pod-UUID.
      std::string inside;
      for (std::size_t k = 0; k < word.size();) {
        std::string identifier;
        const bool starts = k > 0 && !is_alnum(word[k - 1]);
        const auto size = starts ? uuid_at(word.substr(k)) : 0;
        if (size > 0) inside += uuid(word.substr(k, size));
        if (size == 0) inside += word[k];
        k += size > 0 ? size : 1;
      }
      out += inside;
    }
    i += word.empty() ? 1 : word.size();
    if (word.empty()) out += rest[0];
  }
  return out;
}

// --- facts ---------------------------------------------------------------------------------------------------------

void Redactor::value(std::string& text, const std::string& field, bool write) {
  if (text.empty()) return;
  std::string out;
  switch (sort_of(field)) {
    case Sort::keep: return;
    case Sort::text:
      if (!write) return;
      out = this->text(text);
      break;
    case Sort::host: out = host(text); break;
    case Sort::path:
      if (text.find_first_of(" ,;:=()") != std::string::npos && text.starts_with('/') && !write)
        spaced_paths_.insert(text);
      if (!write) return;  // names that paths share with pods or volumes are learned by those first
      out = path(text);
      break;
    case Sort::name_space: out = standin(text, "ns-"); break;
    case Sort::pod:
      if (text.starts_with("virt-launcher-") && !names_.contains(text)) {
        const std::string made = fmt::format(
            "virt-launcher-{}-p{:04}", standin(text.substr(14, std::max<std::size_t>(text.rfind('-'), 14) - 14), "vm-"),
            ++counts_["launcher"]);
        names_.emplace(text, made);
      }
      out = standin(text, "pod-");
      break;
    case Sort::vm: out = pair(text, "vm-"); break;
    case Sort::claim: out = pair(text, "claim-"); break;
    case Sort::volume: out = standin(text, "vol-"); break;
    case Sort::name: out = standin(text, "name-"); break;
    case Sort::serial:
    case Sort::opaque: {
      const auto [found, added] = names_.try_emplace(text);
      if (added) found->second = hex(text);
      out = found->second;
      break;
    }
  }
  if (write) text = std::move(out);
}

// The facts are not const: reflection reads through const pointers only.
void Redactor::walk(const facts::TypeInfo& type, void* at, const std::string& field, bool write) {
  switch (type.kind) {
    case facts::Kind::fact:
    case facts::Kind::box:
      if (type.state(at) == facts::State::value) walk(type.of(), const_cast<void*>(type.inside(at)), field, write);
      return;
    case facts::Kind::list:
      for (std::size_t i = 0; i < type.size(at); ++i) walk(type.of(), const_cast<void*>(type.at(at, i)), field, write);
      return;
    case facts::Kind::object:
      for (const auto& one : type.fields) {
        const std::string name(one.name);
        walk(one.type(), one.in(at), field.empty() ? name : field + '.' + name, write);
      }
      return;
    case facts::Kind::text: return value(*static_cast<std::string*>(at), field, write);
    default: return;
  }
}

void Redactor::learn(const facts::Facts& facts) {
  facts::Facts copy = facts;
  walk(facts::type_of<facts::Facts>(), &copy, "", false);
}

facts::Facts Redactor::redact(facts::Facts facts) {
  learn(facts);
  walk(facts::type_of<facts::Facts>(), &facts, "", true);
  return facts;
}

// --- raw tree ------------------------------------------------------------------------------------------------------

namespace {

using MapBytes = std::function<std::string(const unsigned char*, std::size_t)>;

std::string upper_hex(std::string_view bytes) {
  std::string out;
  for (const char c : bytes) out += fmt::format("{:02X}", static_cast<unsigned char>(c));
  return out;
}

std::string swapped_words(std::string bytes) {  // 32-bit words in the order of a little-endian machine
  for (std::size_t i = 0; i + 4 <= bytes.size(); i += 4)
    std::reverse(bytes.begin() + static_cast<std::ptrdiff_t>(i), bytes.begin() + static_cast<std::ptrdiff_t>(i + 4));
  return bytes;
}

// A token of 8 or 32 hexadecimal digits, with ":PORT" behind it or not.
std::string hex_address(std::string_view token, bool swap, const MapBytes& map) {
  const std::string_view digits = token.substr(0, token.find(':'));
  if (digits.size() != 8 && digits.size() != 32) return std::string(token);
  auto bytes = bytes_of_hex(digits);
  if (!bytes) return std::string(token);
  std::string plain = swap ? swapped_words(*bytes) : *bytes;
  plain = map(reinterpret_cast<const unsigned char*>(plain.data()), plain.size());
  std::string out = upper_hex(swap ? swapped_words(plain) : plain);
  if (std::any_of(digits.begin(), digits.end(), [](char c) { return c >= 'a' && c <= 'f'; }))
    for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out + std::string(token.substr(digits.size()));
}

// Tokens of a line, the blanks between them kept.
template <class Change>
std::string by_token(std::string_view text, Change change) {
  std::string out;
  std::string_view line;
  while (base::next_line(text, line)) {
    std::size_t column = 0;
    for (std::size_t i = 0; i < line.size();) {
      const auto end = std::min(line.find_first_of(" \t", i), line.size());
      if (end > i) out += change(line.substr(i, end - i), column++, line);
      if (end < line.size()) out += line[end];
      i = end + 1;
    }
    out += '\n';
  }
  return out;
}

std::string masked(std::string bytes, std::string_view mask) {
  for (std::size_t i = 0; i < bytes.size() && i < mask.size(); ++i) bytes[i] = static_cast<char>(bytes[i] & mask[i]);
  return bytes;
}

}  // namespace

std::string Redactor::file(std::string_view path, std::string_view text) {
  const MapBytes map = [&](const unsigned char* bytes, std::size_t size) { return mapped(bytes, size); };
  if (path.ends_with("/net/tcp") || path.ends_with("/net/tcp6"))
    return by_token(text, [&](std::string_view token, std::size_t column, std::string_view) {
      return column == 1 || column == 2 ? hex_address(token, true, map) : std::string(token);
    });
  if (path.ends_with("/net/route"))
    return by_token(text, [&](std::string_view token, std::size_t column, std::string_view line) {
      if (column != 1 && column != 2) return std::string(token);
      const auto fields = base::fields(line);
      const auto was = bytes_of_hex(token);
      const auto mask = fields.size() > 7 ? bytes_of_hex(fields[7]) : std::nullopt;
      const std::string out = hex_address(token, true, map);
      const auto is = bytes_of_hex(out);
      if (column == 2 || !was || !mask || !is || masked(*was, *mask) != *was) return out;
      return upper_hex(masked(*is, *mask));
    });
  if (path.ends_with("/net/ipv6_route"))
    return by_token(text, [&](std::string_view token, std::size_t column, std::string_view line) {
      if (column != 0 && column != 2 && column != 4) return std::string(token);
      const auto fields = base::fields(line);
      const std::string out = hex_address(token, false, map);
      auto is = bytes_of_hex(out);
      const auto bits = fields.size() > 3 && column < 4 ? bytes_of_hex(fields[column + 1]) : std::nullopt;
      if (!is || !bits || bits->size() != 1) return out;
      const auto length = static_cast<std::size_t>(static_cast<unsigned char>(bits->front()));
      for (std::size_t bit = length; bit < 128 && is->size() == 16; ++bit)
        (*is)[bit / 8] = static_cast<char>((*is)[bit / 8] & ~(0x80 >> (bit % 8)));
      return hex_of_bytes(*is);
    });
  if (path.ends_with("/net/if_inet6"))
    return by_token(text, [&](std::string_view token, std::size_t column, std::string_view) {
      return column == 0 ? hex_address(token, false, map) : std::string(token);
    });
  if (path.ends_with("/kernel/hostname") || path.ends_with("/etc/hostname")) return host(base::trim(text)) + "\n";
  if (path.starts_with("/sys/class/net/") || path.ends_with("/osrelease") || path.ends_with("/os-release") ||
      path.ends_with("/net/dev") || path.ends_with("/kernel/version"))
    return path.ends_with("/address") ? this->text(text) : std::string(text);
  return this->text(text);
}

// Messages of the kernel without their netlink header, one a line in hexadecimal: struct inet_diag_msg (sock_diag(7)),
// or struct rtmsg and attributes (rtnetlink(7)).
std::string Redactor::answer(std::string_view question, std::string_view text) {
  const bool sockets = question.starts_with("tcp-sockets"), route = question.starts_with("route");
  if (!sockets && !route) return this->text(text);
  std::string out;
  std::string_view line;
  while (base::next_line(text, line)) {
    auto bytes = bytes_of_hex(base::trim(line));
    if (!bytes || bytes->empty()) {
      out += std::string(line) + '\n';
      continue;
    }
    const std::size_t size = (*bytes)[0] == AF_INET ? 4 : 16;
    const auto change = [&](std::size_t at) {
      if (at + size > bytes->size()) return;
      bytes->replace(at, size, mapped(reinterpret_cast<const unsigned char*>(bytes->data()) + at, size));
    };
    if (sockets) {
      constexpr std::size_t source = 8, destination = 24;
      change(source);
      change(destination);
    } else {
      for (std::size_t at = 12; at + 4 <= bytes->size();) {
        std::uint16_t length = 0, type = 0;
        std::memcpy(&length, bytes->data() + at, 2);
        std::memcpy(&type, bytes->data() + at + 2, 2);
        if (length < 4) break;
        // RTA_DST, RTA_SRC, RTA_GATEWAY, RTA_PREFSRC
        if ((type == 1 || type == 2 || type == 5 || type == 7) && length == 4 + size) change(at + 4);
        at += (length + 3U) & ~3U;
      }
    }
    out += hex_of_bytes(*bytes) + '\n';
  }
  return out;
}

}  // namespace probes
