// A small NFS server of ours for the tests that need many, or one that is odd: it answers the questions of the ladder
// from a few settings. Made with the same RPC layer, the other way round.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "tests/wire/peer.h"

namespace wire_test {

struct FakeSettings {
  bool version3 = true;
  std::set<std::uint32_t> minors = {0, 1, 2};
  std::string owner = "fake";
  std::uint64_t owner_minor = 0;
  std::string scope = "scope";
  std::uint32_t slots = 16;
  bool starttls = false;
  int delay_ms = 0;
};

// What a server saw; for counting.
struct FakeState {
  std::atomic<int> calls = 0;
  std::atomic<int> clients = 0;   // client ids that live
  std::atomic<int> sessions = 0;  // sessions that live
  std::atomic<bool> grace = false;
};

// One NFS port.
std::unique_ptr<Peer> fake_nfs(FakeSettings settings, std::shared_ptr<FakeState> state);

struct FakeRegistration {
  std::uint32_t program = 0;
  std::uint32_t version = 0;
  std::uint32_t port = 0;
};
// An rpcbind that lists these over version 2 only; with `dumps` false it refuses DUMP and answers GETPORT.
std::unique_ptr<Peer> fake_rpcbind(std::vector<FakeRegistration> list, bool dumps = true);

// A program that answers NULL of these versions and nothing else.
std::unique_ptr<Peer> fake_null_service(std::uint32_t program, std::set<std::uint32_t> versions);

}  // namespace wire_test
