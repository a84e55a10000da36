// Where the time of NFS operations goes, from the per-op counters of mountstats and the TCP sockets of the client.
//
// Of the mean time of an operation (execute) the kernel counts two parts (net/sunrpc/stats.c, rpc_count_iostats):
// queue, from the request until it was last put on the wire, and rtt, from there to the reply; the rest is the client
// after the reply. What TCP needs for the way is taken off rtt, what remains is the server's. TCP's round trip is the
// least one seen lately (tcpi_min_rtt): the smoothed one contains the server's delay wherever the acknowledgement rides
// on the reply.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "audit/eval/derive.h"
#include "audit/finding.h"

namespace audit {

// Counters of an operation, since the mount or between two samples. Times in ms, as unsigned 64-bit numbers that may
// have wrapped: the kernel lets the queue time run below zero.
struct OpCounters {
  std::uint64_t ops = 0;
  std::uint64_t trans = 0;
  std::uint64_t queue_ms = 0;
  std::uint64_t rtt_ms = 0;
  std::uint64_t execute_ms = 0;
  std::optional<std::uint64_t> errors;  // kernels before 5.3 do not count them
};

// Means and the part that takes most. Nothing for no operations, no time, or a time that wrapped.
// `network_ms`: TCP's round trip; at most rtt is taken for it.
std::optional<OpTime> op_time(std::string op, const OpCounters& counters, std::optional<double> network_ms);

// Per client that has counters: the parts of all its operations, its connections and slots, and the worst three
// operations (by time spent) of its mounts, mounts with the same three and the same verdicts taken together. Between
// two samples where there are two at least 10 s apart, else since the mount. Upkeep of mounts and sessions is left out.
// TCP's round trip is the mean over the client's established sockets of the least one seen, else of the smoothed one;
// where no socket tells, that of the connection on which the server was asked.
std::vector<ClientTime> where_time_goes(const Context& context);

}  // namespace audit
