// The state of one link direction: the queue of the port that feeds it, what is on the wire, and what the switch at
// its far end holds of it. Private to fabric/.
//
// One ring holds both: the first `started` entries are on the wire, `at` being their arrival; the others wait in the
// port's queue, `at` being when they are ready to go: what is still in the switch's pipeline has a place, but waits for
// nobody yet. Entries start when something looks (Fabric::advance), at the time at which they would have: so one event
// a hop, the arrival, is enough.
#pragma once

#include <cstdint>

#include "fabric/packet.hpp"
#include "sim/event_queue.hpp"
#include "sim/ring.hpp"
#include "sim/sparse_ring.hpp"
#include "sim/time.hpp"

namespace loco::fabric {

inline constexpr std::uint32_t kNone = 0xffffffffU;

struct Entry {
  sim::SimTime at{};
  std::uint32_t packet = 0;    // in the pool
  std::uint32_t bytes = 0;     // on the wire
  std::uint32_t from = kNone;  // link by which it came to the switch where it waits
  NodeId destination = 0;
  std::uint64_t flow = 0;  // hash

  bool operator==(const Entry&) const = default;
};

/// A pause frame on its way.
struct Pause {
  sim::SimTime at{};
  bool stop = false;
  std::uint8_t classes = 1;  ///< a bit a class
  bool operator==(const Pause&) const = default;
};

/// What a link has carried and suffered. First what every packet changes.
struct LinkCounters {
  std::uint64_t packets = 0;
  std::uint64_t bytes = 0;
  sim::Duration busy{};
  std::uint64_t queue_max = 0;  ///< bytes that waited for the port, ready to go
  std::uint64_t drops = 0;      ///< packets lost at the port or on the wire, whatever the reason
  std::uint64_t marks = 0;      ///< ECN
  std::uint64_t pauses = 0;     ///< times the link was told to pause
  sim::Duration paused{};       ///< for so long, until it was last resumed

  bool operator==(const LinkCounters&) const = default;
};

/// Three lines of the simulating machine's cache: what every packet needs is in two of them.
struct alignas(64) Lane {
  sim::Ring<Entry> entries{};
  std::uint32_t started = 0;
  bool armed = false;      // an arrival event is pending
  bool departing = false;  // a departure event is pending
  bool paused = false;     // by the far end
  bool down = false;
  bool pausing = false;       // the far end has sent a pause
  bool awaited = false;       // the host wants to know when it is resumed
  bool leaves = false;        // to another part: it holds what has not started, the rest is there (share.hpp)
  std::uint32_t joined = 0;   // packets that have not started, and were ready when something looked last
  sim::SimTime free{};        // when the port has sent what has started
  std::uint64_t waiting = 0;  // bytes of what has joined: the port's queue
  sim::SimTime due{};         // until then nothing starts or joins
  std::uint64_t queued = 0;   // bytes that have not started
  sim::EventHandle arrival{};
  LinkCounters counters{};
  // Colder.
  std::uint64_t held = 0;  // bytes in the switch at the far end that came over this link
  sim::EventHandle control{};
  sim::SimTime planned{};  // of a host's port: when it will have sent everything
  sim::SimTime paused_since{};
  sim::SparseRing<Pause> pauses{};  // travelling on this link, for the opposite one

  bool operator==(const Lane&) const = default;
};

static_assert(sizeof(Lane) == 192, "hot in two cache lines");

}  // namespace loco::fabric
