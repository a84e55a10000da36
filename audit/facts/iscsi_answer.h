// What an iSCSI target answered when it was asked: a connect, a discovery session with SendTargets, a login in which
// the maxima were offered, SCSI commands that only read. Sources: RFC 7143 (login, SendTargets), SPC-4, SBC-3. Names of
// results are those of wire::reason_name(); secrets and proofs of CHAP are never kept.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "audit/facts/fact.h"

namespace facts {

// A key of the login: what was offered, and what the target made of it. As the offers are maxima, the answer is what
// the target can do.
struct IscsiLoginKey {
  std::string key;            // as in RFC 7143 section 13
  Fact<std::string> offered;  // absent: the target named it by itself
  Fact<std::string> answer;   // absent: the target does not say, so that the default of the RFC holds

  template <class IscsiLoginKey = facts::IscsiLoginKey>
  static auto fields() {
    return std::array{
        Field{"key", &IscsiLoginKey::key, "key of the login (RFC 7143 section 13), such as MaxBurstLength"},
        Field{"offered", &IscsiLoginKey::offered, "what the probe offered; null when the target named it by itself"},
        Field{"answer", &IscsiLoginKey::answer, "what the target answered; null when it said nothing"}};
  }
  bool operator==(const IscsiLoginKey&) const = default;
};

// A target port group of a LUN, by REPORT TARGET PORT GROUPS (SPC-4 section 6.37).
struct IscsiPortGroup {
  std::uint32_t id = 0;
  std::string state;  // active/optimized, active/non-optimized, standby, unavailable, offline, transitioning
  bool preferred = false;
  std::vector<std::uint32_t> ports;  // relative target port ids

  template <class IscsiPortGroup = facts::IscsiPortGroup>
  static auto fields() {
    return std::array{
        Field{"id", &IscsiPortGroup::id, "target port group of ALUA"},
        Field{"state", &IscsiPortGroup::state,
              "active/optimized, active/non-optimized, standby, unavailable, lba-dependent, offline or transitioning"},
        Field{"preferred", &IscsiPortGroup::preferred, "the array prefers it"},
        Field{"ports", &IscsiPortGroup::ports, "relative target port ids in it"}};
  }
  bool operator==(const IscsiPortGroup&) const = default;
};

// A LUN as one login saw it: what may differ from path to path.
struct IscsiPathLun {
  std::string lun;            // number, or 0x and 16 hexadecimal digits for other than single-level LUNs
  std::string result;         // ok, or why it was not to be had: scsi_status, silent ...
  Fact<std::string> detail;   // the same in words; sense data for a scsi_status
  Fact<std::uint32_t> sense;  // key << 16 | ASC << 8 | ASCQ of the command that failed; absent: none did
  Fact<bool> listed;          // REPORT LUNS names it; false: it was asked for by number
  Fact<bool> gone;            // the target says that there is no such LUN (5/2500, or a qualifier that says so)
  Fact<std::string> wwid;     // as the kernel prints it
  Fact<std::uint32_t> group;  // own target port group, VPD page 83; absent: not told
  Fact<std::uint32_t> port;   // own relative target port; absent: not told
  Fact<std::string> state;    // ALUA state of the own group; absent: no ALUA
  Fact<std::string> ready;    // TEST UNIT READY: ok, or what the sense data says
  Fact<double> tur_p50_us;    // TEST UNIT READY, one at a time
  Fact<double> read_p50_us;   // READ of 4 KiB, one at a time; absent: no disk, or it cannot be read
  Fact<double> read_max_us;
  Fact<std::uint32_t> reads;  // how many

  template <class IscsiPathLun = facts::IscsiPathLun>
  static auto fields() {
    return std::array{
        Field{"lun", &IscsiPathLun::lun, "LUN number; 0x and 16 digits where it is more than a number"},
        Field{"result", &IscsiPathLun::result, "ok, or why it could not be asked: scsi_status, silent, closed ..."},
        Field{"detail", &IscsiPathLun::detail, "the same in words; null when all went well"},
        Field{"sense", &IscsiPathLun::sense,
              "sense key, ASC and ASCQ as one number of the command that failed; null when none failed"},
        Field{"listed", &IscsiPathLun::listed, "REPORT LUNS names it; false when it was asked for by its number"},
        Field{"gone", &IscsiPathLun::gone, "the target says that it has no such LUN"},
        Field{"wwid", &IscsiPathLun::wwid, "identifier of the LUN (VPD page 83), as the kernel prints it"},
        Field{"group", &IscsiPathLun::group, "target port group of this path; null when the LUN does not tell"},
        Field{"port", &IscsiPathLun::port, "relative target port of this path; null when the LUN does not tell"},
        Field{"state", &IscsiPathLun::state, "ALUA state of this path; null without ALUA"},
        Field{"ready", &IscsiPathLun::ready, "TEST UNIT READY: ok, or the sense data in words"},
        Field{"tur_p50_us", &IscsiPathLun::tur_p50_us, "median of TEST UNIT READY, one at a time"},
        Field{"read_p50_us", &IscsiPathLun::read_p50_us,
              "median of reads of 4 KiB, one at a time; null when it cannot be read"},
        Field{"read_max_us", &IscsiPathLun::read_max_us, "longest of these reads; null when it cannot be read"},
        Field{"reads", &IscsiPathLun::reads, "how many reads that were; null when it cannot be read"}};
  }
  bool operator==(const IscsiPathLun&) const = default;
};

// One login to one target at one portal. What was learned stands here also when it failed.
struct IscsiLogin {
  std::string target;
  std::string result;               // ok, or the reason
  Fact<std::string> detail;         // in words
  Fact<std::uint32_t> status;       // status class << 8 | detail; unknown: no Login Response came
  Fact<std::string> status_text;    // "0x0201 authentication failure: ..."
  Fact<std::string> redirected_to;  // address of a login redirection; absent: none
  Fact<std::int32_t> tag;           // TargetPortalGroupTag
  Fact<std::string> alias;          // TargetAlias; absent: none
  Fact<std::uint32_t> version_max;
  Fact<std::uint32_t> version_active;
  Fact<std::uint32_t> tsih;
  Fact<std::string> auth_method;    // None, CHAP
  Fact<std::string> chap_digest;    // MD5, SHA1, SHA256, SHA3-256; absent: no CHAP
  Fact<bool> target_authenticated;  // mutual CHAP
  std::vector<IscsiLoginKey> keys;
  // The answers as values. A key that the target left out has the default of RFC 7143.
  Fact<std::string> header_digest;
  Fact<std::string> data_digest;
  Fact<std::uint32_t> max_connections;
  Fact<bool> initial_r2t;
  Fact<bool> immediate_data;
  Fact<std::uint64_t> first_burst_len_bytes;
  Fact<std::uint64_t> max_burst_len_bytes;
  Fact<std::uint32_t> max_outstanding_r2t;
  Fact<std::uint64_t> max_recv_dlength_bytes;  // what the target takes in one data segment
  Fact<std::uint32_t> erl;
  Fact<std::uint32_t> command_window;  // commands that it takes at once, after the first SCSI response
  Fact<double> connect_ms;
  Fact<double> login_ms;
  Fact<std::uint32_t> exchanges;  // requests and answers of the login
  Fact<double> nop_p50_us;
  Fact<double> tur_p50_us;   // of the LUN that answers fastest
  Fact<double> read_p50_us;  // likewise
  Fact<std::vector<IscsiPathLun>> luns;
  Fact<std::string> initiator;  // name that was used
  Fact<std::string> isid;
  Fact<std::string> asked_from;  // local address
  Fact<bool> logged_out;         // absent: there was no session

  template <class IscsiLogin = facts::IscsiLogin>
  static auto fields() {
    return std::array{
        Field{"target", &IscsiLogin::target, "target that was logged in to"},
        Field{"result", &IscsiLogin::result, "ok, or why not: login_status, chap_wanted, silent, closed, refused ..."},
        Field{"detail", &IscsiLogin::detail, "the same in words; null when it went well"},
        Field{"status", &IscsiLogin::status, "status class and detail of the login as one number, such as 513"},
        Field{"status_text", &IscsiLogin::status_text, "the same in words"},
        Field{"redirected_to", &IscsiLogin::redirected_to, "portal that the target sends to; null when it does not"},
        Field{"tag", &IscsiLogin::tag, "target portal group tag as the login told it"},
        Field{"alias", &IscsiLogin::alias, "alias of the target; null when it has none"},
        Field{"version_max", &IscsiLogin::version_max, "highest version of iSCSI that the target speaks"},
        Field{"version_active", &IscsiLogin::version_active, "version in use"},
        Field{"tsih", &IscsiLogin::tsih, "session handle that the target gave"},
        Field{"auth_method", &IscsiLogin::auth_method, "authentication that the target chose: None or CHAP"},
        Field{"chap_digest", &IscsiLogin::chap_digest, "digest of CHAP that the target chose; null without CHAP"},
        Field{"target_authenticated", &IscsiLogin::target_authenticated, "the target proved who it is (mutual CHAP)"},
        Field{"keys", &IscsiLogin::keys, "every key of the login: offered, and the answer"},
        Field{"header_digest", &IscsiLogin::header_digest, "HeaderDigest that it takes when CRC32C is preferred"},
        Field{"data_digest", &IscsiLogin::data_digest, "DataDigest that it takes when CRC32C is preferred"},
        Field{"max_connections", &IscsiLogin::max_connections, "connections of one session that it offers"},
        Field{"initial_r2t", &IscsiLogin::initial_r2t, "it insists on an R2T before a write"},
        Field{"immediate_data", &IscsiLogin::immediate_data, "it takes data with the command"},
        Field{"first_burst_len_bytes", &IscsiLogin::first_burst_len_bytes, "FirstBurstLength at most"},
        Field{"max_burst_len_bytes", &IscsiLogin::max_burst_len_bytes, "MaxBurstLength at most"},
        Field{"max_outstanding_r2t", &IscsiLogin::max_outstanding_r2t, "MaxOutstandingR2T at most"},
        Field{"max_recv_dlength_bytes", &IscsiLogin::max_recv_dlength_bytes, "largest data segment that it takes"},
        Field{"erl", &IscsiLogin::erl, "ErrorRecoveryLevel at most"},
        Field{"command_window", &IscsiLogin::command_window, "commands that it takes at once in a session"},
        Field{"connect_ms", &IscsiLogin::connect_ms, "time of the TCP connect"},
        Field{"login_ms", &IscsiLogin::login_ms, "time of the login, connect not counted"},
        Field{"exchanges", &IscsiLogin::exchanges, "requests and answers that the login took"},
        Field{"nop_p50_us", &IscsiLogin::nop_p50_us, "median of NOP-Out until NOP-In, one at a time"},
        Field{"tur_p50_us", &IscsiLogin::tur_p50_us, "median of TEST UNIT READY of the LUN that answers fastest"},
        Field{"read_p50_us", &IscsiLogin::read_p50_us,
              "median of reads of 4 KiB of the LUN that answers fastest; null when none can be read"},
        Field{"luns", &IscsiLogin::luns, "LUNs as seen by this path"},
        Field{"initiator", &IscsiLogin::initiator, "name of the initiator that the probe used"},
        Field{"isid", &IscsiLogin::isid, "its session id, of the random kind that no kernel uses"},
        Field{"asked_from", &IscsiLogin::asked_from, "local address of the connection"},
        Field{"logged_out", &IscsiLogin::logged_out,
              "the target confirmed the logout; null when there was no session to leave"}};
  }
  bool operator==(const IscsiLogin&) const = default;
};

// A portal that SendTargets names for a target.
struct IscsiOfferedPortal {
  std::string portal;   // id of an entry of iscsi.portals
  std::string told_by;  // id of the portal whose discovery named it

  template <class IscsiOfferedPortal = facts::IscsiOfferedPortal>
  static auto fields() {
    return std::array{Field{"portal", &IscsiOfferedPortal::portal, "id of an entry of iscsi.portals"},
                      Field{"told_by", &IscsiOfferedPortal::told_by, "portal whose discovery session named it"}};
  }
  bool operator==(const IscsiOfferedPortal&) const = default;
};

// A discovery session with SendTargets=All.
struct IscsiDiscovery {
  std::string result;  // ok, or the reason
  Fact<std::string> detail;
  Fact<std::uint32_t> status;
  Fact<std::string> status_text;
  Fact<double> login_ms;
  Fact<double> send_targets_ms;
  std::vector<std::string> targets;  // in the order of the answer
  std::vector<std::string> notes;    // entries that could not be used, and why
  Fact<bool> logged_out;

  template <class IscsiDiscovery = facts::IscsiDiscovery>
  static auto fields() {
    return std::array{Field{"result", &IscsiDiscovery::result, "ok, or why there is no answer"},
                      Field{"detail", &IscsiDiscovery::detail, "the same in words; null when it went well"},
                      Field{"status", &IscsiDiscovery::status, "status class and detail of the login as one number"},
                      Field{"status_text", &IscsiDiscovery::status_text, "the same in words"},
                      Field{"login_ms", &IscsiDiscovery::login_ms, "time of the login, connect not counted"},
                      Field{"send_targets_ms", &IscsiDiscovery::send_targets_ms, "time until the list was there"},
                      Field{"targets", &IscsiDiscovery::targets, "targets that it names, in its order"},
                      Field{"notes", &IscsiDiscovery::notes, "entries that could not be used, and why"},
                      Field{"logged_out", &IscsiDiscovery::logged_out,
                            "the target confirmed the logout; null when there was no session to leave"}};
  }
  bool operator==(const IscsiDiscovery&) const = default;
};

// A LUN as its target describes it, whatever the path. From the first login that could ask.
struct IscsiLun {
  std::string lun;             // as in IscsiPathLun
  Fact<std::uint64_t> number;  // absent: not a single-level LUN
  Fact<std::string> type;      // disk, controller, tape ...
  Fact<std::string> vendor;
  Fact<std::string> product;
  Fact<std::string> revision;
  Fact<std::string> serial;                    // VPD page 80; absent: no such page
  Fact<std::string> wwid;                      // the best designator, as the kernel prints it; absent: none
  Fact<std::vector<std::string>> identifiers;  // of the logical unit, VPD page 83
  Fact<std::uint64_t> size_bytes;
  Fact<std::uint32_t> block_bytes;
  Fact<std::uint64_t> physical_block_bytes;
  Fact<std::uint64_t> lowest_aligned_bytes;       // LALBA; 0: aligned
  Fact<bool> thin;                                // LBPME
  Fact<bool> unmap;                               // LBPU, VPD page B2; absent: no such page
  Fact<std::string> provisioning;                 // full, resource, thin; absent: no such page
  Fact<std::uint64_t> unmap_granularity_bytes;    // VPD page B0; absent: not told
  Fact<std::uint64_t> optimal_transfer_bytes;     // absent: not told
  Fact<std::uint64_t> maximum_transfer_bytes;     // absent: no limit told
  Fact<std::uint32_t> rotation_rate;              // VPD page B1: 1 not rotating; absent: not told
  Fact<bool> write_protected;                     // MODE SENSE, WP
  Fact<std::string> alua;                         // none, implicit, explicit, implicit and explicit
  Fact<std::vector<IscsiPortGroup>> port_groups;  // absent: no ALUA
  std::vector<std::string> portals;               // ids of the portals by which it was seen

  template <class IscsiLun = facts::IscsiLun>
  static auto fields() {
    return std::array{
        Field{"lun", &IscsiLun::lun, "LUN number; 0x and 16 digits where it is more than a number"},
        Field{"number", &IscsiLun::number, "the same as a number; null where it is more"},
        Field{"type", &IscsiLun::type, "disk, controller, tape, ..."},
        Field{"vendor", &IscsiLun::vendor, "vendor by INQUIRY"},
        Field{"product", &IscsiLun::product, "product by INQUIRY"},
        Field{"revision", &IscsiLun::revision, "revision by INQUIRY"},
        Field{"serial", &IscsiLun::serial, "unit serial number (VPD page 80); null when there is none"},
        Field{"wwid", &IscsiLun::wwid, "identifier that the kernel would take; null when there is none"},
        Field{"identifiers", &IscsiLun::identifiers, "identifiers of the LUN (VPD page 83)"},
        Field{"size_bytes", &IscsiLun::size_bytes, "capacity"},
        Field{"block_bytes", &IscsiLun::block_bytes, "logical block"},
        Field{"physical_block_bytes", &IscsiLun::physical_block_bytes, "physical block"},
        Field{"lowest_aligned_bytes", &IscsiLun::lowest_aligned_bytes, "first byte that is aligned; 0: the first"},
        Field{"thin", &IscsiLun::thin, "blocks are provisioned on demand (lbpme)"},
        Field{"unmap", &IscsiLun::unmap, "it takes UNMAP (VPD page B2); null when it does not tell"},
        Field{"provisioning", &IscsiLun::provisioning, "full, resource or thin; null when it does not tell"},
        Field{"unmap_granularity_bytes", &IscsiLun::unmap_granularity_bytes,
              "unit in which space is given back; null when it does not tell"},
        Field{"optimal_transfer_bytes", &IscsiLun::optimal_transfer_bytes,
              "optimal transfer length; null when it does not tell"},
        Field{"maximum_transfer_bytes", &IscsiLun::maximum_transfer_bytes,
              "largest transfer; null when it tells no limit"},
        Field{"rotation_rate", &IscsiLun::rotation_rate,
              "revolutions a minute, 1: does not rotate; null when it does not tell"},
        Field{"write_protected", &IscsiLun::write_protected, "writes are refused (MODE SENSE)"},
        Field{"alua", &IscsiLun::alua, "none, implicit, explicit, implicit and explicit"},
        Field{"port_groups", &IscsiLun::port_groups, "target port groups; null without ALUA"},
        Field{"portals", &IscsiLun::portals, "ids of the portals by which it was seen"}};
  }
  bool operator==(const IscsiLun&) const = default;
};

}  // namespace facts
