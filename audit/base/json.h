// The bridge to Boost.JSON: strict parsing with a place in errors, and a small streaming writer (a document of 20,000
// mounts is never held as a tree).
#pragma once

#include <boost/json/fwd.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "audit/base/result.h"

namespace base {

// RFC 8259, one document, depth at most 64. Refused with "where:line:column": anything else, a number that is not
// finite (1e400), and a duplicate key, unless the writer of the text is known to write some.
enum class Duplicates : std::uint8_t { refuse, keep_last };
Result<boost::json::value> parse_json(std::string_view text, const std::string& where,
                                      Duplicates duplicates = Duplicates::refuse);

std::string json_quote(std::string_view text);  // invalid UTF-8 becomes U+FFFD: the document stays valid

// Takes a piece of a text that is too long to be held in one.
using Sink = std::function<void(std::string_view)>;

// Writes as it is told; indentation of two blanks, or none at all (one line). With a sink the text goes there in pieces
// of some 64 KiB, the last one with flush(); without one it is kept for str() and take().
class JsonWriter {
 public:
  enum class Style : std::uint8_t { pretty, line };
  explicit JsonWriter(Style style = Style::pretty) : style_(style) {}
  explicit JsonWriter(Sink sink, Style style = Style::pretty) : style_(style), sink_(std::move(sink)) {}

  void begin_object();
  void end_object();
  void begin_array();
  void end_array();
  void key(std::string_view name);
  // The same in one piece that was made before, for objects that are written by the thousand: what key() writes at
  // this depth for every key but the first of an object.
  std::string prepare_key(std::string_view name) const;
  void prepared_key(std::string_view prepared);
  void text(std::string_view value);
  void boolean(bool value);
  void number(std::int64_t value);
  void number(std::uint64_t value);
  void number(double value);  // shortest that reads back the same; not finite: null
  void null();

  std::size_t depth() const { return has_items_.size(); }  // open objects and arrays
  Style style() const { return style_; }

  const std::string& str() const { return out_; }
  std::string take() { return std::move(out_); }
  void raw(std::string_view text) { out_ += text; }  // behind a whole document: the end of the line
  void flush();

 private:
  void before_value();
  void newline();
  void begin(char open);
  void end(char close);

  Style style_;
  Sink sink_;
  std::string out_;
  std::vector<char> has_items_;  // one per open object or array; no vector<bool>, whose bits cost more than they save
  bool after_key_ = false;
};

}  // namespace base
