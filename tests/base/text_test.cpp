#include "audit/base/text.h"

#include <catch2/catch.hpp>

using namespace base;

TEST_CASE("text: octal escapes are decoded once, left to right") {
  CHECK(octal_unescape("/mnt/server:_a\\040b") == "/mnt/server:_a b");
  CHECK(octal_unescape("/mnt/server:_a\\134040b") == "/mnt/server:_a\\040b");
  CHECK(octal_unescape("a\\011b\\012c") == "a\tb\nc");
  CHECK(octal_unescape("cut\\04") == "cut\\04");
  CHECK(octal_unescape("\\888") == "\\888");
  CHECK(octal_unescape("\\777") == "\\777");
}

TEST_CASE("text: control characters, bidi overrides and broken UTF-8 are escaped, letters are not") {
  CHECK(escape_control("a\nb\tc\rd") == "a\\nb\\tc\\rd");
  CHECK(escape_control("\x1b[2J") == "\\x1b[2J");
  CHECK(escape_control("\xff") == "\\xff");
  CHECK(escape_control("caf\xc3\xa9 \xe6\x97\xa5") == "caf\xc3\xa9 \xe6\x97\xa5");
  CHECK(escape_control("\xe2\x80\xae") == "\\xe2\\x80\\xae");
  CHECK(escape_control("\xc2\x9b") == "\\xc2\\x9b");
}

TEST_CASE("text: East Asian wide characters take two columns") {
  CHECK(display_width("abc") == 3);
  CHECK(display_width("\xe6\x97\xa5\xe6\x9c\xac") == 4);
  CHECK(display_width("e\xcc\x81") == 1);
  CHECK(pad_right("\xe6\x97\xa5", 4) == "\xe6\x97\xa5  ");
  CHECK(shorten("abcdefgh", 6) == "abc...");
  CHECK(shorten("\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e", 5) == "\xe6\x97\xa5...");
}

TEST_CASE("text: wrap breaks at blanks and between wide characters") {
  CHECK(wrap("one two three", 7) == std::vector<std::string>{"one two", "three"});
  CHECK(wrap("", 7) == std::vector<std::string>{""});
  CHECK(wrap("averylongword x", 5) == std::vector<std::string>{"averylongword", "x"});
  CHECK(wrap("\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e", 4) ==
        std::vector<std::string>{"\xe6\x97\xa5\xe6\x9c\xac", "\xe8\xaa\x9e"});
}

TEST_CASE("text: glob patterns") {
  CHECK(glob_match("NFS-*", "NFS-VERS-001"));
  CHECK_FALSE(glob_match("NFS-*", "ISCSI-TMO-001"));
  CHECK(glob_match("*-00?", "NFS-VERS-001"));
  CHECK(glob_match("[A-N]FS*", "NFS-1"));
  CHECK_FALSE(glob_match("[!N]FS*", "NFS-1"));
  CHECK(glob_match("*", ""));
  CHECK_FALSE(glob_match("", "x"));
  CHECK(glob_match("a*b*c", "a//b--c"));
  CHECK(glob_match("a[b", "a[b"));
}

TEST_CASE("text: the nearest name is offered only when it is near") {
  CHECK(nearest("transprot_count", {"transport_count", "vers"}) == std::string("transport_count"));
  CHECK_FALSE(nearest("zzzz", {"transport_count", "vers"}).has_value());
}

TEST_CASE("text: numbers are taken whole or not at all") {
  CHECK(number<std::uint32_t>("42") == 42U);
  CHECK_FALSE(number<std::uint32_t>("-1").has_value());
  CHECK_FALSE(number<std::uint32_t>("4294967296").has_value());
  CHECK_FALSE(number<std::uint32_t>("42x").has_value());
  CHECK_FALSE(number<std::uint32_t>("").has_value());
  CHECK(number<std::uint32_t>("ff", 16) == 255U);
  CHECK(real("1.5") == 1.5);
  CHECK_FALSE(real("1e999").has_value());
}

TEST_CASE("text: SHA-256 of the FIPS 180 example") {
  CHECK(sha256_hex("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST_CASE("text: path prefixes are compared by component") {
  CHECK(starts_with_path("/srv/nfs/foo", "/srv/nfs"));
  CHECK_FALSE(starts_with_path("/srv/nfs2", "/srv/nfs"));
  CHECK(starts_with_path("/srv", "/"));
}

TEST_CASE("text: fields, split and lines") {
  CHECK(fields("  a \t b  ").size() == 2);
  CHECK(split("a,,b", ',').size() == 3);
  std::string_view rest = "one\ntwo";
  std::string_view line;
  CHECK(next_line(rest, line));
  CHECK(line == "one");
  CHECK(next_line(rest, line));
  CHECK(line == "two");
  CHECK_FALSE(next_line(rest, line));
}
