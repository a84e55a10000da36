#include "cli/parse.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>

#include "audit/base/text.h"

namespace cli {

namespace {

using base::ErrorKind;
using base::escape_control;

std::string see(const std::string& name) {
  return fmt::format("; see mountaudit {}--help", name.empty() ? "" : name + " ");
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& known) {
  const auto near = base::nearest(word, known);
  return near ? fmt::format(" (did you mean {}?)", *near) : "";
}

void add_options(CLI::App& app, const Command& command, Settings& settings) {
  for (const auto& option : options()) {
    if (!takes(command, option)) continue;
    const std::string names = (option.brief.empty() ? "" : std::string(option.brief) + ",") + std::string(option.name);
    std::visit(
        [&](auto member) {
          using M = std::remove_cvref_t<decltype(settings.*member)>;
          if constexpr (std::is_same_v<M, bool>) {
            app.add_flag(names, settings.*member);
          } else if constexpr (std::is_same_v<M, std::string>) {
            app.add_option(names, settings.*member)->multi_option_policy(CLI::MultiOptionPolicy::Throw);
          } else {
            app.add_option(names, settings.*member)
                ->expected(1)
                ->allow_extra_args(false)
                ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
          }
        },
        option.member);
  }
  if (!command.arguments.empty()) app.add_option("arguments", settings.words);
}

// What the parser could not place: an unknown flag, a word too many, a flag of another command.
base::Error unexpected(const std::string& word, const Command& command) {
  const std::string name = full_name(command);
  if (!word.starts_with('-') || word == "-")
    return {ErrorKind::usage, "", fmt::format("{} takes no argument \"{}\"", name, escape_control(word)) + see(name)};
  const std::string flag = word.substr(0, word.find('='));
  std::vector<std::string> known;
  for (const auto& option : options()) {
    if (takes(command, option)) {
      known.emplace_back(option.name);
    } else if (flag == option.name || (flag == option.brief && !flag.empty())) {
      return {ErrorKind::usage, "", fmt::format("{} has no option {}", name, flag) + see(name)};
    }
  }
  return {ErrorKind::usage, "",
          fmt::format("unknown option {}{}", escape_control(flag), did_you_mean(flag, known)) + see(name)};
}

base::Result<void> check_choices(const Command& command, const Settings& settings) {
  for (const auto& option : options()) {
    if (!takes(command, option) || option.choices == nullptr) continue;
    std::vector<std::string> given;
    if (const auto* one = std::get_if<std::string Settings::*>(&option.member)) {
      if (!(settings.**one).empty()) given.push_back(settings.**one);
    } else if (const auto* many = std::get_if<std::vector<std::string> Settings::*>(&option.member)) {
      given = settings.**many;
    }
    const bool pairs = option.offer == Offer::input || option.offer == Offer::format_file;
    for (const auto& value : given) {
      const auto equals = value.find('=');
      if (pairs && (equals == std::string::npos || equals + 1 == value.size()))
        return base::fail(ErrorKind::usage, "",
                          fmt::format("{} wants {}, not \"{}\"", option.name, option.value, escape_control(value)));
      const std::string word = pairs ? value.substr(0, equals) : value;
      const auto known = option.choices();
      if (std::find(known.begin(), known.end(), word) != known.end()) continue;
      return base::fail(
          ErrorKind::usage, "",
          fmt::format("{} \"{}\" is unknown{}; there {} {}", option.name, escape_control(word),
                      did_you_mean(word, known), known.size() == 1 ? "is" : "are", base::join(known, ", ")));
    }
  }
  return {};
}

// The parser's own complaint, "--from: 1 required TEXT missing", in our words.
std::string complaint(const std::string& text) {
  const std::string name = text.substr(0, text.find(':'));
  for (const auto& option : options()) {
    if (name != option.name) continue;
    if (text.find("At Most") != std::string::npos) return fmt::format("{} is given more than once", name);
    if (!option.value.empty()) return fmt::format("{} wants {}", name, option.value);
  }
  return escape_control(text);
}

}  // namespace

base::Result<Parsed> parse(int argc, const char* const* argv) {
  Parsed parsed;
  CLI::App app("", "mountaudit");
  app.set_help_flag("-h,--help");
  app.add_flag("--version", parsed.version);
  app.add_option("--generate", parsed.generate);
  app.allow_extras();
  app.require_subcommand(0, 1);
  std::map<CLI::App*, const Command*> apps;
  std::map<std::string, CLI::App*> family_apps;
  for (const auto& family : families()) {
    CLI::App* sub = app.add_subcommand(std::string(family.name));
    sub->set_help_flag("-h,--help");
    sub->allow_extras();
    sub->require_subcommand(0, 1);
    family_apps[std::string(family.name)] = sub;
  }
  for (const auto& command : commands()) {
    CLI::App* parent = command.family.empty() ? &app : family_apps[std::string(command.family)];
    CLI::App* sub = parent->add_subcommand(std::string(command.name));
    sub->set_help_flag("-h,--help");
    sub->allow_extras();
    add_options(*sub, command, parsed.settings);
    apps[sub] = &command;
  }

  const auto find_command = [&] {
    for (CLI::App* sub : app.get_subcommands()) {
      if (const auto found = apps.find(sub); found != apps.end()) return found->second;
      parsed.help_family = sub->get_name();
      for (CLI::App* inner : sub->get_subcommands()) return apps.at(inner);
    }
    return static_cast<const Command*>(nullptr);
  };
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    parsed.help = true;
    parsed.help_for = find_command();
    return parsed;
  } catch (const CLI::ParseError& error) {
    const Command* command = find_command();
    return base::fail(ErrorKind::usage, "",
                      complaint(error.what()) + see(command == nullptr ? "" : full_name(*command)));
  }
  if (parsed.version || !parsed.generate.empty()) return parsed;

  parsed.command = find_command();
  const auto extras = app.remaining(true);
  if (parsed.command == nullptr) {
    std::vector<std::string> known;
    for (const auto& command : commands()) {
      if (command.family == parsed.help_family) known.emplace_back(command.name);
    }
    if (parsed.help_family.empty()) {
      for (const auto& family : families()) known.emplace_back(family.name);
    }
    const std::string what = parsed.help_family.empty() ? "" : parsed.help_family + " ";
    if (extras.empty())
      return base::fail(
          ErrorKind::usage, "",
          fmt::format("{}one of {} is wanted", parsed.help_family.empty() ? "" : parsed.help_family + ": ",
                      base::join(known, ", ")) +
              see(parsed.help_family));
    const std::string word = extras.front();
    return base::fail(ErrorKind::usage, "",
                      fmt::format("unknown {} {}{}{}", word.starts_with('-') ? "option" : "command", what,
                                  escape_control(word), did_you_mean(word, known)) +
                          see(parsed.help_family));
  }
  if (!extras.empty()) return tl::unexpected(unexpected(extras.front(), *parsed.command));
  if (!parsed.command->arguments.empty() && parsed.settings.words.empty())
    return base::fail(ErrorKind::usage, "",
                      fmt::format("{} wants {}", full_name(*parsed.command), parsed.command->arguments) +
                          see(full_name(*parsed.command)));
  if (!parsed.command->arguments.ends_with("..") && parsed.settings.words.size() > 1)
    return tl::unexpected(unexpected(parsed.settings.words[1], *parsed.command));
  if (auto checked = check_choices(*parsed.command, parsed.settings); !checked) return tl::unexpected(checked.error());
  return parsed;
}

}  // namespace cli
