// What a passive probe works with. A probe reads through Reading, which leaves a source row for everything it asked,
// and writes into the facts.
#pragma once

#include <chrono>
#include <cstddef>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "audit/base/result.h"
#include "audit/facts/facts.h"
#include "probes/io/host.h"
#include "probes/parsed.h"

namespace probes {

class Reading {
 public:
  Reading(const Host& host, facts::Facts& facts) : host_(host), facts_(facts) {}

  const Host& host() const { return host_; }
  facts::Facts& facts() { return facts_; }
  void set_probe(const char* id) { probe_ = id; }

  // Each leaves its row: ok, or what went wrong.
  base::Result<std::string> file(std::string_view path);
  base::Result<std::vector<std::string>> list(std::string_view path);
  base::Result<std::string> command(std::string_view name);
  base::Result<std::string> answer(std::string_view question);
  // Texts that the user gave for a kind. note() speaks of the last one: for each, begin with given_row().
  std::vector<GivenText> given(std::string_view kind) const { return host_.given(kind); }
  void given_row(const GivenText& text);

  // The first of several places that can be had ("/proc/1/mountinfo", "/proc/self/mountinfo"; "!mount-l" is a command).
  // Its row says what it stands in for.
  struct Found {
    std::string place;
    std::string text;
  };
  base::Result<Found> first_of(std::initializer_list<std::string_view> places);

  // What the parser had to say about the text read last, into its row: malformed when an entry was lost.
  void note(const std::vector<Note>& notes);
  void malformed(const std::string& reason);
  void malformed(const base::Error& error);  // with line and column where it tells them
  // The table that the mounts probe read, in the form of /proc/PID/mountinfo; empty: there was none in that form.
  void keep_mount_table(std::string text) { mount_table_ = std::move(text); }
  const std::string& mount_table() const { return mount_table_; }
  // Makes the row of the text read last say how it went until now, its parsing included.
  facts::Source& last_row() { return facts_.sources.back(); }

 private:
  template <class T, class Get>
  base::Result<T> leave_row(std::string name, Get get);

  const Host& host_;
  facts::Facts& facts_;
  const char* probe_ = "";
  std::string mount_table_;
};

enum class ProbeClass : unsigned char { passive, wire, load };

struct Probe {
  const char* id;  // of its rows in `sources`
  ProbeClass kind;
  const char* sentence;
  void (*run)(Reading& reading);  // passive ones; the others are asked by their own subcommands
};

std::span<const Probe> passive_probes();  // in the order in which they run

// The probes, each beside the parser it feeds.
void read_kernel(Reading& reading);           // node and kernel: probes/host/kernel.cpp
void read_mounts(Reading& reading);           // mounts and nfs: probes/host/nfs_read.cpp
void read_fstab(Reading& reading);            // config.fstab: probes/host/fstab.cpp
void read_trident(Reading& reading);          // config.trident: probes/host/trident.cpp
void read_storage(Reading& reading);          // iscsi, block, multipath: probes/host/storage_read.cpp
void read_kubelet(Reading& reading);          // nfs.mounts[].kubelet: probes/host/kubelet.cpp
void read_tunables(Reading& reading);         // kernel.settings, kernel.rpc: probes/host/tunables.cpp
void read_client_identity(Reading& reading);  // nfs.identity: probes/host/client_identity.cpp
void read_read_ahead(Reading& reading);       // nfs.mounts[].read_ahead_kib: probes/host/read_ahead.cpp
void read_xprt_switches(Reading& reading);    // nfs.xprt_switches: probes/host/sunrpc.cpp
void read_network(Reading& reading);          // network: probes/host/network.cpp
void read_connections(Reading& reading);      // of it what a second sample needs: connections and counters
void read_tasks(Reading& reading);            // node.daemons, kernel.tasks: probes/host/tasks.cpp
void read_log(Reading& reading);              // log: probes/host/log_read.cpp
void read_nfsroot(Reading& reading);          // config.nfsroot: probes/host/log_read.cpp
void read_nfsmount_conf(Reading& reading);    // config.nfsmount_conf: probes/host/nfsmount_conf.cpp
void read_systemd_mounts(Reading& reading);   // config.systemd_mounts: probes/host/systemd_mount.cpp
void read_ss(Reading& reading);               // network.sockets of a paste: probes/host/ss.cpp
void read_rpcinfo(Reading& reading);          // nfs.rpcinfo, nfs.nfsiostat: probes/host/rpcinfo.cpp
void join_asked(Reading& reading);            // nfs.mounts[].asked: probes/host/asked.cpp

}  // namespace probes
