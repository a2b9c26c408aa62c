// The PFC watchdog and pause storms (docs/fabric.md, "Pause storms"): times by the rule, at polls that are multiples of
// 100 ms; what is lost; who moves again.
#include <cstdint>
#include <functional>
#include <vector>

#include "fabric/packet_network.hpp"
#include "fabric/report.hpp"
#include "tests/catch.hpp"
#include "traffic.hpp"

using namespace loco;
using namespace loco::fabric;
using namespace loco::sim::literals;

namespace {

constexpr std::int64_t kMs = 1'000'000'000;

/// Host 2 of a star of four pauses its link from 30 ms on, for a second.
Config storm_network(WatchdogAction action, bool watched = true) {
  Config config = fast_network(topology::Star{4});
  config.options.flow_control = FlowControl::pfc;
  config.options.pfc_xoff = sim::Bytes{20'000};
  config.options.watchdog.enabled = watched;
  config.options.watchdog.action = action;
  config.storms = {{.host = 2, .from = {30 * kMs}, .until = {1'030 * kMs}}};
  return config;
}

struct Delivered {
  Packet packet;
  sim::SimTime at;
};

/// Every 5 ms until 2 s: a packet from host 0 to host 2, one from host 0 to host 3, and one from host 1 to host 3.
std::vector<Delivered> run(PacketNetwork& network, const std::function<void(sim::SimTime)>& look = {}) {
  sim::EventQueue events;
  network.start(events);
  std::vector<Delivered> arrivals;
  const auto until = [&](sim::SimTime end) {
    while (!events.empty() && events.earliest().at <= end) {
      const sim::Event event = events.pop_earliest();
      if (event.what == kEventResumed) continue;
      if (const auto packet = network.handle(events, event.at, event)) arrivals.push_back({*packet, event.at});
      while (network.take_lost()) {
      }
      network.check(event.at);
      if (look) look(event.at);
    }
  };
  std::uint32_t serial = 0;
  for (std::int64_t ms = 0; ms < 2'000; ms += 5) {
    until({ms * kMs});
    for (const auto& [from, to] : {std::pair{0U, 2U}, std::pair{0U, 3U}, std::pair{1U, 3U}})
      network.send(events, {ms * kMs}, {},
                   {.source = PortId(from),
                    .destination = PortId(to),
                    .source_qp = from,
                    .opcode = Opcode::write,
                    .length = 4'096,
                    .wire = 4'178,
                    .serial = ++serial});
  }
  until(sim::SimTime::max());
  return arrivals;
}

std::int64_t ms(sim::SimTime t) { return t.ps / kMs; }

}  // namespace

TEST_CASE("watchdog: acts at the first poll 200 ms behind the storm's begin, and restores 200 ms behind its end") {
  PacketNetwork network(storm_network(WatchdogAction::drop));
  sim::SimTime acted = sim::SimTime::max();
  const std::vector<Delivered> arrivals = run(network, [&](sim::SimTime now) {
    if (network.watchdog_actions() > 0) acted = std::min(acted, now);
  });
  CHECK(acted.ps == 300 * kMs);  // 30 + 200, rounded up to a poll
  CHECK(network.watchdog_actions() == 1);
  std::int64_t from_0_to_3 = 0, late = 0;
  std::uint64_t to_2 = 0;
  for (const Delivered& a : arrivals) {
    if (a.packet.destination == PortId(2)) {
      ++to_2;
      // Nothing between the storm's begin and its end, and a poll 200 ms behind that: 1,230 rounded up.
      CHECK((a.at.ps < 31 * kMs || a.at.ps >= 1'300 * kMs));
    } else if (a.packet.source == PortId(0)) {
      // It stood behind what was for host 2; from that instant on nothing does.
      if (ms(a.at) > 60 && ms(a.at) < 300) ++late;
      if (a.at.ps >= 300 * kMs && a.at.ps < 301 * kMs) ++from_0_to_3;
    }
  }
  CHECK(late == 0);
  CHECK(from_0_to_3 > 40);
  // 0, 5, .. 25 ms, of 30 ms comes to the switch behind the pause; 1,300, .. 1,995 ms.
  CHECK(to_2 == 6 + 140);
  CHECK(network.packets_lost(LossReason::watchdog) == 400 - to_2);
  CHECK(network.packets_inside() == 0);
}

TEST_CASE("watchdog: without it a storm holds all up that shares a link with it, until it ends") {
  PacketNetwork network(storm_network(WatchdogAction::drop, false));
  std::uint64_t between = 0;
  const std::vector<Delivered> arrivals = run(network);
  for (const Delivered& a : arrivals)
    between += a.packet.source == PortId(0) && ms(a.at) > 60 && ms(a.at) < 1'030 ? 1U : 0U;
  CHECK(between == 0);
  CHECK(arrivals.size() == 1'200);
}

TEST_CASE("watchdog: with `forward` a paused queue is sent all the same, and nothing is lost") {
  PacketNetwork network(storm_network(WatchdogAction::forward));
  std::uint64_t paused = 0;
  for (const Delivered& a : run(network))
    paused += a.packet.destination == PortId(2) && ms(a.at) >= 300 && ms(a.at) < 1'030 ? 1U : 0U;
  CHECK(paused > 140);
  CHECK(network.packets_lost(LossReason::watchdog) == 0);
  CHECK(network.packets_delivered() == 1'200);
  CHECK(network.watchdog_actions() == 1);
}

TEST_CASE("watchdog: pauses that let something pass now and then are none of its business") {
  Config config = storm_network(WatchdogAction::drop);
  config.storms.clear();
  for (std::int64_t at = 0; at < 1'900; at += 150)
    config.storms.push_back({.host = 2, .from = {at * kMs}, .until = {(at + 140) * kMs}});
  PacketNetwork network(config);
  CHECK(run(network).size() == 1'200);
  CHECK(network.watchdog_actions() == 0);
}

TEST_CASE("watchdog: one class of a link is given up, another one goes on") {
  Config config = storm_network(WatchdogAction::drop);
  config.classes = {{.id = 3}};
  config.storms.front().classes = 1U << 3U;
  PacketNetwork network(config);
  CHECK(run(network).size() == 1'200);  // all of class 0
  CHECK(network.watchdog_actions() == 0);
}

TEST_CASE("watchdog: breaks the cycle of a deadlock within detection and a poll") {
  Config config = fast_network(topology::Ring{6});
  config.options.flow_control = FlowControl::pfc;
  config.options.pfc_xoff = sim::Bytes{9'000};
  config.options.buffer_size = sim::Bytes{250'000};
  config.options.watchdog.enabled = true;
  std::vector<Flow> flows;
  for (NodeId h = 0; h < 6; ++h) flows.push_back({.source = h, .destination = (h + 2) % 6, .bytes = 2'000'000});
  Traffic traffic(config, flows);
  bool stuck = false;
  while (!traffic.idle() && traffic.next_time().ps < 200 * kMs) {
    traffic.step();
    stuck = stuck || !pause_cycle(traffic.fabric()).empty();
  }
  CHECK(stuck);
  CHECK(pause_cycle(traffic.fabric()).size() == 6);
  CHECK(traffic.fabric().watchdog_actions() == 0);
  while (!traffic.idle() && traffic.next_time().ps <= 300 * kMs) traffic.step();
  CHECK(pause_cycle(traffic.fabric()).empty());
  CHECK(traffic.fabric().watchdog_actions() > 0);
  CHECK(traffic.fabric().packets_lost(LossReason::watchdog) > 0);
  traffic.run();
  CHECK(traffic.fabric().packets_inside() == 0);
}
