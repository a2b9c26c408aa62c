// Whoever wants to see each packet on each link: a capture (Config::tap). It changes nothing.
//
// A packet is told of when something looks at its port, which is at the latest when it arrives: of one link in the
// order of its packets, of several links in none. Times are those at which they begin on the link.
#pragma once

#include "fabric/packet.hpp"
#include "fabric/topology/topology.hpp"
#include "sim/time.hpp"

namespace loco::fabric {

class LinkTap {
 public:
  virtual ~LinkTap() = default;
  virtual void on_packet(topology::LinkId link, sim::SimTime begins, const Packet& packet) = 0;
  /// A PFC frame for these classes, a bit each, begins on the link.
  virtual void on_pause(topology::LinkId link, sim::SimTime begins, std::uint8_t classes, bool stop) = 0;

 protected:
  LinkTap() = default;
  LinkTap(const LinkTap&) = default;
  LinkTap& operator=(const LinkTap&) = default;
};

}  // namespace loco::fabric
