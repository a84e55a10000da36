#include "probes/collect.h"

#include <sys/resource.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>

#include "audit/snapshot/document.h"
#include "probes/ask_mounted.h"
#include "probes/probe.h"
#include "probes/raw_tree.h"
#include "tests/probes/scratch.h"

using namespace probes;
using base::ErrorKind;
using namespace std::string_literals;

namespace {

const std::string worker = std::string(SOURCE_DIR) + "/samples/trees/openshift-worker";

const facts::Source* row_of(const facts::Facts& facts, std::string_view name) {
  const auto found = std::find_if(facts.sources.begin(), facts.sources.end(),
                                  [&](const facts::Source& row) { return row.name == name; });
  return found == facts.sources.end() ? nullptr : &*found;
}

// What must be equal between a run and its replay: all but the root and how long reading took.
std::string comparable(facts::Facts facts) {
  facts.node.root.clear();
  facts.node.live = false;
  for (facts::Source& row : facts.sources) row.duration_us = facts::Fact<std::uint64_t>();
  if (facts.earlier) {
    facts.earlier->node.root.clear();
    facts.earlier->node.live = false;
  }
  return snapshot::to_json(facts);
}

constexpr const char* table =
    "20 1 8:1 / / rw - ext4 /dev/sda rw\n"
    "30 20 0:40 / /data rw - nfs4 192.0.2.1:/data "
    "rw,vers=4.2,rsize=1048576,wsize=1048576,namlen=255,hard,proto=tcp,timeo=600,retrans=2,sec=sys,"
    "clientaddr=192.0.2.9,local_lock=none,addr=192.0.2.1\n";

std::string counters(int age, int sends) {
  const std::string n = std::to_string(sends);
  return "device 192.0.2.1:/data mounted on /data with fstype nfs4 statvers=1.1\n"
         "\topts:\trw,vers=4.2,rsize=1048576,wsize=1048576,namlen=255,hard,proto=tcp,timeo=600,retrans=2,sec=sys,"
         "clientaddr=192.0.2.9,local_lock=none\n"
         "\tage:\t" +
         std::to_string(age) + "\n\tRPC iostats version: 1.1  p/v: 100003/4 (nfs)\n\txprt:\ttcp 0 0 1 0 0 " + n + " " +
         n + " 0 " + n + " 0 2 0 0\n\tper-op statistics\n\t        READ: " + n + " " + n + " 0 100 200 1 2 3 0\n\n";
}

}  // namespace

TEST_CASE("collect: the sample worker's mounts know their pods, volumes, machines and what was asked") {
  const auto host = open_root(worker);
  REQUIRE(host);
  const facts::Facts facts = collect(**host);
  CHECK(facts.node.view.is("proc/1"));
  CHECK(facts.node.kubelet.is(true));
  CHECK(facts.node.virt_launcher.is(true));
  CHECK(facts.node.trident.is(true));
  CHECK(facts.config.fstab.is_absent());
  CHECK(row_of(facts, "/etc/fstab")->status == "absent");
  REQUIRE(facts.nfs.mounts.size() == 6);
  for (const facts::NfsMount& mount : facts.nfs.mounts) {
    INFO(mount.target);
    REQUIRE(mount.kubelet.has_value());
    CHECK(mount.kubelet->provisioner.is("csi.trident.netapp.io"));
    CHECK(mount.kubelet->pv.is(mount.kubelet->volume));
    CHECK(mount.kubelet->pod_name.has_value());
    REQUIRE(mount.asked.has_value());
    CHECK(mount.asked->origin == "trident");
    CHECK(mount.asked->text == "nconnect=8");
    CHECK(mount.asked->nconnect.is(8));
    CHECK(mount.asked->vers.is_absent());
    CHECK(mount.asked->same_source.is(true));
  }
  CHECK(facts.nfs.mounts[0].kubelet->vm.is("virt-perf/rhel10-ontap-nas"));
  CHECK(std::count_if(facts.nfs.mounts.begin(), facts.nfs.mounts.end(),
                      [](const auto& mount) { return mount.kubelet->vm.is_absent(); }) == 2);
  CHECK(facts.nfs.clients.size() == 1);
  const std::string document = snapshot::to_json(facts);
  CHECK(document.find("not-a-real") == std::string::npos);
}

TEST_CASE("collect: mounts come from pid 1, else from ourselves, else from /proc/mounts, and the row says so") {
  scratch::TextHost host;
  host.files["/proc/self/mountinfo"] = table;
  host.errors["/proc/1/mountinfo"] = ErrorKind::denied;
  host.files["/proc/mounts"] = "192.0.2.1:/data /data nfs4 rw,vers=4.2,addr=192.0.2.1 0 0\n";
  facts::Facts facts = collect(host);
  CHECK(facts.node.view.is("proc/self"));
  CHECK(row_of(facts, "/proc/1/mountinfo")->status == "denied");
  CHECK(row_of(facts, "/proc/self/mountinfo")->detail == "instead of /proc/1/mountinfo (as the test wants it)");
  CHECK(row_of(facts, "/proc/mounts") == nullptr);

  host.files.erase("/proc/self/mountinfo");
  facts = collect(host);
  CHECK(facts.node.view.is("proc"));
  CHECK(facts.nfs.mounts.size() == 1);

  host.files.erase("/proc/mounts");
  host.outputs["mount-l"] = "192.0.2.1:/data on /data type nfs4 (rw,vers=4.2,addr=192.0.2.1)\n";
  facts = collect(host);
  CHECK(facts.node.view.is("mount"));
  CHECK(facts.nfs.mounts.size() == 1);
}

TEST_CASE("collect: counters of another mount namespace are not taken for pid 1's") {
  scratch::TextHost host;
  host.files["/proc/1/mountinfo"] = table;
  host.errors["/proc/1/mountstats"] = ErrorKind::denied;
  host.files["/proc/self/mountstats"] = counters(100, 5);
  host.files["/proc/self/mountinfo"] = "20 1 8:1 / / rw - ext4 /dev/sda rw\n";
  facts::Facts facts = collect(host);
  REQUIRE(facts.nfs.mounts.size() == 1);
  CHECK(facts.nfs.mounts[0].age_s.is_unknown());
  CHECK(row_of(facts, "/proc/self/mountstats")->status == "skipped");
  host.files["/proc/self/mountinfo"] = std::string(table) + "99 20 8:2 / /tmp rw - tmpfs tmpfs rw\n";
  facts = collect(host);
  CHECK(facts.nfs.mounts[0].age_s.is(100));
}

TEST_CASE("collect: no fstab and no kubelet are known, what cannot be read is not") {
  scratch::TextHost host;
  host.files["/proc/1/mountinfo"] = table;
  facts::Facts facts = collect(host);
  CHECK(facts.config.fstab.is_absent());
  CHECK(facts.config.trident.is_absent());
  CHECK(facts.node.kubelet.is(false));
  CHECK(facts.node.trident.is(false));
  CHECK(facts.node.virt_launcher.is(false));
  CHECK(facts.nfs.mounts[0].kubelet.is_absent());
  CHECK(facts.nfs.mounts[0].asked.is_unknown());
  host.errors = {{"/etc/fstab", ErrorKind::denied},
                 {"/var/lib/trident/tracking", ErrorKind::denied},
                 {"/var/lib/kubelet/pods", ErrorKind::denied},
                 {"/var/log/pods", ErrorKind::denied}};
  facts = collect(host);
  CHECK(facts.config.fstab.is_unknown());
  CHECK(facts.config.trident.is_unknown());
  CHECK(facts.node.kubelet.is_unknown());
  CHECK(facts.node.virt_launcher.is_unknown());
  CHECK(row_of(facts, "/etc/fstab")->status == "denied");
}

TEST_CASE("collect: the node's name is the one given, else the host name") {
  scratch::TextHost host;
  host.files["/etc/hostname"] = "from-file\n";
  CHECK(collect(host).node.name == "from-file");
  host.files["/proc/sys/kernel/hostname"] = "from-kernel\n";
  CHECK(collect(host).node.name == "from-kernel");
  CHECK(collect(host, {.node_name = "given"}).node.name == "given");
  host.files["/proc/sys/kernel/hostname"] = "\x1b[2J two words";
  const facts::Facts facts = collect(host);
  CHECK(facts.node.name.empty());
  CHECK(row_of(facts, "/proc/sys/kernel/hostname")->status == "malformed");
}

TEST_CASE("collect: truncated, binary, empty, endless, denied and vanishing files leave rows, and the run goes on") {
  const std::vector<std::string> paths{"/proc/1/mountinfo",
                                       "/proc/1/mountstats",
                                       "/etc/fstab",
                                       "/etc/os-release",
                                       "/etc/machine-id",
                                       "/proc/sys/kernel/hostname",
                                       "/proc/sys/kernel/random/boot_id",
                                       "/var/lib/trident/tracking/pvc-1.json"};
  const std::string binary =
      "\x7f"
      "ELF\x02\x01\x01\0\0\xff\xfe one two three four\n\0\0\x80 a b c d e f g h i j\n"s;
  struct Bad {
    const char* what;
    std::string text;
    ErrorKind error;
    const char* status;
  };
  const std::vector<Bad> bads{
      {"denied", "", ErrorKind::denied, "denied"},
      {"vanished", "", ErrorKind::absent, "absent"},
      {"binary", binary, ErrorKind::usage, "malformed"},
      {"a line over 1 MiB", std::string(max_line_bytes + 1, 'x'), ErrorKind::usage, "malformed"}};
  for (const std::string& path : paths) {
    for (const Bad& bad : bads) {
      INFO(path << " " << bad.what);
      scratch::TextHost host;
      host.files = {{"/proc/1/mountinfo", table},
                    {"/proc/1/mountstats", counters(100, 5)},
                    {"/etc/fstab", "192.0.2.1:/data /data nfs vers=4.2 0 0\n"},
                    {"/etc/os-release", "ID=x\n"},
                    {"/etc/machine-id", "0123456789abcdef0123456789abcdef\n"},
                    {"/proc/sys/kernel/hostname", "n\n"},
                    {"/proc/sys/kernel/osrelease", "6.1.0\n"},
                    {"/proc/sys/kernel/random/boot_id", "b\n"},
                    {"/var/lib/trident/tracking/pvc-1.json", "{}"}};
      host.lists["/var/lib/trident/tracking"] = {"pvc-1.json"};
      if (bad.error == ErrorKind::usage)
        host.files[path] = bad.text;
      else
        host.errors[path] = bad.error;
      const facts::Facts facts = collect(host);
      const facts::Source* row = row_of(facts, path);
      REQUIRE(row != nullptr);
      CHECK(row->status == bad.status);
      CHECK_FALSE(row->detail.empty());
      CHECK(row->detail.size() < 1000);
      CHECK(facts.kernel.release.is("6.1.0"));
      if (path != "/proc/1/mountinfo") CHECK(facts.nfs.mounts.size() == 1);
      if (path != "/etc/fstab" && path != "/proc/1/mountinfo") CHECK(facts.nfs.mounts.at(0).asked->vers.is("4.2"));
    }
    INFO(path << " empty, then cut");
    scratch::TextHost host;
    host.lists["/var/lib/trident/tracking"] = {"pvc-1.json"};
    host.files[path] = "";
    CHECK(row_of(collect(host), path) != nullptr);
    host.files[path] = path == "/proc/1/mountinfo" ? std::string(table, 90) : counters(100, 5).substr(0, 300);
    CHECK(row_of(collect(host), path) != nullptr);
  }
}

TEST_CASE("collect: a cut table keeps the whole lines") {
  scratch::TextHost host;
  host.files["/proc/1/mountinfo"] = std::string(table) + "31 20 0:41 / /cut rw";
  const facts::Facts facts = collect(host);
  CHECK(facts.nfs.mounts.size() == 1);
  CHECK(row_of(facts, "/proc/1/mountinfo")->status == "malformed");
  CHECK(row_of(facts, "/proc/1/mountinfo")->detail.starts_with("line 3: "));
}

TEST_CASE("collect: a tree whose files are 100 MiB in one line each is read within bounds") {
  const scratch::Directory dir;
  for (const char* path : {"/proc/1/mountinfo", "/proc/1/mountstats", "/etc/fstab", "/etc/os-release",
                           "/var/lib/trident/tracking/a.json"}) {
    dir.write(path, "");
    std::filesystem::resize_file(dir.path() + path, std::uintmax_t{100} << 20);  // NUL bytes, no line end
  }
  const auto host = open_root(dir.path());
  REQUIRE(host);
  const facts::Facts facts = collect(**host);
  CHECK(row_of(facts, "/proc/1/mountinfo")->status == "malformed");
  CHECK(row_of(facts, "/etc/fstab")->status == "malformed");
  CHECK(row_of(facts, "/var/lib/trident/tracking/a.json")->status == "malformed");
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  CHECK(usage.ru_maxrss < 100 << 10);  // KiB
}

TEST_CASE("collect: an unpacked sos report gives mounts, counters, kernel and name") {
  const scratch::Directory dir;
  dir.write("/sos_reports/manifest.json", "{}");
  dir.write("/proc/1/mountinfo", table);
  dir.write("/proc/4242/mountstats", counters(100, 5));
  dir.write("/proc/4242/mountinfo", table);
  std::filesystem::create_symlink("4242", dir.path() + "/proc/self");
  dir.write("/sos_commands/kernel/uname_-a", "Linux wk-07 5.14.0-427.el9.x86_64 #1 SMP x86_64 GNU/Linux\n");
  dir.write("/sos_commands/host/hostname", "wk-07\n");
  dir.write("/etc/fstab", "192.0.2.1:/data /data nfs vers=4.2 0 0\n");
  dir.write("/etc/os-release", "ID=\"rhel\"\nVERSION_ID=\"9.4\"\n");
  const auto host = open_root(dir.path());
  REQUIRE(host);
  const facts::Facts facts = collect(**host);
  CHECK(facts.node.name == "wk-07");
  CHECK(facts.kernel.release.is("5.14.0-427.el9.x86_64"));
  CHECK(facts.kernel.distribution.is("rhel"));
  REQUIRE(facts.nfs.mounts.size() == 1);
  CHECK(facts.nfs.mounts[0].age_s.is(100));
  CHECK(facts.nfs.mounts[0].asked->vers.is("4.2"));
  CHECK(facts.config.trident.is_unknown());
  CHECK(row_of(facts, "/proc/self/mountstats")->detail ==
        "instead of /proc/1/mountstats (not part of this sos report)");
}

TEST_CASE("inputs: pasted text alone gives facts, under the name that the user gave") {
  const scratch::Directory dir;
  dir.write("/fstab", "192.0.2.1:/data /data nfs vers=4.2,nconnect=8 0 0\n");
  dir.write("/table", table);
  const auto host = open_inputs({{"fstab", dir.path() + "/fstab"}, {"mountinfo", dir.path() + "/table"}});
  REQUIRE(host);
  const facts::Facts facts = collect(**host);
  REQUIRE(facts.nfs.mounts.size() == 1);
  CHECK(facts.nfs.mounts[0].asked->nconnect.is(8));
  CHECK(facts.nfs.mounts[0].asked->path == dir.path() + "/fstab:1");
  CHECK(row_of(facts, dir.path() + "/table")->status == "ok");
  CHECK(facts.node.kubelet.is_unknown());
  CHECK_FALSE(facts.node.live);
}

TEST_CASE("second sample: the document becomes the new one, the old counters stay as earlier") {
  scratch::TextHost host;
  host.files = {{"/proc/1/mountinfo", table},
                {"/proc/1/mountstats", counters(100, 50)},
                {"/etc/fstab", "192.0.2.1:/data /data nfs nconnect=8\n"}};
  host.time.boottime_ns = 1000U;
  host.time.wall = "2026-01-02T03:04:05Z";
  RecordingHost recording(host);
  facts::Facts facts = collect(recording);
  host.files["/proc/1/mountstats"] = counters(112, 80);
  host.time.boottime_ns = 13000U;
  host.time.wall = "2026-01-02T03:04:17Z";
  recording.begin_second_sample();
  CHECK(take_second_sample(recording, facts));
  REQUIRE(facts.nfs.mounts.size() == 1);
  CHECK(facts.nfs.mounts[0].age_s.is(112));
  CHECK(facts.nfs.mounts[0].ops.at(0).ops == 80);
  CHECK(facts.nfs.mounts[0].asked->nconnect.is(8));
  CHECK(facts.nfs.mounts[0].kubelet.is_absent());
  CHECK(facts.node.boottime_ns.is(13000));
  CHECK(facts.node.collected_at.is("2026-01-02T03:04:17Z"));
  REQUIRE(facts.earlier);
  CHECK(facts.earlier->node.boottime_ns.is(1000));
  CHECK(facts.earlier->nfs.mounts.at(0).age_s.is(100));
  CHECK(facts.earlier->nfs.mounts.at(0).ops.at(0).ops == 50);
  CHECK(facts.earlier->nfs.clients.at(0).transports.at(0).sends == 50);
  CHECK(facts.earlier->nfs.mounts.at(0).asked.is_unknown());
  CHECK(facts.earlier->sources.empty());
  CHECK(std::count_if(facts.sources.begin(), facts.sources.end(),
                      [](const auto& row) { return row.name == "/proc/1/mountstats"; }) == 1);

  const scratch::Directory dir;
  REQUIRE(recording.write(dir.path() + "/raw", facts.node.name));
  CHECK(dir.has("/raw/mountaudit/earlier/proc/1/mountstats"));
  const auto replay = open_root(dir.path() + "/raw");
  REQUIRE(replay);
  const facts::Facts again = collect(**replay);
  REQUIRE(again.earlier);
  CHECK(again.earlier->node.boottime_ns.is(1000));
  CHECK(comparable(again) == comparable(facts));

  RecordingHost copying(**replay);  // a copy of a copy
  const facts::Facts third = collect(copying);
  REQUIRE(copying.write(dir.path() + "/copy", third.node.name));
  const auto copied = open_root(dir.path() + "/copy");
  REQUIRE(copied);
  CHECK(comparable(collect(**copied)) == comparable(again));
}

TEST_CASE("second sample: one that fails leaves the first as it was") {
  scratch::TextHost host;
  host.files = {{"/proc/1/mountinfo", table}, {"/proc/1/mountstats", counters(100, 50)}};
  RecordingHost recording(host);
  facts::Facts facts = collect(recording);
  host.errors["/proc/1/mountstats"] = ErrorKind::denied;
  recording.begin_second_sample();
  CHECK_FALSE(take_second_sample(recording, facts));
  recording.forget_second_sample();
  CHECK(facts.nfs.mounts[0].age_s.is(100));
  CHECK_FALSE(facts.earlier);
  CHECK(facts.sources.back().detail.ends_with("no second sample, so no rates"));
  const scratch::Directory dir;
  REQUIRE(recording.write(dir.path() + "/raw", "n"));
  CHECK_FALSE(dir.has("/raw/mountaudit/earlier"));
  CHECK(dir.has("/raw/proc/1/mountstats"));
}

TEST_CASE("since: an earlier document of the same node and boot is taken, others are refused with the reason") {
  scratch::TextHost host;
  host.files = {{"/proc/1/mountinfo", table},
                {"/proc/1/mountstats", counters(100, 50)},
                {"/proc/sys/kernel/random/boot_id", "b1\n"},
                {"/proc/sys/kernel/hostname", "n\n"}};
  host.time.boottime_ns = 1000U;
  const facts::Facts old = collect(host);
  host.files["/proc/1/mountstats"] = counters(160, 90);
  host.time.boottime_ns = 61000U;
  const facts::Facts fresh = collect(host);

  facts::Facts good = fresh;
  use_since(good, old, "old.json");
  REQUIRE(good.earlier);
  CHECK(good.earlier->nfs.mounts.at(0).age_s.is(100));
  CHECK(row_of(good, "old.json")->status == "ok");

  const auto refused = [&](facts::Facts other) {
    facts::Facts facts = fresh;
    use_since(facts, other, "old.json");
    CHECK_FALSE(facts.earlier);
    CHECK(row_of(facts, "old.json")->status == "refused");
    return row_of(facts, "old.json")->detail;
  };
  facts::Facts other = old;
  other.node.name = "m";
  CHECK(refused(other) == "is of the node m, not of n: not used");
  other = old;
  other.node.boot_id = "b0";
  CHECK(refused(other) == "is from before a reboot: its counters ended there; not used");
  other = old;
  other.nfs.mounts.clear();
  CHECK(refused(other) == "holds no NFS counters: not used");
  CHECK(refused(fresh) == "is not earlier than this sample: not used");
}

TEST_CASE("raw tree: of the sample worker it replays to the same facts, without a secret in any file") {
  const auto host = open_root(worker);
  REQUIRE(host);
  RecordingHost recording(**host);
  const facts::Facts facts = collect(recording);
  const scratch::Directory dir;
  const std::string raw = dir.path() + "/a/b";
  REQUIRE(recording.write(raw, facts.node.name));
  const auto replay = open_root(raw);
  REQUIRE(replay);
  CHECK(comparable(collect(**replay)) == comparable(facts));
  CHECK(dir.mode("/a/b") == 0700);
  CHECK(dir.mode("/a/b/mountaudit/manifest.json") == 0600);
  CHECK(dir.mode("/a/b/proc") == 0700);
  for (const auto& entry : std::filesystem::recursive_directory_iterator(raw)) {
    if (!entry.is_regular_file()) continue;
    const std::string text = *read_file(entry.path().string());
    INFO(entry.path().string());
    CHECK(text.find("not-a-real") == std::string::npos);
    CHECK(text.find("sername") == std::string::npos);
  }
}

TEST_CASE("raw tree: of this machine it replays to the same facts") {
  const auto host = open_root("/");
  REQUIRE(host);
  RecordingHost recording(**host);
  const facts::Facts facts = collect(recording);
  const scratch::Directory dir;
  REQUIRE(recording.write(dir.path() + "/raw", facts.node.name));
  const auto replay = open_root(dir.path() + "/raw");
  REQUIRE(replay);
  CHECK(comparable(collect(**replay)) == comparable(facts));
}

TEST_CASE("raw tree: what could not be read keeps its status, and a malformed tracking file is not copied") {
  scratch::TextHost host;
  host.files = {{"/proc/1/mountinfo", table},
                {"/var/lib/trident/tracking/a.json", "{\"iscsiTargetSecret\": \"s3cret\", "}};
  host.lists["/var/lib/trident/tracking"] = {"a.json", "b.tmp"};
  host.errors["/etc/fstab"] = ErrorKind::denied;
  host.errors["/var/log/pods"] = ErrorKind::denied;
  RecordingHost recording(host);
  const facts::Facts facts = collect(recording);
  const scratch::Directory dir;
  REQUIRE(recording.write(dir.path() + "/raw", facts.node.name));
  CHECK_FALSE(dir.has("/raw/var/lib/trident/tracking/a.json"));
  CHECK(dir.read("/raw/mountaudit/manifest.json").find("s3cret") == std::string::npos);
  const auto replay = open_root(dir.path() + "/raw");
  REQUIRE(replay);
  CHECK(comparable(collect(**replay)) == comparable(facts));
}

TEST_CASE("raw tree: a directory that holds something is refused and left alone") {
  scratch::TextHost host;
  const RecordingHost recording(host);
  const scratch::Directory dir;
  dir.write("/mine", "x");
  const auto wrote = recording.write(dir.path(), "n");
  REQUIRE_FALSE(wrote);
  CHECK(wrote.error().kind == ErrorKind::usage);
  CHECK(wrote.error().message == "is not empty: nothing written");
  CHECK_FALSE(dir.has("/mountaudit"));
  CHECK_FALSE(recording.write(dir.path() + "/mine", "n"));
}

TEST_CASE("registry: every probe has an id of its own, a sentence and a function") {
  std::vector<std::string> ids;
  for (const Probe& probe : passive_probes()) {
    ids.emplace_back(probe.id);
    CHECK(std::string(probe.sentence).size() > 10);
    CHECK(probe.run != nullptr);
  }
  std::sort(ids.begin(), ids.end());
  CHECK(std::adjacent_find(ids.begin(), ids.end()) == ids.end());
}

TEST_CASE("answers: joined by address and port, their rows found by the entry, a port of rpcbind's included") {
  facts::Facts facts;
  for (const char* addr : {"192.0.2.1", "2001:db8::1"}) {
    facts::NfsServer& server = facts.nfs.servers.emplace_back();
    server.name = "nas"s;
    server.addr = addr;
    server.mounted = true;
    server.lease_s = 30U;
  }
  wire::NfsAnswer moved;
  moved.server.addr = "192.0.2.1";
  moved.server.port = 20490;
  moved.server.owner = "one"s;
  moved.sources = {{"nfs_server.nfs", "192.0.2.1:20490", "ok", "", {}},
                   {"nfs_server.fsinfo", "192.0.2.1:20490", "timeout", "silent", {}}};
  wire::NfsAnswer six;
  six.server.addr = "2001:DB8:0::1";
  six.server.owner = "two"s;
  six.sources = {{"nfs_server.nfs", "[2001:db8::1]:2049", "ok", "", {}}};
  probes::join_answers(facts, {moved, six});
  REQUIRE(facts.nfs.servers.size() == 2);
  CHECK(facts.nfs.servers[0].owner.is("one"));
  CHECK(facts.nfs.servers[0].port == 2049);  // by which the mounts find it
  CHECK(facts.nfs.servers[0].lease_s.is(30));
  CHECK(facts.nfs.servers[0].mounted);
  CHECK(facts.nfs.servers[1].owner.is("two"));
  REQUIRE(facts.sources.size() == 3);
  CHECK(facts.sources[0].name == "192.0.2.1:2049");
  CHECK(facts.sources[1].name == "192.0.2.1:2049");
  CHECK(facts.sources[2].name == "[2001:db8::1]:2049");
}

TEST_CASE("answers: asked from another network namespace, a refusal says nothing of the node") {
  facts::Facts facts;
  facts.network.same_namespace = false;
  facts::NfsServer& server = facts.nfs.servers.emplace_back();
  server.name = "nas"s;
  server.addr = "192.0.2.1"s;
  wire::NfsAnswer answer;
  answer.server = server;
  answer.server.asked_from = "10.1.2.3"s;
  for (const auto& [program, result, reachable] :
       {std::tuple{"nfs", "refused", false}, {"rpcbind", "ok", true}, {"nlm", "not_registered", false}}) {
    facts::NfsService& service = answer.server.services.emplace_back();
    service.program = program;
    service.result = std::string(result);
    service.reachable = reachable;
  }
  answer.sources = {{"nfs_server.nfs", "192.0.2.1:2049", "refused", "connection refused", {}},
                    {"nfs_server.rpcbind", "192.0.2.1:2049", "ok", "", {}}};
  auto same = facts;
  probes::join_answers(facts, {answer});
  const auto& services = facts.nfs.servers[0].services;
  CHECK(services[0].reachable.is_unknown());
  CHECK(services[1].reachable.is(true));
  CHECK(services[2].reachable.is(false));  // said by its rpcbind
  CHECK(facts.sources[0].detail ==
        "connection refused (asked from 10.1.2.3, in another network namespace than the node's: says nothing of the "
        "node)");
  CHECK(facts.sources[1].detail.empty());
  same.network.same_namespace = true;
  probes::join_answers(same, {answer});
  CHECK(same.nfs.servers[0].services[0].reachable.is(false));
  CHECK(same.sources[0].detail == "connection refused");
}

TEST_CASE("answers: names of NFSv4.1 mounts are looked up once, what the resolver said is kept") {
  facts::Facts facts;
  for (const auto& [name, vers] : {std::pair{"a.example.com", "4.2"},
                                   {"a.example.com", "4.1"},
                                   {"b.example.com", "3"},
                                   {"192.0.2.1", "4.2"},
                                   {"2001:db8::1", "4.1"},
                                   {"c.example.com", "4.2"}}) {
    facts::NfsMount& mount = facts.nfs.mounts.emplace_back();
    mount.server_name = std::string(name);
    mount.vers = std::string(vers);
  }
  CHECK(probes::names_of(facts) == std::vector<std::string>{"a.example.com", "c.example.com"});
  probes::join_names(facts, {});
  CHECK(facts.network.names.is_unknown());
  probes::join_names(facts, {{"a.example.com", std::vector<std::string>{"192.0.2.1"}},
                             {"c.example.com", base::fail(ErrorKind::absent, "c.example.com", "does not resolve")},
                             {"d.example.com", base::fail(ErrorKind::timeout, "d.example.com", "not in time")}});
  REQUIRE(facts.network.names.has_value());
  const auto& names = *facts.network.names;
  CHECK(names[0].addrs.is({"192.0.2.1"}));
  CHECK(names[1].addrs.is_absent());
  CHECK(names[2].addrs.is_unknown());
  REQUIRE(facts.sources.size() == 2);
  CHECK(facts.sources[1].status == "timeout");
}
