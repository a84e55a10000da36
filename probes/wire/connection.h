// One TCP connection to an RPC service with many calls in flight. Every call ends once: with its answer, with the
// reason why the connection broke, or at its deadline. Answers may come in any order.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "probes/io/loop.h"
#include "probes/wire/address.h"
#include "probes/wire/rpc.h"

namespace wire {

// An answer and how long it took from the moment its call was given to the kernel.
struct Answer {
  Accepted accepted;
  io::Duration took = {};
};

// TCP_INFO (tcp(7), linux/tcp.h) and IP_MTU of a connected socket.
struct TcpFacts {
  std::uint32_t rtt_us = 0;
  std::uint32_t rtt_var_us = 0;
  std::uint32_t snd_mss_bytes = 0;
  std::uint32_t rcv_mss_bytes = 0;
  std::uint32_t total_retrans = 0;
  std::optional<std::uint32_t> path_mtu_bytes;
};

std::optional<TcpFacts> tcp_facts_of(int fd);

Failure failure_from_errno(int error);  // of connect(2), send(2), recv(2)

// A source port below 1024, as exports without "insecure" demand; false where the process may not have one.
bool bind_reserved_port(int fd, int family);

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  struct Options {
    // A source port below 1024, where the process may have one (CAP_NET_BIND_SERVICE): exports without "insecure"
    // demand it. Else any port, and reserved() says so. Freed by a reset, so that no port of the node waits in
    // TIME_WAIT.
    bool reserved_port = false;
    io::Time connect_deadline = {};
    RecordReader::Limits limits = {};
    std::size_t stray_replies = 64;  // answers to no call of ours that are put up with
  };
  using Then = std::function<void(Outcome<Answer>)>;

  // Starts to connect; calls may be given at once and are sent when it is connected.
  static std::shared_ptr<Connection> open(io::Loop& loop, const Address& peer, Options options);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // `then` runs in the loop, never inside this call.
  void call(const Call& call, io::Time deadline, Then then);
  void close();  // what is in flight ends with not_asked

  const Address& peer() const { return peer_; }
  bool connected() const { return connected_; }
  const std::optional<Failure>& broken() const { return broken_; }
  std::optional<io::Duration> connect_took() const { return connect_took_; }
  bool reserved() const { return reserved_; }
  const std::string& local_address() const { return local_; }  // from which the SYN went; empty: none did
  std::optional<TcpFacts> tcp_facts() const;

 private:
  struct Waiting {
    Then then;
    io::Loop::TimerId timer = 0;
    std::size_t sent_at = 0;  // position in the stream after its last byte
    io::Time sent = {};
    bool is_sent = false;
  };
  Connection(io::Loop& loop, const Address& peer, Options options);
  void begin();
  void note_local();
  void connect_done();
  void ready(short revents);
  void write_some();
  void read_some();
  void take(const Bytes& record, io::Time now);
  void expire(std::uint32_t xid);
  void finish(std::uint32_t xid, Outcome<Answer> outcome);
  void break_with(Failure failure);
  void rewatch();

  io::Loop& loop_;
  Address peer_;
  Options options_;
  int fd_ = -1;
  bool connected_ = false;
  bool reserved_ = false;
  std::string local_;
  io::Time began_ = {};
  std::optional<io::Duration> connect_took_;
  std::optional<Failure> broken_;
  io::Loop::TimerId connect_timer_ = 0;
  RecordReader reader_;
  Bytes out_;
  std::size_t out_done_ = 0;  // bytes of out_ given to the kernel
  std::size_t out_base_ = 0;  // position in the stream of out_[0]
  std::map<std::uint32_t, Waiting> waiting_;
  std::set<std::uint32_t> given_up_;  // their late answers are no strays
  std::size_t strays_ = 0;
  std::uint32_t next_xid_;
};

}  // namespace wire
