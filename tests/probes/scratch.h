// A directory of a test's own, and a Host made of texts.
#pragma once

#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <stdexcept>
#include <string>

#include "probes/io/host.h"

namespace scratch {

class Directory {
 public:
  Directory() {
    std::string name = (std::filesystem::temp_directory_path() / "mountaudit-test-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error(name + ": no scratch directory");
    path_ = std::filesystem::canonical(name).string();
  }
  Directory(const Directory&) = delete;
  Directory& operator=(const Directory&) = delete;
  ~Directory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }
  // "/etc/fstab" below the directory.
  void write(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(path_ + path).parent_path());
    std::ofstream(path_ + path, std::ios::binary) << text;
  }
  std::string read(const std::string& path) const {
    std::ifstream in(path_ + path, std::ios::binary);
    if (!in) throw std::runtime_error(path + ": cannot be read");
    return {std::istreambuf_iterator<char>(in), {}};
  }
  bool has(const std::string& path) const { return std::filesystem::exists(path_ + path); }
  unsigned mode(const std::string& path) const {
    struct stat status {};
    return ::stat((path_ + path).c_str(), &status) == 0 ? status.st_mode & 0777U : 0;
  }

 private:
  std::string path_;
};

// Texts by path; what is not there does not exist. Errors and a clock as the test wants them.
class TextHost : public probes::Host {
 public:
  std::map<std::string, std::string, std::less<>> files;
  std::map<std::string, base::ErrorKind, std::less<>> errors;
  std::map<std::string, std::vector<std::string>, std::less<>> lists;
  std::map<std::string, std::string, std::less<>> outputs;
  probes::Clock time;

  base::Result<std::string> read(std::string_view path) const override { return get<std::string>(files, path); }
  base::Result<std::vector<std::string>> list(std::string_view path) const override {
    return get<std::vector<std::string>>(lists, path);
  }
  base::Result<std::string> link(std::string_view path) const override {
    return base::fail(base::ErrorKind::absent, std::string(path), "does not exist");
  }
  base::Result<std::string> command(std::string_view name) const override { return get<std::string>(outputs, name); }
  bool live() const override { return true; }
  std::string root() const override { return "/"; }
  probes::Clock clock() const override { return time; }

 private:
  template <class T>
  base::Result<T> get(const std::map<std::string, T, std::less<>>& from, std::string_view what) const {
    if (const auto error = errors.find(what); error != errors.end())
      return base::fail(error->second, std::string(what), "as the test wants it");
    const auto found = from.find(what);
    if (found == from.end()) return base::fail(base::ErrorKind::absent, std::string(what), "does not exist");
    return found->second;
  }
};

}  // namespace scratch
