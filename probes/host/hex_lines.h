// Answers of the kernel that are no text (netlink messages), kept as text so that a capture can hold them: one message
// a line, two hexadecimal digits a byte.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace probes {

std::string hex_of_bytes(std::string_view bytes);
std::optional<std::string> bytes_of_hex(std::string_view hex);

}  // namespace probes
