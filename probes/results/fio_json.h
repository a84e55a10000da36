// What fio(1) writes with --output-format=json and json+: "fio version", "global options", jobs[] with options and the
// results of each direction (fio's stat.c, show_thread_status_json). Times in nanoseconds as fio prints them; older
// fio (before 3.0) printed microseconds under clat and lat.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "audit/base/result.h"
#include "audit/facts/latency.h"
#include "probes/parsed.h"

namespace probes {

struct FioLatency {
  std::uint64_t samples = 0;
  double min_ns = 0, max_ns = 0, mean_ns = 0, stddev_ns = 0;
  std::map<double, double> percentiles_ns;         // 99.9 -> ns
  std::map<std::uint64_t, std::uint64_t> bins_ns;  // json+: value of the bin -> requests in it
};

struct FioDirection {
  std::string name;  // read, write, trim, mixed
  double iops = 0;
  double bw_bytes = 0;  // per second
  std::uint64_t io_bytes = 0, total_ios = 0, runtime_ms = 0;
  FioLatency lat;   // submission to completion
  FioLatency clat;  // completion alone; percentiles stand here unless lat_percentiles=1
};

struct FioJob {
  std::string name;
  std::uint64_t group = 0;                                  // jobs of one group ran at the same time
  std::int64_t error = 0;                                   // errno of the first error
  std::map<std::string, std::string, std::less<>> options;  // those of [global] and its own
  std::vector<FioDirection> directions;                     // those that moved something
  double usr_cpu_pct = 0, sys_cpu_pct = 0;
  std::uint64_t job_runtime_ms = 0;
};

struct FioResult {
  std::string version;
  std::optional<std::uint64_t> timestamp_s;
  std::vector<FioJob> jobs;
};

// A text with fio's messages before the document is taken; an option or percentile that fio prints twice counts once.
// Refused: no JSON, no fio result. A job that does not read costs that job.
base::Result<Parsed<FioResult>> parse_fio_json(std::string_view text, const std::string& where);
bool looks_like_fio_json(std::string_view text);

// Jobs as runs: clones of one job (numjobs) are one run with so many clients. A field that fio does not tell for the
// run as a whole stays unknown: percentiles of reads and writes together need json+.
Parsed<std::vector<facts::LatencyRun>> runs_of(const FioResult& result, const std::string& where,
                                               const std::string& label);

// Engines that issue one request at a time whatever iodepth says (fio(1), "ioengine").
bool is_synchronous_engine(std::string_view engine);

}  // namespace probes
