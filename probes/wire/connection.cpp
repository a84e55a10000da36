#include "probes/wire/connection.h"

#include <fmt/format.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace wire {
namespace {

std::uint32_t random_word() {
  std::uint32_t word = 0;
  if (::getrandom(&word, sizeof word, GRND_NONBLOCK) != static_cast<ssize_t>(sizeof word))
    word = static_cast<std::uint32_t>(io::Clock::now().time_since_epoch().count());
  return word;
}

}  // namespace

// As bindresvport(3), with the range of the kernel's own client (665 to 1023); a few tries, then any port.
bool bind_reserved_port(int fd, int family) {
  constexpr std::uint32_t low = 665;
  constexpr std::uint32_t high = 1023;
  std::uint32_t port = low + random_word() % (high - low + 1);
  for (int attempt = 0; attempt < 24; ++attempt) {
    sockaddr_storage any = {};
    any.ss_family = static_cast<sa_family_t>(family);
    socklen_t size = sizeof(sockaddr_in);
    if (family == AF_INET6) {
      reinterpret_cast<sockaddr_in6&>(any).sin6_port = htons(static_cast<std::uint16_t>(port));
      size = sizeof(sockaddr_in6);
    } else {
      reinterpret_cast<sockaddr_in&>(any).sin_port = htons(static_cast<std::uint16_t>(port));
    }
    if (::bind(fd, reinterpret_cast<const sockaddr*>(&any), size) == 0) return true;
    if (errno != EADDRINUSE) return false;
    port = port == high ? low : port + 1;
  }
  return false;
}

Failure failure_from_errno(int error) {
  switch (error) {
    case ECONNREFUSED: return {Reason::refused, "connection refused"};
    case ETIMEDOUT: return {Reason::connect_timeout, "the kernel gave up connecting"};
    case EHOSTUNREACH:
    case ENETUNREACH:
    case EHOSTDOWN: return {Reason::unreachable, std::strerror(error)};
    case ECONNRESET:
    case EPIPE: return {Reason::closed, "the peer reset the connection"};
    default: return {Reason::local_error, std::strerror(error)};
  }
}

std::shared_ptr<Connection> Connection::open(io::Loop& loop, const Address& peer, Options options) {
  std::shared_ptr<Connection> made(new Connection(loop, peer, std::move(options)));
  made->begin();
  return made;
}

Connection::Connection(io::Loop& loop, const Address& peer, Options options)
    : loop_(loop), peer_(peer), options_(std::move(options)), reader_(options_.limits), next_xid_(random_word()) {}

Connection::~Connection() {
  // Shut quietly: the callbacks may refer to what is gone.
  if (fd_ >= 0) {
    loop_.unwatch(fd_);
    ::close(fd_);
  }
  loop_.cancel(connect_timer_);
  for (const auto& [xid, waiting] : waiting_) loop_.cancel(waiting.timer);
}

void Connection::begin() {
  began_ = io::Clock::now();
  fd_ = ::socket(peer_.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd_ < 0) return break_with(failure_from_errno(errno));
  const int one = 1;
  ::setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  if (options_.reserved_port && bind_reserved_port(fd_, peer_.family())) {
    reserved_ = true;
    const linger now{1, 0};
    ::setsockopt(fd_, SOL_SOCKET, SO_LINGER, &now, sizeof now);
  }
  const std::weak_ptr<Connection> weak = weak_from_this();
  const int done = ::connect(fd_, reinterpret_cast<const sockaddr*>(&peer_.storage), peer_.size);
  const int error = done == 0 ? 0 : errno;
  note_local();
  if (done == 0) {
    connect_done();
  } else if (error != EINPROGRESS) {
    return break_with(failure_from_errno(error));
  } else {
    connect_timer_ = loop_.at(options_.connect_deadline, [weak] {
      if (auto self = weak.lock(); self && !self->connected_)
        self->break_with({Reason::connect_timeout, "no answer to SYN by the deadline"});
    });
  }
  rewatch();
}

void Connection::connect_done() {
  // Linux lets a socket meet itself when its own port is the one asked for and nobody listens there.
  sockaddr_storage own = {};
  socklen_t size = sizeof own;
  if (::getsockname(fd_, reinterpret_cast<sockaddr*>(&own), &size) == 0 && size == peer_.size &&
      std::memcmp(&own, &peer_.storage, size) == 0)
    return break_with({Reason::refused, "nobody listens there"});
  connected_ = true;
  connect_took_ = io::Clock::now() - began_;
  loop_.cancel(connect_timer_);
}

void Connection::rewatch() {
  if (fd_ < 0) return;
  const bool wants_write = !connected_ || out_done_ < out_.size();
  const std::weak_ptr<Connection> weak = weak_from_this();
  loop_.watch(fd_, static_cast<short>((connected_ ? POLLIN : 0) | (wants_write ? POLLOUT : 0)), [weak](short revents) {
    if (auto self = weak.lock()) self->ready(revents);
  });
}

void Connection::call(const Call& call, io::Time deadline, Then then) {
  if (broken_) {
    loop_.post([then = std::move(then), why = *broken_] { then(tl::unexpected(why)); });
    return;
  }
  const std::uint32_t xid = next_xid_++;
  const Bytes record = encode_call(xid, call);
  out_.insert(out_.end(), record.begin(), record.end());
  Waiting waiting;
  waiting.then = std::move(then);
  waiting.sent_at = out_base_ + out_.size();
  const std::weak_ptr<Connection> weak = weak_from_this();
  waiting.timer = loop_.at(deadline, [weak, xid] {
    if (auto self = weak.lock()) self->expire(xid);
  });
  waiting_.emplace(xid, std::move(waiting));
  if (connected_) write_some();
  rewatch();
}

void Connection::close() {
  if (!broken_) break_with({Reason::not_asked, "the connection was closed before the answer"});
}

void Connection::ready(short revents) {
  if (!connected_) {
    int error = 0;
    socklen_t size = sizeof error;
    ::getsockopt(fd_, SOL_SOCKET, SO_ERROR, &error, &size);
    if (error != 0) return break_with(failure_from_errno(error));
    if ((revents & POLLOUT) == 0) return;
    connect_done();
    if (broken_) return;
  }
  // Reading first: a peer that refuses by an answer and a close is heard.
  if ((revents & (POLLIN | POLLHUP | POLLERR)) != 0) read_some();
  if (!broken_) write_some();
  if (!broken_) rewatch();
}

void Connection::write_some() {
  while (out_done_ < out_.size()) {
    const ssize_t sent = ::send(fd_, out_.data() + out_done_, out_.size() - out_done_, MSG_NOSIGNAL);
    if (sent < 0) {
      if (errno == EAGAIN || errno == EINTR) break;
      // What the peer said before it closed is still to be read.
      if (errno == EPIPE || errno == ECONNRESET) return;
      return break_with(failure_from_errno(errno));
    }
    out_done_ += static_cast<std::size_t>(sent);
  }
  const io::Time now = io::Clock::now();
  for (auto& [xid, waiting] : waiting_) {
    if (waiting.is_sent || waiting.sent_at > out_base_ + out_done_) continue;
    waiting.is_sent = true;
    waiting.sent = now;
  }
  if (out_done_ == out_.size()) {
    out_base_ += out_.size();
    out_.clear();
    out_done_ = 0;
  }
}

void Connection::read_some() {
  std::uint8_t buffer[65536];
  const ssize_t got = ::recv(fd_, buffer, sizeof buffer, 0);
  const io::Time now = io::Clock::now();
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got <= 0) {
    const bool reset = got < 0;
    if (reset && errno != ECONNRESET && errno != EPIPE) return break_with(failure_from_errno(errno));
    const char* how = reset ? "the peer reset the connection" : "the peer closed the connection";
    if (!reader_.inside_record()) return break_with({Reason::closed, how});
    return break_with(
        {Reason::closed_in_record, fmt::format("{} after {} bytes of a record", how, reader_.bytes_of_record())});
  }
  const std::shared_ptr<Connection> keep = shared_from_this();
  std::vector<Bytes> records;
  auto failure = reader_.feed({buffer, static_cast<std::size_t>(got)}, records);
  for (const auto& record : records) {
    if (broken_) return;
    take(record, now);
  }
  if (failure && !broken_) break_with(std::move(*failure));
}

void Connection::take(const Bytes& record, io::Time now) {
  auto reply = decode_reply(record);
  if (!reply) return break_with(reply.error());
  const auto found = waiting_.find(reply->xid);
  if (found == waiting_.end()) {
    if (given_up_.erase(reply->xid) != 0) return;
    if (++strays_ > options_.stray_replies)
      break_with({Reason::wrong_xid, fmt::format("{} answers to no call of ours", strays_)});
    return;
  }
  const io::Duration took = now - found->second.sent;
  if (!reply->body) return finish(reply->xid, tl::unexpected(reply->body.error()));
  finish(reply->xid, Answer{std::move(*reply->body), took});
}

void Connection::expire(std::uint32_t xid) {
  given_up_.insert(xid);
  if (!connected_) return finish(xid, fail(Reason::connect_timeout, "no answer to SYN by the deadline"));
  if (reader_.inside_record())
    return finish(xid, fail(Reason::incomplete, fmt::format("{} bytes of an unfinished record by the deadline",
                                                            reader_.bytes_of_record())));
  if (strays_ != 0)
    return finish(xid, fail(Reason::wrong_xid, fmt::format("{} answers came, none to a call of ours", strays_)));
  finish(xid, fail(Reason::silent, "no answer by the deadline"));
}

void Connection::finish(std::uint32_t xid, Outcome<Answer> outcome) {
  auto node = waiting_.extract(xid);
  if (node.empty()) return;
  loop_.cancel(node.mapped().timer);
  // `then` may drop the last reference to this connection.
  const std::shared_ptr<Connection> keep = shared_from_this();
  node.mapped().then(std::move(outcome));
}

void Connection::break_with(Failure failure) {
  if (broken_) return;
  broken_ = failure;
  loop_.cancel(connect_timer_);
  if (fd_ >= 0) {
    loop_.unwatch(fd_);
    ::close(fd_);
    fd_ = -1;
  }
  auto waiting = std::move(waiting_);
  waiting_.clear();
  for (auto& [xid, call] : waiting) {
    loop_.cancel(call.timer);
    loop_.post([then = std::move(call.then), failure] { then(tl::unexpected(failure)); });
  }
}

// The kernel chooses our address when it sends the SYN, whatever becomes of it.
void Connection::note_local() {
  Address local;
  local.size = sizeof local.storage;
  if (::getsockname(fd_, reinterpret_cast<sockaddr*>(&local.storage), &local.size) != 0) return;
  const std::string host = local.host();
  if (host != "0.0.0.0" && host != "::") local_ = host;
}

std::optional<TcpFacts> Connection::tcp_facts() const {
  if (fd_ < 0 || !connected_) return std::nullopt;
  return tcp_facts_of(fd_);
}

std::optional<TcpFacts> tcp_facts_of(int fd) {
  tcp_info info = {};
  socklen_t size = sizeof info;
  if (::getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return std::nullopt;
  TcpFacts facts;
  facts.rtt_us = info.tcpi_rtt;
  facts.rtt_var_us = info.tcpi_rttvar;
  facts.snd_mss_bytes = info.tcpi_snd_mss;
  facts.rcv_mss_bytes = info.tcpi_rcv_mss;
  facts.total_retrans = info.tcpi_total_retrans;
  int mtu = 0;
  socklen_t mtu_size = sizeof mtu;
  const bool known = ::getsockopt(fd, IPPROTO_IPV6, IPV6_MTU, &mtu, &mtu_size) == 0 ||
                     ::getsockopt(fd, IPPROTO_IP, IP_MTU, &mtu, &mtu_size) == 0;
  if (known && mtu > 0) facts.path_mtu_bytes = static_cast<std::uint32_t>(mtu);
  return facts;
}

}  // namespace wire
