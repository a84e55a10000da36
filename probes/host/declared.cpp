#include "probes/host/declared.h"

// yaml-cpp is linked into this one file: Kubernetes hands its objects out as YAML. Only its event parser is used, so
// that anchors, depth and duplicate keys are refused while reading and no tree of its own is built.
#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <boost/json.hpp>
#include <istream>
#include <memory>
#include <streambuf>
#include <utility>

#include "audit/base/json.h"
#include "audit/base/text.h"
#include "probes/host/lines.h"
#include "probes/host/scrub.h"

namespace probes {

using base::ErrorKind;
using base::fail;
using base::Result;

namespace {

using Text = facts::Fact<std::string>;
using Texts = facts::Fact<std::vector<std::string>>;

constexpr std::size_t most_bytes = std::size_t{64} << 20;
constexpr std::size_t most_nodes = 4'000'000;
constexpr std::size_t most_depth = 64;

struct Node {
  enum class Kind : std::uint8_t { null, scalar, list, map } kind = Kind::null;
  std::size_t line = 0;
  std::string text;
  std::vector<std::pair<std::string, Node>> members;  // of a map
  std::vector<Node> items;                            // of a list

  const Node* at(std::string_view key) const {
    for (const auto& [name, node] : members)
      if (name == key) return &node;
    return nullptr;
  }
  // at() along a path: "spec.csi.driver"
  const Node* find(std::string_view path) const {
    const Node* node = this;
    for (const auto key : base::split(path, '.')) {
      node = node->at(key);
      if (node == nullptr) return nullptr;
    }
    return node;
  }
};

struct Refused {
  std::size_t line;
  std::string why;
};

// Builds the nodes of each document. Throws Refused; caught where the parser is called.
class Builder : public YAML::EventHandler {
 public:
  std::vector<Node> documents;

  void OnDocumentStart(const YAML::Mark&) override { stack_.clear(); }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override { add(mark, anchor, Node::Kind::null, {}); }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override { throw Refused{line(mark), "aliases are not read"}; }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    // "!" marks a quoted scalar: "null" in quotes is a text.
    const bool null = tag != "!" && (value == "null" || value == "~" || value.empty());
    add(mark, anchor, null ? Node::Kind::null : Node::Kind::scalar, value);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(mark, anchor, Node::Kind::list);
  }
  void OnSequenceEnd() override { stack_.pop_back(); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(mark, anchor, Node::Kind::map);
  }
  void OnMapEnd() override { stack_.pop_back(); }

 private:
  struct Open {
    Node* node;
    bool key_next = true;
  };

  static std::size_t line(const YAML::Mark& mark) { return static_cast<std::size_t>(mark.line) + 1; }

  Node& place(const YAML::Mark& mark, YAML::anchor_t anchor) {
    if (anchor != 0) throw Refused{line(mark), "anchors are not read"};
    if (++count_ > most_nodes) throw Refused{line(mark), "too many values"};
    if (stack_.empty()) return documents.emplace_back();
    Open& top = stack_.back();
    if (top.node->kind == Node::Kind::list) return top.node->items.emplace_back();
    top.key_next = true;
    return top.node->members.back().second;
  }

  void add(const YAML::Mark& mark, YAML::anchor_t anchor, Node::Kind kind, const std::string& value) {
    if (!stack_.empty() && stack_.back().node->kind == Node::Kind::map && stack_.back().key_next) {
      if (anchor != 0) throw Refused{line(mark), "anchors are not read"};
      Node& map = *stack_.back().node;
      if (map.at(value) != nullptr) throw Refused{line(mark), "duplicate key " + base::escape_control(value)};
      // Looking for a duplicate in a list of keys costs its square: no object has this many.
      if (map.members.size() >= 10'000) throw Refused{line(mark), "too many keys in one map"};
      map.members.emplace_back(value, Node{});
      stack_.back().key_next = false;
      return;
    }
    Node& node = place(mark, anchor);
    node.kind = kind;
    node.line = line(mark);
    if (kind == Node::Kind::scalar) node.text = value;
  }

  void open(const YAML::Mark& mark, YAML::anchor_t anchor, Node::Kind kind) {
    if (!stack_.empty() && stack_.back().node->kind == Node::Kind::map && stack_.back().key_next)
      throw Refused{line(mark), "a key that is no text"};
    if (stack_.size() >= most_depth) throw Refused{line(mark), "nested too deeply"};
    Node& node = place(mark, anchor);
    node.kind = kind;
    node.line = line(mark);
    stack_.push_back({&node});
  }

  std::vector<Open> stack_;  // pointers stay: a container grows only at its end while its last element is open
  std::size_t count_ = 0;
};

// Reads the text in place; a string stream would copy it.
class TextBuffer : public std::streambuf {
 public:
  explicit TextBuffer(std::string_view text) {
    char* begin = const_cast<char*>(text.data());  // only read from
    setg(begin, begin, begin + text.size());
  }
};

Result<std::vector<Node>> parse_yaml(std::string_view text, const std::string& where) {
  Builder builder;
  const auto refuse = [&](std::size_t line, const std::string& why) {
    return fail(ErrorKind::malformed, fmt::format("{}:{}", where, line), why);
  };
  try {
    TextBuffer buffer(text);
    std::istream in(&buffer);
    YAML::Parser parser(in);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const Refused& refused) {
    return refuse(refused.line, refused.why);
  } catch (const YAML::Exception& error) {
    return refuse(static_cast<std::size_t>(error.mark.line) + 1, error.msg);
  }
  return std::move(builder.documents);
}

Node from_json(const boost::json::value& value) {
  Node node;
  node.line = 1;  // Boost.JSON keeps no places
  if (const auto* object = value.if_object()) {
    node.kind = Node::Kind::map;
    for (const auto& [key, member] : *object) node.members.emplace_back(std::string(key), from_json(member));
  } else if (const auto* array = value.if_array()) {
    node.kind = Node::Kind::list;
    for (const auto& item : *array) node.items.push_back(from_json(item));
  } else if (!value.is_null()) {
    node.kind = Node::Kind::scalar;
    node.text = value.is_string() ? std::string(value.get_string()) : boost::json::serialize(value);
  }
  return node;
}

// --- what is read of an object ---------------------------------------------------------------------------------------

Text text_at(const Node& object, std::string_view path) {
  const Node* node = object.find(path);
  if (node == nullptr || node->kind == Node::Kind::null) return Text::absent();
  if (node->kind != Node::Kind::scalar) return {};  // of the wrong kind: cannot tell
  return node->text.empty() ? Text::absent() : Text(node->text);
}

Texts texts_at(const Node& object, std::string_view path) {
  const Node* node = object.find(path);
  if (node == nullptr || node->kind == Node::Kind::null) return Texts::absent();
  if (node->kind != Node::Kind::list) return {};
  std::vector<std::string> out;
  for (const Node& item : node->items) {
    if (item.kind != Node::Kind::scalar) return {};
    out.push_back(scrub(item.text));
  }
  if (out.empty()) return Texts::absent();
  return out;
}

std::string name_of(const Node& object) { return text_at(object, "metadata.name").value_or(""); }

Text first_of(Text first, const Text& second) { return first.has_value() ? std::move(first) : second; }

class Objects {
 public:
  Objects(std::string where, Parsed<facts::Declared>& out) : where_(std::move(where)), out_(out) {}

  void take(const Node& object, std::size_t depth = 0) {
    const std::string kind = text_at(object, "kind").value_or("");
    const std::string api = text_at(object, "apiVersion").value_or("");
    if (object.kind == Node::Kind::null) return;  // an empty document
    if (text_at(object, "schema").is("mountaudit.declare/1")) {
      ++seen_;
      taken_ = true;
      return take_declare(object);
    }
    if (object.kind != Node::Kind::map || kind.empty() || api.empty()) {
      add_note(out_.notes, object.line, "no Kubernetes object: it has no apiVersion and kind");
      return;
    }
    ++seen_;
    const Node* items = object.at("items");
    if (kind.ends_with("List") && items != nullptr && items->kind == Node::Kind::list) {
      taken_ = taken_ || items->items.empty();  // what there is none of was declared as well
      if (depth > 4) return add_note(out_.notes, object.line, "lists within lists");
      for (const Node& item : items->items) take(item, depth + 1);
      return;
    }
    const bool known = (kind == "PersistentVolume" && api == "v1") ||
                       (kind == "PersistentVolumeClaim" && api == "v1") ||
                       (kind == "StorageClass" && api.starts_with("storage.k8s.io/")) ||
                       (kind == "TridentBackendConfig" && api.starts_with("trident.netapp.io/")) ||
                       (kind == "TridentVersion" && api.starts_with("trident.netapp.io/")) ||
                       (kind == "TridentOrchestrator" && api.starts_with("trident.netapp.io/")) ||
                       (kind == "ClusterVersion" && api.starts_with("config.openshift.io/"));
    if (!known) {
      if (other_.empty()) other_ = fmt::format("{} of {}", base::escape_control(kind), base::escape_control(api));
      add_note(out_.notes, object.line,
               fmt::format("{} of {} is not looked at", base::escape_control(kind), base::escape_control(api)), false);
      return;
    }
    taken_ = true;
    if (name_of(object).empty()) return add_note(out_.notes, object.line, kind + " without metadata.name");
    if (kind == "PersistentVolume") return take_pv(object);
    if (kind == "PersistentVolumeClaim") return take_pvc(object);
    if (kind == "StorageClass") return take_storage_class(object);
    if (kind == "TridentVersion") return take_version(out_.facts.trident_version, text_at(object, "trident_version"));
    if (kind == "TridentOrchestrator")
      return take_version(out_.facts.trident_version, text_at(object, "status.version"));
    if (kind == "ClusterVersion")
      return take_version(out_.facts.openshift_version, text_at(object, "status.desired.version"));
    take_backend(object);
  }

  // Why nothing of the text could be used; empty where something was.
  std::string why_useless() const {
    if (taken_) return {};
    const std::string what = seen_ == 0       ? "holds no Kubernetes object (apiVersion and kind)"
                             : other_.empty() ? "holds no object that is looked at"
                                              : "holds " + other_ + ", which is not looked at";
    return fmt::format("{}; what is read: {}", what, declared_kinds);
  }

 private:
  std::string source(const Node& object) const { return fmt::format("{}:{}", where_, object.line); }

  // mountaudit.declare/1: of its parts the plan and two words about the storage are read so far.
  void take_declare(const Node& object) {
    for (const auto& [key, part] : object.members) {
      if (key != "schema" && key != "plan" && (key != "storage" || part.kind != Node::Kind::map))
        add_note(out_.notes, part.line, base::escape_control(key) + " is not looked at", false);
    }
    take_flag(object, "storage.all_flash", out_.facts.all_flash);
    take_flag(object, "storage.single_path", out_.facts.single_path);
    const Node* failovers = object.find("plan.failovers");
    if (failovers == nullptr || failovers->kind == Node::Kind::null) return;
    if (failovers->kind != Node::Kind::list) return add_note(out_.notes, failovers->line, "plan.failovers is no list");
    for (const Node& item : failovers->items) {
      facts::PlannedFailover failover;
      failover.source = fmt::format("{}:{}", where_, item.line);
      failover.server = text_at(item, "server").value_or("");
      failover.start = text_at(item, "start");
      failover.end = text_at(item, "end");
      if (failover.server.empty())
        add_note(out_.notes, item.line, "a planned failover without its server (a name, an address, or *)");
      else
        out_.facts.failovers.push_back(std::move(failover));
    }
  }

  void take_flag(const Node& object, std::string_view path, facts::Fact<bool>& to) {
    const Node* node = object.find(path);
    if (node == nullptr) return;
    if (node->text == "true" || node->text == "false")
      to = node->text == "true";
    else
      add_note(out_.notes, node->line, std::string(path) + " is neither true nor false");
  }

  static void take_version(Text& to, const Text& version) {
    if (!version.has_value() || version->empty()) return;
    to = version->front() == 'v' ? version->substr(1) : *version;
  }

  static Text volume_mode(const Node& object) {
    const Text mode = text_at(object, "spec.volumeMode");
    return mode.is_absent() ? Text("Filesystem") : mode;  // the API's default
  }

  void take_pv(const Node& object) {
    facts::DeclaredPv pv;
    pv.source = source(object);
    pv.name = name_of(object);
    pv.mount_options = texts_at(object, "spec.mountOptions");
    pv.access_modes = texts_at(object, "spec.accessModes");
    pv.volume_mode = volume_mode(object);
    pv.storage_class = text_at(object, "spec.storageClassName");
    pv.reclaim_policy = text_at(object, "spec.persistentVolumeReclaimPolicy");
    const Text claim = text_at(object, "spec.claimRef.name");
    pv.claim =
        claim.has_value() ? Text(text_at(object, "spec.claimRef.namespace").value_or("default") + "/" + *claim) : claim;
    pv.csi_driver = text_at(object, "spec.csi.driver");
    pv.volume_handle = text_at(object, "spec.csi.volumeHandle");
    pv.backend_uuid = text_at(object, "spec.csi.volumeAttributes.backendUUID");
    // csi-driver-nfs: server and share; others write nfsServer, path.
    pv.nfs_server = first_of(text_at(object, "spec.nfs.server"), text_at(object, "spec.csi.volumeAttributes.server"));
    pv.nfs_path = first_of(text_at(object, "spec.nfs.path"), text_at(object, "spec.csi.volumeAttributes.share"));
    out_.facts.pvs.push_back(std::move(pv));
  }

  void take_pvc(const Node& object) {
    facts::DeclaredPvc pvc;
    pvc.source = source(object);
    pvc.namespace_name = text_at(object, "metadata.namespace").value_or("default");
    pvc.name = name_of(object);
    pvc.access_modes = texts_at(object, "spec.accessModes");
    pvc.volume_mode = volume_mode(object);
    pvc.storage_class = text_at(object, "spec.storageClassName");
    pvc.volume = text_at(object, "spec.volumeName");
    out_.facts.pvcs.push_back(std::move(pvc));
  }

  void take_storage_class(const Node& object) {
    facts::DeclaredStorageClass storage;
    storage.source = source(object);
    storage.name = name_of(object);
    storage.provisioner = text_at(object, "provisioner").value_or("");
    storage.mount_options = texts_at(object, "mountOptions");
    storage.backend_type = text_at(object, "parameters.backendType");
    const Text policy = text_at(object, "reclaimPolicy");
    storage.reclaim_policy = policy.is_absent() ? Text("Delete") : policy;  // the API's default
    out_.facts.storage_classes.push_back(std::move(storage));
  }

  void take_backend(const Node& object) {
    facts::DeclaredTridentBackend backend;
    backend.source = source(object);
    backend.name = name_of(object);
    backend.backend_name = text_at(object, "spec.backendName");
    backend.backend_uuid = text_at(object, "status.backendInfo.backendUUID");
    backend.driver = text_at(object, "spec.storageDriverName");
    backend.nfs_mount_options = text_at(object, "spec.nfsMountOptions");
    if (backend.nfs_mount_options.has_value()) {
      std::string_view options = base::trim(*backend.nfs_mount_options);
      if (options.starts_with("-o ")) options = base::trim(options.substr(3));
      backend.nfs_mount_options = scrub(options);
    }
    backend.data_lif = text_at(object, "spec.dataLIF");
    backend.svm = text_at(object, "spec.svm");
    out_.facts.trident_backends.push_back(std::move(backend));
  }

  std::string where_;
  Parsed<facts::Declared>& out_;
  std::size_t seen_ = 0;
  bool taken_ = false;
  std::string other_;  // the first object of another kind
};

template <class T>
void append(std::vector<T>& to, std::vector<T>& from) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

}  // namespace

Result<Parsed<facts::Declared>> parse_declared(std::string_view text, const std::string& where) {
  if (text.size() > most_bytes) return fail(ErrorKind::malformed, where, "over 64 MiB");
  std::vector<Node> documents;
  // `kubectl get -o json` may be indented with tabs, which YAML does not take.
  if (base::trim(text).starts_with('{')) {
    const auto value = base::parse_json(text, where);
    if (!value) return tl::unexpected(value.error());
    documents.push_back(from_json(*value));
  } else {
    auto parsed = parse_yaml(text, where);
    if (!parsed) return tl::unexpected(parsed.error());
    documents = std::move(*parsed);
  }
  for (const Node& document : documents) {
    const Text schema = document.kind == Node::Kind::map ? text_at(document, "schema") : Text();
    if (schema.has_value() && schema->starts_with("mountaudit.declare/") && *schema != "mountaudit.declare/1")
      return fail(ErrorKind::usage, where,
                  fmt::format("{} is not read; what is read: {}", base::escape_control(*schema), declared_kinds));
  }
  Parsed<facts::Declared> out;
  Objects objects(where, out);
  for (const Node& document : documents) objects.take(document);
  if (const std::string why = objects.why_useless(); !why.empty()) return fail(ErrorKind::usage, where, why);
  return out;
}

void add_declared(facts::Declared& to, facts::Declared&& more) {
  append(to.pvs, more.pvs);
  append(to.pvcs, more.pvcs);
  append(to.storage_classes, more.storage_classes);
  append(to.trident_backends, more.trident_backends);
  append(to.failovers, more.failovers);
  if (more.all_flash.has_value()) to.all_flash = more.all_flash;
  if (more.single_path.has_value()) to.single_path = more.single_path;
  if (more.trident_version.has_value()) to.trident_version = std::move(more.trident_version);
  if (more.openshift_version.has_value()) to.openshift_version = std::move(more.openshift_version);
}

}  // namespace probes
