#include "probes/host/log_line.h"

#include <fmt/format.h>

#include <array>
#include <cctype>
#include <chrono>

#include "audit/base/text.h"

namespace probes {

namespace {

// A view from which pieces are taken off the front. Every take_ either succeeds and moves on, or leaves all as it was.
struct Cursor {
  std::string_view rest;

  bool take(char c) {
    if (rest.empty() || rest.front() != c) return false;
    rest.remove_prefix(1);
    return true;
  }
  void skip_blanks() {
    while (!rest.empty() && (rest.front() == ' ' || rest.front() == '\t')) rest.remove_prefix(1);
  }
  std::optional<int> take_number(std::size_t least, std::size_t most) {
    std::size_t n = 0;
    while (n < rest.size() && n < most && std::isdigit(static_cast<unsigned char>(rest[n])) != 0) ++n;
    if (n < least) return std::nullopt;
    const auto value = base::number<int>(rest.substr(0, n));
    rest.remove_prefix(n);
    return value;
  }
  std::string_view take_word() {
    std::size_t n = 0;
    while (n < rest.size() && rest[n] != ' ' && rest[n] != '\t') ++n;
    const auto word = rest.substr(0, n);
    rest.remove_prefix(n);
    return word;
  }
};

constexpr std::array<std::string_view, 12> months = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
constexpr std::array<std::string_view, 7> days = {"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"};

int month_of(std::string_view word) {
  for (std::size_t i = 0; i < months.size(); ++i)
    if (word == months[i]) return static_cast<int>(i) + 1;
  return 0;
}
bool is_day(std::string_view word) {
  for (const auto day : days)
    if (word == day) return true;
  return false;
}

struct TimeOfDay {
  int hour = 0, minute = 0, second = 0;
  std::string_view fraction;  // with its point
  double seconds() const {
    return hour * 3600.0 + minute * 60.0 + second + (fraction.empty() ? 0.0 : base::real(fraction).value_or(0.0));
  }
};

// HH:MM:SS with an optional fraction.
std::optional<TimeOfDay> take_time(Cursor& cursor) {
  Cursor c = cursor;
  TimeOfDay time;
  const auto h = c.take_number(2, 2);
  if (!h || *h > 23 || !c.take(':')) return std::nullopt;
  const auto m = c.take_number(2, 2);
  if (!m || *m > 59 || !c.take(':')) return std::nullopt;
  const auto s = c.take_number(2, 2);
  if (!s || *s > 60) return std::nullopt;
  time.hour = *h;
  time.minute = *m;
  time.second = *s;
  if (c.rest.size() > 1 && (c.rest[0] == '.' || c.rest[0] == ',') &&
      std::isdigit(static_cast<unsigned char>(c.rest[1])) != 0) {
    std::size_t n = 1;
    while (n < c.rest.size() && n < 10 && std::isdigit(static_cast<unsigned char>(c.rest[n])) != 0) ++n;
    if (c.rest[0] == '.') time.fraction = c.rest.substr(0, n);
    c.rest.remove_prefix(n);
  }
  cursor = c;
  return time;
}

// Z, +02:00, +0200 as written in RFC 3339; empty: none.
std::string take_offset(Cursor& cursor) {
  Cursor c = cursor;
  if (c.take('Z')) {
    cursor = c;
    return "Z";
  }
  if (c.rest.empty() || (c.rest[0] != '+' && c.rest[0] != '-')) return {};
  const char sign = c.rest[0];
  c.rest.remove_prefix(1);
  const auto h = c.take_number(2, 2);
  c.take(':');
  const auto m = c.take_number(2, 2);
  if (!h || !m) return {};
  cursor = c;
  return fmt::format("{}{:02}:{:02}", sign, *h, *m);
}

std::optional<double> day_seconds(int year, int month, int day) {
  const std::chrono::year_month_day date{std::chrono::year{year}, std::chrono::month{static_cast<unsigned>(month)},
                                         std::chrono::day{static_cast<unsigned>(day)}};
  if (!date.ok()) return std::nullopt;
  return static_cast<double>(std::chrono::sys_days{date}.time_since_epoch().count()) * 86400.0;
}

bool set_date(LogLine& line, int year, int month, int day, const TimeOfDay& time, const std::string& offset) {
  const auto base_s = day_seconds(year, month, day);
  if (!base_s) return false;
  line.at = fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}{}{}", year, month, day, time.hour, time.minute,
                        time.second, time.fraction, offset);
  line.wall_s = *base_s + time.seconds();
  line.has_year = true;
  if (offset.size() == 6) {
    const double shift = base::number<int>(offset.substr(1, 2)).value_or(0) * 3600.0 +
                         base::number<int>(offset.substr(4, 2)).value_or(0) * 60.0;
    *line.wall_s += offset[0] == '+' ? -shift : shift;
  }
  return true;
}

// "Jul 13 15:28:51"; the year is not named, a leap one lets 29 February pass.
bool set_yearless(LogLine& line, int month, int day, const TimeOfDay& time) {
  const auto base_s = day_seconds(1972, month, day);
  if (!base_s) return false;
  line.at = fmt::format("{} {:2} {:02}:{:02}:{:02}{}", months[static_cast<std::size_t>(month) - 1], day, time.hour,
                        time.minute, time.second, time.fraction);
  line.wall_s = *base_s + time.seconds();
  return true;
}

// YYYY-MM-DD, then T or a blank, then the time.
bool take_iso(Cursor& cursor, LogLine& line) {
  Cursor c = cursor;
  const auto year = c.take_number(4, 4);
  if (!year || !c.take('-')) return false;
  const auto month = c.take_number(2, 2);
  if (!month || !c.take('-')) return false;
  const auto day = c.take_number(2, 2);
  if (!day || !(c.take('T') || c.take(' '))) return false;
  const auto time = take_time(c);
  if (!time || !set_date(line, *year, *month, *day, *time, take_offset(c))) return false;
  cursor = c;
  return true;
}

// "Jul 13 15:28:51", also "Jul 13 15:28:51 2020" as dmesg -T has it.
bool take_month_first(Cursor& cursor, LogLine& line, bool year_follows) {
  Cursor c = cursor;
  const int month = month_of(c.take_word());
  if (month == 0) return false;
  c.skip_blanks();
  const auto day = c.take_number(1, 2);
  if (!day) return false;
  c.skip_blanks();
  const auto time = take_time(c);
  if (!time) return false;
  if (year_follows) {
    c.skip_blanks();
    const auto year = c.take_number(4, 4);
    if (!year || !set_date(line, *year, month, *day, *time, {})) return false;
  } else if (!set_yearless(line, month, *day, *time)) {
    return false;
  }
  cursor = c;
  return true;
}

// "[  123.456789] ", with the caller "[    T12]" behind it or without, or "[Mon Jul 13 15:28:51 2020] ".
bool take_brackets(Cursor& cursor, LogLine& line) {
  Cursor c = cursor;
  if (!c.take('[')) return false;
  const std::size_t close = c.rest.find(']');
  if (close == std::string_view::npos || close > 40) return false;
  const std::string_view inside = base::trim(c.rest.substr(0, close));
  c.rest.remove_prefix(close + 1);
  if (inside.empty()) return false;
  if (std::isdigit(static_cast<unsigned char>(inside[0])) != 0) {
    if (inside.find('.') == std::string_view::npos || inside.find_first_not_of("0123456789.") != std::string_view::npos)
      return false;
    const auto seconds = base::real(inside);
    if (!seconds) return false;
    line.boot_s = *seconds;
  } else {
    Cursor date{inside};
    if (!is_day(date.take_word())) return false;
    date.skip_blanks();
    if (!take_month_first(date, line, true)) return false;
  }
  Cursor caller = c;
  caller.skip_blanks();
  if (caller.take('[')) {
    caller.skip_blanks();
    if ((caller.take('T') || caller.take('C')) && caller.take_number(1, 10) && caller.take(']')) c = caller;
  }
  c.take(' ');
  cursor = c;
  return true;
}

// "6,1234,5678901,-;message"
bool take_kmsg(Cursor& cursor, LogLine& line) {
  const std::size_t semicolon = cursor.rest.find(';');
  if (semicolon == std::string_view::npos || semicolon > 80) return false;
  const auto parts = base::split(cursor.rest.substr(0, semicolon), ',');
  if (parts.size() < 4 || !base::number<unsigned>(parts[0]) || !base::number<std::uint64_t>(parts[1])) return false;
  const auto microseconds = base::number<std::uint64_t>(parts[2]);
  if (!microseconds) return false;
  line.boot_s = static_cast<double>(*microseconds) / 1e6;
  cursor.rest.remove_prefix(semicolon + 1);
  return true;
}

// "19/06/2023 15:52:50 : epoch 03c5d313 : node1 : ganesha.nfsd-1[thread] message"
bool take_ganesha(Cursor& cursor, LogLine& line) {
  Cursor c = cursor;
  const auto day = c.take_number(2, 2);
  if (!day || !c.take('/')) return false;
  const auto month = c.take_number(2, 2);
  if (!month || !c.take('/')) return false;
  const auto year = c.take_number(4, 4);
  if (!year) return false;
  c.skip_blanks();
  const auto time = take_time(c);
  if (!time || !set_date(line, *year, *month, *day, *time, {})) return false;
  c.skip_blanks();
  if (c.rest.starts_with(": epoch ")) {
    c.rest.remove_prefix(8);
    c.take_word();
    c.skip_blanks();
    if (c.take(':')) {
      c.skip_blanks();
      line.host = std::string(c.take_word());
      c.skip_blanks();
      c.take(':');
      c.skip_blanks();
      const auto program = c.take_word();
      line.program = std::string(program.substr(0, program.find('[')));
      c.skip_blanks();
    }
  }
  cursor = c;
  return true;
}

// "I0713 15:28:51.123456    1234 mount.go:12] message" (klog)
bool take_klog(Cursor& cursor, LogLine& line) {
  Cursor c = cursor;
  if (!(c.take('I') || c.take('W') || c.take('E') || c.take('F'))) return false;
  const auto month = c.take_number(2, 2);
  const auto day = month ? c.take_number(2, 2) : std::nullopt;
  if (!day || !c.take(' ')) return false;
  const auto time = take_time(c);
  if (!time || *month < 1 || *month > 12 || !set_yearless(line, *month, *day, *time)) return false;
  const std::size_t close = c.rest.find("] ");
  if (close == std::string_view::npos || close > 120) return false;
  c.rest.remove_prefix(close + 2);
  cursor = c;
  return true;
}

bool is_tag_char(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '.' || c == '/' || c == '(' ||
         c == ')' || c == '@';
}

// "program[123]: " or, where a tag has to come, "program: ".
void take_tag(Cursor& cursor, LogLine& line, bool needs_pid) {
  Cursor c = cursor;
  std::size_t n = 0;
  while (n < c.rest.size() && n < 64 && is_tag_char(c.rest[n])) ++n;
  if (n == 0) return;
  const auto name = c.rest.substr(0, n);
  c.rest.remove_prefix(n);
  bool pid = false;
  if (c.take('[')) {
    pid = c.take_number(1, 10).has_value() && c.take(']');
    if (!pid) return;
  }
  if ((needs_pid && !pid) || !c.take(':')) return;
  c.take(' ');
  line.program = std::string(name);
  cursor = c;
}

}  // namespace

LogLine parse_log_line(std::string_view text) {
  LogLine line;
  Cursor c{text};
  c.skip_blanks();
  // "<6>": the level, as syslog(2) gives it
  if (!c.rest.empty() && c.rest[0] == '<') {
    Cursor level = c;
    level.take('<');
    if (level.take_number(1, 3) && level.take('>')) c = level;
  }
  // journalctl -o short-full: the day of the week comes first
  Cursor after_day = c;
  const bool day = is_day(after_day.take_word());
  if (day) after_day.skip_blanks();

  if (take_brackets(c, line)) {
    line.program = "kernel";
  } else if (take_kmsg(c, line)) {
    line.program = "kernel";
  } else if (take_ganesha(c, line) || take_klog(c, line)) {
    // all said
  } else if (take_iso(day ? after_day : c, line)) {
    if (day) {
      c = after_day;
      c.skip_blanks();
      c.take_word();  // zone name
    }
    c.skip_blanks();
    line.host = std::string(c.take_word());
    c.skip_blanks();
    take_tag(c, line, false);
  } else if (take_month_first(c, line, false)) {
    c.skip_blanks();
    line.host = std::string(c.take_word());
    c.skip_blanks();
    take_tag(c, line, false);
  } else {
    take_tag(c, line, true);
  }
  if (line.host.has_value() && line.host->empty()) line.host = {};
  // "kernel: [  855.971272] message": both stamps
  if (line.program.is("kernel") && !line.boot_s.has_value()) take_brackets(c, line);
  line.message = base::trim(c.rest);
  return line;
}

std::optional<std::string> add_seconds(std::string_view at, unsigned seconds) {
  LogLine line;
  Cursor c{at};
  if (!take_iso(c, line) || !line.has_year) return std::nullopt;
  Cursor again{at};
  again.rest.remove_prefix(19);
  const std::size_t fraction = again.rest.find_first_not_of(".0123456789");
  const auto offset = fraction == std::string_view::npos ? std::string_view{} : again.rest.substr(fraction);
  // Reckoned on the local clock that the text shows, so that the offset stays as it is.
  LogLine local;
  Cursor bare{at.substr(0, 19)};
  take_iso(bare, local);
  const auto total = static_cast<std::int64_t>(*local.wall_s) + seconds;
  const std::chrono::sys_seconds when{std::chrono::seconds{total}};
  const auto date = std::chrono::floor<std::chrono::days>(when);
  const std::chrono::year_month_day ymd{date};
  const std::chrono::hh_mm_ss time{when - date};
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}{}", static_cast<int>(ymd.year()),
                     static_cast<unsigned>(ymd.month()), static_cast<unsigned>(ymd.day()), time.hours().count(),
                     time.minutes().count(), time.seconds().count(), offset);
}

}  // namespace probes
