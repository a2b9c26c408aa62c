// What no answer comes to, what is left after a RESET or an error, and who is to blame: one test a defect that there
// was.
#include <catch2/catch.hpp>

#include "pair.hpp"

using namespace loco;
using namespace loco::test;
using nic::ModifyResult;
using nic::Opcode;
using nic::QpAttributes;
using nic::QpState;
using nic::QpType;
using nic::Status;

namespace {

constexpr sim::Duration kTimeout = nic::timeout_of_code(8);  // 1.05 ms

nic::HardwareProfile real() { return profile_file("cx5-roce-25g"); }

nic::HardwareProfile impatient(std::uint32_t retries) {
  nic::HardwareProfile profile = real();
  profile.nic_ack_timeout = kTimeout;
  profile.nic_retry_count = retries;
  return profile;
}

PairOptions unconnected(std::uint32_t loss = 0) {
  PairOptions options;
  options.connected = false;
  options.network.options.loss = loss;
  return options;
}

void bring_up(nic::System& system, nic::QpId qp, const QpAttributes& attributes) {
  for (const QpState to : {QpState::init, QpState::rtr, QpState::rts}) {
    REQUIRE(system.modify_qp(qp, to, attributes) == ModifyResult::ok);
  }
}

nic::Wqe numbered(nic::Wqe wqe, std::uint64_t id) {
  wqe.wr_id = id;
  return wqe;
}

/// After 1 + `retries` timeouts, each a trip of a few microseconds later than the one before it.
void check_gave_up(sim::SimTime at, std::uint32_t retries) {
  const sim::SimTime least = sim::SimTime{} + kTimeout * (std::int64_t{retries} + 1);
  CHECK(at > least);
  CHECK(at < least + 5_us * (std::int64_t{retries} + 1));
}

std::size_t sent(const Pair& pair, fabric::Opcode opcode) {
  return static_cast<std::size_t>(std::ranges::count(pair.recorder.sent, opcode, &fabric::Packet::opcode));
}

}  // namespace

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

TEST_CASE("a peer that stops for good while it owes answers is found out") {
  // RESET before the READ has been answered: its answer is dropped, and nobody repeats it.
  for (const std::int64_t at : {1'700'000, 1'900'000, 2'100'000, 2'300'000}) {
    Pair pair(impatient(1));
    pair.post({pair.read(0, 0, 512), pair.fetch_add(512, 512, 1), pair.write(0, 0)});
    pair.script(
        1,
        [&](nic::Cpu& cpu) {
          CHECK(pair.system.modify_qp(pair.qp[1], QpState::reset) == ModifyResult::ok);
          cpu.stop();
        },
        sim::SimTime{} + sim::Duration{at});
    pair.run();
    REQUIRE(pair.statuses(0).size() == 3);
    CHECK(std::ranges::count(pair.statuses(0), Status::retry_exc_err) == 1);
    CHECK(pair.recorder.cqes.back().at < sim::SimTime{} + kTimeout * 2 + 20_us);
  }
}

TEST_CASE("after a RESET the answers of the old connection are not sent to the new peer") {
  // B is reset and connected to another queue pair of A at every moment of a READ and an atomic; the new connection's
  // PSNs are the same.
  for (int when = 1; when < 60; ++when) {  // the first step posts
    INFO("after step " << when);
    Pair pair(impatient(0));
    const nic::QpId other = pair.system.create_qp(0, pair.cq[0], 16);
    for (std::uint64_t i = 0; i < 128; ++i) {
      pair.system.set_word(1, pair.region[1].base + 8 * i, 0x1111);
      pair.system.set_word(1, pair.region[1].base + 8'192 + 8 * i, 0x2222);
    }
    pair.post({pair.read(0, 0, 512), pair.fetch_add(1'024, 0, 1), pair.read(0, 0, 512)});
    for (int i = 0; i < when; ++i) pair.step();
    for (const nic::QpId qp : pair.qp) REQUIRE(pair.system.modify_qp(qp, QpState::reset) == ModifyResult::ok);
    pair.system.connect(other, pair.qp[1]);
    pair.post({numbered(pair.read(4'096, 8'192, 512), 2), numbered(pair.fetch_add(5'120, 8'192, 1), 3)}, other);
    pair.run();
    std::vector<nic::Cqe> mine;
    for (const nic::Cqe& cqe : pair.completions(0)) {
      if (cqe.qp == other) mine.push_back(cqe);
    }
    REQUIRE(mine.size() == 2);
    CHECK(mine[0].status == Status::success);
    CHECK(mine[1].status == Status::success);
    for (std::uint64_t i = 0; i < 64; ++i) CHECK(pair.system.word(0, pair.region[0].base + 4'096 + 8 * i) == 0x2222);
    CHECK(pair.system.word(0, pair.region[0].base + 5'120) == 0x2222);
    CHECK(pair.system.word(1, pair.region[1].base + 8'192) == 0x2223);
  }
}

TEST_CASE("a NIC's atomic unit goes on after a RESET of the queue pair that it worked for") {
  for (int when = 0; when < 40; ++when) {
    Pair pair(impatient(0));
    const nic::QpId a = pair.system.create_qp(0, pair.cq[0], 16);
    const nic::QpId b = pair.system.create_qp(1, pair.cq[1], 16);
    pair.system.connect(a, b);
    pair.post(std::vector<nic::Wqe>(4, pair.fetch_add(0, 0, 1)));
    pair.post(std::vector<nic::Wqe>(4, pair.fetch_add(8, 64, 1)), a);
    for (int i = 0; i < when; ++i) pair.step();
    REQUIRE(pair.system.modify_qp(pair.qp[1], QpState::reset) == ModifyResult::ok);
    pair.run();
    CHECK(pair.system.word(1, pair.region[1].base + 64) == 4);
    std::size_t good = 0;
    for (const nic::Cqe& cqe : pair.completions(0)) good += cqe.qp == a && cqe.status == Status::success ? 1U : 0U;
    CHECK(good == 4);
  }
}

TEST_CASE("the replay cache of atomics has max_dest_rd_atomic results, whatever the responder may send itself") {
  // 16 atomics may be repeated at once (the sender's max_rd_atomic): 16 results are needed.
  std::uint64_t repeated = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    PairOptions options = unconnected(50'000);
    options.network.seed = seed;
    Pair pair(real(), options);
    bring_up(pair.system, pair.qp[0], {.dest_qp = pair.qp[1], .max_rd_atomic = 16, .timeout = nic::timeout_of_code(4)});
    bring_up(pair.system, pair.qp[1],
             {.dest_qp = pair.qp[0], .max_rd_atomic = 1, .timeout = kTimeout, .max_dest_rd_atomic = 16});
    std::vector<nic::Wqe> wqes;
    for (std::uint64_t i = 0; i < 64; ++i) wqes.push_back(pair.fetch_add(64 + 8 * i, 0, 1));
    pair.post(wqes);
    pair.run();
    CHECK(pair.statuses(0) == std::vector<Status>(64, Status::success));
    CHECK(pair.system.word(1, pair.region[1].base) == 64);
    repeated += pair.system.counters().retransmissions;
  }
  CHECK(repeated > 10);
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

TEST_CASE("an RNR timer does not outlive its connection") {
  // The old connection's timer would fire at 640 us; the new one, from 500 us on, has one of 2 ms and three
  // repetitions.
  Pair pair(real());
  REQUIRE(pair.system.config().profile.nic_rnr_timer > 500_us);
  pair.post({pair.send(0, 8)});
  pair.script(
      0,
      [&](nic::Cpu& cpu) {
        for (const nic::QpId qp : pair.qp) CHECK(pair.system.modify_qp(qp, QpState::reset) == ModifyResult::ok);
        for (const std::size_t i : {0U, 1U}) {
          bring_up(
              pair.system, pair.qp[i],
              {.dest_qp = pair.qp[1 - i], .timeout = nic::timeout_of_code(14), .rnr_retry = 3, .min_rnr_timer = 2_ms});
        }
        const nic::Wqe wqe = pair.send(0, 8);
        CHECK(cpu.post_send(pair.qp[0], {&wqe, 1}) == nic::PostResult::ok);
        cpu.stop();
      },
      sim::SimTime{} + 500_us);
  pair.run();
  CHECK(pair.statuses(0) == std::vector{Status::rnr_retry_exc_err});
  CHECK(pair.recorder.cqes.back().at > sim::SimTime{} + 6'500_us);
  CHECK(pair.recorder.cqes.back().at < sim::SimTime{} + 6'500_us + 30_us);
}

TEST_CASE("an RNR NAK that is overtaken by the answer to a repetition does not stop the queue pair") {
  // Answers take paths of different length: the ACK of everything may come while the requester waits for a receiver
  // that has been ready long since. What is posted afterwards is sent.
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    INFO("seed " << seed);
    std::mt19937_64 random(seed);
    PairOptions options = unequal_paths(seed % 3 == 0 ? fabric::Routing::spray : fabric::Routing::adaptive, seed);
    options.connected = false;
    nic::HardwareProfile profile = real();
    profile.link_mtu = sim::Bytes{seed % 2 == 0 ? 256U : 4096U};
    Pair pair(profile, options);
    for (const std::size_t i : {0U, 1U}) {
      bring_up(pair.system, pair.qp[i],
               {.dest_qp = pair.qp[1 - i], .timeout = nic::timeout_of_code(6), .min_rnr_timer = 30_us});
    }
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

TEST_CASE("ERROR while a receiver is not ready: both are flushed, and nothing is pending") {
  Pair pair(real());
  pair.post({pair.send(0, 8), pair.write(0, 0)});
  pair.script(
      0,
      [&](nic::Cpu& cpu) {
        CHECK(pair.system.modify_qp(pair.qp[0], QpState::error) == ModifyResult::ok);
        cpu.stop();
      },
      sim::SimTime{} + 100_us);
  pair.run();
  CHECK(pair.statuses(0) == std::vector<Status>(2, Status::wr_flush_err));
  CHECK(pair.system.now() < sim::SimTime{} + 110_us);
}

TEST_CASE("out of order: the request that is refused gets the error, not the READ whose answer is behind the NAK") {
  std::uint64_t overtaken = 0;
  for (const nic::Placement placement : {nic::Placement::out_of_order, nic::Placement::unordered}) {
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
      INFO("placement " << static_cast<int>(placement) << " seed " << seed);
      nic::HardwareProfile profile = impatient(7);
      profile.nic_placement = placement;
      Pair pair(profile, unequal_paths(fabric::Routing::spray, seed));
      nic::Wqe bad = pair.write(0, 0);
      bad.rkey ^= 1;
      pair.system.set_word(1, pair.region[1].base + 64, 7);
      pair.post({pair.read(64, 64), bad, pair.write(0, 0)});
      pair.run();
      CHECK(pair.statuses(0) == std::vector{Status::success, Status::rem_access_err, Status::wr_flush_err});
      CHECK(pair.system.word(0, pair.region[0].base + 64) == 7);
      overtaken += pair.recorder.cqes.back().at > sim::SimTime{} + 5_us ? 1U : 0U;
    }
  }
  CHECK(overtaken > 0);
}

TEST_CASE("a refused request leaves nothing pending, and its NAK is the answer to what comes behind it") {
  for (const std::uint32_t length : {8U, 3'000U}) {
    Pair pair(real());
    nic::Wqe bad = pair.write(0, 0, length);
    bad.rkey ^= 1;
    pair.post({bad, pair.write(0, 0)});
    pair.run();
    CHECK(pair.statuses(0) == std::vector{Status::rem_access_err, Status::wr_flush_err});
    CHECK(pair.system.now() < sim::SimTime{} + 20_us);
  }
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {  // any event may be next: there is none for a timeout
    INFO("seed " << seed);
    Pair pair(real());
    nic::Wqe bad = pair.write(0, 0, 3'000);
    bad.rkey ^= 1;
    pair.post({bad, pair.fetch_add(0, 0, 1)});
    pair.run_random(seed);
    CHECK(pair.statuses(0) == std::vector{Status::rem_access_err, Status::wr_flush_err});
  }
  // But a requester that begins anew is not answered: the responder is still in ERROR.
  Pair pair(impatient(1));
  nic::Wqe bad = pair.write(0, 0);
  bad.rkey ^= 1;
  pair.post({bad});
  pair.run();
  REQUIRE(pair.system.modify_qp(pair.qp[0], QpState::reset) == ModifyResult::ok);
  bring_up(pair.system, pair.qp[0], {.dest_qp = pair.qp[1], .timeout = kTimeout, .retry_count = 1});
  pair.post({pair.write(0, 0)});
  pair.run();
  CHECK(pair.statuses(0) == std::vector{Status::rem_access_err, Status::retry_exc_err});
}

TEST_CASE("a completion queue that overruns ends its queue pairs: all is flushed, nothing more is written") {
  // 13 sends and 3 receives, a queue of 4: four CQEs, then the queue pair is in ERROR and its queues are empty.
  Pair pair(real());
  const nic::CqId cq = pair.system.create_cq(0, 4);
  const nic::QpId qp =
      pair.system.create_qp(0, {.type = QpType::rc, .send_cq = cq, .send_entries = 64, .recv_entries = 8});
  const nic::QpId other = pair.system.create_qp(0, cq, 64);
  pair.system.connect(qp, pair.system.create_qp(1, pair.cq[1], 8));
  pair.system.connect(other, pair.system.create_qp(1, pair.cq[1], 8));
  for (std::uint64_t i = 0; i < 3; ++i) {
    REQUIRE(pair.system.post_recv(
        qp, {.wr_id = 100 + i, .address = pair.region[0].base, .length = 64, .lkey = pair.region[0].lkey}));
  }
  std::vector<nic::Wqe> wqes;
  for (std::uint64_t i = 0; i < 12; ++i) wqes.push_back(numbered(pair.write(0, 0, i == 11 ? 100'000 : 8), i));
  wqes.push_back(pair.write(0, 0));
  pair.post(wqes, qp);
  std::vector<nic::Cqe> polled;
  pair.script(
      0,
      [&](nic::Cpu& cpu) {
        std::array<nic::Cqe, 16> cqes;
        const std::size_t n = cpu.poll_cq(cq, cqes);
        polled.insert(polled.end(), cqes.begin(), cqes.begin() + static_cast<std::ptrdiff_t>(n));
        cpu.pause({});
      },
      sim::SimTime{} + 20_us);
  pair.run();
  CHECK(pair.system.cq_overrun(cq));
  CHECK(pair.system.qp_state(qp) == QpState::error);
  CHECK(pair.system.send_queue_room(qp) == 64);
  CHECK(pair.system.recv_queue_room(qp) == 8);
  CHECK(polled.size() == 4);
  CHECK(pair.system.qp_state(other) == QpState::rts);  // until it has something to complete
  pair.post({pair.write(0, 0)}, other);
  pair.run();
  CHECK(pair.system.qp_state(other) == QpState::error);
  CHECK(polled.size() == 4);
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
  CHECK(sent(pair, fabric::Opcode::read_request) == 16);
}

TEST_CASE("a receive that was being posted at a RESET is gone with the others") {
  // The store to the doorbell record comes later than the RESET, and finds an empty queue.
  Pair pair(real());
  pair.script(1, [&](nic::Cpu& cpu) {
    const nic::RecvWqe receive{.wr_id = 5, .address = pair.region[1].base, .length = 64, .lkey = pair.region[1].lkey};
    CHECK(cpu.post_recv(pair.qp[1], {&receive, 1}) == nic::PostResult::ok);
    for (const nic::QpId qp : pair.qp) CHECK(pair.system.modify_qp(qp, QpState::reset) == ModifyResult::ok);
    for (const std::size_t i : {0U, 1U}) {
      bring_up(pair.system, pair.qp[i],
               {.dest_qp = pair.qp[1 - i], .timeout = kTimeout, .rnr_retry = 2, .min_rnr_timer = 10_us});
    }
    cpu.stop();
  });
  pair.script(
      0,
      [&](nic::Cpu& cpu) {
        const nic::Wqe wqe = pair.send(0, 8);
        CHECK(cpu.post_send(pair.qp[0], {&wqe, 1}) == nic::PostResult::ok);
        cpu.stop();
      },
      sim::SimTime{} + 5_us);
  pair.run();
  CHECK(pair.statuses(0) == std::vector{Status::rnr_retry_exc_err});
  CHECK(pair.statuses(1).empty());
  CHECK(pair.system.recv_queue_room(pair.qp[1]) == 64);
  CHECK(pair.receive(6, 0, 8));
}

TEST_CASE("attributes are taken where ibv_modify_qp takes them, and refused elsewhere") {
  const auto state = [](Pair& pair, QpState to, const QpAttributes& a) {
    return pair.system.modify_qp(pair.qp[1], to, a);
  };
  // RTS -> RTS and SQD -> RTS take the RNR timer of an RC queue pair and no limit of retries.
  for (const QpState from : {QpState::rts, QpState::sqd}) {
    Pair pair(real());
    if (from == QpState::sqd) REQUIRE(state(pair, QpState::sqd, {}) == ModifyResult::ok);
    const QpAttributes refused[] = {
        {.max_rd_atomic = 1}, {.timeout = 3_us}, {.retry_count = 1}, {.rnr_retry = 1}, {.max_dest_rd_atomic = 1}};
    for (const QpAttributes& a : refused) {
      CHECK(state(pair, QpState::rts, a) == ModifyResult::invalid_attribute);
      CHECK(pair.system.qp_state(pair.qp[1]) == from);
    }
    CHECK(state(pair, QpState::rts, {.dest_qp = pair.qp[0], .min_rnr_timer = 50_us}) == ModifyResult::ok);
    // The receiver says how long to wait: 50 us now, and not the profile's 640.
    pair.post({pair.send(0, 8)});
    pair.script(
        1,
        [&](nic::Cpu& cpu) {
          const nic::RecvWqe receive{
              .wr_id = 5, .address = pair.region[1].base, .length = 64, .lkey = pair.region[1].lkey};
          CHECK(cpu.post_recv(pair.qp[1], {&receive, 1}) == nic::PostResult::ok);
          cpu.stop();
        },
        sim::SimTime{} + 20_us);
    pair.run();
    CHECK(pair.statuses(0) == std::vector{Status::success});
    CHECK(pair.recorder.cqes.back().at > sim::SimTime{} + 50_us);
    CHECK(pair.recorder.cqes.back().at < sim::SimTime{} + 70_us);
  }
  // SQD -> SQD takes the limits: one retry instead of seven.
  Pair pair(impatient(7));
  REQUIRE(pair.system.modify_qp(pair.qp[0], QpState::sqd) == ModifyResult::ok);
  CHECK(pair.system.modify_qp(pair.qp[0], QpState::sqd, {.retry_count = 1}) == ModifyResult::ok);
  CHECK(pair.system.modify_qp(pair.qp[0], QpState::rts) == ModifyResult::ok);
  REQUIRE(pair.system.modify_qp(pair.qp[1], QpState::reset) == ModifyResult::ok);
  pair.post({pair.write(0, 0)});
  pair.run();
  CHECK(pair.statuses(0) == std::vector{Status::retry_exc_err});
  check_gave_up(pair.recorder.cqes.back().at, 1);
}

TEST_CASE("UD: a Q_Key with the high bit set means the queue pair's own") {
  // IBTA volume 1, 10.2.5. The pair's Q_Key is 17.
  for (const std::uint32_t qkey : {17U, 18U, 0x80000000U, 0x80000012U}) {
    PairOptions options;
    options.type = QpType::ud;
    Pair pair(real(), options);
    REQUIRE(pair.receive(1, 0, 64));
    nic::Wqe wqe = pair.send(0, 8);
    wqe.remote_qp = pair.qp[1];
    wqe.remote_qkey = qkey;
    pair.post({wqe});
    pair.run();
    CHECK(pair.statuses(1).size() == (qkey == 18 ? 0U : 1U));
  }
}

TEST_CASE("a region that others may write must be writable here: ibv_reg_mr says EINVAL") {
  nic::System system({.profile = real(), .nodes = 2});
  const nic::Address base = system.allocate(0, 64);
  for (const int access : {nic::kRemoteWrite + 0, nic::kRemoteAtomic + 0, nic::kRemoteRead | nic::kRemoteWrite}) {
    CHECK_THROWS_AS(system.register_memory(0, base, 64, static_cast<std::uint8_t>(access)), std::invalid_argument);
    CHECK_NOTHROW(system.register_memory(0, base, 64, static_cast<std::uint8_t>(access | nic::kLocalWrite)));
  }
  CHECK_NOTHROW(system.register_memory(0, base, 64, nic::kRemoteRead));
}

TEST_CASE("DCQCN: a queue pair has one rate for its WRITEs and for its answers to READs") {
  // Every data packet that waits is marked, and rates only fall, by half: 20 and 20 Gb/s still meet at the port of 40,
  // 10 and 10 do not. Queue pair A writes and answers READs, C only writes: each sends 10 Gb/s of packets.
  for (const bool reads : {false, true}) {
    INFO("READs " << reads);
    nic::HardwareProfile profile = profile_file("cx5-roce-100g");
    profile.link_rate = sim::BitsPerSecond{40'000'000'000};
    fabric::Config network;
    fabric::Options& o = network.options;
    o.ecn = o.dcqcn.enabled = true;
    o.ecn_kmin = o.ecn_kmax = sim::Bytes{0};
    o.dcqcn.rate_timer = sim::Duration{1'000'000'000'000};
    o.dcqcn.byte_counter = sim::Bytes{1ULL << 40U};
    nic::System system({.profile = profile, .topology = fabric::Topology::star, .network = network, .nodes = 3});
    std::array<nic::MemoryRegion, 3> region{};
    std::array<nic::CqId, 3> cq{};
    for (nic::NodeId node = 0; node < 3; ++node) {
      region[node] = system.register_memory(node, system.allocate(node, 1 << 17), 1 << 17);
      cq[node] = system.create_cq(node, 100'000);
    }
    const auto new_qp = [&](nic::NodeId node) { return system.create_qp(node, cq[node], 256); };
    const nic::QpId a = new_qp(1), to_a = new_qp(0), c = new_qp(2);
    system.connect(a, to_a);
    system.connect(c, new_qp(0));
    Scripts scripts;
    const auto keep_busy = [&](nic::NodeId node, nic::QpId qp, Opcode opcode, nic::NodeId peer) {
      system.create_thread(node);
      scripts.steps.emplace_back([&, node, qp, opcode, peer](nic::Cpu& cpu) {
        std::array<nic::Cqe, 64> done;
        while (cpu.poll_cq(cq[node], done) != 0) {
        }
        const nic::Wqe wqe{.opcode = opcode,
                           .length = 65'536,
                           .lkey = region[node].lkey,
                           .rkey = region[peer].rkey,
                           .local = region[node].base,
                           .remote = region[peer].base};
        while (system.send_queue_room(qp) > 240 && !cpu.store_buffer_full()) {
          if (cpu.post_send(qp, {&wqe, 1}) != nic::PostResult::ok) break;
        }
        cpu.resume_after(2_us);
      });
    };
    keep_busy(1, a, Opcode::rdma_write, 0);
    if (reads) keep_busy(0, to_a, Opcode::rdma_read, 1);
    keep_busy(2, c, Opcode::rdma_write, 0);
    Recorder recorder;
    nic::Context context{scripts, &recorder};
    while (system.now() < sim::SimTime{} + 2_ms) system.step(context);
    recorder.sent.clear();
    while (system.now() < sim::SimTime{} + 6_ms) system.step(context);
    std::uint64_t bytes = 0;
    for (const fabric::Packet& packet : recorder.sent)
      bytes += packet.source_qp == a && packet.length > 0 ? packet.wire : 0U;
    const double gbps = static_cast<double>(bytes) * 8 / 4e6;  // in 4 ms
    CHECK(gbps > 9.5);
    CHECK(gbps < 10.5);
  }
}
