// Real servers on loopback: nfs-ganesha, rpcbind and rpc.statd in network and mount namespaces of their own, so that
// ports are free, portmaps do not mix and no packet can leave. Needs root and the packages; missing() says what lacks.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "probes/wire/ask_nfs.h"

namespace wire_test {

struct GaneshaSettings {
  std::string protocols = "3,4";
  std::string minors = "0,1,2";
  bool nlm = true;
  bool graceless = true;
  int grace_s = 8;
  int lease_s = 5;
  std::uint32_t max_io_bytes = 1048576;
  int slots = 64;
  std::string access = "RW";  // RO
};

std::string read_file(const std::string& path);

class Lab {
 public:
  // Why there can be no lab on this machine; empty when there can.
  static std::string missing();

  Lab();
  ~Lab();
  Lab(const Lab&) = delete;
  Lab& operator=(const Lab&) = delete;

  static constexpr std::uint16_t nfs_port = 20490;
  void start_rpcbind();
  void start_statd();
  void start_ganesha(const GaneshaSettings& settings);  // returns when it is ready
  void stop_ganesha();
  void signal_ganesha(int number) const;                 // SIGSTOP: a server that hangs
  int run(const std::vector<std::string>& command);      // inside; its exit code, -1 after a signal
  const std::string& folder() const { return folder_; }  // goes with the lab
  std::string ganesha_log() const;
  std::vector<std::string> exported_files() const;    // names in the export, sorted
  std::vector<std::string> monitored_clients();       // whom rpc.statd would tell of a restart
  std::vector<std::string> recorded_clients() const;  // client ids that ganesha keeps on disk for their recovery

  // Asks from inside the namespace.
  std::vector<wire::NfsAnswer> ask(const std::vector<wire::NfsTarget>& targets, const wire::AskOptions& options) const;
  // Runs a function on a thread that lives in the network of the lab.
  void inside(const std::function<void()>& work) const;

 private:
  pid_t spawn(const std::vector<std::string>& command, bool in_namespace) const;
  static void end(pid_t& pid);
  void wait_for_port(std::uint16_t port) const;

  std::string folder_;
  pid_t holder_ = -1;
  pid_t rpcbind_ = -1;
  pid_t statd_ = -1;
  pid_t ganesha_ = -1;
  int runs_ = 0;
};

}  // namespace wire_test
