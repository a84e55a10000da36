// The log probe: the kernel log where it may be read, logs and terminal text that were given. And the command line.
#include "audit/base/text.h"
#include "probes/host/log.h"
#include "probes/probe.h"

namespace probes {

void read_log(Reading& reading) {
  facts::Facts& facts = reading.facts();
  const auto take = [&](std::string_view text, const std::string& source) {
    auto parsed = parse_log(text, source);
    reading.note(parsed.notes);
    add_log(facts, std::move(parsed.facts));
  };
  if (const auto text = reading.command("dmesg")) take(*text, reading.last_row().name);
  for (const char* kind : {"log", "text"}) {
    for (const GivenText& given : reading.given(kind)) {
      reading.given_row(given);
      take(given.text, given.file);
    }
  }
}

void read_nfsroot(Reading& reading) {
  const auto text = reading.file("/proc/cmdline");
  if (text) reading.facts().config.nfsroot = parse_nfsroot(*text, reading.host().name_of("/proc/cmdline"));
}

}  // namespace probes
