#include "probes/touch_mounts.h"

#include <string.h>

#include <algorithm>
#include <set>
#include <unordered_map>

#include <fmt/format.h>

#include "audit/base/text.h"
#include "probes/host/mountinfo.h"

namespace probes {

namespace {

std::string error_name(int number) {
  const char* name = ::strerrorname_np(number);
  return name != nullptr ? name : fmt::format("error {}", number);
}

std::string below_root(const std::string& root, const std::string& target) {
  if (root == "/" || root.empty()) return target;
  return target == "/" ? root : root + target;
}

struct Chosen {
  std::size_t client;
  std::string target;
  std::string path;
};

}  // namespace

void touch_mounts(const Host& host, facts::Facts& facts, const std::vector<std::size_t>& clients,
                  std::string_view own_mountinfo, std::chrono::milliseconds deadline, TouchCall call) {
  if (clients.empty()) return;
  std::set<std::string> allowed;
  for (const std::size_t c : clients) allowed.insert(facts.nfs.clients[c].id);
  // The last mount on a mount point is the one that a path leads to.
  std::unordered_map<std::string, facts::Mount> own;
  for (auto& mount : parse_mountinfo(own_mountinfo, Keep::all).facts) own[mount.target] = mount;

  const auto touchable = [&](const facts::NfsMount& mount) {
    if (mount.target_deleted || mount.hidden_by.has_value() || !mount.bdi.has_value()) return false;
    const auto seen = own.find(below_root(host.root(), mount.target));
    if (seen == own.end() || seen->second.kind != "nfs" || seen->second.hidden_by.has_value() ||
        seen->second.device != mount.bdi)
      return false;
    return std::none_of(facts.nfs.mounts.begin(), facts.nfs.mounts.end(), [&](const facts::NfsMount& other) {
      return other.target != mount.target && base::starts_with_path(mount.target, other.target) &&
             !allowed.contains(other.client_id);
    });
  };
  std::vector<Chosen> chosen;
  for (const std::size_t c : clients) {
    const std::string& id = facts.nfs.clients[c].id;
    const auto mount = std::find_if(facts.nfs.mounts.begin(), facts.nfs.mounts.end(),
                                    [&](const auto& m) { return m.client_id == id && touchable(m); });
    if (mount != facts.nfs.mounts.end())
      chosen.push_back({c, mount->target, below_root(host.root(), mount->target)});
    else
      facts.sources.push_back(
          {"touch", "statfs, client " + id, "skipped", "none of its mounts can be reached from here without risk", {}});
  }
  std::vector<std::string> paths;
  for (const Chosen& one : chosen) paths.push_back(one.path);
  const auto results = touch_paths(paths, deadline, call);
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const Touched& touched = results[i];
    facts::Source row{"touch", "statfs " + chosen[i].target, "ok", "", {}};
    facts::MountTouch touch{chosen[i].target, "ok", touched.duration.count()};
    row.duration_us = static_cast<std::uint64_t>(touched.duration.count() * 1000);
    switch (touched.how) {
      case Touched::How::ended:
        if (touched.error != 0) touch.result = row.detail = error_name(touched.error);
        break;
      case Touched::How::left_behind:
      case Touched::How::timeout:
        touch.result = row.status = "timeout";
        row.detail = fmt::format("no answer after {:.0f} ms", touched.duration.count());
        if (touched.how == Touched::How::left_behind)
          row.detail += "; the child that asked hangs in the kernel and is left behind";
        break;
      case Touched::How::not_started:
        row.status = "skipped";
        row.duration_us = {};
        row.detail = touched.error != 0 ? "no child could be started: " + error_name(touched.error) : "no time left";
        break;
    }
    if (touched.how != Touched::How::not_started) facts.nfs.clients[chosen[i].client].touch = touch;
    facts.sources.push_back(std::move(row));
  }
}

}  // namespace probes
