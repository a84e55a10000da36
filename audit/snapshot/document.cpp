#include "audit/snapshot/document.h"

#include <fmt/format.h>

#include <boost/json.hpp>
#include <map>
#include <memory>

#include "audit/base/text.h"

namespace snapshot {

namespace json = boost::json;
using base::ErrorKind;
using base::Result;
using facts::Kind;
using facts::Ref;
using facts::State;
using facts::TypeInfo;
using facts::Value;

void write_value(base::JsonWriter& out, const Value& value) {
  std::visit(
      [&](const auto& data) {
        using D = std::remove_cvref_t<decltype(data)>;
        if constexpr (std::is_same_v<D, facts::Unknown> || std::is_same_v<D, facts::Absent>) {
          out.null();
        } else if constexpr (std::is_same_v<D, bool>) {
          out.boolean(data);
        } else if constexpr (std::is_arithmetic_v<D>) {
          out.number(data);
        } else if constexpr (std::is_same_v<D, std::string>) {
          out.text(data);
        } else {
          out.begin_array();
          for (const auto& element : data) write_value(out, element);
          out.end_array();
        }
      },
      value.data);
}

namespace {

// Writes facts by their field lists. What has to be found out of a struct is found out once for each depth at which
// it stands: a document holds one kind of struct by the hundred thousand.
class Writer {
 public:
  explicit Writer(base::JsonWriter& out) : out_(out) {}

  void write(const TypeInfo& type, const void* at) {
    switch (type.kind) {
      case Kind::fact:
      case Kind::box:
        if (type.state(at) != State::value) return out_.null();
        return write(type.of(), type.inside(at));
      case Kind::object: {
        out_.begin_object();
        for (const Member& member : members_of(type)) {
          const void* place = static_cast<const std::byte*>(at) + member.offset;
          if (member.type->state != nullptr && is_unknown(*member.type, place)) continue;
          out_.prepared_key(member.key);
          write(*member.type, place);
        }
        return out_.end_object();
      }
      case Kind::list: {
        out_.begin_array();
        const TypeInfo& element = type.of();
        const std::size_t size = type.size(at);
        for (std::size_t i = 0; i < size; ++i) write(element, type.at(at, i));
        return out_.end_array();
      }
      case Kind::text: return out_.text(*static_cast<const std::string*>(at));
      case Kind::boolean: return out_.boolean(*static_cast<const bool*>(at));
      case Kind::integer: return write_integer(type, at);
      case Kind::number: return write_value(out_, type.scalar(at));
    }
  }

 private:
  struct Member {
    std::string key;
    const TypeInfo* type;
    std::size_t offset;
  };

  // Of a Fact or Box, and of what is inside it.
  static bool is_unknown(const TypeInfo& type, const void* at) {
    const State state = type.state(at);
    if (state != State::value) return state == State::unknown;
    const TypeInfo& inner = type.of();
    return inner.state != nullptr && is_unknown(inner, type.inside(at));
  }

  void write_integer(const TypeInfo& type, const void* at) {
    if (&type == &facts::type_of<std::uint64_t>()) return out_.number(*static_cast<const std::uint64_t*>(at));
    if (&type == &facts::type_of<std::uint32_t>()) {
      return out_.number(std::uint64_t{*static_cast<const std::uint32_t*>(at)});
    }
    write_value(out_, type.scalar(at));
  }

  const std::vector<Member>& members_of(const TypeInfo& type) {
    auto& by_type = members_[out_.depth()];
    for (const auto& [known, members] : by_type) {
      if (known == &type) return *members;
    }
    auto members = std::make_unique<std::vector<Member>>();
    for (const auto& field : type.fields)
      members->push_back({out_.prepare_key(field.name), &field.type(), field.offset});
    return *by_type.emplace_back(&type, std::move(members)).second;
  }

  base::JsonWriter& out_;
  std::map<std::size_t, std::vector<std::pair<const TypeInfo*, std::unique_ptr<std::vector<Member>>>>> members_;
};

}  // namespace

void write_value(base::JsonWriter& out, Ref ref) { Writer(out).write(*ref.type, ref.at); }

std::string to_json(const facts::Facts& facts, base::JsonWriter::Style style) {
  base::JsonWriter out(style);
  write_value(out, facts::ref_to(facts));
  return out.take() + "\n";
}

void write_json(const facts::Facts& facts, const base::Sink& sink) {
  base::JsonWriter out(sink);
  write_value(out, facts::ref_to(facts));
  out.raw("\n");
  out.flush();
}

namespace {

std::string kind_text(const TypeInfo& type) {
  const TypeInfo& bare = type.bare();
  switch (bare.kind) {
    case Kind::boolean: return "true or false";
    case Kind::integer: return "a whole number in range";
    case Kind::number: return "a number";
    case Kind::text: return "a text";
    case Kind::object: return "an object";
    default: return "a list";
  }
}

std::string json_kind(const json::value& value) {
  switch (value.kind()) {
    case json::kind::null: return "null";
    case json::kind::bool_: return "a boolean";
    case json::kind::string: return "a text";
    case json::kind::array: return "a list";
    case json::kind::object: return "an object";
    default: return "the number " + json::serialize(value);
  }
}

class Reader {
 public:
  Reader(std::string where, std::vector<std::string>& notes) : where_(std::move(where)), notes_(notes) {}

  Result<void> read(const TypeInfo& type, void* at, const json::value& value, const std::string& path) {
    switch (type.kind) {
      case Kind::fact:
        if (value.is_null()) {
          type.set_absent(at);
          return {};
        }
        return read(type.of(), type.emplace(at), value, path);
      case Kind::box: return read(type.of(), type.emplace(at), value, path);
      case Kind::object: return read_object(type, at, value, path);
      case Kind::list: {
        if (!value.is_array()) return wrong(type, value, path);
        std::size_t index = 0;
        for (const auto& element : value.get_array()) {
          auto done = read(type.of(), type.append(at), element, fmt::format("{}[{}]", path, index++));
          if (!done) return done;
        }
        return {};
      }
      default: return read_scalar(type, at, value, path);
    }
  }

 private:
  Result<void> wrong(const TypeInfo& type, const json::value& value, const std::string& path) {
    return base::fail(ErrorKind::malformed, where_,
                      fmt::format("{}: expected {}, found {}", path.empty() ? "the document" : path, kind_text(type),
                                  json_kind(value)));
  }

  Result<void> read_object(const TypeInfo& type, void* at, const json::value& value, const std::string& path) {
    if (!value.is_object()) return wrong(type, value, path);
    for (const auto& [key, member] : value.get_object()) {
      const std::string_view name(key.data(), key.size());
      const std::string inner = path.empty() ? std::string(name) : fmt::format("{}.{}", path, name);
      const auto* field = type.field(name);
      if (field == nullptr) {
        notes_.push_back(base::escape_control(inner) + ": unknown key, left out");
        continue;
      }
      auto done = read(field->type(), field->in(at), member, inner);
      if (!done) return done;
    }
    return {};
  }

  Result<void> read_scalar(const TypeInfo& type, void* at, const json::value& value, const std::string& path) {
    Value scalar;
    switch (value.kind()) {
      case json::kind::bool_: scalar = value.get_bool(); break;
      case json::kind::int64: scalar = static_cast<std::int64_t>(value.get_int64()); break;
      case json::kind::uint64: scalar = static_cast<std::uint64_t>(value.get_uint64()); break;
      case json::kind::double_: scalar = value.get_double(); break;
      case json::kind::string: scalar = std::string_view(value.get_string().data(), value.get_string().size()); break;
      default: return wrong(type, value, path);
    }
    if (!type.assign(at, scalar)) return wrong(type, value, path);
    return {};
  }

  std::string where_;
  std::vector<std::string>& notes_;
};

}  // namespace

Result<Loaded> from_json(std::string_view text, const std::string& where) {
  auto parsed = base::parse_json(text, where);
  if (!parsed) return tl::unexpected(parsed.error());
  const json::value* document = &*parsed;
  const auto schema_of = [](const json::value& value) {
    const auto* object = value.if_object();
    const auto* schema = object != nullptr ? object->if_contains("schema") : nullptr;
    const auto* name = schema != nullptr ? schema->if_string() : nullptr;
    return name != nullptr ? std::string(name->data(), name->size()) : std::string();
  };
  std::string schema = schema_of(*document);
  if (schema == "mountaudit.report/1") {
    document = document->get_object().if_contains("facts");
    schema = document != nullptr ? schema_of(*document) : "";
  }
  if (schema.empty()) {
    return base::fail(ErrorKind::malformed, where,
                      fmt::format("no facts document: it has no \"schema\": \"{}\"", facts::schema_name));
  }
  if (schema != facts::schema_name) {
    return base::fail(
        ErrorKind::malformed, where,
        fmt::format("schema is {}, this version reads {}", base::escape_control(schema), facts::schema_name));
  }
  Loaded loaded;
  auto done = Reader(where, loaded.notes).read(facts::type_of<facts::Facts>(), &loaded.facts, *document, "");
  if (!done) return tl::unexpected(done.error());
  return loaded;
}

namespace {

std::string type_text(const TypeInfo& type) {
  const TypeInfo& bare = type.bare();
  switch (bare.kind) {
    case Kind::boolean: return "boolean";
    case Kind::integer: return "integer";
    case Kind::number: return "number";
    case Kind::text: return "text";
    case Kind::list: return "list of " + type_text(bare.of());
    default: return "object";
  }
}

void list_into(const TypeInfo& type, const std::string& path, std::vector<ListedFact>& out) {
  for (const auto& field : type.fields) {
    const TypeInfo& member = field.type();
    const TypeInfo* bare = &member.bare();
    std::string inner = path.empty() ? std::string(field.name) : fmt::format("{}.{}", path, field.name);
    while (bare->kind == Kind::list) {
      inner += "[]";
      bare = &bare->of().bare();
    }
    out.push_back({inner, type_text(member), member.kind == Kind::fact || member.kind == Kind::box,
                   std::string(facts::unit_of(field.name)), std::string(field.sentence)});
    if (bare->kind == Kind::object && member.kind != Kind::box) list_into(*bare, inner, out);
  }
}

void schema_type(base::JsonWriter& out, const TypeInfo& type, std::string_view sentence, bool or_null);

void schema_object(base::JsonWriter& out, const TypeInfo& type, bool top) {
  out.key("properties");
  out.begin_object();
  std::vector<std::string_view> required;
  for (const auto& field : type.fields) {
    const TypeInfo& member = field.type();
    out.key(field.name);
    if (top && field.name == "schema") {
      out.begin_object();
      out.key("const");
      out.text(facts::schema_name);
      out.key("description");
      out.text(field.sentence);
      out.end_object();
    } else if (member.kind == Kind::box) {
      out.begin_object();
      out.key("$ref");
      out.text("#");
      out.key("description");
      out.text(field.sentence);
      out.end_object();
    } else {
      schema_type(out, member, field.sentence, false);
    }
    if (member.kind != Kind::fact && member.kind != Kind::box) required.push_back(field.name);
  }
  out.end_object();
  out.key("required");
  out.begin_array();
  for (const auto name : required) out.text(name);
  out.end_array();
  out.key("additionalProperties");
  out.boolean(false);
}

void schema_type(base::JsonWriter& out, const TypeInfo& type, std::string_view sentence, bool or_null) {
  if (type.kind == Kind::fact) return schema_type(out, type.of(), sentence, true);
  const auto names = [](Kind kind) -> std::string_view {
    switch (kind) {
      case Kind::boolean: return "boolean";
      case Kind::integer: return "integer";
      case Kind::number: return "number";
      case Kind::text: return "string";
      case Kind::list: return "array";
      default: return "object";
    }
  };
  out.begin_object();
  out.key("type");
  if (or_null) {
    out.begin_array();
    out.text(names(type.kind));
    out.text("null");
    out.end_array();
  } else {
    out.text(names(type.kind));
  }
  if (!sentence.empty()) {
    out.key("description");
    out.text(sentence);
  }
  if (type.kind == Kind::list) {
    out.key("items");
    schema_type(out, type.of(), "", false);
  } else if (type.kind == Kind::object) {
    schema_object(out, type, false);
  }
  out.end_object();
}

}  // namespace

std::vector<ListedFact> list_facts() {
  std::vector<ListedFact> out;
  list_into(facts::type_of<facts::Facts>(), "", out);
  return out;
}

std::string facts_schema() {
  base::JsonWriter out;
  out.begin_object();
  out.key("$schema");
  out.text("https://json-schema.org/draft/2020-12/schema");
  out.key("$id");
  out.text(facts::schema_name);
  out.key("title");
  out.text("mountaudit facts");
  out.key("type");
  out.text("object");
  schema_object(out, facts::type_of<facts::Facts>(), true);
  out.end_object();
  return out.take() + "\n";
}

}  // namespace snapshot
