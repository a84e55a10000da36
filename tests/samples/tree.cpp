#include "tests/samples/tree.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <utility>

#include "audit/base/text.h"

namespace fs = std::filesystem;

namespace samples {
namespace {

std::string replace_all(std::string text, const std::string& what, const std::string& by) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
  return text;
}

}  // namespace

Tree::Tree() {
  std::string name = (fs::temp_directory_path() / "mountaudit-tree-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error(name + ": no scratch directory");
  root_ = name;
}

Tree::Tree(const fs::path& original) : Tree() { fs::copy(original, root_, fs::copy_options::recursive); }

Tree::Tree(Tree&& other) noexcept : root_(std::exchange(other.root_, {})) {}

Tree::~Tree() {
  std::error_code ignored;
  if (!root_.empty()) fs::remove_all(root_, ignored);
}

std::string Tree::read(const std::string& path) const {
  std::ifstream in(root_ / path, std::ios::binary);
  if (!in) throw std::runtime_error(path + ": cannot be read");
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<std::string> Tree::files(const std::string& below) const {
  std::vector<std::string> found;
  for (const auto& entry : fs::recursive_directory_iterator(root_ / below)) {
    if (entry.is_regular_file()) found.push_back(fs::relative(entry.path(), root_).string());
  }
  std::ranges::sort(found);
  return found;
}

void Tree::write(const std::string& path, const std::string& text) {
  fs::create_directories((root_ / path).parent_path());
  std::ofstream(root_ / path, std::ios::binary) << text;
}

void Tree::remove(const std::string& path) { fs::remove_all(root_ / path); }

void Tree::replace(const std::string& path, const std::string& what, const std::string& by) {
  const std::string text = read(path);
  if (text.find(what) == std::string::npos) throw std::runtime_error(path + ": has no " + what);
  write(path, replace_all(text, what, by));
}

void Tree::one_connection(const std::string& path, double mean, unsigned peak) {
  const std::string text = read(path);
  std::string out;
  bool first = true;  // of this mount
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::size_t end = rest.find('\n') + 1;
    std::string_view line = rest.substr(0, end == 0 ? rest.size() : end);
    rest.remove_prefix(line.size());
    if (line.starts_with("device ")) first = true;
    if (!line.starts_with("\txprt:")) {
      out += line;
    } else if (std::exchange(first, false)) {
      constexpr std::uint64_t sends = 1'000'000;
      out +=
          fmt::format("\txprt:\ttcp 0 0 2 0 0 {0} {0} 0 {1} 0 {2} 0 {3}\n", sends,
                      static_cast<std::uint64_t>(mean * sends), peak, static_cast<std::uint64_t>((mean - 1) * sends));
    }
  }
  write(path, out);
}

void Tree::multiply_first_mount(std::size_t count) {
  std::string info, mount_line;
  const std::string mountinfo = read("proc/1/mountinfo");
  for (const auto line : base::split(mountinfo, '\n')) {
    if (line.find(" - nfs4 ") == std::string_view::npos) {
      if (!line.empty()) info += std::string(line) + "\n";
    } else if (mount_line.empty()) {
      mount_line = line;
    }
  }
  const std::string mountstats = read("proc/1/mountstats");
  const std::size_t begin = mountstats.find("device 192.0.2.");
  const std::size_t end = mountstats.find("device ", begin + 1);
  std::string stats = mountstats.substr(0, begin);
  const std::string block = mountstats.substr(begin, end - begin);

  const std::size_t at = mount_line.find("/pods/") + 6;
  const std::string uid = mount_line.substr(at, mount_line.find('/', at) - at);
  remove("var/log/pods");
  for (std::size_t i = 0; i < count; ++i) {
    const std::string other = fmt::format("{:08x}-0000-4000-a000-000000000000", i + 1);
    info += fmt::format("{}\n", replace_all(mount_line, uid, other));
    stats += replace_all(block, uid, other);
    write(fmt::format("var/log/pods/virt-perf_virt-launcher-vm-{}-abcde_{}/compute/0.log", i, other), "");
  }
  write("proc/1/mountinfo", info);
  write("proc/1/mountstats", stats);
}

}  // namespace samples
