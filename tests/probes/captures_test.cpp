// Whole texts of a real kernel (samples/captures/README.md).
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "probes/host/mountinfo.h"
#include "probes/host/mountstats.h"
#include "probes/host/nfs_join.h"

using namespace probes;

namespace {

std::string capture(const std::string& name) {
  std::ifstream file(std::string(SOURCE_DIR) + "/samples/captures/" + name, std::ios::binary);
  INFO(name);
  REQUIRE(file.good());
  std::ostringstream out;
  out << file.rdbuf();
  return out.str();
}

// The part below "== PATH" up to the next heading.
std::string section(const std::string& text, const std::string& path) {
  const std::string heading = "\n== " + path + "\n";
  const auto at = text.find(heading);
  if (at == std::string::npos) return {};
  const auto from = at + heading.size();
  const auto next = text.find("\n== ", from - 1);
  return text.substr(from, next == std::string::npos ? next : next + 1 - from);
}

facts::Nfs nfs_of(const std::string& text) {
  const auto table = parse_mountinfo(section(text, "/proc/self/mountinfo"));
  const auto stats = parse_mountstats(section(text, "/proc/self/mountstats"));
  const auto joined = join_nfs(table.facts, stats.facts);
  CHECK(table.notes.empty());
  CHECK(stats.notes.empty());
  CHECK(joined.notes.empty());
  return joined.facts;
}

facts::Nfs nfs(const std::string& name) { return nfs_of(capture(name)); }

}  // namespace

TEST_CASE("captures: every text with NFS mounts parses without a note, and both tables agree") {
  std::size_t seen = 0;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(SOURCE_DIR) + "/samples/captures")) {
    const std::string text = capture(entry.path().filename().string());
    const auto table = section(text, "/proc/self/mountinfo");
    if (table.empty()) continue;
    INFO(entry.path().filename());
    ++seen;
    const auto joined = nfs_of(text);
    REQUIRE(joined.mounts.size() == 1);
    const auto& mount = joined.mounts[0];
    CHECK(mount.age_s.has_value());
    CHECK(mount.bytes.has_value());
    CHECK(mount.events->size() == 27);
    CHECK(mount.ops.size() >= 22);
    CHECK(mount.unknown_options.empty());
    CHECK(mount.same_as.is_absent());
    CHECK(mount.addr.has_value());
    CHECK(mount.vers.has_value());
    CHECK(mount.namlen.is(255));
    CHECK(mount.recovery.has_value());
    CHECK(mount.local_lock.has_value());
    CHECK(mount.sec.is("sys"));
    REQUIRE(joined.clients.size() == 1);
    CHECK(joined.clients[0].grouped_by == "address");
    CHECK(joined.clients[0].transport_count.is(mount.nconnect.value_or(1)));

    // The table of /proc/mounts says the same, but for the device number.
    const auto mounts = parse_mounts(section(text, "/proc/mounts"));
    CHECK(mounts.notes.empty());
    auto other = join_nfs(mounts.facts, parse_mountstats(section(text, "/proc/self/mountstats")).facts).facts;
    REQUIRE(other.mounts.size() == 1);
    CHECK(other.mounts[0].options_text.is_unknown() == mount.options_text.is_unknown());
    other.mounts[0].options_text = mount.options_text;  // the order of generic options differs
    other.mounts[0].bdi = mount.bdi;
    other.mounts[0].parent_export = mount.parent_export;
    CHECK(other == joined);

    // mountstats alone says the same of the options; only the address is not printed there.
    auto alone = join_nfs({}, parse_mountstats(section(text, "/proc/self/mountstats")).facts).facts.mounts.at(0);
    CHECK(alone.addr.is_unknown());
    alone.addr = mount.addr;
    alone.bdi = mount.bdi;
    alone.parent_export = mount.parent_export;
    alone.client_id = mount.client_id;
    alone.options_text = mount.options_text;
    CHECK(alone == mount);
  }
  CHECK(seen == 20);
}

TEST_CASE("captures: options of one mount each") {
  const auto first = [](const std::string& name) { return nfs(name).mounts.at(0); };
  const auto v3 = first("nfs-v3-default.txt");
  CHECK(v3.vers.is("3"));
  CHECK(v3.fs_type == "nfs");
  CHECK(v3.mount_proto.is("udp"));
  CHECK(v3.mount_vers.is("3"));
  CHECK(v3.export_path.is("/srv/exp"));
  CHECK(v3.bdi.is("0:33"));
  CHECK(v3.sessions.is_absent());
  CHECK(first("nfs-v3-nolock.txt").nolock.is(true));
  CHECK(first("nfs-v3-nolock.txt").local_lock.is("all"));
  const auto misc = first("nfs-v3-misc.txt");
  CHECK(misc.mount_proto.is("tcp"));
  CHECK(misc.nordirplus.is(true));
  CHECK(misc.local_lock.is("flock"));
  CHECK(misc.nocto.is(true));
  const auto soft = first("nfs-v3-soft.txt");
  CHECK(soft.recovery.is("soft"));
  CHECK(soft.timeo_ds.is(50));
  CHECK(soft.retrans.is(1));
  CHECK(first("nfs-v40-default.txt").vers.is("4.0"));
  CHECK(first("nfs-v40-default.txt").sessions.is(false));
  CHECK(first("nfs-v40-default.txt").lease_time_s.is(15));
  const auto v42 = first("nfs-v42-default.txt");
  CHECK(v42.vers.is("4.2"));
  CHECK(v42.sessions.is(true));
  CHECK(v42.pnfs.is("not configured"));
  CHECK(v42.impl_id.is_absent());
  CHECK(v42.lease_time_s.is(15));
  CHECK(v42.lease_expired_s.is(0));
  CHECK(v42.client_addr.is("10.9.0.2"));
  const auto small = first("nfs-v42-small-rwsize.txt");
  CHECK(small.rsize_bytes.is(4096));
  CHECK(small.wsize_bytes.is(8192));
  const auto softerr = first("nfs-v42-softerr.txt");
  CHECK(softerr.recovery.is("softerr"));
  CHECK(softerr.softreval.is(true));
  CHECK(first("nfs-v42-noresvport.txt").noresvport.is(true));
  CHECK(first("nfs-v42-fsc.txt").fsc.is(true));
  const auto noac = first("nfs-v42-ro-noac.txt");
  CHECK(noac.rw.is(false));
  CHECK(noac.noac.is(true));
  CHECK(noac.ac_reg_min_s.is(0));
  CHECK(noac.ac_dir_max_s.is(0));
  CHECK(noac.sync.is(true));
  const auto actimeo = first("nfs-v42-actimeo.txt");
  CHECK(actimeo.ac_reg_min_s.is(1));
  CHECK(actimeo.ac_dir_max_s.is(1));
  CHECK(actimeo.lookupcache.is("none"));
  CHECK(actimeo.nosharecache.is(true));
  CHECK(actimeo.sync.is(true));
  const auto acmax = first("nfs-v42-acmax.txt");
  CHECK(acmax.ac_reg_min_s.is(1));
  CHECK(acmax.ac_reg_max_s.is(10));
  CHECK(acmax.ac_dir_min_s.is(2));
  CHECK(acmax.ac_dir_max_s.is(20));
  CHECK(first("nfs-v42-subdir.txt").export_path.is("/sub"));
}

TEST_CASE("captures: connections") {
  const auto v3 = nfs("nfs-v3-nconnect8.txt").clients.at(0);
  CHECK(v3.id == "10.9.0.19:2049 3 tcp");
  REQUIRE(v3.transports.size() == 8);
  CHECK(v3.transports[0].src_port.is(706));
  CHECK(v3.transports[7].src_port.is(815));
  const auto v4 = nfs("nfs-v42-nconnect8.txt").clients.at(0);
  CHECK(v4.transport_count.is(8));
  CHECK(v4.nconnect.is(8));
  CHECK(std::all_of(v4.transports.begin(), v4.transports.end(), [](const auto& t) { return t.src_port.is(0); }));
  const auto trunk = nfs("nfs-v41-maxconnect.txt").clients.at(0);
  CHECK(trunk.max_connect.is(4));
  CHECK(trunk.nconnect.is(2));
  CHECK(trunk.transport_count.is(2));
  const auto ipv6 = nfs("nfs-v42-ipv6.txt");
  CHECK(ipv6.clients.at(0).id == "[fd09::1]:2049 4.2 tcp6");
  CHECK(ipv6.mounts.at(0).server_name.is("fd09::1"));
  CHECK(ipv6.servers.at(0).name == "fd09::1");
  const auto ignored = nfs("nfs-nconnect-ignored.txt").clients.at(0);
  CHECK(ignored.nconnect.is_absent());
  CHECK(ignored.transport_count.is(1));
}

TEST_CASE("captures: a node with a bind mount, an automatic submount and two versions") {
  const auto table = parse_mountinfo(capture("all-self-mountinfo.txt"));
  const auto stats = parse_mountstats(capture("all-self-mountstats.txt"));
  const auto mounts = parse_mounts(capture("all-mounts.txt"));
  CHECK(table.notes.empty());
  CHECK(stats.notes.empty());
  CHECK(mounts.notes.empty());
  const auto joined = join_nfs(table.facts, stats.facts);
  CHECK(joined.notes.empty());
  const auto& nfs = joined.facts;
  REQUIRE(nfs.mounts.size() == 5);
  const std::vector<std::string> targets{"/mnt/a", "/mnt/b", "/mnt/bind", "/mnt/a/sub", "/mnt/v3"};
  for (std::size_t i = 0; i < targets.size(); ++i) {
    CHECK(nfs.mounts[i].target == targets[i]);
    CHECK(nfs.mounts[i].age_s.has_value());
    CHECK(nfs.mounts[i].hidden_by.is_absent());
    CHECK(nfs.mounts[i].parent_export.is_absent());
    CHECK(nfs.mounts[i].same_as == (i == 2 ? facts::Fact<std::string>("/mnt/a") : facts::Fact<std::string>::absent()));
    CHECK(nfs.mounts[i].ops.empty() == (i == 2));
  }
  REQUIRE(nfs.clients.size() == 2);
  CHECK(nfs.clients[0].id == "10.9.0.40:2049 4.2 tcp");
  CHECK(nfs.clients[0].mounts.size() == 4);
  CHECK(nfs.clients[0].transport_count.is(1));
  CHECK(nfs.clients[1].id == "10.9.0.39:2049 3 tcp");
  CHECK(nfs.clients[1].transport_count.is(4));
  REQUIRE(nfs.servers.size() == 2);
  CHECK(nfs.servers[0].lease_s.is(15));

  // The texts tell the same super blocks without device numbers.
  const auto alone = join_nfs({}, stats.facts).facts;
  REQUIRE(alone.mounts.size() == 5);
  for (std::size_t i = 0; i < targets.size(); ++i) CHECK(alone.mounts[i].same_as == nfs.mounts[i].same_as);
}

TEST_CASE("captures: a userspace server on an odd port") {
  const std::string text = capture("ganesha-usernet.txt");
  const auto at = text.find("\n34 22 ");
  REQUIRE(at != std::string::npos);
  const auto line = text.substr(at + 1, text.find('\n', at + 1) - at);
  const auto client = join_nfs(parse_mountinfo(line).facts, {}).facts.clients.at(0);
  CHECK(client.id == "10.0.2.2:22049 4.2 tcp");
  CHECK(client.port == 22049);
  CHECK(client.transport_count.is(4));
}
