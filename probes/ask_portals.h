// The iSCSI portals that a node's sessions use: whom to ask, and how answers of targets join what the kernel told.
#pragma once

#include <vector>

#include "audit/facts/facts.h"
#include "probes/wire/ask_iscsi.h"

namespace probes {

// One for each portal with a session that the kernel runs itself, in the order of iscsi.portals. With `login` also its
// targets, with the LUNs that the node has of them, and a discovery session.
std::vector<wire::IscsiPortalTarget> portals_of(const facts::Facts& facts, bool login);

// Puts the answers into iscsi.portals and iscsi.targets, new entries included, and their rows behind the other sources.
// `origin` is what names a portal that was not known before: user. Asked from another network namespace than pid 1's, a
// portal that did not answer is not known rather than unreachable.
void join_iscsi_answers(facts::Facts& facts, wire::IscsiAnswers answers, const char* origin);

// What join_iscsi_answers() brought, as entries of a document of its own for a captured tree, and back.
void copy_iscsi_answers(const facts::Facts& from, facts::Facts& to);
void join_saved_iscsi_answers(facts::Facts& facts, const facts::Facts& saved);

}  // namespace probes
