// Measures the passive audit of a large node, and the start of the program, against small standard tools in the same
// run: audit_bench MOUNTAUDIT [MOUNTAUDIT-STATIC]. Prints ratios; passes no verdict. Numbers of one run may be
// compared, numbers of two runs may not.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/bench/node.h"

namespace {

namespace fs = std::filesystem;

struct Run {
  double seconds = 0;
  double rss_mb = 0;
  int status = 0;
};

// Runs a command to its end with its output thrown away. Wall time includes fork and exec.
Run run(const std::vector<std::string>& command) {
  std::vector<char*> argv;
  for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  const auto start = std::chrono::steady_clock::now();
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("fork failed");
  if (child == 0) {
    const int null = open("/dev/null", O_WRONLY);
    dup2(null, STDOUT_FILENO);
    execvp(argv[0], argv.data());
    _exit(127);
  }
  int status = 0;
  rusage usage{};
  if (wait4(child, &status, 0, &usage) != child) throw std::runtime_error("wait4 failed");
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
  Run result{wall.count(), static_cast<double>(usage.ru_maxrss) / 1024, WIFEXITED(status) ? WEXITSTATUS(status) : 128};
  // 1 is the audit's "there are findings".
  if (result.status > 1) throw std::runtime_error(fmt::format("{}: exit status {}", command[0], result.status));
  return result;
}

// In a child of its own: the peak memory that wait4 tells for a program counts the process that became it, so this one
// must stay small.
void write_in_child(const fs::path& node, const bench::NodeShape& shape) {
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("fork failed");
  if (child == 0) {
    int status = 0;
    try {
      bench::write_node(node, shape);
    } catch (const std::exception& e) {
      fmt::print(stderr, "audit_bench: {}\n", e.what());
      status = 2;
    }
    _exit(status);
  }
  int status = 0;
  if (waitpid(child, &status, 0) != child || status != 0) throw std::runtime_error("the node could not be written");
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

struct Pair {
  double first_s, second_s, second_rss_mb;
};

// Both commands in turn, so that what else the machine does falls on both.
Pair compare(const std::vector<std::string>& first, const std::vector<std::string>& second, int rounds) {
  run(first);
  run(second);
  std::vector<double> a, b, rss;
  for (int i = 0; i < rounds; ++i) {
    a.push_back(run(first).seconds);
    const Run r = run(second);
    b.push_back(r.seconds);
    rss.push_back(r.rss_mb);
  }
  return {median(a), median(b), *std::ranges::max_element(rss)};
}

void bench_audit(const std::string& program, const fs::path& scratch) {
  fmt::print("passive audit against `wc -w` of the same files (medians of interleaved runs)\n");
  fmt::print("{:>7} {:>7} {:>9} {:>9} {:>9} {:>7} {:>9} {:>12}\n", "mounts", "clients", "MB", "wc -w ms", "audit ms",
             "ratio", "peak MB", "us per mount");
  struct Case {
    bench::NodeShape shape;
    int rounds;
  };
  for (const auto& [shape, rounds] :
       {Case{{.mounts = 1000}, 15}, Case{{.mounts = 1000, .mounts_per_server = 1}, 15},
        Case{{.mounts = 1000, .mounts_per_server = 1000}, 15}, Case{{.mounts = 5000}, 7}, Case{{.mounts = 20000}, 5}}) {
    const fs::path node = scratch / fmt::format("{}-{}", shape.mounts, shape.mounts_per_server);
    write_in_child(node, shape);
    std::uintmax_t bytes = 0;
    std::vector<std::string> wc = {"wc", "-w"};
    for (const auto& entry : fs::recursive_directory_iterator(node)) {
      if (!entry.is_regular_file()) continue;
      wc.push_back(entry.path().string());
      bytes += entry.file_size();
    }
    const Pair p = compare(wc, {program, "audit", "--root", node.string(), "--format", "json"}, rounds);
    fmt::print("{:>7} {:>7} {:>9.1f} {:>9.1f} {:>9.1f} {:>6.2f}x {:>9.1f} {:>12.1f}\n", shape.mounts,
               (shape.mounts + shape.mounts_per_server - 1) / shape.mounts_per_server, static_cast<double>(bytes) / 1e6,
               p.first_s * 1e3, p.second_s * 1e3, p.second_s / p.first_s, p.second_rss_mb,
               p.second_s * 1e6 / static_cast<double>(shape.mounts));
    fs::remove_all(node);
  }
}

void bench_start(const std::string& program) {
  const Pair p = compare({"/bin/true"}, {program, "--version"}, 301);
  fmt::print("{} --version: {:.2f} ms, /bin/true: {:.2f} ms, difference {:.2f} ms (medians of 301)\n",
             fs::path(program).filename().string(), p.second_s * 1e3, p.first_s * 1e3, (p.second_s - p.first_s) * 1e3);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: audit_bench MOUNTAUDIT [MOUNTAUDIT-STATIC]\n");
    return 2;
  }
  setenv("LC_ALL", "C", 1);  // the quick way for wc
  std::string scratch = (fs::temp_directory_path() / "mountaudit-bench-XXXXXX").string();
  if (mkdtemp(scratch.data()) == nullptr) {
    fmt::print(stderr, "audit_bench: {}: no scratch directory\n", scratch);
    return 2;
  }
  int status = 0;
  try {
    bench_audit(argv[1], scratch);
    for (int i = 1; i < argc; ++i) bench_start(argv[i]);
  } catch (const std::exception& e) {
    fmt::print(stderr, "audit_bench: {}\n", e.what());
    status = 2;
  }
  fs::remove_all(scratch);
  return status;
}
