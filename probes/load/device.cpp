#include "probes/load/device.h"

#include <fmt/format.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>

#include "probes/load/payload.h"

namespace load {
namespace {

namespace fs = std::filesystem;

struct Signature {
  const char* name;
  std::size_t at;
  std::string_view bytes;
};
// For words only: what is not listed is not touched either.
constexpr std::array<Signature, 12> signatures{{
    {"an XFS file system", 0, "XFSB"},
    {"a LUKS volume", 0, std::string_view("LUKS\xba\xbe", 6)},
    {"an LVM physical volume", 512, "LABELONE"},
    {"an ext file system", 1080, std::string_view("\x53\xef", 2)},
    {"a Btrfs file system", 65600, "_BHRfS_M"},
    {"swap space", 4086, "SWAPSPACE2"},
    {"a GPT partition table", 512, "EFI PART"},
    {"a GPT partition table", 4096, "EFI PART"},
    {"an NTFS file system", 3, "NTFS    "},
    {"a VMFS volume", 1048576 - 512, std::string_view("\x0d\xd0\x01\xc0", 4)},
    {"a Ceph BlueStore device", 0, "bluestore block device"},
    {"a partition table or boot record", 510, std::string_view("\x55\xaa", 2)},
}};

bool zeros(std::span<const std::uint8_t> bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::uint8_t byte) { return byte == 0; });
}

// All of it ours: each 4 KiB is empty or carries the mark.
bool only_ours(std::span<const std::uint8_t> bytes) {
  constexpr std::size_t unit = 4096;
  for (std::size_t at = 0; at < bytes.size(); at += unit) {
    const auto part = bytes.subspan(at, std::min(unit, bytes.size() - at));
    if (!zeros(part) && !has_mark(part.data(), part.size())) return false;
  }
  return true;
}

std::string text_of(const fs::path& path) {
  std::ifstream in(path);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

std::optional<std::string> first_entry(const fs::path& folder) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) return entry.path().filename().string();
  return std::nullopt;
}

}  // namespace

std::optional<std::string> used_by_system(std::uint64_t number, const std::string& root) {
  const std::string name = fmt::format("{}:{}", gnu_dev_major(number), gnu_dev_minor(number));
  const fs::path device = root + "/sys/dev/block/" + name;
  std::error_code error;
  if (!fs::exists(device, error)) return "sysfs does not show it, so nobody can say who uses it";
  if (const auto holder = first_entry(device / "holders")) return "it is mapped: " + *holder + " is built on it";
  for (const auto& entry : fs::directory_iterator(device, error)) {
    if (fs::exists(entry.path() / "partition", error))
      return "it is partitioned: " + entry.path().filename().string() + " is a part of it";
  }
  for (const char* table : {"/proc/1/mountinfo", "/proc/self/mountinfo"}) {
    std::istringstream lines(text_of(root + table));
    for (std::string line; std::getline(lines, line);) {
      std::istringstream words(line);
      std::string id, parent, numbers, top, place;
      words >> id >> parent >> numbers >> top >> place;
      if (numbers == name) return "it is mounted on " + place;
    }
  }
  const std::string kernel_name = fs::weakly_canonical(device, error).filename().string();
  std::istringstream lines(text_of(root + "/proc/swaps"));
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("/dev/" + kernel_name + " ") || line.starts_with("/dev/" + kernel_name + "\t"))
      return "it is swap space";
  }
  return std::nullopt;
}

std::optional<std::string> holds_something(std::span<const std::uint8_t> start, std::span<const std::uint8_t> end) {
  for (const auto& known : signatures) {
    if (known.at + known.bytes.size() > start.size()) continue;
    if (std::memcmp(start.data() + known.at, known.bytes.data(), known.bytes.size()) == 0)
      return fmt::format("it carries {}", known.name);
  }
  if (only_ours(start) && only_ours(end)) return std::nullopt;
  return "it holds data: neither its begin nor its end may be anything but zeros";
}

}  // namespace load
