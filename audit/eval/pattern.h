// Regular expressions for the operator `matches`, in time linear in the text whatever the pattern: rules of a site and
// names from a server are both input. Search, as grep does; anchor with ^ and $.
// Syntax: . [abc] [^a-z] \d \w \s \. ( ) | * + ? {m} {m,} {m,n} ^ $. No back references, no look-around.
#pragma once

#include <bitset>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "audit/base/result.h"

namespace audit {

class Pattern {
 public:
  // The message says what is wrong and at which character; a pattern that would need over 10,000 states is refused.
  static base::Result<Pattern> compile(std::string_view source);

  bool search(std::string_view text) const;

 private:
  enum class Op : std::uint8_t { bytes, split, jump, begin, end, match };
  struct Instruction {
    Op op = Op::match;
    std::uint32_t set = 0;  // bytes: index of the set
    std::uint32_t x = 0;    // split, jump: where to go on
    std::uint32_t y = 0;    // split: the other place
  };
  friend class PatternCompiler;

  std::vector<Instruction> program_;
  std::vector<std::bitset<256>> sets_;
};

}  // namespace audit
