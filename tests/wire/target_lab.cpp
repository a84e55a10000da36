#include "tests/wire/target_lab.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <thread>

namespace fs = std::filesystem;
using namespace std::chrono_literals;

namespace wire_test {
namespace {

std::string missing_of(const std::vector<std::string>& names) {
  for (const auto& name : names) {
    bool found = false;
    for (const char* folder : {"/usr/sbin/", "/sbin/", "/usr/bin/", "/bin/"})
      found = found || ::access((folder + name).c_str(), X_OK) == 0;
    if (!found) return name + " is not installed";
  }
  return ::geteuid() == 0 ? "" : "the target needs root";
}

template <class Condition>
bool wait_until(std::chrono::milliseconds limit, Condition condition) {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(10ms);
  }
  return true;
}

sockaddr_in loopback(int host, std::uint16_t port) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(0x7f000000U + static_cast<std::uint32_t>(host));
  return address;
}

bool can_bind(int host, std::uint16_t port, std::uint16_t* got = nullptr) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = loopback(host, port);
  socklen_t size = sizeof address;
  const bool bound = ::bind(fd, reinterpret_cast<sockaddr*>(&address), size) == 0;
  if (bound && got != nullptr) {
    ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size);
    *got = ntohs(address.sin_port);
  }
  ::close(fd);
  return bound;
}

}  // namespace

std::uint16_t free_port() {
  for (int tries = 0; tries < 100; ++tries) {
    std::uint16_t port = 0;
    if (can_bind(1, 0, &port) && can_bind(2, port)) return port;
  }
  throw std::runtime_error("no free port");
}

TargetLab::TargetLab() : port_(free_port()) {
  std::string pattern = (fs::temp_directory_path() / "mountaudit-target-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no folder for the target");
  folder_ = pattern;
}

TargetLab::~TargetLab() {
  end();
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

std::string TargetLab::portal(int host) const { return fmt::format("127.0.0.{}:{}", host, port_); }

std::string TargetLab::image(const std::string& name, std::uint64_t mib) const {
  const std::string path = folder_ + "/" + name;
  std::ofstream(path).put('x');
  fs::resize_file(path, mib << 20);
  return path;
}

void TargetLab::signal(int number) const { ::kill(pid_, number); }

void TargetLab::spawn(const std::vector<std::string>& command, const std::map<std::string, std::string>& environment) {
  auto words = command;
  std::vector<char*> argv;
  for (auto& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const pid_t parent = ::getpid();
  pid_ = ::fork();
  if (pid_ != 0) return;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // whatever becomes of the test
  if (::getppid() != parent) ::_exit(127);
  ::setsid();
  for (const auto& [name, value] : environment) ::setenv(name.c_str(), value.c_str(), 1);
  const int log = ::open((folder_ + "/log").c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  ::dup2(null, 0);
  ::dup2(log, 1);
  ::dup2(log, 2);
  ::execvp(argv[0], argv.data());
  ::_exit(127);
}

// SIGTERM, a moment, SIGKILL: tgt ignores the first while it has targets.
void TargetLab::end() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGCONT);
  ::kill(pid_, SIGTERM);
  if (!wait_until(500ms, [&] { return ::waitpid(pid_, nullptr, WNOHANG) == pid_; })) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  pid_ = -1;
}

std::string TargetLab::run(const std::string& command, bool may_fail) const {
  FILE* pipe = ::popen(("timeout 20 sh -c '" + command + "' 2>&1").c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("cannot run " + command);
  std::string out;
  std::array<char, 4096> buffer;
  for (std::size_t got = 0; (got = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;)
    out.append(buffer.data(), got);
  const int status = ::pclose(pipe);
  if (status != 0 && !may_fail) throw std::runtime_error(command + ": " + out);
  return out;
}

void TargetLab::wait_for_port(std::uint16_t port) const {
  const bool open = wait_until(10s, [&] {
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const sockaddr_in address = loopback(1, port);
    const bool connected = ::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
    ::close(fd);
    return connected;
  });
  if (!open) throw std::runtime_error(fmt::format("nothing listens on port {}", port));
}

// --- tgt -----------------------------------------------------------------------------------------------------------

std::string Tgt::missing() { return missing_of({"tgtd", "tgtadm"}); }

Tgt::Tgt() : control_(port_ % 32768) {
  tgtadm_ = fmt::format("TGT_IPC_SOCKET={}/ipc tgtadm -C {} --lld iscsi ", folder_, control_);
  spawn({"tgtd", "-D", "-C", std::to_string(control_), "-t", "2", "--iscsi",
         fmt::format("portal=127.0.0.1:{0},portal=127.0.0.2:{0}", port_)},
        {{"TGT_IPC_SOCKET", folder_ + "/ipc"}});
  const bool ready = wait_until(
      10s, [&] { return run(tgtadm_ + "--mode sys --op show", true).find("State: ready") != std::string::npos; });
  if (!ready) throw std::runtime_error("tgtd did not start: " + run("cat " + folder_ + "/log", true));
}

Tgt::~Tgt() { end(); }

void Tgt::admin(const std::string& arguments) const { run(tgtadm_ + arguments); }

void Tgt::add_target(int tid, const std::string& name) const {
  admin(fmt::format("--mode target --op new --tid {} --targetname {}", tid, name));
  admin(fmt::format("--mode target --op bind --tid {} --initiator-address ALL", tid));
}

void Tgt::add_lun(int tid, int lun, const std::string& image) const {
  admin(fmt::format("--mode logicalunit --op new --tid {} --lun {} --backing-store {} --bstype rdwr", tid, lun, image));
}

std::string Tgt::connections() const {
  const std::string all = run(tgtadm_ + "--mode target --op show");
  // "I_T nexus information:" of each target, up to "LUN information:".
  std::string out;
  for (std::size_t at = 0; (at = all.find("I_T nexus information:", at)) != std::string::npos;) {
    at += 22;
    out += all.substr(at, all.find("LUN information:", at) - at);
  }
  return out;
}

// --- istgt ---------------------------------------------------------------------------------------------------------

std::string Istgt::missing() { return missing_of({"istgt", "istgtcontrol"}); }

Istgt::Istgt(const std::vector<IstgtTarget>& targets) : control_port_(free_port()) {
  const std::string auth = folder_ + "/auth.conf";
  std::ofstream(auth) << "[AuthGroup1]\n  Auth \"alice\" \"secretsecret12\" \"tgt\" \"mutualsecret12\"\n";
  ::chmod(auth.c_str(), 0600);
  std::string conf = fmt::format(R"([Global]
  NodeBase "{base}"
  PidFile {folder}/pid
  AuthFile {folder}/auth.conf
  MediaDirectory {folder}
  Timeout 30
  NopInInterval 20
  DiscoveryAuthMethod None
  MaxSessions 16
  MaxConnections 4
  MaxR2T 32
  MaxOutstandingR2T 8
  DefaultTime2Wait 2
  DefaultTime2Retain 60
  FirstBurstLength 8192
  MaxBurstLength 65536
  MaxRecvDataSegmentLength 32768
  InitialR2T Yes
  ImmediateData Yes
  DataPDUInOrder Yes
  DataSequenceInOrder Yes
  ErrorRecoveryLevel 0
[UnitControl]
  AuthMethod None
  AuthGroup None
  Portal UC1 127.0.0.1:{control}
  Netmask 127.0.0.1
[PortalGroup1]
  Portal DA1 127.0.0.1:{port}
[PortalGroup2]
  Portal DB1 127.0.0.2:{port}
[InitiatorGroup1]
  InitiatorName "ALL"
  Netmask 127.0.0.0/8
)",
                                 fmt::arg("base", base), fmt::arg("folder", folder_),
                                 fmt::arg("control", control_port_), fmt::arg("port", port_));
  int number = 0;
  for (const auto& target : targets) {
    ++number;
    conf += fmt::format(R"([LogicalUnit{0}]
  TargetName {1}
  TargetAlias "alias of {1}"
  Mapping PortalGroup1 InitiatorGroup1
  Mapping PortalGroup2 InitiatorGroup1
  AuthMethod {2}
  AuthGroup {3}
  UseDigest {4}
  UnitType Disk
  UnitInquiry "ACME" "virtual disk" "0123" "SERIAL{0}"
  QueueDepth 64
  LUN0 Storage {5} Auto
)",
                        number, target.name, target.auth, target.auth == "None" ? "None" : "AuthGroup1", target.digest,
                        image(target.name));
  }
  std::ofstream(folder_ + "/istgt.conf") << conf;
  std::ofstream(folder_ + "/istgtcontrol.conf") << fmt::format(
      "[Global]\n  Timeout 10\n  AuthMethod Auto\n  Host 127.0.0.1\n  Port {}\n  TargetName \"{}:{}\"\n  Lun 0\n",
      control_port_, base, targets.front().name);
  spawn({"istgt", "-D", "-c", folder_ + "/istgt.conf"}, {});
  wait_for_port(control_port_);
  wait_for_port(port_);
}

Istgt::~Istgt() { end(); }

std::string Istgt::connections() const { return run("istgtcontrol -c " + folder_ + "/istgtcontrol.conf info"); }

}  // namespace wire_test
