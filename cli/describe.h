// What a server offers, as text: the lines of `probe` above the findings.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "audit/facts/facts.h"

namespace cli {

std::string time_text(double us);            // "1.5 s", "0.4 ms", "85 us"
std::string size_text(std::uint64_t bytes);  // "64 KiB"
// The parts that are there, with ", " in between.
std::string listed(std::vector<std::string> parts, std::string_view by = ", ");
// Key, text; further lines hang below the text. A line without a text is left out.
void add_line(std::string& out, std::string_view key, const std::string& text, int width);

std::string describe_nfs(const facts::NfsServer& server, int width);
std::string describe_iscsi(const facts::Iscsi& iscsi, int width);  // portals, then targets

}  // namespace cli
