#include "probes/host/log.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>

#include "audit/base/text.h"
#include "probes/host/address.h"
#include "probes/host/known_messages.h"
#include "probes/host/lines.h"
#include "probes/host/log_line.h"
#include "probes/host/nfs_options.h"
#include "probes/host/numbers_in_words.h"
#include "probes/host/pasted_text.h"
#include "probes/host/scrub.h"

namespace probes {

namespace {

using facts::LogMessage;
using Text = facts::Fact<std::string>;

constexpr std::size_t kept_of_a_kind = 50;
constexpr std::size_t kept_in_all = 5000;
constexpr std::size_t most_joined_bytes = 8192;  // of a message with its continuation lines
constexpr std::size_t kept_records = 1000;       // mounts tried, exports, grace periods, servers

std::optional<std::int64_t> integer(std::string_view text) {
  if (text.starts_with("0x")) return base::number<std::int64_t>(text.substr(2), 16);
  return base::number<std::int64_t>(text);
}

// Brackets, ::ffff: and punctuation that belongs to the sentence taken off.
std::string peer_name(std::string_view text) {
  while (!text.empty() && (text.back() == '.' || text.back() == ',' || text.back() == ':' || text.back() == '!'))
    text.remove_suffix(1);
  if (text.starts_with('[') && text.ends_with(']') && text.size() > 2) text = text.substr(1, text.size() - 2);
  if (text.starts_with("::ffff:") && is_address(text.substr(7))) text.remove_prefix(7);
  return std::string(text);
}

// The kind that an errno of mount(2) means. EINVAL and the rest stay "mount-error".
const char* kind_of_errno(int number) {
  switch (number) {
    case 1:
    case 13: return "access-denied";
    case 93: return "version-refused";
    case 98: return "address-in-use";
    case 101:
    case 113: return "server-unreachable";
    case 110: return "connect-timed-out";
    case 111: return "connect-refused";
    case 116: return "stale-handle";
    default: return "mount-error";
  }
}

bool ends_a_mount(std::string_view kind) {
  static constexpr std::string_view kinds[] = {
      "access-denied",     "address-in-use",     "bad-option",     "bad-source",          "connect-refused",
      "connect-timed-out", "mount-busy",         "mount-error",    "mount-point-missing", "mount-refused",
      "name-not-resolved", "no-free-local-port", "portmap-failed", "scope-id-rejected",   "server-unreachable",
      "stale-handle",      "statd-missing",      "version-refused"};
  return std::find(std::begin(kinds), std::end(kinds), kind) != std::end(kinds);
}

// Between the functions of a trace in the kernel log.
bool is_trace_decoration(std::string_view text) {
  for (const std::string_view head :
       {"Call Trace:", "<TASK>", "</TASK>", "Not tainted", "Tainted:", "\"echo 0 >",
        "task:", "Workqueue:", "RIP: ", "RSP: ", "RAX: ", "RDX: ", "RBP: ", "R10: ", "R13: ", "=="})
    if (text.starts_with(head)) return true;
  return false;
}

// The first path in quotes, else what stands before ": Stale".
Text stale_path(std::string_view text) {
  const auto open = text.find('\'');
  const auto close = open == std::string_view::npos ? open : text.find('\'', open + 1);
  if (close != std::string_view::npos && close > open + 1) return std::string(text.substr(open + 1, close - open - 1));
  const auto end = text.find(": Stale");
  if (end == std::string_view::npos) return {};
  const auto blank = text.rfind(' ', end);
  const auto word = text.substr(blank == std::string_view::npos ? 0 : blank + 1,
                                end - (blank == std::string_view::npos ? 0 : blank + 1));
  return word.starts_with('/') ? Text(std::string(word)) : Text{};
}

// addr= of an option string with a zone on an address that is not link-local.
Text rejected_scope(std::string_view options) {
  for (const auto option : split_options(options)) {
    if (!option.starts_with("addr=")) continue;
    const auto address = parse_address(option.substr(5));
    if (!address || address->zone.empty()) continue;
    const bool link_local = address->bytes[0] == 0xfe && (address->bytes[1] & 0xc0) == 0x80;
    if (!link_local) return std::string(option.substr(5));
  }
  return {};
}

class LogReader {
 public:
  LogReader(std::string_view text, const std::string& source) : lines_(text, out_.notes), source_(source) {}

  Parsed<LogText> read() {
    std::string_view line;
    while (lines_.next(line)) take_line(line);
    flush();
    close_stack();
    finish();
    return std::move(out_);
  }

 private:
  // A message whose continuation lines are still to come.
  struct Pending {
    std::size_t line = 0;
    LogLine head;
    std::string text;
  };

  void take_line(std::string_view line) {
    if (base::trim(line).empty()) return flush();
    LogLine head = parse_log_line(line);
    const bool indented = line.front() == ' ' || line.front() == '\t';
    if (indented && !head.stamped() && pending_ && !stands_alone(head)) {
      if (pending_->text.size() + head.message.size() < most_joined_bytes) {
        pending_->text += ' ';
        pending_->text += head.message;
      }
      return;
    }
    flush();
    pending_ = Pending{};
    pending_->line = lines_.number();
    pending_->text = std::string(head.message.substr(0, most_joined_bytes));
    pending_->head = std::move(head);
    pending_->head.message = {};
  }

  bool stands_alone(const LogLine& head) {
    Captures captures;
    return stack_function(head.message).has_value() || head.message.starts_with("Mounting ") ||
           find_known_message(head.message, head.program.value_or(""), captures) != nullptr;
  }

  void flush() {
    if (!pending_) return;
    const Pending pending = std::move(*pending_);
    pending_.reset();
    if (take_frame(pending)) return;
    if (take_command(pending) || take_tried(pending) || take_call(pending)) return;
    take_message(pending);
    take_exports(pending);
    if (!out_.facts.nfsroot.has_value() && pending.text.find("nfsroot=") != std::string::npos)
      out_.facts.nfsroot = parse_nfsroot(pending.text, source_);
  }

  // --- kernel stacks -------------------------------------------------------------------------------------------------

  bool take_frame(const Pending& pending) {
    if (const auto function = stack_function(pending.text)) {
      if (frames_.empty()) frames_line_ = pending.line;
      if (frames_.size() < 64) frames_.emplace_back(*function);
      return true;
    }
    if (is_trace_decoration(pending.text)) return true;
    close_stack();
    return false;
  }

  void close_stack() {
    if (frames_.empty()) {
      return;
    }
    const auto has = [this](std::string_view word) {
      return std::any_of(frames_.begin(), frames_.end(),
                         [&](const std::string& f) { return f.find(word) != std::string::npos; });
    };
    const char* kind = nullptr;
    const char* detail = nullptr;
    if (has("nlmclnt_")) {
      kind = "waits-in-nlm";
      detail = "a lock request waits for the lock manager (NLM, program 100021) of the server";
    } else if (has("rpc_wait_bit") || has("rpc_execute") || has("rpcauth_") || has("xprt_")) {
      kind = "waits-in-rpc";
      detail = "a request waits for the reply of an RPC server";
    } else if (has("nfs4_") || has("nfs3_") || has("nfs_")) {
      kind = "waits-in-nfs";
      detail = "waits within the NFS client";
    }
    const bool enough = frames_.size() >= 3;
    if (hung_task_) {
      // The watchdog's message stays only where the trace behind it lies in NFS or RPC.
      auto& messages = out_.facts.messages;
      if (kind != nullptr && !messages.empty()) {
        messages.back().detail = detail;
      } else if (enough && !messages.empty()) {
        messages.pop_back();
      }
    } else if (kind != nullptr && enough) {
      LogMessage message;
      message.kind = kind;
      message.detail = detail;
      Pending at;
      at.line = frames_line_;
      at.text = base::join(frames_, " ");
      add(at, std::move(message));
    }
    frames_.clear();
    hung_task_ = false;
  }

  // --- commands ------------------------------------------------------------------------------------------------------

  bool take_command(const Pending& pending) {
    if (pending.head.stamped() && pending.text.find("Mounting arguments: ") == std::string::npos) return false;
    if (pending.text.starts_with("Mounting command: ")) return true;
    std::optional<facts::MountAttempt> attempt;
    if (const auto at = pending.text.find("Mounting arguments: "); at != std::string::npos) {
      attempt = parse_mount_arguments(std::string_view(pending.text).substr(at + 20));
    } else {
      attempt = parse_mount_command(pending.text);
    }
    if (attempt) {
      if (out_.facts.mount_attempts.size() >= kept_records) return true;
      attempt->source = source_;
      attempt->line = static_cast<std::uint32_t>(pending.line);
      attempt->asked->origin = "command";
      attempt->asked->path = fmt::format("{}:{}", source_, pending.line);
      if (attempt->asked->vers.has_value()) attempt->asked->vers_origin = "command";
      out_.facts.mount_attempts.push_back(std::move(*attempt));
      in_attempt_ = true;
      return true;
    }
    bool prompted = false;
    after_prompt(pending.text, prompted);
    if (prompted) in_attempt_ = false;  // another command: what follows is its answer
    return false;
  }

  // "mount.nfs: trying text-based options '...'"
  bool take_tried(const Pending& pending) {
    static constexpr std::string_view mark = "trying text-based options '";
    const auto at = pending.text.find(mark);
    if (at == std::string::npos) return false;
    std::string_view options = std::string_view(pending.text).substr(at + mark.size());
    options = options.substr(0, options.rfind('\''));
    last_tried_ = std::string(options);
    if (in_attempt_ && out_.facts.mount_attempts.back().tried.size() < 16)
      out_.facts.mount_attempts.back().tried.push_back(scrub_short(options, 1000));
    return true;
  }

  // --- messages ------------------------------------------------------------------------------------------------------

  // lockd's own tracing: when a call to the lock manager began. "lockd: call procedure 2 on 192.0.2.212"
  bool take_call(const Pending& pending) {
    static constexpr std::string_view mark = "lockd: call procedure ";
    if (!pending.text.starts_with(mark)) return false;
    const auto words = base::fields(std::string_view(pending.text).substr(mark.size()));
    if (words.size() != 3 || words[1] != "on") return false;
    call_ = Call{peer_name(words[2]), seconds(pending.head)};
    return true;
  }

  void take_message(const Pending& pending) {
    Captures captures;
    const std::string clean = squeeze(pending.text);
    const std::string program = pending.head.program.value_or("");
    LogMessage message;
    const KnownMessage* row = find_known_message(clean, program, captures);
    if (row == nullptr) {
      if (!take_mount_error(clean, message)) return take_image_path(clean);
    } else {
      message.kind = row->kind;
      if (row->detail != nullptr) message.detail = row->detail;
      fill(message, *row, captures, clean);
      if (message.kind.empty()) return;
    }
    if (message.kind == "mount-error" && message.code.is(22)) {
      if (const Text scope = rejected_scope(last_tried_); scope.has_value()) {
        message.kind = "scope-id-rejected";
        message.server = *scope;
        message.detail =
            "a zone on an address that is not link-local, which the kernel refuses: the name service added it, ask for "
            "the "
            "address without it";
      }
    }
    if (message.kind == "bad-option" && pending.line <= blamed_line_ + 3 && blamed_line_ != 0) {
      message.kind = "bad-option-misleading";
      message.detail = "follows from the error before it: the options are fine";
    }
    if (message.kind == "scope-id-rejected" || message.kind == "statd-missing") blamed_line_ = pending.line;
    note_attempt(message, clean, pending.line);
    note_server(message, pending);
    note_grace(message, pending);
    hung_task_ = message.kind == "hung-task";
    add(pending, std::move(message));
  }

  static std::string squeeze(std::string_view text) {
    std::string out;
    for (const char c : text) {
      if (c != ' ' && c != '\t') {
        out += c;
      } else if (!out.empty() && out.back() != ' ') {
        out += ' ';
      }
    }
    return out;
  }

  void fill(LogMessage& message, const KnownMessage& row, const Captures& captures, std::string_view text) {
    if (!captures[Slot::service].empty()) {
      message.service = std::string(captures[Slot::service]);
      if (message.service.is("NFS") || message.service.is("nfs4")) message.service = "nfs";
    }
    if (!captures[Slot::server].empty()) message.server = peer_name(captures[Slot::server]);
    if (!captures[Slot::device].empty()) message.device = std::string(captures[Slot::device]);
    if (!captures[Slot::path].empty()) message.path = scrub(captures[Slot::path]);
    if (!captures[Slot::source].empty()) {
      const auto source = split_source(captures[Slot::source]);
      if (!source.server.empty()) message.server = peer_name(source.server);
      if (!source.path.empty()) message.path = scrub(source.path);
    }
    if (const auto port = base::number<std::uint32_t>(captures[Slot::port])) message.port = *port;
    if (const auto count = base::number<std::uint64_t>(captures[Slot::count])) message.count = *count;
    if (const auto code = integer(captures[Slot::code])) {
      message.code = *code;
      std::optional<std::string> words;
      if (row.code == CodeKind::errno_number) words = errno_words(*code);
      if (row.code == CodeKind::nlm_status) words = nlm_words(*code);
      if (row.code == CodeKind::rpc_status) words = rpc_words(*code);
      if (row.code == CodeKind::iscsi_error) words = iscsi_error_words(*code);
      if (words) message.code_text = *words;
    }
    finish_kind(message, captures, text);
  }

  // What single kinds need beyond their pattern.
  void finish_kind(LogMessage& message, const Captures& captures, std::string_view text) {
    if (message.kind == "nlm-denied" || message.kind == "nlm-call-failed") {
      if (message.code.is(0)) message.kind.clear();  // a call that went well
      if (call_) message.server = call_->server;
    } else if (message.kind == "stale-handle") {
      message.path = stale_path(text);
    } else if (message.kind == "mount-error") {
      if (const auto number = errno_of(base::trim(captures[Slot::any]))) {
        message.kind = kind_of_errno(*number);
        message.code = *number;
        if (const auto words = errno_words(*number)) message.code_text = *words;
      }
    } else if (message.kind == "no-free-local-port") {
      const auto ends = base::split(captures[Slot::any], ',');
      if (ends.size() != 2) return;
      const auto low = base::number<std::uint32_t>(base::trim(ends[0]));
      const auto high = base::number<std::uint32_t>(base::trim(ends[1]));
      if (low && high && *high >= *low) message.count = std::uint64_t{*high} - *low + 1;
    }
  }

  // "mount.nfs: Connection timed out": the bare words of an errno.
  static bool take_mount_error(std::string_view text, LogMessage& message) {
    const auto at = text.find("mount.nfs");
    if (at == std::string_view::npos) return false;
    text.remove_prefix(at + 9);
    if (text.starts_with('4')) text.remove_prefix(1);
    if (!text.starts_with(": ")) return false;
    const auto number = errno_of(base::trim(text.substr(2)));
    if (!number) return false;
    message.kind = kind_of_errno(*number);
    message.code = *number;
    if (const auto words = errno_words(*number)) message.code_text = *words;
    return true;
  }

  // qemu names the image on the line behind its message.
  void take_image_path(std::string_view text) {
    static constexpr std::string_view mark = "Is another process using the image [";
    const auto at = text.find(mark);
    auto& messages = out_.facts.messages;
    if (at == std::string_view::npos || messages.empty() || messages.back().kind != "image-lock-failed") return;
    const auto close = text.find(']', at);
    if (close != std::string_view::npos)
      messages.back().path = scrub(text.substr(at + mark.size(), close - at - mark.size()));
  }

  void take_exports(const Pending& pending) {
    if (pending.head.stamped() || pending.head.program.has_value()) return;
    if (!pending.text.starts_with('/') && !pending.text.starts_with('"')) return;
    for (auto& entry : parse_export_line(pending.text)) {
      if (out_.facts.exports.size() >= kept_records) return;
      entry.source = source_;
      entry.line = static_cast<std::uint32_t>(pending.line);
      out_.facts.exports.push_back(std::move(entry));
    }
  }

  // --- what follows from messages ------------------------------------------------------------------------------------

  void note_attempt(const LogMessage& message, const std::string& text, std::size_t line) {
    if (!in_attempt_ || !ends_a_mount(message.kind)) return;
    auto& attempt = out_.facts.mount_attempts.back();
    // The first cause counts; only a bare mount(2) error gives way to what is said more exactly behind it.
    if (attempt.error.has_value() && !attempt.error_kind.is("mount-error")) return;
    attempt.error = scrub_short(text);
    attempt.error_kind = message.kind;
    attempt.error_line = static_cast<std::uint32_t>(line);
  }

  static std::optional<double> seconds(const LogLine& head) {
    if (head.boot_s.has_value()) return *head.boot_s;
    return head.wall_s;
  }
  static std::string stamp(const LogLine& head, std::size_t line) {
    if (head.at.has_value()) return *head.at;
    if (head.boot_s.has_value()) return fmt::format("{:.6f} s after boot", *head.boot_s);
    return fmt::format("line {}", line);
  }

  struct ServerState {
    std::size_t index = 0;
    std::optional<double> since_s;  // first "not responding" after the last OK
    bool down = false;
    bool waits = false;  // since then somebody said "still trying"
  };

  void note_server(const LogMessage& message, const Pending& pending) {
    const bool trying = message.kind == "server-not-responding";
    const bool timed_out = message.kind == "server-timed-out";
    const bool ok = message.kind == "server-ok";
    if ((!trying && !timed_out && !ok) || !message.server.has_value()) return;
    auto& servers = out_.facts.servers;
    const std::string key = message.service.value_or("") + ' ' + *message.server;
    auto found = states_.find(key);
    if (found == states_.end()) {
      if (servers.size() >= kept_records) return;
      found = states_.emplace(key, ServerState{servers.size(), {}, false, false}).first;
      facts::LogServer server;
      server.name = *message.server;
      server.service = message.service.value_or("");
      server.source = source_;
      server.ok_last = Text::absent();
      server.first_line = static_cast<std::uint32_t>(pending.line);
      servers.push_back(std::move(server));
    }
    ServerState& state = found->second;
    facts::LogServer& server = servers[state.index];
    const std::string at = stamp(pending.head, pending.line);
    server.last_line = static_cast<std::uint32_t>(pending.line);
    if (ok) {
      server.ok_last = at;
      server.down_since = Text::absent();
      server.down_since_boot_s = facts::Fact<double>::absent();
      server.silent_s = facts::Fact<double>::absent();
      server.still_down = false;
      state = ServerState{state.index, {}, false, false};
      return;
    }
    ++server.count;
    ++(trying ? server.still_trying : server.timed_out);
    if (!server.not_responding_first.has_value()) server.not_responding_first = at;
    server.not_responding_last = at;
    const auto now = seconds(pending.head);
    if (!state.down) {
      state.down = true;
      state.since_s = now;
      server.down_since = at;
      server.down_since_boot_s = pending.head.boot_s;
    }
    if (trying) state.waits = true;
    server.still_down = state.waits ? facts::Fact<bool>(true) : facts::Fact<bool>{};
    server.silent_s = {};
    if (now && state.since_s) {
      double silent = *now - *state.since_s;
      // A stamp without a year steps back at New Year; they are counted in a leap year.
      if (silent < 0 && !pending.head.has_year && !pending.head.boot_s.has_value()) silent += 366.0 * 86400;
      if (silent >= 0) server.silent_s = silent;
    }
  }

  void note_grace(const LogMessage& message, const Pending& pending) {
    auto& periods = out_.facts.grace_periods;
    if (message.kind == "grace-start") {
      if (periods.size() >= kept_records) return;
      facts::GracePeriod period;
      period.source = source_;
      period.line = static_cast<std::uint32_t>(pending.line);
      period.host = pending.head.host;
      period.start = stamp(pending.head, pending.line);
      if (message.count.has_value() && *message.count <= 86400) {
        period.duration_s = static_cast<std::uint32_t>(*message.count);
        if (pending.head.has_year) {
          if (const auto end = add_seconds(*pending.head.at, *period.duration_s)) period.expected_end = *end;
        } else if (pending.head.boot_s.has_value()) {
          period.expected_end =
              fmt::format("{:.6f} s after boot", *pending.head.boot_s + static_cast<double>(*period.duration_s));
        }
      }
      periods.push_back(std::move(period));
    } else if (!periods.empty() && !periods.back().end.has_value()) {
      if (message.kind == "grace-end") periods.back().end = stamp(pending.head, pending.line);
      if (message.kind == "grace-refused") ++periods.back().refused;
      if (message.kind == "grace-check" && message.count.has_value())
        periods.back().clients_to_reclaim = static_cast<std::int64_t>(*message.count);
    }
  }

  // --- keeping -------------------------------------------------------------------------------------------------------

  void add(const Pending& pending, LogMessage message) {
    message.source = source_;
    message.line = static_cast<std::uint32_t>(pending.line);
    message.at = pending.head.at;
    message.boot_s = pending.head.boot_s;
    message.host = pending.head.host;
    message.program = pending.head.program;
    message.text = scrub_short(pending.text);
    if ((message.kind == "nlm-denied" || message.kind == "nlm-call-failed") && call_) {
      const auto now = seconds(pending.head);
      if (now && call_->began && *now >= *call_->began) message.took_s = *now - *call_->began;
    }
    auto& messages = out_.facts.messages;
    auto& kept = kept_[message.kind + ' ' + message.server.value_or("")];
    if (++kept.count > kept_of_a_kind) {
      ++left_out_;
      if (kept.last_is_newest) {
        messages[kept.last] = std::move(message);
        return;
      }
      kept.last_is_newest = true;
      --left_out_;
    }
    if (messages.size() >= kept_in_all) {
      ++left_out_;
      return;
    }
    kept.last = messages.size();
    messages.push_back(std::move(message));
  }

  void finish() {
    auto& messages = out_.facts.messages;
    std::stable_sort(messages.begin(), messages.end(),
                     [](const LogMessage& a, const LogMessage& b) { return a.line < b.line; });
    if (left_out_ > 0)
      add_note(out_.notes, 0, fmt::format("{} more messages of the same kinds are counted, not kept", left_out_),
               false);
  }

  struct Call {
    std::string server;
    std::optional<double> began;
  };
  struct Kept {
    std::size_t count = 0;
    std::size_t last = 0;
    bool last_is_newest = false;
  };

  Parsed<LogText> out_;
  Lines lines_;
  std::string source_;
  std::optional<Pending> pending_;
  std::vector<std::string> frames_;
  std::size_t frames_line_ = 0;
  bool hung_task_ = false;  // the last message is one, and its trace may follow
  bool in_attempt_ = false;
  std::string last_tried_;
  std::size_t blamed_line_ = 0;  // of an error behind which mount.nfs blames the options
  std::optional<Call> call_;
  std::unordered_map<std::string, ServerState> states_;
  std::unordered_map<std::string, Kept> kept_;
  std::size_t left_out_ = 0;
};

template <class T>
void append(std::vector<T>& to, std::vector<T>& from) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}
template <class T>
void append(facts::Fact<std::vector<T>>& to, std::vector<T>& from) {
  if (!to.has_value()) to = std::vector<T>{};
  append(*to, from);
}

}  // namespace

Parsed<LogText> parse_log(std::string_view text, const std::string& source) { return LogReader(text, source).read(); }

void add_log(facts::Facts& facts, LogText&& text) {
  append(facts.log.messages, text.messages);
  append(facts.log.servers, text.servers);
  append(facts.log.grace_periods, text.grace_periods);
  append(facts.log.mount_attempts, text.mount_attempts);
  append(facts.log.exports, text.exports);
  if (text.nfsroot.has_value() && !facts.config.nfsroot.has_value()) facts.config.nfsroot = std::move(text.nfsroot);
}

facts::Fact<facts::NfsRoot> parse_nfsroot(std::string_view cmdline, const std::string& source) {
  for (const auto word : base::fields(cmdline)) {
    if (!word.starts_with("nfsroot=")) continue;
    std::string_view value = word.substr(8);
    facts::NfsRoot root;
    root.path = source;
    // The options begin at the first comma, the server ends at the first colon before the directory.
    const auto comma = value.find(',');
    root.options_text = comma == std::string_view::npos ? Text::absent() : Text(scrub(value.substr(comma + 1)));
    value = value.substr(0, comma);
    const auto parts = value.starts_with('/') ? NfsSource{"", "", std::string(value)} : split_source(value);
    root.server = parts.server.empty() ? Text::absent() : Text(parts.server);
    root.export_path = parts.path;
    return root;
  }
  return facts::Fact<facts::NfsRoot>::absent();
}

}  // namespace probes
