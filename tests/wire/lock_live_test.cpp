// Locks really taken, files really read, a grace period really watched: on nfs-ganesha in namespaces of its own.
#include <signal.h>
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <future>
#include <thread>

#include "probes/wire/follow_grace.h"
#include "probes/wire/lock_test.h"
#include "probes/wire/read_file.h"
#include "tests/skipped.h"
#include "tests/wire/lab.h"

using namespace wire;
using namespace wire_test;
using namespace std::chrono_literals;

namespace {

bool skipped() { return test::skipped(Lab::missing()); }

NfsTarget target(const std::string& addr = "127.0.0.1") {
  NfsTarget made;
  made.name = made.addr = addr;
  made.port = Lab::nfs_port;
  made.port_given = true;
  made.exports = {"/export"};
  return made;
}

AskOptions lean() {
  AskOptions made;
  made.timeout = 3s;
  made.deadline = 15s;
  made.null_calls = 0;
  made.path_mtu = false;
  return made;
}

facts::NfsServer asked(const Lab& lab, const std::string& addr = "127.0.0.1") {
  return lab.ask({target(addr)}, lean()).at(0).server;
}

std::vector<facts::NfsLockTest> locks(const Lab& lab, const facts::NfsServer& server,
                                      const std::string& directory = "/export", io::Duration limit = 10s,
                                      const std::atomic<bool>* stop = nullptr) {
  std::vector<facts::NfsLockTest> tests;
  lab.inside([&] { tests = test_locks(server, "/export", directory, {2s, io::Clock::now() + limit, stop}); });
  for (const auto& test : tests)
    UNSCOPED_INFO(test.version << " " << test.result << " " << test.step.value_or("-") << " "
                               << test.detail.value_or("-"));
  return tests;
}

const std::vector<std::string> only_the_file{"file"};

}  // namespace

TEST_CASE("ganesha: one lock of NFSv3 and one of NFSv4.2 are taken and released, and nothing is left") {
  if (skipped()) return;
  Lab lab;
  lab.start_rpcbind();
  lab.start_statd();
  lab.start_ganesha({});
  std::filesystem::create_directories(lab.folder() + "/export/deep/er");
  for (const std::string addr : {"127.0.0.1", "::1"}) {
    const auto server = asked(lab, addr);
    for (const std::string directory : {"/export", "/export/deep/er"}) {
      CAPTURE(addr, directory);
      const auto tests = locks(lab, server, directory);
      REQUIRE(tests.size() == 2);
      CHECK(tests[0].version == "3");
      CHECK(tests[1].version == "4.2");
      CHECK(tests[0].monitored.is(true));
      CHECK(tests[1].monitored.is_absent());
      for (const auto& test : tests) {
        CHECK(test.result == "ok");
        CHECK(test.step.is_absent());
        CHECK(test.lock_ms.has_value());
        CHECK(test.unlock_ms.has_value());
        CHECK(test.left.is_absent());
        CHECK(test.directory == directory);
      }
      CHECK(std::filesystem::is_empty(lab.folder() + "/export/deep/er"));
    }
  }
  CHECK(lab.exported_files() == std::vector<std::string>{"deep", "file"});
  CHECK(lab.recorded_clients().empty());
  CHECK(lab.monitored_clients().empty());
}

TEST_CASE("ganesha: without rpc.statd the lock of NFSv3 is refused, and it is said why") {
  if (skipped()) return;
  Lab lab;
  lab.start_rpcbind();
  GaneshaSettings settings;
  settings.protocols = "3";
  lab.start_ganesha(settings);
  auto tests = locks(lab, asked(lab));
  REQUIRE(tests.size() == 1);
  CHECK(tests[0].result == "NLM4_DENIED_NOLOCKS");
  CHECK(tests[0].step.is("LOCK"));
  CHECK(tests[0].monitored.is(false));
  REQUIRE(tests[0].detail.has_value());
  CHECK(tests[0].detail->find("rpc.statd") != std::string::npos);
  CHECK(tests[0].left.is_absent());
  CHECK(lab.exported_files() == only_the_file);
  lab.stop_ganesha();

  settings.nlm = false;
  lab.start_ganesha(settings);
  tests = locks(lab, asked(lab));
  REQUIRE(tests.size() == 1);
  CHECK(tests[0].result == "not_registered");
  CHECK(tests[0].step.is("LOCK"));
  CHECK(lab.exported_files() == only_the_file);  // no file is made for a lock that cannot be asked for
}

TEST_CASE("ganesha: a lock test in grace, on a read-only export, in no directory, on 4.1 and on 4.0 alone") {
  if (skipped()) return;
  Lab lab;
  lab.start_rpcbind();
  lab.start_statd();
  GaneshaSettings settings;
  settings.graceless = false;
  lab.start_ganesha(settings);
  auto tests = locks(lab, asked(lab));
  REQUIRE(tests.size() == 2);
  CHECK(tests[0].result == "NLM4_DENIED_GRACE_PERIOD");
  CHECK(tests[1].result == "NFS4ERR_GRACE");
  CHECK(tests[1].step.is("OPEN"));
  CHECK(lab.exported_files() == only_the_file);
  lab.stop_ganesha();

  settings.graceless = true;
  settings.access = "RO";
  lab.start_ganesha(settings);
  tests = locks(lab, asked(lab));
  REQUIRE(tests.size() == 2);
  CHECK(tests[0].result == "NFS3ERR_ROFS");
  CHECK(tests[0].step.is("CREATE"));
  CHECK(tests[0].detail.is("exported read-only"));
  CHECK(tests[1].result == "NFS4ERR_ROFS");
  CHECK(lab.exported_files() == only_the_file);
  lab.stop_ganesha();

  settings.access = "RW";
  settings.minors = "0,1";
  settings.slots = 1;
  lab.start_ganesha(settings);
  const auto server = asked(lab);
  tests = locks(lab, server, "/export/nowhere");
  REQUIRE(tests.size() == 2);
  CHECK(tests[0].result == "NFS3ERR_NOENT");
  CHECK(tests[0].step.is("LOOKUP"));
  CHECK(tests[1].result == "NFS4ERR_NOENT");
  CHECK(tests[1].step.is("LOOKUP"));
  tests = locks(lab, server);
  CHECK(tests.at(1).version == "4.1");
  CHECK(tests.at(1).result == "ok");
  CHECK(lab.recorded_clients().empty());
  lab.stop_ganesha();

  settings.protocols = "4";
  settings.minors = "0";
  lab.start_ganesha(settings);
  tests = locks(lab, asked(lab));
  REQUIRE(tests.size() == 1);
  CHECK(tests[0].version == "4.0");
  CHECK(tests[0].result == "not_asked");
  CHECK(lab.exported_files() == only_the_file);
}

TEST_CASE("ganesha: a lock test that is stopped at any moment leaves nothing") {
  if (skipped()) return;
  Lab lab;
  lab.start_rpcbind();
  lab.start_statd();
  lab.start_ganesha({});
  const auto server = asked(lab);
  bool stopped_inside = false;
  for (int wait_us = 0; wait_us < 12000; wait_us += 600) {
    std::atomic<bool> stop{false};
    std::thread later([&] {
      std::this_thread::sleep_for(std::chrono::microseconds(wait_us));
      stop = true;
    });
    const auto tests = locks(lab, server, "/export", 10s, &stop);
    later.join();
    REQUIRE(tests.size() == 2);
    for (const auto& test : tests) {
      CAPTURE(wait_us, test.version, test.step.value_or("-"));
      CHECK((test.result == "ok" || (test.result == "not_asked" && test.detail.is("ended by a signal"))));
      CHECK(test.left.is_absent());
      if (test.step.has_value() && *test.step != "MNT" && *test.step != "EXCHANGE_ID") stopped_inside = true;
    }
  }
  CHECK(stopped_inside);
  CHECK(lab.exported_files() == only_the_file);
  CHECK(lab.recorded_clients().empty());
  CHECK(lab.monitored_clients().empty());
}

TEST_CASE("ganesha: when the server hangs in the middle of a lock test, what is left is named in time") {
  if (skipped()) return;
  Lab lab;
  GaneshaSettings settings;
  settings.protocols = "4";
  lab.start_ganesha(settings);
  const auto server = asked(lab);
  // It is frozen as soon as the file is there.
  std::atomic<bool> done{false};
  std::thread freezer([&] {
    while (!done) {
      if (lab.exported_files().size() > 1) {
        lab.signal_ganesha(SIGSTOP);
        return;
      }
    }
  });
  const auto began = io::Clock::now();
  std::vector<facts::NfsLockTest> tests;
  lab.inside([&] { tests = test_locks(server, "/export", "/export", {500ms, io::Clock::now() + 3s, nullptr}); });
  const auto took = io::Clock::now() - began;
  done = true;
  freezer.join();
  lab.signal_ganesha(SIGCONT);
  CHECK(took < 3500ms);
  REQUIRE(tests.size() == 1);
  if (tests[0].result == "ok" && tests[0].left.is_absent()) {
    WARN("the test was over before the server could be frozen");
    return;
  }
  CAPTURE(tests[0].result, tests[0].step.value_or("-"));
  REQUIRE(tests[0].left.has_value());
  CHECK(tests[0].left->find("/export/mountaudit-lock-test-") == 0);
}

TEST_CASE("ganesha: a file is read by path with NFSv3 and with NFSv4.0") {
  if (skipped()) return;
  Lab lab;
  lab.start_rpcbind();
  GaneshaSettings settings;
  settings.max_io_bytes = 65536;
  lab.start_ganesha(settings);
  std::filesystem::resize_file(lab.folder() + "/export/file", 200000);
  const auto read = [&](const facts::NfsServer& server, const std::string& path) {
    facts::NfsReadTest test;
    lab.inside([&] { test = read_file(server, "/export", path, {io::Clock::now() + 5s, nullptr}); });
    UNSCOPED_INFO(test.result << " " << test.detail.value_or("-"));
    return test;
  };
  for (const std::string addr : {"127.0.0.1", "::1"}) {
    const auto server = asked(lab, addr);
    const auto test = read(server, "file");
    CHECK(test.result == "ok");
    CHECK(test.version == "3");
    CHECK(test.path == "/export/file");
    CHECK(test.bytes.is(65536));
    CHECK(test.file_bytes.is(200000));
    CHECK(test.avail_bytes.has_value());
    CHECK(test.read_ms.has_value());
    CHECK(test.detail.is_absent());
    CHECK(read(server, "/nosuch").result == "ENOENT");
  }
  // A server that hangs: the end is kept.
  const auto server = asked(lab);
  lab.signal_ganesha(SIGSTOP);
  const auto began = io::Clock::now();
  facts::NfsReadTest hung;
  lab.inside([&] { hung = read_file(server, "/export", "file", {io::Clock::now() + 700ms, nullptr}); });
  lab.signal_ganesha(SIGCONT);
  CHECK(hung.result == "ETIMEDOUT");
  CHECK(io::Clock::now() - began < 2s);
  lab.stop_ganesha();

  settings.protocols = "4";
  settings.minors = "0";
  lab.start_ganesha(settings);
  auto test = read(asked(lab), "file");
  CHECK(test.version == "4.0");
  CHECK(test.result == "ok");
  CHECK(test.file_bytes.is(200000));
  CHECK(test.bytes.value_or(0) > 0);
  lab.stop_ganesha();

  settings.minors = "1,2";
  lab.start_ganesha(settings);
  test = read(asked(lab), "file");
  CHECK(test.result == "not_asked");
}

TEST_CASE("ganesha: a grace period that is watched from its begin to its end has a length") {
  if (skipped()) return;
  Lab lab;
  lab.start_rpcbind();
  lab.start_ganesha({});
  std::vector<std::string> told;
  std::atomic<bool> serving{false};
  GraceSeen seen;
  std::thread watcher([&] {
    lab.inside([&] {
      seen = follow_grace(target(), lean(), 60s, [&](double, const std::string& what) {
        told.push_back(what);
        if (what == "grants locks") serving = true;
      });
    });
  });
  for (int i = 0; i < 200 && !serving; ++i) std::this_thread::sleep_for(50ms);
  lab.stop_ganesha();
  GaneshaSettings settings;
  settings.graceless = false;  // 8 s; the server looks once a second whether it is over
  lab.start_ganesha(settings);
  watcher.join();
  REQUIRE(told.size() >= 3);
  CHECK(told.front() == "grants locks");
  CHECK(told.back() == "grants locks");
  CHECK(std::count(told.begin(), told.end(), "in its grace period: it grants no new lock") == 1);
  CAPTURE(seen.how);
  REQUIRE(seen.grace_s.has_value());
  CHECK(*seen.grace_s >= 6);
  CHECK(*seen.grace_s <= 12);
  CHECK(seen.how.find("watched from its begin to its end") == 0);

  // One that was under way already has an end and no length.
  lab.stop_ganesha();
  lab.start_ganesha(settings);
  lab.inside([&] { seen = follow_grace(target(), lean(), 60s, [](double, const std::string&) {}); });
  CHECK(seen.grace_s.is_unknown());
  CHECK(seen.how == "it was under way already: its begin was not seen");
}
