#include "audit/report/words.h"

#include <fmt/format.h>

#include <array>

namespace audit {

namespace {

constexpr Words english = {
    .broken_now = "BROKEN NOW",
    .could_be_better = "COULD BE BETTER",
    .not_checked = "NOT CHECKED",
    .waived = "WAIVED",
    .seen = "seen",
    .affects = "hits",
    .gain = "gain",
    .advice = "do",
    .write = "set",
    .note = "note",
    .why = "why",
    .could_be = "could be {}: {}",
    .not_known = "not known: ",
    .contested = "contested: {} says {}",
    .undo = "undo",
    .basis = "rests on ",
    .references = "see ",
    .inputs = "from the texts given",
    .root = "root {}",
    .captured = "root {} (captured {})",
    .profiles = "profiles {}",
    .counts = "{} on {}",
    .passed_one = "1 check passed",
    .passed = "{} checks passed",
    .nothing = "nothing",
    .healthy = "All well: {}, {}, nothing to change.",
    .healthy_so_far = "All well as far as could be seen: {}, {}, {} not decided.",
    .no_mounts = "No NFS mounts on this node: 0 packets sent, nothing to ask.",
    .plan_word = "plan",
    .plan = "{}: one change clears {}",
    .undecided = "{}: {}",
    .more_subjects = " (+{} more)",
    .more_names = " and {} more",
    .same_as = "as {}",
    .hint = "More: -v, or mountaudit rules explain ID",
    .more_rows = "... {} more rows",
    .more_platforms = "-v: also for {}",
    .more_lines = "... {} more lines",
    .questions = "{} questions, -v lists them",
};

constexpr Words japanese = {
    .broken_now = "いま壊れているもの",
    .could_be_better = "改善できるもの",
    .not_checked = "確認できなかったもの",
    .waived = "免除済み",
    .seen = "根拠",
    .affects = "影響",
    .gain = "効果",
    .advice = "対処",
    .write = "設定",
    .note = "補足",
    .why = "理由",
    .could_be = "{}の可能性あり: {}",
    .not_known = "不明: ",
    .contested = "異論あり: {} は {}",
    .undo = "戻す",
    .basis = "論拠: ",
    .references = "参照: ",
    .inputs = "与えられたテキストのみ",
    .root = "ルート {}",
    .captured = "ルート {} ({} 採取)",
    .profiles = "プロファイル {}",
    .counts = "{}、{}",
    .passed_one = "1 項目は問題なし",
    .passed = "{} 項目は問題なし",
    .nothing = "なし",
    .healthy = "問題ありません: {}、{}、変更の必要はありません。",
    .healthy_so_far = "見えた範囲では問題ありません: {}、{}、{} 項目は判定できませんでした。",
    .no_mounts = "このノードに NFS マウントはありません: 送信パケット 0、問い合わせ先なし。",
    .plan_word = "計画",
    .plan = "{}: この変更で {} がまとめて解消",
    .undecided = "{}: {}",
    .more_subjects = " (他 {} 件)",
    .more_names = " 他 {} 件",
    .same_as = "{} と同じ",
    .hint = "詳細: -v、または mountaudit rules explain ID",
    .more_rows = "... 他 {} 行",
    .more_platforms = "{} 用は -v で",
    .more_lines = "... 他 {} 行",
    .questions = "{} 件の質問、-v で一覧",
};

struct KindName {
  const char* kind;
  const char* one;
  const char* many;
  const char* ja;
};

constexpr std::array kind_names = {
    KindName{"vm", "VM", "VMs", "VM"},
    KindName{"pod", "pod", "pods", "Pod"},
    KindName{"volume", "volume", "volumes", "ボリューム"},
    KindName{"claim", "claim", "claims", "PVC"},
    KindName{"setting", "setting", "settings", "設定"},
    KindName{"nfs", "NFS mount", "NFS mounts", "NFS マウント"},  // in the head, where nothing else says NFS
    KindName{"nfs.mount", "mount", "mounts", "マウント"},
    KindName{"nfs.client", "NFS client", "NFS clients", "NFS クライアント"},
    KindName{"nfs.server", "server", "servers", "サーバー"},
    KindName{"nfs.service", "service", "services", "サービス"},
    KindName{"iscsi.session", "iSCSI session", "iSCSI sessions", "iSCSI セッション"},
    KindName{"iscsi.target", "iSCSI target", "iSCSI targets", "iSCSI ターゲット"},
    KindName{"iscsi.portal", "iSCSI portal", "iSCSI portals", "iSCSI ポータル"},
    KindName{"block.device", "block device", "block devices", "ブロックデバイス"},
    KindName{"multipath.map", "multipath map", "multipath maps", "マルチパス"},
    KindName{"node", "node", "nodes", "ノード"},
};

}  // namespace

const Words& words(Language language) { return language == Language::ja ? japanese : english; }

std::string severity_name(Severity severity, Language language) {
  if (language == Language::en) return severity_word(severity);
  switch (severity) {
    case Severity::info: return "情報";
    case Severity::notice: return "注意";
    case Severity::warning: return "警告";
    case Severity::error: return "エラー";
  }
  return severity_word(severity);
}

std::string severity_count(std::size_t count, Severity severity, Language language) {
  if (language == Language::ja) return fmt::format("{} {}", severity_name(severity, language), count);
  return fmt::format("{} {}{}", count, severity_word(severity), count == 1 || severity == Severity::info ? "" : "s");
}

std::string effect_words(const std::string& effect, Language language) {
  struct Row {
    const char* effect;
    const char* en;
    const char* ja;
  };
  static constexpr std::array rows = {
      Row{"live", "at once", "即時に反映"},
      Row{"remount", "unmount and mount", "要アンマウント・再マウント"},
      Row{"relogin", "log out and log in", "要再ログイン"},
      Row{"reboot", "reboot", "要再起動"},
      Row{"server", "on the server", "サーバー側の変更"},
      Row{"rerun", "for the next run", "次の実行から"},
  };
  for (const auto& row : rows) {
    if (effect == row.effect) return language == Language::ja ? row.ja : row.en;
  }
  return effect;
}

std::string kind_name(const std::string& kind, bool plural, Language language) {
  for (const auto& row : kind_names) {
    if (kind == row.kind) return language == Language::ja ? row.ja : plural ? row.many : row.one;
  }
  return kind;
}

std::string kind_count(std::size_t count, const std::string& kind, Language language) {
  return language == Language::ja ? fmt::format("{} {}", kind_name(kind, true, language), count)
                                  : fmt::format("{} {}", count, kind_name(kind, count != 1, language));
}

}  // namespace audit
