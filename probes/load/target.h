// What `latency` is pointed at: a URL of a server, or a path of this node; and which of it the user has allowed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "audit/base/result.h"
#include "probes/load/plan.h"
#include "probes/wire/ask_nfs.h"
#include "probes/wire/iscsi_session.h"

namespace load {

enum class TargetKind : std::uint8_t { nfs, iscsi, local };

struct Target {
  TargetKind kind = TargetKind::local;
  std::string text;  // as given; of iscsi:// without the user
  std::string path;  // of the export, or of this node
  wire::NfsTarget nfs;
  std::string host;  // of iscsi
  std::uint16_t port = 3260;
  std::string user;  // of CHAP
  std::string iqn;
  wire::iscsi::Lun lun = {};
};

// nfs://host[:port][/export[/file]], iscsi://[user@]host[:port]/iqn/lun, or an absolute path.
base::Result<Target> parse_target(std::string_view text);

struct Consent {
  bool load = false;               // --allow-load
  std::vector<std::string> write;  // --allow-write
};

// Whether this target was named by --allow-write: as it was given, by its path, or with "." for what a URL names.
bool may_write(const Target& target, const Consent& consent);

// One call at a time that moves no data is what `probe` does too; everything else is load and needs a flag. The error
// says which.
base::Result<void> check_consent(const Target& target, const std::vector<Step>& steps, const Consent& consent);

// Operations that the target does not have (TEST UNIT READY of NFS and the like).
base::Result<void> check_operations(const Target& target, const std::vector<Step>& steps);

}  // namespace load
