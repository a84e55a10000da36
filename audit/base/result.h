// What can go wrong in the field, as a value. Exceptions from libraries are turned into an Error at the call;
// an exception of our own means a bug and is caught once, in main.
#pragma once

#include <cstdint>
#include <string>
#include <tl/expected.hpp>

namespace base {

enum class ErrorKind : std::uint8_t {
  usage,      // the command line is wrong
  absent,     // the file, host or thing does not exist
  denied,     // it exists, we may not
  timeout,    // no answer by the deadline
  refused,    // somebody answered "no"
  malformed,  // an answer or a text that does not follow its format
  io,         // any other failure of the operating system
  skipped,    // not done, or not part of the capture: says nothing about the thing itself
};

struct Error {
  ErrorKind kind = ErrorKind::io;
  std::string where;    // path, path:line or host:port; empty when there is no place
  std::string message;  // in the user's words, no trailing full stop

  bool operator==(const Error&) const = default;
};

template <class T>
using Result = tl::expected<T, Error>;

// "where: message", or the message alone.
std::string to_text(const Error& error);

// The word used in `sources[].status`: ok is not among them.
const char* status_word(ErrorKind kind);

inline tl::unexpected<Error> fail(ErrorKind kind, std::string where, std::string message) {
  return tl::unexpected<Error>(Error{kind, std::move(where), std::move(message)});
}

}  // namespace base
