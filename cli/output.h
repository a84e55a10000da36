// Where the program's words go: data to standard output or a file, talk to standard error.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>

#include "audit/base/json.h"
#include "audit/base/result.h"

namespace cli {

// All of it to standard output. A reader that went away (EPIPE) is no error; a full disk is.
base::Result<void> print(std::string_view text);

// "mountaudit: text" on standard error, control characters escaped.
void say(std::string_view text);

// Text for people on standard error, as it is.
void talk(std::string_view text);

bool color_wanted(bool asked);     // for standard output: --color, NO_COLOR, TERM, a terminal
bool progress_wanted(bool quiet);  // for standard error
int columns();                     // of the terminal that standard output is, else 80

// Hands a text to a sink, in as many pieces as it likes.
using Pieces = std::function<void(const base::Sink&)>;

// A file that a report will go to, opened before the work starts so that a path which cannot be written is known at
// once. What stood in it stays until write(); without write() a file that was made here is taken away again.
class ReportFile {
 public:
  static base::Result<ReportFile> open(const std::string& path);
  ReportFile(ReportFile&& other) noexcept;
  ReportFile& operator=(ReportFile&&) = delete;
  ReportFile(const ReportFile&) = delete;
  ReportFile& operator=(const ReportFile&) = delete;
  ~ReportFile();

  base::Result<void> write(std::string_view text);
  base::Result<void> write(const Pieces& pieces);

 private:
  ReportFile(std::string path, int descriptor, bool made) : path_(std::move(path)), fd_(descriptor), made_(made) {}

  std::string path_;
  int fd_ = -1;
  bool made_ = false;
};

// From here on SIGINT and SIGTERM are noted, once, so that a report of what was read is still written; a second one
// ends the program. Before, the first does: there is nothing yet to report.
void note_signals();
int signal_seen();  // its number, or 0

// Until `gap` is over or a signal came; with `progress` the seconds left are shown on standard error.
void wait(std::chrono::milliseconds gap, bool progress, std::string_view what);

}  // namespace cli
