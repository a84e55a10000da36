#include "probes/io/host.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <map>
#include <optional>
#include <set>

#include "audit/base/json.h"
#include "audit/base/text.h"
#include "probes/host/sysfs_walk.h"
#include "probes/host/tasks.h"
#include "probes/io/child.h"
#include "probes/io/kernel_log.h"
#include "probes/io/netlink.h"
#include "probes/io/root_dir.h"

namespace probes {

using base::ErrorKind;
using base::fail;
using base::Result;

Result<std::string> read_file(const std::string& path) {
  if (path == "-") return read_to_end(STDIN_FILENO, "standard input");
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
  if (!fd) return tl::unexpected(error_of(errno, path));
  return read_to_end(fd.get(), path);
}

Result<std::string> Host::answer(std::string_view question) const {
  return fail(ErrorKind::skipped, std::string(question), "not part of this capture");
}

std::vector<Host::NamedText> Host::read_some(const std::string& directory,
                                             const std::vector<std::string_view>& names) const {
  std::vector<NamedText> texts;
  for (const std::string_view name : names) texts.emplace_back(name, read(directory + "/" + std::string(name)));
  return texts;
}

std::string answer_path(std::string_view question) {
  std::string name(question);
  for (char& c : name) {
    if (c == ' ' || c == '/') c = '_';
  }
  return "/mountaudit/kernel/" + name + ".txt";
}

namespace {

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  const std::size_t length = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return std::string(text.data(), length);
}

// The commands that a probe may want the output of, with where a sos report keeps it.
struct Command {
  const char* name;
  std::vector<std::string> argv;
  std::vector<const char*> sos_paths;
  bool live = true;
};

const std::vector<Command>& commands() {
  static const std::vector<Command> all{
      {"mount-l", {"mount", "-l"}, {"/sos_commands/filesys/mount_-l", "/mount"}},
      {"uname-a", {"uname", "-a"}, {"/sos_commands/kernel/uname_-a", "/uname"}},
      {"hostname",
       {"hostname"},
       {"/sos_commands/host/hostname", "/sos_commands/general/hostname", "/sos_commands/networking/hostname",
        "/hostname"}},
      {"dmesg", {}, {"/sos_commands/kernel/dmesg", "/sos_commands/kernel/dmesg_-T", "/dmesg"}},
      {"multipath-json", {"multipathd", "show", "maps", "json"}, {}},
      {"multipath-config",
       {"multipathd", "show", "config", "local"},
       {"/sos_commands/multipath/multipathd_show_config", "/sos_commands/multipath/multipath_-t"}},
      {"multipath-ll", {"multipath", "-ll"}, {"/sos_commands/multipath/multipath_-ll"}},
      // Only copies and pastes: a live root has /sys.
      {"multipath-l", {}, {"/sos_commands/multipath/multipath_-l"}, false},
      {"multipath-v4", {}, {"/sos_commands/multipath/multipath_-v4_-ll"}, false},
      {"multipath-paths", {}, {}, false},
      {"iscsi-session", {}, {"/sos_commands/iscsi/iscsiadm_-m_session"}, false},
      {"iscsi-p1", {}, {"/sos_commands/iscsi/iscsiadm_-m_session_-P_1"}, false},
      {"iscsi-p3", {}, {"/sos_commands/iscsi/iscsiadm_-m_session_-P_3"}, false},
      {"nodes", {}, {"/sos_commands/iscsi/iscsiadm_-m_node"}, false},
      {"node-record", {}, {}, false},
  };
  return all;
}

const Command* find_command(std::string_view name) {
  const auto found =
      std::find_if(commands().begin(), commands().end(), [&](const Command& c) { return c.name == name; });
  return found == commands().end() ? nullptr : &*found;
}

class LiveHost : public Host {
 public:
  LiveHost(std::string root, RootDir directory) : root_(std::move(root)), directory_(std::move(directory)) {}

  Result<std::string> read(std::string_view path) const override { return directory_.read(path); }
  Result<std::vector<std::string>> list(std::string_view path) const override { return directory_.list(path); }
  Result<std::string> link(std::string_view path) const override { return directory_.link(path); }
  std::vector<NamedText> read_some(const std::string& directory,
                                   const std::vector<std::string_view>& names) const override {
    return base::starts_with_path(directory, "/sys") ? directory_.read_sysfs(directory, names)
                                                     : Host::read_some(directory, names);
  }
  Result<std::string> command(std::string_view name) const override {
    const Command* known = find_command(name);
    if (known == nullptr) return fail(ErrorKind::skipped, std::string(name), "no such command is known");
    if (!known->live) return fail(ErrorKind::skipped, std::string(name), "not asked on a running node");
    if (known->argv.empty()) return read_kernel_log();  // no program needed
    ChildOptions options;
    options.argv = known->argv;
    if (root_ != "/") options.argv.insert(options.argv.begin(), {"chroot", root_});
    auto child = run_child(options);
    if (!child) return tl::unexpected(child.error());
    if (child->exit_code != 0)
      return fail(ErrorKind::refused, std::string(name), "exit " + std::to_string(child->exit_code));
    return std::move(child->out);
  }
  Result<std::string> answer(std::string_view question) const override {
    constexpr std::chrono::milliseconds deadline{500};
    if (question == "tasks") return walk_tasks(*this);
    if (question == storage_question)
      return run_in_child([this](const SysfsSink& sink) { walk_sysfs(*this, sink); }, std::chrono::seconds(5));
    const auto blank = question.find(' ');
    const auto subject = blank == std::string_view::npos ? std::string_view{} : question.substr(blank + 1);
    if (question.starts_with("route ")) return ask_route(std::string(subject), deadline);
    const auto port = base::number<std::uint16_t>(subject);
    if (question.starts_with("tcp-sockets ") && port) return dump_tcp_sockets(*port, deadline);
    return fail(ErrorKind::usage, std::string(question), "no such question is known");
  }
  bool live() const override { return true; }
  std::string root() const override { return root_; }
  Clock clock() const override {
    timespec now{};
    Clock clock;
    clock.wall = utc_now();
    if (::clock_gettime(CLOCK_BOOTTIME, &now) == 0)
      clock.boottime_ns =
          static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(now.tv_nsec);
    return clock;
  }

 private:
  std::string root_;
  RootDir directory_;
};

// mountaudit/manifest.json of a captured tree. Written by RecordingHost::write.
struct Manifest {
  Clock clock;
  facts::Fact<std::string> node;
  std::map<std::string, base::Error, std::less<>> paths;     // what could not be had, and why
  std::map<std::string, base::Error, std::less<>> commands;  // the same
  std::map<std::string, base::Error, std::less<>> answers;   // the same
  std::map<std::string, std::vector<std::string>, std::less<>> lists;
  std::map<std::string, std::string, std::less<>> links;
};

std::optional<ErrorKind> kind_of(std::string_view status) {
  for (const ErrorKind kind : {ErrorKind::absent, ErrorKind::denied, ErrorKind::timeout, ErrorKind::refused,
                               ErrorKind::malformed, ErrorKind::skipped})
    if (status == base::status_word(kind)) return kind;
  return std::nullopt;
}

std::string text_at(const boost::json::object& object, std::string_view key) {
  const auto* value = object.if_contains(key);
  return value != nullptr && value->is_string() ? std::string(value->as_string()) : std::string();
}

// Tolerant: what is not as expected is passed over; the tree is still there to be read.
Result<Manifest> parse_manifest(std::string_view text, const std::string& where) {
  auto document = base::parse_json(text, where);
  if (!document) return tl::unexpected(document.error());
  const auto* top = document->if_object();
  if (top == nullptr || !text_at(*top, "schema").starts_with("mountaudit.manifest/1"))
    return fail(ErrorKind::malformed, where, "is not a mountaudit.manifest/1 document");
  Manifest manifest;
  if (auto wall = text_at(*top, "wall"); !wall.empty()) manifest.clock.wall = std::move(wall);
  if (auto node = text_at(*top, "node"); !node.empty()) manifest.node = std::move(node);
  if (const auto* ns = top->if_contains("boottime_ns"); ns != nullptr && ns->is_int64() && ns->as_int64() >= 0)
    manifest.clock.boottime_ns = static_cast<std::uint64_t>(ns->as_int64());
  if (const auto* rows = top->if_contains("sources"); rows != nullptr && rows->is_array()) {
    for (const auto& row : rows->as_array()) {
      const auto* entry = row.if_object();
      if (entry == nullptr) continue;
      const auto kind = kind_of(text_at(*entry, "status"));
      if (!kind) continue;  // ok: the file itself is there
      const std::string path = text_at(*entry, "path");
      const std::string command = text_at(*entry, "command");
      if (!path.empty()) manifest.paths[path] = {*kind, path, text_at(*entry, "detail")};
      const std::string question = text_at(*entry, "question");
      if (!question.empty()) manifest.answers[question] = {*kind, question, text_at(*entry, "detail")};
      if (!command.empty()) manifest.commands[command] = {*kind, command, text_at(*entry, "detail")};
    }
  }
  if (const auto* lists = top->if_contains("lists"); lists != nullptr && lists->is_object()) {
    for (const auto& [path, names] : lists->as_object()) {
      if (!names.is_array()) continue;
      auto& list = manifest.lists[std::string(path)];
      for (const auto& name : names.as_array())
        if (name.is_string()) list.emplace_back(name.as_string());
    }
  }
  if (const auto* links = top->if_contains("links"); links != nullptr && links->is_object())
    for (const auto& [path, target] : links->as_object())
      if (target.is_string()) manifest.links[std::string(path)] = std::string(target.as_string());
  return manifest;
}

constexpr std::string_view manifest_path = "/mountaudit/manifest.json";

class TreeHost : public Host {
 public:
  TreeHost(std::string root, RootDir directory) : root_(std::move(root)), directory_(std::move(directory)) {
    const std::string name(manifest_path);
    auto text = directory_.read(name);
    if (!text) {
      if (text.error().kind != ErrorKind::absent) manifest_error_ = text.error();
      return;
    }
    if (auto manifest = parse_manifest(*text, name))
      manifest_ = std::move(*manifest);
    else
      manifest_error_ = manifest.error();
  }

  Result<std::string> read(std::string_view path) const override {
    if (const auto* error = known_error(path)) return tl::unexpected(*error);
    return told(directory_.read(path));
  }
  Result<std::vector<std::string>> list(std::string_view path) const override {
    if (const auto* error = known_error(path)) return tl::unexpected(*error);
    if (const auto found = manifest_.lists.find(path); found != manifest_.lists.end()) return found->second;
    return told(directory_.list(path));
  }
  Result<std::string> link(std::string_view path) const override {
    if (const auto* error = known_error(path)) return tl::unexpected(*error);
    if (const auto found = manifest_.links.find(path); found != manifest_.links.end()) return found->second;
    return told(directory_.link(path));
  }
  Result<std::string> command(std::string_view name) const override {
    if (const auto found = manifest_.commands.find(name); found != manifest_.commands.end())
      return tl::unexpected(found->second);
    return told(directory_.read("/mountaudit/cmd/" + std::string(name) + ".txt"));
  }
  Result<std::string> answer(std::string_view question) const override {
    if (const auto found = manifest_.answers.find(question); found != manifest_.answers.end())
      return tl::unexpected(found->second);
    auto text = directory_.read(answer_path(question));
    // A tree that was copied by other means may hold /proc/PID/stat itself.
    if (!text && text.error().kind == ErrorKind::absent && question == "tasks" && directory_.list("/proc"))
      return walk_tasks(*this, {.look_again = std::chrono::milliseconds(0)});
    if (!text && text.error().kind == ErrorKind::absent && question == storage_question && directory_.list("/sys"))
      return walk_sysfs(*this);
    return told(std::move(text));
  }
  bool live() const override { return false; }
  std::string root() const override { return root_; }
  Clock clock() const override { return manifest_.clock; }
  facts::Fact<std::string> node_name() const override { return manifest_.node; }
  std::unique_ptr<Host> earlier() const override {
    auto names = directory_.list("/mountaudit/earlier");
    if (!names) return nullptr;
    // Inside the tree, whatever links it holds: the earlier tree is this one seen through a prefix.
    auto inner = RootDir::open(root_ + "/mountaudit/earlier");
    if (!inner) return nullptr;
    return std::make_unique<TreeHost>(root_, std::move(*inner));
  }
  std::vector<facts::Source> own_rows() const override {
    if (!manifest_error_) return {};
    return {{"manifest",
             std::string(manifest_path),
             base::status_word(manifest_error_->kind),
             base::to_text(*manifest_error_),
             {}}};
  }

 private:
  const base::Error* known_error(std::string_view path) const {
    const auto found = manifest_.paths.find(path);
    return found == manifest_.paths.end() ? nullptr : &found->second;
  }
  // That a file is not in a copy does not show that the node had none.
  template <class T>
  Result<T> told(Result<T> result) const {
    if (!result && result.error().kind == ErrorKind::absent)
      return fail(ErrorKind::skipped, result.error().where, "not part of this capture");
    return result;
  }

  std::string root_;
  RootDir directory_;
  Manifest manifest_;
  std::optional<base::Error> manifest_error_;
};

// Layout: sos(1), sos/report/plugins/{filesys,kernel,host,nfs}.py.
class SosHost : public Host {
 public:
  SosHost(std::string root, RootDir directory) : root_(std::move(root)), directory_(std::move(directory)) {}

  Result<std::string> read(std::string_view path) const override { return told(directory_.read(path)); }
  Result<std::vector<std::string>> list(std::string_view path) const override { return told(directory_.list(path)); }
  Result<std::string> link(std::string_view path) const override { return told(directory_.link(path)); }
  Result<std::string> command(std::string_view name) const override {
    const Command* known = find_command(name);
    if (known != nullptr)
      for (const char* path : known->sos_paths)
        if (auto text = directory_.read(path); text || text.error().kind != ErrorKind::absent) return text;
    return fail(ErrorKind::skipped, std::string(name), "not part of this sos report");
  }
  Result<std::string> answer(std::string_view question) const override {
    if (question == storage_question && directory_.list("/sys/class/iscsi_session")) return walk_sysfs(*this);
    return Host::answer(question);
  }
  bool live() const override { return false; }
  std::string root() const override { return root_; }
  Clock clock() const override { return {}; }

 private:
  template <class T>
  Result<T> told(Result<T> result) const {
    if (!result && result.error().kind == ErrorKind::absent)
      return fail(ErrorKind::skipped, result.error().where, "not part of this sos report");
    return result;
  }

  std::string root_;
  RootDir directory_;
};

std::string without_end_slash(std::string root) {
  while (root.size() > 1 && root.ends_with('/')) root.pop_back();
  return root;
}

template <class T>
Result<std::unique_ptr<Host>> open_copy(const std::string& root) {
  auto directory = RootDir::open(root);
  if (!directory) return tl::unexpected(directory.error());
  return std::make_unique<T>(without_end_slash(root), std::move(*directory));
}

bool is_procfs(const std::string& root) {
  struct statfs status {};
  return ::statfs((root + "/proc").c_str(), &status) == 0 && status.f_type == PROC_SUPER_MAGIC;
}

std::string boot_id(const std::string& root) {
  auto text = read_file(root + "/proc/sys/kernel/random/boot_id");
  return text ? std::string(base::trim(*text)) : std::string();
}

}  // namespace

Result<std::unique_ptr<Host>> open_live(const std::string& root) {
  const std::unique_ptr<char, void (*)(void*)> real(::realpath(root.c_str(), nullptr), &std::free);
  if (!real) return tl::unexpected(error_of(errno, root));
  const std::string path = real.get();
  auto mountinfo = read_file("/proc/self/mountinfo");
  if (!mountinfo) return tl::unexpected(mountinfo.error());
  auto directory = RootDir::open(path, HangingMounts(*mountinfo, path));
  if (!directory) return tl::unexpected(directory.error());
  return std::make_unique<LiveHost>(path, std::move(*directory));
}

Result<std::unique_ptr<Host>> open_tree(const std::string& root) { return open_copy<TreeHost>(root); }

Result<std::unique_ptr<Host>> open_sos(const std::string& root) { return open_copy<SosHost>(root); }

Result<std::unique_ptr<Host>> open_root(const std::string& root) {
  if (is_procfs(root) && !boot_id(root).empty() && boot_id(root) == boot_id("")) return open_live(root);
  auto directory = RootDir::open(root);
  if (!directory) return tl::unexpected(directory.error());
  const auto holds = [&](const char* name) { return directory->list(name).has_value(); };
  if (holds("/sos_commands") || holds("/sos_reports")) return open_sos(root);
  if (holds("/proc") || holds("/etc") || holds("/sys") || holds("/var") || holds("/mountaudit")) return open_tree(root);
  return fail(ErrorKind::usage, root, "holds no proc, etc, sys, var or mountaudit: neither a root nor a copy of one");
}

namespace {

struct Kind {
  InputKind shown;
  const char* path;     // where a node has this text; nullptr: nothing of this version looks at it
  const char* command;  // or the command that prints it
  bool pasted = false;  // given as it is, any number of times
};

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all{
      {{"mounts", "/proc/mounts"}, "/proc/mounts", nullptr},
      {{"mountinfo", "/proc/PID/mountinfo"}, "/proc/1/mountinfo", nullptr},
      {{"mountstats", "/proc/PID/mountstats"}, "/proc/1/mountstats", nullptr},
      {{"mount-l", "output of mount -l"}, nullptr, "mount-l"},
      {{"fstab", "/etc/fstab"}, "/etc/fstab", nullptr},
      {{"nfsmount.conf", "/etc/nfsmount.conf"}, "/etc/nfsmount.conf", nullptr},
      {{"iscsi-session", "output of iscsiadm -m session"}, nullptr, "iscsi-session"},
      {{"iscsi-p1", "output of iscsiadm -m session -P 1"}, nullptr, "iscsi-p1"},
      {{"iscsi-p3", "output of iscsiadm -m session -P 3"}, nullptr, "iscsi-p3"},
      {{"nodes", "output of iscsiadm -m node"}, nullptr, "nodes"},
      {{"node-record", "a node record of open-iscsi"}, nullptr, "node-record"},
      {{"initiatorname", "/etc/iscsi/initiatorname.iscsi"}, "/etc/iscsi/initiatorname.iscsi", nullptr},
      {{"sysfs", "part of /sys, as a directory or as text of grep"}, nullptr, "sysfs"},
      {{"iscsid.conf", "/etc/iscsi/iscsid.conf"}, "/etc/iscsi/iscsid.conf", nullptr},
      {{"multipath-ll", "output of multipath -ll"}, nullptr, "multipath-ll"},
      {{"multipath-l", "output of multipath -l"}, nullptr, "multipath-l"},
      {{"multipath-v4", "output of multipath -v4 -ll"}, nullptr, "multipath-v4"},
      {{"multipath-json", "output of multipathd show maps json"}, nullptr, "multipath-json"},
      {{"multipath-paths", "output of multipathd show paths"}, nullptr, "multipath-paths"},
      {{"multipath.conf", "/etc/multipath.conf"}, "/etc/multipath.conf", nullptr},
      {{"ss", "output of ss -tin"}, nullptr, nullptr, true},
      {{"rpcinfo", "output of rpcinfo -p"}, nullptr, nullptr, true},
      {{"nfsiostat", "output of nfsiostat"}, nullptr, nullptr, true},
      {{"log", "kernel or daemon messages"}, nullptr, nullptr, true},
      {{"fio-job", "job file of fio"}, nullptr, nullptr},
      {{"fio-json", "JSON output of fio"}, nullptr, nullptr},
      {{"text", "pasted terminal text"}, nullptr, nullptr, true},
  };
  return all;
}

class InputHost : public Host {
 public:
  struct Text {
    std::string file;  // as the user named it
    std::string text;
    mutable bool used = false;
  };
  struct NotLookedAt {
    std::string file;
    std::string kind;
  };

  std::map<std::string, Text, std::less<>> paths;
  std::map<std::string, Text, std::less<>> outputs;
  std::vector<NotLookedAt> not_looked_at;
  std::vector<std::pair<std::string, GivenText>> pasted;  // by kind
  std::string title = "pasted text";                      // stands for the node's name, which no text tells

  Result<std::string> read(std::string_view path) const override { return get(paths, path); }
  Result<std::vector<std::string>> list(std::string_view path) const override { return not_given(path); }
  Result<std::string> link(std::string_view path) const override { return not_given(path); }
  Result<std::string> command(std::string_view name) const override { return get(outputs, name); }
  Result<std::string> answer(std::string_view question) const override {
    return question == storage_question ? get(outputs, "sysfs") : Host::answer(question);
  }
  std::vector<GivenText> given(std::string_view kind) const override {
    std::vector<GivenText> texts;
    for (const auto& [of, text] : pasted)
      if (of == kind) texts.push_back(text);
    return texts;
  }
  bool live() const override { return false; }
  std::string root() const override { return "(input)"; }
  facts::Fact<std::string> node_name() const override { return title; }
  Clock clock() const override { return {}; }
  std::string name_of(std::string_view path) const override {
    for (const auto* texts : {&paths, &outputs})
      if (const auto found = texts->find(path); found != texts->end()) return found->second.file;
    return std::string(path);
  }
  std::vector<facts::Source> own_rows() const override {
    std::vector<facts::Source> rows;
    for (const auto* texts : {&paths, &outputs})
      for (const auto& [what, text] : *texts)
        if (!text.used) rows.push_back({"input", text.file, "skipped", "not needed beside the other inputs", {}});
    for (const auto& [file, kind] : not_looked_at)
      rows.push_back(
          {"input", file, "skipped", "given as " + kind + ": no probe of this version looks at that kind", {}});
    return rows;
  }

 private:
  static tl::unexpected<base::Error> not_given(std::string_view what) {
    return fail(ErrorKind::skipped, std::string(what), "not among the inputs");
  }
  static Result<std::string> get(const std::map<std::string, Text, std::less<>>& texts, std::string_view what) {
    const auto found = texts.find(what);
    if (found == texts.end()) return not_given(what);
    found->second.used = true;
    return found->second.text;
  }
};

}  // namespace

namespace {

// --input sysfs=DIR: a copy of /sys, or of a part of it, under its paths.
class SysfsHost : public Host {
 public:
  explicit SysfsHost(RootDir directory) : directory_(std::move(directory)) {
    if (directory_.list("/sys")) inside_ = "/sys";
  }
  Result<std::string> read(std::string_view path) const override { return directory_.read(place(path)); }
  Result<std::vector<std::string>> list(std::string_view path) const override { return directory_.list(place(path)); }
  Result<std::string> link(std::string_view path) const override {
    auto target = directory_.link(inside_ + without_sys(path));
    if (target) return target;
    const auto written = written_link(without_sys(path));
    return written.empty() ? target : Result<std::string>(written);
  }
  Result<std::string> command(std::string_view name) const override {
    return fail(ErrorKind::skipped, std::string(name), "not among the inputs");
  }
  bool live() const override { return false; }
  std::string root() const override { return "(input)"; }
  Clock clock() const override { return {}; }

 private:
  static std::string without_sys(std::string_view path) {
    if (path.starts_with("/sys/")) path.remove_prefix(4);
    return std::string(path);
  }
  // What copies without symbolic links (zip, git on other systems) leave: a file that holds where the link points.
  std::string written_link(const std::string& path) const {
    const auto text = directory_.read(inside_ + path);
    if (!text || text->size() > 4096) return {};
    const auto target = base::trim(*text);
    return target.starts_with("../") && target.find('\n') == std::string_view::npos ? std::string(target)
                                                                                    : std::string();
  }
  // "/class/iscsi_session/session1/state": the link, if any, stands in the third part.
  std::string place(std::string_view whole) const {
    const std::string path = without_sys(whole);
    std::size_t end = 0;
    for (int part = 0; part < 3 && end != std::string::npos; ++part) end = path.find('/', end + 1);
    if (!path.starts_with("/class/") || end == std::string::npos) return inside_ + path;
    const auto written = written_link(path.substr(0, end));
    if (!written.starts_with("../../")) return inside_ + path;
    return inside_ + written.substr(5) + path.substr(end);
  }
  RootDir directory_;
  std::string inside_;
};

Result<std::string> read_input(const std::string& kind, const std::string& file) {
  std::error_code none;
  if (kind != "sysfs" || !std::filesystem::is_directory(file, none)) return read_file(file);
  auto directory = RootDir::open(file);
  if (!directory) return tl::unexpected(directory.error());
  return walk_sysfs(SysfsHost(std::move(*directory)));
}

}  // namespace

const std::vector<InputKind>& input_kinds() {
  static const std::vector<InputKind> shown = [] {
    std::vector<InputKind> list;
    for (const Kind& kind : kinds()) list.push_back(kind.shown);
    return list;
  }();
  return shown;
}

Result<InputArgument> parse_input_argument(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0 || equals + 1 == text.size())
    return fail(ErrorKind::usage, "--input " + std::string(text), "must be KIND=FILE, such as mounts=/proc/mounts");
  InputArgument argument{std::string(text.substr(0, equals)), std::string(text.substr(equals + 1))};
  std::vector<std::string> names;
  for (const InputKind& kind : input_kinds()) names.emplace_back(kind.name);
  if (std::find(names.begin(), names.end(), argument.kind) != names.end()) return argument;
  const auto near = base::nearest(argument.kind, names);
  return fail(ErrorKind::usage, "--input " + std::string(text),
              "unknown kind " + argument.kind +
                  (near ? ": did you mean " + *near + "?" : ": known are " + base::join(names, ", ")));
}

Result<std::unique_ptr<Host>> open_inputs(const std::vector<InputArgument>& inputs) {
  auto host = std::make_unique<InputHost>();
  if (inputs.size() == 1 && inputs.front().file != "-")
    host->title = std::filesystem::path(inputs.front().file).filename().string();
  bool stdin_taken = false;
  for (const InputArgument& input : inputs) {
    if (auto known = parse_input_argument(input.kind + "=" + input.file); !known) return tl::unexpected(known.error());
    const auto kind =
        std::find_if(kinds().begin(), kinds().end(), [&](const Kind& k) { return k.shown.name == input.kind; });
    if (input.file == "-" && std::exchange(stdin_taken, true))
      return fail(ErrorKind::usage, "--input " + input.kind + "=-", "standard input can be given only once");
    const std::string name = input.file == "-" ? "standard input" : input.file;
    if (kind->pasted) {
      auto text = read_file(input.file);
      if (!text) return tl::unexpected(text.error());
      host->pasted.push_back({input.kind, {name, std::move(*text)}});
      continue;
    }
    if (kind->path == nullptr && kind->command == nullptr) {
      if (input.file != "-" && ::access(input.file.c_str(), R_OK) != 0)
        return tl::unexpected(error_of(errno, input.file));
      host->not_looked_at.push_back({name, input.kind});
      continue;
    }
    auto text = read_input(input.kind, input.file);
    if (!text) return tl::unexpected(text.error());
    auto& texts = kind->path != nullptr ? host->paths : host->outputs;
    const char* place = kind->path != nullptr ? kind->path : kind->command;
    if (!texts.try_emplace(place, InputHost::Text{name, std::move(*text)}).second)
      return fail(ErrorKind::usage, "--input " + input.kind + "=" + input.file,
                  "the kind " + input.kind + " can be given only once");
  }
  return host;
}

}  // namespace probes
