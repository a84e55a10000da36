#include "audit/report/json.h"

#include "audit/base/json.h"
#include "audit/facts/facts.h"
#include "audit/report/words.h"
#include "audit/snapshot/document.h"

namespace audit {

namespace {

using base::JsonWriter;

void member(JsonWriter& out, std::string_view key, std::string_view text) {
  out.key(key);
  out.text(text);
}

void member(JsonWriter& out, std::string_view key, std::size_t number) {
  out.key(key);
  out.number(static_cast<std::uint64_t>(number));
}

template <class List, class Write>
void list(JsonWriter& out, std::string_view key, const List& items, Write write) {
  out.key(key);
  out.begin_array();
  for (const auto& item : items) write(item);
  out.end_array();
}

void texts(JsonWriter& out, std::string_view key, const std::vector<std::string>& items) {
  list(out, key, items, [&](const std::string& item) { out.text(item); });
}

void write_subject(JsonWriter& out, const Subject& subject) {
  out.begin_object();
  member(out, "kind", subject.kind);
  member(out, "id", subject.id);
  out.end_object();
}

void write_evidence(JsonWriter& out, const Finding& finding) {
  list(out, "evidence", finding.evidence, [&](const Evidence& evidence) {
    out.begin_object();
    member(out, "fact", evidence.fact);
    if (evidence.value.known()) {  // as in facts: a missing key is not known, null is known to be absent
      out.key("value");
      snapshot::write_value(out, evidence.value);
    }
    member(out, "source", evidence.source);
    out.end_object();
  });
  if (!finding.table) return;
  out.key("table");
  out.begin_object();
  texts(out, "columns", finding.table->columns);
  list(out, "rows", finding.table->rows, [&](const std::vector<facts::Value>& row) {
    out.begin_array();
    for (const auto& value : row) snapshot::write_value(out, value);
    out.end_array();
  });
  out.end_object();
}

void write_gain(JsonWriter& out, const std::optional<Gain>& gain) {
  out.key("gain");
  if (!gain) return out.null();
  out.begin_object();
  member(out, "text", gain->text);
  for (const auto& [key, value] : {std::pair{"low", gain->low}, std::pair{"high", gain->high}}) {
    out.key(key);
    value ? out.number(*value) : out.null();
  }
  out.end_object();
}

void write_could_be(JsonWriter& out, const std::optional<Finding::CouldBe>& could_be) {
  out.key("could_be");
  if (!could_be) return out.null();
  out.begin_object();
  member(out, "severity", severity_word(could_be->severity));
  member(out, "needs", could_be->needs);
  out.end_object();
}

// The keys of one finding, in an object that the caller opens and closes. table, notes and undo are there only when
// there is something to say.
void write_finding_keys(JsonWriter& out, const Finding& finding) {
  member(out, "rule", finding.rule);
  member(out, "severity", severity_word(finding.severity));
  member(out, "kind", finding.kind);
  texts(out, "basis", finding.basis);
  member(out, "title", finding.text.title);
  out.key("subject");
  write_subject(out, finding.subject);
  list(out, "affects", finding.affects, [&](const Subject& subject) { write_subject(out, subject); });
  member(out, "message", finding.text.message);
  if (!finding.text.notes.empty()) texts(out, "notes", finding.text.notes);
  write_evidence(out, finding);
  write_gain(out, finding.gain);
  member(out, "recommendation", finding.text.recommendation);
  member(out, "effect", finding.effect);
  write_could_be(out, finding.could_be);
  texts(out, "not_known", finding.not_known);
  list(out, "contested", finding.contested, [&](const Contested& contested) {
    out.begin_object();
    member(out, "who", contested.who);
    member(out, "says", contested.says);
    out.end_object();
  });
  list(out, "remediation", finding.remediation, [&](const Remediation& remedy) {
    out.begin_object();
    member(out, "platform", remedy.platform);
    member(out, "text", remedy.text);
    if (!remedy.undo.empty()) member(out, "undo", remedy.undo);
    out.end_object();
  });
  texts(out, "references", finding.references);
  member(out, "fingerprint", finding.fingerprint);
}

void write_summary(JsonWriter& out, const Report& report) {
  out.key("summary");
  out.begin_object();
  for (const Severity severity : {Severity::error, Severity::warning, Severity::notice, Severity::info})
    member(out, severity_word(severity), report.count(severity));
  std::size_t passed = 0;
  for (const auto& row : report.passed) passed += row.subjects;
  member(out, "passed", passed);
  member(out, "unknown", report.unknown.size());
  member(out, "not_applicable", report.not_applicable);
  member(out, "waived", report.waived.size());
  out.end_object();
}

void number(JsonWriter& out, std::string_view key, double value) {
  out.key(key);
  out.number(value);
}

template <class T>
void known_number(JsonWriter& out, std::string_view key, const std::optional<T>& value) {
  if (!value) return;  // a missing key is not known
  out.key(key);
  out.number(*value);
}

void write_op_time(JsonWriter& out, const OpTime& op, const ClientTime& client) {
  out.begin_object();
  if (!op.op.empty()) member(out, "op", op.op);
  member(out, "ops", op.ops);
  known_number(out, "errors", op.errors);
  member(out, "retrans", op.retrans);
  number(out, "total_s", op.total_s);
  number(out, "mean_ms", op.mean_ms);
  number(out, "queue_ms", op.queue_ms);
  known_number(out, "network_ms", op.network_ms);
  number(out, op.network_ms ? "server_ms" : "reply_ms", op.server_ms);
  number(out, "client_ms", op.client_ms);
  member(out, "most", time_part_word(op.most));
  number(out, "most_ratio", op.most_share);
  member(out, "verdict", time_verdict(op, client, Language::en));
  out.end_object();
}

void write_time(JsonWriter& out, const ClientTime& time) {
  out.begin_object();
  out.key("subject");
  write_subject(out, time.subject);
  member(out, "how", time.window_s ? "between two samples" : "since the mount");
  known_number(out, "window_s", time.window_s);
  if (!time.network_how.empty()) member(out, "network_how", time.network_how);
  known_number(out, "connections", time.connections);
  known_number(out, "balance", time.balance);
  member(out, "slots_of", time.slots_kind);
  known_number(out, "slots_peak", time.slots_peak);
  known_number(out, "slots_limit", time.slots_limit);
  if (time.slots_peak) {
    out.key("slots_peak_exact");
    out.boolean(time.slots_exact);
  }
  if (!time.invalid.empty()) texts(out, "invalid", time.invalid);
  if (time.all) {
    out.key("all");
    write_op_time(out, *time.all, time);
  }
  list(out, "mounts", time.mounts, [&](const MountTime& mounts) {
    out.begin_object();
    texts(out, "targets", mounts.mounts);
    list(out, "worst", mounts.worst, [&](const OpTime& op) { write_op_time(out, op, time); });
    out.end_object();
  });
  out.end_object();
}

void write_side(JsonWriter& out, std::string_view key, const facts::Value& value) {
  if (value.is_unknown()) return;
  out.key(key);
  snapshot::write_value(out, value);
}

void write_side_by_side(JsonWriter& out, const SideBySide& table) {
  out.begin_object();
  out.key("subject");
  write_subject(out, table.subject);
  texts(out, "mounts", table.mounts);
  if (!table.origin.empty()) {
    member(out, "asked_by", table.origin);
    member(out, "path", table.path);
  }
  list(out, "options", table.rows, [&](const OptionSides& row) {
    out.begin_object();
    member(out, "option", row.option);
    write_side(out, "asked", row.asked);
    if (!row.asked_from.empty()) member(out, "asked_from", row.asked_from);
    write_side(out, "effective", row.effective);
    write_side(out, "allowed", row.allowed);
    out.key("differs");
    out.boolean(row.differs);
    out.key("server_allows_more");
    out.boolean(row.more);
    out.end_object();
  });
  out.end_object();
}

}  // namespace

namespace {

void write_report(JsonWriter& out, const Report& report) {
  out.begin_object();
  member(out, "schema", "mountaudit.report/1");
  out.key("tool");
  out.begin_object();
  member(out, "name", "mountaudit");
  member(out, "version", report.tool_version);
  out.end_object();
  out.key("node");
  if (report.facts != nullptr) {
    snapshot::write_value(out, facts::ref_to(report.facts->node));
  } else {
    out.null();
  }
  list(out, "profiles", report.profiles, [&](const Profile& profile) {
    out.begin_object();
    member(out, "name", profile.name);
    member(out, "why", profile.why);
    out.end_object();
  });
  write_summary(out, report);
  list(out, "findings", report.findings, [&](const Finding& finding) {
    out.begin_object();
    write_finding_keys(out, finding);
    out.end_object();
  });
  list(out, "plan", report.plan, [&](const PlanEntry& entry) {
    out.begin_object();
    out.key("subject");
    write_subject(out, entry.subject);
    member(out, "platform", entry.platform);
    member(out, "text", entry.text);
    texts(out, "clears", entry.clears);
    out.end_object();
  });
  list(out, "passed", report.passed, [&](const Passed& passed) {
    out.begin_object();
    member(out, "rule", passed.rule);
    member(out, "subjects", passed.subjects);
    out.end_object();
  });
  list(out, "unknown", report.unknown, [&](const NotDecided& row) {
    out.begin_object();
    member(out, "rule", row.rule);
    out.key("subject");
    write_subject(out, row.subject);
    member(out, "reason", row.reason);
    out.end_object();
  });
  list(out, "waived", report.waived, [&](const Waived& waived) {
    out.begin_object();
    write_finding_keys(out, waived.finding);
    member(out, "reason", waived.reason);
    member(out, "until", waived.until);
    out.end_object();
  });
  list(out, "time", report.time, [&](const ClientTime& time) { write_time(out, time); });
  list(out, "side_by_side", report.side_by_side, [&](const SideBySide& table) { write_side_by_side(out, table); });
  list(out, "live_migration", report.live_migration, [&](const LiveMigration& one) {
    out.begin_object();
    out.key("volume");
    write_subject(out, one.volume);
    member(out, "vm", one.vm);
    member(out, "verdict", one.verdict);
    member(out, "why", one.why);
    out.end_object();
  });
  out.key("facts");
  if (report.facts != nullptr) {
    snapshot::write_value(out, facts::ref_to(*report.facts));
  } else {
    out.null();
  }
  out.end_object();
  out.raw("\n");
}

}  // namespace

std::string render_json(const Report& report) {
  JsonWriter out;
  write_report(out, report);
  return out.take();
}

void write_json(const Report& report, const base::Sink& sink) {
  JsonWriter out(sink);
  write_report(out, report);
  out.flush();
}

}  // namespace audit
