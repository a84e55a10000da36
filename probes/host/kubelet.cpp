#include "probes/host/kubelet.h"

#include <algorithm>
#include <boost/json.hpp>
#include <map>
#include <unordered_map>

#include "audit/base/json.h"
#include "audit/base/text.h"
#include "probes/probe.h"

namespace probes {

using base::ErrorKind;
using base::fail;
using base::Result;

namespace {

// 8-4-4-4-12 hexadecimal digits; static pods have 32 without dashes.
bool is_uid(std::string_view text) {
  const auto hex =
      std::count_if(text.begin(), text.end(), [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
  const auto dashes = std::count(text.begin(), text.end(), '-');
  return hex == 32 && ((text.size() == 36 && dashes == 4) || (text.size() == 32 && dashes == 0));
}

// "pvc-" and a UUID: how provisioners name the volumes that they make.
bool is_provisioned_name(std::string_view name) { return name.starts_with("pvc-") && is_uid(name.substr(4)); }

std::string path_of(const std::vector<std::string_view>& parts, std::size_t count) {
  std::string path;
  for (std::size_t i = 0; i < count; ++i) path.append("/").append(parts[i]);
  return path;
}

facts::Fact<std::string> text_at(const boost::json::object& object, const char* key) {
  const auto* value = object.if_contains(key);
  if (value == nullptr || !value->is_string() || value->as_string().empty()) return {};
  return std::string(value->as_string());
}

}  // namespace

std::optional<KubeletPath> parse_kubelet_path(std::string_view target) {
  std::vector<std::string_view> parts;
  for (const std::string_view part : base::split(target, '/'))
    if (!part.empty()) parts.push_back(part);
  const std::size_t count = parts.size();
  for (std::size_t i = 0; i + 4 < count; ++i) {
    KubeletPath path;
    if (parts[i] == "pods" && is_uid(parts[i + 1]) && parts[i + 2] == "volumes") {
      path.pod_uid = parts[i + 1];
      path.plugin = parts[i + 3];
      path.volume = parts[i + 4];
      if (path.plugin == "kubernetes.io~csi") path.vol_data = {path_of(parts, i + 5) + "/vol_data.json"};
      // In-tree plugins are told by their directory: kubernetes.io~nfs is kubernetes.io/nfs.
      else if (const std::size_t tilde = path.plugin.find('~'); tilde != std::string::npos)
        path.driver = path.plugin.substr(0, tilde) + "/" + path.plugin.substr(tilde + 1);
      return path;
    }
    if (parts[i] == "pods" && is_uid(parts[i + 1]) && parts[i + 2] == "volume-subpaths") {
      path.kind = KubeletPath::Kind::subpath;
      path.pod_uid = parts[i + 1];
      path.volume = parts[i + 3];
      path.vol_data = {path_of(parts, i + 2) + "/volumes/kubernetes.io~csi/" + path.volume + "/vol_data.json"};
      return path;
    }
    if (i + 5 < count && parts[i] == "plugins" && parts[i + 1] == "kubernetes.io" && parts[i + 2] == "csi" &&
        parts[i + 5] == "globalmount") {
      path.kind = KubeletPath::Kind::staged;
      path.plugin = "csi";
      path.volume = parts[i + 4];
      if (parts[i + 3] != "pv") path.driver = std::string(parts[i + 3]);
      path.vol_data = {path_of(parts, i + 5) + "/vol_data.json"};
      return path;
    }
  }
  return std::nullopt;
}

Result<VolData> parse_vol_data(std::string_view text, const std::string& where) {
  auto document = base::parse_json(text, where);
  if (!document) return tl::unexpected(document.error());
  const auto* object = document->if_object();
  if (object == nullptr) return fail(ErrorKind::malformed, where, "is no JSON object");
  VolData data;
  data.driver = text_at(*object, "driverName");
  data.pv = text_at(*object, "specVolID");
  if (text_at(*object, "volumeLifecycleMode").is("Ephemeral")) data.pv = facts::Fact<std::string>::absent();
  return data;
}

std::optional<PodName> parse_pod_directory(std::string_view name) {
  const auto parts = base::split(name, '_');
  if (parts.size() != 3 || parts[0].empty() || parts[1].empty() || !is_uid(parts[2])) return std::nullopt;
  return PodName{std::string(parts[0]), std::string(parts[1]), std::string(parts[2])};
}

std::optional<std::string> vm_of_pod(std::string_view pod_name) {
  constexpr std::string_view prefix = "virt-launcher-";
  constexpr std::size_t suffix = 6;  // a dash and five random characters
  if (!pod_name.starts_with(prefix) || pod_name.size() <= prefix.size() + suffix) return std::nullopt;
  if (pod_name[pod_name.size() - suffix] != '-') return std::nullopt;
  return std::string(pod_name.substr(prefix.size(), pod_name.size() - prefix.size() - suffix));
}

void carry_over(const std::vector<facts::NfsMount>& from, std::vector<facts::NfsMount>& to) {
  std::unordered_map<std::string_view, const facts::NfsMount*> known;
  for (const facts::NfsMount& mount : from) known[mount.target] = &mount;
  for (facts::NfsMount& mount : to) {
    const auto found = known.find(mount.target);
    if (found == known.end()) {
      if (!parse_kubelet_path(mount.target)) mount.kubelet = facts::Fact<facts::KubeletVolume>::absent();
      continue;
    }
    mount.kubelet = found->second->kubelet;
    mount.read_ahead_kib = found->second->read_ahead_kib;
  }
}

namespace {

using Pods = std::unordered_map<std::string, PodName>;  // by uid

// node.kubelet, node.virt_launcher, and who the pods are.
Pods read_pods(Reading& reading) {
  facts::Node& node = reading.facts().node;
  Pods pods;
  const auto kubelet = reading.list("/var/lib/kubelet/pods");
  if (kubelet)
    node.kubelet = true;
  else if (kubelet.error().kind == ErrorKind::absent)
    node.kubelet = false;
  const auto names = reading.list("/var/log/pods");
  if (!names) {
    if (names.error().kind == ErrorKind::absent && node.kubelet.is(false)) node.virt_launcher = false;
    return pods;
  }
  node.virt_launcher = false;
  for (const std::string& name : *names) {
    auto pod = parse_pod_directory(name);
    if (!pod) continue;
    if (pod->name.starts_with("virt-launcher-")) node.virt_launcher = true;
    std::string uid = pod->uid;
    pods.insert_or_assign(std::move(uid), std::move(*pod));
  }
  return pods;
}

// vol_data.json of the volume, read once however many mounts it has.
VolData read_vol_data(Reading& reading, const KubeletPath& path, std::map<std::string, VolData>& known) {
  for (const std::string& place : path.vol_data) {
    if (const auto found = known.find(place); found != known.end()) return found->second;
    VolData& data = known[place];
    const auto text = reading.file(place);
    if (!text) continue;
    auto parsed = parse_vol_data(*text, place);
    if (parsed)
      data = std::move(*parsed);
    else
      reading.malformed(parsed.error());
    return data;
  }
  return {};
}

facts::KubeletVolume resolve(const KubeletPath& path, const VolData& data, const Pods& pods) {
  facts::KubeletVolume volume;
  volume.pod_uid = path.pod_uid;
  volume.volume = path.volume;
  volume.provisioner = data.driver.has_value() ? data.driver : path.driver;
  volume.pv = data.pv;
  if (volume.pv.is_unknown() && is_provisioned_name(path.volume)) volume.pv = path.volume;
  if (path.kind == KubeletPath::Kind::staged) {
    volume.pod_namespace = facts::Fact<std::string>::absent();
    volume.pod_name = facts::Fact<std::string>::absent();
    volume.vm = facts::Fact<std::string>::absent();
    return volume;
  }
  const auto pod = pods.find(path.pod_uid);
  if (pod == pods.end()) return volume;
  volume.pod_namespace = pod->second.pod_namespace;
  volume.pod_name = pod->second.name;
  if (auto vm = vm_of_pod(pod->second.name))
    volume.vm = pod->second.pod_namespace + "/" + *vm;
  else if (!pod->second.name.starts_with("virt-launcher-"))
    volume.vm = facts::Fact<std::string>::absent();
  return volume;
}

// ".../csi/volumeDevices/publish/PV/UID" and ".../volumeDevices/PLUGIN/PV": the device of a block volume.
facts::Fact<std::string> raw_volume(std::string_view path) {
  const auto parts = base::split(path, '/');
  const auto at = std::find(parts.begin(), parts.end(), "volumeDevices");
  if (parts.end() - at < 3) return facts::Fact<std::string>::absent();
  return std::string(at[2]);
}

}  // namespace

void read_kubelet(Reading& reading) {
  const Pods pods = read_pods(reading);
  std::map<std::string, VolData> known;
  for (facts::NfsMount& mount : reading.facts().nfs.mounts) {
    const auto path = parse_kubelet_path(mount.target);
    if (!path) {
      mount.kubelet = facts::Fact<facts::KubeletVolume>::absent();
      continue;
    }
    mount.kubelet = resolve(*path, read_vol_data(reading, *path, known), pods);
    reading.facts().node.kubelet = true;  // its mounts show it, where its directory is not part of a copy
  }
  const auto resolve_use = [&](facts::BlockUse& use) {
    const auto path = parse_kubelet_path(use.name);
    if (!path) {
      use.kubelet = facts::Fact<facts::KubeletVolume>::absent();
      use.volume = raw_volume(use.name);
      return;
    }
    use.kubelet = resolve(*path, read_vol_data(reading, *path, known), pods);
    use.volume = use.kubelet->pv;
    reading.facts().node.kubelet = true;
  };
  if (reading.facts().block.devices.has_value())
    for (facts::BlockDevice& device : *reading.facts().block.devices)
      for (facts::BlockUse& use : device.users) resolve_use(use);
  if (reading.facts().multipath.maps.has_value())
    for (facts::MultipathMap& map : *reading.facts().multipath.maps)
      for (facts::BlockUse& use : map.users) resolve_use(use);
}

}  // namespace probes
