// Tracking files of Trident's node plugin, /var/lib/trident/tracking/VOLUME.json (NetApp Trident: utils/models,
// VolumeTrackingInfo). A key stands at whatever depth; keys with "username" or "secret" in them (any case) and
// everything below them are passed over while reading: no value of theirs is ever copied.
#pragma once

#include <string>
#include <string_view>

#include "audit/base/result.h"
#include "audit/facts/config.h"
#include "probes/parsed.h"

namespace probes {

inline constexpr std::string_view trident_directory = "/var/lib/trident/tracking";

// `path` names the file in the facts; the volume is its name without .json. A key that is not there is absent, and so
// is an empty mountOptions. malformed: not JSON; the message says where.
base::Result<Parsed<facts::TridentVolume>> parse_trident(std::string_view text, const std::string& path);

// The same volume as a tracking file that holds nothing else.
std::string trident_json(const facts::TridentVolume& volume);

}  // namespace probes
