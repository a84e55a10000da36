// Output of iscsiadm(8) of open-iscsi: sessions as a list and in print levels 1 and 3, counters, lists of node records.
// A line that follows no known form costs itself and leaves a note; prompts and blank lines are passed over.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "audit/facts/block.h"
#include "audit/facts/iscsi.h"
#include "probes/parsed.h"

namespace probes {

struct SessionText {
  std::vector<facts::IscsiSession> sessions;
  std::vector<facts::IscsiHost> hosts;
  std::vector<facts::BlockDevice> devices;  // attached disks: name, hctl, state
  bool told = false;                        // it is such output: no sessions in it means that there are none
};

// "tcp: [1] 192.0.2.1:3260,1 iqn... (non-flash)"; "No active sessions." is an answer.
Parsed<SessionText> parse_session_list(std::string_view text);

// -m session -P 1, -P 2 and -P 3. One Target line stands for all its portals; a block without a portal of its own
// belongs to the portal before it.
Parsed<SessionText> parse_session_print(std::string_view text);

// -m session -s: counters by session number.
Parsed<std::vector<std::pair<std::uint32_t, facts::IscsiStats>>> parse_session_stats(std::string_view text);

// -m node ("192.0.2.1:3260,1 iqn..."), or paths of node records as find(1) and ls(1) list them.
Parsed<std::vector<facts::IscsiNodeRecord>> parse_node_list(std::string_view text);

// "session12 host8" lines, as a look at /sys/class/iscsi_session gives them.
std::vector<std::pair<std::uint32_t, std::uint32_t>> parse_session_hosts(std::string_view text);

}  // namespace probes
