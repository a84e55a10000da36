// A file or block device of this node, measured by the kernel's path in a child: whatever hangs, hangs there, and the
// child is left behind. What it measures lies in shared memory, so that it is there also then.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>

#include "probes/load/drive.h"

namespace load {

enum class LocalKind : std::uint8_t { unknown, file, directory, device };

struct LocalOptions {
  std::string path;
  bool write = false;            // consent: a directory, where a file of our own is made, or a device
  std::uint64_t make_bytes = 0;  // size of that file
  double timeout_s = 10;         // nothing heard for so long: the child is left behind
  bool prefer_ring = true;
  const std::atomic<bool>* stop = nullptr;
};

class KernelChild {
 public:
  // Opens the path in a new child. A file of our own has no name any more once it is filled: it goes with the child.
  static wire::Outcome<std::unique_ptr<KernelChild>> start(const LocalOptions& options);
  ~KernelChild();
  KernelChild(const KernelChild&) = delete;
  KernelChild& operator=(const KernelChild&) = delete;

  LocalKind kind() const;
  std::uint64_t size() const;
  bool direct() const;              // past the page cache
  std::string engine_name() const;  // io_uring, pread
  std::string error_text(std::uint32_t error) const;
  bool left_behind() const { return left_behind_; }

  void run(const Step& step, std::uint64_t range, const PassOptions& options, Record& record);
  void end();  // a file of our own is gone then

 private:
  struct Shared;
  explicit KernelChild(LocalOptions options) : options_(std::move(options)) {}
  wire::Outcome<void> begin();
  [[noreturn]] void serve(int commands, int answers);
  // Waits for the child's word; false when it hangs, has ended or was stopped.
  bool wait_answer(double timeout_s, const PassOptions* options);

  LocalOptions options_;
  Shared* shared_ = nullptr;
  pid_t child_ = -1;
  int commands_ = -1;
  int answers_ = -1;
  bool left_behind_ = false;
};

}  // namespace load
