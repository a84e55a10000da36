// Files of measured runs: CSV, fio's JSON, documents of our own.
#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>

#include "audit/snapshot/document.h"
#include "probes/results/fio_json.h"
#include "probes/results/run_csv.h"
#include "probes/results/runs.h"
#include "probes/results/size_text.h"
#include "tests/source_dir.h"

using namespace probes;

namespace {

std::string sample(const std::string& name) {
  std::ifstream in(std::string(SOURCE_DIR) + "/samples/latency/" + name);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

}  // namespace

TEST_CASE("run csv: a row holds what its columns say, and nothing else is known") {
  const auto parsed = parse_run_csv(
      "\xef\xbb\xbf# a comment\r\nLabel,Depth,iops,block_bytes,pattern,lat_p99_us,errors\r\n"
      "\"NAS, nc8\",16,25724.5,4k,RandRead,1234.5,2\r\n\r\nSAN,1,10,,,,\r\n",
      "x.csv");
  REQUIRE(parsed);
  REQUIRE(parsed->facts.size() == 2);
  CHECK(parsed->notes.empty());
  const auto& run = parsed->facts[0];
  CHECK(run.label == "NAS, nc8");
  CHECK(run.depth == 16);
  CHECK(run.iops == 25724.5);
  CHECK(run.block_bytes == 4096U);
  CHECK(run.pattern == std::string("randread"));
  CHECK(run.lat_p99_us == 1234.5);
  CHECK(run.errors == 2U);
  CHECK(run.source == "x.csv:3");
  CHECK(run.clients.is_unknown());
  CHECK(parsed->facts[1].block_bytes.is_unknown());
}

TEST_CASE("run csv: semicolons and tabs divide as well") {
  for (const char* text : {"label;depth;iops\na;1;2\n", "label\tdepth\tiops\na\t1\t2\n"}) {
    const auto parsed = parse_run_csv(text, "x");
    REQUIRE(parsed);
    REQUIRE(parsed->facts.size() == 1);
    CHECK(parsed->facts[0].iops == 2);
  }
}

TEST_CASE("run csv: a bad row costs that row and is named by its line") {
  struct Row {
    const char* row;
    const char* why;
  };
  for (const Row& row : {Row{"a,0,1", "depth '0' is no whole number from 1"}, Row{"a,1,-5", "iops '-5' is no number"},
                         Row{"a,1,\"4,394\"", "iops '4,394' is no number (digits and a point, no separators)"},
                         Row{"a,1,nan", "iops 'nan' is no number"}, Row{"a,1,inf", "iops 'inf' is no number"},
                         Row{"a,1,1e300", "iops '1e300' is no number"}, Row{",1,5", "no label"}, Row{"a,1", "no iops"},
                         Row{"a,1,5,6", "4 cells under 3 columns"}, Row{"\"a,1,5", "a quote is not closed"},
                         Row{"a,99999999999,5", "depth '99999999999' is no whole number"},
                         Row{"a\x1b[2J,x,5", "depth 'x' is no whole number"}}) {
    INFO(row.row);
    const auto parsed = parse_run_csv(std::string("label,depth,iops\n") + row.row + "\nb,2,7\n", "x.csv");
    REQUIRE(parsed);
    REQUIRE(parsed->facts.size() == 1);
    CHECK(parsed->facts[0].label == "b");
    REQUIRE(parsed->notes.size() == 1);
    CHECK(parsed->notes[0].line == 2);
    CHECK(parsed->notes[0].lost);
    CHECK(parsed->notes[0].reason.find(row.why) != std::string::npos);
  }
}

TEST_CASE("run csv: a header that cannot be used is refused with its line") {
  const auto refused = [](const std::string& text) {
    const auto parsed = parse_run_csv(text, "x.csv");
    return parsed ? std::string() : base::to_text(parsed.error());
  };
  CHECK(refused("# c\nlabel,iops\na,1\n") ==
        "x.csv:2: the header row has no column depth; needed are label, depth and iops");
  CHECK(refused("label,depth,iops,iops\n") == "x.csv:1: column iops stands there twice");
  CHECK(refused("").find("x.csv: no header row") == 0);
  const auto unknown = parse_run_csv("label,depth,iops,lat_p9_us\na,1,2,3\n", "x");
  REQUIRE(unknown);
  REQUIRE(unknown->notes.size() == 1);
  CHECK_FALSE(unknown->notes[0].lost);
  CHECK(unknown->notes[0].reason.find("'lat_p9_us' is not read; is it lat_p99_us?") != std::string::npos);
}

TEST_CASE("sizes: as people write them, and as fio does") {
  CHECK(parse_size("4096") == 4096U);
  CHECK(parse_size("4k") == 4096U);
  CHECK(parse_size("4KiB") == 4096U);
  CHECK(parse_size("4KiB", true) == 4000U);  // kb_base=1024 turns the SI prefixes round
  CHECK(parse_size("1M") == 1048576U);
  for (const char* bad : {"", "k", "4x", "4kk", "-4", "4 k", "99999999999999999999", "18446744073709551615k"})
    CHECK_FALSE(parse_size(bad));
}

TEST_CASE("fio json: jobs of one file, as fio 3.33 wrote them") {
  const auto parsed = parse_runs(sample("fio-multi.json"), "dir/fio-multi.json");
  REQUIRE(parsed);
  REQUIRE(parsed->facts.runs.size() == 3);
  const auto& one = parsed->facts.runs[0];
  CHECK(one.label == "fio-multi");
  CHECK(one.engine == std::string("fio/libaio"));
  CHECK(one.depth == 1);
  CHECK(one.clients == 1U);
  CHECK(one.pattern == std::string("randread"));
  CHECK(one.block_bytes == 4096U);
  CHECK(one.direct.is(false));
  CHECK(one.working_set_bytes == 8U << 20);
  CHECK(one.iops == Approx(5205.383848));
  CHECK(one.lat_p50_us == 2.192);
  CHECK(one.lat_p99_us == 8.768);  // printed twice there: percentile_list names it twice
  CHECK(one.lat_p999_us == 25.984);
  CHECK(one.lat_p90_us.is_unknown());
  const auto& two = parsed->facts.runs[1];
  CHECK(two.depth == 4);
  CHECK(two.clients == 2U);  // numjobs with group_reporting
  CHECK(two.iops == Approx(12824.175824));
  const auto& mixed = parsed->facts.runs[2];
  CHECK(mixed.pattern == std::string("randrw"));
  CHECK(mixed.block_bytes.is_unknown());  // bs=8k,16k
  CHECK(mixed.iops == Approx(2873.873874 + 2877.632899));
  CHECK(mixed.read_pct == 50U);
  CHECK(mixed.lat_p99_us.is_unknown());  // of two directions, without the bins of json+
}

TEST_CASE("fio json: clones are one run, and json+ bins give percentiles of both directions together") {
  const auto parsed = parse_runs(sample("fio-plus.json"), "x.json", "NAS");
  REQUIRE(parsed);
  REQUIRE(parsed->facts.runs.size() == 1);
  const auto& run = parsed->facts.runs[0];
  CHECK(run.label == "NAS");
  CHECK(run.clients == 2U);
  CHECK(run.iops > 10307.692308 + 10364.635365);  // reads of both, and the writes
  REQUIRE_FALSE(run.histogram.empty());
  std::uint64_t counted = 0;
  for (const auto& bucket : run.histogram) counted += bucket.count;
  CHECK(counted == *run.samples);
  CHECK(*run.lat_p50_us < *run.lat_p99_us);
  CHECK(*run.lat_p99_us <= *run.lat_max_us);
}

TEST_CASE("fio json: warnings before the document, an engine that has no depth, jobs that moved nothing") {
  const std::string job =
      R"({"jobname":"a","groupid":0,"error":5,"job options":{"rw":"randread","iodepth":"8","bs":"4k"},)"
      R"("read":{"iops":10,"bw_bytes":40960,"io_bytes":40960,"total_ios":10,"runtime":1000,)"
      R"("lat_ns":{"min":1,"max":9,"mean":5,"stddev":1,"N":10}}})";
  const auto parsed = parse_fio_json("note: both iodepth >= 1 ...\n{\"fio version\":\"fio-3.33\",\"jobs\":[" + job +
                                         ",{\"jobname\":\"b\",\"error\":0,\"read\":{\"iops\":0,\"total_ios\":0}},7]}",
                                     "x.json");
  REQUIRE(parsed);
  REQUIRE(parsed->facts.jobs.size() == 1);
  REQUIRE(parsed->notes.size() == 2);
  CHECK(parsed->notes[0].reason == "job 2 (b) moved nothing");
  CHECK(parsed->notes[1].reason == "job 3 is no object");
  const auto runs = runs_of(parsed->facts, "x.json", "x");
  CHECK(runs.facts[0].depth == 1);
  CHECK(runs.facts[0].partial.is(true));
  CHECK(runs.facts[0].partial_why == std::string("fio ended with error 5"));
  REQUIRE(runs.notes.size() == 1);
  CHECK(runs.notes[0].reason == "job a: psync issues one request at a time, iodepth=8 is counted as 1");
}

TEST_CASE("runs: what is no file of runs is refused in words") {
  const auto refused = [](const std::string& text) {
    const auto parsed = parse_runs(text, "x");
    return parsed ? std::string("read") : base::to_text(parsed.error());
  };
  CHECK(refused("{\"fio version\":\"3\",\"jobs\":7}") == "x: no result of fio: no jobs");
  CHECK(refused("{\"fio version\":\"3\",\"jobs\":[]}") == "x: holds no measured runs");
  CHECK(refused("{\"fio version\":").find("not valid JSON") != std::string::npos);
  CHECK(refused("{}").find("x") == 0);
  CHECK(refused("label,depth,iops\n") == "x: holds no measured runs");
  CHECK(refused("label,depth,iops\na,b,c\n").find("x: no run in it reads: line 2: depth 'b'") == 0);
}

TEST_CASE("runs: a facts document gives back its own runs") {
  facts::Facts document;
  document.latency.runs.resize(2);
  document.latency.runs[0].label = "nas";
  document.latency.runs[0].depth = 32;
  document.latency.runs[0].iops = 1234.5;
  document.latency.runs[0].histogram = {{100.5, 7}};
  document.latency.runs[0].series = {{1, 5U, 5.0, 1.0, 2.0, 0U}};
  document.latency.runs[1].label = "san";
  const auto parsed = parse_runs(snapshot::to_json(document), "doc.json");
  REQUIRE(parsed);
  REQUIRE(parsed->facts.runs.size() == 2);
  document.latency.runs[0].source = document.latency.runs[1].source = "doc.json";
  CHECK(parsed->facts.runs == document.latency.runs);
  const auto renamed = parse_runs(snapshot::to_json(document), "doc.json", "node-2");
  REQUIRE(renamed);
  CHECK(renamed->facts.runs[1].label == "node-2 san");
}

TEST_CASE("runs: equal points without a pass become passes in their order") {
  auto parsed = parse_run_csv("label,depth,iops,pass\na,1,10,\na,1,20,\na,2,30,\na,4,40,7\n", "x");
  REQUIRE(parsed);
  number_passes(parsed->facts);
  CHECK(parsed->facts[0].pass == 1U);
  CHECK(parsed->facts[1].pass == 2U);
  CHECK(parsed->facts[2].pass.is_unknown());
  CHECK(parsed->facts[3].pass == 7U);
}
