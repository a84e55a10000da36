// What the owner accepts until a day.
#include <fmt/format.h>

#include <algorithm>

#include "audit/base/text.h"
#include "audit/eval/draft.h"
#include "audit/eval/yaml.h"

namespace audit {

namespace {

const std::vector<std::string> keys{"rule", "subject", "fingerprint", "reason", "until"};

bool is_date(std::string_view text) {
  if (text.size() != 10 || text[4] != '-' || text[7] != '-') return false;
  const auto year = base::number<unsigned>(text.substr(0, 4)), month = base::number<unsigned>(text.substr(5, 2)),
             day = base::number<unsigned>(text.substr(8, 2));
  if (!year || !month || !day || *month < 1 || *month > 12 || *day < 1) return false;
  const bool leap = (*year % 4 == 0 && *year % 100 != 0) || *year % 400 == 0;
  const unsigned days = *month == 2                                                 ? (leap ? 29 : 28)
                        : *month == 4 || *month == 6 || *month == 9 || *month == 11 ? 30
                                                                                    : 31;
  return *day <= days;
}

bool matches(const Waiver& waiver, const Finding& finding) {
  if (!waiver.fingerprint.empty()) {
    if (waiver.fingerprint != finding.fingerprint) return false;
  } else if (!base::glob_match(waiver.rule, finding.rule)) {
    return false;
  }
  return base::glob_match(waiver.subject, finding.subject.id);
}

std::string name_of(const Waiver& waiver) {
  return (waiver.fingerprint.empty() ? waiver.rule : waiver.fingerprint) + ' ' + waiver.subject;
}

Finding about(const Waiver& waiver, bool expired, const facts::Facts& facts) {
  Finding f;
  f.rule = expired ? "WAIVER-001" : "WAIVER-002";
  f.kind = "hygiene";
  f.basis = {"judgement"};
  f.subject = {"node", facts.node.name};
  f.effect = "rerun";
  f.evidence.push_back({"waiver", name_of(waiver), waiver.where});
  f.evidence.push_back({"until", waiver.until, waiver.where});
  f.fingerprint = fingerprint(f.rule, f.subject, name_of(waiver));
  const std::string name = name_of(waiver);
  if (expired) {
    f.text = {"Waiver is expired",
              fmt::format("the waiver for {} ended on {}: {}", name, waiver.until, waiver.reason),
              "A finding that was accepted for a time counts again.",
              "Remove the cause, or set a new date.",
              {}};
    f.text_ja = Texts{"期限切れの除外設定",
                      fmt::format("{} の除外設定は {} で終了しました: {}", name, waiver.until, waiver.reason),
                      "期限付きで許容した指摘は、期限を過ぎると再び数えられます。",
                      "原因を取り除くか、新しい期限を設定してください。",
                      {}};
  } else {
    f.text = {"Waiver matches nothing",
              fmt::format("the waiver for {} matches no finding: {}", name, waiver.reason),
              "A waiver that is no longer needed would hide the next finding of its kind.",
              "Remove it.",
              {}};
    f.text_ja = Texts{"該当する指摘のない除外設定",
                      fmt::format("{} の除外設定に該当する指摘はありません: {}", name, waiver.reason),
                      "不要になった除外設定は、次に現れる同種の指摘を隠してしまいます。",
                      "削除してください。",
                      {}};
  }
  return f;
}

}  // namespace

base::Result<std::vector<Waiver>> load_waivers(std::string_view text, const std::string& where) {
  auto tree = parse_yaml(text, where);
  if (!tree) return tl::unexpected<base::Error>(tree.error());
  const auto refuse = [&](std::uint32_t line, std::string message) {
    return base::fail(base::ErrorKind::malformed, fmt::format("{}:{}", where, line), std::move(message));
  };
  if (!tree->is_list()) return refuse(tree->line, "waivers are a list of {rule, subject, reason, until}");
  std::vector<Waiver> waivers;
  for (const Yaml& node : tree->items) {
    if (!node.is_map()) return refuse(node.line, "a waiver is {rule, subject, reason, until}");
    Waiver waiver;
    waiver.where = fmt::format("{}:{}", where, node.line);
    for (std::size_t i = 0; i < node.keys.size(); ++i) {
      const std::string& key = node.keys[i].text;
      const Yaml& value = node.items[i];
      if (std::find(keys.begin(), keys.end(), key) == keys.end()) {
        const auto near = base::nearest(key, keys);
        return refuse(node.keys[i].line, fmt::format("unknown key '{}'{}", key, near ? ", nearest: " + *near : ""));
      }
      if (!value.is_scalar() || value.text.empty()) return refuse(value.line, fmt::format("{} has to be a text", key));
      if (key == "rule") waiver.rule = value.text;
      if (key == "subject") waiver.subject = value.text;
      if (key == "fingerprint") waiver.fingerprint = value.text;
      if (key == "reason") waiver.reason = value.text;
      if (key == "until") waiver.until = value.text;
    }
    if (waiver.rule.empty() == waiver.fingerprint.empty())
      return refuse(node.line, "a waiver names a rule or a fingerprint");
    if (waiver.reason.empty()) return refuse(node.line, "the key 'reason' is missing");
    if (waiver.until.empty()) return refuse(node.line, "the key 'until' is missing");
    if (!is_date(waiver.until))
      return refuse(node.line, fmt::format("until: '{}' is no date YYYY-MM-DD", waiver.until));
    waivers.push_back(std::move(waiver));
  }
  return waivers;
}

std::vector<Waived> apply_waivers(std::vector<Draft>& drafts, const JudgeOptions& options, const facts::Facts& facts,
                                  std::vector<Finding>& about_waivers) {
  std::vector<Waived> waived;
  std::vector<bool> used(options.waivers.size(), false);
  const auto expired = [&](const Waiver& waiver) { return !options.today.empty() && waiver.until < options.today; };
  std::vector<Draft> kept;
  for (Draft& draft : drafts) {
    const Waiver* by = nullptr;
    for (std::size_t i = 0; i < options.waivers.size(); ++i) {
      const Waiver& waiver = options.waivers[i];
      if (!matches(waiver, draft.finding)) continue;
      used[i] = true;
      if (by == nullptr && !expired(waiver)) by = &waiver;
    }
    if (by != nullptr) {
      waived.push_back({std::move(draft.finding), by->reason, by->until});
    } else {
      kept.push_back(std::move(draft));
    }
  }
  drafts = std::move(kept);
  // With a part of the rules only, a waiver may well match nothing.
  const bool all_rules = options.only.empty() && options.skip.empty() && !options.now;
  for (std::size_t i = 0; i < options.waivers.size(); ++i) {
    if (expired(options.waivers[i])) {
      about_waivers.push_back(about(options.waivers[i], true, facts));
    } else if (!used[i] && all_rules) {
      about_waivers.push_back(about(options.waivers[i], false, facts));
    }
  }
  return waived;
}

}  // namespace audit
