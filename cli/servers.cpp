#include "cli/servers.h"

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <future>

#include "cli/gather.h"
#include "cli/output.h"
#include "probes/ask_mounted.h"

namespace cli {

namespace {

constexpr std::chrono::milliseconds patience{700};  // then the passive findings are shown
constexpr std::chrono::milliseconds step{100};      // between looks at signals

}  // namespace

base::Result<wire::AskOptions> ask_options(const Settings& settings) {
  wire::AskOptions options;
  for (const auto& [text, name, into] : {std::tuple{&settings.timeout, "--timeout", &options.timeout},
                                         {&settings.deadline, "--deadline", &options.deadline}}) {
    if (text->empty()) continue;
    const auto time = parse_time(*text, name);
    if (!time) return tl::unexpected(time.error());
    if (time->count() == 0)
      return base::fail(base::ErrorKind::usage, "", std::string(name) + " 0 leaves no time to ask");
    *into = *time;
  }
  return options;
}

void run_stoppable(const std::function<void(const std::atomic<bool>& stop)>& work) {
  std::atomic<bool> stop{false};
  auto done = std::async(std::launch::async, [&] { work(stop); });
  while (done.wait_for(step) != std::future_status::ready) {
    if (signal_seen() != 0) stop = true;
  }
  done.get();
}

base::Result<std::vector<wire::NfsAnswer>> ask_targets(const Settings& settings,
                                                       const std::vector<wire::NfsTarget>& targets,
                                                       const std::function<void()>& on_slow) {
  auto given = ask_options(settings);
  if (!given) return tl::unexpected(given.error());
  wire::AskOptions options = *given;
  if (targets.empty()) return std::vector<wire::NfsAnswer>{};

  std::atomic<bool> stop{false};
  options.stop = &stop;
  auto answers = std::async(std::launch::async, [&] { return wire::ask_nfs(targets, options); });
  const auto started = std::chrono::steady_clock::now();
  bool shown = false;
  while (answers.wait_for(step) != std::future_status::ready) {
    if (signal_seen() != 0) stop = true;
    if (shown || std::chrono::steady_clock::now() - started < patience) continue;
    shown = true;
    if (!progress_wanted(settings.quiet)) continue;
    if (on_slow) on_slow();
    say(fmt::format("asking {} NFS {}, until {} s are over at the latest", targets.size(),
                    targets.size() == 1 ? "server" : "servers",
                    std::chrono::duration_cast<std::chrono::seconds>(options.deadline).count()));
  }
  return answers.get();
}

base::Result<void> ask_servers(const Settings& settings, facts::Facts& facts, const OnSlow& on_slow) {
  auto options = ask_options(settings);
  if (!options) return tl::unexpected(options.error());
  std::atomic<bool> stop{false};
  options->stop = &stop;
  // Beside the questions: a resolver that is slow costs no time of its own.
  const auto names = probes::names_of(facts);
  auto looked_up = std::async(std::launch::async, [&] { return wire::look_up(names, *options); });
  auto answers = ask_targets(settings, probes::targets_of(facts), [&] {
    if (on_slow) on_slow(facts);
  });
  while (looked_up.wait_for(step) != std::future_status::ready) {
    if (signal_seen() != 0) stop = true;
  }
  if (!answers) return tl::unexpected(answers.error());
  probes::join_answers(facts, std::move(*answers));
  probes::join_names(facts, looked_up.get());
  return {};
}

}  // namespace cli
