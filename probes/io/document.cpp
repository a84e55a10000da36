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
  const auto read = read_pieces(fd, where, [&](std::string_view piece) -> base::Result<void> {
    if (text.size() + piece.size() > most_bytes)
      return base::fail(base::ErrorKind::malformed, where, "larger than 1 GiB");
    text.append(piece);
    return {};
  });
  if (!read) return tl::unexpected(read.error());
  return text;
}

}  // namespace

base::Result<std::string> read_document(const std::string& path) {
  if (path == "-") return read_whole(STDIN_FILENO, "standard input");
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
  if (!fd) return tl::unexpected(error_of(errno, path));
  return read_whole(fd.get(), path);
}

}  // namespace probes
