// Reliable delivery (IBTA volume 1, 9.7): whatever the network loses or reorders, what is acknowledged has happened,
// once and in order; when retries run out, the completion says so.
#include "fabric/packet_network.hpp"
#include "pair.hpp"
#include "tests/catch.hpp"

using namespace loco;
using namespace loco::test;
using nic::Status;

namespace {

/// A link goes down and comes back.
PairOptions interrupted(sim::Duration down, sim::Duration up) {
  PairOptions options;
  options.network.changes = {{sim::SimTime{} + down, 0, false}, {sim::SimTime{} + up, 0, true}};
  return options;
}

}  // namespace

TEST_CASE("PSNs wrap: a queue pair that starts just below the end goes on at zero, with losses too") {
  for (const std::uint32_t loss : {0U, 50'000U}) {
    for (const std::uint32_t first : {0xfffffeU, 0xffffffU, 0xfffff0U, 0x7fffffU}) {
      INFO("first PSN " << first << " loss " << loss);
      Pair pair(fast_timeout(), unconnected(loss));
      pair.bring_up({.rq_psn = first, .sq_psn = first, .timeout = nic::timeout_of_code(4)});
      const auto content = pair.fill(0, 0, 20'000, first);
      const auto there = pair.fill(1, 64'000, 5'000, first + 1);
      pair.post({pair.write(0, 0, 20'000), pair.read(40'000, 64'000, 5'000), pair.fetch_add(60'000, 63'992, 3),
                 pair.read(50'000, 64'000, 5'000), pair.write(0, 30'000, 10)});
      pair.run();
      CHECK(pair.statuses(0) == std::vector<Status>(5, Status::success));
      CHECK((pair.bytes(1, 0, 20'000) == content));
      CHECK((pair.bytes(0, 40'000, 5'000) == there));
      CHECK((pair.bytes(0, 50'000, 5'000) == there));
      CHECK(pair.system.word(1, pair.region[1].base + 63'992) == 3);
      CHECK((pair.system.counters().packets_lost > 0) == (loss > 0));
    }
  }
}

TEST_CASE("a gap is answered by one NAK, and the requester goes back to it") {
  // The receiver's cable is down for a moment while a long message is on its way: 25 Gb/s, 1 KiB in 0.36 us.
  PairOptions options = interrupted(20_us, 21_us);
  options.topology = fabric::Topology::star;
  for (fabric::LinkChange& change : options.network.changes) change.cable = 1;
  Pair pair(real(), options);
  const auto content = pair.fill(0, 0, 100'000, 1);
  pair.post({pair.write(0, 0, 100'000)});
  pair.run();
  CHECK(pair.statuses(0) == std::vector{Status::success});
  CHECK((pair.bytes(1, 0, 100'000) == content));
  CHECK(pair.system.counters().packets_lost > 0);
  CHECK(pair.system.counters().timeouts == 0);  // the NAK comes long before 67 ms
  CHECK(pair.system.counters().retransmissions == 1);
  std::size_t naks = 0;
  for (const fabric::Packet& packet : pair.recorder.sent) naks += packet.opcode == fabric::Opcode::nak ? 1 : 0;
  CHECK(naks == 1);
  CHECK(pair.recorder.cqes.back().at < sim::SimTime{} + 100_us);
}

TEST_CASE("every gap has its NAK, and nothing that was acknowledged is sent again") {
  // As above, but the cable fails twice, and every packet is acknowledged.
  PairOptions options = interrupted(20_us, 21_us);
  options.topology = fabric::Topology::star;
  options.network.changes.push_back({sim::SimTime{} + 35_us, 0, false});
  options.network.changes.push_back({sim::SimTime{} + 36_us, 0, true});
  for (fabric::LinkChange& change : options.network.changes) change.cable = 1;
  nic::HardwareProfile profile = real();
  profile.nic_ack_coalescing = 1;
  Pair pair(profile, options);
  pair.post({pair.write(0, 0, 100'000)});
  pair.run();
  CHECK(pair.statuses(0) == std::vector{Status::success});
  CHECK(pair.system.counters().timeouts == 0);
  CHECK(pair.system.counters().retransmissions == 2);
  // 98 packets; each NAK finds a round trip's worth of them under way, which is less than ten.
  const auto sent = std::ranges::count(pair.recorder.sent, fabric::Opcode::write, &fabric::Packet::opcode);
  CHECK(sent > 98 + 2);
  CHECK(sent < 98 + 2 * 16);
}

TEST_CASE("what is lost at the end of a message is found out by the transport timer") {
  nic::HardwareProfile profile = real();
  Pair pair(profile, interrupted(0_us, 50_us));
  pair.post({pair.write(0, 0, 8)});
  pair.run();
  CHECK(pair.statuses(0) == std::vector{Status::success});
  CHECK(pair.system.counters().timeouts == 1);
  const sim::SimTime at = pair.recorder.cqes.back().at;
  CHECK(at > sim::SimTime{} + nic::timeout_of_code(14));  // 4.096 us * 2^14
  CHECK(at < sim::SimTime{} + nic::timeout_of_code(14) + 10_us);
}

TEST_CASE("what PFC with too little headroom loses at the end is repeated, too") {
  // 1 Gb/s behind 25 Gb/s: the first packet is being sent (about 9 us), the second fills the buffer (1024 bytes and
  // headers), and the third, which comes long before a pause could tell (10 us there and back), finds no room.
  nic::HardwareProfile profile = fast_timeout();
  profile.link_delay = 5_us;
  PairOptions options;
  options.topology = fabric::Topology::shaped;
  options.network.shape = fabric::topology::Custom{
      .hosts = 2,
      .switches = 1,
      .edges = {{.a = 0, .b = 2}, {.a = 1, .b = 2, .rate = sim::BitsPerSecond{1'000'000'000}}}};
  fabric::Options& network = options.network.options;
  network.flow_control = fabric::FlowControl::pfc;
  network.buffer_size = sim::Bytes{1'500};
  network.pfc_xoff = network.pfc_headroom = sim::Bytes{1};
  Pair pair(profile, options);
  const auto content = pair.fill(0, 0, 3 * 1024, 1);
  pair.post({pair.write(0, 0, 1024), pair.write(1024, 1024, 1024), pair.write(2048, 2048, 1024)});
  pair.run();
  CHECK(pair.statuses(0) == std::vector<Status>(3, Status::success));
  CHECK((pair.bytes(1, 0, 3 * 1024) == content));
  CHECK(pair.system.counters().packets_lost == 1);
  CHECK(pair.system.counters().timeouts == 1);
}

TEST_CASE("what a NIC sends to itself does not wait for its paused port") {
  // The receiver's cable is so slow that its switch pauses the sender for 64 us and more.
  fabric::Config network;
  network.options.flow_control = fabric::FlowControl::pfc;
  network.options.pfc_xoff = 8_KiB;
  network.shape = fabric::topology::Custom{.hosts = 2, .switches = 1, .edges = {{0, 2}, {1, 2, 1_Gbps}}};
  PairOptions options;
  options.topology = fabric::Topology::shaped;
  options.network = network;
  Pair pair(real(), options);
  const nic::QpId from = pair.system.create_qp(0, pair.cq[0], 4);
  pair.system.connect(from, pair.system.create_qp(0, pair.cq[0], 4));
  pair.post({pair.write(0, 0, 100'000)});
  while (!pair.system.network().paused(nic::PortId(0), nic::PortId(1), 0)) REQUIRE(pair.step());
  nic::Wqe own = pair.write(0, 100'000);
  own.rkey = pair.region[0].rkey;
  own.remote = pair.region[0].base + 110'000;
  pair.post({own}, from);
  while (pair.recorder.cqes.empty()) REQUIRE(pair.step());
  CHECK(pair.recorder.cqes.front().cqe.qp == from);
  CHECK(pair.system.network().paused(nic::PortId(0), nic::PortId(1), 0));
}

TEST_CASE("all queue pairs that wait for a paused port go on when it is resumed") {
  // Two senders fill the receiver's port; PFC pauses them again and again, each with four queue pairs.
  fabric::Config network;
  network.options.flow_control = fabric::FlowControl::pfc;
  network.options.pfc_xoff = 8_KiB;
  nic::System system({.profile = real(), .topology = fabric::Topology::star, .network = network, .nodes = 3});
  std::array<nic::MemoryRegion, 3> region{};
  std::array<nic::CqId, 3> cq{};
  for (nic::NodeId node = 0; node < 3; ++node) {
    region[node] = system.register_memory(node, system.allocate(node, 1 << 17), 1 << 17);
    cq[node] = system.create_cq(node, 64);
  }
  Scripts scripts;
  for (nic::NodeId node = 0; node < 2; ++node) {
    std::vector<nic::QpId> qps;
    for (int i = 0; i < 4; ++i) {
      qps.push_back(system.create_qp(node, cq[node], 4));
      system.connect(qps.back(), system.create_qp(2, cq[2], 4));
    }
    system.create_thread(node);
    scripts.steps.emplace_back([&, node, qps](nic::Cpu& cpu) {
      const nic::Wqe wqe{.length = 100'000,
                         .lkey = region[node].lkey,
                         .rkey = region[2].rkey,
                         .local = region[node].base,
                         .remote = region[2].base};
      for (const nic::QpId qp : qps) CHECK(cpu.post_send(qp, {&wqe, 1}) == nic::PostResult::ok);
      cpu.stop();
    });
  }
  Recorder recorder;
  nic::Context context{scripts, &recorder};
  while (system.step(context)) {
  }
  CHECK(recorder.cqes.size() == 8);
  std::uint64_t pauses = 0;
  const fabric::PacketNetwork& links = *system.network().packet_network();
  for (fabric::topology::LinkId link = 0; link < links.links(); ++link) pauses += links.counters(link).pauses;
  CHECK(pauses > 10);
}

TEST_CASE("when retries run out the completion says so, and the rest is flushed") {
  for (const std::uint32_t retries : {0U, 2U, 7U}) {
    nic::HardwareProfile profile = fast_timeout();
    profile.nic_retry_count = retries;
    Pair pair(profile, interrupted(20_us, 900'000_ms));
    pair.fill(0, 0, 100'000, 1);
    pair.post({pair.write(0, 0, 8), pair.write(0, 0, 100'000), pair.read(0, 0, 8), pair.send(0, 8)});
    for (int i = 0; i < 100'000 && pair.completions(0).size() < 4; ++i) pair.step();
    CHECK(pair.statuses(0) ==
          std::vector{Status::success, Status::retry_exc_err, Status::wr_flush_err, Status::wr_flush_err});
    CHECK(pair.system.qp_state(pair.qp[0]) == nic::QpState::error);
    const sim::SimTime at = pair.recorder.cqes.back().at;
    const sim::Duration waited = profile.nic_ack_timeout * (retries + 1);
    CHECK(at > sim::SimTime{} + 20_us + waited);
    // The port sends the message into the dead cable each time, 98 packets with headers, before the last one's timeout.
    const sim::Duration again = sim::transmission_time({110'000}, profile.link_rate) * retries;
    CHECK(at < sim::SimTime{} + 60_us + waited + again);
  }
}

TEST_CASE("messages are received once and in order although packets and answers are lost") {
  std::uint64_t lost = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    PairOptions options = lossy(20'000);
    options.network.seed = seed;
    Pair pair(fast_timeout(), options);
    std::vector<nic::Wqe> wqes;
    for (std::uint64_t i = 0; i < 40; ++i) {
      REQUIRE(pair.receive(i, 3'000 * i, 3'000));
      wqes.push_back(pair.send(0, static_cast<std::uint32_t>(1 + 73 * i)));
      wqes.back().with_imm = true;
      wqes.back().imm = static_cast<std::uint32_t>(i);
    }
    const auto content = pair.fill(0, 0, 3'000, 9);
    pair.post(wqes);
    pair.run();
    CHECK(pair.statuses(0) == std::vector<Status>(40, Status::success));
    const auto received = pair.completions(1);
    REQUIRE(received.size() == 40);
    for (std::uint64_t i = 0; i < 40; ++i) {
      CHECK(received[i].wr_id == i);
      CHECK(received[i].imm == i);
      CHECK(received[i].length == 1 + 73 * i);
      const auto got = pair.bytes(1, 3'000 * i, 1 + 73 * i);
      CHECK(std::equal(got.begin(), got.end(), content.begin()));
    }
    lost += pair.system.counters().packets_lost;
  }
  CHECK(lost > 20);
}

TEST_CASE("fewer ACKs: every n-th packet of a message and its last one asks for one") {
  for (const std::uint32_t every : {0U, 1U, 4U}) {
    nic::HardwareProfile profile = real();
    profile.nic_ack_coalescing = every;
    Pair pair(profile);
    pair.post({pair.write(0, 0, 10 * 1024), pair.write(0, 0, 8)});
    pair.run();
    std::size_t acks = 0;
    for (const fabric::Packet& packet : pair.recorder.sent) acks += packet.opcode == fabric::Opcode::ack ? 1 : 0;
    CHECK(acks == (every == 0 ? 2U : every == 1 ? 11U : 4U));  // 10 packets: 4, 8 and 10; then one
    CHECK(pair.statuses(0) == std::vector<Status>(2, Status::success));
  }
}

TEST_CASE("a network that reorders: in-order queue pairs go back and still deliver everything") {
  for (const auto routing : {fabric::Routing::spray, fabric::Routing::adaptive}) {
    Pair pair(fast_timeout(), unequal_paths(routing, 5));
    const auto content = pair.fill(0, 0, 40'000, 1);
    const auto there = pair.fill(1, 60'000, 20'000, 2);
    for (std::uint64_t i = 0; i < 4; ++i) REQUIRE(pair.receive(i, 100'000 + 4'000 * i, 4'000));
    std::vector<nic::Wqe> wqes;
    for (std::uint64_t i = 0; i < 4; ++i) {
      wqes.push_back(pair.write(10'000 * i, 10'000 * i, 10'000));
      wqes.push_back(pair.send(4'000 * i, 4'000));
      wqes.push_back(pair.read(60'000 + 5'000 * i, 60'000 + 5'000 * i, 5'000));
      wqes.push_back(pair.fetch_add(90'000 + 8 * i, 90'000, 1));
    }
    pair.post(wqes);
    pair.run();
    CHECK(pair.statuses(0) == std::vector<Status>(16, Status::success));
    CHECK(pair.statuses(1) == std::vector<Status>(4, Status::success));
    CHECK(pair.system.counters().retransmissions > 0);
    CHECK((pair.bytes(1, 0, 40'000) == content));
    CHECK((pair.bytes(0, 60'000, 20'000) == there));
    CHECK((pair.bytes(1, 100'000, 16'000) == std::vector(content.begin(), content.begin() + 16'000)));
    for (std::uint64_t i = 0; i < 4; ++i) CHECK(pair.system.word(0, pair.region[0].base + 90'000 + 8 * i) == i);
  }
}

TEST_CASE("a NAK acknowledges nothing that still waits behind an atomic") {
  // The atomic takes so long that all else comes meanwhile, over paths of different length. A gap that is filled is not
  // asked for any more, although there is another one by then: its NAK would say that the refused WRITE is done.
  nic::HardwareProfile profile = fast_timeout();
  profile.pcie_read_access = 20_us;
  std::size_t naks = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    INFO("seed " << seed);
    Pair pair(profile, unequal_paths(fabric::Routing::spray, seed));
    std::vector<nic::Wqe> wqes(6, pair.write(0, 0));
    for (nic::Wqe& wqe : wqes) wqe.inline_data = true;
    wqes[1].rkey = nic::kNone;
    wqes[0] = pair.fetch_add(64, 64, 1);
    pair.post(wqes);
    pair.run();
    REQUIRE(pair.statuses(0).size() == 6);
    CHECK(pair.statuses(0)[1] != Status::success);  // the NAK may overtake the atomic's answer, and count for nothing
    naks += static_cast<std::size_t>(
        std::ranges::count(pair.recorder.sent, fabric::NakCode::psn_sequence_error, &fabric::Packet::nak));
  }
  CHECK(naks > 50);
}

TEST_CASE("a lossless network has no timers: an idle machine has nothing pending") {
  Pair pair(real());
  pair.post({pair.write(0, 0, 8), pair.read(0, 0, 8)});
  pair.run();
  CHECK(pair.system.now() < sim::SimTime{} + 100_us);
  for (const auto& profile : {"model-weak", "cx5-roce-25g"}) {
    Pair busy(profile_file(profile));
    busy.post({busy.write(0, 0, 8), busy.read(0, 0, 8), busy.fetch_add(0, 0, 1)});
    nic::Context context{busy.scripts, nullptr};
    while (busy.system.step(context)) {
      for (std::size_t i = 0; i < busy.system.pending_events(); ++i) {
        REQUIRE(busy.system.pending_event(i).at < sim::SimTime{} + 1_ms);
      }
    }
  }
}

TEST_CASE("on a lossy network, too, nothing is pending once everything is answered") {
  Pair pair(fast_timeout(), lossy(1));
  pair.post({pair.write(0, 0, 8), pair.read(0, 0, 8)});
  pair.run();
  CHECK(pair.system.now() < sim::SimTime{} + 50_us);  // the timer was stopped: it would have fired at 65 us
}

namespace {
/// WRITEs of random sizes to random places while 1 % of the packets is lost and a link goes down and up. Every WRITE
/// that is acknowledged is compared with what remote memory holds at that moment.
std::uint64_t check_acknowledged_writes(std::uint64_t seed) {
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  PairOptions options = interrupted(sim::Duration{static_cast<std::int64_t>(random() % 100'000'000)},
                                    sim::Duration{static_cast<std::int64_t>(100'000'000 + random() % 200'000'000)});
  options.topology = fabric::Topology::star;
  options.network.options.loss = 10'000;
  options.network.seed = seed;
  nic::HardwareProfile profile = fast_timeout();
  profile.nic_ack_coalescing = static_cast<std::uint32_t>(random() % 4);
  profile.link_mtu = sim::Bytes{random() % 2 == 0 ? 256U : 1024U};
  Pair pair(profile, options);
  const auto content = pair.fill(0, 0, 1 << 16, static_cast<std::uint32_t>(seed));
  struct Posted {
    std::uint64_t from, to;
    std::uint32_t length;
  };
  std::vector<Posted> posted;
  std::vector<std::uint8_t> expected(1 << 16);
  std::size_t acknowledged = 0;
  constexpr std::size_t kWrites = 60;
  pair.script(0, [&](nic::Cpu& cpu) {
    std::array<nic::Cqe, 16> cqes;
    const std::size_t n = cpu.poll_cq(pair.cq[0], cqes);
    for (std::size_t i = 0; i < n; ++i) {
      REQUIRE(cqes[i].status == Status::success);
      REQUIRE(cqes[i].wr_id == acknowledged);
      const Posted& w = posted[acknowledged++];
      std::copy_n(content.begin() + static_cast<long>(w.from), w.length, expected.begin() + static_cast<long>(w.to));
    }
    if (posted.size() < kWrites && !cpu.store_buffer_full()) {
      const auto length = static_cast<std::uint32_t>(random() % (random() % 4 == 0 ? 8192 : 64));
      const Posted w{random() % ((1 << 16) - length), random() % ((1 << 16) - length), length};
      nic::Wqe wqe = pair.write(w.from, w.to, w.length);
      wqe.wr_id = posted.size();
      REQUIRE(cpu.post_send(pair.qp[0], {&wqe, 1}) == nic::PostResult::ok);
      posted.push_back(w);
      return cpu.resume_after(sim::Duration{static_cast<std::int64_t>(random() % 5'000'000)});
    }
    if (acknowledged == kWrites) return cpu.stop();
    cpu.pause({});
  });
  pair.run();
  CHECK(acknowledged == kWrites);
  CHECK((pair.bytes(1, 0, 1 << 16) == expected));
  return pair.system.counters().packets_lost;
}
}  // namespace

TEST_CASE("1 % loss and a link that goes down and up: every acknowledged WRITE is in remote memory") {
  std::uint64_t lost = 0;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) lost += check_acknowledged_writes(seed);
  CHECK(lost > 50 * 5);
}

TEST_CASE("1 % loss and a link that goes down and up, 1,000 seeds", "[.long]") {
  std::uint64_t lost = 0;
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) lost += check_acknowledged_writes(seed);
  CHECK(lost > 1000 * 5);
}
