// The calls of NFS version 3 (RFC 1813) that say what a server allows; none changes anything. CREATE and REMOVE are for
// the lock test alone.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "probes/wire/rpc.h"

namespace wire::nfs3 {

struct Fsinfo {  // section 3.3.19
  std::uint32_t rtmax = 0;
  std::uint32_t rtpref = 0;
  std::uint32_t wtmax = 0;
  std::uint32_t wtpref = 0;
  std::uint32_t dtpref = 0;
  std::uint64_t maxfilesize = 0;
};
struct Fsstat {  // section 3.3.18
  std::uint64_t total_bytes = 0;
  std::uint64_t free_bytes = 0;
  std::uint64_t avail_bytes = 0;
};
struct Pathconf {  // section 3.3.20
  std::uint32_t link_max = 0;
  std::uint32_t name_max = 0;
};
enum class FileType : std::uint32_t { regular = 1, directory = 2 };
struct Attributes {  // the part of fattr3 that is used
  std::uint32_t type = 0;
  std::uint64_t size = 0;
  std::uint64_t fsid = 0;
  std::uint64_t fileid = 0;
};
struct Entry {
  std::string name;
  std::uint32_t type = 0;  // 0: the server did not say
  Bytes handle;            // empty: the server did not say
};

Call null(std::uint32_t version);  // NFS version 2, 3 or 4
Call getattr(const Bytes& handle);
Call fsinfo(const Bytes& handle);
Call fsstat(const Bytes& handle);
Call pathconf(const Bytes& handle);
Call readdirplus(const Bytes& handle);  // the first 8 KiB of the directory
Call lookup(const Bytes& directory, const std::string& name);
// A new file of mode 0600; GUARDED: one that is there already is an error and never taken for ours.
Call create_new(const Bytes& directory, const std::string& name);
Call remove(const Bytes& directory, const std::string& name);
// Of the latency probe. `write` ends where the data begins: `bytes` of it and their padding follow the call.
Call read(const Bytes& handle, std::uint64_t offset, std::uint32_t bytes);
Call write(const Bytes& handle, std::uint64_t offset, std::uint32_t bytes);

// A status other than NFS3_OK is Reason::status with the code.
Outcome<Attributes> decode_getattr(View results);
Outcome<Fsinfo> decode_fsinfo(View results);
Outcome<Fsstat> decode_fsstat(View results);
Outcome<Pathconf> decode_pathconf(View results);
Outcome<std::vector<Entry>> decode_readdirplus(View results);
Outcome<Bytes> decode_lookup(View results);
Outcome<Bytes> decode_create(View results);  // empty: the server did not give the handle
Outcome<std::uint32_t> decode_remove(View results);

std::string status_name(std::uint32_t nfsstat3);  // NFS3ERR_STALE ... or the number

}  // namespace wire::nfs3
