// One iSCSI session of one connection, asked one thing at a time: connect, login, SendTargets, SCSI commands that read,
// NOP, logout. Each call ends by its deadline whatever the target does: it waits in poll(2) and never reconnects. SCSI
// goes over the session whose parameters were just negotiated rather than over libiscsi, which never offers data
// digests, hides the login values, and spins when a target keeps dropping it (1.19).
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "probes/io/loop.h"
#include "probes/wire/address.h"
#include "probes/wire/connection.h"
#include "probes/wire/iscsi_login.h"
#include "probes/wire/iscsi_pdu.h"
#include "probes/wire/iscsi_text.h"
#include "probes/wire/reason.h"

namespace wire::iscsi {

struct Limits {
  io::Duration timeout = std::chrono::seconds(2);  // one question
  io::Time end = io::Time::max();                  // of all of them
  const std::atomic<bool>* stop = nullptr;         // when it becomes true, what is awaited ends with not_asked
};

using Lun = std::array<std::uint8_t, 8>;  // SAM-5 section 4.7
using Cdb = std::array<std::uint8_t, 16>;

struct ScsiAnswer {
  Bytes data;
  io::Duration took = {};
};

// Sense data of the last command that ended with CHECK CONDITION, as it came (SPC-4 section 4.5).
struct ScsiStatus {
  std::uint8_t status = 0;
  Bytes sense;
};

// A session that goes on in other hands: the descriptor, and what the next PDU has to say.
struct Released {
  int fd = -1;
  std::uint32_t cmd_sn = 1;
  std::uint32_t exp_stat_sn = 0;
  std::uint32_t exp_cmd_sn = 0;
  std::uint32_t max_cmd_sn = 0;
  LoginResult login;
};

class Session {
 public:
  Session(const Address& peer, Limits limits);
  ~Session();  // closes; a session that was not logged out ends with its connection
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  Outcome<void> connect();
  Outcome<void> login(const LoginOffer& offer);
  const LoginResult& login_result() const { return result_; }

  Outcome<SendTargets> send_targets();
  // Reads at most `read_bytes`. Failure scsi_status: see last_status(); other failures end the session.
  Outcome<ScsiAnswer> command(const Lun& lun, const Cdb& cdb, std::uint32_t read_bytes);
  const ScsiStatus& last_status() const { return status_; }
  Outcome<io::Duration> ping();  // NOP-Out and the NOP-In that answers it
  // Closes the session, then the connection. It may be asked past Limits::end, until `until`, so that nothing is left
  // behind.
  Outcome<void> logout(io::Time until);
  void close();
  // Gives the session away, for who sends many commands at once: the caller logs out and closes. Not while a part of a
  // PDU has come.
  Outcome<Released> release();

  bool logged_in() const { return logged_in_; }
  const std::optional<Failure>& broken() const { return broken_; }
  std::optional<io::Duration> connect_took() const { return connect_took_; }
  std::optional<io::Duration> login_took() const { return login_took_; }
  std::string local_address() const;
  std::optional<TcpFacts> tcp_facts() const;
  std::uint32_t command_window() const;  // commands that the target takes at once: MaxCmdSN - ExpCmdSN + 1

 private:
  io::Time question_deadline() const;
  Outcome<void> wait_for(short events, io::Time deadline, Reason late, const char* what);
  Outcome<void> send(const Pdu& pdu, io::Time deadline);
  Outcome<Pdu> receive(io::Time deadline);
  Outcome<Pdu> answer_to(std::uint32_t itt, io::Time deadline);
  std::optional<Failure> take_unasked(const Pdu& pdu, io::Time deadline);
  void note_numbers(const Pdu& pdu);
  Outcome<void> open_window(io::Time deadline);
  std::uint32_t next_tag();
  tl::unexpected<Failure> breaks(Failure failure);

  Address peer_;
  Limits limits_;
  int fd_ = -1;
  bool logged_in_ = false;
  std::optional<Failure> broken_;
  std::optional<io::Duration> connect_took_;
  std::optional<io::Duration> login_took_;
  LoginResult result_;
  PduReader reader_;
  Digests digests_;
  ScsiStatus status_;
  std::uint32_t tag_ = 0;
  std::uint32_t cmd_sn_ = 1;
  std::uint32_t exp_stat_sn_ = 0;
  std::uint32_t exp_cmd_sn_ = 0;
  std::uint32_t max_cmd_sn_ = 0;
};

}  // namespace wire::iscsi
