#include "probes/wire/ask_iscsi.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <set>
#include <thread>
#include <utility>

#include "audit/base/text.h"
#include "probes/wire/address.h"
#include "probes/wire/iscsi_session.h"

namespace wire {
namespace {

using facts::Fact;
using iscsi::Session;

double ms(io::Duration duration) { return std::chrono::duration<double, std::milli>(duration).count(); }

std::string hex(const iscsi::Isid& isid) {
  std::string out;
  for (const auto byte : isid) out += fmt::format("{:02x}", byte);
  return out;
}

facts::Source row(const char* question, const Address& peer, const std::string& target, const Failure* failure,
                  io::Duration took) {
  facts::Source source;
  source.id = fmt::format("iscsi_target.{}", question);
  source.name = target.empty() ? peer.text() : peer.text() + " " + target;
  source.status = failure == nullptr ? "ok" : source_status(failure->reason);
  if (failure != nullptr) source.detail = to_text(*failure);
  source.duration_us = static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(took).count());
  return source;
}

// Times by which one run has to end.
struct Budget {
  io::Time questions;  // the last question ends
  io::Time logouts;    // the last logout ends
};

iscsi::Limits limits_of(const IscsiOptions& options, const Budget& budget) {
  iscsi::Limits limits;
  limits.timeout = options.timeout;
  limits.end = budget.questions;
  limits.stop = options.stop;
  return limits;
}

// --- facts of a login ----------------------------------------------------------------------------------------------

// No facts: the names that we gave, and what has a field of its own.
bool has_own_field(std::string_view key) {
  return key == "InitiatorName" || key == "InitiatorAlias" || key == "TargetName" || key == "TargetAlias" ||
         key == "SessionType" || key == "TargetAddress" || key == "TargetPortalGroupTag";
}

// The answer to a key, or what RFC 7143 says where the target says nothing; nothing where it refuses to say.
std::optional<std::string> answer_of(const iscsi::LoginResult& result, std::string_view key, const char* by_default) {
  const auto found =
      std::find_if(result.keys.begin(), result.keys.end(), [&](const iscsi::KeyRow& item) { return item.key == key; });
  if (found == result.keys.end() || !found->answer) return by_default;
  if (*found->answer == "NotUnderstood" || *found->answer == "Reject" || *found->answer == "Irrelevant")
    return std::nullopt;
  return found->answer;
}

template <class T>
void set_number(Fact<T>& fact, const iscsi::LoginResult& result, std::string_view key, const char* by_default) {
  const auto answer = answer_of(result, key, by_default);
  const auto number = answer ? iscsi::number_of(*answer) : std::nullopt;
  if (number && *number <= 0xffffffffU) fact = static_cast<T>(*number);
}

void set_flag(Fact<bool>& fact, const iscsi::LoginResult& result, std::string_view key) {
  const auto answer = answer_of(result, key, "Yes");
  if (answer && (*answer == "Yes" || *answer == "No")) fact = *answer == "Yes";
}

void note_result(facts::IscsiLogin& login, const iscsi::LoginResult& result) {
  login.redirected_to = Fact<std::string>::absent();
  if (result.status) {
    login.status = *result.status;
    login.status_text = iscsi::login_status_words(*result.status);
  }
  if (result.redirect) login.redirected_to = iscsi::to_text(*result.redirect);
  if (result.tag) login.tag = static_cast<std::int32_t>(*result.tag);
  if (result.version_max) login.version_max = *result.version_max;
  if (result.version_active) login.version_active = *result.version_active;
  if (result.auth_method) login.auth_method = *result.auth_method;
  login.exchanges = result.exchanges;
  for (const auto& item : result.keys) {
    if (has_own_field(item.key)) continue;
    facts::IscsiLoginKey& key = login.keys.emplace_back();
    key.key = item.key;
    key.offered = item.offered ? Fact<std::string>(*item.offered) : Fact<std::string>::absent();
    key.answer = item.answer ? Fact<std::string>(*item.answer) : Fact<std::string>::absent();
  }
  if (!result.complete) return;
  login.tsih = result.tsih;
  login.alias = result.alias ? Fact<std::string>(*result.alias) : Fact<std::string>::absent();
  login.chap_digest = result.chap_digest ? Fact<std::string>(iscsi::chap_digest_name(*result.chap_digest))
                                         : Fact<std::string>::absent();
  login.target_authenticated = result.target_authenticated;
  if (const auto digest = answer_of(result, "HeaderDigest", "None")) login.header_digest = *digest;
  if (const auto digest = answer_of(result, "DataDigest", "None")) login.data_digest = *digest;
  set_number(login.max_connections, result, "MaxConnections", "1");
  set_flag(login.initial_r2t, result, "InitialR2T");
  set_flag(login.immediate_data, result, "ImmediateData");
  set_number(login.first_burst_len_bytes, result, "FirstBurstLength", "65536");
  set_number(login.max_burst_len_bytes, result, "MaxBurstLength", "262144");
  set_number(login.max_outstanding_r2t, result, "MaxOutstandingR2T", "1");
  set_number(login.max_recv_dlength_bytes, result, "MaxRecvDataSegmentLength", "8192");
  set_number(login.erl, result, "ErrorRecoveryLevel", "0");
}

template <class Asked>
void note_failure(Asked& asked, const Failure& failure) {
  asked.result = reason_name(failure.reason);
  asked.detail = failure.detail.empty() ? std::string(reason_name(failure.reason)) : failure.detail;
}

// What a connection told of its portal. The first one that was made counts.
void note_connect(IscsiPortalAnswer& out, const Session& session, const Outcome<void>& connected, io::Duration took,
                  const Address& peer) {
  auto& portal = out.portal;
  if (portal.connect_result.has_value()) return;
  out.sources.push_back(row("connect", peer, "", connected ? nullptr : &connected.error(), took));
  if (!connected && connected.error().reason == Reason::not_asked) return;  // stopped: nothing is known
  portal.reachable = connected.has_value();
  portal.connect_result = std::string(connected ? "ok" : reason_name(connected.error().reason));
  portal.connect_detail = Fact<std::string>::absent();
  if (!connected) portal.connect_detail = connected.error().detail;
  portal.connect_ms = ms(took);
  if (!connected) return;
  if (const std::string own = session.local_address(); !own.empty()) portal.asked_from = own;
  if (const auto tcp = session.tcp_facts()) {
    if (tcp->rtt_us != 0) portal.tcp_rtt_us = static_cast<double>(tcp->rtt_us);
    portal.tcp_mss_bytes = tcp->snd_mss_bytes;
    portal.tcp_retrans = tcp->total_retrans;
  }
}

void note_not_connected(IscsiPortalAnswer& out, const Failure& failure, bool says_something) {
  facts::Source source;
  source.id = "iscsi_target.connect";
  source.name = host_port(out.portal.addr, out.portal.port);
  source.status = source_status(failure.reason);
  source.detail = to_text(failure);
  out.sources.push_back(std::move(source));
  out.portal.connect_result = std::string(reason_name(failure.reason));
  out.portal.connect_detail = failure.detail;
  if (says_something) out.portal.reachable = false;
}

// --- one portal ----------------------------------------------------------------------------------------------------

class PortalTalk {
 public:
  PortalTalk(const IscsiOptions& options, const Budget& budget) : options_(options), budget_(budget) {}

  // TCP only.
  void touch(IscsiPortalAnswer& out, const Address& peer) const {
    Session session(peer, limits_of(options_, budget_));
    connect(session, out, peer);
  }

  iscsi::SendTargets discover(IscsiPortalAnswer& out, const Address& peer) const {
    facts::IscsiDiscovery asked;
    asked.detail = Fact<std::string>::absent();
    asked.logged_out = Fact<bool>::absent();
    iscsi::SendTargets found;
    iscsi::LoginOffer offer = offer_for("");
    offer.chap.reset();  // most portals tell their targets to everybody
    auto outcome = discover_as(offer, out, peer, asked, found);
    if (!outcome && outcome.error().reason == Reason::chap_wanted && options_.chap) {
      offer.chap = options_.chap;
      asked = {};
      asked.detail = Fact<std::string>::absent();
      asked.logged_out = Fact<bool>::absent();
      outcome = discover_as(offer, out, peer, asked, found);
    }
    if (outcome) {
      asked.result = "ok";
    } else {
      note_failure(asked, outcome.error());
    }
    for (const auto& target : found.targets) asked.targets.push_back(target.name);
    asked.notes = found.notes;
    out.portal.discovery = std::move(asked);
    return found;
  }

  // Nothing where it could not connect: that is told of the portal.
  std::optional<iscsi::TargetAddress> log_in(IscsiPortalAnswer& out, const Address& peer,
                                             const IscsiLoginWish& wish) const {
    const iscsi::LoginOffer offer = offer_for(wish.target);
    facts::IscsiLogin login;
    login.target = wish.target;
    login.detail = Fact<std::string>::absent();
    login.initiator = offer.initiator_name;
    login.isid = hex(offer.isid);
    login.logged_out = Fact<bool>::absent();
    std::optional<iscsi::TargetAddress> redirect;
    Session session(peer, limits_of(options_, budget_));
    auto outcome = connect(session, out, peer);
    if (session.connect_took()) login.connect_ms = ms(*session.connect_took());
    if (outcome) {
      if (const std::string own = session.local_address(); !own.empty()) login.asked_from = own;
      const io::Time began = io::Clock::now();
      outcome = session.login(offer);
      note_result(login, session.login_result());
      redirect = session.login_result().redirect;
      if (session.login_took()) login.login_ms = ms(*session.login_took());
      out.sources.push_back(
          row("login", peer, wish.target, outcome ? nullptr : &outcome.error(), io::Clock::now() - began));
    }
    if (outcome) {
      login.result = "ok";
      look_at_luns(session, out, peer, wish, login);
      login.logged_out = session.logout(budget_.logouts).has_value();
    } else {
      note_failure(login, outcome.error());
    }
    if (!out.portal.logins.has_value()) out.portal.logins = std::vector<facts::IscsiLogin>{};
    out.portal.logins->push_back(std::move(login));
    return redirect;
  }

 private:
  iscsi::LoginOffer offer_for(const std::string& target) const {
    iscsi::LoginOffer offer;
    offer.initiator_name = options_.initiator_name;
    offer.target_name = target;
    offer.chap = options_.chap;
    offer.isid = iscsi::random_isid();
    return offer;
  }

  static Outcome<void> connect(Session& session, IscsiPortalAnswer& out, const Address& peer) {
    const io::Time began = io::Clock::now();
    auto connected = session.connect();
    note_connect(out, session, connected, io::Clock::now() - began, peer);
    return connected;
  }

  Outcome<void> discover_as(const iscsi::LoginOffer& offer, IscsiPortalAnswer& out, const Address& peer,
                            facts::IscsiDiscovery& asked, iscsi::SendTargets& found) const {
    Session session(peer, limits_of(options_, budget_));
    if (auto connected = connect(session, out, peer); !connected) return connected;
    const io::Time began = io::Clock::now();
    auto outcome = session.login(offer);
    if (session.login_result().status) {
      asked.status = *session.login_result().status;
      asked.status_text = iscsi::login_status_words(*asked.status);
    }
    if (session.login_took()) asked.login_ms = ms(*session.login_took());
    if (outcome) {
      const io::Time asks = io::Clock::now();
      auto targets = session.send_targets();
      if (targets) {
        asked.send_targets_ms = ms(io::Clock::now() - asks);
        found = std::move(*targets);
      } else {
        outcome = tl::unexpected(targets.error());
      }
      asked.logged_out = session.logout(budget_.logouts).has_value();
    }
    out.sources.push_back(row("discovery", peer, "", outcome ? nullptr : &outcome.error(), io::Clock::now() - began));
    return outcome;
  }

  void look_at_luns(Session& session, IscsiPortalAnswer& out, const Address& peer, const IscsiLoginWish& wish,
                    facts::IscsiLogin& login) const {
    iscsi::LunQuestions questions = options_.luns;
    questions.numbers.insert(questions.numbers.end(), wish.luns.begin(), wish.luns.end());
    const io::Time began = io::Clock::now();
    auto asked = iscsi::ask_luns(session, questions);
    login.command_window = session.command_window();
    if (asked.nop_p50_us) login.nop_p50_us = *asked.nop_p50_us;
    login.read_p50_us = Fact<double>::absent();
    IscsiPortalAnswer::Luns luns{wish.target, {}};
    std::vector<facts::IscsiPathLun> paths;
    for (auto& one : asked.luns) {
      const auto keep_least = [](Fact<double>& fact, const Fact<double>& value) {
        if (value.has_value() && (!fact.has_value() || *value < *fact)) fact = *value;
      };
      keep_least(login.tur_p50_us, one.path.tur_p50_us);
      keep_least(login.read_p50_us, one.path.read_p50_us);
      paths.push_back(std::move(one.path));
      if (!paths.back().gone.is(true) && paths.back().result != "not_asked") luns.luns.push_back(std::move(one.lun));
    }
    const Failure* failure = asked.listing ? &*asked.listing : nullptr;
    if (failure == nullptr && session.broken()) failure = &*session.broken();
    out.sources.push_back(row("luns", peer, wish.target, failure, io::Clock::now() - began));
    if (!asked.listing || !paths.empty()) login.luns = std::move(paths);
    if (!asked.listing || !luns.luns.empty()) out.luns.push_back(std::move(luns));
  }

  const IscsiOptions& options_;
  const Budget& budget_;
};

// --- all of them ---------------------------------------------------------------------------------------------------

// Runs jobs side by side; each ends by itself in time.
void side_by_side(std::size_t count, std::size_t at_once, const std::function<void(std::size_t)>& job) {
  std::atomic<std::size_t> next{0};
  std::vector<std::thread> threads;
  const auto work = [&] {
    for (std::size_t i = next++; i < count; i = next++) job(i);
  };
  for (std::size_t i = 1; i < std::min(count, at_once); ++i) threads.emplace_back(work);
  work();
  for (auto& thread : threads) thread.join();
}

struct Place {
  std::optional<Address> address;
  std::vector<IscsiLoginWish> wishes;
  bool discover = false;
  iscsi::SendTargets found;
  std::vector<std::pair<IscsiPortalAnswer, Address>> redirected;
};

class Crowd {
 public:
  explicit Crowd(const IscsiOptions& options) : options_(options) {
    const io::Time end = io::Clock::now() + options.deadline;
    budget_.logouts = end;
    budget_.questions = end - std::min<io::Duration>(options.deadline / 4, std::chrono::milliseconds(500));
  }

  IscsiAnswers run(const std::vector<IscsiPortalTarget>& portals) {
    for (const auto& portal : portals) {
      const std::string& host = portal.addr.empty() ? portal.name : portal.addr;
      for (auto& address : addresses_of(host, portal.port, portal))
        place_of(portal.name, address, portal.tag, portal.discover, portal.logins);
    }
    each(0, [this](Place& place, IscsiPortalAnswer& out) {
      if (place.discover) place.found = talk().discover(out, *place.address);
    });
    const std::size_t asked = places_.size();
    for (std::size_t i = 0; i < asked; ++i) take_offered(i);
    each(0, [this](Place& place, IscsiPortalAnswer& out) { log_in(place, out); });
    for (std::size_t i = 0, count = places_.size(); i < count; ++i) {
      auto redirected = std::move(places_[i].redirected);  // merging may add places
      for (auto& [answer, address] : redirected) merge_redirected(std::move(answer), address);
    }
    return std::move(answers_);
  }

 private:
  PortalTalk talk() const { return {options_, budget_}; }
  bool is_over() const {
    return io::Clock::now() >= budget_.questions || (options_.stop != nullptr && options_.stop->load());
  }

  // A name or address that leads nowhere leaves an answer that says so.
  std::vector<Address> addresses_of(const std::string& host, std::uint16_t port, const IscsiPortalTarget& portal) {
    auto numeric = parse_address(host, port);
    if (numeric) return {*numeric};
    base::Error error = numeric.error();
    if (portal.addr.empty() && error.kind == base::ErrorKind::malformed) {
      auto found = resolve(host, port, std::min(budget_.questions, io::Clock::now() + options_.timeout), options_.stop);
      if (found) {
        if (found->size() > options_.addresses_per_name) found->resize(options_.addresses_per_name);
        return std::move(*found);
      }
      error = found.error();
    }
    IscsiPortalAnswer& out = answers_.portals.emplace_back();
    places_.emplace_back();
    out.name = portal.name;
    out.portal.addr = host;
    out.portal.port = port;
    out.portal.tag = portal.tag;
    const bool zone = host.find(':') != std::string::npos;
    Failure failure{zone ? Reason::no_zone : Reason::unreachable, base::to_text(error)};
    note_not_connected(out, failure, true);
    if (error.kind == base::ErrorKind::timeout || error.kind == base::ErrorKind::absent) {
      out.sources.back().status = base::status_word(error.kind);
      out.portal.connect_result = std::string(error.kind == base::ErrorKind::timeout ? "name_timeout" : "name_unknown");
    }
    return {};
  }

  std::size_t place_of(const std::string& name, const Address& address, const Fact<std::int32_t>& tag, bool discover,
                       const std::vector<IscsiLoginWish>& wishes) {
    std::size_t at = 0;
    while (at < places_.size() && !(places_[at].address && *places_[at].address == address)) ++at;
    if (at == places_.size()) {
      places_.emplace_back().address = address;
      IscsiPortalAnswer& out = answers_.portals.emplace_back();
      out.name = name;
      out.portal.addr = address.host();
      out.portal.port = address.port();
    }
    if (!answers_.portals[at].portal.tag.has_value()) answers_.portals[at].portal.tag = tag;
    Place& place = places_[at];
    place.discover = place.discover || discover;
    for (const auto& wish : wishes) add_wish(place, wish);
    return at;
  }

  static void add_wish(Place& place, const IscsiLoginWish& wish) {
    for (auto& known : place.wishes) {
      if (known.target != wish.target) continue;
      for (const auto& lun : wish.luns)
        if (std::find(known.luns.begin(), known.luns.end(), lun) == known.luns.end()) known.luns.push_back(lun);
      return;
    }
    place.wishes.push_back(wish);
  }

  void each(std::size_t from, const std::function<void(Place&, IscsiPortalAnswer&)>& work) {
    side_by_side(places_.size() - from, options_.portals_at_once, [&](std::size_t i) {
      Place& place = places_[from + i];
      if (!place.address) return;
      work(place, answers_.portals[from + i]);
    });
  }

  // What a discovery session told: kept, and followed where that is wanted.
  void take_offered(std::size_t told_by) {
    const iscsi::SendTargets found = std::move(places_[told_by].found);
    const bool names_it = std::any_of(found.targets.begin(), found.targets.end(),
                                      [&](const iscsi::TargetRecord& one) { return one.name == options_.only_target; });
    // Not named, or not told at all: the login itself says what there is.
    if (options_.follow && !options_.only_target.empty() && !names_it && places_[told_by].address)
      add_wish(places_[told_by], {options_.only_target, {}});
    for (const auto& target : found.targets) {
      // A target without an address is at the portal that told of it (RFC 7143 appendix C).
      std::vector<iscsi::TargetAddress> addresses = target.addresses;
      if (addresses.empty())
        addresses.push_back({answers_.portals[told_by].portal.addr, places_[told_by].address->port(), {}});
      for (const auto& address : addresses) {
        answers_.offered.push_back({target.name, address, told_by});
        const bool wanted = options_.follow && (options_.only_target.empty() || options_.only_target == target.name);
        if (wanted) follow(target.name, address);
      }
    }
  }

  void follow(const std::string& target, const iscsi::TargetAddress& address) {
    IscsiPortalTarget portal;
    portal.name = address.host;
    portal.port = address.port;
    if (address.tag) portal.tag = static_cast<std::int32_t>(*address.tag);
    portal.logins.push_back({target, {}});
    const bool is_dead = std::any_of(answers_.portals.begin(), answers_.portals.end(), [&](const auto& known) {
      return known.portal.addr == address.host && known.portal.port == address.port && known.portal.reachable.is(false);
    });
    if (is_dead || places_.size() >= options_.most_portals) return;
    for (const auto& found : addresses_of(address.host, address.port, portal))
      place_of(portal.name, found, portal.tag, false, portal.logins);
  }

  void log_in(Place& place, IscsiPortalAnswer& out) {
    if (out.portal.reachable.is(false)) return;
    if (place.wishes.empty()) {
      if (!out.portal.connect_result.has_value() && !is_over()) talk().touch(out, *place.address);
      if (!out.portal.connect_result.has_value() && out.sources.empty()) not_asked(out);
      return;
    }
    for (std::size_t i = 0; i < place.wishes.size(); ++i) {
      if (is_over() || i == options_.most_logins) {
        not_logged_in(place, i, out);
        return;
      }
      const auto redirect = talk().log_in(out, *place.address, place.wishes[i]);
      if (out.portal.reachable.is(false)) return;
      if (redirect) follow_redirect(place, out, place.wishes[i], *redirect);
    }
  }

  void not_asked(IscsiPortalAnswer& out) const {
    const Failure failure{Reason::not_asked, "the run ended before this portal's turn"};
    note_not_connected(out, failure, false);
    out.portal.connect_result = {};
    out.portal.connect_detail = {};
  }

  void not_logged_in(const Place& place, std::size_t from, IscsiPortalAnswer& out) const {
    const bool over = is_over();
    const Failure failure{Reason::not_asked, over ? "the run ended before"
                                                  : fmt::format("{} logins at one portal are "
                                                                "made at most",
                                                                options_.most_logins)};
    for (std::size_t i = from; i < place.wishes.size(); ++i)
      out.sources.push_back(row("login", *place.address, place.wishes[i].target, &failure, {}));
    if (!out.portal.connect_result.has_value() && out.portal.reachable.is_unknown() && over && from == 0)
      not_asked(out);
  }

  // A target may send us to another portal, but not round and round.
  void follow_redirect(Place& place, IscsiPortalAnswer& first, const IscsiLoginWish& wish,
                       iscsi::TargetAddress to) const {
    std::set<std::string> visited{place.address->text()};
    for (unsigned hops = 1;; ++hops) {
      auto& last_login = place.redirected.empty() || hops == 1 ? first.portal.logins->back()
                                                               : place.redirected.back().first.portal.logins->back();
      auto address = parse_address(to.host, to.port);
      if (!address) {
        auto found =
            resolve(to.host, to.port, std::min(budget_.questions, io::Clock::now() + options_.timeout), options_.stop);
        if (!found) {
          last_login.detail = fmt::format("redirected to {}: {}", iscsi::to_text(to), base::to_text(found.error()));
          return;
        }
        address = found->front();
      }
      if (hops > options_.most_redirects || !visited.insert(address->text()).second) {
        last_login.result = reason_name(Reason::redirect_loop);
        last_login.detail = fmt::format("{} redirections, the last one to {}", hops, iscsi::to_text(to));
        return;
      }
      if (is_over()) return;
      IscsiPortalAnswer next;
      next.name = to.host;
      next.portal.addr = address->host();
      next.portal.port = address->port();
      if (to.tag) next.portal.tag = static_cast<std::int32_t>(*to.tag);
      const auto again = talk().log_in(next, *address, wish);
      place.redirected.emplace_back(std::move(next), *address);
      if (!again) return;
      to = *again;
    }
  }

  void merge_redirected(IscsiPortalAnswer answer, const Address& address) {
    const std::size_t at = place_of(answer.name, address, answer.portal.tag, false, {});
    IscsiPortalAnswer& known = answers_.portals[at];
    auto logins = std::move(answer.portal.logins);
    if (!known.portal.connect_result.has_value()) {
      const auto own = std::move(known.portal.logins);
      known.portal = std::move(answer.portal);
      known.portal.logins = own;
    }
    if (logins.has_value()) {
      if (!known.portal.logins.has_value()) known.portal.logins = std::vector<facts::IscsiLogin>{};
      for (auto& login : *logins) known.portal.logins->push_back(std::move(login));
    }
    for (auto& luns : answer.luns) known.luns.push_back(std::move(luns));
    for (auto& source : answer.sources) known.sources.push_back(std::move(source));
  }

  const IscsiOptions& options_;
  Budget budget_;
  IscsiAnswers answers_;
  std::vector<Place> places_;  // one for each of answers_.portals
};

}  // namespace

IscsiAnswers ask_iscsi(const std::vector<IscsiPortalTarget>& portals, const IscsiOptions& options) {
  return Crowd(options).run(portals);
}

}  // namespace wire
