#include "audit/report/formats.h"

#include <algorithm>
#include <array>

#include "audit/report/json.h"
#include "audit/report/text.h"

namespace audit {

namespace {

constexpr std::array table = {
    Format{"text", "one screen for people: what is broken, what could be better, what was not checked", render_text},
    Format{"json", "the whole report and the facts it rests on (mountaudit.report/1), for scripts and replay",
           [](const Report& report, const RenderOptions&) { return render_json(report); }, write_json},
};

}  // namespace

std::span<const Format> formats() { return table; }

const Format* find_format(std::string_view name) {
  const auto* found = std::find_if(table.begin(), table.end(), [&](const Format& f) { return f.name == name; });
  return found == table.end() ? nullptr : found;
}

}  // namespace audit
