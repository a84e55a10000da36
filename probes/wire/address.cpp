#include "probes/wire/address.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <future>
#include <memory>
#include <thread>

#include "audit/base/text.h"

namespace wire {
namespace {

const sockaddr_in& v4(const sockaddr_storage& s) { return reinterpret_cast<const sockaddr_in&>(s); }
const sockaddr_in6& v6(const sockaddr_storage& s) { return reinterpret_cast<const sockaddr_in6&>(s); }

struct Lookup {
  int error = 0;
  std::vector<Address> found;
};

Lookup look_up(const std::string& host, std::uint16_t port) {
  Lookup lookup;
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  lookup.error = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &list);
  if (lookup.error != 0) return lookup;
  for (const addrinfo* at = list; at != nullptr; at = at->ai_next) {
    if (at->ai_family != AF_INET && at->ai_family != AF_INET6) continue;
    Address address;
    std::memcpy(&address.storage, at->ai_addr, at->ai_addrlen);
    address.size = at->ai_addrlen;
    lookup.found.push_back(address);
  }
  ::freeaddrinfo(list);
  return lookup;
}

}  // namespace

std::uint16_t Address::port() const { return ntohs(is_v6() ? v6(storage).sin6_port : v4(storage).sin_port); }

Address Address::with_port(std::uint16_t port) const {
  Address other = *this;
  if (is_v6()) {
    reinterpret_cast<sockaddr_in6&>(other.storage).sin6_port = htons(port);
  } else {
    reinterpret_cast<sockaddr_in&>(other.storage).sin_port = htons(port);
  }
  return other;
}

std::string Address::host() const {
  char text[INET6_ADDRSTRLEN] = {};
  if (!is_v6()) {
    ::inet_ntop(AF_INET, &v4(storage).sin_addr, text, sizeof text);
    return text;
  }
  ::inet_ntop(AF_INET6, &v6(storage).sin6_addr, text, sizeof text);
  const auto scope = v6(storage).sin6_scope_id;
  if (scope == 0) return text;
  char name[IF_NAMESIZE] = {};
  return fmt::format("{}%{}", text, ::if_indextoname(scope, name) != nullptr ? name : std::to_string(scope));
}

std::string Address::text() const { return host_port(host(), port()); }

std::string host_port(std::string_view host, std::uint32_t port) {
  if (host.find(':') != std::string_view::npos && host.front() != '[') return fmt::format("[{}]:{}", host, port);
  return fmt::format("{}:{}", host, port);
}

base::Result<Address> parse_address(std::string_view host, std::uint16_t port) {
  const std::string where = host_port(host, port);
  Address address;
  const std::string plain(host.substr(0, host.find('%')));
  in_addr four = {};
  if (host.size() == plain.size() && ::inet_pton(AF_INET, plain.c_str(), &four) == 1) {
    auto& sin = reinterpret_cast<sockaddr_in&>(address.storage);
    sin.sin_family = AF_INET;
    sin.sin_addr = four;
    sin.sin_port = htons(port);
    address.size = sizeof sin;
    return address;
  }
  auto& sin6 = reinterpret_cast<sockaddr_in6&>(address.storage);
  if (::inet_pton(AF_INET6, plain.c_str(), &sin6.sin6_addr) != 1)
    return base::fail(base::ErrorKind::malformed, where, "not a numeric IPv4 or IPv6 address");
  sin6.sin6_family = AF_INET6;
  sin6.sin6_port = htons(port);
  address.size = sizeof sin6;
  const bool local = IN6_IS_ADDR_LINKLOCAL(&sin6.sin6_addr);
  if (host.size() == plain.size()) {
    if (local)
      return base::fail(base::ErrorKind::usage, where, "a link-local address needs a zone, as in fe80::1%eth0");
    return address;
  }
  const std::string zone(host.substr(plain.size() + 1));
  const auto index = base::number<unsigned>(zone);
  const unsigned scope = index ? *index : ::if_nametoindex(zone.c_str());
  if (scope == 0) return base::fail(base::ErrorKind::absent, where, fmt::format("no interface \"{}\" here", zone));
  // A zone on a global address says nothing; the kernel would refuse it on some releases.
  if (local) sin6.sin6_scope_id = scope;
  return address;
}

base::Result<std::vector<Address>> resolve(const std::string& host, std::uint16_t port, io::Time deadline,
                                           const std::atomic<bool>* stop) {
  auto promise = std::make_shared<std::promise<Lookup>>();
  auto answer = promise->get_future();
  std::thread([promise, host, port] { promise->set_value(look_up(host, port)); }).detach();
  constexpr std::chrono::milliseconds look{50};  // at the stop flag
  while (answer.wait_until(stop == nullptr ? deadline : std::min(deadline, io::Clock::now() + look)) !=
         std::future_status::ready) {
    if (stop != nullptr && stop->load()) return base::fail(base::ErrorKind::timeout, host, "ended by a signal");
    if (io::Clock::now() >= deadline)
      return base::fail(base::ErrorKind::timeout, host, "the name was not resolved by the deadline");
  }
  Lookup lookup = answer.get();
  if (lookup.error != 0)
    return base::fail(lookup.error == EAI_AGAIN ? base::ErrorKind::timeout : base::ErrorKind::absent, host,
                      fmt::format("the name does not resolve: {}", ::gai_strerror(lookup.error)));
  if (lookup.found.empty()) return base::fail(base::ErrorKind::absent, host, "the name has no IPv4 or IPv6 address");
  return std::move(lookup.found);
}

}  // namespace wire
