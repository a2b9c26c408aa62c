// The event queue under the hold model (Jones, "An empirical comparison of priority-queue and event-set
// implementations", CACM 1986): take the earliest event out, put one back a random time later. Beside it
// std::priority_queue over the 32-byte event with its sequence, which can neither cancel nor pick at random.
#include <benchmark/benchmark.h>
#include <cstdint>
#include <queue>
#include <vector>

#include "sim/event_queue.hpp"
#include "sim/rng.hpp"

namespace {

using loco::sim::Duration;
using loco::sim::Event;
using loco::sim::EventHandle;
using loco::sim::EventQueue;
using loco::sim::Stream;

// Increments are drawn beforehand, so that both queues are timed and not the generator.
class Increments {
 public:
  Increments() {
    Stream stream(1, "bench");
    for (auto& value : values_) value = static_cast<std::int64_t>(stream.below(2'000'000));
  }
  Duration next() { return {values_[i_++ & (kCount - 1)]}; }

 private:
  static constexpr std::size_t kCount = 1U << 14U;
  std::vector<std::int64_t> values_ = std::vector<std::int64_t>(kCount);
  std::size_t i_ = 0;
};

void event_queue_hold(benchmark::State& state) {
  EventQueue queue;
  Increments increments;
  for (std::int64_t i = 0; i < state.range(0); ++i) queue.push({.at = {increments.next().ps}});
  for (auto _ : state) {
    Event event = queue.pop_earliest();
    event.at += increments.next();
    queue.push(event);
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(event_queue_hold)->Arg(1)->Arg(12)->Arg(24)->Arg(100)->Arg(10'000)->Arg(1'000'000);

struct Entry {
  std::int64_t at;
  std::uint64_t sequence;
  std::uint64_t a;
  std::uint64_t b;
  bool operator<(const Entry& o) const { return at != o.at ? at > o.at : sequence > o.sequence; }
};
static_assert(sizeof(Entry) == 32);

void std_priority_queue_hold(benchmark::State& state) {
  std::priority_queue<Entry> queue;
  Increments increments;
  std::uint64_t sequence = 0;
  for (std::int64_t i = 0; i < state.range(0); ++i) queue.push({increments.next().ps, sequence++, 0, 0});
  for (auto _ : state) {
    Entry entry = queue.top();
    queue.pop();
    entry.at += increments.next().ps;
    entry.sequence = sequence++;
    queue.push(entry);
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(std_priority_queue_hold)->Arg(1)->Arg(12)->Arg(24)->Arg(100)->Arg(10'000)->Arg(1'000'000);

// Every event sets a timer far ahead and the next one cancels it: what retransmission timers do.
void event_queue_timer_cancelled(benchmark::State& state) {
  EventQueue queue;
  Increments increments;
  for (std::int64_t i = 0; i < state.range(0); ++i) queue.push({.at = {increments.next().ps}});
  EventHandle timer;
  for (auto _ : state) {
    Event event = queue.pop_earliest();
    queue.cancel(timer);
    timer = queue.push({.at = event.at + Duration{100'000'000}});
    event.at += increments.next();
    queue.push(event);
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(event_queue_timer_cancelled)->Arg(10'000);

void event_queue_random_pick(benchmark::State& state) {
  EventQueue queue;
  Stream stream(2, "bench");
  Increments increments;
  for (std::int64_t i = 0; i < state.range(0); ++i) queue.push({.at = {increments.next().ps}});
  for (auto _ : state) {
    Event event = queue.pop(stream.below(queue.size()));
    event.at += increments.next();
    queue.push(event);
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(event_queue_random_pick)->Arg(100)->Arg(10'000);

// What exploration pays for a branch, besides the rest of the state.
void event_queue_copy(benchmark::State& state) {
  EventQueue queue;
  for (std::int64_t i = 0; i < state.range(0); ++i) queue.push({.at = {i}});
  for (auto _ : state) {
    EventQueue copy = queue;
    benchmark::DoNotOptimize(copy.size());
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(event_queue_copy)->Arg(30);

}  // namespace
