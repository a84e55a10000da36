#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>

#include "probes/collect.h"
#include "probes/host/rpcinfo.h"
#include "probes/host/ss.h"
#include "probes/io/host.h"

using namespace facts;
using namespace probes;

namespace {

const std::string corpus = std::string(SOURCE_DIR) + "/tests/corpus/";

std::string text_of(const std::string& path) {
  std::ifstream in(path);
  REQUIRE(in.good());
  return {std::istreambuf_iterator<char>(in), {}};
}

Facts collected(const std::vector<InputArgument>& inputs) {
  const auto host = open_inputs(inputs);
  REQUIRE(host.has_value());
  return collect(**host);
}

}  // namespace

TEST_CASE("ss: 050, one of sixteen connections is not read by the server") {
  const auto parsed = parse_ss(text_of(corpus + "050-nconnect-stuck-connection/input.ss.txt"));
  CHECK(parsed.notes.empty());
  REQUIRE(parsed.facts.size() == 16);
  CHECK(parsed.facts[0].local_addr == "192.0.2.21");
  CHECK(parsed.facts[0].local_port == 2049);
  CHECK(parsed.facts[0].peer_addr == "198.51.100.137");
  CHECK(parsed.facts[0].peer_port == 689);
  CHECK(parsed.facts[0].state == "ESTABLISHED");
  CHECK(parsed.facts[0].rx_queue_bytes.is(3767744U));
  std::size_t stuck = 0;
  for (const auto& socket : parsed.facts) stuck += *socket.rx_queue_bytes > 0 ? 1U : 0U;
  CHECK(stuck == 1);
}

TEST_CASE("ss: lines, in their forms") {
  const auto parsed = parse_ss(
      "State Recv-Q Send-Q Local Address:Port Peer Address:PortProcess\n"
      "ESTAB    0      352         10.9.0.2:802      10.9.0.3:2049 timer:(persist,36sec,8) rto:0.2 ato:0.04 qack:11 "
      "bidir "
      "cwnd:10 retrans:8/0 reordering:0\n"
      "SYN-SENT 0      1           10.9.0.2%eth0:731      10.9.0.1:2049 timer:(on,500ms,4) cwnd:1\n"
      "tcp   ESTAB 0 0 [fe80::1]%eth0:700 [fe80::2]%eth0:2049 users:((\"x\",pid=1,fd=3))\n"
      "\t cubic wscale:7,7 rto:204 rtt:0.25/0.125 mss:1448 pmtu:1500 rcvmss:536 cwnd:10 bytes_acked:100 "
      "bytes_received:200 "
      "segs_out:10 segs_in:9 lastsnd:5 lastrcv:6 retrans:0/3 minrtt:0.1\n"
      "ESTAB 0 0 10.9.0.2:1 10.9.0.3:2049 timer:(keepalive,1min30sec,0)\n"
      "ESTAB 0 0 10.9.0.2:2 10.9.0.3:2049 timer:(keepalive,2.680ms,0)\n"
      "LISTEN 0 128 0.0.0.0:22 0.0.0.0:*\n"
      "udp UNCONN 0 0 0.0.0.0:68 0.0.0.0:*\n\n");
  CHECK(parsed.notes.empty());
  REQUIRE(parsed.facts.size() == 5);
  const auto& stuck = parsed.facts[0];
  CHECK(stuck.tx_queue_bytes.is(352U));
  CHECK(stuck.timer.is("probe"));
  CHECK(stuck.timer_ms.is(36000U));
  CHECK(stuck.probes.is(8U));
  CHECK(stuck.rto_us.is_unknown());
  CHECK(stuck.rtt_us.is_unknown());
  const auto& opening = parsed.facts[1];
  CHECK(opening.state == "SYN_SENT");
  CHECK(opening.local_addr == "10.9.0.2%eth0");
  CHECK(opening.timer.is("retransmit"));
  CHECK(opening.timer_ms.is(500U));
  CHECK(opening.retransmits.is(4U));
  const auto& six = parsed.facts[2];
  CHECK(six.peer_addr == "fe80::2%eth0");
  CHECK(six.rtt_us.is(250U));
  CHECK(six.rtt_var_us.is(125U));
  CHECK(six.rto_us.is(204000U));
  CHECK(six.send_mss_bytes.is(1448U));
  CHECK(six.path_mtu_bytes.is(1500U));
  CHECK(six.total_retrans.is(3U));
  CHECK(six.retransmits.is(0U));
  CHECK(six.unacked.is(0U));
  CHECK(six.segs_out.is(10U));
  CHECK(six.last_recv_ms.is(6U));
  CHECK(parsed.facts[3].timer_ms.is(90000U));
  CHECK(parsed.facts[4].timer_ms.is(2680U));
}

TEST_CASE("ss: an odd line costs itself only") {
  struct Row {
    const char* line;
    const char* reason;
  };
  const Row row = GENERATE(
      Row{"garbage", "no line of ss(8)"}, Row{"ESTAB 0 0 10.9.0.2:1", "no line of ss(8)"},
      Row{"ESTAB x 0 10.9.0.2:1 10.9.0.3:2049", "no line of ss(8)"},
      Row{"ESTAB 0 0 10.9.0.2:nfs 10.9.0.3:2049", "an end without address and port number (ss -n prints them)"},
      Row{"ESTAB 0 0 10.9.0.2:1 10.9.0.3:70000", "an end without address and port number (ss -n prints them)"},
      Row{"ESTAB 0 99999999999999999999999 1.2.3.4:1 1.2.3.4:2", "no line of ss(8)"});
  const auto parsed =
      parse_ss(std::string(row.line) +
               "\n  cubic rtt:1/1\nESTAB 0 0 10.9.0.2:5 10.9.0.3:2049 rtt:x/y timer:(on timer:(a,b,c)\n");
  CAPTURE(row.line);
  REQUIRE(parsed.notes.size() == 1);
  CHECK(parsed.notes[0].line == 1);
  CHECK(parsed.notes[0].reason == row.reason);
  REQUIRE(parsed.facts.size() == 1);
  CHECK(parsed.facts[0].rtt_us.is_unknown());
  CHECK(parse_ss("").facts.empty());
  CHECK(parse_ss("0 0 10.9.0.2:5 10.9.0.3:2049\n").facts[0].state == "unknown");
}

TEST_CASE("rpcinfo: 059, neither lock manager nor status monitor is registered") {
  const auto parsed = parse_rpcinfo(text_of(corpus + "059-flock-hang-no-nlm/input.rpcinfo.txt"), "f");
  CHECK(parsed.notes.empty());
  REQUIRE(parsed.facts.registrations.size() == 3);
  CHECK(parsed.facts.registrations[1].program == 100003);
  CHECK(parsed.facts.registrations[1].port == 2049);
  CHECK(parsed.facts.registrations[1].service.is("nfs"));
  CHECK(parsed.facts.nfs);
  CHECK(parsed.facts.mountd);
  CHECK_FALSE(parsed.facts.nlm);
  CHECK_FALSE(parsed.facts.statd);
}

TEST_CASE("rpcinfo: port 0 and lower versions count as not registered, odd lines cost themselves") {
  const auto parsed = parse_rpcinfo(
      "   program vers proto   port  service\n    100021    4   tcp      0  nlockmgr\n    100021    3   tcp  41981  "
      "nlockmgr\n"
      "    100024    1   tcp  52573\n",
      "f");
  CHECK(parsed.notes.empty());
  CHECK_FALSE(parsed.facts.nlm);
  CHECK(parsed.facts.statd);
  CHECK(parsed.facts.registrations[2].service.is_absent());
  const auto long_form = parse_rpcinfo(
      "   program version netid     address                service    owner\n    100021    4    tcp       "
      "0.0.0.0.163.253        nlockmgr   superuser\n"
      "    100000    4    local     /run/rpcbind.sock      portmapper superuser\n",
      "f");
  CHECK(long_form.notes.empty());
  CHECK(long_form.facts.nlm);
  CHECK(long_form.facts.registrations[0].port == 41981);
  const auto odd = parse_rpcinfo(
      "100000  2,3,4     local,udp,tcp  portmapper  superuser\n100003 3 tcp 99999 nfs\n-1 3 tcp 1 x\n100003\nrpcinfo: "
      "can't contact\n",
      "f");
  CHECK(odd.notes.size() == 5);
  CHECK(odd.notes[0].reason == "several versions on a line (rpcinfo -s): it tells no ports");
  CHECK_FALSE(odd.facts.nfs);
}

TEST_CASE("nfsiostat: reports, in the layouts of two versions") {
  const auto parsed = parse_nfsiostat(
      "\n192.0.2.1:/export mounted on /mnt/a b:\n\n           ops/s       rpc bklog\n           1.234           "
      "0.500\n\n"
      "read:              ops/s            kB/s           kB/op         retrans    avg RTT (ms)    avg exe (ms)  avg "
      "queue (ms)  "
      "        errors\n                   0.010           0.123          12.500        3 (1.5%)           0.500        "
      "   0.600  "
      "         0.100        1 (0.5%)\n"
      "write:              ops/s            kB/s           kB/op         retrans    avg RTT (ms)    avg exe (ms)\n"
      "                   0.020           0.200          10.000        0 (0.0%)           1.000           2.000\n"
      "nas:/x mounted on /x:\n   op/s         rpc bklog\n   oops\nread: ops/s\n  1 2\n",
      "f");
  REQUIRE(parsed.facts.size() == 2);
  const auto& report = parsed.facts[0];
  CHECK(report.what == "192.0.2.1:/export");
  CHECK(report.where == "/mnt/a b");
  CHECK(report.line == 2);
  CHECK(report.ops_per_s.is(1.234));
  CHECK(report.rpc_backlog.is(0.5));
  REQUIRE(report.read.has_value());
  CHECK(report.read->retrans.is(3U));
  CHECK(report.read->retrans_pct.is(1.5));
  CHECK(report.read->queue_ms.is(0.1));
  CHECK(report.read->errors.is(1U));
  REQUIRE(report.write.has_value());
  CHECK(report.write->execute_ms == 2.0);
  CHECK(report.write->queue_ms.is_unknown());
  REQUIRE(parsed.notes.size() == 2);
  CHECK(parsed.notes[0].reason == "no two numbers where ops/s and backlog belong");
  CHECK(parsed.facts[1].read.is_unknown());
  CHECK(parse_nfsiostat("hello\n", "f").notes.size() == 1);
}

TEST_CASE("inputs: pasted texts make facts, each with its row") {
  const std::string log = corpus + "063-nsm-callback-blocked/input.log";
  const std::string server = corpus + "063-nsm-callback-blocked/input.server.log";
  const std::string rpcinfo = corpus + "059-flock-hang-no-nlm/input.rpcinfo.txt";
  const std::string ss = corpus + "050-nconnect-stuck-connection/input.ss.txt";
  const std::string cmdline = corpus + "069-nfsroot-4k/input.cmdline.txt";
  const Facts facts = collected({{"log", log},
                                 {"log", server},
                                 {"rpcinfo", rpcinfo},
                                 {"ss", ss},
                                 {"text", cmdline},
                                 {"mounts", corpus + "069-nfsroot-4k/input.mounts"}});
  REQUIRE(facts.log.messages.has_value());
  CHECK(facts.log.messages->size() == 3);
  CHECK(facts.log.messages->at(2).source == server);
  CHECK(facts.nfs.rpcinfo.size() == 1);
  CHECK(facts.network.sockets->size() == 16);
  REQUIRE(facts.nfs.mounts.size() == 1);
  CHECK(facts.nfs.mounts[0].asked->origin == "kernel-cmdline");
  CHECK(facts.nfs.mounts[0].asked->vers.is("3"));
  CHECK(facts.nfs.mounts[0].asked->rsize_bytes.is_absent());
  for (const auto& file : {log, server, rpcinfo, ss, cmdline}) {
    bool ok = false;
    for (const auto& row : facts.sources) ok = ok || (row.name == file && row.status == "ok");
    CAPTURE(file);
    CHECK(ok);
  }
  CHECK(facts.declared == Declared{});
}

TEST_CASE("inputs: without any log the messages are not known, an empty log has none") {
  const Facts none = collected({{"mounts", corpus + "069-nfsroot-4k/input.mounts"}});
  CHECK(none.log.messages.is_unknown());
  const Facts read = collected({{"log", "/dev/null"}});
  REQUIRE(read.log.messages.has_value());
  CHECK(read.log.messages->empty());
}

TEST_CASE("inputs: 048, fstab's nconnect is asked for and not in effect") {
  const Facts facts = collected({{"mounts", corpus + "048-nconnect-first-mount-wins/input.mounts"},
                                 {"fstab", corpus + "048-nconnect-first-mount-wins/input.fstab"}});
  REQUIRE(facts.nfs.mounts.size() == 3);
  CHECK(facts.nfs.mounts[1].asked->nconnect.is(8U));
  CHECK(facts.nfs.mounts[1].nconnect.is_absent());
  CHECK(facts.nfs.mounts[2].asked->nconnect.is(4U));
  CHECK(facts.nfs.mounts[2].nconnect.is(4U));
}
