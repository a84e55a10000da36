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
inline facts::Value missing(const Context& c, std::string_view path) { return missing_fact(c, path); }
inline facts::Value missing(const Context& c, std::string_view list, std::uint32_t index, std::string_view name) {
  return missing_fact(c, list, index, name);
}

inline facts::Value text_or_absent(std::string text) {
  return text.empty() ? facts::Value(facts::Absent{}) : facts::Value(std::move(text));
}

constexpr std::uint64_t min_average_ops = 100;                   // a mean of fewer operations says little
constexpr std::uint64_t wrapped_above = std::uint64_t{1} << 63;  // a counter that ran below zero

inline const facts::NfsMount& mount_of(const Context& c, const Item& item) { return c.facts.nfs.mounts[item.index]; }
inline const facts::NfsClient& client_of(const Context& c, const Item& item) { return c.facts.nfs.clients[item.index]; }
inline const facts::NfsServer& server_of(const Context& c, const Item& item) { return c.facts.nfs.servers[item.index]; }

inline Item make_item(std::string_view scope, std::uint32_t index, std::uint32_t sub = 0) {
  return {find_scope(scope), index, sub};
}

// The first so many of a list of the document.
inline std::vector<Item> items_of(std::string_view scope, std::size_t count) {
  const Scope* s = find_scope(scope);
  std::vector<Item> items;
  items.reserve(count);
  for (std::size_t i = 0; i < count; ++i) items.push_back({s, static_cast<std::uint32_t>(i), 0});
  return items;
}

// An own_name() for lists that are in no other.
inline std::string no_name(const Context&, const Item&) { return ""; }

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
