// Instants as text: RFC 3339, "2026-02-10T04:12:09.5Z" or with an offset.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace base {

// Seconds since 1970-01-01T00:00:00Z. Nothing for a date that does not exist, and for a time without a zone: whose time
// it is, is not known.
std::optional<double> epoch_of(std::string_view text);

// To the second, in UTC.
std::string rfc3339(double epoch);

}  // namespace base
