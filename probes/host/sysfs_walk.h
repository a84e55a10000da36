// What is read of /sys about network storage, as the text of sysfs_text.h: sessions, connections and hosts of iSCSI,
// their disks, device mapper and what it lies on. Linear in the number of devices; other disks are not looked into.
// User names of CHAP become *** here: whether one is set is all that leaves this place.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "probes/io/host.h"

namespace probes {

// The question for Host::answer.
inline constexpr std::string_view storage_question = "storage";

using SysfsSink = std::function<void(std::string_view)>;
void walk_sysfs(const Host& host, const SysfsSink& sink);
std::string walk_sysfs(const Host& host);

}  // namespace probes
