#include "audit/report/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "audit/base/text.h"
#include "audit/facts/facts.h"
#include "audit/report/words.h"

namespace audit {

namespace {

using base::display_width;
using base::escape_control;

// ---- Paint and paragraphs.

enum class Paint : std::uint8_t { plain, head, error, warning, notice, info, label, good };

const char* code_of(Paint paint) {
  switch (paint) {
    case Paint::head: return "\x1b[1m";
    case Paint::error: return "\x1b[1;31m";
    case Paint::warning: return "\x1b[33m";
    case Paint::notice: return "\x1b[36m";
    case Paint::info:
    case Paint::label: return "\x1b[2m";
    case Paint::good: return "\x1b[32m";
    case Paint::plain: break;
  }
  return "";
}

Paint paint_of(Severity severity) {
  switch (severity) {
    case Severity::error: return Paint::error;
    case Severity::warning: return Paint::warning;
    case Severity::notice: return Paint::notice;
    case Severity::info: break;
  }
  return Paint::info;
}

struct Piece {
  std::string text;  // escaped already
  Paint paint = Paint::plain;
};

constexpr int unlimited = 1000000;

class Page {
 public:
  explicit Page(const RenderOptions& options) : width_(std::max(40, options.width)), color_(options.color) {}

  // Pieces in front, then a text. Its first line stands behind them, the next ones are indented by `hang` (none: as
  // far as the first). What is over `max_lines` is cut with "...".
  void paragraph(const std::vector<Piece>& front, std::string_view text, int max_lines = unlimited,
                 Paint paint = Paint::plain, int hang = -1) {
    int indent = 0;
    for (const auto& piece : front) {
      indent += display_width(piece.text);
      put(painted(piece));
    }
    const std::string margin(static_cast<std::size_t>(hang < 0 ? indent : hang), ' ');
    std::string_view rest = text;
    for (int line = 1;; ++line) {
      const int room = std::max(20, width_ - (line == 1 ? indent : static_cast<int>(margin.size())));
      if (line > 1) put(margin);
      if (line == max_lines) {
        put(painted({base::shorten(rest, room), paint}));
        break;
      }
      const std::string piece = base::wrap(rest, room).front();
      put(painted({max_lines == unlimited ? piece : base::shorten(piece, room), paint}));
      if (piece.empty()) break;  // nothing but blanks
      rest.remove_prefix(std::min(piece.size(), rest.size()));
      while (rest.starts_with(' ')) rest.remove_prefix(1);
      if (rest.empty()) break;
      end_line();
    }
    end_line();
  }
  void line(const std::string& text, Paint paint = Paint::plain) {
    put(painted({text, paint}));
    end_line();
  }
  void blank() {
    if (!out_.empty() && !out_.ends_with("\n\n")) end_line();
  }

  int width() const { return width_; }
  int lines() const { return lines_; }
  std::string take() { return std::move(out_); }

 private:
  std::string painted(const Piece& piece) const {
    if (!color_ || piece.paint == Paint::plain || piece.text.empty()) return piece.text;
    return code_of(piece.paint) + piece.text + "\x1b[0m";
  }
  void put(const std::string& text) { out_ += text; }
  void end_line() {
    while (out_.ends_with(' ')) out_.pop_back();
    out_ += '\n';
    ++lines_;
  }

  int width_;
  bool color_;
  int lines_ = 0;
  std::string out_;
};

// ---- Small texts.

// One line of text from outside: no blanks at its ends, one at a time inside, nothing that moves a cursor.
std::string clean(std::string_view text) {
  std::string out = escape_control(base::trim(text));
  out.erase(std::unique(out.begin(), out.end(), [](char a, char b) { return a == ' ' && b == ' '; }), out.end());
  return out;
}

// The first eight digits of a UUID tell volumes and pods apart: pvc-3865cf98-fe80-4a96-a570-b4a10a1d894b is
// pvc-3865cf98...
std::string short_uuids(std::string_view text) {
  static constexpr std::string_view form = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
  const auto is_hex = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto piece = text.substr(i, form.size());
    if (piece.size() == form.size() && std::equal(piece.begin(), piece.end(), form.begin(),
                                                  [&](char c, char f) { return f == 'x' ? is_hex(c) : c == f; })) {
      out += std::string(piece.substr(0, 8)) + "...";
      i += form.size() - 1;
    } else {
      out += text[i];
    }
  }
  return out;
}

// A long path or name keeps its start and its end; of a kubelet's volume the end alone tells something.
std::string elide(std::string_view whole, int columns) {
  if (display_width(whole) <= columns) return std::string(whole);
  const std::string shorter = short_uuids(whole);
  const std::string_view text = shorter;
  if (const auto plugin = text.rfind("/kubernetes.io~"); plugin != std::string_view::npos) {
    const auto volume = text.find('/', plugin + 1);
    if (volume != std::string_view::npos) return elide("..." + std::string(text.substr(volume)), columns);
  }
  if (display_width(text) <= columns) return shorter;
  const int head_columns = (columns - 3) / 3;
  std::string head;
  std::size_t at = 0;
  while (at < text.size() && display_width(head) < head_columns) {
    const std::size_t bytes = std::max<std::size_t>(1, base::utf8_length(text.substr(at)));
    head += text.substr(at, bytes);
    at += bytes;
  }
  std::string_view tail = text.substr(at);
  while (!tail.empty() && display_width(tail) > columns - 3 - display_width(head))
    tail.remove_prefix(std::max<std::size_t>(1, base::utf8_length(tail)));
  return head + "..." + std::string(tail);
}

// 2026-02-10T04:12:09Z to the minute.
std::string minute(std::string_view when) {
  std::string text = clean(when.substr(0, 16));
  std::replace(text.begin(), text.end(), 'T', ' ');
  return text;
}

constexpr int name_columns = 44;
constexpr int source_columns = 34;
constexpr std::string_view derived = "derived from ";
constexpr double high_mean_ms = 10;  // from here on a mean is worth a look: flash answers below 1 ms, disks in 5 to 10
constexpr std::size_t most_time_clients = 3;
constexpr int bar_columns = 20;
constexpr int side_columns = 24;

std::string number_text(double value) {
  if (value >= 100 || value <= -100) return fmt::format("{:.0f}", value);
  std::string text = fmt::format("{:.2f}", value);
  while (text.ends_with('0')) text.pop_back();
  if (text.ends_with('.')) text.pop_back();
  return text;
}

std::string value_text(const facts::Value& value) {
  return std::visit(
      [](const auto& data) -> std::string {
        using D = std::remove_cvref_t<decltype(data)>;
        if constexpr (std::is_same_v<D, facts::Unknown>) {
          return "unknown";
        } else if constexpr (std::is_same_v<D, facts::Absent>) {
          return "not set";
        } else if constexpr (std::is_same_v<D, bool>) {
          return data ? "yes" : "no";
        } else if constexpr (std::is_same_v<D, double>) {
          return number_text(data);
        } else if constexpr (std::is_same_v<D, std::string>) {
          return escape_control(data);
        } else if constexpr (std::is_same_v<D, facts::Values>) {
          std::vector<std::string> items;
          for (const auto& item : data) items.push_back(value_text(item));
          return base::join(items, ", ");
        } else {
          return fmt::format("{}", data);
        }
      },
      value.data);
}

// "nfs.clients[0].in_flight.mean" is "in_flight.mean" to a reader who sees the subject.
std::string short_fact(std::string_view path) {
  const auto at = path.rfind("].");
  return escape_control(at == std::string_view::npos ? path : path.substr(at + 2));
}

// Positions do not tell two missing facts apart: nfs.servers[3].lease_s is nfs.servers.lease_s.
std::string without_positions(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '[') {
      const auto close = text.find(']', i);
      if (close != std::string_view::npos && base::number<std::uint64_t>(text.substr(i + 1, close - i - 1))) {
        i = close;
        continue;
      }
    }
    out += text[i];
  }
  return out;
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  if (from.empty()) return;
  for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

std::vector<std::string> unique_in_order(const std::vector<std::string>& items) {
  std::vector<std::string> out;
  std::set<std::string> seen;
  for (const auto& item : items) {
    if (seen.insert(item).second) out.push_back(item);
  }
  return out;
}

// What is said of a finding without evidence: a sentence is never cut.
enum class Brief : std::uint8_t {
  messages,
  titles_of_info,  // message above info, title of the others
  titles,
  names_of_info,  // titles above info, rule ids of the others in one line
};

// How much is said. The renderer takes the richest that fits the lines asked for.
struct Detail {
  int worst;           // findings with evidence and snippet
  int evidence_lines;  // of those
  Brief brief;         // the other findings
  int snippet_lines;
  bool comments;  // of snippets
  bool affects;   // who suffers, at COULD BE BETTER too
  bool space;     // blank lines between the sections
  int time_rows;  // operations of a client whose time matters
};

class TextReport {
 public:
  // Gives up where more than `most_lines` have been written (0: never): nobody will see that page.
  TextReport(const Report& report, const RenderOptions& options, const Detail& detail, int most_lines)
      : report_(report),
        options_(options),
        words_(words(options.language)),
        detail_(detail),
        page_(options),
        most_lines_(most_lines) {
    if (!report.plan.empty()) severity_columns_ = display_width(words_.plan_word);
    for (const auto& finding : report.findings) {
      rule_columns_ = std::max(rule_columns_, display_width(finding.rule));
      severity_columns_ = std::max(severity_columns_, display_width(severity_name(finding.severity)));
      (broken(finding) ? broken_ : better_).push_back(&finding);
    }
  }

  void write() {
    write_head();
    if (nothing_to_audit()) {
      page_.paragraph({}, words_.no_mounts, unlimited, Paint::good);
    } else if (healthy() && !judged_anything()) {
      page_.paragraph({}, fmt::format(fmt::runtime(words_.nothing_judged), counts()), unlimited);
    } else if (healthy()) {
      const std::string format = report_.unknown.empty() ? words_.healthy : words_.healthy_so_far;
      page_.paragraph({}, fmt::format(fmt::runtime(format), counts(), passed(), report_.unknown.size()), unlimited,
                      Paint::good);
    } else {
      write_counts();
      section(words_.broken_now, broken_.empty());
    }
    for (const auto* finding : broken_) {
      if (too_long()) return;
      write_finding(*finding, true);
    }
    if (!better_.empty() || (!healthy() && !nothing_to_audit())) section(words_.could_be_better, better_.empty());
    write_better();
    write_plan();
    if (too_long()) return;
    write_time();
    write_side_by_side();
    write_migrations();
    write_not_checked();
    write_waived();
    if (!options_.verbose && detail_.space && !report_.findings.empty()) {
      page_.blank();
      page_.paragraph({}, words_.hint, 1, Paint::label);
    }
  }

  bool too_long() const { return most_lines_ > 0 && page_.lines() > most_lines_; }
  std::string take() { return page_.take(); }

 private:
  static bool broken(const Finding& finding) { return finding.kind == "health" && finding.severity != Severity::info; }
  std::string severity_name(Severity severity) const { return audit::severity_name(severity, options_.language); }

  bool nothing_to_audit() const {
    return report_.facts != nullptr && report_.facts->nfs.mounts.empty() && report_.facts->mounts.empty() &&
           report_.facts->nfs.servers.empty() && report_.facts->iscsi.portals.empty() &&
           report_.facts->latency.runs.empty() && report_.findings.empty() && report_.unknown.empty();
  }
  bool healthy() const {
    return !nothing_to_audit() && report_.facts != nullptr &&
           std::all_of(report_.findings.begin(), report_.findings.end(),
                       [](const Finding& f) { return f.severity == Severity::info; });
  }

  // A server that does not answer leaves nothing to judge, and that is no good news.
  bool judged_anything() const { return !report_.findings.empty() || !report_.passed.empty(); }

  void write_head() {
    std::vector<std::string> parts;
    std::string name;
    if (report_.facts != nullptr) {
      const auto& node = report_.facts->node;
      name = clean(node.name);
      const std::string root = clean(node.root);
      if (root == "(input)") {
        parts.emplace_back(words_.inputs);
      } else if (root.find("://") != std::string::npos) {
        parts.push_back(fmt::format(fmt::runtime(words_.probed), root));
      } else {
        parts.push_back(node.live || !node.collected_at.has_value()
                            ? fmt::format(fmt::runtime(words_.root), root)
                            : fmt::format(fmt::runtime(words_.captured), root, minute(*node.collected_at)));
      }
    }
    std::vector<std::string> profiles;
    for (const auto& profile : report_.profiles)
      profiles.push_back(profile.why.empty() || profile.name == "general"
                             ? clean(profile.name)
                             : fmt::format("{} ({})", clean(profile.name), clean(profile.why)));
    if (!profiles.empty()) parts.push_back(fmt::format(fmt::runtime(words_.profiles), base::join(profiles, " + ")));
    parts.push_back(fmt::format("{:.2f} s", report_.duration_s));
    page_.paragraph({{name + (name.empty() ? "" : "  "), Paint::head}}, base::join(parts, ", "));
  }

  std::string counts() const {
    const auto& nfs = report_.facts->nfs;
    if (nfs.mounts.empty() && !nfs.servers.empty())  // probe
      return kind_count(nfs.servers.size(), "nfs.server", options_.language);
    const auto& sessions = report_.facts->iscsi.sessions;
    std::string iscsi;
    if (sessions.has_value() && !sessions->empty())
      iscsi = fmt::format(fmt::runtime(words_.counts), kind_count(sessions->size(), "iscsi.session", options_.language),
                          kind_count(report_.facts->iscsi.targets.size(), "iscsi.target", options_.language));
    if (nfs.mounts.empty() && !iscsi.empty()) return iscsi;
    const auto& maps = report_.facts->multipath.maps;
    if (nfs.mounts.empty() && maps.has_value() && !maps->empty())
      return kind_count(maps->size(), "multipath.map", options_.language);
    const auto& portals = report_.facts->iscsi.portals;
    if (report_.facts->mounts.empty() && !portals.empty())  // probe
      return kind_count(portals.size(), "iscsi.portal", options_.language);
    const auto& runs = report_.facts->latency.runs;
    if (report_.facts->mounts.empty() && !runs.empty())  // latency
      return kind_count(runs.size(), "run", options_.language);
    const std::string mounts =
        fmt::format(fmt::runtime(words_.counts), kind_count(nfs.mounts.size(), "nfs", options_.language),
                    kind_count(std::max<std::size_t>(nfs.servers.size(), nfs.clients.empty() ? 0 : 1), "nfs.server",
                               options_.language));
    return iscsi.empty() ? mounts : mounts + ", " + iscsi;
  }
  std::string passed() const {
    std::size_t passed = 0;
    for (const auto& row : report_.passed) passed += row.subjects;
    return passed == 1 ? words_.passed_one : fmt::format(fmt::runtime(words_.passed), passed);
  }

  void write_counts() {
    std::vector<std::string> found;
    for (const Severity severity : {Severity::error, Severity::warning, Severity::notice, Severity::info}) {
      const std::size_t count = report_.count(severity);
      if (count > 0) found.push_back(severity_count(count, severity, options_.language));
    }
    std::string text = report_.facts == nullptr ? "" : counts() + ": ";
    text += base::join(found, ", ") + (found.empty() ? "" : ", ") + passed();
    page_.paragraph({}, text);
  }

  void section(const char* head, bool empty) {
    if (detail_.space) page_.blank();
    if (empty) {
      page_.paragraph({{std::string(head) + "  ", Paint::head}}, words_.nothing);
    } else {
      page_.line(head, Paint::head);
    }
  }

  // ---- Findings.

  const std::string& in_language(const Finding& finding, std::string Texts::*text) const {
    if (options_.language == Language::ja && finding.text_ja && !((*finding.text_ja).*text).empty())
      return (*finding.text_ja).*text;
    return finding.text.*text;
  }

  // The message names its subject, with long mount points shortened unless all is asked for.
  std::string message(const Finding& finding) const { return about(finding, &Texts::message); }
  std::string about(const Finding& finding, std::string Texts::*which) const {
    std::string text = clean(in_language(finding, which));
    if (text.empty()) text = clean(in_language(finding, &Texts::title));
    if (!options_.verbose) {
      const auto shorten_name = [&](const Subject& subject) {
        const std::string id = clean(subject.id);
        if (display_width(id) > name_columns) replace_all(text, id, elide(id, name_columns));
      };
      shorten_name(finding.subject);
      for (const auto& subject : finding.affects) shorten_name(subject);
    }
    if (!names_subject(finding, text)) text = host_name(finding.subject) + ": " + text;
    return text;
  }
  // A client is known by its server, unless several of this node's clients are.
  std::string host_name(const Subject& subject) const {
    if (options_.verbose || subject.kind != "nfs.client" || report_.facts == nullptr) return subject_name(subject);
    const facts::NfsClient* found = nullptr;
    for (const auto& client : report_.facts->nfs.clients) {
      if (client.id == subject.id) found = &client;
    }
    if (found == nullptr || !found->server_name.has_value()) return subject_name(subject);
    for (const auto& client : report_.facts->nfs.clients) {
      if (&client != found && client.server_name == found->server_name) return subject_name(subject);
    }
    return elide(clean(*found->server_name), name_columns);
  }
  std::string subject_name(const Subject& subject) const {
    return options_.verbose ? clean(subject.id) : elide(clean(subject.id), name_columns);
  }
  static std::string server_id(const facts::NfsServer& server) {
    const std::string& host = server.addr.has_value() ? *server.addr : server.name;
    const bool brackets = host.find(':') != std::string::npos;
    return fmt::format("{}{}{}:{}", brackets ? "[" : "", host, brackets ? "]" : "", server.port);
  }
  // True when the text tells the reader which thing is meant: its id, or the host a client or server is known by.
  bool names_subject(const Finding& finding, const std::string& text) const {
    const auto& subject = finding.subject;
    if (text.find(subject_name(subject)) != std::string::npos) return true;
    if (subject.kind == "node") return true;
    if (report_.facts == nullptr) return false;
    for (const auto& server : report_.facts->nfs.servers) {
      const bool meant = subject.kind == "nfs.server" && (server_id(server) == subject.id);
      if (!meant) continue;
      if (text.find(clean(server.name)) != std::string::npos) return true;
      if (server.addr.has_value() && text.find(clean(*server.addr)) != std::string::npos) return true;
    }
    for (const auto& client : report_.facts->nfs.clients) {
      if (subject.kind != "nfs.client" || client.id != subject.id) continue;
      if (client.server_name.has_value() && text.find(clean(*client.server_name)) != std::string::npos) return true;
      if (client.addr.has_value() && text.find(clean(*client.addr)) != std::string::npos) return true;
      return std::any_of(client.mounts.begin(), client.mounts.end(), [&](const std::string& mount) {
        return text.find(subject_name({"nfs.mount", mount})) != std::string::npos;
      });
    }
    return false;
  }

  std::vector<Piece> front(const Finding& finding) const {
    return {{"  ", Paint::plain},
            {base::pad_right(severity_name(finding.severity), severity_columns_), paint_of(finding.severity)},
            {"  " + base::pad_right(clean(finding.rule), rule_columns_) + "  ", Paint::plain}};
  }
  // A labelled line below a finding; it starts under the rule id.
  void labelled(const std::string& label, std::string_view text, int max_lines = unlimited) {
    const int indent = 4 + severity_columns_;
    page_.paragraph({{std::string(static_cast<std::size_t>(indent), ' '), Paint::plain},
                     {base::pad_right(label, 4) + "  ", Paint::label}},
                    text, max_lines);
  }

  // What it is, whom it hits, what to do; then what that rests on.
  void write_finding(const Finding& finding, bool names) {
    // The evidence of what is broken at this moment is told whole, whatever the room; sentences always are.
    const bool whole = names && finding.severity == Severity::error;
    const int limit = options_.verbose ? unlimited : whole ? 6 : detail_.evidence_lines;
    page_.paragraph(front(finding), message(finding), unlimited, Paint::plain, 4 + severity_columns_);
    if (names || detail_.affects || options_.verbose) write_affects(finding, names);
    write_advice(finding);
    if (finding.gain) labelled(words_.gain, clean(finding.gain->text));
    if (finding.could_be)
      labelled(words_.note,
               fmt::format(fmt::runtime(words_.could_be), severity_name(finding.could_be->severity),
                           clean(finding.could_be->needs)),
               limit);
    for (const auto& note : notes(finding)) labelled(words_.note, clean(note));
    write_evidence(finding, limit);
    if (options_.verbose) write_background(finding);
  }

  const std::vector<std::string>& notes(const Finding& finding) const {
    if (options_.language == Language::ja && finding.text_ja && !finding.text_ja->notes.empty())
      return finding.text_ja->notes;
    return finding.text.notes;
  }

  void write_evidence(const Finding& finding, int limit) {
    std::vector<std::string> items;
    std::vector<std::string> sources;
    for (const auto& evidence : finding.evidence) {
      const std::string value = value_text(evidence.value);
      items.push_back(short_fact(evidence.fact) + " " + (options_.verbose ? value : elide(value, name_columns)));
      std::string_view source = evidence.source;
      if (source.starts_with(derived)) source.remove_prefix(derived.size());
      if (!source.empty() && evidence.value.known()) sources.push_back(elide(clean(source), source_columns));
    }
    std::string text = base::join(items, ", ");
    if (options_.verbose) {
      for (std::size_t i = 0; i < items.size(); ++i) {
        const std::string source = clean(finding.evidence[i].source);
        labelled(i == 0 ? words_.seen : "", items[i] + (source.empty() ? "" : " [" + source + "]"));
      }
    } else if (!text.empty()) {
      const auto from = unique_in_order(sources);
      if (!from.empty()) text += " [" + from.front() + (from.size() > 1 ? ", ...]" : "]");
      labelled(words_.seen, text, limit);
    }
    if (finding.table) write_table(*finding.table, items.empty());
  }

  void write_table(const EvidenceTable& table, bool first) {
    const std::size_t shown =
        options_.verbose ? table.rows.size()
                         : std::min<std::size_t>(table.rows.size(), static_cast<std::size_t>(detail_.snippet_lines));
    std::vector<std::vector<std::string>> cells(1);
    for (const auto& name : table.columns) cells.back().push_back(clean(name));
    for (std::size_t r = 0; r < shown; ++r) {
      cells.emplace_back();
      for (const auto& value : table.rows[r]) cells.back().push_back(value_text(value));
    }
    const auto widths = [&] {
      std::vector<int> out;
      for (const auto& row : cells) {
        out.resize(std::max(out.size(), row.size()));
        for (std::size_t c = 0; c < row.size(); ++c) out[c] = std::max(out[c], display_width(row[c]));
      }
      return out;
    };
    std::vector<int> columns = widths();
    if (columns.empty()) return;
    if (!options_.verbose) {  // the widest column gives what is over the line
      int over = 8 + severity_columns_ - page_.width();
      for (const int column : columns) over += column + 2;
      const auto widest = std::max_element(columns.begin(), columns.end());
      if (over > 0) *widest = std::max(12, *widest - over);
      for (auto& row : cells) {
        for (std::size_t c = 0; c < row.size(); ++c) row[c] = elide(row[c], columns[c]);
      }
      columns = widths();
    }
    for (std::size_t r = 0; r < cells.size(); ++r) {
      std::string line;
      for (std::size_t c = 0; c < cells[r].size(); ++c) line += base::pad_right(cells[r][c], columns[c]) + "  ";
      while (line.ends_with(' ')) line.pop_back();
      page_.line(std::string(static_cast<std::size_t>(4 + severity_columns_), ' ') +
                     base::pad_right(r == 0 && first ? words_.seen : "", 4) + "  " + line,
                 r == 0 ? Paint::label : Paint::plain);
    }
    if (shown < table.rows.size()) labelled("", fmt::format(fmt::runtime(words_.more_rows), table.rows.size() - shown));
  }

  // Who suffers, most human first: VMs and pods by name, mounts by number where they are many.
  void write_affects(const Finding& finding, bool names) {
    if (!options_.verbose && finding.affects.size() == 1 &&
        message(finding).find(subject_name(finding.affects.front())) != std::string::npos)
      return;  // the message names it
    if (const auto [before, added] = told_.try_emplace(finding.affects, finding.rule); !added) {
      if (options_.verbose && !finding.affects.empty())
        labelled(words_.affects, fmt::format(fmt::runtime(words_.same_as), clean(before->second)));
      if (!names) return;
    }
    std::vector<std::string> kinds = {"vm", "pod", "volume"};
    std::map<std::string, std::vector<std::string>> by_kind;
    for (const auto& subject : finding.affects) {
      if (subject == finding.subject) continue;
      by_kind[clean(subject.kind)].push_back(clean(subject.id));
      if (std::find(kinds.begin(), kinds.end(), clean(subject.kind)) == kinds.end())
        kinds.push_back(clean(subject.kind));
    }
    std::vector<std::string> parts;
    for (const auto& kind : kinds) {
      const auto found = by_kind.find(kind);
      if (found == by_kind.end()) continue;
      const auto ids = unique_in_order(found->second);
      const bool human = kind == "vm" || kind == "pod" || kind == "volume";
      if (!options_.verbose && kind == "volume" && by_kind.contains("pod")) continue;
      if (!options_.verbose && kind == "nfs.client" && by_kind.contains("nfs.mount")) continue;
      // A short report names VMs, or pods where there are none; of the rest it gives the number.
      const bool named = options_.verbose || names || kind == "vm" || (kind == "pod" && !by_kind.contains("vm"));
      const std::size_t most = options_.verbose ? ids.size() : human ? (names ? 6 : 2) : (names ? 2 : 0);
      if (!named || (ids.size() > most && !human)) {
        parts.push_back(kind_count(ids.size(), kind, options_.language));
        continue;
      }
      std::vector<std::string> shown(ids.begin(),
                                     ids.begin() + static_cast<std::ptrdiff_t>(std::min(most, ids.size())));
      if (!options_.verbose) {
        for (auto& id : shown) id = elide(id, name_columns);
      }
      std::string text = kind_name(kind, ids.size() != 1, options_.language) + " " + base::join(shown, ", ");
      if (ids.size() > most) text += fmt::format(fmt::runtime(words_.more_names), ids.size() - most);
      parts.push_back(text);
    }
    if (!parts.empty()) labelled(words_.affects, base::join(parts, "; "), options_.verbose ? unlimited : names ? 4 : 2);
  }

  void write_advice(const Finding& finding) {
    std::string advice = clean(in_language(finding, &Texts::recommendation));
    if (!finding.effect.empty()) {
      while (advice.ends_with('.')) advice.pop_back();
      advice += fmt::format(" ({})", clean(effect_words(finding.effect, options_.language)));
    }
    if (!base::trim(advice).empty()) labelled(words_.advice, advice);
    std::size_t shown = 0;
    for (const auto& remedy : finding.remediation) {
      if (!options_.verbose && (shown > 0 || in_plan(finding))) break;
      write_snippet(remedy.platform, remedy.text);
      if (options_.verbose && !remedy.undo.empty()) labelled("", std::string(words_.undo) + ": " + clean(remedy.undo));
      ++shown;
    }
  }

  // A snippet is text to be copied: only its comments are wrapped.
  void write_snippet(const std::string& platform, const std::string& text) {
    std::vector<std::string> lines;
    std::string_view rest = base::trim(text);
    std::string_view line;
    const bool comments = options_.verbose || detail_.comments;
    while (base::next_line(rest, line)) {
      if (comments || !line.starts_with("# ")) lines.push_back(escape_control(line));
    }
    if (lines.empty()) return;
    const std::string margin(static_cast<std::size_t>(4 + severity_columns_), ' ');
    int widest = 0;
    for (const auto& text_line : lines) {
      if (!text_line.starts_with('#')) widest = std::max(widest, display_width(text_line));
    }
    std::string indent = margin + "      ";  // a long line starts further left
    if (display_width(indent) + widest > page_.width()) indent = margin;
    if (display_width(indent) + widest > page_.width()) indent = "    ";
    const bool one = lines.size() == 1 &&
                     static_cast<int>(margin.size()) + 8 + display_width(clean(platform)) + widest <= page_.width();
    const Piece label{base::pad_right(words_.write, 4) + "  ", Paint::label};
    if (one) {
      page_.paragraph({{margin, Paint::plain}, label, {clean(platform) + "  ", Paint::label}, {lines[0], Paint::plain}},
                      "");
      return;
    }
    page_.paragraph({{margin, Paint::plain}, label}, clean(platform) + ":", unlimited, Paint::label);
    const std::size_t most = options_.verbose ? lines.size() : static_cast<std::size_t>(detail_.snippet_lines);
    for (std::size_t i = 0; i < std::min(most, lines.size()); ++i) {
      if (lines[i].starts_with("# ")) {
        for (const auto& part : base::wrap(lines[i].substr(2), page_.width() - display_width(indent) - 2))
          page_.line(indent + "# " + part, Paint::label);
      } else {
        page_.line(indent + lines[i]);
      }
    }
    if (lines.size() > most)
      page_.line(indent + fmt::format(fmt::runtime(words_.more_lines), lines.size() - most), Paint::label);
  }

  void write_background(const Finding& finding) {
    const std::string why = clean(in_language(finding, &Texts::why));
    if (!why.empty()) labelled(words_.why, why);
    for (const auto& missing : finding.not_known) labelled(words_.note, words_.not_known + clean(missing));
    for (const auto& contested : finding.contested)
      labelled(words_.note, fmt::format(fmt::runtime(words_.contested), clean(contested.who), clean(contested.says)));
    std::vector<std::string> rests;
    if (!finding.basis.empty()) rests.push_back(words_.basis + clean(base::join(finding.basis, ", ")));
    if (!finding.references.empty()) rests.push_back(words_.references + clean(base::join(finding.references, ", ")));
    rests.push_back(clean(finding.fingerprint));
    labelled("", base::join(rests, "; "));
    page_.blank();
  }

  // ---- COULD BE BETTER: the worst in full, the others in a sentence; equal rules of equal severity share it.
  void write_better() {
    const int left = std::max(0, 3 - static_cast<int>(broken_.size()));
    const auto worst = static_cast<std::size_t>(std::min(detail_.worst, std::max(left, broken_.empty() ? 3 : 1)));
    std::vector<std::string> only_named;
    for (std::size_t i = 0; i < better_.size() && !too_long(); ++i) {
      const Finding& finding = *better_[i];
      const bool info = finding.severity == Severity::info;
      if (options_.verbose || (i < worst && !info)) {
        write_finding(finding, false);
        continue;
      }
      if (info && detail_.brief == Brief::names_of_info) {
        only_named.push_back(clean(finding.rule));
        continue;
      }
      std::size_t same = 0;
      while (i + 1 < better_.size() && better_[i + 1]->rule == finding.rule &&
             better_[i + 1]->severity == finding.severity) {
        ++i;
        ++same;
      }
      const bool title = detail_.brief == Brief::titles || detail_.brief == Brief::names_of_info ||
                         (info && detail_.brief == Brief::titles_of_info);
      std::string text = about(finding, title ? &Texts::title : &Texts::message);
      if (same > 0) text += fmt::format(fmt::runtime(words_.more_subjects), same);
      page_.paragraph(front(finding), text, unlimited, Paint::plain, 4 + severity_columns_);
    }
    if (only_named.empty()) return;
    page_.paragraph({{"  ", Paint::plain},
                     {base::pad_right(severity_name(Severity::info), severity_columns_), paint_of(Severity::info)},
                     {"  ", Paint::plain}},
                    base::join(unique_in_order(only_named), ", "));
  }

  bool in_plan(const Finding& finding) const {
    return std::any_of(report_.plan.begin(), report_.plan.end(), [&](const PlanEntry& entry) {
      return entry.subject == finding.subject &&
             std::find(entry.clears.begin(), entry.clears.end(), finding.rule) != entry.clears.end();
    });
  }

  // The merged change per subject, for each place found on the node.
  void write_plan() {
    for (std::size_t i = 0; i < report_.plan.size() && !too_long(); ++i) {
      const PlanEntry& entry = report_.plan[i];
      if (i == 0 || report_.plan[i - 1].subject != entry.subject)
        page_.paragraph(
            {{"  ", Paint::plain},
             {base::pad_right(words_.plan_word, severity_columns_), Paint::good},
             {"  ", Paint::plain}},
            fmt::format(fmt::runtime(words_.plan), subject_name(entry.subject), clean(base::join(entry.clears, ", "))));
      write_snippet(entry.platform, entry.text);
    }
  }

  // ---- WHERE THE TIME GOES: with -v of every client, else of those whose findings or means ask for it.
  static bool is_about_time(const std::string& rule) {
    return rule.starts_with("NFS-STAT-00") || rule.starts_with("NFS-SLOTS-") || rule == "NFS-NCONNECT-001";
  }
  using Subjects = std::set<std::pair<std::string_view, std::string_view>>;  // kind and id
  const Subjects& subjects_about_time() const {
    if (subjects_about_time_) return *subjects_about_time_;
    Subjects& all = subjects_about_time_.emplace();
    for (const Finding& finding : report_.findings) {
      if (finding.severity == Severity::info || !is_about_time(finding.rule)) continue;
      all.emplace(finding.subject.kind, finding.subject.id);
      for (const Subject& subject : finding.affects) all.emplace(subject.kind, subject.id);
    }
    return all;
  }
  mutable std::optional<Subjects> subjects_about_time_;
  bool is_asked_for(const ClientTime& time) const {
    if (options_.verbose) return true;
    if (detail_.time_rows == 0 || !time.all) return false;
    if (time.all->mean_ms >= high_mean_ms) return true;
    const auto& slow = subjects_about_time();
    const auto is_slow = [&](const std::string& kind, const std::string& id) { return slow.count({kind, id}) != 0; };
    if (is_slow(time.subject.kind, time.subject.id)) return true;
    return std::any_of(time.mounts.begin(), time.mounts.end(), [&](const MountTime& mounts) {
      return std::any_of(mounts.mounts.begin(), mounts.mounts.end(),
                         [&](const std::string& mount) { return is_slow("nfs.mount", mount); });
    });
  }

  void write_time() {
    bool headed = false;
    std::size_t shown = 0, left = 0;
    for (const auto& time : report_.time) {
      if (!is_asked_for(time)) continue;
      if (!options_.verbose && shown == most_time_clients) {
        ++left;
        continue;
      }
      ++shown;
      if (!headed) {
        if (detail_.space) page_.blank();
        page_.paragraph({{std::string(words_.time) + "  ", Paint::head}}, words_.time_legend, unlimited, Paint::label,
                        2);
        headed = true;
      }
      write_client_time(time);
    }
    if (left > 0) page_.line("  " + fmt::format(fmt::runtime(words_.more_lines), left), Paint::label);
  }

  void write_client_time(const ClientTime& time) {
    const std::string how =
        time.window_s ? fmt::format(fmt::runtime(words_.between_samples), *time.window_s) : words_.since_mount;
    page_.paragraph({{"  ", Paint::plain}}, subject_name(time.subject) + ", " + how);
    int name_width = display_width(words_.all_operations);
    for (const auto& mounts : time.mounts) {
      for (const auto& op : mounts.worst) name_width = std::max(name_width, display_width(clean(op.op)));
    }
    for (std::size_t i = 0; i < time.mounts.size(); ++i) {
      const MountTime& mounts = time.mounts[i];
      if (!options_.verbose && i > 0) break;
      if (options_.verbose && time.mounts.size() > 1)
        page_.paragraph({{"    ", Paint::plain}}, mount_names(mounts.mounts));
      const std::size_t most = options_.verbose ? mounts.worst.size() : static_cast<std::size_t>(detail_.time_rows);
      for (std::size_t k = 0; k < std::min(most, mounts.worst.size()); ++k)
        write_op_time(mounts.worst[k], time, clean(mounts.worst[k].op), name_width);
    }
    if (!options_.verbose) return;
    if (time.all) write_op_time(*time.all, time, words_.all_operations, name_width);
    std::vector<std::string> parts;
    if (time.connections)
      parts.push_back(*time.connections == 1 || !time.balance
                          ? *time.connections == 1 ? words_.connection_one
                                                   : kind_count(*time.connections, "connection", options_.language)
                          : fmt::format(fmt::runtime(words_.connections), *time.connections, *time.balance));
    if (time.slots_peak && time.slots_limit)
      parts.push_back(
          fmt::format(fmt::runtime(time.slots_kind == "session" ? words_.slots_session : words_.slots_connection),
                      (time.slots_exact ? "" : "<= ") + std::to_string(*time.slots_peak), *time.slots_limit));
    if (time.network_how.empty()) parts.emplace_back(words_.network_not_known);
    if (!time.invalid.empty())
      parts.push_back(fmt::format(fmt::runtime(words_.wrapped), clean(base::join(time.invalid, ", "))));
    if (!parts.empty()) page_.paragraph({{"    ", Paint::plain}}, base::join(parts, "; "));
  }

  // One line: operation, mean, a bar of its parts, the verdict.
  void write_op_time(const OpTime& op, const ClientTime& time, const std::string& name, int name_width) {
    struct Part {
      char letter;
      double ms;
      Paint paint;
    };
    const std::array<Part, 4> parts = {{{'q', op.queue_ms, Paint::warning},
                                        {'n', op.network_ms.value_or(0), Paint::notice},
                                        {op.network_ms ? 's' : 'r', op.server_ms, Paint::plain},
                                        {'c', op.client_ms, Paint::label}}};
    std::vector<Piece> front = {{"    " + base::pad_right(name, name_width), Paint::plain},
                                {fmt::format("{:>9} ms  [", number_text(op.mean_ms)), Paint::plain}};
    int used = 0;
    double sum = 0;
    for (const Part& part : parts) {
      sum += part.ms;
      const int end = static_cast<int>(std::lround(sum / op.mean_ms * bar_columns));
      if (end > used) front.push_back({std::string(static_cast<std::size_t>(end - used), part.letter), part.paint});
      used = std::max(used, end);
    }
    front.push_back({"]  ", Paint::plain});
    std::string text = time_verdict(op, time, options_.language);
    if (options_.verbose) {
      text += "; " + fmt::format(fmt::runtime(words_.operations), op.ops);
      if (op.errors && *op.errors > 0) text += ", " + fmt::format(fmt::runtime(words_.errors), *op.errors);
    }
    page_.paragraph(front, text);
  }

  std::string mount_names(const std::vector<std::string>& mounts) const {
    if (mounts.empty()) return "";
    std::string text = kind_count(mounts.size(), "nfs.mount", options_.language) + ": " +
                       elide(clean(mounts.front()), page_.width() - 30);
    if (mounts.size() > 1) text += fmt::format(fmt::runtime(words_.more_names), mounts.size() - 1);
    return text;
  }

  // ---- SIDE BY SIDE, with -v.
  std::string cell(const facts::Value& value) const {
    if (const auto* unknown = std::get_if<facts::Unknown>(&value.data))
      return unknown->why.starts_with("not asked") ? words_.not_asked : words_.not_known_cell;
    return value.is_absent() ? "-" : value_text(value);
  }

  void write_side_by_side() {
    if (!options_.verbose || report_.side_by_side.empty()) return;
    if (detail_.space) page_.blank();
    page_.paragraph({{std::string(words_.side_by_side) + "  ", Paint::head}}, words_.side_legend, unlimited,
                    Paint::label, 2);
    for (const auto& table : report_.side_by_side) write_side_table(table);
  }

  void write_side_table(const SideBySide& table) {
    std::string head = clean(table.subject.id);
    if (!table.mounts.empty()) head += ", " + mount_names(table.mounts);
    page_.paragraph({{"  ", Paint::plain}}, head);
    if (!table.mounts.empty())
      page_.paragraph({{"  ", Paint::plain}},
                      table.origin.empty()
                          ? words_.asked_by_none
                          : fmt::format(fmt::runtime(words_.asked_by), clean(table.origin), clean(table.path)),
                      unlimited, Paint::label);
    struct Row {
      std::string mark;
      std::array<std::string, 4> cells;
    };
    std::vector<Row> rows;
    rows.push_back({"", {words_.side_option, words_.side_asked, words_.side_effective, words_.side_allowed}});
    for (const auto& side : table.rows) {
      if (side.asked.is_absent() && side.effective.is_absent() && side.allowed.is_absent()) continue;
      Row row{side.differs ? "*"
              : side.more  ? "+"
                           : "",
              {clean(side.option), cell(side.asked), cell(side.effective), cell(side.allowed)}};
      if (side.asked.as_text() != nullptr && side.asked_from != table.origin && !side.asked_from.empty())
        row.cells[1] += " (" + clean(side.asked_from) + ")";
      for (std::size_t c = 1; c < 3; ++c) row.cells[c] = elide(row.cells[c], side_columns);
      rows.push_back(std::move(row));
    }
    // Of a server that is not mounted there is only what it allows.
    const auto is_shown = [&](std::size_t column) { return column == 0 || !table.mounts.empty(); };
    std::array<int, 3> widths{};
    for (const Row& row : rows) {
      for (std::size_t c = 0; c < widths.size(); ++c) widths[c] = std::max(widths[c], display_width(row.cells[c]));
    }
    for (std::size_t r = 0; r < rows.size(); ++r) {
      const Row& row = rows[r];
      const Paint paint = r == 0 ? Paint::label : row.mark == "*" ? Paint::warning : Paint::plain;
      std::vector<Piece> front = {{"  " + base::pad_right(row.mark, 2), paint}};
      for (std::size_t c = 0; c < widths.size(); ++c) {
        if (is_shown(c)) front.push_back({base::pad_right(row.cells[c], widths[c]) + "  ", paint});
      }
      page_.paragraph(front, row.cells[3], unlimited, paint);
    }
  }

  // ---- LIVE MIGRATION: one line for each volume of a VM; volumes of one verdict and reason share it unless all is
  // asked for.
  void write_migrations() {
    if (report_.live_migration.empty()) return;
    struct Row {
      std::vector<std::string> names;
      const LiveMigration* like;
    };
    std::vector<Row> rows;
    for (const auto& one : report_.live_migration) {
      const std::string volume = options_.verbose ? clean(one.volume.id) : short_uuids(subject_name(one.volume));
      const std::string name = one.vm.empty() ? volume : fmt::format("{} ({})", clean(one.vm), volume);
      const auto same = std::find_if(rows.begin(), rows.end(), [&](const Row& row) {
        return row.like->verdict == one.verdict && row.like->why == one.why;
      });
      if (same == rows.end() || options_.verbose) {
        rows.push_back({{name}, &one});
      } else {
        same->names.push_back(name);
      }
    }
    section(words_.live_migration, false);
    const std::size_t most = options_.verbose ? rows.size() : 4;
    for (std::size_t i = 0; i < std::min(most, rows.size()); ++i) {
      Row& row = rows[i];
      if (row.names.size() > 2) {
        const std::size_t more = row.names.size() - 1;
        row.names.resize(1);
        row.names.back() += fmt::format(fmt::runtime(words_.more_names), more);
      }
      const bool yes = row.like->verdict == "yes";
      const char* form = yes                         ? words_.migration_yes
                         : row.like->verdict == "no" ? words_.migration_no
                                                     : words_.migration_unknown;
      const bool japanese = options_.language == Language::ja && !row.like->why_ja.empty();
      page_.paragraph({{"  ", Paint::plain}},
                      fmt::format(fmt::runtime(form), base::join(row.names, ", "),
                                  clean(japanese ? row.like->why_ja : row.like->why)),
                      options_.verbose ? unlimited : 2, yes ? Paint::good : Paint::plain, 4);
    }
    if (rows.size() > most)
      page_.line("  " + fmt::format(fmt::runtime(words_.more_lines), rows.size() - most), Paint::label);
  }

  // A row of its own for each source that could not be read; of one server (or file) that failed in one way, one row.
  std::vector<std::string> failed_sources() const {
    std::vector<std::string> rows;
    if (report_.facts == nullptr) return rows;
    std::map<std::pair<std::string, std::string>, std::pair<std::size_t, std::size_t>> at;  // row, how many in it
    for (const auto& source : report_.facts->sources) {
      if (source.status != "denied" && source.status != "timeout" && source.status != "malformed" &&
          source.status != "refused")
        continue;
      const std::string detail = source.detail.empty() ? "" : " (" + clean(source.detail) + ")";
      const std::string row = clean(source.name) + ": " + clean(source.status) + detail;
      const auto [found, added] = at.try_emplace({source.name, source.status}, rows.size(), 1);
      if (added || options_.verbose) {
        rows.push_back(row);
      } else {
        auto& [index, count] = found->second;
        if (++count == 2) rows[index] = clean(source.name) + ": " + clean(source.status);
      }
    }
    for (const auto& [key, place] : at) {
      if (place.second > 1 && !options_.verbose)
        rows[place.first] += fmt::format(" ({})", fmt::format(fmt::runtime(words_.questions), place.second));
    }
    return rows;
  }

  // ---- NOT CHECKED: what could not be read, then rules by the reason they share.
  struct NotChecked {
    std::string why;
    std::vector<std::string> rules;
    std::vector<std::string> facts;  // that the rules miss
  };

  // "needs network.paths.on_link: not asked (passive); needs ..." is one reason per fact.
  std::vector<NotChecked> reasons() const {
    std::vector<NotChecked> groups;
    std::map<std::string, std::size_t> at;
    for (const auto& row : report_.unknown) {
      std::string_view rest = row.reason;
      const bool needs = rest.starts_with("needs ");
      if (needs) rest.remove_prefix(6);
      std::vector<std::string> whys, facts;
      while (!rest.empty()) {
        const auto end = std::min(needs ? rest.find("; ") : std::string_view::npos, rest.size());
        const std::string piece = clean(without_positions(rest.substr(0, end)));
        rest.remove_prefix(std::min(rest.size(), end + 2));
        const auto colon = needs ? piece.find(": ") : std::string::npos;
        if (colon != std::string::npos && piece.find(' ') > colon) {
          facts.push_back(piece.substr(0, colon));
          whys.push_back(piece.substr(colon + 2));
        } else if (!piece.starts_with("and ")) {
          whys.push_back(piece);
        }
      }
      const std::string why = base::join(unique_in_order(whys), "; ");
      const auto [found, added] = at.try_emplace(why, groups.size());
      if (added) groups.push_back({why, {}, {}});
      NotChecked& group = groups[found->second];
      group.rules.push_back(clean(row.rule));
      group.facts.insert(group.facts.end(), facts.begin(), facts.end());
    }
    return groups;
  }

  void write_not_checked() {
    const auto groups = reasons();
    const auto failed = failed_sources();
    if (groups.empty() && failed.empty()) return;
    section(words_.not_checked, false);
    const std::size_t most = options_.verbose ? failed.size() + groups.size() : 4;
    for (std::size_t i = 0; i < std::min(most, failed.size()); ++i) page_.paragraph({{"  ", Paint::plain}}, failed[i]);
    if (failed.size() > most)
      page_.line("  " + fmt::format(fmt::runtime(words_.more_lines), failed.size() - most), Paint::label);
    for (std::size_t i = 0; i < std::min(most, groups.size()); ++i) {
      auto rules = unique_in_order(groups[i].rules);
      std::string text;
      if (options_.verbose) {
        text = base::join(rules, ", ");
        const auto facts = unique_in_order(groups[i].facts);
        if (!facts.empty()) text += " (" + base::join(facts, ", ") + ")";
      } else {
        const std::size_t more = rules.size() > 4 ? rules.size() - 3 : 0;
        if (more > 0) rules.resize(3);
        text = base::join(rules, ", ");
        if (more > 0) text += fmt::format(fmt::runtime(words_.more_names), more);
      }
      page_.paragraph({{"  ", Paint::plain}}, fmt::format(fmt::runtime(words_.undecided), groups[i].why, text),
                      unlimited, Paint::plain, 4);
    }
    if (groups.size() > most)
      page_.line("  " + fmt::format(fmt::runtime(words_.more_lines), groups.size() - most), Paint::label);
  }

  void write_waived() {
    if (report_.waived.empty()) return;
    section(words_.waived, false);
    for (const auto& waived : report_.waived)
      page_.paragraph({{"  ", Paint::plain}},
                      fmt::format("{} {}, {}: {}", clean(waived.finding.rule), subject_name(waived.finding.subject),
                                  clean(waived.until), clean(waived.reason)),
                      options_.verbose ? unlimited : 1);
  }

  const Report& report_;
  const RenderOptions& options_;
  const Words& words_;
  const Detail detail_;
  Page page_;
  const int most_lines_;
  int rule_columns_ = 0;
  int severity_columns_ = 0;
  std::vector<const Finding*> broken_;
  std::vector<const Finding*> better_;
  std::map<std::vector<Subject>, std::string> told_;  // whom it hits, and the rule that said so first
};

}  // namespace

std::string render_text(const Report& report, const RenderOptions& options) {
  // From rich to sparse. Where nothing fits (a node in bad shape) the second is used: then length is no longer the
  // point.
  static constexpr std::array<Detail, 11> details = {{
      {3, 3, Brief::messages, 6, true, true, true, 3},
      {3, 2, Brief::messages, 4, false, true, true, 3},
      {3, 2, Brief::messages, 2, false, false, true, 1},
      {3, 2, Brief::messages, 2, false, true, false, 1},
      {3, 2, Brief::messages, 2, false, false, false, 1},
      {2, 2, Brief::messages, 2, false, false, false, 1},
      {1, 2, Brief::messages, 1, false, false, false, 1},
      {0, 1, Brief::messages, 1, false, false, false, 1},
      {0, 1, Brief::titles_of_info, 1, false, false, false, 1},
      {0, 1, Brief::titles, 1, false, false, false, 1},
      {0, 1, Brief::names_of_info, 1, false, false, false, 0},
  }};
  const int most_lines = options.verbose ? 0 : std::max(0, options.lines);
  for (const auto& detail : details) {
    TextReport page(report, options, detail, most_lines);
    page.write();
    if (!page.too_long()) return page.take();
  }
  TextReport page(report, options, details[1], 0);
  page.write();
  return page.take();
}

}  // namespace audit
