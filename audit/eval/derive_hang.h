// Whether a mount hangs, judged without touching it: from the sockets and counters of its client, the kernel log, the
// tasks that wait, and what the server answered. One judgement per client (mounts that share transports hang together).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "audit/eval/derive.h"

namespace audit {

// A thing seen that speaks for a hang, or (in `answers`) for a client whose server answers.
struct HangSign {
  enum class Kind : std::uint8_t { touch, socket, counters, server, log, task } kind = Kind::socket;
  // Certain: enough by itself. Likely: alone a suspicion. Two of different kinds are enough together.
  enum class Weight : std::uint8_t { supporting, likely, certain } weight = Weight::supporting;
  std::string text, text_ja;
};

struct Hang {
  enum class State : std::uint8_t {
    unknown,    // nothing that was read tells
    quiet,      // nothing speaks for a hang, and enough was read to see one
    answers,    // replies were seen
    suspected,  // one sign that is not certain, or some of several connections
    hangs,
  } state = State::unknown;
  std::string why;  // of unknown: "needs PATH: reason"
  std::vector<HangSign> signs;
  std::vector<HangSign> answers;
  std::optional<std::string> since;  // RFC 3339, or "35 s after boot"
  std::string since_how, since_how_ja;
  std::optional<double> silent_s;    // for how long there was no answer, at least
  std::vector<std::uint32_t> tasks;  // in kernel.tasks: those that wait for this client
  std::uint32_t unclear_tasks = 0;   // tasks that wait for one of several servers that hang, this one perhaps
  bool planned = false;              // a planned failover of its server is declared for the time of the capture
};

// One entry per nfs.clients.
std::vector<Hang> judge_hangs(const Context& context);

// Adds hang.* and waiting_tasks to clients, hang_state to servers, and the scope kernel.tasks.
void add_hang_scopes(std::vector<Scope>& all);

// Whether a child may touch a mount of this client: nothing speaks for a hang.
bool looks_healthy(const Hang& hang);

}  // namespace audit
