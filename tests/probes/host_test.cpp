#include "probes/io/host.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>

#include "probes/io/child.h"
#include "probes/io/root_dir.h"
#include "probes/parsed.h"
#include "tests/probes/scratch.h"
#include "tests/probes/silent_fuse.h"

using namespace probes;
using base::ErrorKind;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

namespace {

ErrorKind kind(const base::Result<std::string>& result) {
  REQUIRE_FALSE(result);
  return result.error().kind;
}

RootDir open_dir(const std::string& path, RootDir::Resolve how) {
  auto opened = RootDir::open(path, {}, how);
  REQUIRE(opened);
  return std::move(*opened);
}

}  // namespace

TEST_CASE("root: links are resolved inside the root, by the kernel and by hand alike") {
  const scratch::Directory dir;
  dir.write("/etc/fstab", "inside\n");
  dir.write("/usr/lib/os-release", "ID=x\n");
  ::symlink("/etc/fstab", (dir.path() + "/absolute").c_str());
  ::symlink("../../../../etc/fstab", (dir.path() + "/etc/climbs").c_str());
  ::symlink("../usr/lib/os-release", (dir.path() + "/etc/os-release").c_str());
  ::symlink("/usr", (dir.path() + "/u").c_str());
  ::symlink("loop", (dir.path() + "/loop").c_str());
  ::symlink("nowhere", (dir.path() + "/dangling").c_str());
  ::symlink("/", (dir.path() + "/top").c_str());
  for (const auto how : {RootDir::Resolve::fast, RootDir::Resolve::by_hand}) {
    const RootDir root = open_dir(dir.path(), how);
    CHECK(root.read("/etc/fstab").value() == "inside\n");
    CHECK(root.read("etc//./fstab").value() == "inside\n");
    CHECK(root.read("/absolute").value() == "inside\n");
    CHECK(root.read("/etc/climbs").value() == "inside\n");
    CHECK(root.read("/etc/os-release").value() == "ID=x\n");
    CHECK(root.read("/u/lib/os-release").value() == "ID=x\n");
    CHECK(root.read("/etc/../../../etc/fstab").value() == "inside\n");
    CHECK(kind(root.read("/loop")) == ErrorKind::malformed);
    CHECK(kind(root.read("/dangling")) == ErrorKind::absent);
    CHECK(kind(root.read("/top")) == ErrorKind::malformed);
    CHECK(kind(root.read("/etc")) == ErrorKind::malformed);
    CHECK(kind(root.read("/etc/fstab/x")) == ErrorKind::absent);
    CHECK(kind(root.read("/none")) == ErrorKind::absent);
    CHECK(kind(root.read(std::string("/etc\0x", 6))) == ErrorKind::malformed);
    CHECK(kind(root.read("/" + std::string(5000, 'n'))) == ErrorKind::malformed);
    CHECK(root.list("/etc").value() == std::vector<std::string>{"climbs", "fstab", "os-release"});
    CHECK(root.list("/top").value().size() == 7);
    CHECK(root.list("/").value().size() == 7);
    CHECK(root.list("/etc/fstab").error().kind == ErrorKind::malformed);
    CHECK(root.link("/etc/climbs").value() == "../../../../etc/fstab");
    CHECK(root.link("/u").value() == "/usr");
    CHECK(kind(root.link("/etc/fstab")) == ErrorKind::malformed);
    CHECK(kind(root.link("/none")) == ErrorKind::absent);
  }
}

TEST_CASE("root: a FIFO, a socket and a device are not opened") {
  const scratch::Directory dir;
  REQUIRE(::mkfifo((dir.path() + "/fifo").c_str(), 0600) == 0);
  const bool device = ::mknod((dir.path() + "/device").c_str(), S_IFCHR | 0600, makedev(1, 5)) == 0;  // endless zeros
  const auto start = steady_clock::now();
  for (const auto how : {RootDir::Resolve::fast, RootDir::Resolve::by_hand}) {
    const RootDir root = open_dir(dir.path(), how);
    CHECK(kind(root.read("/fifo")) == ErrorKind::malformed);
    if (device) CHECK(kind(root.read("/device")) == ErrorKind::malformed);
  }
  CHECK(steady_clock::now() - start < milliseconds(2000));
}

TEST_CASE("root: denied is denied, not absent") {
  const scratch::Directory dir;
  dir.write("/secret", "x");
  ::chmod(dir.path().c_str(), 0755);
  ::chmod((dir.path() + "/secret").c_str(), 0);
  const bool root_user = ::geteuid() == 0;
  const RootDir root = open_dir(dir.path(), RootDir::Resolve::fast);
  if (root_user) REQUIRE(::seteuid(65534) == 0);
  const auto result = root.read("/secret");
  if (root_user) REQUIRE(::seteuid(0) == 0);
  CHECK(kind(result) == ErrorKind::denied);
  CHECK(result.error().message == "permission denied");
}

TEST_CASE("read: to the end, whatever size the file claims") {
  const auto host = open_live("/");
  REQUIRE(host);
  const auto table = (*host)->read("/proc/self/mountinfo");  // st_size is 0
  REQUIRE(table);
  CHECK(table->ends_with("\n"));
  CHECK(table->size() > 100);
}

TEST_CASE("read: a process that ended has no files, and what it had open vanished") {
  const pid_t child = ::fork();
  if (child == 0) {
    ::pause();
    ::_exit(0);
  }
  const std::string path = "/proc/" + std::to_string(child) + "/status";
  const Fd fd(::open(path.c_str(), O_RDONLY));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  const auto vanished = read_to_end(fd.get(), path);
  CHECK(kind(vanished) == ErrorKind::absent);
  CHECK(vanished.error().message == "vanished while it was read");
  const auto host = open_live("/");
  REQUIRE(host);
  CHECK(kind((*host)->read(path)) == ErrorKind::absent);
}

TEST_CASE("read: of 100 MiB in one line, a little over 1 MiB is kept, and the lines around it are whole") {
  const scratch::Directory dir;
  const std::string path = dir.path() + "/long";
  const Fd fd(::open(path.c_str(), O_WRONLY | O_CREAT, 0600));
  REQUIRE(::write(fd.get(), "first\n", 6) == 6);
  REQUIRE(::lseek(fd.get(), 100 << 20, SEEK_CUR) > 0);  // a hole: NUL bytes
  REQUIRE(::write(fd.get(), "\nlast", 5) == 5);
  const auto text = read_file(path);
  REQUIRE(text);
  CHECK(text->size() == 6 + max_line_bytes + 1 + 5);
  CHECK(text->starts_with("first\n"));
  CHECK(text->ends_with("\nlast"));
}

TEST_CASE("read: a line of exactly 1 MiB is whole, one byte more is seen as too long") {
  const scratch::Directory dir;
  const std::string full(max_line_bytes, 'a');
  dir.write("/a", full + "\n" + full + "b\n" + full + "bc\nend");
  const auto text = read_file(dir.path() + "/a");
  REQUIRE(text);
  CHECK(*text == full + "\n" + full + "b\n" + full + "b\nend");
}

TEST_CASE("hanging mounts: by type, with the last one on the longest prefix deciding for the root") {
  const std::string_view table =
      "20 1 0:1 / / rw - ext4 /dev/sda rw\n"
      "21 20 0:2 / /host rw - xfs /dev/sdb rw\n"
      "22 21 0:3 / /host/mnt/a\\040b rw - nfs4 s:/x rw\n"
      "23 21 0:4 / /host/proc/sys/fs/binfmt_misc rw - autofs systemd-1 rw\n"
      "24 21 0:5 / /host/gvfs rw - fuse.gvfsd-fuse gvfsd rw\n"
      "25 20 0:6 / /elsewhere rw - nfs s:/y rw\n"
      "26 21 0:7 / /host/9 rw - 9p share rw,trans=virtio\n"
      "broken line\n";
  const HangingMounts host(table, "/host");
  CHECK(host.above("/mnt/a b") == "/mnt/a b (nfs4)");
  CHECK(host.above("/mnt/a b/c/d") == "/mnt/a b (nfs4)");
  CHECK(host.above("/mnt/a") == "");
  CHECK(host.above("/proc/sys/fs/binfmt_misc/x") == "/proc/sys/fs/binfmt_misc (autofs)");
  CHECK(host.above("/gvfs") == "/gvfs (fuse.gvfsd-fuse)");
  CHECK(host.above("/9/x") == "");
  CHECK(host.above("/elsewhere") == "");
  CHECK(host.above("/etc/fstab") == "");
  CHECK(HangingMounts(table, "/").above("/elsewhere/x") == "/elsewhere (nfs)");

  const HangingMounts diskless("20 1 0:1 / / rw - nfs s:/root rw\n21 20 0:2 / /proc rw - proc proc rw\n", "/");
  CHECK(diskless.above("/etc/fstab") == "/ (nfs)");
  CHECK(diskless.above("/proc/1/mountinfo") == "");
  CHECK(may_hang("9p", "rw,trans=tcp,port=564"));
  CHECK_FALSE(may_hang("fuse.fuse-overlayfs", ""));
}

TEST_CASE("live host: nothing below a mount that hangs is touched, also through links") {
  const scratch::Directory dir;
  dir.write("/node/etc/fstab", "fine\n");
  std::filesystem::create_directories(dir.path() + "/node/mnt/dead");
  ::symlink("/mnt/dead/file", (dir.path() + "/node/etc/inside").c_str());
  ::symlink("mnt/dead", (dir.path() + "/node/alias").c_str());
  scratch::SilentFuse fuse(dir.path() + "/node/mnt/dead");
  if (!fuse.mounted()) {
    WARN("SKIPPED: no FUSE mount can be made here");
    return;
  }
  const auto start = steady_clock::now();
  const auto host = open_live(dir.path() + "/node");
  REQUIRE(host);
  CHECK((*host)->read("/etc/fstab").value() == "fine\n");
  for (const char* path : {"/mnt/dead", "/mnt/dead/file", "/etc/inside", "/alias", "/alias/file", "/mnt/x/../dead/y"}) {
    const auto text = (*host)->read(path);
    INFO(path);
    CHECK(kind(text) == (std::string_view(path) == "/mnt/x/../dead/y" ? ErrorKind::absent : ErrorKind::skipped));
  }
  const auto names = (*host)->list("/mnt/dead");
  REQUIRE_FALSE(names);
  CHECK(names.error().message == "lies on /mnt/dead (fuse), which may hang: not opened");
  CHECK((*host)->list("/mnt").value() == std::vector<std::string>{"dead"});
  CHECK(steady_clock::now() - start < milliseconds(2000));
  CHECK(fuse.touched() == 0);
}

TEST_CASE("child: one that hangs in the kernel and cannot be killed is left behind") {
  const scratch::Directory dir;
  std::filesystem::create_directories(dir.path() + "/dead");
  scratch::SilentFuse fuse(dir.path() + "/dead");
  if (!fuse.mounted()) {
    WARN("SKIPPED: no FUSE mount can be made here");
    return;
  }
  ChildOptions options;
  options.argv = {"ls", dir.path() + "/dead/file"};
  options.deadline = milliseconds(300);
  options.kill_wait = milliseconds(100);
  const auto start = steady_clock::now();
  const auto result = run_child(options);
  CHECK(steady_clock::now() - start < milliseconds(3000));
  REQUIRE_FALSE(result);
  CHECK(result.error().kind == ErrorKind::timeout);
  CHECK(result.error().message == "no end after 300 ms, and it cannot be killed: left behind");
  CHECK(fuse.touched() >= 1);
}

TEST_CASE("child: a program that lies on a dead file system is given up like one that hangs") {
  const scratch::Directory dir;
  std::filesystem::create_directories(dir.path() + "/dead");
  scratch::SilentFuse fuse(dir.path() + "/dead");
  if (!fuse.mounted()) {
    WARN("SKIPPED: no FUSE mount can be made here");
    return;
  }
  ChildOptions by_path, by_name;
  by_path.argv = {dir.path() + "/dead/program"};
  by_name.argv = {"program"};
  by_name.environment = {"PATH=" + dir.path() + "/dead:/usr/bin"};
  for (ChildOptions* options : {&by_path, &by_name}) {
    options->deadline = milliseconds(300);
    options->kill_wait = milliseconds(100);
    const auto start = steady_clock::now();
    const auto result = run_child(*options);
    CHECK(steady_clock::now() - start < milliseconds(3000));
    REQUIRE_FALSE(result);
    CHECK(result.error().kind == ErrorKind::timeout);
    CHECK(result.error().message == "no end after 300 ms, and it cannot be killed: left behind");
    CHECK(fuse.touched() >= 1);  // the second waits for the look-up of the first
  }
}

TEST_CASE("child: what cannot be run says why") {
  const scratch::Directory dir;
  dir.write("/plain", "#!/bin/sh\n");
  dir.write("/no_interpreter", "#!/no/such/interpreter\n");
  std::filesystem::permissions(dir.path() + "/no_interpreter", std::filesystem::perms::owner_all);
  struct Row {
    std::string program;
    ErrorKind kind;
    std::string message;
  };
  for (const Row& row : {Row{"no-such-program-anywhere", ErrorKind::absent, "no such program"},
                         Row{dir.path() + "/none", ErrorKind::absent, "no such program"},
                         Row{dir.path() + "/plain/below", ErrorKind::absent, "no such program"},
                         Row{dir.path() + "/plain", ErrorKind::denied, "permission denied"},
                         Row{dir.path() + "/no_interpreter", ErrorKind::absent, "no such program"}}) {
    INFO(row.program);
    ChildOptions options;
    options.argv = {row.program};
    const auto result = run_child(options);
    REQUIRE_FALSE(result);
    CHECK(result.error().kind == row.kind);
    CHECK(result.error().where == row.program);
    CHECK(result.error().message == row.message);
  }
}

TEST_CASE("child: output, exit code, environment and standard input") {
  ChildOptions options;
  options.argv = {"sh", "-c", "echo out; echo err >&2; env; cat; exit 3"};
  const auto child = run_child(options);
  REQUIRE(child);
  CHECK(child->exit_code == 3);
  CHECK(child->err == "err\n");
  CHECK(child->out.starts_with("out\n"));
  CHECK(child->out.find("LC_ALL=C\n") != std::string::npos);
  CHECK(child->out.find("HOME=") == std::string::npos);
  CHECK_FALSE(child->cut);
}

TEST_CASE("child: a signal is 128 and its number, as in a shell") {
  ChildOptions options;
  options.argv = {"sh", "-c", "kill -TERM $$"};
  const auto child = run_child(options);
  REQUIRE(child);
  CHECK(child->exit_code == 128 + SIGTERM);
}

TEST_CASE("child: much output arrives whole, too much is cut and ends the child") {
  ChildOptions options;
  options.argv = {"sh", "-c", "dd if=/dev/zero bs=65536 count=64 2>/dev/null"};
  options.deadline = milliseconds(20000);
  const auto whole = run_child(options);
  REQUIRE(whole);
  CHECK(whole->out.size() == std::size_t{4} << 20);
  CHECK_FALSE(whole->cut);

  options.argv = {"cat", "/dev/zero"};
  options.output_limit = 1000;
  const auto cut = run_child(options);
  REQUIRE(cut);
  CHECK(cut->cut);
  CHECK(cut->out.size() == 1000);
}

TEST_CASE("child: at the deadline it is killed with its children, whatever signals it ignores") {
  const scratch::Directory dir;
  ChildOptions options;
  const std::string pid_file = dir.path() + "/pid";
  options.argv = {"sh", "-c", "trap '' TERM INT HUP; sleep 60 & echo $! >" + pid_file + "; wait; sleep 60"};
  options.deadline = milliseconds(500);
  const auto start = steady_clock::now();
  const auto child = run_child(options);
  CHECK(steady_clock::now() - start < milliseconds(5000));
  REQUIRE_FALSE(child);
  CHECK(child.error().kind == ErrorKind::timeout);
  CHECK(child.error().message == "no end after 500 ms: killed");
  const pid_t grandchild = std::stoi(dir.read("/pid"));
  // It has no parent here that would wait for it: a zombie at most, until whoever adopted it looks.
  bool gone = false;
  for (int i = 0; i < 100 && !gone; ++i) {
    const auto status = read_file("/proc/" + std::to_string(grandchild) + "/stat");
    gone = !status || status->find(") Z ") != std::string::npos;
    if (!gone) ::usleep(20000);
  }
  CHECK(gone);
}

TEST_CASE("child: one that ends while its own child keeps the pipe open is not waited for") {
  ChildOptions options;
  options.argv = {"sh", "-c", "sleep 60 & echo done"};
  options.deadline = milliseconds(10000);
  const auto start = steady_clock::now();
  const auto child = run_child(options);
  CHECK(steady_clock::now() - start < milliseconds(5000));
  REQUIRE(child);
  CHECK(child->out == "done\n");
}

TEST_CASE("child: one that the kernel does not let go is left behind") {
  ChildOptions options;
  options.argv = {"sleep", "60"};
  options.deadline = milliseconds(50);
  int asked = 0;
  options.wait_for_end = [&](int pid, milliseconds at_most) {
    asked = pid;
    CHECK(at_most == milliseconds(200));
    return false;
  };
  const auto child = run_child(options);
  REQUIRE_FALSE(child);
  CHECK(child.error().kind == ErrorKind::timeout);
  CHECK(child.error().message == "no end after 50 ms, and it cannot be killed: left behind");
  REQUIRE(asked > 0);
  CHECK(::waitpid(asked, nullptr, 0) == asked);  // not reaped by run_child
}

TEST_CASE("child: programs that are not there, not to be run, or no programs") {
  const scratch::Directory dir;
  dir.write("/text", "no program\n");
  ChildOptions options;
  options.argv = {"no-such-program-at-all"};
  CHECK(run_child(options).error().kind == ErrorKind::absent);
  options.argv = {dir.path() + "/none"};
  CHECK(run_child(options).error().kind == ErrorKind::absent);
  options.argv = {dir.path() + "/text"};
  CHECK(run_child(options).error().kind == ErrorKind::denied);
  ::chmod((dir.path() + "/text").c_str(), 0755);
  CHECK_FALSE(run_child(options));
  options.argv = {};
  CHECK(run_child(options).error().kind == ErrorKind::usage);
}

TEST_CASE("host: a root is live only with this kernel's own /proc") {
  const auto live = open_root("/");
  REQUIRE(live);
  CHECK((*live)->live());
  CHECK((*live)->root() == "/");
  CHECK((*live)->clock().boottime_ns.has_value());

  const scratch::Directory dir;
  dir.write("/proc/sys/kernel/random/boot_id", *read_file("/proc/sys/kernel/random/boot_id"));
  dir.write("/proc/1/mountinfo", "");
  const auto copy = open_root(dir.path());
  REQUIRE(copy);
  CHECK_FALSE((*copy)->live());

  std::filesystem::create_directories(dir.path() + "/sos_commands/filesys");
  dir.write("/sos_commands/filesys/mount_-l", "s:/x on /x type nfs (rw)\n");
  const auto sos = open_root(dir.path());
  REQUIRE(sos);
  CHECK((*sos)->command("mount-l").value() == "s:/x on /x type nfs (rw)\n");
  CHECK((*sos)->command("uname-a").error().message == "not part of this sos report");
}

TEST_CASE("host: what is no root is refused with a reason") {
  const scratch::Directory dir;
  CHECK(open_root(dir.path() + "/none").error().kind == ErrorKind::absent);
  CHECK(open_root(dir.path()).error().kind == ErrorKind::usage);
  dir.write("/file", "");
  const auto file = open_root(dir.path() + "/file");
  REQUIRE_FALSE(file);
  CHECK(file.error().message == "is not a directory");
}

TEST_CASE("host: what a copy does not hold is skipped, what its manifest knows keeps its status") {
  const scratch::Directory dir;
  dir.write("/etc/os-release", "ID=x\n");
  const auto plain = open_tree(dir.path());
  REQUIRE(plain);
  CHECK(kind((*plain)->read("/etc/fstab")) == ErrorKind::skipped);
  CHECK((*plain)->list("/var/log/pods").error().kind == ErrorKind::skipped);
  CHECK(kind((*plain)->command("mount-l")) == ErrorKind::skipped);

  dir.write("/mountaudit/cmd/mount-l.txt", "output");
  dir.write("/mountaudit/manifest.json", R"({"schema": "mountaudit.manifest/1", "node": "wk-01",
    "wall": "2026-01-02T03:04:05Z", "boottime_ns": 12345, "future": [1],
    "sources": [{"path": "/etc/fstab", "status": "absent", "detail": "does not exist"},
                {"path": "/proc/1/mountstats", "status": "denied", "detail": "permission denied"},
                {"command": "uname-a", "status": "timeout", "detail": "no end after 2000 ms: killed"},
                {"path": "/etc/os-release", "status": "ok"}, "odd", {"path": 7}],
    "lists": {"/var/log/pods": ["a", "b", 3], "/odd": 1}, "links": {"/sys/x": "../y"}})");
  const auto told = open_tree(dir.path());
  REQUIRE(told);
  CHECK(kind((*told)->read("/etc/fstab")) == ErrorKind::absent);
  CHECK(kind((*told)->read("/proc/1/mountstats")) == ErrorKind::denied);
  CHECK(kind((*told)->command("uname-a")) == ErrorKind::timeout);
  CHECK((*told)->command("mount-l").value() == "output");
  CHECK((*told)->read("/etc/os-release").value() == "ID=x\n");
  CHECK((*told)->list("/var/log/pods").value() == std::vector<std::string>{"a", "b"});
  CHECK((*told)->link("/sys/x").value() == "../y");
  CHECK((*told)->node_name().is("wk-01"));
  CHECK((*told)->clock().boottime_ns.is(12345));
  CHECK((*told)->clock().wall.is("2026-01-02T03:04:05Z"));
  CHECK((*told)->own_rows().empty());
}

TEST_CASE("host: a manifest that cannot be read leaves a row and the tree readable") {
  for (const char* text :
       {"", "{\"schema\": \"mountaudit.manifest/1\", ", "[]", "{\"schema\": \"other/1\"}", "\x7f\xff"}) {
    const scratch::Directory dir;
    dir.write("/etc/fstab", "x\n");
    dir.write("/mountaudit/manifest.json", text);
    const auto host = open_tree(dir.path());
    REQUIRE(host);
    CHECK((*host)->read("/etc/fstab").value() == "x\n");
    const auto rows = (*host)->own_rows();
    REQUIRE(rows.size() == 1);
    CHECK(rows[0].status == "malformed");
    CHECK(rows[0].name == "/mountaudit/manifest.json");
  }
}

TEST_CASE("inputs: kinds are read under the path that they stand for") {
  const scratch::Directory dir;
  dir.write("/m", "s:/x /x nfs rw 0 0\n");
  dir.write("/l", "s:/x on /x type nfs (rw)\n");
  dir.write("/conf", "[global]\n");
  const auto host =
      open_inputs({{"mounts", dir.path() + "/m"}, {"mount-l", dir.path() + "/l"}, {"fio-job", dir.path() + "/conf"}});
  REQUIRE(host);
  CHECK_FALSE((*host)->live());
  CHECK((*host)->read("/proc/mounts").value() == "s:/x /x nfs rw 0 0\n");
  CHECK((*host)->name_of("/proc/mounts") == dir.path() + "/m");
  CHECK(kind((*host)->read("/etc/fstab")) == ErrorKind::skipped);
  const auto rows = (*host)->own_rows();
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].name == dir.path() + "/l");
  CHECK(rows[0].detail == "not needed beside the other inputs");
  CHECK(rows[1].status == "skipped");
  CHECK(rows[1].detail == "given as fio-job: no probe of this version looks at that kind");
}

TEST_CASE("inputs: wrong ones are refused, with what was meant") {
  const scratch::Directory dir;
  dir.write("/m", "");
  const auto unknown = parse_input_argument("mountinf=x");
  REQUIRE_FALSE(unknown);
  CHECK(unknown.error().kind == ErrorKind::usage);
  CHECK(unknown.error().message == "unknown kind mountinf: did you mean mountinfo?");
  for (const char* text : {"mounts", "=x", "mounts=", ""})
    CHECK(parse_input_argument(text).error().kind == ErrorKind::usage);
  CHECK(parse_input_argument("mounts=a=b").value().file == "a=b");
  const std::string file = dir.path() + "/m";
  CHECK(open_inputs({{"mounts", file}, {"mounts", file}}).error().kind == ErrorKind::usage);
  CHECK(open_inputs({{"mounts", dir.path() + "/none"}}).error().kind == ErrorKind::absent);
  CHECK(open_inputs({{"log", dir.path() + "/none"}}).error().kind == ErrorKind::absent);
  CHECK(open_inputs({{"log", "-"}, {"text", "-"}}).error().kind == ErrorKind::usage);
}
