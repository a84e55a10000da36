// What sends requests and takes their answers: NFS, iSCSI, the kernel's own path. The driver decides when and what, an
// engine knows the protocol. One thread; after prepare() nothing is allocated.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "probes/load/plan.h"
#include "probes/wire/reason.h"

namespace load {

std::uint64_t now_ns();  // CLOCK_MONOTONIC

struct Request {
  std::uint32_t slot = 0;  // names it until it is answered; below the depth
  Op op = Op::read;
  std::uint64_t offset = 0;
  std::uint32_t bytes = 0;
};

struct Completion {
  std::uint32_t slot = 0;
  std::uint32_t error = 0;  // 0: well; else the protocol's own code
  std::uint64_t at_ns = 0;  // when the last byte of the answer was there
};

class Engine {
 public:
  Engine() = default;
  virtual ~Engine() = default;
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // Before each pass: connections and buffers for so many requests of that size.
  virtual wire::Outcome<void> prepare(const Step& step) = 0;
  virtual unsigned limit() const = 0;  // the most requests that can be under way: session slots and the like
  virtual unsigned room() const = 0;   // how many more may be sent at this moment
  virtual void submit(const Request& request) = 0;  // goes out with the next exchange()
  // Sends what was submitted, then waits until something is answered or `until` has come; appends to `done`. After a
  // failure nothing more comes.
  virtual wire::Outcome<void> exchange(std::uint64_t until_ns, std::vector<Completion>& done) = 0;
  virtual std::string error_text(std::uint32_t error) const = 0;
};

}  // namespace load
