// What hangs on answers of servers: which question is quoted for an unknown, and whether VMs can be moved.
#include <catch2/catch.hpp>

#include "audit/eval/derive.h"
#include "audit/eval/engine.h"
#include "audit/eval/migration.h"
#include "fixture.h"

namespace {

using namespace fixture;

facts::Source row(const std::string& question, const std::string& status, const std::string& detail = "") {
  return {"nfs_server." + question, "192.0.2.1:2049", status, detail, {}};
}

facts::NfsService service(const std::string& program, bool reachable, const std::string& detail = "") {
  facts::NfsService s;
  s.program = program;
  s.port = 2049U;
  s.reachable = reachable;
  s.result = std::string(reachable ? "ok" : "refused");
  if (!detail.empty()) s.detail = detail;
  return s;
}

// A mount with the disk of a VM, on a volume declared with this access mode; empty: not declared.
facts::Facts vm_node(const std::string& vers, const std::string& access) {
  facts::Facts f = node();
  facts::NfsMount m = mount("/var/lib/kubelet/pods/1/volumes/kubernetes.io~csi/pvc-1/mount", f.nfs.clients[0].id);
  m.vers = vers;
  facts::KubeletVolume volume;
  volume.pv = "pvc-1";
  volume.vm = "demo/rhel10";
  m.kubelet = volume;
  add(f, m);
  if (!access.empty()) {
    facts::DeclaredPv pv;
    pv.name = "pvc-1";
    pv.access_modes = std::vector<std::string>{access};
    f.declared.pvs.push_back(pv);
  }
  return f;
}

audit::LiveMigration only_one(const facts::Facts& f) {
  const audit::Context context(f);
  const auto all = audit::live_migrations(context);
  REQUIRE(all.size() == 1);
  CHECK(all[0].volume == audit::Subject{"volume", "pvc-1"});
  CHECK(all[0].vm == "demo/rhel10");
  return all[0];
}

bool says(const audit::LiveMigration& one, const std::string& words) {
  INFO(one.verdict << ": " << one.why);
  CHECK(one.why.find(words) != std::string::npos);
  return one.why.find(words) != std::string::npos;
}

}  // namespace

TEST_CASE("server facts: an unknown quotes the question that would have told it", "[derive]") {
  facts::Facts f = node();
  f.node.live = true;
  f.sources = {row("attributes", "malformed", "count_too_large"),
               row("create_session", "denied", "NFS4ERR_PERM"),
               row("exchange_id", "ok"),
               row("fsinfo", "timeout", "silent"),
               row("minor_versions", "ok"),
               row("nfs", "ok"),
               row("nlm", "refused", "connection refused"),
               row("rpcbind", "ok"),
               row("tls", "refused", "closed")};
  const audit::Context context(f);
  const auto why = [&](const std::string& fact) { return audit::why_unknown(context, "nfs.servers[0]." + fact); };
  CHECK(why("rtmax_bytes") == "timeout: silent");
  CHECK(why("exports[0].wtmax_bytes") == "timeout: silent");
  CHECK(why("maxread_bytes") == "malformed: count_too_large");
  CHECK(why("session") == "denied: NFS4ERR_PERM");
  CHECK(why("tls_offered") == "refused: closed");
  CHECK(why("nlm_test") == "connection refused");
  CHECK(why("services.nlm") == "connection refused");
  CHECK(why("owner") == "not told by 192.0.2.1:2049");
  CHECK(why("nfs4_minor_max") == "not told by 192.0.2.1:2049");
  CHECK(why("grace_s") == "no protocol names it; probe --follow-grace sees it at a restart");
}

TEST_CASE("server facts: a server that answers nothing has one reason for everything", "[derive]") {
  facts::Facts f = node();
  f.node.live = true;
  f.sources = {row("attributes", "timeout", "silent"), row("nfs", "timeout", "connect_timeout: no answer to SYN"),
               row("rpcbind", "refused", "connection refused")};
  const audit::Context context(f);
  for (const char* fact : {"rtmax_bytes", "maxread_bytes", "owner", "session", "nlm_test", "grace_s"}) {
    CAPTURE(fact);
    CHECK(audit::why_unknown(context, std::string("nfs.servers[0].") + fact) == "connect_timeout: no answer to SYN");
  }
}

TEST_CASE("live migration: access mode, locks and server decide, and every verdict says why", "[migration]") {
  CHECK(only_one(vm_node("4.2", "ReadWriteMany")).verdict == "yes");
  says(only_one(vm_node("4.2", "ReadWriteMany")), "ReadWriteMany; NFSv4.2 with locks of its own");

  const auto once = only_one(vm_node("4.2", "ReadWriteOnce"));
  CHECK(once.verdict == "no");
  says(once, "it is ReadWriteOnce");

  const auto undeclared = only_one(vm_node("4.2", ""));
  CHECK(undeclared.verdict == "unknown");
  says(undeclared, "its access mode was not declared");

  // A claim tells as well as a volume.
  auto claimed = vm_node("4.2", "");
  facts::DeclaredPvc pvc;
  pvc.name = "disk";
  pvc.volume = "pvc-1";
  pvc.access_modes = std::vector<std::string>{"ReadWriteMany"};
  claimed.declared.pvcs.push_back(pvc);
  CHECK(only_one(claimed).verdict == "yes");

  auto three = vm_node("3", "ReadWriteMany");
  auto one = only_one(three);
  CHECK(one.verdict == "unknown");
  says(one, "whether the lock manager of the server answers is not known (not asked (passive))");
  three.nfs.servers[0].services = {service("nfs", true), service("nlm", true)};
  one = only_one(three);
  CHECK(one.verdict == "yes");
  says(one, "NFSv3 with a lock manager that answers");
  three.node.daemons.rpc_statd = false;
  one = only_one(three);
  CHECK(one.verdict == "no");
  says(one, "rpc.statd does not run on this node");
  three.node.daemons.rpc_statd = true;
  three.nfs.servers[0].services[1] = service("nlm", false, "connection refused");
  one = only_one(three);
  CHECK(one.verdict == "no");
  says(one, "the lock manager of the server does not work (connection refused)");

  auto local = vm_node("3", "ReadWriteMany");
  local.nfs.mounts[0].nolock = true;
  local.nfs.mounts[0].local_lock = "all";
  one = only_one(local);
  CHECK(one.verdict == "no");
  says(one, "its locks stay on this node (nolock)");
  local.nfs.mounts[0].nolock = false;
  local.nfs.mounts[0].local_lock = "posix";
  says(only_one(local), "(local_lock=posix)");
  // flock(2) is not what qemu locks its images with.
  local.nfs.mounts[0].local_lock = "flock";
  CHECK(only_one(local).verdict == "unknown");
  local.nfs.mounts[0].local_lock = "all";
  local.nfs.mounts[0].nolock = true;
  local.nfs.mounts[0].kubelet->provisioner = "pxd.portworx.com";
  CHECK(only_one(local).verdict == "yes");

  auto grace = vm_node("4.1", "ReadWriteMany");
  grace.nfs.servers[0].in_grace = true;
  says(only_one(grace), "is in its grace period");
  auto gone = vm_node("4.1", "ReadWriteMany");
  gone.nfs.servers[0].services = {service("nfs", false, "connection refused")};
  CHECK(only_one(gone).verdict == "no");
  says(only_one(gone), "nas.example.com does not answer (connection refused)");
  auto refused = vm_node("4.1", "ReadWriteMany");
  facts::NfsLockTest test;
  test.version = "4.2";
  test.result = "NFS4ERR_DENIED";
  refused.nfs.servers[0].lock_tests = std::vector<facts::NfsLockTest>{test};
  says(only_one(refused), "a lock of NFSv4.2 was refused (NFS4ERR_DENIED)");
}

TEST_CASE("live migration: mounts without a VM are not told, a volume is told once, rules see the verdict",
          "[migration]") {
  auto f = vm_node("4.2", "ReadWriteMany");
  add(f, f.nfs.mounts[0]);  // the global mount of the same volume
  add(f, mount("/data", f.nfs.clients[0].id));
  const audit::Context context(f);
  CHECK(audit::live_migrations(context).size() == 1);
  const auto* scope = audit::find_scope("nfs.mounts");
  const auto* fact = scope->find_derived("live_migration");
  REQUIRE(fact != nullptr);
  CHECK(fact->get(context, {scope, 0, 0}) == facts::Value(true));
  CHECK(fact->get(context, {scope, 2, 0}).is_absent());
  f.declared.pvs.clear();
  const audit::Context undeclared(f);
  CHECK(fact->get(undeclared, {scope, 0, 0}).is_unknown());
  const auto report = judge(f, shipped());
  REQUIRE(report.live_migration.size() == 1);
  CHECK(report.live_migration[0].verdict == "unknown");
}

TEST_CASE("server facts: a lease of four thousand million seconds gives a long pause, not a short one", "[derive]") {
  facts::Facts f = node();
  add(f, mount("/a", f.nfs.clients[0].id));
  f.nfs.servers[0].lease_s = 0xffffffffU;
  const audit::Context context(f);
  const auto* scope = audit::find_scope("nfs.mounts");
  for (const char* name : {"expected.pause_open_s", "expected.pause_lock_s"})
    CHECK(scope->find_derived(name)->get(context, {scope, 0, 0}).as_double() == 4294967310.0);
}

TEST_CASE("server facts: a name is looked up, and an address of another mount's name is plain", "[derive]") {
  facts::Facts f = node();
  add(f, mount("/a", f.nfs.clients[0].id));
  add(f, mount("/b", f.nfs.clients[0].id));
  f.nfs.mounts[1].server_name = "lif2.example.com";
  const auto* scope = audit::find_scope("nfs.mounts");
  const auto named = [&](std::uint32_t index) {
    const audit::Context context(f);
    return scope->find_derived("addr_is_named")->get(context, {scope, index, 0});
  };
  const auto look_up = [&](const std::string& name, const std::vector<std::string>& addrs) {
    facts::NetName one;
    one.name = name;
    one.addrs = addrs;
    if (!f.network.names.has_value()) f.network.names = std::vector<facts::NetName>{};
    f.network.names->push_back(one);
  };
  CHECK(named(0).is_unknown());  // nobody looked
  look_up("lif2.example.com", {"192.0.2.2"});
  CHECK(named(0).is_unknown());
  CHECK(named(1).is_unknown());  // perhaps it was 192.0.2.1 at the time of the mount
  look_up("nas.example.com", {"192.0.2.9", "192.0.2.1"});
  CHECK(named(0) == facts::Value(true));   // one of several
  CHECK(named(1) == facts::Value(false));  // the address in use is that of the other name
  f.nfs.mounts[0].server_name = "192.0.2.1";
  CHECK(named(0) == facts::Value(true));
  CHECK(named(1) == facts::Value(false));
  f.nfs.mounts[0].server_name = "192.0.2.7";
  CHECK(named(0) == facts::Value(false));
  CHECK(named(1).is_unknown());
}
