// What was declared with --declare: Kubernetes objects by apiVersion and kind, and mountaudit.declare/1. Secrets are
// never read.
// Sources: Kubernetes API v1 and storage.k8s.io/v1, trident.netapp.io/v1.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "audit/facts/fact.h"

namespace facts {

struct DeclaredPv {
  std::string source;  // file, with :line of the object
  std::string name;
  Fact<std::vector<std::string>> mount_options;
  Fact<std::vector<std::string>> access_modes;
  Fact<std::string> volume_mode;  // Filesystem (the default) or Block
  Fact<std::string> storage_class;
  Fact<std::string> claim;  // namespace/name
  Fact<std::string> csi_driver;
  Fact<std::string> volume_handle;
  Fact<std::string> backend_uuid;  // of Trident, from the volume attributes
  Fact<std::string> nfs_server;    // spec.nfs, or the volume attributes of the CSI driver
  Fact<std::string> nfs_path;
  Fact<std::string> reclaim_policy;

  template <class DeclaredPv = facts::DeclaredPv>
  static auto fields() {
    return std::array{
        Field{"source", &DeclaredPv::source, "file that declares it, with the line"},
        Field{"name", &DeclaredPv::name, "PersistentVolume"},
        Field{"mount_options", &DeclaredPv::mount_options, "spec.mountOptions; null when there are none"},
        Field{"access_modes", &DeclaredPv::access_modes, "spec.accessModes"},
        Field{"volume_mode", &DeclaredPv::volume_mode, "spec.volumeMode, Filesystem when not named"},
        Field{"storage_class", &DeclaredPv::storage_class, "spec.storageClassName; null when empty"},
        Field{"claim", &DeclaredPv::claim, "namespace/name of the claim that it is bound to; null for none"},
        Field{"csi_driver", &DeclaredPv::csi_driver, "spec.csi.driver; null for another kind of volume"},
        Field{"volume_handle", &DeclaredPv::volume_handle, "spec.csi.volumeHandle"},
        Field{"backend_uuid", &DeclaredPv::backend_uuid, "Trident's backend of the volume; null when not named"},
        Field{"nfs_server", &DeclaredPv::nfs_server, "server, from spec.nfs or the volume attributes"},
        Field{"nfs_path", &DeclaredPv::nfs_path, "export, from spec.nfs or the volume attributes"},
        Field{"reclaim_policy", &DeclaredPv::reclaim_policy, "spec.persistentVolumeReclaimPolicy"}};
  }
  bool operator==(const DeclaredPv&) const = default;
};

struct DeclaredPvc {
  std::string source;
  std::string namespace_name;
  std::string name;
  Fact<std::vector<std::string>> access_modes;
  Fact<std::string> volume_mode;
  Fact<std::string> storage_class;
  Fact<std::string> volume;

  template <class DeclaredPvc = facts::DeclaredPvc>
  static auto fields() {
    return std::array{Field{"source", &DeclaredPvc::source, "file that declares it, with the line"},
                      Field{"namespace", &DeclaredPvc::namespace_name, "namespace, default when not named"},
                      Field{"name", &DeclaredPvc::name, "PersistentVolumeClaim"},
                      Field{"access_modes", &DeclaredPvc::access_modes, "spec.accessModes"},
                      Field{"volume_mode", &DeclaredPvc::volume_mode, "spec.volumeMode, Filesystem when not named"},
                      Field{"storage_class", &DeclaredPvc::storage_class, "spec.storageClassName; null when not named"},
                      Field{"volume", &DeclaredPvc::volume, "spec.volumeName; null while it is not bound"}};
  }
  bool operator==(const DeclaredPvc&) const = default;
};

struct DeclaredStorageClass {
  std::string source;
  std::string name;
  std::string provisioner;
  Fact<std::vector<std::string>> mount_options;
  Fact<std::string> backend_type;  // parameters.backendType (Trident)
  Fact<std::string> reclaim_policy;

  template <class DeclaredStorageClass = facts::DeclaredStorageClass>
  static auto fields() {
    return std::array{
        Field{"source", &DeclaredStorageClass::source, "file that declares it, with the line"},
        Field{"name", &DeclaredStorageClass::name, "StorageClass"},
        Field{"provisioner", &DeclaredStorageClass::provisioner, "provisioner"},
        Field{"mount_options", &DeclaredStorageClass::mount_options, "mountOptions; null when there are none"},
        Field{"backend_type", &DeclaredStorageClass::backend_type, "parameters.backendType; null when not named"},
        Field{"reclaim_policy", &DeclaredStorageClass::reclaim_policy, "reclaimPolicy"}};
  }
  bool operator==(const DeclaredStorageClass&) const = default;
};

struct DeclaredTridentBackend {
  std::string source;
  std::string name;
  Fact<std::string> backend_name;
  Fact<std::string> backend_uuid;       // status.backendInfo
  Fact<std::string> driver;             // ontap-nas, ontap-san, azure-netapp-files ...
  Fact<std::string> nfs_mount_options;  // with a leading -o, as some write it, taken off
  Fact<std::string> data_lif;
  Fact<std::string> svm;

  template <class DeclaredTridentBackend = facts::DeclaredTridentBackend>
  static auto fields() {
    return std::array{
        Field{"source", &DeclaredTridentBackend::source, "file that declares it, with the line"},
        Field{"name", &DeclaredTridentBackend::name, "TridentBackendConfig"},
        Field{"backend_name", &DeclaredTridentBackend::backend_name, "spec.backendName; null when not named"},
        Field{"backend_uuid", &DeclaredTridentBackend::backend_uuid,
              "status.backendInfo.backendUUID; null when not named"},
        Field{"driver", &DeclaredTridentBackend::driver, "spec.storageDriverName"},
        Field{"nfs_mount_options", &DeclaredTridentBackend::nfs_mount_options,
              "spec.nfsMountOptions; null when not named"},
        Field{"data_lif", &DeclaredTridentBackend::data_lif, "spec.dataLIF; null when not named"},
        Field{"svm", &DeclaredTridentBackend::svm, "spec.svm; null when not named"}};
  }
  bool operator==(const DeclaredTridentBackend&) const = default;
};

// A failover that the owner of the storage does on purpose (mountaudit.declare/1, plan.failovers).
struct PlannedFailover {
  std::string source;
  std::string server;       // name or address as the mounts give it; * for all
  Fact<std::string> start;  // RFC 3339; absent: from the beginning
  Fact<std::string> end;    // absent: without an end

  template <class PlannedFailover = facts::PlannedFailover>
  static auto fields() {
    return std::array{
        Field{"source", &PlannedFailover::source, "file that declares it, with the line"},
        Field{"server", &PlannedFailover::server, "server by the name or address that mounts give it; * for all"},
        Field{"start", &PlannedFailover::start, "when it begins, RFC 3339; null: no begin is named"},
        Field{"end", &PlannedFailover::end, "when it is over, RFC 3339; null: no end is named"}};
  }
  bool operator==(const PlannedFailover&) const = default;
};

struct Declared {
  std::vector<DeclaredPv> pvs;
  std::vector<DeclaredPvc> pvcs;
  std::vector<DeclaredStorageClass> storage_classes;
  std::vector<DeclaredTridentBackend> trident_backends;
  std::vector<PlannedFailover> failovers;
  Fact<bool> all_flash;                 // mountaudit.declare/1, storage.all_flash: no rotating disks in the arrays
  Fact<bool> single_path;               // storage.single_path: LUNs have one path by design
  Fact<std::string> trident_version;    // TridentVersion, or TridentOrchestrator: 26.02.0
  Fact<std::string> openshift_version;  // ClusterVersion: 4.18.12

  template <class Declared = facts::Declared>
  static auto fields() {
    return std::array{Field{"pvs", &Declared::pvs, "PersistentVolumes"},
                      Field{"pvcs", &Declared::pvcs, "PersistentVolumeClaims"},
                      Field{"storage_classes", &Declared::storage_classes, "StorageClasses"},
                      Field{"trident_backends", &Declared::trident_backends, "TridentBackendConfigs"},
                      Field{"failovers", &Declared::failovers, "failovers done on purpose"},
                      Field{"all_flash", &Declared::all_flash, "the arrays have no rotating disks"},
                      Field{"single_path", &Declared::single_path, "LUNs have one path by design"},
                      Field{"trident_version", &Declared::trident_version, "release of Trident that runs"},
                      Field{"openshift_version", &Declared::openshift_version, "version of OpenShift"}};
  }
  bool operator==(const Declared&) const = default;
};

}  // namespace facts
