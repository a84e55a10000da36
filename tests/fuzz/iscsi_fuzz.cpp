// iSCSI: a stream of PDUs gives the same PDUs and the same end whether it comes at once or byte by byte; a login fed
// with any responses ends; texts, portals and binary values hold their bounds. The first byte chooses digests.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "probes/wire/iscsi_login.h"
#include "probes/wire/iscsi_pdu.h"
#include "probes/wire/iscsi_text.h"
#include "tests/fuzz/wire_check.h"

namespace {

using namespace wire;
using namespace wire::iscsi;

struct Read {
  std::vector<Pdu> pdus;
  std::optional<Failure> failure;
};

Read read(View bytes, std::size_t step, Digests digests) {
  Read out;
  PduReader reader({4096, PduReader::From::target});
  reader.set_digests(digests);
  for (std::size_t at = 0; at < bytes.size() && !out.failure; at += step) {
    reader.feed(bytes.subspan(at, std::min(step, bytes.size() - at)));
    while (true) {
      auto pdu = reader.next();
      if (!pdu) {
        out.failure = pdu.error();
        break;
      }
      if (!*pdu) break;
      require((*pdu)->data.size() <= 4096 && (*pdu)->ahs.size() <= 1020);
      out.pdus.push_back(std::move(**pdu));
    }
  }
  return out;
}

void log_in(const std::vector<Pdu>& responses, bool chap) {
  LoginOffer offer;
  offer.initiator_name = "iqn.2024-01.test:fuzz";
  offer.target_name = "iqn.2024-01.test:disk";
  if (chap) offer.chap = ChapSecrets{"alice", "secretsecret12", "mutualsecret12"};
  Login login(offer);
  std::uint32_t tag = login.first().itt();
  for (auto response : responses) {
    response.set_u32(at::itt, tag);
    const auto next = login.take(response);
    if (!next) {
      require(!next.error().detail.empty());
      break;
    }
    if (!*next) break;
    tag = (*next)->itt();
    require((*next)->data.size() <= 8192);
  }
  require(login.result().exchanges <= 32);
  for (const auto& row : login.result().keys) require(row.key != "CHAP_R" && row.key != "CHAP_C");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const Digests digests{(data[0] & 1) != 0, (data[0] & 2) != 0};
  const View bytes(data + 1, size - 1);
  const Read whole = read(bytes, bytes.size() + 1, digests);
  const Read slow = read(bytes, 1, digests);
  require(whole.pdus == slow.pdus);
  require(whole.failure.has_value() == slow.failure.has_value());
  // At once, more of the stream can be shown; the reason is the same.
  if (whole.failure) require(whole.failure->reason == slow.failure->reason);
  for (const auto& pdu : whole.pdus) {
    const Read again = read(encode(pdu, digests), size + 64, digests);
    require(again.pdus.size() == 1 && again.pdus[0].data == pdu.data);
  }
  log_in(whole.pdus, (data[0] & 4) != 0);
  if (const auto keys = checked(decode_text(bytes))) {
    require(keys->size() <= most_keys);
    require(checked(decode_text(encode_text(*keys))) == keys);
    (void)decode_send_targets(*keys);
  }
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (const auto address = checked(decode_target_address(text)))
    require(checked(decode_target_address(to_text(*address))) == address);
  if (const auto binary = checked(decode_binary(text, 64))) require(!binary->empty() && binary->size() <= 64);
  return 0;
}
