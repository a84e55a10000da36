#include "probes/results/runs.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <map>
#include <set>

#include "audit/base/text.h"
#include "audit/snapshot/document.h"
#include "probes/io/document.h"
#include "probes/io/host.h"
#include "probes/results/fio_json.h"
#include "probes/results/run_csv.h"

namespace probes {

namespace {

using base::ErrorKind;
using base::Result;
using facts::LatencyRun;

// "results/san.json" -> "san"
std::string name_of(const std::string& path) {
  const auto slash = path.rfind('/');
  std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
  if (const auto dot = name.rfind('.'); dot != std::string::npos && dot > 0) name.resize(dot);
  return name;
}

bool is_json(std::string_view text) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  const auto first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && text[first] == '{';
}

void rename(std::vector<LatencyRun>& runs, const std::string& label) {
  if (label.empty()) return;
  std::set<std::string> labels;
  for (const LatencyRun& run : runs) labels.insert(run.label);
  for (LatencyRun& run : runs) run.label = labels.size() > 1 ? label + " " + run.label : label;
}

Result<Parsed<facts::Latency>> from_fio(std::string_view text, const std::string& where, const std::string& label) {
  auto result = parse_fio_json(text, where);
  if (!result) return tl::unexpected(result.error());
  Parsed<facts::Latency> parsed;
  parsed.notes = std::move(result->notes);
  auto runs = runs_of(result->facts, where, label.empty() ? name_of(where) : label);
  parsed.facts.runs = std::move(runs.facts);
  parsed.notes.insert(parsed.notes.end(), runs.notes.begin(), runs.notes.end());
  return parsed;
}

Result<Parsed<facts::Latency>> from_document(std::string_view text, const std::string& where,
                                             const std::string& label) {
  auto loaded = snapshot::from_json(text, where);
  if (!loaded) return tl::unexpected(loaded.error());
  Parsed<facts::Latency> parsed;
  parsed.facts = std::move(loaded->facts.latency);
  for (auto& note : loaded->notes) parsed.notes.push_back({0, std::move(note), false});
  rename(parsed.facts.runs, label);
  for (LatencyRun& run : parsed.facts.runs)
    if (run.source.empty()) run.source = where;
  return parsed;
}

Result<Parsed<facts::Latency>> from_csv(std::string_view text, const std::string& where, const std::string& label) {
  auto rows = parse_run_csv(text, where);
  if (!rows) return tl::unexpected(rows.error());
  Parsed<facts::Latency> parsed;
  parsed.facts.runs = std::move(rows->facts);
  parsed.notes = std::move(rows->notes);
  rename(parsed.facts.runs, label);
  return parsed;
}

}  // namespace

Result<Parsed<facts::Latency>> parse_runs(std::string_view text, const std::string& where, const std::string& label) {
  auto parsed = looks_like_fio_json(text) ? from_fio(text, where, label)
                : is_json(text)           ? from_document(text, where, label)
                                          : from_csv(text, where, label);
  if (!parsed) return parsed;
  if (parsed->facts.runs.empty())
    return base::fail(
        ErrorKind::malformed, where,
        parsed->notes.empty() ? "holds no measured runs" : "no run in it reads: " + describe(parsed->notes));
  return parsed;
}

Result<Parsed<facts::Latency>> read_runs(const std::string& argument) {
  std::string path = argument, label;
  struct stat status {};
  const auto equals = argument.find('=');
  if (equals != std::string::npos && equals > 0 && ::stat(argument.c_str(), &status) != 0) {
    label = argument.substr(0, equals);
    path = argument.substr(equals + 1);
  }
  const auto text = read_document(path);
  if (!text) return tl::unexpected(text.error());
  return parse_runs(*text, path == "-" ? "standard input" : path, label);
}

void number_passes(std::vector<LatencyRun>& runs) {
  std::map<std::string, std::vector<std::size_t>> alike;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (runs[i].pass.is_unknown()) alike[facts::load_key(runs[i]) + fmt::format("|{}", runs[i].depth)].push_back(i);
  }
  for (const auto& [key, group] : alike) {
    for (std::size_t k = 0; k < group.size() && group.size() > 1; ++k)
      runs[group[k]].pass = static_cast<std::uint32_t>(k + 1);
  }
}

}  // namespace probes
