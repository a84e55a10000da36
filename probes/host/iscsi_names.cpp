#include "probes/host/iscsi_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "audit/base/text.h"
#include "probes/host/address.h"
#include "probes/host/hex_lines.h"
#include "probes/host/kernel_address.h"

namespace probes {

namespace {

using facts::Fact;
using facts::IscsiPortal;

constexpr std::uint32_t default_port = 3260;

bool is_hex(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isxdigit(c) != 0; });
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

bool is_host_name(std::string_view text) {
  return !text.empty() && text.size() <= 253 && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '-' || c == '.' || c == '_';
  });
}

// fe80::/10 and 169.254.0.0/16 (RFC 3927).
bool one_link_only(const Address& address) {
  return is_link_local(address) || (is_ipv4(address) && address.bytes[12] == 169 && address.bytes[13] == 254);
}

std::optional<Fact<std::int32_t>> parse_tag(std::string_view text) {
  const auto tag = base::number<std::int32_t>(text);
  if (!tag || *tag < -1 || *tag > 65535) return std::nullopt;
  return *tag < 0 ? Fact<std::int32_t>::absent() : Fact<std::int32_t>(*tag);
}

}  // namespace

IscsiPortal portal_of(std::string_view text, std::uint32_t port, Fact<std::int32_t> tag) {
  IscsiPortal portal;
  if (text.starts_with('[') && text.ends_with(']') && text.size() > 2) text = text.substr(1, text.size() - 2);
  portal.addr = std::string(text);
  portal.zone = Fact<std::string>::absent();
  if (const auto address = parse_address(text)) {
    portal.addr = text_of(*address);
    portal.link_local = one_link_only(*address);
    if (!address->zone.empty()) portal.zone = address->zone;
  } else {
    portal.is_name = true;
  }
  portal.port = port;
  portal.tag = tag;
  portal.id = host_port(portal.addr, port);
  if (tag.has_value()) portal.id += fmt::format(",{}", *tag);
  return portal;
}

std::string portal_id(std::string_view address, std::uint32_t port, Fact<std::int32_t> tag) {
  return portal_of(address, port, tag).id;
}

std::optional<IscsiPortal> parse_portal(std::string_view text) {
  text = base::trim(text);
  std::string_view host = text;
  std::uint32_t port = default_port;
  Fact<std::int32_t> tag;
  const auto take_port = [&](std::string_view digits) {
    const auto number = base::number<std::uint16_t>(digits);
    if (number) port = *number;
    return number.has_value() && *number != 0;
  };
  const auto pieces = base::split(text, ',');
  const auto bracket = text.find(']');
  if (pieces.size() > 3) return std::nullopt;
  if (pieces.size() == 3) {  // ADDRESS,PORT,TAG
    const auto number = parse_tag(pieces[2]);
    if (!number || !take_port(pieces[1])) return std::nullopt;
    tag = *number;
    host = pieces[0];
  } else {
    std::string_view place = pieces[0];
    // Behind the comma stands the tag, or in a name of a record the port.
    const bool port_named = bracket != std::string_view::npos
                                ? place.substr(bracket).find(':') != std::string_view::npos
                                : std::count(place.begin(), place.end(), ':') == 1;
    if (pieces.size() == 2) {
      if (port_named) {
        const auto number = parse_tag(pieces[1]);
        if (!number) return std::nullopt;
        tag = *number;
      } else if (!take_port(pieces[1])) {
        return std::nullopt;
      }
    }
    host = place;
    if (port_named) {
      const auto colon = place.rfind(':');
      if (!take_port(place.substr(colon + 1))) return std::nullopt;
      host = place.substr(0, colon);
    }
  }
  if (host.starts_with('[')) {
    if (!host.ends_with(']') || host.size() < 3) return std::nullopt;
    host = host.substr(1, host.size() - 2);
  }
  if (!is_address(host) && !is_host_name(host)) return std::nullopt;
  return portal_of(host, port, tag);
}

std::string without_tag(std::string_view id) { return std::string(id.substr(0, id.rfind(','))); }

std::string session_id(const facts::IscsiSession& session) {
  std::string id = session.target;
  if (session.portal.has_value()) id += " " + *session.portal;
  if (session.iface.has_value()) id += " " + *session.iface;
  return id;
}

bool is_target_name(std::string_view text) {
  if (text.size() < 5 || text.size() > 223 || text.find_first_of(" \t\n") != std::string_view::npos) return false;
  return text.starts_with("iqn.") || text.starts_with("eui.") || text.starts_with("naa.");
}

std::uint64_t decode_lun(std::uint64_t lun) {
  constexpr std::uint64_t flat = 0x4000;
  return lun >= flat && lun < 2 * flat ? lun - flat : lun;
}

std::optional<std::uint64_t> lun_of_hex(std::string_view text) {
  if (!text.starts_with("0x") || text.size() != 18) return std::nullopt;
  const auto value = base::number<std::uint64_t>(text.substr(2), 16);
  if (!value) return std::nullopt;
  return decode_lun(*value >> 48);
}

std::optional<Hctl> parse_hctl(std::string_view text) {
  const auto parts = base::split(text, ':');
  if (parts.size() != 4) return std::nullopt;
  const auto host = base::number<std::uint32_t>(parts[0]);
  const auto channel = base::number<std::uint32_t>(parts[1]);
  const auto target = base::number<std::uint32_t>(parts[2]);
  const auto lun = base::number<std::uint64_t>(parts[3]);
  if (!host || !channel || !target || !lun) return std::nullopt;
  return Hctl{*host, *channel, *target, *lun};
}

std::string multipath_wwid(std::string_view wwid) {
  wwid = base::trim(wwid);
  if (wwid.starts_with("naa.")) return "3" + lower(wwid.substr(4));
  if (wwid.starts_with("eui.")) return "2" + lower(wwid.substr(4));
  if (wwid.starts_with("t10.")) return "1" + std::string(wwid.substr(4));
  return std::string(wwid);
}

std::string plain_wwid(std::string_view wwid) {
  std::string plain = lower(base::trim(wwid));
  for (const char* prefix : {"naa.", "eui.", "0x", "wwn-0x", "t10."})
    if (plain.starts_with(prefix)) return plain.substr(std::string_view(prefix).size());
  // A type digit before 8 or 16 bytes: 3 is NAA, 2 is EUI-64.
  if ((plain.size() == 17 || plain.size() == 33) && (plain[0] == '3' || plain[0] == '2') && is_hex(plain))
    return plain.substr(1);
  return plain;
}

bool same_wwid(std::string_view a, std::string_view b) { return plain_wwid(a) == plain_wwid(b); }

std::optional<std::string> ontap_wwid(std::string_view serial) {
  constexpr std::size_t ascii_length = 12;
  if (serial.size() == 2 * ascii_length && is_hex(serial)) return "3600a0980" + lower(serial);
  if (serial.size() != ascii_length) return std::nullopt;
  for (const char c : serial)
    if (std::isgraph(static_cast<unsigned char>(c)) == 0) return std::nullopt;
  return "3600a0980" + hex_of_bytes(serial);
}

bool is_unset(std::string_view text) {
  text = base::trim(text);
  return text.empty() || text == "(null)" || text == "<empty>" || text == "<NULL>" || text == "<none>";
}

bool is_offload(std::string_view transport) { return transport != "tcp" && transport != "iser"; }

}  // namespace probes
