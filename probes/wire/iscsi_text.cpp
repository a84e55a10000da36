#include "probes/wire/iscsi_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "audit/base/text.h"
#include "probes/wire/address.h"

namespace wire::iscsi {
namespace {

constexpr std::size_t longest_key = 63;
constexpr std::size_t longest_name = 223;  // of an iSCSI node, section 4.2.7.1

int base64_digit(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  if (c == '+') return 62;
  return c == '/' ? 63 : -1;
}

Outcome<Bytes> from_hex(std::string_view digits) {
  Bytes out;
  out.reserve(digits.size() / 2 + 1);
  // An odd number of digits lacks its leading zero.
  std::size_t at = 0;
  while (at < digits.size()) {
    const std::size_t take = at == 0 && digits.size() % 2 == 1 ? 1 : 2;
    const auto byte = base::number<std::uint8_t>(digits.substr(at, take), 16);
    if (!byte) return fail(Reason::bad_value, "a hexadecimal value with a character that is no digit");
    out.push_back(*byte);
    at += take;
  }
  return out;
}

Outcome<Bytes> from_base64(std::string_view digits) {
  while (!digits.empty() && digits.back() == '=') digits.remove_suffix(1);
  Bytes out;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : digits) {
    const int digit = base64_digit(c);
    if (digit < 0) return fail(Reason::bad_value, "a base64 value with a character that is no digit");
    bits = (bits << 6 | static_cast<std::uint32_t>(digit)) & 0xffffff;
    count += 6;
    if (count < 8) continue;
    count -= 8;
    out.push_back(static_cast<std::uint8_t>(bits >> count));
  }
  return out;
}

}  // namespace

Bytes encode_text(const TextKeys& keys) {
  Bytes out;
  for (const auto& [key, value] : keys) {
    out.insert(out.end(), key.begin(), key.end());
    out.push_back('=');
    out.insert(out.end(), value.begin(), value.end());
    out.push_back(0);
  }
  return out;
}

Outcome<TextKeys> decode_text(View bytes) {
  TextKeys keys;
  std::string_view left(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  while (!left.empty()) {
    const std::size_t end = std::min(left.find('\0'), left.size());
    const std::string_view pair = left.substr(0, end);
    left.remove_prefix(std::min(end + 1, left.size()));
    if (pair.empty()) continue;
    const auto equals = pair.find('=');
    if (equals == std::string_view::npos)
      return fail(Reason::bad_value, fmt::format("\"{}\" is no key=value", base::escape_control(pair.substr(0, 80))));
    if (equals == 0 || equals > longest_key)
      return fail(Reason::bad_value, fmt::format("a key of {} characters", equals));
    if (keys.size() == most_keys) return fail(Reason::count_too_large, fmt::format("more than {} keys", most_keys));
    keys.push_back({std::string(pair.substr(0, equals)), std::string(pair.substr(equals + 1))});
  }
  return keys;
}

const std::string* find(const TextKeys& keys, std::string_view key) {
  const auto found = std::find_if(keys.begin(), keys.end(), [&](const TextKey& item) { return item.key == key; });
  return found == keys.end() ? nullptr : &found->value;
}

std::vector<std::string> list_of(std::string_view value) {
  std::vector<std::string> out;
  for (const auto part : base::split(value, ','))
    if (!base::trim(part).empty()) out.emplace_back(base::trim(part));
  return out;
}

std::optional<std::uint64_t> number_of(std::string_view value) {
  if (value.starts_with("0x") || value.starts_with("0X")) return base::number<std::uint64_t>(value.substr(2), 16);
  return base::number<std::uint64_t>(value);
}

std::string encode_binary(View bytes) {
  std::string out = "0x";
  for (const auto byte : bytes) out += fmt::format("{:02x}", byte);
  return out;
}

Outcome<Bytes> decode_binary(std::string_view value, std::size_t max) {
  // Before anything is copied: base64 takes four characters for three bytes, hexadecimal two for one.
  if (value.size() > 2 + 2 * max)
    return fail(Reason::count_too_large, fmt::format("a binary value over {} bytes", max));
  const auto prefix = value.substr(0, 2);
  Outcome<Bytes> out = fail(Reason::bad_value, "a binary value that begins with neither 0x nor 0b");
  if (prefix == "0x" || prefix == "0X") out = from_hex(value.substr(2));
  if (prefix == "0b" || prefix == "0B") out = from_base64(value.substr(2));
  if (!out) return out;
  if (out->empty()) return fail(Reason::bad_value, "an empty binary value");
  if (out->size() > max) return fail(Reason::count_too_large, fmt::format("a binary value over {} bytes", max));
  return out;
}

std::string to_text(const TargetAddress& address) {
  const std::string place = host_port(address.host, address.port);
  return address.tag ? fmt::format("{},{}", place, *address.tag) : place;
}

Outcome<TargetAddress> decode_target_address(std::string_view value) {
  const auto wrong = [&](const char* what) {
    return fail(Reason::bad_value,
                fmt::format("\"{}\" is no portal: {}", base::escape_control(value.substr(0, 300)), what));
  };
  TargetAddress address;
  std::string_view place = value;
  if (const auto comma = value.rfind(','); comma != std::string_view::npos) {
    const auto tag = base::number<std::uint16_t>(value.substr(comma + 1));
    if (!tag) return wrong("the group tag is no number");
    address.tag = *tag;
    place = value.substr(0, comma);
  }
  std::string_view host = place;
  std::string_view port;
  if (place.starts_with('[')) {
    const auto close = place.find(']');
    if (close == std::string_view::npos) return wrong("the bracket is not closed");
    host = place.substr(1, close - 1);
    const auto after = place.substr(close + 1);
    if (!after.empty() && after.front() != ':') return wrong("only a port may follow the bracket");
    port = after.empty() ? after : after.substr(1);
    if (!after.empty() && port.empty()) return wrong("the port is missing");
  } else if (const auto colon = place.rfind(':'); colon != std::string_view::npos) {
    // An IPv6 address without brackets, as some targets write it, has no port.
    if (place.find(':') == colon) {
      host = place.substr(0, colon);
      port = place.substr(colon + 1);
      if (port.empty()) return wrong("the port is missing");
    }
  }
  if (host.empty()) return wrong("the host is missing");
  if (host.size() > 255) return wrong("the host is too long");
  // What names and addresses are made of, a zone included: it is looked up, and printed again.
  const auto belongs = [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '-' || c == '.' || c == '_' || c == ':' || c == '%';
  };
  if (!std::all_of(host.begin(), host.end(), belongs)) return wrong("a host has no such characters");
  if (!port.empty()) {
    const auto number = base::number<std::uint16_t>(port);
    if (!number || *number == 0) return wrong("the port is no number from 1 to 65535");
    address.port = *number;
  }
  address.host = std::string(host);
  return address;
}

SendTargets decode_send_targets(const TextKeys& keys) {
  SendTargets out;
  std::optional<std::size_t> current;
  for (const auto& [key, value] : keys) {
    if (key == "TargetName") {
      current.reset();
      if (value.empty() || value.size() > longest_name) {
        out.notes.push_back(fmt::format("a target name of {} characters", value.size()));
        continue;
      }
      const auto same = std::find_if(out.targets.begin(), out.targets.end(),
                                     [&v = value](const TargetRecord& target) { return target.name == v; });
      if (same == out.targets.end()) {
        current = out.targets.size();
        out.targets.push_back({value, {}});
      } else {
        current = static_cast<std::size_t>(same - out.targets.begin());
      }
    } else if (key == "TargetAddress") {
      const auto address = decode_target_address(value);
      if (!address) {
        out.notes.push_back(address.error().detail);
      } else if (!current) {
        out.notes.push_back(fmt::format("{} before any target name", to_text(*address)));
      } else {
        auto& addresses = out.targets[*current].addresses;
        if (std::find(addresses.begin(), addresses.end(), *address) == addresses.end()) addresses.push_back(*address);
      }
    } else {
      out.notes.push_back(fmt::format("key {}", base::escape_control(key)));
    }
  }
  return out;
}

}  // namespace wire::iscsi
