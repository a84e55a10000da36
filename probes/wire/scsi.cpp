#include "probes/wire/scsi.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "audit/base/text.h"

namespace wire::scsi {
namespace {

std::uint16_t u16(View data, std::size_t at) {
  return static_cast<std::uint16_t>(std::uint32_t{data[at]} << 8 | data[at + 1]);
}
std::uint32_t u32(View data, std::size_t at) { return std::uint32_t{u16(data, at)} << 16 | u16(data, at + 2); }
std::uint64_t u64(View data, std::size_t at) { return std::uint64_t{u32(data, at)} << 32 | u32(data, at + 4); }

void put16(Cdb& cdb, std::size_t at, std::uint32_t value) {
  cdb[at] = static_cast<std::uint8_t>(value >> 8);
  cdb[at + 1] = static_cast<std::uint8_t>(value);
}
void put32(Cdb& cdb, std::size_t at, std::uint32_t value) {
  put16(cdb, at, value >> 16);
  put16(cdb, at + 2, value & 0xffff);
}

// Text of a fixed field: blanks and zeros at its end are padding.
std::string field_text(View data) {
  std::string text(data.begin(), data.end());
  text.erase(std::min(text.find('\0'), text.size()));
  return std::string(base::trim(text));
}

std::string hex(View data) {
  std::string out;
  for (const auto byte : data) out += fmt::format("{:02x}", byte);
  return out;
}

tl::unexpected<Failure> short_answer(const char* what, std::size_t got, std::size_t wanted) {
  return fail(Reason::short_reply, fmt::format("{}: {} bytes, {} are the least", what, got, wanted));
}

// The body of a VPD page: what its length says, and what came of it.
Outcome<View> page_body(View data, std::uint8_t page, std::size_t least) {
  if (data.size() < 4) return short_answer("VPD page", data.size(), 4);
  if (data[1] != page) return fail(Reason::bad_value, fmt::format("VPD page {:02x} instead of {:02x}", data[1], page));
  const View body = data.subspan(4, std::min<std::size_t>(u16(data, 2), data.size() - 4));
  if (body.size() < least)
    return fail(Reason::short_reply,
                fmt::format("VPD page {:02x} of {} bytes, {} are the least", page, body.size(), least));
  return body;
}

}  // namespace

Lun lun_of(std::uint16_t number) {
  Lun lun = {};
  lun[0] = static_cast<std::uint8_t>(number < 256 ? 0 : 0x40 | number >> 8);
  lun[1] = static_cast<std::uint8_t>(number & 0xff);
  return lun;
}

std::optional<std::uint16_t> lun_number(const Lun& lun) {
  if (std::any_of(lun.begin() + 2, lun.end(), [](std::uint8_t byte) { return byte != 0; })) return std::nullopt;
  const unsigned method = lun[0] >> 6;
  if (method == 0 && lun[0] == 0) return lun[1];
  if (method == 1) return static_cast<std::uint16_t>((lun[0] & 0x3fU) << 8 | lun[1]);
  return std::nullopt;
}

std::string lun_text(const Lun& lun) {
  if (const auto number = lun_number(lun)) return fmt::format("{}", *number);
  return "0x" + hex(lun);
}

Cdb test_unit_ready() { return {}; }

Cdb inquiry(std::uint16_t allocation) {
  Cdb cdb = {0x12};
  put16(cdb, 3, allocation);
  return cdb;
}

Cdb inquiry_page(std::uint8_t page, std::uint16_t allocation) {
  Cdb cdb = {0x12, 0x01, page};
  put16(cdb, 3, allocation);
  return cdb;
}

Cdb read_capacity16(std::uint32_t allocation) {
  Cdb cdb = {0x9e, 0x10};
  put32(cdb, 10, allocation);
  return cdb;
}

Cdb report_luns(std::uint32_t allocation) {
  Cdb cdb = {0xa0};
  put32(cdb, 6, allocation);
  return cdb;
}

Cdb report_target_port_groups(std::uint32_t allocation) {
  Cdb cdb = {0xa3, 0x0a};
  put32(cdb, 6, allocation);
  return cdb;
}

Cdb mode_sense6(std::uint8_t page, std::uint8_t allocation) { return {0x1a, 0, page, 0, allocation}; }

Cdb read16(std::uint64_t lba, std::uint32_t blocks) {
  Cdb cdb = {0x88};
  put32(cdb, 2, static_cast<std::uint32_t>(lba >> 32));
  put32(cdb, 6, static_cast<std::uint32_t>(lba));
  put32(cdb, 10, blocks);
  return cdb;
}

bool is_unit_attention(const Failure& failure) {
  return failure.reason == Reason::scsi_status && (failure.code >> 16 & 0xf) == 6 && failure.code >> 24 == 2;
}

std::string sense_words(std::uint32_t code) {
  static constexpr std::array keys = {"no sense",       "recovered error", "not ready",      "medium error",
                                      "hardware error", "illegal request", "unit attention", "data protect",
                                      "blank check",    "vendor specific", "copy aborted",   "aborted command",
                                      "reserved",       "volume overflow", "miscompare",     "completed"};
  const auto additional = [&]() -> const char* {
    switch (code & 0xffff) {
      case 0x0401: return "becoming ready";
      case 0x0403: return "manual intervention required";
      case 0x040a: return "asymmetric access state transition";
      case 0x040b: return "target port in standby state";
      case 0x040c: return "target port in unavailable state";
      case 0x2000: return "invalid command operation code";
      case 0x2400: return "invalid field in the command";
      case 0x2500: return "logical unit not supported";
      case 0x2700: return "write protected";
      case 0x2900: return "power on or reset";
      case 0x2a06: return "asymmetric access state changed";
      case 0x3a00: return "medium not present";
      case 0x3f0e: return "reported LUNs data has changed";
      default: return "";
    }
  }();
  const std::string place = fmt::format("{:x}/{:04x}", code >> 16 & 0xf, code & 0xffff);
  const char* key = keys[code >> 16 & 0xf];
  return *additional == '\0' ? fmt::format("{} ({})", key, place) : fmt::format("{}, {} ({})", key, additional, place);
}

Outcome<Inquiry> decode_inquiry(View data) {
  if (data.size() < 36) return short_answer("INQUIRY", data.size(), 36);
  Inquiry out;
  out.qualifier = static_cast<std::uint8_t>(data[0] >> 5);
  out.type = data[0] & 0x1f;
  out.tpgs = static_cast<std::uint8_t>(data[5] >> 4 & 3);
  out.third_party_copy = (data[5] & 0x08) != 0;
  out.command_queueing = (data[7] & 0x02) != 0;
  out.vendor = field_text(data.subspan(8, 8));
  out.product = field_text(data.subspan(16, 16));
  out.revision = field_text(data.subspan(32, 4));
  return out;
}

std::string device_type_name(std::uint8_t type) {
  switch (type) {
    case 0x00: return "disk";
    case 0x01: return "tape";
    case 0x03: return "processor";
    case 0x05: return "optical";
    case 0x08: return "changer";
    case 0x0c: return "controller";
    case 0x0d: return "enclosure";
    case 0x1f: return "none";
    default: return fmt::format("type {}", type);
  }
}

Outcome<std::vector<std::uint8_t>> decode_vpd_pages(View data) {
  const auto body = page_body(data, 0x00, 0);
  if (!body) return tl::unexpected(body.error());
  return std::vector<std::uint8_t>(body->begin(), body->end());
}

Outcome<std::string> decode_vpd_serial(View data) {
  const auto body = page_body(data, 0x80, 0);
  if (!body) return tl::unexpected(body.error());
  return field_text(*body);
}

Outcome<std::vector<Designator>> decode_vpd_designators(View data) {
  const auto body = page_body(data, 0x83, 0);
  if (!body) return tl::unexpected(body.error());
  std::vector<Designator> out;
  View left = *body;
  while (left.size() >= 4) {
    const std::size_t size = left[3];
    if (size > left.size() - 4)
      return fail(Reason::short_reply,
                  fmt::format("a designator of {} bytes where {} are left", size, left.size() - 4));
    const View value = left.subspan(4, size);
    Designator item;
    item.code_set = left[0] & 0xf;
    item.association = static_cast<std::uint8_t>(left[1] >> 4 & 3);
    item.type = left[1] & 0xf;
    switch (item.type) {
      case 1: item.text = "t10." + (item.code_set == 1 ? hex(value) : field_text(value)); break;
      case 2: item.text = "eui." + hex(value); break;
      case 3: item.text = "naa." + hex(value); break;
      case 4:
      case 5:
        if (size >= 4) item.number = u16(value, 2);
        item.text = fmt::format("{}", item.number);
        break;
      case 8: item.text = field_text(value); break;
      default: item.text = item.code_set == 1 ? hex(value) : field_text(value); break;
    }
    out.push_back(std::move(item));
    left = left.subspan(4 + size);
  }
  return out;
}

const Designator* best_designator(const std::vector<Designator>& designators) {
  constexpr std::array<int, 4> order = {3, 2, 8, 1};
  for (const int type : order) {
    const Designator* best = nullptr;
    for (const auto& item : designators) {
      if (item.association != 0 || item.type != type) continue;
      if (best == nullptr || item.text.size() > best->text.size()) best = &item;
    }
    if (best != nullptr) return best;
  }
  return nullptr;
}

Outcome<BlockLimits> decode_vpd_block_limits(View data) {
  const auto body = page_body(data, 0xb0, 12);
  if (!body) return tl::unexpected(body.error());
  BlockLimits out;
  out.optimal_granularity_blocks = u16(*body, 2);
  out.maximum_transfer_blocks = u32(*body, 4);
  out.optimal_transfer_blocks = u32(*body, 8);
  if (body->size() < 32) return out;  // SBC-2: no unmap
  out.maximum_unmap_blocks = u32(*body, 16);
  out.maximum_unmap_descriptors = u32(*body, 20);
  out.unmap_granularity_blocks = u32(*body, 24);
  const std::uint32_t alignment = u32(*body, 28);
  if ((alignment & 0x80000000U) != 0) out.unmap_alignment_blocks = alignment & 0x7fffffffU;
  return out;
}

Outcome<BlockCharacteristics> decode_vpd_characteristics(View data) {
  const auto body = page_body(data, 0xb1, 2);
  if (!body) return tl::unexpected(body.error());
  return BlockCharacteristics{u16(*body, 0)};
}

Outcome<Provisioning> decode_vpd_provisioning(View data) {
  const auto body = page_body(data, 0xb2, 3);
  if (!body) return tl::unexpected(body.error());
  Provisioning out;
  out.unmap = ((*body)[1] & 0x80) != 0;
  out.write_same16 = ((*body)[1] & 0x40) != 0;
  out.write_same10 = ((*body)[1] & 0x20) != 0;
  out.type = (*body)[2] & 0x07;
  return out;
}

Outcome<Capacity> decode_read_capacity16(View data) {
  if (data.size() < 12) return short_answer("READ CAPACITY(16)", data.size(), 12);
  Capacity out;
  const std::uint64_t last = u64(data, 0);
  out.block_bytes = u32(data, 8);
  if (out.block_bytes < 256 || out.block_bytes > (1U << 20) || last == ~std::uint64_t{0})
    return fail(Reason::bad_value, fmt::format("blocks of {} bytes, last block {}", out.block_bytes, last));
  out.blocks = last + 1;
  if (data.size() < 16) return out;
  out.protection = (data[12] & 0x01) != 0;
  out.physical_exponent = data[13] & 0x0f;
  out.thin = (data[14] & 0x80) != 0;
  out.reads_zeros = (data[14] & 0x40) != 0;
  out.lowest_aligned_block = u16(data, 14) & 0x3fff;
  return out;
}

Outcome<std::vector<Lun>> decode_report_luns(View data) {
  if (data.size() < 8) return short_answer("REPORT LUNS", data.size(), 8);
  const std::size_t size = std::min<std::size_t>(u32(data, 0), data.size() - 8);
  std::vector<Lun> out;
  for (std::size_t at = 8; at + 8 <= 8 + size; at += 8) {
    Lun lun = {};
    std::copy_n(data.begin() + static_cast<std::ptrdiff_t>(at), lun.size(), lun.begin());
    out.push_back(lun);
  }
  return out;
}

Outcome<std::vector<PortGroup>> decode_port_groups(View data) {
  if (data.size() < 4) return short_answer("REPORT TARGET PORT GROUPS", data.size(), 4);
  View left = data.subspan(4, std::min<std::size_t>(u32(data, 0), data.size() - 4));
  std::vector<PortGroup> out;
  while (!left.empty()) {
    if (left.size() < 8) return short_answer("a target port group", left.size(), 8);
    PortGroup group;
    group.preferred = (left[0] & 0x80) != 0;
    group.state = left[0] & 0x0f;
    group.id = u16(left, 2);
    const std::size_t ports = left[7];
    if (8 + ports * 4 > left.size()) return short_answer("the ports of a group", left.size() - 8, ports * 4);
    for (std::size_t i = 0; i < ports; ++i) group.ports.push_back(u16(left, 8 + i * 4 + 2));
    out.push_back(std::move(group));
    left = left.subspan(8 + ports * 4);
  }
  return out;
}

std::string access_state_name(std::uint8_t state) {
  switch (state) {
    case 0: return "active/optimized";
    case 1: return "active/non-optimized";
    case 2: return "standby";
    case 3: return "unavailable";
    case 4: return "lba-dependent";
    case 14: return "offline";
    case 15: return "transitioning";
    default: return fmt::format("state {}", state);
  }
}

Outcome<bool> decode_write_protect(View mode_sense6) {
  if (mode_sense6.size() < 4) return short_answer("MODE SENSE(6)", mode_sense6.size(), 4);
  return (mode_sense6[2] & 0x80) != 0;
}

}  // namespace wire::scsi
