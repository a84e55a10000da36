#include "audit/eval/engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <unordered_map>

#include "audit/base/text.h"
#include "audit/eval/derive.h"
#include "audit/eval/derive_storage.h"
#include "audit/eval/draft.h"
#include "audit/eval/migration.h"
#include "audit/eval/side_by_side.h"
#include "audit/eval/time.h"

namespace audit {

namespace {

enum class Outcome : std::uint8_t { pass, fail, unknown, not_applicable };

// What one rule says of one item.
struct Verdict {
  Outcome outcome = Outcome::not_applicable;
  Severity severity = Severity::info;
  const Level* level = nullptr;
  // Only with `explain`:
  std::string reason;  // of unknown
  std::optional<Finding::CouldBe> could_be;
  std::vector<std::string> not_known;
  std::vector<const Unless*> caps;
};

Severity one_lower(Severity severity) {
  return severity == Severity::info ? severity : static_cast<Severity>(static_cast<int>(severity) - 1);
}

class Judge {
 public:
  Judge(const Context& context, const RuleSet& rules, const JudgeOptions& options, Report& report)
      : context_(context), rules_(rules), options_(options), report_(report) {
    for (const Profile& profile : report.profiles) profiles_.insert(profile.name);
  }

  void run() {
    for (const Rule& rule : rules_.rules) {
      if (is_selected(rule)) run(rule);
    }
    std::vector<Finding> about_waivers;
    report_.waived = apply_waivers(drafts_, options_, context_.facts, about_waivers);
    report_.plan = make_plan(context_, rules_, drafts_);
    for (Draft& draft : drafts_) report_.findings.push_back(std::move(draft.finding));
    for (Finding& finding : about_waivers) report_.findings.push_back(std::move(finding));
    sort();
  }

  RuleTrace trace(const Rule& rule) const {
    RuleTrace trace;
    for (const Item& item : rule.scope->items(context_)) {
      if (check(rule.when, item, nullptr) != Truth::yes) continue;
      for (std::size_t i = 0; i < rule.unless.size(); ++i) {
        if (evaluate(rule.unless[i].when, context_, item, nullptr) == Truth::yes) trace.exceptions.insert(i);
      }
      const Verdict verdict = judge(rule, item, false);
      if (verdict.level != nullptr) trace.levels.insert(static_cast<std::size_t>(verdict.level - rule.levels.data()));
    }
    return trace;
  }

 private:
  bool is_active(const std::vector<std::string>& profiles) const {
    return profiles.empty() ||
           std::any_of(profiles.begin(), profiles.end(), [&](const std::string& p) { return profiles_.contains(p); });
  }

  bool is_selected(const Rule& rule) const {
    const auto matches = [&](const std::string& glob) { return base::glob_match(glob, rule.id); };
    const auto any = [&](const std::vector<std::string>& globs) {
      return std::any_of(globs.begin(), globs.end(), matches);
    };
    if (!is_active(rule.profiles) || (options_.now && rule.kind != "health")) return false;
    return (options_.only.empty() || any(options_.only)) && !any(options_.skip);
  }

  Truth check(const std::optional<Condition>& condition, const Item& item, Missing* missing) const {
    return condition ? evaluate(*condition, context_, item, missing) : Truth::yes;
  }

  // With `explain` also why, which costs texts.
  Verdict judge(const Rule& rule, const Item& item, bool explain) const {
    Verdict verdict;
    Missing missing;
    Missing* collect = explain ? &missing : nullptr;
    const Truth applies = check(rule.when, item, collect);
    if (applies == Truth::no) return verdict;
    if (applies == Truth::unknown) {
      verdict.outcome = Outcome::unknown;
      if (explain) verdict.reason = needs_text(missing);
      return verdict;
    }
    std::optional<Severity> cap;
    for (const Unless& unless : rule.unless) {
      missing.clear();
      const Truth excused = evaluate(unless.when, context_, item, collect);
      if (excused == Truth::yes && !unless.severity) return verdict;
      if (excused == Truth::yes) {
        cap = cap ? std::min(*cap, *unless.severity) : *unless.severity;
        verdict.caps.push_back(&unless);
      }
      if (excused == Truth::unknown && explain) {
        verdict.not_known.push_back(fmt::format("not known whether it is excused ({}): {}",
                                                render(unless.because.en, context_, item), needs_text(missing)));
      }
    }
    std::vector<std::pair<const Level*, std::string>> undecided;
    bool any_unknown = false;
    Missing all_missing;
    for (const Level& level : rule.levels) {
      if (!is_active(level.profiles)) continue;
      missing.clear();
      const Truth holds = check(level.when, item, collect);
      if (holds == Truth::no) continue;
      if (holds == Truth::yes) {
        verdict.outcome = Outcome::fail;
        verdict.level = &level;
        break;
      }
      any_unknown = true;
      if (!explain) continue;
      undecided.emplace_back(&level, needs_text(missing));
      for (auto& text : missing) {
        if (std::find(all_missing.begin(), all_missing.end(), text) == all_missing.end())
          all_missing.push_back(std::move(text));
      }
    }
    if (verdict.level == nullptr) {
      verdict.outcome = any_unknown ? Outcome::unknown : Outcome::pass;
      if (any_unknown && explain) verdict.reason = needs_text(all_missing);
      return verdict;
    }
    missing.clear();
    const Truth lower = rule.lower_by_one ? evaluate(*rule.lower_by_one, context_, item, collect) : Truth::no;
    const auto final_severity = [&](Severity severity) {
      if (lower == Truth::yes) severity = one_lower(severity);
      return cap ? std::min(*cap, severity) : severity;
    };
    verdict.severity = final_severity(verdict.level->severity);
    if (!explain) return verdict;
    if (lower == Truth::unknown)
      verdict.not_known.push_back("not known whether it counts one level less: " + needs_text(missing));
    for (const auto& [level, needs] : undecided) {
      const Severity severity = final_severity(level->severity);
      if (severity > verdict.severity) {
        if (!verdict.could_be || severity > verdict.could_be->severity)
          verdict.could_be = Finding::CouldBe{severity, needs};
      } else if (severity < verdict.severity) {
        verdict.not_known.push_back(fmt::format("could be {}: {}", severity_word(severity), needs));
      }
    }
    return verdict;
  }

  // Items with equal keys and equal outcome belong together.
  std::string group_key(const Rule& rule, const Item& item, const Verdict& verdict) const {
    std::string key = fmt::format("{}{}", static_cast<int>(verdict.outcome), static_cast<int>(verdict.severity));
    for (const FactPath& path : rule.group_by) {
      key += '\x1f';
      if (path.type.kind == facts::Kind::object) {
        const auto end = follow(context_, item, path.references);
        key += end ? fmt::format("{}|{}", end->index, end->sub) : "?";
      } else {
        const facts::Value value = read_value(context_, item, path);
        key += static_cast<char>('0' + value.data.index());
        key += value_text(value);
      }
    }
    return key;
  }

  struct Group {
    Outcome outcome;
    std::vector<Item> items;
  };

  void run(const Rule& rule) {
    std::vector<Group> groups;
    std::unordered_map<std::string, std::size_t> by_key;
    Passed passed{rule.id, 0};
    {
      const Context::WithoutReasons quick(context_);
      for (const Item& item : rule.scope->items(context_)) {
        const Verdict verdict = judge(rule, item, false);
        if (verdict.outcome == Outcome::not_applicable) continue;
        if (rule.group_by.empty()) {  // every item stands alone
          if (verdict.outcome == Outcome::pass)
            ++passed.subjects;
          else
            groups.push_back({verdict.outcome, {item}});
          continue;
        }
        const auto [place, added] = by_key.emplace(group_key(rule, item, verdict), groups.size());
        if (added) groups.push_back({verdict.outcome, {}});
        groups[place->second].items.push_back(item);
      }
    }
    for (Group& group : groups) {
      sort_items(group.items);
      if (group.outcome == Outcome::pass) ++passed.subjects;
      if (group.outcome == Outcome::unknown) {
        const Verdict verdict = judge(rule, group.items.front(), true);
        report_.unknown.push_back({rule.id, subject_of(rule, group.items), verdict.reason});
      }
      if (group.outcome == Outcome::fail) drafts_.push_back(make_draft(rule, std::move(group.items)));
    }
    if (passed.subjects > 0) report_.passed.push_back(passed);
    if (groups.empty() && passed.subjects == 0) ++report_.not_applicable;
  }

  void sort_items(std::vector<Item>& items) const {
    if (items.size() < 2) return;
    std::vector<std::pair<std::string, Item>> named;
    named.reserve(items.size());
    for (const Item& item : items) named.emplace_back(item.scope->subject(context_, item).id, item);
    std::stable_sort(named.begin(), named.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (std::size_t i = 0; i < items.size(); ++i) items[i] = named[i].second;
  }

  // The reference that the items are grouped by, else the first item's own subject.
  std::optional<Item> grouping_item(const Rule& rule, const Item& item) const {
    for (const FactPath& path : rule.group_by) {
      if (path.type.kind == facts::Kind::object) return follow(context_, item, path.references);
    }
    return std::nullopt;
  }

  Subject subject_of(const Rule& rule, const std::vector<Item>& items) const {
    const auto end = grouping_item(rule, items.front());
    const Item& item = end ? *end : items.front();
    return item.scope->subject(context_, item);
  }

  bool is_grouped_into_parent(const Rule& rule) const {
    return std::any_of(rule.group_by.begin(), rule.group_by.end(),
                       [&](const FactPath& path) { return path.text == rule.scope->parent; });
  }

  std::string source_text(const Reading& reading, const FactPath& path) const {
    if (path.derived == nullptr) return source_of(context_, reading.path);
    // A message or an attempt names its own line.
    const std::string own = reading.path.starts_with("log.") ? source_of(context_, reading.path) : std::string();
    const std::string from = own.empty() ? source_of(context_, path.derived->rests_on) : own;
    return "derived from " + (from.empty() ? std::string(path.derived->rests_on) : from);
  }

  Draft make_draft(const Rule& rule, std::vector<Item> items) const {
    Draft draft;
    const Item& first = items.front();
    Verdict verdict = judge(rule, first, true);
    const Level& level = *verdict.level;
    draft.rule = &rule;
    draft.fix = level.fix ? &*level.fix : &rule.fix;
    Finding& f = draft.finding;
    f.rule = rule.id;
    f.severity = verdict.severity;
    f.kind = rule.kind;
    f.basis = rule.basis;
    f.subject = subject_of(rule, items);
    f.effect = rule.effect;
    f.could_be = std::move(verdict.could_be);
    f.not_known = std::move(verdict.not_known);
    f.contested = rule.contested;
    f.references = rule.refs;
    texts(rule, level, *draft.fix, first, verdict, f);
    f.affects = affects_of(rule, items, f.subject);
    for (const FactPath& path : rule.show.facts) {
      Reading reading = read_fact(context_, first, path);
      std::string source =
          reading.value.is_unknown() ? missing_reason(first, path, reading.path) : source_text(reading, path);
      f.evidence.push_back({std::move(reading.path), std::move(reading.value), std::move(source)});
    }
    if (!rule.show.table.empty()) f.table = table_of(rule, first);
    if (level.gain) {
      f.gain = gain_of(*level.gain, first);
    } else if (rule.gain && !level.fix) {
      f.gain = gain_of(*rule.gain, first);
    }
    const bool named = !rule.scope->parent.empty() && !is_grouped_into_parent(rule);
    f.fingerprint = fingerprint(rule.id, f.subject, named ? rule.scope->own_name(context_, first) : "");
    draft.items = std::move(items);
    return draft;
  }

  // "path: why" without the path where it is that of the fact itself.
  std::string missing_reason(const Item& item, const FactPath& path, const std::string& shown) const {
    std::string text = missing_text(context_, item, path);
    return text.starts_with(shown + ": ") ? text.substr(shown.size() + 2) : "needs " + text;
  }

  void texts(const Rule& rule, const Level& level, const Fix& fix, const Item& item, const Verdict& verdict,
             Finding& f) const {
    const Text& message = level.message.empty() ? rule.message : level.message;
    const auto fill = [&](bool ja) {
      const auto one = [&](const Text& text) { return render(ja ? text.ja : text.en, context_, item, ja); };
      Texts texts{one(rule.title), one(message), one(rule.why), one(fix.text), {}};
      for (const Unless* cap : verdict.caps) texts.notes.push_back(one(cap->because));
      for (const Note& note : rule.notes) {
        Missing missing;
        const Truth holds = check(note.when, item, ja ? nullptr : &missing);
        if (holds == Truth::yes) texts.notes.push_back(one(note.text));
        if (holds == Truth::unknown && !ja)
          f.not_known.push_back(
              fmt::format("not known whether this applies ({}): {}", one(note.text), needs_text(missing)));
      }
      return texts;
    };
    f.text = fill(false);
    if (!options_.japanese) return;
    if (rule.title.ja.empty() && message.ja.empty() && rule.why.ja.empty() && fix.text.ja.empty()) return;
    Texts ja = fill(true);
    for (std::size_t i = 0; i < ja.notes.size() && i < f.text.notes.size(); ++i) {
      if (ja.notes[i].empty()) ja.notes[i] = f.text.notes[i];
    }
    f.text_ja = std::move(ja);
  }

  // Of things that a pod may use.
  const facts::Fact<facts::KubeletVolume>* kubelet_of(const Item& item) const {
    if (item.scope->name == "nfs.mounts") return &context_.facts.nfs.mounts[item.index].kubelet;
    if (item.scope->name == "block.users") return &context_.storage().uses[item.index].use->kubelet;
    return nullptr;
  }

  std::vector<Subject> affects_of(const Rule& rule, const std::vector<Item>& items, const Subject& subject) const {
    std::set<Subject> mounts, others;
    const auto add = [&](const Item& item) {
      const Subject s = item.scope->subject(context_, item);
      if (s != subject) (s.kind == "volume" ? others : mounts).insert(s);
      const facts::Fact<facts::KubeletVolume>* found = kubelet_of(item);
      if (found == nullptr || !found->has_value()) return;
      const facts::Fact<facts::KubeletVolume>& kubelet = *found;
      if (kubelet->pod_namespace.has_value() && kubelet->pod_name.has_value())
        others.insert({"pod", *kubelet->pod_namespace + '/' + *kubelet->pod_name});
      if (kubelet->vm.has_value()) others.insert({"vm", *kubelet->vm});
      if (kubelet->pv.has_value()) others.insert({"volume", *kubelet->pv});
    };
    for (const Item& item : items) {
      add(item);
      if (rule.affects.empty()) continue;
      for (const Item& affected : read_collection(context_, item, rule.affects_path)) add(affected);
    }
    std::vector<Subject> result(mounts.begin(), mounts.end());
    result.insert(result.end(), others.begin(), others.end());
    return result;
  }

  EvidenceTable table_of(const Rule& rule, const Item& item) const {
    EvidenceTable table;
    table.columns = rule.show.columns;
    for (const Item& row : read_collection(context_, item, rule.show.table_path)) {
      std::vector<facts::Value> values;
      for (const FactPath& path : rule.show.column_paths) values.push_back(read_value(context_, row, path));
      table.rows.push_back(std::move(values));
    }
    return table;
  }

  std::optional<Gain> gain_of(const GainRule& rule, const Item& item) const {
    if (check(rule.when, item, nullptr) != Truth::yes) return std::nullopt;
    Gain gain;
    gain.text = render(rule.text.en, context_, item);
    const auto bound = [&](const facts::Value& value, const std::optional<FactPath>& fact) {
      return fact ? read_value(context_, item, *fact).as_double() : value.as_double();
    };
    gain.low = bound(rule.low, rule.low_fact);
    gain.high = bound(rule.high, rule.high_fact);
    return gain;
  }

  void sort() {
    const auto rank = [](const std::string& kind) { return kind == "health" ? 0 : kind == "tuning" ? 1 : 2; };
    std::stable_sort(report_.findings.begin(), report_.findings.end(), [&](const Finding& a, const Finding& b) {
      if (a.severity != b.severity) return a.severity > b.severity;
      if (rank(a.kind) != rank(b.kind)) return rank(a.kind) < rank(b.kind);
      if (a.rule != b.rule) return a.rule < b.rule;
      return a.subject < b.subject;
    });
    std::stable_sort(report_.unknown.begin(), report_.unknown.end(), [](const NotDecided& a, const NotDecided& b) {
      return a.rule != b.rule ? a.rule < b.rule : a.subject < b.subject;
    });
  }

  const Context& context_;
  const RuleSet& rules_;
  const JudgeOptions& options_;
  Report& report_;
  std::set<std::string> profiles_;
  std::vector<Draft> drafts_;
};

}  // namespace

std::string render(const Template& text, const Context& context, const Item& item, bool ja) {
  std::string out;
  for (const auto& piece : text.pieces) {
    out += piece.path ? value_text(read_shown(context, item, *piece.path, ja), piece.spec, ja) : piece.text;
  }
  return out;
}

std::string fingerprint(const std::string& rule, const Subject& subject, const std::string& own_name) {
  std::string text = rule + '\n' + subject.kind + '\n' + subject.id + '\n';
  if (!own_name.empty()) text += own_name + '\n';
  return base::sha256_hex(text).substr(0, 16);
}

std::vector<Profile> detect_profiles(const facts::Facts& facts) {
  std::vector<Profile> profiles{{"general", "always on"}};
  if (facts.node.kubelet.is(true) && facts.node.virt_launcher.is(true))
    profiles.push_back({"openshift-virtualization", "kubelet and virt-launcher found"});
  for (const auto& server : facts.nfs.servers) {
    if (!server.kind.is("truenas")) continue;
    profiles.push_back({"zfs-nas", fmt::format("{} is a TrueNAS server", server.name)});
    break;
  }
  return profiles;
}

RuleTrace trace_rule(const facts::Facts& facts, const RuleSet& rules, const Rule& rule, const JudgeOptions& options) {
  Report report;
  report.profiles.push_back({"general", ""});
  for (const std::string& name : options.profiles) report.profiles.push_back({name, ""});
  const Context context(facts);
  return Judge(context, rules, options, report).trace(rule);
}

Report judge(const facts::Facts& facts, const RuleSet& rules, const JudgeOptions& options) {
  Report report;
  report.tool_version = options.tool_version;
  report.facts = &facts;
  if (options.profiles.empty()) {
    report.profiles = detect_profiles(facts);
  } else {
    report.profiles.push_back({"general", "always on"});
    for (const std::string& name : options.profiles) report.profiles.push_back({name, "asked for with --profile"});
  }
  for (const Profile& profile : options.also) report.profiles.push_back(profile);
  std::vector<Profile> distinct;
  for (Profile& profile : report.profiles) {
    const auto same = [&](const Profile& p) { return p.name == profile.name; };
    if (std::none_of(distinct.begin(), distinct.end(), same)) distinct.push_back(std::move(profile));
  }
  report.profiles = std::move(distinct);
  const Context context(facts);
  Judge(context, rules, options, report).run();
  report.time = where_time_goes(context);
  report.side_by_side = side_by_side(context);
  report.live_migration = live_migrations(context);
  return report;
}

}  // namespace audit
