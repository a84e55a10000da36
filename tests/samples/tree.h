// A copy of a sample tree that a test may change, in a directory of its own that goes when the object goes.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace samples {

class Tree {
 public:
  Tree();  // empty
  explicit Tree(const std::filesystem::path& original);
  Tree(Tree&& other) noexcept;
  Tree(const Tree&) = delete;
  Tree& operator=(const Tree&) = delete;
  ~Tree();

  const std::filesystem::path& root() const { return root_; }
  std::string read(const std::string& path) const;
  std::vector<std::string> files(const std::string& below) const;  // paths inside the root, sorted
  void write(const std::string& path, const std::string& text);
  void remove(const std::string& path);
  // Every occurrence; throws std::runtime_error when there is none.
  void replace(const std::string& path, const std::string& what, const std::string& by);

  // Leaves every mount of a mountstats text one TCP connection that carries `mean` requests in flight at a send, and
  // had at most `peak` slots in use.
  void one_connection(const std::string& path, double mean, unsigned peak);
  // Leaves one NFS mount, the first, and mounts its export `count` times: for as many pods, each of its own VM.
  void multiply_first_mount(std::size_t count);

 private:
  std::filesystem::path root_;
};

}  // namespace samples
