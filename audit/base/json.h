// The bridge to Boost.JSON: strict parsing with a place in errors, and a small streaming writer (a document of 20,000
// mounts is never held as a tree).
#pragma once

#include <boost/json/fwd.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "audit/base/result.h"

namespace base {

// RFC 8259, one document, depth at most 64. Refused with "where:line:column": anything else, a number that is not
// finite (1e400), and a duplicate key.
Result<boost::json::value> parse_json(std::string_view text, const std::string& where);

std::string json_quote(std::string_view text);  // invalid UTF-8 becomes U+FFFD: the document stays valid

// Writes as it is told; indentation of two blanks, or none at all (one line).
class JsonWriter {
 public:
  enum class Style : std::uint8_t { pretty, line };
  explicit JsonWriter(Style style = Style::pretty) : style_(style) {}

  void begin_object();
  void end_object();
  void begin_array();
  void end_array();
  void key(std::string_view name);
  void text(std::string_view value);
  void boolean(bool value);
  void number(std::int64_t value);
  void number(std::uint64_t value);
  void number(double value);  // shortest that reads back the same; not finite: null
  void null();

  const std::string& str() const { return out_; }
  std::string take() { return std::move(out_); }

 private:
  void before_value();
  void newline();
  void begin(char open);
  void end(char close);

  Style style_;
  std::string out_;
  std::vector<bool> has_items_;  // one per open object or array
  bool after_key_ = false;
};

}  // namespace base
