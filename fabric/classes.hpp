// Traffic classes of a network's ports: the state of one port's queues. Private to fabric/.
//
// Where there are classes, a port has a queue for each, and a packet leaves its queue by an event, because what comes
// meanwhile may go first. The lane holds what is on the wire, as ever; its order is that of departures.
#pragma once

#include <array>
#include <cstdint>

#include "fabric/config.hpp"
#include "fabric/lane.hpp"
#include "sim/event_queue.hpp"
#include "sim/ring.hpp"
#include "sim/time.hpp"

namespace loco::fabric {

/// The queue of one class at a port, and what the switch at the far end holds of that class which came by the link.
struct ClassQueue {
  sim::Ring<Entry> entries{};  // `at`: when it is ready to go
  std::uint32_t joined = 0;    // of these, those that were ready when something looked last
  std::uint64_t waiting = 0;   // bytes of them
  std::uint64_t deficit = 0;   // bytes that it may still send in its turn
  std::uint64_t held = 0;      // bytes at the far end
  // For the watchdog:
  sim::SimTime stalled{};  // since when it has had packets, sent none and been paused, but for
  sim::Duration open{};    // so long
  sim::SimTime resumed{};

  bool operator==(const ClassQueue&) const = default;
};

struct ClassPort {
  std::array<ClassQueue, kClasses> queues{};
  std::uint8_t paused = 0;    // by the far end, a bit a class
  std::uint8_t pausing = 0;   // the far end has sent pauses for these
  std::uint8_t given_up = 0;  // the watchdog does not wait for these any more
  std::uint8_t turn = 0;      // whose turn it is among those with weights
  bool begun = false;         // its turn: it has its quantum
  sim::EventHandle departure{};
  sim::SimTime departs{};
  sim::EventHandle watch{};  // the watchdog's next look
  sim::SimTime watches = sim::SimTime::max();

  bool operator==(const ClassPort&) const = default;
};

}  // namespace loco::fabric
