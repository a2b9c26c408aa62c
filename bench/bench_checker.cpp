// The trace checkers on a trace of about a million subevents: eight nodes, in each round a few shared variables
// broadcast, puts and gets of the base library, and a barrier made of broadcasts, as LOCO's is.
//
//   bench_checker --benchmark_min_time=3
//
// items_per_second is recorded subevents checked a second, with all three levels (rdmawait, sv, bal) each time;
// bytes_per_subevent is the peak of what the checker allocates, the trace itself not included.
#include <algorithm>
#include <array>
#include <benchmark/benchmark.h>
#include <cstdint>
#include <cstdlib>
#include <malloc.h>
#include <new>
#include <stdexcept>
#include <vector>

#include "model/check.hpp"
#include "model/trace_io.hpp"
#include "tests/model/trace_builder.hpp"

namespace {
std::size_t live_bytes = 0;
std::size_t peak_bytes = 0;
}  // namespace

void* operator new(std::size_t size) {
  void* p = std::malloc(size);
  if (p == nullptr) throw std::bad_alloc();
  live_bytes += malloc_usable_size(p);
  peak_bytes = std::max(peak_bytes, live_bytes);
  return p;
}
void operator delete(void* p) noexcept {
  live_bytes -= malloc_usable_size(p);
  std::free(p);
}
void operator delete(void* p, std::size_t /*size*/) noexcept { operator delete(p); }

namespace {

using namespace loco::model;
using loco::model::test::TraceBuilder;

constexpr std::uint16_t kNodes = 8;
constexpr std::array kLibraries = {Library::rdmawait, Library::sv,   Library::bal,    Library::rbl,
                                   Library::msw,      Library::lock, Library::kvstore};

class Workload {
 public:
  Workload() : b_(kNodes) {
    std::vector<std::uint32_t> everybody;
    for (std::uint32_t n = 0; n < kNodes; ++n) everybody.push_back(n);
    barrier_.object = b_.object({"bar", everybody, true});
    all_.node_set = b_.node_set(everybody);
  }

  Trace run(std::size_t subevents) {
    while (b_.trace.subevents.size() < subevents) round();
    return std::move(b_.trace);
  }

 private:
  void round() {
    ++round_;
    for (std::uint16_t n = 0; n < kNodes; ++n) talk(n);
    std::array<CallId, kNodes> barriers{};
    for (std::uint16_t n = 0; n < kNodes; ++n) {
      barriers[n] = b_.open(n, Method::barrier, barrier_);
      fence(n);
      sv_write(n, kCounters + 8U * n, round_);
      bcast(n, kCounters + 8U * n, 2);
    }
    for (std::uint16_t n = 0; n < kNodes; ++n) {
      for (std::uint16_t other = 0; other < kNodes; ++other) sv_read(n, kCounters + 8U * other);
      b_.close(barriers[n]);
    }
  }

  /// One node's own traffic: base operations with its neighbour, and a broadcast that is waited for.
  void talk(std::uint16_t n) {
    const auto next = static_cast<std::uint16_t>((n + 1) % kNodes);
    b_.commit(b_.write(n, {n, 0x100}, round_));
    (void)b_.put_now(n, {next, 0x200}, 0x100, 1);
    (void)b_.get_now(n, 0x300, {next, 0x100}, 1);
    (void)b_.wait(n, 1);
    (void)b_.read(n, {n, 0x300});
    sv_write(n, kShared + 8U * n, round_);
    bcast(n, kShared + 8U * n, 3);
    Call wait;
    wait.work_id = 3;
    const CallId c = b_.open(n, Method::sv_wait, wait);
    (void)b_.wait(n, 3);
    b_.close(c);
    sv_read(n, kShared + 8U * next);
  }

  void fence(std::uint16_t n) {
    const CallId c = b_.open(n, Method::gf, all_);
    for (std::uint16_t to = 0; to < kNodes; ++to)
      if (to != n) (void)b_.get_now(n, 0x400, {to, 0x500}, 4);
    (void)b_.wait(n, 4);
    b_.close(c);
  }

  void bcast(std::uint16_t n, std::uint64_t address, std::uint64_t d) {
    Call fields = all_;
    fields.work_id = d;
    const CallId c = b_.open(n, Method::bcast, fields);
    for (std::uint16_t to = 0; to < kNodes; ++to)
      if (to != n) (void)b_.put_now(n, {to, address}, address, d);
    b_.close(c);
  }
  void sv_write(std::uint16_t n, std::uint64_t address, std::uint64_t value) {
    const CallId c = b_.open(n, Method::sv_write);
    b_.commit(b_.write(n, {n, address}, value));
    b_.close(c);
  }
  void sv_read(std::uint16_t n, std::uint64_t address) {
    const CallId c = b_.open(n, Method::sv_read);
    (void)b_.read(n, {n, address});
    b_.close(c);
  }

  static constexpr std::uint64_t kShared = 0x1000, kCounters = 0x2000;
  TraceBuilder b_;
  Call barrier_, all_;
  std::uint64_t round_ = 0;
};

const Trace& trace() {
  static const Trace kTrace = Workload().run(1'000'000);
  return kTrace;
}

void check_trace(benchmark::State& state, const Trace& t, bool expect_consistent, bool expect_stamps) {
  const std::size_t before = peak_bytes = live_bytes;
  for (auto _ : state) {
    const Verdict v = check(t, kLibraries);
    if (v.consistent() != expect_consistent || v.results[0].by_stamps != expect_stamps)
      throw std::logic_error("unexpected verdict:\n" + v.to_text());
  }
  const auto subevents = static_cast<double>(t.subevents.size());
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()) *
                          static_cast<std::int64_t>(t.subevents.size()));
  state.counters["bytes_per_subevent"] = static_cast<double>(peak_bytes - before) / subevents;
}

void BM_Check(benchmark::State& state) { check_trace(state, trace(), true, true); }
BENCHMARK(BM_Check)->Unit(benchmark::kMillisecond);

/// The graph decides: somewhere in the middle two writes reached memory in the wrong order, and nobody saw it.
void BM_CheckOnGraph(benchmark::State& state) {
  Trace t = trace();
  std::size_t at = t.subevents.size() / 2;
  while (t.subevents[at].stamp != Stamp::aCW || t.subevents[at].address != 0x100) ++at;
  t.subevents[at].start = t.subevents[at].finish = 1;  // earlier than the write before it
  check_trace(state, t, true, false);
}
BENCHMARK(BM_CheckOnGraph)->Unit(benchmark::kMillisecond);

void BM_Encode(benchmark::State& state) {
  std::size_t size = 0;
  for (auto _ : state) size = encode_trace(trace()).size();
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()) *
                          static_cast<std::int64_t>(trace().subevents.size()));
  state.counters["bytes_per_subevent"] = static_cast<double>(size) / static_cast<double>(trace().subevents.size());
}
BENCHMARK(BM_Encode)->Unit(benchmark::kMillisecond);

void BM_Decode(benchmark::State& state) {
  const std::string bytes = encode_trace(trace());
  for (auto _ : state) benchmark::DoNotOptimize(decode_trace(bytes));
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()) *
                          static_cast<std::int64_t>(trace().subevents.size()));
}
BENCHMARK(BM_Decode)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
