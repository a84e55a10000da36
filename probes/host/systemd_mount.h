// Mount units of network file systems. Sources: systemd.unit(5), systemd.mount(5), systemd.syntax(7).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "audit/facts/mount_config.h"
#include "probes/parsed.h"

namespace probes {

// What [Unit] and [Mount] of a unit file or drop-in say; a later assignment of a key replaces an earlier one, an empty
// one takes it back.
struct UnitText {
  std::optional<std::string> what;
  std::optional<std::string> where;
  std::optional<std::string> type;
  std::optional<std::string> options;
  std::optional<std::string> source_path;
};
Parsed<UnitText> parse_mount_unit(std::string_view text);

// "srv-data\x2d1.mount" is /srv/data-1, "-.mount" is /. Nothing when it is no name of a mount unit.
std::optional<std::string> unit_mount_point(std::string_view unit);

}  // namespace probes
