#include "probes/host/nfs_options.h"

#include <catch2/catch.hpp>

#include "probes/host/address.h"

using namespace probes;

namespace {

facts::Mount mount_of(const std::string& source, const std::string& options) {
  facts::Mount mount;
  mount.source = source;
  mount.target = "/mnt";
  mount.fs_type = "nfs4";
  mount.kind = "nfs";
  mount.options_text = options;
  return mount;
}

facts::NfsMount read(const std::string& options) { return read_nfs_options(mount_of("s:/x", options)); }

}  // namespace

TEST_CASE("source: server, zone and path") {
  struct Row {
    const char* source;
    const char* server;
    const char* zone;
    const char* path;
  };
  const Row rows[] = {
      {"server:/export", "server", "", "/export"},
      {"server:/a:/b", "server", "", "/a:/b"},
      {"server:export", "server", "", "export"},
      {"server:/", "server", "", "/"},
      {"server://a/b", "server", "", "//a/b"},
      {"[2001:db8::1]:/export", "2001:db8::1", "", "/export"},
      {"[fe80::1%eth0]:/export", "fe80::1", "eth0", "/export"},
      {"2001:db8::1:/export", "2001:db8::1", "", "/export"},
      {"::1:/export", "::1", "", "/export"},
      {"/vol/vol3/share1", "", "", "/vol/vol3/share1"},
      {"/vol:/x", "", "", "/vol:/x"},
      {"[broken:/x", "[broken", "", "/x"},
      {"none", "", "", "none"},
      {"", "", "", ""},
  };
  for (const auto& row : rows) {
    INFO(row.source);
    const auto source = split_source(row.source);
    CHECK(source.server == row.server);
    CHECK(source.zone == row.zone);
    CHECK(source.path == row.path);
  }
}

TEST_CASE("source: slashes, case of names and forms of addresses do not make another export") {
  CHECK(normal_export("//a/b//") == "/a/b");
  CHECK(normal_export("/") == "/");
  CHECK(normal_export("//") == "/");
  CHECK(normal_export("") == "");
  CHECK(same_source("Server.example.com://a/b", "server.example.com:/a/b/"));
  CHECK(same_source("[2001:db8:0:0::1]:/a", "[2001:db8::1]:/a"));
  CHECK_FALSE(same_source("server:/data/A", "server:/data/B"));
  CHECK_FALSE(same_source("server:/data", "server:/data2"));
  CHECK_FALSE(same_source("server:/data", "server2:/data"));
}

TEST_CASE("address: same address in other forms, never a name") {
  CHECK(same_address("::ffff:192.0.2.1", "192.0.2.1"));
  CHECK(same_address("[2001:db8::1]", "2001:DB8:0::0001"));
  CHECK(same_address("fe80::1%eth0", "fe80::1%2"));
  CHECK_FALSE(same_address("192.0.2.1", "192.0.2.10"));
  CHECK_FALSE(same_address("server", "server"));
  for (const char* bad : {"192.0.2.xx", "", "[]", "192.0.2.1%2", "2001:db8", "192.0.2.1 ", "1:2:3:4:5:6:7:8:9"}) {
    INFO(bad);
    CHECK_FALSE(is_address(bad));
  }
  CHECK_FALSE(is_address(std::string_view("192.0.2.1\0x", 11)));
  CHECK(is_loopback(*parse_address("127.9.9.9")));
  CHECK(is_loopback(*parse_address("::1")));
  CHECK_FALSE(is_loopback(*parse_address("::2")));
  CHECK(host_port("fe80::1%2", 2049) == "[fe80::1%2]:2049");
  CHECK(host_port("server", 20049) == "server:20049");
}

TEST_CASE("nfs options: a quoted value with commas is one option") {
  CHECK(split_options("rw,context=\"a,b,c\",vers=4.2") ==
        std::vector<std::string_view>{"rw", "context=\"a,b,c\"", "vers=4.2"});
  CHECK(split_options("context=\"a,b") == std::vector<std::string_view>{"context=\"a", "b"});
  CHECK(split_options("a,,b,") == std::vector<std::string_view>{"a", "", "b"});
  CHECK(split_options("").empty());
  const auto mount = read("rw,context=\"u:r:t:s0:c184,c371,nolock\",vers=4.2,rsize=4096");
  CHECK(mount.vers.is("4.2"));
  CHECK(mount.nolock.is(false));
  CHECK(mount.unknown_options.empty());
}

TEST_CASE("nfs options: versions as old and new kernels print them") {
  CHECK(read("vers=4.1").vers.is("4.1"));
  CHECK(read("vers=4,minorversion=1").vers.is("4.1"));
  CHECK(read("minorversion=0,vers=4").vers.is("4.0"));
  CHECK(read("vers=4").vers.is("4.0"));
  CHECK(read("vers=3").vers.is("3"));
  CHECK(read("vers=2").vers.is("2"));
  CHECK(read("rw").vers.is_unknown());
}

TEST_CASE("nfs options: what is not printed has its default, what is always printed is unknown") {
  const auto mount = read("rw,relatime,vers=4.2,rsize=65536,proto=tcp");
  CHECK(mount.rsize_bytes.is(65536));
  CHECK(mount.wsize_bytes.is_unknown());
  CHECK(mount.recovery.is_unknown());
  CHECK(mount.sec.is_unknown());
  CHECK(mount.local_lock.is_unknown());
  CHECK(mount.addr.is_unknown());
  CHECK(mount.xprtsec.is("none"));
  CHECK(mount.nconnect.is_absent());
  CHECK(mount.max_connect.is_absent());
  CHECK(mount.port.is_absent());
  CHECK(mount.ac_reg_min_s.is(3));
  CHECK(mount.ac_reg_max_s.is(60));
  CHECK(mount.ac_dir_min_s.is(30));
  CHECK(mount.ac_dir_max_s.is(60));
  CHECK(mount.lookupcache.is("all"));
  CHECK(mount.nolock.is(false));
  CHECK(mount.noac.is(false));
  CHECK(mount.fsc.is(false));
  CHECK(mount.softreval.is(false));
  CHECK(mount.mount_addr.is_absent());
  CHECK(mount.rw.is(true));
}

TEST_CASE("nfs options: a mount whose options could not be read has no defaults") {
  facts::Mount mount = mount_of("s:/x", "");
  mount.options_text = {};
  const auto nfs = read_nfs_options(mount);
  CHECK(nfs.nconnect.is_unknown());
  CHECK(nfs.nolock.is_unknown());
  CHECK(nfs.ac_reg_min_s.is_unknown());
  CHECK(nfs.xprtsec.is_unknown());
  CHECK(nfs.options_text.is_unknown());
  CHECK(nfs.rw.is_unknown());
}

TEST_CASE("nfs options: everything a kernel prints, in any order") {
  const auto mount = read(
      "ro,sync,vers=3,rsize=8192,wsize=4096,bsize=4096,namlen=255,acregmin=1,acregmax=10,acdirmin=2,acdirmax=20,"
      "softerr,"
      "softreval,posix,nocto,noac,nolock,noacl,nordirplus,nosharecache,noresvport,proto=rdma6,nconnect=16,max_connect="
      "4,"
      "port=20049,timeo=11,retrans=3,sec=krb5p,xprtsec=mtls,clientaddr=2001:db8::2,mountaddr=192.0.2.1,mountvers=3,"
      "mountport=635,mountproto=udp,fsc=abc,migration,lookupcache=pos,write=eager,local_lock=posix,addr=2001:db8::1,"
      "fatal_neterrors=none,fancy");
  CHECK(mount.rw.is(false));
  CHECK(mount.sync.is(true));
  CHECK(mount.wsize_bytes.is(4096));
  CHECK(mount.namlen.is(255));
  CHECK(mount.ac_reg_min_s.is(1));
  CHECK(mount.ac_reg_max_s.is(10));
  CHECK(mount.ac_dir_min_s.is(2));
  CHECK(mount.ac_dir_max_s.is(20));
  CHECK(mount.recovery.is("softerr"));
  CHECK(mount.softreval.is(true));
  CHECK(mount.nocto.is(true));
  CHECK(mount.noac.is(true));
  CHECK(mount.nolock.is(true));
  CHECK(mount.nordirplus.is(true));
  CHECK(mount.nosharecache.is(true));
  CHECK(mount.noresvport.is(true));
  CHECK(mount.proto.is("rdma6"));
  CHECK(mount.nconnect.is(16));
  CHECK(mount.max_connect.is(4));
  CHECK(mount.port.is(20049));
  CHECK(mount.timeo_ds.is(11));
  CHECK(mount.retrans.is(3));
  CHECK(mount.sec.is("krb5p"));
  CHECK(mount.xprtsec.is("mtls"));
  CHECK(mount.client_addr.is("2001:db8::2"));
  CHECK(mount.mount_addr.is("192.0.2.1"));
  CHECK(mount.mount_vers.is("3"));
  CHECK(mount.mount_port.is(635));
  CHECK(mount.mount_proto.is("udp"));
  CHECK(mount.fsc.is(true));
  CHECK(mount.lookupcache.is("pos"));
  CHECK(mount.local_lock.is("posix"));
  CHECK(mount.addr.is("2001:db8::1"));
  CHECK(mount.unknown_options == std::vector<std::string>{"fatal_neterrors=none", "fancy"});
}

TEST_CASE("nfs options: values that stand for nothing") {
  CHECK(read("vers=4.0,port=0").port.is_absent());
  CHECK(read("vers=3,mountport=65535,mountaddr=unspecified").mount_port.is_absent());
  CHECK(read("vers=3,mountaddr=unspecified").mount_addr.is_absent());
  CHECK(read("vers=3,mountaddr=192.0.2.xx").mount_addr.is_unknown());
  CHECK(read("vers=3,addr=192.0.2.xx").addr.is_unknown());
  CHECK(read("vers=3,rsize=many").rsize_bytes.is_unknown());
  CHECK(read("vers=3,rsize=99999999999").rsize_bytes.is_unknown());
  CHECK(read("vers=3,rsize=-1").rsize_bytes.is_unknown());
  CHECK(read("vers=3,rsize").rsize_bytes.is_unknown());
}

TEST_CASE("nfs options: READDIRPLUS is off only where the kernel says so") {
  CHECK(read("vers=3,nordirplus").nordirplus.is(true));
  CHECK(read("vers=3,rdirplus=none").nordirplus.is(true));
  CHECK(read("vers=3,rdirplus=force").nordirplus.is(false));
  CHECK(read("vers=3,forcerdirplus").nordirplus.is(false));
  CHECK(read("vers=3").nordirplus.is(false));
}

TEST_CASE("nfs options: per-mount and file system options of mountinfo count together") {
  auto mount = mount_of("s:/x", "ro,nosuid,relatime");
  mount.super_options_text = "rw,sync,vers=4.2,rsize=4096";
  auto nfs = read_nfs_options(mount);
  CHECK(nfs.rw.is(false));
  CHECK(nfs.sync.is(true));
  CHECK(nfs.options_text.is("ro,nosuid,relatime,sync,vers=4.2,rsize=4096"));
  mount.options_text = "rw";
  mount.super_options_text = "ro";
  nfs = read_nfs_options(mount);
  CHECK(nfs.rw.is(false));
  CHECK(nfs.options_text.is("ro"));
}

TEST_CASE("nfs options: a source without a server takes it from addr") {
  const auto with = read_nfs_options(mount_of("/vol/vol9/home", "rw,vers=3,addr=192.0.2.33"));
  CHECK(with.server_name.is("192.0.2.33"));
  CHECK(with.export_path.is("/vol/vol9/home"));
  const auto without = read_nfs_options(mount_of("/vol/vol3", "rw,vers=3,mountaddr=192.0.2.xx"));
  CHECK(without.server_name.is_unknown());
  CHECK(without.addr.is_unknown());
}

TEST_CASE("asked options: synonyms, overrides, and what is not named is absent") {
  const auto asked = parse_asked_options(
      "ro,defaults,hard,intr,bg,noatime,nodev,nosuid,nfsvers=3,tcp,rsize=32768,wsize=32768,x-systemd.automount");
  CHECK(asked.vers.is("3"));
  CHECK(asked.proto.is("tcp"));
  CHECK(asked.recovery.is("hard"));
  CHECK(asked.rsize_bytes.is(32768));
  CHECK(asked.wsize_bytes.is(32768));
  CHECK(asked.read_only.is(true));
  CHECK(asked.nconnect.is_absent());
  CHECK(asked.timeo_ds.is_absent());
  CHECK(asked.sec.is_absent());
  CHECK(asked.nolock.is_absent());
  CHECK(asked.text.starts_with("ro,defaults"));
  CHECK(asked.origin.empty());
  CHECK(parse_asked_options("soft,hard,softerr").recovery.is("softerr"));
  CHECK(parse_asked_options("nolock,lock").nolock.is(false));
  CHECK(parse_asked_options("nolock").nolock.is(true));
  CHECK(parse_asked_options("udp").proto.is("udp"));
  CHECK(parse_asked_options("rdma,port=20049").proto.is("rdma"));
  CHECK(parse_asked_options("v4.1").vers.is("4.1"));
  CHECK(parse_asked_options("vers=4,minorversion=2").vers.is("4.2"));
  CHECK(parse_asked_options("vers=4").vers.is("4"));
  CHECK(parse_asked_options("nfsvers=4.2,nconnect=8,max_connect=16,sec=krb5:sys,xprtsec=tls").nconnect.is(8));
  CHECK(parse_asked_options("defaults").read_only.is_absent());
  CHECK(parse_asked_options("rw").read_only.is(false));
  CHECK(parse_asked_options("nconnect=0").nconnect.is(0));
  CHECK(parse_asked_options("nconnect=x").nconnect.is_unknown());
  CHECK(parse_asked_options("nconnect=x,nconnect=4").nconnect.is(4));
  CHECK(parse_asked_options("").vers.is_absent());
}
