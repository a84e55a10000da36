#include "probes/load/measure.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <thread>

#include "audit/base/instant.h"
#include "probes/load/block_order.h"
#include "probes/load/passes.h"

namespace load {
namespace {

using facts::Fact;
using std::chrono::system_clock;

template <class T>
Fact<T> known_or_none(bool known, T value) {
  return known ? Fact<T>(std::move(value)) : Fact<T>::absent();
}

std::string instant_text(system_clock::time_point time) {
  return base::rfc3339(static_cast<double>(system_clock::to_time_t(time)));
}

std::string limits_text(const Plan& plan) {
  std::string text = fmt::format("{} s", plan.seconds);
  if (plan.max_bytes != 0) text += fmt::format(", {} bytes", plan.max_bytes);
  if (plan.max_iops > 0) text += fmt::format(", {} IOPS", plan.max_iops);
  if (plan.guard.p99_ms > 0) text += fmt::format(", guard p99 {} ms", plan.guard.p99_ms);
  if (plan.guard.errors != 0) text += fmt::format(", guard {} errors", plan.guard.errors);
  return text;
}

std::string partial_words(const Record& record) {
  const std::string why = record.why.data();
  return why.empty() ? end_name(record.end) : why;
}

void put_latency(facts::LatencyRun& run, const Record& record) {
  const Histogram& latency = record.latency;
  run.samples = latency.count();
  const bool some = latency.count() != 0;
  const auto us = [&](double ns) { return known_or_none(some, ns / 1000); };
  run.lat_mean_us = us(latency.mean_ns());
  run.lat_stddev_us = us(latency.stddev_ns());
  run.lat_min_us = us(static_cast<double>(latency.min_ns()));
  run.lat_max_us = us(static_cast<double>(latency.max_ns()));
  run.lat_p50_us = us(latency.percentile_ns(50));
  run.lat_p90_us = us(latency.percentile_ns(90));
  run.lat_p99_us = us(latency.percentile_ns(99));
  run.lat_p999_us = us(latency.percentile_ns(99.9));
  for (const auto& bucket : latency.octaves(8))
    run.histogram.push_back({static_cast<double>(bucket.upto_ns) / 1000, bucket.count});
  for (std::size_t i = 0; i < record.interval_count; ++i) {
    const Interval& from = record.intervals[i];
    facts::LatencyInterval to;
    to.at_s = static_cast<double>(i + 1) * record.interval_s;
    to.ios = from.ops;
    to.iops = static_cast<double>(from.ops) / record.interval_s;
    to.lat_mean_us = known_or_none(from.ops != 0, from.mean_us);
    to.lat_max_us = known_or_none(from.ops != 0, from.max_us);
    to.errors = from.errors;
    run.series.push_back(std::move(to));
  }
}

class Measurement {
 public:
  Measurement(const Target& target, const Plan& plan, const MeasureOptions& options, Subject& subject)
      : target_(target), plan_(plan), options_(options), subject_(subject) {}

  void run(Measured& out) {
    const std::uint64_t all = subject_.size();
    range_ = plan_.working_set_bytes == 0 ? all : std::min(all, plan_.working_set_bytes);
    for (const auto& step : plan_.steps) {
      std::vector<std::unique_ptr<Record>> passes;
      for (unsigned pass = 1; pass <= plan_.passes && !over_; ++pass) one_pass(step, pass, passes, out);
      judge_passes(step, passes, out);
      if (over_) break;
    }
    if (const unsigned limit = subject_.limit(); limit != 0)
      out.notes.push_back(fmt::format("the target let at most {} requests be under way at once", limit));
    if (!subject_.direct()) out.notes.push_back("the file system has no O_DIRECT: the page cache was in the way");
  }

 private:
  void one_pass(const Step& step, unsigned pass, std::vector<std::unique_ptr<Record>>& passes, Measured& out) {
    auto record = std::make_unique<Record>();
    PassOptions pass_options;
    pass_options.seconds = plan_.seconds;
    pass_options.ramp_s = plan_.ramp_s;
    pass_options.timeout_s = plan_.timeout_s;
    pass_options.max_iops = plan_.max_iops;
    pass_options.guard = plan_.guard;
    pass_options.seed = Mixer(plan_.seed + turn_).next() | 1;
    pass_options.stop = options_.open.stop;
    if (plan_.max_bytes != 0)
      pass_options.max_bytes = std::max<std::uint64_t>(1, plan_.max_bytes - std::min(bytes_, plan_.max_bytes));
    const std::string what =
        fmt::format("{} depth {} pass {}/{}", pattern_name(step.pattern), step.depth, pass, plan_.passes);
    if (options_.progress) pass_options.progress = [&](const Record& so_far) { options_.progress(what, so_far); };
    if (moves_data(step.pattern.op) && range_ < step.block_bytes) {
      record->end = End::failed;
      record->set_why(fmt::format("it holds {} bytes, less than one block of {}", range_, step.block_bytes).c_str());
    } else if (!wait_for_turn()) {
      record->end = End::stopped;
    } else {
      const auto began = system_clock::now();
      subject_.run(step, range_, pass_options, *record);
      out.runs.push_back(fact_of(step, pass, *record, began, pass_options.seed));
    }
    ++turn_;
    bytes_ += record->bytes;
    if (record->end != End::complete) {
      over_ = true;
      out.partial = true;
      out.notes.push_back(fmt::format("ended early at {}: {}", what, partial_words(*record)));
    }
    passes.push_back(std::move(record));
  }

  // With a common start every pass has its place on the grid. False: stopped by a signal.
  bool wait_for_turn() const {
    if (options_.start_at == system_clock::time_point{}) return true;
    const double each = plan_.ramp_s + plan_.seconds + 1;
    const auto at = options_.start_at + std::chrono::duration_cast<system_clock::duration>(
                                            std::chrono::duration<double>(each * static_cast<double>(turn_)));
    while (system_clock::now() < at) {
      if (options_.open.stop != nullptr && options_.open.stop->load()) return false;
      std::this_thread::sleep_for(
          std::min<system_clock::duration>(at - system_clock::now(), std::chrono::milliseconds(50)));
    }
    return true;
  }

  void judge_passes(const Step& step, const std::vector<std::unique_ptr<Record>>& passes, Measured& out) const {
    std::vector<const Record*> views;
    for (const auto& pass : passes) views.push_back(pass.get());
    const auto found = agreement(views);
    if (!found.why.empty())
      out.notes.push_back(fmt::format("{} {} KiB depth {}: {}", pattern_name(step.pattern), step.block_bytes / 1024,
                                      step.depth, found.why));
  }

  facts::LatencyRun fact_of(const Step& step, unsigned pass, const Record& record, system_clock::time_point began,
                            std::uint64_t seed) const {
    const bool data = moves_data(step.pattern.op);
    const bool open = step.rate > 0;
    facts::LatencyRun run;
    run.label = options_.label.empty() ? subject_.engine() : options_.label;
    if (several_connections()) run.label += fmt::format(" x{}", step.connections);
    run.source = "measured";
    run.target = target_.text;
    run.engine = subject_.engine();
    run.host = options_.host;
    run.started = instant_text(began);
    run.start_at = known_or_none(options_.start_at != system_clock::time_point{}, instant_text(options_.start_at));
    run.command = options_.command;
    run.clients = 1U;
    run.connections = step.connections;
    run.depth = step.depth;
    run.block_bytes = known_or_none<std::uint64_t>(data, step.block_bytes);
    run.pattern = pattern_name(step.pattern);
    run.read_pct = known_or_none<std::uint32_t>(data, step.pattern.read_percent);
    run.loop = std::string(open ? "open" : "closed");
    run.rate_per_s = known_or_none(open, step.rate);
    run.direct = subject_.direct();
    run.working_set_bytes = known_or_none(data, range_);
    run.seed = known_or_none(step.pattern.random && data, seed);
    run.pass = pass;
    run.ramp_s = plan_.ramp_s;
    run.limits = limits_text(plan_);
    run.iops = record.iops();
    run.seconds = record.seconds;
    run.ios = record.ops;
    run.bytes = record.bytes;
    run.mbps = record.seconds > 0 ? static_cast<double>(record.bytes) / record.seconds / 1e6 : 0;
    run.errors = record.errors;
    run.first_error = known_or_none(record.first_error != 0,
                                    record.first_error == 0 ? std::string() : subject_.error_text(record.first_error));
    run.partial = record.end != End::complete;
    run.partial_why = known_or_none(record.end != End::complete, partial_words(record));
    run.client_cpu_us = record.cpu_s * 1e6;
    if (const auto rtt = subject_.rtt_us()) run.rtt_us = *rtt;
    put_latency(run, record);
    return run;
  }

  bool several_connections() const {
    return std::any_of(plan_.steps.begin(), plan_.steps.end(),
                       [&](const Step& step) { return step.connections != plan_.steps.front().connections; });
  }

  const Target& target_;
  const Plan& plan_;
  const MeasureOptions& options_;
  Subject& subject_;
  std::uint64_t range_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint64_t turn_ = 0;
  bool over_ = false;
};

}  // namespace

base::Result<Measured> measure(const Target& target, const Plan& plan, const MeasureOptions& options) {
  auto subject = open_subject(target, options.open);
  if (!subject) return tl::unexpected(subject.error());
  Measured out;
  Measurement(target, plan, options, **subject).run(out);
  out.left = (*subject)->finish();
  return out;
}

}  // namespace load
