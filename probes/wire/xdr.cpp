#include "probes/wire/xdr.h"

#include <fmt/format.h>

#include <cstring>

namespace wire {

XdrWriter& XdrWriter::u32(std::uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) out_.push_back(static_cast<std::uint8_t>(value >> shift));
  return *this;
}

XdrWriter& XdrWriter::u64(std::uint64_t value) {
  u32(static_cast<std::uint32_t>(value >> 32));
  return u32(static_cast<std::uint32_t>(value));
}

XdrWriter& XdrWriter::fixed(View bytes) {
  out_.insert(out_.end(), bytes.begin(), bytes.end());
  while (out_.size() % 4 != 0) out_.push_back(0);
  return *this;
}

XdrWriter& XdrWriter::opaque(View bytes) {
  u32(static_cast<std::uint32_t>(bytes.size()));
  return fixed(bytes);
}

XdrWriter& XdrWriter::text(std::string_view text) {
  return opaque({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
}

XdrWriter& XdrWriter::words(const std::vector<std::uint32_t>& values) {
  u32(static_cast<std::uint32_t>(values.size()));
  for (const auto value : values) u32(value);
  return *this;
}

void XdrWriter::patch_u32(std::size_t at, std::uint32_t value) {
  for (std::size_t i = 0; i < 4; ++i) out_.at(at + i) = static_cast<std::uint8_t>(value >> (24 - 8 * i));
}

void XdrReader::fail(Reason reason, std::string detail) {
  if (!failure_) failure_ = Failure{reason, std::move(detail)};
  left_ = {};
}

View XdrReader::fixed(std::size_t size, const char* what) {
  if (failure_) return {};
  const std::size_t padded = size + (4 - size % 4) % 4;
  if (padded < size || left_.size() < padded) {
    fail(Reason::short_reply, fmt::format("the message ends inside {}", what));
    return {};
  }
  const View got = left_.first(size);
  left_ = left_.subspan(padded);
  return got;
}

std::uint32_t XdrReader::u32(const char* what) {
  const View bytes = fixed(4, what);
  if (bytes.size() != 4) return 0;
  return std::uint32_t{bytes[0]} << 24 | std::uint32_t{bytes[1]} << 16 | std::uint32_t{bytes[2]} << 8 | bytes[3];
}

std::uint64_t XdrReader::u64(const char* what) {
  const std::uint64_t high = u32(what);
  return high << 32 | u32(what);
}

bool XdrReader::boolean(const char* what) {
  const auto value = u32(what);
  if (value > 1) fail(Reason::bad_value, fmt::format("{} is {}, not a truth value", what, value));
  return value == 1;
}

View XdrReader::opaque(std::size_t max, const char* what) {
  const auto size = u32(what);
  if (size > max) {
    fail(Reason::count_too_large, fmt::format("{} has {} bytes, at most {} are allowed", what, size, max));
    return {};
  }
  return fixed(size, what);
}

std::string XdrReader::text(std::size_t max, const char* what) {
  const View bytes = opaque(max, what);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::uint32_t XdrReader::count(std::size_t max, std::size_t least, const char* what) {
  const auto number = u32(what);
  if (number > max) {
    fail(Reason::count_too_large, fmt::format("{} has {} entries, at most {} are allowed", what, number, max));
    return 0;
  }
  if (number * least > left_.size()) {
    fail(Reason::short_reply, fmt::format("the message ends inside {}", what));
    return 0;
  }
  return number;
}

std::vector<std::uint32_t> XdrReader::words(std::size_t max, const char* what) {
  std::vector<std::uint32_t> values(count(max, 4, what));
  for (auto& value : values) value = u32(what);
  return values;
}

}  // namespace wire
