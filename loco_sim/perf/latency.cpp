// Latency tests: ping-pongs and round trips between one thread on each host.
#include <algorithm>

#include "hosts/costs.hpp"
#include "loco_sim/perf/bench.hpp"

namespace loco::perf {

namespace {

std::uint64_t rounded(std::uint64_t size) { return (size + kWord - 1) / kWord * kWord; }
std::uint64_t whole_pages(std::uint64_t size) { return (size + kPage - 1) / kPage * kPage; }

/// Samples are distances between posts, divided by `parts`; as in perftest there is one fewer than messages.
Result latency(Bench& bench, const std::vector<sim::SimTime>& posts, std::int64_t parts) {
  const Options& o = bench.options();
  Result result{.size = o.size, .iterations = o.iterations};
  std::vector<std::int64_t> samples;
  const std::size_t count = std::min<std::size_t>(posts.size(), std::max<std::size_t>(o.iterations, 2));
  for (std::size_t i = 1; i < count; ++i) samples.push_back((posts[i] - posts[i - 1]).ps / parts);
  summarise(std::move(samples), result);
  result.cache_misses = bench.system().counters().cache_misses;
  return result;
}

constexpr std::uint32_t kLatencyDepth = 64;

/// The send queue of one side of a ping-pong. Now and then a message requests a completion, which is polled before
/// anything else and frees the places of earlier messages (perftest's cq_mod).
class SendQueue {
 public:
  explicit SendQueue(const Endpoint& end) : end_(end) {}
  [[nodiscard]] bool reaping() const { return reaping_; }

  void post(nic::Cpu& cpu, nic::Wqe wqe) {
    constexpr std::uint32_t kSignalEvery = kLatencyDepth / 2;
    wqe.signaled = reaping_ = ++posted_ % kSignalEvery == 0;
    perf::post(cpu, end_.qp, {&wqe, 1});
  }
  /// One step of the thread.
  void reap(nic::Cpu& cpu) {
    std::array<nic::Cqe, 1> cqe;
    if (cpu.poll_cq(end_.send_cq, cqe) == 0) return cpu.pause(hosts::poll_cost(cpu.profile(), 0));
    expect_success(cqe[0]);
    reaping_ = false;
    cpu.resume_after(hosts::poll_cost(cpu.profile(), 1));
  }

 private:
  Endpoint end_;
  std::uint32_t posted_ = 0;
  bool reaping_ = false;
};

/// One side of write_lat: waits for the other's message, sets the last byte of its own, posts it.
class WriteSide {
 public:
  struct Place {
    Endpoint end{};
    nic::MemoryRegion mine{};
    nic::MemoryRegion theirs{};
    bool first = false;  ///< it posts before it waits
  };
  WriteSide(const Options& options, const Place& place, std::vector<sim::SimTime>* posts)
      : options_(options), place_(place), queue_(place.end), posts_(posts), waiting_(!place.first) {
    wqe_ = message(options, place.end.peer);
    wqe_.lkey = place.mine.lkey;
    wqe_.rkey = place.theirs.rkey;
    wqe_.local = place.mine.base;
    wqe_.remote = place.theirs.base + incoming();
  }

  void step(nic::Cpu& cpu) {
    const nic::HardwareProfile& p = cpu.profile();
    if (queue_.reaping()) return queue_.reap(cpu);
    if (waiting_) {
      const std::uint64_t last = options_.size - 1;
      const std::uint64_t word = cpu.load(place_.mine.base + incoming() + last / kWord * kWord);
      const auto byte = static_cast<std::uint8_t>(word >> (last % kWord * 8));
      if (byte != static_cast<std::uint8_t>(place_.first ? round_ : round_ + 1)) return cpu.pause(p.cpu_load);
      waiting_ = false;
      return cpu.resume_after(p.cpu_load + copy_time(options_));
    }
    if (!stored_) {
      if (round_ == options_.iterations) {
        if (posts_ != nullptr) posts_->push_back(cpu.now());
        return cpu.stop();
      }
      ++round_;
      const std::uint64_t value = (round_ & 0xffU) * 0x0101010101010101U;
      cpu.store(place_.mine.base + (options_.size - 1) / kWord * kWord, value);
      stored_ = true;
      if (posts_ != nullptr) posts_->push_back(cpu.now());
      return cpu.resume_after(p.cpu_store + hosts::build_cost(p) + copy_time(options_));
    }
    if (cpu.store_buffer_full()) return cpu.resume_when_room();
    queue_.post(cpu, wqe_);
    stored_ = false;
    waiting_ = true;
    if (!place_.first && round_ == options_.iterations) return cpu.stop();
    return cpu.resume_after(hosts::ring_cost(p));
  }

 private:
  [[nodiscard]] std::uint64_t incoming() const { return whole_pages(options_.size); }

  Options options_;
  Place place_;
  SendQueue queue_;
  std::vector<sim::SimTime>* posts_;
  nic::Wqe wqe_;
  std::uint64_t round_ = 0;
  bool waiting_;
  bool stored_ = false;
};

/// One side of send_lat: waits for a receive completion, posts a new receive, sends.
class SendSide {
 public:
  SendSide(const Options& options, const Endpoint& end, const nic::MemoryRegion& mine, bool first,
           std::vector<sim::SimTime>* posts)
      : options_(options), end_(end), queue_(end), posts_(posts), waiting_(!first), first_(first) {
    wqe_ = message(options, end.peer);
    wqe_.lkey = mine.lkey;
    wqe_.local = mine.base;
    receive_ = {.address = mine.base + whole_pages(options.size),
                .length = static_cast<std::uint32_t>(received_bytes(options)),
                .lkey = mine.lkey};
  }
  [[nodiscard]] const nic::RecvWqe& receive() const { return receive_; }

  void step(nic::Cpu& cpu) {
    const nic::HardwareProfile& p = cpu.profile();
    if (queue_.reaping()) return queue_.reap(cpu);
    if (waiting_) {
      std::array<nic::Cqe, 1> cqe;
      if (cpu.poll_cq(end_.recv_cq, cqe) == 0) return cpu.pause(hosts::poll_cost(p, 0));
      expect_success(cqe[0]);
      waiting_ = false;
      taken_ = true;
      return cpu.resume_after(hosts::poll_cost(p, 1) + copy_time(options_));
    }
    if (!built_) {
      if (posts_ != nullptr) posts_->push_back(cpu.now());
      if (round_ == options_.iterations) return cpu.stop();
      ++round_;
      built_ = true;
      return cpu.resume_after(hosts::build_cost(p) + copy_time(options_));
    }
    if (cpu.store_buffer_full()) return cpu.resume_when_room();
    if (!posted_) {
      queue_.post(cpu, wqe_);
      posted_ = true;
      if (cpu.store_buffer_full()) return cpu.resume_when_room();
    }
    // The receive for the message after next is posted while this one is in flight.
    if (taken_) (void)cpu.post_recv(end_.qp, {&receive_, 1});
    built_ = taken_ = posted_ = false;
    waiting_ = true;
    if (!first_ && round_ == options_.iterations) return cpu.stop();
    return cpu.resume_after(hosts::ring_cost(p));
  }

 private:
  Options options_;
  Endpoint end_;
  SendQueue queue_;
  std::vector<sim::SimTime>* posts_;
  nic::Wqe wqe_;
  nic::RecvWqe receive_;
  std::uint64_t round_ = 0;
  bool waiting_;
  bool first_;
  bool built_ = false;
  bool posted_ = false;
  bool taken_ = false;
};

std::array<Endpoint, 2> connect_one(Bench& bench) {
  const nic::CqId sends = bench.create_cq(0, 2 * kLatencyDepth);
  const nic::CqId receives = bench.create_cq(1, 2 * kLatencyDepth);
  return bench.connect(kLatencyDepth, sends, receives);
}

}  // namespace

Result one_sided_ping_pong(const Options& options) {
  Bench bench(options);
  const std::uint64_t half = whole_pages(options.size);
  const nic::MemoryRegion local = bench.memory(0, 2 * half);
  const nic::MemoryRegion remote = bench.memory(1, 2 * half);
  const auto ends = connect_one(bench);
  std::vector<sim::SimTime> posts;
  WriteSide ping(options, {.end = ends[0], .mine = local, .theirs = remote, .first = true}, &posts);
  WriteSide pong(options, {.end = ends[1], .mine = remote, .theirs = local, .first = false}, nullptr);
  bench.thread(0, [&](nic::Cpu& cpu) { ping.step(cpu); });
  bench.thread(1, [&](nic::Cpu& cpu) { pong.step(cpu); });
  bench.run();
  return latency(bench, posts, 2);
}

Result send_ping_pong(const Options& options) {
  Bench bench(options);
  const std::uint64_t bytes = whole_pages(options.size) + rounded(received_bytes(options));
  const nic::MemoryRegion local = bench.memory(0, bytes);
  const nic::MemoryRegion remote = bench.memory(1, bytes);
  const auto ends = connect_one(bench);
  std::vector<sim::SimTime> posts;
  SendSide ping(options, ends[0], local, true, &posts);
  SendSide pong(options, ends[1], remote, false, nullptr);
  constexpr int kReceives = 16;
  for (int i = 0; i < kReceives; ++i) {
    bench.system().post_recv(ends[0].qp, ping.receive());
    bench.system().post_recv(ends[1].qp, pong.receive());
  }
  bench.thread(0, [&](nic::Cpu& cpu) { ping.step(cpu); });
  bench.thread(1, [&](nic::Cpu& cpu) { pong.step(cpu); });
  bench.run();
  return latency(bench, posts, 2);
}

Result round_trips(const Options& options) {
  Bench bench(options);
  const nic::MemoryRegion local = bench.memory(0, rounded(options.size));
  const nic::MemoryRegion remote =
      bench.memory(1, std::max(options.region, rounded(options.size)), {.device = options.device_memory});
  const auto ends = connect_one(bench);
  nic::Wqe wqe = message(options, ends[0].peer);
  wqe.lkey = local.lkey;
  wqe.rkey = remote.rkey;
  wqe.local = local.base;
  wqe.remote = remote.base;
  std::vector<sim::SimTime> posts;
  enum class Phase { build, post, poll } phase = Phase::build;
  bench.thread(0, [&](nic::Cpu& cpu) {
    const nic::HardwareProfile& p = cpu.profile();
    std::array<nic::Cqe, 1> cqe;
    switch (phase) {
      case Phase::build:
        posts.push_back(cpu.now());
        if (posts.size() == std::size_t{options.iterations} + 1) return cpu.stop();
        if (options.region > 0) wqe.remote = remote.base + place_in_region(options, ends[0].qp, posts.size());
        phase = Phase::post;
        return cpu.resume_after(hosts::build_cost(p));
      case Phase::post:
        post(cpu, ends[0].qp, {&wqe, 1});
        phase = Phase::poll;
        return cpu.resume_after(hosts::ring_cost(p));
      case Phase::poll:
        if (cpu.poll_cq(ends[0].send_cq, cqe) == 0) return cpu.pause(hosts::poll_cost(p, 0));
        expect_success(cqe[0]);
        phase = Phase::build;
        return cpu.resume_after(hosts::poll_cost(p, 1));
    }
  });
  bench.run();
  return latency(bench, posts, 1);
}

}  // namespace loco::perf
