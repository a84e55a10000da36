#include "probes/host/numbers_in_words.h"

#include <fmt/format.h>

namespace probes {

namespace {

struct ErrnoRow {
  int number;
  const char* name;
  const char* words;  // as strerror(3) says below 512
};
constexpr ErrnoRow errnos[] = {
    {1, "EPERM", "Operation not permitted"},
    {2, "ENOENT", "No such file or directory"},
    {4, "EINTR", "Interrupted system call"},
    {5, "EIO", "Input/output error"},
    {6, "ENXIO", "No such device or address"},
    {11, "EAGAIN", "Resource temporarily unavailable"},
    {12, "ENOMEM", "Cannot allocate memory"},
    {13, "EACCES", "Permission denied"},
    {16, "EBUSY", "Device or resource busy"},
    {19, "ENODEV", "No such device"},
    {20, "ENOTDIR", "Not a directory"},
    {22, "EINVAL", "Invalid argument"},
    {24, "EMFILE", "Too many open files"},
    {27, "EFBIG", "File too large"},
    {28, "ENOSPC", "No space left on device"},
    {30, "EROFS", "Read-only file system"},
    {32, "EPIPE", "Broken pipe"},
    {35, "EDEADLK", "Resource deadlock avoided"},
    {37, "ENOLCK", "No locks available"},
    {93, "EPROTONOSUPPORT", "Protocol not supported"},
    {95, "EOPNOTSUPP", "Operation not supported"},
    {97, "EAFNOSUPPORT", "Address family not supported by protocol"},
    {98, "EADDRINUSE", "Address already in use"},
    {99, "EADDRNOTAVAIL", "Cannot assign requested address"},
    {100, "ENETDOWN", "Network is down"},
    {101, "ENETUNREACH", "Network is unreachable"},
    {103, "ECONNABORTED", "Software caused connection abort"},
    {104, "ECONNRESET", "Connection reset by peer"},
    {105, "ENOBUFS", "No buffer space available"},
    {107, "ENOTCONN", "Transport endpoint is not connected"},
    {110, "ETIMEDOUT", "Connection timed out"},
    {111, "ECONNREFUSED", "Connection refused"},
    {112, "EHOSTDOWN", "Host is down"},
    {113, "EHOSTUNREACH", "No route to host"},
    {116, "ESTALE", "Stale file handle"},
    {121, "EREMOTEIO", "Remote I/O error"},
    {122, "EDQUOT", "Disk quota exceeded"},
    {126, "ENOKEY", "Required key not available"},
    {127, "EKEYEXPIRED", "Key has expired"},
    {512, "ERESTARTSYS", "interrupted by a signal"},
    {521, "EBADHANDLE", "illegal file handle"},
    {523, "EBADCOOKIE", "stale directory cookie"},
    {524, "ENOTSUPP", "operation not supported by the server"},
    {525, "ETOOSMALL", "buffer or request too small"},
    {526, "ESERVERFAULT", "untranslatable error of the server"},
    {528, "EJUKEBOX", "the server asks to try later"},
    {10001, "NFS4ERR_BADHANDLE", "illegal file handle"},
    {10006, "NFS4ERR_SERVERFAULT", "fault on the server"},
    {10008, "NFS4ERR_DELAY", "the server asks to try later"},
    {10011, "NFS4ERR_EXPIRED", "the lease has expired"},
    {10012, "NFS4ERR_LOCKED", "locked by somebody else"},
    {10013, "NFS4ERR_GRACE", "the server is in its grace period"},
    {10016, "NFS4ERR_WRONGSEC", "the server wants another security flavour"},
    {10017, "NFS4ERR_CLID_INUSE", "another client uses this client id"},
    {10018, "NFS4ERR_RESOURCE", "the server is out of resources"},
    {10021, "NFS4ERR_MINOR_VERS_MISMATCH", "minor version not supported"},
    {10022, "NFS4ERR_STALE_CLIENTID", "the server does not know the client id"},
    {10023, "NFS4ERR_STALE_STATEID", "state of an earlier run of the server"},
    {10024, "NFS4ERR_OLD_STATEID", "state id out of date"},
    {10025, "NFS4ERR_BAD_STATEID", "the server does not know the state id"},
    {10026, "NFS4ERR_BAD_SEQID", "sequence number out of step"},
    {10033, "NFS4ERR_NO_GRACE", "reclaim outside the grace period"},
    {10034, "NFS4ERR_RECLAIM_BAD", "the server refuses the reclaim"},
    {10049, "NFS4ERR_BADSLOT", "slot out of range"},
    {10052, "NFS4ERR_BADSESSION", "the server does not know the session"},
    {10063, "NFS4ERR_SEQ_MISORDERED", "request out of order on its slot"},
    {10078, "NFS4ERR_DEADSESSION", "the session is being destroyed"},
};

struct StatusRow {
  int number;
  const char* words;
};
constexpr StatusRow nlm_status[] = {
    {0, "granted (LCK_GRANTED)"},
    {1, "denied (LCK_DENIED)"},
    {2, "denied, no locks available (LCK_DENIED_NOLOCKS)"},
    {3, "blocked, will be granted later (LCK_BLOCKED)"},
    {4, "denied, the server is in its grace period (LCK_DENIED_GRACE_PERIOD)"},
    {5, "denied, deadlock (NLM4_DEADLCK)"},
    {6, "denied, read-only file system (NLM4_ROFS)"},
    {7, "denied, stale file handle (NLM4_STALE_FH)"},
    {8, "denied, offset too large (NLM4_FBIG)"},
    {9, "failed (NLM4_FAILED)"},
};
constexpr StatusRow rpc_status[] = {
    {0, "success (RPC_SUCCESS)"},
    {1, "cannot encode the arguments (RPC_CANTENCODEARGS)"},
    {2, "cannot decode the result (RPC_CANTDECODERES)"},
    {3, "cannot send (RPC_CANTSEND)"},
    {4, "cannot receive (RPC_CANTRECV)"},
    {5, "timed out (RPC_TIMEDOUT)"},
    {6, "RPC versions do not match (RPC_VERSMISMATCH)"},
    {7, "authentication failed (RPC_AUTHERROR)"},
    {8, "program not available (RPC_PROGUNAVAIL)"},
    {9, "program version not available (RPC_PROGVERSMISMATCH)"},
    {10, "procedure not available (RPC_PROCUNAVAIL)"},
    {11, "the server cannot decode the arguments (RPC_CANTDECODEARGS)"},
    {12, "error of the operating system (RPC_SYSTEMERROR)"},
    {13, "unknown host (RPC_UNKNOWNHOST)"},
    {14, "port mapper failed (RPC_PMAPFAILURE)"},
    {15, "program not registered (RPC_PROGNOTREGISTERED)"},
    {16, "failed, cause unknown (RPC_FAILED)"},
    {17, "unknown protocol (RPC_UNKNOWNPROTO)"},
};

constexpr StatusRow iscsi_errors[] = {
    {1003, "the target's window of command numbers is not valid (ISCSI_ERR_MAX_CMDSN)"},
    {1005, "a PDU of an unknown kind came (ISCSI_ERR_BAD_OPCODE)"},
    {1008, "the other side broke the protocol (ISCSI_ERR_PROTO)"},
    {1010, "an answer to no request (ISCSI_ERR_BAD_ITT)"},
    {1011, "the connection failed (ISCSI_ERR_CONN_FAILED)"},
    {1013, "the session failed (ISCSI_ERR_SESSION_FAILED)"},
    {1014, "wrong digest of a header (ISCSI_ERR_HDR_DGST)"},
    {1015, "wrong digest of data (ISCSI_ERR_DATA_DGST)"},
    {1017, "no such SCSI command (ISCSI_ERR_NO_SCSI_CMD)"},
    {1018, "the host is gone (ISCSI_ERR_INVALID_HOST)"},
    {1019, "sending failed (ISCSI_ERR_XMIT_FAILED)"},
    {1020, "the other side closed the connection (ISCSI_ERR_TCP_CONN_CLOSE)"},
    {1021, "the error handler reset the session (ISCSI_ERR_SCSI_EH_SESSION_RST)"},
    {1022, "a NOP-Out was not answered in time (ISCSI_ERR_NOP_TIMEDOUT)"},
};

template <std::size_t N>
std::optional<std::string> look_up(const StatusRow (&table)[N], std::int64_t status) {
  for (const auto& row : table)
    if (row.number == status) return row.words;
  return std::nullopt;
}

}  // namespace

std::optional<std::string> errno_words(std::int64_t number) {
  for (const auto& row : errnos)
    if (number == row.number || number == -row.number) return fmt::format("{}: {}", row.name, row.words);
  return std::nullopt;
}
std::optional<std::string> nlm_words(std::int64_t status) { return look_up(nlm_status, status); }
std::optional<std::string> rpc_words(std::int64_t status) { return look_up(rpc_status, status); }

std::optional<std::string> iscsi_error_words(std::int64_t number) {
  return look_up(iscsi_errors, number > 0 && number < 1000 ? number + 1000 : number);
}

std::optional<int> errno_of(std::string_view text) {
  if (text == "Stale NFS file handle") return 116;  // glibc before 2.18
  for (const auto& row : errnos)
    if (text == row.words) return row.number;
  return std::nullopt;
}

}  // namespace probes
