#include "audit/base/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <charconv>
#include <cmath>
#include <functional>
#include <optional>
#include <set>

#include "audit/base/text.h"

namespace base {

namespace json = boost::json;

namespace {

std::string place(const std::string& where, std::string_view text, std::size_t at) {
  const auto before = text.substr(0, std::min(at, text.size()));
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const auto start = before.rfind('\n');
  const auto column = before.size() - (start == std::string_view::npos ? 0 : start + 1) + 1;
  return fmt::format("{}:{}:{}", where, line, column);
}

// Boost.JSON keeps the last of two equal keys and reads 1e400 as Infinity: the finished tree is checked for the one,
// the text for the other.
bool finite(const json::value& value) {
  if (value.is_double()) return std::isfinite(value.get_double());
  if (value.is_array()) return std::all_of(value.get_array().begin(), value.get_array().end(), finite);
  if (value.is_object())
    return std::all_of(value.get_object().begin(), value.get_object().end(),
                       [](const auto& kv) { return finite(kv.value()); });
  return true;
}

// Walks a text that is known to be valid JSON and finds the first repeated key of one object.
std::optional<std::size_t> duplicate_key(std::string_view text) {
  std::vector<std::set<std::string, std::less<>>> open;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '{' || c == '[') {
      open.emplace_back();
    } else if (c == '}' || c == ']') {
      open.pop_back();
    } else if (c == '"') {
      const std::size_t from = i;
      for (++i; text[i] != '"'; ++i) {
        if (text[i] == '\\') ++i;
      }
      std::size_t after = i + 1;
      while (after < text.size() &&
             (text[after] == ' ' || text[after] == '\t' || text[after] == '\n' || text[after] == '\r'))
        ++after;
      if (after < text.size() && text[after] == ':') {
        const auto raw = text.substr(from, i - from + 1);
        std::string name(raw.substr(1, raw.size() - 2));
        if (raw.find('\\') != std::string_view::npos) name = json::parse(raw).as_string().c_str();
        if (!open.back().insert(std::move(name)).second) return from;
      }
    }
  }
  return std::nullopt;
}

}  // namespace

Result<json::value> parse_json(std::string_view text, const std::string& where, Duplicates duplicates) {
  json::parse_options options;
  options.max_depth = 64;
  json::stream_parser parser({}, options);
  json::error_code error;
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  const std::size_t used = parser.write_some(text.data(), text.size(), error);
  if (error) return fail(ErrorKind::malformed, place(where, text, used), "not valid JSON: " + error.message());
  if (!parser.done())
    return fail(ErrorKind::malformed, place(where, text, text.size()), "not valid JSON: the text ends in the middle");
  const auto rest = trim(text.substr(used));
  if (!rest.empty())
    return fail(ErrorKind::malformed, place(where, text, used), "not valid JSON: something follows the document");
  json::value value = parser.release();
  if (!finite(value)) return fail(ErrorKind::malformed, where, "not valid JSON: a number is too large");
  if (const auto at = duplicates == Duplicates::refuse ? duplicate_key(text) : std::nullopt)
    return fail(ErrorKind::malformed, place(where, text, *at), "a key stands twice in one object");
  return value;
}

namespace {

// Printable ASCII that JSON takes as it is.
bool needs_no_escape(std::string_view text) {
  bool plain = true;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    plain = plain & (byte >= 0x20) & (byte < 0x7f) & (byte != '"') & (byte != '\\');  // no branch: many bytes at once
  }
  return plain;
}

void quote_into(std::string& out, std::string_view text) {
  out += '"';
  if (needs_no_escape(text)) {
    out += text;
    out += '"';
    return;
  }
  static constexpr std::string_view hex = "0123456789abcdef";
  for (std::size_t i = 0; i < text.size();) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += static_cast<char>(c);
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (c < 0x20 || c == 0x7f) {
      out += "\\u00";
      out += hex[c >> 4U];
      out += hex[c & 15U];
    } else if (c < 0x80) {
      out += static_cast<char>(c);
    } else {
      const std::size_t length = utf8_length(text.substr(i));
      const auto character = text.substr(i, length);
      if (length == 0) {
        out += "\xef\xbf\xbd";
      } else if (length <= 3 && escape_control(character) != character) {  // C1, bidi overrides: below U+10000, \uXXXX
        unsigned code = length == 2 ? c & 0x1fU : c & 0x0fU;
        for (const char next : character.substr(1)) code = code << 6U | (static_cast<unsigned char>(next) & 0x3fU);
        out += fmt::format("\\u{:04x}", code);
        i += length;
        continue;
      } else {
        out.append(text.substr(i, length));
        i += length;
        continue;
      }
    }
    ++i;
  }
  out += '"';
}

constexpr std::size_t piece_bytes = 64 * 1024;

template <class Number>
void append_number(std::string& out, Number value) {
  std::array<char, 24> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  out.append(digits.data(), static_cast<std::size_t>(end - digits.data()));
}

}  // namespace

std::string json_quote(std::string_view text) {
  std::string out;
  quote_into(out, text);
  return out;
}

void JsonWriter::flush() {
  if (!sink_) return;
  sink_(out_);
  out_.clear();
}

void JsonWriter::newline() {
  if (style_ == Style::line) return;
  out_ += '\n';
  out_.append(2 * has_items_.size(), ' ');
}

void JsonWriter::before_value() {
  if (after_key_) {
    after_key_ = false;
    return;
  }
  if (has_items_.empty()) return;
  if (has_items_.back() != 0) out_ += ',';
  has_items_.back() = 1;
  newline();
}

void JsonWriter::begin(char open) {
  before_value();
  out_ += open;
  has_items_.push_back(0);
}

void JsonWriter::end(char close) {
  const bool had = has_items_.back() != 0;
  has_items_.pop_back();
  if (had) newline();
  out_ += close;
  if (sink_ && out_.size() >= piece_bytes) flush();
}

void JsonWriter::begin_object() { begin('{'); }
void JsonWriter::end_object() { end('}'); }
void JsonWriter::begin_array() { begin('['); }
void JsonWriter::end_array() { end(']'); }

void JsonWriter::key(std::string_view name) {
  if (has_items_.back() != 0) out_ += ',';
  has_items_.back() = 1;
  newline();
  quote_into(out_, name);
  out_ += style_ == Style::pretty ? ": " : ":";
  after_key_ = true;
}

std::string JsonWriter::prepare_key(std::string_view name) const {
  JsonWriter like(style_);
  like.has_items_ = has_items_;
  like.has_items_.back() = 1;
  like.key(name);
  return like.take();
}

void JsonWriter::prepared_key(std::string_view prepared) {
  out_ += prepared.substr(has_items_.back() != 0 ? 0 : 1);  // without the comma
  has_items_.back() = 1;
  after_key_ = true;
}

void JsonWriter::text(std::string_view value) {
  before_value();
  quote_into(out_, value);
}
void JsonWriter::boolean(bool value) {
  before_value();
  out_ += value ? "true" : "false";
}
void JsonWriter::number(std::int64_t value) {
  before_value();
  append_number(out_, value);
}
void JsonWriter::number(std::uint64_t value) {
  before_value();
  append_number(out_, value);
}
void JsonWriter::number(double value) {
  if (!std::isfinite(value)) return null();
  before_value();
  fmt::format_to(std::back_inserter(out_), "{}", value);
}
void JsonWriter::null() {
  before_value();
  out_ += "null";
}

}  // namespace base
