// Takes secrets out of text that is kept or shown.
#pragma once

#include <string>
#include <string_view>

namespace probes {

// The value behind a key whose name says password, passwd, secret, token, credential or the identity of the NFSv4
// client becomes "***", in key=value, "key": "value" and "key: value" form. Runs of blanks become one.
std::string scrub(std::string_view text);

// scrub(), then cut at `columns` with "..." at the end.
std::string scrub_short(std::string_view text, int columns = 240);

// scrub() line by line, with the blanks at the begin of each kept: they tell that a line continues another one.
std::string scrub_lines(std::string_view text);

// The key of an option or a field whose value must not be kept.
bool is_secret_key(std::string_view key);

}  // namespace probes
