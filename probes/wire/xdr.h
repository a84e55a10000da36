// XDR, RFC 4506: big-endian words, opaques padded to four bytes. The reader never reads past its bytes and never
// allocates by a count that the bytes cannot hold; after the first error it gives zeros and keeps the error.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "probes/wire/reason.h"

namespace wire {

using Bytes = std::vector<std::uint8_t>;
using View = std::span<const std::uint8_t>;

class XdrWriter {
 public:
  XdrWriter& u32(std::uint32_t value);
  XdrWriter& u64(std::uint64_t value);
  XdrWriter& boolean(bool value) { return u32(value ? 1 : 0); }
  XdrWriter& fixed(View bytes);   // opaque[n]: no length in front
  XdrWriter& opaque(View bytes);  // opaque<>
  XdrWriter& text(std::string_view text);
  XdrWriter& words(const std::vector<std::uint32_t>& values);  // unsigned<>
  std::size_t size() const { return out_.size(); }
  void patch_u32(std::size_t at, std::uint32_t value);
  const Bytes& bytes() const { return out_; }
  Bytes take() { return std::move(out_); }

 private:
  Bytes out_;
};

class XdrReader {
 public:
  explicit XdrReader(View bytes) : left_(bytes) {}

  // `what` names the item in the failure; it must outlive the reader (a literal).
  std::uint32_t u32(const char* what);
  std::uint64_t u64(const char* what);
  bool boolean(const char* what);  // anything but 0 and 1 is bad_value
  View fixed(std::size_t size, const char* what);
  View opaque(std::size_t max, const char* what);
  std::string text(std::size_t max, const char* what);
  // The length of an array whose elements take at least `least` bytes each.
  std::uint32_t count(std::size_t max, std::size_t least, const char* what);
  std::vector<std::uint32_t> words(std::size_t max, const char* what);

  bool ok() const { return !failure_; }
  std::size_t left() const { return left_.size(); }
  View rest() const { return left_; }
  void fail(Reason reason, std::string detail);  // the first one is kept
  Failure failure() const { return failure_.value_or(Failure{}); }

  template <class T>
  Outcome<T> done(T value) const {
    if (failure_) return tl::unexpected<Failure>(*failure_);
    return value;
  }

 private:
  View left_;
  std::optional<Failure> failure_;
};

}  // namespace wire
