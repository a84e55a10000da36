// Every text of samples/captures that a parser is there for goes through it: what a real kernel prints leaves no note,
// but those that are explained here.
#include <catch2/catch.hpp>

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "audit/base/text.h"
#include "audit/eval/engine.h"
#include "probes/collect.h"
#include "probes/host/log.h"
#include "probes/host/mountinfo.h"
#include "probes/host/mountstats.h"
#include "probes/host/rpcinfo.h"
#include "probes/host/ss.h"
#include "probes/host/sunrpc.h"
#include "rules/embedded.h"
#include "tests/samples/tree.h"

namespace fs = std::filesystem;

namespace {

const fs::path captures = fs::path(SOURCE_DIR) / "samples/captures";

// The file and the note, each with the reason why it is right.
struct Explained {
  std::string file, note, why;
};
const std::vector<Explained>& explained() {
  static const std::vector<Explained> all{
      {"all-rpcinfo.txt", "several versions on a line (rpcinfo -s): it tells no ports",
       "the capture holds rpcinfo -s behind rpcinfo -p: the short form lists programs without their ports"},
      {"all-rpcinfo.txt", "no registration as rpcinfo -p prints it",
       "the head of the short form, its line with one version, and output of showmount behind it"},
  };
  return all;
}

std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  REQUIRE(in.good());
  return {std::istreambuf_iterator<char>(in), {}};
}

struct Section {
  std::string heading;  // behind "== "; empty for what stands above the first
  std::string text;
};

std::vector<Section> sections_of(const std::string& text) {
  std::vector<Section> sections(1);
  for (const auto line : base::split(text, '\n')) {
    if (line.starts_with("== "))
      sections.push_back({std::string(line.substr(3)), ""});
    else if (!line.starts_with("# ") || sections.size() > 1)
      sections.back().text += std::string(line) + '\n';
  }
  return sections;
}

// "PATH:LINE" as grep -r prints it, put together to files again.
std::map<std::string, std::string> files_of_grep(const std::string& text) {
  std::map<std::string, std::string> files;
  for (const auto line : base::split(text, '\n')) {
    const auto colon = line.find(':');
    if (colon != std::string_view::npos && line.starts_with('/'))
      files[std::string(line.substr(0, colon))] += std::string(line.substr(colon + 1)) + '\n';
  }
  return files;
}

using Notes = std::vector<probes::Note>;

void add(Notes& to, const Notes& more) { to.insert(to.end(), more.begin(), more.end()); }

Notes notes_of_sunrpc(const std::string& text, std::size_t& seen) {
  Notes notes;
  for (const auto& [path, content] : files_of_grep(text)) {
    facts::RpcTransport transport;
    facts::RpcSwitch one;
    if (path.ends_with("/xprt_info"))
      add(notes, probes::parse_xprt_info(content, transport));
    else if (path.ends_with("/xprt_state"))
      add(notes, probes::parse_xprt_state(content, transport));
    else if (path.ends_with("/xprt_switch_info"))
      add(notes, probes::parse_xprt_switch_info(content, one));
    else
      continue;
    ++seen;
  }
  return notes;
}

// The parser for a section, by its heading; for a whole file by its name.
bool parse(const std::string& what, const std::string& text, Notes& notes, std::size_t& seen) {
  if (what.starts_with("/proc/self/mountinfo") || what == "all-self-mountinfo.txt")
    notes = probes::parse_mountinfo(text, probes::Keep::all).notes;
  else if (what.starts_with("/proc/mounts") || what == "all-mounts.txt")
    notes = probes::parse_mounts(text, probes::Keep::all).notes;
  else if (what.starts_with("/proc/self/mountstats") || what == "all-self-mountstats.txt")
    notes = probes::parse_mountstats(text).notes;
  else if (what.starts_with("ss -") || what == "all-ss.txt")
    notes = probes::parse_ss(text).notes;
  else if (what.starts_with("dmesg") || what.starts_with("dmesg-"))
    notes = probes::parse_log(text, what).notes;
  else if (what == "all-rpcinfo.txt")
    notes = probes::parse_rpcinfo(text, what).notes;
  else if (what == "/sys/kernel/sunrpc")
    notes = notes_of_sunrpc(text, seen);
  else if (what.starts_with("nfs-bad-") || what == "stale.txt" || what == "hang-times.txt")
    notes = probes::parse_log(text, what).notes;
  else
    return false;
  ++seen;
  return true;
}

const audit::RuleSet& shipped_rules() {
  static const audit::RuleSet rules = [] {
    std::vector<audit::TextFile> files;
    for (const auto& [path, text] : rules::embedded_rules()) files.push_back({std::string(path), std::string(text)});
    return audit::load_rules(files).value();
  }();
  return rules;
}

}  // namespace

TEST_CASE("captures: what real kernels and tools print leaves no note that is not explained") {
  std::size_t seen = 0, files = 0;
  std::set<std::size_t> used;
  for (const auto& entry : fs::directory_iterator(captures)) {
    const std::string name = entry.path().filename();
    if (!name.ends_with(".txt")) continue;
    ++files;
    for (const Section& section : sections_of(read_file(entry.path()))) {
      Notes notes;
      if (!parse(section.heading.empty() ? name : section.heading, section.text, notes, seen)) continue;
      for (const auto& note : notes) {
        bool known = false;
        for (std::size_t i = 0; i < explained().size(); ++i) {
          const Explained& row = explained()[i];
          if (row.file != name || row.note != note.reason) continue;
          known = true;
          used.insert(i);
        }
        INFO(name << " == " << section.heading << " line " << note.line << ": " << note.reason);
        CHECK(known);
      }
    }
  }
  CHECK(files >= 55);
  CHECK(seen >= 200);
  CHECK(used.size() == explained().size());  // what is explained does occur
}

TEST_CASE("captures: nconnect that the second mount asks for and does not get is found") {
  const std::string text = read_file(captures / "nfs-nconnect-ignored.txt");
  samples::Tree tree;
  for (const Section& section : sections_of(text)) {
    if (section.heading == "/proc/self/mountinfo") tree.write("proc/1/mountinfo", section.text);
    if (section.heading == "/proc/self/mountstats") tree.write("proc/1/mountstats", section.text);
  }
  const auto judge = [&] {
    const auto host = probes::open_root(tree.root().string());
    REQUIRE(host);
    const facts::Facts facts = probes::collect(**host);
    REQUIRE(facts.nfs.mounts.size() == 1);
    audit::JudgeOptions options;
    options.only = {"NFS-NCONNECT-002"};
    return audit::judge(facts, shipped_rules(), options);
  };
  const std::string line = "10.9.0.40:/sub /mnt/b nfs vers=4.2,nconnect=8 0 0\n";
  tree.write("etc/fstab", line);
  const audit::Report report = judge();
  REQUIRE(report.findings.size() == 1);
  CHECK(report.findings[0].severity == audit::Severity::warning);
  CHECK(report.findings[0].text.message.find("nconnect=8 asked for, 1 in effect") != std::string::npos);
  // What is in effect is what was asked for: nothing to find.
  tree.write("etc/fstab", "10.9.0.40:/sub /mnt/b nfs vers=4.2 0 0\n");
  CHECK(judge().findings.empty());
}
