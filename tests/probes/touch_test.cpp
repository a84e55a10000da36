// Mounts touched by children that may be left behind. No test needs an NFS mount: the call is put in, and blocks in
// ways of its own; a FUSE file system that never answers stands for a dead server where one can be made.
#include <catch2/catch.hpp>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <fstream>

#include "probes/touch_mounts.h"
#include "tests/probes/scratch.h"
#include "tests/probes/silent_fuse.h"

using namespace probes;
using namespace std::chrono_literals;
using How = Touched::How;

namespace {

int stops_itself(const char*) {
  ::raise(SIGSTOP);
  return 0;
}
int dies(const char*) { ::_exit(1); }
int is_stale(const char*) { return ESTALE; }
// A path that ends in "silent" never answers.
int answers_by_name(const char* path) {
  const std::string_view name(path);
  while (name.ends_with("silent")) ::pause();
  return name.ends_with("stale") ? ESTALE : 0;
}

std::string line(int id, const std::string& device, const std::string& target, const std::string& type) {
  return std::to_string(id) + " 22 " + device + " / " + target + " rw,relatime - " + type + " 192.0.2.1:/x rw\n";
}

facts::NfsMount mount(const std::string& target, const std::string& client, const std::string& bdi) {
  facts::NfsMount m;
  m.target = target;
  m.client_id = client;
  m.bdi = bdi;
  m.hidden_by = m.same_as = facts::Fact<std::string>::absent();
  return m;
}

class Root : public Host {
 public:
  explicit Root(std::string root) : root_(std::move(root)) {}
  base::Result<std::string> read(std::string_view) const override { return none(); }
  base::Result<std::vector<std::string>> list(std::string_view) const override {
    return base::fail(base::ErrorKind::absent, "", "");
  }
  base::Result<std::string> link(std::string_view) const override { return none(); }
  base::Result<std::string> command(std::string_view) const override { return none(); }
  bool live() const override { return true; }
  std::string root() const override { return root_; }
  Clock clock() const override { return {}; }

 private:
  static base::Result<std::string> none() { return base::fail(base::ErrorKind::absent, "", ""); }
  std::string root_;
};

facts::Facts three_clients() {
  facts::Facts f;
  for (const char* id : {"a", "b", "c"}) f.nfs.clients.emplace_back().id = id;
  f.nfs.mounts = {mount("/mnt/a", "a", "0:31"), mount("/mnt/b", "b", "0:32"), mount("/mnt/a/inner", "c", "0:33")};
  return f;
}

}  // namespace

TEST_CASE("touch: what is there answers, what is not says so") {
  const scratch::Directory dir;
  const auto results = touch_paths({dir.path(), dir.path() + "/nothing", "/proc"}, 5s);
  REQUIRE(results.size() == 3);
  CHECK(results[0].how == How::ended);
  CHECK(results[0].error == 0);
  CHECK(results[1].how == How::ended);
  CHECK(results[1].error == ENOENT);
  CHECK(results[2].error == 0);
  CHECK(results[0].duration.count() > 0);
  CHECK(touch_paths({}, 1s).empty());
}

TEST_CASE("touch: a child that hangs costs the deadline once, however many there are, and is put down") {
  const std::vector<std::string> paths(20, "/x");
  const auto before = std::chrono::steady_clock::now();
  const auto results = touch_paths(paths, 1s, stops_itself);
  const auto took = std::chrono::steady_clock::now() - before;
  CHECK(took < 5s);
  for (const auto& result : results) {
    CHECK(result.how == How::timeout);
    CHECK(result.duration.count() >= 100);
  }
  CHECK(::waitpid(-1, nullptr, WNOHANG) == -1);  // none of them is left, not even unburied
}

TEST_CASE("touch: more paths than run at once share the deadline, and a child that dies tells nothing of its path") {
  const auto results = touch_paths(std::vector<std::string>(70, "/x"), 100ms, stops_itself);
  CHECK(results[63].how == How::timeout);
  CHECK(results[64].how == How::not_started);
  const auto died = touch_paths({"/x"}, 5s, dies);
  CHECK(died[0].how == How::not_started);
  CHECK(died[0].error == ECHILD);
  CHECK(touch_paths({"/x"}, 5s, is_stale)[0].error == ESTALE);
}

TEST_CASE("touch: a child holds no descriptor but its own pipe") {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const auto results = touch_paths({"/x"}, 5s, [](const char*) {
    int open = 0;
    for (int fd = 0; fd < 1024; ++fd) open += ::fcntl(fd, F_GETFD) >= 0 ? 1 : 0;
    return open;
  });
  ::close(ends[0]);
  ::close(ends[1]);
  CHECK(results[0].how == How::ended);
  CHECK(results[0].error == 1);
}

TEST_CASE("touch: a file system that never answers is given up, as a dead server would be") {
  const scratch::Directory dir;
  std::filesystem::create_directories(dir.path() + "/dead");
  scratch::SilentFuse fuse(dir.path() + "/dead");
  if (!fuse.mounted()) {
    WARN("SKIPPED: no FUSE mount can be made here");
    return;
  }
  const auto results = touch_paths({dir.path() + "/dead", dir.path()}, 300ms);
  CHECK((results[0].how == How::timeout || results[0].how == How::left_behind));
  CHECK(results[1].error == 0);
  CHECK(fuse.touched() > 0);
}

TEST_CASE("touch: one mount of each client, below the root, by its device") {
  facts::Facts f = three_clients();
  f.nfs.mounts.insert(f.nfs.mounts.begin(), mount("/mnt/elsewhere", "a", "0:30"));
  const std::string own = line(40, "0:31", "/host/mnt/a", "nfs4") + line(41, "0:32", "/host/mnt/b", "nfs") +
                          line(42, "0:33", "/host/mnt/a/inner", "nfs4");
  touch_mounts(Root("/host"), f, {0, 1, 2}, own, 5s,
               [](const char* path) { return std::string_view(path) == "/host/mnt/b" ? ESTALE : 0; });
  REQUIRE(f.nfs.clients[0].touch.has_value());
  CHECK(f.nfs.clients[0].touch->target == "/mnt/a");
  CHECK(f.nfs.clients[0].touch->result == "ok");
  CHECK(f.nfs.clients[1].touch->result == "ESTALE");
  CHECK(f.nfs.clients[2].touch->target == "/mnt/a/inner");
  REQUIRE(f.sources.size() == 3);
  CHECK(f.sources[1].name == "statfs /mnt/b");
  CHECK(f.sources[1].status == "ok");
  CHECK(f.sources[1].detail == "ESTALE");
}

TEST_CASE("touch: a timeout is a fact with its time, and the row says so") {
  facts::Facts f = three_clients();
  f.nfs.mounts[1].target = "/mnt/silent";
  const std::string own = line(40, "0:31", "/mnt/a", "nfs4") + line(41, "0:32", "/mnt/silent", "nfs");
  touch_mounts(Root("/"), f, {0, 1}, own, 200ms, answers_by_name);
  CHECK(f.nfs.clients[0].touch->result == "ok");
  CHECK(f.nfs.clients[1].touch->result == "timeout");
  CHECK(*f.nfs.clients[1].touch->duration_ms >= 100);
  CHECK(f.sources[1].status == "timeout");
  CHECK(f.nfs.clients[2].touch.is_unknown());  // it was not to be touched
}

TEST_CASE("touch: nothing inside a mount that may not be touched, nothing that is not the mount itself") {
  const std::string own =
      line(40, "0:31", "/mnt/a", "nfs4") + line(41, "0:99", "/mnt/b", "nfs") + line(42, "0:33", "/mnt/a/inner", "nfs4");
  const auto must_not = [](const char*) { return EBADF; };
  facts::Facts f = three_clients();
  touch_mounts(Root("/"), f, {1, 2}, own, 5s, must_not);  // a is in trouble; b is another mount in our own table
  for (const auto& client : f.nfs.clients) CHECK(client.touch.is_unknown());
  REQUIRE(f.sources.size() == 2);
  for (const auto& row : f.sources) CHECK(row.status == "skipped");

  for (const auto& spoil : std::vector<void (*)(facts::NfsMount&)>{[](facts::NfsMount& m) { m.hidden_by = "/mnt"; },
                                                                   [](facts::NfsMount& m) { m.target_deleted = true; },
                                                                   [](facts::NfsMount& m) { m.bdi = {}; }}) {
    facts::Facts one = three_clients();
    spoil(one.nfs.mounts[0]);
    touch_mounts(Root("/"), one, {0}, own, 5s, must_not);
    CHECK(one.nfs.clients[0].touch.is_unknown());
  }
  facts::Facts covered = three_clients();  // something else lies over the mount point by now
  touch_mounts(Root("/"), covered, {0}, own + line(43, "0:50", "/mnt/a", "tmpfs"), 5s, must_not);
  CHECK(covered.nfs.clients[0].touch.is_unknown());
}
