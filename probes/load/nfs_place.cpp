#include "probes/load/nfs_place.h"

#include <fmt/format.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>

#include "audit/base/text.h"
#include "probes/wire/mount3.h"
#include "probes/wire/nfs3.h"

namespace load {
namespace {

using namespace wire;

constexpr std::uint32_t noent = 2;
constexpr std::uint32_t directory_type = 2;

std::uint64_t random_number() {
  std::uint64_t value = 0;
  if (::getrandom(&value, sizeof value, GRND_NONBLOCK) != static_cast<ssize_t>(sizeof value))
    value = static_cast<std::uint64_t>(io::Clock::now().time_since_epoch().count()) ^
            static_cast<std::uint64_t>(::getpid()) << 40;
  return value;
}

std::vector<std::string> components(const std::string& path) {
  std::vector<std::string> parts;
  for (const auto part : base::split(path, '/'))
    if (!part.empty() && part != ".") parts.emplace_back(part);
  return parts;
}

// Says at which step it was.
Failure at(const char* step, Failure failure) {
  failure.detail = failure.detail.empty() ? step : fmt::format("{}: {}", step, failure.detail);
  return failure;
}

template <class T>
Outcome<T> decoded(const char* step, const Outcome<Bytes>& answer, Outcome<T> (*decode)(View)) {
  if (!answer) return tl::unexpected(at(step, answer.error()));
  auto value = decode(*answer);
  if (!value) return tl::unexpected(at(step, value.error()));
  return value;
}

}  // namespace

std::string own_file_name() { return fmt::format("mountaudit-latency-{:016x}", random_number()); }

NfsPlace::NfsPlace(NfsWhere where, Options options) : where_(std::move(where)), options_(options) {}

NfsPlace::~NfsPlace() { close(); }

std::shared_ptr<Connection> NfsPlace::connect(std::uint16_t port) {
  Connection::Options options;
  options.reserved_port = true;
  options.connect_deadline = io::Clock::now() + options_.timeout;
  options.limits.record_bytes = std::size_t{4} << 20;
  return Connection::open(loop_, where_.address.with_port(port), options);
}

Outcome<Bytes> NfsPlace::ask(std::shared_ptr<Connection>& connection, Call call) {
  if (connection->broken()) connection = connect(connection->peer().port());  // a server may close what is idle
  call.sys.uid = ::geteuid();
  call.sys.gid = ::getegid();
  const io::Time deadline = io::Clock::now() + options_.timeout;
  std::optional<Outcome<Answer>> got;
  connection->call(call, deadline, [&](Outcome<Answer> answer) {
    got = std::move(answer);
    loop_.leave();
  });
  while (!got) loop_.run(deadline + std::chrono::milliseconds(100));
  if (!*got) return tl::unexpected(got->error());
  return std::move((*got)->accepted.results);
}

Outcome<std::unique_ptr<NfsPlace>> NfsPlace::open(const NfsWhere& where, const Options& options) {
  std::unique_ptr<NfsPlace> place(new NfsPlace(where, options));
  place->nfs_ = place->connect(where.address.port());
  const auto found = place->version3() ? place->find3() : place->find4();
  if (!found) return tl::unexpected(found.error());
  return place;
}

// An export is the longest part of the path that MOUNT gives a handle for; the rest is looked up.
Outcome<void> NfsPlace::find3() {
  if (!where_.mountd_port) return fail(Reason::not_registered, "no port of mountd is known, which NFSv3 needs");
  mountd_ = connect(*where_.mountd_port);
  const auto parts = components(where_.path);
  for (std::size_t taken = parts.size() + 1; taken-- > 0;) {
    std::string path;
    for (std::size_t i = 0; i < taken; ++i) path += "/" + parts[i];
    if (path.empty()) path = "/";
    const auto mounted = decoded("MNT", ask(mountd_, mount3::mnt(path)), mount3::decode_mnt);
    if (!mounted) {
      if (mounted.error().reason == Reason::status && taken > 0) continue;
      return tl::unexpected(mounted.error());
    }
    mounted_ = path;
    handle_ = mounted->handle;
    for (std::size_t i = taken; i < parts.size(); ++i) {
      auto next = decoded("LOOKUP", ask(nfs_, nfs3::lookup(handle_, parts[i])), nfs3::decode_lookup);
      if (!next) return tl::unexpected(next.error());
      handle_ = std::move(*next);
    }
    const auto attributes = decoded("GETATTR", ask(nfs_, nfs3::getattr(handle_)), nfs3::decode_getattr);
    if (!attributes) return tl::unexpected(attributes.error());
    size_ = attributes->size;
    directory_ = attributes->type == directory_type;
    return {};
  }
  return fail(Reason::status, "MNT");
}

Outcome<NfsPlace::Compounded> NfsPlace::send(const nfs4::Compound& compound) {
  const auto answer = ask(nfs_, compound.call());
  if (!answer) return tl::unexpected(answer.error());
  return nfs4::decode_compound(*answer);
}

// A status other than NFS4_OK is a failure here.
template <class Build>
Outcome<NfsPlace::Compounded> NfsPlace::in_session(const char* step, Build build) {
  nfs4::Compound compound(minor_);
  if (has_session_) compound.sequence(session_, sequences_[0], 0, static_cast<std::uint32_t>(sequences_.size()) - 1);
  build(compound);
  auto result = send(compound);
  if (!result) return tl::unexpected(at(step, result.error()));
  if (has_session_ && result->template value<nfs4::Sequence>(nfs4::Op::sequence) != nullptr) ++sequences_[0];
  if (result->status == nfs4::status::ok) return result;
  Failure failure{Reason::status, fmt::format("{}: {}", step, nfs4::status_name(result->status))};
  failure.code = result->status;
  return tl::unexpected(std::move(failure));
}

Outcome<void> NfsPlace::begin_session() {
  owner_ = own_file_name();
  const auto known =
      in_session("EXCHANGE_ID", [&](nfs4::Compound& compound) { compound.exchange_id(owner_, random_number()); });
  if (!known) return tl::unexpected(known.error());
  const auto* id = known->value<nfs4::ExchangeId>(nfs4::Op::exchange_id);
  if (id == nullptr) return fail(Reason::bad_value, "EXCHANGE_ID: the answer has no client id");
  client_id_ = id->client_id;
  constexpr std::uint32_t most_bytes = (std::uint32_t{1} << 20) + 4096;
  const auto made = in_session("CREATE_SESSION", [&](nfs4::Compound& compound) {
    compound.create_session(id->client_id, id->sequence, {most_bytes, most_bytes, 4096, 8, options_.slots});
  });
  if (!made) return tl::unexpected(made.error());
  const auto* session = made->value<nfs4::CreateSession>(nfs4::Op::create_session);
  if (session == nullptr) return fail(Reason::bad_value, "CREATE_SESSION: the answer has no session");
  session_ = session->id;
  fore_ = session->fore;
  sequences_.assign(std::clamp(session->fore.slots, 1U, options_.slots), 1);
  has_session_ = true;
  const auto reclaimed = in_session("RECLAIM_COMPLETE", [](nfs4::Compound& compound) { compound.reclaim_complete(); });
  if (!reclaimed) return tl::unexpected(reclaimed.error());
  return {};
}

Outcome<void> NfsPlace::find4() {
  minor_ = static_cast<unsigned>(where_.version.back() - '0');
  if (minor_ > 0) {
    if (auto begun = begin_session(); !begun) return begun;
  }
  const auto found = in_session("LOOKUP", [&](nfs4::Compound& compound) {
    compound.putrootfh();
    for (const auto& part : components(where_.path)) compound.lookup(part);
    compound.getfh().getattr({nfs4::attr::type, nfs4::attr::size});
  });
  if (!found) return tl::unexpected(found.error());
  const auto* handle = found->value<nfs4::Handle>(nfs4::Op::getfh);
  const auto* attributes = found->value<nfs4::Attributes>(nfs4::Op::getattr);
  if (handle == nullptr || attributes == nullptr)
    return fail(Reason::bad_value, "LOOKUP: the answer lacks file handle or attributes");
  handle_ = handle->bytes;
  size_ = attributes->size;
  directory_ = attributes->type == directory_type;
  return {};
}

Outcome<void> NfsPlace::create(const std::string& name) { return version3() ? create3(name) : create4(name); }

Outcome<void> NfsPlace::create3(const std::string& name) {
  parent_ = handle_;
  auto made = decoded("CREATE", ask(nfs_, nfs3::create_new(parent_, name)), nfs3::decode_create);
  if (made && made->empty()) made = decoded("LOOKUP", ask(nfs_, nfs3::lookup(parent_, name)), nfs3::decode_lookup);
  if (!made) return tl::unexpected(made.error());
  handle_ = std::move(*made);
  directory_ = false;
  return {};
}

Outcome<void> NfsPlace::create4(const std::string& name) {
  if (!has_session_)
    return fail(Reason::not_asked, "files are made by NFSv3, 4.1 or 4.2; 4.0 is measured with what is there");
  parent_ = handle_;
  const auto opened = in_session(
      "OPEN", [&](nfs4::Compound& compound) { compound.putfh(parent_).open_new(*client_id_, owner_, name).getfh(); });
  if (!opened) return tl::unexpected(opened.error());
  const auto* state = opened->value<nfs4::Opened>(nfs4::Op::open);
  const auto* file = opened->value<nfs4::Handle>(nfs4::Op::getfh);
  if (state == nullptr || file == nullptr)
    return fail(Reason::bad_value, "OPEN: the answer lacks state or file handle");
  open_state_ = state->state;
  opened_ = true;
  if (state->delegated) delegation_ = state->delegation;
  handle_ = file->bytes;
  directory_ = false;
  return {};
}

Outcome<void> NfsPlace::remove(const std::string& name) {
  const Bytes& directory = parent_.empty() ? handle_ : parent_;
  Failure failure;
  if (version3()) {
    const auto gone = decoded("REMOVE", ask(nfs_, nfs3::remove(directory, name)), nfs3::decode_remove);
    if (gone) return {};
    failure = gone.error();
  } else {
    if (delegation_)
      in_session("DELEGRETURN", [&](nfs4::Compound& compound) { compound.putfh(handle_).delegreturn(*delegation_); });
    if (opened_) in_session("CLOSE", [&](nfs4::Compound& compound) { compound.putfh(handle_).close(open_state_); });
    opened_ = false;
    delegation_.reset();
    const auto gone = in_session("REMOVE", [&](nfs4::Compound& compound) { compound.putfh(directory).remove(name); });
    if (gone) return {};
    failure = gone.error();
  }
  if (failure.reason == Reason::status && failure.code == noent) return {};
  return tl::unexpected(std::move(failure));
}

void NfsPlace::close() {
  if (!mounted_.empty()) ask(mountd_, mount3::umnt(mounted_));
  mounted_.clear();
  if (has_session_) {
    send(nfs4::Compound(minor_).destroy_session(session_));
    has_session_ = false;
  }
  if (client_id_) send(nfs4::Compound(minor_).destroy_clientid(*client_id_));
  client_id_.reset();
}

}  // namespace load
