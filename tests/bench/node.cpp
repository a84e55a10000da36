#include "tests/bench/node.h"

#include <fmt/format.h>

#include <array>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>

namespace bench {
namespace {

// Operations of an NFSv4.2 client in the order in which Linux 6.1 prints them.
constexpr std::array<std::string_view, 69> operations = {"NULL",
                                                         "READ",
                                                         "WRITE",
                                                         "COMMIT",
                                                         "OPEN",
                                                         "OPEN_CONFIRM",
                                                         "OPEN_NOATTR",
                                                         "OPEN_DOWNGRADE",
                                                         "CLOSE",
                                                         "SETATTR",
                                                         "FSINFO",
                                                         "RENEW",
                                                         "SETCLIENTID",
                                                         "SETCLIENTID_CONFIRM",
                                                         "LOCK",
                                                         "LOCKT",
                                                         "LOCKU",
                                                         "ACCESS",
                                                         "GETATTR",
                                                         "LOOKUP",
                                                         "LOOKUP_ROOT",
                                                         "REMOVE",
                                                         "RENAME",
                                                         "LINK",
                                                         "SYMLINK",
                                                         "CREATE",
                                                         "PATHCONF",
                                                         "STATFS",
                                                         "READLINK",
                                                         "READDIR",
                                                         "SERVER_CAPS",
                                                         "DELEGRETURN",
                                                         "GETACL",
                                                         "SETACL",
                                                         "FS_LOCATIONS",
                                                         "RELEASE_LOCKOWNER",
                                                         "SECINFO",
                                                         "FSID_PRESENT",
                                                         "EXCHANGE_ID",
                                                         "CREATE_SESSION",
                                                         "DESTROY_SESSION",
                                                         "SEQUENCE",
                                                         "GET_LEASE_TIME",
                                                         "RECLAIM_COMPLETE",
                                                         "LAYOUTGET",
                                                         "GETDEVICEINFO",
                                                         "LAYOUTCOMMIT",
                                                         "LAYOUTRETURN",
                                                         "SECINFO_NO_NAME",
                                                         "TEST_STATEID",
                                                         "FREE_STATEID",
                                                         "GETDEVICELIST",
                                                         "BIND_CONN_TO_SESSION",
                                                         "DESTROY_CLIENTID",
                                                         "SEEK",
                                                         "ALLOCATE",
                                                         "DEALLOCATE",
                                                         "LAYOUTSTATS",
                                                         "CLONE",
                                                         "COPY",
                                                         "OFFLOAD_CANCEL",
                                                         "LOOKUPP",
                                                         "LAYOUTERROR",
                                                         "COPY_NOTIFY",
                                                         "GETXATTR",
                                                         "SETXATTR",
                                                         "LISTXATTRS",
                                                         "REMOVEXATTR",
                                                         "READ_PLUS"};

struct Writer {
  std::filesystem::path root;

  void file(std::string_view path, std::string_view text) {
    const std::filesystem::path full = root / path;
    std::filesystem::create_directories(full.parent_path());
    std::ofstream out(full, std::ios::binary);
    out << text;
    if (!out.flush()) throw std::runtime_error(fmt::format("{}: cannot be written", full.string()));
  }
};

}  // namespace

void write_node(const std::filesystem::path& root, const NodeShape& shape) {
  std::string mountinfo, mountstats, fstab;
  auto info = std::back_inserter(mountinfo);
  auto stats = std::back_inserter(mountstats);
  fmt::format_to(info, "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n");
  fmt::format_to(stats, "device /dev/sda1 mounted on / with fstype ext4\n");
  for (std::size_t i = 0; i < shape.mounts; ++i) {
    const std::size_t server = i / shape.mounts_per_server;
    const std::string addr = fmt::format("10.{}.{}.{}", 64 + server / 62500, server / 250 % 250, 1 + server % 250);
    const std::string options = fmt::format(
        "rw,vers=4.2,rsize=65536,wsize=65536,namlen=255,hard,proto=tcp,nconnect={},timeo=600,retrans=2,sec=sys,"
        "clientaddr=10.0.0.1,local_lock=none",
        shape.connections);
    fmt::format_to(info, "{0} 22 0:{1} / /mnt/v{2} rw,relatime shared:{0} - nfs4 {3}:/v{2} {4},addr={3}\n", 100 + i,
                   50 + i, i, addr, options);
    fmt::format_to(std::back_inserter(fstab), "{}:/v{} /mnt/v{} nfs4 nconnect={},hard,_netdev 0 0\n", addr, i, i,
                   shape.connections);
    fmt::format_to(stats,
                   "device {0}:/v{1} mounted on /mnt/v{1} with fstype nfs4 statvers=1.1\n\topts:\t{2}\n\tage:\t86400\n"
                   "\timpl_id:\tname='',domain='',date='0,0'\n"
                   "\tcaps:\tcaps=0xfffbc0bf,wtmult=512,dtsize=65536,bsize=0,namlen=255\n"
                   "\tnfsv4:\tbm0=0xfdffbfff,bm1=0x40fdbe3e,bm2=0x60803,acl=0x3,sessions,pnfs=not configured,"
                   "lease_time=90,lease_expired=0\n\tsec:\tflavor=1,pseudoflavor=1\n"
                   "\tevents:\t3 7 0 0 1 0 20 64 0 5 0 1 2 0 7 1 0 4 0 0 64 0 0 0 0 0 0 \n"
                   "\tbytes:\t524288000 262144000 0 0 655360000 262144000 160000 64000 \n"
                   "\tRPC iostats version: 1.1  p/v: 100003/4 (nfs)\n",
                   addr, i, options);
    for (std::size_t c = 0; c < shape.connections; ++c) {
      const std::size_t sends = 20000 + server % 97 * 10 + c;
      fmt::format_to(stats, "\txprt:\ttcp 0 0 2 0 0 {0} {0} 0 {1} 0 24 411 {2}\n", sends, sends * 3, sends * 2);
    }
    fmt::format_to(stats, "\tper-op statistics\n");
    for (const std::string_view op : operations) {
      if (op == "READ" || op == "WRITE" || op == "GETATTR") {
        const std::size_t ops = 1000 + i % 89;
        fmt::format_to(stats, "\t{:>12}: {} {} 0 {} {} {} {} {} 0\n", op, ops, ops, ops * 188, ops * 4200, ops / 5,
                       ops * 2, ops * 2 + ops / 4);
      } else {
        fmt::format_to(stats, "\t{:>12}: 0 0 0 0 0 0 0 0 0\n", op);
      }
    }
    mountstats += '\n';
  }
  Writer out{root};
  out.file("proc/1/mountinfo", mountinfo);
  out.file("proc/1/mountstats", mountstats);
  out.file("etc/fstab", fstab);
  out.file("etc/os-release", "ID=debian\nVERSION_ID=\"12\"\n");
  out.file("proc/sys/kernel/hostname", "bench-node.example.net\n");
  out.file("proc/sys/kernel/osrelease", "6.1.0-37-amd64\n");
}

}  // namespace bench
