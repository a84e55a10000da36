#include "audit/snapshot/document.h"

#include <catch2/catch.hpp>

using namespace facts;

namespace {

Facts some_facts() {
  Facts f;
  f.node.name = "worker-1";
  f.node.live = true;
  f.sources.push_back({"mountinfo", "/proc/1/mountinfo", "ok", "", 12U});
  NfsMount m;
  m.target = "/mnt/a b";
  m.source = "srv:/a";
  m.rsize_bytes = 65536U;
  m.nconnect = Fact<std::uint32_t>::absent();
  m.ops.push_back({"READ", 1, 1, 0, 2, 3, 18446744073708749450ULL, 4, 5, {}});
  m.asked = AskedOptions{};
  m.asked->origin = "fstab";
  f.nfs.mounts.push_back(m);
  Facts e = f;
  e.node.boottime_ns = 5U;
  f.earlier = e;
  return f;
}

}  // namespace

TEST_CASE("document: facts survive the way to JSON and back, in all three states") {
  const Facts f = some_facts();
  const auto back = snapshot::from_json(snapshot::to_json(f), "doc");
  REQUIRE(back.has_value());
  CHECK(back->facts == f);
  CHECK(back->notes.empty());
  CHECK(back->facts.nfs.mounts[0].nconnect.is_absent());
  CHECK(back->facts.nfs.mounts[0].wsize_bytes.is_unknown());
  CHECK(back->facts.earlier->node.boottime_ns.is(5U));
}

TEST_CASE("document: wrong documents are refused with the path and what was expected") {
  struct Row {
    const char* text;
    const char* message;
  };
  const Row row = GENERATE(
      Row{"{}", "no facts document: it has no \"schema\": \"mountaudit.facts/1\""},
      Row{R"({"schema":"mountaudit.facts/2"})", "schema is mountaudit.facts/2, this version reads mountaudit.facts/1"},
      Row{R"({"schema":"mountaudit.facts/1","node":[]})", "node: expected an object, found a list"},
      Row{R"({"schema":"mountaudit.facts/1","nfs":{"mounts":[{"rsize_bytes":"x"}]}})",
          "nfs.mounts[0].rsize_bytes: expected a whole number in range, found a text"},
      Row{R"({"schema":"mountaudit.facts/1","nfs":{"mounts":[{"rsize_bytes":4294967296}]}})",
          "nfs.mounts[0].rsize_bytes: expected a whole number in range, found the number 4294967296"},
      Row{R"({"schema":"mountaudit.facts/1","nfs":{"mounts":[{"rsize_bytes":-1}]}})",
          "nfs.mounts[0].rsize_bytes: expected a whole number in range, found the number -1"},
      Row{R"({"schema":"mountaudit.facts/1","nfs":{"mounts":[{"target":null}]}})",
          "nfs.mounts[0].target: expected a text, found null"});
  const auto back = snapshot::from_json(row.text, "doc");
  REQUIRE_FALSE(back.has_value());
  CHECK(back.error().where == "doc");
  CHECK(back.error().message == row.message);
}

TEST_CASE("document: an unknown key costs itself and leaves a note") {
  const auto back = snapshot::from_json(R"({"schema":"mountaudit.facts/1","node":{"name":"n","colour":"red"}})", "doc");
  REQUIRE(back.has_value());
  CHECK(back->facts.node.name == "n");
  CHECK(back->notes == std::vector<std::string>{"node.colour: unknown key, left out"});
}

TEST_CASE("document: the facts inside a report are used") {
  const auto back = snapshot::from_json(
      R"({"schema":"mountaudit.report/1","facts":{"schema":"mountaudit.facts/1","node":{"name":"n"}}})", "doc");
  REQUIRE(back.has_value());
  CHECK(back->facts.node.name == "n");
}

TEST_CASE("document: every fact is listed with type, unit and sentence") {
  const auto all = snapshot::list_facts();
  const auto find = [&](std::string_view path) {
    const auto it = std::find_if(all.begin(), all.end(), [&](const auto& f) { return f.path == path; });
    REQUIRE(it != all.end());
    return *it;
  };
  CHECK(find("nfs.mounts[]").type == "list of object");
  CHECK(find("nfs.mounts[].timeo_ds").unit == "0.1 s");
  CHECK(find("nfs.mounts[].ops[].queue_ms").unit == "ms");
  CHECK(find("nfs.mounts[].asked.vers").three_state);
  CHECK(find("earlier").type == "object");
  for (const auto& f : all) {
    INFO(f.path);
    CHECK_FALSE(f.sentence.empty());
  }
}
