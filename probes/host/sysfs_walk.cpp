#include "probes/host/sysfs_walk.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <vector>

#include "audit/base/text.h"
#include "probes/host/iscsi_names.h"
#include "probes/host/sysfs_text.h"

namespace probes {

namespace {

using Names = std::vector<std::string_view>;

const Names session_files{"abort_tmo",    "erl",           "first_burst_len", "ifacename",     "immediate_data",
                          "initial_r2t",  "initiatorname", "lu_reset_tmo",    "max_burst_len", "max_outstanding_r2t",
                          "recovery_tmo", "state",         "target_state",    "targetname",    "tgt_reset_tmo",
                          "tpgt",         "isid",          "username",        "username_in"};
const Names connection_files{"address",
                             "data_digest",
                             "header_digest",
                             "local_port",
                             "max_recv_dlength",
                             "max_xmit_dlength",
                             "persistent_address",
                             "persistent_port",
                             "ping_tmo",
                             "port",
                             "recv_tmo",
                             "state"};
const Names iscsi_host_files{"hwaddress", "initiatorname", "ipaddress", "netdev"};
const Names scsi_host_files{"can_queue", "cmd_per_lun", "proc_name", "state"};
const Names block_files{"alignment_offset", "dev", "inflight", "ro", "size", "stat"};
const Names device_files{"access_state", "dh_state", "eh_timeout",     "iodone_cnt",  "ioerr_cnt", "iorequest_cnt",
                         "iotmo_cnt",    "model",    "preferred_path", "queue_depth", "rev",       "state",
                         "timeout",      "vendor",   "wwid",           "vpd_pg80"};
const Names queue_files{"discard_granularity", "discard_max_bytes", "logical_block_size", "max_hw_sectors_kb",
                        "max_sectors_kb",      "nr_requests",       "optimal_io_size",    "physical_block_size",
                        "read_ahead_kb",       "rotational",        "scheduler",          "write_cache"};
const Names dm_files{"name", "suspended", "uuid"};
const Names partition_files{"alignment_offset", "partition", "size", "start"};
const Names disk_files{"provisioning_mode", "thin_provisioning"};

// The identifier of VPD page 0x80 stands behind a header of four bytes; only what can be printed is of use.
std::string printable(std::string_view name, std::string_view text) {
  if (name == "vpd_pg80") text.remove_prefix(std::min<std::size_t>(4, text.size()));
  std::string out;
  for (const char c : text)
    if (c == '\n' || c == '\t' || (c >= ' ' && c < 0x7f)) out += c;
  return out;
}

class Walk {
 public:
  Walk(const Host& host, const SysfsSink& sink) : host_(host), sink_(sink) {}

  void run() {
    const bool any = classes();
    if (!blocks() && any) session_disks();
    flush();
  }

 private:
  void say(std::string_view text) { (said_ += text) += '\n'; }
  // Before a directory is opened: what reads along sees which one does not come back.
  void flush() {
    sink_(said_);
    said_.clear();
  }

  // The names in a directory behind a heading, or why there are none to be had.
  std::vector<std::string> listing(const std::string& path) {
    auto names = host_.list(path);
    if (names) {
      say("==== " + path);
      return std::move(*names);
    }
    if (names.error().kind == base::ErrorKind::absent)
      say("ls: cannot access '" + path + "': No such file or directory");
    else
      say("ls: cannot access '" + path + "': " + names.error().message);
    return {};
  }

  void directory(const std::string& path, const std::string& link, const Names& names) {
    say("== " + path + " -> " + link);
    flush();
    for (auto& [name, text] : host_.read_some(path, names)) {
      if (!text) {
        const auto kind = text.error().kind;
        if (kind != base::ErrorKind::absent && kind != base::ErrorKind::skipped)
          say("grep: " + std::string(name) + ": " + text.error().message);
        continue;
      }
      if (is_sysfs_secret(name)) {
        say(std::string(name) + (is_unset(*text) ? ":(null)" : ":***"));
        continue;
      }
      const std::string kept = printable(name, *text);
      std::string_view rest = kept;
      std::string_view line;
      while (base::next_line(rest, line)) {
        say(std::string(name) + ":" + std::string(line));
        break;
      }
    }
  }

  std::string link_of(const std::string& path) {
    const auto target = host_.link(path);
    return target ? *target : std::string();
  }

  void class_of(const std::string& path, const Names& names) {
    for (const auto& name : listing(path)) directory(path + "/" + name, link_of(path + "/" + name), names);
  }

  bool classes() {
    class_of("/sys/class/iscsi_transport", {});
    const std::string hosts = "/sys/class/iscsi_host";
    for (const auto& name : listing(hosts)) {
      directory(hosts + "/" + name, link_of(hosts + "/" + name), iscsi_host_files);
      directory("/sys/class/scsi_host/" + name, "", scsi_host_files);
    }
    const std::string sessions = "/sys/class/iscsi_session";
    for (const auto& name : listing(sessions)) {
      session_links_.emplace_back(name, link_of(sessions + "/" + name));
      directory(sessions + "/" + name, session_links_.back().second, session_files);
    }
    class_of("/sys/class/iscsi_connection", connection_files);
    return !session_links_.empty();
  }

  void names_in(const std::string& path, const std::vector<std::string>& names) {
    say(path + ":");
    for (const auto& name : names) say(name);
    say("");
  }

  // One disk: the queue last, for its files take locks that a stuck change of the scheduler holds.
  void disk(const std::string& name, const std::string& link) {
    const std::string path = "/sys/block/" + name;
    directory(path, link, block_files);
    if (name.starts_with("dm-")) {
      directory(path + "/dm", "", dm_files);
    } else {
      const auto hctl = hctl_of(link);
      directory(path + "/device", hctl, device_files);
      if (!hctl.empty()) directory(path + "/device/scsi_disk/" + hctl, "", disk_files);
    }
    if (const auto holders = host_.list(path + "/holders")) names_in(path + "/holders", *holders);
    if (name.starts_with("dm-")) {
      if (const auto slaves = host_.list(path + "/slaves")) names_in(path + "/slaves", *slaves);
    } else {
      partitions(path, name);
    }
    directory(path + "/queue", "", queue_files);
  }

  void partitions(const std::string& path, const std::string& name) {
    const auto entries = host_.list(path);
    if (!entries) return;
    for (const auto& entry : *entries) {
      if (!entry.starts_with(name) || entry.size() == name.size()) continue;
      directory(path + "/" + entry, "", partition_files);
      if (const auto holders = host_.list(path + "/" + entry + "/holders"); holders && !holders->empty())
        names_in(path + "/" + entry + "/holders", *holders);
    }
  }

  static std::string hctl_of(std::string_view link) {
    const auto block = link.rfind("/block/");
    if (block == std::string_view::npos) return {};
    const auto head = link.substr(0, block);
    const auto part = head.substr(head.rfind('/') + 1);
    return parse_hctl(part) ? std::string(part) : std::string();
  }

  bool blocks() {
    const std::string path = "/sys/block";
    std::map<std::string, std::string> links;
    std::set<std::string> wanted;
    const auto names = listing(path);
    for (const auto& name : names) {
      const auto& link = links[name] = link_of(path + "/" + name);
      if (link.find("/session") != std::string::npos) wanted.insert(name);
      if (!name.starts_with("dm-")) continue;
      wanted.insert(name);
      // Paths of maps that are not iSCSI's: only below device mapper's multipath.
      const auto uuid = host_.read(path + "/" + name + "/dm/uuid");
      if (!uuid || !uuid->starts_with("mpath-")) continue;
      if (const auto slaves = host_.list(path + "/" + name + "/slaves")) wanted.insert(slaves->begin(), slaves->end());
    }
    for (const auto& name : wanted)
      if (const auto found = links.find(name); found != links.end()) disk(found->first, found->second);
    return !names.empty();
  }

  // A copy without /sys/block: the disks stand below their sessions.
  void session_disks() {
    for (const auto& [session, link] : session_links_) {
      const auto inner = link.rfind("/iscsi_session/");
      if (!link.starts_with("../../devices/") || inner == std::string::npos) continue;
      const std::string above = "/sys" + link.substr(5, inner - 5);
      const auto targets = host_.list(above);
      if (!targets) continue;
      for (const auto& target : *targets) {
        if (!target.starts_with("target")) continue;
        below_target(above + "/" + target, link.substr(0, inner) + "/" + target);
      }
    }
  }

  void below_target(const std::string& path, const std::string& link) {
    const auto units = host_.list(path);
    if (!units) return;
    for (const auto& unit : *units) {
      if (!parse_hctl(unit)) continue;
      const auto names = host_.list(path + "/" + unit + "/block");
      if (!names) continue;
      for (const auto& name : *names) {
        const std::string at = path + "/" + unit + "/block/" + name;
        say("== /sys/block/" + name + " -> " + link + "/" + unit + "/block/" + name);
        values(at, block_files);
        say("== /sys/block/" + name + "/device -> " + unit);
        values(path + "/" + unit, device_files);
        say("== /sys/block/" + name + "/queue -> ");
        values(at + "/queue", queue_files);
      }
    }
  }

  void values(const std::string& path, const Names& names) {
    for (auto& [name, text] : host_.read_some(path, names))
      if (text) say(std::string(name) + ":" + std::string(base::trim(printable(name, *text))));
  }

  const Host& host_;
  const SysfsSink& sink_;
  std::string said_;
  std::vector<std::pair<std::string, std::string>> session_links_;
};

}  // namespace

void walk_sysfs(const Host& host, const SysfsSink& sink) { Walk(host, sink).run(); }

std::string walk_sysfs(const Host& host) {
  std::string text;
  walk_sysfs(host, [&](std::string_view piece) { text += piece; });
  return text;
}

}  // namespace probes
