// Several passes of one step as one result: whether the first is kept, how far the passes agree, and whether the target
// was too noisy to say anything.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "probes/load/record.h"

namespace load {

struct Agreement {
  std::vector<bool> kept;        // of each pass; only complete ones are
  bool first_discarded = false;  // it differs from the others: caches were filled, or the clock of a CPU came up
  double iops = 0;               // mean of the kept passes
  double mean_us = 0;
  double spread_percent = 0;  // from the lowest to the highest IOPS of the kept passes, of their mean
  double confidence_percent =
      0;  // half width of the 95 % interval of IOPS, of the mean; from the seconds of the passes
  bool too_noisy = false;
  std::string why;  // in words, when it is too noisy or a pass was left out
};

// Percent that a first pass may differ from the mean of the others, and that passes may lie apart.
inline constexpr double first_pass_limit = 5;
inline constexpr double noise_limit = 15;

Agreement agreement(std::span<const Record* const> passes);

// Half width of the 95 % confidence interval of the mean (Student's t), of the mean, in percent. 0 below two values.
double confidence_percent(std::span<const double> values);

}  // namespace load
