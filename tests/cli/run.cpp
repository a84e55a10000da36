#include "tests/cli/run.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace test {

Scratch::Scratch() {
  std::string pattern = (std::filesystem::temp_directory_path() / "mountaudit-test-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
  root_ = pattern;
}

Scratch::~Scratch() {
  std::error_code ignored;
  std::filesystem::remove_all(root_, ignored);
}

std::string Scratch::write(const std::string& name, const std::string& text) const {
  std::ofstream(path(name), std::ios::binary) << text;
  return path(name);
}

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string program() {
  const char* other = std::getenv("MOUNTAUDIT_BIN");
  return other != nullptr ? other : MOUNTAUDIT_BIN;
}

Ran run(const std::vector<std::string>& arguments, const std::map<std::string, std::string>& environment,
        const std::string& input) {
  const Scratch scratch;
  const std::string in = scratch.write("in", input);
  std::vector<std::string> words = {program()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<std::string> variables = {"PATH=/usr/bin:/bin"};
  for (const auto& [name, value] : environment) variables.push_back(name + "=" + value);
  std::vector<char*> argv;
  std::vector<char*> envp;
  for (auto& word : words) argv.push_back(word.data());
  for (auto& variable : variables) envp.push_back(variable.data());
  argv.push_back(nullptr);
  envp.push_back(nullptr);
  const std::string out = scratch.path("out");
  const std::string err = scratch.path("err");

  const pid_t child = ::fork();
  if (child == 0) {
    const auto redirect = [](const std::string& path, int flags, int to) {
      const int fd = ::open(path.c_str(), flags, 0600);
      if (fd < 0 || ::dup2(fd, to) < 0) ::_exit(127);
    };
    redirect(in, O_RDONLY, 0);
    redirect(out, O_WRONLY | O_CREAT, 1);
    redirect(err, O_WRONLY | O_CREAT, 2);
    ::execve(argv[0], argv.data(), envp.data());
    ::_exit(127);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  Ran ran;
  ran.code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  ran.out = read_file(out);
  ran.err = read_file(err);
  return ran;
}

}  // namespace test
