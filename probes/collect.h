// The passive collection: all registered passive probes over one Host, in order, each leaving its source rows.
#pragma once

#include <string>

#include "audit/facts/facts.h"
#include "probes/io/host.h"

namespace probes {

struct CollectOptions {
  facts::Declared declared;  // --declare (probes/host/declared.h)
  std::string node_name;     // MOUNTAUDIT_NODE: the node's name where the host name is that of a pod; empty: not given
};

// Never fails: what could not be read is a row of `sources`. A capture with an earlier sample fills `earlier`.
facts::Facts collect(const Host& host, const CollectOptions& options = {});

// Reads mounts and counters again, at the end of a live run: `facts` becomes the new sample, and `earlier` the old one
// (its counters only). An `earlier` that was there already (--since) stays. When the second reading fails the
// first sample stays what it was, a source row says why, and the result is false.
bool take_second_sample(const Host& host, facts::Facts& facts);

// --declare with saved facts: adds it, and tells again which place asked for a mount that no file of the node names.
void use_declared(facts::Facts& facts, facts::Declared declared);

// --since: takes a saved document of the same node as `earlier`. Another node, another boot or a later time is refused
// in a source row called `name`.
void use_since(facts::Facts& facts, const facts::Facts& old, const std::string& name);

}  // namespace probes
