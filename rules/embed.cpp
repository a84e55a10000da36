// embed OUTPUT SOURCE FILE..: writes a C++ file that holds every FILE (a path relative to SOURCE) as it is and parsed.
// Runs when the program is built: a file that is no YAML stops the build there, and no run pays for parsing.
#include <fmt/format.h>

#include <fstream>
#include <iterator>
#include <string>

#include "audit/eval/yaml.h"

namespace {

// Octal escapes have three digits at most, so that nothing behind one can become part of it.
std::string literal(std::string_view bytes) {
  std::string out = "{\"";
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7f && c != '"' && c != '\\' && c != '?') {
      out += c;
    } else {
      out += fmt::format("\\{:03o}", byte);
    }
  }
  return out + fmt::format("\", {}}}", bytes.size());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    fmt::print(stderr, "usage: embed OUTPUT SOURCE FILE..\n");
    return 2;
  }
  const std::string source = argv[2];
  std::string texts, packed;
  for (int i = 3; i < argc; ++i) {
    const std::string path = source + '/' + argv[i];
    std::ifstream in(path, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    if (!in) {
      fmt::print(stderr, "{}: cannot be read\n", path);
      return 1;
    }
    const auto tree = audit::parse_yaml(text, path);
    if (!tree) {
      fmt::print(stderr, "{}\n", base::to_text(tree.error()));
      return 1;
    }
    texts += fmt::format("    {{\"rules/{}\", {}}},\n", argv[i], literal(text));
    packed += fmt::format("    {{\"rules/{}\", {}}},\n", argv[i], literal(audit::pack_yaml(*tree)));
  }
  const std::string code = fmt::format(
      "// Generated from rules/**/*.yaml.\n#include \"rules/embedded.h\"\n\n#include <array>\n\nnamespace rules {{\n\n"
      "namespace {{\n\nconstexpr std::array<EmbeddedFile, {0}> texts{{{{\n{1}}}}};\n\n"
      "constexpr std::array<EmbeddedFile, {0}> packed{{{{\n{2}}}}};\n\n}}  // namespace\n\n"
      "std::span<const EmbeddedFile> embedded_rules() {{ return texts; }}\n"
      "std::span<const EmbeddedFile> packed_rules() {{ return packed; }}\n\n}}  // namespace rules\n",
      argc - 3, texts, packed);
  std::ofstream out(argv[1], std::ios::binary);
  out << code;
  if (!out.flush()) {
    fmt::print(stderr, "{}: cannot be written\n", argv[1]);
    return 1;
  }
  return 0;
}
