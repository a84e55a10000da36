// What must not get out: secrets never, and with --redact nothing that tells whose node it is. The program is run over
// every sample tree; what it wrote is searched for the originals.
#include <boost/json.hpp>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <set>

#include "audit/base/json.h"
#include "audit/base/text.h"
#include "probes/redact.h"
#include "tests/cli/run.h"

namespace fs = std::filesystem;
namespace json = boost::json;
using test::run;
using test::Scratch;

namespace {

const std::string source_dir = SOURCE_DIR;

std::vector<std::string> sample_trees() {
  std::vector<std::string> trees;
  for (const auto& entry : fs::directory_iterator(source_dir + "/samples/trees"))
    if (entry.is_directory()) trees.push_back(entry.path().string());
  return trees;
}

json::value parsed(const std::string& text) {
  auto value = base::parse_json(text, "output");
  REQUIRE(value.has_value());
  return std::move(*value);
}

// All of a directory: paths below it and what is in the files.
std::map<std::string, std::string> files_below(const std::string& directory) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(directory)) {
    if (!entry.is_regular_file()) continue;
    std::ifstream in(entry.path(), std::ios::binary);
    files[fs::relative(entry.path(), directory).string()] = {std::istreambuf_iterator<char>(in), {}};
  }
  return files;
}

// Whether `word` stands in the text by itself: "web" is not in "webhook".
bool stands_in(const std::string& text, const std::string& word) {
  const auto is_part = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
  for (auto at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    const bool begins = at == 0 || !is_part(text[at - 1]);
    const bool ends = at + word.size() == text.size() || !is_part(text[at + word.size()]);
    if (begins && ends) return true;
  }
  return false;
}

// Names and addresses of a facts document, by the fields that hold them.
std::set<std::string> originals(const json::value& facts) {
  static const std::set<std::string, std::less<>> fields{"name_of_node",
                                                         "server_name",
                                                         "addr",
                                                         "client_addr",
                                                         "export",
                                                         "pod_namespace",
                                                         "pod_name",
                                                         "pod_uid",
                                                         "volume",
                                                         "pv",
                                                         "nfs_server",
                                                         "nfs_path",
                                                         "peer_addr",
                                                         "local_addr",
                                                         "source_addr",
                                                         "gateway",
                                                         "mount_addr",
                                                         "iscsi_target_iqn",
                                                         "iscsi_lun_serial",
                                                         "machine_id_hash",
                                                         "boot_id",
                                                         "identifier_hash",
                                                         "wwid",
                                                         "serial",
                                                         "target",
                                                         "initiatorname"};
  std::set<std::string> found;
  const std::function<void(const json::value&, std::string_view)> walk = [&](const json::value& value,
                                                                             std::string_view key) {
    if (const auto* object = value.if_object()) {
      for (const auto& [name, member] : *object) walk(member, name);
    } else if (const auto* array = value.if_array()) {
      for (const auto& item : *array) walk(item, key);
    } else if (const auto* string = value.if_string()) {
      const std::string text(string->c_str());
      if (fields.contains(key) && text.size() > 2) found.insert(text);
      if (key == "local_addresses") found.insert(text);
      if (key == "vm" && text.find('/') != std::string::npos) found.insert(text.substr(text.find('/') + 1));
    }
  };
  walk(facts, "");
  found.emplace(facts.at("node").at("name").as_string().c_str());
  // On every node alike.
  std::erase_if(found, [](const std::string& text) {
    return text.empty() || text.starts_with("127.") || text == "::1" || text == "0.0.0.0" ||
           text.starts_with("/proc") || text.starts_with("/sys") || text.starts_with("/run") || text == "/" ||
           text.starts_with("/dev") || text == "/var/lib" || text == "localhost";
  });
  return found;
}

// Rule and severity of all findings, and what else the summary counts.
std::string findings_of(const std::string& report) {
  const json::value document = parsed(report);
  std::multiset<std::string> found;
  for (const auto& one : document.at("findings").as_array())
    found.insert(std::string(one.at("rule").as_string()) + " " + std::string(one.at("severity").as_string()) + " " +
                 std::to_string(one.at("affects").as_array().size()));
  std::string text = json::serialize(document.at("summary")) + "\n";
  for (const auto& one : found) text += one + "\n";
  return text;
}

}  // namespace

TEST_CASE("redact: nothing of the originals is in any output over any sample tree, and the findings stay") {
  const auto tree = GENERATE(from_range(sample_trees()));
  INFO(tree);
  const Scratch scratch;
  const std::string raw = scratch.path("raw");
  const auto facts = run({"collect", "--root", tree});
  REQUIRE(facts.code == 0);
  const auto names = originals(parsed(facts.out));
  REQUIRE(names.size() > 5);
  const std::string saved = scratch.write("facts.json", facts.out);

  std::map<std::string, std::string> outputs;
  const auto keep = [&](const std::string& what, std::vector<std::string> arguments) {
    arguments.emplace_back("--redact");
    const auto ran = run(arguments);
    INFO(what << ran.err);
    CHECK(ran.code < 2);
    outputs[what] = ran.out;
    outputs[what + " (standard error)"] = ran.err;
    return ran.out;
  };
  const std::string hidden = keep("facts", {"collect", "--root", tree});
  const std::string json_report = keep("json", {"audit", "--root", tree, "--format", "json"});
  keep("text", {"audit", "--root", tree});
  keep("verbose", {"audit", "--root", tree, "-v"});
  keep("ja", {"audit", "--root", tree, "-v", "--lang", "ja"});
  keep("replay", {"audit", "--from", saved, "--format", "json"});
  REQUIRE(run({"collect", "--root", tree, "--redact", "--raw", raw}).code == 0);
  for (const auto& [path, text] : files_below(raw)) outputs["raw tree " + path] = path + "\n" + text;
  for (const auto& [what, text] : outputs) {
    for (const auto& name : names) {
      INFO(what << ": " << name);
      CHECK_FALSE(stands_in(text, name));
    }
  }

  const std::string plain = findings_of(run({"audit", "--root", tree, "--format", "json"}).out);
  CHECK(findings_of(json_report) == plain);
  CHECK(findings_of(outputs["replay"]) == plain);
  CHECK(findings_of(run({"audit", "--from", scratch.write("hidden.json", hidden), "--format", "json"}).out) == plain);
  CHECK(findings_of(run({"audit", "--root", raw, "--format", "json"}).out) == plain);
}

TEST_CASE("redact: the same input has the same stand-in in the run, other input another one, of the same family") {
  probes::Redactor redactor("key");
  const auto text = [&](const char* input) { return redactor.text(input); };
  const std::string a = text("192.0.2.10"), b = text("192.0.2.11"), c = text("198.51.100.10");
  CHECK(a == text("192.0.2.10"));
  CHECK(a != b);
  CHECK(a != c);
  CHECK(base::number<unsigned>(a.substr(0, a.find('.'))).value() >= 240);
  CHECK(a.substr(0, a.rfind('.')) == b.substr(0, b.rfind('.')));  // one network
  CHECK(a.substr(0, a.rfind('.')) != c.substr(0, c.rfind('.')));
  CHECK(text("[2001:db8:7::1]:2049").starts_with("[2001:db8:"));
  CHECK(text("2001:db8:7::1") != "2001:db8:7::1");
  CHECK(text("fe80::1%eth0").starts_with("fe80::"));
  CHECK(text("fe80::1%eth0").ends_with("%eth0"));
  CHECK(text("::ffff:192.0.2.10") == "::ffff:" + a);
  CHECK(text("addr=192.0.2.10,port=2049") == "addr=" + a + ",port=2049");
  CHECK(text("192.0.2.10.8.1") == a + ".8.1");
  CHECK(text("192.0.2.0/24").ends_with(".0/24"));
  CHECK(text("127.0.0.1 0.0.0.0 ::1 224.0.0.1") == "127.0.0.1 0.0.0.0 ::1 224.0.0.1");
  CHECK(probes::Redactor("other").text("192.0.2.10") != a);
}

TEST_CASE("redact: versions, times, options and system paths are no names") {
  probes::Redactor redactor("key");
  for (const char* kept :
       {"Linux 5.14.0-427.13.1.el9_4.x86_64", "2026-02-10T04:12:09Z", "rw,vers=4.2,hard,proto=tcp", "/proc/1/mountinfo",
        "/sys/class/bdi/0:46/read_ahead_kb", "/var/lib/trident/tracking", "1048576 18446744073709551604",
        "READ: 12 12 0 1234 5678 1 2 3", "4 KiB/s and/or 5 ops/s", "xprt: tcp 0 1 1 0 36 82780963 82780963 0"})
    CHECK(redactor.text(kept) == kept);
}

TEST_CASE("redact: identifiers keep their form") {
  probes::Redactor redactor("key");
  const std::string uuid = redactor.text("3865cf98-fe80-4a96-a570-b4a10a1d894b");
  CHECK(uuid.size() == 36);
  CHECK(uuid != "3865cf98-fe80-4a96-a570-b4a10a1d894b");
  CHECK(redactor.text("pvc-3865cf98-fe80-4a96-a570-b4a10a1d894b") == "pvc-" + uuid);
  CHECK(redactor.path("/var/lib/kubelet/pods/3865cf98-fe80-4a96-a570-b4a10a1d894b/volumes") ==
        "/var/lib/kubelet/pods/" + uuid + "/volumes");
  CHECK(redactor.text("iqn.1992-08.com.netapp:sn.5f2a:vs.3").starts_with("iqn.2001-01.invalid"));
  CHECK(redactor.text("52:54:00:12:34:56").starts_with("02:00:00:"));
  CHECK(redactor.text("3600a0980383034595a3f4d6b5a2f3344").size() == 33);
  CHECK(redactor.text("3600a0980383034595a3f4d6b5a2f3344").find("980383034595a3f") == std::string::npos);
}

TEST_CASE("redact: paths are replaced by their parts, and the same part alike wherever it stands") {
  probes::Redactor redactor("key");
  facts::Facts facts;
  facts.node.name = "wk-07.corp.example";
  facts::NfsMount mount;
  mount.target = "/srv/payroll data";
  mount.source = "nas-payroll:/exports/payroll";
  mount.server_name = "nas-payroll";
  mount.export_path = "/exports/payroll";
  mount.options_text = "rw,hard,addr=192.0.2.9";
  facts.nfs.mounts = {mount};
  const auto out = redactor.redact(facts);
  const auto& hidden = out.nfs.mounts[0];
  CHECK(std::count(hidden.target.begin(), hidden.target.end(), '/') == 2);
  CHECK(hidden.target.find("payroll") == std::string::npos);
  CHECK(hidden.source == *hidden.server_name + ":" + *hidden.export_path);
  CHECK(redactor.text("cannot reach /srv/payroll data: gone") == "cannot reach " + hidden.target + ": gone");
  CHECK(redactor.text("nfs: server nas-payroll not responding") ==
        "nfs: server " + *hidden.server_name + " not responding");
  CHECK(redactor.file("/proc/1/mountinfo",
                      "36 25 0:46 / /srv/payroll\\040data rw - nfs4 nas-payroll:/exports/payroll rw\n") ==
        "36 25 0:46 / " + hidden.target + " rw - nfs4 " + hidden.source + " rw\n");
  CHECK(redactor.path("/etc/systemd/system/srv-payroll\\x20data.mount").find("payroll") == std::string::npos);
  CHECK(hidden.options_text->starts_with("rw,hard,addr=2"));
  CHECK(out.node.name.find("corp") == std::string::npos);
  CHECK(redactor.file("/proc/sys/kernel/hostname", "wk-07.corp.example\n") == out.node.name + "\n");
  // A host that is called like a word of the trade does not turn that word.
  facts.nfs.mounts[0].server_name = "nfs";
  facts.nfs.mounts[0].source = "nfs:/exports/payroll";
  probes::Redactor other("key");
  const auto again = other.redact(facts);
  CHECK(again.nfs.mounts[0].source == *again.nfs.mounts[0].server_name + ":" + *again.nfs.mounts[0].export_path);
  CHECK(other.text("type nfs") == "type nfs");
}

TEST_CASE("redact: tables of the kernel keep their form, their routes and their ports") {
  probes::Redactor redactor("key");
  const std::string tcp = redactor.file(
      "/proc/1/net/tcp", "  sl  local_address rem_address\n   0: 160200C0:033D 6E0200C0:0801 01 00000000:00000000\n");
  CHECK(tcp.find("160200C0") == std::string::npos);
  CHECK(tcp.find(":033D ") != std::string::npos);
  CHECK(tcp.find(":0801 01 00000000:00000000\n") != std::string::npos);
  const std::string route = redactor.file("/proc/1/net/route",
                                          "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\n"
                                          "eth0\t000200C0\t00000000\t0001\t0\t0\t100\t00FFFFFF\n");
  CHECK(route.find("000200C0") == std::string::npos);
  CHECK(route.find("\t00000000\t0001") != std::string::npos);
  const auto place = route.find("eth0\t") + 5;
  CHECK(route.substr(place, 2) == "00");  // the host bits of a network stay empty
}

TEST_CASE("secrets: what is planted in a tree gets into no facts, no raw tree and no report") {
  const Scratch scratch;
  const std::string tree = scratch.path("tree");
  fs::copy(source_dir + "/samples/trees/openshift-worker", tree, fs::copy_options::recursive);
  const auto plant = [&](const std::string& path, const std::string& text) {
    fs::create_directories(fs::path(tree + path).parent_path());
    std::ofstream(tree + path, std::ios::binary | std::ios::app) << text;
  };
  const auto put = [&](const std::string& path, const std::string& text) {
    fs::remove(tree + path);
    plant(path, text);
  };
  put("/var/lib/trident/tracking/pvc-planted.json",
      "{\"volumePublishInfo\": {\"iscsiTargetPortal\": \"192.0.2.9:3260\", \"iscsiUsername\": \"planted-1\", "
      "\"iscsiInitiatorSecret\": \"planted-2\", \"deep\": {\"deeper\": [{\"iscsiTargetUsername\": \"planted-3\", "
      "\"x\": {\"iscsiTargetSecret\": \"planted-4\", \"USERNAME\": \"planted-5\"}}]}, \"nfsServerIp\": \"192.0.2.9\", "
      "\"nfsPath\": \"/p\", \"mountOptions\": \"vers=4.2,password=planted-6,username=planted-7\", "
      "\"useCHAP\": true}, \"smbSecret\": \"planted-8\"}");
  plant("/etc/fstab",
        "//srv/share /mnt/s cifs username=planted-9,password=planted-10 0 0\n"
        "srv:/e /mnt/n nfs4 rw,pass=planted-11 0 0\n"
        "http://planted-12:planted-13@dav.example/ /mnt/d davfs rw 0 0\n");
  plant("/proc/1/mountinfo",
        "901 1 0:901 / /mnt/smb rw shared:9 - cifs //srv/share rw,vers=3.1.1,username=planted-36,password=planted-37\n"
        "902 1 0:902 / /mnt/dav rw - fuse https://planted-38:planted-39@dav.example/ rw,user_id=0,token=planted-40\n");
  put("/sys/module/nfs/parameters/nfs4_unique_id", "planted-14\n");
  put("/sys/fs/nfs/net/nfs_client/identifier", "planted-15\n");
  plant("/etc/modprobe.d/nfs.conf", "options nfs nfs4_unique_id=planted-16\n");
  plant("/proc/cmdline", "root=/dev/sda1 rd.iscsi.password=planted-17 nfs.nfs4_unique_id=planted-18\n");
  plant("/etc/systemd/system/mnt-s.mount",
        "[Mount]\nWhat=//srv/s\nWhere=/mnt/s\nType=cifs\nOptions=password=planted-19\n");
  plant("/etc/iscsi/iscsid.conf",
        "node.session.auth.username = planted-20\nnode.session.auth.password = planted-21\n"
        "node.session.auth.password_in = planted-22\n");
  plant("/sys/class/iscsi_session/session9/username", "planted-23\n");
  plant("/sys/class/iscsi_session/session9/password", "planted-24\n");
  plant("/sys/class/iscsi_session/session9/targetname", "iqn.2001-01.example:t\n");
  plant("/var/lib/iscsi/nodes/iqn.2001-01.example:t/192.0.2.9,3260,1/default",
        "# BEGIN RECORD 2.1.8\nnode.name = iqn.2001-01.example:t\nnode.session.auth.authmethod = CHAP\n"
        "node.session.auth.username = planted-41\nnode.session.auth.password = planted-42\n"
        "node.session.auth.username_in = planted-43\nnode.session.auth.password_in=planted-44\n"
        "#node.session.auth.password = planted-45\niface.chap_names = planted-46\n# END RECORD\n");
  plant("/etc/multipath.conf", "defaults {\n\treservation_key 0x1\n\tauth_key \"planted-47\"\n}\n");
  plant("/etc/multipath/conf.d/a.conf", "overrides {\n\tpassword planted-48\n}\n");
  plant("/mountaudit/cmd/iscsi-p3.txt",
        "Target: iqn.2001-01.example:t (non-flash)\n\tCurrent Portal: 192.0.2.9:3260,1\n"
        "\tPersistent Portal: 192.0.2.9:3260,1\n\t\tSID: 9\n\t\tCHAP:\n\t\tusername: planted-49\n"
        "\t\tpassword: planted-50\n\t\tusername_in: planted-51\n\t\tpassword_in: planted-52\n");
  fs::remove(tree + "/mountaudit/manifest.json");  // what it says is not there is there now
  const std::string cluster = scratch.write(
      "cluster.yaml",
      "apiVersion: v1\nkind: List\nitems:\n"
      "- apiVersion: v1\n  kind: Secret\n  metadata: {name: planted-25}\n  stringData: {p: planted-26}\n"
      "- apiVersion: v1\n  kind: PersistentVolume\n  metadata:\n    name: pv\n    annotations:\n"
      "      kubectl.kubernetes.io/last-applied-configuration: planted-27\n  spec:\n"
      "    mountOptions: [vers=4.2, password=planted-28]\n    csi:\n      driver: x\n      volumeHandle: h\n"
      "      volumeAttributes: {secret: planted-29}\n"
      "      nodeStageSecretRef: {name: planted-30, namespace: planted-31}\n"
      "- apiVersion: trident.netapp.io/v1\n  kind: TridentBackendConfig\n  metadata: {name: b}\n  spec:\n"
      "    storageDriverName: ontap-nas\n    username: planted-32\n    password: planted-33\n"
      "    credentials: {name: planted-34}\n    chapInitiatorSecret: planted-35\n");
  std::map<std::string, std::string> outputs;
  const auto keep = [&](const std::string& what, const std::vector<std::string>& arguments) {
    const auto ran = run(arguments);
    INFO(what << ran.err);
    CHECK(ran.code < 2);
    outputs[what] = ran.out + ran.err;
  };
  const std::string raw = scratch.path("raw");
  keep("facts", {"collect", "--root", tree, "--declare", cluster});
  REQUIRE(outputs["facts"].find("pvc-planted") != std::string::npos);  // it was read
  REQUIRE(outputs["facts"].find("192.0.2.9") != std::string::npos);
  REQUIRE(outputs["facts"].find("\"chap_configured\": true") != std::string::npos);
  REQUIRE(outputs["facts"].find("reservation_key") != std::string::npos);
  keep("raw", {"collect", "--root", tree, "--declare", cluster, "--raw", raw});
  keep("json", {"audit", "--root", tree, "--declare", cluster, "--format", "json"});
  keep("text", {"audit", "--root", tree, "--declare", cluster});
  keep("verbose", {"audit", "--root", tree, "--declare", cluster, "-v"});
  keep("ja", {"audit", "--root", tree, "--declare", cluster, "-v", "--lang", "ja"});
  keep("redacted", {"audit", "--root", tree, "--declare", cluster, "-v", "--redact"});
  for (const auto& [path, text] : files_below(raw)) outputs["raw tree " + path] = text;
  REQUIRE(outputs.size() > 20);
  for (const auto& [what, text] : outputs) {
    for (int i = 1; i <= 52; ++i) {
      INFO(what << ": planted-" << i);
      CHECK_FALSE(stands_in(text, "planted-" + std::to_string(i)));
    }
  }
}
