// Small tools of the files that derive facts.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "audit/eval/derive.h"

namespace audit::derive_help {

constexpr ValueType text_type{facts::Kind::text, facts::Kind::text};
constexpr ValueType number_type{facts::Kind::number, facts::Kind::text};
constexpr ValueType integer_type{facts::Kind::integer, facts::Kind::text};
constexpr ValueType boolean_type{facts::Kind::boolean, facts::Kind::text};

inline facts::Value unknown(std::string why) { return facts::Unknown{std::move(why)}; }

// "needs PATH: why", from the source that the path would have come from.
inline facts::Value missing(const Context& c, const std::string& path) {
  return unknown(fmt::format("needs {}: {}", path, why_unknown(c, path)));
}

inline Item make_item(std::string_view scope, std::uint32_t index, std::uint32_t sub = 0) {
  return {find_scope(scope), index, sub};
}

template <class T>
void append(std::vector<T>& to, std::vector<T> more) {
  to.insert(to.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

inline Scope& scope_named(std::vector<Scope>& all, std::string_view name) {
  for (Scope& scope : all) {
    if (scope.name == name) return scope;
  }
  return all.front();
}

// "40 s", "12 min", "5 h", "13 days": the larger unit from two of it on.
std::string duration_words(double seconds);
std::string duration_words_ja(double seconds);

}  // namespace audit::derive_help
