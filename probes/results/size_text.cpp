#include "probes/results/size_text.h"

#include <cctype>
#include <limits>
#include <string>

#include "audit/base/text.h"

namespace probes {

std::optional<std::uint64_t> parse_size(std::string_view text, bool fio_units) {
  std::size_t digits = 0;
  while (digits < text.size() && std::isdigit(static_cast<unsigned char>(text[digits])) != 0) ++digits;
  const auto value = base::number<std::uint64_t>(text.substr(0, digits));
  if (!value) return std::nullopt;
  std::string unit;
  for (const char c : text.substr(digits)) unit += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (unit.ends_with('b')) unit.pop_back();
  const bool marked = unit.size() == 2 && unit[1] == 'i';
  if (marked) unit.pop_back();
  if (unit.size() > 1 || (unit.empty() && marked)) return std::nullopt;
  const std::size_t power = unit.empty() ? 0 : std::string_view("kmgtp").find(unit[0]) + 1;
  if (!unit.empty() && power == 0) return std::nullopt;
  std::uint64_t factor = 1;
  for (std::size_t i = 0; i < power; ++i) factor *= marked && fio_units ? 1000 : 1024;
  if (*value > std::numeric_limits<std::uint64_t>::max() / factor) return std::nullopt;
  return *value * factor;
}

}  // namespace probes
