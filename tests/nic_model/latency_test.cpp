// Latencies are the sums of their stages (stages.hpp).
#include "stages.hpp"
#include "tests/catch.hpp"

using namespace loco;
using namespace loco::test;
using nic::Stamp;

TEST_CASE("an 8-byte write takes the sum of its stages") {
  const bool star = GENERATE(false, true);
  Rig rig(primes(), star ? fabric::Topology::star : fabric::Topology::back_to_back);
  rig.post_and_run({rig.write(0, 0)});
  const std::int64_t read_at = until_start() + tlp(24) + kUp + kAccess;
  CHECK(rig.recorder.finished(Stamp::aNLR).ps == read_at);
  const std::int64_t received = until_start() + dma_read(8) + network(kWriteHeaders + 8, star);
  CHECK(rig.recorder.finished(Stamp::aNRW).ps == received + kReceive + dma_write(8));
  // The ACK leaves once the write is posted, not once memory has it; the CQE is a write of 64 bytes.
  CHECK(rig.recorder.cqes.at(0).at.ps ==
        received + kReceive + network(kAckBytes, star) + kReceive + kCqe + dma_write(64));
}

TEST_CASE("a write to the NIC's own host goes through neither transmit nor receive, only through loopback") {
  nic::HardwareProfile p = primes();
  p.nic_loopback = 7_ns;
  Rig rig(p);
  rig.loop_back();
  rig.post({rig.to_self(rig.write(0, 0), 64)});
  rig.run();
  const std::int64_t received = until_start() + dma_read(8) + ns(7);
  CHECK(rig.recorder.finished(Stamp::aNRW).ps == received + dma_write(8));
  CHECK(rig.recorder.cqes.at(0).at.ps == received + ns(7) + kCqe + dma_write(64));  // the ACK comes the same way
}

TEST_CASE("an inline write by BlueFlame spares both PCIe reads") {
  const bool star = GENERATE(false, true);
  Rig rig(primes(), star ? fabric::Topology::star : fabric::Topology::back_to_back);
  nic::Wqe wqe = rig.write(0, 0);
  wqe.inline_data = true;
  rig.post_and_run({wqe});
  CHECK(rig.recorder.finished(Stamp::aNLR).ps == 0);  // the CPU's copy, when posting
  const std::int64_t start = kDrain + tlp(64 + 24) + kDown + kStart;
  CHECK(rig.recorder.finished(Stamp::aNRW).ps == start + network(kWriteHeaders + 8, star) + kReceive + dma_write(8));
}

TEST_CASE("a work request of four bursts is there when the last of them is: three gaps later") {
  const auto all_there = [](sim::Duration gap) {
    nic::HardwareProfile p = primes();
    p.cpu_mmio_gap = gap;
    Rig rig(p);
    nic::Wqe wqe = rig.write(0, 0, 220);  // 36 bytes of segments and 220
    wqe.inline_data = true;
    rig.post_and_run({wqe});
    return rig.recorder.finished(Stamp::aNRW).ps;
  };
  CHECK(all_there(5_ns) == all_there(0_ns) + 3 * ns(5));
}

TEST_CASE("a thread's stores to the NIC leave a gap apart") {
  const auto second = [](sim::Duration gap) {
    nic::HardwareProfile p = primes();
    p.cpu_mmio_gap = gap;
    Rig rig(p);
    CHECK(rig.post_and_run({rig.write(0, 0), rig.write(0, 8)}).size() == 2);
    return rig.recorder.cqes.back().at.ps;
  };
  CHECK(second(20_us) == second(10_us) + ns(10'000));  // both longer than anything else takes
}

TEST_CASE("two linked inline writes are fetched: BlueFlame carries one work request") {
  Rig rig(primes());
  nic::Wqe wqe = rig.write(0, 0);
  wqe.inline_data = true;
  rig.post_and_run({wqe, wqe}, true);
  const std::int64_t start = kDrain + tlp(8 + 24) + kDown + dma_read(2 * 64) + kStart;
  CHECK(rig.recorder.finished(Stamp::aNRW).ps == start + network(kWriteHeaders + 8, false) + kReceive + dma_write(8));
}

TEST_CASE("an inline work request is fetched with its payload: 36 bytes of segments and 200 are four strides") {
  nic::HardwareProfile profile = primes();
  const bool linked = GENERATE(false, true);
  profile.nic_blueflame = linked;  // BlueFlame carries one work request, not two
  Rig rig(profile);
  nic::Wqe wqe = rig.write(kAligned, kAligned, 200);
  wqe.inline_data = true;
  rig.post_and_run(linked ? std::vector{wqe, wqe} : std::vector{wqe}, true);
  // Four strides of 64 bytes are one completion of 256; those of the second work request are another.
  const std::int64_t fetched = tlp(24) + kUp + kAccess + (linked ? 2 : 1) * tlp(256 + 20) + kDown;
  const std::int64_t start = kDrain + tlp(8 + 24) + kDown + fetched + kStart;
  CHECK(rig.recorder.finished(Stamp::aNRW).ps ==
        start + network(kWriteHeaders + 200, false) + kReceive + dma_write(200));
}

TEST_CASE("requests of a fetch that wait for a tag take a round trip each, and the link carries their data once") {
  nic::HardwareProfile profile = primes();
  profile.pcie_tags = 1;
  profile.pcie_mrrs = profile.pcie_read_completion = 128_B;
  Rig rig(profile);
  nic::Wqe wqe = rig.write(kAligned, kAligned, 8);
  wqe.inline_data = true;
  rig.post_and_run(std::vector(8, wqe), true);
  const std::int64_t fetched = 8 * 64 / 128 * dma_read(128);
  const std::int64_t start = kDrain + tlp(8 + 24) + kDown + fetched + kStart;
  CHECK(rig.recorder.finished(Stamp::aNRW).ps == start + network(kWriteHeaders + 8, false) + kReceive + dma_write(8));
}

TEST_CASE("requests of a payload that wait for a tag wait from the start of the work request on") {
  nic::HardwareProfile profile = primes();
  const std::int64_t tags = GENERATE(1, 2, 4);
  profile.pcie_tags = static_cast<std::uint32_t>(tags);
  profile.pcie_mrrs = profile.pcie_read_completion = 128_B;
  Rig rig(profile);
  rig.post_and_run({rig.write(kAligned, kAligned, 1024)});
  // Each tag is used 1024 / 128 / tags times, a round trip each; the data of all tags follow each other on the link.
  const std::int64_t payload = 1024 / 128 / tags * dma_read(128) + (tags - 1) * tlp(128 + 20);
  const std::int64_t received = until_start() + payload + network(kWriteHeaders + 1024, false) + kReceive;
  CHECK(rig.recorder.cqes.at(0).at.ps == received + network(kAckBytes, false) + kReceive + kCqe + dma_write(64));
}

TEST_CASE("an 8-byte read takes the sum of its stages") {
  const bool star = GENERATE(false, true);
  Rig rig(primes(), star ? fabric::Topology::star : fabric::Topology::back_to_back);
  rig.post_and_run({rig.read(0, 0)});
  const std::int64_t asked = until_start() + network(kReadHeaders, star) + kReceive;
  CHECK(rig.recorder.finished(Stamp::aNRR).ps == asked + tlp(24) + kUp + kAccess);
  const std::int64_t answered = asked + dma_read(8) + network(kReadResponse + 8, star) + kReceive;
  CHECK(rig.recorder.finished(Stamp::aNLW).ps == answered + dma_write(8));
  // Data and CQE follow each other on the PCIe link.
  CHECK(rig.recorder.cqes.at(0).at.ps == answered + tlp(8 + 24) + kCqe + dma_write(64));
}

TEST_CASE("a CQE is behind all TLPs of the data on the PCIe link, not behind the first") {
  nic::HardwareProfile profile = primes();
  const bool buffered = GENERATE(false, true);
  if (buffered) profile.nic_buffer_rate = 100_Gbps;
  const std::int64_t buffer = buffered ? 1000 * 80 : 0;  // in each NIC
  Rig rig(profile);
  rig.post_and_run({rig.read(kAligned, kAligned, 1000)});
  const std::int64_t read = tlp(24) + kUp + kAccess + tlp(1000 + 4 * 20) + kDown;
  const std::int64_t asked = until_start() + network(kReadHeaders, false) + kReceive;
  const std::int64_t answered = asked + read + buffer + network(kReadResponse + 1000, false) + kReceive + buffer;
  CHECK(rig.recorder.cqes.at(0).at.ps == answered + tlp(1000 + 4 * 24) + kCqe + dma_write(64));
}

TEST_CASE("fetch-and-add and compare-and-swap take the sum of their stages") {
  const bool star = GENERATE(false, true);
  const bool add = GENERATE(false, true);
  Rig rig(primes(), star ? fabric::Topology::star : fabric::Topology::back_to_back);
  rig.post_and_run({add ? rig.fetch_add(0, 0, 5) : rig.compare_swap(0, 0, 0, 5)});
  const std::int64_t asked = until_start() + network(kAtomicHeaders, star) + kReceive;
  const std::int64_t modified = asked + dma_read(8) + kModify;
  CHECK(rig.recorder.finished(Stamp::aNRW).ps == modified + dma_write(8));
  const std::int64_t answered = modified + network(kAtomicResponse, star) + kReceive;
  CHECK(rig.recorder.finished(Stamp::aNLW).ps == answered + dma_write(8));
}

TEST_CASE("atomics follow each other at the service time of the atomic unit") {
  Rig rig(primes());
  std::vector<nic::Wqe> wqes;
  for (std::uint64_t i = 0; i < 16; ++i) wqes.push_back(rig.fetch_add(8 * i, 0, 1));
  rig.post_and_run(wqes, true);
  std::vector<std::int64_t> writes;
  for (const nic::Subevent& s : rig.recorder.subevents) {
    if (s.stamp != Stamp::aNRW) continue;
    for (const nic::SubeventFinish& f : rig.recorder.finishes) {
      if (f.id == s.id) writes.push_back(f.at.ps);
    }
  }
  REQUIRE(writes.size() == 16);
  // The next read is behind the write, and the way to memory takes a write longer than a read: so what lies between
  // two samples is data returned, modified, written.
  for (std::size_t i = 1; i < writes.size(); ++i)
    CHECK(writes[i] - writes[i - 1] == tlp(8 + 20) + kDown + kModify + dma_write(8));
}

TEST_CASE("messages of no bytes take the stages that are left, and no memory: no key is needed") {
  const nic::Opcode opcode = GENERATE(nic::Opcode::rdma_write, nic::Opcode::rdma_read, nic::Opcode::send);
  CAPTURE(opcode);
  Pair pair(primes());
  REQUIRE(pair.system.post_recv(pair.qp[1], {}));
  const nic::Wqe wqe{.opcode = opcode, .length = 0};
  pair.post({wqe});
  pair.run();
  const bool send = opcode == nic::Opcode::send;
  const std::int64_t received = until_start() + network(send ? 82 : kWriteHeaders, false) + kReceive;
  REQUIRE(pair.statuses(0) == std::vector{nic::Status::success});
  for (const Recorder::Completed& c : pair.recorder.cqes) {
    const bool receiver = c.cqe.qp == pair.qp[1];
    CHECK(c.at.ps == received + (receiver ? 0 : network(kAckBytes, false) + kReceive) + kCqe + dma_write(64));
    CHECK(c.cqe.length == 0);
  }
  CHECK(pair.recorder.cqes.size() == (send ? 2 : 1));
  CHECK(pair.recorder.subevents.empty());
}

TEST_CASE("packets of one size leave a gap apart; a shorter one comes nearer in the buffer that is behind the gap") {
  struct Arrivals : nic::Observer {
    std::vector<std::int64_t> at;
    void on_packet(nic::PacketStep step, const fabric::Packet& packet, sim::SimTime now) override {
      if (step == nic::PacketStep::received && packet.opcode == fabric::Opcode::write) at.push_back(now.ps);
    }
  };
  nic::HardwareProfile p = plain();
  p.nic_packet_gap = 20_ns;
  p.nic_buffer_rate = 100_Gbps;  // 80 ps a byte
  p.link_rate = 400_Gbps;        // 20 ps a byte
  p.nic_inline_max = 220_B;
  const auto apart = [&](std::uint32_t first, std::uint32_t then) {
    Rig rig(p);
    const nic::QpId second = rig.system.create_qp(0, rig.cq, 16, 0);
    rig.system.connect(second, rig.system.create_qp(1, rig.system.create_cq(1, 1), 1));
    rig.system.create_thread(0);
    rig.scripts.steps.emplace_back([&](nic::Cpu& cpu) {
      for (const auto& [qp, size] : {std::pair{rig.qp, first}, std::pair{second, then}}) {
        nic::Wqe wqe = rig.write(0, 0, size);
        wqe.inline_data = true;
        CHECK(cpu.post_send(qp, {&wqe, 1}) == nic::PostResult::ok);
      }
      cpu.stop();
    });
    Arrivals arrivals;
    nic::Context context{rig.scripts, &arrivals};
    while (rig.system.step(context)) {
    }
    REQUIRE(arrivals.at.size() == 2);
    return arrivals.at[1] - arrivals.at[0];
  };
  CHECK(apart(200, 200) == ns(20));
  CHECK(apart(8, 200) == ns(20) + 192 * (80 + 20));  // the buffer, then the wire
  CHECK(apart(200, 8) == (kWriteHeaders + 8) * 20);  // at once behind it: 200 bytes take 16 ns through the buffer
}

TEST_CASE("a SEND to who is not ready is sent again so long after the RNR NAK as that says") {
  Pair pair(primes(), unconnected());
  pair.bring_up({.min_rnr_timer = 10_us});
  pair.post({pair.send(0, 8)});
  pair.script(
      1,
      [&](nic::Cpu& cpu) {
        CHECK(pair.receive(1, 0, 8));
        cpu.stop();
      },
      sim::SimTime{} + 5_us);
  pair.run();
  const std::int64_t refused = until_start() + dma_read(8) + network(82 + 8, false) + kReceive;
  const std::int64_t again = refused + network(kAckBytes, false) + kReceive + ns(10'000);
  const std::int64_t received = again + network(82 + 8, false) + kReceive;
  CHECK(pair.recorder.finished(Stamp::aNRW).ps == received + dma_write(8));
  CHECK(pair.recorder.cqes.at(0).at.ps == received + tlp(8 + 24) + kCqe + dma_write(64));
  CHECK(pair.recorder.cqes.at(1).at.ps == received + network(kAckBytes, false) + kReceive + kCqe + dma_write(64));
}

TEST_CASE("a fenced work request starts when the answer of the READ before it is there") {
  Rig rig(primes());
  nic::Wqe read = rig.read(0, 0);
  read.signaled = false;
  nic::Wqe write = rig.write(64, 64);
  write.fence = GENERATE(false, true);
  rig.post_and_run({read, write}, true);
  const std::int64_t fetched = kDrain + tlp(8 + 24) + kDown + dma_read(2 * 64);
  const std::int64_t sampled = fetched + kStart + network(kReadHeaders, false) + kReceive + tlp(24) + kUp + kAccess;
  const std::int64_t answered = sampled + tlp(8 + 20) + kDown + network(kReadResponse + 8, false) + kReceive;
  // The write of what was read is on the PCIe link in front of the payload's read.
  const std::int64_t started = write.fence ? answered + tlp(8 + 24) + kStart : fetched + kStart;
  CHECK(rig.recorder.finished(Stamp::aNLR).ps == started + tlp(24) + kUp + kAccess);
}

TEST_CASE("a 1000-byte write is read in completions of 256 bytes and committed in TLPs of 256") {
  Rig rig(primes());
  REQUIRE((rig.local.base + kAligned) % 256 == 0);
  rig.post_and_run({rig.write(kAligned, kAligned, 1000)});
  // Completions follow each other on the link: 4 of them, 1000 bytes of data in all.
  const std::int64_t data_there = until_start() + tlp(24) + kUp + kAccess + tlp(1000 + 4 * 20) + kDown;
  const std::int64_t received = data_there + network(kWriteHeaders + 1000, false) + kReceive;
  // The first TLP commits; the three behind it are separated by their time on the link.
  const std::int64_t last = received + dma_write(256) + 2 * tlp(256 + 24) + tlp(1000 - 768 + 24);
  sim::SimTime end;
  for (const nic::SubeventFinish& f : rig.recorder.finishes) end = std::max(end, f.at);
  CHECK(end.ps == last);
}

TEST_CASE("packets of a large write follow each other at the rate of the slower link") {
  Rig rig(primes());
  rig.post_and_run({rig.write(kAligned, kAligned, 10 * 1024)});
  REQUIRE(rig.recorder.sent.size() == 11);  // 10 and the ACK
  // The network is the slower one: the first packet leaves when its kilobyte has been read, the others back to back.
  const std::int64_t first_there = until_start() + tlp(24) + kUp + kAccess + tlp(1024 + 4 * 20) + kDown;
  const std::int64_t all_received = first_there + kTransmit + wire(10 * (1024 + 82) + 16) + ns(73) + kReceive;
  sim::SimTime end;
  for (const nic::SubeventFinish& f : rig.recorder.finishes) end = std::max(end, f.at);
  CHECK(end.ps == all_received + dma_write(256) + 3 * tlp(256 + 24));
}

TEST_CASE("a packet does not wait for a short completion behind its own data") {
  const bool is_read = GENERATE(false, true);
  nic::HardwareProfile profile = primes();
  profile.link_mtu = 256_B;
  profile.link_rate = 320_Gbps;           // 25 ps a byte: PCIe is the slower one
  profile.pcie_completion_header = 32_B;  // completions take longer than the writes at the other end
  Rig rig(profile);
  rig.post_and_run({is_read ? rig.read(kAligned, kAligned, 520) : rig.write(kAligned, kAligned, 520)});
  REQUIRE((rig.local.base + kAligned) % 256 == 0);
  const std::int64_t start = until_start() + tlp(32 - 20);
  const std::int64_t request = kTransmit + kReadHeaders * 25 + ns(73) + kReceive;
  // The second packet leaves with the second completion; the third carries the last 8 bytes.
  const std::int64_t data = tlp(24) + kUp + kAccess + tlp(512 + 2 * 32) + kDown;
  const std::int64_t second = start + (is_read ? request : 0) + data + kTransmit + (82 + 256) * 25 + ns(73) + kReceive;
  sim::SimTime end;
  for (const nic::SubeventFinish& f : rig.recorder.finishes) end = std::max(end, f.at);
  CHECK(end.ps == second + tlp(256 + 24) + dma_write(8));
}
