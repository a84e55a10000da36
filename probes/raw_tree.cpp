#include "probes/raw_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <variant>

#include "audit/base/json.h"
#include "audit/base/text.h"
#include "probes/host/scrub.h"
#include "probes/host/scrub_file.h"
#include "probes/host/sysfs_text.h"
#include "probes/host/sysfs_walk.h"
#include "probes/io/root_dir.h"

namespace probes {

using base::ErrorKind;
using base::fail;
using base::Result;

namespace {

// What one sample read, in the order in which it was asked for first.
struct Sample {
  std::map<std::string, Result<std::string>, std::less<>> files;  // scrubbed
  std::map<std::string, Result<std::string>, std::less<>> commands;
  std::map<std::string, Result<std::string>, std::less<>> answers;
  std::map<std::string, Result<std::vector<std::string>>, std::less<>> lists;
  std::map<std::string, Result<std::string>, std::less<>> links;
  Clock clock;
};

}  // namespace

struct RecordingHost::Record {
  Sample now;
  std::unique_ptr<Sample> earlier;
};

RecordingHost::RecordingHost(const Host& host) : host_(host), record_(std::make_unique<Record>()) {}
RecordingHost::~RecordingHost() = default;

Result<std::string> RecordingHost::read(std::string_view path) const {
  auto text = host_.read(path);
  if (text)
    record_->now.files.insert_or_assign(std::string(path), scrub_file(path, *text));
  else
    record_->now.files.insert_or_assign(std::string(path), text);
  return text;
}

Result<std::vector<std::string>> RecordingHost::list(std::string_view path) const {
  auto names = host_.list(path);
  record_->now.lists.insert_or_assign(std::string(path), names);
  return names;
}

Result<std::string> RecordingHost::link(std::string_view path) const {
  auto target = host_.link(path);
  record_->now.links.insert_or_assign(std::string(path), target);
  return target;
}

Result<std::string> RecordingHost::command(std::string_view name) const {
  auto text = host_.command(name);
  if (text)
    record_->now.commands.insert_or_assign(std::string(name), scrub_command(name, *text));
  else
    record_->now.commands.insert_or_assign(std::string(name), text);
  return text;
}

Result<std::string> RecordingHost::answer(std::string_view question) const {
  auto text = host_.answer(question);
  if (text && question == storage_question)
    record_->now.answers.insert_or_assign(std::string(question), scrub_sysfs_text(*text));
  else
    record_->now.answers.insert_or_assign(std::string(question), text);
  return text;
}

bool RecordingHost::live() const { return host_.live(); }
std::string RecordingHost::root() const { return host_.root(); }
std::string RecordingHost::name_of(std::string_view path) const { return host_.name_of(path); }
std::vector<GivenText> RecordingHost::given(std::string_view kind) const { return host_.given(kind); }
std::vector<facts::Source> RecordingHost::own_rows() const { return host_.own_rows(); }
facts::Fact<std::string> RecordingHost::node_name() const { return host_.node_name(); }

Clock RecordingHost::clock() const {
  Clock clock = host_.clock();
  record_->now.clock = clock;
  return clock;
}

// A copy of a copy: the earlier sample of the copy is recorded as such.
std::unique_ptr<Host> RecordingHost::earlier() const {
  class Earlier : public Host {
   public:
    Earlier(std::unique_ptr<Host> host, Record& record) : host_(std::move(host)), recording_(*host_), record_(record) {}
    Earlier(const Earlier&) = delete;
    Earlier& operator=(const Earlier&) = delete;
    ~Earlier() override { record_.earlier = std::make_unique<Sample>(std::move(recording_.record_->now)); }
    Result<std::string> read(std::string_view path) const override { return recording_.read(path); }
    Result<std::vector<std::string>> list(std::string_view path) const override { return recording_.list(path); }
    Result<std::string> link(std::string_view path) const override { return recording_.link(path); }
    Result<std::string> command(std::string_view name) const override { return recording_.command(name); }
    Result<std::string> answer(std::string_view question) const override { return recording_.answer(question); }
    bool live() const override { return false; }
    std::string root() const override { return recording_.root(); }
    Clock clock() const override { return recording_.clock(); }

   private:
    std::unique_ptr<Host> host_;
    RecordingHost recording_;
    Record& record_;
  };
  auto inner = host_.earlier();
  if (!inner) return nullptr;
  return std::make_unique<Earlier>(std::move(inner), *record_);
}

void RecordingHost::begin_second_sample() {
  // The tables and counters belong to a sample; everything else is read once and stays with the later one.
  auto first = std::make_unique<Sample>();
  Sample& now = record_->now;
  for (auto file = now.files.begin(); file != now.files.end();) {
    const std::string& path = file->first;
    static constexpr std::array tables{"/mountinfo", "/mountstats", "/mounts", "/net/tcp", "/net/tcp6", "/net/dev"};
    const bool sampled = path.starts_with("/proc/") &&
                         std::any_of(tables.begin(), tables.end(), [&](const char* t) { return path.ends_with(t); });
    if (sampled)
      first->files.insert(now.files.extract(file++));
    else
      ++file;
  }
  for (auto answer = now.answers.begin(); answer != now.answers.end();) {
    if (answer->first.starts_with("tcp-sockets "))
      first->answers.insert(now.answers.extract(answer++));
    else
      ++answer;
  }
  first->clock = now.clock;
  record_->earlier = std::move(first);
}

void RecordingHost::forget_second_sample() {
  if (!record_->earlier) return;
  Sample& now = record_->now;
  for (auto& [path, text] : record_->earlier->files) now.files.insert_or_assign(path, std::move(text));
  for (auto& [question, text] : record_->earlier->answers) now.answers.insert_or_assign(question, std::move(text));
  now.clock = record_->earlier->clock;
  record_->earlier.reset();
}

namespace {

Result<void> make_directories(const std::string& path) {
  for (std::size_t end = path.find('/', 1); end != std::string::npos; end = path.find('/', end + 1))
    if (::mkdir(path.substr(0, end).c_str(), 0700) != 0 && errno != EEXIST)
      return tl::unexpected(error_of(errno, path.substr(0, end)));
  return {};
}

Result<void> write_file(const std::string& path, std::string_view text) {
  if (auto made = make_directories(path); !made) return made;
  const Fd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!fd) return tl::unexpected(error_of(errno, path));
  while (!text.empty()) {
    const ssize_t wrote = ::write(fd.get(), text.data(), text.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return tl::unexpected(error_of(errno, path));
    text.remove_prefix(static_cast<std::size_t>(wrote));
  }
  return {};
}

// The directory itself: made if need be, and empty.
Result<void> take_directory(const std::string& directory) {
  if (auto made = make_directories(directory + "/"); !made) return made;
  const std::unique_ptr<DIR, int (*)(DIR*)> opened(::opendir(directory.c_str()), &::closedir);
  if (!opened) return tl::unexpected(error_of(errno, directory));
  while (const dirent* entry = ::readdir(opened.get())) {
    const std::string_view name = static_cast<const char*>(entry->d_name);
    if (name != "." && name != "..") return fail(ErrorKind::usage, directory, "is not empty: nothing written");
  }
  if (::chmod(directory.c_str(), 0700) != 0) return tl::unexpected(error_of(errno, directory));
  return {};
}

// The same sample with stand-ins: in texts, and in the paths and names under which they stand.
Sample redacted(const Sample& sample, Redactor& redactor) {
  Sample out;
  out.clock = sample.clock;
  const auto message = [&](const base::Error& error) {
    return base::Error{error.kind, redactor.path(error.where), redactor.text(error.message)};
  };
  for (const auto& [path, text] : sample.files) {
    out.files.insert_or_assign(redactor.path(path), text ? Result<std::string>(redactor.file(path, *text))
                                                         : Result<std::string>(tl::unexpected(message(text.error()))));
  }
  for (const auto& [name, text] : sample.commands)
    out.commands.insert_or_assign(name, text ? Result<std::string>(redactor.text(*text))
                                             : Result<std::string>(tl::unexpected(message(text.error()))));
  for (const auto& [question, text] : sample.answers)
    out.answers.insert_or_assign(redactor.text(question),
                                 text ? Result<std::string>(redactor.answer(question, *text))
                                      : Result<std::string>(tl::unexpected(message(text.error()))));
  for (const auto& [path, names] : sample.lists) {
    if (!names) {
      out.lists.insert_or_assign(redactor.path(path), tl::unexpected(message(names.error())));
      continue;
    }
    std::vector<std::string> kept;
    for (const auto& name : *names) {
      const std::string whole = redactor.path((path.ends_with('/') ? path : path + '/') + name);
      kept.push_back(whole.substr(whole.rfind('/') + 1));
    }
    std::sort(kept.begin(), kept.end());
    out.lists.insert_or_assign(redactor.path(path), std::move(kept));
  }
  for (const auto& [path, target] : sample.links)
    out.links.insert_or_assign(redactor.path(path), target
                                                        ? Result<std::string>(redactor.path(*target))
                                                        : Result<std::string>(tl::unexpected(message(target.error()))));
  return out;
}

template <class T>
void source_rows(base::JsonWriter& out, const char* key, const std::map<std::string, Result<T>, std::less<>>& entries) {
  for (const auto& [name, result] : entries) {
    out.begin_object();
    out.key(key);
    out.text(name);
    out.key("status");
    out.text(result ? "ok" : base::status_word(result.error().kind));
    if (!result) {
      out.key("detail");
      out.text(result.error().message);
    }
    out.end_object();
  }
}

std::string manifest(const Sample& sample, const std::string& node_name) {
  base::JsonWriter out;
  const auto text = [&](const char* key, const std::string& value) {
    out.key(key);
    out.text(value);
  };
  out.begin_object();
  text("schema", "mountaudit.manifest/1");
  text("node", node_name);
  if (sample.clock.wall.has_value()) text("wall", *sample.clock.wall);
  if (sample.clock.boottime_ns.has_value()) {
    out.key("boottime_ns");
    out.number(*sample.clock.boottime_ns);
  }
  if (const auto release = sample.files.find("/proc/sys/kernel/osrelease");
      release != sample.files.end() && release->second)
    text("uname", "Linux " + node_name + " " + std::string(base::trim(*release->second)));
  out.key("sources");
  out.begin_array();
  source_rows(out, "path", sample.files);
  source_rows(out, "path", sample.lists);
  source_rows(out, "path", sample.links);
  source_rows(out, "command", sample.commands);
  source_rows(out, "question", sample.answers);
  out.end_array();
  out.key("lists");
  out.begin_object();
  for (const auto& [path, names] : sample.lists) {
    if (!names) continue;
    out.key(path);
    out.begin_array();
    for (const std::string& name : *names) out.text(name);
    out.end_array();
  }
  out.end_object();
  out.key("links");
  out.begin_object();
  for (const auto& [path, target] : sample.links)
    if (target) text(path.c_str(), *target);
  out.end_object();
  out.end_object();
  return out.take() + "\n";
}

Result<void> write_sample(const std::string& directory, const Sample& sample, const std::string& node_name) {
  for (const auto& [path, text] : sample.files)
    if (text)
      if (auto wrote = write_file(directory + path, *text); !wrote) return wrote;
  for (const auto& [name, text] : sample.commands)
    if (text)
      if (auto wrote = write_file(directory + "/mountaudit/cmd/" + name + ".txt", *text); !wrote) return wrote;
  for (const auto& [question, text] : sample.answers)
    if (text)
      if (auto wrote = write_file(directory + answer_path(question), *text); !wrote) return wrote;
  return write_file(directory + "/mountaudit/manifest.json", manifest(sample, node_name));
}

}  // namespace

Result<void> RecordingHost::write(const std::string& directory, const std::string& node_name,
                                  Redactor* redactor) const {
  if (auto taken = take_directory(directory); !taken) return taken;
  const auto one = [&](const std::string& place, const Sample& sample) {
    return redactor == nullptr ? write_sample(place, sample, node_name)
                               : write_sample(place, redacted(sample, *redactor), node_name);
  };
  if (record_->earlier)
    if (auto wrote = one(directory + "/mountaudit/earlier", *record_->earlier); !wrote) return wrote;
  return one(directory, record_->now);
}

}  // namespace probes
