// What wakes a thread that polls or waits, and when: at the turn of its loop that would have seen the change.
#include "stages.hpp"
#include "tests/catch.hpp"

using namespace loco;
using namespace loco::test;

TEST_CASE("a spinning thread wakes at the instant at which its polling loop would have seen the change") {
  // The loop's turns begin at 0, 7, 14, ... ns; what it waits for arrives at a time computed above.
  Rig rig(primes());
  rig.fill(0, 0, {1, 0, 0, 0, 0, 0, 0, 0});
  sim::SimTime seen;
  rig.system.create_thread(1);
  rig.system.create_thread(0);
  int turns = 0;
  rig.scripts.steps.emplace_back([&](nic::Cpu& cpu) {
    ++turns;
    if (cpu.load(rig.remote.base) == 0) return cpu.pause(7_ns);
    seen = cpu.now();
    cpu.stop();
  });
  rig.scripts.steps.emplace_back([&](nic::Cpu& cpu) {
    const nic::Wqe wqe = rig.write(0, 0);
    CHECK(cpu.post_send(rig.qp, {&wqe, 1}) == nic::PostResult::ok);
    cpu.stop();
  });
  rig.run();
  const std::int64_t there = until_start() + dma_read(8) + network(kWriteHeaders + 8, false) + kReceive + dma_write(8);
  CHECK(seen.ps == (there + ns(7) - 1) / ns(7) * ns(7));
  CHECK(turns == 2);  // and it costs events only when something changes
}

TEST_CASE("a loop that has looked and then pauses goes on with whatever has changed since it looked") {
  // It looks at time 0 and pauses 10 us later. Meanwhile: nothing; a WRITE from node 0; its own store or
  // compare-and-swap. Only the first time is there nothing to wake up for.
  enum class Change { none, write, store, compare_swap };
  for (const Change change : {Change::none, Change::write, Change::store, Change::compare_swap}) {
    Rig rig(primes());
    rig.fill(0, 0, {1});
    const nic::ThreadId loop = rig.system.create_thread(1);
    int turns = 0;
    rig.scripts.steps.emplace_back([&](nic::Cpu& cpu) {
      if (++turns == 1) {
        CHECK(cpu.load(rig.remote.base) == 0);
        if (change == Change::store) cpu.store(rig.remote.base, 1);
        if (change == Change::compare_swap) CHECK(cpu.compare_swap(rig.remote.base, 0, 1) == 0);
        return cpu.resume_after(10_us);
      }
      if (turns == 2) return cpu.pause(7_ns);
      CHECK(cpu.load(rig.remote.base) == 1);
      cpu.stop();
    });
    if (change == Change::write) rig.post({rig.write(0, 0)});
    rig.run();
    CHECK(rig.system.thread_stopped(loop) == (change != Change::none));
  }
}

TEST_CASE("a loop wakes whichever word of a write it looks at") {
  for (std::uint64_t word = 0; word < 4; ++word) {
    Rig rig(primes());
    rig.fill(0, 8 * word, {1});
    const nic::ThreadId loop = rig.system.create_thread(1);
    rig.scripts.steps.emplace_back([&](nic::Cpu& cpu) {
      if (cpu.load(rig.remote.base + 8 * word) == 0) return cpu.pause(7_ns);
      cpu.stop();
    });
    rig.post({rig.write(0, 0, 32)});
    rig.run();
    CHECK(rig.system.thread_stopped(loop));
  }
}

TEST_CASE("a loop wakes for its neighbour's store and compare-and-swap, and for an atomic of the root complex") {
  enum class Change { store, compare_swap, global_atomic };
  for (const Change change : {Change::store, Change::compare_swap, Change::global_atomic}) {
    nic::HardwareProfile p = primes();
    p.nic_atomic_cap = nic::AtomicCap::global;
    Rig rig(p);
    const nic::ThreadId loop = rig.system.create_thread(1);
    rig.scripts.steps.emplace_back([&](nic::Cpu& cpu) {
      if (cpu.load(rig.remote.base) == 0) return cpu.pause(7_ns);
      cpu.stop();
    });
    if (change == Change::global_atomic) {
      rig.post({rig.fetch_add(0, 0, 1)});
    } else {
      rig.system.create_thread(1, sim::SimTime{} + 1_us);
      rig.scripts.steps.emplace_back([&](nic::Cpu& cpu) {
        if (change == Change::store) cpu.store(rig.remote.base, 1);
        if (change == Change::compare_swap) CHECK(cpu.compare_swap(rig.remote.base, 0, 1) == 0);
        cpu.stop();
      });
    }
    rig.run();
    CHECK(rig.system.thread_stopped(loop));
  }
}

TEST_CASE("who waits for room in the store buffer goes on when its head has left") {
  nic::HardwareProfile p = primes();
  p.cpu_store_buffer_entries = 2;
  Rig rig(p);
  rig.system.create_thread(0);
  std::uint64_t stored = 0;
  rig.scripts.steps.emplace_back([&](nic::Cpu& cpu) {
    while (stored < 5 && !cpu.store_buffer_full()) cpu.store(rig.local.base + 8 * stored++, 1);
    if (stored == 5) return cpu.stop();
    cpu.resume_when_room();
  });
  rig.run();
  CHECK(stored == 5);
  CHECK(rig.system.now().ps == 5 * kDrain);  // one after the other, none later
}
