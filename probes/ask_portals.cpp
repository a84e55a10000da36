#include "probes/ask_portals.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "audit/base/lists.h"
#include "probes/host/address.h"
#include "probes/host/iscsi_names.h"

namespace probes {

namespace {

using facts::Fact;
using facts::IscsiPortal;

// A link-local address without a zone leads nowhere: it is not the same as one that has a zone.
bool same_place(const IscsiPortal& known, const std::string& addr, std::uint32_t port) {
  const bool zoned = addr.find('%') != std::string::npos;
  if (known.port != port || zoned != (known.addr.find('%') != std::string::npos)) return false;
  return known.addr == addr || (!known.is_name && same_address(known.addr, addr));
}

// The entry of an address and port. Where several differ in their tag, the one with this tag, else the first.
IscsiPortal* entry_of(facts::Facts& facts, const std::string& addr, std::uint32_t port, const Fact<std::int32_t>& tag) {
  IscsiPortal* first = nullptr;
  for (auto& portal : facts.iscsi.portals) {
    if (!same_place(portal, addr, port)) continue;
    if (tag.has_value() && portal.tag == tag) return &portal;
    if (first == nullptr && (!tag.has_value() || !portal.tag.has_value())) first = &portal;
  }
  return first;
}

IscsiPortal& place_of(facts::Facts& facts, const std::string& addr, std::uint32_t port, const Fact<std::int32_t>& tag,
                      const char* origin) {
  IscsiPortal* entry = entry_of(facts, addr, port, tag);
  if (entry == nullptr) {
    facts.iscsi.portals.push_back(portal_of(addr, port, tag));
    entry = &facts.iscsi.portals.back();
    entry->origins.emplace_back(origin);
  }
  return *entry;
}

facts::IscsiTarget& target_of(facts::Facts& facts, const std::string& name) {
  auto& targets = facts.iscsi.targets;
  const auto found =
      std::find_if(targets.begin(), targets.end(), [&](const facts::IscsiTarget& one) { return one.name == name; });
  if (found != targets.end()) return *found;
  targets.emplace_back().name = name;
  return targets.back();
}

void keep_connect(IscsiPortal& entry, const IscsiPortal& answer) {
  entry.reachable = answer.reachable;
  entry.connect_result = answer.connect_result;
  entry.connect_detail = answer.connect_detail;
  entry.connect_ms = answer.connect_ms;
  entry.tcp_rtt_us = answer.tcp_rtt_us;
  entry.tcp_mss_bytes = answer.tcp_mss_bytes;
  entry.tcp_retrans = answer.tcp_retrans;
  entry.asked_from = answer.asked_from;
}

bool is_asked(const IscsiPortal& portal) {
  return !portal.connect_result.is_unknown() || !portal.discovery.is_unknown() || !portal.logins.is_unknown();
}

// One description of a LUN for all paths: the first that could be had.
void keep_luns(facts::IscsiTarget& target, std::vector<facts::IscsiLun> luns, const std::string& portal) {
  if (!target.luns.has_value()) target.luns = std::vector<facts::IscsiLun>{};
  for (auto& lun : luns) {
    const auto known = std::find_if(target.luns->begin(), target.luns->end(),
                                    [&](const facts::IscsiLun& one) { return one.lun == lun.lun; });
    if (known == target.luns->end()) {
      lun.portals = {portal};
      target.luns->push_back(std::move(lun));
      continue;
    }
    base::add_once(known->portals, portal);
    if (known->type.has_value() || !lun.type.has_value()) continue;
    lun.portals = known->portals;
    *known = std::move(lun);
  }
}

// Another network namespace has other addresses, routes and firewall rules.
void ask_was_foreign(wire::IscsiPortalAnswer& answer) {
  if (answer.portal.reachable.is(false)) answer.portal.reachable = {};
  for (auto& row : answer.sources) {
    if (row.status != "ok")
      row.detail += " (asked in another network namespace than the node's: says nothing of the node)";
  }
}

void join_portal(facts::Facts& facts, wire::IscsiPortalAnswer answer, Fact<std::int32_t> tag, const char* origin) {
  if (!tag.has_value() && answer.portal.logins.has_value()) {
    for (const auto& login : *answer.portal.logins)
      if (login.tag.has_value() && !tag.has_value()) tag = login.tag;
  }
  const std::string addr = answer.portal.addr;
  const std::uint32_t port = answer.portal.port;
  IscsiPortal& entry = place_of(facts, addr, port, tag, origin);
  for (auto& portal : facts.iscsi.portals)
    if (same_place(portal, addr, port)) keep_connect(portal, answer.portal);
  entry.discovery =
      answer.portal.discovery.is_unknown() ? Fact<facts::IscsiDiscovery>::absent() : std::move(answer.portal.discovery);
  for (auto& luns : answer.luns) {
    auto& target = target_of(facts, luns.target);
    keep_luns(target, std::move(luns.luns), entry.id);
    base::add_once(entry.targets, luns.target);
  }
  if (answer.portal.logins.has_value()) {
    for (auto& login : *answer.portal.logins) {
      IscsiPortal* own = login.tag.has_value() ? entry_of(facts, addr, port, login.tag) : nullptr;
      if (own == nullptr) own = &entry;
      if (!own->logins.has_value()) own->logins = std::vector<facts::IscsiLogin>{};
      own->logins->push_back(std::move(login));
    }
  }
  for (auto& row : answer.sources) facts.sources.push_back(std::move(row));
}

}  // namespace

std::vector<wire::IscsiPortalTarget> portals_of(const facts::Facts& facts, bool login) {
  std::vector<wire::IscsiPortalTarget> out;
  if (!facts.iscsi.sessions.has_value()) return out;
  for (const auto& portal : facts.iscsi.portals) {
    wire::IscsiPortalTarget target;
    bool used = false;
    for (const auto& session : *facts.iscsi.sessions) {
      // What an adapter runs has the adapter's addresses and network: a connect of ours would say nothing about it.
      if (!session.portal.is(portal.id) || session.offload.is(true)) continue;
      used = true;
      if (!login) continue;
      wire::IscsiLoginWish wish{session.target, {}};
      if (facts.block.devices.has_value()) {
        for (const auto& device : *facts.block.devices)
          if (device.session.is(session.id) && device.lun.has_value())
            base::add_once(wish.luns, std::to_string(*device.lun));
      }
      target.logins.push_back(std::move(wish));
    }
    if (!used) continue;
    target.name = portal.addr;
    if (!portal.is_name) target.addr = portal.addr;
    target.port = static_cast<std::uint16_t>(portal.port);
    target.tag = portal.tag;
    target.discover = login;
    out.push_back(std::move(target));
  }
  return out;
}

void join_iscsi_answers(facts::Facts& facts, wire::IscsiAnswers answers, const char* origin) {
  const bool foreign = facts.network.same_namespace.is(false);
  struct Told {
    std::string addr;
    std::uint32_t port;
  };
  std::vector<Told> tellers;
  for (auto& answer : answers.portals) {
    if (foreign) ask_was_foreign(answer);
    tellers.push_back({answer.portal.addr, answer.portal.port});
    Fact<std::int32_t> tag = answer.portal.tag;
    bool offered = false;
    for (const auto& one : answers.offered) {
      if (one.address.port != answer.portal.port || !same_address(one.address.host, answer.portal.addr)) continue;
      offered = offered || one.told_by != tellers.size() - 1;
      if (!tag.has_value() && one.address.tag) tag = static_cast<std::int32_t>(*one.address.tag);
    }
    join_portal(facts, std::move(answer), tag, offered ? "discovery" : origin);
  }
  for (const auto& offered : answers.offered) {
    const auto tag = offered.address.tag ? Fact<std::int32_t>(static_cast<std::int32_t>(*offered.address.tag))
                                         : Fact<std::int32_t>();
    const Told& teller = tellers[offered.told_by];
    const std::string told_by = place_of(facts, teller.addr, teller.port, {}, origin).id;
    IscsiPortal& portal = place_of(facts, offered.address.host, offered.address.port, tag, "discovery");
    base::add_once(portal.targets, offered.target);
    base::add_once(portal.origins, std::string("discovery"));
    const std::string id = portal.id;
    auto& target = target_of(facts, offered.target);
    if (!target.offered_portals.has_value()) target.offered_portals = std::vector<facts::IscsiOfferedPortal>{};
    const bool known = std::any_of(target.offered_portals->begin(), target.offered_portals->end(),
                                   [&](const facts::IscsiOfferedPortal& one) { return one.portal == id; });
    if (!known) target.offered_portals->push_back({id, told_by});
  }
}

void copy_iscsi_answers(const facts::Facts& from, facts::Facts& to) {
  std::copy_if(from.iscsi.portals.begin(), from.iscsi.portals.end(), std::back_inserter(to.iscsi.portals),
               [&](const IscsiPortal& portal) {
                 return is_asked(portal) ||
                        std::find(portal.origins.begin(), portal.origins.end(), "discovery") != portal.origins.end();
               });
  for (const auto& target : from.iscsi.targets) {
    if (target.offered_portals.is_unknown() && target.luns.is_unknown()) continue;
    auto& copy = to.iscsi.targets.emplace_back();
    copy.name = target.name;
    copy.offered_portals = target.offered_portals;
    copy.luns = target.luns;
  }
}

void join_saved_iscsi_answers(facts::Facts& facts, const facts::Facts& saved) {
  for (const auto& answer : saved.iscsi.portals) {
    IscsiPortal& entry = place_of(facts, answer.addr, answer.port, answer.tag, "discovery");
    if (is_asked(answer)) {
      keep_connect(entry, answer);
      entry.discovery = answer.discovery;
      entry.logins = answer.logins;
    }
    for (const auto& origin : answer.origins) base::add_once(entry.origins, origin);
    for (const auto& target : answer.targets) base::add_once(entry.targets, target);
  }
  for (const auto& answer : saved.iscsi.targets) {
    auto& target = target_of(facts, answer.name);
    target.offered_portals = answer.offered_portals;
    target.luns = answer.luns;
  }
}

}  // namespace probes
