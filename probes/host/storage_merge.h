// Several texts speak of one session, disk or map: what the later one adds to what is known. A value that is known
// stays; the text that is read first is the one that knows most.
#pragma once

#include <string>

#include "audit/facts/facts.h"
#include "probes/host/iscsiadm.h"
#include "probes/host/multipath_text.h"

namespace probes {

// A session is the same by its number, else by target, portal and interface where either text has no number.
void add_sessions(facts::Facts& facts, SessionText said);
void add_session_stats(facts::Facts& facts, const std::vector<std::pair<std::uint32_t, facts::IscsiStats>>& stats);
// By path, else by target, portal and interface.
void add_node_record(facts::Facts& facts, facts::IscsiNodeRecord record);
void add_device(facts::Facts& facts, facts::BlockDevice device);
// A map is the same by its WWID, else by its alias.
void add_multipath(facts::Facts& facts, MultipathText said);

template <class T>
std::vector<T>& known_list(facts::Fact<std::vector<T>>& fact) {
  if (!fact.has_value()) fact = std::vector<T>{};
  return *fact;
}

}  // namespace probes
