// Requests that come again because they or their answers were lost (IBTA volume 1, 9.7.5.1.2): an atomic is executed
// once, a READ twice and named once, and each is still its call's.
#include "pair.hpp"
#include "tests/catch.hpp"

using namespace loco;
using namespace loco::test;
using nic::Status;

namespace {

/// 64 atomics on one word, each executed once and in order. How often the requester went back.
std::uint64_t count_to_64(Pair& pair) {
  std::vector<nic::Wqe> wqes;
  for (std::uint64_t i = 0; i < 64; ++i) wqes.push_back(pair.fetch_add(64 + 8 * i, 0, 1));
  pair.post(wqes);
  pair.run();
  CHECK(pair.statuses(0) == std::vector<Status>(64, Status::success));
  CHECK(pair.system.word(1, pair.region[1].base) == 64);
  for (std::uint64_t i = 0; i < 64; ++i) CHECK(pair.system.word(0, pair.region[0].base + 64 + 8 * i) == i);
  return pair.system.counters().retransmissions;
}

}  // namespace

TEST_CASE("a repeated atomic is answered from the replay cache: it is executed once") {
  std::uint64_t repeated = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    PairOptions options = lossy(50'000);
    options.network.seed = seed;
    Pair pair(fast_timeout(), options);
    repeated += count_to_64(pair);
  }
  CHECK(repeated > 20);
}

TEST_CASE("the fault atomic_replayed executes an atomic again whose answer was lost, and only then") {
  std::uint64_t again = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    for (const std::uint32_t lost : {0U, 50'000U}) {
      PairOptions options = lossy(lost);
      options.network.seed = seed;
      nic::HardwareProfile profile = fast_timeout();
      profile.faults.add(nic::Fault::atomic_replayed);
      Pair pair(profile, options);
      std::vector<nic::Wqe> wqes;
      for (std::uint64_t i = 0; i < 64; ++i) wqes.push_back(pair.fetch_add(64 + 8 * i, 0, 1));
      pair.post(wqes);
      pair.run();
      const std::uint64_t executed = pair.system.word(1, pair.region[1].base);
      INFO("seed " << seed << ", lost " << lost);
      CHECK(executed >= 64);
      // Each time the requester goes back it sends again what is under way.
      CHECK(executed <= 64 + pair.system.counters().retransmissions * profile.nic_max_rd_atomic);
      if (lost == 0) CHECK(executed == 64);
      again += executed - 64;
    }
  }
  CHECK(again > 20);
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
    repeated += count_to_64(pair);
  }
  CHECK(repeated > 10);
}

TEST_CASE("a READ that is executed twice leaves one sample a word, whichever execution comes first") {
  // Any pending event may be next, a timeout too: the request comes again before it has been executed once.
  std::uint64_t repeated = 0;
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    Pair pair(fast_timeout(), lossy(10));
    pair.post({pair.read(64, 0, 16)});
    pair.run_random(seed);
    if (pair.statuses(0) != std::vector{Status::success}) continue;  // out of retries
    repeated += pair.system.counters().retransmissions;
    const auto samples = std::ranges::count(pair.recorder.subevents, nic::Stamp::aNRR, &nic::Subevent::stamp);
    const auto writes = std::ranges::count(pair.recorder.subevents, nic::Stamp::aNLW, &nic::Subevent::stamp);
    INFO("seed " << seed);
    CHECK(samples == 2);
    CHECK(writes == 2);
  }
  CHECK(repeated > 20);
}

TEST_CASE("a request that is executed after its requester has given up is still its call's") {
  nic::HardwareProfile profile = fast_timeout();
  profile.nic_retry_count = 0;
  std::uint64_t late = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Pair pair(profile, lossy(10));
    std::vector<nic::Wqe> wqes = {pair.write(0, 0, 16), pair.fetch_add(64, 64, 1)};
    for (std::size_t i = 0; i < wqes.size(); ++i) wqes[i].op = static_cast<nic::OpId>(7 + i);
    pair.post(wqes);
    pair.run_random(seed);
    const bool failed = pair.statuses(0).front() != Status::success;
    const nic::Address counter = pair.region[1].base + 64;
    for (const nic::Subevent& s : pair.recorder.subevents) {
      INFO("seed " << seed << " subevent " << s.id);
      if (s.home == 1) CHECK(s.op == (s.address == counter ? 8U : 7U));
      if (s.home == 1 && failed) ++late;
    }
  }
  CHECK(late > 0);
}

TEST_CASE("a READ that comes again behind a SEND that was refused does not speak for it") {
  // All wait for an atomic that takes longer than the requester does: when the SEND's turn comes, and there is no
  // receive for it, both READ requests are behind it. Its RNR NAK says that they will come again (IBTA volume 1,
  // 9.7.5.2.8); an answer to one of them would acknowledge the SEND.
  nic::HardwareProfile profile = real();
  profile.nic_atomic_modify = 100_us;
  profile.nic_ack_timeout = 30_us;
  profile.nic_rnr_timer = 500_us;
  profile.nic_rnr_retry = 1;
  Pair pair(profile, lossy(1));
  const nic::QpId other = pair.system.create_qp(0, pair.cq[0], 16);
  pair.system.connect(other, pair.system.create_qp(1, pair.cq[1], 16));
  pair.post({pair.fetch_add(0, 0, 1)}, other);
  pair.script(
      0,
      [&](nic::Cpu& cpu) {
        const std::vector<nic::Wqe> wqes = {pair.fetch_add(8, 8, 1), pair.send(64, 8), pair.read(128, 128)};
        CHECK(cpu.post_send(pair.qp[0], wqes) == nic::PostResult::ok);
        cpu.stop();
      },
      sim::SimTime{} + 2_us);
  pair.run();
  CHECK(pair.system.counters().timeouts > 0);
  std::vector<Status> mine;
  for (const nic::Cqe& cqe : pair.completions(0)) {
    if (cqe.qp == pair.qp[0]) mine.push_back(cqe.status);
  }
  CHECK(mine == std::vector{Status::success, Status::rnr_retry_exc_err, Status::wr_flush_err});
}
