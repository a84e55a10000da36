// Loading rules: what is refused, with which line and which hint. The rule texts here are invented.
#include "audit/eval/rules.h"

#include <catch2/catch.hpp>

#include <set>

#include "audit/base/text.h"
#include "audit/eval/explain.h"
#include "audit/eval/pattern.h"
#include "audit/eval/yaml.h"
#include "rules/embedded.h"

namespace {

using audit::TextFile;

std::vector<TextFile> shipped() {
  std::vector<TextFile> files;
  for (const auto& file : rules::embedded_rules()) files.push_back({std::string(file.path), std::string(file.text)});
  return files;
}

const std::string good = R"(id: TEST-1
title: t
kind: tuning
basis: [standard]
for_each: nfs.mounts
levels:
  - { severity: notice, when: { timeo_ds: { lt: 100 } } }
message: "{target}: {timeo_s:.1f}"
fix: { text: nothing }
effect: remount
)";

// The good rule with one line replaced.
std::string with(const std::string& line, const std::string& instead) {
  const std::size_t at = good.find(line);
  REQUIRE(at != std::string::npos);
  return good.substr(0, at) + instead + good.substr(at + line.size());
}

std::string error_of(const std::string& text) {
  const std::vector<TextFile> extra{{"limits.yaml", "a.number: 3\na.list: [x, y]\n"}, {"t.yaml", text}};
  const auto set = audit::load_rules(extra);
  return set ? "" : base::to_text(set.error());
}

}  // namespace

TEST_CASE("rules: the rules that ship load, lint, and are ten", "[rules]") {
  const auto set = audit::load_rules(shipped());
  if (!set) FAIL(base::to_text(set.error()));
  CHECK(set->rules.size() >= 10);
  for (const char* id : {"NFS-VERS-001", "NFS-NCONNECT-001", "NFS-NCONNECT-002", "NFS-NCONNECT-003", "NFS-NCONNECT-007",
                         "NFS-IOSIZE-001", "NFS-IOSIZE-003", "NFS-RECOV-001", "NFS-RECOV-002", "NFS-LOCK-002"}) {
    INFO(id);
    const audit::Rule* rule = set->find(id);
    REQUIRE(rule != nullptr);
    CHECK(rule->file.ends_with(std::string(id) + ".yaml"));
    CHECK_FALSE(rule->why.empty());
    CHECK_FALSE(rule->title.ja.empty());
    CHECK_FALSE(rule->message.ja.empty());
    CHECK_FALSE(rule->why.ja.empty());
    CHECK_FALSE(rule->fix.text.ja.empty());
    CHECK_FALSE(rule->refs.empty());
  }
  for (const auto& error : audit::lint_rules(shipped(), {})) FAIL_CHECK(base::to_text(error));
}

TEST_CASE("rules: the good rule of these tests loads", "[rules]") { CHECK(error_of(good) == ""); }

TEST_CASE("rules: what is wrong is told with its line and the nearest name", "[rules]") {
  struct Row {
    const char* name;
    std::string text;
    const char* error;
  };
  const std::string level = "  - { severity: notice, when: { timeo_ds: { lt: 100 } } }";
  const auto when = [&](const std::string& condition) {
    return with(level, "  - { severity: notice, when: " + condition + " }");
  };
  const std::vector<Row> rows{
      {"unknown key", with("effect: remount", "efect: remount"), "t.yaml:10: unknown key 'efect', nearest: effect"},
      {"missing key", with("kind: tuning\n", ""), "t.yaml:1: the key 'kind' is missing"},
      {"duplicate key", good + "title: again\n", "t.yaml:11: the key 'title' stands twice in one mapping"},
      {"duplicate key inside", when("{ timeo_ds: { lt: 1 }, timeo_ds: { gt: 0 } }"),
       "t.yaml:7: the key 'timeo_ds' stands twice in one mapping"},
      {"anchor", with("title: t", "title: &a t"), "t.yaml:2: anchors (&name) are not taken"},
      {"alias", with("title: t", "title: *a"), "t.yaml:2: "},
      {"second document", good + "---\na: b\n", "t.yaml:12: a second document in one file"},
      {"kind", with("kind: tuning", "kind: tunning"), "t.yaml:3: unknown kind 'tunning', nearest: tuning"},
      {"basis", with("[standard]", "[standards]"), "t.yaml:4: unknown basis 'standards', nearest: standard"},
      {"effect", with("effect: remount", "effect: remounts"), "t.yaml:10: unknown effect 'remounts', nearest: remount"},
      {"severity", with("severity: notice", "severity: notise"),
       "t.yaml:7: unknown severity 'notise', nearest: notice"},
      {"for_each", with("nfs.mounts", "nfs.mount"), "t.yaml:5: unknown list 'nfs.mount', nearest: nfs.mounts"},
      {"fact", when("{ timeo: { lt: 1 } }"), "t.yaml:7: no fact 'timeo' of nfs.mounts, nearest: timeo_s"},
      {"fact of a join", when("{ server.lease: { lt: 1 } }"),
       "t.yaml:7: no fact 'server.lease' of nfs.mounts, nearest: server.lease_s"},
      {"path through a list", when("{ ops.op: { eq: READ } }"), "t.yaml:7: 'ops.op' goes through the list 'ops'"},
      {"operator", when("{ timeo_ds: { less: 1 } }"), "t.yaml:7: unknown operator 'less', nearest: le"},
      {"no operator", when("{ timeo_ds: 1 }"), "t.yaml:7: 'timeo_ds' needs an operator"},
      {"text against number", when("{ vers: { eq: 3 } }"), "t.yaml:7: 'vers' is text, '3' is not: put it in quotes"},
      {"number against text", when("{ timeo_ds: { eq: \"3\" } }"), "t.yaml:7: 'timeo_ds' is a number, '3' is not"},
      {"boolean against number", when("{ rw: { eq: 1 } }"), "t.yaml:7: 'rw' is true or false, '1' is not"},
      {"order of texts", when("{ vers: { lt: \"4\" } }"), "t.yaml:7: 'vers' is text: lt needs a number"},
      {"facts of other types", when("{ vers: { eq: { fact: timeo_ds } } }"),
       "t.yaml:7: 'vers' is text, 'timeo_ds' is a number"},
      {"in without a list", when("{ vers: { in: \"3\" } }"), "t.yaml:7: in takes a list, or { fact: PATH }"},
      {"limit", when("{ timeo_ds: { lt: { limit: a.numbr } } }"),
       "t.yaml:7: unknown limit 'a.numbr', nearest: a.number"},
      {"limit of another type", when("{ vers: { eq: { limit: a.number } } }"), "t.yaml:7: 'vers' is text, '3' is not"},
      {"list limit for one value", when("{ vers: { eq: { limit: a.list } } }"),
       "t.yaml:7: the limit 'a.list' is a list: eq takes one value"},
      {"operand", when("{ timeo_ds: { lt: { limits: a.number } } }"),
       "t.yaml:7: unknown operand 'limits', nearest: limit"},
      {"exists", when("{ timeo_ds: { exists: 1 } }"), "t.yaml:7: exists takes true or false"},
      {"group of facts", when("{ asked: { eq: 1 } }"),
       "t.yaml:7: 'asked' is a group of facts: eq needs a single value"},
      {"pattern", when("{ vers: { matches: \"(3\" } }"), "t.yaml:7: pattern: '(' without ')' at character 3"},
      {"pattern of a number", when("{ timeo_ds: { matches: \"3\" } }"),
       "t.yaml:7: 'timeo_ds' is a number: matches needs a text"},
      {"profile", with(level, "  - { severity: notice, profiles: [databse] }"),
       "t.yaml:7: unknown profile 'databse', nearest: database"},
      {"placeholder", with("{target}", "{targt}"), "t.yaml:8: no fact 'targt' of nfs.mounts, nearest: target"},
      {"placeholder not closed", with("{target}", "{target"), "t.yaml:8: "},
      {"format", with(":.1f", ":.1x"), "t.yaml:8: '{timeo_s:.1x}': no such format for a number"},
      {"snippet", with("text: nothing", "text: nothing, snippets: [S99]"), "t.yaml:9: unknown snippet 'S99'"},
      {"group_by", good + "group_by: cliemt\n", "t.yaml:11: no fact 'cliemt' of nfs.mounts, nearest: client"},
      {"affects", good + "affects: mount\n", "t.yaml:11: no list 'mount' of nfs.mounts, nearest: mounts"},
      {"show", good + "show: [asked]\n", "t.yaml:11: 'asked' is a group of facts, not one that can be shown"},
      {"column", good + "show: { table: client.ops, columns: [opp] }\n",
       "t.yaml:11: no fact 'opp' of nfs.clients.ops, nearest: op"},
      {"no map", "- a\n", "t.yaml:1: expected a mapping of keys"},
      {"not YAML", "a: [\n", "t.yaml:2: "},
      {"empty", "", "t.yaml:1: empty"},
  };
  for (const Row& row : rows) {
    INFO(row.name);
    const std::string error = error_of(row.text);
    INFO(error);
    CHECK(error.starts_with(row.error));
    CHECK_FALSE(error.empty());
  }
}

TEST_CASE("rules: nesting is bounded and said so", "[rules]") {
  std::string deep = "{ vers: { eq: \"3\" } }";
  for (int i = 0; i < 200; ++i) deep = "{ not: " + deep + " }";
  CHECK(error_of(with("{ timeo_ds: { lt: 100 } }", deep)) == "t.yaml:7: nested more than 32 levels deep");
  CHECK(error_of("a:\n  " + std::string(1000, '[') + std::string(1000, ']') + "\n").starts_with("t.yaml:2: "));
  CHECK_FALSE(error_of(std::string(100000, '[')).empty());
}

TEST_CASE("rules: a site's rule replaces the shipped one by id, limits override by name", "[rules]") {
  const std::vector<TextFile> site{{"site/limits.yaml", "recov.timeo_ds: 50\n"},
                                   {"site/x.yaml", with("TEST-1", "NFS-RECOV-002")},
                                   {"site/y.yaml", with("{ lt: 100 }", "{ lt: { limit: recov.timeo_ds } }")}};
  const auto set = audit::load_rules(shipped(), site);
  REQUIRE(set);
  CHECK(set->rules.size() == audit::load_rules(shipped())->rules.size() + 1);
  CHECK(set->find("NFS-RECOV-002")->file == "site/x.yaml");
  CHECK(set->find("TEST-1")->levels[0].when->tests[0].literal == facts::Value(50));
}

TEST_CASE("rules: one id in two files of the same set is refused", "[rules]") {
  const auto set = audit::load_rules({{"a.yaml", good}, {"b.yaml", good}});
  REQUIRE_FALSE(set);
  CHECK(base::to_text(set.error()) == "b.yaml:1: the id 'TEST-1' is taken by another file");
}

TEST_CASE("rules: lint tells every error, and where the languages disagree", "[rules]") {
  const auto lint = [](const std::string& text) {
    std::vector<std::string> errors;
    for (const auto& error : audit::lint_rules({{"t.yaml", text}}, {})) errors.push_back(base::to_text(error));
    return errors;
  };
  CHECK(lint(good).empty());
  const std::string two = with("kind: tuning", "kind: x");
  CHECK(lint(two.substr(0, two.find("effect")) + "effect: y\n").size() == 2);
  const auto ja = lint(good + "why: It takes 10 s for {target}.\nja: { why: \"{source} は 20 秒です\" }\n");
  REQUIRE(ja.size() == 2);
  CHECK(ja[0] == "t.yaml: TEST-1: the placeholders of why differ between English and Japanese: source, target");
  CHECK(ja[1] == "t.yaml: TEST-1: the numbers of why differ between English and Japanese: 10, 20");
}

TEST_CASE("rules: explain prints texts, conditions in words and snippets, and helps with a wrong id", "[rules]") {
  const auto set = audit::load_rules(shipped());
  REQUIRE(set);
  const auto text = audit::explain_rule(*set, "NFS-NCONNECT-001");
  REQUIRE(text);
  for (const char* part : {"One TCP connection under concurrent load", "`proto` is one of tcp, tcp6",
                           "`in_flight.mean` is at least 32 (nconnect.mean_warning)", "this kernel has no nconnect",
                           "nfsMountOptions", "nfs(5)", "(profiles openshift-virtualization, pre-benchmark)"}) {
    INFO(part);
    CHECK(text->find(part) != std::string::npos);
  }
  CHECK(audit::explain_rule(*set, "NFS-NCONNECT-001", "ja")->find("並行した負荷") != std::string::npos);
  const auto wrong = audit::explain_rule(*set, "NFS-NCONECT-001");
  REQUIRE_FALSE(wrong);
  CHECK(wrong.error().message == "no rule 'NFS-NCONECT-001', nearest: NFS-NCONNECT-001");
  CHECK(audit::list_rules(*set).find("NFS-VERS-001") != std::string::npos);
}

TEST_CASE("rules: derived facts are listed with a sentence, a type and a unit", "[rules]") {
  std::set<std::string> paths;
  for (const auto& fact : audit::list_derived()) {
    INFO(fact.path);
    CHECK_FALSE(fact.sentence.empty());
    CHECK_FALSE(fact.type.empty());
    CHECK(paths.insert(fact.path).second);
    if (fact.path == "nfs.mounts[].give_up_s") CHECK(fact.unit == "s");
  }
  CHECK(paths.contains("nfs.clients[].in_flight.mean"));
  CHECK(paths.contains("nfs.clients[].ops[].window.retrans_ratio"));
}

TEST_CASE("pattern: search as in grep", "[pattern]") {
  struct Row {
    const char* pattern;
    const char* text;
    bool found;
  };
  const std::vector<Row> rows{{"^(3|4\\.[0-9])$", "3", true},
                              {"^(3|4\\.[0-9])$", "4.1", true},
                              {"^(3|4\\.[0-9])$", "4", false},
                              {"^(3|4\\.[0-9])$", "4x1", false},
                              {"^krb5", "krb5p", true},
                              {"^krb5", "sys:krb5", false},
                              {"^/var(/|$)", "/var", true},
                              {"^/var(/|$)", "/var/lib", true},
                              {"^/var(/|$)", "/variety", false},
                              {"a*b", "xxaab", true},
                              {"^a*b$", "b", true},
                              {"^a+b$", "b", false},
                              {"^a+b$", "aaab", true},
                              {"^(ab)+$", "abab", true},
                              {"^(ab)+$", "aba", false},
                              {"^a?b?c$", "ac", true},
                              {"^a{2}$", "aa", true},
                              {"^a{2}$", "aaa", false},
                              {"^a{2,}$", "aaaa", true},
                              {"^a{1,3}$", "aaaa", false},
                              {"^(a|bc){2}$", "bca", true},
                              {"^[^a-c]$", "d", true},
                              {"^[^a-c]$", "b", false},
                              {"^[]x]$", "]", true},
                              {"^[a-]$", "-", true},
                              {"^\\d\\w\\s$", "1_ ", true},
                              {"^\\D$", "1", false},
                              {"", "anything", true},
                              {"^$", "", true},
                              {"^$", "x", false},
                              {"^a{0}b$", "b", true},
                              {"a|b|c", "xxc", true},
                              {"^(a|b|c)$", "d", false},
                              {"^(|x)y$", "y", true},
                              {"^.$", "\xff", true}};
  for (const Row& row : rows) {
    INFO(row.pattern << " in " << row.text);
    const auto pattern = audit::Pattern::compile(row.pattern);
    REQUIRE(pattern);
    CHECK(pattern->search(row.text) == row.found);
  }
  for (const char* bad :
       {"(", ")", "[", "[b-a]", "*", "a**", "a{", "a{2", "a{3,2}", "a{999}", "\\", "\\q", "a{1}{2}"}) {
    INFO(bad);
    CHECK_FALSE(audit::Pattern::compile(bad));
  }
}

TEST_CASE("pattern: a hostile pattern costs no more than the text is long", "[pattern]") {
  CHECK_FALSE(audit::Pattern::compile("((((a{200}){200}){200}){200})"));
  CHECK_FALSE(audit::Pattern::compile(std::string(2000, 'a')));
  CHECK_FALSE(audit::Pattern::compile(std::string(500, '(') + std::string(500, ')')));
  const auto pattern = audit::Pattern::compile("^(a*)*(a*)*b$");
  REQUIRE_FALSE(pattern->search(std::string(20000, 'a')));
}

TEST_CASE("rules: what is embedded parsed is what the text says, line by line", "[rules]") {
  REQUIRE_FALSE(rules::embedded_rules().empty());
  REQUIRE(rules::embedded_rules().size() == rules::packed_rules().size());
  for (std::size_t i = 0; i < rules::embedded_rules().size(); ++i) {
    const auto& file = rules::embedded_rules()[i];
    INFO(file.path);
    CHECK(rules::packed_rules()[i].path == file.path);
    const auto parsed = audit::parse_yaml(file.text, "f");
    const auto unpacked = audit::unpack_yaml(rules::packed_rules()[i].text, "f");
    REQUIRE(parsed.has_value());
    REQUIRE(unpacked.has_value());
    CHECK(*parsed == *unpacked);
  }
}

TEST_CASE("rules: a packed tree that is cut or changed anywhere is refused or is another tree, and never crashes",
          "[rules]") {
  const std::string text = "a: [1, \"two\", ~]\nb: { c: long enough to be outside of the string object }\n";
  const auto tree = audit::parse_yaml(text, "f").value();
  const std::string packed = audit::pack_yaml(tree);
  CHECK(audit::unpack_yaml(packed, "f").value() == tree);
  for (std::size_t size = 0; size < packed.size(); ++size)
    CHECK_FALSE(audit::unpack_yaml(std::string_view(packed).substr(0, size), "f").has_value());
  CHECK_FALSE(audit::unpack_yaml(packed + 'x', "f").has_value());
  for (std::size_t i = 0; i < packed.size(); ++i) {
    for (const char c : {'\x00', '\x7f', '\xff'}) {
      if (packed[i] == c) continue;
      std::string damaged = packed;
      damaged[i] = c;
      const auto read = audit::unpack_yaml(damaged, "f");
      if (read) CHECK_FALSE(*read == tree);
    }
  }
}
