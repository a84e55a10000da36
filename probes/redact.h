// --redact: stand-ins for what tells whose node it is. One Redactor serves a run: the same input has the same stand-in
// in facts, reports and raw tree, and what differs stays different.
//
// Replaced: IPv4 and IPv6 addresses (into 240.0.0.0/4 and 2001:db8::/32, with common prefixes kept, so that routes and
// networks still fit; unspecified, loopback and multicast addresses stay), MAC addresses, host names, exports, mount
// points and other paths by their parts, names of pods, namespaces, VMs, volumes, claims, classes, backends, SVMs,
// UUIDs, IQNs, WWIDs, serial numbers, machine and client identity hashes, server owners.
// Not replaced: versions, options, counters, times, port numbers, interface and process names, system paths (/proc,
// /sys, /etc and the kubelet's and Trident's directories), names of CSI drivers, models and vendors, words in free text
// that no fact names. Counts and structure of the node stay visible.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "audit/facts/facts.h"

namespace probes {

class Redactor {
 public:
  Redactor();  // a key of this run: the addresses cannot be found again by trying all
  explicit Redactor(std::string key) : key_(std::move(key)) {}

  // Takes the names of the document, so that text() knows them.
  void learn(const facts::Facts& facts);
  // learn(), then a copy with stand-ins.
  facts::Facts redact(facts::Facts facts);

  std::string text(std::string_view text);  // free text: addresses, identifiers, paths and learned names in it
  std::string path(std::string_view path);  // all of it is a path, absolute or relative
  std::string part(std::string_view part);  // one part of a path
  std::string file(std::string_view path, std::string_view text);        // of a raw tree
  std::string answer(std::string_view question, std::string_view text);  // of the kernel (probes/io/netlink.h)

 private:
  std::string address(std::string_view text);  // empty where it is none
  std::string mapped(const unsigned char* bytes, std::size_t size);
  std::string host(std::string_view name);
  std::string pair(std::string_view text, const char* second);  // "namespace/name"
  std::string standin(std::string_view original, const char* kind);
  std::string uuid(std::string_view original);
  std::string hex(std::string_view original);
  std::size_t match_identifier(std::string_view rest, std::string& out);
  std::string unit(std::string_view name, std::string_view ending);
  void walk(const facts::TypeInfo& type, void* at, const std::string& field, bool write);
  void value(std::string& text, const std::string& field, bool write);

  std::string key_;
  std::map<std::string, std::string, std::less<>> names_;  // original to stand-in
  std::map<std::string, std::size_t, std::less<>> counts_;
  std::map<std::string, std::string, std::less<>> addresses_;  // bytes to bytes
  std::map<std::string, std::string, std::less<>> identifiers_;
  std::set<std::string, std::less<>> spaced_paths_;  // learned paths that free text would end early
};

}  // namespace probes
