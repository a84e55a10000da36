#include "probes/host/mountstats.h"

#include <catch2/catch.hpp>

using namespace probes;

namespace {

const std::string device = "device s:/x mounted on /mnt with fstype nfs4 statvers=1.1\n";

MountstatsEntry one(const std::string& lines) {
  auto parsed = parse_mountstats(device + lines);
  REQUIRE(parsed.facts.size() == 1);
  for (const auto& note : parsed.notes) UNSCOPED_INFO(note.line << ": " << note.reason);
  CHECK(parsed.notes.empty());
  return parsed.facts[0];
}

}  // namespace

TEST_CASE("mountstats: device lines, names with blanks and escapes, other file systems") {
  const auto parsed = parse_mountstats(
      "device proc mounted on /proc with fstype proc\n"
      "device s:/a\\040b mounted on /mnt/a\\040b with fstype nfs statvers=1.1 \n"
      "no device mounted on /x with fstype tmpfs\n"
      "device s:/mounted on /t with fstype x mounted on /on with fstype nfs4 statvers=1.1\n"
      "device s:/d mounted on /gone\\040(deleted) with fstype nfs4 statvers=1.1\n"
      "device nfsd mounted on /proc/fs/nfsd with fstype nfsd\n");
  CHECK(parsed.notes.empty());
  REQUIRE(parsed.facts.size() == 3);
  CHECK(parsed.facts[0].source == "s:/a b");
  CHECK(parsed.facts[0].target == "/mnt/a b");
  CHECK(parsed.facts[0].fs_type == "nfs");
  CHECK(parsed.facts[0].statvers.is("1.1"));
  CHECK(parsed.facts[0].line == 2);
  CHECK(parsed.facts[1].fs_type == "nfs4");
  CHECK(parsed.facts[2].target == "/gone");
  CHECK(parsed.facts[2].target_deleted);
}

TEST_CASE("mountstats: bad device lines cost their block and no other") {
  const auto parsed = parse_mountstats("device s:/a mounted on /a\n\tage:\t5\n\t READ: 1 1 0 1 1 1 1 1\n" + device +
                                       "\tage:\t7\n" + "device s:/a with fstype nfs4\n");
  REQUIRE(parsed.facts.size() == 1);
  CHECK(parsed.facts[0].age_s.is(7));
  CHECK(parsed.facts[0].ops.empty());
  REQUIRE(parsed.notes.size() == 2);
  CHECK(parsed.notes[0].line == 1);
  CHECK(parsed.notes[1].line == 6);
}

TEST_CASE("mountstats: of two mounts on one directory the later one is in sight") {
  const auto parsed = parse_mountstats(
      "device s:/a mounted on /t with fstype nfs statvers=1.1\n"
      "device s:/b mounted on /t with fstype nfs statvers=1.1\n"
      "device s:/c mounted on /u/v with fstype nfs statvers=1.1\n"
      "device tmpfs mounted on /u with fstype tmpfs\n");
  REQUIRE(parsed.facts.size() == 3);
  CHECK(parsed.facts[0].hidden_by.is("/t"));
  CHECK(parsed.facts[1].hidden_by.is_absent());
  CHECK(parsed.facts[2].hidden_by.is("/u"));
}

TEST_CASE("mountstats: every line of a block") {
  const auto entry =
      one("\topts:\trw,vers=4.2,rsize=4096 \n"
          "\tage:\t19  (time, in seconds, since the NFS is mounted)\n"
          "\timpl_id:\tname='NetApp Release 9.13.1P9: Mon',domain='netapp.com',date='0,0'\n"
          "\tcaps:\tcaps=0x1,wtmult=512\n"
          "\tnfsv4:\tbm0=0xf,acl=0x3,sessions,pnfs=not configured,lease_time=90,lease_expired=12\n"
          "\tsec:\tflavor=6,pseudoflavor=390005\n"
          "\tevents:\t1 2 3 \n"
          "\tbytes:\t1 2 3 4 5 6 7 18446744073709551615 \n"
          "\tfsc:\t0 1 2 3 4 \n"
          "\tRPC iostats version: 1.1  p/v: 100003/4 (nfs)\n"
          "\txprt:\ttcp 851 0 1 0 3 402 402 0 410 0 4 7 12\n"
          "\tper-op statistics\n"
          "\t        READ: 31 32 1 5208 8129936 18446744073706749450 44 45\n"
          "\t       WRITE: 3 3 0 393900 504 0 9 9 2\n");
  CHECK(entry.options_text.is("rw,vers=4.2,rsize=4096"));
  CHECK(entry.age_s.is(19));
  CHECK(entry.impl_id.is("NetApp Release 9.13.1P9: Mon (netapp.com)"));
  CHECK(entry.caps_text.is("caps=0x1,wtmult=512"));
  CHECK(entry.sessions.is(true));
  CHECK(entry.pnfs.is("not configured"));
  CHECK(entry.lease_time_s.is(90));
  CHECK(entry.lease_expired_s.is(12));
  CHECK(entry.flavor.is(6));
  CHECK(entry.pseudoflavor.is(390005));
  CHECK(entry.events.is({1, 2, 3}));
  CHECK(entry.bytes->write_pages == 18446744073709551615U);
  CHECK(entry.fsc.is({0, 1, 2, 3, 4}));
  CHECK(entry.iostats_version.is("1.1"));
  REQUIRE(entry.transports.size() == 1);
  const auto& xprt = entry.transports[0];
  CHECK(xprt.proto == "tcp");
  CHECK(xprt.src_port.is(851));
  CHECK(xprt.bind_count.is(0));
  CHECK(xprt.connect_count.is(1));
  CHECK(xprt.connect_time_s.is(0));
  CHECK(xprt.idle_s.is(3));
  CHECK(xprt.sends == 402);
  CHECK(xprt.recvs == 402);
  CHECK(xprt.bad_xids == 0);
  CHECK(xprt.req_u == 410);
  CHECK(xprt.bklog_u == 0);
  CHECK(xprt.max_slots.is(4));
  CHECK(xprt.sending_u.is(7));
  CHECK(xprt.pending_u.is(12));
  REQUIRE(entry.ops.size() == 2);
  const auto& read = entry.ops[0];
  CHECK(read.op == "READ");
  CHECK(read.ops == 31);
  CHECK(read.trans == 32);
  CHECK(read.timeouts == 1);
  CHECK(read.bytes_sent == 5208);
  CHECK(read.bytes_recv == 8129936);
  CHECK(read.queue_ms == 18446744073706749450U);
  CHECK(read.rtt_ms == 44);
  CHECK(read.execute_ms == 45);
  CHECK(read.errors.is_unknown());
  CHECK(entry.ops[1].errors.is(2));
}

TEST_CASE("mountstats: what a server says of itself may be empty or half empty") {
  CHECK(one("impl_id: name='',domain='',date='0,0'\n").impl_id.is_absent());
  CHECK(one("impl_id: name='a',domain='',date='0,0'\n").impl_id.is("a"));
  CHECK(one("impl_id: name='',domain='d',date='0,0'\n").impl_id.is("d"));
  CHECK(one("impl_id: name='it's',domain='d',date='0,0'\n").impl_id.is("it's (d)"));
  CHECK(one("").impl_id.is_unknown());
  CHECK(one("nfsv4: bm0=0x1,acl=0x0\n").sessions.is(false));
  CHECK(one("nfsv4: bm0=0x1,acl=0x0\n").lease_time_s.is_unknown());
  CHECK(one("").sessions.is_unknown());
}

TEST_CASE("mountstats: transports by kind") {
  const auto udp = one("xprt: udp 740 1 881477 875055 5946 2888414103 286261 16 258752 2080886\n").transports.at(0);
  CHECK(udp.src_port.is(740));
  CHECK(udp.bind_count.is(1));
  CHECK(udp.connect_count.is_absent());
  CHECK(udp.connect_time_s.is_absent());
  CHECK(udp.idle_s.is_absent());
  CHECK(udp.sends == 881477);
  CHECK(udp.recvs == 875055);
  CHECK(udp.bad_xids == 5946);
  CHECK(udp.req_u == 2888414103);
  CHECK(udp.bklog_u == 286261);
  CHECK(udp.max_slots.is(16));
  CHECK(udp.pending_u.is(2080886));

  const auto rdma = one("xprt: rdma 0 0 5808 62 1 10 9 3 100 7 21 22 23\n").transports.at(0);
  CHECK(rdma.connect_count.is(5808));
  CHECK(rdma.idle_s.is(1));
  CHECK(rdma.bklog_u == 7);
  CHECK(rdma.max_slots.is_absent());
  CHECK(rdma.pending_u.is_absent());
  CHECK(rdma.rdma == std::vector<std::uint64_t>{21, 22, 23});

  const auto local = one("xprt: local 1 2 3 4 5 6 7 8 9 10 11 12\n").transports.at(0);
  CHECK(local.src_port.is_absent());
  CHECK(local.bind_count.is(1));
  CHECK(local.connect_count.is(2));
  CHECK(local.idle_s.is(4));
  CHECK(local.sends == 5);
  CHECK(local.bklog_u == 9);
  CHECK(local.pending_u.is(12));

  const auto old = one("xprt: tcp 851 0 1 0 3 402 402 0 410 0\n").transports.at(0);
  CHECK(old.bklog_u == 0);
  CHECK(old.max_slots.is_unknown());
  const auto idle = one("xprt: tcp 851 0 1 0 -3 402 402 0 410 0 4 7 12\n").transports.at(0);
  CHECK(idle.idle_s.is_unknown());
  CHECK(idle.sends == 402);
}

TEST_CASE("mountstats: lines that cannot be taken are named and lost alone") {
  for (const char* bad : {"xprt: tcp 1 2 3\n", "xprt: tcp\n", "xprt:\n", "xprt: smoke 1 2 3 4 5 6 7 8 9 10 11 12 13\n",
                          "xprt: tcp 851 0 1 0 3 -402 402 0 410 0 4 7 12\n",
                          "xprt: tcp 99999 0 1 0 3 402 402 0 410 0 4 7 12\n", "READ: 1 2 3 4 5 6 7\n", "READ:\n",
                          "READ: x\n", "READ: -1 2 3 4 5 6 7 8\n", "READ: 99999999999999999999 2 3 4 5 6 7 8\n",
                          "READ: 1 2 3 4 5 6 7 8x\n", "bytes: 1 2 3\n", "age: old\n", "events: none\n", "fsc: \n"}) {
    INFO(bad);
    const auto parsed = parse_mountstats(device + bad + "WRITE: 1 1 0 1 1 1 1 1\n");
    REQUIRE(parsed.facts.size() == 1);
    CHECK(parsed.facts[0].ops.size() == 1);
    CHECK(parsed.facts[0].transports.empty());
    REQUIRE(parsed.notes.size() == 1);
    CHECK(parsed.notes[0].line == 2);
    CHECK(parsed.notes[0].lost);
  }
}

TEST_CASE("mountstats: what a newer kernel adds becomes one remark for each key") {
  const std::string block = device + "\tfuture:\t1 2 3\n\tper-op statistics\n READ: 1 2 3 4 5 6 7 8 9 10\n";
  const auto parsed = parse_mountstats(block + block);
  REQUIRE(parsed.facts.size() == 2);
  CHECK(parsed.facts[1].ops.at(0).errors.is(9));
  REQUIRE(parsed.notes.size() == 2);
  CHECK_FALSE(parsed.notes[0].lost);
  CHECK(parsed.notes[0].line == 2);
  CHECK(parsed.notes[0].reason.find("future") != std::string::npos);
  CHECK_FALSE(parsed.notes[1].lost);
}

TEST_CASE("mountstats: statistics without a device line are kept without a name") {
  const auto parsed = parse_mountstats("  nfsv4: bm0=0x1,sessions\n  PNFS_LAYOUTGET: 2561 2561 0 1 1 34 1698 2575\n");
  REQUIRE(parsed.facts.size() == 1);
  CHECK_FALSE(parsed.facts[0].named);
  CHECK(parsed.facts[0].target.empty());
  CHECK(parsed.facts[0].ops.at(0).op == "PNFS_LAYOUTGET");
  REQUIRE(parsed.notes.size() == 1);
  CHECK(parsed.notes[0].line == 1);
  CHECK(parsed.notes[0].reason.find("without a device line") != std::string::npos);
}

TEST_CASE("mountstats: a truncated last mount keeps the others") {
  const std::string whole = device + "\tage:\t5\n\t READ: 1 1 0 1 1 1 1 1 0\n\t WRITE: 2 2 0 1 1 1 1 1 0\n";
  const std::string text = whole + whole;
  for (std::size_t cut = whole.size(); cut < text.size(); ++cut) {
    const auto parsed = parse_mountstats(std::string_view(text).substr(0, cut));
    REQUIRE(!parsed.facts.empty());
    CHECK(parsed.facts[0].ops.size() == 2);
    CHECK(parsed.notes.size() <= 1);
  }
}

TEST_CASE("mountstats: texts that are none") {
  CHECK(parse_mountstats("").facts.empty());
  CHECK(parse_mountstats("").notes.empty());
  CHECK(parse_mountstats("# only a comment\n\n").notes.empty());
  for (const std::string& bad :
       {std::string("hello\n"), std::string("a: b\n"), std::string("\0\0\xff\xfe\n", 5),
        std::string("NOTES: none taken\n"), std::string("36 35 98:0 / / rw - nfs s:/x rw\n")}) {
    INFO(bad);
    const auto parsed = parse_mountstats(bad);
    CHECK(parsed.facts.empty());
    CHECK(parsed.notes.size() == 1);
  }
  const std::string long_line(std::size_t{100} << 20, '1');
  CHECK(parse_mountstats(long_line).notes.size() == 1);
  std::string garbage = device;
  for (int i = 0; i < 100000; ++i) garbage += "READ: " + std::to_string(i) + "\n";
  CHECK(parse_mountstats(garbage).notes.size() == 101);
}
