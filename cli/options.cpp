#include "cli/options.h"

#include <array>

#include "audit/eval/rules.h"
#include "audit/report/formats.h"
#include "probes/io/host.h"
#include "probes/load/plan.h"

namespace cli {

namespace {

std::vector<std::string> format_names() {
  std::vector<std::string> names;
  for (const auto& format : audit::formats()) names.emplace_back(format.name);
  return names;
}

std::vector<std::string> profile_names() {
  std::vector<std::string> names;
  for (const auto& profile : audit::known_profiles()) names.emplace_back(profile.name);
  return names;
}

std::vector<std::string> input_names() {
  std::vector<std::string> names;
  for (const auto& kind : probes::input_kinds()) names.emplace_back(kind.name);
  return names;
}

std::vector<std::string> compare_formats() { return {"text", "json"}; }
std::vector<std::string> media() { return {"flash", "disk", "cloud-ssd"}; }
std::vector<std::string> levels() { return {"error", "warning", "notice", "never"}; }
std::vector<std::string> languages() { return {"en", "ja"}; }

std::vector<std::string> preset_names() {
  std::vector<std::string> names;
  for (const auto& preset : load::presets()) names.emplace_back(preset.name);
  return names;
}
std::vector<std::string> pattern_names() {
  return {"read", "randread", "write", "randwrite", "rw", "randrw", "null", "getattr", "tur", "nop"};
}
std::vector<std::string> nfs_versions() { return {"3", "4.0", "4.1", "4.2"}; }
std::vector<std::string> verifications() { return {"kernel-vs-wire"}; }

constexpr std::array table = {
    Option{"--root", "", "DIR", reading,
           "read this root instead of /: /host in a debug pod, a tree of collect --raw, an unpacked sos report",
           &Settings::root, Offer::directory},
    Option{"--from", "", "FILE", reading, "replay a saved facts or report document (- is standard input)",
           &Settings::from, Offer::file},
    Option{"--input", "", "KIND=FILE", reading, "look at a pasted or attached text alone (- is standard input)",
           &Settings::input, Offer::input, input_names},
    Option{"--declare", "", "FILE", reading,
           "Kubernetes objects, which ask for mounts too: PersistentVolume, PersistentVolumeClaim, StorageClass, "
           "TridentBackendConfig, as YAML or JSON, alone or in a List; or planned failovers, as "
           "schema: mountaudit.declare/1 (- is standard input)",
           &Settings::declare, Offer::file, nullptr, "oc get pv,sc -o yaml | mountaudit audit --root tree --declare -",
           "what the cluster asks for beside what the node runs"},
    Option{"--since", "", "FILE", reading, "an earlier document of the same node: gives rates", &Settings::since,
           Offer::file},
    Option{"--sample", "", "TIME", reading,
           "gap between the two samples of a live run, 10s or more for rates (default: until the servers have "
           "answered, 250ms at least)",
           &Settings::sample},
    Option{"--passive", "", "", reading, "send no packet and look up no name", &Settings::passive},
    Option{"--ask-servers", "", "", reading, "ask the servers also where the facts come from a copy of a node",
           &Settings::ask_servers},
    Option{"--timeout", "", "TIME", asking, "longest wait for one answer of a server (default 2s)", &Settings::timeout},
    Option{"--deadline", "", "TIME", asking, "longest time for all questions to servers together (default 10s)",
           &Settings::deadline},
    Option{"--login", "", "", node_logins,
           "log in to the iSCSI targets of the node's sessions as well: portals, parameters, LUNs, latency. Each login "
           "takes a session slot of the array for a moment; without it portals are only connected to",
           &Settings::login},
    Option{
        "--initiator", "", "IQN", logging_in,
        "log in to iSCSI targets by this name, which the target may know, or by that of this node: write node "
        "(default iqn.2001-01.invalid.mountaudit:probe). The session id is always one of its own, so that no session "
        "of the node is disturbed",
        &Settings::initiator},
    Option{"--chap-user", "", "NAME", logging_in, "user of CHAP, where no URL names it", &Settings::chap_user},
    Option{
        "--chap-secret-file", "", "FILE", logging_in,
        "file with the secret of CHAP in its first line and that of the target, for mutual CHAP, in its second; else "
        "MOUNTAUDIT_CHAP_SECRET, else a prompt. Never on the command line",
        &Settings::chap_secret_file, Offer::file, nullptr,
        "mountaudit probe --chap-secret-file chap.txt iscsi://alice@192.0.2.20", "CHAP with a secret from a file"},
    Option{"--lock-test", "", "", probing,
           "take and release one lock on a file made for it; needs an export in the URL and --allow-write",
           &Settings::lock_test},
    Option{"--allow-write", "", "DIR", probing,
           "consent: the directory of the export where --lock-test may make its file and remove it (. is the top)",
           &Settings::allow_write},
    Option{"--read-file", "", "PATH", probing,
           "read the start of this file below the export, with one READ of the server's size", &Settings::read_file},
    Option{"--follow-grace", "", "TIME", probing,
           "first watch the server for so long through a restart or takeover: tells the length of its grace period",
           &Settings::follow_grace},
    Option{"--allow-load", "", "", loading,
           "consent: read the target, or ask it more than one thing at a time. Others who use it may feel that",
           &Settings::allow_load},
    Option{"--allow-write", "", "PLACE", loading,
           "consent: the directory where a file may be made, loaded and removed, or the device or LUN that may be "
           "overwritten; the same as the target. Nothing that was there before is written to",
           &Settings::allow_writes},
    Option{"--preset", "", "NAME", loading, "load of an article: pattern, sizes, depths, rate, times and passes",
           &Settings::preset, Offer::words, preset_names},
    Option{
        "--pattern", "", "NAME", loading,
        "read, randread, write, randwrite, rw or randrw as fio names them, null or getattr (NFS), tur or nop (iSCSI). "
        "Default randread; without consent getattr, null or tur",
        &Settings::pattern, Offer::words, pattern_names},
    Option{"--mix", "", "R:W", loading, "reads and writes in percent: 80:20", &Settings::mix},
    Option{"--block", "", "SIZES", loading, "sizes of a request: 4k (default), 4k,64k or 4k..256k", &Settings::block},
    Option{"--depth", "", "LIST", loading, "requests under way at once: 1..128 (default) or 1,32", &Settings::depth},
    Option{
        "--connections", "", "LIST", loading,
        "TCP connections to an NFS server, or sessions with an iSCSI target: 1 (default), or 1,8 to see what nconnect "
        "would bring",
        &Settings::connections},
    Option{"--rate", "", "N", loading,
           "open loop: so many requests a second at fixed times, latency from the intended start; --depth is the most "
           "under way (default 128)",
           &Settings::rate},
    Option{"--passes", "", "N", loading, "how often each step is measured (default 3)", &Settings::passes},
    Option{"--seconds", "", "TIME", loading, "of one pass (default 2s)", &Settings::seconds},
    Option{"--ramp", "", "TIME", loading, "load before the counting begins (default 500ms)", &Settings::ramp},
    Option{"--size", "", "SIZE", loading, "of the file that is made (default 256M)", &Settings::size},
    Option{"--working-set", "", "SIZE", loading, "only the first so many bytes of the target", &Settings::working_set},
    Option{"--max-iops", "", "N", loading, "never more requests a second than this", &Settings::max_iops},
    Option{"--max-bytes", "", "SIZE", loading, "end when so much was moved", &Settings::max_bytes},
    Option{"--guard-p99", "", "TIME", loading, "end when the p99 of two seconds in a row is above this",
           &Settings::guard_p99},
    Option{"--guard-errors", "", "N", loading, "end after more than so many errors in a pass", &Settings::guard_errors},
    Option{"--timeout", "", "TIME", loading, "without an answer for so long the target counts as gone (default 10s)",
           &Settings::timeout},
    Option{"--nfs-version", "", "V", loading, "3, 4.0, 4.1 or 4.2 (default the highest, as the kernel would)",
           &Settings::nfs_version, Offer::words, nfs_versions},
    Option{"--seed", "", "N", loading, "of the order of blocks, to repeat a run", &Settings::seed},
    Option{
        "--start-at", "", "TIME", loading,
        "begin at 14:30, 14:30:00 or @SECONDS since 1970, each pass on a grid from there: several machines together, "
        "then added up by compare",
        &Settings::start_at},
    Option{"--verify", "", "WHAT", loading,
           "kernel-vs-wire: the same file or device as a path and as a URL; says which share of the latency the client "
           "adds",
           &Settings::verify, Offer::words, verifications},
    Option{"--raw", "", "DIR", collecting, "write the texts that were read to a new directory, for --root",
           &Settings::raw, Offer::directory},
    Option{"--profile", "", "NAME", judging, "judge for this use; without it the use is found", &Settings::profile,
           Offer::words, profile_names},
    Option{"--now", "", "", judging, "health rules only: what is broken now", &Settings::now},
    Option{"--only", "", "GLOB", judging, "only rules whose id matches: 'NFS-NCONNECT-*'", &Settings::only},
    Option{"--skip", "", "GLOB", judging, "leave out rules whose id matches", &Settings::skip},
    Option{"--waive", "", "FILE", judging, "findings accepted for a time: YAML list of {rule, subject, reason, until}",
           &Settings::waive, Offer::file},
    Option{"--rules", "", "DIR", rule_files, "add rules of your own; equal ids replace the ones built in",
           &Settings::rules, Offer::directory},
    Option{"--format", "", "NAME", reporting, "what goes to standard output (default text)", &Settings::format,
           Offer::words, format_names},
    Option{"--report", "", "NAME=FILE", reporting,
           "write a report in this format to a file as well (- is standard output)", &Settings::report,
           Offer::format_file, format_names},
    Option{"--fail-on", "", "LEVEL", reporting,
           "exit 1 from this severity on: error (default), warning, notice; or never", &Settings::fail_on, Offer::words,
           levels},
    Option{"--format", "", "NAME", comparing, "text (default) or json", &Settings::format, Offer::words,
           compare_formats},
    Option{"--sum", "", "", comparing,
           "add up the runs of equal label and load: the files are those of several nodes that ran at the same time",
           &Settings::sum},
    Option{"--wanted", "", "IOPS", comparing, "say which curve gives this rate, and at which latency",
           &Settings::wanted},
    Option{"--guaranteed", "", "IOPS", comparing, "say how the most that was measured stands to what was promised",
           &Settings::guaranteed},
    Option{"--cache", "", "SIZE", comparing, "cache of the storage (512g): names runs whose range fits into it",
           &Settings::cache},
    Option{"--media", "", "NAME", comparing, "what the storage is made of: tells which latency is long",
           &Settings::media, Offer::words, media},
    Option{"--depth", "", "N", comparing,
           "requests of one client under way at once in production: held against the marks", &Settings::depth_in_use},
    Option{"--digits", "", "N", comparing, "decimals of the ratios between curves, 0 to 4 (default 2), rounded half-up",
           &Settings::digits},
    Option{"--color", "", "", reporting, "colours, also where standard output is no terminal", &Settings::color},
    Option{"--redact", "", "", hiding,
           "stand-ins for addresses, host names, exports, paths, names of pods, VMs and volumes, IQNs, serial numbers "
           "and identities, in every output; the same input has the same stand-in within the run",
           &Settings::redact, Offer::nothing, nullptr, "mountaudit collect --redact --raw tree",
           "to hand out: whose node it is cannot be seen, what is wrong with it can"},
    Option{"--verbose", "-v", "", reporting, "evidence, fixes and references of every finding", &Settings::verbose},
    Option{"--lang", "", "LANG", language, "language of text for people: en (default) or ja", &Settings::lang,
           Offer::words, languages},
    Option{"--quiet", "-q", "", talking, "no progress and no notes on standard error", &Settings::quiet},
};

constexpr std::array variables = {
    EnvironmentVariable{"NO_COLOR", "when set and not empty: no colours"},
    EnvironmentVariable{"TERM", "dumb: no colours and no progress line"},
    EnvironmentVariable{"MOUNTAUDIT_RULES", "a directory of rules, as with --rules; read before those"},
    EnvironmentVariable{"MOUNTAUDIT_LANG", "language where --lang is not given"},
    EnvironmentVariable{"MOUNTAUDIT_NODE", "name of the node, where the host name is that of a pod"},
    EnvironmentVariable{"MOUNTAUDIT_CHAP_SECRET",
                        "secret of CHAP for iSCSI targets, where --chap-secret-file is not given"},
    EnvironmentVariable{"MOUNTAUDIT_CHAP_MUTUAL_SECRET", "the target's secret beside it: mutual CHAP"},
    EnvironmentVariable{"SOURCE_DATE_EPOCH",
                        "seconds since 1970: taken as today by waivers, and as the date of the manual"},
};

constexpr std::array codes = {
    ExitCode{"0", "nothing at or above --fail-on"},
    ExitCode{"1", "findings at or above --fail-on; rules lint and rules test: a failure"},
    ExitCode{"2", "the job could not be done: wrong usage, unreadable input, output that cannot be written"},
    ExitCode{"130, 143", "ended by SIGINT or SIGTERM; the report of what was read is written"},
};

}  // namespace

std::span<const Option> options() { return table; }
bool repeats(const Option& option) {
  return std::holds_alternative<std::vector<std::string> Settings::*>(option.member);
}
std::span<const EnvironmentVariable> environment() { return variables; }
std::span<const ExitCode> exit_codes() { return codes; }

}  // namespace cli
