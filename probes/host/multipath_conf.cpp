#include "probes/host/multipath_conf.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <tuple>

#include "audit/base/text.h"
#include "probes/host/lines.h"

namespace probes {

namespace {

using facts::MultipathConfEntry;

constexpr std::array<std::string_view, 7> sections{
    "defaults", "blacklist", "blacklist_exceptions", "devices", "multipaths", "overrides", "exceptions"};

// Words of a line: bare, in double quotes, and the braces. Nothing when a quote does not end.
std::optional<std::vector<std::string>> words_of(std::string_view line) {
  std::vector<std::string> words;
  std::size_t i = 0;
  while (i < line.size()) {
    const char c = line[i];
    if (c == ' ' || c == '\t') {
      ++i;
    } else if (c == '#' || c == '!') {
      break;
    } else if (c == '{' || c == '}') {
      words.emplace_back(1, c);
      ++i;
    } else if (c == '"') {
      std::string word;
      for (++i;; ++i) {
        if (i >= line.size()) return std::nullopt;
        if (line[i] != '"') {
          word += line[i];
        } else if (i + 1 < line.size() && line[i + 1] == '"') {
          word += line[i++];
        } else {
          ++i;
          break;
        }
      }
      words.push_back(std::move(word));
    } else {
      const auto end = std::min(line.find_first_of(" \t\"#!{}", i), line.size());
      words.emplace_back(line.substr(i, end - i));
      i = end;
    }
  }
  return words;
}

class Reader {
 public:
  Reader(std::string_view text, const std::string& path, std::uint32_t& block)
      : path_(path), block_(block), lines_(text, parsed_.notes) {}

  Parsed<std::vector<MultipathConfEntry>> run() {
    for (std::string_view line; lines_.next(line);) {
      const auto words = words_of(line);
      const char* why = words ? take(*words) : "a quote does not end on its line";
      if (why != nullptr) add_note(parsed_.notes, lines_.number(), why);
    }
    if (!section_.empty()) add_note(parsed_.notes, lines_.number(), "a brace of " + section_ + " is not closed", false);
    finish_block();
    return std::move(parsed_);
  }

 private:
  const char* take(const std::vector<std::string>& words) {
    if (words.empty()) return nullptr;
    if (words[0] == "}") return close();
    if (words.size() >= 2 && words[1] == "{") return open(words[0]);
    if (words[0] == "{") return "a brace of no section";
    if (section_.empty()) return "stands outside all sections";
    if (words.size() > 2) return add(words[0], words[1], "more than one value: multipath takes the first");
    return add(words[0], words.size() == 2 ? words[1] : std::string(), nullptr);
  }

  const char* open(const std::string& name) {
    if (section_.empty()) {
      section_ = name;
      const bool known = std::find(sections.begin(), sections.end(), name) != sections.end();
      return known ? nullptr : "no section of multipath.conf(5)";
    }
    if (!subsection_.empty()) return "a section inside a subsection";
    subsection_ = name;
    first_of_block_ = parsed_.facts.size();
    ++block_;
    return nullptr;
  }

  const char* close() {
    if (!subsection_.empty()) {
      finish_block();
      subsection_.clear();
    } else if (!section_.empty()) {
      section_.clear();
    } else {
      return "a closing brace of no section";
    }
    return nullptr;
  }

  // What a subsection is for stands in its own lines, in any order.
  void finish_block() {
    if (subsection_.empty()) return;
    facts::Fact<std::string> vendor, product, wwid;
    for (std::size_t i = first_of_block_; i < parsed_.facts.size(); ++i) {
      const auto& entry = parsed_.facts[i];
      if (entry.key == "vendor") vendor = entry.value;
      if (entry.key == "product") product = entry.value;
      if (entry.key == "wwid") wwid = entry.value;
    }
    for (std::size_t i = first_of_block_; i < parsed_.facts.size(); ++i) {
      parsed_.facts[i].vendor = vendor;
      parsed_.facts[i].product = product;
      parsed_.facts[i].wwid = wwid;
    }
  }

  const char* add(const std::string& key, const std::string& value, const char* why) {
    MultipathConfEntry entry;
    entry.path = path_;
    entry.line = static_cast<std::uint32_t>(lines_.number());
    entry.section = section_;
    entry.subsection = subsection_;
    entry.block = subsection_.empty() ? facts::Fact<std::uint32_t>::absent() : facts::Fact<std::uint32_t>(block_ - 1);
    entry.key = key;
    entry.value = is_multipath_secret(key) && !value.empty() ? "***" : value;
    parsed_.facts.push_back(std::move(entry));
    return why;
  }

  const std::string& path_;
  std::uint32_t& block_;
  Parsed<std::vector<MultipathConfEntry>> parsed_;
  Lines lines_;
  std::string section_, subsection_;
  std::size_t first_of_block_ = 0;
};

}  // namespace

bool is_multipath_secret(std::string_view key) {
  if (key == "reservation_key" || key == "auth_key") return true;
  return key.find("passw") != std::string_view::npos || key.find("secret") != std::string_view::npos;
}

std::string scrub_multipath_conf(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const auto end = text.find('\n');
    const auto line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    const auto start = line.find_first_not_of(" \t#!{");  // one that was commented out is none the less secret
    const auto stop = start == std::string_view::npos ? start : line.find_first_of(" \t\"=", start);
    if (stop != std::string_view::npos && is_multipath_secret(line.substr(start, stop - start)) &&
        line.find_first_not_of(" \t\r", stop) != std::string_view::npos)
      out.append(line.substr(0, stop)).append(" ***");
    else
      out += line;
    if (end != std::string_view::npos) out += '\n';
  }
  return out;
}

Parsed<std::vector<MultipathConfEntry>> parse_multipath_conf(std::string_view text, const std::string& path,
                                                             std::uint32_t& first_block) {
  return Reader(text, path, first_block).run();
}

void mark_overridden(std::vector<MultipathConfEntry>& entries) {
  using Place = std::tuple<std::string_view, std::string_view, std::uint32_t, std::string_view>;
  std::map<Place, std::size_t> last;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    auto& entry = entries[i];
    // Lists: each line of a blacklist adds one.
    if (entry.section.starts_with("blacklist")) continue;
    const Place place(entry.section, entry.subsection, entry.block.value_or(0), entry.key);
    if (const auto found = last.find(place); found != last.end()) entries[found->second].overridden = true;
    last[place] = i;
  }
}

}  // namespace probes
