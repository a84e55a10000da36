#include "probes/wire/mount3.h"

#include <fmt/format.h>

namespace wire::mount3 {
namespace {

constexpr std::size_t max_path = 1024;  // MNTPATHLEN
constexpr std::size_t max_name = 255;   // MNTNAMLEN
constexpr std::size_t max_exports = 8192;
constexpr std::size_t max_groups = 65536;  // over the whole list

Call path_call(std::uint32_t procedure, const std::string& path) {
  XdrWriter args;
  args.text(path.substr(0, max_path));
  Call call{program::mountd, 3, procedure, AuthFlavor::sys};
  call.args = args.take();
  return call;
}

}  // namespace

Call mnt(const std::string& path) { return path_call(1, path); }
Call umnt(const std::string& path) { return path_call(3, path); }
Call export_list(std::uint32_t version) { return {program::mountd, version, 5, AuthFlavor::sys}; }

Outcome<Mounted> decode_mnt(View results) {
  XdrReader in(results);
  const auto status = in.u32("mountstat3");
  if (in.ok() && status != 0) {
    Failure failure{Reason::status, status_name(status)};
    failure.code = status;
    return tl::unexpected(failure);
  }
  Mounted mounted;
  const View handle = in.opaque(64, "file handle");
  mounted.handle.assign(handle.begin(), handle.end());
  mounted.flavors = in.words(64, "flavours");
  return in.done(std::move(mounted));
}

Outcome<std::vector<ExportEntry>> decode_export_list(View results) {
  XdrReader in(results);
  std::vector<ExportEntry> list;
  std::size_t groups = 0;
  while (in.boolean("more exports") && in.ok()) {
    if (list.size() == max_exports) {
      in.fail(Reason::count_too_large, fmt::format("over {} exports", max_exports));
      break;
    }
    ExportEntry entry;
    entry.path = in.text(max_path, "export path");
    while (in.boolean("more groups") && in.ok()) {
      if (++groups > max_groups) {
        in.fail(Reason::count_too_large, fmt::format("over {} groups", max_groups));
        break;
      }
      entry.groups.push_back(in.text(max_name, "group"));
    }
    list.push_back(std::move(entry));
  }
  return in.done(std::move(list));
}

std::string status_name(std::uint32_t mountstat3) {
  switch (mountstat3) {
    case 0: return "ok";
    case 1: return "MNT3ERR_PERM";
    case 2: return "MNT3ERR_NOENT";
    case 5: return "MNT3ERR_IO";
    case 13: return "MNT3ERR_ACCES";
    case 20: return "MNT3ERR_NOTDIR";
    case 22: return "MNT3ERR_INVAL";
    case 63: return "MNT3ERR_NAMETOOLONG";
    case 10004: return "MNT3ERR_NOTSUPP";
    case 10006: return "MNT3ERR_SERVERFAULT";
    default: return fmt::format("mountstat3 {}", mountstat3);
  }
}

std::string flavor_name(std::uint32_t pseudoflavor) {
  switch (pseudoflavor) {
    case 0: return "none";
    case 1: return "sys";
    case 390003: return "krb5";
    case 390004: return "krb5i";
    case 390005: return "krb5p";
    default: return std::to_string(pseudoflavor);
  }
}

}  // namespace wire::mount3
