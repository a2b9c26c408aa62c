// The flow model's half of a fabric: which flows start when, the packets that they stand for, and when their messages
// are handed over. What SimGrid does with a flow is played here: how long it takes, and what its route makes of it.
#include "fabric/flow_network.hpp"

#include "tests/catch.hpp"

using namespace loco;
using namespace loco::fabric;
using namespace loco::sim::literals;

namespace {

constexpr QpId kQp = 1;

/// Packets of 1000 bytes and 82 of framing and headers; a WRITE's RETH, 16, in the first or in all.
Config flow_network(bool reth_in_all = false) {
  Config config{.topology = Topology::star, .nodes = 3, .link_rate = 16_Gbps, .loopback_latency = 3_ns};
  config.model = Model::flow;
  config.packets.mtu = sim::Bytes{1'000};
  config.packets.overhead = sim::Bytes{82};
  config.packets.reth_in_all = reth_in_all;
  return config;
}

Packet message(std::uint32_t length, std::uint32_t wire, Opcode opcode = Opcode::write) {
  Packet p;
  p.source = PortId(0);
  p.destination = PortId(2);
  p.source_qp = kQp;
  p.opcode = opcode;
  p.length = length;
  p.wire = wire;
  return p;
}

/// A network with one queue pair, and what comes of it.
struct Rig {
  explicit Rig(const Config& config = flow_network()) : fabric(config) { fabric.add_queue_pair(kQp); }

  /// The next flow that is to start. Precondition: there is one.
  FlowStart start() {
    const std::optional<FlowStart> flow = fabric.take_start();
    REQUIRE(flow);
    return *flow;
  }
  /// Times at which messages are handed over, of all that is pending.
  std::vector<std::int64_t> arrivals() {
    std::vector<std::int64_t> times;
    while (!events.empty()) {
      const sim::Event e = events.pop_earliest();
      if (fabric.handle(events, e.at, e)) times.push_back(e.at.ps);
    }
    return times;
  }

  sim::EventQueue events;
  FlowNetwork fabric;
};

constexpr sim::SimTime at_ns(std::int64_t ns) { return {ns * 1'000}; }

}  // namespace

TEST_CASE("flows: a message stands for packets of an MTU, the last one shorter, with the headers of each") {
  struct Case {
    Packet packet;
    bool reth_in_all;
    Burst burst;
  };
  const Case of = GENERATE(
      // One packet: what it says itself.
      Case{message(8, 106), false, {.packets = 1, .full = 106, .last = 106}},
      Case{message(1'000, 1'098), false, {.packets = 1, .full = 1'098, .last = 1'098}},
      // Several: the first one's RETH is left out, unless all have it.
      Case{message(1'001, 1'181), false, {.packets = 2, .full = 1'082, .last = 83, .gap = 400_ns}},
      Case{message(1'001, 1'197), true, {.packets = 2, .full = 1'098, .last = 99, .gap = 400_ns}},
      Case{message(3'000, 3'262), false, {.packets = 3, .full = 1'082, .last = 1'082, .gap = 400_ns}},
      // Only WRITEs have a RETH in all.
      Case{message(1'001, 1'165, Opcode::send), true, {.packets = 2, .full = 1'082, .last = 83, .gap = 400_ns}});
  Config config = flow_network(of.reth_in_all);
  config.packets.gap = 400_ns;
  Rig rig(config);
  rig.fabric.send(rig.events, at_ns(100), 5_ns, of.packet);
  const FlowStart flow = rig.start();
  CHECK(flow.burst == of.burst);
  CHECK(flow.bytes == of.packet.wire);
  CHECK(flow.source == 0);
  CHECK(flow.destination == 2);
  CHECK(flow.at == at_ns(105));  // once the port has it
}

TEST_CASE("flows: a message is there when its flow is, and no earlier than its last packet alone would be") {
  // Announced at 0, the flow leaves its source at 100 ns; its last byte is handed over 10 ns later. The last packet is
  // at the port 5 ns after the message is sent, and takes 40 ns from there.
  const auto [sent, there] = GENERATE(table<std::int64_t, std::int64_t>({{20, 110}, {65, 110}, {66, 111}, {200, 245}}));
  CAPTURE(sent);
  const Packet packet = message(5'000, 5'426);
  const FlowEnd end{.latency = 10_ns, .last = 40_ns, .rate = 16_Gbps};
  Rig rig;
  rig.fabric.announce({}, 5_ns, packet);
  rig.fabric.announce({}, 5_ns, packet);  // told twice, it is one flow
  const FlowStart flow = rig.start();
  CHECK(flow.at == at_ns(5));
  CHECK_FALSE(rig.fabric.take_start());
  if (sent <= 100) rig.fabric.send(rig.events, at_ns(sent), 5_ns, packet);
  rig.fabric.flow_ended(rig.events, flow.lane, at_ns(100), end);
  if (sent > 100) {
    CHECK(rig.events.empty());  // of a message that is not complete nothing is handed over
    rig.fabric.send(rig.events, at_ns(sent), 5_ns, packet);
  }
  CHECK(rig.arrivals() == std::vector<std::int64_t>{there * 1'000});
  const Train train = rig.fabric.train(packet);
  CHECK(train.rate == 16_Gbps);
  CHECK(train.behind == 5'426 - 1'082);
  CHECK(rig.fabric.packets_inside() == 0);
}

TEST_CASE("flows: messages of a lane flow one after the other, and requests beside responses") {
  Rig rig;
  rig.fabric.send(rig.events, {}, {}, message(8, 106));
  rig.fabric.send(rig.events, {}, 50_ns, message(16, 114));
  rig.fabric.send(rig.events, {}, 300_ns, message(24, 122));
  rig.fabric.send(rig.events, {}, {}, message(8, 94, Opcode::read_response));
  const FlowStart first = rig.start();
  const FlowStart response = rig.start();
  CHECK(first.bytes == 106);
  CHECK(response.bytes == 94);
  CHECK(first.lane != response.lane);
  CHECK_FALSE(rig.fabric.take_start());
  // The second has been at the port for 50 ns when the first has left it; the third comes there later.
  rig.fabric.flow_ended(rig.events, first.lane, at_ns(100), {.latency = 10_ns});
  const FlowStart second = rig.start();
  CHECK(second.bytes == 114);
  CHECK(second.at == at_ns(100));
  CHECK_FALSE(rig.fabric.take_start());
  rig.fabric.flow_ended(rig.events, first.lane, at_ns(200), {.latency = 10_ns});
  const FlowStart third = rig.start();
  CHECK(third.bytes == 122);
  CHECK(third.at == at_ns(300));
  CHECK(rig.arrivals() == std::vector<std::int64_t>{110'000, 210'000});
}

TEST_CASE("flows: a message that is withdrawn stops its flow, and the next one of its lane is a new one") {
  const Packet packet = message(5'000, 5'426);
  Rig rig;
  std::vector<std::int64_t> before;
  std::uint32_t lane = 0;
  SECTION("while it flows") {
    rig.fabric.announce({}, {}, packet);
    lane = rig.start().lane;
    rig.fabric.withdraw(kQp, false);
    const FlowStart stop = rig.start();
    CHECK(stop.withdrawn);
    CHECK(stop.lane == lane);
  }
  SECTION("when its flow has left its source") {
    rig.fabric.announce({}, {}, packet);
    lane = rig.start().lane;
    rig.fabric.flow_ended(rig.events, lane, at_ns(100), {.latency = 10_ns});
    rig.fabric.withdraw(kQp, false);
  }
  SECTION("behind another one, which goes on") {
    rig.fabric.send(rig.events, {}, {}, message(8, 106));
    rig.fabric.announce({}, {}, packet);
    lane = rig.start().lane;
    rig.fabric.withdraw(kQp, false);
    CHECK_FALSE(rig.fabric.take_start());
    rig.fabric.flow_ended(rig.events, lane, at_ns(100), {.latency = 10_ns});
    before = {110'000};
  }
  CHECK_FALSE(rig.fabric.take_start());
  rig.fabric.withdraw(kQp, false);  // there is nothing any more
  CHECK_FALSE(rig.fabric.take_start());
  CHECK(rig.arrivals() == before);
  CHECK(rig.fabric.packets_inside() == 0);
  rig.fabric.send(rig.events, at_ns(500), {}, message(8, 106));
  const FlowStart next = rig.start();
  CHECK_FALSE(next.withdrawn);
  CHECK(next.lane == lane);
  CHECK(next.at == at_ns(500));
  rig.fabric.flow_ended(rig.events, lane, at_ns(600), {.latency = 10_ns});
  CHECK(rig.arrivals() == std::vector<std::int64_t>{610'000});
}

TEST_CASE("flows: what a NIC sends to itself is no flow") {
  Rig rig;
  Packet packet = message(5'000, 5'426);
  packet.destination = packet.source;
  rig.fabric.announce({}, {}, packet);
  CHECK_FALSE(rig.fabric.take_start());
  rig.fabric.send(rig.events, at_ns(20), 5_ns, packet);
  CHECK_FALSE(rig.fabric.take_start());
  CHECK(rig.arrivals() == std::vector<std::int64_t>{28'000});
}
