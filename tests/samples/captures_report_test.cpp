// Healthy captures (samples/captures/README.md) go all the way to a report: nothing that a real kernel prints about a
// good mount may be worth more than an info.
#include <catch2/catch.hpp>

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "audit/base/text.h"
#include "audit/eval/engine.h"
#include "probes/collect.h"
#include "probes/io/host.h"
#include "rules/embedded.h"
#include "tests/samples/tree.h"

using audit::Severity;
using samples::Tree;

namespace {

const char* const healthy[] = {"nfs-v3-default",  "nfs-v3-nconnect8",  "nfs-v40-default", "nfs-v41-default",
                               "nfs-v42-default", "nfs-v42-nconnect8", "nfs-v42-ipv6",    "nfs-v42-subdir"};

std::string capture(const std::string& name) {
  std::ifstream in(std::string(SOURCE_DIR) + "/samples/captures/" + name + ".txt", std::ios::binary);
  INFO(name);
  REQUIRE(in.good());
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string section(const std::string& text, const std::string& heading) {
  const std::string line = "\n== " + heading + "\n";
  const auto at = text.find(line);
  if (at == std::string::npos) return {};
  const auto from = at + line.size();
  const auto next = text.find("\n== ", from - 1);
  return text.substr(from, next == std::string::npos ? next : next + 1 - from);
}

// "PATH:text" lines of a section become files; several lines of one path become its lines.
void write_files(Tree& tree, const std::string& lines) {
  std::string_view rest = lines, line;
  std::string path, text;
  const auto flush = [&] {
    if (!path.empty()) tree.write(path.substr(1), text);
    text.clear();
  };
  while (base::next_line(rest, line)) {
    const auto colon = line.find(':');
    if (colon == std::string_view::npos || !line.starts_with("/")) continue;
    if (line.substr(0, colon) != path) {
      flush();
      path = line.substr(0, colon);
    }
    text += std::string(line.substr(colon + 1)) + "\n";
  }
  flush();
}

Tree tree_of(const std::string& text) {
  Tree tree;
  tree.write("proc/1/mountinfo", section(text, "/proc/self/mountinfo"));
  tree.write("proc/1/mountstats", section(text, "/proc/self/mountstats"));
  tree.write("proc/sys/kernel/osrelease", "6.1.0-57-amd64\n");  // as the captures' README says
  tree.write("ss.txt", section(text, "ss -tnoi dport = :2049"));
  for (const char* heading : {"/sys/fs/nfs", "/sys/kernel/sunrpc"}) write_files(tree, section(text, heading));
  const auto bdi = text.find("\n== /sys/class/bdi/");
  if (bdi != std::string::npos) {
    const std::string heading = text.substr(bdi + 4, text.find('\n', bdi + 4) - bdi - 4);
    tree.write(heading.substr(1), section(text, heading));
  }
  return tree;
}

facts::Facts from_tree(const Tree& tree) {
  const auto host = probes::open_root(tree.root().string());
  REQUIRE(host);
  return probes::collect(**host);
}

facts::Facts from_inputs(const Tree& tree) {
  const auto file = [&](const char* path) { return (tree.root() / path).string(); };
  const auto host = probes::open_inputs(
      {{"mountinfo", file("proc/1/mountinfo")}, {"mountstats", file("proc/1/mountstats")}, {"ss", file("ss.txt")}});
  REQUIRE(host);
  return probes::collect(**host);
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

TEST_CASE("captures: nothing above info about a healthy mount, in any of three profiles") {
  for (const char* name : healthy) {
    const Tree tree = tree_of(capture(name));
    for (const bool pasted : {false, true}) {
      const facts::Facts facts = pasted ? from_inputs(tree) : from_tree(tree);
      REQUIRE(facts.nfs.mounts.size() == 1);
      REQUIRE(facts.nfs.mounts[0].age_s.has_value());
      if (pasted) REQUIRE(facts.network.sockets.has_value());
      for (const char* profile : {"general", "openshift-virtualization", "failover"}) {
        audit::JudgeOptions options;
        options.profiles = {profile};
        const audit::Report report = audit::judge(facts, shipped_rules(), options);
        CHECK(report.passed.size() >= 3);
        for (const audit::Finding& finding : report.findings) {
          INFO(name << (pasted ? " pasted, " : ", ") << profile << ": " << finding.rule << ": "
                    << finding.text.message);
          // A worker with VMs is told to think of nconnect before the first load comes.
          const bool unused = finding.rule == "NFS-NCONNECT-001" && std::string(profile) == "openshift-virtualization";
          CHECK(finding.severity <= (unused ? Severity::notice : Severity::info));
        }
      }
    }
  }
}
