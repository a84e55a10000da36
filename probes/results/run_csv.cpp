#include "probes/results/run_csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <functional>
#include <limits>
#include <optional>

#include "audit/base/text.h"
#include "probes/host/lines.h"
#include "probes/results/size_text.h"

namespace probes {

namespace {

using base::ErrorKind;
using base::Result;
using facts::LatencyRun;

constexpr double largest = 1e15;

// Puts a cell into a run; what is wrong with it otherwise.
using Put = std::string (*)(LatencyRun&, std::string_view);

struct Column {
  std::string_view name;
  bool required;
  Put put;
};

template <auto member>
std::string put_text(LatencyRun& run, std::string_view cell) {
  run.*member = std::string(cell);
  return "";
}

template <auto member>
std::string put_real(LatencyRun& run, std::string_view cell) {
  const auto value = base::real(cell);
  if (!value || !(*value >= 0) || *value > largest) return "is no number (digits and a point, no separators)";
  run.*member = *value;
  return "";
}

template <auto member, class T>
std::string put_count(LatencyRun& run, std::string_view cell) {
  const auto value = base::number<T>(cell);
  if (!value) return "is no whole number";
  run.*member = *value;
  return "";
}

template <auto member>
std::string put_count_from_1(LatencyRun& run, std::string_view cell) {
  const auto value = base::number<std::uint32_t>(cell);
  if (!value || *value == 0) return "is no whole number from 1";
  run.*member = *value;
  return "";
}

template <auto member>
std::string put_size(LatencyRun& run, std::string_view cell) {
  const auto value = parse_size(cell);
  if (!value || *value == 0) return "is no size (bytes, or 4k, 1m)";
  run.*member = *value;
  return "";
}

std::string put_pattern(LatencyRun& run, std::string_view cell) {
  std::string pattern(cell);
  std::transform(pattern.begin(), pattern.end(), pattern.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  run.pattern = pattern;
  return "";
}

std::string put_percent(LatencyRun& run, std::string_view cell) {
  const auto value = base::number<std::uint32_t>(cell);
  if (!value || *value > 100) return "is no share from 0 to 100";
  run.read_pct = *value;
  return "";
}

constexpr std::array table = {
    Column{"label", true, put_text<&LatencyRun::label>},
    Column{"depth", true, put_count_from_1<&LatencyRun::depth>},
    Column{"iops", true, put_real<&LatencyRun::iops>},
    Column{"clients", false, put_count_from_1<&LatencyRun::clients>},
    Column{"connections", false, put_count_from_1<&LatencyRun::connections>},
    Column{"block_bytes", false, put_size<&LatencyRun::block_bytes>},
    Column{"pattern", false, put_pattern},
    Column{"pass", false, put_count_from_1<&LatencyRun::pass>},
    Column{"mbps", false, put_real<&LatencyRun::mbps>},
    Column{"lat_mean_us", false, put_real<&LatencyRun::lat_mean_us>},
    Column{"lat_p50_us", false, put_real<&LatencyRun::lat_p50_us>},
    Column{"lat_p99_us", false, put_real<&LatencyRun::lat_p99_us>},
    Column{"lat_p999_us", false, put_real<&LatencyRun::lat_p999_us>},
    Column{"errors", false, put_count<&LatencyRun::errors, std::uint64_t>},
    Column{"read_pct", false, put_percent},
    Column{"samples", false, put_count<&LatencyRun::samples, std::uint64_t>},
    Column{"seconds", false, put_real<&LatencyRun::seconds>},
    Column{"working_set_bytes", false, put_size<&LatencyRun::working_set_bytes>},
};

// Cells of a line, RFC 4180; nothing when a quote is left open or something stands behind a closing one.
std::optional<std::vector<std::string>> cells_of(std::string_view line, char separator) {
  std::vector<std::string> cells;
  for (std::size_t i = 0;;) {
    std::string cell;
    while (i < line.size() && line[i] == ' ') ++i;
    if (i < line.size() && line[i] == '"') {
      for (++i;; ++i) {
        if (i >= line.size()) return std::nullopt;
        if (line[i] == '"' && (i + 1 >= line.size() || line[i + 1] != '"')) break;
        if (line[i] == '"') ++i;
        cell += line[i];
      }
      ++i;
      while (i < line.size() && line[i] == ' ') ++i;
      if (i < line.size() && line[i] != separator) return std::nullopt;
    } else {
      const auto end = std::min(line.find(separator, i), line.size());
      cell = std::string(base::trim(line.substr(i, end - i)));
      i = end;
    }
    cells.push_back(std::move(cell));
    if (i >= line.size()) return cells;
    ++i;
  }
}

char separator_of(std::string_view header) {
  for (const char c : {',', ';', '\t'}) {
    if (header.find(c) != std::string_view::npos) return c;
  }
  return ',';
}

struct Header {
  char separator = ',';
  std::vector<const Column*> columns;  // nullptr: not known, its cells are passed over
};

Result<Header> read_header(std::string_view line, const std::string& where, std::vector<Note>& notes,
                           std::size_t number) {
  const auto refuse = [&](const std::string& why) {
    return base::fail(ErrorKind::malformed, fmt::format("{}:{}", where, number), why);
  };
  Header header;
  header.separator = separator_of(line);
  const auto cells = cells_of(line, header.separator);
  if (!cells) return refuse("a quote is not closed");
  for (std::string name : *cells) {
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    const auto* found = std::find_if(table.begin(), table.end(), [&](const Column& c) { return c.name == name; });
    const Column* column = found == table.end() ? nullptr : found;
    if (column != nullptr && std::find(header.columns.begin(), header.columns.end(), column) != header.columns.end())
      return refuse(fmt::format("column {} stands there twice", name));
    header.columns.push_back(column);
    if (column != nullptr) continue;
    const auto near = base::nearest(name, run_csv_columns());
    notes.push_back({number,
                     fmt::format("column '{}' is not read{}", base::escape_control(name),
                                 near ? "; is it " + *near + "?" : std::string()),
                     false});
  }
  for (const Column& column : table) {
    if (column.required && std::find(header.columns.begin(), header.columns.end(), &column) == header.columns.end())
      return refuse(fmt::format("the header row has no column {}; needed are label, depth and iops", column.name));
  }
  return header;
}

// The run of a row, or what is wrong with it.
tl::expected<LatencyRun, std::string> read_row(std::string_view line, const Header& header) {
  const auto cells = cells_of(line, header.separator);
  if (!cells) return tl::unexpected(std::string("a quote is not closed"));
  if (cells->size() > header.columns.size())
    return tl::unexpected(fmt::format("{} cells under {} columns", cells->size(), header.columns.size()));
  LatencyRun run;
  for (std::size_t i = 0; i < header.columns.size(); ++i) {
    const Column* column = header.columns[i];
    if (column == nullptr) continue;
    const std::string_view cell = i < cells->size() ? std::string_view((*cells)[i]) : std::string_view();
    if (cell.empty()) {
      if (column->required) return tl::unexpected(fmt::format("no {}", column->name));
      continue;
    }
    if (const std::string why = column->put(run, cell); !why.empty())
      return tl::unexpected(fmt::format("{} '{}' {}", column->name, base::escape_control(cell), why));
  }
  return run;
}

}  // namespace

std::vector<std::string> run_csv_columns() {
  std::vector<std::string> names;
  for (const Column& column : table) names.emplace_back(column.name);
  return names;
}

Result<Parsed<std::vector<LatencyRun>>> parse_run_csv(std::string_view text, const std::string& where) {
  Parsed<std::vector<LatencyRun>> parsed;
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  Lines lines(text, parsed.notes);
  std::optional<Header> header;
  std::string_view line;
  while (lines.next(line)) {
    if (line.ends_with('\r')) line.remove_suffix(1);
    const auto bare = base::trim(line);
    if (bare.empty() || bare.starts_with('#')) continue;
    if (!header) {
      auto read = read_header(bare, where, parsed.notes, lines.number());
      if (!read) return tl::unexpected(read.error());
      header = std::move(*read);
      continue;
    }
    auto run = read_row(line, *header);
    if (!run) {
      add_note(parsed.notes, lines.number(), run.error() + "; the row is left out");
      continue;
    }
    run->source = fmt::format("{}:{}", where, lines.number());
    parsed.facts.push_back(std::move(*run));
  }
  if (!header)
    return base::fail(ErrorKind::malformed, where, "no header row: columns " + base::join(run_csv_columns(), ", "));
  return parsed;
}

}  // namespace probes
