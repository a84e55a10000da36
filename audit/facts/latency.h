// Measured runs of load: one entry per target, size, depth and pass, as `latency` measured it or as another tool's file
// tells it (fio JSON, CSV). Raw: ratios between runs, efficient depths and verdicts are derived in audit/eval.
// Depth as in fio(1) iodepth, SAM-5 task set: requests of one client that are under way at once.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "audit/facts/fact.h"

namespace facts {

// One bucket of a latency histogram.
struct LatencyBucket {
  double upto_us = 0;  // largest latency that is counted here
  std::uint64_t count = 0;

  template <class LatencyBucket = facts::LatencyBucket>
  static auto fields() {
    return std::array{Field{"upto_us", &LatencyBucket::upto_us, "largest latency that is counted here"},
                      Field{"count", &LatencyBucket::count, "requests in this bucket alone"}};
  }
  bool operator==(const LatencyBucket&) const = default;
};

// One step of a run's time series, as a rule one second.
struct LatencyInterval {
  double at_s = 0;  // its end, from the start of the counted part of the run
  Fact<std::uint64_t> ios;
  Fact<double> iops;
  Fact<double> lat_mean_us;
  Fact<double> lat_max_us;
  Fact<std::uint64_t> errors;

  template <class LatencyInterval = facts::LatencyInterval>
  static auto fields() {
    return std::array{
        Field{"at_s", &LatencyInterval::at_s, "its end, from the start of what is counted"},
        Field{"ios", &LatencyInterval::ios, "requests that were answered in it"},
        Field{"iops", &LatencyInterval::iops, "requests answered per second"},
        Field{"lat_mean_us", &LatencyInterval::lat_mean_us, "mean latency of those; null when none was answered"},
        Field{"lat_max_us", &LatencyInterval::lat_max_us, "longest latency of those; null when none was answered"},
        Field{"errors", &LatencyInterval::errors, "requests that failed in it"}};
  }
  bool operator==(const LatencyInterval&) const = default;
};

struct LatencyRun {
  // Who measured what.
  std::string label;           // names one configuration; runs of one label make a curve
  std::string source;          // file:line, or file and job; "measured" for our own
  Fact<std::string> target;    // URL, file or device
  Fact<std::string> engine;    // what issued the requests: nfs3, nfs4.1, iscsi, io_uring, fio/libaio ...
  Fact<std::string> host;      // node that issued them
  Fact<std::string> started;   // RFC 3339
  Fact<std::string> start_at;  // RFC 3339: the instant that several nodes agreed on
  Fact<std::string> command;   // command line that repeats it
  // The load.
  Fact<std::uint32_t> clients;      // nodes, VMs or jobs that ran at once, each with `depth`
  Fact<std::uint32_t> connections;  // of one client
  std::uint32_t depth = 1;
  Fact<std::uint64_t> block_bytes;
  Fact<std::string> pattern;  // fio's names: read, write, randread, randwrite, rw, randrw; or getattr, null, tur, nop
  Fact<std::uint32_t> read_pct;
  Fact<std::string> loop;   // closed: a new request when one is answered; open: at fixed times
  Fact<double> rate_per_s;  // of an open loop
  Fact<bool> direct;        // past the client's page cache
  Fact<std::uint64_t> working_set_bytes;
  Fact<std::uint64_t> seed;
  Fact<std::uint32_t> pass;  // from 1
  Fact<double> ramp_s;
  Fact<std::string> limits;  // what could have ended it: seconds, bytes, IOPS, guard
  // What came of it.
  double iops = 0;
  Fact<double> mbps;  // 10^6 bytes per second
  Fact<double> seconds;
  Fact<std::uint64_t> ios;
  Fact<std::uint64_t> bytes;
  Fact<std::uint64_t> errors;
  Fact<std::string> first_error;
  Fact<bool> partial;
  Fact<std::string> partial_why;
  Fact<std::uint64_t> samples;
  Fact<double> lat_mean_us;
  Fact<double> lat_stddev_us;
  Fact<double> lat_min_us;
  Fact<double> lat_max_us;
  Fact<double> lat_p50_us;
  Fact<double> lat_p90_us;
  Fact<double> lat_p99_us;
  Fact<double> lat_p999_us;
  Fact<double> client_cpu_us;  // user and system time
  Fact<double> rtt_us;
  std::vector<LatencyBucket> histogram;
  std::vector<LatencyInterval> series;

  template <class LatencyRun = facts::LatencyRun>
  static auto fields() {
    return std::array{
        Field{"label", &LatencyRun::label, "names one configuration; runs of one label make a curve"},
        Field{"source", &LatencyRun::source, "file with line or job; measured for runs of our own"},
        Field{"target", &LatencyRun::target, "URL, file or device that was loaded"},
        Field{"engine", &LatencyRun::engine, "what issued the requests: nfs3, nfs4.1, iscsi, io_uring, fio/libaio ..."},
        Field{"host", &LatencyRun::host, "node that issued the requests"},
        Field{"started", &LatencyRun::started, "when it began, RFC 3339"},
        Field{"start_at", &LatencyRun::start_at,
              "instant that several nodes agreed to begin at, RFC 3339; null: begun alone"},
        Field{"command", &LatencyRun::command, "command line that repeats it"},
        Field{"clients", &LatencyRun::clients, "nodes, VMs or jobs that ran at once, each with the depth"},
        Field{"connections", &LatencyRun::connections, "connections of one client to the target"},
        Field{"depth", &LatencyRun::depth,
              "requests of one client under way at once; in an open loop the most allowed"},
        Field{"block_bytes", &LatencyRun::block_bytes, "size of one request"},
        Field{"pattern", &LatencyRun::pattern,
              "read, write, randread, randwrite, rw, randrw as fio names them, or getattr, null, tur, nop"},
        Field{"read_pct", &LatencyRun::read_pct, "share of reads among the requests, percent"},
        Field{"loop", &LatencyRun::loop,
              "closed: a request follows an answer; open: at times fixed beforehand, latency from the intended start"},
        Field{"rate_per_s", &LatencyRun::rate_per_s, "intended rate of an open loop; null for a closed one"},
        Field{"direct", &LatencyRun::direct, "past the page cache of the client"},
        Field{"working_set_bytes", &LatencyRun::working_set_bytes, "range that the requests were spread over"},
        Field{"seed", &LatencyRun::seed, "seed of the order of blocks; null for a sequential run"},
        Field{"pass", &LatencyRun::pass, "which repetition, from 1"},
        Field{"ramp_s", &LatencyRun::ramp_s, "time before counting began"},
        Field{"limits", &LatencyRun::limits, "limits that the run was given: seconds, bytes, IOPS, guard"},
        Field{"iops", &LatencyRun::iops, "requests answered per second, all clients together"},
        Field{"mbps", &LatencyRun::mbps, "10^6 bytes moved per second"},
        Field{"seconds", &LatencyRun::seconds, "time that was counted"},
        Field{"ios", &LatencyRun::ios, "requests answered in it"},
        Field{"bytes", &LatencyRun::bytes, "bytes moved in it"},
        Field{"errors", &LatencyRun::errors, "requests that failed"},
        Field{"first_error", &LatencyRun::first_error, "what the first failed request was told; null for none"},
        Field{"partial", &LatencyRun::partial, "ended before its time"},
        Field{"partial_why", &LatencyRun::partial_why, "why it ended before its time; null when it did not"},
        Field{"samples", &LatencyRun::samples, "latencies behind the figures below"},
        Field{"lat_mean_us", &LatencyRun::lat_mean_us, "mean latency"},
        Field{"lat_stddev_us", &LatencyRun::lat_stddev_us, "standard deviation of the latency"},
        Field{"lat_min_us", &LatencyRun::lat_min_us, "shortest latency"},
        Field{"lat_max_us", &LatencyRun::lat_max_us, "longest latency"},
        Field{"lat_p50_us", &LatencyRun::lat_p50_us, "half of the requests took at most this"},
        Field{"lat_p90_us", &LatencyRun::lat_p90_us, "90 % of the requests took at most this"},
        Field{"lat_p99_us", &LatencyRun::lat_p99_us, "99 % of the requests took at most this"},
        Field{"lat_p999_us", &LatencyRun::lat_p999_us, "99.9 % of the requests took at most this"},
        Field{"client_cpu_us", &LatencyRun::client_cpu_us,
              "processor time of the measuring process in the counted part"},
        Field{"rtt_us", &LatencyRun::rtt_us, "round trip of the network under it, as TCP saw it"},
        Field{"histogram", &LatencyRun::histogram, "latencies by bucket, shortest first; empty buckets left out"},
        Field{"series", &LatencyRun::series, "the run step by step"}};
  }
  bool operator==(const LatencyRun&) const = default;
};

// Equal for runs that differ in depth and pass alone: label, load, clients, connections, range, loop and rate.
std::string load_key(const LatencyRun& run);

// What is wanted of the storage or promised by it, as the user says.
struct LatencyNeed {
  Fact<double> wanted_iops;      // peak of all clients together
  Fact<double> guaranteed_iops;  // in the size and mix below
  Fact<std::uint64_t> guaranteed_block_bytes;
  Fact<std::uint32_t> guaranteed_read_pct;
  Fact<std::uint64_t> cache_bytes;  // of the storage
  Fact<std::uint32_t> clients;      // that will run at once
  Fact<std::uint32_t> depth;        // of one client in production
  Fact<std::string> media;          // flash, disk, cloud-ssd

  template <class LatencyNeed = facts::LatencyNeed>
  static auto fields() {
    return std::array{
        Field{"wanted_iops", &LatencyNeed::wanted_iops, "peak that is wanted, all clients together"},
        Field{"guaranteed_iops", &LatencyNeed::guaranteed_iops, "rate that the storage is said to give"},
        Field{"guaranteed_block_bytes", &LatencyNeed::guaranteed_block_bytes, "request size of that guarantee"},
        Field{"guaranteed_read_pct", &LatencyNeed::guaranteed_read_pct, "share of reads of that guarantee, percent"},
        Field{"cache_bytes", &LatencyNeed::cache_bytes, "memory of the storage that may hold what was read before"},
        Field{"clients", &LatencyNeed::clients, "clients that will run at once"},
        Field{"depth", &LatencyNeed::depth, "requests under way at once of one client in production"},
        Field{"media", &LatencyNeed::media, "flash, disk or cloud-ssd"}};
  }
  bool operator==(const LatencyNeed&) const = default;
};

struct Latency {
  std::vector<LatencyRun> runs;
  LatencyNeed need;

  template <class Latency = facts::Latency>
  static auto fields() {
    return std::array{Field{"runs", &Latency::runs, "measured runs of load, one per label, size, depth and pass"},
                      Field{"need", &Latency::need, "what is wanted or promised"}};
  }
  bool operator==(const Latency&) const = default;
};

}  // namespace facts
