#include "cli/help.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "audit/base/text.h"

namespace cli {

namespace {

constexpr int width = 80;

std::string flag_text(const Option& option) {
  std::string text = option.brief.empty() ? "    " : std::string(option.brief) + ", ";
  text += option.name;
  if (!option.value.empty()) text += " " + std::string(option.value);
  return text;
}

std::string sentence_of(const Option& option) {
  std::string text(option.sentence);
  if (option.choices != nullptr && option.offer != Offer::format_file &&
      text.find(option.choices().front()) == std::string::npos)
    text += ": " + base::join(option.choices(), ", ");
  if (repeats(option)) text += " (repeatable)";
  return text;
}

// Two columns: what it is called, and what it does, wrapped behind it.
std::string rows(const std::vector<std::pair<std::string, std::string>>& table) {
  int left = 0;
  for (const auto& [name, sentence] : table) left = std::max(left, base::display_width(name));
  std::string text;
  for (const auto& [name, sentence] : table) {
    const auto lines = base::wrap(sentence, width - left - 4);
    for (std::size_t i = 0; i < lines.size(); ++i)
      text += fmt::format("  {}  {}\n", base::pad_right(i == 0 ? name : "", left), lines[i]);
  }
  return text;
}

std::string usage(const Command& command) {
  std::string text = "mountaudit " + full_name(command) + " [options]";
  if (!command.arguments.empty()) text += " " + std::string(command.arguments);
  return text;
}

}  // namespace

std::string help_text() {
  std::string text =
      "mountaudit audits the NFS mounts of a node: what is really there, what is broken\n"
      "now, what could be better, and what to write where. It reads; it changes nothing.\n\n"
      "Usage: mountaudit COMMAND [options]\n\nCommands:\n";
  std::vector<std::pair<std::string, std::string>> table;
  for (const auto& command : commands()) {
    std::string name = full_name(command);
    if (!command.arguments.empty()) name += " " + std::string(command.arguments);
    table.emplace_back(name, command.sentence);
  }
  text += rows(table);
  text += "\nOptions:\n" + rows({{"-h, --help", "this text, or that of a command: mountaudit audit --help"},
                                 {"    --version", "name and version"}});
  text += "\nExamples:\n";
  for (const auto& command : commands()) {
    if (command.family.empty() || command.name == "explain")
      text += fmt::format("  {}\n      {}\n", command.example, command.example_says);
  }
  text += "  cat /proc/mounts | mountaudit audit --input mounts=-\n      one text, pasted or piped\n";
  text += "\nExit status:\n";
  table.clear();
  for (const auto& code : exit_codes()) table.emplace_back(code.code, code.sentence);
  return text + rows(table);
}

std::string help_text(std::string_view family) {
  std::string text;
  for (const auto& known : families()) {
    if (known.name == family) text = fmt::format("mountaudit {}: {}\n\n", known.name, known.sentence);
  }
  std::vector<std::pair<std::string, std::string>> table;
  for (const auto& command : commands()) {
    if (command.family == family) table.emplace_back(usage(command), command.sentence);
  }
  return text + rows(table);
}

std::string help_text(const Command& command) {
  std::string text;
  for (const auto& line : base::wrap(fmt::format("mountaudit {}: {}", full_name(command), command.sentence), width))
    text += line + "\n";
  text += fmt::format("\nUsage: {}\n", usage(command));
  std::vector<std::pair<std::string, std::string>> table;
  for (const auto& option : options()) {
    if (takes(command, option)) table.emplace_back(flag_text(option), sentence_of(option));
  }
  table.emplace_back("-h, --help", "this text");
  text += "\nOptions:\n" + rows(table);
  text += fmt::format("\nExample:\n  {}\n      {}\n", command.example, command.example_says);
  for (const auto& option : options()) {
    if (takes(command, option) && !option.example.empty())
      text += fmt::format("  {}\n      {}\n", option.example, option.example_says);
  }
  return text;
}

}  // namespace cli
