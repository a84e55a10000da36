// Who is joined to whom below a file system: session, device, multipath map, target, portal, and what uses them. One
// index a document, built once, linear in sessions, devices and paths.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "audit/eval/derive.h"

namespace audit {

// Positions in the lists of the document: iscsi.sessions, iscsi.targets, iscsi.portals, block.devices, multipath.maps;
// of uses in `uses`. Lists are sorted and name each entry once.
class Storage {
 public:
  using Indices = std::vector<std::uint32_t>;
  using Place = std::optional<std::uint32_t>;

  struct Session {
    Place target, portal, record;
    Indices devices, maps, uses;  // uses: of its devices and of the maps that these are paths of
  };
  struct Device {
    Place session, target, portal, map;
    Indices uses;      // of the disk itself
    Indices all_uses;  // and of its map
  };
  struct Map {
    Place device;                                    // its dm device
    std::vector<Place> path_devices, path_sessions;  // in the order of paths
    Indices devices, sessions, targets, portals, uses;
  };
  struct Target {
    Indices sessions, portals, devices, maps, uses;  // portals: those that a session asked for
  };
  struct Portal {
    Indices sessions, targets, uses;
  };
  struct Use {
    const facts::BlockUse* use = nullptr;
    Place device, map;  // one of them
    std::uint32_t nested = 0;
  };

  explicit Storage(const Context& context);

  std::vector<Session> sessions;
  std::vector<Device> devices;
  std::vector<Map> maps;
  std::vector<Target> targets;
  std::vector<Portal> portals;
  std::vector<Use> uses;

  Place device_named(const std::string& name) const;
  Place map_named(const std::string& id) const;  // by id, WWID or alias
  Place target_named(const std::string& name) const;
  Place portal_named(const std::string& id) const;

  // The same disk in the earlier sample; nothing where the samples cannot be compared, or it came up in between.
  const facts::BlockDevice* earlier_device(std::uint32_t device) const;

 private:
  using Names = std::unordered_map<std::string, std::uint32_t>;
  void read_names(const facts::Facts& facts);
  void join_sessions(const facts::Facts& facts);
  void join_devices(const facts::Facts& facts);
  void join_maps(const facts::Facts& facts);
  void gather_uses(const facts::Facts& facts);
  void gather_up();
  void read_earlier(const Context& context);
  Place session_of(const facts::Fact<std::uint32_t>& sid, const facts::Fact<std::uint32_t>& host,
                   const facts::Fact<std::string>& id) const;

  Names device_by_name_, map_by_name_, target_by_name_, portal_by_id_;
  std::unordered_map<std::uint32_t, std::uint32_t> session_by_sid_;
  std::unordered_map<std::uint32_t, Indices> sessions_by_host_;
  std::unordered_map<std::string, Indices> sessions_by_id_;
  std::vector<const facts::BlockDevice*> earlier_;
};

// Lists, references and collections over sessions, targets, portals, disks, maps and their users.
void add_storage_scopes(std::vector<Scope>& all);

}  // namespace audit
