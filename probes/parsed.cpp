#include "probes/parsed.h"

#include <fmt/format.h>

namespace probes {

std::string describe(const std::vector<Note>& notes) {
  constexpr std::size_t shown = 3;
  std::string text;
  for (std::size_t i = 0; i < notes.size() && i < shown; ++i) {
    if (i > 0) text += "; ";
    if (notes[i].line > 0) text += fmt::format("line {}: ", notes[i].line);
    text += notes[i].reason;
  }
  if (notes.size() > shown) text += fmt::format("; and {} more", notes.size() - shown);
  return text;
}

}  // namespace probes
