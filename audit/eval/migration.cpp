#include "audit/eval/migration.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "audit/base/text.h"

namespace audit {

namespace {

using facts::NfsMount;
using facts::NfsServer;

bool is(const facts::Value& value, bool wanted) { return value.as_bool() != nullptr && *value.as_bool() == wanted; }

// A sentence part in both languages.
struct Words {
  std::string en;
  std::string ja;
};

struct Reasons {
  std::vector<Words> no;
  std::vector<Words> unknown;
  std::vector<Words> yes;
};

std::string joined(const std::vector<Words>& words, std::string Words::*language, std::string_view by) {
  std::vector<std::string> parts;
  for (const Words& word : words) parts.push_back(word.*language);
  return base::join(parts, by);
}

const facts::Fact<std::vector<std::string>>* access_modes_of(const Context& c, const std::string& pv) {
  const facts::DeclaredPv* declared = c.declared_pv(pv);
  if (declared != nullptr && declared->access_modes.has_value()) return &declared->access_modes;
  for (const auto& claim : c.facts.declared.pvcs) {
    if (claim.volume.is(pv) && claim.access_modes.has_value()) return &claim.access_modes;
  }
  return nullptr;
}

void judge_access(const Context& c, const NfsMount& mount, Reasons& reasons) {
  const bool named = mount.kubelet.has_value() && mount.kubelet->pv.has_value();
  const auto* modes = named ? access_modes_of(c, *mount.kubelet->pv) : nullptr;
  if (modes == nullptr) {
    reasons.unknown.push_back({"its access mode was not declared", "アクセスモードが宣言されていません"});
    return;
  }
  const auto& all = **modes;
  if (std::find(all.begin(), all.end(), "ReadWriteMany") != all.end()) {
    reasons.yes.push_back({"ReadWriteMany", "ReadWriteMany"});
    return;
  }
  const std::string text = all.empty() ? "-" : base::join(all, ", ");
  reasons.no.push_back({fmt::format("it is {}, and both nodes need it at once (ReadWriteMany)", text),
                        fmt::format("{} であり、両ノードで同時に使えません(ReadWriteMany が必要)", text)});
}

const facts::NfsService* service_of(const NfsServer& server, std::string_view program) {
  for (const auto& service : server.services)
    if (service.program == program) return &service;
  return nullptr;
}

void judge_server(const NfsServer& server, Reasons& reasons) {
  const auto* nfs = service_of(server, "nfs");
  if (nfs != nullptr && nfs->reachable.is(false)) {
    const std::string detail = nfs->detail.value_or(nfs->result.value_or("no answer"));
    reasons.no.push_back({fmt::format("{} does not answer ({})", server.name, detail),
                          fmt::format("{} が応答しません({})", server.name, detail)});
  } else if (server.in_grace.is(true)) {
    reasons.no.push_back({fmt::format("{} is in its grace period and grants no new lock", server.name),
                          fmt::format("{} は猶予期間中で、新しいロックを与えません", server.name)});
  }
}

const facts::NfsLockTest* failed_lock_test(const NfsServer& server, bool version3) {
  if (!server.lock_tests.has_value()) return nullptr;
  for (const auto& test : *server.lock_tests) {
    if ((test.version == "3") == version3 && test.result != "ok" && test.result != "not_asked") return &test;
  }
  return nullptr;
}

// NFSv3 locks: the lock manager of the server, and rpc.statd on both sides.
void judge_locks3(const Context& c, const NfsMount& mount, std::optional<std::uint32_t> server, Reasons& reasons) {
  const bool by_vendor = mount.kubelet.has_value() && mount.kubelet->provisioner.is("pxd.portworx.com");
  const bool local = mount.nolock.is(true) || mount.local_lock.is("all") || mount.local_lock.is("posix");
  if (local && by_vendor) {
    reasons.yes.push_back(
        {"locks left to Portworx, which requires nolock", "ロックは nolock を必須とする Portworx に任せる"});
    return;
  }
  if (local) {
    const std::string option = mount.nolock.is(true) ? "nolock" : "local_lock=" + mount.local_lock.value_or("");
    reasons.no.push_back(
        {fmt::format("its locks stay on this node ({}): nothing keeps two nodes from writing the disk", option),
         fmt::format("ロックがこのノードに留まり({})、二つのノードからの書き込みを防げません", option)});
    return;
  }
  if (mount.nolock.is_unknown() && mount.local_lock.is_unknown())
    reasons.unknown.push_back({"its mount options could not be read", "マウントオプションを読み取れませんでした"});
  if (c.facts.node.daemons.rpc_statd.is(false))
    reasons.no.push_back({"rpc.statd does not run on this node, and NFSv3 locks need it",
                          "NFSv3 のロックに必要な rpc.statd がこのノードで動作していません"});
  if (!server) {
    reasons.unknown.push_back({"its server is not known", "サーバーが分かりません"});
    return;
  }
  const Item item{find_scope("nfs.servers"), *server, 0};
  const auto derived = [&](std::string_view name) {
    const DerivedFact* fact = item.scope->find_derived(name);
    return fact->get(c, item);
  };
  const facts::Value usable = derived("nlm_usable");
  const std::string path = fmt::format("nfs.servers[{}].services.nlm", *server);
  if (usable.is_unknown()) {
    const std::string why = why_unknown(c, path);
    reasons.unknown.push_back({fmt::format("whether the lock manager of the server answers is not known ({})", why),
                               fmt::format("サーバーのロックマネージャーが応答するか分かりません({})", why)});
  } else if (is(usable, false)) {
    const facts::Value how = derived("nlm_how");
    const std::string why = how.as_text() != nullptr ? *how.as_text() : "";
    reasons.no.push_back({fmt::format("the lock manager of the server does not work ({})", why),
                          fmt::format("サーバーのロックマネージャーが機能していません({})", why)});
  } else if (const auto* test = failed_lock_test(c.facts.nfs.servers[*server], true)) {
    reasons.no.push_back({fmt::format("a lock of NFSv3 was refused ({})", test->result),
                          fmt::format("NFSv3 のロックが拒否されました({})", test->result)});
  } else {
    reasons.yes.push_back({"NFSv3 with a lock manager that answers", "応答するロックマネージャーを伴う NFSv3"});
  }
}

}  // namespace

LiveMigration live_migration(const Context& c, std::uint32_t index) {
  const NfsMount& mount = c.facts.nfs.mounts[index];
  const auto client = c.client_of_mount(index);
  const auto server = client ? c.server_of_client(*client) : std::nullopt;
  Reasons reasons;
  judge_access(c, mount, reasons);
  if (server) judge_server(c.facts.nfs.servers[*server], reasons);
  if (!mount.vers.has_value()) {
    reasons.unknown.push_back({"its NFS version is not known", "NFS のバージョンが分かりません"});
  } else if (mount.vers->starts_with("4")) {
    const auto* test = server ? failed_lock_test(c.facts.nfs.servers[*server], false) : nullptr;
    if (test != nullptr) {
      reasons.no.push_back({fmt::format("a lock of NFSv{} was refused ({})", test->version, test->result),
                            fmt::format("NFSv{} のロックが拒否されました({})", test->version, test->result)});
    } else {
      reasons.yes.push_back({fmt::format("NFSv{} with locks of its own", *mount.vers),
                             fmt::format("ロックを備えた NFSv{}", *mount.vers)});
    }
  } else {
    judge_locks3(c, mount, server, reasons);
  }

  LiveMigration out;
  const bool has_volume = mount.kubelet.has_value() && mount.kubelet->pv.has_value();
  out.volume = has_volume ? Subject{"volume", *mount.kubelet->pv} : Subject{"nfs.mount", mount.target};
  if (mount.kubelet.has_value() && mount.kubelet->vm.has_value()) out.vm = *mount.kubelet->vm;
  const auto& chosen = !reasons.no.empty() ? reasons.no : !reasons.unknown.empty() ? reasons.unknown : reasons.yes;
  out.verdict = !reasons.no.empty() ? "no" : !reasons.unknown.empty() ? "unknown" : "yes";
  out.why = joined(chosen, &Words::en, "; ");
  out.why_ja = joined(chosen, &Words::ja, "、");
  return out;
}

std::vector<LiveMigration> live_migrations(const Context& c) {
  std::vector<LiveMigration> out;
  const Scope* scope = find_scope("nfs.mounts");
  const DerivedFact* carries_vm = scope->find_derived("carries_vm");
  std::set<std::pair<std::string, std::string>> told;  // volume, VM
  for (std::uint32_t i = 0; i < c.facts.nfs.mounts.size(); ++i) {
    if (!is(carries_vm->get(c, {scope, i, 0}), true)) continue;
    LiveMigration one = live_migration(c, i);
    if (told.emplace(one.volume.id, one.vm).second) out.push_back(std::move(one));
  }
  return out;
}

}  // namespace audit
