// Runs the built program: arguments, environment and standard input in; exit code and both outputs out.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace test {

struct Ran {
  int code = -1;
  std::string out;
  std::string err;
};

// The environment is empty but for PATH and what is given. MOUNTAUDIT_BIN names another executable to test.
Ran run(const std::vector<std::string>& arguments, const std::map<std::string, std::string>& environment = {},
        const std::string& input = "");
std::string program();

// A directory that goes when the object goes.
class Scratch {
 public:
  Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch();
  std::string path(const std::string& name) const { return root_ + "/" + name; }
  std::string write(const std::string& name, const std::string& text) const;  // gives the path

 private:
  std::string root_;
};

std::string read_file(const std::string& path);

}  // namespace test
