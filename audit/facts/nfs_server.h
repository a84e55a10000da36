// What an NFS server answers to a few questions. Sources: RFC 1833 (rpcbind), RFC 1813 (NFSv3, MOUNT, NLM), RFC 7530
// (NFSv4.0), RFC 8881 (NFSv4.1), RFC 7862 (NFSv4.2), RFC 9289 (RPC with TLS), tcp(7).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "audit/facts/fact.h"

namespace facts {

// One RPC program of a server: rpcbind, nfs, mountd, nlm or nsm.
struct NfsService {
  std::string program;
  std::uint32_t program_number = 0;
  Fact<std::uint32_t> port;    // null: rpcbind answers and does not list it
  Fact<std::string> port_how;  // given, default, rpcbind
  Fact<bool> registered;       // rpcbind lists it
  Fact<std::vector<std::uint32_t>> registered_versions;
  Fact<std::vector<std::uint32_t>> versions;  // those whose NULL was answered
  Fact<std::uint32_t> version;                // the highest of them
  Fact<bool> reachable;                       // some version answered NULL
  Fact<std::string> result;                   // ok, or the reason's name
  Fact<std::string> detail;                   // the reason in words
  Fact<double> connect_ms;                    // until connected, or until that failed
  Fact<double> null_ms;
  Fact<std::vector<std::string>> needed_by_versions;

  template <class NfsService = facts::NfsService>
  static auto fields() {
    return std::array{
        Field{"program", &NfsService::program, "rpcbind, nfs, mountd, nlm or nsm"},
        Field{"program_number", &NfsService::program_number, "RPC program number"},
        Field{"port", &NfsService::port, "TCP port; null when rpcbind answers and lists none"},
        Field{"port_how", &NfsService::port_how, "where the port is from: given, default or rpcbind"},
        Field{"registered", &NfsService::registered, "rpcbind lists the program"},
        Field{"registered_versions", &NfsService::registered_versions, "versions that rpcbind lists"},
        Field{"versions", &NfsService::versions, "versions whose NULL call was answered"},
        Field{"version", &NfsService::version, "highest version whose NULL call was answered; null when none was"},
        Field{"reachable", &NfsService::reachable, "some version answered a NULL call"},
        Field{"result", &NfsService::result,
              "ok, or why there is no answer: connect_timeout, refused, unreachable, silent, closed, not_registered, "
              "version_mismatch, auth_error, tls_bytes and the like"},
        Field{"detail", &NfsService::detail, "the same in words"},
        Field{"connect_ms", &NfsService::connect_ms, "time until the connection was there or had failed"},
        Field{"null_ms", &NfsService::null_ms, "time of the first NULL call"},
        Field{"needed_by_versions", &NfsService::needed_by_versions,
              "NFS versions in use here (or asked for) that cannot do without it; null when none needs it"}};
  }
  bool operator==(const NfsService&) const = default;
};

// What the server says of one export.
struct NfsExport {
  std::string path;                            // as asked for
  Fact<std::string> mnt_result;                // MOUNT version 3 MNT: ok or MNT3ERR_ name
  Fact<std::vector<std::string>> mnt_flavors;  // flavours in the server's order: sys, krb5, ...
  Fact<std::string> lookup_result;             // NFSv4 LOOKUP: ok or NFS4ERR_ name
  Fact<std::vector<std::string>> secinfo;      // SECINFO, same words
  Fact<std::uint64_t> rtmax_bytes;             // FSINFO
  Fact<std::uint64_t> rtpref_bytes;
  Fact<std::uint64_t> wtmax_bytes;
  Fact<std::uint64_t> wtpref_bytes;
  Fact<std::uint64_t> dtpref_bytes;
  Fact<std::uint64_t> maxread_bytes;  // NFSv4 attributes 30 and 31
  Fact<std::uint64_t> maxwrite_bytes;
  Fact<std::uint64_t> maxfilesize_bytes;
  Fact<std::uint32_t> maxname;
  Fact<std::uint64_t> total_bytes;  // FSSTAT or space_total
  Fact<std::uint64_t> free_bytes;
  Fact<std::uint64_t> avail_bytes;
  Fact<std::uint32_t> link_max;  // PATHCONF
  Fact<std::vector<std::uint32_t>> supported_attrs;
  Fact<std::string> fsid;
  Fact<bool> regular_file;  // one was found: the lock test needs it

  template <class NfsExport = facts::NfsExport>
  static auto fields() {
    return std::array{
        Field{"path", &NfsExport::path, "path as asked for"},
        Field{"mnt_result", &NfsExport::mnt_result, "answer of MOUNT version 3: ok, MNT3ERR_ACCES ..."},
        Field{"mnt_flavors", &NfsExport::mnt_flavors, "security flavours that MOUNT lists, in the server's order"},
        Field{"lookup_result", &NfsExport::lookup_result, "answer of NFSv4 LOOKUP: ok, NFS4ERR_NOENT ..."},
        Field{"secinfo", &NfsExport::secinfo, "security flavours that NFSv4 SECINFO lists, in the server's order"},
        Field{"rtmax_bytes", &NfsExport::rtmax_bytes, "largest READ by FSINFO"},
        Field{"rtpref_bytes", &NfsExport::rtpref_bytes, "preferred READ by FSINFO"},
        Field{"wtmax_bytes", &NfsExport::wtmax_bytes, "largest WRITE by FSINFO"},
        Field{"wtpref_bytes", &NfsExport::wtpref_bytes, "preferred WRITE by FSINFO"},
        Field{"dtpref_bytes", &NfsExport::dtpref_bytes, "preferred READDIR by FSINFO"},
        Field{"maxread_bytes", &NfsExport::maxread_bytes, "largest READ by the NFSv4 attribute maxread"},
        Field{"maxwrite_bytes", &NfsExport::maxwrite_bytes, "largest WRITE by the NFSv4 attribute maxwrite"},
        Field{"maxfilesize_bytes", &NfsExport::maxfilesize_bytes, "largest file"},
        Field{"maxname", &NfsExport::maxname, "longest name in a directory"},
        Field{"total_bytes", &NfsExport::total_bytes, "size of the file system"},
        Field{"free_bytes", &NfsExport::free_bytes, "free space"},
        Field{"avail_bytes", &NfsExport::avail_bytes, "free space for the user who asked"},
        Field{"link_max", &NfsExport::link_max, "most hard links of a file by PATHCONF"},
        Field{"supported_attrs", &NfsExport::supported_attrs, "numbers of the NFSv4 attributes it supports"},
        Field{"fsid", &NfsExport::fsid, "file system id, major:minor"},
        Field{"regular_file", &NfsExport::regular_file, "a regular file was found to test locks on"}};
  }
  bool operator==(const NfsExport&) const = default;
};

// A line of the server's export list (MOUNT EXPORT).
struct NfsExportEntry {
  std::string path;
  std::vector<std::string> groups;  // hosts and netgroups; none: everyone

  template <class NfsExportEntry = facts::NfsExportEntry>
  static auto fields() {
    return std::array{
        Field{"path", &NfsExportEntry::path, "exported path"},
        Field{"groups", &NfsExportEntry::groups, "hosts and netgroups that may mount it; none: everyone"}};
  }
  bool operator==(const NfsExportEntry&) const = default;
};

// The session that CREATE_SESSION granted, fore channel (RFC 8881 section 18.36).
struct NfsSession {
  std::uint32_t slots = 0;  // ca_maxrequests
  std::uint64_t max_request_bytes = 0;
  std::uint64_t max_response_bytes = 0;
  std::uint64_t max_cached_bytes = 0;
  std::uint32_t max_operations = 0;
  std::uint32_t slots_asked = 0;
  std::string minor;  // 4.1 or 4.2

  template <class NfsSession = facts::NfsSession>
  static auto fields() {
    return std::array{Field{"slots", &NfsSession::slots, "slots granted: requests in flight of one client"},
                      Field{"max_request_bytes", &NfsSession::max_request_bytes, "largest request granted"},
                      Field{"max_response_bytes", &NfsSession::max_response_bytes, "largest response granted"},
                      Field{"max_cached_bytes", &NfsSession::max_cached_bytes, "largest response kept for replay"},
                      Field{"max_operations", &NfsSession::max_operations, "operations in one compound"},
                      Field{"slots_asked", &NfsSession::slots_asked, "slots asked for"},
                      Field{"minor", &NfsSession::minor, "version it was made with: 4.1 or 4.2"}};
  }
  bool operator==(const NfsSession&) const = default;
};

// One lock, taken and released again on a file made for it (probe --lock-test).
struct NfsLockTest {
  std::string version;       // 3, 4.1, 4.2
  std::string directory;     // path of the directory in which the file was made
  std::string result;        // ok, the status of the step that failed, or the reason's name
  Fact<std::string> step;    // CREATE, LOCK, ...: the one that failed; null when all went well
  Fact<std::string> detail;  // what that means, in words
  Fact<double> lock_ms;
  Fact<double> unlock_ms;
  Fact<bool> monitored;    // NFSv3: the server's status monitor took part, so the lock outlives a restart of the server
  Fact<std::string> left;  // path of what could not be removed; null: nothing is left

  template <class NfsLockTest = facts::NfsLockTest>
  static auto fields() {
    return std::array{
        Field{"version", &NfsLockTest::version, "NFS version of the lock: 3 (by NLM), 4.1 or 4.2"},
        Field{"directory", &NfsLockTest::directory, "directory on the server in which a file was made for it"},
        Field{"result", &NfsLockTest::result,
              "ok, or what stood in the way: NLM4_DENIED_NOLOCKS, NFS4ERR_GRACE, NFS3ERR_ACCES, silent and the like"},
        Field{"step", &NfsLockTest::step, "step that failed: LOOKUP, CREATE, OPEN, LOCK ...; null when none did"},
        Field{"detail", &NfsLockTest::detail, "what the result means; null when there is nothing to add"},
        Field{"lock_ms", &NfsLockTest::lock_ms, "time until the lock was granted"},
        Field{"unlock_ms", &NfsLockTest::unlock_ms, "time until its release was answered"},
        Field{"monitored", &NfsLockTest::monitored,
              "the lock was granted with the server's status monitor taking note of the client; null for NFSv4"},
        Field{"left", &NfsLockTest::left, "file that could not be removed again; null when nothing is left"}};
  }
  bool operator==(const NfsLockTest&) const = default;
};

// The start of one file, read by path as a program would (probe --read-file).
struct NfsReadTest {
  std::string version;  // 3 or 4.0
  std::string path;     // on the server
  std::string result;   // ok, or the error: ENOENT, ETIMEDOUT ...
  Fact<std::string> detail;
  Fact<std::uint64_t> bytes;  // read; less than asked at the end of the file
  Fact<std::uint64_t> file_bytes;
  Fact<std::uint64_t> avail_bytes;  // of its file system, by statvfs
  Fact<double> mount_ms;
  Fact<double> read_ms;

  template <class NfsReadTest = facts::NfsReadTest>
  static auto fields() {
    return std::array{
        Field{"version", &NfsReadTest::version, "NFS version it was read with: 3 or 4.0"},
        Field{"path", &NfsReadTest::path, "file on the server"},
        Field{"result", &NfsReadTest::result, "ok, or the error: ENOENT, EACCES, ETIMEDOUT and the like"},
        Field{"detail", &NfsReadTest::detail, "the error in words; null when there is none"},
        Field{"bytes", &NfsReadTest::bytes, "bytes read, up to one READ of the server's size"},
        Field{"file_bytes", &NfsReadTest::file_bytes, "size of the file"},
        Field{"avail_bytes", &NfsReadTest::avail_bytes, "space in its file system for the user who asked"},
        Field{"mount_ms", &NfsReadTest::mount_ms, "time until the export was there"},
        Field{"read_ms", &NfsReadTest::read_ms, "time of the READ"}};
  }
  bool operator==(const NfsReadTest&) const = default;
};

struct NfsServer {
  std::string name;  // as the first mount names it
  Fact<std::string> addr;
  std::uint32_t port = 2049;
  bool mounted = false;
  Fact<std::string> asked_from;  // our address on the way to it
  Fact<bool> reserved_port;      // asked from a port below 1024
  Fact<std::string> kind;        // ontap anf fsx gcnv truenas linux ganesha other
  Fact<std::string> kind_how;
  std::vector<NfsService> services;
  Fact<std::vector<std::string>> versions;  // 3, 4.0, 4.1, 4.2, 4.3
  Fact<std::uint32_t> nfs4_minor_max;
  Fact<std::uint64_t> rtmax_bytes;  // FSINFO (RFC 1813)
  Fact<std::uint64_t> wtmax_bytes;
  Fact<std::uint64_t> maxread_bytes;  // GETATTR (RFC 8881)
  Fact<std::uint64_t> maxwrite_bytes;
  Fact<std::uint32_t> lease_s;
  Fact<std::uint32_t> grace_s;  // only where it was seen or told, no protocol names it
  Fact<std::string> grace_how;
  Fact<bool> in_grace;
  Fact<std::string> in_grace_how;
  Fact<bool> nfs4_in_grace;    // by LOCKT
  Fact<bool> nlm_in_grace;     // by NLM_TEST
  Fact<std::string> nlm_test;  // status of NLM_TEST: NLM4_GRANTED ...
  Fact<std::string> owner;     // server_owner.so_major_id (RFC 8881 section 18.35)
  Fact<std::uint64_t> owner_minor;
  Fact<std::string> scope;
  Fact<std::string> impl_name;
  Fact<std::string> impl_domain;
  Fact<std::vector<std::string>> pnfs_roles;   // non_pnfs, mds, ds
  Fact<std::vector<std::string>> same_server;  // ids of other entries with the same owner and scope
  Fact<std::vector<std::string>> trunkable;    // those with the same so_minor_id too: session trunking
  Fact<NfsSession> session;
  Fact<bool> tls_offered;  // RFC 9289
  std::vector<NfsExport> exports;
  Fact<std::vector<NfsExportEntry>> export_list;
  Fact<double> connect_ms;
  Fact<std::uint32_t> null_count;
  Fact<double> null_p50_us;
  Fact<double> null_p99_us;
  Fact<double> getattr_p50_us;
  Fact<std::uint32_t> tcp_rtt_us;
  Fact<std::uint32_t> tcp_rtt_var_us;
  Fact<std::uint32_t> tcp_mss_bytes;
  Fact<std::uint32_t> tcp_retrans;
  Fact<std::uint32_t> path_mtu_bytes;
  Fact<std::string> path_mtu_how;  // probe, kernel
  Fact<std::uint32_t> path_mtu_lost_bytes;
  Fact<std::vector<NfsLockTest>> lock_tests;  // null: not wanted
  Fact<NfsReadTest> read_test;                // null: not wanted
  Fact<std::uint32_t> round_trips;
  Fact<std::uint32_t> calls;
  Fact<bool> cleaned_up;  // what was made on the server is gone again

  template <class NfsServer = facts::NfsServer>
  static auto fields() {
    return std::array{
        Field{"name", &NfsServer::name, "server as the first mount names it"},
        Field{"addr", &NfsServer::addr, "address"},
        Field{"port", &NfsServer::port, "port of NFS"},
        Field{"mounted", &NfsServer::mounted, "this node mounts from it"},
        Field{"asked_from", &NfsServer::asked_from, "address of this node from which it was asked"},
        Field{"reserved_port", &NfsServer::reserved_port, "it was asked from a port below 1024"},
        Field{"kind", &NfsServer::kind, "ontap, anf, fsx, gcnv, truenas, linux, ganesha or other"},
        Field{"kind_how", &NfsServer::kind_how, "what told the kind"},
        Field{"services", &NfsServer::services, "RPC programs: rpcbind, nfs, mountd, nlm, nsm"},
        Field{"versions", &NfsServer::versions, "NFS versions that it answers: 3, 4.0, 4.1, 4.2"},
        Field{"nfs4_minor_max", &NfsServer::nfs4_minor_max,
              "highest NFSv4 minor version it accepts; null when it speaks no NFSv4"},
        Field{"rtmax_bytes", &NfsServer::rtmax_bytes, "largest READ by FSINFO, the smallest of the exports asked"},
        Field{"wtmax_bytes", &NfsServer::wtmax_bytes, "largest WRITE by FSINFO, the smallest of the exports asked"},
        Field{"maxread_bytes", &NfsServer::maxread_bytes, "largest READ by GETATTR, the smallest of the exports asked"},
        Field{"maxwrite_bytes", &NfsServer::maxwrite_bytes,
              "largest WRITE by GETATTR, the smallest of the exports asked"},
        Field{"lease_s", &NfsServer::lease_s, "NFSv4 lease time"},
        Field{"grace_s", &NfsServer::grace_s, "length of the grace period, where it was seen or told"},
        Field{"grace_how", &NfsServer::grace_how, "how that length is known"},
        Field{"in_grace", &NfsServer::in_grace, "it is in its grace period: no new locks, no new opens"},
        Field{"in_grace_how", &NfsServer::in_grace_how, "what told so, or why it is not known"},
        Field{"nfs4_in_grace", &NfsServer::nfs4_in_grace, "the same by NFSv4 LOCKT"},
        Field{"nlm_in_grace", &NfsServer::nlm_in_grace, "the same by NLM_TEST"},
        Field{"nlm_test", &NfsServer::nlm_test, "status of NLM_TEST on a regular file"},
        Field{"owner", &NfsServer::owner, "server owner (EXCHANGE_ID): equal at all addresses of one server"},
        Field{"owner_minor", &NfsServer::owner_minor, "minor id of the owner: equal where sessions can be trunked"},
        Field{"scope", &NfsServer::scope, "server scope (EXCHANGE_ID)"},
        Field{"impl_name", &NfsServer::impl_name, "implementation as it names itself; null when it does not"},
        Field{"impl_domain", &NfsServer::impl_domain, "domain of the implementation; null when it does not say"},
        Field{"pnfs_roles", &NfsServer::pnfs_roles, "non_pnfs, mds, ds"},
        Field{"same_server", &NfsServer::same_server, "other addresses asked that are this same server"},
        Field{"trunkable", &NfsServer::trunkable, "those of them whose sessions can be trunked with this one"},
        Field{"session", &NfsServer::session, "what CREATE_SESSION granted"},
        Field{"tls_offered", &NfsServer::tls_offered, "it offers RPC with TLS (RFC 9289)"},
        Field{"exports", &NfsServer::exports, "what it says of the exports asked about"},
        Field{"export_list", &NfsServer::export_list, "its list of exports (showmount -e)"},
        Field{"connect_ms", &NfsServer::connect_ms, "time to connect to NFS"},
        Field{"null_count", &NfsServer::null_count, "NULL calls that were timed, after a warm-up, one at a time"},
        Field{"null_p50_us", &NfsServer::null_p50_us, "median round trip of NULL"},
        Field{"null_p99_us", &NfsServer::null_p99_us, "99th percentile of the same (nearest rank)"},
        Field{"getattr_p50_us", &NfsServer::getattr_p50_us, "median round trip of GETATTR"},
        Field{"tcp_rtt_us", &NfsServer::tcp_rtt_us, "smoothed round trip of TCP on the probe connection"},
        Field{"tcp_rtt_var_us", &NfsServer::tcp_rtt_var_us, "its variation"},
        Field{"tcp_mss_bytes", &NfsServer::tcp_mss_bytes, "send MSS of the probe connection"},
        Field{"tcp_retrans", &NfsServer::tcp_retrans, "retransmissions on the probe connection"},
        Field{"path_mtu_bytes", &NfsServer::path_mtu_bytes, "largest packet that gets through unfragmented"},
        Field{"path_mtu_how", &NfsServer::path_mtu_how,
              "probe: a packet of that size was answered; kernel: what the kernel believes of the route"},
        Field{"path_mtu_lost_bytes", &NfsServer::path_mtu_lost_bytes,
              "smallest packet that got no answer while a smaller one did; null when none was lost"},
        Field{"lock_tests", &NfsServer::lock_tests, "locks taken and released with --lock-test; null when not wanted"},
        Field{"read_test", &NfsServer::read_test, "a file read with --read-file; null when not wanted"},
        Field{"round_trips", &NfsServer::round_trips,
              "round trips of the longest chain of questions, without connects, clean-up and the timed calls"},
        Field{"calls", &NfsServer::calls, "calls sent, all of them"},
        Field{"cleaned_up", &NfsServer::cleaned_up, "session and client id made by the questions are destroyed again"}};
  }
  bool operator==(const NfsServer&) const = default;
};

}  // namespace facts
