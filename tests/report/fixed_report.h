// One fixed report for the golden tests of all formats. Invented: it has something of everything a format must carry.
#pragma once

#include "audit/facts/facts.h"
#include "audit/finding.h"

namespace test {

inline facts::Facts fixed_facts() {
  using namespace facts;
  Facts f;
  f.node.name = "worker-2";
  f.node.root = "/host";
  f.node.live = true;
  f.node.view = "proc/1";
  f.node.collected_at = "2026-03-01T02:03:04Z";
  f.sources.push_back({"mountinfo", "/proc/1/mountinfo", "ok", "", 120U});
  f.sources.push_back({"mountstats", "/proc/1/mountstats", "ok", "", 310U});
  f.sources.push_back({"trident", "/var/lib/trident/tracking", "denied", "Permission denied", 20U});
  for (const char* name : {"pvc-0b7e4c52-1111", "pvc-0b7e4c52-2222"}) {
    NfsMount m;
    m.target = std::string("/var/lib/kubelet/pods/6a9d3c52-8f0e-4b6e-9d53-3f1f6d1a2b3c/volumes/kubernetes.io~csi/") +
               name + "/mount";
    m.source = std::string("192.0.2.1:/trident_") + name;
    m.server_name = "192.0.2.1";
    m.client_id = "192.0.2.1:2049 4.2 tcp";
    m.vers = "4.2";
    f.nfs.mounts.push_back(m);
    f.mounts.push_back({{}, {}, {}, {}, m.target, m.source, "nfs4", {}, {}, "nfs", false, {}});
  }
  NfsClient c;
  c.id = "192.0.2.1:2049 4.2 tcp";
  c.server_name = "192.0.2.1";
  c.addr = "192.0.2.1";
  c.vers = "4.2";
  c.proto = "tcp";
  for (const auto& m : f.nfs.mounts) c.mounts.push_back(m.target);
  f.nfs.clients.push_back(c);
  NfsServer s;
  s.name = "192.0.2.1";
  s.mounted = true;
  f.nfs.servers.push_back(s);
  return f;
}

// Points into `facts`, which has to live as long.
inline audit::Report fixed_report(const facts::Facts& facts) {
  using namespace audit;
  Report r;
  r.tool_version = "0.1.0";
  r.profiles = {{"general", "always on"}, {"openshift-virtualization", "kubelet and virt-launcher found"}};
  r.duration_s = 0.25;
  r.facts = &facts;
  r.not_applicable = 40;
  r.passed = {{"NFS-LOCK-002", 2}, {"NFS-RECOV-001", 2}};
  const Subject client{"nfs.client", facts.nfs.clients[0].id};
  std::vector<Subject> affects;
  for (const auto& m : facts.nfs.mounts) affects.push_back({"nfs.mount", m.target});
  affects.push_back({"vm", "demo/rhel10"});
  affects.push_back({"pod", "demo/virt-launcher-rhel10-x7k2p"});

  Finding broken;
  broken.rule = "NFS-NCONNECT-003";
  broken.severity = Severity::warning;
  broken.kind = "health";
  broken.basis = {"standard"};
  broken.text = {"Fewer live connections than configured",
                 "192.0.2.1: 3 of 8 connections are there",
                 "Requests queue on the connections that are left.",
                 "Look for a firewall or a connection limit.",
                 {"sockets close after 5 minutes of idleness; this mount is not idle"}};
  broken.subject = client;
  broken.affects = affects;
  broken.evidence = {{"nfs.clients[0].transport_count", 3U, "/proc/1/mountstats"},
                     {"nfs.clients[0].nconnect", 8U, "/proc/1/mountinfo"}};
  broken.effect = "server";
  broken.references = {"nfs(5)"};
  broken.fingerprint = "0123456789abcdef";

  Finding tuning;
  tuning.rule = "NFS-NCONNECT-001";
  tuning.severity = Severity::warning;
  tuning.kind = "tuning";
  tuning.basis = {"article", "vendor"};
  tuning.text = {"One TCP connection under concurrent load",
                 "192.0.2.1: one connection carries 39 requests in flight (since the mount); expect about 1.6x",
                 "One connection is handled by one CPU at a time.",
                 "nconnect=8 on every mount to 192.0.2.1, set before the first one.",
                 {}};
  tuning.text_ja = Texts{"並行負荷を 1 本の TCP 接続で処理",
                         "192.0.2.1: 1 本の接続に平均 39 要求が滞留しています。約 1.6 倍の性能向上が見込めます",
                         "",
                         "192.0.2.1 への全マウントに nconnect=8 を、最初のマウントより前に設定してください。",
                         {}};
  tuning.subject = client;
  tuning.affects = affects;
  tuning.evidence = {{"nfs.clients[0].in_flight.mean", 39.2375, "derived from /proc/1/mountstats"},
                     {"nfs.clients[0].transport_count", 1U, "/proc/1/mountstats"},
                     {"nfs.clients[0].ops_per_s", facts::Unknown{"one sample"}, ""}};
  tuning.gain = Gain{"1.61x to 2.48x random reads at depth 32 to 128, nothing below 16", 1.61, 2.48};
  tuning.effect = "remount";
  tuning.not_known = {"unless nic.speed_mbps le 1000: no such fact"};
  tuning.contested = {{"vendor A", "4 connections are enough"}};
  tuning.remediation = {
      {"trident", "nfsMountOptions: \"nfsvers=4.2,nconnect=8\"", "remount", "", "S4"},
      {"storageclass", "mountOptions:\n  - nfsvers=4.2\n  - nconnect=8", "remount", "take the lines out again", "S3"}};
  tuning.references = {"nfs(5)"};
  tuning.fingerprint = "1123456789abcdef";

  Finding notice;
  notice.rule = "NFS-VERS-001";
  notice.severity = Severity::notice;
  notice.kind = "hygiene";
  notice.basis = {"article", "standard"};
  notice.text = {"NFS version negotiated instead of pinned",
                 facts.nfs.mounts[0].target + " runs 4.2; nconnect=8 (trident) does not name a full version",
                 "",
                 "Pin the version in use where the mount is made.",
                 {}};
  notice.subject = client;
  notice.affects = {affects[0], affects[1]};
  notice.table =
      EvidenceTable{{"target", "age_s"}, {{facts.nfs.mounts[0].target, 86400U}, {facts.nfs.mounts[1].target, 60U}}};
  notice.effect = "remount";
  notice.could_be = Finding::CouldBe{Severity::warning, "needs nfs.servers[0].nfs4_minor_max: not asked"};
  notice.remediation = {{"trident", "nfsMountOptions: \"nfsvers=4.2\"", "remount", "", "S4"}};
  notice.fingerprint = "2123456789abcdef";

  Finding info;
  info.rule = "NFS-IOSIZE-003";
  info.severity = Severity::info;
  info.kind = "hygiene";
  info.text = {"rsize/wsize left to negotiation", "192.0.2.1: rsize and wsize are negotiated", "", "Write them.", {}};
  info.subject = client;
  info.affects = {affects[0], affects[1]};
  info.effect = "remount";
  info.fingerprint = "3123456789abcdef";

  r.findings = {broken, tuning, notice, info};
  r.plan = {{client,
             "trident",
             "nfsMountOptions: \"nfsvers=4.2,nconnect=8,rsize=65536,wsize=65536\"",
             {"NFS-IOSIZE-003", "NFS-NCONNECT-001", "NFS-VERS-001"}},
            {client,
             "storageclass",
             "mountOptions:\n  - nfsvers=4.2\n  - nconnect=8\n  - rsize=65536\n  - wsize=65536",
             {"NFS-IOSIZE-003", "NFS-NCONNECT-001", "NFS-VERS-001"}}};
  r.unknown = {
      {"NFS-IOSIZE-001", client, "needs nfs.servers[0].rtmax_bytes: not asked"},
      {"NFS-IOSIZE-001", {"nfs.client", "192.0.2.2:2049 3 tcp"}, "needs nfs.servers[1].rtmax_bytes: not asked"},
      {"NFS-RECOV-002", {"nfs.mount", "/mnt"}, "needs nfs.mounts[0].timeo_ds: mountinfo was cut"}};
  Waived waived;
  waived.finding = info;
  waived.finding.rule = "NFS-NCONNECT-007";
  waived.reason = "bonded link, known";
  waived.until = "2026-12-31";
  r.waived = {waived};

  ClientTime time;
  time.subject = client;
  time.window_s = 12;
  time.network_how = "least TCP round trip of its connections";
  time.connections = 3;
  time.balance = 1.25;
  time.slots_kind = "session";
  time.slots_peak = 64;
  time.slots_limit = 64;
  time.invalid = {"COMMIT"};
  OpTime write{"WRITE", 12000, 3, 0, 240, 20, 15, 0.2, 4.5, 0.3, TimePart::queue, 0.75};
  OpTime read{"READ", 90000, {}, 12, 180, 2, 0.1, 0.2, 1.6, 0.1, TimePart::server, 0.8};
  OpTime all{"", 102000, 3, 12, 420, 4.1, 1.9, 0.2, 1.9, 0.1, TimePart::queue, 0.46};
  time.all = all;
  time.mounts = {{{facts.nfs.mounts[0].target}, {write, read}}, {{facts.nfs.mounts[1].target}, {read}}};
  r.time = {time};

  SideBySide sides;
  sides.subject = client;
  sides.mounts = {facts.nfs.mounts[0].target, facts.nfs.mounts[1].target};
  sides.origin = "trident";
  sides.path = "/var/lib/trident/tracking/pvc-0b7e4c52-1111.json";
  sides.rows = {
      {"vers", "4.1", "trident", "4.2", "3, 4.0, 4.1, 4.2", true, false},
      {"timeo", "600", "nfsmount.conf", "600", facts::Absent{}, false, false},
      {"rsize", facts::Absent{}, "", "65536", "1048576", false, true},
      {"slots", facts::Unknown{"not told by /sys"}, "", "64", facts::Unknown{"not asked (passive)"}, false, false}};
  r.side_by_side = {sides};
  r.live_migration = {{{"volume", "pvc-0b7e4c52-1111"},
                       "demo/rhel10",
                       "yes",
                       "ReadWriteMany; NFSv4.2 with locks of its own",
                       "ReadWriteMany、ロックを備えた NFSv4.2"},
                      {{"volume", "pvc-0b7e4c52-2222"},
                       "demo/rhel10",
                       "no",
                       "it is ReadWriteOnce, and both nodes need it at once (ReadWriteMany)",
                       "ReadWriteOnce であり、両ノードで同時に使えません(ReadWriteMany が必要)"},
                      {{"nfs.mount", "/srv/images"},
                       "",
                       "unknown",
                       "its access mode was not declared",
                       "アクセスモードが宣言されていません"}};
  return r;
}

}  // namespace test
