#include "probes/host/pasted_text.h"

#include <algorithm>
#include <cctype>

#include "audit/base/text.h"
#include "probes/host/nfs_options.h"
#include "probes/host/scrub.h"

namespace probes {

namespace {

using Text = facts::Fact<std::string>;

constexpr std::size_t max_words = 256;

std::string_view base_name(std::string_view path) {
  const auto slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

bool is_network_type(std::string_view type) {
  return type == "nfs" || type == "nfs4" || type == "efs" || type.starts_with("nfs,") || type.starts_with("nfs4,");
}

// server:/path, [v6]:/path, fs-1234abcd:/
bool is_network_source(std::string_view source) {
  const auto parts = split_source(source);
  return !parts.server.empty() && parts.path.starts_with('/') && source.find("://") == std::string_view::npos;
}

std::optional<facts::MountAttempt> from_words(const std::vector<std::string>& words, std::size_t first, Text type) {
  facts::MountAttempt out;
  std::string options;
  std::vector<std::string> plain;
  const auto add_options = [&options](std::string_view more) {
    if (!options.empty()) options += ',';
    options += more;
  };
  for (std::size_t i = first; i < words.size(); ++i) {
    const std::string_view word = words[i];
    const auto value = [&](std::size_t letters) -> std::string_view {
      if (word.size() > letters) return word.substr(letters);
      return i + 1 < words.size() ? std::string_view(words[++i]) : std::string_view{};
    };
    if (word == "--options" || word == "--types") {
      const bool is_type = word == "--types";
      const auto next = i + 1 < words.size() ? std::string_view(words[++i]) : std::string_view{};
      if (is_type) {
        type = std::string(next);
      } else {
        add_options(next);
      }
    } else if (word.starts_with("--options=")) {
      add_options(word.substr(10));
    } else if (word.starts_with("--types=")) {
      type = std::string(word.substr(8));
    } else if (word.starts_with("-o")) {
      add_options(value(2));
    } else if (word.starts_with("-t")) {
      type = std::string(value(2));
    } else if (word == "-r" || word == "--read-only") {
      add_options("ro");
    } else if (word == "-w" || word == "--rw") {
      add_options("rw");
    } else if (word == ";" || word == "&&" || word == "||" || word == "|" || word.starts_with('>') ||
               word.starts_with("2>")) {
      break;
    } else if (!word.starts_with('-')) {
      plain.emplace_back(word);
    }
  }
  if (plain.size() < 2) return std::nullopt;  // a listing, or an entry of fstab by its mount point
  if (type.has_value() ? !is_network_type(*type) : !is_network_source(plain[0])) return std::nullopt;
  out.fs_type = type.has_value() ? type : Text::absent();
  out.what = scrub(plain[0]);
  out.where = scrub(plain[1]);
  const auto source = split_source(plain[0]);
  out.server = source.server.empty() ? Text::absent() : Text(source.server);
  const std::string clean = scrub(options);
  out.options_text = options.empty() ? Text::absent() : Text(clean);
  out.asked = parse_asked_options(clean);
  out.error = Text::absent();
  out.error_kind = Text::absent();
  out.error_line = facts::Fact<std::uint32_t>::absent();
  return out;
}

}  // namespace

std::vector<std::string> shell_words(std::string_view line) {
  std::vector<std::string> words;
  std::string word;
  bool open = false;  // a word has begun, it may be ''
  char quote = 0;
  for (std::size_t i = 0; i < line.size() && words.size() < max_words; ++i) {
    const char c = line[i];
    if (quote == '\'') {
      if (c == '\'') {
        quote = 0;
      } else {
        word += c;
      }
    } else if (c == '\\' && i + 1 < line.size() && (quote == 0 || line[i + 1] == '"' || line[i + 1] == '\\')) {
      word += line[++i];
      open = true;
    } else if (quote == '"') {
      if (c == '"') {
        quote = 0;
      } else {
        word += c;
      }
    } else if (c == '\'' || c == '"') {
      quote = c;
      open = true;
    } else if (c == ' ' || c == '\t') {
      if (open) words.push_back(std::move(word));
      word.clear();
      open = false;
    } else {
      word += c;
      open = true;
    }
  }
  if (open && words.size() < max_words) words.push_back(std::move(word));
  return words;
}

std::string_view after_prompt(std::string_view line, bool& prompted) {
  prompted = true;
  const std::string_view text = base::trim(line);
  for (const std::string_view prompt : {"# ", "$ ", "% ", "> ", "+ "})
    if (text.starts_with(prompt)) return base::trim(text.substr(prompt.size()));
  // "[root@host ~]# ", "root@host:~# ", "sh-4.4# ", "bash-5.1$ "
  const std::size_t mark = std::min(text.find("# "), text.find("$ "));
  if (mark != std::string_view::npos && mark > 0 && mark <= 80) {
    const auto head = text.substr(0, mark);
    const bool bracketed = head.starts_with('[') && head.ends_with(']') && head.find('@') != std::string_view::npos;
    const bool colon = head.find('@') != std::string_view::npos && head.find(':') != std::string_view::npos &&
                       head.find(' ') == std::string_view::npos;
    const bool shell =
        (head.starts_with("sh-") || head.starts_with("bash-")) && head.find(' ') == std::string_view::npos;
    if (bracketed || colon || shell) return base::trim(text.substr(mark + 2));
  }
  prompted = false;
  return text;
}

std::optional<facts::MountAttempt> parse_mount_arguments(std::string_view arguments) {
  auto out = from_words(shell_words(arguments), 0, {});
  if (out) out->command = scrub_short("mount " + std::string(arguments.substr(0, 8192)));
  return out;
}

std::optional<facts::MountAttempt> parse_mount_command(std::string_view line) {
  bool prompted = false;
  const std::string_view command = after_prompt(line, prompted);
  // Cheap look first: most lines of a log are no command.
  if (command.substr(0, 64).find("mount") == std::string_view::npos) return std::nullopt;
  const auto words = shell_words(command);
  std::size_t i = 0;
  while (i < words.size() &&
         (words[i] == "sudo" || words[i] == "time" || words[i] == "strace" || words[i] == "nsenter"))
    ++i;
  if (i >= words.size()) return std::nullopt;
  const auto program = base_name(words[i]);
  Text type;
  if (program == "mount.nfs" || program == "mount.nfs4") {
    type = std::string(program.substr(6));
  } else if (program == "mount.efs") {
    type = "efs";
  } else if (program != "mount") {
    return std::nullopt;
  }
  auto out = from_words(words, i + 1, type);
  if (out) out->command = scrub_short(command);
  return out;
}

std::vector<facts::PastedExport> parse_export_line(std::string_view line) {
  std::vector<facts::PastedExport> out;
  line = base::trim(line);
  std::string path;
  std::string_view rest;
  if (line.starts_with('"')) {
    const auto close = line.find('"', 1);
    if (close == std::string_view::npos) return out;
    path = base::octal_unescape(line.substr(1, close - 1));
    rest = line.substr(close + 1);
  } else {
    const auto end = line.find_first_of(" \t");
    if (end == std::string_view::npos) return out;
    path = base::octal_unescape(line.substr(0, end));
    rest = line.substr(end);
  }
  if (!path.starts_with('/')) return out;
  for (const auto client : base::fields(rest)) {
    if (client.starts_with('#')) break;
    const auto open = client.find('(');
    if (open == std::string_view::npos || !client.ends_with(')')) return {};
    facts::PastedExport entry;
    entry.path = path;
    entry.client = std::string(client.substr(0, open));
    const auto options = client.substr(open + 1, client.size() - open - 2);
    entry.options_text = scrub(options);
    entry.xprtsec = Text::absent();
    entry.sec = Text::absent();
    for (const auto option : base::split(options, ',')) {
      if (option.starts_with("xprtsec=")) entry.xprtsec = std::string(option.substr(8));
      if (option.starts_with("sec=")) entry.sec = std::string(option.substr(4));
    }
    out.push_back(std::move(entry));
  }
  return out;
}

std::optional<std::string_view> stack_function(std::string_view line) {
  line = base::trim(line);
  if (line.starts_with("[<")) {
    const auto close = line.find(">]");
    if (close == std::string_view::npos) return std::nullopt;
    line = base::trim(line.substr(close + 2));
  }
  if (line.starts_with("? ")) line.remove_prefix(2);
  const auto end = line.find_first_of("+ ");
  const auto name = line.substr(0, end);
  if (name.size() < 3 || name.size() > 128 || name.find('_') == std::string_view::npos) return std::nullopt;
  const bool identifier = std::all_of(name.begin(), name.end(),
                                      [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '.'; });
  if (!identifier || std::isdigit(static_cast<unsigned char>(name[0])) != 0) return std::nullopt;
  if (end == std::string_view::npos) return name;
  // "+0xd/0x70", then nothing or " [module]"
  const auto tail = line.substr(end);
  const auto slash = tail.find("/0x");
  if (!tail.starts_with("+0x") || slash == std::string_view::npos) return std::nullopt;
  const auto blank = tail.find(' ');
  if (blank != std::string_view::npos && !base::trim(tail.substr(blank)).starts_with('[')) return std::nullopt;
  return name;
}

}  // namespace probes
