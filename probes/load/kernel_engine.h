// The kernel's own path to an open file or block device: io_uring(7), or threads that call pread(2) and pwrite(2) where
// the system does not allow io_uring. Buffers are aligned for O_DIRECT. It runs in a child (kernel_child.h), for any of
// these calls may hang.
#pragma once

#include <memory>
#include <string>

#include "probes/load/engine.h"

namespace load {

class KernelEngine : public Engine {
 public:
  virtual const char* name() const = 0;  // io_uring or pread
};

// `prefer_ring` false: threads in any case. The descriptor stays with the caller.
std::unique_ptr<KernelEngine> make_kernel_engine(int fd, bool prefer_ring = true);

}  // namespace load
