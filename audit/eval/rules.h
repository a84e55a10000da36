// Rules: YAML files that say when a finding is made and what it says. The form is described in rules/README.md.
// Loading checks everything that can be checked without facts: keys, names of facts, limits, snippets, profiles and
// operators, and that an operator fits the type of its fact. yaml-cpp stays behind this header.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "audit/base/result.h"
#include "audit/eval/condition.h"
#include "audit/finding.h"

namespace audit {

struct TextFile {
  std::string path;  // as errors name it
  std::string text;
  std::string_view packed = {};  // instead of the text: pack_yaml() of it, which outlives this
};

// A text with placeholders, {fact.path} or {fact.path:spec}. Specs: .1f .0f .2% d (as in fmt); in snippets
// also json, sh, squote (inside single quotes of a shell) and fstab (octal escapes).
struct Template {
  struct Piece {
    std::string text;  // literal, when `path` is not set
    std::optional<FactPath> path;
    std::string spec;
    std::string name;  // of a special placeholder of snippets: options, options_list, ...
  };
  std::string source;
  std::vector<Piece> pieces;
  bool empty() const { return source.empty(); }
};

// The same text in English, and in Japanese where the rule carries it.
struct Text {
  Template en;
  Template ja;
  bool empty() const { return en.empty(); }
};

// What a fix changes in the line of mount options; merged over all findings of a subject.
struct OptionChange {
  std::string key;
  std::optional<Template> value;  // none: a word without "="
};

struct Fix {
  Text text;
  std::vector<std::string> snippets;
  std::vector<OptionChange> options;  // to set
  std::vector<OptionChange> raise;    // at least this much, where a line names the option at all
  std::vector<std::string> remove;    // to take out
};

struct GainRule {
  Text text;
  std::optional<Condition> when;
  facts::Value low, high;
  std::optional<FactPath> low_fact, high_fact;
};

struct Level {
  Severity severity = Severity::info;
  std::vector<std::string> profiles;  // empty: in every profile
  std::optional<Condition> when;      // none: always
  Text message;                       // empty: the rule's
  std::optional<Fix> fix;             // instead of the rule's; then no gain, unless the level names one
  std::optional<GainRule> gain;
  std::uint32_t line = 0;
};

struct Unless {
  Condition when;
  Text because;
  std::optional<Severity> severity;  // not excused, but at most this
};

struct Note {
  std::optional<Condition> when;
  Text text;
};

struct Show {
  std::vector<FactPath> facts;
  std::string table;  // a collection of the item; empty: no table
  CollectionPath table_path;
  std::vector<std::string> columns;
  std::vector<FactPath> column_paths;  // seen from an item of the collection
};

struct Rule {
  std::string id;
  std::string file;
  Text title, message, why;
  std::string kind;  // health, tuning, hygiene
  std::vector<std::string> basis;
  std::vector<std::string> profiles;  // empty: always
  std::string for_each;
  const Scope* scope = nullptr;
  std::optional<Condition> when;
  std::vector<Unless> unless;
  std::vector<Level> levels;
  std::optional<Condition> lower_by_one;
  std::vector<FactPath> group_by;
  std::string affects;  // a collection of the item; empty: none
  CollectionPath affects_path;
  Show show;
  std::vector<Note> notes;
  Fix fix;
  std::string effect;
  std::optional<GainRule> gain;
  std::vector<Contested> contested;
  std::vector<std::string> refs;
};

struct Snippet {
  std::string key;
  std::string platform;
  std::string effect;
  Template undo;
  Template text;
  std::string for_each;  // kind of item its placeholders are read from
  const Scope* scope = nullptr;
  std::optional<Condition> when;  // left out where this is known to be false
  bool own_line = false;          // one text per item, with its own options (fstab); else one with what they share
  std::optional<FactPath> each;   // {each}: this fact of every item, quoted for a shell, divided by blanks
};

struct RuleSet {
  std::vector<Rule> rules;  // by id
  std::map<std::string, Snippet, std::less<>> snippets;
  std::map<std::string, facts::Value, std::less<>> limits;

  const Rule* find(std::string_view id) const;
};

// limits.yaml and snippets.yaml are told by their file names, everything else ending in .yaml or .yml is a rule.
// Files of `site` come after: a rule with a known id replaces it, limits and snippets override by name.
// The first thing that is wrong, with file:line and the nearest valid name; lint_rules() tells all.
base::Result<RuleSet> load_rules(const std::vector<TextFile>& files, const std::vector<TextFile>& site = {});

// Everything that is wrong with `files`, seen on top of `shipped` (for its limits and snippets); also what does not
// keep a rule from loading: Japanese texts whose placeholders or numbers differ from the English ones.
std::vector<base::Error> lint_rules(const std::vector<TextFile>& files, const std::vector<TextFile>& shipped);

// A file, or every *.yaml and *.yml below a directory, sorted by path.
base::Result<std::vector<TextFile>> read_rule_files(const std::string& path);

// Profiles that rules and --profile may name, with a sentence each.
struct ProfileInfo {
  std::string_view name;
  std::string_view sentence;
};
const std::vector<ProfileInfo>& known_profiles();

}  // namespace audit
