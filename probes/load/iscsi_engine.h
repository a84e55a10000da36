// iSCSI requests pipelined over one or several sessions of our own, each with one connection, as several paths of a
// multipath device: READ(16), WRITE(16), TEST UNIT READY, NOP-Out. The target's command window (RFC 7143 section
// 4.2.2.1) is kept: what does not fit is not sent, and does not count as latency. A session that was logged in here is
// logged out at the end.
#pragma once

#include <array>
#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "probes/load/engine.h"
#include "probes/load/socket.h"
#include "probes/wire/iscsi_login.h"
#include "probes/wire/iscsi_session.h"

namespace load {

struct IscsiWhere {
  wire::Address address;
  std::string target;
  wire::iscsi::Lun lun = {};
  std::string initiator;
  std::optional<wire::iscsi::ChapSecrets> chap;
};

class IscsiEngine : public Engine {
 public:
  IscsiEngine(IscsiWhere where, double timeout_s, const std::atomic<bool>* stop);
  ~IscsiEngine() override;  // logs out

  // One session, to see the size and what stands on the LUN. prepare() goes on with it.
  wire::Outcome<void> open();
  std::uint64_t size() const { return blocks_ * block_bytes_; }
  std::uint32_t block_bytes() const { return block_bytes_; }
  wire::Outcome<wire::Bytes> read(std::uint64_t offset, std::uint32_t bytes);  // one alone, before a run
  void close();

  wire::Outcome<void> prepare(const Step& step) override;
  unsigned limit() const override { return limit_; }
  unsigned room() const override;
  void submit(const Request& request) override;
  wire::Outcome<void> exchange(std::uint64_t until_ns, std::vector<Completion>& done) override;
  std::string error_text(std::uint32_t error) const override;
  std::optional<double> rtt_us() const;
  unsigned smallest_window() const;  // of the sessions, as last told

 private:
  struct Path {
    std::uint32_t cmd_sn = 1;
    std::uint32_t exp_stat_sn = 0;
    std::uint32_t exp_cmd_sn = 0;
    std::uint32_t max_cmd_sn = 0;
    std::uint32_t immediate_bytes = 0;  // of data that may go with a WRITE
    std::uint32_t max_send_bytes = 8192;
    std::uint32_t max_burst_bytes = 262144;
    std::size_t skip = 0;     // data still to come
    std::uint32_t ended = 0;  // tag of the command whose last data that is; 0: none
    std::uint32_t ended_error = 0;
    std::uint32_t in_flight = 0;
    bool drop = false;  // the target wants the session ended

    bool open() const { return static_cast<std::int32_t>(max_cmd_sn - cmd_sn) >= 0; }
    unsigned window() const { return open() ? max_cmd_sn - cmd_sn + 1 : 0; }
  };
  struct Flight {
    std::uint32_t tag = 0;  // 0: nothing under way
    std::uint32_t bytes = 0;
    std::uint32_t got = 0;
    std::uint64_t offset = 0;
    Op op = Op::read;
    std::uint32_t path = 0;
  };

  wire::Outcome<wire::iscsi::Released> log_in();
  wire::Outcome<void> add_path(const wire::iscsi::Released& session);
  std::optional<std::uint32_t> choose_path() const;
  std::uint8_t* header(std::uint32_t path, std::uint8_t opcode, std::uint8_t flags, std::uint32_t tag);
  void send_data(std::uint32_t path, Flight& flight, std::uint32_t ttt, std::uint32_t offset, std::uint32_t bytes);
  wire::Outcome<void> readable(std::size_t index, bool wait, std::vector<Completion>& done);
  wire::Outcome<bool> next_pdu(std::uint32_t index, std::uint64_t at, std::vector<Completion>& done);
  wire::Outcome<void> take(std::uint32_t index, const std::uint8_t* head, std::size_t data, std::uint64_t at,
                           std::vector<Completion>& done);
  void note_numbers(Path& path, const std::uint8_t* head, bool with_status);
  void finish(std::uint32_t tag, std::uint32_t error, std::uint64_t at, std::vector<Completion>& done);
  Flight* flight_of(std::uint32_t tag);
  void log_out(std::uint32_t index);

  IscsiWhere where_;
  double timeout_s_;
  const std::atomic<bool>* stop_;
  std::uint64_t blocks_ = 0;
  std::uint32_t block_bytes_ = 512;
  unsigned limit_ = 1;
  Sockets sockets_;
  std::vector<Path> paths_;
  std::vector<Flight> flights_;
  wire::Bytes payload_;
  std::uint64_t stamp_ = 0;
  std::uint32_t turn_ = 0;
  std::uint32_t next_tag_ = 0;
};

}  // namespace load
