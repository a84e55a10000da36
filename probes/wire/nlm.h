// The network lock manager (X/Open XNFS chapter 10; version 4: RFC 1813 appendix II) and the status monitor. Only
// NLM_TEST: it asks whether a lock could be had and takes none.
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
std::string stat_name(Stat stat);  // NLM4_GRANTED ...

}  // namespace wire::nlm
