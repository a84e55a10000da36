#include "probes/host/nfs_options.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <variant>

#include "audit/base/text.h"
#include "probes/host/address.h"

namespace probes {

namespace {

using facts::Fact;
using Number = Fact<std::uint32_t>;
using Text = Fact<std::string>;
using Flag = Fact<bool>;

// The options of one text; unknown: not named, or named with a value that is no value.
struct Options {
  Text vers, minorversion, proto, mount_proto, mount_vers, addr, client_addr, mount_addr;
  Text recovery, sec, xprtsec, local_lock, lookupcache, rdirplus;
  Number rsize, wsize, namlen, timeo, retrans, port, mount_port, nconnect, max_connect;
  Number ac_reg_min, ac_reg_max, ac_dir_min, ac_dir_max, actimeo;
  Flag rw, sync, nolock, nocto, noac, nosharecache, noresvport, softreval, fsc;
  std::vector<std::string_view> unknown;
  std::vector<std::string_view> bad;  // names of known options whose value cannot be
};

struct SetFlag {
  Flag Options::*member;
  bool value;
};
struct SetText {
  Text Options::*member;
  const char* value;
};
struct Known {};  // understood, and no fact
struct Row {
  std::string_view name;
  std::variant<Known, Number Options::*, Text Options::*, SetFlag, SetText> action = Known{};
};

// Sorted by name. Generic options of mount(8), security labels and what only user space acts on are known.
constexpr std::array table = std::to_array<Row>({
    {"_netdev"},
    {"_rnetdev"},
    {"acdirmax", &Options::ac_dir_max},
    {"acdirmin", &Options::ac_dir_min},
    {"acl"},
    {"acregmax", &Options::ac_reg_max},
    {"acregmin", &Options::ac_reg_min},
    {"actimeo", &Options::actimeo},
    {"addr", &Options::addr},
    {"async", SetFlag{&Options::sync, false}},
    {"atime"},
    {"auto"},
    {"bg"},
    {"bsize"},
    {"clientaddr", &Options::client_addr},
    {"comment"},
    {"context"},
    {"cto", SetFlag{&Options::nocto, false}},
    {"defaults"},
    {"defcontext"},
    {"dev"},
    {"diratime"},
    {"dirsync"},
    {"exec"},
    {"fg"},
    {"forcerdirplus", SetText{&Options::rdirplus, "force"}},
    {"fsc", SetFlag{&Options::fsc, true}},
    {"fscontext"},
    {"group"},
    {"hard", SetText{&Options::recovery, "hard"}},
    {"intr"},
    {"lazytime"},
    {"local_lock", &Options::local_lock},
    {"lock", SetFlag{&Options::nolock, false}},
    {"lookupcache", &Options::lookupcache},
    {"mand"},
    {"max_connect", &Options::max_connect},
    {"migration"},
    {"minorversion", &Options::minorversion},
    {"mountaddr", &Options::mount_addr},
    {"mounthost"},
    {"mountport", &Options::mount_port},
    {"mountproto", &Options::mount_proto},
    {"mountvers", &Options::mount_vers},
    {"namlen", &Options::namlen},
    {"nconnect", &Options::nconnect},
    {"nfsvers", &Options::vers},
    {"noac", SetFlag{&Options::noac, true}},
    {"noacl"},
    {"noatime"},
    {"noauto"},
    {"nocto", SetFlag{&Options::nocto, true}},
    {"nodev"},
    {"nodiratime"},
    {"noexec"},
    {"nofail"},
    {"nofsc", SetFlag{&Options::fsc, false}},
    {"nointr"},
    {"nolock", SetFlag{&Options::nolock, true}},
    {"nomand"},
    {"nomigration"},
    {"noposix"},
    {"nordirplus", SetText{&Options::rdirplus, "none"}},
    {"norelatime"},
    {"noresvport", SetFlag{&Options::noresvport, true}},
    {"nosharecache", SetFlag{&Options::nosharecache, true}},
    {"nosharetransport"},
    {"nosoftreval", SetFlag{&Options::softreval, false}},
    {"nosuid"},
    {"nosymfollow"},
    {"notrunkdiscovery"},
    {"nouser"},
    {"owner"},
    {"port", &Options::port},
    {"posix"},
    {"proto", &Options::proto},
    {"rdirplus", &Options::rdirplus},
    {"rdma", SetText{&Options::proto, "rdma"}},
    {"relatime"},
    {"remount"},
    {"resvport", SetFlag{&Options::noresvport, false}},
    {"retrans", &Options::retrans},
    {"retry"},
    {"ro", SetFlag{&Options::rw, false}},
    {"rootcontext"},
    {"rsize", &Options::rsize},
    {"rw", SetFlag{&Options::rw, true}},
    {"sec", &Options::sec},
    {"seclabel"},
    {"sharecache", SetFlag{&Options::nosharecache, false}},
    {"sloppy"},
    {"soft", SetText{&Options::recovery, "soft"}},
    {"softerr", SetText{&Options::recovery, "softerr"}},
    {"softreval", SetFlag{&Options::softreval, true}},
    {"strictatime"},
    {"suid"},
    {"sync", SetFlag{&Options::sync, true}},
    {"tcp", SetText{&Options::proto, "tcp"}},
    {"tcp6", SetText{&Options::proto, "tcp6"}},
    {"timeo", &Options::timeo},
    {"trunkdiscovery"},
    {"udp", SetText{&Options::proto, "udp"}},
    {"udp6", SetText{&Options::proto, "udp6"}},
    {"user"},
    {"users"},
    {"v2", SetText{&Options::vers, "2"}},
    {"v3", SetText{&Options::vers, "3"}},
    {"v4", SetText{&Options::vers, "4"}},
    {"v4.0", SetText{&Options::vers, "4.0"}},
    {"v4.1", SetText{&Options::vers, "4.1"}},
    {"v4.2", SetText{&Options::vers, "4.2"}},
    {"vers", &Options::vers},
    {"write"},
    {"wsize", &Options::wsize},
    {"xprtsec", &Options::xprtsec},
});

static_assert(std::is_sorted(table.begin(), table.end(), [](const Row& a, const Row& b) { return a.name < b.name; }));

const Row* find_row(std::string_view name) {
  const auto row =
      std::lower_bound(table.begin(), table.end(), name, [](const Row& r, std::string_view n) { return r.name < n; });
  return row != table.end() && row->name == name ? &*row : nullptr;
}

struct Apply {
  Options& options;
  std::string_view name;
  std::string_view value;
  bool has_value;

  void operator()(Known) const {}
  void operator()(Number Options::*member) const {
    const auto number = base::number<std::uint32_t>(value);
    if (!number) options.bad.push_back(name);
    options.*member = number ? Number(*number) : Number();
  }
  void operator()(Text Options::*member) const {
    if (!has_value && member == &Options::rdirplus) {
      options.rdirplus = std::string("yes");
    } else if (value.empty()) {
      options.bad.push_back(name);
    } else {
      options.*member = std::string(value);
    }
  }
  void operator()(const SetFlag& set) const { options.*set.member = set.value; }
  void operator()(const SetText& set) const { options.*set.member = std::string(set.value); }
};

// Takes the next option off `rest`. A quote that is never closed is an ordinary character; `quotes_closed` remembers
// that, so that a long text of such quotes is still read in one pass.
bool next_option(std::string_view& rest, std::string_view& option, bool& quotes_closed) {
  if (rest.empty()) return false;
  std::size_t at = 0;
  while (at < rest.size() && rest[at] != ',') {
    if (rest[at] == '"' && quotes_closed) {
      const auto close = rest.find('"', at + 1);
      if (close == std::string_view::npos) {
        quotes_closed = false;
      } else {
        at = close;
      }
    }
    ++at;
  }
  option = rest.substr(0, at);
  rest.remove_prefix(std::min(at + 1, rest.size()));
  return true;
}

void add_options(std::string_view text, Options& options) {
  bool quotes_closed = true;
  for (std::string_view option; next_option(text, option, quotes_closed);) {
    option = base::trim(option);
    if (option.empty()) continue;
    const auto equals = option.find('=');
    const auto name = option.substr(0, equals);
    const bool has_value = equals != std::string_view::npos;
    const auto value = has_value ? option.substr(equals + 1) : std::string_view{};
    // systemd's own keys of fstab(5) options: x-systemd.automount, x-initrd.mount ...
    if (name.starts_with("x-") || name.starts_with("X-")) continue;
    if (const Row* row = find_row(name)) {
      std::visit(Apply{options, name, value, has_value}, row->action);
    } else {
      options.unknown.push_back(option);
    }
  }
}

template <class T>
Fact<T> or_default(const Fact<T>& fact, T value) {
  return fact.has_value() ? fact : Fact<T>(std::move(value));
}
template <class T>
Fact<T> or_absent(const Fact<T>& fact) {
  return fact.has_value() ? fact : Fact<T>::absent();
}

// Old kernels print the version in two options: vers=4,minorversion=1.
Text kernel_version(const Options& options) {
  if (!options.vers.has_value()) return {};
  const std::string& vers = *options.vers;
  if (!vers.starts_with('4')) return vers;
  if (options.minorversion.has_value()) return "4." + *options.minorversion;
  return vers == "4" ? std::string("4.0") : vers;
}

// The options of mount and file system as /proc/mounts would print them together.
std::string merged_text(const facts::Mount& mount, bool read_only) {
  if (!mount.super_options_text.has_value()) return mount.options_text.value_or("");
  if (!mount.options_text.has_value()) return *mount.super_options_text;
  std::string out = read_only ? "ro" : "rw";
  const auto append = [&out](std::string_view text) {
    if (text.starts_with("rw,") || text.starts_with("ro,")) {
      text.remove_prefix(3);
    } else if (text == "rw" || text == "ro") {
      return;
    }
    if (!text.empty()) out.append(1, ',').append(text);
  };
  append(*mount.options_text);
  append(*mount.super_options_text);
  return out;
}

Text address_or_unknown(const Text& text) { return text.has_value() && is_address(*text) ? text : Text(); }

char lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

bool same_name(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) { return lower(x) == lower(y); });
}

}  // namespace

std::vector<std::string_view> split_options(std::string_view text) {
  std::vector<std::string_view> out;
  bool quotes_closed = true;
  for (std::string_view option; next_option(text, option, quotes_closed);) out.push_back(option);
  return out;
}

NfsSource split_source(std::string_view source) {
  NfsSource out;
  std::string_view server;
  if (source.starts_with('/')) {
    out.path = source;
    return out;
  }
  const auto close = source.starts_with('[') ? source.find("]:") : std::string_view::npos;
  if (close != std::string_view::npos) {
    server = source.substr(1, close - 1);
    out.path = source.substr(close + 2);
  } else if (const auto slash = source.find(":/"); slash != std::string_view::npos) {
    server = source.substr(0, slash);
    out.path = source.substr(slash + 1);
  } else if (const auto colon = source.find(':'); colon != std::string_view::npos) {
    server = source.substr(0, colon);
    out.path = source.substr(colon + 1);
  } else {
    out.path = source;
    return out;
  }
  const auto percent = server.find('%');
  out.server = server.substr(0, percent);
  if (percent != std::string_view::npos) out.zone = server.substr(percent + 1);
  return out;
}

std::string normal_export(std::string_view path) {
  std::string out;
  out.reserve(path.size());
  for (const char c : path) {
    if (c != '/' || out.empty() || out.back() != '/') out += c;
  }
  while (out.size() > 1 && out.back() == '/') out.pop_back();
  return out;
}

bool same_source(std::string_view a, std::string_view b) {
  const NfsSource first = split_source(a);
  const NfsSource second = split_source(b);
  return (same_name(first.server, second.server) || same_address(first.server, second.server)) &&
         normal_export(first.path) == normal_export(second.path);
}

facts::NfsMount read_nfs_options(const facts::Mount& mount) {
  facts::NfsMount out;
  out.target = mount.target;
  out.source = mount.source;
  out.fs_type = mount.fs_type;
  out.bdi = mount.device;
  out.target_deleted = mount.target_deleted;
  out.hidden_by = mount.hidden_by;

  Options own;  // of the mount; only its ro counts
  Options options;
  if (mount.options_text.has_value()) add_options(*mount.options_text, own);
  if (mount.super_options_text.has_value()) {
    add_options(*mount.super_options_text, options);
  } else {
    options = own;
  }
  const bool readable = options.vers.has_value() || options.proto.has_value() || options.rsize.has_value();
  const bool read_only = own.rw.is(false) || options.rw.is(false);
  if (own.rw.has_value() || options.rw.has_value()) out.rw = !read_only;
  if (mount.options_text.has_value() || mount.super_options_text.has_value()) {
    out.options_text = merged_text(mount, read_only);
  }

  const NfsSource source = split_source(mount.source);
  if (!source.server.empty()) out.server_name = source.server;
  out.zone = source.zone.empty() ? Text::absent() : Text(source.zone);
  if (!source.path.empty()) out.export_path = source.path;

  out.vers = kernel_version(options);
  out.proto = options.proto;
  out.addr = address_or_unknown(options.addr);
  if (!out.server_name.has_value() && out.addr.has_value()) out.server_name = *out.addr;
  out.client_addr = options.client_addr;
  out.rsize_bytes = options.rsize;
  out.wsize_bytes = options.wsize;
  out.namlen = options.namlen;
  out.timeo_ds = options.timeo;
  out.retrans = options.retrans;
  out.recovery = options.recovery;
  out.sec = options.sec;
  out.local_lock = options.local_lock;
  out.lookupcache = options.lookupcache;
  for (const auto option : options.unknown) out.unknown_options.emplace_back(option);
  if (!readable) return out;

  // 0 stands for "not set" where old kernels print it.
  out.port = options.port.is(0) ? Number::absent() : or_absent(options.port);
  out.nconnect = or_absent(options.nconnect);
  out.max_connect = or_absent(options.max_connect);
  out.client_addr = or_absent(out.client_addr);
  out.xprtsec = or_default<std::string>(options.xprtsec, "none");
  out.lookupcache = or_default<std::string>(options.lookupcache, "all");
  out.softreval = or_default(options.softreval, false);
  out.sync = or_default(options.sync, false);
  out.nolock = or_default(options.nolock, false);
  out.nocto = or_default(options.nocto, false);
  out.noac = or_default(options.noac, false);
  out.nosharecache = or_default(options.nosharecache, false);
  out.noresvport = or_default(options.noresvport, false);
  out.nordirplus = options.rdirplus.is("none");
  out.fsc = or_default(options.fsc, false);
  out.ac_reg_min_s = or_default(options.ac_reg_min, options.actimeo.value_or(3U));
  out.ac_reg_max_s = or_default(options.ac_reg_max, options.actimeo.value_or(60U));
  out.ac_dir_min_s = or_default(options.ac_dir_min, options.actimeo.value_or(30U));
  out.ac_dir_max_s = or_default(options.ac_dir_max, options.actimeo.value_or(60U));
  const bool named = options.mount_addr.has_value() && !options.mount_addr.is("unspecified");
  out.mount_addr = named ? address_or_unknown(options.mount_addr) : Text::absent();
  out.mount_vers = or_absent(options.mount_vers);
  out.mount_port = options.mount_port.is(65535) ? Number::absent() : or_absent(options.mount_port);  // NFS_UNSPEC_PORT
  out.mount_proto = or_absent(options.mount_proto);
  return out;
}

facts::AskedOptions parse_asked_options(std::string_view text) {
  Options options;
  add_options(text, options);
  const auto asked = [&options](const auto& fact, std::string_view name) {
    const bool bad = std::find(options.bad.begin(), options.bad.end(), name) != options.bad.end();
    using F = std::remove_cvref_t<decltype(fact)>;
    return fact.has_value() || bad ? fact : F::absent();
  };
  facts::AskedOptions out;
  out.text = text;
  out.vers = asked(options.vers, "vers");
  if (out.vers.is("4") && options.minorversion.has_value()) out.vers = "4." + *options.minorversion;
  out.vers_origin = Text::absent();
  out.nconnect = asked(options.nconnect, "nconnect");
  out.max_connect = asked(options.max_connect, "max_connect");
  out.rsize_bytes = asked(options.rsize, "rsize");
  out.wsize_bytes = asked(options.wsize, "wsize");
  out.timeo_ds = asked(options.timeo, "timeo");
  out.retrans = asked(options.retrans, "retrans");
  out.recovery = asked(options.recovery, "recovery");
  out.proto = asked(options.proto, "proto");
  out.sec = asked(options.sec, "sec");
  out.xprtsec = asked(options.xprtsec, "xprtsec");
  out.local_lock = asked(options.local_lock, "local_lock");
  out.nolock = asked(options.nolock, "nolock");
  out.read_only = options.rw.has_value() ? Flag(!*options.rw) : Flag::absent();
  return out;
}

}  // namespace probes
