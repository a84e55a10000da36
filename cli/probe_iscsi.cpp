// `probe iscsi://...`: a discovery session, then a login at each portal that it names, and what the LUNs say.
#include <fmt/format.h>

#include <algorithm>

#include "cli/chap.h"
#include "cli/commands.h"
#include "cli/describe.h"
#include "cli/judge.h"
#include "cli/output.h"
#include "cli/probe.h"
#include "cli/servers.h"
#include "probes/ask_portals.h"
#include "probes/redact.h"

namespace cli {

namespace {

// Whether what was asked for was to be had: every portal answers, and each login that was tried went well or on.
bool all_answer(const facts::Iscsi& iscsi) {
  return std::all_of(iscsi.portals.begin(), iscsi.portals.end(), [](const facts::IscsiPortal& portal) {
    const bool answers = !portal.connect_result.has_value() || portal.reachable.is(true);
    const bool asked_in_vain = portal.discovery.has_value() && portal.discovery->result != "ok" &&
                               !(portal.logins.has_value() && !portal.logins->empty());
    return answers && !asked_in_vain &&
           (!portal.logins.has_value() ||
            std::all_of(portal.logins->begin(), portal.logins->end(), [](const facts::IscsiLogin& login) {
              return login.result == "ok" || (login.result == "login_status" && login.redirected_to.has_value());
            }));
  });
}

}  // namespace

base::Result<int> run_iscsi_probe(const Settings& settings) {
  const auto started = std::chrono::steady_clock::now();
  auto url = wire::parse_iscsi_url(settings.words.front());
  if (!url) return tl::unexpected(url.error());
  if (auto known = refuse_flags_of_nfs(settings); !known) return tl::unexpected(known.error());
  auto outlets = open_outlets(settings);
  if (!outlets) return tl::unexpected(outlets.error());
  const auto judge = make_judge(settings);
  if (!judge) return tl::unexpected(judge.error());
  auto options = iscsi_options(settings, url->user);
  if (!options) return tl::unexpected(options.error());
  url->portal.discover = true;
  options->follow = true;
  options->only_target = url->target;
  if (!url->lun.empty()) {
    options->luns.numbers = {url->lun};
    options->luns.only_numbers = true;
  }
  note_signals();
  auto answers = ask_portals(settings, {url->portal}, *options, {});

  facts::Facts facts = facts_of_probe(url->shown);
  probes::join_iscsi_answers(facts, std::move(answers), "user");
  if (settings.redact) facts = probes::Redactor().redact(std::move(facts));
  if (outlets->on_stdout->name == std::string_view("text")) {
    if (auto printed = print(describe_iscsi(facts.iscsi, columns())); !printed) return tl::unexpected(printed.error());
  }
  const auto code = judge_and_report(settings, *judge, facts, *outlets, started, 40);
  if (!code) return code;
  return *code == ok && !all_answer(facts.iscsi) && settings.fail_on != "never" ? findings : *code;
}

}  // namespace cli
