#include "audit/eval/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "audit/base/text.h"
#include "audit/eval/derive.h"

namespace audit {

namespace {

constexpr int text_width = 100;

const Template& in(const Text& text, const std::string& lang) {
  return lang == "ja" && !text.ja.empty() ? text.ja : text.en;
}

std::string levels_of(const Rule& rule) {
  std::string text;
  std::set<Severity> seen;
  for (const Level& level : rule.levels) seen.insert(level.severity);
  for (auto it = seen.rbegin(); it != seen.rend(); ++it)
    text += (text.empty() ? "" : ",") + std::string(severity_word(*it));
  return text;
}

class Page {
 public:
  void paragraph(std::string_view head, std::string_view text) {
    if (text.empty()) return;
    const std::string start = fmt::format("{:<11}", head);
    bool first = true;
    for (const std::string& line : base::wrap(text, text_width - 11)) {
      out_ += (first ? start : std::string(11, ' ')) + line + '\n';
      first = false;
    }
  }
  void block(std::string_view text) {
    std::string_view rest = text, line;
    while (base::next_line(rest, line)) out_ += std::string(15, ' ') + std::string(line) + '\n';
  }
  void gap() { out_ += '\n'; }
  std::string take() { return std::move(out_); }

 private:
  std::string out_;
};

}  // namespace

std::string list_rules(const RuleSet& rules, const std::string& lang) {
  std::size_t id_width = 0, level_width = 0;
  for (const Rule& rule : rules.rules) {
    id_width = std::max(id_width, rule.id.size());
    level_width = std::max(level_width, levels_of(rule).size());
  }
  std::string out;
  for (const Rule& rule : rules.rules) {
    out += fmt::format("{:<{}}  {:<{}}  {:<7}  {:<7}  {}\n", rule.id, id_width, levels_of(rule), level_width, rule.kind,
                       rule.effect, in(rule.title, lang).source);
  }
  return out;
}

base::Result<std::string> explain_rule(const RuleSet& rules, const std::string& id, const std::string& lang) {
  const Rule* rule = rules.find(id);
  if (rule == nullptr) {
    std::vector<std::string> ids;
    for (const Rule& r : rules.rules) ids.push_back(r.id);
    const auto near = base::nearest(id, ids);
    return base::fail(base::ErrorKind::usage, "", fmt::format("no rule '{}'{}", id, near ? ", nearest: " + *near : ""));
  }
  Page page;
  page.paragraph(rule->id, in(rule->title, lang).source);
  page.gap();
  page.paragraph("why", in(rule->why, lang).source);
  page.gap();
  page.paragraph("for each", rule->for_each);
  page.paragraph("kind", fmt::format("{}; rests on {}; the change costs: {}", rule->kind, base::join(rule->basis, ", "),
                                     rule->effect));
  page.paragraph("profiles", rule->profiles.empty() ? "all" : base::join(rule->profiles, ", "));
  page.paragraph("applies if", rule->when ? condition_words(*rule->when) : "always");
  for (const Unless& unless : rule->unless) {
    const std::string what =
        unless.severity ? fmt::format("at most {} if", severity_word(*unless.severity)) : std::string("not if");
    page.paragraph(unless.severity ? "but" : "unless",
                   fmt::format("{} {}: {}", what, condition_words(unless.when), in(unless.because, lang).source));
  }
  page.gap();
  for (const Level& level : rule->levels) {
    std::string text = level.when ? condition_words(*level.when) : "always";
    if (!level.profiles.empty()) text += fmt::format(" (profiles {})", base::join(level.profiles, ", "));
    page.paragraph(severity_word(level.severity), text);
    if (!level.message.empty()) page.paragraph("", in(level.message, lang).source);
    if (level.fix) page.paragraph("", in(level.fix->text, lang).source);
  }
  if (rule->lower_by_one) page.paragraph("one less", "if " + condition_words(*rule->lower_by_one));
  page.paragraph("says", in(rule->message, lang).source);
  for (const Note& note : rule->notes)
    page.paragraph("adds", fmt::format("{} (if {})", in(note.text, lang).source,
                                       note.when ? condition_words(*note.when) : "always"));
  page.gap();
  page.paragraph("advice", in(rule->fix.text, lang).source);
  if (rule->gain) page.paragraph("gain", in(rule->gain->text, lang).source);
  for (const std::string& key : rule->fix.snippets) {
    const auto snippet = rules.snippets.find(key);
    if (snippet == rules.snippets.end()) continue;
    page.paragraph("", fmt::format("{} ({}):", snippet->second.platform, key));
    page.block(snippet->second.text.source);
  }
  for (const Contested& contested : rule->contested)
    page.paragraph("contested", fmt::format("{}: {}", contested.who, contested.says));
  page.paragraph("see", base::join(rule->refs, ", "));
  page.paragraph("file", rule->file);
  return page.take();
}

std::vector<ListedDerived> list_derived() {
  const auto type_word = [](const ValueType& type) {
    switch (type.kind) {
      case facts::Kind::boolean: return "boolean";
      case facts::Kind::integer: return "integer";
      case facts::Kind::number: return "number";
      default: return "text";
    }
  };
  std::vector<ListedDerived> list;
  for (const Scope& scope : scopes()) {
    std::string prefix(scope.name);
    if (prefix.starts_with("nfs.clients.")) prefix.insert(std::string_view("nfs.clients").size(), "[]");
    if (prefix.find('.') != std::string::npos) prefix += "[]";
    for (const DerivedFact& fact : scope.derived) {
      list.push_back({prefix + '.' + std::string(fact.name), type_word(fact.type),
                      std::string(facts::unit_of(fact.name)), std::string(fact.sentence)});
    }
    for (const Reference& reference : scope.references) {
      list.push_back({prefix + '.' + std::string(reference.name), "reference to " + std::string(reference.scope), "",
                      std::string(reference.sentence)});
    }
  }
  return list;
}

}  // namespace audit
