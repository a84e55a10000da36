// The facts that the cases of this directory state for mounts, mountinfo, mountstats, mount(8) text and fstab. What
// follows from them (averages, findings) is asserted with the rules.
#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <numeric>
#include <sstream>

#include "probes/host/address.h"
#include "probes/host/asked.h"
#include "probes/host/fstab.h"
#include "probes/host/mountinfo.h"
#include "probes/host/mountstats.h"
#include "probes/host/nfs_join.h"
#include "probes/host/nfs_options.h"

using namespace probes;

namespace {

std::string text(const std::string& name) {
  const std::string path = std::string(SOURCE_DIR) + "/tests/corpus/" + name;
  std::ifstream file(path, std::ios::binary);
  INFO(path);
  REQUIRE(file.good());
  std::ostringstream out;
  out << file.rdbuf();
  return out.str();
}

using Mounts = Parsed<std::vector<facts::Mount>>;
using Lines = std::vector<std::size_t>;
using Names = std::vector<std::string>;

Lines note_lines(const std::vector<Note>& notes) {
  Lines out;
  for (const auto& note : notes) out.push_back(note.line);
  return out;
}

facts::Nfs of(const Mounts& mounts) {
  CHECK(mounts.notes.empty());
  return join_nfs(mounts.facts, {}).facts;
}
facts::Nfs of_mounts(const std::string& name) { return of(parse_mounts(text(name))); }
facts::Nfs of_mountinfo(const std::string& name) { return of(parse_mountinfo(text(name))); }
facts::Nfs of_mount_l(const std::string& name) { return of(parse_mount_l(text(name))); }

facts::Nfs of_mountstats(const std::string& name) {
  auto parsed = parse_mountstats(text(name));
  CHECK(parsed.notes.empty());
  auto joined = join_nfs({}, std::move(parsed.facts));
  CHECK(joined.notes.empty());
  return joined.facts;
}

facts::Config fstab(const std::string& name) {
  auto parsed = parse_fstab(text(name));
  CHECK(parsed.notes.empty());
  facts::Config config;
  config.fstab = std::move(parsed.facts);
  return config;
}

const facts::NfsOp& op(const facts::NfsMount& mount, const std::string& name) {
  const auto at = std::find_if(mount.ops.begin(), mount.ops.end(), [&](const auto& o) { return o.op == name; });
  INFO(mount.target << " " << name);
  REQUIRE(at != mount.ops.end());
  return *at;
}

template <class Items, class Get>
std::uint64_t sum(const Items& items, Get get) {
  return std::accumulate(items.begin(), items.end(), std::uint64_t{0},
                         [&](std::uint64_t total, const auto& item) { return total + get(item); });
}

template <class Items>
Names targets(const Items& items) {
  Names out;
  for (const auto& item : items) out.push_back(item.target);
  return out;
}

Names kinds(const Mounts& mounts) {
  Names out;
  for (const auto& mount : mounts.facts) out.push_back(mount.kind);
  return out;
}

}  // namespace

TEST_CASE("corpus 001: octal escapes are decoded once, a removed mount point is known as such") {
  const auto nfs = of_mounts("001-mount-octal-escapes/input.mounts");
  REQUIRE(targets(nfs.mounts) == Names{"/mnt/server:_a b", "/mnt/server:_a\\040b", "/data-center/mnt/server:_path"});
  CHECK(nfs.mounts[0].export_path.is("/a b"));
  CHECK(nfs.mounts[1].export_path.is("/a\\040b"));
  CHECK(nfs.mounts[2].export_path.is("/path"));
  for (const auto& mount : nfs.mounts) {
    CHECK(mount.server_name.is("server.example.com"));
    CHECK(mount.vers.is("4.1"));
    CHECK(mount.recovery.is("soft"));
    CHECK(mount.target_deleted == (mount.target == "/data-center/mnt/server:_path"));
  }
}

TEST_CASE("corpus 003: one malformed line of six, no NFS") {
  const auto mounts = parse_mountinfo(text("003-mountinfo-ten-fields/input.mountinfo"), Keep::all);
  CHECK(note_lines(mounts.notes) == Lines{6});
  CHECK(kinds(mounts) == Names{"rpc_pipefs", "other", "other", "other", "network"});
  CHECK(mounts.facts[0].super_options_text.is("rw"));
  CHECK(mounts.facts[2].fs_type == "tmpfs");
  CHECK(mounts.facts[3].super_options_text.is("rw,size=405096k,mode=700,uid=113,gid=116"));
  CHECK(mounts.facts[4].target == "/with/a-hyphen");
  CHECK(join_nfs(mounts.facts, {}).facts.mounts.empty());
}

TEST_CASE("corpus 004: super options with blanks, names with every awkward character") {
  const auto mounts = parse_mountinfo(text("004-mountinfo-hostile-characters/input.mountinfo"), Keep::all);
  CHECK(mounts.notes.empty());
  REQUIRE(kinds(mounts) == Names{"other", "network", "other", "rpc_pipefs", "nfs-server"});
  CHECK(mounts.facts[0].target == "/mnt/foo bar");
  CHECK(mounts.facts[1].source == "//foo/BLA BLA BLA/");
  CHECK(mounts.facts[1].super_options_text->find("unc=\\\\foo\\BLA BLA BLA,username=***") != std::string::npos);
  CHECK(mounts.facts[1].super_options_text->ends_with("rsize=61440,wsize=65536,actimeo=1"));
  CHECK(mounts.facts[2].target == "/tmp/newline\ntab\tspace backslash\\quote1'quote2\"");
  CHECK(mounts.facts[2].root.is(mounts.facts[2].target));
  CHECK(mounts.facts[3].source == "sunrpc");
  CHECK(mounts.facts[4].source == "sunrpc");
  CHECK(join_nfs(mounts.facts, {}).facts.mounts.empty());
}

TEST_CASE("corpus 005: subdirectory binds go to their parent export, by whole components") {
  const auto nfs = of_mountinfo("005-nfs-bind-of-subdirectory/input.mountinfo");
  REQUIRE(nfs.mounts.size() == 6);
  const std::string pods = "/var/lib/kubelet/pods/";
  CHECK(nfs.mounts[0].same_as.is_absent());
  CHECK(nfs.mounts[1].parent_export.is("192.0.2.223:/srv/nfs"));
  CHECK(nfs.mounts[1].same_as.is("/media/nfs_vol"));
  CHECK(nfs.mounts[2].same_as.is_absent());
  CHECK(nfs.mounts[3].source == "192.0.2.223:/srv/nfs2");
  CHECK(nfs.mounts[3].same_as.is_absent());
  CHECK(nfs.mounts[3].parent_export.is_absent());
  CHECK(nfs.mounts[4].parent_export.is("192.0.2.223:/srv/nfs"));
  CHECK(nfs.mounts[4].same_as.is(pods + "43219158-e5e1-11e7-a392-0e858b8eaf40/volumes/kubernetes.io~nfs/nfs1"));
  CHECK(nfs.mounts[5].same_as.is_absent());
  CHECK(nfs.mounts[5].mount_proto.is("udp"));
  CHECK(nfs.mounts[5].proto.is("tcp"));
  CHECK(nfs.mounts[0].addr.is("192.0.2.223"));
  CHECK(nfs.mounts[0].client_addr.is("192.0.2.223"));
  CHECK(nfs.mounts[0].port.is_absent());
  REQUIRE(nfs.clients.size() == 2);
  CHECK(nfs.clients[0].mounts.size() == 5);
}

TEST_CASE("corpus 006: four entries of one super block count once") {
  const auto nfs = of_mountstats("006-same-export-many-mountpoints/input.mountstats");
  REQUIRE(nfs.mounts.size() == 4);
  CHECK(nfs.mounts[0].same_as.is_absent());
  for (std::size_t i = 1; i < 4; ++i) {
    CHECK(nfs.mounts[i].same_as.is("/var/opt/data-file01"));
    CHECK(nfs.mounts[i].ops.empty());
  }
  CHECK(op(nfs.mounts[0], "READ").ops == 31);
  CHECK(nfs.mounts[0].bytes->server_read == 8126464);
  REQUIRE(nfs.clients.size() == 1);
  CHECK(nfs.clients[0].mounts ==
        Names{"/var/opt/data-file01", "/var/opt/data-file02", "/var/opt/data-file03", "/var/opt/data-file04"});
  CHECK(nfs.clients[0].grouped_by == "source port");
  CHECK(nfs.clients[0].transports.at(0).src_port.is(851));
  CHECK(nfs.clients[0].transport_count.is(1));
}

TEST_CASE("corpus 008: three entries, two file systems") {
  const auto mounts = parse_mountinfo(text("008-same-source-dup-mountinfo/input.mountinfo"), Keep::all);
  CHECK(mounts.notes.empty());
  REQUIRE(mounts.facts.size() == 6);
  CHECK(mounts.facts[0].target == "/root");
  const auto nfs = join_nfs(mounts.facts, {}).facts;
  REQUIRE(nfs.mounts.size() == 3);
  CHECK(nfs.mounts[0].bdi.is("0:42"));
  CHECK(nfs.mounts[0].vers.is("4.0"));
  CHECK(nfs.mounts[0].proto.is("tcp"));
  CHECK(nfs.mounts[0].local_lock.is("none"));
  CHECK(nfs.mounts[0].client_addr.is("192.0.2.5"));
  CHECK(nfs.mounts[1].same_as.is("/mnt/nfs/test"));
  CHECK(nfs.mounts[1].hidden_by.is("/mnt/nfs/test-dupe"));
  CHECK(nfs.mounts[2].bdi.is("0:44"));
  CHECK(nfs.mounts[2].same_as.is_absent());
  CHECK(nfs.mounts[2].hidden_by.is_absent());
  CHECK(nfs.mounts[2].vers.is("3"));
  CHECK(nfs.mounts[2].proto.is("udp"));
  CHECK(nfs.mounts[2].rsize_bytes.is(32768));
  CHECK(nfs.mounts[2].timeo_ds.is(11));
  CHECK(nfs.mounts[2].retrans.is(3));
  CHECK(nfs.clients.size() == 2);
}

TEST_CASE("corpus 009: equal mount ids are two mounts") {
  const auto mounts = parse_mountinfo(text("009-host-prefix-bind/input.mountinfo"), Keep::all);
  CHECK(mounts.notes.empty());
  REQUIRE(targets(mounts.facts) ==
          Names{"/host", "/host/media/volume1", "/host/media/volume2", "/dev/shm", "/run/lock", "/sys/fs/cgroup"});
  CHECK(mounts.facts[2].mount_id.is(31));
  CHECK(mounts.facts[3].mount_id.is(31));
  for (const auto& mount : mounts.facts) CHECK(mount.hidden_by.is_absent());
  CHECK(join_nfs(mounts.facts, {}).facts.mounts.empty());
}

TEST_CASE("corpus 011: IPv6 servers") {
  const auto v3 = of_mount_l("011-ipv6-global-v3/input.mount-l.txt").mounts.at(0);
  CHECK(v3.server_name.is("2001:db8:c182:d2b6:83a5:ccac:2de3:2abf"));
  CHECK(v3.export_path.is("/datastore"));
  CHECK(v3.target == "/srv/www/watchlist/nfs");
  CHECK(same_address(*v3.addr, *v3.server_name));
  CHECK(same_address(*v3.mount_addr, *v3.server_name));
  CHECK(v3.vers.is("3"));
  CHECK(v3.proto.is("tcp6"));
  CHECK(v3.mount_proto.is("udp6"));
  CHECK(v3.mount_port.is(47960));
  const auto v4 = of_mounts("011-ipv6-global-v3/input.mounts").mounts.at(0);
  CHECK(v4.server_name.is("localhost"));
  CHECK(v4.addr.is("::1"));
  CHECK(v4.vers.is("4.2"));
  CHECK(is_loopback(*parse_address(*v4.addr)));
}

TEST_CASE("corpus 013: a link-local server with its zone") {
  const auto nfs = of_mounts("013-ipv6-scope-on-global-address/input.mounts");
  const auto& mount = nfs.mounts.at(0);
  CHECK(mount.server_name.is("fe80::5054:ff:fe69:d588"));
  CHECK(mount.zone.is("eth0"));
  CHECK(mount.addr.is("fe80::5054:ff:fe69:d588%2"));
  CHECK(same_address(*mount.server_name, *mount.addr));
  CHECK(mount.client_addr.is("fe80::5054:ff:fe12:3456%eth0"));
  CHECK(mount.client_id == "[fe80::5054:ff:fe69:d588%2]:2049 4.2 tcp6");
}

TEST_CASE("corpus 015: slashes do not make another export, a FUSE volume is no NFS") {
  const auto mounts = parse_mounts(text("015-fsid0-double-slash/input.mounts"));
  CHECK(kinds(mounts) == Names{"nfs", "nfs", "nfs", "fuse"});
  const auto nfs = of(mounts);
  REQUIRE(targets(nfs.mounts) == Names{"/mnt/server:_a_b", "/mnt/server:_a__b", "/mnt/server:_a_b__"});
  for (const auto& mount : nfs.mounts) {
    CHECK(mount.server_name.is("server.example.com"));
    CHECK(normal_export(*mount.export_path) == "/a/b");
    CHECK(same_source(mount.source, "server.example.com:/a/b"));
  }
  const auto config = fstab("015-fsid0-double-slash/input.fstab");
  CHECK(same_source(config.fstab->at(0).source, nfs.mounts[0].source));
  const auto asked = asked_for(nfs.mounts[0], config);
  REQUIRE(asked.has_value());
  CHECK(asked->vers.is_absent());
  CHECK(asked_for(nfs.mounts[1], config).is_unknown());
}

TEST_CASE("corpus 017: two ports of one address are two clients") {
  const auto nfs = of_mount_l("017-efs-two-tunnels-one-source/input.mount-l.txt");
  REQUIRE(nfs.mounts.size() == 2);
  CHECK(nfs.mounts[0].client_id == "127.0.0.1:20313 4.1 tcp");
  CHECK(nfs.mounts[1].client_id == "127.0.0.1:20236 4.1 tcp");
  CHECK(nfs.mounts[0].noresvport.is(true));
  CHECK(nfs.mounts[0].rsize_bytes.is(1048576));
  CHECK(nfs.servers.size() == 2);
}

TEST_CASE("corpus 018: the automount trigger is no second mount") {
  const auto mounts = parse_mountinfo(text("018-autofs-over-nfs-rdma/input.mountinfo"));
  CHECK(kinds(mounts) == Names{"autofs", "nfs"});
  CHECK(mounts.facts[0].hidden_by.is_absent());
  const auto nfs = of(mounts);
  const auto& mount = nfs.mounts.at(0);
  CHECK(mount.vers.is("4.2"));
  CHECK(mount.proto.is("rdma"));
  CHECK(mount.port.is(20049));
  CHECK(mount.nconnect.is(16));
  CHECK(mount.client_addr.is("0.0.0.0"));
  CHECK(mount.unknown_options == Names{"fatal_neterrors=none"});
  CHECK(nfs.clients.at(0).transport_count.is(16));
}

TEST_CASE("corpus 020: words that look like NFS") {
  const auto mounts = parse_mount_l(text("020-fake-nfs-words/input.mount-l.txt"), Keep::all);
  CHECK(note_lines(mounts.notes) == Lines{8});
  CHECK(kinds(mounts) == Names{"other", "nfs-server", "rpc_pipefs", "fuse", "other", "other", "other"});
  CHECK(mounts.facts[4].options_text.is("rw,noatime,seclabel,stripe=256,data=ordered"));
  CHECK(mounts.facts[5].target == "/run/media/root/VMware Tools");
  CHECK(mounts.facts[6].target == "/run/media/Disk on C type NFS");
  CHECK(mounts.facts[6].fs_type == "iso9660");
  CHECK(join_nfs(mounts.facts, {}).facts.mounts.empty());
}

TEST_CASE("corpus 021: security contexts with commas and colons") {
  const auto nfs = of_mounts("021-selinux-context-commas/input.mounts");
  REQUIRE(nfs.mounts.size() == 2);
  CHECK(nfs.mounts[0].vers.is("4.0"));
  CHECK(nfs.mounts[0].addr.is("::1"));
  CHECK(nfs.mounts[1].vers.is("4.2"));
  CHECK(nfs.mounts[1].rsize_bytes.is(262144));
  for (const auto& mount : nfs.mounts) CHECK(mount.unknown_options.empty());
}

TEST_CASE("corpus 022: sources without a server") {
  const auto mounts = parse_mounts(text("022-source-without-server/input.mounts"), Keep::all);
  CHECK(kinds(mounts) == Names{"other", "rpc_pipefs", "nfs", "nfs", "autofs", "other"});
  CHECK(mounts.facts[5].options_text.is("rw,relatime"));
  const auto nfs = of(mounts);
  REQUIRE(nfs.mounts.size() == 2);
  CHECK(nfs.mounts[0].server_name.is_unknown());
  CHECK(nfs.mounts[0].addr.is_unknown());
  CHECK(nfs.mounts[0].mount_addr.is_unknown());
  CHECK(nfs.mounts[1].server_name.is("192.0.2.33"));
  CHECK(nfs.mounts[1].export_path.is("/vol/vol9/home"));
  for (const auto& mount : nfs.mounts) {
    CHECK(mount.vers.is("3"));
    CHECK(mount.recovery.is("soft"));
    CHECK(mount.timeo_ds.is(14));
    CHECK(mount.retrans.is(2));
    CHECK(mount.proto.is("tcp"));
    CHECK(mount.rw.is(true));
    CHECK(mount.rsize_bytes.is(8192));
    CHECK(mount.wsize_bytes.is(8192));
  }
  REQUIRE(nfs.servers.size() == 1);
  CHECK(nfs.servers[0].name == "192.0.2.33");
}

TEST_CASE("corpus 023: short and odd fstab lines") {
  const auto parsed = parse_fstab(text("023-fstab-short-and-odd/input.fstab"));
  std::vector<facts::FstabEntry> nfs;
  std::copy_if(parsed.facts.begin(), parsed.facts.end(), std::back_inserter(nfs),
               [](const auto& entry) { return mount_kind(entry.fs_type) == "nfs"; });
  REQUIRE(nfs.size() == 3);
  CHECK(nfs[0].source == "192.0.2.65:/cellSiteData");
  CHECK(nfs[0].target == "/ceSiteData");
  CHECK(nfs[0].line == 7);
  CHECK(nfs[0].options_text.is_absent());
  const auto gateway = parse_asked_options(*nfs[1].options_text);
  CHECK(nfs[1].source == "localhost:/");
  CHECK(gateway.vers.is("3"));
  CHECK(gateway.nolock.is(true));
  const auto share = parse_asked_options(*nfs[2].options_text);
  CHECK(split_source(nfs[2].source).server == "nfs_hostname.example.com");
  CHECK(share.vers.is("3"));
  CHECK(share.proto.is("tcp"));
  CHECK(share.read_only.is(true));
  CHECK(share.recovery.is("hard"));
  CHECK(share.rsize_bytes.is(32768));
  CHECK(share.wsize_bytes.is(32768));
  CHECK(nfs[2].dump.is(0));
  CHECK(nfs[2].pass.is(0));  // the line has five fields
  const auto decoded =
      std::find_if(parsed.facts.begin(), parsed.facts.end(), [](const auto& e) { return e.line == 12; });
  REQUIRE(decoded != parsed.facts.end());
  CHECK(decoded->target == "/l ok/at");
}

TEST_CASE("corpus 026: exports whose names differ at the end are not the same") {
  const auto nfs = of_mounts("026-two-exports-prefix/input.mounts");
  REQUIRE(targets(nfs.mounts) == Names{"/srv/A", "/srv/B"});
  CHECK(same_source(nfs.mounts[0].source, "nfs.internal.example.com:/data/A"));
  CHECK_FALSE(same_source(nfs.mounts[1].source, "nfs.internal.example.com:/data/B"));
  const auto config = fstab("026-two-exports-prefix/input.fstab");
  REQUIRE(config.fstab->size() == 2);
  CHECK(config.fstab->at(1).source == "nfs.internal.example.com:/data/B");
  CHECK(config.fstab->at(1).target == "/srv/B");
  CHECK(asked_for(nfs.mounts[0], config)->same_source.is(true));
  CHECK(asked_for(nfs.mounts[1], config)->same_source.is(false));
}

TEST_CASE("corpus 027: UDP, no locks, short attribute cache, fsc at the end") {
  const auto mount = of_mounts("027-udp-nolock-fsc/input.mounts").mounts.at(0);
  CHECK(mount.vers.is("3"));
  CHECK(mount.proto.is("udp"));
  CHECK(mount.rsize_bytes.is(8192));
  CHECK(mount.wsize_bytes.is(8192));
  CHECK(mount.timeo_ds.is(11));
  CHECK(mount.nolock.is(true));
  CHECK(mount.local_lock.is("all"));
  CHECK(mount.ac_reg_min_s.is(2));
  CHECK(mount.ac_reg_max_s.is(2));
  CHECK(mount.ac_dir_min_s.is(2));
  CHECK(mount.ac_dir_max_s.is(2));
  CHECK(mount.fsc.is(true));
}

TEST_CASE("corpus 029: sixteen connections of one mount") {
  const auto parsed = parse_mountstats(text("029-mountstats-nconnect16/input.mountstats"));
  CHECK(parsed.notes.empty());
  CHECK(parsed.facts.at(0).fsc.is({0, 10262935, 10233641, 0, 622}));
  const auto nfs = join_nfs({}, parsed.facts).facts;
  REQUIRE(nfs.clients.size() == 1);
  const auto& client = nfs.clients[0];
  CHECK(client.id == "192.0.2.3:2049 3 tcp");
  CHECK(client.nconnect.is(16));
  CHECK(client.transport_count.is(16));
  CHECK(sum(client.transports, [](const auto& t) { return t.sends; }) == 45083);
  CHECK(sum(client.transports, [](const auto& t) { return t.recvs; }) == 44955);
  CHECK(sum(client.transports, [](const auto& t) { return t.sends - t.recvs; }) == 128);
  CHECK(sum(client.transports, [](const auto& t) { return t.bad_xids; }) == 0);
  for (const auto& transport : client.transports) CHECK(transport.connect_count.is(2));
  CHECK(sum(client.transports, [](const auto& t) { return *t.max_slots; }) == 160);
  const auto& mount = nfs.mounts.at(0);
  CHECK(mount.age_s.is(186));
  CHECK(mount.fsc.is(true));
  CHECK(mount.nocto.is(true));
  CHECK(mount.bytes->normal_read == 49163927552);
  CHECK(mount.bytes->server_read == 41916993536);
}

TEST_CASE("corpus 030: the ten numbers of UDP") {
  const auto nfs = of_mountstats("030-mountstats-udp-xprt/input.mountstats");
  const auto& xprt = nfs.clients.at(0).transports.at(0);
  CHECK(xprt.proto == "udp");
  CHECK(xprt.src_port.is(740));
  CHECK(xprt.bind_count.is(1));
  CHECK(xprt.sends == 881477);
  CHECK(xprt.recvs == 875055);
  CHECK(xprt.bad_xids == 5946);
  CHECK(xprt.req_u == 2888414103);
  CHECK(xprt.bklog_u == 286261);
  CHECK(xprt.max_slots.is(16));
  CHECK(xprt.sending_u.is(258752));
  CHECK(xprt.pending_u.is(2080886));
  CHECK(xprt.connect_count.is_absent());
  CHECK(xprt.connect_time_s.is_absent());
  CHECK(xprt.idle_s.is_absent());
  CHECK(xprt.sends - xprt.recvs == 6422);
  CHECK(nfs.mounts.at(0).vers.is("3"));
  CHECK(nfs.mounts.at(0).proto.is("udp"));
}

TEST_CASE("corpus 031: nine numbers for an operation although statvers says 1.1") {
  const auto nfs = of_mountstats("031-mountstats-nine-column-ops/input.mountstats");
  const auto& mount = nfs.mounts.at(0);
  CHECK(op(mount, "LOOKUP").ops == 2);
  CHECK(op(mount, "LOOKUP").errors.is(2));
  CHECK(op(mount, "READ").errors.is(0));
  CHECK(nfs.clients.at(0).transports.at(0).src_port.is(0));
  CHECK(nfs.clients.at(0).transport_count.is(1));
}

TEST_CASE("corpus 033: RDMA columns, two of sixteen transports in the excerpt") {
  const auto nfs = of_mountstats("033-mountstats-rdma-nconnect/input.mountstats");
  const auto& client = nfs.clients.at(0);
  CHECK(client.id == "nfs5.example.com:20049 3 rdma");
  CHECK(client.nconnect.is(16));
  CHECK(client.transport_count.is(2));
  REQUIRE(client.transports.size() == 2);
  CHECK(client.transports[0].connect_count.is(5808));
  CHECK(client.transports[1].connect_count.is(14094));
  CHECK(client.transports[0].bad_xids == 36);
  CHECK(client.transports[1].bad_xids == 27);
  CHECK(client.transports[0].bklog_u == 1282789);
  CHECK(client.transports[0].max_slots.is_absent());
  for (const auto& transport : client.transports) REQUIRE(transport.rdma.size() == 17);
  // Failed marshals: number 19 of the line; ten stand before those of RDMA.
  CHECK(client.transports[0].rdma[8] == 7853);
  CHECK(client.transports[1].rdma[8] == 7610);
  const auto& mount = nfs.mounts.at(0);
  CHECK(mount.rw.is(false));
  CHECK(mount.age_s.is(1270876));
  CHECK(mount.bytes->normal_read == 3104202770327296);
  CHECK(mount.bytes->read_pages == 491504202537);
  CHECK(mount.ac_reg_min_s.is(120));
  CHECK(mount.ac_dir_max_s.is(120));
  CHECK(mount.nocto.is(true));
  CHECK(mount.nordirplus.is(false));
  CHECK(mount.unknown_options.empty());
}

TEST_CASE("corpus 034: ten RDMA mounts, three of them stacked") {
  const auto nfs = of_mountstats("034-mountstats-rdma-cluster/input.mountstats");
  REQUIRE(nfs.mounts.size() == 10);
  Names hidden;
  for (const auto& mount : nfs.mounts) {
    if (mount.hidden_by.has_value()) hidden.push_back(mount.source + " " + mount.mount_addr.value_or(""));
    CHECK(mount.nconnect.is(8));
    CHECK(mount.rsize_bytes.is(65536));
    CHECK(mount.local_lock.is("all"));
    CHECK(mount.nolock.is(false));
    CHECK(mount.same_as.is_absent());
    CHECK(mount.age_s.has_value());
  }
  CHECK(hidden == Names{"nas.example.com:/proj-prod 198.51.100.30", "nas.example.com:/proj-test 198.51.100.24",
                        "nas.example.com:/proj 198.51.100.25"});
  REQUIRE(nfs.clients.size() == 10);
  Names ids;
  for (const auto& client : nfs.clients) {
    ids.push_back(client.id);
    CHECK(client.transport_count.is(8));
    CHECK(client.grouped_by == "transport lines");
    CHECK(client.mounts.size() == 1);
  }
  std::sort(ids.begin(), ids.end());
  CHECK(std::adjacent_find(ids.begin(), ids.end()) == ids.end());

  const auto& group = nfs.mounts[3];
  CHECK(group.target == "/storage/group");
  CHECK(op(group, "READ").ops == 36019499);
  CHECK(op(group, "READ").rtt_ms == 26116356);
  CHECK(op(group, "WRITE").ops == 3304938);
  CHECK(op(group, "WRITE").queue_ms == 1195907908);
  CHECK(op(group, "WRITE").rtt_ms == 50317800);
  CHECK(op(group, "WRITE").execute_ms == 1246575394);
  for (const auto& mount : nfs.mounts) {
    for (const auto& o : mount.ops) CHECK(o.ops >= o.trans);
  }
  const auto sends = sum(nfs.clients[3].transports, [](const auto& t) { return t.sends; });
  const auto backlog = sum(nfs.clients[3].transports, [](const auto& t) { return t.bklog_u; });
  CHECK(backlog / sends == 48);  // 48.9
  CHECK(std::count_if(nfs.clients[1].transports.begin(), nfs.clients[1].transports.end(),
                      [](const auto& t) { return t.connect_count.is(0); }) == 6);
}

TEST_CASE("corpus 035: one connection shared by two mounts, two minor versions on another server") {
  const auto nfs = of_mountstats("035-mountstats-shared-transport/input.mountstats");
  REQUIRE(targets(nfs.mounts) == Names{"/ifs", "/mnt/nfsv4", "/ifsfoo", "/mnt/nfs41"});
  REQUIRE(nfs.clients.size() == 3);
  CHECK(nfs.clients[0].mounts == Names{"/ifs", "/ifsfoo"});
  CHECK(nfs.clients[0].id == "nas1.example.com:2049 3 tcp");
  REQUIRE(nfs.clients[0].transports.size() == 1);
  CHECK(nfs.clients[0].transports[0].src_port.is(789));
  CHECK(nfs.clients[0].transports[0].connect_count.is(193));
  CHECK(nfs.clients[0].transports[0].sends == 71411);
  CHECK(nfs.clients[0].transports[0].pending_u.is(108644));
  CHECK(nfs.clients[0].transports[0].max_slots.is(73));
  CHECK(nfs.mounts[2].same_as.is_absent());
  CHECK(nfs.mounts[1].vers.is("4.0"));
  CHECK(nfs.mounts[3].vers.is("4.1"));
  CHECK(nfs.mounts[1].age_s.is(19));
  CHECK(nfs.mounts[3].pnfs.is("not configured"));
  CHECK(nfs.mounts[0].rsize_bytes.is(32768));
  CHECK(op(nfs.mounts[0], "READ").ops == 450);
  CHECK(op(nfs.mounts[0], "READ").execute_ms == 2658);
  CHECK(op(nfs.mounts[0], "WRITE").ops == 9523);
  CHECK(op(nfs.mounts[0], "WRITE").queue_ms == 3423263);
  CHECK(op(nfs.mounts[0], "WRITE").rtt_ms == 57150);
  CHECK(op(nfs.mounts[0], "WRITE").execute_ms == 3480542);
  for (const std::size_t v4 : {1U, 2U}) {
    const auto& xprt = nfs.clients[v4].transports.at(0);
    CHECK(xprt.sends - xprt.recvs == 1);
  }
  CHECK(nfs.servers.size() == 2);
}

TEST_CASE("corpus 037: a queue time below zero stays raw") {
  const auto nfs = of_mountstats("037-mountstats-queue-time-wrap/input.mountstats");
  const auto& mount = nfs.mounts.at(0);
  CHECK(mount.sec.is("krb5p"));
  CHECK(mount.rsize_bytes.is(131072));
  CHECK(mount.wsize_bytes.is(131072));
  CHECK(mount.pnfs.is("not configured"));
  const auto& access = op(mount, "ACCESS");
  CHECK(access.ops == 69477);
  CHECK(access.trans == 69476);
  CHECK(access.queue_ms == 18446744073706749450U);
  CHECK(static_cast<std::int64_t>(access.queue_ms) == -2802166);
  CHECK(access.rtt_ms == 105209);
  CHECK(access.execute_ms == 116052);
  CHECK(op(mount, "WRITE").queue_ms == 67493582);
  CHECK(op(mount, "COMMIT").rtt_ms == 121957);
  CHECK(op(mount, "SEEK").execute_ms == 8);
  CHECK(op(mount, "DEALLOCATE").ops == 10);
  const auto entries = parse_mountstats(text("037-mountstats-queue-time-wrap/input.mountstats")).facts;
  CHECK(entries.at(0).pseudoflavor.is(390005));
}

TEST_CASE("corpus 039: a paste with blanks, two exports of one super block") {
  const auto nfs = of_mountstats("039-mountstats-slow-commit/input.mountstats");
  REQUIRE(nfs.mounts.size() == 2);
  CHECK(nfs.mounts[1].same_as.is("/nfs-mount"));
  CHECK(nfs.mounts[1].ops.empty());
  const auto& mount = nfs.mounts[0];
  CHECK(mount.same_as.is_absent());
  CHECK(mount.lease_time_s.is(90));
  CHECK(mount.lease_expired_s.is(0));
  CHECK(mount.bytes->direct_write == 12884901888);
  CHECK(op(mount, "COMMIT").ops == 12);
  CHECK(op(mount, "COMMIT").rtt_ms == 180398);
  CHECK(op(mount, "WRITE").ops == 12288);
  CHECK(op(mount, "WRITE").queue_ms == 49846208);
  CHECK(op(mount, "WRITE").rtt_ms == 329955);
  CHECK(op(mount, "WRITE").execute_ms == 50176306);
  CHECK(op(mount, "READ").ops == 15);
  REQUIRE(nfs.clients.size() == 1);
  CHECK(nfs.clients[0].mounts.size() == 2);
  CHECK(nfs.servers.at(0).lease_s.is(90));
}

TEST_CASE("corpus 040: four versions, four transports") {
  const auto nfs = of_mountstats("040-mountstats-four-versions/input.mountstats");
  REQUIRE(nfs.mounts.size() == 4);
  const Names versions{"4.2", "4.1", "4.0", "3"};
  const std::vector<std::uint32_t> sizes{524288, 524288, 262144, 131072};
  const std::vector<std::uint64_t> ages{57, 54, 53, 53};
  for (std::size_t i = 0; i < 4; ++i) {
    const auto& mount = nfs.mounts[i];
    CHECK(mount.vers.is(versions[i]));
    CHECK(mount.rsize_bytes.is(sizes[i]));
    CHECK(mount.age_s.is(ages[i]));
    CHECK(op(mount, "NULL").ops == 1);
    CHECK(op(mount, "NULL").trans == 2);
    CHECK(mount.same_as.is_absent());
  }
  CHECK(op(nfs.mounts[0], "EXCHANGE_ID").execute_ms == 1155);
  CHECK(op(nfs.mounts[0], "EXCHANGE_ID").rtt_ms == 1);
  CHECK(op(nfs.mounts[2], "SETCLIENTID").execute_ms == 579);
  CHECK(nfs.clients.size() == 4);
  CHECK(nfs.servers.size() == 4);
}

TEST_CASE("corpus 042: trailing blanks are no part of anything") {
  const auto parsed = parse_mountstats(text("042-mountstats-trailing-blanks-krb5/input.mountstats"));
  CHECK(parsed.notes.empty());
  CHECK(parsed.facts.at(0).fs_type == "nfs4");
  CHECK(parsed.facts.at(0).statvers.is("1.1"));
  const auto nfs = join_nfs({}, parsed.facts).facts;
  const auto& mount = nfs.mounts.at(0);
  CHECK(mount.sec.is("krb5"));
  CHECK(mount.vers.is("4.1"));
  CHECK(mount.local_lock.is("none"));
  CHECK(mount.pnfs.is("not configured"));
  CHECK(mount.rsize_bytes.is(131072));
  const auto& read = op(mount, "READ");
  CHECK(read.ops == 1);
  CHECK(read.trans == 2);
  CHECK(read.timeouts == 3);
  CHECK(read.rtt_ms == 7);
  CHECK(read.execute_ms == 8);
}

TEST_CASE("corpus 045: two samples of one mount, without indentation") {
  const auto before = of_mountstats("045-mountstats-two-samples/input.before.mountstats").mounts.at(0);
  const auto after = of_mountstats("045-mountstats-two-samples/input.after.mountstats").mounts.at(0);
  CHECK(before.target == after.target);
  const auto delta = [&](const std::string& name, auto member) {
    return op(after, name).*member - op(before, name).*member;
  };
  CHECK(delta("READ", &facts::NfsOp::ops) == 200);
  CHECK(delta("GETATTR", &facts::NfsOp::ops) == 100);
  CHECK(delta("READ", &facts::NfsOp::trans) == 204);
  CHECK(delta("GETATTR", &facts::NfsOp::trans) == 101);
  CHECK(delta("READ", &facts::NfsOp::rtt_ms) == 15000);
  CHECK(delta("READ", &facts::NfsOp::execute_ms) == 20000);
  CHECK(delta("GETATTR", &facts::NfsOp::rtt_ms) == 2000);
  CHECK(delta("GETATTR", &facts::NfsOp::execute_ms) == 3000);
  CHECK(after.bytes->normal_read - before.bytes->normal_read == 8000);
  CHECK(after.bytes->normal_write - before.bytes->normal_write == 4000);
}

TEST_CASE("corpus 047: no NFS mount is an answer") {
  const auto nfs = of_mountstats("047-mountstats-none/input.mountstats");
  CHECK(nfs.mounts.empty());
  CHECK(nfs.clients.empty());
  CHECK(nfs.servers.empty());
}

TEST_CASE("corpus 048: the first mount fixed the connections of its client") {
  const auto nfs = of_mounts("048-nconnect-first-mount-wins/input.mounts");
  REQUIRE(nfs.clients.size() == 2);
  CHECK(nfs.clients[0].mounts == Names{"/home", "/data"});
  CHECK(nfs.clients[0].nconnect.is_absent());
  CHECK(nfs.clients[0].transport_count.is(1));
  CHECK(nfs.clients[1].mounts == Names{"/old"});
  CHECK(nfs.clients[1].nconnect.is(4));
  CHECK(nfs.clients[1].transport_count.is(4));
  const auto config = fstab("048-nconnect-first-mount-wins/input.fstab");
  CHECK(asked_for(nfs.mounts[0], config)->nconnect.is_absent());
  CHECK(asked_for(nfs.mounts[1], config)->nconnect.is(8));
  CHECK(asked_for(nfs.mounts[2], config)->nconnect.is(4));
}

TEST_CASE("corpus 050, 055, 059, 065: single mounts as the kernel prints them") {
  const auto hpc = of_mounts("050-nconnect-stuck-connection/input.mounts");
  CHECK(hpc.clients.at(0).id == "192.0.2.21:2049 4.1 tcp");
  CHECK(hpc.clients.at(0).transport_count.is(16));
  CHECK(same_address("::ffff:192.0.2.21", *hpc.mounts.at(0).addr));
  const auto backup = of_mounts("055-hard-timeo-no-effect/input.mounts").mounts.at(0);
  CHECK(backup.recovery.is("hard"));
  CHECK(backup.timeo_ds.is(600));
  CHECK(backup.rsize_bytes.is(65536));
  const auto flock = of_mounts("059-flock-hang-no-nlm/input.mounts").mounts.at(0);
  CHECK(flock.vers.is("3"));
  CHECK(flock.local_lock.is("none"));
  CHECK(flock.nolock.is(false));
  const auto home = of_mounts("065-grace-90s-restart/input.mounts").mounts.at(0);
  CHECK(home.vers.is("4.1"));
  CHECK(home.recovery.is("hard"));
  CHECK(home.rsize_bytes.is(1048576));
}

TEST_CASE("corpus 053: a soft datastore without directory caching") {
  const auto mount = of_mounts("053-soft-vm-datastore/input.mounts").mounts.at(0);
  CHECK(mount.recovery.is("soft"));
  CHECK(mount.rw.is(true));
  CHECK(mount.timeo_ds.is(100));
  CHECK(mount.retrans.is(3));
  CHECK(mount.ac_dir_min_s.is(0));
  CHECK(mount.ac_dir_max_s.is(0));
  CHECK(mount.ac_reg_min_s.is(3));
  CHECK(mount.ac_reg_max_s.is(60));
}

TEST_CASE("corpus 058: a subpath bind whose parent is gone") {
  const auto nfs = of_mountinfo("058-kubelet-hang-hard/input.mountinfo");
  const auto& mount = nfs.mounts.at(0);
  CHECK(mount.vers.is("4.2"));
  CHECK(mount.recovery.is("hard"));
  CHECK(mount.server_name.is("192.0.2.5"));
  CHECK(mount.parent_export.is_absent());
  CHECK(mount.same_as.is_absent());
}

TEST_CASE("corpus 066: two hosts with different locks on one export") {
  const auto source = of_mounts("066-migration-lock-nfs/input.src.mounts").mounts.at(0);
  const auto target = of_mounts("066-migration-lock-nfs/input.dst.mounts").mounts.at(0);
  CHECK(same_source(source.source, target.source));
  CHECK(source.local_lock.is("none"));
  CHECK(source.nolock.is(false));
  CHECK(target.local_lock.is("all"));
  CHECK(target.nolock.is(true));
  CHECK(source.vers.is("3"));
  CHECK(source.rsize_bytes.is(65536));
}

TEST_CASE("corpus 067: a line without its closing parenthesis") {
  const auto nfs = of_mount_l("067-rsize-1024-server/input.mount-l.txt");
  const auto& mount = nfs.mounts.at(0);
  CHECK(mount.rsize_bytes.is(1024));
  CHECK(mount.wsize_bytes.is(1024));
  CHECK(mount.port.is(2050));
  CHECK(mount.addr.is("192.0.2.31"));
  CHECK(nfs.servers.at(0).port == 2050);
}

TEST_CASE("corpus 069: the root on NFS") {
  const auto mount = of_mounts("069-nfsroot-4k/input.mounts").mounts.at(0);
  CHECK(mount.target == "/");
  CHECK(mount.vers.is("3"));
  CHECK(mount.rsize_bytes.is(4096));
  CHECK(mount.wsize_bytes.is(4096));
  CHECK(mount.nolock.is(true));
  CHECK(mount.mount_addr.is_absent());
  CHECK(mount.mount_port.is_absent());
  CHECK(mount.hidden_by.is_absent());
}

TEST_CASE("corpus 070 and 071: sizes and time-outs as in effect") {
  const auto home = of_mounts("070-rsize-32k-deliberate/input.mounts").mounts.at(0);
  CHECK(home.rsize_bytes.is(32768));
  CHECK(home.timeo_ds.is(7));
  const auto nfs = of_mounts("071-rsize-above-1m/input.mounts");
  REQUIRE(nfs.mounts.size() == 2);
  CHECK(nfs.mounts[0].rsize_bytes.is(1048576));
  CHECK(nfs.mounts[1].rsize_bytes.is(98304));
  CHECK(nfs.mounts[1].wsize_bytes.is(1048576));
  const auto config = fstab("071-rsize-above-1m/input.fstab");
  CHECK(asked_for(nfs.mounts[0], config)->rsize_bytes.is(4194304));
  CHECK(asked_for(nfs.mounts[0], config)->wsize_bytes.is(4194304));
  CHECK(asked_for(nfs.mounts[1], config)->rsize_bytes.is(100000));
  CHECK(asked_for(nfs.mounts[1], config)->wsize_bytes.is(5000000));
}

TEST_CASE("corpus 121: mounts of block devices are no business of NFS") {
  const auto mounts = parse_mounts(text("121-kubelet-single-path-mounted/input.mounts"), Keep::all);
  CHECK(mounts.notes.empty());
  REQUIRE(mounts.facts.size() == 2);
  CHECK(mounts.facts[0].source == "/dev/sdd");
  CHECK(mounts.facts[0].target.ends_with("/192.0.2.11:3260-iqn.2001-04.com.example:sn.1-lun-5"));
  CHECK(mounts.facts[1].source == "/dev/mapper/3600a098c82fac5eff556b77047a0776e");
  CHECK(parse_mounts(text("121-kubelet-single-path-mounted/input.mounts")).facts.empty());
}

TEST_CASE("corpus 123: operations without a heading, statistics without a mount") {
  const auto nfs = of_mountstats("123-pnfs-scsi-working/input.mountstats");
  const auto& mount = nfs.mounts.at(0);
  CHECK(mount.pnfs.is("LAYOUT_SCSI"));
  CHECK(mount.sessions.is(true));
  CHECK(op(mount, "READ").ops == 0);
  CHECK(op(mount, "LAYOUTGET").ops == 49);
  CHECK(op(mount, "LAYOUTGET").rtt_ms == 19448);
  CHECK(op(mount, "LAYOUTCOMMIT").ops == 28);
  CHECK(op(mount, "LAYOUTCOMMIT").rtt_ms == 24719);
  CHECK(nfs.clients.at(0).transport_count.is_unknown());

  const auto old = parse_mountstats(text("123-pnfs-scsi-working/input.old.mountstats"));
  CHECK(note_lines(old.notes) == Lines{1});
  REQUIRE(old.facts.size() == 1);
  CHECK_FALSE(old.facts[0].named);
  CHECK(old.facts[0].pnfs.is("LAYOUT_BLOCK_VOLUME"));
  CHECK(old.facts[0].ops.at(0).op == "PNFS_LAYOUTGET");
  CHECK(old.facts[0].ops.at(0).ops == 2561);
  CHECK(old.facts[0].ops.at(1).ops == 0);
  CHECK(join_nfs({}, old.facts).facts.mounts.empty());
}

TEST_CASE("corpus 125: one kernel NFS mount among its look-alikes") {
  const auto mounts = parse_mounts(text("125-network-fs-lookalikes/input.mounts"));
  CHECK(mounts.notes.empty());
  CHECK(kinds(mounts) ==
        Names{"fuse", "fuse", "network", "network", "fuse", "network", "nfs-server", "rpc_pipefs", "nfs"});
  const auto nfs = of(mounts);
  CHECK(targets(nfs.mounts) == Names{"/mnt/nfs4"});
  CHECK(nfs.clients.at(0).mounts == Names{"/mnt/nfs4"});
}
