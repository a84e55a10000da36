#include "audit/base/json.h"

#include <boost/json.hpp>
#include <catch2/catch.hpp>

using namespace base;

TEST_CASE("json: what is refused, and where") {
  struct Row {
    const char* text;
    const char* where;
  };
  const Row row = GENERATE(Row{"{\"a\":1,\n \"a\":2}", "f:2:2"}, Row{"{\"a\":1e400}", "f"}, Row{"{\"a\":", "f:1:6"},
                           Row{"{} x", "f:1:4"}, Row{"{\"\\u0061\":1,\"a\":2}", "f:1:13"}, Row{"", "f:1:1"},
                           Row{"{'a':1}", "f:1:2"});
  const auto parsed = parse_json(row.text, "f");
  REQUIRE_FALSE(parsed.has_value());
  CHECK(parsed.error().kind == ErrorKind::malformed);
  CHECK(parsed.error().where == row.where);
}

TEST_CASE("json: nesting without end is refused, equal keys in different objects are not") {
  CHECK_FALSE(parse_json(std::string(100000, '['), "f").has_value());
  CHECK(parse_json("{\"a\":{\"a\":[{\"a\":1},{\"a\":\"}\\\"{\"}]}}", "f").has_value());
}

TEST_CASE("json: the writer's text reads back, whatever the bytes") {
  JsonWriter out;
  out.begin_object();
  out.key("t\n\x01");
  out.text("a\"b\\\xff\xe6\x97\xa5\x7f");
  out.key("l");
  out.begin_array();
  out.number(std::uint64_t{18446744073709551615ULL});
  out.number(std::int64_t{-1});
  out.number(0.1);
  out.boolean(true);
  out.null();
  out.begin_object();
  out.end_object();
  out.end_array();
  out.end_object();
  const auto back = parse_json(out.str(), "f");
  REQUIRE(back.has_value());
  const auto& list = back->at("l").as_array();
  CHECK(list[0].as_uint64() == 18446744073709551615ULL);
  CHECK(list[2].as_double() == 0.1);
  CHECK(back->at("t\n\x01").as_string() == "a\"b\\\xef\xbf\xbd\xe6\x97\xa5\x7f");
}

TEST_CASE("json: what could move a cursor or turn text around is written as an escape and reads back the same") {
  const std::string text =
      "a\xc2\x9b"
      "b\xe2\x80\xae"
      "c\x1b[2J";
  CHECK(json_quote(text) == R"("a\u009bb\u202ec\u001b[2J")");
  const auto back = parse_json(json_quote(text), "f");
  REQUIRE(back.has_value());
  CHECK(std::string(back->as_string()) == text);
}

TEST_CASE("json: what goes to a sink in pieces is the text that is kept without one") {
  const auto write = [](JsonWriter& out) {
    out.begin_array();
    for (int i = 0; i < 3000; ++i) {
      out.begin_object();
      const std::string prepared = out.prepare_key("a \"key\"");
      for (int k = 0; k < 3; ++k) {
        out.prepared_key(prepared);
        out.number(std::int64_t{-i});
      }
      out.key("text");
      out.text("x");
      out.end_object();
    }
    out.end_array();
  };
  for (const auto style : {JsonWriter::Style::pretty, JsonWriter::Style::line}) {
    JsonWriter kept(style);
    write(kept);
    std::string sent;
    int pieces = 0;
    JsonWriter sender(
        [&](std::string_view piece) {
          sent += piece;
          ++pieces;
        },
        style);
    write(sender);
    sender.flush();
    CHECK(pieces > 2);
    CHECK(sent == kept.str());
  }
}

TEST_CASE("json: a key that was prepared is the key that would have been written") {
  for (const auto style : {JsonWriter::Style::pretty, JsonWriter::Style::line}) {
    JsonWriter by_key(style), by_prepared(style);
    for (JsonWriter* out : {&by_key, &by_prepared}) {
      out->begin_array();
      out->begin_object();
    }
    const std::string a = by_prepared.prepare_key("a\n"), b = by_prepared.prepare_key("b");
    by_key.key("a\n");
    by_key.null();
    by_key.key("b");
    by_key.number(std::uint64_t{18446744073709551615ULL});
    by_prepared.prepared_key(a);
    by_prepared.null();
    by_prepared.prepared_key(b);
    by_prepared.number(std::uint64_t{18446744073709551615ULL});
    for (JsonWriter* out : {&by_key, &by_prepared}) {
      out->end_object();
      out->end_array();
    }
    CHECK(by_prepared.str() == by_key.str());
  }
}
