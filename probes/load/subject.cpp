#include "probes/load/subject.h"

#include <fmt/format.h>

#include <algorithm>

#include "audit/base/text.h"
#include "probes/load/device.h"
#include "probes/load/iscsi_engine.h"
#include "probes/load/janitor.h"
#include "probes/load/kernel_child.h"
#include "probes/load/nfs_engine.h"
#include "probes/load/nfs_place.h"

namespace load {
namespace {

using base::ErrorKind;
using facts::NfsServer;

base::Error error_of(const Target& target, const wire::Failure& failure) {
  using wire::Reason;
  ErrorKind kind = ErrorKind::io;
  if (failure.reason == Reason::refused) kind = ErrorKind::refused;
  if (failure.reason == Reason::silent || failure.reason == Reason::connect_timeout) kind = ErrorKind::timeout;
  const std::string words = failure.detail.empty() ? wire::reason_name(failure.reason) : failure.detail;
  return {kind, base::escape_control(target.text), words};
}

void fail_pass(Record& record, const std::string& why) {
  record.end = End::failed;
  record.set_why(why.c_str());
}

// ---- NFS

io::Duration question_time(const OpenOptions& options) {
  return std::chrono::duration_cast<io::Duration>(std::chrono::duration<double>(std::min(options.timeout_s, 5.0)));
}

struct FoundServer {
  wire::Address address;
  NfsServer server;
};

base::Result<FoundServer> find_server(const Target& target, const OpenOptions& options) {
  wire::NfsTarget asked = target.nfs;
  asked.exports.clear();
  wire::AskOptions ask;
  ask.timeout = question_time(options);
  ask.null_calls = 0;
  ask.path_mtu = false;
  ask.tls = false;
  ask.addresses_per_name = 1;
  ask.stop = options.stop;
  auto answers = wire::ask_nfs({asked}, ask);
  if (answers.empty()) return base::fail(ErrorKind::absent, target.text, "no such server");
  NfsServer& server = answers.front().server;
  std::string why = "it does not answer";
  for (const auto& service : server.services)
    if (service.program == "nfs" && service.detail.has_value()) why = *service.detail;
  if (!server.addr.has_value() || !server.versions.has_value() || server.versions->empty())
    return base::fail(ErrorKind::timeout, base::escape_control(target.text), why);
  const auto address = wire::parse_address(*server.addr, static_cast<std::uint16_t>(server.port));
  if (!address) return tl::unexpected(address.error());
  return FoundServer{*address, std::move(server)};
}

// The highest with a session, as the kernel mounts; else version 3, which needs no state; 4.0 last.
base::Result<std::string> choose_version(const Target& target, const NfsServer& server, const std::string& wanted) {
  const auto answers = [&](const std::string& version) {
    return std::find(server.versions->begin(), server.versions->end(), version) != server.versions->end();
  };
  if (!wanted.empty()) {
    if (answers(wanted)) return wanted;
    return base::fail(ErrorKind::refused, base::escape_control(target.text),
                      fmt::format("it does not answer NFSv{}, but {}", wanted, base::join(*server.versions, ", ")));
  }
  for (const char* version : {"4.2", "4.1", "3", "4.0"})
    if (answers(version)) return std::string(version);
  return base::fail(ErrorKind::refused, target.text, "it answers no NFS version from 3 to 4.2");
}

NfsWhere where_of(const FoundServer& found, const std::string& version, const std::string& path) {
  NfsWhere where{found.address, {}, version, path};
  for (const auto& service : found.server.services)
    if (service.program == "mountd" && service.port.has_value())
      where.mountd_port = static_cast<std::uint16_t>(*service.port);
  return where;
}

// By a conversation of its own, whatever has become of the one that made it.
wire::Outcome<void> remove_own(const NfsWhere& directory, const std::string& name) {
  NfsPlace::Options options;
  options.slots = 4;
  auto place = NfsPlace::open(directory, options);
  if (!place) return tl::unexpected(place.error());
  return (*place)->remove(name);
}

class NfsSubject : public Subject {
 public:
  NfsSubject(NfsWhere where, double timeout_s) : where_(std::move(where)), timeout_s_(timeout_s) {}
  ~NfsSubject() override { finish(); }

  wire::Outcome<void> open(const OpenOptions& options, bool with_place, bool own_file) {
    if (with_place) {
      NfsPlace::Options place;
      place.timeout = question_time(options);
      place.slots = options.slots;
      place.stop = options.stop;
      auto opened = NfsPlace::open(where_, place);
      if (!opened) return tl::unexpected(opened.error());
      place_ = std::move(*opened);
    }
    const std::uint32_t version = where_.version == "3" ? 3 : 4;
    engine_ = std::make_unique<NfsEngine>(place_.get(), where_.address, version, timeout_s_);
    if (!own_file) return {};
    if (!place_->directory())
      return wire::fail(wire::Reason::not_asked,
                        "it is a file that was there before: give a directory, where a file of our own is made");
    return make_own(options);
  }

  std::string engine() const override { return "nfs" + where_.version; }
  std::uint64_t size() const override {
    if (own_bytes_ != 0) return own_bytes_;
    return place_ && !place_->directory() ? place_->size() : 0;
  }
  void run(const Step& step, std::uint64_t range, const PassOptions& options, Record& record) override {
    const auto ready = engine_->prepare(step);
    if (!ready) return fail_pass(record, wire::to_text(ready.error()));
    if (engine_->limit() < step.depth) limit_ = engine_->limit();
    run_pass(*engine_, step, {range}, options, record);
  }
  std::string error_text(std::uint32_t error) const override { return engine_->error_text(error); }
  std::optional<double> rtt_us() const override { return engine_->rtt_us(); }
  unsigned limit() const override { return limit_; }

  std::vector<std::string> finish() override {
    std::vector<std::string> left;
    if (!own_name_.empty()) {
      auto gone = place_->remove(own_name_);
      if (!gone) gone = remove_own(where_, own_name_);
      if (gone && janitor_) janitor_->dismiss();
      if (!gone) left.push_back(fmt::format("{}/{} ({})", where_.path, own_name_, wire::to_text(gone.error())));
      own_name_.clear();
    }
    engine_.reset();
    place_.reset();
    return left;
  }

 private:
  wire::Outcome<void> make_own(const OpenOptions& options) {
    own_name_ = own_file_name();
    janitor_ = std::make_unique<Janitor>([where = where_, name = own_name_] { remove_own(where, name); });
    if (auto made = place_->create(own_name_); !made) {
      // Nothing was made where the server said no; where its answer is lost nobody knows.
      if (made.error().reason == wire::Reason::status) own_name_.clear();
      return made;
    }
    constexpr std::uint32_t fill_bytes = 65536;
    const Step step{{Op::write, false, 0}, fill_bytes, 16, 1, 0};
    if (auto ready = engine_->prepare(step); !ready) return ready;
    if (auto filled = fill(*engine_, step, options.make_bytes, options.timeout_s, options.stop); !filled) return filled;
    own_bytes_ = options.make_bytes;
    return {};
  }

  NfsWhere where_;
  double timeout_s_;
  std::unique_ptr<NfsPlace> place_;
  std::unique_ptr<NfsEngine> engine_;
  std::unique_ptr<Janitor> janitor_;
  std::string own_name_;
  std::uint64_t own_bytes_ = 0;
  unsigned limit_ = 0;
};

base::Result<std::unique_ptr<Subject>> open_nfs(const Target& target, const OpenOptions& options) {
  const auto found = find_server(target, options);
  if (!found) return tl::unexpected(found.error());
  const auto version = choose_version(target, found->server, options.nfs_version);
  if (!version) return tl::unexpected(version.error());
  auto subject = std::make_unique<NfsSubject>(where_of(*found, *version, target.path), options.timeout_s);
  const bool own_file = options.data && may_write(target, options.consent);
  if (auto opened = subject->open(options, !target.path.empty(), own_file); !opened) {
    const auto left = subject->finish();
    auto error = error_of(target, opened.error());
    if (!left.empty()) error.message += "; LEFT BEHIND: " + left.front();
    return tl::unexpected(std::move(error));
  }
  return subject;
}

// ---- iSCSI

class IscsiSubject : public Subject {
 public:
  IscsiSubject(IscsiWhere where, const OpenOptions& options)
      : engine_(std::move(where), options.timeout_s, options.stop) {}

  wire::Outcome<void> open(bool writes) {
    if (auto opened = engine_.open(); !opened) return opened;
    if (!writes) return {};
    constexpr std::uint32_t looked_at = std::uint32_t{1} << 20;
    const auto size = static_cast<std::uint32_t>(std::min<std::uint64_t>(engine_.size(), looked_at));
    const auto start = engine_.read(0, size);
    if (!start) return tl::unexpected(start.error());
    const auto end = engine_.read(engine_.size() - size, size);
    if (!end) return tl::unexpected(end.error());
    if (const auto holds = holds_something(*start, *end))
      return wire::fail(wire::Reason::not_asked, "not written to: " + *holds);
    return {};
  }

  std::string engine() const override { return "iscsi"; }
  std::uint64_t size() const override { return engine_.size(); }
  void run(const Step& step, std::uint64_t range, const PassOptions& options, Record& record) override {
    const auto ready = engine_.prepare(step);
    if (!ready) return fail_pass(record, wire::to_text(ready.error()));
    run_pass(engine_, step, {range}, options, record);
    if (record.most_in_flight < step.depth && step.rate == 0) limit_ = record.most_in_flight;
  }
  std::string error_text(std::uint32_t error) const override { return engine_.error_text(error); }
  std::optional<double> rtt_us() const override { return engine_.rtt_us(); }
  unsigned limit() const override { return limit_; }
  std::vector<std::string> finish() override {
    engine_.close();
    return {};
  }

 private:
  IscsiEngine engine_;
  unsigned limit_ = 0;
};

base::Result<std::unique_ptr<Subject>> open_iscsi(const Target& target, const OpenOptions& options) {
  const auto addresses =
      wire::resolve(target.host, target.port, io::Clock::now() + question_time(options), options.stop);
  if (!addresses) return tl::unexpected(addresses.error());
  auto chap = options.chap;
  if (chap) chap->user = target.user.empty() ? chap->user : target.user;
  if (target.user.empty()) chap.reset();
  IscsiWhere where{addresses->front(), target.iqn, target.lun, options.initiator, chap};
  auto subject = std::make_unique<IscsiSubject>(std::move(where), options);
  if (auto opened = subject->open(options.writes); !opened) return tl::unexpected(error_of(target, opened.error()));
  return subject;
}

// ---- this node

class LocalSubject : public Subject {
 public:
  explicit LocalSubject(std::unique_ptr<KernelChild> child) : child_(std::move(child)) {}

  std::string engine() const override { return child_->engine_name(); }
  std::uint64_t size() const override { return child_->size(); }
  bool direct() const override { return child_->direct(); }
  void run(const Step& step, std::uint64_t range, const PassOptions& options, Record& record) override {
    child_->run(step, range, options, record);
  }
  std::string error_text(std::uint32_t error) const override { return child_->error_text(error); }
  std::vector<std::string> finish() override {
    child_->end();
    if (!child_->left_behind()) return {};
    return {"a child process that hangs in the kernel"};
  }

 private:
  std::unique_ptr<KernelChild> child_;
};

base::Result<std::unique_ptr<Subject>> open_local(const Target& target, const OpenOptions& options) {
  LocalOptions local;
  local.path = target.path;
  local.write = may_write(target, options.consent);
  local.make_bytes = options.make_bytes;
  local.timeout_s = options.timeout_s;
  local.stop = options.stop;
  auto child = KernelChild::start(local);
  if (!child) return tl::unexpected(error_of(target, child.error()));
  return std::make_unique<LocalSubject>(std::move(*child));
}

}  // namespace

base::Result<std::unique_ptr<Subject>> open_subject(const Target& target, const OpenOptions& options) {
  switch (target.kind) {
    case TargetKind::nfs: return open_nfs(target, options);
    case TargetKind::iscsi: return open_iscsi(target, options);
    case TargetKind::local: return open_local(target, options);
  }
  return base::fail(ErrorKind::usage, "", "no such kind of target");
}

}  // namespace load
