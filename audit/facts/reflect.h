// What a field list says about a struct, without its type: the one door for JSON, `facts list`, `facts schema`, the
// check of fact names in rules and the evaluator's reading of facts. TypeInfo describes, Ref points, Value copies.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "audit/facts/fact.h"

namespace facts {

enum class Kind : std::uint8_t {
  boolean,
  integer,  // any whole number
  number,   // double
  text,
  object,  // a struct with a field list
  list,
  fact,  // Fact<T>: T in one of three states
  box,   // Box<T>
};

// A scalar or a list of scalars, copied out of the facts or derived from them.
struct Unknown {
  std::string why;  // may be empty: then the sources tell
  bool operator==(const Unknown&) const { return true; }
};
struct Absent {
  bool operator==(const Absent&) const = default;
};
struct Value;
using Values = std::vector<Value>;
struct Value {
  std::variant<Unknown, Absent, bool, std::int64_t, std::uint64_t, double, std::string, Values> data;

  Value() = default;
  template <class T>
  requires(!std::is_same_v<std::remove_cvref_t<T>, Value>) Value(T&& from) {  // NOLINT: every scalar is a Value
    using D = std::remove_cvref_t<T>;
    if constexpr (std::is_same_v<D, bool>) {
      data = from;
    } else if constexpr (std::is_floating_point_v<D>) {
      data = static_cast<double>(from);
    } else if constexpr (std::is_unsigned_v<D>) {
      data = static_cast<std::uint64_t>(from);
    } else if constexpr (std::is_integral_v<D>) {
      data = static_cast<std::int64_t>(from);
    } else if constexpr (std::is_convertible_v<T, std::string_view>) {
      data = std::string(std::string_view(from));
    } else {
      data = std::forward<T>(from);
    }
  }
  template <class T>
  static Value of(const Fact<T>& fact) {
    if (fact.is_unknown()) return Unknown{};
    if (fact.is_absent()) return Absent{};
    return Value(*fact);
  }

  bool is_unknown() const { return std::holds_alternative<Unknown>(data); }
  bool is_absent() const { return std::holds_alternative<Absent>(data); }
  bool known() const { return !is_unknown(); }
  bool is_number() const { return data.index() >= 3 && data.index() <= 5; }
  std::optional<double> as_double() const;  // numbers only
  const std::string* as_text() const { return std::get_if<std::string>(&data); }
  const bool* as_bool() const { return std::get_if<bool>(&data); }
  const Values* as_list() const { return std::get_if<Values>(&data); }
  bool operator==(const Value& other) const;  // 1 == 1u == 1.0; a number never equals a text
};

struct TypeInfo {
  Kind kind = Kind::object;
  const TypeInfo& (*of)() = nullptr;  // list: element; fact, box: what is inside
  std::vector<Field> fields;          // object

  // Reading. All take the address of the thing described.
  Value (*scalar)(const void*) = nullptr;                 // boolean, integer, number, text
  State (*state)(const void*) = nullptr;                  // fact, box (a box is never absent)
  const void* (*inside)(const void*) = nullptr;           // fact, box: only with State::value
  std::size_t (*size)(const void*) = nullptr;             // list
  const void* (*at)(const void*, std::size_t) = nullptr;  // list
  // Writing.
  bool (*assign)(void*, const Value&) = nullptr;  // scalars; false: wrong kind, or out of its range
  void (*set_absent)(void*) = nullptr;            // fact
  void* (*emplace)(void*) = nullptr;              // fact, box: make a default value inside, return it
  void* (*append)(void*) = nullptr;               // list: add a default element, return it

  const Field* field(std::string_view name) const;
  const TypeInfo& bare() const;  // what is left when Fact and Box are taken off
};

// "_ms" -> "ms", "_bytes" -> "bytes"; empty when the name carries no unit.
std::string_view unit_of(std::string_view field_name);

// A place in a facts document.
struct Ref {
  const TypeInfo* type = nullptr;
  const void* at = nullptr;

  explicit operator bool() const { return type != nullptr; }
  State state() const;                     // value, unless a Fact or Box on the way says otherwise
  Ref bare() const;                        // Fact and Box taken off; only with State::value
  Ref field(std::string_view name) const;  // of an object; empty Ref when there is none
  std::size_t size() const;                // of a list
  Ref element(std::size_t index) const;
  Value value() const;  // scalar, or list of scalars, in its state; objects: Unknown
};

template <class T>
concept Listed = requires {
  T::fields();
};

namespace detail {

template <class T>
struct IsFact : std::false_type {};
template <class T>
struct IsFact<Fact<T>> : std::true_type {};
template <class T>
struct IsBox : std::false_type {};
template <class T>
struct IsBox<Box<T>> : std::true_type {};
template <class T>
struct IsList : std::false_type {};
template <class T>
struct IsList<std::vector<T>> : std::true_type {};

bool assign_integer(const Value& from, std::int64_t low, std::uint64_t high, bool is_signed, std::int64_t& s,
                    std::uint64_t& u);

template <class T>
TypeInfo make_type() {
  TypeInfo info;
  if constexpr (IsFact<T>::value) {
    using V = typename T::value_type;
    info.kind = Kind::fact;
    info.of = &type_of<V>;
    info.state = [](const void* p) { return static_cast<const T*>(p)->state(); };
    info.inside = [](const void* p) -> const void* { return &**static_cast<const T*>(p); };
    info.set_absent = [](void* p) { *static_cast<T*>(p) = T::absent(); };
    info.emplace = [](void* p) -> void* {
      auto& fact = *static_cast<T*>(p);
      fact = T(V{});
      return &*fact;
    };
  } else if constexpr (IsBox<T>::value) {
    using V = std::remove_pointer_t<decltype(std::declval<T>().get())>;
    info.kind = Kind::box;
    info.of = &type_of<V>;
    info.state = [](const void* p) { return *static_cast<const T*>(p) ? State::value : State::unknown; };
    info.inside = [](const void* p) -> const void* { return static_cast<const T*>(p)->get(); };
    info.emplace = [](void* p) -> void* { return &static_cast<T*>(p)->emplace(); };
  } else if constexpr (IsList<T>::value) {
    using V = typename T::value_type;
    info.kind = Kind::list;
    info.of = &type_of<V>;
    info.size = [](const void* p) { return static_cast<const T*>(p)->size(); };
    info.at = [](const void* p, std::size_t i) -> const void* { return &(*static_cast<const T*>(p))[i]; };
    info.append = [](void* p) -> void* { return &static_cast<T*>(p)->emplace_back(); };
  } else if constexpr (Listed<T>) {
    info.kind = Kind::object;
    for (const auto& field : T::fields()) info.fields.push_back(field);
  } else {
    info.scalar = [](const void* p) { return Value(*static_cast<const T*>(p)); };
    if constexpr (std::is_same_v<T, bool>) {
      info.kind = Kind::boolean;
      info.assign = [](void* p, const Value& v) {
        const bool* b = v.as_bool();
        if (b != nullptr) *static_cast<T*>(p) = *b;
        return b != nullptr;
      };
    } else if constexpr (std::is_integral_v<T>) {
      info.kind = Kind::integer;
      info.assign = [](void* p, const Value& v) {
        std::int64_t s = 0;
        std::uint64_t u = 0;
        if (!assign_integer(v, static_cast<std::int64_t>(std::is_signed_v<T> ? std::numeric_limits<T>::min() : 0),
                            static_cast<std::uint64_t>(std::numeric_limits<T>::max()), std::is_signed_v<T>, s, u))
          return false;
        *static_cast<T*>(p) = std::is_signed_v<T> ? static_cast<T>(s) : static_cast<T>(u);
        return true;
      };
    } else if constexpr (std::is_floating_point_v<T>) {
      info.kind = Kind::number;
      info.assign = [](void* p, const Value& v) {
        const auto d = v.as_double();
        if (d) *static_cast<T*>(p) = *d;
        return d.has_value();
      };
    } else {
      static_assert(std::is_same_v<T, std::string>, "a fact is a bool, a number, a text, a list or a listed struct");
      info.kind = Kind::text;
      info.assign = [](void* p, const Value& v) {
        const std::string* s = v.as_text();
        if (s != nullptr) *static_cast<T*>(p) = *s;
        return s != nullptr;
      };
    }
  }
  return info;
}

}  // namespace detail

template <class T>
const TypeInfo& type_of() {
  static const TypeInfo info = detail::make_type<T>();
  return info;
}

template <class T>
Ref ref_to(const T& thing) {
  return {&type_of<T>(), &thing};
}

}  // namespace facts
