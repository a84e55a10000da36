// What kernel, daemons and mount programs said about network storage. Sources: the kernel log (syslog(2), dmesg(1)),
// captured logs and pasted terminal text. Known messages only; every one keeps its line.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "audit/facts/fact.h"
#include "audit/facts/nfs.h"

namespace facts {

struct LogMessage {
  std::string source;           // path inside the root, or the input that was given
  std::uint32_t line = 0;       // first line of the message
  Fact<std::string> at;         // as RFC 3339, without an offset when none is named; as written when it names no year
  Fact<double> boot_s;          // [secs] of the kernel log
  Fact<std::string> host;       // host that the line names
  Fact<std::string> program;    // kernel, tlshd, ganesha.nfsd-1 ...
  std::string kind;             // probes/host/known_messages.h lists them
  Fact<std::string> service;    // nfs, lockd, statd, rpcbind: who did not respond, or is meant
  Fact<std::string> server;     // the other side: name or address, without brackets and without ::ffff:
  Fact<std::uint32_t> port;     // where the message names one
  Fact<std::string> device;     // major:minor, block device, volume or lock host that is meant
  Fact<std::string> path;       // mount point, export or file that is meant
  Fact<std::int64_t> code;      // errno, NLM status or RPC status as printed
  Fact<std::string> code_text;  // the same in words
  Fact<std::uint64_t> count;    // locks lost, ports tried, seconds announced: what the message counts
  Fact<double> took_s;          // from the start of what ended here
  std::string text;             // joined, scrubbed and shortened
  Fact<std::string> detail;     // what it means, in words

  template <class LogMessage = facts::LogMessage>
  static auto fields() {
    return std::array{
        Field{"source", &LogMessage::source, "path inside the root, or the input that was given"},
        Field{"line", &LogMessage::line, "line where the message begins"},
        Field{"at", &LogMessage::at, "date and time of the stamp; as written when it names no year"},
        Field{"boot_s", &LogMessage::boot_s, "stamp of the kernel log, time since boot"},
        Field{"host", &LogMessage::host, "host that the line names"},
        Field{"program", &LogMessage::program, "program that wrote it"},
        Field{"kind", &LogMessage::kind, "what it says, one word of the table of known messages"},
        Field{"service", &LogMessage::service, "nfs, lockd, statd or rpcbind: the service that is meant"},
        Field{"server", &LogMessage::server, "server or client on the other side, as named"},
        Field{"port", &LogMessage::port, "port that the message names"},
        Field{"device", &LogMessage::device, "device or volume that the message names"},
        Field{"path", &LogMessage::path, "mount point, export or file that the message names"},
        Field{"code", &LogMessage::code, "error or status number as printed"},
        Field{"code_text", &LogMessage::code_text, "the number in words"},
        Field{"count", &LogMessage::count, "what the message counts (locks, ports, connections, seconds)"},
        Field{"took_s", &LogMessage::took_s, "time from the beginning of what ended here"},
        Field{"text", &LogMessage::text, "the message, scrubbed and shortened"},
        Field{"detail", &LogMessage::detail, "what it means"}};
  }
  bool operator==(const LogMessage&) const = default;
};

// The "not responding" and "OK" messages of one server in one log. Kernel: net/sunrpc/clnt.c; only a task that said
// "still trying" says "OK" when the reply comes, so "timed out" alone does not tell how it went on.
struct LogServer {
  std::string name;     // as named in the messages
  std::string service;  // nfs, lockd, statd, rpcbind
  std::string source;
  std::uint32_t count = 0;         // "not responding" messages
  std::uint32_t still_trying = 0;  // of these, by requests that wait for ever (hard)
  std::uint32_t timed_out = 0;     // of these, by requests that gave up (soft, or the lease of NFSv4)
  Fact<std::string> not_responding_first;
  Fact<std::string> not_responding_last;
  Fact<std::string> ok_last;
  Fact<std::string> down_since;  // first "not responding" after the last OK
  Fact<double> down_since_boot_s;
  Fact<double> silent_s;  // from there to the last "not responding": at least so long
  Fact<bool> still_down;  // unknown: the last messages are "timed out"
  std::uint32_t first_line = 0;
  std::uint32_t last_line = 0;

  template <class LogServer = facts::LogServer>
  static auto fields() {
    return std::array{
        Field{"name", &LogServer::name, "server as the messages name it"},
        Field{"service", &LogServer::service, "nfs, lockd, statd or rpcbind: the service that is meant"},
        Field{"source", &LogServer::source, "log that says so"},
        Field{"count", &LogServer::count, "\"not responding\" messages"},
        Field{"still_trying", &LogServer::still_trying, "of these, by requests that wait for ever"},
        Field{"timed_out", &LogServer::timed_out, "of these, by requests that gave up"},
        Field{"not_responding_first", &LogServer::not_responding_first, "stamp of the first one"},
        Field{"not_responding_last", &LogServer::not_responding_last, "stamp of the last one"},
        Field{"ok_last", &LogServer::ok_last, "stamp of the last \"OK\"; null when there is none"},
        Field{"down_since", &LogServer::down_since, "stamp of the first \"not responding\" after the last \"OK\""},
        Field{"down_since_boot_s", &LogServer::down_since_boot_s, "the same, time since boot"},
        Field{"silent_s", &LogServer::silent_s, "from there to the last message: silent for at least so long"},
        Field{"still_down", &LogServer::still_down, "no \"OK\" followed; unknown where the requests gave up"},
        Field{"first_line", &LogServer::first_line, "line of the first message"},
        Field{"last_line", &LogServer::last_line, "line of the last message"}};
  }
  bool operator==(const LogServer&) const = default;
};

// A grace period of a server, as its own log tells. Sources: nfs-ganesha, knfsd (fs/nfsd/nfs4state.c).
struct GracePeriod {
  std::string source;
  std::uint32_t line = 0;
  Fact<std::string> host;
  Fact<std::string> start;
  Fact<std::uint32_t> duration_s;
  Fact<std::string> expected_end;
  Fact<std::string> end;      // unknown: the log does not show it
  std::uint32_t refused = 0;  // operations that were refused with GRACE meanwhile
  Fact<std::int64_t> clients_to_reclaim;

  template <class GracePeriod = facts::GracePeriod>
  static auto fields() {
    return std::array{
        Field{"source", &GracePeriod::source, "log that says so"},
        Field{"line", &GracePeriod::line, "line where it begins"},
        Field{"host", &GracePeriod::host, "host that the line names"},
        Field{"start", &GracePeriod::start, "date and time of its begin"},
        Field{"duration_s", &GracePeriod::duration_s, "duration announced"},
        Field{"expected_end", &GracePeriod::expected_end, "begin plus duration"},
        Field{"end", &GracePeriod::end, "date and time of its end, line number where the log has no stamps"},
        Field{"refused", &GracePeriod::refused, "operations seen refused because of it"},
        Field{"clients_to_reclaim", &GracePeriod::clients_to_reclaim, "clients that the server waits for"}};
  }
  bool operator==(const GracePeriod&) const = default;
};

// A mount that somebody tried, as pasted: the command with its options and how it ended.
struct MountAttempt {
  std::string source;
  std::uint32_t line = 0;
  std::string command;  // scrubbed
  Fact<std::string> fs_type;
  Fact<std::string> what;   // server:/export
  Fact<std::string> where;  // mount point
  Fact<std::string> server;
  Fact<std::string> options_text;
  std::vector<std::string> tried;  // option strings that mount.nfs passed to the kernel (-v)
  Fact<AskedOptions> asked;
  Fact<std::string> error;       // the words of the program; absent: none follows
  Fact<std::string> error_kind;  // a kind of log.messages
  Fact<std::uint32_t> error_line;

  template <class MountAttempt = facts::MountAttempt>
  static auto fields() {
    return std::array{Field{"source", &MountAttempt::source, "text that shows it"},
                      Field{"line", &MountAttempt::line, "line of the command"},
                      Field{"command", &MountAttempt::command, "the command, scrubbed"},
                      Field{"fs_type", &MountAttempt::fs_type, "file system type asked for"},
                      Field{"what", &MountAttempt::what, "server:/export asked for"},
                      Field{"where", &MountAttempt::where, "mount point asked for"},
                      Field{"server", &MountAttempt::server, "server asked for, without brackets"},
                      Field{"options_text", &MountAttempt::options_text, "options as written"},
                      Field{"tried", &MountAttempt::tried, "option strings that the mount program passed on"},
                      Field{"asked", &MountAttempt::asked, "options asked for"},
                      Field{"error", &MountAttempt::error, "what the program said; null when nothing follows"},
                      Field{"error_kind", &MountAttempt::error_kind, "the same as a kind of log.messages"},
                      Field{"error_line", &MountAttempt::error_line, "line of the error"}};
  }
  bool operator==(const MountAttempt&) const = default;
};

// An entry of a pasted exports(5), one per client specification.
struct PastedExport {
  std::string source;
  std::uint32_t line = 0;
  std::string path;
  std::string client;
  std::string options_text;
  Fact<std::string> xprtsec;
  Fact<std::string> sec;

  template <class PastedExport = facts::PastedExport>
  static auto fields() {
    return std::array{Field{"source", &PastedExport::source, "text that shows it"},
                      Field{"line", &PastedExport::line, "its line"},
                      Field{"path", &PastedExport::path, "exported directory"},
                      Field{"client", &PastedExport::client, "who may mount it"},
                      Field{"options_text", &PastedExport::options_text, "export options as written"},
                      Field{"xprtsec", &PastedExport::xprtsec, "transport security required; null when not named"},
                      Field{"sec", &PastedExport::sec, "security flavours allowed; null when not named"}};
  }
  bool operator==(const PastedExport&) const = default;
};

struct Log {
  Fact<std::vector<LogMessage>> messages;  // unknown: no log could be read
  Fact<std::vector<LogServer>> servers;
  std::vector<GracePeriod> grace_periods;
  std::vector<MountAttempt> mount_attempts;
  std::vector<PastedExport> exports;

  template <class Log = facts::Log>
  static auto fields() {
    return std::array{Field{"messages", &Log::messages, "known messages of kernel and daemons, in order"},
                      Field{"servers", &Log::servers, "servers that did not respond at times"},
                      Field{"grace_periods", &Log::grace_periods, "grace periods that server logs show"},
                      Field{"mount_attempts", &Log::mount_attempts, "mounts tried in pasted text"},
                      Field{"exports", &Log::exports, "entries of pasted exports(5)"}};
  }
  bool operator==(const Log&) const = default;
};

}  // namespace facts
