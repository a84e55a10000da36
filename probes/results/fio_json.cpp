#include "probes/results/fio_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <cmath>

#include "audit/base/json.h"
#include "audit/base/text.h"
#include "probes/results/size_text.h"

namespace probes {

namespace {

namespace json = boost::json;
using base::ErrorKind;
using base::Result;

// fio writes its warnings to standard output too: the document begins with the first line that is a brace alone.
std::string_view document_of(std::string_view text) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  std::string_view rest = text, line;
  while (base::next_line(rest, line)) {
    const auto bare = base::trim(line);
    if (bare.starts_with('{')) return text.substr(static_cast<std::size_t>(line.data() - text.data()));
  }
  return text;
}

const json::value* member(const json::object& object, std::string_view key) { return object.if_contains(key); }

double real_of(const json::object& object, std::string_view key) {
  const json::value* value = member(object, key);
  if (value == nullptr || !value->is_number()) return 0;
  const double number = value->to_number<double>();
  return std::isfinite(number) && number > 0 ? number : 0;
}

std::uint64_t count_of(const json::object& object, std::string_view key) {
  const double number = real_of(object, key);
  constexpr double largest = 9e18;
  return number < largest ? static_cast<std::uint64_t>(number) : 0;
}

std::string text_of(const json::object& object, std::string_view key) {
  const json::value* value = member(object, key);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
}

FioLatency read_latency(const json::object& direction, std::string_view name) {
  FioLatency lat;
  double unit = 1;
  const json::value* value = member(direction, std::string(name) + "_ns");
  if (value == nullptr) {
    value = member(direction, name);
    unit = 1000;
  }
  if (value == nullptr || !value->is_object()) return lat;
  const json::object& object = value->get_object();
  lat.samples = count_of(object, "N");
  lat.min_ns = real_of(object, "min") * unit;
  lat.max_ns = real_of(object, "max") * unit;
  lat.mean_ns = real_of(object, "mean") * unit;
  lat.stddev_ns = real_of(object, "stddev") * unit;
  if (const json::value* list = member(object, "percentile"); list != nullptr && list->is_object()) {
    for (const auto& [key, ns] : list->get_object()) {
      const auto rank = base::real(key);
      if (rank && ns.is_number()) lat.percentiles_ns[*rank] = ns.to_number<double>() * unit;
    }
  }
  if (const json::value* bins = member(object, "bins"); bins != nullptr && bins->is_object()) {
    for (const auto& [key, hits] : bins->get_object()) {
      const auto ns = base::number<std::uint64_t>(key);
      if (ns && hits.is_int64() && hits.get_int64() > 0)
        lat.bins_ns[*ns] += static_cast<std::uint64_t>(hits.get_int64());
    }
  }
  return lat;
}

std::optional<FioDirection> read_direction(const json::object& job, std::string_view name) {
  const json::value* value = member(job, name);
  if (value == nullptr || !value->is_object()) return std::nullopt;
  const json::object& object = value->get_object();
  FioDirection direction;
  direction.name = std::string(name);
  direction.iops = real_of(object, "iops");
  direction.bw_bytes =
      member(object, "bw_bytes") != nullptr ? real_of(object, "bw_bytes") : real_of(object, "bw") * 1024;
  direction.io_bytes = member(object, "io_bytes") != nullptr ? count_of(object, "io_bytes") : 0;
  direction.total_ios = count_of(object, "total_ios");
  direction.runtime_ms = count_of(object, "runtime");
  direction.lat = read_latency(object, "lat");
  direction.clat = read_latency(object, "clat");
  if (direction.iops <= 0 && direction.total_ios == 0) return std::nullopt;
  return direction;
}

void add_options(FioJob& job, const json::value* value) {
  if (value == nullptr || !value->is_object()) return;
  for (const auto& [key, text] : value->get_object()) {
    if (text.is_string()) job.options[std::string(key)] = std::string(text.get_string());
  }
}

FioJob read_job(const json::object& object, const json::object& document) {
  FioJob job;
  job.name = text_of(object, "jobname");
  job.group = count_of(object, "groupid");
  if (const json::value* error = member(object, "error"); error != nullptr && error->is_int64())
    job.error = error->get_int64();
  add_options(job, member(document, "global options"));
  add_options(job, member(object, "job options"));
  for (const std::string_view name : {"read", "write", "trim", "mixed"}) {
    if (auto direction = read_direction(object, name)) job.directions.push_back(std::move(*direction));
  }
  job.usr_cpu_pct = real_of(object, "usr_cpu");
  job.sys_cpu_pct = real_of(object, "sys_cpu");
  job.job_runtime_ms = count_of(object, "job_runtime");
  return job;
}

std::string option(const FioJob& job, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    if (const auto found = job.options.find(name); found != job.options.end()) return found->second;
  }
  return "";
}

// --- as runs -------------------------------------------------------------------------------------------------------

struct Clones {
  std::vector<const FioJob*> jobs;
};

// Clones of one job stand in the list one by one, with the name and the group of the first.
std::vector<Clones> clones_of(const FioResult& result) {
  std::vector<Clones> all;
  for (const FioJob& job : result.jobs) {
    if (!all.empty() && all.back().jobs.front()->name == job.name && all.back().jobs.front()->group == job.group &&
        all.back().jobs.front()->options == job.options) {
      all.back().jobs.push_back(&job);
    } else {
      all.push_back({{&job}});
    }
  }
  return all;
}

std::string pattern_of(const FioJob& job) {
  std::string pattern = option(job, {"rw", "readwrite"});
  pattern = pattern.substr(0, pattern.find(':'));  // rw=randread:8 steps the offset
  if (pattern == "readwrite") pattern = "rw";
  return pattern.empty() ? "read" : pattern;
}

// One size for both directions, as the options give it, or as the requests came out to the byte.
facts::Fact<std::uint64_t> block_of(const FioJob& job, std::uint64_t bytes, std::uint64_t ios) {
  const std::string text = option(job, {"bs", "blocksize"});
  const bool mixed = !option(job, {"bssplit"}).empty() || !option(job, {"bsrange", "blocksize_range"}).empty();
  if (!mixed && !text.empty()) {
    const auto pieces = base::split(text, ',');
    const bool same = std::all_of(pieces.begin(), pieces.end(), [&](auto piece) { return piece == pieces.front(); });
    const auto size = parse_size(pieces.front(), option(job, {"kb_base"}) != "1000");
    if (same && size) return *size;
  }
  if (mixed || ios == 0 || bytes % ios != 0) return {};
  return bytes / ios;
}

// The smallest bin that so many of all requests reach, fio's bins being named by a value inside them.
double rank_of(const std::map<std::uint64_t, std::uint64_t>& bins, double share) {
  std::uint64_t total = 0, seen = 0;
  for (const auto& [ns, hits] : bins) total += hits;
  for (const auto& [ns, hits] : bins) {
    seen += hits;
    if (static_cast<double>(seen) >= share * static_cast<double>(total)) return static_cast<double>(ns);
  }
  return 0;
}

struct Sums {
  double iops = 0, bw_bytes = 0, seconds = 0, weighted_ns = 0, squares = 0, min_ns = 0, max_ns = 0;
  std::uint64_t bytes = 0, ios = 0, reads = 0, samples = 0;
  std::map<std::uint64_t, std::uint64_t> bins;
  std::size_t directions = 0;
  bool all_bins = true;
};

void add(Sums& sums, const FioDirection& direction) {
  ++sums.directions;
  sums.iops += direction.iops;
  sums.bw_bytes += direction.bw_bytes;
  sums.bytes += direction.io_bytes;
  sums.ios += direction.total_ios;
  if (direction.name == "read") sums.reads += direction.total_ios;
  sums.seconds = std::max(sums.seconds, static_cast<double>(direction.runtime_ms) / 1000);
  const FioLatency& lat = direction.lat.mean_ns > 0 ? direction.lat : direction.clat;
  const auto count = static_cast<double>(lat.samples);
  if (lat.mean_ns > 0) {
    const double weight = count > 0 ? count : static_cast<double>(direction.total_ios);
    sums.samples += static_cast<std::uint64_t>(weight);
    sums.weighted_ns += lat.mean_ns * weight;
    sums.squares += (lat.stddev_ns * lat.stddev_ns + lat.mean_ns * lat.mean_ns) * weight;
    sums.min_ns = sums.min_ns == 0 ? lat.min_ns : std::min(sums.min_ns, lat.min_ns);
    sums.max_ns = std::max(sums.max_ns, lat.max_ns);
  }
  const auto& bins = direction.lat.bins_ns.empty() ? direction.clat.bins_ns : direction.lat.bins_ns;
  sums.all_bins = sums.all_bins && !bins.empty();
  for (const auto& [ns, hits] : bins) sums.bins[ns] += hits;
}

facts::Fact<double> percentile(const FioDirection& direction, double rank) {
  const auto& list =
      direction.lat.percentiles_ns.empty() ? direction.clat.percentiles_ns : direction.lat.percentiles_ns;
  const auto found = list.find(rank);
  if (found == list.end()) return {};
  return found->second / 1000;
}

void put_latency(facts::LatencyRun& run, const Sums& sums, const Clones& clones) {
  if (sums.samples > 0) {
    const auto n = static_cast<double>(sums.samples);
    const double mean = sums.weighted_ns / n;
    run.samples = sums.samples;
    run.lat_mean_us = mean / 1000;
    run.lat_stddev_us = std::sqrt(std::max(0.0, sums.squares / n - mean * mean)) / 1000;
    run.lat_min_us = sums.min_ns / 1000;
    run.lat_max_us = sums.max_ns / 1000;
  }
  struct Rank {
    double percent;
    facts::Fact<double> facts::LatencyRun::*to;
  };
  constexpr std::array ranks{Rank{50, &facts::LatencyRun::lat_p50_us}, Rank{90, &facts::LatencyRun::lat_p90_us},
                             Rank{99, &facts::LatencyRun::lat_p99_us}, Rank{99.9, &facts::LatencyRun::lat_p999_us}};
  for (const Rank& rank : ranks) {
    if (sums.directions == 1) {
      run.*rank.to = percentile(clones.jobs.front()->directions.front(), rank.percent);
    } else if (sums.all_bins) {
      run.*rank.to = rank_of(sums.bins, rank.percent / 100) / 1000;
    }
  }
  if (!sums.all_bins) return;
  for (const auto& [ns, hits] : sums.bins) run.histogram.push_back({static_cast<double>(ns) / 1000, hits});
}

facts::LatencyRun run_of(const Clones& clones, std::vector<Note>& notes) {
  const FioJob& job = *clones.jobs.front();
  Sums sums;
  double cpu_us = 0;
  std::int64_t error = 0;
  for (const FioJob* one : clones.jobs) {
    for (const auto& direction : one->directions) add(sums, direction);
    cpu_us += (one->usr_cpu_pct + one->sys_cpu_pct) / 100 * static_cast<double>(one->job_runtime_ms) * 1000;
    if (error == 0) error = one->error;
  }
  facts::LatencyRun run;
  const std::string engine = option(job, {"ioengine"});
  run.engine = "fio/" + (engine.empty() ? std::string("psync") : engine);
  if (const std::string target = option(job, {"filename", "directory", "nfs_url"}); !target.empty())
    run.target = target;
  const auto jobs = base::number<std::uint32_t>(option(job, {"numjobs"}));
  run.clients = std::max<std::uint32_t>(static_cast<std::uint32_t>(clones.jobs.size()), jobs.value_or(1));
  run.depth = std::max<std::uint32_t>(base::number<std::uint32_t>(option(job, {"iodepth"})).value_or(1), 1);
  if (run.depth > 1 && is_synchronous_engine(engine)) {
    notes.push_back({0,
                     fmt::format("job {}: {} issues one request at a time, iodepth={} is counted as 1",
                                 base::escape_control(job.name), engine.empty() ? "psync" : engine, run.depth),
                     false});
    run.depth = 1;
  }
  run.pattern = pattern_of(job);
  run.block_bytes = block_of(job, sums.bytes, sums.ios);
  if (sums.ios > 0 && run.pattern->find("rw") != std::string::npos)
    run.read_pct =
        static_cast<std::uint32_t>(std::lround(100 * static_cast<double>(sums.reads) / static_cast<double>(sums.ios)));
  run.loop = "closed";
  if (!option(job, {"rate_iops", "rate"}).empty()) run.loop = facts::Fact<std::string>();
  if (const std::string direct = option(job, {"direct"}); !direct.empty()) run.direct = direct != "0";
  if (const auto size = parse_size(option(job, {"size", "filesize"}), option(job, {"kb_base"}) != "1000"))
    run.working_set_bytes = *size;
  if (const auto seed = base::number<std::uint64_t>(option(job, {"randseed"}))) run.seed = *seed;
  run.iops = sums.iops;
  run.mbps = sums.bw_bytes / 1e6;
  run.seconds = sums.seconds;
  run.ios = sums.ios;
  run.bytes = sums.bytes;
  if (error != 0) {
    run.partial = true;
    run.partial_why = fmt::format("fio ended with error {}", error);
  }
  if (cpu_us > 0) run.client_cpu_us = cpu_us;
  put_latency(run, sums, clones);
  return run;
}

}  // namespace

bool is_synchronous_engine(std::string_view engine) {
  static constexpr std::array<std::string_view, 8> synchronous{"",       "sync",    "psync", "vsync",
                                                               "pvsync", "pvsync2", "mmap",  "falloc"};
  return std::find(synchronous.begin(), synchronous.end(), engine) != synchronous.end();
}

bool looks_like_fio_json(std::string_view text) {
  return document_of(text).substr(0, 4096).find("\"fio version\"") != std::string_view::npos;
}

Result<Parsed<FioResult>> parse_fio_json(std::string_view text, const std::string& where) {
  // fio prints a percentile as often as percentile_list names it.
  auto value = base::parse_json(document_of(text), where, base::Duplicates::keep_last);
  if (!value) return tl::unexpected(value.error());
  const auto not_fio = [&] { return base::fail(ErrorKind::malformed, where, "no result of fio: no jobs"); };
  if (!value->is_object()) return not_fio();
  const json::object& document = value->get_object();
  const json::value* jobs = member(document, "jobs");
  if (jobs == nullptr || !jobs->is_array()) return not_fio();
  Parsed<FioResult> parsed;
  parsed.facts.version = text_of(document, "fio version");
  if (const auto at = count_of(document, "timestamp"); at > 0) parsed.facts.timestamp_s = at;
  std::size_t number = 0;
  for (const json::value& one : jobs->get_array()) {
    ++number;
    if (!one.is_object()) {
      parsed.notes.push_back({0, fmt::format("job {} is no object", number)});
      continue;
    }
    FioJob job = read_job(one.get_object(), document);
    if (job.directions.empty()) {
      parsed.notes.push_back({0, fmt::format("job {} ({}) moved nothing{}", number, base::escape_control(job.name),
                                             job.error != 0 ? fmt::format(", error {}", job.error) : "")});
      continue;
    }
    parsed.facts.jobs.push_back(std::move(job));
  }
  return parsed;
}

Parsed<std::vector<facts::LatencyRun>> runs_of(const FioResult& result, const std::string& where,
                                               const std::string& label) {
  Parsed<std::vector<facts::LatencyRun>> parsed;
  for (const Clones& clones : clones_of(result)) {
    facts::LatencyRun run = run_of(clones, parsed.notes);
    run.label = label;
    run.source = fmt::format("{}, job {}", where, clones.jobs.front()->name);
    parsed.facts.push_back(std::move(run));
  }
  // Jobs that load in the same way are not passes of one run but things to be told apart, by their names.
  const auto same = [](const facts::LatencyRun& a, const facts::LatencyRun& b) {
    return a.depth == b.depth && a.pattern == b.pattern && a.block_bytes == b.block_bytes && a.clients == b.clients &&
           a.read_pct == b.read_pct;
  };
  const auto all = clones_of(result);
  std::vector<bool> twins(parsed.facts.size());
  for (std::size_t i = 0; i < parsed.facts.size(); ++i) {
    for (std::size_t k = 0; k < parsed.facts.size(); ++k)
      twins[i] = twins[i] || (i != k && same(parsed.facts[i], parsed.facts[k]));
  }
  for (std::size_t i = 0; i < parsed.facts.size(); ++i) {
    if (twins[i]) parsed.facts[i].label = label + "/" + all[i].jobs.front()->name;
  }
  return parsed;
}

}  // namespace probes
