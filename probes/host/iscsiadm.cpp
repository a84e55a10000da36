#include "probes/host/iscsiadm.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "audit/base/text.h"
#include "probes/host/iscsi_names.h"
#include "probes/host/lines.h"

namespace probes {

namespace {

using facts::Fact;
using facts::IscsiSession;

bool is_prompt(std::string_view line) {
  return line.starts_with("# ") || line == "#" || line.starts_with("$ ") ||
         (line.find("iscsiadm -m") != std::string_view::npos && line.find(": [") == std::string_view::npos);
}

bool says_none(std::string_view line) { return line.find("No active sessions") != std::string_view::npos; }

// "name (flash)", "name (non-flash)", "name".
std::string_view take_flash(std::string_view text, Fact<bool>& flash) {
  text = base::trim(text);
  if (text.ends_with(" (non-flash)")) {
    flash = false;
    return base::trim(text.substr(0, text.size() - 12));
  }
  if (text.ends_with(" (flash)")) {
    flash = true;
    return base::trim(text.substr(0, text.size() - 8));
  }
  return text;
}

void set_portal(IscsiSession& session, const facts::IscsiPortal& portal) {
  session.portal = portal.id;
  session.tpgt = portal.tag;
}

facts::IscsiConnection& connection_of(IscsiSession& session) {
  if (session.connections.empty()) session.connections.emplace_back();
  return session.connections.front();
}

const char* read_list_line(std::string_view line, IscsiSession& session) {
  const auto colon = line.find(": [");
  if (colon == std::string_view::npos || colon == 0 || line.substr(0, colon).find(' ') != std::string_view::npos)
    return "no \"TRANSPORT: [NUMBER] PORTAL TARGET\"";
  session.transport = std::string(line.substr(0, colon));
  session.offload = is_offload(*session.transport);
  line.remove_prefix(colon + 3);
  const auto close = line.find(']');
  if (close == std::string_view::npos) return "no closing bracket behind the session number";
  auto number = line.substr(0, close);
  if (number.starts_with("session")) number.remove_prefix(7);
  const auto sid = base::number<std::uint32_t>(number);
  if (!sid) return "the session number is none";
  session.sid = *sid;
  line.remove_prefix(close + 1);
  const auto portal = parse_portal(next_field(line));
  if (!portal) return "the portal is none";
  set_portal(session, *portal);
  const auto target = take_flash(line, session.flash);
  if (!is_target_name(target)) return "no name of a target behind the portal";
  session.target = std::string(target);
  auto& connection = connection_of(session);
  connection.persistent_addr = portal->addr;
  connection.persistent_port = portal->port;
  return nullptr;
}

}  // namespace

Parsed<SessionText> parse_session_list(std::string_view text) {
  Parsed<SessionText> parsed;
  Lines lines(text, parsed.notes);
  for (std::string_view line; lines.next(line);) {
    line = base::trim(line);
    if (line.empty() || is_prompt(line)) continue;
    if (says_none(line)) {
      parsed.facts.told = true;
      continue;
    }
    IscsiSession session;
    if (const char* why = read_list_line(line, session)) {
      add_note(parsed.notes, lines.number(), why);
      continue;
    }
    parsed.facts.told = true;
    session.id = session_id(session);
    session.told_by = {"iscsiadm -m session"};
    parsed.facts.sessions.push_back(std::move(session));
  }
  return parsed;
}

namespace {

class PrintLevel {
 public:
  Parsed<SessionText> run(std::string_view text) {
    Lines lines(text, out_.notes);
    for (std::string_view line; lines.next(line);) {
      number_ = lines.number();
      take(base::trim(line));
    }
    finish_session();
    for (auto& session : out_.facts.sessions) {
      session.id = session_id(session);
      session.told_by = {full_ ? "iscsiadm -P 3" : "iscsiadm -P 1"};
    }
    return std::move(out_);
  }

 private:
  void note(std::string why, bool lost = true) { add_note(out_.notes, number_, std::move(why), lost); }

  void take(std::string_view line) {
    if (line.empty() || is_prompt(line)) return;
    if (line.find_first_not_of('*') == std::string_view::npos) return;
    if (says_none(line)) {
      out_.facts.told = true;
      return;
    }
    if (line.starts_with("iSCSI Transport Class version") || line.starts_with("version ")) {
      out_.facts.told = true;
      return;
    }
    if (line == "Interface:") return begin_interface();
    if (line == "Timeouts:" || line == "CHAP:" || line == "Negotiated iSCSI params:" ||
        line == "Attached SCSI devices:") {
      full_ = true;
      return;
    }
    if (line.starts_with("scsi") && line.find(" Channel ") != std::string_view::npos) return begin_lun(line);
    if (line.starts_with("Attached scsi disk ")) return attached_disk(line);
    const auto colon = line.find(':');
    if (colon == std::string_view::npos) return note("no \"name: value\"");
    const auto key = line.substr(0, colon);
    const auto value = base::trim(line.substr(colon + 1));
    if (key == "Target") return begin_target(value);
    if (key == "Current Portal") return begin_portal(value);
    if (key == "Persistent Portal") return persistent_portal(value);
    if (key == "Host Number") return host_number(value);
    if (!open_) return note("stands before any portal");
    field(key, value);
  }

  void begin_target(std::string_view value) {
    finish_session();
    flash_ = {};
    const auto name = take_flash(value, flash_);
    have_portal_ = false;
    if (!is_target_name(name)) {
      target_.clear();
      return note("no name of a target");
    }
    out_.facts.told = true;
    target_ = std::string(name);
  }

  void open_session() {
    session_ = {};
    session_.target = target_;
    session_.flash = flash_;
    open_ = true;
    has_interface_ = false;
    hctl_.clear();
    if (have_portal_) {
      set_portal(session_, portal_);
      auto& connection = connection_of(session_);
      connection.persistent_addr = portal_.addr;
      connection.persistent_port = portal_.port;
    }
  }

  void finish_session() {
    if (open_ && !session_.target.empty()) out_.facts.sessions.push_back(std::move(session_));
    open_ = false;
  }

  void begin_portal(std::string_view value) {
    finish_session();
    if (target_.empty()) return note("a portal of no target");
    const auto portal = parse_portal(value);
    have_portal_ = portal.has_value();
    if (portal) portal_ = *portal;
    if (!portal) note("the portal is none");
    open_session();
    if (portal) {
      auto& connection = connection_of(session_);
      connection.addr = portal_.addr;
      connection.port = portal_.port;
    }
  }

  void persistent_portal(std::string_view value) {
    const auto portal = parse_portal(value);
    if (!portal) return note("the portal is none");
    if (!open_) return note("stands before any portal");
    portal_ = *portal;
    have_portal_ = true;
    set_portal(session_, portal_);
    auto& connection = connection_of(session_);
    connection.persistent_addr = portal_.addr;
    connection.persistent_port = portal_.port;
  }

  // Further sessions of the same portal begin here.
  void begin_interface() {
    if (target_.empty()) return note("an interface of no target");
    if (open_ && has_interface_) finish_session();
    if (!open_) open_session();
    has_interface_ = true;
  }

  void begin_lun(std::string_view line) {
    // "scsi3 Channel 00 Id 0 Lun: 11"
    hctl_.clear();
    const auto f = base::fields(line);
    if (f.size() == 7) {
      const auto host = base::number<std::uint32_t>(f[0].substr(4));
      const auto channel = base::number<std::uint32_t>(f[2]);
      const auto id = base::number<std::uint32_t>(f[4]);
      const auto lun = base::number<std::uint64_t>(f[6]);
      if (host && channel && id && lun) {
        hctl_ = fmt::format("{}:{}:{}:{}", *host, *channel, *id, *lun);
        return;
      }
    }
    note("no \"scsiHOST Channel N Id N Lun: N\"");
  }

  void attached_disk(std::string_view line) {
    // "Attached scsi disk sdb\t\tState: running"
    line.remove_prefix(19);
    auto rest = line;
    const auto name = next_field(rest);
    if (name.empty() || !open_) return note("no disk of a session");
    facts::BlockDevice device;
    device.name = std::string(name);
    device.kind = "scsi";
    if (const auto at = rest.find("State:"); at != std::string_view::npos)
      device.state = std::string(base::trim(rest.substr(at + 6)));
    if (const auto hctl = parse_hctl(hctl_)) {
      device.hctl = hctl_;
      device.host = hctl->host;
      device.lun = decode_lun(hctl->lun);
    }
    device.target = session_.target;
    device.portal = session_.portal;
    device.sid = session_.sid;
    session_.devices.push_back(device.name);
    out_.facts.devices.push_back(std::move(device));
  }

  void host_number(std::string_view value) {
    auto rest = value;
    const auto number = base::number<std::uint32_t>(next_field(rest));
    if (!number || !open_) return note("no SCSI host of a session");
    session_.host = *number;
    facts::IscsiHost host;
    host.number = *number;
    if (const auto at = rest.find("State:"); at != std::string_view::npos)
      host.state = std::string(base::trim(rest.substr(at + 6)));
    out_.facts.hosts.push_back(std::move(host));
  }

  template <class T>
  void number(std::string_view value, Fact<T>& into) {
    if (is_unset(value) || value == "N/A") {
      into = Fact<T>::absent();
    } else if (const auto got = base::number<T>(value)) {
      into = *got;
    } else {
      note("no number");
    }
  }
  void word(std::string_view value, Fact<std::string>& into) {
    into = is_unset(value) ? Fact<std::string>::absent() : Fact<std::string>(std::string(value));
  }
  void yes_no(std::string_view value, Fact<bool>& into) {
    if (value == "Yes" || value == "No")
      into = value == "Yes";
    else
      note("neither Yes nor No");
  }

  void field(std::string_view key, std::string_view value) {
    auto& s = session_;
    auto& c = connection_of(s);
    if (key == "Iface Name") return word(value, s.iface);
    if (key == "Iface Transport") {
      word(value, s.transport);
      if (s.transport.has_value()) s.offload = is_offload(*s.transport);
      return;
    }
    if (key == "Iface Initiatorname") return word(value, s.initiatorname);
    if (key == "Iface IPaddress") return word(value, s.initiator_addr);
    if (key == "Iface HWaddress") return;  // of the record, "default" where there is none
    if (key == "Iface Netdev") {
      word(value, s.netdev);
      if (s.netdev.is("default")) s.netdev = Fact<std::string>::absent();
      return;
    }
    if (key == "SID") return number(value, s.sid);
    if (key == "iSCSI Connection State") return word(value, c.iscsid_state);
    if (key == "iSCSI Session State") return word(value, s.state);
    if (key == "Internal iscsid Session State") return word(value, s.iscsid_state);
    if (key == "Recovery Timeout") return number(value, s.recovery_tmo_s);
    if (key == "Target Reset Timeout") return number(value, s.tgt_reset_tmo_s);
    if (key == "LUN Reset Timeout") return number(value, s.lu_reset_tmo_s);
    if (key == "Abort Timeout") return number(value, s.abort_tmo_s);
    if (key == "username") {
      s.chap_configured = !is_unset(value);
      return;
    }
    if (key == "username_in") {
      s.chap_mutual_configured = !is_unset(value);
      return;
    }
    if (key == "password" || key == "password_in") return;
    if (key == "HeaderDigest") return word(value, c.header_digest);
    if (key == "DataDigest") return word(value, c.data_digest);
    if (key == "MaxRecvDataSegmentLength") return number(value, c.max_recv_dlength_bytes);
    if (key == "MaxXmitDataSegmentLength") return number(value, c.max_xmit_dlength_bytes);
    if (key == "FirstBurstLength") return number(value, s.first_burst_len_bytes);
    if (key == "MaxBurstLength") return number(value, s.max_burst_len_bytes);
    if (key == "ImmediateData") return yes_no(value, s.immediate_data);
    if (key == "InitialR2T") return yes_no(value, s.initial_r2t);
    if (key == "MaxOutstandingR2T") return number(value, s.max_outstanding_r2t);
    note(fmt::format("unknown name {}", base::shorten(key, 40)), false);
  }

  Parsed<SessionText> out_;
  std::size_t number_ = 0;
  std::string target_;
  Fact<bool> flash_;
  facts::IscsiPortal portal_;
  bool have_portal_ = false;
  IscsiSession session_;
  bool open_ = false;
  bool has_interface_ = false;
  bool full_ = false;
  std::string hctl_;
};

}  // namespace

Parsed<SessionText> parse_session_print(std::string_view text) { return PrintLevel().run(text); }

Parsed<std::vector<std::pair<std::uint32_t, facts::IscsiStats>>> parse_session_stats(std::string_view text) {
  Parsed<std::vector<std::pair<std::uint32_t, facts::IscsiStats>>> parsed;
  facts::IscsiStats* stats = nullptr;
  Lines lines(text, parsed.notes);
  for (std::string_view line; lines.next(line);) {
    line = base::trim(line);
    if (line.empty() || is_prompt(line) || says_none(line) || line == "iSCSI SNMP:" || line == "iSCSI Extended:")
      continue;
    if (line.starts_with("Stats for session [sid: ")) {
      stats = nullptr;
      line.remove_prefix(24);
      if (const auto sid = base::number<std::uint32_t>(line.substr(0, line.find(',')))) {
        parsed.facts.emplace_back(*sid, facts::IscsiStats{});
        stats = &parsed.facts.back().second;
      } else {
        add_note(parsed.notes, lines.number(), "the session number is none");
      }
      continue;
    }
    const auto colon = line.rfind(':');
    const auto value = colon == std::string_view::npos
                           ? std::nullopt
                           : base::number<std::uint64_t>(base::trim(line.substr(colon + 1)));
    if (!value) {
      add_note(parsed.notes, lines.number(), "no \"counter: number\"");
      continue;
    }
    if (stats == nullptr) {
      add_note(parsed.notes, lines.number(), "a counter of no session");
      continue;
    }
    const auto key = line.substr(0, colon);
    static constexpr std::pair<std::string_view, Fact<std::uint64_t> facts::IscsiStats::*> counters[] = {
        {"txdata_octets", &facts::IscsiStats::tx_bytes},      {"rxdata_octets", &facts::IscsiStats::rx_bytes},
        {"scsicmd_pdus", &facts::IscsiStats::scsi_commands},  {"scsirsp_pdus", &facts::IscsiStats::scsi_responses},
        {"tmfcmd_pdus", &facts::IscsiStats::task_management}, {"rjt_pdus", &facts::IscsiStats::rejects},
        {"digest_err", &facts::IscsiStats::digest_errors},    {"timeout_err", &facts::IscsiStats::timeout_errors},
        {"eh_abort_cnt", &facts::IscsiStats::aborts},
    };
    for (const auto& [name, member] : counters)
      if (name == key) stats->*member = *value;  // the other counters answer no question that is asked here
  }
  return parsed;
}

Parsed<std::vector<facts::IscsiNodeRecord>> parse_node_list(std::string_view text) {
  Parsed<std::vector<facts::IscsiNodeRecord>> parsed;
  struct Row {
    std::string target;
    facts::IscsiPortal portal;
    std::string iface;
    std::string path;
  };
  std::vector<Row> rows;
  Lines lines(text, parsed.notes);
  for (std::string_view line; lines.next(line);) {
    line = base::trim(line);
    if (line.empty() || is_prompt(line) || line.find("No records found") != std::string_view::npos) continue;
    // A path: .../nodes/TARGET/ADDRESS,PORT,TAG/INTERFACE. The names above are no records.
    if (const auto at = line.find("nodes/"); at != std::string_view::npos) {
      const auto parts = base::split(line.substr(at + 6), '/');
      if (!is_target_name(parts[0])) {
        add_note(parsed.notes, lines.number(), "no name of a target below nodes/");
        continue;
      }
      if (parts.size() < 2 || parts[1].empty()) continue;
      const auto portal = parse_portal(parts[1]);
      if (!portal) {
        add_note(parsed.notes, lines.number(), "no ADDRESS,PORT,TAG below the target");
        continue;
      }
      rows.push_back(
          {std::string(parts[0]), *portal, parts.size() > 2 ? std::string(parts[2]) : "", std::string(line)});
      continue;
    }
    if (line.ends_with("/nodes")) continue;
    auto rest = line;
    const auto portal = parse_portal(next_field(rest));
    const auto target = next_field(rest);
    if (!portal || !is_target_name(target)) {
      add_note(parsed.notes, lines.number(), "neither \"PORTAL TARGET\" nor a path of a node record");
      continue;
    }
    rows.push_back({std::string(target), *portal, "", ""});
  }
  std::set<std::pair<std::string, std::string>> with_iface;
  for (const Row& row : rows)
    if (!row.iface.empty()) with_iface.emplace(row.target, row.portal.id);
  std::set<std::tuple<std::string, std::string, std::string>> seen;
  for (Row& row : rows) {
    if (row.iface.empty() && with_iface.count({row.target, row.portal.id}) > 0) continue;
    if (!seen.emplace(row.target, row.portal.id, row.iface).second) continue;
    auto& record = parsed.facts.emplace_back();
    record.path = row.path;
    record.target = row.target;
    record.portal = row.portal.id;
    record.tpgt = row.portal.tag;
    record.link_local = row.portal.link_local;
    if (!row.iface.empty()) record.iface = row.iface;
  }
  return parsed;
}

std::vector<std::pair<std::uint32_t, std::uint32_t>> parse_session_hosts(std::string_view text) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
  for (std::string_view line; base::next_line(text, line);) {
    const auto f = base::fields(base::trim(line));
    if (f.size() != 2 || !f[0].starts_with("session") || !f[1].starts_with("host")) continue;
    const auto sid = base::number<std::uint32_t>(f[0].substr(7));
    const auto host = base::number<std::uint32_t>(f[1].substr(4));
    if (sid && host) pairs.emplace_back(*sid, *host);
  }
  return pairs;
}

}  // namespace probes
