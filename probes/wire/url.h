// The part of a URL that names a server: host and port, as nfs:// and iscsi:// have it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "audit/base/result.h"

namespace wire {

struct UrlServer {
  std::string name;  // as written
  std::string addr;  // the same when it is numeric, a zone may follow; else empty
  std::uint16_t port = 0;
  bool port_given = false;
};

// "host", "192.0.2.1:3260", "[2001:db8::1]:3260", "[fe80::1%25eth0]" (RFC 6874; a bare "%" is taken too). The error is
// the reason alone.
base::Result<UrlServer> parse_url_server(std::string_view authority, std::uint16_t default_port);

// Percent escapes taken off; the error is the reason alone.
base::Result<std::string> percent_decoded(std::string_view text);

}  // namespace wire
