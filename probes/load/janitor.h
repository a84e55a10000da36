// Clears up after a crash: a child that does nothing but wait for the end of its parent, and then runs what it was
// given unless it was dismissed before. SIGKILL of the parent is noticed too; not that of the whole container.
#pragma once

#include <sys/types.h>

#include <functional>

namespace load {

class Janitor {
 public:
  explicit Janitor(const std::function<void()>& clean_up);  // runs in the child
  ~Janitor();                                               // dismisses it
  Janitor(const Janitor&) = delete;
  Janitor& operator=(const Janitor&) = delete;
  bool works() const { return child_ > 0; }
  void dismiss();

 private:
  pid_t child_ = -1;
  int pipe_ = -1;
};

}  // namespace load
