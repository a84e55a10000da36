#include "probes/host/known_messages.h"

#include <algorithm>

namespace probes {

namespace {

struct SlotRow {
  std::string_view name;
  Slot slot;
};
constexpr SlotRow slots[] = {
    {"service", Slot::service}, {"server", Slot::server}, {"port", Slot::port}, {"device", Slot::device},
    {"path", Slot::path},       {"source", Slot::source}, {"code", Slot::code}, {"count", Slot::count},
    {"word", Slot::word},       {"any", Slot::any},
};

// A number as kernel and daemons print it: sign, decimal or 0x.
bool is_number(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  const bool hex = text.starts_with("0x");
  if (hex) text.remove_prefix(2);
  return !text.empty() && text.size() < 20 &&
         text.find_first_not_of(hex ? "0123456789abcdefABCDEF" : "0123456789") == std::string_view::npos;
}

// The program names that the kernel's RPC clients go by.
bool is_service(std::string_view text) {
  for (const std::string_view name : {"nfs", "nfs4", "NFS", "lockd", "statd", "rpcbind", "nfsacl", "nfs4_cb", "mount"})
    if (text == name) return true;
  return false;
}

bool fits(Slot slot, std::string_view text) {
  switch (slot) {
    case Slot::service: return is_service(text);
    case Slot::any: return true;
    case Slot::code:
    case Slot::count:
    case Slot::port: return is_number(text);
    case Slot::path: return !text.empty();
    default: return !text.empty() && text.find_first_of(" \t") == std::string_view::npos;
  }
}

// Takes "{name}" off the pattern.
Slot take_slot(std::string_view& pattern) {
  const std::size_t close = pattern.find('}');
  const std::string_view name = pattern.substr(1, close - 1);
  pattern.remove_prefix(close + 1);
  for (const auto& row : slots)
    if (row.name == name) return row.slot;
  return Slot::any;
}

// The literal at the begin of the pattern.
std::string_view take_literal(std::string_view& pattern) {
  const std::string_view literal = pattern.substr(0, pattern.find('{'));
  pattern.remove_prefix(literal.size());
  return literal;
}

// Where a slot at the end of a pattern ends by itself: "error -5. Exiting" has the code -5.
std::size_t own_end(Slot slot, std::string_view message) {
  std::size_t end = std::string_view::npos;
  if (slot == Slot::code || slot == Slot::count || slot == Slot::port) {
    end = message.find_first_not_of("-0123456789abcdefABCDEFx");
  } else if (slot != Slot::any && slot != Slot::path) {
    end = message.find_first_of(" \t");
  }
  return std::min(end, message.size());
}

bool match_here(std::string_view pattern, std::string_view message, Captures& captures) {
  const bool to_end = pattern.ends_with('$');
  if (to_end) pattern.remove_suffix(1);
  const std::string_view first = take_literal(pattern);
  if (!message.starts_with(first)) return false;
  message.remove_prefix(first.size());
  while (!pattern.empty()) {
    const Slot slot = take_slot(pattern);
    const std::string_view literal = take_literal(pattern);
    const std::size_t end = literal.empty() ? own_end(slot, message) : message.find(literal);
    if (end == std::string_view::npos) return false;
    const std::string_view text = message.substr(0, end);
    if (!fits(slot, text)) return false;
    captures.text[static_cast<std::size_t>(slot)] = text;
    message.remove_prefix(end + literal.size());
  }
  return !to_end || message.empty();
}

using enum CodeKind;

constexpr KnownMessage nfs_messages[] = {
    // The RPC client: net/sunrpc/clnt.c
    {"server-not-responding", "{service}: server {server} not responding, still trying"},
    {"server-timed-out", "{service}: server {server} not responding, timed out"},
    {"server-ok", "{service}: server {server} OK$"},
    {"transport-limit", "SUNRPC: reached max allowed number ({count}) did not add transport to server: {server}", none,
     "max_connect= bounds how many addresses of one server share a client"},
    {"rpcbind-missing", "RPC: failed to contact local rpcbind server (errno {code})", errno_number,
     "rpcbind does not run on this node"},
    {"rpc-fragment-too-large", "RPC: fragment too large: {code}"},
    {"connect-failed", "xs_tcp_setup_socket: connect returned unhandled error {code}", errno_number},
    {"send-failed", "RPC: sendmsg returned unrecognized error {code}", errno_number},
    {"gss-upcall-failed", "RPC: AUTH_GSS upcall failed", none, "rpc.gssd does not answer the kernel"},
    {"gss-upcall-failed", "RPC: AUTH_GSS upcall timed out", none, "rpc.gssd does not answer the kernel"},
    {"gss-session-expired", "*state manager encountered RPCSEC_GSS session expired against NFSv4 server {server}", none,
     "the Kerberos ticket of the machine has expired"},
    {"auth-refused", "RPC: server {server} requires stronger authentication"},
    {"callback-slots-overflow", "Callback slot table overflowed"},
    // The NFS client: fs/nfs
    {"fileid-changed", "NFS: server {server} error: fileid changed fsid {device}: expected fileid {any}", none,
     "under the same name the server now shows another file system: what is mounted stays stale"},
    {"fileid-changed", "NFS: server {server} error: fileid changed", none,
     "under the same name the server now shows another file system: what is mounted stays stale"},
    {"lost-locks", "NFS: {server}: lost {count} locks", none, "locks could not be taken back after a server restart"},
    {"lock-reclaim-failed", "*Lock reclaim failed", none, "a lock could not be taken back: another client may have it"},
    {"lock-reclaim-failed", "NFS: nfs4_reclaim_locks: unhandled error {code}", errno_number},
    {"state-recovery-failed", "NFS: nfs4_reclaim_open_state: unhandled error {code}", errno_number},
    {"state-recovery-failed", "NFSv4: state recovery failed for open file {path}, error = {code}", errno_number},
    {"state-manager-failed", "NFS: state manager{any} failed on NFSv4 server {server} with error {code}", errno_number},
    {"sequence-id-rejected", "NFS: v4 server {server} returned a bad sequence-id error"},
    {"sequence-id-rejected", "NFS: v4 server returned a bad sequence-id error"},
    {"client-id-in-use", "NFS: Server {server} reports our clientid is in use", none,
     "another host uses the same NFSv4 client identity"},
    {"trunking-discovery-failed", "NFS: nfs4_discover_server_trunking unhandled error {code}", errno_number},
    {"raw-ids-refused", "NFS: v4 server {server} does not accept raw uid/gids"},
    {"short-write", "NFS: Server wrote zero bytes"},
    {"readdir-loop", "NFS: directory {path} contains a readdir loop"},
    {"statfs-failed", "nfs_statfs: statfs error = {code}", errno_number},
    {"statfs-failed", "nfs_statfs64: statfs error = {code}", errno_number},
    {"rpc-error", "*RPC call returned error {code}", errno_number},
    {"bad-option", "NFS: bad mount option value specified: {any}"},
    {"bad-option", "NFS: unrecognized mount option {any}"},
    {"bad-option", "{service}: Unknown parameter '{any}'"},
    {"bad-option", "{service}: Bad value for '{any}'"},
    {"option-deprecated", "{service}: Deprecated parameter '{any}'"},
    // lockd and the status monitor: fs/lockd, rpc.statd(8), sm-notify(8)
    {"nsm-monitor-failed", "lockd: cannot monitor {server}", none, "no status monitor answers: locks are refused"},
    {"lockd-no-handle", "lockd: couldn't create RPC handle for {server}", none,
     "the lock manager of the server cannot be reached"},
    {"lockd-failed", "lockd_up: makesock failed, error={code}", errno_number},
    {"rpc-register-failed", "svc: failed to register {word} RPC service (errno {code})", errno_number,
     "rpcbind does not run on this node"},
    {"nlm-denied", "lockd: server returns status {code}", nlm_status},
    {"nlm-call-failed", "lockd: clnt proc returns {code}", errno_number},
    {"nsm-monitor-failed", "*Can not monitor {server} SM_MON ret {code}", rpc_status,
     "the server cannot reach a status monitor for this client: NFSv3 locks are refused"},
    {"nsm-monitor-failed", "*STAT_FAIL to {word} for SM_MON of {server}", none,
     "the status monitor refuses to watch this host: NFSv3 locks are refused"},
    {"nsm-notify-failed", "*Unable to notify {server}, giving up", none, "the peer may keep locks of an earlier boot"},
    {"nsm-notify-failed", "*Can't callback {server} (", none, "the kernel was not told that a peer restarted"},
    {"statd-missing", "*rpc.statd is not running but is required for remote locking", none,
     "NFSv3 needs rpc.statd where mount.nfs runs, and there is none"},
    // knfsd: fs/nfsd/nfs4state.c, nfsctl; rpc.mountd(8)
    {"grace-start", "NFSD: starting {count}-second grace period"},
    {"grace-skipped", "NFSD: no clients to reclaim, skipping NFSv4 grace period"},
    {"grace-end", "NFSD: all clients done reclaiming, ending NFSv4 grace period"},
    {"grace-end", "NFSD: end of grace period"},
    {"server-connection-limit", "nfsd: too many open", none, "the server closes connections: it has too few threads"},
    {"server-send-failed", "rpc-srv/tcp: nfsd: got error {code} when sending", errno_number},
    {"access-denied", "*refused mount request from {server} for {path} (", none,
     "the server's exports do not allow it"},
    // nfs-ganesha
    {"grace-start", "*NFS Server Now IN GRACE, duration {count}"},
    {"grace-end", "*NFS Server Now NOT IN GRACE"},
    {"address-taken-over", "*NFS Server recovery event {word} nodeid {word} ip {server}"},
    {"grace-check", "*check grace:reclaim complete({word}) clid count({count})"},
    {"grace-refused", "*Error status of {word} in position {word} = NFS4ERR_GRACE", none,
     "refused until the grace period ends, the client tries again"},
    // mount.nfs(8)
    {"access-denied", "*access denied by server while mounting {source}", none,
     "the export or its access list, no mount option"},
    {"address-in-use", "*portmap query failed: RPC: Remote system error - Address already in use", none,
     "this node has no free reserved port left; the server is not at fault"},
    {"portmap-failed", "*portmap query failed: {any}"},
    {"portmap-failed", "*portmap query retrying: {any}"},
    {"address-in-use", "*Unable to bindresvport {word} socket: errno {code}", errno_number,
     "this node has no free reserved port left; the server is not at fault"},
    {"version-refused", "*requested NFS version or transport protocol is not supported"},
    {"bad-option", "*an incorrect mount option was specified"},
    {"mount-refused", "*mounting {source} failed, reason given by server: {any}"},
    {"mount-busy", "*is busy or already mounted or sharecache fail"},
    {"mount-point-missing", "*mount point {path} does not exist"},
    {"name-not-resolved", "*Failed to resolve server {server}: {any}"},
    {"bad-source", "*closing bracket missing from server address"},
    {"bad-source", "*remote share not in 'host:dir' format"},
    {"mount-error", "*mount(2): {any}"},
    // tlshd(8)
    {"tls-handshake-failed", "*Handshake with unknown ({server}) failed", none,
     "the peer was named by its address: a certificate made out to a name cannot match"},
    {"tls-handshake-failed", "*Handshake with {word} ({server}) failed"},
    {"tls-handshake-ok", "*Handshake with {word} ({server}) was successful"},
    // automount(8)
    {"automount-failed", "*mount failure {source} on {path}", none, nullptr, "automount"},
    {"automount-failed", "failed to mount {path}$", none, nullptr, "automount"},
    {"automount-no-key", "*key \"{any}\" not found in map", none, nullptr, "automount"},
    // Stale handles, whoever stumbles over them
    {"stale-handle", "*: Stale file handle"},
    {"stale-handle", "*: Stale NFS file handle"},
    // The kernel's watchdog for waiting tasks: kernel/hung_task.c
    {"hung-task", "INFO: task {device} blocked for more than {count} seconds"},
    // kubelet and CSI
    {"volume-mount-failed", "*MountVolume.SetUp failed for volume \"{device}\""},
    {"volume-mount-failed", "*MountVolume.MountDevice failed for volume \"{device}\""},
    // amazon-efs-utils
    {"efs-watchdog-not-started", "*Could not start amazon-efs-mount-watchdog", none,
     "nobody restarts or stops the tunnels of this node's EFS mounts"},
    {"no-free-local-port", "*Failed to locate an available port in the range [{any}]", none,
     "every local port for a tunnel is taken: tunnels of volumes that are gone were not stopped"},
    // VM disks and file systems on top
    {"image-lock-failed", "*Failed to get \"write\" lock", none, "another host or process holds the disk image"},
    {"fs-aborted", "*EXT4-fs error (device {device}): {any}: Detected aborted journal"},
    {"fs-read-only", "*EXT4-fs ({device}): Remounting filesystem read-only"},
    {"fs-shut-down", "*XFS ({device}): Filesystem has been shut down"},
    {"fs-shut-down", "*XFS ({device}): Log I/O Error Detected. Shutting down filesystem"},
};

constexpr KnownMessage iscsi_messages[] = {
    // The kernel: drivers/scsi/libiscsi.c, scsi_transport_iscsi.c
    {"iscsi-connection-error", "connection{device}: detected conn error ({code})", iscsi_error},
    {"iscsi-ping-timeout", "connection{device}: ping timeout of {count} secs expired", none,
     "the target did not answer a NOP-Out in time: the connection is given up"},
    {"iscsi-recovery-over", "session{device}: session recovery timed out after {count} secs", none,
     "replacement_timeout is over: I/O that waited fails now"},
    // iscsid, iscsistart, iscsiadm: open-iscsi usr/initiator.c, login.c, discovery.c, io.c
    {"iscsi-connection-error-told", "Kernel reported iSCSI connection {device} error ({code} - {any}) state ({count})",
     iscsi_error},
    {"iscsi-connection-error-told", "Kernel reported iSCSI connection {device} error ({code}) state ({count})",
     iscsi_error},
    {"iscsi-recovered", "connection{device} is operational after recovery ({count} attempts)"},
    {"iscsi-connect-refused", "*cannot make connection to {server}: Connection refused", none,
     "the host is there and nothing listens on the port: another port, or the target service is stopped"},
    {"iscsi-connect-refused", "*connect to {server}:{port} failed (Connection refused)", none,
     "the host is there and nothing listens on the port: another port, or the target service is stopped"},
    {"iscsi-connect-invalid", "*cannot make connection to {server}: Invalid argument", none,
     "the kernel refuses the address itself: a link-local one needs the interface behind a '%'"},
    {"iscsi-connect-failed", "*cannot make connection to {server}: {any}"},
    {"iscsi-connect-failed", "*connect to {server}:{port} failed ({any})"},
    {"iscsi-login-rejected", "*discovery login to {server} rejected: {any} ({word})"},
    {"iscsi-login-rejected", "*login rejected: {any} ({word})"},
    {"iscsi-authentication-failed", "*Login failed to authenticate with target", none,
     "name or secret of CHAP is wrong, or one is asked for and none is set: to try again does not help"},
    {"iscsi-session-exists", "*initiator reported error (15 - session exists)", none,
     "an earlier login of the same initiator is there already"},
    {"iscsi-login-failed", "*initiator reported error ({code} - {any})"},
    {"iscsi-login-ok", "*login response status 0000"},
};

constexpr std::span<const KnownMessage> tables[] = {nfs_messages, iscsi_messages};

}  // namespace

bool match_message(std::string_view pattern, std::string_view message, Captures& captures) {
  if (!pattern.starts_with('*')) return match_here(pattern, message, captures);
  pattern.remove_prefix(1);
  const std::string_view first = pattern.substr(0, pattern.find_first_of("{$"));
  for (std::size_t at = message.find(first); at != std::string_view::npos; at = message.find(first, at + 1))
    if (match_here(pattern, message.substr(at), captures)) return true;
  return false;
}

std::span<const std::span<const KnownMessage>> known_message_tables() { return tables; }

const KnownMessage* find_known_message(std::string_view message, std::string_view program, Captures& captures) {
  for (const auto& table : tables) {
    for (const auto& row : table) {
      if (row.program != nullptr && !program.starts_with(row.program)) continue;
      captures = {};
      if (match_message(row.pattern, message, captures)) return &row;
    }
  }
  return nullptr;
}

}  // namespace probes
