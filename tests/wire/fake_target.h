// An iSCSI target of ours on 127.0.0.1 with one thin, ALUA disk of 64 MiB. It behaves well unless `intercept` takes a
// request and answers it otherwise: that is how each hostile one is made.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "probes/wire/iscsi_pdu.h"
#include "probes/wire/iscsi_text.h"
#include "tests/wire/peer.h"

namespace wire_test {

struct TargetState {
  std::atomic<int> sessions = 0;  // logged in and neither logged out nor gone
  std::atomic<int> logins = 0;    // that came to the full feature phase
  std::atomic<int> logouts = 0;
  std::atomic<int> dropped = 0;  // connections that ended without a logout, after a login
  std::atomic<int> writes = 0;   // commands that are not known to only read
  std::mutex mutex;
  std::vector<std::string> initiators;             // names
  std::vector<std::array<std::uint8_t, 6>> isids;  // of logins
  wire::iscsi::TextKeys offered;                   // all keys of the last login
};

// One connection as the script sees it.
struct TargetTalk {
  Peer& peer;
  int fd;
  wire::iscsi::PduReader reader;
  wire::iscsi::Digests digests;
  std::uint32_t stat_sn = 100;
  std::uint32_t exp_cmd_sn = 1;

  bool send(const wire::iscsi::Pdu& pdu) const;
  bool send_bytes(wire::View bytes) const { return Peer::send_all(fd, bytes); }
  std::optional<wire::iscsi::Pdu> receive();
  // A response with the numbers that a well-behaved target gives.
  wire::iscsi::Pdu response(wire::iscsi::Opcode opcode, const wire::iscsi::Pdu& request, bool with_status = true);
};

struct FakeTargetSettings {
  static constexpr const char* name = "iqn.2024-01.test:disk";
  std::vector<std::string> names = {name};
  std::vector<std::string> portals;  // told for every target; none: its own address with tag 1
  std::uint16_t tag = 1;
  std::string user;  // CHAP is demanded when it is not empty
  std::string secret;
  std::string mutual_secret;
  wire::iscsi::TextKeys answers;  // of the operational stage; they replace the usual ones
  bool read_only = false;
  bool lun_vanishes = false;      // REPORT LUNS names LUN 0, every command to it ends with 5/2500
  std::uint8_t access_state = 0;  // of its port group
  std::string naa = "6001405aabbccdd00112233445566778";
  // True: it has answered, and the connection goes on. Called for every PDU.
  std::function<bool(TargetTalk&, const wire::iscsi::Pdu&)> intercept;
};

class FakeTarget {
 public:
  explicit FakeTarget(FakeTargetSettings settings = {});
  wire::Address address() const { return peer_->address(); }
  std::string text() const { return peer_->address().text(); }
  TargetState& state() { return *state_; }
  int connections() const { return peer_->connections(); }

 private:
  std::shared_ptr<TargetState> state_ = std::make_shared<TargetState>();
  std::unique_ptr<Peer> peer_;
};

}  // namespace wire_test
