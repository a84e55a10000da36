#include "probes/wire/rpcbind.h"

#include <fmt/format.h>

#include "audit/base/text.h"

namespace wire::rpcbind {
namespace {

constexpr std::size_t max_registrations = 4096;
constexpr std::size_t max_text = 1024;

std::string quoted(std::string_view text) { return base::escape_control(text.substr(0, 64)); }

}  // namespace

Call dump2() { return {program::rpcbind, 2, 4}; }

Call dump(std::uint32_t version) { return {program::rpcbind, version, 4}; }

Call getport(std::uint32_t program, std::uint32_t version) {
  XdrWriter args;
  args.u32(program).u32(version).u32(6).u32(0);  // IPPROTO_TCP
  Call call{wire::program::rpcbind, 2, 3};
  call.args = args.take();
  return call;
}

Outcome<std::vector<Registration>> decode_dump2(View results) {
  XdrReader in(results);
  std::vector<Registration> list;
  while (in.boolean("more registrations") && in.ok()) {
    if (list.size() == max_registrations) {
      in.fail(Reason::count_too_large, fmt::format("over {} registrations", max_registrations));
      break;
    }
    Registration entry;
    entry.program = in.u32("program");
    entry.version = in.u32("version");
    const auto protocol = in.u32("protocol");
    entry.port = in.u32("port");
    if (entry.port > 65535) in.fail(Reason::bad_value, fmt::format("port {}", entry.port));
    entry.netid = protocol == 6 ? "tcp" : protocol == 17 ? "udp" : fmt::format("protocol {}", protocol);
    list.push_back(std::move(entry));
  }
  return in.done(std::move(list));
}

Outcome<std::vector<Registration>> decode_dump(View results) {
  XdrReader in(results);
  std::vector<Registration> list;
  std::size_t seen = 0;
  while (in.boolean("more registrations") && in.ok()) {
    if (++seen > max_registrations) {
      in.fail(Reason::count_too_large, fmt::format("over {} registrations", max_registrations));
      break;
    }
    Registration entry;
    entry.program = in.u32("program");
    entry.version = in.u32("version");
    entry.netid = in.text(max_text, "netid");
    const std::string uaddr = in.text(max_text, "universal address");
    in.text(max_text, "owner");
    if (!in.ok()) break;
    if (entry.netid == "local" || entry.netid == "rdma" || entry.netid == "rdma6") continue;
    const auto port = port_of_uaddr(uaddr);
    if (!port) continue;  // one odd line costs one entry
    entry.port = *port;
    list.push_back(std::move(entry));
  }
  return in.done(std::move(list));
}

Outcome<std::uint32_t> decode_getport(View results) {
  XdrReader in(results);
  const auto port = in.u32("port");
  if (port > 65535) in.fail(Reason::bad_value, fmt::format("port {}", port));
  return in.done(port);
}

Outcome<std::uint32_t> port_of_uaddr(std::string_view uaddr) {
  const auto last = uaddr.rfind('.');
  if (last != std::string_view::npos && last != 0) {
    const auto before = uaddr.rfind('.', last - 1);
    const auto from = before == std::string_view::npos ? 0 : before + 1;
    const auto high = base::number<std::uint8_t>(uaddr.substr(from, last - from));
    const auto low = base::number<std::uint8_t>(uaddr.substr(last + 1));
    if (high && low) return std::uint32_t{*high} << 8 | *low;
  }
  return fail(Reason::bad_value, fmt::format("no port in the universal address \"{}\"", quoted(uaddr)));
}

}  // namespace wire::rpcbind
