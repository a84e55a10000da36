// A file of an NFS server, found by path and held for a measurement: the control connection, the file handle, for 4.1
// and 4.2 the session. It can make a file of its own and removes what it made. Each question has a deadline.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "probes/io/loop.h"
#include "probes/wire/connection.h"
#include "probes/wire/nfs4.h"

namespace load {

struct NfsWhere {
  wire::Address address;  // with the port of NFS
  std::optional<std::uint16_t> mountd_port;
  std::string version;  // 3, 4.0, 4.1, 4.2
  std::string path;     // "/export/file": where the export ends is found out
};

class NfsPlace {
 public:
  struct Options {
    io::Duration timeout = std::chrono::seconds(5);  // one question
    unsigned slots = 128;                            // asked for, with a session
    const std::atomic<bool>* stop = nullptr;
  };

  // Finds the path. Leaves a session on the server until close().
  static wire::Outcome<std::unique_ptr<NfsPlace>> open(const NfsWhere& where, const Options& options);
  ~NfsPlace();  // close()
  NfsPlace(const NfsPlace&) = delete;
  NfsPlace& operator=(const NfsPlace&) = delete;

  // The path is a directory: a new, empty file there, which is the place from now on.
  wire::Outcome<void> create(const std::string& name);
  wire::Outcome<void> remove(const std::string& name);  // in that directory; one that is not there is no error
  void close();                                         // session, client id and the mark in the list of mounts

  const NfsWhere& where() const { return where_; }
  bool has_session() const { return has_session_; }
  unsigned minor() const { return minor_; }
  bool version3() const { return where_.version == "3"; }
  const wire::Bytes& handle() const { return handle_; }
  std::uint64_t size() const { return size_; }
  bool directory() const { return directory_; }
  const wire::nfs4::StateId& open_state() const { return open_state_; }
  // Of the session: the number of slots that the server granted, and what the next call on each has to say.
  std::vector<std::uint32_t>& sequences() { return sequences_; }
  const wire::nfs4::SessionId& session() const { return session_; }
  std::uint32_t most_request_bytes() const { return fore_.max_request_bytes; }
  std::uint32_t most_response_bytes() const { return fore_.max_response_bytes; }

 private:
  NfsPlace(NfsWhere where, Options options);
  using Compounded = wire::nfs4::CompoundResult;
  wire::Outcome<wire::Bytes> ask(std::shared_ptr<wire::Connection>& connection, wire::Call call);
  wire::Outcome<Compounded> send(const wire::nfs4::Compound& compound);
  template <class Build>
  wire::Outcome<Compounded> in_session(const char* step, Build build);
  wire::Outcome<void> find3();
  wire::Outcome<void> find4();
  wire::Outcome<void> begin_session();
  wire::Outcome<void> create3(const std::string& name);
  wire::Outcome<void> create4(const std::string& name);
  std::shared_ptr<wire::Connection> connect(std::uint16_t port);

  NfsWhere where_;
  Options options_;
  io::Loop loop_;
  std::shared_ptr<wire::Connection> nfs_;
  std::shared_ptr<wire::Connection> mountd_;
  unsigned minor_ = 0;
  std::string mounted_;  // the path given to MNT
  std::string owner_;
  std::optional<std::uint64_t> client_id_;
  bool has_session_ = false;
  wire::nfs4::SessionId session_ = {};
  wire::nfs4::Channel fore_;
  std::vector<std::uint32_t> sequences_;
  wire::Bytes handle_;
  wire::Bytes parent_;  // of a file that was made here
  wire::nfs4::StateId open_state_ = {};
  std::optional<wire::nfs4::StateId> delegation_;
  bool opened_ = false;
  std::uint64_t size_ = 0;
  bool directory_ = false;
};

// "mountaudit-latency-" and a number of its own.
std::string own_file_name();

}  // namespace load
