// Selective repeat (nic.recovery): what is sent again is what was lost, whatever is lost; throughput and time-outs in
// closed form (docs/queue-pairs.md, "Selective repeat").
#include "nic_model/requester/selective_repeat.hpp"

#include "pair.hpp"
#include "tests/catch.hpp"

using namespace loco;
using namespace loco::test;
using fabric::Psn;
using nic::Placement;
using nic::Status;
using Selective = nic::SelectiveRepeat;

namespace {

constexpr sim::SimTime at(std::int64_t ns) { return sim::SimTime{} + sim::Duration{ns * 1000}; }

/// PSNs from 0 on, sent one nanosecond after the other, from the first one on.
Selective sent(std::uint32_t count) {
  Selective s;
  for (std::uint32_t i = 0; i < count; ++i) s.sent(Psn(i), 1, Selective::Answer::ack, at(1 + i));
  return s;
}

std::vector<std::uint32_t> repeats(Selective& s, std::uint32_t most = 1) {
  std::vector<std::uint32_t> all;
  while (s.pending()) {
    all.push_back(s.next().value());
    s.take(most);
  }
  return all;
}

using Psns = std::vector<std::uint32_t>;

/// Out of order, 5 us of cable, and a time-out that only the loss of the last packets needs.
nic::HardwareProfile far(Placement placement = Placement::out_of_order) {
  nic::HardwareProfile profile = real();
  profile.nic_placement = placement;
  profile.link_delay = 5_us;
  profile.nic_ack_timeout = 200_us;
  return profile;
}

/// 96 messages of 64 KiB, eight at a time on the wire, which is more than a round trip takes.
struct Stream {
  nic::Opcode opcode = nic::Opcode::rdma_write;
  Placement placement = Placement::out_of_order;
  std::uint32_t loss = 0;
  std::uint64_t seed = 1;

  [[nodiscard]] Pair run() const {
    PairOptions options = lossy(loss);
    options.network.seed = seed;
    options.recv_entries = 128;
    Pair pair(far(placement), options);
    std::vector<nic::Wqe> wqes;
    for (std::uint64_t i = 0; i < 96; ++i) {
      if (opcode == nic::Opcode::send) REQUIRE(pair.receive(i, 0, 65'536));
      wqes.push_back(opcode == nic::Opcode::rdma_write ? pair.write(0, 0, 65'536)
                     : opcode == nic::Opcode::send     ? pair.send(0, 65'536)
                                                       : pair.read(0, 0, 65'536));
    }
    pair.post(wqes);
    pair.run();
    REQUIRE(pair.statuses(0) == std::vector<Status>(96, Status::success));
    return pair;
  }
};

double seconds(const Pair& pair) { return static_cast<double>(pair.recorder.cqes.back().at.ps) * 1e-12; }

}  // namespace

TEST_CASE("what was sent before a packet that has come, and has not, is lost: once") {
  Selective s = sent(10);
  s.reached(Psn(3), Psn(2), {at(100)});
  CHECK(repeats(s) == Psns{2});
  s.sent(Psn(2), 1, Selective::Answer::ack, at(101));
  s.reached(Psn(4), Psn(2), {at(102)});
  CHECK(repeats(s).empty());  // it was sent later than PSN 4
  s.reached(Psn(7), Psn(2), {at(103)});
  CHECK(repeats(s) == Psns{5, 6});
}

TEST_CASE("a repetition that is lost as well is noticed by what was sent behind it") {
  Selective s = sent(4);
  s.reached(Psn(3), Psn(2), {at(50)});
  CHECK(repeats(s) == Psns{2});
  s.sent(Psn(2), 1, Selective::Answer::ack, at(60));
  s.sent(Psn(4), 1, Selective::Answer::ack, at(61));
  s.reached(Psn(4), Psn(2), {at(120)});
  CHECK(repeats(s) == Psns{2});
}

TEST_CASE("an answer that comes too soon after a repetition says nothing of what was sent in between") {
  Selective s = sent(3);
  s.reached(Psn(1), Psn(0), {at(50)});  // after 48 ns: the shortest trip
  CHECK(repeats(s) == Psns{0});
  s.sent(Psn(0), 1, Selective::Answer::ack, at(60));
  s.reached(Psn(0), Psn(1), {at(70)});  // the first one has come, late
  CHECK(repeats(s).empty());
}

TEST_CASE("with a tolerance a packet is lost when one that was sent so much later has come") {
  Selective s = sent(10);
  s.reached(Psn(3), Psn(0), {at(100), sim::Duration{2'000}});
  CHECK(repeats(s) == Psns{0, 1});  // PSN 2 was sent one nanosecond before
  s.reached(Psn(5), Psn(0), {at(101), sim::Duration{2'000}});
  CHECK(repeats(s) == Psns{2});
}

TEST_CASE("the lost part of a READ's data is asked for in one request, and a lost request whole") {
  Selective s;
  s.sent(Psn(0), 8, Selective::Answer::in_turn, at(1));
  s.sent(Psn(8), 4, Selective::Answer::in_turn, at(2));
  s.sent(Psn(12), 1, Selective::Answer::ack, at(3));
  for (const std::uint32_t came : {0U, 1U, 4U, 5U}) {
    s.answered(Psn(came));
    s.reached(Psn(came), Psn(came + 1), {at(100 + came)});
    s.answer_seen(Psn(came), false, {at(100 + came)});
  }
  REQUIRE(s.pending());
  CHECK(s.next() == Psn(2));
  CHECK(s.take(6) == 2);
  CHECK_FALSE(s.pending());
  s.reached(Psn(12), Psn(8), {at(110)});  // the WRITE behind the second READ has come, its request has not
  REQUIRE(s.pending());
  CHECK(s.next() == Psn(8));
  CHECK(s.take(4) == 4);
}

TEST_CASE("a READ that is executed as it comes says nothing of an atomic before it") {
  Selective s;
  s.sent(Psn(0), 1, Selective::Answer::in_turn, at(1));
  s.sent(Psn(1), 1, Selective::Answer::as_it_comes, at(2));
  s.sent(Psn(2), 1, Selective::Answer::as_it_comes, at(3));
  s.reached(Psn(2), Psn(1), {at(50)});
  s.answered(Psn(2));
  s.answer_seen(Psn(2), true, {at(50)});
  CHECK(repeats(s) == Psns{1});
}

TEST_CASE("a time-out repeats what is not known to have come; the second one everything") {
  Selective s = sent(5);
  s.reached(Psn(3), Psn(1), {at(50)});
  repeats(s);
  s.time_out(false);
  CHECK(repeats(s) == Psns{1, 2, 4});
  s.time_out(true);
  CHECK(repeats(s) == Psns{0, 1, 2, 3, 4});
  Selective acknowledged = sent(2);
  acknowledged.reached(Psn(1), Psn(2), {at(50)});
  acknowledged.time_out(false);
  CHECK(repeats(acknowledged) == Psns{1});  // all has come, but no ACK: the answer to a repetition is one
}

TEST_CASE("PSNs wrap for selective repeat, too, and what is acknowledged is forgotten") {
  Selective s;
  for (std::uint32_t i = 0; i < 6; ++i) s.sent(Psn(0xfffffdU) + i, 1, Selective::Answer::ack, at(1 + i));
  s.reached(Psn(1), Psn(0xfffffeU), {at(50)});
  s.forget_before(Psn(0xffffffU));
  CHECK(repeats(s) == Psns{0xffffffU, 0});
  s.forget_before(Psn(3));
  CHECK(s == Selective{s});
  CHECK_FALSE(s.pending());
}

TEST_CASE("selective repeat keeps the line: each packet is sent 1 / (1 - p) times, whatever the operation") {
  for (const nic::Opcode opcode : {nic::Opcode::rdma_write, nic::Opcode::send, nic::Opcode::rdma_read}) {
    const double alone = seconds(Stream{opcode}.run());
    for (const auto& [loss, p] : {std::pair{1'000U, 0.001}, std::pair{10'000U, 0.01}}) {
      if (loss == 1'000 && kShare > 1) continue;  // sanitized: where more happens
      for (std::uint64_t seed = 1; seed <= (kShare > 1 ? 1 : 2); ++seed) {
        INFO("opcode " << static_cast<int>(opcode) << " loss " << p << " seed " << seed);
        const Pair pair = Stream{opcode, Placement::out_of_order, loss, seed}.run();
        const nic::Counters& counters = pair.system.counters();
        // The round trip to mend the last gap; the loss of what nothing follows costs a time-out and one more.
        const double ends = (200e-6 + 15e-6) * static_cast<double>(counters.timeouts) + 15e-6;
        CHECK(seconds(pair) < alone / (1 - p) * 1.01 + ends);
        CHECK(counters.timeouts <= 2);
        CHECK(counters.retransmissions > 0);
        CHECK(counters.retransmissions <= counters.packets_lost + counters.timeouts * 300);
      }
    }
  }
}

TEST_CASE("go-back-N repeats what a round trip carries for each loss, the timer waits for its end") {
  const double alone = seconds(Stream{nic::Opcode::rdma_write, Placement::in_order}.run());
  const Pair back = Stream{nic::Opcode::rdma_write, Placement::in_order, 1'000}.run();
  // From the loss of a packet until its repetition: the next packet there, a NAK back: two trips and the NICs.
  const double trip = 2 * 5e-6 + 1.5e-6;
  const auto times = static_cast<double>(back.system.counters().retransmissions);
  CHECK(times > 0);
  CHECK(seconds(back) > alone + times * trip * 0.8);
  CHECK(seconds(Stream{nic::Opcode::rdma_write, Placement::out_of_order, 1'000}.run()) < alone + times * trip * 0.8);
}

TEST_CASE("with selective repeat everything happens once and completes in order, whatever is lost") {
  for (const Placement placement : {Placement::out_of_order, Placement::unordered, Placement::reads_overtake}) {
    for (const std::uint32_t loss : {10'000U, 100'000U, 250'000U}) {
      for (std::uint64_t seed = 1; seed <= 6; ++seed) {
        INFO("placement " << static_cast<int>(placement) << " loss " << loss << " seed " << seed);
        nic::HardwareProfile profile = far(placement);
        profile.nic_ack_timeout = 40_us;
        PairOptions options = lossy(loss);
        options.network.seed = seed;
        Pair pair(profile, options);
        const auto content = pair.fill(0, 0, 40'000, 1);
        const auto there = pair.fill(1, 60'000, 20'000, 2);
        for (std::uint64_t i = 0; i < 4; ++i) REQUIRE(pair.receive(i, 100'000 + 4'000 * i, 4'000));
        std::vector<nic::Wqe> wqes;
        for (std::uint64_t i = 0; i < 4; ++i) {
          wqes.push_back(numbered(pair.write(10'000 * i, 10'000 * i, 10'000), 4 * i));
          wqes.push_back(numbered(pair.fetch_add(90'000 + 8 * i, 90'000, 1), 4 * i + 1));
          wqes.push_back(numbered(pair.send(4'000 * i, 4'000), 4 * i + 2));
          wqes.push_back(numbered(pair.read(60'000 + 5'000 * i, 60'000 + 5'000 * i, 5'000), 4 * i + 3));
        }
        pair.post(wqes);
        pair.run();
        const auto sent = pair.completions(0);
        REQUIRE(pair.statuses(0) == std::vector<Status>(16, Status::success));
        for (std::uint64_t i = 0; i < sent.size(); ++i) CHECK(sent[i].wr_id == i);
        CHECK((pair.bytes(1, 0, 40'000) == content));
        CHECK((pair.bytes(0, 60'000, 20'000) == there));
        CHECK((pair.bytes(1, 100'000, 16'000) == std::vector(content.begin(), content.begin() + 16'000)));
        CHECK(pair.completions(1).size() == 4);
        for (std::uint64_t i = 0; i < 4; ++i) CHECK(pair.system.word(0, pair.region[0].base + 90'000 + 8 * i) == i);
        std::multiset<nic::Address> placed;
        for (const nic::Subevent& s : pair.recorder.subevents) {
          if (s.stamp == nic::Stamp::aNRW) placed.insert(s.address);
        }
        CHECK(placed.size() == (40'000 + 16'000) / 8 + 4);
        CHECK(std::set<nic::Address>(placed.begin(), placed.end()).size() ==
              placed.size() - 3);  // one counter, 4 times
      }
    }
  }
}

TEST_CASE("over paths of different length nothing is repeated that is only late") {
  for (const fabric::Routing routing : {fabric::Routing::spray, fabric::Routing::adaptive}) {
    nic::HardwareProfile profile = real();
    profile.nic_placement = Placement::out_of_order;
    Pair pair(profile, unequal_paths(routing, 3));
    pair.post(std::vector(20, pair.write(0, 0, 65'536)));
    pair.run();
    CHECK(pair.statuses(0) == std::vector<Status>(20, Status::success));
    CHECK(pair.system.counters().retransmissions == 0);
    for (const fabric::Packet& packet : pair.recorder.sent) CHECK(packet.opcode != fabric::Opcode::nak);
  }
}

TEST_CASE("adaptive retransmission: time-outs double up to nic.ack_timeout until retries run out") {
  nic::HardwareProfile profile = real();
  profile.nic_ack_timeout = 1_ms;
  profile.nic_adaptive_timeout = 50_us;
  profile.nic_retry_count = 6;
  PairOptions options;
  options.network.changes = {{sim::SimTime{}, 0, false}};  // the cable is cut
  Pair pair(profile, options);
  pair.post({pair.write(0, 0, 8)});
  pair.run();
  CHECK(pair.statuses(0) == std::vector{Status::retry_exc_err});
  const sim::Duration waited = 50_us + 100_us + 200_us + 400_us + 800_us + 1_ms + 1_ms;
  const sim::SimTime end = pair.recorder.cqes.back().at;
  CHECK(end > sim::SimTime{} + waited);
  CHECK(end < sim::SimTime{} + waited + 14_us);
}

TEST_CASE("the tail's time-out is for few packets under way") {
  // The cable is down while the last packets of a message are on their way: nothing behind them shows their loss.
  for (const std::uint32_t length : {1'000U, 60'000U}) {
    nic::HardwareProfile profile = real();
    profile.nic_placement = Placement::out_of_order;
    profile.nic_ack_timeout = 320_us;
    profile.nic_tail_timeout = 100_us;
    PairOptions options;
    options.network.changes = {{sim::SimTime{}, 0, false}, {sim::SimTime{} + 50_us, 0, true}};
    Pair pair(profile, options);
    pair.post({pair.write(0, 0, length)});
    pair.run();
    CHECK(pair.statuses(0) == std::vector{Status::success});
    CHECK(pair.system.counters().timeouts == 1);
    const sim::SimTime end = pair.recorder.cqes.back().at;
    const sim::SimTime expected = sim::SimTime{} + (length == 1'000 ? 100_us : 320_us);
    CHECK(end > expected);
    CHECK(end < expected + 50_us);  // 60 packets of 1 KiB at 25 Gb/s, sent twice
  }
}
