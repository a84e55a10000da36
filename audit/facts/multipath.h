// dm-multipath as kernel and multipathd run it, and what configuration asks for. Native NVMe multipathing is listed
// beside it and told apart. Sources: /sys/block/dm-*/dm, multipathd(8) (show maps json), multipath(8) -ll, -l and -v4,
// multipath.conf(5), libmultipath (hwtable.c, defaults.h).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "audit/facts/block.h"
#include "audit/facts/fact.h"

namespace facts {

struct MultipathPath {
  std::string device;     // sda; empty: the text shows "-", the device is gone
  Fact<std::string> dev;  // major:minor; absent: "#:#"
  Fact<std::string> hctl;
  Fact<std::uint32_t> host;
  Fact<std::uint64_t> lun;          // decoded, as block.devices[].lun
  Fact<std::uint32_t> group;        // number of its path group, from 1
  Fact<std::string> dm_state;       // active, failed; unknown: undef
  Fact<std::string> checker_state;  // ready, ghost, faulty, shaky, pending, timeout, removed, delayed; unknown: undef
  Fact<std::string> dev_state;      // running, offline, blocked, transport-offline, live (NVMe); unknown: unknown
  Fact<std::int64_t> prio;          // unknown: -1, or 0 beside a checker that did not run; absent: n/a
  Fact<std::string> checker;        // tur, readsector0 ...
  Fact<bool> marginal;
  bool removed = false;         // the device behind it does not exist any more
  Fact<std::string> ana_state;  // NVMe only: optimized, non-optimized, inaccessible ...
  Fact<std::string> wwid;       // where the text lists it with the path
  Fact<std::string> session;    // id of the iSCSI session; absent: of none
  Fact<std::uint32_t> sid;
  Fact<std::string> target;
  Fact<std::string> portal;
  Fact<std::string> access_state;  // ALUA state in the kernel
  Fact<std::string> target_node;   // target_wwnn of multipathd: the IQN of an iSCSI target
  Fact<std::string> host_adapter;  // of multipathd: on iSCSI the address of the initiator
  Fact<std::string> map;           // outside a map: absent when it is an orphan, unknown when the text does not say

  template <class MultipathPath = facts::MultipathPath>
  static auto fields() {
    return std::array{
        Field{"device", &MultipathPath::device, "disk, a name of block.devices; empty when the device is gone"},
        Field{"dev", &MultipathPath::dev, "major:minor; null when the device is gone"},
        Field{"hctl", &MultipathPath::hctl, "host:channel:target:LUN; null when the device is gone"},
        Field{"host", &MultipathPath::host, "number of its SCSI host"},
        Field{"lun", &MultipathPath::lun, "LUN number, bits of the address method taken off"},
        Field{"group", &MultipathPath::group, "number of its path group, from 1"},
        Field{"dm_state", &MultipathPath::dm_state, "state in the kernel's map: active or failed"},
        Field{
            "checker_state", &MultipathPath::checker_state,
            "what the path checker says: ready, ghost, faulty, shaky, pending, timeout, delayed, ...; unknown when it "
            "did not run"},
        Field{"dev_state", &MultipathPath::dev_state, "state of the device: running, offline, blocked, ..., live"},
        Field{"prio", &MultipathPath::prio, "priority; unknown when not determined, null where there is none (n/a)"},
        Field{"checker", &MultipathPath::checker, "path checker in use"},
        Field{"marginal", &MultipathPath::marginal, "multipathd takes it for marginal"},
        Field{"removed", &MultipathPath::removed, "the device behind it does not exist any more"},
        Field{"ana_state", &MultipathPath::ana_state, "NVMe: state by ANA; null for others"},
        Field{"wwid", &MultipathPath::wwid, "WWID where it is listed with the path"},
        Field{"session", &MultipathPath::session, "id of its iSCSI session; null when it is of none"},
        Field{"sid", &MultipathPath::sid, "number of its iSCSI session; null when it is of none"},
        Field{"target", &MultipathPath::target, "name of its iSCSI target; null when it is of none"},
        Field{"portal", &MultipathPath::portal, "id of its portal; null when it is of none"},
        Field{"access_state", &MultipathPath::access_state, "ALUA state in the kernel"},
        Field{"target_node", &MultipathPath::target_node, "target as multipathd names it; null when it has none"},
        Field{"host_adapter", &MultipathPath::host_adapter,
              "adapter as multipathd names it, on iSCSI the address of the initiator"},
        Field{"map", &MultipathPath::map,
              "id of its map; null for an orphan, unknown where the text does not show the map"}};
  }
  bool operator==(const MultipathPath&) const = default;
};

struct MultipathGroup {
  std::uint32_t number = 0;    // from 1
  Fact<std::string> selector;  // service-time, round-robin, queue-length; absent: n/a
  Fact<std::int64_t> prio;     // as MultipathPath::prio
  Fact<std::string> status;    // active, enabled, disabled; NVMe: optimized, non-optimized; unknown: undef
  Fact<bool> marginal;
  std::vector<std::string> paths;  // devices, in order; empty names of removed ones included

  template <class MultipathGroup = facts::MultipathGroup>
  static auto fields() {
    return std::array{
        Field{"number", &MultipathGroup::number, "number of the group in its map, from 1"},
        Field{"selector", &MultipathGroup::selector, "path selector: service-time, queue-length, round-robin"},
        Field{"prio", &MultipathGroup::prio, "priority; unknown when not determined, null where there is none (n/a)"},
        Field{"status", &MultipathGroup::status, "active (carries I/O), enabled (in reserve) or disabled"},
        Field{"marginal", &MultipathGroup::marginal, "it holds the marginal paths"},
        Field{"paths", &MultipathGroup::paths, "its paths, names of block.devices"}};
  }
  bool operator==(const MultipathGroup&) const = default;
};

// A setting of multipath.conf(5) for one map: what is in effect and where that comes from.
struct MultipathSetting {
  std::string key;               // no_path_retry, path_checker, fast_io_fail_tmo ...
  Fact<std::string> live;        // as the running map shows it; unknown: nothing showed it
  Fact<std::string> configured;  // what configuration gives for this map; unknown: not all of it could be read
  std::string origin;         // live, multipaths, overrides, devices, defaults, array table, built-in; empty: unknown
  Fact<std::string> place;    // file:line where a file names it
  Fact<std::string> builtin;  // what the table of arrays or the default of multipath-tools gives
  std::vector<std::string> overridden;  // "file:line value" of assignments that lose

  template <class MultipathSetting = facts::MultipathSetting>
  static auto fields() {
    return std::array{
        Field{"key", &MultipathSetting::key, "keyword of multipath.conf(5)"},
        Field{"live", &MultipathSetting::live, "value that the running map or multipathd shows"},
        Field{"configured", &MultipathSetting::configured, "value that configuration gives for this map"},
        Field{"origin", &MultipathSetting::origin,
              "what gives the configured value: multipaths, overrides, devices, defaults (sections of a file), daemon "
              "(multipathd show config), array table or built-in"},
        Field{"place", &MultipathSetting::place, "file:line of the configured value; null when no file names it"},
        Field{"builtin", &MultipathSetting::builtin,
              "value of multipath-tools' own table of arrays, else of its defaults; unknown where versions differ"},
        Field{"overridden", &MultipathSetting::overridden, "file:line and value of assignments that lose against it"}};
  }
  bool operator==(const MultipathSetting&) const = default;
};

struct MultipathMap {
  std::string id;  // WWID, else the alias
  Fact<std::string> wwid;
  Fact<std::string> alias;   // name below /dev/mapper; equal to the WWID without an alias
  Fact<std::string> device;  // dm-0, a name of block.devices
  Fact<std::string> dev;     // major:minor
  std::string kind;          // dm-multipath, nvme
  Fact<bool> iscsi;          // a path belongs to an iSCSI session; unknown: the sessions of its paths are not known
  Fact<std::string> vendor;  // absent: ##, no path left to tell
  Fact<std::string> product;
  Fact<std::string> rev;
  Fact<std::string> size_text;
  Fact<std::uint64_t> size_bytes;
  Fact<std::string> state;          // active, suspend; uninitialized
  Fact<std::string> write_protect;  // rw, ro, rx as printed; unknown: undef
  Fact<std::string> features_text;
  Fact<bool> queue_if_no_path;       // as the map is loaded now
  Fact<std::string> queueing;        // multipathd: on (for ever), off, "N sec" left, "N chk" checks allowed; absent: -
  Fact<std::uint64_t> queue_left_s;  // held I/O fails after so long; absent: no countdown runs
  Fact<std::string> hwhandler;       // alua, rdac, emc, ANA; absent: 0 or n/a
  Fact<std::string> failback;
  Fact<std::uint64_t> path_faults;
  Fact<std::uint64_t> switch_group_count;
  Fact<std::uint64_t> map_loads;
  Fact<std::uint64_t> total_queue_s;
  Fact<std::uint64_t> queue_timeouts;
  std::vector<MultipathGroup> groups;
  std::vector<MultipathPath> paths;              // of all groups, in order
  Fact<std::vector<std::string>> missing_paths;  // disks with its WWID that are in no group of it
  std::vector<BlockUse> users;
  std::vector<MultipathSetting> settings;
  std::vector<std::string> told_by;  // sysfs, multipathd json, multipath -ll, multipath -l, multipath -v4
  bool checkers_ran = false;         // paths were checked for this text (not multipath -l)

  template <class MultipathMap = facts::MultipathMap>
  static auto fields() {
    return std::array{
        Field{"id", &MultipathMap::id, "WWID, else the alias"},
        Field{"wwid", &MultipathMap::wwid, "WWID as multipath spells it"},
        Field{"alias", &MultipathMap::alias, "name below /dev/mapper"},
        Field{"device", &MultipathMap::device, "dm device, a name of block.devices"},
        Field{"dev", &MultipathMap::dev, "major:minor"},
        Field{"kind", &MultipathMap::kind, "dm-multipath, or nvme (native multipathing, shown for information)"},
        Field{"iscsi", &MultipathMap::iscsi, "at least one path belongs to an iSCSI session"},
        Field{"vendor", &MultipathMap::vendor, "vendor of the INQUIRY; null when no path can tell"},
        Field{"product", &MultipathMap::product, "product of the INQUIRY; null when no path can tell"},
        Field{"rev", &MultipathMap::rev, "revision of the INQUIRY"},
        Field{"size_text", &MultipathMap::size_text, "size as printed"},
        Field{"size_bytes", &MultipathMap::size_bytes, "size; rounded where only a printed one is known"},
        Field{"state", &MultipathMap::state, "active, suspend or uninitialized"},
        Field{"write_protect", &MultipathMap::write_protect, "rw, ro or another word as printed"},
        Field{"features_text", &MultipathMap::features_text, "features of the loaded map as printed"},
        Field{"queue_if_no_path", &MultipathMap::queue_if_no_path,
              "I/O waits when no path is left, as the map is loaded now"},
        Field{
            "queueing", &MultipathMap::queueing,
            "multipathd: on (for ever), off, \"N sec\" until held I/O fails, \"N chk\" checks allowed; null for \"-\""},
        Field{"queue_left_s", &MultipathMap::queue_left_s, "time until held I/O fails; null when no countdown runs"},
        Field{"hwhandler", &MultipathMap::hwhandler, "hardware handler; null for none"},
        Field{"failback", &MultipathMap::failback, "immediate, manual, followover or seconds"},
        Field{"path_faults", &MultipathMap::path_faults, "path failures seen by multipathd"},
        Field{"switch_group_count", &MultipathMap::switch_group_count, "changes of the path group"},
        Field{"map_loads", &MultipathMap::map_loads, "times the map was loaded"},
        Field{"total_queue_s", &MultipathMap::total_queue_s, "time spent queueing without a path"},
        Field{"queue_timeouts", &MultipathMap::queue_timeouts, "times queueing ended because its time was used up"},
        Field{"groups", &MultipathMap::groups, "path groups"},
        Field{"paths", &MultipathMap::paths, "paths of all groups"},
        Field{"missing_paths", &MultipathMap::missing_paths, "disks with its WWID that are no path of it"},
        Field{"users", &MultipathMap::users, "who uses it"},
        Field{"settings", &MultipathMap::settings, "settings in effect and where they come from"},
        Field{"told_by", &MultipathMap::told_by,
              "what showed it: sysfs, multipathd, multipath -ll, multipath -l, multipath -v4"},
        Field{"checkers_ran", &MultipathMap::checkers_ran,
              "path checkers ran for what is shown here; false: health is not checked"}};
  }
  bool operator==(const MultipathMap&) const = default;
};

// An assignment of multipath.conf or of a file in its conf.d.
struct MultipathConfEntry {
  std::string path;
  std::uint32_t line = 0;
  std::string section;        // defaults, blacklist, blacklist_exceptions, devices, multipaths, overrides
  std::string subsection;     // device, multipath, protocol; empty: none
  Fact<std::uint32_t> block;  // number of the subsection within all files, from 1; absent: none
  Fact<std::string> vendor;   // of a device subsection
  Fact<std::string> product;
  Fact<std::string> wwid;  // of a multipath subsection
  std::string key;
  std::string value;        // without quotes; empty: a keyword without a value
  bool overridden = false;  // a later assignment of the same key in the same place counts
  Fact<bool> known_key;     // false: multipath.conf(5) has no such keyword

  template <class MultipathConfEntry = facts::MultipathConfEntry>
  static auto fields() {
    return std::array{
        Field{"path", &MultipathConfEntry::path, "file inside the root"},
        Field{"line", &MultipathConfEntry::line, "its line"},
        Field{"section", &MultipathConfEntry::section, "defaults, blacklist, devices, multipaths, overrides, ..."},
        Field{"subsection", &MultipathConfEntry::subsection, "device, multipath or protocol; empty for none"},
        Field{"block", &MultipathConfEntry::block, "number of the subsection, from 1; null outside one"},
        Field{"vendor", &MultipathConfEntry::vendor, "vendor pattern of its device subsection"},
        Field{"product", &MultipathConfEntry::product, "product pattern of its device subsection"},
        Field{"wwid", &MultipathConfEntry::wwid, "WWID of its multipath subsection"},
        Field{"key", &MultipathConfEntry::key, "keyword"},
        Field{"value", &MultipathConfEntry::value, "value without quotes"},
        Field{"overridden", &MultipathConfEntry::overridden, "a later assignment counts"},
        Field{"known_key", &MultipathConfEntry::known_key, "multipath.conf(5) has this keyword"}};
  }
  bool operator==(const MultipathConfEntry&) const = default;
};

// What multipath said beside the maps: lines "date | text".
struct MultipathNotice {
  std::string source;
  std::uint32_t line = 0;  // first of its kind and device
  std::string kind;        // wwid-changed, no-block-device, other
  Fact<std::string> dev;   // major:minor or name that it speaks of
  std::uint32_t count = 1;
  std::string text;

  template <class MultipathNotice = facts::MultipathNotice>
  static auto fields() {
    return std::array{Field{"source", &MultipathNotice::source, "text that shows it"},
                      Field{"line", &MultipathNotice::line, "its first line"},
                      Field{"kind", &MultipathNotice::kind, "wwid-changed, no-block-device or other"},
                      Field{"dev", &MultipathNotice::dev, "device that it speaks of, as named"},
                      Field{"count", &MultipathNotice::count, "times that it stands there"},
                      Field{"text", &MultipathNotice::text, "the message"}};
  }
  bool operator==(const MultipathNotice&) const = default;
};

struct Multipath {
  Fact<std::vector<MultipathMap>> maps;        // unknown: nothing that was read could tell
  Fact<std::vector<MultipathPath>> paths;      // paths listed without a map: orphans, and lines whose map is not shown
  Fact<std::vector<MultipathConfEntry>> conf;  // absent: there is no multipath.conf
  Fact<std::vector<MultipathConfEntry>> running_conf;  // multipathd show config, multipath -t
  std::vector<MultipathSetting> settings;  // global ones (find_multipaths, polling_interval ...), as for a map
  std::vector<MultipathNotice> notices;

  template <class Multipath = facts::Multipath>
  static auto fields() {
    return std::array{
        Field{"maps", &Multipath::maps, "multipath maps"},
        Field{"paths", &Multipath::paths, "paths listed outside a map: orphans, and those whose map is not shown"},
        Field{"conf", &Multipath::conf,
              "assignments of multipath.conf and its conf.d; null when there is no such file"},
        Field{"running_conf", &Multipath::running_conf, "configuration as multipathd or multipath -t print it"},
        Field{"settings", &Multipath::settings, "settings of the whole node in effect, and where they come from"},
        Field{"notices", &Multipath::notices, "what multipath said beside the maps"}};
  }
  bool operator==(const Multipath&) const = default;
};

}  // namespace facts
