// The one table of flags. From it come the parser, --help, the man page and the shell completions.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace cli {

// What the command line says, before anything is made of it.
struct Settings {
  std::string root;
  std::string from;
  std::string since;
  std::vector<std::string> input;
  std::vector<std::string> declare;
  std::string sample;
  bool passive = false;
  bool ask_servers = false;
  std::string timeout;
  std::string deadline;

  bool lock_test = false;
  std::string allow_write;
  std::string read_file;
  std::string follow_grace;

  bool login = false;
  std::string initiator;
  std::string chap_user;
  std::string chap_secret_file;

  std::vector<std::string> profile;
  std::vector<std::string> rules;
  std::vector<std::string> waive;
  std::vector<std::string> only;
  std::vector<std::string> skip;
  bool now = false;

  std::string format;
  std::vector<std::string> report;
  std::string fail_on;
  bool color = false;
  bool verbose = false;
  bool redact = false;

  std::string lang;
  bool quiet = false;
  std::string raw;

  bool sum = false;
  std::string wanted;
  std::string guaranteed;
  std::string cache;
  std::string media;
  std::string depth_in_use;  // --depth of compare
  std::string digits;

  bool allow_load = false;
  std::vector<std::string> allow_writes;
  std::string preset;
  std::vector<std::string> pattern;
  std::string mix;
  std::string block;
  std::string depth;
  std::string connections;
  std::string rate;
  std::string passes;
  std::string seconds;
  std::string ramp;
  std::string size;
  std::string working_set;
  std::string max_iops;
  std::string max_bytes;
  std::string guard_p99;
  std::string guard_errors;
  std::string nfs_version;
  std::string seed;
  std::string start_at;
  std::string verify;

  std::vector<std::string> words;  // arguments that are no flags
};

// Which commands take a flag: a command names the groups it knows.
enum Group : std::uint16_t {
  reading = 1,     // where facts come from
  judging = 2,     // which rules look at them
  reporting = 4,   // how it is printed
  collecting = 8,  // collect alone
  rule_files = 16,
  language = 32,
  talking = 64,
  asking = 128,        // how long servers are waited for
  hiding = 256,        // what is not shown
  probing = 512,       // probe alone
  logging_in = 1024,   // as whom iSCSI targets are asked
  node_logins = 2048,  // whether those of a node are logged in to
  comparing = 4096,    // compare alone
  loading = 8192,      // latency alone
};

// What a shell offers behind the flag.
enum class Offer : std::uint8_t { nothing, file, directory, words, input, format_file };

struct Option {
  std::string_view name;   // "--root"
  std::string_view brief;  // "-v", or empty
  std::string_view value;  // "DIR"; empty for a flag without one
  Group group;
  std::string_view sentence;
  std::variant<bool Settings::*, std::string Settings::*, std::vector<std::string> Settings::*> member;
  Offer offer = Offer::nothing;
  std::vector<std::string> (*choices)() = nullptr;  // the words that are valid, where there is a list
  std::string_view example = {};                    // a command line worth copying, where the value is not plain
  std::string_view example_says = {};
};

std::span<const Option> options();
bool repeats(const Option& option);

struct EnvironmentVariable {
  std::string_view name;
  std::string_view sentence;
};
std::span<const EnvironmentVariable> environment();

struct ExitCode {
  std::string_view code;
  std::string_view sentence;
};
std::span<const ExitCode> exit_codes();

}  // namespace cli
