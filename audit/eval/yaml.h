// A YAML document as a tree with lines. Narrower than YAML: one document, no anchors, aliases or duplicate keys, depth
// at most 32. yaml-cpp stays in yaml.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "audit/base/result.h"

namespace audit {

struct Yaml {
  enum class Kind : std::uint8_t { null, scalar, list, map };

  Kind kind = Kind::null;
  std::string text;  // scalar
  bool quoted = false;
  std::uint32_t line = 0;   // from 1
  std::vector<Yaml> items;  // list; values of a map, in order
  std::vector<Yaml> keys;   // map: scalars, one per item

  bool is_scalar() const { return kind == Kind::scalar; }
  bool is_list() const { return kind == Kind::list; }
  bool is_map() const { return kind == Kind::map; }
  const Yaml* find(std::string_view key) const;
  bool operator==(const Yaml&) const = default;
};

base::Result<Yaml> parse_yaml(std::string_view text, const std::string& where);

// A tree as bytes, for what is parsed when the program is built: reading that back costs a hundredth of reading YAML.
// The form is of one build, not to be stored. Refused: bytes that pack_yaml() does not make.
std::string pack_yaml(const Yaml& tree);
base::Result<Yaml> unpack_yaml(std::string_view packed, const std::string& where);

}  // namespace audit
