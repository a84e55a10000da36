#include "tests/wire/lab.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "probes/wire/address.h"
#include "probes/wire/connection.h"

namespace fs = std::filesystem;
using namespace std::chrono_literals;

namespace wire_test {
namespace {

std::string find_program(const std::string& name) {
  for (const char* folder : {"/usr/sbin/", "/sbin/", "/usr/bin/", "/bin/"})
    if (::access((folder + name).c_str(), X_OK) == 0) return folder + name;
  return {};
}

void write_file(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

template <class Condition>
bool wait_until(std::chrono::milliseconds limit, Condition condition) {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(10ms);
  }
  return true;
}

constexpr const char* set_up = R"(set -e
mount -t tmpfs tmpfs /run
mkdir -p /run/rpcbind /run/ganesha /run/lock /run/sendsigs.omit.d
mount -t tmpfs tmpfs /var/lib/nfs
mkdir -p /var/lib/nfs/sm /var/lib/nfs/sm.bak
chown -R statd /var/lib/nfs
ip link set lo up
touch "$1/up"
exec sleep 100000
)";

}  // namespace

std::string read_file(const std::string& path) {
  std::ifstream in(path);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

std::string Lab::missing() {
  if (::geteuid() != 0) return "needs root for namespaces";
  for (const char* name : {"ganesha.nfsd", "rpcbind", "rpc.statd", "unshare", "nsenter", "ip"})
    if (find_program(name).empty()) return std::string(name) + " is not installed";
  static const bool works = std::system("unshare -n -m true >/dev/null 2>&1") == 0;
  if (!works) return "namespaces are not allowed here";
  return {};
}

Lab::Lab() {
  std::string pattern = (fs::temp_directory_path() / "mountaudit-lab-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no folder for the lab");
  folder_ = pattern;
  fs::create_directories(folder_ + "/export");
  write_file(folder_ + "/export/file", "a regular file to test locks on\n");
  write_file(folder_ + "/set-up", set_up);
  holder_ = spawn({"unshare", "-n", "-m", "--propagation", "private", "bash", folder_ + "/set-up", folder_}, false);
  if (!wait_until(10s, [&] { return fs::exists(folder_ + "/up"); })) throw std::runtime_error("no namespaces");
}

Lab::~Lab() {
  stop_ganesha();  // before rpcbind, where it takes its registrations back
  end(statd_);
  end(rpcbind_);
  end(holder_);
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

pid_t Lab::spawn(const std::vector<std::string>& command, bool in_namespace) const {
  std::vector<std::string> words;
  if (in_namespace) words = {"nsenter", "-t", std::to_string(holder_), "-n", "-m"};
  words.insert(words.end(), command.begin(), command.end());
  std::vector<char*> argv;
  for (auto& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid != 0) return pid;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // whatever becomes of the test
  if (::getppid() != parent) ::_exit(127);
  ::setsid();
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  for (const int fd : {0, 1, 2}) ::dup2(null, fd);
  ::execvp(argv[0], argv.data());
  ::_exit(127);
}

// SIGTERM, three seconds, SIGKILL: each of the servers fails to stop in some case.
void Lab::end(pid_t& pid) {
  if (pid <= 0) return;
  ::kill(pid, SIGTERM);
  const bool gone = wait_until(3s, [&] { return ::waitpid(pid, nullptr, WNOHANG) == pid; });
  if (!gone) {
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
  }
  pid = -1;
}

void Lab::inside(const std::function<void()>& work) const {
  std::exception_ptr thrown;
  std::thread thread([&] {
    try {
      const int ns = ::open(fmt::format("/proc/{}/ns/net", holder_).c_str(), O_RDONLY | O_CLOEXEC);
      if (ns < 0 || ::setns(ns, CLONE_NEWNET) != 0) throw std::runtime_error("cannot enter the network of the lab");
      ::close(ns);
      work();
    } catch (...) {
      thrown = std::current_exception();
    }
  });
  thread.join();
  if (thrown) std::rethrow_exception(thrown);
}

std::vector<wire::NfsAnswer> Lab::ask(const std::vector<wire::NfsTarget>& targets,
                                      const wire::AskOptions& options) const {
  std::vector<wire::NfsAnswer> answers;
  inside([&] { answers = wire::ask_nfs(targets, options); });
  return answers;
}

int Lab::run(const std::vector<std::string>& command) {
  int status = 0;
  const pid_t pid = spawn(command, true);
  return ::waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void Lab::wait_for_port(std::uint16_t port) const {
  bool open = false;
  inside([&] {
    open = wait_until(10s, [&] {
      io::Loop loop;
      wire::Connection::Options options;
      options.connect_deadline = io::Clock::now() + 500ms;
      const auto connection = wire::Connection::open(loop, *wire::parse_address("127.0.0.1", port), options);
      loop.run(io::Clock::now() + 20ms);
      return connection->connected() && !connection->broken();
    });
  });
  if (!open) throw std::runtime_error(fmt::format("nothing listens on port {} of the lab", port));
}

void Lab::start_rpcbind() {
  rpcbind_ = spawn({"rpcbind", "-f"}, true);
  wait_for_port(111);
}

void Lab::start_statd() {
  statd_ = spawn({"rpc.statd", "-F", "-L", "-p", "20499", "-o", "20498"}, true);
  wait_for_port(20499);
}

void Lab::start_ganesha(const GaneshaSettings& settings) {
  const std::string run = fmt::format("{}/run{}", folder_, ++runs_);
  fs::create_directories(run);
  fs::remove_all(folder_ + "/recovery");  // clients of an earlier run would be waited for
  fs::create_directories(folder_ + "/recovery");
  write_file(run + "/conf", fmt::format(R"(
NFS_CORE_PARAM {{
  NFS_Port = {nfs_port}; MNT_Port = 20491; NLM_Port = 20492; Rquota_Port = 20493;
  Protocols = {protocols}; Enable_NLM = {nlm}; Enable_RQUOTA = false; Enable_UDP = false;
  Plugins_Dir = "/usr/lib/x86_64-linux-gnu/ganesha"; mount_path_pseudo = true;
}}
NFSV4 {{
  Grace_Period = {grace}; Lease_Lifetime = {lease}; Graceless = {graceless}; Minor_Versions = {minors};
  RecoveryRoot = "{folder}/recovery"; Only_Numeric_Owners = true; Slot_Table_Size = {slots};
}}
NFS_KRB5 {{ Active_krb5 = false; }}
EXPORT_DEFAULTS {{ Access_Type = {access}; Squash = No_Root_Squash; SecType = sys; }}
EXPORT {{
  Export_Id = 1; Path = {folder}/export; Pseudo = /export; Protocols = {protocols};
  MaxRead = {io}; MaxWrite = {io}; PrefRead = 32768; PrefWrite = 32768; FSAL {{ Name = VFS; }}
}}
LOG {{ Default_Log_Level = EVENT; }}
)",
                                        fmt::arg("nfs_port", nfs_port), fmt::arg("protocols", settings.protocols),
                                        fmt::arg("nlm", settings.nlm), fmt::arg("grace", settings.grace_s),
                                        fmt::arg("lease", settings.lease_s), fmt::arg("graceless", settings.graceless),
                                        fmt::arg("minors", settings.minors), fmt::arg("folder", folder_),
                                        fmt::arg("access", settings.access), fmt::arg("slots", settings.slots),
                                        fmt::arg("io", settings.max_io_bytes)));
  ganesha_ = spawn(
      {"ganesha.nfsd", "-F", "-f", run + "/conf", "-L", run + "/log", "-p", run + "/pid", "-N", "NIV_EVENT"}, true);
  const bool ready = wait_until(15s, [&] {
    return ganesha_log().find("NFS SERVER INITIALIZED") != std::string::npos ||
           ::waitpid(ganesha_, nullptr, WNOHANG) == ganesha_;
  });
  if (!ready || ganesha_log().find("NFS SERVER INITIALIZED") == std::string::npos)
    throw std::runtime_error("ganesha did not start:\n" + ganesha_log());
}

void Lab::stop_ganesha() { end(ganesha_); }

void Lab::signal_ganesha(int number) const { ::kill(ganesha_, number); }

std::vector<std::string> Lab::exported_files() const {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder_ + "/export")) names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<std::string> Lab::monitored_clients() {
  run({"sh", "-c", "ls /var/lib/nfs/sm > " + folder_ + "/monitored"});
  std::vector<std::string> names;
  std::istringstream in(read_file(folder_ + "/monitored"));
  for (std::string name; in >> name;) names.push_back(name);
  return names;
}

std::string Lab::ganesha_log() const { return read_file(fmt::format("{}/run{}/log", folder_, runs_)); }

std::vector<std::string> Lab::recorded_clients() const {
  std::vector<std::string> found;
  for (const auto& entry : fs::recursive_directory_iterator(folder_ + "/recovery"))
    if (entry.path().filename().string().find("mountaudit") != std::string::npos)
      found.push_back(entry.path().filename().string());
  return found;
}

}  // namespace wire_test
