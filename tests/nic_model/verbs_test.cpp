// What verbs promise: bytes, atomics, signalling, the fence flag, queue limits, shared queue pairs, loopback.
#include "rig.hpp"
#include "tests/catch.hpp"

using namespace loco;
using namespace loco::test;
using nic::Status;

TEST_CASE("bytes arrive as they were, at any size and alignment, and nothing around them changes") {
  // Sizes around the boundaries of words, completions, TLPs and packets.
  for (const std::uint32_t size : {0U, 1U, 7U, 8U, 9U, 32U, 33U, 64U, 255U, 256U, 257U, 1023U, 1024U, 1025U, 5000U}) {
    for (const std::uint64_t shift : {0U, 3U}) {
      const bool is_read = GENERATE(false, true);
      INFO("size " << size << " shift " << shift << (is_read ? " read" : " write"));
      Rig rig(real());
      const auto here = pattern(8192, 1);
      const auto there = pattern(8192, 2);
      rig.fill(0, 0, here);
      rig.fill(1, 0, there);
      const auto cqes =
          rig.post_and_run({is_read ? rig.read(40 + shift, 1000, size) : rig.write(40 + shift, 1000, size)});
      CHECK(statuses(cqes) == std::vector{Status::success});
      auto expected_here = here;
      auto expected_there = there;
      if (is_read) {
        std::copy_n(there.begin() + 1000, size, expected_here.begin() + 40 + static_cast<long>(shift));
      } else {
        std::copy_n(here.begin() + 40 + static_cast<long>(shift), size, expected_there.begin() + 1000);
      }
      CHECK(rig.bytes(0, 0, 8192) == expected_here);
      CHECK(rig.bytes(1, 0, 8192) == expected_there);
    }
  }
}

TEST_CASE("inline writes carry what the CPU saw, its own store buffer included") {
  Rig rig(real());
  rig.fill(0, 0, pattern(300, 3));
  rig.system.create_thread(0);
  nic::Wqe wqe = rig.write(0, 64, 220);
  wqe.inline_data = true;
  rig.scripts.steps.emplace_back([&, step = 0](nic::Cpu& cpu) mutable {
    if (step++ == 0) {
      cpu.store(rig.local.base + 8, 0x1122334455667788U);
      CHECK(cpu.post_send(rig.qp, {&wqe, 1}) == nic::PostResult::ok);
      cpu.store(rig.local.base + 16, 1);  // too late for the payload
      return cpu.resume_when_drained();
    }
    cpu.stop();
  });
  auto expected = rig.bytes(0, 0, 220);
  const std::array<std::uint8_t, 8> stored = {0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11};
  std::copy(stored.begin(), stored.end(), expected.begin() + 8);
  rig.run();
  CHECK(rig.bytes(1, 64, 220) == expected);
}

TEST_CASE("atomics return the old value and change memory as they say") {
  Rig rig(real());
  rig.system.set_word(1, rig.remote.base + 8, 40);
  const auto cqes = rig.post_and_run(
      {rig.fetch_add(0, 8, 2), rig.compare_swap(8, 8, 42, 7), rig.compare_swap(16, 8, 42, 9), rig.read(24, 8)});
  CHECK(statuses(cqes) == std::vector<Status>(4, Status::success));
  CHECK(rig.system.word(0, rig.local.base) == 40);
  CHECK(rig.system.word(0, rig.local.base + 8) == 42);
  CHECK(rig.system.word(0, rig.local.base + 16) == 7);  // no longer 42: nothing written
  CHECK(rig.system.word(0, rig.local.base + 24) == 7);  // a READ behind an atomic sees it
}

TEST_CASE("atomics of several queue pairs to one word lose no update") {
  for (const auto cap : {nic::AtomicCap::hca, nic::AtomicCap::global}) {
    nic::HardwareProfile profile = real();
    profile.nic_atomic_cap = cap;
    Rig rig(profile);
    std::vector<nic::QpId> qps = {rig.qp};
    for (int i = 0; i < 3; ++i) {
      qps.push_back(rig.system.create_qp(0, rig.cq, 64));
      rig.system.connect(qps.back(), rig.system.create_qp(1, 1, 1));
    }
    rig.system.create_thread(0);
    rig.scripts.steps.emplace_back([&, n = std::size_t{0}](nic::Cpu& cpu) mutable {
      if (n == 100) return cpu.stop();
      const nic::Wqe wqe = rig.fetch_add(8 * n, 0, 1);
      CHECK(cpu.post_send(qps[n++ % qps.size()], {&wqe, 1}) == nic::PostResult::ok);
      cpu.resume_when_drained();
    });
    rig.run();
    CHECK(rig.system.word(1, rig.remote.base) == 100);
    std::vector<bool> returned(100);  // every old value exactly once
    for (std::uint64_t i = 0; i < 100; ++i) returned.at(rig.system.word(0, rig.local.base + 8 * i)) = true;
    CHECK(std::find(returned.begin(), returned.end(), false) == returned.end());
  }
}

TEST_CASE("only signalled work requests have a CQE, in the order of posting, each behind its data") {
  Rig rig(real());
  std::vector<nic::Wqe> wqes;
  for (std::uint64_t i = 0; i < 30; ++i) {
    wqes.push_back(i % 3 == 0 ? rig.read(8 * i, 8 * i) : rig.write(8 * i, 8 * i));
    wqes.back().wr_id = i;
    wqes.back().signaled = i % 5 == 4;
  }
  const auto cqes = rig.post_and_run(wqes);
  REQUIRE(cqes.size() == 6);
  for (std::size_t i = 0; i < cqes.size(); ++i) CHECK(cqes[i].wr_id == 5 * i + 4);
}

TEST_CASE("the fence flag holds a work request until earlier reads are complete") {
  for (const bool fence : {false, true}) {
    Rig rig(real());
    nic::Wqe second = rig.write(8, 64);
    second.fence = fence;
    second.fence_op = 9;
    rig.post_and_run({rig.read(0, 0), second}, true);
    sim::SimTime response_posted;
    sim::SimTime payload_read;
    bool remote_fence = false;
    for (const nic::Subevent& s : rig.recorder.subevents) {
      if (s.stamp == nic::Stamp::aNLW) response_posted = s.at;
      if (s.stamp == nic::Stamp::aNLR) payload_read = s.at;
      remote_fence |= s.stamp == nic::Stamp::aRF && s.op == 9;
    }
    CHECK((payload_read > response_posted) == fence);
    CHECK(remote_fence == fence);
  }
}

TEST_CASE("limits: send queue, inline size, completion queue") {
  Rig rig(real());
  const nic::CqId small = rig.system.create_cq(0, 2);
  const nic::QpId qp = rig.system.create_qp(0, small, 4, 0);
  rig.system.connect(qp, rig.system.create_qp(1, 1, 1));
  rig.system.create_thread(0);
  rig.scripts.steps.emplace_back([&](nic::Cpu& cpu) {
    const std::vector<nic::Wqe> five(5, rig.write(0, 0));
    CHECK(cpu.post_send(qp, five) == nic::PostResult::queue_full);
    nic::Wqe big = rig.write(0, 0, 237);
    big.inline_data = true;
    CHECK(cpu.post_send(qp, {&big, 1}) == nic::PostResult::bad_request);
    nic::Wqe not_a_write = rig.read(0, 0);
    not_a_write.inline_data = true;
    CHECK(cpu.post_send(qp, {&not_a_write, 1}) == nic::PostResult::bad_request);
    CHECK(cpu.post_send(qp, {five.data(), 3}) == nic::PostResult::ok);
    cpu.stop();
  });
  rig.run();
  CHECK(rig.system.cq_size(small) == 2);
  CHECK(rig.system.cq_overrun(small));  // the third had no room: verbs leave the queue pair in error
  CHECK(rig.system.qp_state(qp) == nic::QpState::error);
}

TEST_CASE("threads that share a queue pair may ring its doorbell in any order") {
  // A doorbell is the producer index as its thread knows it: an older one that comes later says nothing new.
  int older_last = 0;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    Rig rig{nic::HardwareProfile{}};
    rig.fill(0, 0, {1});
    std::vector<int> drained;
    for (int thread = 0; thread < 2; ++thread) {
      rig.system.create_thread(0);
      rig.scripts.steps.emplace_back([&, thread, posted = false](nic::Cpu& cpu) mutable {
        if (posted) {
          drained.push_back(thread);
          return cpu.stop();
        }
        posted = true;
        const nic::Wqe wqe = rig.write(0, 8 * static_cast<std::uint64_t>(thread));
        CHECK(cpu.post_send(rig.qp, {&wqe, 1}) == nic::PostResult::ok);
        cpu.resume_when_drained();
      });
    }
    rig.run_random(seed);
    older_last += drained.front() == 1 ? 1 : 0;
    REQUIRE(rig.system.word(1, rig.remote.base) == 1);
    REQUIRE(rig.system.word(1, rig.remote.base + 8) == 1);
    REQUIRE(rig.system.cq_size(rig.cq) == 2);
  }
  CHECK(older_last > 0);
}

TEST_CASE("loopback: a queue pair connected within one node") {
  Rig rig(real());
  rig.loop_back();
  rig.system.set_word(0, rig.local.base, 77);
  rig.post({rig.to_self(rig.write(0, 0), 64)});
  rig.run();
  CHECK(rig.system.word(0, rig.local.base + 64) == 77);
}
