#include "audit/eval/rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include "audit/base/text.h"
#include "audit/eval/derive.h"
#include "audit/eval/pattern.h"
#include "audit/eval/yaml.h"

namespace audit {

namespace {

using base::ErrorKind;
using facts::Kind;
using facts::Value;
using Names = std::vector<std::string>;

const Names rule_keys{"id",           "title",    "kind", "basis",  "effect",   "for_each", "levels", "message",
                      "fix",          "profiles", "when", "unless", "group_by", "affects",  "show",   "notes",
                      "lower_by_one", "refs",     "why",  "ja",     "gain",     "contested"};
const Names kinds{"health", "tuning", "hygiene"};
const Names bases{"standard", "vendor", "article", "judgement"};
const Names effects{"live", "remount", "relogin", "reboot", "server", "rerun"};
const Names severities{"error", "warning", "notice", "info"};
const Names platforms{"mount",
                      "fstab",
                      "systemd",
                      "nfsmount.conf",
                      "kernel-cmdline",
                      "storageclass",
                      "pv",
                      "trident",
                      "machineconfig",
                      "modprobe",
                      "sysctl",
                      "udev",
                      "nfs.conf",
                      "iscsid.conf",
                      "iscsiadm",
                      "multipath.conf",
                      "nmstate",
                      "ontap",
                      "fsx",
                      "truenas",
                      "zfs",
                      "esxi",
                      "fio"};
const Names operators{"eq", "ne", "in", "not_in", "lt", "le", "gt", "ge", "matches", "exists", "unknown", "not"};
const Names special_placeholders{"options", "options_list", "options_lines", "each"};

bool is_quoting(std::string_view spec) { return spec == "json" || spec == "sh" || spec == "squote" || spec == "fstab"; }

std::optional<Operator> operator_from(std::string_view word) {
  for (std::size_t i = 0; i < operators.size(); ++i) {
    if (operators[i] == word) return static_cast<Operator>(i);
  }
  return std::nullopt;
}

std::string hint(std::string_view word, const Names& names) {
  const auto near = base::nearest(word, names);
  if (near) return fmt::format(", nearest: {}", *near);
  return names.size() <= 8 ? fmt::format(", known: {}", base::join(names, ", ")) : "";
}

// A plain scalar as YAML 1.2's core schema reads it.
Value scalar_value(const Yaml& node) {
  if (node.quoted) return node.text;
  if (node.text == "true") return true;
  if (node.text == "false") return false;
  if (const auto i = base::number<std::int64_t>(node.text)) return *i;
  if (const auto u = base::number<std::uint64_t>(node.text)) return *u;
  if (const auto d = base::real(node.text)) return *d;
  return node.text;
}

std::string_view kind_word(Kind kind) {
  switch (kind) {
    case Kind::boolean: return "true or false";
    case Kind::integer:
    case Kind::number: return "a number";
    case Kind::text: return "text";
    case Kind::list: return "a list";
    default: return "a group of facts";
  }
}

bool fits(const Value& value, Kind kind) {
  switch (kind) {
    case Kind::boolean: return value.as_bool() != nullptr;
    case Kind::integer:
    case Kind::number: return value.is_number();
    case Kind::text: return value.as_text() != nullptr;
    default: return false;
  }
}

bool same_class(Kind a, Kind b) {
  const auto number = [](Kind k) { return k == Kind::integer || k == Kind::number; };
  return a == b || (number(a) && number(b));
}

class Loader {
 public:
  explicit Loader(RuleSet& set) : set_(set) {}

  std::vector<base::Error> errors;

  // Limits and snippets come first: rules name them.
  void load(const std::vector<TextFile>& files) {
    std::vector<std::pair<const TextFile*, Yaml>> trees;
    for (const TextFile& file : files) {
      auto tree = file.packed.empty() ? parse_yaml(file.text, file.path) : unpack_yaml(file.packed, file.path);
      if (!tree) {
        errors.push_back(tree.error());
        continue;
      }
      trees.emplace_back(&file, std::move(*tree));
    }
    for (const char* name : {"limits", "snippets", "rules"}) {
      for (const auto& [file, tree] : trees) {
        const std::string stem = std::filesystem::path(file->path).stem().string();
        const std::string sort = stem == "limits" || stem == "snippets" ? stem : "rules";
        if (sort != name) continue;
        file_ = file->path;
        if (!tree.is_map()) {
          complain(tree.line, "expected a mapping of keys");
        } else if (sort == "limits") {
          limits(tree);
        } else if (sort == "snippets") {
          snippets(tree);
        } else {
          rule(tree);
        }
      }
    }
    ids_.clear();
    std::sort(set_.rules.begin(), set_.rules.end(), [](const Rule& a, const Rule& b) { return a.id < b.id; });
  }

 private:
  void complain(std::uint32_t line, std::string message) {
    errors.push_back({ErrorKind::malformed, fmt::format("{}:{}", file_, line), std::move(message)});
  }

  bool is_known(const Yaml& node, const Names& names, std::string_view what) {
    if (!node.is_scalar()) {
      complain(node.line, fmt::format("{} has to be a word", what));
      return false;
    }
    if (std::find(names.begin(), names.end(), node.text) != names.end()) return true;
    complain(node.line, fmt::format("unknown {} '{}'{}", what, node.text, hint(node.text, names)));
    return false;
  }

  // False when it is no mapping; unknown keys are told one by one.
  bool is_map_of(const Yaml& node, const Names& names, std::string_view what) {
    if (!node.is_map()) {
      complain(node.line, fmt::format("{} has to be a mapping of {}", what, base::join(names, ", ")));
      return false;
    }
    for (const Yaml& key : node.keys) is_known(key, names, "key");
    return true;
  }

  std::string text(const Yaml* node, std::string_view what) {
    if (node == nullptr) return {};
    if (!node->is_scalar() || node->text.empty()) {
      complain(node->line, fmt::format("{} has to be a text", what));
      return {};
    }
    return node->text;
  }

  // A word or a list of words.
  Names words(const Yaml* node, std::string_view what, const Names* known = nullptr) {
    Names result;
    if (node == nullptr) return result;
    if (!node->is_list() && !node->is_scalar()) {
      complain(node->line, fmt::format("{} has to be a list", what));
      return result;
    }
    const auto add = [&](const Yaml& item) {
      if (known != nullptr ? is_known(item, *known, what) : item.is_scalar()) {
        result.push_back(item.text);
      } else if (known == nullptr) {
        complain(item.line, fmt::format("{} has to be a list of words", what));
      }
    };
    if (node->is_scalar()) {
      add(*node);
    } else {
      for (const Yaml& item : node->items) add(item);
    }
    return result;
  }

  Names profiles(const Yaml* node) {
    Names known;
    for (const auto& profile : known_profiles()) known.emplace_back(profile.name);
    return words(node, "profile", &known);
  }

  Severity severity(const Yaml& node) {
    if (!is_known(node, severities, "severity")) return Severity::info;
    return *severity_from(node.text);
  }

  // --- limits and snippets

  void limits(const Yaml& tree) {
    for (std::size_t i = 0; i < tree.keys.size(); ++i) {
      const Yaml& node = tree.items[i];
      if (node.is_scalar()) {
        set_.limits[tree.keys[i].text] = scalar_value(node);
        continue;
      }
      facts::Values values;
      for (const Yaml& item : node.items) {
        if (item.is_scalar()) values.push_back(scalar_value(item));
      }
      if (!node.is_list() || values.size() != node.items.size()) {
        complain(node.line, "a limit is a value or a list of values");
        continue;
      }
      set_.limits[tree.keys[i].text] = std::move(values);
    }
  }

  void snippets(const Yaml& tree) {
    static const Names keys{"platform", "effect", "undo", "text", "for_each", "when", "own_line", "each"};
    for (std::size_t i = 0; i < tree.keys.size(); ++i) {
      const Yaml& node = tree.items[i];
      if (!is_map_of(node, keys, "a snippet")) continue;
      Snippet snippet;
      snippet.key = tree.keys[i].text;
      const Yaml *platform = required(node, "platform"), *effect = required(node, "effect"),
                 *body = required(node, "text"), *for_each = required(node, "for_each");
      if (platform == nullptr || effect == nullptr || body == nullptr || for_each == nullptr) continue;
      if (is_known(*platform, platforms, "platform")) snippet.platform = platform->text;
      if (is_known(*effect, effects, "effect")) snippet.effect = effect->text;
      snippet.for_each = for_each->text;
      snippet.scope = scope(*for_each);
      if (snippet.scope == nullptr) continue;
      scope_ = snippet.scope;
      special_ = true;
      snippet.text = make_template(body, "text");
      snippet.undo = make_template(node.find("undo"), "undo");
      special_ = false;
      if (const Yaml* when = node.find("when")) snippet.when = condition(*when);
      if (const Yaml* each = node.find("each"); each != nullptr && each->is_scalar()) {
        auto path = resolve_path(each->text, *scope_);
        if (path) {
          snippet.each = std::move(*path);
        } else {
          complain(each->line, path.error().message);
        }
      }
      if (const Yaml* own = node.find("own_line")) {
        const Value value = scalar_value(*own);
        if (value.as_bool() == nullptr) complain(own->line, "own_line is true or false");
        snippet.own_line = value.as_bool() != nullptr && *value.as_bool();
      }
      set_.snippets[snippet.key] = std::move(snippet);
    }
  }

  const Yaml* required(const Yaml& node, std::string_view key) {
    const Yaml* value = node.find(key);
    if (value == nullptr) complain(node.line, fmt::format("the key '{}' is missing", key));
    return value;
  }

  const Scope* scope(const Yaml& node) {
    Names names;
    for (const Scope& s : scopes()) names.emplace_back(s.name);
    return is_known(node, names, "list") ? find_scope(node.text) : nullptr;
  }

  // --- texts

  Template make_template(const Yaml* node, std::string_view what) {
    Template result;
    result.source = text(node, what);
    if (result.source.empty()) return result;
    const std::uint32_t line = node->line;
    std::string literal;
    const std::string_view source = result.source;
    const auto flush = [&] {
      if (!literal.empty()) result.pieces.push_back({std::move(literal), std::nullopt, "", ""});
      literal.clear();
    };
    for (std::size_t i = 0; i < source.size(); ++i) {
      const char c = source[i];
      if ((c == '{' || c == '}') && i + 1 < source.size() && source[i + 1] == c) {
        literal += c;
        ++i;
      } else if (c == '}') {
        complain(line, "'}' without '{' (write '}}' for the character)");
        return result;
      } else if (c == '{') {
        const std::size_t close = source.find('}', i);
        if (close == std::string_view::npos) {
          complain(line, "'{' without '}' (write '{{' for the character)");
          return result;
        }
        flush();
        placeholder(source.substr(i + 1, close - i - 1), line, result);
        i = close;
      } else {
        literal += c;
      }
    }
    flush();
    return result;
  }

  void placeholder(std::string_view inside, std::uint32_t line, Template& into) {
    const std::size_t colon = inside.find(':');
    const std::string_view name = inside.substr(0, colon);
    const std::string_view spec = colon == std::string_view::npos ? std::string_view{} : inside.substr(colon + 1);
    Template::Piece piece;
    piece.spec = std::string(spec);
    piece.name = std::string(name);
    const auto& special = special_placeholders;
    if (special_ && std::find(special.begin(), special.end(), name) != special.end()) {
      if (!spec.empty() && !is_quoting(spec))
        complain(line, fmt::format("'{{{}:{}}}': no such format; known: json, sh, squote, fstab", name, spec));
      into.pieces.push_back(std::move(piece));
      return;
    }
    if (name.starts_with("limits.")) {
      const Value* limit = find_limit(name.substr(7), line);
      if (limit != nullptr) piece.text = value_text(*limit, spec);
      into.pieces.push_back(std::move(piece));
      return;
    }
    auto path = resolve_path(name, *scope_);
    if (!path) {
      complain(line, path.error().message);
      return;
    }
    const Kind shown = path->type.kind == Kind::list ? path->type.element : path->type.kind;
    if (shown == Kind::object) {
      complain(line, fmt::format("'{}' is a group of facts, not one that can be printed", name));
      return;
    }
    const bool quoting = is_quoting(spec);
    const bool number = path->type.is_number();
    const auto digits = [&] {
      return spec.size() == 3 && spec[0] == '.' && spec[1] >= '0' && spec[1] <= '9' &&
             (spec[2] == 'f' || spec[2] == '%');
    };
    if (!spec.empty() && !(quoting && special_) && !(number && (spec == "d" || digits()))) {
      complain(line, fmt::format("'{{{}:{}}}': no such format for {}; numbers take .0f to .9f, .0% to .9% and d", name,
                                 spec, kind_word(path->type.kind)));
      return;
    }
    piece.path = std::move(*path);
    into.pieces.push_back(std::move(piece));
  }

  // The English text of `node` and the Japanese one of its `ja:`.
  Text make_text(const Yaml& node, std::string_view key, const Yaml* ja) {
    Text result;
    result.en = make_template(node.find(key), key);
    if (ja != nullptr && ja->is_map()) result.ja = make_template(ja->find(key), key);
    return result;
  }

  const Yaml* ja_of(const Yaml& node, const Names& keys) {
    const Yaml* ja = node.find("ja");
    if (ja != nullptr && !is_map_of(*ja, keys, "ja")) return nullptr;
    return ja;
  }

  // --- conditions

  const Value* find_limit(std::string_view name, std::uint32_t line) {
    const auto found = set_.limits.find(name);
    if (found != set_.limits.end()) return &found->second;
    Names names;
    for (const auto& [key, value] : set_.limits) names.push_back(key);
    complain(line, fmt::format("unknown limit '{}'{}", name, hint(name, names)));
    return nullptr;
  }

  Condition condition(const Yaml& node) {
    Condition all;
    if (!node.is_map()) {
      complain(node.line, "a condition is a mapping: a fact with its operators, all, any or not");
      return all;
    }
    if (node.keys.empty()) complain(node.line, "an empty condition");
    for (std::size_t i = 0; i < node.keys.size(); ++i) {
      const Yaml &key = node.keys[i], &value = node.items[i];
      if (key.text == "all" || key.text == "any") {
        Condition group;
        group.form = key.text == "all" ? Condition::Form::all : Condition::Form::any;
        if (!value.is_list() || value.items.empty())
          complain(value.line, fmt::format("{} takes a list of conditions", key.text));
        for (const Yaml& item : value.items) group.parts.push_back(condition(item));
        all.parts.push_back(std::move(group));
      } else if (key.text == "not") {
        Condition negation;
        negation.form = Condition::Form::negation;
        negation.parts.push_back(condition(value));
        all.parts.push_back(std::move(negation));
      } else {
        auto path = resolve_path(key.text, *scope_);
        if (!path) {
          complain(key.line, path.error().message);
          continue;
        }
        Condition fact;
        fact.form = Condition::Form::fact;
        fact.path = std::move(*path);
        fact.tests = tests(value, fact.path);
        all.parts.push_back(std::move(fact));
      }
    }
    if (all.parts.size() == 1) return std::move(all.parts.front());
    return all;
  }

  std::vector<Test> tests(const Yaml& node, const FactPath& path) {
    std::vector<Test> result;
    if (!node.is_map() || node.keys.empty()) {
      complain(node.line, fmt::format("'{}' needs an operator, as in {{ eq: VALUE }}", path.text));
      return result;
    }
    for (std::size_t i = 0; i < node.keys.size(); ++i) {
      const auto op = operator_from(node.keys[i].text);
      if (!op) {
        complain(node.keys[i].line,
                 fmt::format("unknown operator '{}'{}", node.keys[i].text, hint(node.keys[i].text, operators)));
        continue;
      }
      result.push_back(test(*op, node.items[i], path));
    }
    return result;
  }

  Test test(Operator op, const Yaml& node, const FactPath& path) {
    Test result;
    result.op = op;
    const auto misuse = [&](std::string_view what) {
      complain(node.line,
               fmt::format("'{}' is {}: {} {}", path.text, kind_word(path.type.kind), operator_word(op), what));
    };
    switch (op) {
      case Operator::negation: result.negated = tests(node, path); return result;
      case Operator::exists:
      case Operator::unknown:
        result.literal = node.is_scalar() ? scalar_value(node) : Value();
        if (result.literal.as_bool() == nullptr) {
          complain(node.line, fmt::format("{} takes true or false", operator_word(op)));
          result.literal = true;
        }
        return result;
      case Operator::matches:
        if (path.type.kind != Kind::text) misuse("needs a text");
        if (!node.is_scalar()) {
          complain(node.line, "matches takes a pattern");
          return result;
        }
        result.literal = node.text;
        if (auto pattern = Pattern::compile(node.text)) {
          result.pattern = std::make_shared<const Pattern>(std::move(*pattern));
        } else {
          complain(node.line, pattern.error().message);
          result.pattern = std::make_shared<const Pattern>(*Pattern::compile(""));
        }
        return result;
      default: break;
    }
    if (!path.type.is_scalar()) misuse("needs a single value");
    if (op >= Operator::lt && op <= Operator::ge && path.type.is_scalar() && !path.type.is_number())
      misuse("needs a number");
    operand(op, node, path, result);
    return result;
  }

  void operand(Operator op, const Yaml& node, const FactPath& path, Test& result) {
    const bool list = op == Operator::in || op == Operator::not_in;
    const auto check = [&](const Value& value, std::uint32_t line) {
      if (!path.type.is_scalar() || fits(value, path.type.kind)) return;
      const bool quote = path.type.kind == Kind::text && (value.is_number() || value.as_bool() != nullptr);
      complain(line, fmt::format("'{}' is {}, '{}' is not{}", path.text, kind_word(path.type.kind), value_text(value),
                                 quote ? ": put it in quotes" : ""));
    };
    if (node.is_map()) {
      if (node.keys.size() != 1 || !is_known(node.keys[0], {"fact", "limit"}, "operand")) {
        if (node.keys.size() != 1) complain(node.line, "takes a value, { fact: PATH } or { limit: NAME }");
        return;
      }
      const Yaml& name = node.items[0];
      if (!name.is_scalar()) return complain(name.line, "takes one name");
      if (node.keys[0].text == "limit") {
        const Value* limit = find_limit(name.text, name.line);
        if (limit == nullptr) return;
        result.limit = name.text;
        result.literal = *limit;
        if (const facts::Values* values = limit->as_list()) {
          if (!list)
            return complain(name.line,
                            fmt::format("the limit '{}' is a list: {} takes one value", name.text, operator_word(op)));
          for (const Value& value : *values) check(value, name.line);
        } else {
          check(*limit, name.line);
        }
        return;
      }
      auto other = resolve_path(name.text, *scope_);
      if (!other) return complain(name.line, other.error().message);
      const Kind kind = list && other->type.kind == Kind::list ? other->type.element : other->type.kind;
      if (path.type.is_scalar() && !same_class(kind, path.type.kind))
        complain(name.line, fmt::format("'{}' is {}, '{}' is {}", path.text, kind_word(path.type.kind), name.text,
                                        kind_word(kind)));
      result.fact = std::make_shared<FactPath>(std::move(*other));
      return;
    }
    if (list) {
      if (!node.is_list())
        return complain(node.line, fmt::format("{} takes a list, or {{ fact: PATH }}", operator_word(op)));
      facts::Values values;
      for (const Yaml& item : node.items) {
        if (!item.is_scalar()) {
          complain(item.line, "a list of plain values");
          continue;
        }
        values.push_back(scalar_value(item));
        check(values.back(), item.line);
      }
      result.literal = std::move(values);
      return;
    }
    if (!node.is_scalar()) return complain(node.line, fmt::format("{} takes one value", operator_word(op)));
    result.literal = scalar_value(node);
    check(result.literal, node.line);
  }

  // --- rules

  std::vector<OptionChange> options(const Yaml* node, std::string_view what) {
    std::vector<OptionChange> result;
    if (node == nullptr) return result;
    if (!node->is_map()) {
      complain(node->line, fmt::format("{} is a mapping of mount options; true for a word without a value", what));
      return result;
    }
    for (std::size_t i = 0; i < node->keys.size(); ++i) {
      OptionChange change;
      change.key = node->keys[i].text;
      const Yaml& value = node->items[i];
      if (!value.is_scalar() || scalar_value(value) != Value(true)) change.value = make_template(&value, change.key);
      result.push_back(std::move(change));
    }
    return result;
  }

  Fix fix(const Yaml& node, const Yaml* ja) {
    static const Names keys{"text", "snippets", "options", "raise", "remove"};
    Fix result;
    if (!is_map_of(node, keys, "fix")) return result;
    if (required(node, "text") != nullptr) result.text.en = make_template(node.find("text"), "text");
    if (ja != nullptr && ja->is_map()) result.text.ja = make_template(ja->find("recommendation"), "recommendation");
    Names known;
    for (const auto& [key, snippet] : set_.snippets) known.push_back(key);
    const Yaml* snippets = node.find("snippets");
    if (snippets != nullptr && !(snippets->is_list() && snippets->items.empty()))
      result.snippets = words(snippets, "snippet", &known);
    result.options = options(node.find("options"), "options");
    result.raise = options(node.find("raise"), "raise");
    result.remove = words(node.find("remove"), "remove");
    return result;
  }

  std::optional<GainRule> gain(const Yaml* node) {
    static const Names keys{"text", "low", "high", "when", "ja"};
    if (node == nullptr || !is_map_of(*node, keys, "gain")) return std::nullopt;
    GainRule result;
    result.text = make_text(*node, "text", ja_of(*node, {"text"}));
    if (result.text.empty()) complain(node->line, "the key 'text' is missing");
    if (const Yaml* when = node->find("when")) result.when = condition(*when);
    for (const bool low : {true, false}) {
      const Yaml* bound = node->find(low ? "low" : "high");
      if (bound == nullptr) continue;
      if (bound->is_scalar() && scalar_value(*bound).is_number()) {
        (low ? result.low : result.high) = scalar_value(*bound);
      } else if (bound->is_map() && bound->keys.size() == 1 && bound->keys[0].text == "fact") {
        auto path = resolve_path(bound->items[0].text, *scope_);
        if (!path) {
          complain(bound->line, path.error().message);
        } else if (!path->type.is_number()) {
          complain(bound->line, fmt::format("'{}' is not a number", path->text));
        } else {
          (low ? result.low_fact : result.high_fact) = std::move(*path);
        }
      } else {
        complain(bound->line, "a number or { fact: PATH }");
      }
    }
    return result;
  }

  Level level(const Yaml& node) {
    static const Names keys{"severity", "profiles", "when", "message", "fix", "gain", "ja"};
    Level result;
    result.line = node.line;
    if (!is_map_of(node, keys, "a level")) return result;
    const Yaml* ja = ja_of(node, {"message", "recommendation"});
    if (const Yaml* word = required(node, "severity")) result.severity = severity(*word);
    result.profiles = profiles(node.find("profiles"));
    if (const Yaml* when = node.find("when")) result.when = condition(*when);
    result.message = make_text(node, "message", ja);
    if (const Yaml* own = node.find("fix")) result.fix = fix(*own, ja);
    result.gain = gain(node.find("gain"));
    return result;
  }

  void show(const Yaml& node, Show& into) {
    const auto column = [&](const Yaml& item, const Scope& seen_from, std::vector<FactPath>& paths) {
      if (!item.is_scalar()) return complain(item.line, "a fact");
      auto path = resolve_path(item.text, seen_from);
      if (!path) return complain(item.line, path.error().message);
      if (path->type.kind == Kind::object || (path->type.kind == Kind::list && path->type.element == Kind::object))
        return complain(item.line, fmt::format("'{}' is a group of facts, not one that can be shown", item.text));
      paths.push_back(std::move(*path));
    };
    if (node.is_list()) {
      for (const Yaml& item : node.items) column(item, *scope_, into.facts);
      return;
    }
    static const Names keys{"table", "columns", "facts"};
    if (!is_map_of(node, keys, "show")) return;
    const Yaml *table = required(node, "table"), *columns = required(node, "columns");
    if (table == nullptr || columns == nullptr || !table->is_scalar()) return;
    auto path = resolve_collection(table->text, *scope_);
    if (!path) return complain(table->line, path.error().message);
    into.table = table->text;
    into.table_path = std::move(*path);
    const Scope* rows = find_scope(into.table_path.collection->scope);
    for (const Yaml& item : columns->items) column(item, *rows, into.column_paths);
    for (const auto& c : into.column_paths) into.columns.push_back(c.text);
    if (const Yaml* list = node.find("facts")) {
      for (const Yaml& item : list->items) column(item, *scope_, into.facts);
    }
  }

  const std::vector<Yaml>& list_of(const Yaml* node, std::string_view what) {
    static const std::vector<Yaml> nothing;
    if (node == nullptr) return nothing;
    if (!node->is_list()) {
      complain(node->line, fmt::format("{} has to be a list", what));
      return nothing;
    }
    return node->items;
  }

  void rule(const Yaml& tree) {
    const std::size_t before = errors.size();
    Rule rule;
    rule.file = file_;
    is_map_of(tree, rule_keys, "a rule");
    for (const char* key : {"id", "title", "kind", "basis", "effect", "for_each", "levels", "message", "fix"})
      required(tree, key);
    rule.id = text(tree.find("id"), "id");
    if (!rule.id.empty() && !Pattern::compile("^[A-Z0-9]+(-[A-Z0-9]+)*$")->search(rule.id))
      complain(tree.find("id")->line, "an id is made of capitals, digits and '-'");
    if (!rule.id.empty() && !ids_.insert(rule.id).second)
      complain(tree.find("id")->line, fmt::format("the id '{}' is taken by another file", rule.id));
    if (const Yaml* kind = tree.find("kind"); kind != nullptr && is_known(*kind, kinds, "kind")) rule.kind = kind->text;
    rule.basis = words(tree.find("basis"), "basis", &bases);
    if (const Yaml* effect = tree.find("effect"); effect != nullptr && is_known(*effect, effects, "effect"))
      rule.effect = effect->text;
    rule.profiles = profiles(tree.find("profiles"));
    rule.refs = words(tree.find("refs"), "refs");
    const Yaml* for_each = tree.find("for_each");
    if (for_each == nullptr) return;
    rule.for_each = for_each->text;
    rule.scope = scope(*for_each);
    if (rule.scope == nullptr) return;  // without it no fact name can be checked
    scope_ = rule.scope;

    const Yaml* ja = ja_of(tree, {"title", "message", "why", "recommendation"});
    rule.title = make_text(tree, "title", ja);
    rule.message = make_text(tree, "message", ja);
    rule.why = make_text(tree, "why", ja);
    if (const Yaml* when = tree.find("when")) rule.when = condition(*when);
    for (const Yaml& node : list_of(tree.find("unless"), "unless")) {
      if (!is_map_of(node, {"when", "because", "severity", "ja"}, "unless")) continue;
      Unless unless;
      if (const Yaml* when = required(node, "when")) unless.when = condition(*when);
      required(node, "because");
      unless.because = make_text(node, "because", ja_of(node, {"because"}));
      if (const Yaml* word = node.find("severity")) unless.severity = severity(*word);
      rule.unless.push_back(std::move(unless));
    }
    for (const Yaml& node : list_of(tree.find("levels"), "levels")) rule.levels.push_back(level(node));
    if (tree.find("levels") != nullptr && rule.levels.empty()) complain(tree.find("levels")->line, "no levels");
    if (const Yaml* lower = tree.find("lower_by_one")) rule.lower_by_one = condition(*lower);
    if (const Yaml* group = tree.find("group_by")) {
      for (const std::string& name : words(group, "group_by")) {
        auto path = resolve_path(name, *scope_);
        if (path) {
          rule.group_by.push_back(std::move(*path));
        } else {
          complain(group->line, path.error().message);
        }
      }
    }
    if (const Yaml* affects = tree.find("affects")) {
      rule.affects = text(affects, "affects");
      auto path = resolve_collection(rule.affects, *scope_);
      if (path) {
        rule.affects_path = std::move(*path);
      } else {
        complain(affects->line, path.error().message);
      }
    }
    if (const Yaml* node = tree.find("show")) show(*node, rule.show);
    for (const Yaml& node : list_of(tree.find("notes"), "notes")) {
      if (!is_map_of(node, {"when", "text", "ja"}, "a note")) continue;
      Note note;
      if (const Yaml* when = node.find("when")) note.when = condition(*when);
      required(node, "text");
      note.text = make_text(node, "text", ja_of(node, {"text"}));
      rule.notes.push_back(std::move(note));
    }
    if (const Yaml* node = tree.find("fix")) rule.fix = fix(*node, ja);
    rule.gain = gain(tree.find("gain"));
    for (const Yaml& node : list_of(tree.find("contested"), "contested")) {
      if (!is_map_of(node, {"who", "says"}, "contested")) continue;
      required(node, "who");
      required(node, "says");
      rule.contested.push_back({text(node.find("who"), "who"), text(node.find("says"), "says")});
    }
    if (errors.size() != before) return;
    const auto same = [&](const Rule& other) { return other.id == rule.id; };
    set_.rules.erase(std::remove_if(set_.rules.begin(), set_.rules.end(), same), set_.rules.end());
    set_.rules.push_back(std::move(rule));
  }

  RuleSet& set_;
  std::string file_;
  const Scope* scope_ = nullptr;
  bool special_ = false;  // placeholders of snippets are allowed
  std::set<std::string> ids_;
};

// --- agreement of the languages ------------------------------------------------------------------------------------

std::set<std::string> placeholders_of(const Template& text) {
  std::set<std::string> names;
  for (const auto& piece : text.pieces) {
    if (!piece.name.empty()) names.insert(piece.spec.empty() ? piece.name : piece.name + ':' + piece.spec);
  }
  return names;
}

std::set<std::string> numbers_of(const Template& text) {
  std::set<std::string> numbers;
  for (const auto& piece : text.pieces) {
    if (!piece.name.empty()) continue;
    std::string number;
    const auto flush = [&] {
      while (!number.empty() && (number.back() == '.' || number.back() == ',')) number.pop_back();
      if (!number.empty()) numbers.insert(number);
      number.clear();
    };
    for (const char c : piece.text) {
      const bool digit = c >= '0' && c <= '9';
      if (digit || (!number.empty() && (c == '.' || c == ','))) {
        number += c;
      } else {
        flush();
      }
    }
    flush();
  }
  return numbers;
}

std::string difference(const std::set<std::string>& a, const std::set<std::string>& b) {
  std::vector<std::string> only;
  std::set_symmetric_difference(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(only));
  return base::join(only, ", ");
}

void check_text(const Rule& rule, const Text& text, std::string_view what, std::vector<base::Error>& errors) {
  if (text.ja.empty() || text.en.empty()) return;
  const auto differ = [&](std::string_view sort, const std::set<std::string>& en, const std::set<std::string>& ja) {
    if (en != ja)
      errors.push_back({ErrorKind::malformed, rule.file,
                        fmt::format("{}: the {} of {} differ between English and Japanese: {}", rule.id, sort, what,
                                    difference(en, ja))});
  };
  differ("placeholders", placeholders_of(text.en), placeholders_of(text.ja));
  differ("numbers", numbers_of(text.en), numbers_of(text.ja));
}

void check_languages(const Rule& rule, std::vector<base::Error>& errors) {
  check_text(rule, rule.title, "title", errors);
  check_text(rule, rule.message, "message", errors);
  check_text(rule, rule.why, "why", errors);
  check_text(rule, rule.fix.text, "recommendation", errors);
  for (const auto& unless : rule.unless) check_text(rule, unless.because, "because", errors);
  for (const auto& note : rule.notes) check_text(rule, note.text, "notes", errors);
  if (rule.gain) check_text(rule, rule.gain->text, "gain", errors);
  for (const auto& level : rule.levels) {
    const std::string what = fmt::format("the level in line {}", level.line);
    check_text(rule, level.message, what, errors);
    if (level.fix) check_text(rule, level.fix->text, what, errors);
    if (level.gain) check_text(rule, level.gain->text, what, errors);
  }
}

}  // namespace

const Rule* RuleSet::find(std::string_view id) const {
  for (const Rule& rule : rules) {
    if (rule.id == id) return &rule;
  }
  return nullptr;
}

const std::vector<ProfileInfo>& known_profiles() {
  static const std::vector<ProfileInfo> profiles{
      {"general", "always on"},
      {"openshift-virtualization", "virtual machines on OpenShift (KubeVirt)"},
      {"pre-benchmark", "the node is about to be measured"},
      {"failover", "what happens when a storage controller fails over"},
      {"vmware-datastore", "NFS or iSCSI as a VMware datastore"},
      {"zfs-nas", "TrueNAS and other ZFS servers"},
      {"database", "databases on network storage"}};
  return profiles;
}

base::Result<RuleSet> load_rules(const std::vector<TextFile>& files, const std::vector<TextFile>& site) {
  RuleSet set;
  Loader loader(set);
  loader.load(files);
  loader.load(site);
  if (loader.errors.empty()) return set;
  base::Error error = loader.errors.front();
  if (loader.errors.size() > 1) error.message += fmt::format(" (and {} more)", loader.errors.size() - 1);
  return tl::unexpected<base::Error>(std::move(error));
}

std::vector<base::Error> lint_rules(const std::vector<TextFile>& files, const std::vector<TextFile>& shipped) {
  RuleSet set;
  Loader loader(set);
  loader.load(shipped);
  loader.errors.clear();
  loader.load(files);
  for (const Rule& rule : set.rules) {
    const bool here = std::any_of(files.begin(), files.end(), [&](const TextFile& f) { return f.path == rule.file; });
    if (here) check_languages(rule, loader.errors);
  }
  return std::move(loader.errors);
}

base::Result<std::vector<TextFile>> read_rule_files(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  std::vector<std::string> names;
  if (fs::is_directory(path, error)) {
    for (auto it = fs::recursive_directory_iterator(path, error); !error && it != fs::recursive_directory_iterator();
         it.increment(error)) {
      const std::string extension = it->path().extension().string();
      if (extension == ".yaml" || extension == ".yml") names.push_back(it->path().string());
    }
    if (error) return base::fail(ErrorKind::io, path, error.message());
    if (names.empty()) return base::fail(ErrorKind::absent, path, "holds no *.yaml");
  } else {
    names.push_back(path);
  }
  std::sort(names.begin(), names.end());
  std::vector<TextFile> files;
  for (const std::string& name : names) {
    std::ifstream in(name, std::ios::binary);
    std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    if (!in || in.bad()) {
      const bool there = fs::exists(name, error);
      return base::fail(there ? ErrorKind::denied : ErrorKind::absent, name, there ? "cannot be read" : "no such file");
    }
    files.push_back({name, std::move(text)});
  }
  return files;
}

}  // namespace audit
