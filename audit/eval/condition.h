// Conditions of rules, compiled: facts by path, operators, three-valued truth (Kleene's strong logic).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "audit/base/result.h"
#include "audit/facts/reflect.h"

namespace audit {

class Context;
class Pattern;
struct Item;
struct Scope;
struct Reference;
struct DerivedFact;
struct Collection;

enum class Truth : std::uint8_t { no, yes, unknown };
inline Truth truth(bool b) { return b ? Truth::yes : Truth::no; }
Truth negate(Truth t);

// What a path leads to, for the check of operators when a rule is loaded.
struct ValueType {
  facts::Kind kind = facts::Kind::text;     // boolean, integer, number, text, object, list
  facts::Kind element = facts::Kind::text;  // of a list
  bool is_number() const { return kind == facts::Kind::integer || kind == facts::Kind::number; }
  bool is_scalar() const { return kind != facts::Kind::object && kind != facts::Kind::list; }
};

// "client.server.rtmax_bytes" seen from one kind of item: joins first, then fields of a struct or one derived fact. A
// path that starts with a key of the document ("kernel.release") is read from the document.
struct FactPath {
  std::string text;
  std::vector<const Reference*> references;
  std::vector<const facts::Field*> fields;
  const DerivedFact* derived = nullptr;
  bool from_document = false;
  ValueType type;
};

// A fact as it was found.
struct Reading {
  facts::Value value;  // true for an object that is there
  std::string path;    // in the document: "nfs.servers[1].rtmax_bytes"
};

// Refuses a name that is not there (and names the nearest one), and a path through a list.
base::Result<FactPath> resolve_path(std::string_view text, const Scope& scope);
// References on the way and the collection at the end: "client.ops".
struct CollectionPath {
  std::vector<const Reference*> references;
  const Collection* collection = nullptr;
};
base::Result<CollectionPath> resolve_collection(std::string_view text, const Scope& scope);
std::vector<Item> read_collection(const Context& context, const Item& item, const CollectionPath& path);
// The item at the end of the references of a path; nothing where one of them leads nowhere.
std::optional<Item> follow(const Context& context, const Item& item, const std::vector<const Reference*>& references);

facts::Value read_value(const Context& context, const Item& item, const FactPath& path);
// As a text shows it: derived texts have a Japanese form.
facts::Value read_shown(const Context& context, const Item& item, const FactPath& path, bool ja);
Reading read_fact(const Context& context, const Item& item, const FactPath& path);

enum class Operator : std::uint8_t { eq, ne, in, not_in, lt, le, gt, ge, matches, exists, unknown, negation };
const char* operator_word(Operator op);

struct Test {
  Operator op = Operator::eq;
  facts::Value literal;            // also the value of { limit: name }
  std::string limit;               // its name, for texts
  std::shared_ptr<FactPath> fact;  // { fact: path }
  std::shared_ptr<const Pattern> pattern;
  std::vector<Test> negated;  // not: all of these together
};

struct Condition {
  enum class Form : std::uint8_t { all, any, negation, fact };
  Form form = Form::all;
  std::vector<Condition> parts;  // all, any, negation (one part); an empty `all` holds
  FactPath path;                 // fact: every test holds for it
  std::vector<Test> tests;
};

// A value as texts show it: "unknown", "not set", 3, 64.0 as 64, yes or no, a list divided by commas.
std::string value_text(const facts::Value& value, std::string_view spec = {}, bool ja = false);

// Facts whose being unknown kept a condition from being decided, as "path: why".
using Missing = std::vector<std::string>;

Truth evaluate(const Condition& condition, const Context& context, const Item& item, Missing* missing = nullptr);

// "nfs.servers[1].rtmax_bytes: timeout after 2 s" of a fact that is not known.
std::string missing_text(const Context& context, const Item& item, const FactPath& path);

// "needs nfs.servers[1].rtmax_bytes: timeout after 2 s"
std::string needs_text(const Missing& missing);

// In words, for `rules explain`: "`proto` is one of tcp, tcp6".
std::string condition_words(const Condition& condition);

}  // namespace audit
