#include "probes/host/systemd_mount.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "audit/base/text.h"
#include "probes/host/lines.h"
#include "probes/host/nfs_options.h"
#include "probes/host/scrub_file.h"
#include "probes/probe.h"

namespace probes {

namespace {

using Text = facts::Fact<std::string>;
using Units = std::vector<facts::SystemdMount>;

// Where unit files lie, what comes first counts (systemd.unit(5)).
constexpr std::array unit_directories{
    "/run/systemd/transient", "/run/systemd/generator.early",  "/etc/systemd/system",     "/run/systemd/system",
    "/run/systemd/generator", "/usr/local/lib/systemd/system", "/usr/lib/systemd/system", "/run/systemd/generator.late",
};

// "%%" is a percent sign. Other specifiers (%i, %h ...) have no place in a mount unit and stay as they are.
std::string specifiers(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    out += text[i];
    if (text[i] == '%' && i + 1 < text.size() && text[i + 1] == '%') ++i;
  }
  return out;
}

std::optional<std::string>* slot_of(UnitText& unit, std::string_view section, std::string_view key) {
  if (section == "Unit") return key == "SourcePath" ? &unit.source_path : nullptr;
  if (section != "Mount") return nullptr;
  if (key == "What") return &unit.what;
  if (key == "Where") return &unit.where;
  if (key == "Type") return &unit.type;
  if (key == "Options") return &unit.options;
  return nullptr;
}

bool is_network(const UnitText& unit) {
  if (unit.type) return *unit.type == "nfs" || *unit.type == "nfs4" || *unit.type == "efs";
  if (!unit.what) return false;
  const auto source = split_source(*unit.what);
  return !source.server.empty() && source.path.starts_with('/');
}

void apply(UnitText& unit, const UnitText& drop_in) {
  const auto over = [](std::optional<std::string>& to, const std::optional<std::string>& from) {
    if (from) to = from->empty() ? std::nullopt : from;
  };
  over(unit.what, drop_in.what);
  over(unit.where, drop_in.where);
  over(unit.type, drop_in.type);
  over(unit.options, drop_in.options);
}

// The directories of drop-ins of a unit, the most general one first: mount.d, srv-.mount.d, srv-data.mount.d.
std::vector<std::string> drop_in_directories(const std::string& unit) {
  std::vector<std::string> out{"mount.d"};
  for (auto dash = unit.find('-'); dash != std::string::npos; dash = unit.find('-', dash + 1))
    if (dash > 0) out.push_back(unit.substr(0, dash + 1) + ".mount.d");
  out.push_back(unit + ".d");
  return out;
}

class UnitReader {
 public:
  explicit UnitReader(Reading& reading) : reading_(reading), host_(reading.host()) {}

  void read() {
    for (const std::string directory : unit_directories) {
      // One row says whether the node's own units could be read; the others are there or not.
      const bool own = directory == "/etc/systemd/system";
      const auto names = own ? reading_.list(directory) : host_.list(directory);
      if (!names) {
        if (own) known_ = names.error().kind == base::ErrorKind::absent;
        continue;
      }
      for (const std::string& name : *names) {
        if (name.ends_with(".mount")) {
          units_.try_emplace(name, directory + "/" + name);
        } else if (name.ends_with(".mount.d") || name == "mount.d") {
          drop_ins_.emplace(name, directory + "/" + name);
        }
      }
    }
    Units found;
    for (const auto& [name, path] : units_) read_unit(name, path, found);
    if (known_ || !found.empty()) reading_.facts().config.systemd_mounts = std::move(found);
  }

 private:
  void read_unit(const std::string& name, const std::string& path, Units& found) {
    if (const auto link = host_.link(path); link && *link == "/dev/null") return;  // masked
    const auto text = host_.read(path);
    if (!text) {
      if (text.error().kind == base::ErrorKind::denied) reading_.file(path);  // leaves the row
      return;
    }
    auto parsed = parse_mount_unit(*text);
    UnitText unit = std::move(parsed.facts);
    facts::SystemdMount mount;
    for (const std::string& drop_in : drop_ins_of(name)) {
      const auto more = host_.read(drop_in);
      if (!more) continue;
      apply(unit, parse_mount_unit(*more).facts);
      mount.drop_ins.push_back(drop_in);
    }
    if (!is_network(unit)) return;
    reading_.file(path);
    const auto mount_point = unit.where && !unit.where->empty() ? unit.where : unit_mount_point(name);
    std::string fault;
    if (!unit.what || unit.what->empty())
      fault = "no What=";
    else if (!mount_point)
      fault = "no Where=, and the name is none of a mount unit";
    if (!fault.empty()) return reading_.malformed(fault);
    reading_.note(parsed.notes);
    mount.unit = name;
    mount.path = path;
    mount.what = mask_source(*unit.what);
    mount.where = *mount_point;
    mount.fs_type = unit.type ? Text(*unit.type) : Text::absent();
    mount.options_text = unit.options ? Text(mask_options(*unit.options)) : Text::absent();
    mount.source_path = unit.source_path ? Text(*unit.source_path) : Text::absent();
    found.push_back(std::move(mount));
  }

  // By file name; of equal names the one in the directory that comes first.
  std::vector<std::string> drop_ins_of(const std::string& unit) {
    std::map<std::string, std::string> files;
    for (const std::string& directory : drop_in_directories(unit)) {
      const auto [from, to] = drop_ins_.equal_range(directory);
      std::map<std::string, std::string> here;
      for (auto at = from; at != to; ++at)
        if (const auto names = host_.list(at->second))
          for (const std::string& name : *names)
            if (name.ends_with(".conf")) here.try_emplace(name, at->second + "/" + name);
      for (auto& [name, path] : here) files.insert_or_assign(name, std::move(path));
    }
    std::vector<std::string> out;
    for (auto& [name, path] : files) out.push_back(std::move(path));
    return out;
  }

  Reading& reading_;
  const Host& host_;
  bool known_ = true;
  std::map<std::string, std::string> units_;
  std::multimap<std::string, std::string> drop_ins_;
};

}  // namespace

Parsed<UnitText> parse_mount_unit(std::string_view text) {
  Parsed<UnitText> parsed;
  Lines lines(text, parsed.notes);
  std::string_view line;
  std::string section;
  std::string joined;
  std::size_t begun = 0;
  const auto take = [&](std::string_view whole) {
    whole = base::trim(whole);
    if (whole.empty()) return;
    if (whole.front() == '[') {
      if (whole.back() != ']') {
        add_note(parsed.notes, begun, "section without its closing bracket");
        section.clear();
        return;
      }
      section = std::string(whole.substr(1, whole.size() - 2));
      return;
    }
    const auto equals = whole.find('=');
    if (equals == std::string_view::npos) {
      add_note(parsed.notes, begun, "no assignment");
      return;
    }
    if (auto* slot = slot_of(parsed.facts, section, base::trim(whole.substr(0, equals))))
      *slot = specifiers(base::trim(whole.substr(equals + 1)));
  };
  while (lines.next(line)) {
    const auto trimmed = base::trim(line);
    // A comment in the midst of a continued line is passed over (systemd.syntax(7)).
    if (trimmed.starts_with('#') || trimmed.starts_with(';')) continue;
    if (joined.empty()) begun = lines.number();
    if (line.ends_with('\\')) {
      joined += line.substr(0, line.size() - 1);
      joined += ' ';
      continue;
    }
    joined += line;
    take(joined);
    joined.clear();
  }
  take(joined);
  return parsed;
}

std::optional<std::string> unit_mount_point(std::string_view unit) {
  if (!unit.ends_with(".mount")) return std::nullopt;
  unit.remove_suffix(6);
  if (unit == "-") return "/";
  if (unit.empty()) return std::nullopt;
  std::string out = "/";
  for (std::size_t i = 0; i < unit.size(); ++i) {
    if (unit[i] == '-') {
      out += '/';
    } else if (unit[i] == '\\') {
      if (i + 3 >= unit.size() || unit[i + 1] != 'x') return std::nullopt;
      const auto byte = base::number<std::uint8_t>(unit.substr(i + 2, 2), 16);
      if (!byte) return std::nullopt;
      out += static_cast<char>(*byte);
      i += 3;
    } else {
      out += unit[i];
    }
  }
  return out;
}

void read_systemd_mounts(Reading& reading) { UnitReader(reading).read(); }

}  // namespace probes
