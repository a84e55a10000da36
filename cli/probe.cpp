// `probe URL`: one server that need not be mounted. In text, what it offers comes before the findings: who asks about a
// server wants to see it also where there is nothing to object to.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <vector>

#include "audit/base/text.h"
#include "cli/commands.h"
#include "cli/judge.h"
#include "cli/output.h"
#include "cli/servers.h"
#include "probes/redact.h"
#include "probes/wire/ask_nfs.h"

namespace cli {

namespace {

using facts::Fact;
using facts::NfsServer;

std::string node_name() {
  if (const char* named = std::getenv("MOUNTAUDIT_NODE"); named != nullptr && *named != '\0') return named;
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 ? name : "";
}

template <class T>
std::string shown(const Fact<T>& fact) {
  if (fact.has_value()) return fmt::format("{}", *fact);
  return fact.is_absent() ? "none" : "unknown";
}

std::string shown(const Fact<bool>& fact, const char* yes, const char* no) {
  if (fact.has_value()) return *fact ? yes : no;
  return fact.is_absent() ? "none" : "unknown";
}

std::string shown_us(const Fact<double>& fact) {
  if (!fact.has_value()) return "unknown";
  return *fact >= 1000 ? fmt::format("{:.1f} ms", *fact / 1000) : fmt::format("{:.0f} us", *fact);
}

std::string host_port(const NfsServer& server) {
  const std::string host = server.addr.value_or(server.name);
  return host.find(':') == std::string::npos ? fmt::format("{}:{}", host, server.port)
                                             : fmt::format("[{}]:{}", host, server.port);
}

std::string services_line(const NfsServer& server) {
  std::vector<std::string> parts;
  for (const auto& service : server.services) {
    std::string part = service.program;
    if (service.port.has_value()) part += fmt::format(" {}", *service.port);
    if (service.reachable.is(true)) {
      part += service.version.has_value() ? fmt::format(" v{}", *service.version) : "";
    } else {
      part += " " + shown(service.result);
    }
    parts.push_back(std::move(part));
  }
  return base::join(parts, ", ");
}

std::string session_line(const NfsServer& server) {
  if (!server.session.has_value()) return shown(server.nfs4_minor_max) == "unknown" ? "unknown" : "none";
  return fmt::format("{} slots, requests to {} and responses to {} bytes, {} operations", server.session->slots,
                     server.session->max_request_bytes, server.session->max_response_bytes,
                     server.session->max_operations);
}

void add_line(std::string& out, std::string_view key, std::string_view text) {
  out += fmt::format("  {:<10} {}\n", key, base::escape_control(text));
}

void add_exports(std::string& out, const NfsServer& server) {
  for (const auto& item : server.exports) {
    const auto& flavors = item.secinfo.has_value() ? item.secinfo : item.mnt_flavors;
    std::string text = item.path;
    if (item.mnt_result.has_value()) text += ", v3 " + *item.mnt_result;
    if (item.lookup_result.has_value()) text += ", v4 " + *item.lookup_result;
    if (flavors.has_value()) text += ", sec=" + base::join(*flavors, ":");
    if (item.avail_bytes.has_value() && item.total_bytes.has_value())
      text += fmt::format(", {:.1f} of {:.1f} GiB free", static_cast<double>(*item.avail_bytes) / (1U << 30),
                          static_cast<double>(*item.total_bytes) / (1U << 30));
    add_line(out, "export", text);
  }
}

std::string describe(const NfsServer& server) {
  std::string out = base::escape_control(fmt::format("{}  NFS {}{}", host_port(server),
                                                     server.versions.has_value() && !server.versions->empty()
                                                         ? base::join(*server.versions, " ")
                                                         : "does not answer",
                                                     server.kind.has_value() ? "  (" + *server.kind + ")" : "")) +
                    "\n";
  add_line(out, "services", services_line(server));
  if (!server.versions.has_value() || server.versions->empty()) return out + "\n";
  add_line(out, "transfers",
           fmt::format("v3 read {} write {}, v4 read {} write {} bytes", shown(server.rtmax_bytes),
                       shown(server.wtmax_bytes), shown(server.maxread_bytes), shown(server.maxwrite_bytes)));
  add_line(out, "session", session_line(server));
  add_line(out, "locks",
           fmt::format("grace period: {} ({}), lease {} s, NLM_TEST {}", shown(server.in_grace, "now", "no"),
                       shown(server.in_grace_how), shown(server.lease_s), shown(server.nlm_test)));
  add_line(out, "security", fmt::format("TLS {}", shown(server.tls_offered, "offered", "not offered")));
  add_line(out, "identity", fmt::format("owner {}, scope {}", shown(server.owner), shown(server.scope)));
  if (server.same_server.has_value() && !server.same_server->empty())
    add_line(out, "same as", base::join(*server.same_server, ", "));
  add_exports(out, server);
  add_line(out, "latency",
           fmt::format("connect {} ms, NULL p50 {} p99 {} ({} calls), GETATTR p50 {}",
                       server.connect_ms.has_value() ? fmt::format("{:.2f}", *server.connect_ms) : "unknown",
                       shown_us(server.null_p50_us), shown_us(server.null_p99_us), shown(server.null_count),
                       shown_us(server.getattr_p50_us)));
  add_line(out, "path",
           fmt::format("TCP rtt {} us, MSS {}, {} retransmissions, MTU {} ({})", shown(server.tcp_rtt_us),
                       shown(server.tcp_mss_bytes), shown(server.tcp_retrans), shown(server.path_mtu_bytes),
                       shown(server.path_mtu_how)));
  add_line(out, "asked",
           fmt::format("from {}{}, {} calls in {} round trips; session and client id destroyed: {}",
                       shown(server.asked_from), server.reserved_port.is(true) ? " (reserved port)" : "",
                       shown(server.calls), shown(server.round_trips), shown(server.cleaned_up, "yes", "no")));
  return out + "\n";
}

bool answers_nfs(const NfsServer& server) {
  for (const auto& service : server.services)
    if (service.program == "nfs") return service.reachable.is(true);
  return false;
}

}  // namespace

base::Result<int> run_probe(const Settings& settings) {
  const auto started = std::chrono::steady_clock::now();
  const auto target = wire::parse_nfs_url(settings.words.front());
  if (!target) return tl::unexpected(target.error());
  auto outlets = open_outlets(settings);
  if (!outlets) return tl::unexpected(outlets.error());
  const auto judge = make_judge(settings);
  if (!judge) return tl::unexpected(judge.error());
  note_signals();
  auto answers = ask_targets(settings, {*target}, {});
  if (!answers) return tl::unexpected(answers.error());

  facts::Facts facts;
  facts.node.name = node_name();
  facts.node.root = settings.words.front();
  bool all_answer = true;
  for (auto& answer : *answers) {
    all_answer = all_answer && answers_nfs(answer.server);
    facts.nfs.servers.push_back(std::move(answer.server));
    facts.sources.insert(facts.sources.end(), answer.sources.begin(), answer.sources.end());
  }
  if (settings.redact) facts = probes::Redactor().redact(std::move(facts));
  if (outlets->on_stdout->name == std::string_view("text")) {
    std::string text;
    for (const auto& server : facts.nfs.servers) text += describe(server);
    if (auto printed = print(text); !printed) return tl::unexpected(printed.error());
  }
  const auto code = judge_and_report(settings, *judge, facts, *outlets, started, 40);
  if (!code) return code;
  // A server that does not answer is a finding whatever rules were chosen.
  return *code == ok && !all_answer && settings.fail_on != "never" ? findings : *code;
}

}  // namespace cli
