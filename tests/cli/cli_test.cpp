#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <boost/json.hpp>
#include <catch2/catch.hpp>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>

#include "audit/base/json.h"
#include "audit/base/text.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "cli/output.h"
#include "tests/cli/run.h"

namespace json = boost::json;
using test::run;
using test::Scratch;

namespace {

const std::string source_dir = SOURCE_DIR;
const std::string worker = source_dir + "/samples/trees/openshift-worker";

std::vector<std::string> sample_trees() {
  std::vector<std::string> trees;
  for (const auto& entry : std::filesystem::directory_iterator(source_dir + "/samples/trees")) {
    if (entry.is_directory()) trees.push_back(entry.path().string());
  }
  return trees;
}

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

bool one_line(const std::string& text) {
  return text.starts_with("mountaudit: ") && std::count(text.begin(), text.end(), '\n') == 1 && text.ends_with('\n');
}

bool finds(const std::string& report, std::string_view rule) {
  const auto parsed = base::parse_json(report, "report");
  REQUIRE(parsed.has_value());
  const auto& found = parsed->at("findings").as_array();
  return std::any_of(found.begin(), found.end(),
                     [&](const json::value& one) { return one.at("rule").as_string() == rule; });
}

// Everything in a JSON report that judging made, without the facts.
std::string judged(const std::string& report) {
  auto parsed = base::parse_json(report, "report");
  REQUIRE(parsed.has_value());
  auto& object = parsed->as_object();
  object.erase("facts");
  object.erase("node");
  return json::serialize(object);
}

}  // namespace

TEST_CASE("cli: wrong usage is exit 2 with one clear line on standard error and nothing on standard output") {
  struct Row {
    std::vector<std::string> arguments;
    std::string part;
  };
  const std::vector<Row> rows = {
      {{}, "one of audit, collect, probe, latency, compare, rules, facts,"},
      {{"audti"}, "unknown command audti (did you mean audit?)"},
      {{"rules"}, "rules: one of list, explain, lint, test is wanted"},
      {{"rules", "explian"}, "unknown command rules explian (did you mean explain?)"},
      {{"audit", "--frm", "x"}, "unknown option --frm (did you mean --from?)"},
      {{"audit", "--frm=x"}, "unknown option --frm"},
      {{"audit", "--raw", "x"}, "audit has no option --raw"},
      {{"audit", "surplus"}, "audit takes no argument \"surplus\""},
      {{"audit", "--from"}, "--from wants FILE"},
      {{"audit", "--format", "text", "--format", "json"}, "--format is given more than once"},
      {{"audit", "--format", "txt"}, "--format \"txt\" is unknown (did you mean text?)"},
      {{"audit", "--report", "json"}, "--report wants NAME=FILE"},
      {{"audit", "--report", "text=-", "--report", "json=-"}, "two reports go to standard output"},
      {{"audit", "--fail-on", "errors"}, "did you mean error?"},
      {{"audit", "--profile", "databse"}, "did you mean database?"},
      {{"audit", "--lang", "de"}, "there are en, ja"},
      {{"audit", "--root", "/", "--from", "x"}, "--root and --from exclude each other"},
      {{"audit", "--input", "mounts"}, "--input wants KIND=FILE"},
      {{"audit", "--input", "mount=x"}, "did you mean mounts?"},
      {{"audit", "--sample", "soon"}, "--sample \"soon\" is no time"},
      {{"audit", "--only", "NO-SUCH-*"}, "matches no rule"},
      {{"audit", "--\x1b[2J"}, "\\x1b[2J"},
      {{"rules", "explain"}, "rules explain wants ID"},
      {{"rules", "explain", "A", "B"}, "takes no argument \"B\""},
      {{"rules", "explain", "NFS-VERS-01"}, "NFS-VERS-001"},
  };
  for (const auto& row : rows) {
    const auto ran = run(row.arguments);
    INFO(ran.err);
    CHECK(ran.code == 2);
    CHECK(ran.out.empty());
    CHECK(one_line(ran.err));
    CHECK(has(ran.err, row.part));
  }
}

TEST_CASE("cli: input that cannot be read is exit 2 with the place and the reason") {
  const Scratch scratch;
  struct Row {
    std::vector<std::string> arguments;
    std::string part;
  };
  const std::string broken = scratch.write("broken.json", "{\"schema\": \"mountaudit.facts/1\",\n \"node\": }");
  const std::string other = scratch.write("other.json", "{}");
  std::filesystem::create_directory(scratch.path("empty"));
  std::filesystem::create_directories(scratch.path("root") + "/etc");
  const std::vector<Row> rows = {
      {{"audit", "--from", scratch.path("none.json")}, "none.json: "},
      {{"audit", "--from", broken}, "broken.json:2:"},
      {{"audit", "--from", other}, "no facts document"},
      {{"audit", "--from", scratch.path("empty")}, "empty"},
      {{"audit", "--root", scratch.path("nowhere")}, "nowhere"},
      {{"audit", "--root", scratch.path("empty")}, "empty: "},
      {{"audit", "--root", scratch.path("root")}, "no table of mounts"},
      {{"audit", "--input", "mounts=" + scratch.path("none")}, "none"},
      {{"audit", "--since", broken, "--root", worker}, "broken.json:2:"},
      {{"audit", "--waive", scratch.path("none.yaml"), "--root", worker}, "none.yaml"},
      {{"audit", "--rules", scratch.path("nowhere"), "--root", worker}, "nowhere"},
      {{"audit", "--report", "json=" + scratch.path("no/such/file"), "--root", worker}, "cannot be written"},
  };
  for (const auto& row : rows) {
    const auto ran = run(row.arguments);
    INFO(ran.err);
    CHECK(ran.code == 2);
    CHECK(ran.out.empty());
    CHECK(one_line(ran.err));
    CHECK(has(ran.err, row.part));
  }
}

TEST_CASE("cli: a report file is opened before the work and keeps its content when the work fails") {
  const Scratch scratch;
  const std::string old = scratch.write("old.json", "kept");
  auto ran = run(
      {"audit", "--from", "/nowhere.json", "--report", "json=" + old, "--report", "text=" + scratch.path("new.txt")});
  CHECK(ran.code == 2);
  CHECK(test::read_file(old) == "kept");
  CHECK_FALSE(std::filesystem::exists(scratch.path("new.txt")));
  ran = run({"audit", "--root", worker, "--fail-on", "never", "--report", "json=" + old, "--report",
             "text=" + scratch.path("new.txt")});
  CHECK(ran.code == 0);
  CHECK(base::parse_json(test::read_file(old), "old").has_value());
  CHECK(has(test::read_file(scratch.path("new.txt")), "COULD BE BETTER"));
  CHECK(has(ran.out, "COULD BE BETTER"));
}

TEST_CASE("cli: --report to - is what standard output gets, and talk stays on standard error") {
  const auto ran = run({"audit", "--root", worker, "--report", "json=-"});
  const auto report = base::parse_json(ran.out, "out");
  REQUIRE(report.has_value());
  CHECK(report->at("schema") == "mountaudit.report/1");
  CHECK(ran.err.empty());
  CHECK(judged(ran.out) == judged(run({"audit", "--root", worker, "--format", "json"}).out));
}

TEST_CASE("cli: the exit code follows --fail-on") {
  const auto count = [&](const char* severity) {
    const auto report = base::parse_json(run({"audit", "--root", worker, "--format", "json"}).out, "out");
    REQUIRE(report.has_value());
    return report->at("summary").at(severity).to_number<int>();
  };
  const int errors = count("error");
  const int warnings = count("warning");
  const int notices = count("notice");
  REQUIRE(notices > 0);
  CHECK(run({"audit", "--root", worker}).code == (errors > 0 ? 1 : 0));
  CHECK(run({"audit", "--root", worker, "--fail-on", "error"}).code == (errors > 0 ? 1 : 0));
  CHECK(run({"audit", "--root", worker, "--fail-on", "warning"}).code == (errors + warnings > 0 ? 1 : 0));
  CHECK(run({"audit", "--root", worker, "--fail-on", "notice"}).code == 1);
  CHECK(run({"audit", "--root", worker, "--fail-on", "never"}).code == 0);
}

TEST_CASE("cli: collect then audit --from gives the findings of audit, byte for byte, on every sample tree") {
  const auto tree = GENERATE(from_range(sample_trees()));
  INFO(tree);
  const Scratch scratch;
  const auto facts = run({"collect", "--root", tree});
  REQUIRE(facts.code == 0);
  CHECK(facts.err.empty());
  const std::string saved = scratch.write("facts.json", facts.out);
  const auto direct = run({"audit", "--root", tree, "--format", "json"});
  const auto replayed = run({"audit", "--from", saved, "--format", "json"});
  CHECK(direct.code == replayed.code);
  CHECK(judged(direct.out) == judged(replayed.out));
  // A report is as good a source as the facts, and standard input as good as a file.
  CHECK(run({"audit", "--from", "-", "--format", "json"}, {}, direct.out).out == direct.out);
}

TEST_CASE("cli: a facts document may be one line, however long") {
  const Scratch scratch;
  const std::string tree = source_dir + "/samples/trees/openshift-worker";
  boost::json::value facts = boost::json::parse(run({"collect", "--root", tree}).out);
  facts.at("sources").as_array().push_back(
      {{"id", "x"}, {"name", "x"}, {"status", "ok"}, {"detail", std::string(std::size_t{2} << 20, 'x')}});
  const std::string saved = scratch.write("facts.json", boost::json::serialize(facts));
  const auto replayed = run({"audit", "--from", saved});
  CHECK(replayed.err.empty());
  CHECK(replayed.code == run({"audit", "--root", tree}).code);
}

TEST_CASE("cli: collect --raw then --root gives the findings of audit, byte for byte, on every sample tree") {
  const auto tree = GENERATE(from_range(sample_trees()));
  INFO(tree);
  const Scratch scratch;
  const std::string raw = scratch.path("raw");
  const auto collected = run({"collect", "--root", tree, "--raw", raw});
  INFO(collected.err);
  REQUIRE(collected.code == 0);
  CHECK(collected.out.empty());
  CHECK(has(collected.err, "mountaudit audit --root " + raw));
  const auto direct = run({"audit", "--root", tree, "--format", "json"});
  const auto replayed = run({"audit", "--root", raw, "--format", "json"});
  CHECK(direct.code == replayed.code);
  CHECK(judged(direct.out) == judged(replayed.out));
  const auto again = run({"collect", "--root", raw});
  CHECK(judged(run({"audit", "--from", "-", "--format", "json"}, {}, again.out).out) == judged(replayed.out));
  // A directory with something in it is not written to.
  CHECK(run({"collect", "--root", tree, "--raw", raw}).code == 2);
}

TEST_CASE("cli: the live node can be audited, and its raw tree and facts agree") {
  const Scratch scratch;
  const auto live = run({"collect", "--sample", "0", "--quiet", "--raw", scratch.path("raw")});
  INFO(live.err);
  REQUIRE(live.code == 0);
  const auto facts = run({"collect", "--root", scratch.path("raw")});
  const std::string saved = scratch.write("facts.json", facts.out);
  CHECK(judged(run({"audit", "--root", scratch.path("raw"), "--format", "json"}).out) ==
        judged(run({"audit", "--from", saved, "--format", "json"}).out));
}

TEST_CASE("cli: a node without network storage is told so, exit 0") {
  const Scratch scratch;
  const std::string mounts = scratch.write("mounts", "/dev/sda1 / ext4 rw,relatime 0 0\n");
  const auto ran = run({"audit", "--input", "mounts=" + mounts});
  CHECK(ran.code == 0);
  CHECK(has(ran.out, "No NFS mounts on this node: 0 packets sent, nothing to ask.\n"));
  CHECK(ran.err.empty());
}

TEST_CASE("cli: one pasted text is enough, from standard input too") {
  const auto ran = run({"audit", "--input", "mounts=-", "--fail-on", "never"}, {},
                       "srv:/data /mnt/data nfs4 rw,vers=4.2,rsize=65536,wsize=65536,soft,proto=tcp,timeo=50,"
                       "retrans=2,sec=sys,clientaddr=192.0.2.7,local_lock=none,addr=192.0.2.1 0 0\n");
  INFO(ran.err);
  CHECK(ran.code == 0);
  CHECK(has(ran.out, "NFS-RECOV-001"));
}

TEST_CASE("cli: a report of texts alone bears the name of the one file, or says that it is pasted text") {
  const Scratch scratch;
  const std::string text =
      "srv:/data /mnt/data nfs4 rw,vers=4.2,soft,proto=tcp,timeo=50,retrans=2,addr=192.0.2.1 0 0\n";
  const std::string file = scratch.write("wk-02.mounts", text);
  const std::string fstab = scratch.write("fstab", "srv:/data /mnt/data nfs4 soft 0 0\n");
  struct Row {
    std::vector<std::string> arguments;
    std::string name;
  };
  for (const Row& row :
       {Row{{"--input", "mounts=" + file}, "wk-02.mounts"}, Row{{"--input", "mounts=-"}, "pasted text"},
        Row{{"--input", "mounts=" + file, "--input", "fstab=" + fstab}, "pasted text"}}) {
    std::vector<std::string> arguments = {"audit", "--fail-on", "never"};
    arguments.insert(arguments.end(), row.arguments.begin(), row.arguments.end());
    const auto ran = run(arguments, {}, text);
    INFO(ran.out + ran.err);
    CHECK(ran.out.starts_with(row.name + "  from the texts given, "));
    arguments.insert(arguments.end(), {"--format", "json"});
    const auto report = base::parse_json(run(arguments, {}, text).out, "report");
    REQUIRE(report.has_value());
    CHECK(report->at("node").at("name").as_string() == row.name.c_str());
    for (const auto& finding : report->at("findings").as_array())
      if (finding.at("subject").at("kind").as_string() == "node")
        CHECK(finding.at("subject").at("id").as_string() == row.name.c_str());
  }
}

namespace {

constexpr const char* cluster_yaml =
    "apiVersion: v1\nkind: List\nitems:\n"
    "- apiVersion: v1\n  kind: PersistentVolume\n  metadata:\n    name: pv-data\n  spec:\n"
    "    mountOptions: [nfsvers=4.1, nconnect=8, hard]\n"
    "    nfs:\n      server: 192.0.2.1\n      path: /data\n"
    "- apiVersion: v1\n  kind: Secret\n  metadata:\n    name: chap\n  stringData:\n    password: planted-secret\n"
    "---\n"
    "apiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata:\n  name: fast\nprovisioner: nfs.csi.k8s.io\n"
    "mountOptions: [soft]\n---\n"
    "apiVersion: trident.netapp.io/v1\nkind: TridentBackendConfig\nmetadata:\n  name: nas\nspec:\n"
    "  storageDriverName: ontap-nas\n  nfsMountOptions: nconnect=4\n  credentials:\n    name: planted-name\n";

constexpr const char* one_mount =
    "192.0.2.1:/data /mnt/data nfs4 rw,vers=4.1,rsize=65536,wsize=65536,hard,proto=tcp,timeo=600,"
    "retrans=2,sec=sys,clientaddr=192.0.2.7,local_lock=none,addr=192.0.2.1 0 0\n";

}  // namespace

TEST_CASE("cli: what --declare names enters what was asked for, with its place, and asks no secret") {
  const Scratch scratch;
  const std::string cluster = scratch.write("cluster.yaml", cluster_yaml);
  const std::string mounts = scratch.write("mounts", one_mount);
  const auto facts = run({"collect", "--input", "mounts=" + mounts, "--declare", cluster});
  INFO(facts.err);
  REQUIRE(facts.code == 0);
  const auto document = base::parse_json(facts.out, "facts");
  REQUIRE(document.has_value());
  const auto& asked = document->at("nfs").at("mounts").at(0).at("asked");
  CHECK(asked.at("origin") == "pv");
  CHECK(asked.at("path") == json::value(cluster + ":4"));
  CHECK(asked.at("text") == "nfsvers=4.1,nconnect=8,hard");
  CHECK(document->at("declared").at("storage_classes").at(0).at("name") == "fast");
  CHECK(document->at("declared").at("trident_backends").at(0).at("nfs_mount_options") == "nconnect=4");
  CHECK_FALSE(has(facts.out, "planted"));
  CHECK(has(facts.out, "Secret of v1 is not looked at"));

  // nconnect=8 was asked for, the kernel runs one connection.
  const auto direct =
      run({"audit", "--input", "mounts=" + mounts, "--declare", cluster, "--format", "json", "--fail-on", "never"});
  CHECK(finds(direct.out, "NFS-NCONNECT-002"));
  CHECK_FALSE(finds(run({"audit", "--input", "mounts=" + mounts, "--format", "json"}).out, "NFS-NCONNECT-002"));
  // Saved facts keep it, facts saved without it take it, and standard input is as good as a file.
  const std::string saved = scratch.write("facts.json", facts.out);
  CHECK(judged(run({"audit", "--from", saved, "--format", "json"}).out) == judged(direct.out));
  const std::string bare = scratch.write("bare.json", run({"collect", "--input", "mounts=" + mounts}).out);
  CHECK(has(run({"audit", "--from", bare, "--declare", "-", "--format", "json"}, {}, cluster_yaml).out,
            "\"standard input:4\""));
}

TEST_CASE("cli: collect --raw keeps what was declared") {
  const Scratch scratch;
  const std::string cluster = scratch.write("cluster.yaml", cluster_yaml);
  REQUIRE(run({"collect", "--root", worker, "--declare", cluster, "--raw", scratch.path("raw")}).code == 0);
  const auto direct = run({"audit", "--root", worker, "--declare", cluster, "--format", "json"});
  CHECK(judged(run({"audit", "--root", scratch.path("raw"), "--format", "json"}).out) == judged(direct.out));
  CHECK_FALSE(has(test::read_file(scratch.path("raw/mountaudit/declared.json")), "planted"));
}

TEST_CASE("cli: what --declare cannot read is exit 2 and one line that says what it reads") {
  const Scratch scratch;
  const std::string mounts = scratch.write("mounts", one_mount);
  const std::string secret = scratch.write("secret.yaml", "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\n");
  const std::string own = scratch.write("own.yaml", "schema: mountaudit.declare/2\nstorage: []\n");
  struct Row {
    std::string argument;
    std::string part;
  };
  for (const Row& row : {Row{"ontap-qos=" + secret, "--declare ontap-qos="},
                         {"qos=" + secret, "there is no such kind"},
                         {secret, "holds Secret of v1, which is not looked at"},
                         {own, "mountaudit.declare/2 is not read"},
                         {mounts, "StorageClass"}}) {
    const auto ran = run({"audit", "--input", "mounts=" + mounts, "--declare", row.argument});
    INFO(ran.err);
    CHECK(ran.code == 2);
    CHECK(ran.out.empty());
    CHECK(one_line(ran.err));
    CHECK(has(ran.err, row.part));
    CHECK(has(ran.err, "what is read: Kubernetes YAML or JSON (PersistentVolume,"));
  }
  CHECK(run({"audit", "--input", "mounts=" + mounts, "--declare", scratch.path("none.yaml")}).code == 2);
  const auto broken = run({"audit", "--declare", scratch.write("broken.yaml", "apiVersion: v1\nkind: [\n")});
  CHECK(broken.code == 2);
  CHECK(has(broken.err, "broken.yaml:"));
  const auto twice = run({"audit", "--input", "mounts=-", "--declare", "-"});
  CHECK(twice.code == 2);
  CHECK(has(twice.err, "standard input is named more than once"));
}

TEST_CASE("cli: --only, --skip and --profile choose") {
  const auto only = run({"audit", "--root", worker, "--only", "NFS-VERS-*", "--format", "json"});
  CHECK(has(only.out, "NFS-VERS-001"));
  CHECK_FALSE(has(only.out, "NFS-IOSIZE"));
  CHECK_FALSE(has(run({"audit", "--root", worker, "--skip", "NFS-*", "--format", "json"}).out, "NFS-VERS-001"));
  const auto profile = run({"audit", "--root", worker, "--profile", "database", "--profile", "failover"});
  CHECK(has(profile.out, "database"));
  CHECK(has(profile.out, "failover"));
  CHECK_FALSE(has(profile.out, "openshift-virtualization"));
}

TEST_CASE("cli: colour is for terminals, or for who asks") {
  CHECK_FALSE(has(run({"demo", "audit"}, {{"TERM", "xterm"}}).out, "\x1b"));
  CHECK_FALSE(has(run({"demo", "audit"}, {{"TERM", "xterm"}, {"NO_COLOR", "1"}}).out, "\x1b"));
  CHECK(has(run({"demo", "audit", "--color"}, {{"NO_COLOR", "1"}}).out, "\x1b[1m"));
}

TEST_CASE("cli: --lang and MOUNTAUDIT_LANG give Japanese, and the flag wins") {
  CHECK(has(run({"demo", "audit", "--lang", "ja"}).out, "改善できるもの"));
  CHECK(has(run({"demo", "audit"}, {{"MOUNTAUDIT_LANG", "ja"}}).out, "改善できるもの"));
  CHECK(has(run({"demo", "audit", "--lang", "en"}, {{"MOUNTAUDIT_LANG", "ja"}}).out, "COULD BE BETTER"));
}

TEST_CASE("cli: the demo needs nothing, fits 24 lines of 80 columns, and is the sample tree's audit") {
  const auto ran = run({"demo", "audit"});
  CHECK(ran.code == 0);
  CHECK(ran.err.empty());
  CHECK(std::count(ran.out.begin(), ran.out.end(), '\n') <= 24);
  std::string_view rest = ran.out;
  std::string_view line;
  while (base::next_line(rest, line)) {
    INFO(line);
    CHECK(base::display_width(line) <= 80);
  }
  CHECK(judged(run({"demo", "audit", "--format", "json"}).out) ==
        judged(run({"audit", "--root", worker, "--format", "json"}).out));
}

TEST_CASE("cli: the README shows the demo as it is") {
  const auto without_time = [](std::string text) {  // "0.16 s", the one thing that differs from run to run
    const auto end = text.find(" s\n");
    auto start = end;
    while (start != std::string::npos && start > 0 && text[start - 1] != ' ') --start;
    return end == std::string::npos ? text : text.erase(start, end - start);
  };
  std::string shown;
  const std::string out = run({"demo", "audit"}).out;
  std::string_view rest = out;
  std::string_view line;
  while (base::next_line(rest, line)) shown += line.empty() ? "\n" : "    " + std::string(line) + "\n";
  const std::string readme = without_time(test::read_file(source_dir + "/README.md"));
  CHECK(has(readme, "    $ mountaudit demo audit\n" + without_time(shown)));
}

TEST_CASE("cli: every command explains itself with usage, all its options and an example") {
  CHECK(run({"--version"}).out == "mountaudit " MOUNTAUDIT_VERSION "\n");
  const auto top = run({"--help"});
  CHECK(top.code == 0);
  for (const auto& command : cli::commands()) {
    std::vector<std::string> words;
    for (const auto word : base::fields(cli::full_name(command))) words.emplace_back(word);
    INFO(cli::full_name(command));
    CHECK(has(top.out, cli::full_name(command)));
    words.emplace_back("--help");
    const auto help = run(words);
    CHECK(help.code == 0);
    CHECK(help.err.empty());
    CHECK(has(help.out, "Usage: mountaudit " + cli::full_name(command)));
    CHECK(has(help.out, command.example));
    for (const auto& option : cli::options()) {
      INFO(option.name);
      const std::string name = std::string(option.name) + (option.value.empty() ? "" : " ") + std::string(option.value);
      // One name may be two options: reports have other formats than comparisons.
      const auto all = cli::options();
      const bool takes = std::any_of(all.begin(), all.end(), [&](const cli::Option& other) {
        return other.name == option.name && other.value == option.value && cli::takes(command, other);
      });
      CHECK(has(help.out, name) == takes);
    }
    for (const auto& option : cli::options())
      if (!option.example.empty()) CHECK(has(help.out, option.example) == cli::takes(command, option));
    std::string_view rest = help.out;
    std::string_view line;
    while (base::next_line(rest, line)) CHECK(base::display_width(line) <= 80);
  }
  for (const auto& family : cli::families())
    CHECK(has(run({std::string(family.name), "--help"}).out, "mountaudit " + std::string(family.name)));
}

TEST_CASE("cli: manual and completions carry every command and every flag") {
  const std::string kind = GENERATE("man", "bash", "zsh", "fish");
  const auto ran = run({"--generate", kind});
  CHECK(ran.code == 0);
  INFO(kind);
  for (const auto& option : cli::options()) {
    std::string name(option.name);
    if (kind == "fish") name = "-l " + name.substr(2);
    if (kind == "man") {
      for (std::size_t at = 0; (at = name.find('-', at)) != std::string::npos; at += 2) name.insert(at, "\\");
    }
    INFO(name);
    CHECK(has(ran.out, name));
  }
  for (const auto& command : cli::commands()) CHECK(has(ran.out, command.name));
  CHECK(run({"--generate", "tcsh"}).code == 2);
}

TEST_CASE("cli: the bash completion is valid bash and offers commands, flags and values") {
  if (::access("/bin/bash", X_OK) != 0) {
    WARN("SKIPPED: no bash here");
    return;
  }
  const Scratch scratch;
  const std::string file = scratch.write("mountaudit.bash", run({"--generate", "bash"}).out);
  const auto complete = [&](const std::string& words, int at) {
    const std::string script = scratch.write(
        "try.sh", "set -u\ncompopt() { :; }\n. " + file + "\nCOMP_WORDS=(mountaudit " + words +
                      ")\nCOMP_CWORD=" + std::to_string(at) + "\n_mountaudit\nprintf '%s\\n' \"${COMPREPLY[@]}\" > " +
                      scratch.path("got") + "\n");
    CHECK(std::system(("/bin/bash " + script).c_str()) == 0);
    return test::read_file(scratch.path("got"));
  };
  CHECK(complete("a", 1) == "audit\n");
  CHECK(complete("rules e", 2) == "explain\n");
  CHECK(complete("audit --fo", 2) == "--format\n");
  CHECK(complete("audit --format j", 3) == "json\n");
  CHECK(complete("audit --input mounti", 3) == "mountinfo=\n");
  CHECK(has(complete("collect --r", 2), "--raw\n"));
}

TEST_CASE("cli: a reader that goes away is no noise") {
  for (const char* command : {"facts schema", "demo audit --format json", "facts list"}) {
    INFO(command);
    const Scratch scratch;
    const std::string shell = test::program() + " " + command + " 2>" + scratch.path("err") + " | head -c 1 >/dev/null";
    CHECK(std::system(shell.c_str()) == 0);
    CHECK(test::read_file(scratch.path("err")).empty());
  }
}

TEST_CASE("cli: output that cannot be written is exit 2") {
  if (::access("/dev/full", W_OK) != 0) {
    WARN("SKIPPED: no /dev/full here");
    return;
  }
  const int status = std::system((test::program() + " facts schema >/dev/full 2>/dev/null").c_str());
  CHECK(WEXITSTATUS(status) == 2);
}

TEST_CASE("cli: rules of a directory are added, and MOUNTAUDIT_RULES names one too") {
  const Scratch scratch;
  std::filesystem::create_directory(scratch.path("site"));
  scratch.write("site/limits.yaml", "no-such-key: [\n");
  const auto ran = run({"rules", "list", "--rules", scratch.path("site")});
  CHECK(ran.code == 2);
  CHECK(has(ran.err, "limits.yaml"));
  CHECK(run({"rules", "list"}, {{"MOUNTAUDIT_RULES", scratch.path("site")}}).code == 2);
  CHECK(run({"rules", "list"}).code == 0);
}

TEST_CASE("cli: rules list, explain and lint") {
  const auto list = run({"rules", "list"});
  CHECK(has(list.out, "NFS-NCONNECT-001"));
  CHECK(has(run({"rules", "explain", "NFS-NCONNECT-001"}).out, "nconnect"));
  CHECK(run({"rules", "lint", source_dir + "/rules"}).code == 0);
  const Scratch scratch;
  const auto bad = run({"rules", "lint", scratch.write("X-1.yaml", "id: X-1\nfoo: bar\n")});
  CHECK(bad.code == 1);
  CHECK(has(bad.out, "X-1.yaml:"));
}

TEST_CASE("cli: facts list and schema") {
  const auto list = run({"facts", "list"});
  CHECK(has(list.out, "nfs.mounts[].rsize_bytes"));
  CHECK(has(list.out, "in_flight.mean"));
  CHECK(base::parse_json(run({"facts", "schema"}).out, "schema").has_value());
}

TEST_CASE("cli: a signal ends the wait for the second sample at once and is remembered for the exit code") {
  cli::note_signals();
  REQUIRE(cli::signal_seen() == 0);
  std::raise(SIGTERM);
  CHECK(cli::signal_seen() == SIGTERM);
  const auto before = std::chrono::steady_clock::now();
  cli::wait(std::chrono::minutes(5), false, "never");
  CHECK(std::chrono::steady_clock::now() - before < std::chrono::minutes(1));
}
