// --declare: Kubernetes objects, told by apiVersion and kind, and mountaudit.declare/1, told by its schema. YAML (one
// or several documents) or JSON.
#pragma once

#include <string>
#include <string_view>

#include "audit/base/result.h"
#include "audit/facts/facts.h"
#include "probes/parsed.h"

namespace probes {

// What --declare reads, in words.
inline constexpr std::string_view declared_kinds =
    "Kubernetes YAML or JSON (PersistentVolume, PersistentVolumeClaim, StorageClass, TridentBackendConfig, and the "
    "versions in TridentVersion, TridentOrchestrator and ClusterVersion, alone or in a List) and plan.failovers of "
    "schema: mountaudit.declare/1";

// Of mountaudit.declare/1 plan.failovers is read: a list of {server, start, end}. Of Kubernetes the kinds above; beside
// them other objects are named in a note and left out; a Secret is never looked into, and only the fields of
// audit/facts/declared.h are read.
// Errors, with where:line: malformed for what is no YAML or JSON, for an anchor, an alias, a duplicate key, nesting
// over 64, more than 64 MiB; usage for a text in which nothing is of these kinds.
base::Result<Parsed<facts::Declared>> parse_declared(std::string_view text, const std::string& where);

// Adds to what was declared before.
void add_declared(facts::Declared& to, facts::Declared&& more);

}  // namespace probes
