#include "probes/host/asked.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "audit/base/text.h"
#include "probes/host/kubelet.h"
#include "probes/host/nfs_options.h"
#include "probes/host/nfsmount_conf.h"
#include "probes/probe.h"

namespace probes {

namespace {

constexpr const char* trident_driver = "csi.trident.netapp.io";

std::string without_end_slash(std::string_view path) {
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  return std::string(path);
}

// The places by what a mount is looked up with: a node may have thousands of mounts and of tracking files.
class Places {
 public:
  Places(const facts::Config& config, const facts::Declared& declared) : config_(config), declared_(declared) {
    if (config.systemd_mounts.has_value())
      for (const facts::SystemdMount& unit : *config.systemd_mounts)
        if (!unit.source_path.is("/etc/fstab")) units_[without_end_slash(unit.where)].push_back(&unit);
    for (const facts::DeclaredPv& pv : declared.pvs) {
      pvs_.try_emplace(pv.name, &pv);
      if (pv.nfs_server.has_value() && pv.nfs_path.has_value())
        pvs_by_export_[normal_export(*pv.nfs_path)].push_back(&pv);
    }
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
    auto asked = place_of(mount);
    if (!config_.nfsmount_conf.has_value() || !mount.server_name.has_value() || !made_by_mount_nfs(mount)) return asked;
    if (asked.has_value() && asked->origin == "kernel-cmdline") return asked;
    const auto entries = nfsmount_entries(*config_.nfsmount_conf, *mount.server_name, mount.target);
    if (entries.empty()) return asked;
    if (!asked.has_value()) {
      facts::AskedOptions alone = parse_asked_options("");
      alone.origin = "nfsmount.conf";
      alone.path = entries.front()->path + ":" + std::to_string(entries.front()->line);
      asked = std::move(alone);
    }
    add_nfsmount_defaults(*asked, entries);
    return asked;
  }

 private:
  // A CSI driver brings its own mount.nfs and its own /etc in its container; Trident runs that of the node.
  static bool made_by_mount_nfs(const facts::NfsMount& mount) {
    if (!mount.kubelet.has_value() || !mount.kubelet->provisioner.has_value()) return true;
    const std::string& provisioner = *mount.kubelet->provisioner;
    return provisioner.starts_with("kubernetes.io/") || provisioner == trident_driver;
  }

  facts::Fact<facts::AskedOptions> place_of(const facts::NfsMount& mount) const {
    if (mount.target == "/" && config_.nfsroot.has_value()) {
      const facts::NfsRoot& root = *config_.nfsroot;
      facts::Fact<std::string> source;
      if (root.server.has_value() && root.export_path.has_value()) source = source_of(*root.server, *root.export_path);
      return finish(parse_asked_options(root.options_text.value_or("")), mount, "kernel-cmdline", root.path, source);
    }
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
    if (const auto* unit = mount_unit(mount))
      return finish(parse_asked_options(unit->options_text.value_or("")), mount, "systemd", unit->path, unit->what);
    if (const auto* pv = declared_pv(mount)) return asked_of(*pv, mount);
    return only_storage_class(mount);
  }

  static std::string source_of(const std::string& server, const std::string& path) {
    const bool bare_ipv6 = server.find(':') != std::string::npos && !server.starts_with('[');
    return (bare_ipv6 ? "[" + server + "]" : server) + ":" + path;
  }
  static std::string source_of(const facts::TridentVolume& volume) {
    return source_of(*volume.nfs_server, *volume.nfs_path);
  }

  const facts::SystemdMount* mount_unit(const facts::NfsMount& mount) const {
    const auto found = units_.find(without_end_slash(mount.target));
    if (found == units_.end()) return nullptr;
    for (const facts::SystemdMount* unit : found->second)
      if (same_source(unit->what, mount.source)) return unit;
    return found->second.front();
  }

  const facts::DeclaredPv* declared_pv(const facts::NfsMount& mount) const {
    if (mount.kubelet.has_value() && mount.kubelet->pv.has_value())
      if (const auto found = pvs_.find(*mount.kubelet->pv); found != pvs_.end()) return found->second;
    if (!mount.export_path.has_value()) return nullptr;
    const auto found = pvs_by_export_.find(normal_export(*mount.export_path));
    if (found == pvs_by_export_.end()) return nullptr;
    for (const facts::DeclaredPv* pv : found->second)
      if (same_source(source_of(*pv->nfs_server, *pv->nfs_path), mount.source)) return pv;
    return nullptr;
  }

  facts::AskedOptions asked_of(const facts::DeclaredPv& pv, const facts::NfsMount& mount) const {
    facts::Fact<std::string> source;
    if (pv.nfs_server.has_value() && pv.nfs_path.has_value()) source = source_of(*pv.nfs_server, *pv.nfs_path);
    if (!pv.mount_options.has_value())
      if (const auto* backend = backend_of(pv))
        return finish(parse_asked_options(*backend->nfs_mount_options), mount, "trident-backend", backend->source,
                      source);
    const std::string text = base::join(pv.mount_options.value_or({}), ",");
    return finish(parse_asked_options(text), mount, "pv", pv.source, source);
  }

  // Trident passes a backend's nfsMountOptions on when the StorageClass named none, so that the volume has none.
  const facts::DeclaredTridentBackend* backend_of(const facts::DeclaredPv& pv) const {
    if (!pv.csi_driver.is(trident_driver)) return nullptr;
    const facts::DeclaredTridentBackend* only = nullptr;
    for (const facts::DeclaredTridentBackend& backend : declared_.trident_backends) {
      if (!backend.nfs_mount_options.has_value()) continue;
      if (pv.backend_uuid.has_value() && backend.backend_uuid.has_value()) {
        if (*pv.backend_uuid == *backend.backend_uuid) return &backend;
        continue;
      }
      if (only != nullptr) return nullptr;
      only = &backend;
    }
    return only;
  }

  facts::Fact<facts::AskedOptions> only_storage_class(const facts::NfsMount& mount) const {
    if (!mount.kubelet.has_value() || !mount.kubelet->provisioner.has_value()) return {};
    const facts::DeclaredStorageClass* only = nullptr;
    for (const facts::DeclaredStorageClass& storage : declared_.storage_classes) {
      if (!mount.kubelet->provisioner.is(storage.provisioner)) continue;
      if (only != nullptr) return {};
      only = &storage;
    }
    if (only == nullptr || !only->mount_options.has_value()) return {};
    return finish(parse_asked_options(base::join(*only->mount_options, ",")), mount, "storageclass", only->source, {});
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

  const facts::Config& config_;
  const facts::Declared& declared_;
  std::unordered_map<std::string, std::vector<const facts::SystemdMount*>> units_;  // by mount point
  std::unordered_map<std::string, const facts::DeclaredPv*> pvs_;                   // by name
  std::unordered_map<std::string, std::vector<const facts::DeclaredPv*>> pvs_by_export_;
  std::unordered_map<std::string, std::vector<const facts::FstabEntry*>> lines_;  // by mount point
  std::unordered_map<std::string, const facts::TridentVolume*> published_;        // by mount point
  std::unordered_map<std::string, const facts::TridentVolume*> by_name_;
  std::unordered_map<std::string, std::vector<const facts::TridentVolume*>> by_export_;
};

}  // namespace

facts::Fact<facts::AskedOptions> asked_for(const facts::NfsMount& mount, const facts::Config& config,
                                           const facts::Declared& declared) {
  return Places(config, declared).asked_for(mount);
}

void join_declared(facts::Facts& facts) {
  const Places places(facts.config, facts.declared);
  for (facts::NfsMount& mount : facts.nfs.mounts) {
    const std::string origin = mount.asked.has_value() ? mount.asked->origin : "nfsmount.conf";
    if (origin == "pv" || origin == "storageclass" || origin == "trident-backend" || origin == "nfsmount.conf")
      mount.asked = places.asked_for(mount);
  }
}

void join_asked(Reading& reading) {
  facts::Facts& facts = reading.facts();
  const Places places(facts.config, facts.declared);
  for (facts::NfsMount& mount : facts.nfs.mounts) {
    mount.asked = places.asked_for(mount);
    if (mount.asked.has_value() && mount.asked->origin == "fstab")
      mount.asked->path =
          reading.host().name_of("/etc/fstab") + mount.asked->path.substr(std::string("/etc/fstab").size());
  }
}

}  // namespace probes
