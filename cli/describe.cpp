#include "cli/describe.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "audit/base/text.h"

namespace cli {

namespace {

constexpr int key_columns = 13;  // where the texts begin

}  // namespace

std::string time_text(double us) {
  if (us >= 1000000) return fmt::format("{:.1f} s", us / 1000000);
  return us >= 1000 ? fmt::format("{:.1f} ms", us / 1000) : fmt::format("{:.0f} us", us);
}

std::string size_text(std::uint64_t bytes) {
  static constexpr std::array<const char*, 5> units{"bytes", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  auto size = static_cast<double>(bytes);
  while (size >= 1024 && unit + 1 < units.size()) {
    size /= 1024;
    ++unit;
  }
  const bool whole = size == std::floor(size);
  return fmt::format("{:.{}f} {}", size, whole ? 0 : 1, units[unit]);
}

std::string listed(std::vector<std::string> parts, std::string_view by) {
  std::erase(parts, "");
  return base::join(parts, by);
}

void add_line(std::string& out, std::string_view key, const std::string& text, int width) {
  if (text.empty()) return;
  bool first = true;
  for (const auto& line : base::wrap(base::escape_control(text), std::max(20, width - key_columns))) {
    out += base::pad_right(first ? fmt::format("  {}", key) : "", key_columns) + line + "\n";
    first = false;
  }
}

}  // namespace cli
