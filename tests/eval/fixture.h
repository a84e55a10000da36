// Small documents for tests of the evaluator: invented, with addresses of RFC 5737.
#pragma once

#include <string>

#include "audit/base/result.h"
#include "audit/eval/engine.h"
#include "audit/facts/facts.h"
#include "rules/embedded.h"

namespace fixture {

inline const audit::RuleSet& shipped() {
  static const audit::RuleSet set = [] {
    std::vector<audit::TextFile> files;
    for (const auto& file : rules::packed_rules()) files.push_back({std::string(file.path), {}, file.text});
    return audit::load_rules(files).value();
  }();
  return set;
}

// A rule set of limits, snippets and rules of the shipped set, and one rule of the test.
inline audit::RuleSet one_rule(const std::string& text) { return audit::load_rules({{"test.yaml", text}}).value(); }

inline facts::AskedOptions asked(const std::string& origin, const std::string& text) {
  facts::AskedOptions options;
  options.origin = origin;
  options.path = origin == "fstab" ? "/etc/fstab:3" : "/var/lib/trident/tracking/pvc-1.json";
  options.text = text;
  const auto none = [](auto&... fact) { ((fact = std::remove_reference_t<decltype(fact)>::absent()), ...); };
  none(options.default_text, options.vers, options.vers_origin, options.nconnect, options.max_connect,
       options.rsize_bytes, options.wsize_bytes, options.timeo_ds, options.retrans, options.recovery, options.proto,
       options.sec, options.xprtsec, options.local_lock, options.nolock, options.read_only);
  return options;
}

inline facts::NfsMount mount(const std::string& target, const std::string& client) {
  facts::NfsMount m;
  m.target = target;
  m.source = "nas.example.com:/vol";
  m.server_name = "nas.example.com";
  m.fs_type = "nfs4";
  m.client_id = client;
  m.vers = "4.2";
  m.proto = "tcp";
  m.addr = "192.0.2.1";
  m.rsize_bytes = 1048576U;
  m.wsize_bytes = 1048576U;
  m.timeo_ds = 600U;
  m.retrans = 2U;
  m.recovery = "hard";
  m.softreval = false;
  m.sec = "sys";
  m.rw = true;
  m.nolock = false;
  m.local_lock = "none";
  m.nconnect = facts::Fact<std::uint32_t>::absent();
  m.max_connect = facts::Fact<std::uint32_t>::absent();
  m.kubelet = facts::Fact<facts::KubeletVolume>::absent();
  return m;
}

inline facts::NfsTransport transport(std::uint64_t sends, std::uint64_t pending, std::uint64_t slots) {
  facts::NfsTransport t;
  t.proto = "tcp";
  t.sends = sends;
  t.recvs = sends;
  t.pending_u = pending;
  t.max_slots = slots;
  return t;
}

// One server, one client with one connection, no mounts.
inline facts::Facts node() {
  facts::Facts f;
  f.node.name = "worker-1";
  f.node.root = "/";
  f.kernel.release = "5.14.0-427.13.1.el9_4.x86_64";
  f.kernel.distribution = "rhel";
  f.sources = {{"mountinfo", "/proc/1/mountinfo", "ok", "", {}}, {"mountstats", "/proc/1/mountstats", "ok", "", {}}};
  facts::NfsServer server;
  server.name = "nas.example.com";
  server.addr = "192.0.2.1";
  server.mounted = true;
  f.nfs.servers.push_back(server);
  facts::NfsClient client;
  client.id = "192.0.2.1:2049 4.2 tcp";
  client.server_name = "nas.example.com";
  client.addr = "192.0.2.1";
  client.vers = "4.2";
  client.proto = "tcp";
  client.nconnect = facts::Fact<std::uint32_t>::absent();
  client.max_connect = facts::Fact<std::uint32_t>::absent();
  client.transport_count = 1U;
  client.transports = {transport(100000, 0, 2)};
  f.nfs.clients.push_back(client);
  return f;
}

inline void add(facts::Facts& f, facts::NfsMount m) {
  f.nfs.clients[0].mounts.push_back(m.target);
  f.nfs.mounts.push_back(std::move(m));
}

inline facts::NfsOp op(const std::string& name, std::uint64_t ops, std::uint64_t bytes_sent, std::uint64_t bytes_recv,
                       std::uint64_t rtt_ms, std::uint64_t execute_ms) {
  facts::NfsOp o;
  o.op = name;
  o.ops = ops;
  o.trans = ops;
  o.bytes_sent = bytes_sent;
  o.bytes_recv = bytes_recv;
  o.rtt_ms = rtt_ms;
  o.execute_ms = execute_ms;
  return o;
}

inline audit::Report judge(const facts::Facts& f, const audit::RuleSet& set, const std::vector<std::string>& only = {},
                           const std::vector<std::string>& profiles = {}) {
  audit::JudgeOptions options;
  options.only = only;
  options.profiles = profiles;
  return audit::judge(f, set, options);
}

}  // namespace fixture
