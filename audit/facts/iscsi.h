// The iSCSI initiator of the node: sessions, connections, hosts and interfaces as the kernel runs them, and what
// open-iscsi's files ask for. Sources: drivers/scsi/scsi_transport_iscsi.c (/sys/class/iscsi_*), iscsiadm(8), iscsid
// (etc/iscsid.conf, node records), RFC 7143. Names, passwords and secrets of CHAP are never read: yes or no only.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "audit/facts/fact.h"
#include "audit/facts/iscsi_answer.h"

namespace facts {

// One timeout or parameter in all places that name it. Texts are spelt as in iscsid.conf, so that equal settings are
// equal texts: numbers without leading zeros, Yes and No, None and CRC32C.
struct IscsiSetting {
  std::string key;                   // as in iscsid.conf: node.session.timeo.replacement_timeout
  Fact<std::string> live;            // unknown: nothing told the running value
  Fact<std::string> record;          // node record of target, portal and interface; absent: it does not name the key
  Fact<std::string> config;          // iscsid.conf; absent: it does not name the key
  Fact<std::string> builtin;         // what iscsid takes where no file names the key
  Fact<std::string> multipath;       // fast_io_fail_tmo, which multipathd writes into recovery_tmo; else absent
  Fact<std::string> record_place;    // file:line
  Fact<std::string> config_place;    // file:line
  Fact<std::string> multipath_from;  // where fast_io_fail_tmo comes from

  template <class IscsiSetting = facts::IscsiSetting>
  static auto fields() {
    return std::array{
        Field{"key", &IscsiSetting::key, "name as in iscsid.conf, such as node.session.timeo.replacement_timeout"},
        Field{"live", &IscsiSetting::live, "value that the running session has, spelt as in iscsid.conf"},
        Field{"record", &IscsiSetting::record, "value of the node record; null when it does not name the key"},
        Field{"config", &IscsiSetting::config, "value of iscsid.conf; null when it does not name the key"},
        Field{"builtin", &IscsiSetting::builtin, "value that iscsid takes where no file names the key"},
        Field{"multipath", &IscsiSetting::multipath,
              "fast_io_fail_tmo, which multipathd writes over replacement_timeout; null for other keys and where none "
              "applies"},
        Field{"record_place", &IscsiSetting::record_place, "file:line of the value in the node record"},
        Field{"config_place", &IscsiSetting::config_place, "file:line of the value in iscsid.conf"},
        Field{"multipath_from", &IscsiSetting::multipath_from, "where fast_io_fail_tmo comes from"}};
  }
  bool operator==(const IscsiSetting&) const = default;
};

struct IscsiConnection {
  std::uint32_t cid = 0;
  Fact<std::string> state;         // kernel: up, failed, down
  Fact<std::string> iscsid_state;  // LOGGED IN, TRANSPORT WAIT, IN LOGIN, Unknown ... as iscsiadm prints it
  Fact<bool> connected;            // false: the kernel answers ENOTCONN for the address in use
  Fact<std::string> persistent_addr;
  Fact<std::uint32_t> persistent_port;
  Fact<std::string> addr;  // absent: not connected, or the kernel prints (null)
  Fact<std::uint32_t> port;
  Fact<std::uint32_t> local_port;
  Fact<std::uint32_t> recv_tmo_s;
  Fact<std::uint32_t> ping_tmo_s;
  Fact<std::string> header_digest;  // None, CRC32C
  Fact<std::string> data_digest;
  Fact<std::uint64_t> max_recv_dlength_bytes;
  Fact<std::uint64_t> max_xmit_dlength_bytes;

  template <class IscsiConnection = facts::IscsiConnection>
  static auto fields() {
    return std::array{
        Field{"cid", &IscsiConnection::cid, "connection id; open-iscsi makes one a session, 0"},
        Field{"state", &IscsiConnection::state, "state of the kernel: up, failed or down"},
        Field{"iscsid_state", &IscsiConnection::iscsid_state,
              "state as iscsid has it: LOGGED IN, TRANSPORT WAIT, IN LOGIN, Unknown (not managed by iscsid), ..."},
        Field{"connected", &IscsiConnection::connected,
              "a peer is connected; false when the kernel answers \"not connected\" for its address"},
        Field{"persistent_addr", &IscsiConnection::persistent_addr, "address of the portal that was asked for"},
        Field{"persistent_port", &IscsiConnection::persistent_port, "port of the portal that was asked for"},
        Field{"addr", &IscsiConnection::addr,
              "address in use, another one after a login redirect; null when not connected"},
        Field{"port", &IscsiConnection::port, "port in use; null when not connected"},
        Field{"local_port", &IscsiConnection::local_port, "local TCP port; null when not connected"},
        Field{"recv_tmo_s", &IscsiConnection::recv_tmo_s,
              "silence after which a NOP-Out is sent (noop_out_interval); 0: never"},
        Field{"ping_tmo_s", &IscsiConnection::ping_tmo_s, "time a NOP-Out may take to be answered (noop_out_timeout)"},
        Field{"header_digest", &IscsiConnection::header_digest, "None or CRC32C"},
        Field{"data_digest", &IscsiConnection::data_digest, "None or CRC32C"},
        Field{"max_recv_dlength_bytes", &IscsiConnection::max_recv_dlength_bytes,
              "largest data segment this side takes (MaxRecvDataSegmentLength); on iser that of control PDUs"},
        Field{"max_xmit_dlength_bytes", &IscsiConnection::max_xmit_dlength_bytes,
              "largest data segment the target takes"}};
  }
  bool operator==(const IscsiConnection&) const = default;
};

// Counters of a session, as iscsiadm -m session -s prints them. Cumulative since login.
struct IscsiStats {
  Fact<std::uint64_t> tx_bytes;
  Fact<std::uint64_t> rx_bytes;
  Fact<std::uint64_t> scsi_commands;
  Fact<std::uint64_t> scsi_responses;
  Fact<std::uint64_t> task_management;
  Fact<std::uint64_t> rejects;
  Fact<std::uint64_t> digest_errors;
  Fact<std::uint64_t> timeout_errors;
  Fact<std::uint64_t> aborts;

  template <class IscsiStats = facts::IscsiStats>
  static auto fields() {
    return std::array{
        Field{"tx_bytes", &IscsiStats::tx_bytes, "octets of data sent (txdata_octets)"},
        Field{"rx_bytes", &IscsiStats::rx_bytes, "octets of data received (rxdata_octets)"},
        Field{"scsi_commands", &IscsiStats::scsi_commands, "SCSI commands sent (scsicmd_pdus)"},
        Field{"scsi_responses", &IscsiStats::scsi_responses, "SCSI responses received (scsirsp_pdus)"},
        Field{"task_management", &IscsiStats::task_management, "task management requests sent (tmfcmd_pdus)"},
        Field{"rejects", &IscsiStats::rejects, "rejects received (rjt_pdus)"},
        Field{"digest_errors", &IscsiStats::digest_errors, "PDUs with a wrong digest (digest_err)"},
        Field{"timeout_errors", &IscsiStats::timeout_errors, "connections given up for a timeout (timeout_err)"},
        Field{"aborts", &IscsiStats::aborts, "commands aborted by the error handler (eh_abort_cnt)"}};
  }
  bool operator==(const IscsiStats&) const = default;
};

struct IscsiSession {
  std::string id;  // target, portal and interface with blanks between; unique on the node but for nr_sessions > 1
  Fact<std::uint32_t> sid;
  std::string target;           // IQN, EUI or NAA name
  Fact<std::string> portal;     // id of an entry of iscsi.portals
  Fact<std::int32_t> tpgt;      // absent: not known to iscsid either (-1)
  Fact<std::string> transport;  // tcp, iser, bnx2i, be2iscsi, qla4xxx, cxgb4i, qedi ...
  Fact<bool> offload;           // an adapter runs the session: no network interface, no kernel socket
  Fact<bool> flash;             // configured in the adapter's flash
  Fact<std::string> iface;      // record of the interface: default, or a name of iscsi.ifaces
  Fact<std::uint32_t> host;     // SCSI host number, an entry of iscsi.hosts
  Fact<std::string> netdev;     // interface that it is bound to; absent: not bound
  Fact<std::string> initiatorname;
  Fact<std::string> initiator_addr;
  Fact<std::string> isid;
  Fact<std::string> state;         // kernel: LOGGED_IN, FAILED (recovery runs, I/O is held), FREE (recovery time over)
  Fact<std::string> iscsid_state;  // NO CHANGE, REOPEN, CLEANUP, REDIRECT, Unknown ... as iscsiadm prints it
  Fact<std::string> target_state;  // kernel 6.0 and later: SCANNED, ALLOCATED ...
  Fact<std::uint64_t> recovery_tmo_s;
  Fact<std::uint64_t> abort_tmo_s;
  Fact<std::uint64_t> lu_reset_tmo_s;
  Fact<std::uint64_t> tgt_reset_tmo_s;
  Fact<bool> initial_r2t;
  Fact<bool> immediate_data;
  Fact<std::uint64_t> first_burst_len_bytes;
  Fact<std::uint64_t> max_burst_len_bytes;
  Fact<std::uint32_t> max_outstanding_r2t;
  Fact<std::uint32_t> erl;
  Fact<bool> chap_configured;         // false: (null), <empty> or <NULL>
  Fact<bool> chap_mutual_configured;  // the target has to authenticate as well
  Fact<std::uint32_t> can_queue;      // of its SCSI host
  Fact<std::uint32_t> cmd_per_lun;
  std::vector<IscsiConnection> connections;
  std::vector<std::string> devices;  // disks that it carries, names of block.devices
  Fact<std::string> record;          // path of its node record; absent: none
  Fact<IscsiStats> stats;
  std::vector<IscsiSetting> settings;
  std::vector<std::string> told_by;  // sysfs, iscsiadm -P 3, iscsiadm -P 1, iscsiadm list: what showed the session

  template <class IscsiSession = facts::IscsiSession>
  static auto fields() {
    return std::array{
        Field{"id", &IscsiSession::id, "target, portal and interface with blanks between"},
        Field{"sid", &IscsiSession::sid, "session number; unknown where the text leaves it out"},
        Field{"target", &IscsiSession::target, "name of the target: iqn, eui or naa"},
        Field{"portal", &IscsiSession::portal, "portal that was asked for, an id of iscsi.portals"},
        Field{"tpgt", &IscsiSession::tpgt, "target portal group tag; null when iscsid has none (-1)"},
        Field{"transport", &IscsiSession::transport, "tcp, iser, bnx2i, be2iscsi, qla4xxx, cxgb4i, qedi, ..."},
        Field{"offload", &IscsiSession::offload,
              "an adapter runs the session itself: tuning of network interfaces does not apply"},
        Field{"flash", &IscsiSession::flash, "configured in the flash memory of the adapter"},
        Field{"iface", &IscsiSession::iface, "name of the interface record (iscsiadm -m iface)"},
        Field{"host", &IscsiSession::host, "number of its SCSI host, an entry of iscsi.hosts"},
        Field{"netdev", &IscsiSession::netdev, "network interface that it is bound to; null when it is not bound"},
        Field{"initiatorname", &IscsiSession::initiatorname, "name of the initiator that it logged in with"},
        Field{"initiator_addr", &IscsiSession::initiator_addr, "local address as the host tells it"},
        Field{"isid", &IscsiSession::isid, "initiator part of the session id, hexadecimal"},
        Field{"state", &IscsiSession::state,
              "state of the kernel: LOGGED_IN; FAILED: recovery runs and I/O is held; FREE: the recovery time is over "
              "and I/O fails"},
        Field{"iscsid_state", &IscsiSession::iscsid_state,
              "state inside iscsid: NO CHANGE, REOPEN, CLEANUP, REDIRECT, Unknown (not managed by iscsid), ..."},
        Field{"target_state", &IscsiSession::target_state, "state of the target in the SCSI layer, such as SCANNED"},
        Field{"recovery_tmo_s", &IscsiSession::recovery_tmo_s,
              "time from the loss of the session until I/O fails (replacement_timeout); 0: at once"},
        Field{"abort_tmo_s", &IscsiSession::abort_tmo_s, "time that an abort may take"},
        Field{"lu_reset_tmo_s", &IscsiSession::lu_reset_tmo_s, "time that a reset of a LUN may take"},
        Field{"tgt_reset_tmo_s", &IscsiSession::tgt_reset_tmo_s, "time that a reset of the target may take"},
        Field{"initial_r2t", &IscsiSession::initial_r2t, "negotiated InitialR2T: a write waits for an R2T"},
        Field{"immediate_data", &IscsiSession::immediate_data, "negotiated ImmediateData"},
        Field{"first_burst_len_bytes", &IscsiSession::first_burst_len_bytes, "negotiated FirstBurstLength"},
        Field{"max_burst_len_bytes", &IscsiSession::max_burst_len_bytes, "negotiated MaxBurstLength"},
        Field{"max_outstanding_r2t", &IscsiSession::max_outstanding_r2t, "negotiated MaxOutstandingR2T"},
        Field{"erl", &IscsiSession::erl, "negotiated ErrorRecoveryLevel"},
        Field{"chap_configured", &IscsiSession::chap_configured, "the initiator authenticates with CHAP"},
        Field{"chap_mutual_configured", &IscsiSession::chap_mutual_configured, "the target authenticates as well"},
        Field{"can_queue", &IscsiSession::can_queue, "commands that its SCSI host takes at once"},
        Field{"cmd_per_lun", &IscsiSession::cmd_per_lun, "commands per LUN that its SCSI host starts with"},
        Field{"connections", &IscsiSession::connections, "connections; open-iscsi makes one"},
        Field{"devices", &IscsiSession::devices, "disks that it carries, names of block.devices"},
        Field{"record", &IscsiSession::record, "path of its node record; null when there is none"},
        Field{"stats", &IscsiSession::stats, "counters since login"},
        Field{"settings", &IscsiSession::settings, "timeouts and parameters: live, node record, iscsid.conf"},
        Field{"told_by", &IscsiSession::told_by,
              "what showed it: sysfs, iscsiadm -P 3, iscsiadm -P 1, iscsiadm -m session"}};
  }
  bool operator==(const IscsiSession&) const = default;
};

struct IscsiHost {
  std::uint32_t number = 0;
  Fact<std::string> driver;  // proc_name: iscsi_tcp, iser ...
  Fact<std::string> state;   // running, created, cancel, deleted, recovery ...
  Fact<std::string> netdev;  // absent: (null), not bound
  Fact<std::string> addr;    // absent: not connected, or (null)
  Fact<std::string> hwaddress;
  Fact<std::string> initiatorname;
  Fact<std::uint32_t> can_queue;
  Fact<std::uint32_t> cmd_per_lun;

  template <class IscsiHost = facts::IscsiHost>
  static auto fields() {
    return std::array{
        Field{"number", &IscsiHost::number, "SCSI host number"},
        Field{"driver", &IscsiHost::driver, "driver of the host: iscsi_tcp, iser, ..."},
        Field{"state", &IscsiHost::state, "state of the SCSI host"},
        Field{"netdev", &IscsiHost::netdev, "network interface; null when it is not bound to one"},
        Field{"addr", &IscsiHost::addr, "local address; null when not connected"},
        Field{"hwaddress", &IscsiHost::hwaddress, "hardware address of an adapter; null when there is none"},
        Field{"initiatorname", &IscsiHost::initiatorname,
              "initiator name of the host; null when it has none of its own"},
        Field{"can_queue", &IscsiHost::can_queue, "commands that it takes at once"},
        Field{"cmd_per_lun", &IscsiHost::cmd_per_lun, "commands per LUN that it starts with"}};
  }
  bool operator==(const IscsiHost&) const = default;
};

// A record of iscsiadm -m iface.
struct IscsiIface {
  std::string name;
  std::string path;
  Fact<std::string> transport;
  Fact<std::string> netdev;  // iface.net_ifacename; absent: <empty>
  Fact<std::string> hwaddress;
  Fact<std::string> ipaddress;
  Fact<std::string> initiatorname;

  template <class IscsiIface = facts::IscsiIface>
  static auto fields() {
    return std::array{Field{"name", &IscsiIface::name, "iface.iscsi_ifacename"},
                      Field{"path", &IscsiIface::path, "file of the record"},
                      Field{"transport", &IscsiIface::transport, "iface.transport_name"},
                      Field{"netdev", &IscsiIface::netdev, "iface.net_ifacename; null when empty"},
                      Field{"hwaddress", &IscsiIface::hwaddress, "iface.hwaddress; null when empty"},
                      Field{"ipaddress", &IscsiIface::ipaddress, "iface.ipaddress; null when empty"},
                      Field{"initiatorname", &IscsiIface::initiatorname, "iface.initiatorname; null when empty"}};
  }
  bool operator==(const IscsiIface&) const = default;
};

// A node record: what a login to this target, portal and interface will ask for. It is read at login only.
struct IscsiNodeRecord {
  std::string path;
  std::string target;
  Fact<std::string> portal;  // id of an entry of iscsi.portals; unknown: the text leaves it out
  Fact<std::int32_t> tpgt;
  Fact<std::string> iface;
  Fact<std::string> transport;
  Fact<std::string> startup;       // node.startup: manual, automatic, onboot
  Fact<std::string> conn_startup;  // node.conn[0].startup
  Fact<bool> leading_login;
  Fact<std::string> discovery_type;  // send_targets, static, fw, isns, slp
  Fact<std::string> discovery_addr;
  Fact<std::string> scan;  // auto, manual
  Fact<std::uint32_t> nr_sessions;
  Fact<std::uint32_t> max_connections;
  Fact<std::uint64_t> replacement_timeout_s;
  Fact<std::uint32_t> noop_out_interval_s;
  Fact<std::uint32_t> noop_out_timeout_s;
  Fact<std::uint32_t> login_timeout_s;
  Fact<std::uint32_t> initial_login_retry_max;
  Fact<std::uint32_t> queue_depth;
  Fact<std::uint32_t> cmds_max;
  Fact<std::string> auth_method;      // None, CHAP
  Fact<bool> chap_configured;         // a user name or secret stands in it
  Fact<bool> chap_mutual_configured;  // one for the target stands in it
  Fact<std::string> chap_algs;        // MD5, SHA3-256,SHA256,SHA1,MD5
  Fact<bool> link_local;              // its address works on one link only: fe80::/10 or 169.254.0.0/16
  bool logged_in = false;             // a session has this target, portal and interface

  template <class IscsiNodeRecord = facts::IscsiNodeRecord>
  static auto fields() {
    return std::array{
        Field{"path", &IscsiNodeRecord::path, "file of the record, or the text that listed it"},
        Field{"target", &IscsiNodeRecord::target, "node.name"},
        Field{"portal", &IscsiNodeRecord::portal, "portal, an id of iscsi.portals"},
        Field{"tpgt", &IscsiNodeRecord::tpgt, "node.tpgt; null when -1"},
        Field{"iface", &IscsiNodeRecord::iface, "iface.iscsi_ifacename"},
        Field{"transport", &IscsiNodeRecord::transport, "iface.transport_name"},
        Field{"startup", &IscsiNodeRecord::startup, "node.startup: manual, automatic or onboot"},
        Field{"conn_startup", &IscsiNodeRecord::conn_startup, "node.conn[0].startup"},
        Field{"leading_login", &IscsiNodeRecord::leading_login, "node.leading_login"},
        Field{"discovery_type", &IscsiNodeRecord::discovery_type, "node.discovery_type: send_targets, static, ..."},
        Field{"discovery_addr", &IscsiNodeRecord::discovery_addr, "node.discovery_address; null when empty"},
        Field{"scan", &IscsiNodeRecord::scan, "node.session.scan: auto or manual"},
        Field{"nr_sessions", &IscsiNodeRecord::nr_sessions, "node.session.nr_sessions"},
        Field{"max_connections", &IscsiNodeRecord::max_connections,
              "node.session.iscsi.MaxConnections; open-iscsi makes one whatever it says"},
        Field{"replacement_timeout_s", &IscsiNodeRecord::replacement_timeout_s,
              "node.session.timeo.replacement_timeout"},
        Field{"noop_out_interval_s", &IscsiNodeRecord::noop_out_interval_s, "node.conn[0].timeo.noop_out_interval"},
        Field{"noop_out_timeout_s", &IscsiNodeRecord::noop_out_timeout_s, "node.conn[0].timeo.noop_out_timeout"},
        Field{"login_timeout_s", &IscsiNodeRecord::login_timeout_s, "node.conn[0].timeo.login_timeout"},
        Field{"initial_login_retry_max", &IscsiNodeRecord::initial_login_retry_max,
              "node.session.initial_login_retry_max"},
        Field{"queue_depth", &IscsiNodeRecord::queue_depth, "node.session.queue_depth, commands per LUN"},
        Field{"cmds_max", &IscsiNodeRecord::cmds_max, "node.session.cmds_max, commands per session"},
        Field{"auth_method", &IscsiNodeRecord::auth_method, "node.session.auth.authmethod: None or CHAP"},
        Field{"chap_configured", &IscsiNodeRecord::chap_configured, "the record holds CHAP credentials"},
        Field{"chap_mutual_configured", &IscsiNodeRecord::chap_mutual_configured,
              "the record holds CHAP credentials of the target"},
        Field{"chap_algs", &IscsiNodeRecord::chap_algs, "node.session.auth.chap_algs"},
        Field{"link_local", &IscsiNodeRecord::link_local,
              "its address works on one link only (fe80::/10, 169.254.0.0/16)"},
        Field{"logged_in", &IscsiNodeRecord::logged_in, "a session with this target, portal and interface exists"}};
  }
  bool operator==(const IscsiNodeRecord&) const = default;
};

// An assignment of iscsid.conf. The value of a secret is not kept: "***".
struct IscsidConfEntry {
  std::string path;
  std::uint32_t line = 0;
  std::string key;
  std::string value;
  bool overridden = false;  // the same key stands further down, and that one counts

  template <class IscsidConfEntry = facts::IscsidConfEntry>
  static auto fields() {
    return std::array{
        Field{"path", &IscsidConfEntry::path, "file inside the root"},
        Field{"line", &IscsidConfEntry::line, "its line"}, Field{"key", &IscsidConfEntry::key, "name of the setting"},
        Field{"value", &IscsidConfEntry::value, "value without quotes; *** for a CHAP name or secret"},
        Field{"overridden", &IscsidConfEntry::overridden, "the same key stands further down: that one counts"}};
  }
  bool operator==(const IscsidConfEntry&) const = default;
};

// A portal that something expects a target to answer on.
struct IscsiExpectedPortal {
  std::string portal;         // id of an entry of iscsi.portals
  std::string origin;         // node record, trident, session
  std::string path;           // file, or the session's id
  Fact<std::string> startup;  // of a node record

  template <class IscsiExpectedPortal = facts::IscsiExpectedPortal>
  static auto fields() {
    return std::array{Field{"portal", &IscsiExpectedPortal::portal, "id of an entry of iscsi.portals"},
                      Field{"origin", &IscsiExpectedPortal::origin, "what expects it: node record, trident or session"},
                      Field{"path", &IscsiExpectedPortal::path, "file that names it, or the id of the session"},
                      Field{"startup", &IscsiExpectedPortal::startup, "node.startup where a node record expects it"}};
  }
  bool operator==(const IscsiExpectedPortal&) const = default;
};

// A LUN that Trident's tracking files say this node uses.
struct IscsiExpectedLun {
  std::string volume;  // PersistentVolume
  std::string path;    // tracking file
  Fact<std::uint64_t> lun;
  Fact<std::string> serial;          // hexadecimal or text, as written
  Fact<std::string> wwid;            // that of an ONTAP LUN with this serial (3600a0980 and the serial in hexadecimal)
  Fact<std::string> map;             // multipath map with this WWID; absent: none
  std::vector<std::string> devices;  // disks with this target and LUN number

  template <class IscsiExpectedLun = facts::IscsiExpectedLun>
  static auto fields() {
    return std::array{
        Field{"volume", &IscsiExpectedLun::volume, "PersistentVolume"},
        Field{"path", &IscsiExpectedLun::path, "tracking file that names it"},
        Field{"lun", &IscsiExpectedLun::lun, "LUN number"},
        Field{"serial", &IscsiExpectedLun::serial, "serial number of the LUN"},
        Field{"wwid", &IscsiExpectedLun::wwid, "WWID that an ONTAP LUN with this serial number has"},
        Field{"map", &IscsiExpectedLun::map, "id of the multipath map with this WWID; null when there is none"},
        Field{"devices", &IscsiExpectedLun::devices, "disks with this target and LUN number, names of block.devices"}};
  }
  bool operator==(const IscsiExpectedLun&) const = default;
};

struct IscsiTarget {
  std::string name;
  std::vector<std::string> sessions;                      // ids
  std::vector<std::string> portals;                       // ids of those logged in to
  std::vector<IscsiExpectedPortal> expected_portals;      // each portal and origin once; link-local ones included
  Fact<std::vector<IscsiExpectedLun>> expected_luns;      // unknown: no tracking files could be read
  std::vector<std::string> devices;                       // disks of all its sessions
  Fact<std::vector<IscsiOfferedPortal>> offered_portals;  // by SendTargets; unknown: nobody was asked
  Fact<std::vector<IscsiLun>> luns;                       // by a login of the probe; unknown: there was none

  template <class IscsiTarget = facts::IscsiTarget>
  static auto fields() {
    return std::array{
        Field{"name", &IscsiTarget::name, "name of the target: iqn, eui or naa"},
        Field{"sessions", &IscsiTarget::sessions, "ids of its sessions"},
        Field{"portals", &IscsiTarget::portals, "ids of the portals that sessions exist with, whatever their state"},
        Field{"expected_portals", &IscsiTarget::expected_portals,
              "portals that node records, Trident's tracking files or sessions name"},
        Field{"expected_luns", &IscsiTarget::expected_luns, "LUNs that Trident's tracking files name"},
        Field{"devices", &IscsiTarget::devices, "disks of all its sessions, names of block.devices"},
        Field{"offered_portals", &IscsiTarget::offered_portals, "portals that SendTargets names for it"},
        Field{"luns", &IscsiTarget::luns, "LUNs as the target describes them to a login of the probe"}};
  }
  bool operator==(const IscsiTarget&) const = default;
};

struct IscsiPortal {
  std::string id;    // addr:port,tag; IPv6 in brackets; without ",tag" where no tag is known
  std::string addr;  // without brackets; a host name where the record has one
  std::uint32_t port = 0;
  Fact<std::int32_t> tag;
  bool is_name = false;     // a host name
  bool link_local = false;  // fe80::/10 or 169.254.0.0/16
  Fact<std::string> zone;   // interface behind '%' of a link-local address; absent: none
  std::vector<std::string> targets;
  std::vector<std::string> sessions;  // ids
  std::vector<std::string> origins;   // session, node record, discovery record, trident, discovery, user
  Fact<std::string> interface;        // of the route to it, a name of network.interfaces; absent: no route
  Fact<bool> reachable;               // a TCP connect by the probe; unknown: not asked
  Fact<std::string> connect_result;   // ok, connect_timeout, refused, unreachable, no_zone ...
  Fact<std::string> connect_detail;   // the same in words
  Fact<double> connect_ms;            // until the connection was there, or had failed
  Fact<double> tcp_rtt_us;
  Fact<std::uint32_t> tcp_mss_bytes;
  Fact<std::uint32_t> tcp_retrans;
  Fact<std::string> asked_from;          // local address of the connect
  Fact<IscsiDiscovery> discovery;        // absent: the portal was asked, but not for its targets
  Fact<std::vector<IscsiLogin>> logins;  // unknown: nobody logged in

  template <class IscsiPortal = facts::IscsiPortal>
  static auto fields() {
    return std::array{
        Field{"id", &IscsiPortal::id, "addr:port,tag with IPv6 addresses in brackets"},
        Field{"addr", &IscsiPortal::addr, "address or host name, without brackets"},
        Field{"port", &IscsiPortal::port, "TCP port"},
        Field{"tag", &IscsiPortal::tag, "target portal group tag; null when none is known"},
        Field{"is_name", &IscsiPortal::is_name, "it is known by a host name"},
        Field{"link_local", &IscsiPortal::link_local, "the address works on one link only (fe80::/10, 169.254.0.0/16)"},
        Field{"zone", &IscsiPortal::zone, "interface that a link-local address names; null for none"},
        Field{"targets", &IscsiPortal::targets, "targets behind it"},
        Field{"sessions", &IscsiPortal::sessions, "ids of the sessions with it"},
        Field{"origins", &IscsiPortal::origins,
              "what names it: session, node record, discovery record, trident, discovery (of the probe), user"},
        Field{"interface", &IscsiPortal::interface,
              "network interface of the route to it; null when there is no route"},
        Field{"reachable", &IscsiPortal::reachable, "a TCP connect of the probe was answered"},
        Field{"connect_result", &IscsiPortal::connect_result,
              "ok, or why there is no connection: connect_timeout, refused, unreachable, no_zone, local_error"},
        Field{"connect_detail", &IscsiPortal::connect_detail, "the same in words; null when it went well"},
        Field{"connect_ms", &IscsiPortal::connect_ms, "time until the connection was there or had failed"},
        Field{"tcp_rtt_us", &IscsiPortal::tcp_rtt_us, "round trip that TCP measured"},
        Field{"tcp_mss_bytes", &IscsiPortal::tcp_mss_bytes, "segment size that TCP sends"},
        Field{"tcp_retrans", &IscsiPortal::tcp_retrans, "segments of the probe that were sent again"},
        Field{"asked_from", &IscsiPortal::asked_from, "local address of the connection"},
        Field{"discovery", &IscsiPortal::discovery,
              "discovery session of the probe; null when the portal was not asked for its targets"},
        Field{"logins", &IscsiPortal::logins, "logins of the probe, one for each target"}};
  }
  bool operator==(const IscsiPortal&) const = default;
};

struct Iscsi {
  Fact<std::vector<IscsiSession>> sessions;  // unknown: nothing that was read could tell
  std::vector<IscsiTarget> targets;
  std::vector<IscsiPortal> portals;
  Fact<std::vector<IscsiHost>> hosts;
  Fact<std::vector<IscsiIface>> ifaces;
  Fact<std::vector<std::string>> transports;  // registered with the kernel
  Fact<std::vector<IscsiNodeRecord>> node_records;
  Fact<std::vector<IscsidConfEntry>> iscsid_conf;  // absent: no such file
  Fact<std::string> iscsid_conf_path;
  Fact<std::string> initiatorname;  // absent: the file is there and names none
  Fact<std::string> initiatorname_path;
  Fact<std::uint32_t> initiatorname_count;  // InitiatorName= lines; the last one counts
  Fact<bool> root_on_iscsi;                 // the root file system lies on a session's disk

  template <class Iscsi = facts::Iscsi>
  static auto fields() {
    return std::array{
        Field{"sessions", &Iscsi::sessions, "sessions, whatever their state"},
        Field{"targets", &Iscsi::targets, "targets that sessions, node records or Trident's tracking files name"},
        Field{"portals", &Iscsi::portals, "portals that sessions, records or Trident's tracking files name"},
        Field{"hosts", &Iscsi::hosts, "SCSI hosts of iSCSI"},
        Field{"ifaces", &Iscsi::ifaces, "interface records of open-iscsi"},
        Field{"transports", &Iscsi::transports, "iSCSI transports registered with the kernel"},
        Field{"node_records", &Iscsi::node_records, "node records of open-iscsi"},
        Field{"iscsid_conf", &Iscsi::iscsid_conf, "assignments of iscsid.conf; null when there is no such file"},
        Field{"iscsid_conf_path", &Iscsi::iscsid_conf_path, "the file that was read as iscsid.conf"},
        Field{"initiatorname", &Iscsi::initiatorname, "InitiatorName of initiatorname.iscsi; null when it names none"},
        Field{"initiatorname_path", &Iscsi::initiatorname_path, "the file that names it"},
        Field{"initiatorname_count", &Iscsi::initiatorname_count, "InitiatorName lines in that file"},
        Field{"root_on_iscsi", &Iscsi::root_on_iscsi, "the root file system lies on a disk of a session"}};
  }
  bool operator==(const Iscsi&) const = default;
};

}  // namespace facts
