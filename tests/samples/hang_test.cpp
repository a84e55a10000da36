// A server that goes silent, from the texts of a kernel to which that happened (samples/captures/hang-*.txt, made by
// dropping the packets to port 2049). The captures hold the heads of mountstats, sockets, log and stacks; the lines of
// mountinfo are those that the mount commands of the scene give.
#include <catch2/catch.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>

#include "audit/base/text.h"
#include "audit/eval/derive_hang.h"
#include "audit/eval/engine.h"
#include "probes/host/log.h"
#include "probes/host/mountinfo.h"
#include "probes/host/mountstats.h"
#include "probes/host/nfs_join.h"
#include "probes/host/ss.h"
#include "probes/host/tasks.h"
#include "rules/embedded.h"

using audit::Hang;
using State = audit::Hang::State;

namespace {

std::string capture(const std::string& name) {
  std::ifstream in(std::string(SOURCE_DIR) + "/samples/captures/" + name, std::ios::binary);
  INFO(name);
  REQUIRE(in.good());
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string section(const std::string& text, const std::string& heading) {
  const auto at = text.find("\n== " + heading + "\n");
  REQUIRE(at != std::string::npos);
  const auto from = text.find('\n', at + 1) + 1;
  const auto next = text.find("\n== ", from - 1);
  return text.substr(from, next == std::string::npos ? next : next + 1 - from);
}

// softerr4 names 10.9.0.5, which is the same server: the kernel merged it into the client of 10.9.0.1 ("did not add
// transport" in the log, and its xprt line is that of hard4).
const std::string mountinfo =
    "40 22 0:31 / /mnt/hard4 rw,relatime - nfs4 10.9.0.1:/ rw,vers=4.2,rsize=1048576,wsize=1048576,namlen=255,hard,"
    "proto=tcp,timeo=600,retrans=2,sec=sys,clientaddr=10.9.0.2,local_lock=none,addr=10.9.0.1\n"
    "41 22 0:32 / /mnt/hard3 rw,relatime - nfs 10.9.0.3:/srv/exp rw,vers=3,rsize=1048576,wsize=1048576,namlen=255,hard,"
    "proto=tcp,timeo=600,retrans=2,sec=sys,mountaddr=10.9.0.3,mountvers=3,mountport=44199,mountproto=udp,"
    "local_lock=none,addr=10.9.0.3\n"
    "42 22 0:33 / /mnt/soft3 rw,relatime - nfs 10.9.0.4:/srv/exp rw,vers=3,rsize=1048576,wsize=1048576,namlen=255,soft,"
    "proto=tcp,timeo=50,retrans=1,sec=sys,mountaddr=10.9.0.4,mountvers=3,mountport=44199,mountproto=udp,"
    "local_lock=none,addr=10.9.0.4\n"
    "43 22 0:34 / /mnt/softerr4 rw,relatime - nfs4 10.9.0.5:/ rw,vers=4.2,rsize=1048576,wsize=1048576,namlen=255,"
    "softreval,softerr,proto=tcp,timeo=50,retrans=1,sec=sys,clientaddr=10.9.0.2,local_lock=none,addr=10.9.0.1\n";

facts::Nfs nfs_of(const std::string& text) {
  return probes::join_nfs(probes::parse_mountinfo(mountinfo).facts,
                          probes::parse_mountstats(section(text, "/proc/self/mountstats (head of each)")).facts)
      .facts;
}

// PID STAT WCHAN COMMAND lines, and the stacks below them.
std::vector<facts::WaitingTask> tasks_of(const std::string& text) {
  std::vector<facts::WaitingTask> tasks;
  for (const auto line : base::split(text, '\n')) {
    if (line.starts_with("== ")) break;
    const auto words = base::fields(line);
    if (words.size() < 4 || !words[1].starts_with("D")) continue;
    facts::WaitingTask task;
    task.pid = task.tid = base::number<std::uint32_t>(words[0]).value();
    task.comm = std::string(words[3]);
    task.wchan = std::string(words[2]);
    task.stack = probes::parse_stack(section(text, fmt::format("/proc/{}/stack", task.pid)));
    task.layer = probes::waiting_layer(*task.wchan, task.stack);
    tasks.push_back(std::move(task));
  }
  return tasks;
}

facts::Facts silent(const std::string& name) {
  const std::string text = capture(name);
  facts::Facts f;
  f.node.name = "guest";
  f.nfs = nfs_of(text);
  const auto sockets = probes::parse_ss(section(text, "ss -tnoi"));
  CHECK(sockets.notes.empty());
  f.network.sockets = sockets.facts;
  probes::add_log(f, probes::parse_log(section(text, "dmesg"), "dmesg").facts);
  f.kernel.tasks = tasks_of(text);
  return f;
}

const Hang& hang_of(const audit::Context& context, const std::string& addr) {
  const auto& clients = context.facts.nfs.clients;
  const auto found = std::find_if(clients.begin(), clients.end(), [&](const auto& c) { return c.addr.is(addr); });
  INFO(addr);
  REQUIRE(found != clients.end());
  return context.hangs()[static_cast<std::size_t>(found - clients.begin())];
}

std::string evidence(const Hang& hang) {
  std::vector<std::string> texts;
  for (const auto& sign : hang.signs) texts.push_back(sign.text);
  return base::join(texts, "; ");
}

const audit::RuleSet& shipped_rules() {
  static const audit::RuleSet rules = [] {
    std::vector<audit::TextFile> files;
    for (const auto& [path, text] : rules::embedded_rules()) files.push_back({std::string(path), std::string(text)});
    return audit::load_rules(files).value();
  }();
  return rules;
}

}  // namespace

TEST_CASE("hang: ten seconds of silence show in sockets, requests and tasks") {
  const facts::Facts f = silent("hang-10s.txt");
  REQUIRE(f.nfs.mounts.size() == 4);
  REQUIRE(f.nfs.clients.size() == 3);
  REQUIRE(f.kernel.tasks->size() == 4);
  const audit::Context context(f);

  const Hang& v4 = hang_of(context, "10.9.0.1");
  CHECK(v4.state == State::hangs);
  CHECK(evidence(v4) ==
        "TCP: 440 bytes not acknowledged on 1 of 1 connections, sent again 6 times; 3 requests without reply, "
        "connections idle for 16 s (one sample)");
  CHECK_FALSE(v4.since);  // no clock in the capture
  CHECK(v4.silent_s == 16.0);
  CHECK(v4.since_how == "last use of its connections");
  CHECK(v4.tasks == std::vector<std::uint32_t>{0, 3});  // by the NFSv4 functions on their stacks

  const Hang& hard3 = hang_of(context, "10.9.0.3");
  CHECK(hard3.state == State::hangs);
  CHECK(evidence(hard3) ==
        "TCP: 176 bytes not acknowledged on 1 of 1 connections, sent again 6 times; 2 requests without reply, "
        "connections idle for 16 s (one sample)");
  CHECK(hard3.tasks.empty());
  CHECK(hard3.unclear_tasks == 2);  // two servers of version 3 are silent

  // The soft mount gave up once already, and the log says so.
  const Hang& soft3 = hang_of(context, "10.9.0.4");
  CHECK(soft3.state == State::hangs);
  CHECK(soft3.since == "35 s after boot");
  CHECK(soft3.since_how == "kernel log");
  CHECK(evidence(soft3).find("kernel log: not responding, timed out since 35 s after boot, no OK") !=
        std::string::npos);
}

TEST_CASE("hang: a second sample shows that no reply came, and a connection that cannot be made again") {
  facts::Facts f = silent("hang-65s.txt");
  f.earlier = silent("hang-10s.txt");
  const audit::Context context(f);
  const Hang& v4 = hang_of(context, "10.9.0.1");
  CHECK(v4.state == State::hangs);
  CHECK(evidence(v4).find("TCP: SYN to port 2049 unanswered, sent again 4 times") == 0);
  CHECK(evidence(v4).find("3 requests without reply, none came in 58 s") != std::string::npos);
  CHECK(v4.since == "45 s after boot");
  const Hang& hard3 = hang_of(context, "10.9.0.3");
  CHECK(hard3.state == State::hangs);
  CHECK(evidence(hard3).find("2 requests sent in 58 s, no reply") != std::string::npos);
  CHECK(hard3.silent_s == 74.0);
}

TEST_CASE("hang: one finding per server, with its mounts and what to do") {
  const facts::Facts f = silent("hang-65s.txt");
  audit::JudgeOptions options;
  options.only = {"NFS-RECOV-005"};
  const audit::Report report = audit::judge(f, shipped_rules(), options);
  REQUIRE(report.findings.size() == 3);
  for (const auto& finding : report.findings) {
    CHECK(finding.severity == audit::Severity::error);
    CHECK(finding.subject.kind == "nfs.server");
    CHECK(finding.text.recommendation.find("Do not drain") != std::string::npos);
    CHECK(finding.text.message.find("not answer") != std::string::npos);
    REQUIRE(finding.text_ja);
    CHECK(finding.text_ja->message.find("応答していません") != std::string::npos);
  }
  const auto& v4 = report.findings[0];
  CHECK(v4.subject.id == "10.9.0.1:2049");
  CHECK(v4.affects == std::vector<audit::Subject>{{"nfs.client", "10.9.0.1:2049 4.2 tcp"},
                                                  {"nfs.mount", "/mnt/hard4"},
                                                  {"nfs.mount", "/mnt/softerr4"}});
  CHECK(v4.text.message.find("dd (pid 251)") != std::string::npos);
  REQUIRE(v4.text.notes.size() == 2);
  CHECK(v4.text.notes[0].find("seen without touching it: TCP: SYN to port 2049 unanswered") == 0);
  CHECK(v4.text.notes[1] == "other servers: 10.9.0.3, 10.9.0.4 do not answer either");
}

TEST_CASE("hang: connections that are being closed do not count") {
  facts::Facts f = silent("hang-10s.txt");
  facts::NetSocket closing = f.network.sockets->front();
  closing.state = "TIME_WAIT";
  closing.tx_queue_bytes = std::uint64_t{0};
  f.network.sockets->push_back(closing);
  const audit::Context context(f);
  CHECK(evidence(hang_of(context, "10.9.0.3")).find("on 1 of 1 connections") != std::string::npos);
}

TEST_CASE("hang: the whole log of the scene names the servers that were silent to the end") {
  const auto log = probes::parse_log(capture("dmesg-hang.txt"), "dmesg");
  const auto& servers = log.facts.servers;
  REQUIRE(servers.size() == 2);
  CHECK(servers[0].name == "10.9.0.4");
  CHECK(servers[0].timed_out == 2);
  CHECK(servers[0].down_since_boot_s.is(35.273388));
  CHECK(servers[1].name == "10.9.0.1");
  CHECK(servers[1].still_down.is_unknown());  // a request that gave up: nobody says OK afterwards
}

TEST_CASE("hang: the same mounts at rest do not hang") {
  facts::Facts f = silent("hang-10s.txt");
  f.kernel.tasks = std::vector<facts::WaitingTask>{};
  f.log.servers = std::vector<facts::LogServer>{};
  for (auto& client : f.nfs.clients) {
    for (auto& t : client.transports) t.recvs = t.sends;
  }
  for (auto& socket : *f.network.sockets) {
    socket.tx_queue_bytes = std::uint64_t{0};
    socket.retransmits = socket.probes = std::uint64_t{0};
  }
  const audit::Context context(f);
  for (const Hang& hang : context.hangs()) CHECK(hang.state == State::quiet);
}

TEST_CASE("hang: what a stale export says when it is touched is a finding, what it shows at rest is none") {
  const std::string text = capture("stale.txt");
  CHECK(text.find("stat: cannot read file system information for '/mnt/st': Stale file handle") != std::string::npos);
  const auto at = text.find("10.9.0.38:/srv/exp/gone");
  const auto table = probes::parse_mounts(text.substr(at, text.find('\n', at) + 1 - at));
  facts::Facts f;
  f.node.name = "guest";
  f.nfs = probes::join_nfs(table.facts, {}).facts;
  f.network.sockets = std::vector<facts::NetSocket>{};
  REQUIRE(f.nfs.clients.size() == 1);
  {
    const audit::Context context(f);
    CHECK(context.hangs().at(0).state == State::quiet);
    CHECK(audit::looks_healthy(context.hangs().at(0)));
  }
  f.nfs.clients[0].touch = facts::MountTouch{"/mnt/st", "ESTALE", 3.0};
  const audit::Context context(f);
  CHECK(context.hangs().at(0).state == State::hangs);
  CHECK(evidence(context.hangs().at(0)) == "statfs of /mnt/st: ESTALE after 3 ms");
}
