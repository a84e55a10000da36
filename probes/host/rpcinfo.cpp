#include "probes/host/rpcinfo.h"

#include <optional>

#include "audit/base/text.h"
#include "probes/host/lines.h"
#include "probes/probe.h"

namespace probes {

namespace {

using facts::NfsiostatOps;
using facts::NfsiostatReport;
using facts::RpcRegistration;

// The port of a universal address: "0.0.0.0.8.1" and "::.8.1" are port 2049 (RFC 5665 s5.2.3).
std::optional<std::uint32_t> universal_port(std::string_view address) {
  const auto last = address.rfind('.');
  if (last == std::string_view::npos || last == 0) return std::nullopt;
  const auto before = address.rfind('.', last - 1);
  if (before == std::string_view::npos) return std::nullopt;
  const auto high = base::number<std::uint8_t>(address.substr(before + 1, last - before - 1));
  const auto low = base::number<std::uint8_t>(address.substr(last + 1));
  if (!high || !low) return std::nullopt;
  return std::uint32_t{*high} * 256 + *low;
}

// One half of a report: "0.010 0.123 1.000 0 (0.0%) 0.500 0.600 0.100 0 (0.0%)".
std::optional<NfsiostatOps> parse_ops(std::string_view line) {
  std::vector<std::string> words;
  for (const auto field : base::fields(line)) words.emplace_back(field);
  std::vector<double> numbers;
  std::vector<double> shares;
  for (std::string_view word : words) {
    const bool share = word.starts_with('(') && word.ends_with("%)");
    if (share) word = word.substr(1, word.size() - 3);
    const auto value = base::real(base::trim(word));
    if (!value) return std::nullopt;
    (share ? shares : numbers).push_back(*value);
  }
  if (numbers.size() < 6 || numbers.size() > 8 || shares.empty()) return std::nullopt;
  for (const double value : numbers)
    if (!(value >= 0) || value > 1e15) return std::nullopt;
  NfsiostatOps ops;
  ops.ops_per_s = numbers[0];
  ops.kb_per_s = numbers[1];
  ops.kb_per_op = numbers[2];
  ops.retrans = static_cast<std::uint64_t>(numbers[3]);
  ops.retrans_pct = shares[0];
  ops.rtt_ms = numbers[4];
  ops.execute_ms = numbers[5];
  if (numbers.size() > 6) ops.queue_ms = numbers[6];
  if (numbers.size() > 7) ops.errors = static_cast<std::uint64_t>(numbers[7]);
  return ops;
}

}  // namespace

Parsed<facts::RpcinfoListing> parse_rpcinfo(std::string_view text, const std::string& source) {
  Parsed<facts::RpcinfoListing> parsed;
  facts::RpcinfoListing& listing = parsed.facts;
  listing.source = source;
  Lines lines(text, parsed.notes);
  std::string_view line;
  while (lines.next(line)) {
    const auto words = base::fields(line);
    if (words.empty() || words[0] == "program" || words[0].starts_with('#') || words[0].starts_with('$')) continue;
    const auto program = base::number<std::uint32_t>(words[0]);
    const auto vers = words.size() > 1 ? base::number<std::uint32_t>(words[1]) : std::nullopt;
    std::optional<std::uint32_t> port;
    if (words.size() > 3) port = base::number<std::uint32_t>(words[3]);
    if (!port && words.size() > 3) port = universal_port(words[3]);
    const bool local = words.size() > 3 && words[2] == "local";  // the socket of rpcbind itself
    if (local) continue;
    if (!program || !vers || !port || *port > 65535) {
      add_note(parsed.notes, lines.number(),
               words.size() > 2 && program && !vers ? "several versions on a line (rpcinfo -s): it tells no ports"
                                                    : "no registration as rpcinfo -p prints it");
      continue;
    }
    RpcRegistration row;
    row.program = *program;
    row.vers = *vers;
    row.proto = std::string(words[2]);
    row.port = *port;
    row.service =
        words.size() > 4 ? facts::Fact<std::string>(std::string(words[4])) : facts::Fact<std::string>::absent();
    if (row.port != 0) {
      listing.nfs = listing.nfs || row.program == 100003;
      listing.mountd = listing.mountd || row.program == 100005;
      listing.nlm = listing.nlm || (row.program == 100021 && row.vers == 4);
      listing.statd = listing.statd || row.program == 100024;
    }
    listing.registrations.push_back(std::move(row));
  }
  return parsed;
}

Parsed<std::vector<NfsiostatReport>> parse_nfsiostat(std::string_view text, const std::string& source) {
  Parsed<std::vector<NfsiostatReport>> parsed;
  Lines lines(text, parsed.notes);
  std::string_view line;
  enum class Next : std::uint8_t { nothing, totals, read, write } next = Next::nothing;
  while (lines.next(line)) {
    const auto trimmed = base::trim(line);
    if (trimmed.empty()) continue;
    static constexpr std::string_view mounted = " mounted on ";
    if (const auto at = trimmed.find(mounted); at != std::string_view::npos && trimmed.ends_with(':')) {
      NfsiostatReport report;
      report.source = source;
      report.line = static_cast<std::uint32_t>(lines.number());
      report.what = std::string(trimmed.substr(0, at));
      report.where = std::string(trimmed.substr(at + mounted.size(), trimmed.size() - at - mounted.size() - 1));
      parsed.facts.push_back(std::move(report));
      next = Next::nothing;
      continue;
    }
    if (parsed.facts.empty()) {
      if (trimmed[0] != '#' && trimmed[0] != '$') add_note(parsed.notes, lines.number(), "before the first mount");
      continue;
    }
    NfsiostatReport& report = parsed.facts.back();
    if (trimmed.starts_with("ops/s") || trimmed.starts_with("op/s")) {
      next = Next::totals;
    } else if (trimmed.starts_with("read:")) {
      next = Next::read;
    } else if (trimmed.starts_with("write:")) {
      next = Next::write;
    } else if (next == Next::totals) {
      const auto words = base::fields(trimmed);
      const auto ops = words.empty() ? std::nullopt : base::real(words[0]);
      const auto backlog = words.size() < 2 ? std::nullopt : base::real(words[1]);
      if (!ops || !backlog) {
        add_note(parsed.notes, lines.number(), "no two numbers where ops/s and backlog belong");
      } else {
        report.ops_per_s = *ops;
        report.rpc_backlog = *backlog;
      }
      next = Next::nothing;
    } else if (next == Next::read || next == Next::write) {
      const auto ops = parse_ops(trimmed);
      if (!ops)
        add_note(parsed.notes, lines.number(), "not the numbers of an operation");
      else
        (next == Next::read ? report.read : report.write) = *ops;
      next = Next::nothing;
    }
  }
  return parsed;
}

void read_rpcinfo(Reading& reading) {
  for (const GivenText& given : reading.given("rpcinfo")) {
    reading.given_row(given);
    auto parsed = parse_rpcinfo(given.text, given.file);
    reading.note(parsed.notes);
    reading.facts().nfs.rpcinfo.push_back(std::move(parsed.facts));
  }
  for (const GivenText& given : reading.given("nfsiostat")) {
    reading.given_row(given);
    auto parsed = parse_nfsiostat(given.text, given.file);
    reading.note(parsed.notes);
    for (auto& report : parsed.facts) reading.facts().nfs.nfsiostat.push_back(std::move(report));
  }
}

}  // namespace probes
