// Mount options as users write them (fstab(5), nfs(5)), as far as rules compare them with what the kernel runs.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "audit/facts/nfs.h"
#include "audit/facts/reflect.h"

namespace audit {

struct OptionWord {
  std::string_view key;
  std::optional<std::string_view> value;  // none: a word without "="
};

// Divided at commas outside of double quotes. The words point into `text`.
std::vector<OptionWord> option_words(std::string_view text);

// An option that the kernel prints, under one name whatever its spelling: "nfsvers=4.2" is vers, "tcp" is proto.
struct ComparedOption {
  std::string_view name;
  // What the words ask for, the last one counts; nothing where they do not name it.
  std::optional<std::string> (*asked)(const std::vector<OptionWord>&);
  // As the kernel runs it; a default that is not printed is spelt out.
  facts::Value (*effective)(const facts::NfsMount&);
};
const std::vector<ComparedOption>& compared_options();

// Whether the kernel runs what was asked for: "4" is met by every 4.x, tcp by tcp6.
bool is_met(std::string_view name, std::string_view asked, std::string_view effective);

// Words that kernels of today take and ignore: "intr, nointr".
std::string obsolete_words(const std::vector<OptionWord>& words);

// Whether `host` is an address and not a name; the zone and brackets are left out.
bool is_literal_address(std::string_view host);
// Both are addresses and name the same one, whatever the spelling. IPv4-mapped IPv6 is IPv4.
bool is_same_address(std::string_view a, std::string_view b);
// 127.0.0.0/8, ::1 or the name localhost.
bool is_loopback_host(std::string_view host);

}  // namespace audit
