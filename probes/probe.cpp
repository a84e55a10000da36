#include "probes/probe.h"

#include <utility>

namespace probes {

using base::Result;

namespace {

std::uint64_t micros_since(std::chrono::steady_clock::time_point start) {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - start).count());
}

}  // namespace

template <class T, class Get>
Result<T> Reading::leave_row(std::string name, Get get) {
  const auto start = std::chrono::steady_clock::now();
  Result<T> result = get();
  facts::Source row{probe_, std::move(name), "ok", "", {}};
  row.duration_us = micros_since(start);
  if (!result) {
    row.status = base::status_word(result.error().kind);
    row.detail = result.error().message;
  }
  facts_.sources.push_back(std::move(row));
  return result;
}

Result<std::string> Reading::file(std::string_view path) {
  return leave_row<std::string>(host_.name_of(path), [&] { return host_.read(path); });
}

Result<std::vector<std::string>> Reading::list(std::string_view path) {
  return leave_row<std::vector<std::string>>(host_.name_of(path), [&] { return host_.list(path); });
}

Result<std::string> Reading::command(std::string_view name) {
  return leave_row<std::string>(host_.name_of(name), [&] { return host_.command(name); });
}

Result<std::string> Reading::answer(std::string_view question) {
  return leave_row<std::string>("kernel: " + std::string(question), [&] { return host_.answer(question); });
}
void Reading::given_row(const GivenText& text) { facts_.sources.push_back({probe_, text.file, "ok", "", {}}); }

Result<Reading::Found> Reading::first_of(std::initializer_list<std::string_view> places) {
  const std::size_t first_row = facts_.sources.size();
  base::Error first_error;
  for (const std::string_view place : places) {
    auto text = place.starts_with('!') ? command(place.substr(1)) : file(place);
    if (!text) {
      if (first_error.message.empty()) first_error = text.error();
      continue;
    }
    facts::Source row = std::move(facts_.sources.back());
    facts_.sources.pop_back();
    for (std::size_t i = first_row; i < facts_.sources.size(); ++i) {
      const facts::Source& failed = facts_.sources[i];
      row.detail += (row.detail.empty() ? "instead of " : ", ") + failed.name + " (" + failed.detail + ")";
    }
    // What is merely not in a copy is said in the row of what stood in for it; a refusal keeps its own.
    std::erase_if(facts_.sources, [&, i = std::size_t{0}](const facts::Source& failed) mutable {
      return i++ >= first_row && failed.status == "skipped";
    });
    facts_.sources.push_back(std::move(row));
    return Found{std::string(place), std::move(*text)};
  }
  return tl::unexpected(first_error);
}

void Reading::note(const std::vector<Note>& notes) {
  if (notes.empty() || facts_.sources.empty()) return;
  facts::Source& row = last_row();
  for (const Note& entry : notes)
    if (entry.lost) row.status = "malformed";
  row.detail += (row.detail.empty() ? "" : "; ") + describe(notes);
}

void Reading::malformed(const std::string& reason) { note({Note{0, reason, true}}); }

void Reading::malformed(const base::Error& error) {
  const std::size_t place = error.where.find(':');
  malformed(place == std::string::npos ? error.message : "at " + error.where.substr(place + 1) + ": " + error.message);
}

}  // namespace probes
