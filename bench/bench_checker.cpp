// The trace checkers on traces of about a million subevents: eight nodes, in each round a few shared variables
// broadcast, puts and gets of the base library, and a barrier made of broadcasts, as LOCO's is. In the second trace
// each round also has, on each node, a message through a ring buffer, a mixed-size write and read, a lock taken and
// let go, and calls on a key-value store: all seven libraries are checked on it.
//
//   bench_checker --benchmark_min_time=3
//
// items_per_second is recorded subevents checked a second, with all levels each time; bytes_per_subevent is the peak of
// what the checker allocates, the trace itself not included. BM_Tower adds what each library call promises.
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
#include "tests/model/trace_builder.hpp"
#include "trace/file.hpp"

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
using namespace loco::trace;
using loco::model::test::TraceBuilder;

constexpr std::uint16_t kNodes = 8;
constexpr std::array kLibraries = {Library::rdmawait, Library::sv,   Library::bal,    Library::rbl,
                                   Library::msw,      Library::lock, Library::kvstore};

class Workload {
 public:
  explicit Workload(bool all_libraries) : b_(kNodes), all_libraries_(all_libraries) {
    std::vector<std::uint32_t> everybody;
    for (std::uint32_t n = 0; n < kNodes; ++n) everybody.push_back(n);
    barrier_.object = b_.object({"bar", everybody, true});
    all_.node_set = b_.node_set(everybody);
    for (std::uint32_t n = 0; n < kNodes; ++n) {
      rings_[n].object = b_.object({"ring", {n, (n + 1) % kNodes}, false});
      next_[n].node_set = b_.node_set({(n + 1) % kNodes});
    }
    tuple_.object = b_.object({"tuple", {}, false});
    lock_.object = b_.object({"lock", {}, false});
    store_.object = b_.object({"store", {}, false});
  }

  Trace run(std::size_t subevents) {
    while (b_.trace.subevents.size() < subevents) round();
    return std::move(b_.trace);
  }

 private:
  void round() {
    ++round_;
    for (std::uint16_t n = 0; n < kNodes; ++n) talk(n);
    for (std::uint16_t n = 0; all_libraries_ && n < kNodes; ++n) {
      message(n);
      tuple(n);
      locked_update(n);
    }
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

  /// Node n submits a message, the next node receives it and says so.
  void message(std::uint16_t n) {
    const auto reader = static_cast<std::uint16_t>((n + 1) % kNodes);
    Call submit = rings_[n];
    submit.argument = round_ * kNodes + n + 1;
    const CallId s = b_.open(n, Method::submit, submit);
    sv_read(n, kTails + 8U * n);
    sv_write(n, kCells + 8U * n, submit.argument);
    bcast_next(n, kCells + 8U * n);
    sv_write(n, kHeads + 8U * n, round_);
    bcast_next(n, kHeads + 8U * n);
    b_.close(s, 1);
    const CallId r = b_.open(reader, Method::receive, rings_[n]);
    sv_read(reader, kHeads + 8U * n);
    sv_read(reader, kCells + 8U * n);
    sv_write(reader, kTails + 8U * n, round_);
    Call back;
    back.node_set = next_[(n + kNodes - 1U) % kNodes].node_set;
    const CallId c = b_.open(reader, Method::bcast, back);
    (void)b_.put_now(reader, {n, kTails + 8U * n}, kTails + 8U * n);
    b_.close(c);
    b_.close(r, submit.argument);
  }
  void bcast_next(std::uint16_t n, std::uint64_t address) {
    const CallId c = b_.open(n, Method::bcast, next_[n]);
    (void)b_.put_now(n, {static_cast<std::uint16_t>((n + 1) % kNodes), address}, address);
    b_.close(c);
  }

  /// A tuple of a hash and two words, written and read.
  void tuple(std::uint16_t n) {
    Call write = tuple_;
    write.argument = round_ * kNodes + n + 1;
    const CallId w = b_.open(n, Method::msw_write, write);
    for (std::uint64_t word = 0; word < 3; ++word) b_.commit(b_.write(n, {n, kTuples + 8 * word}, round_ + word));
    b_.close(w);
    const CallId r = b_.open(n, Method::msw_tryread, tuple_);
    for (std::uint64_t word = 0; word < 3; ++word) (void)b_.read(n, {n, kTuples + 8 * word});
    b_.close(r, write.argument);
  }

  /// The store's key n, under the lock of the key: both are words on node 0.
  void locked_update(std::uint16_t n) {
    Call lock = lock_;
    lock.argument = n;
    const CallId a = b_.open(n, Method::acquire, lock);
    (void)b_.get_now(n, 0x600, {0, kLocks + 8U * n}, 7);
    (void)b_.wait(n, 7);
    b_.close(a);
    Call change = store_;
    change.argument = n;
    change.work_id = round_;
    const CallId u = b_.open(n, round_ == 1 ? Method::kv_insert : Method::kv_update, change);
    (void)b_.put_now(n, {0, kValues + 8U * n}, 0x608, 8);
    (void)b_.wait(n, 8);
    b_.close(u, 1);
    const CallId e = b_.open(n, Method::release, lock);
    (void)b_.put_now(n, {0, kLocks + 8U * n}, 0x600);
    b_.close(e);
    Call look = store_;
    look.argument = n;
    const CallId l = b_.open(n, Method::kv_lookup, look);
    (void)b_.get_now(n, 0x610, {0, kValues + 8U * n}, 9);
    (void)b_.wait(n, 9);
    (void)b_.read(n, {n, 0x610});
    b_.close(l, round_);
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

  static constexpr std::uint64_t kShared = 0x1000, kCounters = 0x2000, kCells = 0x3000, kHeads = 0x4000;
  static constexpr std::uint64_t kTails = 0x5000, kTuples = 0x6000, kLocks = 0x7000, kValues = 0x8000;
  TraceBuilder b_;
  bool all_libraries_;
  Call barrier_, all_, tuple_, lock_, store_;
  std::array<Call, kNodes> rings_{}, next_{};
  std::uint64_t round_ = 0;
};

const Trace& trace() {
  static const Trace kTrace = Workload(false).run(1'000'000);
  return kTrace;
}
const Trace& trace_of_all() {
  static const Trace kTrace = Workload(true).run(1'000'000);
  return kTrace;
}

void check_trace(benchmark::State& state, const Trace& t, bool expect_consistent, bool expect_stamps,
                 const CheckOptions& options = {}) {
  const std::size_t before = peak_bytes = live_bytes;
  for (auto _ : state) {
    const Verdict v = check(t, kLibraries, options);
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

void BM_CheckAllLibraries(benchmark::State& state) { check_trace(state, trace_of_all(), true, true); }
BENCHMARK(BM_CheckAllLibraries)->Unit(benchmark::kMillisecond);

void BM_Tower(benchmark::State& state) {
  CheckOptions options;
  options.tower = true;
  check_trace(state, trace(), true, true, options);
}
BENCHMARK(BM_Tower)->Unit(benchmark::kMillisecond);

/// The graph decides: somewhere in the middle a store left its buffer after a later one, and nobody saw it.
void BM_CheckOnGraph(benchmark::State& state) {
  Trace t = trace();
  const auto is_write = [&t](std::size_t i) { return t.subevents[i].stamp == Stamp::aCW; };
  const auto thread_of = [&t](std::size_t i) { return t.calls[t.subevents[i].call].thread; };
  std::size_t later = t.subevents.size() / 2;
  while (!is_write(later) || t.subevents[later].address != 0x100) ++later;
  std::size_t before = later - 1;
  while (!is_write(before) || thread_of(before) != thread_of(later)) --before;
  t.subevents[before].finish = t.subevents[later].finish + 1;
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
