// Listings that tools printed. Sources: rpcinfo(8) -p, RFC 1833; nfsiostat(8).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "audit/facts/fact.h"

namespace facts {

struct RpcRegistration {
  std::uint32_t program = 0;
  std::uint32_t vers = 0;
  std::string proto;
  std::uint32_t port = 0;
  Fact<std::string> service;

  template <class RpcRegistration = facts::RpcRegistration>
  static auto fields() {
    return std::array{Field{"program", &RpcRegistration::program, "RPC program number"},
                      Field{"vers", &RpcRegistration::vers, "version of the program"},
                      Field{"proto", &RpcRegistration::proto, "tcp, udp or a netid"},
                      Field{"port", &RpcRegistration::port, "port; 0 counts as not registered"},
                      Field{"service", &RpcRegistration::service, "name as printed; null when none is printed"}};
  }
  bool operator==(const RpcRegistration&) const = default;
};

// One pasted rpcinfo -p. It does not say which host was asked.
struct RpcinfoListing {
  std::string source;
  std::vector<RpcRegistration> registrations;
  bool nfs = false;     // 100003
  bool mountd = false;  // 100005
  bool nlm = false;     // 100021 version 4 with a port
  bool statd = false;   // 100024 with a port

  template <class RpcinfoListing = facts::RpcinfoListing>
  static auto fields() {
    return std::array{Field{"source", &RpcinfoListing::source, "text that shows it"},
                      Field{"registrations", &RpcinfoListing::registrations, "programs, as printed"},
                      Field{"nfs", &RpcinfoListing::nfs, "NFS (100003) is registered"},
                      Field{"mountd", &RpcinfoListing::mountd, "mountd (100005) is registered"},
                      Field{"nlm", &RpcinfoListing::nlm, "lock manager (100021 version 4) is registered with a port"},
                      Field{"statd", &RpcinfoListing::statd, "status monitor (100024) is registered with a port"}};
  }
  bool operator==(const RpcinfoListing&) const = default;
};

// Read or write half of an nfsiostat report.
struct NfsiostatOps {
  double ops_per_s = 0;
  double kb_per_s = 0;
  double kb_per_op = 0;
  Fact<std::uint64_t> retrans;
  Fact<double> retrans_pct;
  double rtt_ms = 0;
  double execute_ms = 0;
  Fact<double> queue_ms;  // nfs-utils 1.3.3 and later
  Fact<std::uint64_t> errors;

  template <class NfsiostatOps = facts::NfsiostatOps>
  static auto fields() {
    return std::array{Field{"ops_per_s", &NfsiostatOps::ops_per_s, "operations a second"},
                      Field{"kb_per_s", &NfsiostatOps::kb_per_s, "KiB a second"},
                      Field{"kb_per_op", &NfsiostatOps::kb_per_op, "KiB per operation"},
                      Field{"retrans", &NfsiostatOps::retrans, "retransmissions"},
                      Field{"retrans_pct", &NfsiostatOps::retrans_pct, "retransmissions, share of operations"},
                      Field{"rtt_ms", &NfsiostatOps::rtt_ms, "mean time from send to reply"},
                      Field{"execute_ms", &NfsiostatOps::execute_ms, "mean time from request to completion"},
                      Field{"queue_ms", &NfsiostatOps::queue_ms, "mean time in the client before the send"},
                      Field{"errors", &NfsiostatOps::errors, "operations that ended with an error"}};
  }
  bool operator==(const NfsiostatOps&) const = default;
};

struct NfsiostatReport {
  std::string source;
  std::uint32_t line = 0;
  std::string what;
  std::string where;
  Fact<double> ops_per_s;
  Fact<double> rpc_backlog;
  Fact<NfsiostatOps> read;
  Fact<NfsiostatOps> write;

  template <class NfsiostatReport = facts::NfsiostatReport>
  static auto fields() {
    return std::array{Field{"source", &NfsiostatReport::source, "text that shows it"},
                      Field{"line", &NfsiostatReport::line, "line where the report begins"},
                      Field{"what", &NfsiostatReport::what, "server:/export"},
                      Field{"where", &NfsiostatReport::where, "mount point"},
                      Field{"ops_per_s", &NfsiostatReport::ops_per_s, "operations a second"},
                      Field{"rpc_backlog", &NfsiostatReport::rpc_backlog, "mean length of the backlog queue"},
                      Field{"read", &NfsiostatReport::read, "READ"},
                      Field{"write", &NfsiostatReport::write, "WRITE"}};
  }
  bool operator==(const NfsiostatReport&) const = default;
};

}  // namespace facts
