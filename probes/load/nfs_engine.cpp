#include "probes/load/nfs_engine.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "probes/load/payload.h"
#include "probes/wire/nfs3.h"

namespace load {
namespace {

using namespace wire;

constexpr std::size_t head_bytes = 1024;  // of an answer: everything before the data of a READ
constexpr std::size_t most_record = std::size_t{4} << 20;
constexpr unsigned slot_bits = 10;  // of the xid: the slot; the rest counts
constexpr unsigned most_depth = 1U << slot_bits;
constexpr std::uint32_t last_fragment = 0x80000000;

// Errors of ours among the protocol's own numbers, which are far smaller.
constexpr std::uint32_t short_answer = 0xffff0001;  // fewer bytes than asked for
constexpr std::uint32_t no_answer = 0xffff0002;     // the record ends before its content does
constexpr std::uint32_t accept_error = 0xfffe0000;  // | accept_stat
constexpr std::uint32_t denied_error = 0xfffd0000;  // | auth_stat

std::uint32_t load32(const std::uint8_t* at) {
  return std::uint32_t{at[0]} << 24 | std::uint32_t{at[1]} << 16 | std::uint32_t{at[2]} << 8 | at[3];
}
void store32(std::uint8_t* at, std::uint32_t value) {
  at[0] = static_cast<std::uint8_t>(value >> 24);
  at[1] = static_cast<std::uint8_t>(value >> 16);
  at[2] = static_cast<std::uint8_t>(value >> 8);
  at[3] = static_cast<std::uint8_t>(value);
}

// Words of an answer, inline: this runs once for every request. Past the end it gives zeros and says so.
class Words {
 public:
  Words(const std::uint8_t* from, const std::uint8_t* end) : at_(from), end_(end) {}
  std::uint32_t next() {
    if (end_ - at_ < 4) {
      ok_ = false;
      return 0;
    }
    const std::uint32_t value = load32(at_);
    at_ += 4;
    return value;
  }
  void skip(std::size_t bytes) {
    bytes = (bytes + 3) & ~std::size_t{3};
    if (static_cast<std::size_t>(end_ - at_) < bytes) {
      ok_ = false;
      at_ = end_;
    } else {
      at_ += bytes;
    }
  }
  bool ok() const { return ok_; }
  const std::uint8_t* at() const { return at_; }

 private:
  const std::uint8_t* at_;
  const std::uint8_t* end_;
  bool ok_ = true;
};

std::size_t padded(std::size_t size) { return (size + 3) & ~std::size_t{3}; }

}  // namespace

NfsEngine::NfsEngine(NfsPlace* place, const Address& address, std::uint32_t version, double timeout_s)
    : place_(place),
      address_(address),
      version_(version),
      timeout_s_(timeout_s),
      next_xid_(static_cast<std::uint32_t>(now_ns()) | 1) {}

// The arguments of READ end with count; those of WRITE with stability and length, before them the offset.
NfsEngine::Template NfsEngine::make(Op op, std::uint32_t bytes) const {
  Call call;
  Template out;
  std::size_t sequence_in_args = 0;
  std::size_t offset_from_end = 0;
  if (op == Op::null) {
    call = nfs3::null(version_);
  } else if (version_ == 3) {
    call = op == Op::read    ? nfs3::read(place_->handle(), 0, bytes)
           : op == Op::write ? nfs3::write(place_->handle(), 0, bytes)
                             : nfs3::getattr(place_->handle());
    offset_from_end = op == Op::read ? 12 : op == Op::write ? 20 : 0;
  } else {
    nfs4::Compound compound(place_->minor());
    if (place_->has_session()) {
      compound.sequence(place_->session(), 0, 0, static_cast<std::uint32_t>(place_->sequences().size()) - 1);
      sequence_in_args = 12 + 4 + place_->session().size();  // tag, minor, count; operation, session
    }
    compound.putfh(place_->handle());
    if (op == Op::read) compound.read({}, 0, bytes);  // the anonymous state id: no OPEN is needed to read
    if (op == Op::write) compound.write(place_->open_state(), 0, bytes);
    if (op == Op::getattr) compound.getattr({nfs4::attr::type, nfs4::attr::size, nfs4::attr::fsid});
    call = compound.call();
    offset_from_end = op == Op::read ? 12 : op == Op::write ? 16 : 0;
  }
  call.sys.uid = ::geteuid();
  call.sys.gid = ::getegid();
  out.record = encode_call(0, call);
  if (sequence_in_args != 0) out.sequence_at = out.record.size() - call.args.size() + sequence_in_args;
  if (offset_from_end != 0) out.offset_at = out.record.size() - offset_from_end;
  if (op == Op::write)
    store32(out.record.data(), last_fragment | static_cast<std::uint32_t>(out.record.size() - 4 + padded(bytes)));
  return out;
}

Outcome<void> NfsEngine::prepare(const Step& step) {
  if (step.depth > most_depth) return fail(Reason::not_asked, fmt::format("a depth over {}", most_depth));
  limit_ = step.depth;
  if (place_ != nullptr && place_->has_session() && step.pattern.op != Op::null) {
    limit_ = std::min(limit_, static_cast<unsigned>(place_->sequences().size()));
    const std::uint32_t most = std::min(place_->most_request_bytes(), place_->most_response_bytes());
    if (step.block_bytes + 512 > most)
      return fail(Reason::not_asked, fmt::format("the session allows messages of {} bytes", most));
  }
  const bool broken = std::any_of(flights_.begin(), flights_.end(), [](const Flight& one) { return one.xid != 0; });
  if (broken || sockets_.list.size() != step.connections) {
    sockets_.list.clear();
    for (unsigned i = 0; i < step.connections; ++i) {
      auto socket = Socket::connect(address_, true, timeout_s_);
      if (!socket) return tl::unexpected(socket.error());
      sockets_.list.push_back(std::move(*socket));
    }
    pending_.assign(step.connections, {});
  }
  flights_.assign(step.depth, {});
  for (const Op op : {Op::read, Op::write, Op::null, Op::getattr}) {
    const bool needed = op == step.pattern.op || (op == Op::write && step.pattern.writes());
    templates_[static_cast<std::size_t>(op)] = needed ? make(op, step.block_bytes) : Template{};
  }
  if (step.pattern.writes() && payload_.size() < step.block_bytes) {
    payload_.resize(step.block_bytes);
    fill_payload(payload_.data(), payload_.size());
  }
  return {};
}

void NfsEngine::submit(const Request& request) {
  Template& from = templates_[static_cast<std::size_t>(request.op)];
  next_xid_ += 1U << slot_bits;
  Flight& flight = flights_[request.slot];
  flight.xid = (next_xid_ & ~(most_depth - 1)) | request.slot;
  if (flight.xid == 0) flight.xid = most_depth;  // 0 marks a free slot
  flight.bytes = request.bytes;
  flight.op = request.op;
  Socket& socket = sockets_.list[turn_++ % sockets_.list.size()];
  const std::size_t data = request.op == Op::write ? padded(request.bytes) : 0;
  std::uint8_t* out = socket.append(from.record.size() + data);
  std::memcpy(out, from.record.data(), from.record.size());
  store32(out + 4, flight.xid);
  if (from.offset_at != 0) {
    store32(out + from.offset_at, static_cast<std::uint32_t>(request.offset >> 32));
    store32(out + from.offset_at + 4, static_cast<std::uint32_t>(request.offset));
  }
  if (from.sequence_at != 0) {
    store32(out + from.sequence_at, place_->sequences()[request.slot]++);
    store32(out + from.sequence_at + 4, request.slot);
  }
  if (data != 0) {
    std::uint8_t* to = out + from.record.size();
    std::memcpy(to, payload_.data(), request.bytes);
    stamp_payload(to, request.bytes, request.offset, ++stamp_);
  }
}

Outcome<void> NfsEngine::exchange(std::uint64_t until_ns, std::vector<Completion>& done) {
  return sockets_.exchange(until_ns, [&](std::size_t index, bool wait) { return readable(index, wait, done); });
}

Outcome<void> NfsEngine::readable(std::size_t index, bool wait, std::vector<Completion>& done) {
  Socket& socket = sockets_.list[index];
  const auto got = socket.receive(wait);
  if (!got) return tl::unexpected(got.error());
  if (!*got) return {};
  const std::uint64_t at = now_ns();
  while (true) {
    const auto more = next_record(socket, pending_[index], at, done);
    if (!more) return tl::unexpected(more.error());
    if (!*more) return {};
  }
}

// Takes one step through what came; false when more is needed for the next.
Outcome<bool> NfsEngine::next_record(Socket& socket, Pending& pending, std::uint64_t at,
                                     std::vector<Completion>& done) {
  if (pending.skip != 0) {
    const std::size_t taken = std::min(pending.skip, socket.size());
    socket.take(taken);
    pending.skip -= taken;
    if (pending.skip != 0) return false;
    if (pending.answer) {
      pending.answer->at_ns = at;
      done.push_back(*pending.answer);
      pending.answer.reset();
    }
    return true;
  }
  if (socket.size() < 4) return false;
  const std::uint32_t word = load32(socket.data());
  const std::size_t size = word & ~last_fragment;
  const bool last = (word & last_fragment) != 0;
  if (size > most_record) return fail(Reason::fragment_too_large, fmt::format("a fragment of {} bytes", size));
  if (!last || pending.gathering) {
    // Rare: no server that is known cuts its answers. The head is gathered, the rest is passed over.
    const std::size_t wanted = std::min(size, head_bytes);
    if (socket.size() < 4 + wanted) return false;
    if (pending.gathered.size() < head_bytes)
      pending.gathered.insert(pending.gathered.end(), socket.data() + 4, socket.data() + 4 + wanted);
    socket.take(4 + wanted);
    pending.skip = size - wanted;
    pending.gathering = !last;
    if (!last) return true;
    auto answer = decode(pending.gathered.data(), pending.gathered.size(), at);
    pending.gathered.clear();
    if (!answer) return tl::unexpected(answer.error());
    if (*answer && pending.skip == 0) done.push_back(**answer);
    if (pending.skip != 0) pending.answer = *answer;
    return true;
  }
  const std::size_t head = std::min(size, head_bytes);
  if (socket.size() < 4 + head) return false;
  auto answer = decode(socket.data() + 4, head, at);
  if (!answer) return tl::unexpected(answer.error());
  const std::size_t here = std::min(size, socket.size() - 4);
  socket.take(4 + here);
  pending.skip = size - here;
  if (pending.skip != 0) {
    pending.answer = *answer;
  } else if (*answer) {
    done.push_back(**answer);
  }
  return pending.skip == 0;
}

// Nothing for an answer to no call of ours.
Outcome<std::optional<Completion>> NfsEngine::decode(const std::uint8_t* head, std::size_t size, std::uint64_t at) {
  Words in(head, head + size);
  const std::uint32_t xid = in.next();
  if (in.next() != 1 || !in.ok()) return fail(Reason::not_rpc, "a message that is no RPC reply");
  const std::uint32_t slot = xid & (most_depth - 1);
  if (slot >= flights_.size() || flights_[slot].xid != xid) return std::nullopt;
  Flight& flight = flights_[slot];
  flight.xid = 0;
  Completion answer{slot, 0, at};
  if (in.next() != 0) {  // denied: what, then why
    in.next();
    answer.error = denied_error | (in.next() & 0xffff);
    return answer;
  }
  in.next();  // flavour of the verifier
  in.skip(in.next());
  const std::uint32_t accept = in.next();
  if (!in.ok()) {
    answer.error = no_answer;
  } else if (accept != 0) {
    answer.error = accept_error | (accept & 0xffff);
  } else if (flight.op != Op::null) {
    answer.error = version_ == 3 ? result3(flight, in.at(), head + size) : result4(flight, in.at(), head + size);
  }
  return answer;
}

std::uint32_t NfsEngine::result3(const Flight& flight, const std::uint8_t* from, const std::uint8_t* end) const {
  Words in(from, end);
  const std::uint32_t status = in.next();
  if (status != 0 || flight.op == Op::getattr) return in.ok() ? status : no_answer;
  if (flight.op == Op::write && in.next() != 0) in.skip(24);  // attributes before
  if (in.next() != 0) in.skip(84);                            // fattr3
  const std::uint32_t count = in.next();
  if (!in.ok()) return no_answer;
  return count == flight.bytes ? 0 : short_answer;
}

std::uint32_t NfsEngine::result4(const Flight& flight, const std::uint8_t* from, const std::uint8_t* end) const {
  Words in(from, end);
  const std::uint32_t status = in.next();
  in.skip(in.next());  // tag
  in.next();           // number of results
  if (status != 0) return in.ok() ? status : no_answer;
  if (place_->has_session()) in.skip(8 + 36);  // SEQUENCE and its result
  in.skip(8);                                  // PUTFH
  in.skip(8);                                  // the operation
  if (flight.op == Op::getattr) return in.ok() ? 0 : no_answer;
  if (flight.op == Op::read) in.next();  // end of file
  const std::uint32_t count = in.next();
  if (!in.ok()) return no_answer;
  return count == flight.bytes ? 0 : short_answer;
}

std::string NfsEngine::error_text(std::uint32_t error) const {
  if (error == short_answer) return "fewer bytes than asked for";
  if (error == no_answer) return "an answer that is too short";
  if ((error & 0xffff0000) == accept_error) return fmt::format("RPC accept_stat {}", error & 0xffff);
  if ((error & 0xffff0000) == denied_error) return fmt::format("RPC denied: {}", auth_stat_name(error & 0xffff));
  return version_ == 3 ? nfs3::status_name(error) : nfs4::status_name(error);
}

std::optional<double> NfsEngine::rtt_us() const {
  if (sockets_.list.empty()) return std::nullopt;
  const auto facts = tcp_facts_of(sockets_.list.front().fd());
  if (!facts) return std::nullopt;
  return facts->rtt_us;
}

}  // namespace load
