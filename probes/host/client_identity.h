// Who the NFSv4 client says it is (Documentation/filesystems/nfs/client-identifier.rst): the identifier of the network
// namespace, else the module parameter nfs4_unique_id, and the node name. Hashes only leave this file.
#pragma once

#include <string>
#include <string_view>

#include "audit/facts/rpc.h"

namespace probes {

// First 16 hexadecimal digits of SHA-256. A text that is such a hash already, as a scrubbed capture holds it
// ("sha256:0123456789abcdef"), keeps it.
std::string identity_hash(std::string_view value);
// How a capture keeps an identity: "sha256:" and the hash.
std::string scrubbed_identity(std::string_view value);
// A file that holds an identity and nothing else, for a capture; what means "none" stays.
std::string scrub_identity_file(std::string_view text);
// The text of /sys/fs/nfs/net/nfs_client/identifier or of a module parameter without what means "none": "", "(null)".
std::string identity_text(std::string_view text);

// localhost, template, unqualified or qualified. A name with a part such as "template" or "golden" in it is what cloned
// machines are called that were never renamed.
std::string nodename_class(std::string_view nodename);

// A state of each input: a value ("" means read, and none set), or not known.
struct IdentityTexts {
  facts::Fact<std::string> identifier;
  facts::Fact<std::string> unique_id;
  facts::Fact<std::string> nodename;
};
facts::ClientIdentity client_identity(const IdentityTexts& texts);

}  // namespace probes
