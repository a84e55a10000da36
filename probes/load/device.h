// May a block device be written to? Only one that nobody uses and that holds nothing: every doubt is a no.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace load {

// Looks at sysfs and the mount tables; `number` as stat(2) gives it. The reason not to write, or nothing.
std::optional<std::string> used_by_system(std::uint64_t number, const std::string& root = "");

// Begin and end of what the device holds: empty (all zeros), our own from an earlier run, or not to be touched.
// `start` should be a MiB, so that every usual signature is in it; the end holds those of RAID and GPT.
std::optional<std::string> holds_something(std::span<const std::uint8_t> start, std::span<const std::uint8_t> end);

}  // namespace load
