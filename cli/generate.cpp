#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>

#include "audit/base/text.h"
#include "audit/eval/rules.h"
#include "audit/report/formats.h"
#include "cli/help.h"
#include "probes/io/host.h"

namespace cli {

namespace {

// ---- The manual page, man(7).

// Text for roff: no line starts a request by accident, and a hyphen is one that can be copied.
std::string roff(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
  }
  if (out.starts_with('.') || out.starts_with('\'')) out.insert(0, "\\&");
  return out;
}

std::string entry(std::string_view name, std::string_view text) {
  return fmt::format(".TP\n\\fB{}\\fR\n{}\n", roff(name), roff(text));
}

std::string sentence_of(const Option& option) {
  std::string text(option.sentence);
  if (option.choices != nullptr) text += ". One of: " + base::join(option.choices(), ", ");
  if (repeats(option)) text += ". May be repeated";
  return text + ".";
}

std::string commands_that_take(const Option& option) {
  std::vector<std::string> names;
  for (const auto& command : commands()) {
    if (takes(command, option)) names.push_back(full_name(command));
  }
  return names.size() == commands().size() ? "" : " (" + base::join(names, ", ") + ")";
}

std::string date() {
  std::time_t now = 0;
  if (const char* epoch = std::getenv("SOURCE_DATE_EPOCH")) {
    now = static_cast<std::time_t>(base::number<std::int64_t>(epoch).value_or(0));
  }
  if (now == 0) return "";
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  return fmt::format("{:04}-{:02}-{:02}", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday);
}

std::string manual() {
  std::string text =
      fmt::format(".TH MOUNTAUDIT 1 \"{}\" \"mountaudit {}\" \"User Commands\"\n", date(), MOUNTAUDIT_VERSION);
  text += ".SH NAME\nmountaudit \\- audit the NFS mounts of a node\n.SH SYNOPSIS\n";
  for (const auto& command : commands()) {
    text += fmt::format(".B mountaudit {}\n[\\fIoptions\\fR]{}\n.br\n", roff(full_name(command)),
                        command.arguments.empty() ? "" : " \\fI" + roff(command.arguments) + "\\fR");
  }
  text +=
      ".SH DESCRIPTION\nReads what the kernel and the configuration say about network storage, judges it by rules, "
      "and prints what is broken now, what could be better, and what was not checked, with evidence and with the "
      "lines to write. Nothing is changed, and nothing is opened inside a network mount.\n.SH COMMANDS\n";
  for (const auto& command : commands()) {
    const std::string arguments = command.arguments.empty() ? "" : " " + std::string(command.arguments);
    text += entry(full_name(command) + arguments, std::string(command.sentence) + ".");
  }
  text += ".SH OPTIONS\n";
  for (const auto& option : options()) {
    std::string name = (option.brief.empty() ? "" : std::string(option.brief) + ", ") + std::string(option.name);
    text += fmt::format(".TP\n\\fB{}\\fR{}\n{}\n", roff(name),
                        option.value.empty() ? "" : " \\fI" + roff(option.value) + "\\fR",
                        roff(sentence_of(option) + commands_that_take(option)));
  }
  text += entry("-h, --help", "What a command does and takes.") + entry("--version", "Name and version.");
  text += ".SH FORMATS\n";
  for (const auto& format : audit::formats()) text += entry(format.name, std::string(format.sentence) + ".");
  text += ".SH INPUT KINDS\n";
  for (const auto& kind : probes::input_kinds()) text += entry(kind.name, std::string(kind.sentence) + ".");
  text += ".SH PROFILES\n";
  for (const auto& profile : audit::known_profiles()) text += entry(profile.name, std::string(profile.sentence) + ".");
  text += ".SH EXIT STATUS\n";
  for (const auto& code : exit_codes()) text += entry(code.code, std::string(code.sentence) + ".");
  text += ".SH ENVIRONMENT\n";
  for (const auto& variable : environment()) text += entry(variable.name, std::string(variable.sentence) + ".");
  text += ".SH EXAMPLES\n";
  for (const auto& command : commands()) text += entry(command.example, std::string(command.example_says) + ".");
  for (const auto& option : options()) {
    if (!option.example.empty()) text += entry(option.example, std::string(option.example_says) + ".");
  }
  text += ".SH SEE ALSO\n.BR nfs (5),\n.BR proc (5),\n.BR mountstats (8),\n.BR sos (1)\n";
  return text;
}

// ---- Completions.

std::vector<std::string> first_words() {
  std::vector<std::string> words;
  for (const auto& command : commands()) {
    const std::string word(command.family.empty() ? command.name : command.family);
    if (std::find(words.begin(), words.end(), word) == words.end()) words.push_back(word);
  }
  return words;
}

std::string sentence_of_word(const std::string& word) {
  for (const auto& family : families()) {
    if (family.name == word) return std::string(family.sentence);
  }
  for (const auto& command : commands()) {
    if (command.family.empty() && command.name == word) return std::string(command.sentence);
  }
  return "";
}

std::vector<std::string> flags_of(const Command& command) {
  std::vector<std::string> flags;
  for (const auto& option : options()) {
    if (!takes(command, option)) continue;
    flags.emplace_back(option.name);
    if (!option.brief.empty()) flags.emplace_back(option.brief);
  }
  flags.emplace_back("--help");
  return flags;
}

// "text=" for each choice of an option whose value is a pair.
std::string offered(const Option& option) {
  std::vector<std::string> words = option.choices();
  if (option.offer != Offer::words) {
    for (auto& word : words) word += "=";
  }
  return base::join(words, " ");
}

std::string bash_completion() {
  std::string text = "# bash completion for mountaudit\n_mountaudit() {\n";
  text +=
      "  local cur prev command kind=\n"
      "  cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]} COMPREPLY=()\n"
      "  if [ \"$cur\" = = ]; then cur= kind=$prev prev=${COMP_WORDS[COMP_CWORD-2]}; fi\n"
      "  if [ \"$prev\" = = ]; then kind=${COMP_WORDS[COMP_CWORD-2]} prev=${COMP_WORDS[COMP_CWORD-3]}; fi\n"
      "  if [ -n \"$kind\" ]; then compopt -o filenames; COMPREPLY=($(compgen -f -- \"$cur\")); return; fi\n"
      "  if [ \"$COMP_CWORD\" = 1 ]; then\n";
  text += fmt::format("    COMPREPLY=($(compgen -W '{} --help --version' -- \"$cur\")); return\n  fi\n",
                      base::join(first_words(), " "));
  text += "  case $prev in\n";
  for (const auto& option : options()) {
    if (option.value.empty()) continue;
    switch (option.offer) {
      case Offer::file:
        text += fmt::format("    {}) compopt -o filenames; COMPREPLY=($(compgen -f -- \"$cur\")); return ;;\n",
                            option.name);
        break;
      case Offer::directory:
        text += fmt::format("    {}) compopt -o filenames; COMPREPLY=($(compgen -d -- \"$cur\")); return ;;\n",
                            option.name);
        break;
      case Offer::words:
        text += fmt::format("    {}) COMPREPLY=($(compgen -W '{}' -- \"$cur\")); return ;;\n", option.name,
                            offered(option));
        break;
      case Offer::input:
      case Offer::format_file:
        text += fmt::format("    {}) compopt -o nospace; COMPREPLY=($(compgen -W '{}' -- \"$cur\")); return ;;\n",
                            option.name, offered(option));
        break;
      case Offer::nothing: text += fmt::format("    {}) return ;;\n", option.name); break;
    }
  }
  text += "  esac\n  case $command in\n";
  for (const auto& family : families()) {
    std::vector<std::string> names;
    for (const auto& command : commands()) {
      if (command.family == family.name) names.emplace_back(command.name);
    }
    text += fmt::format(
        "    {0}) if [ \"$COMP_CWORD\" = 2 ]; then COMPREPLY=($(compgen -W '{1} --help' -- \"$cur\")); return; fi\n"
        "       command=\"{0} ${{COMP_WORDS[2]}}\" ;;\n",
        family.name, base::join(names, " "));
  }
  text += "  esac\n  case $command in\n";
  for (const auto& command : commands()) {
    text += fmt::format("    '{}')\n", full_name(command));
    if (command.name == "explain")
      text +=
          "      if [[ $cur != -* ]]; then\n"
          "        COMPREPLY=($(compgen -W \"$(mountaudit rules list 2>/dev/null | cut -d' ' -f1)\" -- \"$cur\")); "
          "return\n"
          "      fi\n";
    else if (!command.arguments.empty())
      text +=
          "      if [[ $cur != -* ]]; then compopt -o filenames; COMPREPLY=($(compgen -f -- \"$cur\")); return; fi\n";
    text += fmt::format("      COMPREPLY=($(compgen -W '{}' -- \"$cur\")) ;;\n", base::join(flags_of(command), " "));
  }
  return text + "  esac\n}\ncomplete -F _mountaudit mountaudit\n";
}

// Inside '...' of a shell; zsh also gives [ ] : a meaning in option specs.
std::string quoted(std::string_view text, bool zsh) {
  std::string out;
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";
    } else if (zsh && (c == '[' || c == ']' || c == ':')) {
      out += '\\';
      out += c;
    } else {
      out += c;
    }
  }
  return out;
}

std::string zsh_action(const Option& option) {
  switch (option.offer) {
    case Offer::file: return ":_files";
    case Offer::directory: return ":_files -/";
    case Offer::words: return ":(" + offered(option) + ")";
    case Offer::input:
    case Offer::format_file: return ":_mountaudit_pair " + offered(option);
    case Offer::nothing: break;
  }
  return ":";
}

std::string zsh_completion() {
  std::string text =
      "#compdef mountaudit\n"
      "_mountaudit_pair() {\n"
      "  if compset -P '*='; then _files; else compadd -S '' -- \"$@\"; fi\n"
      "}\n";
  for (const auto& command : commands()) {
    std::string name = full_name(command);
    std::replace(name.begin(), name.end(), ' ', '_');
    text += fmt::format("_mountaudit_{}() {{\n  _arguments -s -S", name);
    for (const auto& option : options()) {
      if (!takes(command, option)) continue;
      const std::string value =
          option.value.empty() ? "" : fmt::format(":{}{}", quoted(option.value, true), zsh_action(option));
      const std::string many = repeats(option) ? "\\*" : "";
      text += fmt::format(" \\\n    {}'{}[{}]{}'", many, option.name, quoted(option.sentence, true), value);
      if (!option.brief.empty())
        text += fmt::format(" \\\n    {}'{}[{}]{}'", many, option.brief, quoted(option.sentence, true), value);
    }
    text += " \\\n    '(-h --help)'{-h,--help}'[this text]'";
    if (command.name == "explain")
      text += " \\\n    '1:rule:($(mountaudit rules list 2>/dev/null | cut -d\" \" -f1))'";
    else if (!command.arguments.empty())
      text += " \\\n    '*:file:_files'";
    text += "\n}\n";
  }
  text += "_mountaudit() {\n  local -a names\n  if (( CURRENT == 2 )); then\n    names=(";
  for (const auto& word : first_words())
    text += fmt::format("\n      '{}:{}'", word, quoted(sentence_of_word(word), true));
  text += ")\n    _describe command names\n    compadd -- --help --version\n    return\n  fi\n  case $words[2] in\n";
  for (const auto& word : first_words()) {
    const bool family =
        std::any_of(families().begin(), families().end(), [&](const Family& f) { return f.name == word; });
    if (!family) {
      text += fmt::format("    {0}) shift words; (( CURRENT-- )); _mountaudit_{0} ;;\n", word);
      continue;
    }
    text += fmt::format("    {}) if (( CURRENT == 3 )); then\n        names=(", word);
    for (const auto& command : commands()) {
      if (command.family == word)
        text += fmt::format("\n          '{}:{}'", command.name, quoted(command.sentence, true));
    }
    text += fmt::format(
        ")\n        _describe command names\n      else\n        local inner=$words[3]\n        shift 2 words; (( "
        "CURRENT -= 2 ))\n"
        "        (( $+functions[_mountaudit_{0}_$inner] )) && _mountaudit_{0}_$inner\n      fi ;;\n",
        word);
  }
  return text + "  esac\n}\n_mountaudit \"$@\"\n";
}

std::string fish_completion() {
  std::string text = "# fish completion for mountaudit\ncomplete -c mountaudit -f\n";
  for (const auto& word : first_words())
    text += fmt::format("complete -c mountaudit -n __fish_use_subcommand -a {} -d '{}'\n", word,
                        quoted(sentence_of_word(word), false));
  text += "complete -c mountaudit -n __fish_use_subcommand -l version -d 'name and version'\n";
  text += "complete -c mountaudit -s h -l help -d 'what a command does and takes'\n";
  for (const auto& command : commands()) {
    if (!command.family.empty())
      text += fmt::format(
          "complete -c mountaudit -n '__fish_seen_subcommand_from {0}; and not __fish_seen_subcommand_from {1}' -a {1} "
          "-d '{2}'\n",
          command.family, command.name, quoted(command.sentence, false));
    std::string when = command.family.empty()
                           ? fmt::format("__fish_seen_subcommand_from {}", command.name)
                           : fmt::format("__fish_seen_subcommand_from {}; and __fish_seen_subcommand_from {}",
                                         command.family, command.name);
    if (command.family.empty()) {
      for (const auto& family : families())
        when += fmt::format("; and not __fish_seen_subcommand_from {}", family.name);
    }
    for (const auto& option : options()) {
      if (!takes(command, option)) continue;
      text += fmt::format("complete -c mountaudit -n '{}' -l {}", when, option.name.substr(2));
      if (!option.brief.empty()) text += fmt::format(" -s {}", option.brief.substr(1));
      if (!option.value.empty()) {
        text += " -r";
        if (option.offer == Offer::file || option.offer == Offer::directory) text += " -F";
        if (option.choices != nullptr) text += fmt::format(" -a '{}'", offered(option));
      }
      text += fmt::format(" -d '{}'\n", quoted(option.sentence, false));
    }
    if (command.name == "explain")
      text += fmt::format(
          "complete -c mountaudit -n '{}' -a '(mountaudit rules list 2>/dev/null | string split -f1 \" \")'\n", when);
    else if (!command.arguments.empty())
      text += fmt::format("complete -c mountaudit -n '{}' -F\n", when);
  }
  return text;
}

}  // namespace

base::Result<std::string> generate(const std::string& what) {
  if (what == "man") return manual();
  if (what == "bash") return bash_completion();
  if (what == "zsh") return zsh_completion();
  if (what == "fish") return fish_completion();
  return base::fail(base::ErrorKind::usage, "", "--generate makes man, bash, zsh or fish");
}

}  // namespace cli
