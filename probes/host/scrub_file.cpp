#include "probes/host/scrub_file.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "audit/base/text.h"
#include "probes/host/client_identity.h"
#include "probes/host/iscsi_conf.h"
#include "probes/host/iscsi_names.h"
#include "probes/host/kernel.h"
#include "probes/host/multipath_conf.h"
#include "probes/host/scrub.h"
#include "probes/host/sysfs_text.h"
#include "probes/host/trident.h"
#include "probes/host/tunables.h"
#include "probes/parsed.h"

namespace probes {

namespace {

bool holds_secret(std::string_view option_name) {
  static constexpr std::array names{"password", "password2", "passwd",      "pass",   "credentials",
                                    "cred",     "username",  "user",        "secret", "secretfile",
                                    "key",      "keyfile",   "passwd_file", "token",  "sas_token"};
  std::string name(option_name);
  for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return std::find(names.begin(), names.end(), name) != names.end() || name.find("secret") != std::string::npos ||
         name.find("passw") != std::string::npos || name.find("username") != std::string::npos;
}

}  // namespace

std::string mask_options(std::string_view options) {
  std::string out;
  bool first = true;
  bool masking = false;  // a password may hold a comma in quotes
  for (const std::string_view option : base::split(options, ',')) {
    if (masking) {
      masking = option.find('"') == std::string_view::npos;
      continue;
    }
    if (!first) out += ',';
    first = false;
    const std::size_t equals = option.find('=');
    if (equals == std::string_view::npos || !holds_secret(option.substr(0, equals))) {
      out += option;
      continue;
    }
    out.append(option.substr(0, equals)).append("=***");
    const std::string_view value = option.substr(equals + 1);
    masking = value.starts_with('"') && (value.size() == 1 || !value.ends_with('"'));
  }
  return out;
}

std::string mask_source(std::string_view source) {
  const std::size_t scheme = source.find("//");
  const std::size_t at = source.find('@');
  if (scheme == std::string_view::npos || at == std::string_view::npos || at < scheme + 2) return std::string(source);
  if (source.find('/', scheme + 2) < at) return std::string(source);
  return std::string(source.substr(0, scheme + 2)) + "***" + std::string(source.substr(at));
}

std::string scrub_fstab(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  std::size_t column = 0;
  bool comment = false;
  while (!text.empty()) {
    if (column == 0 && !comment && text.substr(0, text.find('\n')).size() > max_line_bytes) {
      // Not to be read there either, although masking may have made it short enough.
      out += "line-over-1-MiB";
      text.remove_prefix(std::min(text.find('\n'), text.size()));
      column = 1;
      continue;
    }
    const bool blank = text.front() == ' ' || text.front() == '\t';
    if (text.front() == '\n') {
      column = 0;
      comment = false;
      out += '\n';
      text.remove_prefix(1);
      continue;
    }
    const std::size_t stop = std::min(blank ? text.find_first_not_of(" \t") : text.find_first_of(" \t\n"), text.size());
    const std::string_view piece = text.substr(0, stop);
    text.remove_prefix(stop);
    if (blank) {
      out += piece;
      continue;
    }
    if (column == 0 && piece.starts_with('#')) comment = true;
    // A commented-out entry may hold a password as well.
    const bool options = comment ? piece.find('=') != std::string_view::npos : column == 3;
    out += options ? mask_options(piece) : column == 0 || comment ? mask_source(piece) : std::string(piece);
    ++column;
  }
  return out;
}

// Tables of mounts: what is no option and no source stays, blanks included.
std::string scrub_mounts(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::size_t blank = std::min(text.find_first_of(" \t\n"), text.size());
    const std::string_view piece = text.substr(0, blank);
    if (piece.find('=') != std::string_view::npos) {
      out += mask_options(piece);
    } else if (piece.find('@') != std::string_view::npos) {
      out += mask_source(piece);
    } else {
      out += piece;
    }
    text.remove_prefix(blank);
    if (text.empty()) break;
    out += text.front();
    text.remove_prefix(1);
  }
  return out;
}

std::string scrub_machine_id(std::string_view text) {
  const auto hash = machine_id_hash(text);
  // What is no machine id is no secret, and shows why there was no hash.
  return hash ? std::string(scrubbed_machine_id) + *hash + "\n" : std::string(text);
}

namespace {

std::string scrub_sysfs_value(std::string_view text) { return is_unset(text) ? std::string(text) : "***\n"; }

}  // namespace

std::string scrub_command(std::string_view name, std::string_view text) {
  if (name == "dmesg") return scrub_lines(text);
  if (name == "mount-l") return scrub_mounts(text);
  if (name == "node-record") return scrub_iscsi_conf(text);
  if (name == "iscsi-p3" || name == "iscsi-p1") return scrub_session_print(text);
  if (name == "multipath-config") return scrub_multipath_conf(text);
  return std::string(text);
}

// "username: alice" of iscsiadm -m session -P 3.
std::string scrub_session_print(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const auto end = text.find('\n');
    const auto line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    const auto colon = line.find(':');
    if (colon != std::string_view::npos && is_sysfs_secret(base::trim(line.substr(0, colon))) &&
        !is_unset(line.substr(colon + 1)))
      out.append(line.substr(0, colon + 1)).append(" ***");
    else
      out += line;
    if (end != std::string_view::npos) out += '\n';
  }
  return out;
}

base::Result<std::string> scrub_file(std::string_view path, std::string_view text) {
  if (path == "/etc/fstab") return scrub_fstab(text);
  if (path.ends_with("/mountinfo") || path.ends_with("/mounts")) return scrub_mounts(text);
  if (path == "/proc/cmdline") return scrub_cmdline(text);
  if (path.ends_with("/nfs_client/identifier") || path.ends_with("/parameters/nfs4_unique_id"))
    return scrub_identity_file(text);
  if (path.find("/modprobe.d/") != std::string_view::npos) return scrub_modprobe_conf(text);
  if (path == "/etc/machine-id") return scrub_machine_id(text);
  if (path.starts_with("/etc/iscsi/") || path.starts_with("/var/lib/iscsi/")) return scrub_iscsi_conf(text);
  if (path.starts_with("/sys/") && is_sysfs_secret(path.substr(path.rfind('/') + 1))) return scrub_sysfs_value(text);
  if (path == "/proc/cmdline") return scrub_lines(text);  // rd.iscsi.password= and the like
  if (path == "/etc/multipath.conf" || base::starts_with_path(path, "/etc/multipath"))
    return scrub_multipath_conf(text);
  if (path.ends_with(".mount") || path.find(".mount.d/") != std::string_view::npos) return scrub_lines(text);
  if (base::starts_with_path(path, trident_directory)) {
    auto parsed = parse_trident(text, std::string(path));
    if (!parsed) return tl::unexpected(parsed.error());
    return trident_json(parsed->facts);
  }
  return std::string(text);
}

}  // namespace probes
