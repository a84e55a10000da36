// Files of /sys as one text, so that thousands of them are one answer of the kernel, one file of a capture and one
// paste. The form is that of a shell loop over directories with grep:
//   == DIRECTORY -> LINK        a directory of /sys, and where the symbolic link of that name points
//   NAME:VALUE                  a file in it; one line for each of its lines
//   grep: NAME: REASON          a file that could not be read, in the words of strerror(3)
//   DIRECTORY:                  names in a directory follow, one a line, up to a blank line (ls)
//   ls: cannot access 'DIRECTORY': REASON
//   ==== DIRECTORY              what follows belongs to it; the directory was looked at
//   note WHY                    what cut the look short
//   /sys/PATH:VALUE             "grep -r . /sys/..." is understood as well
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "audit/facts/fact.h"
#include "probes/parsed.h"

namespace probes {

struct SysfsDirectory {
  struct Value {
    std::string_view name;
    std::string_view text;   // the first line, blanks at both ends taken off
    std::string_view error;  // why it could not be read; empty: it was
  };
  std::string_view path;  // without "/sys"
  std::string_view link;  // empty: none is known
  std::vector<Value> values;

  const Value* find(std::string_view name) const;
};

// Views into the text that it was made of, which has to stay.
class SysfsText {
 public:
  std::vector<SysfsDirectory> directories;  // in the order of the text
  std::vector<std::string> cut;             // notes of the walk that made it

  const SysfsDirectory* find(std::string_view path) const;
  // Names in a directory; nothing when it was not listed.
  const std::vector<std::string_view>* names(std::string_view path) const;
  bool looked_at(std::string_view path) const;               // a heading, a list or an entry below speaks of it
  std::string_view list_error(std::string_view path) const;  // why it could not be listed; empty: no such line

  SysfsDirectory& directory(std::string_view path);
  std::vector<std::string_view>& list(std::string_view path);
  void set_looked_at(std::string_view path) { looked_at_.emplace(path, true); }
  void set_list_error(std::string_view path, std::string_view why) { list_errors_.emplace(path, why); }

 private:
  std::unordered_map<std::string_view, std::size_t> by_path_;
  std::unordered_map<std::string_view, std::vector<std::string_view>> lists_;
  std::unordered_map<std::string_view, bool> looked_at_;
  std::unordered_map<std::string_view, std::string_view> list_errors_;
};

Parsed<SysfsText> parse_sysfs_text(std::string_view text);

// The same text with names and secrets of CHAP replaced by ***.
std::string scrub_sysfs_text(std::string_view text);
bool is_sysfs_secret(std::string_view file_name);  // username, password, username_in, password_in

// What facts are made of it with.
facts::Fact<std::string> sysfs_word(const SysfsDirectory* from, std::string_view name);  // (null) is absent
template <class T>
facts::Fact<T> sysfs_number(const SysfsDirectory* from, std::string_view name);
facts::Fact<bool> sysfs_flag(const SysfsDirectory* from, std::string_view name);  // 0 or 1

}  // namespace probes
