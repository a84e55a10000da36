#include "probes/wire/nfs3.h"

#include <fmt/format.h>

namespace wire::nfs3 {
namespace {

constexpr std::size_t max_handle = 64;  // NFS3_FHSIZE

Call handle_call(std::uint32_t procedure, const Bytes& handle) {
  XdrWriter args;
  args.opaque(handle);
  Call call{program::nfs, 3, procedure, AuthFlavor::sys};
  call.args = args.take();
  return call;
}

bool status_ok(XdrReader& in, Failure& failure) {
  const auto status = in.u32("nfsstat3");
  if (!in.ok()) {
    failure = in.failure();
    return false;
  }
  if (status == 0) return true;
  failure = {Reason::status, status_name(status)};
  failure.code = status;
  return false;
}

Attributes read_fattr(XdrReader& in) {
  Attributes attributes;
  attributes.type = in.u32("ftype3");
  if (in.ok() && (attributes.type == 0 || attributes.type > 7))
    in.fail(Reason::bad_value, fmt::format("ftype3 {}", attributes.type));
  in.u32("mode");
  in.u32("nlink");
  in.u32("uid");
  in.u32("gid");
  attributes.size = in.u64("size");
  in.u64("used");
  in.u64("rdev");
  attributes.fsid = in.u64("fsid");
  attributes.fileid = in.u64("fileid");
  in.fixed(24, "times");
  return attributes;
}

// post_op_attr
Attributes skip_post_op(XdrReader& in) { return in.boolean("attributes follow") ? read_fattr(in) : Attributes{}; }

// wcc_data
void skip_wcc(XdrReader& in) {
  if (in.boolean("attributes before")) in.fixed(24, "attributes before");
  skip_post_op(in);
}

Bytes read_handle(XdrReader& in) {
  const View handle = in.opaque(max_handle, "file handle");
  return {handle.begin(), handle.end()};
}

Call name_call(std::uint32_t procedure, const Bytes& directory, const std::string& name,
               const std::vector<std::uint32_t>& more = {}) {
  XdrWriter args;
  args.opaque(directory).text(name);
  for (const auto word : more) args.u32(word);
  Call call{program::nfs, 3, procedure, AuthFlavor::sys};
  call.args = args.take();
  return call;
}

}  // namespace

Call null(std::uint32_t version) { return {program::nfs, version, 0}; }
Call getattr(const Bytes& handle) { return handle_call(1, handle); }
Call fsstat(const Bytes& handle) { return handle_call(18, handle); }
Call fsinfo(const Bytes& handle) { return handle_call(19, handle); }
Call pathconf(const Bytes& handle) { return handle_call(20, handle); }

Call readdirplus(const Bytes& handle) {
  XdrWriter args;
  args.opaque(handle).u64(0).u64(0).u32(2048).u32(8192);  // cookie, verifier, dircount, maxcount
  Call call{program::nfs, 3, 17, AuthFlavor::sys};
  call.args = args.take();
  return call;
}

Call lookup(const Bytes& directory, const std::string& name) { return name_call(3, directory, name); }
Call create_new(const Bytes& directory, const std::string& name) {
  // GUARDED; mode 0600; owner, group, size and times as the server has them
  return name_call(8, directory, name, {1, 1, 0600, 0, 0, 0, 0, 0});
}
Call remove(const Bytes& directory, const std::string& name) { return name_call(12, directory, name); }

Call read(const Bytes& handle, std::uint64_t offset, std::uint32_t bytes) {
  XdrWriter args;
  args.opaque(handle).u64(offset).u32(bytes);
  Call call{program::nfs, 3, 6, AuthFlavor::sys};
  call.args = args.take();
  return call;
}

Call write(const Bytes& handle, std::uint64_t offset, std::uint32_t bytes) {
  constexpr std::uint32_t file_sync = 2;  // as the kernel's client writes one block past its cache
  XdrWriter args;
  args.opaque(handle).u64(offset).u32(bytes).u32(file_sync).u32(bytes);
  Call call{program::nfs, 3, 7, AuthFlavor::sys};
  call.args = args.take();
  return call;
}

Outcome<Attributes> decode_getattr(View results) {
  XdrReader in(results);
  Failure failure;
  if (!status_ok(in, failure)) return tl::unexpected(failure);
  const Attributes attributes = read_fattr(in);
  return in.done(attributes);
}

Outcome<Fsinfo> decode_fsinfo(View results) {
  XdrReader in(results);
  Failure failure;
  if (!status_ok(in, failure)) return tl::unexpected(failure);
  skip_post_op(in);
  Fsinfo info;
  info.rtmax = in.u32("rtmax");
  info.rtpref = in.u32("rtpref");
  in.u32("rtmult");
  info.wtmax = in.u32("wtmax");
  info.wtpref = in.u32("wtpref");
  in.u32("wtmult");
  info.dtpref = in.u32("dtpref");
  info.maxfilesize = in.u64("maxfilesize");
  in.u64("time_delta");
  in.u32("properties");
  return in.done(info);
}

Outcome<Fsstat> decode_fsstat(View results) {
  XdrReader in(results);
  Failure failure;
  if (!status_ok(in, failure)) return tl::unexpected(failure);
  skip_post_op(in);
  Fsstat stat;
  stat.total_bytes = in.u64("tbytes");
  stat.free_bytes = in.u64("fbytes");
  stat.avail_bytes = in.u64("abytes");
  in.fixed(28, "files and invarsec");
  return in.done(stat);
}

Outcome<Pathconf> decode_pathconf(View results) {
  XdrReader in(results);
  Failure failure;
  if (!status_ok(in, failure)) return tl::unexpected(failure);
  skip_post_op(in);
  Pathconf conf;
  conf.link_max = in.u32("linkmax");
  conf.name_max = in.u32("name_max");
  in.fixed(16, "flags");
  return in.done(conf);
}

Outcome<std::vector<Entry>> decode_readdirplus(View results) {
  XdrReader in(results);
  Failure failure;
  if (!status_ok(in, failure)) return tl::unexpected(failure);
  skip_post_op(in);
  in.u64("cookie verifier");
  std::vector<Entry> entries;
  while (in.boolean("more entries") && in.ok()) {
    if (entries.size() == 4096) {
      in.fail(Reason::count_too_large, "over 4096 directory entries in one answer");
      break;
    }
    Entry entry;
    in.u64("fileid");
    entry.name = in.text(4096, "name");
    in.u64("cookie");
    entry.type = skip_post_op(in).type;
    if (in.boolean("handle follows")) {
      const View handle = in.opaque(max_handle, "file handle");
      entry.handle.assign(handle.begin(), handle.end());
    }
    entries.push_back(std::move(entry));
  }
  in.boolean("end of directory");
  return in.done(std::move(entries));
}

Outcome<Bytes> decode_lookup(View results) {
  XdrReader in(results);
  Failure failure;
  if (!status_ok(in, failure)) return tl::unexpected(failure);
  Bytes handle = read_handle(in);
  skip_post_op(in);
  skip_post_op(in);
  return in.done(std::move(handle));
}

Outcome<Bytes> decode_create(View results) {
  XdrReader in(results);
  Failure failure;
  if (!status_ok(in, failure)) return tl::unexpected(failure);
  Bytes handle;
  if (in.boolean("handle follows")) handle = read_handle(in);
  skip_post_op(in);
  skip_wcc(in);
  return in.done(std::move(handle));
}

Outcome<std::uint32_t> decode_remove(View results) {
  XdrReader in(results);
  Failure failure;
  if (!status_ok(in, failure)) return tl::unexpected(failure);
  skip_wcc(in);
  return in.done(0U);
}

std::string status_name(std::uint32_t nfsstat3) {
  switch (nfsstat3) {
    case 0: return "ok";
    case 1: return "NFS3ERR_PERM";
    case 2: return "NFS3ERR_NOENT";
    case 5: return "NFS3ERR_IO";
    case 6: return "NFS3ERR_NXIO";
    case 13: return "NFS3ERR_ACCES";
    case 17: return "NFS3ERR_EXIST";
    case 20: return "NFS3ERR_NOTDIR";
    case 22: return "NFS3ERR_INVAL";
    case 28: return "NFS3ERR_NOSPC";
    case 30: return "NFS3ERR_ROFS";
    case 69: return "NFS3ERR_DQUOT";
    case 70: return "NFS3ERR_STALE";
    case 71: return "NFS3ERR_REMOTE";
    case 10001: return "NFS3ERR_BADHANDLE";
    case 10004: return "NFS3ERR_NOTSUPP";
    case 10005: return "NFS3ERR_TOOSMALL";
    case 10006: return "NFS3ERR_SERVERFAULT";
    case 10008: return "NFS3ERR_JUKEBOX";
    default: return fmt::format("nfsstat3 {}", nfsstat3);
  }
}

}  // namespace wire::nfs3
