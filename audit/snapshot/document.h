// Facts <-> JSON by their field lists, and what the field lists say for people and machines.
// A key that is not there is not known, null is known to be absent (DESIGN.md, Documents).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "audit/base/json.h"
#include "audit/base/result.h"
#include "audit/facts/facts.h"
#include "audit/facts/reflect.h"

namespace snapshot {

// Writes a value of any listed type; unknown facts are left out by the object that holds them.
void write_value(base::JsonWriter& out, facts::Ref ref);
void write_value(base::JsonWriter& out, const facts::Value& value);  // Unknown is written as null

std::string to_json(const facts::Facts& facts, base::JsonWriter::Style style = base::JsonWriter::Style::pretty);
// The same text in pieces: that of a large node is many times as long as the facts are.
void write_json(const facts::Facts& facts, const base::Sink& sink);

struct Loaded {
  facts::Facts facts;
  std::vector<std::string>
      notes;  // "nfs.mounts[3].foo: unknown key, from a newer version?": the entry was kept without it
};
// Refuses what is no facts document, another major version, and a value of the wrong kind (with its path and what was
// expected). A report document is taken too: its `facts` are used.
base::Result<Loaded> from_json(std::string_view text, const std::string& where);

// One line of `facts list`: path with [] for lists, type, unit, sentence.
struct ListedFact {
  std::string path;
  std::string type;  // boolean, integer, number, text, object, list of ...
  bool three_state = false;
  std::string unit;
  std::string sentence;
};
std::vector<ListedFact> list_facts();

// JSON Schema (2020-12) of the document; refuses unknown keys and wrong kinds.
std::string facts_schema();

}  // namespace snapshot
