#include "audit/base/instant.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>

#include "audit/base/text.h"

namespace base {

namespace chrono = std::chrono;

std::optional<double> epoch_of(std::string_view text) {
  if (text.size() < 20 || text[4] != '-' || text[7] != '-' || (text[10] != 'T' && text[10] != ' ') || text[13] != ':' ||
      text[16] != ':')
    return std::nullopt;
  const auto part = [&](std::size_t at, std::size_t size) { return number<unsigned>(text.substr(at, size)); };
  const auto year = part(0, 4), month = part(5, 2), day = part(8, 2), hour = part(11, 2), minute = part(14, 2);
  const std::size_t zone = text.find_first_of("Z+-", 17);
  if (zone == std::string_view::npos) return std::nullopt;
  const auto second = real(text.substr(17, zone - 17));
  if (!year || !month || !day || !hour || !minute || !second) return std::nullopt;
  const chrono::year_month_day date{chrono::year(static_cast<int>(*year)), chrono::month(*month), chrono::day(*day)};
  if (!date.ok()) return std::nullopt;
  double offset = 0;
  if (text[zone] != 'Z') {
    if (text.size() < zone + 6) return std::nullopt;
    const auto h = part(zone + 1, 2), m = part(zone + 4, 2);
    if (!h || !m) return std::nullopt;
    offset = (*h * 3600.0 + *m * 60.0) * (text[zone] == '-' ? -1 : 1);
  }
  const auto days = chrono::sys_days(date).time_since_epoch().count();
  return static_cast<double>(days) * 86400 + *hour * 3600.0 + *minute * 60.0 + *second - offset;
}

std::string rfc3339(double epoch) {
  const chrono::sys_seconds instant{chrono::seconds(std::llround(epoch))};
  const auto day = chrono::floor<chrono::days>(instant);
  const chrono::year_month_day date(day);
  const chrono::hh_mm_ss time(instant - day);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), time.hours().count(),
                     time.minutes().count(), time.seconds().count());
}

}  // namespace base
