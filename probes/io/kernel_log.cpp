#include "probes/io/kernel_log.h"

#include <sys/klog.h>

#include <algorithm>
#include <cerrno>

#include "probes/io/root_dir.h"

namespace probes {

base::Result<std::string> read_kernel_log() {
  constexpr int read_all = 3;      // SYSLOG_ACTION_READ_ALL
  constexpr int size_buffer = 10;  // SYSLOG_ACTION_SIZE_BUFFER
  constexpr int most = 16 * 1024 * 1024;
  const int size = ::klogctl(size_buffer, nullptr, 0);
  if (size < 0) return tl::unexpected(error_of(errno, "kernel log"));
  std::string text(static_cast<std::size_t>(std::clamp(size, 4096, most)), '\0');
  const int got = ::klogctl(read_all, text.data(), static_cast<int>(text.size()));
  if (got < 0) return tl::unexpected(error_of(errno, "kernel log"));
  text.resize(static_cast<std::size_t>(got));
  return text;
}

}  // namespace probes
