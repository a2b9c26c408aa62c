// What verbs promise: bytes, statuses, the error state, flushing, signalling, the fence flag, queue limits.
#include <catch2/catch.hpp>
#include <random>

#include "rig.hpp"

using namespace loco;
using namespace loco::test;
using nic::Status;

namespace {

std::vector<std::uint8_t> pattern(std::size_t size, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<std::uint8_t> out(size);
  for (auto& b : out) b = static_cast<std::uint8_t>(random());
  return out;
}

std::vector<Status> statuses(const std::vector<nic::Cqe>& cqes) {
  std::vector<Status> out;
  for (const nic::Cqe& c : cqes) out.push_back(c.status);
  return out;
}

}  // namespace

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

TEST_CASE("a NIC without atomics refuses them when they are posted, and takes everything else") {
  nic::HardwareProfile profile = real();
  profile.nic_atomic_cap = nic::AtomicCap::none;
  Rig rig(profile);
  const nic::ThreadId thread = rig.system.create_thread(0);
  CHECK(thread == 0);
  rig.scripts.steps.emplace_back([&](nic::Cpu& cpu) {
    for (const nic::Wqe& wqe : {rig.fetch_add(0, 0, 1), rig.compare_swap(0, 0, 0, 1)}) {
      CHECK(cpu.post_send(rig.qp, {&wqe, 1}) == nic::PostResult::bad_request);
    }
    const std::array linked{rig.write(0, 8), rig.fetch_add(0, 0, 1)};
    CHECK(cpu.post_send(rig.qp, linked) == nic::PostResult::bad_request);  // all or none
    const nic::Wqe write = rig.write(0, 8);
    CHECK(cpu.post_send(rig.qp, {&write, 1}) == nic::PostResult::ok);
    cpu.stop();
  });
  rig.run();
  CHECK(rig.recorder.cqes.size() == 1);
  CHECK(rig.system.word(1, rig.remote.base) == 0);
}

TEST_CASE("what the responder refuses comes back as the status that verbs name, and flushes the rest in order") {
  struct Case {
    std::string what;
    std::function<nic::Wqe(const Rig&)> wqe;
    Status status;
    std::uint8_t access = nic::kAllAccess;
  };
  const std::vector<Case> cases = {
      {"wrong rkey",
       [](const Rig& r) {
         auto w = r.write(0, 0);
         w.rkey ^= 1U;
         return w;
       },
       Status::rem_access_err},
      {"unknown rkey",
       [](const Rig& r) {
         auto w = r.read(0, 0);
         w.rkey = 0xffffff00U;
         return w;
       },
       Status::rem_access_err},
      {"rkey of another node",
       [](const Rig& r) {
         auto w = r.write(0, 0);
         w.rkey = r.local.rkey;
         return w;
       },
       Status::rem_access_err},
      {"one byte past the end", [](const Rig& r) { return r.write(0, (1 << 16) - 7); }, Status::rem_access_err},
      {"before the start",
       [](const Rig& r) {
         auto w = r.read(0, 0);
         w.remote -= 1;
         return w;
       },
       Status::rem_access_err},
      {"address overflow",
       [](const Rig& r) {
         auto w = r.write(0, 0);
         w.remote = ~0ULL - 3;
         return w;
       },
       Status::rem_access_err},
      {"large message, end out of bounds", [](const Rig& r) { return r.write(0, 60000, 8000); },
       Status::rem_access_err},
      {"write without right", [](const Rig& r) { return r.write(0, 0); }, Status::rem_access_err, nic::kRemoteRead},
      {"read without right", [](const Rig& r) { return r.read(0, 0); }, Status::rem_access_err,
       nic::kLocalWrite | nic::kRemoteWrite},
      {"atomic without right", [](const Rig& r) { return r.fetch_add(0, 0, 1); }, Status::rem_access_err,
       nic::kLocalWrite | nic::kRemoteWrite | nic::kRemoteRead},
      {"misaligned atomic", [](const Rig& r) { return r.fetch_add(0, 4, 1); }, Status::rem_inv_req_err},
      {"wrong lkey",
       [](const Rig& r) {
         auto w = r.write(0, 0);
         w.lkey ^= 1U;
         return w;
       },
       Status::loc_prot_err},
      {"local out of bounds", [](const Rig& r) { return r.read((1 << 16) - 4, 0); }, Status::loc_prot_err},
      {"atomic of 4 bytes",
       [](const Rig& r) {
         auto w = r.fetch_add(0, 0, 1);
         w.length = 4;
         return w;
       },
       Status::loc_len_err},
  };
  for (const Case& c : cases) {
    for (const bool linked : {false, true}) {
      INFO(c.what << (linked ? ", linked" : ""));
      Rig rig(real(), fabric::Topology::back_to_back, 1 << 16, c.access);
      rig.fill(1, 0, pattern(1 << 16, 5));
      std::vector<nic::Wqe> wqes = {rig.write(0, 64, 0), rig.write(0, 64, 0), c.wqe(rig),
                                    rig.write(0, 128),   rig.read(0, 0),      rig.write(0, 0)};
      for (std::size_t i = 0; i < wqes.size(); ++i) {
        wqes[i].wr_id = i;
        wqes[i].signaled = i == 1;  // errors are reported anyway
      }
      const auto before = rig.bytes(1, 0, 1 << 16);
      const auto cqes = rig.post_and_run(wqes, linked);
      REQUIRE(cqes.size() == 5);
      CHECK(cqes[0].wr_id == 1);
      CHECK(cqes[0].status == Status::success);
      CHECK(cqes[1].wr_id == 2);
      CHECK(cqes[1].status == c.status);
      for (std::size_t i = 2; i < 5; ++i) {
        CHECK(cqes[i].wr_id == i + 1);
        CHECK(cqes[i].status == Status::wr_flush_err);
      }
      CHECK(rig.system.qp_state(rig.qp) == nic::QpState::error);
      CHECK(rig.system.send_queue_room(rig.qp) == 256 - 6);  // until their CQEs are polled
      CHECK(rig.bytes(1, 0, 1 << 16) == before);             // nothing of the refused or flushed ones
      // A later post is flushed as well.
      CHECK(statuses(rig.post_and_run({rig.write(0, 0)})) == std::vector{Status::wr_flush_err});
    }
  }
}

TEST_CASE("a region reaches from its first byte to its last, for messages of any length") {
  struct Case {
    std::int64_t from;
    std::uint32_t length;
    bool inside;
  };
  for (const Case& c : {Case{0, 64, true}, Case{56, 8, true}, Case{0, 65, false}, Case{0, 4096, false},
                        Case{57, 8, false}, Case{64, 1, false}, Case{-1, 8, false}, Case{-64, 192, false}}) {
    INFO(c.length << " bytes from " << c.from << " on");
    for (const bool remote : {false, true}) {
      Rig rig(real());
      const nic::NodeId node = remote ? 1 : 0;
      const nic::MemoryRegion small =
          rig.system.register_memory(node, (remote ? rig.remote : rig.local).base + 4096, 64, nic::kAllAccess);
      nic::Wqe wqe = rig.write(4096, 4096, c.length);
      (remote ? wqe.rkey : wqe.lkey) = small.lkey;
      (remote ? wqe.remote : wqe.local) += static_cast<nic::Address>(c.from);
      const Status refused = remote ? Status::rem_access_err : Status::loc_prot_err;
      CHECK(statuses(rig.post_and_run({wqe})) == std::vector{c.inside ? Status::success : refused});
    }
  }
}

TEST_CASE("a read or an atomic needs the right to write locally") {
  const int which = GENERATE(0, 1, 2);
  Rig rig(real());
  const nic::MemoryRegion only_read = rig.system.register_memory(0, rig.local.base, 64, 0);
  nic::Wqe wqe = which == 0 ? rig.read(0, 0) : which == 1 ? rig.fetch_add(0, 0, 1) : rig.compare_swap(0, 0, 0, 1);
  wqe.lkey = only_read.lkey;
  CHECK(statuses(rig.post_and_run({wqe})) == std::vector{Status::loc_prot_err});
  CHECK(rig.system.word(1, rig.remote.base) == 0);
}

TEST_CASE("a peer in the error state does not answer: the requester gives up after its retries") {
  Rig rig(real());
  const nic::QpId other_way = rig.passive;
  const nic::CqId cq = rig.system.create_cq(1, 16);
  const nic::QpId a = rig.system.create_qp(1, cq, 16);
  const nic::QpId b = rig.system.create_qp(0, rig.cq, 16);
  rig.system.connect(a, b);
  (void)other_way;
  rig.system.create_thread(0);
  rig.system.create_thread(1, {10'000'000});
  rig.scripts.steps.emplace_back([&](nic::Cpu& cpu) {  // brings b into the error state
    nic::Wqe wqe = rig.write(0, 0);
    wqe.lkey ^= 1U;
    CHECK(cpu.post_send(b, {&wqe, 1}) == nic::PostResult::ok);
    cpu.stop();
  });
  rig.scripts.steps.emplace_back([&](nic::Cpu& cpu) {
    const nic::Wqe wqe{
        .lkey = rig.remote.lkey, .rkey = rig.local.rkey, .local = rig.remote.base, .remote = rig.local.base};
    CHECK(cpu.post_send(a, {&wqe, 1}) == nic::PostResult::ok);
    cpu.stop();
  });
  rig.run();
  REQUIRE(rig.recorder.cqes.size() == 2);
  CHECK(rig.recorder.cqes[0].cqe.status == Status::loc_prot_err);
  CHECK(rig.recorder.cqes[1].cqe.status == Status::retry_exc_err);
  CHECK(rig.recorder.cqes[1].at.ps > 8 * 67'000'000'000);  // 1 + 7 timeouts of 4.096 us * 2^14
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
  const nic::QpId qp = rig.system.create_qp(0, rig.cq, 16, 0);
  rig.system.connect(qp, rig.system.create_qp(0, rig.cq, 1));
  rig.system.set_word(0, rig.local.base, 77);
  rig.system.create_thread(0);
  rig.scripts.steps.emplace_back([&](nic::Cpu& cpu) {
    nic::Wqe wqe = rig.write(0, 0);
    wqe.rkey = rig.local.rkey;
    wqe.remote = rig.local.base + 64;
    CHECK(cpu.post_send(qp, {&wqe, 1}) == nic::PostResult::ok);
    cpu.stop();
  });
  rig.run();
  CHECK(rig.system.word(0, rig.local.base + 64) == 77);
}

TEST_CASE("misuse of set-up is refused") {
  nic::System system({.profile = real(), .topology = fabric::Topology::back_to_back, .nodes = 2});
  CHECK_THROWS_AS(system.allocate(2, 8), std::invalid_argument);
  CHECK_THROWS_AS(system.allocate(0, 0), std::invalid_argument);
  CHECK_THROWS_AS(system.register_memory(0, 64, 64), std::invalid_argument);
  CHECK_THROWS_AS(system.create_qp(0, 0, 1), std::invalid_argument);
  const auto cq = system.create_cq(0, 1);
  const auto qp = system.create_qp(0, cq, 1);
  CHECK_THROWS_AS(system.connect(qp, qp), std::invalid_argument);
  CHECK_THROWS_AS(system.create_qp(1, cq, 1), std::invalid_argument);
  CHECK_THROWS_AS(nic::System({.profile = real(), .topology = fabric::Topology::back_to_back, .nodes = 3}),
                  std::invalid_argument);
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
