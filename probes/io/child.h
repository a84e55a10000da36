// Runs a command and never waits longer than it was told to: a child that hangs in the kernel (D state, a dead hard
// mount) is left behind, also one that hangs before its program has started because that lies there.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "audit/base/result.h"

namespace probes {

struct ChildOptions {
  std::vector<std::string> argv;  // looked up in a fixed PATH when without '/'; no shell
  std::chrono::milliseconds deadline{2000};
  std::chrono::milliseconds kill_wait{200};          // how long a killed child may take to end
  std::size_t output_limit = std::size_t{16} << 20;  // of standard output; reaching it ends the child
  std::vector<std::string> environment{"LC_ALL=C", "PATH=/usr/sbin:/usr/bin:/sbin:/bin"};  // nothing else is passed on
  // Waits for the end of a killed child; true when it ended. Empty: the real thing. Tests put a child here that the
  // kernel does not let go.
  std::function<bool(int pid, std::chrono::milliseconds)> wait_for_end;
};

struct ChildResult {
  std::string out;
  std::string err;    // the first 64 KiB
  int exit_code = 0;  // as in a shell: 128 + signal when a signal ended it
  bool cut = false;   // output_limit was reached: `out` is what came before
};

// Standard input is at its end; the child leads a process group of its own, which is killed as a whole at the deadline
// and when the child itself has ended. Errors: absent (no such program), denied, timeout (the message says whether the
// child was left behind), io.
base::Result<ChildResult> run_child(const ChildOptions& options);

// Runs a function of this program in a child and collects what it hands to the sink; the child is abandoned when it
// is silent for longer than `silence`. What came before is kept, with a line "note ..." that says where it stopped.
base::Result<std::string> run_in_child(const std::function<void(const std::function<void(std::string_view)>&)>& run,
                                       std::chrono::milliseconds silence);

}  // namespace probes
