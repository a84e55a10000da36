#include "probes/load/iscsi_engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "probes/load/payload.h"
#include "probes/wire/scsi.h"

namespace load {
namespace {

using namespace wire;
using namespace wire::iscsi;

constexpr unsigned slot_bits = 10;  // of the tag: the slot; the rest counts
constexpr unsigned most_depth = 1U << slot_bits;
constexpr std::size_t most_data = std::size_t{1} << 20;  // of one PDU; we declare less
constexpr std::uint8_t final_bit = 0x80;
constexpr std::uint8_t data_out_opcode = 0x05;

// Errors of ours among SCSI's: a status and its sense are put together as in wire::Reason::scsi_status, where the
// highest byte is the status.
constexpr std::uint32_t short_answer = 0xff000001;
constexpr std::uint32_t not_delivered = 0xff000002;

std::uint32_t load32(const std::uint8_t* at) {
  return std::uint32_t{at[0]} << 24 | std::uint32_t{at[1]} << 16 | std::uint32_t{at[2]} << 8 | at[3];
}
void store32(std::uint8_t* at, std::uint32_t value) {
  at[0] = static_cast<std::uint8_t>(value >> 24);
  at[1] = static_cast<std::uint8_t>(value >> 16);
  at[2] = static_cast<std::uint8_t>(value >> 8);
  at[3] = static_cast<std::uint8_t>(value);
}
std::size_t padded(std::size_t size) { return (size + 3) & ~std::size_t{3}; }
bool is_newer(std::uint32_t a, std::uint32_t b) { return static_cast<std::int32_t>(a - b) > 0; }

io::Duration duration(double seconds) {
  return std::chrono::duration_cast<io::Duration>(std::chrono::duration<double>(seconds));
}

std::string answer_of(const LoginResult& login, const char* key) {
  for (const auto& row : login.keys)
    if (row.key == key && row.answer) return *row.answer;
  return {};
}
std::uint32_t number_of(const std::string& text, std::uint32_t fallback) {
  std::uint32_t value = 0;
  if (text.empty() || text.size() > 8) return fallback;
  for (const char c : text) {
    if (c < '0' || c > '9') return fallback;
    value = value * 10 + static_cast<std::uint32_t>(c - '0');
  }
  return value;
}

// Sense key, ASC and ASCQ of a SCSI Response, whose data segment begins with the length of the sense data.
std::uint32_t sense_of(const std::uint8_t* data, std::size_t size) {
  if (size < 2 + 14) return 0;
  const std::uint8_t* sense = data + 2;
  const bool descriptor = (sense[0] & 0x7f) >= 0x72;
  return descriptor ? std::uint32_t{sense[1]} << 16 | std::uint32_t{sense[2]} << 8 | sense[3]
                    : (std::uint32_t{sense[2]} & 0xf) << 16 | std::uint32_t{sense[12]} << 8 | sense[13];
}

}  // namespace

IscsiEngine::IscsiEngine(IscsiWhere where, double timeout_s, const std::atomic<bool>* stop)
    : where_(std::move(where)), timeout_s_(timeout_s), stop_(stop) {}

IscsiEngine::~IscsiEngine() { close(); }

// Logged in, its unit attention taken, the size known.
Outcome<Released> IscsiEngine::log_in() {
  Limits limits;
  limits.timeout = duration(timeout_s_);
  limits.stop = stop_;
  Session session(where_.address, limits);
  if (auto connected = session.connect(); !connected) return tl::unexpected(connected.error());
  LoginOffer offer;
  offer.initiator_name = where_.initiator;
  offer.target_name = where_.target;
  offer.chap = where_.chap;
  offer.isid = random_isid();
  offer.lean = true;
  if (auto in = session.login(offer); !in) return tl::unexpected(in.error());
  // The first commands of a session end with a unit attention each, as a rule one.
  for (int tries = 0;; ++tries) {
    const auto ready = session.command(where_.lun, scsi::test_unit_ready(), 0);
    if (ready) break;
    if (!scsi::is_unit_attention(ready.error()) || tries == 8) {
      const Failure failure = ready.error();
      session.logout(io::Clock::now() + duration(1));
      return tl::unexpected(failure);
    }
  }
  if (blocks_ == 0) {
    constexpr std::uint32_t allocation = 32;
    const auto answer = session.command(where_.lun, scsi::read_capacity16(allocation), allocation);
    const auto capacity = answer ? scsi::decode_read_capacity16(answer->data) : tl::unexpected(answer.error());
    if (!capacity || capacity->block_bytes == 0) {
      session.logout(io::Clock::now() + duration(1));
      return tl::unexpected(capacity ? Failure{Reason::bad_value, "READ CAPACITY: blocks of 0 bytes"}
                                     : capacity.error());
    }
    blocks_ = capacity->blocks;
    block_bytes_ = capacity->block_bytes;
  }
  return session.release();
}

Outcome<void> IscsiEngine::add_path(const Released& session) {
  Path path;
  path.cmd_sn = session.cmd_sn;
  path.exp_stat_sn = session.exp_stat_sn;
  path.exp_cmd_sn = session.exp_cmd_sn;
  path.max_cmd_sn = session.max_cmd_sn;
  path.max_send_bytes = session.login.max_send_bytes;
  path.max_burst_bytes = number_of(answer_of(session.login, "MaxBurstLength"), 262144);
  // ImmediateData is Yes unless the target says No (RFC 7143 section 13.11).
  if (answer_of(session.login, "ImmediateData") != "No")
    path.immediate_bytes =
        std::min(number_of(answer_of(session.login, "FirstBurstLength"), 65536), path.max_send_bytes);
  sockets_.list.emplace_back(session.fd);
  paths_.push_back(path);
  if (session.login.digests.header || session.login.digests.data)
    return fail(Reason::not_asked, "the target insists on digests, with which this is not measured");
  return {};
}

Outcome<void> IscsiEngine::open() {
  if (!paths_.empty()) return {};
  const auto session = log_in();
  if (!session) return tl::unexpected(session.error());
  return add_path(*session);
}

Outcome<void> IscsiEngine::prepare(const Step& step) {
  if (step.depth > most_depth) return fail(Reason::not_asked, fmt::format("a depth over {}", most_depth));
  const bool broken = std::any_of(flights_.begin(), flights_.end(), [](const Flight& one) { return one.tag != 0; });
  if (broken) close();
  while (paths_.size() > step.connections) {
    log_out(static_cast<std::uint32_t>(paths_.size()) - 1);
    paths_.pop_back();
    sockets_.list.pop_back();
  }
  while (paths_.size() < step.connections) {
    const auto session = log_in();
    if (!session) return tl::unexpected(session.error());
    if (auto added = add_path(*session); !added) return added;
  }
  if (moves_data(step.pattern.op) && step.block_bytes % block_bytes_ != 0)
    return fail(Reason::not_asked, fmt::format("the LUN has blocks of {} bytes", block_bytes_));
  limit_ = step.depth;
  flights_.assign(step.depth, {});
  if (step.pattern.writes() && payload_.size() < step.block_bytes) {
    payload_.resize(step.block_bytes);
    fill_payload(payload_.data(), payload_.size());
  }
  return {};
}

unsigned IscsiEngine::room() const {
  unsigned sum = 0;
  for (const auto& path : paths_) sum += path.drop ? 0 : path.window();
  return sum;
}

unsigned IscsiEngine::smallest_window() const {
  unsigned least = ~0U;
  for (const auto& path : paths_) least = std::min(least, path.max_cmd_sn - path.exp_cmd_sn + 1);
  return paths_.empty() ? 0 : least;
}

// In turn, past those whose window is closed.
std::optional<std::uint32_t> IscsiEngine::choose_path() const {
  for (std::size_t i = 0; i < paths_.size(); ++i) {
    const auto index = static_cast<std::uint32_t>((turn_ + i) % paths_.size());
    if (paths_[index].open() && !paths_[index].drop) return index;
  }
  return std::nullopt;
}

// 48 bytes at the end of what the path has to send, with what all PDUs of ours have in common.
std::uint8_t* IscsiEngine::header(std::uint32_t path, std::uint8_t opcode, std::uint8_t flags, std::uint32_t tag) {
  std::uint8_t* head = sockets_.list[path].append(header_bytes);
  std::memset(head, 0, header_bytes);
  head[0] = opcode;
  head[1] = flags;
  store32(head + at::itt, tag);
  store32(head + at::exp_stat_sn, paths_[path].exp_stat_sn);
  return head;
}

void IscsiEngine::submit(const Request& request) {
  const auto chosen = choose_path();
  if (!chosen) return;  // the driver asks for room() before
  turn_ = *chosen + 1;
  Path& path = paths_[*chosen];
  next_tag_ = (next_tag_ + 1) & (0xffffffff >> slot_bits >> 1);  // never the reserved tag
  Flight& flight = flights_[request.slot];
  flight = {next_tag_ << slot_bits | request.slot | 0x80000000U, request.bytes, 0, request.offset, request.op, *chosen};
  if (flight.tag == no_tag) flight.tag = request.slot | 0x80000000U;
  ++path.in_flight;
  if (request.op == Op::nop) {
    std::uint8_t* head = header(*chosen, 0x40, final_bit, flight.tag);  // immediate: takes no room in the window
    store32(head + at::ttt, no_tag);
    store32(head + at::cmd_sn, path.cmd_sn);
    return;
  }
  const bool reads = request.op == Op::read;
  const bool writes = request.op == Op::write;
  const std::uint32_t now = writes ? std::min(path.immediate_bytes, request.bytes) : 0;
  const auto flags = static_cast<std::uint8_t>(final_bit | (reads ? 0x40 : 0) | (writes ? 0x20 : 0) | 1);
  std::uint8_t* head = header(*chosen, 0x01, flags, flight.tag);
  std::memcpy(head + at::lun, where_.lun.data(), where_.lun.size());
  store32(head + 20, request.bytes);
  store32(head + at::cmd_sn, path.cmd_sn++);
  head[5] = static_cast<std::uint8_t>(now >> 16);
  head[6] = static_cast<std::uint8_t>(now >> 8);
  head[7] = static_cast<std::uint8_t>(now);
  if (reads || writes) {
    std::uint8_t* cdb = head + 32;
    cdb[0] = reads ? 0x88 : 0x8a;  // READ(16), WRITE(16)
    const std::uint64_t block = request.offset / block_bytes_;
    store32(cdb + 2, static_cast<std::uint32_t>(block >> 32));
    store32(cdb + 6, static_cast<std::uint32_t>(block));
    store32(cdb + 10, request.bytes / block_bytes_);
  }
  if (now == 0) return;
  std::uint8_t* data = sockets_.list[*chosen].append(padded(now));
  std::memcpy(data, payload_.data(), now);
  stamp_payload(data, now, request.offset, ++stamp_);
}

// What an R2T asks for, in PDUs of the size that the target takes.
void IscsiEngine::send_data(std::uint32_t path, Flight& flight, std::uint32_t ttt, std::uint32_t offset,
                            std::uint32_t bytes) {
  std::uint32_t number = 0;
  for (const std::uint32_t end = offset + bytes; offset < end;) {
    const std::uint32_t part = std::min(end - offset, paths_[path].max_send_bytes);
    const bool last = offset + part == end;
    std::uint8_t* head = header(path, data_out_opcode, last ? final_bit : 0, flight.tag);
    head[5] = static_cast<std::uint8_t>(part >> 16);
    head[6] = static_cast<std::uint8_t>(part >> 8);
    head[7] = static_cast<std::uint8_t>(part);
    std::memcpy(head + at::lun, where_.lun.data(), where_.lun.size());
    store32(head + at::ttt, ttt);
    store32(head + 36, number++);
    store32(head + 40, offset);
    std::uint8_t* data = sockets_.list[path].append(padded(part));
    std::memcpy(data, payload_.data() + offset, part);
    stamp_payload(data, part, flight.offset + offset, stamp_);
    offset += part;
  }
}

Outcome<void> IscsiEngine::exchange(std::uint64_t until_ns, std::vector<Completion>& done) {
  return sockets_.exchange(until_ns, [&](std::size_t index, bool wait) { return readable(index, wait, done); });
}

Outcome<void> IscsiEngine::readable(std::size_t index, bool wait, std::vector<Completion>& done) {
  const auto got = sockets_.list[index].receive(wait);
  if (!got) return tl::unexpected(got.error());
  if (!*got) return {};
  const std::uint64_t now = now_ns();
  while (true) {
    const auto more = next_pdu(static_cast<std::uint32_t>(index), now, done);
    if (!more) return tl::unexpected(more.error());
    if (!*more) return {};
  }
}

Outcome<bool> IscsiEngine::next_pdu(std::uint32_t index, std::uint64_t at, std::vector<Completion>& done) {
  Socket& socket = sockets_.list[index];
  Path& path = paths_[index];
  if (path.skip != 0) {
    const std::size_t taken = std::min(path.skip, socket.size());
    socket.take(taken);
    path.skip -= taken;
    if (path.skip != 0) return false;
    if (path.ended != 0) finish(path.ended, path.ended_error, at, done);
    path.ended = 0;
    return true;
  }
  if (socket.size() < header_bytes) return false;
  const std::uint8_t* head = socket.data();
  const std::size_t ahs = std::size_t{head[4]} * 4;
  const std::size_t data = std::size_t{head[5]} << 16 | std::size_t{head[6]} << 8 | head[7];
  if (data > most_data) return fail(Reason::pdu_too_large, fmt::format("a data segment of {} bytes", data));
  // What is looked into is waited for as a whole: sense data and the like. Data of a READ may still be on its way.
  const std::uint8_t opcode = head[0] & 0x3f;
  const bool is_data_in = opcode == static_cast<std::uint8_t>(Opcode::data_in);
  const std::size_t whole = header_bytes + ahs + padded(data);
  if (!is_data_in && data <= 8192 && socket.size() < whole) return false;
  const std::size_t here = std::min(whole, socket.size());
  path.skip = whole - here;
  const auto taken = take(index, head, data, at, done);
  if (!taken) return tl::unexpected(taken.error());
  socket.take(here);
  return path.skip == 0;
}

void IscsiEngine::note_numbers(Path& path, const std::uint8_t* head, bool with_status) {
  const std::uint32_t exp = load32(head + at::exp_cmd_sn);
  const std::uint32_t max = load32(head + at::max_cmd_sn);
  if (!is_newer(exp, max + 1)) {
    if (is_newer(exp, path.exp_cmd_sn)) path.exp_cmd_sn = exp;
    if (is_newer(max, path.max_cmd_sn)) path.max_cmd_sn = max;
  }
  const std::uint32_t stat = load32(head + at::stat_sn);
  if (with_status && !is_newer(path.exp_stat_sn, stat)) path.exp_stat_sn = stat + 1;
}

IscsiEngine::Flight* IscsiEngine::flight_of(std::uint32_t tag) {
  const std::uint32_t slot = tag & (most_depth - 1);
  return slot < flights_.size() && flights_[slot].tag == tag && tag != 0 ? &flights_[slot] : nullptr;
}

void IscsiEngine::finish(std::uint32_t tag, std::uint32_t error, std::uint64_t at, std::vector<Completion>& done) {
  Flight* flight = flight_of(tag);
  if (flight == nullptr) return;
  --paths_[flight->path].in_flight;
  flight->tag = 0;
  done.push_back({tag & (most_depth - 1), error, at});
}

Outcome<void> IscsiEngine::take(std::uint32_t index, const std::uint8_t* head, std::size_t data, std::uint64_t at,
                                std::vector<Completion>& done) {
  Path& path = paths_[index];
  const std::uint32_t tag = load32(head + at::itt);
  const std::uint8_t flags = head[1];
  Flight* flight = flight_of(tag);
  const auto end = [&](std::uint32_t error) {
    if (path.skip == 0) return finish(tag, error, at, done);
    path.ended = tag;
    path.ended_error = error;
  };
  switch (static_cast<Opcode>(head[0] & 0x3f)) {
    case Opcode::data_in: {
      const bool with_status = (flags & 0x01) != 0;
      note_numbers(path, head, with_status);
      if (flight == nullptr) return {};
      flight->got += static_cast<std::uint32_t>(data);
      if (with_status)
        end(head[3] != 0 ? std::uint32_t{head[3]} << 24 : flight->got == flight->bytes ? 0 : short_answer);
      return {};
    }
    case Opcode::scsi_response: {
      note_numbers(path, head, true);
      if (flight == nullptr) return {};
      if (head[2] != 0) return end(not_delivered), Outcome<void>{};
      const std::uint32_t status = std::uint32_t{head[3]} << 24;
      const bool all = flight->op != Op::read || flight->got == flight->bytes;
      end(status != 0 ? status | sense_of(head + header_bytes, data) : all ? 0 : short_answer);
      return {};
    }
    case Opcode::nop_in: {
      note_numbers(path, head, tag != no_tag);
      if (tag != no_tag) return end(0), Outcome<void>{};
      if (load32(head + at::ttt) == no_tag) return {};
      const std::array<std::uint8_t, 8> lun{head[8],  head[9],  head[10], head[11],
                                            head[12], head[13], head[14], head[15]};
      const std::uint32_t ttt = load32(head + at::ttt);
      std::uint8_t* pong = header(index, 0x40, final_bit, no_tag);
      std::memcpy(pong + at::lun, lun.data(), lun.size());
      store32(pong + at::ttt, ttt);
      store32(pong + at::cmd_sn, path.cmd_sn);
      return {};
    }
    case Opcode::r2t: {
      note_numbers(path, head, false);
      const std::uint32_t offset = load32(head + 40);
      const std::uint32_t bytes = load32(head + 44);
      if (flight == nullptr || flight->op != Op::write || bytes > flight->bytes || offset > flight->bytes - bytes)
        return fail(Reason::unexpected_pdu, "R2T for data that is not to be written");
      send_data(index, *flight, load32(head + at::ttt), offset, bytes);
      return {};
    }
    case Opcode::async_message:
      note_numbers(path, head, true);
      if (head[36] == 1 || head[36] == 4) path.drop = true;
      if (head[36] >= 1 && head[36] <= 4) return fail(Reason::async_drop, "the target ends the session");
      return {};
    case Opcode::reject: return fail(Reason::rejected, "the target rejects a PDU: " + reject_words(head[2]));
    default: return fail(Reason::unexpected_pdu, opcode_name(head[0] & 0x3f));
  }
}

Outcome<Bytes> IscsiEngine::read(std::uint64_t offset, std::uint32_t bytes) {
  Limits limits;
  limits.timeout = duration(timeout_s_);
  limits.stop = stop_;
  Session session(where_.address, limits);
  if (auto connected = session.connect(); !connected) return tl::unexpected(connected.error());
  LoginOffer offer{where_.initiator, where_.target, where_.chap, random_isid(), 262144, true};
  if (auto in = session.login(offer); !in) return tl::unexpected(in.error());
  auto answer = session.command(where_.lun, scsi::read16(offset / block_bytes_, bytes / block_bytes_), bytes);
  for (int tries = 0; !answer && scsi::is_unit_attention(answer.error()) && tries < 8; ++tries)
    answer = session.command(where_.lun, scsi::read16(offset / block_bytes_, bytes / block_bytes_), bytes);
  session.logout(io::Clock::now() + duration(1));
  if (!answer) return tl::unexpected(answer.error());
  return std::move(answer->data);
}

// Sent and, for a second, waited for: what the target still answers before is passed over.
void IscsiEngine::log_out(std::uint32_t index) {
  Socket& socket = sockets_.list[index];
  std::uint8_t* head = header(index, 0x46, final_bit, 1);
  store32(head + at::cmd_sn, paths_[index].cmd_sn);
  if (!socket.flush()) return;
  const std::uint64_t limit = now_ns() + 1'000'000'000;
  while (now_ns() < limit) {
    const auto got = socket.receive(true);
    if (!got) return;
    while (socket.size() >= header_bytes) {
      const std::uint8_t* pdu = socket.data();
      const std::size_t size = header_bytes + std::size_t{pdu[4]} * 4 +
                               padded(std::size_t{pdu[5]} << 16 | std::size_t{pdu[6]} << 8 | pdu[7]);
      const bool ended = (pdu[0] & 0x3f) == static_cast<std::uint8_t>(Opcode::logout_response);
      if (ended) return;
      if (socket.size() < size) break;
      socket.take(size);
    }
  }
}

void IscsiEngine::close() {
  for (std::uint32_t i = 0; i < paths_.size(); ++i) {
    if (paths_[i].skip == 0) log_out(i);
  }
  paths_.clear();
  sockets_.list.clear();
  flights_.clear();
}

std::string IscsiEngine::error_text(std::uint32_t error) const {
  if (error == short_answer) return "fewer bytes than asked for";
  if (error == not_delivered) return "the target could not deliver the command";
  return error >> 24 == 2 ? scsi::sense_words(error) : fmt::format("SCSI status 0x{:02x}", error >> 24);
}

std::optional<double> IscsiEngine::rtt_us() const {
  if (sockets_.list.empty()) return std::nullopt;
  const auto facts = tcp_facts_of(sockets_.list.front().fd());
  if (!facts) return std::nullopt;
  return facts->rtt_us;
}

}  // namespace load
