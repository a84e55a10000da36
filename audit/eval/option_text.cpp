#include "audit/eval/option_text.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "audit/base/text.h"

namespace audit {

namespace {

using facts::Absent;
using facts::Fact;
using facts::NfsMount;
using facts::Unknown;
using facts::Value;
using Words = std::vector<OptionWord>;
using Asked = std::optional<std::string>;

// The last of the words that `pick` takes.
template <class Pick>
Asked last(const Words& words, Pick pick) {
  Asked result;
  for (const OptionWord& word : words) {
    if (auto value = pick(word)) result = std::move(value);
  }
  return result;
}

Asked value_of(const Words& words, std::string_view key, std::string_view synonym = {}) {
  return last(words, [&](const OptionWord& word) -> Asked {
    if (!word.value || (word.key != key && (synonym.empty() || word.key != synonym))) return std::nullopt;
    return std::string(*word.value);
  });
}

// yes for `on`, no for `off`, both words without a value.
Asked flag_of(const Words& words, std::string_view on, std::string_view off) {
  return last(words, [&](const OptionWord& word) -> Asked {
    if (word.value) return std::nullopt;
    if (word.key == on) return "yes";
    if (word.key == off) return "no";
    return std::nullopt;
  });
}

Asked asked_vers(const Words& words) {
  Asked minor = value_of(words, "minorversion");
  Asked vers = last(words, [](const OptionWord& word) -> Asked {
    if (word.value && (word.key == "vers" || word.key == "nfsvers")) return std::string(*word.value);
    if (!word.value && word.key.size() >= 2 && word.key[0] == 'v' && word.key[1] >= '2' && word.key[1] <= '4')
      return std::string(word.key.substr(1));
    return std::nullopt;
  });
  if (vers && *vers == "4" && minor) return "4." + *minor;
  return vers;
}

Asked asked_proto(const Words& words) {
  return last(words, [](const OptionWord& word) -> Asked {
    if (word.value && word.key == "proto") return std::string(*word.value);
    if (!word.value && (word.key == "tcp" || word.key == "udp" || word.key == "rdma")) return std::string(word.key);
    return std::nullopt;
  });
}

Asked asked_recovery(const Words& words) {
  return last(words, [](const OptionWord& word) -> Asked {
    if (!word.value && (word.key == "hard" || word.key == "soft" || word.key == "softerr"))
      return std::string(word.key);
    return std::nullopt;
  });
}

Asked asked_local_lock(const Words& words) {
  return last(words, [](const OptionWord& word) -> Asked {
    if (word.value && word.key == "local_lock") return std::string(*word.value);
    if (!word.value && word.key == "nolock") return "all";
    if (!word.value && word.key == "lock") return "none";
    return std::nullopt;
  });
}

Asked asked_lookupcache(const Words& words) {
  Asked value = value_of(words, "lookupcache");
  if (value && *value == "positive") return "pos";
  return value;
}

Asked asked_sync(const Words& words) { return flag_of(words, "sync", "async"); }
Asked asked_readdirplus(const Words& words) {
  return last(words, [](const OptionWord& word) -> Asked {
    if (word.key == "nordirplus") return "no";
    if (word.key == "rdirplus") return word.value && *word.value == "none" ? "no" : "yes";
    return std::nullopt;
  });
}

// One of the four attribute times; noac sets all of them to 0, actimeo to its value.
template <std::size_t index>
Asked asked_ac(const Words& words) {
  static constexpr std::array<std::string_view, 4> keys{"acregmin", "acregmax", "acdirmin", "acdirmax"};
  return last(words, [](const OptionWord& word) -> Asked {
    if (!word.value && word.key == "noac") return "0";
    if (word.value && (word.key == keys[index] || word.key == "actimeo")) return std::string(*word.value);
    return std::nullopt;
  });
}

template <class T>
Value text_of(const Fact<T>& fact, std::string_view when_absent = {}) {
  if (fact.is_unknown()) return Unknown{};
  if (fact.is_absent()) return when_absent.empty() ? Value(Absent{}) : Value(when_absent);
  if constexpr (std::is_same_v<T, bool>) {
    return *fact ? "yes" : "no";
  } else if constexpr (std::is_same_v<T, std::string>) {
    return *fact;
  } else {
    return std::to_string(*fact);
  }
}

Value inverse(const Fact<bool>& fact) {
  if (fact.is_unknown()) return Unknown{};
  return fact.value_or(false) ? "no" : "yes";
}

template <auto member>
Value plain(const NfsMount& mount) {
  return text_of(mount.*member);
}

Value effective_local_lock(const NfsMount& mount) {
  if (mount.nolock.is(true)) return "all";
  return text_of(mount.local_lock);
}

std::optional<std::array<std::uint8_t, 16>> address_bytes(std::string_view host) {
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  host = host.substr(0, host.find('%'));
  std::array<std::uint8_t, 16> bytes{};
  const std::string text(host);
  if (inet_pton(AF_INET6, text.c_str(), bytes.data()) == 1) return bytes;
  bytes = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  if (inet_pton(AF_INET, text.c_str(), bytes.data() + 12) == 1) return bytes;
  return std::nullopt;
}

std::string_view family_free(std::string_view proto) {
  return proto.ends_with('6') ? proto.substr(0, proto.size() - 1) : proto;
}

}  // namespace

std::vector<OptionWord> option_words(std::string_view text) {
  Words words;
  std::size_t start = 0;
  bool quoted = false;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && text[i] == '"') quoted = !quoted;
    if (i < text.size() && (text[i] != ',' || quoted)) continue;
    const std::string_view word = base::trim(text.substr(start, i - start));
    start = i + 1;
    if (word.empty()) continue;
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos) {
      words.push_back({word, std::nullopt});
    } else {
      words.push_back({word.substr(0, equals), word.substr(equals + 1)});
    }
  }
  return words;
}

const std::vector<ComparedOption>& compared_options() {
  using M = NfsMount;
  static const std::vector<ComparedOption> all{
      {"vers", asked_vers, plain<&M::vers>},
      {"proto", asked_proto, plain<&M::proto>},
      {"port", [](const Words& w) { return value_of(w, "port"); }, [](const M& m) { return text_of(m.port, "2049"); }},
      {"nconnect", [](const Words& w) { return value_of(w, "nconnect"); },
       [](const M& m) { return text_of(m.nconnect, "1"); }},
      {"max_connect", [](const Words& w) { return value_of(w, "max_connect"); },
       [](const M& m) { return text_of(m.max_connect, "1"); }},
      {"rsize", [](const Words& w) { return value_of(w, "rsize"); }, plain<&M::rsize_bytes>},
      {"wsize", [](const Words& w) { return value_of(w, "wsize"); }, plain<&M::wsize_bytes>},
      {"timeo", [](const Words& w) { return value_of(w, "timeo"); }, plain<&M::timeo_ds>},
      {"retrans", [](const Words& w) { return value_of(w, "retrans"); }, plain<&M::retrans>},
      {"recovery", asked_recovery, plain<&M::recovery>},
      {"softreval", [](const Words& w) { return flag_of(w, "softreval", "nosoftreval"); }, plain<&M::softreval>},
      {"sec", [](const Words& w) { return value_of(w, "sec"); }, plain<&M::sec>},
      {"xprtsec", [](const Words& w) { return value_of(w, "xprtsec"); },
       [](const M& m) { return text_of(m.xprtsec, "none"); }},
      {"local_lock", asked_local_lock, effective_local_lock},
      {"ro", [](const Words& w) { return flag_of(w, "ro", "rw"); }, [](const M& m) { return inverse(m.rw); }},
      {"sync", asked_sync, plain<&M::sync>},
      {"cto", [](const Words& w) { return flag_of(w, "cto", "nocto"); }, [](const M& m) { return inverse(m.nocto); }},
      {"acregmin", asked_ac<0>, plain<&M::ac_reg_min_s>},
      {"acregmax", asked_ac<1>, plain<&M::ac_reg_max_s>},
      {"acdirmin", asked_ac<2>, plain<&M::ac_dir_min_s>},
      {"acdirmax", asked_ac<3>, plain<&M::ac_dir_max_s>},
      {"sharecache", [](const Words& w) { return flag_of(w, "sharecache", "nosharecache"); },
       [](const M& m) { return inverse(m.nosharecache); }},
      {"resvport", [](const Words& w) { return flag_of(w, "resvport", "noresvport"); },
       [](const M& m) { return inverse(m.noresvport); }},
      {"rdirplus", asked_readdirplus, [](const M& m) { return inverse(m.nordirplus); }},
      {"lookupcache", asked_lookupcache, plain<&M::lookupcache>},
      {"fsc", [](const Words& w) { return flag_of(w, "fsc", "nofsc"); }, plain<&M::fsc>}};
  return all;
}

bool is_met(std::string_view name, std::string_view asked, std::string_view effective) {
  if (name == "vers") return asked == effective || (asked == "4" && effective.starts_with("4."));
  if (name == "proto") return family_free(asked) == family_free(effective);
  if (name == "sec") {
    // A list in order of preference (nfs(5)).
    const auto flavours = base::split(asked, ':');
    return std::find(flavours.begin(), flavours.end(), effective) != flavours.end();
  }
  const auto a = base::number<std::uint64_t>(asked), b = base::number<std::uint64_t>(effective);
  return a && b ? *a == *b : asked == effective;
}

std::string obsolete_words(const Words& words) {
  static constexpr std::array<std::string_view, 2> obsolete{"intr", "nointr"};
  std::vector<std::string> found;
  for (const OptionWord& word : words) {
    if (std::find(obsolete.begin(), obsolete.end(), word.key) != obsolete.end()) found.emplace_back(word.key);
  }
  return base::join(found, ", ");
}

bool is_literal_address(std::string_view host) { return address_bytes(host).has_value(); }

bool is_same_address(std::string_view a, std::string_view b) {
  const auto left = address_bytes(a), right = address_bytes(b);
  return left && right && *left == *right;
}

bool is_loopback_host(std::string_view host) {
  if (host == "localhost" || host == "localhost.localdomain") return true;
  const auto bytes = address_bytes(host);
  if (!bytes) return false;
  return is_same_address(host, "::1") ||
         (is_same_address(host, fmt::format("127.{}.{}.{}", (*bytes)[13], (*bytes)[14], (*bytes)[15])));
}

}  // namespace audit
