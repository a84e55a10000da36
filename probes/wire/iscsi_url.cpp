#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "audit/base/text.h"
#include "probes/wire/address.h"
#include "probes/wire/ask_iscsi.h"
#include "probes/wire/url.h"

namespace wire {
namespace {

constexpr std::string_view form = "iscsi://[user@]host[:port][/iqn[/lun]], an IPv6 address in brackets";
constexpr std::size_t longest_name = 223;  // RFC 7143 section 4.2.7.1

bool is_name(std::string_view text) {
  if (text.size() > longest_name) return false;
  const bool known =
      (text.starts_with("iqn.") || text.starts_with("eui.") || text.starts_with("naa.")) && text.size() > 4;
  return known && std::all_of(text.begin(), text.end(), [](unsigned char c) {
           return c >= 0x80 || std::isalnum(c) != 0 || c == '-' || c == '.' || c == ':' || c == '_';
         });
}

}  // namespace

base::Result<IscsiUrl> parse_iscsi_url(std::string_view url) {
  constexpr std::string_view scheme = "iscsi://";
  // The text is not repeated: somebody may have put a secret into it.
  const auto wrong = [&](const std::string& what) {
    return base::fail(base::ErrorKind::usage, "", fmt::format("iSCSI URL: {}; expected {}", what, form));
  };
  if (!url.starts_with(scheme)) return wrong("no iscsi:// at its begin");
  std::string_view rest = url.substr(scheme.size());
  IscsiUrl out;
  const auto slash = rest.find('/');
  std::string_view authority = rest.substr(0, slash);
  const auto at = url.substr(scheme.size()).find('@');
  if (at != std::string_view::npos) {
    const std::string_view user = rest.substr(0, at);
    if (user.find_first_of(":%/") != std::string_view::npos)
      return base::fail(base::ErrorKind::usage, "",
                        "a secret does not belong on a command line, where every user can see it: give the user alone, "
                        "and the secret by --chap-secret-file or MOUNTAUDIT_CHAP_SECRET");
    if (user.empty()) return wrong("the user before @ is missing");
    out.user = std::string(user);
    rest.remove_prefix(at + 1);
    authority = rest.substr(0, rest.find('/'));
  }
  auto server = parse_url_server(authority, out.portal.port);
  if (!server) return wrong(server.error().message);
  out.portal.name = std::move(server->name);
  out.portal.addr = std::move(server->addr);
  out.portal.port = server->port;
  const auto path_at = rest.find('/');
  if (path_at != std::string_view::npos && path_at + 1 < rest.size()) {
    auto path = percent_decoded(rest.substr(path_at + 1));
    if (!path) return wrong(path.error().message);
    const auto next = path->find('/');
    out.target = path->substr(0, next);
    if (next != std::string::npos) out.lun = path->substr(next + 1);
    if (!is_name(out.target))
      return wrong(fmt::format("\"{}\" is no name of a target (iqn., eui. or naa.)", base::escape_control(out.target)));
    if (!out.lun.empty() && !iscsi::lun_of_text(out.lun))
      return wrong(
          fmt::format("\"{}\" is no LUN: a number up to 16383, or 0x and 16 digits", base::escape_control(out.lun)));
  }
  out.shown = fmt::format("iscsi://{}", host_port(out.portal.name, out.portal.port));
  if (!out.target.empty()) out.shown += "/" + out.target;
  if (!out.lun.empty()) out.shown += "/" + out.lun;
  return out;
}

}  // namespace wire
