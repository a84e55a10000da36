#include "probes/host/fstab.h"

#include <algorithm>
#include <optional>

#include "audit/base/text.h"
#include "probes/host/lines.h"
#include "probes/host/scrub_file.h"
#include "probes/probe.h"

namespace probes {

namespace {

bool is_number(std::string_view text) { return base::number<std::int64_t>(text).has_value(); }

// Why mount(8) would not take the line; empty when it would.
std::string fault(const std::vector<std::string_view>& parts) {
  if (parts.size() < 3) return "fewer than three fields";
  if (parts.size() > 3 && is_number(parts[3])) return "a number where options belong";
  if (parts.size() > 4 && !is_number(parts[4])) return "the dump field is no number";
  if (parts.size() > 5 && !is_number(parts[5])) return "the pass field is no number";
  return {};
}

}  // namespace

Parsed<std::vector<facts::FstabEntry>> parse_fstab(std::string_view text) {
  Parsed<std::vector<facts::FstabEntry>> parsed;
  Lines lines(text, parsed.notes);
  std::string_view line;
  while (lines.next(line)) {
    const auto parts = base::fields(line);
    if (parts.empty() || parts[0].starts_with('#')) continue;
    if (const std::string why = fault(parts); !why.empty()) {
      add_note(parsed.notes, lines.number(), why);
      continue;
    }
    facts::FstabEntry& entry = parsed.facts.emplace_back();
    entry.line = static_cast<std::uint32_t>(lines.number());
    entry.source = base::octal_unescape(mask_source(parts[0]));
    entry.target = base::octal_unescape(parts[1]);
    entry.fs_type = std::string(parts[2]);
    entry.options_text = parts.size() > 3 ? facts::Fact<std::string>(base::octal_unescape(mask_options(parts[3])))
                                          : facts::Fact<std::string>::absent();
    // fstab(5): a field that is not there is 0.
    entry.dump = parts.size() > 4 ? *base::number<std::int64_t>(parts[4]) : 0;
    entry.pass = parts.size() > 5 ? *base::number<std::int64_t>(parts[5]) : 0;
  }
  return parsed;
}

void read_fstab(Reading& reading) {
  auto text = reading.file("/etc/fstab");
  facts::Config& config = reading.facts().config;
  if (!text) {
    if (text.error().kind == base::ErrorKind::absent)
      config.fstab = facts::Fact<std::vector<facts::FstabEntry>>::absent();
    return;
  }
  auto parsed = parse_fstab(*text);
  reading.note(parsed.notes);
  config.fstab = std::move(parsed.facts);
}

}  // namespace probes
