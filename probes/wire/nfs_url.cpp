#include <fmt/format.h>

#include "audit/base/text.h"
#include "probes/wire/ask_nfs.h"
#include "probes/wire/url.h"

namespace wire {
namespace {

constexpr std::string_view form = "nfs://host[:port][/export], an IPv6 address in brackets";

}  // namespace

base::Result<NfsTarget> parse_nfs_url(std::string_view url) {
  const std::string shown = base::escape_control(url);
  const auto wrong = [&](const std::string& what) {
    return base::fail(base::ErrorKind::usage, shown, fmt::format("{}; expected {}", what, form));
  };
  constexpr std::string_view scheme = "nfs://";
  if (!url.starts_with(scheme)) return wrong("no nfs:// URL");
  const std::string_view rest = url.substr(scheme.size());
  const auto slash = rest.find('/');
  NfsTarget target;
  auto server = parse_url_server(rest.substr(0, slash), target.port);
  if (!server) return wrong(server.error().message);
  target.name = std::move(server->name);
  target.addr = std::move(server->addr);
  target.port = server->port;
  target.port_given = server->port_given;
  if (slash != std::string_view::npos && slash + 1 < rest.size()) {
    auto path = percent_decoded(rest.substr(slash));
    if (!path) return base::fail(base::ErrorKind::usage, shown, path.error().message);
    target.exports.push_back(std::move(*path));
  }
  return target;
}

}  // namespace wire
