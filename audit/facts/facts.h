// The facts document, mountaudit.facts/1: all that was read of one node. Raw: rates, ratios and joins are derived in
// audit/eval/derive.cpp and not stored.
#pragma once

#include <string>
#include <tuple>
#include <vector>

#include "audit/facts/config.h"
#include "audit/facts/declared.h"
#include "audit/facts/fact.h"
#include "audit/facts/log.h"
#include "audit/facts/mount.h"
#include "audit/facts/network.h"
#include "audit/facts/nfs.h"
#include "audit/facts/node.h"

namespace facts {

inline constexpr const char* schema_name = "mountaudit.facts/1";

struct Facts {
  std::string schema = schema_name;
  Node node;
  std::vector<Source> sources;
  std::vector<Mount> mounts;
  Nfs nfs;
  Kernel kernel;
  Network network;
  Config config;
  Log log;
  Declared declared;
  Box<Facts> earlier;

  template <class Facts = facts::Facts>
  static constexpr auto fields() {
    return std::tuple{
        Field{"schema", &Facts::schema, "name and version of this document: mountaudit.facts/1"},
        Field{"node", &Facts::node, "the node and how it was read"},
        Field{"sources", &Facts::sources, "one row per source: what was read or asked, and how that went"},
        Field{"mounts", &Facts::mounts, "mounts that matter to network storage, look-alikes included"},
        Field{"nfs", &Facts::nfs, "the NFS client"},
        Field{"kernel", &Facts::kernel, "kernel and distribution"},
        Field{"network", &Facts::network, "interfaces, paths and connections to the servers"},
        Field{"config", &Facts::config, "what was asked for, as files say it"},
        Field{"log", &Facts::log, "known messages of kernel and daemons"},
        Field{"declared", &Facts::declared, "what --declare said"},
        Field{"earlier", &Facts::earlier, "an earlier sample of the same node, same shape"}};
  }
  bool operator==(const Facts&) const = default;
};

}  // namespace facts
