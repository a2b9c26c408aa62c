// A graph that several networks simulate together, each some of its vertices: its part (docs/parallel-runs.md).
//
// A link belongs to the part of the vertex that feeds it: its queue, its pauses, when it is free. What starts on a link
// to another part leaves the network at that instant (a Crossing), and arrives in the network of that part: not before
// lookahead() has passed. So parts need to know of each other only what happened so long ago.
//
// Events of equal time are ordered by what they are about, not by who was told first, so that the parts do not have to
// agree on an order of all events (`ranked`): arrivals over a lane come behind what a device does by itself, by the
// number of the lane. Random choices come from a stream for each vertex. Links that go down or up, and routes that are
// worked out anew, are events of every part: all know beforehand when, and each sees to its ends of the links.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "fabric/congestion/feedback.hpp"
#include "fabric/lane.hpp"
#include "fabric/packet.hpp"
#include "fabric/topology/topology.hpp"
#include "sim/time.hpp"

namespace loco::fabric {

struct Config;

/// What crosses from one part to another.
struct Crossing {
  sim::SimTime at{};  ///< when it arrives
  topology::LinkId link = 0;
  std::uint32_t changes = 0;  ///< of links (Config::changes) that its part knew of when it left
  bool is_pause = false;
  bool is_headers = false;  ///< of a trimmed packet, which have a queue of their own
  Pause pause{};
  Entry entry{};  ///< else, with the packet
  Packet packet{};
  std::vector<Telemetry> telemetry{};  ///< the packet's, where it carries any

  bool operator==(const Crossing&) const = default;
};

/// Why a network of this configuration cannot be parted; empty when it can.
[[nodiscard]] std::string_view not_parted_because(const Config& config);

/// At most `parts` parts of about as many hosts each, by vertex: hosts that share their first switch stay together, and
/// other switches go where most of their neighbours are. `machine_of`: by host of the graph, in order, which of them
/// are NICs of one machine: these stay together instead, whatever their switches. Empty: each is one by itself.
[[nodiscard]] std::vector<std::uint8_t> make_parts(const Config& config, std::uint32_t parts,
                                                   const std::vector<std::uint32_t>& machine_of = {});

/// The least time from anything that happens in a part until another one can notice, the least packet having
/// `packet_least` bytes on the wire. max() where no link leads to another part. Precondition: it can be parted.
[[nodiscard]] sim::Duration lookahead(const Config& config, const std::vector<std::uint8_t>& part_of,
                                      std::uint32_t packet_least);

}  // namespace loco::fabric
