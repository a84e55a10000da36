// Joins below a file system: session, disk, map, target, portal, user.
#include "audit/eval/derive_storage.h"

#include <catch2/catch.hpp>

#include "tests/eval/storage_fixture.h"

using audit::Context;
using audit::Item;
using audit::Storage;
using facts::Fact;
using Indices = Storage::Indices;

namespace {

std::vector<std::string> subjects(const Context& context, const std::string& scope, std::uint32_t index,
                                  const std::string& list, std::uint32_t sub = 0) {
  const audit::Scope* s = audit::find_scope(scope);
  REQUIRE(s != nullptr);
  const audit::Collection* collection = s->find_collection(list);
  REQUIRE(collection != nullptr);
  std::vector<std::string> ids;
  for (const Item& item : collection->get(context, {s, index, sub})) {
    CHECK(item.scope->name == collection->scope);
    const auto subject = item.scope->subject(context, item);
    ids.push_back(subject.kind + ' ' + subject.id);
  }
  return ids;
}

std::string leads_to(const Context& context, const std::string& scope, std::uint32_t index, const std::string& name,
                     std::uint32_t sub = 0) {
  const audit::Scope* s = audit::find_scope(scope);
  const audit::Reference* reference = s->find_reference(name);
  REQUIRE(reference != nullptr);
  const audit::Joined joined = reference->get(context, {s, index, sub});
  if (!joined.item) return joined.absent ? "nothing" : joined.why;
  CHECK(joined.item->scope->name == reference->scope);
  return joined.item->scope->path(context, *joined.item);
}

}  // namespace

TEST_CASE("storage: session, disk, map, target, portal and user are joined both ways") {
  const facts::Facts f = fixture::storage_node();
  const Context context(f);
  const Storage& storage = context.storage();
  REQUIRE(storage.sessions.size() == 2);
  CHECK(storage.sessions[1].devices == Indices{1});
  CHECK(storage.sessions[1].maps == Indices{0});
  CHECK(storage.devices[0].session == 0U);
  CHECK(storage.maps[0].sessions == Indices{0, 1});
  CHECK(storage.maps[0].devices == Indices{0, 1});
  CHECK(storage.maps[0].targets == Indices{0});
  CHECK(storage.maps[0].portals == Indices{0, 1});
  CHECK(storage.targets[0].sessions == Indices{0, 1});
  CHECK(storage.targets[0].maps == Indices{0});
  CHECK(storage.portals[1].sessions == Indices{1});
  CHECK(storage.map_named(fixture::lun_wwid) == 0U);
  CHECK(storage.portal_named("192.0.2.2:3260,1002") == 1U);
  CHECK(storage.portal_named("192.0.2.2:3260") == 1U);
  CHECK_FALSE(storage.portal_named("192.0.2.9:3260"));

  const std::vector<std::string> volume{"volume pvc-1"};
  CHECK(subjects(context, "iscsi.sessions", 0, "volumes") == volume);
  CHECK(subjects(context, "iscsi.sessions.settings", 1, "volumes", 2) == volume);
  CHECK(subjects(context, "iscsi.sessions.connections", 1, "volumes") == volume);
  CHECK(subjects(context, "iscsi.targets", 0, "volumes") == volume);
  CHECK(subjects(context, "iscsi.portals", 1, "volumes") == volume);
  CHECK(subjects(context, "block.devices", 0, "volumes") == volume);
  CHECK(subjects(context, "block.devices", 0, "users").empty());
  CHECK(subjects(context, "multipath.maps", 0, "volumes") == volume);
  CHECK(subjects(context, "multipath.maps.paths", 0, "volumes", 1) == volume);
  CHECK(subjects(context, "iscsi", 0, "volumes") == volume);
  CHECK(subjects(context, "iscsi", 0, "maps") == std::vector<std::string>{"multipath.map " + fixture::lun_wwid});
  CHECK(subjects(context, "iscsi.targets", 0, "portals") ==
        std::vector<std::string>{"iscsi.portal 192.0.2.1:3260,1001", "iscsi.portal 192.0.2.2:3260,1002"});
  CHECK(subjects(context, "multipath.maps", 0, "sessions").size() == 2);

  CHECK(leads_to(context, "iscsi.sessions", 1, "target") == "iscsi.targets[0]");
  CHECK(leads_to(context, "iscsi.sessions", 1, "portal") == "iscsi.portals[1]");
  CHECK(leads_to(context, "iscsi.sessions", 1, "node_record") == "iscsi.node_records[1]");
  CHECK(leads_to(context, "iscsi.sessions", 1, "connection") == "iscsi.sessions[1].connections[0]");
  CHECK(leads_to(context, "block.devices", 1, "session") == "iscsi.sessions[1]");
  CHECK(leads_to(context, "block.devices", 1, "map") == "multipath.maps[0]");
  CHECK(leads_to(context, "multipath.maps.paths", 0, "session", 1) == "iscsi.sessions[1]");
  CHECK(leads_to(context, "multipath.maps.paths", 0, "disk", 1) == "block.devices[1]");
  CHECK(leads_to(context, "multipath.maps", 0, "target") == "iscsi.targets[0]");
  CHECK(leads_to(context, "block.users", 0, "map") == "multipath.maps[0]");
  CHECK(leads_to(context, "block.users", 0, "disk") == "nothing");
}

// Texts alone leave most names of the other side out.
TEST_CASE("storage: what the other side does not name is found by host, session number, name or slave") {
  facts::Facts f = fixture::storage_node();
  auto& devices = *f.block.devices;
  auto& map = (*f.multipath.maps)[0];
  for (auto& device : devices) {
    device.session = device.target = device.portal = device.map = Fact<std::string>{};
    device.sid = Fact<std::uint32_t>{};
  }
  for (auto& path : map.paths) {
    path.session = path.target = path.portal = Fact<std::string>{};
    path.sid = Fact<std::uint32_t>{};
  }
  SECTION("by host") {
    const Context context(f);
    CHECK(context.storage().maps[0].sessions == Indices{0, 1});
    CHECK(context.storage().devices[1].session == 1U);
    CHECK(context.storage().devices[1].map == 0U);
  }
  SECTION("no disks listed at all: by the host of the path") {
    f.block.devices = {};
    const Context context(f);
    CHECK(context.storage().maps[0].sessions == Indices{0, 1});
    CHECK(subjects(context, "iscsi.sessions", 1, "volumes") == std::vector<std::string>{"volume pvc-1"});
  }
  SECTION("an adapter's host carries both sessions: nothing is guessed") {
    for (auto& s : *f.iscsi.sessions) s.host = 3U;
    for (auto& device : devices) device.host = 3U;
    for (auto& path : map.paths) path.host = 3U;
    const Context context(f);
    CHECK(context.storage().maps[0].sessions.empty());
    CHECK(leads_to(context, "block.devices", 0, "session") == "needs block.devices[].session: not listed");
  }
  SECTION("by the disks that the session names") {
    for (auto& device : devices) device.host = Fact<std::uint32_t>{};
    for (auto& path : map.paths) path.host = Fact<std::uint32_t>{};
    (*f.iscsi.sessions)[1].devices = {"sdb"};
    const Context context(f);
    CHECK(context.storage().sessions[1].devices == Indices{1});
    CHECK(context.storage().maps[0].sessions == Indices{1});
  }
  SECTION("as slaves of the dm device") {
    map.paths.clear();
    map.device = "dm-0";
    facts::BlockDevice dm;
    dm.name = "dm-0";
    dm.id = "dm-0";
    dm.kind = "multipath";
    dm.slaves = {"sda", "sdb"};
    devices.push_back(dm);
    const Context context(f);
    CHECK(context.storage().maps[0].devices == Indices{0, 1});
    CHECK(context.storage().maps[0].device == 2U);
  }
}

TEST_CASE("storage: what is known to be of none is not joined, twins of one id are told apart by their number") {
  facts::Facts f = fixture::storage_node();
  auto& devices = *f.block.devices;
  auto& sessions = *f.iscsi.sessions;
  sessions.push_back(sessions[1]);  // nr_sessions = 2
  sessions[2].sid = 3U;
  sessions[2].host = 13U;
  devices[1].sid = 3U;
  facts::BlockDevice local = fixture::disk("sdc", sessions[0], 0);
  local.session = local.target = local.portal = local.map = Fact<std::string>::absent();
  local.users = {fixture::mounted("/srv", "", "")};
  local.users[0].kubelet = Fact<facts::KubeletVolume>::absent();
  local.users[0].volume = Fact<std::string>::absent();
  devices.push_back(local);
  const Context context(f);
  CHECK(context.storage().devices[1].session == 2U);
  CHECK(context.storage().sessions[1].devices.empty());
  CHECK_FALSE(context.storage().devices[2].session);
  CHECK(leads_to(context, "block.devices", 2, "session") == "nothing");
  CHECK(leads_to(context, "block.devices", 2, "map") == "nothing");
  CHECK(subjects(context, "block.devices", 2, "volumes") == std::vector<std::string>{"mount /srv"});
}

TEST_CASE("storage: the earlier sample of a disk is that of the same disk") {
  facts::Facts f = fixture::storage_node();
  f.node.boot_id = "b";
  facts::Facts before = f;
  (*before.block.devices)[0].iorequest_count = 100U;
  (*f.block.devices)[0].iorequest_count = 400U;
  (*before.block.devices)[1].id = "naa.other";
  f.earlier = facts::Box<facts::Facts>(before);
  const Context context(f);
  REQUIRE(context.storage().earlier_device(0) != nullptr);
  CHECK(context.storage().earlier_device(0)->iorequest_count.is(100U));
  CHECK(context.storage().earlier_device(1) == nullptr);
}

TEST_CASE("storage: volume, pod and file system stand among those affected") {
  facts::Facts f = fixture::storage_node();
  (*f.multipath.maps)[0].users.push_back(fixture::mounted("/srv", "", ""));
  (*f.multipath.maps)[0].users[1].kubelet = Fact<facts::KubeletVolume>::absent();
  (*f.multipath.maps)[0].users[1].volume = Fact<std::string>::absent();
  const auto set = fixture::one_rule(
      "id: T-001\ntitle: t\nkind: health\nbasis: [standard]\neffect: live\nfor_each: iscsi.sessions\n"
      "levels: [{ severity: warning, when: { state: { eq: LOGGED_IN } } }]\nmessage: \"{target.name} {portal.id}\"\n"
      "group_by: target\naffects: volumes\nfix: { text: none }\n");
  const auto report = fixture::judge(f, set);
  REQUIRE(report.findings.size() == 1);
  const auto& finding = report.findings[0];
  CHECK(finding.subject == audit::Subject{"iscsi.target", fixture::array_target});
  CHECK(finding.text.message == fixture::array_target + " 192.0.2.1:3260,1001");
  const auto has = [&](const std::string& kind, const std::string& id) {
    return std::count(finding.affects.begin(), finding.affects.end(), audit::Subject{kind, id});
  };
  CHECK(has("volume", "pvc-1") == 1);
  CHECK(has("pod", "demo/db-0") == 1);
  CHECK(has("mount", "/srv") == 1);
  CHECK(has("iscsi.session", fixture::array_target + " 192.0.2.2:3260,1002 default") == 1);
}

TEST_CASE("storage: every reference and list leads to the scope that it names") {
  const facts::Facts f = fixture::storage_node();
  const Context context(f);
  for (const audit::Scope& scope : audit::scopes()) {
    for (const Item& item : scope.items(context)) {
      CHECK(item.scope == &scope);
      CHECK(!scope.path(context, item).empty());
      CHECK(!scope.subject(context, item).kind.empty());
      for (const auto& reference : scope.references) {
        INFO(scope.name << ' ' << reference.name);
        const audit::Joined joined = reference.get(context, item);
        if (joined.item) CHECK(joined.item->scope->name == reference.scope);
        if (!joined.item && !joined.absent) CHECK(!joined.why.empty());
      }
      for (const auto& list : scope.collections) {
        INFO(scope.name << ' ' << list.name);
        for (const Item& other : list.get(context, item)) CHECK(other.scope->name == list.scope);
      }
    }
  }
}
