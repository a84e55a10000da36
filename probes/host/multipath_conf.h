// multipath.conf(5) and the same text as multipathd and multipath print it. Source: libmultipath/parser.c: sections in
// braces, one keyword a line, values bare or in double quotes ("" inside stands for a quote), comments from # or ! on.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "audit/facts/multipath.h"
#include "probes/parsed.h"

namespace probes {

// `first_block`: subsections are counted on over the files of conf.d; it becomes the next free number.
Parsed<std::vector<facts::MultipathConfEntry>> parse_multipath_conf(std::string_view text, const std::string& path,
                                                                    std::uint32_t& first_block);

// An entry that stands in the same place of a later file or line counts: marks the earlier ones.
void mark_overridden(std::vector<facts::MultipathConfEntry>& entries);

// Keys of reservations and whatever is called a password or secret.
bool is_multipath_secret(std::string_view key);
// The text with the values of secrets replaced by ***.
std::string scrub_multipath_conf(std::string_view text);

}  // namespace probes
