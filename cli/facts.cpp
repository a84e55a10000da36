#include <fmt/format.h>

#include <algorithm>

#include "audit/base/text.h"
#include "audit/eval/explain.h"
#include "audit/snapshot/document.h"
#include "cli/commands.h"
#include "cli/output.h"

namespace cli {

base::Result<int> run_facts_list(const Settings&) {
  struct Row {
    std::string path, type, unit, sentence;
  };
  std::vector<Row> rows;
  for (auto& fact : snapshot::list_facts())
    rows.push_back({fact.path, fact.type + (fact.three_state ? "?" : ""), fact.unit, fact.sentence});
  for (auto& fact : audit::list_derived())
    rows.push_back({fact.path, fact.type, fact.unit, fact.sentence + " (derived)"});
  int path = 0;
  int type = 0;
  int unit = 0;
  for (const auto& row : rows) {
    path = std::max(path, base::display_width(row.path));
    type = std::max(type, base::display_width(row.type));
    unit = std::max(unit, base::display_width(row.unit));
  }
  std::string text;
  for (const auto& row : rows)
    text += fmt::format("{}  {}  {}  {}\n", base::pad_right(row.path, path), base::pad_right(row.type, type),
                        base::pad_right(row.unit, unit), row.sentence);
  if (auto printed = print(text); !printed) return tl::unexpected(printed.error());
  return ok;
}

base::Result<int> run_facts_schema(const Settings&) {
  if (auto printed = print(snapshot::facts_schema()); !printed) return tl::unexpected(printed.error());
  return ok;
}

}  // namespace cli
