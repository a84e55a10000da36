// A server of ours that behaves as a script says, on 127.0.0.1 and a port of the kernel's choice. One thread accepts,
// each connection has its own; the destructor shuts all of them.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "probes/wire/address.h"
#include "probes/wire/rpc.h"

namespace wire_test {

class Peer {
 public:
  // Talks on a connected blocking socket; returns when it is done (the socket is closed then) or when a read fails.
  using Script = std::function<void(Peer& peer, int fd)>;
  explicit Peer(Script script);
  ~Peer();
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  wire::Address address() const { return address_; }
  std::uint16_t port() const { return address_.port(); }
  bool stopping() const { return stopping_; }
  int connections() const { return connections_; }
  // For scripts. False: the connection or the test has ended.
  bool wait_ms(int ms) const;
  static bool send_all(int fd, wire::View bytes);
  static bool receive_exactly(int fd, std::uint8_t* to, std::size_t size);

 private:
  void accept_loop();

  Script script_;
  wire::Address address_;
  int listener_ = -1;
  std::atomic<bool> stopping_ = false;
  std::atomic<int> connections_ = 0;
  std::mutex mutex_;
  std::vector<int> open_;
  std::vector<std::thread> threads_;
  std::thread acceptor_;
};

// A port of 127.0.0.1 where nobody listens (bound and not listening for as long as it lives).
class ClosedPort {
 public:
  ClosedPort();
  ~ClosedPort();
  wire::Address address() const { return address_; }

 private:
  wire::Address address_;  // before fd_, whose making fills it
  int fd_;
};

// A call as a server sees it.
struct ReceivedCall {
  std::uint32_t xid = 0;
  std::uint32_t program = 0;
  std::uint32_t version = 0;
  std::uint32_t procedure = 0;
  std::uint32_t flavor = 0;
  wire::Bytes args;
};
bool receive_call(int fd, ReceivedCall& call);

wire::Bytes record(wire::View message);  // with its mark, one fragment
wire::Bytes success(std::uint32_t xid, wire::View results = {});
wire::Bytes accepted_error(std::uint32_t xid, std::uint32_t accept_stat, std::vector<std::uint32_t> more = {});
wire::Bytes denied(std::uint32_t xid, std::vector<std::uint32_t> body);

// Answers calls for ever: `answer` makes the whole message (without its mark); an empty one means silence.
Peer::Script serve(std::function<wire::Bytes(const ReceivedCall&)> answer);

}  // namespace wire_test
