#include "cli/declare.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>
#include <utility>

#include "audit/base/text.h"
#include "audit/snapshot/document.h"
#include "cli/output.h"
#include "probes/collect.h"
#include "probes/host/declared.h"
#include "probes/io/document.h"
#include "probes/parsed.h"

namespace cli {

namespace {

using base::ErrorKind;
using base::Result;

constexpr const char* row_id = "declared";
constexpr const char* kept_path = "/mountaudit/declared.json";  // of a captured tree

// KIND=FILE is for texts that do not say what they are. No such text is read.
Result<void> check_kind(const std::string& argument) {
  const auto equals = argument.find('=');
  const std::string kind = argument.substr(0, equals);
  const bool is_word =
      equals != std::string::npos && !kind.empty() && std::all_of(kind.begin(), kind.end(), [](unsigned char c) {
        return std::islower(c) != 0 || std::isdigit(c) != 0 || c == '-';
      });
  struct stat status {};
  if (!is_word || ::stat(argument.c_str(), &status) == 0) return {};  // a file may bear such a name
  static constexpr std::array planned{"ontap-qos", "ontap-qos-volume", "ontap-volume",
                                      "zfs-get",   "fsx-json",         "ontap-session"};
  const bool known = std::find(planned.begin(), planned.end(), kind) != planned.end();
  return base::fail(
      ErrorKind::usage, "",
      fmt::format("--declare {}: {}; what is read: {}", argument,
                  known ? "texts of this kind are not read" : "there is no such kind", probes::declared_kinds));
}

}  // namespace

Result<Declaration> read_declarations(const Settings& settings) {
  Declaration all;
  for (const auto& argument : settings.declare) {
    if (auto checked = check_kind(argument); !checked) return tl::unexpected(checked.error());
    const std::string where = argument == "-" ? "standard input" : argument;
    const auto text = probes::read_document(argument);
    if (!text) return tl::unexpected(text.error());
    auto parsed = probes::parse_declared(*text, where);
    if (!parsed) return tl::unexpected(parsed.error());
    const bool lost =
        std::any_of(parsed->notes.begin(), parsed->notes.end(), [](const auto& note) { return note.lost; });
    all.sources.push_back({row_id, where, lost ? "malformed" : "ok", probes::describe(parsed->notes), {}});
    probes::add_declared(all.declared, std::move(parsed->facts));
  }
  return all;
}

void add_declaration(facts::Facts& facts, Declaration declaration) {
  if (declaration.sources.empty()) return;
  facts.sources.insert(facts.sources.end(), declaration.sources.begin(), declaration.sources.end());
  probes::use_declared(facts, std::move(declaration.declared));
}

Result<void> write_declaration(const std::string& directory, const facts::Facts& facts) {
  facts::Facts kept;
  for (const auto& row : facts.sources) {
    if (row.id == row_id) kept.sources.push_back(row);
  }
  if (kept.sources.empty()) return {};
  kept.declared = facts.declared;
  const std::string path = directory + kept_path;
  auto file = ReportFile::open(path);
  if (!file) return tl::unexpected(file.error());
  if (auto written = file->write(snapshot::to_json(kept)); !written) return written;
  if (::chmod(path.c_str(), 0600) != 0) return base::fail(ErrorKind::io, path, "its mode cannot be set");
  return {};
}

void replay_declaration(const probes::Host& host, facts::Facts& facts) {
  const auto text = host.read(kept_path);
  if (!text) return;
  auto saved = snapshot::from_json(*text, kept_path);
  if (saved) {
    add_declaration(facts, {std::move(saved->facts.declared), std::move(saved->facts.sources)});
  } else {
    facts.sources.push_back({row_id, kept_path, "malformed", base::to_text(saved.error()), {}});
  }
}

}  // namespace cli
