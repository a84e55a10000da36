#include <fmt/format.h>

#include <algorithm>

#include "audit/base/text.h"
#include "cli/describe.h"

namespace cli {

namespace {

using facts::Fact;
using facts::IscsiLogin;
using facts::IscsiLun;
using facts::IscsiPathLun;
using facts::IscsiPortal;

std::string time_of(std::string_view name, const Fact<double>& us) {
  return us.has_value() ? fmt::format("{} {}", name, time_text(*us)) : "";
}

std::string time_of_ms(std::string_view name, const Fact<double>& ms) {
  return ms.has_value() ? fmt::format("{} {}", name, time_text(*ms * 1000)) : "";
}

std::string yes_no(std::string_view name, const Fact<bool>& fact) {
  return fact.has_value() ? fmt::format("{} {}", name, *fact ? "Yes" : "No") : "";
}

template <class T>
std::string number_of(std::string_view name, const Fact<T>& fact) {
  return fact.has_value() ? fmt::format("{} {}", name, *fact) : "";
}

std::string size_of(std::string_view name, const Fact<std::uint64_t>& bytes) {
  return bytes.has_value() ? fmt::format("{} {}", name, size_text(*bytes)) : "";
}

std::string words_of(const std::string& result, const Fact<std::string>& detail) {
  return detail.has_value() ? fmt::format("{} ({})", *detail, result) : result;
}

std::string discovery_line(const facts::IscsiDiscovery& discovery) {
  if (discovery.result != "ok") return "no targets: " + words_of(discovery.result, discovery.detail);
  constexpr std::size_t most = 8;
  auto names = discovery.targets;
  const std::size_t more = names.size() > most ? names.size() - most : 0;
  names.resize(names.size() - more);
  std::string text = names.empty() ? "the portal names no target" : base::join(names, ", ");
  if (more > 0) text += fmt::format(" and {} more", more);
  if (!discovery.notes.empty()) text += "; not usable: " + base::join(discovery.notes, "; ");
  return text;
}

std::string login_line(const IscsiLogin& login) {
  if (login.result != "ok") {
    std::string text = login.target + ": " + words_of(login.result, login.detail);
    if (login.redirected_to.has_value()) text += ", to " + *login.redirected_to;
    return text;
  }
  std::string security = login.auth_method.value_or("");
  if (security == "None") security = "no authentication";
  if (login.chap_digest.has_value()) security += " with " + *login.chap_digest;
  if (login.target_authenticated.is(true)) security += ", the target as well";
  return login.target + ": " +
         listed({time_of_ms("logged in within", login.login_ms), number_of("TPGT", login.tag), security,
                 login.logged_out.is(false) ? "THE LOGOUT WAS NOT CONFIRMED" : ""});
}

std::string offers_line(const IscsiLogin& login) {
  return listed({size_of("MaxBurst", login.max_burst_len_bytes), size_of("FirstBurst", login.first_burst_len_bytes),
                 size_of("segment", login.max_recv_dlength_bytes), yes_no("InitialR2T", login.initial_r2t),
                 yes_no("ImmediateData", login.immediate_data),
                 number_of("MaxOutstandingR2T", login.max_outstanding_r2t),
                 number_of("MaxConnections", login.max_connections), number_of("ERL", login.erl),
                 login.header_digest.has_value() ? "HeaderDigest " + *login.header_digest : "",
                 login.data_digest.has_value() ? "DataDigest " + *login.data_digest : "",
                 number_of("commands at once", login.command_window)});
}

std::string portal_latency(const IscsiPortal& portal) {
  Fact<double> login, nop, tur, read;
  const auto keep_least = [](Fact<double>& kept, const Fact<double>& value) {
    if (value.has_value() && (!kept.has_value() || *value < *kept)) kept = *value;
  };
  if (portal.logins.has_value()) {
    for (const auto& one : *portal.logins) {
      keep_least(login, one.login_ms);
      keep_least(nop, one.nop_p50_us);
      keep_least(tur, one.tur_p50_us);
      keep_least(read, one.read_p50_us);
    }
  }
  return listed({time_of_ms("connect", portal.connect_ms), time_of_ms("login", login), time_of("NOP", nop),
                 time_of("TEST UNIT READY", tur), time_of("READ of 4 KiB", read)});
}

std::string describe_portal(const IscsiPortal& portal, int width) {
  std::string head = portal.id;
  const bool asked = portal.connect_result.has_value();
  head += portal.reachable.is(true) ? "  answers" : asked ? "  does not answer" : "  was not asked";
  if (!portal.reachable.is(true) && asked) head += ": " + words_of(*portal.connect_result, portal.connect_detail);
  std::string out;
  for (const auto& line : base::wrap(base::escape_control(head), width)) out += line + "\n";
  if (!portal.reachable.is(true)) return out + "\n";
  const auto add = [&](std::string_view key, const std::string& text) { add_line(out, key, text, width); };
  if (portal.discovery.has_value()) add("discovery", discovery_line(*portal.discovery));
  if (portal.logins.has_value()) {
    for (const auto& login : *portal.logins) {
      add("login", login_line(login));
      add("offers", offers_line(login));
    }
  }
  add("latency", portal_latency(portal));
  add("asked", portal.asked_from.has_value() ? "from " + *portal.asked_from : "");
  return out + "\n";
}

std::string lun_line(const IscsiLun& lun) {
  std::string size;
  if (lun.size_bytes.has_value()) {
    size = size_text(*lun.size_bytes);
    if (lun.block_bytes.has_value()) size += fmt::format(" in blocks of {}", *lun.block_bytes);
    if (lun.physical_block_bytes.has_value() && lun.block_bytes.has_value() &&
        *lun.physical_block_bytes != *lun.block_bytes)
      size += fmt::format(" (physical {})", *lun.physical_block_bytes);
  }
  std::string space;
  if (lun.thin.has_value())
    space = !*lun.thin ? "not thin" : lun.unmap.is(true) ? "thin, takes UNMAP" : "thin, no UNMAP";
  return listed({lun.type.value_or("not described"),
                 listed({lun.vendor.value_or(""), lun.product.value_or(""), lun.revision.value_or("")}, " "), size,
                 space, lun.write_protected.is(true) ? "WRITE PROTECTED" : "",
                 lun.lowest_aligned_bytes.has_value() && *lun.lowest_aligned_bytes != 0
                     ? fmt::format("aligned from byte {}", *lun.lowest_aligned_bytes)
                     : "",
                 lun.wwid.value_or(""), lun.serial.has_value() ? "serial " + *lun.serial : ""});
}

std::string path_line(const IscsiPortal& portal, const IscsiPathLun& path) {
  std::string port;
  if (path.group.has_value()) port = fmt::format("port group {}", *path.group);
  if (path.state.has_value()) port += (port.empty() ? "" : " ") + *path.state;
  return portal.id + ": " +
         listed({path.gone.is(true)    ? "GONE: " + path.detail.value_or("no such LUN")
                 : path.result != "ok" ? words_of(path.result, path.detail)
                                       : "",
                 port, path.ready.has_value() && *path.ready != "ok" ? "not ready: " + *path.ready : "",
                 time_of("TEST UNIT READY", path.tur_p50_us), time_of("READ of 4 KiB", path.read_p50_us)});
}

// Paths to a LUN; those of a target that nobody described stand alone.
std::vector<std::string> path_lines(const facts::Iscsi& iscsi, const std::string& target, const std::string& lun) {
  std::vector<std::string> lines;
  for (const auto& portal : iscsi.portals) {
    if (!portal.logins.has_value()) continue;
    for (const auto& login : *portal.logins) {
      if (login.target != target || !login.luns.has_value()) continue;
      for (const auto& path : *login.luns)
        if (path.lun == lun) lines.push_back(path_line(portal, path));
    }
  }
  return lines;
}

std::string describe_target(const facts::Iscsi& iscsi, const facts::IscsiTarget& target, int width) {
  std::string out = base::escape_control(target.name) + "\n";
  const auto add = [&](std::string_view key, const std::string& text) { add_line(out, key, text, width); };
  if (target.offered_portals.has_value()) {
    std::vector<std::string> ids;
    for (const auto& portal : *target.offered_portals) ids.push_back(portal.portal);
    add("offered at", base::join(ids, ", "));
  }
  std::vector<std::string> shown;
  if (target.luns.has_value()) {
    for (const auto& lun : *target.luns) {
      shown.push_back(lun.lun);
      add("LUN " + lun.lun, lun_line(lun));
      if (!lun.type.is("disk")) continue;
      for (const auto& line : path_lines(iscsi, target.name, lun.lun)) add("", "via " + line);
    }
  }
  // What no path could describe: gone, or no login went far enough.
  for (const auto& portal : iscsi.portals) {
    if (!portal.logins.has_value()) continue;
    for (const auto& login : *portal.logins) {
      if (login.target != target.name || !login.luns.has_value()) continue;
      for (const auto& path : *login.luns) {
        if (std::find(shown.begin(), shown.end(), path.lun) != shown.end()) continue;
        shown.push_back(path.lun);
        for (const auto& line : path_lines(iscsi, target.name, path.lun)) add("LUN " + path.lun, "via " + line);
      }
    }
  }
  return out + "\n";
}

}  // namespace

std::string describe_iscsi(const facts::Iscsi& iscsi, int width) {
  std::string out;
  for (const auto& portal : iscsi.portals) out += describe_portal(portal, width);
  // Of targets that nobody logged in to there is nothing to say beyond their names, which stand above.
  const bool any = std::any_of(iscsi.portals.begin(), iscsi.portals.end(), [](const IscsiPortal& portal) {
    return portal.logins.has_value() && !portal.logins->empty();
  });
  const auto is_asked = [&](const facts::IscsiTarget& target) {
    return std::any_of(iscsi.portals.begin(), iscsi.portals.end(), [&](const IscsiPortal& portal) {
      return portal.logins.has_value() &&
             std::any_of(portal.logins->begin(), portal.logins->end(),
                         [&](const IscsiLogin& login) { return login.target == target.name; });
    });
  };
  for (const auto& target : iscsi.targets)
    if (!any || is_asked(target)) out += describe_target(iscsi, target, width);
  return out;
}

}  // namespace cli
