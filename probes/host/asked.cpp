#include "probes/host/asked.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "probes/host/kubelet.h"
#include "probes/host/nfs_options.h"
#include "probes/probe.h"

namespace probes {

namespace {

std::string without_end_slash(std::string_view path) {
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  return std::string(path);
}

// The places by what a mount is looked up with: a node may have thousands of mounts and of tracking files.
class Places {
 public:
  explicit Places(const facts::Config& config) {
    if (config.fstab.has_value())
      for (const facts::FstabEntry& entry : *config.fstab)
        if (entry.fs_type == "nfs" || entry.fs_type == "nfs4")
          lines_[without_end_slash(entry.target)].push_back(&entry);
    if (!config.trident.has_value()) return;
    for (const facts::TridentVolume& volume : *config.trident) {
      if (!volume.nfs_path.has_value() && !volume.nfs_server.has_value()) continue;  // a LUN
      if (volume.published_paths.has_value())
        for (const std::string& path : *volume.published_paths)
          published_.try_emplace(without_end_slash(path), &volume);
      by_name_.try_emplace(volume.volume, &volume);
      if (volume.nfs_path.has_value()) by_export_[normal_export(*volume.nfs_path)].push_back(&volume);
    }
  }

  facts::Fact<facts::AskedOptions> asked_for(const facts::NfsMount& mount) const {
    if (const auto* line = fstab_line(mount)) {
      facts::AskedOptions asked = parse_asked_options(line->options_text.value_or(""));
      asked.text = line->options_text.value_or("");
      return finish(std::move(asked), mount, "fstab", "/etc/fstab:" + std::to_string(line->line), line->source);
    }
    if (const auto* volume = trident_volume(mount)) {
      facts::AskedOptions asked = parse_asked_options(volume->mount_options.value_or(""));
      asked.text = volume->mount_options.value_or("");
      facts::Fact<std::string> source;
      if (volume->nfs_server.has_value() && volume->nfs_path.has_value()) source = source_of(*volume);
      return finish(std::move(asked), mount, "trident", volume->path, source);
    }
    return {};
  }

 private:
  static std::string source_of(const facts::TridentVolume& volume) {
    const std::string& server = *volume.nfs_server;
    const bool bare_ipv6 = server.find(':') != std::string::npos && !server.starts_with('[');
    return (bare_ipv6 ? "[" + server + "]" : server) + ":" + *volume.nfs_path;
  }

  static facts::AskedOptions finish(facts::AskedOptions asked, const facts::NfsMount& mount, const char* origin,
                                    std::string path, facts::Fact<std::string> source) {
    asked.origin = origin;
    asked.path = std::move(path);
    if (asked.vers.has_value()) asked.vers_origin = origin;
    if (source.has_value()) asked.same_source = same_source(*source, mount.source);
    asked.source = std::move(source);
    return asked;
  }

  const facts::FstabEntry* fstab_line(const facts::NfsMount& mount) const {
    const auto found = lines_.find(without_end_slash(mount.target));
    if (found == lines_.end()) return nullptr;
    for (const facts::FstabEntry* entry : found->second)
      if (same_source(entry->source, mount.source)) return entry;
    return found->second.back();
  }

  const facts::TridentVolume* trident_volume(const facts::NfsMount& mount) const {
    if (const auto found = published_.find(without_end_slash(mount.target)); found != published_.end())
      return found->second;
    const auto path = parse_kubelet_path(mount.target);
    if (!path) return nullptr;
    if (const auto found = by_name_.find(path->volume); found != by_name_.end()) return found->second;
    if (!mount.export_path.has_value()) return nullptr;
    const auto found = by_export_.find(normal_export(*mount.export_path));
    if (found == by_export_.end()) return nullptr;
    for (const facts::TridentVolume* volume : found->second)
      if (volume->nfs_server.has_value() && same_source(source_of(*volume), mount.source)) return volume;
    return nullptr;
  }

  std::unordered_map<std::string, std::vector<const facts::FstabEntry*>> lines_;  // by mount point
  std::unordered_map<std::string, const facts::TridentVolume*> published_;        // by mount point
  std::unordered_map<std::string, const facts::TridentVolume*> by_name_;
  std::unordered_map<std::string, std::vector<const facts::TridentVolume*>> by_export_;
};

}  // namespace

facts::Fact<facts::AskedOptions> asked_for(const facts::NfsMount& mount, const facts::Config& config) {
  return Places(config).asked_for(mount);
}

void join_asked(Reading& reading) {
  facts::Facts& facts = reading.facts();
  const Places places(facts.config);
  for (facts::NfsMount& mount : facts.nfs.mounts) {
    mount.asked = places.asked_for(mount);
    if (mount.asked.has_value() && mount.asked->origin == "fstab")
      mount.asked->path =
          reading.host().name_of("/etc/fstab") + mount.asked->path.substr(std::string("/etc/fstab").size());
  }
}

}  // namespace probes
