// iSCSI PDUs, RFC 7143 section 11: basic header segment, additional header segments, data segment, CRC32C digests.
// Pure: bytes in, values out, every length bounded before anything is kept.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "probes/wire/reason.h"
#include "probes/wire/xdr.h"

namespace wire::iscsi {

enum class Opcode : std::uint8_t {
  nop_out = 0x00,
  scsi_command = 0x01,
  login_request = 0x03,
  text_request = 0x04,
  logout_request = 0x06,
  nop_in = 0x20,
  scsi_response = 0x21,
  login_response = 0x23,
  text_response = 0x24,
  data_in = 0x25,
  logout_response = 0x26,
  r2t = 0x31,
  async_message = 0x32,
  reject = 0x3f,
};
std::string opcode_name(std::uint8_t opcode);  // "Login Response", or the number

inline constexpr std::size_t header_bytes = 48;
inline constexpr std::uint32_t no_tag = 0xffffffff;  // the reserved task tag

// Offsets of the words that PDUs have in common.
namespace at {
inline constexpr std::size_t lun = 8;
inline constexpr std::size_t itt = 16;  // initiator task tag
inline constexpr std::size_t ttt = 20;  // target transfer tag
inline constexpr std::size_t cmd_sn = 24;
inline constexpr std::size_t stat_sn = 24;
inline constexpr std::size_t exp_stat_sn = 28;
inline constexpr std::size_t exp_cmd_sn = 28;
inline constexpr std::size_t max_cmd_sn = 32;
}  // namespace at

// The lengths in the header are those of `ahs` and `data` when it is encoded; a decoded one holds them as they came.
struct Pdu {
  std::array<std::uint8_t, header_bytes> head = {};
  Bytes ahs;   // a multiple of four bytes
  Bytes data;  // without its padding

  Pdu() = default;
  explicit Pdu(Opcode opcode, bool immediate = false);

  std::uint8_t opcode() const { return head[0] & 0x3f; }
  bool is(Opcode wanted) const { return opcode() == static_cast<std::uint8_t>(wanted); }
  bool immediate() const { return (head[0] & 0x40) != 0; }
  std::uint8_t flags() const { return head[1]; }
  std::uint16_t u16(std::size_t offset) const;
  std::uint32_t u32(std::size_t offset) const;
  Pdu& set_u16(std::size_t offset, std::uint16_t value);
  Pdu& set_u32(std::size_t offset, std::uint32_t value);
  std::uint32_t itt() const { return u32(at::itt); }
  bool operator==(const Pdu&) const = default;
};

struct Digests {
  bool header = false;
  bool data = false;
  bool operator==(const Digests&) const = default;
};

// CRC32C (RFC 7143 section 13.1, polynomial of Castagnoli) as the four bytes that go on the wire.
std::array<std::uint8_t, 4> crc32c(View bytes);

Bytes encode(const Pdu& pdu, Digests digests);

// One additional header segment (section 11.2.2). A target has no use for one; they are taken apart to see that their
// lengths hold, and then ignored.
struct AdditionalHeader {
  std::uint8_t type = 0;
  Bytes bytes;  // AHSLength of them: the specific part after the type
  bool operator==(const AdditionalHeader&) const = default;
};
Outcome<std::vector<AdditionalHeader>> decode_ahs(View ahs);

// Puts PDUs together from what the socket gives.
class PduReader {
 public:
  enum class From : std::uint8_t { target, initiator };
  struct Limits {
    std::size_t data_bytes = 65536;  // of a data segment: what was declared, before that a good deal over the default
    From from = From::target;        // whose opcodes are accepted
  };
  PduReader() = default;
  explicit PduReader(Limits limits) : limits_(limits) {}

  void feed(View bytes);
  // The next whole PDU; nothing when more bytes are needed. After a failure the stream has no meaning any more.
  Outcome<std::optional<Pdu>> next();
  void set_digests(Digests digests) { digests_ = digests; }  // from the next PDU on
  void set_data_limit(std::size_t bytes) { limits_.data_bytes = bytes; }
  bool inside_pdu() const { return begin_ != buffer_.size(); }
  std::size_t bytes_of_pdu() const { return buffer_.size() - begin_; }

 private:
  Limits limits_;
  Digests digests_;
  Bytes buffer_;
  std::size_t begin_ = 0;  // of what is not yet taken
};

}  // namespace wire::iscsi
