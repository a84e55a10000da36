// Error and status numbers that messages print, in words. Sources: asm-generic/errno*.h and include/linux/errno.h (NFS
// errors above 512), RFC 7530 s13 and RFC 8881 s15 (10000 and up), NLM status (X/Open XNFS, RFC 1813 has the NFS side),
// clnt_stat of rpc/clnt_stat.h, enum iscsi_err of the kernel's include/scsi/iscsi_if.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace probes {

// "ENOLCK: no locks available" for 37 and -37; nothing for a number that is not known.
std::optional<std::string> errno_words(std::int64_t number);
// "denied, no locks (LCK_DENIED_NOLOCKS)" for 2.
std::optional<std::string> nlm_words(std::int64_t status);
// "timed out (RPC_TIMEDOUT)" for 5.
std::optional<std::string> rpc_words(std::int64_t status);
// "a NOP-Out was not answered in time (ISCSI_ERR_NOP_TIMEDOUT)" for 1022, and for 22 as older kernels print it.
std::optional<std::string> iscsi_error_words(std::int64_t number);
// The number of a text of strerror(3) in the C locale; nothing when it is none of the known ones.
std::optional<int> errno_of(std::string_view text);

}  // namespace probes
