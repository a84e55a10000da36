// What rules can name beyond the stored facts: joins, numbers computed from counters, lists made of several entries.
// Everything here is a named function with a sentence; `facts list` shows them. Nothing is stored in the document.
//
// A rule runs over a kind of item (for_each), a Scope: its facts, derived facts, references to other items (to-one) and
// collections (to-many). A scope that is to be added is one row in scopes().
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "audit/eval/condition.h"
#include "audit/facts/facts.h"
#include "audit/facts/reflect.h"
#include "audit/finding.h"

namespace audit {

// One item of a scope. Small on purpose: joins hand it out by value.
struct Item {
  const Scope* scope = nullptr;
  std::uint32_t index = 0;  // in the list of the document
  std::uint32_t sub = 0;    // in the nested list
  bool operator==(const Item&) const = default;
};

// Where a reference leads: an item, nothing (known not to exist), or not known and why.
struct Joined {
  std::optional<Item> item;
  bool absent = false;
  std::string why;
};

// An unknown value says why in Unknown::why. "needs PATH: reason" names the raw fact that is missing; a text without
// that form is the reason for the derived fact itself; an empty one leaves it to the sources of `rests_on`.
struct DerivedFact {
  std::string_view name;  // may have dots: "in_flight.mean"
  ValueType type;
  std::string_view sentence;
  std::string_view rests_on;  // path of the raw fact it comes from, as list_facts() spells it
  facts::Value (*get)(const Context&, const Item&);
  facts::Value (*get_ja)(const Context&, const Item&) = nullptr;  // texts: the same in Japanese
};

struct Reference {
  std::string_view name;
  std::string_view sentence;
  std::string_view scope;  // name of the scope it leads to
  Joined (*get)(const Context&, const Item&);
};

struct Collection {
  std::string_view name;
  std::string_view sentence;
  std::string_view scope;
  std::vector<Item> (*get)(const Context&, const Item&);
};

struct Scope {
  std::string_view name;             // as for_each names it: "nfs.clients", "nfs.clients.ops"
  std::string_view parent;           // reference to the item that holds it, for nested lists
  const facts::TypeInfo& (*type)();  // of an item; nullptr: derived facts only
  std::vector<Item> (*items)(const Context&);
  facts::Ref (*ref)(const Context&, const Item&);
  std::string (*path)(const Context&, const Item&);      // "nfs.clients[0]"
  Subject (*subject)(const Context&, const Item&);       // what a remedy applies to
  std::string (*own_name)(const Context&, const Item&);  // nested lists: the part of the fingerprint; else empty
  std::vector<DerivedFact> derived;
  std::vector<Reference> references;
  std::vector<Collection> collections;

  const DerivedFact* find_derived(std::string_view name) const;
  const Reference* find_reference(std::string_view name) const;
  const Collection* find_collection(std::string_view name) const;
};

const std::vector<Scope>& scopes();
const Scope* find_scope(std::string_view name);

// Sum of an operation over the distinct super blocks of a client, and between two samples.
struct ClientOp {
  facts::NfsOp total;
  bool upkeep = false;   // is_upkeep_op()
  bool wrapped = false;  // a time counter stands just below 2^64: averages from it are not valid
  struct Window {
    std::uint64_t ops = 0, trans = 0, timeouts = 0, bytes_sent = 0, bytes_recv = 0;
    std::uint64_t queue_ms = 0, rtt_ms = 0, execute_ms = 0;
    facts::Fact<std::uint64_t> errors;
    std::uint64_t retrans() const { return trans > ops ? trans - ops : 0; }
  };
  Window window;  // zero where no pair of samples counts
};

// Numbers of a client, computed once per document.
struct ClientNumbers {
  std::vector<ClientOp> ops;           // those that were used, in the order of first appearance
  bool counted = false;                // the operations of some mount are known: without one of `ops`, none was used
  std::uint64_t window_ops = 0;        // between the samples, upkeep left out
  std::optional<double> oldest_age_s;  // of the mounts
  bool has_window = false;             // at least one mount has a usable pair of samples
  std::optional<double> window_s;
  std::string no_window;  // why there is none
  std::string no_rate;    // why there is a window without a length, or none
};

struct Hang;
struct LatencyCurve;
class Storage;

// A document prepared for judging: joins by key, numbers of clients on first use. Not for several threads at once.
class Context {
 public:
  explicit Context(const facts::Facts& facts);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  const facts::Facts& facts;

  std::optional<std::uint32_t> client_of_mount(std::uint32_t mount) const;
  std::optional<std::uint32_t> path_to(const std::string& addr) const;  // in network.paths
  std::optional<std::uint32_t> server_of_client(std::uint32_t client) const;
  const std::vector<std::uint32_t>& clients_of_server(std::uint32_t server) const;
  const std::vector<std::uint32_t>& mounts_of_volume(const std::string& pv) const;  // PersistentVolume
  const facts::DeclaredPv* declared_pv(const std::string& name) const;
  bool is_mounted(const std::string& place) const;         // some NFS mount has this mount point, or is of this volume
  std::uint32_t counted_mount(std::uint32_t mount) const;  // the first of its super block: counters stand there only
  std::uint64_t mounts_of_export(std::uint32_t mount) const;  // mounts of the same export of the same server
  // Connections to an address and port; also those of earlier().
  const std::vector<std::uint32_t>& sockets_to(const std::string& addr, std::uint32_t port) const;
  const std::vector<std::uint32_t>& earlier_sockets_to(const std::string& addr, std::uint32_t port) const;
  bool has_several_connections() const;  // some client has more than one
  const std::vector<std::uint32_t>& mounts_of_client(std::uint32_t client) const;
  const ClientNumbers& numbers(std::uint32_t client) const;
  const facts::NfsMount* earlier_mount(std::uint32_t mount) const;
  const facts::NfsMount* comparable_mount(std::uint32_t mount) const;  // the same, where its counters went on from then
  const facts::NfsClient* earlier_client(std::uint32_t client) const;
  std::optional<double> sample_gap_s()
      const;                               // between the earlier sample and this one; none where they do not compare
  const std::vector<Hang>& hangs() const;  // audit/eval/derive_hang.h; one entry per client
  const std::vector<LatencyCurve>& curves() const;  // of latency.runs, audit/eval/latency_curves.h
  const Storage& storage() const;                   // audit/eval/derive_storage.h; built on first use
  const facts::Facts* earlier() const;              // the other sample; none where the two cannot be compared
  const std::string& why_not_comparable() const;    // empty with earlier()
  // Rows of `sources`, found once.
  struct SourceRows {
    std::vector<std::size_t> by_fact;                                   // the row of each kind of fact, once asked for
    std::unordered_map<std::string, std::vector<std::size_t>> by_name;  // by the name up to the first blank
    std::string why_not_asked;  // what kept the places that ask for mounts from being read
  };
  SourceRows& source_rows() const;

  // While one of these lives, an unknown value need not say why: reasons are texts, and most are never shown. Derived
  // facts are then computed once for each item.
  class WithoutReasons {
   public:
    explicit WithoutReasons(const Context& context);
    ~WithoutReasons();
    WithoutReasons(const WithoutReasons&) = delete;
    WithoutReasons& operator=(const WithoutReasons&) = delete;

   private:
    const Context& context_;
  };
  bool wants_reasons() const;
  facts::Value derived_value(const DerivedFact& fact, const Item& item) const;

 private:
  struct Index;
  std::unique_ptr<Index> index_;
};

// Where a fact came from: the name of its row in `sources` ("/proc/1/mountstats", "192.0.2.1:2049"), or in words.
std::string source_of(const Context& context, std::string_view path);
// Why a fact is not known, from the same row: "timeout after 2 s", "not asked (passive)", "not read".
std::string why_unknown(const Context& context, std::string_view path);
// Unknown, with "needs PATH: why" where reasons are wanted. The second spells "LIST[INDEX].NAME" only then.
facts::Value missing_fact(const Context& context, std::string_view path);
facts::Value missing_fact(const Context& context, std::string_view list, std::uint32_t index, std::string_view name);

// Gain of 8 connections over one at so many requests in flight: measured ratios of the NAS against SAN article (4 KiB,
// random), interpolated over the logarithm of the depth. Never below 1.
double nconnect_gain(double in_flight, double share_of_writes);

// Whether a kernel release of a distribution has nconnect: Linux 5.3, or a backport (RHEL 8.3, SLES 12 SP4 and 15 SP1).
facts::Fact<bool> kernel_has_nconnect(const facts::Kernel& kernel);

// Operations of mounting and session upkeep: their times say nothing about the latency of I/O.
bool is_upkeep_op(std::string_view op);

}  // namespace audit
