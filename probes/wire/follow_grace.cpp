#include "probes/wire/follow_grace.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <thread>

namespace wire {
namespace {

constexpr std::chrono::milliseconds step{500};

enum class Seen : std::uint8_t { nothing, gone, in_grace, serving, unclear };

const facts::NfsService* nfs_of(const facts::NfsServer& server) {
  for (const auto& service : server.services)
    if (service.program == "nfs") return &service;
  return nullptr;
}

Seen state_of(const facts::NfsServer& server) {
  const auto* nfs = nfs_of(server);
  if (nfs != nullptr && nfs->reachable.is(false)) return Seen::gone;
  if (server.in_grace.is(true)) return Seen::in_grace;
  return server.in_grace.is(false) ? Seen::serving : Seen::unclear;
}

std::string words(Seen seen, const facts::NfsServer& server) {
  switch (seen) {
    case Seen::gone: return fmt::format("does not answer ({})", nfs_of(server)->result.value_or("no reason"));
    case Seen::in_grace: return "in its grace period: it grants no new lock";
    case Seen::serving: return "grants locks";
    default: return fmt::format("answers, grace not known ({})", server.in_grace_how.value_or("not asked"));
  }
}

double seconds(io::Duration duration) { return std::chrono::duration<double>(duration).count(); }

}  // namespace

GraceSeen follow_grace(const NfsTarget& target, const AskOptions& options, io::Duration at_most,
                       const std::function<void(double seconds, const std::string& what)>& tell) {
  AskOptions lean = options;
  lean.timeout = std::min<io::Duration>(options.timeout, std::chrono::seconds(1));
  lean.deadline = std::chrono::seconds(2);
  lean.null_calls = 0;
  lean.path_mtu = false;
  lean.tls = false;
  lean.addresses_per_name = 1;
  const auto stopped = [&] { return options.stop != nullptr && options.stop->load(); };
  const io::Time start = io::Clock::now();
  Seen before = Seen::nothing;
  io::Time asked_before = start;
  io::Duration blur = {};         // of begin and end together
  std::optional<io::Time> begin;  // in the middle between the last answer that was otherwise and the first of its kind
  GraceSeen out;
  out.how = "no grace period was seen";
  while (io::Clock::now() - start < at_most && !stopped()) {
    const io::Time asked = io::Clock::now();
    const auto answers = ask_nfs({target}, lean);
    if (answers.empty() || stopped()) break;
    const Seen now = state_of(answers.front().server);
    const io::Time middle = asked_before + (asked - asked_before) / 2;
    if (now != before) tell(seconds(asked - start), words(now, answers.front().server));
    if (now == Seen::in_grace && before != Seen::in_grace) {
      if (before != Seen::nothing) {
        begin = middle;
        blur = (asked - asked_before) / 2;
      }
      out.how = "its end was not seen";
    }
    if (before == Seen::in_grace && now == Seen::serving) {
      if (begin) {
        out.grace_s = static_cast<std::uint32_t>(std::lround(seconds(middle - *begin)));
        blur += (asked - asked_before) / 2;
        out.how = fmt::format("watched from its begin to its end, within {:.1f} s", seconds(blur));
      } else {
        out.how = "it was under way already: its begin was not seen";
      }
      return out;
    }
    // A server that goes away inside its grace period begins another one when it comes back.
    if (now == Seen::gone) begin.reset();
    before = now;
    asked_before = asked;
    while (io::Clock::now() - asked < step && !stopped()) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return out;
}

}  // namespace wire
