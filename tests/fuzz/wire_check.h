// What holds for every decoder of probes/wire on any bytes: it gives a value or a failure that a decoder may name.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <optional>
#include <utility>

#include "probes/wire/reason.h"

inline void require(bool holds) {
  if (!holds) std::abort();
}

template <class T>
std::optional<T> checked(wire::Outcome<T> outcome) {
  if (outcome) return std::move(*outcome);
  using wire::Reason;
  const Reason reason = outcome.error().reason;
  require(reason == Reason::short_reply || reason == Reason::count_too_large || reason == Reason::bad_value ||
          reason == Reason::status);
  require(!outcome.error().detail.empty());
  return std::nullopt;
}
