#include "probes/host/nfs_join.h"

#include <catch2/catch.hpp>
#include <ctime>

#include "probes/host/mountinfo.h"

using namespace probes;

namespace {

facts::Nfs join(std::string_view mountinfo, std::string_view mountstats = {}) {
  return join_nfs(parse_mountinfo(mountinfo).facts, parse_mountstats(mountstats).facts).facts;
}

std::string line(int id, const std::string& device, const std::string& target, const std::string& source,
                 const std::string& options) {
  return std::to_string(id) + " 1 " + device + " / " + target + " rw - nfs4 " + source + " rw," + options + "\n";
}

std::string block(const std::string& source, const std::string& target, const std::string& lines) {
  return "device " + source + " mounted on " + target + " with fstype nfs4 statvers=1.1\n" + lines;
}

const std::string tcp42 = "vers=4.2,proto=tcp,sec=sys,addr=192.0.2.1";

}  // namespace

TEST_CASE("nfs join: mounts take the statistics of their mount point and source, stacked ones in order") {
  const auto nfs =
      join(line(1, "0:1", "/a", "s:/a", tcp42) + line(2, "0:2", "/b", "s:/b", tcp42) +
               line(3, "0:3", "/a", "s:/a", tcp42 + ",nosharecache"),
           block("s:/b", "/b", "age: 2\n") + block("s:/a", "/a", "age: 1\n") + block("s:/a", "/a", "age: 3\n"));
  REQUIRE(nfs.mounts.size() == 3);
  CHECK(nfs.mounts[0].age_s.is(1));
  CHECK(nfs.mounts[1].age_s.is(2));
  CHECK(nfs.mounts[2].age_s.is(3));
  CHECK(nfs.mounts[0].hidden_by.is("/a"));
  CHECK(nfs.mounts[2].hidden_by.is_absent());
}

TEST_CASE("nfs join: statistics of a mount that the table does not list are named") {
  const auto parsed =
      join_nfs(parse_mountinfo(line(1, "0:1", "/a", "s:/a", tcp42)).facts,
               parse_mountstats(block("s:/a", "/a", "age: 1\n") + block("s:/z", "/z", "age: 3\n")).facts);
  CHECK(parsed.facts.mounts.size() == 1);
  REQUIRE(parsed.notes.size() == 1);
  CHECK(parsed.notes[0].line == 3);
  CHECK(parsed.notes[0].reason.find("/z") != std::string::npos);
}

TEST_CASE("nfs join: one super block is counted once, and a prefix of a name is no directory") {
  const auto nfs = join(line(1, "0:5", "/sub", "s:/srv/nfs/foo", tcp42) + line(2, "0:5", "/nfs", "s:/srv/nfs", tcp42) +
                        line(3, "0:5", "/nfs2", "s:/srv/nfs2", tcp42) + line(4, "0:5", "/again", "s:/srv/nfs/", tcp42) +
                        line(5, "0:6", "/other", "s:/srv/nfs/foo", tcp42));
  REQUIRE(nfs.mounts.size() == 5);
  CHECK(nfs.mounts[0].parent_export.is("s:/srv/nfs"));
  CHECK(nfs.mounts[0].same_as.is("/nfs"));
  CHECK(nfs.mounts[1].same_as.is_absent());
  CHECK(nfs.mounts[1].parent_export.is_absent());
  CHECK(nfs.mounts[2].same_as.is_absent());
  CHECK(nfs.mounts[2].parent_export.is_absent());
  CHECK(nfs.mounts[3].same_as.is("/nfs"));
  CHECK(nfs.mounts[3].parent_export.is_absent());
  CHECK(nfs.mounts[4].same_as.is_absent());
}

TEST_CASE("nfs join: the pseudo root carries what is bound from below it") {
  const auto nfs = join(line(1, "0:5", "/root", "s:/", tcp42) + line(2, "0:5", "/dir", "s:/dir", tcp42));
  CHECK(nfs.mounts[1].parent_export.is("s:/"));
  CHECK(nfs.mounts[1].same_as.is("/root"));
}

TEST_CASE("nfs join: two exports on one device are one super block when their age says so") {
  const std::string table = line(1, "0:5", "/a", "s:/a", tcp42) + line(2, "0:5", "/b", "s:/b", tcp42) +
                            line(3, "0:5", "/b/c", "s:/b/c", tcp42);
  const std::string op = "READ: 5 5 0 1 1 1 1 1 0\n";
  const auto same = join(table, block("s:/a", "/a", "age: 100\n" + op) + block("s:/b", "/b", "age: 101\n" + op) +
                                    block("s:/b/c", "/b/c", "age: 101\n" + op));
  CHECK(same.mounts[1].same_as.is("/a"));
  CHECK(same.mounts[1].ops.empty());
  CHECK(same.mounts[2].same_as.is("/a"));
  CHECK(same.mounts[2].parent_export.is("s:/b"));
  CHECK(same.mounts[0].ops.size() == 1);
  const auto other = join(table, block("s:/a", "/a", "age: 100\n" + op) + block("s:/b", "/b", "age: 7\n" + op));
  CHECK(other.mounts[1].same_as.is_absent());
  CHECK(other.mounts[1].ops.size() == 1);
}

TEST_CASE("nfs join: without device numbers equal counters tell, if there was work") {
  const auto stats = [](const std::string& source, const std::string& target, const std::string& rest) {
    return block(source, target, "opts: rw,vers=4.2,proto=tcp\nage: 9\n" + rest);
  };
  const std::string idle = "READ: 0 0 0 0 0 0 0 0 0\n";
  const std::string mounted = "FSINFO: 2 2 0 9 9 0 1 1 0\n";
  const std::string data = "bytes: 0 0 9 0 9 0 1 0\nREAD: 5 5 0 1 1 1 1 1 0\n";
  const auto same_as = [](const facts::Nfs& nfs) { return nfs.mounts.at(1).same_as; };
  CHECK(same_as(join("", stats("s:/a", "/a", data) + stats("s:/a", "/b", data))).is("/a"));
  CHECK(same_as(join("", stats("s:/a", "/a", mounted) + stats("s:/a", "/b", mounted))).is("/a"));
  CHECK(same_as(join("", stats("s:/a", "/a", idle) + stats("s:/a", "/b", idle))).is_absent());
  CHECK(same_as(join("", stats("s:/a", "/a", data) + stats("s:/z", "/b", data))).is("/a"));
  CHECK(same_as(join("", stats("s:/a", "/a", mounted) + stats("s:/z", "/b", mounted))).is_absent());
  CHECK(same_as(join("", stats("s:/a", "/a", data) + stats("t:/a", "/b", data))).is_absent());
  // A table without device numbers and without statistics tells nothing.
  const auto mounts = join_nfs(parse_mounts("s:/a /a nfs4 rw,vers=4.2 0 0\ns:/a /b nfs4 rw,vers=4.2 0 0\n").facts, {});
  CHECK(mounts.facts.mounts.at(1).same_as.is_unknown());
  CHECK(mounts.facts.mounts.at(1).parent_export.is_unknown());
}

TEST_CASE("nfs join: clients are shared by address, port, version, transport and its security") {
  const auto nfs =
      join(line(1, "0:1", "/a", "one:/a", tcp42) + line(2, "0:2", "/b", "two:/b", tcp42 + ",port=2049") +
           line(3, "0:3", "/c", "one:/c", tcp42 + ",port=0") + line(4, "0:4", "/d", "one:/d", tcp42 + ",port=20049") +
           line(5, "0:5", "/e", "one:/e", tcp42 + ",xprtsec=mtls") +
           line(6, "0:6", "/f", "one:/f", "vers=4.1,proto=tcp,addr=192.0.2.1") +
           line(7, "0:7", "/g", "[2001:db8::1]:/g", "vers=3,proto=tcp6,addr=2001:db8::1") +
           line(8, "0:8", "/h", "six:/h", "vers=3,proto=tcp6,addr=2001:db8:0:0:0:0:0:1"));
  std::vector<std::string> ids;
  for (const auto& client : nfs.clients) ids.push_back(client.id);
  CHECK(ids == std::vector<std::string>{"192.0.2.1:2049 4.2 tcp", "192.0.2.1:20049 4.2 tcp",
                                        "192.0.2.1:2049 4.2 tcp mtls", "192.0.2.1:2049 4.1 tcp",
                                        "[2001:db8::1]:2049 3 tcp6"});
  CHECK(nfs.clients[0].mounts == std::vector<std::string>{"/a", "/b", "/c"});
  CHECK(nfs.clients[0].grouped_by == "address");
  CHECK(nfs.clients[0].server_name.is("one"));
  CHECK(nfs.clients[4].mounts == std::vector<std::string>{"/g", "/h"});
  CHECK(nfs.mounts[7].client_id == "[2001:db8::1]:2049 3 tcp6");
  REQUIRE(nfs.servers.size() == 3);
  CHECK(nfs.servers[0].name == "one");
  CHECK(nfs.servers[0].addr.is("192.0.2.1"));
  CHECK(nfs.servers[0].mounted);
  CHECK(nfs.servers[1].port == 20049);
}

TEST_CASE("nfs join: transports are read from one mount, and counted by lines") {
  const std::string xprt = "xprt: tcp 0 0 1 0 3 10 10 0 10 0 2 0 0\n";
  const auto nfs = join(line(1, "0:1", "/a", "s:/a", tcp42) + line(2, "0:2", "/b", "s:/b", tcp42 + ",nconnect=2"),
                        block("s:/a", "/a", "age: 1\n" + xprt + xprt) + block("s:/b", "/b", "age: 2\n" + xprt + xprt));
  REQUIRE(nfs.clients.size() == 1);
  CHECK(nfs.clients[0].transports.size() == 2);
  CHECK(nfs.clients[0].transport_count.is(2));
  CHECK(nfs.clients[0].nconnect.is(2));
  const auto counts = [](const std::string& options) {
    return join(line(1, "0:1", "/a", "s:/a", options)).clients.at(0).transport_count;
  };
  CHECK(counts(tcp42 + ",nconnect=8").is(8));
  CHECK(counts(tcp42).is(1));
  CHECK(counts("addr=192.0.2.1").is_unknown());
}

TEST_CASE("nfs join: in mountstats alone a source port or equal lines show what is shared") {
  const auto stats = [](const std::string& source, const std::string& target, const std::string& xprt) {
    return block(source, target, "opts: rw,vers=3,proto=tcp\n" + xprt);
  };
  const std::string p1 = "xprt: tcp 700 0 1 0 3 10 10 0 10 0 2 0 0\n";
  const std::string p1_later = "xprt: tcp 700 0 1 0 0 99 99 0 10 0 2 0 0\n";
  const std::string p2 = "xprt: tcp 701 0 1 0 3 10 10 0 10 0 2 0 0\n";
  const std::string zero = "xprt: tcp 0 0 1 0 3 10 10 0 10 0 2 0 0\n";
  const std::string zero_later = "xprt: tcp 0 0 1 0 3 11 11 0 10 0 2 0 0\n";
  const auto nfs = join("", stats("s:/a", "/a", p1) + stats("s:/b", "/b", p2 + p1_later) + stats("s:/c", "/c", p2) +
                                stats("s:/d", "/d", zero) + stats("s:/e", "/e", zero) +
                                stats("s:/f", "/f", zero_later) + stats("t:/g", "/g", p1));
  std::vector<std::vector<std::string>> groups;
  std::vector<std::string> ids;
  for (const auto& client : nfs.clients) {
    groups.push_back(client.mounts);
    ids.push_back(client.id);
  }
  CHECK(groups == std::vector<std::vector<std::string>>{{"/a", "/b", "/c"}, {"/d", "/e"}, {"/f"}, {"/g"}});
  CHECK(ids == std::vector<std::string>{"s:2049 3 tcp", "s:2049 3 tcp /d", "s:2049 3 tcp /f", "t:2049 3 tcp"});
  CHECK(nfs.clients[0].grouped_by == "source port");
  CHECK(nfs.clients[1].grouped_by == "transport lines");
}

TEST_CASE("nfs join: mounts whose server is not known share nothing") {
  const auto parsed = join_nfs(
      parse_mounts("/vol/a /a nfs rw,vers=3,proto=tcp 0 0\n/vol/b /b nfs rw,vers=3,proto=tcp 0 0\n").facts, {});
  REQUIRE(parsed.facts.clients.size() == 2);
  CHECK(parsed.facts.clients[0].id == "unknown:2049 3 tcp");
  CHECK(parsed.facts.clients[1].id == "unknown:2049 3 tcp /b");
  CHECK(parsed.facts.servers.empty());
}

TEST_CASE("nfs join: what a version does not have is known not to exist") {
  const auto nfs = join(line(1, "0:1", "/a", "s:/a", "vers=3,proto=tcp,addr=192.0.2.1") +
                        line(2, "0:2", "/b", "s:/b", "vers=4.0,proto=tcp") + line(3, "0:3", "/c", "s:/c", tcp42));
  CHECK(nfs.mounts[0].sessions.is_absent());
  CHECK(nfs.mounts[0].pnfs.is_absent());
  CHECK(nfs.mounts[0].lease_time_s.is_absent());
  CHECK(nfs.mounts[1].sessions.is_unknown());
  CHECK(nfs.mounts[1].impl_id.is_absent());
  CHECK(nfs.mounts[2].impl_id.is_unknown());
}

TEST_CASE("nfs join: the implementation id tells the kind of server, silence tells nothing") {
  const auto kind = [](const std::string& impl) {
    return join(line(1, "0:1", "/a", "s:/a", tcp42),
                block("s:/a", "/a", "impl_id: " + impl + "\nnfsv4: acl=0x3,sessions,lease_time=30,lease_expired=0\n"))
        .servers.at(0);
  };
  CHECK(kind("name='NetApp Release 9.13.1',domain='netapp.com',date='0,0'").kind.is("ontap"));
  CHECK(kind("name='Linux 6.12',domain='kernel.org',date='0,0'").kind.is("linux"));
  CHECK(kind("name='x',domain='example.com',date='0,0'").kind.is("other"));
  CHECK(kind("name='',domain='',date='0,0'").kind.is_unknown());
  CHECK(kind("name='',domain='',date='0,0'").lease_s.is(30));
}

TEST_CASE("nfs join: security flavours of mountstats stand in where no option names them") {
  const auto nfs = join("", block("s:/a", "/a", "sec: flavor=6,pseudoflavor=390004\n"));
  CHECK(nfs.mounts.at(0).sec.is("krb5i"));
  CHECK(nfs.mounts.at(0).vers.is_unknown());
  CHECK(nfs.mounts.at(0).nconnect.is_unknown());
  CHECK(nfs.clients.at(0).id == "s:2049 ? ?");
}

TEST_CASE("nfs join: twenty thousand mounts are joined in linear time") {
  const auto seconds = [](int count) {
    std::string table;
    std::string stats;
    for (int i = 0; i < count; ++i) {
      const std::string n = std::to_string(i);
      table += line(i + 2, "0:" + n, "/var/lib/kubelet/pods/" + n + "/mount", "s:/vol" + n, tcp42);
      stats += block("s:/vol" + n, "/var/lib/kubelet/pods/" + n + "/mount",
                     "age: 5\nxprt: tcp 0 0 1 0 3 10 10 0 10 0 2 0 0\nREAD: 5 5 0 1 1 1 1 1 0\n");
    }
    const std::clock_t start = std::clock();
    const auto nfs = join(table, stats);
    const double took = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    CHECK(nfs.mounts.size() == static_cast<std::size_t>(count));
    CHECK(nfs.clients.size() == 1);
    CHECK(nfs.mounts.back().age_s.is(5));
    return took;
  };
  const double small = std::max(seconds(2000), 0.001);
  CHECK(seconds(20000) < small * 10 * 6);  // quadratic work would be a hundred times more, not ten
}
