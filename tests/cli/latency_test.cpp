// The latency command as a program: consent, documents, what is left behind, signals.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <thread>

#include "tests/cli/run.h"
#include "tests/wire/peer.h"

using namespace test;
namespace fs = std::filesystem;

namespace {

std::size_t entries(const std::string& folder) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

}  // namespace

TEST_CASE("latency: load without consent is refused before anything is opened") {
  const Scratch scratch;
  const std::string file = scratch.write("file", std::string(65536, 'x'));
  const auto refused = [](const std::vector<std::string>& arguments, const char* words) {
    const Ran ran = run(arguments);
    INFO(ran.err);
    CHECK(ran.code == 2);
    CHECK(ran.out.empty());
    CHECK(ran.err.find(words) != std::string::npos);
  };
  refused({"latency", file}, "--allow-load");
  refused({"latency", "nfs://127.0.0.1:9/vol/file", "--pattern", "randread"}, "--allow-load");
  refused({"latency", "nfs://127.0.0.1:9/vol", "--pattern", "null", "--depth", "8"}, "--allow-load");
  refused({"latency", "--allow-load", file, "--mix", "80:20"}, "--allow-write");
  refused({"latency", "--allow-write", file, file, "--pattern", "randwrite"}, "was there before");
  refused({"latency", "--allow-write", "/elsewhere", file, "--pattern", "randwrite"}, "--allow-write");
  refused({"latency", "--allow-load", file, "--connections", "2"}, "--connections");
  refused({"latency", "--allow-load", file, "--pattern", "tur"}, "iSCSI");
  refused({"latency", "file"}, "no target");
  refused({"latency", "--allow-load", file, "--preset", "vdi"}, "--preset");
  CHECK(read_file(file) == std::string(65536, 'x'));
}

TEST_CASE("latency: a file is measured, as a table and as facts") {
  const Scratch scratch;
  const std::string file = scratch.write("file", std::string(std::size_t{1} << 20, 'x'));
  const std::vector<std::string> arguments{"latency",   "--allow-load", file,     "--depth", "1,4",    "--passes", "2",
                                           "--seconds", "100ms",        "--ramp", "0s",      "--seed", "7"};
  const Ran text = run(arguments);
  INFO(text.out << text.err);
  CHECK(text.code == 0);
  CHECK(text.out.find("randread 4 KiB, working set 1 MiB") != std::string::npos);
  auto with_json = arguments;
  with_json.insert(with_json.end(), {"--format", "json"});
  const auto document = boost::json::parse(run(with_json).out);
  const auto& runs = document.at("facts").at("latency").at("runs").as_array();
  REQUIRE(runs.size() == 4);  // two depths, two passes
  CHECK(runs[3].at("depth").to_number<int>() == 4);
  CHECK(runs[3].at("pass").to_number<int>() == 2);
  CHECK(runs[3].at("iops").to_number<double>() > 0);
  CHECK(runs[3].at("working_set_bytes").to_number<int>() == 1 << 20);
  CHECK(runs[3].at("partial").as_bool() == false);
  CHECK(runs[0].at("histogram").as_array().size() > 0);
}

TEST_CASE("latency: a file of its own is written to and is gone afterwards, also after a signal") {
  const Scratch scratch;
  const std::string folder = scratch.path("folder");
  fs::create_directory(folder);
  const std::vector<std::string> arguments{"latency", "--allow-write", folder, folder,     "--mix", "50:50",  "--size",
                                           "2M",      "--depth",       "2",    "--passes", "1",     "--ramp", "0s"};
  auto brief = arguments;
  brief.insert(brief.end(), {"--seconds", "100ms"});
  const Ran ran = run(brief);
  INFO(ran.out << ran.err);
  CHECK(ran.code == 0);
  CHECK(ran.out.find("randrw 4 KiB 50:50") != std::string::npos);
  CHECK(entries(folder) == 0);

  const std::string out = scratch.path("out");
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGINT, SIG_DFL);
    if (std::freopen(out.c_str(), "w", stdout) == nullptr) ::_exit(1);
    std::vector<std::string> words{program()};
    words.insert(words.end(), arguments.begin(), arguments.end());
    words.insert(words.end(), {"--seconds", "60s"});
    std::vector<char*> argv;
    for (auto& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    ::execv(argv[0], argv.data());
    ::_exit(1);
  }
  std::this_thread::sleep_for(std::chrono::seconds(2));
  ::kill(child, SIGINT);
  int status = 0;
  ::waitpid(child, &status, 0);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 130);
  CHECK(read_file(out).find("PARTIAL: stopped by a signal") != std::string::npos);
  CHECK(entries(folder) == 0);
}

TEST_CASE("latency: a server that does not answer is a finding, a path that is not there an error") {
  const wire_test::ClosedPort closed;
  const Ran server = run({"latency", "nfs://" + closed.address().text() + "/vol", "--timeout", "1s"});
  INFO(server.out << server.err);
  CHECK(server.code == 1);
  CHECK(server.err.find("refused") != std::string::npos);
  const Ran absent = run({"latency", "--allow-load", "/nowhere/file"});
  CHECK(absent.code == 2);
  CHECK(absent.err.find("No such file") != std::string::npos);
}
