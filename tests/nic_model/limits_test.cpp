// What queue pairs and NICs do not take: too many READs at once, messages that are too long; and what a RESET takes away.
#include "pair.hpp"
#include "tests/catch.hpp"

using namespace loco;
using namespace loco::test;
using nic::ModifyResult;
using nic::QpState;
using nic::Status;

namespace {

/// Attributes of a requester with so many READs outstanding, towards a responder that takes so many.
nic::QpAttributes depths(std::uint32_t initiator, std::uint32_t responder) {
  nic::QpAttributes a;
  a.max_rd_atomic = initiator;
  a.max_dest_rd_atomic = responder;
  a.timeout = kTimeout;
  a.min_rnr_timer = sim::Duration{10'000'000};
  return a;
}

std::vector<Status> sixteen_reads(std::uint32_t initiator, std::uint32_t responder, bool atomics) {
  Pair pair(impatient(3), unconnected());
  pair.bring_up(depths(initiator, responder));
  std::vector<nic::Wqe> wqes;
  for (std::uint64_t i = 0; i < 16; ++i) {
    wqes.push_back(numbered(atomics ? pair.fetch_add(8 * i, 0, 1) : pair.read(4096 * i, 4096 * i, 4096), i));
  }
  pair.post(wqes);
  pair.run();
  return pair.statuses(0);
}

}  // namespace

TEST_CASE("a responder takes max_dest_rd_atomic READs and atomics at once: one more is an invalid request") {
  const bool atomics = GENERATE(false, true);
  // A requester that keeps to it is served, however few there are.
  for (const std::uint32_t depth : {1U, 2U, 8U}) {
    CHECK(sixteen_reads(depth, depth, atomics) == std::vector<Status>(16, Status::success));
  }
  const std::vector<Status> refused = sixteen_reads(16, 4, false);
  REQUIRE(refused.size() == 16);
  CHECK(refused[0] == Status::success);  // what was under way is answered first
  CHECK(std::ranges::count(refused, Status::rem_inv_req_err) == 1);
  CHECK(refused.back() == Status::wr_flush_err);
}

TEST_CASE("an RNR NAK with timer code 0 asks for the longest wait, 655.36 ms") {
  // IBTA volume 1, table 45: code 0 is 655.36 ms, not none. The receive is there after 1 ms.
  const auto delivered = [](sim::Duration timer) {
    Pair pair(impatient(7), unconnected());
    nic::QpAttributes a = depths(1, 1);
    a.min_rnr_timer = timer;
    pair.bring_up(a);
    pair.script(
        1,
        [&](nic::Cpu& cpu) {
          const nic::RecvWqe wqe{.address = pair.region[1].base, .length = 64, .lkey = pair.region[1].lkey};
          CHECK(cpu.post_recv(pair.qp[1], {&wqe, 1}) == nic::PostResult::ok);
          cpu.stop();
        },
        sim::SimTime{1'000'000'000});
    pair.post({pair.send(0, 64)});
    pair.run();
    REQUIRE(pair.statuses(0) == std::vector<Status>{Status::success});
    return pair.recorder.cqes.back().at;
  };
  CHECK(delivered(sim::Duration{2'000'000'000}) < sim::SimTime{3'000'000'000});
  const sim::SimTime late = delivered({});
  CHECK(late > sim::SimTime{655'360'000'000});
  CHECK(late < sim::SimTime{655'400'000'000});
}

TEST_CASE("a message of more than the NIC's longest ends with loc_len_err, before anything of it is sent") {
  nic::HardwareProfile p = impatient(1);
  p.nic_max_message = 64_KiB;
  Pair pair(p);
  pair.post({pair.write(0, 0, 65'536), pair.write(0, 0, 65'540)});
  pair.run();
  CHECK(pair.statuses(0) == std::vector<Status>{Status::success, Status::loc_len_err});
}

TEST_CASE("without segmentation a SEND has at most the MTU, a WRITE as much as ever") {
  nic::HardwareProfile p = impatient(1);
  p.nic_send_segments = false;
  const auto mtu = static_cast<std::uint32_t>(p.link_mtu.count);
  for (const std::uint32_t length : {mtu, mtu + 4}) {
    Pair pair(p);
    REQUIRE(pair.receive(1, 0, 2 * mtu));
    pair.post({pair.write(0, 0, 3 * mtu), pair.send(0, length)});
    pair.run();
    const Status sent = length > mtu ? Status::loc_len_err : Status::success;
    CHECK(pair.statuses(0) == std::vector<Status>{Status::success, sent});
  }
}

TEST_CASE("a RESET takes the queue pair's CQEs out of the completion queue, and no others") {
  // After each number of steps, so that CQEs are in the queue, on their way to it, and not yet made.
  bool some_left_out = false;
  for (int steps = 1; steps < 80; ++steps) {
    INFO("after step " << steps);
    Pair pair(impatient(1));
    const nic::QpId other = pair.system.create_qp(0, pair.cq[0], 16);
    const nic::QpId others_peer = pair.system.create_qp(1, pair.cq[1], 16);
    pair.system.connect(other, others_peer);
    pair.post({numbered(pair.write(0, 0), 1), numbered(pair.write(8, 8), 2)});
    pair.post({numbered(pair.write(16, 16), 3)}, other);
    for (int i = 0; i < steps; ++i) pair.step();
    CHECK(pair.system.modify_qp(pair.qp[0], QpState::reset) == ModifyResult::ok);
    std::vector<std::uint64_t> polled;
    pair.script(
        0,
        [&](nic::Cpu& cpu) {
          std::array<nic::Cqe, 8> cqes;
          const std::size_t taken = cpu.poll_cq(pair.cq[0], cqes);
          for (std::size_t i = 0; i < taken; ++i) polled.push_back(cqes[i].wr_id);
          cpu.stop();
        },
        sim::SimTime{1'000'000'000'000});
    pair.run();
    some_left_out = some_left_out || pair.completions(0).size() > 1;
    CHECK(polled == std::vector<std::uint64_t>{3});
  }
  CHECK(some_left_out);  // else nothing was there to take out
}

TEST_CASE("bandwidth of any size is the link's: a long packet behind a short one is not late") {
  // Bytes on the wire: each packet has link_overhead, the first of a WRITE 16 of RETH. Without PCIe or contexts in the
  // way the last byte of 64 messages is there when the link has carried all of them, plus what one needs.
  nic::HardwareProfile p = impatient(1);
  p.nic_buffer_rate = sim::BitsPerSecond{100'000'000'000};
  p.link_rate = sim::BitsPerSecond{25'000'000'000};
  p.link_mtu = 1024_B;
  for (const std::uint32_t length : {1024U, 1025U, 1032U, 2056U, 3000U, 8U}) {
    INFO(length << " bytes");
    constexpr std::uint32_t kMessages = 64;
    Pair pair(p, {.size = 1 << 18});
    std::vector<nic::Wqe> wqes(kMessages, pair.write(0, 0, length));
    pair.post(std::vector<nic::Wqe>(wqes.begin(), wqes.begin() + 16));
    for (int i = 1; i < 4; ++i) {  // four threads' work requests, one send queue each
      const nic::QpId mine = pair.system.create_qp(0, pair.cq[0], 16);
      pair.system.connect(mine, pair.system.create_qp(1, pair.cq[1], 16));
      pair.post(std::vector<nic::Wqe>(wqes.begin(), wqes.begin() + 16), mine);
    }
    pair.run();
    const std::uint64_t packets = (length + 1023) / 1024;
    const auto overhead = static_cast<std::uint64_t>(p.link_overhead.count);
    const std::uint64_t wire = kMessages * (length + packets * overhead + 16);
    const sim::Duration carried = sim::transmission_time({wire}, p.link_rate);
    const sim::Duration took = pair.recorder.cqes.back().at - sim::SimTime{};
    // PCIe gen3 x8 is twice as fast as this link, so that only the first message's way and the last one's are added.
    CHECK(took > carried);
    if (length >= 1024) CHECK(took < carried + sim::Duration{5'000'000});
  }
}
