// Figures for people: how long a link has been sending, and what waits for it, at any instant and over a run.
#include "fabric/report.hpp"

#include "tests/catch.hpp"
#include "traffic.hpp"

using namespace loco;
using namespace loco::fabric;
using namespace loco::sim::literals;

namespace {

topology::LinkId link_to_host_0(const PacketNetwork& fabric) {
  topology::LinkId id = 0;
  while (fabric.graph().link(id).to != 0) ++id;
  return id;
}

// Three packets of 4194 bytes come to a switch at once. When 64 bytes of them are in, 1 us of link and 300 ns of switch
// later, all are ready; each then takes 335.52 ns.
constexpr std::int64_t kReady = 64 * kByte + 1'000'000 + 300'000;
constexpr std::int64_t kPacket = 4194 * kByte;

}  // namespace

TEST_CASE("a link looked at between events: what has begun does not wait, and counts as far as it is sent") {
  const auto [at, queued, busy] =
      GENERATE(table<std::int64_t, std::uint64_t, std::int64_t>({{kReady - 1, 0, 0},
                                                                 {kReady, 2 * 4194, 0},
                                                                 {kReady + 100'000, 2 * 4194, 100'000},
                                                                 {kReady + kPacket - 1, 2 * 4194, kPacket - 1},
                                                                 {kReady + kPacket, 4194, kPacket},
                                                                 {kReady + 2 * kPacket + 1, 0, 2 * kPacket + 1},
                                                                 {kReady + 3 * kPacket + 200'000, 0, 3 * kPacket}}));
  CAPTURE(at);
  Traffic traffic(fast_network(topology::Star{4}), incast(4, 3, 4096), 0);
  while (!traffic.idle() && traffic.next_time().ps <= at) traffic.step();
  const PacketNetwork::Look look = traffic.fabric().look(link_to_host_0(traffic.fabric()), {at});
  CHECK(look.queued == queued);
  CHECK(look.busy.ps == busy);
}

TEST_CASE("a paused link looked at later still has its queue") {
  // Everything lies at the ports of h1 and h2 from the beginning; two of three packets of 4 KB are too much.
  Config config = fast_network(topology::Star{3});
  config.options.flow_control = FlowControl::pfc;
  config.options.pfc_xoff = sim::Bytes{6'000};
  PacketNetwork fabric(config);
  sim::EventQueue events;
  Packet packet;
  packet.wire = 4'000;
  for (int i = 0; i < 200; ++i) {
    packet.source = PortId(1 + static_cast<std::uint32_t>(i % 2));
    fabric.send(events, {}, {}, packet);
  }
  sim::SimTime now;
  while (fabric.paused_links().empty() && !events.empty()) {
    const sim::Event e = events.pop_earliest();
    now = e.at;
    fabric.handle(events, now, e);
  }
  REQUIRE(!fabric.paused_links().empty());
  const topology::LinkId link = fabric.paused_links().front();
  // It begins nothing any more: it is busy with the packet that it has begun, and all others wait.
  const PacketNetwork::Look later = fabric.look(link, now + 1_ms);
  CHECK(later.queued == fabric.queued(link, now));
  CHECK(later.queued > 0);
  CHECK((later.queued + static_cast<std::uint64_t>(later.busy.ps / kByte)) == 100 * 4'000);
}

TEST_CASE("the use of links: names, busy time over the time that has passed, and the sum of all") {
  Config config = fast_network(topology::Star{4});
  config.options.flow_control = FlowControl::pfc;
  config.options.pfc_xoff = sim::Bytes{20'000};
  Traffic traffic(config, incast(4, 3, 1'000'000), 0);
  traffic.run();
  const PacketNetwork& fabric = traffic.fabric();
  const std::vector<LinkUse> uses = link_use(fabric, 1_ms);
  REQUIRE(uses.size() == 8);  // four cables
  const LinkUse& last = uses.at(link_to_host_0(fabric));
  CHECK(last.from == "s0");
  CHECK(last.to == "h0");
  // Three messages of 245 packets: 1,000,000 bytes, 82 a packet and RETH once.
  constexpr std::uint64_t kBytes = 3 * (1'000'000 + 245 * 82 + 16);
  CHECK(last.counters.packets == 3 * 245);
  CHECK(last.counters.bytes == kBytes);
  CHECK(last.counters.busy.ps == static_cast<std::int64_t>(kBytes) * kByte);
  CHECK(last.utilisation == Approx(static_cast<double>(kBytes) * kByte / 1e9));
  CHECK(link_use(fabric, {}).front().utilisation == 0);
  LinkCounters sum;
  for (const LinkUse& use : uses) {
    sum.packets += use.counters.packets;
    sum.bytes += use.counters.bytes;
    sum.pauses += use.counters.pauses;
    sum.paused += use.counters.paused;
  }
  const LinkCounters all = totals(fabric);
  CHECK(all.packets == 2 * 3 * 245);  // each over two links
  CHECK(all.packets == sum.packets);
  CHECK(all.bytes == sum.bytes);
  CHECK(all.pauses == sum.pauses);
  CHECK(all.paused == sum.paused);
  CHECK(all.paused.ps > 0);
  CHECK(all.queue_max == last.counters.queue_max);  // the others have no queue
}

TEST_CASE("a sample tells what was when its instant was over: it is taken before the first event after it") {
  // The packets are sent at 0; what happens at 1 us is still to come when an event of 1 us is the next.
  Traffic traffic(fast_network(topology::Star{4}), incast(4, 3, 4096), 0);
  QueueSeries queues({link_to_host_0(traffic.fabric())}, 1_us);
  LinkSeries links(1_us);
  for (const auto& [now, samples] : std::vector<std::pair<std::int64_t, std::size_t>>{
           {0, 0}, {1, 1}, {1'000'000, 1}, {1'000'001, 2}, {3'000'000, 3}}) {
    queues.until(traffic.fabric(), {now});
    links.until(traffic.fabric(), {now});
    CHECK(queues.samples().size() == samples);
    CHECK(links.busy_ps().size() == samples * traffic.fabric().links());
    CHECK(links.queued_bytes().size() == samples * traffic.fabric().links());
  }
  CHECK(queues.samples().back().at.ps == 2'000'000);
}
