// The texts of iSCSI logins and text exchanges, RFC 7143 section 6: key=value pairs that end with a zero byte. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "probes/wire/reason.h"
#include "probes/wire/xdr.h"

namespace wire::iscsi {

struct TextKey {
  std::string key;
  std::string value;
  bool operator==(const TextKey&) const = default;
};
using TextKeys = std::vector<TextKey>;

inline constexpr std::size_t most_keys = 4096;           // of one text: a discovery names each target and portal
inline constexpr std::size_t most_text_bytes = 1 << 20;  // of one text, over all its PDUs

Bytes encode_text(const TextKeys& keys);
// Keys of 1 to 63 characters (section 6.1). Empty pairs, as from padding with zeros, are passed over; the last pair may
// lack its zero byte.
Outcome<TextKeys> decode_text(View bytes);

const std::string* find(const TextKeys& keys, std::string_view key);
std::vector<std::string> list_of(std::string_view value);  // of a comma separated value
// A number as section 6.1 writes it: decimal, or hexadecimal after 0x. Nothing when it is none, or over 64 bits.
std::optional<std::uint64_t> number_of(std::string_view value);

// Binary values: hexadecimal after 0x, base64 after 0b.
std::string encode_binary(View bytes);
Outcome<Bytes> decode_binary(std::string_view value, std::size_t max);

// "192.0.2.1:3260,1", "[fd00::1]:3260,1", "name:3260"; the port may be missing (3260), the tag too.
struct TargetAddress {
  std::string host;  // without brackets
  std::uint16_t port = 3260;
  std::optional<std::uint16_t> tag;  // target portal group tag
  bool operator==(const TargetAddress&) const = default;
};
std::string to_text(const TargetAddress& address);  // "192.0.2.1:3260,1"
Outcome<TargetAddress> decode_target_address(std::string_view value);

// One target of a SendTargets answer (appendix C).
struct TargetRecord {
  std::string name;
  std::vector<TargetAddress> addresses;
  bool operator==(const TargetRecord&) const = default;
};
struct SendTargets {
  std::vector<TargetRecord> targets;  // in the order of the answer; equal names are one target
  std::vector<std::string> notes;     // entries that could not be used, and why
  bool operator==(const SendTargets&) const = default;
};
SendTargets decode_send_targets(const TextKeys& keys);

}  // namespace wire::iscsi
