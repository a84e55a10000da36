#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "audit/base/text.h"
#include "audit/report/compare.h"

namespace audit {

namespace {

constexpr int width = 80;
constexpr std::size_t min_plot_depths = 5;
constexpr int long_name = 12;  // in a ratio column two of them do not fit

std::string cell(const std::string& text, std::size_t columns) {
  const int pad = static_cast<int>(columns) - base::display_width(text);
  return std::string(static_cast<std::size_t>(std::max(pad, 0)), ' ') + text;
}

std::string safe(const std::string& text) { return base::escape_control(text); }

// Rows under a heading, every column as wide as its widest cell; columns that do not fit the width go below.
std::string table(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths(rows.front().size());
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], static_cast<std::size_t>(base::display_width(row[i])));
  }
  std::string text;
  for (std::size_t from = 1; from < widths.size();) {
    std::size_t to = from, used = 2 + widths[0];
    while (to < widths.size() && (to == from || used + 2 + widths[to] <= width)) used += 2 + widths[to++];
    if (from > 1) text += "\n";
    for (const auto& row : rows) {
      std::string line = "  " + cell(row[0], widths[0]);
      for (std::size_t i = from; i < to; ++i) line += "  " + cell(row[i], widths[i]);
      text += line + "\n";
    }
    from = to;
  }
  return text;
}

std::string short_name(const LatencyCurve& curve) { return base::shorten(safe(curve.name), 24); }

// Who leads, in a word: what stands before the first blank tells the curves apart, or all of it.
std::string leader(const LatencyCurve& curve, const LatencyCurve& other) {
  const auto word = [](const std::string& name) { return name.substr(0, name.find(' ')); };
  return base::shorten(safe(word(curve.name) != word(other.name) ? word(curve.name) : curve.name), 16);
}

// Short names: the column says who leads. Long ones: how much the other is of the first.
bool by_name(const LatencyCurve& base, const LatencyCurve& other) {
  return base::display_width(base.name) <= long_name && base::display_width(other.name) <= long_name;
}

std::string ratio_at(const std::vector<RatioAt>& all, std::uint32_t depth, int digits) {
  for (const auto& one : all)
    if (one.depth == depth) return half_up(one.ratio, digits) + "x";
  return "-";
}

std::set<std::uint32_t> depths_of(const Comparison& c, const std::vector<std::size_t>& curves) {
  std::set<std::uint32_t> depths;
  for (const auto curve : curves)
    for (const auto& point : c.curves[curve].points) depths.insert(point.depth);
  return depths;
}

// IOPS of every curve, the first against each other one, more connections against fewer.
std::string iops_table(const Comparison& c, const Comparison::Group& group, int digits) {
  std::vector<std::vector<std::string>> rows{{"depth"}};
  const LatencyCurve& base = c.curves[group.curves.front()];
  for (const auto i : group.curves) rows[0].push_back(short_name(c.curves[i]));
  for (std::size_t k = 1; k < group.curves.size(); ++k) {
    const LatencyCurve& other = c.curves[group.curves[k]];
    rows[0].push_back(by_name(base, other) ? fmt::format("{} vs {}", leader(base, other), short_name(other))
                                           : short_name(other) + " / first");
  }
  std::vector<const Comparison::Connections*> pairs;
  for (const auto& pair : c.connections) {
    if (std::find(group.curves.begin(), group.curves.end(), pair.more) == group.curves.end()) continue;
    pairs.push_back(&pair);
    rows[0].push_back(fmt::format("nc{} / nc{}", *c.curves[pair.more].connections, *c.curves[pair.fewer].connections));
  }
  for (const auto depth : depths_of(c, group.curves)) {
    std::vector<std::string> row{fmt::format("{}", depth)};
    const LatencyPoint* first = base.at(depth);
    for (const auto i : group.curves) {
      const LatencyPoint* point = c.curves[i].at(depth);
      row.push_back(point == nullptr ? "-" : grouped(point->iops));
    }
    for (std::size_t k = 1; k < group.curves.size(); ++k) {
      const LatencyCurve& other = c.curves[group.curves[k]];
      const LatencyPoint* point = other.at(depth);
      const bool both = first != nullptr && point != nullptr && point->iops > 0 && first->iops > 0;
      row.push_back(!both ? "-"
                    : by_name(base, other)
                        ? ratio_words(first->iops / point->iops, digits, leader(base, other), leader(other, base))
                        : half_up(point->iops / first->iops, digits) + "x");
    }
    for (const auto* one : pairs) row.push_back(ratio_at(one->gain.at, depth, 2));
    rows.push_back(std::move(row));
  }
  return table(rows);
}

std::string latency_table(const Comparison& c, const Comparison::Group& group) {
  std::vector<std::vector<std::string>> rows{{"depth"}};
  for (const auto i : group.curves) rows[0].push_back(short_name(c.curves[i]));
  for (const auto depth : depths_of(c, group.curves)) {
    std::vector<std::string> row{fmt::format("{}", depth)};
    for (const auto i : group.curves) {
      const LatencyPoint* point = c.curves[i].at(depth);
      row.push_back(point == nullptr ? "-" : millis(point->mean_us));
    }
    rows.push_back(std::move(row));
  }
  return table(rows);
}

std::string scaling_table(const Comparison& c) {
  std::string text;
  std::set<std::string> loads;
  for (const auto& pair : c.scaled) loads.insert(load_words(c.curves[pair.few]));
  for (const auto& load : loads) {
    std::vector<const Comparison::Scaled*> pairs;
    std::set<std::uint32_t> depths;
    std::vector<std::vector<std::string>> rows{{"depth"}};
    for (const auto& pair : c.scaled) {
      const LatencyCurve& few = c.curves[pair.few];
      if (load_words(few) != load) continue;
      pairs.push_back(&pair);
      rows[0].push_back(fmt::format("{} {} to {}", short_name(few), few.clients, c.curves[pair.many].clients));
      for (const auto& one : pair.at) depths.insert(one.depth);
    }
    for (const auto depth : depths) {
      std::vector<std::string> row{fmt::format("{}", depth)};
      for (const auto* pair : pairs) {
        std::string found = "-";
        for (const auto& one : pair->at)
          if (one.depth == depth) found = half_up(one.ratio, 2) + "x";
        row.push_back(found);
      }
      rows.push_back(std::move(row));
    }
    text += fmt::format("\nTWICE THE CLIENTS  {}\n", safe(load)) + table(rows);
  }
  return text;
}

std::string mark_words(const LatencyPoint* point) {
  return point == nullptr ? "-"
                          : fmt::format("{} ({}, {})", point->depth, grouped(point->iops), millis(point->mean_us));
}

std::string marks_table(const Comparison& c) {
  std::string text;
  std::set<std::string> loads;
  for (const auto& curve : c.curves) loads.insert(load_words(curve));
  for (const auto& load : loads) {
    std::vector<std::vector<std::string>> rows{{"curve", "efficient depth", "ceiling"}};
    for (const auto& curve : c.curves) {
      const LatencyPoint* efficient = efficient_depth(curve);
      if (efficient == nullptr || load_words(curve) != load) continue;
      std::string name = short_name(curve);
      if (curve.clients_told && curve.clients > 1) name += fmt::format(", {} clients", curve.clients);
      rows.push_back({std::move(name), mark_words(efficient), mark_words(ceiling(curve))});
    }
    if (rows.size() > 1) text += fmt::format("\nMARKS  {}\n", safe(load)) + table(rows);
  }
  if (text.empty()) return "";
  return text +
         "\n  Efficient depth: the most IOPS for their latency (largest IOPS^2 / depth).\n"
         "  Ceiling: doubling this depth brings less than 15 % IOPS and at least 60 % more\n"
         "  latency; - where no measured doubling does.\n";
}

std::string plots_of(const Comparison& c, const Comparison::Group& group) {
  std::vector<PlotPoint> by_depth, hockey;
  std::string legend;
  char mark = 'A';
  for (const auto i : group.curves) {
    if (mark > 'H') break;
    for (const auto& point : c.curves[i].points) {
      by_depth.push_back({static_cast<double>(point.depth), point.iops, mark});
      hockey.push_back({point.iops, point.mean_us / 1000, mark});
    }
    legend += fmt::format("  {} {}", mark, short_name(c.curves[i]));
    ++mark;
  }
  if (depths_of(c, group.curves).size() < min_plot_depths) return "";
  return "\n" + plot(by_depth, true, false, "depth", "IOPS") + "\n" +
         plot(hockey, false, false, "IOPS", "latency, ms") + legend + "  # several\n";
}

std::string heading(const Comparison& c) {
  std::string text = fmt::format("{} run{}, {} curve{}", c.runs, c.runs == 1 ? "" : "s", c.curves.size(),
                                 c.curves.size() == 1 ? "" : "s");
  if (c.open_loop > 0) text += fmt::format(" ({} runs at a fixed rate have no depth and are left out)", c.open_loop);
  text += "\n";
  if (c.by_little) text += "Latencies that were not measured are clients x depth / IOPS (Little's law).\n";
  return text;
}

}  // namespace

std::string render_comparison_text(const Comparison& c, int digits, bool plots) {
  std::string text = heading(c);
  if (!c.verdicts.empty()) {
    text += "\nVERDICTS\n";
    for (const auto& verdict : c.verdicts) {
      bool first = true;
      const std::string load = verdict.text.find(verdict.load) == std::string::npos ? verdict.load + ": " : "";
      for (const auto& line : base::wrap(safe(load + verdict.text), width - 4)) {
        text += (first ? "  - " : "    ") + line + "\n";
        first = false;
      }
    }
  }
  for (const auto& group : c.groups) {
    const std::string clients =
        group.clients_told ? fmt::format(", {} client{}", group.clients, group.clients == 1 ? "" : "s") : "";
    text += fmt::format("\nIOPS  {}{}\n", safe(group.load), clients) + iops_table(c, group, digits);
    text += fmt::format("\nMEAN LATENCY  {}{}\n", safe(group.load), clients) + latency_table(c, group);
    if (plots) text += plots_of(c, group);
  }
  return text + scaling_table(c) + marks_table(c);
}

}  // namespace audit
