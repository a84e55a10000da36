// The network lock manager (X/Open XNFS chapter 10; version 4: RFC 1813 appendix II). NLM_TEST asks whether a lock
// could be had and takes none; the other calls are for the lock test alone.
#pragma once

#include <cstdint>
#include <string>

#include "probes/wire/rpc.h"

namespace wire::nlm {

// Version 4 with 64-bit offsets. The range is one byte far beyond any file, so that no real lock is in the way.
Call test4(const Bytes& handle, const std::string& owner);

enum class Stat : std::uint32_t {
  granted = 0,
  denied = 1,
  denied_nolocks = 2,
  blocked = 3,
  denied_grace_period = 4,
  deadlck = 5,
  rofs = 6,
  stale_fh = 7,
  fbig = 8,
  failed = 9,
};
Outcome<Stat> decode_test4(View results);

// The first byte of a file, exclusively, without waiting for it. `caller` is the name under which the server's status
// monitor would note us; an unmonitored lock (NLM_NM_LOCK) does without it.
Call lock4(const Bytes& handle, const std::string& caller, const std::string& owner, bool monitored);
Call unlock4(const Bytes& handle, const std::string& caller, const std::string& owner);
Outcome<Stat> decode_result4(View results);  // nlm4_res
std::string stat_name(Stat stat);            // NLM4_GRANTED ...

}  // namespace wire::nlm
