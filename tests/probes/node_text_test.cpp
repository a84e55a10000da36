// fstab, Trident's tracking files, kubelet paths, identity, scrubbing: parsers of text on the node.
#include <catch2/catch.hpp>

#include "audit/facts/facts.h"
#include "probes/host/asked.h"
#include "probes/host/fstab.h"
#include "probes/host/kernel.h"
#include "probes/host/kubelet.h"
#include "probes/host/scrub_file.h"
#include "probes/host/trident.h"
#include "tests/probes/scratch.h"

using namespace probes;

namespace {

std::string corpus(const std::string& name) {
  const auto text = read_file(std::string(SOURCE_DIR) + "/tests/corpus/" + name);
  REQUIRE(text);
  return *text;
}

}  // namespace

TEST_CASE("fstab: the odd file of the corpus gives its NFS entries and one malformed line") {
  const auto parsed = parse_fstab(corpus("023-fstab-short-and-odd/input.fstab"));
  REQUIRE(parsed.facts.size() == 8);
  REQUIRE(parsed.notes.size() == 1);
  CHECK(parsed.notes[0].line == 11);
  CHECK(parsed.notes[0].reason == "a number where options belong");

  const auto& somefs = parsed.facts[1];
  CHECK(somefs.fs_type == "somefs");
  CHECK(somefs.options_text.is_absent());
  const auto& cell = parsed.facts[2];
  CHECK(cell.line == 7);
  CHECK(cell.source == "192.0.2.65:/cellSiteData");
  CHECK(cell.target == "/ceSiteData");
  CHECK(cell.options_text.is_absent());
  CHECK(cell.dump.is(0));
  CHECK(cell.pass.is(0));
  CHECK(parsed.facts[3].source == "/dev/vg_data/lv_pg");  // leading blanks
  CHECK(parsed.facts[4].options_text.is("rw,vers=3,proto=tcp,nolock,timeo=600"));
  const auto& five = parsed.facts[5];
  CHECK(five.source == "nfs_hostname.example.com:/nfs_share/data");
  CHECK(five.dump.is(0));
  CHECK(parsed.facts[6].target == "/l ok/at");
  CHECK(parsed.facts[7].target == "/sdbal ok/ab ta");
  CHECK(parsed.facts[7].fs_type == "ext4,a,b");
}

TEST_CASE("fstab: lines good and bad") {
  struct Row {
    const char* what;
    std::string text;
    std::size_t entries;
    std::size_t notes;
  };
  const std::vector<Row> rows{
      {"nothing", "", 0, 0},
      {"only comments", "# a\n   # b\n\t#c", 0, 0},
      {"a last line without its end", "s:/x /x nfs", 1, 0},
      {"CR LF", "s:/x /x nfs defaults 0 0\r\n", 1, 0},
      {"two fields", "s:/x /x\n", 0, 1},
      {"one field", "s:/x\n", 0, 1},
      {"a word for dump", "s:/x /x nfs defaults no 0\n", 0, 1},
      {"a comment behind the options", "s:/x /x nfs defaults # mine\n", 0, 1},
      {"a number for options", "s:/x /x nfs 0 0\n", 0, 1},
      {"a seventh field is passed over", "s:/x /x nfs defaults 0 0 more\n", 1, 0},
      {"a negative number", "s:/x /x nfs defaults 0 -1\n", 1, 0},
      {"the odd line keeps its neighbours", "s:/a /a nfs\nodd\ns:/b /b nfs\n", 2, 1},
      {"a line over 1 MiB", "s:/a /a nfs\n" + std::string(max_line_bytes + 1, 'x') + "\ns:/b /b nfs\n", 2, 1},
      {"binary",
       std::string("\x7f"
                   "ELF\0\x01\x02\n\xff\xfe\0\0",
                   13),
       0, 2},
  };
  for (const Row& row : rows) {
    INFO(row.what);
    const auto parsed = parse_fstab(row.text);
    CHECK(parsed.facts.size() == row.entries);
    CHECK(parsed.notes.size() == row.notes);
  }
}

TEST_CASE("fstab: passwords do not become facts, and a scrubbed file gives the same facts") {
  const std::string text =
      "//files.example.com/a /a cifs username=joe,password=hunter2,vers=3.0 0 0\n"
      "//files.example.com/b /b cifs credentials=/root/.smb,pass=\"a,b\",rw 0 0\n"
      "https://joe:hunter2@dav.example.com/x /dav davfs rw 0 0\n"
      "c:/ /ceph ceph name=admin,secret=QWxhZGRpbg==,noatime\n"
      "p /p cifs password=a\\054hunter2,ro\n"
      "# //old/share /old cifs password=hunter2 0 0\n"
      "s:/x\t/x  nfs\tsec=krb5,user,rw 0 0";
  const auto parsed = parse_fstab(text);
  REQUIRE(parsed.facts.size() == 6);
  CHECK(parsed.facts[0].options_text.is("username=***,password=***,vers=3.0"));
  CHECK(parsed.facts[1].options_text.is("credentials=***,pass=***,rw"));
  CHECK(parsed.facts[2].source == "https://***@dav.example.com/x");
  CHECK(parsed.facts[3].options_text.is("name=admin,secret=***,noatime"));
  CHECK(parsed.facts[4].options_text.is("password=***,ro"));
  CHECK(parsed.facts[5].options_text.is("sec=krb5,user,rw"));
  const std::string scrubbed = scrub_fstab(text);
  CHECK(scrubbed.find("hunter2") == std::string::npos);
  CHECK(scrubbed.find("QWxhZGRpbg") == std::string::npos);
  CHECK(scrubbed.ends_with("s:/x\t/x  nfs\tsec=krb5,user,rw 0 0"));
  CHECK(parse_fstab(scrubbed).facts == parsed.facts);
  CHECK(scrub_fstab(scrubbed) == scrubbed);
}

TEST_CASE("trident: the keys are found at whatever depth, secrets are not") {
  const std::string text = R"({"fstype": "ext4", "VolumeTrackingInfoPath": "",
    "outer": {"deeper": [{"iscsiTargetPortal": "192.0.2.9:3260", "iscsiPortals": ["192.0.2.10", "192.0.2.11"],
      "iscsiTargetIqn": "iqn.1992-08.com.netapp:sn.1", "iscsiLunNumber": 3, "iscsiLunSerial": "80A1",
      "iscsiUsername": "the-user", "iscsiInitiatorSecret": "the-secret",
      "SECRETS": {"nfsPath": "/hidden", "list": ["hidden", {"mountOptions": "hidden"}]}, "mountoptions": "nconnect=8"}]},
    "nfsServerIp": "192.0.2.110", "nfsPath": "/vol",
    "publishedTargetPaths": {"/var/lib/kubelet/pods/a/mount": {}, "/secret/b": {"x": "y"}}, "readOnly": true})";
  const auto parsed = parse_trident(text, "/var/lib/trident/tracking/pvc-1.json");
  REQUIRE(parsed);
  const facts::TridentVolume& volume = parsed->facts;
  CHECK(parsed->notes.empty());
  CHECK(volume.volume == "pvc-1");
  CHECK(volume.mount_options.is("nconnect=8"));
  CHECK(volume.nfs_server.is("192.0.2.110"));
  CHECK(volume.nfs_path.is("/vol"));
  CHECK(volume.iscsi_target_iqn.is("iqn.1992-08.com.netapp:sn.1"));
  CHECK(volume.iscsi_target_portal.is("192.0.2.9:3260"));
  CHECK(volume.iscsi_portals.is({"192.0.2.10", "192.0.2.11"}));
  CHECK(volume.iscsi_lun.is(3));
  CHECK(volume.iscsi_lun_serial.is("80A1"));
  CHECK(volume.published_paths.is({"/var/lib/kubelet/pods/a/mount", "/secret/b"}));

  const std::string kept = trident_json(volume);
  for (const char* word : {"the-user", "the-secret", "hidden", "sername"}) CHECK(kept.find(word) == std::string::npos);
  auto again = parse_trident(kept, volume.path);
  REQUIRE(again);
  CHECK(again->facts == volume);
}

TEST_CASE("trident: texts good and bad") {
  struct Row {
    const char* what;
    std::string text;
    bool good;
  };
  const std::vector<Row> rows{
      {"an empty object", "{}", true},
      {"null where options belong", R"({"mountOptions": null})", true},
      {"a number where options belong", R"({"mountOptions": 8})", true},
      {"an object where options belong", R"({"mountOptions": {"a": "b"}})", true},
      {"blanks behind", "{} \n\n", true},
      {"published paths as a list", R"({"publishedPaths": ["/a", "/b", "/a"]})", true},
      {"escapes", R"({"nfsPath": "\u002fvol\/a"})", true},
      {"nothing", "", false},
      {"a list", "[]", false},
      {"a list that holds one", R"([{"nfsPath": "/a"}])", true},
      {"cut", R"({"nfsPath": "/vo)", false},
      {"cut behind a secret key", R"({"iscsiInitiatorSecret": "abc)", false},
      {"two documents", "{}{}", false},
      {"binary", std::string("\x1f\x8b\x08\0\0", 5), false},
      {"a line over 1 MiB", "{\"a\": \"" + std::string(max_line_bytes, 'x'), false},
      {"too deep", std::string(1000, '[') + std::string(1000, ']'), false},
      {"no number", R"({"iscsiLunNumber": 1e999})", true},
      {"a number out of range", R"({"iscsiLunNumber": 99999999999999999999})", true},
  };
  for (const Row& row : rows) {
    INFO(row.what);
    const auto parsed = parse_trident(row.text, "/t/x.json");
    CHECK(parsed.has_value() == row.good);
    if (!parsed) {
      CHECK(parsed.error().kind == base::ErrorKind::malformed);
      CHECK(parsed.error().where == "/t/x.json");
      CHECK(parsed.error().message.find("abc") == std::string::npos);
    }
  }
  CHECK(parse_trident(R"({"mountOptions": ""})", "/t/x.json")->facts.mount_options.is_absent());
  CHECK(parse_trident(R"({"iscsiTargetIqn": "iqn.x"})", "/t/x.json")->facts.iscsi_lun.is(0));
  CHECK(parse_trident("{}", "/t/x.json")->facts.iscsi_lun.is_absent());
  CHECK(parse_trident("{}", "/t/x.json")->facts.published_paths.is_absent());
  const auto twice = parse_trident(R"({"nfsPath": "/a", "b": {"nfsPath": "/b"}})", "/t/x.json");
  CHECK(twice->facts.nfs_path.is("/a"));
  REQUIRE(twice->notes.size() == 1);
  CHECK_FALSE(twice->notes[0].lost);
}

TEST_CASE("kubelet: mount points by the layout of its directory") {
  const std::string uid = "1f285024-c0ae-4f98-aba7-92f9ff8e712b";
  const std::string pod = "/var/lib/kubelet/pods/" + uid;
  const auto csi = parse_kubelet_path(pod + "/volumes/kubernetes.io~csi/pvc-1/mount");
  REQUIRE(csi);
  CHECK(csi->kind == KubeletPath::Kind::volume);
  CHECK(csi->pod_uid == uid);
  CHECK(csi->volume == "pvc-1");
  CHECK(csi->driver.is_unknown());
  CHECK(csi->vol_data == std::vector<std::string>{pod + "/volumes/kubernetes.io~csi/pvc-1/vol_data.json"});

  const auto intree = parse_kubelet_path(pod + "/volumes/kubernetes.io~nfs/data");
  REQUIRE(intree);
  CHECK(intree->driver.is("kubernetes.io/nfs"));
  CHECK(intree->vol_data.empty());

  const auto subpath = parse_kubelet_path(pod + "/volume-subpaths/pvc-1/app/0");
  REQUIRE(subpath);
  CHECK(subpath->kind == KubeletPath::Kind::subpath);
  CHECK(subpath->volume == "pvc-1");
  CHECK(subpath->vol_data == std::vector<std::string>{pod + "/volumes/kubernetes.io~csi/pvc-1/vol_data.json"});

  const auto staged = parse_kubelet_path("/data/kubelet/plugins/kubernetes.io/csi/nfs.csi.k8s.io/0a1b/globalmount");
  REQUIRE(staged);
  CHECK(staged->kind == KubeletPath::Kind::staged);
  CHECK(staged->driver.is("nfs.csi.k8s.io"));
  CHECK(staged->pod_uid.empty());
  const auto old = parse_kubelet_path("/var/lib/kubelet/plugins/kubernetes.io/csi/pv/pvc-1/globalmount");
  REQUIRE(old);
  CHECK(old->volume == "pvc-1");
  CHECK(old->driver.is_unknown());

  const auto static_pod =
      parse_kubelet_path("/var/lib/kubelet/pods/0123456789abcdef0123456789abcdef/volumes/kubernetes.io~nfs/x");
  CHECK(static_pod);
  for (const std::string& other :
       {std::string("/srv/nfs"), std::string("/"), std::string(), pod, pod + "/volumes",
        pod + "/volumes/kubernetes.io~csi",
        std::string("/var/lib/kubelet/pods/not-a-uid/volumes/kubernetes.io~csi/x/mount"), pod + "/etc-hosts/a/b/c",
        std::string("/var/lib/kubelet/plugins/kubernetes.io/csi/driver/hash/other")}) {
    INFO(other);
    CHECK_FALSE(parse_kubelet_path(other));
  }
}

TEST_CASE("kubelet: vol_data.json, pod directories and virt-launcher names") {
  const auto data =
      parse_vol_data(R"({"driverName": "csi.x", "specVolID": "pvc-1", "volumeLifecycleMode": "Persistent"})", "v");
  REQUIRE(data);
  CHECK(data->driver.is("csi.x"));
  CHECK(data->pv.is("pvc-1"));
  CHECK(parse_vol_data(R"({"driverName": "csi.x", "specVolID": "inline", "volumeLifecycleMode": "Ephemeral"})", "v")
            ->pv.is_absent());
  CHECK(parse_vol_data(R"({"driverName": 7})", "v")->driver.is_unknown());
  for (const char* bad : {"", "[]", "{\"driverName\": \"a", "null", "\xff"}) CHECK_FALSE(parse_vol_data(bad, "v"));

  const std::string uid = "1f285024-c0ae-4f98-aba7-92f9ff8e712b";
  const auto pod = parse_pod_directory("demo_virt-launcher-rhel10-x7k2p_" + uid);
  REQUIRE(pod);
  CHECK(pod->pod_namespace == "demo");
  CHECK(pod->name == "virt-launcher-rhel10-x7k2p");
  CHECK(pod->uid == uid);
  for (const std::string& bad : {std::string("demo_pod"), "demo_pod_x_" + uid, "_pod_" + uid, "demo__" + uid,
                                 std::string("demo_pod_nouid"), std::string()}) {
    INFO(bad);
    CHECK_FALSE(parse_pod_directory(bad));
  }

  CHECK(vm_of_pod("virt-launcher-rhel10-ontap-nas-x7k2p") == std::string("rhel10-ontap-nas"));
  CHECK(vm_of_pod("virt-launcher-a-12345") == std::string("a"));
  CHECK_FALSE(vm_of_pod("virt-launcher-12345"));
  CHECK_FALSE(vm_of_pod("web-6d9c7f9b64-2lqxs"));
  // 58 characters of the base are kept: the dash before the five random ones is gone.
  CHECK_FALSE(vm_of_pod("virt-launcher-a-very-long-name-of-a-virtual-machine-in-productix7k2p"));
}

TEST_CASE("os-release: quoting as the man page allows it, keys that are not there are absent") {
  const auto parsed =
      parse_os_release("# c\nNAME=\"Red Hat\"\nID=\"rhcos\"\nVERSION_ID='418.94'\nPRETTY_NAME=\"A \\\"B\\\" \\$C\"\n");
  CHECK(parsed.notes.empty());
  CHECK(parsed.facts.distribution.is("rhcos"));
  CHECK(parsed.facts.distribution_version.is("418.94"));
  CHECK(parsed.facts.distribution_name.is("A \"B\" $C"));
  CHECK(parse_os_release("").facts.distribution.is_absent());
  const auto bad = parse_os_release("ID=\"cut\nVERSION_ID=12\nno key\n\xff\xfe\n");
  CHECK(bad.facts.distribution.is_absent());
  CHECK(bad.facts.distribution_version.is("12"));
  CHECK(bad.notes.size() == 3);
}

TEST_CASE("identity: the machine id is hashed, also when it was scrubbed before") {
  const std::string id = "0123456789abcdef0123456789abcdef";
  const auto hash = machine_id_hash(id + "\n");
  REQUIRE(hash);
  CHECK(hash->size() == 16);
  CHECK(id.find(*hash) == std::string::npos);
  const std::string scrubbed = scrub_machine_id(id + "\n");
  CHECK(scrubbed.find(id) == std::string::npos);
  CHECK(machine_id_hash(scrubbed) == hash);
  for (const char* bad : {"", "uninitialized\n", "0123456789ABCDEF0123456789ABCDEF", "0123", "sha256:short"}) {
    INFO(bad);
    CHECK_FALSE(machine_id_hash(bad));
    CHECK(scrub_machine_id(bad) == bad);
  }
}

TEST_CASE("uname: the release is the third word of a Linux line") {
  CHECK(parse_uname("Linux wk-01 5.14.0-427.el9.x86_64 #1 SMP x86_64 GNU/Linux\n")->release == "5.14.0-427.el9.x86_64");
  for (const char* bad : {"", "\n", "Linux wk-01\n", "FreeBSD a 14.0 x\n", "uname: not found\n"})
    CHECK_FALSE(parse_uname(bad));
}

namespace {

facts::NfsMount mount_of(const std::string& source, const std::string& target) {
  facts::NfsMount mount;
  mount.source = source;
  mount.target = target;
  const std::size_t colon = source.rfind(":/");
  mount.export_path = source.substr(colon + 1);
  return mount;
}

}  // namespace

TEST_CASE("asked: fstab names a mount by its mount point, and says whether the source agrees") {
  facts::Config config;
  config.fstab = parse_fstab(corpus("026-two-exports-prefix/input.fstab")).facts;
  const auto same = asked_for(mount_of("nfs.internal.example.com:/data/A", "/srv/A"), config);
  REQUIRE(same.has_value());
  CHECK(same->origin == "fstab");
  CHECK(same->path == "/etc/fstab:1");
  CHECK(same->text == "defaults");
  CHECK(same->same_source.is(true));
  CHECK(same->vers.is_absent());
  const auto other = asked_for(mount_of("nfs.internal.example.com:/data/A", "/srv/B"), config);
  REQUIRE(other.has_value());
  CHECK(other->source.is("nfs.internal.example.com:/data/B"));
  CHECK(other->same_source.is(false));
  CHECK(asked_for(mount_of("nfs.internal.example.com:/data/A", "/srv/C"), config).is_unknown());
}

TEST_CASE("asked: a double slash, a slash at the end and brackets do not make another source") {
  facts::Config config;
  config.fstab = parse_fstab(corpus("015-fsid0-double-slash/input.fstab")).facts;
  const auto first = asked_for(mount_of("server.example.com://a/b", "/mnt/server:_a_b"), config);
  REQUIRE(first.has_value());
  CHECK(first->same_source.is(true));
  CHECK(asked_for(mount_of("server.example.com:/a//b", "/mnt/server:_a__b"), config).is_unknown());

  config.fstab = parse_fstab("[2001:db8::1]:/x/ /x/ nfs4 vers=4.1\nt:/y /x xfs defaults\n").facts;
  const auto v6 = asked_for(mount_of("[2001:db8:0::1]:/x", "/x"), config);
  REQUIRE(v6.has_value());
  CHECK(v6->same_source.is(true));
  CHECK(v6->vers.is("4.1"));
  CHECK(v6->vers_origin.is("fstab"));
}

TEST_CASE("asked: of two lines with one mount point the one with the mounted source counts") {
  facts::Config config;
  config.fstab = parse_fstab("s:/a /m nfs nconnect=4\ns:/b /m nfs nconnect=8\n").facts;
  CHECK(asked_for(mount_of("s:/a", "/m"), config)->nconnect.is(4));
  CHECK(asked_for(mount_of("s:/b", "/m"), config)->nconnect.is(8));
  CHECK(asked_for(mount_of("s:/c", "/m"), config)->path == "/etc/fstab:2");
}

TEST_CASE("asked: Trident by published path, by the name of the volume, by server and path") {
  const std::string pod = "/var/lib/kubelet/pods/1f285024-c0ae-4f98-aba7-92f9ff8e712b/volumes/kubernetes.io~csi/";
  facts::TridentVolume volume;
  volume.path = "/var/lib/trident/tracking/pvc-1.json";
  volume.volume = "pvc-1";
  volume.nfs_server = "192.0.2.110";
  volume.nfs_path = "/trident_pvc_1";
  volume.mount_options = "nconnect=8";
  volume.published_paths = std::vector<std::string>{"/elsewhere/mount"};
  facts::Config config;
  config.trident = std::vector<facts::TridentVolume>{volume};

  const auto published = asked_for(mount_of("192.0.2.110:/trident_pvc_1", "/elsewhere/mount"), config);
  REQUIRE(published.has_value());
  CHECK(published->origin == "trident");
  CHECK(published->path == volume.path);
  CHECK(published->text == "nconnect=8");
  CHECK(published->nconnect.is(8));
  CHECK(published->vers.is_absent());
  CHECK(published->same_source.is(true));
  CHECK(asked_for(mount_of("192.0.2.110:/x", pod + "pvc-1/mount"), config)->same_source.is(false));
  CHECK(asked_for(mount_of("192.0.2.110:/trident_pvc_1", pod + "pvc-2/mount"), config)->nconnect.is(8));
  CHECK(asked_for(mount_of("192.0.2.111:/trident_pvc_1", pod + "pvc-2/mount"), config).is_unknown());
  CHECK(asked_for(mount_of("192.0.2.110:/trident_pvc_1", "/mnt/by-hand"), config).is_unknown());

  config.trident->front().mount_options = facts::Fact<std::string>::absent();
  const auto silent = asked_for(mount_of("192.0.2.110:/trident_pvc_1", "/elsewhere/mount"), config);
  REQUIRE(silent.has_value());
  CHECK(silent->text.empty());
  CHECK(silent->nconnect.is_absent());
  CHECK(asked_for(mount_of("192.0.2.110:/trident_pvc_1", "/elsewhere/mount"), facts::Config{}).is_unknown());
}
