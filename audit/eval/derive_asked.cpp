// Places that ask for mount options, settings of the kernel, declared volumes and claims.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "audit/base/text.h"
#include "audit/eval/derive_help.h"
#include "audit/eval/derive_options.h"
#include "audit/eval/option_text.h"

namespace audit {

namespace {

using namespace derive_help;
using facts::Absent;
using facts::Value;

// --- places that ask for options -----------------------------------------------------------------------------------

enum Place : std::uint32_t { fstab, systemd, trident, pv, storage_class, trident_backend, command };

struct Asking {
  std::string_view origin;
  std::string place;
  std::string source;
  std::string target;
  std::string text;
};

bool is_nfs_type(const std::string& type) { return type == "nfs" || type == "nfs4"; }

std::vector<Item> all_askings(const Context& c) {
  std::vector<Item> items;
  const Scope* scope = find_scope("config.asked");
  const facts::Config& config = c.facts.config;
  const facts::Declared& declared = c.facts.declared;
  const auto add = [&](Place place, std::size_t i) { items.push_back({scope, place, static_cast<std::uint32_t>(i)}); };
  if (config.fstab.has_value()) {
    for (std::size_t i = 0; i < config.fstab->size(); ++i) {
      if (is_nfs_type((*config.fstab)[i].fs_type)) add(fstab, i);
    }
  }
  if (config.systemd_mounts.has_value()) {
    for (std::size_t i = 0; i < config.systemd_mounts->size(); ++i) {
      const auto& unit = (*config.systemd_mounts)[i];
      if (unit.fs_type.has_value() && is_nfs_type(*unit.fs_type) && !unit.source_path.is("/etc/fstab")) add(systemd, i);
    }
  }
  if (config.trident.has_value()) {
    for (std::size_t i = 0; i < config.trident->size(); ++i) {
      if ((*config.trident)[i].nfs_server.has_value() && (*config.trident)[i].mount_options.has_value())
        add(trident, i);
    }
  }
  for (std::size_t i = 0; i < declared.pvs.size(); ++i) {
    if (declared.pvs[i].nfs_server.has_value() && declared.pvs[i].mount_options.has_value()) add(pv, i);
  }
  for (std::size_t i = 0; i < declared.storage_classes.size(); ++i) {
    if (declared.storage_classes[i].mount_options.has_value()) add(storage_class, i);
  }
  for (std::size_t i = 0; i < declared.trident_backends.size(); ++i) {
    if (declared.trident_backends[i].nfs_mount_options.has_value()) add(trident_backend, i);
  }
  for (std::size_t i = 0; i < c.facts.log.mount_attempts.size(); ++i) {
    const auto& attempt = c.facts.log.mount_attempts[i];
    if (attempt.options_text.has_value() &&
        (!attempt.fs_type.has_value() || is_nfs_type(*attempt.fs_type) || attempt.fs_type.is("efs")))
      add(command, i);
  }
  return items;
}

Asking asking_of(const Context& c, const Item& item) {
  const facts::Config& config = c.facts.config;
  const facts::Declared& declared = c.facts.declared;
  switch (item.index) {
    case fstab: {
      const auto& entry = (*config.fstab)[item.sub];
      return {"fstab", fmt::format("/etc/fstab:{}", entry.line), entry.source, entry.target,
              entry.options_text.value_or("")};
    }
    case systemd: {
      const auto& unit = (*config.systemd_mounts)[item.sub];
      return {"systemd", unit.path, unit.what, unit.where, unit.options_text.value_or("")};
    }
    case trident: {
      const auto& volume = (*config.trident)[item.sub];
      return {"trident", volume.path, *volume.nfs_server + ":" + volume.nfs_path.value_or(""), volume.volume,
              volume.mount_options.value_or("")};
    }
    case pv: {
      const auto& one = declared.pvs[item.sub];
      return {"pv", one.source, one.nfs_server.value_or("") + ":" + one.nfs_path.value_or(""), one.name,
              base::join(one.mount_options.value_or({}), ",")};
    }
    case storage_class: {
      const auto& one = declared.storage_classes[item.sub];
      return {"storageclass", one.source, "", one.name, base::join(one.mount_options.value_or({}), ",")};
    }
    case command: {
      const auto& attempt = c.facts.log.mount_attempts[item.sub];
      return {"command", fmt::format("{}:{}", attempt.source, attempt.line), attempt.what.value_or(""),
              attempt.where.value_or(""), attempt.options_text.value_or("")};
    }
    default: {
      const auto& one = declared.trident_backends[item.sub];
      return {"trident-backend", one.source, one.data_lif.value_or(""), one.name, one.nfs_mount_options.value_or("")};
    }
  }
}

std::string asking_path(const Context&, const Item& item) {
  static constexpr std::array<std::string_view, 7> lists{
      "config.fstab",      "config.systemd_mounts",    "config.trident",
      "declared.pvs",      "declared.storage_classes", "declared.trident_backends",
      "log.mount_attempts"};
  return fmt::format("{}[{}]", lists[item.index], item.sub);
}

Value asking_origin(const Context& c, const Item& item) { return asking_of(c, item).origin; }
Value asking_place(const Context& c, const Item& item) { return asking_of(c, item).place; }
Value asking_source(const Context& c, const Item& item) { return text_or_absent(asking_of(c, item).source); }
Value asking_target(const Context& c, const Item& item) { return text_or_absent(asking_of(c, item).target); }
Value asking_text(const Context& c, const Item& item) { return text_or_absent(asking_of(c, item).text); }

Value asking_number(const Context& c, const Item& item, std::string_view name) {
  const Asking asking = asking_of(c, item);
  const auto words = option_words(asking.text);
  for (const ComparedOption& option : compared_options()) {
    if (option.name != name) continue;
    const auto text = option.asked(words);
    if (!text) return Absent{};
    const auto number = base::number<std::int64_t>(*text);
    return number ? Value(*number) : unknown(fmt::format("{}={} is no number", name, *text));
  }
  return Absent{};
}
Value asking_nconnect(const Context& c, const Item& item) { return asking_number(c, item, "nconnect"); }
Value asking_rsize(const Context& c, const Item& item) { return asking_number(c, item, "rsize"); }
Value asking_wsize(const Context& c, const Item& item) { return asking_number(c, item, "wsize"); }

Value asking_obsolete(const Context& c, const Item& item) {
  const Asking asking = asking_of(c, item);
  return text_or_absent(obsolete_words(option_words(asking.text)));
}

Value asking_option(const Context& c, const Item& item, std::string_view name) {
  const Asking asking = asking_of(c, item);
  const auto words = option_words(asking.text);
  for (const ComparedOption& option : compared_options()) {
    if (option.name != name) continue;
    const auto text = option.asked(words);
    return text ? Value(*text) : Value(Absent{});
  }
  return Absent{};
}
Value asking_recovery(const Context& c, const Item& item) {
  const Value named = asking_option(c, item, "recovery");
  return named.is_absent() ? Value("hard") : named;
}
Value asking_timeo(const Context& c, const Item& item) { return asking_number(c, item, "timeo"); }
Value asking_timeo_s(const Context& c, const Item& item) {
  const Value timeo = asking_timeo(c, item);
  return timeo.is_number() ? Value(*timeo.as_double() / 10) : timeo;
}
Value asking_vers(const Context& c, const Item& item) { return asking_option(c, item, "vers"); }

bool has_word(const Context& c, const Item& item, std::string_view key) {
  const Asking asking = asking_of(c, item);
  const auto words = option_words(asking.text);
  return std::any_of(words.begin(), words.end(), [&](const OptionWord& word) { return word.key == key; });
}
Value asking_netdev(const Context& c, const Item& item) { return has_word(c, item, "_netdev"); }
Value asking_nofail(const Context& c, const Item& item) { return has_word(c, item, "nofail"); }
Value asking_noac(const Context& c, const Item& item) { return has_word(c, item, "noac"); }
Value asking_read_only(const Context& c, const Item& item) { return has_word(c, item, "ro"); }

// nolock, or local_lock= with anything but none.
Value asking_local_locks(const Context& c, const Item& item) {
  const Asking asking = asking_of(c, item);
  bool local = false;
  for (const OptionWord& word : option_words(asking.text)) {
    if (word.key == "nolock") local = true;
    if (word.key == "lock") local = false;
    if (word.key == "local_lock" && word.value) local = *word.value != "none";
  }
  return local;
}

Value asking_loopback(const Context& c, const Item& item) {
  const std::string source = asking_of(c, item).source;
  const std::size_t end = source.starts_with('[') ? source.find(']') : source.find(":/");
  if (source.empty() || end == std::string::npos) return Absent{};
  const std::size_t begin = source.starts_with('[') ? 1 : 0;
  return is_loopback_host(std::string_view(source).substr(begin, end - begin));
}

Value asking_noauto(const Context& c, const Item& item) {
  return has_word(c, item, "noauto") || has_word(c, item, "x-systemd.automount");
}

Value asking_mounted(const Context& c, const Item& item) { return c.is_mounted(asking_of(c, item).target); }

// --- settings of the kernel ----------------------------------------------------------------------------------------

const facts::KernelSetting& setting_of(const Context& c, const Item& item) {
  return (*c.facts.kernel.settings)[item.index];
}

std::vector<Item> all_settings(const Context& c) {
  std::vector<Item> items;
  if (!c.facts.kernel.settings.has_value()) return items;
  for (std::uint32_t i = 0; i < c.facts.kernel.settings->size(); ++i) items.push_back(make_item("kernel.settings", i));
  return items;
}

// Transports keep the limit that was in force when they were made.
Value setting_transport_value(const Context& c, const Item& item) {
  if (setting_of(c, item).name != "sunrpc.tcp_max_slot_table_entries") return Absent{};
  const auto& switches = c.facts.nfs.xprt_switches;
  if (switches.is_unknown()) return missing(c, "nfs.xprt_switches");
  if (switches.is_absent()) return Absent{};
  const auto& live = setting_of(c, item).live;
  std::optional<std::uint64_t> some;
  for (const auto& one : *switches) {
    for (const auto& transport : one.transports) {
      if (!transport.proto.is("tcp") || !transport.max_slots_count.has_value()) continue;
      const std::string text = std::to_string(*transport.max_slots_count);
      if (live.has_value() && text != *live) return text;
      some = *transport.max_slots_count;
    }
  }
  return some ? Value(std::to_string(*some)) : Value(Absent{});
}

// --- declared volumes ----------------------------------------------------------------------------------------------

const facts::DeclaredPv& pv_of(const Context& c, const Item& item) { return c.facts.declared.pvs[item.index]; }

std::vector<Item> all_pvs(const Context& c) {
  std::vector<Item> items;
  for (std::uint32_t i = 0; i < c.facts.declared.pvs.size(); ++i) items.push_back(make_item("declared.pvs", i));
  return items;
}

const facts::DeclaredStorageClass* class_of(const Context& c, const facts::Fact<std::string>& name) {
  if (!name.has_value()) return nullptr;
  for (const auto& one : c.facts.declared.storage_classes) {
    if (one.name == *name) return &one;
  }
  return nullptr;
}

constexpr const char* trident_driver = "csi.trident.netapp.io";

const facts::DeclaredTridentBackend* backend_of(const Context& c, const facts::DeclaredPv& pv) {
  const auto& backends = c.facts.declared.trident_backends;
  if (pv.backend_uuid.has_value()) {
    for (const auto& one : backends) {
      if (one.backend_uuid.has_value() && *one.backend_uuid == *pv.backend_uuid) return &one;
    }
    if (std::any_of(backends.begin(), backends.end(), [](const auto& one) { return one.backend_uuid.has_value(); }))
      return nullptr;
  }
  return pv.csi_driver.is(trident_driver) && backends.size() == 1 ? &backends.front() : nullptr;
}

Value pv_options(const Context& c, const Item& item) {
  const auto& options = pv_of(c, item).mount_options;
  if (options.is_unknown()) return missing(c, "declared.pvs", item.index, "mount_options");
  return options.has_value() ? text_or_absent(base::join(*options, ",")) : Value(Absent{});
}

Value class_options(const Context& c, const Item& item) {
  const facts::DeclaredPv& pv = pv_of(c, item);
  if (pv.storage_class.is_absent()) return Absent{};
  const facts::DeclaredStorageClass* one = class_of(c, pv.storage_class);
  if (one == nullptr) return unknown(fmt::format("StorageClass {} is not declared", pv.storage_class.value_or("")));
  return one->mount_options.has_value() ? text_or_absent(base::join(*one->mount_options, ",")) : Value(Absent{});
}

Value backend_options(const Context& c, const Item& item) {
  const facts::DeclaredPv& pv = pv_of(c, item);
  if (!pv.csi_driver.is(trident_driver)) return Absent{};
  const facts::DeclaredTridentBackend* one = backend_of(c, pv);
  if (one == nullptr) return unknown("the Trident backend of the volume is not declared");
  return one->nfs_mount_options.has_value() ? text_or_absent(*one->nfs_mount_options) : Value(Absent{});
}

// Options in another order, or spelt in another way, are the same.
bool is_same_request(const std::string& a, const std::string& b) {
  const auto left = option_words(a), right = option_words(b);
  for (const ComparedOption& option : compared_options()) {
    if (option.asked(left) != option.asked(right)) return false;
  }
  return true;
}

Value pv_differs_from_class(const Context& c, const Item& item) {
  const Value own = pv_options(c, item), theirs = class_options(c, item);
  if (own.is_unknown() || theirs.is_unknown()) return own.is_unknown() ? own : theirs;
  const auto text = [](const Value& value) { return value.is_absent() ? std::string() : *value.as_text(); };
  return !is_same_request(text(own), text(theirs));
}

std::vector<Item> pv_mounts(const Context& c, const Item& item) {
  std::vector<Item> items;
  for (const std::uint32_t m : c.mounts_of_volume(pv_of(c, item).name)) items.push_back(make_item("nfs.mounts", m));
  return items;
}

// "nconnect=8 (in effect: 1)" for what a mount of the volume does not run.
Value pv_mount_differs(const Context& c, const Item& item) {
  const Value own = pv_options(c, item);
  if (!own.as_text()) return own;
  const auto words = option_words(*own.as_text());
  const auto mounts = pv_mounts(c, item);
  if (mounts.empty()) return Absent{};
  std::vector<std::string> differences;
  for (const Item& mount : mounts) {
    for (const ComparedOption& option : compared_options()) {
      const auto asked = option.asked(words);
      if (!asked) continue;
      const Value effective = option.effective(c.facts.nfs.mounts[mount.index]);
      if (effective.is_unknown()) return missing(c, "nfs.mounts", mount.index, "options_text");
      const std::string shown = effective.is_absent() ? "none" : *effective.as_text();
      if (is_met(option.name, *asked, shown)) continue;
      std::string text = fmt::format("{}={} (in effect: {})", option.name, *asked, shown);
      if (std::find(differences.begin(), differences.end(), text) == differences.end())
        differences.push_back(std::move(text));
    }
  }
  return differences.empty() ? Value(Absent{}) : Value(base::join(differences, ", "));
}

const facts::DeclaredPvc& pvc_of(const Context& c, const Item& item) { return c.facts.declared.pvcs[item.index]; }

std::vector<Item> all_pvcs(const Context& c) {
  std::vector<Item> items;
  for (std::uint32_t i = 0; i < c.facts.declared.pvcs.size(); ++i) items.push_back(make_item("declared.pvcs", i));
  return items;
}

const facts::DeclaredPv* volume_of(const Context& c, const facts::DeclaredPvc& pvc) {
  for (const auto& pv : c.facts.declared.pvs) {
    if (pvc.volume.has_value() ? pv.name == *pvc.volume : pv.claim.is(pvc.namespace_name + '/' + pvc.name)) return &pv;
  }
  return nullptr;
}

// nfs or san: by the declared volume, its Trident backend, or the type that the StorageClass names.
Value pvc_storage(const Context& c, const Item& item) {
  const facts::DeclaredPvc& pvc = pvc_of(c, item);
  const auto kind_of = [](const std::string& driver) -> std::optional<std::string> {
    if (driver.find("san") != std::string::npos) return "san";
    if (driver.find("nas") != std::string::npos || driver.find("netapp-files") != std::string::npos ||
        driver.find("gcp-cvs") != std::string::npos || driver == "google-cloud-netapp-volumes")
      return "nfs";
    return std::nullopt;
  };
  const facts::DeclaredPv* pv = volume_of(c, pvc);
  if (pv != nullptr && pv->nfs_server.has_value()) return "nfs";
  if (pv != nullptr) {
    const auto* backend = backend_of(c, *pv);
    if (backend != nullptr && backend->driver.has_value()) {
      if (const auto kind = kind_of(*backend->driver)) return *kind;
    }
  }
  const auto* one = class_of(c, pvc.storage_class.has_value() || pv == nullptr ? pvc.storage_class : pv->storage_class);
  if (one != nullptr && one->backend_type.has_value()) {
    if (const auto kind = kind_of(*one->backend_type)) return *kind;
  }
  return unknown("neither its volume nor its StorageClass says what storage it is on");
}

bool has_mode(const facts::DeclaredPvc& pvc, const char* mode) {
  return pvc.access_modes.has_value() &&
         std::find(pvc.access_modes->begin(), pvc.access_modes->end(), mode) != pvc.access_modes->end();
}

Value pvc_many_nodes(const Context& c, const Item& item) {
  const facts::DeclaredPvc& pvc = pvc_of(c, item);
  if (pvc.access_modes.is_unknown()) return missing(c, "declared.pvcs", item.index, "access_modes");
  return has_mode(pvc, "ReadWriteMany");
}

Value pvc_access(const Context& c, const Item& item) {
  const auto& modes = pvc_of(c, item).access_modes;
  if (modes.is_unknown()) return missing(c, "declared.pvcs", item.index, "access_modes");
  return base::join(modes.value_or({}), ", ");
}

Value pvc_vm(const Context& c, const Item& item) {
  const facts::DeclaredPv* pv = volume_of(c, pvc_of(c, item));
  const std::string name = pv != nullptr ? pv->name : pvc_of(c, item).volume.value_or("");
  for (const std::uint32_t i : c.mounts_of_volume(name)) {
    const auto& kubelet = c.facts.nfs.mounts[i].kubelet;
    if (kubelet->vm.has_value()) return *kubelet->vm;
  }
  return unknown("no VM on this node has it mounted");
}

// --- the node: Trident and OpenShift ---------------------------------------------------------------------------------

struct Release {
  unsigned major = 0, minor = 0;
  auto operator<=>(const Release&) const = default;
};

std::optional<Release> release_of(const std::string& text) {
  const auto parts = base::split(text, '.');
  const auto major = base::number<unsigned>(parts[0]);
  const auto minor = parts.size() > 1 ? base::number<unsigned>(parts[1]) : std::nullopt;
  if (!major || !minor) return std::nullopt;
  return Release{*major, *minor};
}

// The newest OpenShift that a release of Trident supports, from the requirements page of each release.
struct Supported {
  Release trident;
  Release newest_openshift;
};
constexpr std::array<Supported, 5> supported{
    {{{25, 2}, {4, 17}}, {{25, 6}, {4, 19}}, {{25, 10}, {4, 20}}, {{26, 2}, {4, 21}}, {{26, 6}, {4, 22}}}};

// Declared, else what Red Hat CoreOS says of itself: up to 4.18 its version is that of OpenShift.
Value openshift_version(const Context& c, const Item&) {
  if (c.facts.declared.openshift_version.has_value()) return *c.facts.declared.openshift_version;
  const facts::Kernel& kernel = c.facts.kernel;
  if (kernel.distribution.is("rhcos") && kernel.distribution_version.value_or("").starts_with("4."))
    return *kernel.distribution_version;
  return unknown(
      "needs declared.openshift_version: not declared (oc get clusterversion -o yaml), and the node does not say");
}

Value trident_newest_openshift(const Context& c, const Item&) {
  const auto& version = c.facts.declared.trident_version;
  if (!version.has_value())
    return unknown("needs declared.trident_version: not declared (oc get tridentversions -A -o yaml)");
  const auto release = release_of(*version);
  for (const Supported& row : supported) {
    if (release && row.trident == *release)
      return fmt::format("{}.{}", row.newest_openshift.major, row.newest_openshift.minor);
  }
  return Absent{};
}

Value trident_supports(const Context& c, const Item& item) {
  const Value newest = trident_newest_openshift(c, item), openshift = openshift_version(c, item);
  if (!newest.as_text()) return newest;
  if (!openshift.as_text()) return openshift;
  const auto release = release_of(*openshift.as_text());
  return release ? Value(*release <= *release_of(*newest.as_text())) : Value(Absent{});
}

template <facts::Fact<std::string> facts::TridentVolume::*named>
Value trident_volumes(const Context& c, const Item&) {
  if (c.facts.config.trident.is_unknown()) return missing(c, "config.trident");
  std::uint64_t count = 0;
  for (const auto& volume : c.facts.config.trident.value_or({})) count += (volume.*named).has_value();
  return count;
}

// --- rows ----------------------------------------------------------------------------------------------------------

Scope asking_scope() {
  Scope s;
  s.name = "config.asked";
  s.type = nullptr;
  s.items = all_askings;
  s.ref = [](const Context&, const Item&) { return facts::Ref{}; };
  s.path = asking_path;
  s.subject = [](const Context& c, const Item& item) { return Subject{"setting", asking_of(c, item).place}; };
  s.own_name = no_name;
  constexpr std::string_view by = "config.fstab";
  s.derived = {
      {"origin", text_type,
       "fstab, systemd, trident, pv, storageclass, trident-backend or command (a mount that "
       "pasted text shows)",
       by, asking_origin},
      {"place", text_type, "file, with the line where it has lines", by, asking_place},
      {"source", text_type, "server:/export that it names; null for none", by, asking_source},
      {"target", text_type, "mount point, or name of the object", by, asking_target},
      {"text", text_type, "options as written; null for none", by, asking_text},
      {"nconnect", integer_type, "nconnect= there; null when not named", by, asking_nconnect},
      {"rsize_bytes", integer_type, "rsize= there; null when not named", by, asking_rsize},
      {"wsize_bytes", integer_type, "wsize= there; null when not named", by, asking_wsize},
      {"obsolete", text_type, "options that the kernel ignores; null for none", by, asking_obsolete},
      {"vers", text_type, "version there, as written; null when not named", by, asking_vers},
      {"recovery", text_type, "hard, soft or softerr there; hard when not named", by, asking_recovery},
      {"timeo_ds", integer_type, "timeo= there, deciseconds; null when not named", by, asking_timeo},
      {"timeo_s", number_type, "the same in seconds", by, asking_timeo_s},
      {"noac", boolean_type, "noac is there", by, asking_noac},
      {"read_only", boolean_type, "ro is there", by, asking_read_only},
      {"local_locks", boolean_type, "nolock or local_lock= keeps locks on the node", by, asking_local_locks},
      {"loopback", boolean_type, "the server named is this node itself; null for no server", by, asking_loopback},
      {"netdev", boolean_type, "_netdev is there", by, asking_netdev},
      {"nofail", boolean_type, "nofail is there", by, asking_nofail},
      {"noauto", boolean_type, "not mounted at boot: noauto or x-systemd.automount", by, asking_noauto},
      {"mounted", boolean_type, "something of NFS is mounted there", "nfs.mounts", asking_mounted},
      {"derived.kernel_has_nconnect", boolean_type,
       "this kernel knows nconnect: Linux 5.3, a distribution's backport, or it is seen in use", "kernel.release",
       [](const Context& c, const Item&) {
         return find_scope("node")->find_derived("derived.kernel_has_nconnect")->get(c, make_item("node", 0));
       }}};
  return s;
}

Scope setting_scope() {
  Scope s;
  s.name = "kernel.settings";
  s.type = &facts::type_of<facts::KernelSetting>;
  s.items = all_settings;
  s.ref = [](const Context& c, const Item& item) { return facts::ref_to(setting_of(c, item)); };
  s.path = [](const Context&, const Item& item) { return fmt::format("kernel.settings[{}]", item.index); };
  s.subject = [](const Context& c, const Item& item) { return Subject{"setting", setting_of(c, item).name}; };
  s.own_name = no_name;
  s.derived = {{"transport_value", text_type,
                "value that a TCP transport was made with, by preference one that differs; null for other settings",
                "nfs.xprt_switches", setting_transport_value}};
  return s;
}

Scope pv_scope() {
  Scope s;
  s.name = "declared.pvs";
  s.type = &facts::type_of<facts::DeclaredPv>;
  s.items = all_pvs;
  s.ref = [](const Context& c, const Item& item) { return facts::ref_to(pv_of(c, item)); };
  s.path = [](const Context&, const Item& item) { return fmt::format("declared.pvs[{}]", item.index); };
  s.subject = [](const Context& c, const Item& item) { return Subject{"volume", pv_of(c, item).name}; };
  s.own_name = no_name;
  s.derived = {
      {"options", text_type, "mountOptions of the volume; null for none", "declared.pvs[].mount_options", pv_options},
      {"class_options", text_type, "mountOptions of its StorageClass; null for none",
       "declared.storage_classes[].mount_options", class_options},
      {"backend_options", text_type, "nfsMountOptions of its Trident backend; null for none",
       "declared.trident_backends[].nfs_mount_options", backend_options},
      {"differs_from_class", boolean_type, "volume and StorageClass ask for different options",
       "declared.pvs[].mount_options", pv_differs_from_class},
      {"mount_differs", text_type, "options that a mount of the volume does not run; null for none or no mount",
       "nfs.mounts[].options_text", pv_mount_differs}};
  s.collections = {{"mounts", "mounts of the volume on this node", "nfs.mounts", pv_mounts}};
  return s;
}

Scope pvc_scope() {
  Scope s;
  s.name = "declared.pvcs";
  s.type = &facts::type_of<facts::DeclaredPvc>;
  s.items = all_pvcs;
  s.ref = [](const Context& c, const Item& item) { return facts::ref_to(pvc_of(c, item)); };
  s.path = [](const Context&, const Item& item) { return fmt::format("declared.pvcs[{}]", item.index); };
  s.subject = [](const Context& c, const Item& item) {
    return Subject{"claim", pvc_of(c, item).namespace_name + '/' + pvc_of(c, item).name};
  };
  s.own_name = no_name;
  s.derived = {{"storage", text_type, "nfs or san, by its volume, backend or StorageClass", "declared.pvs[].nfs_server",
                pvc_storage},
               {"many_nodes", boolean_type, "ReadWriteMany is among the access modes", "declared.pvcs[].access_modes",
                pvc_many_nodes},
               {"access", text_type, "access modes", "declared.pvcs[].access_modes", pvc_access},
               {"vm", text_type, "VM on this node that has it mounted", "nfs.mounts[].kubelet", pvc_vm}};
  return s;
}

void add_to_node(Scope& node) {
  const std::vector<DerivedFact> facts{
      {"openshift_version", text_type, "version of OpenShift: declared, else by Red Hat CoreOS up to 4.18",
       "declared.openshift_version", openshift_version},
      {"trident_newest_openshift", text_type,
       "newest OpenShift that the declared release of Trident supports; null where the table has no such release",
       "declared.trident_version", trident_newest_openshift},
      {"trident_supports", boolean_type, "it supports the OpenShift that runs; null where the table does not tell",
       "declared.trident_version", trident_supports},
      {"trident_iscsi_volumes", integer_type, "iSCSI volumes that Trident has attached to the node", "config.trident",
       trident_volumes<&facts::TridentVolume::iscsi_target_iqn>}};
  node.derived.insert(node.derived.end(), facts.begin(), facts.end());
}

}  // namespace

void add_asked_scopes(std::vector<Scope>& all) {
  for (Scope& scope : all) {
    if (scope.name == "node") add_to_node(scope);
  }
  all.push_back(asking_scope());
  all.push_back(setting_scope());
  all.push_back(pv_scope());
  all.push_back(pvc_scope());
}

}  // namespace audit
