#include "probes/io/document.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "probes/io/root_dir.h"

namespace probes {

namespace {

constexpr std::size_t most_bytes = std::size_t{1} << 30;

base::Result<std::string> read_whole(int fd, const std::string& where) {
  std::string text;
  std::string buffer(std::size_t{1} << 16, '\0');
  for (;;) {
    const ssize_t got = ::read(fd, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return tl::unexpected(error_of(errno, where));
    if (got == 0) return text;
    if (text.size() + static_cast<std::size_t>(got) > most_bytes)
      return base::fail(base::ErrorKind::malformed, where, "larger than 1 GiB");
    text.append(buffer, 0, static_cast<std::size_t>(got));
  }
}

}  // namespace

base::Result<std::string> read_document(const std::string& path) {
  if (path == "-") return read_whole(STDIN_FILENO, "standard input");
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
  if (!fd) return tl::unexpected(error_of(errno, path));
  return read_whole(fd.get(), path);
}

}  // namespace probes
