#include "probes/host/mountinfo.h"

#include <algorithm>
#include <array>
#include <utility>

#include "audit/base/text.h"
#include "probes/host/lines.h"
#include "probes/host/scrub_file.h"

namespace probes {

namespace {

using facts::Mount;
using Mounts = Parsed<std::vector<Mount>>;

// Collects the entries that are kept; knows all of them for the question which one hides which.
class Table {
 public:
  explicit Table(Keep keep) : keep_(keep) {}

  void add(Mount mount) {
    mount.target_deleted = take_deleted(mount.target);
    stacking_.add(mount.target, mount.mount_id, mount.parent_id);
    mount.kind = mount_kind(mount.fs_type);
    if (keep_ == Keep::all || mount.kind != "other") {
      lines_.push_back(count_);
      mounts_.push_back(std::move(mount));
    }
    ++count_;
  }

  std::vector<Mount> finish() {
    for (std::size_t i = 0; i < mounts_.size(); ++i) {
      Mount& mount = mounts_[i];
      const auto hider = stacking_.hidden_by(lines_[i], mount.target);
      // What an automount trigger mounts lies on it; that is its work.
      const bool triggered = mount.kind == "autofs" && hider == mount.target;
      mount.hidden_by = hider.empty() || triggered ? facts::Fact<std::string>::absent() : std::string(hider);
    }
    return std::move(mounts_);
  }

 private:
  Keep keep_;
  Stacking stacking_;
  std::vector<Mount> mounts_;
  std::vector<std::size_t> lines_;
  std::size_t count_ = 0;
};

std::string_view trim_blanks(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

bool is_device(std::string_view text) {
  const auto colon = text.find(':');
  return colon != std::string_view::npos && base::number<std::uint32_t>(text.substr(0, colon)).has_value() &&
         base::number<std::uint32_t>(text.substr(colon + 1)).has_value();
}

// nullptr when the line is good, else what is wrong with it.
const char* read_mountinfo_line(std::string_view line, Mount& mount) {
  const auto id = base::number<std::uint32_t>(next_field(line));
  const auto parent = base::number<std::uint32_t>(next_field(line));
  if (!id || !parent) return "no mount id and parent id at the start";
  const auto device = next_field(line);
  if (!is_device(device)) return "the third field is no major:minor";
  const auto root = next_field(line);
  const auto target = next_field(line);
  const auto options = next_field(line);
  if (options.empty()) return "fewer than six fields";
  if (options == "-") return "no mount options before the separator";
  std::string_view field;
  do {
    field = next_field(line);
    if (field.empty()) return "no separator field \"-\"";
  } while (field != "-");
  const auto type = next_field(line);
  // A mount made with an empty source prints nothing between two blanks.
  const bool empty_source = line.starts_with("  ") && trim_blanks(line).find_first_of(" \t") == std::string_view::npos;
  const auto source = empty_source ? std::string_view{} : next_field(line);
  if (type.empty() || (source.empty() && !empty_source)) return "no type and source after the separator";

  mount.mount_id = *id;
  mount.parent_id = *parent;
  mount.device = std::string(device);
  mount.root = decode(root);
  mount.target = decode(target);
  mount.options_text = std::string(options);
  mount.fs_type = decode(type);
  mount.source = decode(source);
  if (const auto super = trim_blanks(line); !super.empty()) mount.super_options_text = std::string(super);
  return nullptr;
}

bool is_number(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// Takes a last field that is a number (dump or pass) off the options, but never the only field.
void drop_number(std::string_view& options) {
  const auto at = options.find_last_of(" \t");
  if (at == std::string_view::npos || !is_number(options.substr(at + 1))) return;
  options = trim_blanks(options.substr(0, at));
}

const char* read_mounts_line(std::string_view line, Mount& mount) {
  const auto source = next_field(line);
  const auto target = next_field(line);
  const auto type = next_field(line);
  auto options = trim_blanks(line);
  drop_number(options);
  drop_number(options);
  if (options.empty()) return "fewer than four fields";
  if (!target.starts_with('/')) return "the second field is no path";
  mount.source = decode(source);
  mount.target = decode(target);
  mount.fs_type = decode(type);
  mount.options_text = std::string(options);
  return nullptr;
}

// Position of the last " type X (" in the line.
std::size_t find_type(std::string_view line) {
  static constexpr std::string_view word = " type ";
  for (std::size_t at = line.rfind(word); at != std::string_view::npos;
       at = at == 0 ? at - 1 : line.rfind(word, at - 1)) {
    auto rest = line.substr(at + word.size());
    const auto type = rest.substr(0, rest.find(' '));
    rest.remove_prefix(type.size());
    if (!type.empty() && rest.starts_with(" (")) return at;
  }
  return std::string_view::npos;
}

const char* read_mount_l_line(std::string_view line, Mount& mount) {
  const auto type_at = find_type(line);
  if (type_at == std::string_view::npos) return "no \" type TYPE (\" as mount(8) prints it";
  const auto names = line.substr(0, type_at);
  const auto on = names.find(" on ");
  if (on == std::string_view::npos) return "no \" on \" between source and mount point";
  auto rest = line.substr(type_at + 6);
  const auto type = next_field(rest);
  rest = trim_blanks(rest);
  rest.remove_prefix(1);  // the parenthesis that find_type saw
  // A label in brackets may follow, and it may hold anything.
  auto end = rest.find(") [");
  if (end == std::string_view::npos) end = rest.ends_with(')') ? rest.size() - 1 : rest.size();
  mount.source = names.substr(0, on);
  mount.target = names.substr(on + 4);
  mount.fs_type = type;
  mount.options_text = std::string(rest.substr(0, end));
  if (mount.target.empty()) return "no mount point";
  return nullptr;
}

// cifs, davfs and FUSE print who mounted, some with what. The kernel's NFS has no such options.
void mask_secrets(Mount& mount) {
  if (mount.fs_type == "nfs" || mount.fs_type == "nfs4") return;
  if (mount.source.find('@') != std::string::npos) mount.source = mask_source(mount.source);
  for (auto* options : {&mount.options_text, &mount.super_options_text}) {
    if (options->has_value() && (*options)->find('=') != std::string::npos) *options = mask_options(**options);
  }
}

Mounts parse(std::string_view text, Keep keep, const char* (*read_line)(std::string_view, Mount&)) {
  Mounts out;
  Table table(keep);
  Lines lines(text, out.notes);
  for (std::string_view line; lines.next(line);) {
    line = trim_blanks(line);
    if (line.empty() || line.front() == '#') continue;
    Mount mount;
    if (const char* reason = read_line(line, mount)) {
      add_note(out.notes, lines.number(), reason);
    } else {
      mask_secrets(mount);
      table.add(std::move(mount));
    }
  }
  out.facts = table.finish();
  return out;
}

}  // namespace

std::string_view mount_kind(std::string_view fs_type) {
  static constexpr std::array network{"9p",        "acfs", "afs",    "beegfs", "ceph",  "cifs",  "coda",
                                      "glusterfs", "gpfs", "lustre", "mmfs",   "ncpfs", "panfs", "orangefs",
                                      "pvfs2",     "smb3", "smbfs",  "vmhgfs", "wekafs"};
  if (fs_type == "nfs" || fs_type == "nfs4") return "nfs";
  if (fs_type == "nfsd") return "nfs-server";
  if (fs_type == "rpc_pipefs") return "rpc_pipefs";
  if (fs_type == "autofs") return "autofs";
  if (fs_type == "fuse" || fs_type.starts_with("fuse.")) return "fuse";
  if (std::find(network.begin(), network.end(), fs_type) != network.end()) return "network";
  return "other";
}

Mounts parse_mountinfo(std::string_view text, Keep keep) { return parse(text, keep, read_mountinfo_line); }
Mounts parse_mounts(std::string_view text, Keep keep) { return parse(text, keep, read_mounts_line); }
Mounts parse_mount_l(std::string_view text, Keep keep) { return parse(text, keep, read_mount_l_line); }

}  // namespace probes
