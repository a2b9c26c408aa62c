// What a switch costs: into a fiber and back, and a process that sleeps.
#include <benchmark/benchmark.h>

#include "sim/fiber.hpp"
#include "sim/process.hpp"

namespace {

using loco::sim::FiberId;
using loco::sim::FiberPool;

// One item is one switch; a resume and the suspend that answers it are two.
void fiber_switch(benchmark::State& state) {
  FiberPool pool;
  const FiberId id = pool.create([&] {
    for (;;) pool.suspend();
  });
  for (auto _ : state) pool.resume(id);
  state.SetItemsProcessed(2 * state.iterations());
}
BENCHMARK(fiber_switch);

void fiber_create_run_end(benchmark::State& state) {
  FiberPool pool;
  for (auto _ : state) pool.resume(pool.create([] {}));
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(fiber_create_run_end);

// Processes that sleep in turn: an event pushed and popped and two switches each. One item is one switch.
void process_sleep(benchmark::State& state) {
  loco::sim::Simulation simulation;
  loco::sim::Processes& processes = simulation.processes();
  for (std::int64_t i = 0; i < state.range(0); ++i) {
    processes.spawn("p", [&processes, i] {
      for (;;) processes.sleep(loco::sim::Duration{1000 + i});
    });
  }
  for (auto _ : state) simulation.step();
  state.SetItemsProcessed(2 * state.iterations());
}
BENCHMARK(process_sleep)->Arg(2)->Arg(1000);

// Two processes that wake each other through conditions.
void process_ping_pong(benchmark::State& state) {
  loco::sim::Simulation simulation;
  loco::sim::Processes& processes = simulation.processes();
  loco::sim::Condition ping(processes);
  loco::sim::Condition pong(processes);
  const auto player = [&](loco::sim::Condition& mine, loco::sim::Condition& other) {
    return [&] {
      for (;;) {
        processes.wait(mine);
        other.notify_one();
      }
    };
  };
  processes.spawn("ping", player(ping, pong));
  processes.spawn("pong", player(pong, ping));
  simulation.run();
  ping.notify_one();
  for (auto _ : state) simulation.step();
  state.SetItemsProcessed(2 * state.iterations());
}
BENCHMARK(process_ping_pong);

}  // namespace
