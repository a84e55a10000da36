#include "audit/facts/facts.h"

namespace facts {

template const TypeInfo& type_of<FstabEntry>();
template const TypeInfo& type_of<TridentVolume>();
template const TypeInfo& type_of<Config>();
template const TypeInfo& type_of<DeclaredPv>();
template const TypeInfo& type_of<DeclaredPvc>();
template const TypeInfo& type_of<DeclaredStorageClass>();
template const TypeInfo& type_of<DeclaredTridentBackend>();
template const TypeInfo& type_of<Declared>();
template const TypeInfo& type_of<Facts>();
template const TypeInfo& type_of<LogMessage>();
template const TypeInfo& type_of<LogServer>();
template const TypeInfo& type_of<GracePeriod>();
template const TypeInfo& type_of<MountAttempt>();
template const TypeInfo& type_of<PastedExport>();
template const TypeInfo& type_of<Log>();
template const TypeInfo& type_of<Mount>();
template const TypeInfo& type_of<NfsmountConfEntry>();
template const TypeInfo& type_of<SystemdMount>();
template const TypeInfo& type_of<NfsRoot>();
template const TypeInfo& type_of<BondSlave>();
template const TypeInfo& type_of<Bond>();
template const TypeInfo& type_of<NetInterface>();
template const TypeInfo& type_of<NetPath>();
template const TypeInfo& type_of<NetSocket>();
template const TypeInfo& type_of<Network>();
template const TypeInfo& type_of<AskedOptions>();
template const TypeInfo& type_of<KubeletVolume>();
template const TypeInfo& type_of<NfsOp>();
template const TypeInfo& type_of<NfsTransport>();
template const TypeInfo& type_of<NfsBytes>();
template const TypeInfo& type_of<NfsMount>();
template const TypeInfo& type_of<NfsClient>();
template const TypeInfo& type_of<Nfs>();
template const TypeInfo& type_of<NfsService>();
template const TypeInfo& type_of<NfsExport>();
template const TypeInfo& type_of<NfsExportEntry>();
template const TypeInfo& type_of<NfsSession>();
template const TypeInfo& type_of<NfsServer>();
template const TypeInfo& type_of<Source>();
template const TypeInfo& type_of<Node>();
template const TypeInfo& type_of<Kernel>();
template const TypeInfo& type_of<RpcTransport>();
template const TypeInfo& type_of<RpcSwitch>();
template const TypeInfo& type_of<ClientIdentity>();
template const TypeInfo& type_of<RpcRegistration>();
template const TypeInfo& type_of<RpcinfoListing>();
template const TypeInfo& type_of<NfsiostatOps>();
template const TypeInfo& type_of<NfsiostatReport>();
template const TypeInfo& type_of<KernelSetting>();
template const TypeInfo& type_of<RpcTunables>();
template const TypeInfo& type_of<WaitingTask>();
template const TypeInfo& type_of<Daemons>();

}  // namespace facts
