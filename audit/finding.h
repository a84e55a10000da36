// What judging brings forth: the report document mountaudit.report/1 (DESIGN.md) as plain structs. The engine
// (audit/eval) fills it, the renderers (audit/report) only read it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "audit/facts/reflect.h"

namespace facts {
struct Facts;
}

namespace audit {

enum class Severity : std::uint8_t { info, notice, warning, error };
const char* severity_word(Severity severity);
std::optional<Severity> severity_from(std::string_view word);

struct Subject {
  std::string kind;  // node, nfs.mount, nfs.client, nfs.server, ... (DESIGN.md)
  std::string id;
  bool operator==(const Subject&) const = default;
  auto operator<=>(const Subject&) const = default;
};

struct Evidence {
  std::string fact;    // path in the document, "nfs.clients[0].transport_count"
  facts::Value value;  // scalar or list
  std::string source;  // path inside the root, host:port, or "derived from ..."
};

struct EvidenceTable {
  std::vector<std::string> columns;
  std::vector<std::vector<facts::Value>> rows;
};

struct Gain {
  std::string text;
  std::optional<double> low;
  std::optional<double> high;
};

struct Remediation {
  std::string platform;
  std::string text;
  std::string effect;
  std::string undo;     // empty when applying the opposite is all there is to it
  std::string snippet;  // S1, S2, ...
};

struct Contested {
  std::string who;
  std::string says;
};

// Texts in one language, placeholders filled.
struct Texts {
  std::string title;
  std::string message;
  std::string why;
  std::string recommendation;
  std::vector<std::string> notes;
};

struct Finding {
  std::string rule;
  Severity severity = Severity::info;
  std::string kind;  // health, tuning, hygiene
  std::vector<std::string> basis;
  Texts text;                    // English: the master
  std::optional<Texts> text_ja;  // where the rule carries it; its empty texts fall back to English
  Subject subject;
  std::vector<Subject> affects;
  std::vector<Evidence> evidence;
  std::optional<EvidenceTable> table;
  std::optional<Gain> gain;
  std::string effect;  // live, remount, relogin, reboot, server, rerun
  struct CouldBe {
    Severity severity = Severity::info;
    std::string needs;  // "needs nfs.servers[0].rtmax_bytes: not asked (passive)"
  };
  std::optional<CouldBe> could_be;
  std::vector<std::string> not_known;  // unless clauses and notes that could not be decided, with the missing fact
  std::vector<Contested> contested;
  std::vector<Remediation> remediation;
  std::vector<std::string> references;
  std::string fingerprint;
};

struct PlanEntry {
  Subject subject;
  std::string platform;
  std::string text;                 // one final text to write
  std::vector<std::string> clears;  // rule ids
};

struct Passed {
  std::string rule;
  std::size_t subjects = 0;
};

struct NotDecided {
  std::string rule;
  Subject subject;
  std::string reason;
};

struct Waived {
  Finding finding;
  std::string reason;
  std::string until;
};

struct Profile {
  std::string name;
  std::string why;
};

// Where the mean time of an operation goes (audit/eval/time.h).
enum class TimePart : std::uint8_t {
  queue,    // in the client, until the request was last put on the wire
  network,  // TCP's round trip
  server,   // from the request on the wire to the reply, less the network
  reply,    // both of them, where TCP's round trip is not known
  client,   // after the reply
};
const char* time_part_word(TimePart part);

struct OpTime {
  std::string op;
  std::uint64_t ops = 0;
  std::optional<std::uint64_t> errors;  // ended with an error status; not counted by kernels before 5.3
  std::uint64_t retrans = 0;            // transmissions beyond the first
  double total_s = 0;                   // time of all of them
  double mean_ms = 0;                   // sum of the parts
  double queue_ms = 0;
  std::optional<double> network_ms;
  double server_ms = 0;  // the whole of the reply where the network's part is not known
  double client_ms = 0;
  TimePart most = TimePart::server;  // the part that takes most
  double most_share = 0;             // its share of mean_ms
};

struct MountTime {
  std::vector<std::string> mounts;  // mount points with the same worst operations and verdicts
  std::vector<OpTime> worst;        // at most three, by total time; counters of these mounts together
};

struct ClientTime {
  Subject subject;
  std::optional<double> window_s;    // between two samples; else since the mount
  std::optional<OpTime> all;         // of all operations; none where nothing was counted
  std::string network_how;           // what told TCP's round trip
  std::vector<std::string> invalid;  // operations whose time counters wrapped: left out
  std::optional<std::uint64_t> connections;
  std::optional<double> balance;             // requests of the busiest connection over the mean of all
  std::string slots_kind;                    // session (NFSv4.1 and later) or connection
  std::optional<std::uint64_t> slots_peak;   // most in use at once: of all connections, or of the busiest one
  bool slots_exact = true;                   // false: an upper bound, of several connections that share a session
  std::optional<std::uint64_t> slots_limit;  // of the session, or of one connection
  std::vector<MountTime> mounts;
  // Requests had to wait for a slot.
  bool slots_full() const { return slots_peak && slots_limit && *slots_peak >= *slots_limit; }
};

// An option as it was asked for, as the kernel runs it, and what the server allows (audit/eval/side_by_side.h).
struct OptionSides {
  std::string option;
  facts::Value asked;      // absent: what could be read does not name it
  std::string asked_from;  // kind of place that names it
  facts::Value effective;
  facts::Value allowed;  // absent: the server has no say
  bool differs = false;  // the kernel runs something else than was asked for
  bool more = false;     // the server allows more than what runs
};

struct SideBySide {
  Subject subject;                  // nfs.client, or nfs.server where nothing is mounted from it
  std::vector<std::string> mounts;  // mount points that are alike in all of it
  std::string origin;               // kind of place that asks for them; empty: not known
  std::string path;                 // of the first
  std::vector<OptionSides> rows;
};

// Whether VMs can move to another node while they run, as far as one volume decides.
struct LiveMigration {
  Subject volume;       // volume (PV name), or nfs.mount where no PV is known
  std::string vm;       // namespace/name; empty when not known
  std::string verdict;  // yes, no, unknown
  std::string why;      // what it rests on, or what stands against it, or what is missing
  std::string why_ja;
};

struct Report {
  std::string tool_version;
  std::vector<Profile> profiles;
  std::vector<Finding> findings;  // worst first, then health before tuning before hygiene, then rule id, then subject
  std::vector<PlanEntry> plan;
  std::vector<Passed> passed;
  std::vector<NotDecided> unknown;
  std::size_t not_applicable = 0;
  std::vector<ClientTime> time;
  std::vector<SideBySide> side_by_side;
  std::vector<Waived> waived;
  std::vector<LiveMigration> live_migration;  // of the volumes that carry disks of VMs
  double duration_s = 0;                      // of the whole run; given by the caller, never in JSON goldens
  const facts::Facts* facts = nullptr;        // the document judged; embedded in the JSON report, node line of the text

  std::size_t count(Severity severity) const;
};

}  // namespace audit
