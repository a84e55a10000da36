#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "audit/eval/comparison.h"
#include "audit/report/compare.h"

namespace audit {

namespace {

constexpr int rows = 12, columns = 64, margin = 10;

struct Axis {
  double low = 0, high = 1;
  bool log = false;

  double place(double value) const {
    if (high <= low) return 0.5;
    return log ? std::log(value / low) / std::log(high / low) : (value - low) / (high - low);
  }
  double at(double share) const { return log ? low * std::pow(high / low, share) : low + share * (high - low); }
};

Axis axis_of(const std::vector<double>& values, bool log) {
  Axis axis;
  axis.log = log;
  axis.low = log ? *std::min_element(values.begin(), values.end()) : 0;
  axis.high = *std::max_element(values.begin(), values.end());
  return axis;
}

// "136k", "0.30", "12"
std::string tick(double value) {
  if (value >= 1e6) return half_up(value / 1e6, 1) + "M";
  if (value >= 10000) return half_up(value / 1000, 0) + "k";
  if (value >= 1000) return half_up(value / 1000, 1) + "k";
  return half_up(value, value >= 10 || value == std::floor(value) ? 0 : 2);
}

}  // namespace

std::string plot(const std::vector<PlotPoint>& points, bool log_x, bool log_y, const std::string& x_name,
                 const std::string& y_name) {
  std::vector<double> xs, ys;
  for (const auto& point : points) {
    if (!(point.x > 0) || !(point.y > 0)) continue;  // nothing was answered: no place on the plot
    xs.push_back(point.x);
    ys.push_back(point.y);
  }
  if (xs.empty()) return "";
  const Axis x = axis_of(xs, log_x), y = axis_of(ys, log_y);
  std::vector<std::string> field(rows, std::string(columns, ' '));
  for (const auto& point : points) {
    if (!(point.x > 0) || !(point.y > 0)) continue;
    const auto column = static_cast<std::size_t>(std::lround(x.place(point.x) * (columns - 1)));
    const auto row = static_cast<std::size_t>(std::lround((1 - y.place(point.y)) * (rows - 1)));
    char& cell = field[row][column];
    cell = cell == ' ' || cell == point.mark ? point.mark : '#';
  }
  std::string text = "  " + y_name + "\n";
  for (int i = 0; i < rows; ++i) {
    std::string line = field[static_cast<std::size_t>(i)];
    line.erase(line.find_last_not_of(' ') + 1);
    const bool named = i % 3 == 0 || i == rows - 1;
    text +=
        fmt::format("{:>{}} |{}\n", named ? tick(y.at(1 - static_cast<double>(i) / (rows - 1))) : "", margin - 2, line);
  }
  text += fmt::format("{:>{}} +{}\n", "", margin - 2, std::string(columns, '-'));
  // On a logarithmic axis the values themselves are named, as far as there is room.
  std::set<double> named;
  if (log_x) named = {xs.begin(), xs.end()};
  for (int k = 0; k <= 4 && !log_x; ++k) named.insert(x.at(k / 4.0));
  std::string scale;
  for (const double value : named) {
    const std::string name = tick(value);
    const auto centre = static_cast<std::size_t>(std::lround(x.place(value) * (columns - 1)));
    const std::size_t start = std::min(centre - std::min(centre, name.size() / 2), columns - name.size());
    if (!scale.empty() && start <= scale.size()) continue;
    scale += std::string(start - scale.size(), ' ') + name;
  }
  return text + fmt::format("{:>{}}{}\n{:>{}}{}\n", "", margin, scale, "", margin, x_name);
}

}  // namespace audit
