// The door of the NFS questions: many servers at once, one deadline. Nothing is sent before ask_nfs() is called, and
// afterwards nothing of ours is left on a server: no session, client id, open or lock. The one mark that MOUNT leaves
// in a server's list of clients (showmount -a) is taken back by UMNT.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "audit/base/result.h"
#include "audit/facts/nfs_server.h"
#include "audit/facts/node.h"
#include "probes/io/loop.h"

namespace wire {

struct NfsTarget {
  std::string name;  // as a mount or a URL names it
  std::string addr;  // numeric, a zone may follow; empty: the name is resolved
  std::uint16_t port = 2049;
  bool port_given = false;  // else a port that rpcbind lists is tried where nobody listens on 2049
  bool mounted = false;
  std::vector<std::string> exports;          // paths to ask about; none: the pseudo root, and what the server lists
  std::vector<std::string> versions_in_use;  // 3, 4.0, 4.1, 4.2; none: what the server answers
  bool nlm_in_use = true;                    // some version 3 mount locks over the network (no nolock)
  std::optional<std::uint16_t> mountd_port;  // mountport=
  std::uint16_t rpcbind_port = 111;
};

struct AskOptions {
  io::Duration timeout = std::chrono::seconds(2);    // one question
  io::Duration deadline = std::chrono::seconds(10);  // all of them, name look-ups and clean-up included
  std::size_t servers_at_once = 16;
  io::Duration stagger = std::chrono::milliseconds(2);  // between the first packets to two servers
  std::size_t exports_per_server = 4;
  std::size_t addresses_per_name = 4;
  unsigned warm_up_calls = 4;
  unsigned null_calls = 32;  // timed one at a time; 0: no latency, no GETATTR series
  unsigned getattr_calls = 8;
  bool path_mtu = true;  // a few UDP datagrams with the do-not-fragment bit
  bool tls = true;
  const std::atomic<bool>* stop = nullptr;  // when it becomes true: clean up and return what is there
};

struct NfsAnswer {
  facts::NfsServer server;
  std::vector<facts::Source> sources;  // one row per kind of question: nfs_server.rpcbind, nfs_server.fsinfo ...
};

// In the order of the targets, whatever the timing; a name with several addresses gives one answer for each. Targets of
// equal address and port are asked once, with the exports and versions of all.
std::vector<NfsAnswer> ask_nfs(const std::vector<NfsTarget>& targets, const AskOptions& options);

// Names to addresses, side by side, within the time of one question; in the order of the names.
struct LookedUp {
  std::string name;
  base::Result<std::vector<std::string>> addrs;
};
std::vector<LookedUp> look_up(const std::vector<std::string>& names, const AskOptions& options);

// nfs://host[:port][/export]; host is a name, an IPv4 address or an IPv6 address in brackets, where a zone follows "%"
// or
// "%25" (RFC 6874). The export is percent-decoded. Errors are ErrorKind::usage and show what is wrong.
base::Result<NfsTarget> parse_nfs_url(std::string_view url);

}  // namespace wire
