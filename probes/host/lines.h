// What the parsers of kernel text share: lines with numbers, a limit on notes, paths by leading directory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "audit/facts/fact.h"
#include "probes/parsed.h"

namespace probes {

// A text that is no such text at all would make one note a line: after so many, one last note says that there are more.
inline constexpr std::size_t max_notes = 100;
void add_note(std::vector<Note>& notes, std::size_t line, std::string reason, bool lost = true);

// The lines of a text, without their end (LF or CR LF). One over max_line_bytes becomes a note and is passed over.
class Lines {
 public:
  Lines(std::string_view text, std::vector<Note>& notes) : rest_(text), notes_(notes) {}
  bool next(std::string_view& line);
  std::size_t number() const { return number_; }  // of the line that next() gave, from 1

 private:
  std::string_view rest_;
  std::vector<Note>& notes_;
  std::size_t number_ = 0;
};

inline bool is_blank(char c) { return c == ' ' || c == '\t'; }
// Takes the next field (runs of blanks and tabs divide) off `rest`; empty at the end.
std::string_view next_field(std::string_view& rest);

// Text as the kernel writes it into mount tables, decoded once.
std::string decode(std::string_view text);

// A mount point whose directory was removed is printed with " (deleted)" at its end (fs/d_path.c). Takes that off.
bool take_deleted(std::string& target);

// 64-bit FNV-1a, fed byte by byte, so that all leading directories of a path cost one pass.
class PathHash {
 public:
  void add(char c) { value_ = (value_ ^ static_cast<unsigned char>(c)) * 0x100000001b3U; }
  void add(std::string_view text) {
    for (const char c : text) add(c);
  }
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325U;
};

// Which mounts a later mount hides. Mount tables list mounts in the order in which they were made.
class Stacking {
 public:
  // Every line of the table, in order; ids where the table has them.
  void add(std::string_view target, facts::Fact<std::uint32_t> mount_id = {},
           facts::Fact<std::uint32_t> parent_id = {});
  // Mount point of a later mount on the directory of line `index` (from 0, in the order of add) or on one above it;
  // empty when none hides it. A mount that the parent ids show to carry this one does not hide it.
  std::string_view hidden_by(std::size_t index, std::string_view target);

 private:
  struct Entry {
    facts::Fact<std::uint32_t> mount_id;
    facts::Fact<std::uint32_t> parent_id;
  };
  bool carries(std::size_t upper, std::size_t index);

  std::vector<Entry> entries_;
  std::unordered_map<std::uint64_t, std::size_t> last_on_;  // path hash -> last line mounted there
  std::unordered_map<std::uint32_t, std::size_t> by_id_;    // made when first needed; ids seen twice name no line
  bool by_id_made_ = false;
};

}  // namespace probes
