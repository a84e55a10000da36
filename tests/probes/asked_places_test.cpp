#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "audit/snapshot/document.h"
#include "probes/collect.h"
#include "probes/host/asked.h"
#include "probes/host/declared.h"
#include "probes/host/nfs_options.h"
#include "probes/host/nfsmount_conf.h"
#include "probes/host/systemd_mount.h"
#include "probes/io/host.h"

using namespace facts;
using namespace probes;

namespace {

// A captured tree made of these files, gone at the end.
class Tree {
 public:
  Tree() {
    std::string name = std::filesystem::temp_directory_path() / "mountaudit-tree-XXXXXX";
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    root_ = name;
  }
  ~Tree() { std::filesystem::remove_all(root_); }
  Tree(const Tree&) = delete;
  Tree& operator=(const Tree&) = delete;

  void file(const std::string& path, const std::string& text) {
    const std::filesystem::path full = root_ + path;
    std::filesystem::create_directories(full.parent_path());
    std::ofstream(full) << text;
  }
  void link(const std::string& path, const std::string& target) {
    const std::filesystem::path full = root_ + path;
    std::filesystem::create_directories(full.parent_path());
    std::filesystem::create_symlink(target, full);
  }
  Facts collected(const CollectOptions& options = {}) const {
    const auto host = open_tree(root_);
    REQUIRE(host.has_value());
    return collect(**host, options);
  }

 private:
  std::string root_;
};

std::string mount_line(const std::string& source, const std::string& target,
                       const std::string& options = "rw,vers=4.2") {
  static int id = 30;
  ++id;
  return std::to_string(id) + " 1 0:" + std::to_string(id) + " / " + target + " rw,relatime shared:1 - nfs4 " + source +
         " " + options + ",rsize=1048576,wsize=1048576,namlen=255,hard,proto=tcp,timeo=600,retrans=2,sec=sys," +
         "clientaddr=192.0.2.9,local_lock=none,addr=192.0.2.1\n";
}

const NfsMount& mount_at(const Facts& facts, const std::string& target) {
  for (const auto& mount : facts.nfs.mounts)
    if (mount.target == target) return mount;
  FAIL("no mount on " << target);
  return facts.nfs.mounts.front();
}

const char* const conf =
    "# comment\n; another\n[ NFSMount_Global_Options ]\n  Nfsvers=4.1\nRsize = 32k\nBackground=True\nDefaultproto=Tcp\n"
    "[ Server \"NAS.example.com\" ]\nnconnect=8\nHard=True\nRsize=64K\n"
    "[ MountPoint \"/data\" ]\nrsize=1m\nac=False\n[ Server \"other\" ]\nTimeo=50\n";

}  // namespace

TEST_CASE("nfsmount.conf: sections, keys and what they become") {
  const auto parsed = parse_nfsmount_conf(conf, "/etc/nfsmount.conf");
  CHECK(parsed.notes.empty());
  struct Row {
    std::uint32_t line;
    const char* section;
    const char* key;
    const char* option;  // nullptr: none
  };
  const std::vector<Row> rows{{4, "global", "nfsvers", "nfsvers=4.1"}, {5, "global", "rsize", "rsize=32768"},
                              {6, "global", "background", "bg"},       {7, "global", "defaultproto", nullptr},
                              {9, "server", "nconnect", "nconnect=8"}, {10, "server", "hard", "hard"},
                              {11, "server", "rsize", "rsize=65536"},  {13, "mountpoint", "rsize", "rsize=1048576"},
                              {14, "mountpoint", "ac", "noac"},        {16, "server", "timeo", "timeo=50"}};
  REQUIRE(parsed.facts.size() == rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    CAPTURE(i);
    CHECK(parsed.facts[i].line == rows[i].line);
    CHECK(parsed.facts[i].section == rows[i].section);
    CHECK(parsed.facts[i].key == rows[i].key);
    CHECK(parsed.facts[i].option ==
          (rows[i].option != nullptr ? Fact<std::string>(rows[i].option) : Fact<std::string>::absent()));
  }
  CHECK(parsed.facts[4].name.is("NAS.example.com"));
  CHECK(parsed.facts[4].path == "/etc/nfsmount.conf");
}

TEST_CASE("nfsmount.conf: an odd line costs itself only") {
  struct Row {
    const char* text;
    const char* reason;
  };
  const Row row = GENERATE(Row{"rsize=1\n", "assignment outside of a section"},
                           Row{"[ Server \"a\"\nrsize=1\n", "section without its closing bracket"},
                           Row{"[ Servers ]\nrsize=1\n", "no section of nfsmount.conf(5)"},
                           Row{"[ Server \"\" ]\nrsize=1\n", "no section of nfsmount.conf(5)"},
                           Row{"[ NFSMount_Global_Options ]\nrsize\n", "no assignment"},
                           Row{"[ NFSMount_Global_Options ]\n=4\n", "no assignment"},
                           Row{"[ NFSMount_Global_Options ]\ntwo words=4\n", "no assignment"},
                           Row{"[ NFSMount_Global_Options ]\ninclude=x\n", "includes another file, which is not read"});
  const auto parsed = parse_nfsmount_conf(std::string(row.text) + "[ NFSMount_Global_Options ]\nvers=3\n", "f");
  CAPTURE(row.text);
  REQUIRE_FALSE(parsed.notes.empty());
  CHECK(parsed.notes[0].reason == row.reason);
  REQUIRE(parsed.facts.size() == 1);
  CHECK(parsed.facts[0].option.is("vers=3"));
}

TEST_CASE("nfsmount.conf: mount point before server before global, the command before all") {
  const auto entries = parse_nfsmount_conf(conf, "f").facts;
  AskedOptions asked = parse_asked_options("soft,vers=3");
  asked.vers_origin = "fstab";
  add_nfsmount_defaults(asked, nfsmount_entries(entries, "nas.example.com", "/data"));
  CHECK(asked.vers.is("3"));
  CHECK(asked.vers_origin.is("fstab"));
  CHECK(asked.recovery.is("soft"));
  CHECK(asked.rsize_bytes.is(1048576U));
  CHECK(asked.nconnect.is(8U));
  CHECK(asked.timeo_ds.is_absent());
  CHECK(asked.default_text.is("rsize=1048576,noac,nconnect=8,hard,bg"));

  AskedOptions elsewhere = parse_asked_options("");
  add_nfsmount_defaults(elsewhere, nfsmount_entries(entries, "third", "/x"));
  CHECK(elsewhere.vers.is("4.1"));
  CHECK(elsewhere.vers_origin.is("nfsmount.conf"));
  CHECK(elsewhere.rsize_bytes.is(32768U));
  CHECK(elsewhere.nconnect.is_absent());

  AskedOptions none = parse_asked_options("rw");
  add_nfsmount_defaults(none, {});
  CHECK(none.default_text.is_absent());
  CHECK(none.vers.is_absent());
}

TEST_CASE("systemd: mount units are read as systemd reads them") {
  const auto unit = parse_mount_unit(
      "[Unit]\nSourcePath=/etc/fstab\n[Mount]\n# c\nWhat=nas:/a%%b\nWhere=/srv/x\nType=nfs\nOptions=hard,\\\n# in the "
      "midst\n"
      "  vers=4.1\nWhat = nas:/z\n[Install]\nWhat=no\n");
  CHECK(unit.notes.empty());
  CHECK(unit.facts.what == "nas:/z");
  CHECK(unit.facts.where == "/srv/x");
  CHECK(unit.facts.type == "nfs");
  CHECK(unit.facts.options == "hard,   vers=4.1");
  CHECK(unit.facts.source_path == "/etc/fstab");
  CHECK(parse_mount_unit("[Mount]\nWhat=nas:/a%%b").facts.what == "nas:/a%b");
  CHECK(parse_mount_unit("[Mount\nWhat=a\n").notes.size() == 1);
  CHECK(parse_mount_unit("[Mount]\nWhat\n").notes.size() == 1);
  CHECK(parse_mount_unit("").facts.what == std::nullopt);
  CHECK(parse_mount_unit("[Mount]\nWhat=a\\").facts.what == "a");
}

TEST_CASE("systemd: names of mount units") {
  CHECK(unit_mount_point("srv-data\\x2d1.mount") == "/srv/data-1");
  CHECK(unit_mount_point("-.mount") == "/");
  CHECK_FALSE(unit_mount_point("a.service").has_value());
  CHECK_FALSE(unit_mount_point(".mount").has_value());
  CHECK_FALSE(unit_mount_point("a\\x2.mount").has_value());
  CHECK_FALSE(unit_mount_point("a\\xzz.mount").has_value());
}

TEST_CASE("asked: unit directories, drop-ins, masks and generators have their order") {
  Tree tree;
  tree.file("/proc/1/mountinfo", mount_line("nas:/a", "/srv/a") + mount_line("nas:/b", "/srv/b") +
                                     mount_line("nas:/c", "/srv/c") + mount_line("nas:/d", "/srv/d"));
  tree.file("/etc/fstab", "nas:/c /srv/c nfs vers=4.0 0 0\n");
  tree.file("/etc/systemd/system/srv-a.mount", "[Mount]\nWhat=nas:/a\nWhere=/srv/a\nType=nfs\nOptions=vers=3\n");
  tree.file("/usr/lib/systemd/system/srv-a.mount", "[Mount]\nWhat=nas:/wrong\nWhere=/srv/a\nType=nfs\n");
  tree.file("/usr/lib/systemd/system/srv-a.mount.d/20-x.conf", "[Mount]\nOptions=vers=4.1,nconnect=4\n");
  tree.file("/etc/systemd/system/srv-a.mount.d/20-x.conf", "[Mount]\nOptions=vers=4.1,nconnect=8\n");
  tree.file("/etc/systemd/system/srv-.mount.d/10-y.conf", "[Mount]\nOptions=vers=4.2\n");
  tree.link("/etc/systemd/system/srv-b.mount", "/dev/null");
  tree.file("/usr/lib/systemd/system/srv-b.mount", "[Mount]\nWhat=nas:/b\nWhere=/srv/b\nType=nfs\n");
  tree.file("/run/systemd/generator/srv-c.mount",
            "[Unit]\nSourcePath=/etc/fstab\n[Mount]\nWhat=nas:/c\nWhere=/srv/c\nType=nfs\nOptions=vers=4.0\n");
  tree.file("/etc/systemd/system/srv-d.mount",
            "[Mount]\nWhat=nas:/other\nType=nfs\nOptions=username=u,password=p,soft\n");
  tree.file("/etc/systemd/system/tmp.mount", "[Mount]\nWhat=tmpfs\nWhere=/tmp\nType=tmpfs\n");
  tree.file("/etc/systemd/system/srv-e.mount", "[Mount]\nWhere=/srv/e\nType=nfs\n");
  const Facts facts = tree.collected();

  REQUIRE(facts.config.systemd_mounts.has_value());
  REQUIRE(facts.config.systemd_mounts->size() == 3);
  const auto& first = facts.config.systemd_mounts->at(0);
  CHECK(first.unit == "srv-a.mount");
  CHECK(first.path == "/etc/systemd/system/srv-a.mount");
  CHECK(first.options_text.is("vers=4.1,nconnect=8"));
  CHECK(first.drop_ins == std::vector<std::string>{"/etc/systemd/system/srv-.mount.d/10-y.conf",
                                                   "/etc/systemd/system/srv-a.mount.d/20-x.conf"});
  CHECK(mount_at(facts, "/srv/a").asked->origin == "systemd");
  CHECK(mount_at(facts, "/srv/a").asked->nconnect.is(8U));
  CHECK(mount_at(facts, "/srv/a").asked->vers_origin.is("systemd"));
  CHECK(mount_at(facts, "/srv/b").asked.is_unknown());
  CHECK(mount_at(facts, "/srv/c").asked->origin == "fstab");
  CHECK(facts.config.systemd_mounts->at(1).source_path.is("/etc/fstab"));
  CHECK(mount_at(facts, "/srv/d").asked->same_source.is(false));
  CHECK(mount_at(facts, "/srv/d").asked->text.find("password=p") == std::string::npos);
  bool malformed = false;
  for (const auto& row : facts.sources)
    if (row.name == "/etc/systemd/system/srv-e.mount") malformed = row.status == "malformed";
  CHECK(malformed);
}

TEST_CASE("asked: nfsmount.conf fills in, alone it is a place of its own, a CSI driver's container does not see it") {
  Tree tree;
  tree.file("/proc/1/mountinfo", mount_line("nas.example.com:/a", "/data") + mount_line("nas.example.com:/b", "/b") +
                                     mount_line("elsewhere:/c", "/c"));
  tree.file("/etc/fstab", "nas.example.com:/a /data nfs vers=3 0 0\n");
  tree.file("/etc/nfsmount.conf", "[ Server \"nas.example.com\" ]\nNfsvers=4.1\nnconnect=4\n");
  tree.file("/etc/nfsmount.conf.d/10.conf", "[ Server \"nas.example.com\" ]\nnconnect=8\n");
  tree.file("/etc/nfsmount.conf.d/readme", "[ Server \"nas.example.com\" ]\nnconnect=2\n");
  const Facts facts = tree.collected();
  REQUIRE(facts.config.nfsmount_conf->size() == 3);
  const auto& data = *mount_at(facts, "/data").asked;
  CHECK(data.origin == "fstab");
  CHECK(data.vers.is("3"));
  CHECK(data.vers_origin.is("fstab"));
  CHECK(data.nconnect.is(8U));
  CHECK(data.default_text.is("nconnect=8"));
  const auto& b = *mount_at(facts, "/b").asked;
  CHECK(b.origin == "nfsmount.conf");
  CHECK(b.vers.is("4.1"));
  CHECK(b.vers_origin.is("nfsmount.conf"));
  CHECK(b.text.empty());
  CHECK(mount_at(facts, "/c").asked.is_unknown());

  NfsMount pod = mount_at(facts, "/b");
  pod.kubelet = KubeletVolume{};
  pod.kubelet->provisioner = "nfs.csi.k8s.io";
  CHECK(asked_for(pod, facts.config).is_unknown());
  pod.kubelet->provisioner = "csi.trident.netapp.io";
  CHECK(asked_for(pod, facts.config).has_value());
}

TEST_CASE("asked: the root over NFS belongs to the kernel command line") {
  Tree tree;
  tree.file("/proc/1/mountinfo", mount_line("192.0.2.5:/nfs/client1", "/"));
  tree.file("/proc/cmdline", "root=/dev/nfs nfsroot=192.0.2.5:/nfs/client1,vers=3,rsize=4096 rw ip=dhcp password=x\n");
  tree.file("/etc/nfsmount.conf", "[ NFSMount_Global_Options ]\nwsize=65536\n");
  const Facts facts = tree.collected();
  const auto& asked = *mount_at(facts, "/").asked;
  CHECK(asked.origin == "kernel-cmdline");
  CHECK(asked.vers.is("3"));
  CHECK(asked.rsize_bytes.is(4096U));
  CHECK(asked.wsize_bytes.is_absent());
  CHECK(asked.same_source.is(true));
  CHECK(snapshot::to_json(facts).find("password=x") == std::string::npos);
}

namespace {

const char* const pv_yaml = R"(apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: PersistentVolume
  metadata: {name: pvc-1}
  spec:
    accessModes: [ReadWriteMany]
    mountOptions: ["nfsvers=4.1", nconnect=8]
    storageClassName: fast
    claimRef: {namespace: demo, name: disk}
    persistentVolumeReclaimPolicy: Delete
    csi:
      driver: csi.trident.netapp.io
      volumeHandle: pvc-1
      nodeStageSecretRef: {name: topsecret, namespace: x}
      volumeAttributes: {backendUUID: u-1, internalName: trident_pvc_1}
- apiVersion: v1
  kind: PersistentVolume
  metadata: {name: old}
  spec:
    volumeMode: Block
    nfs: {server: nas.example.com, path: /old}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: disk, namespace: demo}
spec: {accessModes: [ReadWriteOnce], storageClassName: fast, volumeName: pvc-1}
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: fast}
provisioner: csi.trident.netapp.io
parameters: {backendType: ontap-nas}
mountOptions: [hard]
---
apiVersion: trident.netapp.io/v1
kind: TridentBackendConfig
metadata: {name: tbc}
spec:
  version: 1
  storageDriverName: ontap-nas
  backendName: b1
  svm: svm1
  dataLIF: 192.0.2.1
  username: admin-user
  password: "hunter2"
  credentials: {name: backend-secret}
  nfsMountOptions: -o nfsvers=4.2,nconnect=4
status: {backendInfo: {backendName: b1, backendUUID: u-1}}
---
apiVersion: v1
kind: Secret
metadata: {name: topsecret}
stringData: {password: hunter2}
)";

}  // namespace

TEST_CASE("declared: objects are told by apiVersion and kind, secrets are not read") {
  const auto parsed = parse_declared(pv_yaml, "cluster.yaml");
  REQUIRE(parsed.has_value());
  const auto& declared = parsed->facts;
  REQUIRE(declared.pvs.size() == 2);
  const auto& pv = declared.pvs[0];
  CHECK(pv.name == "pvc-1");
  CHECK(pv.source == "cluster.yaml:4");
  CHECK(*pv.mount_options == std::vector<std::string>{"nfsvers=4.1", "nconnect=8"});
  CHECK(*pv.access_modes == std::vector<std::string>{"ReadWriteMany"});
  CHECK(pv.volume_mode.is("Filesystem"));
  CHECK(pv.storage_class.is("fast"));
  CHECK(pv.claim.is("demo/disk"));
  CHECK(pv.csi_driver.is("csi.trident.netapp.io"));
  CHECK(pv.volume_handle.is("pvc-1"));
  CHECK(pv.backend_uuid.is("u-1"));
  CHECK(pv.nfs_server.is_absent());
  CHECK(declared.pvs[1].volume_mode.is("Block"));
  CHECK(declared.pvs[1].nfs_server.is("nas.example.com"));
  CHECK(declared.pvs[1].nfs_path.is("/old"));
  CHECK(declared.pvs[1].mount_options.is_absent());
  CHECK(declared.pvs[1].claim.is_absent());
  REQUIRE(declared.pvcs.size() == 1);
  CHECK(declared.pvcs[0].namespace_name == "demo");
  CHECK(declared.pvcs[0].volume.is("pvc-1"));
  REQUIRE(declared.storage_classes.size() == 1);
  CHECK(declared.storage_classes[0].provisioner == "csi.trident.netapp.io");
  CHECK(declared.storage_classes[0].backend_type.is("ontap-nas"));
  REQUIRE(declared.trident_backends.size() == 1);
  CHECK(declared.trident_backends[0].nfs_mount_options.is("nfsvers=4.2,nconnect=4"));
  CHECK(declared.trident_backends[0].driver.is("ontap-nas"));
  CHECK(declared.trident_backends[0].data_lif.is("192.0.2.1"));
  REQUIRE(parsed->notes.size() == 1);
  CHECK(parsed->notes[0].reason == "Secret of v1 is not looked at");
  CHECK_FALSE(parsed->notes[0].lost);

  Facts facts;
  facts.declared = declared;
  const auto text = snapshot::to_json(facts);
  for (const char* secret : {"hunter2", "admin-user", "topsecret", "backend-secret"}) {
    CAPTURE(secret);
    CHECK(text.find(secret) == std::string::npos);
  }
}

TEST_CASE("declared: JSON as kubectl prints it is the same") {
  const auto parsed = parse_declared(
      "{\n\t\"apiVersion\": \"v1\",\n\t\"kind\": \"PersistentVolumeList\", \"items\": [{\"apiVersion\": \"v1\", "
      "\"kind\": "
      "\"PersistentVolume\", \"metadata\": {\"name\": \"p\"}, \"spec\": {\"mountOptions\": [\"hard\"], \"nfs\": "
      "{\"server\": "
      "\"2001:db8::1\", \"path\": \"/e\"}}}]}",
      "f");
  REQUIRE(parsed.has_value());
  REQUIRE(parsed->facts.pvs.size() == 1);
  CHECK(parsed->facts.pvs[0].nfs_server.is("2001:db8::1"));
}

TEST_CASE("declared: what is refused, and where") {
  struct Row {
    const char* text;
    base::ErrorKind kind;
    const char* where;
    std::string message;
  };
  using base::ErrorKind;
  const std::string reads = "; what is read: " + std::string(declared_kinds);
  const std::string no_object = "holds no Kubernetes object (apiVersion and kind)" + reads;
  const Row row = GENERATE_COPY(
      Row{"", ErrorKind::usage, "f", no_object},
      Row{"schema: mountaudit.declare/2\n", ErrorKind::usage, "f", "mountaudit.declare/2 is not read" + reads},
      Row{"just text\n", ErrorKind::usage, "f", no_object},
      Row{"apiVersion: v1\nkind: Secret\nmetadata: {name: s}\ndata: {p: x}\n", ErrorKind::usage, "f",
          "holds Secret of v1, which is not looked at" + reads},
      Row{"apiVersion: v1\nkind: &a PersistentVolume\n", ErrorKind::malformed, "f:2", "anchors are not read"},
      Row{"apiVersion: v1\nkind: *a\n", ErrorKind::malformed, "f:2", ""},
      Row{"apiVersion: v1\nkind: x\nkind: y\n", ErrorKind::malformed, "f:3", "duplicate key kind"},
      Row{"a: [\n", ErrorKind::malformed, nullptr, ""},
      Row{"[a]: b\n", ErrorKind::malformed, "f:1", "a key that is no text"},
      Row{"{\"apiVersion\": \"v1\", \"apiVersion\": \"v1\"}", ErrorKind::malformed, nullptr, ""});
  CAPTURE(row.text);
  const auto parsed = parse_declared(row.text, "f");
  REQUIRE_FALSE(parsed.has_value());
  CHECK(parsed.error().kind == row.kind);
  if (row.where != nullptr) CHECK(parsed.error().where == row.where);
  if (!row.message.empty()) CHECK(parsed.error().message == row.message);
}

TEST_CASE("declared: depth and size have limits") {
  CHECK_FALSE(parse_declared("a: " + std::string(200, '[') + std::string(200, ']'), "f").has_value());
  CHECK_FALSE(parse_declared(std::string(10000, '['), "f").has_value());
  std::string wide = "apiVersion: v1\nkind: ConfigMap\ndata:\n";
  for (int i = 0; i < 10001; ++i) wide += "  k" + std::to_string(i) + ": v\n";
  CHECK_FALSE(parse_declared(wide, "f").has_value());
}

TEST_CASE("declared: a plan names failovers, and the rest of its document is named in a note") {
  const auto parsed = parse_declared(
      "schema: mountaudit.declare/1\n"
      "storage: []\n"
      "plan:\n"
      "  failovers:\n"
      "    - server: 192.0.2.31\n"
      "      start: \"2026-02-10T04:00:00Z\"\n"
      "    - start: \"2026-02-10T04:00:00Z\"\n"
      "    - server: \"*\"\n",
      "plan.yaml");
  REQUIRE(parsed);
  const auto& failovers = parsed->facts.failovers;
  REQUIRE(failovers.size() == 2);
  CHECK(failovers[0].source == "plan.yaml:5");
  CHECK(failovers[0].server == "192.0.2.31");
  CHECK(failovers[0].start.is("2026-02-10T04:00:00Z"));
  CHECK(failovers[0].end.is_absent());
  CHECK(failovers[1].server == "*");
  REQUIRE(parsed->notes.size() == 2);
  CHECK(parsed->notes[0].reason == "storage is not looked at");
  CHECK(parsed->notes[1].line == 7);
  const auto wrong = parse_declared("schema: mountaudit.declare/1\nplan: {failovers: now}\n", "f");
  REQUIRE(wrong);
  CHECK(wrong->facts.failovers.empty());
  REQUIRE(wrong->notes.size() == 1);
}

TEST_CASE("declared: two words about the storage are read, others are named") {
  const auto parsed =
      parse_declared("schema: mountaudit.declare/1\nstorage:\n  all_flash: true\n  single_path: perhaps\n", "s.yaml");
  REQUIRE(parsed);
  CHECK(parsed->facts.all_flash.is(true));
  CHECK(parsed->facts.single_path.is_unknown());
  REQUIRE(parsed->notes.size() == 1);
  CHECK(parsed->notes[0].line == 4);
}

TEST_CASE("declared: one odd object costs itself only") {
  const auto parsed = parse_declared(
      "apiVersion: v1\nkind: PersistentVolume\nspec: {}\n---\nfoo: bar\n---\napiVersion: v1\nkind: PersistentVolume\n"
      "metadata: {name: p}\nspec: {mountOptions: {a: b}, accessModes: [[x]], nfs: text}\n",
      "f");
  REQUIRE(parsed.has_value());
  REQUIRE(parsed->notes.size() == 2);
  CHECK(parsed->notes[0].reason == "PersistentVolume without metadata.name");
  CHECK(parsed->notes[1].line == 5);
  REQUIRE(parsed->facts.pvs.size() == 1);
  CHECK(parsed->facts.pvs[0].mount_options.is_unknown());
  CHECK(parsed->facts.pvs[0].access_modes.is_unknown());
  CHECK(parsed->facts.pvs[0].nfs_server.is_absent());
}

TEST_CASE("asked: declared volumes are joined by name, by server and path, by backend and by provisioner") {
  const auto declared = parse_declared(pv_yaml, "c").value().facts;
  Config config;
  NfsMount mount;
  mount.target = "/var/lib/kubelet/pods/u/volumes/kubernetes.io~csi/pvc-1/mount";
  mount.source = "192.0.2.1:/trident_pvc_1";
  mount.server_name = "192.0.2.1";
  mount.export_path = "/trident_pvc_1";
  mount.kubelet = KubeletVolume{};
  mount.kubelet->pv = "pvc-1";
  mount.kubelet->provisioner = "csi.trident.netapp.io";
  const auto by_name = asked_for(mount, config, declared);
  REQUIRE(by_name.has_value());
  CHECK(by_name->origin == "pv");
  CHECK(by_name->path == "c:4");
  CHECK(by_name->text == "nfsvers=4.1,nconnect=8");
  CHECK(by_name->vers.is("4.1"));
  CHECK(by_name->vers_origin.is("pv"));

  auto bare = declared;
  bare.pvs[0].mount_options = Fact<std::vector<std::string>>::absent();
  const auto backend = asked_for(mount, config, bare);
  CHECK(backend->origin == "trident-backend");
  CHECK(backend->nconnect.is(4U));
  bare.trident_backends[0].backend_uuid = "u-2";
  CHECK(asked_for(mount, config, bare)->origin == "pv");
  CHECK(asked_for(mount, config, bare)->text.empty());

  bare.pvs.clear();
  const auto storage = asked_for(mount, config, bare);
  CHECK(storage->origin == "storageclass");
  CHECK(storage->recovery.is("hard"));
  bare.storage_classes.push_back(bare.storage_classes[0]);
  CHECK(asked_for(mount, config, bare).is_unknown());

  NfsMount by_export;
  by_export.target = "/mnt";
  by_export.source = "NAS.example.com:/old/";
  by_export.export_path = "/old/";
  CHECK(asked_for(by_export, config, declared)->origin == "pv");
  CHECK(asked_for(by_export, config, declared)->same_source.is(true));
  by_export.source = "nas2.example.com:/old";
  CHECK(asked_for(by_export, config, declared).is_unknown());

  // With saved facts: only what no file names is told again.
  Facts facts;
  facts.nfs.mounts = {mount, by_export};
  facts.nfs.mounts[1].asked = parse_asked_options("ro");
  facts.nfs.mounts[1].asked->origin = "fstab";
  use_declared(facts, declared);
  CHECK(facts.declared.pvs.size() == 2);
  CHECK(facts.nfs.mounts[0].asked->origin == "pv");
  CHECK(facts.nfs.mounts[1].asked->origin == "fstab");
}

TEST_CASE("declared: the versions of Trident and OpenShift, whichever object tells them") {
  const auto read = [](const std::string& text) {
    const auto parsed = probes::parse_declared(text, "versions.yaml");
    REQUIRE(parsed);
    return parsed->facts;
  };
  const auto both = read(
      "apiVersion: trident.netapp.io/v1\nkind: TridentVersion\nmetadata: { name: trident }\ntrident_version: 26.02.0\n"
      "---\napiVersion: config.openshift.io/v1\nkind: ClusterVersion\nmetadata: { name: version }\n"
      "status: { desired: { version: 4.22.1 } }\n");
  CHECK(both.trident_version.is("26.02.0"));
  CHECK(both.openshift_version.is("4.22.1"));
  const auto orchestrator = read(
      "apiVersion: trident.netapp.io/v1\nkind: TridentOrchestrator\nmetadata: { name: trident }\n"
      "status: { version: v25.06.1 }\n");
  CHECK(orchestrator.trident_version.is("25.06.1"));
  CHECK(orchestrator.openshift_version.is_unknown());
  facts::Declared sum = both;
  probes::add_declared(sum, facts::Declared(orchestrator));
  CHECK(sum.trident_version.is("25.06.1"));
  CHECK(sum.openshift_version.is("4.22.1"));
}
