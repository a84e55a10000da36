#include "probes/wire/nfs_server.h"

#include <fmt/format.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <map>
#include <optional>

#include "audit/base/text.h"
#include "probes/wire/connection.h"
#include "probes/wire/mount3.h"
#include "probes/wire/nfs3.h"
#include "probes/wire/nfs4.h"
#include "probes/wire/nlm.h"
#include "probes/wire/path_mtu.h"
#include "probes/wire/rpcbind.h"

namespace wire {
namespace {

constexpr std::uint32_t slots_asked = 1024;  // the most that the Linux client can be set to (max_session_slots)
constexpr std::uint32_t slots_used = 8;
constexpr int most_round_trips = 6;           // of the longest chain: no directory deeper is looked at beyond it
constexpr std::size_t directories_tried = 4;  // below an export, when it has no file of its own

double ms(io::Duration duration) { return std::chrono::duration<double, std::milli>(duration).count(); }
double us(io::Duration duration) { return std::chrono::duration<double, std::micro>(duration).count(); }

std::uint64_t random64() {
  std::uint64_t value = 0;
  if (::getrandom(&value, sizeof value, GRND_NONBLOCK) != static_cast<ssize_t>(sizeof value))
    value = static_cast<std::uint64_t>(io::Clock::now().time_since_epoch().count()) ^
            static_cast<std::uint64_t>(::getpid()) << 40;
  return value;
}

std::vector<std::string> components(const std::string& path) {
  std::vector<std::string> parts;
  for (const auto part : base::split(path, '/'))
    if (!part.empty()) parts.emplace_back(part);
  return parts;
}

double nearest_rank(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  const auto rank = static_cast<std::size_t>(std::max(1.0, std::ceil(share * static_cast<double>(values.size()))));
  return values[std::min(rank, values.size()) - 1];
}

template <class T>
void keep_smallest(facts::Fact<T>& fact, T value) {
  if (value != 0 && (!fact.has_value() || value < *fact)) fact = value;
}

// One RPC program of the server, its connection, and what was learned of it.
struct Service {
  std::uint32_t program = 0;
  std::optional<std::uint32_t> port;
  std::string port_how;
  bool known_unregistered = false;
  std::optional<bool> registered;
  std::vector<std::uint32_t> registered_versions;
  std::shared_ptr<Connection> connection;
  std::vector<std::uint32_t> versions;
  std::optional<Failure> failure;  // of the first NULL that failed
  std::optional<io::Duration> null_took;
  std::optional<io::Duration> gave_up_after;

  void add_version(std::uint32_t version) {
    if (std::find(versions.begin(), versions.end(), version) == versions.end()) versions.push_back(version);
  }
};

struct SessionState {
  std::uint32_t minor = 0;
  nfs4::SessionId id = {};
  std::vector<std::uint32_t> next;  // sequence id of the next request on a slot
  std::vector<std::uint32_t> free_slots;
  std::size_t lost = 0;
};

class Ladder final : public NfsServerAsk, public std::enable_shared_from_this<Ladder> {
 public:
  Ladder(io::Loop& loop, const NfsTarget& target, const Address& address, const AskOptions& options, io::Time end,
         std::function<void(NfsAnswer)> then)
      : loop_(loop),
        target_(target),
        address_(address.with_port(target.port)),
        options_(options),
        end_(end),
        then_(std::move(then)),
        owner_(fmt::format("mountaudit-{:016x}", random64())) {}

  void start() {
    began_ = io::Clock::now();
    const auto left = end_ > began_ ? end_ - began_ : io::Duration::zero();
    questions_end_ = end_ - std::min<io::Duration>(left / 4, std::chrono::milliseconds(500));
    out_.name = target_.name;
    out_.addr = address_.host();
    out_.port = target_.port;
    out_.mounted = target_.mounted;
    for (const auto number : {program::rpcbind, program::nfs, program::mountd, program::nlm, program::nsm})
      services_[number].program = number;
    auto self = shared_from_this();
    end_timer_ = loop_.at(end_, [self] { self->finish(); });
    ++pending_;
    ask_nfs_port(target_.port, target_.port_given ? "given" : "default", 1);
    ask_rpcbind();
    if (target_.mountd_port) ask_mountd(*target_.mountd_port, "given", 1);
    if (options_.path_mtu) ask_mtu();
    settle();
  }

  void stop() override {
    if (phase_ != Phase::questions && phase_ != Phase::latency) return;
    questions_end_ = io::Clock::now();
    clean_up();
  }

 private:
  enum class Phase : std::uint8_t { questions, latency, clean_up, done };
  using Then = std::function<void(Outcome<Answer>, int next_depth)>;
  using Then4 = std::function<void(Outcome<nfs4::CompoundResult>, int next_depth)>;
  using Build = std::function<void(nfs4::Compound&)>;
  using Ask4 = std::function<void(Build, int depth, Then4)>;

  // ---- asking

  io::Time question_deadline() const { return std::min(io::Clock::now() + options_.timeout, questions_end_); }

  // As who we are: a user of the node does not claim to be root.
  static Call as_caller(Call call) {
    call.sys.uid = ::geteuid();
    call.sys.gid = ::getegid();
    return call;
  }

  bool over() const { return phase_ == Phase::clean_up || phase_ == Phase::done; }

  std::shared_ptr<Connection> connect(std::uint32_t port, bool reserved) {
    Connection::Options options;
    options.reserved_port = reserved;
    options.connect_deadline = question_deadline();
    return Connection::open(loop_, address_.with_port(static_cast<std::uint16_t>(port)), options);
  }

  // `depth` counts round trips from the first packet on.
  void ask(std::shared_ptr<Connection> connection, int depth, const Call& call, Then then) {
    if (over()) return;
    ++pending_;
    ++calls_;
    auto self = shared_from_this();
    const auto asked = io::Clock::now();
    connection->call(as_caller(call), question_deadline(),
                     [self, connection, depth, asked, then = std::move(then)](Outcome<Answer> answer) {
                       self->last_took_ = answer ? answer->took : io::Clock::now() - asked;
                       if (self->over()) return;
                       self->round_trips_ = std::max(self->round_trips_, depth);
                       then(std::move(answer), depth + 1);
                       self->settle();
                     });
  }

  // The end of something that was pending; the last one ends the ladder.
  void settle() {
    if (--pending_ != 0 || phase_ != Phase::questions) return;
    phase_ = Phase::latency;
    measure_latency();
  }

  void row(const std::string& question, const Failure* failure, std::string detail = {}) {
    const std::string id = "nfs_server." + question;
    const auto found =
        std::find_if(sources_.begin(), sources_.end(), [&](const facts::Source& source) { return source.id == id; });
    facts::Source source;
    source.id = id;
    source.name = address_.with_port(static_cast<std::uint16_t>(out_.port)).text();
    source.status = failure == nullptr ? "ok" : source_status(failure->reason);
    source.detail =
        failure == nullptr ? std::move(detail) : to_text(*failure) + (detail.empty() ? "" : " (" + detail + ")");
    source.duration_us = static_cast<std::uint64_t>(std::max(0.0, us(last_took_)));
    if (found == sources_.end()) {
      sources_.push_back(std::move(source));
    } else if (found->status != "ok" && failure == nullptr) {
      *found = std::move(source);  // one version or export that answers is an answer
    }
  }
  void row(const std::string& question, const Failure& failure, std::string detail = {}) {
    row(question, &failure, std::move(detail));
  }
  void row_ok(const std::string& question, std::string detail = {}) { row(question, nullptr, std::move(detail)); }

  // A NULL call, and what it says of the service.
  void ask_null(std::uint32_t number, std::uint32_t version, int depth, std::function<void(bool, int)> then = {}) {
    auto self = shared_from_this();
    ask(services_[number].connection, depth, {number, version, 0},
        [self, number, version, then](Outcome<Answer> answer, int next) {
          self->note_null(number, version, answer);
          if (then) then(answer.has_value(), next);
        });
  }

  void note_null(std::uint32_t number, std::uint32_t version, const Outcome<Answer>& answer) {
    Service& service = services_[number];
    const std::string question = program_name(number);
    if (answer) {
      service.add_version(version);
      if (!service.null_took) service.null_took = answer->took;
      row_ok(question);
      return;
    }
    if (!service.failure) {
      service.failure = answer.error();
      service.gave_up_after = last_took_;
    }
    const auto reason = answer.error().reason;
    if (number == program::nfs && version == 3 &&
        (reason == Reason::version_mismatch || reason == Reason::program_unavailable))
      no_version3_ = true;
    row(question, answer.error());
  }

  // ---- NFS

  void ask_nfs_port(std::uint32_t port, const std::string& how, int depth) {
    Service& nfs = services_[program::nfs];
    nfs.port = port;
    nfs.port_how = how;
    nfs.failure.reset();
    nfs.gave_up_after.reset();
    nfs.connection = connect(port, true);
    out_.port = port;
    auto self = shared_from_this();
    for (const std::uint32_t version : {3U, 4U})
      ask_null(program::nfs, version, depth, [self](bool answered, int next) {
        if (answered) self->ask_tls(next);
        self->try_listed_nfs_port(next);
      });
    minors_left_ = 4;
    minor_answers_ = {};
    for (std::uint32_t minor = 0; minor < 4; ++minor) ask_minor(minor, depth);
    explore4(stateless(), depth);
  }

  // Nobody on 2049, and rpcbind names another port: that is where it is.
  void try_listed_nfs_port(int depth) {
    const Service& nfs = services_[program::nfs];
    const bool dead = nfs.connection->broken() && nfs.connection->broken()->reason == Reason::refused;
    if (target_.port_given || moved_ || !dead || !listed_nfs_port_ || *listed_nfs_port_ == out_.port) return;
    moved_ = true;
    ask_nfs_port(*listed_nfs_port_, "rpcbind", depth);
  }

  void ask_minor(std::uint32_t minor, int depth) {
    auto self = shared_from_this();
    const auto connection = services_[program::nfs].connection;
    ask(connection, depth, nfs4::Compound(minor).call(), [self, minor, connection](Outcome<Answer> answer, int next) {
      if (connection != self->services_[program::nfs].connection) return;  // of the port that was left
      auto result = answer ? nfs4::decode_compound(answer->accepted.results)
                           : Outcome<nfs4::CompoundResult>(tl::unexpected(answer.error()));
      if (result) {
        self->row_ok("minor_versions");
        self->minor_answers_[minor] = result->status != nfs4::status::minor_vers_mismatch;
      } else {
        self->row("minor_versions", result.error(), fmt::format("4.{}", minor));
        if (result.error().reason == Reason::version_mismatch || result.error().reason == Reason::program_unavailable)
          self->minor_answers_[minor] = false;
      }
      if (--self->minors_left_ == 0) self->minors_known(next);
    });
  }

  void minors_known(int depth) {
    bool all_known = true;
    for (std::uint32_t minor = 0; minor < 4; ++minor) {
      if (!minor_answers_[minor]) all_known = false;
      if (minor_answers_[minor] && *minor_answers_[minor]) out_.nfs4_minor_max = minor;
    }
    if (all_known && !out_.nfs4_minor_max.has_value()) out_.nfs4_minor_max = facts::Fact<std::uint32_t>::absent();
    for (const std::uint32_t minor : {2U, 1U})
      if (minor_answers_[minor] && *minor_answers_[minor]) return ask_exchange_id(minor, depth);
  }

  Ask4 stateless() {
    auto self = shared_from_this();
    return [self](const Build& build, int depth, const Then4& then) {
      nfs4::Compound compound(0);
      build(compound);
      self->ask(self->services_[program::nfs].connection, depth, compound.call(),
                [then](Outcome<Answer> answer, int next) {
                  then(answer ? nfs4::decode_compound(answer->accepted.results)
                              : Outcome<nfs4::CompoundResult>(tl::unexpected(answer.error())),
                       next);
                });
    };
  }

  static void to_path(nfs4::Compound& compound, const std::vector<std::string>& parts) {
    compound.putrootfh();
    for (const auto& part : parts) compound.lookup(part);
  }

  facts::NfsExport& export_facts(const std::string& path) {
    for (auto& item : out_.exports)
      if (item.path == path) return item;
    out_.exports.emplace_back().path = path;
    return out_.exports.back();
  }

  std::vector<std::string> asked_exports() const {
    auto paths = target_.exports;
    if (paths.size() > options_.exports_per_server) paths.resize(options_.exports_per_server);
    return paths;
  }

  // Attributes, directory and flavours of each export; then a file to test a lock on.
  void explore4(const Ask4& ask4, int depth) {
    auto paths = asked_exports();
    if (paths.empty()) paths.emplace_back("/");
    for (const auto& path : paths) explore_export4(ask4, path, depth);
  }

  // One compound: a server with a single slot would make a round trip of each. It ends where the first operation fails.
  void explore_export4(const Ask4& ask4, const std::string& path, int depth) {
    auto self = shared_from_this();
    const auto parts = components(path);
    ask4(
        [parts](nfs4::Compound& compound) {
          compound.putrootfh().getattr({nfs4::attr::supported_attrs, nfs4::attr::lease_time});
          for (const auto& part : parts) compound.lookup(part);
          compound.getattr({nfs4::attr::supported_attrs, nfs4::attr::type, nfs4::attr::fsid, nfs4::attr::maxfilesize,
                            nfs4::attr::maxname, nfs4::attr::maxread, nfs4::attr::maxwrite, nfs4::attr::space_avail,
                            nfs4::attr::space_free, nfs4::attr::space_total});
          compound.readdir({nfs4::attr::type, nfs4::attr::rdattr_error});
          if (!parts.empty()) to_secinfo(compound, parts);
        },
        depth,
        [self, ask4, path, parts](Outcome<nfs4::CompoundResult> result, int next) {
          self->note_lease(result);
          self->note_export4(path, result);
          self->note_entries4(ask4, path, parts, result, next, true);
          if (parts.empty() || !result || result->status == nfs4::status::minor_vers_mismatch) return;
          if (result->find(nfs4::Op::secinfo) != nullptr) return self->note_secinfo(path, result);
          // LOOKUP or READDIR failed, perhaps because of the very flavours.
          ask4([parts](nfs4::Compound& compound) { to_secinfo(compound, parts); }, next,
               [self, path](Outcome<nfs4::CompoundResult> flavors, int) { self->note_secinfo(path, flavors); });
        });
  }

  static void to_secinfo(nfs4::Compound& compound, const std::vector<std::string>& parts) {
    to_path(compound, {parts.begin(), parts.end() - 1});
    compound.secinfo(parts.back());
  }

  void note_nfs4_error(const std::string& question, const Outcome<nfs4::CompoundResult>& result,
                       std::string what = {}) {
    if (!result) return row(question, result.error(), std::move(what));
    Failure failure{Reason::status, nfs4::status_name(result->status)};
    failure.code = result->status;
    if (result->status == nfs4::status::minor_vers_mismatch) failure.reason = Reason::version_mismatch;
    row(question, failure, std::move(what));
  }

  void note_lease(const Outcome<nfs4::CompoundResult>& result) {
    const auto* attributes = result ? result->value<nfs4::Attributes>(nfs4::Op::getattr) : nullptr;
    if (attributes == nullptr || !attributes->has(nfs4::attr::lease_time)) return note_nfs4_error("lease", result);
    out_.lease_s = attributes->lease_s;
    row_ok("lease");
  }

  void note_export4(const std::string& path, const Outcome<nfs4::CompoundResult>& result) {
    if (!result || result->status == nfs4::status::minor_vers_mismatch)
      return note_nfs4_error("attributes", result, path);
    facts::NfsExport& item = export_facts(path);
    const auto got = result->all(nfs4::Op::getattr);
    const auto lookups = result->all(nfs4::Op::lookup);
    if (!lookups.empty() && lookups.back()->status != nfs4::status::ok) {
      item.lookup_result = nfs4::status_name(lookups.back()->status);
    } else if (got.size() == 2) {
      item.lookup_result = std::string("ok");
    }
    const auto* attributes = got.size() == 2 ? std::get_if<nfs4::Attributes>(&got[1]->value) : nullptr;
    if (attributes == nullptr) return note_nfs4_error("attributes", result, path);
    row_ok("attributes");
    const auto number = [&](std::uint32_t attribute, auto& fact, auto value) {
      if (attributes->has(attribute)) fact = value;
    };
    number(nfs4::attr::maxread, item.maxread_bytes, attributes->maxread);
    number(nfs4::attr::maxwrite, item.maxwrite_bytes, attributes->maxwrite);
    number(nfs4::attr::maxfilesize, item.maxfilesize_bytes, attributes->maxfilesize);
    number(nfs4::attr::maxname, item.maxname, attributes->maxname);
    number(nfs4::attr::space_total, item.total_bytes, attributes->space_total);
    number(nfs4::attr::space_free, item.free_bytes, attributes->space_free);
    number(nfs4::attr::space_avail, item.avail_bytes, attributes->space_avail);
    number(nfs4::attr::supported_attrs, item.supported_attrs, attributes->supported);
    if (attributes->has(nfs4::attr::fsid))
      item.fsid = fmt::format("{:x}:{:x}", attributes->fsid_major, attributes->fsid_minor);
    if (item.maxread_bytes.has_value()) keep_smallest(out_.maxread_bytes, *item.maxread_bytes);
    if (item.maxwrite_bytes.has_value()) keep_smallest(out_.maxwrite_bytes, *item.maxwrite_bytes);
  }

  void note_secinfo(const std::string& path, const Outcome<nfs4::CompoundResult>& result) {
    const auto* flavors = result ? result->value<nfs4::Flavors>(nfs4::Op::secinfo) : nullptr;
    if (flavors == nullptr) return note_nfs4_error("secinfo", result, path);
    export_facts(path).secinfo = flavors->names;
    row_ok("secinfo");
  }

  void note_entries4(const Ask4& ask4, const std::string& path, const std::vector<std::string>& parts,
                     const Outcome<nfs4::CompoundResult>& result, int depth, bool deeper) {
    const auto* entries = result ? result->value<nfs4::Entries>(nfs4::Op::readdir) : nullptr;
    if (entries == nullptr) return note_nfs4_error("directory", result, path);
    row_ok("directory");
    use_entries4(ask4, path, parts, *entries, depth, deeper);
  }

  void look_into(const Ask4& ask4, const std::string& path, const std::vector<std::string>& parts, int depth) {
    auto self = shared_from_this();
    // Below the pseudo root other exports may begin: only there the sizes are the server's own.
    const bool sizes = target_.exports.empty();
    ask4(
        [parts, sizes](nfs4::Compound& compound) {
          to_path(compound, parts);
          if (sizes) compound.getattr({nfs4::attr::maxread, nfs4::attr::maxwrite});
          compound.readdir({nfs4::attr::type, nfs4::attr::rdattr_error});
        },
        depth,
        [self, ask4, path, parts](Outcome<nfs4::CompoundResult> result, int next) {
          if (const auto* attributes = result ? result->value<nfs4::Attributes>(nfs4::Op::getattr) : nullptr) {
            keep_smallest(self->out_.maxread_bytes, attributes->maxread);
            keep_smallest(self->out_.maxwrite_bytes, attributes->maxwrite);
          }
          self->note_entries4(ask4, path, parts, result, next, false);
        });
  }

  void use_entries4(const Ask4& ask4, const std::string& path, const std::vector<std::string>& parts,
                    const nfs4::Entries& entries, int depth, bool deeper) {
    std::size_t directories = 0;
    for (const auto& entry : entries.list) {
      if (entry.attributes.type != 1) continue;
      export_facts(path).regular_file = true;
      if (lockt_asked_) return;
      lockt_asked_ = true;
      lockt_file_ = parts;
      lockt_file_.push_back(entry.name);
      return ask_lockt(ask4, depth);
    }
    if (!deeper || depth >= most_round_trips) return;
    for (const auto& entry : entries.list) {
      if (entry.attributes.type != 2 || lockt_asked_ || directories++ == directories_tried) continue;
      auto below = parts;
      below.push_back(entry.name);
      look_into(ask4, path, below, depth);
    }
  }

  void ask_lockt(const Ask4& ask4, int depth) {
    auto self = shared_from_this();
    ask4(
        [file = lockt_file_, owner = owner_](nfs4::Compound& compound) {
          to_path(compound, file);
          compound.lockt(0, owner);
        },
        depth, [self](Outcome<nfs4::CompoundResult> result, int) { self->note_lockt(result); });
  }

  void note_lockt(const Outcome<nfs4::CompoundResult>& result) {
    const auto* op = result ? result->find(nfs4::Op::lockt) : nullptr;
    if (op == nullptr) return note_nfs4_error("lockt", result);
    lockt_was_stale_ = op->status == nfs4::status::stale_clientid;
    switch (op->status) {
      case nfs4::status::grace: out_.nfs4_in_grace = true; break;
      case nfs4::status::ok:
      case nfs4::status::denied:
      case nfs4::status::stale_clientid:
      case nfs4::status::expired:
      case nfs4::status::bad_stateid: out_.nfs4_in_grace = false; break;
      default: return note_nfs4_error("lockt", result);
    }
    row_ok("lockt", nfs4::status_name(op->status));
  }

  // ---- client id and session

  void ask_exchange_id(std::uint32_t minor, int depth) {
    auto self = shared_from_this();
    nfs4::Compound compound(minor);
    compound.exchange_id(owner_, random64());
    ask(services_[program::nfs].connection, depth, compound.call(), [self, minor](Outcome<Answer> answer, int next) {
      auto result = answer ? nfs4::decode_compound(answer->accepted.results)
                           : Outcome<nfs4::CompoundResult>(tl::unexpected(answer.error()));
      const auto* id = result ? result->value<nfs4::ExchangeId>(nfs4::Op::exchange_id) : nullptr;
      if (id == nullptr) return self->note_nfs4_error("exchange_id", result);
      self->row_ok("exchange_id");
      self->note_exchange_id(*id);
      self->client_id_ = id->client_id;
      self->client_minor_ = minor;
      self->ask_create_session(minor, *id, next);
    });
  }

  void note_exchange_id(const nfs4::ExchangeId& id) {
    // ganesha counts the NUL of its C string in.
    const auto without_nul = [](const std::string& value) { return value.substr(0, value.find_last_not_of('\0') + 1); };
    out_.owner = without_nul(id.owner);
    out_.owner_minor = id.owner_minor;
    out_.scope = without_nul(id.scope);
    const auto text = [](const std::string& value) {
      return value.empty() ? facts::Fact<std::string>::absent() : facts::Fact<std::string>(value);
    };
    out_.impl_name = text(id.impl_name);
    out_.impl_domain = text(id.impl_domain);
    std::vector<std::string> roles;
    if ((id.flags & nfs4::use_non_pnfs) != 0) roles.emplace_back("non_pnfs");
    if ((id.flags & nfs4::use_pnfs_mds) != 0) roles.emplace_back("mds");
    if ((id.flags & nfs4::use_pnfs_ds) != 0) roles.emplace_back("ds");
    out_.pnfs_roles = roles;
    const auto has = [&](const char* word) {
      return id.impl_name.find(word) != std::string::npos || id.impl_domain.find(word) != std::string::npos;
    };
    const auto kind = [&](const char* name, const char* how) {
      out_.kind = name;
      out_.kind_how = std::string(how);
    };
    if (has("netapp") || has("NetApp")) return kind("ontap", "implementation id in EXCHANGE_ID");
    if (has("kernel.org")) return kind("linux", "implementation id in EXCHANGE_ID");
    if (has("anesha")) return kind("ganesha", "implementation id in EXCHANGE_ID");
    if (id.scope.find("NFS-Ganesha") != std::string::npos) return kind("ganesha", "server scope in EXCHANGE_ID");
  }

  void ask_create_session(std::uint32_t minor, const nfs4::ExchangeId& id, int depth) {
    auto self = shared_from_this();
    nfs4::Channel wish;
    wish.max_request_bytes = (1U << 20) + 4096;
    wish.max_response_bytes = (1U << 20) + 4096;
    wish.max_cached_bytes = 2048;
    wish.max_operations = 64;
    wish.slots = slots_asked;
    nfs4::Compound compound(minor);
    compound.create_session(id.client_id, id.sequence, wish);
    ask(services_[program::nfs].connection, depth, compound.call(), [self, minor](Outcome<Answer> answer, int next) {
      auto result = answer ? nfs4::decode_compound(answer->accepted.results)
                           : Outcome<nfs4::CompoundResult>(tl::unexpected(answer.error()));
      const auto* made = result ? result->value<nfs4::CreateSession>(nfs4::Op::create_session) : nullptr;
      if (made == nullptr) return self->note_nfs4_error("create_session", result);
      self->row_ok("create_session");
      self->note_session(minor, *made);
      self->use_session(next);
    });
  }

  void note_session(std::uint32_t minor, const nfs4::CreateSession& made) {
    facts::NfsSession session;
    session.slots = made.fore.slots;
    session.slots_asked = slots_asked;
    session.max_request_bytes = made.fore.max_request_bytes;
    session.max_response_bytes = made.fore.max_response_bytes;
    session.max_cached_bytes = made.fore.max_cached_bytes;
    session.max_operations = made.fore.max_operations;
    session.minor = fmt::format("4.{}", minor);
    out_.session = session;
    session_.emplace();
    session_->minor = minor;
    session_->id = made.id;
    const auto slots = std::clamp(made.fore.slots, 1U, slots_used);
    session_->next.assign(slots, 1);
    for (std::uint32_t slot = slots; slot-- > 0;) session_->free_slots.push_back(slot);
  }

  void use_session(int depth) {
    auto self = shared_from_this();
    in_session()([](nfs4::Compound& compound) { compound.reclaim_complete(); }, depth,
                 [self](Outcome<nfs4::CompoundResult> result, int next) {
                   if (!result || result->status != nfs4::status::ok)
                     return self->note_nfs4_error("reclaim_complete", result);
                   self->row_ok("reclaim_complete");
                   // STALE_CLIENTID is no proof for a server that looks at the client id first.
                   if (self->lockt_was_stale_) self->ask_lockt(self->in_session(), next);
                 });
    // Without 4.0 everything is asked here.
    if (minor_answers_[0] && *minor_answers_[0]) return;
    explore4(in_session(), depth);
  }

  // Questions in the session: each takes a free slot, or waits for one.
  Ask4 in_session() {
    auto self = shared_from_this();
    return [self](const Build& build, int depth, const Then4& then) {
      SessionState& session = *self->session_;
      if (session.free_slots.empty()) {
        if (self->over()) return;
        ++self->pending_;
        self->slot_queue_.push_back({build, depth, then});
        return;
      }
      self->ask_on_slot(build, depth, then);
    };
  }

  void ask_on_slot(const Build& build, int depth, const Then4& then) {
    SessionState& session = *session_;
    const std::uint32_t slot = session.free_slots.back();
    session.free_slots.pop_back();
    nfs4::Compound compound(session.minor);
    compound.sequence(session.id, session.next[slot], slot, static_cast<std::uint32_t>(session.next.size() - 1));
    build(compound);
    auto self = shared_from_this();
    ask(services_[program::nfs].connection, depth, compound.call(),
        [self, slot, then](Outcome<Answer> answer, int next) {
          auto result = answer ? nfs4::decode_compound(answer->accepted.results)
                               : Outcome<nfs4::CompoundResult>(tl::unexpected(answer.error()));
          self->free_slot(slot, answer, result);
          then(std::move(result), next);
          self->run_slot_queue(next);
        });
  }

  void free_slot(std::uint32_t slot, const Outcome<Answer>& answer, const Outcome<nfs4::CompoundResult>& result) {
    SessionState& session = *session_;
    // GARBAGE_ARGS does not advance the slot; a call without any answer may or may not have.
    const bool refused = !answer && answer.error().reason == Reason::garbage_args;
    if (!result && !refused) {
      ++session.lost;
      return;
    }
    if (result && result->value<nfs4::Sequence>(nfs4::Op::sequence) != nullptr) ++session.next[slot];
    session.free_slots.push_back(slot);
  }

  void run_slot_queue(int depth) {
    while (!slot_queue_.empty() && !over()) {
      const bool hopeless = session_->lost == session_->next.size();
      if (session_->free_slots.empty() && !hopeless) return;
      Queued queued = std::move(slot_queue_.front());
      slot_queue_.pop_front();
      if (hopeless) {
        queued.then(fail(Reason::not_asked, "no slot of the session answers"), depth);
      } else {
        ask_on_slot(queued.build, std::max(depth, queued.depth), queued.then);
      }
      --pending_;  // never the last one: the answer that freed the slot is still being handled
    }
  }

  // ---- rpcbind and what it lists

  void ask_rpcbind() {
    Service& rpcbind = services_[program::rpcbind];
    rpcbind.port = target_.rpcbind_port;
    rpcbind.port_how = target_.rpcbind_port == 111 ? "default" : "given";
    rpcbind.connection = connect(*rpcbind.port, false);
    auto self = shared_from_this();
    dumps_left_ = 6;
    const auto one = [self](int next) {
      if (--self->dumps_left_ == 0) self->registrations_known(next);
    };
    for (const std::uint32_t version : {2U, 3U, 4U}) {
      const Call call = version == 2 ? rpcbind::dump2() : rpcbind::dump(version);
      ask(rpcbind.connection, 1, call, [self, version, one](Outcome<Answer> answer, int next) {
        self->note_null(program::rpcbind, version, answer);
        if (answer) {
          auto list = version == 2 ? rpcbind::decode_dump2(answer->accepted.results)
                                   : rpcbind::decode_dump(answer->accepted.results);
          if (list) {
            self->dump_answered_ = true;
            self->registrations_.insert(self->registrations_.end(), list->begin(), list->end());
            self->row_ok("rpcbind_dump");
          } else {
            self->row("rpcbind_dump", list.error(), fmt::format("version {}", version));
          }
        }
        one(next);
      });
    }
    // A hint for servers that list nothing to strangers. It names the port of any version.
    constexpr std::array<std::array<std::uint32_t, 2>, 3> hints{
        {{program::mountd, 3}, {program::nlm, 4}, {program::nsm, 1}}};
    for (const auto& hint : hints) {
      const std::uint32_t number = hint[0];
      ask(rpcbind.connection, 1, rpcbind::getport(number, hint[1]),
          [self, number, one](Outcome<Answer> answer, int next) {
            if (answer) {
              self->services_[program::rpcbind].add_version(2);
              const auto port = rpcbind::decode_getport(answer->accepted.results);
              if (port) self->hinted_ports_[number] = *port;
            }
            one(next);
          });
    }
  }

  std::optional<std::uint32_t> listed_port(std::uint32_t number) const {
    std::optional<std::uint32_t> other;
    for (const auto& entry : registrations_) {
      if (entry.program != number || entry.port == 0) continue;
      if (entry.netid == (address_.is_v6() ? "tcp6" : "tcp")) return entry.port;
      if (entry.netid == "tcp" || entry.netid == "tcp6") other = entry.port;
    }
    return other;
  }

  void registrations_known(int depth) {
    if (services_[program::rpcbind].versions.empty()) return;
    for (auto& [number, service] : services_) {
      if (number == program::rpcbind) continue;
      std::vector<std::uint32_t> versions;
      for (const auto& entry : registrations_)
        if (entry.program == number && (entry.netid == "tcp" || entry.netid == "tcp6"))
          versions.push_back(entry.version);
      std::sort(versions.begin(), versions.end());
      versions.erase(std::unique(versions.begin(), versions.end()), versions.end());
      if (dump_answered_) {
        service.registered = !versions.empty();
        service.registered_versions = versions;
      }
    }
    services_[program::rpcbind].connection->close();
    listed_nfs_port_ = listed_port(program::nfs);
    try_listed_nfs_port(depth);
    for (const auto number : {program::mountd, program::nlm, program::nsm}) {
      auto port = listed_port(number);
      const auto hint = hinted_ports_.find(number);
      if (!port && hint != hinted_ports_.end() && hint->second != 0) port = hint->second;
      Service& service = services_[number];
      if (service.connection) continue;  // its port was given
      if (!port) {
        service.known_unregistered = dump_answered_ || hint != hinted_ports_.end();
        continue;
      }
      if (number == program::mountd) {
        ask_mountd(*port, "rpcbind", depth);
      } else {
        service.port = port;
        service.port_how = "rpcbind";
        service.connection = connect(*port, number == program::nlm);
        if (number == program::nsm) {
          ask_null(number, 1, depth);
        } else {
          for (const std::uint32_t version : {1U, 3U, 4U}) ask_null(number, version, depth);
        }
      }
    }
  }

  // ---- MOUNT and NFS version 3

  void ask_mountd(std::uint32_t port, const std::string& how, int depth) {
    Service& mountd = services_[program::mountd];
    mountd.port = port;
    mountd.port_how = how;
    mountd.connection = connect(port, true);
    ask_null(program::mountd, 3, depth);
    ask_null(program::mountd, 1, depth);
    auto self = shared_from_this();
    ask(mountd.connection, depth, mount3::export_list(3), [self](Outcome<Answer> answer, int next) {
      auto list = answer ? mount3::decode_export_list(answer->accepted.results)
                         : Outcome<std::vector<mount3::ExportEntry>>(tl::unexpected(answer.error()));
      if (!list) return self->row("export_list", list.error());
      self->row_ok("export_list");
      std::vector<facts::NfsExportEntry> entries;
      for (const auto& entry : *list) entries.push_back({entry.path, entry.groups});
      self->out_.export_list = entries;
      if (!self->target_.exports.empty()) return;
      for (std::size_t i = 0; i < entries.size() && i < self->options_.exports_per_server; ++i)
        self->ask_mnt(entries[i].path, next);
    });
    for (const auto& path : asked_exports()) ask_mnt(path, depth);
  }

  void ask_mnt(const std::string& path, int depth) {
    auto self = shared_from_this();
    ask(services_[program::mountd].connection, depth, mount3::mnt(path),
        [self, path](Outcome<Answer> answer, int next) {
          auto mounted = answer ? mount3::decode_mnt(answer->accepted.results)
                                : Outcome<mount3::Mounted>(tl::unexpected(answer.error()));
          if (!mounted) {
            if (mounted.error().reason == Reason::status)
              self->export_facts(path).mnt_result = mount3::status_name(mounted.error().code);
            return self->row("mnt", mounted.error(), path);
          }
          self->row_ok("mnt");
          self->to_unmount_.push_back(path);
          facts::NfsExport& item = self->export_facts(path);
          item.mnt_result = std::string("ok");
          std::vector<std::string> flavors;
          for (const auto flavor : mounted->flavors) flavors.push_back(mount3::flavor_name(flavor));
          item.mnt_flavors = flavors;
          self->explore3(path, mounted->handle, next);
        });
  }

  template <class T>
  static Outcome<T> decoded(const Outcome<Answer>& answer, Outcome<T> (*decode)(View)) {
    if (!answer) return tl::unexpected(answer.error());
    return decode(answer->accepted.results);
  }

  void explore3(const std::string& path, const Bytes& handle, int depth) {
    auto self = shared_from_this();
    const auto connection = services_[program::nfs].connection;
    if (handle3_.empty()) handle3_ = handle;
    ask(connection, depth, nfs3::fsinfo(handle), [self, path](Outcome<Answer> answer, int) {
      const auto info = decoded(answer, nfs3::decode_fsinfo);
      if (!info) return self->row("fsinfo", info.error(), path);
      self->row_ok("fsinfo");
      facts::NfsExport& item = self->export_facts(path);
      item.rtmax_bytes = info->rtmax;
      item.rtpref_bytes = info->rtpref;
      item.wtmax_bytes = info->wtmax;
      item.wtpref_bytes = info->wtpref;
      item.dtpref_bytes = info->dtpref;
      if (!item.maxfilesize_bytes.has_value()) item.maxfilesize_bytes = info->maxfilesize;
      keep_smallest<std::uint64_t>(self->out_.rtmax_bytes, info->rtmax);
      keep_smallest<std::uint64_t>(self->out_.wtmax_bytes, info->wtmax);
    });
    ask(connection, depth, nfs3::fsstat(handle), [self, path](Outcome<Answer> answer, int) {
      const auto stat = decoded(answer, nfs3::decode_fsstat);
      if (!stat) return self->row("fsstat", stat.error(), path);
      self->row_ok("fsstat");
      facts::NfsExport& item = self->export_facts(path);
      item.total_bytes = stat->total_bytes;
      item.free_bytes = stat->free_bytes;
      item.avail_bytes = stat->avail_bytes;
    });
    ask(connection, depth, nfs3::pathconf(handle), [self, path](Outcome<Answer> answer, int) {
      const auto conf = decoded(answer, nfs3::decode_pathconf);
      if (!conf) return self->row("pathconf", conf.error(), path);
      self->row_ok("pathconf");
      self->export_facts(path).link_max = conf->link_max;
      if (!self->export_facts(path).maxname.has_value()) self->export_facts(path).maxname = conf->name_max;
    });
    find_file3(path, handle, depth, true);
  }

  void find_file3(const std::string& path, const Bytes& handle, int depth, bool deeper) {
    auto self = shared_from_this();
    ask(services_[program::nfs].connection, depth, nfs3::readdirplus(handle),
        [self, path, deeper](Outcome<Answer> answer, int next) {
          const auto entries = decoded(answer, nfs3::decode_readdirplus);
          if (!entries) return self->row("readdirplus", entries.error(), path);
          self->row_ok("readdirplus");
          for (const auto& entry : *entries) {
            if (entry.type != 1 || entry.handle.empty()) continue;
            self->export_facts(path).regular_file = true;
            return self->ask_nlm_test(entry.handle, next);
          }
          std::size_t directories = 0;
          for (const auto& entry : *entries) {
            const bool inside = entry.name != "." && entry.name != "..";
            if (!deeper || !inside || entry.type != 2 || entry.handle.empty() || self->nlm_test_asked_) continue;
            if (directories++ < directories_tried) self->find_file3(path, entry.handle, next, false);
          }
        });
  }

  void ask_nlm_test(const Bytes& handle, int depth) {
    const Service& lock_manager = services_[program::nlm];
    if (nlm_test_asked_ || !lock_manager.connection) return;
    nlm_test_asked_ = true;
    auto self = shared_from_this();
    ask(lock_manager.connection, depth, nlm::test4(handle, owner_), [self](Outcome<Answer> answer, int) {
      const auto stat = decoded(answer, nlm::decode_test4);
      if (!stat) return self->row("nlm_test", stat.error());
      self->out_.nlm_test = nlm::stat_name(*stat);
      if (*stat == nlm::Stat::denied_grace_period) self->out_.nlm_in_grace = true;
      if (*stat == nlm::Stat::granted || *stat == nlm::Stat::denied || *stat == nlm::Stat::rofs)
        self->out_.nlm_in_grace = false;
      self->row_ok("nlm_test", nlm::stat_name(*stat));
    });
  }

  // ---- TLS, path MTU

  void ask_tls(int depth) {
    if (!options_.tls || tls_asked_) return;
    tls_asked_ = true;
    const auto& nfs = services_[program::nfs];
    Call call = nfs3::null(nfs.versions.back());
    call.flavor = AuthFlavor::tls;
    auto connection = connect(*nfs.port, false);
    auto self = shared_from_this();
    ask(connection, depth, call, [self, connection](Outcome<Answer> answer, int) {
      if (answer) {
        const std::string_view verifier(reinterpret_cast<const char*>(answer->accepted.verifier.data()),
                                        answer->accepted.verifier.size());
        self->out_.tls_offered = verifier == "STARTTLS";
        self->row_ok("tls");
      } else if (answer.error().reason == Reason::auth_error) {
        self->out_.tls_offered = false;
        self->row_ok("tls", to_text(answer.error()));
      } else {
        self->row("tls", answer.error());
      }
      connection->close();  // the server waits for a TLS handshake now
    });
  }

  void ask_mtu() {
    auto self = shared_from_this();
    ++pending_;
    const auto began = io::Clock::now();
    const auto deadline = std::min(question_deadline(), began + std::chrono::milliseconds(700));
    ask_path_mtu(loop_, address_.with_port(target_.rpcbind_port), deadline, [self, began](PathMtu mtu) {
      if (self->over()) return;
      self->last_took_ = io::Clock::now() - began;
      if (mtu.bytes) {
        self->out_.path_mtu_bytes = *mtu.bytes;
        self->out_.path_mtu_how = std::string("probe");
        self->out_.path_mtu_lost_bytes =
            mtu.lost_bytes == 0 ? facts::Fact<std::uint32_t>::absent() : facts::Fact<std::uint32_t>(mtu.lost_bytes);
        self->row_ok("path_mtu",
                     mtu.lost_bytes == 0 ? std::string{} : fmt::format("packets of {} bytes are lost", mtu.lost_bytes));
      } else {
        self->row("path_mtu", Failure{Reason::silent, "no UDP datagram to the rpcbind port was answered"});
      }
      self->settle();
    });
  }

  // ---- first latency

  void measure_latency() {
    const auto& nfs = services_[program::nfs];
    latency_end_ = std::min(questions_end_, io::Clock::now() + std::chrono::seconds(1));
    if (options_.null_calls == 0 || nfs.versions.empty() || nfs.connection->broken()) return clean_up();
    next_null();
  }

  // One at a time; a call that fails ends the series.
  void one_timed(const Call& call, std::function<void(double)> then) {
    if (io::Clock::now() >= latency_end_) return clean_up();
    ++calls_;
    auto self = shared_from_this();
    services_[program::nfs].connection->call(as_caller(call), question_deadline(),
                                             [self, then = std::move(then)](Outcome<Answer> answer) {
                                               if (self->over()) return;
                                               if (!answer) {
                                                 self->row("latency", answer.error());
                                                 return self->clean_up();
                                               }
                                               then(us(answer->took));
                                             });
  }

  void next_null() {
    auto self = shared_from_this();
    one_timed(nfs3::null(services_[program::nfs].versions.back()), [self](double took) {
      if (++self->timed_ > self->options_.warm_up_calls) self->null_us_.push_back(took);
      if (self->null_us_.size() < self->options_.null_calls) return self->next_null();
      self->row_ok("latency");
      self->timed_ = 0;
      self->next_getattr();
    });
  }

  void next_getattr() {
    if (timed_++ == options_.getattr_calls) return clean_up();
    auto self = shared_from_this();
    nfs4::Compound compound(session_ ? session_->minor : 0);
    Call call;
    const bool slot_zero = session_ && !session_->free_slots.empty();
    if (!handle3_.empty()) {
      call = nfs3::getattr(handle3_);
    } else if (minor_answers_[0] && *minor_answers_[0]) {
      call = nfs4::Compound(0).putrootfh().getattr({nfs4::attr::type, nfs4::attr::size}).call();
    } else if (slot_zero) {
      const auto slot = session_->free_slots.back();
      compound.sequence(session_->id, session_->next[slot]++, slot, slot);
      call = compound.putrootfh().getattr({nfs4::attr::type, nfs4::attr::size}).call();
    } else {
      return clean_up();
    }
    one_timed(call, [self](double took) {
      self->getattr_us_.push_back(took);
      self->next_getattr();
    });
  }

  // ---- the end

  void clean_up() {
    if (over()) return;
    phase_ = Phase::clean_up;
    auto& nfs = services_[program::nfs];
    note_tcp();
    cleaning_ = 1;
    const auto& mountd = services_[program::mountd];
    for (const auto& path : to_unmount_) {
      if (!mountd.connection || mountd.connection->broken()) break;
      clean(mountd.connection, mount3::umnt(path), [](Outcome<Answer>) {});
    }
    if (client_id_) {
      if (nfs.connection->broken()) {
        Connection::Options options;
        options.reserved_port = true;
        options.connect_deadline = end_;
        nfs.connection = Connection::open(loop_, address_.with_port(static_cast<std::uint16_t>(*nfs.port)), options);
      }
      if (session_) {
        destroy_session();
      } else {
        destroy_client_id();
      }
    }
    cleaned();
  }

  void clean(const std::shared_ptr<Connection>& connection, const Call& call,
             std::function<void(Outcome<Answer>)> then) {
    ++cleaning_;
    ++calls_;
    auto self = shared_from_this();
    connection->call(as_caller(call), std::min(end_, io::Clock::now() + options_.timeout),
                     [self, connection, then = std::move(then)](Outcome<Answer> answer) {
                       if (self->phase_ == Phase::done) return;
                       then(std::move(answer));
                       self->cleaned();
                     });
  }

  void destroy_session() {
    auto self = shared_from_this();
    clean(services_[program::nfs].connection, nfs4::Compound(session_->minor).destroy_session(session_->id).call(),
          [self](Outcome<Answer> answer) {
            const auto result = decoded(answer, nfs4::decode_compound);
            if (!result || result->status != nfs4::status::ok) self->note_nfs4_error("clean_up", result);
            self->destroy_client_id();
          });
  }

  void destroy_client_id() {
    auto self = shared_from_this();
    out_.cleaned_up = false;
    clean(services_[program::nfs].connection, nfs4::Compound(client_minor_).destroy_clientid(*client_id_).call(),
          [self](Outcome<Answer> answer) {
            const auto result = decoded(answer, nfs4::decode_compound);
            self->out_.cleaned_up = result && result->status == nfs4::status::ok;
            if (*self->out_.cleaned_up) return self->row_ok("clean_up");
            self->note_nfs4_error("clean_up", result, "DESTROY_CLIENTID");
          });
  }

  void cleaned() {
    if (--cleaning_ == 0) finish();
  }

  void note_tcp() {
    const auto& nfs = services_[program::nfs];
    if (!nfs.connection->local_address().empty()) out_.asked_from = nfs.connection->local_address();
    if (nfs.connection->connect_took()) {
      out_.connect_ms = ms(*nfs.connection->connect_took());
      out_.reserved_port = nfs.connection->reserved();
    }
    const auto tcp = nfs.connection->tcp_facts();
    if (!tcp) return;
    out_.tcp_rtt_us = tcp->rtt_us;
    out_.tcp_rtt_var_us = tcp->rtt_var_us;
    out_.tcp_mss_bytes = tcp->snd_mss_bytes;
    out_.tcp_retrans = tcp->total_retrans;
    if (!out_.path_mtu_bytes.has_value() && tcp->path_mtu_bytes) {
      out_.path_mtu_bytes = *tcp->path_mtu_bytes;
      out_.path_mtu_how = std::string("kernel");
    }
  }

  void finish() {
    if (phase_ == Phase::done) return;
    if (phase_ != Phase::clean_up) note_tcp();
    phase_ = Phase::done;
    loop_.cancel(end_timer_);
    slot_queue_.clear();
    note_versions();
    note_services();
    note_grace();
    out_.round_trips = static_cast<std::uint32_t>(round_trips_);
    out_.calls = calls_;
    out_.lock_tests = facts::Fact<std::vector<facts::NfsLockTest>>::absent();
    out_.read_test = facts::Fact<facts::NfsReadTest>::absent();
    if (!client_id_) {
      out_.cleaned_up = facts::Fact<bool>::absent();
    } else if (!out_.cleaned_up.has_value()) {
      out_.cleaned_up = false;
    }
    if (!null_us_.empty()) {
      out_.null_count = static_cast<std::uint32_t>(null_us_.size());
      out_.null_p50_us = nearest_rank(null_us_, 0.50);
      out_.null_p99_us = nearest_rank(null_us_, 0.99);
    }
    if (!getattr_us_.empty()) out_.getattr_p50_us = nearest_rank(getattr_us_, 0.50);
    std::sort(out_.exports.begin(), out_.exports.end(), [this](const auto& a, const auto& b) {
      const auto place = [this](const std::string& path) {
        return std::find(target_.exports.begin(), target_.exports.end(), path) - target_.exports.begin();
      };
      return std::pair{place(a.path), a.path} < std::pair{place(b.path), b.path};
    });
    std::sort(sources_.begin(), sources_.end(),
              [](const facts::Source& a, const facts::Source& b) { return a.id < b.id; });
    auto then = std::move(then_);
    NfsAnswer answer{std::move(out_), std::move(sources_)};
    // Closing breaks the circle of callbacks that hold this object.
    for (auto& [number, service] : services_)
      if (service.connection) service.connection->close();
    then(std::move(answer));
  }

  void note_versions() {
    const auto& nfs = services_[program::nfs];
    std::vector<std::string> versions;
    bool told = true;
    const auto answered = [&](std::uint32_t version) {
      return std::find(nfs.versions.begin(), nfs.versions.end(), version) != nfs.versions.end();
    };
    if (answered(3)) versions.emplace_back("3");
    for (std::uint32_t minor = 0; minor < 4; ++minor) {
      if (!minor_answers_[minor]) told = false;
      if (minor_answers_[minor] && *minor_answers_[minor]) versions.push_back(fmt::format("4.{}", minor));
    }
    if (told || !versions.empty()) out_.versions = versions;
    const auto none = [](auto& fact) {
      if (fact.is_unknown()) fact = std::remove_reference_t<decltype(fact)>::absent();
    };
    const auto refused = [&](std::uint32_t minor) { return minor_answers_[minor] && !*minor_answers_[minor]; };
    if (no_version3_) {
      none(out_.rtmax_bytes);
      none(out_.wtmax_bytes);
    }
    if (refused(1) && refused(2)) {
      none(out_.owner);
      none(out_.owner_minor);
      none(out_.scope);
      none(out_.session);
      none(out_.pnfs_roles);
    }
    if (refused(0) && refused(1) && refused(2)) {
      none(out_.lease_s);
      none(out_.maxread_bytes);
      none(out_.maxwrite_bytes);
      none(out_.nfs4_in_grace);
    }
  }

  void note_services() {
    auto used = target_.versions_in_use;
    if (used.empty() && out_.versions.has_value()) used = *out_.versions;
    if (used.empty()) used = {"3", "4"};
    const bool three = std::find(used.begin(), used.end(), "3") != used.end();
    for (const auto number : {program::nfs, program::rpcbind, program::mountd, program::nlm, program::nsm}) {
      const Service& service = services_[number];
      facts::NfsService item;
      item.program = program_name(number);
      item.program_number = number;
      note_service(service, item);
      const bool lock_service = number == program::nlm || number == program::nsm;
      if (number == program::nfs) {
        item.needed_by_versions = used;
      } else if (three && (!lock_service || target_.nlm_in_use)) {
        item.needed_by_versions = std::vector<std::string>{"3"};
      } else {
        item.needed_by_versions = facts::Fact<std::vector<std::string>>::absent();
      }
      out_.services.push_back(std::move(item));
    }
  }

  static void note_service(const Service& service, facts::NfsService& item) {
    if (service.port) {
      item.port = *service.port;
      item.port_how = service.port_how;
    }
    if (service.registered) {
      item.registered = *service.registered;
      item.registered_versions = service.registered_versions;
    }
    if (service.known_unregistered) {
      item.port = facts::Fact<std::uint32_t>::absent();
      item.reachable = false;
      item.result = std::string(reason_name(Reason::not_registered));
      item.detail = std::string("rpcbind answers and does not list it");
      return;
    }
    if (!service.connection) {
      item.result = std::string(reason_name(Reason::not_asked));
      item.detail = std::string("its port is not known: rpcbind does not answer");
      return;
    }
    auto versions = service.versions;
    std::sort(versions.begin(), versions.end());
    item.versions = versions;
    item.reachable = !versions.empty();
    item.version =
        versions.empty() ? facts::Fact<std::uint32_t>::absent() : facts::Fact<std::uint32_t>(versions.back());
    if (service.null_took) item.null_ms = ms(*service.null_took);
    if (service.connection->connect_took()) {
      item.connect_ms = ms(*service.connection->connect_took());
    } else if (service.gave_up_after) {
      item.connect_ms = ms(*service.gave_up_after);
    }
    if (!versions.empty()) {
      item.result = std::string("ok");
    } else if (service.failure && service.failure->reason != Reason::not_asked) {
      item.result = std::string(reason_name(service.failure->reason));
      item.detail = service.failure->detail;
    } else {
      item.reachable = {};
      item.result = std::string(reason_name(Reason::not_asked));
      item.detail = std::string("the run ended first");
    }
  }

  void note_grace() {
    const auto& four = out_.nfs4_in_grace;
    const auto& three = out_.nlm_in_grace;
    if (four.is(true) || three.is(true)) {
      out_.in_grace = true;
      out_.in_grace_how = std::string(four.is(true) ? "LOCKT: NFS4ERR_GRACE" : "NLM_TEST: NLM4_DENIED_GRACE_PERIOD");
    } else if (four.has_value() || three.has_value()) {
      out_.in_grace = false;
      out_.in_grace_how = std::string(four.has_value() ? "LOCKT on a regular file" : "NLM_TEST on a regular file");
    } else {
      const bool asked = lockt_asked_ || nlm_test_asked_;
      out_.in_grace_how =
          std::string(asked ? "the lock test gave no verdict" : "no regular file was found to test a lock on");
    }
  }

  struct Queued {
    Build build;
    int depth;
    Then4 then;
  };

  io::Loop& loop_;
  NfsTarget target_;
  Address address_;
  AskOptions options_;
  io::Time end_;
  std::function<void(NfsAnswer)> then_;
  std::string owner_;  // unique to this run: never that of the node's own client
  io::Time began_ = {};
  io::Time questions_end_ = {};
  io::Time latency_end_ = {};
  io::Loop::TimerId end_timer_ = 0;
  Phase phase_ = Phase::questions;
  int pending_ = 0;
  int cleaning_ = 0;
  int round_trips_ = 0;
  std::uint32_t calls_ = 0;
  io::Duration last_took_ = {};
  facts::NfsServer out_;
  std::vector<facts::Source> sources_;
  std::map<std::uint32_t, Service> services_;
  // rpcbind
  int dumps_left_ = 0;
  bool dump_answered_ = false;
  std::vector<rpcbind::Registration> registrations_;
  std::map<std::uint32_t, std::uint32_t> hinted_ports_;
  std::optional<std::uint32_t> listed_nfs_port_;
  bool moved_ = false;
  // NFS
  int minors_left_ = 0;
  std::array<std::optional<bool>, 4> minor_answers_;
  std::optional<std::uint64_t> client_id_;
  std::uint32_t client_minor_ = 0;
  std::optional<SessionState> session_;
  std::deque<Queued> slot_queue_;
  bool lockt_asked_ = false;
  bool lockt_was_stale_ = false;
  std::vector<std::string> lockt_file_;
  bool no_version3_ = false;
  bool nlm_test_asked_ = false;
  bool tls_asked_ = false;
  std::vector<std::string> to_unmount_;
  Bytes handle3_;
  // latency
  unsigned timed_ = 0;
  std::vector<double> null_us_;
  std::vector<double> getattr_us_;
};

}  // namespace

std::shared_ptr<NfsServerAsk> ask_nfs_server(io::Loop& loop, const NfsTarget& target, const Address& address,
                                             const AskOptions& options, io::Time end,
                                             std::function<void(NfsAnswer)> then) {
  auto ladder = std::make_shared<Ladder>(loop, target, address, options, end, std::move(then));
  ladder->start();
  return ladder;
}

}  // namespace wire
