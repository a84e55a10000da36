// The MOUNT protocol, versions 1 and 3: RFC 1813 appendix I, RFC 1094 appendix A.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "probes/wire/rpc.h"

namespace wire::mount3 {

struct Mounted {
  Bytes handle;
  std::vector<std::uint32_t> flavors;  // in the server's order
};
struct ExportEntry {
  std::string path;
  std::vector<std::string> groups;
};

// The server notes the MNT in its list of clients (showmount -a); UMNT takes the note away again.
Call mnt(const std::string& path);
Call umnt(const std::string& path);
Call export_list(std::uint32_t version);

Outcome<Mounted> decode_mnt(View results);  // mountstat3 other than MNT3_OK: Reason::status with the code
Outcome<std::vector<ExportEntry>> decode_export_list(View results);

std::string status_name(std::uint32_t mountstat3);    // MNT3ERR_ACCES ... or the number
std::string flavor_name(std::uint32_t pseudoflavor);  // none, sys, krb5, krb5i, krb5p (RFC 2623), or the number

}  // namespace wire::mount3
