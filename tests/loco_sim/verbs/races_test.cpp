// Verdicts and races of verbs programs in C++: right programs are clean under every schedule, a missing wait is found
// in any run, and each rule objects to a run that breaks it.
#include "model/verbs/races.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "loco_sim/verbs/machine.hpp"
#include "model/verbs/check.hpp"
#include "tests/catch.hpp"
#include "tests/loco_sim/transport/stages.hpp"

using namespace loco;
using namespace loco::test;
using model::verbs::Race;
using model::verbs::RaceKind;
using verbs::Machine;
using verbs::Thread;

namespace {

verbs::Config recorded(std::uint64_t seed, std::uint32_t nodes, verbs::Schedule schedule = verbs::Schedule::random) {
  nic::HardwareProfile profile = round_profile();
  profile.nic_inline_max = sim::Bytes{64};
  return {.profile = profile, .nodes = nodes, .seed = seed, .schedule = schedule, .record = true};
}

nic::MemoryRegion region(nic::System& s, nic::NodeId node, std::uint64_t size) {
  return s.register_memory(node, s.allocate(node, size), size);
}

/// Remote procedure calls over SEND and RECV with a shared receive queue. `early`: the server gives a buffer back
/// before it has read it.
trace::Trace echo(std::uint64_t seed, bool early, std::uint32_t calls = 6) {
  constexpr std::uint32_t kClients = 2, kSlots = 3;
  Machine machine(recorded(seed, kClients + 1));
  nic::System& s = machine.system();
  const nic::MemoryRegion pool = region(s, 0, kSlots * 64), out = region(s, 0, 64);
  const nic::CqId rcq = s.create_cq(0, 64), scq = s.create_cq(0, 64);
  const nic::SrqId srq = s.create_srq(0, kSlots);
  std::vector<nic::QpId> server, client;
  std::vector<nic::MemoryRegion> memory;
  std::vector<nic::CqId> ccq;
  for (std::uint32_t c = 0; c < kClients; ++c) {
    server.push_back(s.create_qp(0, {.send_cq = scq, .recv_cq = rcq, .send_entries = 8, .srq = srq}));
    memory.push_back(region(s, c + 1, 128));
    ccq.push_back(s.create_cq(c + 1, 16));
    client.push_back(s.create_qp(c + 1, {.send_cq = ccq[c], .send_entries = 4, .recv_entries = 4}));
    s.connect(server[c], client[c]);
  }
  const auto slot = [&](std::uint64_t i) {
    return nic::RecvWqe{.wr_id = i, .address = pool.base + 64 * i, .length = 64, .lkey = pool.lkey};
  };
  for (std::uint32_t i = 0; i < kSlots; ++i) s.post_srq_recv(srq, slot(i));
  machine.spawn(0, [&](Thread& t) {
    for (std::uint32_t done = 0; done < kClients * calls; ++done) {
      const nic::Cqe request = t.wait_cq(rcq);
      if (early) t.post_srq_recv(srq, slot(request.wr_id));
      const std::uint64_t x = t.load(pool.base + 64 * request.wr_id);
      if (!early) t.post_srq_recv(srq, slot(request.wr_id));
      t.store(out.base, x * 2);
      t.post_send(request.qp, {.opcode = nic::Opcode::send, .inline_data = true, .lkey = out.lkey, .local = out.base});
      CHECK(t.wait_cq(scq).status == nic::Status::success);
    }
  });
  for (std::uint32_t c = 0; c < kClients; ++c)
    machine.spawn(c + 1, [&, c](Thread& t) {
      for (std::uint64_t i = 1; i <= calls; ++i) {
        t.post_recv(client[c], {.address = memory[c].base + 64, .length = 64, .lkey = memory[c].lkey});
        t.store(memory[c].base, i);
        t.post_send(client[c], {.opcode = nic::Opcode::send, .lkey = memory[c].lkey, .local = memory[c].base});
        for (int got = 0; got < 2; ++got) CHECK(t.wait_cq(ccq[c]).status == nic::Status::success);
        if (!early) CHECK(t.load(memory[c].base + 64) == 2 * i);
      }
    });
  machine.run();
  return machine.take_trace();
}

std::vector<Race> errors(const trace::Trace& trace) {
  std::vector<Race> found = model::verbs::races(trace);
  std::erase_if(found, [](const Race& r) { return !r.error; });
  return found;
}

std::string first_rule(const trace::Trace& trace) {
  const model::verbs::Verdict v = model::verbs::check(trace);
  return v.violations.empty() ? "" : v.violations.front().rule;
}

}  // namespace

TEST_CASE("an echo over a shared receive queue is consistent and without a race under random schedules") {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const trace::Trace trace = echo(seed, false);
    CAPTURE(seed);
    CHECK(first_rule(trace).empty());
    for (const Race& race : errors(trace)) FAIL(race.to_text());
  }
}

namespace {

/// A token goes round three hosts, twice: a WRITE with immediate brings it (examples/verbs_ring.cpp).
trace::Trace ring(std::uint64_t seed) {
  constexpr std::uint32_t kHosts = 3, kLaps = 2;
  Machine machine(recorded(seed, kHosts));
  nic::System& s = machine.system();
  std::vector<nic::MemoryRegion> memory;
  std::vector<nic::CqId> sends, receives;
  std::vector<nic::QpId> left, right;
  for (std::uint32_t n = 0; n < kHosts; ++n) {
    memory.push_back(region(s, n, 64));
    sends.push_back(s.create_cq(n, 8));
    receives.push_back(s.create_cq(n, 8));
    left.push_back(s.create_qp(n, {.send_cq = sends[n], .recv_cq = receives[n], .send_entries = 4, .recv_entries = 4}));
    right.push_back(
        s.create_qp(n, {.send_cq = sends[n], .recv_cq = receives[n], .send_entries = 4, .recv_entries = 4}));
  }
  for (std::uint32_t n = 0; n < kHosts; ++n) s.connect(right[n], left[(n + 1) % kHosts]);
  for (const nic::QpId queue : left) s.post_recv(queue, {});
  for (std::uint32_t n = 0; n < kHosts; ++n)
    machine.spawn(n, [&, n](Thread& t) {
      const nic::MemoryRegion& next = memory[(n + 1) % kHosts];
      const auto send = [&](std::uint32_t lap) {
        t.store(memory[n].base, lap + 1);
        t.post_send(right[n], {.opcode = nic::Opcode::rdma_write,
                               .with_imm = true,
                               .lkey = memory[n].lkey,
                               .rkey = next.rkey,
                               .imm = lap,
                               .local = memory[n].base,
                               .remote = next.base + 8});
        // The source may be changed then: the token that comes round says only that it has been read once.
        CHECK(t.wait_cq(sends[n]).status == nic::Status::success);
      };
      if (n == 0) send(0);
      for (std::uint32_t lap = 0; lap < kLaps; ++lap) {
        const nic::Cqe token = t.wait_cq(receives[n]);
        CHECK(t.load(memory[n].base + 8) == token.imm + 1);
        t.post_recv(left[n], {});
        if (n != 0 || lap + 1 < kLaps) send(token.imm + (n == 0 ? 1 : 0));
      }
    });
  machine.run();
  return machine.take_trace();
}

void check_clean(const trace::Trace& trace) {
  REQUIRE(first_rule(trace).empty());
  for (const Race& race : errors(trace)) FAIL(race.to_text());
}

}  // namespace

TEST_CASE("a ring of writes with immediate data is consistent and without a race under random schedules") {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    CAPTURE(seed);
    check_clean(ring(seed));
  }
}

TEST_CASE("ten thousand seeds of the echo, and of the ring", "[.long]") {
  for (std::uint64_t seed = 0; seed < 10'000; ++seed) {
    CAPTURE(seed);
    check_clean(echo(seed, false));
    check_clean(ring(seed));
  }
}

TEST_CASE("a receive buffer that is given back too early is found in any run, told once, with both lines") {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const std::vector<Race> found = errors(echo(seed, true));
    REQUIRE(found.size() == 1);
    CHECK(found[0].kind == RaceKind::receive_buffer_in_use);
    CHECK(found[0].count > 1);
    CHECK_THAT(found[0].first.place, contains_text("races_test.cpp:"));
    CHECK_THAT(found[0].second.place, contains_text("races_test.cpp:"));
    CHECK(found[0].first.place != found[0].second.place);
    CHECK_THAT(found[0].advice, contains_text("polling the receive's completion first"));
  }
}

TEST_CASE("each rule of queues objects to a run that breaks it") {
  const trace::Trace whole = echo(1, false);
  trace::Trace swapped = whole;
  std::swap(swapped.verbs->messages[0].receive, swapped.verbs->messages[1].receive);
  CHECK(first_rule(swapped) == "matching");
  trace::Trace twice = whole;
  twice.verbs->polls[3].entry = twice.verbs->polls[2].entry;
  CHECK(first_rule(twice) == "poll takes next");
  trace::Trace unasked = whole;
  for (trace::Verbs::Request& r : unasked.verbs->requests) r.signaled = false;
  CHECK(first_rule(unasked) == "posted once");
}

namespace {

/// Two hosts and a queue pair between them; what the first one does.
template <typename Program>
trace::Trace of_two(Program program) {
  Machine machine(recorded(1, 2));
  nic::System& s = machine.system();
  const nic::MemoryRegion here = region(s, 0, 64), there = region(s, 1, 64);
  const nic::CqId cq = s.create_cq(0, 8), other = s.create_cq(1, 8);
  const nic::QpId qp = s.create_qp(0, cq, 8);
  s.connect(qp, s.create_qp(1, other, 8));
  machine.spawn(0, [&](Thread& t) { program(t, qp, cq, here, there); });
  machine.run();
  return machine.take_trace();
}

/// The subevent with the stamp and the value.
trace::SubeventId part_of(const trace::Trace& trace, trace::Stamp stamp, std::uint64_t value) {
  for (trace::SubeventId id = 1; id <= trace.subevents.size(); ++id)
    if (trace.subevents[id - 1].stamp == stamp && trace.subevents[id - 1].value == value) return id;
  FAIL("the trace has no such subevent");
  return 0;
}

}  // namespace

// Posting inline reads the payload as a load does: before what the thread stores afterwards (A2, iso).
TEST_CASE("an inline payload that is read too late is a cycle") {
  trace::Trace trace = of_two([](Thread& t, nic::QpId qp, nic::CqId cq, const auto& here, const auto& there) {
    t.store(here.base, 7);
    t.post_send(qp, {.opcode = nic::Opcode::rdma_write,
                     .inline_data = true,
                     .lkey = here.lkey,
                     .rkey = there.rkey,
                     .local = here.base,
                     .remote = there.base});
    t.store(here.base, 8);
    (void)t.wait_cq(cq);
  });
  REQUIRE(first_rule(trace).empty());
  const trace::SubeventId later = part_of(trace, trace::Stamp::aCW, 8);
  trace::Subevent& read = trace.subevents[part_of(trace, trace::Stamp::aNLR, 7) - 1];
  trace.subevents[part_of(trace, trace::Stamp::aNRW, 7) - 1].value = 8;
  read.value = 8;
  read.source = later;
  const model::verbs::Verdict verdict = model::verbs::check(trace);
  REQUIRE_FALSE(verdict.consistent());
  CHECK_FALSE(verdict.violations.front().cycle.empty());
  CHECK_THAT(verdict.to_text(), contains_text("inline"));
}

// I16: a completion says that earlier READs of its queue pair have brought their results, signaled or not.
TEST_CASE("a completion behind an unsignaled READ that comes before its result is a cycle") {
  trace::Trace trace = of_two([](Thread& t, nic::QpId qp, nic::CqId cq, const auto& here, const auto& there) {
    t.store(here.base, 7);
    t.post_send(qp, {.opcode = nic::Opcode::rdma_write,
                     .signaled = false,
                     .lkey = here.lkey,
                     .rkey = there.rkey,
                     .local = here.base,
                     .remote = there.base});
    t.post_send(qp, {.opcode = nic::Opcode::rdma_read,
                     .signaled = false,
                     .lkey = here.lkey,
                     .rkey = there.rkey,
                     .local = here.base + 8,
                     .remote = there.base});
    t.post_send(qp, {.opcode = nic::Opcode::rdma_write,
                     .lkey = here.lkey,
                     .rkey = there.rkey,
                     .local = here.base,
                     .remote = there.base + 8});
    (void)t.wait_cq(cq);
    CHECK(t.load(here.base + 8) == 7);
  });
  REQUIRE(first_rule(trace).empty());
  trace::Subevent& load = trace.subevents[part_of(trace, trace::Stamp::aCR, 7) - 1];
  load.value = 0;
  load.source = 0;
  const model::verbs::Verdict verdict = model::verbs::check(trace);
  REQUIRE_FALSE(verdict.consistent());
  CHECK_FALSE(verdict.violations.front().cycle.empty());
}

TEST_CASE("a completion that comes before its data is a cycle", "[search]") {
  std::size_t found = 0;
  for (std::uint64_t seed = 0; seed < 200 && found == 0; ++seed) {
    verbs::Config config = recorded(seed, 2);
    config.profile.faults.add(nic::Fault::completion_before_data);
    Machine machine(config);
    nic::System& s = machine.system();
    const nic::MemoryRegion here = region(s, 0, 64), there = region(s, 1, 64);
    const nic::CqId cq = s.create_cq(0, 8), other = s.create_cq(1, 8);
    const nic::QpId qp = s.create_qp(0, cq, 8);
    const nic::QpId peer = s.create_qp(1, {.send_cq = other, .send_entries = 1, .recv_entries = 4});
    s.connect(qp, peer);
    s.post_recv(peer, {.address = there.base, .length = 8, .lkey = there.lkey});
    machine.spawn(0, [&](Thread& t) {
      t.store(here.base, 7);
      t.post_send(qp, {.opcode = nic::Opcode::send, .lkey = here.lkey, .local = here.base});
      (void)t.wait_cq(cq);
    });
    machine.spawn(1, [&](Thread& t) {
      (void)t.wait_cq(other);
      (void)t.load(there.base);
    });
    machine.run();
    const trace::Trace trace = machine.take_trace();
    const model::verbs::Verdict verdict = model::verbs::check(trace);
    if (verdict.consistent()) continue;
    ++found;
    CHECK_FALSE(verdict.violations.front().cycle.empty());
    CHECK_THAT(verdict.to_text(), contains_text("load of 1:"));
  }
  CHECK(found == 1);
}

TEST_CASE("a list of requests rings one doorbell, and a list that does not fit is not taken") {
  Machine machine({.profile = round_profile(), .nodes = 2});
  nic::System& s = machine.system();
  const nic::MemoryRegion here = region(s, 0, 64), there = region(s, 1, 64);
  const nic::CqId cq = s.create_cq(0, 8);
  const nic::QpId qp = s.create_qp(0, cq, 4);
  s.connect(qp, s.create_qp(1, s.create_cq(1, 8), 1));
  const nic::Wqe wqe{.lkey = here.lkey, .rkey = there.rkey, .local = here.base, .remote = there.base};
  sim::Duration took;
  machine.spawn(0, [&](Thread& t) {
    CHECK_THROWS_AS(t.post_sends(qp, std::vector<nic::Wqe>(5, wqe)), verbs::VerbsError);
    const sim::SimTime begin = t.now();
    t.post_sends(qp, std::vector<nic::Wqe>(4, wqe));
    took = t.now() - begin;
    for (int i = 0; i < 4; ++i) CHECK(t.wait_cq(cq).status == nic::Status::success);
  });
  machine.run();
  CHECK(took == round_profile().cpu_post_wqe * 4 + round_profile().cpu_doorbell);
  CHECK(s.counters().doorbells == 1);
}

namespace {
/// Data and a flag by WRITEs of one queue pair; the other side spins on the flag, then reads the data. `immediate`: the
/// data comes with immediate data, whose completion is polled.
std::vector<Race> flag_behind_data(nic::QpType type, bool immediate) {
  Machine machine(recorded(1, 2));
  nic::System& s = machine.system();
  const nic::MemoryRegion here = region(s, 0, 64), there = region(s, 1, 64);
  const nic::CqId cq = s.create_cq(0, 8), other = s.create_cq(1, 8);
  const nic::QpId qp = s.create_qp(0, {.type = type, .send_cq = cq, .send_entries = 4});
  const nic::QpId peer = s.create_qp(1, {.type = type, .send_cq = other, .send_entries = 1, .recv_entries = 4});
  s.connect(qp, peer);
  s.post_recv(peer, {.address = there.base + 32, .length = 0, .lkey = there.lkey});
  machine.spawn(0, [&](Thread& t) {
    for (const std::uint64_t word : {std::uint64_t{0}, std::uint64_t{8}}) {
      nic::Wqe write{.opcode = nic::Opcode::rdma_write,
                     .lkey = here.lkey,
                     .rkey = there.rkey,
                     .local = here.base,
                     .remote = there.base + word};
      t.store(here.base, 1);
      write.with_imm = immediate && word == 0;
      t.post_send(qp, write);
      (void)t.wait_cq(cq);
    }
  });
  machine.spawn(1, [&](Thread& t) {
    if (immediate)
      (void)t.wait_cq(other);
    else
      (void)t.wait_for_change(there.base + 8, 0);
    CHECK(t.load(there.base) == 1);
  });
  machine.run();
  return model::verbs::races(machine.take_trace());
}
}  // namespace

TEST_CASE("data that a lost message would have brought, behind a flag of another message, is warned of") {
  CHECK(flag_behind_data(nic::QpType::rc, false).empty());
  const std::vector<Race> warned = flag_behind_data(nic::QpType::uc, false);
  REQUIRE(warned.size() == 1);
  CHECK(warned.front().kind == RaceKind::unreliable);
  CHECK_FALSE(warned.front().error);
  CHECK(flag_behind_data(nic::QpType::uc, true).empty());
}
