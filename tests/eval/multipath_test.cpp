// Derived facts of multipath maps and their disks. Invented documents, addresses of RFC 5737.
#include <catch2/catch.hpp>

#include "audit/eval/derive.h"
#include "audit/eval/derive_multipath.h"
#include "tests/eval/storage_fixture.h"

using namespace fixture;
using audit::PathState;

namespace {

std::string said(const facts::Facts& f, const char* scope_name, const char* name, std::uint32_t index = 0,
                 std::uint32_t sub = 0) {
  const audit::Context context(f);
  const audit::Scope* scope = audit::find_scope(scope_name);
  return audit::value_text(audit::read_value(context, {scope, index, sub}, audit::resolve_path(name, *scope).value()));
}
std::string map_fact(const facts::Facts& f, const char* name) { return said(f, "multipath.maps", name); }
std::string disk_fact(const facts::Facts& f, const char* name) { return said(f, "block.devices", name); }

facts::MultipathMap& first_map(facts::Facts& f) { return (*f.multipath.maps)[0]; }

void fail_paths(facts::Facts& f, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    first_map(f).paths[i].checker_state = "faulty";
    first_map(f).paths[i].dm_state = "failed";
  }
}

facts::MultipathSetting set_to(const std::string& key, const std::string& value) {
  facts::MultipathSetting s;
  s.key = key;
  s.live = value;
  s.place = "/etc/multipath.conf:3";
  return s;
}

}  // namespace

TEST_CASE("multipath: the state of a path follows from checker, device and map, in this order") {
  struct Row {
    const char *checker, *dm, *dev;
    PathState state;
  };
  const facts::MultipathMap map;
  for (const Row& row :
       {Row{"ready", "active", "running", PathState::up}, Row{"ghost", "active", "running", PathState::standby},
        Row{"faulty", "active", "running", PathState::down}, Row{"shaky", "active", "running", PathState::down},
        Row{"ready", "failed", "running", PathState::down}, Row{"ready", "active", "offline", PathState::down},
        Row{"pending", "failed", "running", PathState::not_checked},
        Row{"", "active", "running", PathState::not_checked}, Row{"", "failed", "running", PathState::down}}) {
    facts::MultipathPath path;
    path.device = "sda";
    if (*row.checker != '\0') path.checker_state = row.checker;
    path.dm_state = row.dm;
    path.dev_state = row.dev;
    INFO(row.checker << ' ' << row.dm << ' ' << row.dev);
    CHECK(audit::path_state(map, path) == row.state);
  }
  CHECK(audit::path_state(map, {}) == PathState::removed);
}

TEST_CASE("multipath: a healthy map") {
  const facts::Facts f = storage_node();
  CHECK(map_fact(f, "paths.up") == "2");
  CHECK(map_fact(f, "paths.down") == "0");
  CHECK(map_fact(f, "paths.down_names") == "not set");
  CHECK(map_fact(f, "no_path_outcome") == "not set");
  CHECK(map_fact(f, "possible_paths") == "2");
  CHECK(map_fact(f, "over_iscsi") == "yes");
  CHECK(map_fact(f, "different_volumes") == "no");
  CHECK(map_fact(f, "other_wwid") == "not set");
  CHECK(map_fact(f, "stale") == "no");
}

TEST_CASE("multipath: what becomes of I/O without a path") {
  facts::Facts f = storage_node();
  fail_paths(f, 1);
  CHECK(map_fact(f, "paths.half_down") == "yes");
  CHECK(map_fact(f, "holds_io") == "no");
  fail_paths(f, 2);
  CHECK(map_fact(f, "no_path_outcome") == "I/O hangs until a path returns");
  first_map(f).queue_left_s = 84U;
  CHECK(map_fact(f, "no_path_outcome") == "I/O is held and will fail in 84 s");
  first_map(f).queueing = "off";
  CHECK(map_fact(f, "no_path_outcome") == "I/O fails");
}

TEST_CASE("multipath: seconds until I/O fails are no_path_retry times the polling interval") {
  facts::Facts f = storage_node();
  CHECK(map_fact(f, "no_path_policy") == "queue");
  CHECK(map_fact(f, "io_error_after_s") == "not set");
  first_map(f).settings = {set_to("no_path_retry", "12")};
  CHECK(map_fact(f, "io_error_after_s") == "60");
  f.multipath.settings = {set_to("polling_interval", "10")};
  CHECK(map_fact(f, "io_error_after_s") == "120");
  first_map(f).settings = {set_to("no_path_retry", "fail")};
  CHECK(map_fact(f, "io_error_after_s") == "0");
}

TEST_CASE("multipath: settings stand beside the entry of the array") {
  facts::Facts f = storage_node();
  first_map(f).settings = {set_to("path_checker", "directio"), set_to("prio", "alua"), set_to("dev_loss_tmo", "7")};
  const char* scope = "multipath.maps.settings";
  CHECK(said(f, scope, "differs", 0, 0) == "yes");
  CHECK(said(f, scope, "expected", 0, 0) == "tur");
  CHECK(said(f, scope, "where", 0, 0) == "/etc/multipath.conf:3");
  CHECK(said(f, scope, "differs", 0, 1) == "no");
  CHECK(said(f, scope, "differs", 0, 2) == "no");
}

TEST_CASE("multipath: default WWIDs of software targets, and those of others") {
  facts::Facts f = storage_node();
  for (const auto& [wwid, is_default] :
       {std::pair{"360000000000000000e00000000020001", "yes"}, std::pair{"1IET     00080001", "yes"},
        std::pair{"360000000000000000e00e6b900000003", "no"}, std::pair{"3600a098038314535622452575a6c7871", "no"}}) {
    first_map(f).wwid = wwid;
    INFO(wwid);
    CHECK(map_fact(f, "default_wwid") == is_default);
  }
}

TEST_CASE("block: alignment, request sizes, discard") {
  facts::Facts f = storage_node();
  facts::BlockDevice& disk = (*f.block.devices)[0];
  facts::BlockPartition part;
  part.name = "sda1";
  part.start_sectors = 63U;
  disk.partitions = {part};
  CHECK(disk_fact(f, "misaligned") == "sda1 starts at byte 32256");
  disk.partitions[0].start_sectors = 2048U;
  CHECK(disk_fact(f, "misaligned") == "not set");
  disk.alignment_offset_bytes = 3584;
  disk.logical_block_size_bytes = 512U;
  CHECK(disk_fact(f, "lowest_aligned_lba") == "7");
  disk.max_sectors_kib = 1024U;
  (*f.block.devices)[1].max_sectors_kib = 512U;
  CHECK(disk_fact(f, "request_sizes") == "sda 1024 KiB, sdb 512 KiB");
  CHECK(disk_fact(f, "mounts_with_discard") == "no");
  first_map(f).users[0].options_text = "rw,discard";
  CHECK(disk_fact(f, "mounts_with_discard") == "yes");
}

TEST_CASE("block: counters between two samples, printed as sysfs prints them") {
  facts::Facts f = storage_node();
  CHECK(disk_fact(f, "window.errors") == "unknown");
  facts::Facts before = f;
  (*before.block.devices)[0].ioerr_count = 14U;
  (*f.block.devices)[0].ioerr_count = 17U;
  before.node.boottime_ns = std::uint64_t{1'000'000'000};
  f.node.boottime_ns = std::uint64_t{31'000'000'000};
  f.earlier.emplace() = std::move(before);
  CHECK(disk_fact(f, "window.errors") == "3");
  CHECK(disk_fact(f, "window.timeouts") == "0");
  CHECK(disk_fact(f, "ioerr_hex") == "0x11");
}
