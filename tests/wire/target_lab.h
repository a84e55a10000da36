// Real iSCSI targets on loopback and ports of the kernel's choice: tgt, and istgt for what tgt lacks (port groups,
// ALUA, digests, several connections). Each lab has its own folder, its own control socket or port, and ends its
// server.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace wire_test {

// A port of loopback that is free now, on 127.0.0.1 and on 127.0.0.2.
std::uint16_t free_port();

class TargetLab {
 public:
  TargetLab();
  virtual ~TargetLab();
  TargetLab(const TargetLab&) = delete;
  TargetLab& operator=(const TargetLab&) = delete;

  const std::string& folder() const { return folder_; }
  std::uint16_t port() const { return port_; }
  std::string portal(int host = 1) const;  // "127.0.0.1:PORT"
  std::string image(const std::string& name, std::uint64_t mib = 64) const;
  void signal(int number) const;

 protected:
  void spawn(const std::vector<std::string>& command, const std::map<std::string, std::string>& environment);
  void end();
  // What the command printed; throws with it where the command failed.
  std::string run(const std::string& command, bool may_fail = false) const;
  void wait_for_port(std::uint16_t port) const;

  std::string folder_;
  std::uint16_t port_;
  pid_t pid_ = -1;
};

class Tgt : public TargetLab {
 public:
  static std::string missing();
  Tgt();  // portals 127.0.0.1 and 127.0.0.2
  ~Tgt() override;

  void admin(const std::string& arguments) const;  // tgtadm
  void add_target(int tid, const std::string& name) const;
  void add_lun(int tid, int lun, const std::string& image) const;
  // Sessions and connections that it knows, of all targets.
  std::string connections() const;

 private:
  int control_;
  std::string tgtadm_;
};

struct IstgtTarget {
  std::string name;           // below the node base
  std::string auth = "None";  // None, CHAP, CHAP Mutual
  std::string digest = "Auto";
};

class Istgt : public TargetLab {
 public:
  static constexpr const char* base = "iqn.2024-01.test.istgt";
  static std::string missing();
  explicit Istgt(const std::vector<IstgtTarget>& targets);  // port groups 1 at 127.0.0.1 and 2 at 127.0.0.2
  ~Istgt() override;
  std::string connections() const;  // istgtcontrol info

 private:
  std::uint16_t control_port_;
};

}  // namespace wire_test
