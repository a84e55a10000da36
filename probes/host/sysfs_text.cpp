#include "probes/host/sysfs_text.h"

#include <algorithm>
#include <array>

#include "audit/base/text.h"
#include "probes/host/iscsi_names.h"
#include "probes/host/lines.h"

namespace probes {

namespace {

std::string_view without_sys(std::string_view path) {
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  return path.starts_with("/sys/") ? path.substr(4) : path;
}

std::string_view unquoted(std::string_view text) {
  if (text.size() >= 2 && (text.front() == '\'' || text.front() == '"') && text.back() == text.front())
    return text.substr(1, text.size() - 2);
  return text;
}

// "host_reset" of "grep: host_reset: Permission denied", "'/sys/block'" of "ls: cannot access '/sys/block': ...".
bool read_complaint(std::string_view line, std::string_view& what, std::string_view& why) {
  const bool known = line.starts_with("grep: ") || line.starts_with("ls: ") || line.starts_with("cat: ");
  if (!known) return false;
  line.remove_prefix(line.find(' ') + 1);
  for (const std::string_view words : {"cannot access ", "cannot open directory ", "reading directory "})
    if (line.starts_with(words)) line.remove_prefix(words.size());
  const auto colon = line.rfind(": ");
  if (colon == std::string_view::npos) return false;
  what = unquoted(line.substr(0, colon));
  why = base::trim(line.substr(colon + 2));
  return !what.empty() && !why.empty();
}

bool is_file_name(std::string_view name) {
  return !name.empty() && name.size() <= 255 && name.find_first_of(" \t/") == std::string_view::npos;
}

void add_value(SysfsDirectory& to, std::string_view name, std::string_view text, std::string_view error) {
  // Further lines of the same file (uevent) follow the first one and say nothing that is used.
  if (!to.values.empty() && to.values.back().name == name && error.empty()) return;
  to.values.push_back({name, base::trim(text), error});
}

class Reader {
 public:
  explicit Reader(std::string_view text) : lines_(text, parsed_.notes) {}

  Parsed<SysfsText> run() {
    for (std::string_view line; lines_.next(line);)
      if (const char* why = read(line)) add_note(parsed_.notes, lines_.number(), why);
    return std::move(parsed_);
  }

 private:
  SysfsText& out() { return parsed_.facts; }

  const char* read(std::string_view line) {
    const auto bare = base::trim(line);
    if (bare.empty()) {
      list_ = nullptr;
      return nullptr;
    }
    if (bare.starts_with("==== ")) return heading(base::trim(bare.substr(5)));
    if (bare.starts_with("== ")) return entry(base::trim(bare.substr(3)));
    if (bare.starts_with("# ") || bare == "#") return nullptr;  // a prompt, or what the text is
    if (bare.starts_with("note ")) {
      out().cut.emplace_back(bare.substr(5));
      return nullptr;
    }
    std::string_view what, why;
    if (read_complaint(bare, what, why)) return complaint(what, why);
    if (bare.starts_with("/sys/")) return absolute(bare);
    if (list_ != nullptr) {
      if (!is_file_name(bare)) return "no name of a file";
      list_->push_back(bare);
      return nullptr;
    }
    return value(bare);
  }

  const char* heading(std::string_view path) {
    list_ = nullptr;
    open_ = no_directory;
    if (path.starts_with('/')) out().set_looked_at(without_sys(path));
    return nullptr;
  }

  const char* entry(std::string_view rest) {
    list_ = nullptr;
    open_ = no_directory;
    const auto arrow = rest.find(" ->");
    const auto path = rest.substr(0, arrow);
    if (!path.starts_with('/') || path.find_first_of(" \t") != std::string_view::npos) return "no path behind ==";
    auto& directory = out().directory(without_sys(path));
    if (arrow != std::string_view::npos) directory.link = base::trim(rest.substr(arrow + 3));
    open_ = static_cast<std::size_t>(&directory - out().directories.data());
    out().set_looked_at(parent(directory.path));
    return nullptr;
  }

  const char* complaint(std::string_view what, std::string_view why) {
    if (what.starts_with('/')) {
      const auto path = without_sys(what);
      out().set_list_error(path, why);
      return nullptr;
    }
    if (open_ == no_directory) return "a complaint about a file of no directory";
    add_value(out().directories[open_], what, {}, why);
    return nullptr;
  }

  const char* absolute(std::string_view line) {
    if (line.ends_with(':') && line.find_first_of(" \t") == std::string_view::npos) {
      list_ = &out().list(without_sys(line.substr(0, line.size() - 1)));
      return nullptr;
    }
    // "/sys/DIR/NAME:VALUE"; names of directories may hold colons (connection1:0), so the last part's first one counts.
    const auto blank = line.find_first_of(" \t");
    const auto slash = line.substr(0, blank).rfind('/');
    const auto colon = slash == std::string_view::npos ? slash : line.find(':', slash);
    if (colon == std::string_view::npos) return nullptr;  // a path that find(1) lists
    const auto path = line.substr(0, slash);
    const auto name = line.substr(slash + 1, colon - slash - 1);
    if (!is_file_name(name) || name.find_first_not_of("0123456789") == std::string_view::npos) return nullptr;
    add_value(out().directory(without_sys(path)), name, line.substr(colon + 1), {});
    out().set_looked_at(parent(without_sys(path)));
    return nullptr;
  }

  const char* value(std::string_view line) {
    if (open_ == no_directory) return "belongs to no directory of /sys";
    const auto colon = line.find(':');
    const auto name = line.substr(0, colon);
    if (colon == std::string_view::npos || !is_file_name(name)) return "no \"NAME:VALUE\"";
    add_value(out().directories[open_], name, line.substr(colon + 1), {});
    return nullptr;
  }

  static std::string_view parent(std::string_view path) { return path.substr(0, path.rfind('/')); }

  static constexpr std::size_t no_directory = static_cast<std::size_t>(-1);
  Parsed<SysfsText> parsed_;
  Lines lines_;
  std::size_t open_ = no_directory;
  std::vector<std::string_view>* list_ = nullptr;
};

}  // namespace

const SysfsDirectory::Value* SysfsDirectory::find(std::string_view name) const {
  const auto found = std::find_if(values.begin(), values.end(), [&](const Value& v) { return v.name == name; });
  return found == values.end() ? nullptr : &*found;
}

const SysfsDirectory* SysfsText::find(std::string_view path) const {
  const auto found = by_path_.find(path);
  return found == by_path_.end() ? nullptr : &directories[found->second];
}

const std::vector<std::string_view>* SysfsText::names(std::string_view path) const {
  const auto found = lists_.find(path);
  return found == lists_.end() ? nullptr : &found->second;
}

bool SysfsText::looked_at(std::string_view path) const { return looked_at_.contains(path) || lists_.contains(path); }

std::string_view SysfsText::list_error(std::string_view path) const {
  const auto found = list_errors_.find(path);
  return found == list_errors_.end() ? std::string_view{} : found->second;
}

SysfsDirectory& SysfsText::directory(std::string_view path) {
  const auto [found, added] = by_path_.try_emplace(path, directories.size());
  if (added) directories.push_back({path, {}, {}});
  return directories[found->second];
}

std::vector<std::string_view>& SysfsText::list(std::string_view path) { return lists_[path]; }

Parsed<SysfsText> parse_sysfs_text(std::string_view text) { return Reader(text).run(); }

bool is_sysfs_secret(std::string_view name) {
  static constexpr std::array<std::string_view, 6> names{"username",    "password",    "username_in",
                                                         "password_in", "chap_secret", "chap_name"};
  return std::find(names.begin(), names.end(), name) != names.end() || name.find("passw") != std::string_view::npos;
}

std::string scrub_sysfs_text(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const auto end = text.find('\n');
    const auto line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    const auto bare = base::trim(line);
    // "username:alice" and "/sys/class/iscsi_session/session1/username:alice".
    std::string_view name = bare.substr(0, bare.find_first_of(":= \t", bare.starts_with('/') ? bare.rfind('/') : 0));
    name = name.substr(name.rfind('/') == std::string_view::npos ? 0 : name.rfind('/') + 1);
    bool secret = is_sysfs_secret(name);
    std::size_t colon = line.find(name) + name.size();
    for (const std::string_view key : {"/username:", "/username_in:", "/password:", "/password_in:"}) {
      const auto at = bare.starts_with('/') ? line.find(key) : std::string_view::npos;
      if (at == std::string_view::npos) continue;
      secret = true;
      colon = at + key.size() - 1;
    }
    if (secret && colon < line.size() && !is_unset(line.substr(colon + 1)))
      out.append(line.substr(0, colon + 1)).append("***");
    else
      out += line;
    if (end != std::string_view::npos) out += '\n';
  }
  return out;
}

facts::Fact<std::string> sysfs_word(const SysfsDirectory* from, std::string_view name) {
  const auto* value = from == nullptr ? nullptr : from->find(name);
  if (value == nullptr || !value->error.empty()) return {};
  if (is_unset(value->text)) return facts::Fact<std::string>::absent();
  return std::string(value->text);
}

template <class T>
facts::Fact<T> sysfs_number(const SysfsDirectory* from, std::string_view name) {
  const auto* value = from == nullptr ? nullptr : from->find(name);
  if (value == nullptr || !value->error.empty()) return {};
  const bool hex = value->text.starts_with("0x");
  const auto number = hex ? base::number<T>(value->text.substr(2), 16) : base::number<T>(value->text);
  return number ? facts::Fact<T>(*number) : facts::Fact<T>();
}
template facts::Fact<std::uint32_t> sysfs_number(const SysfsDirectory*, std::string_view);
template facts::Fact<std::uint64_t> sysfs_number(const SysfsDirectory*, std::string_view);
template facts::Fact<std::int32_t> sysfs_number(const SysfsDirectory*, std::string_view);
template facts::Fact<std::int64_t> sysfs_number(const SysfsDirectory*, std::string_view);

facts::Fact<bool> sysfs_flag(const SysfsDirectory* from, std::string_view name) {
  const auto number = sysfs_number<std::int64_t>(from, name);
  if (!number.has_value() || (*number != 0 && *number != 1)) return {};
  return *number == 1;
}

}  // namespace probes
