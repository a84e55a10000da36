// The texts and messages of the network probe on any bytes; an address that is read comes out as text that is the same
// address.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "probes/host/hex_lines.h"
#include "probes/host/interfaces.h"
#include "probes/host/net_tcp.h"
#include "probes/host/network_join.h"
#include "probes/host/routes.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

void same_address_again(const probes::Address& address) {
  const auto again = probes::parse_address(probes::text_of(address));
  require(again && again->bytes == address.bytes);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const auto& row : probes::parse_net_tcp(text).facts) {
    same_address_again(row.peer);
    require(!probes::socket_of(row).state.empty());
  }
  const auto routes = probes::parse_route(text);
  for (const auto& route : routes.facts) {
    require(route.prefix >= 96 && route.prefix <= 128);
    (void)probes::route_to(route.destination, routes.facts);
  }
  for (const auto& route : probes::parse_ipv6_route(text).facts) require(route.prefix <= 128);
  for (const auto& address : probes::parse_fib_trie(text).facts) same_address_again(address);
  (void)probes::parse_if_inet6(text);
  (void)probes::parse_bonding(text);
  (void)probes::parse_net_dev(text);
  // As the text that a capture holds, and as the bytes themselves.
  (void)probes::parse_sock_diag(text);
  (void)probes::parse_route_answer(text);
  const auto hex = probes::hex_of_bytes(text);
  require(probes::bytes_of_hex(hex) == text);
  (void)probes::parse_sock_diag(hex);
  (void)probes::parse_route_answer(hex);
  return 0;
}
