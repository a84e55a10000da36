// SCSI commands that only read, and their answers: SPC-4 (INQUIRY, REPORT LUNS, REPORT TARGET PORT GROUPS, MODE SENSE),
// SBC-3 (READ CAPACITY, READ, block VPD pages), SAM-5 (LUN addressing). Pure: bytes in, values out.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "probes/wire/reason.h"
#include "probes/wire/xdr.h"

namespace wire::scsi {

using Cdb = std::array<std::uint8_t, 16>;
using Lun = std::array<std::uint8_t, 8>;

Lun lun_of(std::uint16_t number);  // peripheral addressing below 256, flat space addressing above
// The number of a single-level LUN; nothing for the longer forms, which are shown as hexadecimal text.
std::optional<std::uint16_t> lun_number(const Lun& lun);
std::string lun_text(const Lun& lun);

Cdb test_unit_ready();
Cdb inquiry(std::uint16_t allocation);
Cdb inquiry_page(std::uint8_t page, std::uint16_t allocation);
Cdb read_capacity16(std::uint32_t allocation);
Cdb report_luns(std::uint32_t allocation);
Cdb report_target_port_groups(std::uint32_t allocation);
Cdb mode_sense6(std::uint8_t page, std::uint8_t allocation);
Cdb read16(std::uint64_t lba, std::uint32_t blocks);

// Sense key 6 ASC 29: "power on, reset": the first command of a session on most targets ends so. code as in
// Reason::scsi_status.
bool is_unit_attention(const Failure& failure);
std::string sense_words(std::uint32_t code);  // "ILLEGAL REQUEST, logical unit not supported (5/2500)"

struct Inquiry {
  std::uint8_t qualifier = 0;  // 0: a device is there; 3: there is none and cannot be
  std::uint8_t type = 0;       // 0 disk, 12 storage array controller, 31 unknown
  std::uint8_t tpgs = 0;       // ALUA: 0 none, 1 implicit, 2 explicit, 3 both
  bool third_party_copy = false;
  bool command_queueing = false;
  std::string vendor;
  std::string product;
  std::string revision;
  bool operator==(const Inquiry&) const = default;
};
Outcome<Inquiry> decode_inquiry(View data);
std::string device_type_name(std::uint8_t type);

Outcome<std::vector<std::uint8_t>> decode_vpd_pages(View data);  // page 00
Outcome<std::string> decode_vpd_serial(View data);               // page 80

// One designator of page 83. `text` is as the kernel writes it in wwid: "naa.6001405...", "eui.0025...", "t10.ACME
// ...".
struct Designator {
  std::uint8_t association = 0;  // 0 logical unit, 1 target port, 2 target device
  std::uint8_t type = 0;         // 1 T10 vendor id, 2 EUI-64, 3 NAA, 4 relative port, 5 port group, 8 SCSI name string
  std::uint8_t code_set = 0;     // 1 binary, 2 ASCII, 3 UTF-8
  std::string text;
  std::uint32_t number = 0;  // types 4 and 5
  bool operator==(const Designator&) const = default;
};
Outcome<std::vector<Designator>> decode_vpd_designators(View data);
// Of the logical unit, in the kernel's order of preference (drivers/scsi/scsi_lib.c, scsi_vpd_lun_id): NAA first.
const Designator* best_designator(const std::vector<Designator>& designators);

struct BlockLimits {  // page B0
  std::uint16_t optimal_granularity_blocks = 0;
  std::uint32_t maximum_transfer_blocks = 0;  // 0: no limit told
  std::uint32_t optimal_transfer_blocks = 0;
  std::uint32_t maximum_unmap_blocks = 0;
  std::uint32_t maximum_unmap_descriptors = 0;
  std::uint32_t unmap_granularity_blocks = 0;
  std::optional<std::uint32_t> unmap_alignment_blocks;
  bool operator==(const BlockLimits&) const = default;
};
Outcome<BlockLimits> decode_vpd_block_limits(View data);

struct BlockCharacteristics {       // page B1
  std::uint16_t rotation_rate = 0;  // 0 not told, 1 not rotating, else revolutions per minute
  bool operator==(const BlockCharacteristics&) const = default;
};
Outcome<BlockCharacteristics> decode_vpd_characteristics(View data);

struct Provisioning {  // page B2
  bool unmap = false;  // LBPU
  bool write_same16 = false;
  bool write_same10 = false;
  std::uint8_t type = 0;  // 0 not told (full or unknown), 1 resource, 2 thin
  bool operator==(const Provisioning&) const = default;
};
Outcome<Provisioning> decode_vpd_provisioning(View data);

struct Capacity {
  std::uint64_t blocks = 0;
  std::uint32_t block_bytes = 0;
  std::uint8_t physical_exponent = 0;      // physical block = block << exponent
  bool thin = false;                       // LBPME
  bool reads_zeros = false;                // LBPRZ
  std::uint16_t lowest_aligned_block = 0;  // LALBA
  bool protection = false;                 // T10 PI
  bool operator==(const Capacity&) const = default;
};
Outcome<Capacity> decode_read_capacity16(View data);

Outcome<std::vector<Lun>> decode_report_luns(View data);

struct PortGroup {
  std::uint16_t id = 0;
  std::uint8_t state =
      0;  // 0 active/optimized, 1 active/non-optimized, 2 standby, 3 unavailable, 14 offline, 15 transitioning
  bool preferred = false;
  std::vector<std::uint16_t> ports;  // relative target port ids
  bool operator==(const PortGroup&) const = default;
};
Outcome<std::vector<PortGroup>> decode_port_groups(View data);
std::string access_state_name(std::uint8_t state);  // as the kernel's access_state: active/optimized ...

Outcome<bool> decode_write_protect(View mode_sense6);

}  // namespace wire::scsi
