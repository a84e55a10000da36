#include "audit/base/text.h"

#include <nettle/sha2.h>
#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace base {

namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\v' || c == '\f'; }

struct Rune {
  std::int32_t code = -1;  // -1: this byte is not UTF-8
  std::size_t bytes = 1;
};

Rune next_rune(std::string_view text) {
  utf8proc_int32_t code = -1;
  const auto got = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                    static_cast<utf8proc_ssize_t>(std::min<std::size_t>(text.size(), 4)), &code);
  if (got <= 0) return {};
  return {code, static_cast<std::size_t>(got)};
}

int rune_width(std::int32_t code) { return code < 0 ? 1 : std::max(0, utf8proc_charwidth(code)); }

bool is_control(std::int32_t code) {
  return code < 0x20 || (code >= 0x7f && code < 0xa0) || (code >= 0x200b && code <= 0x200f) ||
         (code >= 0x2028 && code <= 0x202e) || (code >= 0x2060 && code <= 0x206f) || code == 0xfeff;
}

bool is_octal(char c) { return c >= '0' && c <= '7'; }

// Printable ASCII and nothing else, as nearly every text is: one column a byte, nothing to escape.
bool is_plain(std::string_view text) {
  bool plain = true;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    plain = plain & (byte >= 0x20) & (byte < 0x7f);  // no branch: many bytes at once
  }
  return plain;
}

}  // namespace

std::string_view trim(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

std::vector<std::string_view> fields(std::string_view line) {
  std::vector<std::string_view> out;
  std::size_t at = 0;
  while (at < line.size()) {
    while (at < line.size() && is_blank(line[at])) ++at;
    const std::size_t from = at;
    while (at < line.size() && !is_blank(line[at])) ++at;
    if (at > from) out.push_back(line.substr(from, at - from));
  }
  return out;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> out;
  for (;;) {
    const auto at = text.find(separator);
    out.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return out;
    text.remove_prefix(at + 1);
  }
}

bool next_line(std::string_view& rest, std::string_view& line) {
  if (rest.empty()) return false;
  const auto at = rest.find('\n');
  line = rest.substr(0, at);
  rest.remove_prefix(at == std::string_view::npos ? rest.size() : at + 1);
  return true;
}

std::optional<double> real(std::string_view text) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stop != end || text.empty() || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::string octal_unescape(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 3 < text.size() && text[i + 1] >= '0' && text[i + 1] <= '3' && is_octal(text[i + 2]) &&
        is_octal(text[i + 3])) {
      out += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + (text[i + 3] - '0'));
      i += 3;
    } else {
      out += text[i];
    }
  }
  return out;
}

std::string escape_control(std::string_view text) {
  if (is_plain(text)) return std::string(text);
  static constexpr std::string_view hex = "0123456789abcdef";
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    const unsigned char byte = static_cast<unsigned char>(text[i]);
    const Rune rune = byte < 0x80 ? Rune{byte, 1} : next_rune(text.substr(i));
    if (rune.code >= 0 && !is_control(rune.code)) {
      out.append(text.substr(i, rune.bytes));
    } else if (rune.code == '\n') {
      out += "\\n";
    } else if (rune.code == '\t') {
      out += "\\t";
    } else if (rune.code == '\r') {
      out += "\\r";
    } else {
      for (std::size_t k = 0; k < rune.bytes; ++k) {
        const auto b = static_cast<unsigned char>(text[i + k]);
        out += "\\x";
        out += hex[b >> 4U];
        out += hex[b & 15U];
      }
    }
    i += rune.bytes;
  }
  return out;
}

std::size_t utf8_length(std::string_view text) {
  const Rune rune = text.empty() ? Rune{} : next_rune(text);
  return rune.code < 0 ? 0 : rune.bytes;
}

int display_width(std::string_view utf8) {
  if (is_plain(utf8)) return static_cast<int>(utf8.size());
  int width = 0;
  for (std::size_t i = 0; i < utf8.size();) {
    const Rune rune = next_rune(utf8.substr(i));
    width += rune_width(rune.code);
    i += rune.bytes;
  }
  return width;
}

std::string pad_right(std::string_view utf8, int columns) {
  std::string out(utf8);
  const int width = display_width(utf8);
  if (width < columns) out.append(static_cast<std::size_t>(columns - width), ' ');
  return out;
}

std::string shorten(std::string_view utf8, int columns) {
  if (display_width(utf8) <= columns) return std::string(utf8);
  const int room = std::max(0, columns - 3);
  int width = 0;
  std::size_t i = 0;
  while (i < utf8.size()) {
    const Rune rune = next_rune(utf8.substr(i));
    if (width + rune_width(rune.code) > room) break;
    width += rune_width(rune.code);
    i += rune.bytes;
  }
  return std::string(utf8.substr(0, i)) + std::string("...").substr(0, static_cast<std::size_t>(std::min(3, columns)));
}

std::vector<std::string> wrap(std::string_view utf8, int columns) {
  std::vector<std::string> lines;
  std::string line;
  int line_width = 0;
  std::string word;  // what may not be broken: up to the next blank or wide character
  int word_width = 0;
  bool blank_before = false;
  const auto flush = [&] {
    if (word.empty()) return;
    const int need = word_width + (blank_before && !line.empty() ? 1 : 0);
    if (!line.empty() && line_width + need > columns) {
      lines.push_back(line);
      line.clear();
      line_width = 0;
    } else if (blank_before && !line.empty()) {
      line += ' ';
      ++line_width;
    }
    line += word;
    line_width += word_width;
    word.clear();
    word_width = 0;
    blank_before = false;
  };
  for (std::size_t i = 0; i < utf8.size();) {
    const Rune rune = next_rune(utf8.substr(i));
    const auto bytes = utf8.substr(i, rune.bytes);
    i += rune.bytes;
    if (bytes == "\n") {
      flush();
      lines.push_back(line);
      line.clear();
      line_width = 0;
      blank_before = false;
      continue;
    }
    if (bytes == " ") {
      flush();
      blank_before = true;
      continue;
    }
    const int width = rune_width(rune.code);
    if (width == 2) flush();
    word += bytes;
    word_width += width;
    if (width == 2) flush();
  }
  flush();
  if (!line.empty() || lines.empty()) lines.push_back(line);
  return lines;
}

bool glob_match(std::string_view pattern, std::string_view text) {
  std::size_t p = 0;
  std::size_t t = 0;
  std::size_t star = std::string_view::npos;
  std::size_t star_text = 0;
  // One [..] at pattern[p]; sets `after` to the place behind it. A '[' without ']' is an ordinary character.
  const auto bracket = [&](char c, std::size_t& after) {
    std::size_t i = p + 1;
    const bool inverse = i < pattern.size() && (pattern[i] == '!' || pattern[i] == '^');
    if (inverse) ++i;
    bool hit = false;
    const std::size_t first = i;
    for (; i < pattern.size() && (pattern[i] != ']' || i == first); ++i) {
      if (i + 2 < pattern.size() && pattern[i + 1] == '-' && pattern[i + 2] != ']') {
        hit = hit || (c >= pattern[i] && c <= pattern[i + 2]);
        i += 2;
      } else {
        hit = hit || c == pattern[i];
      }
    }
    if (i >= pattern.size()) {
      after = p + 1;
      return c == '[';
    }
    after = i + 1;
    return hit != inverse;
  };
  while (t < text.size()) {
    std::size_t after = p + 1;
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      star_text = t;
      continue;
    }
    const bool hit = p < pattern.size() &&
                     (pattern[p] == '?' || (pattern[p] == '[' ? bracket(text[t], after) : pattern[p] == text[t]));
    if (hit) {
      p = after;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++star_text;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& candidates) {
  std::optional<std::string> best;
  std::size_t best_edits = std::max<std::size_t>(2, word.size() / 3) + 1;
  for (const auto& candidate : candidates) {
    std::vector<std::size_t> row(candidate.size() + 1);
    for (std::size_t j = 0; j < row.size(); ++j) row[j] = j;
    for (std::size_t i = 1; i <= word.size(); ++i) {
      std::size_t diagonal = row[0];
      row[0] = i;
      for (std::size_t j = 1; j < row.size(); ++j) {
        const std::size_t up = row[j];
        row[j] = std::min({row[j] + 1, row[j - 1] + 1, diagonal + (word[i - 1] == candidate[j - 1] ? 0 : 1)});
        diagonal = up;
      }
    }
    if (row.back() < best_edits) {
      best_edits = row.back();
      best = candidate;
    }
  }
  return best;
}

std::string sha256_hex(std::string_view bytes) {
  sha256_ctx context;
  sha256_init(&context);
  sha256_update(&context, bytes.size(), reinterpret_cast<const std::uint8_t*>(bytes.data()));
  std::array<std::uint8_t, SHA256_DIGEST_SIZE> digest{};
  sha256_digest(&context, digest.size(), digest.data());
  static constexpr std::string_view hex = "0123456789abcdef";
  std::string out;
  for (const auto b : digest) {
    out += hex[b >> 4U];
    out += hex[b & 15U];
  }
  return out;
}

bool starts_with_path(std::string_view path, std::string_view prefix) {
  while (prefix.size() > 1 && prefix.ends_with('/')) prefix.remove_suffix(1);
  if (!path.starts_with(prefix)) return false;
  return path.size() == prefix.size() || prefix == "/" || path[prefix.size()] == '/';
}

std::string join(const std::vector<std::string>& parts, std::string_view separator) {
  std::string out;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) out += separator;
    out += parts[i];
  }
  return out;
}

}  // namespace base
