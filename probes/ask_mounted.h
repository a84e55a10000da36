// The servers that a node's mounts name: whom to ask, and how their answers join what the kernel told.
#pragma once

#include <vector>

#include "audit/facts/facts.h"
#include "probes/wire/ask_nfs.h"

namespace probes {

// One target for each entry of nfs.servers whose address is known, in that order. Names are not looked up: the address
// that the mounts use is the one that counts.
std::vector<wire::NfsTarget> targets_of(const facts::Facts& facts);

// Names (no addresses) that mounts of NFSv4.1 and 4.2 give their servers, each once, at most 64: only there the client
// lets mounts of different names share connections.
std::vector<std::string> names_of(const facts::Facts& facts);
void join_names(facts::Facts& facts, const std::vector<wire::LookedUp>& names);

// Puts the answers in the place of the entries that they belong to (equal address and port, else the only entry of that
// address; the others are added), and their rows behind the other sources. What only the kernel told (kind, lease)
// stays where the server did not say it. Asked from another network namespace than pid 1's, a port that did not answer
// is not known rather than unreachable.
void join_answers(facts::Facts& facts, std::vector<wire::NfsAnswer> answers);

// What join_answers() brought, as a document of its own for a captured tree, and back.
facts::Facts answers_of(const facts::Facts& facts);
void join_saved_answers(facts::Facts& facts, facts::Facts saved);

}  // namespace probes
