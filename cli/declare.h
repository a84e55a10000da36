// --declare: objects of the cluster, read before the node is, so that a wrong file is known at once.
#pragma once

#include <vector>

#include "audit/base/result.h"
#include "audit/facts/facts.h"
#include "cli/options.h"
#include "probes/io/host.h"

namespace cli {

struct Declaration {
  facts::Declared declared;
  std::vector<facts::Source> sources;  // a row per file
};

// Errors: usage for a kind or content that is not read (it says what is), else what reading and parsing gave.
base::Result<Declaration> read_declarations(const Settings& settings);

// Adds it to facts of a node: its options enter nfs.mounts[].asked where no file of the node names the mount.
void add_declaration(facts::Facts& facts, Declaration declaration);

// A captured tree keeps it as a document of its own, and gives it back.
base::Result<void> write_declaration(const std::string& directory, const facts::Facts& facts);
void replay_declaration(const probes::Host& host, facts::Facts& facts);

}  // namespace cli
