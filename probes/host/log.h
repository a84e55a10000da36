// Known messages of a log or of pasted terminal text, and what follows from them: servers that do not respond, grace
// periods, mounts that were tried, exports that were shown.
#pragma once

#include <string>
#include <string_view>

#include "audit/facts/facts.h"
#include "probes/parsed.h"

namespace probes {

struct LogText {
  std::vector<facts::LogMessage> messages;
  std::vector<facts::LogServer> servers;
  std::vector<facts::GracePeriod> grace_periods;
  std::vector<facts::MountAttempt> mount_attempts;
  std::vector<facts::PastedExport> exports;
  facts::Fact<facts::NfsRoot> nfsroot;  // a kernel command line in the text that names one
};

// `source` goes into every entry. Of one kind from one server the first 50 messages and the last one are kept, a note
// tells how many were left out; the summaries count all.
Parsed<LogText> parse_log(std::string_view text, const std::string& source);

// Appends one text's entries to what other texts gave.
void add_log(facts::Facts& facts, LogText&& text);

// nfsroot=[server:]directory[,options] of a kernel command line; absent when it has none.
facts::Fact<facts::NfsRoot> parse_nfsroot(std::string_view cmdline, const std::string& source);

}  // namespace probes
