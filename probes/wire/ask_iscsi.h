// The door of the iSCSI questions: portals in, facts and source rows out, within one deadline. A connect is always made
// and timed; a discovery session and logins only where they are asked for, for each takes a session slot of the array.
// Every session is our own (name, session id of the random kind) and is logged out, so that none is left.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "audit/base/result.h"
#include "audit/facts/iscsi.h"
#include "audit/facts/node.h"
#include "probes/io/loop.h"
#include "probes/wire/iscsi_login.h"
#include "probes/wire/iscsi_luns.h"

namespace wire {

// The name under which we log in unless the user says otherwise. Of a domain that nobody can have (RFC 2606).
inline constexpr const char* own_initiator_name = "iqn.2001-01.invalid.mountaudit:probe";

struct IscsiLoginWish {
  std::string target;
  std::vector<std::string> luns;  // asked for also where the target does not list them
};

struct IscsiPortalTarget {
  std::string name;  // as a URL or a record names it
  std::string addr;  // numeric, a zone may follow; empty: the name is resolved
  std::uint16_t port = 3260;
  facts::Fact<std::int32_t> tag;
  bool discover = false;
  std::vector<IscsiLoginWish> logins;
};

struct IscsiOptions {
  io::Duration timeout = std::chrono::seconds(2);    // one question
  io::Duration deadline = std::chrono::seconds(10);  // all of them, name look-ups and logouts included
  const std::atomic<bool>* stop = nullptr;           // when it becomes true: log out and return what is there
  std::string initiator_name = own_initiator_name;
  std::optional<iscsi::ChapSecrets> chap;
  bool follow = false;      // log in at each portal that SendTargets names, to each target there ...
  std::string only_target;  // ... or to this one alone
  iscsi::LunQuestions luns;
  std::size_t portals_at_once = 16;
  std::size_t addresses_per_name = 4;
  std::size_t most_portals = 64;  // that are followed
  std::size_t most_logins = 16;   // at one portal
  unsigned most_redirects = 4;    // of one login
};

struct IscsiPortalAnswer {
  std::string name;           // as asked for
  facts::IscsiPortal portal;  // addr, port, tag, what was asked; id and joins are the caller's
  struct Luns {
    std::string target;
    std::vector<facts::IscsiLun> luns;
  };
  std::vector<Luns> luns;
  std::vector<facts::Source> sources;  // iscsi_target.connect, .discovery, .login, .luns; named after "addr:port"
};

// What a discovery session told.
struct IscsiOffered {
  std::string target;
  iscsi::TargetAddress address;
  std::size_t told_by = 0;  // in IscsiAnswers::portals
};

struct IscsiAnswers {
  std::vector<IscsiPortalAnswer> portals;  // in the order asked, then those that were offered or redirected to
  std::vector<IscsiOffered> offered;
};

IscsiAnswers ask_iscsi(const std::vector<IscsiPortalTarget>& portals, const IscsiOptions& options);

// iscsi://[user@]host[:port][/iqn[/lun]]. A URL with a secret in it is refused, and no error repeats it.
struct IscsiUrl {
  IscsiPortalTarget portal;
  std::string user;    // of CHAP
  std::string target;  // empty: all that discovery names
  std::string lun;     // empty: all of them
  std::string shown;   // the URL without the user
};
base::Result<IscsiUrl> parse_iscsi_url(std::string_view url);

}  // namespace wire
