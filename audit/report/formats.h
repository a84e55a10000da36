// The formats a report can be printed in. Each is a view of audit::Report; json is the master (DESIGN.md, Report).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "audit/base/json.h"
#include "audit/finding.h"

namespace audit {

enum class Language : std::uint8_t { en, ja };

// How to print; formats take from it what has a meaning for them.
struct RenderOptions {
  bool verbose = false;  // evidence, snippet and references of every finding, not only of the three worst
  bool color = false;    // ANSI colours (text)
  int width = 80;        // columns (text)
  int lines = 40;        // text gives less detail before it gets longer than this; 0: no limit
  Language language = Language::en;
};

struct Format {
  const char* name;
  const char* sentence;  // for --help and the man page
  std::string (*render)(const Report&, const RenderOptions&);
  void (*write)(const Report&, const base::Sink&) = nullptr;  // the same in pieces, where it may be long
};

std::span<const Format> formats();
const Format* find_format(std::string_view name);  // nullptr when there is none

}  // namespace audit
