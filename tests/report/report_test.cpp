#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "audit/base/text.h"
#include "audit/report/formats.h"
#include "audit/report/json.h"
#include "audit/report/text.h"
#include "audit/snapshot/document.h"
#include "tests/report/fixed_report.h"

using namespace audit;

namespace {

void check_golden(const std::string& name, const std::string& text) {
  const std::string path = std::string(SOURCE_DIR) + "/tests/golden/" + name;
  const char* update = std::getenv("UPDATE_GOLDEN");
  if (update != nullptr && *update != '\0') std::ofstream(path, std::ios::binary) << text;
  std::ifstream file(path, std::ios::binary);
  REQUIRE(file.good());
  std::ostringstream golden;
  golden << file.rdbuf();
  CHECK(text == golden.str());
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> out;
  std::string_view line;
  while (base::next_line(text, line)) out.emplace_back(line);
  return out;
}

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("report: the fixed report in every format is what the golden file says") {
  const auto facts = test::fixed_facts();
  const auto report = test::fixed_report(facts);
  for (const auto& format : formats()) {
    INFO(format.name);
    std::string text = format.render(report, {});
    if (std::string_view(format.name) == "json") {  // the facts in it are not the report's own: they have their test
      const auto embedded = snapshot::from_json(text, "report");
      REQUIRE(embedded.has_value());
      CHECK(embedded->facts == facts);
      text.erase(text.find("\n  \"facts\": {") + 1);
    }
    check_golden(std::string("report.") + format.name, text);
  }
  RenderOptions options;
  options.verbose = true;
  check_golden("report.verbose.text", render_text(report, options));
  options = {};
  options.language = Language::ja;
  check_golden("report.ja.text", render_text(report, options));
  options = {};
  options.color = true;
  options.lines = 24;
  check_golden("report.color.text", render_text(report, options));
}

TEST_CASE("report: no line of the text is wider than asked for, in either language") {
  const auto facts = test::fixed_facts();
  const auto report = test::fixed_report(facts);
  RenderOptions options;
  options.width = GENERATE(72, 80, 120);
  options.language = GENERATE(Language::en, Language::ja);
  const auto text = render_text(report, options);
  for (const auto& line : lines_of(text)) {
    INFO(line);
    CHECK(base::display_width(line) <= options.width);
  }
}

TEST_CASE("report: the text keeps to the lines asked for where it can, and every finding stays named") {
  const auto facts = test::fixed_facts();
  auto report = test::fixed_report(facts);
  RenderOptions options;
  options.lines = GENERATE(40, 36, 34);
  const auto text = render_text(report, options);
  CHECK(lines_of(text).size() <= static_cast<std::size_t>(options.lines));
  for (const auto& finding : report.findings) CHECK(has(text, finding.rule));
}

TEST_CASE("report: names from outside cannot move the cursor, in any format, with or without colour") {
  auto facts = test::fixed_facts();
  const std::string hostile =
      "/mnt/\x1b]0;x\x07\x1b[2J\nfaked line\xc2\x9b"
      "2J\xe2\x80\xae"
      "txt\xff";
  facts.node.name = hostile;
  facts.node.root = hostile;
  facts.nfs.clients[0].id = hostile;
  facts.sources.push_back({"x", hostile, "denied", hostile, {}});
  auto report = test::fixed_report(facts);
  report.profiles.push_back({"general", hostile});
  for (auto& finding : report.findings) {
    finding.text = {hostile, hostile, hostile, hostile, {hostile}};
    finding.affects = {{"pod", hostile}, {hostile, hostile}};
    finding.evidence = {{hostile, hostile, hostile}};
    finding.table = EvidenceTable{{hostile}, {{hostile}}};
    finding.gain = Gain{hostile, {}, {}};
    finding.remediation = {{hostile, hostile, "", hostile, ""}};
    finding.not_known = {hostile};
    finding.contested = {{hostile, hostile}};
    finding.references = {hostile};
    finding.basis = {hostile};
    finding.could_be = Finding::CouldBe{Severity::error, hostile};
  }
  report.plan[0].platform = report.plan[0].text = hostile;
  report.unknown.push_back({hostile, {"node", hostile}, hostile});
  report.waived[0].reason = report.waived[0].until = hostile;
  RenderOptions options;
  options.verbose = GENERATE(false, true);
  for (const auto& format : formats()) {
    INFO(format.name);
    const auto text = format.render(report, options);
    CHECK_FALSE(has(text, "\x1b"));
    CHECK_FALSE(has(text, "\x07"));
    CHECK_FALSE(has(text, "\xc2\x9b"));
    CHECK_FALSE(has(text, "\xe2\x80\xae"));
    CHECK_FALSE(has(text, "\xff"));
    for (const auto& line : lines_of(text)) CHECK_FALSE(line.starts_with("faked line"));
  }
}

TEST_CASE("report: colour is there only when asked for, and takes no width") {
  const auto facts = test::fixed_facts();
  const auto report = test::fixed_report(facts);
  RenderOptions options;
  const auto plain = render_text(report, options);
  options.color = true;
  auto colored = render_text(report, options);
  CHECK_FALSE(has(plain, "\x1b"));
  CHECK(has(colored, "\x1b[33mwarning\x1b[0m"));
  for (auto at = colored.find('\x1b'); at != std::string::npos; at = colored.find('\x1b', at))
    colored.erase(at, colored.find('m', at) - at + 1);
  CHECK(colored == plain);
}

TEST_CASE("report: a healthy node is told so in one line with what was checked") {
  const auto facts = test::fixed_facts();
  auto report = test::fixed_report(facts);
  report.findings.clear();
  report.plan.clear();
  report.waived.clear();
  report.unknown.clear();
  const auto text = render_text(report, {});
  CHECK(has(text, "All well: 2 NFS mounts on 1 server, 4 checks passed, nothing to change.\n"));
  CHECK_FALSE(has(text, "BROKEN"));
  report.unknown = test::fixed_report(facts).unknown;
  CHECK(has(render_text(report, {}),
            "All well as far as could be seen: 2 NFS mounts on 1 server, 4 checks passed, 3\nnot decided.\n"));
}

TEST_CASE("report: a node without network storage gets a clear line and nothing else") {
  facts::Facts facts;
  facts.node.name = "laptop";
  facts.node.root = "/";
  Report report;
  report.facts = &facts;
  CHECK(render_text(report, {}) ==
        "laptop  root /, 0.00 s\nNo NFS mounts on this node: 0 packets sent, nothing to ask.\n");
}

TEST_CASE("report: a server that left nothing to judge is no good news") {
  facts::Facts facts;
  facts.iscsi.portals.emplace_back();
  Report report;
  report.facts = &facts;
  const auto text = render_text(report, {});
  CHECK(has(text, "Nothing could be judged: 1 iSCSI portal.\n"));
  CHECK_FALSE(has(text, "All well"));
}

TEST_CASE("report: where runs alone were judged, they are what is counted") {
  facts::Facts facts;
  facts.latency.runs.resize(2);
  Report report;
  report.facts = &facts;
  report.passed.push_back({"LAT-001", 3});
  CHECK(has(render_text(report, {}), "All well: 2 measured runs, 3 checks passed, nothing to change.\n"));
}

TEST_CASE("report: findings of one rule share a line when there are many, and are all there with -v") {
  const auto facts = test::fixed_facts();
  auto report = test::fixed_report(facts);
  const Finding info = report.findings.back();
  for (int i = 0; i < 30; ++i) {
    report.findings.push_back(info);
    report.findings.back().subject.id = "198.51.100." + std::to_string(i) + ":2049 3 tcp";
  }
  RenderOptions options;
  options.lines = 60;
  CHECK(has(render_text(report, options), "(+30"));
  options.verbose = true;
  const auto text = render_text(report, options);
  CHECK_FALSE(has(text, "(+30"));
  CHECK(has(text, "198.51.100.29:2049 3 tcp"));
}

TEST_CASE("report: health findings stand under BROKEN NOW, but an info is never broken") {
  const auto facts = test::fixed_facts();
  auto report = test::fixed_report(facts);
  auto text = render_text(report, {});
  CHECK(text.find("NFS-NCONNECT-003") < text.find("COULD BE BETTER"));
  report.findings[0].severity = Severity::info;
  text = render_text(report, {});
  CHECK(has(text, "BROKEN NOW  nothing\n"));
  CHECK(text.find("NFS-NCONNECT-003") > text.find("COULD BE BETTER"));
}

TEST_CASE("report: where the time goes is told in short only where a finding or a high mean asks for it") {
  const auto facts = test::fixed_facts();
  auto report = test::fixed_report(facts);
  CHECK(has(render_text(report, {}), "WHERE THE TIME GOES"));  // NFS-NCONNECT-001 is a warning
  CHECK(has(render_text(report, {}), "waits for a slot: 64 of 64 in use"));
  report.findings.erase(report.findings.begin() + 1);
  CHECK_FALSE(has(render_text(report, {}), "WHERE THE TIME GOES"));
  report.time[0].all->mean_ms = 25;
  CHECK(has(render_text(report, {}), "WHERE THE TIME GOES"));
  report.time[0].all->mean_ms = 1;
  RenderOptions verbose;
  verbose.verbose = true;
  CHECK(has(render_text(report, verbose), "WHERE THE TIME GOES"));
  CHECK(has(render_text(report, verbose), "left out, their time counters wrapped: COMMIT"));
  CHECK(has(render_text(report, verbose), "3 connections, the busiest with 1.25 times the mean"));
}

TEST_CASE("report: the bar of an operation is as long as its parts, whatever they are") {
  const auto facts = test::fixed_facts();
  auto report = test::fixed_report(facts);
  RenderOptions verbose;
  verbose.verbose = true;
  for (const double queue : {0.0, 0.004, 1.0, 19.0}) {
    OpTime op{"READ", 1, {}, 0, 1, 20, queue, {}, 20 - queue, 0, TimePart::reply, 1};
    report.time[0].mounts = {{{"/mnt"}, {op}}};
    const auto text = render_text(report, verbose);
    const auto open = text.find('[', text.find("READ"));
    INFO(text.substr(open, 30));
    CHECK(text.find(']', open) - open == 21);
  }
}

TEST_CASE("report: options side by side stand in the long form, differing ones marked") {
  const auto facts = test::fixed_facts();
  const auto report = test::fixed_report(facts);
  CHECK_FALSE(has(render_text(report, {}), "SIDE BY SIDE"));
  RenderOptions verbose;
  verbose.verbose = true;
  const auto text = render_text(report, verbose);
  CHECK(has(text, "  * vers    4.1                  4.2        3, 4.0, 4.1, 4.2\n"));
  CHECK(has(text, "    timeo   600 (nfsmount.conf)  600        -\n"));
  CHECK(has(text, "  + rsize   -                    65536      1048576\n"));
  CHECK(has(text, "    slots   not known            64         not asked\n"));
}

TEST_CASE("report: no sentence of a finding is cut, however few lines there are") {
  const auto facts = test::fixed_facts();
  auto report = test::fixed_report(facts);
  RenderOptions options;
  options.lines = GENERATE(1, 20, 24, 30, 40);
  const auto text = render_text(report, options);
  for (const auto& line : lines_of(text)) {
    INFO(line);
    if (!has(line, "seen") && !has(line, "hits")) CHECK_FALSE(line.ends_with("..."));
  }
}
