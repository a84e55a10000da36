#include "probes/host/lines.h"

#include <fmt/format.h>

#include "audit/base/text.h"

namespace probes {

namespace {

constexpr std::size_t no_line = static_cast<std::size_t>(-1);
constexpr std::string_view deleted = " (deleted)";

}  // namespace

void add_note(std::vector<Note>& notes, std::size_t line, std::string reason, bool lost) {
  if (notes.size() < max_notes) {
    notes.push_back({line, std::move(reason), lost});
  } else if (notes.size() == max_notes) {
    notes.push_back({line, "more lines like these follow; they are not listed", lost});
  } else {
    notes.back().lost = notes.back().lost || lost;
  }
}

bool Lines::next(std::string_view& line) {
  while (base::next_line(rest_, line)) {
    ++number_;
    if (line.size() > max_line_bytes) {
      add_note(notes_, number_, fmt::format("line of {} bytes, over the limit of {}", line.size(), max_line_bytes));
      continue;
    }
    if (line.ends_with('\r')) line.remove_suffix(1);
    return true;
  }
  return false;
}

std::string_view next_field(std::string_view& rest) {
  std::size_t from = 0;
  while (from < rest.size() && is_blank(rest[from])) ++from;
  std::size_t to = from;
  while (to < rest.size() && !is_blank(rest[to])) ++to;
  const std::string_view field = rest.substr(from, to - from);
  rest.remove_prefix(to);
  return field;
}

std::string decode(std::string_view text) {
  if (text.find('\\') == std::string_view::npos) return std::string(text);
  return base::octal_unescape(text);
}

bool take_deleted(std::string& target) {
  if (target.size() <= deleted.size() || !target.ends_with(deleted)) return false;
  target.resize(target.size() - deleted.size());
  return true;
}

void Stacking::add(std::string_view target, facts::Fact<std::uint32_t> mount_id, facts::Fact<std::uint32_t> parent_id) {
  PathHash hash;
  hash.add(target);
  last_on_[hash.value()] = entries_.size();
  entries_.push_back({mount_id, parent_id});
}

std::string_view Stacking::hidden_by(std::size_t index, std::string_view target) {
  PathHash hash;
  std::size_t hider = index;
  std::size_t hider_length = 0;
  for (std::size_t i = 0; i <= target.size(); ++i) {
    // The root directory of a process is not looked up through mounts upon it: only "/" itself counts as covered by
    // "/".
    const bool is_directory = i == target.size() || (target[i] == '/' && i > 0);
    if (is_directory) {
      const auto found = last_on_.find(hash.value());
      if (found != last_on_.end() && found->second > hider && !carries(found->second, index)) {
        hider = found->second;
        hider_length = i;
      }
    }
    if (i < target.size()) hash.add(target[i]);
  }
  return target.substr(0, hider_length);
}

bool Stacking::carries(std::size_t upper, std::size_t index) {
  if (!by_id_made_) {
    by_id_made_ = true;
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      if (!entries_[i].mount_id.has_value()) continue;
      const auto [at, fresh] = by_id_.try_emplace(*entries_[i].mount_id, i);
      if (!fresh) at->second = no_line;
    }
  }
  // Deeper nesting than this is made up, and parent ids may run in a circle.
  for (int step = 0; step < 64 && entries_[index].parent_id.has_value(); ++step) {
    const auto parent = by_id_.find(*entries_[index].parent_id);
    if (parent == by_id_.end() || parent->second == no_line) return false;
    if (parent->second == upper) return true;
    index = parent->second;
  }
  return false;
}

}  // namespace probes
