#include <fmt/format.h>

#include "audit/base/text.h"
#include "cli/describe.h"

namespace cli {

namespace {

using facts::Fact;
using facts::NfsServer;

std::string host_port(const NfsServer& server) {
  const std::string host = server.addr.value_or(server.name);
  return host.find(':') == std::string::npos ? fmt::format("{}:{}", host, server.port)
                                             : fmt::format("[{}]:{}", host, server.port);
}

// "64 KiB", or for both at once where they differ.
std::string sizes_text(const Fact<std::uint64_t>& read, const Fact<std::uint64_t>& write) {
  if (!read.has_value() && !write.has_value()) return "";
  if (read == write) return fmt::format("READ and WRITE up to {}", size_text(*read));
  const auto one = [](const Fact<std::uint64_t>& fact) { return fact.has_value() ? size_text(*fact) : "unknown"; };
  return fmt::format("READ up to {}, WRITE up to {}", one(read), one(write));
}

std::string services_line(const NfsServer& server) {
  std::vector<std::string> parts;
  for (const auto& service : server.services) {
    std::string part = service.program;
    if (service.port.has_value()) part += fmt::format(" {}", *service.port);
    if (service.versions.has_value() && !service.versions->empty()) {
      part += fmt::format(" (v{})", fmt::join(*service.versions, " v"));
    } else if (service.result.is("not_asked")) {
      part += " not asked";
    } else if (service.result.is("not_registered")) {
      part += " not registered";
    } else {
      part += fmt::format(" {}", service.result.value_or("not known"));
    }
    parts.push_back(std::move(part));
  }
  return base::join(parts, ", ");
}

std::string locks_line(const NfsServer& server) {
  std::string grace;
  if (server.in_grace.has_value()) {
    grace = fmt::format("{} ({})", *server.in_grace ? "IN ITS GRACE PERIOD" : "not in grace",
                        server.in_grace_how.value_or(""));
  } else {
    grace = fmt::format("grace not known: {}", server.in_grace_how.value_or("not asked"));
  }
  return listed({grace, server.nlm_test.has_value() ? "NLM_TEST " + *server.nlm_test : "",
                 server.lease_s.has_value() ? fmt::format("lease {} s", *server.lease_s) : "",
                 server.grace_s.has_value() ? fmt::format("grace period {} s", *server.grace_s) : ""});
}

std::string session_line(const NfsServer& server) {
  if (!server.session.has_value()) return "";
  const auto& session = *server.session;
  return fmt::format("NFSv{}: {} slots of {} asked for, requests up to {}, responses up to {}, {} operations each",
                     session.minor, session.slots, session.slots_asked, size_text(session.max_request_bytes),
                     size_text(session.max_response_bytes), session.max_operations);
}

std::string latency_line(const NfsServer& server) {
  const auto one = [](std::string_view name, const Fact<double>& us) {
    return us.has_value() ? fmt::format("{} {}", name, time_text(*us)) : std::string{};
  };
  const auto connect = server.connect_ms.has_value() ? Fact<double>(*server.connect_ms * 1000) : Fact<double>();
  return listed({one("connect", connect), one("NULL p50", server.null_p50_us), one("p99", server.null_p99_us),
                 one("GETATTR p50", server.getattr_p50_us)});
}

std::string path_line(const NfsServer& server) {
  std::string mtu;
  if (server.path_mtu_bytes.has_value()) {
    mtu = fmt::format("MTU {} ({})", *server.path_mtu_bytes,
                      server.path_mtu_how.is("probe") ? "a packet of that size was answered" : "as the kernel has it");
    if (server.path_mtu_lost_bytes.has_value())
      mtu += fmt::format(", PACKETS OF {} BYTES ARE LOST", *server.path_mtu_lost_bytes);
  }
  return listed({server.tcp_rtt_us.has_value() ? "TCP rtt " + time_text(*server.tcp_rtt_us) : "",
                 server.tcp_mss_bytes.has_value() ? fmt::format("MSS {}", *server.tcp_mss_bytes) : "",
                 server.tcp_retrans.has_value() && *server.tcp_retrans != 0
                     ? fmt::format("{} retransmissions", *server.tcp_retrans)
                     : "",
                 mtu});
}

std::string export_text(const facts::NfsExport& item) {
  const auto& flavors = item.secinfo.has_value() && !item.secinfo->empty() ? item.secinfo : item.mnt_flavors;
  std::string space;
  if (item.avail_bytes.has_value() && item.total_bytes.value_or(0) != 0)
    space = fmt::format("{} of {} free", size_text(*item.avail_bytes), size_text(*item.total_bytes));
  return item.path + ": " +
         listed({item.mnt_result.has_value() ? "v3 " + *item.mnt_result : "",
                 item.lookup_result.has_value() ? "v4 " + *item.lookup_result : "",
                 flavors.has_value() && !flavors->empty() ? "sec=" + base::join(*flavors, ":") : "", space});
}

std::string lock_test_text(const facts::NfsLockTest& test) {
  std::string text = fmt::format("NFSv{} in {}: ", test.version, test.directory);
  if (test.result == "ok") {
    text += fmt::format("granted in {}, released in {}", time_text(test.lock_ms.value_or(0) * 1000),
                        time_text(test.unlock_ms.value_or(0) * 1000));
  } else {
    text += test.result + (test.step.has_value() ? " at " + *test.step : "");
    if (test.detail.has_value()) text += ", " + *test.detail;
  }
  if (test.left.has_value()) text += "; LEFT BEHIND: " + *test.left;
  return text;
}

std::string read_test_text(const facts::NfsReadTest& test) {
  if (test.result != "ok")
    return fmt::format("{}: {} by NFSv{}{}", test.path, test.result, test.version,
                       test.detail.has_value() ? ", " + *test.detail : "");
  return fmt::format("{}: {} of {} by NFSv{} in {} (mounted in {})", test.path, size_text(test.bytes.value_or(0)),
                     size_text(test.file_bytes.value_or(0)), test.version, time_text(test.read_ms.value_or(0) * 1000),
                     time_text(test.mount_ms.value_or(0) * 1000));
}

std::string asked_line(const NfsServer& server) {
  std::string left = server.cleaned_up.is(false)  ? "ITS SESSION COULD NOT BE REMOVED, the lease ends it"
                     : server.cleaned_up.is(true) ? "session and client id removed again"
                                                  : "";
  std::string from;
  if (server.asked_from.has_value())
    from = fmt::format("from {}{}", *server.asked_from,
                       server.reserved_port.has_value() && !*server.reserved_port ? ", port above 1023" : "");
  return listed({from,
                 server.calls.has_value() && server.round_trips.has_value()
                     ? fmt::format("{} calls in {} round trips", *server.calls, *server.round_trips)
                     : "",
                 left});
}

}  // namespace

std::string describe_nfs(const NfsServer& server, int width) {
  const bool answers = server.versions.has_value() && !server.versions->empty();
  std::string head = host_port(server);
  if (!server.name.empty() && server.addr.has_value() && server.name != *server.addr) head = server.name + ", " + head;
  if (answers) {
    head += fmt::format("  NFSv{}{}", fmt::join(*server.versions, " v"),
                        server.kind.has_value() ? "  (" + *server.kind + ")" : "");
  } else {
    head += "  does not answer";
    for (const auto& service : server.services) {
      if (service.program == "nfs" && service.detail.has_value())
        head += fmt::format(": {} ({})", *service.detail, service.result.value_or(""));
    }
  }
  std::string out;
  for (const auto& line : base::wrap(base::escape_control(head), width)) out += line + "\n";
  const auto add = [&](std::string_view key, const std::string& text) { add_line(out, key, text, width); };
  add("services", services_line(server));
  if (!answers) return out + "\n";
  const std::string three = sizes_text(server.rtmax_bytes, server.wtmax_bytes);
  const std::string four = sizes_text(server.maxread_bytes, server.maxwrite_bytes);
  if (!three.empty() && three == four) {
    add("transfers", three);
  } else {
    add("transfers", listed({three.empty() ? "" : "v3 " + three, four.empty() ? "" : "v4 " + four}, "; "));
  }
  add("session", session_line(server));
  add("locks", locks_line(server));
  add("security", server.tls_offered.has_value() ? *server.tls_offered ? "TLS offered" : "TLS not offered" : "");
  add("identity", listed({server.owner.has_value() ? "owner " + *server.owner : "",
                          server.scope.has_value() ? "scope " + *server.scope : "",
                          server.impl_name.has_value() ? "implementation " + *server.impl_name : ""}));
  if (server.same_server.has_value() && !server.same_server->empty())
    add("same as", base::join(*server.same_server, ", "));
  if (server.export_list.has_value()) {
    std::vector<std::string> paths;
    for (const auto& entry : *server.export_list) paths.push_back(entry.path);
    constexpr std::size_t most = 8;
    const std::size_t more = paths.size() > most ? paths.size() - most : 0;
    paths.resize(paths.size() - more);
    add("exports", base::join(paths, ", ") + (more > 0 ? fmt::format(" and {} more", more) : ""));
  }
  for (const auto& item : server.exports) add("export", export_text(item));
  add("latency", latency_line(server));
  add("path", path_line(server));
  if (server.lock_tests.has_value())
    for (const auto& test : *server.lock_tests) add("lock test", lock_test_text(test));
  if (server.read_test.has_value()) add("read", read_test_text(*server.read_test));
  if (server.grace_how.has_value())
    add("grace",
        server.grace_s.has_value() ? fmt::format("{} s, {}", *server.grace_s, *server.grace_how) : *server.grace_how);
  add("asked", asked_line(server));
  return out + "\n";
}

}  // namespace cli
