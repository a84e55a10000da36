// What is registered on a host: RFC 1833. Version 2 (the portmapper) knows TCP and UDP over IPv4, versions 3 and 4 any
// transport by its netid. A registration is a claim, and GETPORT answers the port of any version: only NULL proves one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "probes/wire/rpc.h"

namespace wire::rpcbind {

struct Registration {
  std::uint32_t program = 0;
  std::uint32_t version = 0;
  std::string netid;  // tcp, udp, tcp6, udp6, local
  std::uint32_t port = 0;
  bool operator==(const Registration&) const = default;
};

Call dump2();
Call dump(std::uint32_t version);                            // 3 or 4
Call getport(std::uint32_t program, std::uint32_t version);  // TCP over IPv4; a hint

Outcome<std::vector<Registration>> decode_dump2(View results);
Outcome<std::vector<Registration>> decode_dump(View results);  // of versions 3 and 4; local sockets are left out
Outcome<std::uint32_t> decode_getport(View results);           // 0: not registered

// The last two numbers of a universal address: "192.0.2.1.8.1" and "::.8.1" are port 2049 (RFC 5665).
Outcome<std::uint32_t> port_of_uaddr(std::string_view uaddr);

}  // namespace wire::rpcbind
