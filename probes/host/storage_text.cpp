#include "probes/host/storage_text.h"

#include <cctype>
#include <unordered_map>

#include "audit/base/text.h"
#include "probes/host/iscsi_names.h"
#include "probes/host/lines.h"
#include "probes/host/pasted_text.h"

namespace probes {

namespace {

// "tcp: [3] 192.0.2.1:3260,1 iqn..."
bool is_session_line(std::string_view line) {
  const auto colon = line.find(": [");
  if (colon == std::string_view::npos || colon == 0 || colon > 16) return false;
  if (line.substr(0, colon).find_first_of(" \t") != std::string_view::npos) return false;
  const auto close = line.find("] ", colon);
  if (close == std::string_view::npos) return false;
  auto rest = line.substr(close + 2);
  return parse_portal(next_field(rest)).has_value() && is_target_name(next_field(rest));
}

bool is_session_host(std::string_view line) {
  const auto f = base::fields(line);
  return f.size() == 2 && f[0].starts_with("session") && f[1].starts_with("host") &&
         base::number<std::uint32_t>(f[0].substr(7)).has_value() &&
         base::number<std::uint32_t>(f[1].substr(4)).has_value();
}

// "NAME (WWID) dm-3 VENDOR,PRODUCT", not indented.
bool is_map_header(std::string_view line) {
  for (const std::string_view action : {"create: ", "reload: ", "resize: ", "rename: ", "switchpg: "})
    if (line.starts_with(action)) line.remove_prefix(action.size());
  if (line.empty() || is_blank(line.front()) || line.front() == '|' || line.front() == '`') return false;
  const auto at = line.find(" dm-");
  if (at == std::string_view::npos || at + 4 >= line.size()) return false;
  if (std::isdigit(static_cast<unsigned char>(line[at + 4])) == 0) return false;
  const auto end = line.find(' ', at + 1);
  const auto name = base::fields(line.substr(0, at));
  if (end == std::string_view::npos || name.empty() || name.size() > 4) return false;
  // Kernel messages speak of dm devices too; a map is followed by "vendor,product" or stands behind its WWID.
  const auto rest = line.substr(end);
  return rest.find(',') != std::string_view::npos && line.find(": ") == std::string_view::npos;
}

bool continues_map(std::string_view line) {
  const auto plain = base::trim(line);
  for (const char* start : {"size=", "features=", "hwhandler=", "wp=", "|-", "`-", "\\_", "| "})
    if (plain.starts_with(start)) return true;
  return plain == "|";
}

bool is_target_line(std::string_view line) {
  if (!line.starts_with("Target: ")) return false;
  line.remove_prefix(8);
  return is_target_name(next_field(line));
}

bool is_print_line(std::string_view line) {
  const auto plain = base::trim(line);
  return plain.empty() || is_blank(line.front()) || plain.starts_with("Target: ");
}

}  // namespace

StorageSections storage_sections(std::string_view text) {
  StorageSections out;
  enum class In : unsigned char { nothing, print, map };
  In in = In::nothing;
  std::size_t number = 0;
  // A section gets the blank lines that it lacks when a line for it comes.
  std::unordered_map<const std::string*, std::size_t> lines_of;
  const auto put = [&](std::string& section, std::string_view line) {
    std::size_t& have = lines_of[&section];
    section.append(number - 1 - have, '\n');
    section.append(line).append("\n");
    have = number;
  };
  for (std::string_view line; base::next_line(text, line);) {
    ++number;
    bool prompted = false;
    after_prompt(line, prompted);
    if (is_target_line(base::trim(line))) in = In::print;
    if (in == In::print && !prompted && is_print_line(line)) {
      put(out.session_print, line);
      continue;
    }
    if (in == In::map && !prompted && continues_map(line)) {
      put(out.multipath_tree, line);
      continue;
    }
    in = In::nothing;
    if (is_map_header(line)) {
      in = In::map;
      put(out.multipath_tree, line);
    } else if (is_session_line(line)) {
      put(out.session_list, line);
    } else if (is_session_host(line)) {
      put(out.session_hosts, line);
    }
  }
  return out;
}

}  // namespace probes
