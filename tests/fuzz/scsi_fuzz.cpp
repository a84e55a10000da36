// SCSI answers: every decoder gives a value or a named failure on any bytes, and lists no longer than the bytes hold.
#include <cstddef>
#include <cstdint>

#include "probes/wire/scsi.h"
#include "tests/fuzz/wire_check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace wire;
  const View bytes(data, size);
  if (const auto got = checked(scsi::decode_inquiry(bytes))) require(got->vendor.size() <= 8);
  if (const auto got = checked(scsi::decode_vpd_pages(bytes))) require(got->size() <= size);
  if (const auto got = checked(scsi::decode_vpd_serial(bytes))) require(got->size() <= size);
  if (const auto got = checked(scsi::decode_vpd_designators(bytes))) {
    require(got->size() * 4 <= size);
    (void)scsi::best_designator(*got);
  }
  (void)checked(scsi::decode_vpd_block_limits(bytes));
  (void)checked(scsi::decode_vpd_characteristics(bytes));
  (void)checked(scsi::decode_vpd_provisioning(bytes));
  if (const auto got = checked(scsi::decode_read_capacity16(bytes))) require(got->blocks != 0 && got->block_bytes != 0);
  if (const auto got = checked(scsi::decode_report_luns(bytes))) {
    require(got->size() * 8 <= size);
    for (const auto& lun : *got) {
      const auto number = scsi::lun_number(lun);
      require(!scsi::lun_text(lun).empty());
      if (number) require(scsi::lun_number(scsi::lun_of(*number & 0x3fff)) == (*number & 0x3fff));
    }
  }
  if (const auto got = checked(scsi::decode_port_groups(bytes))) require(got->size() * 8 <= size);
  (void)checked(scsi::decode_write_protect(bytes));
  return 0;
}
