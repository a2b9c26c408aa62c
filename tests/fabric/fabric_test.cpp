// Arrival times in closed form, sharing of ports, and order: on one path always, between paths never.
#include <random>

#include "fabric/packet_network.hpp"
#include "tests/catch.hpp"

using namespace loco;
using namespace loco::fabric;
using namespace loco::sim::literals;

namespace {

constexpr std::int64_t kBytePs = 500;  // 16 Gb/s

Config config(Topology topology, std::uint32_t nodes) {
  return {.topology = topology,
          .nodes = nodes,
          .link_rate = 16_Gbps,
          .link_delay = 7_ns,
          .switch_latency = 11_ns,
          .loopback_latency = 3_ns};
}

Packet packet(NodeId from, NodeId to, std::uint32_t wire, std::uint32_t number = 0, QpId qp = 0) {
  Packet p;
  p.source = PortId(from);
  p.destination = PortId(to);
  p.source_qp = qp;
  p.wire = wire;
  p.wqe = number;
  return p;
}

struct Arrival {
  Packet packet;
  sim::SimTime at;
};

/// Runs everything: earliest first, or in an order drawn from the seed.
std::vector<Arrival> run(PacketNetwork& fabric, sim::EventQueue& events, std::uint64_t seed = 0) {
  std::vector<Arrival> arrivals;
  std::mt19937_64 random(seed);
  sim::SimTime now;
  while (!events.empty()) {
    const sim::Event e = seed == 0 ? events.pop_earliest() : events.pop(random() % events.size());
    now = std::max(now, e.at);
    if (const auto p = fabric.handle(events, now, e)) arrivals.push_back({*p, now});
  }
  return arrivals;
}

}  // namespace

TEST_CASE("back_to_back: serialisation and propagation; packets follow each other") {
  PacketNetwork fabric(config(Topology::back_to_back, 2));
  sim::EventQueue events;
  CHECK(fabric.send(events, {}, 5_ns, packet(0, 1, 100)).ps == 100 * kBytePs);
  CHECK(fabric.send(events, {}, 5_ns, packet(0, 1, 60)).ps == 160 * kBytePs);
  CHECK(fabric.send(events, {}, 5_ns, packet(1, 0, 60)).ps == 60 * kBytePs);  // the other direction is free
  const auto arrivals = run(fabric, events);
  REQUIRE(arrivals.size() == 3);
  CHECK(arrivals[0].at.ps == 60 * kBytePs + 12'000);
  CHECK(arrivals[1].at.ps == 100 * kBytePs + 12'000);
  CHECK(arrivals[2].at.ps == 160 * kBytePs + 12'000);
  CHECK(fabric.bytes_delivered() == 220);
}

TEST_CASE("star: cut-through after 64 bytes, then the output port") {
  PacketNetwork fabric(config(Topology::star, 3));
  sim::EventQueue events;
  fabric.send(events, {}, {}, packet(0, 2, 1000));
  fabric.send(events, {}, {}, packet(1, 2, 1000));  // meets the first at the output port
  const auto arrivals = run(fabric, events);
  REQUIRE(arrivals.size() == 2);
  const std::int64_t alone = 64 * kBytePs + 7'000 + 11'000 + 1000 * kBytePs + 7'000;
  CHECK(arrivals[0].at.ps == alone);
  CHECK(arrivals[1].at.ps == alone + 1000 * kBytePs);
}

TEST_CASE("a packet shorter than the cut-through header is forwarded when it is there") {
  PacketNetwork fabric(config(Topology::star, 2));
  sim::EventQueue events;
  fabric.send(events, {}, {}, packet(0, 1, 40));
  CHECK(run(fabric, events).at(0).at.ps == 40 * kBytePs + 7'000 + 11'000 + 40 * kBytePs + 7'000);
}

TEST_CASE("loopback never touches the link") {
  PacketNetwork fabric(config(Topology::star, 2));
  sim::EventQueue events;
  fabric.send(events, {}, {}, packet(0, 1, 1'000'000));
  fabric.send(events, {}, 5_ns, packet(0, 0, 1000));
  CHECK(run(fabric, events).at(0).at.ps == 8'000);
}

TEST_CASE("without a network only the delay and what the destination needs pass, to itself only the loopback") {
  Config ideal = config(Topology::ideal, 2);
  ideal.delivery_latency = 2_ns;
  PacketNetwork fabric(ideal);
  fabric.add_queue_pair(0);
  fabric.add_queue_pair(1);
  sim::EventQueue events;
  fabric.send(events, {}, 5_ns, packet(0, 0, 1000, 0, 0));
  fabric.send(events, {}, 5_ns, packet(0, 1, 1000, 0, 1));
  const auto arrivals = run(fabric, events);
  REQUIRE(arrivals.size() == 2);
  CHECK(arrivals[0].at.ps == 5'000 + 3'000);
  CHECK(arrivals[1].at.ps == 5'000 + 7'000 + 2'000);
}

TEST_CASE("packets on one path keep their order under any schedule; packets on different paths do not") {
  const auto topology = GENERATE(Topology::star, Topology::ideal);
  bool changed_places = false;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    PacketNetwork fabric(config(topology, 4));
    sim::EventQueue events;
    for (QpId qp = 0; qp < 4; ++qp) fabric.add_queue_pair(qp);
    for (std::uint32_t n = 0; n < 20; ++n) {
      for (NodeId from = 0; from < 3; ++from) fabric.send(events, {}, {}, packet(from, 3, 100, n, from));
    }
    std::vector<std::uint32_t> next(3, 0);
    for (const Arrival& a : run(fabric, events, seed)) {
      CHECK(a.packet.wqe == next.at(a.packet.source.index())++);
      for (const std::uint32_t other : next) changed_places |= a.packet.wqe + 1 < other;
    }
    CHECK(next == std::vector<std::uint32_t>{20, 20, 20});
  }
  CHECK(changed_places);
}

TEST_CASE("ideal: queue pairs between the same hosts are lanes of their own; on a real link they share one") {
  for (const auto topology : {Topology::ideal, Topology::back_to_back}) {
    bool overtaken = false;
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
      PacketNetwork fabric(config(topology, 2));
      sim::EventQueue events;
      fabric.add_queue_pair(0);
      fabric.add_queue_pair(1);
      fabric.send(events, {}, {}, packet(0, 1, 100, 0, 0));
      fabric.send(events, {}, {}, packet(0, 1, 100, 0, 1));
      overtaken |= run(fabric, events, seed).at(0).packet.source_qp == 1;
    }
    CHECK(overtaken == (topology == Topology::ideal));
  }
}

TEST_CASE("a fabric is a value: a copy delivers the same") {
  PacketNetwork fabric(config(Topology::star, 3));
  sim::EventQueue events;
  for (std::uint32_t n = 0; n < 10; ++n) fabric.send(events, {}, {}, packet(n % 2, 2, 100 + n, n));
  PacketNetwork copy = fabric;
  sim::EventQueue copied_events = events;
  CHECK(copy == fabric);
  run(fabric, events);
  CHECK_FALSE(copy == fabric);
  run(copy, copied_events);
  CHECK(copy == fabric);
}

TEST_CASE("PSNs wrap at 24 bits") {
  const Psn last(0xffffff);
  CHECK((last + 1).value() == 0);
  CHECK((last + 3).distance(last) == 3);
  CHECK(last.distance(last + 3) == -3);
}

TEST_CASE("wire sizes are those of the InfiniBand specification") {
  using enum Opcode;
  CHECK(extension_header_bytes(write, true, false) == 16);
  CHECK(extension_header_bytes(write, false, true) == 0);
  CHECK(extension_header_bytes(read_request, true, true) == 16);
  CHECK(extension_header_bytes(compare_swap, true, true) == 28);
  CHECK(extension_header_bytes(ack, true, true) == 4);
  CHECK(extension_header_bytes(read_response, false, false) == 0);
  CHECK(extension_header_bytes(read_response, false, true) == 4);
  CHECK(extension_header_bytes(atomic_response, true, true) == 12);
}

TEST_CASE("a configuration that makes no sense is named") {
  CHECK(config(Topology::star, 4).validate().empty());
  CHECK_FALSE(config(Topology::back_to_back, 3).validate().empty());
  CHECK_FALSE(config(Topology::star, 0).validate().empty());
  const auto refused = [](const auto& change, Topology topology = Topology::star) {
    Config changed = config(topology, 4);
    change(changed);
    return !changed.validate().empty();
  };
  CHECK(refused([](Config& c) { c.options.dcqcn.enabled = true; }));
  CHECK_FALSE(refused([](Config& c) { c.options.dcqcn.enabled = c.options.ecn = true; }));
  const auto kmin = [](std::uint64_t bytes) {
    return [bytes](Config& c) {
      c.options.ecn = true;
      c.options.ecn_kmin = sim::Bytes{bytes};
      c.options.ecn_kmax = sim::Bytes{1'000};
    };
  };
  CHECK_FALSE(refused(kmin(1'000)));  // a step
  CHECK(refused(kmin(1'001)));
  for (const auto& fails : {+[](Config& c) { c.options.loss = 1; }, +[](Config& c) { c.losses = {{.cable = 0}}; },
                            +[](Config& c) { c.changes = {{.cable = 0}}; }}) {
    CHECK_FALSE(refused(fails));
    CHECK(refused(fails, Topology::ideal));
    CHECK(refused([&](Config& c) {
      c.model = Model::flow;
      fails(c);
    }));
  }
}

TEST_CASE("what the flow model cannot show, or who is not there, is named") {
  const auto refused = [](const auto& change) {
    Config changed = config(Topology::star, 4);
    changed.model = Model::flow;
    change(changed);
    return !changed.validate().empty();
  };
  CHECK_FALSE(refused([](Config&) {}));
  CHECK_FALSE(refused([](Config& c) { c.options.routing = Routing::ecmp; }));
  CHECK(refused([](Config& c) { c.options.routing = Routing::spray; }));
  CHECK(refused([](Config& c) { c.options.flow_control = FlowControl::drop_tail; }));
  CHECK(refused([](Config& c) { c.options.ecn = true; }));
  CHECK_FALSE(refused([](Config& c) { c.flow.cross_traffic = {{.from = 0, .to = 3}}; }));
  CHECK(refused([](Config& c) { c.flow.cross_traffic = {{.from = 0, .to = 4}}; }));
  CHECK(refused([](Config& c) { c.flow.cross_traffic = {{.from = 4, .to = 0}}; }));
  CHECK(refused([](Config& c) { c.flow.cross_traffic = {{.from = 3, .to = 3}}; }));
  CHECK(refused([](Config& c) {
    c.model = Model::packet;
    c.flow.cross_traffic = {{.from = 0, .to = 3}};
  }));
}

TEST_CASE("who may lose packets for want of room: drop-tail, PFC with a headroom of one's own or with failures") {
  Config c = config(Topology::star, 3);
  CHECK_FALSE(c.buffers_overflow());
  c.changes = {{.at = {0}, .cable = 0, .up = false}};
  CHECK_FALSE(c.buffers_overflow());
  c.options.flow_control = FlowControl::pfc;
  CHECK(c.buffers_overflow());
  c.changes.clear();
  CHECK_FALSE(c.buffers_overflow());
  c.options.pfc_headroom = sim::Bytes{100'000};
  CHECK(c.buffers_overflow());
  c.options.flow_control = FlowControl::drop_tail;
  c.options.pfc_headroom = sim::Bytes{0};
  CHECK(c.buffers_overflow());
}

TEST_CASE("a host sends at the rate of its fastest port") {
  Config c = config(Topology::shaped, 2);
  c.shape = topology::Custom{2, 2, {{0, 2, 10_Gbps}, {0, 3, 40_Gbps}, {1, 2}, {1, 3}}, topology::Metric::hops};
  CHECK(PacketNetwork(c).port_rate(PortId(0)) == 40_Gbps);
  CHECK(PacketNetwork(c).port_rate(PortId(1)) == 16_Gbps);
}
