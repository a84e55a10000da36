// `probe URL`: one server that need not be mounted. In text, what it offers comes before the findings: who asks about a
// server wants to see it also where there is nothing to object to.
#include <fmt/format.h>
#include <sys/utsname.h>

#include <vector>

#include "audit/base/text.h"
#include "cli/commands.h"
#include "cli/describe.h"
#include "cli/gather.h"
#include "cli/judge.h"
#include "cli/output.h"
#include "cli/probe.h"
#include "cli/servers.h"
#include "probes/redact.h"
#include "probes/wire/ask_nfs.h"
#include "probes/wire/follow_grace.h"
#include "probes/wire/lock_test.h"
#include "probes/wire/read_file.h"

namespace cli {

namespace {

using facts::NfsServer;

// Some rules ask whether the kernel here would get along with such a server.
void note_kernel(facts::Facts& facts) {
  utsname names{};
  if (::uname(&names) != 0) return;
  facts.kernel.release = std::string(names.release);
  facts.sources.push_back({"kernel", "uname", "ok", "", {}});
}

}  // namespace

facts::Facts facts_of_probe(const std::string& url) {
  facts::Facts facts;
  facts.node.name = node_name();
  facts.node.root = url;
  facts.node.live = true;
  note_kernel(facts);
  return facts;
}

namespace {

// The first flag that was given, by name.
base::Result<void> refuse(std::initializer_list<std::pair<bool, std::string_view>> flags, std::string_view kind) {
  for (const auto& [given, name] : flags) {
    if (given) return base::fail(base::ErrorKind::usage, "", fmt::format("{} is for {} servers only", name, kind));
  }
  return {};
}

}  // namespace

base::Result<void> refuse_flags_of_nfs(const Settings& settings) {
  return refuse({{settings.lock_test, "--lock-test"},
                 {!settings.allow_write.empty(), "--allow-write"},
                 {!settings.read_file.empty(), "--read-file"},
                 {!settings.follow_grace.empty(), "--follow-grace"}},
                "nfs://");
}

base::Result<void> refuse_flags_of_iscsi(const Settings& settings) {
  return refuse({{!settings.initiator.empty(), "--initiator"},
                 {!settings.chap_user.empty(), "--chap-user"},
                 {!settings.chap_secret_file.empty(), "--chap-secret-file"}},
                "iscsi://");
}

namespace {

bool answers_nfs(const NfsServer& server) {
  for (const auto& service : server.services)
    if (service.program == "nfs") return service.reachable.is(true);
  return false;
}

// What was asked for beyond the questions: checked before a packet is sent.
struct Extras {
  std::string export_path;
  std::string lock_directory;  // empty: no lock test
  std::string read_path;       // empty: no file is read
  std::chrono::milliseconds follow{0};
};

base::Result<Extras> extras_of(const Settings& settings, const wire::NfsTarget& target) {
  const auto wrong = [](const std::string& what) { return base::fail(base::ErrorKind::usage, "", what); };
  Extras extras;
  if (!target.exports.empty()) extras.export_path = target.exports.front();
  if (settings.lock_test && settings.allow_write.empty())
    return wrong(
        "--lock-test makes a file on the server and locks it: say where with --allow-write DIR, a directory of "
        "the export (. is its top)");
  if (!settings.allow_write.empty() && !settings.lock_test)
    return wrong("--allow-write allows nothing here: only --lock-test writes");
  for (const auto& [given, name] :
       {std::pair{settings.lock_test, "--lock-test"}, {!settings.read_file.empty(), "--read-file"}}) {
    if (given && extras.export_path.empty()) return wrong(fmt::format("{} needs an export: nfs://host/export", name));
  }
  if (settings.lock_test) {
    auto directory = wire::lock_test_directory(extras.export_path, settings.allow_write);
    if (!directory) return tl::unexpected(directory.error());
    extras.lock_directory = std::move(*directory);
  }
  extras.read_path = settings.read_file;
  if (!settings.follow_grace.empty()) {
    const auto time = parse_time(settings.follow_grace, "--follow-grace");
    if (!time) return tl::unexpected(time.error());
    extras.follow = *time;
  }
  return extras;
}

// The changes are told as they come: who restarts a server looks at this line.
wire::GraceSeen follow(const Settings& settings, const wire::NfsTarget& target, const wire::AskOptions& options,
                       std::chrono::milliseconds at_most) {
  if (!settings.quiet)
    say(fmt::format("watching {} for a grace period, at most {:.0f} s; restart it, or move its address, now",
                    target.name, std::chrono::duration<double>(at_most).count()));
  wire::GraceSeen seen;
  run_stoppable([&](const std::atomic<bool>& stop) {
    wire::AskOptions own = options;
    own.stop = &stop;
    seen = wire::follow_grace(target, own, at_most, [&](double seconds, const std::string& what) {
      if (!settings.quiet) say(fmt::format("{:6.1f} s  {}", seconds, what));
    });
  });
  return seen;
}

void test_further(const wire::AskOptions& options, const Extras& extras, NfsServer& server) {
  if (!extras.lock_directory.empty())
    run_stoppable([&](const std::atomic<bool>& stop) {
      const wire::LockTestOptions own{options.timeout, io::Clock::now() + options.deadline, &stop};
      server.lock_tests = wire::test_locks(server, extras.export_path, extras.lock_directory, own);
    });
  if (!extras.read_path.empty() && signal_seen() == 0)
    run_stoppable([&](const std::atomic<bool>& stop) {
      server.read_test =
          wire::read_file(server, extras.export_path, extras.read_path, {io::Clock::now() + options.deadline, &stop});
    });
}

base::Result<int> run_nfs_probe(const Settings& settings) {
  const auto started = std::chrono::steady_clock::now();
  const auto target = wire::parse_nfs_url(settings.words.front());
  if (!target) return tl::unexpected(target.error());
  if (auto known = refuse_flags_of_iscsi(settings); !known) return tl::unexpected(known.error());
  const auto options = ask_options(settings);
  if (!options) return tl::unexpected(options.error());
  const auto extras = extras_of(settings, *target);
  if (!extras) return tl::unexpected(extras.error());
  auto outlets = open_outlets(settings);
  if (!outlets) return tl::unexpected(outlets.error());
  const auto judge = make_judge(settings);
  if (!judge) return tl::unexpected(judge.error());
  note_signals();
  wire::GraceSeen grace;
  if (extras->follow.count() != 0) grace = follow(settings, *target, *options, extras->follow);
  auto answers = ask_targets(settings, {*target}, {});
  if (!answers) return tl::unexpected(answers.error());

  facts::Facts facts = facts_of_probe(settings.words.front());
  bool all_answer = true;
  bool tested = false;
  for (auto& answer : *answers) {
    const bool here = answers_nfs(answer.server);
    all_answer = all_answer && here;
    if (extras->follow.count() != 0) {
      answer.server.grace_s = grace.grace_s;
      answer.server.grace_how = grace.how;
    }
    if (here && !tested && signal_seen() == 0) {  // of several addresses of a name, one is enough
      tested = true;
      test_further(*options, *extras, answer.server);
    }
    facts.nfs.servers.push_back(std::move(answer.server));
    facts.sources.insert(facts.sources.end(), answer.sources.begin(), answer.sources.end());
  }
  if (settings.redact) facts = probes::Redactor().redact(std::move(facts));
  if (outlets->on_stdout->name == std::string_view("text")) {
    std::string text;
    for (const auto& server : facts.nfs.servers) text += describe_nfs(server, columns());
    if (auto printed = print(text); !printed) return tl::unexpected(printed.error());
  }
  const auto code = judge_and_report(settings, *judge, facts, *outlets, started, 40);
  if (!code) return code;
  // A server that does not answer is a finding whatever rules were chosen.
  return *code == ok && !all_answer && settings.fail_on != "never" ? findings : *code;
}

}  // namespace

base::Result<int> run_probe(const Settings& settings) {
  const std::string& url = settings.words.front();
  if (url.starts_with("iscsi:")) return run_iscsi_probe(settings);
  if (url.starts_with("nfs:")) return run_nfs_probe(settings);
  return base::fail(base::ErrorKind::usage, "",
                    "which kind of server is that? Write nfs://host[:port][/export] or "
                    "iscsi://[user@]host[:port][/iqn[/lun]]");
}

}  // namespace cli
