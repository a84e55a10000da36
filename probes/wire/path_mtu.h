// The largest packet that gets through to a host: UDP datagrams with the do-not-fragment bit (IP_MTU_DISCOVER, ip(7))
// of several sizes at once, to the rpcbind port. An answer counts, and so does ICMP "port unreachable": both prove
// arrival.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "probes/io/loop.h"
#include "probes/wire/address.h"

namespace wire {

struct PathMtu {
  std::optional<std::uint32_t> bytes;         // largest packet that arrived
  std::optional<std::uint32_t> kernel_bytes;  // what the kernel believes of the route
  std::uint32_t lost_bytes = 0;               // smallest packet that was lost while a smaller one arrived; 0: none
};

// `then` runs once, in the loop, by the deadline.
void ask_path_mtu(io::Loop& loop, const Address& address, io::Time deadline, std::function<void(PathMtu)> then);

}  // namespace wire
