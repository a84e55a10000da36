#include "probes/io/wait.h"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>

using std::chrono::milliseconds;

namespace {

template <class Do>
pid_t child(Do what) {
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(what());
  return pid;
}

int sleep_long() {
  for (;;) ::pause();
}

}  // namespace

TEST_CASE("wait: a child that has ended is told by its exit status, once") {
  const pid_t pid = child([] { return 7; });
  CHECK(io::wait_until_ended(pid, -1, milliseconds(20000)));
  CHECK(io::has_ended(pid));
  CHECK(io::reap(pid) == 7);
  CHECK(io::reap(pid) == 0);
}

TEST_CASE("wait: a child that goes on is waited for no longer than asked") {
  const pid_t pid = child(sleep_long);
  CHECK_FALSE(io::wait_until_ended(pid, -1, milliseconds(30)));
  CHECK_FALSE(io::has_ended(pid));
  CHECK(io::end_child(pid, milliseconds(20000)) == 128 + SIGKILL);
}

TEST_CASE("wait: a child that a signal ended is told by 128 and the signal") {
  const pid_t pid = child([] {
    ::signal(SIGABRT, SIG_DFL);
    return ::raise(SIGABRT);
  });
  CHECK(io::wait_until_ended(pid, -1, milliseconds(20000)));
  CHECK(io::end_child(pid, milliseconds(20000)) == 128 + SIGABRT);
}

TEST_CASE("wait: a child that cannot end in time is left behind") {
  const pid_t pid = child(sleep_long);
  // No time at all: SIGKILL is on its way, and the end is not waited for.
  const auto ended = io::end_child(pid, milliseconds(0));
  if (ended) CHECK(*ended == 128 + SIGKILL);
  CHECK(io::wait_until_ended(pid, -1, milliseconds(20000)));
  if (!ended) CHECK(io::reap(pid) == 128 + SIGKILL);
}
