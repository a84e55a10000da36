// Names of iSCSI as different texts spell them: portals, LUN numbers, WWIDs. Sources: RFC 7143 section 4.2.7, RFC 3720
// (portals), SAM-5 4.7 (LUN formats), iscsiadm(8), drivers/scsi/scsi_scan.c, libmultipath/discovery.c.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "audit/facts/iscsi.h"

namespace probes {

// "192.0.2.6:3260,1", "[2001:db8::2]:3260,1", "[store1]:3260", "192.0.2.87,3260,1" (names of records; IPv6 without
// brackets there), "192.0.2.6". Tag -1 is absent; without a tag it is unknown. Port 3260 when none is named.
std::optional<facts::IscsiPortal> parse_portal(std::string_view text);
facts::IscsiPortal portal_of(std::string_view address, std::uint32_t port, facts::Fact<std::int32_t> tag);
std::string portal_id(std::string_view address, std::uint32_t port, facts::Fact<std::int32_t> tag);

// The id of a portal without its tag.
std::string without_tag(std::string_view portal_id);

// "target portal iface", what is known of it.
std::string session_id(const facts::IscsiSession& session);

// iqn., eui. or naa. and something behind.
bool is_target_name(std::string_view text);

// The kernel prints LUNs of flat space addressing as LUN + 16384.
std::uint64_t decode_lun(std::uint64_t lun);
// "0x0001000000000000": the first 16 bits, bits of the address method taken off.
std::optional<std::uint64_t> lun_of_hex(std::string_view text);

struct Hctl {
  std::uint32_t host = 0;
  std::uint32_t channel = 0;
  std::uint32_t target = 0;
  std::uint64_t lun = 0;  // as printed
};
std::optional<Hctl> parse_hctl(std::string_view text);

// As multipath spells it: naa.600a... is 3600a..., eui.... is 2..., t10.XYZ is 1XYZ. Lower case where it is
// hexadecimal.
std::string multipath_wwid(std::string_view kernel_wwid);
// The same identifier whatever its case, "naa." or leading digit of the type.
bool same_wwid(std::string_view a, std::string_view b);
std::string plain_wwid(std::string_view wwid);  // what same_wwid compares

// The WWID of an ONTAP LUN: 3600a0980 and its serial number in hexadecimal. Nothing when that is no ONTAP serial.
std::optional<std::string> ontap_wwid(std::string_view serial);

// "(null)", "<empty>", "<NULL>", "<none>" and nothing at all: how kernel and iscsiadm print a text that is not set.
bool is_unset(std::string_view text);

// tcp and iser are run by the kernel; any other transport by an adapter.
bool is_offload(std::string_view transport);

}  // namespace probes
