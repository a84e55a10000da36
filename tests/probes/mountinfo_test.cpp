#include "probes/host/mountinfo.h"

#include <catch2/catch.hpp>

using namespace probes;

namespace {

std::vector<std::string> targets(const Parsed<std::vector<facts::Mount>>& parsed) {
  std::vector<std::string> out;
  for (const auto& mount : parsed.facts) out.push_back(mount.target);
  return out;
}

std::vector<std::size_t> note_lines(const Parsed<std::vector<facts::Mount>>& parsed) {
  std::vector<std::size_t> out;
  for (const auto& note : parsed.notes) out.push_back(note.line);
  return out;
}

}  // namespace

TEST_CASE("mountinfo: bad lines cost themselves and are named by number") {
  struct Row {
    const char* name;
    const char* text;
    std::vector<std::string> targets;
    std::vector<std::size_t> notes;
  };
  const Row rows[] = {
      {"empty text", "", {}, {}},
      {"blank lines and comments", "\n  \n# pasted\n", {}, {}},
      {"no optional field", "1 0 0:1 / /a rw - nfs s:/x rw,vers=3\n", {"/a"}, {}},
      {"many optional fields, one unknown", "1 0 0:1 / /a rw shared:1 master:2 foo:bar - nfs s:/x rw\n", {"/a"}, {}},
      {"runs of blanks and tabs", "1  0\t0:1 /   /a rw   -  nfs \t s:/x  rw,vers=3\n", {"/a"}, {}},
      {"Windows line ends", "1 0 0:1 / /a rw - nfs s:/x rw\r\n1 0 0:1 / /b rw - nfs s:/x rw\r\n", {"/a", "/b"}, {}},
      {"last line without an end", "1 0 0:1 / /a rw - nfs s:/x rw", {"/a"}, {}},
      {"a hyphen inside a field is no separator", "1 0 0:1 / /a-b rw a-b - nfs s:/x-y rw\n", {"/a-b"}, {}},
      {"no separator", "1 0 0:1 / /a rw nfs s:/x rw\n2 0 0:1 / /b rw - nfs s:/x rw\n", {"/b"}, {1}},
      {"cut before the source", "1 0 0:1 / /a rw - nfs", {}, {1}},
      {"cut before the separator", "1 0 0:1 / /a rw", {}, {1}},
      {"cut before the options", "1 0 0:1 / /a", {}, {1}},
      {"no super options", "1 0 0:1 / /a rw - nfs s:/x\n", {"/a"}, {}},
      {"separator at the place of the options", "1 0 0:1 / /a - nfs s:/x rw\n", {}, {1}},
      {"ids that are no numbers", "x 0 0:1 / /a rw - nfs s:/x rw\n1 -1 0:1 / /a rw - nfs s:/x rw\n", {}, {1, 2}},
      {"a device that is none", "1 0 01 / /a rw - nfs s:/x rw\n", {}, {1}},
      {"a line of /proc/mounts", "s:/x /a nfs rw 0 0\n", {}, {1}},
      {"local file systems are not kept", "1 0 8:1 / / rw - ext4 /dev/sda1 rw\n", {}, {}},
  };
  for (const auto& row : rows) {
    INFO(row.name);
    const auto parsed = parse_mountinfo(row.text);
    CHECK(targets(parsed) == row.targets);
    CHECK(note_lines(parsed) == row.notes);
    for (const auto& note : parsed.notes) CHECK(note.lost);
  }
}

TEST_CASE("mountinfo: every field lands where it belongs") {
  const auto parsed = parse_mountinfo(
      "36 35 98:0 /mnt1 /mnt\\0402 rw,noatime master:1 - cifs //s/a\\040b rw,unc=\\\\foo\\BLA BLA,actimeo=1 \n");
  REQUIRE(parsed.facts.size() == 1);
  const auto& mount = parsed.facts[0];
  CHECK(mount.mount_id.is(36));
  CHECK(mount.parent_id.is(35));
  CHECK(mount.device.is("98:0"));
  CHECK(mount.root.is("/mnt1"));
  CHECK(mount.target == "/mnt 2");
  CHECK(mount.source == "//s/a b");
  CHECK(mount.fs_type == "cifs");
  CHECK(mount.kind == "network");
  CHECK(mount.options_text.is("rw,noatime"));
  CHECK(mount.super_options_text.is("rw,unc=\\\\foo\\BLA BLA,actimeo=1"));
  CHECK_FALSE(mount.target_deleted);
  CHECK(mount.hidden_by.is_absent());
}

TEST_CASE("mountinfo: an empty source is no reason to take the options for it") {
  const auto parsed = parse_mountinfo("1 0 0:1 / /a rw - tmpfs  rw,size=4k\n", Keep::all);
  REQUIRE(parsed.facts.size() == 1);
  CHECK(parsed.facts[0].source.empty());
  CHECK(parsed.facts[0].super_options_text.is("rw,size=4k"));
}

TEST_CASE("mountinfo: a later mount hides what lies on its directory and below") {
  const std::string text =
      "1 0 8:1 / / rw - ext4 /dev/sda1 rw\n"
      "10 1 0:40 / /a rw - nfs s:/1 rw\n"
      "11 1 0:41 / /ab rw - nfs s:/2 rw\n"
      "12 10 0:42 / /a/b rw - nfs s:/3 rw\n"
      "13 10 0:43 / /a rw - tmpfs tmpfs rw\n"
      "14 1 8:2 / / rw - ext4 /dev/sda2 rw\n";
  const auto parsed = parse_mountinfo(text);
  REQUIRE(targets(parsed) == std::vector<std::string>{"/a", "/ab", "/a/b"});
  CHECK(parsed.facts[0].hidden_by.is("/a"));
  CHECK(parsed.facts[1].hidden_by.is_absent());
  CHECK(parsed.facts[2].hidden_by.is("/a"));
}

TEST_CASE("mountinfo: a mount that carries another one does not hide it, whatever the order of the lines") {
  const auto parsed = parse_mountinfo(
      "22 93 0:21 / /x/y rw - nfs s:/1 rw\n"
      "93 1 8:1 / /x rw - nfs s:/2 rw\n");
  REQUIRE(parsed.facts.size() == 2);
  CHECK(parsed.facts[0].hidden_by.is_absent());
  CHECK(parsed.facts[1].hidden_by.is_absent());
}

TEST_CASE("mountinfo: parent ids that run in a circle or come twice end the search") {
  const auto circle = parse_mountinfo(
      "1 2 0:1 / /a/b rw - nfs s:/1 rw\n"
      "2 1 0:2 / /a/b/c rw - nfs s:/2 rw\n"
      "3 9 0:3 / /a rw - nfs s:/3 rw\n");
  CHECK(circle.facts[0].hidden_by.is("/a"));
  const auto twice = parse_mountinfo(
      "5 7 0:1 / /a/b rw - nfs s:/1 rw\n"
      "7 1 0:2 / /a rw - nfs s:/2 rw\n"
      "7 1 0:3 / /z rw - nfs s:/3 rw\n");
  CHECK(twice.facts[0].hidden_by.is("/a"));
}

TEST_CASE("mountinfo: an automount trigger under its own mount is not hidden, one under a higher mount is") {
  const auto own = parse_mountinfo(
      "52 37 0:41 / /mnt/shared rw - autofs systemd-1 rw,direct\n"
      "211 52 0:66 / /mnt/shared rw - nfs4 s:/x rw,vers=4.2\n");
  REQUIRE(own.facts.size() == 2);
  CHECK(own.facts[0].kind == "autofs");
  CHECK(own.facts[0].hidden_by.is_absent());
  CHECK(own.facts[1].hidden_by.is_absent());
  const auto higher = parse_mountinfo(
      "52 37 0:41 / /mnt/shared rw - autofs systemd-1 rw,direct\n"
      "60 37 0:66 / /mnt rw - tmpfs tmpfs rw\n");
  CHECK(higher.facts[0].hidden_by.is("/mnt"));
}

TEST_CASE("mounts: options with blanks, missing numbers, deleted directories") {
  struct Row {
    const char* text;
    const char* target;
    const char* options;
    bool deleted;
  };
  const Row rows[] = {
      {"s:/a /t nfs rw,vers=3 0 0\n", "/t", "rw,vers=3", false},
      {"s:/a /t nfs rw,vers=3 0\n", "/t", "rw,vers=3", false},
      {"s:/a /t nfs rw,vers=3\n", "/t", "rw,vers=3", false},
      {"s:/a /t cifs rw,unc=\\\\foo\\BLA BLA,uid=0 0 0\n", "/t", "rw,unc=\\\\foo\\BLA BLA,uid=0", false},
      {"s:/a /t\\040(deleted) nfs rw 0 0\n", "/t", "rw", true},
      {"s:/a /t\\040(deleted)/x nfs rw 0 0\n", "/t (deleted)/x", "rw", false},
      {"s:/a /a\\134040b nfs rw 0 0\n", "/a\\040b", "rw", false},
      {"s:/a /t nfs 0\n", "/t", "0", false},
  };
  for (const auto& row : rows) {
    INFO(row.text);
    const auto parsed = parse_mounts(row.text);
    CHECK(parsed.notes.empty());
    REQUIRE(parsed.facts.size() == 1);
    CHECK(parsed.facts[0].target == row.target);
    CHECK(parsed.facts[0].options_text.is(row.options));
    CHECK(parsed.facts[0].super_options_text.is_unknown());
    CHECK(parsed.facts[0].device.is_unknown());
    CHECK(parsed.facts[0].target_deleted == row.deleted);
  }
  for (const char* bad : {"s:/a /t nfs\n", "s:/a /t\n", "s:/a\n", "s:/a t nfs rw 0 0\n", "\x01\x02\xff\n"}) {
    INFO(bad);
    const auto parsed = parse_mounts(bad);
    CHECK(parsed.facts.empty());
    CHECK(note_lines(parsed) == std::vector<std::size_t>{1});
  }
}

TEST_CASE("mounts: the last of two mounts on one directory is the one in sight") {
  const auto parsed = parse_mounts("s:/a /t nfs rw 0 0\ns:/b /t/u nfs rw 0 0\ns:/a /t nfs rw 0 0\n");
  REQUIRE(parsed.facts.size() == 3);
  CHECK(parsed.facts[0].hidden_by.is("/t"));
  CHECK(parsed.facts[1].hidden_by.is("/t"));
  CHECK(parsed.facts[2].hidden_by.is_absent());
}

TEST_CASE("mount -l: blanks in names, labels, a missing parenthesis") {
  struct Row {
    const char* text;
    const char* source;
    const char* target;
    const char* type;
    const char* options;
  };
  const Row rows[] = {
      {"s:/a on /t type nfs4 (rw,vers=4.0)\n", "s:/a", "/t", "nfs4", "rw,vers=4.0"},
      {"s:/a on /t type nfs4 (rw,vers=4.0\n", "s:/a", "/t", "nfs4", "rw,vers=4.0"},
      {"s:/a on /t type nfs4 (rw) [LABEL (x)]\n", "s:/a", "/t", "nfs4", "rw"},
      {"/dev/sr1 on /Disk on C type NFS type iso9660 (ro) [C type Disk]\n", "/dev/sr1", "/Disk on C type NFS",
       "iso9660", "ro"},
      {"s:/a on /t (deleted) type nfs (rw)\n", "s:/a", "/t", "nfs", "rw"},
      {"s:/a on /t type nfs ()\n", "s:/a", "/t", "nfs", ""},
      {"s:/a on /a\\040b type nfs (rw)\n", "s:/a", "/a\\040b", "nfs", "rw"},
  };
  for (const auto& row : rows) {
    INFO(row.text);
    const auto parsed = parse_mount_l(row.text, Keep::all);
    CHECK(parsed.notes.empty());
    REQUIRE(parsed.facts.size() == 1);
    CHECK(parsed.facts[0].source == row.source);
    CHECK(parsed.facts[0].target == row.target);
    CHECK(parsed.facts[0].fs_type == row.type);
    CHECK(parsed.facts[0].options_text.is(row.options));
  }
  for (const char* bad : {"hugetlbfs /dev/hugepages type hugetlbfs (rw)\n", "s:/a on /t type nfs rw\n", "s:/a on /t\n",
                          " type x (\n", "(rw)\n"}) {
    INFO(bad);
    CHECK(parse_mount_l(bad, Keep::all).facts.empty());
    CHECK(parse_mount_l(bad, Keep::all).notes.size() == 1);
  }
}

TEST_CASE("mount kinds: only nfs and nfs4 are NFS clients") {
  CHECK(mount_kind("nfs") == "nfs");
  CHECK(mount_kind("nfs4") == "nfs");
  CHECK(mount_kind("nfsd") == "nfs-server");
  CHECK(mount_kind("rpc_pipefs") == "rpc_pipefs");
  CHECK(mount_kind("autofs") == "autofs");
  CHECK(mount_kind("fuse.nfs") == "fuse");
  CHECK(mount_kind("fuseblk") == "other");
  CHECK(mount_kind("fusectl") == "other");
  CHECK(mount_kind("cifs") == "network");
  CHECK(mount_kind("ceph") == "network");
  CHECK(mount_kind("lustre") == "network");
  CHECK(mount_kind("NFS") == "other");
  CHECK(mount_kind("") == "other");
}

TEST_CASE("mount tables: a line over the limit is one malformed entry, the others stay") {
  const std::string good = "1 0 0:1 / /a rw - nfs s:/x rw\n";
  const std::string text = good + std::string(max_line_bytes + 1, 'x') + "\n" + good;
  const auto parsed = parse_mountinfo(text);
  CHECK(parsed.facts.size() == 2);
  REQUIRE(parsed.notes.size() == 1);
  CHECK(parsed.notes[0].line == 2);
  CHECK(parsed.notes[0].reason.find("over the limit") != std::string::npos);
}

TEST_CASE("mount tables: 100 MiB in one line are read in one pass and not kept") {
  const std::string text(std::size_t{100} << 20, '/');
  CHECK(parse_mountinfo(text).notes.size() == 1);
  CHECK(parse_mounts(text).notes.size() == 1);
  CHECK(parse_mount_l(text).notes.size() == 1);
}

TEST_CASE("mount tables: a text that is none gives a limited number of notes") {
  std::string text;
  for (int i = 0; i < 100000; ++i)
    text +=
        "\x7f"
        "ELF\n";
  const auto parsed = parse_mountinfo(text);
  CHECK(parsed.facts.empty());
  CHECK(parsed.notes.size() == 101);
  CHECK(parsed.notes.back().reason.find("not listed") != std::string::npos);
}

TEST_CASE("mount tables: long paths of many directories take one pass") {
  // 200 mount points of 5,000 directories each: quadratic work in the length of a path would show.
  std::string path;
  for (int i = 0; i < 5000; ++i) path += "/d";
  std::string text;
  for (int i = 0; i < 200; ++i) text += "1 0 0:1 / " + path + " rw - nfs s:/x rw\n";
  const auto parsed = parse_mountinfo(text);
  REQUIRE(parsed.facts.size() == 200);
  CHECK(parsed.facts[0].hidden_by.is(path));
  CHECK(parsed.facts[199].hidden_by.is_absent());
}
