// The doors to a node: a live root, a captured tree, an unpacked sos report, single texts. What reads goes through
// here, so that one code serves a running node and its copy.
//
// Paths are absolute inside the root ("/proc/1/mountinfo"). Symbolic links are resolved inside the root; FIFOs, sockets
// and devices are never opened. On a live root nothing below a mount that may hang (network file systems, autofs, FUSE)
// is opened, listed or looked up, not even on the way through a symbolic link.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "audit/base/result.h"
#include "audit/facts/fact.h"
#include "audit/facts/node.h"

namespace probes {

struct Clock {
  facts::Fact<std::string> wall;           // RFC 3339, UTC
  facts::Fact<std::uint64_t> boottime_ns;  // CLOCK_BOOTTIME
};

struct GivenText {
  std::string file;  // as the user named it
  std::string text;
};

class Host {
 public:
  Host() = default;
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;
  virtual ~Host() = default;

  // The whole text, read to the end: no size is asked for and none is believed. A line above max_line_bytes
  // (probes/parsed.h) is cut behind that length. Errors: absent (it is known not to exist, or it vanished), denied,
  // malformed (a directory, a device, ...), skipped (not part of this capture, or below a mount that may hang), io.
  virtual base::Result<std::string> read(std::string_view path) const = 0;
  // Names in a directory, sorted, without . and ..
  virtual base::Result<std::vector<std::string>> list(std::string_view path) const = 0;
  // Several files of one directory. For a directory of /sys on a live root: one opening of it, one read a file.
  using NamedText = std::pair<std::string_view, base::Result<std::string>>;
  virtual std::vector<NamedText> read_some(const std::string& directory,
                                           const std::vector<std::string_view>& names) const;
  // Where a symbolic link points, as written.
  virtual base::Result<std::string> link(std::string_view path) const = 0;
  // Output of a command by its name here: mount-l (mount -l), uname-a (uname -a), hostname, dmesg.
  virtual base::Result<std::string> command(std::string_view name) const = 0;
  // Texts of an --input kind that is no file of a node: log, text, ss, rpcinfo, nfsiostat. In the order given.
  virtual std::vector<GivenText> given(std::string_view) const { return {}; }

  // What no one file or command tells. Questions: "tasks" (probes/host/tasks.h), "storage"
  // (probes/host/sysfs_walk.h), "tcp-sockets PORT", "route ADDRESS"
  // (probes/io/netlink.h). A captured tree keeps the answer under mountaudit/kernel/.
  virtual base::Result<std::string> answer(std::string_view question) const;

  // The root shows this kernel's own /proc. Anything else is a copy: no packet leaves for an address read from it.
  virtual bool live() const = 0;
  // "/" or what the user named.
  virtual std::string root() const = 0;
  // Now for a live root, the time of the capture for a copy that tells it.
  virtual Clock clock() const = 0;
  // An earlier sample that belongs to this one (mountaudit/earlier of a captured tree), or nothing.
  virtual std::unique_ptr<Host> earlier() const { return nullptr; }
  // The name of a path in source rows and evidence: the path itself, or the file that the user gave for it.
  virtual std::string name_of(std::string_view path) const { return std::string(path); }
  // Source rows that no probe leaves: what was given and not looked at, a manifest that could not be read. Asked for
  // when all probes have run.
  virtual std::vector<facts::Source> own_rows() const { return {}; }
  // The node's name where the capture itself tells it (manifest of a captured tree); for texts alone, what they are
  // called: the name of the one file, or "pasted text".
  virtual facts::Fact<std::string> node_name() const { return {}; }
};

// "/" or another directory that shows the running node's root (/host in a debug pod).
base::Result<std::unique_ptr<Host>> open_live(const std::string& root);
// A directory with files under their path in the root; see probes/raw_tree.h for what `collect --raw` adds.
base::Result<std::unique_ptr<Host>> open_tree(const std::string& root);
// An unpacked report of sos(1): files under their path, commands under sos_commands/.
base::Result<std::unique_ptr<Host>> open_sos(const std::string& root);
// The right one of the three. A root is live only if its /proc is procfs and its boot id is this kernel's.
base::Result<std::unique_ptr<Host>> open_root(const std::string& root);

// --input KIND=FILE, repeated; FILE "-" is standard input. Errors: usage (unknown kind, a kind given twice, standard
// input named twice), and what opening the file gave.
struct InputArgument {
  std::string kind;
  std::string file;
};
base::Result<std::unique_ptr<Host>> open_inputs(const std::vector<InputArgument>& inputs);
base::Result<InputArgument> parse_input_argument(std::string_view text);

struct InputKind {
  const char* name;
  const char* sentence;
};
const std::vector<InputKind>& input_kinds();

// Where a captured tree keeps the answer to a question: "/mountaudit/kernel/tcp-sockets_2049.txt".
std::string answer_path(std::string_view question);

// Reads a file of the user's own: no root, no guard, but the same reading to the end. "-" is standard input.
base::Result<std::string> read_file(const std::string& path);

}  // namespace probes
