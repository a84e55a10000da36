// What a parser gives back: the facts it got, and what it could not take. One odd line costs one entry, never the run.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace probes {

struct Note {
  std::size_t line = 0;  // from 1; 0 when the text has no lines that would help
  std::string reason;
  bool lost = true;  // an entry is missing from the facts; false: a remark (an unknown key of a newer kernel)
};

template <class T>
struct Parsed {
  T facts{};
  std::vector<Note> notes;
};

// A longer line is one malformed entry and is not kept. Host::read cuts such a line just above this length, so that a
// parser sees it and memory does not fill up.
inline constexpr std::size_t max_line_bytes = std::size_t{1} << 20;

// "line 3: no mount point; line 9: ... and 2 more": for the detail of a source row. Empty when there are no notes.
std::string describe(const std::vector<Note>& notes);

}  // namespace probes
