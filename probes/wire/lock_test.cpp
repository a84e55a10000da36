#include "probes/wire/lock_test.h"

#include <fmt/format.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "audit/base/text.h"
#include "probes/wire/connection.h"
#include "probes/wire/mount3.h"
#include "probes/wire/nfs3.h"
#include "probes/wire/nfs4.h"
#include "probes/wire/nlm.h"

namespace wire {
namespace {

using facts::NfsLockTest;

std::string random_name() {
  std::uint64_t value = 0;
  if (::getrandom(&value, sizeof value, GRND_NONBLOCK) != static_cast<ssize_t>(sizeof value))
    value = static_cast<std::uint64_t>(io::Clock::now().time_since_epoch().count()) ^
            static_cast<std::uint64_t>(::getpid()) << 40;
  return fmt::format("mountaudit-lock-test-{:016x}", value);
}

std::vector<std::string> components(const std::string& path) {
  std::vector<std::string> parts;
  for (const auto part : base::split(path, '/'))
    if (!part.empty() && part != ".") parts.emplace_back(part);
  return parts;
}

double ms(io::Duration duration) { return std::chrono::duration<double, std::milli>(duration).count(); }

const facts::NfsService* service_of(const facts::NfsServer& server, std::string_view program) {
  for (const auto& service : server.services)
    if (service.program == program) return &service;
  return nullptr;
}

// A step that did not go well: what was to be done, and how it ended.
struct Stop {
  std::string step;
  std::string result;
  std::string detail;
};
template <class T>
using Step = tl::expected<T, Stop>;

tl::unexpected<Stop> stopped(std::string step, const Failure& failure) {
  const bool by_protocol = failure.reason == Reason::status;
  return tl::unexpected(Stop{std::move(step), by_protocol ? failure.detail : reason_name(failure.reason),
                             by_protocol ? "" : failure.detail});
}

// One question after the other; each has its deadline.
class Talk {
 public:
  Talk(const facts::NfsServer& server, const LockTestOptions& options) : options_(options) {
    const auto left = std::max(io::Duration::zero(), options.end - io::Clock::now());
    steps_end_ = options.end - left / 3;  // the rest is for the clean-up
    const auto address = parse_address(server.addr.value_or(server.name), static_cast<std::uint16_t>(server.port));
    if (address) address_ = *address;
  }

  bool has_address() const { return address_.has_value(); }

  std::shared_ptr<Connection> connect(std::uint32_t port) {
    Connection::Options options;
    options.reserved_port = true;
    options.connect_deadline = deadline();
    return Connection::open(loop_, address_->with_port(static_cast<std::uint16_t>(port)), options);
  }

  // A connection that broke is made anew, once for each question: the clean-up must not fail for an old one.
  Outcome<Answer> ask(std::shared_ptr<Connection>& connection, Call call) {
    if (!cleaning_ && options_.stop != nullptr && options_.stop->load())
      return fail(Reason::not_asked, "ended by a signal");
    if (io::Clock::now() >= deadline()) return fail(Reason::not_asked, "no time was left");
    if (connection->broken() && cleaning_) connection = connect(connection->peer().port());
    call.sys.uid = ::geteuid();
    call.sys.gid = ::getegid();
    std::optional<Outcome<Answer>> got;
    connection->call(call, deadline(), [&](Outcome<Answer> answer) {
      got = std::move(answer);
      loop_.leave();
    });
    while (!got) loop_.run(deadline() + std::chrono::milliseconds(100));
    return std::move(*got);
  }

  void begin_clean_up() { cleaning_ = true; }

 private:
  io::Time deadline() const {
    return std::min(io::Clock::now() + options_.timeout, cleaning_ ? options_.end : steps_end_);
  }

  const LockTestOptions& options_;
  io::Loop loop_;
  io::Time steps_end_;
  std::optional<Address> address_;
  bool cleaning_ = false;
};

template <class T>
Outcome<T> decoded(const Outcome<Answer>& answer, Outcome<T> (*decode)(View)) {
  if (!answer) return tl::unexpected(answer.error());
  return decode(answer->accepted.results);
}

std::string advice(const std::string& result) {
  if (result == "NFS3ERR_ACCES" || result == "NFS4ERR_ACCESS" || result == "NFS3ERR_PERM" || result == "NFS4ERR_PERM")
    return fmt::format("uid {} may not write there{}", ::geteuid(),
                       ::geteuid() == 0 ? "; servers take root for nobody unless told otherwise (root_squash)" : "");
  if (result == "NFS4ERR_GRACE" || result == "NLM4_DENIED_GRACE_PERIOD" || result == "NFS3ERR_JUKEBOX")
    return "the server is in its grace period: test again when it is over";
  if (result == "NFS3ERR_ROFS" || result == "NFS4ERR_ROFS") return "exported read-only";
  return "";
}

void note(NfsLockTest& test, const Stop& stop) {
  test.result = stop.result;
  test.step = stop.step;
  std::string detail = stop.detail.empty() ? advice(stop.result) : stop.detail;
  test.detail = detail.empty() ? facts::Fact<std::string>::absent() : facts::Fact<std::string>(std::move(detail));
}

// ---- NFSv3: MOUNT, NFS and the lock manager, each on a connection of its own

class Test3 {
 public:
  Test3(Talk& talk, const facts::NfsServer& server, std::string export_path, std::string directory)
      : talk_(talk),
        server_(server),
        export_(std::move(export_path)),
        directory_(std::move(directory)),
        name_(random_name()) {}

  NfsLockTest run() {
    NfsLockTest test;
    test.version = "3";
    test.directory = directory_;
    test.left = facts::Fact<std::string>::absent();
    const auto done = steps(test);
    talk_.begin_clean_up();
    clean_up(test);
    if (done) {
      test.result = "ok";
      test.step = facts::Fact<std::string>::absent();
      test.detail = facts::Fact<std::string>::absent();
    } else {
      note(test, done.error());
    }
    return test;
  }

 private:
  Step<bool> steps(NfsLockTest& test) {
    const auto* mountd = service_of(server_, "mountd");
    const auto* nlm = service_of(server_, "nlm");
    for (const auto& [service, step] : {std::pair{mountd, "MNT"}, std::pair{nlm, "LOCK"}}) {
      if (service != nullptr && service->reachable.is(true) && service->port.has_value()) continue;
      Stop stop{step, std::string(reason_name(Reason::not_asked)), ""};
      if (service != nullptr) {
        stop.result = service->result.value_or(stop.result);
        stop.detail = fmt::format("{}: {}", service->program, service->detail.value_or("it does not answer"));
      }
      return tl::unexpected(stop);
    }
    mountd_ = talk_.connect(*mountd->port);
    const auto mounted = decoded(talk_.ask(mountd_, mount3::mnt(export_)), mount3::decode_mnt);
    if (!mounted) {
      if (mounted.error().reason == Reason::status)
        return tl::unexpected(Stop{"MNT", mount3::status_name(mounted.error().code), ""});
      return stopped("MNT", mounted.error());
    }
    mounted_ = true;
    nfs_ = talk_.connect(server_.port);
    directory_handle_ = mounted->handle;
    for (const auto& part : components(directory_.substr(export_ == "/" ? 0 : export_.size()))) {
      const auto found = decoded(talk_.ask(nfs_, nfs3::lookup(directory_handle_, part)), nfs3::decode_lookup);
      if (!found) return stopped("LOOKUP", found.error());
      directory_handle_ = *found;
    }
    created_ = true;  // before it is known: an answer that is lost leaves a file all the same
    const auto answer = talk_.ask(nfs_, nfs3::create_new(directory_handle_, name_));
    const auto made = decoded(answer, nfs3::decode_create);
    if (!made) {
      if (made.error().reason == Reason::status || made.error().reason == Reason::not_asked) created_ = false;
      return stopped("CREATE", made.error());
    }
    handle_ = *made;
    if (handle_.empty()) {
      const auto found = decoded(talk_.ask(nfs_, nfs3::lookup(directory_handle_, name_)), nfs3::decode_lookup);
      if (!found) return stopped("LOOKUP", found.error());
      handle_ = *found;
    }
    nlm_ = talk_.connect(*nlm->port);
    return lock(test);
  }

  Step<bool> lock(NfsLockTest& test) {
    locked_ = true;
    const auto answer = talk_.ask(nlm_, nlm::lock4(handle_, name_, name_, true));
    const auto stat = decoded(answer, nlm::decode_result4);
    if (!stat) return stopped("LOCK", stat.error());
    if (*stat != nlm::Stat::granted) {
      locked_ = false;
      Stop stop{"LOCK", nlm::stat_name(*stat), ""};
      if (*stat == nlm::Stat::denied_nolocks) stop.detail = why_no_locks(test);
      return tl::unexpected(stop);
    }
    test.lock_ms = ms(answer->took);
    test.monitored = true;
    const auto freed = talk_.ask(nlm_, nlm::unlock4(handle_, name_, name_));
    const auto free_stat = decoded(freed, nlm::decode_result4);
    if (!free_stat) return stopped("UNLOCK", free_stat.error());
    if (*free_stat != nlm::Stat::granted) return tl::unexpected(Stop{"UNLOCK", nlm::stat_name(*free_stat), ""});
    locked_ = false;
    test.unlock_ms = ms(freed->took);
    return true;
  }

  // The usual cause: a lock of the kind that needs no status monitor is granted.
  std::string why_no_locks(NfsLockTest& test) {
    locked_ = true;
    const auto stat = decoded(talk_.ask(nlm_, nlm::lock4(handle_, name_, name_, false)), nlm::decode_result4);
    if (!stat || *stat != nlm::Stat::granted) {
      locked_ = !stat;
      return "the lock manager refuses every lock";
    }
    test.monitored = false;
    return "granted without the status monitor (NLM_NM_LOCK), so rpc.statd of the server does not work";
  }

  void clean_up(NfsLockTest& test) {
    if (locked_) talk_.ask(nlm_, nlm::unlock4(handle_, name_, name_));
    if (created_) {
      const auto gone = decoded(talk_.ask(nfs_, nfs3::remove(directory_handle_, name_)), nfs3::decode_remove);
      const bool was_not_there = !gone && gone.error().reason == Reason::status && gone.error().code == 2;
      if (!gone && !was_not_there) test.left = directory_ + (directory_ == "/" ? "" : "/") + name_;
    }
    if (mounted_) talk_.ask(mountd_, mount3::umnt(export_));
  }

  Talk& talk_;
  const facts::NfsServer& server_;
  std::string export_;
  std::string directory_;
  std::string name_;
  std::shared_ptr<Connection> mountd_;
  std::shared_ptr<Connection> nfs_;
  std::shared_ptr<Connection> nlm_;
  Bytes directory_handle_;
  Bytes handle_;
  bool mounted_ = false;
  bool created_ = false;
  bool locked_ = false;
};

// ---- NFSv4.1 and 4.2: all in one session

class Test4 {
 public:
  Test4(Talk& talk, const facts::NfsServer& server, std::uint32_t minor, std::string directory)
      : talk_(talk), minor_(minor), port_(server.port), directory_(std::move(directory)), name_(random_name()) {}

  NfsLockTest run() {
    NfsLockTest test;
    test.version = fmt::format("4.{}", minor_);
    test.directory = directory_;
    test.left = facts::Fact<std::string>::absent();
    test.monitored = facts::Fact<bool>::absent();
    nfs_ = talk_.connect(port_);
    const auto done = steps(test);
    talk_.begin_clean_up();
    clean_up(test);
    if (done) {
      test.result = "ok";
      test.step = facts::Fact<std::string>::absent();
      test.detail = facts::Fact<std::string>::absent();
    } else {
      note(test, done.error());
    }
    return test;
  }

 private:
  using Result = nfs4::CompoundResult;

  Outcome<Result> send(const nfs4::Compound& compound) {
    const auto answer = talk_.ask(nfs_, compound.call());
    if (answer) took_ = answer->took;
    return decoded(answer, nfs4::decode_compound);
  }

  // In the session. A slot whose answer is missing is of no more use: the next one is taken.
  template <class Build>
  Outcome<Result> in_session(Build build) {
    if (slot_ >= slots_) return fail(Reason::not_asked, "no slot of the session answers");
    nfs4::Compound compound(minor_);
    compound.sequence(session_, next_, slot_, slots_ - 1);
    build(compound);
    auto result = send(compound);
    if (result && result->value<nfs4::Sequence>(nfs4::Op::sequence) != nullptr) {
      ++next_;
    } else if (!result && result.error().reason != Reason::not_asked) {
      ++slot_;
      next_ = 1;
    }
    return result;
  }

  static Step<bool> checked(const std::string& step, const Outcome<Result>& result) {
    if (!result) return stopped(step, result.error());
    if (result->status != nfs4::status::ok) return tl::unexpected(Stop{step, nfs4::status_name(result->status), ""});
    return true;
  }

  Step<bool> begin_session() {
    nfs4::Compound exchange(minor_);
    exchange.exchange_id(name_, static_cast<std::uint64_t>(io::Clock::now().time_since_epoch().count()));
    const auto known = send(exchange);
    if (auto ok = checked("EXCHANGE_ID", known); !ok) return ok;
    const auto* id = known->value<nfs4::ExchangeId>(nfs4::Op::exchange_id);
    if (id == nullptr) return tl::unexpected(Stop{"EXCHANGE_ID", "bad_value", "the answer has no client id"});
    client_id_ = id->client_id;
    nfs4::Compound create(minor_);
    create.create_session(id->client_id, id->sequence, {65536, 65536, 2048, 16, 4});
    const auto made = send(create);
    if (auto ok = checked("CREATE_SESSION", made); !ok) return ok;
    const auto* session = made->value<nfs4::CreateSession>(nfs4::Op::create_session);
    if (session == nullptr) return tl::unexpected(Stop{"CREATE_SESSION", "bad_value", "the answer has no session"});
    session_ = session->id;
    slots_ = std::clamp(session->fore.slots, 1U, 4U);
    has_session_ = true;
    return checked("RECLAIM_COMPLETE", in_session([](nfs4::Compound& compound) { compound.reclaim_complete(); }));
  }

  void to_directory(nfs4::Compound& compound) const {
    compound.putrootfh();
    for (const auto& part : components(directory_)) compound.lookup(part);
  }

  Step<bool> steps(NfsLockTest& test) {
    if (auto ok = begin_session(); !ok) return ok;
    // Walked apart from the OPEN, so that a directory that is not there is not called a failed OPEN.
    if (auto ok = checked("LOOKUP", in_session([&](nfs4::Compound& compound) { to_directory(compound); })); !ok)
      return ok;
    created_ = true;
    const auto opened = in_session([&](nfs4::Compound& compound) {
      to_directory(compound);
      compound.open_new(*client_id_, name_, name_).getfh();
    });
    const auto* state = opened ? opened->value<nfs4::Opened>(nfs4::Op::open) : nullptr;
    if (state != nullptr) {
      open_ = state->state;
      if (state->delegated) delegation_ = state->delegation;
    } else if (opened) {
      created_ = false;
    }
    if (auto ok = checked("OPEN", opened); !ok) return ok;
    const auto* file = opened->value<nfs4::Handle>(nfs4::Op::getfh);
    if (file == nullptr || !open_) return tl::unexpected(Stop{"OPEN", "bad_value", "the answer has no file handle"});
    handle_ = file->bytes;
    const auto locked =
        in_session([&](nfs4::Compound& compound) { compound.putfh(handle_).lock(*open_, *client_id_, name_); });
    if (const auto* lock = locked ? locked->value<nfs4::State>(nfs4::Op::lock) : nullptr) lock_ = lock->id;
    if (auto ok = checked("LOCK", locked); !ok) return ok;
    if (!lock_) return tl::unexpected(Stop{"LOCK", "bad_value", "the answer has no state id"});
    test.lock_ms = ms(took_);
    const auto freed = unlock();
    if (auto ok = checked("LOCKU", freed); !ok) return ok;
    test.unlock_ms = ms(took_);
    return true;
  }

  Outcome<Result> unlock() {
    auto result = in_session([&](nfs4::Compound& compound) { compound.putfh(handle_).locku(*lock_); });
    if (result && result->status == nfs4::status::ok) lock_.reset();
    return result;
  }

  void clean_up(NfsLockTest& test) {
    if (lock_) unlock();
    if (delegation_) in_session([&](nfs4::Compound& compound) { compound.putfh(handle_).delegreturn(*delegation_); });
    if (open_ && !handle_.empty()) in_session([&](nfs4::Compound& compound) { compound.putfh(handle_).close(*open_); });
    if (created_) {
      const auto gone = in_session([&](nfs4::Compound& compound) {
        to_directory(compound);
        compound.remove(name_);
      });
      if (!gone || (gone->status != nfs4::status::ok && gone->status != nfs4::status::noent))
        test.left = directory_ + (directory_ == "/" ? "" : "/") + name_;
    }
    if (has_session_) send(nfs4::Compound(minor_).destroy_session(session_));
    if (client_id_) send(nfs4::Compound(minor_).destroy_clientid(*client_id_));
  }

  Talk& talk_;
  std::uint32_t minor_;
  std::uint32_t port_;
  std::string directory_;
  std::string name_;
  std::shared_ptr<Connection> nfs_;
  io::Duration took_ = {};
  std::optional<std::uint64_t> client_id_;
  bool has_session_ = false;
  nfs4::SessionId session_ = {};
  std::uint32_t slots_ = 0;
  std::uint32_t slot_ = 0;
  std::uint32_t next_ = 1;
  bool created_ = false;
  Bytes handle_;
  std::optional<nfs4::StateId> open_;
  std::optional<nfs4::StateId> delegation_;
  std::optional<nfs4::StateId> lock_;
};

}  // namespace

base::Result<std::string> lock_test_directory(const std::string& export_path, const std::string& directory) {
  const auto wrong = [&](const std::string& what) {
    return base::fail(base::ErrorKind::usage, "",
                      fmt::format("--allow-write {}: {}", base::escape_control(directory), what));
  };
  const auto parts = components(directory);
  if (std::find(parts.begin(), parts.end(), "..") != parts.end()) return wrong("no way up (..) is taken");
  auto all = components(export_path);
  if (!directory.empty() && directory.front() == '/') {
    const bool below = parts.size() >= all.size() && std::equal(all.begin(), all.end(), parts.begin());
    if (!below) return wrong(fmt::format("is not below the export {}", base::escape_control(export_path)));
    all = parts;
  } else {
    all.insert(all.end(), parts.begin(), parts.end());
  }
  return "/" + base::join(all, "/");
}

std::vector<facts::NfsLockTest> test_locks(const facts::NfsServer& server, const std::string& export_path,
                                           const std::string& directory, const LockTestOptions& options) {
  std::vector<NfsLockTest> tests;
  if (!server.versions.has_value()) return tests;
  const auto answers = [&](const std::string& version) {
    return std::find(server.versions->begin(), server.versions->end(), version) != server.versions->end();
  };
  const std::string top = "/" + base::join(components(export_path), "/");
  if (answers("3")) {
    Talk talk(server, options);
    if (talk.has_address()) tests.push_back(Test3(talk, server, top, directory).run());
  }
  const bool two = answers("4.2");
  if (two || answers("4.1")) {
    Talk talk(server, options);
    if (talk.has_address()) tests.push_back(Test4(talk, server, two ? 2 : 1, directory).run());
  } else if (answers("4.0")) {
    NfsLockTest skipped;
    skipped.version = "4.0";
    skipped.directory = directory;
    note(skipped, {"OPEN", reason_name(Reason::not_asked), "a client id of NFSv4.0 could not be removed again"});
    tests.push_back(std::move(skipped));
  }
  return tests;
}

}  // namespace wire
