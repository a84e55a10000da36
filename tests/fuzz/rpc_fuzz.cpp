// Record marking and reply headers: a stream gives the same records and the same end whether it comes at once or byte
// by byte.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "probes/wire/rpc.h"
#include "tests/fuzz/wire_check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace wire;
  constexpr RecordReader::Limits limits{4096, 8};
  RecordReader whole(limits);
  std::vector<Bytes> records;
  const auto failure = whole.feed({data, size}, records);
  RecordReader slow(limits);
  std::vector<Bytes> slow_records;
  std::optional<Failure> slow_failure;
  for (std::size_t i = 0; i < size && !slow_failure; ++i) slow_failure = slow.feed({data + i, 1}, slow_records);
  require(records == slow_records);
  require(failure == slow_failure);
  if (!failure) require(whole.inside_record() == slow.inside_record());
  std::size_t total = 0;
  for (const auto& record : records) {
    require(record.size() <= limits.record_bytes);
    total += record.size();
    const auto reply = decode_reply(record);
    if (reply && reply->body) require(reply->body->results.size() + reply->body->verifier.size() <= record.size());
  }
  require(total <= size);
  (void)decode_reply({data, size});
  return 0;
}
