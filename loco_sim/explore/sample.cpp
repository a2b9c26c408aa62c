#include <map>

#include "loco_sim/explore/explore.hpp"
#include "sim/rng.hpp"

namespace loco::explore {

namespace {

using model::litmus::Outcome;

/// What a run did: which pending event ran, step by step, and at which steps there was a choice.
struct Schedule {
  std::vector<std::uint32_t> picks;
  std::vector<std::uint64_t> agents;  // by step
  std::vector<std::uint32_t> branches;
};

/// Picks the next pending event so that rare orders become common.
///
/// A run follows the probabilistic concurrency testing of Burckhardt, Kothari, Musuvathi, Nagarakatte (ASPLOS 2010),
/// with hardware in the place of threads: each agent (a thread; one kind of step of one component for one operation)
/// gets a random priority, and the most urgent pending event runs; at random points the running agent drops behind
/// all others. Some parts are thus starved for long stretches, as under delays of {none, nominal, 100 times nominal}.
/// Three runs in four pick uniformly instead. Of the runs that leave an earlier one, three in four hold back what ran
/// there until nothing else can, and two of these let everything else go on as it did: one step that comes very late is
/// what the rarest outcomes need.
class Scheduler {
 public:
  Scheduler(const Machine& machine, std::uint64_t seed) : machine_(machine), stream_(seed, "explore/sample") {}

  void begin_run() {
    constexpr std::uint64_t kDropEvery[] = {4, 8, 16, 48};  // steps, on average: a litmus run takes some dozens
    drop_every_ = kDropEvery[stream_.below(4)];
    uniform_ = stream_.below(4) != 0;
    // Most runs spend no choice on steps whose order makes no difference; one in sixteen leaves nothing out.
    reduce_ = stream_.below(16) != 0;
    agents_.clear();
    lowest_ = kMiddle;
    schedule_.picks.clear();
    schedule_.agents.clear();
    schedule_.branches.clear();
    guide_ = nullptr;
    replayed_ = 0;
    leave_ = kNever;
    holds_ = false;
    held_ = kNobody;
  }
  /// As an earlier run until one of its branches, where it takes another way. `like` outlives the run.
  void begin_run(const Schedule& like) {
    begin_run();
    if (like.branches.empty()) return;
    const std::uint64_t branch = stream_.below(like.branches.size());
    const auto until = [](const auto& from, std::size_t n) { return from.begin() + static_cast<std::ptrdiff_t>(n); };
    leave_ = like.branches[branch];
    not_again_ = like.picks[leave_];
    holds_ = stream_.below(4) != 0;
    if (holds_ && stream_.below(3) != 0) guide_ = &like;
    guided_ = leave_ + 1;
    schedule_.picks.assign(like.picks.begin(), until(like.picks, leave_));
    schedule_.agents.assign(like.agents.begin(), until(like.agents, leave_));
    schedule_.branches.assign(like.branches.begin(), until(like.branches, branch));
  }

  std::size_t pick(const Configuration& c) {
    if (replayed_ < schedule_.picks.size()) return schedule_.picks[replayed_++];
    const std::size_t chosen = choose(c);
    schedule_.picks.push_back(static_cast<std::uint32_t>(chosen));
    schedule_.agents.push_back(key(c.system.pending_event(chosen)));
    ++replayed_;
    return chosen;
  }

  [[nodiscard]] const Schedule& schedule() const { return schedule_; }
  [[nodiscard]] std::uint64_t below(std::uint64_t n) { return stream_.below(n); }

 private:
  static constexpr std::uint64_t kMiddle = std::uint64_t{1} << 63U;
  struct Agent {
    std::uint64_t key;
    std::uint64_t priority;
  };

  std::size_t choose(const Configuration& c) {
    const nic::System& system = c.system;
    const std::size_t pending = system.pending_events();
    if (replayed_ == leave_ && holds_) held_ = key(system.pending_event(not_again_));
    if (reduce_ && replayed_ != leave_) {
      for (std::size_t i = 0; i < pending; ++i) {
        if (machine_.commutes(c, i)) return i;
      }
    }
    if (pending == 1) return 0;
    schedule_.branches.push_back(static_cast<std::uint32_t>(replayed_));
    if (guide_ != nullptr) {
      if (const std::size_t i = next_of_guide(system); i != kNever) return i;
    }
    if (replayed_ == leave_) return (not_again_ + 1 + stream_.below(pending - 1)) % pending;
    if (uniform_) return any_but_held(system);
    std::size_t chosen = 0;
    std::size_t running = 0;
    std::uint64_t best = 0;
    for (std::size_t i = 0; i < pending; ++i) {
      const std::size_t agent = find(system.pending_event(i));
      if (agents_[agent].priority < best || agents_[agent].key == held_) continue;
      best = agents_[agent].priority;
      chosen = i;
      running = agent;
    }
    if (stream_.below(drop_every_) == 0) agents_[running].priority = --lowest_;
    return chosen;
  }

  /// What ran next in the run that is followed, of what can run now and is not held back.
  std::size_t next_of_guide(const nic::System& system) {
    const std::size_t pending = system.pending_events();
    for (; guided_ < guide_->agents.size(); ++guided_) {
      const std::uint64_t wanted = guide_->agents[guided_];
      if (wanted == held_) continue;
      for (std::size_t i = 0; i < pending; ++i) {
        if (key(system.pending_event(i)) != wanted) continue;
        ++guided_;
        return i;
      }
    }
    return kNever;
  }

  /// Uniformly among what is not held back, if there is any such event.
  std::size_t any_but_held(const nic::System& system) {
    const std::size_t pending = system.pending_events();
    const std::size_t first = stream_.below(pending);
    if (held_ == kNobody || key(system.pending_event(first)) != held_) return first;
    std::size_t others = 0;
    for (std::size_t i = 0; i < pending; ++i) others += key(system.pending_event(i)) != held_ ? 1U : 0U;
    if (others == 0) return first;
    std::size_t n = stream_.below(others);
    for (std::size_t i = 0; i < pending; ++i) {
      if (key(system.pending_event(i)) != held_ && n-- == 0) return i;
    }
    return first;
  }

  static std::uint64_t key(const sim::Event& e) {
    return std::uint64_t{e.what} << 48U | std::uint64_t{e.where} << 16U | (e.a & 0xffffU);
  }
  std::size_t find(const sim::Event& e) {
    const std::uint64_t wanted = key(e);
    for (std::size_t i = 0; i < agents_.size(); ++i) {
      if (agents_[i].key == wanted) return i;
    }
    agents_.push_back({wanted, kMiddle | stream_()});
    return agents_.size() - 1;
  }

  const Machine& machine_;
  sim::Stream stream_;
  bool reduce_ = false;
  bool uniform_ = false;
  std::vector<Agent> agents_;
  std::uint64_t drop_every_ = 1;
  std::uint64_t lowest_ = kMiddle;
  static constexpr std::size_t kNever = ~std::size_t{0};
  Schedule schedule_;
  std::size_t replayed_ = 0;     // steps of this run so far
  std::size_t leave_ = kNever;   // the step at which an earlier run is left
  std::uint32_t not_again_ = 0;  // what that run did then
  static constexpr std::uint64_t kNobody = ~std::uint64_t{0};
  const Schedule* guide_ = nullptr;  // the run whose order is kept,
  std::size_t guided_ = 0;           // from this step on
  bool holds_ = false;               // that is held back from then on
  std::uint64_t held_ = kNobody;     // its agent
};

/// What was seen, and for each outcome a schedule that led to it.
class Seen {
 public:
  void add(const Outcome& outcome, Scheduler& scheduler) {
    const auto [at, fresh] = index_.try_emplace(outcome, entries_.size());
    if (fresh) entries_.emplace_back();
    Entry& e = entries_[at->second];
    ++e.times;
    if (fresh || scheduler.below(2) == 0) e.schedule = scheduler.schedule();
  }
  /// A new run, or (seven in eight) one that leaves an earlier run at a random branch: outcomes count alike, however
  /// rare, so that what is near a rare outcome is looked at as often as what is near a common one.
  void begin_run(Scheduler& scheduler) const {
    if (entries_.empty() || scheduler.below(8) == 0) return scheduler.begin_run();
    scheduler.begin_run(entries_[scheduler.below(entries_.size())].schedule);
  }
  [[nodiscard]] std::vector<SampleResult::Seen> result() const {
    std::vector<SampleResult::Seen> all;
    for (const auto& [outcome, i] : index_) all.push_back({outcome, entries_[i].times});
    return all;
  }

 private:
  struct Entry {
    std::uint64_t times = 0;
    Schedule schedule;
  };
  std::map<Outcome, std::size_t> index_;
  std::vector<Entry> entries_;
};

}  // namespace

SampleResult sample(const Machine& machine, std::uint64_t runs, std::uint64_t seed) {
  SampleResult result;
  result.runs = runs;
  Seen seen;
  Configuration c = machine.initial();
  Scheduler scheduler(machine, seed);
  for (std::uint64_t run = 0; run < runs; ++run) {
    c = machine.initial();
    seen.begin_run(scheduler);
    while (!c.system.idle()) machine.step(c, scheduler.pick(c));
    if (machine.finished(c)) {
      seen.add(machine.outcome(c), scheduler);
    } else {
      ++result.stuck;
    }
  }
  result.outcomes = seen.result();
  return result;
}

}  // namespace loco::explore
