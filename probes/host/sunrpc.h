// Transports as the RPC layer lists them: /sys/kernel/sunrpc/xprt-switches/switch-N/{xprt_switch_info,
// xprt-N-PROTO/{dstaddr,srcaddr,xprt_state,xprt_info}} (net/sunrpc/sysfs.c, from Linux 5.14 on). The texts end in a
// NUL; a transport that is not connected answers "<closed>" or ENOTCONN, according to the kernel.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "audit/facts/rpc.h"
#include "probes/parsed.h"

namespace probes {

// KEY=NUMBER lines. Both keep what is there already; a key that is not known is a remark.
std::vector<Note> parse_xprt_switch_info(std::string_view text, facts::RpcSwitch& into);
std::vector<Note> parse_xprt_info(std::string_view text, facts::RpcTransport& into);
// "state= CONNECTED   BOUND" or "state=CLOSED".
std::vector<Note> parse_xprt_state(std::string_view text, facts::RpcTransport& into);
// "xprt-12-tcp" -> tcp; empty for another name.
std::string proto_of_xprt_name(std::string_view name);

}  // namespace probes
