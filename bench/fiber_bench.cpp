// What a switch costs: into a fiber and back.
#include <benchmark/benchmark.h>

#include "sim/fiber.hpp"

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

}  // namespace
