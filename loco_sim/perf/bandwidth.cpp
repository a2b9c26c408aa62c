// Bandwidth and message-rate tests: threads keep the queue pairs of host 0 full.
#include <algorithm>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>

#include "hosts/costs.hpp"
#include "loco_sim/perf/bench.hpp"
#include "sim/ring.hpp"

namespace loco::perf {

namespace {

/// perftest's cq_mod: 100, or the size of the post list, so that a queue pair which is full has a completion to come.
std::uint32_t signal_every(const Options& o) {
  constexpr std::uint32_t kSignalEvery = 100;
  if (o.signal_every != 0) return o.signal_every;
  return o.post_list > 1 ? o.post_list : std::min(kSignalEvery, o.depth);
}

constexpr std::uint64_t kMemoryMax = 64ULL << 20U;  // beyond, queue pairs share places

std::uint64_t slots(const Options& o) { return std::clamp<std::uint64_t>(kMemoryMax / slot_size(o), 1, o.queue_pairs); }

/// What the threads of a run share.
struct Progress {
  std::vector<sim::SimTime> posted;  ///< by message, in order
  sim::SimTime last_completion;
  std::vector<std::pair<sim::SimTime, std::uint64_t>> completed;  ///< instants, messages so far
  std::uint64_t messages = 0;
};

/// A thread that posts to its queue pairs in turn and polls when all of them are full, as perftest does.
class Poster {
 public:
  Poster(const Options& options, nic::CqId cq, Progress& progress)
      : options_(options), cq_(cq), progress_(progress), signal_every_(signal_every(options)) {}

  void add(nic::QpId qp, const nic::Wqe& wqe, const nic::MemoryRegion& target) {
    flows_.push_back({.qp = qp, .wqe = wqe, .target = target});
    flow_of_.resize(std::max<std::size_t>(flow_of_.size(), std::size_t{qp} + 1));
    flow_of_[qp] = static_cast<std::uint32_t>(flows_.size() - 1);
    with_room_.push_back(flow_of_[qp]);
  }

  void step(nic::Cpu& cpu) {
    const nic::HardwareProfile& p = cpu.profile();
    if (cpu.store_buffer_full()) return cpu.resume_when_room();
    if (!with_room_.empty()) {
      const std::uint32_t index = with_room_.front();
      with_room_.pop_front();
      return cpu.resume_after(post(cpu, index));
    }
    if (done_ == flows_.size()) return cpu.stop();
    std::array<nic::Cqe, 16> cqes;
    const std::size_t count = cpu.poll_cq(cq_, cqes);
    if (count == 0) return cpu.pause(p.cpu_poll_empty);
    for (std::size_t i = 0; i < count; ++i) take(cpu.now(), cqes[i]);
    cpu.resume_after(p.cpu_poll_cqe * static_cast<std::int64_t>(count));
  }

 private:
  struct Flow {
    nic::QpId qp = 0;
    nic::Wqe wqe{};
    nic::MemoryRegion target{};
    std::uint32_t posted = 0;
    std::uint32_t completed = 0;
    bool listed = true;  ///< in with_room_
    bool ended = false;  ///< nothing more will be posted
  };

  [[nodiscard]] bool goes_on(const Flow& f) const { return f.posted < options_.iterations; }

  [[nodiscard]] bool has_room(const Flow& f) const {
    return goes_on(f) && f.posted - f.completed + options_.post_list <= options_.depth;
  }

  sim::Duration post(nic::Cpu& cpu, std::uint32_t index) {
    Flow& f = flows_[index];
    list_.clear();
    // The last one of a queue pair is signalled, so that the test knows when all are complete.
    const bool last = options_.duration.ps != 0 && cpu.now() >= sim::SimTime{} + options_.duration;
    while (list_.size() < options_.post_list && goes_on(f)) {
      ++f.posted;
      const bool end = f.posted == options_.iterations || (last && list_.size() + 1 == options_.post_list);
      f.wqe.signaled = f.posted % signal_every_ == 0 || end;
      f.wqe.wr_id = f.posted;
      if (options_.region > 0) f.wqe.remote = f.target.base + place_in_region(options_, f.qp, f.posted);
      list_.push_back(f.wqe);
    }
    perf::post(cpu, f.qp, list_);
    progress_.posted.insert(progress_.posted.end(), list_.size(), cpu.now());
    f.ended = last || f.posted == options_.iterations;
    f.listed = !f.ended && has_room(f);
    if (f.listed) with_room_.push_back(index);
    return hosts::build_cost(cpu.profile(), list_.size()) + hosts::ring_cost(cpu.profile());
  }

  void take(sim::SimTime now, const nic::Cqe& cqe) {
    expect_success(cqe);
    const std::uint32_t index = flow_of_.at(cqe.qp);
    Flow& f = flows_[index];
    const auto upto = static_cast<std::uint32_t>(cqe.wr_id);
    progress_.messages += upto - f.completed;
    f.completed = upto;
    progress_.last_completion = std::max(progress_.last_completion, now);
    progress_.completed.emplace_back(now, progress_.messages);
    if (f.ended && f.completed == f.posted) ++done_;
    if (!f.listed && !f.ended && has_room(f)) {
      f.listed = true;
      with_room_.push_back(index);
    }
  }

  const Options& options_;
  nic::CqId cq_;
  Progress& progress_;
  std::uint32_t signal_every_;
  std::vector<Flow> flows_;
  std::vector<std::uint32_t> flow_of_;
  sim::Ring<std::uint32_t> with_room_;
  std::vector<nic::Wqe> list_;
  std::size_t done_ = 0;
};

/// The receiver of send_bw: takes completions and puts receives in their place. Waits for ever for lost messages.
class Receiver {
 public:
  Receiver(const Options& options, nic::CqId cq) : options_(options), cq_(cq) {}

  void add(nic::System& system, nic::QpId qp, const nic::RecvWqe& receive) {
    for (std::uint32_t i = 0; i < options_.rx_depth; ++i) system.post_recv(qp, receive);
    receives_.resize(std::max<std::size_t>(receives_.size(), std::size_t{qp} + 1));
    receives_[qp] = receive;
    left_ += options_.iterations;
  }

  void step(nic::Cpu& cpu) {
    if (cpu.store_buffer_full()) return cpu.resume_when_room();
    if (left_ == 0) return cpu.stop();
    std::array<nic::Cqe, 1> cqe;
    if (cpu.poll_cq(cq_, cqe) == 0) return cpu.pause(cpu.profile().cpu_poll_empty);
    expect_success(cqe[0]);
    --left_;
    (void)cpu.post_recv(cqe[0].qp, {&receives_.at(cqe[0].qp), 1});
    cpu.resume_after(cpu.profile().cpu_poll_cqe);
  }

 private:
  const Options& options_;
  nic::CqId cq_;
  std::vector<nic::RecvWqe> receives_;
  std::uint64_t left_ = 0;
};

/// The best tenth of a run, in messages a second: from the post of its first message to the completion of its last, as
/// perftest takes it. When `count` messages are complete and fewer had been posted before, the others have crossed
/// since.
double peak_rate(const Progress& progress) {
  const std::uint64_t tenth = std::max<std::uint64_t>(progress.messages / 10, 1);
  double best = 0;
  for (const auto& [at, count] : progress.completed) {
    const std::uint64_t before = count < tenth ? 0 : count - tenth;
    const double taken = (at - progress.posted[before]).seconds();
    if (taken > 0) best = std::max(best, static_cast<double>(count - before) / taken);
  }
  return best;
}

double average_rate(const Progress& progress) {
  return static_cast<double>(progress.messages) / (progress.last_completion - progress.posted.front()).seconds();
}

/// Of both directions, if there are two: their sum, as perftest has it.
Result summary(Bench& bench, std::span<const Progress> directions) {
  const Options& o = bench.options();
  const auto size = static_cast<double>(o.size);
  Result result{.size = o.size};
  double peak = 0;
  sim::SimTime first = directions.front().posted.front();
  sim::SimTime last{};
  for (const Progress& one : directions) {
    first = std::min(first, one.posted.front());
    last = std::max(last, one.last_completion);
  }
  result.busiest = bench.system().usage(last - first, kBusiestMax);
  for (std::size_t i = 0; i < directions.size(); ++i) {
    result.iterations += directions[i].messages;
    result.rate += average_rate(directions[i]);
    result.sent.at(i) = average_rate(directions[i]) * size;
    peak += peak_rate(directions[i]) * size;
  }
  result.average = result.rate * size;
  result.peak = std::max(peak, result.average);
  result.cache_misses = bench.system().counters().cache_misses;
  return result;
}

/// The threads of one direction, from a node to the other.
class Direction {
 public:
  Direction(Bench& bench, Side from)
      : options_(bench.options()),
        from_(from),
        places_(slots(options_) * slot_size(options_)),
        local_(bench.memory(from, places_, {.relaxed_ordering = options_.relaxed_ordering})),
        remote_(bench.memory(1 - from, std::max(options_.region, places_),
                             {.device = options_.device_memory, .relaxed_ordering = options_.relaxed_ordering})) {
    posters_.reserve(options_.threads);
    receivers_.reserve(options_.threads);
    for (std::uint32_t t = 0; t < options_.threads; ++t) add_thread(bench, t);
  }
  Direction(const Direction&) = delete;
  Direction& operator=(const Direction&) = delete;
  [[nodiscard]] const Progress& progress() const { return progress_; }

 private:
  void add_thread(Bench& bench, std::uint32_t t) {
    const bool sends = options_.test == Test::send_bw;
    const std::uint32_t share = options_.queue_pairs / options_.threads + (t < options_.queue_pairs % options_.threads);
    const nic::CqId send_cq = bench.create_cq(from_, share * (options_.depth + 1));
    const nic::CqId recv_cq = bench.create_cq(1 - from_, share * (options_.rx_depth + 1));
    Poster& poster = posters_.emplace_back(options_, send_cq, progress_);
    Receiver& receiver = receivers_.emplace_back(options_, recv_cq);
    for (std::uint32_t i = 0; i < share; ++i) {
      const auto ends = bench.connect(options_.depth, send_cq, recv_cq, from_, options_.rx_depth);
      const std::uint64_t offset = (ends[0].qp / 2) % slots(options_) * slot_size(options_);
      nic::Wqe wqe = message(options_, ends[0].peer);
      wqe.lkey = local_.lkey;
      wqe.rkey = remote_.rkey;
      wqe.local = local_.base + offset;
      wqe.remote = remote_.base + offset;
      poster.add(ends[0].qp, wqe, remote_);
      if (sends) {
        receiver.add(bench.system(), ends[1].qp,
                     {.address = remote_.base + offset,
                      .length = static_cast<std::uint32_t>(received_bytes(options_)),
                      .lkey = remote_.lkey});
      }
    }
    bench.thread(from_, [&poster](nic::Cpu& cpu) { poster.step(cpu); });
    if (sends) bench.thread(1 - from_, [&receiver](nic::Cpu& cpu) { receiver.step(cpu); });
  }

  const Options& options_;
  Side from_;
  std::uint64_t places_;
  nic::MemoryRegion local_;
  nic::MemoryRegion remote_;
  Progress progress_;
  std::vector<Poster> posters_;
  std::vector<Receiver> receivers_;
};

}  // namespace

Result bandwidth(const Options& options) {
  Bench bench(options);
  Direction there(bench, 0);
  std::optional<Direction> back;
  if (options.bidirectional) back.emplace(bench, 1);
  bench.run();
  std::vector<Progress> directions = {there.progress()};
  if (back) directions.push_back(back->progress());
  return summary(bench, directions);
}

}  // namespace loco::perf
