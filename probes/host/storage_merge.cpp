#include "probes/host/storage_merge.h"

#include <algorithm>
#include <unordered_map>

namespace probes {

namespace {

using facts::BlockDevice;
using facts::Fact;
using facts::IscsiConnection;
using facts::IscsiSession;
using facts::MultipathMap;
using facts::MultipathPath;

template <class S, class... M>
void fill(S& to, const S& from, M S::*... members) {
  const auto one = [&](auto member) {
    if ((to.*member).is_unknown()) to.*member = from.*member;
  };
  (one(members), ...);
}

void fill_connection(IscsiConnection& to, const IscsiConnection& from) {
  using C = IscsiConnection;
  fill(to, from, &C::state, &C::iscsid_state, &C::connected, &C::persistent_addr, &C::persistent_port, &C::addr,
       &C::port, &C::local_port, &C::recv_tmo_s, &C::ping_tmo_s, &C::header_digest, &C::data_digest,
       &C::max_recv_dlength_bytes, &C::max_xmit_dlength_bytes);
}

void fill_session(IscsiSession& to, IscsiSession from) {
  using S = IscsiSession;
  fill(to, from, &S::sid, &S::portal, &S::tpgt, &S::transport, &S::offload, &S::flash, &S::iface, &S::host, &S::netdev,
       &S::initiatorname, &S::initiator_addr, &S::isid, &S::state, &S::iscsid_state, &S::target_state,
       &S::recovery_tmo_s, &S::abort_tmo_s, &S::lu_reset_tmo_s, &S::tgt_reset_tmo_s, &S::initial_r2t,
       &S::immediate_data, &S::first_burst_len_bytes, &S::max_burst_len_bytes, &S::max_outstanding_r2t, &S::erl,
       &S::chap_configured, &S::chap_mutual_configured, &S::can_queue, &S::cmd_per_lun, &S::stats);
  for (auto& connection : from.connections) {
    const auto known = std::find_if(to.connections.begin(), to.connections.end(),
                                    [&](const auto& other) { return other.cid == connection.cid; });
    if (known == to.connections.end())
      to.connections.push_back(std::move(connection));
    else
      fill_connection(*known, connection);
  }
  for (auto& name : from.devices)
    if (std::find(to.devices.begin(), to.devices.end(), name) == to.devices.end()) to.devices.push_back(name);
  for (auto& text : from.told_by)
    if (std::find(to.told_by.begin(), to.told_by.end(), text) == to.told_by.end()) to.told_by.push_back(text);
}

void fill_path(MultipathPath& to, const MultipathPath& from) {
  using P = MultipathPath;
  fill(to, from, &P::dev, &P::hctl, &P::host, &P::lun, &P::group, &P::dm_state, &P::checker_state, &P::dev_state,
       &P::prio, &P::checker, &P::marginal, &P::ana_state, &P::wwid, &P::session, &P::sid, &P::target, &P::portal,
       &P::access_state, &P::target_node, &P::host_adapter);
}

void fill_map(MultipathMap& to, MultipathMap from) {
  using M = MultipathMap;
  fill(to, from, &M::wwid, &M::alias, &M::device, &M::dev, &M::vendor, &M::product, &M::rev, &M::size_text,
       &M::size_bytes, &M::state, &M::write_protect, &M::features_text, &M::queue_if_no_path, &M::queueing,
       &M::queue_left_s, &M::hwhandler, &M::failback, &M::path_faults, &M::switch_group_count, &M::map_loads,
       &M::total_queue_s, &M::queue_timeouts);
  if (to.groups.empty() && to.paths.empty()) {
    to.groups = std::move(from.groups);
    to.paths = std::move(from.paths);
  } else {
    for (auto& path : to.paths)
      for (const auto& other : from.paths)
        if (!path.device.empty() && path.device == other.device) fill_path(path, other);
  }
  to.checkers_ran = to.checkers_ran || from.checkers_ran;
  to.told_by.insert(to.told_by.end(), from.told_by.begin(), from.told_by.end());
}

}  // namespace

void add_sessions(facts::Facts& facts, SessionText said) {
  if (!said.told) return;
  auto& sessions = known_list(facts.iscsi.sessions);
  std::unordered_map<std::uint32_t, std::size_t> by_sid;
  std::unordered_map<std::string, std::size_t> by_login;  // of those that were known before
  const auto login = [](const IscsiSession& s) { return s.target + " " + s.portal.value_or(""); };
  for (std::size_t i = 0; i < sessions.size(); ++i) {
    if (sessions[i].sid.has_value()) by_sid.emplace(*sessions[i].sid, i);
    by_login.emplace(login(sessions[i]), i);
  }
  for (auto& session : said.sessions) {
    std::size_t at = sessions.size();
    if (session.sid.has_value()) {
      if (const auto found = by_sid.find(*session.sid); found != by_sid.end()) at = found->second;
    }
    if (at == sessions.size()) {
      const auto found = by_login.find(login(session));
      if (found != by_login.end() && (session.sid.is_unknown() || sessions[found->second].sid.is_unknown()))
        at = found->second;
    }
    if (at == sessions.size())
      sessions.push_back(std::move(session));
    else
      fill_session(sessions[at], std::move(session));
  }
  for (auto& host : said.hosts) {
    auto& hosts = known_list(facts.iscsi.hosts);
    const auto known = std::find_if(hosts.begin(), hosts.end(), [&](const auto& h) { return h.number == host.number; });
    if (known == hosts.end())
      hosts.push_back(std::move(host));
    else
      fill(*known, host, &facts::IscsiHost::state);
  }
  for (auto& device : said.devices) add_device(facts, std::move(device));
}

void add_session_stats(facts::Facts& facts, const std::vector<std::pair<std::uint32_t, facts::IscsiStats>>& stats) {
  if (!facts.iscsi.sessions.has_value()) return;
  for (auto& session : *facts.iscsi.sessions)
    for (const auto& [sid, counters] : stats)
      if (session.sid.is(sid)) session.stats = counters;
}

void add_node_record(facts::Facts& facts, facts::IscsiNodeRecord record) {
  auto& records = known_list(facts.iscsi.node_records);
  const bool known = std::any_of(records.begin(), records.end(), [&](const auto& other) {
    if (!record.path.empty() && record.path == other.path) return true;
    return record.target == other.target && record.portal.has_value() && record.portal == other.portal &&
           (record.iface.is_unknown() || record.iface == other.iface);
  });
  if (!known) records.push_back(std::move(record));
}

void add_device(facts::Facts& facts, BlockDevice device) {
  using D = BlockDevice;
  auto& devices = known_list(facts.block.devices);
  const auto known =
      std::find_if(devices.begin(), devices.end(), [&](const auto& other) { return other.name == device.name; });
  if (known != devices.end()) {
    fill(*known, device, &D::dev, &D::hctl, &D::host, &D::lun, &D::sid, &D::session, &D::target, &D::portal, &D::state);
    return;
  }
  if (device.id.empty()) device.id = device.name;
  devices.push_back(std::move(device));
}

void add_multipath(facts::Facts& facts, MultipathText said) {
  auto& multipath = facts.multipath;
  auto& maps = known_list(multipath.maps);
  for (auto& map : said.maps) {
    const auto known = std::find_if(maps.begin(), maps.end(), [&](const MultipathMap& other) {
      if (map.wwid.has_value() && other.wwid.has_value()) return map.wwid == other.wwid;
      return map.alias.has_value() && map.alias == other.alias;
    });
    // One text that shows a WWID twice shows two maps.
    if (known == maps.end() || known->told_by == map.told_by)
      maps.push_back(std::move(map));
    else
      fill_map(*known, std::move(map));
  }
  for (auto& path : said.paths) {
    MultipathPath* in_map = nullptr;
    for (auto& map : maps)
      for (auto& member : map.paths)
        if (!path.device.empty() && member.device == path.device) in_map = &member;
    if (in_map != nullptr)
      fill_path(*in_map, path);
    else
      known_list(multipath.paths).push_back(std::move(path));
  }
  for (auto& notice : said.notices) multipath.notices.push_back(std::move(notice));
}

}  // namespace probes
