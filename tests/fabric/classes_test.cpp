// Traffic classes: shares, priorities, waits and pauses, each against its closed form (docs/fabric.md, "Classes").
#include <array>
#include <cmath>
#include <functional>
#include <vector>

#include "fabric/packet_network.hpp"
#include "sim/rng.hpp"
#include "tests/catch.hpp"
#include "traffic.hpp"

using namespace loco;
using namespace loco::fabric;
using namespace loco::sim::literals;

namespace {

constexpr std::uint32_t kWire = 4'178;
constexpr std::int64_t kService = kWire * 80;  // ps at 100 Gb/s

Config classed(topology::Parameters shape, std::vector<TrafficClass> classes) {
  Config config = fast_network(shape);
  config.link_rate = 100_Gbps;
  config.options.switching = Switching::store_and_forward;
  config.classes = std::move(classes);
  return config;
}

/// Packets at given times through a network, and when they come out.
struct OutOf {
  Packet packet;
  sim::SimTime at;
};
struct ClassedSending {
  sim::SimTime at;
  NodeId from = 0, to = 0;
  std::uint8_t traffic_class = 0;
  std::uint32_t wire = kWire;
};
std::vector<OutOf> pass(PacketNetwork& network, const std::vector<ClassedSending>& sendings) {
  sim::EventQueue events;
  std::vector<OutOf> arrivals;
  const auto handle_until = [&](sim::SimTime end) {
    while (!events.empty() && events.earliest().at <= end) {
      const sim::Event event = events.pop_earliest();
      if (event.what == kEventResumed) continue;
      if (const auto packet = network.handle(events, event.at, event)) arrivals.push_back({*packet, event.at});
    }
  };
  std::uint32_t serial = 0;
  for (const ClassedSending& s : sendings) {
    handle_until(s.at);
    network.send(events, s.at, {},
                 {.source = PortId(s.from),
                  .destination = PortId(s.to),
                  .source_qp = serial,
                  .opcode = Opcode::write,
                  .traffic_class = s.traffic_class,
                  .length = s.wire - 82,
                  .wire = s.wire,
                  .serial = serial});
    ++serial;
  }
  handle_until(sim::SimTime::max());
  return arrivals;
}

}  // namespace

TEST_CASE("classes: two that are backlogged share a port by their weights, within a quantum each") {
  PacketNetwork network(classed(topology::Star{3}, {{.id = 1, .weight = 3}, {.id = 4, .weight = 1}}));
  std::vector<ClassedSending> all;
  for (int i = 0; i < 4'000; ++i) {
    all.push_back({{}, 0, 2, 1});
    all.push_back({{}, 1, 2, 4});
  }
  const std::vector<OutOf> arrivals = pass(network, all);
  REQUIRE(arrivals.size() == 8'000);
  // While both wait: class 1 has 3 of 4, less or more by its quantum of three packets.
  std::array<int, 8> count{};
  for (std::size_t i = 0; i < 4'000; ++i) ++count[arrivals[i].packet.traffic_class];
  CHECK(std::abs(count[1] - 3'000) <= 4);
  CHECK(std::abs(count[4] - 1'000) <= 4);
  // The port is never idle for want of a decision.
  CHECK((arrivals.back().at - arrivals.front().at).ps == 7'999 * kService);
}

TEST_CASE("classes: shares are of bytes, not of packets; what is unused is the others'") {
  PacketNetwork network(classed(topology::Star{3}, {{.id = 0, .weight = 1}, {.id = 1, .weight = 1}}));
  std::vector<ClassedSending> all;
  for (int i = 0; i < 2'000; ++i) all.push_back({{}, 0, 2, 0, 4'178});
  for (int i = 0; i < 4'000; ++i) all.push_back({{}, 1, 2, 1, 1'000});
  const std::vector<OutOf> arrivals = pass(network, all);
  std::array<std::uint64_t, 2> bytes{};
  for (const OutOf& a : arrivals) {
    bytes[a.packet.traffic_class] += a.packet.wire;
    if (bytes[1] == 3'000'000) break;
  }
  CHECK(static_cast<double>(bytes[0]) == Approx(3e6).epsilon(0.01));
  CHECK((arrivals.back().at - arrivals.front().at).ps ==
        (2'000 * std::int64_t{4'178} + 4'000 * std::int64_t{1'000}) * 80 -
            arrivals.front().packet.wire * std::int64_t{80});
}

TEST_CASE("classes: a strict packet waits for the one that has begun, and for nothing else") {
  const auto took = [](bool beside) {
    PacketNetwork network(classed(topology::Star{3}, {{.id = 6, .strict = true}}));
    std::vector<ClassedSending> all;
    if (beside)
      for (int i = 0; i < 1'000; ++i) all.push_back({{}, 0, 2, 0});
    std::vector<sim::SimTime> sent;
    for (int i = 0; i < 200; ++i) {
      sent.push_back({20'000'000 + i * std::int64_t{1'234'567}});
      all.push_back({sent.back(), 1, 2, 6, 146});
    }
    std::vector<std::int64_t> out;
    for (const OutOf& a : pass(network, all))
      if (a.packet.traffic_class == 6) out.push_back((a.at - sent[out.size()]).ps);
    return out;
  };
  const std::vector<std::int64_t> alone = took(false), beside = took(true);
  std::int64_t most = 0;
  for (std::size_t i = 0; i < 200; ++i) {
    CHECK(beside[i] >= alone[i]);
    most = std::max(most, beside[i] - alone[i]);
  }
  CHECK(most <= kService);  // 334.24 ns
  CHECK(most > kService / 2);
}

TEST_CASE("classes: two strict ones with random arrivals wait as Cobham says") {
  // Operations Research 1954: R / (1 - l1) and R / ((1 - l1) (1 - l1 - l2)), R = (l1 + l2) / 2 services of the same
  // size: 0.5 and 2.5 for loads of 0.2 and 0.6. From many hosts, so that their own cables hold nobody up.
  constexpr std::uint32_t kHosts = 200;
  PacketNetwork network(classed(topology::Star{kHosts + 1}, {{.id = 2, .strict = true}, {.id = 1, .strict = true}}));
  sim::Stream stream(7, "classes");
  std::vector<ClassedSending> all;
  sim::SimTime at{};
  const int packets = 120'000 / static_cast<int>(test::kShare);
  for (int i = 0; i < packets; ++i) {
    const double u = static_cast<double>(stream.below(1'000'000'000) + 1) / 1e9;
    at += sim::Duration{static_cast<std::int64_t>(-std::log(u) * kService / 0.8)};
    all.push_back({at, static_cast<NodeId>(stream.below(kHosts)), kHosts,
                   stream.below(4) == 0 ? std::uint8_t{2} : std::uint8_t{1}});
  }
  // Alone: two links, a switch and two services.
  PacketNetwork empty(network);
  const sim::Duration lone = pass(empty, {{{}, 0, kHosts, 1}}).front().at - sim::SimTime{};
  std::array<double, 3> wait{};
  std::array<int, 3> count{};
  for (const OutOf& a : pass(network, all)) {
    wait[a.packet.traffic_class] += static_cast<double>((a.at - all[a.packet.serial].at - lone).ps) / kService;
    ++count[a.packet.traffic_class];
  }
  CHECK(wait[2] / count[2] == Approx(0.5).epsilon(0.06));
  CHECK(wait[1] / count[1] == Approx(2.5).epsilon(0.06));
}

TEST_CASE("classes: a pause of one class holds up no other on the same link") {
  // Hosts 0 and 1 fill host 2's port in class 3 until the switch pauses them; host 0 sends to host 3 in class 5
  // besides.
  const auto took = [](bool crowded, bool parted) {
    Config config = classed(topology::Star{4}, {{.id = 3}, {.id = 5, .strict = true}});
    config.options.flow_control = FlowControl::pfc;
    config.options.buffer_size = sim::Bytes{2'000'000};
    config.options.pfc_xoff = sim::Bytes{50'000};
    PacketNetwork network(config);
    std::vector<ClassedSending> all;
    if (crowded)
      for (int i = 0; i < 1'000; ++i)
        for (const NodeId from : {0U, 1U}) all.push_back({{}, from, 2, 3});
    for (int i = 0; i < 50; ++i)
      all.push_back({{100'000'000 + i * std::int64_t{2'000'000}}, 0, 3, parted ? std::uint8_t{5} : std::uint8_t{3}});
    std::int64_t most = 0;
    std::uint64_t delivered = 0;
    for (const OutOf& a : pass(network, all)) {
      ++delivered;
      if (a.packet.destination == PortId(3)) most = std::max(most, (a.at - all[a.packet.serial].at).ps);
    }
    CHECK(delivered == all.size());
    CHECK(network.packets_lost(LossReason::buffer_full) == 0);
    if (crowded) CHECK(network.counters(network.graph().ports(0).front()).pauses > 0);
    return most;
  };
  const std::int64_t alone = took(false, true);
  CHECK(took(true, true) <= alone + 2 * kService + 84 * 80);  // a packet that has begun on each link, and a pause frame
  CHECK(took(true, false) > alone + 10 * kService);           // behind the others, that is another matter
}

TEST_CASE("classes: marks of each class by its own queue") {
  PacketNetwork network(classed(
      topology::Star{4}, {{.id = 1, .ecn = true, .ecn_kmin = {0}, .ecn_kmax = {8'000}, .ecn_pmax = 1'000}, {.id = 2}}));
  std::vector<ClassedSending> all;
  for (int i = 0; i < 100; ++i)
    for (const NodeId from : {0U, 1U, 2U}) all.push_back({{}, from, 3, from == 0 ? std::uint8_t{1} : std::uint8_t{2}});
  std::array<int, 3> marked{};
  for (const OutOf& a : pass(network, all)) marked[a.packet.traffic_class] += a.packet.marked ? 1 : 0;
  CHECK(marked[1] > 50);
  CHECK(marked[2] == 0);
}

TEST_CASE("classes: what cannot be is refused") {
  const auto problem = [](std::vector<TrafficClass> classes) {
    return std::string(classed(topology::Star{2}, std::move(classes)).validate());
  };
  CHECK(problem({{.id = 7}, {.id = 0}}).empty());
  CHECK(problem({{.id = 8}}).find("from 0 to 7") != std::string::npos);
  CHECK(problem({{.id = 1}, {.id = 1}}).find("once") != std::string::npos);
  CHECK(problem({{.id = 1, .weight = 0}}).find("weight") != std::string::npos);
}
