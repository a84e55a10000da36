#include "audit/eval/condition.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "audit/base/text.h"
#include "audit/eval/derive.h"
#include "audit/eval/pattern.h"

namespace audit {

namespace {

using facts::Kind;
using facts::State;
using facts::TypeInfo;
using facts::Value;

ValueType value_type(const TypeInfo& info) {
  const TypeInfo& bare = info.bare();
  ValueType type;
  type.kind = bare.kind;
  if (bare.kind == Kind::list) type.element = bare.of().bare().kind;
  return type;
}

// Every name that could have been meant, for the nearest one.
void add_fields(const TypeInfo& info, const std::string& prefix, std::vector<std::string>& names, int depth) {
  if (depth > 3) return;
  for (const auto& field : info.bare().fields) {
    const TypeInfo& inner = field.type().bare();
    if (prefix.empty() && field.name == "earlier") continue;
    names.push_back(prefix + std::string(field.name));
    if (inner.kind == Kind::object) add_fields(inner, names.back() + '.', names, depth + 1);
  }
}

void add_scope(const Scope& scope, const std::string& prefix, std::vector<std::string>& names, int depth) {
  for (const auto& fact : scope.derived) names.push_back(prefix + std::string(fact.name));
  if (scope.type != nullptr) add_fields(scope.type(), prefix, names, 1);
  for (const auto& reference : scope.references) {
    const std::string path = prefix + std::string(reference.name);
    names.push_back(path);
    const Scope* next = find_scope(reference.scope);
    if (depth > 0 && next != nullptr) add_scope(*next, path + '.', names, depth - 1);
  }
}

std::string nearest_hint(std::string_view word, const std::vector<std::string>& names) {
  const auto near = base::nearest(word, names);
  return near ? fmt::format(", nearest: {}", *near) : "";
}

tl::unexpected<base::Error> no_such_fact(std::string_view text, const Scope& scope) {
  std::vector<std::string> names;
  add_scope(scope, "", names, 1);
  add_fields(facts::type_of<facts::Facts>(), "", names, 0);
  return base::fail(base::ErrorKind::malformed, "",
                    fmt::format("no fact '{}' of {}{}", text, scope.name, nearest_hint(text, names)));
}

struct Split {
  std::string_view head, tail;
};

Split split_first(std::string_view path) {
  const std::size_t dot = path.find('.');
  if (dot == std::string_view::npos) return {path, {}};
  return {path.substr(0, dot), path.substr(dot + 1)};
}

}  // namespace

Truth negate(Truth t) {
  if (t == Truth::unknown) return t;
  return t == Truth::yes ? Truth::no : Truth::yes;
}

const char* operator_word(Operator op) {
  switch (op) {
    case Operator::eq: return "eq";
    case Operator::ne: return "ne";
    case Operator::in: return "in";
    case Operator::not_in: return "not_in";
    case Operator::lt: return "lt";
    case Operator::le: return "le";
    case Operator::gt: return "gt";
    case Operator::ge: return "ge";
    case Operator::matches: return "matches";
    case Operator::exists: return "exists";
    case Operator::unknown: return "unknown";
    case Operator::negation: return "not";
  }
  return "";
}

base::Result<FactPath> resolve_path(std::string_view text, const Scope& scope) {
  FactPath path;
  path.text = std::string(text);
  const Scope* at = &scope;
  std::string_view rest = text;
  for (;;) {
    if (const DerivedFact* fact = at->find_derived(rest)) {
      path.derived = fact;
      path.type = fact->type;
      return path;
    }
    const Split split = split_first(rest);
    const Reference* reference = at->find_reference(split.head);
    if (reference == nullptr) break;
    path.references.push_back(reference);
    at = find_scope(reference->scope);
    if (at == nullptr) return no_such_fact(text, scope);
    rest = split.tail;
    if (rest.empty()) {
      path.type.kind = Kind::object;
      return path;
    }
  }
  const TypeInfo* type = at->type != nullptr ? &at->type() : nullptr;
  if ((type == nullptr || type->field(split_first(rest).head) == nullptr) && path.references.empty()) {
    type = &facts::type_of<facts::Facts>();
    path.from_document = true;
  }
  while (!rest.empty()) {
    const Split split = split_first(rest);
    const facts::Field* field = type != nullptr ? type->bare().field(split.head) : nullptr;
    if (field == nullptr || (path.from_document && path.fields.empty() && split.head == "earlier"))
      return no_such_fact(text, scope);
    path.fields.push_back(field);
    type = &field->type();
    rest = split.tail;
    if (!rest.empty() && type->bare().kind == Kind::list)
      return base::fail(base::ErrorKind::malformed, "",
                        fmt::format("'{}' goes through the list '{}': name it in for_each, or derive a number from it",
                                    text, split.head));
  }
  path.type = value_type(*type);
  return path;
}

base::Result<CollectionPath> resolve_collection(std::string_view text, const Scope& scope) {
  CollectionPath path;
  const Scope* at = &scope;
  std::string_view rest = text;
  for (;;) {
    const Split split = split_first(rest);
    if (split.tail.empty()) break;
    const Reference* reference = at->find_reference(split.head);
    if (reference == nullptr) break;
    path.references.push_back(reference);
    at = find_scope(reference->scope);
    rest = split.tail;
  }
  path.collection = at->find_collection(rest);
  if (path.collection == nullptr) {
    std::vector<std::string> names;
    for (const auto& collection : scope.collections) names.emplace_back(collection.name);
    for (const auto& reference : scope.references) {
      for (const auto& collection : find_scope(reference.scope)->collections)
        names.push_back(fmt::format("{}.{}", reference.name, collection.name));
    }
    return base::fail(base::ErrorKind::malformed, "",
                      fmt::format("no list '{}' of {}{}", text, scope.name, nearest_hint(text, names)));
  }
  return path;
}

std::optional<Item> follow(const Context& context, const Item& item, const std::vector<const Reference*>& references) {
  Item at = item;
  for (const Reference* reference : references) {
    const Joined joined = reference->get(context, at);
    if (!joined.item) return std::nullopt;
    at = *joined.item;
  }
  return at;
}

std::vector<Item> read_collection(const Context& context, const Item& item, const CollectionPath& path) {
  const auto holder = follow(context, item, path.references);
  return holder ? path.collection->get(context, *holder) : std::vector<Item>{};
}

namespace {

// What is read, and the item that it is read from (unless a reference led nowhere).
struct Found {
  Value value;
  Item item;
  std::size_t followed = 0;  // references
};

Found find_fact(const Context& context, const Item& item, const FactPath& path, bool ja = false) {
  Found found{{}, item, 0};
  for (const Reference* reference : path.references) {
    Joined joined = reference->get(context, found.item);
    if (!joined.item) {
      found.value = joined.absent ? Value(facts::Absent{}) : Value(facts::Unknown{std::move(joined.why)});
      return found;
    }
    found.item = *joined.item;
    ++found.followed;
  }
  if (path.derived != nullptr) {
    found.value = ja && path.derived->get_ja != nullptr ? path.derived->get_ja(context, found.item)
                                                        : context.derived_value(*path.derived, found.item);
    return found;
  }
  if (path.fields.empty()) {
    found.value = true;  // the reference itself
    return found;
  }
  facts::Ref ref = path.from_document ? facts::ref_to(context.facts) : found.item.scope->ref(context, found.item);
  for (const facts::Field* field : path.fields) {
    const State state = ref ? ref.state() : State::unknown;
    if (state == State::unknown) return found;
    if (state == State::absent) {
      found.value = facts::Absent{};
      return found;
    }
    ref = {&field->type(), field->in(ref.bare().at)};
  }
  if (path.type.kind == Kind::object || (path.type.kind == Kind::list && path.type.element == Kind::object)) {
    const State state = ref.state();
    if (state == State::value) found.value = true;
    if (state == State::absent) found.value = facts::Absent{};
    return found;
  }
  found.value = ref.value();
  return found;
}

std::string full_path(const Context& context, const Found& found, const FactPath& path) {
  if (path.from_document) return path.text;
  std::string_view rest = path.text;
  for (std::size_t i = 0; i < found.followed; ++i) rest = split_first(rest).tail;
  const std::string at = found.item.scope->path(context, found.item);
  return rest.empty() ? at : at + '.' + std::string(rest);
}

}  // namespace

Value read_value(const Context& context, const Item& item, const FactPath& path) {
  return find_fact(context, item, path).value;
}

Value read_shown(const Context& context, const Item& item, const FactPath& path, bool ja) {
  return find_fact(context, item, path, ja).value;
}

Reading read_fact(const Context& context, const Item& item, const FactPath& path) {
  Found found = find_fact(context, item, path);
  std::string at = full_path(context, found, path);
  return {std::move(found.value), std::move(at)};
}

std::string missing_text(const Context& context, const Item& item, const FactPath& path) {
  const Found found = find_fact(context, item, path);
  const auto* unknown = std::get_if<facts::Unknown>(&found.value.data);
  const std::string at = full_path(context, found, path);
  if (unknown != nullptr && unknown->why.starts_with("needs ")) return unknown->why.substr(6);
  if (unknown != nullptr && !unknown->why.empty()) return at + ": " + unknown->why;
  return at + ": " + why_unknown(context, path.derived != nullptr ? std::string(path.derived->rests_on) : at);
}

// --- truth ---------------------------------------------------------------------------------------------------------

namespace {

bool is_in(const Value& value, const Value& list) {
  const facts::Values* values = list.as_list();
  if (values == nullptr) return value == list;
  return std::find(values->begin(), values->end(), value) != values->end();
}

Truth compare(Operator op, const Value& value, const Value& other) {
  const auto a = value.as_double(), b = other.as_double();
  if (!a || !b) return Truth::no;
  switch (op) {
    case Operator::lt: return truth(*a < *b);
    case Operator::le: return truth(*a <= *b);
    case Operator::gt: return truth(*a > *b);
    default: return truth(*a >= *b);
  }
}

struct Evaluation {
  const Context& context;
  const Item& item;
  Missing* missing;

  void miss(const FactPath& path) const {
    if (missing == nullptr) return;
    std::string text = missing_text(context, item, path);
    if (std::find(missing->begin(), missing->end(), text) == missing->end()) missing->push_back(std::move(text));
  }

  // All of the tests of one fact.
  Truth tests(const std::vector<Test>& list, const Value& value, const FactPath& path) const {
    Truth result = Truth::yes;
    for (const Test& test : list) {
      const Truth t = one(test, value, path);
      if (t == Truth::no) return t;
      if (t == Truth::unknown) result = t;
    }
    return result;
  }

  Truth one(const Test& test, const Value& value, const FactPath& path) const {
    switch (test.op) {
      case Operator::unknown: return truth(value.is_unknown() == *test.literal.as_bool());
      case Operator::negation: return negate(tests(test.negated, value, path));
      default: break;
    }
    if (value.is_unknown()) {
      miss(path);
      return Truth::unknown;
    }
    if (test.op == Operator::exists) return truth(!value.is_absent() == *test.literal.as_bool());
    if (value.is_absent()) return truth(test.op == Operator::ne || test.op == Operator::not_in);
    Value read;
    if (test.fact) {
      read = read_value(context, item, *test.fact);
      if (read.is_unknown()) {
        miss(*test.fact);
        return Truth::unknown;
      }
      if (read.is_absent()) return truth(test.op == Operator::ne || test.op == Operator::not_in);
    }
    const Value& other = test.fact ? read : test.literal;
    switch (test.op) {
      case Operator::eq: return truth(value == other);
      case Operator::ne: return truth(!(value == other));
      case Operator::in: return truth(is_in(value, other));
      case Operator::not_in: return truth(!is_in(value, other));
      case Operator::matches: return truth(value.as_text() != nullptr && test.pattern->search(*value.as_text()));
      default: return compare(test.op, value, other);
    }
  }

  Truth condition(const Condition& c) const {
    switch (c.form) {
      case Condition::Form::fact: return tests(c.tests, read_value(context, item, c.path), c.path);
      case Condition::Form::negation: return negate(condition(c.parts.front()));
      case Condition::Form::all:
      case Condition::Form::any: break;
    }
    const Truth decides = c.form == Condition::Form::all ? Truth::no : Truth::yes;
    Truth result = negate(decides);
    const std::size_t before = missing != nullptr ? missing->size() : 0;
    for (const Condition& part : c.parts) {
      const Truth t = condition(part);
      if (t == decides) {
        if (missing != nullptr) missing->resize(before);  // what was not known did not matter
        return t;
      }
      if (t == Truth::unknown) result = t;
    }
    return result;
  }
};

}  // namespace

Truth evaluate(const Condition& condition, const Context& context, const Item& item, Missing* missing) {
  return Evaluation{context, item, missing}.condition(condition);
}

std::string needs_text(const Missing& missing) {
  constexpr std::size_t shown = 3;
  std::string text = "needs ";
  for (std::size_t i = 0; i < missing.size() && i < shown; ++i) {
    if (i > 0) text += "; ";
    text += missing[i];
  }
  if (missing.size() > shown) text += fmt::format("; and {} more", missing.size() - shown);
  return text;
}

// --- words ---------------------------------------------------------------------------------------------------------

namespace {

std::string number_text(double number, std::string_view spec) {
  if (!std::isfinite(number)) return "unknown";
  if (spec.ends_with('f')) {
    const auto digits = base::number<int>(spec.substr(1, spec.size() - 2));
    return fmt::format("{:.{}f}", number, digits.value_or(0));
  }
  if (spec.ends_with('%')) {
    const auto digits = base::number<int>(spec.substr(1, spec.size() - 2));
    return fmt::format("{:.{}f}%", number * 100, digits.value_or(0));
  }
  if (number == std::floor(number) && std::fabs(number) < 1e15) return fmt::format("{:.0f}", number);
  return fmt::format("{:.4g}", number);
}

}  // namespace

std::string value_text(const Value& value, std::string_view spec, bool ja) {
  if (value.is_unknown()) return ja ? "不明" : "unknown";
  if (value.is_absent()) return ja ? "指定なし" : "not set";
  if (const bool* b = value.as_bool()) {
    if (ja) return *b ? "はい" : "いいえ";
    return *b ? "yes" : "no";
  }
  if (const std::string* text = value.as_text()) return *text;
  if (const facts::Values* list = value.as_list()) {
    std::string text;
    for (const Value& item : *list) text += (text.empty() ? "" : ", ") + value_text(item, spec, ja);
    return text.empty() ? (ja ? "なし" : "none") : text;
  }
  const bool plain = spec.empty() || spec == "d";
  if (const auto* i = std::get_if<std::int64_t>(&value.data); i != nullptr && plain) return std::to_string(*i);
  if (const auto* u = std::get_if<std::uint64_t>(&value.data); u != nullptr && plain) return std::to_string(*u);
  return number_text(*value.as_double(), spec);
}

namespace {

std::string operand_words(const Test& test) {
  if (test.fact) return '`' + test.fact->text + '`';
  if (!test.limit.empty()) return fmt::format("{} ({})", value_text(test.literal), test.limit);
  if (test.literal.as_bool() != nullptr) return *test.literal.as_bool() ? "true" : "false";
  return value_text(test.literal);
}

std::string test_words(const Test& test, bool negated) {
  const std::string no = negated ? "not " : "";
  const std::string operand = operand_words(test);
  switch (test.op) {
    case Operator::eq: return fmt::format("is {}{}", no, operand);
    case Operator::ne: return fmt::format("is {}{}", negated ? "" : "not ", operand);
    case Operator::in: return fmt::format("is {}one of {}", no, operand);
    case Operator::not_in: return fmt::format("is {}one of {}", negated ? "" : "not ", operand);
    case Operator::lt: return fmt::format("is {}below {}", no, operand);
    case Operator::le: return fmt::format("is {}at most {}", no, operand);
    case Operator::gt: return fmt::format("is {}above {}", no, operand);
    case Operator::ge: return fmt::format("is {}at least {}", no, operand);
    case Operator::matches: return fmt::format("{} {}", negated ? "does not match" : "matches", operand);
    case Operator::exists: return *test.literal.as_bool() != negated ? "is set" : "is not set";
    case Operator::unknown: return *test.literal.as_bool() != negated ? "is not known" : "is known";
    case Operator::negation: break;
  }
  if (test.negated.size() == 1) return test_words(test.negated.front(), !negated);
  std::string words;
  for (const Test& inner : test.negated) words += (words.empty() ? "" : " and ") + test_words(inner, false);
  return negated ? words : "is not such that it " + words;
}

}  // namespace

std::string condition_words(const Condition& condition) {
  std::string words;
  if (condition.form == Condition::Form::fact) {
    for (const Test& test : condition.tests) words += (words.empty() ? "" : " and ") + test_words(test, false);
    return fmt::format("`{}` {}", condition.path.text, words);
  }
  if (condition.form == Condition::Form::negation) return fmt::format("not ({})", condition_words(condition.parts[0]));
  const bool all = condition.form == Condition::Form::all;
  if (condition.parts.empty()) return all ? "always" : "never";
  for (const Condition& part : condition.parts) {
    const bool group = part.form == Condition::Form::any || (part.form == Condition::Form::all && !all);
    const std::string inner = condition_words(part);
    words += (words.empty() ? "" : (all ? " and " : " or ")) +
             (group && part.parts.size() > 1 && condition.parts.size() > 1 ? '(' + inner + ')' : inner);
  }
  return words;
}

}  // namespace audit
