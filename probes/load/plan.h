// What is to be measured, before anything is sent: a list of steps, each one fixed load, and how often it is repeated.
// Pure: presets, ladders and mixes are turned into steps here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "audit/base/result.h"

namespace load {

// What one request does. `null` and `getattr` are NFS, `tur` (TEST UNIT READY) and `nop` iSCSI.
enum class Op : std::uint8_t { read, write, null, getattr, tur, nop };
const char* op_name(Op op);
constexpr bool moves_data(Op op) { return op == Op::read || op == Op::write; }

// fio's names: read, randread, write, randwrite, and rw, randrw for mixes; or those of Op.
struct Pattern {
  Op op = Op::read;  // with a mix: read
  bool random = true;
  unsigned read_percent = 100;  // of read and write
  bool writes() const { return op == Op::write || (op == Op::read && read_percent < 100); }
  bool operator==(const Pattern&) const = default;
};
std::string pattern_name(const Pattern& pattern);
std::optional<Pattern> parse_pattern(std::string_view name);
base::Result<unsigned> parse_mix(std::string_view text);  // "80:20", reads first; the percentage of reads

// One fixed load.
struct Step {
  Pattern pattern;
  std::uint32_t block_bytes = 4096;
  unsigned depth = 1;        // requests under way at once; in an open loop the most that may be
  unsigned connections = 1;  // TCP connections or iSCSI sessions; the kernel path has one
  double rate = 0;           // requests per second at fixed times (open loop); 0: a closed loop
  bool operator==(const Step&) const = default;
};

// When a run is ended early for the sake of the target.
struct Guard {
  double p99_ms = 0;         // of a second, twice in a row; 0: none
  std::uint64_t errors = 0;  // 0: none
};

struct Plan {
  std::vector<Step> steps;
  unsigned passes = 3;
  double seconds = 2;  // of one pass, ramp not counted
  double ramp_s = 0.5;
  double timeout_s = 10;        // without an answer for so long, the target counts as gone
  std::uint64_t max_bytes = 0;  // of the whole run; 0: no limit
  double max_iops = 0;          // cap of a closed loop; 0: none
  Guard guard;
  std::uint64_t working_set_bytes = 0;  // 0: all of the target
  std::uint64_t seed = 0;
  std::string preset;

  double planned_seconds() const;
};

struct Preset {
  std::string_view name;
  std::string_view sentence;
  Plan (*make)();
};
const std::vector<Preset>& presets();

// 1, 2, 4 ... 128; 4 KiB ... 256 KiB.
std::vector<unsigned> depth_ladder();
std::vector<std::uint32_t> block_ladder();

// Every combination, in this order: connections, pattern, block, depth.
std::vector<Step> ladder(const std::vector<Pattern>& patterns, const std::vector<std::uint32_t>& blocks,
                         const std::vector<unsigned>& depths, const std::vector<unsigned>& connections, double rate);

// "4k", "64KiB", "1G", "512"; powers of 1024.
base::Result<std::uint64_t> parse_bytes(std::string_view text, std::string_view option);
// "1,2,4" or "1..128" (doubling); each from 1 to `most`.
base::Result<std::vector<std::uint64_t>> parse_list(std::string_view text, std::string_view option, std::uint64_t most,
                                                    bool sizes);

}  // namespace load
