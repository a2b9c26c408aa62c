// What is refused, by whom, and what the program is told: the responder and the requester (keys, rights, bounds,
// lengths), posting, set-up; and a peer that does not answer at all.
#include "rig.hpp"
#include "tests/catch.hpp"

using namespace loco;
using namespace loco::test;
using nic::Status;

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
  const nic::CqId cq = rig.system.create_cq(1, 16);
  const nic::QpId a = rig.system.create_qp(1, cq, 16);
  const nic::QpId b = rig.system.create_qp(0, rig.cq, 16);
  rig.system.connect(a, b);
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
