// What open-iscsi's files ask for: iscsid.conf, node and interface records, initiatorname.iscsi. Source: open-iscsi
// usr/idbm.c, etc/iscsid.conf, iscsiadm(8). User names and secrets of CHAP are never kept: set or not set, no more.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "audit/facts/iscsi.h"
#include "probes/parsed.h"

namespace probes {

// "KEY = VALUE" lines. iscsid itself passes over a line without a blank before or behind its "=", one without a value,
// and a last one without an end; each of these is a note. Quotes around a value are taken off.
Parsed<std::vector<facts::IscsidConfEntry>> parse_iscsid_conf(std::string_view text, const std::string& path);

struct NodeRecordText {
  facts::IscsiNodeRecord record;
  struct Value {
    std::string text;
    std::size_t line = 0;
  };
  std::map<std::string, Value> values;  // by key; credentials are not among them
};
// Records of /var/lib/iscsi/nodes/TARGET/ADDRESS,PORT,TAG/INTERFACE, or the output of iscsiadm -m node -o show with
// several of them. What the text leaves out is taken from the path where that is one of a record.
Parsed<std::vector<NodeRecordText>> parse_node_records(std::string_view text, const std::string& path);

// A record of /var/lib/iscsi/ifaces.
Parsed<facts::IscsiIface> parse_iface_record(std::string_view text, const std::string& path);

struct InitiatorName {
  facts::Fact<std::string> name;  // absent: the file has none. The last one counts
  std::uint32_t count = 0;
};
Parsed<InitiatorName> parse_initiatorname(std::string_view text);

// iscsid.conf or a record with user names and secrets of CHAP replaced by ***; everything else byte for byte.
std::string scrub_iscsi_conf(std::string_view text);
bool is_chap_credential(std::string_view key);

// Spelt as iscsid.conf has it: no leading zeros, "Yes" for yes.
std::string normal_setting(std::string_view value);

// The keys that a session, its record and iscsid.conf are compared by, with the value iscsid takes by itself.
struct IscsiSettingKey {
  const char* key;
  const char* builtin;
};
const std::vector<IscsiSettingKey>& iscsi_setting_keys();

}  // namespace probes
