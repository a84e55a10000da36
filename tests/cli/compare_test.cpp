// mountaudit compare on published tables: every printed ratio column comes back to the digit, and so do the verdicts.
#include <boost/json.hpp>
#include <catch2/catch.hpp>
#include <sstream>

#include "audit/base/text.h"
#include "tests/cli/run.h"
#include "tests/source_dir.h"

using test::run;
using test::Scratch;

namespace {

// Lines with runs of blanks made one, so that widths of columns do not matter; wrapped lines stay apart.
std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::string_view rest = text, line;
  while (base::next_line(rest, line)) {
    std::vector<std::string> words;
    for (const auto word : base::fields(line)) words.emplace_back(word);
    lines.push_back(base::join(words, " "));
  }
  return lines;
}

// The rows below a heading, without the row of names.
std::vector<std::string> table(const std::string& text, const std::string& heading) {
  const auto lines = lines_of(text);
  std::vector<std::string> rows;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i] != heading) continue;
    for (std::size_t k = i + 2; k < lines.size() && !lines[k].empty(); ++k) rows.push_back(lines[k]);
    return rows;
  }
  return rows;
}

std::string one_line(const std::string& text) { return base::join(lines_of(text), " "); }
bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }
std::string sample(const std::string& name) { return std::string(SOURCE_DIR) + "/samples/latency/" + name; }

// The column SAN / NAS nc1 was not published: its two words are taken out.
std::string published(const std::string& row) {
  std::vector<std::string> words;
  for (const auto word : base::fields(row)) words.emplace_back(word);
  if (words.size() > 2) words.erase(words.end() - 3, words.end() - 1);
  return base::join(words, " ");
}

std::vector<std::string> published(std::vector<std::string> rows) {
  for (auto& row : rows) row = published(row);
  return rows;
}

}  // namespace

TEST_CASE("compare: the published columns of one client, SAN against NAS and 8 connections against 1") {
  const auto ran = run({"compare", "--digits", "1", sample("nas-vs-san.csv")});
  REQUIRE(ran.code == 0);
  CHECK(ran.err.empty());
  CHECK(published(table(ran.out, "IOPS randread, 4 KiB, 1 client")) ==
        std::vector<std::string>{"1 4,394 1,804 1,796 SAN 2.4x 1.00x", "2 10,275 4,072 4,152 SAN 2.5x 0.98x",
                                 "4 21,302 8,190 8,081 SAN 2.6x 1.01x", "8 38,704 15,606 15,152 SAN 2.5x 1.03x",
                                 "16 65,668 25,724 24,247 SAN 2.6x 1.06x", "32 106,533 58,893 36,535 SAN 1.8x 1.61x",
                                 "64 136,682 108,739 50,807 SAN 1.3x 2.14x",
                                 "128 135,911 121,113 48,758 SAN 1.1x 2.48x"});
  CHECK(published(table(ran.out, "IOPS randwrite, 4 KiB, 1 client")) ==
        std::vector<std::string>{"1 2,240 1,970 1,986 SAN 1.1x 0.99x", "2 4,628 3,874 3,545 SAN 1.2x 1.09x",
                                 "4 9,513 7,569 6,765 SAN 1.3x 1.12x", "8 16,387 13,556 12,301 SAN 1.2x 1.10x",
                                 "16 26,607 23,655 20,756 SAN 1.1x 1.14x", "32 36,975 34,686 30,471 SAN 1.1x 1.14x",
                                 "64 42,132 41,759 36,840 SAN 1.0x 1.13x", "128 42,771 42,824 37,253 equal 1.15x"});
}

TEST_CASE("compare: the published columns of 3 and 6 clients, and what twice the clients bring") {
  const std::string out = run({"demo", "compare", "--digits", "1"}).out;
  CHECK(table(out, "IOPS randwrite, 4 KiB, 3 clients") ==
        std::vector<std::string>{"1 6,649 5,395 SAN 1.2x", "4 24,010 20,065 SAN 1.2x", "16 43,230 50,608 NAS 1.2x",
                                 "64 50,355 70,838 NAS 1.4x"});
  CHECK(table(out, "IOPS randread, 4 KiB, 6 clients") ==
        std::vector<std::string>{"1 14,869 10,707 SAN 1.4x", "4 61,645 41,563 SAN 1.5x", "16 162,501 92,993 SAN 1.7x",
                                 "64 207,877 115,976 SAN 1.8x"});
  CHECK(table(out, "IOPS randwrite, 4 KiB, 6 clients") ==
        std::vector<std::string>{"1 13,986 10,238 SAN 1.4x", "4 46,829 33,754 SAN 1.4x", "16 85,962 65,814 SAN 1.3x",
                                 "64 99,924 73,809 SAN 1.4x"});
  const auto reads = table(out, "IOPS randread, 4 KiB, 3 clients");
  REQUIRE(reads.size() == 4);
  CHECK(reads[0] == "1 7,460 5,584 SAN 1.3x");
  CHECK(reads[1] == "4 30,888 23,079 SAN 1.3x");
  CHECK(reads[2] == "16 83,059 71,570 SAN 1.2x");
  // This one was published with two decimals, as all are without --digits.
  const std::string two = run({"demo", "compare"}).out;
  CHECK(table(two, "IOPS randread, 4 KiB, 3 clients")[3] == "64 102,983 108,122 NAS 1.05x");
  CHECK(table(two, "TWICE THE CLIENTS randread, 4 KiB") ==
        std::vector<std::string>{"1 1.99x 1.92x", "4 2.00x 1.80x", "16 1.96x 1.30x", "64 2.02x 1.07x"});
  CHECK(table(two, "TWICE THE CLIENTS randwrite, 4 KiB") ==
        std::vector<std::string>{"1 2.10x 1.90x", "4 1.95x 1.68x", "16 1.99x 1.30x", "64 1.98x 1.04x"});
}

TEST_CASE("compare: the published conclusions in words, and the one that the table refutes") {
  const auto ran = run({"demo", "compare"});
  REQUIRE(ran.code == 0);
  const std::string out = one_line(ran.out);
  CHECK(has(out, "randread, 4 KiB: NAS: 8 connections against 1: no gain up to depth 16, from 32 on up to 2.48x"));
  CHECK(has(out, "randwrite, 4 KiB: NAS: 8 connections against 1 bring 1.15x at most (depth 128)"));
  CHECK(has(out, "randread, 4 KiB: NAS is saturated at 6 clients and depth 64: twice the clients bring 1.07x"));
  CHECK(has(out, "randwrite, 4 KiB: NAS is saturated at 6 clients and depth 64: twice the clients bring 1.04x"));
  CHECK(has(out, "randread, 4 KiB: SAN scales linearly from 3 to 6 clients: 1.96x to 2.02x at every depth"));
  CHECK(has(out, "randwrite, 4 KiB: SAN scales linearly from 3 to 6 clients: 1.95x to 2.10x at every depth"));
  CHECK(has(out, "NAS nc8 reaches 89 % of SAN (121,113 and 135,911 IOPS at depth 128)"));
  CHECK(has(out, "NAS nc8 and SAN are equal (42,824 and 42,771 IOPS at depth 128)"));
  // "No jump of the latency yet, headroom left" it says of SAN writes at 43K IOPS.
  CHECK(has(out,
            "randwrite, 4 KiB: SAN has no headroom beyond depth 32: depth 64 to 128 brings +1.5 % IOPS, and "
            "latency goes from 1.52 ms to 2.99 ms"));
  const auto marks = table(ran.out, "MARKS randread, 4 KiB");
  REQUIRE(marks.size() >= 3);
  CHECK(marks[0] == "SAN 32 (106,533, 0.30 ms) 64 (136,682, 0.47 ms)");
  CHECK(marks[1] == "NAS nc8 64 (108,739, 0.59 ms) 64 (108,739, 0.59 ms)");
  CHECK(marks[2] == "NAS nc1 32 (36,535, 0.88 ms) 64 (50,807, 1.26 ms)");
  for (const auto& line : lines_of(ran.out)) CHECK(base::display_width(line) <= 80);
  std::string_view rest = ran.out, line;
  while (base::next_line(rest, line)) CHECK(base::display_width(line) <= 80);
}

TEST_CASE("compare: measured beside guaranteed") {
  const std::string out = one_line(run({"compare", sample("measured-vs-guaranteed.csv")}).out);
  CHECK(has(out, "one volume measured reaches 1.45x of one volume guaranteed (58,000 and 40,000 IOPS"));
  CHECK(has(out, "cluster measured with 4 clients reaches 1.25x of cluster guaranteed (250,000 and 200,000 IOPS"));
  const Scratch scratch;
  const auto file = scratch.write("v.csv", "label,depth,iops\nvolume,1,58000\n");
  CHECK(has(one_line(run({"compare", "--guaranteed", "40000", file}).out),
            "volume gives 1.45x of the 40,000 IOPS promised (58,000 at depth 1)"));
  CHECK(
      has(one_line(run({"compare", "--wanted", "20000", file}).out), "volume gives the 20,000 IOPS wanted at 0.02 ms"));
  CHECK(has(one_line(run({"compare", "--wanted", "60000", file}).out),
            "volume does not reach the 60,000 IOPS wanted: 58,000 at most"));
}

TEST_CASE("compare: JSON tells the same") {
  const auto ran = run({"demo", "compare", "--format", "json"});
  REQUIRE(ran.code == 0);
  const auto document = boost::json::parse(ran.out).as_object();
  CHECK(document.at("schema").as_string() == "mountaudit.compare/1");
  CHECK(document.at("runs").to_number<int>() == 80);
  const auto& curves = document.at("curves").as_array();
  REQUIRE(curves.size() == 14);
  const auto& san = curves[0].as_object();
  CHECK(san.at("name").as_string() == "SAN");
  CHECK(san.at("efficient").as_object().at("depth").to_number<int>() == 32);
  CHECK(san.at("ceiling").as_object().at("depth").to_number<int>() == 64);
  const auto& reads = document.at("connections").as_array()[0].as_object();
  CHECK(reads.at("no_gain_upto_depth").to_number<int>() == 16);
  CHECK(reads.at("pays_from_depth").to_number<int>() == 32);
}

TEST_CASE("compare: files are told by what stands in them, and bear the names given") {
  const auto ran = run({"compare", "NAS=" + sample("fio-plus.json"), "OTHER=" + sample("fio-multi.json")});
  REQUIRE(ran.code == 0);
  CHECK(has(ran.out, "4 runs, 4 curves"));
  CHECK(has(ran.out, "randrw, 4 KiB, 50 % reads, 2 clients"));
  CHECK(has(ran.out, "OTHER"));
  CHECK_FALSE(has(ran.out, "fio-multi"));
  const auto piped = run({"compare", "-"}, {}, "label,depth,iops\nx,1,2\n");
  CHECK(piped.code == 0);
  CHECK(has(piped.out, "1 run, 1 curve\n"));
}

TEST_CASE("compare: nodes that ran at the same time are added up") {
  const Scratch scratch;
  const auto a = scratch.write("a.csv", "label,depth,iops,clients\nnas,16,1000,1\n");
  const auto b = scratch.write("b.csv", "label,depth,iops,clients\nnas,16,3000,1\n");
  const auto sum = run({"compare", "--sum", a, b});
  REQUIRE(sum.code == 0);
  CHECK(table(sum.out, "IOPS any load, 2 clients") == std::vector<std::string>{"16 4,000"});
  // Without it they are two passes of one run.
  CHECK(has(one_line(run({"compare", a, b}).out), "nas at depth 16: the passes differ by 100 %, too noisy to judge"));
}

TEST_CASE("compare: what cannot be read, and odd rows, in the user's words") {
  const Scratch scratch;
  const auto odd = scratch.write("odd.csv", "label,depth,iops\nx,1,2\ny,z,3\n");
  const auto ran = run({"compare", odd});
  CHECK(ran.code == 0);
  CHECK(ran.err == "mountaudit: " + odd + ":3: depth 'z' is no whole number from 1; the row is left out\n");
  CHECK(run({"compare", "--quiet", odd}).err.empty());
  const auto none = run({"compare", scratch.path("none.csv")});
  CHECK(none.code == 2);
  CHECK(has(none.err, "none.csv"));
  CHECK(run({"compare"}).code == 2);
  CHECK(run({"compare", "--format", "html", odd}).code == 2);
  CHECK(has(run({"compare", "--digits", "9", odd}).err, "--digits \"9\" is no number from 0 to 4"));
  CHECK(run({"compare", "--wanted", "many", odd}).code == 2);
  const auto hostile = scratch.write("h.csv", "label,depth,iops\nx\x1b[2J\xe2\x80\xae,1,2\n");
  CHECK_FALSE(has(run({"compare", hostile}).out, "\x1b"));
  // A rate of nothing has no place on a plot and no ratio.
  const auto zero = scratch.write("z.csv", "label,depth,iops\na,1,0\na,2,0\na,4,0\na,8,0\na,16,0\nb,1,5\n");
  CHECK(run({"compare", zero}).code == 0);
}

TEST_CASE("compare: the README shows what the demo says") {
  const std::string readme = test::read_file(std::string(SOURCE_DIR) + "/README.md");
  const std::string command = "    $ mountaudit demo compare\n";
  const auto start = readme.find(command);
  REQUIRE(start != std::string::npos);
  const auto from = start + command.size(), end = readme.find("\n\n", from);
  const std::string out = one_line(run({"demo", "compare"}).out);
  const std::string shown = one_line(readme.substr(from, end - from));
  std::size_t verdicts = 0;
  for (std::size_t at = 0; at < shown.size(); ++verdicts) {
    const auto next = std::min(shown.find(" - rand", at + 1), shown.size());
    CHECK(has(out, std::string(base::trim(std::string_view(shown).substr(at, next - at)))));
    at = next;
  }
  CHECK(verdicts == 3);
}
