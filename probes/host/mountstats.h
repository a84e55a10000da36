// Per-mount counters of the NFS client. Source: /proc/PID/mountstats (fs/proc_namespace.c, fs/nfs/super.c,
// net/sunrpc/stats.c, net/sunrpc/xprtsock.c, net/sunrpc/xprtrdma/transport.c; nfsiostat(8), mountstats(8)).
// Pasted text is taken as well: any white space, excerpts without headings, text behind numbers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "audit/facts/nfs.h"
#include "probes/parsed.h"

namespace probes {

// One NFS mount of the file. Counters are 64 bits wide and raw: a queue time near 2^64 stays what was printed.
struct MountstatsEntry {
  std::size_t line = 0;  // of the device line, or of the first line of statistics that have none
  bool named = false;    // false: statistics without a device line; no source, no target
  std::string source;
  std::string target;
  std::string fs_type;
  bool target_deleted = false;
  facts::Fact<std::string> hidden_by;  // by the device lines of this file
  facts::Fact<std::string> statvers;

  facts::Fact<std::string> options_text;  // opts:
  facts::Fact<std::uint64_t> age_s;
  facts::Fact<std::string> impl_id;  // "name (domain)" or the one that is there; absent when both are empty
  facts::Fact<std::string> caps_text;
  facts::Fact<bool> sessions;  // nfsv4:
  facts::Fact<std::string> pnfs;
  facts::Fact<std::uint32_t> lease_time_s;
  facts::Fact<std::uint64_t> lease_expired_s;
  facts::Fact<std::uint32_t> flavor;        // sec: RPC flavour, 1 sys, 6 RPCSEC_GSS
  facts::Fact<std::uint32_t> pseudoflavor;  // sec: 390003 krb5, 390004 krb5i, 390005 krb5p
  facts::Fact<std::vector<std::uint64_t>> events;
  facts::Fact<facts::NfsBytes> bytes;
  facts::Fact<std::vector<std::uint64_t>> fsc;  // counters of the local disk cache
  facts::Fact<std::string> iostats_version;  // 1.0, 1.1; the number of columns is taken from each line, not from this
  std::vector<facts::NfsTransport> transports;  // xprt:
  std::vector<facts::NfsOp> ops;
};

// The NFS mounts, in the order of the file, and statistics that belong to no device line. Notes: lines that could not
// be taken (lost), and what a newer kernel prints that is not known here (not lost; each key once).
Parsed<std::vector<MountstatsEntry>> parse_mountstats(std::string_view text);

}  // namespace probes
