#include "probes/load/plan.h"

#include <fmt/format.h>

#include <array>

#include "audit/base/text.h"

namespace load {
namespace {

using base::ErrorKind;

constexpr std::uint32_t kib = 1024;

// Article 1, test 1: seven sizes, sequential and random, reads and writes, depth 1.
Plan article1_blocks() {
  Plan plan;
  const std::vector<Pattern> patterns{{Op::read, false}, {Op::write, false, 0}, {Op::read, true}, {Op::write, true, 0}};
  plan.steps = ladder(patterns, block_ladder(), {1}, {1}, 0);
  plan.seconds = 120;
  plan.ramp_s = 10;
  return plan;
}

// Article 1, test 2: 4 KiB at random, depth 1 to 128, with one connection and with eight.
Plan article1_depth() {
  Plan plan;
  plan.steps = ladder({{Op::read, true}, {Op::write, true, 0}}, {4 * kib}, depth_ladder(), {1, 8}, 0);
  plan.seconds = 120;
  plan.ramp_s = 10;
  return plan;
}

// Article 3: 180 virtual desktops, 16 KiB at random, five runs of ten minutes. The rate is that of all desktops
// together, so it is offered whatever the storage makes of it.
Plan desktops(double iops_each, unsigned read_percent) {
  constexpr double count = 180;
  Plan plan;
  plan.steps = {{{Op::read, true, read_percent}, 16 * kib, 128, 8, iops_each * count}};
  plan.passes = 5;
  plan.seconds = 600;
  plan.ramp_s = 10;
  return plan;
}
Plan vdi_steady() { return desktops(20, 80); }
Plan vdi_heavy() { return desktops(50, 20); }

// Article 3: the load that Element's guarantee is given for; the article does not tell the depth it was reached at.
Plan element_4k() {
  Plan plan;
  plan.steps = ladder({{Op::read, true, 80}}, {4 * kib}, {32, 64, 128}, {8}, 0);
  plan.passes = 1;
  plan.seconds = 600;
  plan.ramp_s = 10;
  return plan;
}

constexpr std::array<std::pair<std::string_view, Pattern>, 10> pattern_names{{
    {"read", {Op::read, false, 100}},
    {"randread", {Op::read, true, 100}},
    {"write", {Op::write, false, 0}},
    {"randwrite", {Op::write, true, 0}},
    {"rw", {Op::read, false, 50}},
    {"randrw", {Op::read, true, 50}},
    {"null", {Op::null, false, 100}},
    {"getattr", {Op::getattr, false, 100}},
    {"tur", {Op::tur, false, 100}},
    {"nop", {Op::nop, false, 100}},
}};

}  // namespace

const char* op_name(Op op) {
  switch (op) {
    case Op::read: return "READ";
    case Op::write: return "WRITE";
    case Op::null: return "NULL";
    case Op::getattr: return "GETATTR";
    case Op::tur: return "TEST UNIT READY";
    case Op::nop: return "NOP";
  }
  return "";
}

std::string pattern_name(const Pattern& pattern) {
  for (const auto& [name, known] : pattern_names) {
    if (known == pattern) return std::string(name);
  }
  return pattern.random ? "randrw" : "rw";  // a mix other than half and half
}

std::optional<Pattern> parse_pattern(std::string_view name) {
  for (const auto& [known, pattern] : pattern_names) {
    if (known == name) return pattern;
  }
  return std::nullopt;
}

base::Result<unsigned> parse_mix(std::string_view text) {
  const auto colon = text.find(':');
  if (colon != std::string_view::npos) {
    const auto reads = base::number<unsigned>(text.substr(0, colon));
    const auto writes = base::number<unsigned>(text.substr(colon + 1));
    if (reads && writes && *reads <= 100 && *writes <= 100 && *reads + *writes == 100) return *reads;
  }
  return base::fail(ErrorKind::usage, "",
                    fmt::format("--mix \"{}\" is no mix; write reads and writes in percent, 80:20",
                                base::escape_control(std::string(text))));
}

double Plan::planned_seconds() const { return static_cast<double>(steps.size()) * passes * (seconds + ramp_s); }

const std::vector<Preset>& presets() {
  static const std::vector<Preset> all{
      {"article1-blocks", "4k to 256k, sequential and random, read and write, depth 1; 120 s, three passes",
       article1_blocks},
      {"article1-depth", "4k random read and write, depth 1 to 128, 1 and 8 connections; 120 s, three passes",
       article1_depth},
      {"vdi-steady", "180 desktops of 20 IOPS: 16k random 80:20 at 3,600 a second; 10 minutes, five passes",
       vdi_steady},
      {"vdi-heavy", "180 desktops of 50 IOPS: 16k random 20:80 at 9,000 a second; 10 minutes, five passes", vdi_heavy},
      {"element-4k", "4k random 80:20, depth 32 to 128; 10 minutes, one pass", element_4k},
  };
  return all;
}

std::vector<unsigned> depth_ladder() { return {1, 2, 4, 8, 16, 32, 64, 128}; }

std::vector<std::uint32_t> block_ladder() {
  return {4 * kib, 8 * kib, 16 * kib, 32 * kib, 64 * kib, 128 * kib, 256 * kib};
}

std::vector<Step> ladder(const std::vector<Pattern>& patterns, const std::vector<std::uint32_t>& blocks,
                         const std::vector<unsigned>& depths, const std::vector<unsigned>& connections, double rate) {
  std::vector<Step> steps;
  for (const auto count : connections)
    for (const auto& pattern : patterns)
      for (const auto block : blocks)
        for (const auto depth : depths) steps.push_back({pattern, block, depth, count, rate});
  return steps;
}

base::Result<std::uint64_t> parse_bytes(std::string_view text, std::string_view option) {
  std::size_t digits = 0;
  while (digits < text.size() && text[digits] >= '0' && text[digits] <= '9') ++digits;
  const auto number = base::number<std::uint64_t>(text.substr(0, digits));
  std::string_view unit = text.substr(digits);
  constexpr std::string_view letters = "kmgtKMGT";
  unsigned shift = 0;
  bool known = unit.empty();
  if (const auto at = unit.empty() ? std::string_view::npos : letters.find(unit.front());
      at != std::string_view::npos) {
    shift = 10 * (static_cast<unsigned>(at % 4) + 1);
    known = unit.size() == 1 || unit.substr(1) == "iB";
  }
  if (!number || !known || *number > ~std::uint64_t{0} >> shift >> 1)
    return base::fail(
        ErrorKind::usage, "",
        fmt::format("{} \"{}\" is no size; write 4k, 64k or 1G", option, base::escape_control(std::string(text))));
  return *number << shift;
}

base::Result<std::vector<std::uint64_t>> parse_list(std::string_view text, std::string_view option, std::uint64_t most,
                                                    bool sizes) {
  const auto one = [&](std::string_view word) -> base::Result<std::uint64_t> {
    if (sizes) {
      auto bytes = parse_bytes(word, option);
      if (!bytes || (*bytes >= 512 && *bytes <= most && *bytes % 512 == 0)) return bytes;
      return base::fail(ErrorKind::usage, "",
                        fmt::format("{}: {} is no multiple of 512 from 512 to {}", option, word, most));
    }
    const auto number = base::number<std::uint64_t>(word);
    if (number && *number >= 1 && *number <= most) return *number;
    return base::fail(
        ErrorKind::usage, "",
        fmt::format("{} \"{}\" is no number from 1 to {}", option, base::escape_control(std::string(word)), most));
  };
  std::vector<std::uint64_t> out;
  for (const auto part : base::split(text, ',')) {
    const auto dots = part.find("..");
    const auto first = one(part.substr(0, dots));
    if (!first) return tl::unexpected(first.error());
    if (dots == std::string_view::npos) {
      out.push_back(*first);
      continue;
    }
    const auto last = one(part.substr(dots + 2));
    if (!last) return tl::unexpected(last.error());
    for (std::uint64_t value = *first; value <= *last; value *= 2) out.push_back(value);
  }
  return out;
}

}  // namespace load
