// Fabric: a PFC watchdog (docs/fabric.md, "Pause storms"; Junos' and SONiC's have the same three times). It looks at
// the queues of a switch's ports at multiples of `poll`: only at those that could have to be given up, or restored, by
// then, so that a network in which nothing is paused has no event of it.
#include <algorithm>

#include "fabric/packet_network.hpp"
#include "probe/probe.hpp"

namespace loco::fabric {

namespace {
constexpr std::uint8_t bit(std::uint32_t c) { return static_cast<std::uint8_t>(1U << c); }

/// The first look at `t` or later.
sim::SimTime look_from(sim::SimTime t, sim::Duration poll) {
  return sim::SimTime{(t.ps + poll.ps - 1) / poll.ps * poll.ps};
}

/// From when on a class of a port has to be looked at; max: not as things are.
sim::SimTime due(const ClassPort& port, std::uint32_t c, const WatchdogOptions& options) {
  const ClassQueue& queue = port.queues[c];
  const bool paused = (port.paused & bit(c)) != 0;
  if ((port.given_up & bit(c)) != 0) return paused ? sim::SimTime::max() : queue.resumed + options.restore;
  return paused && !queue.entries.empty() ? queue.stalled + options.detect : sim::SimTime::max();
}
}  // namespace

bool PacketNetwork::drops(topology::LinkId link, std::uint32_t c) const {
  return config_.options.watchdog.action == WatchdogAction::drop && (class_ports_[link].given_up & bit(c)) != 0;
}

/// Sees to it that the next look at the port is pending, if there is one.
void PacketNetwork::watch(sim::EventQueue& events, sim::SimTime now, topology::LinkId link) {
  ClassPort& port = class_ports_[link];
  const WatchdogOptions& options = config_.options.watchdog;
  sim::SimTime next = sim::SimTime::max();
  for (std::uint32_t c = 0; c < kClasses; ++c) next = std::min(next, due(port, c, options));
  if (next != sim::SimTime::max()) next = look_from(std::max(next, now), options.poll);
  if (next == port.watches) return;
  if (port.watches != sim::SimTime::max()) events.cancel(port.watch);
  port.watches = next;
  if (next != sim::SimTime::max())
    port.watch = events.push({.at = next, .what = kEventWatch, .where = config_.nodes + link});
}

/// kEventWatch
void PacketNetwork::look_at(sim::EventQueue& events, sim::SimTime now, topology::LinkId link) {
  ClassPort& port = class_ports_[link];
  port.watches = sim::SimTime::max();
  for (std::uint32_t c = 0; c < kClasses; ++c) {
    if (due(port, c, config_.options.watchdog) > now) continue;
    if ((port.given_up & bit(c)) == 0) {
      give_up(events, now, link, c);
    } else {
      LOCO_PROBE(watchdog_restores_a_queue);
      port.given_up = static_cast<std::uint8_t>(port.given_up & ~bit(c));
      port.queues[c].stalled = now;
      port.queues[c].open = {};
    }
  }
  watch(events, now, link);
}

void PacketNetwork::give_up(sim::EventQueue& events, sim::SimTime now, topology::LinkId link, std::uint32_t c) {
  ClassPort& port = class_ports_[link];
  port.given_up = static_cast<std::uint8_t>(port.given_up | bit(c));
  ++watchdog_actions_;
  if (drops(link, c)) {
    LOCO_PROBE(watchdog_drops_a_queue);
    lose_queue(events, now, link, c, LossReason::watchdog);
  } else {
    LOCO_PROBE(watchdog_lets_a_queue_go_on);
    arm_class_departure(events, now, link);
  }
}

}  // namespace loco::fabric
