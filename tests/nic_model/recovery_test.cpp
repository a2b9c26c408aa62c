// Requests that no answer comes to, or an answer that counts for nothing: retried, timed, and given up in the end (IBTA
// volume 1, 9.7.6).
#include "pair.hpp"
#include "tests/catch.hpp"

using namespace loco;
using namespace loco::test;
using nic::QpState;
using nic::QpType;
using nic::Status;

TEST_CASE("PSNs that do not fit are no connection: retries run out, on a lossless network too") {
  // IBTA volume 1, 9.7.6.1.1 and table 59: what is behind the expected PSN is repeated in vain, what is before it is
  // taken for a duplicate; neither answer names a PSN that the requester has sent, so that they count for nothing.
  using Psns = std::pair<std::uint32_t, std::uint32_t>;
  for (const Psns& psns : {Psns{0, 100}, Psns{100, 0}}) {
    for (const std::uint32_t loss : {0U, 1U}) {
      for (const int op : {0, 1, 2}) {
        INFO("sent " << psns.first << " expected " << psns.second << " loss " << loss << " operation " << op);
        Pair pair(real(), unconnected(loss));
        bring_up(pair.system, pair.qp[0],
                 {.dest_qp = pair.qp[1], .sq_psn = psns.first, .timeout = kTimeout, .retry_count = 7});
        bring_up(pair.system, pair.qp[1], {.dest_qp = pair.qp[0], .rq_psn = psns.second, .timeout = kTimeout});
        pair.system.set_word(0, pair.region[0].base, 5);
        const bool duplicate_read = op == 1 && psns.first < psns.second;
        pair.post({op == 0 ? pair.write(0, 64, 3'000) : op == 1 ? pair.read(64, 64) : pair.fetch_add(64, 64, 1)});
        pair.run();
        if (duplicate_read) {  // it is executed "again" (9.7.5.1.2), and answered with its own PSN
          CHECK(pair.statuses(0) == std::vector{Status::success});
          continue;
        }
        CHECK(pair.statuses(0) == std::vector{Status::retry_exc_err});
        CHECK(pair.system.word(1, pair.region[1].base + 64) == 0);
        check_gave_up(pair.recorder.cqes.back().at, 7);
      }
    }
  }
}

TEST_CASE("PSNs that do not fit, placed out of order: beyond the gap, or beyond what is kept") {
  for (const nic::Placement placement : {nic::Placement::out_of_order, nic::Placement::unordered}) {
    for (const std::uint32_t first : {100U, 20'000U}) {
      INFO("placement " << static_cast<int>(placement) << " first PSN " << first);
      nic::HardwareProfile profile = real();
      profile.nic_placement = placement;
      Pair pair(profile, unconnected());
      bring_up(pair.system, pair.qp[0],
               {.dest_qp = pair.qp[1], .sq_psn = first, .timeout = kTimeout, .retry_count = 2});
      bring_up(pair.system, pair.qp[1], {.dest_qp = pair.qp[0], .timeout = kTimeout});
      pair.post({pair.write(0, 64, 3'000)});
      pair.run();
      CHECK(pair.statuses(0) == std::vector{Status::retry_exc_err});
      check_gave_up(pair.recorder.cqes.back().at, 2);
    }
  }
}

TEST_CASE("a queue pair takes nothing from another one than its peer") {
  // A names B, B is connected with C. B drops what A sends (IBTA volume 1, 9.6.1: the address is not its peer's).
  for (const QpType type : {QpType::rc, QpType::uc}) {
    nic::System system({.profile = real(), .topology = fabric::Topology::star, .nodes = 3});
    std::array<nic::MemoryRegion, 3> region{};
    std::array<nic::CqId, 3> cq{};
    std::array<nic::QpId, 3> qp{};
    for (nic::NodeId node = 0; node < 3; ++node) {
      region[node] = system.register_memory(node, system.allocate(node, 4096), 4096);
      cq[node] = system.create_cq(node, 64);
      qp[node] = system.create_qp(node, {.type = type, .send_cq = cq[node], .send_entries = 16});
    }
    system.connect(qp[1], qp[2]);
    bring_up(system, qp[0], {.dest_qp = qp[1], .timeout = kTimeout, .retry_count = 1});
    system.set_word(0, region[0].base, 5);
    Scripts scripts;
    Recorder recorder;
    system.create_thread(0);
    scripts.steps.emplace_back([&](nic::Cpu& cpu) {
      const nic::Wqe wqe{
          .lkey = region[0].lkey, .rkey = region[1].rkey, .local = region[0].base, .remote = region[1].base};
      CHECK(cpu.post_send(qp[0], {&wqe, 1}) == nic::PostResult::ok);
      cpu.stop();
    });
    nic::Context context{scripts, &recorder};
    while (system.step(context)) {
    }
    CHECK(system.word(1, region[1].base) == 0);
    CHECK(system.qp_state(qp[1]) == QpState::rts);
    REQUIRE(recorder.cqes.size() == 1);
    CHECK(recorder.cqes[0].cqe.status == (type == QpType::rc ? Status::retry_exc_err : Status::success));
    if (type == QpType::rc) check_gave_up(recorder.cqes[0].at, 1);
  }
}

TEST_CASE("a peer that becomes ready late is reached by the retransmission") {
  // Ready after 100 us: the first repetition, one timeout after the first attempt, finds it.
  for (const std::uint32_t loss : {0U, 1U}) {
    INFO("loss " << loss);
    Pair pair(real(), unconnected(loss));
    pair.system.set_word(0, pair.region[0].base, 5);
    bring_up(pair.system, pair.qp[0], {.dest_qp = pair.qp[1], .timeout = kTimeout});
    pair.post({pair.write(0, 64), pair.write(0, 72, 3'000), pair.fetch_add(8, 64, 1)});
    pair.script(
        1,
        [&](nic::Cpu& cpu) {
          bring_up(pair.system, pair.qp[1], {.dest_qp = pair.qp[0], .timeout = kTimeout});
          cpu.stop();
        },
        sim::SimTime{} + 100_us);
    pair.run();
    CHECK(pair.statuses(0) == std::vector<Status>(3, Status::success));
    CHECK(pair.system.word(1, pair.region[1].base + 64) == 6);
    CHECK(pair.system.counters().timeouts == 1);
    CHECK(pair.recorder.cqes.front().at > sim::SimTime{} + kTimeout);
    CHECK(pair.recorder.cqes.back().at < sim::SimTime{} + kTimeout + 20_us);
    CHECK(pair.system.now() < sim::SimTime{} + kTimeout + 20_us);  // no timer is left
  }
}

TEST_CASE("a local error is no answer: what is before it is not repeated for its sake") {
  // Of the bad work request nothing is sent, so that nothing of it can be missing.
  for (const std::uint32_t retries : {0U, 7U}) {
    for (const bool atomic : {false, true}) {
      for (const std::uint32_t loss : {0U, 1U}) {
        INFO("retries " << retries << " atomic " << atomic << " loss " << loss);
        PairOptions options;
        options.network.options.loss = loss;
        Pair pair(impatient(retries), options);
        nic::Wqe bad = atomic ? pair.fetch_add(0, 64, 1) : pair.read(0, 64);
        bad.lkey ^= 1;
        pair.post({pair.write(0, 0), bad, pair.write(0, 0)});
        pair.run();
        CHECK(pair.statuses(0) == std::vector{Status::success, Status::loc_prot_err, Status::wr_flush_err});
        CHECK(pair.system.counters().retransmissions == 0);
      }
    }
  }
}

TEST_CASE("a program that posts steadily into a dead link is told after its timeout all the same") {
  // The timer belongs to the oldest request without an answer (IBTA volume 1, 9.7.6.1.3); later ones do not stop it.
  PairOptions options;
  options.network.changes = {{sim::SimTime{}, 0, false}};
  Pair pair(impatient(0), options);
  std::uint64_t posted = 0;
  pair.script(0, [&](nic::Cpu& cpu) {
    const nic::Wqe wqe = numbered(pair.write(0, 0), posted);
    if (posted == 40 || cpu.post_send(pair.qp[0], {&wqe, 1}) != nic::PostResult::ok) return cpu.stop();
    ++posted;
    cpu.resume_after(nic::timeout_of_code(7));  // half of it
  });
  pair.run();
  REQUIRE(!pair.recorder.cqes.empty());
  CHECK(pair.recorder.cqes.front().cqe.status == Status::retry_exc_err);
  check_gave_up(pair.recorder.cqes.front().at, 0);
}

TEST_CASE("a message that takes longer than the timeout to send does not time out while it is sent") {
  // 400 packets of 1 KiB at 25 Gb/s take 144 us and more, the timeout is 65.5 us: it begins with the last packet.
  nic::HardwareProfile profile = real();
  profile.nic_ack_timeout = nic::timeout_of_code(4);
  PairOptions options;
  options.size = 1 << 20;
  options.network.options.loss = 1;
  options.network.seed = 3;
  Pair pair(profile, options);
  pair.post({pair.write(0, 0), pair.write(0, 0, 400 << 10), pair.read(0, 0, 400 << 10)});
  pair.run();
  CHECK(pair.statuses(0) == std::vector<Status>(3, Status::success));
  CHECK(pair.system.counters().packets_lost == 0);
  CHECK(pair.system.counters().timeouts == 0);
}

TEST_CASE("an RNR NAK that is overtaken by the answer to a repetition does not stop the queue pair") {
  // Answers take paths of different length: the ACK of everything may come while the requester waits for a receiver
  // that has been ready long since. What is posted afterwards is sent.
  for (std::uint64_t seed = 1; seed <= 300 / loco::test::kShare; ++seed) {
    INFO("seed " << seed);
    std::mt19937_64 random(seed);
    PairOptions options = unequal_paths(seed % 3 == 0 ? fabric::Routing::spray : fabric::Routing::adaptive, seed);
    options.connected = false;
    nic::HardwareProfile profile = real();
    profile.link_mtu = sim::Bytes{seed % 2 == 0 ? 256U : 4096U};
    Pair pair(profile, options);
    pair.bring_up({.timeout = nic::timeout_of_code(6), .min_rnr_timer = 30_us});
    constexpr std::uint64_t kMessages = 24;  // each a SEND behind a WRITE and an atomic
    const auto some = [&random](std::uint64_t most) { return static_cast<std::int64_t>(random() % most); };
    std::uint64_t received = 0;
    std::uint64_t posted = 0;
    pair.script(1, [&](nic::Cpu& cpu) {
      const nic::RecvWqe receive{
          .wr_id = received, .address = pair.region[1].base, .length = 8'192, .lkey = pair.region[1].lkey};
      if (cpu.store_buffer_full()) return cpu.resume_when_room();
      CHECK(cpu.post_recv(pair.qp[1], {&receive, 1}) == nic::PostResult::ok);
      if (++received == kMessages) return cpu.stop();
      cpu.resume_after(sim::Duration{100'000 + some(20'000'000)});
    });
    pair.script(0, [&](nic::Cpu& cpu) {
      const std::array wqes{pair.write(0, 0, static_cast<std::uint32_t>(some(3'000))),
                            pair.fetch_add(16'384, 16'384, 1), pair.send(0, static_cast<std::uint32_t>(some(1'000)))};
      if (cpu.store_buffer_full()) return cpu.resume_when_room();
      CHECK(cpu.post_send(pair.qp[0], wqes) == nic::PostResult::ok);
      if (++posted == kMessages) return cpu.stop();
      cpu.resume_after(sim::Duration{1'000 + some(20'000'000)});
    });
    pair.run();
    CHECK(pair.statuses(0) == std::vector<Status>(3 * kMessages, Status::success));
    CHECK(pair.statuses(1) == std::vector<Status>(kMessages, Status::success));
  }
}

TEST_CASE("no more than 2^23 PSNs are on their way") {
  // IBTA volume 1, 9.7.1: else old and new could not be told apart. READs of 2^19 responses: 16 at once.
  nic::HardwareProfile profile = real();
  profile.link_mtu = sim::Bytes{64};
  profile.nic_max_rd_atomic = 128;
  PairOptions options;
  options.size = 32 << 20;
  Pair pair(profile, options);
  pair.post(std::vector<nic::Wqe>(20, pair.read(0, 0, 32 << 20)));
  while (pair.system.now() < sim::SimTime{} + 10_us) pair.step();
  CHECK(std::ranges::count(pair.recorder.sent, fabric::Opcode::read_request, &fabric::Packet::opcode) == 16);
}

namespace {
/// 5 us of cable, on which nothing is lost; answers have to come in time all the same.
Pair timed(sim::Duration timeout, std::uint32_t retries) {
  nic::HardwareProfile profile = real();
  profile.link_delay = 5_us;
  profile.nic_ack_timeout = timeout;
  profile.nic_retry_count = retries;
  PairOptions options;
  options.timers = true;
  return Pair(profile, options);
}
}  // namespace

TEST_CASE("an answer that takes longer than the time-out fails, on a network that loses nothing, too") {
  // A round trip is 10 us of cable and what the NICs take; the time-out is 8.2 us, and there is no retry.
  Pair pair = timed(nic::timeout_of_code(1), 0);
  pair.post({pair.write(0, 0, 8)});
  pair.run();
  CHECK(pair.statuses(0) == std::vector{Status::retry_exc_err});
  const sim::SimTime end = pair.recorder.cqes.back().at;
  CHECK(end > sim::SimTime{} + nic::timeout_of_code(1));
  CHECK(end < sim::SimTime{} + nic::timeout_of_code(1) + 3_us);  // the work request, before it, and the CQE
  CHECK(pair.system.counters().timeouts == 1);
}

TEST_CASE("a time-out that is long enough leaves no trace, and an idle machine is idle") {
  Pair pair = timed(nic::timeout_of_code(3), 0);  // 32.8 us
  pair.post({pair.write(0, 0, 100'000), pair.read(0, 0, 100'000), pair.fetch_add(64, 64, 1)});
  pair.run();
  CHECK(pair.statuses(0) == std::vector<Status>(3, Status::success));
  CHECK(pair.system.counters().timeouts == 0);
  CHECK(pair.system.idle());
  CHECK(pair.system.now() < pair.recorder.cqes.back().at + 5_us);
}

TEST_CASE("requests that are repeated although nothing was lost are executed once") {
  // The first answer comes within the second time-out.
  Pair pair = timed(nic::timeout_of_code(1), 7);
  pair.fill(1, 1'000, 16, 1);
  pair.post({pair.fetch_add(0, 64, 3), pair.write(0, 512, 8), pair.read(128, 1'000, 16), pair.fetch_add(8, 64, 4)});
  pair.run();
  CHECK(pair.statuses(0) == std::vector<Status>(4, Status::success));
  CHECK(pair.system.counters().timeouts > 0);
  CHECK(pair.system.word(1, pair.region[1].base + 64) == 7);
  CHECK(pair.system.word(0, pair.region[0].base + 8) == 3);
  CHECK((pair.bytes(0, 128, 16) == pair.bytes(1, 1'000, 16)));
  std::multiset<nic::Address> read, written;
  for (const nic::Subevent& s : pair.recorder.subevents) {
    if (s.stamp == nic::Stamp::aNRR && !s.nic_atomic) read.insert(s.address);
    if (s.stamp == nic::Stamp::aNRW) written.insert(s.address);
  }
  CHECK(read.size() == 2);  // two words, of one execution in the trace
  CHECK(written.size() == 3);
}

namespace {
/// WRITE packets of host 0 that leave although an ACK that has come covers them.
class SentInVain : public nic::Observer {
 public:
  std::uint32_t packets = 0, repeated = 0;
  void on_packet(nic::PacketStep step, const fabric::Packet& packet, sim::SimTime) override {
    if (step == nic::PacketStep::received && packet.opcode == fabric::Opcode::ack) {
      if (packet.psn.distance(una_) >= 0) una_ = packet.psn + 1;
    }
    if (step != nic::PacketStep::sent || packet.opcode != fabric::Opcode::write) return;
    if (packet.psn.distance(una_) < 0) ++packets;
    if (packet.psn.distance(next_) < 0) {
      ++repeated;
    } else {
      next_ = packet.psn + 1;
    }
  }

 private:
  fabric::Psn una_{}, next_{};
};
}  // namespace

TEST_CASE("having gone back, nothing is sent that has been acknowledged meanwhile, whichever message that is of") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    nic::HardwareProfile profile = real();
    profile.link_delay = 15_us;
    profile.link_rate = sim::BitsPerSecond{1'000'000'000};
    profile.link_mtu = sim::Bytes{4'096};  // 34 us a packet: answers come before the first one is sent again
    profile.nic_ack_timeout = 90_us;
    profile.nic_ack_coalescing = 1;
    PairOptions options = lossy(200'000);
    options.network.seed = seed;
    Pair pair(profile, options);
    std::vector<nic::Wqe> wqes;
    for (int i = 0; i < 6; ++i) {
      wqes.push_back(pair.write(0, 0, 4'000));
      wqes.push_back(pair.write(0, 0, 24'000));
    }
    pair.post(wqes);
    SentInVain observer;
    nic::Context context{pair.scripts, &observer};
    while (pair.system.step(context)) {
    }
    CHECK(observer.repeated > 0);
    CHECK(observer.packets == 0);
  }
}

TEST_CASE("a search knows no timers where nothing can be lost") {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    PairOptions options;
    options.timers = false;
    Pair pair(real(), options);
    pair.post({pair.write(0, 0, 3'000), pair.read(0, 0, 3'000), pair.fetch_add(64, 64, 1)});
    pair.run_random(seed);
    CHECK(pair.statuses(0) == std::vector<Status>(3, Status::success));
    CHECK(pair.system.counters().timeouts == 0);
  }
}
