// The facts document, mountaudit.facts/1: all that was read of one node. Raw: rates, ratios and joins are derived in
// audit/eval/derive.cpp and not stored.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "audit/facts/block.h"
#include "audit/facts/config.h"
#include "audit/facts/declared.h"
#include "audit/facts/fact.h"
#include "audit/facts/iscsi.h"
#include "audit/facts/latency.h"
#include "audit/facts/log.h"
#include "audit/facts/mount.h"
#include "audit/facts/multipath.h"
#include "audit/facts/network.h"
#include "audit/facts/nfs.h"
#include "audit/facts/node.h"
#include "audit/facts/reflect.h"

namespace facts {

inline constexpr const char* schema_name = "mountaudit.facts/1";

struct Facts {
  std::string schema = schema_name;
  Node node;
  std::vector<Source> sources;
  std::vector<Mount> mounts;
  Nfs nfs;
  Iscsi iscsi;
  Block block;
  Multipath multipath;
  Kernel kernel;
  Network network;
  Config config;
  Log log;
  Latency latency;
  Declared declared;
  Box<Facts> earlier;

  template <class Facts = facts::Facts>
  static auto fields() {
    return std::array{
        Field{"schema", &Facts::schema, "name and version of this document: mountaudit.facts/1"},
        Field{"node", &Facts::node, "the node and how it was read"},
        Field{"sources", &Facts::sources, "one row per source: what was read or asked, and how that went"},
        Field{"mounts", &Facts::mounts, "mounts that matter to network storage, look-alikes included"},
        Field{"nfs", &Facts::nfs, "the NFS client"},
        Field{"iscsi", &Facts::iscsi, "the iSCSI initiator"},
        Field{"block", &Facts::block, "block devices of network storage"},
        Field{"multipath", &Facts::multipath, "dm-multipath"},
        Field{"kernel", &Facts::kernel, "kernel and distribution"},
        Field{"network", &Facts::network, "interfaces, paths and connections to the servers"},
        Field{"config", &Facts::config, "what was asked for, as files say it"},
        Field{"log", &Facts::log, "known messages of kernel and daemons"},
        Field{"latency", &Facts::latency, "measured runs of load, and what is wanted of the storage"},
        Field{"declared", &Facts::declared, "what --declare said"},
        Field{"earlier", &Facts::earlier, "an earlier sample of the same node, same shape"}};
  }
  bool operator==(const Facts&) const = default;
};

// Described once, in types.cpp. What is not named here is described wherever it is asked for, which costs seconds.
extern template const TypeInfo& type_of<FstabEntry>();
extern template const TypeInfo& type_of<TridentVolume>();
extern template const TypeInfo& type_of<Config>();
extern template const TypeInfo& type_of<DeclaredPv>();
extern template const TypeInfo& type_of<DeclaredPvc>();
extern template const TypeInfo& type_of<DeclaredStorageClass>();
extern template const TypeInfo& type_of<DeclaredTridentBackend>();
extern template const TypeInfo& type_of<PlannedFailover>();
extern template const TypeInfo& type_of<Declared>();
extern template const TypeInfo& type_of<Facts>();
extern template const TypeInfo& type_of<LatencyBucket>();
extern template const TypeInfo& type_of<LatencyInterval>();
extern template const TypeInfo& type_of<LatencyRun>();
extern template const TypeInfo& type_of<LatencyNeed>();
extern template const TypeInfo& type_of<Latency>();
extern template const TypeInfo& type_of<LogMessage>();
extern template const TypeInfo& type_of<LogServer>();
extern template const TypeInfo& type_of<GracePeriod>();
extern template const TypeInfo& type_of<MountAttempt>();
extern template const TypeInfo& type_of<PastedExport>();
extern template const TypeInfo& type_of<Log>();
extern template const TypeInfo& type_of<Mount>();
extern template const TypeInfo& type_of<NfsmountConfEntry>();
extern template const TypeInfo& type_of<SystemdMount>();
extern template const TypeInfo& type_of<NfsRoot>();
extern template const TypeInfo& type_of<BondSlave>();
extern template const TypeInfo& type_of<Bond>();
extern template const TypeInfo& type_of<NetInterface>();
extern template const TypeInfo& type_of<NetName>();
extern template const TypeInfo& type_of<NetPath>();
extern template const TypeInfo& type_of<NetSocket>();
extern template const TypeInfo& type_of<Network>();
extern template const TypeInfo& type_of<AskedOptions>();
extern template const TypeInfo& type_of<KubeletVolume>();
extern template const TypeInfo& type_of<NfsOp>();
extern template const TypeInfo& type_of<NfsTransport>();
extern template const TypeInfo& type_of<NfsBytes>();
extern template const TypeInfo& type_of<NfsMount>();
extern template const TypeInfo& type_of<MountTouch>();
extern template const TypeInfo& type_of<NfsClient>();
extern template const TypeInfo& type_of<Nfs>();
extern template const TypeInfo& type_of<NfsService>();
extern template const TypeInfo& type_of<NfsExport>();
extern template const TypeInfo& type_of<NfsExportEntry>();
extern template const TypeInfo& type_of<NfsSession>();
extern template const TypeInfo& type_of<NfsLockTest>();
extern template const TypeInfo& type_of<NfsReadTest>();
extern template const TypeInfo& type_of<NfsServer>();
extern template const TypeInfo& type_of<Source>();
extern template const TypeInfo& type_of<Node>();
extern template const TypeInfo& type_of<Kernel>();
extern template const TypeInfo& type_of<RpcTransport>();
extern template const TypeInfo& type_of<RpcSwitch>();
extern template const TypeInfo& type_of<ClientIdentity>();
extern template const TypeInfo& type_of<RpcRegistration>();
extern template const TypeInfo& type_of<RpcinfoListing>();
extern template const TypeInfo& type_of<NfsiostatOps>();
extern template const TypeInfo& type_of<NfsiostatReport>();
extern template const TypeInfo& type_of<KernelSetting>();
extern template const TypeInfo& type_of<RpcTunables>();
extern template const TypeInfo& type_of<WaitingTask>();
extern template const TypeInfo& type_of<Daemons>();
extern template const TypeInfo& type_of<IscsiSetting>();
extern template const TypeInfo& type_of<IscsiConnection>();
extern template const TypeInfo& type_of<IscsiStats>();
extern template const TypeInfo& type_of<IscsiSession>();
extern template const TypeInfo& type_of<IscsiHost>();
extern template const TypeInfo& type_of<IscsiIface>();
extern template const TypeInfo& type_of<IscsiNodeRecord>();
extern template const TypeInfo& type_of<IscsidConfEntry>();
extern template const TypeInfo& type_of<IscsiExpectedPortal>();
extern template const TypeInfo& type_of<IscsiExpectedLun>();
extern template const TypeInfo& type_of<IscsiLoginKey>();
extern template const TypeInfo& type_of<IscsiPortGroup>();
extern template const TypeInfo& type_of<IscsiPathLun>();
extern template const TypeInfo& type_of<IscsiLogin>();
extern template const TypeInfo& type_of<IscsiOfferedPortal>();
extern template const TypeInfo& type_of<IscsiDiscovery>();
extern template const TypeInfo& type_of<IscsiLun>();
extern template const TypeInfo& type_of<IscsiTarget>();
extern template const TypeInfo& type_of<IscsiPortal>();
extern template const TypeInfo& type_of<Iscsi>();
extern template const TypeInfo& type_of<BlockUse>();
extern template const TypeInfo& type_of<BlockPartition>();
extern template const TypeInfo& type_of<BlockDevice>();
extern template const TypeInfo& type_of<Block>();
extern template const TypeInfo& type_of<MultipathPath>();
extern template const TypeInfo& type_of<MultipathGroup>();
extern template const TypeInfo& type_of<MultipathSetting>();
extern template const TypeInfo& type_of<MultipathMap>();
extern template const TypeInfo& type_of<MultipathConfEntry>();
extern template const TypeInfo& type_of<MultipathNotice>();
extern template const TypeInfo& type_of<Multipath>();

}  // namespace facts
