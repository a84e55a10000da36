// Texts of iscsiadm, multipath and open-iscsi's files as facts, for the cases of this directory: what the parsers give,
// and the lists of targets and portals that follow from the sessions and records.
#pragma once

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "audit/facts/facts.h"
#include "probes/host/iscsi_conf.h"
#include "probes/host/iscsi_names.h"
#include "probes/host/iscsiadm.h"
#include "probes/host/multipath_text.h"

namespace corpus {

struct StorageInput {
  std::string kind, file, text;
};

inline bool is_storage_kind(const std::string& kind) {
  static const std::vector<std::string> kinds{"iscsi-session", "iscsi-p1",       "iscsi-p3",        "nodes",
                                              "node-record",   "initiatorname",  "multipath-ll",    "multipath-l",
                                              "multipath-v4",  "multipath-json", "multipath-paths", "hosts"};
  return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
}

template <class T>
std::vector<T>& list_in(facts::Fact<std::vector<T>>& fact) {
  if (!fact.has_value()) fact = std::vector<T>{};
  return *fact;
}

// A flat list beside the print levels tells again of sessions that are known, by number.
inline void add_sessions(facts::Facts& f, const probes::SessionText& said) {
  auto& sessions = list_in(f.iscsi.sessions);
  for (const auto& session : said.sessions) {
    const auto known = std::find_if(sessions.begin(), sessions.end(), [&](const auto& other) {
      return session.sid.has_value() && other.sid == session.sid;
    });
    if (known == sessions.end()) sessions.push_back(session);
  }
  for (const auto& device : said.devices) list_in(f.block.devices).push_back(device);
}

inline void add_records(facts::Facts& f, const std::string& text, const std::string& file) {
  for (const auto& said : probes::parse_node_records(text, file).facts) {
    list_in(f.iscsi.node_records).push_back(said.record);
    for (auto& session : list_in(f.iscsi.sessions)) {
      if (session.target != said.record.target) continue;
      for (const auto& [key, builtin] : probes::iscsi_setting_keys()) {
        facts::IscsiSetting setting;
        setting.key = key;
        setting.builtin = builtin;
        const auto value = said.values.find(key);
        setting.record =
            value != said.values.end() ? facts::Fact<std::string>(value->second.text) : facts::Fact<std::string>{};
        if (setting.key == "node.session.timeo.replacement_timeout" && session.recovery_tmo_s.has_value())
          setting.live = std::to_string(*session.recovery_tmo_s);
        session.settings.push_back(setting);
      }
    }
  }
}

inline void add_multipath(facts::Facts& f, const probes::MultipathText& said) {
  for (const auto& map : said.maps) list_in(f.multipath.maps).push_back(map);
  for (const auto& path : said.paths) list_in(f.multipath.paths).push_back(path);
  f.multipath.notices.insert(f.multipath.notices.end(), said.notices.begin(), said.notices.end());
}

// "session12 host8" a line: the SCSI host of each session.
inline void add_hosts(facts::Facts& f, const std::string& text) {
  std::istringstream in(text);
  std::string session, host;
  while (in >> session >> host) {
    for (auto& one : list_in(f.iscsi.sessions)) {
      if (one.sid.has_value() && session == "session" + std::to_string(*one.sid))
        one.host = static_cast<std::uint32_t>(std::stoul(host.substr(4)));
    }
  }
}

inline void add_storage_text(facts::Facts& f, const StorageInput& input) {
  const auto& text = input.text;
  if (input.kind == "iscsi-session") {
    list_in(f.iscsi.sessions);  // "No active sessions." is an answer too
    add_sessions(f, probes::parse_session_list(text).facts);
  } else if (input.kind == "iscsi-p1" || input.kind == "iscsi-p3") {
    add_sessions(f, probes::parse_session_print(text).facts);
  } else if (input.kind == "nodes") {
    for (const auto& record : probes::parse_node_list(text).facts) list_in(f.iscsi.node_records).push_back(record);
  } else if (input.kind == "node-record") {
    add_records(f, text, input.file);
  } else if (input.kind == "initiatorname") {
    f.iscsi.initiatorname = probes::parse_initiatorname(text).facts.name;
  } else if (input.kind == "hosts") {
    add_hosts(f, text);
  } else if (input.kind == "multipath-json") {
    add_multipath(f, probes::parse_multipath_json(text, input.file).facts);
  } else if (input.kind == "multipath-paths") {
    add_multipath(f, probes::parse_multipath_paths(text, input.file).facts);
  } else if (input.kind.starts_with("multipath-")) {
    using probes::MultipathPrint;
    const auto print = input.kind == "multipath-l"    ? MultipathPrint::l
                       : input.kind == "multipath-v4" ? MultipathPrint::v4
                                                      : MultipathPrint::ll;
    add_multipath(f, probes::parse_multipath_tree(text, print, input.file).facts);
  }
}

inline facts::IscsiTarget& target_in(facts::Facts& f, const std::string& name) {
  for (auto& target : f.iscsi.targets) {
    if (target.name == name) return target;
  }
  f.iscsi.targets.emplace_back().name = name;
  return f.iscsi.targets.back();
}

inline void add_portal(facts::Facts& f, const std::string& id) {
  const auto known = [&](const facts::IscsiPortal& portal) { return portal.id == id; };
  if (std::any_of(f.iscsi.portals.begin(), f.iscsi.portals.end(), known)) return;
  if (const auto portal = probes::parse_portal(id)) f.iscsi.portals.push_back(*portal);
}

// Targets and portals, once all texts are read.
inline void list_ends(facts::Facts& f) {
  using Text = facts::Fact<std::string>;
  if (f.iscsi.sessions.has_value()) {
    for (const auto& session : *f.iscsi.sessions) {
      auto& target = target_in(f, session.target);
      target.sessions.push_back(session.id);
      if (!session.portal.has_value()) continue;
      target.portals.push_back(*session.portal);
      target.expected_portals.push_back({*session.portal, "session", session.id, Text::absent()});
      add_portal(f, *session.portal);
    }
  }
  if (!f.iscsi.node_records.has_value()) return;
  for (const auto& record : *f.iscsi.node_records) {
    auto& target = target_in(f, record.target);
    if (!record.portal.has_value()) continue;
    target.expected_portals.push_back({*record.portal, "node record", record.path, record.startup});
    add_portal(f, *record.portal);
  }
}

}  // namespace corpus
