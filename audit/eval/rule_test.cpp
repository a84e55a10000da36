// Tests of rules: a facts document in, the outcome that the file name says out.
#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "audit/base/json.h"
#include "audit/base/text.h"
#include "audit/eval/engine.h"
#include "audit/eval/explain.h"
#include "audit/snapshot/document.h"

namespace audit {

namespace {

namespace fs = std::filesystem;

struct Expected {
  std::string outcome;  // fail, pass, unknown, not_applicable
  std::string level;
};

// OUTCOME[-LEVEL][-what]; a failure always says its level.
std::optional<Expected> expected_from(const std::string& stem) {
  const auto parts = base::split(stem, '-');
  const std::string outcome(parts[0]);
  if (outcome == "fail") {
    if (parts.size() < 2 || !severity_from(parts[1])) return std::nullopt;
    return Expected{outcome, std::string(parts[1])};
  }
  if (outcome == "pass" || outcome == "unknown" || outcome == "not_applicable") return Expected{outcome, ""};
  return std::nullopt;
}

base::Result<std::vector<std::string>> profiles_from(const std::string& text, const std::string& path) {
  auto document = base::parse_json(text, path);
  if (!document) return tl::unexpected<base::Error>(document.error());
  std::vector<std::string> profiles;
  const auto* object = document->if_object();
  const auto* list = object != nullptr ? object->if_contains("profiles") : nullptr;
  if (list == nullptr) return profiles;
  const auto malformed = [&](const std::string& message) {
    return base::fail(base::ErrorKind::malformed, path, message);
  };
  if (!list->is_array()) return malformed("profiles: expected a list of names");
  for (const auto& item : list->get_array()) {
    if (!item.is_string()) return malformed("profiles: expected a list of names");
    profiles.emplace_back(item.get_string());
    const auto known = [&](const ProfileInfo& info) { return info.name == profiles.back(); };
    if (std::none_of(known_profiles().begin(), known_profiles().end(), known))
      return malformed(fmt::format("profiles: no profile '{}'", profiles.back()));
  }
  return profiles;
}

std::string got_text(const Report& report) {
  std::string got;
  if (!report.findings.empty()) {
    const Finding& worst = report.findings.front();
    got = fmt::format("fail-{}: {}", severity_word(worst.severity), worst.text.message);
  } else if (!report.unknown.empty()) {
    got = "unknown: " + report.unknown.front().reason;
  } else {
    got = report.passed.empty() ? "not_applicable" : "pass";
  }
  return got;
}

RuleTestResult run_test(const RuleSet& rules, const std::string& path) {
  RuleTestResult result{path, false, "", {}, {}};
  const fs::path file(path);
  const std::string id = file.parent_path().filename().string();
  const auto expected = expected_from(file.stem().string());
  if (!expected) {
    result.message = "the name has to be fail-LEVEL, pass, unknown or not_applicable, then -what";
    return result;
  }
  if (rules.find(id) == nullptr) {
    result.message = fmt::format("the folder names no rule: '{}'", id);
    return result;
  }
  std::ifstream in(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  if (!in) {
    result.message = "cannot be read";
    return result;
  }
  auto profiles = profiles_from(text, path);
  auto loaded = snapshot::from_json(text, path);
  if (!profiles || !loaded) {
    result.message = base::to_text(!profiles ? profiles.error() : loaded.error());
    return result;
  }
  for (const std::string& note : loaded->notes) {
    if (note.starts_with("profiles:")) continue;
    result.message = note;  // a misspelt fact would make the test say nothing
    return result;
  }
  JudgeOptions options;
  options.profiles = *profiles;
  if (options.profiles.empty()) options.profiles = {"general"};
  options.only = {id};
  const Report report = judge(loaded->facts, rules, options);
  RuleTrace trace = trace_rule(loaded->facts, rules, *rules.find(id), options);
  result.levels = std::move(trace.levels);
  result.exceptions = std::move(trace.exceptions);
  const std::string got = got_text(report);
  const std::string wanted = expected->level.empty() ? expected->outcome : expected->outcome + '-' + expected->level;
  result.ok = got.substr(0, got.find(':')) == wanted;
  result.message = result.ok ? got : fmt::format("expected {}, got {}", wanted, got);
  return result;
}

}  // namespace

base::Result<std::vector<RuleTestResult>> test_rules(const RuleSet& rules, const std::string& path) {
  std::error_code error;
  std::vector<std::string> files;
  if (fs::is_directory(path, error)) {
    for (auto it = fs::recursive_directory_iterator(path, error); !error && it != fs::recursive_directory_iterator();
         it.increment(error)) {
      if (it->path().extension() == ".json") files.push_back(it->path().string());
    }
    if (error) return base::fail(base::ErrorKind::io, path, error.message());
  } else if (fs::exists(path, error)) {
    files.push_back(path);
  } else {
    return base::fail(base::ErrorKind::absent, path, "no such file");
  }
  if (files.empty()) return base::fail(base::ErrorKind::absent, path, "holds no test (*.json)");
  std::sort(files.begin(), files.end());
  std::vector<RuleTestResult> results;
  for (const std::string& file : files) results.push_back(run_test(rules, file));
  return results;
}

}  // namespace audit
