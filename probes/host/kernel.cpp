#include "probes/host/kernel.h"

#include <algorithm>

#include "audit/base/text.h"
#include "probes/host/scrub_file.h"
#include "probes/probe.h"

namespace probes {

namespace {

// A value of os-release(5): bare, or in single or double quotes, with backslashes before $ " ' \ and `.
std::optional<std::string> unquote(std::string_view value) {
  if (value.empty() || (value.front() != '"' && value.front() != '\'')) return std::string(value);
  const char quote = value.front();
  if (value.size() < 2 || value.back() != quote) return std::nullopt;
  std::string text;
  for (std::size_t i = 1; i + 1 < value.size(); ++i) {
    if (value[i] == '\\' && quote == '"' && i + 2 < value.size()) ++i;
    text.push_back(value[i]);
  }
  return text;
}

// One word of a one-line file; nothing when it is empty or binary.
std::optional<std::string> one_word(std::string_view text) {
  const std::string_view word = base::trim(text);
  const bool plain = std::all_of(word.begin(), word.end(), [](char c) { return c > ' ' && c < '\x7f'; });
  if (word.empty() || !plain || word.size() > 256) return std::nullopt;
  return std::string(word);
}

// The places of one word, the first that can be had; says so when it is no word.
std::optional<std::string> read_word(Reading& reading, std::initializer_list<std::string_view> places) {
  auto found = reading.first_of(places);
  if (!found) return std::nullopt;
  if (found->place.starts_with("!uname")) {
    const auto uname = parse_uname(found->text);
    if (!uname) reading.malformed("is no output of uname -a");
    return uname ? std::optional(uname->release) : std::nullopt;
  }
  auto word = one_word(found->text);
  if (!word) reading.malformed(found->text.empty() ? "is empty" : "is not one word");
  return word;
}

}  // namespace

Parsed<facts::Kernel> parse_os_release(std::string_view text) {
  Parsed<facts::Kernel> parsed;
  parsed.facts.distribution = facts::Fact<std::string>::absent();
  parsed.facts.distribution_version = facts::Fact<std::string>::absent();
  parsed.facts.distribution_name = facts::Fact<std::string>::absent();
  std::string_view line;
  for (std::size_t number = 1; base::next_line(text, line); ++number) {
    if (line.size() > max_line_bytes) {
      parsed.notes.push_back({number, "a line over 1 MiB"});
      continue;
    }
    line = base::trim(line);
    if (line.empty() || line.front() == '#') continue;
    const std::size_t equals = line.find('=');
    const std::string_view key = line.substr(0, equals);
    facts::Fact<std::string>* into = key == "ID"            ? &parsed.facts.distribution
                                     : key == "VERSION_ID"  ? &parsed.facts.distribution_version
                                     : key == "PRETTY_NAME" ? &parsed.facts.distribution_name
                                                            : nullptr;
    if (equals == std::string_view::npos) {
      if (parsed.notes.size() < 100) parsed.notes.push_back({number, "no KEY=VALUE"});
      continue;
    }
    if (into == nullptr) continue;
    if (auto value = unquote(line.substr(equals + 1)))
      *into = std::move(*value);
    else
      parsed.notes.push_back({number, "a quote without its end"});
  }
  return parsed;
}

std::optional<Uname> parse_uname(std::string_view text) {
  std::string_view line;
  if (!base::next_line(text, line)) return std::nullopt;
  const auto words = base::fields(line);
  if (words.size() < 3 || words[0] != "Linux") return std::nullopt;
  return Uname{std::string(words[1]), std::string(words[2])};
}

std::optional<std::string> machine_id_hash(std::string_view text) {
  const std::string_view id = base::trim(text);
  if (id.starts_with(scrubbed_machine_id)) {
    const std::string_view hash = id.substr(scrubbed_machine_id.size());
    return hash.size() == 16 ? std::optional(std::string(hash)) : std::nullopt;
  }
  const bool hex =
      std::all_of(id.begin(), id.end(), [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
  if (id.size() != 32 || !hex) return std::nullopt;
  return base::sha256_hex(id).substr(0, 16);
}

void read_kernel(Reading& reading) {
  facts::Facts& facts = reading.facts();
  if (auto release = read_word(reading, {"/proc/sys/kernel/osrelease", "!uname-a"})) facts.kernel.release = *release;
  if (auto name = read_word(reading, {"/proc/sys/kernel/hostname", "/etc/hostname", "!hostname"}))
    facts.node.name = *name;
  if (auto boot = read_word(reading, {"/proc/sys/kernel/random/boot_id"})) facts.node.boot_id = *boot;
  if (auto release = reading.first_of({"/etc/os-release", "/usr/lib/os-release"})) {
    auto parsed = parse_os_release(release->text);
    facts.kernel.distribution = std::move(parsed.facts.distribution);
    facts.kernel.distribution_version = std::move(parsed.facts.distribution_version);
    facts.kernel.distribution_name = std::move(parsed.facts.distribution_name);
    reading.note(parsed.notes);
  }
  if (auto id = reading.file("/etc/machine-id")) {
    if (auto hash = machine_id_hash(*id))
      facts.node.machine_id_hash = *hash;
    else
      reading.malformed("is no machine id");
  }
}

}  // namespace probes
