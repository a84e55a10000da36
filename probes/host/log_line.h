// The head of a log line: stamp, host, program; what is left is the message.
// Forms: dmesg(1) with and without -T, /dev/kmsg (Documentation/ABI/testing/dev-kmsg), RFC 3164, RFC 5424 time stamps,
// journalctl(1) -o short, short-full, short-iso, nfs-ganesha (day/month/year), klog.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "audit/facts/fact.h"

namespace probes {

struct LogLine {
  facts::Fact<std::string> at;  // RFC 3339, without an offset when none is named; as written when it names no year
  facts::Fact<double> boot_s;
  std::optional<double> wall_s;  // on a clock of its own for every text: only differences mean something
  bool has_year = false;
  facts::Fact<std::string> host;
  facts::Fact<std::string> program;  // without [pid]
  std::string_view message;

  bool stamped() const { return at.has_value() || boot_s.has_value(); }
};

LogLine parse_log_line(std::string_view line);

// "2023-06-19T15:52:50" plus seconds; nothing when `at` is no such time.
std::optional<std::string> add_seconds(std::string_view at, unsigned seconds);

}  // namespace probes
