#include "audit/report/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace audit {

namespace {

constexpr Words english = {
    .broken_now = "BROKEN NOW",
    .could_be_better = "COULD BE BETTER",
    .not_checked = "NOT CHECKED",
    .waived = "WAIVED",
    .live_migration = "LIVE MIGRATION",
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
    .probed = "probe of {}",
    .profiles = "profiles {}",
    .counts = "{} on {}",
    .passed_one = "1 check passed",
    .passed = "{} checks passed",
    .nothing = "nothing",
    .healthy = "All well: {}, {}, nothing to change.",
    .healthy_so_far = "All well as far as could be seen: {}, {}, {} not decided.",
    .nothing_judged = "Nothing could be judged: {}.",
    .no_mounts = "No NFS mounts on this node: 0 packets sent, nothing to ask.",
    .plan_word = "plan",
    .plan = "{}: clears {}",
    .undecided = "{}: {}",
    .more_subjects = " (+{} more)",
    .more_names = " and {} more",
    .same_as = "as {}",
    .hint = "More: -v, or mountaudit rules explain ID",
    .more_rows = "... {} more rows",
    .more_lines = "... {} more lines",
    .time = "WHERE THE TIME GOES",
    .time_legend = "q queue, n network, s server, r server and network, c client",
    .since_mount = "since the mount",
    .between_samples = "between two samples {:.0f} s apart",
    .all_operations = "all",
    .operations = "{} operations",
    .errors = "{} ended with an error",
    .connection_one = "1 connection",
    .connections = "{} connections, the busiest with {:.2f} times the mean",
    .slots_session = "session slots: {} of {} in use at the peak",
    .slots_connection = "slots of the busiest connection: {} of {} in use at the peak",
    .wrapped = "left out, their time counters wrapped: {}",
    .network_not_known = "TCP's round trip is not known: network and server cannot be told apart",
    .side_by_side = "SIDE BY SIDE",
    .side_legend = "* differs from what was asked for, + the server allows more, - nothing named",
    .side_option = "option",
    .side_asked = "asked",
    .side_effective = "effective",
    .side_allowed = "allowed",
    .asked_by = "asked by {}: {}",
    .asked_by_none = "what was asked for is not known",
    .not_asked = "not asked",
    .not_known_cell = "not known",
    .migration_yes = "{}: yes ({})",
    .migration_no = "{}: no, because {}",
    .migration_unknown = "{}: unknown, because {}",
    .questions = "{} questions, -v lists them",
};

constexpr Words japanese = {
    .broken_now = "いま壊れているもの",
    .could_be_better = "改善できるもの",
    .not_checked = "確認できなかったもの",
    .waived = "免除済み",
    .live_migration = "ライブマイグレーション",
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
    .probed = "{} の調査",
    .profiles = "プロファイル {}",
    .counts = "{}、{}",
    .passed_one = "1 項目は問題なし",
    .passed = "{} 項目は問題なし",
    .nothing = "なし",
    .healthy = "問題ありません: {}、{}、変更の必要はありません。",
    .healthy_so_far = "見えた範囲では問題ありません: {}、{}、{} 項目は判定できませんでした。",
    .nothing_judged = "判定できるものがありませんでした: {}。",
    .no_mounts = "このノードに NFS マウントはありません: 送信パケット 0、問い合わせ先なし。",
    .plan_word = "計画",
    .plan = "{}: この変更で {} がまとめて解消",
    .undecided = "{}: {}",
    .more_subjects = " (他 {} 件)",
    .more_names = " 他 {} 件",
    .same_as = "{} と同じ",
    .hint = "詳細: -v、または mountaudit rules explain ID",
    .more_rows = "... 他 {} 行",
    .more_lines = "... 他 {} 行",
    .time = "時間の内訳",
    .time_legend = "q 送信待ち、n ネットワーク、s サーバー、r サーバーとネットワーク、c クライアント",
    .since_mount = "マウント以来",
    .between_samples = "{:.0f} 秒間隔の二つの標本の間",
    .all_operations = "全体",
    .operations = "{} 回",
    .errors = "エラー終了 {} 回",
    .connection_one = "接続 1 本",
    .connections = "接続 {} 本、最も多い接続は平均の {:.2f} 倍",
    .slots_session = "セッションスロット: 最大時 {} / {} を使用",
    .slots_connection = "最も多い接続のスロット: 最大時 {} / {} を使用",
    .wrapped = "時間カウンターが一周したため除外: {}",
    .network_not_known = "TCP の往復時間が不明なため、ネットワークとサーバーを分けられません",
    .side_by_side = "対照表",
    .side_legend = "* 要求と異なる、+ サーバーはより大きい値を許す、- 指定なし",
    .side_option = "オプション",
    .side_asked = "要求",
    .side_effective = "実効",
    .side_allowed = "サーバー許容",
    .asked_by = "要求元 {}: {}",
    .asked_by_none = "要求された内容は不明",
    .not_asked = "未問合せ",
    .not_known_cell = "不明",
    .migration_yes = "{}: 可能({})",
    .migration_no = "{}: 不可。{}",
    .migration_unknown = "{}: 不明。{}",
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
    KindName{"mount", "file system", "file systems", "ファイルシステム"},  // on a block device
    KindName{"nfs.client", "NFS client", "NFS clients", "NFS クライアント"},
    KindName{"nfs.server", "server", "servers", "サーバー"},
    KindName{"nfs.service", "service", "services", "サービス"},
    KindName{"iscsi.session", "iSCSI session", "iSCSI sessions", "iSCSI セッション"},
    KindName{"iscsi.target", "iSCSI target", "iSCSI targets", "iSCSI ターゲット"},
    KindName{"iscsi.portal", "iSCSI portal", "iSCSI portals", "iSCSI ポータル"},
    KindName{"block.device", "block device", "block devices", "ブロックデバイス"},
    KindName{"multipath.map", "multipath map", "multipath maps", "マルチパス"},
    KindName{"run", "measured run", "measured runs", "測定"},
    KindName{"connection", "connection", "connections", "接続"},
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

std::string time_verdict(const OpTime& op, const ClientTime& client, Language language) {
  const bool ja = language == Language::ja;
  const double percent = op.most_share * 100;
  switch (op.most) {
    case TimePart::network:
      return fmt::format(fmt::runtime(ja ? "ネットワークの往復が {:.0f} %" : "network round trip takes {:.0f} %"),
                         percent);
    case TimePart::server:
      return fmt::format(fmt::runtime(ja ? "サーバーが {:.0f} %" : "server takes {:.0f} %"), percent);
    case TimePart::reply:
      return fmt::format(fmt::runtime(ja ? "サーバーとネットワークが {:.0f} %" : "server and network take {:.0f} %"),
                         percent);
    case TimePart::client:
      return fmt::format(fmt::runtime(ja ? "応答後のクライアントが {:.0f} %" : "client after the reply takes {:.0f} %"),
                         percent);
    case TimePart::queue: break;
  }
  if (client.slots_full())
    return fmt::format(
        fmt::runtime(ja ? (client.slots_exact ? "スロット待ち: {} / {} を使用" : "スロット待ち: 最大 {} / {} を使用")
                        : (client.slots_exact ? "waits for a slot: {} of {} in use"
                                              : "waits for a slot: up to {} of {} in use")),
        std::min(*client.slots_peak, *client.slots_limit), *client.slots_limit);
  std::string text =
      fmt::format(fmt::runtime(ja ? "送信前の待ちが {:.0f} %" : "waits before the send {:.0f} %"), percent);
  // The kernel counts the time up to the last transmission as queue: a retransmission stands in it.
  if (op.retrans > 0)
    text += fmt::format(fmt::runtime(ja ? " (再送 {} 回を含む)" : " ({} retransmissions in it)"), op.retrans);
  return text;
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
