#include "cli/servers.h"

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <future>

#include "cli/chap.h"
#include "cli/gather.h"
#include "cli/output.h"
#include "probes/ask_mounted.h"
#include "probes/ask_portals.h"

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

namespace {

// Waits for answers that come by their deadline. A signal sets the flag; who waits long is told.
template <class Answers>
Answers await(std::future<Answers> answers, std::atomic<bool>& stop, bool quiet, const std::function<void()>& on_slow,
              const std::string& what) {
  const auto started = std::chrono::steady_clock::now();
  bool shown = false;
  while (answers.wait_for(step) != std::future_status::ready) {
    if (signal_seen() != 0) stop = true;
    if (shown || std::chrono::steady_clock::now() - started < patience) continue;
    shown = true;
    if (!progress_wanted(quiet)) continue;
    if (on_slow) on_slow();
    say(what);
  }
  return answers.get();
}

std::string asking_text(std::size_t count, std::string_view one, io::Duration deadline) {
  return fmt::format("asking {} {}{}, until {} s are over at the latest", count, one, count == 1 ? "" : "s",
                     std::chrono::duration_cast<std::chrono::seconds>(deadline).count());
}

}  // namespace

base::Result<std::vector<wire::NfsAnswer>> ask_targets(const Settings& settings,
                                                       const std::vector<wire::NfsTarget>& targets,
                                                       const std::function<void()>& on_slow) {
  auto given = ask_options(settings);
  if (!given) return tl::unexpected(given.error());
  wire::AskOptions options = *given;
  if (targets.empty()) return std::vector<wire::NfsAnswer>{};
  std::atomic<bool> stop{false};
  options.stop = &stop;
  return await(std::async(std::launch::async, [&] { return wire::ask_nfs(targets, options); }), stop, settings.quiet,
               on_slow, asking_text(targets.size(), "NFS server", options.deadline));
}

wire::IscsiAnswers ask_portals(const Settings& settings, const std::vector<wire::IscsiPortalTarget>& portals,
                               const wire::IscsiOptions& given, const std::function<void()>& on_slow) {
  if (portals.empty()) return {};
  wire::IscsiOptions options = given;
  std::atomic<bool> stop{false};
  options.stop = &stop;
  return await(std::async(std::launch::async, [&] { return wire::ask_iscsi(portals, options); }), stop, settings.quiet,
               on_slow, asking_text(portals.size(), "iSCSI portal", options.deadline));
}

base::Result<void> ask_servers(const Settings& settings, facts::Facts& facts, const OnSlow& on_slow) {
  auto options = ask_options(settings);
  if (!options) return tl::unexpected(options.error());
  const auto portals = probes::portals_of(facts, settings.login);
  // Who cannot log in for want of a secret is to know before anything is sent.
  auto iscsi = iscsi_options(settings, "");
  if (!iscsi) return tl::unexpected(iscsi.error());
  std::atomic<bool> stop{false};
  options->stop = &stop;
  iscsi->stop = &stop;
  // Beside the questions to NFS servers: what is slow costs no time of its own.
  const auto names = probes::names_of(facts);
  auto looked_up = std::async(std::launch::async, [&] { return wire::look_up(names, *options); });
  auto asked = std::async(std::launch::async,
                          [&] { return portals.empty() ? wire::IscsiAnswers{} : wire::ask_iscsi(portals, *iscsi); });
  auto answers = ask_targets(settings, probes::targets_of(facts), [&] {
    if (on_slow) on_slow(facts);
  });
  auto on_portals =
      await(std::move(asked), stop, settings.quiet, {}, asking_text(portals.size(), "iSCSI portal", iscsi->deadline));
  while (looked_up.wait_for(step) != std::future_status::ready) {
    if (signal_seen() != 0) stop = true;
  }
  if (!answers) return tl::unexpected(answers.error());
  probes::join_answers(facts, std::move(*answers));
  probes::join_names(facts, looked_up.get());
  probes::join_iscsi_answers(facts, std::move(on_portals), "session");
  return {};
}

}  // namespace cli
