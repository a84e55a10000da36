#include "probes/host/multipath_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <cctype>
#include <optional>

#include "audit/base/json.h"
#include "audit/base/text.h"
#include "probes/host/iscsi_names.h"
#include "probes/host/lines.h"

namespace probes {

namespace {

using facts::Fact;
using facts::MultipathGroup;
using facts::MultipathMap;
using facts::MultipathPath;

// "n/a" and "[undef]": there is none. "undef", "unknown": not determined.
Fact<std::string> word(std::string_view text) {
  text = base::trim(text);
  if (text.empty() || text == "undef" || text == "unknown" || text == "unk") return {};
  if (text == "n/a" || text == "[undef]" || text == "-") return Fact<std::string>::absent();
  return std::string(text);
}

Fact<std::string> checker_word(std::string_view text) {
  text = base::trim(text);
  if (text.starts_with("i/o ")) text.remove_prefix(4);
  return word(text);
}

Fact<std::int64_t> prio_of(std::string_view text, bool determined) {
  if (text == "n/a") return Fact<std::int64_t>::absent();
  const auto prio = base::number<std::int64_t>(text);
  if (!prio || *prio < 0 || (*prio == 0 && !determined)) return {};
  return *prio;
}

bool is_dev(std::string_view text) {
  const auto colon = text.find(':');
  return colon != std::string_view::npos && base::number<std::uint32_t>(text.substr(0, colon)).has_value() &&
         base::number<std::uint32_t>(text.substr(colon + 1)).has_value();
}

void set_hctl(MultipathPath& path, std::string_view text) {
  const auto hctl = parse_hctl(text);
  if (!hctl) return;
  path.hctl = std::string(text);
  path.host = hctl->host;
  path.lun = decode_lun(hctl->lun);
}

void set_features(MultipathMap& map, std::string_view text) {
  if (text == "n/a") {
    map.features_text = Fact<std::string>::absent();
    map.queue_if_no_path = Fact<bool>::absent();
    return;
  }
  map.features_text = std::string(text);
  const auto f = base::fields(text);
  map.queue_if_no_path = std::find(f.begin(), f.end(), "queue_if_no_path") != f.end();
}

// "1 alua" is a count of words and the words.
void set_hwhandler(MultipathMap& map, std::string_view text) {
  const auto f = base::fields(text);
  const bool counted = f.size() > 1 && base::number<std::uint32_t>(f[0]).has_value();
  const auto name = counted ? f[1] : text;
  map.hwhandler = name.empty() || name == "0" || name == "n/a" ? Fact<std::string>::absent() : std::string(name);
}

// "54T", "2.0G"; NVMe: sectors without a unit.
void set_size(MultipathMap& map, std::string_view text) {
  map.size_text = std::string(text);
  if (text.empty()) return;
  constexpr std::string_view units = "KMGTPE";
  const auto unit = units.find(text.back());
  if (unit == std::string_view::npos) {
    if (const auto sectors = base::number<std::uint64_t>(text); sectors && *sectors < (std::uint64_t{1} << 54))
      map.size_bytes = *sectors * 512;
    return;
  }
  const auto amount = base::real(text.substr(0, text.size() - 1));
  if (!amount || *amount < 0 || *amount > 1e6) return;
  double bytes = *amount;
  for (std::size_t i = 0; i <= unit; ++i) bytes *= 1024;
  if (bytes < 1.8e19) map.size_bytes = static_cast<std::uint64_t>(bytes);
}

// "vendor,product[,revision]"; "##" where no path can tell.
void set_vendor(MultipathMap& map, std::string_view text) {
  const auto parts = base::split(text, ',');
  const auto told = [](std::string_view part) {
    part = base::trim(part);
    return part == "##" || part.empty() ? Fact<std::string>::absent() : Fact<std::string>(std::string(part));
  };
  map.vendor = told(parts[0]);
  if (parts.size() > 1) map.product = told(parts[1]);
  if (parts.size() > 2) map.rev = told(parts[2]);
}

// "alias (wwid)" or "wwid".
void set_name(MultipathMap& map, std::string_view text) {
  text = base::trim(text);
  const auto open = text.rfind(" (");
  if (text.ends_with(')') && open != std::string_view::npos) {
    map.alias = std::string(base::trim(text.substr(0, open)));
    map.wwid = std::string(text.substr(open + 2, text.size() - open - 3));
  } else {
    map.alias = std::string(text);
    map.wwid = std::string(text);
  }
  map.id = *map.wwid;
}

bool is_month(std::string_view text) {
  static constexpr std::array months{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  return std::find(months.begin(), months.end(), text) != months.end();
}

// "Jun 21 04:39:26 | text"; newer versions print seconds since boot: "1234.567890 | text".
std::optional<std::string_view> log_text(std::string_view line) {
  const auto bar = line.find(" | ");
  if (bar == std::string_view::npos) return std::nullopt;
  const auto f = base::fields(line.substr(0, bar));
  const bool dated = f.size() == 3 && is_month(f[0]) && f[2].find(':') != std::string_view::npos;
  const bool since_boot = f.size() == 1 && base::real(f[0]).has_value();
  if (!dated && !since_boot) return std::nullopt;
  return line.substr(bar + 3);
}

void add_notice(std::vector<facts::MultipathNotice>& notices, std::string_view text, std::size_t line,
                const std::string& source) {
  facts::MultipathNotice notice;
  notice.source = source;
  notice.line = static_cast<std::uint32_t>(line);
  notice.text = std::string(text.substr(0, 240));
  const auto colon = text.find(": ");
  const auto about = text.substr(0, colon);
  if (text.find("path wwid appears to have changed") != std::string_view::npos) {
    notice.kind = "wwid-changed";
  } else if (text.find("cannot find block device") != std::string_view::npos ||
             text.find("Empty device name") != std::string_view::npos) {
    notice.kind = "no-block-device";
  } else {
    notice.kind = "other";
  }
  if (colon != std::string_view::npos && about.find(' ') == std::string_view::npos) notice.dev = std::string(about);
  constexpr std::size_t most = 200;
  for (auto& known : notices) {
    const bool same =
        known.kind == notice.kind && known.dev == notice.dev && (notice.kind != "other" || known.text == notice.text);
    if (!same) continue;
    ++known.count;
    return;
  }
  if (notices.size() < most) notices.push_back(std::move(notice));
}

// The word before "dm-N" of a header; npos when the line is none.
std::size_t find_dm(std::string_view line) {
  for (auto at = line.find(" dm-"); at != std::string_view::npos; at = line.find(" dm-", at + 1)) {
    auto end = at + 4;
    while (end < line.size() && std::isdigit(static_cast<unsigned char>(line[end])) != 0) ++end;
    if (end > at + 4 && (end == line.size() || line[end] == ' ')) return at;
  }
  return std::string_view::npos;
}

// Takes KEY=VALUE, KEY='VALUE' or KEY="VALUE" off the front.
bool take_attribute(std::string_view& rest, std::string_view& key, std::string_view& value) {
  rest = base::trim(rest);
  const auto equals = rest.find('=');
  if (equals == std::string_view::npos || equals == 0) return false;
  key = rest.substr(0, equals);
  if (key.find_first_of(" \t'\"") != std::string_view::npos) return false;
  rest.remove_prefix(equals + 1);
  if (rest.starts_with('\'') || rest.starts_with('"')) {
    const auto end = rest.find(rest.front(), 1);
    value = rest.substr(1, (end == std::string_view::npos ? rest.size() : end) - 1);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  } else {
    const auto end = std::min(rest.find_first_of(" \t"), rest.size());
    value = rest.substr(0, end);
    rest.remove_prefix(end);
  }
  return true;
}

class Tree {
 public:
  Tree(MultipathPrint print, const std::string& source) : print_(print), source_(source) {}

  Parsed<MultipathText> run(std::string_view text) {
    Lines lines(text, out_.notes);
    for (std::string_view line; lines.next(line);) {
      number_ = lines.number();
      take(line);
    }
    for (auto& map : out_.facts.maps) finish(map);
    return std::move(out_);
  }

 private:
  void note(std::string why, bool lost = true) { add_note(out_.notes, number_, std::move(why), lost); }

  void finish(MultipathMap& map) const {
    static constexpr std::array names{"multipath -ll", "multipath -l", "multipath -v4"};
    map.told_by = {names[static_cast<std::size_t>(print_)]};
    if (map.kind == "nvme") map.iscsi = false;
    if (map.state.is_unknown()) map.state = "active";
    map.checkers_ran = print_ != MultipathPrint::l && map.kind != "nvme" &&
                       (map.paths.empty() || std::any_of(map.paths.begin(), map.paths.end(), [](const auto& path) {
                          return path.removed || path.checker_state.has_value();
                        }));
    for (auto& path : map.paths) path.map = map.id;
  }

  void take(std::string_view line) {
    const auto plain = base::trim(line);
    if (plain.empty() || plain == "nothing" || plain.starts_with("===")) {
      table_ = plain.starts_with("=====");
      return;
    }
    if (const auto said = log_text(plain)) {
      table_ = false;
      return add_notice(out_.facts.notices, *said, number_, source_);
    }
    if (table_ && (plain.starts_with("uuid ") || is_table_row(plain))) return;
    if (plain.find("multipath -") != std::string_view::npos || plain.starts_with("# ") || plain == "#" ||
        plain.starts_with("$ "))
      return;  // a prompt with what was typed
    if (begin_nvme(plain) || begin_map(plain)) return;
    auto rest = plain;
    while (!rest.empty() && std::string_view("|`-+\\_ ").find(rest.front()) != std::string_view::npos)
      rest.remove_prefix(1);
    if (rest.starts_with("policy=")) return begin_group(rest);
    if (is_attribute_line(plain)) return attributes(plain);
    if (path_line(rest)) return;
    note("no map, group or path as multipath prints them");
  }

  static bool is_table_row(std::string_view line) {
    const auto f = base::fields(line);
    return std::any_of(f.begin(), f.end(), [](std::string_view word) { return parse_hctl(word).has_value(); });
  }

  static bool is_attribute_line(std::string_view line) {
    for (const char* key : {"size=", "features=", "hwhandler=", "wp="})
      if (line.starts_with(key)) return true;
    return false;
  }

  MultipathMap& new_map() {
    table_ = false;
    auto& map = out_.facts.maps.emplace_back();
    map.kind = "dm-multipath";
    return map;
  }

  bool begin_nvme(std::string_view line) {
    const auto at = line.find(" [nvme]:");
    if (at == std::string_view::npos) return false;
    auto& map = new_map();
    map.kind = "nvme";
    set_name(map, line.substr(0, at));
    auto rest = line.substr(at + 8);
    map.device = std::string(next_field(rest));
    set_vendor(map, base::trim(rest));
    return true;
  }

  bool begin_map(std::string_view line) {
    const auto at = find_dm(line);
    if (at == std::string_view::npos) return false;
    auto name = line.substr(0, at);
    for (const char* action : {"create: ", "reload: ", "resize: ", "rename: ", "switchpg: ", "reject: ", "undef: "})
      if (name.starts_with(action)) name.remove_prefix(std::string_view(action).size());
    if (base::trim(name).empty() || name.front() == '|' || name.front() == '`') return false;
    auto& map = new_map();
    set_name(map, name);
    auto rest = line.substr(at + 1);
    map.device = std::string(next_field(rest));
    rest = base::trim(rest);
    const auto size = rest.find(" size=");
    const auto vendor = base::trim(rest.substr(0, size));
    if (vendor == "uninitialized" || vendor == "undef")
      map.state = std::string("uninitialized");
    else if (!vendor.empty())
      set_vendor(map, vendor);
    if (size != std::string_view::npos) attributes(rest.substr(size + 1));
    return true;
  }

  void attributes(std::string_view rest) {
    if (out_.facts.maps.empty()) return note("attributes of no map");
    auto& map = out_.facts.maps.back();
    std::string_view key;
    std::string_view value;
    while (!base::trim(rest).empty()) {
      if (!take_attribute(rest, key, value)) return note("no name=value among the attributes");
      if (key == "size")
        set_size(map, value);
      else if (key == "features")
        set_features(map, value);
      else if (key == "hwhandler")
        set_hwhandler(map, value);
      else if (key == "wp")
        map.write_protect = word(value);
      else
        note(fmt::format("unknown attribute {}", base::shorten(key, 40)), false);
    }
  }

  void begin_group(std::string_view rest) {
    if (out_.facts.maps.empty()) return note("a group of no map");
    auto& map = out_.facts.maps.back();
    MultipathGroup group;
    group.number = static_cast<std::uint32_t>(map.groups.size() + 1);
    std::string_view key;
    std::string_view value;
    while (!base::trim(rest).empty()) {
      if (!take_attribute(rest, key, value)) {
        note("no name=value in a group");
        break;
      }
      if (key == "policy")
        group.selector = word(base::fields(value).empty() ? value : base::fields(value)[0]);
      else if (key == "prio")
        group.prio = prio_of(value, print_ != MultipathPrint::l);
      else if (key == "status")
        group.status = word(value);
      else
        note(fmt::format("unknown attribute {}", base::shorten(key, 40)), false);
    }
    map.groups.push_back(std::move(group));
  }

  bool path_line(std::string_view rest) {
    const auto f = base::fields(rest);
    if (f.size() < 3) return false;
    const bool nvme = base::split(f[0], ':').size() == 3 && f[1].starts_with("nvme");
    const bool removed = f[0] == "#:#:#:#" || f[1] == "-";
    if (!nvme && !removed && !parse_hctl(f[0])) return false;
    MultipathPath path;
    path.removed = removed;
    if (f[1] != "-") path.device = std::string(f[1]);
    path.hctl = Fact<std::string>::absent();
    if (!nvme && !removed) set_hctl(path, f[0]);
    path.dev = removed || nvme ? Fact<std::string>::absent() : Fact<std::string>();
    if (!removed && !nvme && is_dev(f[2])) path.dev = std::string(f[2]);
    if (f.size() < 6) note("a path line that ends early");
    if (f.size() > 3) path.dm_state = word(f[3]);
    if (f.size() > 5) path.dev_state = word(f.back());
    std::string middle;
    for (std::size_t i = 4; i + 1 < f.size() || (i == 4 && f.size() == 5); ++i)
      middle.append(middle.empty() ? "" : " ").append(f[i]);
    path.ana_state = nvme ? word(middle) : Fact<std::string>::absent();
    path.checker_state = nvme ? Fact<std::string>::absent() : checker_word(middle);
    if (out_.facts.maps.empty() ||
        (out_.facts.maps.back().groups.empty() && out_.facts.maps.back().size_text.is_unknown())) {
      out_.facts.paths.push_back(std::move(path));
      return true;
    }
    auto& map = out_.facts.maps.back();
    if (!map.groups.empty()) {
      auto& group = map.groups.back();
      path.group = group.number;
      path.prio = group.prio;
      group.paths.push_back(path.device);
    }
    map.paths.push_back(std::move(path));
    return true;
  }

  const MultipathPrint print_;
  const std::string& source_;
  Parsed<MultipathText> out_;
  std::size_t number_ = 0;
  bool table_ = false;
};

}  // namespace

Parsed<MultipathText> parse_multipath_tree(std::string_view text, MultipathPrint print, const std::string& source) {
  return Tree(print, source).run(text);
}

namespace {

namespace json = boost::json;

std::string_view text_at(const json::object& object, const char* key) {
  const auto* value = object.if_contains(key);
  return value != nullptr && value->is_string() ? std::string_view(value->as_string().data(), value->as_string().size())
                                                : std::string_view{};
}

Fact<std::string> word_at(const json::object& object, const char* key) {
  return object.contains(key) ? word(text_at(object, key)) : Fact<std::string>();
}

template <class T>
void number_at(const json::object& object, const char* key, Fact<T>& into) {
  const auto* value = object.if_contains(key);
  if (value == nullptr) return;
  if (value->is_int64() && value->as_int64() >= 0) into = static_cast<T>(value->as_int64());
  if (value->is_string())
    if (const auto got = base::number<T>(text_at(object, key))) into = *got;
}

Fact<std::int64_t> prio_at(const json::object& object) {
  const auto* value = object.if_contains("pri");
  if (value == nullptr || !value->is_int64() || value->as_int64() < 0) return {};
  return value->as_int64();
}

MultipathPath json_path(const json::object& object) {
  MultipathPath path;
  const auto device = text_at(object, "dev");
  if (device != "-") path.device = std::string(device);
  path.removed = device.empty() || device == "-";
  const auto dev = text_at(object, "dev_t");
  path.dev = is_dev(dev)    ? Fact<std::string>(std::string(dev))
             : path.removed ? Fact<std::string>::absent()
                            : Fact<std::string>();
  path.dm_state = word_at(object, "dm_st");
  path.dev_state = word_at(object, "dev_st");
  path.checker_state = checker_word(text_at(object, "chk_st"));
  path.checker = word_at(object, "checker");
  path.prio = prio_at(object);
  path.target_node = word_at(object, "target_wwnn");
  path.host_adapter = word_at(object, "host_adapter");
  path.ana_state = Fact<std::string>::absent();
  if (const auto lun = lun_of_hex(text_at(object, "lun_hex"))) path.lun = *lun;
  if (const auto state = word_at(object, "marginal_st"); state.has_value()) path.marginal = *state == "marginal";
  if (const auto hctl = text_at(object, "hcil"); !hctl.empty()) set_hctl(path, hctl);
  return path;
}

void set_queueing(MultipathMap& map, const json::object& object) {
  const auto text = base::trim(text_at(object, "queueing"));
  if (text.empty()) return;
  map.queue_left_s = Fact<std::uint64_t>::absent();
  if (text == "-") {
    map.queueing = Fact<std::string>::absent();
    return;
  }
  map.queueing = std::string(text);
  const auto f = base::fields(text);
  if (f.size() == 2 && f[1] == "sec")
    if (const auto left = base::number<std::uint64_t>(f[0])) map.queue_left_s = *left;
}

MultipathMap json_map(const json::object& object) {
  MultipathMap map;
  map.kind = "dm-multipath";
  map.told_by = {"multipathd"};
  map.checkers_ran = true;
  map.wwid = word_at(object, "uuid");
  map.alias = word_at(object, "name");
  map.device = word_at(object, "sysfs");
  if (map.device.has_value() && !map.device->starts_with("dm-")) {
    map.kind = "nvme";
    map.iscsi = false;
    map.checkers_ran = false;
  }
  map.id = map.wwid.has_value() ? *map.wwid : map.alias.value_or("");
  map.vendor = word_at(object, "vend");
  map.product = word_at(object, "prod");
  map.rev = word_at(object, "rev");
  for (auto* fact : {&map.vendor, &map.product, &map.rev})
    if (fact->is("##")) *fact = Fact<std::string>::absent();
  const auto state = text_at(object, "dm_st");
  if (!state.empty() && state != "undef") map.state = std::string(state);
  map.write_protect = word_at(object, "write_prot");
  if (object.contains("features")) set_features(map, text_at(object, "features"));
  if (object.contains("hwhandler")) set_hwhandler(map, text_at(object, "hwhandler"));
  map.failback = word_at(object, "failback");
  set_queueing(map, object);
  number_at(object, "path_faults", map.path_faults);
  number_at(object, "switch_grp", map.switch_group_count);
  number_at(object, "map_loads", map.map_loads);
  number_at(object, "total_q_time", map.total_queue_s);
  number_at(object, "q_timeouts", map.queue_timeouts);
  const auto* groups = object.if_contains("path_groups");
  if (groups == nullptr || !groups->is_array()) return map;
  for (const auto& entry : groups->as_array()) {
    const auto* from = entry.if_object();
    if (from == nullptr) continue;
    MultipathGroup group;
    group.number = static_cast<std::uint32_t>(map.groups.size() + 1);
    const auto selector = base::fields(text_at(*from, "selector"));
    if (!selector.empty()) group.selector = word(selector[0]);
    group.prio = prio_at(*from);
    group.status = word_at(*from, "dm_st");
    if (const auto marginal = word_at(*from, "marginal_st"); marginal.has_value())
      group.marginal = *marginal == "marginal";
    if (const auto* paths = from->if_contains("paths"); paths != nullptr && paths->is_array())
      for (const auto& path : paths->as_array()) {
        if (!path.is_object()) continue;
        auto made = json_path(path.as_object());
        made.group = group.number;
        made.map = map.id;
        group.paths.push_back(made.device);
        map.paths.push_back(std::move(made));
      }
    map.groups.push_back(std::move(group));
  }
  return map;
}

// Where an object ends in a text, and what would close everything that is open there.
struct Cut {
  std::size_t at = 0;
  std::string closers;
};

std::vector<Cut> cuts_of(std::string_view text) {
  std::vector<Cut> cuts;
  std::string open;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size() && open.size() <= 64; ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"' || c == '\n') in_string = false;  // no name holds a line end: the closing quote is lost
      continue;
    }
    if (c == '"') in_string = true;
    if (c == '{') open += '}';
    if (c == '[') open += ']';
    if (c != '}' && c != ']') continue;
    if (open.empty() || open.back() != c) break;
    open.pop_back();
    if (c == '}') cuts.push_back({i + 1, std::string(open.rbegin(), open.rend())});
    if (open.empty()) break;
  }
  return cuts;
}

std::size_t line_of(std::string_view text, std::size_t offset) {
  return 1 + static_cast<std::size_t>(std::count(
                 text.begin(), text.begin() + static_cast<std::ptrdiff_t>(std::min(offset, text.size())), '\n'));
}

}  // namespace

Parsed<MultipathText> parse_multipath_json(std::string_view text, const std::string& source) {
  Parsed<MultipathText> parsed;
  std::size_t begin = text.starts_with('{') ? 0 : text.find("\n{");
  if (begin == std::string_view::npos) {
    if (!base::trim(text).empty()) parsed.notes.push_back({1, "holds no JSON object"});
    return parsed;
  }
  if (begin != 0 || !text.starts_with('{')) ++begin;
  for (std::string_view before = text.substr(0, begin), line; base::next_line(before, line);)
    if (const auto said = log_text(base::trim(line)))
      add_notice(parsed.facts.notices, *said, line_of(text, static_cast<std::size_t>(line.data() - text.data())),
                 source);

  const auto document = text.substr(begin);
  const auto cuts = cuts_of(document);
  const auto at_cut = [&](const Cut& cut) {
    return base::parse_json(std::string(document.substr(0, cut.at)) + cut.closers, source);
  };
  // The longest beginning that is well-formed once what is open is closed.
  std::size_t low = 0;
  std::size_t high = cuts.size();
  std::optional<json::value> value;
  if (!cuts.empty())
    if (auto whole = at_cut(cuts.back())) {
      value = std::move(*whole);
      low = high;
    }
  while (low < high) {
    const auto middle = low + (high - low) / 2;
    auto part = at_cut(cuts[middle]);
    if (part) {
      value = std::move(*part);
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  const bool complete = low == cuts.size() && low > 0 && cuts[low - 1].closers.empty();
  if (!complete) {
    const std::size_t stop = low > 0 ? cuts[low - 1].at : 0;
    parsed.notes.push_back({line_of(text, begin + stop), "the JSON text is cut or damaged behind this place"});
  }
  if (!value || !value->is_object()) return parsed;
  const auto take = [&](const json::value& map) {
    if (!map.is_object()) return;
    auto made = json_map(map.as_object());
    if (made.id.empty())
      parsed.notes.push_back({0, "a map without name and uuid"});
    else
      parsed.facts.maps.push_back(std::move(made));
  };
  if (const auto* maps = value->as_object().if_contains("maps"); maps != nullptr && maps->is_array())
    for (const auto& map : maps->as_array()) take(map);
  else if (const auto* map = value->as_object().if_contains("map"); map != nullptr)
    take(*map);
  else if (complete)
    parsed.notes.push_back({1, "no list of maps in the JSON text"});
  return parsed;
}

namespace {

// Columns of multipathd show paths that are used, by their title.
constexpr std::array<std::string_view, 17> titles{
    "uuid",      "hcil",       "dev",  "dev_t",  "pri",      "dm_st",         "chk_st",      "dev_st", "checker",
    "multipath", "next_check", "size", "serial", "failures", "vend/prod/rev", "marginal_st", "foreign"};

struct Column {
  std::string title;
  std::size_t at;
};

std::vector<Column> read_header(std::string_view line) {
  std::vector<Column> columns;
  for (const auto word : base::fields(line))
    columns.push_back({std::string(word), static_cast<std::size_t>(word.data() - line.data())});
  const bool is_header = columns.size() >= 2 && std::all_of(columns.begin(), columns.end(), [](const Column& column) {
                           return std::find(titles.begin(), titles.end(), column.title) != titles.end();
                         });
  return is_header ? columns : std::vector<Column>{};
}

void set_column(MultipathPath& path, std::string_view title, std::string_view value) {
  value = base::trim(value);
  if (title == "uuid" && !value.empty()) path.wwid = std::string(value);
  if (title == "hcil") set_hctl(path, value);
  if (title == "dev") path.device = value == "-" ? std::string() : std::string(value);
  if (title == "dev_t" && is_dev(value)) path.dev = std::string(value);
  if (title == "pri") path.prio = prio_of(value, true);
  if (title == "dm_st") path.dm_state = word(value);
  if (title == "chk_st") path.checker_state = checker_word(value);
  if (title == "dev_st") path.dev_state = word(value);
  if (title == "checker") path.checker = word(value);
  if (title == "multipath" && !value.empty())
    path.map = value == "[orphan]" ? Fact<std::string>::absent() : Fact<std::string>(std::string(value));
}

bool is_any_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// A line whose format is not known: the words tell by themselves what they are.
bool read_words(std::string_view line, MultipathPath& path) {
  bool have_device = false;
  bool vendor_seen = false;
  std::string_view first;
  for (const auto word : base::fields(line)) {
    if (first.empty()) first = word;
    const bool at_start = word.data() == first.data();
    if (word == "[orphan]") {
      set_column(path, "multipath", word);
    } else if (parse_hctl(word)) {
      set_column(path, "hcil", word);
    } else if (is_dev(word)) {
      set_column(path, "dev_t", word);
    } else if (!have_device && !vendor_seen &&
               (word.starts_with("sd") || word.starts_with("nvme") || word.starts_with("dasd")) && word.size() < 16) {
      set_column(path, "dev", word);
      have_device = true;
    } else if (is_any_of(word, {"active", "failed"})) {
      set_column(path, "dm_st", word);
    } else if (is_any_of(word, {"ready", "ghost", "faulty", "shaky", "delayed"})) {
      set_column(path, "chk_st", word);
    } else if (is_any_of(word, {"running", "offline", "blocked", "transport-offline", "quiesce"})) {
      set_column(path, "dev_st", word);
    } else if (is_any_of(word, {"tur", "readsector0", "directio", "rdac", "emc_clariion", "hp_sw", "hp_tur", "none"})) {
      set_column(path, "checker", word);
    } else if (word.find(',') != std::string_view::npos) {
      vendor_seen = true;
    } else if (vendor_seen) {
      set_column(path, "multipath", word);  // the last word behind vendor and product
    } else if (at_start && word.size() >= 10) {
      set_column(path, "uuid", word);
    }
  }
  return have_device;
}

}  // namespace

Parsed<MultipathText> parse_multipath_paths(std::string_view text, const std::string& source) {
  Parsed<MultipathText> parsed;
  std::vector<Column> columns;
  Lines lines(text, parsed.notes);
  for (std::string_view line; lines.next(line);) {
    const auto plain = base::trim(line);
    if (plain.empty()) continue;
    if (const auto said = log_text(plain)) {
      add_notice(parsed.facts.notices, *said, lines.number(), source);
      continue;
    }
    if (plain.starts_with("multipathd>") || plain.starts_with("# ") ||
        plain.find("multipathd show") != std::string_view::npos)
      continue;
    if (auto header = read_header(line); !header.empty()) {
      columns = std::move(header);
      continue;
    }
    MultipathPath path;
    path.ana_state = Fact<std::string>::absent();
    const bool aligned = !columns.empty() && std::all_of(columns.begin() + 1, columns.end(), [&](const Column& column) {
      return column.at >= line.size() || line[column.at - 1] == ' ';
    });
    if (aligned) {
      for (std::size_t i = 0; i < columns.size(); ++i) {
        if (columns[i].at >= line.size()) break;
        const auto end = i + 1 < columns.size() ? columns[i + 1].at : line.size();
        set_column(path, columns[i].title, line.substr(columns[i].at, end - columns[i].at));
      }
    } else if (!read_words(line, path)) {
      add_note(parsed.notes, lines.number(), "no path as multipathd prints it");
      continue;
    }
    if (aligned && path.device.empty() && path.hctl.is_unknown() && path.wwid.is_unknown()) {
      add_note(parsed.notes, lines.number(), "no path as multipathd prints it");
      continue;
    }
    if (aligned && columns.back().at >= static_cast<std::size_t>(plain.data() - line.data()) + plain.size())
      add_note(parsed.notes, lines.number(), fmt::format("the line of path {} ends early", path.device));
    parsed.facts.paths.push_back(std::move(path));
  }
  return parsed;
}

}  // namespace probes
