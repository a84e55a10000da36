#include "probes/host/client_identity.h"

#include <algorithm>
#include <array>

#include "audit/base/text.h"
#include "probes/probe.h"

namespace probes {

namespace {

using facts::Fact;

constexpr std::string_view hash_mark = "sha256:";
constexpr std::size_t hash_digits = 16;

bool is_hash(std::string_view text) {
  return text.size() == hash_digits &&
         std::all_of(text.begin(), text.end(), [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return result;
}

// The word stands alone between separators or digits: "rhel9-template", "golden01", not "templeton".
bool has_word(std::string_view name, std::string_view word) {
  for (auto at = name.find(word); at != std::string_view::npos; at = name.find(word, at + 1)) {
    const auto is_letter = [&](std::size_t i) { return i < name.size() && name[i] >= 'a' && name[i] <= 'z'; };
    if ((at == 0 || !is_letter(at - 1)) && !is_letter(at + word.size())) return true;
  }
  return false;
}

}  // namespace

std::string identity_hash(std::string_view value) {
  if (value.starts_with(hash_mark) && is_hash(value.substr(hash_mark.size())))
    return std::string(value.substr(hash_mark.size()));
  return base::sha256_hex(value).substr(0, hash_digits);
}

std::string scrubbed_identity(std::string_view value) { return std::string(hash_mark) + identity_hash(value); }

std::string identity_text(std::string_view text) {
  while (!text.empty() && text.back() == '\0') text.remove_suffix(1);
  text = base::trim(text);
  return text == "(null)" ? std::string() : std::string(text);
}

std::string scrub_identity_file(std::string_view text) {
  const auto identity = identity_text(text);
  return identity.empty() ? std::string(text) : scrubbed_identity(identity) + "\n";
}

std::string nodename_class(std::string_view nodename) {
  static constexpr std::array<std::string_view, 7> template_words{"template",     "golden",    "image", "clone",
                                                                  "master-image", "goldimage", "tmpl"};
  const std::string name = lower(nodename);
  const auto first = std::string_view(name).substr(0, name.find('.'));
  if (name.empty() || name == "(none)") return "localhost";  // what the kernel calls a node that was never named
  if (first == "localhost" || first == "localhost4" || first == "localhost6" || first.starts_with("localhost-"))
    return "localhost";
  for (const auto word : template_words) {
    if (has_word(first, word)) return "template";
  }
  return name.find('.') == std::string::npos ? "unqualified" : "qualified";
}

facts::ClientIdentity client_identity(const IdentityTexts& texts) {
  const auto hash_of = [](const Fact<std::string>& text) -> Fact<std::string> {
    if (!text.has_value()) return text.is_absent() ? Fact<std::string>::absent() : Fact<std::string>();
    return text->empty() ? Fact<std::string>::absent() : Fact<std::string>(identity_hash(*text));
  };
  facts::ClientIdentity identity;
  identity.identifier_hash = hash_of(texts.identifier);
  identity.unique_id_hash = hash_of(texts.unique_id);
  if (identity.identifier_hash.has_value() || identity.unique_id_hash.has_value())
    identity.uniquifier_set = true;
  else if (identity.identifier_hash.is_absent() && identity.unique_id_hash.is_absent())
    identity.uniquifier_set = false;
  if (texts.nodename.has_value()) {
    identity.nodename_hash = identity_hash(*texts.nodename);
    identity.nodename_class = nodename_class(*texts.nodename);
  }
  // The identifier of the namespace goes before the parameter (nfs4_get_uniquifier()). Hashes are joined, not the
  // texts, so that a scrubbed capture gives the same.
  if (identity.uniquifier_set.has_value() && identity.nodename_hash.has_value()) {
    const auto& uniquifier = identity.identifier_hash.has_value() ? identity.identifier_hash : identity.unique_id_hash;
    if (!identity.identifier_hash.is_unknown())
      identity.effective_hash = identity_hash(uniquifier.value_or("") + "/" + *identity.nodename_hash);
  }
  return identity;
}

void read_client_identity(Reading& reading) {
  IdentityTexts texts;
  // Absent: a kernel before 5.3, or no NFS client in it. Nothing is set then.
  const auto text_of = [&](const char* path) -> Fact<std::string> {
    const auto text = reading.file(path);
    if (text) return identity_text(*text);
    return text.error().kind == base::ErrorKind::absent ? Fact<std::string>::absent() : Fact<std::string>();
  };
  texts.identifier = text_of("/sys/fs/nfs/net/nfs_client/identifier");
  texts.unique_id = text_of("/sys/module/nfs/parameters/nfs4_unique_id");
  // The name that the NFS client uses is that of the node, which a pod with a name of its own does not see.
  const auto ours = reading.host().link("/proc/self/ns/uts");
  const auto theirs = reading.host().link("/proc/1/ns/uts");
  const bool other_name = ours && theirs && *ours != *theirs;
  if (!other_name && !reading.facts().node.name.empty()) texts.nodename = reading.facts().node.name;
  reading.facts().nfs.identity = client_identity(texts);
}

}  // namespace probes
