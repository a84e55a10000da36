#include "probes/wire/ask_nfs.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <thread>
#include <utility>

#include "audit/base/text.h"
#include "probes/wire/address.h"
#include "probes/wire/nfs_server.h"
#include "probes/wire/reason.h"

namespace wire {
namespace {

template <class T>
void add_new(std::vector<T>& to, const std::vector<T>& from) {
  for (const auto& item : from)
    if (std::find(to.begin(), to.end(), item) == to.end()) to.push_back(item);
}

// Targets of one address and port are one server.
std::vector<NfsTarget> merged(const std::vector<NfsTarget>& targets) {
  std::vector<NfsTarget> out;
  for (const auto& target : targets) {
    const auto same = std::find_if(out.begin(), out.end(), [&](const NfsTarget& other) {
      return other.port == target.port &&
             (target.addr.empty() ? other.addr.empty() && other.name == target.name : other.addr == target.addr);
    });
    if (same == out.end()) {
      out.push_back(target);
      continue;
    }
    add_new(same->exports, target.exports);
    add_new(same->versions_in_use, target.versions_in_use);
    same->mounted = same->mounted || target.mounted;
    same->port_given = same->port_given || target.port_given;
    same->nlm_in_use = same->nlm_in_use || target.nlm_in_use;
    if (!same->mountd_port) same->mountd_port = target.mountd_port;
  }
  return out;
}

facts::NfsServer unasked(const NfsTarget& target, const std::string& result, const std::string& detail) {
  facts::NfsServer server;
  server.name = target.name;
  if (!target.addr.empty()) server.addr = target.addr;
  server.port = target.port;
  server.mounted = target.mounted;
  facts::NfsService nfs;
  nfs.program = "nfs";
  nfs.program_number = 100003;
  nfs.port = target.port;
  nfs.result = result;
  nfs.detail = detail;
  if (!target.versions_in_use.empty()) nfs.needed_by_versions = target.versions_in_use;
  server.services.push_back(std::move(nfs));
  return server;
}

NfsAnswer could_not_ask(const NfsTarget& target, const base::Error& error) {
  NfsAnswer answer;
  const bool late = error.kind == base::ErrorKind::timeout;
  answer.server = unasked(target, late ? "name_timeout" : "name_unknown", base::to_text(error));
  // A server that cannot be found cannot be mounted either.
  answer.server.services.front().reachable = false;
  if (target.versions_in_use.empty())
    answer.server.services.front().needed_by_versions = std::vector<std::string>{"3", "4"};
  facts::Source source;
  source.id = "nfs_server.name";
  source.name = host_port(target.name, target.port);
  source.status = base::status_word(error.kind);
  source.detail = error.message;
  answer.sources.push_back(std::move(source));
  return answer;
}

NfsAnswer not_asked(const NfsTarget& target, const std::string& why) {
  NfsAnswer answer;
  answer.server = unasked(target, reason_name(Reason::not_asked), why);
  facts::Source source;
  source.id = "nfs_server.nfs";
  source.name = host_port(target.addr.empty() ? target.name : target.addr, target.port);
  source.status = "skipped";
  source.detail = why;
  answer.sources.push_back(std::move(source));
  return answer;
}

struct Job {
  NfsTarget target;
  Address address;
  std::size_t place = 0;
};

// Addresses of each target: numeric at once, names side by side in threads of their own.
std::vector<base::Result<std::vector<Address>>> addresses_of(const std::vector<NfsTarget>& targets,
                                                             const AskOptions& options, io::Time end) {
  std::vector<base::Result<std::vector<Address>>> out(targets.size());
  std::vector<std::future<base::Result<std::vector<Address>>>> lookups(targets.size());
  const io::Time deadline = std::min(end, io::Clock::now() + options.timeout);
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const NfsTarget& target = targets[i];
    const std::string& host = target.addr.empty() ? target.name : target.addr;
    auto numeric = parse_address(host, target.port);
    if (numeric) {
      out[i] = std::vector<Address>{*numeric};
    } else if (!target.addr.empty() || numeric.error().kind != base::ErrorKind::malformed) {
      out[i] = tl::unexpected(numeric.error());
    } else {
      lookups[i] = std::async(std::launch::async,
                              [host, port = target.port, deadline] { return resolve(host, port, deadline); });
    }
  }
  for (std::size_t i = 0; i < targets.size(); ++i)
    if (lookups[i].valid()) out[i] = lookups[i].get();
  return out;
}

// Which of the addresses are one server (RFC 8881 section 2.10.5.1): equal owner and scope.
void join_owners(std::vector<NfsAnswer>& answers) {
  const auto id = [](const facts::NfsServer& server) {
    return host_port(server.addr.value_or(server.name), server.port);
  };
  for (auto& one : answers) {
    auto& server = one.server;
    if (!server.owner.has_value() || !server.scope.has_value()) continue;
    std::vector<std::string> same;
    std::vector<std::string> trunkable;
    for (const auto& other : answers) {
      if (&other == &one || !(other.server.owner == server.owner) || !(other.server.scope == server.scope)) continue;
      same.push_back(id(other.server));
      if (other.server.owner_minor == server.owner_minor) trunkable.push_back(id(other.server));
    }
    server.same_server = same;
    server.trunkable = trunkable;
  }
}

// Starts servers one after the other, a few at once.
class Crowd {
 public:
  Crowd(io::Loop& loop, const AskOptions& options, io::Time end, std::vector<Job> jobs)
      : loop_(loop), options_(options), end_(end), jobs_(std::move(jobs)) {}

  void run(std::vector<std::optional<NfsAnswer>>& answers) {
    answers_ = &answers;
    start_next();
    if (options_.stop != nullptr) look_at_stop();
    // The ladders end by end_ themselves; the loop's own end is for what they left.
    loop_.run(end_ + std::chrono::milliseconds(50));
  }

 private:
  void start_next() {
    if (next_ == jobs_.size() || running_.size() >= options_.servers_at_once || stopped_) return;
    if (io::Clock::now() >= end_) return;
    const std::size_t at = next_++;
    running_[at] = nullptr;
    auto ladder =
        ask_nfs_server(loop_, jobs_[at].target, jobs_[at].address, options_, end_, [this, at](NfsAnswer answer) {
          (*answers_)[jobs_[at].place] = std::move(answer);
          running_.erase(at);
          if (running_.empty() && next_ == jobs_.size()) loop_.cancel(stop_timer_);
          loop_.post([this] { start_next(); });
        });
    const auto entry = running_.find(at);
    if (entry != running_.end()) entry->second = std::move(ladder);
    if (next_ < jobs_.size()) loop_.at(io::Clock::now() + options_.stagger, [this] { start_next(); });
  }

  void look_at_stop() {
    if (options_.stop->load()) {
      stopped_ = true;
      auto running = running_;
      for (const auto& [at, ladder] : running)
        if (ladder) ladder->stop();
      return;
    }
    if (running_.empty() && next_ == jobs_.size()) return;
    stop_timer_ = loop_.at(io::Clock::now() + std::chrono::milliseconds(50), [this] { look_at_stop(); });
  }

  io::Loop& loop_;
  const AskOptions& options_;
  io::Time end_;
  std::vector<Job> jobs_;
  std::size_t next_ = 0;
  bool stopped_ = false;
  io::Loop::TimerId stop_timer_ = 0;
  std::map<std::size_t, std::shared_ptr<NfsServerAsk>> running_;
  std::vector<std::optional<NfsAnswer>>* answers_ = nullptr;
};

}  // namespace

std::vector<LookedUp> look_up(const std::vector<std::string>& names, const AskOptions& options) {
  const io::Time deadline = io::Clock::now() + std::min(options.timeout, options.deadline);
  std::vector<std::future<base::Result<std::vector<Address>>>> under_way;
  under_way.reserve(names.size());
  for (const auto& name : names)
    under_way.push_back(std::async(
        std::launch::async, [name, deadline, stop = options.stop] { return resolve(name, 2049, deadline, stop); }));
  std::vector<LookedUp> out;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto found = under_way[i].get();
    if (!found) {
      out.push_back({names[i], tl::unexpected(found.error())});
      continue;
    }
    std::vector<std::string> addrs;
    for (const auto& address : *found) addrs.push_back(address.host());
    out.push_back({names[i], std::move(addrs)});
  }
  return out;
}

std::vector<NfsAnswer> ask_nfs(const std::vector<NfsTarget>& targets, const AskOptions& options) {
  const io::Time end = io::Clock::now() + options.deadline;
  const auto servers = merged(targets);
  const auto addresses = addresses_of(servers, options, end);
  std::vector<std::optional<NfsAnswer>> answers;
  std::vector<NfsTarget> of;
  std::vector<Job> jobs;
  for (std::size_t i = 0; i < servers.size(); ++i) {
    if (!addresses[i]) {
      answers.emplace_back(could_not_ask(servers[i], addresses[i].error()));
      of.push_back(servers[i]);
      continue;
    }
    for (std::size_t k = 0; k < addresses[i]->size() && k < options.addresses_per_name; ++k) {
      jobs.push_back({servers[i], (*addresses[i])[k], answers.size()});
      answers.emplace_back();
      of.push_back(servers[i]);
      of.back().addr = (*addresses[i])[k].host();
    }
  }
  {
    io::Loop loop;
    Crowd crowd(loop, options, end, jobs);
    crowd.run(answers);
  }
  std::vector<NfsAnswer> out;
  for (std::size_t i = 0; i < answers.size(); ++i)
    out.push_back(answers[i] ? std::move(*answers[i]) : not_asked(of[i], "the run ended before this server's turn"));
  join_owners(out);
  return out;
}

}  // namespace wire
