// Network interfaces. /sys/class/net (Documentation/ABI/testing/sysfs-class-net), /proc/PID/net/dev
// (net/core/net-procfs.c), /proc/PID/net/bonding/NAME (drivers/net/bonding/bond_procfs.c).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "audit/facts/network.h"
#include "probes/io/host.h"
#include "probes/parsed.h"

namespace probes {

Parsed<facts::Bond> parse_bonding(std::string_view text);

// Name and counters of every interface; what only sysfs has stays unknown.
Parsed<std::vector<facts::NetInterface>> parse_net_dev(std::string_view text);

// What the kind of an interface is seen by. Empty texts: the file is not there.
struct InterfaceSigns {
  std::string uevent;
  std::string type;  // ARPHRD_*, include/uapi/linux/if_arp.h
  std::string ifindex;
  std::string iflink;
  bool has_device = false;  // a link to hardware
  bool has_lower = false;
  bool is_bond = false;
  bool is_bridge = false;
  bool is_tun = false;
};
std::string interface_kind(const InterfaceSigns& signs);

// Everything that /sys/class/net/NAME and /proc/1/net/bonding/NAME tell. Speed and duplex go through the driver: ask
// only where they matter.
facts::NetInterface read_interface(const Host& host, const std::string& name);

}  // namespace probes
