// CHAP for iSCSI: RFC 1994 and RFC 7143 section 12.1.3, with the digests of RFC 7143 and of IANA's registry. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "probes/wire/xdr.h"

namespace wire::iscsi {

enum class ChapDigest : std::uint8_t { md5 = 5, sha1 = 6, sha256 = 7, sha3_256 = 8 };

// In the order of our offer. MD5 comes first as it does with open-iscsi: every target has it, and some take 7 for SHA-1
// (tgt), so that a right secret would look wrong.
inline constexpr const char* chap_offer = "5,6,7,8";

std::string chap_digest_name(ChapDigest digest);  // MD5, SHA1, SHA256, SHA3-256
std::optional<ChapDigest> chap_digest_of(std::string_view number);

// digest(identifier, secret, challenge)
Bytes chap_response(ChapDigest digest, std::uint8_t identifier, std::string_view secret, View challenge);

}  // namespace wire::iscsi
