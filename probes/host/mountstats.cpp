#include "probes/host/mountstats.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "audit/base/text.h"
#include "probes/host/lines.h"

namespace probes {

namespace {

// The numbers of one line, up to the first field that is none.
struct Numbers {
  std::array<std::uint64_t, 64> at;  // the first `count`; not cleared, because there is one of these for every line
  std::uint64_t negative = 0;        // bit i: number i was printed with a minus sign (old kernels print some as signed)
  std::size_t count = 0;
  bool all = true;  // nothing but numbers
};

Numbers read_numbers(std::string_view text) {
  Numbers out;
  const char* at = text.data();
  const char* const end = at + text.size();
  for (;;) {
    while (at < end && is_blank(*at)) ++at;
    if (at == end) return out;
    if (out.count == out.at.size()) {
      out.all = false;
      return out;
    }
    const bool minus = *at == '-';
    if (minus) ++at;
    // Nearly all of the file is numbers, and most of them are 0: std::from_chars() costs several times as much.
    std::uint64_t value = 0;
    const char* const first = at;
    bool good = true;
    for (; at < end && *at >= '0' && *at <= '9'; ++at) {
      const auto digit = static_cast<std::uint64_t>(*at - '0');
      if (at - first < 18) {
        value = value * 10 + digit;
      } else {
        good = good && !__builtin_mul_overflow(value, std::uint64_t{10}, &value) &&
               !__builtin_add_overflow(value, digit, &value);
      }
    }
    if (!good || at == first || (at < end && !is_blank(*at))) {
      out.all = false;
      return out;
    }
    if (minus) out.negative |= std::uint64_t{1} << out.count;
    out.at[out.count++] = value;
  }
}

bool is_op_name(std::string_view key) {
  return !key.empty() && std::all_of(key.begin(), key.end(), [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

// Of at least eight numbers.
void fill_op(facts::NfsOp& op, std::string_view name, const Numbers& numbers) {
  op.op = name;
  op.ops = numbers.at[0];
  op.trans = numbers.at[1];
  op.timeouts = numbers.at[2];
  op.bytes_sent = numbers.at[3];
  op.bytes_recv = numbers.at[4];
  op.queue_ms = numbers.at[5];
  op.rtt_ms = numbers.at[6];
  op.execute_ms = numbers.at[7];
  if (numbers.count > 8) op.errors = numbers.at[8];
}

// Where the columns of an xprt line are, by kind of transport; -1: that kind has no such column.
struct Columns {
  std::string_view proto;
  int src_port, connect_count, idle;  // connect_time stands behind connect_count
  std::size_t sends;                  // then recvs, bad_xids, req_u, bklog_u
  bool slots;                         // max_slots, sending_u, pending_u may follow (iostats 1.1)
};
constexpr std::array columns = std::to_array<Columns>({
    {"tcp", 0, 2, 4, 5, true},
    {"udp", 0, -1, -1, 2, true},
    {"rdma", 0, 2, 4, 5, false},
    {"local", -1, 1, 3, 4, true},
});

std::optional<facts::NfsTransport> read_transport(std::string_view text) {
  const auto proto = next_field(text);
  const auto* row = std::find_if(columns.begin(), columns.end(), [&](const Columns& c) { return c.proto == proto; });
  if (row == columns.end()) return std::nullopt;
  const Numbers numbers = read_numbers(text);
  const std::size_t base = row->sends + 5;
  if (numbers.count < base) return std::nullopt;
  // The idle time is signed, and below zero while the clock of the connection has not started.
  const std::uint64_t idle_bit = row->idle < 0 ? 0 : std::uint64_t{1} << row->idle;
  if ((numbers.negative & ~idle_bit) != 0) return std::nullopt;

  facts::NfsTransport out;
  const auto& at = numbers.at;
  out.proto = proto;
  if (row->src_port < 0) {
    out.src_port = facts::Fact<std::uint32_t>::absent();
    out.bind_count = at[0];
  } else {
    if (at[0] > 65535) return std::nullopt;
    out.src_port = static_cast<std::uint32_t>(at[0]);
    out.bind_count = at[1];
  }
  if (row->connect_count < 0) {
    out.connect_count = out.connect_time_s = out.idle_s = facts::Fact<std::uint64_t>::absent();
  } else {
    const auto connect = static_cast<std::size_t>(row->connect_count);
    out.connect_count = at[connect];
    out.connect_time_s = at[connect + 1];
    if ((numbers.negative & idle_bit) == 0) out.idle_s = at[static_cast<std::size_t>(row->idle)];
  }
  out.sends = at[row->sends];
  out.recvs = at[row->sends + 1];
  out.bad_xids = at[row->sends + 2];
  out.req_u = at[row->sends + 3];
  out.bklog_u = at[row->sends + 4];
  if (!row->slots) {
    out.max_slots = out.sending_u = out.pending_u = facts::Fact<std::uint64_t>::absent();
    out.rdma.assign(at.begin() + static_cast<std::ptrdiff_t>(base),
                    at.begin() + static_cast<std::ptrdiff_t>(numbers.count));
  } else if (numbers.count >= base + 3) {
    out.max_slots = at[base];
    out.sending_u = at[base + 1];
    out.pending_u = at[base + 2];
  }
  return out;
}

// "key=value" pieces of a line divided by commas; calls take(key, value).
template <class Take>
void each_pair(std::string_view text, Take take) {
  while (!text.empty()) {
    const auto comma = text.find(',');
    const auto piece = base::trim(text.substr(0, comma));
    text.remove_prefix(comma == std::string_view::npos ? text.size() : comma + 1);
    const auto equals = piece.find('=');
    take(piece.substr(0, equals), equals == std::string_view::npos ? std::string_view{} : piece.substr(equals + 1));
  }
}

template <class T>
void set_number(facts::Fact<T>& fact, std::string_view text) {
  if (const auto number = base::number<T>(text)) fact = *number;
}

std::string_view between(std::string_view text, std::string_view open, std::string_view close) {
  const auto from = text.find(open);
  if (from == std::string_view::npos) return {};
  text.remove_prefix(from + open.size());
  return text.substr(0, text.find(close));
}

void read_impl_id(std::string_view value, MountstatsEntry& entry) {
  const auto name = between(value, "name='", "',domain='");
  const auto domain = between(value, "',domain='", "',date='");
  if (name.empty() && domain.empty()) {
    entry.impl_id = facts::Fact<std::string>::absent();
  } else if (name.empty() || domain.empty()) {
    entry.impl_id = std::string(name.empty() ? domain : name);
  } else {
    entry.impl_id = fmt::format("{} ({})", name, domain);
  }
}

void read_nfsv4(std::string_view value, MountstatsEntry& entry) {
  entry.sessions = false;
  each_pair(value, [&](std::string_view key, std::string_view text) {
    if (key == "sessions") entry.sessions = true;
    if (key == "pnfs") entry.pnfs = std::string(text);
    if (key == "lease_time") set_number(entry.lease_time_s, text);
    if (key == "lease_expired") set_number(entry.lease_expired_s, text);
  });
}

class Reader {
 public:
  explicit Reader(std::string_view text) : lines_(text, out_.notes) {}

  Parsed<std::vector<MountstatsEntry>> read() {
    for (std::string_view line; lines_.next(line);) {
      while (!line.empty() && is_blank(line.front())) line.remove_prefix(1);
      while (!line.empty() && is_blank(line.back())) line.remove_suffix(1);
      if (line.empty() || line.front() == '#') continue;
      if (line.starts_with("device ") || line.starts_with("no device ")) {
        take_device(line);
      } else if (line != "per-op statistics") {
        take_statistics(line);
      }
    }
    for (std::size_t i = 0; i < out_.facts.size(); ++i) {
      MountstatsEntry& entry = out_.facts[i];
      if (!entry.named) continue;
      const auto hider = stacking_.hidden_by(devices_[i], entry.target);
      entry.hidden_by = hider.empty() ? facts::Fact<std::string>::absent() : std::string(hider);
    }
    return std::move(out_);
  }

 private:
  enum class Where { nowhere, nfs, elsewhere };  // elsewhere: another file system, or a device line that was no good

  void note(std::string reason, bool lost = true) { add_note(out_.notes, lines_.number(), std::move(reason), lost); }

  void take_device(std::string_view line) {
    static constexpr std::string_view on = " mounted on ";
    static constexpr std::string_view with = " with fstype ";
    where_ = Where::elsewhere;
    const auto on_at = line.find(on);
    const auto with_at = line.rfind(with);
    if (on_at == std::string_view::npos || with_at == std::string_view::npos || with_at < on_at + on.size()) {
      note("device line without \"mounted on\" and \"with fstype\"");
      return;
    }
    std::string target = decode(line.substr(on_at + on.size(), with_at - on_at - on.size()));
    const bool deleted = take_deleted(target);
    auto rest = line.substr(with_at + with.size());
    const auto type = next_field(rest);
    if (type.empty() || target.empty()) {
      note("device line without a mount point or a type");
      return;
    }
    stacking_.add(target);
    ++device_count_;
    if (type != "nfs" && type != "nfs4") return;
    where_ = Where::nfs;
    MountstatsEntry& entry = begin_entry();
    const auto device = line.substr(0, on_at);
    entry.named = true;
    entry.source = device.starts_with("device ") ? decode(device.substr(7)) : std::string();
    entry.target = std::move(target);
    entry.target_deleted = deleted;
    entry.fs_type = type;
    if (const auto at = rest.find("statvers="); at != std::string_view::npos) {
      auto version = rest.substr(at + 9);
      entry.statvers = std::string(next_field(version));
    }
  }

  MountstatsEntry& begin_entry() {
    devices_.push_back(device_count_ == 0 ? 0 : device_count_ - 1);
    MountstatsEntry& entry = out_.facts.emplace_back();
    entry.line = lines_.number();
    return entry;
  }

  // The entry that a line of statistics belongs to; nullptr where it is of no interest.
  MountstatsEntry* owner() {
    if (where_ == Where::nowhere) {
      where_ = Where::nfs;
      note("statistics without a device line: no mount can be named");
      begin_entry();
    }
    return where_ == Where::nfs ? &out_.facts.back() : nullptr;
  }

  void take_statistics(std::string_view line) {
    const auto colon = line.find(':');
    if (colon == std::string_view::npos) {
      if (where_ == Where::nowhere)
        note("no line of mountstats");
      else if (where_ == Where::nfs)
        note("unknown line without a key", false);
      return;
    }
    const auto key = line.substr(0, colon);
    auto value = line.substr(colon + 1);
    if (is_op_name(key)) {
      take_op(key, value);
      return;
    }
    while (!value.empty() && is_blank(value.front())) value.remove_prefix(1);
    static constexpr auto keys =
        std::to_array<std::pair<std::string_view, void (Reader::*)(MountstatsEntry&, std::string_view)>>({
            {"opts", &Reader::take_opts},
            {"age", &Reader::take_age},
            {"impl_id", &Reader::take_impl_id},
            {"caps", &Reader::take_caps},
            {"nfsv4", &Reader::take_nfsv4},
            {"sec", &Reader::take_sec},
            {"events", &Reader::take_events},
            {"bytes", &Reader::take_bytes},
            {"fsc", &Reader::take_fsc},
            {"RPC iostats version", &Reader::take_version},
            {"xprt", &Reader::take_xprt},
        });
    const auto* row = std::find_if(keys.begin(), keys.end(), [&](const auto& k) { return k.first == key; });
    if (row != keys.end()) {
      if (MountstatsEntry* entry = owner()) (this->*row->second)(*entry, value);
    } else if (where_ == Where::nowhere) {
      note("no line of mountstats");
    } else if (where_ == Where::nfs) {
      note_unknown(key);
    }
  }

  void note_unknown(std::string_view key) {
    if (key.size() > 64 || unknown_keys_.size() >= max_notes) key = "...";
    if (std::find(unknown_keys_.begin(), unknown_keys_.end(), key) != unknown_keys_.end()) return;
    unknown_keys_.emplace_back(key);
    note(fmt::format("unknown key \"{}:\"", base::escape_control(key)), false);
  }

  void take_op(std::string_view name, std::string_view value) {
    const Numbers numbers = read_numbers(value);
    // Names in capitals with something else behind them are no operations.
    if (numbers.count == 0 && where_ == Where::nowhere) return note("no line of mountstats");
    MountstatsEntry* entry = owner();
    if (entry == nullptr) return;
    if (numbers.count < 8 || numbers.negative != 0)
      return note(fmt::format("operation {} with {} numbers where 8 or 9 stand", name.substr(0, 64), numbers.count));
    if (numbers.count > 9) note_unknown("operation with more than nine numbers");
    if (entry->ops.empty()) entry->ops.reserve(expected_ops_);
    fill_op(entry->ops.emplace_back(), name, numbers);
    expected_ops_ = std::max(expected_ops_, std::min<std::size_t>(entry->ops.size(), 128));
  }

  void take_opts(MountstatsEntry& entry, std::string_view value) { entry.options_text = std::string(value); }
  void take_age(MountstatsEntry& entry, std::string_view value) {
    const Numbers numbers = read_numbers(value);
    if (numbers.count == 0 || numbers.negative != 0) return note("age: without a number");
    entry.age_s = numbers.at[0];
  }
  void take_impl_id(MountstatsEntry& entry, std::string_view value) { read_impl_id(value, entry); }
  void take_caps(MountstatsEntry& entry, std::string_view value) { entry.caps_text = std::string(value); }
  void take_nfsv4(MountstatsEntry& entry, std::string_view value) { read_nfsv4(value, entry); }
  void take_sec(MountstatsEntry& entry, std::string_view value) {
    each_pair(value, [&](std::string_view key, std::string_view text) {
      if (key == "flavor") set_number(entry.flavor, text);
      if (key == "pseudoflavor") set_number(entry.pseudoflavor, text);
    });
  }
  std::optional<std::vector<std::uint64_t>> counters(std::string_view value) {
    const Numbers numbers = read_numbers(value);
    if (numbers.count == 0 || numbers.negative != 0) return std::nullopt;
    return std::vector(numbers.at.begin(), numbers.at.begin() + static_cast<std::ptrdiff_t>(numbers.count));
  }
  void take_events(MountstatsEntry& entry, std::string_view value) {
    auto numbers = counters(value);
    if (!numbers) return note("events: without numbers");
    entry.events = std::move(*numbers);
  }
  void take_bytes(MountstatsEntry& entry, std::string_view value) {
    const Numbers numbers = read_numbers(value);
    if (numbers.count < 8 || numbers.negative != 0) return note("bytes: with fewer than eight numbers");
    const auto& at = numbers.at;
    entry.bytes = facts::NfsBytes{at[0], at[1], at[2], at[3], at[4], at[5], at[6], at[7]};
  }
  void take_fsc(MountstatsEntry& entry, std::string_view value) {
    auto numbers = counters(value);
    if (!numbers) return note("fsc: without numbers");
    entry.fsc = std::move(*numbers);
  }
  void take_version(MountstatsEntry& entry, std::string_view value) {
    entry.iostats_version = std::string(next_field(value));
  }
  void take_xprt(MountstatsEntry& entry, std::string_view value) {
    auto transport = read_transport(value);
    if (!transport) return note("xprt: of an unknown transport or with too few numbers");
    entry.transports.push_back(std::move(*transport));
  }

  Parsed<std::vector<MountstatsEntry>> out_;
  Lines lines_;
  Where where_ = Where::nowhere;
  Stacking stacking_;
  std::size_t device_count_ = 0;
  std::vector<std::size_t> devices_;  // of each entry: which device line of all
  std::vector<std::string> unknown_keys_;
  std::size_t expected_ops_ = 0;  // mounts of one node print much the same operations
};

}  // namespace

Parsed<std::vector<MountstatsEntry>> parse_mountstats(std::string_view text) { return Reader(text).read(); }

}  // namespace probes
