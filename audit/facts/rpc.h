// What the sunrpc layer and the NFSv4 client say of themselves. Sources: /sys/kernel/sunrpc/xprt-switches
// (net/sunrpc/sysfs.c), /sys/fs/nfs/net/nfs_client/identifier and nfs4_unique_id
// (Documentation/filesystems/nfs/client-identifier.rst).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "audit/facts/fact.h"

namespace facts {

// A transport of a switch: one connection.
struct RpcTransport {
  std::string name;  // xprt-2-tcp
  Fact<std::string> proto;
  Fact<std::string> dst_addr;
  Fact<std::string> src_addr;  // absent: not connected
  Fact<std::uint32_t> dst_port;
  Fact<std::uint32_t> src_port;  // absent: not bound
  Fact<bool> connected;
  std::vector<std::string> state;  // CONNECTED, BOUND, LOCKED, CONGESTED, ...; CLOSED alone
  Fact<bool> main_xprt;
  Fact<std::uint64_t> min_slots_count;
  Fact<std::uint64_t> max_slots_count;  // limit of the slot table
  Fact<std::uint64_t> requests_count;   // slots allocated now
  Fact<std::uint64_t> sending_queue_count;
  Fact<std::uint64_t> pending_queue_count;
  Fact<std::uint64_t> backlog_queue_count;
  Fact<std::uint64_t> binding_queue_count;
  Fact<std::uint64_t> tasks_count;

  template <class RpcTransport = facts::RpcTransport>
  static auto fields() {
    return std::array{
        Field{"name", &RpcTransport::name, "name in sysfs, such as xprt-2-tcp"},
        Field{"proto", &RpcTransport::proto, "tcp, udp, rdma, tcp-tls or local"},
        Field{"dst_addr", &RpcTransport::dst_addr, "address of the server"},
        Field{"src_addr", &RpcTransport::src_addr, "local address; null when not connected"},
        Field{"dst_port", &RpcTransport::dst_port, "port of the server"},
        Field{"src_port", &RpcTransport::src_port, "local port; null when not bound"},
        Field{"connected", &RpcTransport::connected, "the connection stands"},
        Field{"state", &RpcTransport::state, "flags of the transport: CONNECTED, BOUND, CONGESTED, ... or CLOSED"},
        Field{"main_xprt", &RpcTransport::main_xprt, "the first transport of its switch"},
        Field{"min_slots_count", &RpcTransport::min_slots_count, "slots it always has"},
        Field{"max_slots_count", &RpcTransport::max_slots_count, "most slots it may have"},
        Field{"requests_count", &RpcTransport::requests_count, "slots it has now"},
        Field{"sending_queue_count", &RpcTransport::sending_queue_count, "tasks waiting to send"},
        Field{"pending_queue_count", &RpcTransport::pending_queue_count, "tasks waiting for a reply"},
        Field{"backlog_queue_count", &RpcTransport::backlog_queue_count, "tasks waiting for a slot"},
        Field{"binding_queue_count", &RpcTransport::binding_queue_count, "tasks waiting for rpcbind"},
        Field{"tasks_count", &RpcTransport::tasks_count, "tasks assigned to it"}};
  }
  bool operator==(const RpcTransport&) const = default;
};

// The transports that one RPC client (and so all mounts that share it) uses.
struct RpcSwitch {
  std::string name;  // switch-1
  Fact<std::uint32_t> transports_count;
  Fact<std::uint32_t> active_count;
  Fact<std::uint32_t> destinations_count;  // different server addresses: over 1 with trunking
  Fact<std::int64_t> queue_len;
  std::vector<RpcTransport> transports;

  template <class RpcSwitch = facts::RpcSwitch>
  static auto fields() {
    return std::array{Field{"name", &RpcSwitch::name, "name in sysfs, such as switch-1"},
                      Field{"transports_count", &RpcSwitch::transports_count, "transports"},
                      Field{"active_count", &RpcSwitch::active_count, "transports that are not offline"},
                      Field{"destinations_count", &RpcSwitch::destinations_count, "different server addresses"},
                      Field{"queue_len", &RpcSwitch::queue_len, "tasks on all transports"},
                      Field{"transports", &RpcSwitch::transports, "its transports"}};
  }
  bool operator==(const RpcSwitch&) const = default;
};

// Who this NFSv4 client says it is. Hashes only (first 16 hex digits of SHA-256): whoever knows the identity can take
// over the client's leases.
struct ClientIdentity {
  Fact<std::string> identifier_hash;  // of the network namespace; absent: not set
  Fact<std::string> unique_id_hash;   // module parameter; absent: not set
  Fact<bool> uniquifier_set;          // one of the two is
  Fact<std::string> nodename_hash;
  Fact<std::string> nodename_class;  // localhost, template, unqualified, qualified
  Fact<std::string> effective_hash;  // of uniquifier and nodename together: equal on two nodes means one identity

  template <class ClientIdentity = facts::ClientIdentity>
  static auto fields() {
    return std::array{
        Field{"identifier_hash", &ClientIdentity::identifier_hash,
              "hash of the identifier of the network namespace; null when none is set"},
        Field{"unique_id_hash", &ClientIdentity::unique_id_hash, "hash of nfs4_unique_id; null when none is set"},
        Field{"uniquifier_set", &ClientIdentity::uniquifier_set, "an identifier or nfs4_unique_id is set"},
        Field{"nodename_hash", &ClientIdentity::nodename_hash, "hash of the node name"},
        Field{"nodename_class", &ClientIdentity::nodename_class,
              "localhost, template (looks like a golden image), unqualified or qualified"},
        Field{"effective_hash", &ClientIdentity::effective_hash,
              "hash of uniquifier and node name: two nodes with an equal one are one client to a server"}};
  }
  bool operator==(const ClientIdentity&) const = default;
};

}  // namespace facts
