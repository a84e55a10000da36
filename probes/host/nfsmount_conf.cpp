#include "probes/host/nfsmount_conf.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>

#include "audit/base/text.h"
#include "probes/host/lines.h"
#include "probes/host/nfs_options.h"
#include "probes/host/scrub.h"
#include "probes/probe.h"

namespace probes {

namespace {

using Text = facts::Fact<std::string>;
using Entries = std::vector<facts::NfsmountConfEntry>;

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

bool same_word(std::string_view a, std::string_view b) { return lower(a) == lower(b); }

std::string_view unquoted(std::string_view text) {
  text = base::trim(text);
  if (text.size() >= 2 && (text.front() == '"' || text.front() == '\'') && text.back() == text.front())
    return text.substr(1, text.size() - 2);
  return text;
}

struct Section {
  std::string kind;  // global, server, mountpoint; empty: one that means nothing here
  Text name;
};

// What stands between the brackets: NFSMount_Global_Options, Server "name", MountPoint "path".
std::optional<Section> parse_section(std::string_view inside) {
  inside = base::trim(inside);
  if (same_word(inside, "NFSMount_Global_Options")) return Section{"global", Text::absent()};
  const auto end = inside.find_first_of(" \t\"");
  if (end == std::string_view::npos) return std::nullopt;
  const auto word = inside.substr(0, end);
  const auto name = unquoted(inside.substr(end));
  if (name.empty()) return std::nullopt;
  if (same_word(word, "Server")) return Section{"server", std::string(name)};
  if (same_word(word, "MountPoint")) return Section{"mountpoint", std::string(name)};
  return std::nullopt;
}

// 32k, 1m: mountopts_convert() of nfs-utils.
std::string in_bytes(const std::string& value) {
  if (value.size() < 2) return value;
  std::uint64_t factor = 0;
  switch (value.back()) {
    case 'k':
    case 'K': factor = 1024; break;
    case 'm':
    case 'M': factor = std::uint64_t{1024} * 1024; break;
    case 'g':
    case 'G': factor = std::uint64_t{1024} * 1024 * 1024; break;
    default: return value;
  }
  const auto number = base::number<std::uint32_t>(std::string_view(value).substr(0, value.size() - 1));
  return number ? std::to_string(*number * factor) : value;
}

Text option_of(const std::string& key, const std::string& value) {
  // Where the negotiation begins; it pins nothing.
  if (key == "defaultvers" || key == "defaultproto" || key == "sloppy") return Text::absent();
  const bool yes = same_word(value, "true");
  const bool no = same_word(value, "false");
  if (key == "background") return yes ? Text("bg") : no ? Text("fg") : Text::absent();
  if (key == "foreground") return yes ? Text("fg") : no ? Text("bg") : Text::absent();
  if (yes) return key;
  if (no) return "no" + key;
  if (value.empty()) return Text::absent();
  return key + "=" + in_bytes(lower(value));
}

// The name of an option without its value and without "no": what makes two of them the same.
std::string base_key(std::string_view option) {
  std::string key = lower(option.substr(0, option.find('=')));
  if (key == "nfsvers") key = "vers";
  return key.starts_with("no") ? key.substr(2) : key;
}

template <class T>
bool take(facts::Fact<T>& to, const facts::Fact<T>& from) {
  if (!to.is_absent() || from.is_absent()) return false;
  to = from;
  return true;
}

}  // namespace

Parsed<Entries> parse_nfsmount_conf(std::string_view text, const std::string& path) {
  Parsed<Entries> parsed;
  Lines lines(text, parsed.notes);
  std::string_view line;
  std::optional<Section> section;
  while (lines.next(line)) {
    line = base::trim(line);
    if (line.empty() || line.front() == '#' || line.front() == ';') continue;
    if (line.front() == '[') {
      const auto close = line.find(']');
      section.reset();
      if (close == std::string_view::npos) {
        add_note(parsed.notes, lines.number(), "section without its closing bracket");
        continue;
      }
      section = parse_section(line.substr(1, close - 1));
      if (!section) {
        add_note(parsed.notes, lines.number(), "no section of nfsmount.conf(5)");
        section = Section{};
      }
      continue;
    }
    const auto equals = line.find('=');
    const std::string key = lower(base::trim(line.substr(0, equals)));
    if (equals == std::string_view::npos || key.empty() || key.find_first_of(" \t") != std::string::npos) {
      add_note(parsed.notes, lines.number(), "no assignment");
      continue;
    }
    if (key == "include" || key == "-include") {
      add_note(parsed.notes, lines.number(), "includes another file, which is not read");
      continue;
    }
    if (!section) {
      add_note(parsed.notes, lines.number(), "assignment outside of a section");
      continue;
    }
    if (section->kind.empty()) continue;  // said at its head
    facts::NfsmountConfEntry& entry = parsed.facts.emplace_back();
    entry.path = path;
    entry.line = static_cast<std::uint32_t>(lines.number());
    entry.section = section->kind;
    entry.name = section->name;
    entry.key = key;
    entry.value = is_secret_key(key) ? "***" : std::string(unquoted(line.substr(equals + 1)));
    entry.option = option_of(key, entry.value);
  }
  return parsed;
}

std::vector<const facts::NfsmountConfEntry*> nfsmount_entries(const Entries& entries, std::string_view server,
                                                              std::string_view mount_point) {
  std::vector<const facts::NfsmountConfEntry*> out;
  std::vector<std::string> seen;
  for (const std::string_view kind : {"mountpoint", "server", "global"}) {
    // From the end: the last assignment of a section kind wins, files of the .d directory come last.
    std::vector<const facts::NfsmountConfEntry*> of_kind;
    for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry) {
      if (entry->section != kind || !entry->option.has_value()) continue;
      if (kind == "server" && !same_word(*entry->name, server)) continue;
      if (kind == "mountpoint" && !same_word(*entry->name, mount_point)) continue;
      const std::string key = base_key(*entry->option);
      if (std::find(seen.begin(), seen.end(), key) != seen.end()) continue;
      seen.push_back(key);
      of_kind.push_back(&*entry);
    }
    out.insert(out.end(), of_kind.rbegin(), of_kind.rend());
  }
  return out;
}

void add_nfsmount_defaults(facts::AskedOptions& asked, const std::vector<const facts::NfsmountConfEntry*>& entries) {
  std::vector<std::string> named;
  for (const auto option : split_options(asked.text)) named.push_back(base_key(option));
  std::string text;
  for (const auto* entry : entries) {
    if (std::find(named.begin(), named.end(), base_key(*entry->option)) != named.end()) continue;
    if (!text.empty()) text += ',';
    text += *entry->option;
  }
  asked.default_text = text.empty() ? Text::absent() : Text(text);
  if (text.empty()) return;
  const facts::AskedOptions more = parse_asked_options(text);
  if (take(asked.vers, more.vers)) asked.vers_origin = "nfsmount.conf";
  take(asked.nconnect, more.nconnect);
  take(asked.max_connect, more.max_connect);
  take(asked.rsize_bytes, more.rsize_bytes);
  take(asked.wsize_bytes, more.wsize_bytes);
  take(asked.timeo_ds, more.timeo_ds);
  take(asked.retrans, more.retrans);
  take(asked.recovery, more.recovery);
  take(asked.proto, more.proto);
  take(asked.sec, more.sec);
  take(asked.xprtsec, more.xprtsec);
  take(asked.local_lock, more.local_lock);
  take(asked.nolock, more.nolock);
  take(asked.read_only, more.read_only);
}

// /usr/etc comes with the distribution, /etc overrides it, the .d directories override their file.
void read_nfsmount_conf(Reading& reading) {
  facts::Config& config = reading.facts().config;
  Entries all;
  bool some = false;
  bool told = true;  // whether the absence of all of them is known
  for (const std::string base : {"/usr/etc/nfsmount.conf", "/etc/nfsmount.conf"}) {
    std::vector<std::string> paths;
    const bool shipped = base.starts_with("/usr");
    // Most systems have no /usr/etc: looked for without a row.
    if (!shipped || reading.host().read(base)) paths.push_back(base);
    if (const auto names = reading.host().list(base + ".d"))
      for (const std::string& name : *names)
        if (name.ends_with(".conf") && !name.starts_with('.')) paths.push_back(base + ".d/" + name);
    for (const std::string& path : paths) {
      const auto text = reading.file(path);
      if (!text) {
        told = told && text.error().kind == base::ErrorKind::absent;
        continue;
      }
      auto parsed = parse_nfsmount_conf(*text, reading.host().name_of(path));
      reading.note(parsed.notes);
      some = true;
      all.insert(all.end(), std::make_move_iterator(parsed.facts.begin()), std::make_move_iterator(parsed.facts.end()));
    }
  }
  if (some)
    config.nfsmount_conf = std::move(all);
  else if (told)
    config.nfsmount_conf = facts::Fact<Entries>::absent();
}

}  // namespace probes
