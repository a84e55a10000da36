#include "probes/host/storage_merge.h"

#include <algorithm>
#include <unordered_map>

namespace probes {

namespace {

using facts::BlockDevice;
using facts::Fact;
using facts::IscsiConnection;
using facts::IscsiSession;

template <class T>
std::vector<T>& known_list(Fact<std::vector<T>>& fact) {
  if (!fact.has_value()) fact = std::vector<T>{};
  return *fact;
}

template <class S, class... M>
void fill_in(S& to, const S& from, M S::*... members) {
  const auto one = [&](auto member) {
    if ((to.*member).is_unknown()) to.*member = from.*member;
  };
  (one(members), ...);
}

void fill_connection(IscsiConnection& to, const IscsiConnection& from) {
  using C = IscsiConnection;
  fill_in(to, from, &C::state, &C::iscsid_state, &C::connected, &C::persistent_addr, &C::persistent_port, &C::addr,
          &C::port, &C::local_port, &C::recv_tmo_s, &C::ping_tmo_s, &C::header_digest, &C::data_digest,
          &C::max_recv_dlength_bytes, &C::max_xmit_dlength_bytes);
}

void fill_session(IscsiSession& to, IscsiSession from) {
  using S = IscsiSession;
  fill_in(to, from, &S::sid, &S::portal, &S::tpgt, &S::transport, &S::offload, &S::flash, &S::iface, &S::host,
          &S::netdev, &S::initiatorname, &S::initiator_addr, &S::isid, &S::state, &S::iscsid_state, &S::target_state,
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
      fill_in(*known, host, &facts::IscsiHost::state);
  }
  for (auto& device : said.devices) add_device(facts, std::move(device));
}

void add_device(facts::Facts& facts, BlockDevice device) {
  using D = BlockDevice;
  auto& devices = known_list(facts.block.devices);
  const auto known =
      std::find_if(devices.begin(), devices.end(), [&](const auto& other) { return other.name == device.name; });
  if (known != devices.end()) {
    fill_in(*known, device, &D::dev, &D::hctl, &D::host, &D::lun, &D::sid, &D::session, &D::target, &D::portal,
            &D::state);
    return;
  }
  if (device.id.empty()) device.id = device.name;
  devices.push_back(std::move(device));
}

}  // namespace probes
