// NFS requests pipelined over one or several TCP connections, which share one session as the kernel's nconnect mounts
// do: READ, WRITE (FILE_SYNC), GETATTR, NULL; NFSv3 and 4.0 to 4.2. Calls are made from a template per operation, where
// xid, offset and size are put in; answers are read where they lie in the buffer.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "probes/load/engine.h"
#include "probes/load/nfs_place.h"
#include "probes/load/socket.h"

namespace load {

class NfsEngine : public Engine {
 public:
  // The place stays with the caller. `null_address`: NULL alone, without a place.
  NfsEngine(NfsPlace* place, const wire::Address& address, std::uint32_t version, double timeout_s);

  wire::Outcome<void> prepare(const Step& step) override;
  unsigned limit() const override { return limit_; }
  unsigned room() const override { return limit_; }
  void submit(const Request& request) override;
  wire::Outcome<void> exchange(std::uint64_t until_ns, std::vector<Completion>& done) override;
  std::string error_text(std::uint32_t error) const override;
  std::optional<double> rtt_us() const;  // of the first connection, as TCP sees it

 private:
  struct Template {
    wire::Bytes record;
    std::size_t sequence_at = 0;  // of the session's sequence number; 0: no session
    std::size_t offset_at = 0;    // 0: no data
    std::size_t count_at = 0;
  };
  struct Flight {
    std::uint32_t xid = 0;  // 0: nothing under way
    std::uint32_t bytes = 0;
    Op op = Op::read;
  };
  // An answer whose head has been read and whose data is still coming.
  struct Pending {
    std::size_t skip = 0;
    std::optional<Completion> answer;
    wire::Bytes gathered;  // of a record in several fragments
    bool gathering = false;
  };

  Template make(Op op, std::uint32_t bytes) const;
  wire::Outcome<void> readable(std::size_t index, bool wait, std::vector<Completion>& done);
  wire::Outcome<bool> next_record(Socket& socket, Pending& pending, std::uint64_t at, std::vector<Completion>& done);
  wire::Outcome<std::optional<Completion>> decode(const std::uint8_t* head, std::size_t size, std::uint64_t at);
  std::uint32_t result3(const Flight& flight, const std::uint8_t* from, const std::uint8_t* end) const;
  std::uint32_t result4(const Flight& flight, const std::uint8_t* from, const std::uint8_t* end) const;

  NfsPlace* place_;
  wire::Address address_;
  std::uint32_t version_;
  double timeout_s_;
  unsigned limit_ = 1;
  Sockets sockets_;
  std::vector<Pending> pending_;
  std::vector<Flight> flights_;
  std::array<Template, 4> templates_;
  wire::Bytes payload_;
  std::uint64_t stamp_ = 0;
  std::uint32_t turn_ = 0;
  std::uint32_t next_xid_;
};

}  // namespace load
