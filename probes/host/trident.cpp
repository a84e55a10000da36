#include "probes/host/trident.h"

#include <algorithm>
#include <boost/json/basic_parser_impl.hpp>
#include <cctype>
#include <optional>
#include <vector>

#include "audit/base/json.h"
#include "audit/base/text.h"
#include "probes/host/scrub_file.h"
#include "probes/probe.h"

namespace probes {

using base::ErrorKind;
using base::fail;
using base::Result;
namespace json = boost::json;

namespace {

enum class Key : unsigned char { other, mount_options, server, path, iqn, portal, portals, lun, serial, published };

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

// encoding/json of Go matches keys without regard to case.
Key key_of(std::string_view name) {
  static constexpr std::pair<std::string_view, Key> names[] = {
      {"mountoptions", Key::mount_options},
      {"nfsserverip", Key::server},
      {"nfspath", Key::path},
      {"iscsitargetiqn", Key::iqn},
      {"iscsitargetportal", Key::portal},
      {"iscsiportals", Key::portals},
      {"iscsilunnumber", Key::lun},
      {"iscsilunserial", Key::serial},
      {"publishedtargetpaths", Key::published},
      {"publishedpaths", Key::published},
  };
  for (const auto& [text, key] : names)
    if (text == name) return key;
  return Key::other;
}

bool is_secret(std::string_view lower_name) {
  return lower_name.find("username") != std::string_view::npos || lower_name.find("secret") != std::string_view::npos;
}

// Receives the document piece by piece. Only pieces of a wanted value are kept.
struct Visitor {
  static constexpr std::size_t max_object_size = static_cast<std::size_t>(-1);
  static constexpr std::size_t max_array_size = static_cast<std::size_t>(-1);
  static constexpr std::size_t max_key_size = std::size_t{1} << 16;
  static constexpr std::size_t max_string_size = std::size_t{1} << 20;

  facts::TridentVolume volume;
  std::vector<Note> notes;
  bool object_seen = false;

  struct Level {
    bool object;
    Key key;  // of the value that this container is
  };
  std::vector<Level> levels;
  Key key = Key::other;    // of the value to come
  std::size_t secret = 0;  // depth of the container that a secret key holds, or of its plain value
  bool secret_next = false;
  std::string name;
  std::string value;

  bool hidden() const { return secret != 0 || secret_next; }
  Key here() const { return !levels.empty() && !levels.back().object ? levels.back().key : key; }

  template <class T>
  void set(facts::Fact<T>& fact, T got, const char* what) {
    if (fact.has_value() && *fact != got) {
      notes.push_back({0, std::string(what) + " stands there twice with different values; the first counts", false});
      return;
    }
    fact = std::move(got);
  }
  void text_value() {
    switch (here()) {
      case Key::mount_options:
        if (!base::trim(value).empty()) set(volume.mount_options, mask_options(value), "mountOptions");
        break;
      case Key::server: set(volume.nfs_server, value, "nfsServerIp"); break;
      case Key::path: set(volume.nfs_path, value, "nfsPath"); break;
      case Key::iqn: set(volume.iscsi_target_iqn, value, "iscsiTargetIqn"); break;
      case Key::portal: set(volume.iscsi_target_portal, value, "iscsiTargetPortal"); break;
      case Key::serial: set(volume.iscsi_lun_serial, value, "iscsiLunSerial"); break;
      case Key::lun:
        if (const auto lun = base::number<std::int64_t>(value)) set(volume.iscsi_lun, *lun, "iscsiLunNumber");
        break;
      case Key::portals: add(volume.iscsi_portals, value); break;
      case Key::published: add(volume.published_paths, value); break;
      case Key::other: break;
    }
  }
  static void add(facts::Fact<std::vector<std::string>>& list, const std::string& item) {
    if (!list.has_value()) list = std::vector<std::string>{};
    if (std::find(list->begin(), list->end(), item) == list->end()) list->push_back(item);
  }
  void value_done() { secret_next = false; }
  void begin(bool object) {
    if (object) object_seen = true;
    levels.push_back({object, levels.empty() ? Key::other : here()});
    if (secret_next && secret == 0) secret = levels.size();
    secret_next = false;
    key = Key::other;
  }
  void end() {
    if (secret == levels.size()) secret = 0;
    levels.pop_back();
    key = Key::other;
  }

  // What basic_parser calls.
  bool on_document_begin(json::error_code&) { return true; }
  bool on_document_end(json::error_code&) { return true; }
  bool on_object_begin(json::error_code&) {
    begin(true);
    return true;
  }
  bool on_object_end(std::size_t, json::error_code&) {
    end();
    return true;
  }
  bool on_array_begin(json::error_code&) {
    begin(false);
    return true;
  }
  bool on_array_end(std::size_t, json::error_code&) {
    end();
    return true;
  }
  bool on_key_part(json::string_view part, std::size_t, json::error_code&) {
    name.append(part.data(), part.size());
    return true;
  }
  bool on_key(json::string_view part, std::size_t, json::error_code&) {
    name.append(part.data(), part.size());
    if (secret == 0 && levels.back().key == Key::published) {
      add(volume.published_paths, name);  // a set of paths, as Go writes one: {"PATH": {}}
      key = Key::other;
    } else {
      const std::string plain = lower(name);
      secret_next = is_secret(plain);
      key = secret_next ? Key::other : key_of(plain);
    }
    name.clear();
    return true;
  }
  bool on_string_part(json::string_view part, std::size_t, json::error_code&) {
    if (!hidden() && here() != Key::other) value.append(part.data(), part.size());
    return true;
  }
  bool on_string(json::string_view part, std::size_t, json::error_code&) {
    if (!hidden() && here() != Key::other) {
      value.append(part.data(), part.size());
      text_value();
    }
    value.clear();
    value_done();
    return true;
  }
  bool on_number_part(json::string_view, json::error_code&) { return true; }
  bool on_int64(std::int64_t number, json::string_view, json::error_code&) {
    if (!hidden() && here() == Key::lun) set(volume.iscsi_lun, number, "iscsiLunNumber");
    value_done();
    return true;
  }
  bool on_uint64(std::uint64_t, json::string_view, json::error_code&) {
    value_done();
    return true;
  }
  bool on_double(double, json::string_view, json::error_code&) {
    value_done();
    return true;
  }
  bool on_bool(bool, json::error_code&) {
    value_done();
    return true;
  }
  bool on_null(json::error_code&) {
    value_done();
    return true;
  }
  bool on_comment_part(json::string_view, json::error_code&) { return true; }
  bool on_comment(json::string_view, json::error_code&) { return true; }
};

std::size_t line_at(std::string_view text, std::size_t offset) {
  return 1 +
         static_cast<std::size_t>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(offset), '\n'));
}

template <class T>
void absent_unless_set(facts::Fact<T>& fact) {
  if (fact.is_unknown()) fact = facts::Fact<T>::absent();
}

}  // namespace

Result<Parsed<facts::TridentVolume>> parse_trident(std::string_view text, const std::string& path) {
  json::parse_options options;
  options.max_depth = 64;
  json::basic_parser<Visitor> parser(options);
  json::error_code error;
  const std::size_t taken = parser.write_some(false, text.data(), text.size(), error);
  if (!error && text.find_first_not_of(" \t\r\n", taken) != std::string_view::npos) error = json::error::extra_data;
  if (error)
    return fail(
        ErrorKind::malformed, path,
        "line " + std::to_string(line_at(text, std::min(taken, text.size()))) + ": no JSON: " + error.message());
  Visitor& seen = parser.handler();
  if (!seen.object_seen) return fail(ErrorKind::malformed, path, "holds no JSON object");
  Parsed<facts::TridentVolume> parsed{std::move(seen.volume), std::move(seen.notes)};
  facts::TridentVolume& volume = parsed.facts;
  volume.path = path;
  volume.volume = path.substr(path.rfind('/') + 1);
  if (volume.volume.ends_with(".json")) volume.volume.resize(volume.volume.size() - 5);
  // Trident leaves a number out when it is 0.
  if (volume.iscsi_lun.is_unknown() && volume.iscsi_target_iqn.has_value()) volume.iscsi_lun = 0;
  absent_unless_set(volume.mount_options);
  absent_unless_set(volume.nfs_server);
  absent_unless_set(volume.nfs_path);
  absent_unless_set(volume.iscsi_target_iqn);
  absent_unless_set(volume.iscsi_target_portal);
  absent_unless_set(volume.iscsi_portals);
  absent_unless_set(volume.iscsi_lun);
  absent_unless_set(volume.iscsi_lun_serial);
  absent_unless_set(volume.published_paths);
  return parsed;
}

std::string trident_json(const facts::TridentVolume& volume) {
  base::JsonWriter out;
  const auto text = [&](const char* key, const facts::Fact<std::string>& fact) {
    if (!fact.has_value()) return;
    out.key(key);
    out.text(*fact);
  };
  out.begin_object();
  text("nfsServerIp", volume.nfs_server);
  text("nfsPath", volume.nfs_path);
  text("mountOptions", volume.mount_options);
  text("iscsiTargetPortal", volume.iscsi_target_portal);
  text("iscsiTargetIqn", volume.iscsi_target_iqn);
  text("iscsiLunSerial", volume.iscsi_lun_serial);
  if (volume.iscsi_lun.has_value()) {
    out.key("iscsiLunNumber");
    out.number(*volume.iscsi_lun);
  }
  if (volume.iscsi_portals.has_value()) {
    out.key("iscsiPortals");
    out.begin_array();
    for (const std::string& portal : *volume.iscsi_portals) out.text(portal);
    out.end_array();
  }
  if (volume.published_paths.has_value()) {
    out.key("publishedTargetPaths");
    out.begin_object();
    for (const std::string& path : *volume.published_paths) {
      out.key(path);
      out.begin_object();
      out.end_object();
    }
    out.end_object();
  }
  out.end_object();
  return out.take() + "\n";
}

void read_trident(Reading& reading) {
  facts::Facts& facts = reading.facts();
  using Volumes = std::vector<facts::TridentVolume>;
  const auto names = reading.list(trident_directory);
  if (!names) {
    if (names.error().kind == ErrorKind::absent) {
      facts.config.trident = facts::Fact<Volumes>::absent();
      facts.node.trident = false;
    }
    return;
  }
  facts.node.trident = true;
  Volumes volumes;
  for (const std::string& name : *names) {
    if (!name.ends_with(".json")) continue;
    const std::string path = std::string(trident_directory) + "/" + name;
    auto text = reading.file(path);
    if (!text) continue;
    auto parsed = parse_trident(*text, path);
    if (!parsed) {
      reading.malformed(parsed.error());
      continue;
    }
    reading.note(parsed->notes);
    volumes.push_back(std::move(parsed->facts));
  }
  facts.config.trident = std::move(volumes);
}

}  // namespace probes
