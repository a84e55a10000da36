// Block devices that matter to storage over a network: disks of iSCSI sessions, paths and maps of device mapper, what
// lies on them. Sources: /sys/block (Documentation/ABI/stable/sysfs-block, drivers/scsi/scsi_sysfs.c,
// drivers/md/dm-sysfs.c), /proc/1/mountinfo, /proc/swaps, /etc/fstab. No device is ever opened.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "audit/facts/fact.h"
#include "audit/facts/nfs.h"

namespace facts {

// Who uses a device.
struct BlockUse {
  std::string kind;                // mount, raw (a block volume of a pod), swap, lvm, crypt, raid, dm, fstab
  std::string name;                // mount point, path of the raw volume, logical volume or dm name
  std::vector<std::string> chain;  // devices from the one that is used down to this one, this one last
  Fact<std::string> fs_type;       // of a mount
  Fact<bool> read_only;            // of a mount: per mount or super options; absent for other kinds
  Fact<std::string> options_text;  // of a mount
  Fact<KubeletVolume> kubelet;     // absent: not below the kubelet's directory
  Fact<std::string> volume;        // PersistentVolume, from the kubelet's path or Trident's tracking file

  template <class BlockUse = facts::BlockUse>
  static auto fields() {
    return std::array{
        Field{"kind", &BlockUse::kind,
              "mount, raw (a block volume of a pod), swap, lvm, crypt, raid, dm (another map), fstab (not mounted)"},
        Field{"name", &BlockUse::name, "mount point, path of the raw volume, or name of what lies on the device"},
        Field{"chain", &BlockUse::chain, "devices from the one in use down to this one, this one last"},
        Field{"fs_type", &BlockUse::fs_type, "file system of a mount; null for others"},
        Field{"read_only", &BlockUse::read_only, "the mount is read-only; null for others"},
        Field{"options_text", &BlockUse::options_text, "options of a mount as printed; null for others"},
        Field{"kubelet", &BlockUse::kubelet, "pod and volume; null when not below the kubelet's directory"},
        Field{"volume", &BlockUse::volume, "PersistentVolume; null when none is known to lie on it"}};
  }
  bool operator==(const BlockUse&) const = default;
};

struct BlockPartition {
  std::string name;
  Fact<std::uint64_t> start_sectors;  // 512 bytes each, whatever the block size
  Fact<std::uint64_t> start_bytes;
  Fact<std::uint64_t> size_bytes;
  Fact<std::uint64_t> alignment_offset_bytes;

  template <class BlockPartition = facts::BlockPartition>
  static auto fields() {
    return std::array{Field{"name", &BlockPartition::name, "name of the partition, such as sda1"},
                      Field{"start_sectors", &BlockPartition::start_sectors, "first sector, in units of 512 bytes"},
                      Field{"start_bytes", &BlockPartition::start_bytes, "first byte"},
                      Field{"size_bytes", &BlockPartition::size_bytes, "size"},
                      Field{"alignment_offset_bytes", &BlockPartition::alignment_offset_bytes,
                            "distance of its begin from a boundary of the device; 0: aligned"}};
  }
  bool operator==(const BlockPartition&) const = default;
};

struct BlockDevice {
  std::string name;                  // sda, dm-3, nvme0n1
  std::string id;                    // WWID, else the name
  Fact<std::string> dev;             // major:minor
  std::string kind;                  // scsi, multipath, lvm, crypt, dm, nvme, virtio, other
  Fact<std::string> wwid;            // as the kernel prints it: naa.6..., t10...., eui....
  Fact<std::string> multipath_wwid;  // the same as multipath spells it: 36..., or the name of an nvme id
  Fact<std::string> serial;          // unit serial number (VPD page 0x80)
  Fact<std::string> hctl;            // host:channel:target:LUN as the kernel counts it
  Fact<std::uint32_t> host;
  Fact<std::uint64_t> lun;            // decoded: flat addressing (16384 and above) taken off
  Fact<std::string> session;          // id of the iSCSI session; absent: of none
  Fact<std::uint32_t> sid;            // its number
  Fact<std::string> target;           // name of its iSCSI target
  Fact<std::string> portal;           // id of its portal
  Fact<std::string> map;              // id of the multipath map that it is a path of; absent: of none
  std::vector<std::string> siblings;  // other disks with the same WWID
  Fact<std::string> vendor;
  Fact<std::string> model;
  Fact<std::string> rev;
  Fact<std::uint64_t> size_bytes;
  Fact<bool> read_only;
  Fact<std::string> state;         // running, blocked, offline, transport-offline, created, cancel, deleted, quiesce
  Fact<std::string> access_state;  // ALUA: active/optimized, active/non-optimized, standby, unavailable ...
  Fact<bool> preferred_path;
  Fact<std::string> dh_state;  // device handler: alua, rdac, emc, detached
  Fact<std::uint32_t> queue_depth;
  Fact<std::uint32_t> timeout_s;
  Fact<std::uint32_t> eh_timeout_s;
  Fact<std::uint64_t> iorequest_count;
  Fact<std::uint64_t> iodone_count;
  Fact<std::uint64_t> ioerr_count;
  Fact<std::uint64_t> iotmo_count;
  Fact<std::uint64_t> inflight_read;
  Fact<std::uint64_t> inflight_write;
  Fact<std::string> scheduler;  // in use: none, mq-deadline, bfq, kyber
  Fact<bool> rotational;
  Fact<std::uint64_t> nr_requests;
  Fact<std::uint64_t> max_sectors_kib;
  Fact<std::uint64_t> max_hw_sectors_kib;
  Fact<std::uint64_t> read_ahead_kib;
  Fact<std::uint64_t> logical_block_size_bytes;
  Fact<std::uint64_t> physical_block_size_bytes;
  Fact<std::uint64_t> optimal_io_size_bytes;
  Fact<std::uint64_t> discard_max_bytes;
  Fact<std::uint64_t> discard_granularity_bytes;
  Fact<std::int64_t> alignment_offset_bytes;  // -1: cannot be aligned
  Fact<bool> thin_provisioned;                // lbpme
  Fact<std::string> provisioning_mode;        // unmap, writesame_16, full, disabled ...
  Fact<std::string> write_cache;              // write back, write through
  Fact<std::uint64_t> read_ios;               // of the stat file, since the device came up
  Fact<std::uint64_t> read_bytes;
  Fact<std::uint64_t> read_ms;
  Fact<std::uint64_t> write_ios;
  Fact<std::uint64_t> write_bytes;
  Fact<std::uint64_t> write_ms;
  Fact<std::uint64_t> io_ms;
  Fact<std::uint64_t> queue_ms;
  Fact<std::string> dm_name;
  Fact<std::string> dm_uuid;
  Fact<bool> dm_suspended;
  std::vector<std::string> holders;  // devices that lie on it
  std::vector<std::string> slaves;   // devices that it lies on
  std::vector<BlockPartition> partitions;
  std::vector<BlockUse> users;  // through partitions and other devices as well, but not through a multipath map
  Fact<bool> used_directly;     // something uses it past the multipath map that it or a sibling belongs to

  template <class BlockDevice = facts::BlockDevice>
  static auto fields() {
    return std::array{
        Field{"name", &BlockDevice::name, "name of the kernel: sda, dm-3"},
        Field{"id", &BlockDevice::id, "WWID, else the name"},
        Field{"dev", &BlockDevice::dev, "major:minor"},
        Field{"kind", &BlockDevice::kind, "scsi, multipath, lvm, crypt, dm, nvme, virtio or other"},
        Field{"wwid", &BlockDevice::wwid, "identifier as the kernel prints it, such as naa.600a0980..."},
        Field{"multipath_wwid", &BlockDevice::multipath_wwid, "the same as multipath spells it, such as 3600a0980..."},
        Field{"serial", &BlockDevice::serial, "unit serial number (VPD page 0x80)"},
        Field{"hctl", &BlockDevice::hctl, "host:channel:target:LUN as the kernel counts it"},
        Field{"host", &BlockDevice::host, "number of its SCSI host"},
        Field{"lun", &BlockDevice::lun, "LUN number, bits of the address method taken off"},
        Field{"session", &BlockDevice::session, "id of its iSCSI session; null when it is of none"},
        Field{"sid", &BlockDevice::sid, "number of its iSCSI session; null when it is of none"},
        Field{"target", &BlockDevice::target, "name of its iSCSI target; null when it is of none"},
        Field{"portal", &BlockDevice::portal, "id of its portal; null when it is of none"},
        Field{"map", &BlockDevice::map, "id of the multipath map that it is a path of; null for none"},
        Field{"siblings", &BlockDevice::siblings, "other disks with the same WWID"},
        Field{"vendor", &BlockDevice::vendor, "vendor of the INQUIRY, blanks at the end taken off"},
        Field{"model", &BlockDevice::model, "product of the INQUIRY, blanks at the end taken off"},
        Field{"rev", &BlockDevice::rev, "revision of the INQUIRY"},
        Field{"size_bytes", &BlockDevice::size_bytes, "size"},
        Field{"read_only", &BlockDevice::read_only, "the device takes no writes"},
        Field{"state", &BlockDevice::state, "state of the SCSI device: running, blocked, transport-offline, ..."},
        Field{"access_state", &BlockDevice::access_state,
              "ALUA state: active/optimized, active/non-optimized, standby, ...; null without ALUA"},
        Field{"preferred_path", &BlockDevice::preferred_path, "the array prefers this path (ALUA)"},
        Field{"dh_state", &BlockDevice::dh_state, "device handler: alua, rdac, emc, detached"},
        Field{"queue_depth", &BlockDevice::queue_depth, "commands that it may have under way"},
        Field{"timeout_s", &BlockDevice::timeout_s, "time a command may take before the error handler starts"},
        Field{"eh_timeout_s", &BlockDevice::eh_timeout_s, "time that a step of the error handler may take"},
        Field{"iorequest_count", &BlockDevice::iorequest_count, "commands started"},
        Field{"iodone_count", &BlockDevice::iodone_count, "commands completed"},
        Field{"ioerr_count", &BlockDevice::ioerr_count, "commands that ended with an error"},
        Field{"iotmo_count", &BlockDevice::iotmo_count, "commands that timed out; kernel 6.1 and later"},
        Field{"inflight_read", &BlockDevice::inflight_read, "reads under way"},
        Field{"inflight_write", &BlockDevice::inflight_write, "writes under way"},
        Field{"scheduler", &BlockDevice::scheduler, "I/O scheduler in use"},
        Field{"rotational", &BlockDevice::rotational, "the kernel takes it for a rotating disk"},
        Field{"nr_requests", &BlockDevice::nr_requests, "requests that its queue holds"},
        Field{"max_sectors_kib", &BlockDevice::max_sectors_kib, "largest request"},
        Field{"max_hw_sectors_kib", &BlockDevice::max_hw_sectors_kib, "largest request that the driver takes"},
        Field{"read_ahead_kib", &BlockDevice::read_ahead_kib, "read-ahead"},
        Field{"logical_block_size_bytes", &BlockDevice::logical_block_size_bytes, "smallest unit that is addressed"},
        Field{"physical_block_size_bytes", &BlockDevice::physical_block_size_bytes,
              "smallest unit written without reading"},
        Field{"optimal_io_size_bytes", &BlockDevice::optimal_io_size_bytes, "optimal transfer length; 0: not told"},
        Field{"discard_max_bytes", &BlockDevice::discard_max_bytes, "largest discard; 0: none is possible"},
        Field{"discard_granularity_bytes", &BlockDevice::discard_granularity_bytes, "unit of a discard"},
        Field{"alignment_offset_bytes", &BlockDevice::alignment_offset_bytes,
              "first aligned byte; 0: aligned, -1: cannot be"},
        Field{"thin_provisioned", &BlockDevice::thin_provisioned, "the array calls the LUN thin (lbpme)"},
        Field{"provisioning_mode", &BlockDevice::provisioning_mode, "how discards are sent: unmap, writesame_16, ..."},
        Field{"write_cache", &BlockDevice::write_cache, "write back or write through"},
        Field{"read_ios", &BlockDevice::read_ios, "reads completed"},
        Field{"read_bytes", &BlockDevice::read_bytes, "bytes read"},
        Field{"read_ms", &BlockDevice::read_ms, "cumulative time of the reads"},
        Field{"write_ios", &BlockDevice::write_ios, "writes completed"},
        Field{"write_bytes", &BlockDevice::write_bytes, "bytes written"},
        Field{"write_ms", &BlockDevice::write_ms, "cumulative time of the writes"},
        Field{"io_ms", &BlockDevice::io_ms, "time with at least one request under way"},
        Field{"queue_ms", &BlockDevice::queue_ms, "the same weighted with the requests under way"},
        Field{"dm_name", &BlockDevice::dm_name, "name in device mapper; null when it is no dm device"},
        Field{"dm_uuid", &BlockDevice::dm_uuid, "uuid in device mapper, such as mpath-3600...; null when it has none"},
        Field{"dm_suspended", &BlockDevice::dm_suspended, "device mapper holds its I/O; null when it is no dm device"},
        Field{"holders", &BlockDevice::holders, "devices that lie on it"},
        Field{"slaves", &BlockDevice::slaves, "devices that it lies on"},
        Field{"partitions", &BlockDevice::partitions, "partitions"},
        Field{"users", &BlockDevice::users,
              "who uses it, through partitions and other devices too, but not past a map"},
        Field{"used_directly", &BlockDevice::used_directly,
              "something uses this path although it, or another path of the same LUN, belongs to a multipath map"}};
  }
  bool operator==(const BlockDevice&) const = default;
};

struct Block {
  Fact<std::vector<BlockDevice>> devices;  // unknown: nothing that was read could tell
  Fact<bool> fstrim_timer;                 // fstrim.timer of util-linux is enabled, see systemd.unit(5)

  template <class Block = facts::Block>
  static auto fields() {
    return std::array{
        Field{"devices", &Block::devices,
              "disks of iSCSI sessions, paths of multipath maps, and device mapper devices on top of them"},
        Field{"fstrim_timer", &Block::fstrim_timer, "fstrim.timer, which trims mounted file systems, is enabled"}};
  }
  bool operator==(const Block&) const = default;
};

}  // namespace facts
