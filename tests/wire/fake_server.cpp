#include "tests/wire/fake_server.h"

#include <algorithm>
#include <string_view>

#include "probes/wire/nfs4.h"

namespace wire_test {
namespace {

using namespace wire;
using nfs4::Op;

Bytes mismatch(std::uint32_t xid, std::uint32_t low, std::uint32_t high) { return accepted_error(xid, 2, {low, high}); }

// Answers one operation; false: its arguments are not understood and the rest of the compound is dropped.
class Compounds {
 public:
  Compounds(const FakeSettings& settings, FakeState& state) : settings_(settings), state_(state) {}

  Bytes answer(const ReceivedCall& call) {
    XdrReader in(call.args);
    in.opaque(1024, "tag");
    const auto minor = in.u32("minor");
    const auto count = in.u32("operations");
    XdrWriter results;
    std::uint32_t done = 0;
    std::uint32_t status = settings_.minors.count(minor) != 0 ? 0 : nfs4::status::minor_vers_mismatch;
    for (std::uint32_t i = 0; i < count && status == 0 && in.ok(); ++i) {
      const auto op = static_cast<Op>(in.u32("operation"));
      results.u32(static_cast<std::uint32_t>(op));
      status = one(op, in, results);
      ++done;
    }
    XdrWriter out;
    out.u32(status).u32(0).u32(done).fixed(results.bytes());
    return success(call.xid, out.bytes());
  }

 private:
  std::uint32_t one(Op op, XdrReader& in, XdrWriter& out) {
    XdrWriter body;
    const std::uint32_t status = act(op, in, body);
    out.u32(status);
    if (status == 0) out.fixed(body.bytes());
    return status;
  }

  std::uint32_t act(Op op, XdrReader& in, XdrWriter& out) {
    switch (op) {
      case Op::putrootfh: return 0;
      case Op::lookup: in.text(255, "name"); return 0;
      case Op::getattr: return getattr(in, out);
      case Op::readdir: return readdir(in, out);
      case Op::secinfo:
        in.text(255, "name");
        out.u32(1).u32(1);
        return 0;
      case Op::lockt:
        in.u32("type");
        in.u64("offset");
        in.u64("length");
        in.u64("client id");
        in.text(1024, "owner");
        return state_.grace ? nfs4::status::grace : in_session_ ? 0U : nfs4::status::stale_clientid;
      case Op::exchange_id:
        ++state_.clients;
        out.u64(7).u32(1).u32(nfs4::use_non_pnfs).u32(0);
        out.u64(settings_.owner_minor).text(settings_.owner).text(settings_.scope).u32(0);
        in.fixed(in.left(), "arguments");
        return 0;
      case Op::create_session:
        ++state_.sessions;
        in.fixed(in.left(), "arguments");
        out.u64(1).u64(2).u32(1).u32(0);
        for (int channel = 0; channel < 2; ++channel)
          out.u32(0).u32(65536).u32(65536).u32(2048).u32(16).u32(settings_.slots).u32(0);
        return 0;
      case Op::sequence: {
        in.fixed(16, "session");
        const auto sequence = in.u32("sequence");
        const auto slot = in.u32("slot");
        in.u32("highest slot");
        in.boolean("cache");
        if (slot >= settings_.slots) return 10053;  // NFS4ERR_BADSLOT
        in_session_ = true;
        out.u64(1).u64(2).u32(sequence).u32(slot).u32(settings_.slots - 1).u32(settings_.slots - 1).u32(0);
        return 0;
      }
      case Op::reclaim_complete: in.boolean("one file system"); return 0;
      case Op::destroy_session:
        in.fixed(16, "session");
        --state_.sessions;
        return 0;
      case Op::destroy_clientid:
        in.u64("client id");
        --state_.clients;
        return 0;
      default: return 10004;
    }
  }

  static std::uint32_t getattr(XdrReader& in, XdrWriter& out) {
    in.words(8, "bitmap");
    XdrWriter values;
    values.u32(30).u64(131072).u64(65536);  // lease_time, maxread, maxwrite
    out.words({1U << 10 | 1U << 30 | 1U << 31}).opaque(values.bytes());
    return 0;
  }

  static std::uint32_t readdir(XdrReader& in, XdrWriter& out) {
    in.u64("cookie");
    in.u64("verifier");
    in.u32("dircount");
    in.u32("maxcount");
    in.words(8, "bitmap");
    XdrWriter type;
    type.u32(1);
    out.u64(0).u32(1).u64(3).text("file").words({2}).opaque(type.bytes()).u32(0).u32(1);
    return 0;
  }

  const FakeSettings& settings_;
  FakeState& state_;
  bool in_session_ = false;
};

}  // namespace

std::unique_ptr<Peer> fake_nfs(FakeSettings settings, std::shared_ptr<FakeState> state) {
  return std::make_unique<Peer>([settings, state](Peer& peer, int fd) {
    ReceivedCall call;
    while (receive_call(fd, call)) {
      ++state->calls;
      if (settings.delay_ms != 0 && !peer.wait_ms(settings.delay_ms)) return;
      const std::uint32_t low = settings.version3 ? 3 : 4;
      const std::uint32_t high = settings.minors.empty() ? 3 : 4;
      Bytes message;
      if (call.flavor == static_cast<std::uint32_t>(AuthFlavor::tls)) {
        XdrWriter out;
        out.u32(call.xid).u32(1).u32(0).u32(0).text("STARTTLS").u32(0);
        message = settings.starttls ? out.take() : denied(call.xid, {1, 2});
      } else if (call.program != program::nfs) {
        message = accepted_error(call.xid, 1);
      } else if (call.version < low || call.version > high) {
        message = mismatch(call.xid, low, high);
      } else if (call.procedure == 0) {
        message = success(call.xid);
      } else if (call.version == 4 && call.procedure == 1) {
        message = Compounds(settings, *state).answer(call);
      } else {
        message = accepted_error(call.xid, 3);
      }
      if (!Peer::send_all(fd, record(message))) return;
    }
  });
}

std::unique_ptr<Peer> fake_rpcbind(std::vector<FakeRegistration> list, bool dumps) {
  return std::make_unique<Peer>(serve([list, dumps](const ReceivedCall& call) {
    if (call.version != 2) return mismatch(call.xid, 2, 2);
    XdrWriter out;
    if (call.procedure == 4 && dumps) {
      for (const auto& entry : list) out.u32(1).u32(entry.program).u32(entry.version).u32(6).u32(entry.port);
      out.u32(0);
      return success(call.xid, out.bytes());
    }
    if (call.procedure == 3) {
      XdrReader in(call.args);
      const auto number = in.u32("program");
      const auto found =
          std::find_if(list.begin(), list.end(), [&](const auto& entry) { return entry.program == number; });
      out.u32(found == list.end() ? 0 : found->port);
      return success(call.xid, out.bytes());
    }
    return denied(call.xid, {1, 1});
  }));
}

std::unique_ptr<Peer> fake_null_service(std::uint32_t program, std::set<std::uint32_t> versions) {
  return std::make_unique<Peer>(serve([program, versions](const ReceivedCall& call) {
    if (call.program != program) return accepted_error(call.xid, 1);
    if (versions.count(call.version) == 0) return mismatch(call.xid, *versions.begin(), *versions.rbegin());
    return call.procedure == 0 ? success(call.xid) : accepted_error(call.xid, 3);
  }));
}

}  // namespace wire_test
