#include "probes/host/scrub.h"

#include <cctype>

#include "audit/base/text.h"

namespace probes {

namespace {

bool is_key_char(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '.';
}

}  // namespace

bool is_secret_key(std::string_view key) {
  std::string low;
  for (const char c : key)
    if (c != '_' && c != '-' && c != '.') low += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (const char* word :
       {"password", "passwd", "secret", "token", "credential", "uniqueid", "privatekey", "authorization"})
    if (low.find(word) != std::string::npos) return true;
  return low == "pass" || low == "pw";
}

std::string scrub(std::string_view text) {
  std::string out;
  std::size_t i = 0;
  while (i < text.size()) {
    const char c = text[i];
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
      if (!out.empty() && out.back() != ' ') out += ' ';
      ++i;
      continue;
    }
    if (!is_key_char(c)) {
      out += c;
      ++i;
      continue;
    }
    std::size_t end = i;
    while (end < text.size() && is_key_char(text[end])) ++end;
    const std::string_view word = text.substr(i, end - i);
    out += word;
    i = end;
    if (!is_secret_key(word)) continue;
    // The separator: = or :, with a closing quote of the key before and blanks around it.
    std::size_t at = end;
    if (at < text.size() && (text[at] == '"' || text[at] == '\'')) ++at;
    while (at < text.size() && text[at] == ' ') ++at;
    if (at >= text.size() || (text[at] != '=' && text[at] != ':')) continue;
    ++at;
    while (at < text.size() && text[at] == ' ') ++at;
    if (at >= text.size()) continue;
    out += text.substr(end, at - end);
    std::size_t stop = at;
    if (text[at] == '"' || text[at] == '\'') {
      stop = text.find(text[at], at + 1);
      stop = stop == std::string_view::npos ? text.size() : stop + 1;
    } else {
      while (stop < text.size() && std::string_view(" \t\r\n,;}'\"").find(text[stop]) == std::string_view::npos) ++stop;
      // "Authorization: Bearer VALUE": the scheme is no secret, the word behind it is
      if (text.substr(at, stop - at) == "Bearer" || text.substr(at, stop - at) == "Basic") {
        while (stop < text.size() && text[stop] == ' ') ++stop;
        while (stop < text.size() && text[stop] != ' ') ++stop;
      }
    }
    out += "***";
    i = stop;
  }
  while (!out.empty() && out.back() == ' ') out.pop_back();
  return out;
}

std::string scrub_lines(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  std::string_view line;
  while (base::next_line(text, line)) {
    const auto start = line.find_first_not_of(" \t");
    if (start != std::string_view::npos) {
      out += line.substr(0, start);
      out += scrub(line.substr(start));
    }
    out += '\n';
  }
  return out;
}

std::string scrub_short(std::string_view text, int columns) {
  // Scrubbed before it is cut: a cut must not part a key from its value. A monstrous line is cut first, at its end.
  constexpr std::size_t most = 8192;
  std::string clean = scrub(text.substr(0, most));
  std::size_t bytes = static_cast<std::size_t>(columns);
  return clean.size() <= bytes ? clean : base::shorten(clean, columns);
}

}  // namespace probes
