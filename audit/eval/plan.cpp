// One line of mount options per client and platform, merged over all findings: built from what is asked for now, or
// from the live values where that is not known.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <unordered_map>

#include "audit/base/json.h"
#include "audit/base/text.h"
#include "audit/eval/draft.h"

namespace audit {

namespace {

struct Option {
  std::string key;
  std::optional<std::string> value;
  bool operator==(const Option&) const = default;
  std::string text() const { return value ? key + '=' + *value : key; }
};
using Options = std::vector<Option>;

// --- the words of nfs(5) -------------------------------------------------------------------------------------------

// Words that exclude each other, or say the same in another way, share a slot.
std::string slot_of(std::string_view key) {
  static const std::map<std::string, std::string, std::less<>> slots{{"vers", "vers"},
                                                                     {"nfsvers", "vers"},
                                                                     {"minorversion", "minorversion"},
                                                                     {"v2", "vers"},
                                                                     {"v3", "vers"},
                                                                     {"v4", "vers"},
                                                                     {"v4.0", "vers"},
                                                                     {"v4.1", "vers"},
                                                                     {"v4.2", "vers"},
                                                                     {"hard", "recovery"},
                                                                     {"soft", "recovery"},
                                                                     {"softerr", "recovery"},
                                                                     {"softreval", "softreval"},
                                                                     {"nosoftreval", "softreval"},
                                                                     {"lock", "lock"},
                                                                     {"nolock", "lock"},
                                                                     {"ro", "rw"},
                                                                     {"rw", "rw"},
                                                                     {"tcp", "proto"},
                                                                     {"udp", "proto"},
                                                                     {"rdma", "proto"},
                                                                     {"proto", "proto"}};
  const auto found = slots.find(key);
  return found != slots.end() ? found->second : std::string(key);
}

Options parse_options(std::string_view text) {
  Options options;
  for (const std::string_view part : base::split(text, ',')) {
    const std::string_view word = base::trim(part);
    if (word.empty()) continue;
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos) {
      options.push_back({std::string(word), std::nullopt});
    } else {
      options.push_back({std::string(word.substr(0, equals)), std::string(word.substr(equals + 1))});
    }
  }
  return options;
}

std::string join_options(const Options& options) {
  std::string text;
  for (const Option& option : options) text += (text.empty() ? "" : ",") + option.text();
  return text;
}

Option* find_slot(Options& options, std::string_view slot) {
  for (Option& option : options) {
    if (slot_of(option.key) == slot) return &option;
  }
  return nullptr;
}

// "4.2" as 402, "3" as 300; a bare 4 leaves the minor version open and counts as the lowest.
std::optional<int> version_rank(std::string_view text) {
  const auto parts = base::split(text, '.');
  const auto major = base::number<int>(parts[0]);
  const auto minor = parts.size() > 1 ? base::number<int>(parts[1]) : std::optional<int>(0);
  if (!major || !minor || parts.size() > 2) return std::nullopt;
  return *major * 100 + *minor;
}

std::optional<int> version_of(const Options& options) {
  std::optional<int> rank;
  for (const Option& option : options) {
    if (slot_of(option.key) != "vers") continue;
    rank = version_rank(option.value ? *option.value : std::string_view(option.key).substr(1));
  }
  for (const Option& option : options) {
    const auto minor = option.key == "minorversion" && option.value ? base::number<int>(*option.value) : std::nullopt;
    if (rank && minor) *rank = *rank / 100 * 100 + *minor;
  }
  return rank;
}

// vers=4 alone: the highest minor version that both sides know.
bool is_bare(const Options& options) {
  const auto bare = [](const Option& o) {
    return slot_of(o.key) == "vers" && (o.value ? *o.value == "4" : o.key == "v4");
  };
  const auto minor = [](const Option& o) { return o.key == "minorversion"; };
  return std::any_of(options.begin(), options.end(), bare) && std::none_of(options.begin(), options.end(), minor);
}

// New options stand in the order in which people read them.
int place_of(const Option& option) {
  static constexpr std::array<std::string_view, 7> order{"vers",    "nconnect", "recovery", "timeo",
                                                         "retrans", "rsize",    "wsize"};
  const std::string slot = slot_of(option.key);
  return static_cast<int>(std::find(order.begin(), order.end(), slot) - order.begin());
}

// Of two wishes for one option the larger number or the higher version wins; of two words the first.
void merge_value(Option& into, const Option& wish) {
  if (!into.value || !wish.value) return;
  const bool version = slot_of(into.key) == "vers";
  const auto a = version ? version_rank(*into.value) : base::number<int>(*into.value);
  const auto b = version ? version_rank(*wish.value) : base::number<int>(*wish.value);
  if (a && b && *b > *a) into.value = wish.value;
}

// --- what the findings of a client ask for -------------------------------------------------------------------------

struct Changes {
  Options set;
  Options raise;
  std::set<std::string> remove;  // slots
  bool empty() const { return set.empty() && remove.empty(); }
};

void collect(const Context& context, const Draft& draft, Changes& changes) {
  const Item& item = draft.items.front();
  const auto value_of = [&](const OptionChange& change) -> std::optional<std::string> {
    if (!change.value) return std::nullopt;
    return render(*change.value, context, item);
  };
  const auto is_known = [&](const OptionChange& change) {
    if (!change.value) return true;
    return std::all_of(change.value->pieces.begin(), change.value->pieces.end(), [&](const Template::Piece& piece) {
      if (!piece.path) return true;
      const facts::Value value = read_value(context, item, *piece.path);
      return !value.is_unknown() && !value.is_absent();
    });
  };
  for (const OptionChange& change : draft.fix->options) {
    if (!is_known(change)) continue;
    const Option wish{change.key, value_of(change)};
    if (Option* there = find_slot(changes.set, slot_of(change.key))) {
      merge_value(*there, wish);
    } else {
      changes.set.push_back(wish);
    }
  }
  for (const OptionChange& change : draft.fix->raise) {
    if (is_known(change)) changes.raise.push_back({change.key, value_of(change)});
  }
  for (const std::string& key : draft.fix->remove) changes.remove.insert(slot_of(key));
}

// Without the text that asks for the mount: the values in use that are no defaults. What the server settled (rsize,
// wsize, the port of mountd) is left to it.
Options options_in_use(const facts::NfsMount& mount) {
  Options options;
  const auto word = [&](const facts::Fact<bool>& fact, const char* key) {
    if (fact.is(true)) options.push_back({key, std::nullopt});
  };
  const auto number = [&](const facts::Fact<std::uint32_t>& fact, const char* key, std::uint32_t usual) {
    if (fact.has_value() && *fact != usual) options.push_back({key, std::to_string(*fact)});
  };
  const auto text = [&](const facts::Fact<std::string>& fact, const char* key, std::string_view usual) {
    if (fact.has_value() && *fact != usual) options.push_back({key, *fact});
  };
  if (mount.vers.has_value()) options.push_back({"nfsvers", *mount.vers});
  const bool datagrams = mount.proto.has_value() && mount.proto->starts_with("udp");
  if (mount.proto.has_value() && !mount.proto->starts_with("tcp")) options.push_back({"proto", *mount.proto});
  if (mount.port.has_value() && *mount.port != 0 && (*mount.port != 2049 || mount.vers.is("3")))
    options.push_back({"port", std::to_string(*mount.port)});
  number(mount.nconnect, "nconnect", 1);
  number(mount.max_connect, "max_connect", 1);
  if (mount.recovery.has_value()) options.push_back({*mount.recovery, std::nullopt});
  word(mount.softreval, "softreval");
  if (!datagrams) number(mount.timeo_ds, "timeo", 600);
  if (!datagrams) number(mount.retrans, "retrans", 2);
  text(mount.sec, "sec", "sys");
  text(mount.xprtsec, "xprtsec", "none");
  word(mount.noresvport, "noresvport");
  word(mount.nolock, "nolock");
  if (!mount.nolock.is(true)) text(mount.local_lock, "local_lock", "none");
  word(mount.sync, "sync");
  word(mount.nocto, "nocto");
  word(mount.noac, "noac");
  if (!mount.noac.is(true)) {
    number(mount.ac_reg_min_s, "acregmin", 3);
    number(mount.ac_reg_max_s, "acregmax", 60);
    number(mount.ac_dir_min_s, "acdirmin", 30);
    number(mount.ac_dir_max_s, "acdirmax", 60);
  }
  word(mount.nosharecache, "nosharecache");
  word(mount.nordirplus, "nordirplus");
  text(mount.lookupcache, "lookupcache", "all");
  word(mount.fsc, "fsc");
  if (mount.rw.is(false)) options.push_back({"ro", std::nullopt});
  return options;
}

// What a line starts from: the text that asks for the mount, else what is in use.
Options base_of(const facts::NfsMount& mount) {
  return mount.asked.has_value() ? parse_options(mount.asked->text) : options_in_use(mount);
}

Options apply(const Changes& changes, Options line, const facts::NfsMount& mount) {
  const auto drop = [&](std::string_view slot) {
    line.erase(std::remove_if(line.begin(), line.end(), [&](const Option& o) { return slot_of(o.key) == slot; }),
               line.end());
  };
  for (const std::string& slot : changes.remove) drop(slot);
  for (const Option& wish : changes.set) {
    const std::string slot = slot_of(wish.key);
    if (slot == "vers") drop("minorversion");
    if (Option* there = find_slot(line, slot)) {
      const bool synonym = slot == "vers" && there->value && wish.value;
      *there = {synonym ? there->key : wish.key, wish.value};
    } else {
      line.push_back(wish);
    }
  }
  for (const Option& least : changes.raise) {
    if (Option* there = find_slot(line, slot_of(least.key))) merge_value(*there, least);
  }
  // A text that asks for less than what runs would lower the version at the next mount.
  const auto asked = version_of(line);
  const auto in_use = mount.vers.has_value() ? version_rank(*mount.vers) : std::nullopt;
  if (asked && in_use && *asked < *in_use && !is_bare(line)) {
    drop("minorversion");
    *find_slot(line, "vers") = {"nfsvers", *mount.vers};
  }
  return line;
}

// What all lines name alike, in the order of the first.
Options common(const std::vector<Options>& lines) {
  Options result;
  for (const Option& option : lines.front()) {
    const auto has = [&](const Options& line) { return std::find(line.begin(), line.end(), option) != line.end(); };
    if (std::all_of(lines.begin(), lines.end(), has)) result.push_back(option);
  }
  return result;
}

// --- texts ---------------------------------------------------------------------------------------------------------

bool is_shell_safe(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("_-./:=,@%+").find(c) != std::string_view::npos;
  });
}

std::string in_single_quotes(std::string_view text) {
  std::string quoted;
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted;
}

std::string quote(std::string_view text, std::string_view spec) {
  if (spec == "json") return base::json_quote(text);
  if (spec == "squote") return in_single_quotes(text);
  if (spec == "sh") return is_shell_safe(text) ? std::string(text) : '\'' + in_single_quotes(text) + '\'';
  if (spec == "fstab") {
    std::string escaped;
    for (const char c : text) {
      const auto byte = static_cast<unsigned char>(c);
      escaped += byte <= ' ' || c == '\\' || c == '#' ? fmt::format("\\{:03o}", byte) : std::string(1, c);
    }
    return escaped;
  }
  return std::string(text);
}

// nfsmount.conf(5): options as variables, words as True.
std::string conf_lines(const Options& options) {
  std::string text;
  for (const Option& option : options) {
    std::string key = slot_of(option.key) == "vers" ? "nfsvers" : option.key;
    if (key != "nconnect" && key[0] >= 'a' && key[0] <= 'z') key[0] = static_cast<char>(key[0] - 'a' + 'A');
    text += (text.empty() ? "" : "\n") + key + '=' + option.value.value_or("True");
  }
  return text;
}

struct Line {
  Options options;  // the whole line
  Options changed;  // what the findings set
  std::vector<std::string> each;
};

// Nothing where a fact that it names is not known.
std::optional<std::string> render_snippet(const Template& text, const Context& context, const Item& item,
                                          const Line& line) {
  std::string out;
  for (const auto& piece : text.pieces) {
    if (piece.path) {
      const facts::Value value = read_value(context, item, *piece.path);
      if (value.is_unknown() || value.is_absent()) return std::nullopt;
      const bool quoting =
          piece.spec == "json" || piece.spec == "sh" || piece.spec == "squote" || piece.spec == "fstab";
      out += quoting ? quote(value_text(value), piece.spec) : value_text(value, piece.spec);
    } else if (piece.name == "options") {
      if (line.options.empty()) return std::nullopt;
      out += quote(join_options(line.options), piece.spec);
    } else if (piece.name == "options_list") {
      if (line.options.empty()) return std::nullopt;
      std::string list;
      for (const Option& option : line.options) list += (list.empty() ? "" : ", ") + base::json_quote(option.text());
      out += quote('[' + list + ']', piece.spec);
    } else if (piece.name == "options_lines") {
      if (line.changed.empty()) return std::nullopt;
      out += conf_lines(line.changed);
    } else if (piece.name == "each") {
      if (line.each.empty()) return std::nullopt;
      std::string list;
      for (const std::string& value : line.each) list += (list.empty() ? "" : " ") + quote(value, "sh");
      out += list;
    } else {
      out += piece.text;
    }
  }
  return out;
}

bool names_options(const Snippet& snippet) {
  return std::any_of(snippet.text.pieces.begin(), snippet.text.pieces.end(),
                     [](const Template::Piece& piece) { return !piece.path && piece.name.starts_with("options"); });
}

// --- the plan ------------------------------------------------------------------------------------------------------

class Planner {
 public:
  Planner(const Context& context, const RuleSet& rules, std::vector<Draft>& drafts)
      : context_(context), rules_(rules), drafts_(drafts) {}

  std::vector<PlanEntry> run() {
    std::map<std::uint32_t, std::vector<Draft*>> by_client;
    for (Draft& draft : drafts_) {
      if (const auto client = client_of(draft.items.front())) by_client[*client].push_back(&draft);
    }
    std::vector<PlanEntry> plan;
    for (const auto& [client, drafts] : by_client) {
      Changes changes;
      for (const Draft* draft : drafts) collect(context_, *draft, changes);
      std::stable_sort(changes.set.begin(), changes.set.end(),
                       [](const Option& a, const Option& b) { return place_of(a) < place_of(b); });
      for (Draft* draft : drafts) remediate(*draft, client, changes);
      if (!changes.empty()) add_entries(client, drafts, changes, plan);
    }
    for (Draft& draft : drafts_) {
      if (!client_of(draft.items.front())) remediate_alone(draft);
    }
    std::map<std::string, std::string> asking;  // platform that asks now, by client
    for (const auto& [client, unused] : by_client)
      asking.emplace(context_.facts.nfs.clients[client].id, asking_platform(client));
    // The place where the options were found comes first.
    const auto rank = [&](const PlanEntry& entry) { return asking[entry.subject.id] == entry.platform ? 0 : 1; };
    std::stable_sort(plan.begin(), plan.end(), [&](const PlanEntry& a, const PlanEntry& b) {
      if (a.subject != b.subject) return a.subject < b.subject;
      return rank(a) != rank(b) ? rank(a) < rank(b) : a.platform < b.platform;
    });
    return plan;
  }

 private:
  std::optional<std::uint32_t> client_of(const Item& item) const {
    if (item.scope->name == "nfs.clients") return item.index;
    const Reference* reference = item.scope->find_reference("client");
    if (reference == nullptr) return std::nullopt;
    const Joined joined = reference->get(context_, item);
    return joined.item ? std::optional(joined.item->index) : std::nullopt;
  }

  // The platform whose place asks for the first mount of the client that anything asks for.
  std::string asking_platform(std::uint32_t client) const {
    for (const std::uint32_t mount : context_.mounts_of_client(client)) {
      const auto& asked = context_.facts.nfs.mounts[mount].asked;
      if (!asked.has_value()) continue;
      return asked->origin == "trident-backend" ? "trident" : asked->origin;
    }
    return "";
  }

  std::vector<Item> mounts_of(std::uint32_t client) const {
    std::vector<Item> items;
    for (const std::uint32_t mount : context_.mounts_of_client(client))
      items.push_back({find_scope("nfs.mounts"), mount, 0});
    return items;
  }

  // Mounts that a finding speaks of: its own, or all of the client.
  std::vector<Item> mounts_of(const Draft& draft, std::uint32_t client) const {
    return draft.items.front().scope->name == "nfs.mounts" ? draft.items : mounts_of(client);
  }

  bool is_offered(const Snippet& snippet, const Item& item) const {
    return !snippet.when || evaluate(*snippet.when, context_, item) != Truth::no;
  }

  std::vector<Item> offered(const Snippet& snippet, std::uint32_t client, const std::vector<Item>& mounts) const {
    std::vector<Item> items;
    if (snippet.scope->name == "nfs.mounts") {
      items = mounts;
    } else if (snippet.scope->name == "nfs.clients") {
      items = {{snippet.scope, client, 0}};
    } else if (snippet.scope->name == "node") {
      items = {{snippet.scope, 0, 0}};
    }
    items.erase(std::remove_if(items.begin(), items.end(), [&](const Item& i) { return !is_offered(snippet, i); }),
                items.end());
    return items;
  }

  // All texts of a snippet over these items, equal ones once.
  std::string text_of(const Snippet& snippet, const std::vector<Item>& items, const Changes& changes) const {
    if (items.empty()) return {};
    Line shared;
    shared.changed = changes.set;
    for (const Option& least : changes.raise) {
      if (Option* there = find_slot(shared.changed, slot_of(least.key))) merge_value(*there, least);
    }
    // Mounts by the thousand ask with the same few texts: each is worked on once.
    std::vector<Options> distinct;
    std::unordered_map<std::string, std::size_t> by_start;
    std::vector<std::size_t> line_of;  // per item
    for (const Item& item : items) {
      if (snippet.scope->name != "nfs.mounts") {
        distinct.resize(1);
        line_of.push_back(0);
        continue;
      }
      const facts::NfsMount& mount = context_.facts.nfs.mounts[item.index];
      const std::string start = mount.asked.has_value() ? mount.asked->text : join_options(base_of(mount));
      const auto [place, added] = by_start.emplace(start + '|' + mount.vers.value_or(""), distinct.size());
      if (added) distinct.push_back(apply(changes, base_of(mount), mount));
      line_of.push_back(place->second);
    }
    if (!snippet.own_line) {
      shared.options = common(distinct);
      std::set<std::string> each;
      for (const Item& item : items) {
        if (!snippet.each) break;
        const facts::Value value = read_value(context_, item, *snippet.each);
        if (const std::string* name = value.as_text()) each.insert(*name);
      }
      shared.each.assign(each.begin(), each.end());
      return render_snippet(snippet.text, context_, items.front(), shared).value_or("");
    }
    std::vector<std::string> texts;
    std::set<std::string> seen;
    for (std::size_t i = 0; i < items.size(); ++i) {
      shared.options = distinct[line_of[i]];
      auto text = render_snippet(snippet.text, context_, items[i], shared);
      if (text && seen.insert(*text).second) texts.push_back(std::move(*text));
    }
    return base::join(texts, "\n");
  }

  void add_remediation(Draft& draft, const Snippet& snippet, std::string text, const Item& item) const {
    if (text.empty()) return;
    draft.finding.remediation.push_back({snippet.platform, std::move(text), snippet.effect,
                                         render_snippet(snippet.undo, context_, item, {}).value_or(""), snippet.key});
  }

  void remediate(Draft& draft, std::uint32_t client, const Changes& changes) const {
    for (const std::string& key : draft.fix->snippets) {
      const auto snippet = rules_.snippets.find(key);
      if (snippet == rules_.snippets.end()) continue;
      const auto items = offered(snippet->second, client, mounts_of(draft, client));
      if (!items.empty())
        add_remediation(draft, snippet->second, text_of(snippet->second, items, changes), items.front());
    }
  }

  void remediate_alone(Draft& draft) const {
    for (const std::string& key : draft.fix->snippets) {
      const auto snippet = rules_.snippets.find(key);
      const Item& item = draft.items.front();
      if (snippet == rules_.snippets.end() || snippet->second.scope != item.scope || !is_offered(snippet->second, item))
        continue;
      add_remediation(draft, snippet->second, render_snippet(snippet->second.text, context_, item, {}).value_or(""),
                      item);
    }
  }

  // Whether this text, once in place, takes the cause of the finding away on every mount that the finding speaks of.
  bool clears(const Snippet& snippet, const Draft& draft, std::uint32_t client) const {
    if (draft.fix->options.empty() && draft.fix->remove.empty()) return false;
    const std::vector<Item> mounts = mounts_of(draft, client);
    if (offered(snippet, client, mounts).size() != mounts.size()) return false;
    if (snippet.platform != "nfsmount.conf") return true;
    // What the mount itself asks for goes before nfsmount.conf(5): the file adds, it takes nothing away.
    if (!draft.fix->remove.empty()) return false;
    return std::all_of(mounts.begin(), mounts.end(), [&](const Item& item) {
      const auto& asked = context_.facts.nfs.mounts[item.index].asked;
      if (asked.is_unknown()) return false;
      Options named = asked.has_value() ? parse_options(asked->text) : Options{};
      return std::all_of(draft.fix->options.begin(), draft.fix->options.end(),
                         [&](const OptionChange& change) { return find_slot(named, slot_of(change.key)) == nullptr; });
    });
  }

  void add_entries(std::uint32_t client, const std::vector<Draft*>& drafts, const Changes& changes,
                   std::vector<PlanEntry>& plan) const {
    std::map<std::string, const Snippet*> by_platform;
    for (const Draft* draft : drafts) {
      if (draft->fix->options.empty() && draft->fix->remove.empty()) continue;
      for (const std::string& key : draft->fix->snippets) {
        const auto snippet = rules_.snippets.find(key);
        if (snippet != rules_.snippets.end() && names_options(snippet->second))
          by_platform.emplace(snippet->second.platform, &snippet->second);
      }
    }
    for (const auto& [platform, snippet] : by_platform) {
      PlanEntry entry;
      entry.subject = {"nfs.client", context_.facts.nfs.clients[client].id};
      entry.platform = platform;
      entry.text = text_of(*snippet, offered(*snippet, client, mounts_of(client)), changes);
      std::set<std::string> cleared, left;
      for (const Draft* draft : drafts) (clears(*snippet, *draft, client) ? cleared : left).insert(draft->finding.rule);
      for (const std::string& rule : cleared) {
        if (!left.contains(rule)) entry.clears.push_back(rule);
      }
      if (!entry.text.empty() && !entry.clears.empty()) plan.push_back(std::move(entry));
    }
  }

  const Context& context_;
  const RuleSet& rules_;
  std::vector<Draft>& drafts_;
};

// --- the plan, applied ---------------------------------------------------------------------------------------------

// The JSON text or list behind a key in a snippet's text: nfsMountOptions: "a,b" or mountOptions: ["a", "b"].
std::optional<Options> options_behind(std::string_view text, std::string_view key) {
  const std::size_t at = text.find(key);
  if (at == std::string_view::npos) return std::nullopt;
  std::size_t i = text.find_first_of("[\"", at + key.size() + 1);
  if (i == std::string_view::npos) return std::nullopt;
  const bool list = text[i] == '[';
  std::string joined;
  bool inside = !list;
  for (++i; i < text.size(); ++i) {
    const char c = text[i];
    if (inside && c == '\\' && i + 1 < text.size()) {
      joined += text[++i];
    } else if (c == '"') {
      if (!list) return parse_options(joined);
      inside = !inside;
    } else if (!inside && c == ']') {
      return parse_options(joined);
    } else if (inside || c == ',') {
      joined += c;
    }
  }
  return std::nullopt;
}

template <class T>
void set_number(facts::Fact<T>& fact, const Option& option) {
  const auto number = option.value ? base::number<T>(*option.value) : std::nullopt;
  if (number) fact = *number;
}

facts::AskedOptions asked_from(const Options& options, const facts::AskedOptions& before, const std::string& platform) {
  using facts::Fact;
  facts::AskedOptions asked;
  asked.origin = before.origin.empty() ? platform : before.origin;
  asked.path = before.path;
  asked.text = join_options(options);
  asked.default_text = before.default_text;
  const auto none = [](auto& fact) { fact = std::remove_reference_t<decltype(fact)>::absent(); };
  none(asked.vers), none(asked.vers_origin), none(asked.nconnect), none(asked.max_connect), none(asked.rsize_bytes);
  none(asked.wsize_bytes), none(asked.timeo_ds), none(asked.retrans), none(asked.recovery), none(asked.proto);
  none(asked.sec), none(asked.xprtsec), none(asked.local_lock), none(asked.nolock), none(asked.read_only);
  for (const Option& option : options) {
    const std::string& key = option.key;
    if (key == "nconnect") set_number(asked.nconnect, option);
    if (key == "max_connect") set_number(asked.max_connect, option);
    if (key == "rsize") set_number(asked.rsize_bytes, option);
    if (key == "wsize") set_number(asked.wsize_bytes, option);
    if (key == "timeo") set_number(asked.timeo_ds, option);
    if (key == "retrans") set_number(asked.retrans, option);
    if (slot_of(key) == "vers") asked.vers = option.value ? *option.value : key.substr(1);
    if (slot_of(key) == "recovery") asked.recovery = key;
    if (slot_of(key) == "proto") asked.proto = option.value.value_or(key);
    if (key == "sec" && option.value) asked.sec = *option.value;
    if (key == "xprtsec" && option.value) asked.xprtsec = *option.value;
    if (key == "local_lock" && option.value) asked.local_lock = *option.value;
    if (slot_of(key) == "lock") asked.nolock = key == "nolock";
    if (slot_of(key) == "rw") asked.read_only = key == "ro";
  }
  if (asked.vers.has_value()) asked.vers_origin = platform == "nfsmount.conf" ? platform : asked.origin;
  return asked;
}

// What the kernel would make of it: the server's limit is taken to be what it gave before.
void mount_again(facts::NfsMount& mount) {
  const facts::AskedOptions& asked = *mount.asked;
  if (asked.vers.has_value() && *asked.vers != "4") mount.vers = asked.vers;
  const auto size = [](facts::Fact<std::uint32_t>& now, const facts::Fact<std::uint32_t>& wish) {
    if (wish.has_value() && now.has_value()) now = std::min(*now, *wish);
  };
  size(mount.rsize_bytes, asked.rsize_bytes);
  size(mount.wsize_bytes, asked.wsize_bytes);
  mount.timeo_ds = asked.timeo_ds.value_or(600U);
  mount.retrans = asked.retrans.value_or(2);
  mount.recovery = asked.recovery.value_or("hard");
  const Options words = parse_options(asked.text);
  mount.softreval = std::any_of(words.begin(), words.end(), [](const Option& o) { return o.key == "softreval"; });
  mount.nolock = asked.nolock.value_or(false);
  mount.local_lock = asked.local_lock.value_or(*mount.nolock ? "all" : "none");
  mount.nconnect = asked.nconnect.value_or(1) > 1 ? asked.nconnect : facts::Fact<std::uint32_t>::absent();
}

}  // namespace

std::vector<PlanEntry> make_plan(const Context& context, const RuleSet& rules, std::vector<Draft>& drafts) {
  return Planner(context, rules, drafts).run();
}

base::Result<facts::Facts> apply_plan(const facts::Facts& facts, const PlanEntry& entry) {
  const auto refuse = [&](std::string message) {
    return base::fail(base::ErrorKind::malformed, "plan for " + entry.platform, std::move(message));
  };
  std::map<std::string, Options> by_target;
  std::optional<Options> for_all;
  if (entry.platform == "fstab") {
    std::string_view rest = entry.text, line;
    while (base::next_line(rest, line)) {
      const auto fields = base::fields(line);
      if (fields.size() >= 4 && fields[0][0] != '#')
        by_target[base::octal_unescape(fields[1])] = parse_options(base::octal_unescape(fields[3]));
    }
    if (by_target.empty()) return refuse("holds no fstab line");
  } else if (entry.platform == "nfsmount.conf") {
    Options options;
    std::string_view rest = entry.text, line;
    while (base::next_line(rest, line)) {
      const std::size_t equals = line.find('=');
      if (equals == std::string_view::npos || equals == 0 || line[0] == '#' || line[0] == '[') continue;
      std::string key(line.substr(0, equals));
      const std::string value(line.substr(equals + 1));
      if (key[0] >= 'A' && key[0] <= 'Z') key[0] = static_cast<char>(key[0] - 'A' + 'a');
      if (value == "True") {
        options.push_back({key, std::nullopt});
      } else {
        options.push_back({key, value});
      }
    }
    for_all = std::move(options);
  } else {
    for_all = options_behind(entry.text, entry.platform == "trident" ? "nfsMountOptions" : "mountOptions");
    if (!for_all) return refuse("holds no mount options");
  }

  facts::Facts after = facts;
  after.earlier = {};
  for (facts::NfsClient& client : after.nfs.clients) {
    if (client.id != entry.subject.id) continue;
    std::optional<std::uint32_t> nconnect;
    for (facts::NfsMount& mount : after.nfs.mounts) {
      if (mount.client_id != client.id) continue;
      const facts::AskedOptions before = mount.asked.value_or({});
      if (entry.platform == "nfsmount.conf") {
        Options options = parse_options(before.text);
        for (const Option& option : *for_all) {
          if (find_slot(options, slot_of(option.key)) == nullptr) options.push_back(option);
        }
        const bool names_version = before.vers.has_value();
        facts::AskedOptions asked = asked_from(options, before, names_version ? before.origin : entry.platform);
        asked.text = before.text;
        mount.asked = std::move(asked);
      } else if (for_all) {
        const bool below_kubelet = mount.kubelet.has_value() || (mount.asked.has_value() && before.origin != "fstab");
        if (below_kubelet) mount.asked = asked_from(*for_all, before, entry.platform);
      } else if (const auto line = by_target.find(mount.target); line != by_target.end()) {
        mount.asked = asked_from(line->second, before, entry.platform);
      }
      if (!mount.asked.has_value()) continue;
      mount_again(mount);
      mount.ops.clear();
      if (!nconnect) nconnect = mount.asked->nconnect.value_or(1);
    }
    if (!nconnect) continue;
    facts::NfsTransport fresh;
    if (!client.transports.empty()) fresh.proto = client.transports.front().proto;
    fresh.pending_u = std::uint64_t{0};
    fresh.max_slots = std::uint64_t{0};
    client.transports.assign(*nconnect, fresh);
    client.transport_count = *nconnect;
    client.nconnect = *nconnect > 1 ? facts::Fact<std::uint32_t>(*nconnect) : facts::Fact<std::uint32_t>::absent();
  }
  return after;
}

}  // namespace audit
