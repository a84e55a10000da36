#include "probes/host/iscsi_conf.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <unordered_map>

#include "audit/base/text.h"
#include "probes/host/iscsi_names.h"
#include "probes/host/lines.h"

namespace probes {

namespace {

using facts::Fact;

struct Assignment {
  std::string_view key;
  std::string_view value;
};

std::string_view unquoted(std::string_view value) {
  if (value.size() >= 2 && value.front() == '"' && value.back() == '"') return value.substr(1, value.size() - 2);
  return value;
}

// nullptr when it is one, else why iscsid passes over the line.
const char* read_assignment(std::string_view line, Assignment& out) {
  const std::size_t stop = line.find_first_of(" \t=");
  if (stop == std::string_view::npos) return "has no value: iscsid passes over it";
  out.key = line.substr(0, stop);
  auto rest = line.substr(stop + 1);
  const bool equals_was_taken = line[stop] == '=';
  rest = base::trim(rest);
  if (equals_was_taken && !rest.starts_with('=')) return "no blank before the equals sign: iscsid passes over it";
  if (!rest.starts_with('=')) return "no equals sign behind the name: iscsid passes over it";
  out.value = base::trim(rest.substr(1));
  if (out.value.empty()) return "has no value: iscsid passes over it";
  out.value = unquoted(out.value);
  return nullptr;
}

template <class Take>
void each_assignment(std::string_view text, std::vector<Note>& notes, Take take) {
  const bool ends = text.empty() || text.ends_with('\n');
  const std::string_view whole = text;
  Lines lines(text, notes);
  for (std::string_view line; lines.next(line);) {
    const bool last = line.data() + line.size() == whole.data() + whole.size();
    line = base::trim(line);
    if (line.empty() || line.front() == '#') {
      take(lines.number(), line, Assignment{});
      continue;
    }
    Assignment assignment;
    if (const char* why = read_assignment(line, assignment))
      add_note(notes, lines.number(), why);
    else if (last && !ends)
      add_note(notes, lines.number(), "the last line has no end: iscsid passes over it");
    else
      take(lines.number(), line, assignment);
  }
}

template <class T>
void number(const std::map<std::string, NodeRecordText::Value>& values, const char* key, Fact<T>& into) {
  const auto found = values.find(key);
  if (found == values.end()) return;
  if (const auto got = base::number<T>(found->second.text)) into = *got;
}

void word(const std::map<std::string, NodeRecordText::Value>& values, const char* key, Fact<std::string>& into) {
  const auto found = values.find(key);
  if (found == values.end()) return;
  into = is_unset(found->second.text) ? Fact<std::string>::absent() : Fact<std::string>(found->second.text);
}

// nodes/TARGET/ADDRESS,PORT,TAG[/INTERFACE]
void from_path(const std::string& path, facts::IscsiNodeRecord& record) {
  const auto at = path.find("/nodes/");
  if (at == std::string::npos) return;
  const std::string tail = path.substr(at + 7);  // what base::split() gives points into it
  const auto parts = base::split(tail, '/');
  if (parts.size() < 2 || !is_target_name(parts[0])) return;
  const auto portal = parse_portal(parts[1]);
  if (!portal) return;
  if (record.target.empty()) record.target = std::string(parts[0]);
  if (record.portal.is_unknown()) {
    record.portal = portal->id;
    record.link_local = portal->link_local;
  }
  if (record.tpgt.is_unknown()) record.tpgt = portal->tag;
  if (record.iface.is_unknown()) record.iface = parts.size() > 2 ? std::string(parts[2]) : "default";
}

void finish_record(NodeRecordText& text, const std::string& path, bool credentials, bool mutual, bool auth_seen) {
  facts::IscsiNodeRecord& record = text.record;
  const auto& values = text.values;
  record.path = path;
  if (const auto name = values.find("node.name"); name != values.end()) record.target = name->second.text;
  if (const auto tag = values.find("node.tpgt"); tag != values.end())
    if (const auto got = base::number<std::int32_t>(tag->second.text))
      record.tpgt = *got < 0 ? Fact<std::int32_t>::absent() : Fact<std::int32_t>(*got);
  const auto address = values.find("node.conn[0].address");
  if (address != values.end() && !is_unset(address->second.text)) {
    std::uint32_t port = 3260;
    if (const auto named = values.find("node.conn[0].port"); named != values.end())
      port = base::number<std::uint16_t>(named->second.text).value_or(3260);
    const auto portal = portal_of(address->second.text, port, record.tpgt);
    record.portal = portal.id;
    record.link_local = portal.link_local;
  }
  word(values, "iface.iscsi_ifacename", record.iface);
  word(values, "iface.transport_name", record.transport);
  word(values, "node.startup", record.startup);
  word(values, "node.conn[0].startup", record.conn_startup);
  if (const auto leading = values.find("node.leading_login"); leading != values.end())
    record.leading_login = leading->second.text == "Yes";
  word(values, "node.discovery_type", record.discovery_type);
  word(values, "node.discovery_address", record.discovery_addr);
  word(values, "node.session.scan", record.scan);
  number(values, "node.session.nr_sessions", record.nr_sessions);
  number(values, "node.session.iscsi.MaxConnections", record.max_connections);
  number(values, "node.session.timeo.replacement_timeout", record.replacement_timeout_s);
  number(values, "node.conn[0].timeo.noop_out_interval", record.noop_out_interval_s);
  number(values, "node.conn[0].timeo.noop_out_timeout", record.noop_out_timeout_s);
  number(values, "node.conn[0].timeo.login_timeout", record.login_timeout_s);
  number(values, "node.session.initial_login_retry_max", record.initial_login_retry_max);
  number(values, "node.session.queue_depth", record.queue_depth);
  number(values, "node.session.cmds_max", record.cmds_max);
  word(values, "node.session.auth.authmethod", record.auth_method);
  word(values, "node.session.auth.chap_algs", record.chap_algs);
  if (auth_seen) {
    record.chap_configured = credentials;
    record.chap_mutual_configured = mutual;
  }
  from_path(path, record);
}

bool is_mutual_credential(std::string_view key) { return key.ends_with("_in"); }

}  // namespace

bool is_chap_credential(std::string_view key) {
  return key.find(".auth.username") != std::string_view::npos || key.find(".auth.password") != std::string_view::npos ||
         key.starts_with("iface.chap_") || key.find("passw") != std::string_view::npos;
}

std::string normal_setting(std::string_view value) {
  value = unquoted(base::trim(value));
  if (const auto number = base::number<std::uint64_t>(value)) return std::to_string(*number);
  std::string low(value);
  for (char& c : low) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (low == "yes") return "Yes";
  if (low == "no") return "No";
  if (low == "none") return "None";
  if (low == "crc32c") return "CRC32C";
  return std::string(value);
}

Parsed<std::vector<facts::IscsidConfEntry>> parse_iscsid_conf(std::string_view text, const std::string& path) {
  Parsed<std::vector<facts::IscsidConfEntry>> parsed;
  std::unordered_map<std::string, std::size_t> last;
  each_assignment(text, parsed.notes, [&](std::size_t line, std::string_view, const Assignment& a) {
    if (a.key.empty()) return;
    facts::IscsidConfEntry entry;
    entry.path = path;
    entry.line = static_cast<std::uint32_t>(line);
    entry.key = std::string(a.key);
    entry.value = is_chap_credential(a.key) && !is_unset(a.value) ? "***" : std::string(a.value);
    if (const auto before = last.find(entry.key); before != last.end()) parsed.facts[before->second].overridden = true;
    last[entry.key] = parsed.facts.size();
    parsed.facts.push_back(std::move(entry));
  });
  return parsed;
}

Parsed<std::vector<NodeRecordText>> parse_node_records(std::string_view text, const std::string& path) {
  Parsed<std::vector<NodeRecordText>> parsed;
  NodeRecordText record;
  bool open = false;
  bool credentials = false;
  bool mutual = false;
  bool auth_seen = false;
  const auto finish = [&] {
    if (open) {
      finish_record(record, path, credentials, mutual, auth_seen);
      if (record.record.target.empty())
        add_note(parsed.notes, 0, "a record without node.name");
      else
        parsed.facts.push_back(std::move(record));
    }
    record = {};
    open = credentials = mutual = auth_seen = false;
  };
  each_assignment(text, parsed.notes, [&](std::size_t line, std::string_view whole, const Assignment& a) {
    if (a.key.empty()) {
      if (whole.starts_with("# BEGIN RECORD") || whole.starts_with("# END RECORD")) finish();
      return;
    }
    open = true;
    if (is_chap_credential(a.key)) {
      auth_seen = true;
      const bool set = !is_unset(a.value);
      credentials = credentials || (set && !is_mutual_credential(a.key));
      mutual = mutual || (set && is_mutual_credential(a.key));
      return;
    }
    record.values[std::string(a.key)] = {std::string(a.value), line};
  });
  finish();
  return parsed;
}

Parsed<facts::IscsiIface> parse_iface_record(std::string_view text, const std::string& path) {
  Parsed<facts::IscsiIface> parsed;
  std::map<std::string, NodeRecordText::Value> values;
  each_assignment(text, parsed.notes, [&](std::size_t line, std::string_view, const Assignment& a) {
    if (!a.key.empty() && !is_chap_credential(a.key)) values[std::string(a.key)] = {std::string(a.value), line};
  });
  auto& iface = parsed.facts;
  iface.path = path;
  iface.name = path.substr(path.rfind('/') + 1);
  Fact<std::string> name;
  word(values, "iface.iscsi_ifacename", name);
  if (name.has_value()) iface.name = *name;
  word(values, "iface.transport_name", iface.transport);
  word(values, "iface.net_ifacename", iface.netdev);
  word(values, "iface.hwaddress", iface.hwaddress);
  word(values, "iface.ipaddress", iface.ipaddress);
  word(values, "iface.initiatorname", iface.initiatorname);
  return parsed;
}

Parsed<InitiatorName> parse_initiatorname(std::string_view text) {
  Parsed<InitiatorName> parsed;
  parsed.facts.name = Fact<std::string>::absent();
  Lines lines(text, parsed.notes);
  constexpr std::string_view key = "InitiatorName=";
  for (std::string_view line; lines.next(line);) {
    line = base::trim(line);
    if (line.empty() || line.front() == '#') continue;
    if (line.starts_with("InitiatorAlias=")) continue;
    if (!line.starts_with(key)) {
      add_note(parsed.notes, lines.number(), "neither InitiatorName= nor InitiatorAlias=");
      continue;
    }
    const auto name = base::trim(line.substr(key.size()));
    if (!is_target_name(name)) {
      add_note(parsed.notes, lines.number(),
               name.empty() ? "no name behind InitiatorName=" : "the name is no iSCSI name");
      continue;
    }
    ++parsed.facts.count;
    parsed.facts.name = std::string(name);
  }
  return parsed;
}

std::string scrub_iscsi_conf(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const auto end = text.find('\n');
    const auto line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    const auto equals = line.find('=');
    auto key = base::trim(line.substr(0, equals));
    while (key.starts_with('#')) key = base::trim(key.substr(1));  // one that was commented out is none the less secret
    // A line without "=" cannot be told apart: what stands behind the name goes.
    const auto stop = equals != std::string_view::npos ? equals + 1 : line.find_first_of(" \t", line.find(key));
    if (is_chap_credential(key.substr(0, key.find_first_of(" \t"))) && stop != std::string_view::npos &&
        !is_unset(line.substr(stop)))
      out.append(line.substr(0, stop)).append(" ***");
    else
      out += line;
    if (end != std::string_view::npos) out += '\n';
  }
  return out;
}

const std::vector<IscsiSettingKey>& iscsi_setting_keys() {
  static const std::vector<IscsiSettingKey> keys{
      {"node.session.timeo.replacement_timeout", "120"},
      {"node.conn[0].timeo.noop_out_interval", "5"},
      {"node.conn[0].timeo.noop_out_timeout", "5"},
      {"node.session.err_timeo.abort_timeout", "15"},
      {"node.session.err_timeo.lu_reset_timeout", "30"},
      {"node.session.err_timeo.tgt_reset_timeout", "30"},
      {"node.conn[0].timeo.login_timeout", "15"},
      {"node.session.initial_login_retry_max", "8"},
      {"node.session.queue_depth", "32"},
      {"node.session.cmds_max", "128"},
      {"node.session.nr_sessions", "1"},
      {"node.session.iscsi.MaxConnections", "1"},
      {"node.session.scan", "auto"},
      {"node.startup", "manual"},
      {"node.session.iscsi.InitialR2T", "No"},
      {"node.session.iscsi.ImmediateData", "Yes"},
      {"node.session.iscsi.FirstBurstLength", "262144"},
      {"node.session.iscsi.MaxBurstLength", "16776192"},
      {"node.session.iscsi.MaxOutstandingR2T", "1"},
      {"node.conn[0].iscsi.MaxRecvDataSegmentLength", "262144"},
      {"node.conn[0].iscsi.HeaderDigest", "None"},
      {"node.conn[0].iscsi.DataDigest", "None"},
  };
  return keys;
}

}  // namespace probes
