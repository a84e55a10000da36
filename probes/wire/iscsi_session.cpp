#include "probes/wire/iscsi_session.h"

#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>

namespace wire::iscsi {
namespace {

constexpr std::size_t login_data_limit = 65536;  // 8192 is the rule before the login; some answer with more
constexpr std::size_t most_stray_pdus = 64;
constexpr std::size_t most_text_parts = 256;
constexpr io::Duration stop_look = std::chrono::milliseconds(100);
constexpr std::uint8_t check_condition = 0x02;

// Serial number arithmetic (RFC 1982, as RFC 7143 section 4.2.2.1 wants it).
bool is_newer(std::uint32_t a, std::uint32_t b) { return static_cast<std::int32_t>(a - b) > 0; }

const char* scsi_status_name(std::uint8_t status) {
  switch (status) {
    case 0x00: return "GOOD";
    case 0x02: return "CHECK CONDITION";
    case 0x04: return "CONDITION MET";
    case 0x08: return "BUSY";
    case 0x18: return "RESERVATION CONFLICT";
    case 0x28: return "TASK SET FULL";
    case 0x30: return "ACA ACTIVE";
    case 0x40: return "TASK ABORTED";
    default: return "unknown status";
  }
}

// Sense key, ASC and ASCQ of fixed and descriptor format (SPC-4 section 4.5), as one word.
std::uint32_t sense_word(View sense) {
  const auto byte = [&](std::size_t offset) -> std::uint32_t { return offset < sense.size() ? sense[offset] : 0; };
  const bool descriptor = (byte(0) & 0x7f) >= 0x72;
  return descriptor ? (byte(1) & 0xf) << 16 | byte(2) << 8 | byte(3) : (byte(2) & 0xf) << 16 | byte(12) << 8 | byte(13);
}

}  // namespace

Session::Session(const Address& peer, Limits limits) : peer_(peer), limits_(limits) {
  reader_.set_data_limit(login_data_limit);
}

Session::~Session() { close(); }

void Session::close() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
  logged_in_ = false;
}

tl::unexpected<Failure> Session::breaks(Failure failure) {
  if (!broken_) broken_ = failure;
  close();
  return tl::unexpected(std::move(failure));
}

io::Time Session::question_deadline() const { return std::min(io::Clock::now() + limits_.timeout, limits_.end); }

Outcome<void> Session::wait_for(short events, io::Time deadline, Reason late, const char* what) {
  while (true) {
    if (limits_.stop != nullptr && limits_.stop->load()) return fail(Reason::not_asked, "stopped by a signal");
    const io::Time now = io::Clock::now();
    if (now >= deadline) return fail(late, what);
    io::Duration wait = deadline - now;
    if (limits_.stop != nullptr) wait = std::min(wait, stop_look);
    pollfd fd{fd_, events, 0};
    // Rounded up: what is left of a millisecond must not become a busy loop.
    const auto ms = std::chrono::ceil<std::chrono::milliseconds>(wait).count();
    if (::poll(&fd, 1, static_cast<int>(std::min<long long>(ms, 60'000))) > 0) return {};
  }
}

Outcome<void> Session::connect() {
  const io::Time began = io::Clock::now();
  const io::Time deadline = question_deadline();
  fd_ = ::socket(peer_.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd_ < 0) return breaks(failure_from_errno(errno));
  const int one = 1;
  ::setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  if (::connect(fd_, reinterpret_cast<const sockaddr*>(&peer_.storage), peer_.size) != 0) {
    if (errno != EINPROGRESS) return breaks(failure_from_errno(errno));
    if (auto ready = wait_for(POLLOUT, deadline, Reason::connect_timeout, "no answer to SYN by the deadline"); !ready)
      return breaks(ready.error());
    int error = 0;
    socklen_t size = sizeof error;
    ::getsockopt(fd_, SOL_SOCKET, SO_ERROR, &error, &size);
    if (error != 0) return breaks(failure_from_errno(error));
  }
  // Linux lets a socket meet itself when its own port is the one asked for and nobody listens there.
  sockaddr_storage own = {};
  socklen_t size = sizeof own;
  if (::getsockname(fd_, reinterpret_cast<sockaddr*>(&own), &size) == 0 && size == peer_.size &&
      std::memcmp(&own, &peer_.storage, size) == 0)
    return breaks({Reason::refused, "nobody listens there"});
  connect_took_ = io::Clock::now() - began;
  return {};
}

Outcome<void> Session::send(const Pdu& pdu, io::Time deadline) {
  if (broken_) return tl::unexpected(*broken_);
  if (fd_ < 0) return fail(Reason::not_asked, "not connected");
  const Bytes bytes = encode(pdu, digests_);
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t sent = ::send(fd_, bytes.data() + done, bytes.size() - done, MSG_NOSIGNAL);
    if (sent >= 0) {
      done += static_cast<std::size_t>(sent);
    } else if (errno == EAGAIN) {
      if (auto ready = wait_for(POLLOUT, deadline, Reason::silent, "the target takes no more bytes"); !ready)
        return breaks(ready.error());
    } else if (errno == EPIPE || errno == ECONNRESET) {
      return {};  // what the target said before it closed is still to be read
    } else if (errno != EINTR) {
      return breaks(failure_from_errno(errno));
    }
  }
  return {};
}

Outcome<Pdu> Session::receive(io::Time deadline) {
  while (true) {
    auto pdu = reader_.next();
    if (!pdu) return breaks(pdu.error());
    if (*pdu) return std::move(**pdu);
    if (broken_) return tl::unexpected(*broken_);
    if (fd_ < 0) return fail(Reason::not_asked, "not connected");
    const bool inside = reader_.inside_pdu();
    if (auto ready = wait_for(POLLIN, deadline, Reason::silent, "no answer by the deadline"); !ready) {
      if (!inside || ready.error().reason != Reason::silent) return breaks(ready.error());
      return breaks(
          {Reason::incomplete, fmt::format("{} bytes of an unfinished PDU by the deadline", reader_.bytes_of_pdu())});
    }
    std::uint8_t buffer[65536];
    const ssize_t got = ::recv(fd_, buffer, sizeof buffer, 0);
    if (got > 0) {
      reader_.feed({buffer, static_cast<std::size_t>(got)});
    } else if (got == 0 || errno == ECONNRESET || errno == EPIPE) {
      const char* how = got == 0 ? "the target closed the connection" : "the target reset the connection";
      if (!inside) return breaks({Reason::closed, how});
      return breaks({Reason::closed_in_pdu, fmt::format("{} after {} bytes of a PDU", how, reader_.bytes_of_pdu())});
    } else if (errno != EAGAIN && errno != EINTR) {
      return breaks(failure_from_errno(errno));
    }
  }
}

std::uint32_t Session::next_tag() {
  if (++tag_ == no_tag) tag_ = 1;
  return tag_;
}

void Session::note_numbers(const Pdu& pdu) {
  const std::uint32_t exp = pdu.u32(at::exp_cmd_sn);
  const std::uint32_t max = pdu.u32(at::max_cmd_sn);
  // Section 4.2.2.1: numbers that contradict each other are ignored, so are older ones.
  if (is_newer(exp, max + 1)) return;
  if (is_newer(exp, exp_cmd_sn_)) exp_cmd_sn_ = exp;
  if (is_newer(max, max_cmd_sn_)) max_cmd_sn_ = max;
  const bool no_status = (pdu.is(Opcode::data_in) && (pdu.flags() & 0x01) == 0) || pdu.is(Opcode::r2t) ||
                         (pdu.is(Opcode::nop_in) && pdu.itt() == no_tag);
  const std::uint32_t stat = pdu.u32(at::stat_sn);
  if (!no_status && !is_newer(exp_stat_sn_, stat)) exp_stat_sn_ = stat + 1;
}

std::uint32_t Session::command_window() const {
  return is_newer(exp_cmd_sn_, max_cmd_sn_) ? 0 : max_cmd_sn_ - exp_cmd_sn_ + 1;
}

Outcome<void> Session::login(const LoginOffer& offer) {
  const io::Time began = io::Clock::now();
  const io::Time deadline = question_deadline();
  Login login(offer);
  std::optional<Pdu> request = login.first();
  while (request) {
    if (auto sent = send(*request, deadline); !sent) return sent;
    auto response = receive(deadline);
    if (!response) {
      result_ = login.result();
      return tl::unexpected(response.error());
    }
    if (response->is(Opcode::reject)) {
      result_ = login.result();
      Failure failure{Reason::rejected, "the target rejects the login: " + reject_words(response->head[2])};
      failure.code = response->head[2];
      return breaks(std::move(failure));
    }
    auto next = login.take(*response);
    result_ = login.result();
    if (!next) return breaks(next.error());
    request = std::move(*next);
  }
  login_took_ = io::Clock::now() - began;
  logged_in_ = true;
  digests_ = result_.digests;
  reader_.set_digests(digests_);
  reader_.set_data_limit(offer.max_recv_bytes);
  cmd_sn_ = result_.cmd_sn;
  exp_stat_sn_ = result_.exp_stat_sn;
  exp_cmd_sn_ = result_.exp_cmd_sn;
  max_cmd_sn_ = result_.max_cmd_sn;
  return {};
}

// What a target may send at any time. A failure: the session is over, or about to be.
std::optional<Failure> Session::take_unasked(const Pdu& pdu, io::Time deadline) {
  if (pdu.is(Opcode::nop_in) && pdu.itt() == no_tag && pdu.u32(at::ttt) != no_tag) {
    Pdu pong(Opcode::nop_out, true);
    pong.head[1] = 0x80;
    std::copy_n(pdu.head.begin() + at::lun, 8, pong.head.begin() + at::lun);
    pong.set_u32(at::itt, no_tag).set_u32(at::ttt, pdu.u32(at::ttt));
    pong.set_u32(at::cmd_sn, cmd_sn_).set_u32(at::exp_stat_sn, exp_stat_sn_);
    if (auto sent = send(pong, deadline); !sent) return sent.error();
    return std::nullopt;
  }
  if (pdu.is(Opcode::async_message)) {
    switch (pdu.head[36]) {
      case 1: return Failure{Reason::async_logout, "the target asks for a logout"};
      case 2: return Failure{Reason::async_drop, "the target announces that it drops this connection"};
      case 3: return Failure{Reason::async_drop, "the target announces that it drops all connections of the session"};
      case 4: return Failure{Reason::async_logout, "the target asks for a new negotiation"};
      default: return std::nullopt;  // SCSI events and those of vendors
    }
  }
  if (pdu.is(Opcode::reject)) {
    Failure failure{Reason::rejected, "the target rejects a PDU: " + reject_words(pdu.head[2])};
    failure.code = pdu.head[2];
    return failure;
  }
  if (pdu.is(Opcode::r2t)) return Failure{Reason::unexpected_pdu, "the target asks for data, and nothing is written"};
  if (pdu.is(Opcode::login_response)) return Failure{Reason::unexpected_pdu, "Login Response after the login"};
  return std::nullopt;
}

Outcome<Pdu> Session::answer_to(std::uint32_t itt, io::Time deadline) {
  for (std::size_t strays = 0; strays <= most_stray_pdus; ++strays) {
    auto pdu = receive(deadline);
    if (!pdu) return pdu;
    note_numbers(*pdu);
    if (pdu->itt() == itt && !pdu->is(Opcode::reject) && !pdu->is(Opcode::async_message) && !pdu->is(Opcode::r2t))
      return pdu;
    if (auto failure = take_unasked(*pdu, deadline)) {
      // Asked to log out, we do; everything else has ended the session.
      if (failure->reason != Reason::async_logout) return breaks(std::move(*failure));
      return tl::unexpected(std::move(*failure));
    }
  }
  return breaks({Reason::stray_pdus, fmt::format("{} PDUs, none of them an answer", most_stray_pdus + 1)});
}

Outcome<SendTargets> Session::send_targets() {
  const io::Time deadline = question_deadline();
  const std::uint32_t itt = next_tag();
  std::uint32_t ttt = no_tag;
  Lun lun = {};  // with the tag it belongs to the target, which wants it back
  Bytes text;
  for (std::size_t part = 0; part < most_text_parts; ++part) {
    Pdu request(Opcode::text_request, true);
    request.head[1] = 0x80;
    std::copy(lun.begin(), lun.end(), request.head.begin() + at::lun);
    request.set_u32(at::itt, itt).set_u32(at::ttt, ttt);
    request.set_u32(at::cmd_sn, cmd_sn_).set_u32(at::exp_stat_sn, exp_stat_sn_);
    if (part == 0) request.data = encode_text({{"SendTargets", "All"}});
    if (auto sent = send(request, deadline); !sent) return tl::unexpected(sent.error());
    auto answer = answer_to(itt, deadline);
    if (!answer) return tl::unexpected(answer.error());
    if (!answer->is(Opcode::text_response))
      return breaks({Reason::unexpected_pdu, opcode_name(answer->opcode()) + " as the answer to a Text Request"});
    text.insert(text.end(), answer->data.begin(), answer->data.end());
    if (text.size() > most_text_bytes)
      return breaks({Reason::endless_text, fmt::format("more than {} bytes of text in one answer", most_text_bytes)});
    if ((answer->flags() & 0x80) != 0) {
      const auto keys = decode_text(text);
      if (!keys) return breaks(keys.error());
      return decode_send_targets(*keys);
    }
    ttt = answer->u32(at::ttt);
    std::copy_n(answer->head.begin() + at::lun, lun.size(), lun.begin());
  }
  return breaks({Reason::endless_text, fmt::format("a text answer in more than {} parts", most_text_parts)});
}

// A command may be sent while CmdSN is not above MaxCmdSN (section 4.2.2.1).
Outcome<void> Session::open_window(io::Time deadline) {
  for (std::size_t strays = 0; is_newer(cmd_sn_, max_cmd_sn_); ++strays) {
    if (strays > most_stray_pdus)
      return breaks({Reason::stray_pdus, fmt::format("{} PDUs, and still no command may be sent", strays)});
    auto pdu = receive(deadline);
    if (!pdu) {
      if (pdu.error().reason != Reason::silent) return tl::unexpected(pdu.error());
      broken_ = Failure{Reason::window_closed, "the target's command window stays closed (MaxCmdSN below CmdSN)"};
      return tl::unexpected(*broken_);
    }
    note_numbers(*pdu);
    if (auto failure = take_unasked(*pdu, deadline)) return breaks(std::move(*failure));
  }
  return {};
}

Outcome<ScsiAnswer> Session::command(const Lun& lun, const Cdb& cdb, std::uint32_t read_bytes) {
  if (broken_) return tl::unexpected(*broken_);
  const io::Time deadline = question_deadline();
  if (auto open = open_window(deadline); !open) return tl::unexpected(open.error());
  Pdu request(Opcode::scsi_command);
  const std::uint32_t itt = next_tag();
  request.head[1] = static_cast<std::uint8_t>(0x80 | (read_bytes != 0 ? 0x40 : 0) | 1);  // final, read, simple task
  std::copy(lun.begin(), lun.end(), request.head.begin() + at::lun);
  request.set_u32(at::itt, itt).set_u32(20, read_bytes);
  request.set_u32(at::cmd_sn, cmd_sn_++).set_u32(at::exp_stat_sn, exp_stat_sn_);
  std::copy(cdb.begin(), cdb.end(), request.head.begin() + 32);
  const io::Time began = io::Clock::now();
  if (auto sent = send(request, deadline); !sent) return tl::unexpected(sent.error());

  ScsiAnswer answer;
  std::size_t high = 0;  // bytes up to which data came; PDUs may come in any order
  answer.data.resize(read_bytes);
  status_ = {};
  // A target may cut the data as it likes, but each part has to bring some.
  for (std::size_t parts = 0; parts <= read_bytes + 1; ++parts) {
    auto pdu = answer_to(itt, deadline);
    if (!pdu) return tl::unexpected(pdu.error());
    bool ended = false;
    if (pdu->is(Opcode::data_in)) {
      const std::size_t offset = pdu->u32(40);
      if (offset > read_bytes || pdu->data.size() > read_bytes - offset)
        return breaks({Reason::bad_value, fmt::format("data of {} bytes at {} where {} were asked for",
                                                      pdu->data.size(), offset, read_bytes)});
      std::copy(pdu->data.begin(), pdu->data.end(), answer.data.begin() + static_cast<std::ptrdiff_t>(offset));
      high = std::max(high, offset + pdu->data.size());
      ended = (pdu->flags() & 0x01) != 0;
      if (ended) status_.status = pdu->head[3];
    } else if (pdu->is(Opcode::scsi_response)) {
      if (pdu->head[2] != 0)
        return breaks({Reason::bad_value,
                       fmt::format("the target could not deliver the command (response 0x{:02x})", pdu->head[2])});
      ended = true;
      status_.status = pdu->head[3];
      if (pdu->data.size() >= 2) {
        const std::size_t size =
            std::min<std::size_t>(std::size_t{pdu->data[0]} << 8 | pdu->data[1], pdu->data.size() - 2);
        status_.sense.assign(pdu->data.begin() + 2, pdu->data.begin() + 2 + static_cast<std::ptrdiff_t>(size));
      }
    } else {
      return breaks({Reason::unexpected_pdu, opcode_name(pdu->opcode()) + " as the answer to a SCSI Command"});
    }
    if (!ended) continue;
    answer.took = io::Clock::now() - began;
    answer.data.resize(high);
    if (status_.status == 0) return answer;
    const std::uint32_t sense = status_.status == check_condition ? sense_word(status_.sense) : 0;
    Failure failure{Reason::scsi_status, scsi_status_name(status_.status)};
    if (status_.status == check_condition)
      failure.detail += fmt::format(" {:x}/{:02x}{:02x}", sense >> 16, sense >> 8 & 0xff, sense & 0xff);
    failure.code = std::uint32_t{status_.status} << 24 | sense;
    return tl::unexpected(std::move(failure));
  }
  return breaks({Reason::stray_pdus, "data without end"});
}

Outcome<io::Duration> Session::ping() {
  if (broken_) return tl::unexpected(*broken_);
  const io::Time deadline = question_deadline();
  const std::uint32_t itt = next_tag();
  Pdu request(Opcode::nop_out, true);
  request.head[1] = 0x80;
  request.set_u32(at::itt, itt).set_u32(at::ttt, no_tag);
  request.set_u32(at::cmd_sn, cmd_sn_).set_u32(at::exp_stat_sn, exp_stat_sn_);
  const io::Time began = io::Clock::now();
  if (auto sent = send(request, deadline); !sent) return tl::unexpected(sent.error());
  auto answer = answer_to(itt, deadline);
  if (!answer) return tl::unexpected(answer.error());
  if (!answer->is(Opcode::nop_in))
    return breaks({Reason::unexpected_pdu, opcode_name(answer->opcode()) + " as the answer to a NOP-Out"});
  return io::Clock::now() - began;
}

Outcome<void> Session::logout(io::Time until) {
  if (broken_ || !logged_in_) return fail(Reason::not_asked, "no session");
  limits_.stop = nullptr;  // leaving cleanly is worth the wait until `until`
  const std::uint32_t itt = next_tag();
  Pdu request(Opcode::logout_request, true);
  request.head[1] = 0x80;  // close the session
  request.set_u32(at::itt, itt);
  request.set_u32(at::cmd_sn, cmd_sn_).set_u32(at::exp_stat_sn, exp_stat_sn_);
  if (auto sent = send(request, until); !sent) return sent;
  for (std::size_t asked = 0;; ++asked) {
    auto answer = answer_to(itt, until);
    if (!answer) {
      // It asks for what we are about to do.
      if (answer.error().reason == Reason::async_logout && asked < most_stray_pdus) continue;
      return tl::unexpected(answer.error());
    }
    if (!answer->is(Opcode::logout_response))
      return breaks({Reason::unexpected_pdu, opcode_name(answer->opcode()) + " as the answer to a Logout Request"});
    const std::uint8_t response = answer->head[2];
    close();
    if (response != 0) return fail(Reason::bad_value, fmt::format("logout response {}", response));
    return {};
  }
}

Outcome<Released> Session::release() {
  if (broken_) return tl::unexpected(*broken_);
  if (!logged_in_) return fail(Reason::not_asked, "no session");
  if (reader_.inside_pdu()) return fail(Reason::unexpected_pdu, "the target sent what it was not asked for");
  Released out{fd_, cmd_sn_, exp_stat_sn_, exp_cmd_sn_, max_cmd_sn_, result_};
  fd_ = -1;
  logged_in_ = false;
  return out;
}

std::string Session::local_address() const {
  if (fd_ < 0) return {};
  Address own;
  own.size = sizeof own.storage;
  if (::getsockname(fd_, reinterpret_cast<sockaddr*>(&own.storage), &own.size) != 0) return {};
  return own.host();
}

std::optional<TcpFacts> Session::tcp_facts() const {
  if (fd_ < 0) return std::nullopt;
  return tcp_facts_of(fd_);
}

}  // namespace wire::iscsi
