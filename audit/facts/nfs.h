// The NFS client as the kernel runs it. Sources: nfs(5), fs/nfs/super.c (mount options, mountstats),
// net/sunrpc/stats.c (per-op lines), net/sunrpc/xprtsock.c and xprtrdma/transport.c (xprt lines).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "audit/facts/fact.h"
#include "audit/facts/nfs_server.h"
#include "audit/facts/rpc.h"
#include "audit/facts/rpcinfo.h"

namespace facts {

// What the place that makes the mount asks for. A key that the readable text does not name is absent.
struct AskedOptions {
  std::string origin;              // fstab, systemd, trident, pv, storageclass, trident-backend, nfsmount.conf, ...
  std::string path;                // file inside the root, with :line where it has lines
  std::string text;                // the option text as written
  Fact<std::string> source;        // server:/export that it names
  Fact<bool> same_source;          // false: another one is mounted there
  Fact<std::string> default_text;  // options that nfsmount.conf adds because the text does not name them
  Fact<std::string> vers;          // as written: 4, 4.1, 3
  Fact<std::string> vers_origin;   // where the version was named: fstab, trident, nfsmount.conf
  Fact<std::uint32_t> nconnect;
  Fact<std::uint32_t> max_connect;
  Fact<std::uint32_t> rsize_bytes;
  Fact<std::uint32_t> wsize_bytes;
  Fact<std::uint32_t> timeo_ds;
  Fact<std::uint32_t> retrans;
  Fact<std::string> recovery;  // hard, soft, softerr
  Fact<std::string> proto;
  Fact<std::string> sec;
  Fact<std::string> xprtsec;
  Fact<std::string> local_lock;
  Fact<bool> nolock;
  Fact<bool> read_only;

  template <class AskedOptions = facts::AskedOptions>
  static auto fields() {
    return std::array{
        Field{"origin", &AskedOptions::origin,
              "kind of place that asks: fstab, systemd, trident, pv, storageclass, trident-backend, kernel-cmdline, "
              "nfsmount.conf"},
        Field{"path", &AskedOptions::path, "file inside the root, with :line where it has lines"},
        Field{"text", &AskedOptions::text, "option text as written there"},
        Field{"source", &AskedOptions::source, "server:/export that it names"},
        Field{"same_source", &AskedOptions::same_source, "the source that it names is the one mounted there"},
        Field{"default_text", &AskedOptions::default_text, "options that nfsmount.conf adds to it; null for none"},
        Field{"vers", &AskedOptions::vers, "version asked for, as written"},
        Field{"vers_origin", &AskedOptions::vers_origin, "kind of place that named the version"},
        Field{"nconnect", &AskedOptions::nconnect, "nconnect= asked for"},
        Field{"max_connect", &AskedOptions::max_connect, "max_connect= asked for"},
        Field{"rsize_bytes", &AskedOptions::rsize_bytes, "rsize= asked for"},
        Field{"wsize_bytes", &AskedOptions::wsize_bytes, "wsize= asked for"},
        Field{"timeo_ds", &AskedOptions::timeo_ds, "timeo= asked for, deciseconds"},
        Field{"retrans", &AskedOptions::retrans, "retrans= asked for"},
        Field{"recovery", &AskedOptions::recovery, "hard, soft or softerr asked for"},
        Field{"proto", &AskedOptions::proto, "transport asked for"},
        Field{"sec", &AskedOptions::sec, "security flavour asked for"},
        Field{"xprtsec", &AskedOptions::xprtsec, "transport security asked for"},
        Field{"local_lock", &AskedOptions::local_lock, "local_lock= asked for"},
        Field{"nolock", &AskedOptions::nolock, "nolock (true) or lock (false) asked for"},
        Field{"read_only", &AskedOptions::read_only, "ro (true) or rw (false) asked for"}};
  }
  bool operator==(const AskedOptions&) const = default;
};

// What the kubelet's directories say about a mount below /var/lib/kubelet. All from local disk.
struct KubeletVolume {
  std::string pod_uid;
  Fact<std::string> pod_namespace;  // from /var/log/pods/NAMESPACE_NAME_UID
  Fact<std::string> pod_name;
  std::string volume;             // name of the volume directory
  Fact<std::string> provisioner;  // CSI driver, or the in-tree plugin
  Fact<std::string> pv;           // PersistentVolume
  Fact<std::string> vm;           // namespace/name of the VM whose virt-launcher pod this is

  template <class KubeletVolume = facts::KubeletVolume>
  static auto fields() {
    return std::array{Field{"pod_uid", &KubeletVolume::pod_uid, "uid of the pod"},
                      Field{"pod_namespace", &KubeletVolume::pod_namespace, "namespace of the pod"},
                      Field{"pod_name", &KubeletVolume::pod_name, "name of the pod"},
                      Field{"volume", &KubeletVolume::volume, "volume name in the kubelet's directory"},
                      Field{"provisioner", &KubeletVolume::provisioner, "CSI driver or in-tree plugin of the volume"},
                      Field{"pv", &KubeletVolume::pv, "PersistentVolume name"},
                      Field{"vm", &KubeletVolume::vm, "namespace/name of the VM that the pod runs"}};
  }
  bool operator==(const KubeletVolume&) const = default;
};

// A per-op line of mountstats: cumulative since the file system was mounted.
struct NfsOp {
  std::string op;
  std::uint64_t ops = 0;
  std::uint64_t trans = 0;     // transmissions, retransmissions included
  std::uint64_t timeouts = 0;  // major timeouts
  std::uint64_t bytes_sent = 0;
  std::uint64_t bytes_recv = 0;
  std::uint64_t queue_ms = 0;  // waiting in the client before the send
  std::uint64_t rtt_ms = 0;
  std::uint64_t execute_ms = 0;
  Fact<std::uint64_t> errors;  // ninth number, from Linux 5.3 on; unknown where it is not printed

  template <class NfsOp = facts::NfsOp>
  static auto fields() {
    return std::array{Field{"op", &NfsOp::op, "operation, as printed"},
                      Field{"ops", &NfsOp::ops, "operations"},
                      Field{"trans", &NfsOp::trans, "transmissions, retransmissions included"},
                      Field{"timeouts", &NfsOp::timeouts, "major timeouts"},
                      Field{"bytes_sent", &NfsOp::bytes_sent, "bytes sent, RPC headers included"},
                      Field{"bytes_recv", &NfsOp::bytes_recv, "bytes received, RPC headers included"},
                      Field{"queue_ms", &NfsOp::queue_ms, "cumulative time in the client before the send"},
                      Field{"rtt_ms", &NfsOp::rtt_ms, "cumulative time from send to reply"},
                      Field{"execute_ms", &NfsOp::execute_ms, "cumulative time from request to completion"},
                      Field{"errors", &NfsOp::errors, "operations that ended with an error status"}};
  }
  bool operator==(const NfsOp&) const = default;
};

// An xprt line of mountstats: one connection of the shared client.
struct NfsTransport {
  std::string proto;  // tcp, udp, rdma, local
  Fact<std::uint32_t> src_port;
  Fact<std::uint64_t> bind_count;
  Fact<std::uint64_t> connect_count;   // no such number for udp
  Fact<std::uint64_t> connect_time_s;  // no such number for udp
  Fact<std::uint64_t> idle_s;          // no such number for udp
  std::uint64_t sends = 0;
  std::uint64_t recvs = 0;
  std::uint64_t bad_xids = 0;
  std::uint64_t req_u = 0;          // sum over sends of requests in use
  std::uint64_t bklog_u = 0;        // sum over sends of the backlog queue
  Fact<std::uint64_t> max_slots;    // high-water mark of slots in use
  Fact<std::uint64_t> sending_u;    // sum over sends of the sending queue
  Fact<std::uint64_t> pending_u;    // sum over sends of the pending queue
  std::vector<std::uint64_t> rdma;  // the RDMA counters behind bklog_u, in the kernel's order

  template <class NfsTransport = facts::NfsTransport>
  static auto fields() {
    return std::array{
        Field{"proto", &NfsTransport::proto, "tcp, udp, rdma or local"},
        Field{"src_port", &NfsTransport::src_port, "source port; 0 is usual on recent kernels"},
        Field{"bind_count", &NfsTransport::bind_count, "times the port was bound"},
        Field{"connect_count", &NfsTransport::connect_count, "times the connection was made"},
        Field{"connect_time_s", &NfsTransport::connect_time_s, "time spent connecting"},
        Field{"idle_s", &NfsTransport::idle_s, "time since last used"},
        Field{"sends", &NfsTransport::sends, "requests sent"},
        Field{"recvs", &NfsTransport::recvs, "replies received"},
        Field{"bad_xids", &NfsTransport::bad_xids, "replies that matched no request"},
        Field{"req_u", &NfsTransport::req_u, "sum over sends of requests in use (drifts when replies are lost)"},
        Field{"bklog_u", &NfsTransport::bklog_u, "sum over sends of the length of the backlog queue"},
        Field{"max_slots", &NfsTransport::max_slots, "most slots ever in use at once"},
        Field{"sending_u", &NfsTransport::sending_u, "sum over sends of the length of the sending queue"},
        Field{"pending_u", &NfsTransport::pending_u, "sum over sends of the length of the pending queue"},
        Field{"rdma", &NfsTransport::rdma, "RDMA counters behind the backlog sum, in the kernel's order"}};
  }
  bool operator==(const NfsTransport&) const = default;
};

// The bytes: line of mountstats.
struct NfsBytes {
  std::uint64_t normal_read = 0;
  std::uint64_t normal_write = 0;
  std::uint64_t direct_read = 0;
  std::uint64_t direct_write = 0;
  std::uint64_t server_read = 0;
  std::uint64_t server_write = 0;
  std::uint64_t read_pages = 0;
  std::uint64_t write_pages = 0;

  template <class NfsBytes = facts::NfsBytes>
  static auto fields() {
    return std::array{Field{"normal_read", &NfsBytes::normal_read, "bytes read by read(2)"},
                      Field{"normal_write", &NfsBytes::normal_write, "bytes written by write(2)"},
                      Field{"direct_read", &NfsBytes::direct_read, "bytes read with O_DIRECT"},
                      Field{"direct_write", &NfsBytes::direct_write, "bytes written with O_DIRECT"},
                      Field{"server_read", &NfsBytes::server_read, "bytes read from the server"},
                      Field{"server_write", &NfsBytes::server_write, "bytes written to the server"},
                      Field{"read_pages", &NfsBytes::read_pages, "pages read"},
                      Field{"write_pages", &NfsBytes::write_pages, "pages written"}};
  }
  bool operator==(const NfsBytes&) const = default;
};

struct NfsMount {
  std::string target;
  std::string source;
  Fact<std::string> server_name;  // without brackets and zone
  Fact<std::string> zone;         // IPv6 zone of the server, as given
  Fact<std::string> export_path;
  std::string fs_type;        // nfs, nfs4
  std::string client_id;      // of nfs.clients[]
  Fact<std::string> bdi;      // major:minor
  Fact<std::string> same_as;  // mount point of the first mount of the same super block; its counters are not repeated
  Fact<std::string> parent_export;  // source of the mount of which this is a subdirectory bind
  bool target_deleted = false;
  Fact<std::string> hidden_by;

  Fact<std::string> vers;  // 3, 4.0, 4.1, 4.2
  Fact<std::string> proto;
  Fact<std::string> addr;
  Fact<std::uint32_t> port;  // absent: not printed (2049, or what rpcbind said)
  Fact<std::string> client_addr;
  Fact<std::uint32_t> rsize_bytes;
  Fact<std::uint32_t> wsize_bytes;
  Fact<std::uint32_t> namlen;
  Fact<std::uint32_t> timeo_ds;
  Fact<std::uint32_t> retrans;
  Fact<std::string> recovery;
  Fact<bool> softreval;
  Fact<std::string> sec;
  Fact<std::string> xprtsec;
  Fact<std::uint32_t> nconnect;     // absent: not printed, one connection
  Fact<std::uint32_t> max_connect;  // absent: not printed
  Fact<bool> rw;
  Fact<bool> sync;
  Fact<bool> nolock;
  Fact<std::string> local_lock;
  Fact<bool> nocto;
  Fact<bool> noac;
  Fact<bool> nosharecache;
  Fact<bool> noresvport;
  Fact<bool> nordirplus;
  Fact<std::string> lookupcache;
  Fact<bool> fsc;
  Fact<std::uint32_t> ac_reg_min_s;
  Fact<std::uint32_t> ac_reg_max_s;
  Fact<std::uint32_t> ac_dir_min_s;
  Fact<std::uint32_t> ac_dir_max_s;
  Fact<std::string> mount_addr;
  Fact<std::string> mount_vers;
  Fact<std::uint32_t> mount_port;
  Fact<std::string> mount_proto;
  Fact<std::string> options_text;
  std::vector<std::string> unknown_options;

  Fact<std::uint64_t> age_s;
  Fact<NfsBytes> bytes;
  Fact<std::vector<std::uint64_t>> events;
  std::vector<NfsOp> ops;
  Fact<std::uint32_t> lease_time_s;
  Fact<std::uint64_t> lease_expired_s;
  Fact<bool> sessions;
  Fact<std::string> pnfs;
  Fact<std::string> impl_id;
  Fact<std::uint64_t> read_ahead_kib;  // of its bdi

  Fact<KubeletVolume> kubelet;  // absent: not below the kubelet's directory
  Fact<AskedOptions> asked;     // unknown: nothing that could be read says what was asked for

  template <class NfsMount = facts::NfsMount>
  static auto fields() {
    return std::array{
        Field{"target", &NfsMount::target, "mount point"},
        Field{"source", &NfsMount::source, "server:/export as the kernel shows it"},
        Field{"server_name", &NfsMount::server_name, "server as named in the source, without brackets and zone"},
        Field{"zone", &NfsMount::zone, "IPv6 zone of the server as given in the source"},
        Field{"export", &NfsMount::export_path, "path on the server, as the source names it"},
        Field{"fs_type", &NfsMount::fs_type, "nfs or nfs4"},
        Field{"client_id", &NfsMount::client_id, "id of the shared client in nfs.clients"},
        Field{"bdi", &NfsMount::bdi, "major:minor of the super block"},
        Field{"same_as", &NfsMount::same_as,
              "mount point of the first mount of the same super block, whose counters count for both"},
        Field{"parent_export", &NfsMount::parent_export, "source of the mount of which this one binds a subdirectory"},
        Field{"target_deleted", &NfsMount::target_deleted, "the directory was removed under the mount"},
        Field{"hidden_by", &NfsMount::hidden_by, "mount point of a later mount that hides this one"},
        Field{"vers", &NfsMount::vers, "NFS version in use: 2, 3, 4.0, 4.1 or 4.2"},
        Field{"proto", &NfsMount::proto, "tcp, tcp6, udp, udp6, rdma or rdma6"},
        Field{"addr", &NfsMount::addr, "address of the peer of the shared client"},
        Field{"port", &NfsMount::port, "port of the server; null when it is not printed"},
        Field{"client_addr", &NfsMount::client_addr, "address the client names for callbacks"},
        Field{"rsize_bytes", &NfsMount::rsize_bytes, "largest READ, negotiated"},
        Field{"wsize_bytes", &NfsMount::wsize_bytes, "largest WRITE, negotiated"},
        Field{"namlen", &NfsMount::namlen, "longest file name"},
        Field{"timeo_ds", &NfsMount::timeo_ds, "timeo=, deciseconds"},
        Field{"retrans", &NfsMount::retrans, "retrans="},
        Field{"recovery", &NfsMount::recovery, "hard, soft or softerr"},
        Field{"softreval", &NfsMount::softreval, "cached names are served while the server is gone"},
        Field{"sec", &NfsMount::sec, "security flavour in use"},
        Field{"xprtsec", &NfsMount::xprtsec, "transport security: none, tls or mtls"},
        Field{"nconnect", &NfsMount::nconnect, "nconnect= of the shared client; null when it is not printed"},
        Field{"max_connect", &NfsMount::max_connect, "max_connect= of the shared client; null when it is not printed"},
        Field{"rw", &NfsMount::rw, "writable: neither the mount nor the file system is ro"},
        Field{"sync", &NfsMount::sync, "mounted with the generic sync flag"},
        Field{"nolock", &NfsMount::nolock, "nolock is in effect"},
        Field{"local_lock", &NfsMount::local_lock, "none, all, posix or flock"},
        Field{"nocto", &NfsMount::nocto, "close-to-open consistency is off"},
        Field{"noac", &NfsMount::noac, "attribute caching is off"},
        Field{"nosharecache", &NfsMount::nosharecache, "caches are not shared with other mounts"},
        Field{"noresvport", &NfsMount::noresvport, "unprivileged source ports"},
        Field{"nordirplus", &NfsMount::nordirplus, "READDIRPLUS is off"},
        Field{"lookupcache", &NfsMount::lookupcache, "all, none or pos"},
        Field{"fsc", &NfsMount::fsc, "local disk cache is on"},
        Field{"ac_reg_min_s", &NfsMount::ac_reg_min_s, "acregmin"},
        Field{"ac_reg_max_s", &NfsMount::ac_reg_max_s, "acregmax"},
        Field{"ac_dir_min_s", &NfsMount::ac_dir_min_s, "acdirmin"},
        Field{"ac_dir_max_s", &NfsMount::ac_dir_max_s, "acdirmax"},
        Field{"mount_addr", &NfsMount::mount_addr, "mountaddr= (v2, v3)"},
        Field{"mount_vers", &NfsMount::mount_vers, "mountvers= (v2, v3)"},
        Field{"mount_port", &NfsMount::mount_port, "mountport= (v2, v3)"},
        Field{"mount_proto", &NfsMount::mount_proto, "mountproto= (v2, v3)"},
        Field{"options_text", &NfsMount::options_text, "options as printed"},
        Field{"unknown_options", &NfsMount::unknown_options, "options this version does not know"},
        Field{"age_s", &NfsMount::age_s, "time since mounted"},
        Field{"bytes", &NfsMount::bytes, "byte counters of the file system"},
        Field{"events", &NfsMount::events, "event counters in the kernel's order (enum nfs_stat_eventcounters)"},
        Field{"ops", &NfsMount::ops, "counters of each operation since mounted; empty for a mount with same_as"},
        Field{"lease_time_s", &NfsMount::lease_time_s, "NFSv4 lease"},
        Field{"lease_expired_s", &NfsMount::lease_expired_s, "time since the lease expired, 0 when it has not"},
        Field{"sessions", &NfsMount::sessions, "NFSv4.1 sessions are in use"},
        Field{"pnfs", &NfsMount::pnfs, "pNFS layout driver, or 'not configured'"},
        Field{"impl_id", &NfsMount::impl_id, "server implementation as it names itself"},
        Field{"read_ahead_kib", &NfsMount::read_ahead_kib, "read-ahead window of the super block"},
        Field{"kubelet", &NfsMount::kubelet, "pod and volume, for a mount below the kubelet's directory"},
        Field{"asked", &NfsMount::asked, "what the place that makes the mount asks for"}};
  }
  bool operator==(const NfsMount&) const = default;
};

// What became of one statfs(2) on a mount point, made by a child that may be left behind (probes/io/touch.h).
struct MountTouch {
  std::string target;        // mount point that was touched
  std::string result;        // ok, timeout, or the name of the error: ESTALE, EIO, EACCES ...
  Fact<double> duration_ms;  // until the answer, or until it was given up

  template <class MountTouch = facts::MountTouch>
  static auto fields() {
    return std::array{
        Field{"target", &MountTouch::target, "mount point that was touched"},
        Field{"result", &MountTouch::result, "ok, timeout, or the error's name: ESTALE, EIO, EACCES ..."},
        Field{"duration_ms", &MountTouch::duration_ms, "time until the answer, or until it was given up"}};
  }
  bool operator==(const MountTouch&) const = default;
};

// Mounts that share one set of transports: equal (address, port, version, proto, xprtsec, network namespace).
struct NfsClient {
  std::string id;  // "addr:port vers proto[ xprtsec]"; the server name where no address is known
  Fact<std::string> server_name;
  Fact<std::string> addr;
  std::uint32_t port = 2049;
  Fact<std::string> vers;
  Fact<std::string> proto;
  Fact<std::string> xprtsec;
  std::string grouped_by;           // address, source port, transport lines, server name
  std::vector<std::string> mounts;  // mount points
  std::vector<NfsTransport> transports;
  Fact<std::uint32_t> transport_count;
  Fact<std::uint32_t> nconnect;
  Fact<std::uint32_t> max_connect;
  Fact<MountTouch> touch;  // unknown: no mount of it was touched

  template <class NfsClient = facts::NfsClient>
  static auto fields() {
    return std::array{
        Field{"id", &NfsClient::id,
              "addr:port vers proto, then xprtsec unless none; server name where no address is known"},
        Field{"server_name", &NfsClient::server_name, "server as the first mount names it"},
        Field{"addr", &NfsClient::addr, "address of the server"},
        Field{"port", &NfsClient::port, "port of the server, 2049 when none is printed"},
        Field{"vers", &NfsClient::vers, "NFS version"},
        Field{"proto", &NfsClient::proto, "transport protocol"},
        Field{"xprtsec", &NfsClient::xprtsec, "transport security"},
        Field{"grouped_by", &NfsClient::grouped_by, "what shows that these mounts share their transports"},
        Field{"mounts", &NfsClient::mounts, "mount points that use it"},
        Field{"transports", &NfsClient::transports, "one entry per connection, read from one mount"},
        Field{"transport_count", &NfsClient::transport_count,
              "connections: xprt lines, or nconnect= without mountstats"},
        Field{"nconnect", &NfsClient::nconnect, "nconnect= that the kernel prints; null when none"},
        Field{"max_connect", &NfsClient::max_connect, "max_connect= that the kernel prints; null when none"},
        Field{"touch", &NfsClient::touch, "one statfs(2) on one of its mounts, made when all else looked healthy"}};
  }
  bool operator==(const NfsClient&) const = default;
};

struct Nfs {
  std::vector<NfsMount> mounts;
  std::vector<NfsClient> clients;
  std::vector<NfsServer> servers;
  std::vector<RpcinfoListing> rpcinfo;         // --input rpcinfo
  std::vector<NfsiostatReport> nfsiostat;      // --input nfsiostat
  Fact<std::vector<RpcSwitch>> xprt_switches;  // absent: the kernel has no such directory (before 5.14)
  ClientIdentity identity;

  template <class Nfs = facts::Nfs>
  static auto fields() {
    return std::array{Field{"mounts", &Nfs::mounts, "NFS mounts of the node"},
                      Field{"clients", &Nfs::clients, "sets of transports that mounts share"},
                      Field{"servers", &Nfs::servers, "servers that the node mounts from or was told to ask"},
                      Field{"rpcinfo", &Nfs::rpcinfo, "pasted rpcinfo -p listings"},
                      Field{"nfsiostat", &Nfs::nfsiostat, "pasted nfsiostat reports"},
                      Field{"xprt_switches", &Nfs::xprt_switches, "transports as the RPC layer lists them"},
                      Field{"identity", &Nfs::identity, "who the NFSv4 client says it is, hashed"}};
  }
  bool operator==(const Nfs&) const = default;
};

}  // namespace facts
