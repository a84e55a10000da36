#include "probes/wire/iscsi_chap.h"

#include <nettle/md5.h>
#include <nettle/sha1.h>
#include <nettle/sha2.h>
#include <nettle/sha3.h>

#include "audit/base/text.h"

namespace wire::iscsi {
namespace {

template <class Context>
Bytes digest_of(void (*init)(Context*), void (*update)(Context*, std::size_t, const std::uint8_t*),
                void (*digest)(Context*, std::size_t, std::uint8_t*), std::size_t size, std::uint8_t identifier,
                std::string_view secret, View challenge) {
  Context context;
  init(&context);
  update(&context, 1, &identifier);
  update(&context, secret.size(), reinterpret_cast<const std::uint8_t*>(secret.data()));
  update(&context, challenge.size(), challenge.data());
  Bytes out(size);
  digest(&context, out.size(), out.data());
  return out;
}

}  // namespace

std::string chap_digest_name(ChapDigest digest) {
  switch (digest) {
    case ChapDigest::md5: return "MD5";
    case ChapDigest::sha1: return "SHA1";
    case ChapDigest::sha256: return "SHA256";
    case ChapDigest::sha3_256: return "SHA3-256";
  }
  return "unknown";
}

std::optional<ChapDigest> chap_digest_of(std::string_view number) {
  const auto value = base::number<unsigned>(number);
  if (!value || *value < 5 || *value > 8) return std::nullopt;
  return static_cast<ChapDigest>(*value);
}

Bytes chap_response(ChapDigest digest, std::uint8_t identifier, std::string_view secret, View challenge) {
  switch (digest) {
    case ChapDigest::md5:
      return digest_of(nettle_md5_init, nettle_md5_update, nettle_md5_digest, MD5_DIGEST_SIZE, identifier, secret,
                       challenge);
    case ChapDigest::sha1:
      return digest_of(nettle_sha1_init, nettle_sha1_update, nettle_sha1_digest, SHA1_DIGEST_SIZE, identifier, secret,
                       challenge);
    case ChapDigest::sha256:
      return digest_of(nettle_sha256_init, nettle_sha256_update, nettle_sha256_digest, SHA256_DIGEST_SIZE, identifier,
                       secret, challenge);
    case ChapDigest::sha3_256: break;
  }
  return digest_of(nettle_sha3_256_init, nettle_sha3_256_update, nettle_sha3_256_digest, SHA3_256_DIGEST_SIZE,
                   identifier, secret, challenge);
}

}  // namespace wire::iscsi
