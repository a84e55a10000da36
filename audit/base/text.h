// Small tools for kernel and configuration text. All take views and return values; none throws.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace base {

std::string_view trim(std::string_view text);

// Fields divided by runs of blanks and tabs.
std::vector<std::string_view> fields(std::string_view line);

// Pieces divided by one separator; empty pieces are kept: "a,,b" has three.
std::vector<std::string_view> split(std::string_view text, char separator);

// Takes the next line (without its end) off `rest`. False when nothing is left. A last line without an end counts.
bool next_line(std::string_view& rest, std::string_view& line);

// The whole text as a number, or nothing: no sign for unsigned types, no blanks, no overflow.
template <class T>
std::optional<T> number(std::string_view text, int radix = 10) {
  T value{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value, radix);
  if (error != std::errc{} || stop != end || text.empty()) return std::nullopt;
  return value;
}
std::optional<double> real(std::string_view text);

// \040 \011 \012 \134 and every other \ooo as the kernel's seq_escape() writes them (fs/proc_namespace.c,
// fs/seq_file.c). Runs once, left to right: the result is never decoded a second time.
std::string octal_unescape(std::string_view text);

// Control characters, DEL, and bytes that are not UTF-8, as \n \t \x1b ...: one record stays one line, and a hostile
// name cannot move the cursor. C1 controls, bidi overrides and line separators count as control characters.
std::string escape_control(std::string_view text);

// Bytes of the UTF-8 character at the start, 0 when there is none.
std::size_t utf8_length(std::string_view text);

// Columns on a terminal: East Asian wide characters take two (Unicode TR11), combining ones none.
int display_width(std::string_view utf8);
std::string pad_right(std::string_view utf8, int columns);
// Cuts to so many columns, with "..." at the cut when there was something to cut.
std::string shorten(std::string_view utf8, int columns);
// Breaks at blanks (and between East Asian wide characters) so that no line is over `columns`, where that can be done.
std::vector<std::string> wrap(std::string_view utf8, int columns);

// Shell-like pattern: * ? [a-z] [!a]; * also matches '/'. Case counts.
bool glob_match(std::string_view pattern, std::string_view text);

// The candidate with the fewest edits, if it is near enough to be what was meant.
std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& candidates);

// Lower-case hex of SHA-256 (FIPS 180-4).
std::string sha256_hex(std::string_view bytes);

bool starts_with_path(std::string_view path, std::string_view prefix);  // by whole components
std::string join(const std::vector<std::string>& parts, std::string_view separator);

}  // namespace base
