#include "probes/wire/url.h"

#include <fmt/format.h>

#include "audit/base/text.h"
#include "probes/wire/address.h"

namespace wire {
namespace {

tl::unexpected<base::Error> wrong(std::string what) { return base::fail(base::ErrorKind::usage, "", std::move(what)); }

}  // namespace

base::Result<std::string> percent_decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    const auto byte = base::number<std::uint8_t>(text.substr(i + 1, 2), 16);
    if (!byte || i + 2 >= text.size() || *byte == 0)
      return wrong(fmt::format("\"{}\" is no percent escape", base::escape_control(text.substr(i, 3))));
    out += static_cast<char>(*byte);
    i += 2;
  }
  return out;
}

base::Result<UrlServer> parse_url_server(std::string_view authority, std::uint16_t default_port) {
  if (authority.find_first_of("?#@ \t") != std::string_view::npos) return wrong("a host has none of ? # @ or blanks");
  UrlServer server;
  server.port = default_port;
  std::string_view port_text;
  bool has_port = false;
  if (!authority.empty() && authority.front() == '[') {
    const auto close = authority.find(']');
    if (close == std::string_view::npos) return wrong("the bracket of the IPv6 address is not closed");
    std::string host(authority.substr(1, close - 1));
    const auto zone = host.find("%25");
    if (zone != std::string::npos) host.erase(zone + 1, 2);
    const auto after = authority.substr(close + 1);
    if (!after.empty() && after.front() != ':') return wrong("only a port may follow the address");
    has_port = !after.empty();
    if (has_port) port_text = after.substr(1);
    const auto address = parse_address(host, default_port);
    if (!address) return wrong(address.error().message);
    if (!address->is_v6()) return wrong("brackets are for IPv6 addresses");
    server.name = host;
    server.addr = host;
  } else {
    const auto colon = authority.find(':');
    if (colon != std::string_view::npos && authority.find(':', colon + 1) != std::string_view::npos)
      return wrong("an IPv6 address needs brackets");
    has_port = colon != std::string_view::npos;
    if (has_port) port_text = authority.substr(colon + 1);
    server.name = std::string(authority.substr(0, colon));
    if (server.name.empty()) return wrong("the host is missing");
    if (parse_address(server.name, default_port)) server.addr = server.name;
  }
  if (has_port) {
    const auto port = base::number<std::uint16_t>(port_text);
    if (!port || *port == 0)
      return wrong(fmt::format("\"{}\" is no port from 1 to 65535", base::escape_control(port_text)));
    server.port = *port;
    server.port_given = true;
  }
  return server;
}

}  // namespace wire
