// Bandwidth and message-rate tests: threads keep the queue pairs of host 0 full.
#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "hosts/costs.hpp"
#include "loco_sim/perf/bench.hpp"
#include "sim/ring.hpp"

namespace loco::perf {

namespace {

/// perftest's cq_mod: 100, or the size of the post list, so that a full queue pair always has a completion to come.
std::uint32_t signal_every(const Options& o) {
  constexpr std::uint32_t kSignalEvery = 100;
  if (o.signal_every != 0) return o.signal_every;
  return o.post_list > 1 ? o.post_list : std::min(kSignalEvery, o.depth);
}

constexpr std::uint64_t kMemoryMax = 64ULL << 20U;  // beyond this, queue pairs share places

std::uint64_t slots(const Options& o) { return std::clamp<std::uint64_t>(kMemoryMax / slot_size(o), 1, o.queue_pairs); }

/// What the threads of a run share.
struct Progress {
  std::vector<sim::SimTime> posted;  ///< times by message, in order
  sim::SimTime last_completion;
  std::vector<std::pair<sim::SimTime, std::uint64_t>> completed;  ///< times, with the number of messages so far
  std::uint64_t messages = 0;
};

/// Posts to a thread's queue pairs in turn, and polls when all of them are full, as in perftest.
class Poster {
 public:
  Poster(const Options& options, nic::CqId cq, Progress& progress)
      : options_(options), cq_(cq), progress_(progress), signal_every_(signal_every(options)) {}

  /// `credits`: the word in which the receiver reports how many messages it has taken; none: it does not report.
  void add(nic::QpId qp, const nic::Wqe& wqe, const nic::MemoryRegion& target, std::optional<nic::Address> credits) {
    flows_.push_back({.qp = qp, .wqe = wqe, .target = target, .credits = credits});
    flow_of_.resize(std::max<std::size_t>(flow_of_.size(), std::size_t{qp} + 1));
    flow_of_[qp] = static_cast<std::uint32_t>(flows_.size() - 1);
    with_room_.push_back(flow_of_[qp]);
  }

  [[nodiscard]] bool done() const { return done_ == flows_.size(); }
  [[nodiscard]] bool can_post() const { return !with_room_.empty(); }
  /// Returns how long the thread takes for it. Precondition: can_post().
  sim::Duration post_next(nic::Cpu& cpu) {
    const std::uint32_t index = with_room_.front();
    with_room_.pop_front();
    return post(cpu, index);
  }
  /// The same for polling; nothing if there was no completion.
  std::optional<sim::Duration> poll(nic::Cpu& cpu) {
    std::array<nic::Cqe, 16> cqes;
    const std::size_t count = cpu.poll_cq(cq_, cqes);
    for (std::size_t i = 0; i < count; ++i) take(cpu.now(), cqes[i]);
    const std::size_t looked = look_for_credits(cpu);
    if (count == 0 && !can_post()) return std::nullopt;
    const sim::Duration polled = count == 0 ? sim::Duration{} : hosts::poll_cost(cpu.profile(), count);
    return polled + cpu.profile().cpu_load * static_cast<std::int64_t>(looked);
  }

 private:
  struct Flow {
    nic::QpId qp = 0;
    nic::Wqe wqe{};
    nic::MemoryRegion target{};
    std::optional<nic::Address> credits{};
    std::uint64_t taken = 0;  ///< messages, as reported by the receiver
    std::uint32_t posted = 0;
    std::uint32_t completed = 0;
    bool listed = true;  ///< the flow is in with_room_
    bool ended = false;  ///< nothing more will be posted
  };

  [[nodiscard]] bool goes_on(const Flow& f) const { return f.posted < options_.iterations; }

  [[nodiscard]] bool has_credits(const Flow& f) const {
    return !f.credits || f.posted + options_.post_list <= f.taken + options_.rx_depth;
  }
  [[nodiscard]] bool has_place(const Flow& f) const {
    return goes_on(f) && f.posted - f.completed + options_.post_list <= options_.depth;
  }
  [[nodiscard]] bool has_room(const Flow& f) const { return has_place(f) && has_credits(f); }

  /// Returns the number of words read.
  std::size_t look_for_credits(nic::Cpu& cpu) {
    std::size_t looked = 0;
    for (std::uint32_t i = 0; i < flows_.size(); ++i) {
      Flow& f = flows_[i];
      if (f.listed || f.ended || !f.credits || has_credits(f)) continue;
      f.taken = cpu.load(*f.credits);
      ++looked;
      f.listed = has_room(f);
      if (f.listed) with_room_.push_back(i);
    }
    return looked;
  }

  sim::Duration post(nic::Cpu& cpu, std::uint32_t index) {
    Flow& f = flows_[index];
    list_.clear();
    // The last message of a queue pair is signaled, so that the test knows when all are complete.
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

/// The receiver of send_bw: polls completions and posts new receives. A receive costs cpu.post_wqe like any work
/// request, but needs no doorbell. On a reliable connection the receiver now and then WRITEs how many messages it has
/// taken, so that the sender always finds a receive (perftest's credits). Waits forever for lost messages.
class Receiver {
 public:
  Receiver(const Options& options, nic::CqId cq) : options_(options), cq_(cq) {}

  /// `credits`: the WRITE that reports the number of messages taken; with length 0 none is sent.
  void add(nic::System& system, const Endpoint& end, const nic::RecvWqe& receive, const nic::Wqe& credits) {
    for (std::uint32_t i = 0; i < options_.rx_depth; ++i) system.post_recv(end.qp, receive);
    flows_.resize(std::max<std::size_t>(flows_.size(), std::size_t{end.qp} + 1));
    flows_[end.qp] = {.receive = receive, .credits = credits, .send_cq = end.send_cq};
    left_ += options_.iterations;
  }

  [[nodiscard]] bool done() const { return left_ == 0; }
  /// Returns how long the thread takes for it; nothing if there was no completion.
  std::optional<sim::Duration> poll(nic::Cpu& cpu) {
    std::array<nic::Cqe, 1> cqe;
    if (cpu.poll_cq(cq_, cqe) == 0) return std::nullopt;
    expect_success(cqe[0]);
    --left_;
    Flow& f = flows_.at(cqe[0].qp);
    (void)cpu.post_recv(cqe[0].qp, {&f.receive, 1});
    ++f.taken;
    const bool says = f.credits.length > 0 && f.taken % std::max<std::uint32_t>(options_.rx_depth / 3, 1) == 0;
    if (says) owing_ = cqe[0].qp;
    return hosts::poll_cost(cpu.profile(), 1) + hosts::build_cost(cpu.profile());
  }
  [[nodiscard]] bool owes_credits() const { return owing_.has_value(); }
  /// Returns how long the thread takes for it. Precondition: owes_credits(), and there is room in the store buffer.
  sim::Duration give_credits(nic::Cpu& cpu) {
    const nic::HardwareProfile& p = cpu.profile();
    Flow& f = flows_.at(*owing_);
    if (!stored_) {
      cpu.store(f.credits.local, f.taken);
      stored_ = true;
      return p.cpu_store;
    }
    std::array<nic::Cqe, 16> cqes;  // of earlier ones, which frees their places
    const std::size_t count = cpu.poll_cq(f.send_cq, cqes);
    for (std::size_t i = 0; i < count; ++i) expect_success(cqes[i]);
    // If there is no room, the next one reports more.
    (void)cpu.post_send(*owing_, {&f.credits, 1});
    stored_ = false;
    owing_.reset();
    return hosts::build_cost(p) + hosts::ring_cost(p);
  }

 private:
  struct Flow {
    nic::RecvWqe receive{};
    nic::Wqe credits{};
    nic::CqId send_cq = 0;
    std::uint64_t taken = 0;
  };

  const Options& options_;
  nic::CqId cq_;
  std::vector<Flow> flows_;
  std::uint64_t left_ = 0;
  std::optional<nic::QpId> owing_;
  bool stored_ = false;  // the number of messages has been stored in the word to be written
};

/// A thread of a host. It posts, receives, or does both in turn, like perftest's only thread when both hosts send
/// (run_iter_bi): it posts as long as there is room, then polls both in turn.
class Worker {
 public:
  Poster* poster = nullptr;
  Receiver* receiver = nullptr;

  void step(nic::Cpu& cpu) {
    if (cpu.store_buffer_full()) return cpu.resume_when_room();
    if (receiver != nullptr && receiver->owes_credits()) return cpu.resume_after(receiver->give_credits(cpu));
    if (poster != nullptr && poster->can_post()) return cpu.resume_after(poster->post_next(cpu));
    const bool all_sent = poster == nullptr || poster->done();
    if (all_sent && (receiver == nullptr || receiver->done())) return cpu.stop();
    for (std::size_t i = 0; i < 2; ++i) {
      receives_next_ = !receives_next_;
      if (const auto taken = receives_next_ ? receive(cpu) : complete(cpu)) return cpu.resume_after(*taken);
    }
    cpu.pause(hosts::poll_cost(cpu.profile(), 0));
  }

 private:
  std::optional<sim::Duration> receive(nic::Cpu& cpu) const {
    return receiver == nullptr || receiver->done() ? std::nullopt : receiver->poll(cpu);
  }
  std::optional<sim::Duration> complete(nic::Cpu& cpu) const {
    return poster == nullptr || poster->done() ? std::nullopt : poster->poll(cpu);
  }

  bool receives_next_ = false;
};

/// The best rate in messages per second between the post of any message and the completion of any later one, as in
/// perftest. With more messages than perftest checks (kPeakMessages), only for stretches of a tenth of the run.
double peak_rate(const Progress& progress) {
  constexpr std::uint64_t kPeakMessages = 20'000;
  const std::uint64_t tenth = std::max<std::uint64_t>(progress.messages / 10, 1);
  const bool all = progress.messages <= kPeakMessages;
  double best = 0;
  for (const auto& [at, count] : progress.completed) {
    const std::uint64_t from = all || count < tenth ? 0 : count - tenth;
    const std::uint64_t until = all ? count : from + 1;
    for (std::uint64_t before = from; before < until; ++before) {
      const double taken = (at - progress.posted[before]).seconds();
      if (taken > 0) best = std::max(best, static_cast<double>(count - before) / taken);
    }
  }
  return best;
}

double average_rate(const Progress& progress) {
  return static_cast<double>(progress.messages) / (progress.last_completion - progress.posted.front()).seconds();
}

/// With two directions their sum, as in perftest.
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

/// The threads of both hosts.
struct Workers {
  std::array<std::vector<Worker>, 2> of;  ///< by side

  explicit Workers(const Options& o) {
    for (auto& side : of) side.resize(o.threads);
  }
};

/// Everything sent from one side to the other.
class Direction {
 public:
  Direction(Bench& bench, Side from, Workers& workers)
      : options_(bench.options()),
        from_(from),
        places_(slots(options_) * slot_size(options_)),
        local_(bench.memory(from, places_, {.relaxed_ordering = options_.relaxed_ordering})),
        remote_(bench.memory(1 - from, std::max(options_.region, places_),
                             {.device = options_.device_memory, .relaxed_ordering = options_.relaxed_ordering})) {
    if (options_.test == Test::send_bw) {
      const std::uint64_t words = std::uint64_t{kWord} * options_.queue_pairs;
      credits_ = {bench.memory(from, words), bench.memory(1 - from, words)};
    }
    posters_.reserve(options_.threads);
    receivers_.reserve(options_.threads);
    for (std::uint32_t t = 0; t < options_.threads; ++t) add_share(bench, t, workers);
  }
  Direction(const Direction&) = delete;
  Direction& operator=(const Direction&) = delete;
  [[nodiscard]] const Progress& progress() const { return progress_; }

 private:
  void add_share(Bench& bench, std::uint32_t t, Workers& workers) {
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
      const bool credits = sends && options_.connection == nic::QpType::rc;
      const std::uint64_t word = kWord * credited_++;
      poster.add(ends[0].qp, wqe, remote_,
                 credits ? std::optional(credits_[0].base + word) : std::optional<nic::Address>());
      if (!sends) continue;
      nic::Wqe says;
      says.length = credits ? kWord : 0;
      says.lkey = credits_[1].lkey;
      says.rkey = credits_[0].rkey;
      says.local = credits_[1].base + word;
      says.remote = credits_[0].base + word;
      says.inline_data = options_.profile.nic_inline_max.count >= kWord;
      receiver.add(bench.system(), ends[1],
                   {.address = remote_.base + offset,
                    .length = static_cast<std::uint32_t>(received_bytes(options_)),
                    .lkey = remote_.lkey},
                   says);
    }
    workers.of.at(from_)[t].poster = &poster;
    if (sends) workers.of.at(1 - from_)[t].receiver = &receiver;
  }

  const Options& options_;
  Side from_;
  std::uint64_t places_;
  nic::MemoryRegion local_;
  nic::MemoryRegion remote_;
  std::array<nic::MemoryRegion, 2> credits_{};  // words with the number of receives taken: of sender, of receiver
  std::uint64_t credited_ = 0;                  // number of queue pairs that have one
  Progress progress_;
  std::vector<Poster> posters_;
  std::vector<Receiver> receivers_;
};

}  // namespace

Result bandwidth(const Options& options) {
  Bench bench(options);
  Workers workers(options);
  const Direction there(bench, 0, workers);
  std::optional<Direction> back;
  if (options.bidirectional) back.emplace(bench, 1, workers);
  for (std::uint32_t t = 0; t < options.threads; ++t) {
    for (const Side side : {Side{0}, Side{1}}) {
      Worker& worker = workers.of.at(side)[t];
      if (worker.poster == nullptr && worker.receiver == nullptr) continue;
      bench.thread(side, [&worker](nic::Cpu& cpu) { worker.step(cpu); });
    }
  }
  bench.run();
  std::vector<Progress> directions = {there.progress()};
  if (back) directions.push_back(back->progress());
  return summary(bench, directions);
}

}  // namespace loco::perf
