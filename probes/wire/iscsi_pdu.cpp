#include "probes/wire/iscsi_pdu.h"

#include <fmt/format.h>

#include <algorithm>

#include "audit/base/text.h"

namespace wire::iscsi {
namespace {

constexpr std::size_t digest_bytes = 4;

std::size_t padded(std::size_t size) { return (size + 3) & ~std::size_t{3}; }

std::array<std::uint32_t, 256> make_crc_table() {
  std::array<std::uint32_t, 256> table = {};
  for (std::uint32_t i = 0; i < table.size(); ++i) {
    std::uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) value = (value & 1) != 0 ? value >> 1 ^ 0x82f63b78U : value >> 1;
    table[i] = value;
  }
  return table;
}

bool is_target_opcode(std::uint8_t opcode) {
  return (opcode >= 0x20 && opcode <= 0x26) || opcode == 0x31 || opcode == 0x32 || opcode == 0x3f;
}

// What a stream that is no iSCSI looks like, for the reader: "HTTP/1.1 400", or the bytes in hexadecimal.
std::string shown(View bytes) {
  const View first = bytes.first(std::min<std::size_t>(bytes.size(), 16));
  const bool text = std::all_of(first.begin(), first.end(), [](std::uint8_t c) { return c >= 0x09 && c < 0x7f; });
  if (text) return "\"" + base::escape_control({reinterpret_cast<const char*>(first.data()), first.size()}) + "\"";
  std::string out;
  for (const auto byte : first) out += fmt::format("{}{:02x}", out.empty() ? "" : " ", byte);
  return out;
}

}  // namespace

std::string opcode_name(std::uint8_t opcode) {
  switch (static_cast<Opcode>(opcode)) {
    case Opcode::nop_out: return "NOP-Out";
    case Opcode::scsi_command: return "SCSI Command";
    case Opcode::login_request: return "Login Request";
    case Opcode::text_request: return "Text Request";
    case Opcode::logout_request: return "Logout Request";
    case Opcode::nop_in: return "NOP-In";
    case Opcode::scsi_response: return "SCSI Response";
    case Opcode::login_response: return "Login Response";
    case Opcode::text_response: return "Text Response";
    case Opcode::data_in: return "SCSI Data-In";
    case Opcode::logout_response: return "Logout Response";
    case Opcode::r2t: return "R2T";
    case Opcode::async_message: return "Asynchronous Message";
    case Opcode::reject: return "Reject";
  }
  return fmt::format("opcode 0x{:02x}", opcode);
}

Pdu::Pdu(Opcode opcode, bool immediate) {
  head[0] = static_cast<std::uint8_t>(static_cast<unsigned>(opcode) | (immediate ? 0x40U : 0U));
}

std::uint16_t Pdu::u16(std::size_t offset) const {
  return static_cast<std::uint16_t>(std::uint32_t{head[offset]} << 8 | head[offset + 1]);
}

std::uint32_t Pdu::u32(std::size_t offset) const {
  return std::uint32_t{u16(offset)} << 16 | std::uint32_t{u16(offset + 2)};
}

Pdu& Pdu::set_u16(std::size_t offset, std::uint16_t value) {
  head[offset] = static_cast<std::uint8_t>(value >> 8);
  head[offset + 1] = static_cast<std::uint8_t>(value & 0xff);
  return *this;
}

Pdu& Pdu::set_u32(std::size_t offset, std::uint32_t value) {
  set_u16(offset, static_cast<std::uint16_t>(value >> 16));
  return set_u16(offset + 2, static_cast<std::uint16_t>(value & 0xffff));
}

std::array<std::uint8_t, 4> crc32c(View bytes) {
  static const std::array<std::uint32_t, 256> table = make_crc_table();
  std::uint32_t value = 0xffffffff;
  for (const auto byte : bytes) value = value >> 8 ^ table[(value ^ byte) & 0xff];
  value = ~value;
  return {static_cast<std::uint8_t>(value), static_cast<std::uint8_t>(value >> 8),
          static_cast<std::uint8_t>(value >> 16), static_cast<std::uint8_t>(value >> 24)};
}

Bytes encode(const Pdu& pdu, Digests digests) {
  Bytes out(pdu.head.begin(), pdu.head.end());
  out[4] = static_cast<std::uint8_t>(pdu.ahs.size() / 4);
  out[5] = static_cast<std::uint8_t>(pdu.data.size() >> 16);
  out[6] = static_cast<std::uint8_t>(pdu.data.size() >> 8);
  out[7] = static_cast<std::uint8_t>(pdu.data.size());
  out.insert(out.end(), pdu.ahs.begin(), pdu.ahs.end());
  const auto append = [&out](const std::array<std::uint8_t, 4>& digest) {
    out.insert(out.end(), digest.begin(), digest.end());
  };
  if (digests.header) append(crc32c(out));
  if (pdu.data.empty()) return out;
  const std::size_t data_at = out.size();
  out.insert(out.end(), pdu.data.begin(), pdu.data.end());
  out.resize(data_at + padded(pdu.data.size()));
  if (digests.data) append(crc32c(View(out).subspan(data_at)));
  return out;
}

Outcome<std::vector<AdditionalHeader>> decode_ahs(View ahs) {
  std::vector<AdditionalHeader> out;
  while (!ahs.empty()) {
    if (ahs.size() < 4) return fail(Reason::short_reply, "an additional header segment of less than four bytes");
    const std::size_t length = std::size_t{ahs[0]} << 8 | ahs[1];
    const std::size_t whole = padded(3 + length);
    if (whole > ahs.size())
      return fail(Reason::bad_value,
                  fmt::format("an additional header segment of {} bytes where {} are left", length, ahs.size() - 3));
    const View bytes = ahs.subspan(3, length);
    out.push_back({ahs[2], Bytes(bytes.begin(), bytes.end())});
    ahs = ahs.subspan(whole);
  }
  return out;
}

void PduReader::feed(View bytes) {
  buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(begin_));
  begin_ = 0;
  buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
}

Outcome<std::optional<Pdu>> PduReader::next() {
  const View left = View(buffer_).subspan(begin_);
  if (left.empty()) return std::nullopt;
  // The first byte tells already; a peer of another protocol may say too little to fill a header.
  const std::uint8_t opcode = left[0] & 0x3f;
  const bool ours = limits_.from == From::target ? is_target_opcode(opcode) && (left[0] & 0xc0) == 0 : opcode < 0x20;
  if (!ours) return fail(Reason::not_iscsi, fmt::format("the answer begins with {}, no PDU of a target", shown(left)));
  if (left.size() < header_bytes) return std::nullopt;
  Pdu pdu;
  std::copy_n(left.begin(), header_bytes, pdu.head.begin());
  const std::size_t ahs_size = std::size_t{left[4]} * 4;
  const std::size_t data_size = std::size_t{left[5]} << 16 | std::size_t{left[6]} << 8 | left[7];
  if (data_size > limits_.data_bytes)
    return fail(Reason::pdu_too_large, fmt::format("{} with a data segment of {} bytes, {} are accepted",
                                                   opcode_name(opcode), data_size, limits_.data_bytes));
  const std::size_t headers = header_bytes + ahs_size;
  const std::size_t data_at = headers + (digests_.header ? digest_bytes : 0);
  // A header that is not what was sent has lengths that mean nothing: it is checked before the data is waited for.
  if (left.size() < data_at) return std::nullopt;
  if (digests_.header) {
    const auto expected = crc32c(left.first(headers));
    if (!std::equal(expected.begin(), expected.end(), left.begin() + static_cast<std::ptrdiff_t>(headers)))
      return fail(Reason::header_digest_error,
                  fmt::format("the header digest of a PDU ({}) is wrong", opcode_name(opcode)));
  }
  const std::size_t data_padded = padded(data_size);
  const std::size_t end = data_at + data_padded + (digests_.data && data_size != 0 ? digest_bytes : 0);
  if (left.size() < end) return std::nullopt;
  const View ahs = left.subspan(header_bytes, ahs_size);
  if (const auto segments = decode_ahs(ahs); !segments) return tl::unexpected(segments.error());
  pdu.ahs.assign(ahs.begin(), ahs.end());
  const View data = left.subspan(data_at, data_size);
  pdu.data.assign(data.begin(), data.end());
  if (digests_.data && data_size != 0) {
    const auto expected = crc32c(left.subspan(data_at, data_padded));
    if (!std::equal(expected.begin(), expected.end(),
                    left.begin() + static_cast<std::ptrdiff_t>(data_at + data_padded)))
      return fail(Reason::data_digest_error, fmt::format("the data digest of {} is wrong", opcode_name(opcode)));
  }
  begin_ += end;
  return pdu;
}

}  // namespace wire::iscsi
