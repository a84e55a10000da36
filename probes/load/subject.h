// A target that was opened and can be loaded, whatever it is.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "probes/load/drive.h"
#include "probes/load/target.h"
#include "probes/wire/iscsi_login.h"

namespace load {

class Subject {
 public:
  Subject() = default;
  virtual ~Subject() = default;
  Subject(const Subject&) = delete;
  Subject& operator=(const Subject&) = delete;

  virtual std::string engine() const = 0;  // nfs3, nfs4.2, iscsi, io_uring, pread
  virtual std::uint64_t size() const = 0;  // of what can be loaded; 0: nothing that holds data
  virtual bool direct() const { return true; }
  // One pass. What goes wrong is told by the record.
  virtual void run(const Step& step, std::uint64_t range, const PassOptions& options, Record& record) = 0;
  virtual std::string error_text(std::uint32_t error) const = 0;
  virtual std::optional<double> rtt_us() const { return std::nullopt; }
  virtual unsigned limit() const { return 0; }  // of requests under way, set by the target; 0: none was met
  // Takes back what was made. Says what could not be taken back.
  virtual std::vector<std::string> finish() { return {}; }
};

struct OpenOptions {
  Consent consent;
  std::string nfs_version;                              // 3, 4.0 ...; empty: the highest, as the kernel would
  std::uint64_t make_bytes = std::uint64_t{256} << 20;  // size of a file of our own
  unsigned slots = 128;                                 // asked for in an NFS session
  double timeout_s = 10;
  std::string initiator;
  std::optional<wire::iscsi::ChapSecrets> chap;
  bool writes = false;  // the steps write
  bool data = true;     // the steps move data
  const std::atomic<bool>* stop = nullptr;
};

base::Result<std::unique_ptr<Subject>> open_subject(const Target& target, const OpenOptions& options);

}  // namespace load
