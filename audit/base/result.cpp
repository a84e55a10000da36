#include "audit/base/result.h"

namespace base {

std::string to_text(const Error& error) {
  return error.where.empty() ? error.message : error.where + ": " + error.message;
}

const char* status_word(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::absent: return "absent";
    case ErrorKind::denied: return "denied";
    case ErrorKind::timeout: return "timeout";
    case ErrorKind::refused: return "refused";
    case ErrorKind::malformed: return "malformed";
    case ErrorKind::skipped: return "skipped";
    case ErrorKind::usage:
    case ErrorKind::io: break;
  }
  return "malformed";
}

}  // namespace base
