#include "cli/chap.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <termios.h>
#include <unistd.h>

#include <cstdlib>

#include "audit/base/text.h"
#include "cli/output.h"
#include "cli/servers.h"
#include "probes/host/iscsi_names.h"
#include "probes/io/host.h"

namespace cli {

namespace {

using base::ErrorKind;

constexpr const char* initiatorname_path = "/etc/iscsi/initiatorname.iscsi";

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string_view without_line_end(std::string_view line) {
  while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) line.remove_suffix(1);
  return line;
}

// The first line is our secret, the second that of the target.
base::Result<wire::iscsi::ChapSecrets> secrets_of_file(const std::string& path, const std::string& user) {
  auto text = probes::read_file(path);
  if (!text) return tl::unexpected(text.error());
  const std::string_view all(*text);
  const auto end = all.find('\n');
  wire::iscsi::ChapSecrets secrets;
  secrets.user = user;
  secrets.secret = std::string(without_line_end(all.substr(0, end)));
  if (end != std::string_view::npos) {
    const std::string_view rest = all.substr(end + 1);
    secrets.mutual_secret = std::string(without_line_end(rest.substr(0, rest.find('\n'))));
  }
  if (secrets.secret.empty()) return base::fail(ErrorKind::usage, path, "the first line, the CHAP secret, is empty");
  return secrets;
}

// One line of the terminal that is not shown. Nothing: there is no terminal, or nothing was typed.
std::optional<std::string> ask_terminal(const std::string& question) {
  const int terminal = ::open("/dev/tty", O_RDWR | O_CLOEXEC);
  if (terminal < 0) return std::nullopt;
  std::optional<std::string> line;
  termios before{};
  if (::tcgetattr(terminal, &before) == 0) {
    termios silent = before;
    silent.c_lflag &= ~static_cast<tcflag_t>(ECHO);
    ::tcsetattr(terminal, TCSAFLUSH, &silent);
    const std::string shown = question + ": ";
    if (::write(terminal, shown.data(), shown.size()) == static_cast<ssize_t>(shown.size())) {
      char typed[256];
      const ssize_t got = ::read(terminal, typed, sizeof typed);
      if (got > 0) line = std::string(without_line_end({typed, static_cast<std::size_t>(got)}));
    }
    ::tcsetattr(terminal, TCSAFLUSH, &before);
    [[maybe_unused]] const ssize_t ended = ::write(terminal, "\n", 1);
  }
  ::close(terminal);
  if (line && line->empty()) line.reset();
  return line;
}

base::Result<std::optional<wire::iscsi::ChapSecrets>> secrets_for(const Settings& settings, const std::string& user) {
  const std::string from_environment = variable("MOUNTAUDIT_CHAP_SECRET");
  if (user.empty()) {
    if (!settings.chap_secret_file.empty())
      return base::fail(ErrorKind::usage, "",
                        "--chap-secret-file needs the user of CHAP: iscsi://user@host, or --chap-user");
    return std::optional<wire::iscsi::ChapSecrets>{};
  }
  wire::iscsi::ChapSecrets secrets;
  if (!settings.chap_secret_file.empty()) {
    auto read = secrets_of_file(settings.chap_secret_file, user);
    if (!read) return tl::unexpected(read.error());
    secrets = std::move(*read);
  } else if (!from_environment.empty()) {
    secrets = {user, from_environment, variable("MOUNTAUDIT_CHAP_MUTUAL_SECRET")};
  } else if (auto typed = ask_terminal("CHAP secret of " + base::escape_control(user))) {
    secrets = {user, std::move(*typed), {}};
  } else {
    return base::fail(ErrorKind::usage, "",
                      fmt::format("no CHAP secret for {}: name a file by --chap-secret-file, or set "
                                  "MOUNTAUDIT_CHAP_SECRET",
                                  base::escape_control(user)));
  }
  if (secrets.mutual_secret == secrets.secret)
    return base::fail(ErrorKind::usage, "",
                      "the secret of the target must not be that of the initiator: whoever hears one could answer with "
                      "the other (RFC 7143 section 9.2.1)");
  return std::optional(std::move(secrets));
}

// "node" stands for the name of this node.
base::Result<std::string> initiator_of(const std::string& given) {
  if (given.empty()) return std::string(wire::own_initiator_name);
  if (given != "node") {
    if (!probes::is_target_name(given))
      return base::fail(ErrorKind::usage, "",
                        fmt::format("--initiator \"{}\" is no iSCSI name: iqn., eui. or naa., or the word node",
                                    base::escape_control(given)));
    return given;
  }
  const auto text = probes::read_file(initiatorname_path);
  if (!text) return tl::unexpected(text.error());
  std::string name;
  for (const auto line : base::split(*text, '\n')) {
    const auto trimmed = base::trim(line);
    constexpr std::string_view key = "InitiatorName=";
    if (trimmed.starts_with(key)) name = std::string(base::trim(trimmed.substr(key.size())));  // the last one counts
  }
  if (!probes::is_target_name(name)) return base::fail(ErrorKind::absent, initiatorname_path, "names no InitiatorName");
  return name;
}

}  // namespace

base::Result<wire::IscsiOptions> iscsi_options(const Settings& settings, const std::string& user) {
  const auto times = ask_options(settings);
  if (!times) return tl::unexpected(times.error());
  wire::IscsiOptions options;
  options.timeout = times->timeout;
  options.deadline = times->deadline;
  auto name = initiator_of(settings.initiator);
  if (!name) return tl::unexpected(name.error());
  options.initiator_name = std::move(*name);
  if (!user.empty() && !settings.chap_user.empty() && user != settings.chap_user)
    return base::fail(ErrorKind::usage, "", "the URL and --chap-user name different users");
  auto secrets = secrets_for(settings, user.empty() ? settings.chap_user : user);
  if (!secrets) return tl::unexpected(secrets.error());
  options.chap = std::move(*secrets);
  return options;
}

}  // namespace cli
