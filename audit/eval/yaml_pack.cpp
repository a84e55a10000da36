// One node: a byte of kind and quotes, its line, then its text with its length, or the count of its items and these
// (of a map: key and value in turn). Numbers are seven bits a byte, lowest first, the eighth set on all but the last.
#include <cstdint>
#include <optional>

#include "audit/eval/yaml.h"

namespace audit {

namespace {

constexpr unsigned quoted_bit = 4;
constexpr std::size_t max_depth = 64;

void put_number(std::string& out, std::uint64_t number) {
  for (; number >= 0x80; number >>= 7U) out += static_cast<char>(0x80U | (number & 0x7fU));
  out += static_cast<char>(number);
}

void put_node(std::string& out, const Yaml& node) {
  out += static_cast<char>(static_cast<unsigned>(node.kind) | (node.quoted ? quoted_bit : 0));
  put_number(out, node.line);
  put_number(out, node.text.size());
  out += node.text;
  if (!node.is_list() && !node.is_map()) return;
  put_number(out, node.items.size());
  for (std::size_t i = 0; i < node.items.size(); ++i) {
    if (node.is_map()) put_node(out, node.keys[i]);
    put_node(out, node.items[i]);
  }
}

struct Bytes {
  std::string_view rest;
  bool good = true;

  std::uint64_t number() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (rest.empty()) break;
      const auto byte = static_cast<unsigned char>(rest.front());
      rest.remove_prefix(1);
      value |= std::uint64_t{byte & 0x7fU} << shift;
      if (byte < 0x80) return value;
    }
    good = false;
    return 0;
  }

  void node(Yaml& out, std::size_t depth) {
    if (rest.empty() || depth > max_depth) {
      good = false;
      return;
    }
    const auto head = static_cast<unsigned char>(rest.front());
    rest.remove_prefix(1);
    good = good && head < 2 * quoted_bit;
    out.kind = static_cast<Yaml::Kind>(head & (quoted_bit - 1));
    out.quoted = (head & quoted_bit) != 0;
    out.line = static_cast<std::uint32_t>(number());
    const std::uint64_t size = number();
    good = good && size <= rest.size();
    if (!good) return;
    out.text = rest.substr(0, size);
    rest.remove_prefix(size);
    if (!out.is_list() && !out.is_map()) return;
    const std::uint64_t count = number();
    good = good && count <= rest.size();  // an item takes a byte at least
    if (!good) return;
    out.items.resize(count);
    if (out.is_map()) out.keys.resize(count);
    for (std::size_t i = 0; i < count && good; ++i) {
      if (out.is_map()) node(out.keys[i], depth + 1);
      if (good) node(out.items[i], depth + 1);
    }
  }
};

}  // namespace

std::string pack_yaml(const Yaml& tree) {
  std::string out;
  put_node(out, tree);
  return out;
}

base::Result<Yaml> unpack_yaml(std::string_view packed, const std::string& where) {
  Yaml tree;
  Bytes bytes{packed};
  bytes.node(tree, 0);
  if (!bytes.good || !bytes.rest.empty())
    return base::fail(base::ErrorKind::malformed, where, "the packed form is damaged");
  return tree;
}

}  // namespace audit
